"""Intervals, tests and verdicts under options that few calls give, by SciPy and from papers."""

import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from tests.tables import read_columns

DIFFERENCES = np.array([0.3, -0.1, 0.25, 0.4, 0.05, -0.2, 0.35, 0.15, 0.1, 0.45])
OTHERS = np.array([0.05, 0.3, -0.25, 0.1, -0.15, 0.2, 0.4, -0.3, 0.15, 0.25])


def make_queries(**values: np.ndarray) -> pa.Table:
    """Return a value per query and system."""
    rows = [
        (system, f"q{place}", float(value))
        for system, column in values.items()
        for place, value in enumerate(column)
    ]
    return pa.table(
        dict(zip(("system", "query_id", "value"), zip(*rows, strict=True), strict=True))
    )


@pytest.mark.parametrize("interval", ["wilson", "t", "normal"])
def test_intervals_of_a_share_and_a_mean(interval):
    """Of 13 ones in 40 the effective number of trials is 39, at Student's quantile."""
    values = np.repeat([1.0, 0.0], [13, 27])
    table = pa.table({"label": values, "score": [0.5] * 40})
    (row,) = sqlrank.evaluate(
        "BaseRate", predictions=table, confidence=0.9, interval=interval
    ).to_pylist()
    mean, se = values.mean(), stats.sem(values)
    quantile = stats.norm.ppf(0.95) if interval == "normal" else stats.t.ppf(0.95, 39)
    expected = (mean - quantile * se, mean + quantile * se)
    if interval == "wilson":
        shrinkage = quantile**2 / 39
        far = math.sqrt(shrinkage * mean * (1 - mean) + shrinkage**2 / 4)
        expected = tuple((mean + shrinkage / 2 + sign * far) / (1 + shrinkage) for sign in (-1, 1))
    assert (row["BaseRate.ci_low"], row["BaseRate.ci_high"]) == pytest.approx(expected, rel=1e-9)


def test_the_greatest_t_over_all_signs():
    """Westfall & Young 1993: the share of all 1,024 signs of ten queries under which the greater of
    both t is as great; 9,999 drawn signs are near.
    """
    table = make_queries(a=np.zeros(10), b=DIFFERENCES, c=OTHERS)
    rows = sqlrank.compare(
        "Mean(value)", queries=table, baseline="a", correction="max_t", confidence=0.9
    ).to_pylist()
    signs = np.array(list(product((1, -1), repeat=10)))

    def find_t(values):
        signed = signs * values
        return np.abs(signed.mean(1)) / signed.std(1, ddof=1) * math.sqrt(10)

    each = np.array([find_t(values) for values in (DIFFERENCES, OTHERS)])
    greatest = each.max(0)
    expected = [float(np.mean(greatest >= t[0] * (1 - 1e-9))) for t in each]
    assert [row["p_adjusted"] for row in rows] == pytest.approx(expected, abs=0.012)
    reach = [(row["ci_high"] - row["difference"]) / row["se"] for row in rows]
    assert reach == pytest.approx([np.quantile(greatest, 0.9)] * 2, rel=0.03)


@pytest.mark.parametrize("interval", ["fixed", "sequential"])
def test_gates_at_the_limits_of_the_interval(interval):
    """A loss is tolerated down to the lower limit, and fails from the upper limit on."""
    old, new = np.full(30, 0.5), 0.5 - np.tile(DIFFERENCES, 3)
    mean, se = -DIFFERENCES.mean(), stats.sem(new)
    scale = 30 * (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 30
    reach = {
        "fixed": stats.t.ppf(0.975, 29),
        "sequential": math.sqrt(
            2 * (scale + 1) / scale * math.log(math.sqrt(scale + 1) / 0.05)
        ),  # Waudby-Smith et al. 2021, theorem 2.2
    }[interval]
    low, high = mean - reach * se, mean + reach * se
    assert high < 0
    options = {"interval": interval, "baseline": "old"}
    options |= {"expected_units": 30} if interval == "sequential" else {}
    for tolerance, verdict in (
        (-low + 1e-6, "pass"),
        (-low - 1e-6, "inconclusive"),
        (-high + 1e-6, "inconclusive"),
        (-high - 1e-6, "fail"),
    ):
        (row,) = sqlrank.gate(
            "Mean(value)", queries=make_queries(old=old, new=new), tolerance=tolerance, **options
        ).to_pylist()
        assert row["verdict"] == verdict, tolerance


def test_several_scores_have_the_errors_of_each():
    """Those of means by SciPy, of areas by DeLong in NumPy."""
    rng = np.random.default_rng(4)
    label = np.repeat([1.0, 0.0], [9, 14])
    scores = {name: np.round(rng.uniform(0, 0.7, 23) + 0.3 * label, 1) for name in ("a", "b")}
    rows = sqlrank.evaluate(
        ["AUC", "Brier", "Recall"],
        predictions=pa.table({"label": label, **scores}),
        columns={"score": ["a", "b"]},
        confidence=0.95,
        interval="normal",
    ).to_pylist()
    assert [row["score"] for row in rows] == ["a", "b"]
    for row in rows:
        score = scores[row["score"]]
        assert row["Brier.se"] == pytest.approx(stats.sem((score - label) ** 2), rel=1e-9)
        above = np.sign(score[:9, None] - score[9:]) / 2 + 0.5
        variance = above.mean(1).var(ddof=1) / 9 + above.mean(0).var(ddof=1) / 14
        assert row["AUC.se"] == pytest.approx(variance**0.5, rel=1e-9)
        hits = np.where(label == 1, (score >= 0.5) - np.mean(score[:9] >= 0.5), 0) / 9
        assert row["Recall.se"] == pytest.approx(math.sqrt(23 / 22 * np.sum(hits**2)), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"binning": "exact"}, (6.5 / 9, 6.5 / 9, 6.5 / 9)),
        # Scores from the 16th power of 1/2 to 1 share a bin, whose order is unknown.
        ({"binning": "grid", "n_bins": 1}, (0.5, 0, 1)),
        ({"n_bins": 2}, (0.5, 0, 1)),
        ({"binning": "grid"}, (6.5 / 9, 6.5 / 9, 6.5 / 9)),
    ],
)
def test_bins_of_a_rollup(options, expected):
    table = read_columns(label="1 0 1 0 1 0", score="0.9 0.8 0.8 0.4 0.3 0.1")
    made = sqlrank.rollup("AUC", predictions=pa.table(table), **options)
    (row,) = sqlrank.evaluate("AUC", rollup=made).to_pylist()
    found = [row[name] for name in ("AUC", "AUC.bound_low", "AUC.bound_high")]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_planned_units_heed_the_correction(correction):
    """Of three systems each interval has a third of the errors: Guenther 1981 with the normal
    quantiles of SciPy.
    """
    table = make_queries(a=np.zeros(10), b=DIFFERENCES, c=OTHERS)
    stored = sqlrank.evaluate("Mean(value)", queries=table, by="system", per_query=True)
    rows = sqlrank.power(stored, target_effect=0.1, correction=correction).to_pylist()
    deviations = [values.std(ddof=1) for values in (DIFFERENCES, OTHERS, OTHERS - DIFFERENCES)]
    critical, power = stats.norm.ppf(1 - 0.05 / 6), stats.norm.ppf(0.8)
    assert [row["required_units"] for row in rows] == [
        math.ceil(((critical + power) * deviation / 0.1) ** 2 + critical**2 / 2)
        for deviation in deviations
    ]
