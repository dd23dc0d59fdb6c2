"""Any value for any argument gives a result or an error of this package, whose message names the
argument.
"""

import inspect
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import SqlrankError
from sqlrank.call.argument_checks import max_threads
from tests.tables import build_table, read_columns

PREDICTIONS = build_table(query_id="a a b", doc_id="x y z", score="0.1 0.7 0.4", label="0 1 1")
RUN = PREDICTIONS.select(["query_id", "doc_id", "score"])
QRELS = RUN.rename_columns(["query_id", "doc_id", "relevance"])
VISITS = build_table(unit_id="1 2 3 4", variant="control control b b", x="1 2 3 5")
POLICIES = (
    "ties", "if_undefined", "unjudged", "depth", "rel", "aggregate", "topics", "level",
    "threshold", "nothing",
)  # fmt: skip


class Mute:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


def make_closed_connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.close()
    return connection


def make_closed_duckdb() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.close()
    return connection


def list_arguments(function: Callable[..., Any]) -> list[str]:
    found = inspect.signature(function).parameters
    return [name for name in found if name != "policies"] + (
        list(POLICIES) if "policies" in found else []
    )


CALLS = [
    (function, name, {"metrics": metric, **sources})
    for function, metric, sources in (
        (sqlrank.evaluate, "AUC", {"predictions": PREDICTIONS}),
        (sqlrank.evaluate, "RR", {"run": RUN, "qrels": QRELS}),
        (sqlrank.sql, "AUC", {"predictions": "clicks"}),
        (sqlrank.sql, "RR", {"run": "runs", "qrels": "judgments"}),
        (sqlrank.compare, "RR", {"run": {"a": RUN, "b": RUN}, "qrels": QRELS}),
        (sqlrank.gate, "RR", {"run": {"a": RUN, "b": RUN}, "qrels": QRELS}),
    )
    for name in list_arguments(function)
]
CALLS += [
    (function, name, {"metrics": "Mean(x)", "data": data})
    for function, data in ((sqlrank.experiment, VISITS), (sqlrank.experiment_sql, "visits"))
    for name in list_arguments(function)
]
CALLS += [
    (sqlrank.metrics, "sql_dir", {}),
    (sqlrank.parse, "text", {}),
    (sqlrank.parse, "sql_dir", {"text": "AUC"}),
]
CALLS += [
    (sqlrank.chart, name, {"result": sqlrank.evaluate("AUC", predictions=PREDICTIONS)})
    for name in ("result", "kind")
]
CALLS += [
    (sqlrank.dbt_model, name, {"metrics": "AUC", "name": "m", "predictions": "p"})
    for name in ("metrics", "name", "materialized", "by")
]

ROLLUP = sqlrank.rollup(
    ["AUC", "LogLoss"], predictions=PREDICTIONS, by="day=query_id", unit="doc_id", n_buckets=2
)
CALLS += [
    (function, name, call)
    for function, call in (
        (sqlrank.rollup, {"metrics": "AUC", "predictions": PREDICTIONS}),
        (sqlrank.rollup_sql, {"metrics": "AUC", "predictions": "clicks", "by": "day"}),
        (
            sqlrank.rollup_model,
            {
                "metrics": "AUC",
                "name": "m",
                "predictions": "clicks",
                "by": "day",
                "begin": "2026-01-01",
            },
        ),
        (sqlrank.evaluate, {"metrics": "AUC", "rollup": ROLLUP}),
        (sqlrank.compare, {"metrics": "AUC", "rollups": {"a": ROLLUP, "b": ROLLUP}}),
        (sqlrank.drift, {"metrics": "AUC", "rollup": ROLLUP, "reference": "day = 'a'"}),
        (sqlrank.explain, {"metric": "RR", "run": RUN, "qrels": QRELS, "query": "a"}),
        (sqlrank.split, {"source": VISITS, "key": "unit_id", "salt": "test", "folds": 2}),
        (
            sqlrank.split,
            {
                "source": VISITS,
                "key": "unit_id",
                "time": "x",
                "leave_last": 1,
                "item": "variant",
                "cold_start": "drop",
            },
        ),
        (
            sqlrank.split_sql,
            {"source": "visits", "time": "x", "time_bounds": [2], "expanding": True},
        ),
    )
    for name in list_arguments(function)
]

