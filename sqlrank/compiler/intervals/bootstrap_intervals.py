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
from sqlrank.compiler.row_keys import QUERY_ID, SLICE_NUMBER, UNIT_ID, KeyColumns, key_column
from sqlrank.compiler.select_builders import (
    cast_double,
    cross_join_slices,
    group_by_key,
    join_on_key,
    null_if_not_finite,
    order_rows,
    slice_label,
)
from sqlrank.interval_options import (
    DIGEST_COLUMN,
    MULTIPLICITY_COLUMN,
    POSITION_COLUMN,
    REPLICATE_COLUMN,
    START_COLUMN,
    STRIDE_COLUMN,
    IntervalOptions,
)
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.resolved_metric import limit_bounds
from sqlrank.result_columns import CI_HIGH, CI_LOW, N_UNITS, SE, SLICE_COLUMN
from sqlrank.sql_ast import case_when, find_nodes, is_not_null, is_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlrank.compiler.relation_ctes import RelationCtes


HASH_MODULUS = 2147483647
"""Modulus 2^31 - 1 of the hash.

Hash values map to the midpoints of that many subintervals of 0..1.
"""

CLASS_PREFIX, CLASS_UNIT_COUNT = "class_", "class_units"
"""Prefix of columns of the smaller class, and the number of its units."""

RANK_TOLERANCE = 1e-9
"""Tolerance for rounding errors when a rank is computed as an integer."""


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
    names = [name for name in rows.named_selects if name != "weight"]
    select_items: list[exp.Expr] = [
        key_column(name) if name in relations.shape.group_names else exp.column(name)
        for name in names
    ]
    source_items = [*select_items, *([] if weight is None else [exp.alias_(weight, "weight")])]
    row_items = [*select_items, *([] if weight is None else [exp.column("weight")])]
    digests = exp.select(
        *source_items,
        exp.alias_(unit_digest(f"{confidence.seed}:", exp.column(unit)), DIGEST_COLUMN),
    ).from_(cte)
    numbers = {
        START_COLUMN: exp.paren(digest_number(DIGEST_COLUMN) + sql_literal(0.5)),
        STRIDE_COLUMN: digest_number(DIGEST_COLUMN, 9),
    }
    fractions = (
        exp.alias_(exp.Div(this=cast_double(number), expression=sql_literal(HASH_MODULUS)), name)
        for name, number in numbers.items()
    )
    digests.comments = ["One row per row to resample, with a hash of its unit."]
    unit_positions = exp.select(*row_items, *fractions).from_(digests.subquery("unit_digests"))
    unit_positions.comments = [
        (
            "One row per row to resample, with the position of its unit in the first replicate,"
            " and its step to the next."
        )
    ]
    rotation = exp.column(START_COLUMN) + exp.column(REPLICATE_COLUMN) * exp.column(STRIDE_COLUMN)
    position = exp.alias_(
        exp.Sub(this=rotation, expression=exp.Floor(this=rotation.copy())), POSITION_COLUMN
    )
    replicates = relations.add_relation(
        "bootstrap_replicates", {"num_replicates": confidence.replicates}
    )
    rotated = exp.select(*row_items, exp.column(REPLICATE_COLUMN), position).from_(
        unit_positions.subquery("unit_positions")
    )
    rotated = rotated.join(replicates, join_type="cross")
    rotated.comments = [
        "One row per replicate and row to resample, with the position of its unit between 0 and 1."
    ]
    draw_count = load_expression("draw_count.sql", exp.column(POSITION_COLUMN))
    total_weight = draw_count if weight is None else exp.column("weight") * draw_count
    resampled = exp.select(
        *select_items,
        exp.column(REPLICATE_COLUMN),
        exp.alias_(cast_double(total_weight), "weight"),
        exp.alias_(cast_double(draw_count), MULTIPLICITY_COLUMN),
    )
    resampled = resampled.from_(rotated.subquery("replicate_positions")).where(
        load_expression("is_drawn.sql", exp.column(POSITION_COLUMN))
    )
    original_values = [
        sql_literal(0),
        cast_double(sql_literal(1) if weight is None else weight),
        cast_double(sql_literal(1)),
    ]
    original = exp.select(
        *select_items,
        *(
            exp.alias_(value, name)
            for value, name in zip(
                original_values, (REPLICATE_COLUMN, "weight", MULTIPLICITY_COLUMN), strict=True
            )
        ),
    )
    return exp.union(original.from_(cte), resampled, distinct=False)


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
            f"{cte}_resampled", query, "one row per replicate and row that is drawn in it", keys
        )


