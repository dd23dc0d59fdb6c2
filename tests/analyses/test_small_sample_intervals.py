"""Intervals with few effective units: the adjusted variance by its formula in NumPy, and metrics
without adjustment.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from tests.lanes import select_few

LEVEL = 0.95
STEP = 1e-6


def compute_growth(freedom: float, level: float) -> float:
    """Return the ratio of the squared t quantile to the normal one: exact for 3 degrees of freedom,
    and approximate for more.
    """
    normal = stats.norm.ppf((1 + level) / 2) ** 2
    slope = (normal + 1) / 2
    below = 3 - slope / (stats.t.ppf((1 + level) / 2, 3) ** 2 / normal - 1)
    return float((freedom + slope - below) / (freedom - below))


def compute_limits(
    value: float,
    influence: np.ndarray,
    weight: np.ndarray,
    enters: np.ndarray | None = None,
    kind: str = "t",
    level: float = LEVEL,
    cell_squares: float = 0.0,
) -> tuple[float, float]:
    """Return the limits of an interval from the influence of each unit.

    Satterthwaite (1946): an estimate of variance by n units of kurtosis k has 2 n / (k - 1) degrees
    of freedom. Kish (1965): units of unequal weight count as (sum of w)^2 / sum of w^2. ``enters``
    says which units add anything to the sums of the metric, and ``cell_squares`` are half the
    squared effects of one more row of each cell with few.
    """
    n = len(influence)
    square, fourth = (influence**2).sum(), (influence**4).sum()
    part = 1 if enters is None else enters.mean()
    trials = weight.sum() ** 2 / (weight**2).sum() * part
    concentration = fourth / square**2 if square > 0 else np.nan
    freedom = max(min(2 / (concentration - 1 / n), trials - 1), 3) if square > 0 else 3
    trials = max(trials, 1.5)
    quantile = stats.t.ppf((1 + level) / 2, n - 1) ** 2
    ceiling = compute_growth(max(trials - 1, 3), level) / compute_growth(n - 1, level)
    plain = (square * n / (n - 1) + cell_squares) * trials / (trials - 1) / (n / (n - 1))
    variance = (
        plain
        * (1 + 2 * max(concentration - 3 / n, 0))
        * compute_growth(freedom, level)
        / compute_growth(n - 1, level)
    )
    if kind == "t":
        return value - np.sqrt(quantile * variance), value + np.sqrt(quantile * variance)
    scale = 2 if kind == "signed" else 1
    share = (1 + value) / 2 if kind == "signed" else value
    if square > 0 and 0 < share < 1:
        greatest = share * (1 - share) / (trials - 1)
        if plain / scale**2 <= greatest * (1 + 1e-9):
            variance = min(variance / scale**2, greatest * ceiling) * scale**2
        ratio = quantile * variance / scale**2 / (share * (1 - share))
    else:
        ratio = quantile * ceiling / trials
    middle, far = share + ratio / 2, np.sqrt(ratio * share * (1 - share) + ratio**2 / 4)
    low, high = (middle - far) / (1 + ratio), (middle + far) / (1 + ratio)
    return (2 * low - 1, 2 * high - 1) if kind == "signed" else (low, high)


def evaluate_limits(metric: str, table: pa.Table, **options: Any) -> list[float | None]:
    (row,) = sqlrank.evaluate(metric, predictions=table, confidence=LEVEL, **options).to_pylist()
    name = next(iter(row))
    return [row[f"{name}.{limit}"] for limit in ("ci_low", "ci_high")]


def draw_predictions(rows: int, positives: int, seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = (np.arange(rows) < positives).astype(float)
    score = np.round(np.clip(rng.normal(0.3 + 0.35 * label, 0.2), 0.01, 0.99), 3)
    weight = np.round(np.exp(rng.normal(size=rows)), 3)
    return {"label": label, "score": score, "weight": weight, "user": rng.geometric(0.15, rows)}


def compute_influence(
    metric: str, table: dict[str, np.ndarray], has_weight: bool
) -> tuple[float, np.ndarray]:
    """Return a metric of rows and the influence of each, by differences: a copy of the data for
    each row, in which it weighs a little more.
    """
    rows = len(table["label"])
    weight = table["weight"] if has_weight else np.ones(rows)
    copies = {"copy": [], "label": [], "score": [], "weight": []}
    for row in range(rows):
        for sign in (-1, 1):
            changed = weight.copy()
            changed[row] *= 1 + sign * STEP
            for name, values in {
                "copy": [2 * row + (sign > 0)] * rows,
                **table,
                "weight": changed,
            }.items():
                if name in copies:
                    copies[name].extend(values)
    found = np.array(
        sqlrank.evaluate(metric, predictions=pa.table(copies), by="copy")[metric].to_pylist()
    ).reshape(rows, 2)
    value = sqlrank.evaluate(metric, predictions=pa.table({**table, "weight": weight}))[metric][
        0
    ].as_py()
    return value, (found[:, 1] - found[:, 0]) / (2 * STEP)


def find_entering_rows(metric: str, table: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return a flag for each row that adds to the sums of a metric of a confusion matrix."""
    predicted, positive = table["score"] >= 0.5, table["label"] == 1
    return {"Precision": predicted, "Recall": positive, "FBeta": predicted | positive}.get(metric)


