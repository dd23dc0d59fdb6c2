"""scikit-learn's ndcg_score and dcg_score: the mean over all orders of tied documents."""

from functools import cache
from math import e, log2

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import (
    coverage_error,
    dcg_score,
    label_ranking_average_precision_score,
    label_ranking_loss,
    ndcg_score,
)

import sqlrank
from tests.lanes import select_few
from tests.numbers.references.random_collections import (
    Collection,
    Values,
    assert_same,
    average_by_group,
    draw_judged_collection,
    nest_by_group,
    nest_by_query,
)
from tests.tables import build_table

CUTOFFS = (None, 1, 3, 5, 30)


@cache
def draw_collection(seed: int) -> Collection:
    return draw_judged_collection(seed, 50, docs=(2, 20))


def name_metric(metric: str, k: int | None) -> str:
    return metric if k is None else f"{metric}@{k}"


@cache
def evaluate_with_sklearn(seed: int) -> Values:
    with config_context(skip_parameter_validation=True):
        return {
            query: evaluate_list(pairs) for query, pairs in draw_collection(seed).lists().items()
        }


def evaluate_list(pairs: list[tuple[float, int]]) -> dict[str, float]:
    scores, labels = [[score for score, _ in pairs]], [[label for _, label in pairs]]
    values = {}
    for k in CUTOFFS:
        values[name_metric("nDCG", k)] = float(ndcg_score(labels, scores, k=k))
        values[name_metric("DCG", k)] = float(dcg_score(labels, scores, k=k))
        values[name_metric("DCG(discount=ln)", k)] = float(
            dcg_score(labels, scores, k=k, log_base=e)
        )
    return values


@pytest.mark.slow
@pytest.mark.parametrize("form", select_few(["predictions", "run and qrels"], 1))
@pytest.mark.parametrize("seed", select_few([201, 202], 1))
def test_gains(form, seed):
    data = draw_collection(seed)
    expected = evaluate_with_sklearn(seed)
    metrics = list(next(iter(expected.values())))
    sources = (
        {"predictions": data.predictions}
        if form == "predictions"
        else {"run": data.run, "qrels": data.qrels}
    )
    each = sqlrank.evaluate(metrics, compat="sklearn", per_query=True, **sources)
    summary = sqlrank.evaluate(metrics, compat="sklearn", by="collection", **sources)
    assert_same(nest_by_query(each), expected)
    assert_same(nest_by_group(summary), average_by_group(expected, data.groups_by_query))


def test_documents_without_a_judgment_have_label_0():
    """A document that is retrieved but not judged still takes its place, and its share of the
    places of a tie.
    """
    run = build_table(query_id="q q q", doc_id="a b c", score="1.0 1.0 0.0")
    qrels = build_table(query_id="q q", doc_id="a c", relevance="2 1")
    got = sqlrank.evaluate(["nDCG", "DCG@1"], run=run, qrels=qrels, compat="sklearn").to_pylist()
    assert got == [
        pytest.approx({"nDCG": ndcg_score([[2, 0, 1]], [[1.0, 1.0, 0.0]]), "DCG@1": 1.0}, abs=1e-12)
    ]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("nDCG", (1 + 1 / log2(3) + 1 / 2) / 3), ("nDCG@1", 1 / 3), ("DCG@2", (1 + 1 / log2(3)) / 3)],
)
def test_all_tied_by_hand(metric, expected):
    """METRICS 2.0: one relevant document of three, all tied, has the mean of the discounts."""
    data = build_table(query_id="q q q", doc_id="a b c", score="1.0 1.0 1.0", label="1 0 0")
    assert sqlrank.evaluate(metric, predictions=data, compat="sklearn").column(0)[
        0
    ].as_py() == pytest.approx(expected, abs=1e-12)


def test_metrics_of_label_rankings_are_those_that_hints_name():
    """Scores of classes without ties: a prediction is a query, a class a document."""
    rng = np.random.default_rng(3)
    observed = rng.random((20, 6)) < 0.4
    observed[:, 0], observed[:, 1] = True, False
    scores = rng.permutation(120).reshape(20, 6) / 7
    rows = {
        "query_id": np.repeat(np.arange(20), 6),
        "doc_id": np.tile(np.arange(6), 20),
        "label": observed.ravel().astype(int),
        "score": scores.ravel(),
    }
    ours = sqlrank.evaluate(["AP", "FullRecall@4"], predictions=rows).to_pylist()[0]
    loss = (
        1
        - sqlrank.evaluate("AUC(level=query, tie_credit=0)", predictions=rows).to_pylist()[0][
            "AUC(level=query, tie_credit=0)"
        ]
    )
    assert ours["AP"] == pytest.approx(label_ranking_average_precision_score(observed, scores))
    assert loss == pytest.approx(label_ranking_loss(observed, scores))
    depths = [coverage_error(observed[[row]], scores[[row]]) for row in range(20)]
    assert ours["FullRecall@4"] == pytest.approx(np.mean([depth <= 4 for depth in depths]))
