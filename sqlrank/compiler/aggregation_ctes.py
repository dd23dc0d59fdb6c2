"""Aggregation CTEs: values per list and per group, aggregates over lists, and the result rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.input_query import InputKey
from sqlrank.compiler.intervals.analytic_intervals import UNIT_COUNT, AnalyticIntervals
from sqlrank.compiler.intervals.bootstrap_intervals import BootstrapIntervals
from sqlrank.compiler.intervals.pseudo_values import PseudoValues
from sqlrank.compiler.layout import SLICE_COLUMN, KeyedCte, MetricColumn
from sqlrank.compiler.metric_values import aggregate_metric, fill_undefined, fill_undefined_group
from sqlrank.compiler.parameter_binding import sql_literal
from sqlrank.compiler.relation_ctes import RelationCtes, unique_name
from sqlrank.compiler.result_assembly import ResultAssembly, assemble_result
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
    cast_double,
    cross_join_cutoffs,
    cross_join_slices,
    group_by_key,
    join_on_key,
    order_rows,
    slice_label,
)
from sqlrank.deadline import check_deadline
from sqlrank.interval_options import REPLICATE_COLUMN
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, CUTOFF_PLACEHOLDER
from sqlrank.registry.row_comments import describe_rows
from sqlrank.registry.sql_file import RowsRead
from sqlrank.sql_ast import LeadingComment, find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.layout import GroupingLayout
    from sqlrank.interval_options import IntervalOptions
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.resolved_metric import ResolvedMetric

RESERVED_COLUMNS = {GROUP_ID, *INTERNAL_COLUMNS, UNIT_COUNT, "weight"}
"""Columns beside those of metrics in the CTEs; a metric whose file takes one of these names gets a number appended."""


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
        self.replicates = BootstrapIntervals(confidence, relations, self._add_cte) if confidence is not None and is_resampled else None
        self.spread = None if confidence is None or is_resampled else AnalyticIntervals(confidence, relations, self._add_cte)
        self.shape: GroupingLayout = relations.shape
        self.weighted = weighted
        self.per_query = per_query
        self.query_column = query_column
        self.row_keys = [*self.shape.by, *([query_column] if per_query else []), *([REPLICATE_COLUMN] if is_resampled else [])]
        self.cutoffs = relations.cutoffs
        self.columns: list[MetricColumn] = []
        self.ctes: dict[str, exp.Select] = {}
        self.comments: dict[str, str] = {}
        self._units: dict[str, str] = {}
        self._keys: dict[str, KeyColumns] = {}
        self._steps: dict[str, str] = {}

    def add_metric(self, metric: ResolvedMetric) -> MetricColumn:
        """Add a metric and everything it reads."""
        check_deadline()
        is_ranking = metric.input_role == "run" and metric.file.grain == "list"
        unit = "list" if is_ranking else "query" if metric.is_per_list and not self.per_query else "group"
        per_list = metric.file.grain == "group" and (self.per_query or metric.settings.get("level") == "query")
        relation_cte = self.relations.add_relation(metric.file.source_relation, metric.settings, per_list)
        aggregation_cte = (
            self._aggregation_at_query_cutoffs(relation_cte)
            if metric.has_query_cutoffs
            else self._aggregation_over(relation_cte, unit, metric.file.grain, self.cutoffs)
        )
        alias = unique_name(metric.sql_column, {*RESERVED_COLUMNS, *(column.alias for column in self.columns)})
        value = exp.alias_(self.relations.metric_expression(metric), alias)
        for column in find_nodes(value, exp.Column):
            if column.table == CUTOFF_PLACEHOLDER:
                column.replace(exp.column(CUTOFF_COLUMN))
        value.comments = [LeadingComment(metric.file.title)]
        self.ctes[aggregation_cte].select(value, copy=False)
        self.columns.append(MetricColumn(alias, metric, aggregation_cte, unit))
        return self.columns[-1]

    def add_audit(self, tree: exp.Select, settings: Mapping[str, ParameterValue], role: str) -> str:
        """Add the columns that input checks read, and return their CTE."""
        source = tree.args["from_"].this.name
        per_list = self.per_query and role != "run"
        unit, grain = ("list", "list") if role == "run" else ("group", "group")
        aggregation_cte = self._aggregation_over(self.relations.add_relation(source, settings, per_list), unit, grain)
        for column in tree.selects[1:]:
            self.ctes[aggregation_cte].select(column.copy(), copy=False)
        return aggregation_cte

    def _aggregation_over(self, cte: str, unit: str, grain: str = "group", swept_by: str | None = None) -> str:
        """Return the CTE that aggregates another one, for each cut-off of a range if needed."""
        preferred_name = f"{cte}_by_query" if unit == "query" else f"{cte}_metrics"
        aggregation_cte = self._steps.get(f"{unit} of {cte}")
        if aggregation_cte is None:
            aggregation_cte = self._steps[f"{unit} of {cte}"] = self._free(preferred_name)
            keys = self.relations.keys(cte, per_list=self.per_query or unit == "query")
            row_keys = keys[LIST_ID] if grain == "list" else self._group_keys(keys[GROUP_ID], unit)
            self._keys[aggregation_cte] = row_keys if swept_by is None else row_keys.with_cutoff()
            self._units[aggregation_cte] = unit
            query = cross_join_cutoffs(
                exp.select(*map(key_column, self._keys[aggregation_cte].columns)).from_(cte), None if row_keys.has_cutoff else swept_by
            )
            self.ctes[aggregation_cte] = group_by_key(query, self._keys[aggregation_cte])
            self.comments[aggregation_cte] = self._describe("one row per group", self._keys[aggregation_cte].columns)
        return aggregation_cte

    def _aggregation_at_query_cutoffs(self, source_cte: str) -> str:
        """Return the CTE that aggregates lists, each at the cut-off of its query."""
        cutoffs_cte, step_key = str(self.relations.own_cutoffs), f"list of {source_cte} at its cut-off"
        if step_key not in self._steps:
            cte = self._steps[step_key] = self._free(f"{source_cte}_metrics_at_cutoff")
            list_key, cutoff_key = self.relations.keys(source_cte)[LIST_ID], self.relations.keys(cutoffs_cte)[LIST_ID]
            keys = [key_column(name, source_cte) for name in list_key.columns]
            on = list_key_equalities(list_key.columns, cutoff_key.columns, source_cte, cutoffs_cte, cutoff_key.nullable)
            query = exp.select(*keys).from_(source_cte).join(cutoffs_cte, on=exp.and_(*on, wrap=False))
            self.ctes[cte] = query.group_by(*(column.copy() for column in keys), exp.column(CUTOFF_COLUMN, table=cutoffs_cte))
            self._keys[cte], self._units[cte] = list_key, "list"
            self.comments[cte] = self._describe("one row per group, at the cut-off of its query", list_key.columns)
        return self._steps[step_key]

    def _free(self, name: str) -> str:
        return unique_name(name, {*self.ctes, *self.relations.ctes, *self.relations.taken})

    def _group_keys(self, row_keys: KeyColumns, unit: str) -> KeyColumns:
        """Return the columns that identify rows, without the query if its values are aggregated."""
        group_columns = (
            {*self.shape.by, SLICE_NUMBER, CUTOFF_COLUMN, REPLICATE_COLUMN}
            if unit == "group" and not self.per_query
            else set(row_keys.columns)
        )
        return KeyColumns(tuple(name for name in row_keys.columns if name in group_columns), row_keys.nullable)

    def result_query(self, base_role: str | None, audits: Mapping[str, Sequence[str]]) -> exp.Select:
        """Return the result rows in a defined order.

        Args:
            base_role: Role whose groups the rows are, None for groups of ranked lists.
            audits: Columns that input checks read, by CTE.
        """
        list_ctes = [cte for cte, unit in self._units.items() if unit == "list"]
        if list_ctes:
            self._add_values_per_list(list_ctes, audits)
        if (
            base_role is None
            and self.confidence is None
            and self.cutoffs is None
            and all(column.grain == "list" for column in self.columns)
        ):
            return self._aggregate_lists(audits, is_final=True)
        group_ctes = [KeyedCte(cte, self._keys[cte]) for cte, unit in self._units.items() if unit == "group"]
        if base_role is not None and (self.row_keys or self.shape.grouping_sets is not None or not group_ctes):
            groups_cte = self._aggregation_over(self.relations.add_relation(base_role, {}, rows=RowsRead.UNFILTERED), "group")
            if self.ctes[groups_cte].selects:
                group_ctes = [KeyedCte(groups_cte, self._keys[groups_cte]), *(cte for cte in group_ctes if cte.step != groups_cte)]
        if base_role is None and not list_ctes and self.row_keys:
            groups_cte = self._aggregation_over(
                self.relations.add_relation("list_groups", self.columns[0].metric.settings, self.per_query), "group"
            )
            group_ctes = [KeyedCte(groups_cte, self._keys[groups_cte]), *(cte for cte in group_ctes if cte.step != groups_cte)]
        aggregated_ctes = []
        if list_ctes:
            lists_cte = self._add_cte(
                "group_metrics", self._aggregate_lists(audits, is_final=False), self._per_replicate("one row per group")
            )
            hidden = [SLICE_NUMBER] if self.shape.grouping_sets is not None else []
            keys = KeyColumns((*self.row_keys, *hidden), nullable=True)
            aggregated_ctes.append(KeyedCte(lists_cte, keys if self.cutoffs is None else keys.with_cutoff()))
        aggregated_ctes += self._aggregate_queries(base_role)
        units = {self._steps.get("group_metrics"): "list", self._steps.get("group_query_values"): "query"}
        if self.spread is not None and self.spread.confidence.per_unit:
            audits_by_cte = {KeyedCte(cte, self._keys[cte]): names for cte, names in audits.items()}
            return PseudoValues(self.relations, self.spread, self._add_cte).rows(
                str(base_role), group_ctes, self.ctes, self.columns, audits_by_cte
            )
        interval_ctes = [] if self.spread is None else self.spread.add_ctes([*aggregated_ctes, *group_ctes], units, self.ctes, self.columns)
        if self.spread is not None and self.spread.value_ctes and base_role is None:
            aggregated_ctes, interval_ctes = [*interval_ctes, *aggregated_ctes], []
        has_lists_first = base_role is None or (self.replicates is not None and aggregated_ctes)
        ctes_by_unit = {unit: cte for cte, unit in units.items() if cte is not None}
        assembly = ResultAssembly(self.relations, self.columns, self.row_keys, self.spread, ctes_by_unit)
        audits_with_units = {cte: (self._units[cte], names) for cte, names in audits.items()}
        body = assemble_result(
            assembly,
            [*aggregated_ctes, *group_ctes, *interval_ctes] if has_lists_first else [*group_ctes, *aggregated_ctes, *interval_ctes],
            audits_with_units,
        )
        if self.replicates is None:
            return body
        return self.replicates.rows(body, base_role, self.columns, [name for _, names in audits_with_units.values() for name in names])

    def _per_replicate(self, rows: str) -> str:
        return rows if self.replicates is None else f"{rows} and replicate"

    def _describe(self, rows: str, group: Sequence[str]) -> str:
        """Return the comment of a CTE: a sentence on its rows, with the columns that identify groups and lists."""
        cutoff = [CUTOFF_COLUMN] if self.cutoffs is not None else []
        lists = name_keys([*self.shape.list_columns, QUERY_ID, *cutoff])
        return describe_rows(rows, keys={"group": lists if LIST_ID in group else name_keys(group), "list": lists})

    def _add_cte(self, name: str, query: exp.Select, rows: str) -> str:
        cte = self._steps[name] = self._free(name)
        cutoff = [CUTOFF_COLUMN] if self.cutoffs is not None else []
        slices = [SLICE_NUMBER] if self.shape.grouping_sets is not None else []
        group = [*self.shape.by, *([self.query_column] if self.per_query else []), *slices, *cutoff]
        self.ctes[cte], self.comments[cte] = query, self._describe(rows, group)
        for select in find_nodes(query, exp.Select):
            if select.comments:
                select.comments = [self._describe(" ".join(select.comments), group)]
        if self.confidence is not None and name in {"query_metrics", "query_values"}:  # intervals read these values again
            self.relations.materialized.add(cte)
        return cte

    def _add_values_per_list(self, aggregation_ctes: Sequence[str], audits: Mapping[str, Sequence[str]]) -> None:
        """Add one row per list: group columns, query, and each metric with undefined values filled."""
        lists_cte = self.relations.add_relation("ranked_lists", self.columns[0].metric.settings)
        shape = self.shape
        columns: list[exp.Expr] = [key_column(name, "a" if name in shape.query_attributes else "l") for name in shape.by]
        columns += [exp.column(QUERY_ID, table="l"), *([exp.column("weight", table="a")] if self.weighted else [])]
        columns += [] if self.cutoffs is None else [exp.column(CUTOFF_COLUMN, table=self.cutoffs)]
        for column in self.columns:
            if column.grain == "list":
                columns.append(exp.alias_(fill_undefined(self.relations, column, column.metric.settings), column.alias))
        columns += [
            exp.column(name, table=aggregation_cte) for aggregation_cte in aggregation_ctes for name in audits.get(aggregation_cte, ())
        ]
        query = cross_join_cutoffs(exp.select(*columns).from_(exp.to_table(lists_cte).as_("l")), self.cutoffs)
        for aggregation_cte in aggregation_ctes:
            keys = self._keys[aggregation_cte]
            on = list_key_equalities(keys.without_cutoff, keys.without_cutoff, aggregation_cte, "l", keys.nullable)
            on += key_equalities([CUTOFF_COLUMN], aggregation_cte, str(self.cutoffs), nullable=False) if keys.has_cutoff else []
            query.join(exp.table_(aggregation_cte), on=exp.and_(*on, wrap=False, copy=False), join_type="left", copy=False)
        if shape.query_attributes or self.weighted:
            queries = exp.to_table(self.relations.add_input(InputKey("queries"))).as_("a")
            query.join(queries, on=exp.and_(*key_equalities([QUERY_ID], "a", "l", nullable=False)), join_type="left", copy=False)
        cte = self._add_cte("query_metrics", query, "one row per list to evaluate")
        if self.replicates is not None:
            weight = exp.func("COALESCE", exp.column("weight"), sql_literal(1)) if self.weighted else None
            self._steps["query_metrics"] = self.replicates.draw(cte, query, QUERY_ID, weight)

    def _aggregate_lists(self, audits: Mapping[str, Sequence[str]], is_final: bool) -> exp.Select:
        """Return one row per group, or per query, with the metrics of lists."""
        shape = self.shape
        keys: list[exp.Expr] = [*map(key_column, self.row_keys), *([] if self.cutoffs is None else [exp.column(CUTOFF_COLUMN)])]
        list_metrics = [column for column in self.columns if column.grain == "list"]
        names = [name for cte in audits if self._units[cte] == "list" for name in audits[cte]]
        if self.per_query:
            values = [exp.alias_(cast_double(exp.column(column.alias)), column.alias) for column in list_metrics]
            query = exp.select(*keys, *values, *map(exp.column, names)).from_(self._steps["query_metrics"])
            return order_rows(query, keys[:-1]).order_by(keys[-1]) if is_final else query
        values = [
            exp.alias_(
                cast_double(aggregate_metric(self.relations, column, weighted=self.weighted, is_resampled=self.replicates is not None)),
                column.alias,
            )
            for column in list_metrics
        ]
        values += [exp.alias_(exp.Sum(this=exp.column(name)), name) for name in names]
        cte = self._steps["query_metrics"]
        if shape.grouping_sets is None:
            query = exp.select(*keys, *values).from_(cte)
            query = query.group_by(*keys) if keys else query
            return order_rows(query, keys) if is_final else query
        sliced_query = cross_join_slices(cte, self.ctes[cte].named_selects, shape)
        cte = self._add_cte("query_metrics_by_slice", sliced_query, "one row per list and grouping that it counts in")
        label = slice_label(shape) if is_final else exp.column(SLICE_NUMBER)
        query = exp.select(*keys, label, *values).from_(cte).group_by(*keys, exp.column(SLICE_NUMBER))
        return order_rows(query, [*keys, exp.column(SLICE_COLUMN)]) if is_final else query

    def _aggregate_queries(self, base_role: str | None) -> list[KeyedCte]:
        """Add the metrics with one value per query of a group.

        A CTE holds the values per query, and another one row per group.
        """
        columns = [column for column in self.columns if column.grain == "query"]
        if not columns or base_role is None:
            return []
        base_cte = self._aggregation_over(self.relations.add_relation(base_role, {}, per_list=True), "query")
        keys = self._keys[base_cte]
        values = [exp.alias_(fill_undefined_group(self.relations, column), column.alias) for column in columns]
        cutoffs = None if keys.has_cutoff else self.cutoffs
        select_items = [key_column(name, base_cte) for name in keys.columns] + (
            [] if cutoffs is None else [key_column(CUTOFF_COLUMN, cutoffs)]
        )
        values_query = cross_join_cutoffs(exp.select(*select_items, *values).from_(base_cte), cutoffs)
        for cte, unit in list(self._units.items()):
            if unit == "query" and cte != base_cte:
                values_query = join_on_key(values_query, base_cte, KeyedCte(cte, self._keys[cte]), cutoffs)
        values_cte = self._add_cte("query_values", values_query, f"one row per group and {name_keys([self.query_column])[0]}")
        group_keys = KeyColumns(tuple(name for name in keys.columns if name in self.shape.by or name == SLICE_NUMBER), keys.nullable)
        group_keys = group_keys if self.cutoffs is None else group_keys.with_cutoff()
        aggregates = [
            exp.alias_(aggregate_metric(self.relations, column, weighted=False, is_resampled=self.replicates is not None), column.alias)
            for column in columns
        ]
        if self.replicates is not None:
            values_cte = self.replicates.draw(values_cte, values_query, self.query_column, None)
            group_keys = KeyColumns((*group_keys.columns, REPLICATE_COLUMN), group_keys.nullable)
        query = group_by_key(exp.select(*map(key_column, group_keys.columns), *aggregates).from_(values_cte), group_keys)
        return [KeyedCte(self._add_cte("group_query_values", query, self._per_replicate("one row per group")), group_keys)]
