"""Weights, labels and scores of any size and type, worked by hand."""

from decimal import Decimal, localcontext
from math import sqrt

import pyarrow as pa
import pytest

from tests.lanes import select_few
from tests.numbers.examples.predictions import (
    INF,
    QUICK,
    STRATEGIES,
    WEIGHTED,
    evaluate_predictions,
    rank_labels,
)

# Weights


IMBALANCED = ([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], [1 / 3, 1.0, 1e9, 0.1])


@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_a_weight_of_a_billion_below_does_not_blur_what_is_above(strategy):
    expected = [
        (1 * 1 / (1 + 1 / 3) + 0.1 * 1.1 / (1.1 + 1 / 3 + 1e9)) / 1.1,
        0.5 * (0 + 0.75) / 1.1,
    ]
    aps, prauc = evaluate_predictions(["APS", "PRAUC"], *IMBALANCED, plan={"score_order": strategy})
    assert aps == pytest.approx(expected[0], abs=1e-12)
    assert prauc == pytest.approx(expected[1], abs=1e-9)


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_a_weight_of_a_billion_at_a_score_does_not_blur_what_is_above_it(strategy):
    """The precision before the last score is 1/4; the positive there has nearly all the weight of
    its class.
    """
    label, score, weight = [0, 1, 1], [0.9, 0.8, 0.7], [1.0, 1 / 3, 1e9]
    before, after = (1 / 3) / (1 + 1 / 3), (1e9 + 1 / 3) / (1e9 + 1 + 1 / 3)
    (got,) = evaluate_predictions("PRAUC", label, score, weight, plan={"score_order": strategy})
    assert got == pytest.approx(
        (before / 6 + 1e9 * (before + after) / 2) / (1e9 + 1 / 3), abs=1e-12
    )


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_billions_to_one(strategy):
    """Pairs are a sum of products of one sign, whatever the weights."""
    label, score, weight = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1e-3, 1e6, 1e6, 1e-3]
    pairs = 1e-3 * (1e6 + 1e-3) + 1e6 * 1e-3
    expected = [pairs / (1e6 + 1e-3) ** 2, (1e-3 * 0.9 + 1e6 * 0.7) / (0.9e-3 + 0.8e6 + 0.7e-9)]
    auc, _ = evaluate_predictions(
        ["AUC", "PnDCG"], label, score, weight, plan={"score_order": strategy}
    )
    assert auc == pytest.approx(expected[0], abs=1e-15)


def test_davis_goadrich_after_a_heavy_negative():
    """The integral of t / (t + 1e9) from 0 to 1 is near 5e-10."""
    (got,) = evaluate_predictions(
        "PRAUC(interpolation=davis_goadrich)", [0, 1], [0.9, 0.8], [1e9, 1.0]
    )
    assert got == pytest.approx(5e-10, abs=1e-9)
    assert got >= 0


def test_pndcg_of_all_however_much_they_weigh():
    expected = evaluate_predictions("PnDCG", [1, 1, 0], [0.7, 0.8, 0.9], [2.0, 2.0, 2.0])
    assert evaluate_predictions(
        "PnDCG", [1, 1, 0], [0.7, 0.8, 0.9], [2e9, 2e9, 2e9]
    ) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e90, 1e-90])
def test_the_scale_of_weights_does_not_matter(scale):
    expected = evaluate_predictions(
        ["AUC", "APS", "MCC", "Gain@0.5"], [0, 1, 1, 0], [0.9, 0.8, 0.3, 0.1], [1.0] * 4
    )
    assert evaluate_predictions(
        ["AUC", "APS", "MCC", "Gain@0.5"], [0, 1, 1, 0], [0.9, 0.8, 0.3, 0.1], [scale] * 4
    ) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
@pytest.mark.parametrize(
    "metric",
    [
        "MCC(threshold_from=best)",
        "MCC(threshold_from=best, criterion=mcc)",
        "NPV(threshold_from=best)",
    ],
)
def test_tenths_of_weights_at_the_best_threshold(metric, strategy):
    """There are no negatives, so that neither is defined: NULL, not NaN."""
    assert evaluate_predictions(
        metric, [1, 1, 1], [0.2, 0.6, 0.8], [0.2, 0.3, 1.1], plan={"score_order": strategy}
    ) == [None]


def test_no_false_negative_is_left_at_the_lowest_threshold():
    label, score = [0, 1, 0, 1, 1, 1, 0, 1], [0.0, 0.6, 0.4, 1.0, 0.2, 1.0, 0.0, 0.6]
    weight = [0.3, 1.1, 0.2, 1.1, 0.7, 1.1, 0.1, 0.7]
    assert evaluate_predictions(
        "LogOdds(threshold_from=best, criterion=accuracy)", label, score, weight
    ) == [None]


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_the_best_mcc_of_tenths_of_weights(strategy):
    """Of +0.8 (0.3), +0.7 (0.3), -0.3 (0.2) and +0.0 (0.2) the first two are best: tp = 0.6, tn =
    0.2, fn = 0.2.
    """
    metrics = [
        "ThresholdUsed(threshold_from=best, criterion=mcc)",
        "MCC(threshold_from=best, criterion=mcc)",
    ]
    got = evaluate_predictions(
        metrics,
        [1, 1, 0, 1],
        [0.8, 0.7, 0.3, 0.0],
        [0.3, 0.3, 0.2, 0.2],
        plan={"score_order": strategy},
    )
    assert got == pytest.approx([0.7, 0.6 * 0.2 / sqrt(0.6 * 0.8 * 0.2 * 0.4)], abs=1e-12)


