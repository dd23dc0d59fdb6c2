"""Inputs of prediction references: rows, parameters, and the rows sorted by score."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator


EPS = 2.220446049250313e-16


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
        """Return scores without ties, in the order of the scores and, where they are equal, of
        ``rank``.
        """
        place = np.empty(len(self))
        place[np.lexsort((self.rank, -self.score))] = -np.arange(len(self))
        return replace(self, score=place)

    def class_by_class(self, positives_first: bool) -> Predictions:
        """Return scores of which no two of different classes are equal: one of the classes comes
        first among equal scores.
        """
        _, place = np.unique(self.score, return_inverse=True)
        return replace(self, score=2.0 * place + ((self.label == 1) == positives_first))


@dataclass(frozen=True)
class Options:
    """Every parameter of a metric, with its default."""

    at: float | None = None
    tie_credit: float = 0.5
    ties: str = "half"
    threshold: float = 0.5
    beta: float = 1
    threshold_from: str = "given"
    criterion: str = "f"
    bins: int = 10
    binning: str = "equal_width"
    interpolation: str = "trapezoid"
    area_scaling: str = "mcclish"
    lift_variant: str = "exact"
    query_weight: str = "count"
    eps: float | None = None
    power: float = 1.5


def ratio(above: float, below: float) -> float | None:
    return None if below == 0 else float(above / below)


def sum_classes(data: Predictions) -> tuple[float, float]:
    return float(data.weight[data.label == 1].sum()), float(data.weight[data.label == 0].sum())


def order_rows(data: Predictions, options: Options) -> Predictions:
    if options.ties in {"best", "worst"}:
        return data.class_by_class(positives_first=options.ties == "best")
    return data.one_by_one() if options.ties == "row_order" else data


def list_levels(data: Predictions) -> list[tuple[float, float, float]]:
    """Return each distinct score, highest first, with the weight of the positives and of the
    negatives at it.
    """
    found = []
    for score in np.unique(data.score)[::-1]:
        at = data.score == score
        found.append((float(score), *sum_classes(data.take(at))))
    return found


def trace_curve(data: Predictions) -> list[tuple[float, float]]:
    """Return the weight of true and of false positives at each threshold, from (0, 0)."""
    points = [(0.0, 0.0)]
    for _, positives, negatives in list_levels(data):
        points.append((points[-1][0] + positives, points[-1][1] + negatives))
    return points
