"""Metrics of pairs against a second implementation (pairs_reference.py), on random lists with
ties.
"""

import sqlite3
from contextlib import closing
from functools import cache
from statistics import fmean
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlrank
from tests.lanes import select_few
from tests.numbers.references import pairs_reference as reference
from tests.numbers.references.pairs_variants import CLASS_METRICS, NUMBER_METRICS
from tests.numbers.references.predictions import Predictions

pytestmark = pytest.mark.xdist_group(
    "references of pairs"
)  # one worker makes what all of them are compared with
SIZES = (1, 2, 3, 8, 31, 32, 33, 40, 64, 65, 66, 90)
SCORES = {
    "few": lambda rng, n: rng.integers(0, 5, n) / 4,
    "some": lambda rng, n: rng.integers(-20, 20, n) / 8,
    "any": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-9, 9),
    "same": lambda _, n: np.full(n, -0.5),
    "infinite": lambda rng, n: rng.choice([-np.inf, np.inf, 0.0, 1.0], n),
}
WEIGHTS = {
    "ones": lambda _, n: np.ones(n),
    "eighths": lambda rng, n: rng.integers(0, 40, n) / 8,
    "wild": lambda rng, n: rng.uniform(1, 2, n) * 10.0 ** rng.integers(-6, 6, n),
    "one heavy": lambda rng, n: np.where(np.arange(n) == n // 2, 1e12, rng.uniform(0.5, 2, n)),
}
"""With "wild" and "one heavy" the heaviest pairs weigh so much more than others that these are lost
in a difference of sums.
"""
Values = dict[str, dict[str, float | None]]


def draw_predictions(seed: int, n: int, scores: str, labels: str, weights: str) -> Predictions:
    rng = np.random.default_rng(seed)
    label = {
        "classes": lambda: rng.integers(0, 2, n),
        "grades": lambda: rng.integers(-2, 3, n),
        "any": lambda: rng.normal(size=n),
    }[labels]()
    score = SCORES[scores](rng, n)
    if labels == "any" and scores == "any":
        score = label + rng.normal(size=n)
    return Predictions(
        label.astype(float), score, WEIGHTS[weights](rng, n), rng.integers(0, 3, n),
        rng.permutation(n),
    )  # fmt: skip


@cache
def draw_groups(classes: bool, weights: str) -> dict[str, Predictions]:
    labels = ("classes",) if classes else ("classes", "grades", "any")
    kinds = [
        (n, scores, label)
        for n in SIZES
        for scores in SCORES
        for label in labels
        if n < 64 or scores in {"some", "any"}
    ]
    return {
        f"{n} {scores} {label}": draw_predictions(i, n, scores, label, weights)
        for i, (n, scores, label) in enumerate(kinds)
    }


def make_table(found: dict[str, Predictions], weights: str = "eighths") -> pa.Table:
    rows = pa.concat_tables(
        [
            part.table.append_column("kind", pa.array([name] * len(part)))
            for name, part in found.items()
        ]
    )
    rows = rows.take(np.random.default_rng(1).permutation(rows.num_rows))
    return rows if weights != "ones" else rows.drop_columns(["weight"])


def evaluate_by_kind(metrics: list[str], source: pa.Table, **arguments: Any) -> Values:
    return {
        row.pop("kind"): row
        for row in sqlrank.evaluate(metrics, predictions=source, by="kind", **arguments).to_pylist()
    }


@cache
def compute_expected(metric: str, data: Predictions) -> float | None:
    return reference.evaluate(metric, data)


def assert_reference(got: Values, found: dict[str, Predictions], metrics: list[str]) -> None:
    assert sorted(got) == sorted(found)
    wrong = []
    for kind, data in found.items():
        for metric in metrics:
            have, expected = got[kind][metric], compute_expected(metric, data)
            if (have is None) != (expected is None) or (
                have is not None and abs(have - expected) > 1e-11
            ):
                wrong.append((metric, kind, "got", have, "expected", expected))
    assert not wrong, (
        f"{len(wrong)} values of {sorted({item[0] for item in wrong})} differ, such as {wrong[:4]}"
    )


def test_every_metric_has_a_reference_and_is_among_them():
    known = {row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] == "pairs"} - {
        "pApSurrogate"
    }  # surrogates_reference.py
    assert {"AUC@k" if name == "AUC@10" else name for name in known} == reference.METRICS.keys(), (
        "METRICS of pairs_reference.py"
    )
    named = {sqlrank.parse(metric).name for metric in [*NUMBER_METRICS, *CLASS_METRICS]}
    assert {sqlrank.parse(name).name for name in known} == named


