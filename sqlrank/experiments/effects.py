"""Build the query of effects: sums per unit and variant with imputed covariates, then differences,
lifts, intervals and tests.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import SEQUENTIAL
from sqlrank.compiler.intervals.influence_sums import case_by_metric
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.select_builders import (
    drop_comments_repeated_across_queries,
    inline_functions,
    rename_ctes,
)
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.experiments.design import SAMPLE_RATIO, SUM_ROLES, ExperimentDesign, ExperimentMetric
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import (
    describe_rows,
    file_comment,
    load_query,
    repeat_columns,
)
from sqlrank.rendering.optimizer.optimizer import prune_query
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.result_columns import EXPERIMENT_SCHEMA, SRM_ALPHA
from sqlrank.sql_ast import (
    bind_placeholders,
    case_when,
    count_rows,
    double_literal,
    find_nodes,
    first_select,
    sql_literal,
    union_all,
    unique_name,
    unqualified_tables,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlrank.inputs.bound_input import BoundInput


FOLDER = "analyses/experiments"
OBSERVATIONS = "observations"
MATERIALIZED_STEPS = (
    "experiment_units",
    "metric_moments",
    "effects",
    "quadrature_nodes",
    "sample_ratio_test",
)
"""CTEs to materialize where the engine supports it, because several others read them."""


def read_step(*path: str) -> Any:
    """Return the query of an experiment file, with its first comment sentence as title."""
    query = load_query(FOLDER, *path)
    for subquery in find_nodes(query, exp.Select):
        if subquery.comments:
            subquery.comments = [describe_rows(" ".join(subquery.comments))]
    return with_comment(query, file_comment(FOLDER, *path))


def with_comment(query: Any, title: str) -> Any:
    """Set the comment of a query, a sentence on its rows."""
    first_select(query).comments = [title]
    return query


def with_ctes(ctes: Mapping[str, exp.Query], reserved_names: set[str]) -> Any:
    """Return the last query with the CTEs it reads, renamed to avoid ``reserved_names``."""
    *before, last = ctes
    names: dict[str, str] = {}
    for cte in before:
        names[cte] = unique_name(cte, {*reserved_names, *names.values()})
    body: Any = rename_ctes(ctes[last].copy(), names)
    for cte in before:
        query = rename_ctes(ctes[cte].copy(), names) if cte != OBSERVATIONS else ctes[cte].copy()
        body = body.with_(
            names[cte],
            as_=query,
            materialized=True if cte in MATERIALIZED_STEPS else None,
            copy=False,
        )
    prune_query(body)
    drop_comments_repeated_across_queries(cte.this for cte in body.ctes)
    return body


def source_table_names(observations: BoundInput) -> set[str]:
    """Return the names of the source tables, which no CTE may have."""
    return unqualified_tables(observations.table.from_clause())


KEYS = ("unit_id", "variant")
PRODUCT_NAMES = dict(zip(SUM_ROLES, ("value", "denominator", "covariate", "base"), strict=True))
"""Names of the roles in those of sums of products."""

MIXED_PRODUCTS = ("value_covariate", "value_base", "denominator_covariate", "denominator_base")
"""Products of an outcome and a covariate, which the file of their sums has in this order."""

PRODUCTS = (
    "value_value",
    "value_denominator",
    "denominator_denominator",
    "covariate_covariate",
    "covariate_base",
    "base_base",
    *MIXED_PRODUCTS,
)


def variant_sum_ctes(design: ExperimentDesign, observations: BoundInput) -> dict[str, exp.Query]:
    """Return the CTEs from observations to ``metric_moments``, in order.

    ``metric_moments`` has a row per metric and variant.
    """
    amounts = list(design.unit_sum_columns.values())
    covariates = design.covariate_columns
    repeated = _list_repeated_names(design)
    ctes: dict[str, exp.Query] = {
        OBSERVATIONS: with_comment(
            observations.select_columns([*KEYS, *amounts]),
            describe_rows(observations.role.description),
        )
    }
    for name in (
        *("experiment_units", "variant_means", "variant_summaries"),
        *(["imputed_means"] if covariates else []),
        "variant_comoments",
    ):
        ctes[name] = repeat_columns(read_step(f"{name}.sql"), repeated)
    if covariates:
        rename_ctes(ctes["variant_comoments"], {"variant_summaries": "imputed_means"})
    ctes["metric_moments"] = _metric_sums(design)
    return ctes


def _list_repeated_names(
    design: ExperimentDesign,
) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the names of amounts for each word that stands for one in the files of steps: of all,
    of outcomes and covariates, and of the pairs whose products a metric needs.
    """
    covariates = design.covariate_columns
    amounts = list(design.unit_sum_columns.values())
    pairs = dict.fromkeys(
        pair
        for estimate in design.estimates
        for pair in _pair_products(design.sum_columns(estimate)).values()
    )
    repeated: dict[tuple[str, ...], list[tuple[str, ...]]] = {
        ("amount",): [(name,) for name in amounts],
        ("outcome",): [(name,) for name in amounts if name not in covariates],
        ("covariate",): [(name,) for name in covariates],
    }
    for count, words in enumerate(
        [("outcome", "other_outcome"), ("outcome", "covariate"), ("covariate", "other_covariate")]
    ):
        repeated[words] = [
            pair for pair in pairs if sum(name in covariates for name in pair) == count
        ]
    return repeated


