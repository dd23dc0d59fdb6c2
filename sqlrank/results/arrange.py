"""Which rows of a result are shown, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, SqlrankError, suggestion
from sqlrank.library.known import ours
from sqlrank.library.listing import better
from sqlrank.library.metric import read

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.library.library import Library

ALL = "all"
"""What stands for the query in a total, as in the output of trec_eval."""


def arranged(result: pa.Table, library: Library, sort: str | None, top: int | None) -> pa.Table:
    """Return the rows by a column, a metric best first and others ascending, NULL last; ``-`` before the name reverses that.

    ``top`` keeps the first rows. Raises ``SqlrankError`` for a column that is not there.
    """
    if sort is not None:
        import pyarrow.compute as pc  # noqa: PLC0415  a fifth of a second that most calls do without

        reverse = sort.startswith("-") and sort not in result.column_names
        name = _column(sort.removeprefix("-") if reverse else sort, result, library)
        is_metric = str(result.schema.field(name).type) == "double"
        falls = (is_metric and better(name, library) != "lower") is not reverse
        keys = [(name, "descending" if falls else "ascending")]
        result = result.take(pc.sort_indices(result, sort_keys=keys))  # NULL last by default; saying so is deprecated
    return result if top is None else result.slice(0, top)


def _column(name: str, result: pa.Table, library: Library) -> str:
    """Return the column that is meant, which may be a metric under another name."""
    there = result.column_names
    if name in there:
        return name
    try:
        metric = ours(read(name), library)
        canonical = str(type(metric)(library.asked(metric).display_name, metric.params, metric.cutoff))
    except MetricError:
        canonical = name
    if canonical not in there:
        raise SqlrankError(f"--sort: the result has no column {name!r}{suggestion(name, there)} There are: {', '.join(there)}")
    return canonical


def with_total(per_query: pa.Table, total: pa.Table) -> pa.Table:
    """Return the rows per query, and below them those of the total, whose query is called ``all``."""
    import pyarrow as pa  # noqa: PLC0415  help does not need it

    place = per_query.column_names.index("query_id")
    texts = per_query["query_id"].cast(pa.string())
    rows = per_query.set_column(place, "query_id", texts)
    named: Any = pa.array([ALL] * total.num_rows, pa.string())
    return pa.concat_tables([rows, total.add_column(place, "query_id", named)]).replace_schema_metadata(per_query.schema.metadata)
