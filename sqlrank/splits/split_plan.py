"""Plan a split: its parts with limits by hash, shares or time, and the query that assigns rows to them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import InputError, MetricError, join_words, short_repr, suggest_choice, to_sentence
from sqlrank.registry.query_templates import load_select
from sqlrank.splits.leakage_filter import LeakageFilter
from sqlrank.sql_ast import union_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import SourceTable
    from sqlrank.splits.split_request import SplitRequest


HASH_RANGE = 2**32
"""Number of hash values: eight hexadecimal digits."""

TRAIN_AND_TEST = ("train", "test")
MAX_SPLITS = 10_000


def parse_shares(shares: Any, argument: str = "shares") -> dict[str, Fraction]:
    """Parse the share of each part as an exact fraction.

    Raises ``MetricError`` unless they are above 0 and add up to 1.

    >>> parse_shares({"train": 0.8, "test": 0.2})["test"]
    Fraction(1, 5)
    """
    names, example = ("parts", {"train": 0.8, "test": 0.2}) if argument == "shares" else ("variants", {"control": 0.5, "treatment": 0.5})
    expected = f"give {names} with their shares, which add up to 1, such as {argument}={example}"
    if not isinstance(shares, Mapping) or not 1 < len(shares) <= MAX_SPLITS or not all(isinstance(name, str) and name for name in shares):
        raise MetricError(f"{argument}={short_repr(shares)} is not possible: {expected}")
    try:
        fractions = {name: Fraction(str(share)) for name, share in shares.items()}
        total = float(sum(fractions.values(), Fraction(0)))
    except (ValueError, ArithmeticError):
        raise MetricError(f"{argument}={short_repr(shares)} is not possible: {expected}") from None
    if min(fractions.values()) <= 0 or abs(total - 1) > 1e-9:  # noqa: PLR2004  what is lost by writing shares as decimals
        raise MetricError(
            f"{argument}={short_repr(shares)} is not possible: each must be above 0 and their sum 1, which is {total:g}. {to_sentence(expected)}"
        )
    return fractions


def equal_shares(folds: Any) -> dict[int, Fraction]:
    """Return folds of equal shares, numbered from 0."""
    if isinstance(folds, bool) or not isinstance(folds, int) or not 1 < folds <= MAX_SPLITS:
        raise MetricError(f"folds={short_repr(folds)} is not possible: give an integer from 2 to {MAX_SPLITS}")
    return {fold: Fraction(1, folds) for fold in range(folds)}


def cumulative_shares(shares: Sequence[Fraction]) -> list[Fraction]:
    """Return the cumulative shares at which all parts but the last end."""
    return [sum(shares[: index + 1], Fraction(0)) for index in range(len(shares) - 1)]


def hash_threshold(end: Fraction) -> str:
    """Return the smallest hash value at or above a share of all hash values.

    >>> hash_threshold(Fraction(1, 2)), hash_threshold(Fraction(4, 5)), hash_threshold(Fraction(9, 10))
    ('80000000', 'cccccccd', 'e6666667')
    """
    return f"{min(math.ceil(end * HASH_RANGE), HASH_RANGE - 1):08x}"


def parse_time_bounds(bounds: Any) -> list[exp.Expr]:
    """Parse time bounds as literals: texts, numbers, dates or times, in ascending order."""
    values = bounds if isinstance(bounds, (list, tuple)) else [bounds]
    types = {type(value) for value in values}
    is_possible = len(types) == 1 and not types & {bool} and all(isinstance(value, (str, int, float, dt.date)) for value in values)
    if not is_possible or any(earlier >= later for earlier, later in pairwise(values)):
        raise MetricError(f"time_bounds={short_repr(bounds)} is not possible: give times in ascending order, such as ['2026-03-01']")
    return [_build_literal(value) for value in values]


def _build_literal(value: Any) -> exp.Expr:
    if isinstance(value, dt.datetime):
        return exp.cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ")
    if isinstance(value, dt.date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    literal: exp.Expr = exp.convert(value)
    return literal


def part_case(value: exp.Expr, limits: Sequence[exp.Expr], names: Sequence[str | int]) -> exp.Case:
    """Return a CASE with the first part whose limit exceeds a value.

    Values at or above all limits are in the last part.
    """
    ifs = [
        exp.If(this=exp.LT(this=value.copy(), expression=limit), true=exp.convert(name)) for limit, name in zip(limits, names, strict=False)
    ]
    return exp.Case(ifs=ifs, default=exp.convert(names[-1]))


FOLD_PART = "fold"
INEXACT_TYPES = ("DOUBLE", "FLOAT", "DECIMAL", "REAL")
"""Types whose text representation differs between engines."""


@dataclass(frozen=True)
class SplitPlan:
    """A parsed split: its file of ``sql/splits``, source columns by name, and names and limits of parts."""

    kind: str
    columns: Mapping[str, str]
    names: Sequence[str | int]
    limits: Sequence[exp.Expr]
    values: Mapping[str, exp.Expr]
    part_column: str
    leakage_filter: LeakageFilter = field(default_factory=LeakageFilter)

    @classmethod
    def from_request(cls, request: SplitRequest) -> SplitPlan:
        """Parse the arguments of a call; raise ``MetricError`` for conflicting options."""
        leakage_filter = LeakageFilter.from_request(request)
        if request.leave_last is not None:
            return replace(cls._leave_last(request), leakage_filter=leakage_filter)
        if leakage_filter.joins:
            request = replace(request, item=None)
        return replace(
            cls._by_ticket(request) if request.time is None else cls._by_time(request, request.time), leakage_filter=leakage_filter
        )

    @classmethod
    def _by_ticket(cls, request: SplitRequest) -> SplitPlan:
        _refuse_options(request, ("time_bounds", "expanding", "item"), "need time=, the time column")
        if request.key is None:
            raise MetricError("give key='user_id', the column to split by, or time= with time_bounds= or shares=")
        salt = request.salt
        if not salt or not any(letter.isalpha() for letter in salt):
            problem = "name the purpose of the split" if salt is None else f"salt={salt!r} is not possible: give a name with a letter"
            raise MetricError(f"{problem}, such as salt='checkout'. One salt splits one way")
        if (request.shares is None) is (request.folds is None):
            raise MetricError("give shares={'train': 0.8, 'test': 0.2} or folds=10")
        shares: dict[Any, Any] = parse_shares(request.shares) if request.folds is None else equal_shares(request.folds)
        part_column = request.column or ("split" if request.folds is None else FOLD_PART)
        columns, values = {"key": request.key}, {"salt": exp.Literal.string(f"{salt}:")}
        cumulative = cumulative_shares(list(shares.values()))
        if not request.exact:
            _refuse_options(request, ("stratum",), "need exact=True")
            return cls("hash", columns, list(shares), [exp.Literal.string(hash_threshold(end)) for end in cumulative], values, part_column)
        if request.stratum is not None:
            columns["stratum"] = request.stratum
        return cls("exact", columns, list(shares), [exp.convert(float(end)) for end in cumulative], values, part_column)

    @classmethod
    def _by_time(cls, request: SplitRequest, time: str) -> SplitPlan:
        _refuse_options(request, ("key", "salt", "folds", "exact", "stratum", "item"), "are not for a split by time alone")
        columns, part_column = {"time": time}, request.column or "split"
        if request.time_bounds is None:
            _refuse_options(request, ("expanding",), "need time_bounds=")
            shares = parse_shares(request.shares)
            # A row is in a part if the cumulative share of rows is at or below the part's end.
            limits = [exp.convert(float(end) + 1e-12) for end in cumulative_shares(list(shares.values()))]
            return cls("time_share", columns, list(shares), limits, {}, part_column)
        bounds = parse_time_bounds(request.time_bounds)
        if request.expanding:
            _refuse_options(request, ("shares",), "are not for expanding=True")
            return cls("expanding", columns, TRAIN_AND_TEST, bounds, {}, part_column)
        names = list(request.shares or TRAIN_AND_TEST)
        if len(names) != len(bounds) + 1:
            raise MetricError(f"{len(bounds)} time bounds make {len(bounds) + 1} parts. Name as many, shares={{'train': ..., 'test': ...}}")
        return cls("time", columns, names, bounds, {}, part_column)

    @classmethod
    def _leave_last(cls, request: SplitRequest) -> SplitPlan:
        _refuse_options(request, ("salt", "folds", "exact", "stratum", "shares", "time_bounds", "expanding"), "are not for leave_last=")
        if request.key is None or request.time is None:
            raise MetricError("leave_last= needs key= and time=, the column by which the rows of a key are ordered")
        columns = {"key": request.key, "time": request.time} | ({} if request.item is None else {"item": request.item})
        train, test = map(exp.Literal.string, TRAIN_AND_TEST)
        values = {"last": exp.convert(request.leave_last), "first": train, "second": test}
        return cls("leave_last", columns, TRAIN_AND_TEST, (), values, request.column or "split")

    @property
    def new_columns(self) -> list[str]:
        """Return the names of the new columns."""
        return [*([FOLD_PART] if self.kind == "expanding" else []), self.part_column]

    def check(self, table: SourceTable) -> None:
        """Raise ``InputError`` for missing, clashing or unsuitable columns.

        Nothing is checked if the columns of the table are unknown.
        """
        if table.column_types is None:
            return
        for name in (*self.columns.values(), *self.leakage_filter.columns.values()):
            if table.find_column(name) is None:
                raise InputError(suggest_choice(f"{table.label} has no column {name!r}", name, table.column_types, "There are"))
        for name in self.new_columns:
            if table.find_column(name) is not None:
                raise InputError(f"{table.label} has a column {name!r} already. Give the new one another name with column=")
        key = self.columns.get("key")
        key_type = table.column_types[str(table.find_column(key))].upper() if key is not None and "salt" in self.values else ""
        if key_type.startswith(INEXACT_TYPES):
            raise InputError(f"{key} is {key_type}, whose text differs between engines. Cast it to an integer or text")

    def build_query(self, table: SourceTable) -> exp.Query:
        """Return the filtered rows of a table with the new columns."""
        return self.leakage_filter.build_query(self.all_rows(table), table, str(self.names[0]), self.part_column, self.kind == "expanding")

    def all_rows(self, table: SourceTable) -> exp.Query:
        """Return all rows of a table with the new columns."""
        if self.kind != "expanding":
            return self._select_template(table, self.values)
        train, test = map(exp.Literal.string, TRAIN_AND_TEST)
        folds = []
        for index, bound in enumerate(self.limits):
            next_bound = self.limits[index + 1] if index + 1 < len(self.limits) else None
            values = {"fold": exp.convert(index), "bound": bound, "first": train, "second": test}
            folds.append(
                self._select_template(table, values if next_bound is None else values | {"until": next_bound}, is_open=next_bound is None)
            )
        return exp.select("*").from_(union_all(folds).subquery("parts", copy=False))

    def _select_template(self, table: SourceTable, values: Mapping[str, exp.Expr], is_open: bool = False) -> exp.Select:
        template = load_select("splits", f"{self.kind}.sql")
        if is_open:
            template.set("where", None)
        bound: Any = exp.replace_placeholders(template, **{name: value.copy() for name, value in values.items()})
        query: exp.Select = bound
        self._name_columns(query, table)
        split = query.selects[-1]
        if self.limits and self.kind != "expanding":
            split.set("this", part_case(split.this, self.limits, self.names))
        split.set("alias", exp.to_identifier(self.part_column, quoted=True))
        source = query.args["from_"].this
        from_item = table.from_clause([exp.to_identifier(name, quoted=True) for name in table.column_types or ()])
        from_item.set("alias", exp.TableAlias(this=exp.to_identifier("source_rows")))
        source.replace(from_item)
        return query

    def _name_columns(self, query: exp.Select, table: SourceTable) -> None:
        """Replace the columns of the file by the source's in place; remove those not given."""
        for column in list(query.find_all(exp.Column)):
            if isinstance(column.this, exp.Star) or column.table != "source_rows":
                continue
            column_name = self.columns.get(column.name)
            if column_name is not None:
                column.set("this", exp.to_identifier(table.find_column(column_name), quoted=True))
            elif isinstance(column.parent, exp.Ordered):
                column.parent.pop()
            else:
                column.pop()


_SINGULAR = {"are": "is", "need": "needs"}


def _refuse_options(request: SplitRequest, names: Sequence[str], reason: str) -> None:
    options = [f"{name}=" for name in names if getattr(request, name) is not None and getattr(request, name) is not False]
    if options:
        verb, _, rest = reason.partition(" ")
        raise MetricError(f"{join_words(options)} {_SINGULAR[verb] if len(options) == 1 else verb} {rest}")