KINDS = {"LogLoss": "t", "CalibrationRatio": "t", "MCC": "signed"}


def find_cell_squares(metric: str, table: dict[str, np.ndarray]) -> float:
    """Return half the squared effect on MCC of one more row of each cell of fewer than five; other
    metrics here have no cells.
    """
    if metric != "MCC":
        return 0.0
    predicted, positive = table["score"] >= 0.5, table["label"] == 1
    cells = np.array(
        [
            np.sum((predicted == row) & (positive == column)).astype(float)
            for row in (0, 1)
            for column in (0, 1)
        ]
    )

    def correlate(counts: np.ndarray) -> float:
        tn, fn, fp, tp = counts
        return float((tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))

    steps = STEP * np.eye(4)
    slopes = [(correlate(cells + step) - correlate(cells - step)) / (2 * STEP) for step in steps]
    return sum(slope**2 / 2 for slope, count in zip(slopes, cells, strict=True) if count < 5)


@pytest.mark.parametrize(
    ("metric", "rows", "positives", "has_weight", "by_user"),
    [
        ("BaseRate", 40, 6, False, False),
        ("MCC", 40, 12, False, True),
        ("Recall", 30, 12, True, False),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in (
                ("LogLoss", 40, 6, False, False),
                ("LogLoss", 30, 12, True, False),
                ("Precision", 40, 6, False, False),
                ("FBeta", 40, 4, True, True),
                ("APS", 40, 6, False, False),
                ("APS", 30, 12, True, True),
                ("Brier", 30, 12, True, True),
                ("CalibrationRatio", 40, 6, False, True),
            )
        ),
    ],
)
def test_adjusted_by_the_formula(metric, rows, positives, has_weight, by_user):
    table = draw_predictions(rows, positives)
    value, influence = compute_influence(metric, table, has_weight)
    weight, enters = (
        table["weight"] if has_weight else np.ones(rows),
        find_entering_rows(metric, table),
    )
    if by_user:
        users = [table["user"] == user for user in np.unique(table["user"])]
        influence, weight = (
            np.array([values[user].sum() for user in users]) for values in (influence, weight)
        )
        enters = None if enters is None else np.array([enters[user].any() for user in users])
    expected = compute_limits(
        value,
        influence,
        weight,
        enters,
        KINDS.get(metric, "share"),
        cell_squares=find_cell_squares(metric, table),
    )
    given = pa.table(
        {name: values for name, values in table.items() if has_weight or name != "weight"}
    )
    assert evaluate_limits(metric, given, **({"unit": "user"} if by_user else {})) == pytest.approx(
        expected, rel=2e-5
    )


def test_predictions_without_an_observed_class_are_no_trials():
    """Nine of 12 observed classes are found, however many empty sets there are."""
    limits = []
    for empty in (0, 500):
        columns = {
            "label": [1] * 12 + [0] * empty,
            "predicted": [1] * 9 + [0] * (3 + empty),
            "prediction_id": list(range(12 + empty)),
            "class_id": [0] * (12 + empty),
        }
        (row,) = sqlrank.evaluate(
            "MultilabelRecall(average=micro)",
            inputs={"class_labels": pa.table(columns)},
            confidence=0.95,
        ).to_pylist()
        limits.append([value for name, value in row.items() if ".ci_" in name])
    assert limits[0] == pytest.approx(limits[1], abs=0.001)


def test_a_precision_of_few_predictions():
    """Three of three predicted positives among 200 rows are three trials, and not 200."""
    label = np.array([1.0] * 3 + [0.0] * 197)
    score = np.array([0.9] * 3 + [0.1] * 197)
    low, high = evaluate_limits("Precision", pa.table({"label": label, "score": score}))
    assert high == 1
    expected = compute_limits(1.0, np.zeros(200), np.ones(200), score >= 0.5, "share")
    assert low == pytest.approx(expected[0], rel=1e-9)
    assert low < 0.45


@pytest.mark.parametrize(
    ("metric", "kind", "scale"), [("BalancedAccuracy", "share", 2), ("YoudenJ", "signed", 1)]
)
def test_a_class_of_few_rows_that_are_all_right(metric, kind, scale):
    """Another positive might be missed: half the square of its effect on recall, 1 / 5, is added.
    No other cell has fewer than 5 rows.
    """
    label = np.repeat([1.0, 0.0], [5, 95])
    score = np.repeat([0.9, 0.1, 0.9], [5, 85, 10])
    specificity = 85 / 95
    influence = np.where(label == 1, 0.0, ((score < 0.5) - specificity) / 95) / scale
    value = (1 + specificity) / 2 if scale == 2 else specificity
    expected = compute_limits(
        value, influence, np.ones(100), kind=kind, cell_squares=(1 / 5 / scale) ** 2 / 2
    )
    assert evaluate_limits(metric, pa.table({"label": label, "score": score})) == pytest.approx(
        expected, rel=1e-9
    )
    classes = pa.table({"label": label.astype(int), "predicted": (score > 0.5).astype(int)})
    row = sqlrank.evaluate(
        "MulticlassRecall", inputs={"classified": classes}, confidence=LEVEL
    ).to_pylist()[0]
    assert metric != "BalancedAccuracy" or [
        row["MulticlassRecall.ci_low"],
        row["MulticlassRecall.ci_high"],
    ] == pytest.approx(expected)


