"""A condition on the rows of a state, which are chosen by what tells them apart and by nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import InputError, suggestion
from sqlrank.inputs.where import read_condition
from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Table


def condition(where: str, table: Table, keys: Sequence[str] | None, dialect: str, argument: str = "where") -> exp.Expr:
    """Return a condition over columns of a state, which are any where these are not known.

    Raises:
        InputError: the text is no condition, or a column does not tell rows of the state apart.
    """
    tree = read_condition(where, dialect, argument)
    for column in nodes(tree, exp.Column):
        theirs = table.column(column.name)
        if column.table or (keys is not None and theirs not in keys):
            raise InputError(
                f"{argument}: {column.sql()} is no column that rows of the state are told apart by{suggestion(column.name, keys or ())} "
                f"There are: {', '.join(keys or ())}; a condition on others is one on the rows that the state is made of"
            )
        column.set("this", exp.to_identifier(theirs, quoted=True))
    return tree


def kept_conditions(where: str | None, by: Sequence[str], expressions: Mapping[str, str], dialect: str) -> list[str]:
    """Return the parts of a condition, joined by AND, that say which rows of a group are read; the others choose whole groups, such as a day."""
    if where is None:
        return []
    tree = read_condition(where, dialect)
    groups = [sqlglot.parse_one(text, read=dialect_of(dialect).writer) for text in expressions.values()]
    names = {name.lower() for name in by if name not in expressions}

    def hidden(node: exp.Expr) -> exp.Expr:
        is_key = isinstance(node, exp.Column) and node.name.lower() in names
        return exp.Null() if is_key or node in groups else node

    parts = tree.flatten() if isinstance(tree, exp.And) else [tree]
    return sorted(part.sql("duckdb") for part in parts if part.copy().transform(hidden).find(exp.Column) is not None)
