"""Redshift, of which PostgreSQL executes what it has in common with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.dialect_forms import find_comparisons_of_one_origin, order_within_group
from sqlrank.rendering.optimizer.statement_graph import add_step, move_rows, pass_columns
from sqlrank.sql_ast import find_nodes, is_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

_AGGREGATES = (exp.Sum, exp.Count, exp.Min, exp.Max)
_UP_TO = exp.WindowSpec(
    kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW", end_side=""
)


def _finish_tree(tree: exp.Expr) -> None:
    """Rewrite ``a IS NOT DISTINCT FROM b``, which Redshift does not have, and cast to texts as long
    as they are, not to the longest.

    Texts of keys of one type are compared first, since a join needs an equality to hash.
    """
    _write_frames(tree)
    hashable = {id(comparison) for comparison in find_comparisons_of_one_origin(tree)}
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type("TEXT"):
            cast.set("to", exp.DataType.build("VARCHAR"))
    for equality in find_nodes(tree, exp.NullSafeEQ):
        both_null = exp.and_(
            *(is_null(operand.copy()) for operand in (equality.this, equality.expression))
        )
        comparison: exp.Expr = exp.paren(
            exp.or_(exp.EQ(this=equality.this, expression=equality.expression), both_null),
            copy=False,
        )
        if id(equality) in hashable:
            texts = [
                exp.Coalesce(
                    this=exp.cast(operand.copy(), "VARCHAR"), expressions=[sql_literal("")]
                )
                for operand in (equality.this, equality.expression)
            ]
            comparison = exp.and_(texts[0].eq(texts[1]), comparison, copy=False)
        equality.replace(comparison)


def _write_frames(tree: exp.Expr) -> None:
    """Give each aggregate over a sorted window a frame of rows, which Redshift demands.

    Rows of equal keys count at once: a step aggregates them, and the first of them has the result.
    """
    windows_by_select: dict[int, list[exp.Window]] = {}
    for window in find_nodes(tree, exp.Window):
        if window.args.get("order") is None or window.args.get("spec") is not None:
            continue
        if isinstance(window.this, exp.Count) and window.this.this.is_star:
            window.replace(_count_by_rank(window))
        elif isinstance(window.this, _AGGREGATES):
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in reversed(windows_by_select.values()):  # a SELECT before the one that it is in
        _write_frames_of_select(tree, windows)


def _count_by_rank(window: exp.Window) -> exp.Expr:
    """Return the number of rows up to a row and its equals: all but those that come after it, whose
    number is its rank in the opposite order. This needs no step, which would pass on every column.
    """
    parts = window.args.get("partition_by") or []
    after = [
        exp.Ordered(
            this=term.this.copy(),
            desc=not term.args.get("desc"),
            nulls_first=not term.args.get("nulls_first"),
        )
        for term in window.args["order"].expressions
    ]
    rank = exp.Window(
        this=exp.Rank(),
        partition_by=[part.copy() for part in parts],
        order=exp.Order(expressions=after),
    )
    total = exp.Window(this=window.this.copy(), partition_by=[part.copy() for part in parts])
    count: exp.Expr = exp.Sub(this=total + 1, expression=rank)
    count = count if isinstance(window.parent, exp.Alias) else exp.paren(count)
    count.comments = window.comments
    return count


def _write_frames_of_select(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    select: Any = windows[0].parent_select
    comment = "The same rows, with aggregates of those with equal keys."
    rows, add_column = move_rows(select, comment)
    framed = []
    for window in windows:
        parts, terms = window.args.get("partition_by") or [], window.args["order"].expressions
        keys = [*parts, *(term.this for term in terms)]
        function = exp.Sum if isinstance(window.this, exp.Count) else type(window.this)
        number, total = (
            add_column(exp.Window(this=value, partition_by=[key.copy() for key in keys]), name)
            for value, name in (
                (exp.RowNumber(), "equal_number"),
                (window.this.copy(), "equal_rows"),
            )
        )
        first = exp.Case(ifs=[exp.If(this=number.eq(1), true=total)])
        framed_window: exp.Expr = exp.Window(
            this=function(this=first),
            partition_by=[add_column(part, part.name or "part") for part in parts],
            order=exp.Order(
                expressions=[
                    *(
                        exp.Ordered(
                            **{**term.args, "this": add_column(term.this, term.this.name or "key")}
                        )
                        for term in terms
                    ),
                    exp.Ordered(this=number.copy()),
                ]
            ),
            spec=_UP_TO.copy(),
        )
        if isinstance(window.this, exp.Count):
            framed_window = exp.cast(framed_window, "BIGINT")
        framed_window.comments = window.comments
        framed.append((window.replace(exp.Placeholder()), framed_window))
    pass_columns(select, add_column)
    for holder, framed_window in framed:
        holder.replace(framed_window)
    reader = select.find_ancestor(exp.CTE)
    name = "result" if reader is None else reader.alias
    select.from_(add_step(tree, select, rows, f"{name}_rows"), copy=False)


def _write_fence(query: exp.Expr) -> None:
    """Leave out no row, which keeps the planner from merging the query into its reader."""
    query.set("offset", exp.Offset(expression=sql_literal(0)))


DIALECT = Dialect(
    label="Redshift",
    sqlglot_name="redshift",
    drivers=("redshift_connector",),
    write_list_elements=None,
    write_quantile=order_within_group,
    finish=_finish_tree,
    write_fence=_write_fence,
    fold_identifier=str.lower,
    calls_functions_by_fields=True,
    supports_window_clause=False,
    supports_create_or_replace_table=False,
    supports_transactions=True,
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
    dbt_microbatch="",
)