class BootstrapIntervals:
    """Bootstrap intervals: reduce per-replicate metrics to estimate, standard error and limits.

    The result has one row per group. One instance per statement.
    """

    def __init__(self, confidence: IntervalOptions, relations: RelationCtes) -> None:
        self.confidence = confidence
        self.relations = relations
        self.values: tuple[str, exp.Select] | None = None

    def add_resampled_values(
        self, cte: str, query: exp.Select, unit: str, weight: exp.Expr | None
    ) -> str:
        """Add a CTE with the resampled query values and return its name."""
        self.values = cte, query
        resampled: Any = resampled_rows(self.relations, self.confidence, query, cte, unit, weight)
        return self.relations.ctes.add_aggregate(
            "bootstrap_weights",
            resampled,
            "one row per replicate and query, which weighs as often as it is drawn in it",
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
        keys = KeyColumns(
            (*shape.group_names, *([] if shape.grouping_sets is None else [SLICE_NUMBER])),
            nullable=True,
        )
        units_cte = self._add_unit_counts(base_role, keys, columns)
        body.set("order", None)
        for select_item in body.selects if shape.grouping_sets is not None else ():
            if select_item.alias_or_name == SLICE_COLUMN:
                select_item.replace(exp.column(SLICE_NUMBER, table=body.args["from_"].this.name))
        replicates_cte = self.relations.ctes.add_aggregate(
            "replicate_metrics", body, "one row per group and replicate: every metric"
        )
        resampled_aliases = [
            column.alias for column in columns if not column.metric.file.interval.no_interval
        ]
        class_aliases = {column.alias for column in columns if column.metric.has_classes}
        observed_cte = self._add_observed_values(
            replicates_cte, keys, [column.alias for column in columns], resampled_aliases, audits
        )
        errors_cte = self._add_standard_errors(
            replicates_cte, observed_cte, keys, resampled_aliases
        )
        limits_cte = (
            self._standard_error_limits(
                errors_cte, observed_cte, units_cte, keys, resampled_aliases, class_aliases
            )
            if self.confidence.resamples_rows
            else self._percentile_limits(replicates_cte, observed_cte, keys, resampled_aliases)
        )
        select_items: list[exp.Expr] = [
            key_column(name, observed_cte) for name in shape.group_names
        ] + ([] if shape.grouping_sets is None else [slice_label(shape, observed_cte)])
        for column in columns:
            name = column.alias
            select_items.append(exp.alias_(cast_double(exp.column(name, table=observed_cte)), name))
            interval_columns: dict[str, exp.Expr] = dict.fromkeys(INTERVAL_SUFFIXES, exp.Null())
            if name in resampled_aliases:
                tables = {CI_LOW: limits_cte, CI_HIGH: limits_cte, SE: errors_cte}
                interval_columns = {
                    limit: exp.column(f"{name}_{limit}", table=table)
                    for limit, table in tables.items()
                }
                if self.relations.library.may_be_infinite(
                    column.metric.file, column.metric.dependencies.files
                ):
                    interval_columns = {
                        limit: null_if_not_finite(value)
                        for limit, value in interval_columns.items()
                    }
                clipped = clip_limits(
                    interval_columns[CI_LOW],
                    interval_columns[CI_HIGH],
                    exp.column(name, table=observed_cte),
                    limit_bounds(column.metric),
                )
                varies = units_differ(
                    exp.column(name, table=observed_cte), exp.column(f"{name}_se", table=errors_cte)
                )
                if least := column.metric.file.interval.least_class_units:
                    varies &= exp.GTE(
                        this=exp.column(CLASS_UNIT_COUNT, table=units_cte),
                        expression=sql_literal(int(least)),
                    )
                interval_columns |= {
                    limit: case_when(varies.copy(), value)
                    for limit, value in zip((CI_LOW, CI_HIGH), clipped, strict=True)
                }
                interval_columns[N_UNITS] = self._count_units(name, units_cte)
            types = {
                limit: "BIGINT" if limit == N_UNITS else "DOUBLE" for limit in INTERVAL_SUFFIXES
            }
            select_items += [
                exp.alias_(exp.cast(interval_columns[limit], types[limit]), f"{name}_{limit}")
                for limit in INTERVAL_SUFFIXES
            ]
        query = exp.select(
            *select_items, *(exp.column(name, table=observed_cte) for name in audits)
        ).from_(observed_cte)
        for cte in dict.fromkeys(
            [*([limits_cte, errors_cte] if resampled_aliases else []), units_cte]
        ):
            query = join_on_key(query, observed_cte, KeyedCte(cte, keys))
        return order_rows(
            query,
            [
                *(key_column(name, observed_cte) for name in shape.group_names),
                *([] if shape.grouping_sets is None else [exp.column(SLICE_COLUMN)]),
            ],
        )

    def _add_unit_counts(
        self, base_role: str | None, keys: KeyColumns, columns: Sequence[MetricColumn]
    ) -> str:
        """Add a CTE with the number of units.

        It is counted per metric for query values, and once for rows.
        """
        if self.values is not None:
            cte, query = self.values
            selected_names = query.named_selects
            values = {
                column.alias: _value_if_weighted(column, selected_names)
                for column in columns
                if column.alias in selected_names
            }
            if SLICE_NUMBER in keys.columns and SLICE_NUMBER not in selected_names:
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
            counted = exp.select(*map(key_column, keys.columns)).from_(cte)
        else:
            cte = self.relations.add_input(resampled_input(self.relations, str(base_role)))
            counts = self._count_row_units(
                cte, any(column.metric.has_classes for column in columns)
            )
            is_original = exp.column(REPLICATE_COLUMN).eq(0)
            has_weight = exp.column("weight") > 0
            counted = (
                exp.select(*map(key_column, keys.columns)).from_(cte).where(is_original, has_weight)
            )
        counted = group_by_key(
            counted.select(*(exp.alias_(count, name) for name, count in counts.items())), keys
        )
        if self.values is None:
            select_items = [*map(key_column, keys.columns), *map(exp.column, counts)]
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
                "smaller_sum", {}, *map(_count_distinct, class_units)
            )
        return counts

    def _count_units(self, name: str, units_cte: str) -> exp.Column:
        """Return the number of units of a metric."""
        return exp.column(
            UNIT_COUNT if self.values is None else f"{name}_{UNIT_COUNT}", table=units_cte
        )

    def _add_observed_values(
        self,
        replicates_cte: str,
        keys: KeyColumns,
        names: Sequence[str],
        resampled_aliases: Sequence[str],
        audits: Sequence[str],
    ) -> str:
        is_original = exp.column(REPLICATE_COLUMN).eq(0)
        is_resampled = exp.column(REPLICATE_COLUMN) > 0
        select_items = [
            exp.alias_(exp.Max(this=_value_if(is_original, name)), name)
            for name in (*names, *audits)
        ]
        for name in resampled_aliases:
            value = _value_if(is_resampled, name)
            select_items += [
                exp.alias_(exp.Avg(this=value), f"{name}_mean"),
                exp.alias_(exp.Count(this=value.copy()), f"{name}_drawn"),
            ]
        query = group_by_key(
            exp.select(*map(key_column, keys.columns), *select_items).from_(replicates_cte), keys
        )
        return self.relations.ctes.add_aggregate(
            "observed_metrics",
            query,
            "one row per group: every metric as it was seen, and the mean of its replicates",
        )

    def _add_standard_errors(
        self, replicates_cte: str, observed_cte: str, keys: KeyColumns, names: Sequence[str]
    ) -> str:
        select_items = []
        for name in names:
            deviation = exp.paren(
                exp.column(name, table="r") - exp.column(f"{name}_mean", table=observed_cte)
            )
            degrees_of_freedom = exp.func(
                "NULLIF",
                exp.Max(this=exp.column(f"{name}_drawn", table=observed_cte)) - sql_literal(1),
                sql_literal(0),
            )
            variance = exp.Div(
                this=exp.Sum(this=exp.Mul(this=deviation, expression=deviation.copy())),
                expression=degrees_of_freedom,
            )
            select_items.append(exp.alias_(exp.Sqrt(this=variance), f"{name}_se"))
        query = exp.select(*(key_column(name, "r") for name in keys.columns), *select_items).from_(
            exp.to_table(replicates_cte).as_("r")
        )
        query = join_on_key(query, "r", KeyedCte(observed_cte, keys)).where(
            exp.column(REPLICATE_COLUMN, table="r") > 0
        )
        query = (
            query.group_by(*(key_column(name, "r") for name in keys.columns))
            if keys.columns
            else query
        )
        return self.relations.ctes.add_aggregate(
            "bootstrap_errors", query, "one row per group: the standard deviation of replicates"
        )

    def _standard_error_limits(
        self,
        errors_cte: str,
        observed_cte: str,
        units_cte: str,
        keys: KeyColumns,
        names: Sequence[str],
        class_aliases: Collection[str],
    ) -> str:
        """Return bias-corrected limits: estimate minus bias, plus or minus t quantile times
        standard error.

        ``class_aliases`` are metrics of two classes: few units of one of them vary as few units of
        all do.
        """
        query = exp.select(*(key_column(name, observed_cte) for name in keys.columns)).from_(
            observed_cte
        )
        for name in names:
            value, mean = (
                exp.column(alias, table=observed_cte) for alias in (name, f"{name}_mean")
            )
            center = exp.paren(sql_literal(2) * value - mean)
            quantile = f"{CLASS_PREFIX if name in class_aliases else ''}{T_QUANTILE}"
            margin = exp.column(quantile, table=units_cte) * exp.column(
                f"{name}_se", table=errors_cte
            )
            query = query.select(
                exp.alias_(center - margin, f"{name}_{CI_LOW}"),
                exp.alias_(center + margin, f"{name}_{CI_HIGH}"),
            )
        for cte in (errors_cte, units_cte):
            query = join_on_key(query, observed_cte, KeyedCte(cte, keys))
        return self.relations.ctes.add_aggregate(
            "bootstrap_limits", query, "one row per group: the limits of every metric"
        )

    def _percentile_limits(
        self, replicates_cte: str, observed_cte: str, keys: KeyColumns, names: Sequence[str]
    ) -> str:
        """Return percentile limits: order statistics of the replicates, without interpolation."""
        ranked_columns = []
        for name in names:
            is_missing = is_null(exp.column(name))
            missing_flag = case_when(is_missing, sql_literal(1), sql_literal(0))
            order = exp.Order(expressions=[exp.Ordered(this=exp.column(name))])
            window = exp.Window(
                this=exp.RowNumber(),
                partition_by=[*map(key_column, keys.columns), missing_flag],
                order=order,
            )
            ranked_columns += [exp.column(name), exp.alias_(window, f"{name}_place")]
        query = exp.select(*map(key_column, keys.columns), *ranked_columns).from_(replicates_cte)
        query = query.where(exp.column(REPLICATE_COLUMN) > 0)
        ranked_cte = self.relations.ctes.add_aggregate(
            "ranked_replicates",
            query,
            "one row per group and replicate: the place of its metrics in their order",
        )
        select_items = []
        for name in names:
            rank, last = (
                exp.column(f"{name}_place", table="r"),
                exp.column(f"{name}_drawn", table=observed_cte) + sql_literal(1),
            )
            tail_rank = exp.Floor(
                this=exp.paren(last) * sql_literal(self.confidence.tail_probability)
                + sql_literal(RANK_TOLERANCE)
            )
            # Addition on both sides, because Databend evaluates a comparison of a window rank with
            # a difference wrongly.
            conditions = {
                CI_LOW: exp.EQ(this=rank, expression=tail_rank),
                CI_HIGH: exp.EQ(this=rank + tail_rank, expression=last),
            }
            for limit, is_at_rank in conditions.items():
                value = case_when(is_at_rank, exp.column(name, table="r"))
                select_items.append(exp.alias_(exp.Max(this=value), f"{name}_{limit}"))
        query = exp.select(*(key_column(name, "r") for name in keys.columns), *select_items).from_(
            exp.to_table(ranked_cte).as_("r")
        )
        query = join_on_key(query, "r", KeyedCte(observed_cte, keys))
        query = (
            query.group_by(*(key_column(name, "r") for name in keys.columns))
            if keys.columns
            else query
        )
        return self.relations.ctes.add_aggregate(
            "bootstrap_limits", query, "one row per group: the limits of every metric"
        )


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


def _value_if(condition: exp.Expr, name: str) -> exp.Case:
    return case_when(condition.copy(), exp.column(name))


def unit_digest(salt: str, unit: exp.Expr) -> exp.Expr:
    """Return the MD5 digest of a salt and a unit's name: 32 hexadecimal digits."""
    return exp.MD5(
        this=exp.DPipe(this=sql_literal(salt), expression=exp.cast(unit, "TEXT"), safe=True)
    )


def digest_number(digest: str, start: int = 1) -> exp.Expr:
    """Convert eight hexadecimal digits of a digest to a number below 2^31 - 1.

    The digits begin at position ``start``.
    """
    return load_expression(
        "hash_integer.sql",
        exp.func("SUBSTR", exp.column(digest), sql_literal(start), sql_literal(8)),
    )


def load_expression(file: str, replacement: exp.Expr) -> exp.Expr:
    """Load the expression of a file in ``sql/analyses/bootstrap``, with its column replaced by an
    expression.
    """
    expression = load_select("analyses/bootstrap", file).selects[0].unalias()
    for column in find_nodes(expression, exp.Column):
        column.replace(replacement.copy())
    return expression
