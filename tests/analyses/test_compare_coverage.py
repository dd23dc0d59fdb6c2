"""Comparisons of two scores where few positives decide: coverage of intervals, and verdicts at the
tolerance, in samples of known areas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank

ROWS = 300


def draw_samples(positives: int, areas: tuple[float, float], samples: int) -> pa.Table:
    """Return samples of two binormal scores of a correlation of one half."""
    rng = np.random.default_rng([positives, *(int(1000 * area) for area in areas), samples])
    is_positive = np.broadcast_to(np.arange(ROWS) < positives, (samples, ROWS))
    common = rng.normal(size=is_positive.shape)
    moved = [
        0.5**0.5 * (common + rng.normal(size=is_positive.shape))
        + is_positive * stats.norm.ppf(area) * 2**0.5
        for area in areas
    ]
    columns = {
        "sample": np.repeat(np.arange(samples), ROWS),
        "label": is_positive.ravel().astype(int),
    }
    return pa.table(
        {
            **columns,
            **{
                name: stats.norm.cdf(score - 1).ravel()
                for name, score in zip("ab", moved, strict=True)
            },
        }
    )


def compare(metrics: Any, table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each metric, one per sample."""
    options = {
        "columns": {"score": ["a", "b"]},
        "by": "sample",
        "correction": "none",
        "check": "off",
    }
    rows = sqlrank.compare(metrics, predictions=table, **options).to_pylist()
    by_metric = {}
    for row in rows:
        by_metric.setdefault(row["metric"], []).append(row)
    return by_metric


def cover(rows: list[dict[str, Any]], truth: float) -> float:
    """Return in how many of 100 samples the interval holds the true difference; one without an
    interval holds nothing.
    """
    return 100 * float(
        np.mean(
            [row["ci_low"] is not None and row["ci_low"] <= truth <= row["ci_high"] for row in rows]
        )
    )


@pytest.mark.parametrize(
    ("positives", "areas"), [(5, (0.8, 0.9)), (5, (0.99, 0.995)), (20, (0.99, 0.995))]
)
def test_differences_of_areas(positives, areas):
    """The normal quantile and DeLong's variance alone covered 82, 67 and 86 %."""
    rows = compare("AUC", draw_samples(positives, areas, 150))["AUC"]
    assert cover(rows, areas[1] - areas[0]) >= 91


@pytest.mark.slow
@pytest.mark.parametrize("areas", [(0.9, 0.8), (0.995, 0.99)])
@pytest.mark.parametrize("positives", [5, 10, 20])
def test_gates_at_the_tolerance(positives, areas):
    """A candidate that is worse by just the tolerance passes in 2.5 % of samples, 4 at most but for
    what 600 samples vary by.
    """
    table = draw_samples(positives, areas, 600)
    options = {"columns": {"score": ["a", "b"]}, "by": [["sample"]], "check": "off"}
    verdicts = sqlrank.gate("AUC", predictions=table, tolerance=areas[0] - areas[1], **options)[
        "verdict"
    ].to_pylist()
    assert 100 * verdicts.count("pass") / 600 <= 5.5
    rows = compare("AUC", table)["AUC"]
    assert cover(rows, areas[1] - areas[0]) >= 93


@pytest.mark.slow
@pytest.mark.parametrize("positives", [5, 10, 20])
def test_equal_scores_of_few_positives(positives):
    """Of two scores of one distribution, whose true difference is 0, a twentieth is found to differ
    at most.
    """
    metrics = [
        "AUC",
        "APS",
        "FBeta",
        "MCC",
        "BalancedAccuracy",
        "LogLoss",
        "Brier",
        "NormalizedEntropy",
        "RMSE",
    ]
    for metric, rows in compare(metrics, draw_samples(positives, (0.8, 0.8), 300)).items():
        found = [row for row in rows if row["ci_low"] is not None]
        assert cover(found, 0) >= 92, metric
        assert sum(row["p_value"] < 0.05 for row in found) <= 0.08 * len(rows), metric


