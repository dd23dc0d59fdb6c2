"""Metrics of rankings and of predictions in one call over one table, and metrics over all lists of
a group, worked by hand.
"""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

METRICS = ["P@1", "RR", "AUC", "Brier", "AUC(level=query)", "num_lists", "num_shown@1"]
ROWS = [
    ("a", 1, "x", 0.9, 1), ("a", 1, "y", 0.5, 0), ("a", 2, "x", 0.8, 0), ("a", 2, "z", 0.6, 1),
    ("b", 1, "x", 0.1, 1), ("b", 1, "y", 0.7, 0), ("b", 2, "x", 0.3, 0), ("b", 2, "y", 0.4, 1),
]  # fmt: skip
NAMES = ["system", "query_id", "doc_id", "score", "label"]


def make_predictions(rows: list[tuple[Any, ...]] = ROWS) -> pa.Table:
    return pa.table(
        {name: list(values) for name, values in zip(NAMES, zip(*rows, strict=True), strict=True)}
    )


def evaluate(
    metrics: list[str] = METRICS, rows: list[tuple[Any, ...]] = ROWS, **options: Any
) -> list[list[Any]]:
    return [
        list(row.values())
        for row in sqlrank.evaluate(
            metrics, predictions=make_predictions(rows), **options
        ).to_pylist()
    ]


# System a: query 1 finds x at rank 1, query 2 z at rank 2; pairs of a positive and a negative over
# all: .9 > .5, .9 > .8, .6 > .5, .6 < .8.
A = [0.5, 0.75, 0.75, (0.01 + 0.25 + 0.64 + 0.16) / 4, 0.5, 2, 1]
# System b: query 1 finds x at rank 2, query 2 y at rank 1; .1 < .7, .1 < .3, .4 < .7, .4 > .3.
B = [0.5, 0.75, 0.25, (0.81 + 0.49 + 0.09 + 0.36) / 4, 0.5, 2, 1]


def test_one_row_per_system():
    assert evaluate(by="system") == [["a", *map(pytest.approx, A)], ["b", *map(pytest.approx, B)]]


def test_without_groups():
    assert evaluate(rows=ROWS[:4]) == [[*map(pytest.approx, A)]]


def test_slices():
    # Over both, .9 is above all four negatives, .6 above .5 and .3, .4 above .3, and .1 above none.
    total, first, second = evaluate(["RR", "AUC", "num_lists", "num_shown@1"], by=[["system"], []])
    assert total == [None, "all", 0.75, 7 / 16, 4.0, 2.0]
    assert first == ["a", "system", 0.75, 0.75, 2.0, 1.0]
    assert second == ["b", "system", 0.75, 0.25, 2.0, 1.0]


def test_a_row_per_query():
    found = evaluate(["RR", "AUC", "num_shown@1"], by="system", per_query=True)
    assert found == [
        ["a", 1, 1.0, 1.0, 1.0],
        ["a", 2, 0.5, 0.0, 1.0],
        ["b", 1, 0.5, 0.0, 1.0],
        ["b", 2, 1.0, 1.0, 1.0],
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"by": "system"}, {"by": [["system"], []]}, {"by": "system", "per_query": True}],
    ids=str,
)
def test_together_is_as_alone(options):
    together = sqlrank.evaluate(METRICS, predictions=make_predictions(), **options)
    for metric in METRICS:
        alone = sqlrank.evaluate(metric, predictions=make_predictions(), **options)
        assert together[metric].to_pylist() == alone[metric].to_pylist()


def test_how_tied_documents_are_ordered_is_for_rankings():
    rows = [(s, q, d, 0.5, label) for s, q, d, _, label in ROWS]
    assert evaluate(["P@1", "AUC"], rows[:4], ties="doc_asc") == [[0.5, 0.5]]


def test_several_scores_are_several_systems():
    data = make_predictions(ROWS[:4]).append_column("other", pa.array([0.1, 0.2, 0.3, 0.4]))
    found = sqlrank.evaluate(
        ["RR", "AUC"], predictions=data, columns={"score": ["score", "other"]}
    ).to_pylist()
    assert found == [
        {"score": "other", "RR": 0.75, "AUC": 0.5},
        {"score": "score", "RR": 0.75, "AUC": 0.75},
    ]


def test_a_row_without_a_label_cannot_be_predicted():
    assert evaluate(["RR"], [*ROWS[:4], ("a", 2, "w", 0.5, None)]) == [[0.75]]
    assert evaluate(["RR"], [*ROWS[:4], ("a", 2, "w", 0.7, None)]) == [
        [pytest.approx((1 + 1 / 3) / 2)]
    ]


def test_lists_and_documents_shown():
    run = build_table(query_id="1 1 2 2 3", doc_id="x y x z w", score="2 1 2 1 1")
    qrels = build_table(query_id="1 2 4", doc_id="x q x", relevance="1 1 1")
    metrics = ["num_lists", "num_shown@1", "num_shown@2", "num_shown"]
    found = {
        topics: list(
            sqlrank.evaluate(metrics, run=run, qrels=qrels, topics=topics).to_pylist()[0].values()
        )
        for topics in ("judged", "retrieved", "judged_and_retrieved")
    }
    # Query 3 is not judged, query 4 not answered.
    assert found == {
        "judged": [3, 1, 3, 3],
        "retrieved": [3, 2, 4, 4],
        "judged_and_retrieved": [2, 1, 3, 3],
    }


def test_metrics_by_attributes_of_queries():
    run = build_table(query_id="1 1 2", doc_id="x y x", score="2 1 2")
    qrels = build_table(query_id="1 2", doc_id="x x", relevance="1 1")
    queries = build_table(query_id="1 2", country="de fr")
    found = sqlrank.evaluate(
        ["num_lists", "num_shown", "P@1"],
        run=run,
        qrels=qrels,
        queries=queries,
        by=[["country"], []],
    )
    assert [list(row.values()) for row in found.to_pylist()] == [
        [None, "all", 2, 2, 1],
        ["de", "country", 1, 2, 1],
        ["fr", "country", 1, 1, 1],
    ]
