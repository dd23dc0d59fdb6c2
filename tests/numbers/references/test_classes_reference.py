"""Every metric of several classes against a second implementation (classes_reference.py),
scikit-learn, and finite differences.
"""

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
from tests.analyses.test_small_sample_intervals import LEVEL, compute_limits
from tests.lanes import select_few
from tests.numbers.references import classes_reference as reference
from tests.numbers.references import label_sets_reference
from tests.numbers.references.classes_reference import Classes, Scores
from tests.numbers.references.test_label_sets_reference import METRICS as OF_SETS
from tests.tables import build_table, read_columns
from website.sections import find_section

AVERAGED = [
    f"Multiclass{name}(average={average}{division})"
    for name in ("Precision", "Recall", "FBeta")
    for average in ("macro", "weighted", "micro")
    for division in ("", ", zero_division=one", ", zero_division=skip")
]
PLAIN = [
    "MulticlassAccuracy", "MulticlassBalancedAccuracy", "MulticlassZeroOneLoss", "CohenKappa",
    "MulticlassMCC",
]  # fmt: skip
WEIGHTED_KAPPA = [
    f"WeightedKappa(disagreement={name})" for name in ("linear", "quadratic", "nominal")
]
FEW = [
    *PLAIN,
    "WeightedKappa(disagreement=linear)",
    "MulticlassPrecision(average=macro)",
    "MulticlassRecall(average=weighted, zero_division=skip)",
    "MulticlassFBeta(average=micro)",
]
METRICS = [*PLAIN, *WEIGHTED_KAPPA, *AVERAGED, "MulticlassFBeta(beta=2)"]
SKLEARN_METRICS = {
    "MulticlassAccuracy": (sklearn.accuracy_score, {}),
    "MulticlassBalancedAccuracy": (sklearn.balanced_accuracy_score, {}),
    "MulticlassZeroOneLoss": (sklearn.zero_one_loss, {}),
    "CohenKappa": (sklearn.cohen_kappa_score, {}),
    "MulticlassMCC": (sklearn.matthews_corrcoef, {}),
    "WeightedKappa(disagreement=linear)": (sklearn.cohen_kappa_score, {"weights": "linear"}),
    "WeightedKappa(disagreement=quadratic)": (sklearn.cohen_kappa_score, {"weights": "quadratic"}),
    "MulticlassFBeta(beta=2)": (
        sklearn.fbeta_score,
        {"beta": 2, "average": "macro", "zero_division": 0},
    ),
    **{
        f"Multiclass{name}(average={average}{setting})": (
            function,
            {"average": average, "zero_division": division},
        )
        for name, function in (
            ("Precision", sklearn.precision_score),
            ("Recall", sklearn.recall_score),
            ("FBeta", sklearn.f1_score),
        )
        for average in ("macro", "weighted", "micro")
        for setting, division in (
            ("", 0),
            (", zero_division=one", 1),
            (", zero_division=skip", np.nan),
        )
    },
}
SCORE_METRICS = [
    *("TopKAccuracy@1", "TopKAccuracy@2", "MulticlassLogLoss", "MulticlassBrier"),
    *(
        f"MulticlassAUC(average={average}, multi_class={pairs})"
        for pairs in ("ovr", "ovo")
        for average in ("macro", "weighted")
    ),
]
LETTERS = np.array(list("abcdef"))
SMALL = Classes(np.array(list("aaabbc")), np.array(list("aabbbd")), np.ones(6))


