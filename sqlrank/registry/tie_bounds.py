"""Read the bounds over the orders of tied scores that a metric's file declares, and substitute the metric to compute for each order.

They name the metrics that give a metric's minimum and maximum. The annotation is ``-- Tie bounds: worst to best``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlrank.errors import MetricError
from sqlrank.registry.dependencies import find_dependencies
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.settings_checks import LIST_SLOTS

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

TIE_BOUNDS = "Tie bounds"
"""Annotation of tie bounds, from the minimum to the maximum.

Example: ``-- Tie bounds: worst of PRAUC(interpolation=davis_goadrich) to best``.
"""

AS_TIED = "tied"
"""The tie order of a bound that equals the value with ties kept."""


@dataclass(frozen=True)
class TieBound:
    """A tie order that attains a bound, and the metric to compute under it."""

    order: str
    metric: str | None = None


def read_tie_bounds(file: SqlFile) -> tuple[tuple[TieBound, ...], tuple[TieBound, ...]] | None:
    """Return the tie orders of a metric's bounds, None if its file declares none."""
    least, _, greatest = file.annotations.get(TIE_BOUNDS, "").partition(" to ")
    return (_parse_bounds(least), _parse_bounds(greatest)) if greatest else None


def _parse_bounds(annotation: str) -> tuple[TieBound, ...]:
    alternatives = (part.partition(" of ") for part in annotation.split(" or "))
    return tuple(TieBound(order, metric or None) for order, _, metric in alternatives)


def prediction_tie_orders(library: Registry) -> list[str]:
    """Return the values of ``ties`` that apply to predictions.

    They select a variant of ``positive_thresholds``.
    """
    return [value for value, choice in library.policies["ties"]["values"].items() if "positive_thresholds" in choice.get("files", ())]


def for_tie_order(metric: ResolvedMetric, library: Registry) -> ResolvedMetric:
    """Substitute the metric that computes this one under the requested tie order, keeping its name.

    Metrics whose file declares none are returned unchanged.
    """
    bounds = [bound for tie_bounds in read_tie_bounds(metric.file) or () for bound in tie_bounds]
    substitute_name = next((bound.metric for bound in bounds if bound.order == metric.settings.get("ties")), None)
    if metric.input_role == "run" or substitute_name is None:
        return metric
    substitute = parse_metric_text(substitute_name)
    file = library.validate_file(library.file_for(substitute))
    defaults = {name: choice.default for name, choice in file.declared_settings.items()}
    settings = {**defaults, **metric.settings, **dict(substitute.params)}
    return replace(metric, file=file, settings=settings, dependencies=find_dependencies(library, file, settings, *LIST_SLOTS))


def tie_bounds_problem(file: SqlFile, library: Registry) -> str:
    """Return the error in a file's annotation of tie bounds, empty if there is none."""
    orders = [*prediction_tie_orders(library), AS_TIED]
    bounds = read_tie_bounds(file)
    if bounds is None or not {bound.order for tie_bounds in bounds for bound in tie_bounds} <= set(orders):
        return f"{TIE_BOUNDS} names orders from the least to the greatest, as in 'worst to best of PRAUC'. Orders are: {', '.join(orders)}"
    try:
        for bound in (bound for tie_bounds in bounds for bound in tie_bounds if bound.metric is not None):
            library.file_for(parse_metric_text(str(bound.metric)))
    except MetricError as error:
        return str(error)
    return ""
