"""Bootstrap intervals: golden numbers, draws repeated in plain Python, and invariances."""

import math
from hashlib import md5
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score
from typer.testing import CliRunner

import sqlrank
from tests.interface.command_line import app
from tests.tables import build_table

RR = [0.50, 0.25, 1.0, 0.33, 0.00, 0.75, 0.20, 0.50, 0.10, 0.60, 0.40, 0.90]
BOUNDS = [int(2147483647 * stats.poisson.cdf(k, 1)) for k in range(12)]


def count_draws(unit: Any, replicate: int, seed: int = 0) -> int:
    """Return the number of draws of a unit, by the definition: 2^31 - 1 times Poisson's
    distribution function are the limits.
    """
    digest = md5(f"{seed}:{unit}".encode(), usedforsecurity=False).hexdigest()
    start, step = (int(digest[place : place + 8], 16) % 2147483647 for place in (0, 8))
    draw = (start + replicate * step) % 2147483647
    return sum(draw >= bound for bound in BOUNDS)


def make_errors(values: list[float]) -> pa.Table:
    """Return rows of one query each, whose absolute errors are the values."""
    return pa.table(
        {
            "query_id": [f"q{i}" for i, _ in enumerate(values, start=1)],
            "label": [1.0] * len(values),
            "score": [1 - v for v in values],
        }
    )


def test_golden_number():
    (row,) = sqlrank.evaluate(
        "MAE", predictions=make_errors(RR), level="query", confidence=0.95, interval="bootstrap"
    ).to_pylist()
    assert (row["MAE.ci_low"], row["MAE.ci_high"]) == (
        pytest.approx(0.2888888889, abs=1e-10),
        pytest.approx(0.6446153846, abs=1e-10),
    )
    assert (row["MAE"], row["MAE.n_units"]) == (pytest.approx(np.mean(RR)), 12)


@pytest.mark.parametrize(
    ("confidence", "replicates", "seed"), [(0.95, 199, 0), (0.9, 99, 3), (0.99, 499, 1)]
)
def test_means_by_the_definition(confidence, replicates, seed):
    """The limits are replicates themselves, of rankings as of values of queries, with weights
    too.
    """
    run = {f"q{i}": {f"d{j}": -float(j) for j in range(9)} for i in range(15)}
    qrels = {f"q{i}": {f"d{i * i % 9}": 1} for i in range(15)}
    weight = [1 + i % 3 / 2 for i in range(15)]
    topics = pa.table({"query_id": list(run), "weight": weight})
    (row,) = sqlrank.evaluate(
        "RR",
        run=run,
        qrels=qrels,
        queries=topics,
        confidence=confidence,
        interval="bootstrap",
        replicates=replicates,
        seed=seed,
    ).to_pylist()
    ranks = np.array([1 / (1 + i * i % 9) for i in range(15)])
    means = []
    for replicate in range(1, replicates + 1):
        drawn = np.array(
            [count_draws(query, replicate, seed) * w for query, w in zip(run, weight, strict=True)]
        )
        means.append((drawn * ranks).sum() / drawn.sum())
    place = math.floor((replicates + 1) * (1 - confidence) / 2 + 1e-9)
    assert row["RR"] == pytest.approx(np.average(ranks, weights=weight))
    assert row["RR.ci_low"] == pytest.approx(sorted(means)[place - 1], rel=1e-12)
    assert row["RR.ci_high"] == pytest.approx(sorted(means)[replicates - place], rel=1e-12)
    assert row["RR.se"] == pytest.approx(np.std(means, ddof=1), rel=1e-9)


@pytest.mark.slow
def test_means_without_the_weights_of_queries():
    """``aggregate=mean`` beside a weighted mean, and alone, is the mean that it is without
    weights.
    """
    run = build_table(query_id="a a b c", doc_id="y x x y", score="2.0 1.0 1.0 1.0")
    qrels = build_table(query_id="a b c", doc_id="x x x", relevance="1 1 1")
    queries = build_table(query_id="a b c", weight="1.0 2.0 5.0")
    asked = {"run": run, "qrels": qrels, "confidence": 0.95, "interval": "bootstrap"}
    (plain,) = sqlrank.evaluate("RR", **asked).to_pylist()
    assert plain["RR"] == pytest.approx(0.5)
    for metrics in (["RR(aggregate=mean)"], ["RR", "RR(aggregate=mean)"]):
        (row,) = sqlrank.evaluate(metrics, queries=queries, **asked).to_pylist()
        assert {
            name: row[name.replace("RR", "RR(aggregate=mean)")] for name in plain
        } == pytest.approx(plain, rel=1e-12)


