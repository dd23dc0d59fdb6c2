"""Split rows into parts, as an Arrow table or as a SQL statement: the public functions ``split`` and ``split_sql``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.call_descriptions import describe_sources, setting_text, write_command
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.open_database import open_for_inspection, run_on_database
from sqlrank.engines.query_sources import reads_files
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import InputError, MetricError, join_words
from sqlrank.inputs.source_union import resolve_source
from sqlrank.output.table_writes import wrap_for_storage
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.header import StatementHeader
from sqlrank.rendering.renderer import render_statement
from sqlrank.request import DEFAULT_DIALECT, SourceGroup, leaf_sources
from sqlrank.splits.split_plan import SplitPlan
from sqlrank.splits.split_request import SplitRequest
from sqlrank.sql_ast import is_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.engines.database import Database, SourceTable

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
    dialect: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
) -> pa.Table:
    """Split the rows of a table into parts, such as train and test, deterministically.

    The parts are the same on every engine; they may also be arms of an experiment.

    - By key: ``key="user_id", salt="checkout", shares={"train": 0.8, "test": 0.2}``, or ``folds=10``. All rows of a key are in one part. It
      stays the same when rows are added, since it depends only on a hash of salt and key. Splits with different salts are independent.
    - ``exact=True``: exact shares of the distinct keys, within each ``stratum`` if given; parts change when rows are added.
    - By time: ``time="day", time_bounds=["2026-03-01"]``, or at shares of the rows, ``time="day", shares={...}``.
    - ``expanding=True``: fold j trains on rows before bound j and tests on rows up to the next bound. A row is repeated for each of its folds.
    - Leave the last rows of a key out: ``key="user_id", time="day", leave_last=1``; keys with no more rows than that are train.

    Args:
        source: a table, file or data as for :func:`sqlrank.evaluate`.
        key: the key column to split by: integers or texts, without NULL.
        salt: the purpose of the split; the same salt and key give the same part everywhere.
        shares: the parts with their shares, which add up to 1; with ``time`` and ``time_bounds`` only their names matter.
        folds: number of equal parts, numbered from 0.
        exact: True for exact shares of the distinct keys, regardless of their numbers of rows.
        stratum: the column within which shares are exact; all rows of a key are in one stratum.
        time: the time column.
        time_bounds: times at which a part ends and the next begins: texts, numbers, dates or times.
        expanding: True for one fold per bound.
        leave_last: maximum number of last rows per key that are test. Rows of equal time and item are train unless all of them are among the
            last.
        item: the item column, which breaks ties of equal time, the greatest last.
        user: the user column for ``cold_start`` and ``seen_pairs``; ``key`` by default.
        cold_start: cold-start rows, whose user or item is not in the first part: ``"keep"``, ``"drop_users"``, ``"drop_items"``, or ``"drop"``
            for either. Applies to rows outside the first part.
        seen_pairs: rows whose user and item are a pair in the first part: ``"keep"`` or ``"drop"``. Applies to rows outside the first part.
        column: name of the new column; ``split``, or ``fold`` for ``folds``, by default.
        connection: as for :func:`sqlrank.evaluate`.
        dialect: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.

    Returns:
        All rows that were not dropped, with the new column (string, int64 for folds; ``expanding`` adds ``fold``), sorted by all columns. The
        schema's metadata: ``sqlrank.dropped``, the number of rows that ``cold_start`` and ``seen_pairs`` dropped, and ``sqlrank.sql``.

    Raises:
        MetricError: an invalid combination or value of options.
        InputError: a missing column, a key that is NULL or a double, or a source that cannot be read.
        ExecutionError: time or memory ran out, or a database refused the statement.

    >>> import pyarrow as pa
    >>> users = pa.table({"user_id": [1, 2, 3, 42]})
    >>> split(users, key="user_id", salt="checkout", shares={"control": 0.5, "treatment": 0.5})["split"].to_pylist()
    ['control', 'treatment', 'treatment', 'treatment']
    """
    request = SplitRequest(
        key=key,
        salt=salt,
        shares=shares,
        folds=folds,
        exact=exact,
        stratum=stratum,
        time=time,
        time_bounds=time_bounds,
        expanding=expanding,
        leave_last=leave_last,
        item=item,
        user=user,
        cold_start=cold_start,
        seen_pairs=seen_pairs,
        column=column,
    )
    plan = SplitPlan.from_request(request)
    source = SourceGroup.wrap(SPLIT_ROLE, source)
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    resolved_dialect = infer_dialect(connection, dialect)
    return run_on_database(connection, resolved_dialect, limits, lambda database: _select_rows(plan, database, source))


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
    dialect: str | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
) -> str:
    """Return the statement of :func:`split` in the SQL of an engine.

    Arguments that are not listed are those of :func:`split`.

    Args:
        source: name of the table to split.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else DuckDB's.
        create_table: name of a table to create from the rows.
        create_view: name of a view to create instead.

    Returns:
        The statement.

    Raises:
        MetricError: an invalid split, or one that the dialect cannot express.
        InputError: as :func:`split`.

    >>> print(split_sql("users", key="user_id", salt="ab", folds=2, dialect="bigquery").splitlines()[-1])
    FROM users AS source_rows
    """
    request = SplitRequest(
        key=key,
        salt=salt,
        shares=shares,
        folds=folds,
        exact=exact,
        stratum=stratum,
        time=time,
        time_bounds=time_bounds,
        expanding=expanding,
        leave_last=leave_last,
        item=item,
        user=user,
        cold_start=cold_start,
        seen_pairs=seen_pairs,
        column=column,
    )
    plan = SplitPlan.from_request(request)
    source = SourceGroup.wrap(SPLIT_ROLE, source)
    resolved_dialect = infer_dialect(connection, dialect) if connection is not None else dialect or "duckdb"
    if connection is None and not get_dialect(resolved_dialect).supports_md5 and "salt" in plan.values:
        raise MetricError(f"{resolved_dialect} has no MD5. Split through connection=, or give it a function md5")
    with open_for_inspection(connection, resolved_dialect, any(map(reads_files, leaf_sources(source)))) as database:
        table = resolve_source(database, SPLIT_ROLE, source).with_all_columns()
        plan.check(table)
        options = {"connection": connection, "create_table": create_table, "create_view": create_view}
        header = _build_header(plan, request, source, options, resolved_dialect)
        statement = wrap_for_storage(
            _build_statement(plan, table, header), resolved_dialect, create_table, create_view, None, [table.display_from_item]
        )
        return render_statement(statement.tree, statement.header, resolved_dialect, database.can_materialize_ctes)


def _select_rows(plan: SplitPlan, database: Database, source: Any) -> pa.Table:
    table = resolve_source(database, SPLIT_ROLE, source).with_all_columns()
    plan.check(table)
    _check_keys(plan, database, table)
    _check_strata(plan, database, table)
    query = plan.build_query(table)
    names = [*(table.column_types or ()), *plan.new_columns]
    ordered = (
        exp.select("*")
        .from_(query.subquery("split_rows"))
        .order_by(*(exp.Ordered(this=exp.column(name, quoted=True), nulls_first=True) for name in names))
    )
    result = database.fetch_arrow(database.render(ordered))
    dropped = 0
    if plan.leakage_filter.joins:
        ((count,),) = database.query_rows(exp.select(exp.Count(this=exp.Star())).from_(plan.all_rows(table).subquery("split_rows")))
        dropped = int(count) - result.num_rows
    metadata = {"version": __version__, "dropped": str(dropped), "sql": database.render(query)}
    return result.replace_schema_metadata({f"sqlrank.{name}": value for name, value in metadata.items()})


def _check_keys(plan: SplitPlan, database: Database, table: SourceTable) -> None:
    """Raise ``InputError`` for NULL keys or times, which would all fall into the last part."""
    for what in ("key", "time"):
        if what in plan.columns:
            column = exp.column(str(table.find_column(plan.columns[what])), quoted=True)
            (count,) = database.query_rows(exp.select(exp.Count(this=exp.Star())).from_(table.from_clause()).where(is_null(column)))[0]
            if count:
                raise InputError(f"{table.label}: {plan.columns[what]} is NULL in {count:,} rows. Leave them out, or give them a value")


def _check_strata(plan: SplitPlan, database: Database, table: SourceTable) -> None:
    """Raise ``InputError`` for a key with rows in two strata: its parts could differ."""
    if "stratum" not in plan.columns:
        return
    key, stratum = (exp.column(str(table.find_column(plan.columns[name])), quoted=True) for name in ("key", "stratum"))
    minimum, maximum = exp.Min(this=stratum), exp.Max(this=stratum.copy())
    count, total = exp.Count(this=stratum.copy()), exp.Count(this=exp.Star())
    differs = exp.or_(
        exp.NEQ(this=minimum, expression=maximum),
        exp.and_(exp.GT(this=count, expression=sql_literal(0)), exp.LT(this=count.copy(), expression=total)),
    )
    conflicting_keys = database.query_rows(exp.select(key).from_(table.from_clause()).group_by(key.copy()).having(differs).limit(1))
    if conflicting_keys:
        names = {name: plan.columns[name] for name in ("key", "stratum")}
        raise InputError(
            f"{table.label}: {names['key']} {conflicting_keys[0][0]!r} has rows of several {names['stratum']}, and would be in several parts. Give each "
            f"{names['key']} one {names['stratum']}, or leave out stratum="
        )


def _build_header(plan: SplitPlan, request: SplitRequest, source: Any, options: Mapping[str, Any], dialect: str) -> StatementHeader:
    """Return the header of a split's statement."""
    arguments = {name: value for name, value in asdict(request).items() if value not in (None, False, "keep")}
    arguments["shares"] = request.shares
    settings = [setting_text(name, value) for name, value in arguments.items() if value is not None]
    further = {**options, "sql": True, "dialect": None if dialect == DEFAULT_DIALECT else dialect}
    command = write_command(["split", source], arguments | further) if isinstance(source, str) else None
    title = f"split by {join_words(plan.columns.values())}"
    row = "one row per input row" + (" and fold" if request.expanding else "")
    return StatementHeader(title, row, tuple(describe_sources({SPLIT_ROLE: source})), tuple(settings), command=command)


def _build_statement(plan: SplitPlan, table: SourceTable, header: StatementHeader) -> CompiledStatement:
    query = plan.build_query(table)
    outputs = [OutputColumn(select_item.output_name, select_item.output_name, "row") for select_item in query.selects]
    return CompiledStatement(query, outputs, header)
