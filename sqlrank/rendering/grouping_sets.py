"""Write GROUPING SETS in place of rows that are repeated for each grouping and then grouped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import outermost_query, union_members
from sqlrank.sql_ast import find_nodes
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Sequence

SLICE_NUMBER = "slice_number"
"""Column with the number of the grouping that a repeated row counts in."""

_BY_SLICE = "_by_slice"

_REPEATED = re.compile(r"(?:, ([^,]+))? and grouping that it counts in")


def write_grouping_sets(tree: exp.Expr) -> None:
    """Group the rows of the CTE that the outermost query reads by GROUPING SETS, in place, if they are repeated for that.

    No rows give no total, as if they were repeated.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one('''WITH slices AS (SELECT 0 AS slice_number UNION ALL SELECT 1 AS slice_number), a_by_slice AS (
    ... SELECT CASE WHEN slices.slice_number = 0 THEN a.x END AS x, a.y, slices.slice_number FROM a CROSS JOIN slices)
    ... SELECT x, CASE WHEN slice_number = 0 THEN 'x' WHEN slice_number = 1 THEN 'all' END AS slice, AVG(y) AS y
    ... FROM a_by_slice GROUP BY x, slice_number''')
    >>> write_grouping_sets(tree)
    >>> print(tree.sql())  # doctest: +NORMALIZE_WHITESPACE
    WITH a_2 AS (SELECT a.x, a.y FROM a)
    SELECT x, CASE WHEN GROUPING(x) = 0 THEN 'x' ELSE 'all' END AS slice, AVG(y) AS y
    FROM a_2 GROUP BY GROUPING SETS ((x), ()) HAVING COUNT(*) > 0
    """
    query: Any = outermost_query(tree)
    with_clause = None if query is None else query.args.get("with_")
    if with_clause is None or not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in ("joins", "where")):
        return
    ctes = {cte.alias: cte for cte in with_clause.expressions}
    from_clause: Any = query.args.get("from_")
    repeated: Any = None if from_clause is None else ctes.get(from_clause.this.name)
    joins = [] if repeated is None else repeated.this.args.get("joins") or []
    join = next((join for join in joins if _has_slice_numbers(ctes.get(join.this.name))), None)
    tables_read = [table.name for table in find_nodes(tree, exp.Table)]
    if join is None or not query.args.get("group") or {tables_read.count(name) for name in (repeated.alias, join.this.name)} != {1}:
        return
    keys: list[exp.Column] = [key for key in query.args["group"].expressions if key.name != SLICE_NUMBER]
    cases = {item.alias: item.this for item in repeated.this.expressions if isinstance(item.unalias(), exp.Case)}
    set_numbers = {key.name: _compared_numbers(cases[key.name]) for key in keys if key.name in cases}
    numbers = range(len(union_members(ctes[join.this.name].this)))
    sets = [[key for key in keys if number in set_numbers.get(key.name, numbers)] for number in numbers]
    case = next((item.this for item in query.expressions if isinstance(item.unalias(), exp.Case)), None)
    others = [part for part in (*query.expressions, query.args.get("order")) if part is not None and part.find(exp.Case) is not case]
    if case is None or any(column.name == SLICE_NUMBER for part in others for column in find_nodes(part, exp.Column)):
        return
    _write_labels(case, sets)
    tuples = [exp.Tuple(expressions=[key.copy() for key in keys_of_set]) for keys_of_set in sets]
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=tuples)]))
    if [] in sets:
        query.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))))
    _read_rows_once(repeated, join)
    with_clause.expressions.remove(ctes[join.this.name])
    name = unique_name(repeated.alias.removesuffix(_BY_SLICE), {*tables_read, *ctes})
    from_clause.this.this.set("this", name)
    repeated.args["alias"].this.set("this", name)


def _has_slice_numbers(cte: exp.CTE | None) -> bool:
    return cte is not None and all(
        member.named_selects == [SLICE_NUMBER] and not member.args.get("from_") for member in union_members(cte.this)
    )


def _compared_numbers(case: exp.Case) -> set[int]:
    """Return the numbers of the groupings by a column, from the condition under which its value is not NULL."""
    return {int(literal.name) for literal in find_nodes(case.args["ifs"][0].this, exp.Literal)}


def _write_labels(case: exp.Case, sets: Sequence[Sequence[exp.Column]]) -> None:
    """Distinguish the rows of each grouping by its columns; the last grouping has the remaining rows."""
    branches = case.args["ifs"]
    for number, branch in enumerate(branches[:-1]):
        names = [key.name for key in sets[number]]
        others = {key.name: key for keys in sets[number + 1 :] if set(names) <= {key.name for key in keys} for key in keys}
        conditions = [_is_grouped(key, is_grouped=True) for key in sets[number]]
        conditions += [_is_grouped(key, is_grouped=False) for name, key in others.items() if name not in names]
        branch.set("this", exp.and_(*conditions))
    case.set("default", branches[-1].args["true"])
    case.set("ifs", branches[:-1])


def _is_grouped(key: exp.Column, *, is_grouped: bool) -> exp.Expr:
    grouping = exp.Anonymous(this="GROUPING", expressions=[key.copy()])
    return exp.EQ(this=grouping, expression=exp.Literal.number(0 if is_grouped else 1))


def _read_rows_once(repeated: exp.CTE, join: exp.Join) -> None:
    """Let a CTE have its rows once, with the values of all keys."""
    select: Any = repeated.this
    select.args["joins"].remove(join)
    for item in list(select.expressions):
        if isinstance(item.unalias(), exp.Case) and item.this.args["ifs"][0].this.find(exp.Column).name == SLICE_NUMBER:
            item.replace(item.this.args["ifs"][0].args["true"])
        elif item.alias_or_name == SLICE_NUMBER:
            item.pop()
    select.comments = [_REPEATED.sub(lambda match: f" and {match[1]}" if match[1] else "", comment) for comment in select.comments or ()]
