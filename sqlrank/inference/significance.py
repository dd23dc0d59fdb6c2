"""Test differences (t, signed-rank, sign) with standard errors, intervals and corrections for
multiple comparisons, choose the better system, and plan units and effects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, short_repr, suggest_choice
from sqlrank.inference.student_t import (
    incomplete_beta,
    normal_quantile,
    t_critical_value,
    t_two_sided_tail,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


ROUNDING_NOISE = 1e-12
"""Size of rounding errors, relative to the numbers that were subtracted."""

MIN_VALUES = 2
"""Minimum number of values for a standard error."""


def clear_rounding_noise(spread: float, size: float) -> float:
    """Return a spread, or 0 if it is only rounding errors of numbers of ``size``.

    >>> clear_rounding_noise(1e-16, 0.5), clear_rounding_noise(0.1, 0.5)
    (0.0, 0.1)
    """
    return spread if spread > ROUNDING_NOISE * abs(size) else 0.0


def weighted_mean_standard_error(count: float | None, *sums: float | None) -> float | None:
    """Return the standard error of a weighted mean, None without variance.

    The sums are those of the weights w of values v: w, wv, w², w²v and w²v².

    >>> round(weighted_mean_standard_error(2, 2.0, 4.0, 2.0, 4.0, 10.0), 12)
    1.0
    """
    defined_sums = [value for value in sums if value is not None]
    if count is None or len(defined_sums) < len(sums) or count < MIN_VALUES or not defined_sums[0]:
        return None
    weight, total, weights, products, squares = defined_sums
    mean = total / weight
    spread = clear_rounding_noise(squares - 2 * mean * products + mean * mean * weights, squares)
    return math.sqrt(count / (count - 1) * spread) / weight if spread else None


def t_interval(
    value: float | None,
    se: float | None,
    df: float,
    level: float,
    critical_value: float | None = None,
) -> tuple[float | None, float | None]:
    """Return the limits of Student's t interval, None without a standard error above 0.

    ``critical_value`` replaces the quantile of Student's t at ``level``.

    >>> [round(limit, 12) for limit in t_interval(0.5, 0.1, 1, 0.5)]
    [0.4, 0.6]
    """
    if value is None or not se:
        return None, None
    half_width = se * (t_critical_value(level, df) if critical_value is None else critical_value)
    return value - half_width, value + half_width


TESTS = ("t", "wilcoxon", "sign", "randomization")
MIN_RANKED_UNITS = 10
"""Minimum number of nonzero differences for the normal approximation of Wilcoxon's test."""
MAX_RATIO = 1e9
"""Ratio of a deviation to a half-width above which the number of units, its square, is no 64-bit
integer.
"""


def t_test(difference: float, se: float, df: float) -> tuple[float | None, float | None]:
    """Return Student's t of a mean and its two-sided p-value.

    With a standard error of 0 there is no t, and p is 1 for a difference of 0, otherwise None.

    >>> tuple(round(value, 6) for value in t_test(0.0933333333, 0.0350180329, 11))
    (2.665293, 0.021978)
    """
    if se == 0:
        return None, 1.0 if difference == 0 else None
    statistic = difference / se
    return statistic, t_two_sided_tail(abs(statistic), df)


def wilcoxon_test(
    units: int, rank_sum: float, tie_term: float
) -> tuple[float | None, float | None]:
    """Return z and the two-sided p-value of the signed-rank test (Wilcoxon 1945).

    Uses the normal approximation without continuity correction. ``units`` counts nonzero
    differences, ``rank_sum`` is the sum of the ranks of positive ones.

    >>> tuple(round(value, 6) for value in wilcoxon_test(10, 48.5, 54))
    (2.153138, 0.031308)
    """
    if units < MIN_RANKED_UNITS:
        return None, None
    standard_error = math.sqrt(units * (units + 1) * (2 * units + 1) / 24 - tie_term / 48)
    statistic = (rank_sum - units * (units + 1) / 4) / standard_error
    return statistic, math.erfc(abs(statistic) / math.sqrt(2))


