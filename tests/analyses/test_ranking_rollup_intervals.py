"""Intervals of means over queries from rollups of rankings, by hand and compared with those from
per-query values.
"""

import math
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from tests.analyses.test_jackknife_buckets import compute_bucket, compute_jackknife_variance
from tests.analyses.test_ranking_rollups import FEW, draw_lists
from tests.analyses.test_rollups import load_sqlite
from tests.lanes import select_few
from tests.tables import build_table

LIMITS = ("ci_low", "ci_high", "se", "n_buckets")
WEIGHTED = ["AP", "AP(if_undefined=skip)", "nDCG(aggregate=wmean)@5", "RR(aggregate=mean)"]


def test_a_weighted_mean_by_hand():
    """Values 1, 0.5 and 0 of weights 1, 2 and 1: a mean of 0.5; each moves it by 0.125, 0 and
    -0.125.
    """
    run = [("a", "x", 1.0), ("b", "y", 2.0), ("b", "x", 1.0), ("c", "y", 1.0)]
    rows = dict(
        zip(("query_id", "doc_id", "score"), map(list, zip(*run, strict=True)), strict=True)
    )
    qrels = build_table(query_id="a b c", doc_id="x x x", relevance="1 1 1")
    queries = build_table(query_id="a b c", weight="1 2 1", day="1 1 2")
    rollup = sqlrank.rollup("RR", run=pa.table(rows), qrels=qrels, queries=queries, by="day")
    (row,) = sqlrank.evaluate("RR", rollup=rollup, confidence=0.95).to_pylist()
    error = math.sqrt(3 / 2 * (0.25**2 * 0.5**2 + 0 + 0.25**2 * 0.5**2))
    reach = float(stats.t.ppf(0.975, 2)) * error
    assert [row[name] for name in ("RR", "RR.se", "RR.n_units")] == pytest.approx(
        [0.5, error, 3], abs=1e-14
    )
    assert [row["RR.ci_low"], row["RR.ci_high"]] == pytest.approx(
        [max(0, 0.5 - reach), min(1, 0.5 + reach)], abs=1e-9
    )


@pytest.mark.slow
def test_weighted_means_have_the_standard_errors_of_rows():
    """With queries of no weight, which are no units of a weighted mean, for all days and each."""
    held = draw_lists(weighted=True)
    place = held["queries"].column_names.index("weight")
    weights = held["queries"]["weight"].to_numpy().copy()
    weights[:3] = 0
    held["queries"] = held["queries"].set_column(place, "weight", pa.array(weights))
    rollup = sqlrank.rollup(WEIGHTED, by=["day", "country"], **held)
    for by in ([], ["country"], ["day", "country"]):
        asked = {"confidence": 0.9, "by": by}
        found = sqlrank.evaluate(WEIGHTED, rollup=rollup, **asked).to_pylist()
        direct = sqlrank.evaluate(WEIGHTED, interval="t", **asked, **held).to_pylist()
        for row, expected in zip(found, direct, strict=True):
            assert row["AP.n_units"] < row["RR(aggregate=mean).n_units"] or by
            for name in WEIGHTED:
                error = expected[f"{name}.se"]
                assert row[f"{name}.se"] == (
                    pytest.approx(error, rel=1e-9) if error else None
                )  # lists that do not differ
                assert row[f"{name}.n_units"] == expected[f"{name}.n_units"]
    there = sqlrank.evaluate(
        WEIGHTED, rollup="s", connection=load_sqlite(rollup), dialect="sqlite", confidence=0.9
    ).to_pylist()
    assert there == [
        pytest.approx(row, rel=1e-9)
        for row in sqlrank.evaluate(WEIGHTED, rollup=rollup, confidence=0.9).to_pylist()
    ]


@pytest.mark.slow
def test_values_by_brute_force():
    """From each list's value and weight, as the formula says it."""
    held = draw_lists(weighted=True)
    each = sqlrank.evaluate("nDCG@5", per_query=True, **held).to_pylist()
    weights = dict(
        zip(
            held["queries"]["query_id"].to_pylist(),
            held["queries"]["weight"].to_pylist(),
            strict=True,
        )
    )
    value, weight = (
        np.array(found)
        for found in zip(*((row["nDCG@5"], weights[row["query_id"]]) for row in each), strict=True)
    )
    moves = weight * (value - np.average(value, weights=weight)) / weight.sum()
    (row,) = sqlrank.evaluate(
        "nDCG@5", rollup=sqlrank.rollup("nDCG@5", by="day", **held), confidence=0.9
    ).to_pylist()
    assert row["nDCG@5.se"] == pytest.approx(
        math.sqrt(len(value) / (len(value) - 1) * (moves**2).sum()), rel=1e-10
    )


