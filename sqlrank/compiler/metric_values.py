"""Build the expressions of metric values: fill undefined ones by the policy, and aggregate values
over lists or queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.parameter_binding import inline_function
from sqlrank.compiler.select_builders import null_if_not_finite
from sqlrank.errors import MetricError
from sqlrank.interval_options import MULTIPLICITY_COLUMN
from sqlrank.sql_ast import case_when, count_rows, find_nodes, is_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


def fill_undefined(
    relations: RelationCtes, column: MetricColumn, settings: Mapping[str, ParameterValue]
) -> exp.Expr:
    """Return the value of a metric, with undefined values filled by the policy."""
    value = undefined_value(relations, column)
    if column.metric.file.is_always_defined:
        return exp.func("COALESCE", value, sql_literal(0))
    return relations.apply_function("if_undefined", settings, value)


def undefined_value(relations: RelationCtes, column: MetricColumn) -> exp.Expr:
    """Return the value of a metric, NULL where it is undefined."""
    value: exp.Expr = exp.column(column.alias, table=column.cte)
    is_infinite = relations.library.may_be_infinite(
        column.metric.file, column.metric.dependencies.files
    )
    return null_if_not_finite(value) if is_infinite else value


def undefined_key(metric: ResolvedMetric) -> tuple[Any, ...]:
    """Return a key of metrics that are undefined for the same lists and treat them in the same
    way.
    """
    settings, column = metric.settings, metric.measured_column
    shared = [settings.get(name) for name in ("if_undefined", "rel", "gain", "baseline")]
    return (
        metric.file.annotations.get("Undefined"),
        *map(str, shared),
        None if column is None else column.name,
    )


def fill_undefined_group(relations: RelationCtes, column: MetricColumn) -> exp.Expr:
    """Return a group metric; undefined values stay NULL unless a policy fills them."""
    return fill_undefined(relations, column, {"if_undefined": "skip", **column.metric.settings})


def aggregate_metric(
    relations: RelationCtes, column: MetricColumn, weighted: bool, is_resampled: bool = False
) -> exp.Expr:
    """Return the aggregate of a metric over all lists of a group."""
    value, is_never_null = exp.column(column.alias), is_resampled and not column.is_nullable
    return aggregate_expression(
        relations.library,
        column.metric,
        value,
        column.grain,
        weighted=weighted,
        is_resampled=is_resampled,
        is_never_null=is_never_null,
    )


def aggregate_expression(
    library: Registry,
    metric: ResolvedMetric,
    value: exp.Expr,
    unit: str,
    *,
    weighted: bool,
    is_resampled: bool = False,
    is_never_null: bool = False,
) -> exp.Expr:
    """Aggregate values of a ``unit``: NULL if one is missing and the policy demands it.

    Resampled values are weighted by their multiplicity.
    """
    settings = metric.settings
    function = settings.get("aggregate", "wmean" if weighted else "mean")
    if function == "wmean" and not weighted:
        reason = (
            "is for metrics of rankings"
            if unit == "query"
            else "needs a queries table with a weight column"
        )
        raise MetricError(f"aggregate='wmean' {reason}")
    weight = exp.column("weight") if weighted or is_resampled else sql_literal(1)
    if is_resampled and function == "mean":
        function, weight = "wmean", exp.column(MULTIPLICITY_COLUMN) if weighted else weight
    expression = inline_function(
        library, "aggregate", [value, weight], {**settings, "aggregate": function}
    )
    if is_never_null:
        expression = _drop_null_cases(expression, value)
    if library.may_be_infinite(
        metric.file, [*metric.dependencies.files, library.find_function("aggregate", str(function))]
    ):
        expression = null_if_not_finite(expression)
    if settings.get("if_undefined") == "null":
        incomplete = exp.LT(this=exp.Count(this=value.copy()), expression=count_rows())
        return case_when(incomplete, exp.Null(), expression)
    return expression


def _drop_null_cases(expression: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Drop the CASE for NULL values.

    Engines then share sums between metrics of the same queries.
    """
    null_condition = is_null(value)
    for case in find_nodes(expression, exp.Case):
        if [branch.this for branch in case.args["ifs"]] == [null_condition]:
            case.replace(case.args["default"])
    return expression
