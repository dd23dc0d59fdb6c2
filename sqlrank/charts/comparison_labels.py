"""Label verdicts, tests and corrections of comparisons, and find significant differences of metrics without a better direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_BETTER, BASELINE_BETTER, NOT_SIGNIFICANT = "system is better", "baseline is better", "not significant"
DIFFERS_LABEL = "differs, none is better"
"""Verdict on a significant difference of a metric without direction, such as CalibrationRatio."""

STATES = {SYSTEM_BETTER: "better", BASELINE_BETTER: "worse", DIFFERS_LABEL: "differs"}
"""Short names of verdicts that a report marks."""

VARIANT_LABELS = {SYSTEM_BETTER: "variant is better", BASELINE_BETTER: "control is better"}
"""Verdicts on the variants of an experiment, which are compared with a control."""

TEST_LABELS = {
    "t": "Student's t",
    "welch": "Welch's t",
    "sequential": "a confidence sequence, valid at every look",
    "wilcoxon": "Wilcoxon's",
    "sign": "signs",
    "randomization": "randomisation",
}
CORRECTION_LABELS = {"holm": "Holm", "bh": "Benjamini and Hochberg", "max_t": "Westfall and Young", "none": "nothing"}


def label_comparison(row: Mapping[str, Any], direction: str, confidence: float) -> str:
    """Return the verdict of a comparison."""
    if row["winner"] is not None:
        return SYSTEM_BETTER if row["winner"] == row["system"] else BASELINE_BETTER
    return DIFFERS_LABEL if _differs_without_direction(row, direction, confidence) else NOT_SIGNIFICANT


def _differs_without_direction(row: Mapping[str, Any], direction: str, confidence: float) -> bool:
    """Return True if a difference is significant and the metric has no direction.

    Test and interval must both exclude zero.
    """
    p, low, high = row["p_adjusted"], row["ci_low"], row["ci_high"]
    excludes_zero = low is None or high is None or low > 0 or high < 0
    return direction == "neither" and p is not None and p < 1 - confidence and bool(row["difference"]) and excludes_zero
