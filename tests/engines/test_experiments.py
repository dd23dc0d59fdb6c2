"""Printed statements of experiments on every engine, with the numbers of DuckDB's own."""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.analyses.experiments import UNITS
from tests.engines.engines import ENGINES, Engine
from tests.engines.matrix import PROPERTY, make_record
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import EXPERIMENTS
from tests.engines.test_engines import TOLERANCE, measure_difference
from tests.interface.test_off_policy import GOLDEN, INTERLEAVED, LOGS

METRICS = {"spend": "Mean(spend)", "ctr": "Ratio(clicks, views)"}


def quote_columns(asked: Any) -> Any:
    """Put the names of columns in quotes, since Databend has them in small letters."""
    if isinstance(asked, dict):
        return {name: quote_columns(value) for name, value in asked.items()}
    return (
        re.sub(r"\b(spend|clicks|views|pre)\b", r'"\1"', asked)
        if isinstance(asked, str) and asked != "visits"
        else asked
    )


def make_visits() -> pa.Table:
    """Return units under their names in small letters, some without a covariate."""
    gaps = [
        None if place in {3, 7} else value for place, value in enumerate(UNITS["pre"].to_pylist())
    ]
    return UNITS.set_column(UNITS.column_names.index("pre"), "pre", pa.array(gaps))


@pytest.fixture(scope="module", params=parametrize_engines(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(
        request.param, {"visits": make_visits(), "logs": LOGS, "interleaved": INTERLEAVED}
    ) as engine:
        yield engine


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_numbers_are_those_of_duckdb(name, engine, record_property):
    expected = sqlrank.experiment(
        METRICS, data=make_visits(), control="A", **EXPERIMENTS[name]
    ).to_pylist()
    asked = {"metrics": METRICS, "data": "visits", "control": "A", **EXPERIMENTS[name]}
    text = sqlrank.experiment_sql(
        **(quote_columns(asked) if type(engine).__name__ == "Databend" else asked),
        dialect=engine.dialects[0],
    )
    rows = [
        dict(zip([*expected[0], "multi_variant_units"], row, strict=True))
        for row in engine.rows(text)
    ]
    worst = 0.0
    for row, values in zip(rows, sorted(expected, key=lambda row: row["metric"]), strict=True):
        wanted = values | {"multi_variant_units": 0}
        assert row == pytest.approx(wanted, rel=TOLERANCE, abs=1e-12)
        worst = max(
            worst, *(measure_difference(row[name], value) for name, value in wanted.items())
        )
    record_property(
        PROPERTY,
        make_record(
            type(engine).__name__,
            engine.version,
            name,
            ["Mean (experiment)", "Ratio (experiment)"],
            worst,
        ),
    )


@pytest.mark.parametrize(
    ("metrics", "inputs"),
    [
        (list(GOLDEN), {"logs": LOGS}),
        (["Preference", "num_won_by_a", "num_won_by_b"], {"interleaved": INTERLEAVED}),
    ],
    ids=["logs", "interleaved"],
)
def test_estimates_are_those_of_duckdb(metrics, inputs, engine):
    expected = sqlrank.evaluate(metrics, inputs=inputs, confidence=0.9).to_pylist()[0]
    text = sqlrank.sql(
        metrics, inputs={name: name for name in inputs}, dialect=engine.dialects[0], confidence=0.9
    )
    (row,) = engine.rows(text)
    assert dict(zip(expected, row, strict=True)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
