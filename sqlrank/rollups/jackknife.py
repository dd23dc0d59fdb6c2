"""Compute standard errors and t intervals of a rollup's metrics by the jackknife over buckets, and
rank metrics from merged bins.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.call.request import Request
from sqlrank.call.resolve import resolve_request
from sqlrank.cancellation import run_cancellable
from sqlrank.compiler.statement import BUCKET_COLUMN
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import duckdb_session, translate_duckdb_errors
from sqlrank.errors import InputError
from sqlrank.inference import (
    clear_rounding_noise,
    t_interval,
    weighted_mean_standard_error,
)
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric_resolver import parse_canonical
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.resolved_metric import ResolvedMetric, limit_bounds
from sqlrank.registry.settings_checks import AS_TIED, TieBound
from sqlrank.result_columns import (
    BOUND_HIGH,
    BOUND_LOW,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    NUM_ROWS,
    SE,
)
from sqlrank.rollups.decomposition import AdditiveMetric, PerQueryMetric, RankMetric, RollupMetrics
from sqlrank.run.execution import execute_resolved
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlrank.call.request import ResourceLimits
    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import Outcome
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.registry import Registry
    from sqlrank.rollups.merge import MergeQuery


class ScratchSession:
    """A DuckDB session in memory for the intermediate tables of a call."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run_query(self, query: exp.Query, **tables: pa.Table) -> pa.Table:
        """Return the result of a query over Arrow tables, which it reads by their names."""
        try:
            with translate_duckdb_errors():
                for name, table in tables.items():
                    self._connection.register(name, table)
                return self._connection.sql(query.sql("duckdb")).to_arrow_table()
        finally:
            for name in tables:
                with suppress(duckdb.Error):
                    self._connection.unregister(name)

    def run(self, work: Callable[[Database], Outcome]) -> Outcome:
        """Run ``work`` on a database that reads objects in memory, until the deadline of the call,
        and return its result.
        """

        def run_work() -> Outcome:
            with closing(DuckDBDatabase(self._connection, is_own=True)) as database:
                return work(database)

        return run_cancellable(self._connection, run_work, None)


@contextmanager
def open_scratch_session(database: Database, limits: ResourceLimits) -> Iterator[ScratchSession]:
    """Yield a session for intermediate tables: that of ``database`` if it is in memory and no
    user's, otherwise a new one.
    """
    connection = database.private_connection if isinstance(database, DuckDBDatabase) else None
    if connection is not None:
        yield ScratchSession(connection)
        return
    with duckdb_session(
        None, replace(limits, timeout=None)
    ) as opened:  # the call has a deadline of its own
        yield ScratchSession(opened)


TIE_ORDERS = (AS_TIED, "worst", "best", "worst of", "best of")
"""The tie orders of the rows of a bin, by their numbers in ``numbered_bin_orderings.sql``."""

ROLLUP_GROUP_ID = "group_number"
"""The column that identifies groups, which may have any key columns."""

MetricColumns = dict[str, dict[str, pa.Array]]
"""Result columns by metric, with one row per group."""

BoundKey = tuple[str, str]
"""A tie order, and the name of a metric."""

TieOrderValues = dict[tuple[int, str], dict[str, float | None]]
"""The metrics of each group and tie order."""


def bound_key(metric: RankMetric, bound: TieBound, library: Registry) -> BoundKey:
    """Return the tie order of a bound, and the name of the metric to evaluate."""
    return (
        (bound.order, metric.name)
        if bound.metric is None
        else (f"{bound.order} of", str(parse_canonical(bound.metric, library)))
    )


def list_tie_orders(
    metrics: Sequence[RankMetric], library: Registry, only_tied: bool = False
) -> dict[BoundKey, Metric]:
    """Return the metrics to evaluate by tie order and name: the values, and unless ``only_tied``
    their bounds.
    """
    orders = {(AS_TIED, metric.name): metric.metric for metric in metrics}
    for metric in () if only_tied else metrics:
        for bound in (*metric.lower_bounds, *metric.upper_bounds):
            orders[bound_key(metric, bound, library)] = (
                metric.metric if bound.metric is None else parse_canonical(bound.metric, library)
            )
    return orders


