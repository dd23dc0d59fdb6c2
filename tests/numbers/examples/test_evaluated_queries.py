"""The queries table limits the evaluated queries: to all of its rows, or those that ``where``
selects.
"""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.examples.rankings import make_lists
from tests.tables import build_table

SOURCES = make_lists({"half": [0, 1], "none": [0, 0], "whole": [1, 0], "third": [0, 0, 1]})
SOME = build_table(query_id="half whole elsewhere", weight="3.0 1.0 5.0", segment="cold warm cold")


def evaluate_row(metrics: Any, **options: Any) -> list[Any]:
    return list(sqlrank.evaluate(metrics, **{**SOURCES, **options}).to_pylist()[0].values())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lists", select_few(["integer", "input"], 1))
@pytest.mark.parametrize("topics", ["judged", "judged_and_retrieved", "retrieved"])
def test_only_the_queries_of_the_table_are_evaluated(topics, lists):
    ids = SOME.select(["query_id"])
    assert evaluate_row(["RR", "num_q"], queries=ids, topics=topics, plan={"list_key": lists}) == [
        (1 / 2 + 1) / 2,
        2,
    ]
    found = sqlrank.evaluate(
        "RR", **SOURCES, queries=ids, topics=topics, per_query=True, plan={"list_key": lists}
    )
    assert found.to_pylist() == [{"query_id": "half", "RR": 0.5}, {"query_id": "whole", "RR": 1.0}]


def test_weights_and_slices_of_some_queries():
    assert evaluate_row(["RR", "num_q"], queries=SOME) == [(3 / 2 + 1) / 4, 2]
    found = sqlrank.evaluate(["RR", "num_lists"], **SOURCES, queries=SOME, by="segment")
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("cold", 0.5, 1),
        ("warm", 1.0, 1),
    ]


@pytest.mark.parametrize(
    "where", ["segment = 'cold'", "queries.segment = 'cold'", "weight > 2 AND relevance >= 0"]
)
def test_where_on_the_table(where):
    assert evaluate_row(["RR", "num_q"], queries=SOME, where=where) == [0.5, 1]


@pytest.mark.slow
def test_predictions_of_some_queries():
    data = build_table(
        query_id="1 1 2 2", doc_id="1 2 1 2", score="0.4 0.6 0.9 0.3", label="1 0 1 0"
    )
    some = build_table(query_id="2")
    found = sqlrank.evaluate(["RR", "AUC", "num_predictions"], predictions=data, queries=some)
    assert found.to_pylist() == [{"RR": 1.0, "AUC": 1.0, "num_predictions": 2.0}]
    assert sqlrank.evaluate("RR", predictions=data, queries=some).to_pylist() == [{"RR": 1.0}]
    sliced = sqlrank.evaluate(
        ["RR", "AUC"],
        predictions=data.append_column("day", pa.array([1, 1, 2, 2])),
        queries=some,
        by=[["day"], []],
    )
    assert [tuple(row.values()) for row in sliced.to_pylist()] == [
        (None, "all", 1.0, 1.0),
        (2, "day", 1.0, 1.0),
    ]


def test_strict_is_for_the_queries_of_the_table():
    sources = make_lists({"both": [1], "unjudged": [None]}, {"unanswered": [1]})
    assert evaluate_row("RR", **sources, queries=build_table(query_id="both"), topics="strict") == [
        1.0
    ]
    with pytest.raises(sqlrank.InputError, match="judged, but not answered"):
        evaluate_row(
            "RR", **sources, queries=build_table(query_id="both unanswered"), topics="strict"
        )


def test_a_printed_statement_says_that_it_reads_no_weights():
    note = (
        "-- queries: weight is taken to be 1, since the table cannot be looked at. Map queries.weight"
        " to a\n--   column to read it\n"
    )
    text = sqlrank.sql("RR", run="run", qrels="qrels", queries="topics", dialect="bigquery")
    assert note in text
    weighted = sqlrank.sql(
        "RR",
        run="run",
        qrels="qrels",
        queries="topics",
        columns={"weight": "w"},
        dialect="bigquery",
    )
    assert note not in weighted
    assert "SUM(weight * rr)" in weighted
    assert note not in sqlrank.sql("RR", run="run", qrels="qrels", dialect="bigquery")


def test_given_queries_need_no_judgments():
    run, queries = {1: ["b", "a"], 2: ["a", "b"]}, build_table(query_id="1 2")
    result = sqlrank.evaluate("Personalization", run=run, queries=queries, topics="given")
    assert result["Personalization"].to_pylist() == [pytest.approx(0.0, abs=1e-15)]