def draw_outcomes(positives: int, changed: float, lost: float, samples: int) -> pa.Table:
    """Return samples of two classifiers that find 80 % of positives, of which some find so; 4 % of
    negatives change, either way.
    """
    rng = np.random.default_rng([positives, int(1000 * changed), samples])
    is_positive = np.broadcast_to(np.arange(ROWS) < positives, (samples, ROWS))
    is_right = rng.random(is_positive.shape) < np.where(is_positive, 0.8, 0.9)
    place = rng.random(is_positive.shape)
    loses = place < np.where(is_positive, (changed + lost) / 2 / 0.8, 0.02 / 0.9)
    gains = place < np.where(is_positive, (changed - lost) / 2 / 0.2, 0.02 / 0.1)
    other = np.where(is_right, ~loses, gains)
    columns = {
        "sample": np.repeat(np.arange(samples), ROWS),
        "label": is_positive.ravel().astype(int),
    }
    return pa.table(
        {
            **columns,
            **{
                name: (right == is_positive).ravel().astype(float)
                for name, right in (("a", is_right), ("b", other))
            },
        }
    )


@pytest.mark.parametrize(
    ("positives", "changed", "lost"), [(5, 0.05, 0.0), (20, 0.05, 0.05), (20, 0.1, 0.05)]
)
def test_few_rows_that_change(positives, changed, lost):
    """Without what rows that do not change could hide, the second held the truth of
    BalancedAccuracy in 68 %, and passed 32 % at the tolerance.
    """
    truth = {"BalancedAccuracy": lost / 2, "YoudenJ": lost}
    for metric, rows in compare(
        [*truth, "MCC", "NPV", "FBeta"], draw_outcomes(positives, changed, lost, 150)
    ).items():
        found = [row for row in rows if row["ci_low"] is not None]
        assert len(found) >= (0.99 if metric in truth else 0.5) * len(rows), metric
        if metric in truth or not lost:
            assert cover(found, -truth.get(metric, 0)) >= 92, metric
            assert sum(row["ci_low"] >= -truth.get(metric, 0) for row in found) <= 0.04 * len(
                rows
            ), metric


def test_added_rows_by_hand():
    """All of 5 positives are found by both, and one of 20 negatives changes.

    In BalancedAccuracy a positive counts 1 / 10 and a negative 1 / 40. Influence on the difference
    is -19 / 800 of the row that changes, and 1 / 800 of the other 19 negatives. One positive is
    added, and 0.8 of a negative.
    """
    label = [1] * 5 + [0] * 20
    systems = {"a": [1.0] * 7 + [0.0] * 18, "b": [1.0] * 8 + [0.0] * 17}
    squares = (19**2 + 19) / 800**2 + 1 / 10**2 + 0.8 / 40**2
    scores = {
        "predictions": pa.table({"label": label, **systems}),
        "columns": {"score": ["a", "b"]},
    }
    (row,) = sqlrank.compare("BalancedAccuracy", **scores).to_pylist()
    assert (row["difference"], row["se"]) == (
        pytest.approx(-1 / 40),
        pytest.approx((25 / 24 * squares) ** 0.5),
    )
    rows = [
        {"system": name, "unit": place, "label": label[place], "predicted": int(score)}
        for name, given in systems.items()
        for place, score in enumerate(given)
    ]
    (same,) = sqlrank.compare(
        "MulticlassBalancedAccuracy", inputs={"classified": pa.Table.from_pylist(rows)}, unit="unit"
    ).to_pylist()
    assert [same[name] for name in ("difference", "se", "ci_low", "p_value")] == pytest.approx(
        [row[name] for name in ("difference", "se", "ci_low", "p_value")]
    )


def weigh_row(
    label: int, predicted: int, ratios: dict[int, tuple[int, int]], hits_count: int
) -> float:
    """Return the effect of a row's weight on the average over classes of ratios, given as numerator
    and denominator: a hit counts in both, an F counts it and the rows of a class twice.
    """
    return sum(
        (
            hits_count * (c == label == predicted)
            - numerator / denominator * ((c == predicted) + (hits_count - 1) * (c == label))
        )
        / denominator
        / len(ratios)
        for c, (numerator, denominator) in ratios.items()
    )


