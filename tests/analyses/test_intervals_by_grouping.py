"""Intervals of several groupings in one call equal those of a call for each grouping."""

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

SETS = [["shop", "day"], ["shop"], []]
BOOTSTRAP = {"interval": "bootstrap", "replicates": 99}


def make_predictions() -> pa.Table:
    """Predictions of ten users in two shops, one of them without a name, on two days."""
    rng = np.random.default_rng(5)
    user = rng.integers(0, 10, 120)
    return pa.table(
        {
            "shop": [None if i % 3 == 0 else "a" for i in range(120)],
            "day": [i // 7 % 2 for i in range(120)],
            "query_id": [f"u{i}" for i in user],
            "row": [f"r{i}" for i in range(120)],
            "label": rng.integers(0, 2, 120),
            "score": rng.integers(1, 16, 120) / 16,
            "weight": rng.integers(0, 4, 120) / 2,
        }
    )


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (["LogLoss", "AUC", "APS", "Precision", "ECE"], {"unit": "row"}),
        (["LogLoss", "AUC", "R2"], {"unit": "query_id"}),
        (["GAUC", "AUC(level=query)"], {}),
        (["KS", "LogLoss"], {"unit": "row", **BOOTSTRAP}),
        (["AUC(level=query)"], BOOTSTRAP),
    ],
)
def test_rows_are_those_of_a_call_for_each(metrics, options):
    together = sqlrank.evaluate(
        metrics, predictions=make_predictions(), by=SETS, confidence=0.9, **options
    ).to_pylist()
    apart = []
    for group in SETS:
        rows = sqlrank.evaluate(
            metrics, predictions=make_predictions(), by=group, confidence=0.9, **options
        ).to_pylist()
        apart += [
            {"shop": None, "day": None, "slice": ",".join(group) or "all", **row} for row in rows
        ]
    assert len(together) == len(apart) == 7
    order = sorted(
        apart,
        key=lambda row: (row["shop"] or "", -1 if row["day"] is None else row["day"], row["slice"]),
    )
    for row, wanted in zip(together, order, strict=True):
        assert row.keys() == wanted.keys()
        assert list(row.values()) == [
            value if value is None else pytest.approx(value, rel=1e-12)
            for value in map(wanted.get, row)
        ]


def make_lists() -> dict[str, pa.Table]:
    run = {
        "system": ["x"] * 6 + ["y"] * 6,
        "query_id": ["q1", "q1", "q2", "q2", "q3", "q3"] * 2,
        "doc_id": ["a", "b"] * 6,
    }
    return {
        "run": pa.table({**run, "score": [2, 1, 1, 2, 2, 1, 1, 2, 1, 2, 1, 2]}),
        "qrels": build_table(query_id="q1 q2 q3", doc_id="a a b", relevance="1 1 1"),
        "queries": build_table(query_id="q1 q2 q3", country="de de fr"),
    }


def test_rankings_by_attributes_of_queries():
    """RR of x is 1, 1/2, 1/2; of y 1/2, 1/2, 1: units are queries, whichever country they are
    of.
    """
    by = [["system", "queries.country"], ["system"]]
    rows = sqlrank.evaluate("RR", **make_lists(), by=by, confidence=0.95, interval="t").to_pylist()
    found = {
        (row["system"], row["country"], row["slice"]): (row["RR"], row["RR.se"], row["RR.n_units"])
        for row in rows
    }
    third = pytest.approx(1 / 6, rel=1e-12)
    assert found == {
        ("x", "de", "system,country"): (0.75, 0.25, 2),
        ("x", "fr", "system,country"): (0.5, None, 1),
        ("x", None, "system"): (pytest.approx(2 / 3), third, 3),
        ("y", "de", "system,country"): (0.5, 0, 2),
        ("y", "fr", "system,country"): (1, None, 1),
        ("y", None, "system"): (pytest.approx(2 / 3), third, 3),
    }


@pytest.mark.slow
def test_lists_of_one_query_are_not_independent():
    """Drawn anew, they are drawn together: the mean of two systems has three units, not six."""
    rows = sqlrank.evaluate(
        "RR", **make_lists(), by=[["system"], []], confidence=0.9, **BOOTSTRAP
    ).to_pylist()
    assert [(row["slice"], row["RR.n_units"]) for row in rows] == [
        ("all", 3),
        ("system", 3),
        ("system", 3),
    ]
    means = build_table(query_id="q1 q2 q3", label="0.0 0.0 0.0", score="0.75 0.5 0.75")
    (own,) = sqlrank.evaluate(
        "MAE", predictions=means, level="query", confidence=0.9, **BOOTSTRAP
    ).to_pylist()
    assert [rows[0][f"RR.{limit}"] for limit in ("ci_low", "ci_high", "se")] == pytest.approx(
        [own[f"MAE.{limit}"] for limit in ("ci_low", "ci_high", "se")]
    )
