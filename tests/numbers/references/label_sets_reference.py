"""The reference of every metric of sets of classes, in NumPy, from the formulas, over indicators of
classes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sqlrank
from tests.numbers.references.classes_reference import Array, average_ratios, divide


@dataclass(frozen=True)
class LabelSets:
    """Indicators of the observed and predicted classes (columns) of predictions (rows), weights,
    and the settings of a metric.
    """

    observed: Array
    predicted: Array
    weight: Array
    settings: dict[str, Any] = field(default_factory=dict)


def evaluate(metric: str, data: LabelSets) -> float | None:
    """Return the value of a metric of label sets."""
    parsed = sqlrank.parse(metric)
    return METRICS[parsed.name](
        LabelSets(data.observed, data.predicted, data.weight, dict(parsed.params))
    )


def hamming_loss(data: LabelSets) -> float | None:
    wrong = (data.observed != data.predicted) * data.weight[:, None]
    return divide(float(wrong.sum()), float(data.weight.sum()) * data.observed.shape[1])


def subset_accuracy(data: LabelSets) -> float | None:
    return divide(
        float(data.weight[(data.observed == data.predicted).all(axis=1)].sum()), data.weight.sum()
    )


def average_sets(
    data: LabelSets, of_observed: float, of_predicted: float, of_union: float = 0
) -> float | None:
    """Return the average of hits over a weighted sum of observed and predicted classes, and of
    those that are either.
    """
    average = data.settings.get("average", "macro")
    axis = {"samples": 1, "micro": None}.get(average, 0)
    weight = data.weight[:, None] if average != "samples" else np.ones((len(data.weight), 1))
    observed, predicted, hits, union = (
        np.atleast_1d((side * weight).sum(axis=axis))
        for side in (
            data.observed,
            data.predicted,
            data.observed & data.predicted,
            data.observed | data.predicted,
        )
    )
    undefined = {"zero": 0.0, "one": 1.0, "skip": None}[data.settings.get("zero_division", "zero")]
    shares = {"samples": data.weight, "weighted": observed}.get(average, np.ones(len(hits)))
    ratios = [
        divide(
            (of_observed + of_predicted + of_union) * hit,
            of_observed * one + of_predicted * other + of_union * either,
        )
        for one, other, hit, either in zip(observed, predicted, hits, union, strict=True)
    ]
    if average == "samples":
        ratios, shares = (
            [ratio for ratio, weight in zip(ratios, shares, strict=True) if weight],
            shares[shares > 0],
        )
    return (
        average_ratios([undefined if ratio is None else ratio for ratio in ratios], shares)
        if data.weight.sum()
        else None
    )


METRICS: dict[str, Callable[[LabelSets], float | None]] = {
    "HammingLoss": hamming_loss,
    "MultilabelFBeta": lambda data: average_sets(data, float(data.settings.get("beta", 1)) ** 2, 1),
    "MultilabelJaccard": lambda data: average_sets(data, 0, 0, 1),
    "MultilabelPrecision": lambda data: average_sets(data, 0, 1),
    "MultilabelRecall": lambda data: average_sets(data, 1, 0),
    "SubsetAccuracy": subset_accuracy,
}
