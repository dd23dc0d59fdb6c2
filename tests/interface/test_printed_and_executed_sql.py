"""``sql`` with the connection of ``evaluate`` prints the text that is run, without audit
columns.
"""

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import parse_one

import sqlrank
from sqlrank import MetricError
from tests.engines.engines import ClickHouse, DataFusion, Engine, PostgreSQL, Spark, SQLite
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import make_tables

RUN = {"run": "run", "qrels": "qrels"}
CALLS = [
    (["nDCG@10", "AP", "RR", "num_lists", "num_shown@3"], RUN),
    (["nDCG@10", "AP"], {**RUN, "by": "system"}),
    (["P@1..3"], {**RUN, "per_query": True}),
    (
        ["nDCG(discount=jarvelin)@10", "AP"],
        {"run": {"whole": "plain", "it's again": "plain"}, "qrels": "qrels"},
    ),
    (["DCG(discount={1: 1, 2: 0.5})", "RR"], {**RUN, "by": "system"}),
    (["AP", "num_ret"], {**RUN, "queries": "queries", "columns": {"weight": "weight"}}),
    (["RR"], {**RUN, "queries": "queries", "by": "queries.country"}),
    (["AUC", "LogLoss", "KS"], {"predictions": "predictions", "by": "shop"}),
    (
        ["AUC", "ECE(binning=equal_mass)"],
        {"predictions": "predictions", "columns": {"weight": "1 / (1 + weight)"}},
    ),
    (
        ["AUC(level=query)", "GAUC", "KendallTau"],
        {"predictions": "predictions", "where": "score > 0.2"},
    ),
    (["ROC"], {"predictions": "predictions", "by": "shop"}),
]


def make_sources() -> dict[str, pa.Table]:
    return {**make_tables(), "plain": make_tables()["run"].drop_columns("system")}


def assert_same(connection: Any, metrics: list[str], options: dict[str, Any]) -> None:
    result = sqlrank.evaluate(metrics, connection=connection, check="off", **options)
    run = result.schema.metadata[b"sqlrank.sql"].decode()
    assert sqlrank.sql(metrics, connection=connection, **options) == run
    checked = sqlrank.evaluate(metrics, connection=connection, **options)
    assert checked.column_names == result.column_names
    for name in result.column_names:
        assert checked[name].to_pylist() == pytest.approx(result[name].to_pylist(), rel=1e-12)
    if options.get("per_query") is None and "ROC" not in metrics:
        assert "audit" in checked.schema.metadata[b"sqlrank.sql"].decode()


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        for name, table in make_sources().items():
            database.from_arrow(table).create(f'"{name}"')
        yield database


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("metrics", "options"), CALLS)
def test_on_duckdb(metrics, options, connection):
    assert_same(connection, metrics, options)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, make_sources()) as started:
        yield started


@pytest.mark.parametrize(
    "engine",
    parametrize_engines([SQLite, PostgreSQL, ClickHouse, DataFusion, Spark]),
    indirect=True,
)
@pytest.mark.parametrize(("metrics", "options"), CALLS)
def test_on_other_engines(metrics, options, engine):
    assert_same(engine.connection, metrics, options)


@pytest.mark.parametrize("ending", ["parquet", "csv", "trec"])
def test_over_files(ending, files):
    options = {"run": str(files / f"run.{ending}"), "qrels": str(files / f"qrels.{ending}")}
    result = sqlrank.evaluate(["AP", "RR"], check="off", **options)
    assert sqlrank.sql(["AP", "RR"], **options) == result.schema.metadata[b"sqlrank.sql"].decode()


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery"])
def test_a_group_has_the_name_that_is_given(dialect):
    """Of tables that are not opened, too, by a column as by an expression."""
    for expression in ("cc", "UPPER(cc)"):
        text = sqlrank.sql("LogLoss", predictions="t", by=f"x={expression}", dialect=dialect)
        names = parse_one(text, read=dialect).named_selects
        assert names == ["x", "log_loss"]
    options = {"insert": "daily", "overwrite_by": "x", "dialect": dialect}
    assert "daily" in sqlrank.sql("LogLoss", predictions="t", by="x=cc", **options)


def test_what_is_in_memory_is_shown_under_the_name_of_its_role(run, qrels):
    text = sqlrank.evaluate("RR", run=run, qrels=qrels).schema.metadata[b"sqlrank.sql"].decode()
    assert "FROM run\n" in text
    assert "sqlrank_" not in text


WRONG = [
    ("nDCG(rell=2)@10", {}, "nDCG has no parameter 'rell'. It takes: "),
    ("nDCG(gain=exp3)", {}, "unknown gain 'exp3'. Did you mean 'exp2'?"),
    ("RBP(p=2)", {}, "It must be a number"),
    ("nDCG", {"ties": "worse"}, "unknown ties 'worse'. Did you mean 'worst'?"),
    ("AP", {"ties": "expected"}, "ties='expected' is not defined for AP"),
    ("AP", {"depth": -1}, "depth is -1. It must be an integer from 1"),
    (
        "AP",
        {"plan": {"rank_method": "fast"}},
        "unknown rank_method 'fast'. Choose from: sort, count, top_k",
    ),
    (
        "AP",
        {"plan": {"rank_metod": "count"}},
        "unknown plan 'rank_metod'. Did you mean 'rank_method'?",
    ),
    (
        "AP",
        {"plan": {"rank_method": "count"}, "ties": "doc_asc"},
        "rank_method='count' is for ties='doc_desc', not 'doc_asc'",
    ),
    ("AP", {"plan": "count"}, "plan='count' is not possible: give a plan and its value"),
]


@pytest.mark.parametrize(("metric", "options", "problem"), WRONG)
def test_errors_of_a_call_are_raised_before_any_source_is_opened(metric, options, problem):
    class Unopened:
        """A source that must not be touched."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise AssertionError("a source was opened")

    with pytest.raises(MetricError) as error:
        sqlrank.evaluate(metric, run=Unopened(), qrels=Unopened(), **options)
    assert problem in str(error.value)