@pytest.mark.parametrize(
    ("metric", "hits_count", "ratios"),
    [
        ("MulticlassPrecision", 1, [{1: (5, 7), 0: (18, 19)}, {1: (5, 8), 0: (17, 18)}]),
        ("MulticlassFBeta", 2, [{1: (10, 13), 0: (36, 39)}, {1: (10, 14), 0: (34, 38)}]),
    ],
)
def test_added_rows_of_averages_over_classes(metric, hits_count, ratios):
    """Both systems find 5 of 6 positives. One of 20 negatives changes, and two are wrong for both:
    a positive is added, and 0.8 of a negative, of the effect that the other prediction has: a hit
    less in its class, and a false alarm more in the other one.
    """
    rows = [(1, 1, 1)] * 5 + [(1, 0, 0)] + [(0, 1, 1)] * 2 + [(0, 0, 1)] + [(0, 0, 0)] * 17
    squares = sum(
        (
            weigh_row(label, other, ratios[1], hits_count)
            - weigh_row(label, first, ratios[0], hits_count)
        )
        ** 2
        for label, first, other in rows
    )
    for label, added in ((1, 1), (0, 0.8)):
        gains = [
            ((hits_count - hits / rows_of_label) / rows_of_label + others / other_rows**2) / 2
            for (hits, rows_of_label), (others, other_rows) in (
                (system[label], system[1 - label]) for system in ratios
            )
        ]
        squares += added * (sum(gains) / 2) ** 2
    table = [
        {"system": "ab"[system - 1], "unit": unit, "label": row[0], "predicted": row[system]}
        for system in (1, 2)
        for unit, row in enumerate(rows)
    ]
    (found,) = sqlrank.compare(
        metric, inputs={"classified": pa.Table.from_pylist(table)}, unit="unit"
    ).to_pylist()
    assert found["se"] == pytest.approx((26 / 25 * squares) ** 0.5)


def test_equal_outcomes_are_equal():
    """Other scores with the same outcomes are a difference of 0 without a variance, as those of
    equal systems are.
    """
    table = pa.table(
        {"label": [1] * 5 + [0] * 95, "a": [0.9] * 5 + [0.1] * 95, "b": [0.8] * 5 + [0.2] * 95}
    )
    (row,) = sqlrank.compare(
        "BalancedAccuracy", predictions=table, columns={"score": ["a", "b"]}
    ).to_pylist()
    assert (row["difference"], row["p_value"], row["reason"]) == (0, 1, "equal in every row")


def test_perfect_areas_of_different_scores_are_not_equal():
    """Two areas of 1 by 6 positives do not say that true areas are equal; more positives say so
    within less.
    """
    widths = []
    for positives in (6, 60):
        label = np.arange(ROWS) < positives
        rng = np.random.default_rng(positives)
        scores = {name: np.where(label, 0.9, 0.1) + rng.uniform(-0.05, 0.05, ROWS) for name in "ab"}
        options = {
            "predictions": pa.table({"label": label.astype(int), **scores}),
            "columns": {"score": ["a", "b"]},
        }
        (row,) = sqlrank.compare("AUC", **options).to_pylist()
        assert (row["difference"], row["p_value"], row["winner"], row["reason"]) == (
            pytest.approx(0),
            1,
            None,
            None,
        )
        widths.append(row["ci_high"] - row["ci_low"])
        assert sqlrank.gate("AUC", tolerance=0.001, **options)["verdict"].to_pylist() == [
            "inconclusive"
        ]
    assert widths[1] < widths[0] / 5


