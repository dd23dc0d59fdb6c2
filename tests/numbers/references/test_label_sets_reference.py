"""Every metric of sets of classes against a second implementation (label_sets_reference.py),
scikit-learn, and finite differences.
"""

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as sklearn

import sqlrank
from tests.lanes import select_few
from tests.numbers.references import label_sets_reference as reference
from tests.numbers.references.label_sets_reference import LabelSets
from tests.tables import read_columns

METRICS = [
    *("HammingLoss", "SubsetAccuracy"),
    *(
        f"Multilabel{name}(average={average}{division})"
        for name in ("Precision", "Recall", "FBeta", "Jaccard")
        for average in ("samples", "macro", "weighted", "micro")
        for division in ("", ", zero_division=one", ", zero_division=skip")
    ),
    "MultilabelFBeta(beta=2)",
]
FEW = [
    "HammingLoss",
    "SubsetAccuracy",
    "MultilabelFBeta(average=samples, zero_division=one)",
    "MultilabelJaccard(average=macro)",
]
LETTERS = np.array(list("abcde"))


def draw_sets(seed: int) -> LabelSets:
    """Draw sets of classes: few and many predictions, empty sets, classes that are never observed,
    or never predicted; weights of 0.
    """
    rng = np.random.default_rng(seed)
    n, classes = int(rng.choice([1, 2, 5, 30])), int(rng.integers(1, 6))
    observed, predicted = (
        rng.random((n, classes)) < rng.random(classes) * rng.integers(0, 2, classes)
        for _ in range(2)
    )
    weight = rng.choice(
        [np.ones(n), rng.integers(0, 3, n), rng.random(n) * 10.0 ** rng.integers(-6, 12)]
    )
    return LabelSets(
        observed, predicted | (observed & (rng.random((n, classes)) < 0.5)), weight.astype(float)
    )


def list_sets(data: LabelSets, seed: int = 0, **others: Any) -> pa.Table:
    """Return a row per prediction and class."""
    n, classes = data.observed.shape
    return pa.table(
        {
            "seed": np.full(n * classes, seed),
            "prediction_id": np.repeat(np.arange(n), classes),
            "class_id": np.tile(LETTERS[:classes], n),
            "label": data.observed.ravel().astype(int),
            "predicted": data.predicted.ravel().astype(int),
            "weight": np.repeat(data.weight, classes),
            **{name: np.repeat(values, classes) for name, values in others.items()},
        }
    )


def find_sklearn_value(metric: str, data: LabelSets) -> float | None:
    """Return scikit-learn's value of a metric, None if it has no such setting."""
    parsed = sqlrank.parse(metric)
    given = {
        "y_true": data.observed.astype(int),
        "y_pred": data.predicted.astype(int),
        "sample_weight": data.weight,
    }
    if parsed.name in {"HammingLoss", "SubsetAccuracy"}:
        return float(
            {"HammingLoss": sklearn.hamming_loss, "SubsetAccuracy": sklearn.accuracy_score}[
                parsed.name
            ](**given)
        )
    params = dict(parsed.params)
    division = {"zero": 0, "one": 1, "skip": np.nan}[params.get("zero_division", "zero")]
    options = {"average": params.get("average", "macro"), "zero_division": division}
    if parsed.name == "MultilabelFBeta":
        return float(sklearn.fbeta_score(**given, **options, beta=float(params.get("beta", 1))))
    if parsed.name == "MultilabelJaccard":
        return None if division not in {0, 1} else float(sklearn.jaccard_score(**given, **options))
    return float(
        {"MultilabelPrecision": sklearn.precision_score, "MultilabelRecall": sklearn.recall_score}[
            parsed.name
        ](**given, **options)
    )


@pytest.mark.parametrize("metrics", select_few([FEW, METRICS], 1), ids=["few", "all"])
def test_sets_of_the_reference_and_of_sklearn(metrics):
    groups = {seed: draw_sets(seed) for seed in range(20)}
    table = pa.concat_tables([list_sets(data, seed) for seed, data in groups.items()])
    compared = 0
    for row in sqlrank.evaluate(metrics, inputs={"class_labels": table}, by="seed").to_pylist():
        data = groups[row["seed"]]
        for metric in metrics:
            expected = reference.evaluate(metric, data)
            assert row[metric] == (
                None if expected is None else pytest.approx(expected, abs=1e-9)
            ), (row["seed"], metric)
            if (
                expected is None or not data.weight.any() or data.observed.shape[1] == 1
            ):  # one column is a class of two for scikit-learn
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = find_sklearn_value(metric, data)
            assert value is None or expected == pytest.approx(value, abs=1e-9), (
                row["seed"],
                metric,
            )
            compared += value is not None
    assert compared > 5 * len(metrics)


def test_worked_example_of_sets():
    """One of two classes found, and one wrong; all of one; none of none. The last has a row without
    a class.
    """
    sets = read_columns(prediction_id="1 1 1 2 3", class_id="a b it's a NULL")
    table = pa.table({**sets, "label": [1, 1, 0, 1, 0], "predicted": [0, 1, 1, 1, 0]})
    metrics = [
        "HammingLoss", "SubsetAccuracy", "precision_samples", "jaccard_samples",
        "MultilabelJaccard(average=micro)", "f1_samples",
    ]  # fmt: skip
    assert sqlrank.evaluate(metrics, inputs={"class_labels": table}).to_pylist() == [
        {
            "HammingLoss": pytest.approx(2 / 9),
            "SubsetAccuracy": pytest.approx(2 / 3),
            "precision_samples": pytest.approx(0.5),
            "jaccard_samples": pytest.approx((1 / 3 + 1) / 3),
            "MultilabelJaccard(average=micro)": pytest.approx(2 / 4),
            "f1_samples": pytest.approx(0.5),
        }
    ]


@pytest.mark.slow
def test_errors_of_sets_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    n = 16
    observed = rng.random((n, 4)) < 0.4
    predicted = np.where(rng.random((n, 4)) < 0.7, observed, ~observed)
    predicted[:, 2], observed[:, 3], predicted[:, 3] = (
        False,
        False,
        False,
    )  # a class is never predicted, and one neither
    data = LabelSets(observed, predicted, rng.random(n))
    metrics = [
        *FEW[:-1],
        *(
            f"Multilabel{name}(average={average}{division})"
            for name in ("Precision", "Recall", "FBeta", "Jaccard")
            for average in ("macro", "weighted")
            for division in ("", ", zero_division=skip")
        ),
        "MultilabelFBeta(average=macro, beta=2, zero_division=one)",
        "MultilabelPrecision(average=micro)",
        "MultilabelJaccard(average=micro)",
        "MultilabelRecall(average=samples)",
    ]
    for units, ids in ((None, np.arange(n)), ("unit_id", np.arange(n) % (n // 2))):
        table = list_sets(data, **({"unit_id": ids} if units else {}))
        row = sqlrank.evaluate(
            metrics, inputs={"class_labels": table}, confidence=0.95
        ).to_pylist()[0]
        for metric in metrics:
            change = [
                (
                    reference.evaluate(
                        metric,
                        LabelSets(
                            data.observed,
                            data.predicted,
                            data.weight * (1 + 1e-6 * (place == np.arange(n))),
                        ),
                    )
                    - row[metric]
                )
                / 1e-6
                for place in range(n)
            ]
            influence = np.bincount(ids, change)
            count = len(influence)
            assert row[f"{metric}.n_units"] == count
            assert row[f"{metric}.se"] == pytest.approx(
                np.sqrt(count / (count - 1) * (influence**2).sum()), rel=1e-4
            ), metric
