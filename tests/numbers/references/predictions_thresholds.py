"""Metrics of a threshold, in NumPy; the best one is looked for in exact arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from tests.numbers.references.predictions import Options, Predictions, order_rows, ratio


@dataclass(frozen=True)
class Matrix:
    """Weights of true and false positives and negatives at a threshold, exactly."""

    threshold: float
    tp: Fraction
    fp: Fraction
    tn: Fraction
    fn: Fraction


@cache
def list_matrices(data: Predictions, options: Options) -> list[Matrix]:
    """Return the confusion matrix at the threshold, or at every best one, the highest first."""
    if options.threshold_from == "given":
        return [make_matrix(data, options.threshold, options.threshold)]
    ordered = order_rows(data, options)
    places = np.flatnonzero((data.label == 1) & (data.weight > 0))
    found = {
        float(ordered.score[i]): make_matrix(ordered, float(ordered.score[i]), float(data.score[i]))
        for i in places
    }
    judged = [
        (rate_matrix(found[score], options), found[score]) for score in sorted(found, reverse=True)
    ]
    if not judged:
        return [Matrix(np.nan, *[Fraction(0)] * 4)]
    most = max(value for value, _ in judged)
    return [matrix for value, matrix in judged if value == most]


def make_matrix(data: Predictions, score: float, shown: float) -> Matrix:
    parts = []
    for label, is_above in ((1, True), (0, True), (0, False), (1, False)):
        chosen = (data.label == label) & ((data.score >= score) == is_above)
        parts.append(sum((Fraction(float(weight)) for weight in data.weight[chosen]), Fraction(0)))
    return Matrix(shown, *parts)


def rate_matrix(m: Matrix, options: Options) -> Fraction:
    """Return a number that rises with the criterion; for MCC the square with its sign."""
    if options.criterion == "mcc":
        top, below = (
            m.tp * m.tn - m.fp * m.fn,
            (m.tp + m.fp) * (m.tp + m.fn) * (m.tn + m.fp) * (m.tn + m.fn),
        )
        return Fraction(-2) if below == 0 else top * abs(top) / below
    beta = Fraction(options.beta) ** 2
    above, below = {
        "f": ((1 + beta) * m.tp, (1 + beta) * m.tp + beta * m.fn + m.fp),
        "accuracy": (m.tp + m.tn, m.tp + m.fp + m.tn + m.fn),
        "youden": (m.tp * m.tn - m.fp * m.fn, (m.tp + m.fn) * (m.tn + m.fp)),
    }[options.criterion]
    return Fraction(-2) if below == 0 else above / below


def balanced(m: Matrix) -> float | None:
    return (
        None
        if (m.tp + m.fn) * (m.tn + m.fp) == 0
        else float(m.tp / (m.tp + m.fn) + m.tn / (m.tn + m.fp))
    )


def youden(m: Matrix, _: Options) -> float | None:
    both = balanced(m)
    return None if both is None else both - 1


def balanced_accuracy(m: Matrix, _: Options) -> float | None:
    both = balanced(m)
    return None if both is None else both / 2


def mcc(m: Matrix, _: Options) -> float | None:
    square = (m.tp + m.fp) * (m.tp + m.fn) * (m.tn + m.fp) * (m.tn + m.fn)
    return ratio(float(m.tp * m.tn - m.fp * m.fn), float(square) ** 0.5)


def f_beta(m: Matrix, options: Options) -> float | None:
    """Return the harmonic mean, which is 0 where neither precision nor recall is above 0."""
    beta = Fraction(options.beta) ** 2
    return ratio((1 + beta) * m.tp, (1 + beta) * m.tp + beta * m.fn + m.fp)


def log_odds(m: Matrix, _: Options) -> float | None:
    return (
        None
        if m.tp * m.tn * m.fp * m.fn == 0
        else float(np.log(float(m.tp * m.tn / (m.fp * m.fn))))
    )


CONFUSION: dict[str, Callable[[Matrix, Options], float | None]] = {
    "Accuracy": lambda m, _: ratio(m.tp + m.tn, m.tp + m.fp + m.tn + m.fn),
    "BalancedAccuracy": balanced_accuracy,
    "FBeta": f_beta,
    "Jaccard": lambda m, _: ratio(m.tp, m.tp + m.fp + m.fn),
    "FN": lambda m, _: float(m.fn),
    "FNR": lambda m, _: ratio(m.fn, m.tp + m.fn),
    "FP": lambda m, _: float(m.fp),
    "FPR": lambda m, _: ratio(m.fp, m.tn + m.fp),
    "LogOdds": log_odds,
    "MCC": mcc,
    "NPV": lambda m, _: ratio(m.tn, m.tn + m.fn),
    "Precision": lambda m, _: ratio(m.tp, m.tp + m.fp),
    "Recall": lambda m, _: ratio(m.tp, m.tp + m.fn),
    "Specificity": lambda m, _: ratio(m.tn, m.tn + m.fp),
    "ThresholdUsed": lambda m, _: None if np.isnan(m.threshold) else m.threshold,
    "TN": lambda m, _: float(m.tn),
    "TP": lambda m, _: float(m.tp),
    "YoudenJ": youden,
    "ZeroOneLoss": lambda m, _: ratio(m.fp + m.fn, m.tp + m.fp + m.tn + m.fn),
}
