"""Compute tail probabilities and critical values of Student's t and the normal distribution without
SciPy, and approximate them.
"""

from __future__ import annotations

import math
from functools import cache

LENTZ_TINY = 1e-300
"""Replacement for a zero term in a continued fraction (Lentz's method)."""

HILL_FROM = 10_000
"""Degrees of freedom above which Hill's asymptotic expansion is accurate to double precision."""

CHEBYSHEV_NODES = 12
"""Number of Chebyshev nodes of the interpolated critical value.

Its error is below 1e-11.
"""


def t_two_sided_tail(value: float, df: float) -> float:
    """Return the two-sided tail probability of Student's t at a value; ``df`` may be infinite.

    It is the incomplete beta function I of df / (df + value squared) at df / 2 and 1 / 2. Above
    ``HILL_FROM`` degrees of freedom the gamma functions lose precision, and Hill's normal
    approximation is used.

    References: Abramowitz & Stegun 26.7.1; Hill (1970), Algorithm 395: Student's t-distribution.

    >>> round(t_two_sided_tail(12.706204736, 1), 9), t_two_sided_tail(0, 5)
    (0.05, 1.0)
    """
    if df == math.inf:
        return math.erfc(value / math.sqrt(2))
    if df <= HILL_FROM:
        return incomplete_beta(df / 2, 0.5, df / (df + value * value))
    a = df - 0.5
    b, u = 48 * a * a, math.sqrt(a * math.log1p(value * value / df))
    third = (4 * u**7 + 33 * u**5 + 240 * u**3 + 855 * u) / (10 * b * (b + 0.8 * u**4 + 100))
    return math.erfc((u + (u**3 + 3 * u) / b - third) / math.sqrt(2))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function by its continued fraction.

    Reference: Abramowitz & Stegun 26.5.8.

    >>> incomplete_beta(1, 1, 0.25), incomplete_beta(2, 3, 1)
    (0.25, 1.0)
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_scale = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return math.exp(log_scale) / a * _evaluate_continued_fraction(a, b, x)


def _evaluate_continued_fraction(a: float, b: float, x: float) -> float:
    above, below = 1.0, 1 - (a + b) * x / (a + 1)
    below = 1 / (below if abs(below) > LENTZ_TINY else LENTZ_TINY)
    result = below
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            below, above = 1 + term * below, 1 + term / above
            below = 1 / (below if abs(below) > LENTZ_TINY else LENTZ_TINY)
            above = above if abs(above) > LENTZ_TINY else LENTZ_TINY
            result *= below * above
        if abs(below * above - 1) < 1e-16:  # noqa: PLR2004  the last bit
            break
    return result


def normal_quantile(probability: float) -> float:
    """Return a quantile of the standard normal distribution.

    >>> round(normal_quantile(0.975), 9)
    1.959963985
    """
    from statistics import NormalDist  # takes as long to import as five modules of this package

    return NormalDist().inv_cdf(probability)


@cache
def t_critical_value(confidence: float, df: float) -> float:
    """Return the two-sided critical value of Student's t for a confidence level, by Newton's
    method.

    >>> round(t_critical_value(0.95, 30), 9)
    2.042272456
    """
    if df == math.inf:
        return normal_quantile((1 + confidence) / 2)
    if df == 1:
        return math.tan(math.pi * confidence / 2)
    alpha, value = 1 - confidence, 0.0
    log_density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    for _ in range(200):  # Steps from 0 never overshoot, because the tail is convex.
        density = math.exp(log_density - (df + 1) / 2 * math.log1p(value * value / df))
        step = (t_two_sided_tail(value, df) - alpha) / (2 * density)
        value += step
        if step <= 1e-15 * value:  # negative where rounding errors are greater
            break
    return value


@cache
def t_critical_polynomial(confidence: float) -> tuple[float, ...]:
    """Return the critical value as a polynomial in 1 / df.

    It is valid for 3 or more degrees of freedom. Coefficients are ordered from the constant term.
    The polynomial interpolates the critical value at Chebyshev nodes between 0, the normal
    distribution, and 1 / 3. Coefficients are computed with exact fractions.

    >>> factors = t_critical_polynomial(0.95)
    >>> abs(
    ...     sum(factor / 7**power for power, factor in enumerate(factors))
    ...     - t_critical_value(0.95, 7)
    ... ) < 1e-10
    True
    """
    limit = normal_quantile((1 + confidence) / 2)
    nodes = [
        (1 - math.cos(math.pi * i / (CHEBYSHEV_NODES - 1))) / 6 for i in range(CHEBYSHEV_NODES)
    ]
    return _interpolating_polynomial(
        nodes, [limit, *(t_critical_value(confidence, 1 / x) for x in nodes[1:])]
    )


@cache
def quantile_growth(confidence: float) -> tuple[float, float]:
    """Return ``above`` and ``below`` of a rational approximation of the squared critical value.

    Its ratio to the squared normal quantile is about (df + above) / (df - below). This is exact for
    3 degrees of freedom and to first order in 1 / df; between them the critical value has a
    relative error below 1 %.

    >>> above, below = quantile_growth(0.95)
    >>> abs(
    ...     ((5 + above) / (5 - below)) ** 0.5
    ...     * t_critical_value(0.95, math.inf)
    ...     / t_critical_value(0.95, 5)
    ...     - 1
    ... ) < 0.01
    True
    """
    normal = t_critical_value(confidence, math.inf)
    slope = (normal * normal + 1) / 2
    below = 3 - slope / ((t_critical_value(confidence, 3) / normal) ** 2 - 1)
    return slope - below, below


def _interpolating_polynomial(nodes: list[float], values: list[float]) -> tuple[float, ...]:
    """Return the coefficients of the interpolating polynomial, by Newton's divided differences."""
    from fractions import Fraction  # see normal_quantile

    points, differences = list(map(Fraction, nodes)), list(map(Fraction, values))
    for order in range(1, len(points)):
        for i in range(len(points) - 1, order - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (points[i] - points[i - order])
    factors = [Fraction(0)] * len(points)
    for point, difference in zip(reversed(points), reversed(differences), strict=True):
        factors = [
            difference - point * factors[0],
            *(factors[i - 1] - point * factors[i] for i in range(1, len(points))),
        ]
    return tuple(map(float, factors))
