"""Compile standard errors by the delta method or influence functions, and the limits of analytic intervals."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.intervals.influence_functions import InfluenceRows, deviation_from_mean, influences_by_rows, is_nullable
from sqlrank.compiler.intervals.interval_limits import clip_limits, from_0_1, to_0_1
from sqlrank.compiler.layout import KeyedCte
from sqlrank.compiler.parameter_binding import sql_literal
from sqlrank.compiler.row_keys import key_column, key_equalities
from sqlrank.compiler.select_builders import group_by_key, null_if_not_finite
from sqlrank.inference.student_t import quantile_growth, t_critical_polynomial, t_critical_value
from sqlrank.registry.value_bounds import is_bounded_minus1_1, limit_bounds
from sqlrank.result_columns import CI_HIGH, CI_LOW, N_UNITS, SE
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.compiler.row_keys import KeyColumns
    from sqlrank.interval_options import IntervalOptions


def inverse_degrees_of_freedom(units: exp.Expr, name: str) -> exp.Expr:
    """Return the reciprocal degrees of freedom as a column named after the units."""
    freedom = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=sql_literal(1)), sql_literal(0))
    return exp.alias_(exp.Div(this=sql_literal(1), expression=freedom), f"{name}_inverse")


def t_quantile_column(confidence: IntervalOptions, name: str) -> exp.Expr:
    """Return the t quantile for a column of unit counts, with a comment.

    It is exact for 2 and 3 units, and a polynomial for more.
    """
    alias = f"{name}_quantile"
    if confidence.method == "normal":
        return exp.alias_(sql_literal(NormalDist().inv_cdf((1 + confidence.level) / 2)), alias)
    factors = [sql_literal(factor) for factor in t_critical_polynomial(confidence.level)]
    inverse = exp.column(f"{name}_inverse")
    # Horner's scheme over pairs of terms, which nests half as deep as over single ones.
    value: exp.Expr | None = None
    for low, high in reversed(list(zip(factors[::2], factors[1::2], strict=True))):
        pair = exp.Add(this=low, expression=exp.Mul(this=high, expression=inverse.copy()))
        value = pair if value is None else exp.Add(this=pair, expression=inverse * inverse * exp.paren(value))
    exact_quantiles = [(count, t_critical_value(confidence.level, count - 1)) for count in (2, 3)]
    ifs = [
        exp.If(this=exp.EQ(this=exp.column(name), expression=sql_literal(count)), true=sql_literal(quantile))
        for count, quantile in exact_quantiles
    ]
    column = exp.alias_(exp.Case(ifs=ifs, default=value), alias)
    percent = f"{50 * (1 + confidence.level):.10g}"
    column.comments = [
        f"quantile of Student's t at {percent} %: exact for 1 and 2 degrees of freedom, beyond by a polynomial in 1 / df, to 1e-10"
    ]
    return column


INTERVAL_SUFFIXES = (CI_LOW, CI_HIGH, SE, N_UNITS)
"""Columns of a metric's interval in the result."""

UNIT_COUNT = "units"

CLASS_TOTALS = ("positive_weight", "positive_squares", "positive_rows", "negative_weight", "negative_squares", "negative_rows")
"""Columns of class totals that rows provide for intervals of two-class metrics."""

UNIT_WEIGHT, MIN_TRIALS = "unit_weight", 1.5
"""Column of a unit's weight, and the smallest effective number of equally weighted units."""

EFFECTIVE_SIZES = ("fewest", "positive_size", "negative_size")
"""Columns derived from ``CLASS_TOTALS``: rows of the smaller class, effective sample sizes of both classes."""


