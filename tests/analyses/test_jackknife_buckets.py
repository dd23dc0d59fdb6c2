"""Jackknife buckets of a rollup: leave-one-out standard errors by hand, in fractions, and from
scikit-learn.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from hashlib import md5
from math import gamma, pi, sqrt
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import sqlrank
from sqlrank.rollups import evaluate_rollup, jackknife
from tests.analyses.test_rollups import ORDERS, SUMS, draw_clicks, load_sqlite
from tests.interface.command_line import invoke_command, run_command
from tests.tables import build_table, read_columns

METRICS = ["AUC", "APS", "LogLoss", "CalibrationRatio", "num_predictions"]
T_7 = 2.3646242510
"""The quantile of Student's t for 95 % and seven degrees of freedom."""


def compute_bucket(unit: Any, buckets: int) -> int:
    """Return the bucket of a unit, as engines compute it."""
    digest = md5(f"state:{unit}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) % (2**31 - 1) % buckets


def find_unit(bucket: int, buckets: int) -> str:
    """Return a unit that is in a bucket."""
    return next(name for name in map(str, range(1000)) if compute_bucket(name, buckets) == bucket)


def compute_jackknife_variance(values: Sequence[Any]) -> Any:
    """Return the square of the standard error that values without one bucket at a time say."""
    mean = sum(values) / len(values)
    return (len(values) - 1) * sum((value - mean) ** 2 for value in values) / len(values)


def make_predictions(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Return predictions from rows of a unit, a label, a score and a weight."""
    return pa.table(
        dict(
            zip(
                ("viewer", "label", "score", "weight"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )


@cache
def make_rollup(binning: str = "exact") -> pa.Table:
    """Return a rollup of weighted predictions of five days and two campaigns, in eight buckets of
    the viewers.
    """
    return sqlrank.rollup(
        METRICS,
        predictions=draw_clicks(),
        by=["day", "campaign"],
        unit="viewer",
        n_buckets=8,
        binning=binning,
    )


def test_four_buckets_by_hand():
    """Without each in turn 5, 4, 6 and 3 of 15 are positive."""
    rows = []
    for bucket, (positives, negatives) in enumerate([(1, 4), (2, 3), (0, 5), (3, 2)]):
        rows += [
            (find_unit(bucket, 4), label, 0.5, 1.0) for label in [1] * positives + [0] * negatives
        ]
    made = sqlrank.rollup(
        "BaseRate", predictions=make_predictions(rows), unit="viewer", n_buckets=4
    )
    assert made["bucket"].to_pylist() == [0, 1, 2, 3]
    assert made.schema.field("bucket").type == pa.int64()
    (row,) = sqlrank.evaluate("BaseRate", rollup=made, confidence=0.95).to_pylist()
    assert row == {
        "BaseRate": pytest.approx(0.3, abs=1e-15),
        "BaseRate.ci_low": 0.0,
        "BaseRate.ci_high": pytest.approx(0.3 + 3.1824463053 * 0.1290994449, abs=1e-9),
        "BaseRate.se": pytest.approx(0.1290994449, abs=1e-10),
        "BaseRate.n_buckets": 4,
        "num_rows": 20,
    }


def test_a_bucket_that_weighs_nothing_is_no_unit():
    """Four viewers of whom one weighs nothing say what the other three do; of a group that weighs
    nothing nothing is known.
    """
    viewers = [find_unit(bucket, 4) for bucket in range(4)]
    rows = read_columns(
        campaign=["a"] * 8 + ["b"] * 2,
        viewer=[*viewers, *viewers, *viewers[:2]],
        label="1 0 1 0 0 1 0 1 1 0",
        score="0.5 0.25 0.75 0.5 0.25 0.5 0.5 0.75 0.5 0.5",
        weight="1.0 2.0 3.0 0.0 2.0 1.0 1.0 0.0 0.0 0.0",
    )
    metrics = ["AUC", "LogLoss"]
    options = {"by": "campaign", "unit": "viewer", "n_buckets": 4}
    found, without = (
        sqlrank.evaluate(
            metrics,
            rollup=sqlrank.rollup(metrics, predictions=each, **options),
            by="campaign",
            confidence=0.95,
        ).to_pylist()
        for each in (
            pa.table(rows),
            pa.table(rows).filter([weight > 0 for weight in rows["weight"]]),
        )
    )
    assert found[0] | {"num_rows": 6} == without[0]
    assert (found[0]["AUC.n_buckets"], found[0]["LogLoss.n_buckets"]) == (3, 3)
    assert found[0]["LogLoss.se"] > 0
    assert {
        name: found[1][name] for name in found[1] if name.endswith((".n_buckets", ".se"))
    } == dict.fromkeys(("AUC.se", "AUC.n_buckets", "LogLoss.se", "LogLoss.n_buckets"))


def test_a_bucket_without_values_is_no_unit_of_a_mean_over_lists():
    """The query of one of the three buckets has no relevant document, and under if_undefined=skip
    no value.
    """
    queries = [find_unit(bucket, 4) for bucket in range(3)]
    run = build_table(
        query_id=queries * 2, doc_id=["x"] * 3 + ["y"] * 3, score="2.0 1.0 1.0 1.0 2.0 2.0"
    )
    qrels = build_table(query_id=queries, doc_id="x x x", relevance="1 1 0")
    made = sqlrank.rollup(
        ["RR", "num_q"], run=run, qrels=qrels, unit="query_id", n_buckets=4, if_undefined="skip"
    )
    (row,) = sqlrank.evaluate("RR", rollup=made, confidence=0.95, if_undefined="skip").to_pylist()
    assert (row["RR"], row["RR.se"], row["RR.n_buckets"], row["num_rows"]) == (
        0.75,
        pytest.approx(0.25),
        2,
        3,
    )


def test_in_fractions():
    """Weights and scores are fractions, and so are the Brier score and the area under the curve
    without each bucket.
    """
    rng = np.random.default_rng(3)
    rows = [
        (
            str(rng.integers(40)),
            int(rng.integers(2)),
            Fraction(int(rng.integers(8)), 8),
            Fraction(int(rng.integers(1, 9)), 4),
        )
        for _ in range(60)
    ]
    written = [(unit, label, float(score), float(weight)) for unit, label, score, weight in rows]
    made = sqlrank.rollup(
        ["AUC", "Brier"],
        predictions=make_predictions(written),
        unit="viewer",
        n_buckets=5,
        binning="exact",
    )
    (found,) = sqlrank.evaluate(["AUC", "Brier"], rollup=made, confidence=0.9).to_pylist()
    parts = [[row for row in rows if compute_bucket(row[0], 5) != bucket] for bucket in range(5)]
    for name, metric in (("AUC", _compute_auc), ("Brier", _compute_brier)):
        assert found[name] == pytest.approx(float(metric(rows)), abs=1e-13)
        assert found[f"{name}.se"] == pytest.approx(
            float(compute_jackknife_variance([metric(part) for part in parts])) ** 0.5, rel=1e-11
        )
        assert found[f"{name}.n_buckets"] == 5


def _compute_auc(rows: Sequence[tuple[Any, ...]]) -> Fraction:
    pairs = [
        (one[2] - other[2], one[3] * other[3])
        for one in rows
        for other in rows
        if one[1] > other[1]
    ]
    return sum(
        (weight * (Fraction(1, 2) if not apart else int(apart > 0)) for apart, weight in pairs), Fraction(0)
    ) / sum((weight for _, weight in pairs), Fraction(0))  # fmt: skip


def _compute_brier(rows: Sequence[tuple[Any, ...]]) -> Fraction:
    return sum((row[3] * (row[2] - row[1]) ** 2 for row in rows), Fraction(0)) / sum(
        (row[3] for row in rows), Fraction(0)
    )


TOOLS = {
    "AUC": lambda label, score, weight: roc_auc_score(label, score, sample_weight=weight),
    "APS": lambda label, score, weight: average_precision_score(label, score, sample_weight=weight),
    "LogLoss": lambda label, score, weight: log_loss(label, score, sample_weight=weight),
    "CalibrationRatio": lambda label, score, weight: np.dot(score, weight) / np.dot(label, weight),
}


def evaluate_without_buckets(
    where: np.ndarray[Any, Any], buckets: int = 8
) -> dict[str, list[float]]:
    """Return the metrics of the predictions of some rows without one bucket at a time, as
    scikit-learn computes them.
    """
    table = draw_clicks()
    own = np.array([compute_bucket(unit, buckets) for unit in table["viewer"].to_pylist()])
    columns = [table[name].to_numpy() for name in ("label", "score", "weight")]
    parts = [[column[where & (own != bucket)] for column in columns] for bucket in range(buckets)]
    return {name: [tool(*part) for part in parts] for name, tool in TOOLS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("campaign", ["a", None])
def test_agreement_with_scikit_learn(campaign):
    """Three days of a campaign, one of which is NULL."""
    table = draw_clicks()
    where = np.array(
        [
            row["campaign"] == campaign and row["day"] <= 3
            for row in table.select(["campaign", "day"]).to_pylist()
        ]
    )
    found = sqlrank.evaluate(
        METRICS, rollup=make_rollup(), by="campaign", where="day <= 3", confidence=0.95
    ).to_pylist()
    (row,) = (row for row in found if row["campaign"] == campaign)
    for name, values in evaluate_without_buckets(where).items():
        error = compute_jackknife_variance(values) ** 0.5
        assert row[f"{name}.se"] == pytest.approx(error, rel=1e-9), name
        assert row[f"{name}.n_buckets"] == 8
        assert (row[f"{name}.ci_low"], row[f"{name}.ci_high"]) == pytest.approx(
            (row[name] - T_7 * error, row[name] + T_7 * error), abs=1e-9
        )
    assert {
        row[f"num_predictions.{limit}"] for limit in ("ci_low", "ci_high", "se", "n_buckets")
    } == {None}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"n_bins": 64}, {}, {"binning": "exact"}])
def test_values_are_those_without_buckets(options):
    every = [*SUMS, *ORDERS]
    given = {"predictions": draw_clicks(), "by": ["day", "campaign"], **options}
    one, other = (
        sqlrank.rollup(every, **given),
        sqlrank.rollup(every, **given, unit="viewer", n_buckets=3),
    )
    assert other.num_rows > one.num_rows
    asked = {"by": "campaign", "where": "day < 4"}
    plain = sqlrank.evaluate(every, rollup=one, **asked).to_pylist()
    found = sqlrank.evaluate(every, rollup=other, confidence=0.9, **asked).to_pylist()
    for row, expected in zip(found, plain, strict=True):
        assert {name: row[name] for name in expected} == pytest.approx(
            expected, rel=1e-12, abs=1e-12
        )


@pytest.mark.slow
def test_windows_have_their_intervals():
    """They are those of a call for the days of each."""
    asked = {
        "metrics": ["AUC", "LogLoss"],
        "rollup": make_rollup("grid"),
        "by": "campaign",
        "confidence": 0.8,
    }
    found = sqlrank.evaluate(**asked, window_days=2, window_ends="day IN (2, 5)").to_pylist()
    assert len(found) == 4
    for row in found:
        window = sqlrank.evaluate(
            **asked, where=f"day BETWEEN {row['day'] - 1} AND {row['day']}"
        ).to_pylist()
        (expected,) = (each for each in window if each["campaign"] == row["campaign"])
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_few_are_in_memory_at_once(monkeypatch):
    asked = {
        "metrics": ["AUC", "LogLoss"],
        "rollup": make_rollup("grid"),
        "by": "campaign",
        "window_days": 2,
        "window_ends": "day > 3",
        "confidence": 0.8,
    }
    expected = sqlrank.evaluate(**asked).to_pylist()
    monkeypatch.setattr(evaluate_rollup, "MAX_BINS_PER_CHUNK", 1)
    monkeypatch.setattr(jackknife, "MAX_BINS_PER_EVALUATION", 1)
    found = sqlrank.evaluate(**asked).to_pylist()
    assert len(found) == 4
    assert found == [pytest.approx(row, rel=1e-9) for row in expected]


def test_extremes_and_counts_of_the_other_buckets(tmp_path):
    """A metric of one's own: whatever merges is made of the buckets that are left."""
    own = tmp_path / "metrics" / "spread.sql"
    own.parent.mkdir()
    own.write_text("-- Spread: range of scores over their mean.\nSELECT\n  group_id,\n  (MAX(score) - MIN(score)) / NULLIF(AVG(score), 0) AS spread\n"
                   "FROM predictions\nGROUP BY group_id\n")  # fmt: skip
    rows = [
        (find_unit(bucket, 3), 1, score, 1.0)
        for bucket, scores in enumerate([(0.25, 0.5), (1.0,), (0.75, 0.5, 0.125)])
        for score in scores
    ]
    made = sqlrank.rollup(
        "Spread", predictions=make_predictions(rows), unit="viewer", n_buckets=3, sql_dir=tmp_path
    )
    (row,) = sqlrank.evaluate("Spread", rollup=made, confidence=0.9, sql_dir=tmp_path).to_pylist()
    without = [0.875 / (2.375 / 4), 0.625 / (2.125 / 5), 0.75 / (1.75 / 3)]
    assert (row["Spread"], row["Spread.se"]) == pytest.approx(
        (0.875 / (3.125 / 6), compute_jackknife_variance(without) ** 0.5), abs=1e-14
    )


@pytest.mark.slow
def test_what_has_no_interval():
    """One bucket alone, positives that are all in one of two, and buckets that do not differ."""
    first, second = find_unit(0, 2), find_unit(1, 2)
    cases = {
        "one": [(first, 1, 0.75, 1.0), (first, 0, 0.25, 1.0)],
        "all": [(first, 1, 0.75, 1.0), (first, 0, 0.25, 1.0), (second, 0, 0.5, 1.0)],
        "same": [
            (unit, label, 0.25 + label / 2, 1.0) for unit in (first, second) for label in (0, 1)
        ],
    }
    found = {}
    for name, rows in cases.items():
        made = sqlrank.rollup(
            "AUC", predictions=make_predictions(rows), unit="viewer", n_buckets=2, binning="exact"
        )
        (row,) = sqlrank.evaluate("AUC", rollup=made, confidence=0.95).to_pylist()
        found[name] = tuple(
            row[each] for each in ("AUC", "AUC.se", "AUC.n_buckets", "AUC.ci_low", "AUC.ci_high")
        )
    assert found == {
        "one": (1, None, 1, None, None),
        "all": (1, None, 2, None, None),
        "same": (1, 0, 2, None, None),
    }


@pytest.mark.slow
def test_a_bucket_that_was_taken_away_is_none():
    """A bucket whose rows are all retracted has no rows and is not counted."""
    rows = [
        (find_unit(bucket, 4), label, 0.25 + label / 2 - bucket / 8, 1.0)
        for bucket in range(4)
        for label in (0, 1)
    ]
    given = {"metrics": ["AUC", "MAE"], "unit": "viewer", "n_buckets": 4, "binning": "exact"}
    made = sqlrank.rollup(**given, predictions=make_predictions(rows), batch="first")
    back = sqlrank.rollup(
        **given,
        predictions=make_predictions(rows),
        batch="back",
        retract=True,
        batch_where=f"viewer = '{find_unit(3, 4)}'",
    )
    both = pa.concat_tables([made, back])
    found = sqlrank.evaluate(["AUC", "MAE"], rollup=both, confidence=0.9).to_pylist()
    three = sqlrank.rollup(**given, predictions=make_predictions(rows[:6]))
    assert found == [
        pytest.approx(row, abs=1e-14)
        for row in sqlrank.evaluate(["AUC", "MAE"], rollup=three, confidence=0.9).to_pylist()
    ]
    assert found[0]["AUC.n_buckets"] == 3
    auc, _ = sqlrank.compare(["AUC", "MAE"], rollups={"all": made, "left": both}).to_pylist()
    assert (auc["value"], auc["n_buckets"]) == (found[0]["AUC"], 4)


@pytest.mark.slow
def test_another_engine_makes_and_adds_them_up():
    there = load_sqlite(draw_clicks())
    given = {
        "by": ["day", "campaign"],
        "unit": "viewer",
        "n_buckets": 8,
        "columns": {"weight": "weight"},
    }
    made = sqlrank.rollup(METRICS, predictions="s", connection=there, dialect="sqlite", **given)
    here = sqlrank.rollup(METRICS, predictions=draw_clicks(), **given)
    assert made.schema.field("bucket").type == pa.int64()
    assert made.to_pylist() == [pytest.approx(row, rel=1e-12) for row in here.to_pylist()]
    asked = {"by": "campaign", "confidence": 0.95}
    found = sqlrank.evaluate(
        METRICS, rollup="s", connection=load_sqlite(here), dialect="sqlite", **asked
    ).to_pylist()
    assert found == [
        pytest.approx(row, abs=1e-12)
        for row in sqlrank.evaluate(METRICS, rollup=here, **asked).to_pylist()
    ]


# The difference of two times


def test_drift_leaves_a_bucket_out_of_both_times():
    asked = {
        "rollup": make_rollup(),
        "reference": "day < 4",
        "current": "day >= 4",
        "confidence": 0.95,
    }
    result = sqlrank.drift(METRICS, **asked)
    assert result.column_names[4:11] == [
        "bound_low", "bound_high", "ci_low", "ci_high", "se", "n_buckets", "p_value",
    ]  # fmt: skip
    day = draw_clicks()["day"].to_numpy()
    then, now = evaluate_without_buckets(day < 4), evaluate_without_buckets(day >= 4)
    rows = {row["metric"]: row for row in result.to_pylist()}
    for name in TOOLS:
        row, apart = rows[name], np.subtract(now[name], then[name])
        error = compute_jackknife_variance(list(apart)) ** 0.5
        assert row["se"] == pytest.approx(error, rel=1e-9)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            (row["difference"] - T_7 * error, row["difference"] + T_7 * error), abs=1e-9
        )
        assert row["n_buckets"] == 8
    assert rows["AUC"]["p_value"] == pytest.approx(
        _integrate_t_tail(rows["AUC"]["difference"] / rows["AUC"]["se"], 7), abs=1e-6
    )
    for name in ("PSI", "num_predictions"):
        assert {
            rows[name][each] for each in ("ci_low", "ci_high", "se", "n_buckets", "p_value")
        } == {None}
    plain = sqlrank.drift(METRICS, **{**asked, "confidence": None}).to_pylist()
    without_intervals = result.select(plain[0].keys()).to_pylist()
    # Threads add the terms of PSI in an order of their own
    assert plain == [pytest.approx(row, rel=1e-12) for row in without_intervals]


def _integrate_t_tail(value: float, freedom: int) -> float:
    """Return the probability of a t variable farther from 0 than a value, by the trapezoid rule."""
    at = np.linspace(abs(value), 200, 2_000_001)
    density = (1 + at**2 / freedom) ** (-(freedom + 1) / 2)

    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2))
    return float(2 * scale * np.sum((density[1:] + density[:-1]) / 2) * (at[1] - at[0]))