def test_rows_by_the_definition():
    """A metric of all rows is evaluated in every replicate, its rows weighing as often as their
    user was drawn.
    """
    rng = np.random.default_rng(4)
    label, score = rng.integers(0, 2, 120), np.round(rng.random(120), 2)
    weight, user = rng.uniform(0.5, 2, 120), rng.integers(0, 25, 120)
    data = pa.table({"label": label, "score": score, "weight": weight, "user": user})
    (row,) = sqlrank.evaluate(
        ["AUC", "KS", "APS"],
        predictions=data,
        unit="user",
        confidence=0.9,
        interval="bootstrap",
        replicates=99,
    ).to_pylist()
    areas, precisions = [], []
    for replicate in range(1, 100):
        drawn = weight * np.array([count_draws(unit, replicate) for unit in user])
        there = drawn > 0
        areas.append(roc_auc_score(label[there], score[there], sample_weight=drawn[there]))
        precisions.append(
            average_precision_score(label[there], score[there], sample_weight=drawn[there])
        )
    for name, values, value in (
        ("AUC", areas, roc_auc_score(label, score, sample_weight=weight)),
        ("APS", precisions, average_precision_score(label, score, sample_weight=weight)),
    ):
        se, centre = np.std(values, ddof=1), 2 * value - np.mean(values)
        few = min(len({*user[label == side]}) for side in (0, 1))  # users of the smaller class
        far = stats.t.ppf(0.95, few - 1) * se
        assert row[name] == pytest.approx(value, rel=1e-12)
        assert (row[f"{name}.se"], row[f"{name}.n_units"]) == (
            pytest.approx(se, rel=1e-9),
            len(set(user)),
        )
        assert (row[f"{name}.ci_low"], row[f"{name}.ci_high"]) == (
            pytest.approx(centre - far, rel=1e-8),
            pytest.approx(centre + far, rel=1e-8),
        )
    assert (row["KS.ci_low"], row["KS.se"] > 0) == (None, True), "fewer than 50 users of each class"


@pytest.mark.slow
def test_groups_are_resampled_by_themselves():
    """A group has the limits that it has alone, whatever the order of rows; NULL is a group."""
    rng = np.random.default_rng(5)
    data = pa.table(
        {
            "label": rng.integers(0, 2, 90),
            "score": rng.random(90),
            "id": range(90),
            "day": [None if i % 3 == 2 else i % 3 for i in range(90)],
        }
    )
    call = {"unit": "id", "confidence": 0.9, "interval": "bootstrap", "replicates": 99}
    found = sqlrank.evaluate(
        ["APS", "Observations"],
        predictions=data.take(pa.array(rng.permutation(90))),
        by="day",
        **call,
    ).to_pylist()
    assert [row["day"] for row in found] == [None, 0, 1]
    for row in found:
        where = "day IS NULL" if row["day"] is None else f"day = {row['day']}"
        (alone,) = sqlrank.evaluate(
            ["APS", "Observations"], predictions=data, where=where, **call
        ).to_pylist()
        assert {name: pytest.approx(value, rel=1e-12) for name, value in alone.items()} == {
            name: row[name] for name in alone
        }
        assert (row["Observations"], row["Observations.ci_low"], row["Observations.n_units"]) == (
            30,
            None,
            None,
        )


def test_limits_of_shares():
    """The value less its bias and the limits around it may leave 0 to 1, a share does not."""
    data = pa.table(
        {"label": [0, 1] * 60, "score": [i * 7 % 11 / 11 for i in range(120)], "id": range(120)}
    )
    (row,) = sqlrank.evaluate(
        "KS", predictions=data, unit="id", confidence=0.99, interval="bootstrap", replicates=199
    ).to_pylist()
    assert row["KS"] - 3 * row["KS.se"] < 0 == row["KS.ci_low"]
    assert row["KS.ci_low"] < row["KS.ci_high"] < 1


