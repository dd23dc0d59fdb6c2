"""Metrics of predicted quantiles and intervals against NumPy and scikit-learn, by hand, with
intervals, and errors of rows.
"""

import re

import numpy as np
import pytest
from scipy import integrate
from sklearn.metrics import mean_pinball_loss

import sqlrank
from sqlrank import InputError
from tests.tables import read_columns

QUANTILES = ["PinballLoss", "CRPS", "QuantileCoverage"]
INTERVALS = [
    "IntervalCoverage", "IntervalWidth", "IntervalScore", "IntervalScore(coverage=0.5)", "MASE",
]  # fmt: skip


def make_forecasts(seed: int, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.normal(0, 2, rows).round(1)
    low = label + rng.normal(-1, 1, rows)
    columns = {
        "label": label,
        "score": label + rng.normal(0, 1, rows),
        "quantile_level": rng.integers(1, 10, rows) / 10,
    }
    columns["score"][::7] = label[::7]  # equal to the label
    columns |= {
        "interval_low": low,
        "interval_high": low + rng.integers(0, 4, rows),
        "weight": rng.integers(0, 4, rows) / 2,
    }
    return columns | {"seasonal_error": rng.integers(1, 9, rows) / 4}


def reference(data: dict[str, np.ndarray]) -> dict[str, float]:
    label, score, level, low, high, weight = (
        data[name]
        for name in ("label", "score", "quantile_level", "interval_low", "interval_high", "weight")
    )
    pinball = np.maximum(level * (label - score), (level - 1) * (label - score))
    outside = np.maximum(low - label, 0) + np.maximum(label - high, 0)
    values = {
        "PinballLoss": pinball,
        "CRPS": 2 * pinball,
        "QuantileCoverage": label <= score,
        "IntervalCoverage": outside == 0,
        "IntervalWidth": high - low,
        "IntervalScore": high - low + 2 / 0.1 * outside,
        "IntervalScore(coverage=0.5)": high - low + 2 / 0.5 * outside,
        "MASE": np.abs(label - score) / data["seasonal_error"],
    }
    return {name: float(np.average(value, weights=weight)) for name, value in values.items()}


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_numpy_and_scikit_learn(seed):
    data = make_forecasts(seed, [3, 40, 200][seed])
    (row,) = sqlrank.evaluate([*QUANTILES, *INTERVALS], predictions=data).to_pylist()
    assert row == pytest.approx(reference(data), abs=1e-12)
    for found in sqlrank.evaluate("PinballLoss", predictions=data, by="quantile_level").to_pylist():
        rows = data["quantile_level"] == found["quantile_level"]
        if data["weight"][rows].sum():
            expected = mean_pinball_loss(
                data["label"][rows],
                data["score"][rows],
                sample_weight=data["weight"][rows],
                alpha=found["quantile_level"],
            )
            assert found["PinballLoss"] == pytest.approx(expected, abs=1e-12)


def test_crps_of_many_quantiles_nears_the_integral():
    """Of a uniform forecast from 0 to 1 and the label 0.3 it is the integral of (F(x) - 1(x >=
    label))^2.
    """
    levels = (np.arange(2000) + 0.5) / 2000
    data = {"label": np.full(2000, 0.3), "score": levels, "quantile_level": levels}
    expected = (
        integrate.quad(lambda x: x * x, 0, 0.3)[0]
        + integrate.quad(lambda x: (1 - x) ** 2, 0.3, 1)[0]
    )
    assert sqlrank.evaluate("CRPS", predictions=data)["CRPS"][0].as_py() == pytest.approx(
        expected, abs=1e-6
    )


def test_mase_of_a_series_by_hand():
    """Of Hyndman & Koehler: training rows 2, 4, 3, 7 change by 2, 1 and 4, 7 / 3 on average; errors
    of 1 and 2.
    """
    data = {"label": [8.0, 9.0], "score": [7.0, 11.0], "seasonal_error": [7 / 3] * 2}
    assert sqlrank.evaluate("MASE", predictions=data)["MASE"][0].as_py() == pytest.approx(
        1.5 / (7 / 3)
    )


def test_intervals_are_those_of_means():
    data = {name: values for name, values in make_forecasts(9, 100).items() if name != "weight"}
    numbered = {**data, "row": [*range(100)]}
    row = sqlrank.evaluate(
        [*QUANTILES, *INTERVALS], predictions=numbered, confidence=0.95, unit="row"
    ).to_pylist()[0]
    label, score, level = (data[name] for name in ("label", "score", "quantile_level"))
    losses = np.maximum(level * (label - score), (level - 1) * (label - score))
    assert row["PinballLoss.se"] == pytest.approx(losses.std(ddof=1) / 10, abs=1e-12)
    assert all(
        row[f"{name}.ci_low"] < row[name] < row[f"{name}.ci_high"]
        for name in [*QUANTILES, *INTERVALS]
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("metric", [*QUANTILES, "MAE"])
def test_levels_of_one_label_are_no_independent_rows(metric):
    """At 9 levels, 95 % intervals of rows cover a CRPS in 59 % of samples: a label has a row for
    each level.
    """
    rng = np.random.default_rng(3)
    levels = np.arange(1, 10) / 10
    label, score = np.repeat(rng.normal(size=40), 9), np.tile(np.round(levels * 3 - 1.5, 3), 40)
    table = {
        "label": label,
        "score": score,
        "old": score + 0.2,
        "quantile_level": np.tile(levels, 40),
        "row": np.repeat(np.arange(40), 9),
    }
    systems = {"predictions": table, "columns": {"score": ["old", "score"]}}
    calls = [
        lambda **unit: sqlrank.evaluate(metric, predictions=table, confidence=0.95, **unit),
        lambda **unit: sqlrank.compare(metric, **systems, **unit),
        *(
            [lambda **unit: sqlrank.gate(metric, **systems, tolerance=0.1, **unit)]
            if metric != "QuantileCoverage"
            else []
        ),
    ]
    for call in calls:
        with pytest.raises(
            InputError,
            match=(
                r"rows of several quantile_levels are not independent.* unit=, or ask by"
                r" quantile_level"
            ),
        ):
            call()
        table_of_units = call(unit="row")
        assert 40 in table_of_units.to_pylist()[0].values()
    assert (
        sqlrank.evaluate(metric, predictions=table, confidence=0.95, by="quantile_level").num_rows
        == 9
    )
    single = sqlrank.evaluate(
        metric, predictions=table, confidence=0.95, where="quantile_level = 0.5"
    ).to_pylist()[0]
    assert single[f"{metric}.n_units"] == 40


@pytest.mark.parametrize(
    ("metric", "column", "value", "message"),
    [
        ("PinballLoss", "quantile_level", 1.0, "quantile_level is not between 0 and 1"),
        ("CRPS", "quantile_level", None, "quantile_level is NULL"),
        ("PinballLoss", "score", float("inf"), "score is infinite"),
        ("IntervalWidth", "interval_low", 9.0, "interval_low is above interval_high"),
        ("IntervalScore", "interval_high", float("inf"), "a limit of the interval is infinite"),
        ("IntervalCoverage", "interval_high", float("nan"), "interval_high is NaN"),
        ("IntervalCoverage", "interval_low", ..., "no column 'interval_low'"),
        ("MASE", "seasonal_error", 0.0, "seasonal_error is not a number above 0"),
        ("MASE", "seasonal_error", None, "seasonal_error is "),
        ("MASE", "seasonal_error", ..., "no column 'seasonal_error'"),
    ],
)
def test_rows_that_are_no_forecasts_are_refused(metric, column, value, message):
    data = read_columns(
        label="1.0", score="2.0", quantile_level="0.5", interval_low="0.0", interval_high="3.0"
    )
    data |= {"seasonal_error": [2.0]}
    data = {name: values * 2 for name, values in data.items()}
    data |= {} if value is ... else {column: [data[column][0], value]}
    if value is ...:
        del data[column]
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.evaluate(metric, predictions=data)
