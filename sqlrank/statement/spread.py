"""How sure a metric is: a step with how far each unit moves it, one with its standard error, and the limits of its interval."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.statement.bind import literal
from sqlrank.statement.distributions import quantile_polynomial, t_quantile
from sqlrank.statement.influence import added, terms
from sqlrank.statement.keys import key, same
from sqlrank.statement.rows import Part, double, finite, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.confidence import Confidence
    from sqlrank.statement.keys import Key
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column


LIMITS = ("low", "high", "se", "units")
"""What is shown of a metric's interval beside it."""

UNITS = "units"


class Spread:
    """Adds the steps of intervals after the metrics of a step; used once."""

    def __init__(self, confidence: Confidence, relations: Relations, keep: Callable[[str, exp.Select, str], str]) -> None:
        self.confidence = confidence
        self.relations = relations
        self.keep = keep
        self.reaches: dict[str, str] = {}
        self.units: dict[str, str] = {}

    def after(
        self, parts: Sequence[Part], units: Mapping[str | None, str], scans: Mapping[str, exp.Select], columns: Sequence[Column]
    ) -> list[Part]:
        """Add the intervals of the metrics of all steps; ``units`` says of steps what their rows are made of, if not of a group."""
        found = []
        for part in parts:
            unit = units.get(part.step, "group")
            held = [column for column in columns if column.unit == unit and (unit != "group" or column.scan == part.step)]
            measured = [column for column in held if self._is_measured(column)]
            found.append(self._over(part.step, scans[part.step], part.keys, measured, of_values=unit != "group"))
        return [part for part in found if part is not None]

    def _is_measured(self, column: Column) -> bool:
        """Whether a metric has units of which one can say how far they move it."""
        file = column.asked.file
        return "No interval" not in file.facts and (column.unit != "group" or self.relations.units(file.reads) is not None)

    def _over(self, step: str, query: exp.Select, keys: Key, columns: Sequence[Column], of_values: bool) -> Part | None:
        """Add the spread of the metrics of a step, which is one GROUP BY over the step whose rows are the units.

        ``of_values`` says that the rows are values of the metrics, of which a NULL is no unit; of others what weighs nothing is none.
        Return None if no metric has a derivative.
        """
        derived = [(column, held) for column in columns if (held := terms(self._value(query, column))) is not None]
        if not derived:
            return None
        rows = query.args["from_"].this.name
        moves = [(column.alias, self._move(query, column, held, of_values)) for column, held in derived]
        names = self.relations.ctes[rows].named_selects if rows in self.relations.ctes else []
        unit = "" if of_values else self.relations.units(columns[0].asked.file.reads)
        clusters = [] if not unit or unit in keys.columns else [unit]
        shown = [key(name, "r") for name in [*keys.columns, *clusters]]
        values = [exp.alias_(exp.Sum(this=move) if clusters else move, alias) for alias, move in moves]
        far = _beside(exp.select(*shown, *values).from_(exp.to_table(rows).as_("r")), step, "r", keys)
        if not of_values and "weight" in names:
            far = far.where(exp.GT(this=exp.column("weight", table="r"), expression=literal(0)))
        far = far.group_by(*(item.copy() for item in shown)) if clusters else far
        influence = self.keep(f"influence_{step}", far, "one row per unit: how far it moves every metric")
        moved = [column for column, _ in derived]
        self.units |= {column.alias: f"{column.alias}_units" if of_values and _can_be_null(column) else UNITS for column in moved}
        spread = self.keep(f"spread_{step}", self._errors(influence, keys, moved), "one row per group: its units, and standard errors")
        quantile = self.keep(f"quantile_{step}", self._quantiles(spread, keys, moved), "one row per group: quantiles of Student's t")
        reach = self.keep(f"reach_{step}", self._reaches(step, quantile, keys, moved), "one row per group: how far intervals reach")
        self.reaches |= {column.alias: reach for column in moved}
        return Part(reach, keys)

    def _value(self, query: exp.Select, column: Column) -> exp.Expr:
        """Return the expression of a metric in the step that has it, or the one that a function of it names for intervals."""
        asked = column.asked
        instead = (
            {slot: said["Interval of"] for slot, said in self._slots(asked) if "Interval of" in said} if column.unit == "group" else {}
        )
        if instead:
            return self.relations.value(replace(asked, settings={**asked.settings, **instead}))
        value: exp.Expr = next(item for item in query.selects if item.alias_or_name == column.alias).unalias()
        return value.this if isinstance(value, exp.Cast) else value

    def _slots(self, asked: Asked) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Return the slots of a metric, and what the functions that fill them declare."""
        for choice in asked.file.choices.values():
            chosen = asked.settings.get(choice.name, choice.default)
            if choice.is_slot and isinstance(chosen, str):
                yield choice.name, self.relations.library.function(choice.name, chosen).facts

    def _move(self, query: exp.Select, column: Column, held: Mapping[exp.Expr, exp.Expr], of_values: bool) -> exp.Expr:
        """Select the derivatives of a metric beside it; return how far a row moves it, NULL for a value that is none."""
        moves: list[exp.Expr] = []
        for number, (summed, derivative) in enumerate(held.items(), start=1):
            name = f"{column.alias}_by_{number}"
            query.select(exp.alias_(double(derivative), name), copy=False)
            adds = added(summed)
            for part in adds.find_all(exp.Column):
                part.set("table", exp.to_identifier("r"))
            factor = exp.column(name, table="m")
            moves.append(
                factor if adds == literal(1) else exp.Mul(this=factor, expression=exp.paren(adds) if isinstance(adds, exp.Binary) else adds)
            )
        move = reduce(lambda one, two: exp.Add(this=one, expression=two), moves)
        if not of_values or not _can_be_null(column):
            return move
        is_unit = exp.Not(this=exp.Is(this=exp.column(column.alias, table="r"), expression=exp.Null()))
        return exp.Case(ifs=[exp.If(this=is_unit, true=move)])

    def _errors(self, influence: str, keys: Key, columns: Sequence[Column]) -> exp.Select:
        counts: dict[str, exp.Expr] = {}
        for column in columns:
            name = self.units[column.alias]
            counts[name] = exp.alias_(exp.Count(this=exp.Star() if name == UNITS else exp.column(column.alias)), name)
        errors = [
            exp.alias_(self.relations.function("standard_error", {}, exp.column(column.alias)), f"{column.alias}_se") for column in columns
        ]
        return grouped(exp.select(*map(key, keys.columns), *counts.values(), *errors).from_(influence), keys)

    def _quantiles(self, spread: str, keys: Key, columns: Sequence[Column]) -> exp.Select:
        names = dict.fromkeys(self.units[column.alias] for column in columns)
        found = [exp.alias_(quantile(self.confidence, exp.column(name)), f"{name}_quantile") for name in names]
        shown = [*names, *(f"{column.alias}_se" for column in columns)]
        return exp.select(*map(key, keys.columns), *map(exp.column, shown), *found).from_(spread)

    def _reaches(self, step: str, quantile: str, keys: Key, columns: Sequence[Column]) -> exp.Select:
        items: list[exp.Expr] = [key(name, "s") for name in keys.columns]
        items += [exp.column(name, table="s") for name in dict.fromkeys(self.units[column.alias] for column in columns)]
        for column in columns:
            units = self.units[column.alias]
            error = exp.column(f"{column.alias}_se", table="s")
            given = [exp.column(column.alias, table="m"), error, *(exp.column(name, table="s") for name in (units, f"{units}_quantile"))]
            reach = self.relations.function("reach", {"reach": self.confidence.kind(column.asked)}, *given)
            items += [error, exp.alias_(reach, f"{column.alias}_reach")]
        return _beside(exp.select(*items).from_(exp.to_table(quantile).as_("s")), step, "s", keys)

    def limits(self, column: Column, value: exp.Expr) -> list[exp.Expr]:
        """Return the limits of a metric's interval, its standard error and its units as columns; NULL where there is none."""
        found: dict[str, exp.Expr] = dict.fromkeys(LIMITS, exp.Null())
        if column.alias in self.reaches:
            step, kind = self.reaches[column.alias], self.confidence.kind(column.asked)
            reach: exp.Expr = exp.column(f"{column.alias}_reach", table=step)
            error: exp.Expr = exp.column(f"{column.alias}_se", table=step)
            low, high = (self.relations.function(slot, {slot: kind}, value.copy(), reach) for slot in ("low", "high"))
            if self.relations.library.can_overflow(column.asked.file, column.asked.uses.files):
                low, high, error = finite(low, value, reach), finite(high, value, reach), finite(error)
            found = {"low": low, "high": high, "se": error, "units": exp.column(self.units[column.alias], table=step)}
        kinds = {name: "BIGINT" if name == "units" else "DOUBLE" for name in LIMITS}
        return [exp.alias_(exp.cast(found[name].copy(), kinds[name]), f"{column.alias}_{name}") for name in LIMITS]


