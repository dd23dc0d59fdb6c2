"""Metrics of predictions worked by hand, and published numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log, sqrt

import numpy as np
import pytest

from tests.lanes import select_few
from tests.numbers.examples.predictions import (
    QUICK,
    STRATEGIES,
    WEIGHTED,
    evaluate_predictions,
    rank_labels,
)

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
    (
        "PRAUC(interpolation=from_one)",
        1 / 4 * 1 + 2 / 4 * (1 + 3 / 4) / 2 + 1 / 4 * (3 / 5 + 4 / 7) / 2,
    ),
    ("KS", 3 / 4 - 1 / 3),
    ("pAUC(area_scaling=raw)@0.5", 1 / 3 * (1 / 4 + 3 / 4) / 2 + 1 / 6 * 3 / 4),
    ("pAUC(area_scaling=ratio)@0.5", 2 * (1 / 3 * (1 / 4 + 3 / 4) / 2 + 1 / 6 * 3 / 4)),
    ("pAUC(area_scaling=raw)@0.16666666666666666", 1 / 6 * (1 / 4 + 1 / 2) / 2),
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
    ("ThresholdUsed(threshold_from=best)", 0.6),
    ("FBeta(threshold_from=best)", 3 / 4),
    ("ThresholdUsed(beta=9, threshold_from=best)", 0.1),
    ("Precision(threshold_from=best, criterion=youden)", 3 / 4),
    ("LogLikelihood", 2 * log(0.9) / 2 + log(0.1) + log(0.6) + log(0.4) + 2 * log(0.6) + log(0.8)),
    ("LogLoss", -(log(0.9) + log(0.1) + log(0.6) + log(0.4) + 2 * log(0.6) + log(0.8)) / 7),
    ("Brier", (0.01 + 0.81 + 0.16 + 0.36 + 2 * 0.16 + 0.04) / 7),
    ("BrierSkill", 1 - (0.01 + 0.81 + 0.16 + 0.36 + 2 * 0.16 + 0.04) / 7 / (4 / 7 * 3 / 7)),
    ("BaseRate", 4 / 7),
    ("SelectionRate", 4 / 7),
    ("SelectionRate(threshold=0.1)", 7 / 7),
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


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_the_example_of_spark(strategy):
    got = evaluate_predictions(
        [metric for metric, _ in WORKED], *SPARK, plan={"score_order": strategy}
    )
    wrong = [
        (metric, have, value)
        for (metric, value), have in zip(WORKED, got, strict=True)
        if have != pytest.approx(value, abs=1e-12)
    ]
    assert not wrong


def test_the_numbers_that_spark_prints():
    got = evaluate_predictions(["AUC", "PRAUC", "APS"], *SPARK)
    assert [round(value, digits) for value, digits in zip(got, (4, 4, 3), strict=True)] == [
        0.7083,
        0.8339,
        0.768,
    ]


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_six_predictions_in_order(strategy):
    """METRICS 5.4, Toy C: -+-+++."""
    label, score = rank_labels("-+-+++")
    got = evaluate_predictions(
        ["APS", "PRAUC", "PRAUC(interpolation=from_one)"],
        label,
        score,
        plan={"score_order": strategy},
    )
    curve = (0 + 1 / 2) / 8 + (1 / 3 + 2 / 4) / 8 + (2 / 4 + 3 / 5) / 8 + (3 / 5 + 4 / 6) / 8
    assert got == pytest.approx([0.56667, 0.4625, 0.4625], abs=5e-6)
    assert got == pytest.approx([(1 / 2 + 2 / 4 + 3 / 5 + 4 / 6) / 4, curve, curve], abs=1e-12)


@pytest.mark.parametrize(
    ("order", "pairs", "share", "mcclish"),
    [
        ("+--++++----", 22, 2 / 10, 0.52),
        ("+-+++-----+", 21, 5 / 10, 0.70),
        ("++------+++", 12, 4 / 10, 0.64),
    ],
)
def test_partial_areas_of_five_positives_and_six_negatives(order, pairs, share, mcclish):
    """METRICS 3.4 and 2.7: the pairs with the two highest negatives, which are the area up to a
    false positive rate of 2/6.
    """
    label, score = rank_labels(order)
    got = evaluate_predictions(
        [
            "AUC",
            f"pAUC(area_scaling=ratio)@{2 / 6}",
            f"pAUC(area_scaling=raw)@{2 / 6}",
            f"pAUC@{2 / 6}",
        ],
        label,
        score,
    )
    assert got == pytest.approx([pairs / 30, share, share * 2 / 6, mcclish], abs=1e-12)


@pytest.mark.parametrize(("order", "pairs"), [("++-+++-----", 27), ("+++-++-----", 28)])
def test_areas_with_five_of_the_first_six(order, pairs):
    label, score = rank_labels(order)
    got = evaluate_predictions(
        ["AUC", "pAUC(area_scaling=ratio)@1", f"Precision(threshold={score[5]})"], label, score
    )
    assert got == pytest.approx([pairs / 30, pairs / 30, 5 / 6], abs=1e-12)


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
@pytest.mark.parametrize(
    ("last", "expected", "printed"),
    [(0.1, 1.0 / 1.7, 0.5882352941), (0.7, 1.6 / 1.7, 0.9411764706)],
)
def test_pndcg_of_valassis(strategy, last, expected, printed):
    (got,) = evaluate_predictions(
        "PnDCG", [1, 0, 1], [0.9, 0.8, last], plan={"score_order": strategy}
    )
    assert got == pytest.approx(expected, abs=1e-12)
    assert round(got, 10) == printed


def test_pndcg_with_a_cutoff_and_weights():
    label, score, weight = [1, 0, 1], [0.9, 0.8, 0.1], [0.5, 1.0, 2.0]
    got = evaluate_predictions(
        ["PnDCG", "PnDCG@0.25", "PnDCG@1", "PnDCG@2", "PnDCG@9"], label, score, weight
    )
    best = 0.9 * 0.5 + 0.8
    expected = [
        (0.45 + 0.2) / (best + 0.1),
        1,
        0.45 / (0.45 + 0.4),
        (0.45 + 0.1 * 0.5) / (best + 0.05),
        (0.45 + 0.2) / (best + 0.1),
    ]
    assert got == pytest.approx(expected, abs=1e-12)


# The lift quality of LightMetrics


@dataclass
class LightMetrics:
    """The serial program: rows come with the highest score first, each with its label and
    weight.
    """

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
        return compute_lift_quality(self.cumulated, self.positives, self.observations)


def compute_lift_quality(cumulated: float, positives: float, observations: float) -> float:
    return ((2 * cumulated - positives) / (positives * observations) - 1) / (
        1 - positives / observations
    )


def compute_serially(label: Sequence[float], weight: Sequence[float]) -> float:
    rollup = LightMetrics()
    for one, other in zip(label, weight, strict=True):
        rollup.add(one, other)
    return rollup.lift_quality


def compute_as_published(label: np.ndarray, weight: np.ndarray) -> float:
    """Return the sum of the published Spark code, in which the weight of a row is cumulated before
    it is subtracted.
    """
    total = float(weight.sum())
    terms = (
        (total - np.cumsum(weight)) * label * weight
        + 0.5 * label * weight
        - 0.5 * label * weight**2
    )
    return compute_lift_quality(float(terms.sum()), float((label * weight).sum()), total)


@pytest.mark.parametrize("weights", ["ones", "whole", "real"])
@pytest.mark.parametrize("seed", range(4))
def test_lift_quality_of_lightmetrics(seed, weights):
    rng = np.random.default_rng(seed)
    n = 60
    label, score, rank = rng.integers(0, 2, n), rng.integers(0, 7, n) / 7, rng.permutation(n)
    weight = {
        "ones": np.ones(n),
        "whole": rng.integers(1, 9, n).astype(float),
        "real": rng.random(n) + 0.01,
    }[weights]
    order = np.lexsort((rank, -score))
    metrics = ["LiftQuality", "LiftQuality(lift_variant=magnetic_spark)", "AUC"]
    got = evaluate_predictions(
        metrics, label, score, weight, extra={"rank": rank}, ties="row_order"
    )
    expected = compute_serially(label[order], weight[order])
    assert got == pytest.approx(
        [expected, compute_as_published(label[order], weight[order]), (expected + 1) / 2], abs=1e-12
    )


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_the_spark_variant_is_two_over_the_negatives_lower(strategy):
    rng = np.random.default_rng(32)
    label, score = rng.permutation([1] * 20 + [0] * 32), rng.permutation(52)
    exact, spark = evaluate_predictions(
        ["LiftQuality", "LiftQuality(lift_variant=magnetic_spark)"],
        label,
        score,
        plan={"score_order": strategy},
    )
    assert exact - spark == pytest.approx(2 / 32, abs=1e-12)


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
def test_lift_quality_of_ties_is_the_mean_over_their_orders(strategy):
    """Two positives and two negatives are tied, one negative is below: 1/3."""
    label, score = [1, 1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.1]
    orders = [compute_serially([*order, 0], [1.0] * 5) for order in permutations(label[:4])]
    assert sorted({round(order, 12) for order in orders}) == pytest.approx(
        [-1 / 3, 0, 1 / 3, 2 / 3, 1], abs=1e-11
    )
    assert evaluate_predictions(
        "LiftQuality", label, score, plan={"score_order": strategy}
    ) == pytest.approx([1 / 3], abs=1e-12)
    assert np.mean(orders) == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.slow
def test_each_order_of_ties_by_rank():
    for order in permutations(range(4)):
        label = [1, 1, 0, 0]
        by_rank = [label[order.index(place)] for place in range(4)]
        got = evaluate_predictions(
            "LiftQuality",
            [*label, 0],
            [0.5] * 4 + [0.1],
            extra={"rank": [*order, 4]},
            ties="row_order",
        )
        assert got == pytest.approx([compute_serially([*by_rank, 0], [1.0] * 5)], abs=1e-12)


# Log loss


def test_probabilities_0_and_1_are_clipped():
    eps = 2.220446049250313e-16
    right, wrong = log(1 - eps), log(eps)
    assert evaluate_predictions("LogLoss", [0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0]) == pytest.approx(
        [-(2 * right + 2 * wrong) / 4], rel=1e-12
    )
    assert evaluate_predictions("LogLoss", [0, 1], [1.0, 0.0]) == pytest.approx(
        [36.04365338911715], rel=1e-12
    )
    assert evaluate_predictions("LogLoss(eps=1e-15)", [0, 1], [1.0, 0.0]) == pytest.approx(
        [-log(1e-15)], rel=1e-12
    )
    assert evaluate_predictions("LogLoss(eps=0.5)", [0, 1], [1.0, 0.0]) == pytest.approx(
        [log(2)], rel=1e-12
    )
    assert evaluate_predictions("LogLoss", [0, 1], [0.0, 1.0]) == pytest.approx([eps], rel=1e-6)


def test_a_small_probability_is_not_lost_next_to_1():
    assert evaluate_predictions("LogLoss", [1], [1e-12]) == pytest.approx([-log(1e-12)], rel=1e-14)
    assert evaluate_predictions("LogLikelihood(eps=1e-300)", [0, 1], [0.0, 1.0]) == [0.0]


def test_the_base_rate_has_an_entropy_of_1():
    label, weight = [1, 0, 0], [2.0, 1.0, 5.0]
    got = evaluate_predictions(
        ["NormalizedEntropy", "NormalizedLogLoss", "BrierSkill", "LogLoss"],
        label,
        [0.25] * 3,
        weight,
    )
    assert got == pytest.approx([1, 0, 0, -(log(0.25) + 3 * log(0.75)) / 4], abs=1e-12)


def test_two_scores_are_recalibrated_to_their_shares_of_positives():
    """A line through two points: logits of 0.2 and 0.8 to those of 1 / 4 and 4 / 6; of one score to
    the share of 5 / 10.
    """
    label, weight = [1, 0, 1, 0], [1.0, 3.0, 4.0, 2.0]
    got = evaluate_predictions("CalibrationSlope", label, [0.2, 0.2, 0.8, 0.8], weight)
    assert got == pytest.approx([(log(4 / 2) - log(1 / 3)) / (2 * log(4))], rel=1e-12)
    got = evaluate_predictions("CalibrationIntercept", label, [0.2] * 4, weight)
    assert got == pytest.approx([log(4)], rel=1e-12)


# Averages over queries

QUERIES = {"query_id": ["a", "a", "a", "b", "b", "c", "c", "c", "d"]}
BY_QUERY = (
    [1, 0, 0, 0, 1, 1, 1, 1, 0],
    [0.9, 0.5, 0.1, 0.8, 0.2, 0.3, 0.2, 0.1, 0.7],
    [1.0, 2, 1, 3, 1, 9, 9, 9, 9],
)


@pytest.mark.parametrize(
    ("importance", "expected"),
    [("count", 3 / 5), ("equal", 1 / 2), ("weight", 4 / 8), ("positives", 1 / 2)],
)
@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_gauc(strategy, importance, expected):
    """The AUC is 1 in a, 0 in b; c and d are of one class."""
    got = evaluate_predictions(
        f"GAUC(query_weight={importance})", *BY_QUERY, extra=QUERIES, plan={"score_order": strategy}
    )
    assert got == pytest.approx([expected], abs=1e-12)


def test_gauc_without_a_query_of_both_classes():
    assert evaluate_predictions("GAUC", [1, 0], [0.2, 0.1], extra={"query_id": [1, 2]}) == [None]


# Regression


def test_regression_by_hand():
    label, score, weight = [1.0, 2.0, 4.0, 0.0], [2.0, 2.0, 1.0, 1.0], [1.0, 2.0, 1.0, 4.0]
    metrics = ["Bias", "MAE", "MSE", "RMSE", "MAPE(eps=0.5)", "sMAPE", "R2", "ExplainedVariance"]
    mean, offset = 9 / 8, 2 / 8
    total = (1 - mean) ** 2 + 2 * (2 - mean) ** 2 + (4 - mean) ** 2 + 4 * mean**2
    spread = (1 - offset) ** 2 + 2 * offset**2 + (-3 - offset) ** 2 + 4 * (1 - offset) ** 2
    expected = [
        2 / 8, 8 / 8, 14 / 8, sqrt(14 / 8), (1 + 0 + 3 / 4 + 4 * 2) / 8,
        (2 / 3 + 6 / 5 + 4 * 2) / 8,
    ]  # fmt: skip
    got = evaluate_predictions(metrics, label, score, weight)
    assert got == pytest.approx([*expected, 1 - 14 / total, 1 - spread / total], abs=1e-12)


def test_deviances_by_hand():
    got = evaluate_predictions(
        ["PoissonDeviance", "TweedieDeviance", "TweedieDeviance(power=1.5)"], [0.0, 4.0], [1.0, 1.0]
    )
    poisson = (2 * 1 + 2 * (4 * log(4) - 3)) / 2
    tweedie = (2 * 2 + 2 * (2 / (-0.5 * 0.5) - 4 / -0.5 + 1 / 0.5)) / 2
    assert got == pytest.approx([poisson, tweedie, tweedie], abs=1e-12)


def test_an_error_of_0_of_0_is_0():
    assert evaluate_predictions(["sMAPE", "MAPE"], [0.0, 1.0], [0.0, 3.0]) == pytest.approx(
        [1 / 2, 1], abs=1e-12
    )


@pytest.mark.parametrize("label", [2.0, 0.5, 0.1])
def test_labels_that_are_all_equal_have_no_variance(label):
    assert evaluate_predictions(["R2", "ExplainedVariance"], [label] * 3, [0.1, 0.2, 0.3]) == [
        None,
        None,
    ]
