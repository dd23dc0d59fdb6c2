"""Intervals: by hand, by the formulas of SciPy, and by the change of a metric when a row is left
out.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t as student

import sqlrank
from sqlrank.inference import t_critical_polynomial, t_critical_value, t_two_sided_tail
from sqlrank.registry.loader import load_registry
from tests.interface.command_line import TREC, run_command
from tests.lanes import select_few
from tests.named_sources import name_sources, write_metric
from tests.tables import build_table, read_columns

RR = [0.50, 0.25, 1.0, 0.33, 0.00, 0.75, 0.20, 0.50, 0.10, 0.60, 0.40, 0.90]
FIRST = [0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1]
SHARE = """-- Portion: mean of the scores, which are shares.
-- Range: 0 to 1.
-- Undefined: no predictions.
SELECT group_id, SUM(weight * score) / NULLIF(SUM(weight), 0) AS portion FROM predictions GROUP BY group_id
"""
TEN = read_columns(label="1.0 1 1 1 0 0 0 0 0 0", score="0.9 0.8 0.4 0.6 0.7 0.4 0.3 0.2 0.1 0.35")
WEIGHTS = [1.0, 2, 1, 0.5, 1, 3, 1, 1, 2, 1]
CLUSTERS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
SMOOTH = [
    *(
        "LogLoss", "Brier", "BrierSkill", "NormalizedEntropy", "NormalizedLogLoss",
        "CalibrationRatio", "CalibrationSlope", "CalibrationIntercept", "BaseRate",
    ),
    *(
        "Bias", "MAE", "MAPE", "MSE", "RMSE", "sMAPE", "PoissonDeviance", "TweedieDeviance",
        "R2", "ExplainedVariance",
    ),
]  # fmt: skip
"""Metrics that are smooth functions of sums over rows."""

MATRIX_METRICS = [
    *("Accuracy", "BalancedAccuracy", "Precision", "Recall", "Specificity", "NPV"),
    *("FPR", "FNR", "FBeta", "MCC", "YoudenJ", "LogOdds"),
]
"""Metrics that are smooth functions of the sums of a relation."""


def make_scores(values: list[float]) -> pa.Table:
    return pa.table({"label": [0.0] * len(values), "score": [float(value) for value in values]})


def evaluate_interval(metric: str, values: pa.Table, **options: Any) -> tuple[Any, ...]:
    (row,) = sqlrank.evaluate(metric, predictions=values, confidence=0.95, **options).to_pylist()
    name = metric.partition("(")[0]
    return tuple(row[f"{name}{what}"] for what in ("", ".ci_low", ".ci_high", ".se", ".n_units"))


@pytest.fixture
def shares(tmp_path: Path) -> Path:
    """Return a user's folder with a metric that only declares to be a share."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "portion.sql").write_text(SHARE)
    return tmp_path


# By hand


def test_a_mean():
    """Student's interval of scipy."""
    expected = (0.4608333333, 0.2630884853, 0.6585781814, 0.0898437898, 12)
    assert evaluate_interval("Bias", make_scores(RR)) == pytest.approx(expected, abs=1e-10)
    assert evaluate_interval("Bias", make_scores(RR), interval="t") == pytest.approx(
        expected, abs=1e-10
    )


def test_a_share(shares):
    """Wilson's interval of statsmodels, with the effective number of units; a user's metric gets it
    for one line.
    """
    assert evaluate_interval("Portion", make_scores(RR), sql_dir=shares) == pytest.approx(
        (0.4608333333, 0.2822726409, 0.6500456270, 0.0898437898, 12), abs=1e-10
    )
    first = evaluate_interval("Portion", make_scores(FIRST), sql_dir=shares)
    assert first == pytest.approx(
        (0.3333333333, 0.1186969926, 0.6498848690, 0.1421338109, 12), abs=1e-10
    )
    by_t = evaluate_interval("Portion", make_scores(FIRST), sql_dir=shares, interval="t")
    assert by_t[1:3] == pytest.approx((0.0204989248, 0.6461677419), abs=1e-10)
    normal = evaluate_interval("Portion", make_scores(FIRST), sql_dir=shares, interval="normal")
    assert normal[1:3] == pytest.approx(
        (1 / 3 - 1.959963984540054 * first[3], 1 / 3 + 1.959963984540054 * first[3]), abs=1e-10
    )


