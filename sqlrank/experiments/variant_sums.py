"""Build the CTEs that sum observations per unit and variant, impute missing covariates, and find terms always 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.experiments.design import SUM_ROLES, ExperimentDesign, ExperimentMetric
from sqlrank.experiments.experiment_steps import OBSERVATIONS, read_step, rename_ctes, with_comment
from sqlrank.registry.query_templates import describe_rows
from sqlrank.sql_ast import case_when, double_literal, find_nodes, is_not_null, is_null, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.bound_input import BoundInput

KEYS = ("unit_id", "variant")
ROLE_LETTERS = dict(zip(SUM_ROLES, "vdce", strict=True))
"""Letters of the roles in the names of sums of products."""

PRODUCTS = ("svv", "svd", "sdd", "scc", "sce", "see", "svc", "sve", "sdc", "sde")
MISSING_COVARIATE = "missing"
COVARIATE_COUNT = "count"
COVARIATE_MEAN = "overall_mean"


def variant_sum_ctes(design: ExperimentDesign, observations: BoundInput) -> dict[str, exp.Query]:
    """Return the CTEs from observations to ``metric_moments``, in order.

    ``metric_moments`` has a row per metric and variant.
    """
    amounts = list(design.unit_sum_columns.values())
    covariate_columns = [name for (_, is_covariate), name in design.unit_sum_columns.items() if is_covariate]
    other_columns = [name for name in amounts if name not in covariate_columns]
    ctes: dict[str, exp.Query] = {
        OBSERVATIONS: with_comment(observations.select_columns([*KEYS, *amounts]), describe_rows(observations.role.description))
    }
    ctes["experiment_units"] = _select_columns(
        read_step("experiment_units.sql"), {name: exp.Sum(this=exp.column(name)) for name in amounts}
    )
    ctes["variant_means"] = _select_columns(read_step("variant_means.sql"), _list_means(amounts, covariate_columns))
    covariate_counts = [f"{name}_{COVARIATE_COUNT}" for name in covariate_columns]
    ctes["variant_summaries"] = _select_columns(
        read_step("variant_summaries.sql"),
        {name: exp.column(name) for name in [*map(_variant_mean, amounts), *covariate_counts]} | _covariate_means(covariate_columns),
    )
    if covariate_columns:
        unchanged_columns = [
            *map(_variant_mean, other_columns),
            *covariate_counts,
            *(f"{name}_{COVARIATE_MEAN}" for name in covariate_columns),
        ]
        ctes["imputed_means"] = _select_columns(
            read_step("imputed_means.sql"), {name: exp.column(name) for name in unchanged_columns} | _impute_covariates(covariate_columns)
        )
    ctes["variant_comoments"] = rename_ctes(
        _select_sums(design, covariate_columns), {"variant_summaries": "imputed_means"} if covariate_columns else {}
    )
    ctes["metric_moments"] = _metric_sums(design)
    return ctes


def _select_columns(query: exp.Select, columns: Mapping[str, exp.Expr]) -> exp.Select:
    return query.select(*(value if value == exp.column(name) else exp.alias_(value, name) for name, value in columns.items()), copy=False)


def _variant_mean(amount: str) -> str:
    """Return the column of the mean of an amount in a variant, ``variant_mean_0``."""
    return f"variant_{_name_mean(amount)}"


def _name_mean(amount: str) -> str:
    """Return the column of the mean beside sums about it: ClickHouse reads an alias in place of a column of its name."""
    return f"mean_{amount.removeprefix('amount_')}"


def _list_means(amounts: list[str], covariate_columns: list[str]) -> dict[str, exp.Expr]:
    """Return the mean of each per-unit sum, and the number of known covariates."""
    columns: dict[str, exp.Expr] = {_variant_mean(name): exp.Avg(this=exp.column(name)) for name in amounts}
    return columns | {f"{name}_{COVARIATE_COUNT}": exp.Count(this=exp.column(name)) for name in covariate_columns}


def _covariate_means(covariate_columns: list[str]) -> dict[str, exp.Expr]:
    """Return the mean covariate over all variants, used to impute missing covariates; 0 if none is known."""
    is_one = is_not_null(exp.column("variant"))

    def sum_variants(value: exp.Expr) -> exp.Window:
        return exp.Window(this=exp.Sum(this=case_when(is_one.copy(), value)))

    columns: dict[str, exp.Expr] = {}
    for name in covariate_columns:
        count = exp.column(f"{name}_{COVARIATE_COUNT}")
        total = sum_variants(exp.Mul(this=count, expression=exp.column(_variant_mean(name))))
        mean = exp.Div(this=total, expression=exp.func("NULLIF", sum_variants(count.copy()), sql_literal(0)))
        columns[f"{name}_{COVARIATE_MEAN}"] = exp.func("COALESCE", mean, double_literal(0))
    return columns


def _impute_covariates(covariate_columns: list[str]) -> dict[str, exp.Expr]:
    """Return covariate means per variant after mean imputation of missing values."""
    columns: dict[str, exp.Expr] = {}
    for name in covariate_columns:
        count, covariate_mean = exp.column(f"{name}_{COVARIATE_COUNT}"), exp.column(f"{name}_{COVARIATE_MEAN}")
        deviation = exp.paren(exp.Sub(this=exp.column(_variant_mean(name)), expression=covariate_mean.copy()))
        shift = exp.Div(this=exp.Mul(this=deviation, expression=count), expression=exp.column("units"))
        columns[_variant_mean(name)] = exp.Add(this=covariate_mean, expression=exp.func("COALESCE", shift, double_literal(0)))
    return columns


def _select_sums(design: ExperimentDesign, covariate_columns: list[str]) -> exp.Select:
    """Return the means of variants, and the sums of squares and products about them."""
    columns: dict[str, exp.Expr] = {
        _name_mean(name): exp.Max(this=exp.column(_variant_mean(name))) for name in design.unit_sum_columns.values()
    }

    def center_column(name: str) -> exp.Expr:
        value: exp.Expr = exp.column(name)
        if name in covariate_columns:
            value = exp.func("COALESCE", value, exp.column(f"{name}_{COVARIATE_MEAN}"))
        return exp.paren(exp.Sub(this=value, expression=exp.column(_variant_mean(name))))

    for estimate in design.estimates:
        for first, second in _pair_products(design.sum_columns(estimate)).values():
            columns[_product_name(first, second)] = exp.Sum(this=exp.Mul(this=center_column(first), expression=center_column(second)))
    for name in covariate_columns:
        is_missing = is_null(exp.column(name))
        missing_flag = case_when(is_missing, sql_literal(1), sql_literal(0))
        columns[f"{name}_{MISSING_COVARIATE}"] = exp.Sum(this=missing_flag)
    return _select_columns(read_step("variant_comoments.sql"), columns)


def _pair_products(columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the pairs of columns whose products are summed for a metric, by sum name."""
    by_letter = {ROLE_LETTERS[role]: name for role, name in columns.items()}
    pairs = {product: (by_letter.get(product[1]), by_letter.get(product[2])) for product in PRODUCTS}
    return {product: (min(first, second), max(first, second)) for product, (first, second) in pairs.items() if first and second}


