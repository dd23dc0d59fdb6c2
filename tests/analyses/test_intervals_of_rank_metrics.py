"""Intervals of rank metrics, of metrics of the confusion matrix, and over units of several rows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import sqlrank
from tests.analyses.test_confidence import CLUSTERS, MATRIX_METRICS, TEN, WEIGHTS, evaluate_interval
from tests.interface.command_line import run_command
from tests.lanes import select_few
from tests.tables import build_table, read_columns

OTHER = [0.8, 0.9, 0.6, 0.3, 0.5, 0.5, 0.2, 0.1, 0.4, 0.3]
"""Scores of a second system, among them a tie of a positive and a negative."""

WEIGHED = {**TEN, "weight": WEIGHTS}
BY_USER = {**WEIGHED, "user": CLUSTERS}
ORDERS = ("window", "distinct", "buckets")
RANK_METRICS = ["AUC", "Gini", "LiftQuality", "APS"]


def draw_sample(size: int = 60) -> dict[str, list[float]]:
    """Predictions with ties within and between classes, weights, and users."""
    rng = np.random.default_rng(11)
    label = rng.integers(0, 2, size).astype(float)
    score = np.round(rng.uniform(0, 1, size) * 0.7 + 0.3 * label, 1).clip(0.05, 0.95)
    weight = rng.uniform(0.5, 2, size)
    columns = {
        "label": label,
        "score": score,
        "weight": weight,
        "user": rng.integers(0, 12, size).astype(float),
    }
    return {name: [float(value) for value in values] for name, values in columns.items()}


# By hand


@pytest.mark.slow
def test_area_under_the_curve():
    """DeLong's standard error, that of MLstatkit, and Wilson's interval with the variance of Hanley
    and McNeil as a floor.
    """
    found = evaluate_interval("AUC", pa.table(TEN))
    assert found == pytest.approx(
        (0.8958333333, 0.3326643906, 0.9933050436, 0.1029090753, 10), abs=1e-10
    )
    found = evaluate_interval("AUC", pa.table({**TEN, "score": OTHER}))
    assert found == pytest.approx(
        (0.8541666667, 0.2511151642, 0.9903202988, 0.1542229627, 10), abs=1e-10
    )
    found = evaluate_interval("AUC", pa.table(TEN), interval="normal")
    assert found[1:3] == pytest.approx((0.6941352521, 1.0975314146), abs=1e-10)
    found = evaluate_interval("AUC", pa.table(TEN), interval="t")
    reach = student.ppf(0.975, 3) * 0.10290907529357056
    assert found[1:3] == pytest.approx(
        (0.8958333333333334 - reach, 0.8958333333333334 + reach), rel=1e-10
    )
    assert evaluate_interval("AUC", pa.table(WEIGHED))[::3] == pytest.approx(
        (0.9259259259, 0.0794284880), abs=1e-10
    )
    assert evaluate_interval("AUC", pa.table({**WEIGHED, "score": OTHER}))[::3] == pytest.approx(
        (0.9197530864, 0.0986179868), abs=1e-10
    )


@pytest.mark.slow
def test_a_perfect_order_is_not_certainty():
    table = pa.table({"label": [1.0] * 20 + [0.0] * 200, "score": [0.9] * 20 + [0.1] * 200})
    assert evaluate_interval("AUC", table) == pytest.approx((1, 0.9734143819, 1, 0, 220), abs=1e-10)
    assert evaluate_interval("Gini", table)[:3] == pytest.approx(
        (1, 2 * 0.9734143819 - 1, 1), abs=1e-9
    )
    assert evaluate_interval("AUC", table, interval="t")[1:3] == (None, None)


def test_the_floor_by_its_formula():
    """The variance of Hanley and McNeil as it was printed, with the numbers of rows of equal
    weight, against the short form of the file.
    """
    weights = np.array([1, 2, 1, 0.5]), np.array([1, 3, 1, 1, 2, 1])
    m, n = (side.sum() ** 2 / (side**2).sum() for side in weights)
    area, error, z, q = (
        0.9259259259259259,
        0.07942848803525868,
        norm.ppf(0.975),
        student.ppf(0.975, 3),
    )
    c = (area + z**2 / 8) / (1 + z**2 / 4)
    v = (c * (1 - c) + (m - 1) * (2 * c**2 / (1 + c) - c**2) + (n - 1) * (c / (2 - c) - c**2)) / (
        m * n
    )
    r = max(q**2 * error**2 / (area * (1 - area)), q**2 * v / (c * (1 - c)))
    half = np.sqrt(r * area * (1 - area) + r**2 / 4)
    limits = [(area + r / 2 + sign * half) / (1 + r) for sign in (-1, 1)]
    assert evaluate_interval("AUC", pa.table(WEIGHED))[1:3] == pytest.approx(limits, rel=1e-10)


@pytest.mark.parametrize("area", [0.8, 0.95, 0.3])
def test_the_interval_of_exchanged_classes(area):
    """Labels and scores of the opposite sign have the same area and the same interval, whatever
    class is small.
    """
    rng = np.random.default_rng(5)
    label = np.repeat([1.0, 0.0], [6, 60])
    score = norm.cdf(rng.normal(size=66) + label * norm.ppf(area) * 2**0.5)
    few_positives = evaluate_interval("AUC", pa.table({"label": label, "score": score}))
    few_negatives = evaluate_interval("AUC", pa.table({"label": 1 - label, "score": 1 - score}))
    assert few_negatives == pytest.approx(few_positives, rel=1e-9)


@pytest.mark.slow
def test_what_is_twice_the_area_less_one():
    area = evaluate_interval("AUC", pa.table(WEIGHED))
    for metric in ("Gini", "LiftQuality"):
        value, low, high, error, units = evaluate_interval(metric, pa.table(WEIGHED))
        assert (value, low, high) == pytest.approx([2 * limit - 1 for limit in area[:3]], rel=1e-12)
        assert (error, units) == (pytest.approx(2 * area[3], rel=1e-12), 10)
    assert (
        evaluate_interval("LiftQuality", pa.table(WEIGHED), lift_variant="magnetic_spark")[1:]
        == (None,) * 4
    )


def test_average_precision():
    """The standard error is that of finite differences of scikit-learn."""
    assert evaluate_interval("APS", pa.table(TEN))[::3] == pytest.approx(
        (0.8541666667, 0.1339545953), abs=1e-10
    )
    assert evaluate_interval("APS", pa.table(BY_USER), unit="user")[3:] == pytest.approx(
        (0.1912335221, 5), abs=1e-10
    )


@pytest.mark.slow
def test_confusion_matrices():
    expected = {
        "Precision": (0.75, 0.228217732),
        "FBeta": (0.75, 0.180421959),
        "MCC": (0.583333333, 0.276569517),
    }
    for metric, numbers in expected.items():
        assert evaluate_interval(metric, pa.table(TEN))[::3] == pytest.approx(numbers, abs=1e-9)
    assert evaluate_interval("MCC", pa.table(WEIGHED))[::3] == pytest.approx(
        (0.666666667, 0.240661589), abs=1e-9
    )
    # Wilson's interval with as many trials as have this standard error; the default is wider, since
    # four rows are predicted positive.
    wilson = evaluate_interval("Precision", pa.table(TEN), interval="wilson")[1:3]
    quantile, trials = student.ppf(0.975, 9), 0.75 * 0.25 / 0.228217732**2
    center = (0.75 + quantile**2 / (2 * trials)) / (1 + quantile**2 / trials)
    half = (
        quantile
        / (1 + quantile**2 / trials)
        * np.sqrt(0.75 * 0.25 / trials + quantile**2 / (4 * trials**2))
    )
    assert wilson == pytest.approx((center - half, center + half), abs=1e-8)
    low, high = evaluate_interval("Precision", pa.table(TEN))[1:3]
    assert low < wilson[0]
    assert high > wilson[1]
    assert evaluate_interval("Precision", pa.table(TEN), threshold_from="best")[1:] == (None,) * 4


def compute_matthews(
    label: np.ndarray[Any, Any], score: np.ndarray[Any, Any], weight: np.ndarray[Any, Any]
) -> float:
    """Return the Matthews correlation coefficient at a threshold of 0.5."""
    is_positive, is_predicted = label == 1, score >= 0.5
    tp, fn = weight[is_positive & is_predicted].sum(), weight[is_positive & ~is_predicted].sum()
    fp, tn = weight[~is_positive & is_predicted].sum(), weight[~is_positive & ~is_predicted].sum()
    return float((tp * tn - fp * fn) / np.sqrt((tp + fn) * (tp + fp) * (tn + fp) * (tn + fn)))


@pytest.mark.parametrize("missing", ["false positives", "false negatives"])
def test_mcc_has_a_standard_error_without_false_predictions_of_one_kind(missing):
    """Compare with finite differences in the weights of rows, and with the jackknife."""
    rng = np.random.default_rng(0)
    label = np.repeat([1.0, 0.0], 50)
    score = np.where(label == 1, rng.uniform(0.2, 1, 100), rng.uniform(0, 0.49, 100))
    if missing == "false negatives":
        label, score = 1 - label, 0.999 - score
    ones, step = np.ones(100), 1e-6
    moves = [
        (
            compute_matthews(label, score, ones + step * row)
            - compute_matthews(label, score, ones - step * row)
        )
        / (2 * step)
        for row in np.eye(100)
    ]
    value, low, high, error, _ = evaluate_interval(
        "MCC", pa.table({"label": label, "score": score})
    )
    assert value == pytest.approx(compute_matthews(label, score, ones), rel=1e-12)
    assert error == pytest.approx(np.sqrt(100 / 99 * np.square(moves).sum()), rel=1e-6)
    left_out = np.array([compute_matthews(label, score, ones - row) for row in np.eye(100)])
    assert error == pytest.approx(
        np.sqrt(99 / 100 * np.square(left_out - left_out.mean()).sum()), rel=0.05
    )
    assert low < value < high


@pytest.mark.slow
def test_units_that_were_drawn_together():
    expected = {
        "LogLoss": 0.1272443292,
        "NormalizedEntropy": 0.303827580,
        "MCC": 0.239868632,
        "AUC": 0.1166868056,  # 0.0965 by DeLong, raised since few positives understate it
        "APS": 0.1912335221,
    }
    for metric, error in expected.items():
        assert evaluate_interval(metric, pa.table(BY_USER), unit="user")[3:] == pytest.approx(
            (error, 5), abs=1e-9
        )
        mapped = pa.table({**WEIGHED, "query_id": CLUSTERS})
        assert evaluate_interval(metric, mapped) == evaluate_interval(
            metric, pa.table(BY_USER), unit="user"
        )
        assert (
            evaluate_interval(metric, mapped.append_column("row", [range(10)]), unit="row")[4] == 10
        )


@pytest.mark.slow
def test_an_expression_says_what_was_drawn_together():
    expression, column = (
        evaluate_interval("AUC", pa.table(BY_USER), unit=unit) for unit in ("'u' || user", "user")
    )
    assert expression == pytest.approx(
        column, rel=1e-12
    )  # users are added up in the order in which they are met


@pytest.mark.slow
@pytest.mark.parametrize("order", select_few(ORDERS, ["distinct"]))
def test_every_plan_has_the_same_intervals(order):
    table = pa.table({**draw_sample(), "shop": [row % 2 for row in range(60)]})
    for options in ({}, {"unit": "CAST(user AS INT)"}):
        given = {"predictions": table, "confidence": 0.9, "by": "shop", **options}
        usual = sqlrank.evaluate(RANK_METRICS, **given).to_pylist()
        for one, two in zip(
            usual,
            sqlrank.evaluate(RANK_METRICS, **given, plan={"score_order": order}).to_pylist(),
            strict=True,
        ):
            assert one == pytest.approx(two, rel=1e-11)
            assert one["AUC.ci_low"] < one["AUC"] < one["AUC.ci_high"]


@pytest.mark.parametrize("factor", [1.0, 1e89, 1e-89])
def test_tied_rows_keep_the_powers_of_their_weights(factor: float) -> None:
    """Rows of a score and class are one, whose sums give the interval of each row by itself."""
    table = draw_sample()
    weight = factor * np.exp(np.random.default_rng(4).normal(size=60))
    given = {"predictions": pa.table({**table, "weight": weight}), "confidence": 0.9}
    assert len(set(table["score"])) < 60
    apart, tied = (
        sqlrank.evaluate("APS", **given, plan={"score_order": order}).to_pylist()[0]
        for order in ("window", "distinct")
    )
    assert tied == pytest.approx(apart, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("order", select_few(["rank", "integer_sort"], ["rank"]))
def test_the_plans_for_rows_of_weight_1(order):
    """Of groups with ties, of one class, of one row, and of a name that is NULL; and by users,
    whose rows are found by their thresholds.
    """
    part = draw_sample()
    shop = ["a", "b", None] * 20
    label = [0.0 if name == "b" else value for name, value in zip(shop, part["label"], strict=True)]
    table = pa.table({
        "label": [*label, 1.0, 1.0, 0.0], "score": [*part["score"], 0.5, 0.7, 0.5], "user": [*part["user"], 1.0, 2.0, 1.0], "shop": [*shop, "c", "c", "d"],
    })  # fmt: skip
    for options in ({}, {"unit": "CAST(user AS INT)"}):
        given = {"predictions": table, "confidence": 0.9, "by": [["shop"], []], **options}
        usual = sqlrank.evaluate(
            RANK_METRICS, **given, plan={"score_order": "distinct"}
        ).to_pylist()
        assert len(usual) == 6
        for one, two in zip(
            usual,
            sqlrank.evaluate(RANK_METRICS, **given, plan={"score_order": order}).to_pylist(),
            strict=True,
        ):
            assert one == pytest.approx(two, rel=1e-11)


# By what each row does


@pytest.mark.parametrize("tie_credit", select_few([0.5, 0, 1], 1))
def test_standard_errors_are_finite_differences(tie_credit):
    """A copy of the data for each row, in which it weighs a little more, or less; rows, and
    users.
    """
    rows, step = draw_sample(), 1e-5
    size = len(rows["label"])
    copies = {"copy": [], "label": [], "score": [], "weight": []}
    for row in range(size):
        for sign in (-1, 1):
            changed = list(rows["weight"])
            changed[row] *= 1 + sign * step
            for name, values in {
                **rows,
                "copy": [2 * row + (sign > 0)] * size,
                "weight": changed,
            }.items():
                copies.get(name, []).extend(values)
    metrics = [f"AUC(tie_credit={tie_credit})", f"Gini(tie_credit={tie_credit})", "APS"]
    found = sqlrank.evaluate(metrics, predictions=pa.table(copies), by="copy")
    label, user = np.array(rows["label"]), np.array(rows["user"])
    by_row = sqlrank.evaluate(metrics, predictions=pa.table(rows), confidence=0.95)
    by_user = sqlrank.evaluate(
        metrics, predictions=pa.table(rows), confidence=0.95, unit="CAST(user AS INT)"
    )
    for metric, name in zip(found.column_names[1:], by_row.column_names[::5], strict=True):
        values = np.array(found[metric].to_pylist()).reshape(size, 2)
        influence = (values[:, 1] - values[:, 0]) / (2 * step)
        groups = [influence] if name == "APS" else [influence[label == 0], influence[label == 1]]
        expected = np.sqrt(
            sum(len(group) / (len(group) - 1) * (group**2).sum() for group in groups)
        )
        assert by_row[f"{name}.se"].to_pylist() == [pytest.approx(expected, rel=1e-6)], name
        sums = np.array([influence[user == one].sum() for one in np.unique(user)])
        expected = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum())
        assert by_user[f"{name}.se"].to_pylist() == [pytest.approx(expected, rel=1e-6)], name
        assert by_user[f"{name}.n_units"].to_pylist() == [len(sums)]


# What changes nothing


ALL = ["AUC", "APS", "Precision", "YoudenJ", "LogLoss", "R2"]
"""One of each kind."""


def evaluate_row(table: dict[str, list[float]], **options: Any) -> dict[str, Any]:
    (row,) = sqlrank.evaluate(
        ALL, predictions=pa.table(table), confidence=0.95, **options
    ).to_pylist()
    return row


@pytest.mark.slow
def test_twice_the_weight_changes_nothing():
    rows = draw_sample()
    twice = {**rows, "weight": [2 * weight for weight in rows["weight"]]}
    for options in ({}, {"unit": "CAST(user AS INT)"}):
        assert evaluate_row(twice, **options) == pytest.approx(
            evaluate_row(rows, **options), rel=1e-9
        )


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing():
    rows = draw_sample()
    mixed = {name: values[::-1][7:] + values[::-1][:7] for name, values in rows.items()}
    for options in ({}, {"unit": "CAST(user AS INT)"}):
        assert evaluate_row(mixed, **options) == pytest.approx(
            evaluate_row(rows, **options), rel=1e-9
        )


@pytest.mark.slow
def test_a_row_cut_in_two_changes_nothing_by_units():
    """Each half weighs half; rows as units see twice as many."""
    rows = {name: values * 2 for name, values in draw_sample().items()}
    rows["weight"] = [weight / 2 for weight in rows["weight"]]
    whole, halves = (
        evaluate_row(draw_sample(), unit="CAST(user AS INT)"),
        evaluate_row(rows, unit="CAST(user AS INT)"),
    )
    errors = [f"{metric}{what}" for metric in ALL for what in ("", ".se", ".n_units")]
    assert [halves[name] for name in errors] == pytest.approx(
        [whole[name] for name in errors], rel=1e-9
    )
    assert [evaluate_row(rows)[f"{metric}.n_units"] for metric in ALL] == [120] * len(ALL)


@pytest.mark.slow
def test_rows_that_weigh_nothing_are_no_units():
    some = {**TEN, "weight": [1.0] * 8 + [0.0] * 2}
    first = {name: values[:8] for name, values in TEN.items()}
    assert evaluate_row(some) == pytest.approx(evaluate_row(first), rel=1e-12)
    users = [*CLUSTERS[:8], 6, 7]
    assert evaluate_row({**some, "user": users}, unit="user") == pytest.approx(
        evaluate_row({**first, "user": users[:8]}, unit="user"), rel=1e-12
    )


# What is bounded, and what is undefined


@pytest.mark.slow
def test_limits_of_shares_are_shares():
    """Fifty groups of few rows, perfect and hopeless ones among them."""
    rng = np.random.default_rng(3)
    table = {
        "group": np.repeat(np.arange(50.0), 9),
        "label": rng.integers(0, 2, 450),
        "score": np.round(rng.uniform(0, 1, 450), 1),
    }
    table["score"][:45] = table["label"][:45]
    table["score"][45:90] = 1 - table["label"][45:90]
    bounded = [*RANK_METRICS, *MATRIX_METRICS[:-1]]
    found = sqlrank.evaluate(bounded, predictions=pa.table(table), by="group", confidence=0.95)
    for metric in bounded:
        least = -1 if metric in {"Gini", "LiftQuality", "MCC", "YoudenJ"} else 0
        values, lows, highs = (
            found[f"{metric}{what}"].to_pylist() for what in ("", ".ci_low", ".ci_high")
        )
        assert sum(low is not None for low in lows) > 25
        for value, low, high in zip(values, lows, highs, strict=True):
            assert low is None or least - 1e-12 <= low <= value + 1e-12, metric
            assert high is None or value - 1e-12 <= high <= 1 + 1e-12, metric


@pytest.mark.slow
def test_undefined_is_null():
    one_class = read_columns(label="1.0 1 1", score="0.1 0.5 0.9")
    assert evaluate_interval("AUC", pa.table(one_class)) == (None, None, None, None, 3)
    assert evaluate_interval("MCC", pa.table(one_class)) == (None, None, None, None, 3)
    one_positive = read_columns(label="1.0 0 0", score="0.5 0.1 0.9")
    assert evaluate_interval("AUC", pa.table(one_positive)) == (0.5, None, None, None, 3)
    one_unit = pa.table({**TEN, "user": [1] * 10})
    for metric in ("AUC", "APS", "Precision"):
        assert evaluate_interval(metric, one_unit, unit="user")[1:] == (None, None, None, 1)
    perfect = build_table(label="1.0 1 0 0", score="0.9 0.8 0.1 0.2")
    assert evaluate_interval("MCC", perfect) == pytest.approx((1, -0.4337471610, 1, 0, 4), abs=1e-9)
    assert evaluate_interval("MCC", perfect, interval="t")[1:3] == (None, None)


def test_an_order_of_rows_has_no_interval():
    """Rows one by one are no scores that others could tie with."""
    assert (
        evaluate_interval("AUC", pa.table({**TEN, "rank": list(range(10))}), ties="row_order")[1:]
        == (None,) * 4
    )


# What is refused


FOLDS = ((0.9, 0.2, 0.6, 0.5), (0.8, 0.7, 0.1, 0.75), (0.4, 0.3, 0.5, 0.9))


def test_folds_that_share_units():
    """Of repeated cross-validation, the AUC of all rows is what the advice leads to, with each row
    of the data as a unit.
    """
    rows = [
        (row, fold, label, score)
        for fold, scores in enumerate(FOLDS)
        for row, (label, score) in enumerate(zip((1, 0, 0, 1), scores, strict=True))
    ]
    names = ("row_id", "fold", "label", "score")
    predictions = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    options = {"predictions": predictions, "unit": "row_id", "confidence": 0.9}
    (row,) = sqlrank.evaluate("AUC", **options).to_pylist()
    pairs = [
        (mine > other) + (mine == other) / 2
        for _, _, one, mine in rows
        if one
        for _, _, zero, other in rows
        if not zero
    ]
    assert (row["AUC"], row["AUC.n_units"]) == (pytest.approx(sum(pairs) / len(pairs)), 4)


# Elsewhere


@pytest.mark.slow
def test_the_command_takes_a_unit(tmp_path):
    path = tmp_path / "p.csv"
    lines = [
        "label,score,user",
        *(",".join(map(str, row)) for row in zip(*TEN.values(), CLUSTERS, strict=True)),
    ]
    path.write_text("\n".join(lines))
    shown = run_command(
        "evaluate", "AUC", "APS", "--predictions", path, "--confidence", "0.95", "--unit", "user"
    )
    assert [line.split()[::4] for line in shown.splitlines()[1:3]] == [["AUC", "5"], ["APS", "5"]]
    assert "unit_id" in run_command(
        "sql", "AUC", "--predictions", "p", "--confidence", "0.95", "--unit", "user",
        "--dialect", "bigquery",
    )  # fmt: skip


def test_a_model_of_dbt_takes_a_unit():
    model = sqlrank.dbt_model(["AUC"], "daily", predictions="scored", confidence=0.95, unit="user")
    assert [column["name"] for column in model.schema["models"][0]["columns"]] == [
        "auc", "auc_ci_low", "auc_ci_high", "auc_se", "auc_n_units",
    ]  # fmt: skip
    assert "unit_id" in model.sql


def test_the_sampling_unit_is_in_the_metadata():
    metadata = sqlrank.evaluate(
        "AUC", predictions=pa.table(BY_USER), confidence=0.95, unit="user"
    ).schema.metadata
    assert metadata[b"sqlrank.unit"] == b"user"