def test_units_that_agree(shares):
    """Twelve successes are not certainty."""
    assert evaluate_interval("Portion", make_scores([1.0] * 12), sql_dir=shares)[
        :3
    ] == pytest.approx((1, 0.7124056556, 1), abs=1e-10)
    assert evaluate_interval("Portion", make_scores([0.0] * 12), sql_dir=shares)[
        :3
    ] == pytest.approx((0, 0, 1 - 0.7124056556), abs=1e-10)
    assert evaluate_interval("Portion", make_scores([1.0] * 12), sql_dir=shares, interval="t")[
        1:3
    ] == (None, None)
    assert evaluate_interval("Bias", make_scores([0.1] * 12))[1:3] == (None, None)


def test_limits_of_shares_stay_between_0_and_1(shares):
    """Rounding leaves no limit beyond a bound, for shares near both bounds and any number of
    units.
    """
    groups = [(size, ones) for size in range(2, 80) for ones in (0, 1, size - 1, size)]
    rows = [
        (number, float(place < ones))
        for number, (size, ones) in enumerate(groups)
        for place in range(size)
    ]
    group, score = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"group": group, "score": score, "label": [0.0] * len(rows)})
    found = sqlrank.evaluate(
        "Portion", predictions=table, by="group", confidence=0.95, sql_dir=shares
    ).to_pylist()
    assert len(found) == len(groups)
    assert all(
        0 <= row["Portion.ci_low"] <= row["Portion"] <= row["Portion.ci_high"] <= 1 for row in found
    )


def test_one_unit_and_none(shares):
    assert evaluate_interval("Portion", make_scores([0.25]), sql_dir=shares) == (
        0.25, None, None, None, 1,
    )  # fmt: skip
    assert evaluate_interval("Bias", make_scores([0.25])) == (0.25, None, None, None, 1)
    nothing = pa.table({**make_scores([0.25, 0.5]).to_pydict(), "weight": [0.0, 0.0]})
    assert evaluate_interval("Bias", nothing) == (None, None, None, None, 0)


@pytest.mark.slow
def test_metrics_of_predictions():
    """Standard errors that equal finite differences of scikit-learn's metrics, by rows, weighted,
    and by queries.
    """
    value = evaluate_interval("LogLoss", pa.table(TEN))
    assert value == pytest.approx(
        (0.4586380778, 0.2038046601, 0.7134714954, 0.1126506247, 10), abs=1e-10
    )
    expected = {
        "Brier": 0.050290890,
        "NormalizedEntropy": 0.183253955,
        "CalibrationRatio": 0.382846158,
    }
    for metric, error in expected.items():
        assert evaluate_interval(metric, pa.table(TEN))[3] == pytest.approx(error, abs=1e-9)
    weighted = evaluate_interval("LogLoss", pa.table({**TEN, "weight": WEIGHTS}))
    assert (weighted[0], weighted[3]) == pytest.approx((0.4208239467, 0.0997153428), abs=1e-10)
    by_query = pa.table({**TEN, "weight": WEIGHTS, "query_id": CLUSTERS})
    assert evaluate_interval("LogLoss", by_query)[3:] == pytest.approx((0.1272443292, 5), abs=1e-10)
    assert evaluate_interval("NormalizedEntropy", by_query)[3] == pytest.approx(
        0.303827580, abs=1e-9
    )