@pytest.mark.slow
def test_verdicts_by_intervals():
    """Judge metrics by confidence intervals, and counts, which have none, by their bounds."""
    asked = {
        "rollup": make_rollup(),
        "reference": "day < 4",
        "current": "day >= 4",
        "tolerance": {"LogLoss": 0.4, "num_predictions": 10},
    }
    certain, sure = (
        {
            row["metric"]: (row["verdict"], row["reason"])
            for row in sqlrank.drift(["LogLoss", "num_predictions"], **asked, **more).to_pylist()
        }
        for more in ({}, {"confidence": 0.95})
    )
    assert certain["LogLoss"] == ("pass", "within the tolerance")
    assert sure["LogLoss"] == ("inconclusive", "the interval extends beyond the tolerance")
    assert (
        sure["num_predictions"]
        == certain["num_predictions"]
        == ("fail", "moved by more than the tolerance")
    )
    one = {
        **asked,
        "rollup": make_rollup().filter(pa.compute.equal(make_rollup()["bucket"], 3)),
        "confidence": 0.95,
        "tolerance": 0.1,
    }
    rows = {row["metric"]: row["reason"] for row in sqlrank.drift("LogLoss", **one).to_pylist()}
    assert rows["LogLoss"] == "too few buckets, or no variance among them"