class AnalyticIntervals:
    """Interval CTEs that follow the metrics of a CTE; one instance per statement."""

    def __init__(self, confidence: IntervalOptions, relations: RelationCtes) -> None:
        self.confidence = confidence
        self.relations = relations
        self.scores = next((source.scores for source in relations.sources.values() if source.scores), ())
        self.rows_are_units = bool(self.scores)
        self.limit_ctes: dict[str, str] = {}
        self.units: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.value_ctes: dict[str, str] = {}
        self.trials: dict[str, str] = {}

    def add_ctes(self, ctes: Sequence[KeyedCte], columns: Sequence[MetricColumn]) -> list[KeyedCte]:
        """Add the interval CTEs of all metrics."""
        interval_ctes: list[KeyedCte] = []
        for cte in ctes:
            is_group = cte.grain == "group"
            cte_columns = [column for column in columns if column.grain == cte.grain and (not is_group or column.cte == cte.step)]
            entering = [column.alias for column in cte_columns if self._is_adjusted(column) and self._kind(column) != "t"]
            grouped_influences = influences_by_rows(self.relations, cte.step, cte_columns, not is_group, entering)
            interval_ctes += [self._over(cte.step, cte.keys, rows, influences) for rows, influences in grouped_influences.items()]
        return interval_ctes

    def _over(self, cte: str, keys: KeyColumns, rows: InfluenceRows, influences: Sequence[tuple[MetricColumn, exp.Expr]]) -> KeyedCte:
        """Add the interval CTEs of metrics whose influence the same rows carry."""
        columns = [column for column, _ in influences]
        for column, influence in influences:
            error_method = column.metric.file.interval.standard_error or "equal_units"
            self.errors[column.alias] = (
                error_method if rows.kind == "equal_units" else "deviation" if influence == deviation_from_mean(column) else "influence"
            )
            if isinstance(influence, exp.Case) and rows.kind == "contributions":
                self.errors[column.alias] = "entering"
            has_own_count = rows.kind == "values" and (is_nullable(column) or isinstance(influence, exp.Case))
            self.units[column.alias] = f"{column.alias}_{UNIT_COUNT}" if has_own_count else UNIT_COUNT
        has_classes = self.has_classes(rows)
        weight = self._unit_weight(rows, influences)
        influence_cte = self.relations.ctes.add_aggregate(
            f"{cte.removesuffix('_metrics')}_influence",
            self.influence(cte, keys, rows, influences, has_classes, weight),
            "one row per unit: its influence on every metric",
        )
        # Query values are read once: their mean is carried along with the influence.
        carried_columns = [f"{column.alias}_value" for column in columns] if rows.kind == "values" else []
        errors = self._errors(influence_cte, keys, rows, columns, has_classes).select(
            *self._concentrations(rows, columns, weight, has_classes)
        )
        errors = errors.select(*(exp.alias_(exp.Max(this=exp.column(name)), name) for name in carried_columns))
        errors_cte = self.relations.ctes.add_aggregate(
            f"{cte.removesuffix('_metrics')}_standard_errors", errors, "one row per group: its units, and standard errors"
        )
        quantiles = self._quantiles(errors_cte, None if carried_columns else cte, keys, columns, has_classes)
        quantiles_cte = self.relations.ctes.add_aggregate(
            f"{cte.removesuffix('_metrics')}_t_quantiles", quantiles, "one row per group: the metrics, and quantiles of Student's t"
        )
        margins = self._margins(quantiles_cte, keys, columns)
        margins_cte = self.relations.ctes.add_aggregate(
            f"{cte.removesuffix('_metrics')}_margins", margins, "one row per group: the margins of intervals"
        )
        limits = self._limits(margins_cte, keys, columns, carried_columns)
        limits_cte = self.relations.ctes.add_aggregate(
            f"{cte.removesuffix('_metrics')}_intervals", limits, "one row per group: the limits of intervals"
        )
        self.limit_ctes |= {column.alias: limits_cte for column in columns}
        self.value_ctes |= {column.alias: limits_cte for column in columns if carried_columns}
        return KeyedCte(limits_cte, keys)

    def has_classes(self, rows: InfluenceRows) -> bool:
        """Return True if the rows that carry a metric's influence have class totals."""
        return "positive_rows" in self._names(rows)

    def _names(self, rows: InfluenceRows) -> list[str]:
        """Return the columns of the rows that carry a metric's influence, unless they are values of metrics."""
        return [] if rows.kind == "values" else self.relations.ctes[rows.step].query.named_selects

    def _unit_weight(self, rows: InfluenceRows, influences: Sequence[tuple[MetricColumn, exp.Expr]]) -> exp.Expr | None:
        """Return the weight of a row's unit, None if it is not needed.

        It is not needed if all weights are equal or no interval uses them.
        """
        if not any(self._is_adjusted(column) for column, _ in influences) or rows.kind == "equal_units":
            return None
        names = self._names(rows)
        if rows.kind == "values":
            is_weighted = any(column.name == "weight" for _, influence in influences for column in find_nodes(influence, exp.Column))
            return exp.column("weight", table="r") if is_weighted else None
        if "weight" in names:
            is_constant = not self.relations.ctes[rows.step].query.selects[names.index("weight")].unalias().find(exp.Column)
            is_summed = rows.units and not self.rows_are_units
            return None if is_constant and not is_summed else exp.column("weight", table="r")
        return exp.column(CLASS_TOTALS[0], table="r") + exp.column(CLASS_TOTALS[3], table="r") if CLASS_TOTALS[0] in names else None

    def _concentrations(
        self, rows: InfluenceRows, columns: Sequence[MetricColumn], weight: exp.Expr | None, has_classes: bool
    ) -> list[exp.Expr]:
        """Return the concentration of each metric's variance on few units, and its number of trials.

        Trials are only returned if they differ from the number of units.
        """
        select_items: list[exp.Expr] = []
        variant = "equal_units" if rows.kind == "equal_units" else "influence"
        effective_size: exp.Expr | None = None
        if weight is not None:
            weight_column = exp.column(UNIT_WEIGHT)
            effective_size = self.relations.function(
                "effective_size", {}, weight_column, exp.Mul(this=weight_column.copy(), expression=weight_column.copy())
            )
        elif rows.kind == "equal_units" and has_classes:
            effective_size = self.relations.function(
                "effective_size", {}, *(exp.column(CLASS_TOTALS[index]) + exp.column(CLASS_TOTALS[index + 3]) for index in (0, 1))
            )
        for column in columns:
            if not self._is_adjusted(column):
                continue
            influence = exp.column(column.alias)
            concentration = self.relations.function(
                "influence_concentration", {"influence_concentration": variant}, influence, exp.column("num_units")
            )
            select_items.append(exp.alias_(concentration, f"{column.alias}_concentration"))
            num_entering = exp.Count(this=influence.copy())
            has_absent_units = self.errors[column.alias] == "entering"
            if effective_size is None and not has_absent_units:
                continue
            trials = num_entering if effective_size is None else effective_size.copy()
            if effective_size is not None and rows.kind != "equal_units":
                share = exp.Div(this=num_entering, expression=exp.func("NULLIF", exp.Count(this=exp.Star()), sql_literal(0)))
                trials = exp.Mul(this=exp.paren(effective_size.copy()), expression=exp.paren(share))
            self.trials[column.alias] = f"{column.alias}_trials"
            select_items.append(exp.alias_(trials, f"{column.alias}_trials"))
        return select_items

    def influence(
        self,
        cte: str,
        keys: KeyColumns,
        rows: InfluenceRows,
        influences: Sequence[tuple[MetricColumn, exp.Expr]],
        has_classes: bool,
        weight: exp.Expr | None = None,
    ) -> exp.Select:
        """Return one row per unit or class of units, with its influence.

        Rows of weight 0 are not units.
        """
        units = [name for name in rows.units if name not in keys.columns]
        key_columns = [key_column(name, "r") for name in [*keys.columns, *units]]
        expressions: dict[str, exp.Expr] = {column.alias: influence for column, influence in influences}
        if rows.kind == "values":
            expressions |= {f"{column.alias}_value": exp.column(column.alias, table="m") for column, _ in influences}
        expressions |= {name: exp.column(name, table="r") for name in CLASS_TOTALS} if has_classes else {}
        expressions |= {} if weight is None else {UNIT_WEIGHT: weight}
        is_summed = units and not self.rows_are_units
        if is_summed:
            expressions = {name: exp.Sum(this=value) for name, value in expressions.items()}
        elif rows.kind == "equal_units":
            expressions |= {name: exp.column(name, table="r") for name in ("num_units", "label")}
        query = exp.select(*key_columns, *(exp.alias_(value, name) for name, value in expressions.items())).from_(
            exp.to_table(rows.step).as_("r")
        )
        if any(column.table == "m" for value in expressions.values() for column in find_nodes(value, exp.Column)):
            query = _join_metrics(query, cte, "r", keys)
        if "weight" in self._names(rows):
            query = query.where(exp.GT(this=exp.column("weight", table="r"), expression=sql_literal(0)))
        return query.group_by(*(key.copy() for key in key_columns)) if is_summed else query

    def _errors(
        self, influence_cte: str, keys: KeyColumns, rows: InfluenceRows, columns: Sequence[MetricColumn], has_classes: bool
    ) -> exp.Select:
        counts: dict[str, exp.Expr] = {}
        for column in columns:
            name = self.units[column.alias]
            count: exp.Expr = exp.Count(this=exp.Star() if name == UNIT_COUNT else exp.column(column.alias))
            counts[name] = exp.alias_(exp.Sum(this=exp.column("num_units")) if rows.kind == "equal_units" else count, name)
        errors = []
        for column in columns:
            settings = {"standard_error": self.errors[column.alias]}
            error = self.relations.function("standard_error", settings, *map(exp.column, (column.alias, "num_units", "label")))
            errors.append(exp.alias_(error, f"{column.alias}_se"))
        sizes = []
        if has_classes:
            positive_columns, negative_columns = CLASS_TOTALS[:3], CLASS_TOTALS[3:]
            slots_with_columns = [
                ("smaller_sum", positive_columns[2], negative_columns[2]),
                ("effective_size", *positive_columns[:2]),
                ("effective_size", *negative_columns[:2]),
            ]
            sizes = [self.relations.function(slot, {}, *map(exp.column, names)) for slot, *names in slots_with_columns]
        size_columns = [exp.alias_(size, name) for size, name in zip(sizes, EFFECTIVE_SIZES, strict=False)]
        return group_by_key(exp.select(*map(key_column, keys.columns), *counts.values(), *errors, *size_columns).from_(influence_cte), keys)

    def _degrees_of_freedom(self, column: MetricColumn) -> str:
        """Return the column that is the degrees of freedom plus one.

        It holds units, or rows of the smaller class.
        """
        return EFFECTIVE_SIZES[0] if self.errors[column.alias] == "delong" else self.units[column.alias]

    def _quantiles(
        self, errors_cte: str, metrics_cte: str | None, keys: KeyColumns, columns: Sequence[MetricColumn], has_classes: bool
    ) -> exp.Select:
        """Return the t quantiles together with the metrics of a CTE.

        The metrics may be values carried along with the errors. Subexpressions that long expressions use several times are columns of their
        own, so engines evaluate them once.
        """
        freedom_columns = dict.fromkeys(map(self._degrees_of_freedom, columns))
        names = dict.fromkeys(self.units[column.alias] for column in columns)
        column_names = [*names, *(f"{column.alias}_se" for column in columns), *(EFFECTIVE_SIZES if has_classes else ())]
        inner = exp.select(*(key_column(name, "s") for name in keys.columns), *(exp.column(name, table="s") for name in column_names))
        adjusted = [column for column in columns if self._is_adjusted(column)]
        column_names += [f"{column.alias}_trials" for column in adjusted if column.alias in self.trials]
        inner = inner.select(*(expression for column in adjusted for expression in self._freedoms(column)))
        ratios: list[exp.Expr] = []
        for column in columns:
            name = f"{column.alias}_value"
            value = exp.column(name, table="s") if metrics_cte is None else exp.column(column.alias, table="m")
            inner.select(exp.alias_(value, name), copy=False)
            if self.confidence.needs_class_sizes(self._kind(column)):
                fewest, *sizes = map(exp.column, EFFECTIVE_SIZES)
                share = to_0_1(value) if self._is_rescaled(column) else value
                normal_quantile = sql_literal(NormalDist().inv_cdf((1 + self.confidence.level) / 2))
                center = self.relations.function("wilson_center", {}, share, exp.column(fewest.name, table="s"), normal_quantile)
                inner.select(exp.alias_(center, f"{column.alias}_middle"), copy=False)
                ratio = self.relations.function("auc_variance_ratio", {}, exp.column(f"{column.alias}_middle"), *sizes)
                ratios.append(exp.alias_(ratio, f"{column.alias}_ratio"))
        inner = inner.select(*(inverse_degrees_of_freedom(exp.column(name, table="s"), name) for name in freedom_columns))
        inner = inner.from_(exp.to_table(errors_cte).as_("s"))
        inner = inner if metrics_cte is None else _join_metrics(inner, metrics_cte, "s", keys)
        quantiles = [t_quantile_column(self.confidence, name) for name in freedom_columns]
        values: list[exp.Expr] = [exp.column(f"{column.alias}_value") for column in columns]
        values += [expression for column in adjusted for expression in self._variances(column)]
        query = exp.select(*map(key_column, keys.columns), *map(exp.column, column_names), *values, *quantiles, *ratios)
        inner.comments = ["one row per group: the values and the inverse of the degrees of freedom of each interval"]
        return query.from_(inner.subquery("degrees_of_freedom"))

    def _is_adjusted(self, column: MetricColumn) -> bool:
        """Return True if an interval is adjusted for variance that depends on few units.

        This applies to default intervals of metrics that declare no method.
        """
        return self.confidence.method == "auto" and not self.confidence.needs_class_sizes(self._kind(column))

    def _trials(self, column: MetricColumn, table: str | None = None) -> exp.Column:
        """Return the column of a metric's trials.

        These are its units, unless units are weighted or some do not enter the metric.
        """
        return exp.column(self.trials.get(column.alias, self.units[column.alias]), table=table)

    def _freedoms(self, column: MetricColumn) -> list[exp.Expr]:
        """Return the degrees of freedom and trials of a metric, with its concentration."""
        concentration = exp.column(f"{column.alias}_concentration", table="s")
        arguments = [concentration, exp.column(self.units[column.alias], table="s"), self._trials(column, "s")]
        select_items = [
            concentration.copy(),
            exp.alias_(self.relations.function("degrees_of_freedom", {}, *arguments), f"{column.alias}_freedom"),
        ]
        if column.alias in self.trials:
            trials, min_trials = self._trials(column, "s"), sql_literal(MIN_TRIALS)
            above_minimum = exp.If(this=exp.GT(this=trials, expression=min_trials), true=trials.copy())
            select_items.append(exp.alias_(exp.Case(ifs=[above_minimum], default=min_trials.copy()), f"{column.alias}_trials"))
        return select_items

    def _variances(self, column: MetricColumn) -> list[exp.Expr]:
        """Return a metric's adjusted variance, and the ratio of its t quantiles.

        The ratio compares trials with units.
        """
        name, units, trials = column.alias, exp.column(self.units[column.alias]), self._trials(column)
        growth: list[exp.Expr] = [sql_literal(factor) for factor in quantile_growth(self.confidence.level)]
        statistics: list[exp.Expr] = [exp.column(f"{name}_{suffix}") for suffix in ("se", "concentration")]
        variance = self.relations.function("adjusted_variance", {}, *statistics, units, trials, exp.column(f"{name}_freedom"), *growth)
        select_items = [exp.alias_(variance, f"{name}_variance")]
        if name in self.trials and self._kind(column) != "t":
            select_items.append(exp.alias_(self.relations.function("quantile_growth_limit", {}, units, trials, *growth), f"{name}_ceiling"))
        return select_items

    def _margins(self, quantiles_cte: str, keys: KeyColumns, columns: Sequence[MetricColumn]) -> exp.Select:
        """Return the margins of the intervals."""
        select_items: list[exp.Expr] = [key_column(name) for name in keys.columns]
        select_items += [exp.column(name) for name in dict.fromkeys(self.units[column.alias] for column in columns)]
        for column in columns:
            error = exp.column(f"{column.alias}_se")
            value = exp.column(f"{column.alias}_value")
            select_items += [value, error, exp.alias_(self._margin(column, error), f"{column.alias}_margin")]
        return exp.select(*select_items).from_(quantiles_cte)

    def _margin(self, column: MetricColumn, error: exp.Expr) -> exp.Expr:
        method = self._kind(column)
        value: exp.Expr = exp.column(f"{column.alias}_value")
        variance: exp.Expr = exp.column(f"{column.alias}_variance")
        if self._is_rescaled(column):
            value, error = to_0_1(value), exp.Div(this=error.copy(), expression=sql_literal(2))
            variance = exp.Div(this=variance, expression=sql_literal(4))
        arguments = [exp.column(name) for name in (self.units[column.alias], f"{self._degrees_of_freedom(column)}_quantile")]
        if self._is_adjusted(column):
            ceiling = exp.column(f"{column.alias}_ceiling") if column.alias in self.trials else sql_literal(1)
            settings = {"adjusted_margin": "t" if method == "t" else "share"}
            return self.relations.function(
                "adjusted_margin", settings, value, error, arguments[0], self._trials(column), variance, ceiling, arguments[1]
            )
        ratio = exp.column(f"{column.alias}_ratio") if self.confidence.needs_class_sizes(method) else exp.Null()
        return self.relations.function("interval_margin", {"interval_margin": method}, value, error, *arguments, ratio)

    def _kind(self, column: MetricColumn) -> str:
        return self.confidence.method_for(column.metric, is_group_metric=column.grain == "group")

    def _is_rescaled(self, column: MetricColumn) -> bool:
        """Return True if a metric in -1..1 is mapped to 0..1 for intervals."""
        return is_bounded_minus1_1(column.metric) and self._kind(column) != "t"

    def value(self, column: MetricColumn, cte: str) -> exp.Column:
        """Return the value of a metric, possibly carried along with its error."""
        margins_cte = self.value_ctes.get(column.alias)
        return exp.column(column.alias, table=cte) if margins_cte is None else exp.column(f"{column.alias}_value", table=margins_cte)

    def _limits(self, margins_cte: str, keys: KeyColumns, columns: Sequence[MetricColumn], carried_columns: Sequence[str]) -> exp.Select:
        """Return the limits of the intervals, from values and margins."""
        select_items: list[exp.Expr] = [*map(key_column, keys.columns), *map(exp.column, carried_columns)]
        select_items += [exp.column(name) for name in dict.fromkeys(self.units[column.alias] for column in columns)]
        for column in columns:
            value, margin, error = (exp.column(f"{column.alias}_{suffix}") for suffix in ("value", "margin", SE))
            is_t, is_rescaled = self._kind(column) == "t", self._is_rescaled(column)
            center = to_0_1(value) if is_rescaled else value
            low, high = (
                self.relations.function(slot, {slot: "t" if is_t else "wilson"}, center.copy(), margin)
                for slot in ("lower_limit", "upper_limit")
            )
            low, high = map(from_0_1, (low, high)) if is_rescaled else (low, high)
            if is_t and self.confidence.method == "auto":
                low, high = clip_limits(low, high, value, limit_bounds(column.metric))
            limits: dict[str, exp.Expr] = {CI_LOW: low, CI_HIGH: high, SE: error}
            if self.relations.library.may_be_infinite(column.metric.file, column.metric.dependencies.files):
                terms = {CI_LOW: (value, margin), CI_HIGH: (value, margin), SE: ()}
                limits = {name: null_if_not_finite(limit, *terms[name]) for name, limit in limits.items()}
            named_limits = {f"{column.alias}_{name}": limit for name, limit in limits.items()}
            select_items += [limit if limit == exp.column(name) else exp.alias_(limit, name) for name, limit in named_limits.items()]
        return exp.select(*select_items).from_(margins_cte)

    def limits(self, column: MetricColumn) -> list[exp.Expr]:
        """Return the interval limits, standard error and number of units, NULL if there are none."""
        cte = self.limit_ctes.get(column.alias)
        names = {name: f"{column.alias}_{name}" for name in INTERVAL_SUFFIXES}
        expressions: dict[str, exp.Expr] = {
            name: exp.Null() if cte is None else exp.column(self.units[column.alias] if name == N_UNITS else names[name], table=cte)
            for name in INTERVAL_SUFFIXES
        }
        types = {name: "BIGINT" if name == N_UNITS else "DOUBLE" for name in INTERVAL_SUFFIXES}
        return [exp.alias_(exp.cast(expressions[name], types[name]), names[name]) for name in INTERVAL_SUFFIXES]


def _join_metrics(query: exp.Select, cte: str, alias: str, keys: KeyColumns) -> exp.Select:
    """Join the metrics of a CTE under the alias ``m``."""
    on = key_equalities(keys.columns, "m", alias, keys.nullable)
    join_arguments: dict[str, Any] = {"on": exp.and_(*on, wrap=False)} if on else {"join_type": "cross"}
    return query.join(exp.to_table(cte).as_("m"), **join_arguments)
