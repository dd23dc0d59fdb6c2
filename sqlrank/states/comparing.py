"""Compare models by their states: metrics of the same days and units, with intervals of the differences, and what these are for certain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.engines import remote
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.looking import done_on
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.inputs.several import find
from sqlrank.states import sure
from sqlrank.states.adding import Adding
from sqlrank.states.held import Held
from sqlrank.states.reading import look_up
from sqlrank.states.sides import NUMBERS, SURE, Asking, counts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.library.metric import Metric
    from sqlrank.states.sides import Side

FEWEST = 2
"""States that are compared, at least."""

Sides = dict[str, "Side"]


@public
def compare_states(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    states: Mapping[str, Any],
    baseline: str | None = None,
    where: str | None = None,
    by: str | Sequence[str] = (),
    confidence: float | None = 0.95,
    connection: Any = None,
    dialect: str | None = None,
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Compare models by the states of their predictions, in which the same units are in the same folds: differences with intervals.

    Args:
        metrics: as for :func:`sqlrank.evaluate` with ``state=``.
        states: the sums that :func:`sqlrank.state` made of each model, by its name: ``{"old": "state_of_old", "new": "state_of_new"}``.
        baseline: the model that the others are compared with: the first unless said.
        where: a condition on the rows of all states, such as ``"day >= '2026-03-01'"``.
        by: columns of the states within which is compared.
        confidence: of intervals, for which states need folds; None for what is certain alone.
        connection: where the states are.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that hold for all metrics.

    Returns:
        A row per group, metric and model but the baseline: the columns of ``by``, ``metric``, ``baseline``, ``system`` (string),
        ``value_baseline``, ``value``, ``difference``, ``least`` and ``greatest``, between which the difference is for certain (float64); with
        ``confidence`` the limits ``low`` and ``high`` of its interval, its standard error ``se``, how many folds there are (``units``, int64) and
        ``p`` of no difference, of this comparison alone; ``days_baseline`` and ``days`` if there is a column ``day``, ``rows_baseline`` and
        ``rows`` (int64). Undefined is NULL.

    Raises:
        MetricError: a metric that no state has, or fewer than two states.
        InputError: a state without what a metric needs or without folds, or states whose folds are of other units or numbers.

    >>> import sqlrank
    >>> clicks = {"user_id": [1, 2, 3, 4], "label": [1, 0, 1, 0], "old": [0.5, 0.25, 0.25, 0.5], "new": [0.75, 0.25, 0.5, 0.5]}
    >>> given = {"predictions": pa.table(clicks), "fold": "user_id", "folds": 4, "bins": "score"}
    >>> kept = {name: sqlrank.state("AUC", columns={"score": name}, **given) for name in ("old", "new")}
    >>> compare_states("AUC", states=kept).select(["value_baseline", "value", "difference"]).to_pylist()
    [{'value_baseline': 0.5, 'value': 0.875, 'difference': 0.375}]
    """
    call = Call.of(metrics, locals(), policies)
    _, looked_up, asked, names = look_up(call)
    first = _first(states, baseline)
    asking = Asking(call, asked, looked_up, names, Limits(memory_limit, threads, temp_directory, timeout))

    def work(database: Database) -> Sides:
        held, folds = {}, {}
        for name, source in states.items():
            item = Held(find(database, "state", source))
            item.check(asked, names)
            if confidence is not None:
                item.check_folds(names)
            rows = item.rows(database, where)
            held[name], folds[name] = (item, rows), item.folds(database, where)
        if confidence is not None:
            _check_alike(folds)
        return {name: asking.side(Adding(database, item, rows, names), with_bins=False) for name, (item, rows) in held.items()}

    return _result(asking, done_on(connection, remote.spoken_by(connection, dialect), asking.limits, work), first)


def _first(states: Any, baseline: str | None) -> str:
    """Return the name of the state that others are compared with; raise ``MetricError`` for fewer than two, or a baseline that is none."""
    if not isinstance(states, Mapping) or len(states) < FEWEST or not all(isinstance(name, str) and name for name in states):
        raise MetricError(
            "states= has two models or more by their names: states={'old': ..., 'new': ...} (--state old=... --state new=...)"
        )
    if baseline is not None and baseline not in states:
        raise MetricError(f"baseline={baseline!r} is none of the states{suggestion(str(baseline), states)} There are: {', '.join(states)}")
    return next(iter(states)) if baseline is None else baseline


def _check_alike(folds: Mapping[str, str]) -> None:
    """Raise ``InputError`` for states whose folds are not the same, in which no unit is left out of all at once."""
    (one, first), *others = folds.items()
    for name, found in others:
        if found != first:
            raise InputError(
                f"state: the folds of {one} and {name} are not alike ({first or 'none'}, {found or 'none'}): they are of other units or another number of "
                "folds; make both with the same fold= and folds=, or ask for what is certain alone with confidence=None"
            )


def _result(asking: Asking, sides: Sides, first: str) -> pa.Table:
    """Return the rows of all groups, metrics and models."""
    kinds: dict[str, pa.DataType] = dict.fromkeys(("metric", "baseline", "system"), pa.string())
    kinds |= {name.replace("reference", "baseline"): pa.float64() for name in NUMBERS}
    if asking.call.confidence is not None:
        kinds |= {name: pa.int64() if name == sure.UNITS else pa.float64() for name in SURE}
    tables = []
    for system, now in sides.items():
        if system == first:
            continue
        groups = asking.groups(sides[first], now)
        rows = []
        for pair in asking.pairs(groups, sides[first], now):
            counts = counts_of(pair, now.metrics.column_names, "baseline")
            for name, numbers in pair.differences.items():
                found = {key.replace("reference", "baseline"): value for key, value in numbers.items()}
                rows.append(pair.group | {"metric": name, "baseline": first, "system": system} | found | counts)
        named = kinds | {name: pa.int64() for name in rows[0] if name not in {*asking.by, *kinds}}
        tables.append(pa.Table.from_pylist(rows, pa.schema([*groups.schema, *named.items()])))
    said = {"sqlrank.version": __version__}
    said |= {} if asking.call.confidence is None else {"sqlrank.confidence": f"{asking.call.confidence:g}"}
    return pa.concat_tables(tables).replace_schema_metadata(said)
