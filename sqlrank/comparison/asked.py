"""What is compared: metrics of which units have values, over which systems differ, overall and in slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlrank.call import Several
from sqlrank.errors import MetricError, shown, suggestion
from sqlrank.library.confidence import is_share
from sqlrank.library.listing import better
from sqlrank.library.roles import SYSTEM
from sqlrank.question import groupings, look_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlrank.call import Call
    from sqlrank.library.asked import Asked
    from sqlrank.question import Question

MEANS = ("mean", "wmean", None)
SCORE = "score"
"""The column that tells several scores of the same predictions apart."""


@dataclass(frozen=True)
class Measure:
    """A metric that is compared: whether ``higher``, ``lower`` or ``neither`` values are better, and whether all lie between 0 and 1.

    Differences are taken as ``sign * (value - factor * baseline)``.
    """

    name: str
    better: str
    is_share: bool
    sign: int = 1
    factor: float = 1.0


def _measures(question: Question) -> list[Measure]:
    """Return the metrics of a question; raise ``MetricError`` for those that cannot be compared by units."""
    return [_measure(item, question) for item in question.asked]


def _measure(item: Asked, question: Question) -> Measure:
    name = str(item.metric)
    if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
        raise MetricError(f"{name} has rows of its own and cannot be compared; ask for metrics with one cut-off each")
    if reason := item.file.facts.get("No interval"):
        raise MetricError(f"{name} cannot be compared by units: {reason}")
    if item.home != "run" and item.file.grain != "list" and item.settings.get("level") != "query":
        role = question.library.roles[item.home]
        advice = ", unless level='query' (-p level=query) asks for those of queries" if role.list_column else ""
        raise MetricError(f"{name} has no values of single queries to compare, but one for all rows{advice}")
    if (aggregate := item.settings.get("aggregate")) not in MEANS:
        raise MetricError(f"means are compared, not aggregate={aggregate!r}; leave it out")
    return Measure(name, better(name, question.library), is_share(item))


@dataclass(frozen=True)
class Asking:
    """A call for the values of units, the column that tells its systems apart, its slices, and the metrics that are compared."""

    call: Call
    system: str
    groups: list[list[str]]
    measures: list[Measure]

    @classmethod
    def of(cls, call: Call, by: Any, slices: Any) -> Asking:
        """Look up what is asked; without ``by`` there is one system. Raises ``MetricError`` for what cannot be compared."""
        if by is not None and not isinstance(by, str):
            raise MetricError(
                f"by={shown(by)} is not possible: name the one column that tells systems apart, and what to look within as slices="
            )
        scores = (call.columns or {}).get(SCORE)
        told_by_score = isinstance(scores, (list, tuple)) and "predictions" in call.sources
        system = SCORE if told_by_score else by or SYSTEM
        columns, several = groupings(slices, "slices")
        groups = [columns] if several is None else several
        if system in {name for group in groups for name in group}:
            raise MetricError(f"slices cannot name {system!r}, which tells the systems apart")
        own = [] if told_by_score or by is None else [system]
        plain = replace(call, by=[*own, *groups[0]], confidence=None, per_query=False)
        compared = _measures(look_up(plain))
        return cls(replace(plain, per_query=True, with_weights=True), system, groups, compared)

    @property
    def given_order(self) -> list[str]:
        """The systems in the order in which they were given, if each was given its name."""
        if self.system == SCORE:
            return list((self.call.columns or {})[SCORE])
        run = self.call.sources.get("run")
        named = [name for name, _ in run.parts] if isinstance(run, Several) and run.are_systems else []
        return [name for name in named if name is not None]

    def ordered(self, systems: Sequence[str]) -> list[str]:
        """Return systems in the order in which they were given, others after them."""
        places = {name: place for place, name in enumerate(self.given_order)}
        return sorted(systems, key=lambda name: (places.get(name, len(places)), name))

    def calls(self) -> Iterable[tuple[list[str], Call]]:
        """Return the call for each grouping."""
        own = [name for name in self.call.by if name not in self.groups[0]]
        for group in self.groups:
            yield group, replace(self.call, by=[*own, *group])


def pairs_of(systems: Sequence[str], baseline: Any) -> list[tuple[str, str]]:
    """Return which systems are compared with which: all with the baseline, or each with those before it.

    >>> pairs_of(["a", "b", "c"], None), pairs_of(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('b', 'a'), ('b', 'c')])
    """
    if len(systems) < 2:  # noqa: PLR2004  a comparison is of two
        there = f"there is only {systems[0]!r}" if systems else "there is none"
        raise MetricError(f"two systems are needed to compare, and {there}; name their column with by= or give run={{'a': ..., 'b': ...}}")
    if baseline is None:
        return [(one, two) for place, one in enumerate(systems) for two in systems[place + 1 :]]
    if baseline not in systems:
        raise MetricError(f"no system is called {shown(baseline)}{suggestion(str(baseline), systems)} Choose from: {', '.join(systems)}")
    return [(baseline, other) for other in systems if other != baseline]
