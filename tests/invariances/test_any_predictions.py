"""What holds of any predictions, on those that Hypothesis thinks of."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.invariances.predictions import assert_equal, changed, evaluate

pytestmark = pytest.mark.slow

ROW = st.tuples(
    st.integers(0, 1),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 5e-324, 1 - 2**-53]) | st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 1024.0]),
    st.integers(0, 2),
)
ANY = settings(
    max_examples=8, deadline=None, derandomize=True, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)


def of(rows: list[tuple[int, float, float, int]], **columns: list[Any]) -> pa.Table:
    label, score, weight, query = (list(column) for column in zip(*rows, strict=True))
    return pa.table({"label": label, "score": score, "weight": weight, "query_id": query, **columns})


QUICK = [
    "AUC",
    "APS",
    "PRAUC",
    "PRAUC(interpolation=davis_goadrich)",
    "KS",
    "pAUC@0.3",
    "Gain@0.4",
    "GAUC(importance=weight)",
    "FBeta(cut=best)",
]


@pytest.mark.slow
@ANY
@given(st.lists(ROW, min_size=1, max_size=25))
def test_strategies_on_any_predictions(rows: list[tuple[int, float, float, int]]) -> None:
    wanted = evaluate(QUICK, of(rows), strategy="grouped")
    for strategy in ("window", "bucketed"):
        assert_equal(evaluate(QUICK, of(rows), strategy=strategy), wanted)


@pytest.mark.slow
@ANY
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=25), st.randoms(use_true_random=False))
def test_strategies_on_scores_of_any_size(scores: list[float], rng: Any) -> None:
    table = of([(rng.randint(0, 1), score, 1.0, 0) for score in scores])
    wanted = evaluate(["AUC", "APS", "KS"], table, strategy="grouped")
    for strategy in ("window", "bucketed"):
        assert_equal(evaluate(["AUC", "APS", "KS"], table, strategy=strategy), wanted)


@pytest.mark.slow
@ANY
@given(st.lists(ROW, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_bounds(rows: list[tuple[int, float, float, int]], rng: Any) -> None:
    """The order of tied rows moves the area between no and full credit for ties, and what is a share stays one."""
    rank = list(range(len(rows)))
    rng.shuffle(rank)
    table = of(rows, rank=rank)
    metrics = ["AUC(tie_credit=0)", "AUC", "AUC(tie_credit=1)"]
    low, middle, high = evaluate(metrics, table)[0].values()
    (by_row,) = evaluate(["AUC"], table, ties="row_order")[0].values()
    if middle is None:
        assert (low, high, by_row) == (None, None, None)
        return
    assert middle == pytest.approx((low + high) / 2, abs=1e-12)
    assert -1e-12 <= low <= by_row + 1e-12 <= high + 2e-12 <= 1 + 3e-12
    shares = evaluate(["APS", "PRAUC", "KS", "Gain@0.3", "pAUC(scaling=ratio)@0.2", "PnDCG", "FBeta(cut=best)"], table)[0]
    assert all(value is None or -1e-12 <= value <= 1 + 1e-12 for value in shares.values())


@ANY
@given(st.lists(ROW, min_size=2, max_size=25))
def test_turning_the_scores_round(rows: list[tuple[int, float, float, int]]) -> None:
    """The area of the negated scores is what is missing to 1; so it is for swapped classes."""
    table = of(rows)
    (area,) = evaluate(["AUC"], table)[0].values()
    (turned,) = evaluate(["AUC"], changed(table, score=[-score for score in table["score"].to_pylist()]))[0].values()
    (swapped,) = evaluate(["AUC"], changed(table, label=[1 - label for label in table["label"].to_pylist()]))[0].values()
    if area is None:
        assert (turned, swapped) == (None, None)
    else:
        assert (turned, swapped) == pytest.approx((1 - area, 1 - area), abs=1e-12)
