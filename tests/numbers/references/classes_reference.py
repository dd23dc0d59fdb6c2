"""The reference of every metric of several classes, in NumPy, from the formulas.

Written from the definitions, not from the SQL, over the whole confusion matrix. A metric that is
not defined is None.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sqlrank

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Classes:
    """Predictions of classes with their weights, and the settings of a metric."""

    label: Array
    predicted: Array
    weight: Array
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def matrix(self) -> Array:
        """The weight of each label (row) and predicted class (column), of all classes that are
        observed or predicted.
        """
        classes, places = np.unique(
            np.concatenate([self.label, self.predicted]), return_inverse=True
        )
        found = np.zeros((len(classes), len(classes)))
        np.add.at(found, (places[: len(self.label)], places[len(self.label) :]), self.weight)
        return found


def evaluate(metric: str, data: Classes) -> float | None:
    """Return the value of a metric."""
    parsed = sqlrank.parse(metric)
    return METRICS[parsed.name](
        Classes(data.label, data.predicted, data.weight, dict(parsed.params))
    )


def divide(numerator: float, denominator: float) -> float | None:
    """Return a quotient, None if the denominator is 0."""
    return numerator / denominator if denominator else None


def accuracy(data: Classes) -> float | None:
    return divide(data.weight[data.label == data.predicted].sum(), data.weight.sum())


def balanced_accuracy(data: Classes) -> float | None:
    recalls = [row[place] / row.sum() for place, row in enumerate(data.matrix) if row.sum()]
    return float(np.mean(recalls)) if recalls else None


def average(data: Classes, of_recall: float, of_precision: float) -> float | None:
    """Return the average over classes of hits over a weighted sum of their labels and
    predictions.
    """
    labels, predictions, hits = (
        data.matrix.sum(axis=1),
        data.matrix.sum(axis=0),
        data.matrix.diagonal(),
    )
    if data.settings.get("average") == "micro":
        return divide(
            (of_recall + of_precision) * hits.sum(),
            of_recall * labels.sum() + of_precision * predictions.sum(),
        )
    undefined = {"zero": 0.0, "one": 1.0, "skip": None}[data.settings.get("zero_division", "zero")]
    ratios = [
        divide((of_recall + of_precision) * hit, of_recall * label + of_precision * prediction)
        for label, prediction, hit in zip(labels, predictions, hits, strict=True)
    ]
    shares = labels if data.settings.get("average") == "weighted" else np.ones(len(labels))
    return (
        average_ratios([undefined if ratio is None else ratio for ratio in ratios], shares)
        if data.weight.sum()
        else None
    )


def average_ratios(ratios: list[float | None], shares: Array) -> float | None:
    """Return the average of the ratios that are not left out by their shares, or the plain one if
    these are all 0.
    """
    pairs = [
        (ratio, share) for ratio, share in zip(ratios, shares, strict=True) if ratio is not None
    ]
    if not pairs:
        return None
    values, weights = np.array(pairs).T
    return float(np.average(values, weights=weights if weights.any() else None))


def kappa(data: Classes) -> float | None:
    matrix = data.matrix
    total = matrix.sum()
    if not total:
        return None
    chance = (matrix.sum(axis=1) / total * (matrix.sum(axis=0) / total)).sum()
    return divide(matrix.trace() / total - chance, 1 - chance)


def weighted_kappa(data: Classes) -> float | None:
    matrix = data.matrix
    places = np.arange(len(matrix))
    distance = np.abs(places[:, None] - places[None, :]).astype(float)
    cost = {"linear": distance, "quadratic": distance**2, "nominal": (distance > 0).astype(float)}[
        data.settings.get("disagreement", "quadratic")
    ]
    expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0))
    ratio = divide((cost * matrix).sum() * matrix.sum(), (cost * expected).sum())
    return None if ratio is None else 1 - ratio


def mcc(data: Classes) -> float | None:
    """Return the correlation of the indicators of classes."""
    classes = np.unique(np.concatenate([data.label, data.predicted]))
    if not data.weight.sum():
        return None
    label, predicted = (
        (side[:, None] == classes).astype(float) for side in (data.label, data.predicted)
    )
    label, predicted = (
        side - np.average(side, axis=0, weights=data.weight) for side in (label, predicted)
    )

    def covary(one: Array, other: Array) -> float:
        return float((data.weight[:, None] * one * other).sum())

    variances = covary(label, label), covary(predicted, predicted)
    return (
        None
        if min(variances) < 1e-9
        else covary(label, predicted) / float(np.sqrt(variances[0] * variances[1]))
    )


def f_beta(data: Classes) -> float | None:
    return average(data, float(data.settings.get("beta", 1)) ** 2, 1)


@dataclass(frozen=True)
class Scores:
    """Scores of all classes (columns) of predictions (rows), places of the labels, weights, and the
    settings of a metric.
    """

    score: Array
    label: Array
    weight: Array
    settings: dict[str, Any] = field(default_factory=dict)


def evaluate_scores(metric: str, data: Scores) -> float | None:
    """Return the value of a metric of scores."""
    parsed = sqlrank.parse(metric)
    settings = {**dict(parsed.params), "k": parsed.cutoff}
    return SCORE_METRICS[parsed.name](Scores(data.score, data.label, data.weight, settings))


def average_rows(data: Scores, values: Array) -> float | None:
    return divide(float((data.weight * values).sum()), data.weight.sum())


def label_scores(data: Scores) -> Array:
    return np.array([row[label] for row, label in zip(data.score, data.label, strict=True)])


def top_k_accuracy(data: Scores) -> float | None:
    """Return the share of labels of the first ranks; of equal scores, the last class is first."""
    places = np.arange(data.score.shape[1])
    own = label_scores(data)[:, None]
    before = (data.score > own) | ((data.score == own) & (places > data.label[:, None]))
    return average_rows(data, (before.sum(axis=1) < data.settings["k"]).astype(float))


def log_loss(data: Scores) -> float | None:
    eps = float(np.finfo(float).eps)
    return average_rows(data, -np.log(np.clip(label_scores(data), eps, 1 - eps)))


def brier(data: Scores) -> float | None:
    outcome = np.eye(data.score.shape[1])[data.label]
    return average_rows(data, ((data.score - outcome) ** 2).sum(axis=1))


def area(score: Array, is_positive: Array, weight: Array) -> float | None:
    """Return the area under the ROC curve, over all pairs."""
    positive, negative = (score[side] for side in (is_positive, ~is_positive))
    pairs = np.outer(weight[is_positive], weight[~is_positive])
    above = (positive[:, None] > negative) + (positive[:, None] == negative) / 2
    return divide(float((pairs * above).sum()), float(pairs.sum()))


def auc(data: Scores) -> float | None:
    classes = range(data.score.shape[1])
    weights = [data.weight[data.label == name].sum() for name in classes]
    found: list[tuple[float | None, float]] = []
    for one in classes:
        if data.settings.get("multi_class", "ovr") == "ovr":
            found.append((area(data.score[:, one], data.label == one, data.weight), weights[one]))
            continue
        for other in (name for name in classes if name != one):
            rows = (data.label == one) | (data.label == other)
            found.append(
                (
                    area(data.score[rows, one], data.label[rows] == one, data.weight[rows]),
                    weights[one] + weights[other],
                )
            )
    is_weighted = data.settings.get("average") == "weighted"
    defined = [
        (value, weight if is_weighted else 1.0) for value, weight in found if value is not None
    ]
    return divide(
        sum(value * weight for value, weight in defined), sum(weight for _, weight in defined)
    )


SCORE_METRICS: dict[str, Callable[[Scores], float | None]] = {
    "MulticlassAUC": auc,
    "MulticlassBrier": brier,
    "MulticlassLogLoss": log_loss,
    "TopKAccuracy": top_k_accuracy,
}
METRICS: dict[str, Callable[[Classes], float | None]] = {
    "CohenKappa": kappa,
    "MulticlassAccuracy": accuracy,
    "MulticlassBalancedAccuracy": balanced_accuracy,
    "MulticlassFBeta": f_beta,
    "MulticlassMCC": mcc,
    "MulticlassPrecision": lambda data: average(data, 0, 1),
    "MulticlassRecall": lambda data: average(data, 1, 0),
    "MulticlassZeroOneLoss": lambda data: divide(
        data.weight[data.label != data.predicted].sum(), data.weight.sum()
    ),
    "WeightedKappa": weighted_kappa,
}
