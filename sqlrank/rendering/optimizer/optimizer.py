"""Optimize a statement by all passes in order; among them, prune what nothing reads, and qualify
columns by names of CTEs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.optimizer.constants import propagate_constants, propagate_predicates
from sqlrank.rendering.optimizer.merging import (
    eliminate_joins,
    eliminate_subqueries,
    forward_projections,
    lift_user_queries,
    merge_aggregations,
    merge_projections,
    order_ctes,
    share_rows,
)
from sqlrank.rendering.optimizer.statement_graph import (
    Scope,
    StatementGraph,
    StatementStep,
    columns_to_keep,
    is_sort_key,
    outermost_query,
)
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from sqlglot.expressions import Expr


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

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     prune_columns,
    ...     "WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a) SELECT a.x FROM a LEFT JOIN b ON b.x = a.x",
    ... )
    'WITH a AS (SELECT x FROM t) SELECT a.x FROM a'
    """  # noqa: E501
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
    if (
        names.issuperset(column_names)
        or step.query.args.get("distinct")
        or any(item.is_star for scope in step.scopes for item in scope.select.expressions)
    ):
        return
    indexes = columns_to_keep([scope.select for scope in step.scopes], column_names, names)
    if len(indexes) == len(column_names) or any(
        len(scope.select.expressions) != len(column_names) for scope in step.scopes
    ):
        return
    for scope in step.scopes:
        scope.select.set("expressions", [scope.select.expressions[index] for index in indexes])
        scope.mark_changed()


def _drop_joins(scope: Scope) -> None:
    """Drop the left joins of which no column is read outside of their conditions."""
    for join in reversed(scope.joins):
        alias = join.this.alias_or_name
        if join.side == "LEFT" and not any(
            scope.find_owner(column) in {alias, None} and column.find_ancestor(exp.Join) is not join
            for column in scope.columns
        ):
            scope.joins.remove(join)
            scope.mark_changed()


def _read_columns(scope: Scope, columns_read: dict[str, set[str]]) -> None:
    """Record the columns that a SELECT reads of each CTE."""
    names = {
        alias: columns_read.setdefault(source.name, set())
        for alias, source in scope.sources.items()
    }
    for column in scope.columns:
        owner = scope.find_owner(column) if len(names) > 1 else None
        for names_of_source in names.values() if owner is None else [names[owner]]:
            names_of_source.add(column.name)


def _read_all(scope: Scope, columns_read: dict[str, set[str]]) -> None:
    """Record that a SELECT may read columns of every CTE in it, all of them if it has a star."""
    tables = [
        table
        for table in find_nodes(scope.select, exp.Table)
        if scope.step.graph.find(table) is not None
    ]
    stars = [
        star
        for star in find_nodes(scope.select, exp.Star)
        if not isinstance(star.parent, exp.Count)
    ]
    names = {column.name for column in scope.columns}
    for table in tables:
        step = scope.step.graph.find(table)
        columns_read.setdefault(table.name, set()).update(
            step.column_names if stars and step is not None else names
        )


def qualify_tables(graph: StatementGraph) -> None:
    """Replace the aliases of CTEs by their names, and drop qualification and aliases that say
    nothing, in place.

    CTEs that are joined to themselves keep their aliases. sqlglot's ``qualify`` gives every table
    an alias and every column a table.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     qualify_tables, "WITH a AS (SELECT x FROM t) SELECT b.x AS x FROM a AS b WHERE b.x > 0"
    ... )
    'WITH a AS (SELECT x FROM t) SELECT x FROM a WHERE x > 0'
    >>> rewrite_graph(
    ...     qualify_tables,
    ...     "WITH a AS (SELECT x FROM t) SELECT c.x FROM a AS c JOIN t AS b ON b.x = c.x",
    ... )
    'WITH a AS (SELECT x FROM t) SELECT a.x FROM a INNER JOIN t AS b ON b.x = a.x'
    """
    for step in graph.steps:
        for scope in step.scopes:
            _drop_aliases(scope)
            if scope.is_plain and len(scope.sources) == 1:
                _drop_qualification(scope)
            else:
                _qualify_sort_keys(scope)
            for join in scope.joins:
                if not (join.side or join.kind or join.method) and join.args.get("on") is not None:
                    join.set("kind", "INNER")
            for item in list(scope.select.expressions):
                if (
                    isinstance(item, exp.Alias)
                    and isinstance(item.this, exp.Column)
                    and _is_name(item)
                ):
                    item.this.comments = item.comments
                    item.replace(item.this)
            scope.mark_changed()


