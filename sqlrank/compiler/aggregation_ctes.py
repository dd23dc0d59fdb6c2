"""Build the CTEs of aggregation: metrics per list, query and group, with undefined values filled,
audit columns, and the result rows with intervals, joined and in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import MULTIPLICITY_COLUMN, REPLICATE_COLUMN, IntervalOptions
from sqlrank.cancellation import check_deadline
from sqlrank.compiler.intervals.analytic_intervals import AnalyticIntervals
from sqlrank.compiler.intervals.bootstrap_intervals import BootstrapIntervals
from sqlrank.compiler.intervals.interval_formulas import UNIT_COUNT
from sqlrank.compiler.intervals.pseudo_values import PseudoValues
from sqlrank.compiler.layout import GroupingLayout, InputKey, KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    INTERNAL_COLUMNS,
    LIST_ID,
    QUERY_ID,
    SLICE_NUMBER,
    KeyColumns,
    key_column,
    key_equalities,
    list_key_equalities,
    name_keys,
)
from sqlrank.compiler.select_builders import (
    aggregate_by_key,
    cast_double,
    cross_join_cutoffs,
    cross_join_slices,
    inline_function,
    join_on_key,
    null_if_not_finite,
    order_rows,
    slice_label,
)
from sqlrank.errors import MetricError
from sqlrank.registry.query_templates import describe_aggregate
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, CUTOFF_PLACEHOLDER, ResolvedMetric
from sqlrank.registry.sql_file import RowsRead
from sqlrank.rendering.optimizer.statement_graph import is_aggregated
from sqlrank.result_columns import SLICE_COLUMN
from sqlrank.sql_ast import (
    LeadingComment,
    case_when,
    count_rows,
    find_nodes,
    is_null,
    sql_literal,
    unique_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


RESERVED_COLUMNS = {GROUP_ID, *INTERNAL_COLUMNS, UNIT_COUNT, "weight"}
"""Columns beside those of metrics in the CTEs; a metric whose file takes one of these names gets a
number appended.
"""


class AggregationCtes:
    """The CTEs after the relations; one instance per statement."""

    def __init__(
        self,
        relations: RelationCtes,
        per_query: bool,
        weighted: bool,
        query_column: str = QUERY_ID,
        confidence: IntervalOptions | None = None,
    ) -> None:
        self.relations = relations
        self.confidence = confidence
        is_resampled = confidence is not None and confidence.is_bootstrap
        self.replicates = (
            BootstrapIntervals(confidence, relations)
            if confidence is not None and is_resampled
            else None
        )
        self.spread = (
            None if confidence is None or is_resampled else AnalyticIntervals(confidence, relations)
        )
        self.shape: GroupingLayout = relations.shape
        self.weighted = weighted
        self._materialize_values = None if confidence is None else True  # intervals read them again
        self.per_query = per_query
        self.query_column = query_column
        self.row_keys = [
            *self.shape.group_names,
            *([query_column] if per_query else []),
            *([REPLICATE_COLUMN] if is_resampled else []),
        ]
        self.cutoffs = relations.cutoffs
        self.columns: list[MetricColumn] = []
        self.counts_undefined = False
        self.ctes = relations.ctes
        slices = [SLICE_NUMBER] if self.shape.grouping_sets is not None else []
        result_key = KeyColumns(
            (*self.shape.group_names, *([query_column] if per_query else []), *slices)
        )
        self.ctes.result_key = result_key if self.cutoffs is None else result_key.with_cutoff()
        self._aggregates: dict[tuple[str, str, str | None], KeyedCte] = {}

    def add_metric(self, metric: ResolvedMetric) -> MetricColumn:
        """Add a metric and everything it reads."""
        check_deadline()
        is_ranking = metric.input_role == "run" and metric.file.grain == "list"
        unit = (
            "list"
            if is_ranking
            else "query"
            if metric.is_per_list and not self.per_query
            else "group"
        )
        per_list = metric.file.grain == "group" and (
            self.per_query or metric.settings.get("level") == "query"
        )
        relation_cte = self.relations.add_relation(
            metric.file.source_relation, metric.settings, per_list
        )
        aggregate = (
            self._aggregate_at_query_cutoffs(relation_cte)
            if metric.has_query_cutoffs
            else self._find_or_add_aggregate(relation_cte, unit, metric.file.grain, self.cutoffs)
        )
        alias = unique_name(
            metric.sql_column, {*RESERVED_COLUMNS, *(column.alias for column in self.columns)}
        )
        value = self.relations.metric_expression(metric).as_(alias)
        for column in find_nodes(value, exp.Column):
            if column.table == CUTOFF_PLACEHOLDER:
                column.replace(exp.column(CUTOFF_COLUMN))
        value.comments = [
            LeadingComment(
                self.relations.complete_comment(metric.file.title, metric.file, metric.settings)
            )
        ]
        self._add_columns(aggregate, value)
        self.columns.append(MetricColumn(alias, metric, aggregate.step, unit))
        return self.columns[-1]

    def add_audit(
        self,
        tree: exp.Select,
        settings: Mapping[str, ParameterValue],
        *,
        counts_queries: bool = False,
    ) -> KeyedCte:
        """Add the columns that input checks read, and return their CTE; ``counts_queries``: they
        count queries of the evaluated input.
        """
        source = tree.args["from_"].this.name
        is_per_list = tree.selects[0].name == LIST_ID
        per_list = counts_queries or (self.per_query and not is_per_list)
        unit, grain = ("list", "list") if is_per_list else ("group", "group")
        cte = self.relations.add_relation(source, settings, per_list)
        if is_per_list and not any(map(is_aggregated, tree.selects)):  # a row per list as it is
            aggregate = KeyedCte(cte, self.relations.find_keys(cte)[LIST_ID], unit)
            self._aggregates[unit, cte, None] = aggregate
            return aggregate
        aggregate = self._find_or_add_aggregate(cte, unit, grain)
        self._add_columns(aggregate, *(column.copy() for column in tree.selects[1:]))
        return aggregate

    def add_count(self, metric: ResolvedMetric) -> tuple[KeyedCte, str]:
        """Add the column of a metric that counts what policies leave out or fill, and return its
        CTE and its name.
        """
        grain, name = metric.file.grain, f"audit_{metric.file.display_name}"
        relation_cte = self.relations.add_relation(
            metric.file.source_relation, metric.settings, self.per_query and grain == "group"
        )
        aggregate = self._find_or_add_aggregate(relation_cte, grain, grain)
        self._add_columns(aggregate, self.relations.metric_expression(metric).as_(name))
        return aggregate, name

    def undefined_counts(self) -> dict[KeyedCte, dict[str, MetricColumn | None]]:
        """Return the audit columns that count lists, and those without a value of a metric, by
        grain: names with the first of such metrics.
        """
        counts: dict[KeyedCte, dict[str, MetricColumn | None]] = {}
        for grain in ("list", "query") if self.counts_undefined else ():
            if not (columns := [column for column in self.columns if column.grain == grain]):
                continue
            first = {
                undefined_key(column.metric): column
                for column in reversed(columns)
                if not column.metric.file.is_always_defined
            }
            undefined = {
                f"audit_undefined_{grain}_{number}": column
                for number, column in enumerate(reversed(first.values()), start=1)
            }
            counts[KeyedCte(grain, KeyColumns(()), grain)] = {f"audit_{grain}": None, **undefined}
        return counts

    def _select_undefined_counts(
        self, grain: str, select_value: Callable[[MetricColumn], exp.Expr]
    ) -> list[exp.Expr]:
        """Return the columns of :meth:`undefined_counts` in rows of lists; ``select_value`` returns
        a value that is not filled.
        """
        one, zero = sql_literal(1), sql_literal(0)
        return [
            exp.alias_(
                one.copy()
                if column is None
                else case_when(is_null(select_value(column)), one.copy(), zero.copy()),
                name,
            )
            for cte, counts in self.undefined_counts().items()
            for name, column in counts.items()
            if cte.grain == grain
        ]

    def _add_columns(self, aggregate: KeyedCte, *columns: exp.Expr) -> None:
        query: Any = self.ctes[aggregate.step].query
        query.select(*columns, copy=False)

    def _find_or_add_aggregate(
        self, cte: str, unit: str, grain: str = "group", swept_by: str | None = None
    ) -> KeyedCte:
        """Return the CTE that aggregates another one, for each cut-off of a range if needed."""
        if (unit, cte, None) not in self._aggregates:
            keys = self.relations.find_keys(cte, per_list=self.per_query or unit == "query")
            row_key = keys[LIST_ID] if grain == "list" else self._group_key(keys[GROUP_ID], unit)
            key = row_key if swept_by is None else row_key.with_cutoff()
            query = cross_join_cutoffs(
                aggregate_by_key(cte, key, {}), None if row_key.has_cutoff else swept_by
            )
            rows = describe_aggregate(
                file.summary if key.columns and (file := self.ctes[cte].file) else ""
            )
            name = self.ctes.add_aggregate(
                f"{cte}_by_query" if unit == "query" else f"{cte}_metrics", query, rows, key
            )
            self._aggregates[unit, cte, None] = KeyedCte(name, key, unit)
        return self._aggregates[unit, cte, None]

    def _aggregate_at_query_cutoffs(self, cte: str) -> KeyedCte:
        """Return the CTE that aggregates lists, each at the cut-off of its query."""
        cutoffs_cte = str(self.relations.own_cutoffs)
        if ("list", cte, cutoffs_cte) not in self._aggregates:
            key, cutoff_key = (
                self.relations.find_keys(cte)[LIST_ID],
                self.relations.find_keys(cutoffs_cte)[LIST_ID],
            )
            columns = [key_column(name, cte) for name in key.columns]
            on = list_key_equalities(
                key.columns, cutoff_key.columns, cte, cutoffs_cte, cutoff_key.nullable
            )
            query = exp.select(*columns).from_(cte).join(cutoffs_cte, on=exp.and_(*on, wrap=False))
            query = query.group_by(
                *(column.copy() for column in columns), exp.column(CUTOFF_COLUMN, table=cutoffs_cte)
            )
            rows = "one row per group, at the cut-off of its query"
            name = self.ctes.add_aggregate(f"{cte}_metrics_at_cutoff", query, rows, key)
            self._aggregates["list", cte, cutoffs_cte] = KeyedCte(name, key, "list")
        return self._aggregates["list", cte, cutoffs_cte]

    def _find_aggregates(self, grain: str) -> list[KeyedCte]:
        """Return the aggregates whose values have a grain."""
        return [aggregate for aggregate in self._aggregates.values() if aggregate.grain == grain]

    def _group_key(self, row_keys: KeyColumns, unit: str) -> KeyColumns:
        """Return the columns that identify rows, without the query if its values are aggregated."""
        group_columns = (
            {*self.shape.group_names, SLICE_NUMBER, CUTOFF_COLUMN, REPLICATE_COLUMN}
            if unit == "group" and not self.per_query
            else set(row_keys.columns)
        )
        return KeyColumns(
            tuple(name for name in row_keys.columns if name in group_columns), row_keys.nullable
        )

    def result_query(
        self, base_role: str | None, audits: Mapping[KeyedCte, Sequence[str]]
    ) -> exp.Select:
        """Return the result rows in a defined order.

        Args:
            base_role: Role whose groups the rows are, None for groups of ranked lists.
            audits: Columns that input checks read, by CTE.
        """
        aggregated_ctes = []
        if list_ctes := self._find_aggregates("list"):
            values_cte = self._add_values_per_list(list_ctes, audits)
            if (
                base_role is None
                and self.confidence is None
                and self.cutoffs is None
                and all(column.grain == "list" for column in self.columns)
            ):
                return self._aggregate_lists(values_cte, audits, is_final=True)
        group_ctes = self._group_ctes(base_role)
        if list_ctes:
            query = self._aggregate_lists(values_cte, audits, is_final=False)
            lists_cte = self.ctes.add_aggregate("group_metrics", query, self._describe_group_rows())
            hidden = [SLICE_NUMBER] if self.shape.grouping_sets is not None else []
            keys = KeyColumns((*self.row_keys, *hidden), nullable=True)
            aggregated_ctes.append(
                KeyedCte(lists_cte, keys if self.cutoffs is None else keys.with_cutoff(), "list")
            )
        aggregated_ctes += self._aggregate_queries(base_role)
        if self.spread is not None and self.spread.confidence.per_unit:
            return PseudoValues(self.relations, self.spread).select_rows(
                str(base_role), group_ctes, self.columns, audits
            )
        value_ctes = {cte.grain: cte.step for cte in aggregated_ctes}
        interval_ctes = (
            []
            if self.spread is None
            else self.spread.add_ctes([*aggregated_ctes, *group_ctes], self.columns)
        )
        if self.spread is not None and self.spread.value_ctes and base_role is None:
            aggregated_ctes, interval_ctes = [*interval_ctes, *aggregated_ctes], []
        has_lists_first = base_role is None or (self.replicates is not None and aggregated_ctes)
        body = self._join_result(
            [*aggregated_ctes, *group_ctes, *interval_ctes]
            if has_lists_first
            else [*group_ctes, *aggregated_ctes, *interval_ctes],
            audits,
            value_ctes,
        )
        if self.replicates is None:
            return body
        return self.replicates.select_rows(
            body, base_role, self.columns, [name for names in audits.values() for name in names]
        )

    def _join_result(
        self,
        ctes: Sequence[KeyedCte],
        audits: Mapping[KeyedCte, Sequence[str]],
        ctes_by_grain: Mapping[str, str],
    ) -> exp.Select:
        """Join the metrics of all CTEs into ordered rows, with the cut-offs of a range.

        ``ctes_by_grain`` have the values per list and per query.
        """
        base_cte, shape, spread = ctes[0], self.shape, self.spread
        cutoffs = None if base_cte.keys.has_cutoff and self.row_keys else self.cutoffs
        keys: list[exp.Expr] = [key_column(name, base_cte.step) for name in self.row_keys]
        columns, order = list(keys), list(keys)
        if shape.grouping_sets is not None:
            index = len(shape.group_names)
            columns.insert(index, slice_label(shape, base_cte.step))
            order.insert(index, exp.column(SLICE_COLUMN))
        cutoff_column = exp.column(CUTOFF_COLUMN, table=cutoffs or base_cte.step)
        columns += [] if self.cutoffs is None else [cutoff_column]
        for column in self.columns:
            value_cte = ctes_by_grain.get(column.grain, column.cte)
            value: exp.Expr = exp.column(column.alias, table=value_cte)
            if column.grain == "group":
                value = fill_undefined_group(self.relations, column)
            elif spread is not None:
                value = spread.select_value(column, value_cte)
            columns.append(cast_double(value).as_(column.alias))
            columns += [] if spread is None else spread.select_limits(column)
        for audit_cte, names in audits.items():
            table = ctes_by_grain.get(audit_cte.grain, audit_cte.step)
            audit_columns = [exp.column(name, table=table) for name in names]
            columns += (
                audit_columns
                if self.cutoffs is None
                else [
                    self.relations.only_at_first_cutoff(cutoff_column, column)
                    for column in audit_columns
                ]
            )
        if cutoffs is not None and not self.row_keys:
            query, rest = exp.select(*columns).from_(cutoffs), ctes
        else:
            query = cross_join_cutoffs(exp.select(*columns).from_(base_cte.step), cutoffs)
            rest = ctes[1:]
        tables_read = {node.table for item in columns for node in find_nodes(item, exp.Column)}
        for cte in (cte for cte in rest if cte.step in tables_read):
            query = join_on_key(query, base_cte.step, cte, cutoffs)
        query = order_rows(query, order)
        return query if self.cutoffs is None else query.order_by(cutoff_column.copy())

    def _group_ctes(self, base_role: str | None) -> list[KeyedCte]:
        """Return the aggregates per group, first the one with all groups if it is needed."""
        group_ctes = self._find_aggregates("group")
        if base_role is not None and (
            self.row_keys or self.shape.grouping_sets is not None or not group_ctes
        ):
            groups = self._find_or_add_aggregate(
                self.relations.add_relation(base_role, {}, rows=RowsRead.UNFILTERED), "group"
            )
        elif base_role is None and self.row_keys and not self._find_aggregates("list"):
            groups = self._find_or_add_aggregate(
                self.relations.add_relation(
                    "list_groups", self.columns[0].metric.settings, self.per_query
                ),
                "group",
            )
        else:
            return group_ctes
        return (
            [groups, *(cte for cte in group_ctes if cte != groups)]
            if self.ctes[groups.step].query.selects
            else group_ctes
        )

    def _describe_group_rows(self) -> str:
        return f"one row per group{'' if self.replicates is None else ' and replicate'}"

    def _add_values_per_list(
        self, aggregates: Sequence[KeyedCte], audits: Mapping[KeyedCte, Sequence[str]]
    ) -> str:
        """Add a CTE with one row per list: group columns, query, and each metric with undefined
        values filled.
        """
        lists_cte = self.relations.add_relation("ranked_lists", self.columns[0].metric.settings)
        shape = self.shape
        columns: list[exp.Expr] = [
            key_column(name, "a" if name in shape.query_attributes else "l")
            for name in shape.group_names
        ]
        columns += [
            exp.column(QUERY_ID, table="l"),
            *([exp.column("weight", table="a")] if self.weighted else []),
        ]
        columns += [] if self.cutoffs is None else [exp.column(CUTOFF_COLUMN, table=self.cutoffs)]
        for column in self.columns:
            if column.grain == "list":
                columns.append(
                    fill_undefined(self.relations, column, column.metric.settings).as_(column.alias)
                )
        columns += [
            exp.column(name, table=aggregate.step)
            for aggregate in aggregates
            for name in audits.get(aggregate, ())
        ]
        columns += self._select_undefined_counts(
            "list", lambda column: undefined_value(self.relations, column)
        )
        query = cross_join_cutoffs(
            exp.select(*columns).from_(exp.to_table(lists_cte).as_("l")), self.cutoffs
        )
        for aggregate in aggregates:
            columns_of_list = aggregate.keys.without_cutoff
            on = list_key_equalities(
                columns_of_list, columns_of_list, aggregate.step, "l", aggregate.keys.nullable
            )
            on += (
                key_equalities([CUTOFF_COLUMN], aggregate.step, str(self.cutoffs), nullable=False)
                if aggregate.keys.has_cutoff
                else []
            )
            query.join(
                exp.table_(aggregate.step),
                on=exp.and_(*on, wrap=False, copy=False),
                join_type="left",
                copy=False,
            )
        if shape.query_attributes or self.weighted:
            self._join_queries(query)
        cte = self.ctes.add_aggregate(
            "query_metrics",
            query,
            "one row per list to evaluate",
            materialize=self._materialize_values,
        )
        if self.replicates is None:
            return cte
        weight = (
            exp.func("COALESCE", exp.column("weight"), sql_literal(1)) if self.weighted else None
        )
        return self.replicates.add_resampled_values(cte, query, QUERY_ID, weight)

    def _join_queries(self, query: exp.Select) -> None:
        """Join the attributes and weights of queries as ``a`` to rows of lists, ``l``, in place."""
        queries = exp.to_table(self.relations.add_input(InputKey("queries"))).as_("a")
        shared = [
            column.name
            for column in self.shape.group_columns
            if "queries" in column.columns and not column.is_query_attribute
        ]
        on = key_equalities(shared, "a", "l", nullable=True)
        on += key_equalities([QUERY_ID], "a", "l", nullable=False)
        query.join(queries, on=exp.and_(*on), join_type="left", copy=False)

    def _aggregate_lists(
        self, cte: str, audits: Mapping[KeyedCte, Sequence[str]], is_final: bool
    ) -> exp.Select:
        """Return one row per group, or per query, with the metrics of lists, whose values are the
        rows of a CTE.
        """
        shape = self.shape
        keys: list[exp.Expr] = [
            *map(key_column, self.row_keys),
            *([] if self.cutoffs is None else [exp.column(CUTOFF_COLUMN)]),
        ]
        list_metrics = [column for column in self.columns if column.grain == "list"]
        names = [
            name
            for aggregate, audit_columns in audits.items()
            if aggregate.grain == "list"
            for name in audit_columns
        ]
        if self.per_query:
            values = [
                cast_double(exp.column(column.alias)).as_(column.alias) for column in list_metrics
            ]
            query = exp.select(*keys, *values, *map(exp.column, names)).from_(cte)
            return order_rows(query, keys[:-1]).order_by(keys[-1]) if is_final else query
        values = [
            cast_double(
                aggregate_metric(
                    self.relations,
                    column,
                    weighted=self.weighted,
                    is_resampled=self.replicates is not None,
                )
            ).as_(
                column.alias,
            )
            for column in list_metrics
        ]
        values += [exp.Sum(this=exp.column(name)).as_(name) for name in names]
        if shape.grouping_sets is None:
            query = exp.select(*keys, *values).from_(cte)
            query = query.group_by(*keys) if keys else query
            return order_rows(query, keys) if is_final else query
        sliced_query = cross_join_slices(cte, self.ctes[cte].query.named_selects, shape)
        cte = self.ctes.add_aggregate(
            "query_metrics_by_slice",
            sliced_query,
            "one row per list and grouping that it counts in",
        )
        label = slice_label(shape) if is_final else exp.column(SLICE_NUMBER)
        query = (
            exp.select(*keys, label, *values).from_(cte).group_by(*keys, exp.column(SLICE_NUMBER))
        )
        return order_rows(query, [*keys, exp.column(SLICE_COLUMN)]) if is_final else query

    def _aggregate_queries(self, base_role: str | None) -> list[KeyedCte]:
        """Add the metrics with one value per query of a group.

        A CTE holds the values per query, and another one row per group.
        """
        columns = [column for column in self.columns if column.grain == "query"]
        if not columns or base_role is None:
            return []
        base = self._find_or_add_aggregate(
            self.relations.add_relation(base_role, {}, per_list=True), "query"
        )
        keys = base.keys
        values = [
            fill_undefined_group(self.relations, column).as_(column.alias) for column in columns
        ]
        cutoffs = None if keys.has_cutoff else self.cutoffs
        select_items = [key_column(name, base.step) for name in keys.columns] + (
            [] if cutoffs is None else [key_column(CUTOFF_COLUMN, cutoffs)]
        )
        values += self._select_undefined_counts(
            "query", lambda column: undefined_value(self.relations, column)
        )
        values_query = cross_join_cutoffs(
            exp.select(*select_items, *values).from_(base.step), cutoffs
        )
        for aggregate in self._find_aggregates("query"):
            if aggregate != base:
                values_query = join_on_key(values_query, base.step, aggregate, cutoffs)
        rows = f"one row per group and {name_keys([self.query_column])[0]}"
        values_cte = self.ctes.add_aggregate(
            "query_values", values_query, rows, materialize=self._materialize_values
        )
        return [self._aggregate_values(values_cte, values_query, keys, columns)]

    def _aggregate_values(
        self,
        values_cte: str,
        values_query: exp.Select,
        keys: KeyColumns,
        columns: Sequence[MetricColumn],
    ) -> KeyedCte:
        """Add one row per group with the metrics of which a CTE has a value per query."""
        group_keys = KeyColumns(
            tuple(
                name
                for name in keys.columns
                if name in self.shape.group_names or name == SLICE_NUMBER
            ),
            keys.nullable,
        )
        group_keys = group_keys if self.cutoffs is None else group_keys.with_cutoff()
        aggregates: dict[str, exp.Expr] = {
            column.alias: aggregate_metric(
                self.relations, column, weighted=False, is_resampled=self.replicates is not None
            )
            for column in columns
        }
        aggregates |= {
            name: exp.Sum(this=exp.column(name))
            for cte, counts in self.undefined_counts().items()
            for name in counts
            if cte.grain == "query"
        }
        if self.replicates is not None:
            values_cte = self.replicates.add_resampled_values(
                values_cte, values_query, self.query_column, None
            )
            group_keys = KeyColumns((*group_keys.columns, REPLICATE_COLUMN), group_keys.nullable)
        query = aggregate_by_key(values_cte, group_keys, aggregates)
        name = self.ctes.add_aggregate("group_query_values", query, self._describe_group_rows())
        return KeyedCte(name, group_keys, "query")


def fill_undefined(
    relations: RelationCtes, column: MetricColumn, settings: Mapping[str, ParameterValue]
) -> exp.Expr:
    """Return the value of a metric, with undefined values filled by the policy."""
    value = undefined_value(relations, column)
    if column.metric.file.is_always_defined:
        return exp.func("COALESCE", value, sql_literal(0))
    return relations.apply_function("if_undefined", settings, value)


def undefined_value(relations: RelationCtes, column: MetricColumn) -> exp.Expr:
    """Return the value of a metric, NULL where it is undefined."""
    value: exp.Expr = exp.column(column.alias, table=column.cte)
    is_infinite = relations.library.may_be_infinite(
        column.metric.file, column.metric.dependencies.files
    )
    return null_if_not_finite(value) if is_infinite else value


def undefined_key(metric: ResolvedMetric) -> tuple[Any, ...]:
    """Return a key of metrics that are undefined for the same lists and treat them in the same
    way.
    """
    settings, column = metric.settings, metric.measured_column
    shared = [settings.get(name) for name in ("if_undefined", "rel", "gain", "baseline")]
    return (
        metric.file.annotations.get("Undefined"),
        *map(str, shared),
        None if column is None else column.name,
    )


def fill_undefined_group(relations: RelationCtes, column: MetricColumn) -> exp.Expr:
    """Return a group metric; undefined values stay NULL unless a policy fills them."""
    return fill_undefined(relations, column, {"if_undefined": "skip", **column.metric.settings})


def aggregate_metric(
    relations: RelationCtes, column: MetricColumn, weighted: bool, is_resampled: bool
) -> exp.Expr:
    """Return the aggregate of a metric over all lists of a group."""
    value, is_never_null = exp.column(column.alias), is_resampled and not column.is_nullable
    return aggregate_expression(
        relations.library,
        column.metric,
        value,
        column.grain,
        weighted=weighted,
        is_resampled=is_resampled,
        is_never_null=is_never_null,
    )


def aggregate_expression(
    library: Registry,
    metric: ResolvedMetric,
    value: exp.Expr,
    unit: str,
    *,
    weighted: bool,
    is_resampled: bool = False,
    is_never_null: bool = False,
) -> exp.Expr:
    """Aggregate values of a ``unit``: NULL if one is missing and the policy demands it.

    Resampled values are weighted by their multiplicity.
    """
    settings = metric.settings
    function = settings.get("aggregate", "wmean" if weighted else "mean")
    if function == "wmean" and not weighted:
        reason = (
            "is for metrics of rankings"
            if unit == "query"
            else "needs a queries table with a weight column"
        )
        raise MetricError(f"aggregate='wmean' {reason}")
    weight = exp.column("weight") if weighted or is_resampled else sql_literal(1)
    if is_resampled and function == "mean":
        function, weight = "wmean", exp.column(MULTIPLICITY_COLUMN) if weighted else weight
    expression = inline_function(
        library, "aggregate", [value, weight], {**settings, "aggregate": function}
    )
    if is_never_null:
        expression = _drop_null_cases(expression, value)
    if library.may_be_infinite(
        metric.file, [*metric.dependencies.files, library.find_function("aggregate", str(function))]
    ):
        expression = null_if_not_finite(expression)
    if settings.get("if_undefined") == "null":
        incomplete = exp.LT(this=exp.Count(this=value.copy()), expression=count_rows())
        return case_when(incomplete, exp.Null(), expression)
    return expression


def _drop_null_cases(expression: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Drop the CASE for NULL values.

    Engines then share sums between metrics of the same queries.
    """
    null_condition = is_null(value)
    for case in find_nodes(expression, exp.Case):
        if [branch.this for branch in case.args["ifs"]] == [null_condition]:
            case.replace(case.args["default"])
    return expression
