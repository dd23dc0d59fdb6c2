"""Intervals by drawing units anew: rows once for each replicate in which they are drawn, and what the replicates say of a metric.

Each unit is drawn a Poisson number of times in each replicate (Chamandy, Muralidharan, Najmi & Naidu 2012), by the digest of its name: the
same on every engine. Any two replicates are independent, and so are the statistics of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.confidence import DIGEST, PLACE, REPLICATE, START, STEP, TIMES, is_share
from sqlrank.statement.bind import literal
from sqlrank.statement.digests import digest_of, number_of, said
from sqlrank.statement.keys import QUERY, SLICE, UNIT, Key, key
from sqlrank.statement.quantiles import inverse, quantile
from sqlrank.statement.rows import SLICED_BY, Part, double, finite, grouped, joined, ordered, per_slice, slice_name
from sqlrank.statement.spread import LIMITS, UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlrank.library.confidence import Confidence
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column

PRIME = 2147483647
"""2^31 - 1: how many places there are, which are the middles of as many parts of 0 to 1."""

CLOSE = 1e-9
"""What a place may miss a whole number by that rounding took from it."""


def drawn(relations: Relations, confidence: Confidence, rows: exp.Query, step: str, unit: str, weight: exp.Expr | None) -> exp.Query:
    """Return the rows of a step as they were seen, and once for each replicate in which their unit is drawn, weighing as often as it is.

    ``rows`` is the query of the step, ``unit`` the column that tells units apart, ``weight`` what rows weigh, 1 if it is None.
    """
    names = [name for name in rows.named_selects if name != "weight"]
    shown: list[exp.Expr] = [key(name) if name in relations.shape.by else exp.column(name) for name in names]
    given = [*shown, *([] if weight is None else [exp.alias_(weight, "weight")])]
    kept = [*shown, *([] if weight is None else [exp.column("weight")])]
    digests = exp.select(*given, exp.alias_(digest_of(f"{confidence.seed}:", exp.column(unit)), DIGEST)).from_(step)
    numbers = {START: exp.paren(number_of(DIGEST) + literal(0.5)), STEP: number_of(DIGEST, 9)}
    parts = (exp.alias_(exp.Div(this=double(number), expression=literal(PRIME)), name) for name, number in numbers.items())
    hashed = exp.select(*kept, *parts).from_(digests.subquery("digests"))
    turned = exp.column(START) + exp.column(REPLICATE) * exp.column(STEP)
    place = exp.alias_(exp.Sub(this=turned, expression=exp.Floor(this=turned.copy())), PLACE)
    replicates = relations.read("replicates", {"all_replicates": confidence.replicates})
    crossed = exp.select(*kept, exp.column(REPLICATE), place).from_(hashed.subquery("hashed")).join(replicates, join_type="cross")
    times = said("times.sql", exp.column(PLACE))
    total = times if weight is None else exp.column("weight") * times
    again = exp.select(*shown, exp.column(REPLICATE), exp.alias_(double(total), "weight"), exp.alias_(double(times), TIMES))
    again = again.from_(crossed.subquery("crossed")).where(said("is_drawn.sql", exp.column(PLACE)))
    alone = [literal(0), double(literal(1) if weight is None else weight), double(literal(1))]
    seen = exp.select(*shown, *(exp.alias_(value, name) for value, name in zip(alone, (REPLICATE, "weight", TIMES), strict=True)))
    return exp.union(seen.from_(step), again, distinct=False)


def rows_of(relations: Relations, role: str) -> str:
    """Return the input whose rows are drawn: where there are groupings, that which has a row for each."""
    return f"{role} per slice" if f"{role} per slice" in relations.sources else role


class Drawing:
    """Draws the rows of the input of a role anew, by the units that they are of."""

    def __init__(self, relations: Relations, confidence: Confidence, role: str | None) -> None:
        self.relations = relations
        self.confidence = confidence
        self.role = role

    def drawn(self, name: str, step: str) -> str:
        """Add the rows of an input once for each replicate in which their unit is drawn, and return that step; others stay as they are."""
        if not self.confidence.of_rows or name.replace(" as given", "") != rows_of(self.relations, str(self.role)):
            return step
        (unit,) = self.relations.units(step)
        query = drawn(self.relations, self.confidence, self.relations.ctes[step], step, unit, exp.column("weight"))
        keys = {name: Key((*held.columns, REPLICATE), held.nullable) for name, held in self.relations.keys(step).items() if name != UNIT}
        keys[UNIT] = Key((unit,))
        return self.relations.add(f"{step}_drawn", query, "one row per replicate and row that is drawn in it", keys)


class Replicates:
    """Adds the steps that make rows of replicates the rows that are asked for; used once."""

    def __init__(self, confidence: Confidence, relations: Relations, keep: Callable[[str, exp.Select, str], str]) -> None:
        self.confidence = confidence
        self.relations = relations
        self.keep = keep
        self.values: tuple[str, exp.Select] | None = None

    def draw(self, step: str, query: exp.Select, unit: str, weight: exp.Expr | None) -> str:
        """Add the values of queries once for each replicate in which they are drawn, and return the name of that step."""
        self.values = step, query
        again: Any = drawn(self.relations, self.confidence, query, step, unit, weight)
        return self.keep("drawn", again, "one row per replicate and query, which weighs as often as it is drawn in it")

    def rows(self, body: exp.Select, base: str | None, columns: Sequence[Column], audits: Sequence[str]) -> exp.Select:
        """Return one row per group with the limits of every metric; ``body`` has one per group and replicate."""
        shape = self.relations.shape
        keys = Key((*shape.by, *([] if shape.sets is None else [SLICE])), nullable=True)
        units = self._units(base, keys, columns)
        body.set("order", None)
        for item in body.selects if shape.sets is not None else ():
            if item.alias_or_name == SLICED_BY:
                item.replace(exp.column(SLICE, table=body.args["from_"].this.name))
        replicated = self.keep("replicated", body, "one row per group and replicate: every metric")
        drawn_again = [column.alias for column in columns if "No interval" not in column.asked.file.facts]
        seen = self._seen(replicated, keys, [column.alias for column in columns], drawn_again, audits)
        errors = self._errors(replicated, seen, keys, drawn_again)
        limits = (
            self._by_error(errors, seen, units, keys, drawn_again)
            if self.confidence.of_rows
            else self._by_place(replicated, seen, keys, drawn_again)
        )
        shown: list[exp.Expr] = [key(name, seen) for name in shape.by] + ([] if shape.sets is None else [slice_name(shape, seen)])
        for column in columns:
            name = column.alias
            shown.append(exp.alias_(double(exp.column(name, table=seen)), name))
            found: dict[str, exp.Expr] = dict.fromkeys(LIMITS, exp.Null())
            if name in drawn_again:
                tables = {"low": limits, "high": limits, "se": errors}
                found = {limit: finite(exp.column(f"{name}_{limit}", table=table)) for limit, table in tables.items()}
                found |= {
                    limit: _within(exp.column(f"{name}_{limit}", table=limits)) for limit in ("low", "high") if is_share(column.asked)
                }
                found[UNITS] = self._count(name, units)
            kinds = {limit: "BIGINT" if limit == UNITS else "DOUBLE" for limit in LIMITS}
            shown += [exp.alias_(exp.cast(found[limit], kinds[limit]), f"{name}_{limit}") for limit in LIMITS]
        query = exp.select(*shown, *(exp.column(name, table=seen) for name in audits)).from_(seen)
        for step in dict.fromkeys([*([limits, errors] if drawn_again else []), units]):
            query = joined(query, seen, Part(step, keys))
        return ordered(query, [*(key(name, seen) for name in shape.by), *([] if shape.sets is None else [exp.column(SLICED_BY)])])

    def _units(self, base: str | None, keys: Key, columns: Sequence[Column]) -> str:
        """Add the numbers of units: of each metric whose values may be NULL, or, of rows, one for all."""
        if self.values is not None:
            step, query = self.values
            held = query.named_selects
            values = {column.alias: _that_weighs(column, held) for column in columns if column.alias in held}
            if SLICE in keys.columns and SLICE not in held:
                sliced = per_slice(step, held, self.relations.shape)
                step = self.keep("values_per_slice", sliced, "one row per query and grouping that it counts in")
                values = {name: _query_with(value) for name, value in values.items()}
            counts: dict[str, exp.Expr] = {f"{name}_{UNITS}": exp.Count(this=value) for name, value in values.items()}
            counted = exp.select(*map(key, keys.columns)).from_(step)
        else:
            step = self.relations.input(rows_of(self.relations, str(base)))
            (unit,) = self.relations.units(step)
            counts = {UNITS: exp.Count(this=exp.Distinct(expressions=[key(unit)]))}
            is_seen = exp.EQ(this=exp.column(REPLICATE), expression=literal(0))
            weighs = exp.GT(this=exp.column("weight"), expression=literal(0))
            counted = exp.select(*map(key, keys.columns)).from_(step).where(is_seen, weighs)
        counted = grouped(counted.select(*(exp.alias_(count, name) for name, count in counts.items())), keys)
        if self.values is None:
            shown = [*map(key, keys.columns), exp.column(UNITS)]
            counted = exp.select(*shown, inverse(exp.column(UNITS), UNITS)).from_(counted.subquery("counted"))
            found = exp.alias_(quantile(self.confidence, UNITS), f"{UNITS}_quantile")
            counted = exp.select(*shown, found).from_(counted.subquery("inverses"))
        return self.keep(UNITS, counted, "one row per group: the units of every metric")

    def _count(self, name: str, units: str) -> exp.Column:
        """Return the number of units of a metric."""
        return exp.column(UNITS if self.values is None else f"{name}_{UNITS}", table=units)

    def _seen(self, replicated: str, keys: Key, names: Sequence[str], drawn_again: Sequence[str], audits: Sequence[str]) -> str:
        is_seen = exp.EQ(this=exp.column(REPLICATE), expression=literal(0))
        is_drawn = exp.GT(this=exp.column(REPLICATE), expression=literal(0))
        shown = [exp.alias_(exp.Max(this=_if(is_seen, name)), name) for name in (*names, *audits)]
        for name in drawn_again:
            value = _if(is_drawn, name)
            shown += [exp.alias_(exp.Avg(this=value), f"{name}_mean"), exp.alias_(exp.Count(this=value.copy()), f"{name}_drawn")]
        query = grouped(exp.select(*map(key, keys.columns), *shown).from_(replicated), keys)
        return self.keep("seen", query, "one row per group: every metric as it was seen, and the mean of its replicates")

    def _errors(self, replicated: str, seen: str, keys: Key, names: Sequence[str]) -> str:
        shown = []
        for name in names:
            away = exp.paren(exp.column(name, table="r") - exp.column(f"{name}_mean", table=seen))
            fewer = exp.func("NULLIF", exp.Max(this=exp.column(f"{name}_drawn", table=seen)) - literal(1), literal(0))
            variance = exp.Div(this=exp.Sum(this=exp.Mul(this=away, expression=away.copy())), expression=fewer)
            shown.append(exp.alias_(exp.Sqrt(this=variance), f"{name}_se"))
        query = exp.select(*(key(name, "r") for name in keys.columns), *shown).from_(exp.to_table(replicated).as_("r"))
        query = joined(query, "r", Part(seen, keys)).where(exp.GT(this=exp.column(REPLICATE, table="r"), expression=literal(0)))
        query = query.group_by(*(key(name, "r") for name in keys.columns)) if keys.columns else query
        return self.keep("errors", query, "one row per group: the standard deviation of replicates")

    def _by_error(self, errors: str, seen: str, units: str, keys: Key, names: Sequence[str]) -> str:
        """Limits at the value less its bias, and a quantile of Student's t times the standard error to either side."""
        query = exp.select(*(key(name, seen) for name in keys.columns)).from_(seen)
        for name in names:
            value, mean = (exp.column(alias, table=seen) for alias in (name, f"{name}_mean"))
            centre = exp.paren(literal(2) * value - mean)
            far = exp.column(f"{UNITS}_quantile", table=units) * exp.column(f"{name}_se", table=errors)
            query = query.select(exp.alias_(centre - far, f"{name}_low"), exp.alias_(centre + far, f"{name}_high"))
        for step in (errors, units):
            query = joined(query, seen, Part(step, keys))
        return self.keep("limits", query, "one row per group: the limits of every metric")

    def _by_place(self, replicated: str, seen: str, keys: Key, names: Sequence[str]) -> str:
        """Limits at the replicates of which as many lie beyond as the level says, without interpolation."""
        places = []
        for name in names:
            is_none = exp.Is(this=exp.column(name), expression=exp.Null())
            has_none = exp.Case(ifs=[exp.If(this=is_none, true=literal(1))], default=literal(0))
            order = exp.Order(expressions=[exp.Ordered(this=exp.column(name))])
            window = exp.Window(this=exp.RowNumber(), partition_by=[*map(key, keys.columns), has_none], order=order)
            places += [exp.column(name), exp.alias_(window, f"{name}_place")]
        query = exp.select(*map(key, keys.columns), *places).from_(replicated)
        query = query.where(exp.GT(this=exp.column(REPLICATE), expression=literal(0)))
        placed = self.keep("placed_replicates", query, "one row per group and replicate: the place of its metrics in their order")
        shown = []
        for name in names:
            place, last = exp.column(f"{name}_place", table="r"), exp.column(f"{name}_drawn", table=seen) + literal(1)
            first = exp.Floor(this=exp.paren(last) * literal(self.confidence.tail) + literal(CLOSE))
            # Added up on both sides, since Databend takes a difference that a place is compared with for another.
            sought = {"low": exp.EQ(this=place, expression=first), "high": exp.EQ(this=place + first, expression=last)}
            for limit, is_there in sought.items():
                value = exp.Case(ifs=[exp.If(this=is_there, true=exp.column(name, table="r"))])
                shown.append(exp.alias_(exp.Max(this=value), f"{name}_{limit}"))
        query = exp.select(*(key(name, "r") for name in keys.columns), *shown).from_(exp.to_table(placed).as_("r"))
        query = joined(query, "r", Part(seen, keys))
        query = query.group_by(*(key(name, "r") for name in keys.columns)) if keys.columns else query
        return self.keep("limits", query, "one row per group: the limits of every metric")


def _that_weighs(column: Column, held: Sequence[str]) -> exp.Expr:
    """Return the value of a metric for a query that is a unit: NULL where it weighs nothing in a weighted mean."""
    value = exp.column(column.alias)
    if "weight" not in held or column.asked.settings.get("aggregate", "wmean") != "wmean":
        return value
    return exp.Case(ifs=[exp.If(this=exp.GT(this=exp.column("weight"), expression=literal(0)), true=value)])


def _query_with(value: exp.Expr) -> exp.Distinct:
    """Return the queries that have a value, each once: a grouping may hold several lists of one."""
    there = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
    return exp.Distinct(expressions=[exp.Case(ifs=[exp.If(this=there, true=exp.column(QUERY))])])


def _within(limit: exp.Expr) -> exp.Case:
    """Return a limit of a share, which is between 0 and 1 whatever the spread."""
    ends = [exp.If(this=limit < literal(0), true=literal(0)), exp.If(this=limit > literal(1), true=literal(1))]
    return exp.Case(ifs=ends, default=limit.copy())


def _if(condition: exp.Expr, name: str) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.column(name))])
