"""Drift: metrics of some days of a state beside those of others, and how far scores have moved, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
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
from sqlrank.library.settings import ask
from sqlrank.library.shelf import library_of
from sqlrank.states.adding import Adding
from sqlrank.states.allowed import PSI, Allowed, judged, overall_of
from sqlrank.states.asked import of_asked
from sqlrank.states.bounds import GROUP, places_of
from sqlrank.states.held import Held
from sqlrank.states.lists import ROLES, refuse_rows
from sqlrank.states.made import DAYS
from sqlrank.states.reading import by_of, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.library.metric import Metric
    from sqlrank.states.asked import Wanted

NUMBERS = ("value_reference", "value", "difference", "least", "greatest")


@public
def drift(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    state: Any,
    reference: str,
    where: str | None = None,
    by: str | Sequence[str] = (),
    at_most: float | str | Mapping[str, float | str] | None = None,
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
        ``greatest``, between which the difference is for certain (float64); ``tolerance``, ``verdict`` and ``reason`` (string) with
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
    library = library_of(sql_dir)
    looked_up = ask(metrics, library, None, policies, ROLES)
    refuse_rows(policies, looked_up, library)
    asked = of_asked(looked_up, library)
    names = by_of(call)
    allowed = None if at_most is None else Allowed.of(at_most, [item.name for item in asked.metrics])
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    asking = _Asking(call, asked, names, limits)

    def work(database: Database) -> tuple[Sides, Sides]:
        held = Held(find(database, "state", state))
        held.check(asked, names)
        chosen = [(reference, "reference"), (where, "where")]
        rows = [held.rows(database, text, argument) for text, argument in chosen]
        if where is not None:
            held.rows(database, f"({reference}) OR ({where})")
        then, now = (asking.side(Adding(database, held, each, names)) for each in rows)
        return then, now

    then, now = done_on(connection, remote.spoken_by(connection, dialect), limits, work)
    return asking.result(then, now, allowed)


Sides = tuple[pa.Table, pa.Table | None]
"""The metrics of groups, and their bins if there are any."""


@dataclass(frozen=True)
class _Asking:
    """What is asked of both times alike."""

    call: Call
    asked: Wanted
    by: Sequence[str]
    limits: Limits

    def side(self, adding: Adding) -> Sides:
        """Return what is known of some days."""
        return metrics_of(self.asked, adding, self.call, self.limits), adding.bins if adding.held.has_bins else None

    def result(self, then: Sides, now: Sides, allowed: Allowed | None) -> pa.Table:
        """Return the rows of all groups, the worst first."""
        groups, theirs, ours = self._groups(then[0], now[0])
        psi = self._psi(groups, then[1], now[1])
        rows = []
        for place, group in enumerate(groups.to_pylist()):
            before, after = theirs.get(place, {}), ours.get(place, {})
            counts = {name: side.get(kind) for kind in (DAYS, "rows") for name, side in ((f"{kind}_reference", before), (kind, after))}
            counts = {name: value for name, value in counts.items() if name.partition("_")[0] in now[0].column_names}
            numbers = {item.name: _numbers(item.name, before, after) for item in self.asked.metrics}
            if psi is not None:
                moved = psi.get(place)
                numbers[PSI] = dict(zip(NUMBERS, (None if moved is None else 0.0, moved, moved, moved, moved), strict=True))
            rows += [group | {"metric": name} | found | counts for name, found in numbers.items()]
        verdicts = judged(rows, allowed)
        kinds = {"metric": pa.string(), **dict.fromkeys(NUMBERS, pa.float64())}
        kinds |= {} if allowed is None else dict.fromkeys(("tolerance", "verdict", "reason"), pa.string())
        kinds |= {name: pa.int64() for name in rows[0] if name not in {*self.by, *kinds}}
        schema = pa.schema([*groups.schema, *(pa.field(name, kind) for name, kind in kinds.items())])
        said = {"sqlrank.version": __version__} | ({} if allowed is None else {"sqlrank.verdict": overall_of(verdicts)})
        return pa.Table.from_pylist(verdicts, schema).replace_schema_metadata(said)

    def _groups(self, then: pa.Table, now: pa.Table) -> tuple[pa.Table, dict[int, dict[str, Any]], dict[int, dict[str, Any]]]:
        """Return the groups of both times, and what is known of each at each of them."""
        names = list(self.by)
        keys = now.select(names)
        others = places_of(keys, then.select(names)) if names else pa.array([0])
        new = pa.array([place for place, found in enumerate(others.to_pylist()) if found is None], pa.int64())
        keys = pa.concat_tables([keys, then.select(names).take(new)]) if names else pa.table({"all": [1]})
        sides = []
        for side in (then, now):
            places = places_of(keys, side.select(names)).to_pylist() if names else [0]
            sides.append(dict(zip(places, side.to_pylist(), strict=True)))
        return (keys if names else keys.select([])), *sides

    def _psi(self, groups: pa.Table, then: pa.Table | None, now: pa.Table | None) -> dict[int, float | None] | None:
        """Return the population stability index of each group, None if there are no bins."""
        if then is None or now is None:
            return None
        with session(None, Limits(self.limits.memory_limit, self.limits.threads, self.limits.temp_directory)) as duck:
            for name, bins in (("bins_then", then), ("bins_now", now)):
                numbers = places_of(groups, bins) if self.by else pa.array([0] * bins.num_rows, pa.int64())
                duck.register(name, bins.select(range(len(self.by), bins.num_columns)).append_column(GROUP, numbers))
            return dict(duck.sql(read_select("states", "psi.sql").sql("duckdb")).fetchall())


def _numbers(name: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, float | None]:
    """Return a metric at both times, and between which numbers the difference of the two is."""

    def minus(one: str, other: str) -> float | None:
        first, second = now.get(one, now.get(name)), then.get(other, then.get(name))
        return None if first is None or second is None else first - second

    ends = (f"{name}.least", f"{name}.greatest")
    return dict(zip(NUMBERS, (then.get(name), now.get(name), minus(name, name), minus(*ends), minus(*ends[::-1])), strict=True))
