"""Rows of a state added to a table of DuckDB, in the place of those of the same days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank.engines.names import table_of
from sqlrank.errors import InputError
from sqlrank.states.made import DEFINITION

if TYPE_CHECKING:
    import pyarrow as pa

NEW = "sqlrank_new_state"
"""The name under which rows are known to the connection until they are stored."""


def keep(rows: pa.Table, connection: Any, insert: str, replace: str | None) -> None:
    """Add rows to a table, made if it is not there, in one transaction; those of the same values in ``replace`` are deleted before.

    Raises:
        InputError: the table has other columns, or rows of another definition.
    """
    is_path = not isinstance(connection, duckdb.DuckDBPyConnection)
    duck = duckdb.connect(str(connection)) if is_path else connection
    try:
        duck.register(NEW, rows)
        duck.execute("BEGIN")
        try:
            _keep(duck, table_of("insert", insert, "duckdb"), insert, rows, replace)
        except BaseException:
            duck.execute("ROLLBACK")
            raise
        duck.execute("COMMIT")
    finally:
        if is_path:
            duck.close()
        else:
            duck.unregister(NEW)


def _keep(duck: duckdb.DuckDBPyConnection, target: exp.Table, shown: str, rows: pa.Table, replace: str | None) -> None:
    new = exp.to_table(NEW)
    made = exp.Create(this=target, kind="TABLE", exists=True, expression=exp.select("*").from_(new).limit(0))
    duck.execute(made.sql("duckdb"))
    there = [name for name, *_ in duck.execute(exp.select("*").from_(target).limit(0).sql("duckdb")).description or ()]
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
    (definition,) = {*rows[DEFINITION].to_pylist()} or {""}
    other = exp.select(DEFINITION).from_(target).where(exp.NEQ(this=exp.column(DEFINITION), expression=exp.Literal.string(definition)))
    if rows.num_rows and (held := duck.execute(other.limit(1).sql("duckdb")).fetchone()):
        raise InputError(
            f"insert: {shown} holds rows of the definition {held[0]}, and these are of {definition}: other metrics, columns, conditions or bins, "
            "which cannot be added up; insert into another table, or make all days anew"
        )
    names = [exp.to_identifier(name, quoted=True) for name in rows.column_names]
    duck.execute(exp.insert(exp.select(*(exp.column(name) for name in names)).from_(new), target, columns=names).sql("duckdb"))
