"""Comparisons as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.statement.bind import literal
from sqlrank.statement.keys import QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.comparison.asked import Asking, Measure
    from sqlrank.comparison.judged import Judged, Tests
    from sqlrank.comparison.units import Units

ALL = "all"
"""What the grouping without columns is called."""

VALUES = dict.fromkeys(("value_baseline", "value", "difference", "low", "high"), pa.float64())
SPREAD = dict.fromkeys(("relative", "se"), pa.float64()) | dict.fromkeys(("units", "unpaired", "wins", "ties", "losses"), pa.int64())
"""The columns that comparisons and gates have alike, after those that say what they are of."""

COLUMNS = {
    **VALUES,
    "level": pa.float64(),
    **SPREAD,
    "effect_size": pa.float64(),
    "statistic": pa.float64(),
    "p": pa.float64(),
    "p_adjusted": pa.float64(),
    "better": pa.string(),
    "detectable": pa.float64(),
    "needed": pa.int64(),
    "test": pa.string(),
    "correction": pa.string(),
}
"""The columns of a comparison after those that say what it is of."""


def slice_fields(asking: Asking, tables: Sequence[tuple[list[str], pa.Table]]) -> list[pa.Field]:
    """Return the columns of the slices, of the types that the data have, with ``slice`` if there are several groupings."""
    fields = {name: pa.field(name, table.schema.field(name).type) for group, table in tables for name in group}
    return [*fields.values(), *([pa.field("slice", pa.string())] if len(asking.groups) > 1 else [])]


def slice_of(cell: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
    """Return what the columns of slices hold for a cell."""
    names = dict.fromkeys(name for group in asking.groups for name in group)
    label = {"slice": ", ".join(cell) or ALL} if len(asking.groups) > 1 else {}
    return {name: cell.get(name) for name in names} | label


def better_of(item: Judged, measure: Measure, pair: tuple[str, str], alpha: float) -> str | None:
    """Return the system that is better, if the corrected p says that one is."""
    if item.p_adjusted is None or item.p_adjusted >= alpha or not item.of.difference or measure.better == "neither":
        return None
    return pair[(item.of.difference > 0) is (measure.better == "higher")]


def row_of(item: Judged, measure: Measure, pair: tuple[str, str]) -> dict[str, Any]:
    """Return what a comparison and a gate say alike, but for the slice."""
    of = item.of
    above, below = (of.below, of.above) if measure.better == "lower" else (of.above, of.below)
    return {
        "metric": measure.name,
        "baseline": pair[0],
        "system": pair[1],
        "value_baseline": of.value_baseline,
        "value": of.value,
        "difference": of.difference,
        "low": item.low,
        "high": item.high,
        "relative": of.difference / of.value_baseline if of.difference is not None and of.value_baseline else None,
        "se": item.se,
        "units": of.units,
        "unpaired": of.unpaired,
        "wins": None if measure.is_moved else above,
        "ties": None if measure.is_moved else of.equal,
        "losses": None if measure.is_moved else below,
    }


def _tested(item: Judged, measure: Measure, pair: tuple[str, str], tests: Tests) -> dict[str, Any]:
    return {
        "level": item.level,
        "effect_size": None if measure.is_moved else item.effect_size,
        "statistic": item.statistic,
        "p": item.p,
        "p_adjusted": item.p_adjusted,
        "better": better_of(item, measure, pair, 1 - tests.confidence),
        "detectable": item.detectable,
        "needed": item.needed,
        "test": tests.test,
        "correction": tests.correction,
    }


def table_of(rows: list[dict[str, Any]], slices: Sequence[pa.Field], columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows as a table with the columns of slices, those that say what is compared, and others."""
    names = [pa.field(name, pa.string()) for name in ("metric", "baseline", "system")]
    return pa.Table.from_pylist(rows, pa.schema([*slices, *names, *(pa.field(name, kind) for name, kind in columns.items())]))


def shown(
    judged: Sequence[Judged],
    units: Units,
    asking: Asking,
    pairs: Sequence[tuple[str, str]],
    tables: Sequence[tuple[list[str], pa.Table]],
    tests: Tests,
) -> pa.Table:
    """Return a row per slice, metric and pair."""
    rows = []
    for item in judged:
        measure, pair = units.measures[item.of.metric], pairs[item.of.pair]
        rows.append(slice_of(units.cells[item.of.cell], asking) | row_of(item, measure, pair) | _tested(item, measure, pair, tests))
    return table_of(rows, slice_fields(asking, tables), COLUMNS)


def unit_rows(units: Units, asking: Asking, pairs: Sequence[tuple[str, str]], tables: Sequence[tuple[list[str], pa.Table]]) -> pa.Table:
    """Return the differences of units: a row per slice, metric, pair and unit, what the second system loses most first."""
    shown = [exp.column(name) for name in ("cell", "metric", "pair", "unit", "baseline_value", "system_value")]
    query = exp.select(*shown, exp.alias_(exp.column("system_value") - exp.column("baseline_value"), "difference"))
    lost = exp.Case(
        ifs=[
            exp.If(this=exp.EQ(this=exp.column("metric"), expression=literal(place)), true=exp.Neg(this=exp.column("difference")))
            for place, measure in enumerate(units.measures)
            if measure.better == "lower"
        ],
        default=exp.column("difference"),
    )
    order: Any = lost if lost.args["ifs"] else exp.column("difference")
    table = units.arrow(query.from_("differences").order_by("cell", "metric", "pair", order, "unit"))
    rows = [
        slice_of(units.cells[row["cell"]], asking)
        | {
            "metric": units.measures[row["metric"]].name,
            "baseline": pairs[row["pair"]][0],
            "system": pairs[row["pair"]][1],
            QUERY: row["unit"],
            "value_baseline": row["baseline_value"],
            "value": row["system_value"],
            "difference": row["difference"],
        }
        for row in table.to_pylist()
    ]
    values = {QUERY: table.schema.field("unit").type, **dict.fromkeys(("value_baseline", "value", "difference"), pa.float64())}
    return table_of(rows, slice_fields(asking, tables), values)
