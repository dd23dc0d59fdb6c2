"""What is compared: metrics of which units have values, over which systems differ, overall and in slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlrank.call import Several
from sqlrank.errors import MetricError, shown, suggestion
from sqlrank.library.confidence import is_share
from sqlrank.library.listing import better
from sqlrank.library.roles import SYSTEM, UNIT
from sqlrank.question import groupings, look_up
from sqlrank.statement.keys import QUERY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlrank.call import Call
    from sqlrank.library.asked import Asked
    from sqlrank.question import Question

MEANS = ("mean", "wmean", None)
ANY_LEVEL = 0.95
"""What stands for the level of intervals where units are asked for, which are the same at all."""

SCORE = "score"
"""The column that tells several scores of the same predictions apart."""


@dataclass(frozen=True)
class Measure:
    """A metric that is compared: whether ``higher``, ``lower`` or ``neither`` values are better, and whether all lie between 0 and 1.

    Differences are taken as ``sign * (value - factor * baseline)``. Values of one that ``is_moved`` are made of how far units move it, those
    of others are its own; ``is_normal`` says that its differences are taken as normal, not by Student's t.
    """

    name: str
    better: str
    is_share: bool
    sign: int = 1
    factor: float = 1.0
    is_moved: bool = False
    is_normal: bool = False


def _measures(question: Question) -> list[Measure]:
    """Return the metrics of a question; raise ``MetricError`` for those that cannot be compared by units."""
    return [_measure(item, question) for item in question.asked]


def _measure(item: Asked, question: Question) -> Measure:
    name = str(item.metric)
    if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
        raise MetricError(f"{name} has rows of its own and cannot be compared; ask for metrics with one cut-off each")
    if reason := item.file.facts.get("No interval"):
        raise MetricError(f"{name} cannot be compared by units: {reason}")
    is_moved = item.home != "run" and item.file.grain != "list" and item.settings.get("level") != "query"
    if is_moved:
        _check_moved(name, item, question)
    if (aggregate := item.settings.get("aggregate")) not in MEANS:
        raise MetricError(f"means are compared, not aggregate={aggregate!r}; leave it out")
    return Measure(name, better(name, question.library), is_share(item), is_moved=is_moved)


def _check_moved(name: str, item: Asked, question: Question) -> None:
    """Refuse a metric that has one value for all rows if no row says how far it moves that."""
    role = question.library.roles[item.home]
    advice = "; level='query' (-p level=query) compares its values of queries" if role.list_column else ""
    if role.unit_column is None:
        raise MetricError(f"{name} has no values of single queries to compare, but one for all rows{advice}")
    if reason := item.file.facts.get("No influence"):
        raise MetricError(f"{name} cannot be compared by units: {reason.rstrip('.')}{advice}")


@dataclass(frozen=True)
class Asking:
    """A call for the values of units, the column that tells its systems apart, its slices, and the metrics that are compared."""

    call: Call
    system: str
    groups: list[list[str]]
    measures: list[Measure]

    @property
    def is_moved(self) -> bool:
        """Whether values of units are made of how far these move metrics of all rows."""
        return self.measures[0].is_moved

    @property
    def unit(self) -> str:
        """The column of units in tables of their values."""
        return UNIT if self.is_moved else QUERY

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
        compared = _measures(look_up(replace(plain, unit=None)))
        moved = {measure.is_moved: measure.name for measure in compared}
        if len(moved) > 1:
            raise MetricError(f"{moved[False]} is compared by queries and {moved[True]} by rows or units; compare them in two calls")
        if True in moved:
            return cls(replace(plain, confidence=ANY_LEVEL, per_unit=True), system, groups, compared)
        if call.unit is not None:
            raise MetricError(f"unit={call.unit!r} is not possible for {compared[0].name}, whose units are queries; leave out unit")
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

    def measured(self, by_rows: bool) -> list[Measure]:
        """Return what is compared; where units are rows, the difference of areas is normal, as DeLong's test has it."""
        errors = {str(item.metric): item.file.facts.get("Standard error") for item in look_up(self.call).asked} if by_rows else {}
        return [replace(measure, is_normal=errors.get(measure.name) == "delong") for measure in self.measures]

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
