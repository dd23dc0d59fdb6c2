"""Adapters of connections to other databases, and refused connections."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.engines.remote_database import infer_dialect
from tests.interface.connections import ONE_QRELS, ONE_RUN, QRELS, RUN, evaluate_small
from tests.lanes import select_few


def make_sqlite(**tables: str) -> sqlite3.Connection:
    """Return a database of tables given as queries."""
    connection = sqlite3.connect(":memory:")
    for name, query in tables.items():
        connection.execute(f'CREATE TABLE "{name}" AS {query}')
    return connection


@pytest.fixture
def one() -> Iterator[sqlite3.Connection]:
    with closing(make_sqlite(run=ONE_RUN, qrels=ONE_QRELS)) as connection:
        yield connection


def test_sources_are_names_of_tables(one, tmp_path):
    assert evaluate_small(one).to_pylist() == [{"AP": 1.0}]
    with pytest.raises(
        InputError,
        match=(
            r"^qrels: a Table is not on sqlite, and nothing is uploaded. Give the name of a table"
            r" there, or bring"
        ),
    ):
        evaluate_small(one, qrels=QRELS)
    (tmp_path / "run.parquet").touch()
    with pytest.raises(
        InputError,
        match=r"run\.parquet' is a file, which .* Make a table of it on sqlite, and name that",
    ):
        evaluate_small(one, run=tmp_path / "run.parquet")
    with pytest.raises(InputError, match=r"^run: cannot read runs: no such table: runs$"):
        evaluate_small(one, run="runs")


def test_limits_are_refused(one):
    for limit in ({"timeout": 5}, {"threads": 2}, {"memory_limit": "1GB"}):
        with pytest.raises(
            InputError,
            match=(
                rf"^{next(iter(limit))}=.* is not possible on sqlite: the statement runs there. Set"
                r" a limit"
            ),
        ):
            evaluate_small(one, **limit)


def test_progress_is_reported_at_the_beginning_and_the_end(one):
    told = []
    evaluate_small(one, progress=told.append)
    assert told == [0.0, 100.0]


def test_rows_may_come_in_any_form(one):
    one.row_factory = sqlite3.Row
    assert evaluate_small(one, per_query=True).to_pylist() == [{"query_id": "q", "AP": 1.0}]
    one.row_factory = lambda cursor, row: {
        column[0]: value for column, value in zip(cursor.description, row, strict=True)
    }
    assert evaluate_small(one, per_query=True).to_pylist() == [{"query_id": "q", "AP": 1.0}]


def test_what_the_connection_speaks(one):
    with pytest.raises(
        InputError,
        match=(
            r"^cannot connect to a int. Give a DuckDB connection or the path of a DuckDB file, a"
            r" PEP 249"
        ),
    ):
        evaluate_small(5)
    with pytest.raises(
        InputError,
        match=(
            r"^dialect='postgres' is not DuckDB's dialect. Give connection= to a database of that"
            r" dialect$"
        ),
    ):
        sqlrank.evaluate("AP", run=RUN, qrels=QRELS, dialect="postgres")
    with pytest.raises(MetricError, match=r"^unknown dialect 'sqllite'. Did you mean 'sqlite'\?"):
        evaluate_small(one, dialect="sqllite")
    wrapped = SimpleNamespace(cursor=one.cursor)
    with pytest.raises(
        InputError,
        match=(
            r"^the SQL dialect of a types.SimpleNamespace is unknown. Name it with dialect=, one"
            r" of: duckdb"
        ),
    ):
        evaluate_small(wrapped)
    one.create_function("floor", 1, lambda value: value // 1)
    assert evaluate_small(wrapped, dialect="sqlite").to_pylist() == [{"AP": 1.0}]


@pytest.mark.parametrize(
    ("module", "dialect"),
    [
        ("psycopg", "postgres"),
        ("psycopg2.extensions", "postgres"),
        ("redshift_connector.core", "redshift"),
        ("snowflake.connector.connection", "snowflake"),
        ("google.cloud.bigquery.dbapi.connection", "bigquery"),
        ("databricks.sql.client", "databricks"),
        ("trino.dbapi", "trino"),
        ("clickhouse_connect.dbapi.connection", "clickhouse"),
    ],
)
def test_a_driver_is_recognized_by_its_package(module, dialect):
    """Also where the caller's class is derived from the driver's."""
    driver = type("Connection", (), {"__module__": module, "cursor": None})
    assert infer_dialect(type("Mine", (driver,), {})(), None) == dialect


def test_there_is_no_float32_everywhere(one):
    with pytest.raises(
        MetricError,
        match=(
            r"^score_type='float32' is not possible on sqlite, which has doubles only. Give"
            r" score_type='flo"
        ),
    ):
        evaluate_small(one, score_type="float32")
    assert evaluate_small(one, compat="trec9", score_type="float64").to_pylist() == [{"AP": 1.0}]


@pytest.mark.parametrize(
    "call",
    [
        {"by": [["system"], []], "per_query": True},
        {"columns": {"score": ["a", "b"]}, "by": [["system"], []]},
    ],
    ids=str,
)
@pytest.mark.parametrize("metric", select_few(["AUC", "GAUC", "ROC"], 1))
def test_names_for_snowflake_have_one_case(metric, call):
    """With quotes or without, since these are two names there: "query_id" is not QUERY_ID."""
    if metric == "ROC" and "columns" not in call:
        call = {"by": call["by"]}
    text = sqlrank.sql(metric, dialect="snowflake", predictions="db.s.predictions", **call)
    identifiers = list(sqlglot.parse_one(text, read="snowflake").find_all(exp.Identifier))
    assert not {i.name.upper() for i in identifiers if not i.quoted} & {
        i.name.upper() for i in identifiers if i.quoted
    } - {"A", "B"}
