"""Windows over all rows, which engines of several workers move to one: joins with totals, buckets
that are sorted on their own, and partitions of few rows.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from sqlrank.rendering.dialect_forms import Steps
from sqlrank.rendering.optimizer.statement_graph import (
    JOINED,
    add_step,
    is_aggregated,
    move_rows,
    pass_columns,
)
from sqlrank.sql_ast import find_nodes, is_null, sql_literal, unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
        if type(window.this) in _PREFIXES and _is_over_all(window):
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in reversed(windows_by_select.values()):  # a SELECT before the one that it is in
        _join_totals_of_select(tree, windows)


BUCKET = "bucket"
"""Column of a range of neighboring values, within which a window sorts on its own."""

_MANY = (BUCKET, "segment")
"""Computed columns that are small partitions already."""

_ABOVE = exp.WindowSpec(
    kind="ROWS",
    start="UNBOUNDED",
    start_side="PRECEDING",
    end=sql_literal(1),
    end_side="PRECEDING",
)
_BELOW = exp.WindowSpec(
    kind="ROWS",
    start=sql_literal(1),
    start_side="FOLLOWING",
    end="UNBOUNDED",
    end_side="FOLLOWING",
)
_OTHER_BUCKETS = {
    "": _ABOVE,
    "UNBOUNDED PRECEDING CURRENT ROW": _ABOVE,
    "UNBOUNDED PRECEDING 1 PRECEDING": _ABOVE,
    "CURRENT ROW UNBOUNDED FOLLOWING": _BELOW,
    "1 FOLLOWING UNBOUNDED FOLLOWING": _BELOW,
}
"""Frames of windows that are split, with those of the buckets that they contain in whole."""

_NUMBERS = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Sum,
    exp.Count,
    exp.Avg,
    exp.Floor,
    exp.ArrayPosition,
)
_POSITIONS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_NEIGHBORS = (exp.Lead, exp.Lag)
_OPERANDS = (exp.Window, exp.Paren, exp.Min, exp.Max, exp.Coalesce, exp.Nullif, exp.Neg)
"""Functions that are numbers, positions, values of other rows, and functions of one type with their
operand.
"""


SMALL_COMMENT = (
    "RAND() is never 1: one worker sorts these few rows. Without a partition Spark warns of that."
)


def split_windows(tree: exp.Expr, write_bucket: Callable[[exp.Expr], exp.Expr]) -> None:
    """Split windows that sort all rows, or all of a computed class, by buckets of the number that
    they sort by, in place; a step has sums over the other buckets. Other values that are summed up
    to equal ones, such as ratings, are buckets of their own. Of aggregates and series, which are
    few rows, the other windows get a partition that holds all of them.

    ``write_bucket`` returns the bucket of a number, which never falls as the number rises.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("WITH a AS (SELECT SUM(y) OVER (ORDER BY -x) AS n"
    ...     " FROM (SELECT y, y * 2 AS x FROM t) AS s) SELECT n FROM a")
    >>> split_windows(tree, lambda value: exp.Floor(this=value))
    >>> [cte.alias for cte in tree.find_all(exp.CTE)]
    ['a_rows', 'a_buckets', 'a']
    >>> tree = sqlglot.parse_one("SELECT ROW_NUMBER() OVER (ORDER BY x) AS n FROM (SELECT x FROM t GROUP BY x) AS s")
    >>> split_windows(tree, lambda value: exp.Floor(this=value))
    >>> tree.selects[0].sql()
    'ROW_NUMBER() OVER (PARTITION BY RAND() = 1 ORDER BY x) AS n'
    """  # noqa: E501
    steps = Steps(tree)
    splits_by_select: dict[int, list[_Split]] = {}
    windows_of_star: dict[int, list[exp.Window]] = {}
    small: list[exp.Window] = []
    for window in find_nodes(tree, exp.Window):
        select = cast("exp.Select", window.parent_select)
        if any(item.is_star for item in select.expressions):
            windows_of_star.setdefault(id(select), []).append(window)
        elif split := _find_split(steps, window, write_bucket):
            splits_by_select.setdefault(id(select), []).append(split)
        elif (
            window.args.get("order") is not None
            and not window.args.get("partition_by")
            and steps.is_small(select)
        ):
            small.append(window)
    _add_partitions(small)
    for windows in windows_of_star.values():
        _join_values_of_keys(tree, windows)
    for splits in reversed(splits_by_select.values()):  # a SELECT before the one that it is in
        _split_windows_of_select(tree, splits)


def _join_values_of_keys(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    """Compute windows over all rows beside all columns of a table once for each key, which are the
    columns that they sort by, in place: buckets would be columns of the result.

    The steps read one that reads the table, so that Spark computes a random one once.
    """
    windows = [window for window in windows if not window.args.get("partition_by")]
    columns = dict.fromkeys(
        column for window in windows for column in find_nodes(window, exp.Column)
    )
    select: Any = windows[0].parent_select if windows else None
    if not columns or select.args.get("joins") or not all(map(_has_value_of_key, windows)):
        return
    name = select.args["from_"].this.alias_or_name
    rows, _ = move_rows(select, "All rows, which two steps read.")
    rows.select("*", copy=False)
    source = exp.to_table(_add_stored_step(tree, select, rows, f"all_{name}"))
    source.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    keys = exp.select(*columns).from_(source).group_by(*columns, copy=False)
    keys.comments = ["One row per key that rows are sorted by."]
    step = add_step(tree, select, keys, f"{name}_keys")
    for window in windows:
        key_window = window.copy()
        if isinstance(window.this, exp.Count):
            key_window.set("this", exp.Sum(this=window.this.copy()))
        value = _add_item(keys, key_window, _name_value_of_key(window))
        window.replace(exp.column(value, table=step))
    _add_partitions(find_nodes(keys, exp.Window))
    select.from_(source, copy=False)
    equal = [
        exp.NullSafeEQ(this=exp.column(x.this.copy(), table=step), expression=x) for x in columns
    ]
    select.join(step, on=exp.and_(*equal), join_type="inner", copy=False)


def _has_value_of_key(window: exp.Window) -> bool:
    """Return True if a window has one value for all rows that are sorted alike."""
    is_count = isinstance(window.this, exp.Count) and isinstance(window.this.this, exp.Star)
    return not window.args.get("spec") and (is_count or isinstance(window.this, exp.DenseRank))


def _name_value_of_key(window: exp.Window) -> str:
    if isinstance(window.this, exp.DenseRank):
        return "key_number"
    return "num_rows" if _is_over_all(window) else "rows_so_far"


def _is_over_all(window: exp.Window) -> bool:
    return not any(window.args.get(part) for part in ("partition_by", "order", "spec", "alias"))


def _add_partitions(windows: Sequence[exp.Window]) -> None:
    """Add a partition of all rows by a condition that Spark cannot know to be false, and a comment
    at the first.
    """
    for window in windows:
        window.set("partition_by", [exp.EQ(this=exp.Rand(), expression=sql_literal(1))])
    if windows:
        select: Any = windows[0].parent_select
        select.comments = [*(select.comments or []), SMALL_COMMENT]


@dataclass(frozen=True)
class _Split:
    """A window to split, the terms of its order up to the value that it is split by, and the bucket
    of that.
    """

    window: exp.Window
    terms: list[exp.Ordered]
    bucket: exp.Expr


def _find_split(
    steps: Steps, window: exp.Window, write_bucket: Callable[[exp.Expr], exp.Expr]
) -> _Split | None:
    """Return the split of a window, None if it stays whole.

    Partitions by columns of the caller are many. Where files sort by the numbers of a series first,
    rows are few.
    """
    select, order = window.parent_select, window.args.get("order")
    if order is None or select is None or select.args.get("group"):
        return None
    for part in window.args.get("partition_by") or ():
        if part.name in _MANY or any(
            isinstance(x, exp.Column) for x in steps.find_expressions(part)
        ):
            return None
    terms: list[exp.Ordered] = order.expressions
    has_form = isinstance(window.this, (exp.Sum, exp.Count, exp.RowNumber, exp.Rank)) or (
        isinstance(window.this, (exp.DenseRank, *_NEIGHBORS)) and len(terms) == 1
    )
    flags = [*takewhile(lambda term: _is_flag(steps, term.this), terms)]
    sorted_by = next(iter(terms[len(flags) :]), None)
    if sorted_by is None or not has_form or _read_frame(window) not in _OTHER_BUCKETS:
        return None
    value: exp.Expr = sorted_by.this
    if value.name != BUCKET and _is_number(steps, value):
        return _Split(window, [*flags, sorted_by], write_bucket(value.copy()))
    sums_peers = window.args.get("spec") is None and isinstance(window.this, (exp.Sum, exp.Count))
    if sums_peers and not flags and len(terms) == 1 and steps.is_of_caller(value):
        return _Split(window, [sorted_by], value.copy())
    return None


def _is_flag(steps: Steps, value: exp.Expr) -> bool:
    """Return True if an expression has one of a few literals as its value."""
    branches = [
        branch
        for other in steps.find_expressions(value)
        for branch in (
            [*(case.args["true"] for case in other.args["ifs"]), other.args.get("default")]
            if isinstance(other, exp.Case)
            else [other]
        )
    ]
    return all(isinstance(branch, exp.Literal) for branch in branches)


def _read_frame(window: exp.Window) -> str:
    bounds = ("start", "start_side", "end", "end_side")
    spec = window.args.get("spec")
    values = [] if spec is None else [spec.args.get(bound) for bound in bounds]
    return " ".join(str(getattr(value, "name", value)) for value in values if value)


def _is_number(steps: Steps, value: exp.Expr) -> bool:
    """Return True if an expression is certain to be a number."""
    if isinstance(value, exp.Column):
        values = steps.find_expressions(value)
        return all(
            other.is_type(*exp.DataType.NUMERIC_TYPES)
            if isinstance(other, exp.Column)
            else _is_number(steps, other)
            for other in values
        )
    if isinstance(value, exp.Case):
        branches = [
            *(branch.args["true"] for branch in value.args["ifs"]),
            value.args.get("default"),
        ]
        return all(branch is not None and _is_number(steps, branch) for branch in branches)
    if isinstance(value, _OPERANDS):
        return _is_number(steps, value.this)
    is_numeric_cast = isinstance(value, exp.Cast) and value.to.is_type(*exp.DataType.NUMERIC_TYPES)
    return is_numeric_cast or value.is_number or isinstance(value, (*_NUMBERS, *_POSITIONS))


def _split_windows_of_select(tree: exp.Expr, splits: Sequence[_Split]) -> None:
    select: Any = splits[0].window.parent_select
    reader = select.find_ancestor(exp.CTE)
    title = "result" if reader is None else reader.alias
    comment = "Rows with buckets of the values that they are sorted by."
    rows, add_column = move_rows(select, comment)
    keyed = [
        (
            split.window,
            [
                add_column(part, part.name or "part")
                for part in split.window.args.get("partition_by") or ()
            ],
            [
                *(add_column(flag.this, flag.name or "flag") for flag in split.terms[:-1]),
                add_column(_write_bucket(split), _name_bucket(split)),
            ],
            [term.copy() for term in split.terms],
        )
        for split in splits
    ]
    pass_columns(select, add_column)
    step = _add_stored_step(tree, select, rows, f"{title}_rows")
    totals: dict[tuple[exp.Expr, ...], exp.Select] = {}
    for window, parts, bucket, terms in keyed:
        keys = (*parts, *bucket)
        window.set("partition_by", [key.copy() for key in keys])
        if keys not in totals:
            totals[keys] = exp.select(*keys).from_(step).group_by(*keys)
            totals[keys].comments = ["One row per bucket: sums over the buckets before it."]
        item = window.find_ancestor(exp.Alias)
        name = f"{item.alias if item else 'value'}_before"
        for term, key in zip(terms, bucket, strict=True):
            term.set("this", key.copy())
        before = _sum_other_buckets(window, parts, terms)
        _add_other_buckets(window, exp.column(_add_item(totals[keys], before, name)))
    _read_totals_of_buckets(select, next(iter(totals.values())), rows.named_selects)
    select.from_(step, copy=False)
    for keys, total in totals.items():
        name = add_step(tree, select, total, f"{title}_buckets")
        select.join(name, using=[key.name for key in keys], join_type="inner", copy=False)


def _add_item(select: exp.Select, value: exp.Expr, name: str, taken: Iterable[str] = ()) -> str:
    """Return the name of a value in a SELECT, which gets it if it has none that is equal."""
    for item in select.selects:
        if item.unalias() == value:
            return item.alias_or_name
    name = unique_name(name, [*taken, *select.named_selects])
    select.select(value.as_(name), copy=False)
    return name


def _read_totals_of_buckets(select: exp.Select, buckets: exp.Select, names: Iterable[str]) -> None:
    """Replace sums OVER () of a SELECT, in place, by those of its buckets: a step of totals would
    read the rows once more.
    """
    part = is_null(exp.Min(this=buckets.args["group"].expressions[-1]))
    for window in [window for item in select.selects for window in find_nodes(item, exp.Window)]:
        if isinstance(window.this, exp.Sum) and _is_over_all(window):
            total = exp.Window(this=exp.Sum(this=window.this.copy()), partition_by=[part.copy()])
            name = _add_item(buckets, total, _name_total(window, window.this), names)
            _replace_window(window, exp.column(name))


def _replace_window(window: exp.Window, column: exp.Expr, is_grouped: bool = False) -> None:
    """Replace a window by the column with its value, and an item of the name of this as a whole."""
    is_item = isinstance(window.parent, exp.Alias) and window.parent.alias == column.name
    replaced: Any = window.parent if is_item and not is_grouped else window
    column.comments = replaced.comments
    replaced.replace(exp.Max(this=column) if is_grouped else column)


def _write_bucket(split: _Split) -> exp.Expr:
    """Return the bucket of the last term, 0 of NULLs, which a flag sorts apart."""
    if len(split.terms) == 1:
        return split.bucket
    return exp.Coalesce(this=split.bucket, expressions=[sql_literal(0)])


def _name_bucket(split: _Split) -> str:
    column = split.terms[-1].find(exp.Column)
    if column is not None and column == split.bucket:
        return column.name
    return BUCKET if column is None else f"{column.name}_{BUCKET}"


def _sum_other_buckets(
    window: exp.Window, parts: Sequence[exp.Expr], terms: list[exp.Ordered]
) -> exp.Expr:
    """Return the sum over the buckets before one, or the value of their row that is nearest.

    Without parts, the key of the only partition is a condition that Spark cannot know.
    """
    value = window.this
    is_neighbor = isinstance(value, _NEIGHBORS)
    if is_neighbor:
        is_lowest = bool(terms[-1].args.get("desc")) is isinstance(value, exp.Lag)
        sorted_by = window.args["order"].expressions[0].this.copy()
        nearest = (exp.ArgMin if is_lowest else exp.ArgMax)(
            this=value.this.copy(), expression=sorted_by
        )
        outer: exp.Expr = type(value)(this=nearest)
    elif isinstance(value, exp.DenseRank):
        distinct = exp.Distinct(expressions=[window.args["order"].expressions[0].this.copy()])
        outer = exp.Sum(this=exp.Count(this=distinct))
    else:
        is_position = isinstance(value, _POSITIONS)
        outer = exp.Sum(this=exp.Count(this=exp.Star()) if is_position else value.copy())
    return exp.Window(
        this=outer,
        partition_by=[key.copy() for key in parts]
        or [is_null(exp.Min(this=terms[-1].this.copy()))],
        order=exp.Order(expressions=terms),
        spec=None if is_neighbor else _OTHER_BUCKETS[_read_frame(window)].copy(),
    )


def _add_other_buckets(window: exp.Window, before: exp.Expr) -> None:
    """Add the sum over the buckets before to a window within a bucket, in place."""
    if isinstance(window.this, _NEIGHBORS):
        window.this.set("offset", sql_literal(1))
        window.this.set("default", before)
        return
    holder = exp.Paren(this=sql_literal(0))
    window.replace(holder)
    if isinstance(window.this, _POSITIONS):
        start = exp.Coalesce(this=before, expressions=[sql_literal(0)])
        holder.set("this", exp.Add(this=start, expression=window))
    else:
        total = exp.Add(this=before.copy(), expression=window)
        values = [before, window.copy()]
        if isinstance(parent := holder.parent, exp.Coalesce) and parent.this is holder:
            holder.replace(total)
            parent.set("expressions", [*values, *parent.expressions])
        else:
            holder.replace(exp.Coalesce(this=total, expressions=values))


def _join_totals_of_select(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    select: Any = windows[0].parent_select
    is_grouped = bool(select.args.get("group")) or any(map(is_aggregated, select.selects))
    if is_grouped and not all(
        isinstance(window.this, exp.Sum) and isinstance(window.this.this, exp.Sum)
        for window in windows
    ):
        return
    totals = exp.Select()
    totals.comments = ["One row: aggregates of all rows."]
    for clause in JOINED:
        totals.set(clause, deepcopy(select.args.get(clause)))
    source = select.args["from_"].this.alias_or_name
    step = add_step(tree, select, totals, f"{source}_totals")
    for window in windows:
        total = window.this.this if is_grouped else window.this
        named = {item.this: item.alias for item in totals.selects}
        if total not in named:
            named[total] = unique_name(_name_total(window, total), totals.named_selects)
            totals.select(exp.alias_(total.copy(), named[total]), copy=False)
        _replace_window(window, exp.column(named[total], table=step), is_grouped)
    _qualify_columns(select)
    select.join(step, join_type="cross", copy=False)
    for cte in find_nodes(tree, exp.CTE):
        if cte.alias in {table.name for table in find_nodes(totals, exp.Table)}:
            _request_materialization(tree, cte)


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


def _add_stored_step(tree: exp.Expr, select: exp.Expr, rows: exp.Select, name: str) -> str:
    """Add a step that several others read, and return its name."""
    step = add_step(tree, select, rows, name)
    _request_materialization(tree, next(c for c in find_nodes(tree, exp.CTE) if c.alias == step))
    return step


def _request_materialization(tree: exp.Expr, cte: exp.CTE) -> None:
    """Mark a CTE, unless it reads tables of the user only."""
    names = {other.alias for other in find_nodes(tree, exp.CTE)} - {cte.alias}
    if any(table.name in names for table in find_nodes(cte.this, exp.Table)):
        cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
