"""Build the columns from sums of influence to interval limits: standard error, degrees of freedom,
quantiles of Student's t, variance, trials, margin, and limits within bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.intervals.influence_functions import CELL_SQUARES, CLASS_UNITS, CLASSES
from sqlrank.compiler.select_builders import comment_column, null_if_not_finite
from sqlrank.inference import (
    ROUNDING_NOISE,
    normal_quantile,
    quantile_growth,
    t_critical_polynomial,
    t_critical_value,
)
from sqlrank.result_columns import CI_HIGH, CI_LOW, SE
from sqlrank.sql_ast import case_when, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.call.interval_options import IntervalOptions
    from sqlrank.compiler.relation_ctes import RelationCtes


ENLARGED_SE = "enlarged_se"
"""Column of the standard error with what cells of few rows add."""


@dataclass(frozen=True)
class IntervalFormula:
    """The formula of an interval; metrics of one formula share its steps.

    Attributes:
        method: Interval method: ``t``, ``wilson``, or one that a SQL file declares.
        error: Function of the standard error.
        is_adjusted: The interval is adjusted for variance that depends on few units.
        has_size: The effective sample size differs from the number of units.
        has_cells: Cells of few rows add to the variance.
        is_rescaled: The metric in -1..1 is mapped to 0..1.
        bounds: Bounds to which the limits are clipped.
        may_be_infinite: Limits are tested for infinite values.
    """

    method: str
    error: str
    is_adjusted: bool
    has_size: bool
    has_cells: bool
    is_rescaled: bool
    bounds: tuple[float, float] | None
    may_be_infinite: bool


class IntervalFormulas:
    """The columns of each step of an interval, over columns of the step before; one instance per
    formula.
    """

    def __init__(
        self, relations: RelationCtes, confidence: IntervalOptions, formula: IntervalFormula
    ) -> None:
        self.relations = relations
        self.confidence = confidence
        self.formula = formula
        self.is_t = formula.method == "t"
        self.needs_class_sizes = confidence.needs_class_sizes(formula.method)

    def standard_error(self, sums: Mapping[str, exp.Expr]) -> list[exp.Expr]:
        """Return the columns of the first step, over sums of influence: value, units, standard
        error, sizes, concentration of the variance.
        """
        missing = exp.Null()
        positives, negatives = (
            unit_name if unit_name in sums else name
            for unit_name, name in zip(CLASS_UNITS, CLASSES, strict=True)
        )
        names = ("squares", "units", "positive_squares", positives, "negative_squares", negatives)
        arguments = [sums.get(name, missing).copy() for name in names]
        variant = f"{self.formula.error}_of_units" if CLASS_UNITS[0] in sums else self.formula.error
        error = self.relations.apply_function(
            "standard_error", {"standard_error": variant}, *arguments
        )
        columns = [sums[name].copy().as_(name) for name in ("value", "units") if name in sums]
        columns.append(comment_column(error, SE, self._describe_slot("standard_error", variant)))
        if self.formula.has_cells:
            enlarged = self.relations.apply_function(
                "enlarged_se", {}, error.copy(), sums[CELL_SQUARES].copy()
            )
            columns.append(
                comment_column(enlarged, ENLARGED_SE, self._describe_slot("enlarged_se"))
            )
        columns += self._list_class_sizes(sums) if self.needs_class_sizes else []
        count = sums["units"]
        if self.formula.error == "delong":
            count = self.relations.apply_function("smaller", {}, sums[positives], sums[negatives])
        columns += [df_column(count)] if self.confidence.method != "normal" else []
        if self.formula.is_adjusted:
            arguments = [sums[name] for name in ("squares", "fourth_powers", "units")]
            concentration = self.relations.apply_function("influence_concentration", {}, *arguments)
            columns.append(
                comment_column(
                    concentration, "concentration", self._describe_slot("influence_concentration")
                )
            )
        if self.formula.has_size:
            columns.append(
                comment_column(
                    self.relations.apply_function("least_size", {}, sums["size"]),
                    "size",
                    self._describe_slot("least_size"),
                )
            )
        return columns

    def _list_class_sizes(self, sums: Mapping[str, exp.Expr]) -> list[exp.Expr]:
        """Return the number of rows of the smaller class, and the effective numbers of both."""
        smaller = self.relations.apply_function("smaller", {}, sums["positives"], sums["negatives"])
        columns = [
            comment_column(
                smaller,
                "smaller_class_size",
                "number of positives or of negatives, whichever is less",
            )
        ]
        for label in ("positive", "negative"):
            size = sums[f"{label}_size"].copy().as_(f"{label}_size")
            is_weighted = sums[f"{label}_size"] != sums[f"{label}s"]
            size.comments = [f"effective number of {label}s"] if is_weighted else None
            columns.append(size)
        return columns

    def list_interval_terms(self) -> list[exp.Expr]:
        """Return the effective degrees of freedom, the factor for kurtosis, and the metric as a
        share.
        """
        columns: list[exp.Expr] = []
        units, concentration = exp.column("units"), exp.column("concentration")
        if self.formula.is_adjusted:
            growth = self.relations.apply_function(
                "t_growth", {}, units, *self._list_growth_constants()
            )
            variant = "weighted" if self.formula.has_size else "satterthwaite"
            freedom = self.relations.apply_function(
                "degrees_of_freedom",
                {"degrees_of_freedom": variant},
                concentration,
                units,
                self._select_sample_size(),
            )
            inflation = self.relations.apply_function(
                "kurtosis_inflation", {}, concentration, units
            )
            columns += [
                comment_column(growth, "t_growth", self._describe_slot("t_growth")),
                comment_column(
                    freedom, "effective_df", self._describe_slot("degrees_of_freedom", variant)
                ),
                comment_column(inflation, "inflation", self._describe_slot("kurtosis_inflation")),
            ]
        if not self.is_t:
            value = exp.column("value")
            share = to_0_1(value) if self.formula.is_rescaled else value
            comment = (
                "the metric"
                + (", from -1..1 to 0..1" if self.formula.is_rescaled else "")
                + ", without rounding errors, NULL if not in 0..1"
            )
            columns.append(
                comment_column(
                    self.relations.apply_function("clipped_share", {}, share), "proportion", comment
                )
            )
            if self.needs_class_sizes:
                normal = sql_literal(normal_quantile((1 + self.confidence.level) / 2))
                center = self.relations.apply_function(
                    "wilson_center", {}, share, exp.column("smaller_class_size"), normal
                )
                columns.append(
                    comment_column(
                        center,
                        "center",
                        "center of Wilson's interval of the metric, between it and 1/2",
                    )
                )
        return columns

    def list_variances(self) -> list[exp.Expr]:
        """Return the t quantile, and the adjusted variance or the least variance of an area."""
        columns = [t_quantile_column(self.confidence)]
        if self.formula.is_adjusted:
            variant = "weighted" if self.formula.has_size else "kurtosis"
            units, growth = exp.column("units"), exp.column("t_growth")
            statistics = [
                self._select_error(),
                exp.column("inflation"),
                units,
                self._select_sample_size(),
                exp.column("effective_df"),
            ]
            variance = self.relations.apply_function(
                "adjusted_variance",
                {"adjusted_variance": variant},
                *statistics,
                *self._list_growth_constants(),
                growth,
            )
            columns.append(
                comment_column(
                    variance, "variance", self._describe_slot("adjusted_variance", variant)
                )
            )
            if self.formula.has_size and not self.is_t:
                ratio = self.relations.apply_function(
                    "quantile_growth_limit",
                    {},
                    units,
                    self._select_sample_size(),
                    *self._list_growth_constants(),
                    growth,
                )
                columns.append(
                    comment_column(
                        ratio,
                        "quantile_ratio",
                        "squared t quantile at size - 1 over that at units - 1 degrees of freedom",
                    )
                )
        elif self.needs_class_sizes:
            sizes = map(exp.column, ("center", "positive_size", "negative_size"))
            ratio = self.relations.apply_function("auc_variance_ratio", {}, *sizes)
            columns.append(
                comment_column(
                    ratio,
                    "variance_ratio",
                    "Hanley and McNeil's variance, over AUC (1 - AUC), at the center",
                )
            )
        return columns

    def list_shrinkages(self) -> list[exp.Expr]:
        """Return the shrinkage of a share: the squared t quantile over the effective number of
        trials.
        """
        if self.is_t:
            return []
        error: exp.Expr = self._select_error()
        variance: exp.Expr = exp.column("variance")
        if self.formula.is_rescaled:
            error, variance = (
                exp.Div(this=value, expression=sql_literal(divisor))
                for value, divisor in ((error, 2), (variance, 4))
            )
        method = self.formula.method
        if self.formula.is_adjusted:
            method = "adjusted_weighted" if self.formula.has_size else "adjusted"
        arguments = [
            exp.column("proportion"),
            error,
            exp.column("units"),
            self._select_sample_size(),
            variance,
            exp.column("variance_ratio" if self.needs_class_sizes else "quantile_ratio"),
        ]
        trials = self.relations.apply_function(
            "effective_trials", {"effective_trials": method}, *arguments
        )
        quantile = exp.column("t_quantile")
        shrinkage = exp.Div(
            this=exp.Mul(this=quantile, expression=quantile.copy()), expression=trials
        )
        size = self._describe_slot("effective_trials", method)
        return [comment_column(shrinkage, "shrinkage", f"t_quantile^2 / n, for the {size}")]

    def list_margins(self) -> list[exp.Expr]:
        """Return the margin of a Student's interval, or the spread of a Wilson's."""
        if not self.is_t:
            spread = self.relations.apply_function(
                "wilson_spread", {}, exp.column("proportion"), exp.column("shrinkage")
            )
            return [comment_column(spread, "margin", self._describe_slot("wilson_spread"))]
        settings = {"interval_margin": "adjusted" if self.formula.is_adjusted else "t"}
        arguments = map(exp.column, ("value", SE, "variance", "t_quantile"))
        margin = self.relations.apply_function("interval_margin", settings, *arguments)
        return [
            comment_column(
                margin,
                "margin",
                "half-width of the interval: a quantile of Student's t times a standard error",
            )
        ]

    def list_limits(self) -> list[exp.Expr]:
        """Return the limits of the interval and the standard error."""
        value, margin, error = map(exp.column, ("value", "margin", SE))
        center = value if self.is_t else exp.column("proportion")
        low, high = (
            self.relations.apply_function(
                slot, {slot: "t" if self.is_t else "wilson"}, center.copy(), margin
            )
            for slot in ("lower_limit", "upper_limit")
        )
        low, high = map(from_0_1, (low, high)) if self.formula.is_rescaled else (low, high)
        low, high = clip_limits(low, high, value, self.formula.bounds)
        limits: dict[str, exp.Expr] = {CI_LOW: low, CI_HIGH: high, SE: error}
        if self.formula.may_be_infinite:
            terms = {CI_LOW: (value, margin), CI_HIGH: (value, margin), SE: ()}
            limits = {
                name: null_if_not_finite(limit, *terms[name]) for name, limit in limits.items()
            }
        level = f"{100 * self.confidence.level:.10g} % interval"
        comments = {
            CI_LOW: f"lower limit of the {level}",
            CI_HIGH: f"upper limit of the {level}",
            SE: "standard error",
        }
        return [
            limit if limit == exp.column(name) else comment_column(limit, name, comments[name])
            for name, limit in limits.items()
        ]

    def _select_error(self) -> exp.Column:
        """Return the column of the standard error that the interval is for."""
        return exp.column(ENLARGED_SE if self.formula.has_cells else SE)

    def _select_sample_size(self) -> exp.Column:
        """Return the column of the effective sample size: the units, unless weighted or absent."""
        return exp.column("size" if self.formula.has_size else "units")

    def _list_growth_constants(self) -> list[exp.Expr]:
        """Return the constants of the growth of t quantiles."""
        return [sql_literal(factor) for factor in quantile_growth(self.confidence.level)]

    def _describe_slot(self, slot: str, name: str = "") -> str:
        """Return the sentence about a function, for the column that it computes."""
        functions = self.relations.library.functions[slot]
        title = functions[name or next(iter(functions))].title
        return title.partition(": ")[2].removesuffix(".")


INTERVAL_STEPS: tuple[tuple[str, Callable[[IntervalFormulas], list[exp.Expr]], str], ...] = (
    (
        "interval_terms",
        IntervalFormulas.list_interval_terms,
        "the metric, and terms of the variance for its interval",
    ),
    (
        "variances",
        IntervalFormulas.list_variances,
        "quantile of Student's t, and the variance that the interval is for",
    ),
    (
        "shrinkages",
        IntervalFormulas.list_shrinkages,
        "how far Wilson's interval draws the metric toward 1/2: t^2 / n of a share of n trials",
    ),
    (
        "margins",
        IntervalFormulas.list_margins,
        "the margin, from which both limits follow",
    ),
)
"""Steps from standard errors to limits: the name of each, the columns that it adds, and their
title.
"""


def clip_limits(
    low: exp.Expr, high: exp.Expr, value: exp.Expr, bounds: tuple[float, float] | None
) -> tuple[exp.Expr, exp.Expr]:
    """Clip interval limits to the bounds of a metric, unless the value itself exceeds them."""
    if bounds is None:
        return low, high
    clipped = []
    for limit, bound, beyond, inside in (
        (low, bounds[0], exp.LT, exp.GTE),
        (high, bounds[1], exp.GT, exp.LTE),
    ):
        if math.isinf(bound):
            clipped.append(limit)
            continue
        is_beyond = exp.and_(
            beyond(this=limit.copy(), expression=sql_literal(bound)),
            inside(this=value.copy(), expression=sql_literal(bound)),
            wrap=False,
        )
        clipped.append(case_when(is_beyond, sql_literal(bound), limit.copy()))
    return clipped[0], clipped[1]


def units_differ(value: exp.Expr, error: exp.Expr) -> exp.Expr:
    """Return the condition that a standard error exceeds rounding error; otherwise units do not
    vary.
    """
    noise = exp.Mul(this=sql_literal(ROUNDING_NOISE), expression=exp.Abs(this=value.copy()))
    return exp.GT(this=error.copy(), expression=noise)


def to_0_1(value: exp.Expr) -> exp.Expr:
    """Map a value between -1 and 1 to 0..1."""
    return exp.Div(
        this=exp.paren(exp.Add(this=sql_literal(1), expression=value.copy())),
        expression=sql_literal(2),
    )


def from_0_1(share: exp.Expr) -> exp.Expr:
    """Map a value between 0 and 1 to -1..1."""
    return exp.Sub(
        this=exp.Mul(this=sql_literal(2), expression=exp.paren(share)), expression=sql_literal(1)
    )


UNIT_COUNT = "units"
"""Column of the number of units; counts of single metrics have their name before it."""

T_QUANTILE = "t_quantile"
"""Column of the quantile of Student's t."""

