"""Build the query of effects from the sums of variants: differences, lifts, intervals, tests, and the sample ratio test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.experiments.design import SAMPLE_RATIO, ExperimentDesign
from sqlrank.experiments.experiment_steps import read_step, source_table_names, with_ctes
from sqlrank.experiments.variant_sums import unit_denominators, variant_sum_ctes, zero_moments
from sqlrank.result_columns import EXPERIMENT_SCHEMA
from sqlrank.sql_ast import case_when, count_rows, double_literal, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.rendering.renderer import StatementHeader


TUNED_FOR = 5000
"""Number of units at which always-valid intervals are tuned to be the narrowest."""

SRM_ALPHA = 0.001
"""Significance level of the sample ratio mismatch test."""

SAMPLE_RATIO_STEPS = (
    "sample_ratio_counts",
    "sample_ratio_statistic",
    "chi_square_tails",
    "chi_square_points",
    "chi_square_densities",
    "sample_ratio_test",
)

NEWTON_STEPS = 3
"""Newton iterations of a quantile: from the first guess, accurate to 0.04, they give 13 digits."""


def effect_ctes(design: ExperimentDesign, control: str) -> dict[str, exp.Query]:
    """Return the CTEs from ``metric_moments`` to ``results``.

    ``results`` has a row per metric and variant other than the control, and one of the sample ratio test.
    """
    names = ["variant_ratios", "linearized_moments"]
    if has_covariates := any(estimate.covariate for estimate in design.estimates):
        names += ["pooled_moments", "pooled_squares", "covariate_coefficients", "adjusted_moments"]
    bindings = {
        "control": sql_literal(control),
        "alpha": _build_alpha(design),
        "confidence": sql_literal(design.confidence),
        "power": sql_literal(design.power),
        "tuned_for": sql_literal(TUNED_FOR),
        "mismatch": sql_literal(SRM_ALPHA),
        "gain": _signed_difference(design),
        **_sample_ratio_bindings(design),
    }
    interval_limits = read_step("relative_intervals", f"{design.lift_scale}.sql").selects
    bindings |= {select_item.alias: select_item.this for select_item in interval_limits}
    ctes: dict[str, exp.Query] = {name: _bind_step(bindings, name) for name in names}
    for name in names[1:4]:
        _drop_zero_terms(ctes[name], zero_moments(design))
    if has_covariates:
        _drop_unit_factors(ctes["pooled_moments"], unit_denominators(design))
    for name in ("variant_estimates", "variant_pairs"):
        ctes[name] = _bind_step(bindings, name, "adjusted" if has_covariates else "unadjusted")
    ctes["variance_shares"] = _bind_step(bindings, "variance_shares")
    ctes["effects"] = _bind_step(bindings, "effects", design.lift_scale)
    ctes |= {"quadrature_nodes": _bind_step(bindings, "quadrature_nodes"), **_critical_value_ctes(design, bindings)}
    ctes |= {name: _bind_step(bindings, name) for name in ("p_values", "p_value_ranks")}
    ctes["corrected_p_values"] = _bind_step(bindings, "corrected_p_values", design.correction)
    ctes |= {name: _bind_step(bindings, name) for name in SAMPLE_RATIO_STEPS}
    if not design.expected_shares:
        _drop_missing_variants(ctes["sample_ratio_statistic"])
    return ctes | {"results": _with_sample_ratio(_bind_step(bindings, "results"))}


def _bind_step(bindings: Mapping[str, exp.Expr], *path: str) -> Any:
    """Return the SELECT of a step with its parameters replaced."""
    return exp.replace_placeholders(read_step(*path[:-1], f"{path[-1]}.sql"), **{name: value.copy() for name, value in bindings.items()})


def _build_alpha(design: ExperimentDesign) -> exp.Expr:
    """Return the significance level of an interval, divided by their number unless uncorrected."""
    alpha: exp.Expr = exp.Sub(this=sql_literal(1), expression=sql_literal(design.confidence))
    if design.correction == "none":
        return alpha
    return exp.Div(this=exp.paren(alpha), expression=exp.Window(this=count_rows()))


def _critical_value_ctes(design: ExperimentDesign, bindings: Mapping[str, exp.Expr]) -> dict[str, exp.Query]:
    """Return the CTEs to ``critical_values``, with the half-widths of intervals and the p-values."""
    if design.interval == "sequential":
        return {
            "sequence_scales": _bind_step(bindings, "sequence_scales"),
            "critical_values": _bind_step(bindings, "critical_values", "sequential"),
        }
    quantiles = "t_first_guesses"
    ctes: dict[str, exp.Query] = {name: _bind_step(bindings, name) for name in ("t_requests", "t_normalizers", quantiles)}
    for iteration in range(1, NEWTON_STEPS + 1):
        integrals = f"t_integrals_{iteration}"
        ctes[integrals] = _replace_sources(_bind_step(bindings, "t_integrals"), {"t_quantiles": quantiles})
        quantiles = f"t_quantiles_{iteration}"
        ctes[quantiles] = _replace_sources(_bind_step(bindings, "t_quantiles"), {"t_integrals": integrals})
    ctes["t_critical_values"] = _replace_sources(_bind_step(bindings, "t_critical_values"), {"t_quantiles": quantiles})
    return ctes | {"critical_values": _bind_step(bindings, "critical_values", "fixed")}


def _replace_sources(query: exp.Select, names: Mapping[str, str]) -> exp.Select:
    """Replace the sources of a query in place, for CTEs that repeat one file."""
    for table in find_nodes(query, exp.Table):
        if table.name in names:
            table.set("this", exp.to_identifier(names[table.name]))
    return query


def _drop_zero_terms(query: exp.Query, zeros: Collection[str]) -> None:
    """Drop the terms of sums with a factor that is 0 for all metrics."""
    for column in find_nodes(query, exp.Column):
        term: exp.Expr = column
        while isinstance(term.parent, exp.Mul):
            term = term.parent
        if column.name in zeros and isinstance(total := term.parent, (exp.Add, exp.Sub)) and term is total.expression:
            enclosing = total.parent
            is_column = isinstance(total.this, exp.Column) and isinstance(enclosing, exp.Paren)
            replaced: exp.Expr = enclosing if is_column and enclosing is not None else total
            replaced.replace(total.this)


def _drop_unit_factors(query: exp.Query, ones: Collection[str]) -> None:
    """Drop the factors that are 1 for all metrics, and write 1 for their mean."""
    for column in find_nodes(query, exp.Column):
        if column.name in ones and isinstance(product := column.parent, exp.Mul):
            product.replace(product.this)
    for select_item in query.selects:
        if select_item.alias in ones:
            select_item.set("this", double_literal(1))


def _drop_missing_variants(query: exp.Query) -> None:
    """Drop the term of expected variants without units: equal shares are those of the variants that have units."""
    statistic = next(select_item for select_item in query.selects if select_item.alias == "statistic").this
    statistic.replace(statistic.this)


def _signed_difference(design: ExperimentDesign) -> exp.Expr:
    """Return the difference from the control, with the sign turned if lower is better."""
    difference = exp.column("difference")
    lower = [sql_literal(estimate.name) for estimate in design.estimates if estimate.lower_is_better]
    if len(lower) == len(design.estimates):
        return exp.Neg(this=difference)
    if not lower:
        return difference
    is_lower = exp.In(this=exp.column("metric"), expressions=lower)
    return case_when(is_lower, exp.Neg(this=difference), difference.copy())


def _sample_ratio_bindings(design: ExperimentDesign) -> dict[str, exp.Expr]:
    """Return the parameters of the sample ratio test: the expected share of a variant, their number, and a metric whose units are counted."""
    share: exp.Expr = exp.Div(this=sql_literal(1), expression=exp.Window(this=count_rows()))
    if design.expected_shares:
        ifs = [
            exp.If(this=exp.EQ(this=exp.column("variant"), expression=sql_literal(name)), true=sql_literal(float(expected_share)))
            for name, expected_share in design.expected_shares.items()
        ]
        share = exp.Case(ifs=ifs, default=double_literal(0))
    variants = sql_literal(len(design.expected_shares)) if design.expected_shares else count_rows()
    return {"share": share, "variants": variants, "metric": sql_literal(design.estimates[0].name)}


SQL_TYPES = {"string": "TEXT", "double": "DOUBLE", "int64": "BIGINT"}
"""SQL types of columns by their Arrow types."""

PRINTED_COLUMNS = {name: SQL_TYPES[data_type] for name, data_type in EXPERIMENT_SCHEMA.items()}
"""Columns of a result, and their SQL types."""

MULTI_VARIANT_COLUMN = "multi_variant_units"
"""The column of a printed statement with the number of units in several variants."""

SAMPLE_RATIO_COLUMNS = ("n_units", "statistic", "df", "p_value", MULTI_VARIANT_COLUMN)
"""Columns of the row of the sample ratio test."""


def effects_query(design: ExperimentDesign, control: str) -> Any:
    """Return the query from a table ``metric_moments``, the sums of variants, to the result rows."""
    return with_ctes({**effect_ctes(design, control), "rows": _result_columns(PRINTED_COLUMNS)}, set())


def experiment_statement(design: ExperimentDesign, observations: BoundInput, control: str, header: StatementHeader) -> CompiledStatement:
    """Return the statement of the result rows, with the number of units left out."""
    columns = {**PRINTED_COLUMNS, MULTI_VARIANT_COLUMN: "BIGINT"}
    body = _result_columns(columns).order_by("metric", "variant")
    tree = with_ctes(
        {**variant_sum_ctes(design, observations), **effect_ctes(design, control), "rows": body}, source_table_names(observations)
    )
    outputs = [OutputColumn(name, name, "row") for name in columns]
    return CompiledStatement(tree, outputs, header)


def _result_columns(columns: Mapping[str, str]) -> exp.Select:
    """Return the SELECT of these columns, in which counts have their type: within CTEs, ClickHouse has them as doubles."""
    return exp.select(
        *(
            exp.alias_(exp.cast(exp.column(name), sql_type), name) if sql_type == "BIGINT" else exp.column(name)
            for name, sql_type in columns.items()
        )
    ).from_("results")


def _with_sample_ratio(effects: exp.Select) -> exp.Query:
    """Return the rows of effects and the row of the sample ratio test, which has few of their columns."""
    names = effects.named_selects
    values: list[exp.Expr] = [exp.column(name) if name in SAMPLE_RATIO_COLUMNS else exp.Null() for name in names]
    values[names.index("metric")] = sql_literal(SAMPLE_RATIO)
    ratio = exp.select(*values).from_("sample_ratio_test")
    return exp.union(effects, ratio, distinct=False, copy=False)
