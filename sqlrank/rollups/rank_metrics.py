"""Evaluate rank metrics from merged bins of numbered groups, in a scratch DuckDB session."""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.engines.duckdb_session import duckdb_session, translate_duckdb_errors
from sqlrank.engines.open_database import DuckDBDatabase, Outcome
from sqlrank.engines.worker_threads import run_cancellable
from sqlrank.execution import execute_resolved
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric_resolver import parse_canonical
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.settings_checks import AS_TIED, TieBound
from sqlrank.request import Request
from sqlrank.resolve import resolve_request
from sqlrank.result_columns import BOUND_HIGH, BOUND_LOW
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.engines.resource_limits import ResourceLimits
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.registry import Registry
    from sqlrank.rollups.decomposition import RankMetric


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
        """Run ``work`` on a database that reads objects in memory, until the deadline of the call, and return its result."""

        def run_work() -> Outcome:
            with closing(DuckDBDatabase(self._connection, is_own=True)) as database:
                return work(database)

        return run_cancellable(self._connection, run_work, None)


@contextmanager
def open_scratch_session(database: Database, limits: ResourceLimits) -> Iterator[ScratchSession]:
    """Yield a session for intermediate tables: that of ``database`` if it is in memory and no user's, otherwise a new one."""
    connection = database.private_connection if isinstance(database, DuckDBDatabase) else None
    if connection is not None:
        yield ScratchSession(connection)
        return
    with duckdb_session(None, replace(limits, timeout=None)) as opened:  # the call has a deadline of its own
        yield ScratchSession(opened)


TIE_ORDERS = (AS_TIED, "worst", "best", "worst of", "best of")
"""The tie orders of the rows of a bin, by their numbers in ``numbered_bin_orderings.sql``."""

ROLLUP_GROUP_ID = "group_number"
"""The column that identifies groups, which may have any key columns."""

BoundKey = tuple[str, str]
"""A tie order, and the name of a metric."""

TieOrderValues = dict[tuple[int, str], dict[str, float | None]]
"""The metrics of each group and tie order."""


def bound_key(metric: RankMetric, bound: TieBound, library: Registry) -> BoundKey:
    """Return the tie order of a bound, and the name of the metric to evaluate."""
    return (bound.order, metric.name) if bound.metric is None else (f"{bound.order} of", str(parse_canonical(bound.metric, library)))


def evaluate_tie_orders(
    metrics: Sequence[RankMetric],
    bins: pa.Table,
    sql_dir: Any,
    policies: Mapping[str, Any],
    scratch: ScratchSession,
    only_tied: bool = False,
) -> TieOrderValues:
    """Evaluate the metrics of each group under each tie order they need.

    With ``only_tied``, all rows of a bin are treated as ties. Otherwise rows are sorted once, and ``ties`` sets the tie order. Groups with
    both open bins and bins of one score that has both classes are evaluated for each order separately.
    """
    metrics_by_key = {(AS_TIED, metric.name): metric.metric for metric in metrics}
    bounds = [(metric, bound) for metric in metrics for bound in (*metric.lower_bounds, *metric.upper_bounds) if not only_tied]
    library = registry_for(sql_dir)
    metrics_by_key |= {
        bound_key(metric, bound, library): metric.metric if bound.metric is None else parse_canonical(bound.metric, library)
        for metric, bound in bounds
    }
    read = {name: value for name, value in policies.items() if any(name in metric.policies_read for metric in metrics)}
    # A score has at most two rows: grouping them while reading is cheapest.
    call = Request((), {}, {"weight": "weight"}, [ROLLUP_GROUP_ID], sql_dir=sql_dir, policies=read, plan={"score_order": "distinct"})
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
    groups = (numbers.filter(mask).unique() for mask in (pc.invert(is_single), pc.and_(is_single, has_both)))
    return reduce(pc.and_, (pc.is_in(numbers, value_set=group_numbers) for group_numbers in groups))


