"""Sum the influence of units on metrics: in a row per group for one metric, in a row per group and
metric for several, with a CASE over metrics where their formulas differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.call.interval_options import METRIC_COLUMN
from sqlrank.compiler.intervals.influence_functions import (
    CELL_SQUARES,
    CLASS_TOTALS,
    CLASS_UNITS,
    CLASSES,
    InfluenceRows,
    cell_squares_name,
    influence_name,
)
from sqlrank.compiler.intervals.interval_formulas import UNIT_COUNT
from sqlrank.compiler.row_keys import KeyColumns, key_column, key_equalities
from sqlrank.compiler.select_builders import aggregate_by_key, join_source
from sqlrank.sql_ast import case_when, count_rows, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.intervals.interval_formulas import IntervalFormula
    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes


UNIT_WEIGHT = "unit_weight"
"""Column of a unit's weight."""

EVEN_UNITS = "even_units"
"""Column of rows of several units: the number of units of one weight whose squares and fourth
powers have the same sums as theirs.
"""

CARRIED_SUFFIX = "value"
"""End of the names of columns with the value of a metric, which rows of influence carry along."""


@dataclass(frozen=True)
class SumSource:
    """The rows from which standard errors are computed.

    Attributes:
        query: SELECT of the keys, to which columns are added.
        sums: Expressions of the sums of each metric over the source of the query, by name.
        is_long: A row is that of a group and metric.
    """

    query: exp.Select
    sums: Mapping[str, Mapping[str, exp.Expr]]
    is_long: bool


