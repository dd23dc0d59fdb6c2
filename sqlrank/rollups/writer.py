"""Insert rows into a rollup's table in one transaction: new days and groups, batches and retractions, or replaced days."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import key_equalities
from sqlrank.compiler.statement import BUCKET_COLUMN, CompiledStatement
from sqlrank.engines.duckdb_session import claim_during, explain_duckdb_error
from sqlrank.engines.identifiers import parse_table_name
from sqlrank.errors import ExecutionError, InputError, MetricError, first_line, short_repr
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.output.table_writes import output_identifier
from sqlrank.rollups.schema import BATCH_COLUMN, DAY_COLUMN, DEFINITION_COLUMN, describe_group, merge_class, select_row_keys
from sqlrank.sql_ast import is_null, quoted_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from sqlrank.resolve import ResolvedRequest


@dataclass(frozen=True)
class Batch:
    """A named batch of rows; ``is_retraction`` marks retractions.

    ``where`` is a SQL condition on the rows to read, in addition to ``where``.
    """

    name: str
    is_retraction: bool = False
    where: str | None = None

    @classmethod
    def from_arguments(
        cls, name: str | None, *, is_retraction: bool = False, batch_where: str | None = None, overwrite_by: str | None = None
    ) -> Batch | None:
        """Return the batch of a call, or None; raise ``MetricError`` for conflicting options."""
        if name is None:
            if is_retraction or batch_where is not None:
                what = "retract=" if is_retraction else "batch_where="
                raise MetricError(
                    f"{what} needs batch=, a name for these rows, such as '2026-03-05-corrections', so that none is added twice"
                )
            return None
        if not isinstance(name, str) or not name.strip():
            raise MetricError(f"batch={short_repr(name)} is no name. Give one such as '2026-03-05-corrections'")
        if is_retraction and overwrite_by is not None:
            raise MetricError("retract= subtracts rows from sums that stay, and overwrite_by= deletes these. Leave one of them out")
        return cls(name, bool(is_retraction), batch_where)

    def restrict(self, request: ResolvedRequest, dialect: str) -> ResolvedRequest:
        """Return the request restricted to the rows of the batch; raise ``InputError`` for an invalid condition."""
        if self.where is None:
            return request
        where = request.where
        parse_condition(self.where, dialect, "batch_where")
        both = self.where if where is None else f"({where}\n) AND ({self.where}\n)"
        return replace(request, where=both)

    def add_batch_column(self, statement: CompiledStatement) -> CompiledStatement:
        """Add the batch column to a rollup's statement, and negate its sums for retractions."""
        tree: Any = statement.tree.copy()
        if self.is_retraction:
            for select_item, output in zip(tree.selects, statement.outputs, strict=True):
                if output.kind == "value" and merge_class(output.name) is exp.Sum:
                    # Subtract from zero: a negated zero would be shown as -0.
                    select_item.set("this", exp.Sub(this=exp.Literal.number(0), expression=exp.paren(select_item.this)))
        tree.select(exp.alias_(exp.Literal.string(self.name), BATCH_COLUMN), copy=False)
        return CompiledStatement(tree, [*statement.outputs, OutputColumn(BATCH_COLUMN, BATCH_COLUMN, "id")], statement.header)

    def insert_once(self, stored: CompiledStatement) -> CompiledStatement:
        """Return the INSERT statement with a condition: the table has no rows of this batch.

        It may therefore run again.
        """
        return _if_none(stored, exp.EQ(this=exp.column(BATCH_COLUMN), expression=exp.Literal.string(self.name)))


def add_new(stored: CompiledStatement) -> CompiledStatement:
    """Return the INSERT statement restricted to days and groups that the table does not have.

    It may therefore run again.
    """
    outputs = zip(stored.tree.expression.selects, stored.outputs, strict=True)
    keys = [output_identifier(select_item) for select_item, output in outputs if output.kind == "by"]
    if not keys:
        return _if_none(stored, None)
    target = stored.tree.this.this.copy()
    existing = exp.select(*(exp.column(name.copy()) for name in keys), "1 AS is_there").distinct().from_(target).subquery("there")
    pairs = ((exp.column(name.copy(), table=side) for side in ("added", "there")) for name in keys)
    is_same_group = exp.and_(*(exp.paren(exp.NullSafeEQ(this=new_key, expression=existing_key)) for new_key, existing_key in pairs))
    is_new = is_null(exp.column("is_there", table="there"))
    return _with_rows(stored, lambda query: query.join(existing, on=is_same_group, join_type="left").where(is_new))


