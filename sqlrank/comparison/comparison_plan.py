"""Plan a comparison: its metrics with values per unit, its systems and groupings, and the calls for
the values of each grouping.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlrank.call.interval_options import describe_query_units
from sqlrank.call.request import label_groupings, parse_group_by
from sqlrank.call.resolve import (
    ResolvedRequest,
    resolve_request,
)
from sqlrank.call.sources import find_systems
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.errors import MetricError, enumerate_names, short_repr
from sqlrank.registry.metric_info import metric_direction
from sqlrank.registry.resolved_metric import ResolvedMetric, is_bounded_0_1, is_bounded_minus1_1
from sqlrank.registry.roles import SYSTEM_COLUMN, UNIT_COLUMN
from sqlrank.result_columns import check_group_names, slice_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlrank.call.request import Request
    from sqlrank.registry.registry import Registry

MEAN_AGGREGATES = ("mean", "wmean", None)
PLACEHOLDER_LEVEL = 0.95
"""Confidence level passed when per-unit values are requested; it does not affect them."""

SCORE_COLUMN = "score"
"""The column that identifies systems given as several scores of the same predictions."""


@dataclass(frozen=True)
class ComparedMetric:
    """A compared metric.

    ``direction`` is ``higher``, ``lower`` or ``neither``; ``is_proportion`` means that all values
    lie between 0 and 1. ``uses_influence``: the unit values are influence-function values of a
    pooled metric such as AUC; otherwise they are per-query values of the metric. ``area_width``:
    the width of the range of an area between two classes, such as AUC, None for other metrics.
    ``has_classes``: labels are positive or negative. ``no_interval`` is the reason why no unit has
    a value, None if units have values. ``has_own_column``: the metric is of a column of the caller,
    who said which direction is better. ``averages_sets``: the metric is a mean over predictions of
    sets of classes, of which one may lose all that it is worth. ``unit``: the word for a unit.
    """

    name: str
    direction: str
    is_proportion: bool
    uses_influence: bool = False
    area_width: int | None = None
    has_classes: bool = False
    no_interval: str | None = None
    has_own_column: bool = False
    averages_sets: bool = False
    unit: str = "unit"


def _list_measures(resolved_request: ResolvedRequest) -> list[ComparedMetric]:
    """Return the metrics of a request; raise ``MetricError`` if none has unit values."""
    measures = [_build_measure(metric, resolved_request) for metric in resolved_request.metrics]
    if all(measure.no_interval is not None for measure in measures):
        raise MetricError(
            _no_unit_values_message(resolved_request.metrics[0], measures[0], resolved_request)
        )
    return measures


def _build_measure(metric: ResolvedMetric, resolved_request: ResolvedRequest) -> ComparedMetric:
    name = str(metric.metric)
    if metric.has_several_rows:
        raise MetricError(
            f"{name} has rows of its own and cannot be compared. Ask for metrics with one cut-off"
            " each"
        )
    uses_influence = (
        metric.input_role != "run"
        and metric.file.grain != "list"
        and metric.settings.get("level") != "query"
    )
    reason = (
        metric.file.interval.no_interval
        or (metric.file.interval.no_influence if uses_influence else "")
        or None
    )
    if (
        reason is None
        and uses_influence
        and resolved_request.library.roles[metric.input_role].unit_column is None
    ):
        reason = "it has no values of single queries, but one for all rows"
    if reason is None and (aggregate := metric.settings.get("aggregate")) not in MEAN_AGGREGATES:
        raise MetricError(f"means are compared, not aggregate={aggregate!r}. Leave it out")
    return ComparedMetric(
        name,
        metric_direction(metric),
        is_bounded_0_1(metric),
        uses_influence=uses_influence,
        has_classes=metric.has_classes,
        area_width=_find_area_width(metric) if uses_influence and reason is None else None,
        no_interval=reason and reason.rstrip("."),
        has_own_column=metric.measured_column is not None,
        averages_sets=metric.settings.get("average") == "samples",
    )


def _find_area_width(metric: ResolvedMetric) -> int | None:
    """Return the width of the range of an area whose interval needs the sizes of both classes, None
    for other metrics.
    """
    if not metric.file.interval.limits:
        return None
    return 1 if is_bounded_0_1(metric) else 2 if is_bounded_minus1_1(metric) else None


def _no_unit_values_message(
    metric: ResolvedMetric, measure: ComparedMetric, resolved_request: ResolvedRequest
) -> str:
    has_queries = (
        measure.uses_influence
        and not metric.file.interval.no_interval
        and resolved_request.library.roles[metric.input_role].query_column
    )
    advice = (
        "level='query' compares its values of queries"
        if has_queries
        else "Evaluate it with by='system' to see the values"
    )
    return f"{measure.name} cannot be compared by units: {measure.no_interval}. {advice}"


def check_system_column(system: str | None, noun: str, names: Sequence[str]) -> None:
    """Raise ``MetricError`` for a system column besides several runs or scores, which are systems;
    ``noun`` is ``run`` or ``score``.
    """
    if system not in {None, SYSTEM_COLUMN, SCORE_COLUMN}:
        raise MetricError(
            f"system={system!r} is not possible with several {noun}s. Each {noun} is a system:"
            f" {enumerate_names(names)}. Leave system= out"
        )


@dataclass(frozen=True)
class ComparisonPlan:
    """A comparison: the call for unit values, the system column, the groupings, the metrics, also
    as resolved, and the texts in ``by`` of group columns.

    ``library`` has the functions of the SQL files that compare units.
    """

    call: Request
    system_column: str
    groupings: list[list[str]]
    measures: list[ComparedMetric]
    metrics: list[ResolvedMetric]
    library: Registry
    group_texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def uses_influence(self) -> bool:
        """Return True if unit values are influence-function values of pooled metrics."""
        return next(
            measure.uses_influence for measure in self.measures if measure.no_interval is None
        )

    @property
    def unit(self) -> str:
        """The unit column in tables of unit values."""
        return UNIT_COLUMN if self.uses_influence else QUERY_ID

    @classmethod
    def from_call(
        cls, call: Request, system: str | None, by: Any, columns: Collection[str]
    ) -> ComparisonPlan:
        """Resolve a comparison; without ``system`` there is one system.

        Raises ``MetricError`` for metrics that cannot be compared, and for a group column that has
        the name of one of the ``columns`` of the result.
        """
        scores = (call.columns or {}).get(SCORE_COLUMN)
        has_score_systems = isinstance(scores, (list, tuple)) and "predictions" in call.sources
        system_column = (
            SCORE_COLUMN if has_score_systems else SYSTEM_COLUMN if system is None else system
        )
        if has_score_systems:
            check_system_column(system, SCORE_COLUMN, list(scores or ()))
        requested_groups = parse_group_by(by)
        groups, labels, texts = label_groupings(requested_groups, call.sources, columns)
        _check_groups(groups, columns, system_column, by)
        system_keys = [] if has_score_systems or system is None else [system_column]
        plain_call = replace(
            call,
            by=[*system_keys, *requested_groups[0]],
            system=system,
            group_labels=labels,
            confidence=None,
            per_query=False,
        )
        resolved_request = resolve_request(replace(plain_call, unit=None))
        measures = _list_measures(resolved_request)
        metric_by_influence = {
            measure.uses_influence: measure.name
            for measure in measures
            if measure.no_interval is None
        }
        if len(metric_by_influence) > 1:
            raise MetricError(
                f"{metric_by_influence[False]} is compared by queries and"
                f" {metric_by_influence[True]} by rows or units. Compare them in two calls"
            )
        if True in metric_by_influence:
            return cls(
                replace(plain_call, confidence=PLACEHOLDER_LEVEL, per_unit=True),
                system_column,
                groups,
                measures,
                resolved_request.metrics,
                resolved_request.library,
                texts,
            )
        if call.unit is not None:
            metric = next(
                metric
                for metric in resolved_request.metrics
                if str(metric.metric) == metric_by_influence[False]
            )
            raise MetricError(describe_query_units(metric, call.unit, system_keys))
        return cls(
            replace(plain_call, per_query=True, include_query_weights=True),
            system_column,
            groups,
            measures,
            resolved_request.metrics,
            resolved_request.library,
            texts,
        )

    @property
    def declared_order(self) -> list[str]:
        """The systems in the caller's order, if each was given a name."""
        if self.system_column == SCORE_COLUMN:
            return list((self.call.columns or {})[SCORE_COLUMN])
        systems = find_systems(self.call.sources)
        return [name for name, _ in systems.members if name is not None] if systems else []

    def sort_systems(self, systems: Sequence[str]) -> list[str]:
        """Sort systems in the caller's order, others after them by name."""
        positions = {name: position for position, name in enumerate(self.declared_order)}
        return sorted(systems, key=lambda name: (positions.get(name, len(positions)), name))

    @property
    def group_names(self) -> list[str]:
        """The columns of all groupings."""
        return list(dict.fromkeys(name for group in self.groupings for name in group))

    def call_by(self, columns: Sequence[str]) -> Request:
        """Return the call for unit values by the system column, if there is one, and
        ``columns``.
        """
        system_keys = [self.system_column] if self.system_column in self.call.by else []
        return replace(self.call, by=[*system_keys, *(self.group_texts[name] for name in columns)])

    def calls_by_grouping(self) -> Iterable[tuple[list[str], Request]]:
        """Yield each grouping with its call for unit values."""
        for group in self.groupings:
            yield group, self.call_by(group)

    def value_calls(self) -> Iterable[tuple[list[str], Request]]:
        """Yield each grouping with its call for the metrics by system and group."""
        for group, call in self.calls_by_grouping():
            yield (
                group,
                replace(
                    call,
                    confidence=None,
                    unit=None,
                    per_unit=False,
                    per_query=False,
                    include_query_weights=False,
                ),
            )


def _check_groups(
    groups: Sequence[Sequence[str]], columns: Collection[str], system_column: str, by: Any
) -> None:
    """Raise ``MetricError`` for a group column that identifies systems, or is another column of the
    result.
    """
    if system_column in {name for group in groups for name in group}:
        raise MetricError(
            f"by={short_repr(by)} is not possible: {system_column!r} identifies the systems."
            " Leave it out of by"
        )
    check_group_names(chain.from_iterable(groups), {*columns, *slice_columns(groups)})
