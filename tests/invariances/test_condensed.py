"""Predictions that are added up where no positive is near give what sorting them all gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.invariances.predictions import RANKS, assert_equal, evaluate
from tests.invariances.test_packed import ROWS, SCORES
from tests.lanes import few


@pytest.mark.slow
@pytest.mark.parametrize("weighted", few([True, False], [True]))
@pytest.mark.parametrize("share", few([0.02, 0.5], [0.02]))
@pytest.mark.parametrize("scores", few(SCORES, ("tied in pairs", "nearer than a cell", "not numbers")))
def test_condensed_is_as_carried(scores: str, share: float, weighted: bool) -> None:
    """Of all rows and of groups, one of which is of one class and one has no positives, with scores that are NULL and weights of 0."""
    rng = np.random.default_rng(14)
    group = rng.choice(["a", "b", None, "positives", "negatives"], ROWS)
    label = np.select([group == "positives", group == "negatives"], [1, 0], (rng.random(ROWS) < share).astype(int))
    columns = {
        "label": label,
        "score": pa.array(SCORES[scores](rng), mask=rng.random(ROWS) < 0.02),
        "query_id": rng.integers(0, 5, ROWS),
        "group": group,
        **({"weight": rng.choice([0.0, 1e-3, 0.3, 1.0, 7.5, 1e9], ROWS)} if weighted else {}),
    }
    for by in ([["group"], []], None):
        condensed, carried = (
            evaluate(RANKS, pa.table(columns), by=by, check="off", plan={"order": order}) for order in ("condensed", "carried")
        )
        assert_equal(condensed, carried)


@pytest.mark.parametrize("label", [0, 1])
def test_of_one_class(label: int) -> None:
    table = pa.table({"label": [label] * 9, "score": np.arange(9) / 9, "weight": [0.5] * 9, "query_id": [1] * 9})
    condensed, grouped = (evaluate(RANKS, table, plan={"order": order}) for order in ("condensed", "grouped"))
    assert_equal(condensed, grouped)
