"""Build the SQL that evaluates metrics from a rollup on its engine: merge rows, apply formulas, and bound rank metrics.

``evaluate_rollup`` says why it has a plan of its own. Both share resolution, merged columns, formulas, bounds and tie orders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call_descriptions import call_settings, describe_sources, request_command
from sqlrank.compiler.key_expansion import ExpansionContext, expand_keys
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import GROUP_ID, KeyColumns, key_equalities, name_keys
from sqlrank.compiler.select_builders import cast_double, order_rows
from sqlrank.compiler.statement import CompiledStatement, result_keys
from sqlrank.engines.database import NamesOnlyDatabase
from sqlrank.engines.open_database import open_for_inspection
from sqlrank.engines.query_sources import reads_files
from sqlrank.errors import MetricError
from sqlrank.inputs.source_union import resolve_source
from sqlrank.output.table_writes import delete_insert_script, wrap_for_storage
from sqlrank.prepare import prepare_statement
from sqlrank.registry.metric import to_sql_name
from sqlrank.registry.metric_resolver import parse_canonical
from sqlrank.registry.query_templates import file_rows, load_select
from sqlrank.registry.row_comments import describe_rows
from sqlrank.registry.tie_bounds import AS_TIED, TieBound
from sqlrank.rendering.renderer import StatementHeader, render_statement, row_phrase
from sqlrank.request import Request
from sqlrank.resolve import resolve_request
from sqlrank.result_columns import BOUND_HIGH, BOUND_LOW, NUM_DAYS, NUM_ROWS
from sqlrank.rollups.decomposition import RankMetric, RollupMetrics
from sqlrank.rollups.evaluate_rollup import refuse_row_options, resolve_rollup_call
from sqlrank.rollups.merge import with_table_columns
from sqlrank.rollups.rank_metrics import TIE_ORDERS, bound_key
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.rollups.schema import BIN_MERGE_FUNCTIONS, DEFINITION_COLUMN
from sqlrank.sql_ast import find_nodes, first_select, quoted_column, sql_literal
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric

FILTERED_ROWS, MERGED_BINS, OPENED_BINS, BY_ORDER, BOUNDED, SUMMED = (
    "kept_rows",
    "merged_bins",
    "opened_bins",
    "by_order",
    "bounded",
    "summed",
)
"""CTE names: filtered rows, merged bins, bins per tie order, metrics per order, bounds per group, and aggregates."""

ORDER_NUMBER = "order_number"

IS_MERGEABLE = "is_sound"
"""The column that is 1 if the rows of a group may be merged.

