"""Statements for MySQL 8 on MariaDB, the server of that family which Debian packages, with DuckDB's
numbers.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import MetricError
from tests.engines.mariadb import MARKS, MariaDB
from tests.engines.matrix import PROPERTY, make_record
from tests.engines.scenarios import Scenario, make_tables, scenarios, writable_scenarios
from tests.engines.test_engines import compare_rows, compute_expected, connect_duckdb

pytestmark = MARKS

MANY_STEPS = ("beyond accuracy", "predictions", "classification of queries")
"""Scenarios whose metrics are asked for in several calls, since MariaDB takes at most 64 steps in
one statement.
"""

RECALIBRATIONS = ("CalibrationSlope", "CalibrationIntercept")
"""Metrics that take half of these steps."""


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDB]:
    with closing(MariaDB()) as server:
        for name, table in make_tables().items():
            server.load(name, table)
        yield server


def convert_cells(rows: list[tuple[Any, ...]], schema: pa.Schema) -> list[tuple[Any, ...]]:
    """Return the rows of the client, which are texts, with the types of a table."""
    readers = [
        float if pa.types.is_floating(kind) else _read_integer if pa.types.is_integer(kind) else str
        for kind in schema.types
    ]
    return [
        tuple(None if cell is None else read(cell) for read, cell in zip(readers, row, strict=True))
        for row in rows
    ]


def _read_integer(text: str) -> int:
    number = float(text)
    assert number.is_integer(), text
    return int(number)


def divide_scenario(scenario: Scenario) -> list[Scenario]:
    if not scenario.name.startswith(MANY_STEPS):
        return [scenario]
    reads_catalog = [metric for metric in scenario.metrics if metric.startswith("CatalogCoverage")]
    in_steps = [metric for metric in scenario.metrics if metric in RECALIBRATIONS]
    others = [metric for metric in scenario.metrics if metric not in RECALIBRATIONS]
    parts = [in_steps, *([*dict.fromkeys(reads_catalog + others[part::4])] for part in range(4))]
    return [Scenario(scenario.name, part, scenario.options) for part in parts if part]


@pytest.mark.parametrize(
    "scenario", writable_scenarios("mysql"), ids=lambda scenario: scenario.name
)
def test_numbers_are_those_of_duckdb(server, scenario, record_property):
    if scenario.name == "rank_method=array":
        with pytest.raises(MetricError, match=r"Choose sort or count for mysql$"):
            scenario.text("mysql")
        return
    worst = 0.0
    for part in divide_scenario(scenario):
        expected = compute_expected(part)
        rows = convert_cells(server.rows(part.text("mysql")), expected.schema)
        worst = max(worst, compare_rows(rows, expected))
    metrics = [sqlrank.parse(metric).name for metric in scenario.metrics]
    record_property(PROPERTY, make_record("MariaDB", server.version, scenario.name, metrics, worst))


def test_mariadb_rejects_more_than_64_steps(server):
    (scenario,) = [scenario for scenario in scenarios() if scenario.name == MANY_STEPS[0]]
    with pytest.raises(RuntimeError, match="Too many WITH elements in WITH clause"):
        server.rows(scenario.text("mysql"))


@pytest.mark.parametrize("place", ["create_table", "create_view", "insert", "overwrite_by"])
def test_results_are_stored(server, place):
    (scenario,) = [scenario for scenario in scenarios() if scenario.name == "regression"]
    few = Scenario("regression", ["MAE", "RMSE"], scenario.options)
    expected = few.expected(connect_duckdb())
    keys = ", ".join(f"`{name}`" for name in expected.column_names)
    server.execute("DROP TABLE IF EXISTS stored; DROP VIEW IF EXISTS stored_view")
    target = "stored_view" if place == "create_view" else "stored"
    columns = ", ".join(
        f"{name} {'DOUBLE' if pa.types.is_floating(kind) else 'BIGINT'}"
        for name, kind in zip(expected.column_names, expected.schema.types, strict=True)
    )
    options = (
        {"insert": target, "overwrite_by": "shop"} if place == "overwrite_by" else {place: target}
    )
    statement = Scenario("stored", few.metrics, {**few.options, **options}).text("mysql")
    if "insert" in options:
        server.execute(f"CREATE TABLE stored ({columns.lower()})")
    server.execute(statement)
    if place == "overwrite_by":
        server.execute(statement)
    rows = server.rows(f"SELECT {keys.lower()} FROM {target} ORDER BY 1")
    assert len(rows) == expected.num_rows
