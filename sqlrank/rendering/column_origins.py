"""Find the columns of tables that columns of a statement hold, since two columns of one origin have
one type, which some comparisons demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import union_members
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

Origins = frozenset[tuple[str, ...]]
"""Columns of tables, or expressions, of which a column holds the values; empty if not certain."""


class _Steps:
    """The CTEs of a statement, in which origins are looked up."""

    def __init__(self, tree: exp.Expr) -> None:
        ctes = find_nodes(tree, exp.CTE)
        self._queries = {cte.alias: cte.this for cte in ctes}
        self._places = {name: place for place, name in enumerate(self._queries)}
        self._known: dict[tuple[int, str], Origins] = {}

    def find(self, column: exp.Column) -> Origins:
        """Return the origins of a column that is read with its table."""
        cte = column.find_ancestor(exp.CTE)
        last = len(self._places) if cte is None else self._places[cte.alias]
        return self._find_in(column, column.parent_select, last)

    def _find_in(self, column: exp.Column, select: exp.Select | None, last: int) -> Origins:
        """Return the origins of a column of a SELECT that reads the first ``last`` CTEs."""
        if select is None:
            return frozenset()
        clauses = [select.args.get("from_"), *select.args.get("joins", [])]
        sources = {clause.this.alias_or_name: clause.this for clause in clauses if clause}
        source = sources.get(column.table) if column.table else None
        if not column.table and len(sources) == 1:
            (source,) = sources.values()
        if isinstance(source, exp.Subquery):
            return self._find_output(source.this, column.name, last)
        if not isinstance(source, exp.Table):
            return frozenset()
        place = None if source.args.get("db") else self._places.get(source.name)
        if place is None or place >= last:  # a table of the user may have the name of a later CTE
            table = source.copy()
            table.set("alias", None)
            return frozenset({(table.sql(), column.name)})
        return self._find_output(self._queries[source.name], column.name, place)

    def _find_output(self, query: exp.Expr, name: str, last: int) -> Origins:
        key = (id(query), name)
        if key not in self._known:
            parts = [*self._find_in_members(query, name, last)]
            self._known[key] = frozenset().union(*parts) if all(parts) else frozenset()
        return self._known[key]

    def _find_in_members(self, query: exp.Expr, name: str, last: int) -> Iterator[Origins]:
        """Yield the origins of an output in each member of a union that has not NULL for it."""
        for select in union_members(query):
            item = next((item for item in select.selects if item.alias_or_name == name), None)
            value = None if item is None else item.unalias()
            if isinstance(value, exp.Column):
                yield self._find_in(value, select, last)
            elif value is None:
                yield frozenset()
            elif not isinstance(value.this if isinstance(value, exp.Cast) else value, exp.Null):
                tables = sorted(table.sql() for table in find_nodes(select, exp.Table))
                yield frozenset({(*tables, value.sql())})


def find_comparisons_of_one_origin(tree: exp.Expr) -> list[exp.NullSafeEQ]:
    """Return the comparisons by IS NOT DISTINCT FROM whose columns are of one origin.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one('''WITH a AS (SELECT day FROM t), b AS (SELECT day, hour FROM t)
    ... SELECT 1 FROM a JOIN b ON a.day IS NOT DISTINCT FROM b.day AND a.day IS NOT DISTINCT FROM b.hour''')
    >>> [comparison.sql() for comparison in find_comparisons_of_one_origin(tree)]
    ['a.day IS NOT DISTINCT FROM b.day']
    """  # noqa: E501
    comparisons = find_nodes(tree, exp.NullSafeEQ)
    if not comparisons:
        return []
    steps = _Steps(tree)
    return [
        comparison
        for comparison in comparisons
        if isinstance(comparison.this, exp.Column)
        and isinstance(comparison.expression, exp.Column)
        and (origins := steps.find(comparison.this))
        and origins == steps.find(comparison.expression)
    ]