def draw(seed: int) -> Classes:
    """Draw predictions: few and many, one class, classes of one side only, weights of 0, integers
    and texts.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 5, 20, 60]))
    labels, predictions = (rng.choice([1, 2, 3, 6]) for _ in range(2))
    label = rng.integers(0, labels, n)
    predicted = np.where(
        rng.random(n) < 0.5, label, rng.integers(0, predictions, n) + rng.integers(0, 3)
    )
    weight = rng.choice(
        [np.ones(n), rng.integers(0, 3, n), rng.random(n) * 10.0 ** rng.integers(-6, 12)]
    )
    return Classes(label, predicted, weight.astype(float))


GROUPS = {seed: draw(seed) for seed in range(80)}


def make_table(groups: dict[int, Classes], **others: Any) -> pa.Table:
    columns = {
        name: np.concatenate([getattr(data, name) for data in groups.values()])
        for name in ("label", "predicted", "weight")
    }
    return pa.table(
        {
            "seed": np.repeat([*groups], [len(data.label) for data in groups.values()]),
            **columns,
            **others,
        }
    )


@cache
def evaluate_groups(metrics: tuple[str, ...] = tuple(METRICS)) -> dict[int, dict[str, Any]]:
    return {
        row["seed"]: row
        for row in sqlrank.evaluate(
            metrics, inputs={"classified": make_table(GROUPS)}, by="seed"
        ).to_pylist()
    }


def evaluate_classified(
    metrics: Any, data: Classes, others: dict[str, Any] | None = None, **options: Any
) -> dict[str, Any]:
    found = sqlrank.evaluate(
        metrics, inputs={"classified": make_table({0: data}, **(others or {}))}, **options
    )
    return dict(found.to_pylist()[0])


def test_every_metric_has_a_second_implementation():
    there = {
        file.display_name
        for file in load_registry().metrics.values()
        if find_section(file) == "classes"
    }
    assert there == {*reference.METRICS, *reference.SCORE_METRICS, *label_sets_reference.METRICS}, (
        "METRICS of classes_reference.py or label_sets_reference.py"
    )
    assert there == {sqlrank.parse(metric).name for metric in [*METRICS, *SCORE_METRICS, *OF_SETS]}


@pytest.mark.parametrize("metrics", select_few([FEW, METRICS], 1), ids=["few", "all"])
def test_numbers_are_those_of_the_reference(metrics):
    for seed, data in GROUPS.items():
        for metric in metrics:
            expected = reference.evaluate(metric, data)
            assert evaluate_groups(tuple(metrics))[seed][metric] == (
                None if expected is None else pytest.approx(expected, abs=1e-9)
            ), (seed, metric)


@pytest.mark.slow
def test_numbers_are_those_of_sklearn():
    """Compare with scikit-learn, which returns 0 or NaN where a metric is not defined, or a mean
    without weights: here that is NULL.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in [seed for seed, data in GROUPS.items() if data.weight.sum() > 0]:
            data = GROUPS[seed]
            for metric, (function, options) in SKLEARN_METRICS.items():
                found, expected = (
                    evaluate_groups()[seed][metric],
                    function(data.label, data.predicted, sample_weight=data.weight, **options),
                )
                if found is None:
                    assert metric in {*PLAIN, *WEIGHTED_KAPPA}, (seed, metric)
                    assert metric not in PLAIN or np.isnan(expected) or abs(expected) < 1e-9, (
                        seed,
                        metric,
                    )
                else:
                    assert found == pytest.approx(expected, abs=1e-9), (seed, metric)


def test_worked_example():
    """Three of a, of which one is taken for b; two of b, which are found; one c, which is taken for
    d.
    """
    found = evaluate_classified([*PLAIN, *AVERAGED, "WeightedKappa"], SMALL)
    expected = {
        "MulticlassAccuracy": 4 / 6,
        "MulticlassBalancedAccuracy": (2 / 3 + 1 + 0) / 3,
        "MulticlassZeroOneLoss": 2 / 6,
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


def test_rows_of_the_worked_example():
    table = make_table({0: SMALL})
    cells = sqlrank.evaluate("MulticlassConfusionMatrix", inputs={"classified": table}).to_pylist()
    assert [row["point"] for row in cells] == [*range(1, 17)]
    assert [(row["label"], row["predicted"], row["weight"]) for row in cells if row["weight"]] == [
        ("a", "a", 2), ("a", "b", 1), ("b", "b", 2), ("c", "d", 1)
    ]  # fmt: skip
    assert [*(row["portion"] for row in cells[:2]), cells[-1]["portion"]] == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
        None,
    ]
    rows = sqlrank.evaluate("MulticlassReport", inputs={"classified": table}).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (1, "a", 1, pytest.approx(2 / 3), pytest.approx(4 / 5), 3, 2),
        (2, "b", pytest.approx(2 / 3), 1, pytest.approx(4 / 5), 2, 3),
        (3, "c", None, 0, 0, 1, 0),
        (4, "d", 0, None, 0, 0, 1),
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("unit", [None, "unit_id"])
@pytest.mark.parametrize("metrics", select_few([FEW, METRICS], 1), ids=["few", "all"])
def test_standard_errors_are_those_of_finite_differences(unit, metrics):
    rng = np.random.default_rng(0)
    label = rng.choice(list("abcd"), 80)
    data = Classes(
        label,
        np.where(rng.random(80) < 0.6, label, rng.choice(list("abce"), 80)),
        rng.integers(0, 4, 80).astype(float),
    )
    units = np.arange(80) % 17 if unit else np.arange(80)
    found = evaluate_classified(
        metrics, data, {"unit_id": units} if unit else None, confidence=0.95
    )
    for metric in metrics:
        influence = []
        for one in sorted(set(units[data.weight > 0])):
            values = [
                reference.evaluate(
                    metric,
                    Classes(
                        data.label,
                        data.predicted,
                        data.weight * np.where(units == one, 1 + step, 1),
                    ),
                )
                for step in (1e-5, -1e-5)
            ]
            influence.append((values[0] - values[1]) / 2e-5)  # type: ignore[operator]
        n = len(influence)
        assert found[f"{metric}.n_units"] == n
        assert found[f"{metric}.se"] == pytest.approx(
            np.sqrt(n / (n - 1) * np.square(influence).sum()), rel=1e-6
        ), metric