def test_values_that_do_not_differ():
    """Rounding errors of canceling sums give no variance."""
    names = [f"q{number}" for number in range(7)]
    run = pa.table({"query_id": names, "doc_id": ["x"] * 7, "score": [1.0] * 7})
    qrels = pa.table(
        {"query_id": names * 3, "doc_id": ["x"] * 7 + ["y"] * 7 + ["z"] * 7, "relevance": [1] * 21}
    )
    queries = pa.table({"query_id": names, "weight": [number / 10 for number in range(1, 8)]})
    for beside in ({}, {"queries": queries}):
        rollup = sqlrank.rollup("R", run=run, qrels=qrels, **beside)
        (row,) = sqlrank.evaluate("R", rollup=rollup, confidence=0.9).to_pylist()
        assert [row["R"], *(row[f"R.{end}"] for end in ("ci_low", "ci_high", "se", "n_units"))] == [
            pytest.approx(1 / 3), None, None, None, 7,
        ]  # fmt: skip


def test_a_rollup_from_before_is_refused():
    """It answers as before, without intervals."""
    rollup = sqlrank.rollup("AP", by="day", **draw_lists(weighted=True))
    before = rollup.drop_columns([name for name in rollup.column_names if "weight_squared" in name])
    assert (
        sqlrank.evaluate("AP", rollup=before).to_pylist()
        == sqlrank.evaluate("AP", rollup=rollup).to_pylist()
    )
    with pytest.raises(
        sqlrank.InputError,
        match=r"^rollup: Table has no sums of squares for .* weighted means of AP. Rebuild it",
    ):
        sqlrank.evaluate("AP", rollup=before, confidence=0.9)


# Buckets


@cache
def draw_user_lists(*, weighted: bool = True) -> dict[str, Any]:
    """Return lists of queries of which each user asked some, on whatever days."""
    held = draw_lists(weighted=weighted)
    users = np.random.default_rng(1).integers(0, 12, held["queries"].num_rows)
    return {
        **held,
        "queries": (
            held["queries"].append_column("user_id", pa.array([f"u{user}" for user in users]))
        ),
    }


def compute_means_without_buckets(
    bucket: str, buckets: int, held: dict[str, Any], metric: str
) -> list[float]:
    """Return the weighted mean of the values of a metric without the lists of each bucket of units
    that has any.
    """
    rows = sqlrank.evaluate(metric, per_query=True, **held).to_pylist()
    units, weights = (
        dict(zip(*(held["queries"][name].to_pylist() for name in ("query_id", each)), strict=True))
        for each in (bucket, "weight")
    )
    mine = [
        (compute_bucket(units[row["query_id"]], buckets), weights[row["query_id"]], row[metric])
        for row in rows
    ]
    present = sorted({found for found, _, value in mine})
    left = (
        [(weight, value) for found, weight, value in mine if found != gone and value is not None]
        for gone in present
    )
    return [
        sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)
        for pairs in left
    ]


@pytest.mark.slow
@pytest.mark.parametrize("bucket", ["query_id", "user_id"])
def test_buckets_by_brute_force(bucket):
    """The values are those without buckets, and standard errors those of the lists without each
    bucket of units.
    """
    held = draw_user_lists()
    metrics = [*FEW, "AP(if_undefined=skip)", "AP(aggregate=max)", "AP(aggregate=gmean)"]
    plain, bucketed = (
        sqlrank.rollup(metrics, by=["day", "country"], **given_unit, **held)
        for given_unit in ({}, {"unit": bucket, "n_buckets": 6})
    )
    assert bucketed.num_rows > plain.num_rows
    assert bucketed.schema.field("bucket").type == pa.int64()
    (row,) = sqlrank.evaluate(metrics, rollup=bucketed, confidence=0.9).to_pylist()
    (expected,) = sqlrank.evaluate(metrics, rollup=plain).to_pylist()
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    for name in ("AP", "nDCG@5", "AP(if_undefined=skip)"):
        left = compute_means_without_buckets(bucket, 6, held, name)
        assert row[f"{name}.se"] == pytest.approx(
            math.sqrt(compute_jackknife_variance(left)), rel=1e-9
        )
        assert row[f"{name}.n_buckets"] == len(left)
        reach = float(stats.t.ppf(0.95, len(left) - 1)) * row[f"{name}.se"]
        assert row[f"{name}.ci_low"] == pytest.approx(max(0, row[name] - reach), abs=1e-9)
    assert row["AP(aggregate=gmean).se"] > 0
    assert {
        row[f"{name}.{end}"] for name in ("AP(aggregate=max)", "num_q", "num_ret") for end in LIMITS
    } == {None}


