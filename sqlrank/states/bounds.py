"""Metrics of an order from merged bins: as if the rows of a bin were tied, and the least and greatest that any order of them gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.library.orders import TIED
from sqlrank.library.shelf import library_of
from sqlrank.states.orders import GROUP, evaluated, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.engines.duckdb import Limits
    from sqlrank.states.asked import Ordered
    from sqlrank.states.orders import Key, Values

AT_ONCE = 1_000_000
"""Bins that are evaluated at once, about: each is two rows, or up to ten."""


def bounded(
    metrics: Sequence[Ordered], bins: pa.Table, groups: pa.Table, sql_dir: Any, policies: Mapping[str, Any], limits: Limits
) -> dict[str, dict[str, pa.Array]]:
    """Return by metric the columns of its value, and of the least and greatest that is possible, with a number for each of the groups.

    ``bins`` has a row per group and bin, and begins with the columns of ``groups``; a bin that holds a single score is tied indeed.
    """
    numbers = places_of(groups, bins)
    bins = bins.select(range(groups.num_columns, bins.num_columns)).append_column(GROUP, numbers)
    values: Values = {}
    step = max(1, AT_ONCE * groups.num_rows // max(1, bins.num_rows))
    for first in range(0, groups.num_rows, step):
        some = pc.and_(pc.greater_equal(numbers, first), pc.less(numbers, first + step))
        values |= evaluated(metrics, bins.filter(some) if step < groups.num_rows else bins, sql_dir, policies, limits)
    is_open = set(numbers.filter(pc.not_equal(bins["score_min"], bins["score_max"]).combine_chunks()).unique().to_pylist())
    library = library_of(sql_dir)

    def end(keys: Sequence[Key], group: int, choose: Callable[[list[float]], float]) -> float | None:
        found = [values.get((group, order), {}).get(name) for order, name in keys]
        known = [value for value in found if value is not None]
        return choose(known) if len(known) == len(found) else None

    columns: dict[str, dict[str, pa.Array]] = {}
    for item in metrics:
        tied = [(TIED, item.name)]
        least, greatest = ([key_of(item, bound, library) for bound in bounds] for bounds in (item.least, item.greatest))
        said = {
            item.name: [end(tied, group, min) for group in range(groups.num_rows)],
            f"{item.name}.least": [end(least if group in is_open else tied, group, min) for group in range(groups.num_rows)],
            f"{item.name}.greatest": [end(greatest if group in is_open else tied, group, max) for group in range(groups.num_rows)],
        }
        columns[item.name] = {name: pa.array(found, pa.float64()) for name, found in said.items()}
    return columns


def places_of(groups: pa.Table, bins: pa.Table) -> pa.Array:
    """Return the number of the group of each bin, by the first columns, under which NULL is NULL and NaN is NaN."""
    count = groups.num_rows
    keys = pa.repeat(pa.scalar(0, pa.int64()), count + bins.num_rows)
    for place, column in enumerate(groups.columns):
        both = pa.chunked_array([*column.chunks, *bins.column(place).cast(column.type).chunks], column.type).combine_chunks()
        found = both.dictionary_encode("encode")
        mixed = pc.add(pc.multiply(keys, len(found.dictionary)), found.indices.cast(pa.int64()))
        keys = mixed.dictionary_encode().indices.cast(pa.int64())
    return pc.index_in(keys[count:], value_set=keys[:count]).cast(pa.int64())
