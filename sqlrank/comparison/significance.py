"""P-values, their corrections and the power of tests, from the standard library alone."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from sqlrank.statement.distributions import incomplete_beta, t_quantile, t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

TESTS = ("t", "wilcoxon", "sign", "randomization")
CORRECTIONS = ("holm", "bh", "max_t", "none")
FEWEST_RANKED = 10
"""Differences other than 0 below which the normal approximation of Wilcoxon's test does not hold."""


def t_test(difference: float, se: float, freedom: float) -> tuple[float | None, float | None]:
    """Return Student's t of a mean and its two-sided p.

    Without spread there is no t, and p is 1 where there is no difference either.

    >>> tuple(round(value, 6) for value in t_test(0.0933333333, 0.0350180329, 11))
    (2.665293, 0.021978)
    """
    if se == 0:
        return None, 1.0 if difference == 0 else None
    statistic = difference / se
    return statistic, t_tail(abs(statistic), freedom)


def wilcoxon_test(units: int, rank_sum: float, tie_term: float) -> tuple[float | None, float | None]:
    """Return z and the two-sided p of the signed-rank test (Wilcoxon 1945), by the normal approximation without continuity correction.

    ``units`` are those with a difference, ``rank_sum`` the sum of the ranks of positive ones.

    >>> tuple(round(value, 6) for value in wilcoxon_test(10, 48.5, 54))
    (2.153138, 0.031308)
    """
    if units < FEWEST_RANKED:
        return None, None
    spread = math.sqrt(units * (units + 1) * (2 * units + 1) / 24 - tie_term / 48)
    statistic = (rank_sum - units * (units + 1) / 4) / spread
    return statistic, math.erfc(abs(statistic) / math.sqrt(2))


def sign_test(above: int, below: int) -> tuple[float, float]:
    """Return how many differences are above 0, and the exact two-sided p of so many among those that are not 0.

    >>> above, p = sign_test(8, 2)
    >>> above, round(p, 9)
    (8.0, 0.109375)
    """
    fewer, units = min(above, below), above + below
    p = 1.0 if units == 0 else min(1.0, 2 * incomplete_beta(units - fewer, fewer + 1, 0.5))
    return float(above), p


def corrected(values: Sequence[float | None], correction: str) -> list[float | None]:
    """Return p-values, corrected for how many there are: Holm 1979, or ``bh`` (Benjamini & Hochberg 1995); one that is None stays so.

    >>> [round(p, 3) for p in corrected([0.01, 0.04, 0.03, 0.005, 0.2], "holm")]
    [0.04, 0.09, 0.09, 0.025, 0.2]
    >>> [round(p, 3) for p in corrected([0.01, 0.04, 0.03, 0.005, 0.2], "bh")]
    [0.025, 0.05, 0.05, 0.025, 0.2]
    """
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    found: list[float | None] = list(values)
    if correction == "holm":
        least = 0.0
        for rank, (p, place) in enumerate(known):
            least = max(least, min(1.0, (len(known) - rank) * p))
            found[place] = least
    if correction == "bh":
        most = 1.0
        for rank in range(len(known), 0, -1):
            p, place = known[rank - 1]
            most = min(most, p * len(known) / rank)
            found[place] = most
    return found


def level_of(confidence: float, correction: str, comparisons: int) -> float:
    """Return the level of each interval, which allows for how many comparisons there are, if p-values do.

    >>> round(level_of(0.95, "holm", 5), 9), level_of(0.95, "none", 5)
    (0.99, 0.95)
    """
    return confidence if correction == "none" else 1 - (1 - confidence) / max(1, comparisons)


def detectable(deviation: float, units: int, level: float, power: float) -> float:
    """Return the least mean difference that a t-test finds with this power; ``deviation`` is that of the differences of units.

    >>> round(detectable(1, 50, 0.95, 0.8), 6)
    0.404266
    """
    far = t_quantile(level, units - 1) + t_quantile(2 * power - 1, units - 1)
    return far * deviation / math.sqrt(units)


def needed(deviation: float, effect: float, level: float, power: float) -> int:
    """Return how many units a t-test needs to find an effect with this power (Guenther 1981).

    >>> [needed(1, effect, 0.95, 0.8) for effect in (0.05, 0.1, 0.2, 0.5, 1)]
    [3142, 787, 199, 34, 10]
    """
    far = NormalDist().inv_cdf((1 + level) / 2)
    return math.ceil(((far + NormalDist().inv_cdf(power)) * deviation / effect) ** 2 + far * far / 2)


def needed_for_width(deviation: float, half_width: float, level: float) -> int:
    """Return how many units an interval of this half-width needs, at least 2."""
    far = NormalDist().inv_cdf((1 + level) / 2)
    return max(2, math.ceil((far * deviation / half_width) ** 2 + far * far / 2))
