"""Eliminate CTEs whose rows and columns an earlier CTE has, and put the CTEs that read tables of the user first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from sqlrank.optimizer.statement_graph import StatementGraph, StatementStep


def merge_equal_ctes(graph: StatementGraph) -> bool:
    """Replace CTEs by earlier ones that have the same rows and all of their columns, in place; return True if there are any.

    One with further columns is read in FROM only: in a join it would be for its rows alone, which another name says better. sqlglot finds equal subqueries while it moves them into CTEs, which is before columns are pruned.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(merge_equal_ctes, "WITH a AS (SELECT 1 AS x), b AS (SELECT 1 AS x) SELECT a.x, b.x AS y FROM a CROSS JOIN b")
    'WITH a AS (SELECT 1 AS x) SELECT a.x, b.x AS y FROM a CROSS JOIN a AS b'
    >>> rewrite_graph(merge_equal_ctes, '''WITH a AS (SELECT x, COUNT(*) AS n FROM t GROUP BY x), b AS (SELECT x FROM a),
    ... c AS (SELECT x, COUNT(*) AS m FROM b GROUP BY x), d AS (SELECT x FROM b GROUP BY x) SELECT c.m FROM d JOIN c ON d.x = c.x''')
    'WITH a AS (SELECT x, COUNT(*) AS n FROM t GROUP BY x), b AS (SELECT x FROM a), \
c AS (SELECT x, COUNT(*) AS m FROM b GROUP BY x) SELECT c.m FROM c AS d JOIN c ON d.x = c.x'
    """
    is_changed = False
    earlier_by_sources: dict[tuple[str, ...], list[StatementStep]] = {}
    for step in list(graph.steps_by_name.values()):
        candidates = earlier_by_sources.setdefault(tuple(source.name for scope in step.scopes for source in scope.sources.values()), [])
        equal = next((other for other in candidates if _can_replace(other, step)), None)
        if equal is None or step.is_input or _is_random(step):
            candidates.append(step)
            continue
        _redirect_readers(graph, step, equal)
        is_changed = True
    return is_changed


def _can_replace(earlier: StatementStep, later: StatementStep) -> bool:
    """Return True if the earlier CTE has the rows and columns of the later one; if it has more columns, the later one is read in FROM only."""
    if earlier.column_names == later.column_names:
        return earlier.query == later.query
    if later.is_union or earlier.is_union:
        return False
    selects = (earlier.scopes[0].select, later.scopes[0].select)
    clauses = [{clause: value for clause, value in select.args.items() if value and clause != "expressions"} for select in selects]
    items = earlier.scopes[0].items
    return (
        clauses[0] == clauses[1]
        and all(items.get(name) == item for name, item in later.scopes[0].items.items())
        and all(table is reader.first_source for reader, table in later.graph.find_readers()[later.name])
    )


def _is_random(step: StatementStep) -> bool:
    return step.query.find(exp.Rand) is not None


def _redirect_readers(graph: StatementGraph, step: StatementStep, equal: StatementStep) -> None:
    """Let the readers of a CTE read an equal one."""
    for scope, table in graph.find_readers()[step.name]:
        alias = table.alias_or_name
        table.replace(exp.table_(equal.name, alias=None if alias == equal.name else alias))
        scope.mark_changed()
    if step.cte is not None and equal.cte is not None and step.cte.args.get("materialized"):
        equal.cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
    graph.remove(step)


def order_ctes(graph: StatementGraph) -> None:
    """Put the CTEs that read tables of the user first, in place.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(order_ctes, "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM t) SELECT a.x FROM a, b")
    'WITH b AS (SELECT x FROM t), a AS (SELECT 1 AS x) SELECT a.x FROM a, b'
    """
    steps = list(graph.steps_by_name.values())
    inputs = [step for step in steps if step.is_input and _reads_tables_only(graph, step)]
    others = [step for step in steps if step not in inputs]
    graph.steps_by_name = {step.name: step for step in [*inputs, *others]}


def _reads_tables_only(graph: StatementGraph, step: StatementStep) -> bool:
    """Return True if a CTE reads tables of the user, and no CTE."""
    tables = find_nodes(step.query, exp.Table)
    return bool(tables) and not any(graph.find(table) for table in tables)
