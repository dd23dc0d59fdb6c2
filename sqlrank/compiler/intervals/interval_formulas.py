"""Build the columns from sums of influence to interval limits: standard error, degrees of freedom,
variance, trials and margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.column_comments import comment_column
from sqlrank.compiler.intervals.influence_functions import CELL_SQUARES, CLASS_UNITS, CLASSES
from sqlrank.compiler.intervals.interval_limits import clip_limits, from_0_1, to_0_1
from sqlrank.compiler.intervals.t_quantiles import df_column, t_quantile_column
from sqlrank.compiler.select_builders import null_if_not_finite
from sqlrank.inference.student_t import normal_quantile, quantile_growth
from sqlrank.result_columns import CI_HIGH, CI_LOW, SE
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.interval_options import IntervalOptions


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
        columns = [
            exp.alias_(sums[name].copy(), name) for name in ("value", "units") if name in sums
        ]
        columns.append(comment_column(error, SE, "standard error of the metric"))
        if self.formula.has_cells:
            enlarged = self.relations.apply_function(
                "enlarged_se", {}, error.copy(), sums[CELL_SQUARES].copy()
            )
            columns.append(
                comment_column(enlarged, ENLARGED_SE, self._describe_slot("enlarged_se"))
            )
        count = sums["units"]
        if self.formula.error == "delong" or self.needs_class_sizes:
            smaller = self.relations.apply_function(
                "smaller_sum", {}, sums["positives"], sums["negatives"]
            )
            units = self.relations.apply_function(
                "smaller_sum", {}, sums[positives], sums[negatives]
            )
            count = units if self.formula.error == "delong" else count
            columns += (
                [
                    comment_column(
                        smaller,
                        "smaller_class_size",
                        "number of positives or of negatives, whichever is less",
                    )
                ]
                if self.needs_class_sizes
                else []
            )
        if self.needs_class_sizes:
            for label in ("positive", "negative"):
                size = exp.alias_(sums[f"{label}_size"].copy(), f"{label}_size")
                is_weighted = sums[f"{label}_size"] != sums[f"{label}s"]
                size.comments = [f"effective number of {label}s"] if is_weighted else None
                columns.append(size)
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
                        "ratio",
                        "squared t quantile at size - 1 over that at units - 1 degrees of freedom",
                    )
                )
        elif self.needs_class_sizes:
            sizes = map(exp.column, ("center", "positive_size", "negative_size"))
            ratio = self.relations.apply_function("auc_variance_ratio", {}, *sizes)
            columns.append(
                comment_column(
                    ratio,
                    "ratio",
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
            exp.column("ratio"),
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
        "the metric as a share, and terms of the variance for the interval",
    ),
    (
        "variances",
        IntervalFormulas.list_variances,
        "quantile of Student's t, and the variance that the interval is for",
    ),
    (
        "shrinkages",
        IntervalFormulas.list_shrinkages,
        "t_quantile^2 / n of Wilson's interval, as if the metric were a share of n trials",
    ),
    (
        "margins",
        IntervalFormulas.list_margins,
        "the term from which both limits of the interval follow",
    ),
)
"""Steps from standard errors to limits: the name of each, the columns that it adds, and their
title.
"""
