"""Compute in Python the standard error of a weighted mean, clear rounding errors, and compute the
limits of Student's t interval.
"""

from __future__ import annotations

import math

from sqlrank.inference.student_t import t_critical_value

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
