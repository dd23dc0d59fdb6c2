"""How sure metrics of a state are: their values without one fold of the units at a time, and the standard error that these say.

Folds are drawn by units, so that whatever is alike within a unit, over days and slices, is in one of them (Shao & Tu 1995).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.engines.duckdb import Limits, session
from sqlrank.errors import InputError
from sqlrank.library.orders import TIED
from sqlrank.library.selects import read_select
from sqlrank.statement.statement import FOLD
from sqlrank.states.asked import Summed, Wanted
from sqlrank.states.bounds import AT_ONCE, places_of
from sqlrank.states.made import ROWS
from sqlrank.states.orders import GROUP, evaluated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call import Call
    from sqlrank.states.adding import Adding

METRIC, VALUE = "metric_number", "value"
"""The columns that say of which metric a value is, and the value."""

Errors = dict[tuple[int, int], tuple[int, float | None]]
"""By the numbers of a group and a metric how many folds have rows, and the standard error."""


def left_out(asked: Wanted, adding: Adding, groups: pa.Table, call: Call, limits: Limits) -> pa.Table:
    """Return the metrics of each group without one of its folds at a time.

    Shape: a row per group, fold with rows and metric: ``group_number`` (the place among ``groups``), ``fold``, ``metric_number`` (the place
    among those asked for, int64) and ``value`` (float64, NULL if it is undefined).

    Raises:
        InputError: rows without a fold.
    """
    held = replace(limits, timeout=None)  # the call has a deadline of its own
    asked = asked.weighed(adding.held.has)
    of_folds = replace(adding, by=[*adding.by, FOLD])
    found = _of_sums(asked, of_folds, groups, held)
    pairs = found.select([GROUP, FOLD])
    columns: dict[str, Any] = {item.name: found[f"metric_{place}"] for place, item in enumerate(asked.summed)}
    columns |= _of_orders(asked, of_folds, groups, pairs, call, held) if asked.ordered else {}
    parts = []
    for place, item in enumerate(asked.metrics):
        number = pa.repeat(pa.scalar(place, pa.int64()), pairs.num_rows)
        parts.append(pairs.append_column(METRIC, number).append_column(VALUE, columns[item.name]))
    return pa.concat_tables(parts)


def errors_of(left: pa.Table, limits: Limits) -> Errors:
    """Return the standard error of each metric of each group from its values without one fold at a time."""
    with session(None, replace(limits, timeout=None)) as duck:
        duck.register("left_out", left)
        rows = duck.sql(read_select("states", "jackknife.sql").sql("duckdb")).fetchall()
    return {(group, metric): (units, error) for group, metric, units, error in rows}


def paired(then: pa.Table, now: pa.Table, whole: Mapping[tuple[int, int], tuple[float | None, float | None]], limits: Limits) -> pa.Table:
    """Return what metrics of two sides differ by without one fold at a time, which is left out of both; ``whole`` is what both are with all."""
    keys = list(whole)
    numbers = {GROUP: [group for group, _ in keys], METRIC: [metric for _, metric in keys]}
    values = {name: [whole[each][side] for each in keys] for side, name in enumerate(("value_then", "value_now"))}
    kinds = pa.schema([*((name, pa.int64()) for name in numbers), *((name, pa.float64()) for name in values)])
    with session(None, replace(limits, timeout=None)) as duck:
        for name, table in (("left_out_then", then), ("left_out_now", now), ("whole", pa.table(numbers | values, schema=kinds))):
            duck.register(name, table)
        return duck.sql(read_select("states", "paired.sql").sql("duckdb")).to_arrow_table()


def _of_sums(asked: Wanted, of_folds: Adding, groups: pa.Table, limits: Limits) -> pa.Table:
    """Return a row per group and fold with rows, in order, with the metrics that are sums, each made of the sums of the other folds."""
    merged = {name: tree for item in asked.summed for name, tree in item.aggregates.items()}
    # What merges the values of an aggregate stands in the formulas that read it.
    kinds = {node.this.name: type(node) for item in asked.summed for node in item.formula.find_all(exp.AggFunc)}
    parts = tuple(Summed(name, {name: tree}, kinds[name](this=exp.column(name))) for name, tree in merged.items())
    table = of_folds.sums(Wanted(parts))
    fold = table[f"key_{len(of_folds.by) - 1}"]
    if fold.null_count:
        raise InputError(
            f"state: {FOLD} is NULL in some rows of {of_folds.held.table.shown}, whose unit was NULL and was not checked; "
            f"leave them out by where='{FOLD} IS NOT NULL'"
        )
    columns = {GROUP: places_of(groups, table), FOLD: fold.cast(pa.int64()), ROWS: table["rows"], **{name: table[name] for name in merged}}
    window: dict[str, Any] = {
        "partition_by": [exp.column(GROUP)],
        "order": exp.Order(expressions=[exp.Ordered(this=exp.column(FOLD))]),
        "spec": exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING", exclude=exp.var("CURRENT ROW")
        ),
    }
    others = [exp.alias_(exp.Window(this=kinds[name](this=exp.column(name)), **window).copy(), name) for name in merged]
    inner = exp.select(GROUP, FOLD, ROWS, *others).from_("parts").subquery("o")
    shown = [exp.alias_(exp.cast(item.formula, "DOUBLE"), f"metric_{place}") for place, item in enumerate(asked.summed)]
    query = exp.select(GROUP, FOLD, *shown).from_(inner).where(exp.NEQ(this=exp.column(ROWS), expression=exp.Literal.number(0)))
    query = query.group_by(GROUP, FOLD).order_by(GROUP, FOLD)
    with session(None, limits) as duck:
        duck.register("parts", pa.table(columns))
        return duck.sql(query.sql("duckdb")).to_arrow_table()


def _of_orders(asked: Wanted, of_folds: Adding, groups: pa.Table, pairs: pa.Table, call: Call, limits: Limits) -> dict[str, pa.Array]:
    """Return the metrics of an order for each pair of a group and a fold, from the bins of the other folds; of some groups at a time."""
    bins = of_folds.bins
    fold = bins[f"key_{len(of_folds.by) - 1}"].cast(pa.int64())
    numbers = places_of(groups, bins)
    bins = bins.select(["bin", "positives", "negatives", "score_min", "score_max"]).append_column(GROUP, numbers).append_column(FOLD, fold)
    pairs = pairs.append_column("pair_number", pa.array(range(pairs.num_rows), pa.int64()))
    step = max(1, AT_ONCE * groups.num_rows // max(1, _without_folds(bins, pairs)))
    values: dict[int, Mapping[str, float | None]] = {}
    for first in range(0, groups.num_rows, step):
        with session(None, limits) as duck:
            for name, table in (("fold_bins", bins), ("pairs", pairs)):
                duck.register(name, table.filter(_between(table[GROUP], first, first + step)) if step < groups.num_rows else table)
            rows = duck.sql(read_select("states", "without.sql").sql("duckdb")).to_arrow_table()
        found = evaluated(asked.ordered, rows, call.sql_dir, call.policies, limits, only_tied=True)
        values |= {number: row for (number, order), row in found.items() if order == TIED}
    places = range(pairs.num_rows)
    return {item.name: pa.array([values.get(place, {}).get(item.name) for place in places], pa.float64()) for item in asked.ordered}


def _between(numbers: pa.ChunkedArray, first: int, end: int) -> Any:
    return pc.and_(pc.greater_equal(numbers, first), pc.less(numbers, end))


def _without_folds(bins: pa.Table, pairs: pa.Table) -> int:
    """Return how many bins are evaluated, at most: those of each group as often as any has folds."""
    folds: Sequence[int] = pairs.group_by(GROUP).aggregate([(FOLD, "count")])[f"{FOLD}_count"].to_pylist()
    return int(bins.group_by([GROUP, "bin"]).aggregate([]).num_rows) * max(folds, default=1)