def test_systems_are_compared_by_rows_and_by_units():
    better = Classes(SMALL.label, SMALL.label, SMALL.weight)
    table = make_table(
        {0: SMALL, 1: better}, system=["base"] * 6 + ["new"] * 6, unit_id=[*range(6)] * 2
    )
    (row,) = sqlrank.compare(
        "MulticlassAccuracy", inputs={"classified": table}, unit="unit_id"
    ).to_pylist()
    assert (row["value_baseline"], row["value"], row["n_units"]) == (pytest.approx(4 / 6), 1, 6)
    (row,) = sqlrank.compare("CohenKappa", inputs={"classified": table}, unit="unit_id").to_pylist()
    assert (row["value_baseline"], row["value"], row["n_units"]) == (pytest.approx(0.5), 1, 6)


@pytest.mark.parametrize("values", [[True, False, True], [2, 1, 2], ["it's", 'select "', "it's"]])
def test_classes_may_have_any_type(values):
    table = pa.table({"select": values, "group by": [values[1], *values[1:]]})
    columns = {"label": "select", "predicted": '"group by"'}
    found = sqlrank.evaluate(
        ["MulticlassAccuracy", "WeightedKappa"], inputs={"classified": table}, columns=columns
    )
    assert found.to_pylist() == [
        {"MulticlassAccuracy": pytest.approx(2 / 3), "WeightedKappa": pytest.approx(0.4)}
    ]
    rows = sqlrank.evaluate(
        "MulticlassReport", inputs={"classified": table}, columns=columns
    ).to_pylist()
    assert [row["label"] for row in rows] == sorted(set(values))


def test_no_rows_and_no_weight():
    table = build_table(label="a", predicted="a", weight="0.0")
    assert sqlrank.evaluate(PLAIN, inputs={"classified": table}).to_pylist() == [
        dict.fromkeys(PLAIN)
    ]


def draw_scores(seed: int) -> Scores:
    """Draw probabilities, of which many are tied in some, of few and many predictions; classes
    without labels; weights of 0.
    """
    rng = np.random.default_rng(seed)
    n, classes = int(rng.choice([1, 3, 20, 30])), int(rng.integers(2, 6))
    score = rng.dirichlet(np.ones(classes), n)
    if rng.random() < 0.5:
        score = np.round(score * 4) / 4
    label = rng.integers(0, classes if rng.random() < 0.7 else 1, n)
    return Scores(
        score, label, rng.choice([np.ones(n), rng.integers(0, 3, n), rng.random(n)]).astype(float)
    )


def list_scores(data: Scores, seed: int = 0) -> dict[str, Any]:
    """Return the columns of a row per prediction and class."""
    n, classes = data.score.shape
    return {
        "seed": np.full(n * classes, seed),
        "prediction_id": np.repeat(np.arange(n), classes),
        "class_id": np.tile(LETTERS[:classes], n),
        "score": data.score.ravel(),
        "label": np.repeat(LETTERS[data.label], classes),
        "weight": np.repeat(data.weight, classes),
    }