@pytest.mark.parametrize("score_order", ["window", "distinct", "buckets"])
@pytest.mark.parametrize("weights", [[1.0] * 8, [2.0, 1, 1, 0.5, 1, 3, 1, 1]], ids=["one", "own"])
def test_the_standard_error_of_an_area_is_that_of_delong(weights, score_order):
    """Of the variances of the shares of negatives below each positive, and of positives above each
    negative; a weight multiplies what a row adds. Of equal scores two are of both classes.
    """
    score = np.array([0.9, 0.7, 0.4, 0.8, 0.6, 0.4, 0.3, 0.2])
    above = np.sign(score[:3, None] - score[3:]) / 2 + 0.5
    positive, negative = np.array(weights[:3]), np.array(weights[3:])
    by_positive = above @ negative / negative.sum()
    by_negative = positive @ above / positive.sum()
    area = float(by_positive @ positive / positive.sum())
    variance = sum(
        n / (n - 1) * np.sum((weight / weight.sum() * (shares - area)) ** 2)
        for n, weight, shares in ((3, positive, by_positive), (5, negative, by_negative))
    )
    columns = {"label": [1] * 3 + [0] * 5, "score": score.tolist(), "weight": weights}
    (row,) = sqlrank.evaluate(
        "AUC",
        predictions=pa.table(columns),
        confidence=0.95,
        interval="normal",
        plan={"score_order": score_order},
    ).to_pylist()
    assert (row["AUC"], row["AUC.se"]) == pytest.approx((area, variance**0.5), rel=1e-9)


@pytest.mark.parametrize("label", ["1 1 1 0", "0 0 0 1"])
def test_a_class_of_one_row_has_no_variance(label):
    rows = read_columns(label=label, score="0.9 0.2 0.5 0.4")
    (row,) = sqlrank.evaluate("AUC", predictions=rows, confidence=0.9).to_pylist()
    assert [row[f"AUC.{name}"] for name in ("se", "ci_low", "ci_high")] == [None] * 3


def test_rows_that_weigh_nothing_are_no_units():
    some = pa.table({**TEN, "weight": [1.0] * 8 + [0.0] * 2})
    first = pa.table({name: values[:8] for name, values in TEN.items()})
    assert evaluate_interval("LogLoss", some) == evaluate_interval("LogLoss", first)


def test_what_overflows_is_null():
    """The squares of 1e150 are numbers, and their squares are none."""
    value, low, high, error, units = evaluate_interval("MSE", make_scores([1e150, 2e150, 4e150]))
    assert value == pytest.approx(7e300)
    assert (low, high, error, units) == (None, None, None, 3)


@pytest.mark.slow
def test_rankings():
    """Three queries of a real collection: the values of each, and scipy's quantile."""
    files = {"run": TREC / "results.test", "qrels": TREC / "qrels.rel_level"}
    (row,) = sqlrank.evaluate(["nDCG@10", "DCG@10", "num_rel"], **files, confidence=0.9).to_pylist()
    each = sqlrank.evaluate(["nDCG@10", "DCG@10"], **files, per_query=True)
    values = np.array(each["DCG@10"].to_pylist())
    error = values.std(ddof=1) / np.sqrt(3)
    reach = student.ppf(0.95, 2) * error
    assert values.mean() < reach, "the lower limit is below the range of DCG, which begins at 0"
    assert [
        row[f"DCG@10{what}"] for what in (".ci_low", ".ci_high", ".se", ".n_units")
    ] == pytest.approx([0, values.mean() + reach, error, 3], rel=1e-12)
    values = np.array(each["nDCG@10"].to_pylist())
    mean, square = values.mean(), (student.ppf(0.95, 2) * values.std(ddof=1)) ** 2 / 3
    ratio = square / (mean * (1 - mean))
    limits = [
        (mean + ratio / 2 + sign * np.sqrt(square + ratio**2 / 4)) / (1 + ratio) for sign in (-1, 1)
    ]
    assert [row["nDCG@10.ci_low"], row["nDCG@10.ci_high"]] == pytest.approx(limits, rel=1e-10)
    assert row["num_rel"] > 0
    assert [row[f"num_rel.{what}"] for what in ("ci_low", "ci_high", "se", "n_units")] == [None] * 4


