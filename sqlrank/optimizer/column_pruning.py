"""Prune a statement between passes: leave out columns, left joins and CTEs that nothing reads any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import StatementGraph, columns_to_keep
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from sqlrank.optimizer.statement_graph import Scope, StatementStep


def prune_query(query: exp.Query) -> None:
    """Prune a query in place before its subqueries are CTEs."""
    graph = StatementGraph(query)
    prune_columns(graph)
    graph.write_ctes()


def drop_empty_ctes(tree: exp.Select) -> None:
    """Remove CTEs without columns in place, because nothing can read them."""
    ctes = tree.args["with_"].expressions
    for cte in [cte for cte in ctes if not cte.this.selects]:
        ctes.remove(cte)


def prune_columns(graph: StatementGraph) -> None:
    """Remove columns, left joins and CTEs that nothing reads, in place.

    A left join looks up at most one row, so that it adds no rows. Inputs keep at least one column.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(prune_columns, "WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a) SELECT a.x FROM a LEFT JOIN b ON b.x = a.x")
    'WITH a AS (SELECT x FROM t) SELECT a.x FROM a'
    """
    columns_read: dict[str, set[str]] = {}
    for step in reversed(graph.steps):
        if step.cte is not None:
            if step.name not in columns_read:
                graph.remove(step)
                continue
            _keep_columns(step, columns_read[step.name])
        for scope in step.scopes:
            if scope.is_plain:
                _drop_joins(scope)
                _read_columns(scope, columns_read)
            else:
                _read_all(scope, columns_read)


def _keep_columns(step: StatementStep, names: set[str]) -> None:
    """Keep the columns of a CTE that are read; one, if only its rows are counted."""
    column_names = step.column_names
    if step.query.args.get("distinct") or any(item.is_star for scope in step.scopes for item in scope.select.expressions):
        return
    indexes = columns_to_keep([scope.select for scope in step.scopes], column_names, names)
    if len(indexes) == len(column_names) or any(len(scope.select.expressions) != len(column_names) for scope in step.scopes):
        return
    for scope in step.scopes:
        scope.select.set("expressions", [scope.select.expressions[index] for index in indexes])
        scope.mark_changed()


def _drop_joins(scope: Scope) -> None:
    """Drop the left joins of which no column is read outside of their conditions."""
    for join in reversed(scope.joins):
        alias = join.this.alias_or_name
        if join.side == "LEFT" and not any(
            scope.find_owner(column) in {alias, None} and column.find_ancestor(exp.Join) is not join for column in scope.columns
        ):
            scope.joins.remove(join)
            scope.mark_changed()


def _read_columns(scope: Scope, columns_read: dict[str, set[str]]) -> None:
    """Record the columns that a SELECT reads of each CTE."""
    names = {alias: columns_read.setdefault(source.name, set()) for alias, source in scope.sources.items()}
    for column in scope.columns:
        owner = scope.find_owner(column)
        for names_of_source in names.values() if owner is None else [names[owner]]:
            names_of_source.add(column.name)


def _read_all(scope: Scope, columns_read: dict[str, set[str]]) -> None:
    """Record that a SELECT may read columns of every CTE in it, all of them if it has a star."""
    tables = [table for table in find_nodes(scope.select, exp.Table) if scope.step.graph.find(table) is not None]
    stars = [star for star in find_nodes(scope.select, exp.Star) if not isinstance(star.parent, exp.Count)]
    names = {column.name for column in scope.columns}
    for table in tables:
        step = scope.step.graph.find(table)
        columns_read.setdefault(table.name, set()).update(step.column_names if stars and step is not None else names)