def _is_name(item: exp.Alias) -> bool:
    """Return True if an alias equals the name of its column."""
    alias, identifier = item.args["alias"], item.this.this
    return bool(alias.name == identifier.name and alias.quoted == identifier.quoted)


def _drop_aliases(scope: Scope) -> None:
    """Call the CTEs of a SELECT by their names."""
    sources = list(scope.sources.items())
    names = [source.name for _, source in sources]
    inner_names = scope.names_in_subqueries
    taken = {alias.lower() for alias, _ in sources} | inner_names
    renamed: dict[str, exp.Table] = {}
    for alias, source in sources:
        is_cte = scope.step.graph.find(source) is not None and alias.lower() not in inner_names
        if (
            is_cte
            and alias != source.name
            and names.count(source.name) == 1
            and source.name.lower() not in taken
        ):
            renamed[alias] = exp.Table(this=source.this)
            source.replace(renamed[alias])
    for column in scope.select.find_all(exp.Column) if renamed else ():
        if column.table in renamed:
            column.set("table", renamed[column.table].this.copy())
    if renamed:
        scope.mark_changed()


def _drop_qualification(scope: Scope) -> None:
    """Leave out the table of columns where only one is read, unless a key would mean another column
    of the result.

    A column that is called as its table keeps it: to BigQuery the name alone is the whole row.
    """
    results = {
        item.alias
        for item in scope.select.expressions
        if isinstance(item, exp.Alias) and not _is_copy(item)
    }
    for column in scope.columns:
        is_key = isinstance(column.parent, exp.Group) or is_sort_key(column)
        if column.name.lower() == column.table.lower() or (is_key and column.name in results):
            continue
        if column.table in scope.sources:
            column.set("table", None)


def _qualify_sort_keys(scope: Scope) -> None:
    """Sort by a qualified column instead of a column of the result of the same name, which not
    every engine prefers after joins.
    """
    order = scope.select.args.get("order")
    items = scope.items if order is not None else {}
    for term in [] if order is None else order.expressions:
        column = term.this if isinstance(term, exp.Ordered) else term
        item = (
            items.get(column.name) if isinstance(column, exp.Column) and not column.table else None
        )
        if item is not None and isinstance(item.unalias(), exp.Column):
            column.replace(item.unalias().copy())


def _is_copy(item: exp.Alias) -> bool:
    """Return True if a column of a result is one of the source under its name, also cast to another
    type.
    """
    value = item.this.this if isinstance(item.this, exp.Cast) else item.this
    return isinstance(value, exp.Column) and value.name == item.alias


def optimize_statement(tree: Expr) -> None:
    """Rewrite a statement in place to one that computes the same rows and columns in fewer, named
    steps.

    A statement without CTEs stays as it is, and so does one with recursive or nested ones.
    """
    query = outermost_query(tree)
    with_clause = None if query is None else query.args.get("with_")
    if query is None or with_clause is None or with_clause.recursive:
        return
    lifted = eliminate_subqueries(query)
    graph = StatementGraph(query)
    prune_columns(graph)
    forward_projections(graph, lifted)
    propagate_constants(graph)
    prune_columns(graph)
    eliminate_joins(graph)
    prune_columns(graph)
    merge_projections(graph)
    if propagate_predicates(graph):
        prune_columns(graph)
    qualify_tables(graph)
    if share_rows(graph):
        merge_projections(graph)
    if merge_aggregations(graph):
        qualify_tables(graph)
    order_ctes(graph)
    graph.write_ctes()
    lift_user_queries(query)
