"""A second implementation of every metric of predictions, in NumPy, from the formulas: what the SQL is compared with.

Written from the definitions, not from the SQL: pairs are compared one by one, curves are walked point by point, and the best
threshold is looked for in exact arithmetic. A metric that is not defined is None.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EPS = 2.220446049250313e-16
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Rows of predictions; ``rank`` orders equal scores under ties=row_order."""

    label: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    query_id: np.ndarray
    rank: np.ndarray

    def __len__(self) -> int:
        return len(self.label)

    @property
    def table(self) -> pa.Table:
        return pa.table({field.name: pa.array(getattr(self, field.name)) for field in fields(self)})

    def take(self, chosen: np.ndarray) -> Predictions:
        """Return the rows of a mask or of a list of places."""
        return Predictions(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def queries(self) -> Iterator[Predictions]:
        for query in np.unique(self.query_id):
            yield self.take(self.query_id == query)

    def one_by_one(self) -> Predictions:
        """Return scores without ties, in the order of the scores and, where they are equal, of ``rank``."""
        place = np.empty(len(self))
        place[np.lexsort((self.rank, -self.score))] = -np.arange(len(self))
        return replace(self, score=place)


@dataclass(frozen=True)
class Options:
    """Every parameter of a metric, with its default."""

    at: float | None = None
    tie_credit: float = 0.5
    ties: str = "half"
    threshold: float = 0.5
    beta: float = 1
    cut: str = "threshold"
    criterion: str = "f"
    bins: int = 10
    binning: str = "equal_width"
    interpolation: str = "trapezoid"
    scaling: str = "mcclish"
    lift_variant: str = "exact"
    importance: str = "count"
    eps: float | None = None
    power: float = 1.5


def evaluate(metric: str, data: Predictions, **policies: Any) -> float | None:
    """Return the value of a metric; of several best thresholds it is that of the highest."""
    return candidates(metric, data, **policies)[0]


def candidates(metric: str, data: Predictions, **policies: Any) -> list[float | None]:
    """Return the value of a metric at each of the best thresholds, the highest threshold first; otherwise one value."""
    parsed = sqlrank.parse(metric)
    options = Options(**{**policies, **dict(parsed.params), "at": parsed.cutoff})  # type: ignore[arg-type]
    if parsed.name in CONFUSION:
        return [CONFUSION[parsed.name](matrix, options) for matrix in matrices(data, replace(options, at=None, eps=None))]
    return [METRICS[parsed.name](data, options)]


def ratio(above: float, below: float) -> float | None:
    return None if below == 0 else float(above / below)


def classes(data: Predictions) -> tuple[float, float]:
    return float(data.weight[data.label == 1].sum()), float(data.weight[data.label == 0].sum())


def in_order(data: Predictions, options: Options) -> Predictions:
    return data.one_by_one() if options.ties == "row_order" else data


def levels(data: Predictions) -> list[tuple[float, float, float]]:
    """Return each distinct score, highest first, with the weight of the positives and of the negatives at it."""
    found = []
    for score in np.unique(data.score)[::-1]:
        at = data.score == score
        found.append((float(score), *classes(data.take(at))))
    return found


def curve(data: Predictions) -> list[tuple[float, float]]:
    """Return the weight of true and of false positives at each threshold, from (0, 0)."""
    points = [(0.0, 0.0)]
    for _, positives, negatives in levels(data):
        points.append((points[-1][0] + positives, points[-1][1] + negatives))
    return points


def auc(data: Predictions, options: Options) -> float | None:
    """Compare every positive with every negative."""
    data = in_order(data, options)
    positive, negative = data.take(data.label == 1), data.take(data.label == 0)
    above = positive.score[:, None] > negative.score[None, :]
    tied = positive.score[:, None] == negative.score[None, :]
    pairs = positive.weight[:, None] * negative.weight[None, :]
    return ratio((pairs * (above + options.tie_credit * tied)).sum(), pairs.sum())


def gini(data: Predictions, options: Options) -> float | None:
    area = auc(data, options)
    return None if area is None else 2 * area - 1


def lift_quality(data: Predictions, options: Options) -> float | None:
    value = gini(data, options)
    if value is None or options.lift_variant == "exact":
        return value
    positives, negatives = classes(data)
    return value - 2 * float((data.weight[data.label == 1] ** 2).sum()) / (positives * negatives)


def gauc(data: Predictions, options: Options) -> float | None:
    total = weights = 0.0
    for query in data.queries():
        area = auc(query, options)
        if area is not None:
            counts = {"count": len(query), "equal": 1, "weight": query.weight.sum(), "positives": classes(query)[0]}
            total += counts[options.importance] * area
            weights += counts[options.importance]
    return ratio(total, weights)


def aps(data: Predictions, options: Options) -> float | None:
    points = curve(in_order(data, options))
    steps = [(tp - before) * tp / (tp + fp) for (before, _), (tp, fp) in pairwise(points) if tp + fp > 0]
    return ratio(sum(steps), points[-1][0])


def prauc(data: Predictions, options: Options) -> float | None:
    points = [point for i, point in enumerate(curve(in_order(data, options))) if i == 0 or sum(point) > 0]
    area = sum(segment(options.interpolation, left, right) for left, right in pairwise(points))
    return ratio(area, points[-1][0])


def segment(interpolation: str, left: tuple[float, float], right: tuple[float, float]) -> float:
    """Return the area under precision between two points, over true positives rather than recall."""
    (tp, fp), (tp_after, fp_after) = left, right
    gained = tp_after - tp
    if gained == 0:
        return 0.0
    last = tp_after / (tp_after + fp_after)
    if interpolation == "davis_goadrich":
        if tp + fp == 0:
            return gained * last
        slope = (fp_after - fp) / gained
        ends = np.log([tp + fp, tp_after + fp_after])
        at = np.exp(ends.mean() + POINTS * (ends[1] - ends[0]) / 2)
        return float(((at - fp + slope * tp) / (1 + slope) ** 2 * WEIGHTS).sum() * (ends[1] - ends[0]) / 2)
    first = tp / (tp + fp) if tp + fp > 0 else 1.0 if interpolation == "from_one" else last
    return gained * (first + last) / 2


def pauc(data: Predictions, options: Options) -> float | None:
    """Walk along the ROC curve up to ``max_fpr``, which may cut a segment."""
    positives, negatives = classes(data)
    if positives * negatives == 0:
        return None
    most = float(options.at or 0)
    points = [(tp / positives, fp / negatives) for tp, fp in curve(in_order(data, options))]
    area = 0.0
    for (tpr, fpr), (tpr_after, fpr_after) in pairwise(points):
        if fpr_after > fpr and fpr < most:
            share = min(1.0, (most - fpr) / (fpr_after - fpr))
            area += share * (fpr_after - fpr) * (tpr + (tpr + share * (tpr_after - tpr))) / 2
    if options.scaling == "raw":
        return area
    return area / most if options.scaling == "ratio" else 0.5 * (1 + (area - most**2 / 2) / (most - most**2 / 2))


def gain(data: Predictions, options: Options) -> float | None:
    """Fill the top up from the highest score on; the last score is taken in part."""
    positives, negatives = classes(data)
    room, found = float(options.at or 0) * (positives + negatives), 0.0
    for _, of_positives, of_negatives in levels(in_order(data, options)):
        if of_positives + of_negatives > 0:
            taken = min(1.0, max(room, 0) / (of_positives + of_negatives))
            found += taken * of_positives
            room -= of_positives + of_negatives
    return ratio(found, positives)


def lift(data: Predictions, options: Options) -> float | None:
    value = gain(data, options)
    return None if value is None else value / float(options.at or 0)


def pndcg(data: Predictions, options: Options) -> float | None:
    positives, _ = classes(data)
    most = np.inf if options.at is None else float(options.at)
    given = best = 0.0
    room, ideal_room = most, min(most, positives)
    for score, of_positives, of_negatives in levels(data):
        weight = of_positives + of_negatives
        if weight > 0:
            given += score * of_positives * min(1.0, max(room, 0) / weight)
            best += score * min(weight, max(ideal_room, 0))
            room, ideal_room = room - weight, ideal_room - weight
    return ratio(given, best)


def ks(data: Predictions, options: Options) -> float | None:
    positives, negatives = classes(data)
    if positives * negatives == 0:
        return None
    return max(abs(tp / positives - fp / negatives) for tp, fp in curve(in_order(data, options)))


@dataclass(frozen=True)
class Matrix:
    """Weights of true and false positives and negatives at a threshold, exactly."""

    threshold: float
    tp: Fraction
    fp: Fraction
    tn: Fraction
    fn: Fraction


@cache
def matrices(data: Predictions, options: Options) -> list[Matrix]:
    """Return the confusion matrix at the threshold, or at every best one, the highest first."""
    if options.cut == "threshold":
        return [matrix_at(data, options.threshold, options.threshold)]
    ordered = in_order(data, options)
    places = np.flatnonzero((data.label == 1) & (data.weight > 0))
    found = {float(ordered.score[i]): matrix_at(ordered, float(ordered.score[i]), float(data.score[i])) for i in places}
    judged = [(goodness(found[score], options), found[score]) for score in sorted(found, reverse=True)]
    if not judged:
        return [Matrix(np.nan, *[Fraction(0)] * 4)]
    most = max(value for value, _ in judged)
    return [matrix for value, matrix in judged if value == most]


def matrix_at(data: Predictions, score: float, shown: float) -> Matrix:
    parts = []
    for label, is_above in ((1, True), (0, True), (0, False), (1, False)):
        chosen = (data.label == label) & ((data.score >= score) == is_above)
        parts.append(sum((Fraction(float(weight)) for weight in data.weight[chosen]), Fraction(0)))
    return Matrix(shown, *parts)


def goodness(m: Matrix, options: Options) -> Fraction:
    """Return a number that rises with the criterion; for MCC the square with its sign."""
    if options.criterion == "mcc":
        top, below = m.tp * m.tn - m.fp * m.fn, (m.tp + m.fp) * (m.tp + m.fn) * (m.tn + m.fp) * (m.tn + m.fn)
        return Fraction(-2) if below == 0 else top * abs(top) / below
    beta = Fraction(options.beta) ** 2
    above, below = {
        "f": ((1 + beta) * m.tp, (1 + beta) * m.tp + beta * m.fn + m.fp),
        "accuracy": (m.tp + m.tn, m.tp + m.fp + m.tn + m.fn),
        "youden": (m.tp * m.tn - m.fp * m.fn, (m.tp + m.fn) * (m.tn + m.fp)),
    }[options.criterion]
    return Fraction(-2) if below == 0 else above / below


def balanced(m: Matrix) -> float | None:
    return None if (m.tp + m.fn) * (m.tn + m.fp) == 0 else float(m.tp / (m.tp + m.fn) + m.tn / (m.tn + m.fp))


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
    return None if m.tp * m.tn * m.fp * m.fn == 0 else float(np.log(float(m.tp * m.tn / (m.fp * m.fn))))


CONFUSION: dict[str, Callable[[Matrix, Options], float | None]] = {
    "Accuracy": lambda m, _: ratio(m.tp + m.tn, m.tp + m.fp + m.tn + m.fn),
    "BalancedAccuracy": balanced_accuracy,
    "FBeta": f_beta,
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
}


def log_likelihood(data: Predictions, options: Options) -> float | None:
    if len(data) == 0:
        return None
    eps = EPS if options.eps is None else options.eps
    given = np.clip(np.where(data.label == 1, data.score, 1 - data.score), eps, 1 - eps)
    return float((data.weight * np.log(given)).sum())


def log_loss(data: Predictions, options: Options) -> float | None:
    likelihood = log_likelihood(data, options)
    return None if likelihood is None else ratio(-likelihood, data.weight.sum())


def normalized_entropy(data: Predictions, options: Options) -> float | None:
    loss, rate = log_loss(data, options), base_rate(data, options)
    if loss is None or rate is None or rate in {0, 1}:
        return None
    return loss / float(-rate * np.log(rate) - (1 - rate) * np.log(1 - rate))


def normalized_log_loss(data: Predictions, options: Options) -> float | None:
    entropy = normalized_entropy(data, options)
    return None if entropy is None else 1 - entropy


def base_rate(data: Predictions, _: Options) -> float | None:
    return ratio(classes(data)[0], data.weight.sum())


def brier_skill(data: Predictions, options: Options) -> float | None:
    rate = base_rate(data, options)
    if rate is None:
        return None
    skill = ratio((data.weight * (data.score - data.label) ** 2).sum(), (data.weight * (rate - data.label) ** 2).sum())
    return None if skill is None or rate in {0, 1} else 1 - skill


def calibration(data: Predictions, options: Options) -> list[tuple[float, float]]:
    """Return the weight of each bin and |mean score - share of positives| in it."""
    if options.binning == "equal_width":
        number = np.array([max(1, ceiling(Fraction(float(score)) * options.bins)) for score in data.score])
    else:
        below = (data.score[:, None] > data.score[None, :]).sum(axis=1)
        number = options.bins * below // len(data)
    found = []
    for one in np.unique(number):
        rows = data.take(number == one)
        weight = float(rows.weight.sum())
        if weight > 0:
            found.append((weight, abs(float((rows.weight * (rows.score - rows.label)).sum())) / weight))
    return found


def ceiling(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


def ece(data: Predictions, options: Options) -> float | None:
    if len(data) == 0:
        return None
    found = calibration(data, options)
    return ratio(sum(weight * error for weight, error in found), data.weight.sum())


def mce(data: Predictions, options: Options) -> float | None:
    found = calibration(data, options) if len(data) else []
    return max((error for _, error in found), default=None)


def mean(data: Predictions, values: np.ndarray) -> float | None:
    return ratio((data.weight * values).sum(), data.weight.sum())


def squared(data: Predictions, _: Options) -> float | None:
    return mean(data, (data.score - data.label) ** 2)


def rmse(data: Predictions, options: Options) -> float | None:
    value = squared(data, options)
    return None if value is None else value**0.5


def r2(data: Predictions, _: Options) -> float | None:
    label, middle = data.label, mean(data, data.label)
    used = label[data.weight > 0]
    if middle is None or (used == used[0]).all():
        return None
    return 1 - float((data.weight * (data.score - label) ** 2).sum() / (data.weight * (label - middle) ** 2).sum())


def explained_variance(data: Predictions, options: Options) -> float | None:
    offset = mean(data, data.score - data.label)
    return None if offset is None else r2(replace(data, score=data.score - offset), options)


def mape(data: Predictions, options: Options) -> float | None:
    eps = EPS if options.eps is None else options.eps
    return mean(data, np.abs(data.score - data.label) / np.maximum(np.abs(data.label), eps))


def smape(data: Predictions, _: Options) -> float | None:
    size = np.abs(data.score) + np.abs(data.label)
    return mean(data, np.where(size > 0, 2 * np.abs(data.score - data.label) / np.where(size > 0, size, 1), 0))


def poisson_deviance(data: Predictions, _: Options) -> float | None:
    label = np.where(data.label > 0, data.label, 1)
    return mean(data, 2 * (np.where(data.label > 0, label * np.log(label / data.score), 0) - data.label + data.score))


def tweedie_deviance(data: Predictions, options: Options) -> float | None:
    p = options.power
    terms = data.label ** (2 - p) / ((1 - p) * (2 - p)) - data.label * data.score ** (1 - p) / (1 - p) + data.score ** (2 - p) / (2 - p)
    return mean(data, 2 * terms)


METRICS: dict[str, Callable[[Predictions, Options], float | None]] = {
    "APS": aps,
    "AUC": auc,
    "BaseRate": base_rate,
    "Bias": lambda data, _: mean(data, data.score - data.label),
    "Brier": squared,
    "BrierSkill": brier_skill,
    "CalibrationRatio": lambda data, _: ratio((data.weight * data.score).sum(), classes(data)[0]),
    "ECE": ece,
    "ExplainedVariance": explained_variance,
    "Gain": gain,
    "GAUC": gauc,
    "Gini": gini,
    "KS": ks,
    "Lift": lift,
    "LiftQuality": lift_quality,
    "LogLikelihood": log_likelihood,
    "LogLoss": log_loss,
    "MAE": lambda data, _: mean(data, np.abs(data.score - data.label)),
    "MAPE": mape,
    "MCE": mce,
    "MSE": squared,
    "Negatives": lambda data, _: classes(data)[1],
    "NormalizedEntropy": normalized_entropy,
    "NormalizedLogLoss": normalized_log_loss,
    "num_predictions": lambda data, _: float(len(data)),
    "Observations": lambda data, _: float(data.weight.sum()),
    "pAUC": pauc,
    "PnDCG": pndcg,
    "PoissonDeviance": poisson_deviance,
    "Positives": lambda data, _: classes(data)[0],
    "PRAUC": prauc,
    "R2": r2,
    "RMSE": rmse,
    "sMAPE": smape,
    "TweedieDeviance": tweedie_deviance,
}
NAMES = {*METRICS, *CONFUSION}