def test_units_that_are_all_equal():
    """The spread of other units is unknown, as in Student's interval: no limits, instead of a width
    of 0.
    """
    names = ("MAE", "MAE.ci_low", "MAE.ci_high", "MAE.se", "MAE.n_units")
    for values in ([0.5], [0.25] * 12, [0.1] * 7):
        (row,) = sqlrank.evaluate(
            "MAE",
            predictions=make_errors(values),
            level="query",
            confidence=0.95,
            interval="bootstrap",
        ).to_pylist()
        assert tuple(row[name] for name in names) == (
            pytest.approx(values[0]), None, None, pytest.approx(0, abs=1e-14), len(values),
        )  # fmt: skip
    separated = pa.table({"label": [0, 1] * 20, "score": [0.2, 0.8] * 20, "id": range(40)})
    (row,) = sqlrank.evaluate(
        ["AUC", "KS", "PRAUC", "MCC", "LogLoss"],
        predictions=separated,
        unit="id",
        confidence=0.95,
        interval="bootstrap",
        replicates=99,
    ).to_pylist()
    assert [
        row[f"{metric}.{limit}"]
        for metric in ("AUC", "KS", "PRAUC", "MCC", "LogLoss")
        for limit in ("ci_low", "ci_high")
    ] == [None] * 10
    assert (row["KS"], row["KS.se"]) == (1, 0)


def test_what_has_no_value():
    one_class = build_table(label="1 1", score="0.1 0.2", id="1 2")
    (row,) = sqlrank.evaluate(
        "AUC", predictions=one_class, unit="id", confidence=0.95, interval="bootstrap"
    ).to_pylist()
    assert row == {
        "AUC": None,
        "AUC.ci_low": None,
        "AUC.ci_high": None,
        "AUC.se": None,
        "AUC.n_units": 2,
    }


def test_nothing_is_drawn_for_counts_alone():
    (row,) = sqlrank.evaluate(
        ["Positives", "ECE"], predictions=make_errors([0.5]), confidence=0.95, interval="bootstrap"
    ).to_pylist()
    assert (row["Positives"], row["ECE"]) == (1, 0.5)
    assert [row[f"Positives.{name}"] for name in ("ci_low", "ci_high", "se", "n_units")] == [
        None
    ] * 4


@pytest.mark.slow
def test_the_command(tmp_path):
    (tmp_path / "p.csv").write_text("id,label,score\n1,0,0.1\n2,1,0.7\n3,0,0.4\n4,1,0.3\n5,1,0.9\n")
    options = [
        "--predictions", str(tmp_path / "p.csv"), "--confidence", "0.9", "--interval",
        "bootstrap", "--unit", "id", "--replicates", "99", "--seed", "2",
    ]  # fmt: skip
    shown = CliRunner().invoke(app, ["evaluate", "KS", *options, "--format", "json"])
    assert shown.exit_code == 0, shown.output
    assert '"KS.n_units": 5' in shown.stdout
    printed = CliRunner().invoke(
        app, ["sql", "KS", "--predictions", "shop.clicks", *options[2:], "--dialect", "bigquery"]
    )
    assert printed.exit_code == 0, printed.output
    assert "'2:' ||" in printed.stdout


@pytest.mark.parametrize(
    "metrics", [["num_lists"], ["num_shown", "ExposureGini@2"], ["Personalization@2"]]
)
def test_metrics_of_all_lists_have_no_interval(metrics):
    run = build_table(query_id="a a b", doc_id="x y x", score="1.0 2.0 3.0")
    items = build_table(doc_id="x y z")
    (found,) = sqlrank.evaluate(
        metrics, run=run, inputs={"items": items}, confidence=0.95, interval="bootstrap"
    ).to_pylist()
    assert [found[metric] for metric in metrics] == [
        sqlrank.evaluate(metric, run=run, inputs={"items": items})[metric][0].as_py()
        for metric in metrics
    ]
    assert {
        found[f"{metric}.{column}"]
        for metric in metrics
        for column in ("ci_low", "ci_high", "se", "n_units")
    } == {None}
