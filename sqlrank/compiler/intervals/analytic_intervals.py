"""CTEs of analytic intervals: standard errors by the delta method or influence functions, degrees of freedom, and limits."""

from __future__ import annotations

from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.column_comments import describe_column, drop_equal_comments
from sqlrank.compiler.intervals.influence_functions import (
    CLASS_TOTALS,
    InfluenceRows,
    deviation_from_mean,
    influence_name,
    influences_by_rows,
)
from sqlrank.compiler.intervals.interval_limits import clip_limits, from_0_1, to_0_1
from sqlrank.compiler.intervals.t_quantiles import UNIT_COUNT, count_prefix, inverse_df_columns, t_quantile_column
from sqlrank.compiler.layout import KeyedCte
from sqlrank.compiler.row_keys import key_column, key_equalities
from sqlrank.compiler.select_builders import group_by_key, null_if_not_finite
from sqlrank.inference.student_t import quantile_growth
from sqlrank.registry.value_bounds import is_bounded_minus1_1, limit_bounds
from sqlrank.result_columns import CI_HIGH, CI_LOW, N_UNITS, SE
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.compiler.row_keys import KeyColumns
    from sqlrank.interval_options import IntervalOptions


INTERVAL_SUFFIXES = (CI_LOW, CI_HIGH, SE, N_UNITS)
"""Columns of a metric's interval in the result."""

UNIT_WEIGHT = "unit_weight"
"""Column of a unit's weight."""

