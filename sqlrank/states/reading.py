"""Metrics from a state: its rows are added up, formulas put on the sums, and orders of bins evaluated for what is certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.engines import remote
from sqlrank.engines.looking import done_on
from sqlrank.errors import MetricError
from sqlrank.inputs.several import find
from sqlrank.library.settings import ask
from sqlrank.library.shelf import library_of
from sqlrank.library.told import told
from sqlrank.statement.statement import FOLD
from sqlrank.states import sure
from sqlrank.states.adding import Adding
from sqlrank.states.asked import of_asked
from sqlrank.states.bounds import bounded
from sqlrank.states.held import Held
from sqlrank.states.lists import ROLES, refuse_rows
from sqlrank.states.made import DAYS
from sqlrank.states.rolling import Windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.call import Call
    from sqlrank.engines.database import Database
    from sqlrank.engines.duckdb import Limits
    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.states.asked import Wanted

AT_ONCE = 4_000_000
"""Bins of windows that are in memory at once, at most, if there is more than one window."""

Columns = dict[str, dict[str, pa.Array]]
"""By metric its columns, each with a row for each group."""

Of = Callable[[Adding, pa.Table], Columns]
"""What finds columns with a row for each of some groups, of which so much is added up."""

ROLLING = "sqlrank.rolling"
"""The key in the metadata of a result of how many days each row is of."""


def answer_of(
    call: Call, state: Any, connection: Any, dialect: str | None, limits: Limits, rolling: int | None = None, ends: str | None = None
) -> pa.Table:
    """Return the metrics of a call from a state, where its connection is; with ``rolling`` of so many last days, for each that ``ends`` chooses.

    Raises:
        MetricError: a metric that no state has, or an option that is for rows.
        InputError: a state that does not have what a metric needs, or rows that cannot be added up.
    """
    if state is None:
        what = "ends" if rolling is None else "rolling"
        raise MetricError(f"{what}= is for state=, the sums of days that sqlrank.state (sqlrank state) makes")
    refuse_others(call, rolling, ends)
    library, looked_up, asked, by = look_up(call)

    def work(database: Database) -> pa.Table:
        held = Held(find(database, "state", state))
        held.check(asked, by)
        if call.confidence is not None:
            held.check_sure(asked, by)
        rows = held.rows(database, call.where)
        windows = None if rolling is None else Windows.of(database, held, rows, rolling, ends)
        has_day = held.day in [held.table.column(name) for name in by]
        keys = by if windows is None or has_day else [*by, str(held.day)]
        adding = Adding(database, held, rows, keys, windows)
        return metrics_of(asked, adding, call, limits, looked_up if call.confidence is not None else ())

    table = done_on(connection, remote.spoken_by(connection, dialect), limits, work)
    ends_of_bounds = {f"{item.name}.{end}": end for item in asked.ordered for end in ("least", "greatest")}
    if call.confidence is not None:
        ends_of_bounds |= {f"{item.name}.{limit}": limit for item in asked.metrics for limit in sure.LIMITS}
    kinds = {name: ends_of_bounds.get(name, "metric") for name in table.column_names}
    kinds |= dict.fromkeys(table.column_names[: table.column_names.index(asked.metrics[0].name)], "by")
    kinds |= {name: name for name in (DAYS, "rows") if name in table.column_names}
    said = {"sqlrank.version": __version__, **told(kinds, looked_up, library).metadata()}
    said |= {} if call.confidence is None else {"sqlrank.confidence": f"{call.confidence:g}", "sqlrank.interval": "t"}
    return table.replace_schema_metadata(said | ({} if rolling is None else {ROLLING: str(rolling)}))


def look_up(call: Call) -> tuple[Library, list[Asked], Wanted, list[str]]:
    """Return the library, the metrics of a call, what a state has to have for them, and the columns of groups.

    Raises:
        MetricError: a metric that no state has, several groupings, or intervals that a state does not have.
    """
    library = library_of(call.sql_dir)
    looked_up = ask(call.metrics, library, None, call.policies, ROLES)
    refuse_rows(call.policies, looked_up, library)
    asked = of_asked(looked_up, library)
    sure.check(call)
    return library, looked_up, asked, by_of(call)


def by_of(call: Call) -> list[str]:
    """Return the columns of groups; raise ``MetricError`` for several groupings."""
    by = [call.by] if isinstance(call.by, str) else list(call.by or ())
    if any(not isinstance(name, str) for name in by):
        raise MetricError("by of a state is one list of columns; ask for each grouping in a call of its own")
    if len(set(by)) < len(by):
        raise MetricError(f"by names a column twice: {', '.join(by)}")
    return by


def refuse_others(call: Call, rolling: int | None = None, ends: str | None = None) -> None:
    """Raise ``MetricError`` for options that are for rows, and windows that are none."""
    given = [*call.sources, *(name for name in ("columns", "per_query", "compat", "plan", "unit") if getattr(call, name))]
    if given:
        raise MetricError(f"{given[0]}= is for rows, which a state does not have; beside state= give metrics, by, where and connection")
    if rolling is not None and (isinstance(rolling, bool) or rolling < 1):
        raise MetricError(f"rolling={rolling} is not possible: give how many days are added up, a whole number from 1, such as 28")
    if ends is not None and rolling is None:
        raise MetricError("ends= chooses the days at which windows end; give their length with rolling=, or choose days with where=")


def metrics_of(asked: Wanted, adding: Adding, call: Call, limits: Limits, looked_up: Sequence[Asked] = ()) -> pa.Table:
    """Return the columns of ``by``, of the metrics with their bounds, and what was added up; with intervals of those that were ``looked_up``."""
    has_folds = not asked.of_lists or adding.held.has(FOLD)
    means = [] if not looked_up or has_folds else asked.means(adding.held.has)
    table = adding.sums(replace(asked, metrics=(*asked.metrics, *(each for item in means for each in item.moments))))
    keys = [f"key_{place}" for place in range(len(adding.by))]
    groups = table.select(keys)
    found = _in_parts(adding, groups, adding, _bounding(asked, call, limits)) if asked.ordered else {}
    found = {item.name: found.get(item.name) or {item.name: table[item.name]} for item in asked.metrics}
    if looked_up:
        having = sure.with_interval(asked, looked_up)
        of_folds = replace(adding, by=[*adding.by, FOLD])
        if has_folds:
            spread = _in_parts(adding, groups, of_folds, lambda some, rows: sure.spread(having, some, rows, call, limits))
        else:
            spread = sure.spread_of_lists(means, table)
        values = {name: columns[name].to_pylist() for name, columns in found.items()}
        limited = sure.shown(values, spread, looked_up, float(call.confidence or 0))
        found = {name: columns | limited[name] for name, columns in found.items()}
    columns: dict[str, Any] = dict(zip(adding.by, (table[key] for key in keys), strict=True))
    if adding.windows is not None:
        place = next(place for place, name in enumerate(adding.by) if adding.held.table.column(name) == adding.held.day)
        columns[adding.by[place]] = adding.windows.ends_of(table[keys[place]])
    for item in asked.metrics:
        columns |= found[item.name]
    return pa.table(columns | {name: table[name] for name in (DAYS, "rows") if name in table.column_names})


def _bounding(asked: Wanted, call: Call, limits: Limits) -> Of:
    """Return what finds the columns of metrics of an order."""
    return lambda adding, groups: bounded(asked.ordered, adding.bins, groups, call.sql_dir, call.policies, limits)


def _in_parts(adding: Adding, groups: pa.Table, held: Adding, of: Of) -> Columns:
    """Return columns with a row for each group; of many windows some at a time, since each has rows of its own: as many as ``held`` has."""
    if adding.windows is None:
        return of(adding, groups)
    at_once = max(1, AT_ONCE // max(1, held.number_of_bins()))
    place = next(place for place, name in enumerate(adding.by) if adding.held.table.column(name) == adding.held.day)
    numbers = groups.column(place).to_pylist()
    rows, parts = [], []
    for first in range(0, len(adding.windows.ends), at_once):
        some = adding.windows.some(first, at_once)
        mine = [row for row, number in enumerate(numbers) if first <= number < first + at_once]
        shifted = pa.array([numbers[row] - first for row in mine], pa.int64())
        own = groups.take(pa.array(mine, pa.int64())).set_column(place, groups.field(place).name, shifted)
        rows += mine
        parts.append(of(replace(adding, windows=some), own))
    order = [0] * len(rows)
    for found, row in enumerate(rows):
        order[row] = found
    back = pa.array(order, pa.int64())
    return {
        name: {column: pa.concat_arrays([part[name][column] for part in parts]).take(back) for column in columns}
        for name, columns in parts[0].items()
    }
