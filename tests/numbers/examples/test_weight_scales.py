"""Multiplying all weights by one number changes no mean, share or correlation, whatever products of
weights it has.
"""

import math
import random
from typing import Any

import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.loader import load_registry
from website.examples import format_metric, list_roles

ROWS, CLASSES = 40, "abc"
SUMS = {
    "FN", "FP", "LogLikelihood", "Negatives", "Observations", "Positives", "TN", "TP", "Sum(score)", "AUC@3", "pAp@3", "PartialAUC@3", "WRanking",
}  # fmt: skip
"""Metrics that are weights, have a cut-off that is one, or add one to their sum."""


def make_inputs(factor: float) -> dict[str, dict[str, Any]]:
    generator = random.Random(3)  # noqa: S311  no secrets
    weights = [generator.choice([0.1, 0.2, 0.3, 0.7, 1.0, 2.5]) * factor for _ in range(ROWS)]
    labels = [generator.choice(CLASSES) for _ in range(ROWS)]
    predicted = [
        label if generator.random() < 0.6 else generator.choice(CLASSES) for label in labels
    ]
    cells = [(row, name) for row in range(ROWS) for name in CLASSES]
    by_class = {
        "prediction_id": [row for row, _ in cells],
        "class_id": [name for _, name in cells],
        "weight": [weights[row] for row, _ in cells],
    }
    return {
        "predictions": {
            "label": [i % 2 for i in range(ROWS)],
            "score": [i * 7 % 11 / 11 for i in range(ROWS)],
            "weight": weights,
        },
        "classified": {"label": labels, "predicted": predicted, "weight": weights},
        "class_scores": {
            **by_class,
            "score": [0.6 if name == predicted[row] else 0.2 for row, name in cells],
            "label": [labels[row] for row, _ in cells],
        },
        "class_labels": {
            **by_class,
            "label": [int(name == labels[row]) for row, name in cells],
            "predicted": [int(name == predicted[row]) for row, name in cells],
        },
    }


def evaluate(metrics: list[str] | str, role: str, factor: float, **options: Any) -> dict[str, Any]:
    table = make_inputs(factor)[role]
    sources = {"predictions": table} if role == "predictions" else {"inputs": {role: table}}
    return sqlrank.evaluate(metrics, **sources, **options).to_pylist()[0]


def list_metrics(role: str, **options: Any) -> list[str]:
    found = []
    for metric in (
        format_metric(file)
        for file in load_registry().metrics.values()
        if list_roles(file) == [role]
    ):
        try:
            evaluate(metric, role, 1, **options)
        except SqlrankError:
            continue
        found.append(metric)
    return [metric for metric in found if metric not in SUMS]


@pytest.mark.slow
@pytest.mark.parametrize("role", ["predictions", "classified", "class_scores", "class_labels"])
def test_the_scale_of_weights_changes_no_value(role):
    """Intervals are in test_intervals.py."""
    metrics = list_metrics(role)
    expected = evaluate(metrics, role, 1)
    assert len(metrics) >= 4
    for factor in (1e89, 1e-89, 3e76, 1e-82):
        assert evaluate(metrics, role, factor) == pytest.approx(expected, rel=1e-8), factor


def correlate(labels: list[int], predicted: list[int], weights: list[float], **options: Any) -> Any:
    table = {"label": labels, "predicted": predicted, "weight": weights}
    return sqlrank.evaluate("MulticlassMCC", inputs={"classified": table}, **options).to_pylist()[0]


@pytest.mark.parametrize("weight", [1.0, 3e76, 1e-82])
def test_correlation_of_classes_under_equal_weights(weight):
    row = correlate([1, 2, 3, 1, 2], [1, 2, 2, 1, 3], [weight] * 5, confidence=0.95)
    assert row["MulticlassMCC"] == pytest.approx(0.375, rel=1e-14)
    assert row["MulticlassMCC.se"] == pytest.approx(0.334891, rel=1e-5)
    assert math.isfinite(row["MulticlassMCC.ci_low"])


def test_correlation_of_classes_ends_at_1_and_needs_two_classes():
    weights = [0.1, 0.2, 0.3, 0.7]
    assert correlate([0, 1, 2, 0], [0, 1, 2, 0], weights) == {"MulticlassMCC": 1.0}
    assert correlate([0, 1, 2, 0], [1] * 4, weights) == {"MulticlassMCC": None}
    assert correlate([1] * 4, [0, 1, 2, 0], weights) == {"MulticlassMCC": None}