EFFECTIVE_SIZES = ("smaller_class_size", "positive_size", "negative_size")
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
        self.entering: set[str] = set()
        self.sizes: dict[str, str] = {}

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
            declared = column.metric.file.interval.standard_error if rows.kind == "equal_units" else ""
            self.errors[column.alias] = declared or ("deviation" if influence == deviation_from_mean(column) else "influence")
            if isinstance(influence, exp.Case) and rows.kind == "contributions":
                self.entering.add(column.alias)
            has_own_count = rows.kind == "values" and (column.is_nullable or isinstance(influence, exp.Case))
            self.units[column.alias] = f"{column.alias}_{UNIT_COUNT}" if has_own_count else UNIT_COUNT
        has_classes = self.has_classes(rows)
        weight = self._unit_weight(rows, influences)
        influence_cte = self.relations.ctes.add_aggregate(
            "unit_influence",
            self.influence(cte, keys, rows, influences, has_classes, weight),
            "one row per group and set of units of equal influence on the metrics"
            if rows.kind == "equal_units"
            else "one row per unit: its influence on every metric",
        )
        # Query values are read once: their mean is carried along with the influence.
        carried_columns = [f"{column.alias}_value" for column in columns] if rows.kind == "values" else []
        query = self._errors(influence_cte, keys, rows, columns, has_classes).select(
            *self._concentrations(rows, columns, weight, has_classes),
            *(exp.alias_(exp.Max(this=exp.column(name)), name) for name in carried_columns),
        )
        name = self.relations.ctes.add_aggregate("standard_errors", query, "one row per group: its units, and standard errors")
        steps: list[tuple[str, Callable[..., exp.Select], str]] = [
            ("degrees_of_freedom", self._degrees_of_freedom, "powers of 1 / df, and effective degrees of freedom"),
            ("variances", self._variances, "quantiles of Student's t, and variances for the intervals"),
            ("metric_shares", partial(self._shares, None if carried_columns else cte), "the metrics as shares"),
            ("trials", self._trials, "effective numbers of trials"),
            ("margins", self._margins, "what the limits of intervals are computed from"),
        ]
        if any(self.confidence.needs_class_sizes(self._kind(column)) for column in columns):
            steps[1:3] = reversed(steps[1:3])  # The least variance of an area depends on the area.
        for step, build, rows_of_step in steps:
            query = build(name, query, keys, columns)
            name = self.relations.ctes.add_aggregate(step, query, f"one row per group: {rows_of_step}")
        limits_cte = self.relations.ctes.add_aggregate(
            "intervals", self._limits(name, keys, columns, carried_columns), "one row per group: limits of intervals"
        )
        self.limit_ctes |= {column.alias: limits_cte for column in columns}
        self.value_ctes |= {column.alias: limits_cte for column in columns if carried_columns}
        return KeyedCte(limits_cte, keys)

    def has_classes(self, rows: InfluenceRows) -> bool:
        """Return True if the rows that carry a metric's influence have class totals."""
        return "positive_rows" in self._names(rows)

    def _is_weighted(self) -> bool:
        """Return True if an input has weights other than 1."""
        queries = [self.relations.ctes[name].query for name in self.relations.inputs.values()]
        weights = (item for query in queries for item in query.selects if item.alias_or_name == "weight")
        return any(weight.find(exp.Column) for weight in weights)

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
        """Return the concentration of each metric's variance on few units, and its effective sample size.

        Sizes are only returned if they differ from the number of units.
        """
        select_items: list[exp.Expr] = []
        variant = "several_units" if rows.kind == "equal_units" else "influence"
        effective_size: exp.Expr | None = None
        if weight is not None:
            weight_column = exp.column(UNIT_WEIGHT)
            effective_size = self.relations.function(
                "effective_size", {}, weight_column, exp.Mul(this=weight_column.copy(), expression=weight_column.copy())
            )
        elif rows.kind == "equal_units" and has_classes and self._is_weighted():
            effective_size = self.relations.function(
                "effective_size", {}, *(exp.column(CLASS_TOTALS[index]) + exp.column(CLASS_TOTALS[index + 3]) for index in (0, 1))
            )
        for column in columns:
            if not self._is_adjusted(column):
                continue
            influence = exp.column(influence_name(column))
            arguments = [influence, exp.column("num_units"), self._count(column, rows)]
            concentration = self.relations.function("influence_concentration", {"influence_concentration": variant}, *arguments)
            select_items.append(
                describe_column(concentration, f"{column.alias}_concentration", self._title("influence_concentration", variant))
            )
            num_entering = exp.Count(this=influence.copy())
            if effective_size is None and column.alias not in self.entering:
                continue
            size = num_entering if effective_size is None else effective_size.copy()
            if effective_size is not None and rows.kind != "equal_units":
                share = exp.Div(this=num_entering, expression=exp.func("NULLIF", exp.Count(this=exp.Star()), sql_literal(0)))
                size = exp.Mul(this=exp.paren(effective_size.copy()), expression=exp.paren(share))
            self.sizes[column.alias] = f"{column.alias}_size"
            select_items.append(exp.alias_(self.relations.function("least_size", {}, size), f"{column.alias}_size"))
        return list(drop_equal_comments(select_items))

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
        expressions: dict[str, exp.Expr] = {influence_name(column): influence for column, influence in influences}
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

    def _count(self, column: MetricColumn, rows: InfluenceRows) -> exp.Expr:
        """Return the number of units of a metric, counted from rows with their influence."""
        if rows.kind == "equal_units":
            return exp.Sum(this=exp.column("num_units"))
        return exp.Count(this=exp.Star() if self.units[column.alias] == UNIT_COUNT else exp.column(influence_name(column)))

    def _errors(
        self, influence_cte: str, keys: KeyColumns, rows: InfluenceRows, columns: Sequence[MetricColumn], has_classes: bool
    ) -> exp.Select:
        counts = {name: exp.alias_(self._count(column, rows), name) for column in columns for name in (self.units[column.alias],)}
        errors = []
        for column in columns:
            settings = {"standard_error": self.errors[column.alias]}
            arguments = [*map(exp.column, (influence_name(column), "num_units", "label")), self._count(column, rows)]
            errors.append(exp.alias_(self.relations.function("standard_error", settings, *arguments), f"{column.alias}_se"))
        sizes: list[exp.Expr] = []
        if has_classes:
            sizes = [self.relations.function("smaller_sum", {}, exp.column(CLASS_TOTALS[2]), exp.column(CLASS_TOTALS[5]))]
            is_weighted = self._is_weighted()
            for weight, squares, num_rows in (map(exp.column, CLASS_TOTALS[:3]), map(exp.column, CLASS_TOTALS[3:])):
                sizes.append(self.relations.function("effective_size", {}, weight, squares) if is_weighted else exp.Sum(this=num_rows))
        size_columns = [exp.alias_(size, name) for size, name in zip(sizes, EFFECTIVE_SIZES, strict=False)]
        return group_by_key(exp.select(*map(key_column, keys.columns), *counts.values(), *errors, *size_columns).from_(influence_cte), keys)

    def _count_column(self, column: MetricColumn) -> str:
        """Return the column that is the degrees of freedom plus one.

        It holds units, or rows of the smaller class.
        """
        return EFFECTIVE_SIZES[0] if self.errors[column.alias] == "delong" else self.units[column.alias]

    def _degrees_of_freedom(self, cte: str, query: exp.Select, keys: KeyColumns, columns: Sequence[MetricColumn]) -> exp.Select:
        """Return powers of the reciprocal degrees of freedom, and the effective degrees of freedom of the variances of metrics.

        Subexpressions that long expressions use several times are columns of their own, so engines evaluate them once.
        """
        select_items: list[exp.Expr] = []
        for name in dict.fromkeys(map(self._count_column, columns)):
            select_items += inverse_df_columns(exp.column(name), name)
        adjusted = [column for column in columns if self._is_adjusted(column)]
        for name in dict.fromkeys(self.units[column.alias] for column in adjusted):
            growth = self.relations.function("t_growth", {}, exp.column(name), *self._growth())
            select_items.append(describe_column(growth, f"{count_prefix(name)}t_growth", self._title("t_growth")))
        for column in adjusted:
            select_items += self._freedoms(column)
        return _extend(cte, query, keys, select_items)

    def _shares(
        self, metrics_cte: str | None, cte: str, query: exp.Select, keys: KeyColumns, columns: Sequence[MetricColumn]
    ) -> exp.Select:
        """Return the metrics of a CTE, and as shares if they are, unless values are carried along with the errors."""
        names = query.named_selects[len(keys.columns) :]
        query = exp.select(*(key_column(name, "s") for name in keys.columns), *(exp.column(name, table="s") for name in names))
        query = query.from_(exp.to_table(cte).as_("s"))
        query = query if metrics_cte is None else _join_metrics(query, metrics_cte, "s", keys)
        for column in columns:
            name = f"{column.alias}_value"
            value = exp.column(name, table="s") if metrics_cte is None else exp.column(column.alias, table="m")
            if metrics_cte is not None:
                query.select(exp.alias_(value, name), copy=False)
            if self._kind(column) == "t":
                continue
            share = to_0_1(value) if self._is_rescaled(column) else value
            query.select(exp.alias_(self.relations.function("clipped_share", {}, share), f"{column.alias}_share"), copy=False)
            if self.confidence.needs_class_sizes(self._kind(column)):
                normal = sql_literal(NormalDist().inv_cdf((1 + self.confidence.level) / 2))
                center = self.relations.function("wilson_center", {}, share, exp.column(EFFECTIVE_SIZES[0], table="s"), normal)
                query.select(exp.alias_(center, f"{column.alias}_center"), copy=False)
        return query

    def _growth(self) -> list[exp.Expr]:
        """Return the constants of the growth of t quantiles."""
        return [sql_literal(factor) for factor in quantile_growth(self.confidence.level)]

    def _title(self, slot: str, name: str = "") -> str:
        """Return the sentence about a function, for the column that it computes."""
        functions = self.relations.library.functions[slot]
        title = functions[name or next(iter(functions))].title
        return title.partition(": ")[2].removesuffix(".")

    def _is_adjusted(self, column: MetricColumn) -> bool:
        """Return True if an interval is adjusted for variance that depends on few units.

        This applies to default intervals of metrics that declare no method.
        """
        return self.confidence.method == "auto" and not self.confidence.needs_class_sizes(self._kind(column))

    def _size(self, column: MetricColumn) -> exp.Column:
        """Return the column of a metric's effective sample size: its units, unless weighted or absent."""
        return exp.column(self.sizes.get(column.alias, self.units[column.alias]))

    def _freedoms(self, column: MetricColumn) -> list[exp.Expr]:
        """Return the degrees of freedom of a metric's variance, and the factor for its kurtosis."""
        concentration, size = exp.column(f"{column.alias}_concentration"), self._size(column)
        units = exp.column(self.units[column.alias])
        variant = "weighted" if column.alias in self.sizes else "satterthwaite"
        freedom = self.relations.function("degrees_of_freedom", {"degrees_of_freedom": variant}, concentration, units, size)
        inflation = self.relations.function("kurtosis_inflation", {}, concentration, units)
        return [
            describe_column(freedom, f"{column.alias}_df", self._title("degrees_of_freedom", variant)),
            describe_column(inflation, f"{column.alias}_inflation", self._title("kurtosis_inflation")),
        ]

    def _variances(self, cte: str, query: exp.Select, keys: KeyColumns, columns: Sequence[MetricColumn]) -> exp.Select:
        """Return t quantiles, and for each metric its adjusted variance, or the least variance of its area."""
        select_items = [t_quantile_column(self.confidence, name) for name in dict.fromkeys(map(self._count_column, columns))]
        for column in columns:
            name, units, size = column.alias, exp.column(self.units[column.alias]), self._size(column)
            if self._is_adjusted(column):
                growth = exp.column(f"{count_prefix(units.name)}t_growth")
                statistics: list[exp.Expr] = [exp.column(f"{name}_{suffix}") for suffix in ("se", "inflation")]
                variant = "weighted" if name in self.sizes else "kurtosis"
                arguments = [*statistics, units, size, exp.column(f"{name}_df"), *self._growth(), growth]
                variance = self.relations.function("adjusted_variance", {"adjusted_variance": variant}, *arguments)
                select_items.append(describe_column(variance, f"{name}_variance", self._title("adjusted_variance", variant)))
                if name in self.sizes and self._kind(column) != "t":
                    ratio = self.relations.function("quantile_growth_limit", {}, units, size, *self._growth(), growth)
                    select_items.append(exp.alias_(ratio, f"{name}_ratio"))
            elif self.confidence.needs_class_sizes(self._kind(column)):
                sizes = map(exp.column, EFFECTIVE_SIZES[1:])
                ratio = self.relations.function("auc_variance_ratio", {}, exp.column(f"{name}_center"), *sizes)
                select_items.append(exp.alias_(ratio, f"{name}_ratio"))
        return _extend(cte, query, keys, select_items)

    def _trials(self, cte: str, query: exp.Select, keys: KeyColumns, columns: Sequence[MetricColumn]) -> exp.Select:
        """Return the squared t quantile over the effective number of trials, of each share."""
        select_items: list[exp.Expr] = []
        for column in columns:
            if (method := self._kind(column)) == "t":
                continue
            error: exp.Expr = exp.column(f"{column.alias}_se")
            variance: exp.Expr = exp.column(f"{column.alias}_variance")
            if self._is_rescaled(column):
                error, variance = (exp.Div(this=value, expression=sql_literal(divisor)) for value, divisor in ((error, 2), (variance, 4)))
            if self._is_adjusted(column):
                method = "adjusted_weighted" if column.alias in self.sizes else "adjusted"
            arguments = [exp.column(f"{column.alias}_share"), error, exp.column(self.units[column.alias]), self._size(column), variance]
            arguments.append(exp.column(f"{column.alias}_ratio"))
            trials = self.relations.function("effective_trials", {"effective_trials": method}, *arguments)
            quantile = self._quantile(column)
            shrinkage = exp.Div(this=exp.Mul(this=quantile, expression=quantile.copy()), expression=trials)
            comment = f"t^2 / trials, which draws the interval towards 1/2; trials: {self._title('effective_trials', method)}"
            select_items.append(describe_column(shrinkage, f"{column.alias}_shrinkage", comment))
        return _extend(cte, query, keys, select_items)

    def _quantile(self, column: MetricColumn) -> exp.Column:
        """Return the column of the t quantile of a metric's interval."""
        return exp.column(f"{count_prefix(self._count_column(column))}t_quantile")

    def _margins(self, cte: str, query: exp.Select, keys: KeyColumns, columns: Sequence[MetricColumn]) -> exp.Select:
        """Return the margin of each Student's interval, and the spread of each of Wilson's."""
        select_items: list[exp.Expr] = []
        for column in columns:
            value, error, variance, share, shrinkage = (
                exp.column(f"{column.alias}_{suffix}") for suffix in ("value", "se", "variance", "share", "shrinkage")
            )
            if self._kind(column) == "t":
                settings = {"interval_margin": "adjusted" if self._is_adjusted(column) else "t"}
                margin = self.relations.function("interval_margin", settings, value, error, variance, self._quantile(column))
                select_items.append(exp.alias_(margin, f"{column.alias}_margin"))
            else:
                spread = self.relations.function("wilson_spread", {}, share, shrinkage)
                select_items.append(describe_column(spread, f"{column.alias}_margin", self._title("wilson_spread")))
        return _extend(cte, query, keys, select_items)

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
            value, share, margin, error = (exp.column(f"{column.alias}_{suffix}") for suffix in ("value", "share", "margin", SE))
            is_t, is_rescaled = self._kind(column) == "t", self._is_rescaled(column)
            center = value if is_t else share
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


def _extend(cte: str, query: exp.Select, keys: KeyColumns, select_items: Sequence[exp.Expr]) -> exp.Select:
    """Return the columns of a CTE, whose query is given, and columns computed from them."""
    names = query.named_selects[len(keys.columns) :]
    return exp.select(*map(key_column, keys.columns), *map(exp.column, names), *drop_equal_comments(select_items)).from_(cte)


def _join_metrics(query: exp.Select, cte: str, alias: str, keys: KeyColumns) -> exp.Select:
    """Join the metrics of a CTE under the alias ``m``."""
    on = key_equalities(keys.columns, "m", alias, keys.nullable)
    join_arguments: dict[str, Any] = {"on": exp.and_(*on, wrap=False)} if on else {"join_type": "cross"}
    return query.join(exp.to_table(cte).as_("m"), **join_arguments)