def _pair_products(columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the pairs of columns whose products are summed for a metric, by sum name."""
    by_name = {PRODUCT_NAMES[role]: name for role, name in columns.items()}
    pairs = {product: [by_name.get(name) for name in product.split("_")] for product in PRODUCTS}
    return {
        product: (first, second)
        if first <= second or product in MIXED_PRODUCTS
        else (second, first)
        for product, (first, second) in pairs.items()
        if first and second
    }


def _metric_sums(design: ExperimentDesign) -> Any:
    """Return each metric's sums under common names, from one scan of the variants' sums."""
    columns_by_metric = {
        estimate.name: _arm_columns(design, estimate) for estimate in design.estimates
    }
    values = {
        column: case_by_metric(
            {name: metric_columns[column] for name, metric_columns in columns_by_metric.items()}
        )
        for column in next(iter(columns_by_metric.values()))
    }
    query = _bind_step(values, "metric_moments")
    metrics = query.find(exp.Subquery)
    rows: list[Any] = [
        bind_placeholders(metrics.this.copy(), metric=sql_literal(name))
        for name in columns_by_metric
    ]
    for row in rows[1:]:
        row.comments = None  # that of the first says what a row is
    metrics.set("this", union_all(rows))
    return query


def unit_denominators(design: ExperimentDesign) -> set[str]:
    """Return the denominators that are 1 for all metrics, which are means."""
    columns_by_metric = [design.sum_columns(estimate) for estimate in design.estimates]
    return {
        role
        for role in SUM_ROLES
        if role.endswith("denominator")
        and not any(role in columns for columns in columns_by_metric)
    }


def zero_moments(design: ExperimentDesign) -> set[str]:
    """Return the moments that are 0 for all metrics: sums of products of which none has the
    amounts, and differences of constants.
    """
    products = (_pair_products(design.sum_columns(estimate)) for estimate in design.estimates)
    return {f"{name}_difference" for name in unit_denominators(design)} | set(PRODUCTS).difference(
        *products
    )


def _arm_columns(design: ExperimentDesign, estimate: ExperimentMetric) -> dict[str, exp.Expr]:
    """Return the columns of ``metric_moments`` from those of ``sums`` for a metric."""
    columns = design.sum_columns(estimate)
    products = _pair_products(columns)
    moments: dict[str, exp.Expr] = {}
    for role in SUM_ROLES:
        neutral_value = double_literal(1 if role.endswith("denominator") else 0)
        moments[role] = exp.column(f"mean_{columns[role]}") if role in columns else neutral_value
    for product in PRODUCTS:
        pair = products.get(product)
        moments[product] = exp.column("_".join(("product", *pair))) if pair else double_literal(0)
    missing = [
        exp.column(f"{name}_missing")
        for role, name in columns.items()
        if role.startswith("covariate")
    ]
    return moments | {"missing": missing[0] if missing else sql_literal(0)}


EXPERIMENT_UNITS = 5000
"""Number of units at which sequential intervals are the narrowest by default."""

SAMPLE_RATIO_STEPS = (
    "sample_ratio_counts",
    "sample_ratio_statistic",
    "chi_square_tails",
    "chi_square_points",
    "chi_square_densities",
    "sample_ratio_test",
)

SUMS_OF_PRODUCTS = ("linearized_moments", "pooled_moments", "pooled_squares")
"""Steps with terms that are 0 for all metrics, if none has a denominator or a covariate."""

NEWTON_STEPS = 3
"""Newton iterations of a quantile: from the first guess, accurate to 0.04, they give 13 digits."""


def effect_ctes(design: ExperimentDesign, control: str) -> dict[str, exp.Query]:
    """Return the CTEs from ``metric_moments`` to ``results``.

    ``results`` has a row per metric and variant other than the control, and one of the sample ratio
    test.
    """
    names = ["variant_ratios", "linearized_moments", "raised_moments"]
    if has_covariates := any(estimate.covariate for estimate in design.estimates):
        names += ["pooled_moments", "pooled_squares", "covariate_coefficients", "adjusted_moments"]
    bindings = {
        "control": sql_literal(control),
        "alpha": _build_alpha(design),
        "confidence": sql_literal(design.confidence),
        "power": sql_literal(design.power),
        "expected_units": sql_literal(design.expected_units or EXPERIMENT_UNITS),
        "tuned_alpha": exp.column("alpha"),
        "mismatch": sql_literal(SRM_ALPHA),
        "gain": _signed_difference(design),
        "sample_ratio": sql_literal(SAMPLE_RATIO),
        **_sample_ratio_bindings(design),
    }
    interval_limits = read_step("relative_intervals", f"{design.lift_scale}.sql").selects
    bindings |= {select_item.alias: select_item.this for select_item in interval_limits}
    ctes: dict[str, exp.Query] = {name: _bind_step(bindings, name) for name in names}
    for name in {*SUMS_OF_PRODUCTS} & {*names}:
        _drop_zero_terms(ctes[name], zero_moments(design))
    if has_covariates:
        _drop_unit_factors(ctes["pooled_moments"], unit_denominators(design))
    for name in ("variant_estimates", "variant_pairs"):
        ctes[name] = _bind_step(bindings, name, "adjusted" if has_covariates else "unadjusted")
    ctes["variance_shares"] = _bind_step(bindings, "variance_shares")
    ctes["effects"] = _bind_step(bindings, "effects", design.lift_scale)
    ctes |= {
        "quadrature_nodes": _bind_step(bindings, "quadrature_nodes"),
        **_critical_value_ctes(design, bindings),
    }
    ctes["p_value_ranks"] = _bind_step(bindings, "p_value_ranks")
    ctes["corrected_p_values"] = _bind_step(bindings, "corrected_p_values", design.correction)
    ctes |= {name: _bind_step(bindings, name) for name in SAMPLE_RATIO_STEPS}
    if not design.expected_shares:
        _drop_missing_variants(ctes["sample_ratio_statistic"])
    return ctes | {"results": _bind_step(bindings, "results")}


def _bind_step(bindings: Mapping[str, exp.Expr], *path: str) -> Any:
    """Return the query of a step with its functions inlined and its parameters replaced."""
    step = read_step(*path[:-1], f"{path[-1]}.sql")
    return bind_placeholders(inline_functions(load_registry(), step, {}), **bindings)


def _build_alpha(design: ExperimentDesign) -> exp.Expr:
    """Return the significance level of an interval, divided by their number unless uncorrected."""
    alpha: exp.Expr = sql_literal(1) - sql_literal(design.confidence)
    if design.correction == "none":
        return alpha
    return exp.paren(alpha) / exp.Window(this=count_rows())


def _critical_value_ctes(
    design: ExperimentDesign, bindings: Mapping[str, exp.Expr]
) -> dict[str, exp.Query]:
    """Return the CTEs to ``critical_values``, with the half-widths of intervals and the
    p-values.
    """
    if design.interval == SEQUENTIAL:
        return {
            "sequence_scales": _bind_step(bindings, "sequence_scales"),
            "critical_values": _bind_step(bindings, "critical_values", "sequential"),
        }
    quantiles = "t_first_guesses"
    ctes: dict[str, exp.Query] = {
        name: _bind_step(bindings, name) for name in ("t_requests", "t_normalizers", quantiles)
    }
    for iteration in range(1, NEWTON_STEPS + 1):
        integrals, source = f"t_integrals_{iteration}", quantiles
        quantiles = f"t_quantiles_{iteration}"
        ctes[integrals] = _replace_sources(
            _bind_step(bindings, "t_integrals"), {"t_quantiles": source}
        )
        ctes[quantiles] = _replace_sources(
            _bind_step(bindings, "t_quantiles"), {"t_integrals": integrals}
        )
        if iteration > 1:
            for name in ("t_integrals", "t_quantiles"):
                rows = file_comment(FOLDER, f"{name}.sql").partition(":")[0]
                with_comment(ctes[f"{name}_{iteration}"], f"{rows}, as in {name}_1.")
    ctes["t_critical_values"] = _replace_sources(
        _bind_step(bindings, "t_critical_values"), {"t_quantiles": quantiles}
    )
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
        while isinstance(factor := term.parent, (exp.Mul, exp.Div)) and (
            isinstance(factor, exp.Mul) or term is factor.this
        ):
            term = factor
        if (
            column.name in zeros
            and isinstance(total := term.parent, (exp.Add, exp.Sub))
            and term is total.expression
        ):
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
    """Drop the term of expected variants without units: equal shares are those of the variants that
    have units.
    """
    statistic = next(
        select_item for select_item in query.selects if select_item.alias == "statistic"
    ).this
    statistic.replace(statistic.this)


def _signed_difference(design: ExperimentDesign) -> exp.Expr:
    """Return the difference from the control, with the sign turned if lower is better."""
    difference = exp.column("difference")
    lower = [estimate.name for estimate in design.estimates if estimate.lower_is_better]
    if len(lower) == len(design.estimates):
        return exp.Neg(this=difference)
    if not lower:
        return difference
    return case_when(
        exp.column("metric", table="effects").isin(*lower), exp.Neg(this=difference), difference
    )


def _sample_ratio_bindings(design: ExperimentDesign) -> dict[str, exp.Expr]:
    """Return the parameters of the sample ratio test: the expected share of a variant, their
    number, and a metric whose units are counted.
    """
    share: exp.Expr = sql_literal(1) / exp.Window(this=count_rows())
    if design.expected_shares:
        ifs = [
            exp.If(
                this=exp.column("variant").eq(name),
                true=sql_literal(float(expected_share)),
            )
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


@lru_cache(maxsize=64)
def write_effects(design: ExperimentDesign, control: str) -> str:
    """Return the statement from a table ``metric_moments``, the sums of variants, to the result
    rows.
    """
    steps = {**effect_ctes(design, control), "rows": _result_columns(PRINTED_COLUMNS)}
    return render_statement(with_ctes(steps, set()), StatementHeader("effects"))


def experiment_statement(
    design: ExperimentDesign, observations: BoundInput, control: str, header: StatementHeader
) -> CompiledStatement:
    """Return the statement of the result rows, with the number of units left out."""
    columns = {**PRINTED_COLUMNS, MULTI_VARIANT_COLUMN: "BIGINT"}
    body = _result_columns(columns).order_by("metric", "variant")
    tree = with_ctes(
        {**variant_sum_ctes(design, observations), **effect_ctes(design, control), "rows": body},
        source_table_names(observations),
    )
    outputs = [OutputColumn(name, name, "row") for name in columns]
    return CompiledStatement(tree, outputs, header)


def _result_columns(columns: Mapping[str, str]) -> exp.Select:
    """Return the SELECT of these columns, in which counts have their type: within CTEs, ClickHouse
    has them as doubles.
    """
    return exp.select(
        *(
            exp.cast(exp.column(name), sql_type).as_(name)
            if sql_type == "BIGINT"
            else exp.column(name)
            for name, sql_type in columns.items()
        )
    ).from_("results")
