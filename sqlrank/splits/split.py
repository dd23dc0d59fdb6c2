"""Split rows into parts by hash, shares or time, without leakage, as a table or a statement: the
public functions ``split`` and ``split_sql``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import describe_sources, select_arguments, setting_text, write_command
from sqlrank.call.sources import SourceGroup
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.engines.database import resolve_source
from sqlrank.engines.open_database import ExecutionOptions, open_for_inspection
from sqlrank.engines.remote_database import printed_dialect
from sqlrank.errors import (
    InputError,
    MetricError,
    join_words,
    short_repr,
    suggest_choice,
    to_sentence,
)
from sqlrank.output.table_writes import wrap_for_storage
from sqlrank.registry.query_templates import describe_rows, load_select
from sqlrank.rendering.dialects import DEFAULT_DIALECT, get_dialect
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.sql_ast import (
    bind_placeholders,
    count_rows,
    find_nodes,
    first_select,
    is_null,
    sql_literal,
    take_first,
    unique_name,
    unqualified_tables,
)

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.engines.database import Database
    from sqlrank.engines.source_tables import SourceTable
    from sqlrank.option_types import DialectName


@dataclass(frozen=True)
class SplitRequest:
    """Hold the arguments of :func:`sqlrank.split` and :func:`sqlrank.split_sql` that define the
    parts.
    """

    key: str | None
    salt: str | None
    shares: Mapping[str, float] | None
    folds: int | None
    exact: bool
    stratum: str | None
    time: str | None
    time_bounds: Any
    expanding: bool
    leave_last: int | None
    item: str | None
    user: str | None
    cold_start: str
    seen_pairs: str
    column: str | None


SPLIT_ROWS, UNSORTED_ROWS, FOLDS = "split_rows", "unsorted_rows", "folds"


@dataclass(frozen=True)
class LeakageFilter:
    """A leakage filter: the joins of ``sql/analyses/splits/without_leakage.sql`` that it needs, and
    its user and item columns.
    """

    joins: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_request(cls, request: SplitRequest) -> LeakageFilter:
        """Parse the filter options; raise ``MetricError`` for invalid ones or a missing column."""
        joins = (
            *(("training_users",) if request.cold_start in {"drop_users", "drop"} else ()),
            *(("training_items",) if request.cold_start in {"drop_items", "drop"} else ()),
            *(("training_pairs",) if request.seen_pairs == "drop" else ()),
        )
        if not joins:
            if request.user is not None:
                raise MetricError(
                    "user= is for cold_start= and seen_pairs=. The column to split by is key="
                )
            return cls()
        if request.folds is not None:
            raise MetricError(
                "cold_start= and seen_pairs= need a training part, which folds do not have. Give"
                " shares= or time_bounds="
            )
        columns = {"user_id": request.user or request.key, "item_id": request.item}
        columns_by_join = {
            "training_users": ("user_id",),
            "training_items": ("item_id",),
            "training_pairs": ("user_id", "item_id"),
        }
        needed_columns = {column for join in joins for column in columns_by_join[join]}
        for column, option in (("user_id", "user"), ("item_id", "item")):
            if column in needed_columns and columns[column] is None:
                raise MetricError(
                    f"cold_start= and seen_pairs= need {option}=, the column of {option}s"
                )
        return cls(
            joins,
            {
                column: column_name
                for column, column_name in columns.items()
                if column_name is not None and column in needed_columns
            },
        )

    def build_query(
        self,
        rows: exp.Query,
        table: SourceTable,
        training_part: str,
        part_column: str,
        has_folds: bool,
    ) -> exp.Query:
        """Return the filtered rows; ``training_part`` names the first part, ``part_column`` the
        column of parts.
        """
        if not self.joins:
            return rows
        query = bind_placeholders(
            load_select("analyses/splits", "without_leakage.sql"), first=training_part
        )
        query.set(
            "joins", [join for join in query.args["joins"] if join.alias_or_name in self.joins]
        )
        where = query.args["where"].this
        conditions = [
            conjunct
            for conjunct in where.expression.unnest().flatten()
            if _find_alias(conjunct) in self.joins
        ]
        query.set(
            "where",
            exp.Where(this=exp.or_(where.this, exp.and_(*conditions, wrap=False), copy=False)),
        )
        for select in find_nodes(query, exp.Select):
            select.comments = [
                describe_rows(comment, keys={"fold": ["fold"] if has_folds else []})
                for comment in select.comments or []
            ]
        names = {
            name: str(table.find_column(column_name) or column_name)
            for name, column_name in self.columns.items()
        } | {"split": part_column}
        for column in list(find_nodes(query, exp.Column)):
            if column.name == "fold" and not has_folds and column.root() is query:
                _leave_out(column)
            elif column.name in names:
                column.set("this", exp.to_identifier(names[column.name], quoted=True))
        first_select(rows).comments = [f"One row per row of the source, with its {part_column}."]
        _add_step(query, SPLIT_ROWS, rows)
        return query


def _add_step(query: exp.Select, name: str, rows: exp.Query, taken: Collection[str] = ()) -> None:
    """Add the rows that a query reads by a name to it as a step, after the steps that they have, in
    place; the step has another name if the rows read a table of this name, or if it is taken.
    """
    step = unique_name(name, {*unqualified_tables(rows), *taken})
    for table in find_nodes(query, exp.Table) if step != name else ():
        if table.name == name and not table.alias:
            table.replace(exp.to_table(step, alias=name))
    steps = rows.args.get("with_")
    rows.set("with_", None)
    query.with_(step, as_=rows, copy=False)
    if steps is not None:
        query.args["with_"].expressions[:0] = steps.expressions


def _find_alias(condition: exp.Expr) -> str:
    """Return the table alias that a condition refers to."""
    column = condition.find(exp.Column)
    return column.table if column is not None else ""


def _leave_out(column: exp.Column) -> None:
    """Remove a missing column from the SELECT, GROUP BY and join conditions."""
    user = column.parent
    if isinstance(user, exp.EQ) and isinstance(user.parent, exp.And):
        user.parent.replace(user.parent.expression)
    else:
        (user if isinstance(user, exp.Alias) else column).pop()


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
    names, example = (
        ("parts", {"train": 0.8, "test": 0.2})
        if argument == "shares"
        else ("variants", {"control": 0.5, "treatment": 0.5})
    )
    expected = f"give {names} with their shares, which add up to 1, such as {argument}={example}"
    if (
        not isinstance(shares, Mapping)
        or not 1 < len(shares) <= MAX_SPLITS
        or not all(isinstance(name, str) and name for name in shares)
    ):
        raise MetricError(f"{argument}={short_repr(shares)} is not possible: {expected}")
    try:
        fractions = {name: Fraction(str(share)) for name, share in shares.items()}
        total = float(sum(fractions.values(), Fraction(0)))
    except (ValueError, ArithmeticError):
        raise MetricError(f"{argument}={short_repr(shares)} is not possible: {expected}") from None
    # What is lost by writing shares as decimals
    if min(fractions.values()) <= 0 or abs(total - 1) > 1e-9:  # noqa: PLR2004
        raise MetricError(
            f"{argument}={short_repr(shares)} is not possible: each must be above 0 and their sum"
            f" 1, which is {total:g}. {to_sentence(expected)}"
        )
    return fractions


def equal_shares(folds: int) -> dict[int, Fraction]:
    """Return folds of equal shares, numbered from 0."""
    return {fold: Fraction(1, folds) for fold in range(folds)}


def cumulative_shares(shares: Sequence[Fraction]) -> list[Fraction]:
    """Return the cumulative shares at which all parts but the last end."""
    return [sum(shares[: index + 1], Fraction(0)) for index in range(len(shares) - 1)]


def hash_threshold(end: Fraction) -> str:
    """Return the smallest hash value at or above a share of all hash values.

    >>> hash_threshold(Fraction(1, 2)), hash_threshold(Fraction(4, 5)), hash_threshold(
    ...     Fraction(9, 10)
    ... )
    ('80000000', 'cccccccd', 'e6666667')
    """
    return f"{min(math.ceil(end * HASH_RANGE), HASH_RANGE - 1):08x}"


def parse_time_bounds(bounds: Any) -> list[exp.Expr]:
    """Parse time bounds as literals: texts, numbers, dates or times, in ascending order."""
    values = bounds if isinstance(bounds, (list, tuple)) else [bounds]
    types = {type(value) for value in values}
    is_possible = (
        len(types) == 1
        and not types & {bool}
        and all(isinstance(value, (str, int, float, dt.date)) for value in values)
    )
    if not is_possible or any(earlier >= later for earlier, later in pairwise(values)):
        raise MetricError(
            f"time_bounds={short_repr(bounds)} is not possible: give times in ascending order, such"
            " as ['2026-03-01']"
        )
    return [_build_literal(value) for value in values]


def _build_literal(value: Any) -> exp.Expr:
    if isinstance(value, dt.datetime):
        return exp.cast(
            sql_literal(value.isoformat(" ")),
            "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ",
        )
    if isinstance(value, dt.date):
        return exp.cast(sql_literal(value.isoformat()), "DATE")
    literal: exp.Expr = exp.convert(value)
    return literal


def part_case(value: exp.Expr, limits: Sequence[exp.Expr], names: Sequence[str | int]) -> exp.Case:
    """Return a CASE with the first part whose limit exceeds a value.

    Values at or above all limits are in the last part.
    """
    ifs = [
        exp.If(this=value < limit, true=exp.convert(name))
        for limit, name in zip(limits, names, strict=False)
    ]
    return exp.Case(ifs=ifs, default=exp.convert(names[-1]))


FOLD_PART = "fold"
INEXACT_TYPES = ("DOUBLE", "FLOAT", "DECIMAL", "REAL")
"""Types whose text representation differs between engines."""


@dataclass(frozen=True)
class SplitPlan:
    """A parsed split: its file of ``sql/analyses/splits``, source columns by name, and names and
    limits of parts.
    """

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
            (
                cls._by_ticket(request)
                if request.time is None
                else cls._by_time(request, request.time)
            ),
            leakage_filter=leakage_filter,
        )

    @classmethod
    def _by_ticket(cls, request: SplitRequest) -> SplitPlan:
        _refuse_options(
            request, ("time_bounds", "expanding", "item"), "need time=, the time column"
        )
        if request.key is None:
            raise MetricError(
                "give key='user_id', the column to split by, or time= with time_bounds= or shares="
            )
        salt = request.salt
        if not salt or not any(letter.isalpha() for letter in salt):
            problem = (
                "name the purpose of the split"
                if salt is None
                else f"salt={salt!r} is not possible: give a name with a letter"
            )
            raise MetricError(f"{problem}, such as salt='checkout'. One salt splits one way")
        if (request.shares is None) is (request.folds is None):
            raise MetricError("give shares={'train': 0.8, 'test': 0.2} or folds=10")
        shares: dict[Any, Any] = (
            parse_shares(request.shares) if request.folds is None else equal_shares(request.folds)
        )
        part_column = request.column or ("split" if request.folds is None else FOLD_PART)
        columns, values = {"key": request.key}, {"salt": sql_literal(f"{salt}:")}
        cumulative = cumulative_shares(list(shares.values()))
        if not request.exact:
            _refuse_options(request, ("stratum",), "need exact=True")
            return cls(
                "hash",
                columns,
                list(shares),
                [sql_literal(hash_threshold(end)) for end in cumulative],
                values,
                part_column,
            )
        if request.stratum is not None:
            columns["stratum"] = request.stratum
        return cls(
            "exact",
            columns,
            list(shares),
            [exp.convert(float(end)) for end in cumulative],
            values,
            part_column,
        )

    @classmethod
    def _by_time(cls, request: SplitRequest, time: str) -> SplitPlan:
        if request.key is not None:
            filters = (
                " with cold_start= or seen_pairs="
                if {request.cold_start, request.seen_pairs} == {"keep"}
                else ""
            )
            raise MetricError(
                "key= is not for a split by time alone. Leave it out, or name users as"
                f" user={request.key!r}{filters}, or give leave_last=1 in place of shares for the"
                " last rows of each key"
            )
        _refuse_options(
            request,
            ("salt", "folds", "exact", "stratum", "item"),
            "are not for a split by time alone",
        )
        columns, part_column = {"time": time}, request.column or "split"
        if request.time_bounds is None:
            _refuse_options(request, ("expanding",), "need time_bounds=")
            shares = parse_shares(request.shares)
            # A row is in a part if the cumulative share of rows is at or below the part's end.
            limits = [
                exp.convert(float(end) + 1e-12) for end in cumulative_shares(list(shares.values()))
            ]
            return cls("time_share", columns, list(shares), limits, {}, part_column)
        bounds = parse_time_bounds(request.time_bounds)
        if request.expanding:
            _refuse_options(request, ("shares",), "are not for expanding=True")
            train, test = map(exp.Literal.string, TRAIN_AND_TEST)
            values = {"first": train, "second": test}
            return cls("expanding", columns, TRAIN_AND_TEST, bounds, values, part_column)
        names = list(request.shares or TRAIN_AND_TEST)
        if len(names) != len(bounds) + 1:
            raise MetricError(
                f"{len(bounds)} time bounds make {len(bounds) + 1} parts. Name as many,"
                " shares={'train': ..., 'test': ...}"
            )
        return cls("time", columns, names, bounds, {}, part_column)

    @classmethod
    def _leave_last(cls, request: SplitRequest) -> SplitPlan:
        _refuse_options(
            request,
            ("salt", "folds", "exact", "stratum", "shares", "time_bounds", "expanding"),
            "are not for leave_last=",
        )
        if request.key is None or request.time is None:
            raise MetricError(
                "leave_last= needs key= and time=, the column by which the rows of a key are"
                " ordered"
            )
        columns = {"key": request.key, "time": request.time} | (
            {} if request.item is None else {"item": request.item}
        )
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
                raise InputError(
                    suggest_choice(
                        f"{table.label} has no column {name!r}",
                        name,
                        table.column_types,
                        "There are",
                    )
                )
        for name in self.new_columns:
            if table.find_column(name) is not None:
                raise InputError(
                    f"{table.label} has a column {name!r} already. Give the new one another name"
                    " with column="
                )
        key = self.columns.get("key")
        key_type = (
            table.column_types[str(table.find_column(key))].upper()
            if key is not None and "salt" in self.values
            else ""
        )
        if key_type.startswith(INEXACT_TYPES):
            raise InputError(
                f"{key} is {key_type}, whose text differs between engines. Cast it to an integer or"
                " text"
            )

    def build_query(self, table: SourceTable) -> exp.Query:
        """Return the filtered rows of a table with the new columns."""
        return self.leakage_filter.build_query(
            self.all_rows(table),
            table,
            str(self.names[0]),
            self.part_column,
            self.kind == "expanding",
        )

    def all_rows(self, table: SourceTable) -> exp.Select:
        """Return all rows of a table with the new columns."""
        query = bind_placeholders(load_select("analyses/splits", f"{self.kind}.sql"), **self.values)
        from_item = table.from_clause(
            [exp.to_identifier(name, quoted=True) for name in table.types]
        )
        if self.kind == "expanding":
            self._number_bounds(query)
            _add_step(query, FOLDS, self._list_folds(), unqualified_tables(from_item))
        self._name_columns(query, table)
        split = query.selects[-1]
        if self.limits and self.kind != "expanding":
            split.set("this", part_case(split.this, self.limits, self.names))
        split.set("alias", exp.to_identifier(self.part_column, quoted=True))
        source = query.args["from_"].this
        from_item.set("alias", exp.TableAlias(this=exp.to_identifier("source_rows")))
        source.replace(from_item)
        return query

    def _number_bounds(self, query: exp.Select) -> None:
        """Replace the times of the file by how many bounds are not later, in place."""
        numbers = range(len(self.limits) + 1)
        for time in [column for column in find_nodes(query, exp.Column) if column.name == "time"]:
            time.replace(part_case(time.copy(), self.limits, numbers))

    def _list_folds(self) -> exp.Select:
        """Return the step of folds, which all read the source at once: each on its own would find
        other rows in a random one.
        """
        folds = load_select("analyses/splits", "folds.sql")
        folds.comments = ["One row per fold."]
        return bind_placeholders(folds, last_fold=exp.convert(len(self.limits) - 1))

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
    options = [
        f"{name}="
        for name in names
        if getattr(request, name) is not None and getattr(request, name) is not False
    ]
    if options:
        verb, _, rest = reason.partition(" ")
        raise MetricError(
            f"{join_words(options)} {_SINGULAR[verb] if len(options) == 1 else verb} {rest}"
        )


SPLIT_ROLE = "source"


@entry_point
def split(
    source: Any,
    *,
    key: str | None = None,
    salt: str | None = None,
    shares: Mapping[str, float] | None = None,
    folds: int | None = None,
    exact: bool = False,
    stratum: str | None = None,
    time: str | None = None,
    time_bounds: Any = None,
    expanding: bool = False,
    leave_last: int | None = None,
    item: str | None = None,
    user: str | None = None,
    cold_start: str = "keep",
    seen_pairs: str = "keep",
    column: str | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
) -> pa.Table:
    """Split the rows of a table into parts, such as train and test, deterministically.

    The parts are the same on every engine; they may also be arms of an experiment.

    - By key: ``key="user_id", salt="checkout", shares={"train": 0.8, "test": 0.2}``, or
      ``folds=10``. All rows of a key are in one part. It stays the same when rows are added, since
      it depends only on a hash of salt and key. Splits with different salts are independent.
    - ``exact=True``: exact shares of the distinct keys, within each ``stratum`` if given; parts
      change when rows are added.
    - By time: ``time="day", time_bounds=["2026-03-01"]``, or at shares of the rows, ``time="day",
      shares={...}``.
    - ``expanding=True``: fold j trains on rows before bound j and tests on rows up to the next
      bound. A row is repeated for each of its folds.
    - Leave the last rows of a key out: ``key="user_id", time="day", leave_last=1``; keys with no
      more rows than that are train.

    Args:
        source: a table, file or data as for :func:`sqlrank.evaluate`.
        key: the key column to split by: integers or texts, without NULL.
        salt: the purpose of the split; the same salt and key give the same part everywhere.
        shares: the parts with their shares, which add up to 1; with ``time`` and ``time_bounds``
            only their names matter.
        folds: number of equal parts, numbered from 0.
        exact: True for exact shares of the distinct keys, regardless of their numbers of rows.
        stratum: the column within which shares are exact; all rows of a key are in one stratum.
        time: the time column.
        time_bounds: times at which a part ends and the next begins: texts, numbers, dates or times.
        expanding: True for one fold per bound.
        leave_last: maximum number of last rows per key that are test. Rows of equal time and item
            are train unless all of them are among the last.
        item: the item column, which breaks ties of equal time, the greatest last.
        user: the user column for ``cold_start`` and ``seen_pairs``; ``key`` by default.
        cold_start: cold-start rows, whose user or item is not in the first part: ``"keep"``,
            ``"drop_users"``, ``"drop_items"``, or ``"drop"`` for either. Applies to rows outside
            the first part.
        seen_pairs: rows whose user and item are a pair in the first part: ``"keep"`` or ``"drop"``.
            Applies to rows outside the first part.
        column: name of the new column; ``split``, or ``fold`` for ``folds``, by default.
        connection: as for :func:`sqlrank.evaluate`.
        dialect: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.

    Returns:
        All rows that were not dropped, with the new column (string, int64 for folds; ``expanding``
        adds ``fold``), sorted by all columns. The schema's metadata: ``sqlrank.dropped``, the
        number of rows that ``cold_start`` and ``seen_pairs`` dropped, and ``sqlrank.sql``.

    Raises:
        MetricError: an invalid combination or value of options.
        InputError: a missing column, a key that is NULL or a double, or a source that cannot be
            read.
        ExecutionError: time or memory ran out, or a database refused the statement.

    >>> import pyarrow as pa, sqlrank
    >>> users = pa.table({"user_id": [1, 2, 3, 42]})
    >>> shares = {"control": 0.5, "treatment": 0.5}
    >>> parts = sqlrank.split(users, key="user_id", salt="checkout", shares=shares)
    >>> sqlrank.show(parts)
    user_id  split
          1  control
          2  treatment
          3  treatment
         42  treatment
    """
    arguments = locals()
    request = select_arguments(SplitRequest, arguments)
    plan = SplitPlan.from_request(request)
    source = SourceGroup.wrap(SPLIT_ROLE, source)
    return ExecutionOptions.from_arguments(arguments).run(
        lambda database: _select_rows(plan, database, source)
    )


@entry_point
def split_sql(  # noqa: D417  split describes the other arguments
    source: Any,
    *,
    key: str | None = None,
    salt: str | None = None,
    shares: Mapping[str, float] | None = None,
    folds: int | None = None,
    exact: bool = False,
    stratum: str | None = None,
    time: str | None = None,
    time_bounds: Any = None,
    expanding: bool = False,
    leave_last: int | None = None,
    item: str | None = None,
    user: str | None = None,
    cold_start: str = "keep",
    seen_pairs: str = "keep",
    column: str | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
) -> str:
    """Return the statement of :func:`split` in the SQL of an engine.

    Arguments that are not listed are those of :func:`split`.

    Args:
        source: name of the table to split.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else
            DuckDB's.
        create_table: name of a table to create from the rows.
        create_view: name of a view to create instead.

    Returns:
        The statement.

    Raises:
        MetricError: an invalid split, or one that the dialect cannot express.
        InputError: as :func:`split`.

    >>> import sqlrank
    >>> statement = sqlrank.split_sql(
    ...     "users", key="user_id", salt="ab", folds=2, dialect="bigquery"
    ... )
    >>> print(statement.splitlines()[-1])
    FROM users AS source_rows
    """
    arguments = locals()
    request = select_arguments(SplitRequest, arguments)
    plan = SplitPlan.from_request(request)
    source = SourceGroup.wrap(SPLIT_ROLE, source)
    resolved_dialect = printed_dialect(connection, dialect)
    if (
        connection is None
        and not get_dialect(resolved_dialect).supports_md5
        and "salt" in plan.values
    ):
        raise MetricError(
            f"{resolved_dialect} has no MD5. Split through connection=, or give it a function md5"
        )
    with open_for_inspection(connection, resolved_dialect, [source]) as database:
        table = resolve_source(database, SPLIT_ROLE, source).with_all_columns()
        plan.check(table)
        options = {
            "connection": connection,
            "create_table": create_table,
            "create_view": create_view,
        }
        header = _build_header(plan, request, source, options, resolved_dialect)
        statement = wrap_for_storage(
            _build_statement(plan, table, header),
            resolved_dialect,
            create_table,
            create_view,
            None,
            [table.display_from_item],
        )
        return render_statement(
            statement.tree, statement.header, resolved_dialect, database.can_materialize_ctes
        )


def _select_rows(plan: SplitPlan, database: Database, source: Any) -> pa.Table:
    table = resolve_source(database, SPLIT_ROLE, source).with_all_columns()
    plan.check(table)
    _check_keys(plan, database, table)
    _check_strata(plan, database, table)
    query = plan.build_query(table)
    names = [*table.types, *plan.new_columns]
    ordered = exp.select("*").from_(UNSORTED_ROWS)
    _add_step(ordered, UNSORTED_ROWS, query.copy())
    ordered.order_by(
        *(exp.Ordered(this=exp.column(name, quoted=True), nulls_first=True) for name in names),
        copy=False,
    )
    result = database.fetch_arrow(database.render(ordered))
    dropped = 0
    if plan.leakage_filter.joins:
        counted = exp.select(count_rows()).from_(SPLIT_ROWS)
        _add_step(counted, SPLIT_ROWS, plan.all_rows(table))
        ((count,),) = database.query_rows(counted)
        dropped = int(count) - result.num_rows
    if not dropped:
        _check_exact_shares(plan, table, result)
    metadata = {"version": __version__, "dropped": str(dropped), "sql": database.render(query)}
    return result.replace_schema_metadata(
        {f"sqlrank.{name}": value for name, value in metadata.items()}
    )


def _check_keys(plan: SplitPlan, database: Database, table: SourceTable) -> None:
    """Raise ``InputError`` for NULL keys or times, which would all fall into the last part."""
    for what in ("key", "time"):
        if what in plan.columns:
            column = exp.column(str(table.find_column(plan.columns[what])), quoted=True)
            (count,) = database.query_rows(
                exp.select(count_rows()).from_(table.from_clause()).where(is_null(column))
            )[0]
            if count:
                raise InputError(
                    f"{table.label}: {plan.columns[what]} is NULL in {count:,} rows. Leave them"
                    " out, or give them a value"
                )


def _check_strata(plan: SplitPlan, database: Database, table: SourceTable) -> None:
    """Raise ``InputError`` for a key with rows in two strata: its parts could differ."""
    if "stratum" not in plan.columns:
        return
    key, stratum = (
        exp.column(str(table.find_column(plan.columns[name])), quoted=True)
        for name in ("key", "stratum")
    )
    minimum, maximum = exp.Min(this=stratum), exp.Max(this=stratum)
    count, total = exp.Count(this=stratum), count_rows()
    differs = exp.or_(
        minimum.neq(maximum),
        exp.and_(
            count > 0,
            count < total,
        ),
    )
    conflicting_keys = database.query_rows(
        take_first(exp.select(key).from_(table.from_clause()).group_by(key).having(differs))
    )
    if conflicting_keys:
        names = {name: plan.columns[name] for name in ("key", "stratum")}
        raise InputError(
            f"{table.label}: {names['key']} {conflicting_keys[0][0]!r} has rows of several"
            f" {names['stratum']}, and would be in several parts. Give each {names['key']} one"
            f" {names['stratum']}, or leave out stratum="
        )


def _check_exact_shares(plan: SplitPlan, table: SourceTable, result: pa.Table) -> None:
    """Raise ``InputError`` for a part without rows of an exact split: strata have too few keys."""
    if plan.kind != "exact":
        return
    keys = result[str(table.find_column(plan.columns["key"]))]
    if len(keys.unique()) < len(plan.names):
        return
    values = result[plan.part_column].unique().to_pylist()
    if missing := [repr(name) for name in plan.names if name not in values]:
        key, stratum = plan.columns["key"], plan.columns.get("stratum")
        advice = (
            "Give larger shares"
            if stratum is None
            else f"Give strata of more keys, such as classes of {stratum}, or leave out stratum="
        )
        within = "" if stratum is None else f" of one {stratum}"
        raise InputError(
            f"{table.label}: {join_words(missing)} would have no rows: there are too few"
            f" {key}{within} for these shares. {advice}"
        )


def _build_header(
    plan: SplitPlan, request: SplitRequest, source: Any, options: Mapping[str, Any], dialect: str
) -> StatementHeader:
    """Return the header of a split's statement."""
    arguments = {
        name: value for name, value in asdict(request).items() if value not in (None, False, "keep")
    }
    arguments["shares"] = request.shares
    settings = [setting_text(name, value) for name, value in arguments.items() if value is not None]
    further = {**options, "sql": True, "dialect": None if dialect == DEFAULT_DIALECT else dialect}
    command = (
        write_command(["split", source], arguments | further) if isinstance(source, str) else None
    )
    title = f"split by {join_words(plan.columns.values())}"
    row = "one row per input row" + (" and fold" if request.expanding else "")
    return StatementHeader(
        title, row, tuple(describe_sources({SPLIT_ROLE: source})), tuple(settings), command=command
    )


def _build_statement(
    plan: SplitPlan, table: SourceTable, header: StatementHeader
) -> CompiledStatement:
    query = plan.build_query(table)
    outputs = [
        OutputColumn(select_item.output_name, select_item.output_name, "row")
        for select_item in query.selects
    ]
    return CompiledStatement(query, outputs, header)
