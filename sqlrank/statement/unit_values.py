"""What metrics of groups say of each unit: values whose mean is the metric, and whose spread is that of its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.statement.keys import GROUP, Key, key
from sqlrank.statement.moves import by_rows
from sqlrank.statement.rows import Part, double, grouped, joined
from sqlrank.statement.score_values import ScoreValues
from sqlrank.statement.spread import CLASSES, UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.statement.moves import Rows
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column
    from sqlrank.statement.spread import Spread

OF_CLASSES = {"all_positives": CLASSES[2], "all_negatives": CLASSES[5]}


class UnitValues:
    """Adds the steps that make rows of groups rows of units; used once."""

    def __init__(self, relations: Relations, spread: Spread, keep: Callable[[str, exp.Select, str], str]) -> None:
        self.relations = relations
        self.spread = spread
        self.keep = keep

    def rows(
        self,
        base: str,
        parts: Sequence[Part],
        scans: Mapping[str, exp.Select],
        columns: Sequence[Column],
        audits: Mapping[Part, Sequence[str]],
    ) -> exp.Select:
        """Return one row per group and unit of the input ``base``, with a value for every metric; raise ``MetricError`` for one without any."""
        moved = [
            (part, rows, moves)
            for part in parts
            for rows, moves in by_rows(
                self.relations, scans[part.step], [column for column in columns if column.scan == part.step], of_values=False
            ).items()
        ]
        known = {column.alias for _, _, moves in moved for column, _ in moves}
        if unmoved := [column for column in columns if column.alias not in known]:
            raise MetricError(f"{unmoved[0].asked.metric} cannot be compared by units: no row says how far it moves it")
        if self.spread.scores:
            return ScoreValues(self.relations, self.spread.scores, self.keep, self._values).rows(base, moved, columns, audits)
        found: dict[str, Part] = {}
        for part, rows, moves in moved:
            found |= dict.fromkeys((column.alias for column, _ in moves), self._values(part, rows, moves))
        first, *others = dict.fromkeys(found.values())
        if others:
            first, others = self._units(base), [first, *others]
        shown = [key(name, first.step) for name in first.keys.columns]
        values = [exp.alias_(double(exp.column(column.alias, table=found[column.alias].step)), column.alias) for column in columns]
        query = exp.select(*shown, *values).from_(first.step)
        for part in [*others, *audits]:
            query = joined(query, first.step, part)
        return query.select(*(exp.column(name, table=part.step) for part, names in audits.items() for name in names), copy=False)

    def _units(self, base: str) -> Part:
        """Add the units of an input, which metrics that different steps move have in common."""
        given = self.relations.input(base)
        group = self.relations.keys(given)[GROUP]
        keys = Key((*group.columns, *self.relations.units(given)), group.nullable)
        query = exp.select(*map(key, keys.columns)).from_(given)
        return Part(self.keep("units", query if self.spread.rows_are_units else grouped(query, keys), "one row per unit of a group"), keys)

    def _values(self, part: Part, rows: Rows, moves: Sequence[tuple[Column, exp.Expr]]) -> Part:
        """Add the values of metrics that the same rows move."""
        keys, has_classes = part.keys, self.spread.has_classes(rows)
        influence = self.keep(
            f"influence_{part.step}",
            self.spread.influence(part.step, keys, rows, moves, has_classes),
            "one row per unit: how far it moves every metric",
        )
        counts: dict[str, exp.Expr] = {UNITS: exp.Count(this=exp.Star())}
        counts |= {name: exp.Sum(this=exp.column(of)) for name, of in OF_CLASSES.items()} if has_classes else {}
        counted = exp.select(*map(key, keys.columns), *(exp.alias_(count, name) for name, count in counts.items())).from_(influence)
        sizes = self.keep(f"sizes_{part.step}", grouped(counted, keys), "one row per group: its units")
        held = Key((*keys.columns, *(name for name in rows.units if name not in keys.columns)), keys.nullable)
        shown = [key(name, influence) for name in held.columns]
        query = exp.select(*shown, *(self._value(column, part.step, influence, sizes, has_classes) for column, _ in moves)).from_(influence)
        for step in (part.step, sizes):
            query = joined(query, influence, Part(step, keys))
        return Part(self.keep(f"values_{part.step}", query, "one row per unit: the values whose mean a metric is"), held)

    def _value(self, column: Column, step: str, influence: str, sizes: str, has_classes: bool) -> exp.Expr:
        is_of_rows = has_classes and self.spread.rows_are_units
        chosen = column.asked.file.facts.get("Standard error", "influence") if is_of_rows else "influence"
        own = [exp.column(name, table=table) for name, table in ((column.alias, step), (column.alias, influence), (UNITS, sizes))]
        own += [exp.column(CLASSES[2], table=influence), *(exp.column(name, table=sizes) for name in OF_CLASSES)]
        return exp.alias_(self.relations.function("unit_value", {"unit_value": chosen}, *own), column.alias)
