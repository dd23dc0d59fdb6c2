"""Filters: a condition in SQL, such as ``day = '2026-01-01'``, taken apart into what the rows of each input must fulfil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.harmless import refuse_others
from sqlrank.engines.names import quote_columns
from sqlrank.errors import InputError, suggestion
from sqlrank.statement.keys import QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.input import Input

_REFUSED = (exp.Alias, exp.AggFunc, exp.Query, exp.Star, exp.Window)


def keep(where: str | None, inputs: Mapping[str, Input], labelled: bool, dialect: str) -> None:
    """Read only the rows of inputs that fulfil a condition.

    Conditions joined by AND may be on different inputs, each on one. A column is that of the input named before a dot
    (``run.day``), or of the only one that has it. ``labelled`` says that run and judgments are read off the predictions.

    Raises:
        InputError: the text is not one condition over columns, or it cannot be told on which input.
    """
    if where is None:
        return
    roles = {"predictions": ["predictions", "run", "qrels"]} if labelled else {}
    roles |= {role: [role] for role in inputs if not labelled or role not in {"run", "qrels", "predictions"}}
    found = {role: inputs[names[0]] for role, names in roles.items()}
    tree = read_condition(where, dialect)
    looks = all(item.table.types is not None for item in found.values())
    if looks and (parameter := tree.find(exp.Placeholder, exp.Parameter)):
        raise InputError(f"where: {parameter.sql('duckdb')} has no value; write the value itself")
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        owners = {_owner(column, found) for column in part.find_all(exp.Column)}
        if len(owners) != 1:
            problem = f"compares columns of {' and '.join(sorted(owners))}" if owners else "names no column"
            raise InputError(f"where: {part.sql(dialect_of(dialect).writer)} {problem}; a condition is on the rows of one input")
        quote_columns(part, dialect)
        for role in roles[owners.pop()]:
            inputs[role].keep(part.copy())


def keep_query(query: Any, inputs: Mapping[str, Input]) -> None:
    """Read only the rows of one query, whose id is compared as text."""
    for item in inputs.values():
        name = item.role.list_column or QUERY
        if name in item.names:
            theirs = item.given(name) if item.type_of(name) == "VARCHAR" else exp.cast(item.given(name), "TEXT")
            item.keep(exp.EQ(this=theirs, expression=exp.Literal.string(str(query))))


def read_condition(where: str, dialect: str, argument: str = "where") -> exp.Expr:
    """Return the one condition that a text is, which was given as an argument of this name."""
    try:
        trees: list[Any] = sqlglot.parse(where, read=dialect_of(dialect).writer) if isinstance(where, str) else []
    except SqlglotError:
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], (exp.Condition, exp.Paren)) or trees[0].find(*_REFUSED):
        raise InputError(f"{argument}={where!r} is not one condition over columns in the SQL of {dialect}, such as day = '2026-01-01'")
    for node in trees[0].walk():
        node.pop_comments()
    refuse_others(trees[0], argument)
    tree: exp.Expr = trees[0].unnest()
    return tree


def _owner(column: exp.Column, inputs: Mapping[str, Input]) -> str:
    """Return the input that a column is of, and name the column as the input does, in place."""
    name, role = column.name, column.table.lower()
    if role and (role not in inputs or column.db):
        raise InputError(f"where: {column.sql()!r} is of no input; before the dot stands one of: {', '.join(inputs)}")
    column.set("table", None)
    candidates = {role: inputs[role]} if role else dict(inputs)
    if any(item.table.types is None for item in candidates.values()):
        if len(candidates) > 1:
            raise InputError(f"where: of which input is {name!r}? Write {' or '.join(f'{role}.{name}' for role in inputs)}")
        return next(iter(candidates))
    holders = {role: theirs for role, item in candidates.items() if (theirs := item.table.column(name)) is not None}
    if len(holders) > 1:
        each = " AND ".join(f"{role}.{name} ..." for role in holders)
        raise InputError(f"where: {' and '.join(holders)} have a column {name!r}; say which is meant, or both: {each}")
    if not holders:
        there = [theirs for item in candidates.values() for theirs in item.table.types or ()]
        raise InputError(
            f"where: {role or 'the input'} has no column {name!r}{suggestion(name, there)} There are: {', '.join(dict.fromkeys(there))}"
        )
    ((role, theirs),) = holders.items()
    column.set("this", exp.to_identifier(theirs, quoted=True))
    return role
