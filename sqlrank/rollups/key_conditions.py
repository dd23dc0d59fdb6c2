"""Parse conditions on the key columns of a rollup, and find the conditions that are part of its definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from sqlrank.errors import InputError, join_sentences, suggest_choice
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import SourceTable


def parse_key_condition(
    where: str, table: SourceTable, keys: Sequence[str] | None, dialect: str, argument: str = "where"
) -> exp.Expression:
    """Parse a condition over key columns of a rollup; any column is valid if the keys are unknown.

    Raises:
        InputError: the text is not a condition, or a column is not a key column.
    """
    tree = parse_condition(where, dialect, argument)
    for column in find_nodes(tree, exp.Column):
        column_name = table.find_column(column.name)
        if column.table or (keys is not None and column_name not in keys):
            raise InputError(
                join_sentences(
                    suggest_choice(f"{argument}: {column.sql()} is no key column of the rollup", column.name, keys or (), "There are"),
                    "Filter by other columns when the rollup is built",
                )
            )
        column.set("this", exp.to_identifier(column_name, quoted=True))
    return tree


def definition_conditions(where: str | None, by: Sequence[str], expressions: Mapping[str, str], dialect: str) -> list[str]:
    """Return the AND-ed terms of a condition that filter rows within groups, as sorted SQL.

    Terms over group keys alone, such as a day, select whole groups and are left out.
    """
    if where is None:
        return []
    tree = parse_condition(where, dialect).this.tree
    groups = [sqlglot.parse_one(text, read=get_dialect(dialect).sqlglot_name) for text in expressions.values()]
    names = {name.lower() for name in by if name not in expressions}

    def hide_group_keys(node: exp.Expr) -> exp.Expr:
        is_key = isinstance(node, exp.Column) and node.name.lower() in names
        return exp.Null() if is_key or node in groups else node

    conjuncts = tree.flatten() if isinstance(tree, exp.And) else [tree]
    return sorted(
        conjunct.sql("duckdb") for conjunct in conjuncts if conjunct.copy().transform(hide_group_keys).find(exp.Column) is not None
    )