def test_a_gate_names_a_small_class():
    """Positives that both find, or all miss, say nothing of the share of others: 1 - 0.05 ** (1 /
    5) is 0.45.
    """
    label = [1] * 5 + [0] * 195
    old = [0.9] * 5 + [0.1] * 195
    table = pa.table(
        {"label": label, "old": old, "new": [score - 0.01 for score in old], "worse": [0.1] * 200}
    )
    options = {"predictions": table, "tolerance": 0.1}
    (same,) = sqlrank.gate("Recall", columns={"score": ["old", "new"]}, **options).to_pylist()
    assert (same["verdict"], same["reason"]) == (
        "pass",
        "no change in 200 rows: at most 1.5% of rows change, 45% of those of the smaller class",
    )
    (worse,) = sqlrank.gate(
        "Accuracy", columns={"score": ["old", "worse"]}, **{**options, "tolerance": 0.9}
    ).to_pylist()
    assert (worse["verdict"], worse["reason"]) == (
        "pass",
        (
            "not worse by more than the tolerance, by 5 rows of the smaller class. 5 of 200 rows"
            " change, so a test of their signs has no p-value below 0.0625"
        ),
    )


@pytest.mark.parametrize(
    ("metric", "changed"),
    [("Recall", 1), ("Precision", 3), ("MCC", 3), ("Accuracy", 3), ("LogLoss", 3), ("AUC", None)],
)
def test_reasons_name_few_rows_that_change(metric, changed):
    """Of 200 rows, the new scores lose one positive and find two false alarms. All rows move a
    ratio or an area, and those with another outcome are counted for ratios.
    """
    label = np.arange(200) < 50
    old = np.where(np.arange(200) % 10 < 8, label, ~label) * 0.6 + 0.2
    new = old.copy()
    new[[0, 100, 101]] = [0.3, 0.7, 0.7]
    two = {
        "predictions": pa.table({"label": label.astype(float), "old": old, "new": new}),
        "columns": {"score": ["old", "new"]},
    }
    expected = (
        f"{changed} of 200 rows change, so a test of their signs has no p-value below"
        f" {2.0 ** (1 - changed):g}"
        if changed
        else None
    )
    (compared,) = sqlrank.compare(metric, **two).to_pylist()
    assert compared["reason"] == expected
    (gated,) = sqlrank.gate(metric, tolerance=5, **two).to_pylist()
    assert gated["reason"].endswith(f". {expected}" if expected else "the tolerance")


def tag(labels: np.ndarray, systems: dict[str, np.ndarray]) -> pa.Table:
    """Return sets of classes, by sample, prediction and class, under each system."""
    sample, prediction, class_id = (each.ravel() for each in np.indices(labels.shape))
    return pa.concat_tables(
        pa.table(
            {
                "sample": sample,
                "prediction_id": sample * labels.shape[1] + prediction,
                "class_id": class_id,
                "label": labels.ravel().astype(int),
                "predicted": predicted.ravel().astype(int),
                "system": [system] * labels.size,
            }
        )
        for system, predicted in systems.items()
    )


