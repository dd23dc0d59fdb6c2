"""Drift: metrics of some days of a state beside those of others, and how far scores have moved, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.engines import remote
from sqlrank.engines.duckdb import Limits, session
from sqlrank.engines.looking import done_on
from sqlrank.inputs.several import find
from sqlrank.library.selects import read_select
from sqlrank.states import sure
from sqlrank.states.adding import Adding
from sqlrank.states.allowed import PSI, Allowed, judged, overall_of
from sqlrank.states.bounds import places_of
from sqlrank.states.held import Held
from sqlrank.states.orders import GROUP
from sqlrank.states.reading import look_up
from sqlrank.states.sides import NUMBERS, SURE, Asking, counts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.library.metric import Metric
    from sqlrank.states.sides import Side


@public
def drift(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    state: Any,
    reference: str,
    where: str | None = None,
    by: str | Sequence[str] = (),
    at_most: float | str | Mapping[str, float | str] | None = None,
    confidence: float | None = None,
    connection: Any = None,
    dialect: str | None = None,
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Compare metrics of some days of a state with those of a reference, within each group, and say how far scores have moved.

    Args:
        metrics: as for :func:`sqlrank.evaluate` with ``state=``.
        state: the sums that :func:`sqlrank.state` made.
        reference: a condition in SQL on what is compared with, such as ``"day < '2026-03-01'"``.
        where: a condition on what is compared, such as ``"day >= '2026-03-01'"``; all rows if there is none.
        by: columns of the state within which is compared.
        at_most: by how much a metric may have moved, up or down, for a verdict on each row: ``0.01``, ``"2%"`` of the reference's value, or by
            name: ``{"AUC": 0.01, "PSI": 0.2}``, ``"*"`` being the other metrics. PSI is judged by its name alone.
        confidence: such as 0.95: how sure differences are, of a state with folds: their limits ``low`` and ``high``, and verdicts by these.
        connection: where the state is.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that hold for all metrics.

    Returns:
        A row per group and metric: the columns of ``by``, ``metric`` (string), ``value_reference``, ``value``, ``difference``, and ``least`` and
        ``greatest``, between which the difference is for certain (float64); with ``confidence`` the limits ``low`` and ``high`` of its interval,
        its standard error ``se``, how many folds there are (``units``, int64) and ``p`` of no difference; ``tolerance``, ``verdict`` and ``reason`` (string) with
        ``at_most``; ``days_reference`` and ``days`` if there is a column ``day``, ``rows_reference`` and ``rows`` (int64). ``PSI`` is the
        population stability index over tenths of the reference's scores, if the state has bins. Rows that fail come first, then inconclusive
        ones, those that were skipped, and those that pass; among them the one that moved most, as a share of the tolerance, or without one
        of the reference's value. The schema's metadata: ``sqlrank.verdict`` on all.

    Raises:
        MetricError: a metric that no state has, or a tolerance that is none.
        InputError: a state without what a metric needs, or rows that cannot be added up.

    >>> import sqlrank
    >>> clicks = pa.table({"day": [1, 1, 2, 2], "label": [1, 0, 1, 0], "score": [0.75, 0.25, 0.25, 0.75]})
    >>> kept = sqlrank.state("AUC", predictions=clicks, by="day")
    >>> drift("AUC", state=kept, reference="day = 1", where="day = 2", at_most={"AUC": 0.1}).select(["metric", "difference", "verdict"]).to_pylist()
    [{'metric': 'AUC', 'difference': -1.0, 'verdict': 'fail'}, {'metric': 'PSI', 'difference': 0.0, 'verdict': None}]
    """
    call = Call.of(metrics, locals(), policies)
    _, looked_up, asked, names = look_up(call)
    asking = Asking(call, asked, looked_up, names, Limits(memory_limit, threads, temp_directory, timeout))
    having = [item.name for item in asking.having.metrics] if confidence is not None else []
    allowed = None if at_most is None else Allowed.of(at_most, [item.name for item in asked.metrics], having)

    def work(database: Database) -> tuple[Side, Side]:
        held = Held(find(database, "state", state))
        held.check(asked, names)
        if confidence is not None:
            held.check_folds(names)
        chosen = [(reference, "reference"), (where, "where")]
        rows = [held.rows(database, text, argument) for text, argument in chosen]
        if where is not None:
            held.rows(database, f"({reference}) OR ({where})")
        then, now = (asking.side(Adding(database, held, each, names)) for each in rows)
        return then, now

    then, now = done_on(connection, remote.spoken_by(connection, dialect), asking.limits, work)
    return _result(asking, then, now, allowed)


def _result(asking: Asking, then: Side, now: Side, allowed: Allowed | None) -> pa.Table:
    """Return the rows of all groups, the worst first."""
    groups = asking.groups(then, now)
    psi = _psi(asking, groups, then.bins, now.bins)
    has_interval = asking.call.confidence is not None
    rows = []
    for pair in asking.pairs(groups, then, now):
        counts = counts_of(pair, now.metrics.column_names, "reference")
        numbers: dict[str, dict[str, Any]] = pair.differences
        if psi is not None:
            moved = psi.get(pair.place)
            numbers[PSI] = dict(zip(NUMBERS, (None if moved is None else 0.0, moved, moved, moved, moved), strict=True))
            numbers[PSI] |= dict.fromkeys(SURE) if has_interval else {}
        rows += [pair.group | {"metric": name} | found | counts for name, found in numbers.items()]
    verdicts = judged(rows, allowed)
    kinds = {"metric": pa.string(), **dict.fromkeys(NUMBERS, pa.float64())}
    kinds |= {name: pa.int64() if name == sure.UNITS else pa.float64() for name in SURE} if has_interval else {}
    kinds |= {} if allowed is None else dict.fromkeys(("tolerance", "verdict", "reason"), pa.string())
    kinds |= {name: pa.int64() for name in rows[0] if name not in {*asking.by, *kinds}}
    schema = pa.schema([*groups.schema, *(pa.field(name, kind) for name, kind in kinds.items())])
    said = {"sqlrank.version": __version__} | ({} if allowed is None else {"sqlrank.verdict": overall_of(verdicts)})
    said |= {"sqlrank.confidence": f"{asking.call.confidence:g}"} if has_interval else {}
    return pa.Table.from_pylist(verdicts, schema).replace_schema_metadata(said)


def _psi(asking: Asking, groups: pa.Table, then: pa.Table | None, now: pa.Table | None) -> dict[int, float | None] | None:
    """Return the population stability index of each group, None if there are no bins."""
    if then is None or now is None:
        return None
    limits = asking.limits
    with session(None, Limits(limits.memory_limit, limits.threads, limits.temp_directory)) as duck:
        for name, bins in (("bins_then", then), ("bins_now", now)):
            numbers = places_of(groups, bins)
            duck.register(name, bins.select(range(len(asking.by), bins.num_columns)).append_column(GROUP, numbers))
        return dict(duck.sql(read_select("states", "psi.sql").sql("duckdb")).fetchall())
