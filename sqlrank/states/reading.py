"""Metrics from a state: its rows are added up, formulas put on the sums, and orders of bins evaluated for what is certain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.engines import remote
from sqlrank.engines.connections import as_from_duckdb
from sqlrank.engines.looking import done_on
from sqlrank.engines.render import render
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.inputs.several import find
from sqlrank.library.shelf import library_of
from sqlrank.states.asked import wanted
from sqlrank.states.bounds import bounded
from sqlrank.states.conditions import condition
from sqlrank.states.made import DAY, DAYS, DEFINITION, OF_BINS, ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.call import Call
    from sqlrank.engines.database import Database, Table
    from sqlrank.engines.duckdb import Limits
    from sqlrank.states.asked import Wanted

_OF_SUMS = re.compile(r"(sum|count|min|max)_\w+_[0-9a-f]{8}", re.IGNORECASE)
"""The name of a column that holds a sum: its words and eight digits."""


def answer_of(call: Call, state: Any, connection: Any, dialect: str | None, limits: Limits) -> pa.Table:
    """Return the metrics of a call from a state, where its connection is.

    Raises:
        MetricError: a metric that no state has, or an option that is for rows.
        InputError: a state that does not have what a metric needs, or rows that cannot be added up.
    """
    _refuse_others(call)
    asked = wanted(call.metrics, library_of(call.sql_dir), call.policies)
    by = [call.by] if isinstance(call.by, str) else list(call.by)
    if any(not isinstance(name, str) for name in by):
        raise MetricError("by of a state is one list of columns; ask for each grouping in a call of its own")
    if len(set(by)) < len(by):
        raise MetricError(f"by names a column twice: {', '.join(by)}")
    spoken = remote.spoken_by(connection, dialect)
    table, bins = done_on(connection, spoken, limits, lambda database: _added_up(database, asked, state, by, call.where))
    columns: dict[str, Any] = {name: table[name] for name in by}
    found = bounded(asked.ordered, bins, table.select(by), call.sql_dir, call.policies, limits) if asked.ordered else {}
    for item in asked.metrics:
        columns |= found[item.name] if item.name in found else {item.name: table[item.name]}
    columns |= {name: table[name] for name in (DAYS, "rows") if name in table.column_names}
    return pa.table(columns).replace_schema_metadata({"sqlrank.version": __version__})


def _refuse_others(call: Call) -> None:
    given = [*call.sources, *(name for name in ("columns", "per_query", "compat", "plan", "confidence", "unit") if getattr(call, name))]
    if given:
        raise MetricError(f"{given[0]}= is for rows, which a state does not have; beside state= give metrics, by, where and connection")


class Held:
    """A state that was found: its columns, as its metrics and its callers know them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = list(table.types or ())
        ours = {*OF_BINS, ROWS, DEFINITION}
        self.keys = [name for name in self.names if name.lower() not in ours and not _OF_SUMS.fullmatch(name)]

    def column(self, name: str) -> exp.Column:
        """Return a column of the state, whatever the case of its name is there."""
        return exp.column(exp.to_identifier(self.table.column(name) or name, quoted=True))

    def check(self, asked: Wanted, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless the state has what metrics need, and the columns that groups are told apart by."""
        missing = [item for item in asked.summed if any(self.table.column(name) is None for name in item.aggregates)]
        if any(self.table.column(name) is None for name in OF_BINS):
            missing += asked.ordered  # type: ignore[arg-type]
        names = ", ".join(item.name for item in missing)
        if any(self.table.column(name) is None for name in (ROWS, DEFINITION)):
            raise InputError(
                f"state: {self.table.shown} has no {ROWS} or no {DEFINITION}, and is no state; sqlrank.state (sqlrank state) makes one"
            )
        if missing:
            raise InputError(
                f"state: {self.table.shown} does not have the sums of {names}, with these parameters; make it anew with all metrics, such as "
                f"sqlrank state {' '.join(repr(item.name) for item in asked.metrics)}"
            )
        for name in by:
            if (self.table.column(name) or name) not in self.keys:
                raise InputError(
                    f"state: {name!r} is no column that rows of {self.table.shown} are told apart by{suggestion(name, self.keys)} "
                    f"There are: {', '.join(self.keys)}"
                )


def _added_up(database: Database, asked: Wanted, state: Any, by: Sequence[str], where: str | None) -> tuple[pa.Table, pa.Table | None]:
    """Return a row per group with metrics that are sums, and a row per group and bin with what orders are made of."""
    held = Held(find(database, "state", state))
    held.check(asked, by)
    source = exp.select("*").from_(held.table.item())
    if where is not None:
        source = source.where(condition(where, held.table, held.keys, database.dialect))
    rows = source.subquery("s")
    _check_rows(database, held, rows)
    keys = [exp.alias_(held.column(name), f"key_{place}") for place, name in enumerate(by)]
    groups = [held.column(name) for name in by]
    values: dict[str, exp.Expr] = {"rows": exp.cast(exp.Sum(this=held.column(ROWS)), "BIGINT")}
    if (day := held.table.column(DAY)) is not None and day in held.keys:
        values[DAYS] = exp.Count(this=exp.Distinct(expressions=[held.column(day)]))
    aliases = {item.name: f"metric_{place}" for place, item in enumerate(asked.summed)}
    formulas = {aliases[item.name]: exp.cast(_named(item.formula, held), "DOUBLE") for item in asked.summed}
    query = exp.select(*keys, *(exp.alias_(value, name) for name, value in {**values, **formulas}.items())).from_(rows.copy())
    query = query.group_by(*groups).order_by(*(exp.Ordered(this=item.copy(), nulls_first=True) for item in groups)) if by else query
    kinds = {**dict.fromkeys(by), **dict.fromkeys(values, pa.int64()), **dict.fromkeys(aliases, pa.float64())}
    table = as_from_duckdb(_run(database, query, "sums of a state"), kinds)
    if not asked.ordered:
        return table, None
    merged = {"positives": exp.Sum, "negatives": exp.Sum, "score_min": exp.Min, "score_max": exp.Max}
    shown = [exp.alias_(held.column("bin"), "bin"), *(exp.alias_(merge(this=held.column(name)), name) for name, merge in merged.items())]
    binned = exp.select(*keys, *shown).from_(rows.copy()).group_by(*groups, held.column("bin"))
    names = [*(f"key_{place}" for place in range(len(by))), "bin", *merged]
    found = _run(database, binned, "bins of a state")
    return table, as_from_duckdb(found, {name: None if name.startswith("key_") else pa.float64() for name in names})


def _run(database: Database, query: exp.Query, title: str) -> pa.Table:
    return database.table(render(query, f"sqlrank {__version__}: {title}", database.dialect, database.keeps))


def _named(formula: exp.Expr, held: Held) -> exp.Expr:
    """Return a formula over the columns of the state as they are spelled there."""
    return formula.copy().transform(lambda node: held.column(node.name) if isinstance(node, exp.Column) else node)


def _check_rows(database: Database, held: Held, rows: exp.Subquery) -> None:
    """Raise ``InputError`` for no rows, rows of several definitions, and counts below zero."""
    definition, number = held.column(DEFINITION), held.column(ROWS)
    ends = [exp.Min(this=definition), exp.Max(this=definition.copy()), exp.Min(this=number), exp.Count(this=exp.Star())]
    ((least, most, fewest, count),) = database.rows(
        exp.select(*(exp.alias_(end, f"end_{place}") for place, end in enumerate(ends))).from_(rows.copy())
    )
    if not count:
        raise InputError(f"state: {held.table.shown} has no rows to add up; see what where= leaves of it")
    if least != most:
        days = "" if held.table.column(DAY) is None else "; see which days have which: SELECT DISTINCT day, definition"
        raise InputError(
            f"state: rows of different definitions ({least}, {most}) cannot be added up: they are of other metrics, columns, conditions or bins"
            f"{days}; choose those of one with where=, or make the others anew"
        )
    if fewest < 0:
        raise InputError(
            f"state: {held.table.shown} has rows with {fewest:g} in {ROWS}, and nothing is less than none; make these days anew"
        )
