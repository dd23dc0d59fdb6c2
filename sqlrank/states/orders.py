"""Metrics of an order from merged bins, in the orders that the rows of a bin could have."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.call import Call
from sqlrank.engines.duckdb import Limits, session
from sqlrank.evaluation import answer
from sqlrank.library.orders import TIED
from sqlrank.library.selects import read_select
from sqlrank.library.settings import parse
from sqlrank.library.shelf import library_of
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from sqlrank.library.library import Library
    from sqlrank.library.metric import Metric
    from sqlrank.library.orders import Bound
    from sqlrank.states.asked import Ordered

ORDERS = (TIED, "worst", "best", "worst of", "best of")
"""The orders of the rows of a bin, by their numbers in ``orders.sql``."""

GROUP = "group_number"
"""The column that tells groups apart here, whatever the columns of the caller's are."""

Key = tuple[str, str]
"""An order, and what a metric is called."""

Values = dict[tuple[int, str], dict[str, float | None]]
"""The metrics of each group and order."""


def key_of(item: Ordered, bound: Bound, library: Library) -> Key:
    """Return the order of a bound, and what the metric is called that is evaluated in it."""
    return (bound.order, item.name) if bound.metric is None else (f"{bound.order} of", str(parse(bound.metric, library)))


def evaluated(
    metrics: Sequence[Ordered], bins: pa.Table, sql_dir: Any, policies: Mapping[str, Any], limits: Limits, only_tied: bool = False
) -> Values:
    """Return the metrics of each group in each order that any of them needs, or, ``only_tied``, as if the rows of a bin were tied.

    Bins are put in order once, as ties that ``ties`` then has in each order. A group with classes that are tied at a single score, which no
    order parts, beside bins that are open has its rows in each order by themselves.
    """
    asked = {(TIED, item.name): item.metric for item in metrics}
    bounds = [(item, bound) for item in metrics for bound in (*item.least, *item.greatest) if not only_tied]
    library = library_of(sql_dir)
    asked |= {key_of(item, bound, library): item.metric if bound.metric is None else parse(bound.metric, library) for item, bound in bounds}
    read = {name: value for name, value in policies.items() if any(name in item.reads for item in metrics)}
    # A score has two rows at most: they are added up as they are read.
    call = Call((), {}, {"weight": "weight"}, [GROUP], sql_dir=sql_dir, policies=read, plan={"order": "grouped"})
    held = replace(limits, timeout=None)  # the call has a deadline of its own
    is_mixed = _is_mixed(bins)
    if only_tied or not pc.any(is_mixed).as_py():
        return _as_ties(asked, bins, call, held)
    return _as_ties(asked, bins.filter(pc.invert(is_mixed)), call, held) | _one_by_one(asked, bins.filter(is_mixed), call, held)


def _is_mixed(bins: pa.Table) -> pa.ChunkedArray:
    """Return of each bin whether its group has one of several scores, and one that holds both classes at a single score."""
    numbers, is_single = bins[GROUP], pc.equal(bins["score_min"], bins["score_max"])
    has_both = pc.and_(pc.not_equal(bins["positives"], 0), pc.not_equal(bins["negatives"], 0))
    groups = (numbers.filter(kind).unique() for kind in (pc.invert(is_single), pc.and_(is_single, has_both)))
    return reduce(pc.and_, (pc.is_in(numbers, value_set=some) for some in groups))


def _as_ties(asked: Mapping[Key, Metric], bins: pa.Table, call: Call, limits: Limits) -> Values:
    """Return the metrics under each order of all ties."""
    texts = [str(metric if order == TIED else _under(metric, order.partition(" ")[0])) for (order, _), metric in asked.items()]
    numbers, columns = _answers(texts, bins, [0], call, limits)
    values: Values = {}
    for (order, name), text in zip(asked, texts, strict=True):
        for number, value in zip(numbers, columns[text], strict=True):
            values.setdefault((number // len(ORDERS), order), {})[name] = value
    return values


def _one_by_one(asked: Mapping[Key, Metric], bins: pa.Table, call: Call, limits: Limits) -> Values:
    """Return the metrics of rows that stand in each order by themselves."""
    texts = [str(metric) for metric in asked.values()]
    numbers, columns = _answers(texts, bins, sorted({ORDERS.index(order) for order, _ in asked}), call, limits)
    found = [{text: columns[text][place] for text in texts} for place in range(len(numbers))]
    return {(number // len(ORDERS), ORDERS[number % len(ORDERS)]): row for number, row in zip(numbers, found, strict=True)}


def _under(metric: Metric, ties: str) -> Metric:
    return replace(metric, params=tuple(sorted((*metric.params, ("ties", ties)))))


def _answers(
    texts: Sequence[str], bins: pa.Table, orders: Sequence[int], call: Call, limits: Limits
) -> tuple[list[int], dict[str, list[float | None]]]:
    """Return metrics of the rows of bins in some orders: the numbers of their groups and orders, and a value of each metric for each of these."""
    wanted = exp.In(this=exp.column("order_number", table="o"), expressions=[literal(order) for order in orders])
    with session(None, limits) as duck:
        duck.register("bins", bins)
        rows = duck.sql(read_select("states", "orders.sql").where(wanted).sql("duckdb")).to_arrow_table()
    if not rows.num_rows:
        return [], {text: [] for text in texts}
    each = list(dict.fromkeys(texts))
    found = answer(replace(call, metrics=each, sources={"predictions": rows}), None, None, limits, "off")
    numbers, *columns = (column.to_pylist() for column in found.columns)
    return numbers, dict(zip(each, columns, strict=True))
