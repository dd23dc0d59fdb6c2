"""The public functions that split rows: by a table of them, or as a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Several, leaves
from sqlrank.engines import remote
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.files import is_meant
from sqlrank.engines.looking import done_on, looked_at
from sqlrank.engines.render import render
from sqlrank.errors import InputError, MetricError
from sqlrank.inputs.several import find
from sqlrank.results.store import store
from sqlrank.splits.splitting import Splitting
from sqlrank.statement.statement import Output, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.engines.database import Database, Table

ROLE = "source"


@public
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
    bounds: Any = None,
    rolling: bool = False,
    last: int | None = None,
    item: str | None = None,
    user: str | None = None,
    cold: str = "keep",
    seen: str = "keep",
    into: str | None = None,
    connection: Any = None,
    dialect: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
) -> pa.Table:
    """Put the rows of a table into parts, such as train and test, or the arms of an experiment; the same on every engine.

    - By a key: ``key="user_id", salt="checkout", shares={"train": 0.8, "test": 0.2}``, or ``folds=10``. All rows of a key are in one part, which
      it keeps as rows come, since the part follows from a digest of salt and key alone. Another salt splits independently.
    - ``exact=True``: parts of exactly these shares, of each ``stratum`` if it is given; they change as rows come.
    - By time: ``time="day", bounds=["2026-03-01"]``, or at shares of the rows, ``time="day", shares={...}``.
    - ``rolling=True``: fold j trains on what is before bound j and tests up to the next; a row for each fold that a row is in.
    - The last of a key: ``key="user_id", time="day", last=1``; keys with no more rows than that are train.

    Args:
        source: a table, file or data as for :func:`sqlrank.evaluate`.
        key: the column that is split by: whole numbers or texts, without NULL.
        salt: what the split is for; the same salt and key give the same part everywhere.
        shares: the parts with their shares, which add up to 1; of ``time`` and ``bounds`` their names.
        folds: how many equal parts, numbered from 0.
        exact: whether parts have exactly their shares.
        stratum: the column within which they do.
        time: the column of the time of a row.
        bounds: times at which a part ends and the next begins: texts, numbers, dates or times.
        rolling: whether each bound begins a fold of its own.
        last: how many of the last rows of a key are test.
        item: the column of items, by which rows of one time are ordered, the greatest last.
        user: the column of users, for ``cold`` and ``seen``; ``key`` unless given.
        cold: what becomes of rows beside the first part whose user or item is not in it: ``"keep"``, ``"drop_users"``, ``"drop_items"``,
            or ``"drop"`` for either.
        seen: what becomes of rows beside the first part whose user has the same item in it: ``"keep"`` or ``"drop"``.
        into: the name of the new column, ``split``, or ``fold`` for ``folds``.
        connection: as for :func:`sqlrank.evaluate`.
        dialect: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.

    Returns:
        All rows but those that were dropped, with the new column (string, int64 for folds; ``rolling`` adds ``fold``), ordered by their
        columns. The schema's metadata: ``sqlrank.dropped``, how many rows ``cold`` and ``seen`` left out, and ``sqlrank.sql``.

    Raises:
        MetricError: a split that is not possible.
        InputError: a column that is not there, a key that is NULL or a double, or a source that cannot be read.
        ExecutionError: time or memory ran out, or a database refused the statement.

    >>> import pyarrow as pa
    >>> users = pa.table({"user_id": [1, 2, 3, 42]})
    >>> split(users, key="user_id", salt="checkout", shares={"control": 0.5, "treatment": 0.5})["split"].to_pylist()
    ['control', 'treatment', 'treatment', 'treatment']
    """
    splitting = Splitting.of(locals())
    source = Several.of(ROLE, source)
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    spoken = remote.spoken_by(connection, dialect)
    return done_on(connection, spoken, limits, lambda database: _rows(splitting, database, source))


@public
def split_sql(
    source: Any,
    *,
    key: str | None = None,
    salt: str | None = None,
    shares: Mapping[str, float] | None = None,
    folds: int | None = None,
    exact: bool = False,
    stratum: str | None = None,
    time: str | None = None,
    bounds: Any = None,
    rolling: bool = False,
    last: int | None = None,
    item: str | None = None,
    user: str | None = None,
    cold: str = "keep",
    seen: str = "keep",
    into: str | None = None,
    connection: Any = None,
    dialect: str | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
) -> str:
    """Return the statement of :func:`split` in the SQL of an engine; ``create_table`` and ``create_view`` store its rows.

    Raises:
        MetricError: a split that is not possible, or that the dialect cannot express.
        InputError: as :func:`split`.

    >>> print(split_sql("users", key="user_id", salt="ab", folds=2, dialect="bigquery").splitlines()[-1])
    FROM users AS g
    """
    splitting = Splitting.of(locals())
    source = Several.of(ROLE, source)
    spoken = remote.spoken_by(connection, dialect) if connection is not None else dialect or "duckdb"
    if spoken == "sqlite" and connection is None and "salt" in splitting.values:
        raise MetricError("SQLite has no MD5; split through connection=, or give it a function md5")
    dialect_of(spoken)
    with looked_at(connection, spoken, any(map(is_meant, leaves(source)))) as database:
        table = find(database, ROLE, source)
        splitting.check(table)
        statement = store(_statement(splitting, table), spoken, create_table, create_view, None, [table.written])
        return render(statement.tree, statement.stamp, spoken, database.keeps)


def _rows(splitting: Splitting, database: Database, source: Any) -> pa.Table:
    table = find(database, ROLE, source)
    splitting.check(table)
    _check_keys(splitting, database, table)
    query = splitting.query(table)
    names = [*(table.types or ()), *splitting.made]
    ordered = (
        exp.select("*")
        .from_(query.subquery("split_rows"))
        .order_by(*(exp.Ordered(this=exp.column(name, quoted=True), nulls_first=True) for name in names))
    )
    result = database.table(database.text(ordered))
    dropped = 0
    if splitting.keeping.joins:
        ((count,),) = database.rows(exp.select(exp.Count(this=exp.Star())).from_(splitting.all_rows(table).subquery("split_rows")))
        dropped = int(count) - result.num_rows
    said = {"version": __version__, "dropped": str(dropped), "sql": database.text(query)}
    return result.replace_schema_metadata({f"sqlrank.{name}": value for name, value in said.items()})


def _check_keys(splitting: Splitting, database: Database, table: Table) -> None:
    """Refuse rows that have no key or no time, which would all be put into the last part."""
    for what in ("key", "time"):
        if what in splitting.columns:
            column = exp.column(str(table.column(splitting.columns[what])), quoted=True)
            (count,) = database.rows(
                exp.select(exp.Count(this=exp.Star())).from_(table.item()).where(exp.Is(this=column, expression=exp.Null()))
            )[0]
            if count:
                raise InputError(
                    f"{table.shown}: {splitting.columns[what]} is NULL in {count:,} rows; leave them out, or give them a value"
                )


def _statement(splitting: Splitting, table: Table) -> Statement:
    query = splitting.query(table)
    outputs = [Output(item.output_name, item.output_name, "row") for item in query.selects]
    return Statement(query, outputs, f"sqlrank {__version__}: split by {' and '.join(splitting.columns.values())}")
