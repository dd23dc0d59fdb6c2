"""Metrics of an order from merged bins: as if the rows of a bin were tied, and the least and greatest that any order of them gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.call import Call
from sqlrank.engines.duckdb import Limits, session
from sqlrank.evaluation import answer
from sqlrank.library.orders import TIED
from sqlrank.library.selects import read_select
from sqlrank.library.settings import parse
from sqlrank.library.shelf import library_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.library.orders import Bound
    from sqlrank.states.asked import Ordered

ORDERS = (TIED, "worst", "best", "worst of", "best of")
"""The orders of the rows of a bin, by their numbers in ``orders.sql``."""

GROUP = "group_number"
"""The column that tells groups apart here, whatever the columns of the caller's are."""

AT_ONCE = 1_000_000
"""Bins that are evaluated at once, about: each is up to ten rows."""

Values = dict[tuple[int, str], dict[str, float | None]]
"""The metrics of each group and order."""


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

    def end(item: Ordered, group: int, bounds: Sequence[Bound], choose: Callable[[list[float]], float]) -> float | None:
        if group not in is_open:
            return _value(values, group, TIED, item.name)
        found = []
        for bound in bounds:
            borrowed = None if bound.metric is None else str(parse(bound.metric, library))
            order = bound.order if borrowed is None else f"{bound.order} of"
            found.append(_value(values, group, order, borrowed or item.name))
        known = [value for value in found if value is not None]
        return choose(known) if len(known) == len(found) else None

    columns: dict[str, dict[str, pa.Array]] = {}
    for item in metrics:
        said = {
            item.name: [_value(values, group, TIED, item.name) for group in range(groups.num_rows)],
            f"{item.name}.least": [end(item, group, item.least, min) for group in range(groups.num_rows)],
            f"{item.name}.greatest": [end(item, group, item.greatest, max) for group in range(groups.num_rows)],
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


def _value(values: Values, group: int, order: str, name: str) -> float | None:
    """Return a value, None of a group in which nothing has weight."""
    return values.get((group, order), {}).get(name)


def _orders(metrics: Sequence[Ordered]) -> list[int]:
    """Return the numbers of the orders that any of the metrics needs."""
    bounds = [bound for item in metrics for bound in (*item.least, *item.greatest)]
    named = {TIED, *(bound.order if bound.metric is None else f"{bound.order} of" for bound in bounds)}
    return [number for number, order in enumerate(ORDERS) if order in named]


def evaluated(
    metrics: Sequence[Ordered], bins: pa.Table, sql_dir: Any, policies: Mapping[str, Any], limits: Limits, only_tied: bool = False
) -> Values:
    """Return the metrics of each group in each order that any of them needs, or, ``only_tied``, as if the rows of a bin were tied."""
    orders = [ORDERS.index(TIED)] if only_tied else _orders(metrics)
    held = replace(limits, timeout=None)  # the call has a deadline of its own
    wanted = exp.In(this=exp.column("order_number", table="o"), expressions=[exp.Literal.number(order) for order in orders])
    with session(None, held) as duck:
        duck.register("bins", bins)
        rows = duck.sql(read_select("states", "orders.sql").where(wanted).sql("duckdb")).to_arrow_table()
    if not rows.num_rows:
        return {}
    asked = list(dict.fromkeys(str(metric) for item in metrics for metric in ([item.metric] if only_tied else item.metrics)))
    read = {name: value for name, value in policies.items() if any(name in item.reads for item in metrics)}
    call = Call(asked, {"predictions": rows}, {"weight": "weight"}, [GROUP], sql_dir=sql_dir, policies=read)
    found = answer(call, None, None, held, "off").to_pylist()
    return {(row[GROUP] // len(ORDERS), ORDERS[row[GROUP] % len(ORDERS)]): row for row in found}
