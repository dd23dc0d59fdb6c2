"""Metrics of an order from merged bins: as if the rows of a bin were tied, and the least and greatest that any order of them gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

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

ORDERING = "ordering"
"""The column that says in which order the rows of a bin are."""

GROUP = "group_number"
"""The column that tells groups apart here, whatever the columns of the caller's are."""

Values = dict[tuple[int, str], dict[str, float | None]]
"""The metrics of each group and order."""


def bounded(
    metrics: Sequence[Ordered], bins: pa.Table, groups: pa.Table, sql_dir: Any, policies: Mapping[str, Any], limits: Limits
) -> dict[str, dict[str, pa.Array]]:
    """Return by metric the columns of its value, and of the least and greatest that is possible, with a number for each of the groups.

    ``bins`` has a row per group and bin, and begins with the columns of ``groups``; a bin that holds a single score is tied indeed.
    """
    places = {key: place for place, key in enumerate(_keys(groups, groups.num_columns))}
    numbers = pa.array([places[key] for key in _keys(bins, groups.num_columns)], pa.int64())
    bins = bins.select(range(groups.num_columns, bins.num_columns)).append_column(GROUP, numbers)
    values = _evaluated(metrics, bins, sql_dir, policies, limits)
    ends = zip(bins["score_min"].to_pylist(), bins["score_max"].to_pylist(), numbers.to_pylist(), strict=True)
    is_open = {group for least, most, group in ends if least != most}
    library = library_of(sql_dir)

    def end(item: Ordered, group: int, bounds: Sequence[Bound], choose: Callable[[list[float]], float]) -> float | None:
        if group not in is_open:
            return values[group, TIED][item.name]
        found = []
        for bound in bounds:
            borrowed = None if bound.metric is None else str(parse(bound.metric, library))
            found.append(values[group, bound.order if borrowed is None else f"{bound.order} of"][borrowed or item.name])
        known = [value for value in found if value is not None]
        return choose(known) if len(known) == len(found) else None

    columns: dict[str, dict[str, pa.Array]] = {}
    for item in metrics:
        said = {
            item.name: [values[group, TIED][item.name] for group in places.values()],
            f"{item.name}.least": [end(item, group, item.least, min) for group in places.values()],
            f"{item.name}.greatest": [end(item, group, item.greatest, max) for group in places.values()],
        }
        columns[item.name] = {name: pa.array(found, pa.float64()) for name, found in said.items()}
    return columns


def _keys(table: pa.Table, number: int) -> list[tuple[str, ...]]:
    """Return what tells groups apart of each row, in the first columns, as text, under which NaN is NaN."""
    columns = [list(map(repr, table.column(place).to_pylist())) for place in range(number)]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _evaluated(metrics: Sequence[Ordered], bins: pa.Table, sql_dir: Any, policies: Mapping[str, Any], limits: Limits) -> Values:
    held = replace(limits, timeout=None)  # the call has a deadline of its own
    with session(None, held) as duck:
        duck.register("bins", bins)
        rows = duck.sql(read_select("states", "orders.sql").sql("duckdb")).to_arrow_table()
    asked = list(dict.fromkeys(str(metric) for item in metrics for metric in item.metrics))
    read = {name: value for name, value in policies.items() if any(name in item.reads for item in metrics)}
    call = Call(asked, {"predictions": rows}, {"weight": "weight"}, [GROUP, ORDERING], sql_dir=sql_dir, policies=read)
    found = answer(call, None, None, held, "auto").to_pylist()
    return {(row.pop(GROUP), row.pop(ORDERING)): row for row in found}
