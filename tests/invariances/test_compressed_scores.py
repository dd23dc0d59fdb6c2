"""Predictions that are added up where no positive is near give what sorting them all gives."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.invariances.predictions import RANKS, assert_equal, evaluate
from tests.invariances.test_integer_sort import ROWS, SCORES
from tests.lanes import few


@pytest.mark.slow
@pytest.mark.parametrize("weighted", few([True, False], [True]))
@pytest.mark.parametrize("share", few([0.02, 0.5], [0.02]))
@pytest.mark.parametrize("scores", few(SCORES, ("tied in pairs", "nearer than a cell", "not numbers")))
def test_compress_is_as_window(scores: str, share: float, weighted: bool) -> None:
    """Of all rows and of groups, one of which is of one class and one has no positives, with weights of 0 and, beside weights, scores that are NULL."""
    rng = np.random.default_rng(14)
    group = rng.choice(["a", "b", None, "positives", "negatives"], ROWS)
    label = np.select([group == "positives", group == "negatives"], [1, 0], (rng.random(ROWS) < share).astype(int))
    columns = {
        "label": label,
        "score": pa.array(SCORES[scores](rng), mask=rng.random(ROWS) < (0.02 if weighted else 0)),
        "query_id": rng.integers(0, 5, ROWS),
        "group": group,
        **({"weight": rng.choice([0.0, 1e-3, 0.3, 1.0, 7.5, 1e9], ROWS)} if weighted else {}),
    }
    for by in ([["group"], []], None):
        condensed, sorted_once = (
            evaluate(RANKS, pa.table(columns), by=by, check="off", plan={"score_order": order}) for order in ("compress", "window")
        )
        assert_equal(condensed, sorted_once)


@pytest.mark.parametrize("label", [0, 1])
def test_of_one_class(label: int) -> None:
    table = pa.table({"label": [label] * 9, "score": np.arange(9) / 9, "weight": [0.5] * 9, "query_id": [1] * 9})
    condensed, grouped = (evaluate(RANKS, table, plan={"score_order": order}) for order in ("compress", "distinct"))
    assert_equal(condensed, grouped)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["window", "compress"])
def test_a_long_tail_without_positives_takes_no_longer(order: str) -> None:
    """A window that looks back for the last positive, row by row, took seventy times as long."""
    rng = np.random.default_rng(15)
    rows = 600_000
    score, weight = rng.random(rows), rng.random(rows)
    seconds = {}
    for name, label in {"spread": rng.random(rows) < 0.001, "on top": score > 0.999}.items():
        table = pa.table({"label": label, "score": score, "weight": weight})
        started = time.process_time()
        sqlrank.evaluate("AUC", predictions=table, check="off", plan={"score_order": order})
        seconds[name] = time.process_time() - started
    assert seconds["on top"] < 3 * seconds["spread"]