They have one definition, no retractions, and valid sums.
"""

UNMERGEABLE_NOTE = "Rows of several definitions, rows that subtract others, and sums that no rows have cannot be added up: values are NULL where there are any."
UNWEIGHTED_NOTE = "Means of lists are those without weights. aggregate=wmean has the weighted ones of a rollup that cannot be looked at."


def rollup_query_sql(
    call: Request, rollup: Any, connection: Any, dialect: str, targets: tuple[str | None, str | None, str | None], overwrite_by: str | None
) -> str:
    """Return the SQL text that evaluates the metrics of a call from a rollup.

    ``targets`` are the table or view to create, or the table to insert into.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, or an option that needs rows.
        InputError: an inspected rollup without the columns of a metric, or with rows that cannot be merged.
    """
    refuse_row_options(call)
    if call.confidence is not None:
        raise MetricError("confidence= of a rollup is not of one statement. sqlrank.evaluate (sqlrank evaluate) with rollup= has it")
    resolve_rollup_call(call)
    with open_for_inspection(connection, dialect, reads_files(rollup)) as database:
        rollup_table = RollupTable(resolve_source(database, "rollup", rollup))
        library, resolved_metrics, metrics, by = resolve_rollup_call(call, rollup_table)
        rollup_table.check_metrics(metrics, by)
        rows = rollup_table.select_rows(database, metrics, call.where)
        tree, outputs = _RollupQuery(
            call, library, resolved_metrics, metrics.resolve_weights(rollup_table.has_column), rollup_table, rows, by, dialect
        ).build_statement()
        notes = (UNMERGEABLE_NOTE, *([UNWEIGHTED_NOTE] if metrics.is_per_query and not database.can_inspect else []))
        header = StatementHeader(
            ", ".join(metric.name for metric in metrics.metrics),
            row=row_phrase(result_keys(outputs)),
            reads=tuple(describe_sources({"rollup": rollup})),
            settings=tuple(call_settings(call)),
            notes=notes,
            command=request_command(
                "sql",
                [name for metric in resolved_metrics for name in metric.requested_names],
                replace(call, options={**call.options, "rollup": rollup}),
                dialect,
            ),
        )
        statement = CompiledStatement(tree, outputs, header)
        stored = wrap_for_storage(statement, dialect, *targets, [rollup_table.table.display_from_item])
        if overwrite_by is not None:
            return delete_insert_script(statement, stored, dialect, overwrite_by, targets[-1], database.can_materialize_ctes)
        return render_statement(stored.tree, stored.header, dialect, database.can_materialize_ctes)


@dataclass(frozen=True)
class _RollupQuery:
    """Compiles the metrics of a call over the rows of a rollup."""

    call: Request
    library: Registry
    looked_up: list[ResolvedMetric]
    metrics: RollupMetrics
    table: RollupTable
    rows: exp.Subquery
    by: list[str]
    dialect: str

    @cached_property
    def keys(self) -> list[str]:
        """Return the group columns as spelled in the table."""
        return [self.table.find_column(name).name for name in self.by]

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Return the column alias of each metric."""
        aliases: dict[str, str] = {}
        for metric in self.looked_up:
            aliases[str(metric.metric)] = unique_name(metric.sql_column, {*aliases.values(), *self.keys})
        return aliases

    @cached_property
    def requested_aliases(self) -> dict[str, str]:
        """Return the column alias of each requested name of a metric."""
        names = {name: str(metric.metric) for metric in self.looked_up for name in metric.column_names}
        aliases = {name: self.aliases[name] for name, metric in names.items() if name == metric}
        for name in [name for name in names if name not in aliases]:
            aliases[name] = unique_name(to_sql_name(name), {*aliases.values(), *self.keys})
        return aliases

    def build_statement(self) -> tuple[exp.Select, list[OutputColumn]]:
        """Return the complete statement and its output columns."""
        ctes = {FILTERED_ROWS: ("one row per row of the rollup that is added up", self.rows.this)}
        ctes |= self._rank_metric_ctes() if self.metrics.rank_based else {}
        ctes[SUMMED] = "one row per group: merged sums, and formulas of them", self._additive_metrics_query()
        outputs = [OutputColumn(name, name, "by", quoted=True) for name in self.keys]
        columns = [exp.alias_(quoted_column(name, "s"), name, quoted=True) for name in self.keys]
        for metric, resolved_metric in zip(self.metrics.metrics, self.looked_up, strict=True):
            kinds = ("metric", BOUND_LOW, BOUND_HIGH) if isinstance(metric, RankMetric) else ("metric",)
            for name, kind in product(resolved_metric.column_names, kinds):
                is_value = kind == "metric"
                column, alias = (
                    f"{text}{'' if is_value else f'_{kind}'}" for text in (self.aliases[metric.name], self.requested_aliases[name])
                )
                value = exp.column(column, table="b" if isinstance(metric, RankMetric) else "s")
                is_mergeable = exp.EQ(this=exp.column(IS_MERGEABLE, table="s"), expression=sql_literal(1))
                columns.append(exp.alias_(exp.Case(ifs=[exp.If(this=is_mergeable, true=value)]), alias))
                outputs.append(OutputColumn(alias, name if is_value else f"{name}.{kind}", kind, resolved_metric))
        for name in (*([NUM_DAYS] if self.table.day_column is not None else []), NUM_ROWS):
            columns.append(exp.alias_(exp.column(name, table="s"), name))
            outputs.append(OutputColumn(name, name, name))
        tree = exp.select(*columns).from_(exp.to_table(SUMMED).as_("s"))
        if self.metrics.rank_based:
            on = key_equalities(self.keys, "b", "s", nullable=True)
            join_options: dict[str, Any] = {"on": exp.and_(*on, wrap=False), "join_type": "left"} if on else {"join_type": "cross"}
            tree = tree.join(exp.to_table(BOUNDED).as_("b"), **join_options)
        tree = order_rows(tree, [quoted_column(name) for name in self.keys])
        key_names = {"group": name_keys(self.keys)}
        for name, (description, query) in ctes.items():
            for select in find_nodes(query, exp.Select):
                select.comments = [describe_rows(comment, keys=key_names) for comment in select.comments or ()]
            if description:
                first_select(query).comments = [describe_rows(description, keys=key_names)]
            tree = tree.with_(name, as_=query, copy=False)
        return tree, outputs

    def _additive_metrics_query(self) -> exp.Select:
        table = self.table
        definition, num_rows = table.find_column(DEFINITION_COLUMN), table.find_column(NUM_ROWS)
        is_one_definition = exp.EQ(this=exp.Min(this=definition), expression=exp.Max(this=definition.copy()))
        rules = [rule.condition for rule in table.build_rules(self.metrics, has_batches=False).values()]
        num_valid = exp.Count(this=exp.Case(ifs=[exp.If(this=exp.and_(*rules), true=definition.copy())]))
        is_mergeable = exp.and_(is_one_definition, exp.EQ(this=num_valid, expression=exp.Count(this=exp.Star())))
        select_items = [exp.alias_(exp.Case(ifs=[exp.If(this=is_mergeable, true=sql_literal(1))], default=sql_literal(0)), IS_MERGEABLE)]
        select_items += (
            [exp.alias_(exp.Count(this=exp.Distinct(expressions=[table.find_column(table.day_column)])), NUM_DAYS)]
            if table.day_column is not None
            else []
        )
        select_items += [exp.alias_(exp.cast(exp.Sum(this=num_rows), "BIGINT"), NUM_ROWS)]
        select_items += [
            exp.alias_(cast_double(with_table_columns(metric.formula, table)), self.aliases[metric.name])
            for metric in self.metrics.additive
        ]
        keys = [quoted_column(name) for name in self.keys]
        query = exp.select(*keys, *select_items).from_(FILTERED_ROWS)
        return query.group_by(*(key.copy() for key in keys)) if keys else query

    def _rank_metric_ctes(self) -> dict[str, tuple[str, exp.Query]]:
        """Return the CTEs from merged bins to rank metrics and their bounds."""
        metrics = {(AS_TIED, metric.name): metric.metric for metric in self.metrics.rank_based}
        for metric in self.metrics.rank_based:
            metrics |= {
                bound_key(metric, bound, self.library): self._evaluate_order(metric, bound)
                for bound in (*metric.lower_bounds, *metric.upper_bounds)
            }
        keys, bin_ = [quoted_column(name) for name in self.keys], self.table.find_column("bin")
        merged = [exp.alias_(merge(this=self.table.find_column(name)), name) for name, merge in BIN_MERGE_FUNCTIONS.items()]
        bins = exp.select(*keys, exp.alias_(bin_, "bin"), *merged).from_(FILTERED_ROWS).group_by(*(key.copy() for key in keys), bin_.copy())
        orders = sorted({TIE_ORDERS.index(order) for order, _ in metrics})
        is_needed = exp.In(this=exp.column(ORDER_NUMBER, table="orderings"), expressions=[sql_literal(order) for order in orders])
        opened = load_select("rollups", "bin_orderings.sql").where(is_needed)
        expand_keys(opened, ExpansionContext(lambda _: {GROUP_ID: KeyColumns(tuple(self.keys), nullable=True)}))
        # Quote the aliases, because engines fold the case of names differently.
        opened.set(
            "expressions", [exp.alias_(select_item.unalias(), select_item.alias_or_name, quoted=True) for select_item in opened.selects]
        )
        per_order = self._tie_order_statement(list(dict.fromkeys(map(str, metrics.values()))))
        tree = per_order.tree.copy()
        metric_ctes = {cte.alias: ("", cte.this) for cte in tree.args.pop("with_").expressions}
        tree.set("order", None)
        return {
            MERGED_BINS: ("one row per group and bin", bins),
            OPENED_BINS: (file_rows("rollups", "bin_orderings.sql"), opened),
            **metric_ctes,
            BY_ORDER: ("one row per group and order: the metrics, and those that bound them", tree),
            BOUNDED: ("one row per group: rank metrics, with their bounds", self._bounds_query(per_order)),
        }

    def _evaluate_order(self, metric: RankMetric, bound: TieBound) -> Any:
        return metric.metric if bound.metric is None else parse_canonical(bound.metric, self.library)

    def _tie_order_statement(self, texts: list[str]) -> CompiledStatement:
        """Return the statement of rank metrics over the rows of each tie order."""
        by = [exp.to_identifier(name, quoted=True).sql() for name in self.keys]
        read = {
            name: value
            for name, value in self.call.policies.items()
            if any(name in metric.policies_read for metric in self.metrics.rank_based)
        }
        call = Request(
            tuple(texts),
            {"predictions": OPENED_BINS},
            {name: f'"{name}"' for name in ("label", "score", "weight")},
            [*by, f'"{ORDER_NUMBER}"'],
            sql_dir=self.call.sql_dir,
            policies=read,
            plan={"score_order": "distinct"},
        )
        return prepare_statement(resolve_request(call), NamesOnlyDatabase(self.dialect, lambda _, source: exp.to_table(source))).statement

    def _bounds_query(self, per_order: CompiledStatement) -> exp.Select:
        """Return one row per group: each rank metric with its value, lower bound and upper bound."""
        aliases = {output.name: output.alias for output in per_order.outputs if output.kind == "metric"}
        inner = [output.alias for output in per_order.outputs if output.kind == "by"]
        keys = [exp.alias_(quoted_column(key_alias), name, quoted=True) for key_alias, name in zip(inner, self.keys, strict=False)]
        order_number = quoted_column(inner[-1])

        def choose_values(choose: type[exp.AggFunc], pairs: list[tuple[str, str]]) -> exp.Expr:
            ifs = [
                exp.If(
                    this=exp.EQ(this=order_number.copy(), expression=sql_literal(TIE_ORDERS.index(order))), true=exp.column(aliases[name])
                )
                for order, name in pairs
            ]
            return choose(this=exp.Case(ifs=ifs))

        select_items = []
        for metric in self.metrics.rank_based:
            alias, value = self.aliases[metric.name], choose_values(exp.Max, [(AS_TIED, str(metric.metric))])
            select_items.append(exp.alias_(value, alias))
            for suffix, bounds, choose in ((BOUND_LOW, metric.lower_bounds, exp.Min), (BOUND_HIGH, metric.upper_bounds, exp.Max)):
                pairs = [(bound_key(metric, bound, self.library)[0], str(self._evaluate_order(metric, bound))) for bound in bounds]
                bound_value = choose_values(choose, pairs)
                # Without open bins the bounding metric has no rows, and the bound is the value.
                is_borrowed = any(bound.metric is not None for bound in bounds)
                select_items.append(
                    exp.alias_(exp.func("COALESCE", bound_value, value.copy()) if is_borrowed else bound_value, f"{alias}_{suffix}")
                )
        query = exp.select(*keys, *select_items).from_(BY_ORDER)
        return query.group_by(*(quoted_column(key_alias) for key_alias in inner[: len(self.keys)])) if keys else query
