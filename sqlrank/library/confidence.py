"""Whether intervals were asked for, at which level and of which kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked

INTERVALS = ("auto", "wilson", "t", "normal")

SLOTS = ("standard_error", "reach", "low", "high", "area_ratio", "shrunken", "effective", "fewer", "unit_value")
"""The functions that intervals are made of, which are chosen with the interval and not as policies."""

SHARE, SIGNED = "0 to 1", "-1 to 1"
"""The bounds of a share, for which Wilson's interval is, and of what is a share if halved and moved up."""


@dataclass(frozen=True)
class Confidence:
    """The level of intervals, such as 0.95, their kind: ``auto``, ``wilson``, ``t`` or ``normal``, and the column of units, if one was named.

    ``per_unit`` asks for the values of units instead, of which intervals and tests are made elsewhere.
    """

    level: float
    interval: str = "auto"
    unit: str | None = None
    per_unit: bool = False

    def kind(self, asked: Asked, is_of_group: bool) -> str:
        """Return the kind of interval of a metric: its own, Wilson's for a share, else Student's; ``is_of_group``: it is no mean of values."""
        if self.interval != "auto":
            return "t" if self.interval == "normal" else self.interval
        own = asked.file.facts.get("Interval") if is_of_group else None
        return own or ("wilson" if is_share(asked) or is_signed(asked) else "t")

    def is_of_classes(self, kind: str) -> bool:
        """Whether a kind of interval is one that a file names, which may ask for the sizes of two classes."""
        return kind not in INTERVALS


def is_share(asked: Asked) -> bool:
    """Whether a metric is always between 0 and 1."""
    return asked.file.facts.get("Bounds") == SHARE and asked.settings.get("aggregate") != "sum"


def is_signed(asked: Asked) -> bool:
    """Whether a metric is always between -1 and 1."""
    return asked.file.facts.get("Bounds") == SIGNED and asked.settings.get("aggregate") != "sum"


def read_confidence(
    asked: Sequence[Asked], level: Any, interval: str, unit: Any, per_query: bool, has_groupings: bool
) -> Confidence | None:
    """Return what intervals are asked for; raise ``MetricError`` for what has none."""
    if interval not in INTERVALS:
        raise MetricError(f"unknown interval {interval!r}{suggestion(str(interval), INTERVALS)} Choose from: {', '.join(INTERVALS)}")
    if level is None:
        if interval != "auto":
            raise MetricError(f"interval={interval!r} needs confidence=, such as 0.95")
        if unit is not None:
            raise MetricError(f"unit={unit!r} is for intervals, and needs confidence=, such as 0.95")
        return None
    check_level(level)
    if per_query:
        raise MetricError("a query has no interval of its own; leave out per_query, or confidence")
    for item in asked:
        _refuse(item, interval, unit)
    if has_groupings:
        raise MetricError("intervals of several groupings at once are not possible; ask for one grouping, or leave out confidence")
    return Confidence(float(level), interval, unit)


def _refuse(asked: Asked, interval: str, unit: Any) -> None:
    """Raise ``MetricError`` for a metric that has no interval of a kind, or by a unit."""
    if asked.file.kind == "curves" or isinstance(asked.metric.cutoff, tuple):
        raise MetricError(f"{asked.metric} has no intervals; ask for metrics with one cut-off each, or leave out confidence")
    if unit is not None and (asked.home == "run" or asked.settings.get("level") == "query"):
        raise MetricError(f"unit={unit!r} is not possible for {asked.metric}, whose units are queries; leave out unit")
    if interval == "wilson" and not is_share(asked):
        raise MetricError(f"Wilson's interval is for shares, and {asked.metric} is not always between 0 and 1; choose interval='t'")


def check_level(level: Any) -> None:
    """Raise ``MetricError`` for what is no level of confidence."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1:  # noqa: PLR2004  less than a coin
        raise MetricError(f"confidence={level!r} is not possible; it is a number from 0.5 to below 1, such as 0.95")
