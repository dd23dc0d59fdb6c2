"""Rewrite CTEs for a dialect: GROUPING SETS in place of repeated rows, and materialization of those
that several read.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import outermost_query, union_members
from sqlrank.sql_ast import call_function, count_rows, find_nodes, sql_literal
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.rendering.dialect import Dialect


SLICE_NUMBER = "slice_number"
"""Column with the number of the grouping that a repeated row counts in."""

_BY_SLICE = "_by_slice"

_REPEATED = re.compile(r"(?:, ([^,]+))? and grouping that it counts in")


def write_grouping_sets(tree: exp.Expr) -> None:
    """Group the rows of the CTE that the outermost query reads by GROUPING SETS, in place, if they
    are repeated for that.

    No rows give no total, as if they were repeated.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one(
    ...     '''WITH slices AS (SELECT 0 AS slice_number UNION ALL SELECT 1 AS slice_number), a_by_slice AS (
    ... SELECT CASE WHEN slices.slice_number = 0 THEN a.x END AS x, a.y, slices.slice_number FROM a CROSS JOIN slices)
    ... SELECT x, CASE WHEN slice_number = 0 THEN 'x' WHEN slice_number = 1 THEN 'all' END AS slice, AVG(y) AS y
    ... FROM a_by_slice GROUP BY x, slice_number'''
    ... )
    >>> write_grouping_sets(tree)
    >>> print(tree.sql())  # doctest: +NORMALIZE_WHITESPACE
    WITH a_2 AS (SELECT a.x, a.y FROM a)
    SELECT x, CASE WHEN GROUPING(x) = 0 THEN 'x' ELSE 'all' END AS slice, AVG(y) AS y
    FROM a_2 GROUP BY GROUPING SETS ((x), ()) HAVING COUNT(*) > 0
    """  # noqa: E501
    query: Any = outermost_query(tree)
    with_clause = None if query is None else query.args.get("with_")
    if (
        with_clause is None
        or not isinstance(query, exp.Select)
        or any(query.args.get(clause) for clause in ("joins", "where"))
    ):
        return
    ctes = {cte.alias: cte for cte in with_clause.expressions}
    from_clause: Any = query.args.get("from_")
    repeated: Any = None if from_clause is None else ctes.get(from_clause.this.name)
    joins = [] if repeated is None else repeated.this.args.get("joins") or []
    join = next((join for join in joins if _has_slice_numbers(ctes.get(join.this.name))), None)
    tables_read = [table.name for table in find_nodes(tree, exp.Table)]
    if (
        join is None
        or not query.args.get("group")
        or {tables_read.count(name) for name in (repeated.alias, join.this.name)} != {1}
    ):
        return
    keys: list[exp.Column] = [
        key for key in query.args["group"].expressions if key.name != SLICE_NUMBER
    ]
    cases = {
        item.alias: item.this
        for item in repeated.this.expressions
        if isinstance(item.unalias(), exp.Case)
    }
    set_numbers = {
        key.name: _compared_numbers(cases[key.name]) for key in keys if key.name in cases
    }
    numbers = range(len(union_members(ctes[join.this.name].this)))
    sets = [
        [key for key in keys if number in set_numbers.get(key.name, numbers)] for number in numbers
    ]
    case = next(
        (item.this for item in query.expressions if isinstance(item.unalias(), exp.Case)), None
    )
    others = [
        part
        for part in (*query.expressions, query.args.get("order"))
        if part is not None and part.find(exp.Case) is not case
    ]
    if case is None or any(
        column.name == SLICE_NUMBER for part in others for column in find_nodes(part, exp.Column)
    ):
        return
    _write_labels(case, sets)
    tuples = [exp.Tuple(expressions=[key.copy() for key in keys_of_set]) for keys_of_set in sets]
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=tuples)]))
    if [] in sets:
        query.set("having", exp.Having(this=exp.GT(this=count_rows(), expression=sql_literal(0))))
    _read_rows_once(repeated, join)
    with_clause.expressions.remove(ctes[join.this.name])
    name = unique_name(repeated.alias.removesuffix(_BY_SLICE), {*tables_read, *ctes})
    from_clause.this.this.set("this", name)
    repeated.args["alias"].this.set("this", name)


def _has_slice_numbers(cte: exp.CTE | None) -> bool:
    return cte is not None and all(
        member.named_selects == [SLICE_NUMBER] and not member.args.get("from_")
        for member in union_members(cte.this)
    )


def _compared_numbers(case: exp.Case) -> set[int]:
    """Return the numbers of the groupings by a column, from the condition under which its value is
    not NULL.
    """
    return {int(literal.name) for literal in find_nodes(case.args["ifs"][0].this, exp.Literal)}


def _write_labels(case: exp.Case, sets: Sequence[Sequence[exp.Column]]) -> None:
    """Distinguish the rows of each grouping by its columns; the last grouping has the remaining
    rows.
    """
    branches = case.args["ifs"]
    for number, branch in enumerate(branches[:-1]):
        names = [key.name for key in sets[number]]
        others = {
            key.name: key
            for keys in sets[number + 1 :]
            if set(names) <= {key.name for key in keys}
            for key in keys
        }
        conditions = [_is_grouped(key, is_grouped=True) for key in sets[number]]
        conditions += [
            _is_grouped(key, is_grouped=False) for name, key in others.items() if name not in names
        ]
        branch.set("this", exp.and_(*conditions))
    case.set("default", branches[-1].args["true"])
    case.set("ifs", branches[:-1])


def _is_grouped(key: exp.Column, *, is_grouped: bool) -> exp.Expr:
    grouping = call_function("GROUPING", key.copy())
    return exp.EQ(this=grouping, expression=exp.Literal.number(0 if is_grouped else 1))


def _read_rows_once(repeated: exp.CTE, join: exp.Join) -> None:
    """Let a CTE have its rows once, with the values of all keys."""
    select: Any = repeated.this
    select.args["joins"].remove(join)
    for item in list(select.expressions):
        if (
            isinstance(item.unalias(), exp.Case)
            and item.this.args["ifs"][0].this.find(exp.Column).name == SLICE_NUMBER
        ):
            item.replace(item.this.args["ifs"][0].args["true"])
        elif item.alias_or_name == SLICE_NUMBER:
            item.pop()
    select.comments = [
        _REPEATED.sub(lambda match: f" and {match[1]}" if match[1] else "", comment)
        for comment in select.comments or ()
    ]


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
