"""Test differences (t, signed-rank, sign), and find the detectable effect and the units that a
power or interval width requires.
"""

from __future__ import annotations

import math

from sqlrank.inference.student_t import (
    incomplete_beta,
    normal_quantile,
    t_critical_value,
    t_two_sided_tail,
)

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
