"""Rows of a state added to a table of DuckDB, in the place of those of the same days."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank.engines.names import table_of
from sqlrank.errors import ExecutionError, InputError
from sqlrank.states.made import BATCH, DEFINITION

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

NEW = "sqlrank_new_state"
"""The name under which rows are known to the connection until they are stored."""


def keep(rows: pa.Table, connection: Any, insert: str, replace: str | None) -> None:
    """Add rows to a table, made if it is not there, in one transaction; those of the same values in ``replace`` are deleted before.

    Raises:
        InputError: the table has other columns, or rows of another definition.
        ExecutionError: DuckDB cannot write it, such as a file that somebody else has open.
    """
    is_path = not isinstance(connection, duckdb.DuckDBPyConnection)
    target = table_of("insert", insert, "duckdb")
    try:
        duck = duckdb.connect(str(connection)) if is_path else connection
        try:
            duck.register(NEW, rows)
            with _transaction(duck):
                _keep(duck, target, insert, rows, replace)
        finally:
            if is_path:
                duck.close()
            else:
                duck.unregister(NEW)
    except duckdb.Error as error:
        raise ExecutionError(f"insert: nothing was added to {insert}: {str(error).strip().splitlines()[0]}") from error


@contextmanager
def _transaction(duck: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Do all or nothing, within the transaction of the caller's if there is one: two statements outside of any have one each."""
    has_one = len({duck.execute("SELECT TXID_CURRENT()").fetchone() for _ in range(2)}) == 1
    if has_one:
        yield
        return
    duck.begin()
    try:
        yield
    except BaseException:
        duck.rollback()
        raise
    duck.commit()


def _keep(duck: duckdb.DuckDBPyConnection, target: exp.Table, shown: str, rows: pa.Table, replace: str | None) -> None:
    new = exp.to_table(NEW)
    made = exp.Create(this=target, kind="TABLE", exists=True, expression=exp.select("*").from_(new).limit(0))
    duck.execute(made.sql("duckdb"))
    there = [name for name, *_ in duck.execute(exp.select("*").from_(target).limit(0).sql("duckdb")).description or ()]
    if BATCH in there and BATCH not in rows.column_names:
        raise InputError(f"insert: {shown} tells batches apart; name that of these rows, such as batch='2026-03-05' (--batch)")
    if sorted(there) != sorted(rows.column_names):
        raise InputError(
            f"insert: {shown} has the columns {', '.join(there)}, and these rows {', '.join(rows.column_names)}: a state of other metrics; "
            "insert into another table"
        )
    if replace is not None:
        column = exp.column(exp.to_identifier(replace, quoted=True), table="n")
        same = exp.NullSafeEQ(this=column, expression=exp.column(exp.to_identifier(replace, quoted=True), table=target.name))
        found = exp.Exists(this=exp.select("1").from_(exp.alias_(new, "n", table=True)).where(same))
        duck.execute(exp.Delete(this=target, where=exp.Where(this=found)).sql("duckdb"))
    elif BATCH in rows.column_names:
        _check_batch(duck, target, shown, rows)
    (definition,) = {*rows[DEFINITION].to_pylist()} or {""}
    other = exp.select(DEFINITION).from_(target).where(exp.NEQ(this=exp.column(DEFINITION), expression=exp.Literal.string(definition)))
    if rows.num_rows and (held := duck.execute(other.limit(1).sql("duckdb")).fetchone()):
        raise InputError(
            f"insert: {shown} holds rows of the definition {held[0]}, and these are of {definition}: other metrics, columns, conditions or bins, "
            "which cannot be added up; insert into another table, or make all days anew"
        )
    names = [exp.to_identifier(name, quoted=True) for name in rows.column_names]
    duck.execute(exp.insert(exp.select(*(exp.column(name) for name in names)).from_(new), target, columns=names).sql("duckdb"))


def _check_batch(duck: duckdb.DuckDBPyConnection, target: exp.Table, shown: str, rows: pa.Table) -> None:
    """Raise ``InputError`` for a batch that the table has already: added again its rows would count twice, and no sum shows that."""
    names = [exp.Literal.string(name) for name in rows[BATCH].unique().to_pylist()]
    if not names:
        return
    there = exp.select(BATCH).from_(target).where(exp.In(this=exp.column(BATCH), expressions=names)).limit(1)
    if held := duck.execute(there.sql("duckdb")).fetchone():
        raise InputError(
            f"insert: {shown} has rows of the batch {held[0]!r} already, which would count twice; nothing was added: name another batch if "
            "these rows are others, or delete those first"
        )
