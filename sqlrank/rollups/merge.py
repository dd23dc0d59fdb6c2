"""Merge the aggregates of a rollup by group, by bin, and over rolling windows of days, and read
values as days.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.database import normalize_result
from sqlrank.errors import InputError, short_repr
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.result_columns import NUM_DAYS, NUM_ROWS
from sqlrank.rollups.decomposition import (
    BIN_MERGE_FUNCTIONS,
    DAY_COLUMN,
    RollupMetrics,
)
from sqlrank.rollups.rollup_table import RollupTable, parse_key_condition
from sqlrank.sql_ast import case_when, count_rows, replace_columns, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.engines.database import Database


DAY_SET = "day_set"
"""Column with the number of a set of days: those that are in the same windows, so that their rows
are merged once for all of these.
"""

MIN_DATE, MAX_DATE = date(1900, 1, 1), date(2199, 12, 31)
"""The range in which an integer such as 20260131 is read as a date."""


@dataclass(frozen=True)
class RollingWindows:
    """Windows of ``length`` days that end at some days of a rollup.

    ``days`` are sorted by their ordinals, ``day_ordinals``. ``end_positions`` are the positions in
    ``days`` of the last days of windows.
    """

    days: pa.Array
    day_ordinals: Sequence[int]
    end_positions: Sequence[int]
    length: int

    @classmethod
    def ending_at(
        cls,
        database: Database,
        rollup_table: RollupTable,
        rows: exp.Subquery,
        length: int,
        window_ends: str | None,
    ) -> RollingWindows:
        """Return the windows that end at the days for which ``window_ends`` holds.

        Raises:
            InputError: no day column, values that are not days, or an invalid condition.
        """
        if rollup_table.day_column is None:
            raise InputError(
                f"rollup: {rollup_table.table.label} has no column {DAY_COLUMN}, which window_days="
                ' needs. Make it with by=["day", ...], such as by="day=CAST(timestamp AS DATE)"'
            )
        column = rollup_table.find_column(rollup_table.day_column).as_(DAY_COLUMN)
        query = exp.select(column).distinct().from_(rows.copy())
        days = database.fetch_arrow(database.render(query)).column(0).combine_chunks()
        day_ordinals = [day_ordinal(value) for value in days.to_pylist()]
        order = sorted(range(len(day_ordinals)), key=day_ordinals.__getitem__)
        days, day_ordinals = days.take(pa.array(order, pa.int64())), sorted(day_ordinals)
        end_positions = list(range(len(day_ordinals)))
        if window_ends is not None:
            query = query.where(
                parse_key_condition(
                    window_ends,
                    rollup_table.table,
                    [rollup_table.day_column],
                    database.dialect,
                    "window_ends",
                )
            )
            end_ordinals = set(
                map(day_ordinal, database.fetch_arrow(database.render(query)).column(0).to_pylist())
            )
            end_positions = [
                index for index in end_positions if day_ordinals[index] in end_ordinals
            ]
            if not end_positions:
                raise InputError(
                    f"window_ends: no day of {rollup_table.table.label} is one at which"
                    f" {window_ends}. Its last is {days[-1].as_py()}"
                )
        return cls(days, day_ordinals, end_positions, length)

    def slice(self, first: int, count: int) -> RollingWindows:
        """Return ``count`` windows, starting at position ``first``."""
        return RollingWindows(
            self.days, self.day_ordinals, self.end_positions[first : first + count], self.length
        )

    def end_days(self, window_numbers: pa.ChunkedArray) -> pa.Array:
        """Return the last days of the windows with these numbers."""
        return self.days.take(
            pa.array(
                [self.end_positions[window_number] for window_number in window_numbers.to_pylist()],
                pa.int64(),
            )
        )

    def windowed_rows(
        self,
        rows: exp.Subquery,
        rollup_table: RollupTable,
        keys: Sequence[exp.Column],
        merged: Mapping[str, type[exp.AggFunc]],
        counts_days: bool,
    ) -> exp.Subquery:
        """Return rows merged by key and set of days, once per window.

        The column ``window_number`` identifies the window.
        """
        day = rollup_table.find_column(str(rollup_table.day_column))
        day_set = _day_set_column("rollup_days")
        sums = [
            merge(this=_qualify_column(rollup_table.find_column(name), "s")).as_(
                rollup_table.find_column(name).this,
            )
            for name, merge in merged.items()
        ]
        count = exp.Count(this=exp.Distinct(expressions=[_qualify_column(day, "s")])).as_(NUM_DAYS)
        qualified_keys = [_qualify_column(key, "s") for key in keys]
        is_same_day = _qualify_column(day, "s").eq(exp.column(DAY_COLUMN, table="rollup_days"))
        set_sums = exp.select(
            *qualified_keys, day_set, *sums, *([count] if counts_days else [])
        ).from_(rows)
        set_sums = set_sums.join(exp.to_table("rollup_days"), on=is_same_day).group_by(
            *qualified_keys, day_set
        )
        window_sets = load_select("analyses/rollups", "window_days.sql").subquery("window_sets")
        columns = [
            _qualify_column(column, "set_sums")
            for column in [*keys, *(rollup_table.find_column(name) for name in merged)]
        ]
        columns += [exp.column(NUM_DAYS, table="set_sums")] if counts_days else []
        windowed = exp.select(
            *(column.as_(column.this) for column in columns),
            exp.column("window_number", table="window_sets"),
        )
        is_same_set = _day_set_column("set_sums").eq(_day_set_column("window_sets"))
        return (
            windowed.from_(set_sums.subquery("set_sums"))
            .join(window_sets, on=is_same_set)
            .subquery("s")
        )

    def add_window_ctes(self, query: exp.Query) -> exp.Query:
        """Return the query with the CTEs of days and windows.

        They are long, so they are added last: every earlier step would copy them.
        """
        window_numbers = range(len(self.end_positions))
        tables = {
            "rollup_days": self._select_days(),
            "rollup_windows": _union_rows(
                {"window_number": sql_literal(number)} for number in window_numbers
            ),
        }
        for name, rows in tables.items():
            query = query.with_(name, as_=rows, copy=False)
        return query

    def _select_days(self) -> exp.Query:
        """Return each day with the number of its set, and the first and last window that contain
        it.

        The windows that contain a day are consecutive.
        """
        end_ordinals = [self.day_ordinals[index] for index in self.end_positions]
        set_numbers: dict[tuple[int, int], int] = {}
        rows = []
        first = last = 0
        for value, ordinal in zip(self.days.to_pylist(), self.day_ordinals, strict=True):
            while first < len(end_ordinals) and end_ordinals[first] < ordinal:
                first += 1
            while last < len(end_ordinals) and end_ordinals[last] < ordinal + self.length:
                last += 1
            if first < last:
                set_number = set_numbers.setdefault((first, last), len(set_numbers))
                numbers = {DAY_SET: set_number, "first_window": first, "last_window": last - 1}
                rows.append(
                    {
                        DAY_COLUMN: exp.convert(value),
                        **{name: sql_literal(number) for name, number in numbers.items()},
                    }
                )
        return _union_rows(rows)


def _union_rows(rows: Iterable[Mapping[str, exp.Expr]]) -> exp.Query:
    selects = (
        exp.Select(expressions=[value.as_(name, copy=False) for name, value in row.items()])
        for row in rows
    )
    return union_all(selects)


def _qualify_column(column: exp.Column, table: str) -> exp.Column:
    return exp.column(column.this, table=table)


def _day_set_column(table: str) -> exp.Column:
    """Return the column with the number of the set of days that a row belongs to."""
    return exp.column(DAY_SET, table=table)


def day_ordinal(value: Any) -> int:
    """Return the ordinal of a day.

    A day is a date, a time at midnight, a text such as ``2026-01-31``, or an integer such as
    20260131.

    Raises:
        InputError: the value is not a day, or NULL.

    >>> day_ordinal("2026-03-01") - day_ordinal("2026-02-28"), day_ordinal(20260301) - day_ordinal(
    ...     20260228
    ... ), day_ordinal(8) - day_ordinal(7)
    (1, 1, 1)
    """
    if value is None:
        raise InputError(
            "rollup: day is NULL in some rows, which are in no window. Leave them out by where='day"
            " IS NOT NULL'"
        )
    try:
        if isinstance(value, str):
            return date.fromisoformat(
                value[:10] if value[10:] in {"", " 00:00:00", "T00:00:00"} else value
            ).toordinal()
        if isinstance(value, datetime) and value == datetime.combine(
            value.date(), datetime.min.time(), value.tzinfo
        ):
            return value.date().toordinal()
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.toordinal()
        if (integer := int(value)) == value and not isinstance(value, bool):
            is_date = (
                MIN_DATE <= (parsed_date := _parse_date_number(integer) or date.min) <= MAX_DATE
            )
            return parsed_date.toordinal() if is_date else integer
    except (ValueError, TypeError):
        pass
    raise InputError(
        f"rollup: day holds {short_repr(value)}, which is no day: window_days= needs dates, texts"
        " such as 2026-01-31 or integers"
    )


def _parse_date_number(number: int) -> date | None:
    """Return the date that an integer such as 20260131 denotes, or None."""
    year, rest = divmod(number, 10_000)
    try:
        return date(year, *divmod(rest, 100))
    except ValueError:
        return None


MAX_BIN = 2**31
"""Bins below this size may be cast to integers."""


@dataclass(frozen=True)
class MergeQuery:
    """Merges rollup rows by the columns ``by``.

    With ``windows``, the day column is the last day of the window.
    """

    database: Database
    table: RollupTable
    rows: exp.Subquery
    by: Sequence[str]
    windows: RollingWindows | None = None

    @property
    def day_index(self) -> int:
        """Return the position of the day column among the columns ``by``."""
        columns = map(self.table.table.find_column, self.by)
        return list(columns).index(self.table.day_column)

    def merge_aggregates(self, metrics: RollupMetrics) -> pa.Table:
        """Return one row per group: key columns, ``num_rows``, ``num_days`` if there are any, and
        the additive metrics, in order.
        """
        table, day = self.table, self.table.day_column
        metrics = metrics.resolve_weights(table.has_column)
        merged = metrics.merge_functions
        # The alias differs from the column, because ClickHouse reads an alias in the other
        # aggregates.
        values: dict[str, exp.Expr] = {
            "merged_rows": exp.cast(exp.Sum(this=table.find_column(NUM_ROWS)), "BIGINT")
        }
        if day is not None and self.windows is not None:
            values[NUM_DAYS] = exp.cast(exp.Sum(this=exp.column(NUM_DAYS)), "BIGINT")
        elif day is not None:
            values[NUM_DAYS] = exp.Count(this=exp.Distinct(expressions=[table.find_column(day)]))
        names = {metric.name: f"metric_{index}" for index, metric in enumerate(metrics.additive)}
        formulas = {
            names[metric.name]: exp.cast(
                replace_columns(metric.formula, table.find_column), "DOUBLE"
            )
            for metric in metrics.additive
        }
        rows = self._select_rows({NUM_ROWS: exp.Sum, **merged}, counts_days=True)
        query = exp.select(
            *self._list_key_columns(),
            *(value.as_(name) for name, value in {**values, **formulas}.items()),
        ).from_(rows)
        groups = self._list_group_columns()
        if groups:
            query = query.group_by(*groups).order_by(
                *(exp.Ordered(this=column, nulls_first=True) for column in groups)
            )
        column_types = {
            **self._key_types(),
            **dict.fromkeys(values, pa.int64()),
            **dict.fromkeys(names, pa.float64()),
        }
        result = normalize_result(self._fetch_merged(query, "sums of a rollup"), column_types)
        names_by_alias = {"merged_rows": NUM_ROWS} | {alias: name for name, alias in names.items()}
        return result.rename_columns(
            [names_by_alias.get(name, name) for name in result.column_names]
        )

    @cached_property
    def merged_bins(self) -> pa.Table:
        """Return one row per group and bin: the key columns, ``bin`` and the merged columns of the
        bin.
        """
        column = self.table.find_column("bin")
        rows = self._select_rows(BIN_MERGE_FUNCTIONS, column)
        # DuckDB groups integers by a perfect hash, in half the time.
        bin_ = (
            exp.cast(column, "INT") if self.windows is None and self._has_integer_bins() else column
        )
        query = (
            exp.select(*self._list_key_columns(), bin_.as_("bin"), *merge_bin_columns(self.table))
            .from_(rows)
            .group_by(*self._list_group_columns(), bin_)
        )
        column_types = {
            **self._key_types(),
            "bin": pa.float64(),
            **dict.fromkeys(BIN_MERGE_FUNCTIONS, pa.float64()),
        }
        return normalize_result(self._fetch_merged(query, "bins of a rollup"), column_types)

    def count_bins(self) -> int:
        """Return the number of distinct groups and bins of all days, the maximum per window."""
        columns: list[exp.Expr] = [
            self.table.find_column(name)
            for name in (*self._other_keys(), *(["bin"] if self.table.has_bins else []))
        ]
        pairs = exp.select(*(columns or [sql_literal(1)])).distinct().from_(self.rows).subquery("b")
        ((count,),) = self.database.query_rows(exp.select(count_rows().as_("number")).from_(pairs))
        return int(count)

    def _other_keys(self) -> list[str]:
        """Return the key columns, without the day if windows replace it."""
        return [
            name
            for name in self.by
            if self.windows is None or self.table.table.find_column(name) != self.table.day_column
        ]

    def _select_rows(
        self,
        merged: Mapping[str, type[exp.AggFunc]],
        *extra_keys: exp.Column,
        counts_days: bool = False,
    ) -> exp.Subquery:
        """Return the rows to merge.

        For windows, rows are merged by set of days first, and repeated for each window that
        contains the set.
        """
        keys = [*(self.table.find_column(name) for name in self._other_keys()), *extra_keys]
        if self.windows is not None:
            return self.windows.windowed_rows(self.rows, self.table, keys, merged, counts_days)
        return self.rows.copy()

    def _has_integer_bins(self) -> bool:
        """Return True if bins are integers and DuckDB's perfect hash can group by them."""
        if not self.database.supports_dense_groups:
            return False
        bin_ = self.table.find_column("bin")
        is_whole = exp.and_(
            exp.Floor(this=bin_).eq(bin_),
            exp.Abs(this=bin_) < MAX_BIN,
        )
        has_fractional_bin = exp.Max(this=case_when(is_whole, 0, 1))
        ((fractional_flag,),) = self.database.query_rows(
            exp.select(has_fractional_bin.as_("has_fractional_bin")).from_(
                self.table.table.from_clause()
            )
        )
        return bool(fractional_flag == 0)

    def _list_group_columns(self) -> list[exp.Column]:
        key_names = self._other_keys()
        return [
            self.table.find_column(name) if name in key_names else exp.column("window_number")
            for name in self.by
        ]

    def _list_key_columns(self) -> list[exp.Expr]:
        return [
            column.as_(f"key_{index}") for index, column in enumerate(self._list_group_columns())
        ]

    def _key_types(self) -> dict[str, pa.DataType | None]:
        return {f"key_{index}": None for index in range(len(self.by))}

    def _fetch_merged(self, query: exp.Query, title: str) -> pa.Table:
        query = query if self.windows is None else self.windows.add_window_ctes(query)
        return self.database.fetch_groups(
            render_statement(
                query,
                StatementHeader(title),
                self.database.dialect,
                self.database.can_materialize_ctes,
            )
        )


def merge_bin_columns(rollup_table: RollupTable) -> list[exp.Expr]:
    """Return the columns of bins, merged."""
    return [
        merge(this=rollup_table.find_column(name)).as_(name)
        for name, merge in BIN_MERGE_FUNCTIONS.items()
    ]
