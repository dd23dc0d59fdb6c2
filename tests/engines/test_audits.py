"""Statements that count the rows which break each rule, printed for tables that cannot be looked at:
every engine finds what DuckDB finds, in tables where rules are broken.
"""

import re
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import MetricError
from tests.engines.engines import ENGINES
from tests.engines.golden.test_all_metrics import FILES, print_statement
from tests.engines.mariadb import MARKS, MariaDB
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import CANNOT, Scenario, make_tables, scenarios

OTHERS = {"int64": "-7", "double": "-1.5", "string": "'other'"}
"""Values that break rules, by the type of a column."""

FLAGS = ("label", "treatment", "predicted", "clicked")


def break_rules(table: pa.Table) -> pa.Table:
    """Return a table with three rows that occur twice, one of NULLs and one of negative numbers."""
    with duckdb.connect() as connection:
        connection.from_arrow(table).create("given")
        values = ", ".join(OTHERS[str(kind)] for kind in table.schema.types)
        connection.execute("INSERT INTO given FROM (FROM given LIMIT 3)")
        connection.execute(f"INSERT INTO given SELECT {', '.join(['NULL'] * table.num_columns)}")
        connection.execute(f"INSERT INTO given SELECT {values}")
        return connection.sql("FROM given").to_arrow_table().cast(table.schema)


@cache
def make_broken_tables() -> dict[str, pa.Table]:
    return {name: break_rules(table) for name, table in make_tables().items()}


def connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, table in make_broken_tables().items():
        connection.from_arrow(table).create(f'"{name}"')
    return connection


@cache
def list_audits() -> list[tuple[Scenario, list[int]]]:
    """Return scenarios that have all checks, each with the numbers of rows that DuckDB finds."""
    found, seen = [], set()
    with connect() as connection:
        for scenario in scenarios():
            if "=" not in scenario.name:
                rows = connection.execute(scenario.text("duckdb", audit=True)).fetchall()
                broken = {(role, problem) for role, problem, count in rows if count}
                if broken - seen:
                    found.append((scenario, count_rows(rows)))
                seen |= broken
    return found


def count_rows(rows: list[tuple[Any, ...]]) -> list[int]:
    """Return the numbers of rows that break a rule, but for rules that none breaks: an engine
    without NaN has no rules on it.
    """
    return sorted(int(count) for *_, count in rows if int(count))


@pytest.mark.parametrize(
    "engine", [*parametrize_engines(ENGINES), pytest.param(MariaDB, marks=MARKS)]
)
def test_every_engine_finds_the_same_rows(engine):
    audits = list_audits()
    assert len(audits) > 20
    faults = []
    with run_engine(engine, make_broken_tables()) as started:
        for dialect in started.dialects:
            if (
                dialect == "redshift"
            ):  # where a backslash escapes a quote, as in PostgreSQL before 9.1
                started.execute("SET standard_conforming_strings = off")
            for scenario, counts in audits:
                if (engine.__name__, scenario.name) in CANNOT:
                    continue
                found = count_rows(started.rows(scenario.text(dialect, audit=True)))
                if found != counts:
                    faults.append((dialect, scenario.name, found, counts))
    assert faults == []


ACCEPTING = ["missing_of_predictions"]
"""Metrics without rules."""


@pytest.mark.one_in(30)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_metric_has_rules_but_those_that_accept_any_row(file):
    if file.name not in ACCEPTING:
        assert " AS num_rows" in print_statement(file, "duckdb", audit=True)
        return
    message = r"^audit has no rule to check: Missing\(score\) accepts any row. Leave it out$"
    with pytest.raises(MetricError, match=message):
        print_statement(file, "duckdb", audit=True)


def test_rules_are_those_of_inspected_tables():
    """Labels may be booleans, which have no NaN, and keys texts."""
    different = {
        frozenset(scenario.options.get("inputs", scenario.options)): scenario
        for scenario in scenarios()
        if not {"=", "odd"} & {*re.findall("=|odd", scenario.name)}
    }
    assert len(different) > 15
    with connect() as connection:
        flags = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE data_type = 'BIGINT' AND"
            " table_name <> 'numbers' AND column_name IN ?",
            [[*FLAGS]],
        ).fetchall()
        assert len(flags) > 5
        for name, column in flags:
            connection.execute(f'ALTER TABLE "{name}" ALTER "{column}" TYPE BOOLEAN')
        for scenario in different.values():
            weight = (
                {"queries.weight": "weight"} if scenario.options.get("queries") == "queries" else {}
            )
            call = {
                **scenario.options,
                "columns": {**scenario.options.get("columns", {}), **weight},
            }
            texts = [
                sqlrank.sql(scenario.metrics, audit=True, connection=seen, **call)
                for seen in (connection, None)
            ]
            inspected, printed = (count_rows(connection.execute(text).fetchall()) for text in texts)
            assert (scenario.name, printed) == (scenario.name, inspected)
