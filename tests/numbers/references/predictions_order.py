"""Metrics of the order of predictions, in NumPy: pairs are compared one by one, and curves are
computed point by point.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from tests.numbers.references.predictions import (
    Options,
    Predictions,
    list_levels,
    order_rows,
    ratio,
    sum_classes,
    trace_curve,
)

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)


def auc(data: Predictions, options: Options) -> float | None:
    """Compare every positive with every negative."""
    data = order_rows(data, options)
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
    positives, negatives = sum_classes(data)
    return value - 2 * float((data.weight[data.label == 1] ** 2).sum()) / (positives * negatives)


def gauc(data: Predictions, options: Options) -> float | None:
    total = weights = 0.0
    for query in data.queries():
        area = auc(query, options)
        if area is not None:
            counts = {
                "count": len(query),
                "equal": 1,
                "weight": query.weight.sum(),
                "positives": sum_classes(query)[0],
            }
            total += counts[options.query_weight] * area
            weights += counts[options.query_weight]
    return ratio(total, weights)


def aps(data: Predictions, options: Options) -> float | None:
    if options.ties == "worst":
        return prauc(data, replace(options, interpolation="davis_goadrich"))
    points = trace_curve(order_rows(data, options))
    steps = [
        (tp - before) * tp / (tp + fp) for (before, _), (tp, fp) in pairwise(points) if tp + fp > 0
    ]
    return ratio(sum(steps), points[-1][0])


def prauc(data: Predictions, options: Options) -> float | None:
    points = [
        point
        for i, point in enumerate(trace_curve(order_rows(data, options)))
        if i == 0 or sum(point) > 0
    ]
    interpolation = "davis_goadrich" if options.ties == "best" else options.interpolation
    area = sum(segment(interpolation, left, right) for left, right in pairwise(points))
    return ratio(area, points[-1][0])


def segment(interpolation: str, left: tuple[float, float], right: tuple[float, float]) -> float:
    """Return the area under precision between two points, over true positives rather than
    recall.
    """
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
        return float(
            ((at - fp + slope * tp) / (1 + slope) ** 2 * WEIGHTS).sum() * (ends[1] - ends[0]) / 2
        )
    first = tp / (tp + fp) if tp + fp > 0 else 1.0 if interpolation == "from_one" else last
    return gained * (first + last) / 2


def pauc(data: Predictions, options: Options) -> float | None:
    """Walk along the ROC curve up to ``max_fpr``, which may cut a segment."""
    positives, negatives = sum_classes(data)
    if positives * negatives == 0:
        return None
    most = float(options.at or 0)
    points = [(tp / positives, fp / negatives) for tp, fp in trace_curve(order_rows(data, options))]
    area = 0.0
    for (tpr, fpr), (tpr_after, fpr_after) in pairwise(points):
        if fpr_after > fpr and fpr < most:
            share = min(1.0, (most - fpr) / (fpr_after - fpr))
            area += share * (fpr_after - fpr) * (tpr + (tpr + share * (tpr_after - tpr))) / 2
    if options.area_scaling == "raw":
        return area
    return (
        area / most
        if options.area_scaling == "ratio"
        else 0.5 * (1 + (area - most**2 / 2) / (most - most**2 / 2))
    )


def gain(data: Predictions, options: Options) -> float | None:
    """Fill the top up from the highest score on; the last score is taken in part."""
    positives, negatives = sum_classes(data)
    room, found = float(options.at or 0) * (positives + negatives), 0.0
    for _, of_positives, of_negatives in list_levels(order_rows(data, options)):
        if of_positives + of_negatives > 0:
            taken = min(1.0, max(room, 0) / (of_positives + of_negatives))
            found += taken * of_positives
            room -= of_positives + of_negatives
    return ratio(found, positives)


def lift(data: Predictions, options: Options) -> float | None:
    value = gain(data, options)
    return None if value is None else value / float(options.at or 0)


def pndcg(data: Predictions, options: Options) -> float | None:
    positives, _ = sum_classes(data)
    most = np.inf if options.at is None else float(options.at)
    given = best = 0.0
    room, ideal_room = most, min(most, positives)
    for score, of_positives, of_negatives in list_levels(data):
        weight = of_positives + of_negatives
        if weight > 0:
            given += score * of_positives * min(1.0, max(room, 0) / weight)
            best += score * min(weight, max(ideal_room, 0))
            room, ideal_room = room - weight, ideal_room - weight
    return ratio(given, best)


def precision_at_recall(data: Predictions, options: Options) -> float | None:
    points = trace_curve(order_rows(data, options))
    found = [tp / (tp + fp) for tp, fp in points if tp and tp / points[-1][0] >= options.at]
    return max(found, default=None)


def recall_at_precision(data: Predictions, options: Options) -> float | None:
    points = trace_curve(order_rows(data, options))
    found = [tp / points[-1][0] for tp, fp in points if tp and tp / (tp + fp) >= options.at]
    return max(found, default=0.0) if points[-1][0] else None


def ks(data: Predictions, options: Options) -> float | None:
    positives, negatives = sum_classes(data)
    if positives * negatives == 0:
        return None
    return max(
        abs(tp / positives - fp / negatives) for tp, fp in trace_curve(order_rows(data, options))
    )