def test_cells_of_five_rows_add_nothing():
    """Of 25 positives five are missed, and none of the other cells has fewer."""
    label = np.repeat([1.0, 0.0], [25, 75])
    hit = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 60, 15])
    influence = np.where(label == 1, (hit - 0.8) / 25, (hit - 0.8) / 75) / 2
    table = {"label": label, "score": np.where(hit == label, 0.9, 0.1)}
    assert evaluate_limits("BalancedAccuracy", pa.table(table)) == pytest.approx(
        compute_limits(0.8, influence, np.ones(100), kind="share"), rel=1e-9
    )


@pytest.mark.parametrize("metric", ["BaseRate", "Bias", "MSE"])
def test_many_equal_units_are_not_adjusted(metric):
    """Of 2,000 rows without outliers the interval is as wide as without any adjustment, to 1 %."""
    rng = np.random.default_rng(2)
    table = pa.table(
        {"label": (rng.random(2000) < 0.4).astype(float), "score": rng.uniform(size=2000)}
    )
    adjusted, plain = (evaluate_limits(metric, table, interval=kind) for kind in ("auto", "t"))
    assert adjusted[1] - adjusted[0] == pytest.approx(plain[1] - plain[0], rel=0.01)  # type: ignore[operator]


def test_intervals_by_name_are_not_adjusted():
    """Student's is the value and its quantile times the standard error, Wilson's that of the
    effective size, whatever the units.
    """
    table = pa.table(draw_predictions(30, 4))
    (row,) = sqlrank.evaluate(
        ["Brier"], predictions=table, confidence=LEVEL, interval="t"
    ).to_pylist()
    far = stats.t.ppf(0.975, 29) * row["Brier.se"]
    assert [row["Brier.ci_low"], row["Brier.ci_high"]] == pytest.approx(
        [row["Brier"] - far, row["Brier"] + far], rel=1e-9
    )
    wilson, auto = (evaluate_limits("Brier", table, interval=kind) for kind in ("wilson", "auto"))
    assert auto[1] - auto[0] > 1.02 * (wilson[1] - wilson[0])  # type: ignore[operator]


def test_queries_of_uneven_weight_of_gauc():
    """The weight of a query is that of its predictions, so that a few long ones count as few
    trials.
    """
    rng = np.random.default_rng(5)
    sizes = [60, 40, *[6] * 12]
    query = np.repeat(np.arange(len(sizes)), sizes)
    label = np.concatenate([np.arange(size) % 3 == 0 for size in sizes]).astype(float)
    score = rng.integers(0, 40, len(query)) / 40 + 0.3 * label
    areas = np.array(
        [
            np.mean(
                np.sign(
                    score[(query == q) & (label == 1)][:, None]
                    - score[(query == q) & (label == 0)][None, :]
                )
                / 2
                + 0.5
            )
            for q in range(len(sizes))
        ]
    )
    weight = np.array(sizes, float)
    value = float(areas @ weight / weight.sum())
    table = pa.table({"query_id": query, "label": label, "score": score})
    row = sqlrank.evaluate("GAUC", predictions=table, confidence=LEVEL).to_pylist()[0]
    assert row["GAUC"] == pytest.approx(value, rel=1e-12)
    expected = compute_limits(value, weight * (areas - value) / weight.sum(), weight, kind="share")
    assert (row["GAUC.ci_low"], row["GAUC.ci_high"]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("positives", select_few([1, 2, 8], 1))
def test_a_unit_in_each_row_is_no_unit(positives):
    """Rows with a unit of their own are rows: the same intervals, and none where one positive says
    nothing of others.
    """
    rng = np.random.default_rng([positives, 60])
    label = (np.arange(60) < positives).astype(int)
    scores = {name: np.round(stats.norm.cdf(label + rng.normal(size=60)), 3) for name in "ab"}
    table = pa.table({"label": label, **scores, "score": scores["a"], "row": np.arange(60)})
    metrics = ["AUC", "Gini", "LiftQuality", "APS", "Recall", "MCC", "Brier", "LogLoss"]

    def close(row):
        return {
            name: pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
            for name, value in row.items()
        }

    (by_rows,) = sqlrank.evaluate(metrics, predictions=table, confidence=LEVEL).to_pylist()
    (by_units,) = sqlrank.evaluate(
        metrics, predictions=table, confidence=LEVEL, unit="row"
    ).to_pylist()
    assert by_units == close(by_rows)
    assert (by_rows["AUC.ci_low"] is None) == (positives == 1)
    options = {"predictions": table, "columns": {"score": ["a", "b"]}}
    compared = sqlrank.compare(metrics, **options).to_pylist()
    assert sqlrank.compare(metrics, unit="row", **options).to_pylist() == [
        close(row) for row in compared
    ]
