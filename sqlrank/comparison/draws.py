"""Tests by drawing the sign of every unit anew: randomisation, and the greatest t of all comparisons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.errors import InputError, MetricError
from sqlrank.library.selects import read_select
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.comparison.units import Compared, Key, Units

MOST_DRAWS = 20_000_000_000
"""Signs that are drawn at most: some minutes."""

CLOSE = 1e-6
"""By which share a statistic may miss another and still be as far."""


class Draws:
    """The sum of the differences of each comparison in each replicate, whole numbers of 2^-30 of its scale."""

    def __init__(self, units: Units, compared: Sequence[Compared], replicates: int, seed: int) -> None:
        self.compared = [item for item in compared if item.units]
        if (drawn := replicates * sum(item.units for item in self.compared)) > MOST_DRAWS:
            raise MetricError(f"{drawn:,} signs would have to be drawn; ask for fewer replicates=, slices or systems")
        _check_ids(units)
        units.make("draws", read_select("comparison", "draws.sql"), seed=str(seed))
        wide = read_select("comparison", "wide.sql")
        for number, item in enumerate(self.compared):
            wide.select(exp.alias_(_difference(item), f"d_{number}"), copy=False)
        units.make("wide", wide)
        self.sums = self._flipped(units, replicates)

    def _flipped(self, units: Units, replicates: int) -> list[list[float]]:
        flips = read_select("comparison", "flips.sql")
        for number, _ in enumerate(self.compared):
            signed = exp.Mul(this=exp.column(f"d_{number}"), expression=exp.column("sign"))
            flips.select(exp.alias_(exp.Sum(this=signed), f"total_{number}"), copy=False)
        units.make("flips", flips, replicates=replicates)
        table = units.arrow(exp.select("*").from_("flips").order_by("replicate"))
        return [table[f"total_{number}"].to_pylist() for number, _ in enumerate(self.compared)]

    def p_values(self) -> dict[Key, float]:
        """Return p by comparison: the share of replicates whose mean difference is as far from 0 (Fisher 1935).

        What rounding may have added to a sum, one for each unit, counts as equal.
        """
        found = {}
        for item, sums in zip(self.compared, self.sums, strict=True):
            far = abs(item.total or 0.0) - item.units
            found[item.key] = (1 + sum(abs(total) >= far for total in sums)) / (len(sums) + 1)
        return found

    def greatest(self) -> list[float]:
        """Return the greatest t of all comparisons in each replicate (Westfall & Young 1993)."""
        columns = [[_t(total, item) for total in sums] for item, sums in zip(self.compared, self.sums, strict=True)]
        return [max(values) for values in zip(*columns, strict=True)]

    def adjusted(self, greatest: Sequence[float]) -> dict[Key, float]:
        """Return p by comparison, adjusted for all comparisons: how often the greatest of them is as far."""
        return {
            item.key: (1 + sum(value >= _t(item.total or 0.0, item) * (1 - CLOSE) for value in greatest)) / (len(greatest) + 1)
            for item in self.compared
        }


def quantile_of(greatest: Sequence[float], level: float) -> float:
    """Return the value that the greatest t stays below with this probability.

    >>> quantile_of([3.0, 1.0, 2.0, 4.0], 0.8)
    4.0
    """
    place = min(len(greatest), math.ceil(level * (len(greatest) + 1)))
    return sorted(greatest)[place - 1]


def _t(total: float, item: Compared) -> float:
    rest = (item.squares or 0.0) - total * total / item.units
    if rest <= 0:
        return math.inf if total else 0.0
    return abs(total) / math.sqrt(rest) * math.sqrt((item.units - 1) / item.units)


def _difference(item: Compared) -> exp.Expr:
    """Return the difference of a unit in a comparison, 0 where it has no part in it."""
    places = {"cell": item.cell, "metric": item.metric, "pair": item.pair}
    is_meant = exp.and_(*(exp.EQ(this=exp.column(name, table="s"), expression=literal(value)) for name, value in places.items()))
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=is_meant, true=exp.column("fixed", table="s"))], default=literal(0.0)))


def _check_ids(units: Units) -> None:
    """Refuse ids of units that are not the same text on every engine."""
    kind: Any = units.arrow(exp.select("unit").from_("unit_values").limit(0)).schema.field("unit").type
    if pa.types.is_floating(kind):
        raise InputError("query_id: signs are drawn by ids, which are text or whole numbers, and these are doubles; CAST them to text")
