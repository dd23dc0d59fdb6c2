"""Random predictions: beside sums of fractions, whatever the weights, and beside scikit-learn where
weights are plain.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
from sklearn import metrics as sk

import sqlrank
from tests.fuzz.comparing import find_differences

Rows = list[tuple[int, float, float]]
"""Label, score and weight of each prediction."""

WEIGHTS = (
    (1.0,),
    (0.0, 1.0, 2.0),
    (0.1, 0.7, 3.0),
    (1e-90, 1.0, 1e90),
    (1e-60, 3.3, 0.0),
    (2.0**-280, 2.0**-270),
)
STRATEGIES = ("auto", "window", "distinct", "buckets")
METRICS = ["AUC", "APS", "Brier", "Recall", "Precision", "Positives"]
SKLEARN_METRICS = {
    "AUC": sk.roc_auc_score,
    "APS": sk.average_precision_score,
    "LogLoss": sk.log_loss,
    "Brier": sk.brier_score_loss,
}


def draw_groups(seed: int, count: int, weights: tuple[tuple[float, ...], ...]) -> dict[str, Rows]:
    """Draw so many groups, each with traits of its own."""
    rng = np.random.default_rng(seed)
    found: dict[str, Rows] = {}
    for number in range(count):
        n = int(rng.integers(1, 40))
        scores = (
            rng.integers(0, 5, n) / 4,
            rng.random(n),
            np.full(n, 0.3),
            rng.choice([0.0, 5e-324, 1 - 2**-53, 1.0], n),
        )[rng.integers(4)]
        labels = rng.random(n) < rng.choice(
            [0.0, 0.1, 0.5, 0.9, 1.0], p=[0.05, 0.3, 0.3, 0.3, 0.05]
        )
        chosen = rng.choice(weights[rng.integers(len(weights))], n)
        found[f"'{number}\""] = [
            (int(label), float(score), float(weight))
            for label, score, weight in zip(labels, scores, chosen, strict=True)
        ]
    return found


def evaluate_groups(
    groups: dict[str, Rows], metrics: list[str], **arguments: str
) -> dict[str, dict[str, float | None]]:
    rows = [(group, *row) for group, held in groups.items() for row in held]
    table = pa.table(
        dict(
            zip(
                ("group", "label", "score", "weight"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    found = sqlrank.evaluate(metrics, predictions=table, by="group", **arguments).to_pylist()
    return {row.pop("group"): row for row in found}


def compare_with_fractions(seed: int, count: int) -> Iterator[str]:
    """Yield the differences from sums of fractions in a batch of groups with weights of any
    size.
    """
    groups = draw_groups(seed, count, WEIGHTS)
    expected = {group: evaluate_exactly(rows) for group, rows in groups.items()}
    yield from find_differences(
        evaluate_groups(groups, METRICS, plan={"score_order": STRATEGIES[seed % 4]}),
        expected,
        1e-11,
    )


def compare_with_sklearn(seed: int, count: int) -> Iterator[str]:
    """Yield the differences from scikit-learn in a batch of groups that have both classes."""
    groups = {
        group: rows
        for group, rows in draw_groups(seed, count, WEIGHTS[:3]).items()
        if {label for label, _, weight in rows if weight} == {0, 1}
    }
    expected = {}
    for group, rows in groups.items():
        label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
        expected[group] = {
            name: float(function(label, score, sample_weight=weight))
            for name, function in SKLEARN_METRICS.items()
        }
    if groups:
        yield from find_differences(
            evaluate_groups(groups, [*SKLEARN_METRICS], compat="sklearn"), expected, 1e-9
        )


def evaluate_exactly(rows: Rows) -> dict[str, float | None]:
    """Return the metrics of a group, exact until they are made doubles; None where they are
    undefined.
    """
    classes: dict[float, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    squares = Fraction(0)
    told = [[Fraction(0), Fraction(0)], [Fraction(0), Fraction(0)]]
    for label, score, weight in rows:
        classes[score][label] += Fraction(weight)
        squares += Fraction(weight) * (Fraction(score) - label) ** 2
        told[score >= 0.5][label] += Fraction(weight)
    negatives, positives = (
        sum((held[label] for held in classes.values()), Fraction(0)) for label in (0, 1)
    )
    above = [Fraction(0), Fraction(0)]
    pairs = precision = Fraction(0)
    for score in sorted(classes, reverse=True):
        held = classes[score]
        pairs += held[1] * (negatives - above[0] - held[0] / 2)
        above = [above[0] + held[0], above[1] + held[1]]
        precision += held[1] * above[1] / sum(above) if held[1] else 0
    ratios = {
        "AUC": (pairs, positives * negatives),
        "APS": (precision, positives),
        "Brier": (squares, positives + negatives),
        "Recall": (told[1][1], positives),
        "Precision": (told[1][1], sum(told[1], Fraction(0))),
        "Positives": (positives, Fraction(1)),
    }
    return {name: float(value / size) if size else None for name, (value, size) in ratios.items()}
