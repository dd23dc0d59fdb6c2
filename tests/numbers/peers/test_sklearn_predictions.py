"""scikit-learn's metrics of classification and regression, and SciPy's ks_2samp, on random weighted
predictions with ties.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import ks_2samp
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

import sqlrank
from tests.numbers.references.random_collections import assert_same
from tests.tables import build_table

if TYPE_CHECKING:
    from collections.abc import Callable

    Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], float]

pytestmark = pytest.mark.slow

GROUPS = 36
SCORES = (
    lambda rng, n: rng.integers(0, 5, n) / 4,
    lambda rng, n: rng.integers(0, 101, n) / 100,
    lambda rng, n: rng.random(n),
    lambda rng, n: rng.beta(0.1, 20, n),
    lambda _, n: np.full(n, 0.3),
    lambda rng, n: rng.choice([0.0, 1.0, 1e-20, 0.5, 1 - 1e-12], n),
)


def predict_labels(threshold: float, score: np.ndarray) -> np.ndarray:
    return (score >= threshold).astype(int)


def make_threshold_peer(threshold: float, function: Callable[..., float], **arguments: Any) -> Peer:
    """Return the metric of labels that are predicted from a threshold on."""
    return lambda y, s, w: function(y, predict_labels(threshold, s), sample_weight=w, **arguments)


def make_score_peer(function: Callable[..., float], **arguments: Any) -> Peer:
    return lambda y, s, w: function(y, s, sample_weight=w, **arguments)


def make_cell_peer(row: int, column: int, threshold: float = 0.5) -> Peer:
    return lambda y, s, w: sk.confusion_matrix(
        y, predict_labels(threshold, s), labels=[0, 1], sample_weight=w
    )[row, column]


def integrate_from_one(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    return float(sk.auc(recall, precision))


def log_likelihood(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    return -float(sk.log_loss(y, s, sample_weight=w, normalize=False))


def youden(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    return float(
        sk.balanced_accuracy_score(y, predict_labels(0.5, s), sample_weight=w, adjusted=True)
    )


def best_f(beta: float) -> Peer:
    """Return the highest F over the thresholds of the curve."""

    def peer(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
        precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
        both = beta**2 * precision + recall
        return float(np.max((1 + beta**2) * precision * recall / np.where(both > 0, both, 1)))

    return peer


def mcc(threshold: float) -> Peer:
    """Return the coefficient, 0 where one class only is predicted, as documented: there weights are
    not told from 0 by rounding.
    """
    known = make_threshold_peer(threshold, sk.matthews_corrcoef)
    return lambda y, s, w: (
        known(y, s, w) if len(np.unique(predict_labels(threshold, s))) > 1 else 0.0
    )


def compute_bin_errors(y: np.ndarray, s: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the calibration error of each bin that is not empty, and its size, which scikit-learn
    does not give.
    """
    observed, predicted = calibration_curve(y, s, n_bins=bins)
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], s)
    return np.abs(observed - predicted), np.unique(places, return_counts=True)[1]


