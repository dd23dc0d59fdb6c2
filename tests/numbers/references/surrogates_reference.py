"""The reference of the surrogates of pAp@k in NumPy, pair by pair and from their definitions."""

from itertools import combinations, product

import numpy as np

KINDS = ("ramp", "avg", "max", "ts", "ts_reference", "pauc", "precision", "precision_reference")
CONVEX = ("avg", "max", "ts", "pauc", "precision", "precision_reference")
COMPARED = 1e-9
"""Tolerance of inequalities for rounding errors."""


def risk(positives: np.ndarray, negatives: np.ndarray, k: int) -> float:
    """Return 1 - pAp@k, a tie being an error."""
    best, rivals = sort_scores(positives)[: min(len(positives), k)], sort_scores(negatives)[:k]
    return float(np.mean([positive <= rival for positive, rival in product(best, rivals)]))


def surrogate(
    kind: str, positives: np.ndarray, negatives: np.ndarray, k: int, margin: float = 1
) -> float | None:
    """Return the value of a surrogate; None unless there are both classes."""
    if not len(positives) or not len(negatives):
        return None
    high, rivals = sort_scores(positives), sort_scores(negatives)[:k]
    counted = min(len(high), k)
    top, rest = high[:counted], high[counted:]
    if kind == "precision":
        return find_worst_top(high, sort_scores(negatives), k, margin)
    if kind == "precision_reference":
        return find_published_violation(high, sort_scores(negatives), k, margin)
    if kind == "avg":
        return float(np.mean(np.maximum(0, margin + rivals - high.mean())))
    if kind == "pauc":
        return sum_hinges(high, rivals, margin) / (len(high) * len(rivals))
    pairs = counted * len(rivals)
    if kind == "ramp":
        return sum_hinges(top, rivals, margin) / pairs
    if kind == "max":
        return sum_hinges(high[-counted:], rivals, margin) / pairs
    if kind == "ts_reference":
        return (sum_hinges(top, rivals, margin) + sum_hinges(rest, rivals, 0)) / pairs
    return (
        sum(
            max(sum_hinges(rest, [s], 0), (s - rest).sum() + sum_hinges(top, [s], margin))
            for s in rivals
        )
        / pairs
    )


def try_all_orders(positives: np.ndarray, negatives: np.ndarray, k: int) -> float:
    """Return the tight structural surrogate by trying all orders of each positive among the
    negatives.

    A row of pi says which negatives a positive is put below: the p_i highest. The pairs of the
    counted rows that have fewest count 1, and every pair its difference in score.
    """
    rivals = sort_scores(negatives)[:k]
    counted = min(len(positives), k)
    best = max(
        sum(sorted(below)[:counted])
        + sum((rivals[:p] - positive).sum() for p, positive in zip(below, positives, strict=True))
        for below in product(range(len(rivals) + 1), repeat=len(positives))
    )
    return float(best) / (counted * len(rivals))


def try_all_tops(positives: np.ndarray, negatives: np.ndarray, k: int) -> float:
    """Return the surrogate of precision@k by trying every set of k predictions as the top, but
    those without a positive left out.
    """
    both = [(score, 1) for score in positives] + [(score, 0) for score in negatives]
    best = 0.0
    for chosen in combinations(range(len(both)), k):
        inside = [both[number][0] for number in chosen if not both[number][1]]
        outside = [
            score for number, (score, label) in enumerate(both) if label and number not in chosen
        ]
        if inside and outside:
            best = max(best, len(inside) + sum(inside) - len(inside) * float(np.mean(outside)))
    return best / k


def find_worst_top(high: np.ndarray, rivals: np.ndarray, k: int, margin: float) -> float:
    worst = 0.0
    for kept in range(min(len(high), k)):
        inside = rivals[: k - kept]
        worst = max(worst, len(inside) * margin + inside.sum() - len(inside) * high[kept:].mean())
    return float(worst) / min(len(rivals), k)


def find_published_violation(high: np.ndarray, rivals: np.ndarray, k: int, margin: float) -> float:
    """Return the greatest violation by the formula of the authors of pAp@k, whose data have k
    negatives and more.

    For ``kept`` positives in the top k it is (k - kept) * margin + the sum of the k - kept highest
    negatives, less the sum of the other positives times (min(k, n+) - kept) / (n+ - kept). With
    fewer negatives than that, these are all.
    """
    found = [0.0]
    for kept in range(min(len(high), k)):
        inside = rivals[: k - kept]
        weight = min(len(inside), min(k, len(high)) - kept) / (len(high) - kept)
        found.append(len(inside) * margin + inside.sum() - weight * high[kept:].sum())
    return float(max(found)) / min(len(rivals), k)


def sum_hinges(positives: np.ndarray, rivals: np.ndarray | list[float], margin: float) -> float:
    return float(
        sum(max(0.0, margin + rival - positive) for positive, rival in product(positives, rivals))
    )


def sort_scores(scores: np.ndarray) -> np.ndarray:
    return np.sort(scores)[::-1]
