"""Two parts of states side by side: metrics of the groups of both, what they differ by for certain, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlrank.states import sure
from sqlrank.states.bounds import places_of
from sqlrank.states.jackknife import errors_of, left_out, paired
from sqlrank.states.made import DAYS
from sqlrank.states.orders import GROUP
from sqlrank.states.reading import metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.call import Call
    from sqlrank.engines.duckdb import Limits
    from sqlrank.library.asked import Asked
    from sqlrank.states.adding import Adding
    from sqlrank.states.asked import Wanted
    from sqlrank.states.jackknife import Errors

SURE = (sure.LOW, sure.HIGH, sure.SE, sure.UNITS, "p")
"""What is said of how sure a difference is."""


class Side(NamedTuple):
    """The metrics of groups, their bins if there are any, and the metrics without one fold at a time if these are asked for."""

    metrics: pa.Table
    bins: pa.Table | None
    left: pa.Table | None


class Pair(NamedTuple):
    """A group: its place and columns, what is known of it on each side, and of each metric its numbers and how sure they are."""

    place: int
    group: dict[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    differences: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Asking:
    """What is asked of both sides alike."""

    call: Call
    asked: Wanted
    looked_up: Sequence[Asked]
    by: Sequence[str]
    limits: Limits

    @property
    def having(self) -> Wanted:
        """The metrics that have an interval, if intervals are asked for."""
        return sure.with_interval(self.asked, self.looked_up)

    def side(self, adding: Adding, with_bins: bool = True) -> Side:
        """Return what is known of some rows."""
        metrics = metrics_of(self.asked, adding, self.call, self.limits)
        left = None
        if self.call.confidence is not None and self.having.metrics:
            left = left_out(self.having, adding, metrics.select(list(self.by)), self.call, self.limits)
        return Side(metrics, adding.bins if with_bins and adding.held.has_bins else None, left)

    def groups(self, then: Side, now: Side) -> pa.Table:
        """Return the columns of the groups of both sides, those of the second first."""
        names = list(self.by)
        keys = now.metrics.select(names)
        if not names:
            return keys
        others = places_of(keys, then.metrics.select(names))
        new = pa.array([place for place, found in enumerate(others.to_pylist()) if found is None], pa.int64())
        return pa.concat_tables([keys, then.metrics.select(names).take(new)])

    def pairs(self, groups: pa.Table, then: Side, now: Side) -> Iterator[Pair]:
        """Yield each group with the differences of its metrics."""
        places = [places_of(groups, side.metrics.select(list(self.by))) for side in (then, now)]
        theirs, ours = (
            dict(zip(at.to_pylist(), side.metrics.to_pylist(), strict=True)) for at, side in zip(places, (then, now), strict=True)
        )
        count = groups.num_rows
        numbers = {
            place: {item.name: _numbers(item.name, theirs.get(place, {}), ours.get(place, {})) for item in self.asked.metrics}
            for place in range(count)
        }
        errors = self._errors(
            numbers, *(None if side.left is None else _moved(side.left, at) for at, side in zip(places, (then, now), strict=True))
        )
        keys = groups.to_pylist() if self.by else [{}] * count
        for place in range(count):
            yield Pair(place, keys[place], theirs.get(place, {}), ours.get(place, {}), self._sure(place, numbers[place], errors))

    def _errors(self, numbers: Mapping[int, Mapping[str, Any]], then: pa.Table | None, now: pa.Table | None) -> Errors:
        if then is None or now is None:
            return {}
        having = self.having.metrics
        whole = {(place, metric): found[item.name][:2] for place, found in numbers.items() for metric, item in enumerate(having)}
        return errors_of(paired(then, now, whole, self.limits), self.limits)

    def _sure(self, place: int, numbers: Mapping[str, tuple[float | None, ...]], errors: Errors) -> dict[str, dict[str, Any]]:
        """Return the numbers of a group's metrics by the names of their columns."""
        having = {item.name: metric for metric, item in enumerate(self.having.metrics)}
        found = {}
        for name, values in numbers.items():
            found[name] = dict(zip(NUMBERS, values, strict=True))
            if self.call.confidence is not None:
                units, error = errors.get((place, having[name]), (None, None)) if name in having else (None, None)
                found[name] |= sure.of_difference(values, error, units, float(self.call.confidence))
        return found


NUMBERS = ("value_reference", "value", "difference", "least", "greatest")
"""What is said of a metric on both sides: its values, their difference, and between what that is for certain."""


def counts_of(pair: Pair, names: Sequence[str], other: str) -> dict[str, int | None]:
    """Return how many days and rows a group has on both sides; those of the first are named after ``other``."""
    counts = {name: side.get(kind) for kind in (DAYS, "rows") for name, side in ((f"{kind}_{other}", pair.before), (kind, pair.after))}
    return {name: value for name, value in counts.items() if name.partition("_")[0] in names}


def _numbers(name: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[float | None, ...]:
    """Return a metric on both sides, what it differs by, and between which numbers that is."""

    def minus(one: str, other: str) -> float | None:
        first, second = now.get(one, now.get(name)), then.get(other, then.get(name))
        return None if first is None or second is None else first - second

    ends = (f"{name}.least", f"{name}.greatest")
    return then.get(name), now.get(name), minus(name, name), minus(*ends), minus(*ends[::-1])


def _moved(left: pa.Table, places: pa.Array) -> pa.Table:
    """Return values without one fold at a time by the places of their groups among those of both sides."""
    return left.set_column(left.column_names.index(GROUP), GROUP, places.take(left[GROUP].combine_chunks()))
