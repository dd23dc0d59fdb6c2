"""Qualify columns by names of CTEs instead of aliases, and only in SELECTs that read several tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import is_sort_key

if TYPE_CHECKING:
    from sqlrank.optimizer.statement_graph import Scope, StatementGraph


def qualify_tables(graph: StatementGraph) -> None:
    """Replace the aliases of CTEs by their names, and drop qualification and aliases that say nothing, in place.

    CTEs that are joined to themselves keep their aliases. sqlglot's ``qualify`` gives every table an alias and every column a table.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(qualify_tables, "WITH a AS (SELECT x FROM t) SELECT b.x AS x FROM a AS b WHERE b.x > 0")
    'WITH a AS (SELECT x FROM t) SELECT x FROM a WHERE x > 0'
    >>> rewrite_graph(qualify_tables, "WITH a AS (SELECT x FROM t) SELECT c.x FROM a AS c JOIN t AS b ON b.x = c.x")
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
                if isinstance(item, exp.Alias) and isinstance(item.this, exp.Column) and _is_name(item):
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
        if is_cte and alias != source.name and names.count(source.name) == 1 and source.name.lower() not in taken:
            renamed[alias] = exp.Table(this=source.this)
            source.replace(renamed[alias])
    for column in scope.select.find_all(exp.Column) if renamed else ():
        if column.table in renamed:
            column.set("table", renamed[column.table].this.copy())
    if renamed:
        scope.mark_changed()


def _drop_qualification(scope: Scope) -> None:
    """Leave out the table of columns where only one is read, unless a key would mean another column of the result.

    A column that is called as its table keeps it: to BigQuery the name alone is the whole row.
    """
    results = {item.alias for item in scope.select.expressions if isinstance(item, exp.Alias) and not _is_copy(item)}
    for column in scope.columns:
        is_key = isinstance(column.parent, exp.Group) or is_sort_key(column)
        if column.name.lower() == column.table.lower() or (is_key and column.name in results):
            continue
        if column.table in scope.sources:
            column.set("table", None)


def _qualify_sort_keys(scope: Scope) -> None:
    """Sort by a qualified column instead of a column of the result of the same name, which not every engine prefers after joins."""
    order = scope.select.args.get("order")
    items = scope.items if order is not None else {}
    for term in [] if order is None else order.expressions:
        column = term.this if isinstance(term, exp.Ordered) else term
        item = items.get(column.name) if isinstance(column, exp.Column) and not column.table else None
        if item is not None and isinstance(item.unalias(), exp.Column):
            column.replace(item.unalias().copy())


def _is_copy(item: exp.Alias) -> bool:
    """Return True if a column of a result is one of the source under its name, also cast to another type."""
    value = item.this.this if isinstance(item.this, exp.Cast) else item.this
    return isinstance(value, exp.Column) and value.name == item.alias