def _if_none(stored: CompiledStatement, condition: exp.Expr | None) -> CompiledStatement:
    """Return the INSERT statement restricted to tables without matching rows, or without any rows."""
    existing_rows = exp.select(exp.alias_(exp.Count(this=exp.Star()), "rows_there")).from_(stored.tree.this.this.copy())
    existing_rows = existing_rows if condition is None else existing_rows.where(condition)
    # Filter on a joined row, so that no engine pushes the condition below the aggregate.
    is_new = exp.EQ(this=exp.column("rows_there", table="there"), expression=exp.Literal.number(0))
    return _with_rows(stored, lambda query: query.join(existing_rows.subquery("there"), join_type="cross").where(is_new))


def _with_rows(stored: CompiledStatement, choose: Callable[[exp.Select], exp.Select]) -> CompiledStatement:
    """Return the INSERT statement with its rows, under the alias ``added``, filtered by ``choose``."""
    tree = stored.tree.copy()
    rows: Any = tree.expression
    ctes = rows.args.pop("with_", None)
    columns = [exp.column(output_identifier(select_item).copy(), table="added") for select_item in rows.selects]
    query = choose(exp.select(*columns).from_(rows.subquery("added")))
    query.set("with_", ctes)
    tree.set("expression", query)
    return replace(stored, tree=tree)


STAGING_VIEW = "sqlrank_new_rollup"
"""Name of the temporary view of the rows to insert."""

INSERT_LOCK = threading.Lock()
"""Lock that serializes inserts of threads, so that each sees the rows committed before.

DuckDB's lock on the file excludes other processes.
"""


def insert_rollup(rows: pa.Table, connection: Any, insert: str, overwrite_by: str | None) -> None:
    """Insert rows into a table, created if missing, in one transaction.

    Rows with the same values of the column ``overwrite_by`` are deleted first.

    Raises:
        InputError: the table has other columns, rows of another definition, or of the same batch or days.
        ExecutionError: DuckDB cannot write the table, for instance because another process has the file open.
    """
    is_path = not isinstance(connection, duckdb.DuckDBPyConnection)
    target = parse_table_name("insert", insert, "duckdb")
    try:
        with INSERT_LOCK:
            duck = duckdb.connect(str(connection)) if is_path else connection
            try:
                duck.register(STAGING_VIEW, rows)
                with claim_during(duck), _open_transaction(duck):
                    _stage_rows(duck, target, insert, rows, overwrite_by)
            finally:
                if is_path:
                    duck.close()
                else:
                    duck.unregister(STAGING_VIEW)
    except duckdb.TransactionException as error:
        raise ExecutionError(
            f"insert: nothing was added to {insert}: rows were added to it by a transaction that is not committed, or that this one does not see yet. "
            f"Roll back what this connection has begun, and insert again ({first_line(error)})"
        ) from error
    except duckdb.Error as error:
        raise ExecutionError(f"insert: nothing was added to {insert}: {explain_duckdb_error(error)}") from error


