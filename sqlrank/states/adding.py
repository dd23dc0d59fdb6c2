"""The rows of a state added up where they are: sums by group, and by group and bin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.engines.connections import as_from_duckdb
from sqlrank.engines.render import render
from sqlrank.statement.bind import literal
from sqlrank.states.made import DAYS, ROWS
from sqlrank.states.split import MERGED_BY, OF_ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.states.asked import Wanted
    from sqlrank.states.held import Held
    from sqlrank.states.rolling import Windows


MOST_BIN = 2**31
"""The greatest whole number that a bin is taken for."""


@dataclass(frozen=True)
class Adding:
    """What is added up: rows of a state by columns ``by``, one of which is the day if they are those of ``windows``."""

    database: Database
    held: Held
    rows: exp.Subquery
    by: Sequence[str]
    windows: Windows | None = None

    def sums(self, asked: Wanted) -> pa.Table:
        """Return a row per group: its columns, ``rows``, ``days`` if there are any, and the metrics that are sums; groups in order."""
        held, day = self.held, self.held.day
        asked = asked.weighed(held.has)
        merged = {name: MERGED_BY[type(tree)] for item in asked.summed for name, tree in item.aggregates.items()}
        values: dict[str, exp.Expr] = {"rows": exp.cast(exp.Sum(this=held.column(ROWS)), "BIGINT")}
        if day is not None and (self.windows is not None or not merged):
            values[DAYS] = exp.cast(exp.Sum(this=exp.column(DAYS)), "BIGINT")
        elif day is not None:
            values[DAYS] = exp.Count(this=exp.Distinct(expressions=[held.column(day)]))
        names = {item.name: f"metric_{place}" for place, item in enumerate(asked.summed)}
        formulas = {names[item.name]: exp.cast(named_as(item.formula, held), "DOUBLE") for item in asked.summed}
        rows = self._rows({ROWS: exp.Sum, **merged}, counts_days=True)
        query = exp.select(*self._keys(), *(exp.alias_(value, name) for name, value in {**values, **formulas}.items())).from_(rows)
        groups = self._groups()
        if groups:
            query = query.group_by(*groups).order_by(*(exp.Ordered(this=item.copy(), nulls_first=True) for item in groups))
        kinds = {**self._kinds(), **dict.fromkeys(values, pa.int64()), **dict.fromkeys(names, pa.float64())}
        found = as_from_duckdb(self._run(query, "sums of a state"), kinds)
        return found.rename_columns([{theirs: name for name, theirs in names.items()}.get(name, name) for name in found.column_names])

    @cached_property
    def bins(self) -> pa.Table:
        """A row per group and bin: the columns of the group, ``bin``, and what merges of it."""
        shown = [exp.alias_(merge(this=self.held.column(name)), name) for name, merge in OF_ORDERS.items()]
        column = self.held.column("bin")
        rows = self._rows(OF_ORDERS, column)
        # A whole number is looked up by its place, which takes half the time.
        bin_ = exp.cast(column, "INT") if self.windows is None and self._has_whole_bins() else column
        query = exp.select(*self._keys(), exp.alias_(bin_, "bin"), *shown).from_(rows).group_by(*self._groups(), bin_.copy())
        kinds = {**self._kinds(), "bin": pa.float64(), **dict.fromkeys(OF_ORDERS, pa.float64())}
        return as_from_duckdb(self._run(query, "bins of a state"), kinds)

    def number_of_bins(self) -> int:
        """Return how many bins of groups, or groups, there are over all days: so many, at most, does a window have."""
        told: list[exp.Expr] = [self.held.column(name) for name in (*self._others(), *(["bin"] if self.held.has_bins else []))]
        pairs = exp.select(*(told or [exp.Literal.number(1)])).distinct().from_(self.rows.copy()).subquery("b")
        ((count,),) = self.database.rows(exp.select(exp.alias_(exp.Count(this=exp.Star()), "number")).from_(pairs))
        return int(count)

    def _others(self) -> list[str]:
        """The columns of groups but for the day, where that is a window's."""
        return [name for name in self.by if self.windows is None or self.held.table.column(name) != self.held.day]

    def _rows(self, merged: Mapping[str, type[exp.AggFunc]], *told: exp.Column, counts_days: bool = False) -> exp.Subquery:
        """Return the rows to add up: of windows, sums over parts of the days, each once for each window that it is in."""
        keys = [*(self.held.column(name) for name in self._others()), *told]
        if self.windows is not None:
            return self.windows.rows(self.rows.copy(), self.held, keys, merged, counts_days)
        # By day first is faster, but sums of those come in any order, and so with other last digits: it is done where numbers are whole.
        if not counts_days or self.held.day is None or set(merged) != {ROWS}:
            return self.rows.copy()
        day = self.held.column(self.held.day)
        keys = [key for key in keys if key != day]
        sums = [exp.alias_(merge(this=self.held.column(name)), self.held.column(name).this.copy()) for name, merge in merged.items()]
        is_day = exp.Case(ifs=[exp.If(this=exp.Is(this=day, expression=exp.Null()), true=literal(0))], default=literal(1))
        per_day = exp.select(*keys, day.copy(), exp.alias_(is_day, DAYS), *sums).from_(self.rows.copy())
        return per_day.group_by(*(key.copy() for key in keys), day.copy()).subquery("s")

    def _has_whole_bins(self) -> bool:
        """Whether bins are whole numbers, and the database is told of these to look them up by their place."""
        if self.database.dense is None:
            return False
        bin_ = self.held.column("bin")
        is_whole = exp.and_(
            exp.EQ(this=exp.Floor(this=bin_), expression=bin_.copy()), exp.LT(this=exp.Abs(this=bin_.copy()), expression=literal(MOST_BIN))
        )
        broken = exp.Max(this=exp.Case(ifs=[exp.If(this=is_whole, true=literal(0))], default=literal(1)))
        ((found,),) = self.database.rows(exp.select(exp.alias_(broken, "broken")).from_(self.held.table.item()))
        return bool(found == 0)

    def _groups(self) -> list[exp.Column]:
        others = self._others()
        return [self.held.column(name) if name in others else exp.column("window_number") for name in self.by]

    def _keys(self) -> list[exp.Expr]:
        return [exp.alias_(item, f"key_{place}") for place, item in enumerate(self._groups())]

    def _kinds(self) -> dict[str, pa.DataType | None]:
        return {f"key_{place}": None for place in range(len(self.by))}

    def _run(self, query: exp.Query, title: str) -> pa.Table:
        query = query if self.windows is None else self.windows.with_days(query)
        return self.database.groups(render(query, f"sqlrank {__version__}: {title}", self.database.dialect, self.database.keeps))


def named_as(formula: exp.Expr, held: Held) -> exp.Expr:
    """Return a formula over the columns of the state as they are spelled there."""
    return formula.copy().transform(lambda node: held.column(node.name) if isinstance(node, exp.Column) else node)
