"""Metrics of predictions of CatBoost, LightGBM and XGBoost on given scores, weighted and tied; they
compute partly in single precision.
"""

import lightgbm
import numpy as np
import pyarrow as pa
import pytest
from catboost.utils import eval_metric

import sqlrank

pytestmark = pytest.mark.slow

SINGLE = 1e-6
CATBOOST = {
    "AUC": "AUC",
    "Gini": "NormalizedGini",
    "LogLoss": "Logloss",
    "Brier": "BrierScore",
    "Accuracy": "Accuracy",
    "Precision": "Precision",
    "Recall": "Recall",
    "FBeta": "F1",
    "FBeta(beta=2)": "F:beta=2",
    "MCC": "MCC",
    "BalancedAccuracy": "BalancedAccuracy",
}
ABOVE_HALF = float(np.nextafter(0.5, 1))
"""CatBoost predicts a positive above 0.5, sqlrank from 0.5 on."""

CATBOOST_REAL = {"MAE": "MAE", "RMSE": "RMSE", "R2": "R2", "sMAPE": "SMAPE", "MAPE(eps=1)": "MAPE"}
LIGHTGBM = {"AUC": "auc", "LogLoss": "binary_logloss", "APS": "average_precision"}
LIGHTGBM_REAL = {"MAE": "l1", "MSE": "l2", "RMSE": "rmse", "MAPE(eps=1)": "mape"}


def draw_predictions(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw labels, logits (many tied, exact in single precision) and weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    label[:2] = [0, 1]
    return label, rng.integers(-40, 40, n) / 8, rng.integers(1, 30, n) / 8


def to_probabilities(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))


def evaluate(
    metrics: list[str],
    label: np.ndarray,
    score: np.ndarray,
    weight: np.ndarray | None,
    **policies: float,
) -> list[float]:
    columns = {"label": label, "score": score} | ({} if weight is None else {"weight": weight})
    (row,) = sqlrank.evaluate(metrics, predictions=pa.table(columns), **policies).to_pylist()
    return list(row.values())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_catboost_on_logits(seed, weighted):
    label, logits, weight = draw_predictions(seed)
    given = weight if weighted else None
    expected = [
        eval_metric(label, logits, peer, weight=given, thread_count=1)[0]
        for peer in CATBOOST.values()
    ]
    got = evaluate(list(CATBOOST), label, to_probabilities(logits), given, threshold=ABOVE_HALF)
    assert got == pytest.approx(expected, abs=SINGLE)


@pytest.mark.parametrize("weighted", [False, True])
def test_catboost_on_numbers(weighted):
    """SMAPE is in percent."""
    rng = np.random.default_rng(5)
    label, score, weight = (
        rng.integers(-9, 9, 100) / 4,
        rng.integers(-9, 9, 100) / 4,
        rng.integers(1, 30, 100) / 8,
    )
    given = weight if weighted else None
    units = [100 if peer == "SMAPE" else 1 for peer in CATBOOST_REAL.values()]
    expected = [
        eval_metric(label, score, peer, weight=given, thread_count=1)[0]
        for peer in CATBOOST_REAL.values()
    ]
    got = evaluate(list(CATBOOST_REAL), label, score, given)
    assert [value * unit for value, unit in zip(got, units, strict=True)] == pytest.approx(
        expected, rel=SINGLE
    )


def evaluate_with_lightgbm(
    names: list[str], label: np.ndarray, init: np.ndarray, weight: np.ndarray | None
) -> list[float]:
    """Evaluate a booster without a tree that starts from the scores."""
    objective = "binary" if "auc" in names else "regression"
    params = {
        "objective": objective,
        "metric": names,
        "verbose": -1,
        "num_threads": 1,
        "boost_from_average": False,
    }
    data = lightgbm.Dataset(
        np.zeros((len(label), 1)),
        label=label,
        init_score=init,
        weight=weight,
        params={"verbose": -1},
    )
    found = {name: value for _, name, value, _ in lightgbm.Booster(params, data).eval_train()}
    return [found[name] for name in names]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_lightgbm_on_logits(seed, weighted):
    label, logits, weight = draw_predictions(seed + 10)
    given = weight if weighted else None
    expected = evaluate_with_lightgbm(list(LIGHTGBM.values()), label, logits, given)
    assert evaluate(list(LIGHTGBM), label, to_probabilities(logits), given) == pytest.approx(
        expected, abs=SINGLE
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_on_numbers(weighted):
    rng = np.random.default_rng(6)
    label, score, weight = (
        rng.integers(-9, 9, 100) / 4,
        rng.integers(-9, 9, 100) / 4,
        rng.integers(1, 30, 100) / 8,
    )
    given = weight if weighted else None
    expected = evaluate_with_lightgbm(list(LIGHTGBM_REAL.values()), label, score, given)
    assert evaluate(list(LIGHTGBM_REAL), label, score, given) == pytest.approx(expected, abs=SINGLE)


@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost(weighted):
    """The aucpr of XGBoost is the curve of Davis and Goadrich."""
    xgboost = pytest.importorskip("xgboost")
    label, logits, weight = draw_predictions(20)
    given = weight if weighted else None
    names = {"AUC": "auc", "PRAUC(interpolation=davis_goadrich)": "aucpr", "LogLoss": "logloss"}
    data = xgboost.DMatrix(np.zeros((len(label), 1)), label=label, base_margin=logits, weight=given)
    wanted = {
        "objective": "binary:logistic",
        "eval_metric": list(names.values()),
        "nthread": 1,
        "verbosity": 0,
    }
    text = xgboost.train(wanted, data, num_boost_round=0).eval(data)
    found = {
        name.removeprefix("eval-"): float(value)
        for name, _, value in (item.rpartition(":") for item in text.split("\t")[1:])
    }
    expected = [found[peer] for peer in names.values()]
    assert evaluate(list(names), label, to_probabilities(logits), given) == pytest.approx(
        expected, abs=SINGLE
    )