DF = "df"
"""Column of the degrees of freedom, NULL for one unit."""


def df_column(units: exp.Expr) -> exp.Expr:
    """Return the degrees of freedom as a column, from a count of units."""
    value = exp.func("NULLIF", units - 1, sql_literal(0))
    return comment_column(value, DF, "degrees of freedom, NULL in place of 0")


def t_quantile_column(confidence: IntervalOptions, df_name: str = DF) -> exp.Expr:
    """Return the t quantile for a column of degrees of freedom: exact for 1 and 2, and a polynomial
    in their reciprocal for more.
    """
    if confidence.method == "normal":
        return sql_literal(normal_quantile((1 + confidence.level) / 2)).as_(T_QUANTILE)
    limit, *factors = t_critical_polynomial(confidence.level)
    value = sql_literal(limit)
    for power, factor in enumerate(factors, start=1):
        degrees = (
            exp.column(df_name)
            if power == 1
            else exp.Pow(this=exp.column(df_name), expression=sql_literal(power))
        )
        term = exp.Div(this=sql_literal(abs(factor)), expression=degrees)
        value = (exp.Sub if factor < 0 else exp.Add)(this=value, expression=term)
    ifs = [
        exp.If(
            this=exp.column(df_name).eq(df),
            true=sql_literal(t_critical_value(confidence.level, df)),
        )
        for df in (1, 2)
    ]
    column = exp.Case(ifs=ifs, default=value).as_(T_QUANTILE)
    percent = f"{50 * (1 + confidence.level):.10g}"
    column.comments = [
        f"quantile of Student's t at {percent} %: exact for df 1 and 2, else a series to 1e-10"
    ]
    return column
