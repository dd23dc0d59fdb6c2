"""How sure a metric is: a step with how far each unit moves it, one with its standard error, and the limits of its interval."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.confidence import is_signed
from sqlrank.library.nodes import nodes
from sqlrank.statement.bind import literal
from sqlrank.statement.keys import key, same
from sqlrank.statement.moves import Rows, by_rows, can_be_null, deviation
from sqlrank.statement.quantiles import inverse, quantile
from sqlrank.statement.rows import Part, finite, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.library.confidence import Confidence
    from sqlrank.statement.keys import Key
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column


LIMITS = ("low", "high", "se", "units")
"""What is shown of a metric's interval beside it."""

UNITS = "units"

CLASSES = ("positive_weight", "positive_squares", "positive_rows", "negative_weight", "negative_squares", "negative_rows")
"""What rows that have classes say of them, for the intervals that need it."""

SIZES = ("fewest", "positive_size", "negative_size")
"""What is made of these for a group: the rows of the smaller class, and as how many of equal weight each class counts."""


class Spread:
    """Adds the steps of intervals after the metrics of a step; used once."""

    def __init__(self, confidence: Confidence, relations: Relations, keep: Callable[[str, exp.Select, str], str]) -> None:
        self.confidence = confidence
        self.relations = relations
        self.keep = keep
        self.scores = next((source.scores for source in relations.sources.values() if source.scores), ())
        self.rows_are_units = bool(self.scores)
        self.reaches: dict[str, str] = {}
        self.units: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.carried: dict[str, str] = {}

    def after(
        self, parts: Sequence[Part], units: Mapping[str | None, str], scans: Mapping[str, exp.Select], columns: Sequence[Column]
    ) -> list[Part]:
        """Add the intervals of the metrics of all steps; ``units`` says of steps what their rows are made of, if not of a group."""
        found: list[Part] = []
        for part in parts:
            unit = units.get(part.step, "group")
            held = [column for column in columns if column.unit == unit and (unit != "group" or column.scan == part.step)]
            moved = by_rows(self.relations, scans[part.step], held, of_values=unit != "group")
            found += [self._over(part.step, part.keys, rows, moves) for rows, moves in moved.items()]
        return found

    def _over(self, step: str, keys: Key, rows: Rows, moves: Sequence[tuple[Column, exp.Expr]]) -> Part:
        """Add the spread of metrics of a step that the same rows move."""
        columns = [column for column, _ in moves]
        for column, move in moves:
            own = column.asked.file.facts.get("Standard error", "alike")
            self.errors[column.alias] = own if rows.kind == "alike" else "deviation" if move == deviation(column) else "influence"
            of_its_own = rows.kind == "values" and (can_be_null(column) or isinstance(move, exp.Case))
            self.units[column.alias] = f"{column.alias}_{UNITS}" if of_its_own else UNITS
        has_classes = self.has_classes(rows)
        influence = self.keep(
            f"influence_{step}", self.influence(step, keys, rows, moves, has_classes), "one row per unit: how far it moves every metric"
        )
        # Values of queries are read once: what they are on the average comes along with how far each moves that.
        carried = [f"{column.alias}_value" for column in columns] if rows.kind == "values" else []
        errors = self._errors(influence, keys, rows, columns, has_classes)
        errors = errors.select(*(exp.alias_(exp.Max(this=exp.column(name)), name) for name in carried))
        spread = self.keep(f"spread_{step}", errors, "one row per group: its units, and standard errors")
        quantiles = self._quantiles(spread, None if carried else step, keys, columns, has_classes)
        quantile = self.keep(f"quantile_{step}", quantiles, "one row per group: quantiles of Student's t, beside the metrics")
        reaches = self._reaches(quantile, keys, columns).select(*carried)
        reach = self.keep(f"reach_{step}", reaches, "one row per group: how far intervals reach")
        self.reaches |= {column.alias: reach for column in columns}
        self.carried |= {column.alias: reach for column in columns if carried}
        return Part(reach, keys)

    def has_classes(self, rows: Rows) -> bool:
        """Whether the rows that move metrics say of which class they are."""
        return "positive_rows" in self._names(rows.step)

    def _names(self, step: str) -> list[str]:
        return self.relations.ctes[step].named_selects if step in self.relations.ctes else []

    def influence(self, step: str, keys: Key, rows: Rows, moves: Sequence[tuple[Column, exp.Expr]], has_classes: bool) -> exp.Select:
        """Return one row per unit, or per units that are alike, with how far it moves every metric; what weighs nothing is none."""
        units = [name for name in rows.units if name not in keys.columns]
        shown = [key(name, "r") for name in [*keys.columns, *units]]
        added: dict[str, exp.Expr] = {column.alias: move for column, move in moves}
        if rows.kind == "values":
            added |= {f"{column.alias}_value": exp.column(column.alias, table="m") for column, _ in moves}
        added |= {name: exp.column(name, table="r") for name in CLASSES} if has_classes else {}
        is_summed = units and not self.rows_are_units
        if is_summed:
            added = {name: exp.Sum(this=value) for name, value in added.items()}
        elif rows.kind == "alike":
            added |= {name: exp.column(name, table="r") for name in ("alike", "label")}
        query = exp.select(*shown, *(exp.alias_(value, name) for name, value in added.items())).from_(exp.to_table(rows.step).as_("r"))
        if any(column.table == "m" for value in added.values() for column in nodes(value, exp.Column)):
            query = _beside(query, step, "r", keys)
        if rows.kind != "values" and "weight" in self._names(rows.step):
            query = query.where(exp.GT(this=exp.column("weight", table="r"), expression=literal(0)))
        return query.group_by(*(item.copy() for item in shown)) if is_summed else query

    def _errors(self, influence: str, keys: Key, rows: Rows, columns: Sequence[Column], has_classes: bool) -> exp.Select:
        counts: dict[str, exp.Expr] = {}
        for column in columns:
            name = self.units[column.alias]
            count: exp.Expr = exp.Count(this=exp.Star() if name == UNITS else exp.column(column.alias))
            counts[name] = exp.alias_(exp.Sum(this=exp.column("alike")) if rows.kind == "alike" else count, name)
        errors = []
        for column in columns:
            chosen = {"standard_error": self.errors[column.alias]}
            error = self.relations.function("standard_error", chosen, *map(exp.column, (column.alias, "alike", "label")))
            errors.append(exp.alias_(error, f"{column.alias}_se"))
        sizes = []
        if has_classes:
            one, other = CLASSES[:3], CLASSES[3:]
            said = [("fewer", one[2], other[2]), ("effective", *one[:2]), ("effective", *other[:2])]
            sizes = [self.relations.function(slot, {}, *map(exp.column, names)) for slot, *names in said]
        found = [exp.alias_(size, name) for size, name in zip(sizes, SIZES, strict=False)]
        return grouped(exp.select(*map(key, keys.columns), *counts.values(), *errors, *found).from_(influence), keys)

    def _freedom(self, column: Column) -> str:
        """Return what the degrees of freedom of a metric are one less than: its units, or the rows of the smaller of two classes."""
        return SIZES[0] if self.errors[column.alias] == "delong" else self.units[column.alias]

    def _quantiles(self, spread: str, step: str | None, keys: Key, columns: Sequence[Column], has_classes: bool) -> exp.Select:
        """Return quantiles beside the metrics of a step, or beside those that came along with their errors.

        What long expressions read several times is a column of its own: an engine plans, and a reader reads, it once.
        """
        freedoms = dict.fromkeys(map(self._freedom, columns))
        names = dict.fromkeys(self.units[column.alias] for column in columns)
        shown = [*names, *(f"{column.alias}_se" for column in columns), *(SIZES if has_classes else ())]
        inner = exp.select(*(key(name, "s") for name in keys.columns), *(exp.column(name, table="s") for name in shown))
        ratios: list[exp.Expr] = []
        for column in columns:
            name = f"{column.alias}_value"
            value = exp.column(name, table="s") if step is None else exp.column(column.alias, table="m")
            inner.select(exp.alias_(value, name), copy=False)
            if self.confidence.is_of_classes(self._kind(column)):
                fewest, *sizes = map(exp.column, SIZES)
                share = _halved(value) if self._is_moved_up(column) else value
                normal = literal(NormalDist().inv_cdf((1 + self.confidence.level) / 2))
                middle = self.relations.function("shrunken", {}, share, exp.column(fewest.name, table="s"), normal)
                inner.select(exp.alias_(middle, f"{column.alias}_middle"), copy=False)
                ratio = self.relations.function("area_ratio", {}, exp.column(f"{column.alias}_middle"), *sizes)
                ratios.append(exp.alias_(ratio, f"{column.alias}_ratio"))
        inner = inner.select(*(inverse(exp.column(name, table="s"), name) for name in freedoms))
        inner = inner.from_(exp.to_table(spread).as_("s"))
        inner = inner if step is None else _beside(inner, step, "s", keys)
        found = [exp.alias_(quantile(self.confidence, name), f"{name}_quantile") for name in freedoms]
        values = [exp.column(f"{column.alias}_value") for column in columns]
        query = exp.select(*map(key, keys.columns), *map(exp.column, shown), *values, *found, *ratios)
        return query.from_(inner.subquery("inverses"))

    def _reaches(self, quantiles: str, keys: Key, columns: Sequence[Column]) -> exp.Select:
        """Return how far intervals reach."""
        items: list[exp.Expr] = [key(name) for name in keys.columns]
        items += [exp.column(name) for name in dict.fromkeys(self.units[column.alias] for column in columns)]
        for column in columns:
            error = exp.column(f"{column.alias}_se")
            items += [error, exp.alias_(self._reach(column, error), f"{column.alias}_reach")]
        return exp.select(*items).from_(quantiles)

    def _reach(self, column: Column, error: exp.Expr) -> exp.Expr:
        kind = self._kind(column)
        value: exp.Expr = exp.column(f"{column.alias}_value")
        if self._is_moved_up(column):
            value, error = _halved(value), exp.Div(this=error.copy(), expression=literal(2))
        units = [exp.column(name) for name in (self.units[column.alias], f"{self._freedom(column)}_quantile")]
        ratio = exp.column(f"{column.alias}_ratio") if self.confidence.is_of_classes(kind) else exp.Null()
        return self.relations.function("reach", {"reach": kind}, value, error, *units, ratio)

    def _kind(self, column: Column) -> str:
        return self.confidence.kind(column.asked, is_of_group=column.unit == "group")

    def _is_moved_up(self, column: Column) -> bool:
        """Whether a metric between -1 and 1 is made a share, for which an interval is."""
        return is_signed(column.asked) and self._kind(column) != "t"

    def value(self, column: Column, step: str) -> exp.Column:
        """Return a metric of a step, or as it came along with its error."""
        reach = self.carried.get(column.alias)
        return exp.column(column.alias, table=step) if reach is None else exp.column(f"{column.alias}_value", table=reach)

    def limits(self, column: Column, value: exp.Expr) -> list[exp.Expr]:
        """Return the limits of a metric's interval, its standard error and its units as columns; NULL where there is none."""
        found: dict[str, exp.Expr] = dict.fromkeys(LIMITS, exp.Null())
        if column.alias in self.reaches:
            step, kind = self.reaches[column.alias], "t" if self._kind(column) == "t" else "wilson"
            reach: exp.Expr = exp.column(f"{column.alias}_reach", table=step)
            error: exp.Expr = exp.column(f"{column.alias}_se", table=step)
            is_moved_up = self._is_moved_up(column)
            given = _halved(value) if is_moved_up else value
            low, high = (self.relations.function(slot, {slot: kind}, given.copy(), reach) for slot in ("low", "high"))
            low, high = map(_doubled, (low, high)) if is_moved_up else (low, high)
            if self.relations.library.can_overflow(column.asked.file, column.asked.uses.files):
                low, high, error = finite(low, value, reach), finite(high, value, reach), finite(error)
            found = {"low": low, "high": high, "se": error, "units": exp.column(self.units[column.alias], table=step)}
        kinds = {name: "BIGINT" if name == "units" else "DOUBLE" for name in LIMITS}
        return [exp.alias_(exp.cast(found[name].copy(), kinds[name]), f"{column.alias}_{name}") for name in LIMITS]


def _halved(value: exp.Expr) -> exp.Expr:
    """Return what is between -1 and 1 as a share."""
    return exp.Div(this=exp.paren(exp.Add(this=literal(1), expression=value.copy())), expression=literal(2))


def _doubled(share: exp.Expr) -> exp.Expr:
    """Return a share as what is between -1 and 1."""
    return exp.Sub(this=exp.Mul(this=literal(2), expression=exp.paren(share)), expression=literal(1))


def _beside(query: exp.Select, step: str, alias: str, keys: Key) -> exp.Select:
    """Join the metrics of a step, as ``m``."""
    on = same(keys.columns, "m", alias, keys.nullable)
    how: dict[str, Any] = {"on": exp.and_(*on, wrap=False)} if on else {"join_type": "cross"}
    return query.join(exp.to_table(step).as_("m"), **how)