# The command, and what is refused


@pytest.mark.slow
def test_the_command(tmp_path):
    path, rollup = tmp_path / "clicks.parquet", tmp_path / "rollup.parquet"
    pq.write_table(draw_clicks(), path)
    options = (
        "rollup", "AUC", "LogLoss", "--predictions", path, "--by", "day", "--unit", "viewer",
        "--n-buckets", 8,
    )  # fmt: skip
    run_command(*options, "-o", rollup)
    assert pq.read_table(rollup).column_names[:3] == ["day", "bucket", "bin"]
    shown = run_command(f"evaluate AUC LogLoss --rollup {rollup} --confidence 0.95")
    assert shown.splitlines()[0].split() == [
        "metric", "value", "bound_low", "bound_high", "ci_low", "ci_high", "n_buckets",
        "num_days", "num_rows",
    ]  # fmt: skip
    drift = (
        "drift", "AUC", "--rollup", rollup, "--reference", "day < 4", "--current", "day >= 4",
        "--confidence", 0.95,
    )  # fmt: skip
    summary = tmp_path / "summary.md"
    assert invoke_command(*drift, "--tolerance", "AUC=0.001", "--summary", summary).exit_code == 3
    assert "| metric | reference | current | difference | interval | verdict |" in (
        summary.read_text("utf-8")
    )
    text = run_command(
        *options[:4],
        "clicks",
        *options[5:],
        "--sql",
        "--dialect",
        "snowflake",
        "--insert",
        "ads.daily_rollup",
    )
    assert "MD5('state:' || CAST(unit_id AS VARCHAR))" in text
    model = sqlrank.rollup_model(
        "AUC", "ads", predictions="clicks", by="day", begin="2026-01-01", unit="viewer"
    )
    assert "% 2147483647 % 32 AS bucket" in model.sql
    (unique,) = model.schema["models"][0]["data_tests"]
    assert "CAST(bucket AS TEXT)" in unique["unique"]["column_name"]


def test_units_that_nobody_checked():
    """A printed statement takes a unit of NULL as it comes; its rows are in no bucket."""
    duck = duckdb.connect()
    duck.register("clicks", draw_clicks())
    text = sqlrank.rollup_sql(
        ["AUC", "LogLoss"], predictions="clicks", unit="campaign", n_buckets=2
    )
    made = duck.sql(text).to_arrow_table()
    with pytest.raises(
        sqlrank.InputError,
        match=(
            r"^rollup: bucket is NULL in some rows of Table, .* Leave them out by where='bucket IS"
            r" NOT NULL'"
        ),
    ):
        sqlrank.evaluate("LogLoss", rollup=made, confidence=0.95)
    assert sqlrank.evaluate("LogLoss", rollup=made)["num_rows"].to_pylist() == [1500]