@pytest.mark.slow
def test_queries_without_a_value_are_no_units(run, qrels):
    """A query without relevant documents does not count, or counts 0, as the policy says."""
    more = pa.concat_tables([qrels, build_table(query_id="q3", doc_id="a", relevance="0")])
    units = {
        policy: (
            sqlrank.evaluate("RR", run=run, qrels=more, confidence=0.95, if_undefined=policy)[
                "RR.n_units"
            ].to_pylist()
        )
        for policy in ("zero", "skip")
    }
    assert units == {"zero": [3], "skip": [2]}


def test_weighted_queries(run, qrels):
    """Values 1/2 and 1 with weights 1 and 3: each moves the mean of 7/8 by 3/32."""
    queries = build_table(query_id="q1 q2", weight="1.0 3.0")
    (row,) = sqlrank.evaluate(
        "RR", run=run, qrels=qrels, queries=queries, confidence=0.95
    ).to_pylist()
    assert (row["RR"], row["RR.se"]) == pytest.approx(
        (7 / 8, np.sqrt(2 * 2 * (3 / 32) ** 2)), rel=1e-12
    )


@pytest.mark.parametrize("interval", ["auto", "bootstrap"])
def test_a_query_that_weighs_nothing_is_no_unit(run, qrels, interval):
    """Of a weighted mean; one without weights counts it."""
    judged = pa.concat_tables([qrels, build_table(query_id="q3", doc_id="a", relevance="1")])
    metrics, held = (
        ["RR", "RR(aggregate=mean)"],
        {"run": run, "confidence": 0.95, "interval": interval},
    )
    rows = []
    for others, weights in ((qrels, [1.0, 3.0]), (judged, [1.0, 3.0, 0.0])):
        queries = pa.table(
            {"query_id": [f"q{place}" for place in range(1, len(weights) + 1)], "weight": weights}
        )
        rows += sqlrank.evaluate(metrics, qrels=others, queries=queries, **held).to_pylist()
    found = [
        [row[f"RR{name}"] for name in ("", ".ci_low", ".ci_high", ".se", ".n_units")]
        for row in rows
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert [row["RR(aggregate=mean).n_units"] for row in rows] == [2, 3]


def test_values_of_queries_of_predictions():
    """With ``level=query`` the values of queries are the units."""
    table = pa.table({**TEN, "query_id": CLUSTERS})
    value, low, high, error, units = evaluate_interval("Bias", table, level="query")
    means = np.array(
        sqlrank.evaluate("Bias", predictions=table, per_query=True)["Bias"].to_pylist()
    )
    reach = student.ppf(0.975, 4) * means.std(ddof=1) / np.sqrt(5)
    assert (value, low, high, units) == pytest.approx(
        (means.mean(), means.mean() - reach, means.mean() + reach, 5), rel=1e-10
    )
    assert error == pytest.approx(means.std(ddof=1) / np.sqrt(5), rel=1e-12)


def test_queries_that_were_mapped_are_the_units():
    """Rows of one user are not independent: their sums are, as where each user has one row."""
    table = pa.table({**TEN, "user": CLUSTERS})
    assert evaluate_interval("MSE", table, columns={"query_id": "user"})[4] == 5
    assert evaluate_interval("MSE", table)[4] == 10
    assert evaluate_interval("R2", pa.table({**TEN, "query_id": CLUSTERS}))[4] == 5


# By what each row does


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [SMOOTH, MATRIX_METRICS])
def test_standard_errors_are_finite_differences(metrics):
    """Thirty rows in two groups: a copy of the data for each row, in which it weighs a little more,
    or less.
    """
    rng = np.random.default_rng(7)
    label, score, weight = (
        rng.integers(0, 2, 30),
        rng.uniform(0.05, 0.95, 30),
        rng.uniform(0.5, 2, 30),
    )
    step = 1e-5
    rows = {"copy": [], "label": [], "score": [], "weight": []}
    for row in range(30):
        for sign in (-1, 1):
            changed = weight.copy()
            changed[row] *= 1 + sign * step
            for name, values in {
                "copy": [2 * row + (sign > 0)] * 30,
                "label": label,
                "score": score,
                "weight": changed,
            }.items():
                rows[name].extend(float(value) for value in values)
    copies = sqlrank.evaluate(metrics, predictions=pa.table(rows), by="copy")
    first = pa.table({"label": label, "score": score, "weight": weight})
    (result,) = sqlrank.evaluate(metrics, predictions=first, confidence=0.95).to_pylist()
    for metric in metrics:
        values = np.array(copies[metric].to_pylist()).reshape(30, 2)
        influence = (values[:, 1] - values[:, 0]) / (2 * step)
        assert result[f"{metric}.se"] == pytest.approx(
            np.sqrt(30 / 29 * (influence**2).sum()), rel=1e-6
        ), metric
        assert result[f"{metric}.n_units"] == 30


