"""Every metric, curve and policy on every engine, with DuckDB's numbers; what agreed is printed as a table."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from sqlrank import MetricError
from tests.engines.engines import ENGINES
from tests.engines.scenarios import Scenario, scenarios, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engines.engines import Engine

TOLERANCE = 1e-9
CANNOT = {("SQLite", "groupings")}
"""What an engine has no words for, which is an error that says so."""


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, table in tables().items():
            connection.from_arrow(table).create(f'"{name}"')
        yield connection


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with closing(ENGINES[request.param]()) as started:
        for name, table in tables().items():
            started.load(name, table)
        yield started


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.name)
def test_numbers_are_those_of_duckdb(duck: duckdb.DuckDBPyConnection, engine: Engine, scenario: Scenario) -> None:
    name = type(engine).__name__
    if (name, scenario.name) in CANNOT:
        with pytest.raises(MetricError, match=f"cannot be written for {engine.dialects[0]}"):
            scenario.text(engine.dialects[0])
        return
    expected = scenario.expected(duck)
    for dialect in engine.dialects:
        rows = engine.rows(scenario.text(dialect))
        assert len(rows) == expected.num_rows > 0
        for column, values in zip(expected.column_names, zip(*rows, strict=True), strict=True):
            worst = max(difference(got, value) for got, value in zip(values, expected[column].to_pylist(), strict=True))
            assert worst <= TOLERANCE, (dialect, column, values, expected[column].to_pylist())


def difference(got: Any, expected: Any) -> float:
    """Return how far apart two values are: relative to the larger of 1 and what is expected."""
    if isinstance(expected, float) and got is not None:
        return abs(float(got) - expected) / max(1.0, abs(expected)) if math.isfinite(expected) else math.inf
    return 0.0 if got == expected else math.inf
