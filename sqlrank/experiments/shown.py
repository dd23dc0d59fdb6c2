"""What experiments found, as Arrow tables, and what is to be known beside the numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.experiments.asked import SAMPLE_RATIO
from sqlrank.experiments.effects import MISMATCH
from sqlrank.experiments.sums import MISSING
from sqlrank.experiments.written import COLUMNS as KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.experiments.asked import Experiment

COLUMNS: dict[str, pa.DataType] = {
    name: {"TEXT": pa.string(), "DOUBLE": pa.float64(), "BIGINT": pa.int64()}[kind] for name, kind in KINDS.items()
}
"""The columns of a result."""


def table_of(asked: Experiment, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return a row per metric and variant in the order of metrics, then one for the numbers of units."""
    places = {name: place for place, name in enumerate([*(estimate.name for estimate in asked.estimates), SAMPLE_RATIO])}
    known = ({name: _finite(value) for name, value in row.items()} for row in rows)
    return pa.Table.from_pylist(sorted(known, key=lambda row: (places[row["metric"]], row["variant"])), pa.schema(list(COLUMNS.items())))


def is_mismatched(table: pa.Table) -> bool:
    """Whether variants have other numbers of units than their shares make likely."""
    return bool(table.to_pylist()[-1]["p"] < MISMATCH)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
