"""XGBoost's ranking metrics on given scores: a booster of no rounds that starts from them."""

import numpy as np
import pytest

import sqlrank
from tests.numbers.references.random_collections import (
    SCORES,
    Collection,
    assert_same,
    draw_judged_collection,
    nest_by_group,
    nest_by_query,
)

xgboost = pytest.importorskip("xgboost")

SINGLE = 1e-6
GRADED = {"nDCG": "ndcg", **{f"nDCG@{k}": f"ndcg@{k}" for k in (1, 2, 3, 5, 10, 30)}}
BINARY = {
    "AP": "map",
    **{f"AP@{k}": f"map@{k}" for k in (1, 2, 5, 30)},
    **{f"P@{k}": f"pre@{k}" for k in (1, 2, 5, 30)},
}


def evaluate_with_xgboost(
    lists: list[list[tuple[float, int]]],
    metrics: dict[str, str],
    weights: list[float] | None = None,
    **params: object,
) -> dict[str, float]:
    """Return the metrics of these lists under sqlrank's names."""
    rows = [row for found in lists for row in found]
    data = xgboost.DMatrix(
        np.zeros((len(rows), 1)),
        label=[label for _, label in rows],
        base_margin=[score for score, _ in rows],
        group=[len(found) for found in lists],
        weight=weights,
    )
    wanted = {
        "objective": "rank:pairwise",
        "eval_metric": list(metrics.values()),
        "nthread": 1,
        "verbosity": 0,
        **params,
    }
    text = xgboost.train(wanted, data, num_boost_round=0).eval(data)
    found = {
        name.removeprefix("eval-"): float(value)
        for name, _, value in (item.rpartition(":") for item in text.split("\t")[1:])
    }
    return {name: found[metric] for name, metric in metrics.items()}


def draw_collection(seed: int, groups: int, top: int) -> Collection:
    """Draw lists whose scores are as different in single precision, which XGBoost keeps them in, as
    in double.
    """
    grades = ((0, 1), (0,), (0, 0, 0, 1)) + (((0, 1, 2, 3), (0, 0, 0, 1, 4)) if top > 1 else ())
    scores = [name for name in SCORES if name not in {"nearly", "continuous"}]
    return draw_judged_collection(
        seed, groups, docs=(1, 14), grades=grades, scores=scores
    ).numbered_by_row()


@pytest.mark.parametrize("gain", ["exp2", "linear"])
def test_graded(gain):
    data = draw_collection(501, 10, top=4)
    expected = {
        query: evaluate_with_xgboost([pairs], GRADED, ndcg_exp_gain=gain == "exp2")
        for query, pairs in data.lists().items()
    }
    got = sqlrank.evaluate(
        list(GRADED), predictions=data.predictions, compat="xgboost", per_query=True, gain=gain
    )
    assert_same(nest_by_query(got), expected, SINGLE)


def test_binary():
    data = draw_collection(502, 10, top=1)
    expected = {
        query: evaluate_with_xgboost([pairs], BINARY) for query, pairs in data.lists().items()
    }
    got = sqlrank.evaluate(
        list(BINARY), predictions=data.predictions, compat="xgboost", per_query=True
    )
    assert_same(nest_by_query(got), expected, SINGLE)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("minus", [False, True])
def test_means(weighted, minus):
    """With a minus sign after its name, a metric counts 0 for lists without relevant documents.

    Without it they add 1, not their weight, to a weighted mean, which XGBoost then rejects if it is
    above 1.
    """
    data = draw_collection(503, 24, top=1)
    if weighted and not minus:
        data = data.answerable()
    metrics = {
        name: metric + "-" * minus for name, metric in (GRADED | BINARY).items() if "@" in name
    }
    lists = {}
    for query, pairs in data.lists().items():
        lists.setdefault(data.groups_by_query[query], {})[query] = pairs
    expected = {
        group: evaluate_with_xgboost(
            list(found.values()),
            metrics,
            [data.weights[query] for query in found] if weighted else None,
        )
        for group, found in lists.items()
    }
    policies = {"if_undefined": "zero"} if minus else {}
    queries = data.queries if weighted else None
    got = sqlrank.evaluate(
        list(metrics),
        predictions=data.predictions,
        queries=queries,
        by="collection",
        compat="xgboost",
        **policies,
    )
    assert_same(nest_by_group(got), expected, SINGLE)
