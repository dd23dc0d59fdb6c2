"""Printed statements that make a state on every engine, with DuckDB's rows: bins are the same everywhere, to the last row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from tests.definitions.test_states import clicks
from tests.engines.engines import ENGINES
from tests.engines.running import each, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engines.engines import Engine

METRICS = ["AUC", "LogLoss", "Brier", "RMSE", "num_predictions"]


@pytest.fixture(scope="module", params=each(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with running(request.param, {"clicks": clicks()}) as engine:
        yield engine


@pytest.mark.parametrize("options", [{}, {"fineness": 64}, {"bins": "score"}], ids=["grid", "coarse grid", "scores"])
def test_rows_are_those_of_duckdb(options: dict[str, Any], engine: Engine) -> None:
    made = sqlrank.state(METRICS, predictions=clicks(), by=["day", "campaign"], **options)
    # In quotes, since Databend has names in small letters.
    columns = {name: f'"{name}"' for name in ("label", "score", "weight")}
    given = {"predictions": "clicks", "by": ['"day"', '"campaign"'], "columns": columns, **options}
    rows = engine.rows(sqlrank.state_sql(METRICS, **given, dialect=engine.dialects[0]))
    names = made.column_names
    found = sorted((dict(zip(names, row, strict=True)) for row in rows), key=_place)
    for got, expected in zip(found, sorted(made.to_pylist(), key=_place), strict=True):
        assert len(got.pop("definition")) == len(expected.pop("definition"))
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)


def _place(row: dict[str, Any]) -> tuple[int, str, float]:
    return int(row["day"]), row["campaign"] or "", float(row["bin"])
