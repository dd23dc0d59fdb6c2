"""Estimate effects from the sums of variants: differences, lifts, intervals, tests, and the sample ratio."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.parameter_binding import sql_literal
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.experiments.design import SAMPLE_RATIO
from sqlrank.experiments.variant_sums import double_literal, read_step, source_table_names, variant_sum_ctes, with_ctes
from sqlrank.result_columns import EXPERIMENT_SCHEMA
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.experiments.design import ExperimentDesign
    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.rendering.header import StatementHeader


TUNED_FOR = 5000
"""Number of units at which always-valid intervals are tuned to be the narrowest."""

SRM_ALPHA = 0.001
"""Significance level of the sample ratio mismatch test."""

NEWTON_STEPS = 3
"""Newton iterations of a quantile: from the first guess, accurate to 0.04, they give 13 digits."""


def effect_ctes(design: ExperimentDesign, control: str) -> dict[str, exp.Query]:
    """Return the CTEs from ``metric_moments`` to ``results`` and ``sample_ratio_test``.

    ``results`` has a row per metric and variant other than the control, ``sample_ratio_test`` the sample ratio test.
    """
    ctes: dict[str, exp.Query] = {"pooled_moments": _bound("pooled_moments", control=exp.Literal.string(control))}
    ctes |= {name: _bound(name) for name in ("covariate_coefficients", "adjusted_means", "effects")}
    ctes["relative_effects"] = _bound("relative_effects", design.lift_scale, alpha=_alpha(design))
    ctes["quadrature_nodes"] = _bound("quadrature_nodes")
    ctes |= _distribution(design)
    lift_limits = {select_item.alias: select_item.this for select_item in _bound("lift_limits", design.lift_scale).selects}
    ctes["confidence_intervals"] = _bound("confidence_intervals", **lift_limits)
    ctes["p_values"] = _bound("p_values")
    ctes["corrected_p_values"] = _bound("corrected_p_values", p_adjusted=_bound("corrections", design.correction).selects[0].this)
    ctes |= {"sample_ratio_statistic": _sample_ratio(design), "sample_ratio_test": _bound("sample_ratio_test")}
    verdicts = {"mismatch": sql_literal(SRM_ALPHA), "confidence": sql_literal(design.confidence), "gain": _gain(design)}
    return ctes | {"results": _bound("results", **verdicts)}


def _bound(*path: str, **values: exp.Expr) -> Any:
    return exp.replace_placeholders(read_step(*path[:-1], f"{path[-1]}.sql"), **{name: value.copy() for name, value in values.items()})


def _alpha(design: ExperimentDesign) -> exp.Expr:
    """Return the significance level of an interval, divided by their number unless uncorrected."""
    alpha: exp.Expr = exp.Sub(this=sql_literal(1), expression=sql_literal(design.confidence))
    if design.correction == "none":
        return alpha
    return exp.Div(this=exp.paren(alpha), expression=exp.Window(this=exp.Count(this=exp.Star())))


def _distribution(design: ExperimentDesign) -> dict[str, exp.Query]:
    """Return the CTEs to ``critical_values``, with the half-widths of intervals and the p-values."""
    if design.interval == "sequential":
        ctes: dict[str, exp.Query] = {"sequence_scales": _bound("sequence_scales", tuned_for=sql_literal(TUNED_FOR))}
    else:
        bend = _bound("t_density_ratio").selects[0].this
        ctes = {
            "t_requests": _bound("t_requests", confidence=sql_literal(design.confidence), power=sql_literal(design.power)),
            "t_normalizers": _bound("t_normalizers", bend=bend),
        }
        names = ["t_normalizers", *(f"t_newton_{iteration}" for iteration in range(1, NEWTON_STEPS + 1))]
        for previous, name in pairwise(names):
            ctes[name] = _reading(_bound("t_newton_steps", bend=bend), previous)
        return ctes | {"critical_values": _reading(_bound("critical_values", "fixed", bend=bend), names[-1])}
    return ctes | {"critical_values": _bound("critical_values", "sequential")}


def _reading(query: exp.Select, cte: str) -> exp.Select:
    """Replace the source CTE of a query in place, for CTEs that repeat one file."""
    for table in find_nodes(query, exp.Table):
        if table.name in {"t_normalizers", "t_newton_steps"}:
            table.set("this", exp.to_identifier(cte))
    return query


def _gain(design: ExperimentDesign) -> exp.Expr:
    """Return the difference from the control, with the sign turned if lower is better."""
    difference = exp.column("difference", table="l")
    lower = [exp.Literal.string(estimate.name) for estimate in design.estimates if estimate.lower_is_better]
    if len(lower) == len(design.estimates):
        return exp.Neg(this=difference)
    if not lower:
        return difference
    is_lower = exp.In(this=exp.column("metric", table="l"), expressions=lower)
    return exp.Case(ifs=[exp.If(this=is_lower, true=exp.Neg(this=difference))], default=difference.copy())


def _sample_ratio(design: ExperimentDesign) -> exp.Select:
    """Return a query of one row: number of units, chi-square statistic and degrees of freedom."""
    share: exp.Expr = exp.Div(this=sql_literal(1), expression=exp.Window(this=exp.Count(this=exp.Star())))
    if design.expected_shares:
        ifs = [
            exp.If(this=exp.EQ(this=exp.column("variant"), expression=exp.Literal.string(name)), true=sql_literal(float(expected_share)))
            for name, expected_share in design.expected_shares.items()
        ]
        share = exp.Case(ifs=ifs, default=double_literal(0))
    variants = sql_literal(len(design.expected_shares)) if design.expected_shares else exp.Count(this=exp.Star())
    query: exp.Select = _bound(
        "sample_ratio_statistic", share=share, variants=variants, metric=exp.Literal.string(design.estimates[0].name)
    )
    return query


SQL_TYPES = {"string": "TEXT", "double": "DOUBLE", "int64": "BIGINT"}
"""SQL types of columns by their Arrow types."""

PRINTED_COLUMNS = {name: SQL_TYPES[data_type] for name, data_type in EXPERIMENT_SCHEMA.items()}
"""Columns of a result, and their SQL types."""

MULTI_VARIANT_COLUMN = "multi_variant_units"
"""The column of a printed statement with the number of units in several variants."""

RATIO_COLUMNS = ("n_units", "statistic", "df", "p_value")


def effects_query(design: ExperimentDesign, control: str) -> Any:
    """Return the query from a table ``metric_moments``, the sums of variants, to the result rows."""
    body = exp.select(*(exp.column(name, table="found") for name in PRINTED_COLUMNS)).from_(_rows(PRINTED_COLUMNS))
    return with_ctes({**effect_ctes(design, control), "result": body}, set())


def experiment_statement(design: ExperimentDesign, observations: BoundInput, control: str, header: StatementHeader) -> CompiledStatement:
    """Return the statement of the result rows, with the number of units left out."""
    columns = {**PRINTED_COLUMNS, MULTI_VARIANT_COLUMN: "BIGINT"}
    body = exp.select(*(exp.column(name, table="found") for name in columns)).from_(_rows(columns))
    body = body.order_by(*(exp.column(name, table="found") for name in ("metric", "variant")))
    tree = with_ctes(
        {**variant_sum_ctes(design, observations), **effect_ctes(design, control), "result": body}, source_table_names(observations)
    )
    outputs = [OutputColumn(name, name, "row") for name in columns]
    return CompiledStatement(tree, outputs, header)


def _rows(columns: Mapping[str, str]) -> exp.Subquery:
    """Return the result rows and the sample ratio row, with these columns and types."""
    ratio_columns: dict[str, exp.Expr] = {name: exp.cast(exp.Null(), sql_type) for name, sql_type in columns.items()}
    ratio_columns |= {
        name: exp.cast(exp.column(name, table="m"), columns[name]) for name in (*RATIO_COLUMNS, MULTI_VARIANT_COLUMN) if name in columns
    }
    ratio_columns["metric"] = exp.cast(exp.Literal.string(SAMPLE_RATIO), "TEXT")
    effect_columns = [exp.alias_(exp.cast(exp.column(name, table="v"), sql_type), name) for name, sql_type in columns.items()]
    ratio = exp.select(*(exp.alias_(value, name) for name, value in ratio_columns.items())).from_(
        exp.to_table("sample_ratio_test").as_("m")
    )
    return exp.union(exp.select(*effect_columns).from_(exp.to_table("results").as_("v")), ratio, distinct=False).subquery("found")
