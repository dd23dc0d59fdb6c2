"""Reshape results for people: sort rows and keep the first, append the total, or write a row per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, SqlrankError, suggest_choice
from sqlrank.registry.aliases import canonical_metric
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction
from sqlrank.result_columns import BOUNDS, CI_HIGH, CI_LOW, N_BUCKETS, N_UNITS, SE
from sqlrank.result_metadata import read_canonical_names

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.registry.registry import Registry


TOTAL_QUERY = "all"
"""Query id of a total row, as in the output of trec_eval."""


def sort_and_limit(result: pa.Table, library: Registry, sort: str | None, top: int | None) -> pa.Table:
    """Sort the rows by a column and keep the first ``top``.

    Metrics sort best first, other columns ascending, and NULL last; ``-`` before the name reverses the order. Raises ``SqlrankError`` for
    an unknown column.
    """
    if sort is not None:
        import pyarrow.compute as pc  # noqa: PLC0415  a fifth of a second that most calls do without

        reverse = sort.startswith("-") and sort not in result.column_names
        name = _find_column(sort.removeprefix("-") if reverse else sort, result, library)
        canonical = read_canonical_names(result.schema.metadata)
        is_metric = str(result.schema.field(name).type) == "double"
        is_descending = (is_metric and better_direction(canonical.get(name, name), library) != "lower") is not reverse
        keys = [(name, "descending" if is_descending else "ascending")]
        result = result.take(pc.sort_indices(result, sort_keys=keys))  # NULL last by default; saying so is deprecated
    return result if top is None else result.slice(0, min(top, result.num_rows))


def _find_column(name: str, result: pa.Table, library: Registry) -> str:
    """Return the column of a name, which may be another name of a metric."""
    available = result.column_names
    if name in available:
        return name
    try:
        metric = canonical_metric(parse_metric_text(name), library)
        canonical = str(type(metric)(library.file_for(metric).display_name, metric.params, metric.cutoff))
    except MetricError:
        canonical = name
    requested = {metric: column for column, metric in read_canonical_names(result.schema.metadata).items() if column in available}
    if canonical not in available and canonical not in requested:
        raise SqlrankError(suggest_choice(f"--sort: the result has no column {name!r}", name, available, "There are"))
    return canonical if canonical in available else requested[canonical]


def append_total(per_query: pa.Table, total: pa.Table) -> pa.Table:
    """Append the total rows to the per-query rows, under the query id ``all``."""
    import pyarrow as pa  # noqa: PLC0415  help does not need it

    index = per_query.column_names.index("query_id")
    texts = per_query["query_id"].cast(pa.string())
    rows = per_query.set_column(index, "query_id", texts)
    query_ids: Any = pa.array([TOTAL_QUERY] * total.num_rows, pa.string())
    return pa.concat_tables([rows, total.add_column(index, "query_id", query_ids)]).replace_schema_metadata(per_query.schema.metadata)


def to_long_format(result: pa.Table) -> pa.Table:
    """Convert a result with intervals to long format: one row per result row and metric.

    Columns: the key columns, ``metric`` (string), ``value``, the bounds ``bound_low`` and ``bound_high`` of a rollup, ``ci_low`` and
    ``ci_high`` (float64), ``n_units`` or ``n_buckets`` (int64), and the remaining columns.
    """
    metrics = [name for name in result.column_names if f"{name}.{CI_LOW}" in result.column_names]
    availability = {
        limit: any(f"{name}.{limit}" in result.column_names for name in metrics) for limit in (*BOUNDS, CI_LOW, CI_HIGH, N_UNITS, N_BUCKETS)
    }
    limit_columns = [limit for limit, is_available in availability.items() if is_available]
    first_metric = result.column_names.index(metrics[0])
    keys = result.column_names[:first_metric]
    limits = {f"{name}.{limit}" for name in metrics for limit in (*limit_columns, SE)}
    remaining_columns = [name for name in result.column_names[first_metric:] if name not in {*metrics, *limits}]
    rows = [
        {key: row[key] for key in keys}
        | {"metric": name, "value": row[name]}
        | {limit: row.get(f"{name}.{limit}") for limit in limit_columns}
        | {column: row[column] for column in remaining_columns}
        for row in result.to_pylist()
        for name in metrics
    ]
    return type(result).from_pylist(rows)
