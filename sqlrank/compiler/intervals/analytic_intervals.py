"""Build the CTEs of analytic intervals: choose each formula, select influence and its sums, and
chain the steps to the limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import METRIC_COLUMN, IntervalOptions
from sqlrank.compiler.intervals.influence_functions import (
    CLASS_TOTALS,
    InfluenceRows,
    cell_squares_name,
    deviation_from_mean,
    influence_name,
    influences_by_rows,
    select_cell_squares,
)
from sqlrank.compiler.intervals.influence_sums import (
    CARRIED_SUFFIX,
    EVEN_UNITS,
    UNIT_WEIGHT,
    InfluenceSums,
    SumSource,
    join_metrics,
    select_by_metric,
)
from sqlrank.compiler.intervals.interval_formulas import (
    INTERVAL_STEPS,
    UNIT_COUNT,
    IntervalFormula,
    IntervalFormulas,
)
from sqlrank.compiler.layout import KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import KeyColumns, key_column
from sqlrank.compiler.select_builders import (
    drop_comments_repeated_in_query,
    group_by_key,
    have_weights,
)
from sqlrank.registry.resolved_metric import is_bounded_minus1_1, limit_bounds
from sqlrank.result_columns import CI_HIGH, CI_LOW, N_UNITS, SE
from sqlrank.sql_ast import BIGINT, DOUBLE, case_when, find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.relation_ctes import RelationCtes


INTERVAL_SUFFIXES = (CI_LOW, CI_HIGH, SE, N_UNITS)
"""Columns of a metric's interval in the result."""

LIMIT_COLUMNS = (CI_LOW, CI_HIGH, SE, UNIT_COUNT)
"""Columns of a metric's interval in its CTE."""