class InfluenceSums:
    """Sums over the rows of influence of several metrics; one instance per kind of rows."""

    def __init__(
        self,
        relations: RelationCtes,
        rows: InfluenceRows,
        has_unit_weights: bool,
        has_weighted_classes: bool,
        has_even_units: bool,
    ) -> None:
        self.relations = relations
        self.rows = rows
        self.is_equal = rows.kind == "equal_units"
        self.is_uneven = has_even_units and has_weighted_classes
        self.has_unit_weights = has_unit_weights
        self.has_weighted_classes = has_weighted_classes
        self._sums: dict[str, dict[str, exp.Expr]] = {}

    def has_size(self, influence: exp.Expr) -> bool:
        """Return True if a metric's effective sample size differs from its number of units."""
        enters = isinstance(influence, exp.Case) and self.rows.kind == "contributions"
        return enters or self.has_unit_weights or self.is_uneven

    def add(
        self,
        column: MetricColumn,
        influence: exp.Expr,
        formula: IntervalFormula,
        has_class_sizes: bool,
    ) -> None:
        """Add the sums that the formula of a metric needs."""
        value = exp.column(influence_name(column))
        has_own_count = self.rows.kind == "values" and (
            column.is_nullable or isinstance(influence, exp.Case)
        )
        count = (
            exp.Sum(this=exp.column("num_units"))
            if self.is_equal
            else exp.Count(this=value)
            if has_own_count
            else count_rows()
        )
        square = value * value
        sums: dict[str, exp.Expr] = {UNIT_COUNT: count}
        if self.rows.kind == "values":
            sums[CARRIED_SUFFIX] = exp.Max(this=exp.column(f"{column.alias}_{CARRIED_SUFFIX}"))
        if formula.error != "delong" or formula.is_adjusted:
            sums["squares"] = exp.Sum(this=square)
        if formula.is_adjusted:
            variant = "several_units" if self.is_equal else "influence"
            arguments = (value, exp.column(EVEN_UNITS if self.is_uneven else "num_units"))
            sums["fourth_powers"] = self.relations.apply_function(
                "fourth_power_sum", {"fourth_power_sum": variant}, *arguments
            )
        if formula.error == "delong":
            zero = sql_literal(0)
            # A unit of several rows that has a positive counts with the positives: they are the
            # rarer class, as a rule.
            is_positive = (
                exp.column("label").eq(1) if self.is_equal else exp.column(CLASS_TOTALS[2]) > 0
            )
            sums["positive_squares"] = exp.Sum(this=case_when(is_positive, square, zero))
            sums["negative_squares"] = exp.Sum(
                this=case_when(is_positive.copy(), zero.copy(), square.copy())
            )
        if formula.error == "delong" or has_class_sizes:
            sums |= {
                name: exp.Sum(this=exp.column(rows))
                for name, rows in zip(CLASSES, (CLASS_TOTALS[2], CLASS_TOTALS[5]), strict=True)
            }
        if formula.error == "delong" and not self.is_equal:
            sums |= {
                name: count_units_with(rows)
                for name, rows in zip(CLASS_UNITS, (CLASS_TOTALS[2], CLASS_TOTALS[5]), strict=True)
            }
        if has_class_sizes:
            sums |= self._class_sizes(sums)
        if formula.has_cells:
            sums[CELL_SQUARES] = exp.Max(this=exp.column(cell_squares_name(column)))
        if formula.has_size:
            sums |= self._size_sums(value)
        self._sums[column.alias] = sums

    def _class_sizes(self, sums: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
        """Return the effective sample sizes of both classes."""
        if not self.has_weighted_classes:
            return {f"{name.removesuffix('s')}_size": sums[name] for name in CLASSES}
        totals = zip(CLASSES, ((0, 1), (3, 4)), strict=True)
        return {
            f"{name.removesuffix('s')}_size": self.relations.apply_function(
                "effective_size", {}, *(exp.column(CLASS_TOTALS[index]) for index in indexes)
            )
            for name, indexes in totals
        }

    def _size_sums(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """Return the sums from which a metric's effective sample size is computed."""
        if self.is_uneven:
            totals = [
                exp.column(CLASS_TOTALS[index]) + exp.column(CLASS_TOTALS[index + 3])
                for index in (0, 1)
            ]
            return {"size": self.relations.apply_function("effective_size", {}, *totals)}
        if not self.has_unit_weights:
            return {"size": exp.Count(this=value.copy())}
        weight = exp.column(UNIT_WEIGHT)
        return {
            "unit_size": self.relations.apply_function(
                "effective_size", {}, weight, weight * weight
            ),
            "entering_units": exp.Count(this=value.copy()),
            "all_units": count_rows(),
        }

    def find_source(
        self, influence_cte: str, metrics_cte: str | None, keys: KeyColumns, is_long: bool
    ) -> SumSource:
        """Return the rows from which standard errors are computed: those of influence, or sums of
        them with a row for each metric.

        Args:
            influence_cte: CTE of the influence of units.
            metrics_cte: CTE of the values of metrics, None if rows of influence carry them.
            keys: Columns that identify groups.
            is_long: Return a row for each metric.
        """
        if not is_long:
            return SumSource(
                aggregate_by_key(influence_cte, keys, {}),
                {alias: _with_size(sums) for alias, sums in self._sums.items()},
                is_long=False,
            )
        names = self._name_sums()
        columns = {
            names[alias, name]: value
            for alias, sums in self._sums.items()
            for name, value in sums.items()
        }
        sums_cte = self.relations.ctes.add_aggregate(
            "influence_sums",
            aggregate_by_key(influence_cte, keys, columns),
            "one row per group: its number of independent units, and sums of powers of their"
            " influence on each metric",
        )
        return self._join_metric_values(sums_cte, metrics_cte, keys, names)

    def _name_sums(self) -> dict[tuple[str, str], str]:
        """Return the column of each sum of each metric: with the name of the metric, unless it is
        the same for all.
        """
        names: dict[tuple[str, str], str] = {}
        taken: dict[exp.Expr, str] = {}
        for alias, sums in self._sums.items():
            for name, value in sums.items():
                is_shared = all(other.get(name, value) == value for other in self._sums.values())
                names[alias, name] = taken.setdefault(
                    value, name if is_shared else f"{alias}_{name}"
                )
        return names

    def _join_metric_values(
        self,
        sums_cte: str,
        metrics_cte: str | None,
        keys: KeyColumns,
        names: Mapping[tuple[str, str], str],
    ) -> SumSource:
        """Return the sums with the values of metrics, in a row for each metric."""
        # Columns are qualified where the metrics have one of the same name.
        joined = [] if metrics_cte is None else self.relations.ctes[metrics_cte].query.named_selects
        tables = {
            name: "s" if name in joined else None for name in [*keys.columns, *names.values()]
        }
        sums = {
            alias: (
                {
                    name: exp.column(names[alias, name], table=tables[names[alias, name]])
                    for name in own_sums
                }
                | (
                    {}
                    if metrics_cte is None
                    else {
                        CARRIED_SUFFIX: exp.column(
                            alias, table="m" if alias in names.values() else None
                        )
                    }
                )
            )
            for alias, own_sums in self._sums.items()
        }
        query = exp.select(*(key_column(name, tables[name]) for name in keys.columns)).from_(
            exp.to_table(sums_cte).as_("s")
        )
        rows = [exp.select(exp.Literal.string(alias).as_(METRIC_COLUMN)) for alias in sums]
        metric_names = self.relations.ctes.add_aggregate(
            "metric_names", union_all(rows), "one row per metric"
        )
        query = query.select(exp.column(METRIC_COLUMN)).join(metric_names, join_type="cross")
        query = query if metrics_cte is None else join_metrics(query, metrics_cte, "s", keys)
        values: dict[str, dict[str, exp.Expr]] = {}
        for alias, columns in sums.items():
            for name, value in columns.items():
                values.setdefault(name, {})[alias] = value
        query = query.select(
            *(case_by_metric(by_alias).as_(name) for name, by_alias in values.items())
        )
        name = self.relations.ctes.add_aggregate(
            "metric_sums", query, "one row per group and metric: the same sums"
        )
        long_query = exp.select(*map(key_column, keys.columns), exp.column(METRIC_COLUMN)).from_(
            name
        )
        return SumSource(
            long_query,
            {alias: _with_size({name: exp.column(name) for name in sums[alias]}) for alias in sums},
            is_long=True,
        )


def count_units_with(rows: str) -> exp.Expr:
    """Return the number of units with rows of a class, given the column of their numbers."""
    has_rows = exp.column(rows) > 0
    return exp.Sum(this=case_when(has_rows, 1, 0))


def _with_size(sums: Mapping[str, exp.Expr]) -> Mapping[str, exp.Expr]:
    """Return sums with the effective sample size: that of all units, times the share of those that
    enter the metric.
    """
    if "unit_size" not in sums:
        return sums
    share = exp.Div(
        this=sums["entering_units"].copy(),
        expression=exp.func("NULLIF", sums["all_units"].copy(), sql_literal(0)),
    )
    size = sums["unit_size"].copy()
    size = size if isinstance(size, exp.Column) else exp.paren(size)
    return {**sums, "size": exp.Mul(this=size, expression=exp.paren(share))}


def join_metrics(query: exp.Select, cte: str, alias: str, keys: KeyColumns) -> exp.Select:
    """Join the metrics of a CTE under the alias ``m``."""
    on = key_equalities(keys.columns, "m", alias, keys.nullable)
    return join_source(query, exp.to_table(cte).as_("m"), on, side="")


STRICT_COLUMNS = {"proportion"}
"""Columns that are NULL for metrics without them; of others, such metrics have the formula of the
rest, which nobody reads.
"""


def select_by_metric(items: Mapping[str, Sequence[exp.Expr]]) -> list[exp.Expr]:
    """Return the columns of metrics in rows of their own, each once, with the comments of all.

    Args:
        items: Columns of each metric, by its name.

    >>> import sqlglot
    >>> items = {
    ...     metric: sqlglot.parse_one(f"SELECT {text}").expressions
    ...     for metric, text in {"auc": "SQRT(a) AS se", "ap": "SQRT(b) AS se"}.items()
    ... }
    >>> [item.sql() for item in select_by_metric(items)]
    ["SQRT(CASE WHEN metric = 'ap' THEN b ELSE a END) AS se"]
    """
    by_column: dict[str, dict[str, exp.Expr]] = {}
    for metric, columns in items.items():
        for column in columns:
            by_column.setdefault(column.alias_or_name, {})[metric] = column
    merged: list[exp.Expr] = []
    for name, columns_by_metric in by_column.items():
        values = {metric: column.unalias().unnest() for metric, column in columns_by_metric.items()}
        value = _merge_expressions(
            values, strict=name in STRICT_COLUMNS and len(values) < len(items)
        )
        column = value if value == exp.column(name) else value.as_(name)
        column.comments = list(
            dict.fromkeys(
                comment for item in columns_by_metric.values() for comment in item.comments or ()
            )
        )
        merged.append(column)
    return merged


def case_by_metric(values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a CASE with a branch for each metric; a plain value if all are equal."""
    first, *rest = values.values()
    if all(value == first for value in rest):
        return first
    ifs = [exp.If(this=exp.Literal.string(metric), true=value) for metric, value in values.items()]
    return exp.Case(this=exp.column(METRIC_COLUMN), ifs=ifs)


def _merge_expressions(values: Mapping[str, exp.Expr], strict: bool) -> exp.Expr:
    """Return one expression for all metrics: a CASE around the parts in which theirs differ."""
    metrics: dict[exp.Expr, list[str]] = {}
    for metric, value in values.items():
        metrics.setdefault(value, []).append(metric)
    first, *rest = metrics
    if strict:
        return exp.Case(
            ifs=[
                exp.If(this=_is_metric_in(names), true=value.copy())
                for value, names in metrics.items()
            ]
        )
    if not rest:
        return first.copy()
    if type(first) in {exp.Sqrt, exp.Paren} and all(type(value) is type(first) for value in rest):
        return type(first)(
            this=_merge_expressions(
                {metric: value.this for metric, value in values.items()}, strict=False
            )
        )
    if isinstance(first, exp.Binary) and all(type(value) is type(first) for value in rest):
        if all(value.this == first.this for value in rest):
            right = _merge_expressions(
                {metric: value.expression for metric, value in values.items()}, strict=False
            )
            return type(first)(this=first.this.copy(), expression=right)
        if all(value.expression == first.expression for value in rest):
            left = _merge_expressions(
                {metric: value.this for metric, value in values.items()}, strict=False
            )
            return type(first)(this=left, expression=first.expression.copy())
    most = max(metrics, key=lambda value: len(metrics[value]))
    ifs = [
        exp.If(this=_is_metric_in(names), true=value.copy())
        for value, names in metrics.items()
        if value is not most
    ]
    return exp.Case(ifs=ifs, default=most.copy())


def _is_metric_in(metrics: Sequence[str]) -> exp.Expr:
    """Return the condition that a row is that of one of these metrics."""
    column = exp.column(METRIC_COLUMN)
    return column.isin(*metrics) if len(metrics) > 1 else column.eq(metrics[0])
