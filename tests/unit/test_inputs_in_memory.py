"""Tables in memory, of any library, and the roles that they play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


@pytest.mark.parametrize("source", [{"q1": {"a": 1.0}}, [("q1", "a", 1.0)], 5, object()], ids=["dict", "list", "int", "object"])
def test_what_is_not_a_table_is_refused(source: Any, qrels: pa.Table) -> None:
    refused("run: cannot read a ", "give a table name, a file, a DuckDB relation", run=source, qrels=qrels)


def test_a_lazy_frame_is_told_to_be_collected(run: pa.Table, qrels: pa.Table) -> None:
    refused("LazyFrame", "collect", run=polars_frame(run).lazy(), qrels=qrels)


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