def sign_test(above: int, below: int) -> tuple[float, float]:
    """Return the number of positive differences and the exact two-sided p-value of the sign test.

    Zero differences are left out.

    >>> above, p = sign_test(8, 2)
    >>> above, round(p, 9)
    (8.0, 0.109375)
    """
    fewer, units = min(above, below), above + below
    p = 1.0 if units == 0 else min(1.0, 2 * incomplete_beta(units - fewer, fewer + 1, 0.5))
    return float(above), p


def greatest_unseen_share(units: float, level: float) -> float:
    """Return the share of a kind of which so many units have none with the probability 1 -
    ``level``: a greater one would show (rule of three).

    >>> round(greatest_unseen_share(20, 0.95), 6)
    0.139108
    """
    return -math.expm1(math.log1p(-level) / units)


def minimum_detectable_effect(
    deviation: float, units: int, level: float, power: float, critical_value: float | None = None
) -> float:
    """Return the minimum detectable effect of a t-test with this power.

    ``deviation`` is the standard deviation of the differences. ``critical_value`` is that of the
    test, by default the quantile of Student's t at ``level``.

    >>> round(minimum_detectable_effect(1, 50, 0.95, 0.8), 6)
    0.404266
    """
    critical = t_critical_value(level, units - 1) if critical_value is None else critical_value
    return (critical + t_critical_value(2 * power - 1, units - 1)) * deviation / math.sqrt(units)


def required_units(
    deviation: float, effect: float, level: float, power: float, critical_value: float | None = None
) -> int | None:
    """Return the number of units a t-test requires for an effect and power (Guenther 1981); None if
    there are not so many.

    ``critical_value`` is that of the test, by default the quantile of the normal distribution at
    ``level``.

    >>> [required_units(1, effect, 0.95, 0.8) for effect in (0.05, 0.1, 0.2, 0.5, 1)]
    [3142, 787, 199, 34, 10]
    """
    critical = normal_quantile((1 + level) / 2) if critical_value is None else critical_value
    deviations = (critical + normal_quantile(power)) * deviation
    if abs(effect) <= deviations / MAX_RATIO:
        return None
    return math.ceil((deviations / effect) ** 2 + critical * critical / 2)


def required_units_for_half_width(deviation: float, half_width: float, level: float) -> int | None:
    """Return the number of units required for an interval of this half-width, at least 2; None if
    there are not so many.

    >>> required_units_for_half_width(1, 0.1, 0.95), required_units_for_half_width(1, 0, 0.95)
    (387, None)
    """
    z = normal_quantile((1 + level) / 2)
    if half_width <= z * deviation / MAX_RATIO:
        return None
    return max(2, math.ceil((z * deviation / half_width) ** 2 + z * z / 2))


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


def list_pairs(systems: Sequence[str], baseline: Any) -> list[tuple[str, str]]:
    """Return the pairs to compare: the baseline with every other system, or all pairs.

    >>> list_pairs(["a", "b", "c"], None), list_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('b', 'a'), ('b', 'c')])
    """
    if len(systems) < 2:  # noqa: PLR2004  a comparison is of two
        available = f"there is only {systems[0]!r}" if systems else "there is none"
        raise MetricError(
            f"two systems are needed to compare, and {available}. Name their column with system=,"
            " or give a run of each, run={'old': ..., 'new': ...}, or scores of both,"
            " columns={'score': ['old', 'new']}"
        )
    if baseline is None:
        return [
            (first, second)
            for index, first in enumerate(systems)
            for second in systems[index + 1 :]
        ]
    if baseline not in systems:
        raise MetricError(
            suggest_choice(f"no system is called {short_repr(baseline)}", baseline, systems)
        )
    return [(baseline, system) for system in systems if system != baseline]
