"""Materialize CTEs that several read, or that would be repeated many times in their reader."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.rendering.dialect import Dialect


SLICE_NUMBER = "slice_number"
"""Column with the number of the grouping that a repeated row counts in."""

MOST_GROWTH, LEAST_GROWTH = 3, 500
"""Expressions of CTEs that a SELECT may have in place of their columns: so many times its own
nodes, or at least so many nodes.
"""


def materialize_shared_ctes(tree: exp.Expr, target: Dialect, can_materialize: bool) -> None:
    """Materialize costly CTEs with several readers on engines that would recompute them.

    CTEs of inputs are marked NOT MATERIALIZED, because they only rename and filter.

    >>> import sqlglot
    >>> from sqlrank.rendering.dialects import get_dialect
    >>> text = "WITH a AS MATERIALIZED (SELECT x FROM t), b AS MATERIALIZED (SELECT y FROM t) SELECT a.x FROM a, a AS c, b"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> materialize_shared_ctes(tree, get_dialect("duckdb"), can_materialize=True)
    >>> print(tree.sql("duckdb"))
    WITH a AS MATERIALIZED (SELECT x FROM t), b AS (SELECT y FROM t) SELECT a.x FROM a, a AS c, b
    """  # noqa: E501
    with_clause = tree.find(exp.With)
    tables_read = [table.name for table in find_nodes(tree, exp.Table)]
    for cte in with_clause.expressions if with_clause else ():
        requested = cte.args.pop("materialized", None)
        if requested is None or tables_read.count(cte.alias) == 1:
            continue
        if not requested and target.computes_ctes_once:
            cte.set("materialized", False)  # noqa: FBT003  sqlglot's flag
        elif requested and can_materialize:
            cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
        elif requested and target.write_materialized is not None:
            cte.set("this", target.write_materialized(cte.this))
    if with_clause is not None and target.computes_ctes_once:
        _materialize_before_growth(
            with_clause, {name for name in tables_read if tables_read.count(name) == 1}
        )


def _materialize_before_growth(with_clause: exp.With, read_once: set[str]) -> None:
    """Materialize CTEs with one reader that repeats their expressions, where it would become many
    times as large by that.

    Engines put the expressions in place of the columns when they plan, and in a chain of such CTEs
    the plan grows exponentially.
    """
    sizes: dict[str, dict[str, int]] = {}
    ctes = {cte.alias: cte for cte in with_clause.expressions}
    for name, query in [
        *((name, cte.this) for name, cte in ctes.items()),
        ("", with_clause.parent),
    ]:
        if not isinstance(query, exp.Select) or find_nodes(query, exp.Window):
            continue
        is_aggregate = bool(
            find_nodes(query, exp.AggFunc)
        )  # rows that it sums are too many to store
        while not is_aggregate and (grown := _find_growth(query, sizes)):
            ctes[grown].set("materialized", True)  # noqa: FBT003  sqlglot's flag
            sizes.pop(grown)
        if name and name in read_once and ctes[name].args.get("materialized") is None:
            inlined = {} if is_aggregate else sizes
            sizes[name] = {
                item.alias_or_name: sum(_count_nodes(item, query, inlined).values())
                for item in query.selects
            }


def _find_growth(query: exp.Select, sizes: Mapping[str, Mapping[str, int]]) -> str:
    """Return the CTE whose expressions add most to a query that they make too large, empty if they
    do not.
    """
    nodes = _count_nodes(query, query, sizes)
    num_own = nodes.pop("")
    most = max(nodes, key=nodes.__getitem__, default="")
    return most if nodes and sum(nodes.values()) > max(LEAST_GROWTH, MOST_GROWTH * num_own) else ""


def _count_nodes(
    tree: exp.Expr, query: exp.Select, sizes: Mapping[str, Mapping[str, int]]
) -> Counter[str]:
    """Return the number of nodes of a query or of one of its columns, and by CTE the number of
    those that replace its columns.
    """
    clauses = [query.args.get("from_"), *query.args.get("joins", [])]
    sources = {
        clause.this.alias_or_name: clause.this.name
        for clause in clauses
        if clause and clause.this.name in sizes
    }
    nodes = find_nodes(tree, exp.Expr)
    counts = Counter({"": len(nodes)})
    for column in nodes if sources else ():
        if isinstance(column, exp.Column):
            for alias, source in sources.items():
                if column.table in {alias, ""} and column.name in sizes[source]:
                    counts[source] += sizes[source][column.name]
    return counts