def best_youden(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    fpr, tpr, thresholds = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    reached = np.isin(thresholds, s[y == 1])
    return float((tpr - fpr)[reached].max())


RANKING = {
    "AUC": make_score_peer(sk.roc_auc_score),
    "Gini": lambda y, s, w: 2 * sk.roc_auc_score(y, s, sample_weight=w) - 1,
    "LiftQuality": lambda y, s, w: 2 * sk.roc_auc_score(y, s, sample_weight=w) - 1,
    **{
        f"pAUC@{most}": make_score_peer(sk.roc_auc_score, max_fpr=most)
        for most in (0.01, 0.1, 0.37, 0.5, 0.999, 1)
    },
    "APS": make_score_peer(sk.average_precision_score),
    "PRAUC(interpolation=from_one)": integrate_from_one,
    "KS": lambda y, s, w: float(
        np.abs(np.subtract(*sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)[:2])).max()
    ),
    "FBeta(threshold_from=best)": best_f(1),
    "FBeta(beta=2, threshold_from=best)": best_f(2),
    "YoudenJ(criterion=youden, threshold_from=best)": best_youden,
}
PROBABILITIES = {
    "LogLoss": make_score_peer(sk.log_loss),
    "LogLikelihood": log_likelihood,
    "NormalizedLogLoss": make_score_peer(sk.d2_log_loss_score),
    "NormalizedEntropy": lambda y, s, w: 1 - sk.d2_log_loss_score(y, s, sample_weight=w),
    "Brier": make_score_peer(sk.brier_score_loss),
    "BrierSkill": make_score_peer(sk.d2_brier_score),
    "BaseRate": lambda y, _, w: float(np.average(y, weights=w)),
}
CUT = {
    "Precision": make_threshold_peer(0.5, sk.precision_score, zero_division=np.nan),
    "Precision(threshold=0.25)": make_threshold_peer(
        0.25, sk.precision_score, zero_division=np.nan
    ),
    "Recall": make_threshold_peer(0.5, sk.recall_score),
    "FBeta": make_threshold_peer(0.5, sk.f1_score),
    "FBeta(beta=2)": make_threshold_peer(0.5, sk.fbeta_score, beta=2),
    "FBeta(beta=0.5, threshold=0.01)": make_threshold_peer(0.01, sk.fbeta_score, beta=0.5),
    "Accuracy": make_threshold_peer(0.5, sk.accuracy_score),
    "Jaccard": make_threshold_peer(0.5, sk.jaccard_score),
    "ZeroOneLoss": make_threshold_peer(0.5, sk.zero_one_loss),
    "BalancedAccuracy": make_threshold_peer(0.5, sk.balanced_accuracy_score),
    "YoudenJ": youden,
    "MCC": mcc(0.5),
    "MCC(threshold=0.1)": mcc(0.1),
    "Specificity": make_threshold_peer(0.5, sk.recall_score, pos_label=0),
    "NPV": make_threshold_peer(0.5, sk.precision_score, pos_label=0, zero_division=np.nan),
    "FPR": lambda y, s, w: (
        1 - sk.recall_score(y, predict_labels(0.5, s), pos_label=0, sample_weight=w)
    ),
    "FNR": lambda y, s, w: 1 - sk.recall_score(y, predict_labels(0.5, s), sample_weight=w),
    "TN": make_cell_peer(0, 0),
    "FP": make_cell_peer(0, 1),
    "FN": make_cell_peer(1, 0),
    "TP": make_cell_peer(1, 1),
    "TP(threshold=0.25)": make_cell_peer(1, 1, 0.25),
}
REAL = {
    "MAE": make_score_peer(sk.mean_absolute_error),
    "MSE": make_score_peer(sk.mean_squared_error),
    "RMSE": make_score_peer(sk.root_mean_squared_error),
    "MaxError": lambda y, s, _: float(sk.max_error(y, s)),
    "MedianAbsoluteError": lambda y, s, _: float(sk.median_absolute_error(y, s)),
    "MAPE": make_score_peer(sk.mean_absolute_percentage_error),
    "R2": make_score_peer(sk.r2_score),
    "ExplainedVariance": make_score_peer(sk.explained_variance_score),
}
DEVIANCES = {
    "MSLE": make_score_peer(sk.mean_squared_log_error),
    "RMSLE": make_score_peer(sk.root_mean_squared_log_error),
    "PoissonDeviance": make_score_peer(sk.mean_poisson_deviance),
    "TweedieDeviance": make_score_peer(sk.mean_tweedie_deviance, power=1.5),
    "TweedieDeviance(power=1.2)": make_score_peer(sk.mean_tweedie_deviance, power=1.2),
    "TweedieDeviance(power=1.99)": make_score_peer(sk.mean_tweedie_deviance, power=1.99),
}


