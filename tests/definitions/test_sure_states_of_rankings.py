"""How sure means of states of rankings are: weighted ones, by hand and beside the values of lists."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from tests.definitions.test_states import on_sqlite
from tests.definitions.test_states_of_rankings import given

LIMITS = ("low", "high", "se", "units")
WEIGHTED = ["AP", "AP(no_relevant=skip)", "nDCG(aggregate=wmean)@5", "RR(aggregate=mean)"]


def test_a_weighted_mean_by_hand() -> None:
    """Values 1, 0.5 and 0 of weights 1, 2 and 1: a mean of 0.5; each moves it by 0.125, 0 and -0.125."""
    run = [("a", "x", 1.0), ("b", "y", 2.0), ("b", "x", 1.0), ("c", "y", 1.0)]
    rows = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*run, strict=True)), strict=True))
    qrels = pa.table({"query_id": ["a", "b", "c"], "doc_id": ["x"] * 3, "relevance": [1] * 3})
    queries = pa.table({"query_id": ["a", "b", "c"], "weight": [1, 2, 1], "day": [1, 1, 2]})
    state = sqlrank.state("RR", run=pa.table(rows), qrels=qrels, queries=queries, by="day")
    (row,) = sqlrank.evaluate("RR", state=state, confidence=0.95).to_pylist()
    error = math.sqrt(3 / 2 * (0.25**2 * 0.5**2 + 0 + 0.25**2 * 0.5**2))
    reach = float(stats.t.ppf(0.975, 2)) * error
    assert [row[name] for name in ("RR", "RR.se", "RR.units")] == pytest.approx([0.5, error, 3], abs=1e-14)
    assert [row["RR.low"], row["RR.high"]] == pytest.approx([max(0, 0.5 - reach), min(1, 0.5 + reach)], abs=1e-9)


def test_weighted_means_are_as_sure_as_from_the_rows() -> None:
    """With queries of no weight, which count as the statement over rows counts them, for all days and each."""
    held = given(weighted=True)
    place = held["queries"].column_names.index("weight")
    weights = held["queries"]["weight"].to_numpy().copy()
    weights[:3] = 0
    held["queries"] = held["queries"].set_column(place, "weight", pa.array(weights))
    state = sqlrank.state(WEIGHTED, by=["day", "country"], **held)
    for by in ([], ["country"], ["day", "country"]):
        asked = {"confidence": 0.9, "by": by}
        found = sqlrank.evaluate(WEIGHTED, state=state, **asked).to_pylist()
        direct = sqlrank.evaluate(WEIGHTED, interval="t", **asked, **held).to_pylist()
        for row, expected in zip(found, direct, strict=True):
            for name in WEIGHTED:
                error = expected[f"{name}.se"]
                assert row[f"{name}.se"] == (pytest.approx(error, rel=1e-9) if error else None)  # lists that do not differ
                assert row[f"{name}.units"] == expected[f"{name}.units"]
    there = sqlrank.evaluate(WEIGHTED, state="s", connection=on_sqlite(state), dialect="sqlite", confidence=0.9).to_pylist()
    assert there == [pytest.approx(row, rel=1e-9) for row in sqlrank.evaluate(WEIGHTED, state=state, confidence=0.9).to_pylist()]


def test_values_by_brute_force() -> None:
    """From each list's value and weight, as the formula says it."""
    held = given(weighted=True)
    each = sqlrank.evaluate("nDCG@5", per_query=True, **held).to_pylist()
    weights = dict(zip(held["queries"]["query_id"].to_pylist(), held["queries"]["weight"].to_pylist(), strict=True))
    value, weight = (np.array(found) for found in zip(*((row["nDCG@5"], weights[row["query_id"]]) for row in each), strict=True))
    moves = weight * (value - np.average(value, weights=weight)) / weight.sum()
    (row,) = sqlrank.evaluate("nDCG@5", state=sqlrank.state("nDCG@5", by="day", **held), confidence=0.9).to_pylist()
    assert row["nDCG@5.se"] == pytest.approx(math.sqrt(len(value) / (len(value) - 1) * (moves**2).sum()), rel=1e-10)


def test_values_that_do_not_differ() -> None:
    """What is left of sums that cancel is no spread."""
    names = [f"q{number}" for number in range(7)]
    run = pa.table({"query_id": names, "doc_id": ["x"] * 7, "score": [1.0] * 7})
    qrels = pa.table({"query_id": names * 3, "doc_id": ["x"] * 7 + ["y"] * 7 + ["z"] * 7, "relevance": [1] * 21})
    queries = pa.table({"query_id": names, "weight": [number / 10 for number in range(1, 8)]})
    for beside in ({}, {"queries": queries}):
        state = sqlrank.state("R", run=run, qrels=qrels, **beside)
        (row,) = sqlrank.evaluate("R", state=state, confidence=0.9).to_pylist()
        assert [row["R"], *(row[f"R.{end}"] for end in LIMITS)] == [pytest.approx(1 / 3), None, None, None, 7]


def test_a_state_from_before_is_refused() -> None:
    """It answers as before, without intervals."""
    state = sqlrank.state("AP", by="day", **given(weighted=True))
    before = state.drop_columns([name for name in state.column_names if "weight_weight" in name])
    assert sqlrank.evaluate("AP", state=before).to_pylist() == sqlrank.evaluate("AP", state=state).to_pylist()
    with pytest.raises(
        sqlrank.InputError, match=r"^state: Table does not have the sums of squares by which .* weighted means of AP are, since"
    ):
        sqlrank.evaluate("AP", state=before, confidence=0.9)
