"""Read the bounds of a metric's values, and of its estimand, from the files and settings that it uses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlrank.registry.resolved_metric import ResolvedMetric


NO_BOUNDS, MAP = "none", "map"
"""The annotation of functions without bounds, and the wildcard for maps of numbers."""

PROPORTION_BOUNDS, SIGNED_BOUNDS = (0.0, 1.0), (-1.0, 1.0)
"""Bounds of metrics with Wilson's interval: direct, or mapped from -1..1 to 0..1."""


def is_bounded_0_1(metric: ResolvedMetric) -> bool:
    """Return True if a metric is always between 0 and 1."""
    return value_bounds(metric) == PROPORTION_BOUNDS


def is_bounded_minus1_1(metric: ResolvedMetric) -> bool:
    """Return True if a metric is always between -1 and 1."""
    return value_bounds(metric) == SIGNED_BOUNDS


def value_bounds(metric: ResolvedMetric) -> tuple[float, float] | None:
    """Return the bounds of a metric's values, None if its files declare none.

    A file names the settings under which values may exceed the bounds: ``-- Range: 0 to 1, but not under precision_at=all_ranks.`` A function
    may lift the bounds of every metric that uses it: ``-- Range: none.``
    """
    declared = metric.file.bounds
    if declared is None or declared.is_unbounded:
        return None
    if any(file.annotations.get("Range") == NO_BOUNDS for file in metric.dependencies.files) or any(
        _has_setting(metric, name, value) for name, value in declared.exceptions
    ):
        return None
    if metric.settings.get("aggregate") == "sum":
        return (0.0, math.inf) if declared.low >= 0 else None
    return declared.low, declared.high


def limit_bounds(metric: ResolvedMetric) -> tuple[float, float] | None:
    """Return the bounds of a metric's estimand, to which interval limits are clipped.

    These are the bounds of its values, or those that its file says only estimates may exceed: ``-- Range: 0 to 1, but not estimates under
    ratio_estimate=corrected.``
    """
    declared = metric.file.bounds
    return value_bounds(metric) or ((declared.low, declared.high) if declared is not None and declared.holds_for_estimand else None)


def describe_bounds(metric: ResolvedMetric) -> str:
    """Return the bounds of a metric's values as ``0 to 1`` or ``0 to inf``, empty without bounds."""
    bounds = value_bounds(metric)
    return "" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"


def _has_setting(metric: ResolvedMetric, name: str, value: str) -> bool:
    """Return True if a setting has a value; ``map`` matches any map of numbers."""
    chosen = metric.settings.get(name, metric.file.declared_settings[name].default if name in metric.file.declared_settings else None)
    return isinstance(chosen, tuple) if value == MAP else chosen == value
