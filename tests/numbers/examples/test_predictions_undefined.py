"""Undefined metrics of predictions: one class, one row, no weight, no rows."""

from math import log

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.examples.predictions import QUICK, STRATEGIES, WEIGHTED, evaluate_predictions

UNDEFINED_1 = (
    "AUC", "Gini", "LiftQuality", "pAUC@0.5", "KS", "NormalizedEntropy", "NormalizedLogLoss",
    "CalibrationIntercept", "CalibrationSlope", "BrierSkill", "YoudenJ", "MCC",
)  # fmt: skip
NO_POSITIVE = (
    "APS", "PRAUC", "Gain@0.5", "Lift@0.5", "PnDCG", "CalibrationRatio", "Recall", "FNR",
    "FBeta(threshold_from=best)", "ThresholdUsed(threshold_from=best)",
)  # fmt: skip
MEANS = (
    "LogLoss", "Brier", "BaseRate", "ECE", "MCE", "ECE(binning=equal_mass)", "Accuracy", "MAE",
    "MSE", "RMSE", "Bias", "sMAPE", "MAPE",
)  # fmt: skip
TOTALS = ("Positives", "Negatives", "Observations", "TP", "FP", "TN", "FN")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
@pytest.mark.parametrize("label", [0, 1])
def test_one_class(strategy, label):
    undefined = [*UNDEFINED_1, *(NO_POSITIVE if label == 0 else ())]
    assert evaluate_predictions(
        undefined, [label] * 3, [0.9, 0.9, 0.3], plan={"score_order": strategy}
    ) == [None] * len(undefined)


@pytest.mark.parametrize("score", [[0.5] * 4, [0.1, 0.3, 0.3, 0.9], [0.9, 0.7, 0.2, 0.1]])
def test_a_slope_of_classes_that_do_not_overlap(score):
    assert evaluate_predictions("CalibrationSlope", [0, 0, 1, 1], score) == [None]


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_positives_alone(strategy):
    metrics = [
        "APS", "PRAUC", "Gain@0.5", "Lift@0.5", "PnDCG", "Recall", "Precision",
        "FBeta(threshold_from=best)", "ThresholdUsed(threshold_from=best)",
    ]  # fmt: skip
    got = evaluate_predictions(metrics, [1, 1], [0.9, 0.3], plan={"score_order": strategy})
    assert got == pytest.approx([1, 1, 0.5, 1, 1, 0.5, 1, 1, 0.3], abs=1e-12)


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_one_row(strategy):
    got = evaluate_predictions(
        ["AUC", "APS", "LogLoss", "PnDCG", "KS", "R2", "ECE", "num_predictions"],
        [1],
        [0.25],
        plan={"score_order": strategy},
    )
    assert got == [None, 1.0, pytest.approx(log(4)), 1.0, None, None, 0.75, 1.0]


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_all_tied(strategy):
    metrics = [
        "AUC", "Gini", "APS", "KS", "pAUC@0.2", "Gain@0.3", "Lift@0.3", "PRAUC",
        "PRAUC(interpolation=from_one)", "PnDCG",
    ]  # fmt: skip
    got = evaluate_predictions(metrics, [1, 0, 0, 1, 0], [0.5] * 5, plan={"score_order": strategy})
    assert got == pytest.approx([0.5, 0, 0.4, 0, 0.5, 0.3, 1, 0.4, 0.7, 1], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_no_weight_at_all(strategy):
    label, score = [1, 0, 1], [0.9, 0.8, 0.7]
    undefined = [
        *UNDEFINED_1,
        *NO_POSITIVE[:-1],
        *MEANS,
        "R2",
        "ExplainedVariance",
        "NPV",
        "Precision",
        "LogOdds",
    ]
    assert evaluate_predictions(
        undefined, label, score, [0.0] * 3, plan={"score_order": strategy}
    ) == [None] * len(undefined)
    assert evaluate_predictions(
        [*TOTALS, "LogLikelihood", "num_predictions"],
        label,
        score,
        [0.0] * 3,
        plan={"score_order": strategy},
    ) == [0.0] * 8 + [3.0]


EMPTY = {"label": pa.array([], pa.int64()), "score": pa.array([], pa.float64())}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_no_predictions(strategy):
    undefined = [*UNDEFINED_1, *NO_POSITIVE, *MEANS, "LogLikelihood", "R2"]
    assert evaluate_predictions(
        undefined, **EMPTY, plan={"score_order": strategy}, check="off"
    ) == [None] * len(undefined)
    assert (
        evaluate_predictions(
            [*TOTALS, "num_predictions"], **EMPTY, plan={"score_order": strategy}, check="off"
        )
        == [0.0] * 8
    )
    data = pa.table({**EMPTY, "day": pa.array([], pa.string())})
    assert (
        sqlrank.evaluate(
            "AUC", predictions=data, by="day", plan={"score_order": strategy}, check="off"
        ).to_pylist()
        == []
    )
    assert (
        sqlrank.evaluate(
            ["AUC", "TP"],
            predictions=data,
            by=[["day"], []],
            plan={"score_order": strategy},
            check="off",
        ).num_rows
        <= 1
    )


@pytest.mark.parametrize("policy", [("zero", 0), ("half", 0.5), ("one", 1), ("skip", None)])
def test_what_an_undefined_value_counts(policy):
    """Totals are never undefined."""
    name, expected = policy
    assert evaluate_predictions(
        ["AUC", "KS", "Positives"], [0, 0], [0.2, 0.1], if_undefined=name
    ) == [expected, expected, 0.0]


def test_undefined_ratios_of_a_confusion_matrix():
    assert evaluate_predictions(["Precision", "MCC", "LogOdds", "FBeta"], [1, 0], [0.2, 0.1]) == [
        None,
        None,
        None,
        0.0,
    ]
    assert evaluate_predictions(["NPV", "MCC", "LogOdds"], [1, 0], [0.9, 0.8]) == [None] * 3
    assert evaluate_predictions(["FBeta", "Recall"], [0, 0], [0.2, 0.1]) == [None, None]
    assert evaluate_predictions(["FBeta", "Precision"], [0, 0], [0.8, 0.1]) == [0.0, 0.0]


def test_calibration_without_probability():
    assert evaluate_predictions(["PnDCG", "CalibrationRatio"], [1, 0], [0.0, 0.0]) == [None, 0.0]


def test_errors_beyond_the_greatest_double_are_undefined():
    assert evaluate_predictions(["MSE", "RMSE"], [0.0, 0.0], [1e160, 1.0]) == [None, None]
    assert evaluate_predictions("MAE", [0.0, 0.0], [1.7e308, -1.7e308]) == [None]


def test_a_rate_of_a_class_that_is_not_there_is_null_from_the_first_point_on():
    for label, absent, present in ((1, "fpr", "tpr"), (0, "tpr", "fpr")):
        rows = sqlrank.evaluate(
            "ROC", predictions={"label": [label] * 2, "score": [0.9, 0.3]}
        ).to_pylist()
        assert [row[absent] for row in rows] == [None] * 3
        assert [row[present] for row in rows] == [0, 0.5, 1]
    rows = sqlrank.evaluate("Gain", predictions={"label": [0, 0], "score": [0.9, 0.3]}).to_pylist()
    assert [(row["fraction"], row["gain"]) for row in rows] == [(0, None), (0.5, None), (1, None)]
