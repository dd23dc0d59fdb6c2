"""Evaluate the metrics of a call from a rollup: resolve and check the call, merge rows, apply formulas, and bound rank metrics.

The statement of ``evaluate_sql`` is not run for this. It expands every group into five orderings of its bins, while here groups without both
open bins and tied classes are sorted once, and ``ties`` sets the ordering. Printed and run, AUC, APS and KS took 1.5, 1.9, 2.7 and 2.5 times
as long for 1, 20, 90 and 1,800 groups (``benchmarks/rollups.py``), and it has neither windows, in chunks of bounded memory, nor intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.compiler.statement import BUCKET_COLUMN
from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.open_database import run_on_database
from sqlrank.errors import MetricError
from sqlrank.inputs.source_union import resolve_source
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.loader import registry_for
from sqlrank.registry.measured_columns import named_roles
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_resolver import as_metric_list, resolve_metrics
from sqlrank.registry.resolved_metric import ResolvedMetric, with_plain_names
from sqlrank.resolve import parse_group_by
from sqlrank.result_columns import BOUNDS, CI_HIGH, CI_LOW, N_BUCKETS, N_UNITS, NUM_DAYS, NUM_ROWS, SE
from sqlrank.result_metadata import metrics_metadata, requested_columns
from sqlrank.rollups import jackknife
from sqlrank.rollups.decomposition import (
    PREDICTIONS_ROLE,
    RANKING_ROLLUP_ROLES,
    RollupMetrics,
    decompose_metrics,
    refuse_row_policies,
)
from sqlrank.rollups.merge import MergeQuery, RollingWindows
from sqlrank.rollups.rank_metrics import rank_metrics_with_bounds
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.rollups.scratch_session import ScratchSession, open_scratch_session

if TYPE_CHECKING:
    from sqlrank.engines.database import Database
    from sqlrank.engines.resource_limits import ResourceLimits
    from sqlrank.registry.registry import Registry
    from sqlrank.request import Request

MAX_BINS_PER_CHUNK = 4_000_000
"""Maximum number of bins held in memory at once, if there are several windows."""

MetricColumns = dict[str, dict[str, pa.Array]]
"""Result columns by metric, with one row per group."""

ColumnBuilder = Callable[[MergeQuery, pa.Table], MetricColumns]
"""A function that computes result columns for a chunk of groups."""

INTERVAL_COLUMNS = (CI_LOW, CI_HIGH, SE, N_UNITS, N_BUCKETS)
"""Interval columns of a metric, with one of the two counts."""

WINDOW_DAYS_KEY = "sqlrank.window_days"
"""Metadata key of the window length in days."""


def evaluate_rollup(
    call: Request,
    rollup: Any,
    connection: Any,
    dialect: str | None,
    limits: ResourceLimits,
    window_days: int | None = None,
    window_ends: str | None = None,
) -> pa.Table:
    """Return the metrics of a call from a rollup, evaluated by its engine.

    ``window_days`` is the window length in days, ``window_ends`` a condition on the last days of windows.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, or an option that needs rows.
        InputError: a rollup without the columns of a metric, or rows that cannot be merged.
    """
    if rollup is None:
        what = "window_ends" if window_days is None else "window_days"
        raise MetricError(f"{what}= is for rollup=, the sums of days that sqlrank.rollup (sqlrank rollup) makes")
    refuse_row_options(call, window_days, window_ends)
    resolve_rollup_call(call)
    dialect = infer_dialect(connection, dialect)
    for argument, condition in (("where", call.where), ("window_ends", window_ends)):
        if condition is not None:
            parse_condition(condition, dialect, argument)

    def evaluate_windows(database: Database) -> pa.Table:
        rollup_table = RollupTable(resolve_source(database, "rollup", rollup))
        library, resolved_metrics, metrics, by = resolve_rollup_call(call, rollup_table)
        rollup_table.check_metrics(metrics, by)
        if call.confidence is not None:
            rollup_table.check_interval_support(metrics, by)
        rows = rollup_table.select_rows(database, metrics, call.where)
        windows = None if window_days is None else RollingWindows.ending_at(database, rollup_table, rows, window_days, window_ends)
        has_day = rollup_table.day_column in [rollup_table.table.find_column(name) for name in by]
        keys = by if windows is None or has_day else [*by, str(rollup_table.day_column)]
        merge_query = MergeQuery(database, rollup_table, rows, keys, windows)
        with open_scratch_session(database, limits) as scratch:
            table = metric_table(metrics, merge_query, call, scratch, resolved_metrics if call.confidence is not None else ())
        return _describe_result(table, call, library, resolved_metrics, metrics, window_days)

    return run_on_database(connection, dialect, limits, evaluate_windows)


def _describe_result(
    table: pa.Table,
    call: Request,
    library: Registry,
    resolved_metrics: Sequence[ResolvedMetric],
    metrics: RollupMetrics,
    window_days: int | None,
) -> pa.Table:
    """Return a result with the requested column names, and the metadata of its columns."""
    limit_kinds = {f"{metric.name}.{bound}": bound for metric in metrics.rank_based for bound in BOUNDS}
    if call.confidence is not None:
        limit_kinds |= {f"{metric.name}.{limit}": limit for metric in metrics.metrics for limit in INTERVAL_COLUMNS}
    column_kinds = {name: limit_kinds.get(name, "metric") for name in table.column_names}
    column_kinds |= dict.fromkeys(table.column_names[: table.column_names.index(metrics.metrics[0].name)], "by")
    column_kinds |= {name: name for name in (NUM_DAYS, NUM_ROWS) if name in table.column_names}
    pairs = requested_columns(table.column_names, resolved_metrics)
    table = table.select([column for column, _ in pairs]).rename_columns([name for _, name in pairs])
    column_kinds = {name: column_kinds[column] for column, name in pairs}
    metadata = {
        "sqlrank.version": __version__,
        **metrics_metadata(column_kinds, resolved_metrics, library, requested_names=True).to_schema_metadata(),
    }
    metadata |= {} if call.confidence is None else {"sqlrank.confidence": f"{call.confidence:g}", "sqlrank.interval": "t"}
    return table.replace_schema_metadata(metadata | ({} if window_days is None else {WINDOW_DAYS_KEY: str(window_days)}))


RollupCall = tuple["Registry", "list[ResolvedMetric]", RollupMetrics, list[str]]
"""The library, metrics, their aggregates and the group columns of a call."""


def resolve_rollup_call(call: Request, table: RollupTable | None = None) -> RollupCall:
    """Resolve a call over the inputs that its rollup may be of: of several, those whose sums the ``table`` has.

    Answers have other defaults than a run, and a column that metrics measure may be one of queries, answers or predictions.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, several groupings, or an unsupported interval method.
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
        named = named_roles(parse_metric_text(str(metric)) for metric in as_metric_list(call.metrics))
    except MetricError:  # raised again where metrics are resolved
        named = None
    if named == {PREDICTIONS_ROLE}:
        return [(PREDICTIONS_ROLE,)]
    rankings = RANKING_ROLLUP_ROLES[:2]
    if named:
        return [(*rankings, *sorted(named))]
    return [RANKING_ROLLUP_ROLES, (*rankings, "answers"), *([] if named is None else [(PREDICTIONS_ROLE,)])]


