"""Evaluate the metrics of a call from a rollup, in DuckDB or as SQL for its engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.interval_options import check_confidence_level
from sqlrank.call.request import (
    Request,
    call_settings,
    describe_sources,
    name_groups,
    parse_group_by,
    request_command,
)
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import SourceGroup, leaf_sources
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    ExpansionContext,
    KeyColumns,
    expand_keys,
    key_equalities,
    name_keys,
)
from sqlrank.compiler.select_builders import cast_double, order_rows
from sqlrank.compiler.statement import BUCKET_COLUMN, CompiledStatement, result_keys
from sqlrank.engines.database import Database, NamesOnlyDatabase, resolve_source
from sqlrank.engines.file_sources import list_paths, names_files
from sqlrank.engines.open_database import open_for_inspection
from sqlrank.engines.source_tables import ZONED_TYPES
from sqlrank.errors import MetricError
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.output.table_writes import delete_insert_script, wrap_for_storage
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import parse_metric_text, to_sql_name
from sqlrank.registry.metric_resolver import as_metric_list, resolve_metrics
from sqlrank.registry.query_templates import describe_rows, file_rows
from sqlrank.registry.resolved_metric import ResolvedMetric, named_roles, with_plain_names
from sqlrank.registry.settings_checks import AS_TIED
from sqlrank.rendering.renderer import StatementHeader, render_statement, row_phrase
from sqlrank.result_columns import (
    BOUND_HIGH,
    BOUND_LOW,
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    NUM_DAYS,
    NUM_ROWS,
    SE,
)
from sqlrank.result_metadata import (
    LeftOut,
    left_out_metadata,
    metrics_metadata,
    read_left_out,
    requested_columns,
)
from sqlrank.rollups import jackknife
from sqlrank.rollups.decomposition import (
    DEFINITION_COLUMN,
    PREDICTIONS_ROLE,
    RANKING_ROLLUP_ROLES,
    RankMetric,
    RollupMetrics,
    decompose_metrics,
    refuse_row_policies,
)
from sqlrank.rollups.jackknife import (
    TIE_ORDERS,
    MetricColumns,
    ScratchSession,
    bound_key,
    list_tie_orders,
    load_bin_orderings,
    open_scratch_session,
    rank_metrics_with_bounds,
    select_policies,
)
from sqlrank.rollups.merge import (
    MergeQuery,
    RollingWindows,
    merge_bin_columns,
)
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.run.prepare import prepare_statement
from sqlrank.sql_ast import (
    case_when,
    count_rows,
    find_nodes,
    first_select,
    quoted_column,
    replace_columns,
    unique_name,
)

if TYPE_CHECKING:
    from sqlrank.engines.open_database import ExecutionOptions
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.registry import Registry
    from sqlrank.rollups.jackknife import BoundKey


MAX_BINS_PER_CHUNK = 4_000_000
"""Maximum number of bins held in memory at once, if there are several windows."""

ColumnBuilder = Callable[[MergeQuery, pa.Table], MetricColumns]
"""A function that computes result columns for a chunk of groups."""

INTERVAL_COLUMNS = (CI_LOW, CI_HIGH, SE, N_UNITS, N_BUCKETS)
"""Interval columns of a metric, with one of the two counts."""

WINDOW_DAYS_KEY = "sqlrank.window_days"
"""Metadata key of the window length in days."""


def evaluate_rollup(
    call: Request,
    rollup: Any,
    options: ExecutionOptions,
    window_days: int | None = None,
    window_ends: str | None = None,
) -> pa.Table:
    """Return the metrics of a call from a rollup, evaluated by its engine.

    ``window_days`` is the window length in days, ``window_ends`` a condition on the last days of
    windows.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, or an option that needs rows.
        InputError: a rollup without the columns of a metric, or rows that cannot be merged.
    """
    resolve_rollup_call(call)
    for argument, condition in (("where", call.where), ("window_ends", window_ends)):
        if condition is not None:
            parse_condition(condition, options.dialect, argument)

    def evaluate_windows(database: Database) -> pa.Table:
        rollup_table = RollupTable(resolve_source(database, "rollup", rollup))
        library, resolved_metrics, metrics, columns = resolve_rollup_call(call, rollup_table)
        by = name_groups(columns)
        rollup_table.check_metrics(metrics, by)
        if call.confidence is not None:
            rollup_table.check_interval_support(metrics, by)
        rows = rollup_table.select_rows(database, metrics, call.where)
        windows = (
            None
            if window_days is None
            else RollingWindows.ending_at(database, rollup_table, rows, window_days, window_ends)
        )
        has_day = rollup_table.day_column in [rollup_table.table.find_column(name) for name in by]
        keys = by if windows is None or has_day else [*by, str(rollup_table.day_column)]
        merge_query = MergeQuery(database, rollup_table, rows, keys, windows)
        with open_scratch_session(database, options.limits) as scratch:
            table = metric_table(
                metrics,
                merge_query,
                call,
                scratch,
                resolved_metrics if call.confidence is not None else (),
            )
        result = _describe_result(table, call, library, resolved_metrics, metrics, window_days)
        names = [str(metric.metric) for metric in resolved_metrics]
        is_all = call.where is None and window_days is None
        left_out = _read_left_out(rollup, names, by if is_all else [])
        scope = "" if is_all else ", in all rows of the rollup"
        left_out = [replace(entry, note=f"{entry.note}{scope}") for entry in left_out]
        return result.replace_schema_metadata(
            {**result.schema.metadata, **left_out_metadata(left_out)}
        )

    return replace(options, progress=None).run(evaluate_windows)


def _read_left_out(rollup: Any, names: Sequence[str], by: Sequence[str]) -> list[LeftOut]:
    """Return the counts of units that policies left out or filled as a rollup was made, for these
    metrics and columns of groups; none of a rollup in a database, which has no metadata.
    """
    sums: dict[tuple[str, tuple[str, ...]], LeftOut] = {}
    for leaf in leaf_sources(SourceGroup.wrap("rollup", rollup)):
        schemas = (
            [leaf.schema]
            if isinstance(leaf, pa.Table)
            else [pq.read_schema(path) for path in list_paths(leaf) if path.suffix == ".parquet"]
            if names_files(leaf)
            else []
        )
        for entry in (entry for schema in schemas for entry in read_left_out(schema.metadata)):
            metrics = tuple(name for name in entry.metrics if name in names)
            if not entry.count or not metrics:
                continue
            other = sums.get((entry.note, metrics), LeftOut(entry.note, metrics))
            sums[entry.note, metrics] = replace(
                other,
                count=other.count + entry.count,
                total=other.total + entry.total,
                groups=(*other.groups, *(entry.groups or (({}, entry.count, entry.total),))),
            )
    return [entry.merge_groups(by) for entry in sums.values()]


def _describe_result(
    table: pa.Table,
    call: Request,
    library: Registry,
    resolved_metrics: Sequence[ResolvedMetric],
    metrics: RollupMetrics,
    window_days: int | None,
) -> pa.Table:
    """Return a result with the requested column names, and the metadata of its columns."""
    limit_kinds = {
        f"{metric.name}.{bound}": bound for metric in metrics.rank_based for bound in BOUNDS
    }
    if call.confidence is not None:
        limit_kinds |= {
            f"{metric.name}.{limit}": limit
            for metric in metrics.metrics
            for limit in INTERVAL_COLUMNS
        }
    column_kinds = {name: limit_kinds.get(name, "metric") for name in table.column_names}
    column_kinds |= dict.fromkeys(
        table.column_names[: table.column_names.index(metrics.metrics[0].name)], "by"
    )
    column_kinds |= {name: name for name in (NUM_DAYS, NUM_ROWS) if name in table.column_names}
    pairs = requested_columns(table.column_names, resolved_metrics)
    table = table.select([column for column, _ in pairs]).rename_columns(
        [name for _, name in pairs]
    )
    column_kinds = {name: column_kinds[column] for column, name in pairs}
    metadata = {
        "sqlrank.version": __version__,
        **metrics_metadata(
            column_kinds, resolved_metrics, library, requested_names=True
        ).to_schema_metadata(),
    }
    metadata |= (
        {}
        if call.confidence is None
        else {"sqlrank.confidence": f"{call.confidence:g}", "sqlrank.interval": "t"}
    )
    return table.replace_schema_metadata(
        metadata | ({} if window_days is None else {WINDOW_DAYS_KEY: str(window_days)})
    )


RollupCall = tuple["Registry", "list[ResolvedMetric]", RollupMetrics, list[str]]
"""The library, metrics, their aggregates and the group columns of a call."""


def resolve_rollup_call(call: Request, table: RollupTable | None = None) -> RollupCall:
    """Resolve a call over the inputs that its rollup may be of: of several, those whose sums the
    ``table`` has.

    Answers have other defaults than a run, and a column that metrics measure may be one of queries,
    answers or predictions.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, several groupings, or an
            unsupported interval method.
    """
    first: RollupCall | None = None
    problems: list[MetricError] = []
    for roles in _possible_inputs(call):
        try:
            resolved = _resolve_over(roles, call)
        except MetricError as error:
            problems.append(error)
            continue
        if table is None or not table.missing_metrics(resolved[2]):
            return resolved
        first = first or resolved
    if first is None:
        raise problems[0]
    return first


def _possible_inputs(call: Request) -> list[tuple[str, ...]]:
    """Return the sets of inputs that a rollup may be of; metrics of columns may name theirs."""
    try:
        named = named_roles(
            parse_metric_text(str(metric)) for metric in as_metric_list(call.metrics)
        )
    except MetricError:  # raised again where metrics are resolved
        named = None
    if named == {PREDICTIONS_ROLE}:
        return [(PREDICTIONS_ROLE,)]
    rankings = RANKING_ROLLUP_ROLES[:2]
    if named:
        return [(*rankings, *sorted(named))]
    return [
        RANKING_ROLLUP_ROLES,
        (*rankings, "answers"),
        *([] if named is None else [(PREDICTIONS_ROLE,)]),
    ]


def _resolve_over(roles: tuple[str, ...], call: Request) -> RollupCall:
    """Resolve a call over a rollup of some inputs."""
    library = registry_for(call.sql_dir)
    resolved_metrics = resolve_metrics(
        call.metrics, library, None, call.policies, roles, has_inputs=False
    )
    resolved_metrics = (
        with_plain_names(resolved_metrics) if call.names == "plain" else resolved_metrics
    )
    refuse_row_policies(call.policies, resolved_metrics, library)
    metrics = decompose_metrics(resolved_metrics, library)
    if call.confidence is not None:
        check_confidence_level(call.confidence)
    return library, resolved_metrics, metrics, group_columns(call)


def group_columns(call: Request) -> list[str]:
    """Return the group columns; raise ``MetricError`` for several groupings."""
    columns, *others = parse_group_by(call.by)
    if others:
        raise MetricError(
            "by of a rollup is one list of columns. Ask for each grouping in a call of its own"
        )
    return columns


def metric_table(
    metrics: RollupMetrics,
    merge_query: MergeQuery,
    call: Request,
    scratch: ScratchSession,
    resolved_metrics: Sequence[ResolvedMetric] = (),
) -> pa.Table:
    """Return a table of group columns, metrics with their bounds, and row counts.

    Metrics in ``resolved_metrics`` get intervals.
    """
    has_buckets = not metrics.is_per_query or merge_query.table.has_column(BUCKET_COLUMN)
    means = (
        []
        if not resolved_metrics or has_buckets
        else metrics.list_averaged_metrics(merge_query.table.has_column)
    )
    table = merge_query.merge_aggregates(
        replace(
            metrics,
            metrics=(*metrics.metrics, *(moment for metric in means for moment in metric.moments)),
        )
    )
    keys = [f"key_{index}" for index in range(len(merge_query.by))]
    groups = table.select(keys)
    columns_by_metric = (
        _in_chunks(
            merge_query,
            groups,
            merge_query,
            partial(rank_metrics_with_bounds, metrics.rank_based, call=call, scratch=scratch),
        )
        if metrics.rank_based
        else {}
    )
    columns_by_metric = {
        metric.name: columns_by_metric.get(metric.name) or {metric.name: table[metric.name]}
        for metric in metrics.metrics
    }
    if resolved_metrics:
        if has_buckets:
            interval_metrics = jackknife.metrics_with_interval(metrics, resolved_metrics)
            standard_errors = _in_chunks(
                merge_query,
                groups,
                replace(merge_query, by=[*merge_query.by, BUCKET_COLUMN]),
                partial(
                    jackknife.bucket_standard_errors, interval_metrics, call=call, scratch=scratch
                ),
            )
        else:
            standard_errors = jackknife.mean_standard_errors(means, table)
        interval_columns = jackknife.interval_columns(
            columns_by_metric,
            standard_errors,
            resolved_metrics,
            float(call.confidence or 0),
            N_BUCKETS if has_buckets else N_UNITS,
        )
        columns_by_metric = {
            name: columns | interval_columns[name] for name, columns in columns_by_metric.items()
        }
    columns: dict[str, Any] = dict(zip(merge_query.by, (table[key] for key in keys), strict=True))
    if merge_query.windows is not None:
        day_index = merge_query.day_index
        columns[merge_query.by[day_index]] = merge_query.windows.end_days(table[keys[day_index]])
    for metric in metrics.metrics:
        columns |= columns_by_metric[metric.name]
    return pa.table(
        columns | {name: table[name] for name in (NUM_DAYS, NUM_ROWS) if name in table.column_names}
    )


def _in_chunks(
    merge_query: MergeQuery,
    groups: pa.Table,
    binned_query: MergeQuery,
    build_columns: ColumnBuilder,
) -> MetricColumns:
    """Return columns with one row per group, computed for chunks of windows.

    Each window has rows of its own; the chunk size follows from the number of bins of
    ``binned_query``.
    """
    if merge_query.windows is None:
        return build_columns(merge_query, groups)
    windows_per_chunk = max(1, MAX_BINS_PER_CHUNK // max(1, binned_query.count_bins()))
    day_index = merge_query.day_index
    window_numbers = groups.column(day_index).to_pylist()
    rows, chunks = [], []
    for first in range(0, len(merge_query.windows.end_positions), windows_per_chunk):
        windows = merge_query.windows.slice(first, windows_per_chunk)
        chunk_rows = [
            row
            for row, window_number in enumerate(window_numbers)
            if first <= window_number < first + windows_per_chunk
        ]
        shifted = pa.array([window_numbers[row] - first for row in chunk_rows], pa.int64())
        chunk_groups = groups.take(pa.array(chunk_rows, pa.int64())).set_column(
            day_index, groups.field(day_index).name, shifted
        )
        rows += chunk_rows
        chunks.append(build_columns(replace(merge_query, windows=windows), chunk_groups))
    order = [0] * len(rows)
    for position, row in enumerate(rows):
        order[row] = position
    inverse_order = pa.array(order, pa.int64())
    return {
        name: {
            column: pa.concat_arrays([chunk[name][column] for chunk in chunks]).take(inverse_order)
            for column in columns
        }
        for name, columns in chunks[0].items()
    }


FILTERED_ROWS, MERGED_BINS, OPENED_BINS, BY_ORDER, BOUNDED, SUMMED = (
    "kept_rows",
    "merged_bins",
    "opened_bins",
    "by_order",
    "bounded",
    "summed",
)
"""CTE names: filtered rows, merged bins, bins per tie order, metrics per order, bounds per group,
and aggregates.
"""

ORDER_NUMBER = "order_number"

IS_MERGEABLE = "is_sound"
"""The column that is 1 if the rows of a group may be merged.

