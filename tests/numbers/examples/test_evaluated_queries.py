"""The queries table limits the evaluated queries: to all of its rows, or those that ``where``
selects.
"""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.examples.rankings import make_lists

SOURCES = make_lists({"half": [0, 1], "none": [0, 0], "whole": [1, 0], "third": [0, 0, 1]})
SOME = pa.table(
    {
        "query_id": ["half", "whole", "elsewhere"],
        "weight": [3.0, 1.0, 5.0],
        "segment": ["cold", "warm", "cold"],
    }
)


def evaluate_row(metrics: Any, **options: Any) -> list[Any]:
    return list(sqlrank.evaluate(metrics, **{**SOURCES, **options}).to_pylist()[0].values())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lists", select_few(["integer", "input"], 1))
@pytest.mark.parametrize("topics", ["judged", "judged_and_retrieved", "retrieved"])
def test_only_the_queries_of_the_table_are_evaluated(topics: str, lists: str) -> None:
    ids = SOME.select(["query_id"])
    assert evaluate_row(["RR", "num_q"], queries=ids, topics=topics, plan={"list_key": lists}) == [
        (1 / 2 + 1) / 2,
        2,
    ]
    found = sqlrank.evaluate(
        "RR", **SOURCES, queries=ids, topics=topics, per_query=True, plan={"list_key": lists}
    )
    assert found.to_pylist() == [{"query_id": "half", "RR": 0.5}, {"query_id": "whole", "RR": 1.0}]


def test_weights_and_slices_of_some_queries() -> None:
    assert evaluate_row(["RR", "num_q"], queries=SOME) == [(3 / 2 + 1) / 4, 2]
    found = sqlrank.evaluate(["RR", "num_lists"], **SOURCES, queries=SOME, by="segment")
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("cold", 0.5, 1),
        ("warm", 1.0, 1),
    ]


@pytest.mark.parametrize(
    "where", ["segment = 'cold'", "queries.segment = 'cold'", "weight > 2 AND relevance >= 0"]
)
def test_where_on_the_table(where: str) -> None:
    assert evaluate_row(["RR", "num_q"], queries=SOME, where=where) == [0.5, 1]


@pytest.mark.slow
def test_predictions_of_some_queries() -> None:
    data = pa.table(
        {
            "query_id": [1, 1, 2, 2],
            "doc_id": [1, 2, 1, 2],
            "score": [0.4, 0.6, 0.9, 0.3],
            "label": [1, 0, 1, 0],
        }
    )
    some = pa.table({"query_id": [2]})
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


@pytest.mark.parametrize(
    ("queries", "options", "reason"),
    [
        (
            SOME.slice(2),
            {},
            (
                r"queries \(Table\) and qrels \(Table\) have no query_id in common. For example,"
                r" queries has 'elsewhere' and qrels has '"
            ),
        ),
        (
            SOME.slice(2),
            {"topics": "retrieved"},
            r"queries \(Table\) and run \(Table\) have no query_id in common",
        ),
        (
            SOME.slice(2),
            {"topics": "judged_and_retrieved"},
            r"queries \(Table\) and run \(Table\) have no query_id in common",
        ),
        (SOME.slice(0, 0), {}, r"queries \(Table\) has no rows$"),
        (
            SOME,
            {"where": "segment = 'hot'"},
            (
                r"queries \(Table\) has no rows where \"segment\" = 'hot'\. Values of segment are"
                r" 'cold', 'warm'$"
            ),
        ),
    ],
)
def test_a_table_without_a_query_to_evaluate_is_an_error(
    queries: pa.Table, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(sqlrank.InputError, match=reason):
        evaluate_row("RR", queries=queries, **options)


def test_strict_is_for_the_queries_of_the_table() -> None:
    sources = make_lists({"both": [1], "unjudged": [None]}, {"unanswered": [1]})
    assert evaluate_row(
        "RR", **sources, queries=pa.table({"query_id": ["both"]}), topics="strict"
    ) == [1.0]
    with pytest.raises(sqlrank.InputError, match="judged, but not answered"):
        evaluate_row(
            "RR", **sources, queries=pa.table({"query_id": ["both", "unanswered"]}), topics="strict"
        )


def test_a_printed_statement_says_that_it_reads_no_weights() -> None:
    note = (
        "-- queries: weight is taken to be 1, since the table cannot be looked at. Map"
        " queries.weight to a column to read it"
    )
    text = sqlrank.sql("RR", run="run", qrels="qrels", queries="topics", dialect="bigquery")
    assert note in text.splitlines()
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


def test_given_queries_need_no_judgments() -> None:
    run, queries = {1: ["b", "a"], 2: ["a", "b"]}, pa.table({"query_id": [1, 2]})
    result = sqlrank.evaluate("Personalization", run=run, queries=queries, topics="given")
    assert result["Personalization"].to_pylist() == [pytest.approx(0.0, abs=1e-15)]
