"""Select columns in a row per metric, by a CASE over metrics where their formulas differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.interval_options import METRIC_COLUMN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STRICT_COLUMNS = {"proportion"}
"""Columns that are NULL for metrics without them; of others, such metrics have the formula of the
rest, which nobody reads.
"""


def select_by_metric(items: Mapping[str, Sequence[exp.Expr]]) -> list[exp.Expr]:
    """Return the columns of metrics in rows of their own, each once, with the comments of all.

    Args:
        items: Columns of each metric, by its name.

    >>> import sqlglot
    >>> items = {
    ...     metric: sqlglot.parse_one(f"SELECT {text}").expressions
    ...     for metric, text in {"auc": "SQRT(a) AS se", "ap": "SQRT(b) AS se"}.items()
    ... }
    >>> [item.sql() for item in select_by_metric(items)]
    ["SQRT(CASE WHEN metric = 'ap' THEN b ELSE a END) AS se"]
    """
    by_column: dict[str, dict[str, exp.Expr]] = {}
    for metric, columns in items.items():
        for column in columns:
            by_column.setdefault(column.alias_or_name, {})[metric] = column
    merged: list[exp.Expr] = []
    for name, columns_by_metric in by_column.items():
        values = {metric: column.unalias().unnest() for metric, column in columns_by_metric.items()}
        value = _merge_expressions(
            values, strict=name in STRICT_COLUMNS and len(values) < len(items)
        )
        column = value if value == exp.column(name) else exp.alias_(value, name)
        column.comments = list(
            dict.fromkeys(
                comment for item in columns_by_metric.values() for comment in item.comments or ()
            )
        )
        merged.append(column)
    return merged


def case_by_metric(values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a CASE with a branch for each metric; a plain value if all are equal."""
    first, *rest = values.values()
    if all(value == first for value in rest):
        return first
    ifs = [exp.If(this=exp.Literal.string(metric), true=value) for metric, value in values.items()]
    return exp.Case(this=exp.column(METRIC_COLUMN), ifs=ifs)


def _merge_expressions(values: Mapping[str, exp.Expr], strict: bool) -> exp.Expr:
    """Return one expression for all metrics: a CASE around the parts in which theirs differ."""
    metrics: dict[exp.Expr, list[str]] = {}
    for metric, value in values.items():
        metrics.setdefault(value, []).append(metric)
    first, *rest = metrics
    if strict:
        return exp.Case(
            ifs=[
                exp.If(this=_is_metric_in(names), true=value.copy())
                for value, names in metrics.items()
            ]
        )
    if not rest:
        return first.copy()
    if type(first) in {exp.Sqrt, exp.Paren} and all(type(value) is type(first) for value in rest):
        return type(first)(
            this=_merge_expressions(
                {metric: value.this for metric, value in values.items()}, strict=False
            )
        )
    if isinstance(first, exp.Binary) and all(type(value) is type(first) for value in rest):
        if all(value.this == first.this for value in rest):
            right = _merge_expressions(
                {metric: value.expression for metric, value in values.items()}, strict=False
            )
            return type(first)(this=first.this.copy(), expression=right)
        if all(value.expression == first.expression for value in rest):
            left = _merge_expressions(
                {metric: value.this for metric, value in values.items()}, strict=False
            )
            return type(first)(this=left, expression=first.expression.copy())
    most = max(metrics, key=lambda value: len(metrics[value]))
    ifs = [
        exp.If(this=_is_metric_in(names), true=value.copy())
        for value, names in metrics.items()
        if value is not most
    ]
    return exp.Case(ifs=ifs, default=most.copy())


def _is_metric_in(metrics: Sequence[str]) -> exp.Expr:
    """Return the condition that a row is that of one of these metrics."""
    column, names = exp.column(METRIC_COLUMN), [exp.Literal.string(metric) for metric in metrics]
    return (
        exp.In(this=column, expressions=names)
        if len(names) > 1
        else exp.EQ(this=column, expression=names[0])
    )
