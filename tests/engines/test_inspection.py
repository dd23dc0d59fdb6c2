"""Statements over tables that cannot be looked at give the numbers of ``evaluate``, which looks at
them, for all metrics and several types of columns; or their header says what to write.
"""

import re
from functools import cache
from typing import Any

import duckdb
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from tests.engines.scenarios import Scenario, make_tables, scenarios

NUMBER = "CAST(REGEXP_EXTRACT({column}, '[0-9]+$') AS BIGINT)"
SHAPES = {
    "as they are": {},
    "numbers of 32 bits": {"DOUBLE": "CAST({column} AS FLOAT)", "BIGINT": "CAST({column} AS INT)"},
    "decimals": {"DOUBLE": "CAST({column} AS DECIMAL(18, 6))"},
    "ids that are integers": {"id": NUMBER, "id of texts": NUMBER},
    "ids that are integers where others are texts": {
        "id": NUMBER,
        "id of texts": f"CAST({NUMBER} AS VARCHAR)",
    },
    "further columns": {},
}
"""Expressions in place of columns, by their type or what they are."""

LEAST_FOLLOWED = {"ids that are integers where others are texts": 4, "further columns": 2}
"""Calls whose numbers differ until the advice of the header is followed."""

IDS, TABLES_OF_TEXTS = (
    {"query_id", "doc_id"},
    {"qrels", "queries", "clicks", "features", "baseline"},
)
FURTHER = {
    "weight": "1 + rowid % 3",
    "unit_id": "{unit} // 2",
    "rank": "rowid",
    "cutoff": "1 + rowid % 4",
    "subtopic": "'s' || rowid % 2",
}
"""Optional columns of several inputs, with their values."""


@cache
def choose_scenarios() -> list[Scenario]:
    """Return scenarios with all metrics and curves, but for tables whose names need quotes, and
    the plan for rows without weights.
    """
    chosen, seen = [], set()
    for scenario in scenarios():
        metrics = {*scenario.metrics} - seen
        if "=" in scenario.name or scenario.name in {"odd names", "predictions of weight 1"}:
            continue
        if metrics:
            chosen.append(scenario)
        seen |= metrics
    return chosen


def change_tables(connection: duckdb.DuckDBPyConnection, shape: str) -> None:
    """Make the tables of the scenarios, with columns of other types or with further ones."""
    for name, table in make_tables().items():
        types = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR"}
        items = []
        for field in table.schema if name.isidentifier() else ():
            kind = types[str(field.type)]
            if field.name in IDS and kind == "VARCHAR":
                kind = "id of texts" if name in TABLES_OF_TEXTS else "id"
            expression = SHAPES[shape].get(kind, "{column}").format(column=field.name)
            items.append(f'{expression} AS "{field.name}"')
        if shape == "further columns":
            others = FURTHER.keys() - {*table.column_names}
            keys = [field.name for field in table.schema if str(field.type) == "int64"]
            (unit,) = {"prediction_id", "item_id"} & {*keys} or {"rowid"}
            items += [f"{FURTHER[other].format(unit=unit)} AS {other}" for other in sorted(others)]
        if items:
            connection.from_arrow(table).create("given")
            connection.execute(f'CREATE TABLE "{name}" AS SELECT {", ".join(items)} FROM given')
            connection.execute("DROP TABLE given")


def follow_header(
    connection: duckdb.DuckDBPyConnection, header: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options with the columns that a header says to map, where a table has them."""
    header = re.sub(r"\n-- +", " ", header)  # its lines are wrapped
    sources = {**options.get("inputs", {}), **options}
    types = {
        (role, column): kind
        for role in load_registry().roles
        if isinstance(sources.get(role), str)
        for column, kind, *_ in connection.execute(f"DESCRIBE {sources[role]}").fetchall()
    }
    mapped = {
        f"{role}.{column}": column
        for role, column in re.findall(r"Map (\w+)\.(\w+) to (?:a|the) column", header)
        if (role, column) in types
    }
    if "Map integers to text where they meet texts" in header:
        mapped |= {
            f"{role}.{column}": f"CAST({column} AS VARCHAR)"
            for (role, column), kind in types.items()
            if column in IDS and kind == "BIGINT"
        }
    return {**options, "columns": {**options.get("columns", {}), **mapped}}


def find_difference(connection: duckdb.DuckDBPyConnection, scenario: Scenario, text: str) -> str:
    """Return the name of the first column whose values are not those of ``evaluate``, or an empty
    text.
    """
    expected = sqlrank.evaluate(
        scenario.metrics, connection=connection, check="off", **scenario.options
    )
    found = connection.sql(text).to_arrow_table()
    for place, name in enumerate(expected.column_names):
        if name != "slice" and found[place].to_pylist() != [
            pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)
            if isinstance(value, float)
            else value
            for value in expected[place].to_pylist()
        ]:
            return f"{scenario.name}: {name}"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_printed_statements_have_the_numbers_of_inspected_tables(shape):
    assert len(choose_scenarios()) > 20
    faults, followed = [], 0
    with duckdb.connect() as connection:
        change_tables(connection, shape)
        for scenario in choose_scenarios():
            text = sqlrank.sql(scenario.metrics, **scenario.options)
            fault = find_difference(connection, scenario, text)
            if fault:
                options = follow_header(connection, text.partition("WITH ")[0], scenario.options)
                text = sqlrank.sql(scenario.metrics, **options)
                fault = find_difference(connection, scenario, text)
                followed += not fault
            if fault:
                faults.append(fault)
    assert faults == []
    assert followed >= LEAST_FOLLOWED.get(shape, 0)