def gate_classes(metric: str, table: pa.Table, tolerance: float) -> list[dict[str, Any]]:
    """Return the rows of a gate of classes, or sets of them, one per sample and one of all."""
    role = "classified" if metric.startswith("Multiclass") else "class_labels"
    return sqlrank.gate(
        metric,
        inputs={role: table},
        by="sample",
        unit="prediction_id",
        baseline="old",
        tolerance=tolerance,
        check="off",
    ).to_pylist()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("metric", "positives", "lost", "false", "tolerance"),
    [("MultilabelRecall", 10, 0.1, 0.0, 0.1 / 4), ("MultilabelPrecision", 50, 0.02, 0.004, 0.0048)],
)
def test_losses_of_a_rare_label_do_not_pass(metric, positives, lost, false, tolerance):
    """Without the loss by rows that a sample may not show, 36 and 37 of 100 samples pass, all of
    them without a change.
    """
    rng = np.random.default_rng(positives)
    labels = rng.random((200, ROWS, 4)) < [0.5, 0.35, 0.25, 0]
    labels[:, :positives, 3] = True
    new = labels.copy()
    changes = rng.random((200, ROWS)) < np.where(labels[:, :, 3], lost, false)
    new[:, :, 3] ^= changes
    rows = gate_classes(metric, tag(labels, {"old": labels, "new": new}), tolerance)
    assert sum(row["verdict"] == "pass" for row in rows) <= 8


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("metric", "tolerance"),
    [
        ("MulticlassRecall", 0.1 / 4),
        ("MulticlassBalancedAccuracy", 0.1 / 4),
        ("MulticlassPrecision", 0.0025),
        ("MulticlassFBeta", 0.0145),
    ],
)
def test_losses_of_a_rare_class_do_not_pass(metric, tolerance):
    """Of four classes, one has 10 rows, of which 10 % are lost: a third of all samples have no
    change, and passed.
    """
    rng = np.random.default_rng(10)
    label = rng.integers(0, 3, (100, ROWS))
    other = label.copy()
    label[:, :10] = 3
    lost = (rng.random((100, ROWS)) < 0.1) & (label == 3)
    columns = {"sample": np.repeat(np.arange(100), ROWS), "prediction_id": np.arange(100 * ROWS)}
    table = pa.concat_tables(
        pa.table(
            {
                **columns,
                "label": label.ravel(),
                "predicted": predicted.ravel(),
                "system": [system] * label.size,
            }
        )
        for system, predicted in {"old": label, "new": np.where(lost, other, label)}.items()
    )
    rows = gate_classes(metric, table, tolerance)
    assert sum(not row["difference"] for row in rows) > 20
    assert [row for row in rows if row["verdict"] == "pass"] == []


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.0138, "inconclusive"), (0.0139, "pass")])
def test_a_gate_says_what_few_changed_sets_could_hide(tolerance, verdict):
    """One of 300 predictions loses one of its two classes, a mean loss of 0.0017. With a probability
    of 2.5 %, as many miss all of 3.6664 sets that lose every class: 0.0122.
    """
    labels = np.broadcast_to([True, True, False], (1, ROWS, 3))
    predicted = labels.copy()
    predicted[0, 0, 0] = False
    (row,) = gate_classes(
        "MultilabelRecall(average=samples)",
        tag(labels, {"old": labels, "new": predicted}),
        tolerance,
    )[-1:]
    assert row["verdict"] == verdict
    hidden = "1 of 300 predictions change, and others that the sample misses may cost up to 0.012"
    assert (hidden in row["reason"]) == (verdict == "inconclusive")


@pytest.mark.parametrize("gain", [0.0, 0.0125])
@pytest.mark.parametrize(("tolerance", "is_named"), [(0.05, True), (0.08, False)])
def test_a_pass_says_how_many_samples_miss_a_loss(gain, tolerance, is_named):
    """A loss of 0.05 may be a twentieth of queries that lose all: of samples of 40, 0.95 ** 40 have
    none of them. If one of 40 queries gains a half, 0.0125 more are hidden.
    """
    new = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(40)}
    old = {**new, "q0": {"a": 1.0, "b": 2.0}} if gain else new
    qrels = {query: {"a": 1} for query in new}
    run = {"old": old, "new": new}
    (row,) = sqlrank.gate("RR", run=run, qrels=qrels, tolerance=tolerance).to_pylist()
    missed = {0.0: 13, 0.0125: 7.6}[gain]
    named = f"A loss of the tolerance may be in queries that {missed}% of such samples miss"
    assert (row["verdict"], named in row["reason"]) == ("pass", is_named)


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.0916, "inconclusive"), (0.0917, "pass")])
def test_a_gate_says_what_a_rare_label_could_hide(tolerance, verdict):
    """Of four classes, the rarest has 10 positives, so that each is 1/40 of the average recall; 300
    units have none of 3.6664 such rows with a probability of 2.5 %.
    """
    rng = np.random.default_rng(3)
    labels = rng.random((1, ROWS, 4)) < [0.5, 0.35, 0.25, 0]
    labels[:, :10, 3] = True
    (row,) = gate_classes(
        "MultilabelRecall", tag(labels, {"old": labels, "new": labels}), tolerance
    )[-1:]
    assert row["verdict"] == verdict
    hidden = ", but changes in so few rows of a class that a sample may miss them cost up to 0.092"
    assert row["reason"] == (
        "no change in 300 predictions: at most 0.99% of predictions change"
        + (hidden if verdict == "inconclusive" else "")
    )
