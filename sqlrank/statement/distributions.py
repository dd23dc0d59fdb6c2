"""Quantiles of the t distribution, from the standard library alone."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from statistics import NormalDist

TINY = 1e-300
"""What a part of a continued fraction is taken as that is 0 (Lentz's method)."""

MANY = 10_000
"""Degrees of freedom beyond which Hill's expansion is right to the last digits."""

NODES = 12
"""Places at which the quantile as a function of the degrees of freedom is met exactly; between them it is right to 1e-11."""


def t_tail(value: float, freedom: float) -> float:
    """Return the probability that a t variable of this many degrees of freedom, which may be infinite, is farther from 0 than a value.

    It is the incomplete beta function I of freedom / (freedom + value squared) at freedom / 2 and 1 / 2 (Abramowitz & Stegun 26.7.1); of many
    degrees of freedom, whose gamma functions leave it few digits, that of the normal distribution at a value moved (Hill 1970).

    >>> round(t_tail(12.706204736, 1), 9), t_tail(0, 5)
    (0.05, 1.0)
    """
    if freedom == math.inf:
        return math.erfc(value / math.sqrt(2))
    if freedom <= MANY:
        return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value))
    a = freedom - 0.5
    b, u = 48 * a * a, math.sqrt(a * math.log1p(value * value / freedom))
    third = (4 * u**7 + 33 * u**5 + 240 * u**3 + 855 * u) / (10 * b * (b + 0.8 * u**4 + 100))
    return math.erfc((u + (u**3 + 3 * u) / b - third) / math.sqrt(2))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Abramowitz & Stegun 26.5.8).

    >>> incomplete_beta(1, 1, 0.25), incomplete_beta(2, 3, 1)
    (0.25, 1.0)
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_scale) / a * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    above, below = 1.0, 1 - (a + b) * x / (a + 1)
    below = 1 / (below if abs(below) > TINY else TINY)
    result = below
    for m in range(1, 10_000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            below, above = 1 + term * below, 1 + term / above
            below = 1 / (below if abs(below) > TINY else TINY)
            above = above if abs(above) > TINY else TINY
            result *= below * above
        if abs(below * above - 1) < 1e-16:  # noqa: PLR2004  the last bit
            break
    return result


@cache
def t_quantile(confidence: float, freedom: float) -> float:
    """Return how far from 0 a t variable is with the rest of this probability, by Newton's method.

    >>> round(t_quantile(0.95, 30), 9)
    2.042272456
    """
    if freedom == math.inf:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    if freedom == 1:
        return math.tan(math.pi * confidence / 2)
    alpha, value = 1 - confidence, 0.0
    log_density = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    for _ in range(200):  # from 0 the steps are never too long: the tail is convex
        density = math.exp(log_density - (freedom + 1) / 2 * math.log1p(value * value / freedom))
        step = (t_tail(value, freedom) - alpha) / (2 * density)
        value += step
        if abs(step) <= 1e-15 * value:
            break
    return value


@cache
def quantile_polynomial(confidence: float) -> tuple[float, ...]:
    """Return the factors of a polynomial in x, constant first, that is the quantile at 1 / x degrees of freedom, for 3 or more of them.

    It meets the quantile at Chebyshev's places from 0, where the distribution is normal, to 1 / 3. Factors are found as fractions.

    >>> factors = quantile_polynomial(0.95)
    >>> abs(sum(factor / 7**power for power, factor in enumerate(factors)) - t_quantile(0.95, 7)) < 1e-10
    True
    """
    limit = NormalDist().inv_cdf((1 + confidence) / 2)
    places = [(1 - math.cos(math.pi * i / (NODES - 1))) / 6 for i in range(NODES)]
    return _meeting(places, [limit, *(t_quantile(confidence, 1 / x) for x in places[1:])])


def _meeting(at: list[float], values: list[float]) -> tuple[float, ...]:
    """Return the factors of the polynomial that has these values at these places, by Newton's differences."""
    places, steps = list(map(Fraction, at)), list(map(Fraction, values))
    for level in range(1, len(places)):
        for i in range(len(places) - 1, level - 1, -1):
            steps[i] = (steps[i] - steps[i - 1]) / (places[i] - places[i - level])
    factors = [Fraction(0)] * len(places)
    for place, step in zip(reversed(places), reversed(steps), strict=True):
        factors = [step - place * factors[0], *(factors[i - 1] - place * factors[i] for i in range(1, len(places)))]
    return tuple(map(float, factors))
