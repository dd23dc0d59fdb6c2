"""Formulas of scikit-uplift (sklift.metrics) in NumPy, a second implementation that the SQL is
compared with.

Rows of equal scores are one point of a curve. Weights count a row several times. A metric that is
not defined is None.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def divide(value: float, divisor: float) -> float:
    """Return 0 for a divisor of 0, as scikit-uplift does at the top of a curve."""
    return value / divisor if divisor else 0.0


def trace_curve(
    label: Array, score: Array, treatment: Array, weight: Array, value: Callable[..., float]
) -> tuple[Array, Array]:
    """Return the rows at and above each distinct score, and the curve there, from (0, 0)."""
    rows, values = [0.0], [0.0]
    for threshold in np.unique(score)[::-1]:
        top = weight * (score >= threshold)
        treated, controls = float((top * treatment).sum()), float((top * (1 - treatment)).sum())
        outcomes = (
            float((top * treatment * label).sum()),
            float((top * (1 - treatment) * label).sum()),
        )
        rows.append(treated + controls)
        values.append(value(treated, controls, *outcomes))
    return np.array(rows), np.array(values)


def qini_value(
    treated: float, controls: float, treated_outcome: float, control_outcome: float
) -> float:
    """Return what ``qini_curve`` has at a score."""
    return treated_outcome - control_outcome * divide(treated, controls)


def uplift_value(
    treated: float, controls: float, treated_outcome: float, control_outcome: float
) -> float:
    """Return what ``uplift_curve`` has at a score."""
    return (divide(treated_outcome, treated) - divide(control_outcome, controls)) * (
        treated + controls
    )


def measure_area(rows: Array, values: Array) -> float:
    """Return the area under a curve of straight lines."""
    return float((np.diff(rows) * (values[1:] + values[:-1]) / 2).sum())


def has_both_arms(treatment: Array, weight: Array) -> bool:
    return bool((weight * treatment).sum() > 0 and (weight * (1 - treatment)).sum() > 0)


def qini(label: Array, score: Array, treatment: Array, weight: Array) -> float | None:
    """Return ``qini_auc_score`` with ``negative_effect=True``."""
    if not has_both_arms(treatment, weight):
        return None
    rows, values = trace_curve(label, score, treatment, weight, qini_value)
    best = trace_curve(
        label, label * treatment - label * (1 - treatment), treatment, weight, qini_value
    )
    baseline = rows[-1] * values[-1] / 2
    most = measure_area(*best) - baseline
    return (measure_area(rows, values) - baseline) / most if abs(most) > 1e-9 else None


def auuc(label: Array, score: Array, treatment: Array, weight: Array) -> float | None:
    """Return the area under ``uplift_curve`` over the squared number of rows."""
    if not has_both_arms(treatment, weight):
        return None
    rows, values = trace_curve(label, score, treatment, weight, uplift_value)
    return measure_area(rows, values) / rows[-1] ** 2


def take_top(score: Array, weight: Array, share: float) -> Array:
    """Return the weight of each row in the top share; rows at its edge count in part, all by the
    same part.
    """
    taken, left = np.zeros(len(score)), share * weight.sum()
    for threshold in np.unique(score)[::-1]:
        here = score == threshold
        part = min(1.0, left / weight[here].sum()) if weight[here].sum() else 0.0
        taken[here] = part * weight[here]
        left = max(0.0, left - weight[here].sum())
    return taken


def uplift_at(
    label: Array, score: Array, treatment: Array, weight: Array, share: float, by_arm: bool
) -> float | None:
    """Return ``uplift_at_k`` with the strategy ``by_group`` or ``overall``."""
    if by_arm:
        taken = sum(
            (take_top(score, weight * (treatment == arm), share * 1.0) for arm in (0, 1)),
            np.zeros(len(score)),
        )
    else:
        taken = take_top(score, weight, share)
    arms = [taken * (treatment == arm) for arm in (0, 1)]
    if not all(arm.sum() > 0 for arm in arms):
        return None
    controls, treated = (float((arm * label).sum() / arm.sum()) for arm in arms)
    return treated - controls