def _resolve_over(roles: tuple[str, ...], call: Request) -> RollupCall:
    """Resolve a call over a rollup of some inputs."""
    library = registry_for(call.sql_dir)
    resolved_metrics = resolve_metrics(call.metrics, library, None, call.policies, roles, has_inputs=False)
    resolved_metrics = with_plain_names(resolved_metrics) if call.names == "plain" else resolved_metrics
    refuse_row_policies(call.policies, resolved_metrics, library)
    metrics = decompose_metrics(resolved_metrics, library)
    jackknife.check_interval_options(call)
    return library, resolved_metrics, metrics, group_columns(call)


def group_columns(call: Request) -> list[str]:
    """Return the group columns; raise ``MetricError`` for several groupings."""
    columns, *others = parse_group_by(call.by)
    if others:
        raise MetricError("by of a rollup is one list of columns. Ask for each grouping in a call of its own")
    return columns


def refuse_row_options(call: Request, window_days: int | None = None, window_ends: str | None = None) -> None:
    """Raise ``MetricError`` for options that need rows, and for invalid windows."""
    row_options = [*call.sources, *(name for name in ("columns", "per_query", "compat", "plan", "unit", "across") if getattr(call, name))]
    if row_options:
        raise MetricError(
            f"{row_options[0]}= is for rows, which a rollup does not have. With rollup= give metrics, by, where and connection"
        )
    if window_ends is not None and window_days is None:
        raise MetricError(
            "window_ends= chooses the days at which windows end. Give their length with window_days=, or choose days with where="
        )


