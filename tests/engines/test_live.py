"""BigQuery and Snowflake themselves, with the credentials of whoever runs the tests; skipped
without them.

BigQuery: ``SQLRANK_BIGQUERY_PROJECT`` names a project in which a data set may be made, with
application default credentials. All statements are checked by dry runs, which cost nothing, before
two small queries are run. Snowflake: ``SQLRANK_SNOWFLAKE`` holds the arguments of
``snowflake.connector.connect`` as JSON, with a database in which a schema may be made, and a
warehouse. What is made is removed afterwards.
"""

import io
import json
import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.engines.scenarios import Scenario, make_tables, writable_scenarios

RUN = ("systems", "predictions shop, score_order=buckets")
"""The scenarios whose numbers are compared: all metrics of rankings, and all of predictions."""


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, table in make_tables().items():
            connection.from_arrow(table).create(f'"{name}"')
        yield connection


def assert_same(
    duck: duckdb.DuckDBPyConnection, scenario: Scenario, rows: list[tuple[Any, ...]]
) -> None:
    expected = [tuple(row.values()) for row in scenario.expected(duck).to_pylist()]
    assert len(rows) == len(expected) > 1
    for got, wanted in zip(rows, expected, strict=True):
        assert got == tuple(
            pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
            for value in wanted
        )


@pytest.mark.skipif(
    "SQLRANK_BIGQUERY_PROJECT" not in os.environ,
    reason="set SQLRANK_BIGQUERY_PROJECT to run this on BigQuery",
)
def test_bigquery(duck):
    from google.cloud import bigquery

    client = bigquery.Client(os.environ["SQLRANK_BIGQUERY_PROJECT"])
    data = client.create_dataset(f"sqlrank_live_{uuid4().hex[:8]}")
    try:
        asked = [
            scenario for scenario in writable_scenarios("bigquery") if scenario.name != "odd names"
        ]  # BigQuery has no such names
        for name, table in make_tables().items():
            if name.isidentifier():
                buffer = io.BytesIO()
                pq.write_table(table, buffer)
                buffer.seek(0)
                parquet = bigquery.LoadJobConfig(source_format=bigquery.SourceFormat.PARQUET)
                client.load_table_from_file(buffer, data.table(name), job_config=parquet).result()
        dry = bigquery.QueryJobConfig(default_dataset=data.reference, dry_run=True)
        for scenario in asked:
            assert (
                client.query(scenario.text("bigquery"), job_config=dry).total_bytes_processed
                < 10_000_000
            ), scenario.name
        for scenario in asked:
            if scenario.name in RUN:
                job = client.query(
                    scenario.text("bigquery"),
                    job_config=bigquery.QueryJobConfig(default_dataset=data.reference),
                )
                assert_same(duck, scenario, [tuple(row.values()) for row in job.result()])
    finally:
        client.delete_dataset(data, delete_contents=True)


@pytest.mark.skipif(
    "SQLRANK_SNOWFLAKE" not in os.environ, reason="set SQLRANK_SNOWFLAKE to run this on Snowflake"
)
def test_snowflake(duck):
    import snowflake.connector

    schema = f"sqlrank_live_{uuid4().hex[:8]}"
    kinds = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR"}
    with (
        snowflake.connector.connect(**json.loads(os.environ["SQLRANK_SNOWFLAKE"])) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"CREATE TRANSIENT SCHEMA {schema}")
        try:
            cursor.execute(f"USE SCHEMA {schema}")
            for name, table in make_tables().items():
                if name.isidentifier():
                    columns = ", ".join(
                        f"{field.name} {kinds[str(field.type)]}" for field in table.schema
                    )
                    cursor.execute(f"CREATE TABLE {name} ({columns})")
                    marks = ", ".join(["%s"] * table.num_columns)
                    cursor.executemany(
                        f"INSERT INTO {name} VALUES ({marks})",
                        [tuple(row.values()) for row in table.to_pylist()],
                    )
            for scenario in writable_scenarios("snowflake"):
                if scenario.name != "odd names":
                    cursor.execute(
                        "EXPLAIN "
                        + sqlrank.sql(scenario.metrics, dialect="snowflake", **scenario.options)
                    )
                if scenario.name in RUN:
                    cursor.execute(
                        sqlrank.sql(scenario.metrics, dialect="snowflake", **scenario.options)
                    )
                    assert_same(duck, scenario, cursor.fetchall())
        finally:
            cursor.execute(f"DROP SCHEMA IF EXISTS {schema}")
