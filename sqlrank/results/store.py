"""Where a result goes: a table, a view, or more rows of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.names import table_of
from sqlrank.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.statement.statement import Statement


def store(
    statement: Statement, dialect: str, create_table: str | None, create_view: str | None, insert: str | None, read: Iterable[exp.Expr] = ()
) -> Statement:
    """Return the statement that stores the result where it is to go, if anywhere; a stored result has no order of rows.

    ``read`` are the items of FROM that the inputs are.

    Raises:
        InputError: more than one place is named, one is not the name of a table, or it is one of the inputs.
    """
    places = {"create_table": create_table, "create_view": create_view, "insert": insert}
    asked = [place for place, name in places.items() if name is not None]
    if not asked:
        return statement
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} are given; a result goes to one place")
    place = asked[0]
    engine = dialect_of(dialect)
    target = table_of(place, str(places[place]), dialect)
    if any(isinstance(table, exp.Table) and _may_be_same(target, table) for table in read):
        raise InputError(f"{place}: {places[place]} is an input, which its own result cannot replace or add to; name another table")
    query = as_stored(statement)
    tree: exp.Expr
    if place == "insert":
        columns = [exp.to_identifier(item.output_name, quoted=identifier_of(item).quoted) for item in query.selects]
        tree = exp.insert(query, target, columns=columns)
    elif place == "create_view":
        tree = exp.Create(this=target, kind="VIEW", replace=engine.replaces_view, expression=query)
    else:
        tree = exp.Create(this=target, kind="TABLE", replace=engine.replaces_table, expression=query)
        if engine.table_engine is not None:
            tree.set("properties", _made_with(engine.table_engine))
    return replace(statement, tree=tree)


def _may_be_same(target: exp.Table, other: exp.Table) -> bool:
    """Whether two names may be of one table: they agree as far as both go, whatever their case."""
    ours, theirs = ([part.name.lower() for part in reversed(table.parts)] for table in (target, other))
    return all(one == another for one, another in zip(ours, theirs, strict=False))


def as_stored(statement: Statement) -> Any:
    """Return the query without an order of its rows, and with the caller's names of the columns of groups."""
    query: Any = statement.tree.copy()
    query.set("order", None)
    taken = {item.output_name.lower() for item in query.selects}
    for position, (item, output) in enumerate(zip(query.selects, statement.outputs, strict=True)):
        if output.kind == "by" and output.alias != output.name and output.name.lower() not in taken:
            query.expressions[position] = exp.alias_(item.unalias(), output.name, quoted=output.quoted)
    return query


def identifier_of(item: exp.Expr) -> exp.Identifier:
    """Return the name of a column of a result."""
    found: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return found


def _made_with(engine: str) -> exp.Properties:
    """The engine of a table, and that its rows have no order."""
    unordered = exp.Ordered(this=exp.Anonymous(this="tuple"))
    return exp.Properties(expressions=[exp.EngineProperty(this=exp.to_identifier(engine)), exp.Order(expressions=[unordered])])
