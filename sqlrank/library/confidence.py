"""Whether intervals were asked for, at which level and of which kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked

BOOTSTRAP = "bootstrap"
INTERVALS = ("auto", "wilson", "t", "normal", BOOTSTRAP)

REPLICATE, PLACE, DIGEST, START, STEP, TIMES = OF_DRAWS = (
    "replicate", "place_drawn", "unit_digest", "unit_start", "unit_step", "times_drawn"
)  # fmt: skip
"""The columns by which units are drawn anew."""

OF_VALUES, OF_ROWS, LEAST_REPLICATES, MOST_REPLICATES = 999, 199, 99, 9999
"""How many replicates are drawn of values of queries, and of rows of predictions, unless said; at least, and at most."""

CLOSE = 1e-6
"""What rounding may have added to a number of replicates."""

SLOTS = ("standard_error", "reach", "low", "high", "area_ratio", "shrunken", "effective", "fewer", "unit_value")
"""The functions that intervals are made of, which are chosen with the interval and not as policies."""

SHARE, SIGNED = "0 to 1", "-1 to 1"
"""The bounds of a share, for which Wilson's interval is, and of what is a share if halved and moved up."""


@dataclass(frozen=True)
class Confidence:
    """The level of intervals, such as 0.95, their kind: ``auto``, ``wilson``, ``t`` or ``normal``, and the column of units, if one was named.

    ``replicates`` are drawn by a ``seed``, if they are: ``of_rows`` of predictions, or of the values of queries. ``per_unit`` asks for the values of units instead, of which intervals and tests are made elsewhere.
    """

    level: float
    interval: str = "auto"
    unit: str | None = None
    per_unit: bool = False
    replicates: int = 0
    seed: int = 0
    of_rows: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether units are drawn anew."""
        return self.replicates > 0

    @property
    def tail(self) -> float:
        """The share of replicates that lie beyond either limit."""
        return (1 - self.level) / 2

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
    asked: Sequence[Asked], level: Any, interval: str, unit: Any, per_query: bool, drawn: tuple[Any, int] = (None, 0)
) -> Confidence | None:
    """Return what intervals are asked for; raise ``MetricError`` for what has none. ``drawn`` is how many replicates are, and the seed."""
    if interval not in INTERVALS:
        raise MetricError(f"unknown interval {interval!r}{suggestion(str(interval), INTERVALS)} Choose from: {', '.join(INTERVALS)}")
    replicates, seed = drawn
    if replicates is not None and (level is None or interval != BOOTSTRAP):
        raise MetricError(f"replicates={replicates} is for confidence= with interval='bootstrap'")
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
    if interval != BOOTSTRAP:
        return Confidence(float(level), interval, unit)
    of_rows = _is_of_rows(asked)
    count = (OF_ROWS if of_rows else OF_VALUES) if replicates is None else replicates
    _check_replicates(count, float(level))
    has_none = all(item.home != "run" and "No interval" in item.file.facts for item in asked)
    return Confidence(float(level), interval, unit, replicates=0 if has_none else count, seed=seed, of_rows=of_rows)


def _is_of_rows(asked: Sequence[Asked]) -> bool:
    """Whether the rows of what is evaluated are drawn anew, instead of values of queries; raise ``MetricError`` where it would be both."""
    of_rows: dict[bool, str] = {}
    for item in asked:
        if "No interval" in item.file.facts:
            continue
        has_values = item.home == "run" or item.per_list
        if not has_values and item.settings.get("level") == "query":
            raise MetricError(
                f"{item.metric} puts queries together itself, and bootstrap has no values of these to draw; leave out interval"
            )
        of_rows.setdefault(not has_values, str(item.metric))
        if (aggregate := item.settings.get("aggregate")) not in {None, "mean", "wmean"}:
            raise MetricError(f"interval='bootstrap' is of means, not of aggregate={aggregate!r}; leave out one of them")
    if len(of_rows) > 1:
        raise MetricError(f"{of_rows[False]} is drawn anew by queries and {of_rows[True]} by rows; ask for them in two calls")
    return of_rows.get(True) is not None


def _check_replicates(count: int, level: float) -> None:
    """Refuse a number of replicates of which none would lie beyond a limit, or that is greater than numbers reach."""
    least = max(LEAST_REPLICATES, math.ceil(2 / (1 - level) - CLOSE) - 1)
    if not least <= count <= MOST_REPLICATES:
        raise MetricError(
            f"replicates={count} is not possible for confidence={level:g}: give {least} to {MOST_REPLICATES}, such as {OF_VALUES}"
        )


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
