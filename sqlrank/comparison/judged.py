"""What tests say of differences: intervals, p-values and power, corrected for how many comparisons there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlrank.comparison.draws import Draws, quantile_of
from sqlrank.comparison.significance import (
    CORRECTIONS,
    TESTS,
    corrected,
    detectable,
    level_of,
    needed,
    sign_test,
    t_test,
    wilcoxon_test,
)  # fmt: skip
from sqlrank.errors import MetricError, suggestion
from sqlrank.library.confidence import check_level
from sqlrank.statement.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.comparison.units import Compared, Key, Units

NO_SPREAD = 1e-12
"""Standard errors, as a share of the greatest difference, below which units do not differ."""

SMALLEST_EFFECT = 1e-9
"""The least effect that one can ask for: to find it takes more units than there are."""


@dataclass(frozen=True)
class Tests:
    """How differences are tested: the test, the correction, the level of intervals, the effect to find, its power, and draws."""

    test: str
    correction: str
    confidence: float
    effect: float | str | None
    power: float
    replicates: int
    seed: int

    def __post_init__(self) -> None:
        """Refuse what cannot be tested."""
        for name, given, known in (("test", self.test, TESTS), ("correction", self.correction, CORRECTIONS)):
            if given not in known:
                raise MetricError(f"unknown {name} {given!r}{suggestion(str(given), known)} Choose from: {', '.join(known)}")
        if self.correction == "max_t" and self.test != "t":
            raise MetricError(f"correction='max_t' is of t-tests; leave out test={self.test!r}, or choose correction='holm'")
        check_level(self.confidence)
        if self.effect is not None:
            share_or_number(self.effect, "effect", SMALLEST_EFFECT)

    def effect_on(self, value: float | None) -> float | None:
        """Return the effect to find, a share being one of the baseline's value."""
        if self.effect is None:
            return None
        number, is_share = share_or_number(self.effect, "effect", SMALLEST_EFFECT)
        return number if not is_share else number * abs(value or 0.0) or None


def share_or_number(given: Any, name: str, least: float) -> tuple[float, bool]:
    """Return a number, or a share that is written ``"1%"``, and whether it is one; raise ``MetricError`` for what is neither.

    >>> share_or_number("2%", "tolerance", 0.0), share_or_number(0.5, "tolerance", 0.0)
    ((0.02, True), (0.5, False))
    """
    text = str(given).strip()
    is_share = isinstance(given, str) and text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if is_share else 1)
    except ValueError:
        value = math.nan
    if isinstance(given, bool) or not math.isfinite(value) or value < least:
        raise MetricError(f"{name}={given!r} is not possible: give a number from {least:g}, such as 0.01, or a share of the baseline, '1%'")
    return value, is_share


@dataclass(frozen=True)
class Judged:
    """What is known of a comparison, and what tests say of it; None is undefined."""

    of: Compared
    level: float
    se: float | None = None
    low: float | None = None
    high: float | None = None
    effect_size: float | None = None
    statistic: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    detectable: float | None = None
    needed: int | None = None


def deviation_of(item: Compared) -> float | None:
    """Return the standard error of a mean difference, 0 where units do not differ but for rounding; None of fewer than two units."""
    if item.units < 2 or item.se is None or item.scale is None:  # noqa: PLR2004  one unit has no spread
        return None
    return item.se if item.se > NO_SPREAD * item.scale else 0.0


def with_interval(item: Compared, level: float, reach: float | None = None) -> Judged:
    """Return a comparison with the interval of its difference, which ends ``reach`` standard errors away, or as many as Student's t says."""
    se = deviation_of(item)
    if not se or item.difference is None:
        return Judged(item, level, se)
    far = se * (t_quantile(level, item.freedom) if reach is None else reach)
    return Judged(item, level, se, item.difference - far, item.difference + far)


def judged(units: Units, compared: Sequence[Compared], tests: Tests) -> list[Judged]:
    """Return what the tests say of every comparison, in the same order."""
    p_of, adjusted, reach = _drawn(units, compared, tests)
    ranks = units.ranks() if tests.test == "wilcoxon" else {}
    tested = [_tested(item, tests, p_of, ranks) for item in compared]
    level = level_of(tests.confidence, tests.correction, len(compared))
    p_adjusted = corrected([p for _, p in tested], tests.correction)
    if tests.correction == "max_t":
        p_adjusted = [adjusted.get(item.key) if p is not None else None for item, (_, p) in zip(compared, tested, strict=True)]
        level = tests.confidence
    return [_judged(item, tests, level, reach, *test, correct) for item, test, correct in zip(compared, tested, p_adjusted, strict=True)]


def _drawn(units: Units, compared: Sequence[Compared], tests: Tests) -> tuple[Mapping[Key, float], Mapping[Key, float], float | None]:
    """Return p-values and adjusted ones that are found by drawing, and how many standard errors intervals then reach."""
    is_max_t = tests.correction == "max_t"
    if not (is_max_t or tests.test == "randomization") or not any(item.units for item in compared):
        return {}, {}, None
    draws = Draws(units, compared, tests.replicates, tests.seed)
    p_of = draws.p_values() if tests.test == "randomization" else {}
    if not is_max_t:
        return p_of, {}, None
    greatest = draws.greatest()
    return p_of, draws.adjusted(greatest), quantile_of(greatest, tests.confidence)


def _tested(
    item: Compared, tests: Tests, p_of: Mapping[Key, float], ranks: Mapping[Key, tuple[int, float, float]]
) -> tuple[float | None, float | None]:
    se = deviation_of(item)
    if se is None or item.difference is None:
        return None, None
    if tests.test == "wilcoxon":
        return wilcoxon_test(*ranks.get(item.key, (0, 0.0, 0.0)))
    if tests.test == "sign":
        return sign_test(int(item.above or 0), int(item.below or 0))
    if tests.test == "randomization":
        return item.difference, p_of[item.key]
    return t_test(item.difference if item.above or item.below else 0.0, se, item.freedom)


def _judged(
    item: Compared, tests: Tests, level: float, reach: float | None, statistic: float | None, p: float | None, p_adjusted: float | None
) -> Judged:
    found = with_interval(item, level, reach)
    se = found.se
    if se is None or item.difference is None:
        return Judged(item, level)
    found = replace(found, statistic=statistic, p=p, p_adjusted=p_adjusted)
    if se == 0:
        return found
    deviation = se * math.sqrt(item.units)
    effect = tests.effect_on(item.value_baseline)
    return replace(
        found,
        effect_size=item.difference / deviation,
        detectable=detectable(deviation, item.units, tests.confidence, tests.power),
        needed=None if effect is None else needed(deviation, effect, tests.confidence, tests.power),
    )
