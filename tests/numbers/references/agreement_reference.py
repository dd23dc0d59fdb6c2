"""The reference of the agreement of judges, in NumPy, from the formulas.

Written from the definitions, over the counts of each rating (columns) of each item (rows). A metric
that is not defined is None.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def square_distances(values: Array, totals: Array, level: str) -> Array:
    """Return the disagreement of each pair of ratings; those of ordinal ratings depend on the
    totals of all ratings.
    """
    if level == "nominal":
        return (values[:, None] != values[None, :]).astype(float)
    if level == "interval":
        return (values[:, None] - values[None, :]) ** 2
    places = np.arange(len(values))
    return np.array(
        [
            [
                (totals[min(c, k) : max(c, k) + 1].sum() - (totals[c] + totals[k]) / 2) ** 2
                if c != k
                else 0.0
                for c in places
            ]
            for k in places
        ]
    )


def krippendorff_alpha(
    values: Array, counts: Array, level: str, weights: Array | None = None
) -> float | None:
    """Return 1 less the ratio of observed and expected disagreement, from the matrix of
    coincidences.

    ``weights`` counts items several times. The correction of small samples is that of all items
    once.
    """
    rated = counts.sum(axis=1) > 1
    counts = counts[rated].astype(float)
    weights = np.ones(len(counts)) if weights is None else weights[rated]
    coincidences = sum(
        (
            weight * (np.outer(item, item) - np.diag(item)) / (item.sum() - 1)
            for weight, item in zip(weights, counts, strict=True)
        ),
        np.zeros((len(values), len(values))),
    )
    totals = coincidences.sum(axis=1)
    distances = square_distances(values, totals, level)
    expected = (np.outer(totals, totals) * distances).sum() / totals.sum() if len(counts) else 0.0
    correction = 1 - 1 / counts.sum() if len(counts) else 0.0
    return 1 - correction * float((coincidences * distances).sum() / expected) if expected else None


def fleiss_kappa(counts: Array, weights: Array | None = None) -> float | None:
    """Return the mean agreement of pairs of judges on an item, adjusted for that of two ratings
    drawn from all items.
    """
    rated = counts.sum(axis=1) > 1
    counts = counts[rated].astype(float)
    if not len(counts):
        return None
    weights = np.ones(len(counts)) if weights is None else weights[rated]
    sizes = counts.sum(axis=1)
    agreement = np.average(
        (counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1)), weights=weights
    )
    chance = (np.average(counts / sizes[:, None], axis=0, weights=weights) ** 2).sum()
    return float((agreement - chance) / (1 - chance)) if chance < 1 - 1e-12 else None