def metric_table(
    metrics: RollupMetrics, merge_query: MergeQuery, call: Request, scratch: ScratchSession, resolved_metrics: Sequence[ResolvedMetric] = ()
) -> pa.Table:
    """Return a table of group columns, metrics with their bounds, and row counts.

    Metrics in ``resolved_metrics`` get intervals.
    """
    has_buckets = not metrics.is_per_query or merge_query.table.has_column(BUCKET_COLUMN)
    means = [] if not resolved_metrics or has_buckets else metrics.list_averaged_metrics(merge_query.table.has_column)
    table = merge_query.merge_aggregates(
        replace(metrics, metrics=(*metrics.metrics, *(moment for metric in means for moment in metric.moments)))
    )
    keys = [f"key_{index}" for index in range(len(merge_query.by))]
    groups = table.select(keys)
    columns_by_metric = (
        _in_chunks(merge_query, groups, merge_query, _rank_metric_builder(metrics, call, scratch)) if metrics.rank_based else {}
    )
    columns_by_metric = {metric.name: columns_by_metric.get(metric.name) or {metric.name: table[metric.name]} for metric in metrics.metrics}
    if resolved_metrics:
        interval_metrics = jackknife.metrics_with_interval(metrics, resolved_metrics)
        bucket_query = replace(merge_query, by=[*merge_query.by, BUCKET_COLUMN])
        if has_buckets:
            standard_errors = _in_chunks(
                merge_query,
                groups,
                bucket_query,
                lambda chunk_query, chunk_groups: jackknife.bucket_standard_errors(
                    interval_metrics, chunk_query, chunk_groups, call, scratch
                ),
            )
        else:
            standard_errors = jackknife.mean_standard_errors(means, table)
        values = {name: columns[name].to_pylist() for name, columns in columns_by_metric.items()}
        interval_columns = jackknife.interval_columns(
            values, standard_errors, resolved_metrics, float(call.confidence or 0), N_BUCKETS if has_buckets else N_UNITS
        )
        columns_by_metric = {name: columns | interval_columns[name] for name, columns in columns_by_metric.items()}
    columns: dict[str, Any] = dict(zip(merge_query.by, (table[key] for key in keys), strict=True))
    if merge_query.windows is not None:
        day_index = next(
            index for index, name in enumerate(merge_query.by) if merge_query.table.table.find_column(name) == merge_query.table.day_column
        )
        columns[merge_query.by[day_index]] = merge_query.windows.end_days(table[keys[day_index]])
    for metric in metrics.metrics:
        columns |= columns_by_metric[metric.name]
    return pa.table(columns | {name: table[name] for name in (NUM_DAYS, NUM_ROWS) if name in table.column_names})


def _rank_metric_builder(metrics: RollupMetrics, call: Request, scratch: ScratchSession) -> ColumnBuilder:
    """Return the function that computes the columns of rank metrics."""
    return lambda merge_query, groups: rank_metrics_with_bounds(
        metrics.rank_based, merge_query.merged_bins, groups, call.sql_dir, call.policies, scratch
    )


def _in_chunks(merge_query: MergeQuery, groups: pa.Table, binned_query: MergeQuery, build_columns: ColumnBuilder) -> MetricColumns:
    """Return columns with one row per group, computed for chunks of windows.

    Each window has rows of its own; the chunk size follows from the number of bins of ``binned_query``.
    """
    if merge_query.windows is None:
        return build_columns(merge_query, groups)
    windows_per_chunk = max(1, MAX_BINS_PER_CHUNK // max(1, binned_query.count_bins()))
    day_index = next(
        index for index, name in enumerate(merge_query.by) if merge_query.table.table.find_column(name) == merge_query.table.day_column
    )
    window_numbers = groups.column(day_index).to_pylist()
    rows, chunks = [], []
    for first in range(0, len(merge_query.windows.end_positions), windows_per_chunk):
        windows = merge_query.windows.slice(first, windows_per_chunk)
        chunk_rows = [row for row, window_number in enumerate(window_numbers) if first <= window_number < first + windows_per_chunk]
        shifted = pa.array([window_numbers[row] - first for row in chunk_rows], pa.int64())
        chunk_groups = groups.take(pa.array(chunk_rows, pa.int64())).set_column(day_index, groups.field(day_index).name, shifted)
        rows += chunk_rows
        chunks.append(build_columns(replace(merge_query, windows=windows), chunk_groups))
    order = [0] * len(rows)
    for position, row in enumerate(rows):
        order[row] = position
    inverse_order = pa.array(order, pa.int64())
    return {
        name: {column: pa.concat_arrays([chunk[name][column] for chunk in chunks]).take(inverse_order) for column in columns}
        for name, columns in chunks[0].items()
    }
