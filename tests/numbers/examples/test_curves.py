"""Curves: end points, agreement with scikit-learn, and the error bound of fewer points."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import calibration, metrics

import sqlrank
from tests.lanes import select_few
from tests.tables import build_table

STRATEGIES = ("window", "distinct", "buckets")
CURVES = ("ROC", "PR", "Gain", "Lift", "Threshold", "Calibration")


def draw_predictions(seed: int, rows: int = 3000, decimals: int = 2) -> pa.Table:
    """Weighted predictions with many ties."""
    generator = np.random.default_rng(seed)
    score = np.round(generator.beta(0.6, 2, rows), decimals)
    label = (generator.random(rows) < score).astype(int)
    return pa.table(
        {"label": label, "score": score, "weight": generator.choice([0.25, 0.5, 1.0, 2.5], rows)}
    )


def evaluate_curve(curve: str, data: pa.Table, **options: Any) -> dict[str, np.ndarray]:
    result = sqlrank.evaluate(curve, predictions=data, **options)
    return {name: result[name].to_numpy() for name in result.column_names}


def to_arrays(data: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return data["label"].to_numpy(), data["score"].to_numpy(), data["weight"].to_numpy()


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, 1))
def test_all_points_are_those_of_scikit_learn(strategy):
    data = draw_predictions(1)
    label, score, weight = to_arrays(data)
    roc = evaluate_curve("ROC(points=0)", data, plan={"score_order": strategy})
    fpr, tpr, thresholds = metrics.roc_curve(
        label, score, sample_weight=weight, drop_intermediate=False
    )
    assert roc["fpr"] == pytest.approx(fpr, abs=1e-9)
    assert roc["tpr"] == pytest.approx(tpr, abs=1e-9)
    assert roc["threshold"][1:] == pytest.approx(thresholds[1:], abs=1e-9)
    assert list(roc["point"]) == list(range(len(fpr)))
    pr = evaluate_curve("PR(points=0)", data, plan={"score_order": strategy})
    precision, recall, thresholds = metrics.precision_recall_curve(
        label, score, sample_weight=weight
    )
    assert pr["precision"] == pytest.approx(precision[-2::-1], abs=1e-9)
    assert pr["recall"] == pytest.approx(recall[-2::-1], abs=1e-9)
    assert pr["threshold"] == pytest.approx(thresholds[::-1], abs=1e-9)


@pytest.mark.slow
def test_rows_of_weight_0_make_no_points_and_bins():
    """At the highest, the lowest and a middle score, and at one of a row that has weight."""
    data = build_table(label="1 0 1 0", score="0.9 0.7 0.5 0.1", weight="1.0 2.0 0.5 1.0")
    added = build_table(label="1 0 0 1", score="0.95 0.05 0.6 0.7", weight="0.0 0.0 0.0 0.0")
    for curve in (*CURVES, "Calibration(binning=equal_mass)"):
        points = sqlrank.evaluate(curve, predictions=pa.concat_tables([data, added]))
        assert points.equals(sqlrank.evaluate(curve, predictions=data)), curve
        assert all(
            value is not None
            for row in points.slice(1).to_pylist()
            for value in row.values()
            if curve in {"PR", "Calibration"}
        )


@pytest.mark.slow
def test_the_table_of_thresholds_is_that_of_the_metrics():
    data = draw_predictions(2, rows=200, decimals=1)
    table = evaluate_curve("Threshold(points=0)", data)
    names = {"tp": "TP", "fp": "FP", "tn": "TN", "fn": "FN", "precision": "Precision", "recall": "Recall", "specificity": "Specificity",
             "f1": "FBeta", "accuracy": "Accuracy"}  # fmt: skip
    for row, threshold in enumerate(table["threshold"]):
        single = sqlrank.evaluate(
            [f"{name}(threshold={threshold})" for name in names.values()], predictions=data
        ).to_pylist()[0]
        assert [table[name][row] for name in names] == pytest.approx(
            list(single.values()), abs=1e-12
        )


@pytest.mark.slow
def test_gain_and_lift_are_those_of_the_metrics():
    data = draw_predictions(3, rows=300, decimals=1)
    gain, lift = evaluate_curve("Gain(points=0)", data), evaluate_curve("Lift(points=0)", data)
    assert (gain["fraction"][0], gain["gain"][0]) == (0, 0)
    assert gain["gain"][-1] == pytest.approx(1)
    for share, height, factor in zip(
        gain["fraction"][1:-1], gain["gain"][1:-1], lift["lift"][:-1], strict=True
    ):
        single = sqlrank.evaluate(
            [f"Gain@{share!r}", f"Lift@{share!r}"], predictions=data
        ).to_pylist()[0]
        assert list(single.values()) == pytest.approx([height, factor], abs=1e-9)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("points", [10, 100, 1000])
@pytest.mark.parametrize("seed", select_few(range(5), 1))
def test_fewer_points_miss_no_more_area_than_stated(seed, points):
    data = draw_predictions(seed, rows=20_000, decimals=9)
    label, score, weight = to_arrays(data)
    roc = evaluate_curve(f"ROC(points={points})", data)
    assert len(roc["point"]) <= points + 1
    assert (roc["fpr"][-1], roc["tpr"][-1]) == pytest.approx((1, 1))
    assert (
        abs(
            metrics.auc(roc["fpr"], roc["tpr"])
            - metrics.roc_auc_score(label, score, sample_weight=weight)
        )
        <= 1 / points
    )
    pr = evaluate_curve(f"PR(points={points})", data)
    assert len(pr["point"]) <= points + 1
    everything = evaluate_curve("PR(points=0)", data)
    bound = np.exp(4 * np.log(weight.sum() / weight[weight > 0].min()) / points)
    kept = np.searchsorted(-pr["threshold"], -everything["threshold"])
    has_hits = everything["recall"] > 0
    ratio = everything["precision"][has_hits] / pr["precision"][kept[has_hits]]
    assert max(ratio.max(), 1 / ratio.min()) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("bins", [1, 7, 10])
def test_calibration_is_that_of_scikit_learn(bins):
    data = draw_predictions(4, decimals=6).drop_columns(["weight"])
    observed, predicted = calibration.calibration_curve(
        data["label"].to_numpy(), data["score"].to_numpy(), n_bins=bins
    )
    table = evaluate_curve(f"Calibration(bins={bins})", data)
    assert table["mean_predicted"] == pytest.approx(predicted, abs=1e-9)
    assert table["mean_observed"] == pytest.approx(observed, abs=1e-9)
    assert table["weight"].sum() == data.num_rows


def test_bins_of_equal_mass_hold_as_many():
    data = pa.table({"label": [0, 1] * 50, "score": [i / 100 for i in range(100)]})
    assert (
        list(evaluate_curve("Calibration(binning=equal_mass, bins=4)", data)["weight"]) == [25] * 4
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("curve", CURVES)
def test_groups_and_slices_and_order(curve):
    data = draw_predictions(5, rows=400, decimals=1).append_column(
        "shop", pa.array(["b", "a", None, "a"] * 100)
    )
    rows = sqlrank.evaluate(curve, predictions=data, by=[["shop"], []]).to_pylist()
    assert rows == sorted(rows, key=lambda row: (row["shop"] is not None, row["shop"] or ""))
    alone = sqlrank.evaluate(
        curve, predictions=data.filter(pa.compute.equal(data["shop"], "b"))
    ).to_pylist()
    found = [
        {name: value for name, value in row.items() if name not in {"shop", "slice"}}
        for row in rows
        if row["shop"] == "b"
    ]
    assert len(found) == len(alone) > 1
    for one, other in zip(found, alone, strict=True):
        assert one == pytest.approx(other, nan_ok=True)
    points = [row["point"] for row in found]
    assert points == sorted(points)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("curve", CURVES)
def test_nothing_and_one_class(curve):
    empty = pa.table({"label": pa.array([], pa.int64()), "score": pa.array([], pa.float64())})
    rows = sqlrank.evaluate(curve, predictions=empty, check="off")
    assert rows.num_rows <= 1
    one = sqlrank.evaluate(curve, predictions=build_table(label="0 0", score="0.2 0.7")).to_pylist()
    for row in one:
        assert all(value is None or np.isfinite(value) for value in row.values())
    if curve in {"ROC", "PR", "Gain", "Lift"}:
        assert [list(row.values())[-1] for row in one][-1] in {None, 0.0}


def draw_extreme_weights(rows: int = 3000) -> pa.Table:
    """Return predictions of which one weighs up to 1e18 times as much as another."""
    generator = np.random.default_rng(3)
    label, score = (generator.random(rows) < 0.3).astype(int), np.round(generator.random(rows), 3)
    return pa.table(
        {"label": label, "score": score, "weight": 10 ** generator.uniform(-6, 12, rows)}
    )


@pytest.mark.parametrize("strategy", select_few(STRATEGIES, 1))
def test_what_is_below_a_threshold_is_added_up_itself(strategy):
    """As the remainder of the total it was -0.078 instead of 0.0042, and 0 instead of 1e-6."""
    data = draw_extreme_weights()
    label, score, weight = to_arrays(data)
    table = evaluate_curve("Threshold(points=0)", data, plan={"score_order": strategy})
    for threshold, fn, tn in list(zip(table["threshold"], table["fn"], table["tn"], strict=True))[
        -40:
    ]:
        below = score < threshold
        exact = [float(sum(map(Fraction, weight[below & (label == value)]))) for value in (1, 0)]
        assert [fn, tn] == pytest.approx(exact, rel=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, 1))
@pytest.mark.parametrize(
    ("curve", "end"), [("ROC", (1, 1)), ("ROC(points=0)", (1, 1)), ("Gain", (1, 1)), ("PR", (1,))]
)
def test_weighted_curves_end_at_exactly_1(curve, end, strategy):
    for data in (
        draw_extreme_weights(),
        draw_predictions(6),
        draw_predictions(7).append_column("other", pa.array(range(3000))),
    ):
        table = evaluate_curve(curve, data, plan={"score_order": strategy})
        shares = [
            table[name]
            for name in list(table)
            if name in {"fpr", "tpr", "fraction", "gain", "recall"}
        ]
        assert tuple(values[-1] for values in shares) == end
        assert max(values.max() for values in shares) == 1
        assert min(np.diff(values).min() for values in shares) > -1e-15