def test_scores_of_the_reference_and_of_sklearn():
    groups = {seed: draw_scores(seed) for seed in range(50)}
    table = pa.concat_tables([pa.table(list_scores(data, seed)) for seed, data in groups.items()])
    compared = 0
    for row in sqlrank.evaluate(
        SCORE_METRICS, inputs={"class_scores": table}, by="seed"
    ).to_pylist():
        data = groups[row["seed"]]
        for metric in SCORE_METRICS:
            expected = reference.evaluate_scores(metric, data)
            assert row[metric] == (
                None if expected is None else pytest.approx(expected, abs=1e-9)
            ), (row["seed"], metric)
        names = LETTERS[: data.score.shape[1]]
        if (
            len(names) < 3
            or {*data.label[data.weight > 0]} != {*range(len(names))}
            or not np.allclose(data.score.sum(axis=1), 1)
        ):
            continue
        compared += 1
        given = (LETTERS[data.label], data.score)
        options = {"sample_weight": data.weight, "labels": names}
        values = {
            "TopKAccuracy@2": sklearn.top_k_accuracy_score(*given, k=2, **options),
            "MulticlassLogLoss": sklearn.log_loss(*given, **options),
            "MulticlassBrier": sklearn.brier_score_loss(*given, **options),
            **{
                f"MulticlassAUC(average={average}, multi_class=ovr)": sklearn.roc_auc_score(
                    *given, multi_class="ovr", average=average, **options
                )
                for average in ("macro", "weighted")
            },
        }
        if {*data.weight} == {1.0}:
            for average in ("macro", "weighted"):
                values[f"MulticlassAUC(average={average}, multi_class=ovo)"] = (
                    sklearn.roc_auc_score(*given, multi_class="ovo", average=average, labels=names)
                )
        assert {name: row[name] for name in values} == pytest.approx(values, abs=1e-9)
    assert compared > 5


def test_worked_example_of_scores():
    """The first label has the highest score, the second the lowest of three, and the third no row,
    so that its score is 0.
    """
    scores = read_columns(
        prediction_id="1 1 1 2 2 2 3 3", class_id="a b c a b c a b", label="a a a c c c c c"
    )
    table = pa.table({**scores, "score": [0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.75, 0.25]})
    found = sqlrank.evaluate(SCORE_METRICS, inputs={"class_scores": table}).to_pylist()[0]
    assert found["TopKAccuracy@1"] == pytest.approx(1 / 3)
    assert found["TopKAccuracy@2"] == pytest.approx(2 / 3)
    assert found["MulticlassLogLoss"] == pytest.approx(
        -(np.log(0.5) + np.log(0.25) + np.log(2.0**-52)) / 3
    )
    assert found["MulticlassBrier"] == pytest.approx(
        (0.25 + 2 * 0.0625 + 0.25 + 0.0625 + 0.5625 + 0.5625 + 0.0625 + 1) / 3
    )


