"""Eliminate inner joins of a table to its own distinct keys, and rewrite left joins to a one-row CTE as cross joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import iterate_conjuncts
from sqlrank.sql_ast import NEVER_NULL

if TYPE_CHECKING:
    from sqlrank.optimizer.statement_graph import Scope, StatementGraph, StatementStep


def eliminate_joins(graph: StatementGraph) -> None:
    """Drop inner joins to the distinct keys of the table that they are joined to, and write left joins to one row as CROSS JOIN.

    sqlglot's pass of this name drops unused left joins only, which column_pruning does here.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(eliminate_joins, '''WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a GROUP BY x)
    ... SELECT b.x, a.y FROM a JOIN b ON b.x IS NOT DISTINCT FROM a.x''')
    'WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a GROUP BY x) SELECT a.x, a.y FROM a'
    >>> rewrite_graph(eliminate_joins, "WITH a AS (SELECT x FROM t), b AS (SELECT 1 AS y) SELECT x, y FROM a LEFT JOIN b ON TRUE")
    'WITH a AS (SELECT x FROM t), b AS (SELECT 1 AS y) SELECT x, y FROM a CROSS JOIN b'
    """
    for step in graph.steps:
        for scope in step.scopes:
            for join in list(scope.joins):
                if join.side == "LEFT" and join.args.get("on") == exp.true() and _has_one_row(graph.find(join.this)):
                    join.set("side", None)
                    join.set("kind", "CROSS")
                    join.set("on", None)
                elif not join.side and join.kind in {"", "INNER"} and scope.is_plain:
                    _drop_if_keys(scope, join)


def _has_one_row(step: StatementStep | None) -> bool:
    """Return True if a CTE has one row: aggregates of all rows, or literals."""
    if step is None or step.is_union:
        return False
    scope = step.scopes[0]
    clauses = {clause for clause, value in scope.select.args.items() if value}
    return (scope.is_aggregate and clauses <= {"expressions", "from_", "joins", "where"}) or clauses == {"expressions"}


def _drop_if_keys(scope: Scope, join: exp.Join) -> None:
    """Drop a join to the distinct keys of the first source, if its condition compares these keys."""
    keys_step, source = scope.step.graph.find(join.this), scope.first_source
    if keys_step is None or source is None or keys_step.is_union or scope.is_nullable(source.alias_or_name):
        return
    keys = _distinct_keys(keys_step, source.name)
    alias, source_alias = join.this.alias_or_name, source.alias_or_name
    compared: dict[str, exp.Column] = {}
    for conjunct in iterate_conjuncts(join.args.get("on")):
        equality = conjunct.unnest()
        # Where a key may be NULL, an equality leaves out rows.
        is_null_safe = isinstance(equality, exp.NullSafeEQ) or (isinstance(equality, exp.EQ) and NEVER_NULL in equality.meta)
        sides = [equality.this, equality.expression] if is_null_safe else []
        by_table = {side.table: side for side in sides if isinstance(side, exp.Column)}
        if by_table.keys() != {alias, source_alias} or keys.get(by_table[alias].name) != by_table[source_alias].name:
            return
        compared[by_table[alias].name] = by_table[source_alias]
    if compared.keys() != keys.keys() or not keys or any(scope.find_owner(column) is None for column in scope.columns):
        return
    scope.joins.remove(join)
    for column in scope.columns:
        if column.table == alias and column.find_ancestor(exp.Join) is not join:
            scope.substitute(column, compared[column.name].copy())
    scope.mark_changed()


def _distinct_keys(step: StatementStep, source: str) -> dict[str, str]:
    """Return the columns of a CTE of the distinct keys of a table by name, none if it is another CTE."""
    scope = step.scopes[0]
    clauses = {clause for clause, value in scope.select.args.items() if value}
    group = scope.select.args.get("group")
    values = [item.unalias() for item in scope.select.expressions]
    if clauses != {"expressions", "from_", "group"} or [table.name for table in scope.sources.values()] != [source] or group is None:
        return {}
    grouped = {term.name for term in group.expressions if isinstance(term, exp.Column)}
    names = {item.alias_or_name: value.name for item, value in zip(scope.select.expressions, values, strict=True)}
    is_keys = all(isinstance(value, exp.Column) for value in values) and len(grouped) == len(group.expressions)
    return names if is_keys and grouped == set(names.values()) else {}
