"""What experiments found, as Arrow tables: p-values and their corrections, and whether variants have the units that they should."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.comparison.significance import chi_square_tail, corrected, level_of
from sqlrank.experiments.asked import SAMPLE_RATIO
from sqlrank.experiments.effects import always_p
from sqlrank.experiments.sums import MISSING
from sqlrank.statement.distributions import t_quantile, t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.experiments.asked import Estimate, Experiment

MISMATCH = 0.001
"""The p below which the numbers of units are not what the shares of variants make of them."""

ROUNDING = 1e-12

COLUMNS: dict[str, pa.DataType] = {
    **dict.fromkeys(("metric", "control", "variant"), pa.string()),
    **dict.fromkeys(("value_control", "value", "difference", "low", "high", "level"), pa.float64()),
    **dict.fromkeys(("relative", "relative_low", "relative_high", "se"), pa.float64()),
    **dict.fromkeys(("units_control", "units"), pa.int64()),
    **dict.fromkeys(("statistic", "freedom", "p", "p_adjusted"), pa.float64()),
    "better": pa.string(),
    **dict.fromkeys(("detectable", "theta"), pa.float64()),
}
"""The columns of a result."""


def table_of(asked: Experiment, effects: Sequence[dict[str, Any]], ratio: dict[str, Any], power: float) -> pa.Table:
    """Return a row per metric and variant in the order of metrics, then one for the numbers of units."""
    places = {estimate.name: place for place, estimate in enumerate(asked.estimates)}
    rows = sorted(
        ({name: _finite(value) for name, value in row.items()} for row in effects), key=lambda row: (places[row["metric"]], row["variant"])
    )
    level = level_of(asked.confidence, asked.correction, len(rows))
    tests = [_p_of(asked, row, level) for row in rows]
    p = chi_square_tail(ratio["statistic"], int(ratio["freedom"]))
    is_mismatch = p < MISMATCH
    for row, own, adjusted in zip(rows, tests, corrected(tests, asked.correction), strict=True):
        better = None if is_mismatch else _better(asked, asked.estimates[places[row["metric"]]], row, adjusted)
        row |= {"level": level, "p": own, "p_adjusted": adjusted, "better": better, "detectable": _detectable(asked, row, power)}
    rows.append({"metric": SAMPLE_RATIO, **ratio, "p": p})
    return pa.Table.from_pylist(rows, pa.schema(list(COLUMNS.items())))


def is_mismatched(table: pa.Table) -> bool:
    """Whether variants have other numbers of units than their shares make likely."""
    return bool(table.to_pylist()[-1]["p"] < MISMATCH)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _p_of(asked: Experiment, row: dict[str, Any], level: float) -> float | None:
    """Return the two-sided p of a difference; where units do not differ 1 if there is none, else it is not known."""
    if row["difference"] is None or row["se"] is None:
        return None
    if row["statistic"] is None or row["freedom"] is None:
        return 1.0 if abs(row["difference"]) <= ROUNDING * max(abs(row["value"]), abs(row["value_control"])) else None
    if asked.interval == "always":
        return always_p(row["statistic"], row["units"] + row["units_control"], level)
    return t_tail(abs(row["statistic"]), row["freedom"])


def _better(asked: Experiment, estimate: Estimate, row: dict[str, Any], adjusted: float | None) -> str | None:
    if adjusted is None or adjusted >= 1 - asked.confidence or not row["difference"]:
        return None
    found: str = row["variant" if (row["difference"] > 0) is not estimate.is_lower else "control"]
    return found


def _detectable(asked: Experiment, row: dict[str, Any], power: float) -> float | None:
    """Return the least difference that a test of these units finds with a power."""
    if asked.interval == "always" or not row["se"] or row["freedom"] is None:
        return None
    found: float = (t_quantile(asked.confidence, row["freedom"]) + t_quantile(2 * power - 1, row["freedom"])) * row["se"]
    return found


def notes_of(asked: Experiment, rows: list[dict[str, Any]], result: pa.Table) -> list[str]:
    """Return what a reader must know beside the numbers."""
    notes = []
    if is_mismatched(result):
        ratio = result.to_pylist()[-1]
        notes.append(
            f"sample ratio mismatch: the numbers of units are not what the shares of variants make likely (p {ratio['p']:.3g}); "
            "find out why before you read on"
        )
    if count := max(row["crossed"] for row in rows):
        notes.append(f"{_units(count, 'was', 'were')} in more than one variant, and left out")
    missing = {estimate.name: sum(row[MISSING] for row in rows if row["metric"] == estimate.name) for estimate in asked.estimates}
    notes += [
        f"{name}: {_units(count, 'has', 'have')} no covariate, and the mean of all in its place" for name, count in missing.items() if count
    ]
    return notes


def _units(count: int, one: str, many: str) -> str:
    return f"{count:,} unit {one}" if count == 1 else f"{count:,} units {many}"
