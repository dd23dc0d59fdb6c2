"""By how much metrics may have moved, and the verdict on each that has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.comparison.asked import Measure
from sqlrank.comparison.verdict import FAIL, INCONCLUSIVE, OTHERS, PASS, SKIPPED, Tolerance, Verdict, overall, tolerances
from sqlrank.library.metric import read

if TYPE_CHECKING:
    from collections.abc import Sequence

PSI = "PSI"
"""What the population stability index is called."""

ORDER = (FAIL, INCONCLUSIVE, SKIPPED, PASS, None)
"""Verdicts, the worst first."""


@dataclass(frozen=True)
class Allowed:
    """The tolerances of those metrics that have one."""

    of_metrics: Mapping[str, Tolerance]
    by_interval: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: Any, names: Sequence[str], by_interval: Sequence[str] = ()) -> Allowed:
        """Read tolerances, and which metrics are judged by their intervals instead of by what is certain; raise ``MetricError`` for one that is none, or of a metric that is not asked for."""
        measures = [Measure(name, "neither", is_share=False) for name in (*names, PSI)]
        found = dict(zip((*names, PSI), tolerances(given, measures), strict=True))
        named = {str(read(str(name))) for name in given if name != OTHERS} if isinstance(given, Mapping) else set()
        has_others = not isinstance(given, Mapping) or OTHERS in given
        return cls({name: each for name, each in found.items() if name in named or (has_others and name != PSI)}, frozenset(by_interval))

    def verdict(self, row: Mapping[str, Any]) -> dict[str, str | None]:
        """Return what is said of a row: nothing of a metric without a tolerance."""
        tolerance = self.of_metrics.get(row["metric"])
        if tolerance is None:
            return {"tolerance": None, "verdict": None, "reason": None}
        said = _verdict(row, tolerance, self.by_interval)
        return {"tolerance": str(tolerance), "verdict": said.verdict, "reason": said.reason}


def judged(rows: Sequence[dict[str, Any]], allowed: Allowed | None) -> list[dict[str, Any]]:
    """Return rows with their verdicts, the worst first: by verdict, and then by how far they moved."""
    said = [row if allowed is None else row | allowed.verdict(row) for row in rows]

    def place(row: Mapping[str, Any]) -> tuple[int, float]:
        tolerance = None if allowed is None else allowed.of_metrics.get(row["metric"])
        width = abs(row["value_reference"] or 1.0) if tolerance is None else _width(row, tolerance)
        moved = abs(row["difference"]) if row["difference"] is not None else -1.0
        return ORDER.index(row.get("verdict")), -moved / width if width else float("-inf") * (moved > 0)

    return sorted(said, key=place)


def overall_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdict on all rows that have one."""
    return overall([Verdict(row["verdict"], "") for row in rows if row["verdict"] is not None])


def _width(row: Mapping[str, Any], tolerance: Tolerance) -> float:
    return tolerance.value * (abs(row["value_reference"] or 0.0) if tolerance.is_share else 1.0)


def _verdict(row: Mapping[str, Any], tolerance: Tolerance, by_interval: frozenset[str]) -> Verdict:
    """Return whether a metric has moved too far: its bounds, or the limits of its interval, are both beyond, or both within."""
    for side, days in (("_reference", "the reference"), ("", "the days that are compared")):
        if row[f"rows{side}"] is None:
            return Verdict(SKIPPED, f"no rows in {days}")
    if row["difference"] is None:
        return Verdict(SKIPPED, "undefined")
    is_sure = row["metric"] in by_interval
    width, (least, greatest) = _width(row, tolerance), (row[name] for name in (("low", "high") if is_sure else ("least", "greatest")))
    if least is None:
        return Verdict(INCONCLUSIVE, "cannot tell: too few folds, or they do not differ")
    if max(abs(least), abs(greatest)) <= width:
        return Verdict(PASS, "within the tolerance")
    if least > width or greatest < -width:
        return Verdict(FAIL, "moved by more than the tolerance")
    return Verdict(INCONCLUSIVE, f"cannot tell: the {'interval reaches' if is_sure else 'bounds reach'} past the tolerance")
