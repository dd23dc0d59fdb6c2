"""CatBoost's ranking metrics, which order tied documents worst first; it computes partly in single
precision.
"""

from functools import cache

import numpy as np
import pytest
from catboost.utils import eval_metric

import sqlrank
from tests.numbers.references.random_collections import (
    Collection,
    Values,
    assert_same,
    draw_judged_collection,
    nest_by_group,
    nest_by_query,
)

pytestmark = pytest.mark.slow

SINGLE = 1e-6
GRADED = {
    "nDCG": "NDCG",
    "nDCG@1": "NDCG:top=1",
    "nDCG@3": "NDCG:top=3",
    "nDCG@10": "NDCG:top=10",
    "nDCG(gain=exp2)": "NDCG:type=Exp",
    "nDCG(gain=exp2)@3": "NDCG:type=Exp;top=3",
    "nDCG(discount=inverse)@5": "NDCG:denominator=Position;top=5",
    "DCG": "DCG",
    "DCG@3": "DCG:top=3",
    "DCG(gain=exp2)@5": "DCG:type=Exp;top=5",
    "DCG(discount=inverse, gain=exp2)": "DCG:type=Exp;denominator=Position",
}
BINARY = {
    "RR": "MRR",
    "RR@2": "MRR:top=2",
    "RR@5": "MRR:top=5",
    "AP": "MAP",
    "AP@2": "MAP:top=2",
    "AP@5": "MAP:top=5",
    "AP(rel=2)@5": "MAP:top=5;border=1",
    "P@1": "PrecisionAt:top=1",
    "P@3": "PrecisionAt:top=3",
    "P@30": "PrecisionAt:top=30",
    "P(rel=2)@3": "PrecisionAt:top=3;border=1",
    "R": "RecallAt",
    "R@1": "RecallAt:top=1",
    "R@5": "RecallAt:top=5",
    "R(rel=3)@5": "RecallAt:top=5;border=2",
}
STOPS = {
    "PFound": "PFound",
    "PFound@1": "PFound:top=1",
    "PFound@4": "PFound:top=4",
    "PFound(p_break=0.5)": "PFound:decay=0.5",
    "PFound(p_break=0)@7": "PFound:decay=1;top=7",
    "ERR": "ERR",
    "ERR@4": "ERR:top=4",
}


@cache
def draw_collection(seed: int, kind: str) -> Collection:
    grades = {
        "grades": ((0, 1), (0, 1, 2, 3), (0,), (0, 0, 0, 1, 4)),
        "probabilities": ((0, 1), (0,), (0, 0.125, 0.5), (0, 0.25, 1, 0.0625)),
    }
    return draw_judged_collection(seed, 40, docs=(1, 14), grades=grades[kind])


def evaluate_with_catboost(
    labels: list[float],
    scores: list[float],
    groups: list[int],
    metric: str,
    weights: list[float] | None = None,
) -> float:
    (value,) = eval_metric(
        np.array(labels),
        np.array(scores),
        metric,
        group_id=groups,
        group_weight=weights,
        thread_count=1,
    )
    return float(value)


def evaluate_queries(data: Collection, metrics: dict[str, str]) -> Values:
    values = {}
    for query, pairs in data.lists().items():
        scores, labels = zip(*pairs, strict=True)
        values[query] = {
            name: evaluate_with_catboost(labels, scores, [0] * len(pairs), metric)
            for name, metric in metrics.items()
        }
    return values


def evaluate_groups(data: Collection, metrics: dict[str, str], weighted: bool) -> Values:
    """Evaluate all queries of a group in one call, weighted by query or not."""
    numbers = {query: number for number, query in enumerate(data.weights)}
    rows = {}
    for query, pairs in data.lists().items():
        rows.setdefault(data.groups_by_query[query], []).extend(
            (label, score, numbers[query], data.weights[query]) for score, label in pairs
        )
    values = {}
    for group, found in rows.items():
        labels, scores, groups, weights = zip(*found, strict=True)
        values[group] = {
            name: evaluate_with_catboost(
                labels, scores, groups, metric, weights if weighted else None
            )
            for name, metric in metrics.items()
        }
    return values


@pytest.mark.parametrize(
    ("metrics", "kind"),
    [(GRADED, "grades"), (BINARY, "grades"), (STOPS, "probabilities")],
    ids=["graded", "binary", "stops"],
)
@pytest.mark.parametrize("seed", [301, 302])
def test_each_query(metrics, kind, seed):
    data = draw_collection(seed, kind)
    got = sqlrank.evaluate(
        list(metrics), predictions=data.predictions, compat="catboost", per_query=True
    )
    assert_same(nest_by_query(got), evaluate_queries(data, metrics), SINGLE)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("metrics", "kind"),
    [(GRADED, "grades"), (BINARY, "grades"), (STOPS, "probabilities")],
    ids=["graded", "binary", "stops"],
)
def test_means(metrics, kind, weighted):
    """Weights are of queries; MAP, PrecisionAt and RecallAt do not read them."""
    data = draw_collection(303, kind)
    queries = data.queries if weighted else None
    got = sqlrank.evaluate(
        list(metrics),
        predictions=data.predictions,
        queries=queries,
        by="collection",
        compat="catboost",
    )
    assert_same(nest_by_group(got), evaluate_groups(data, metrics, weighted), SINGLE)
