"""Correct p-values and intervals for multiple comparisons, reconcile an interval with its test, and
choose the better system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CORRECTIONS = ("holm", "bh", "max_t", "none")


def adjust_p_values(values: Sequence[float | None], correction: str) -> list[float | None]:
    """Adjust p-values for multiple comparisons by Holm (1979) or Benjamini & Hochberg (1995),
    ``bh``.

    None stays None.

    >>> [round(p, 3) for p in adjust_p_values([0.01, 0.04, 0.03, 0.005, 0.2], "holm")]
    [0.04, 0.09, 0.09, 0.025, 0.2]
    >>> [round(p, 3) for p in adjust_p_values([0.01, 0.04, 0.03, 0.005, 0.2], "bh")]
    [0.025, 0.05, 0.05, 0.025, 0.2]
    """
    ranked = sorted((p, index) for index, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = list(values)
    if correction == "holm":
        running_max = 0.0
        for rank, (p, index) in enumerate(ranked):
            running_max = max(running_max, min(1.0, (len(ranked) - rank) * p))
            adjusted[index] = running_max
    if correction == "bh":
        running_min = 1.0
        for rank in range(len(ranked), 0, -1):
            p, index = ranked[rank - 1]
            running_min = min(running_min, p * len(ranked) / rank)
            adjusted[index] = running_min
    return adjusted


def adjusted_confidence(confidence: float, correction: str, comparisons: int) -> float:
    """Return the confidence level of each interval, Bonferroni-corrected unless ``correction`` is
    ``"none"``.

    >>> round(adjusted_confidence(0.95, "holm", 5), 9), adjusted_confidence(0.95, "none", 5)
    (0.99, 0.95)
    """
    return confidence if correction == "none" else 1 - (1 - confidence) / max(1, comparisons)


@dataclass(frozen=True)
class HypothesisFamily:
    """The comparisons covered by one correction.

    ``size`` is the number of p-values, ``critical_value`` that of all intervals, if it was
    simulated. A single-step correction compares each difference with the critical value of
    ``level``.
    """

    confidence: float
    correction: str
    size: int
    critical_value: float | None = None

    @property
    def level(self) -> float:
        """The confidence level of an interval, corrected for the number of comparisons."""
        return (
            self.confidence
            if self.critical_value is not None
            else adjusted_confidence(self.confidence, self.correction, self.size)
        )

    def level_for(self, p: float | None, p_adjusted: float | None) -> float:
        """Return the confidence level of one comparison's interval.

        Holm's and Benjamini & Hochberg's step-wise methods reject some hypotheses whose interval at
        ``level`` includes 0. The interval of such a comparison has the level at which its own
        corrected p-value decides, at least ``confidence``.
        """
        alpha = 1 - self.confidence
        if (
            self.critical_value is not None
            or p is None
            or p_adjusted is None
            or p_adjusted >= alpha
            or p <= 1 - self.level
        ):
            return self.level
        return 1 - alpha * p / p_adjusted

    def is_significant(self, p_adjusted: float | None) -> bool:
        """Return True if a corrected p-value rejects the hypothesis."""
        return p_adjusted is not None and p_adjusted < 1 - self.confidence


def reconcile_interval(
    is_rejected: bool, low: float | None, high: float | None
) -> tuple[bool, float | None, float | None]:
    """Return True if test and interval both exclude 0, and the interval; one that disagrees is
    extended to 0.

    >>> reconcile_interval(True, 0.1, 0.3), reconcile_interval(False, 0.1, 0.3)
    ((True, 0.1, 0.3), (False, 0.0, 0.3))
    """
    if low is None or high is None:
        return is_rejected, low, high
    if is_rejected and (low > 0 or high < 0):
        return True, low, high
    return False, min(low, 0.0), max(high, 0.0)


def choose_winner(
    pair: tuple[str, str], difference: float | None, direction: str, is_decided: bool
) -> str | None:
    """Return the better of a baseline and a system by their difference, None if undecided or
    without direction.

    >>> choose_winner(("old", "new"), -0.1, "lower", is_decided=True)
    'new'
    """
    if not is_decided or not difference or direction == "neither":
        return None
    return pair[(difference > 0) is (direction == "higher")]
