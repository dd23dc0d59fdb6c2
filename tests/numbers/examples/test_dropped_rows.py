"""Duplicate rows and NULLs: an error, or rows dropped by a policy and counted."""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.tables import build_table

# Query 1: a stands twice (0.2 and 0.9), c has no score; query 2: b is judged twice, d has no grade.
RUN_ROWS = [
    (1, "a", 0.2),
    (1, "a", 0.9),
    (1, "b", 0.5),
    (1, "c", None),
    (2, "b", 0.4),
    (2, "d", 0.8),
    (2, "d", 0.8),
]
QRELS_ROWS = [(1, "a", 1), (1, "c", 1), (2, "b", 0), (2, "b", 2), (2, "d", None)]


def make_predictions(rows: list[tuple[Any, ...]], *names: str) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


RUN = make_predictions(RUN_ROWS, "query_id", "doc_id", "score")
QRELS = make_predictions(QRELS_ROWS, "query_id", "doc_id", "relevance")
BOTH = {"run": RUN, "qrels": QRELS, "duplicates": "max", "nulls": "drop"}
LISTS = select_few(["integer", "input"], 1)
COUNTS = ["num_duplicates", "num_dropped"]
PREDICTIONS = make_predictions(
    [("x", 1, 0.9, 1.0), ("x", 0, 0.4, 2.0), ("x", None, 0.5, 1.0), ("y", 1, None, 1.0), ("y", 0, 0.1, None), ("z", 1, 0.3, 1.0)],
    "shop", "label", "score", "weight",
)  # fmt: skip


def evaluate_rows(metrics: Any, **options: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in sqlrank.evaluate(metrics, **options).to_pylist()]


@pytest.mark.parametrize("lists", LISTS)
def test_the_greatest_duplicate_is_preserved_and_the_others_are_counted(lists):
    # Query 1: a (0.9, relevant), b; c is relevant, and was not retrieved with a score. Query 2: d
    # (0.8), b (0.4, of grade 2).
    found = evaluate_rows(
        ["RR", "R", "CG", "num_ret", *COUNTS], **BOTH, per_query=True, plan={"list_key": lists}
    )
    assert found == [(1, 1.0, 0.5, 1.0, 2, 1, 1), (2, 0.5, 1.0, 2.0, 2, 2, 1)]
    assert evaluate_rows(COUNTS, **BOTH, plan={"list_key": lists}) == [(3, 2)]


@pytest.mark.slow
def test_each_policy_alone():
    whole = {
        "run": RUN.filter(RUN["score"].is_valid()),
        "qrels": QRELS.filter(QRELS["relevance"].is_valid()),
    }
    assert evaluate_rows(["RR", *COUNTS], **whole, duplicates="max") == [(0.75, 3, 0)]
    once = {"run": RUN.take([1, 2, 3, 4, 5]), "qrels": QRELS.take([0, 1, 3, 4])}
    assert evaluate_rows(["RR", *COUNTS], **once, nulls="drop") == [(0.75, 0, 2)]
    with pytest.raises(sqlrank.InputError, match="occurs more than once"):
        evaluate_rows("RR", **whole)
    with pytest.raises(sqlrank.InputError, match="score is NULL"):
        evaluate_rows("RR", **BOTH | {"nulls": "error"})
    with pytest.raises(sqlrank.InputError, match="occurs more than once"):
        evaluate_rows("RR", **BOTH | {"duplicates": "error"})


def test_ranks_and_systems():
    ranked = make_predictions(
        [
            ("x", 1, "a", 3),
            ("x", 1, "a", 1),
            ("x", 1, "b", 2),
            ("y", 1, "a", None),
            ("y", 1, "b", 1),
        ],
        "system",
        "query_id",
        "doc_id",
        "rank",
    )
    qrels = make_predictions([(1, "a", 1), (1, "a", 1)], "query_id", "doc_id", "relevance")
    options = {
        "run": ranked,
        "qrels": qrels,
        "ties": "rank",
        "duplicates": "max",
        "nulls": "drop",
        "by": "system",
    }
    # The judgment that stands twice counts for each system.
    assert evaluate_rows(["RR", *COUNTS], **options) == [("x", 1.0, 2, 0), ("y", 0.0, 1, 1)]


