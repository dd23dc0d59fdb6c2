"""Parse tolerances and target effects, absolute (0.01) or relative (1%), record verdicts, and
combine them to an overall one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlrank._version import __version__
from sqlrank.errors import MetricError, short_repr
from sqlrank.registry.metric import parse_metric_text

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