@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_a_positive_of_no_weight_is_no_threshold(strategy):
    """J is 0 at the only threshold, 0.7, and would be at 0.9, too."""
    metric = "ThresholdUsed(threshold_from=best, criterion=youden)"
    assert evaluate_predictions(
        metric, [1, 0, 1], [0.9, 0.8, 0.7], [0.0, 1.0, 1.0], plan={"score_order": strategy}
    ) == [0.7]


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, QUICK))
def test_of_equally_good_thresholds_the_highest(strategy):
    metrics = [
        "ThresholdUsed(threshold_from=best, criterion=youden)",
        "ThresholdUsed(threshold_from=best, criterion=accuracy)",
        "ThresholdUsed(threshold_from=best)",
    ]
    got = evaluate_predictions(metrics, *rank_labels("+-+-+-"), plan={"score_order": strategy})
    assert got == [1.0, 1.0, 0.96]


# Types


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.bool_(), pa.decimal128(9, 3)],
    ids=str,
)
def test_types_of_labels(kind):
    label = (
        pa.array([0, 1, 1, 0]).cast(kind)
        if kind != pa.decimal128(9, 3)
        else pa.array([0.0, 1.0, 1.0, 0.0]).cast(kind)
    )
    got = evaluate_predictions(
        ["AUC", "LogLoss", "Negatives", "MAE", "ECE"], label, [0.1, 0.4, 0.8, 0.5]
    )
    assert got == pytest.approx(
        evaluate_predictions(
            ["AUC", "LogLoss", "Negatives", "MAE", "ECE"],
            [0.0, 1.0, 1.0, 0.0],
            [0.1, 0.4, 0.8, 0.5],
        ),
        abs=1e-12,
    )


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint64()], ids=str)
@pytest.mark.parametrize("metric", ["LogLoss", "NormalizedLogLoss"])
def test_unsigned_labels(metric, kind):
    score = [0.1, 0.4, 0.8, 0.5]
    assert evaluate_predictions(metric, pa.array([0, 1, 1, 0], kind), score) == pytest.approx(
        evaluate_predictions(metric, [0, 1, 1, 0], score)
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint32()], ids=str)
@pytest.mark.parametrize("metric", ["Bias", "MAE", "MSE", "R2", "sMAPE"])
def test_unsigned_counts(metric, kind):
    label, score = [3, 0, 7], [1, 2, 7]
    assert evaluate_predictions(
        metric, pa.array(label, kind), pa.array(score, kind)
    ) == pytest.approx(evaluate_predictions(metric, label, score))


@pytest.mark.parametrize(("kind", "weight"), [(pa.int8(), 100), (pa.int64(), 10**12)], ids=str)
def test_integer_weights_whose_squares_are_too_large(kind, weight):
    label, score = [0, 1, 1, 0], [0.1, 0.4, 0.8, 0.5]
    metrics = ["APS", "LiftQuality(lift_variant=magnetic_spark)"]
    assert evaluate_predictions(
        metrics, label, score, pa.array([weight] * 4, kind)
    ) == pytest.approx(evaluate_predictions(metrics, label, score))


def test_smape_of_small_integers():
    assert evaluate_predictions(
        "sMAPE", pa.array([100], pa.int8()), pa.array([1], pa.int8())
    ) == pytest.approx([2 * 99 / 101])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, QUICK))
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
    ids=[
        "near 2**60", "near 2**63", "signed", "boolean", "zeros of both signs",
        "largest and least", "infinite", "infinite ties",
    ],
)  # fmt: skip
def test_scores_of_any_size(strategy, score, expected):
    assert evaluate_predictions("AUC", [1, 0, 0, 1], score, plan={"score_order": strategy}) == [
        expected
    ]


@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_minus_infinity_among_very_low_scores(strategy):
    assert evaluate_predictions(
        "AUC", [0, 1, 1, 0], [-INF, -1e300, -1e305, 1.0], plan={"score_order": strategy}
    ) == [1 / 2]


def test_a_cutoff_beyond_all_weights():
    assert evaluate_predictions("PnDCG@10000000000", [1, 0], [0.9, 0.8]) == [1.0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("positives_are_rare", [True, False])
@pytest.mark.parametrize("light", [1e-1, 1e-3, 1e-4, 1e-7, 1e-9, 1e-12, 1e-16, 1e-18])
def test_normalized_entropy_at_any_base_rate(light, *, positives_are_rare):
    """The logarithm of a share that rounds to 1 is 0: of a base rate of 1e-16 it was 3 % off."""
    label, score = [1, 0, 0, 1], [0.25, 0.5, 0.125, 0.75]
    label = label if positives_are_rare else [1 - each for each in label]
    weight = [light, 1.0, 3.0, 2 * light]
    with localcontext(prec=60):
        of_class = [
            sum(Decimal(w) for y, w in zip(label, weight, strict=True) if y == each)
            for each in (0, 1)
        ]
        rows = zip(label, score, weight, strict=True)
        losses = sum(Decimal(w) * (Decimal(p) if y else 1 - Decimal(p)).ln() for y, p, w in rows)
        expected = float(losses / sum(w * (w / sum(of_class)).ln() for w in of_class))
    got = evaluate_predictions(["NormalizedEntropy", "NormalizedLogLoss"], label, score, weight)
    assert got == pytest.approx([expected, 1 - expected], rel=1e-13)
