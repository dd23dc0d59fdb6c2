"""Decide if a candidate is non-inferior by a tolerance, check that metrics have a better direction,
and count the tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlrank.comparison.paired_tests import describe_few_changes, standard_error
from sqlrank.comparison.system_comparison import undefined_reason
from sqlrank.errors import MetricError
from sqlrank.inference.significance import (
    adjusted_confidence,
    greatest_unseen_share,
    required_units_for_half_width,
    t_critical_value,
)
from sqlrank.inference.verdicts import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    SKIPPED,
    Tolerance,
    Verdict,
    describe_overlap,
    judge_limits,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.comparison.comparison_plan import ComparedMetric
    from sqlrank.comparison.paired_differences import DifferenceSummary
    from sqlrank.comparison.paired_tests import ConfidenceSequence

GATE_SYSTEMS = ("baseline", "candidate")
"""Names of the two systems of a gate in reasons."""

MIN_INTERVAL_UNITS = 2
"""Minimum number of units for an interval."""

MAX_UNPAIRED_SHARE = 0.01
"""Maximum share of units that only one of baseline and candidate may have, for a pass or a stored
baseline.
"""

MIN_CLASS_ROWS = 10
"""Number of positives and of negatives below which a reason names it."""

MIN_DECISIVE_UNITS = 20
"""Minimum number of units to decide if all have the same nonzero difference; under a sequence it is
that of expected units.
"""


def check_direction(measure: ComparedMetric) -> None:
    """Raise ``MetricError`` for a metric without a better direction."""
    if measure.direction == "neither":
        raise MetricError(
            f"{measure.name} is neither better higher nor lower, so that no gate can be put to it."
            " Compare it instead"
        )


def decide_verdict(
    summary: DifferenceSummary,
    measure: ComparedMetric,
    tolerance: Tolerance,
    level: float,
    num_tests: int,
    min_units: int,
    sequence: ConfidenceSequence | None = None,
) -> Verdict:
    """Return the verdict on a candidate, which fails if it is worse than the baseline by more than
    a tolerance.

    It fails if an interval corrected for ``num_tests`` rows lies below minus the tolerance, so that
    few fail by chance. It passes if the interval at ``level`` lies above minus the tolerance. A
    relative tolerance is taken of the baseline's measured value, as if that were exact. Under a
    ``sequence`` the intervals are valid at every look. A candidate without values for some units is
    not compared on them, so it neither passes nor is skipped if they are many.
    """
    verdict = _decide_on_pairs(summary, measure, tolerance, level, num_tests, min_units, sequence)
    all_units = summary.units + summary.unpaired
    # Few units are skipped only if both sides have few, not if one lost them.
    has_enough = all_units >= max(MIN_INTERVAL_UNITS, min_units)
    if (
        verdict.verdict in (PASS, SKIPPED)
        and has_enough
        and summary.unpaired > MAX_UNPAIRED_SHARE * all_units
    ):
        return Verdict(
            INCONCLUSIVE,
            f"{summary.unpaired:,} of {all_units:,} units have a value for one system only",
        )
    return verdict


def _decide_on_pairs(
    summary: DifferenceSummary,
    measure: ComparedMetric,
    tolerance: Tolerance,
    level: float,
    num_tests: int,
    min_units: int,
    sequence: ConfidenceSequence | None,
) -> Verdict:
    """Return the verdict on the units that have a value for both systems."""
    min_required_units = max(MIN_INTERVAL_UNITS, min_units)
    if (reason := undefined_reason(summary, measure, GATE_SYSTEMS)) is not None:
        if summary.cell_units < min_required_units:
            return Verdict(
                SKIPPED, f"{reason}, in {summary.cell_units} units, fewer than {min_required_units}"
            )
        return Verdict(INCONCLUSIVE, reason)
    if summary.units < min_required_units:
        return Verdict(SKIPPED, f"{summary.units} units, fewer than {min_required_units}")
    se = standard_error(summary)
    if not summary.n_positive and not summary.n_negative and not se:
        return _decide_without_change(summary, level, sequence)
    if se is None or summary.difference is None:
        return Verdict(INCONCLUSIVE, "no interval")
    if se == 0 and summary.units < (sequence.expected_units if sequence else MIN_DECISIVE_UNITS):
        return Verdict(INCONCLUSIVE, f"the same change in all of {summary.units} units")
    critical_value = sequence.critical_value if sequence else t_critical_value
    find_units = sequence.required_units if sequence else required_units_for_half_width
    margin = tolerance.compute_margin(summary.value_baseline)
    gain = -summary.difference if measure.direction == "lower" else summary.difference
    corrected_level = adjusted_confidence(level, "holm", num_tests)
    # The direction of a caller's column is an option, so that a reader sees if it is missing.
    direction = f", where {measure.direction} is better" if measure.has_own_column else ""
    reach, wide_reach = (se * critical_value(each, summary.df) for each in (level, corrected_level))
    losses, wide_losses = ((-gain - each, each - gain) for each in (reach, wide_reach))
    verdict = judge_limits(losses, margin, wide_losses)
    if verdict == FAIL:
        basis = _describe_basis(summary, measure, corrected_level)
        return Verdict(FAIL, f"worse by more than the tolerance{direction}{basis}")
    if verdict == PASS:
        hidden = _describe_unseen_losses(summary, measure, level) + _describe_basis(
            summary, measure, level
        )
        return Verdict(PASS, f"not worse by more than the tolerance{direction}{hidden}")
    # With more units of the same mean and deviation, a gain on this side of the tolerance passes,
    # and one beyond it fails.
    distance, deviation = gain + margin, se * math.sqrt(summary.units)
    needed = find_units(deviation, abs(distance), level if distance > 0 else corrected_level)
    needed = None if needed is None else max(needed, summary.units + 1)
    reason = describe_overlap(losses, margin, num_tests)
    return Verdict(INCONCLUSIVE, f"{reason}{direction}", needed)


def _decide_without_change(
    summary: DifferenceSummary, level: float, sequence: ConfidenceSequence | None
) -> Verdict:
    """Return the verdict if no unit changes: a pass, but under a sequence only from the expected
    units on, since first looks miss rare losses.
    """
    size = summary.class_size
    class_share = (
        "" if size is None else f", {_greatest_share(size, level)} of those of the smaller class"
    )
    reason = (
        f"no change in {summary.units:,} units: at most {_greatest_share(summary.units, level)} of"
        f" units change{class_share}"
    )
    if sequence is not None and summary.units < sequence.expected_units:
        return Verdict(INCONCLUSIVE, reason, sequence.expected_units)
    return Verdict(PASS, reason)


def _greatest_share(units: float, level: float) -> str:
    """Return the share of a kind of which so many units have none with the probability 1 -
    ``level``, in percent.

    >>> _greatest_share(20, 0.95)
    '14 %'
    """
    return f"{100 * greatest_unseen_share(units, level):.2g} %"


def _describe_unseen_losses(
    summary: DifferenceSummary, measure: ComparedMetric, level: float
) -> str:
    """Return the share of queries that may lose though none that was seen does, empty if one
    does.
    """
    losses = summary.n_positive if measure.direction == "lower" else summary.n_negative
    return (
        ""
        if losses or measure.uses_influence
        else f": no unit is worse, at most {_greatest_share(summary.units, level)} are"
    )


def _describe_basis(summary: DifferenceSummary, measure: ComparedMetric, level: float) -> str:
    """Return the few changes, or rows of a class, that a verdict rests on, empty if they are
    enough.
    """
    if not measure.uses_influence:
        few = describe_few_changes(summary, level)
        return f". {few}" if few else ""
    size = summary.class_size
    return (
        ""
        if size is None or size >= MIN_CLASS_ROWS
        else f", by {size:.3g} rows of the smaller class"
    )


def count_tests(compared: Sequence[DifferenceSummary], min_units: int) -> int:
    """Return the number of rows that can fail: those with an interval and enough units.

    It is at least 1.
    """
    return max(
        1,
        sum(
            summary.units >= max(MIN_INTERVAL_UNITS, min_units)
            and standard_error(summary) is not None
            for summary in compared
        ),
    )
