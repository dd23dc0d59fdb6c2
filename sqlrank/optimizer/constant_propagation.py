"""Constant propagation: columns of a CTE that are constants, or equal another column of it, are replaced where they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.constant_folding import as_literal, fold_constants
from sqlrank.optimizer.statement_graph import is_constant
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

    from sqlrank.optimizer.statement_graph import Scope, StatementGraph, StatementStep

    Replacements = dict[str, Expr]


def propagate_constants(graph: StatementGraph) -> None:
    """Replace columns of CTEs that are constants, or copies of other columns, where they are read, and fold what follows.

    The columns themselves are left to projection pruning. sqlglot's ``simplify`` propagates constants within one condition only.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(propagate_constants, "WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * y * z AS n FROM a")
    'WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * x AS n FROM a'
    """
    replacements: dict[str, Replacements] = {}
    for step in graph.steps:
        for scope in step.scopes:
            if any(replacements.get(source.name) for source in scope.sources.values()) and scope.is_plain:
                _replace_columns(scope, replacements)
        if step.cte is not None:
            replacements[step.name] = _find_replacements(step)


def _find_replacements(step: StatementStep) -> Replacements:
    """Return the constants among the columns of a CTE, and the first of several equal columns, by column."""
    branches = [[item.unalias() for item in scope.select.expressions] for scope in step.scopes]
    names = step.column_names
    if any(len(branch) != len(names) for branch in branches) or any(item.is_star for item in branches[0]):
        return {}
    replacements: Replacements = {}
    first_by_value: dict[object, int] = {}
    for index, name in enumerate(names):
        values = [branch[index] for branch in branches]
        if is_constant(values[0]) and all(value == values[0] for value in values[1:]):
            replacements[name] = values[0]
            continue
        if values[0].find(exp.Rand) is not None:
            continue
        first = first_by_value.setdefault(_key(values[0]), index)
        if first != index and all(branch[first] == branch[index] for branch in branches):
            identifier = _name(step.scopes[0].select.expressions[first])
            replacements[name] = exp.Column(this=identifier)
    return replacements


def _key(value: Expr) -> object:
    """Return a key that equal expressions share; columns are told apart without a walk through their trees."""
    return (value.table, value.name) if isinstance(value, exp.Column) else value


def _name(item: Expr) -> exp.Identifier:
    identifier: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return identifier


def _replace_columns(scope: Scope, replacements: dict[str, Replacements]) -> None:
    """Replace the columns of a SELECT, unless a constant would become a key."""
    columns: list[tuple[exp.Column, str, Expr]] = []
    for column in scope.columns:
        alias = scope.owner(column)
        value = None if alias is None else replacements.get(scope.sources[alias].name, {}).get(column.name)
        if alias is not None and value is not None:
            columns.append((column, alias, value))
    keys = {(alias, column.name) for column, alias, _ in columns if _is_key(column)}
    changed = False
    for column, alias, value in columns:
        if isinstance(value, exp.Column):
            copy = value.copy()
            if column.table or len(scope.sources) > 1:  # another source may have a column of the first one's name
                copy.set("table", exp.to_identifier(alias))
            scope.substitute(column, copy)
        elif (alias, column.name) not in keys and not scope.is_nullable(alias):
            scope.substitute(column, as_literal(value))
            changed = True
    if changed:
        fold_constants(scope.select)
        scope.mark_changed()
    if columns:
        _drop_repeated_keys(scope)


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is in GROUP BY or the condition of a join, or a term of ORDER BY or PARTITION BY.

    Arithmetic of constants in GROUP BY would be folded to an integer, which is a position there.
    """
    if isinstance(column.parent, exp.Ordered) or column.arg_key == "partition_by":
        return True
    return column.find_ancestor(exp.Join, exp.Group) is not None


def _drop_repeated_keys(scope: Scope) -> None:
    """Drop terms of GROUP BY, PARTITION BY and ORDER BY that stand there twice."""
    for node in find_nodes(scope.select, exp.Group, exp.Window, exp.Order):
        key = "partition_by" if isinstance(node, exp.Window) else "expressions"
        terms = node.args.get(key) or []
        if len(terms) > 1 and len(unique := list(dict.fromkeys(terms))) < len(terms):
            node.set(key, unique)
