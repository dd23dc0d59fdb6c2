"""``overwrite_by`` replaces the rows of the days of a result, and no others."""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.interface.command_line import run_command

OPTIONS = {"predictions": "clicks", "by": ["day", "shop"], "insert": "daily", "overwrite_by": "day"}


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE clicks AS SELECT i % 3 AS day, i % 2 AS shop, i % 5 // 4 AS label, i * 7 % 11"
        " / 11 AS score FROM range(60) AS t(i)"
    )
    connection.execute("CREATE TABLE daily (auc DOUBLE, shop BIGINT, day BIGINT, note TEXT)")
    return connection


def read_rows(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT day, shop, auc, note FROM daily ORDER BY ALL NULLS FIRST"
    ).fetchall()


def test_a_rerun_doubles_no_day(connection):
    connection.execute(
        "INSERT INTO daily VALUES (0.5, 8, 1, 'a shop that is gone'), (0.5, 0, 7, 'another day'),"
        " (0.5, 0, NULL, 'no day')"
    )
    script = sqlrank.sql("AUC", connection=connection, where="day = 1", **OPTIONS)
    result = sqlrank.evaluate(
        "AUC", predictions="clicks", by=["day", "shop"], where="day = 1", connection=connection
    ).to_pylist()
    for _ in range(2):
        connection.execute(script)
        written = [(row["day"], row["shop"], row["AUC"], None) for row in result]
        assert read_rows(connection) == [
            (None, 0, 0.5, "no day"),
            *written,
            (7, 0, 0.5, "another day"),
        ]
    connection.execute(sqlrank.sql("AUC", connection=connection, **OPTIONS))
    assert [row[0] for row in read_rows(connection)] == [None, 0, 0, 1, 1, 2, 2, 7]


def test_null_is_a_day_like_others(connection):
    connection.execute("UPDATE clicks SET day = NULL WHERE day = 2")
    connection.execute(
        "INSERT INTO daily VALUES (0.5, 8, NULL, 'no day'), (0.5, 0, 7, 'another day')"
    )
    script = sqlrank.sql("AUC", connection=connection, where="day IS NULL", **OPTIONS)
    for _ in range(2):
        connection.execute(script)
        assert [row[:2] for row in read_rows(connection)] == [(None, 0), (None, 1), (7, 0)]


def test_a_result_without_rows_replaces_nothing(connection):
    connection.execute("INSERT INTO daily VALUES (0.5, 8, 1, 'kept')")
    connection.execute(sqlrank.sql("AUC", connection=connection, where="day = 9", **OPTIONS))
    assert read_rows(connection) == [(1, 8, 0.5, "kept")]


def test_nothing_is_deleted_if_nothing_can_be_added(connection):
    connection.execute("INSERT INTO daily VALUES (0.5, 8, 1, 'kept')")
    connection.execute("ALTER TABLE daily DROP COLUMN shop")
    with pytest.raises(duckdb.Error):
        connection.execute(sqlrank.sql("AUC", connection=connection, **OPTIONS))
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT day, note FROM daily").fetchall() == [(1, "kept")]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "dialect", [name for name, dialect in DIALECTS.items() if dialect.supports_delete]
)
def test_two_statements_in_a_transaction_where_there_is_one(dialect):
    text = sqlrank.sql(
        "nDCG@5",
        dialect=dialect,
        run="r",
        qrels="q",
        by=["system", "day"],
        insert="a.t",
        overwrite_by="day",
        per_query=True,
    )
    *first, delete, insert = [
        tree
        for tree in sqlglot.parse(text, read=DIALECTS[dialect].sqlglot_name)
        if not isinstance(tree, exp.Commit)
    ]
    assert [type(tree) for tree in first] == (
        [exp.Transaction] if DIALECTS[dialect].supports_transactions else []
    )
    assert ("has no transaction: if the second fails, run both again" in text) != DIALECTS[
        dialect
    ].supports_transactions
    assert isinstance(delete, exp.Delete)
    assert isinstance(insert, exp.Insert)
    assert "ndcg" not in delete.sql()
    assert delete.this.sql() == "a.t"


def test_the_command():
    text = run_command(
        "sql Brier --predictions p --by day --insert t --overwrite-by DAY --dialect postgres"
    )
    assert text.count(";") == 4
    assert text.endswith("COMMIT;\n")
