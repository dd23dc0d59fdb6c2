"""Build the query of a table function: the statement of metrics with their parameters and a group for each row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.output.table_writes import without_order
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines.symbolic_statement import source_table
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlrank.routines.symbolic_statement import SymbolicStatement

GROUP_PARAMETER = "by"
"""Parameter of a table function: an expression over a row of the evaluated input, whose values are groups."""

CTE_PREFIX = "sqlrank_"
"""Prefix of the steps of a table function, so that none has the name of a table that is passed to it."""


def build_table_query(
    symbolic: SymbolicStatement,
    dialect: str,
    read_source: Callable[[str], exp.Select],
    parameter: Callable[[str], exp.Expr],
    taken_names: Collection[str] = (),
) -> exp.Select:
    """Return the query of a table function.

    Args:
        symbolic: The compiled statement.
        dialect: SQL dialect.
        read_source: Returns the query that reads the table that is passed for a role, with the column of the group if the role has it.
        parameter: Returns the reference to a parameter.
        taken_names: Names that mean a parameter wherever a column is read.
    """
    tree: Any = rewrite_for_dialect(without_order(symbolic.statement), dialect, symbolic.statement.header.title)
    outputs = zip(symbolic.statement.outputs, symbolic.columns, strict=True)
    renamed = {output.alias: name for output, name in outputs if output.kind == "metric"}
    _rename_columns(tree, renamed | {name: f"{name}_" for name in taken_names})
    tree.set("expressions", [exp.alias_(item.unalias(), name) for item, name in zip(tree.selects, symbolic.columns, strict=True)])
    tables = {source_table(role): role for role in symbolic.read_columns}
    _prefix_ctes(tree, tables.keys())
    without_source = re.compile(rf" \((?:{'|'.join(map(re.escape, tables))})\)$")
    for select in find_nodes(tree, exp.Select):  # which table is read is up to the call
        select.comments = [without_source.sub("", comment) for comment in select.comments or ()] or None
    for node in find_nodes(tree, exp.Parameter):
        node.replace(parameter(node.name))
    is_repeated = False if get_dialect(dialect).computes_ctes_once else None
    sources = [
        exp.CTE(this=read_source(role), alias=exp.TableAlias(this=exp.to_identifier(CTE_PREFIX + table)), materialized=is_repeated)
        for table, role in tables.items()
    ]
    with_clause = tree.args["with_"]
    with_clause.set("expressions", [*sources, *with_clause.expressions])
    return tree  # type: ignore[no-any-return]


def _rename_columns(tree: exp.Select, renamed: Mapping[str, str]) -> None:
    """Rename columns in place: those of metrics as in the result, and those that have the name of a parameter, which would be read instead."""
    aliases = [node.args["alias"] for node in find_nodes(tree, exp.Alias)]
    for identifier in [*(column.this for column in find_nodes(tree, exp.Column)), *aliases]:
        if isinstance(identifier, exp.Identifier) and identifier.name in renamed:
            identifier.set("this", renamed[identifier.name])


def _prefix_ctes(tree: exp.Select, tables: Collection[str]) -> None:
    """Prefix the names of steps, and of the tables that they read, in place."""
    names = {*tables, *(cte.alias for cte in find_nodes(tree, exp.CTE))}
    tables_read = [table.this for table in find_nodes(tree, exp.Table) if not table.db]
    aliases = [alias.this for alias in find_nodes(tree, exp.TableAlias)]
    qualifiers = [column.args["table"] for column in find_nodes(tree, exp.Column) if column.args.get("table")]
    for identifier in [*tables_read, *aliases, *qualifiers]:
        if isinstance(identifier, exp.Identifier) and identifier.name in names:
            identifier.set("this", CTE_PREFIX + identifier.name)
