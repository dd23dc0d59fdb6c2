"""Windows of the last days: which days are in which, and the rows of a state once for each window that they are in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.database import stacked
from sqlrank.errors import InputError, shown
from sqlrank.library.selects import read_select
from sqlrank.statement.bind import literal
from sqlrank.states.conditions import condition
from sqlrank.states.made import DAY, DAYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.states.held import Held

FIRST, LAST = date(1900, 1, 1), date(2199, 12, 31)
"""Between which a whole number such as 20260131 is a date."""


@dataclass(frozen=True)
class Windows:
    """Windows of ``length`` days that end at some of the days of a state: places in ``days``, in order of ``numbers``, those of the calendar."""

    days: pa.Array
    numbers: Sequence[int]
    ends: Sequence[int]
    length: int

    @classmethod
    def of(cls, database: Database, held: Held, rows: exp.Subquery, length: int, ends: str | None) -> Windows:
        """Return the windows that end at the days of some rows for which ``ends`` holds.

        Raises:
            InputError: the state has no column of days, or what stands there is no day; a condition that is none, or of other columns.
        """
        if held.day is None:
            raise InputError(
                f"state: {held.table.shown} has no column {DAY}, by which rolling= tells which days are the last ones; make it with "
                'by=["day", ...], such as by="day=CAST(timestamp AS DATE)"'
            )
        column = exp.alias_(held.column(held.day), DAY)
        query = exp.select(column).distinct().from_(rows.copy())
        days = database.table(database.text(query)).column(0).combine_chunks()
        numbers = [number_of(value) for value in days.to_pylist()]
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        days, numbers = days.take(pa.array(order, pa.int64())), sorted(numbers)
        chosen = list(range(len(numbers)))
        if ends is not None:
            query = query.where(condition(ends, held.table, [held.day], database.dialect, "ends"))
            kept = set(map(number_of, database.table(database.text(query)).column(0).to_pylist()))
            chosen = [place for place in chosen if numbers[place] in kept]
            if not chosen:
                raise InputError(f"ends: no day of {held.table.shown} is one at which {ends}; its last is {days[-1].as_py()}")
        return cls(days, numbers, chosen, length)

    def some(self, first: int, count: int) -> Windows:
        """Return ``count`` of these windows from the one at a place on."""
        return Windows(self.days, self.numbers, self.ends[first : first + count], self.length)

    def ends_of(self, places: pa.ChunkedArray) -> pa.Array:
        """Return the last days of windows at these places."""
        return self.days.take(pa.array([self.ends[place] for place in places.to_pylist()], pa.int64()))

    def rows(
        self, rows: exp.Subquery, held: Held, keys: Sequence[exp.Column], merged: Mapping[str, type[exp.AggFunc]], counts_days: bool
    ) -> exp.Subquery:
        """Return rows once for each window that they are in, with its ``window_number``, added up by key and part of the days before."""
        day = held.column(str(held.day))
        part = exp.column("part", table="d")
        sums = [exp.alias_(merge(this=_of(held.column(name), "s")), held.column(name).this.copy()) for name, merge in merged.items()]
        count = exp.alias_(exp.Count(this=exp.Distinct(expressions=[_of(day, "s")])), DAYS)
        keyed = [_of(key, "s") for key in keys]
        same = exp.EQ(this=_of(day, "s"), expression=exp.column(DAY, table="d"))
        inner = exp.select(*keyed, part, *sums, *([count] if counts_days else [])).from_(rows)
        inner = inner.join(exp.to_table("state_days").as_("d"), on=same).group_by(*(key.copy() for key in keyed), part.copy())
        pairs = read_select("states", "windows.sql").subquery("w")
        named = [_of(key, "p") for key in keys] + [_of(held.column(name), "p") for name in merged]
        named += [exp.column(DAYS, table="p")] if counts_days else []
        outer = exp.select(*(exp.alias_(item, item.this.copy()) for item in named), exp.column("window_number", table="w"))
        outer = outer.from_(inner.subquery("p")).join(pairs, on=exp.EQ(this=part_of("p"), expression=part_of("w")))
        return outer.subquery("s")

    def with_days(self, query: exp.Query) -> exp.Query:
        """Return a query that reads the rows of windows, with what these read: added last, since it is long, and each step copies what there is."""
        tables = {"state_days": self._days(), "state_windows": self._numbers()}
        steps = [exp.CTE(this=rows, alias=exp.TableAlias(this=exp.to_identifier(name))) for name, rows in tables.items()]
        query.set("with_", exp.With(expressions=steps))
        return query

    def _days(self) -> exp.Query:
        """The days of windows, the number of their part, and the first and the last window that they are in, which are next to each other."""
        ends = [self.numbers[place] for place in self.ends]
        parts: dict[tuple[int, int], int] = {}
        found = []
        first = last = 0
        for value, number in zip(self.days.to_pylist(), self.numbers, strict=True):
            while first < len(ends) and ends[first] < number:
                first += 1
            while last < len(ends) and ends[last] < number + self.length:
                last += 1
            if first < last:
                held = (first, last - 1)
                whole = dict(zip(("part", "first_window", "last_window"), (parts.setdefault(held, len(parts)), *held), strict=True))
                found.append({DAY: exp.convert(value), **{name: literal(number) for name, number in whole.items()}})
        return _all(found)

    def _numbers(self) -> exp.Query:
        return _all([{"window_number": literal(place)} for place in range(len(self.ends))])


def _all(rows: Iterable[Mapping[str, exp.Expr]]) -> exp.Query:
    selects = (exp.Select(expressions=[exp.alias_(item, name, copy=False) for name, item in row.items()]) for row in rows)
    return stacked(selects).this  # type: ignore[no-any-return]


def _of(column: exp.Column, table: str) -> exp.Column:
    return exp.column(column.this.copy(), table=table)


def part_of(table: str) -> exp.Column:
    """Return the part of the days that a row is of."""
    return exp.column("part", table=table)


def number_of(value: Any) -> int:
    """Return the number of a day of the calendar: a date, a time at its beginning, ``2026-01-31`` as text, or a whole number, such as 20260131.

    Raises:
        InputError: it is none of these, or NULL.

    >>> number_of("2026-03-01") - number_of("2026-02-28"), number_of(20260301) - number_of(20260228), number_of(8) - number_of(7)
    (1, 1, 1)
    """
    if value is None:
        raise InputError("state: day is NULL in some rows, which are in no window; leave them out by where='day IS NOT NULL'")
    try:
        if isinstance(value, str):
            return date.fromisoformat(value[:10] if value[10:] in {"", " 00:00:00", "T00:00:00"} else value).toordinal()
        if isinstance(value, datetime) and value == datetime.combine(value.date(), datetime.min.time(), value.tzinfo):
            return value.date().toordinal()
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.toordinal()
        if (whole := int(value)) == value and not isinstance(value, bool):
            is_date = FIRST <= (said := _date_of(whole) or date.min) <= LAST
            return said.toordinal() if is_date else whole
    except (ValueError, TypeError):
        pass
    raise InputError(f"state: day holds {shown(value)}, which is no day: rolling= needs dates, texts such as 2026-01-31 or whole numbers")


def _date_of(number: int) -> date | None:
    """Return the date that a number such as 20260131 writes, None if it is none."""
    year, rest = divmod(number, 10_000)
    try:
        return date(year, *divmod(rest, 100))
    except ValueError:
        return None
