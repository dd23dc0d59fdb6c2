"""How sure a metric is: a step with how far each unit moves it, one with its standard error, and the limits of its interval."""

from __future__ import annotations

from functools import reduce
from statistics import NormalDist
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.distributions import quantile_series, t_quantile
from sqlrank.statement.bind import literal
from sqlrank.statement.influence import added, terms
from sqlrank.statement.keys import key, same
from sqlrank.statement.rows import Part, double, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.confidence import Confidence
    from sqlrank.statement.keys import Key
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.stages import Column


LIMITS = ("low", "high", "se", "units")
"""What is shown of a metric's interval beside it."""


def quantile(confidence: Confidence, units: exp.Expr) -> exp.Expr:
    """Return the quantile for a number of units, as an expression: in closed form for 2 and 3, else a polynomial in 1 / (units - 1)."""
    if confidence.interval == "normal":
        return literal(NormalDist().inv_cdf((1 + confidence.level) / 2))
    freedom = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=literal(1)), literal(0))
    inverse = exp.Div(this=literal(1), expression=freedom)
    (_, last), *series = reversed(quantile_series(confidence.level))
    value = literal(last)
    for place, factor in series:
        away = inverse.copy() if place == 0 else exp.paren(exp.Sub(this=inverse.copy(), expression=literal(place)))
        rest = exp.paren(value) if isinstance(value, exp.Add) else value
        value = exp.Add(this=literal(factor), expression=exp.Mul(this=away, expression=rest))
    few = [(count, t_quantile(confidence.level, count - 1)) for count in (2, 3)]
    ifs = [exp.If(this=exp.EQ(this=units.copy(), expression=literal(count)), true=literal(exact)) for count, exact in few]
    return exp.Case(ifs=ifs, default=value)


class Spread:
    """Adds the steps of intervals after the metrics of a step; used once."""

    def __init__(self, confidence: Confidence, relations: Relations, keep: Callable[[str, exp.Select, str], str]) -> None:
        self.confidence = confidence
        self.relations = relations
        self.keep = keep
        self.steps: dict[str, str] = {}

    def over(self, step: str, query: exp.Select, keys: Key, columns: Sequence[Column], of_values: bool) -> Part | None:
        """Add the spread of the metrics of a step, which is one GROUP BY over the step whose rows are the units.

        ``of_values`` says that the rows are values of the metrics, of which a NULL is no unit; of others what weighs nothing is none.
        Return None if no metric has a derivative.
        """
        rows = query.args["from_"].this.name
        is_weighted = not of_values and "weight" in self.relations.ctes[rows].named_selects
        moved: list[Column] = []
        moves: list[exp.Expr] = []
        for column in columns:
            held = terms(_value(query, column.alias))
            if held is not None:
                move = self._move(query, column, held)
                if of_values:
                    move = exp.Case(ifs=[exp.If(this=exp.Not(this=exp.Is(this=exp.column(column.alias, table="r"), expression=exp.Null())), true=move)])
                elif is_weighted:
                    move = exp.Case(ifs=[exp.If(this=exp.GT(this=exp.column("weight", table="r"), expression=literal(0)), true=move)])
                moved.append(column)
                moves.append(exp.alias_(move, column.alias))
        if not moves:
            return None
        on = same(keys.columns, "m", "r", keys.nullable)
        far = exp.select(*(key(name, "r") for name in keys.columns), *moves)
        far = far.from_(exp.to_table(rows).as_("r"))
        far = far.join(exp.to_table(step).as_("m"), on=exp.and_(*on, wrap=False)) if on else far.join(exp.to_table(step).as_("m"), join_type="cross")
        influence = self.keep(f"influence_{step}", far, "how far each unit moves every metric")
        errors: list[exp.Expr] = [*(key(name) for name in keys.columns)]
        for column in moved:
            errors.append(exp.alias_(exp.Count(this=exp.column(column.alias)), f"{column.alias}_units"))
            errors.append(exp.alias_(self.relations.function("standard_error", {}, exp.column(column.alias)), f"{column.alias}_se"))
        spread = self.keep(f"spread_{step}", grouped(exp.select(*errors).from_(influence), keys), "one row per group: units, and standard errors")
        reach = self.keep(f"reach_{step}", self._reach(step, spread, keys, moved), "one row per group: how far intervals reach")
        self.steps |= {column.alias: reach for column in moved}
        return Part(reach, keys)

    def _move(self, query: exp.Select, column: Column, held: Mapping[exp.Expr, exp.Expr]) -> exp.Expr:
        """Select the derivatives of a metric beside it; return how far a row moves it."""
        moves: list[exp.Expr] = []
        for number, (summed, derivative) in enumerate(held.items(), start=1):
            name = f"{column.alias}_by_{number}"
            query.select(exp.alias_(double(derivative), name), copy=False)
            adds = added(summed)
            for part in adds.find_all(exp.Column):
                part.set("table", exp.to_identifier("r"))
            moved = exp.Mul(this=exp.column(name, table="m"), expression=exp.paren(adds) if isinstance(adds, exp.Binary) else adds)
            moves.append(moved)
        return reduce(lambda one, two: exp.Add(this=one, expression=two), moves)

    def _reach(self, step: str, spread: str, keys: Key, columns: Sequence[Column]) -> exp.Select:
        items: list[exp.Expr] = [key(name, "s") for name in keys.columns]
        for column in columns:
            units, error = (exp.column(f"{column.alias}_{name}", table="s") for name in ("units", "se"))
            value = exp.column(column.alias, table="m")
            chosen = {"reach": self.confidence.kind(column.asked)}
            reach = self.relations.function("reach", chosen, value, error, units, quantile(self.confidence, units))
            items += [units, error, exp.alias_(reach, f"{column.alias}_reach")]
        query = exp.select(*items).from_(exp.to_table(spread).as_("s"))
        on = same(keys.columns, "m", "s", keys.nullable)
        other = exp.to_table(step).as_("m")
        return query.join(other, on=exp.and_(*on, wrap=False)) if on else query.join(other, join_type="cross")

    def limits(self, column: Column, value: exp.Expr) -> list[exp.Expr]:
        """Return the limits of a metric's interval, its standard error and its units as columns; NULL where there is none."""
        step = self.steps.get(column.alias)
        found: dict[str, exp.Expr] = dict.fromkeys(LIMITS, exp.Null())
        if step is not None:
            kind = self.confidence.kind(column.asked)
            reach, error, units = (exp.column(f"{column.alias}_{name}", table=step) for name in ("reach", "se", "units"))
            low, high = (self.relations.function(slot, {slot: kind}, value.copy(), reach) for slot in ("low", "high"))
            found = {"low": low, "high": high, "se": error, "units": units}
        kinds = {name: "BIGINT" if name == "units" else "DOUBLE" for name in LIMITS}
        return [exp.alias_(exp.cast(found[name].copy(), kinds[name]), f"{column.alias}_{name}") for name in LIMITS]


def _value(query: exp.Select, alias: str) -> exp.Expr:
    """Return the expression of a metric in the step that has it."""
    value: exp.Expr = next(item for item in query.selects if item.alias_or_name == alias).unalias()
    return value.this if isinstance(value, exp.Cast) else value
