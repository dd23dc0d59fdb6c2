"""Queries as sources on every engine, as printed, with the rows of DuckDB's own."""

from collections.abc import Iterator
from importlib import import_module

import duckdb
import pytest

import sqlrank
from sqlrank.engines import remote_database
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Databend, Engine, Spark
from tests.engines.running import parametrize_engines, run_engine

TABLES = {
    "runs": (
        duckdb.sql(
            "SELECT 'q' || (i // 4) AS query_id, 'd' || i AS doc_id, i * 7 % 5 + 0e0 AS score FROM"
            " range(40) AS t(i)"
        ).to_arrow_table()
    ),
    "grades": (
        duckdb.sql(
            "SELECT 'q' || (i // 4) AS query_id, 'd' || i AS doc_id, i % 3 AS relevance FROM"
            " range(40) AS t(i)"
        ).to_arrow_table()
    ),
}
RUN = """
    WITH qrels AS (
        SELECT * FROM runs
    ), run AS (
        -- the rows of all
        SELECT * FROM qrels WHERE score < 9.5 AND 'its' <> '-- no comment'
    )
    SELECT * FROM run
"""
QRELS = (
    "SELECT * FROM grades WHERE relevance >= 0 UNION ALL SELECT * FROM grades WHERE relevance < 0;"
)
METRICS = ["nDCG@3", "AP", "P@2", "num_ret"]
COMPILERS = {
    "bigquery": "BigQueryCompiler",
    "clickhouse": "ClickHouseCompiler",
    "datafusion": "DataFusionCompiler",
    "postgres": "PostgresCompiler",
    "snowflake": "SnowflakeCompiler",
    "sqlite": "SQLiteCompiler",
}
"""Compilers of ibis that need no connection, by dialect."""


@pytest.fixture(scope="module", params=parametrize_engines(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, TABLES) as engine:
        yield engine


def test_printed_statements_give_the_numbers_of_tables(engine):
    (expected,) = sqlrank.evaluate(METRICS, run=TABLES["runs"], qrels=TABLES["grades"]).to_pylist()
    for dialect in engine.dialects:
        statement = sqlrank.sql(METRICS, run=RUN, qrels=QRELS, dialect=dialect)
        assert engine.rows(statement) == [pytest.approx(tuple(expected.values()))]


def test_connections_evaluate_queries(engine):
    connection = getattr(engine, "connection", None)
    if connection is None or isinstance(engine, Databend):
        pytest.skip("sqlrank has no connection to it, only statements for it")
    assert sqlrank.evaluate(METRICS, run=RUN, qrels=QRELS, connection=connection).to_pylist() == [
        pytest.approx(row)
        for row in sqlrank.evaluate(
            METRICS, run="runs", qrels="grades", connection=connection
        ).to_pylist()
    ]
    with pytest.raises(sqlrank.InputError, match=r"^run: the query failed: "):
        sqlrank.evaluate(
            METRICS, run="SELECT nothing_there FROM runs", qrels=QRELS, connection=connection
        )


def test_expressions_that_ibis_compiles_are_queries(engine):
    """No connection is needed, so that those of BigQuery are tried, too."""
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    compilers = import_module("ibis.backends.sql.compilers")
    (expected,) = sqlrank.evaluate(METRICS, run=TABLES["runs"], qrels=TABLES["grades"]).to_pylist()
    runs, grades = (
        ibis.table(ibis.schema(TABLES[name].schema), name=name) for name in ("runs", "grades")
    )
    run = runs.filter(runs.score >= 0).mutate(score=runs.score * 2)
    judged = ibis.union(grades.filter(grades.relevance > 0), grades.filter(grades.relevance <= 0))
    dialects = [dialect for dialect in engine.dialects if dialect in COMPILERS]
    if not dialects:
        pytest.skip("ibis compiles for Spark with a connection only, as in the tests of backends")
    for dialect in dialects:
        compiler, written = getattr(compilers, COMPILERS[dialect])(), DIALECTS[dialect].sqlglot_name
        sources = {
            role: compiler.to_sqlglot(table).sql(written)
            for role, table in (("run", run), ("qrels", judged))
        }
        statement = sqlrank.sql(METRICS, **sources, dialect=dialect)
        assert engine.rows(statement) == [pytest.approx(tuple(expected.values()))]


@pytest.mark.slow
def test_first_call_on_spark_says_what_it_waits_for(monkeypatch, capsys):
    remote_database.announce_compilation.cache_clear()
    with run_engine(Spark, TABLES) as engine:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        sources = {"run": "runs", "qrels": "grades", "connection": engine.connection}
        for _ in range(2):
            sqlrank.evaluate("P@2", **sources)
    assert capsys.readouterr().err.count("Spark plans and compiles") == 1