@cache
def draw_rows(kind: str, weighted: bool) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Draw label, score and weight of each group; in a group of classes there are both."""
    rng = np.random.default_rng(7)
    found = {}
    for group in range(GROUPS):
        n = int(rng.integers(4, 60))
        if kind == "classes":
            label = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(int)
            label[:2] = [0, 1]
            score = SCORES[group % len(SCORES)](rng, n)
        else:
            label, score = (
                rng.integers(-9, 9, n) / 4,
                rng.integers(-9, 9, n) / 4 + rng.integers(0, 2),
            )
            if kind == "amounts":
                label, score = np.abs(label), np.exp(score)
        weight = rng.choice([0.1, 0.3, 1, 7, 1 / 3, 123.456], n) if weighted else np.ones(n)
        found[f"g{group:02}"] = (label, score, weight)
    return found


def make_table(
    found: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], weighted: bool
) -> pa.Table:
    parts = [
        pa.table({"label": y, "score": s, "weight": w, "group": [name] * len(y)})
        for name, (y, s, w) in found.items()
    ]
    joined = pa.concat_tables(parts)
    return joined if weighted else joined.drop_columns(["weight"])


def compare(peers: dict[str, Peer], kind: str, weighted: bool, **policies: Any) -> None:
    found = draw_rows(kind, weighted)
    result = sqlrank.evaluate(
        list(peers), predictions=make_table(found, weighted), by="group", **policies
    )
    got = {row.pop("group"): row for row in result.to_pylist()}
    with config_context(skip_parameter_validation=True):
        expected = {
            name: {metric: float(peer(*arrays)) for metric, peer in peers.items()}
            for name, arrays in found.items()
        }
    assert {key: list_undefined(row) for key, row in got.items()} == {
        key: list_undefined(row) for key, row in expected.items()
    }
    assert_same(
        *({key: select_defined(row) for key, row in values.items()} for values in (got, expected))
    )


def list_undefined(row: dict[str, Any]) -> list[str]:
    return [name for name, value in row.items() if value is None or np.isnan(value)]


def select_defined(row: dict[str, float]) -> dict[str, float]:
    """Leave out undefined values, and MAPE of labels near 0, whose digits differ beyond 1e15."""
    return {
        name: value
        for name, value in row.items()
        if name not in list_undefined(row) and abs(value) < 1e9
    }


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_order(strategy, weighted):
    compare(RANKING, "classes", weighted, plan={"score_order": strategy})


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
def test_probabilities(weighted):
    compare(PROBABILITIES, "classes", weighted)


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
def test_confusion(weighted):
    compare(
        {name: peer for name, peer in CUT.items() if not name.startswith("MCC")},
        "classes",
        weighted,
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
def test_mcc_which_is_0_in_scikit_learn_where_one_class_is_predicted(weighted):
    compare(
        {name: peer for name, peer in CUT.items() if name.startswith("MCC")},
        "classes",
        weighted,
        if_undefined="zero",
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
def test_regression(weighted):
    compare(REAL, "reals", weighted)


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
def test_deviances(weighted):
    compare(REAL | DEVIANCES, "amounts", weighted)


@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_ks_of_scipy(strategy):
    compare(
        {"KS": lambda y, s, _: float(ks_2samp(s[y == 1], s[y == 0]).statistic)},
        "classes",
        weighted=False,
        plan={"score_order": strategy},
    )


@pytest.mark.parametrize("bins", [1, 5, 10, 15])
def test_bins_of_the_calibration_curve(bins):
    """ECE and MCE from scikit-learn's bins; it takes no weights."""
    peers = {
        f"ECE(bins={bins})": lambda y, s, _: float(
            np.average(compute_bin_errors(y, s, bins)[0], weights=compute_bin_errors(y, s, bins)[1])
        ),
        f"MCE(bins={bins})": lambda y, s, _: float(compute_bin_errors(y, s, bins)[0].max()),
    }
    compare(peers, "classes", weighted=False)


@pytest.mark.parametrize("bins", [10, 20, 40, 25, 100])
def test_a_score_on_an_edge_belongs_to_the_bin_below(bins):
    """Edges as they are written, k / bins; labels that tell one bin from the next."""
    score = np.arange(bins + 1) / bins
    label = np.arange(bins + 1) % 2
    error, size = compute_bin_errors(label, score, bins)
    got = (
        sqlrank.evaluate(
            f"ECE(bins={bins})", predictions=pa.table({"label": label, "score": score})
        )
        .column(0)[0]
        .as_py()
    )
    assert got == pytest.approx(np.average(error, weights=size), abs=1e-9)


def test_the_curve_of_the_documentation():
    """The example of precision_recall_curve: y = 0, 0, 1, 1 and scores 0.1, 0.4, 0.35, 0.8."""
    data = build_table(label="0 0 1 1", score="0.1 0.4 0.35 0.8")
    got = sqlrank.evaluate(
        ["AUC", "APS", "PRAUC(interpolation=from_one)"], predictions=data
    ).to_pylist()[0]
    assert list(got.values()) == pytest.approx(
        [0.75, 0.8333333333333333, (1 + (1 / 2 + 2 / 3) / 2) / 2], abs=1e-12
    )
