"""Every metric of several classes against a second implementation (classes_reference.py), scikit-learn, and finite differences."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as sklearn

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from tests.references import classes_reference as reference
from tests.references.classes_reference import Classes

AVERAGED = [
    f"Multiclass{name}(average={average}{division})"
    for name in ("Precision", "Recall", "FBeta")
    for average in ("macro", "weighted", "micro")
    for division in ("", ", zero_division=one", ", zero_division=skip")
]
PLAIN = ["MulticlassAccuracy", "MulticlassBalancedAccuracy", "CohenKappa", "MulticlassMCC"]
WEIGHTED_KAPPA = [f"WeightedKappa(disagreement={name})" for name in ("linear", "quadratic", "nominal")]
FEW = [
    *PLAIN,
    "WeightedKappa(disagreement=linear)",
    "MulticlassPrecision(average=macro)",
    "MulticlassRecall(average=weighted, zero_division=skip)",
    "MulticlassFBeta(average=micro)",
]
METRICS = [*PLAIN, *WEIGHTED_KAPPA, *AVERAGED, "MulticlassFBeta(beta=2)"]
OF_SKLEARN: dict[str, tuple[Any, dict[str, Any]]] = {
    "MulticlassAccuracy": (sklearn.accuracy_score, {}),
    "MulticlassBalancedAccuracy": (sklearn.balanced_accuracy_score, {}),
    "CohenKappa": (sklearn.cohen_kappa_score, {}),
    "MulticlassMCC": (sklearn.matthews_corrcoef, {}),
    "WeightedKappa(disagreement=linear)": (sklearn.cohen_kappa_score, {"weights": "linear"}),
    "WeightedKappa(disagreement=quadratic)": (sklearn.cohen_kappa_score, {"weights": "quadratic"}),
    "MulticlassFBeta(beta=2)": (sklearn.fbeta_score, {"beta": 2, "average": "macro", "zero_division": 0}),
    **{
        f"Multiclass{name}(average={average}{setting})": (function, {"average": average, "zero_division": division})
        for name, function in (("Precision", sklearn.precision_score), ("Recall", sklearn.recall_score), ("FBeta", sklearn.f1_score))
        for average in ("macro", "weighted", "micro")
        for setting, division in (("", 0), (", zero_division=one", 1), (", zero_division=skip", np.nan))
    },
}
SMALL = Classes(np.array(list("aaabbc")), np.array(list("aabbbd")), np.ones(6))


def draw(seed: int) -> Classes:
    """Draw predictions: few and many, one class, classes of one side only, weights of 0, integers and texts."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 5, 20, 60]))
    labels, predictions = (rng.choice([1, 2, 3, 6]) for _ in range(2))
    label = rng.integers(0, labels, n)
    predicted = np.where(rng.random(n) < 0.5, label, rng.integers(0, predictions, n) + rng.integers(0, 3))
    weight = rng.choice([np.ones(n), rng.integers(0, 3, n), rng.random(n) * 10.0 ** rng.integers(-6, 12)])
    return Classes(label, predicted, weight.astype(float))


GROUPS = {seed: draw(seed) for seed in range(80)}


def make_table(groups: dict[int, Classes], **others: Any) -> pa.Table:
    columns = {name: np.concatenate([getattr(data, name) for data in groups.values()]) for name in ("label", "predicted", "weight")}
    return pa.table({"seed": np.repeat([*groups], [len(data.label) for data in groups.values()]), **columns, **others})


@cache
def evaluate_groups(metrics: tuple[str, ...] = tuple(METRICS)) -> dict[int, dict[str, Any]]:
    return {row["seed"]: row for row in sqlrank.evaluate(metrics, inputs={"classified": make_table(GROUPS)}, by="seed").to_pylist()}


