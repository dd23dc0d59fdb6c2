"""Rows of a table that a result replaces: deleted first, so that a statement which runs again adds no day twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.names import column_named
from sqlrank.engines.render import render, write
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.library.nodes import nodes
from sqlrank.results.store import as_stored, identifier_of
from sqlrank.statement.prune import prune

if TYPE_CHECKING:
    from sqlrank.statement.statement import Statement


def replacing(statement: Statement, stored: Statement, dialect: str, column: str, insert: str | None, keeps: bool = False) -> str:
    """Return a script: the rows of the table that have a value of a column which the result has, too, are deleted, then those of the result added.

    NULL is a value like others. ``stored`` is the statement that adds them.

    Raises:
        InputError: there is no table to add rows to, or the column is none of those that tell groups apart.
        MetricError: the dialect cannot delete rows.
    """
    if insert is None:
        raise InputError("replace= says which rows of insert= are replaced; name that table, too")
    target = dialect_of(dialect)
    if not target.deletes:
        raise MetricError(f"{dialect} deletes no rows, so that none can be replaced; leave out replace, or choose create_table")
    identifier = key_of(statement, column, dialect)
    delete = exp.Delete(this=stored.tree.this.this.copy(), where=exp.Where(this=_is_written(_values(statement, identifier), identifier)))
    if target.transacts:
        begin, commit = (node.sql(target.writer) for node in (exp.Transaction(), exp.Commit()))
        parts = [begin, write(delete, dialect, pretty=True), write(stored.tree, dialect, pretty=True, keeps=keeps), commit]
        return stamped(statement.stamp) + ";\n".join(parts)
    note = f"{statement.stamp}\nof two statements, for which {dialect} has no transaction: if the second fails, run both again"
    return f"{render(delete, note, dialect)};\n{write(stored.tree, dialect, pretty=True, keeps=keeps)}"


def key_of(statement: Statement, column: str, dialect: str, argument: str = "replace") -> exp.Identifier:
    """Return the name that a column of ``by``, which was given as ``argument``, has in a stored result."""
    items = zip(as_stored(statement).selects, statement.outputs, strict=True)
    found = {output.name: identifier_of(item) for item, output in items if output.kind == "by"}
    column = column if column in found else column_named(column, dialect)
    if column not in found:
        known = f"Choose from: {', '.join(found)}" if found else "Give by, too, such as by='day'"
        raise InputError(f"{argument}={column!r} is no column of by{suggestion(column, found)} {known}")
    return found[column]


def stamped(stamp: str) -> str:
    """Return the lines of comment that a script starts with."""
    return "".join(f"-- {line}\n" for line in stamp.splitlines())


def _values(statement: Statement, identifier: exp.Identifier) -> exp.Select:
    """Return the query for the values that the result has in a column, and for nothing else: without steps, which ClickHouse finds in no DELETE."""
    query: Any = as_stored(statement)
    query.set("expressions", [item for item in query.selects if identifier_of(item) == identifier])
    prune(query, keep=())
    steps = query.args.pop("with_").expressions
    for place, step in enumerate(steps):
        for reader in [*(later.this for later in steps[place + 1 :]), query]:
            for table in nodes(reader, exp.Table):
                if table.name == step.alias and not table.db:
                    table.replace(step.this.subquery(table.alias_or_name))
    return query  # type: ignore[no-any-return]


def _is_written(values: exp.Select, identifier: exp.Identifier) -> exp.Expr:
    """Return the condition that the result has the value of a row, which stands by itself: not every engine deletes by a join."""
    column = exp.column(identifier.copy())
    is_null = exp.Is(this=column, expression=exp.Null())
    nulls = exp.select(exp.Count(this=exp.Star())).from_(values.copy().subquery("written")).where(is_null.copy())
    some = exp.GT(this=exp.Subquery(this=nulls), expression=exp.Literal.number(0))
    either = exp.In(this=column.copy(), query=exp.Subquery(this=values))
    return exp.or_(either, exp.paren(exp.and_(is_null, some), copy=False))
