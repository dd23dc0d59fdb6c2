"""Aggregate all rows by a join where a window over all of them would move them to one worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import is_aggregated
from sqlrank.rendering.dialect_forms import add_step
from sqlrank.sql_ast import find_nodes
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Sequence

_JOINED = ("from_", "joins", "laterals", "where")
"""Clauses that decide the rows which a window of a SELECT is over, if it has no groups."""

_PREFIXES: dict[type[exp.Expr], str] = {
    exp.Sum: "total",
    exp.Avg: "mean",
    exp.Min: "least",
    exp.Max: "greatest",
    exp.Count: "num",
}
"""Beginnings of names of aggregates without a name of their own."""


def join_totals(tree: exp.Expr) -> None:
    """Replace aggregates OVER () by columns of a cross join with an aggregate of the same rows, in
    place; a CTE that is read a second time by that is marked as to be materialized.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT x / SUM(x) OVER () AS share FROM t")
    >>> join_totals(tree)
    >>> print(tree.sql())  # doctest: +NORMALIZE_WHITESPACE
    WITH t_totals AS (/* One row: aggregates of all rows. */ SELECT SUM(x) AS total_x FROM t)
    SELECT t.x / t_totals.total_x AS share FROM t CROSS JOIN t_totals
    """
    windows_by_select: dict[int, list[exp.Window]] = {}
    for window in find_nodes(tree, exp.Window):
        if type(window.this) in _PREFIXES and not any(
            window.args.get(part) for part in ("partition_by", "order", "spec", "alias")
        ):
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in reversed(windows_by_select.values()):  # a SELECT before the one that it is in
        _join_totals_of_select(tree, windows)


def _join_totals_of_select(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    select: Any = windows[0].parent_select
    is_grouped = bool(select.args.get("group")) or any(map(is_aggregated, select.selects))
    if is_grouped and not all(_is_sum_of_sums(window) for window in windows):
        return
    totals = exp.Select()
    totals.comments = ["One row: aggregates of all rows."]
    for clause in _JOINED:
        totals.set(clause, _copy_clause(select.args.get(clause)))
    source = select.args["from_"].this.alias_or_name
    step = add_step(tree, select, totals, f"{source}_totals")
    for window in windows:
        total = window.this.this if is_grouped else window.this
        named = {item.this: item.alias for item in totals.selects}
        if total not in named:
            named[total] = unique_name(_name_total(window, total), totals.named_selects)
            totals.select(exp.alias_(total.copy(), named[total]), copy=False)
        column: exp.Expr = exp.column(named[total], table=step)
        is_item = isinstance(window.parent, exp.Alias) and window.parent.alias == named[total]
        replaced: Any = window.parent if is_item and not is_grouped else window
        column.comments = replaced.comments
        replaced.replace(exp.Max(this=column) if is_grouped else column)
    _qualify_columns(select)
    select.join(step, join_type="cross", copy=False)
    for cte in find_nodes(tree, exp.CTE):
        if cte.alias in {table.name for table in find_nodes(totals, exp.Table)}:
            _request_materialization(tree, cte)


def _is_sum_of_sums(window: exp.Window) -> bool:
    return isinstance(window.this, exp.Sum) and isinstance(window.this.this, exp.Sum)


def _copy_clause(clause: Any) -> Any:
    return (
        [part.copy() for part in clause] if isinstance(clause, list) else clause and clause.copy()
    )


def _name_total(window: exp.Window, total: exp.Expr) -> str:
    """Return the alias of a window, or a name of its function and the column that it is of."""
    prefix = _PREFIXES[type(total)]
    if isinstance(window.parent, exp.Alias):
        return window.parent.alias
    if isinstance(total.this, exp.Star):
        return f"{prefix}_rows"
    item = window.find_ancestor(exp.Alias)
    column = total.this if isinstance(total.this, exp.Column) or item is None else item
    return f"{prefix}_{column.alias_or_name or 'values'}"


def _qualify_columns(select: exp.Select) -> None:
    """Name the only source of a SELECT with its columns."""
    sources = [select.args["from_"], *(select.args.get("joins") or [])]
    if len(sources) > 1:
        return
    outputs = select.named_selects
    order = select.args.get("order")
    for column in find_nodes(select, exp.Column):
        is_output = (
            order is not None
            and column.name in outputs
            and column.find_ancestor(exp.Order) is order
        )
        if not column.table and column.parent_select is select and not is_output:
            column.set("table", exp.to_identifier(sources[0].this.alias_or_name))


def _request_materialization(tree: exp.Expr, cte: exp.CTE) -> None:
    """Mark a CTE, unless it reads tables of the user only."""
    names = {other.alias for other in find_nodes(tree, exp.CTE)} - {cte.alias}
    if any(table.name in names for table in find_nodes(cte.this, exp.Table)):
        cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
