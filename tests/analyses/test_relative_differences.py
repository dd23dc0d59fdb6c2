"""Relative differences: of the absolute value of the baseline, so that their sign is that of the
difference on every surface.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table, read_columns

PROFITS = read_columns(old="-12.0 -9.0 -9.0", new="-6.0 -4.0 -5.0")  # means -10 and -5


def _compare(call: Callable[..., pa.Table]) -> dict[str, Any]:
    rows = [
        (system, f"q{place}", profit)
        for system, profits in PROFITS.items()
        for place, profit in enumerate(profits)
    ]
    table = pa.table(
        dict(zip(("system", "query_id", "profit"), zip(*rows, strict=True), strict=True))
    )
    return dict(call("Mean(profit)", queries=table, baseline="old").to_pylist()[0])


def _compare_rollups() -> dict[str, Any]:
    """Gini is -1 for the old score, which ranks the only positive last, and 0 for the new one."""
    table = build_table(label="1 0 0", old="0.1 0.2 0.3", new="0.2 0.1 0.3")
    rollups = {
        name: sqlrank.rollup("Gini", predictions=table, columns={"score": name})
        for name in ("old", "new")
    }
    return dict(
        sqlrank.compare("Gini", rollups=rollups, baseline="old", confidence=None).to_pylist()[0]
    )


def _experiment() -> dict[str, Any]:
    rows = [(variant, profit) for variant, profits in PROFITS.items() for profit in profits]
    variants, profits = zip(*rows, strict=True)
    table = pa.table({"unit_id": range(6), "variant": variants, "profit": profits})
    return dict(
        sqlrank.experiment(
            "Mean(profit)", data=table, control="old", lift_scale="linear"
        ).to_pylist()[0]
    )


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (lambda: _compare(sqlrank.compare), 0.5),
        (lambda: _compare(sqlrank.gate), 0.5),
        (_compare_rollups, 1.0),
        (_experiment, 0.5),
    ],
    ids=["compare", "gate", "rollups", "experiment"],
)
def test_a_rise_from_a_negative_baseline_is_positive(measure, expected):
    row = measure()
    assert row["difference"] > 0
    assert row["relative_difference"] == pytest.approx(expected)
    if "relative_ci_low" in row:
        assert (row["relative_ci_low"] + row["relative_ci_high"]) / 2 == pytest.approx(expected)