@pytest.mark.slow
def test_every_metric_has_an_interval_or_a_reason():
    """Exactly one of: a derivative of its expression, a relation with its influence, why there is
    none, why an interval would say nothing.
    """
    listed = (Path(sqlrank.__file__).parents[1] / "docs" / "confidence.md").read_text("utf-8")
    for file in load_registry().metrics.values():
        metric = write_metric(file)
        is_of_levels = "quantile_level" in file.path.read_text(
            "utf-8"
        )  # of which several rows are about one unit
        text = sqlrank.sql(
            metric,
            **name_sources(file),
            confidence=0.9,
            interval="t",
            unit="event" if is_of_levels else None,
        )
        has_none = bool(re.search(r"CAST\(NULL AS DOUBLE\) AS \w+_se,?$", text, re.MULTILINE))
        said = [
            fact
            for fact in ("influence", "no_influence", "no_interval")
            if getattr(file.interval, fact)
        ]
        assert len(said) <= 1, metric
        assert has_none == (said[:1] in (["no_influence"], ["no_interval"])), metric
        if said == ["influence"]:
            # rows that are units have their influence in a step of their own
            assert re.search(r"\bunit_influence AS \(|\bAS \w*influence$", text, re.MULTILINE), (
                metric
            )
        else:
            assert "(influence_values.sql)" not in text, metric
        assert said != ["no_influence"] or f"`{file.full_name}`" in listed, metric


# What is refused


# Everywhere


def test_values_of_queries_are_read_twice():
    """For their means and the influence on these: CTEs that read them again would evaluate run and
    judgments again on many engines.
    """
    text = sqlrank.sql(
        ["nDCG@10", "AP"], run="run", qrels="qrels", dialect="bigquery", confidence=0.95
    )
    assert re.findall(r"(?:FROM|JOIN) (query_metrics|group_metrics)\b", text) == [
        "query_metrics",
        "query_metrics",
        "group_metrics",
    ]


def test_the_command_shows_a_row_per_metric():
    shown = run_command(
        "evaluate", "nDCG@10", "num_q", "--run", TREC / "results.test", "--qrels",
        TREC / "qrels.rel_level", "--confidence", "0.95",
    )  # fmt: skip
    assert [line.split() for line in shown.splitlines()] == [
        ["metric", "value", "interval"],
        ["nDCG@10", "0.2656", "0.0116", "to", "0.9180"],
        ["num_q", "3", "none"],
        ["3", "queries,", "intervals", "at", "95%."],
    ]


# Quantiles


@pytest.mark.parametrize("level", select_few([0.5, 0.8, 0.9, 0.95, 0.99, 0.999], [0.95]))
def test_quantiles_are_those_of_scipy(level):
    factors = t_critical_polynomial(level)
    for freedom in [*range(3, 60), 100, 1000, 10**6]:
        value = sum(factor / freedom**power for power, factor in enumerate(factors))
        assert value == pytest.approx(student.ppf((1 + level) / 2, freedom), rel=2e-11)
    for freedom in (1, 2, 3.5, 30, 200):
        value = t_critical_value(level, freedom)
        assert value == pytest.approx(student.ppf((1 + level) / 2, freedom), rel=1e-11)
        assert t_two_sided_tail(value, freedom) == pytest.approx(1 - level, rel=1e-10)