@pytest.mark.slow
@pytest.mark.parametrize("weights", select_few(WEIGHTS, ("one heavy",)))
@pytest.mark.parametrize("counting", select_few(["window_ranks", "bits"], 1))
def test_of_numbers(weights, counting):
    found = draw_groups(classes=False, weights=weights)
    assert_reference(
        evaluate_by_kind(
            NUMBER_METRICS, make_table(found, weights), plan={"pair_counting": counting}
        ),
        found,
        NUMBER_METRICS,
    )


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets"])
def test_of_classes(weights, strategy):
    found = draw_groups(classes=True, weights=weights)
    assert_reference(
        evaluate_by_kind(CLASS_METRICS, make_table(found, weights), plan={"score_order": strategy}),
        found,
        CLASS_METRICS,
    )


def test_rank_given():
    """Under ties=row_order no two scores are equal."""
    found = draw_groups(classes=True, weights="ones")
    metrics = ["PartialAUC@3", "pAp@3", "PartialAUC@100", "pAp(few_negatives=pad)@9"]
    got = evaluate_by_kind(metrics, make_table(found, "ones"), ties="row_order")
    assert_reference(got, {kind: data.one_by_one() for kind, data in found.items()}, metrics)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["best", "worst"])
def test_orders_of_classes(ties):
    """Under ties=best and ties=worst no two scores of different classes are equal."""
    found = draw_groups(classes=True, weights="eighths")
    metrics = [
        "PartialAUC@3", "pAp@3", "PartialAUC@100", "pAp(few_negatives=pad)@9",
        "pAp(tie_credit=0)@2",
    ]  # fmt: skip
    got = evaluate_by_kind(metrics, make_table(found), ties=ties)
    assert_reference(
        got,
        {kind: data.class_by_class(positives_first=ties == "best") for kind, data in found.items()},
        metrics,
    )


@pytest.mark.slow
@pytest.mark.parametrize("counting", ["window_ranks", "bits"])
def test_without_groups(counting):
    """There is no column to tell lists apart by, so that no step may have a row where it has
    nothing to count.
    """
    for n in (*SIZES, 0):
        data = draw_predictions(n, n, "some", "grades", "ones")
        got = sqlrank.evaluate(
            NUMBER_METRICS, predictions=data.table, plan={"pair_counting": counting}, check="off"
        ).to_pylist()
        assert_reference({"all": got[0]}, {"all": data}, NUMBER_METRICS)


def test_mean_over_queries():
    metrics = [
        "KendallTau(level=query)",
        "SpearmanRho(level=query)",
        "SomersD(level=query)",
        "KendallTau(level=query, tau=c)",
    ]
    for weights in WEIGHTS:
        data = draw_predictions(7, 150, "some", "grades", weights)
        (got,) = sqlrank.evaluate(metrics, predictions=data.table).to_pylist()
        for metric in got:
            plain = metric.replace("(level=query)", "").replace("level=query, ", "")
            values = [reference.evaluate(plain, part) for part in data.queries()]
            assert got[metric] == pytest.approx(
                fmean(value for value in values if value is not None), abs=1e-12
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    select_few([{}, {"by": "kind"}, {"by": [["kind"], []]}, {"per_query": True}], 1),
    ids=str,
)
def test_sqlite(arguments):
    found = {
        kind: data
        for kind, data in draw_groups(classes=True, weights="eighths").items()
        if kind[:2] in {"33", "66", "8 ", "1 "}
    }
    metrics = [*NUMBER_METRICS, *CLASS_METRICS]
    expected = sqlrank.evaluate(metrics, predictions=make_table(found), **arguments)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE p (label, score, weight, query_id, rank, kind)")
        connection.executemany(
            "INSERT INTO p VALUES (?, ?, ?, ?, ?, ?)",
            [tuple(row.values()) for row in make_table(found).to_pylist()],
        )
        text = sqlrank.sql(
            metrics,
            dialect="sqlite",
            predictions="p",
            columns={"weight": "weight"},
            plan={"score_order": "window"},
            **arguments,
        )
        rows = connection.execute(text).fetchall()
    assert len(rows) == expected.num_rows > 0
    for row, values in zip(rows, expected.to_pylist(), strict=True):
        assert row[-len(metrics) :] == pytest.approx(
            tuple(values.values())[-len(metrics) :], abs=1e-11
        )


LISTS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(0, 6) | st.floats(-1e6, 1e6),
        st.integers(0, 4).map(lambda w: w / 2),
    ),
    min_size=1,
    max_size=60,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(LISTS)
def test_any_list(rows):
    columns = [np.array(column, dtype=float) for column in zip(*rows, strict=True)]
    data = Predictions(*columns, np.arange(len(rows)) % 2, np.arange(len(rows)))
    got = sqlrank.evaluate(
        NUMBER_METRICS, predictions=data.table, connection=open_database()
    ).to_pylist()
    assert_reference({"any": got[0]}, {"any": data}, NUMBER_METRICS)


@cache
def open_database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})
