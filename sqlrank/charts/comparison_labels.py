"""Label verdicts, tests and corrections of comparisons, and find significant differences of metrics
without a better direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.output.contrast_tables import differs_without_direction

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_BETTER, BASELINE_BETTER, NOT_SIGNIFICANT = (
    "system is better",
    "baseline is better",
    "not significant",
)
DIFFERS_LABEL = "differs, none is better"
"""Verdict on a significant difference of a metric without direction, such as CalibrationRatio."""

STATES = {SYSTEM_BETTER: "better", BASELINE_BETTER: "worse", DIFFERS_LABEL: "differs"}
"""Short names of verdicts that a report marks."""

VARIANT_LABELS = {SYSTEM_BETTER: "variant is better", BASELINE_BETTER: "control is better"}
"""Verdicts on the variants of an experiment, which are compared with a control."""


def label_comparison(row: Mapping[str, Any], direction: str, confidence: float) -> str:
    """Return the verdict of a comparison."""
    if row["winner"] is not None:
        return SYSTEM_BETTER if row["winner"] == row["system"] else BASELINE_BETTER
    return (
        DIFFERS_LABEL if differs_without_direction(row, direction, confidence) else NOT_SIGNIFICANT
    )