def test_four_buckets_of_queries_by_hand():
    """A query in each of three buckets, with values 1, 0.5 and 0: without one the means are 0.25,
    0.5 and 0.75.
    """
    names = [
        next(name for name in map(str, range(100)) if compute_bucket(name, 4) == bucket)
        for bucket in (0, 1, 3)
    ]
    run = [(names[0], "x", 1.0), (names[1], "y", 2.0), (names[1], "x", 1.0), (names[2], "y", 1.0)]
    rows = [
        {"query_id": query, "doc_id": doc, "score": score, "label": int(doc == "x")}
        for query, doc, score in run
    ]
    rows.append({"query_id": names[2], "doc_id": "x", "score": -1.0, "label": 0})
    rollup = sqlrank.rollup(
        "RR", predictions=pa.Table.from_pylist(rows), unit="query_id", n_buckets=4
    )
    assert rollup["bucket"].to_pylist() == [0, 1, 3]
    (row,) = sqlrank.evaluate("RR", rollup=rollup, confidence=0.95).to_pylist()
    assert (row["RR"], row["RR.se"], row["RR.n_buckets"]) == (
        0.5,
        pytest.approx(math.sqrt(2 / 3 * 2 * 0.25**2)),
        3,
    )


@pytest.mark.slow
def test_the_queries_of_two_days_are_one_bucket():
    """The same queries on two days: lists taken as independent say less than they are sure of, and
    buckets do not.
    """
    held = draw_user_lists(weighted=False)
    twice = {
        name: pa.concat_tables(
            [
                held[name].append_column("week", pa.array([week] * held[name].num_rows))
                for week in (1, 2)
            ]
        )
        for name in ("run", "qrels")
    }
    alone, bucketed = (
        sqlrank.rollup("AP", by="week", **twice, **bucket) for bucket in ({}, {"unit": "query_id"})
    )
    (one,), (other,) = (
        sqlrank.evaluate("AP", rollup=rollup, confidence=0.9).to_pylist()
        for rollup in (alone, bucketed)
    )
    assert one["AP"] == pytest.approx(other["AP"], rel=1e-12)
    single = sqlrank.evaluate("AP", run=held["run"], qrels=held["qrels"], confidence=0.9)["AP.se"][
        0
    ].as_py()
    assert one["AP.se"] == pytest.approx(single / math.sqrt(2), rel=0.05)
    assert other["AP.se"] == pytest.approx(single, rel=0.25)


@pytest.mark.slow
def test_differences_of_bucketed_rollups():
    """A bucket is left out of both times, and of both systems."""
    held = draw_user_lists()
    rollup = sqlrank.rollup("AP", by="day", unit="user_id", n_buckets=6, **held)
    (moved,) = sqlrank.drift(
        "AP", rollup=rollup, reference="day = 1", current="day > 1", confidence=0.9
    ).to_pylist()
    assert moved["se"] > 0
    assert moved["ci_low"] < moved["difference"] < moved["ci_high"]
    worse = {
        **held,
        "run": held["run"].set_column(2, "score", pa.array(range(held["run"].num_rows))),
    }
    rollups = {
        "old": rollup,
        "new": sqlrank.rollup("AP", by="day", unit="user_id", n_buckets=6, **worse),
    }
    (row,) = sqlrank.compare("AP", rollups=rollups, confidence=0.9).to_pylist()
    left = [
        now - then
        for then, now in zip(
            compute_means_without_buckets("user_id", 6, held, "AP"),
            compute_means_without_buckets("user_id", 6, worse, "AP"),
            strict=True,
        )
    ]
    assert row["se"] == pytest.approx(math.sqrt(compute_jackknife_variance(left)), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("bucket", select_few(["query_id", "user_id"], 1))
def test_statements_make_buckets(bucket):
    held = {
        name: table
        for name, table in draw_user_lists().items()
        if name in {"run", "qrels", "queries"}
    }
    duck = duckdb.connect()
    for name, table in held.items():
        duck.register(name, table)
    names = {name: name for name in held}
    made = sqlrank.rollup(FEW, by="day", unit=bucket, n_buckets=5, **names, connection=duck)
    text = sqlrank.rollup_sql(
        FEW, by="queries.day", unit=bucket, n_buckets=5, **names, columns={"weight": "weight"}
    )
    found = duck.sql(text).to_arrow_table()
    assert found.drop_columns("definition_hash").to_pylist() == [
        pytest.approx(row, abs=1e-14) for row in made.drop_columns("definition_hash").to_pylist()
    ]
    model = sqlrank.rollup_model(
        "AP", "kept", run="run", qrels="qrels", by="day", begin="2026-01-01", unit="query_id"
    )
    assert 'GROUP BY "day", bucket' in model.sql


def test_differences_without_buckets_are_refused():
    rollup = sqlrank.rollup("AP", by="day", **draw_lists())
    with pytest.raises(
        sqlrank.InputError,
        match=(
            r"^rollup: Table has no column bucket, which confidence= needs. Rebuild it with unit="
        ),
    ):
        sqlrank.drift("AP", rollup=rollup, reference="day = 1", current="day = 2", confidence=0.9)