def _as_ties(metrics_by_key: Mapping[BoundKey, Metric], bins: pa.Table, call: Request, scratch: ScratchSession) -> TieOrderValues:
    """Return the metrics under each tie order, set by the parameter ``ties``."""
    texts = [
        str(metric if order == AS_TIED else _with_ties(metric, order.partition(" ")[0])) for (order, _), metric in metrics_by_key.items()
    ]
    codes, columns = _evaluate_orders(texts, bins, [0], call, scratch)
    values: TieOrderValues = {}
    for (order, name), text in zip(metrics_by_key, texts, strict=True):
        for code, value in zip(codes, columns[text], strict=True):
            values.setdefault((code // len(TIE_ORDERS), order), {})[name] = value
    return values


def _one_by_one(metrics_by_key: Mapping[BoundKey, Metric], bins: pa.Table, call: Request, scratch: ScratchSession) -> TieOrderValues:
    """Return the metrics with the rows of each tie order materialized separately."""
    texts = [str(metric) for metric in metrics_by_key.values()]
    codes, columns = _evaluate_orders(texts, bins, sorted({TIE_ORDERS.index(order) for order, _ in metrics_by_key}), call, scratch)
    rows = [{text: columns[text][index] for text in texts} for index in range(len(codes))]
    return {(code // len(TIE_ORDERS), TIE_ORDERS[code % len(TIE_ORDERS)]): row for code, row in zip(codes, rows, strict=True)}


def _with_ties(metric: Metric, ties: str) -> Metric:
    return replace(metric, params=tuple(sorted((*metric.params, ("ties", ties)))))


def _evaluate_orders(
    texts: Sequence[str], bins: pa.Table, orders: Sequence[int], call: Request, scratch: ScratchSession
) -> tuple[list[int], dict[str, list[float | None]]]:
    """Return the metrics of the rows of bins under some tie orders.

    The first item has the numbers of group and order, the second the values of each metric, aligned with them.
    """
    is_needed = exp.In(this=exp.column("order_number", table="orderings"), expressions=[sql_literal(order) for order in orders])
    rows = scratch.run_query(load_select("rollups", "numbered_bin_orderings.sql").where(is_needed), bins=bins)
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
    metrics: Sequence[RankMetric], bins: pa.Table, groups: pa.Table, sql_dir: Any, policies: Mapping[str, Any], scratch: ScratchSession
) -> dict[str, dict[str, pa.Array]]:
    """Return value, lower bound and upper bound of each metric, one row per group.

    ``bins`` has one row per group and bin, and begins with the columns of ``groups``. A bin that holds a single score is a true tie, so
    that its bounds equal the value.
    """
    numbers = group_ids(groups, bins)
    bins = bins.select(range(groups.num_columns, bins.num_columns)).append_column(ROLLUP_GROUP_ID, numbers)
    values: TieOrderValues = {}
    groups_per_chunk = max(1, MAX_BINS_PER_EVALUATION * groups.num_rows // max(1, bins.num_rows))
    for first in range(0, groups.num_rows, groups_per_chunk):
        in_chunk = pc.and_(pc.greater_equal(numbers, first), pc.less(numbers, first + groups_per_chunk))
        values |= evaluate_tie_orders(
            metrics, bins.filter(in_chunk) if groups_per_chunk < groups.num_rows else bins, sql_dir, policies, scratch
        )
    is_open = set(numbers.filter(pc.not_equal(bins["score_min"], bins["score_max"]).combine_chunks()).unique().to_pylist())
    library = registry_for(sql_dir)

    def choose_value(keys: Sequence[BoundKey], group: int, choose: Callable[[list[float]], float]) -> float | None:
        order_values = [values.get((group, order), {}).get(name) for order, name in keys]
        defined_values = [value for value in order_values if value is not None]
        return choose(defined_values) if len(defined_values) == len(order_values) else None

    columns: dict[str, dict[str, pa.Array]] = {}
    for metric in metrics:
        tied_keys = [(AS_TIED, metric.name)]
        lower_keys, upper_keys = (
            [bound_key(metric, bound, library) for bound in bounds] for bounds in (metric.lower_bounds, metric.upper_bounds)
        )
        values_by_column = {
            metric.name: [choose_value(tied_keys, group, min) for group in range(groups.num_rows)],
            f"{metric.name}.{BOUND_LOW}": [
                choose_value(lower_keys if group in is_open else tied_keys, group, min) for group in range(groups.num_rows)
            ],
            f"{metric.name}.{BOUND_HIGH}": [
                choose_value(upper_keys if group in is_open else tied_keys, group, max) for group in range(groups.num_rows)
            ],
        }
        columns[metric.name] = {name: pa.array(column_values, pa.float64()) for name, column_values in values_by_column.items()}
    return columns


def group_ids(groups: pa.Table, bins: pa.Table) -> pa.Array:
    """Return the group number of each bin by its key columns; NULL equals NULL and NaN equals NaN."""
    count = groups.num_rows
    keys = pa.repeat(pa.scalar(0, pa.int64()), count + bins.num_rows)
    for index, column in enumerate(groups.columns):
        all_values = pa.chunked_array([*column.chunks, *bins.column(index).cast(column.type).chunks], column.type).combine_chunks()
        encoded = all_values.dictionary_encode("encode")
        mixed = pc.add(pc.multiply(keys, len(encoded.dictionary)), encoded.indices.cast(pa.int64()))
        keys = mixed.dictionary_encode().indices.cast(pa.int64())
    return pc.index_in(keys[count:], value_set=keys[:count]).cast(pa.int64())
