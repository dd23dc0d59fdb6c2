"""Compute tail probabilities and critical values of the t and normal distributions without SciPy,
and test differences (t, signed-rank, sign) with standard errors, intervals and corrections for
multiple comparisons, choose the better system, plan units and effects, parse tolerances, and give
verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import MetricError, short_repr, suggest_choice
from sqlrank.registry.metric import parse_metric_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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


def wilson_interval(share: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Wilson (1927) for a share.

    >>> [round(limit, 4) for limit in wilson_interval(0.0, 10)], [
    ...     round(limit, 4) for limit in wilson_interval(0.3, 20)
    ... ]
    ([0.0, 0.2775], [0.1455, 0.519])
    """
    quantile = normal_quantile((1 + level) / 2)
    squared = quantile**2 / trials
    center = (share + squared / 2) / (1 + squared)
    half_width = (
        quantile * math.sqrt(share * (1 - share) / trials + squared / (4 * trials)) / (1 + squared)
    )
    return max(0.0, center - half_width), min(1.0, center + half_width)


def required_units_for_share(share: float, limit: float, level: float) -> int | None:
    """Return the number of trials from which the upper limit of Wilson's interval for a share is at
    most another; None if there are not so many.

    >>> required_units_for_share(1 / 64, 0.0834, 0.95), required_units_for_share(0.1, 0.1, 0.95)
    (64, None)
    """
    quantile = normal_quantile((1 + level) / 2)
    limit = min(1.0, limit)
    if limit - share <= quantile / MAX_RATIO:
        return None
    return math.ceil(limit * (1 - limit) * (quantile / (limit - share)) ** 2)


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


def required_units_to_show(share: float, level: float) -> int | None:
    """Return the number of units of which a kind with this share is among them with the probability
    ``level``; None without a share.

    >>> required_units_to_show(0.13911, 0.95), required_units_to_show(0, 0.95)
    (20, None)
    """
    return math.ceil(math.log1p(-level) / math.log1p(-share)) if share > 0 else None


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


PASS, FAIL, INCONCLUSIVE, SKIPPED = "pass", "fail", "inconclusive", "skipped"
DEFAULT_KEY = "*"
"""The key of the default tolerance, for metrics without their own."""


@dataclass(frozen=True)
class Tolerance:
    """A margin or an effect: an absolute number, or a share of another value."""

    value: float
    is_share: bool = False

    @classmethod
    def parse(cls, raw_value: Any, argument: str = "tolerance", least: float = 0.0) -> Tolerance:
        """Parse a number or a percentage such as ``"1%"``; raise ``MetricError`` for anything else.

        >>> Tolerance.parse("2%"), Tolerance.parse(0.5)
        (Tolerance(value=0.02, is_share=True), Tolerance(value=0.5, is_share=False))
        """
        text = str(raw_value).strip()
        is_share = isinstance(raw_value, str) and text.endswith("%")
        try:
            value = float(text.removesuffix("%")) / (100 if is_share else 1)
        except ValueError:
            value = math.nan
        if isinstance(raw_value, bool) or not math.isfinite(value) or value < least:
            raise MetricError(
                f"{argument}={short_repr(raw_value)} is not possible: give a number from {least:g},"
                " such as 0.01, or a share of the baseline, '1%'"
            )
        return cls(value, is_share)

    def compute_margin(self, value: float | None) -> float:
        """Return the tolerance as an absolute difference from ``value``."""
        return self.value * (abs(value or 0.0) if self.is_share else 1.0)

    def __str__(self) -> str:
        return f"{100 * self.value:g}%" if self.is_share else f"{self.value:g}"


def relative_difference(difference: float | None, reference: float | None) -> float | None:
    """Return a difference as a share of the absolute value of a reference, with the sign of the
    difference; None for a reference of 0.
    """
    return None if difference is None or not reference else difference / abs(reference)


def parse_tolerances(
    tolerances: Any,
    metrics: Sequence[str],
    canonical: Mapping[str, str],
    without_default: Collection[str] = (),
) -> dict[str, Tolerance]:
    """Parse the tolerances of metrics, by metric: a common one, or by metric with default ``*``.

    ``canonical`` has the canonical metrics of other requested names. A metric without its own
    tolerance has the common one, if there is one, unless it is in ``without_default``.

    Raises:
        MetricError: an invalid tolerance, or one of a metric that was not requested.
    """
    by_name = tolerances if isinstance(tolerances, Mapping) else {DEFAULT_KEY: tolerances}
    names = {metric: metric for metric in metrics} | {DEFAULT_KEY: DEFAULT_KEY, **canonical}
    tolerance_by_metric = {}
    for name, value in by_name.items():
        metric = names.get(name) or names.get(str(parse_metric_text(str(name))))
        if metric is None:
            raise MetricError(
                f"tolerance names {name!r}, which is no metric of this call. There are:"
                f" {', '.join(metrics)}"
            )
        tolerance_by_metric[metric] = Tolerance.parse(value)
    default = tolerance_by_metric.pop(DEFAULT_KEY, None)
    return {
        name: default for name in metrics if default is not None and name not in without_default
    } | tolerance_by_metric


@dataclass(frozen=True)
class Verdict:
    """A verdict on a metric in a group, its reason, and the number of units that would decide it,
    None if no number does.
    """

    verdict: str
    reason: str
    required_units: int | None = None


def judge_limits(
    limits: tuple[float, float], margin: float, corrected: tuple[float, float] | None = None
) -> str:
    """Return the verdict on the limits of a change for the worse, or of a distance: fail if they
    lie above a margin, pass if they lie at or below it, otherwise inconclusive.

    Fails are decided by limits that are ``corrected`` for several tests, if there are any.

    >>> judge_limits((0.1, 0.3), 0.2), judge_limits((0.1, 0.2), 0.2)
    ('inconclusive', 'pass')
    """
    if (corrected or limits)[0] > margin:
        return FAIL
    return PASS if limits[1] <= margin else INCONCLUSIVE


def describe_undefined(values: Mapping[str, Any]) -> str | None:
    """Return the reason why two values, by what they are of, have no difference, None if they have
    one.

    >>> describe_undefined({"the baseline": None, "the system": 0.5})
    'undefined for the baseline'
    """
    undefined = [name for name, value in values.items() if value is None]
    if not undefined:
        return None
    return f"undefined for {'both' if len(undefined) > 1 else undefined[0]}"


def describe_overlap(limits: tuple[float, float], margin: float, num_tests: int) -> str:
    """Return the reason of an inconclusive verdict on limits: those corrected for the number of
    tests decide if the usual ones lie above the margin.
    """
    allowance = f" that allows for {num_tests} rows" if limits[0] > margin else ""
    return f"the interval{allowance} extends beyond the tolerance"


def overall_verdict(verdicts: Iterable[str]) -> str:
    """Return the overall verdict: fail if any fails, else inconclusive, else pass.

    It is also inconclusive if nothing was decided.

    >>> overall_verdict([PASS, SKIPPED]), overall_verdict([SKIPPED])
    ('pass', 'inconclusive')
    """
    outcomes = set(verdicts)
    return next(
        (verdict for verdict in (FAIL, INCONCLUSIVE, PASS) if verdict in outcomes), INCONCLUSIVE
    )


def build_verdict_metadata(verdicts: Iterable[Verdict], confidence: float) -> dict[str, str]:
    """Return the metadata of a table with a verdict per row: the version, the overall verdict and
    the confidence level.
    """
    return {
        "sqlrank.version": __version__,
        "sqlrank.verdict": overall_verdict(verdict.verdict for verdict in verdicts),
        "sqlrank.confidence": f"{confidence:g}",
    }
