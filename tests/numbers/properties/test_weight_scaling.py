"""All weights times a power of two: every sum is rounded as before, so that not one bit of a number
may change.
"""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from tests.numbers.references.pairs_variants import NUMBER_METRICS
from tests.tables import build_table
from website.sections import find_section

TOTALS = {"FN", "FP", "TN", "TP", "LogLikelihood", "Negatives", "Positives", "Observations"}
"""Metrics that scale with the weights."""

EXAMPLES = {"fraction": "0.3", "max_fpr": "0.4", "recall": "0.5", "precision": "0.5"}
FREE = [
    f"{file.display_name}{'@' + EXAMPLES[file.cutoff_parameter.name] if file.cutoff_parameter and file.cutoff_parameter.name in EXAMPLES else ''}"
    for file in load_registry().metrics.values()
    if find_section(file) in {"classification", "regression", "pairs"}
    and not (
        file.cutoff_parameter
        and file.cutoff_parameter.name == "k"
        and file.cutoff_parameter.default is None
    )
    and file.display_name != "WRanking"
]
"""All metrics of predictions but those of so much weight, and WRanking, whose ranks are divided by
the weight of all rows and 1.
"""

METRICS = [
    *FREE,
    *(metric for metric in NUMBER_METRICS if metric not in FREE),
    *(
        "MCC(threshold_from=best, criterion=mcc)",
        "FBeta(threshold_from=best)",
        "YoudenJ(threshold_from=best, criterion=youden)",
        "ECE(binning=equal_mass)",
    ),
    *(
        "PRAUC(interpolation=davis_goadrich)",
        "GAUC(query_weight=weight)",
        "GAUC(query_weight=positives)",
        "AUC(level=query)",
    ),
]


@cache
def draw_predictions() -> pa.Table:
    rng = np.random.default_rng(5)
    n = 300
    label = rng.integers(0, 2, n)
    score = np.clip(np.round(0.3 + 0.4 * label + rng.normal(size=n) / 4, 2), 0.01, 0.99)
    weight = rng.uniform(1, 2, n) * 10.0 ** rng.integers(-3, 3, n)
    return pa.table(
        {"label": label, "score": score, "weight": weight, "query_id": rng.integers(0, 8, n)}
    )


def evaluate_values(exponent: int, metrics: list[str], **arguments: Any) -> dict[str, float | None]:
    table = draw_predictions()
    weight = pa.array(np.ldexp(table["weight"].to_numpy(), exponent))
    # One thread, since sums of doubles depend on the order in which threads end.
    (row,) = sqlrank.evaluate(
        metrics, predictions=table.set_column(2, "weight", weight), threads=1, **arguments
    ).to_pylist()
    return {name: None if value is None else float(value) for name, value in row.items()}


@cache
def evaluate_unscaled(strategy: str) -> dict[str, float | None]:
    return evaluate_values(0, METRICS, plan={"score_order": strategy})


@pytest.mark.slow
@pytest.mark.parametrize("exponent", select_few([285, -285, -1], 1))
@pytest.mark.parametrize("strategy", select_few(["auto", "distinct", "buckets"], 1))
def test_no_number_changes(strategy, exponent):
    """From the lightest weights that are accepted to the heaviest."""
    before = evaluate_unscaled(strategy)
    assert len(before) >= 80
    assert [name for name, value in before.items() if value is None] == []
    after = evaluate_values(exponent, METRICS, plan={"score_order": strategy})
    expected = {
        name: np.ldexp(value, exponent) if name in TOTALS else value
        for name, value in before.items()
    }
    assert {
        name: (after[name], value) for name, value in expected.items() if after[name] != value
    } == {}


def test_no_weighted_mean_over_queries_changes():
    run = build_table(query_id="a b c", doc_id="x x x", score="1.0 1.0 1.0")
    qrels = build_table(query_id="a b c", doc_id="x y x", relevance="1 1 1")
    for exponent in (-290, 0, 290):
        queries = build_table(query_id="a b c", weight=np.ldexp([0.1, 0.3, 0.7], exponent))
        got = sqlrank.evaluate(
            "RR", run=run, qrels=qrels, queries=queries, aggregate="wmean", threads=1
        ).to_pylist()
        assert got == [{"RR": (0.1 + 0.7) / (0.1 + 0.3 + 0.7)}]