def test_a_query_stays_if_all_of_its_rows_are_left_out():
    qrels = make_predictions([(1, "a", 1), (2, "a", None)], "query_id", "doc_id", "relevance")
    run = make_predictions([(1, "a", 1.0), (2, "a", 1.0)], "query_id", "doc_id", "score")
    assert evaluate_rows(["RR", "num_q", "num_dropped"], run=run, qrels=qrels, nulls="drop") == [
        (0.5, 2, 1)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("order", select_few(["window", "buckets", "distinct"], 1))
def test_predictions_without_a_value(order):
    options = {"predictions": PREDICTIONS, "nulls": "drop", "plan": {"score_order": order}}
    metrics = ["AUC", "Positives", "num_predictions", "num_predictions_dropped"]
    # Of weight: positives .9 and .3 against .4 (2): one of two pairs.
    assert evaluate_rows(metrics, **options) == [(0.5, 2.0, 3, 3)]
    by_shop = [("x", 1.0, 1.0, 2, 1), ("y", None, 0.0, 0, 2), ("z", None, 1.0, 1, 0)]
    assert evaluate_rows(metrics, **options, by="shop") == by_shop
    sliced = evaluate_rows(metrics[2:], **options, by=[["shop"], []])
    assert sliced == [
        (None, "all", 3, 3),
        ("x", "shop", 2, 1),
        ("y", "shop", 0, 2),
        ("z", "shop", 1, 0),
    ]


def test_several_scores_lose_the_rows_that_each_does_not_have():
    data = make_predictions([(1, 0.9, None), (0, 0.1, 0.3), (1, None, 0.2)], "label", "old", "new")
    got = evaluate_rows(
        ["AUC", "num_predictions_dropped"],
        predictions=data,
        columns={"score": ["old", "new"]},
        nulls="drop",
    )
    assert got == [("new", 0.0, 1), ("old", 1.0, 1)]


@pytest.mark.slow
def test_labels_that_are_judgments():
    """A NULL label is no judgment of a ranking, which keeps its document, and no prediction."""
    data = make_predictions(
        [(1, "a", 0.9, None), (1, "b", 0.5, 1), (1, "c", None, 1), (1, "d", 0.1, 0)],
        "query_id",
        "doc_id",
        "score",
        "label",
    )
    assert evaluate_rows(["RR", "R", "num_dropped"], predictions=data, nulls="drop") == [
        (0.5, 0.5, 1)
    ]
    got = evaluate_rows(
        ["RR", "num_dropped", "AUC", "num_predictions_dropped"], predictions=data, nulls="drop"
    )
    assert got == [(0.5, 1, 1.0, 2)]
    twice = make_predictions(
        [(1, "a", 0.2, 1), (1, "a", 0.9, 0), (1, "b", 0.5, 0)],
        "query_id",
        "doc_id",
        "score",
        "label",
    )
    assert evaluate_rows(["RR", "num_duplicates"], predictions=twice, duplicates="max") == [
        (1.0, 2)
    ]


def test_labels_of_some_queries():
    """Rows left out of other queries are not counted."""
    data = make_predictions(
        [(1, "a", 0.9, 1), (1, "b", 0.5, None), (2, "a", None, 1), (2, "b", 0.5, 0)],
        "query_id",
        "doc_id",
        "score",
        "label",
    )
    got = evaluate_rows(
        ["RR", "AUC", "num_predictions_dropped"],
        predictions=data,
        nulls="drop",
        queries=build_table(query_id="2"),
    )
    assert got == [(0.0, None, 1)]
