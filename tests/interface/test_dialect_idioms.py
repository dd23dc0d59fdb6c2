"""Series of integers and hexadecimal numbers in the idiom of each dialect, and their contract."""

from __future__ import annotations

import hashlib

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.renderer import to_sql

SERIES = {
    "duckdb": "FROM GENERATE_SERIES(2, 20) AS series(number)",
    "bigquery": "FROM UNNEST(GENERATE_ARRAY(2, 20)) AS number",
    "spark": "FROM EXPLODE(SEQUENCE(2, 20)) AS series(number)",
    "databricks": "FROM EXPLODE(SEQUENCE(2, 20)) AS series(number)",
    "postgres": "FROM GENERATE_SERIES(2, 20) AS series(number)",
    "trino": "FROM UNNEST(SEQUENCE(2, 20)) AS series(number)",
    "clickhouse": "FROM numbers(2, 19) AS series",
}
DIGITS = "CAST('0x' || SUBSTR(digest, 9, 8) AS BIGINT) % 2147483647"
"""The number of digits of a hash, as files of the bootstrap write it."""

HEX = {
    "duckdb": "CAST('0x' || SUBSTRING(digest, 9, 8) AS BIGINT)",
    "bigquery": "CAST('0x' || SUBSTRING(digest, 9, 8) AS INT64)",
    "spark": "CAST(CONV(SUBSTRING(digest, 9, 8), 16, 10) AS BIGINT)",
    "databricks": "CAST(CONV(SUBSTRING(digest, 9, 8), 16, 10) AS BIGINT)",
    "postgres": "CAST(CAST('x' || SUBSTRING(digest FROM 9 FOR 8) AS BIT(32)) AS BIGINT)",
    "trino": "FROM_BASE(SUBSTR(digest, 9, 8), 16)",
    "mysql": "CAST(CONV(SUBSTRING(digest, 9, 8), 16, 10) AS SIGNED)",
    "clickhouse": "reinterpretAsUInt32(reverse(unhex(SUBSTRING(digest, 9, 8))))",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_series_of_integers(dialect):
    text = sqlrank.sql("P@2..20", run="r", qrels="q", dialect=dialect)
    assert (
        SERIES.get(
            dialect,
            "FROM digits AS ones\n  CROSS JOIN digits AS tens\n  WHERE 2 + ones.digit + 10 *"
            " tens.digit <= 20\n",
        )
        in text
    )
    assert ("UNION ALL SELECT 9\n" in text) == (dialect not in SERIES)


@pytest.mark.parametrize("table", ["digits", "Digits"])
def test_digits_next_to_a_table_of_that_name(table):
    """Names of tables have no case to most engines."""
    text = sqlrank.sql("P@2..20", run=table, qrels="q", dialect="sqlite")
    assert "WITH digits_2 AS (" in text
    assert "CROSS JOIN digits_2 AS tens" in text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hexadecimal_number(dialect):
    text = to_sql(sqlglot.parse_one(DIGITS, read="duckdb"), dialect)
    assert HEX.get(dialect, "0123456789abcdef") in text
    assert (text.count("0123456789abcdef") == 8) == (dialect not in HEX)


def test_digits_of_a_hash_give_the_number_that_they_are():
    digests = [
        hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()
        for number in range(300)
    ]
    values = ", ".join(f"('{digest}')" for digest in digests)
    expected = [int(digest[8:16], 16) % 2147483647 for digest in digests]
    texts = [
        to_sql(sqlglot.parse_one(DIGITS, read="duckdb"), dialect)
        for dialect in ("duckdb", "snowflake")
    ]
    by_digits = sqlglot.transpile(texts[1], read="snowflake", write="duckdb")[0]
    for text in (texts[0], by_digits):
        rows = duckdb.sql(f"SELECT {text} FROM (VALUES {values}) AS digests(digest)").fetchall()
        assert [number for (number,) in rows] == expected


WITHOUT_WINDOW_CLAUSE = {"snowflake", "redshift", "tsql"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_frame_is_written_once(dialect):
    call = {"predictions": "p", "by": "g", "plan": {"score_order": "distinct"}}
    text = sqlrank.sql("APS", dialect=dialect, **call)
    is_named = dialect not in WITHOUT_WINDOW_CLAUSE
    assert ("OVER preceding_rows, 0) AS positives_above" in text) is is_named
    assert ("WINDOW preceding_rows AS (" in text) is is_named


@pytest.mark.parametrize("dialect", DIALECTS)
def test_differences_between_groups_are_sorted_per_metric(dialect):
    text = sqlrank.sql("MAE", predictions="p", across="g", dialect=dialect)
    tree = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
    windows = [window for window in tree.find_all(exp.Window) if not window.args.get("alias")]
    assert len(windows) >= 4
    assert all("metric" in str(window.args["partition_by"][0]) for window in windows)


def test_no_rows_have_no_total():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE run AS SELECT 's' AS system, 'q' AS query_id, 'd' AS doc_id, 1 AS score"
        )
        connection.execute(
            "CREATE TABLE qrels AS SELECT 'q' AS query_id, 'd' AS doc_id, 1 AS relevance"
        )
        text = sqlrank.sql("RR", run="run", qrels="qrels", by=[["system"], []])
        assert connection.execute(text).fetchall() == [(None, "all", 1.0), ("s", "system", 1.0)]
        connection.execute("DELETE FROM run")
        assert connection.execute(text).fetchall() == []


def test_a_dialect_that_a_library_registers_is_not_that_of_statements(monkeypatch):
    """As ibis does: the compiled sqlglot makes no writer of its class."""
    base = sqlglot.dialects.ClickHouse
    monkeypatch.setitem(sqlglot.Dialect.classes, "clickhouse", base)
    monkeypatch.delitem(vars(DIALECTS["clickhouse"]), "sqlglot", raising=False)

    class ClickHouse(base):
        class Generator(base.generator_class):
            pass

    assert type(sqlglot.Dialect.get_or_raise("clickhouse")) is ClickHouse
    assert type(DIALECTS["clickhouse"].sqlglot) is base
    assert "Nullable(Float64)" in sqlrank.sql("LogLoss", predictions="x", dialect="clickhouse")


def test_a_call_over_a_named_window_is_written_once():
    """One character too many for its line, it was written within the window, too."""
    for length in range(20, 50):
        text = to_sql(
            sqlglot.parse_one(
                "WITH sums AS (SELECT SUM(SUM(disagreement)) OVER preceding_rows_by_ratings AS"
                f" {'x' * length}, c FROM t GROUP BY c WINDOW preceding_rows_by_ratings AS (ORDER BY"
                " c)) SELECT * FROM sums"
            ),
            "duckdb",
            pretty=True,
        )
        assert text.count(" OVER ") == 1
