"""Which metrics a state has: sums over predictions, exactly, and metrics of their order, within bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.metric import read
from sqlrank.library.nodes import nodes
from sqlrank.library.orders import Bound, bounds_of
from sqlrank.library.refusals import takes
from sqlrank.statement.bind import bind
from sqlrank.states.lists import HOME, moments_of, parts_of
from sqlrank.states.split import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library

BASE = "predictions"
"""The input that a state is of."""


@dataclass(frozen=True)
class Summed:
    """A metric that is a formula over sums, and these by the names of their columns."""

    name: str
    aggregates: Mapping[str, exp.Expr]
    formula: exp.Expr


@dataclass(frozen=True)
class Listed(Summed):
    """A metric of rankings, over sums of the values of lists; of a mean what its spread is told by; and the same where lists have weights."""

    moments: tuple[Summed, ...]
    weighted: Listed | None = None


@dataclass(frozen=True)
class Ordered:
    """A metric of the order of predictions, the settings that it reads, and what its bounds are the least and the greatest of."""

    name: str
    metric: Any
    reads: frozenset[str]
    least: tuple[Bound, ...]
    greatest: tuple[Bound, ...]

    @property
    def metrics(self) -> list[Any]:
        """The metric, and those that bound it."""
        borrowed = (bound.metric for bound in (*self.least, *self.greatest))
        return [self.metric, *(read(name) for name in borrowed if name is not None)]


@dataclass(frozen=True)
class Wanted:
    """The metrics of a state, in the order in which they were asked for."""

    metrics: tuple[Summed | Ordered, ...]

    @property
    def summed(self) -> list[Summed]:
        """Those that are sums."""
        return [item for item in self.metrics if isinstance(item, Summed)]

    @property
    def of_lists(self) -> bool:
        """Whether they are of rankings."""
        return any(isinstance(item, Listed) for item in self.metrics)

    def weighed(self, has: Callable[[str], bool]) -> Wanted:
        """Return what is wanted of a state that ``has`` some columns: metrics of rankings with weights where it has these."""

        def chosen(item: Summed | Ordered) -> Summed | Ordered:
            other = item.weighted if isinstance(item, Listed) else None
            return item if other is None or not all(map(has, other.aggregates)) else other

        return Wanted(tuple(map(chosen, self.metrics)))

    def means(self, has: Callable[[str], bool]) -> list[Listed]:
        """Return the metrics that are means of lists, as a state has them that ``has`` some columns."""
        return [item for item in self.weighed(has).metrics if isinstance(item, Listed) and item.moments]

    @property
    def ordered(self) -> list[Ordered]:
        """Those of an order, for which the score is cut into bins."""
        return [item for item in self.metrics if isinstance(item, Ordered)]

    @property
    def aggregates(self) -> dict[str, exp.Expr]:
        """The aggregates of all metrics by the names of their columns."""
        return {name: tree for item in self.summed for name, tree in item.aggregates.items()}


def of_asked(asked: Iterable[Asked], library: Library) -> Wanted:
    """Return what a state has to have for metrics that were looked up; raise ``MetricError`` for those that no sums of days give."""
    items = list(asked)
    if len(both := {item.home == HOME: item for item in items}) > 1:
        raise MetricError(f"{both[True].metric} is of rankings and {both[False].metric} of predictions; each wants a state of its own")
    return Wanted(tuple(_of_lists(item, library) if item.home == HOME else _wanted(item, library) for item in items))


def _of_lists(item: Asked, library: Library) -> Listed:
    name = str(item.metric)
    plain, weighted = (
        Listed(
            name,
            *parts_of(item, library, weighted=is_weighted),
            tuple(Summed(f"{name}.{each}", *parts) for each, parts in moments_of(item, library, weighted=is_weighted).items()),
        )
        for is_weighted in (False, True)
    )
    return replace(plain, weighted=weighted)


def _wanted(item: Asked, library: Library) -> Summed | Ordered:
    name = str(item.metric)
    if item.per_list:
        raise MetricError(
            f"{name} has a value for each {library.roles[item.home].list_column} of a group, which a state has of metrics of rankings alone; keep a "
            f"table of these values (per_query=True), or make a state of {item.file.display_name}"
        )
    if item.home != BASE or item.file.kind != "metrics" or isinstance(item.metric.cutoff, tuple):
        raise MetricError(f"{name} is no metric of all predictions with one value, and a state has no others; {_known(library)}")
    if "ties" in item.settings:
        raise MetricError(f"{name}: a state has the value and both bounds at once; leave ties out")
    value = bind(library, item.file.tree.selects[-1].unalias(), item.settings, item.file.params)
    if item.file.reads == BASE:
        taken = split(value)
        if taken is not None:
            return Summed(name, *taken)
    elif (bounds := bounds_of(item.file)) is not None and "squares" not in {column.name for column in nodes(value, exp.Column)}:
        return Ordered(name, item.metric, frozenset(takes(item, library)), *bounds)
    raise MetricError(
        f"{name} is neither a sum over predictions nor within bounds by their order, so that no state has it; {_known(library)}"
    )


def _known(library: Library) -> str:
    summed, ordered = [], []
    for file in library.metrics.values():
        if bounds_of(file) is not None:
            ordered.append(file.display_name)
        elif file.source_of_rows == BASE and split(file.tree.selects[-1].unalias()) is not None:
            summed.append(file.display_name)
    return f"it has {', '.join(sorted(ordered))} within bounds, and exactly {', '.join(sorted(summed))}"