def _product_name(first: str, second: str) -> str:
    """Return the column of the sum of products of two amounts about their means, ``product_0_1``."""
    return f"product_{first.removeprefix('amount_')}_{second.removeprefix('amount_')}"


def _metric_sums(design: ExperimentDesign) -> exp.Select:
    """Return each metric's sums under common names, from one scan of the variants' sums."""
    query = read_step("metric_moments.sql")
    names = [exp.select(exp.alias_(sql_literal(estimate.name), "metric")) for estimate in design.estimates]
    names[0].comments = ["One row per metric."]
    next(table for table in find_nodes(query, exp.Table) if table.name == "metrics").replace(union_all(names).subquery("metrics"))
    columns_by_metric = {estimate.name: _arm_columns(design, estimate) for estimate in design.estimates}
    columns = next(iter(columns_by_metric.values()))
    query = _select_columns(
        query,
        {
            column: _choose_by_metric({name: metric_columns[column] for name, metric_columns in columns_by_metric.items()})
            for column in columns
        },
    )
    for item in query.selects:
        item.comments = [_describe_product(item.alias_or_name)] if item.alias_or_name in PRODUCTS else item.comments
    return query


def _describe_product(product: str) -> str:
    """Return the comment of a sum of products, by the letters of its amounts."""
    roles = {letter: f"{role.replace('_', ' ')}s" for role, letter in ROLE_LETTERS.items()}
    first, second = (roles[letter] for letter in product[1:])
    return f"sum of squares of {first} about the mean" if first == second else f"of products of {first}, {second}"


def unit_denominators(design: ExperimentDesign) -> set[str]:
    """Return the denominators that are 1 for all metrics, which are means."""
    columns_by_metric = [design.sum_columns(estimate) for estimate in design.estimates]
    return {role for role in SUM_ROLES if role.endswith("denominator") and not any(role in columns for columns in columns_by_metric)}


def zero_moments(design: ExperimentDesign) -> set[str]:
    """Return the moments that are 0 for all metrics: sums of products of which none has the amounts, and differences of constants."""
    products = (_pair_products(design.sum_columns(estimate)) for estimate in design.estimates)
    return {f"{name}_difference" for name in unit_denominators(design)} | set(PRODUCTS).difference(*products)


def _arm_columns(design: ExperimentDesign, estimate: ExperimentMetric) -> dict[str, exp.Expr]:
    """Return the columns of ``metric_moments`` from those of ``sums`` for a metric."""
    columns = design.sum_columns(estimate)
    products = _pair_products(columns)
    moments: dict[str, exp.Expr] = {}
    for role in SUM_ROLES:
        neutral_value = double_literal(1 if role.endswith("denominator") else 0)
        moments[role] = exp.column(_name_mean(columns[role])) if role in columns else neutral_value
    for product in PRODUCTS:
        pair = products.get(product)
        moments[product] = exp.column(_product_name(*pair)) if pair else double_literal(0)
    missing = [exp.column(f"{name}_{MISSING_COVARIATE}") for role, name in columns.items() if role.startswith("covariate")]
    return moments | {MISSING_COVARIATE: missing[0] if missing else sql_literal(0)}


def _choose_by_metric(values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a CASE that picks the value of each metric; a plain value if all are equal."""
    first, *rest = values.values()
    if all(value == first for value in rest):
        return first
    return exp.Case(this=exp.column("metric"), ifs=[exp.If(this=sql_literal(name), true=value) for name, value in values.items()])
