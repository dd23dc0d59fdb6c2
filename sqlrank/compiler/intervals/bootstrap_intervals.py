"""Build the CTEs of Poisson bootstrap intervals: resampled rows (limits from standard error and t)
or query values (percentile limits).

Each unit occurs a Poisson-distributed number of times per replicate, derived from a hash of its
name, so results are equal on all engines. Any two replicates are independent.

Reference: Chamandy, Muralidharan, Najmi & Naidu (2012), Estimating uncertainty for massive data
streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import (
    REPLICATE_COLUMN,
    IntervalOptions,
)
from sqlrank.compiler.intervals.analytic_intervals import INTERVAL_SUFFIXES
from sqlrank.compiler.intervals.interval_formulas import (
    DF,
    T_QUANTILE,
    UNIT_COUNT,
    clip_limits,
    df_column,
    t_quantile_column,
    units_differ,
)
from sqlrank.compiler.layout import InputKey, InputVariant, KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    QUERY_ID,
    SLICE_NUMBER,
    UNIT_ID,
    ExpansionContext,
    KeyColumns,
    expand_keys,
    key_column,
)
from sqlrank.compiler.select_builders import (
    aggregate_by_key,
    cast_double,
    cross_join_slices,
    inline_functions,
    join_on_key,
    null_if_not_finite,
    order_rows,
    rename_ctes,
    slice_label,
)
from sqlrank.registry.query_templates import (
    describe_rows,
    file_rows,
    load_query,
    load_select,
    replace_column,
)
from sqlrank.registry.resolved_metric import limit_bounds
from sqlrank.result_columns import CI_HIGH, CI_LOW, N_UNITS, SE, SLICE_COLUMN
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    bind_placeholders,
    case_when,
    find_nodes,
    is_not_null,
    sql_literal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.compiler.relation_ctes import RelationCtes


CLASS_PREFIX, CLASS_UNIT_COUNT = "class_", "class_units"
"""Prefix of columns of the smaller class, and the number of its units."""


def resampled_rows(
    relations: RelationCtes,
    confidence: IntervalOptions,
    rows: exp.Query,
    cte: str,
    unit: str,
    weight: exp.Expr | None,
) -> exp.Query:
    """Return a CTE's original rows as replicate 0, and the resampled rows.

    Resampled rows are weighted by how often their unit occurs in the replicate.

    Args:
        relations: The CTEs of the statement.
        confidence: Number of replicates and seed.
        rows: The query of the CTE.
        cte: Name of the CTE.
        unit: Column that identifies units.
        weight: Weight of a row, None for 1.
    """
    columns = [
        key_column(name) if name in relations.shape.group_names else exp.column(name)
        for name in rows.named_selects
        if name != "weight"
    ]
    query = load_query("analyses/bootstrap", "resampled_rows.sql")
    for select in find_nodes(query, exp.Select):
        replace_column(select, "attribute", [column.copy() for column in columns])
        if select.comments:
            select.comments = [describe_rows(" ".join(select.comments))]
    bind_placeholders(
        query,
        weight=sql_literal(1) if weight is None else weight,
        salt=sql_literal(f"{confidence.seed}:"),
        unit=exp.column(unit),
    )
    replicates = relations.add_relation(
        "bootstrap_replicates", {"num_replicates": confidence.replicates}
    )
    rename_ctes(query, {"sampled_rows": cte, "bootstrap_replicates": replicates})
    return inline_functions(relations.library, query, {})


def resampled_input(relations: RelationCtes, role: str) -> InputKey:
    """Return the input whose rows are resampled.

    It is the copy with one row per grouping, if there is one.
    """
    per_slice = InputKey(role, InputVariant.PER_SLICE)
    return per_slice if per_slice in relations.sources else InputKey(role)


def _filtered_input(key: InputKey) -> InputKey:
    """Return the input whose rows are those of another without rows that policies drop."""
    variants = {
        InputVariant.UNFILTERED: InputVariant.VALID,
        InputVariant.UNFILTERED_PER_SLICE: InputVariant.PER_SLICE,
    }
    return key._replace(variant=variants.get(key.variant, key.variant))


class RowResampler:
    """Resampler of input rows by unit."""

    def __init__(
        self, relations: RelationCtes, confidence: IntervalOptions, role: str | None
    ) -> None:
        self.relations = relations
        self.confidence = confidence
        self.role = role

    def add_resampled_rows(self, key: InputKey, cte: str) -> str:
        """Add a CTE with the resampled rows of an input and return its name.

        Other inputs are returned unchanged.
        """
        if not self.confidence.resamples_rows or _filtered_input(key) != resampled_input(
            self.relations, str(self.role)
        ):
            return cte
        (unit,) = self.relations.unit_columns(cte)
        query = resampled_rows(
            self.relations,
            self.confidence,
            self.relations.ctes[cte].query,
            cte,
            unit,
            exp.column("weight"),
        )
        keys = {
            name: KeyColumns((*key.columns, REPLICATE_COLUMN), key.nullable)
            for name, key in self.relations.find_keys(cte).items()
            if name != UNIT_ID
        }
        keys[UNIT_ID] = KeyColumns((unit,))
        return self.relations.ctes.add(
            f"{cte}_resampled",
            query,
            "one row per replicate and row, weighted by a Poisson variable of mean 1",
            keys,
        )


class BootstrapIntervals:
    """Bootstrap intervals: reduce per-replicate metrics to estimate, standard error and limits.

    The result has one row per group. One instance per statement.
    """

    def __init__(self, confidence: IntervalOptions, relations: RelationCtes) -> None:
        self.confidence = confidence
        self.relations = relations
        self.values: tuple[str, exp.Select] | None = None
        self.keys = KeyColumns()
        self.ctes: dict[str, str] = {}

    def add_resampled_values(
        self, cte: str, query: exp.Select, unit: str, weight: exp.Expr | None
    ) -> str:
        """Add a CTE with the resampled query values and return its name."""
        self.values = cte, query
        resampled: Any = resampled_rows(self.relations, self.confidence, query, cte, unit, weight)
        return self.relations.ctes.add_aggregate(
            "bootstrap_weights",
            resampled,
            "one row per replicate and query, weighted by a Poisson variable of mean 1",
        )

    def select_rows(
        self,
        body: exp.Select,
        base_role: str | None,
        columns: Sequence[MetricColumn],
        audits: Sequence[str],
    ) -> exp.Select:
        """Return one row per group with every metric and its interval limits.

        ``body`` has one row per group and replicate.
        """
        shape = self.relations.shape
        slices = [] if shape.grouping_sets is None else [SLICE_NUMBER]
        self.keys = KeyColumns((*shape.group_names, *slices), nullable=True)
        units_cte = self._add_unit_counts(base_role, columns)
        body.set("order", None)
        for select_item in body.selects if slices else ():
            if select_item.alias_or_name == SLICE_COLUMN:
                select_item.replace(exp.column(SLICE_NUMBER, table=body.args["from_"].this.name))
        self.ctes |= {
            "unit_counts": units_cte,
            "replicate_metrics": self.relations.ctes.add_aggregate(
                "replicate_metrics", body, "one row per group and replicate: every metric"
            ),
        }
        resampled = [column for column in columns if not column.metric.file.interval.no_interval]
        self._add_limits([*(column.alias for column in columns), *audits], resampled)
        observed_cte = self.ctes["observed_metrics"]
        keys = [key_column(name, observed_cte) for name in shape.group_names]
        select_items: list[exp.Expr] = [
            *keys,
            *([slice_label(shape, observed_cte)] if slices else []),
        ]
        for column in columns:
            value = exp.column(column.alias, table=observed_cte)
            limits: dict[str, exp.Expr] = dict.fromkeys(INTERVAL_SUFFIXES, exp.Null())
            limits |= self._select_limits(column, value) if column in resampled else {}
            select_items.append(cast_double(value).as_(column.alias))
            select_items += [
                exp.cast(limit, BIGINT if name == N_UNITS else DOUBLE).as_(f"{column.alias}_{name}")
                for name, limit in limits.items()
            ]
        query = exp.select(
            *select_items, *(exp.column(name, table=observed_cte) for name in audits)
        ).from_(observed_cte)
        steps = ["bootstrap_limits", "bootstrap_errors"] if resampled else []
        for step in [*steps, "unit_counts"]:
            query = join_on_key(query, observed_cte, KeyedCte(self.ctes[step], self.keys))
        return order_rows(query, [*keys, *([exp.column(SLICE_COLUMN)] if slices else [])])

    def _add_limits(self, names: Sequence[str], resampled: Sequence[MetricColumn]) -> None:
        """Add the steps from metrics per replicate to limits of intervals."""
        aliases = [column.alias for column in resampled]
        self._add_file_step("observed_metrics", "observed_metrics.sql", names)
        self._add_file_step("bootstrap_errors", "bootstrap_errors.sql", aliases)
        if self.confidence.resamples_rows:
            limits = self._add_file_step(
                "bootstrap_limits", "bootstrap_limits/standard_error.sql", aliases
            )
            # Few units of one class vary as few units of all do.
            with_classes = {column.alias for column in resampled if column.metric.has_classes}
            for column in find_nodes(limits, exp.Column):
                metric, separator, _ = column.name.rpartition(f"_{T_QUANTILE}")
                if separator:
                    prefix = CLASS_PREFIX if metric in with_classes else ""
                    column.set("this", exp.to_identifier(f"{prefix}{T_QUANTILE}"))
        else:
            self._add_file_step("ranked_replicates", "ranked_replicates.sql", aliases)
            self._add_file_step("bootstrap_limits", "bootstrap_limits/percentile.sql", aliases)

    def _add_file_step(self, name: str, file: str, metrics: Sequence[str]) -> exp.Select:
        """Add the CTE of a file, of which columns that begin with ``value`` are those of each
        metric, and return its query.
        """
        query = bind_placeholders(
            load_select("analyses/bootstrap", file),
            tail=self.confidence.tail_probability,
        )
        metric_columns = [item for item in query.selects if item.alias_or_name.startswith("value")]
        items = [item for item in query.selects if item not in metric_columns]
        items += [
            _name_columns(item.copy(), metric) for metric in metrics for item in metric_columns
        ]
        query.set("expressions", items)
        rename_ctes(query, self.ctes)
        expand_keys(query, ExpansionContext(lambda _: {GROUP_ID: self.keys}))
        rows = f"{file_rows('analyses/bootstrap', file).removesuffix('.')} (bootstrap/{file})"
        self.ctes[name] = self.relations.ctes.add_aggregate(name, query, rows)
        return query

    def _select_limits(self, column: MetricColumn, value: exp.Column) -> dict[str, exp.Expr]:
        """Return the limits, standard error and number of units of a metric."""
        name, metric = column.alias, column.metric
        units_cte, errors_cte = self.ctes["unit_counts"], self.ctes["bootstrap_errors"]
        limits_cte = self.ctes["bootstrap_limits"]
        error: exp.Expr = exp.column(f"{name}_{SE}", table=errors_cte)
        limits: list[exp.Expr] = [
            exp.column(f"{name}_{limit}", table=limits_cte) for limit in (CI_LOW, CI_HIGH)
        ]
        varies = units_differ(value, error)
        if least := metric.file.interval.least_class_units:
            varies &= exp.column(CLASS_UNIT_COUNT, table=units_cte) >= int(least)
        if self.relations.library.may_be_infinite(metric.file, metric.dependencies.files):
            error, *limits = map(null_if_not_finite, (error, *limits))
        clipped = clip_limits(limits[0], limits[1], value, limit_bounds(metric))
        low, high = (case_when(varies.copy(), limit) for limit in clipped)
        count = UNIT_COUNT if self.values is None else f"{name}_{UNIT_COUNT}"
        return {CI_LOW: low, CI_HIGH: high, SE: error, N_UNITS: exp.column(count, table=units_cte)}

    def _add_unit_counts(self, base_role: str | None, columns: Sequence[MetricColumn]) -> str:
        """Add a CTE with the number of units.

        It is counted per metric for query values, and once for rows.
        """
        conditions: list[exp.Expr] = []
        if self.values is not None:
            cte, query = self.values
            selected_names = query.named_selects
            values = {
                column.alias: _value_if_weighted(column, selected_names)
                for column in columns
                if column.alias in selected_names
            }
            if SLICE_NUMBER in self.keys.columns and SLICE_NUMBER not in selected_names:
                sliced = cross_join_slices(cte, selected_names, self.relations.shape)
                cte = self.relations.ctes.add_aggregate(
                    "query_values_by_slice",
                    sliced,
                    "one row per query and grouping that it counts in",
                )
                values = {name: _distinct_queries_with(value) for name, value in values.items()}
            counts: dict[str, exp.Expr] = {
                f"{name}_{UNIT_COUNT}": exp.Count(this=value) for name, value in values.items()
            }
        else:
            cte = self.relations.add_input(resampled_input(self.relations, str(base_role)))
            counts = self._count_row_units(
                cte, any(column.metric.has_classes for column in columns)
            )
            conditions = [exp.column(REPLICATE_COLUMN).eq(0), exp.column("weight") > 0]
        counted = aggregate_by_key(cte, self.keys, counts).where(*conditions)
        if self.values is None:
            select_items = [*map(key_column, self.keys.columns), *map(exp.column, counts)]
            counted.comments = ["one row per group: the number of units"]
            quantiles = []
            for count, prefix in ((UNIT_COUNT, ""), (CLASS_UNIT_COUNT, CLASS_PREFIX)):
                if count in counts:
                    df, quantile = (
                        df_column(counts[count]),
                        t_quantile_column(self.confidence, f"{prefix}{DF}"),
                    )
                    counted = counted.select(_with_prefix(df, prefix))
                    quantiles.append(_with_prefix(quantile, prefix))
            counted = exp.select(*select_items, *quantiles).from_(counted.subquery("group_units"))
        return self.relations.ctes.add_aggregate(
            "unit_counts", counted, "one row per group: the units of every metric"
        )

    def _count_row_units(self, cte: str, has_classes: bool) -> dict[str, exp.Expr]:
        """Return the number of units, and of those with rows of the smaller class."""
        (unit,) = self.relations.unit_columns(cte)
        counts: dict[str, exp.Expr] = {UNIT_COUNT: _count_distinct(key_column(unit))}
        if has_classes:
            is_positive = exp.column("label").eq(1)
            class_units = [
                case_when(is_positive, key_column(unit)),
                case_when(is_positive.copy(), exp.null(), key_column(unit)),
            ]
            counts[CLASS_UNIT_COUNT] = self.relations.apply_function(
                "smaller", {}, *map(_count_distinct, class_units)
            )
        return counts


def _name_columns(item: exp.Expr, metric: str) -> exp.Expr:
    """Give the columns of a file that begin with ``value`` the name of a metric, in place."""
    for name in find_nodes(item, exp.Identifier):
        if name.name == "value" or name.name.startswith("value_"):
            name.set("this", f"{metric}{name.name.removeprefix('value')}")
    return item


def _count_distinct(value: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[value]))


def _with_prefix(column: exp.Expr, prefix: str) -> exp.Expr:
    """Return a column with a prefix before its name."""
    column.set("alias", exp.to_identifier(f"{prefix}{column.alias}"))
    return column


def _value_if_weighted(column: MetricColumn, selected_names: Sequence[str]) -> exp.Expr:
    """Return a query's value, NULL for weight 0 in a weighted mean."""
    value = exp.column(column.alias)
    if (
        "weight" not in selected_names
        or column.metric.settings.get("aggregate", "wmean") != "wmean"
    ):
        return value
    return case_when(exp.column("weight") > 0, value)


def _distinct_queries_with(value: exp.Expr) -> exp.Distinct:
    """Return the distinct queries that have a value.

    A grouping may contain several lists of a query.
    """
    has_value = is_not_null(value)
    return exp.Distinct(expressions=[case_when(has_value, exp.column(QUERY_ID))])