def evaluate_classified(metrics: Any, data: Classes, others: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    found = sqlrank.evaluate(metrics, inputs={"classified": make_table({0: data}, **(others or {}))}, **options)
    return dict(found.to_pylist()[0])


def test_every_metric_has_a_second_implementation() -> None:
    there = {file.display_name for file in load_registry().metrics.values() if file.path.parent.name == "classes"}
    assert there == reference.METRICS.keys() == {sqlrank.parse(metric).name for metric in METRICS}


@pytest.mark.parametrize("metrics", select_few([FEW, METRICS], 1), ids=["few", "all"])
def test_numbers_are_those_of_the_reference(metrics: list[str]) -> None:
    for seed, data in GROUPS.items():
        for metric in metrics:
            expected = reference.evaluate(metric, data)
            assert evaluate_groups(tuple(metrics))[seed][metric] == (None if expected is None else pytest.approx(expected, abs=1e-9)), (
                seed,
                metric,
            )


@pytest.mark.slow
def test_numbers_are_those_of_sklearn() -> None:
    """Compare with scikit-learn, which returns 0 or NaN where a metric is not defined, or a mean without weights: here that is NULL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in [seed for seed, data in GROUPS.items() if data.weight.sum() > 0]:
            data = GROUPS[seed]
            for metric, (function, options) in OF_SKLEARN.items():
                found, expected = (
                    evaluate_groups()[seed][metric],
                    function(data.label, data.predicted, sample_weight=data.weight, **options),
                )
                if found is None:
                    assert metric in {*PLAIN, *WEIGHTED_KAPPA} or "average=weighted, zero_division=skip" in metric, (seed, metric)
                    assert metric not in PLAIN or np.isnan(expected) or abs(expected) < 1e-9, (seed, metric)
                else:
                    assert found == pytest.approx(expected, abs=1e-9), (seed, metric)


def test_worked_example() -> None:
    """Three of a, of which one is taken for b; two of b, which are found; one c, which is taken for d."""
    found = evaluate_classified([*PLAIN, *AVERAGED, "WeightedKappa"], SMALL)
    expected = {
        "MulticlassAccuracy": 4 / 6,
        "MulticlassBalancedAccuracy": (2 / 3 + 1 + 0) / 3,
        "CohenKappa": (4 / 6 - 12 / 36) / (1 - 12 / 36),
        "MulticlassMCC": (4 * 6 - 12) / np.sqrt((36 - 14) * (36 - 14)),
        "WeightedKappa": 1 - 2 * 6 / (3 * 3 + 3 * 9 + 2 * 2 + 2 * 4 + 1 * 2 * 4 + 1 * 3 + 1),
        "MulticlassPrecision(average=macro)": (1 + 2 / 3 + 0 + 0) / 4,
        "MulticlassPrecision(average=macro, zero_division=one)": (1 + 2 / 3 + 1 + 0) / 4,
        "MulticlassPrecision(average=macro, zero_division=skip)": (1 + 2 / 3 + 0) / 3,
        "MulticlassRecall(average=macro)": (2 / 3 + 1 + 0 + 0) / 4,
        "MulticlassRecall(average=weighted)": 4 / 6,
        "MulticlassFBeta(average=macro)": (4 / 5 + 4 / 5) / 4,
        "MulticlassFBeta(average=weighted)": (3 * 4 / 5 + 2 * 4 / 5) / 6,
        "MulticlassFBeta(average=micro)": 4 / 6,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_rows_of_the_worked_example() -> None:
    table = make_table({0: SMALL})
    cells = sqlrank.evaluate("MulticlassConfusionMatrix", inputs={"classified": table}).to_pylist()
    assert [row["point"] for row in cells] == [*range(1, 17)]
    assert [(row["label"], row["predicted"], row["weight"]) for row in cells if row["weight"]] == [
        ("a", "a", 2), ("a", "b", 1), ("b", "b", 2), ("c", "d", 1)
    ]  # fmt: skip
    assert [*(row["portion"] for row in cells[:2]), cells[-1]["portion"]] == [pytest.approx(2 / 3), pytest.approx(1 / 3), None]
    rows = sqlrank.evaluate("MulticlassReport", inputs={"classified": table}).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (1, "a", 1, pytest.approx(2 / 3), pytest.approx(4 / 5), 3, 2),
        (2, "b", pytest.approx(2 / 3), 1, pytest.approx(4 / 5), 2, 3),
        (3, "c", None, 0, 0, 1, 0),
        (4, "d", 0, None, 0, 0, 1),
    ]


@pytest.mark.parametrize("unit", [None, "unit_id"])
@pytest.mark.parametrize("metrics", select_few([FEW, METRICS], 1), ids=["few", "all"])
def test_standard_errors_are_those_of_finite_differences(unit: str | None, metrics: list[str]) -> None:
    rng = np.random.default_rng(0)
    label = rng.choice(list("abcd"), 80)
    data = Classes(
        label,
        np.where(rng.random(80) < 0.6, label, rng.choice(list("abce"), 80)),
        rng.integers(0, 4, 80).astype(float),
    )
    units = np.arange(80) % 17 if unit else np.arange(80)
    found = evaluate_classified(metrics, data, {"unit_id": units} if unit else None, confidence=0.95)
    for metric in metrics:
        influence = []
        for one in sorted(set(units[data.weight > 0])):
            values = [
                reference.evaluate(metric, Classes(data.label, data.predicted, data.weight * np.where(units == one, 1 + step, 1)))
                for step in (1e-5, -1e-5)
            ]
            influence.append((values[0] - values[1]) / 2e-5)  # type: ignore[operator]
        n = len(influence)
        assert found[f"{metric}.n_units"] == n
        assert found[f"{metric}.se"] == pytest.approx(np.sqrt(n / (n - 1) * np.square(influence).sum()), rel=1e-6), metric


def test_systems_are_compared_by_rows_and_by_units() -> None:
    better = Classes(SMALL.label, SMALL.label, SMALL.weight)
    table = make_table({0: SMALL, 1: better}, system=["base"] * 6 + ["new"] * 6, unit_id=[*range(6)] * 2)
    (row,) = sqlrank.compare("MulticlassAccuracy", inputs={"classified": table}, unit="unit_id").to_pylist()
    assert (row["value_baseline"], row["value"], row["n_units"]) == (pytest.approx(4 / 6), 1, 6)
    (row,) = sqlrank.compare("CohenKappa", inputs={"classified": table}, unit="unit_id").to_pylist()
    assert (row["value_baseline"], row["value"], row["n_units"]) == (pytest.approx(0.5), 1, 6)


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("label", [None, "a"], "1 row: label is NULL"),
        ("predicted", [None, "a"], "1 row: predicted is NULL; give the row a class of its own, such as 'none', or leave it out"),
        ("weight", [-1.0, 1.0], "1 row: weight is negative"),
        ("weight", [float("nan"), 1.0], "1 row: weight is NaN or infinite"),
        ("weight", [1e91, 1.0], "1 row: weight is above 1e90"),
    ],
)
def test_rows_that_are_refused(column: str, values: list[Any], expected: str) -> None:
    table = pa.table({"label": ["a", "b"], "predicted": ["a", "b"], "weight": [1.0, 1.0]} | {column: values})
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("MulticlassAccuracy", inputs={"classified": table})
    assert expected in str(caught.value)


def test_classes_of_two_types_are_refused() -> None:
    with pytest.raises(InputError, match=r"label is .*predicted is "):
        sqlrank.evaluate("MulticlassAccuracy", inputs={"classified": pa.table({"label": ["1"], "predicted": [1]})})


@pytest.mark.parametrize("values", [[True, False, True], [2, 1, 2], ["it's", 'select "', "it's"]])
def test_classes_may_have_any_type(values: list[Any]) -> None:
    table = pa.table({"select": values, "group by": [values[1], *values[1:]]})
    columns = {"label": "select", "predicted": '"group by"'}
    found = sqlrank.evaluate(["MulticlassAccuracy", "WeightedKappa"], inputs={"classified": table}, columns=columns)
    assert found.to_pylist() == [{"MulticlassAccuracy": pytest.approx(2 / 3), "WeightedKappa": pytest.approx(0.4)}]
    rows = sqlrank.evaluate("MulticlassReport", inputs={"classified": table}, columns=columns).to_pylist()
    assert [row["label"] for row in rows] == sorted(set(values))


def test_no_rows_and_no_weight() -> None:
    table = pa.table({"label": ["a"], "predicted": ["a"], "weight": [0.0]})
    assert sqlrank.evaluate(PLAIN, inputs={"classified": table}).to_pylist() == [dict.fromkeys(PLAIN)]
    with pytest.raises(InputError, match=r"classified .* has no rows"):
        sqlrank.evaluate(PLAIN, inputs={"classified": table.slice(1)})
