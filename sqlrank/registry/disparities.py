"""Replace names of differences between groups, such as EqualizedOdds, by the metrics that ``sql/names.toml`` lists for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError
from sqlrank.registry.metric import Metric, normalize_name, parse_metric_text, to_sql_name
from sqlrank.registry.metric_resolver import as_metric_list, parse_canonical

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


@dataclass(frozen=True)
class RequestedDifferences:
    """The requested metrics of differences between groups.

    Attributes:
        metrics: The metrics to compute: those that were requested, and those of named differences.
        components: The canonical metrics of each named difference, by its name.
        component_metrics: The canonical metrics that were requested by the name of a difference only.
    """

    metrics: Any
    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    component_metrics: frozenset[str] = frozenset()

    def by_row(self, metrics: Sequence[ResolvedMetric], requested_names: bool, plain_names: bool) -> dict[str, tuple[str, ...]]:
        """Return the canonical metrics of each row of differences, by its name."""
        rows: dict[str, tuple[str, ...]] = {}
        for metric in metrics:
            if (name := str(metric.metric)) not in self.component_metrics:
                rows |= dict.fromkeys(metric.column_names if requested_names else (name,), (name,))
        return rows | {to_sql_name(name) if plain_names else name: names for name, names in self.components.items()}


def split_differences(metrics: Any, library: Registry, *, is_across: bool) -> RequestedDifferences:
    """Replace names of differences, such as ``EqualizedOdds(threshold=0.7)``, by the metrics that they are of.

    Raises:
        MetricError: A difference is requested, but no column whose groups are compared.
    """
    if isinstance(metrics, Mapping):
        return RequestedDifferences(metrics)
    entries = as_metric_list(metrics)
    if all((metric := _parse_metric(entry)) is not None and metric.name.lower() in library.metrics for entry in entries):
        return RequestedDifferences(entries)  # without reading names.toml
    named = library.synonyms.get("differences", {})
    components: dict[str, tuple[Metric, ...]] = {}
    plain_entries = []
    for entry in entries:
        metric = _parse_metric(entry)
        if metric is None or normalize_name(metric.name) not in named:
            plain_entries.append(entry)
            continue
        if not is_across:
            raise MetricError(
                f"{metric.name} is a difference between groups. Name the column of the groups in evaluate or gate, such as across='country'"
            )
        components[str(entry)] = tuple(Metric(name, metric.params) for name in named[normalize_name(metric.name)])
    if not components:
        return RequestedDifferences(entries)
    canonical = {name: tuple(str(parse_canonical(str(component), library)) for component in group) for name, group in components.items()}
    requested = {name for entry in plain_entries if (name := _canonical_name(entry, library))}
    return RequestedDifferences(
        [*plain_entries, *(component for group in components.values() for component in group)],
        canonical,
        frozenset(name for group in canonical.values() for name in group) - requested,
    )


def _canonical_name(entry: Any, library: Registry) -> str:
    """Return the canonical metric of an entry, "" if it is not a single metric."""
    try:
        return str(parse_canonical(str(entry), library))
    except MetricError:
        return ""


def _parse_metric(entry: Any) -> Metric | None:
    """Return a metric as it was requested, None if it is not a single metric."""
    if isinstance(entry, Metric):
        return entry
    try:
        return parse_metric_text(entry) if isinstance(entry, str) else None
    except MetricError:
        return None
