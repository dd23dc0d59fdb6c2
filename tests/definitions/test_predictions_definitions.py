"""Metrics of predictions worked by hand, numbers printed elsewhere, undefined values, and what is refused with which message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import log, nan, sqrt
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Sequence

INF = float("inf")
STRATEGIES = ("window", "ranked", "grouped", "bucketed")
WEIGHTED = ("window", "grouped", "bucketed")


@cache
def database() -> duckdb.DuckDBPyConnection:
    """Return one database for all calls, since to open one takes longer than to evaluate a few rows."""
    return duckdb.connect(config={"threads": 1})


def values(
    metrics: str | list[str], label: Sequence[Any], score: Sequence[Any], weight: Sequence[Any] | None = None, **arguments: Any
) -> list[Any]:
    """Return the metrics of these predictions, one of which may have further columns."""
    columns = {"label": label, "score": score, **({} if weight is None else {"weight": weight}), **arguments.pop("extra", {})}
    (row,) = sqlrank.evaluate(metrics, predictions=pa.table(columns), connection=database(), **arguments).to_pylist()
    return list(row.values())


def ranked(text: str) -> tuple[list[int], list[float]]:
    """Return labels and falling scores of an order such as ``+--+``."""
    return [int(sign == "+") for sign in text], [1 - place / 100 for place in range(len(text))]


# Scores 0.8 +, 0.6 ++-, 0.4 -, 0.1 +-: the data of the example in the documentation of Spark.
SPARK = ([0, 1, 0, 0, 1, 1, 1], [0.1, 0.1, 0.4, 0.6, 0.6, 0.6, 0.8])
WORKED = [
    ("AUC", (3 + 2 * (2 + 1 / 2) + 1 / 2) / 12),
    ("AUC(tie_credit=0)", (3 + 2 * 2 + 0) / 12),
    ("AUC(tie_credit=1)", (3 + 2 * 3 + 1) / 12),
    ("Gini", 2 * 8.5 / 12 - 1),
    ("LiftQuality", 2 * 8.5 / 12 - 1),
    ("LiftQuality(lift_variant=magnetic_spark)", 2 * 8.5 / 12 - 1 - 2 / 3),
    ("APS", 1 / 4 * 1 + 2 / 4 * (3 / 4) + 1 / 4 * (4 / 7)),
    ("PRAUC", 1 / 4 * 1 + 2 / 4 * (1 + 3 / 4) / 2 + 1 / 4 * (3 / 5 + 4 / 7) / 2),
    ("PRAUC(interpolation=from_one)", 1 / 4 * 1 + 2 / 4 * (1 + 3 / 4) / 2 + 1 / 4 * (3 / 5 + 4 / 7) / 2),
    ("KS", 3 / 4 - 1 / 3),
    ("pAUC(scaling=raw)@0.5", 1 / 3 * (1 / 4 + 3 / 4) / 2 + 1 / 6 * 3 / 4),
    ("pAUC(scaling=ratio)@0.5", 2 * (1 / 3 * (1 / 4 + 3 / 4) / 2 + 1 / 6 * 3 / 4)),
    ("pAUC(scaling=raw)@0.16666666666666666", 1 / 6 * (1 / 4 + 1 / 2) / 2),
    ("pAUC@1", 8.5 / 12),
    ("Gain@0.14285714285714285", 1 / 4),
    ("Gain@0.5", (1 + 2 * 2.5 / 3) / 4),
    ("Gain@1", 1),
    ("Lift@0.5", 2 * (1 + 2 * 2.5 / 3) / 4),
    ("PnDCG", (0.8 + 2 * 0.6 + 0.1) / (0.8 + 3 * 0.6)),
    ("PnDCG@2", (0.8 + 2 * 0.6 / 3) / (0.8 + 0.6)),
    ("TP", 3),
    ("FP", 1),
    ("TN", 2),
    ("FN", 1),
    ("ThresholdUsed", 0.5),
    ("Precision", 3 / 4),
    ("Recall", 3 / 4),
    ("Specificity", 2 / 3),
    ("NPV", 2 / 3),
    ("FPR", 1 / 3),
    ("FNR", 1 / 4),
    ("Accuracy", 5 / 7),
    ("BalancedAccuracy", (3 / 4 + 2 / 3) / 2),
    ("YoudenJ", 3 / 4 + 2 / 3 - 1),
    ("FBeta", 3 / 4),
    ("FBeta(beta=2, threshold=0.1)", 5 * 4 / (5 * 4 + 3)),
    ("MCC", (3 * 2 - 1 * 1) / sqrt(4 * 4 * 3 * 3)),
    ("LogOdds", log(3 * 2)),
    ("ThresholdUsed(cut=best)", 0.6),
    ("FBeta(cut=best)", 3 / 4),
    ("ThresholdUsed(beta=9, cut=best)", 0.1),
    ("Precision(cut=best, criterion=youden)", 3 / 4),
    ("LogLikelihood", 2 * log(0.9) / 2 + log(0.1) + log(0.6) + log(0.4) + 2 * log(0.6) + log(0.8)),
    ("LogLoss", -(log(0.9) + log(0.1) + log(0.6) + log(0.4) + 2 * log(0.6) + log(0.8)) / 7),
    ("Brier", (0.01 + 0.81 + 0.16 + 0.36 + 2 * 0.16 + 0.04) / 7),
    ("BrierSkill", 1 - (0.01 + 0.81 + 0.16 + 0.36 + 2 * 0.16 + 0.04) / 7 / (4 / 7 * 3 / 7)),
    ("BaseRate", 4 / 7),
    ("CalibrationRatio", (0.8 + 3 * 0.6 + 0.4 + 2 * 0.1) / 4),
    ("ECE", (abs(0.2 - 1) + 0.4 + abs(1.8 - 2) + abs(0.8 - 1)) / 7),
    ("MCE", 0.4),
    ("ECE(bins=1)", (4 - 3.2) / 7),
    ("ECE(bins=2, binning=equal_mass)", (abs(0.2 + 0.4 + 1.8 - 3) + abs(0.8 - 1)) / 7),
    ("Positives", 4),
    ("Negatives", 3),
    ("Observations", 7),
    ("num_predictions", 7),
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_example_of_spark(strategy: str) -> None:
    got = values([metric for metric, _ in WORKED], *SPARK, strategy=strategy)
    wrong = [(metric, have, value) for (metric, value), have in zip(WORKED, got, strict=True) if have != pytest.approx(value, abs=1e-12)]
    assert not wrong


def test_the_numbers_that_spark_prints() -> None:
    got = values(["AUC", "PRAUC", "APS"], *SPARK)
    assert [round(value, digits) for value, digits in zip(got, (4, 4, 3), strict=True)] == [0.7083, 0.8339, 0.768]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_six_predictions_in_order(strategy: str) -> None:
    """METRICS 5.4, Toy C: -+-+++."""
    label, score = ranked("-+-+++")
    got = values(["APS", "PRAUC", "PRAUC(interpolation=from_one)"], label, score, strategy=strategy)
    curve = (0 + 1 / 2) / 8 + (1 / 3 + 2 / 4) / 8 + (2 / 4 + 3 / 5) / 8 + (3 / 5 + 4 / 6) / 8
    assert got == pytest.approx([0.56667, 0.4625, 0.4625], abs=5e-6)
    assert got == pytest.approx([(1 / 2 + 2 / 4 + 3 / 5 + 4 / 6) / 4, curve, curve], abs=1e-12)


@pytest.mark.parametrize(
    ("order", "pairs", "share", "mcclish"),
    [("+--++++----", 22, 2 / 10, 0.52), ("+-+++-----+", 21, 5 / 10, 0.70), ("++------+++", 12, 4 / 10, 0.64)],
)
def test_partial_areas_of_five_positives_and_six_negatives(order: str, pairs: int, share: float, mcclish: float) -> None:
    """METRICS 3.4 and 2.7: the pairs with the two highest negatives, which are the area up to a false positive rate of 2/6."""
    label, score = ranked(order)
    got = values(["AUC", f"pAUC(scaling=ratio)@{2 / 6}", f"pAUC(scaling=raw)@{2 / 6}", f"pAUC@{2 / 6}"], label, score)
    assert got == pytest.approx([pairs / 30, share, share * 2 / 6, mcclish], abs=1e-12)


@pytest.mark.parametrize(("order", "pairs"), [("++-+++-----", 27), ("+++-++-----", 28)])
def test_areas_with_five_of_the_first_six(order: str, pairs: int) -> None:
    label, score = ranked(order)
    got = values(["AUC", "pAUC(scaling=ratio)@1", f"Precision(threshold={score[5]})"], label, score)
    assert got == pytest.approx([pairs / 30, pairs / 30, 5 / 6], abs=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("last", "expected", "printed"), [(0.1, 1.0 / 1.7, 0.5882352941), (0.7, 1.6 / 1.7, 0.9411764706)])
def test_pndcg_of_valassis(strategy: str, last: float, expected: float, printed: float) -> None:
    (got,) = values("PnDCG", [1, 0, 1], [0.9, 0.8, last], strategy=strategy)
    assert got == pytest.approx(expected, abs=1e-12)
    assert round(got, 10) == printed


def test_pndcg_with_a_cutoff_and_weights() -> None:
    label, score, weight = [1, 0, 1], [0.9, 0.8, 0.1], [0.5, 1.0, 2.0]
    got = values(["PnDCG", "PnDCG@0.25", "PnDCG@1", "PnDCG@2", "PnDCG@9"], label, score, weight)
    best = 0.9 * 0.5 + 0.8
    expected = [(0.45 + 0.2) / (best + 0.1), 1, 0.45 / (0.45 + 0.4), (0.45 + 0.1 * 0.5) / (best + 0.05), (0.45 + 0.2) / (best + 0.1)]
    assert got == pytest.approx(expected, abs=1e-12)


# The lift quality of LightMetrics


@dataclass
class LightMetrics:
    """The serial program: rows come with the highest score first, each with its label and weight."""

    positives: float = 0.0
    observations: float = 0.0
    cumulated: float = 0.0

    def add(self, label: float, weight: float) -> None:
        self.cumulated += self.positives * weight
        if label:
            self.positives += weight
            self.cumulated += weight * (weight + 1) / 2
        self.observations += weight

    @property
    def lift_quality(self) -> float:
        return from_cumulated(self.cumulated, self.positives, self.observations)


def from_cumulated(cumulated: float, positives: float, observations: float) -> float:
    return ((2 * cumulated - positives) / (positives * observations) - 1) / (1 - positives / observations)


def serial(label: Sequence[float], weight: Sequence[float]) -> float:
    state = LightMetrics()
    for one, other in zip(label, weight, strict=True):
        state.add(one, other)
    return state.lift_quality


def published(label: np.ndarray, weight: np.ndarray) -> float:
    """Return what the published Spark code adds up, in which the weight of a row is cumulated before it is taken off."""
    total = float(weight.sum())
    terms = (total - np.cumsum(weight)) * label * weight + 0.5 * label * weight - 0.5 * label * weight**2
    return from_cumulated(float(terms.sum()), float((label * weight).sum()), total)


@pytest.mark.parametrize("weights", ["ones", "whole", "real"])
@pytest.mark.parametrize("seed", range(4))
def test_lift_quality_of_lightmetrics(seed: int, weights: str) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    label, score, rank = rng.integers(0, 2, n), rng.integers(0, 7, n) / 7, rng.permutation(n)
    weight = {"ones": np.ones(n), "whole": rng.integers(1, 9, n).astype(float), "real": rng.random(n) + 0.01}[weights]
    order = np.lexsort((rank, -score))
    metrics = ["LiftQuality", "LiftQuality(lift_variant=magnetic_spark)", "AUC"]
    got = values(metrics, label, score, weight, extra={"rank": rank}, ties="row_order")
    expected = serial(label[order], weight[order])
    assert got == pytest.approx([expected, published(label[order], weight[order]), (expected + 1) / 2], abs=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_spark_variant_is_two_over_the_negatives_lower(strategy: str) -> None:
    rng = np.random.default_rng(32)
    label, score = rng.permutation([1] * 20 + [0] * 32), rng.permutation(52)
    exact, spark = values(["LiftQuality", "LiftQuality(lift_variant=magnetic_spark)"], label, score, strategy=strategy)
    assert exact - spark == pytest.approx(2 / 32, abs=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_lift_quality_of_ties_is_the_mean_over_their_orders(strategy: str) -> None:
    """Two positives and two negatives are tied, one negative is below: 1/3."""
    label, score = [1, 1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.1]
    orders = [serial([*order, 0], [1.0] * 5) for order in permutations(label[:4])]
    assert sorted({round(order, 12) for order in orders}) == pytest.approx([-1 / 3, 0, 1 / 3, 2 / 3, 1], abs=1e-11)
    assert values("LiftQuality", label, score, strategy=strategy) == pytest.approx([1 / 3], abs=1e-12)
    assert np.mean(orders) == pytest.approx(1 / 3, abs=1e-12)


def test_each_order_of_ties_by_rank() -> None:
    for order in permutations(range(4)):
        label = [1, 1, 0, 0]
        by_rank = [label[order.index(place)] for place in range(4)]
        got = values("LiftQuality", [*label, 0], [0.5] * 4 + [0.1], extra={"rank": [*order, 4]}, ties="row_order")
        assert got == pytest.approx([serial([*by_rank, 0], [1.0] * 5)], abs=1e-12)


# Log loss


def test_probabilities_0_and_1_are_clipped() -> None:
    eps = 2.220446049250313e-16
    right, wrong = log(1 - eps), log(eps)
    assert values("LogLoss", [0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0]) == pytest.approx([-(2 * right + 2 * wrong) / 4], rel=1e-12)
    assert values("LogLoss", [0, 1], [1.0, 0.0]) == pytest.approx([36.04365338911715], rel=1e-12)
    assert values("LogLoss(eps=1e-15)", [0, 1], [1.0, 0.0]) == pytest.approx([-log(1e-15)], rel=1e-12)
    assert values("LogLoss(eps=0.5)", [0, 1], [1.0, 0.0]) == pytest.approx([log(2)], rel=1e-12)
    assert values("LogLoss", [0, 1], [0.0, 1.0]) == pytest.approx([eps], rel=1e-6)


def test_a_small_probability_is_not_lost_beside_1() -> None:
    assert values("LogLoss", [1], [1e-12]) == pytest.approx([-log(1e-12)], rel=1e-14)
    assert values("LogLikelihood(eps=1e-300)", [0, 1], [0.0, 1.0]) == [0.0]


def test_the_base_rate_has_an_entropy_of_1() -> None:
    label, weight = [1, 0, 0], [2.0, 1.0, 5.0]
    got = values(["NormalizedEntropy", "NormalizedLogLoss", "BrierSkill", "LogLoss"], label, [0.25] * 3, weight)
    assert got == pytest.approx([1, 0, 0, -(log(0.25) + 3 * log(0.75)) / 4], abs=1e-12)


# Averages over queries

QUERIES = {"query_id": ["a", "a", "a", "b", "b", "c", "c", "c", "d"]}
BY_QUERY = ([1, 0, 0, 0, 1, 1, 1, 1, 0], [0.9, 0.5, 0.1, 0.8, 0.2, 0.3, 0.2, 0.1, 0.7], [1.0, 2, 1, 3, 1, 9, 9, 9, 9])


@pytest.mark.parametrize(("importance", "expected"), [("count", 3 / 5), ("equal", 1 / 2), ("weight", 4 / 8), ("positives", 1 / 2)])
@pytest.mark.parametrize("strategy", WEIGHTED)
def test_gauc(strategy: str, importance: str, expected: float) -> None:
    """The AUC is 1 in a, 0 in b; c and d are of one class."""
    got = values(f"GAUC(importance={importance})", *BY_QUERY, extra=QUERIES, strategy=strategy)
    assert got == pytest.approx([expected], abs=1e-12)


def test_gauc_without_a_query_of_both_classes() -> None:
    assert values("GAUC", [1, 0], [0.2, 0.1], extra={"query_id": [1, 2]}) == [None]


# Undefined

UNDEFINED_1 = ("AUC", "Gini", "LiftQuality", "pAUC@0.5", "KS", "NormalizedEntropy", "NormalizedLogLoss", "BrierSkill", "YoudenJ", "MCC")
NO_POSITIVE = (
    "APS",
    "PRAUC",
    "Gain@0.5",
    "Lift@0.5",
    "PnDCG",
    "CalibrationRatio",
    "Recall",
    "FNR",
    "FBeta(cut=best)",
    "ThresholdUsed(cut=best)",
)
MEANS = ("LogLoss", "Brier", "BaseRate", "ECE", "MCE", "ECE(binning=equal_mass)", "Accuracy", "MAE", "MSE", "RMSE", "Bias", "sMAPE", "MAPE")
TOTALS = ("Positives", "Negatives", "Observations", "TP", "FP", "TN", "FN")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class(strategy: str, label: int) -> None:
    undefined = [*UNDEFINED_1, *(NO_POSITIVE if label == 0 else ())]
    assert values(undefined, [label] * 3, [0.9, 0.9, 0.3], strategy=strategy) == [None] * len(undefined)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_positives_alone(strategy: str) -> None:
    metrics = ["APS", "PRAUC", "Gain@0.5", "Lift@0.5", "PnDCG", "Recall", "Precision", "FBeta(cut=best)", "ThresholdUsed(cut=best)"]
    got = values(metrics, [1, 1], [0.9, 0.3], strategy=strategy)
    assert got == pytest.approx([1, 1, 0.5, 1, 1, 0.5, 1, 1, 0.3], abs=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_row(strategy: str) -> None:
    got = values(["AUC", "APS", "LogLoss", "PnDCG", "KS", "R2", "ECE", "num_predictions"], [1], [0.25], strategy=strategy)
    assert got == [None, 1.0, pytest.approx(log(4)), 1.0, None, None, 0.75, 1.0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_tied(strategy: str) -> None:
    metrics = ["AUC", "Gini", "APS", "KS", "pAUC@0.2", "Gain@0.3", "Lift@0.3", "PRAUC", "PRAUC(interpolation=from_one)", "PnDCG"]
    got = values(metrics, [1, 0, 0, 1, 0], [0.5] * 5, strategy=strategy)
    assert got == pytest.approx([0.5, 0, 0.4, 0, 0.5, 0.3, 1, 0.4, 0.7, 1], abs=1e-12)


@pytest.mark.parametrize("strategy", WEIGHTED)
def test_no_weight_at_all(strategy: str) -> None:
    label, score = [1, 0, 1], [0.9, 0.8, 0.7]
    undefined = [*UNDEFINED_1, *NO_POSITIVE[:-1], *MEANS, "R2", "ExplainedVariance", "NPV", "Precision", "LogOdds"]
    assert values(undefined, label, score, [0.0] * 3, strategy=strategy) == [None] * len(undefined)
    assert values([*TOTALS, "LogLikelihood", "num_predictions"], label, score, [0.0] * 3, strategy=strategy) == [0.0] * 8 + [3.0]


EMPTY = {"label": pa.array([], pa.int64()), "score": pa.array([], pa.float64())}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_predictions(strategy: str) -> None:
    undefined = [*UNDEFINED_1, *NO_POSITIVE, *MEANS, "LogLikelihood", "R2"]
    assert values(undefined, **EMPTY, strategy=strategy) == [None] * len(undefined)
    assert values([*TOTALS, "num_predictions"], **EMPTY, strategy=strategy) == [0.0] * 8
    data = pa.table({**EMPTY, "day": pa.array([], pa.string())})
    assert sqlrank.evaluate("AUC", predictions=data, by="day", strategy=strategy).to_pylist() == []
    assert sqlrank.evaluate(["AUC", "TP"], predictions=data, by=[["day"], []], strategy=strategy).num_rows <= 1


@pytest.mark.parametrize("policy", [("zero", 0), ("half", 0.5), ("one", 1), ("skip", None)])
def test_what_an_undefined_value_counts(policy: tuple[str, float | None]) -> None:
    """Totals are never undefined."""
    name, expected = policy
    assert values(["AUC", "KS", "Positives"], [0, 0], [0.2, 0.1], no_relevant=name) == [expected, expected, 0.0]


def test_undefined_ratios_of_a_confusion_matrix() -> None:
    assert values(["Precision", "MCC", "LogOdds", "FBeta"], [1, 0], [0.2, 0.1]) == [None, None, None, 0.0]
    assert values(["NPV", "MCC", "LogOdds"], [1, 0], [0.9, 0.8]) == [None] * 3
    assert values(["FBeta", "Recall"], [0, 0], [0.2, 0.1]) == [None, None]
    assert values(["FBeta", "Precision"], [0, 0], [0.8, 0.1]) == [0.0, 0.0]


def test_calibration_without_probability() -> None:
    assert values(["PnDCG", "CalibrationRatio"], [1, 0], [0.0, 0.0]) == [None, 0.0]


# Regression


def test_regression_by_hand() -> None:
    label, score, weight = [1.0, 2.0, 4.0, 0.0], [2.0, 2.0, 1.0, 1.0], [1.0, 2.0, 1.0, 4.0]
    metrics = ["Bias", "MAE", "MSE", "RMSE", "MAPE(eps=0.5)", "sMAPE", "R2", "ExplainedVariance"]
    mean, offset = 9 / 8, 2 / 8
    total = (1 - mean) ** 2 + 2 * (2 - mean) ** 2 + (4 - mean) ** 2 + 4 * mean**2
    spread = (1 - offset) ** 2 + 2 * offset**2 + (-3 - offset) ** 2 + 4 * (1 - offset) ** 2
    expected = [2 / 8, 8 / 8, 14 / 8, sqrt(14 / 8), (1 + 0 + 3 / 4 + 4 * 2) / 8, (2 / 3 + 6 / 5 + 4 * 2) / 8]
    got = values(metrics, label, score, weight)
    assert got == pytest.approx([*expected, 1 - 14 / total, 1 - spread / total], abs=1e-12)


def test_deviances_by_hand() -> None:
    got = values(["PoissonDeviance", "TweedieDeviance", "TweedieDeviance(power=1.5)"], [0.0, 4.0], [1.0, 1.0])
    poisson = (2 * 1 + 2 * (4 * log(4) - 3)) / 2
    tweedie = (2 * 2 + 2 * (2 / (-0.5 * 0.5) - 4 / -0.5 + 1 / 0.5)) / 2
    assert got == pytest.approx([poisson, tweedie, tweedie], abs=1e-12)


def test_an_error_of_0_of_0_is_0() -> None:
    assert values(["sMAPE", "MAPE"], [0.0, 1.0], [0.0, 3.0]) == pytest.approx([1 / 2, 1], abs=1e-12)


@pytest.mark.parametrize("label", [2.0, 0.5, 0.1])
def test_labels_that_are_all_equal_have_no_variance(label: float) -> None:
    assert values(["R2", "ExplainedVariance"], [label] * 3, [0.1, 0.2, 0.3]) == [None, None]


# Weights


IMBALANCED = ([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], [1 / 3, 1.0, 1e9, 0.1])


@pytest.mark.parametrize("strategy", ["window", "grouped", "bucketed"])
def test_a_weight_of_a_billion_below_does_not_blur_what_is_above(strategy: str) -> None:
    expected = [(1 * 1 / (1 + 1 / 3) + 0.1 * 1.1 / (1.1 + 1 / 3 + 1e9)) / 1.1, 0.5 * (0 + 0.75) / 1.1]
    aps, prauc = values(["APS", "PRAUC"], *IMBALANCED, strategy=strategy)
    assert aps == pytest.approx(expected[0], abs=1e-12)
    assert prauc == pytest.approx(expected[1], abs=1e-9)


@pytest.mark.parametrize("strategy", WEIGHTED)
def test_a_weight_of_a_billion_at_a_score_does_not_blur_what_is_above_it(strategy: str) -> None:
    """The precision before the last score is 1/4; the positive there has nearly all the weight of its class."""
    label, score, weight = [0, 1, 1], [0.9, 0.8, 0.7], [1.0, 1 / 3, 1e9]
    before, after = (1 / 3) / (1 + 1 / 3), (1e9 + 1 / 3) / (1e9 + 1 + 1 / 3)
    (got,) = values("PRAUC", label, score, weight, strategy=strategy)
    assert got == pytest.approx((before / 6 + 1e9 * (before + after) / 2) / (1e9 + 1 / 3), abs=1e-12)


@pytest.mark.parametrize("strategy", WEIGHTED)
def test_billions_to_one(strategy: str) -> None:
    """Pairs are a sum of products of one sign, whatever the weights."""
    label, score, weight = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1e-3, 1e6, 1e6, 1e-3]
    pairs = 1e-3 * (1e6 + 1e-3) + 1e6 * 1e-3
    expected = [pairs / (1e6 + 1e-3) ** 2, (1e-3 * 0.9 + 1e6 * 0.7) / (0.9e-3 + 0.8e6 + 0.7e-9)]
    auc, _ = values(["AUC", "PnDCG"], label, score, weight, strategy=strategy)
    assert auc == pytest.approx(expected[0], abs=1e-15)


def test_davis_goadrich_after_a_heavy_negative() -> None:
    """The integral of t / (t + 1e9) from 0 to 1 is near 5e-10."""
    (got,) = values("PRAUC(interpolation=davis_goadrich)", [0, 1], [0.9, 0.8], [1e9, 1.0])
    assert got == pytest.approx(5e-10, abs=1e-9)
    assert got >= 0


def test_pndcg_of_all_however_much_they_weigh() -> None:
    expected = values("PnDCG", [1, 1, 0], [0.7, 0.8, 0.9], [2.0, 2.0, 2.0])
    assert values("PnDCG", [1, 1, 0], [0.7, 0.8, 0.9], [2e9, 2e9, 2e9]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_the_scale_of_weights_does_not_matter(scale: float) -> None:
    expected = values(["AUC", "APS", "MCC", "Gain@0.5"], [0, 1, 1, 0], [0.9, 0.8, 0.3, 0.1], [1.0] * 4)
    assert values(["AUC", "APS", "MCC", "Gain@0.5"], [0, 1, 1, 0], [0.9, 0.8, 0.3, 0.1], [scale] * 4) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", WEIGHTED)
@pytest.mark.parametrize("metric", ["MCC(cut=best)", "MCC(cut=best, criterion=mcc)", "NPV(cut=best)"])
def test_tenths_of_weights_at_the_best_threshold(metric: str, strategy: str) -> None:
    """There are no negatives, so that neither is defined: NULL, not NaN."""
    assert values(metric, [1, 1, 1], [0.2, 0.6, 0.8], [0.2, 0.3, 1.1], strategy=strategy) == [None]


def test_no_false_negative_is_left_at_the_lowest_threshold() -> None:
    label, score = [0, 1, 0, 1, 1, 1, 0, 1], [0.0, 0.6, 0.4, 1.0, 0.2, 1.0, 0.0, 0.6]
    weight = [0.3, 1.1, 0.2, 1.1, 0.7, 1.1, 0.1, 0.7]
    assert values("LogOdds(cut=best, criterion=accuracy)", label, score, weight) == [None]


@pytest.mark.parametrize("strategy", WEIGHTED)
def test_the_best_mcc_of_tenths_of_weights(strategy: str) -> None:
    """Of +0.8 (0.3), +0.7 (0.3), -0.3 (0.2) and +0.0 (0.2) the first two are best: tp = 0.6, tn = 0.2, fn = 0.2."""
    metrics = ["ThresholdUsed(cut=best, criterion=mcc)", "MCC(cut=best, criterion=mcc)"]
    got = values(metrics, [1, 1, 0, 1], [0.8, 0.7, 0.3, 0.0], [0.3, 0.3, 0.2, 0.2], strategy=strategy)
    assert got == pytest.approx([0.7, 0.6 * 0.2 / sqrt(0.6 * 0.8 * 0.2 * 0.4)], abs=1e-12)


@pytest.mark.parametrize("strategy", ["window", "grouped", "bucketed"])
def test_a_positive_of_no_weight_is_no_threshold(strategy: str) -> None:
    """J is 0 at the only threshold, 0.7, and would be at 0.9, too."""
    metric = "ThresholdUsed(cut=best, criterion=youden)"
    assert values(metric, [1, 0, 1], [0.9, 0.8, 0.7], [0.0, 1.0, 1.0], strategy=strategy) == [0.7]


@pytest.mark.parametrize("strategy", WEIGHTED)
def test_of_equally_good_thresholds_the_highest(strategy: str) -> None:
    metrics = ["ThresholdUsed(cut=best, criterion=youden)", "ThresholdUsed(cut=best, criterion=accuracy)", "ThresholdUsed(cut=best)"]
    got = values(metrics, *ranked("+-+-+-"), strategy=strategy)
    assert got == [1.0, 1.0, 0.96]


# Types


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.bool_(), pa.decimal128(9, 3)], ids=str)
def test_types_of_labels(kind: pa.DataType) -> None:
    label = pa.array([0, 1, 1, 0]).cast(kind) if kind != pa.decimal128(9, 3) else pa.array([0.0, 1.0, 1.0, 0.0]).cast(kind)
    got = values(["AUC", "LogLoss", "Negatives", "MAE", "ECE"], label, [0.1, 0.4, 0.8, 0.5])
    assert got == pytest.approx(
        values(["AUC", "LogLoss", "Negatives", "MAE", "ECE"], [0.0, 1.0, 1.0, 0.0], [0.1, 0.4, 0.8, 0.5]), abs=1e-12
    )


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint64()], ids=str)
@pytest.mark.parametrize("metric", ["LogLoss", "NormalizedLogLoss"])
def test_unsigned_labels(metric: str, kind: pa.DataType) -> None:
    score = [0.1, 0.4, 0.8, 0.5]
    assert values(metric, pa.array([0, 1, 1, 0], kind), score) == pytest.approx(values(metric, [0, 1, 1, 0], score))


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint32()], ids=str)
@pytest.mark.parametrize("metric", ["Bias", "MAE", "MSE", "R2", "sMAPE"])
def test_unsigned_counts(metric: str, kind: pa.DataType) -> None:
    label, score = [3, 0, 7], [1, 2, 7]
    assert values(metric, pa.array(label, kind), pa.array(score, kind)) == pytest.approx(values(metric, label, score))


@pytest.mark.parametrize(("kind", "weight"), [(pa.int8(), 100), (pa.int64(), 10**12)], ids=str)
def test_integer_weights_whose_squares_are_too_large(kind: pa.DataType, weight: int) -> None:
    label, score = [0, 1, 1, 0], [0.1, 0.4, 0.8, 0.5]
    metrics = ["APS", "LiftQuality(lift_variant=magnetic_spark)"]
    assert values(metrics, label, score, pa.array([weight] * 4, kind)) == pytest.approx(values(metrics, label, score))


def test_smape_of_small_integers() -> None:
    assert values("sMAPE", pa.array([100], pa.int8()), pa.array([1], pa.int8())) == pytest.approx([2 * 99 / 101])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (pa.array([2**60 + 1, 2**60, 2**60 + 2, 3]), 1 / 4),
        (pa.array([2**63 + 1, 2**63, 5, 3], pa.uint64()), 2 / 4),
        (pa.array([-128, 127, 5, -3], pa.int8()), 0.0),
        (pa.array([True, False, True, True]), 3 / 4),
        (pa.array([0.0, -0.0, 0.0, -0.0]), 2 / 4),
        (pa.array([1.7e308, -1.7e308, 5e-324, -5e-324]), 3 / 4),
        (pa.array([INF, -INF, 1e300, -1e10]), 3 / 4),
        (pa.array([-INF, -INF, INF, INF]), 2 / 4),
    ],
    ids=["near 2**60", "near 2**63", "signed", "boolean", "zeros of both signs", "largest and least", "infinite", "infinite ties"],
)
def test_scores_of_any_size(strategy: str, score: pa.Array, expected: float) -> None:
    assert values("AUC", [1, 0, 0, 1], score, strategy=strategy) == [expected]


@pytest.mark.parametrize("strategy", ["window", "grouped", "bucketed"])
def test_minus_infinity_beside_very_low_scores(strategy: str) -> None:
    assert values("AUC", [0, 1, 1, 0], [-INF, -1e300, -1e305, 1.0], strategy=strategy) == [1 / 2]


# Names and groups


@pytest.mark.parametrize("name", ["click", "select", "Größe", 'a "quoted" name', "score", "by", "list_id"])
def test_columns_of_any_name(name: str) -> None:
    columns = {"label": name, "score": "p"}
    data = pa.table({name: [0, 1, 1], "p": [0.1, 0.4, 0.05]})
    assert sqlrank.evaluate("AUC", predictions=data, columns=columns).to_pylist() == [{"AUC": 0.5}]


def test_weight_by_another_name_and_a_weight_that_is_there() -> None:
    data = pa.table({"y": [0, 1, 0], "p": [0.1, 0.4, 0.9], "w": [3.0, 1.0, 1.0], "weight": [1.0, 1.0, 1.0]})
    columns = {"label": "y", "score": "p"}
    assert sqlrank.evaluate("AUC", predictions=data, columns=columns).to_pylist() == [{"AUC": 0.5}]
    assert sqlrank.evaluate("AUC", predictions=data, columns={**columns, "weight": "w"}).to_pylist() == [{"AUC": 0.75}]


INNER = ["select", "score2", "positives", "cell", "slice", "bucket", "list_id", "auc", "predictions", "h", "k", "AuC"]
GROUPED = {"label": [0, 1, 0, 1, 1, 0, 1], "score": [0.1, 0.4, 0.4, 0.8, 0.2, 0.3, 0.7], "weight": [1.0] * 7}
GROUPS = ["x", "x", "x", "y", "y", None, None]
OF_GROUPS = ["AUC(tie_credit=1)", "APS", "FBeta(cut=best)", "ECE", "num_predictions"]


@cache
def each_group_alone() -> list[list[float]]:
    """Return the values of the groups NULL, x and y, and of all rows, by the number of rows."""
    rows = pa.table(GROUPED | {"day": GROUPS})
    parts = [rows.filter([group == one for group in GROUPS]) for one in (None, "x", "y")]
    found = [values(OF_GROUPS, part["label"], part["score"]) for part in [*parts, rows]]
    return sorted(found, key=lambda row: row[-1])


@pytest.mark.parametrize("name", INNER)
def test_by_columns_of_any_name(name: str) -> None:
    """Also that of a column, a table or a result inside the statement; and NULL is a group of its own."""
    for strategy in ("window", "bucketed"):
        data = pa.table(GROUPED | {name: GROUPS})
        rows = sqlrank.evaluate(OF_GROUPS, predictions=data, by=[[name], []], strategy=strategy, connection=database()).to_pylist()
        assert [row.pop(name) for row in rows] == [None, None, "x", "y"]
        got = sorted((list(row.values()) for row in rows), key=lambda row: row[-1])
        assert got == [pytest.approx(row, abs=1e-12) for row in each_group_alone()]


def test_two_by_columns_with_null_in_either() -> None:
    data = pa.table(
        {
            "label": [0, 1, 0, 1, 0, 1],
            "score": [0.1, 0.2, 0.4, 0.3, 0.5, 0.5],
            "a": [1, 1, None, None, 1, 1],
            "b": ["x", "x", "x", "x", None, None],
        }
    )
    for strategy in STRATEGIES:
        rows = sqlrank.evaluate(["AUC", "KS"], predictions=data, by=["a", "b"], strategy=strategy).to_pylist()
        expected = [(None, "x", 0.0, 1.0), (1, None, 0.5, 0.0), (1, "x", 1.0, 1.0)]
        assert [tuple(row.values()) for row in rows] == expected


# What is refused

BROKEN = [
    ({"label": [0, None]}, "AUC", r"1 row: label is NULL; leave the row out\n +label=None, score=0.9"),
    ({"label": [0.0, nan]}, "AUC", r"1 row: label is NaN or infinite; leave the row out\n +label=nan, score=0.9"),
    ({"label": [0.0, INF]}, "MSE", r"1 row: label is NaN or infinite; leave the row out\n +label=inf, score=0.9"),
    ({"label": [0, 2]}, "AUC", r"1 row: label is neither 0 nor 1\n +label=2, score=0.9"),
    ({"label": [-1, 1]}, "KS", r"1 row: label is neither 0 nor 1\n +label=-1, score=0.1"),
    ({"label": [0.0, 0.5]}, "LogLoss", r"1 row: label is neither 0 nor 1\n +label=0.5, score=0.9"),
    ({"label": [-1, 1]}, "PoissonDeviance", r"1 row: label is negative\n +label=-1, score=0.1"),
    ({"score": [0.1, None]}, "AUC", r"1 row: score is NULL; give it a value, or leave the row out\n +label=1, score=None"),
    ({"score": [0.1, nan]}, "MAE", r"1 row: score is NaN, which would be ranked first; .*\n +label=1, score=nan"),
    ({"score": [0.1, 1.5]}, "LogLoss", r"1 row: score is not a probability, from 0 to 1\n +label=1, score=1.5"),
    ({"score": [-0.1, 0.5]}, "ECE", r"1 row: score is not a probability, from 0 to 1\n +label=0, score=-0.1"),
    ({"score": [0.1, INF]}, "Brier", r"1 row: score is not a probability, from 0 to 1\n +label=1, score=inf"),
    ({"score": [0.1, -INF]}, "MSE", r"1 row: score is infinite\n +label=1, score=-inf"),
    ({"score": [0.0, 1.5]}, "TweedieDeviance", r"1 row: score is not above 0\n +label=0, score=0.0"),
    ({"weight": [1.0, -1.0]}, "AUC", r"1 row: weight is negative\n +label=1, score=0.9, weight=-1.0"),
    ({"weight": [1.0, nan]}, "AUC", r"1 row: weight is NaN or infinite\n +label=1, score=0.9, weight=nan"),
    ({"weight": [INF, 1.0]}, "MAE", r"1 row: weight is NaN or infinite\n +label=0, score=0.1, weight=inf"),
    ({"weight": [1.0, None]}, "num_predictions", r"1 row: weight is NULL\n +label=1, score=0.9, weight=None"),
    ({"query_id": [1, None]}, "GAUC", r"1 row: query_id is NULL\n +label=1, score=0.9, query_id=None"),
    ({"rank": [1, None]}, "AUC(ties=row_order)", r"1 row: rank is NULL\n +label=1, score=0.9, rank=None"),
    ({"label": ["a", "b"]}, "AUC", r"label is VARCHAR, not a number; cast it, or map another column to label"),
]


@pytest.mark.parametrize(("columns", "metric", "message"), BROKEN)
def test_rows_that_cannot_be_evaluated(columns: dict[str, list[Any]], metric: str, message: str) -> None:
    data = pa.table({"label": [0, 1], "score": [0.1, 0.9], **columns})
    with pytest.raises(sqlrank.InputError, match=message):
        sqlrank.evaluate(metric, predictions=data, connection=database())


def test_all_problems_come_in_one_report() -> None:
    data = pa.table({"label": [None, 2, 1], "score": [nan, 0.9, 0.5], "weight": [-1.0, INF, 1.0]})
    with pytest.raises(sqlrank.InputError) as caught:
        sqlrank.evaluate("LogLoss", predictions=data)
    for part in ("label is NULL", "label is neither 0 nor 1", "score is NaN", "weight is negative", "weight is NaN or infinite"):
        assert part in str(caught.value)


def test_a_broken_row_in_any_group_is_found() -> None:
    data = pa.table({"label": [0, 1, 2], "score": [0.1, 0.9, 0.5], "day": [None, "x", None]})
    with pytest.raises(sqlrank.InputError, match="label is neither 0 nor 1"):
        sqlrank.evaluate("AUC", predictions=data, by=[["day"], []])


def test_columns_that_are_not_read_may_hold_anything() -> None:
    data = pa.table({"label": [0, 1], "score": [0.1, 0.9], "rank": [None, 1], "query_id": [None, "a"]})
    assert sqlrank.evaluate("AUC", predictions=data).to_pylist() == [{"AUC": 1.0}]


def test_without_checks() -> None:
    data = pa.table({"label": [0, 1], "score": [0.1, 0.9]})
    assert sqlrank.evaluate("AUC", predictions=data, check="off").to_pylist() == [{"AUC": 1.0}]
    with pytest.raises(sqlrank.InputError, match="unknown check 'some'; choose from: auto, full, off"):
        sqlrank.evaluate("AUC", predictions=data, check="some")  # type: ignore[arg-type]


MISSING = [
    ({"label": [0, 1]}, "AUC", {}, "no column 'score'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "GAUC", {}, "no column 'query_id'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "AUC", {"ties": "row_order"}, "no column 'rank'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "AUC", {"per_query": True}, "no column 'query_id'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "AUC", {"by": "day"}, "by: predictions have no column 'day'"),
    (
        {"label": [0, 1], "score": [0.1, 0.9]},
        "AUC",
        {"columns": {"lable": "x"}},
        "columns maps 'lable', which predictions do not have; did you mean 'label'",
    ),
]


@pytest.mark.parametrize(("columns", "metric", "arguments", "message"), MISSING)
def test_columns_that_are_missing(columns: dict[str, list[Any]], metric: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(sqlrank.InputError, match=message):
        sqlrank.evaluate(metric, predictions=pa.table(columns), **arguments)


REFUSED = [
    ("pAUC", {}, "pAUC needs a cut-off: the false positive rate up to which"),
    ("pAUC@0", {}, "max_fpr is 0; it must be a number above 0 to 1"),
    ("pAUC@2", {}, "max_fpr is 2; it must be a number above 0 to 1"),
    ("Gain@0", {}, "fraction is 0; it must be a number above 0 to 1"),
    ("pAUC", {}, "pAUC needs a cut-off: the false positive rate"),
    ("APS@3", {}, "APS takes no cut-off; write APS"),
    ("AUC(tie_credit=2)", {}, "tie_credit is 2; it must be a number from 0 to 1"),
    ("FBeta(beta=0)", {}, "beta is 0; it must be a number above 0"),
    ("ECE(bins=0)", {}, "bins is 0; it must be an integer from 1"),
    ("ECE(bins=1.5)", {}, "bins is 1.5; it must be an integer from 1"),
    ("ECE(binning=deciles)", {}, "unknown binning 'deciles'. Choose from: equal_width, equal_mass"),
    ("MCC(cut=worst)", {}, r"unknown cut 'worst'.* Choose from: threshold, best"),
    ("MCC(cut=best, criterion=j)", {}, "unknown criterion 'j'"),
    ("MCC(criterion=youden)", {}, "MCC has no parameter 'criterion'"),
    ("MCC(cut=best, threshold=0.3)", {}, "MCC has no parameter 'threshold'"),
    ("AUC(bins=3)", {}, "AUC has no parameter 'bins'"),
    ("GAUC(importance=clicks)", {}, "unknown importance 'clicks'"),
    ("LogLoss(eps=0.6)", {}, "eps is 0.6; it must be a number above 0 to 0.5"),
    ("TweedieDeviance(power=1)", {}, "power is 1; it must be a number above 1"),
    ("AUC", {"strategy": "sorted"}, "unknown strategy 'sorted'. Choose from: auto, window, carried, ranked, grouped, bucketed"),
    ("AUC", {"strategy": "ranked"}, "strategy='ranked' is for predictions that all weigh 1; choose window, bucketed or grouped"),
    (["AUC(strategy=window)", "APS"], {}, "strategy holds for a whole call; give it as a policy, not to single metrics"),
    (["AUC", "nDCG"], {}, "nDCG is a metric of rankings and AUC one of predictions; ask for them in two calls"),
    ("AUC", {"by": "label"}, "by cannot name 'label'"),
    ("AUC", {"by": "AUC"}, "by cannot name 'AUC'"),
]


@pytest.mark.parametrize(("metric", "arguments", "message"), REFUSED)
def test_what_is_refused(metric: str, arguments: dict[str, Any], message: str) -> None:
    data = pa.table({"label": [0, 1], "score": [0.1, 0.9], "weight": [1.0, 1.0], "query_id": [1, 1], "AUC": [1, 1]})
    with pytest.raises(sqlrank.MetricError, match=message):
        sqlrank.evaluate(metric, predictions=data, **arguments)


@pytest.mark.parametrize("arguments", [{"run": "run"}, {"qrels": "qrels"}, {"queries": "queries"}])
def test_metrics_of_predictions_need_predictions_alone(arguments: dict[str, str]) -> None:
    with pytest.raises(
        sqlrank.InputError, match=r"AUC needs predictions= \(--predictions\), a table with label and score, and nothing else"
    ):
        sqlrank.evaluate("AUC", predictions=pa.table({"label": [0, 1], "score": [0.1, 0.9]}), **arguments)


def test_the_bound_of_the_power_is_shown_as_it_is() -> None:
    with pytest.raises(sqlrank.MetricError, match=r"power is 2; it must be a number above 1 to 1\.999999"):
        values("TweedieDeviance(power=2)", [1.0], [1.0])


def test_a_cutoff_beyond_all_weights() -> None:
    assert values("PnDCG@10000000000", [1, 0], [0.9, 0.8]) == [1.0]


@pytest.mark.parametrize("ties", ["worst", "best", "error"])
def test_ties_of_rankings_are_refused(ties: str) -> None:
    with pytest.raises(sqlrank.MetricError, match="ties"):
        values(f"AUC(ties={ties})", [1, 0], [0.5, 0.5])


def test_log_loss_without_clipping_is_refused() -> None:
    with pytest.raises(sqlrank.MetricError, match=r"eps is 0; it must be a number above 0 to 0\.5"):
        values("LogLoss(eps=0)", [1, 0], [0.0, 0.5])


def test_equal_ranks_do_not_order_rows() -> None:
    with pytest.raises(sqlrank.InputError, match="rank"):
        values("AUC", [1, 0, 1, 0], [0.5] * 4, extra={"rank": [1, 1, 1, 1]}, ties="row_order")