def quantile(confidence: Confidence, units: exp.Expr) -> exp.Expr:
    """Return the quantile for a number of units, as an expression: in closed form for 2 and 3, else a polynomial in 1 / (units - 1)."""
    if confidence.interval == "normal":
        return literal(NormalDist().inv_cdf((1 + confidence.level) / 2))
    freedom = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=literal(1)), literal(0))
    *factors, value = map(literal, quantile_polynomial(confidence.level))
    for factor in reversed(factors):
        rest = exp.Div(this=exp.paren(value) if isinstance(value, exp.Add) else value, expression=freedom.copy())
        value = exp.Add(this=factor, expression=rest)
    few = [(count, t_quantile(confidence.level, count - 1)) for count in (2, 3)]
    ifs = [exp.If(this=exp.EQ(this=units.copy(), expression=literal(count)), true=literal(exact)) for count, exact in few]
    return exp.Case(ifs=ifs, default=value)


def _beside(query: exp.Select, step: str, alias: str, keys: Key) -> exp.Select:
    """Join the metrics of a step, as ``m``."""
    on = same(keys.columns, "m", alias, keys.nullable)
    how: dict[str, Any] = {"on": exp.and_(*on, wrap=False)} if on else {"join_type": "cross"}
    return query.join(exp.to_table(step).as_("m"), **how)


def _can_be_null(column: Column) -> bool:
    """Whether a query may have no value: not where the policy gives those without relevant documents one."""
    is_filled = column.unit == "list" and column.asked.settings.get("no_relevant", "zero") not in {"skip", "null"}
    return not (is_filled or column.asked.file.is_total)