def select_policies(metrics: Sequence[RankMetric], policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies that any of the metrics reads."""
    return {
        name: value
        for name, value in policies.items()
        if any(name in metric.policies_read for metric in metrics)
    }


def evaluate_tie_orders(
    metrics: Sequence[RankMetric],
    bins: pa.Table,
    call: Request,
    scratch: ScratchSession,
    only_tied: bool = False,
) -> TieOrderValues:
    """Evaluate the metrics of each group under each tie order they need.

    With ``only_tied``, all rows of a bin are treated as ties. Otherwise rows are sorted once, and
    ``ties`` sets the tie order. Groups with both open bins and bins of one score that has both
    classes are evaluated for each order separately.
    """
    metrics_by_key = list_tie_orders(metrics, registry_for(call.sql_dir), only_tied)
    # A score has at most two rows: grouping them while reading is cheapest.
    call = Request(
        (),
        {},
        {"weight": "weight"},
        [ROLLUP_GROUP_ID],
        sql_dir=call.sql_dir,
        policies=select_policies(metrics, call.policies),
        plan={"score_order": "distinct"},
    )
    is_mixed = _is_mixed(bins)
    if only_tied or not pc.any(is_mixed).as_py():
        return _as_ties(metrics_by_key, bins, call, scratch)
    return _as_ties(metrics_by_key, bins.filter(pc.invert(is_mixed)), call, scratch) | _one_by_one(
        metrics_by_key, bins.filter(is_mixed), call, scratch
    )


def _is_mixed(bins: pa.Table) -> pa.ChunkedArray:
    """Return a boolean per bin: True if its group mixes open bins with tied classes.

    Open bins hold several scores. Classes are tied in a bin with a single score and both classes.
    """
    numbers, is_single = bins[ROLLUP_GROUP_ID], pc.equal(bins["score_min"], bins["score_max"])
    has_both = pc.and_(pc.not_equal(bins["positives"], 0), pc.not_equal(bins["negatives"], 0))
    groups = (
        numbers.filter(mask).unique()
        for mask in (pc.invert(is_single), pc.and_(is_single, has_both))
    )
    return reduce(pc.and_, (pc.is_in(numbers, value_set=group_numbers) for group_numbers in groups))


def _as_ties(
    metrics_by_key: Mapping[BoundKey, Metric],
    bins: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> TieOrderValues:
    """Return the metrics under each tie order, set by the parameter ``ties``."""
    texts = [
        str(metric if order == AS_TIED else _with_ties(metric, order.partition(" ")[0]))
        for (order, _), metric in metrics_by_key.items()
    ]
    codes, columns = _evaluate_orders(texts, bins, [0], call, scratch)
    values: TieOrderValues = {}
    for (order, name), text in zip(metrics_by_key, texts, strict=True):
        for code, value in zip(codes, columns[text], strict=True):
            values.setdefault((code // len(TIE_ORDERS), order), {})[name] = value
    return values


def _one_by_one(
    metrics_by_key: Mapping[BoundKey, Metric],
    bins: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> TieOrderValues:
    """Return the metrics with the rows of each tie order materialized separately."""
    texts = [str(metric) for metric in metrics_by_key.values()]
    codes, columns = _evaluate_orders(
        texts, bins, sorted({TIE_ORDERS.index(order) for order, _ in metrics_by_key}), call, scratch
    )
    rows = [{text: columns[text][index] for text in texts} for index in range(len(codes))]
    return {
        (code // len(TIE_ORDERS), TIE_ORDERS[code % len(TIE_ORDERS)]): row
        for code, row in zip(codes, rows, strict=True)
    }


def _with_ties(metric: Metric, ties: str) -> Metric:
    return replace(metric, params=tuple(sorted((*metric.params, ("ties", ties)))))


def load_bin_orderings(file: str, orders: Sequence[int]) -> exp.Select:
    """Return the query of a file that orders the rows of bins, for some tie orders."""
    is_needed = exp.column("order_number", table="orderings").isin(*orders)
    return load_select("analyses/rollups", file).where(is_needed)


def _evaluate_orders(
    texts: Sequence[str],
    bins: pa.Table,
    orders: Sequence[int],
    call: Request,
    scratch: ScratchSession,
) -> tuple[list[int], dict[str, list[float | None]]]:
    """Return the metrics of the rows of bins under some tie orders.

    The first item has the numbers of group and order, the second the values of each metric, aligned
    with them.
    """
    query = load_bin_orderings("numbered_bin_orderings.sql", orders)
    rows = scratch.run_query(query, bins=bins)
    if not rows.num_rows:
        return [], {text: [] for text in texts}
    metric_texts = list(dict.fromkeys(texts))
    question = resolve_request(replace(call, metrics=metric_texts, sources={"predictions": rows}))
    result = scratch.run(lambda database: execute_resolved(question, database, "off"))
    codes, *columns = (column.to_pylist() for column in result.columns)
    return codes, dict(zip(metric_texts, columns, strict=True))


MAX_BINS_PER_EVALUATION = 1_000_000
"""Maximum number of bins evaluated at once, approximately; a bin yields two to ten rows."""


def rank_metrics_with_bounds(
    metrics: Sequence[RankMetric],
    merge_query: MergeQuery,
    groups: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> MetricColumns:
    """Return value, lower bound and upper bound of each metric, one row per group.

    A bin that holds a single score is a true tie, so that its bounds equal the value.
    """
    bins = merge_query.merged_bins
    numbers = group_ids(groups, bins)
    bins = bins.select(range(groups.num_columns, bins.num_columns)).append_column(
        ROLLUP_GROUP_ID, numbers
    )
    values: TieOrderValues = {}
    groups_per_chunk = max(1, MAX_BINS_PER_EVALUATION * groups.num_rows // max(1, bins.num_rows))
    for (chunk,) in _iterate_chunks(groups.num_rows, groups_per_chunk, bins):
        values |= evaluate_tie_orders(metrics, chunk, call, scratch)
    is_open = set(
        numbers.filter(pc.not_equal(bins["score_min"], bins["score_max"]).combine_chunks())
        .unique()
        .to_pylist()
    )
    library = registry_for(call.sql_dir)

    def choose_value(
        keys: Sequence[BoundKey], group: int, choose: Callable[[list[float]], float]
    ) -> float | None:
        order_values = [values.get((group, order), {}).get(name) for order, name in keys]
        defined_values = [value for value in order_values if value is not None]
        return choose(defined_values) if len(defined_values) == len(order_values) else None

    columns: MetricColumns = {}
    for metric in metrics:
        columns[metric.name] = {}
        for suffix, bounds, choose in (
            ("", (), min),
            (f".{BOUND_LOW}", metric.lower_bounds, min),
            (f".{BOUND_HIGH}", metric.upper_bounds, max),
        ):
            tied_keys = [(AS_TIED, metric.name)]
            keys = [bound_key(metric, bound, library) for bound in bounds] or tied_keys
            chosen = [
                choose_value(keys if group in is_open else tied_keys, group, choose)
                for group in range(groups.num_rows)
            ]
            columns[metric.name][f"{metric.name}{suffix}"] = pa.array(chosen, pa.float64())
    return columns


def group_ids(groups: pa.Table, bins: pa.Table) -> pa.Array:
    """Return the group number of each bin by its key columns; NULL equals NULL and NaN equals
    NaN.
    """
    count = groups.num_rows
    keys = pa.repeat(pa.scalar(0, pa.int64()), count + bins.num_rows)
    for index, column in enumerate(groups.columns):
        all_values = pa.chunked_array(
            [*column.chunks, *bins.column(index).cast(column.type).chunks], column.type
        ).combine_chunks()
        if pa.types.is_nested(column.type):  # which Arrow does not compare
            all_values = pa.array(
                None if value is None else repr(value) for value in all_values.to_pylist()
            )
        encoded = all_values.dictionary_encode("encode")
        mixed = pc.add(pc.multiply(keys, len(encoded.dictionary)), encoded.indices.cast(pa.int64()))
        keys = mixed.dictionary_encode().indices.cast(pa.int64())
    return pc.index_in(keys[count:], value_set=keys[:count]).cast(pa.int64())


METRIC_NUMBER, VALUE_COLUMN = "metric_number", "value"
"""Column names: the number of the metric, and its value."""

StandardErrors = dict[tuple[int, int], tuple[int, float | None]]
"""The number of buckets and the standard error, by the numbers of group and metric."""


def leave_one_out_values(
    metrics: RollupMetrics,
    merge_query: MergeQuery,
    groups: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> pa.Table:
    """Return the metrics of each group with one bucket left out at a time.

    Columns: ``group_number`` (row number in ``groups``), ``bucket``, ``metric_number`` (position in
    the request, int64) and ``value`` (float64, NULL if undefined). There is one row per group,
    metric and bucket; buckets that add nothing to the sums of a metric are omitted.
    """
    metrics = metrics.resolve_weights(merge_query.table.has_column)
    bucket_query = replace(merge_query, by=[*merge_query.by, BUCKET_COLUMN])
    tables = _leave_out_sums(metrics, bucket_query, groups, scratch) | (
        _leave_out_orders(metrics, bucket_query, groups, call, scratch)
        if metrics.rank_based
        else {}
    )
    numbered_tables = []
    for metric_number, metric in enumerate(metrics.metrics):
        table = tables[metric.name]
        numbered_tables.append(
            table.add_column(
                2, METRIC_NUMBER, pa.repeat(pa.scalar(metric_number, pa.int64()), table.num_rows)
            )
        )
    return pa.concat_tables(numbered_tables)


def jackknife_standard_errors(leave_one_out: pa.Table, scratch: ScratchSession) -> StandardErrors:
    """Return the jackknife standard error of each metric of each group."""
    rows = scratch.run_query(
        load_select("analyses/rollups", "jackknife_errors.sql"), left_out=leave_one_out
    )
    return {
        (group, metric): (units, error)
        for group, metric, units, error in zip(
            *(column.to_pylist() for column in rows.columns), strict=True
        )
    }


def leave_one_out_differences(
    reference: pa.Table,
    current: pa.Table,
    full_values: Mapping[tuple[int, int], tuple[float | None, float | None]],
    scratch: ScratchSession,
) -> pa.Table:
    """Return leave-one-bucket-out differences of metrics, with the bucket left out of both sides.

    ``full_values`` has the values of both sides with all buckets.
    """
    keys = list(full_values)
    numbers = {
        ROLLUP_GROUP_ID: [group for group, _ in keys],
        METRIC_NUMBER: [metric for _, metric in keys],
    }
    values = {
        name: [full_values[key][side] for key in keys]
        for side, name in enumerate(("value_reference", "value_current"))
    }
    schema = pa.schema(
        [*((name, pa.int64()) for name in numbers), *((name, pa.float64()) for name in values)]
    )
    tables = {
        "left_out_reference": reference,
        "left_out_current": current,
        "full_values": pa.table(numbers | values, schema=schema),
    }
    return scratch.run_query(load_select("analyses/rollups", "bucket_differences.sql"), **tables)


def _leave_out_sums(
    metrics: RollupMetrics, bucket_query: MergeQuery, groups: pa.Table, scratch: ScratchSession
) -> dict[str, pa.Table]:
    """Return leave-one-bucket-out values of additive metrics, by name, from the sums of the other
    buckets.
    """
    merge_functions = metrics.merge_functions
    merged_metrics = tuple(
        AdditiveMetric(name, {name: tree}, merge_functions[name](this=exp.column(name)))
        for name, tree in metrics.aggregates.items()
    )
    table = bucket_query.merge_aggregates(RollupMetrics(merged_metrics))
    bucket = table[f"key_{len(bucket_query.by) - 1}"]
    if bucket.null_count:
        raise InputError(
            f"rollup: {BUCKET_COLUMN} is NULL in some rows of {bucket_query.table.table.label},"
            f" whose unit was NULL and was not checked. Leave them out by where='{BUCKET_COLUMN} IS"
            " NOT NULL'"
        )
    columns = {
        ROLLUP_GROUP_ID: group_ids(groups, table),
        BUCKET_COLUMN: bucket.cast(pa.int64()),
        NUM_ROWS: table[NUM_ROWS],
        **{name: table[name] for name in merge_functions},
    }
    query = _leave_out_query(metrics.additive, merge_functions)
    values = scratch.run_query(query, parts=pa.table(columns))
    return {
        metric.name: (
            values.select([ROLLUP_GROUP_ID, BUCKET_COLUMN, f"metric_{index}"])
            .rename_columns([ROLLUP_GROUP_ID, BUCKET_COLUMN, VALUE_COLUMN])
            .filter(values[f"added_{index}"])
        )
        for index, metric in enumerate(metrics.additive)
    }


def _leave_out_query(
    metrics: Sequence[AdditiveMetric], merge_functions: Mapping[str, type[exp.AggFunc]]
) -> exp.Select:
    """Return the query of the metrics of each group and bucket, from the sums of the other buckets
    in ``parts``.
    """
    window: dict[str, Any] = {
        "partition_by": [exp.column(ROLLUP_GROUP_ID)],
        "order": exp.Order(expressions=[exp.Ordered(this=exp.column(BUCKET_COLUMN))]),
        "spec": exp.WindowSpec(
            kind="ROWS",
            start="UNBOUNDED",
            start_side="PRECEDING",
            end="UNBOUNDED",
            end_side="FOLLOWING",
            exclude=exp.var("CURRENT ROW"),
        ),
    }
    sums_without_bucket = [
        exp.Window(this=merge_functions[name](this=exp.column(name)), **window).as_(name)
        for name in merge_functions
    ]
    added = [
        _changes_sums(metric.aggregates).as_(f"added_{index}")
        for index, metric in enumerate(metrics)
    ]
    inner = (
        exp.select(ROLLUP_GROUP_ID, BUCKET_COLUMN, *sums_without_bucket, *added)
        .from_("parts")
        .where(exp.column(NUM_ROWS).neq(0))
        .subquery("o")
    )
    select_items = [
        exp.cast(metric.formula, "DOUBLE").as_(f"metric_{index}")
        for index, metric in enumerate(metrics)
    ]
    select_items += [
        exp.Max(this=exp.column(select_item.alias)).as_(select_item.alias) for select_item in added
    ]
    return (
        exp.select(ROLLUP_GROUP_ID, BUCKET_COLUMN, *select_items)
        .from_(inner)
        .group_by(ROLLUP_GROUP_ID, BUCKET_COLUMN)
        .order_by(ROLLUP_GROUP_ID, BUCKET_COLUMN)
    )


def _changes_sums(aggregates: Iterable[str]) -> exp.Expr:
    """Return the condition that a bucket adds something to the sums of a metric."""
    return exp.or_(
        *(exp.func("COALESCE", exp.column(name), sql_literal(0)).neq(0) for name in aggregates)
    )


def _leave_out_orders(
    metrics: RollupMetrics,
    bucket_query: MergeQuery,
    groups: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> dict[str, pa.Table]:
    """Return leave-one-bucket-out values of rank metrics, by name, for chunks of groups."""
    bins = bucket_query.merged_bins
    bucket = bins[f"key_{len(bucket_query.by) - 1}"].cast(pa.int64())
    group_numbers = group_ids(groups, bins)
    bins = (
        bins.select(["bin", "positives", "negatives", "score_min", "score_max"])
        .append_column(ROLLUP_GROUP_ID, group_numbers)
        .append_column(BUCKET_COLUMN, bucket)
    )
    nonempty_bins = bins.filter(
        pc.or_(pc.not_equal(bins["positives"], 0), pc.not_equal(bins["negatives"], 0))
    )
    pairs = (
        nonempty_bins.group_by([ROLLUP_GROUP_ID, BUCKET_COLUMN])
        .aggregate([])
        .sort_by([(ROLLUP_GROUP_ID, "ascending"), (BUCKET_COLUMN, "ascending")])
    )
    pairs = pairs.append_column("pair_number", pa.array(range(pairs.num_rows), pa.int64()))
    groups_per_chunk = max(
        1, MAX_BINS_PER_EVALUATION * groups.num_rows // max(1, _max_left_out_bins(bins, pairs))
    )
    values: dict[int, Mapping[str, float | None]] = {}
    for chunk_bins, chunk_pairs in _iterate_chunks(groups.num_rows, groups_per_chunk, bins, pairs):
        rows = scratch.run_query(
            load_select("analyses/rollups", "leave_one_bucket_out.sql"),
            bucket_bins=chunk_bins,
            pairs=chunk_pairs,
        )
        order_values = evaluate_tie_orders(metrics.rank_based, rows, call, scratch, only_tied=True)
        values |= {
            pair_number: row
            for (pair_number, order), row in order_values.items()
            if order == AS_TIED
        }
    values_by_pair = [values.get(pair_number, {}) for pair_number in range(pairs.num_rows)]
    pairs = pairs.select([ROLLUP_GROUP_ID, BUCKET_COLUMN])
    return {
        metric.name: pairs.append_column(
            VALUE_COLUMN,
            pa.array(
                [pair_values.get(metric.name) for pair_values in values_by_pair], pa.float64()
            ),
        )
        for metric in metrics.rank_based
    }


def _iterate_chunks(
    num_groups: int, groups_per_chunk: int, *tables: pa.Table
) -> Iterator[list[pa.Table]]:
    """Yield the rows of tables for so many groups at a time."""
    for first in range(0, num_groups, groups_per_chunk):
        yield [
            table
            if groups_per_chunk >= num_groups
            else table.filter(
                pc.and_(
                    pc.greater_equal(table[ROLLUP_GROUP_ID], first),
                    pc.less(table[ROLLUP_GROUP_ID], first + groups_per_chunk),
                )
            )
            for table in tables
        ]


def _max_left_out_bins(bins: pa.Table, pairs: pa.Table) -> int:
    """Return the maximum number of bins to evaluate: the bins of all groups times the most buckets
    of any group.
    """
    bucket_counts: Sequence[int] = (
        pairs.group_by(ROLLUP_GROUP_ID)
        .aggregate([(BUCKET_COLUMN, "count")])[f"{BUCKET_COLUMN}_count"]
        .to_pylist()
    )
    return int(bins.group_by([ROLLUP_GROUP_ID, "bin"]).aggregate([]).num_rows) * max(
        bucket_counts, default=1
    )


WEIGHT_SUMS = {
    "weights": "count",
    "total": "total",
    "squared_weights": "count",
    "products": "total",
    "squares": "squares",
}
"""The sums behind the standard error of a weighted mean, each with its unweighted counterpart."""

SUPPORTED_MEANS = (None, "mean", "wmean", "gmean")
"""Aggregate functions of per-query values that have a standard error."""

IntervalColumns = dict[str, dict[str, list[Any]]]
"""Interval columns by metric, with one value per group."""


def metrics_with_interval(
    metrics: RollupMetrics, resolved_metrics: Sequence[ResolvedMetric]
) -> RollupMetrics:
    """Return the metrics that have an interval: not counts, totals, minima or maxima."""
    pairs = zip(metrics.metrics, resolved_metrics, strict=True)
    return RollupMetrics(
        tuple(
            metric
            for metric, resolved_metric in pairs
            if not resolved_metric.file.interval.no_interval
            and resolved_metric.settings.get("aggregate") in SUPPORTED_MEANS
        )
    )


def bucket_standard_errors(
    metrics: RollupMetrics,
    merge_query: MergeQuery,
    groups: pa.Table,
    call: Request,
    scratch: ScratchSession,
) -> MetricColumns:
    """Return standard errors and numbers of buckets by metric, with one value per group."""
    errors = (
        jackknife_standard_errors(
            leave_one_out_values(metrics, merge_query, groups, call, scratch), scratch
        )
        if metrics.metrics
        else {}
    )
    return {
        metric.name: _build_columns(errors, metric_number, groups.num_rows)
        for metric_number, metric in enumerate(metrics.metrics)
    }


def mean_standard_errors(means: Sequence[PerQueryMetric], table: pa.Table) -> MetricColumns:
    """Return standard errors and counts of means over queries, treating queries as independent."""
    standard_errors = {}
    for metric in means:
        moments = {
            moment.name.removeprefix(f"{metric.name}."): table[moment.name].to_pylist()
            for moment in metric.moments
        }
        counts = moments["count"]
        moment_columns = [moments.get(name, moments[plain]) for name, plain in WEIGHT_SUMS.items()]
        errors = [
            weighted_mean_standard_error(*sums)
            for sums in zip(counts, *moment_columns, strict=True)
        ]
        standard_errors[metric.name] = {
            SE: pa.array(errors, pa.float64()),
            N_UNITS: pa.array(counts, pa.float64()).cast(pa.int64()),
        }
    return standard_errors


def _bucket_interval(
    value: float | None, error: float | None, n_units: int | None, level: float
) -> tuple[float | None, float | None]:
    """Return the limits of the t interval of buckets or units, None if these do not differ."""
    if value is None or error is None or n_units is None:
        return None, None
    return t_interval(value, clear_rounding_noise(error, value), n_units - 1, level)


def interval_columns(
    values: MetricColumns,
    standard_errors: Mapping[str, Mapping[str, Any]],
    resolved_metrics: Sequence[ResolvedMetric],
    level: float,
    count_column: str,
) -> IntervalColumns:
    """Return the interval columns of all metrics by name, NULL for metrics without an interval.

    ``count_column`` is the name of the column of the number of units or buckets.
    """
    columns: IntervalColumns = {}
    for metric in resolved_metrics:
        name = str(metric.metric)
        metric_values = values[name][name].to_pylist()
        errors, counts = (
            (
                standard_errors[name][column].to_pylist()
                if name in standard_errors
                else [None] * len(metric_values)
            )
            for column in (SE, count_column)
        )
        bounds = limit_bounds(metric)
        limits = [
            _clip_limits(_bucket_interval(value, error, n_units, level), value, bounds)
            for value, error, n_units in zip(metric_values, errors, counts, strict=True)
        ]
        limit_columns = {
            CI_LOW: [low for low, _ in limits],
            CI_HIGH: [high for _, high in limits],
            SE: errors,
            count_column: counts,
        }
        columns[name] = {
            f"{name}.{suffix}": pa.array(
                column_values, pa.int64() if suffix == count_column else pa.float64()
            )
            for suffix, column_values in limit_columns.items()
        }
    return columns


def _clip_limits(
    limits: tuple[float | None, float | None],
    value: float | None,
    bounds: tuple[float, float] | None,
) -> tuple[float | None, float | None]:
    """Clip limits to the range of the metric; a limit is not moved past the value itself."""
    low, high = limits
    if bounds is None or value is None or low is None or high is None:
        return limits
    return max(low, min(bounds[0], value)), min(high, max(bounds[1], value))


def _build_columns(errors: StandardErrors, metric_number: int, count: int) -> dict[str, pa.Array]:
    pairs = [errors.get((group, metric_number), (None, None)) for group in range(count)]
    return {
        SE: pa.array([error for _, error in pairs], pa.float64()),
        N_BUCKETS: pa.array([n_buckets for n_buckets, _ in pairs], pa.int64()),
    }