def test_errors_of_scores_are_those_of_predictions():
    """The unit is the prediction, whose rows are drawn together, or what is given."""
    rng = np.random.default_rng(0)
    data = Scores(rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40), np.ones(40))
    n = len(data.label)
    columns = list_scores(data)
    losses = -np.log(np.clip(reference.label_scores(data), 2.0**-52, 1 - 2.0**-52))
    for units, ids in ((None, np.arange(n)), ("unit_id", np.arange(n) % (n // 2))):
        others = {"unit_id": np.repeat(ids, data.score.shape[1])} if units else {}
        row = sqlrank.evaluate(
            "MulticlassLogLoss",
            inputs={"class_scores": pa.table({**columns, **others})},
            confidence=0.95,
        ).to_pylist()[0]
        influence = np.bincount(ids, (losses - losses.mean()) / n)
        count = len(influence)
        assert row["MulticlassLogLoss.n_units"] == count
        assert row["MulticlassLogLoss.se"] == pytest.approx(
            np.sqrt(count / (count - 1) * (influence**2).sum())
        )


@pytest.mark.parametrize("n", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_errors_of_areas_are_those_of_finite_differences(n):
    """Scores are tied, a class has no labels, and weights differ."""
    rng = np.random.default_rng(0)
    data = Scores(np.round(rng.dirichlet(np.ones(4), n), 1), rng.integers(0, 3, n), rng.random(n))
    metrics = [metric for metric in SCORE_METRICS if metric.startswith("MulticlassAUC")]
    for units, ids in ((None, np.arange(n)), ("unit_id", np.arange(n) % (n // 2))):
        others = {"unit_id": np.repeat(ids, data.score.shape[1])} if units else {}
        table = pa.table({**list_scores(data), **others})
        (row,) = sqlrank.evaluate(
            metrics, inputs={"class_scores": table}, confidence=0.9
        ).to_pylist()
        for metric in metrics:
            change = []
            for place in range(n):
                weight = data.weight * (1 + 1e-6 * (place == np.arange(n)))
                change.append(
                    (
                        reference.evaluate_scores(metric, Scores(data.score, data.label, weight))
                        - row[metric]
                    )
                    / 1e-6
                )
            influence = np.bincount(ids, change)
            count = len(influence)
            assert row[f"{metric}.n_units"] == count
            assert row[f"{metric}.se"] == pytest.approx(
                np.sqrt(count / (count - 1) * (influence**2).sum()), rel=1e-4
            ), metric


@pytest.mark.slow
def test_errors_of_areas_are_those_of_the_bootstrap():
    rng = np.random.default_rng(0)
    data = Scores(
        np.round(rng.dirichlet(np.ones(4), 40), 1), rng.integers(0, 3, 40), rng.random(40)
    )
    call = {"inputs": {"class_scores": pa.table(list_scores(data))}, "confidence": 0.9}
    (row,) = sqlrank.evaluate("MulticlassAUC", **call).to_pylist()
    (drawn,) = sqlrank.evaluate("MulticlassAUC", **call, interval="bootstrap").to_pylist()
    assert drawn["MulticlassAUC.se"] == pytest.approx(row["MulticlassAUC.se"], rel=0.15)


@pytest.mark.parametrize("metric", ["MulticlassBrier", "TopKAccuracy@1", "SubsetAccuracy"])
def test_units_of_one_prediction_are_refused_where_they_are_read(metric):
    """Without intervals, values were those of each unit of a prediction."""
    role = "class_labels" if metric == "SubsetAccuracy" else "class_scores"
    columns = {
        "class_scores": read_columns(score="0.9 0.1 0.4 0.6", label="a a b b"),
        "class_labels": read_columns(label="1 0 0 1", predicted="1 1 0 1"),
    }[role]
    table = pa.table({"prediction_id": ["x", "x", "y", "y"], "class_id": ["a", "b"] * 2, **columns})
    with_units = table.append_column("unit_id", [[1, 2, 3, 4]])
    (expected,) = sqlrank.evaluate(metric, inputs={role: table}).to_pylist()
    assert sqlrank.evaluate(metric, inputs={role: with_units}).to_pylist() == [expected]
    with pytest.raises(
        InputError, match="2 units where prediction_id='x': a prediction belongs to one unit"
    ):
        sqlrank.evaluate(metric, inputs={role: with_units}, confidence=0.95)


@pytest.mark.parametrize("unit", [None, "unit_id"])
def test_limits_of_uneven_weights_by_their_formula(unit):
    """All rows of a cell have its weight, so that their influence is equal, too. Most are right, or
    most are wrong, and these weigh three times as much, in total or each.
    """
    rng = np.random.default_rng(4)
    label = rng.choice(list("abc"), 60)
    for share in (0.8, 0.3):
        predicted = np.where(rng.random(60) < share, label, rng.choice(list("abc"), 60))
        weight = np.where(label == predicted, 1.0, 3.0) * np.where(label == "b", 2.0, 1.0)
        data = Classes(label, predicted, weight)
        row = evaluate_classified(
            "MulticlassMCC", data, {"unit_id": np.arange(60)} if unit else None, confidence=LEVEL
        )
        influence = [
            sum(
                sign
                * reference.evaluate(  # type: ignore[operator]
                    "MulticlassMCC",
                    Classes(
                        label, predicted, weight * (1 + sign * 1e-5 * (np.arange(60) == place))
                    ),
                )
                for sign in (1, -1)
            )
            / 2e-5
            for place in range(60)
        ]
        assert [row["MulticlassMCC.ci_low"], row["MulticlassMCC.ci_high"]] == pytest.approx(
            compute_limits(row["MulticlassMCC"], np.array(influence), weight, kind="signed"),
            rel=1e-6,
        )
