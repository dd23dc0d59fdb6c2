"""Whether a system may ship: a verdict for each metric and slice, and one for all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.comparison.judged import deviation_of, share_or_number
from sqlrank.comparison.significance import needed_for_width
from sqlrank.errors import MetricError
from sqlrank.library.metric import read
from sqlrank.statement.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.comparison.asked import Measure
    from sqlrank.comparison.units import Compared

PASS, FAIL, INCONCLUSIVE, SKIPPED = "pass", "fail", "inconclusive", "skipped"
OTHERS = "*"
"""The name under which a tolerance is given that holds for metrics without one of their own."""

FEW = 20
"""Units below which the same change in all of them decides nothing."""


@dataclass(frozen=True)
class Tolerance:
    """By how much a system may be worse: a number, or a share of the baseline's value."""

    value: float
    is_share: bool

    def __str__(self) -> str:
        return f"{100 * self.value:g}%" if self.is_share else f"{self.value:g}"


def tolerances(given: Any, measures: Sequence[Measure]) -> list[Tolerance]:
    """Return the tolerance of every metric: one for all, or by the metric's name, ``*`` being the others.

    Raises:
        MetricError: a tolerance that is none, or one of a metric that is not asked for.
    """
    by_name = given if isinstance(given, Mapping) else {OTHERS: given}
    names = {measure.name: measure.name for measure in measures} | {OTHERS: OTHERS}
    held = {}
    for name, value in by_name.items():
        canonical = names.get(name) or names.get(str(read(str(name))))
        if canonical is None:
            raise MetricError(
                f"tolerance of {name!r}, which is not asked for; there are: {', '.join(measure.name for measure in measures)}"
            )
        held[canonical] = Tolerance(*share_or_number(value, "tolerance", least=0.0))
    nothing = Tolerance(0.0, is_share=False)
    return [held.get(measure.name, held.get(OTHERS, nothing)) for measure in measures]


def limits(measure: Measure, tolerance: Tolerance) -> tuple[int, float]:
    """Return the sign and the factor by which what is tested is above 0 where the second system is good enough, but for a fixed tolerance."""
    if measure.better == "neither":
        raise MetricError(f"{measure.name} is neither better higher nor lower, so that no gate can be put to it; compare it instead")
    sign = -1 if measure.better == "lower" else 1
    return sign, 1 - sign * tolerance.value if tolerance.is_share else 1.0


@dataclass(frozen=True)
class Verdict:
    """What a gate says of a metric in a slice, why, and how many units it takes to know."""

    verdict: str
    reason: str
    needed: int | None = None


def verdict_of(plain: Compared, tested: Compared, tolerance: Tolerance, level: float, cells: int, min_units: int) -> Verdict:
    """Return the verdict on a metric in a slice.

    ``plain`` is of the difference as it is, ``tested`` of what is to be above the tolerance. A metric fails if the interval is below the
    tolerance, and one that allows for all ``cells`` is below no change at all; it passes if the interval is above the tolerance.
    """
    least = 0.0 if tolerance.is_share else -tolerance.value
    if tested.units < max(2, min_units):
        return Verdict(SKIPPED, f"{tested.units} units, fewer than {max(2, min_units)}")
    if not plain.above and not plain.below:
        return Verdict(PASS, "equal in every unit")
    se, difference = deviation_of(tested), tested.difference
    if se is None or difference is None:
        return Verdict(INCONCLUSIVE, "no interval")
    if se == 0 and tested.units < FEW:
        return Verdict(INCONCLUSIVE, f"the same change in all of {tested.units} units")
    high = difference + se * t_quantile(level, tested.freedom)
    if high < least and difference + se * t_quantile(1 - (1 - level) / cells, tested.freedom) < 0:
        return Verdict(FAIL, "worse by more than the tolerance")
    if difference - se * t_quantile(level, tested.freedom) >= least:
        return Verdict(PASS, "not worse by more than the tolerance")
    return Verdict(INCONCLUSIVE, "cannot tell: the interval reaches past the tolerance", _needed(plain, tested, tolerance, level))


def _needed(plain: Compared, tested: Compared, tolerance: Tolerance, level: float) -> int | None:
    """Return the number of units at which the half-width of the interval is the tolerance."""
    width = tolerance.value * (abs(plain.value_baseline or 0.0) if tolerance.is_share else 1.0)
    se = deviation_of(tested)
    return needed_for_width(se * math.sqrt(tested.units), width, level) if width and se else None


def overall(verdicts: Sequence[Verdict]) -> str:
    """Return the verdict on all: fail if any fails, else inconclusive if any is, or if nothing was decided.

    >>> overall([Verdict(PASS, ""), Verdict(SKIPPED, "")]), overall([Verdict(SKIPPED, "")])
    ('pass', 'inconclusive')
    """
    found = {item.verdict for item in verdicts}
    for verdict in (FAIL, INCONCLUSIVE, PASS):
        if verdict in found:
            return verdict
    return INCONCLUSIVE