@contextmanager
def _open_transaction(duck: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run a block atomically, within the caller's transaction if there is one.

    Two statements outside of a transaction have different transaction ids.
    """
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


def _stage_rows(duck: duckdb.DuckDBPyConnection, target: exp.Table, table_name: str, rows: pa.Table, overwrite_by: str | None) -> None:
    staging_view = exp.to_table(STAGING_VIEW)
    create_statement = exp.Create(this=target, kind="TABLE", exists=True, expression=exp.select("*").from_(staging_view).limit(0))
    duck.execute(create_statement.sql("duckdb"))
    existing_columns = [name for name, *_ in duck.execute(exp.select("*").from_(target).limit(0).sql("duckdb")).description or ()]
    if BATCH_COLUMN in existing_columns and BATCH_COLUMN not in rows.column_names:
        raise InputError(f"insert: {table_name} has batches. Name that of these rows, such as batch='2026-03-05'")
    if sorted(existing_columns) != sorted(rows.column_names):
        raise InputError(
            f"insert: {table_name} has the columns {', '.join(existing_columns)}, and these rows {', '.join(rows.column_names)}: a rollup of other metrics. "
            "Insert into another table"
        )
    _conflict_with_inserts(duck, target)
    if overwrite_by is not None:
        is_replaced = exp.Exists(
            this=exp.select("1")
            .from_(exp.alias_(staging_view, "n", table=True))
            .where(*key_equalities([overwrite_by], "n", target.name, nullable=True))
        )
        duck.execute(exp.Delete(this=target, where=exp.Where(this=is_replaced)).sql("duckdb"))
    (definition,) = {*rows[DEFINITION_COLUMN].to_pylist()} or {""}
    other_definitions = (
        exp.select(DEFINITION_COLUMN)
        .from_(target)
        .where(exp.NEQ(this=exp.column(DEFINITION_COLUMN), expression=exp.Literal.string(definition)))
    )
    if rows.num_rows and (conflict := duck.execute(other_definitions.limit(1).sql("duckdb")).fetchone()):
        raise InputError(
            f"insert: {table_name} holds rows of the definition {conflict[0]}, and these are of {definition}: other metrics, columns, weights, conditions or bins, "
            "which cannot be added up. Insert into another table, or rebuild all days"
        )
    if overwrite_by is None:
        (_check_batch if BATCH_COLUMN in rows.column_names else _check_groups)(duck, target, table_name, rows)
    names = [exp.to_identifier(name, quoted=True) for name in rows.column_names]
    duck.execute(exp.insert(exp.select(*(exp.column(name) for name in names)).from_(staging_view), target, columns=names).sql("duckdb"))


def _conflict_with_inserts(duck: duckdb.DuckDBPyConnection, target: exp.Table) -> None:
    """Rewrite the catalog entry of a table unchanged, so that DuckDB detects concurrent inserts.

    Of two transactions that do so DuckDB aborts one; it does not detect two plain inserts.
    """
    names = [identifier.name for identifier in (target.args.get("catalog"), target.args.get("db")) if identifier is not None]
    names = names or [row[0] for row in duck.execute("SELECT CURRENT_DATABASE()").fetchall()]
    other_databases = duck.execute("SELECT database_name FROM duckdb_databases() WHERE type <> 'duckdb'").fetchall()
    if not {name for (name,) in other_databases} & set(names):
        unchanged = exp.AlterColumn(this=quoted_column(DEFINITION_COLUMN), drop=True)
        duck.execute(exp.Alter(this=target.copy(), kind="TABLE", actions=[unchanged]).sql("duckdb"))


def _check_groups(duck: duckdb.DuckDBPyConnection, target: exp.Table, table_name: str, rows: pa.Table) -> None:
    """Raise ``InputError`` for days and groups that the table already has: they would count twice."""
    keys = [name for name in select_row_keys(rows.column_names) if name.lower() != BUCKET_COLUMN]
    if not rows.num_rows:
        return
    is_new = exp.Exists(
        this=exp.select("1").from_(exp.to_table(STAGING_VIEW).as_("n")).where(*key_equalities(keys, "n", "t", nullable=True))
    )
    query = exp.select(*(quoted_column(name, "t") for name in keys), "1").from_(exp.alias_(target.copy(), "t", table=True)).where(is_new)
    query = query.order_by(*(quoted_column(name, "t") for name in keys)) if keys else query
    if duplicate := duck.execute(query.limit(1).sql("duckdb")).fetchone():
        column = next((name for name in keys if name.lower() == DAY_COLUMN), keys[0] if keys else None)
        advice = f"overwrite_by={column!r} replaces them" if column else "delete those first"
        raise InputError(
            f"insert: {table_name} has rows of {describe_group(keys, duplicate)} already, which would count twice. Nothing was added: {advice}, and a name in batch=, "
            "given from the first insert on, lets others be added to them"
        )


def _check_batch(duck: duckdb.DuckDBPyConnection, target: exp.Table, table_name: str, rows: pa.Table) -> None:
    """Raise ``InputError`` for a batch that the table already has: its rows would count twice."""
    names = [exp.Literal.string(name) for name in rows[BATCH_COLUMN].unique().to_pylist()]
    if not names:
        return
    existing = exp.select(BATCH_COLUMN).from_(target).where(exp.In(this=exp.column(BATCH_COLUMN), expressions=names)).limit(1)
    if duplicate := duck.execute(existing.sql("duckdb")).fetchone():
        raise InputError(
            f"insert: {table_name} has rows of the batch {duplicate[0]!r} already, which would count twice. Nothing was added: name another batch if "
            "these rows are others, or delete those first"
        )