They have one definition, no retractions, and valid sums.
"""

UNMERGEABLE_NOTE = (
    "Rows of several definitions, rows that subtract others, and sums that no rows have cannot be"
    " added up: values are NULL where there are any."
)
UNWEIGHTED_NOTE = (
    "Means of lists are those without weights. aggregate=wmean has the weighted ones of a rollup"
    " that cannot be looked at."
)


def rollup_query_sql(
    call: Request,
    rollup: Any,
    connection: Any,
    dialect: str,
    targets: tuple[str | None, str | None, str | None],
    overwrite_by: str | None,
) -> str:
    """Return the SQL text that evaluates the metrics of a call from a rollup.

    ``targets`` are the table or view to create, or the table to insert into.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, or an option that needs rows.
        InputError: an inspected rollup without the columns of a metric, or with rows that cannot be
            merged.
    """
    if call.confidence is not None:
        raise MetricError(
            "confidence= of a rollup is not of one statement. sqlrank.evaluate (sqlrank evaluate)"
            " with rollup= has it"
        )
    resolve_rollup_call(call)
    with open_for_inspection(connection, dialect, [rollup]) as database:
        rollup_table = RollupTable(resolve_source(database, "rollup", rollup))
        library, resolved_metrics, metrics, by = resolve_rollup_call(call, rollup_table)
        rollup_table.check_metrics(metrics, by)
        rows = rollup_table.select_rows(database, metrics, call.where)
        tree, outputs = _RollupQuery(
            call,
            library,
            resolved_metrics,
            metrics.resolve_weights(rollup_table.has_column),
            rollup_table,
            rows,
            by,
            dialect,
        ).build_statement()
        notes = (
            UNMERGEABLE_NOTE,
            *([UNWEIGHTED_NOTE] if metrics.is_per_query and not database.can_inspect else []),
        )
        is_zoned = any(
            column_type.startswith(ZONED_TYPES) for column_type in rollup_table.table.types.values()
        )
        header = StatementHeader(
            ", ".join(metric.name for metric in metrics.metrics),
            row=row_phrase(result_keys(outputs)),
            reads=tuple(describe_sources({"rollup": rollup})),
            settings=tuple(call_settings(call)),
            time_zone=database.time_zone if is_zoned and (by or call.where) else "",
            notes=notes,
            command=request_command(
                "sql",
                [name for metric in resolved_metrics for name in metric.requested_names],
                replace(call, options={**call.options, "rollup": rollup}),
                dialect,
            ),
        )
        statement = CompiledStatement(tree, outputs, header)
        stored = wrap_for_storage(
            statement, dialect, *targets, [rollup_table.table.display_from_item]
        )
        if overwrite_by is not None:
            return delete_insert_script(
                statement, stored, dialect, overwrite_by, targets[-1], database.can_materialize_ctes
            )
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
            aliases[str(metric.metric)] = unique_name(
                metric.sql_column, {*aliases.values(), *self.keys}
            )
        return aliases

    @cached_property
    def requested_aliases(self) -> dict[str, str]:
        """Return the column alias of each requested name of a metric."""
        names = {
            name: str(metric.metric) for metric in self.looked_up for name in metric.column_names
        }
        aliases = {name: self.aliases[name] for name, metric in names.items() if name == metric}
        for name in [name for name in names if name not in aliases]:
            aliases[name] = unique_name(to_sql_name(name), {*aliases.values(), *self.keys})
        return aliases

    @cached_property
    def tie_orders(self) -> dict[BoundKey, Metric]:
        """Return the metrics to evaluate by tie order and name."""
        return list_tie_orders(self.metrics.rank_based, self.library)

    def build_statement(self) -> tuple[exp.Select, list[OutputColumn]]:
        """Return the complete statement and its output columns."""
        ctes = {FILTERED_ROWS: ("one row per row of the rollup that is added up", self.rows.this)}
        ctes |= self._rank_metric_ctes() if self.metrics.rank_based else {}
        ctes[SUMMED] = (
            "one row per group: merged sums, and formulas of them",
            self._additive_metrics_query(),
        )
        outputs = [OutputColumn(name, name, "by", quoted=True) for name in self.keys]
        columns = [quoted_column(name, "s").as_(name, quoted=True) for name in self.keys]
        for metric, resolved_metric in zip(self.metrics.metrics, self.looked_up, strict=True):
            kinds = (
                ("metric", BOUND_LOW, BOUND_HIGH) if isinstance(metric, RankMetric) else ("metric",)
            )
            for name, kind in product(resolved_metric.column_names, kinds):
                is_value = kind == "metric"
                column, alias = (
                    f"{text}{'' if is_value else f'_{kind}'}"
                    for text in (self.aliases[metric.name], self.requested_aliases[name])
                )
                value = exp.column(column, table="b" if isinstance(metric, RankMetric) else "s")
                is_mergeable = exp.column(IS_MERGEABLE, table="s").eq(1)
                columns.append(case_when(is_mergeable, value).as_(alias))
                outputs.append(
                    OutputColumn(
                        alias, name if is_value else f"{name}.{kind}", kind, resolved_metric
                    )
                )
        for name in (*([NUM_DAYS] if self.table.day_column is not None else []), NUM_ROWS):
            columns.append(exp.column(name, table="s").as_(name))
            outputs.append(OutputColumn(name, name, name))
        tree = exp.select(*columns).from_(exp.to_table(SUMMED).as_("s"))
        if self.metrics.rank_based:
            on = key_equalities(self.keys, "b", "s", nullable=True)
            join_options: dict[str, Any] = (
                {"on": exp.and_(*on, wrap=False), "join_type": "left"}
                if on
                else {"join_type": "cross"}
            )
            tree = tree.join(exp.to_table(BOUNDED).as_("b"), **join_options)
        tree = order_rows(tree, [quoted_column(name) for name in self.keys])
        key_names = {"group": name_keys(self.keys)}
        for name, (description, query) in ctes.items():
            for select in find_nodes(query, exp.Select):
                select.comments = [
                    describe_rows(comment, key_names) for comment in select.comments or ()
                ]
            if description:
                first_select(query).comments = [describe_rows(description, key_names)]
            tree = tree.with_(name, as_=query, copy=False)
        return tree, outputs

    def _additive_metrics_query(self) -> exp.Select:
        table = self.table
        definition, num_rows = table.find_column(DEFINITION_COLUMN), table.find_column(NUM_ROWS)
        is_one_definition = exp.Min(this=definition).eq(exp.Max(this=definition))
        rules = [
            rule.condition for rule in table.build_rules(self.metrics, has_batches=False).values()
        ]
        num_valid = exp.Count(this=case_when(exp.and_(*rules), definition))
        is_mergeable = exp.and_(is_one_definition, num_valid.eq(count_rows()))
        select_items = [case_when(is_mergeable, 1, 0).as_(IS_MERGEABLE)]
        select_items += (
            [
                exp.Count(this=exp.Distinct(expressions=[table.find_column(table.day_column)])).as_(
                    NUM_DAYS,
                )
            ]
            if table.day_column is not None
            else []
        )
        select_items += [exp.cast(exp.Sum(this=num_rows), "BIGINT").as_(NUM_ROWS)]
        select_items += [
            cast_double(replace_columns(metric.formula, table.find_column)).as_(
                self.aliases[metric.name]
            )
            for metric in self.metrics.additive
        ]
        keys = [quoted_column(name) for name in self.keys]
        query = exp.select(*keys, *select_items).from_(FILTERED_ROWS)
        return query.group_by(*keys) if keys else query

    def _rank_metric_ctes(self) -> dict[str, tuple[str, exp.Query]]:
        """Return the CTEs from merged bins to rank metrics and their bounds."""
        metrics = self.tie_orders
        keys, bin_ = [quoted_column(name) for name in self.keys], self.table.find_column("bin")
        bins = (
            exp.select(*keys, bin_.as_("bin"), *merge_bin_columns(self.table))
            .from_(FILTERED_ROWS)
            .group_by(*keys, bin_)
        )
        orders = sorted({TIE_ORDERS.index(order) for order, _ in metrics})
        opened = load_bin_orderings("bin_orderings.sql", orders)
        expand_keys(
            opened,
            ExpansionContext(lambda _: {GROUP_ID: KeyColumns(tuple(self.keys), nullable=True)}),
        )
        # Quote the aliases, because engines fold the case of names differently.
        opened.set(
            "expressions",
            [
                select_item.unalias().as_(select_item.alias_or_name, quoted=True)
                for select_item in opened.selects
            ],
        )
        per_order = self._tie_order_statement(list(dict.fromkeys(map(str, metrics.values()))))
        tree = per_order.tree.copy()
        metric_ctes = {cte.alias: ("", cte.this) for cte in tree.args.pop("with_").expressions}
        tree.set("order", None)
        return {
            MERGED_BINS: ("one row per group and bin", bins),
            OPENED_BINS: (file_rows("analyses/rollups", "bin_orderings.sql"), opened),
            **metric_ctes,
            BY_ORDER: ("one row per group and order: the metrics, and those that bound them", tree),
            BOUNDED: (
                "one row per group: rank metrics, with their bounds",
                self._bounds_query(per_order),
            ),
        }

    def _tie_order_statement(self, texts: list[str]) -> CompiledStatement:
        """Return the statement of rank metrics over the rows of each tie order."""
        by = [exp.to_identifier(name, quoted=True).sql() for name in self.keys]
        call = Request(
            tuple(texts),
            {"predictions": OPENED_BINS},
            {name: f'"{name}"' for name in ("label", "score", "weight")},
            [*by, f'"{ORDER_NUMBER}"'],
            sql_dir=self.call.sql_dir,
            policies=select_policies(self.metrics.rank_based, self.call.policies),
            plan={"score_order": "distinct"},
        )
        return prepare_statement(
            resolve_request(call),
            NamesOnlyDatabase(self.dialect, lambda _, source: exp.to_table(source)),
        ).statement

    def _bounds_query(self, per_order: CompiledStatement) -> exp.Select:
        """Return one row per group: each rank metric with its value, lower bound and upper
        bound.
        """
        aliases = {
            output.name: output.alias for output in per_order.outputs if output.kind == "metric"
        }
        inner = [output.alias for output in per_order.outputs if output.kind == "by"]
        keys = [
            quoted_column(key_alias).as_(name, quoted=True)
            for key_alias, name in zip(inner, self.keys, strict=False)
        ]
        order_number = quoted_column(inner[-1])

        def choose_values(choose: type[exp.AggFunc], pairs: list[tuple[str, str]]) -> exp.Expr:
            ifs = [
                exp.If(
                    this=order_number.eq(TIE_ORDERS.index(order)),
                    true=exp.column(aliases[name]),
                )
                for order, name in pairs
            ]
            return choose(this=exp.Case(ifs=ifs))

        select_items = []
        for metric in self.metrics.rank_based:
            alias, value = (
                self.aliases[metric.name],
                choose_values(exp.Max, [(AS_TIED, str(metric.metric))]),
            )
            select_items.append(value.as_(alias))
            for suffix, bounds, choose in (
                (BOUND_LOW, metric.lower_bounds, exp.Min),
                (BOUND_HIGH, metric.upper_bounds, exp.Max),
            ):
                bound_keys = [bound_key(metric, bound, self.library) for bound in bounds]
                pairs = [(key[0], str(self.tie_orders[key])) for key in bound_keys]
                bound_value = choose_values(choose, pairs)
                # Without open bins the bounding metric has no rows, and the bound is the value.
                is_borrowed = any(bound.metric is not None for bound in bounds)
                select_items.append(
                    exp.alias_(
                        (exp.func("COALESCE", bound_value, value) if is_borrowed else bound_value),
                        f"{alias}_{suffix}",
                    )
                )
        query = exp.select(*keys, *select_items).from_(BY_ORDER)
        return (
            query.group_by(*(quoted_column(key_alias) for key_alias in inner[: len(self.keys)]))
            if keys
            else query
        )
