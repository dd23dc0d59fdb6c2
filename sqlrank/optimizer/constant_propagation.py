"""Propagate columns of CTEs that are constants or copies to where they are read, and drop NULL columns from GROUP BY and joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.constant_folding import as_literal, fold_constants
from sqlrank.optimizer.statement_graph import is_constant, iterate_conjuncts
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def drop_null_keys(graph: StatementGraph) -> None:
    """Drop columns that are NULL in every row from GROUP BY, PARTITION BY, ORDER BY and joins, in place.

    A column that is read elsewhere stays. The columns themselves are left to column pruning.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(drop_null_keys, "WITH a AS (SELECT x, NULL AS y FROM t) SELECT x, COUNT(*) AS n FROM a GROUP BY x, y")
    'WITH a AS (SELECT x, NULL AS y FROM t) SELECT x, COUNT(*) AS n FROM a GROUP BY x'
    """
    null_columns: dict[str, set[str]] = {}
    for step in graph.steps:
        for scope in step.scopes:
            if scope.is_plain and any(null_columns.get(source.name) for source in scope.sources.values()):
                _drop_null_columns(scope, null_columns)
        branches = [scope.select.expressions for scope in step.scopes]
        if branches:
            items = zip(step.column_names, *branches, strict=False)
            null_columns[step.name] = {name for name, *items in items if all(isinstance(item.unalias(), exp.Null) for item in items)}


def _drop_null_columns(scope: Scope, null_columns: dict[str, set[str]]) -> None:
    """Drop the columns of a SELECT that are NULL in every row where they are keys, and write NULL where they are forwarded."""
    owners = [(column, scope.find_owner(column)) for column in scope.columns]
    read = [column for column, alias in owners if alias and column.name in null_columns.get(scope.sources[alias].name, ())]
    if not read or not all(_is_droppable(column, read) for column in read):
        return
    null_pairs = {id(column.parent) for column in read if isinstance(column.parent, exp.NullSafeEQ)}
    for join in scope.joins if null_pairs else ():
        conjuncts = list(iterate_conjuncts(join.args.get("on")))
        other_conjuncts = [conjunct for conjunct in conjuncts if id(conjunct.unnest()) not in null_pairs]
        if len(other_conjuncts) < len(conjuncts):
            join.set("on", exp.and_(*other_conjuncts or [exp.true()], copy=False))
    for column in read:
        if isinstance(column.parent, exp.Alias):
            column.replace(exp.null())
        elif column.parent is scope.select:
            scope.substitute(column, exp.null())
        elif isinstance(column.parent, exp.Ordered):
            column.parent.pop()
        elif not isinstance(column.parent, exp.NullSafeEQ):
            column.pop()
    scope.mark_changed()


def _is_droppable(column: exp.Column, null_columns: Sequence[exp.Column]) -> bool:
    """Return True if a SELECT means the same without a column that is NULL: it is forwarded, or a key beside others."""
    parent: Any = column.parent
    if isinstance(parent, (exp.Select, exp.Alias)) or column.arg_key == "partition_by":
        return isinstance(parent, (exp.Select, exp.Window)) or isinstance(parent.parent, exp.Select)
    if isinstance(parent, exp.NullSafeEQ):
        pair = [parent.this, parent.expression]
        return all(any(side is null for null in null_columns) for side in pair)
    clause: Any = parent.parent if isinstance(parent, exp.Ordered) else parent
    terms = clause.expressions if isinstance(clause, (exp.Order, exp.Group)) else []
    return any(not any((term.this if isinstance(term, exp.Ordered) else term) is null for null in null_columns) for term in terms)


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
        first = first_by_value.setdefault(_build_key(values[0]), index)
        if first != index and all(branch[first] == branch[index] for branch in branches):
            identifier = _find_identifier(step.scopes[0].select.expressions[first])
            replacements[name] = exp.Column(this=identifier)
    return replacements


def _build_key(value: Expr) -> object:
    """Return a key that equal expressions share; that of a column needs no walk through its tree."""
    return (value.table, value.name) if isinstance(value, exp.Column) else value


def _find_identifier(item: Expr) -> exp.Identifier:
    identifier: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return identifier


def _replace_columns(scope: Scope, replacements: dict[str, Replacements]) -> None:
    """Replace the columns of a SELECT, unless a constant would become a key."""
    columns: list[tuple[exp.Column, str, Expr]] = []
    for column in scope.columns:
        alias = scope.find_owner(column)
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
    """Drop repeated terms of GROUP BY, PARTITION BY and ORDER BY."""
    for node in find_nodes(scope.select, exp.Group, exp.Window, exp.Order):
        key = "partition_by" if isinstance(node, exp.Window) else "expressions"
        terms = node.args.get(key) or []
        if len(terms) > 1 and len(unique := list(dict.fromkeys(terms))) < len(terms):
            node.set(key, unique)
