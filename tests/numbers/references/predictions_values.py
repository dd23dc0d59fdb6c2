"""Metrics of the scores themselves, as probabilities and as numbers, in NumPy."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tests.numbers.references.predictions import EPS, Options, Predictions, ratio, sum_classes


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
    return ratio(sum_classes(data)[0], data.weight.sum())


def logits(data: Predictions, options: Options) -> np.ndarray:
    eps = EPS if options.eps is None else options.eps
    clipped = np.clip(data.score, eps, 1 - eps)
    return np.log(clipped) - np.log(1 - clipped)


def residuals(data: Predictions, linear: np.ndarray) -> np.ndarray:
    sign = 2 * data.label - 1
    return sign / (1 + np.exp(np.minimum(sign * linear, 700)))


def calibration_intercept(data: Predictions, options: Options) -> float | None:
    """Return the zero of the sum of residuals, by bisection."""
    if min(sum_classes(data)) == 0:
        return None
    low, high, given = -800.0, 800.0, logits(data, options)
    while low < (middle := (low + high) / 2) < high:
        rises = (data.weight * residuals(data, given + middle)).sum() > 0
        low, high = (middle, high) if rises else (low, middle)
    return middle


def calibration_slope(data: Predictions, options: Options) -> float | None:
    """Return the slope of the greatest likelihood, by Newton steps no longer than are sure to raise
    it (Bach 2010), None if the scores of the classes do not overlap.
    """
    counts = data.take(data.weight > 0)
    given = logits(counts, options)
    positives, negatives = given[counts.label == 1], given[counts.label == 0]
    if (
        min(len(positives), len(negatives)) == 0
        or positives.min() >= negatives.max()
        or negatives.min() >= positives.max()
    ):
        return None
    rows = np.column_stack([np.ones(len(given)), given - np.average(given, weights=counts.weight)])
    fitted = np.zeros(2)
    for _ in range(5000):
        errors = residuals(counts, rows @ fitted)
        variances = counts.weight * np.abs(errors) * (1 - np.abs(errors))
        step = np.linalg.solve(rows.T * variances @ rows, rows.T @ (counts.weight * errors))
        longest = np.abs(rows @ step).max()
        fitted += step * (np.log1p(longest) / longest if longest > 1e-9 else 1)
    return float(fitted[1])


def brier_skill(data: Predictions, options: Options) -> float | None:
    rate = base_rate(data, options)
    if rate is None:
        return None
    skill = ratio(
        (data.weight * (data.score - data.label) ** 2).sum(),
        (data.weight * (rate - data.label) ** 2).sum(),
    )
    return None if skill is None or rate in {0, 1} else 1 - skill


def brier_reliability(data: Predictions, options: Options) -> float | None:
    return (
        ratio(
            sum(weight * error**2 for weight, error, _ in calibration(data, options)),
            data.weight.sum(),
        )
        if len(data)
        else None
    )


def brier_resolution(data: Predictions, options: Options) -> float | None:
    rate = base_rate(data, options)
    return (
        None
        if rate is None
        else ratio(
            sum(weight * (share - rate) ** 2 for weight, _, share in calibration(data, options)),
            data.weight.sum(),
        )
    )


def calibration(data: Predictions, options: Options) -> list[tuple[float, float, float]]:
    """Return the weight of each bin, |mean score - share of positives| in it, and the latter; rows
    of weight 0 are in none.
    """
    data = data.take(data.weight > 0)
    if options.binning == "equal_width":
        number = np.array(
            [max(1, ceiling(Fraction(float(score)) * options.bins)) for score in data.score]
        )
    else:
        below = (data.score[:, None] > data.score[None, :]).sum(axis=1)
        number = options.bins * below // len(data)
    found = []
    for one in np.unique(number):
        rows = data.take(number == one)
        weight = float(rows.weight.sum())
        if weight > 0:
            share = float((rows.weight * rows.label).sum()) / weight
            found.append(
                (
                    weight,
                    abs(float((rows.weight * (rows.score - rows.label)).sum())) / weight,
                    share,
                )
            )
    return found


def ceiling(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


def ece(data: Predictions, options: Options) -> float | None:
    if len(data) == 0:
        return None
    found = calibration(data, options)
    return ratio(sum(weight * error for weight, error, _ in found), data.weight.sum())


def mce(data: Predictions, options: Options) -> float | None:
    found = calibration(data, options) if len(data) else []
    return max((error for _, error, _ in found), default=None)


def mean(data: Predictions, values: np.ndarray) -> float | None:
    return ratio((data.weight * values).sum(), data.weight.sum())


def squared(data: Predictions, _: Options) -> float | None:
    return mean(data, (data.score - data.label) ** 2)


def squared_log(data: Predictions, _: Options) -> float | None:
    return mean(data, (np.log1p(data.score) - np.log1p(data.label)) ** 2)


def rmse(data: Predictions, options: Options) -> float | None:
    value = squared(data, options)
    return None if value is None else value**0.5


def r2(data: Predictions, _: Options) -> float | None:
    label, middle = data.label, mean(data, data.label)
    used = label[data.weight > 0]
    if middle is None or (used == used[0]).all():
        return None
    return 1 - float(
        (data.weight * (data.score - label) ** 2).sum()
        / (data.weight * (label - middle) ** 2).sum()
    )


def explained_variance(data: Predictions, options: Options) -> float | None:
    offset = mean(data, data.score - data.label)
    return None if offset is None else r2(replace(data, score=data.score - offset), options)


def mape(data: Predictions, options: Options) -> float | None:
    eps = EPS if options.eps is None else options.eps
    return mean(data, np.abs(data.score - data.label) / np.maximum(np.abs(data.label), eps))


def smape(data: Predictions, _: Options) -> float | None:
    size = np.abs(data.score) + np.abs(data.label)
    return mean(
        data,
        np.where(size > 0, 2 * np.abs(data.score - data.label) / np.where(size > 0, size, 1), 0),
    )


def poisson_deviance(data: Predictions, _: Options) -> float | None:
    label = np.where(data.label > 0, data.label, 1)
    return mean(
        data,
        2
        * (
            np.where(data.label > 0, label * np.log(label / data.score), 0)
            - data.label
            + data.score
        ),
    )


def tweedie_deviance(data: Predictions, options: Options) -> float | None:
    p = options.power
    terms = (
        data.label ** (2 - p) / ((1 - p) * (2 - p))
        - data.label * data.score ** (1 - p) / (1 - p)
        + data.score ** (2 - p) / (2 - p)
    )
    return mean(data, 2 * terms)
