"""Metrics end exactly at the ends of their ranges: perfect orders give the end, and nothing passes it, with and without weights."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.loader import load_registry
from website.examples import format_metric, list_roles

WEIGHTS = (0.1, 0.2, 0.3, 0.7, 1.1)
SIZES = [(positives, negatives) for positives in (1, 2, 3, 5, 9, 13, 49, 100) for negatives in (1, 2, 4, 11, 97)]
EXACT = ["AUC", "Gini", "APS", "PRAUC", "pAUC@0.5", "PartialAUC@3", "pAp@3", "WRanking", "KS", "BalancedAccuracy"]
"""Metrics that perfect orders with scores beyond the threshold bring to 1."""


def choose_score(order: str, is_positive: bool, row: int) -> float:
    high, low = 0.6 + row % 7 / 20, 0.1 + row % 5 / 20
    if order == "equal":
        return 0.3
    return high if is_positive == (order == "perfect") else low


def make_predictions(orders: tuple[str, ...] = ("perfect", "worst", "equal", "random")) -> pa.Table:
    generator = random.Random(5)  # noqa: S311  no secrets
    rows: list[tuple[Any, ...]] = []
    for order in orders:
        for kind in ("weighted", "unweighted"):
            for positives, negatives in SIZES:
                for row in range(positives + negatives):
                    is_positive = row < positives
                    score = generator.random() if order == "random" else choose_score(order, is_positive, row)
                    weight = generator.choice(WEIGHTS) if kind == "weighted" else 1.0
                    rows.append((order, kind, f"{positives} {negatives}", int(is_positive), score, weight))
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(("order", "kind", "size", "label", "score", "weight"))})


def evaluate(metrics: list[str], predictions: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = sqlrank.evaluate(metrics, predictions=predictions, by=["order", "kind", "size"]).to_pylist()
    return rows


def test_a_perfect_order_is_exactly_1_and_the_reverse_exactly_0() -> None:
    rows = evaluate(EXACT, make_predictions(("perfect", "worst")))
    assert len(rows) == 4 * len(SIZES)
    perfect = [row for row in rows if row["order"] == "perfect"]
    exact_under_weights = {"AUC", "Gini", "APS", "PartialAUC@3", "pAp@3", "WRanking"}
    for metric in EXACT:
        values = {row[metric] for row in perfect if metric in exact_under_weights or row["kind"] == "unweighted"}
        assert values == {1.0}, metric
    worst = [row for row in rows if row["order"] == "worst"]
    assert {(row["AUC"], row["Gini"]) for row in worst} == {(0.0, -1.0)}


def test_tie_bounds_of_a_rollup_end_at_1() -> None:
    rollup = sqlrank.rollup("AUC", predictions=make_predictions(("perfect",)), by=["kind", "size"])
    rows = sqlrank.evaluate("AUC", rollup=rollup, by=["kind", "size"]).to_pylist()
    assert {(row["AUC"], row["AUC.bound_low"], row["AUC.bound_high"]) for row in rows if row["kind"] == "unweighted"} == {(1.0, 1.0, 1.0)}
    assert all(row["AUC.bound_high"] <= 1 for row in rows)


@pytest.mark.slow
def test_no_metric_passes_the_ends_of_its_range() -> None:
    predictions = make_predictions()
    metrics = []
    for file in load_registry().metrics.values():
        if list_roles(file) == ["predictions"] and file.bounds is not None:
            try:
                evaluate([format_metric(file)], predictions.slice(0, 40))
            except SqlrankError:
                continue
            metrics.append((format_metric(file), file.bounds))
    rows = evaluate([metric for metric, _ in metrics], predictions)
    passed = {
        (metric, row["kind"])
        for metric, declared in metrics
        for row in rows
        if row[metric] is not None and not declared.low <= row[metric] <= declared.high
    }
    assert not passed
    assert len(metrics) > 40


def test_equal_lists_overlap_by_exactly_1() -> None:
    """Also lists of which one goes on, and long ones; small persistences keep their digits."""
    lists = {"equal": (3000, 3000), "longer": (5, 3), "shorter": (3, 5)}
    rows = [[(name, f"d{rank}", -float(rank)) for name, ends in lists.items() for rank in range(ends[side])] for side in (0, 1)]
    run, baseline = (pa.table({name: [row[i] for row in side] for i, name in enumerate(("query_id", "doc_id", "score"))}) for side in rows)
    metrics = ["RBO(p=0.9, k=3000)", "RBO(p=0.9999, k=3000)", "RBO(p=1e-9)"]
    for row in sqlrank.evaluate([*metrics, "RBOmin(p=1e-9)"], run=run, inputs={"baseline": baseline}, per_query=True).to_pylist():
        assert [row[metric] for metric in metrics] == [1.0] * 3
        assert row["RBOmin(p=1e-9)"] == pytest.approx(1 - 1e-9 ** (3000 if row["query_id"] == "equal" else 3), abs=4e-16)