texts = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        [
            "\0",
            "a\0b",
            "\ud800",
            "\u202e",
            "'",
            '"',
            "a;b",
            "$1",
            "?",
            "[",
            "a" * 5000,
            "(" * 2000 + "label" + ")" * 2000,
        ]
    ),
    st.sampled_from(
        [
            "P@1e999", "P@99999999999999999999", "P@²", "P(rel={})@1", "P(rel=1e400)@1",
            "f(a=" + "-" * 5000 + "1)", "AUC", "label > 0",
        ]
    ),
)  # fmt: skip
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**70, 100_000, 10**400]),
    st.floats(),
    texts,
    st.binary(max_size=3),
    texts.filter(lambda text: text != "").map(Path),
    st.sampled_from(
        [
            object(),
            print,
            ...,
            1j,
            range(3),
            {"a"},
            np.int64(3),
            np.float64(0.5),
            np.array([1.0, 2.0]),
            np.array(["a", "b"]),
        ]
    ),
    st.builds(make_closed_connection) | st.builds(make_closed_duckdb),
    st.sampled_from(
        [build_table(a="1"), pa.table({}), build_table(label=[[1]], score="1.0"), bytearray(b"x")]
    ),
)
names = st.one_of(
    plain, st.sampled_from(["label", "score", "order", "query_id", "predictions", "queries"])
)
hashable = st.one_of(
    st.none(),
    st.integers(),
    texts,
    st.sampled_from(["label", "score", "order", "query_id", "queries"]),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(names | inner, max_size=3), st.dictionaries(hashable, inner | names, max_size=2)
    ),
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def assert_own_error(function: Callable[..., Any], call: dict[str, Any]) -> None:
    try:
        function(**call)
    except SqlrankError as error:
        str(error).encode("utf-8")


def try_any_value(data: Any) -> None:
    function, name, call = data.draw(st.sampled_from(CALLS))
    # What a function of the caller's does is theirs.
    value = data.draw(
        values.filter(lambda value: not callable(value)) if name == "progress" else values
    )
    assert_own_error(function, {**call, name: value})


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def test_any_value_for_any_argument(data):
    try_any_value(data)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_many_values_for_any_argument(data):
    try_any_value(data)


HUGE = 10**400


def test_threads_are_at_most_a_multiple_of_the_cores():
    with pytest.raises(SqlrankError, match=f"from 1 to {max_threads()}, which is 8 times"):
        sqlrank.evaluate("AUC", predictions=PREDICTIONS, threads=100_000)


def test_numbers_and_arrays_of_numpy_are_those_of_python():
    given = {"predictions": PREDICTIONS, "by": "day=query_id", "unit": "doc_id"}
    plain = sqlrank.rollup("AUC", **given, n_bins=64, n_buckets=3, exact_scores=[0.25, 0.5])
    assert (
        sqlrank.rollup(
            "AUC",
            **given,
            n_bins=np.int64(64),
            n_buckets=np.int32(3),
            exact_scores=np.array([0.25, 0.5]),
        )
        == plain
    )
    assert sqlrank.rollup("AUC", **given, exact_scores=None) == sqlrank.rollup("AUC", **given)
    assert sqlrank.evaluate(
        {"AUC", "LogLoss", "AP"} - {"AP"}, predictions=PREDICTIONS
    ).column_names == ["AUC", "LogLoss"]


STORED = sqlrank.evaluate(
    "RR", run={"q": ["a"], "r": ["b"]}, qrels={"q": ["a"], "r": ["a"]}, per_query=True
)
CLICKS = sqlrank.rollup(
    "AUC", predictions=read_columns(day="1 1", label="1 0", score="0.9 0.1"), by="day"
)
FORMS = {
    "pandas": pa.Table.to_pandas,
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "rows": pa.Table.to_pylist,
    "columns": pa.Table.to_pydict,
    "reader": pa.Table.to_reader,
    "batch": lambda table: table.to_batches()[0],
    "relation": duckdb.from_arrow,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("form", FORMS)
def test_results_in_other_forms(form):
    """A rollup is a table like others. A baseline has metadata, which other forms lose."""
    make = FORMS[form]
    assert sqlrank.evaluate("AUC", rollup=make(CLICKS))["AUC"].to_pylist() == [1.0]
    assert "AUC" in str(sqlrank.report("AUC", rollup=make(CLICKS)))
    for call in (
        lambda: sqlrank.power(make(STORED), num_units=50),
        lambda: sqlrank.gate(
            "RR", run={"q": ["a"]}, qrels={"q": ["a"]}, baseline=make(STORED), min_units=1
        ),
    ):
        with pytest.raises(SqlrankError, match=r"evaluate with per_query=True.* Parquet file"):
            call()
