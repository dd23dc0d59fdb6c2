"""Whether intervals were asked for, at which level and of which kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked

INTERVALS = ("auto", "wilson", "t", "normal")

SLOTS = ("standard_error", "reach", "low", "high")
"""The functions that intervals are made of, which are chosen with the interval and not as policies."""

SHARE = "0 to 1"
"""The bounds of a share, for which Wilson's interval is."""


@dataclass(frozen=True)
class Confidence:
    """The level of intervals, such as 0.95, and their kind: ``auto``, ``wilson``, ``t`` or ``normal``."""

    level: float
    interval: str = "auto"

    def kind(self, asked: Asked) -> str:
        """Return the kind of interval of a metric: Wilson's for a share that is averaged, else Student's."""
        if self.interval != "auto":
            return "t" if self.interval == "normal" else self.interval
        return "wilson" if is_share(asked) else "t"


def is_share(asked: Asked) -> bool:
    """Whether a metric is always between 0 and 1."""
    return asked.file.facts.get("Bounds") == SHARE and asked.settings.get("aggregate") != "sum"


def read_confidence(level: Any, interval: str, asked: Sequence[Asked], per_query: bool, has_groupings: bool) -> Confidence | None:
    """Return what intervals are asked for; raise ``MetricError`` for what has none."""
    if interval not in INTERVALS:
        raise MetricError(f"unknown interval {interval!r}{suggestion(str(interval), INTERVALS)} Choose from: {', '.join(INTERVALS)}")
    if level is None:
        if interval != "auto":
            raise MetricError(f"interval={interval!r} needs confidence=, such as 0.95")
        return None
    check_level(level)
    if per_query:
        raise MetricError("a query has no interval of its own; leave out per_query, or confidence")
    for item in asked:
        if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
            raise MetricError(f"{item.metric} has no intervals; ask for metrics with one cut-off each, or leave out confidence")
        if interval == "wilson" and not is_share(item):
            raise MetricError(f"Wilson's interval is for shares, and {item.metric} is not always between 0 and 1; choose interval='t'")
    if has_groupings:
        raise MetricError("intervals of several groupings at once are not possible; ask for one grouping, or leave out confidence")
    return Confidence(float(level), interval)


def check_level(level: Any) -> None:
    """Raise ``MetricError`` for what is no level of confidence."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1:  # noqa: PLR2004  less than a coin
        raise MetricError(f"confidence={level!r} is not possible; it is a number from 0.5 to below 1, such as 0.95")