class AnalyticIntervals:
    """Interval CTEs that follow the metrics of a CTE; one instance per statement.

    Attributes:
        query_column: The column of queries, set if influences of queries are joined by it.
        influence_ctes: By metric the CTE with the influence of each unit, and its column of units;
            none for units of one row.
    """

    def __init__(self, confidence: IntervalOptions, relations: RelationCtes) -> None:
        self.confidence = confidence
        self.relations = relations
        self.scores = next(
            (source.scores for source in relations.sources.values() if source.scores), ()
        )
        self.rows_are_units = bool(self.scores)
        self.limit_ctes: dict[str, str] = {}
        self.value_ctes: dict[str, str] = {}
        self.query_column: str | None = None
        self.influence_ctes: dict[str, tuple[str, str]] = {}

    def add_ctes(self, ctes: Sequence[KeyedCte], columns: Sequence[MetricColumn]) -> list[KeyedCte]:
        """Add the interval CTEs of all metrics."""
        interval_ctes: list[KeyedCte] = []
        for cte in ctes:
            is_group = cte.grain == "group"
            cte_columns = [
                column
                for column in columns
                if column.grain == cte.grain and (not is_group or column.cte == cte.step)
            ]
            adjusted_aliases = [
                column.alias
                for column in cte_columns
                if self._is_adjusted(column) and self._choose_method(column) != "t"
            ]
            grouped_influences = influences_by_rows(
                self.relations, cte.step, cte_columns, not is_group, adjusted_aliases
            )
            interval_ctes += [
                self._add_interval_ctes(cte.step, cte.keys, rows, influences)
                for rows, influences in grouped_influences.items()
            ]
        return interval_ctes

    def _add_interval_ctes(
        self,
        cte: str,
        keys: KeyColumns,
        rows: InfluenceRows,
        influences: Sequence[tuple[MetricColumn, exp.Expr]],
    ) -> KeyedCte:
        """Add the interval CTEs of metrics whose influence the same rows carry."""
        weight = self._unit_weight(rows, influences)
        adjusted = [column for column, _ in influences if self._is_adjusted(column)]
        cells = {
            cell_squares_name(column): squares
            for column in adjusted
            if (squares := self._find_cell_squares(column, rows, cte)) is not None
        }
        query = self.select_influence(cte, keys, rows, influences, cells, weight)
        influence_cte = self.relations.ctes.add_aggregate(
            "unit_influence",
            query,
            self._describe_units(keys, rows),
        )
        if units := self._unit_names(keys, rows):
            self.influence_ctes |= dict.fromkeys(
                (column.alias for column, _ in influences), (influence_cte, units[0])
            )
        columns = self._list_influence_columns(rows)
        sums = InfluenceSums(
            self.relations,
            rows,
            weight is not None,
            CLASS_TOTALS[1] in columns and self._is_weighted(),
            EVEN_UNITS in columns,
        )
        formulas: dict[str, IntervalFormula] = {}
        for column, influence in influences:
            formulas[column.alias] = self._choose_formula(
                column, influence, rows, sums, cell_squares_name(column) in cells
            )
            sums.add(
                column,
                influence,
                formulas[column.alias],
                self.confidence.needs_class_sizes(formulas[column.alias].method),
            )
        is_carried = (
            rows.kind == "values"
        )  # Query values are read once: their mean is carried along with the influence.
        is_long = len(formulas) > 1
        source = sums.find_source(influence_cte, None if is_carried else cte, keys, is_long)
        limits_cte = self._add_steps(formulas, keys, source, None if is_carried else cte)
        self.limit_ctes |= dict.fromkeys(formulas, limits_cte)
        self.value_ctes |= dict.fromkeys(formulas, limits_cte) if is_carried else {}
        return KeyedCte(limits_cte, keys)

    def _describe_units(self, keys: KeyColumns, rows: InfluenceRows) -> str:
        """Return the sentence on rows of influence: a row of the CTE that they come from, one of
        several units, or a unit of several rows.
        """
        if rows.kind == "equal_units":
            return "one row per group and set of units of equal influence on the metrics"
        units = self._unit_names(keys, rows)
        if units and not self.rows_are_units and rows.kind != "values":
            return f"one row per group and {' and '.join(units)}: its influence on each metric"
        return f"{self.relations.ctes[rows.step].rows}: its influence on each metric"

    def _choose_formula(
        self,
        column: MetricColumn,
        influence: exp.Expr,
        rows: InfluenceRows,
        sums: InfluenceSums,
        has_cells: bool,
    ) -> IntervalFormula:
        """Return the formula of a metric's interval."""
        method = self._choose_method(column)
        declared = (
            column.metric.file.interval.standard_error
            if rows.kind != "values" and self.has_classes(rows)
            else ""
        )
        is_adjusted = self._is_adjusted(column)
        return IntervalFormula(
            method,
            error=declared
            or ("deviation" if influence == deviation_from_mean(column) else "influence"),
            is_adjusted=is_adjusted,
            has_size=is_adjusted and sums.has_size(influence),
            has_cells=has_cells,
            is_rescaled=is_bounded_minus1_1(column.metric) and method != "t",
            bounds=limit_bounds(column.metric)
            if method == "t" and self.confidence.method == "auto"
            else None,
            may_be_infinite=self.relations.library.may_be_infinite(
                column.metric.file, column.metric.dependencies.files
            ),
        )

    def _add_steps(
        self,
        formulas: Mapping[str, IntervalFormula],
        keys: KeyColumns,
        source: SumSource,
        metrics_cte: str | None,
    ) -> str:
        """Add the steps from sums of influence to the limits of intervals, and return the last.

        ``metrics_cte`` has the values of metrics, unless rows of influence carry them.
        """
        steps = {
            formula: IntervalFormulas(self.relations, self.confidence, formula)
            for formula in formulas.values()
        }
        rows_sentence = "one row per group and metric" if source.is_long else "one row per group"
        errors = {
            alias: steps[formula].standard_error(source.sums[alias])
            for alias, formula in formulas.items()
        }
        query = source.query.select(*drop_comments_repeated_in_query(select_by_metric(errors)))
        name = self.relations.ctes.add_aggregate(
            "standard_errors",
            query,
            f"{rows_sentence}: its units, standard error, and terms of the interval",
        )
        joined_cte = None if source.is_long else metrics_cte
        for step, build, rows_of_step in INTERVAL_STEPS:
            by_formula = {formula: build(columns) for formula, columns in steps.items()}
            items = {alias: by_formula[formula] for alias, formula in formulas.items()}
            select_items = select_by_metric(items)
            if not select_items and joined_cte is None:
                continue
            columns = [exp.column(column) for column in query.named_selects[len(keys.columns) :]]
            query = exp.select(
                *map(key_column, keys.columns),
                *columns,
                *drop_comments_repeated_in_query(select_items),
            ).from_(name)
            if joined_cte is not None:
                query = self._join_value(query, joined_cte, keys, *formulas)
                joined_cte = None
            name = self.relations.ctes.add_aggregate(
                step, query, f"{rows_sentence}: {rows_of_step}"
            )
        limits = {alias: steps[formula].list_limits() for alias, formula in formulas.items()}
        names = [*([METRIC_COLUMN] if source.is_long else []), "value", UNIT_COUNT]
        query = exp.select(
            *map(key_column, keys.columns), *map(exp.column, names), *select_by_metric(limits)
        ).from_(name)
        name = self.relations.ctes.add_aggregate(
            "interval_limits", query, f"{rows_sentence}: limits of its interval"
        )
        select_items = [
            _value_of_metric(column, alias, source.is_long).as_(f"{alias}_{column}")
            for alias in formulas
            for column in (*(["value"] if metrics_cte is None else []), *LIMIT_COLUMNS)
        ]
        query = exp.select(*map(key_column, keys.columns), *select_items).from_(name)
        query = group_by_key(query, keys) if source.is_long else query
        return self.relations.ctes.add_aggregate(
            "intervals", query, "one row per group: limits of intervals"
        )

    def _join_value(
        self, query: exp.Select, metrics_cte: str, keys: KeyColumns, alias: str
    ) -> exp.Select:
        """Join the value of a metric to the rows of a step, of which columns that the metrics have,
        too, are qualified.
        """
        names, joined = query.named_selects, self.relations.ctes[metrics_cte].query.named_selects
        value = exp.column(alias, table="m" if alias in names else None)
        for column in find_nodes(query, exp.Column):
            if column.name == "value":
                column.replace(value.copy())
            elif column.name in joined:
                column.set("table", exp.to_identifier("s"))
        source = query.args["from_"].this
        source.replace(source.as_("s"))
        return join_metrics(query.select(value.as_("value")), metrics_cte, "s", keys)

    def has_classes(self, rows: InfluenceRows) -> bool:
        """Return True if the rows that carry a metric's influence have class totals."""
        return "positive_rows" in self._list_influence_columns(rows)

    def _is_weighted(self) -> bool:
        """Return True if an input has weights other than 1."""
        ctes = self.relations.ctes
        return have_weights(ctes[name].query for name in self.relations.inputs.values())

    def _list_influence_columns(self, rows: InfluenceRows) -> list[str]:
        """Return the columns of the rows that carry a metric's influence, unless they are values of
        metrics.
        """
        return [] if rows.kind == "values" else self.relations.ctes[rows.step].query.named_selects

    def _unit_weight(
        self, rows: InfluenceRows, influences: Sequence[tuple[MetricColumn, exp.Expr]]
    ) -> exp.Expr | None:
        """Return the weight of a row's unit, None if it is not needed.

        It is not needed if all weights are equal or no interval uses them.
        """
        if (
            not any(self._is_adjusted(column) for column, _ in influences)
            or rows.kind == "equal_units"
        ):
            return None
        names = self._list_influence_columns(rows)
        if rows.kind == "values":
            is_weighted = any(
                column.name == "weight"
                for _, influence in influences
                for column in find_nodes(influence, exp.Column)
            )
            return exp.column("weight", table="r") if is_weighted else None
        if "weight" in names:
            is_constant = (
                not self.relations.ctes[rows.step]
                .query.selects[names.index("weight")]
                .unalias()
                .find(exp.Column)
            )
            is_summed = rows.units and not self.rows_are_units
            return None if is_constant and not is_summed else exp.column("weight", table="r")
        return (
            exp.column("positive_weight", table="r") + exp.column("negative_weight", table="r")
            if "positive_weight" in names
            else None
        )

    def select_influence(
        self,
        cte: str,
        keys: KeyColumns,
        rows: InfluenceRows,
        influences: Sequence[tuple[MetricColumn, exp.Expr]],
        carried: Mapping[str, exp.Expr],
        weight: exp.Expr | None = None,
    ) -> exp.Select:
        """Return one row per unit or class of units, with its influence and columns that are the
        same for all rows of a group.

        Rows of weight 0 are not units.
        """
        units = self._unit_names(keys, rows)
        key_columns = [key_column(name, "r") for name in [*keys.columns, *units]]
        expressions: dict[str, exp.Expr] = {
            influence_name(column): influence for column, influence in influences
        }
        if rows.kind == "values":
            expressions |= {
                f"{column.alias}_{CARRIED_SUFFIX}": exp.column(column.alias, table="m")
                for column, _ in influences
            }
        names = self._list_influence_columns(rows)
        expressions |= {name: exp.column(name, table="r") for name in CLASS_TOTALS if name in names}
        expressions |= {} if weight is None else {UNIT_WEIGHT: weight}
        is_summed = units and not self.rows_are_units and rows.kind != "values"
        if is_summed:
            expressions = {name: exp.Sum(this=value) for name, value in expressions.items()}
            carried = {name: exp.Max(this=value) for name, value in carried.items()}
        elif rows.kind == "equal_units":
            expressions |= {
                name: exp.column(name, table="r")
                for name in ("num_units", EVEN_UNITS, "label")
                if name in names
            }
        comments = {
            influence_name(column): _describe_influence(rows, column, influence)
            for column, influence in influences
        }
        expressions |= carried
        columns = [value.as_(name) for name, value in expressions.items()]
        for item in columns:
            item.comments = [comments[item.alias]] if item.alias in comments else None
        query = exp.select(*key_columns, *drop_comments_repeated_in_query(columns)).from_(
            exp.to_table(rows.step).as_("r")
        )
        if any(
            column.table == "m"
            for value in expressions.values()
            for column in find_nodes(value, exp.Column)
        ):
            query = join_metrics(query, cte, "r", keys)
        if "weight" in names:
            query = query.where(exp.column("weight", table="r") > 0)
        return query.group_by(*(key.copy() for key in key_columns)) if is_summed else query

    def _unit_names(self, keys: KeyColumns, rows: InfluenceRows) -> list[str]:
        """Return the columns that identify units besides the key; rows of query values have one
        only if it is set.
        """
        units = (
            (self.query_column,)
            if rows.kind == "values" and self.query_column is not None
            else rows.units
        )
        return [name for name in units if name not in keys.columns]

    def _is_adjusted(self, column: MetricColumn) -> bool:
        """Return True if an interval is adjusted for variance that depends on few units.

        This applies to default intervals of metrics that declare no method.
        """
        return self.confidence.method == "auto" and not self.confidence.needs_class_sizes(
            self._choose_method(column)
        )

    def _find_cell_squares(
        self, column: MetricColumn, rows: InfluenceRows, cte: str
    ) -> exp.Expr | None:
        """Return the squared effects of rows of rare cells on a metric, over ``r`` and ``m``, None
        if it declares none.
        """
        declared = column.metric.file.interval
        if declared.cell_squares in self._list_influence_columns(rows):
            return exp.column(declared.cell_squares, table="r")
        if not declared.cells or rows.kind != "contributions":
            return None
        metrics_query: Any = self.relations.ctes[cte].query
        return select_cell_squares(self.relations, metrics_query, column)

    def _choose_method(self, column: MetricColumn) -> str:
        return self.confidence.method_for(column.metric, is_group_metric=column.grain == "group")

    def select_value(self, column: MetricColumn, cte: str) -> exp.Column:
        """Return the value of a metric, possibly carried along with its error."""
        value_cte = self.value_ctes.get(column.alias)
        return (
            exp.column(column.alias, table=cte)
            if value_cte is None
            else exp.column(f"{column.alias}_value", table=value_cte)
        )

    def select_limits(self, column: MetricColumn) -> list[exp.Expr]:
        """Return the interval limits, standard error and number of units, NULL if there are
        none.
        """
        cte = self.limit_ctes.get(column.alias)
        items: list[exp.Expr] = []
        for name, source in zip(INTERVAL_SUFFIXES, LIMIT_COLUMNS, strict=True):
            value = exp.Null() if cte is None else exp.column(f"{column.alias}_{source}", table=cte)
            number = exp.cast(value, BIGINT if name == N_UNITS else DOUBLE)
            items.append(number.as_(f"{column.alias}_{name}"))
        return items


def _value_of_metric(name: str, metric: str, is_long: bool) -> exp.Expr:
    """Return a column of the rows of a metric, in the only row of a group or among those of
    several metrics.
    """
    column = exp.column(name)
    if not is_long:
        return column
    return exp.Max(this=case_when(exp.column(METRIC_COLUMN).eq(metric), column))


def _describe_influence(rows: InfluenceRows, column: MetricColumn, influence: exp.Expr) -> str:
    """Return the comment of a column of influence on a metric."""
    if influence == deviation_from_mean(column):
        return "difference from the mean"
    if rows.kind == "equal_units":
        return "root of the sum of squares of the influence of the equal units of this row"
    return "effect of the unit on the metric, to first order"
