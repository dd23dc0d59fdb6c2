"""Tables in memory, of any library, and the roles that they play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.unit.inputs import EXPECTED, evaluate, refused

if TYPE_CHECKING:
    from collections.abc import Callable


def polars_frame(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def pandas_frame(table: pa.Table) -> Any:
    return table.to_pandas().iloc[::-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table,
        lambda table: table.to_batches()[0],
        lambda table: table.to_reader(),
        polars_frame,
        pandas_frame,
        lambda table: pandas_frame(table).astype({"query_id": "category", "doc_id": "category"}),
        lambda table: polars_frame(table).cast({"doc_id": pytest.importorskip("polars").Categorical}),
    ],
    ids=["Table", "RecordBatch", "RecordBatchReader", "Polars", "pandas", "pandas category", "Polars Categorical"],
)
def test_arrow_sources(make: Callable[[pa.Table], Any], run: pa.Table, qrels: pa.Table) -> None:
    assert evaluate(make(run), make(qrels)) == EXPECTED


@pytest.mark.parametrize("source", [[("q1", "a", 1.0)], [], 5, object()], ids=["list", "empty list", "int", "object"])
def test_what_is_not_a_table_is_refused(source: Any, qrels: pa.Table) -> None:
    refused("run: cannot read a ", "give a table name, a file, a DuckDB relation", run=source, qrels=qrels)


def test_a_lazy_frame_is_collected(run: pa.Table, qrels: pa.Table) -> None:
    assert evaluate(polars_frame(run).lazy(), polars_frame(qrels).lazy()) == EXPECTED


def test_what_else_can_be_collected_is_told_to_be(qrels: pa.Table) -> None:
    class LazyFrame:
        def collect(self) -> None:
            raise AssertionError

    refused("cannot read a LazyFrame; collect it into a table first", run=LazyFrame(), qrels=qrels)


RUN = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"a": 1}}
QRELS = {"q1": {"b": 1}, "q2": {"a": 2}}


def test_maps_of_queries_to_documents() -> None:
    """As ranx and pytrec_eval take them."""
    assert evaluate(RUN, QRELS) == EXPECTED
    assert evaluate({**RUN, "q3": {}}, QRELS) == EXPECTED
    numbers = {1: {7: np.float32(0.9), 8: np.float32(0.5)}, 2: {7: 1}}
    assert evaluate(numbers, {1: {8: np.int64(1)}, 2: {7: True}}) == EXPECTED
    got = sqlrank.evaluate("RR", run={"x": RUN, "y": {"q1": {"b": 1.0}}}, qrels=QRELS).to_pylist()
    assert got == [{"system": "x", "RR": 0.75}, {"system": "y", "RR": 0.5}]


def test_the_example_of_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrel = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
    run = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"}).evaluate(run)
    ours = sqlrank.evaluate(["MAP", "nDCG"], run=run, qrels=qrel, per_query=True).to_pylist()
    for row in ours:
        assert (row["AP"], row["nDCG"]) == pytest.approx((theirs[row["query_id"]]["map"], theirs[row["query_id"]]["ndcg"]), rel=1e-12)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ({"q1": {"a": "x"}}, ["run: "]),
        (
            {"q1": {"a": None}},
            ["run: cannot read a dict whose query 'q1' has not a number for each document", "{query: {document: score}}"],
        ),
        ({"q1": {"a": float("nan")}}, ["has not a number for each document"]),
        ({"q1": {"a": 1.0}, 2: {"a": 1.0}}, ["are of different types; make them all texts, or all numbers"]),
        ({"q1": {}}, ["run (dict) has no rows"]),
        ({}, ["run (dict) has no rows"]),
    ],
)
def test_maps_that_are_none(source: Any, parts: list[str], qrels: pa.Table) -> None:
    refused(*parts, run=source, qrels=qrels)


def test_maps_of_other_roles_are_refused(run: pa.Table, qrels: pa.Table) -> None:
    refused("predictions: cannot read a dict", metrics="AUC", predictions={"q1": {"a": 1.0}})
    refused("queries: cannot read a dict", run=run, qrels=qrels, queries={"q1": 1.0})
    refused("qrels: cannot read a dict whose query 'q1'", "{query: {document: relevance}}", run=run, qrels={"q1": ["a"]})


def test_predictions() -> None:
    table = pa.table({"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [0.9, 0.5, 1.0], "label": [0, 1, 2]})
    assert evaluate(None, None, predictions=table) == EXPECTED
    assert evaluate(None, None, predictions=table.to_reader()) == EXPECTED, "a stream can be read once only, but plays both roles"
    clicks = table.rename_columns(["query_id", "doc_id", "score", "click"])
    assert evaluate(None, None, predictions=clicks, columns={"label": "click"}) == EXPECTED
    assert evaluate(None, None, predictions=clicks, columns={"relevance": "click"}) == EXPECTED


@pytest.mark.parametrize("column", ["label", "relevance"])
def test_a_null_label_of_predictions_is_no_judgment(column: str) -> None:
    table = pa.table({"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "score": [3, 2, 1], column: [None, 1, 0]})
    assert sqlrank.evaluate(["num_unjudged", "RR"], predictions=table).to_pylist() == [{"num_unjudged": 1.0, "RR": 0.5}]


def test_a_null_label_of_qrels_is_not_dropped_silently(run: pa.Table) -> None:
    labels = pa.table({"query_id": ["q1", "q2"], "doc_id": ["b", "a"], "label": [1, None]})
    refused("relevance", run=run, qrels=labels)


def test_predictions_without_any_label() -> None:
    table = pa.table({"query_id": ["q"], "doc_id": ["a"], "score": [1.0], "label": pa.nulls(1, pa.int64())})
    refused("label", predictions=table)


def test_roles_that_are_missing_or_too_many(run: pa.Table, qrels: pa.Table) -> None:
    refused("no run; ranking metrics need run= and qrels=, or predictions=", qrels=qrels)
    refused("no run and no qrels")
    refused("either predictions", predictions=run, run=run)
