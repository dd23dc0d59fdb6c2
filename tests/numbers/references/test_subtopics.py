"""Metrics of subtopics against their formulas, on random collections, under policies, and one
worked by hand.
"""

from typing import Any

import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.references.subtopics import METRICS, draw_collection, make_answer
from website.sections import group_by_section

VARIANTS = {
    "alpha_DCG": [
        {"k": 5},
        {"k": 1},
        {"k": 30, "alpha": 0.3},
        {"k": 4, "alpha": 0},
        {"k": 4, "alpha": 1},
    ],
    "alpha_nDCG": [
        {},
        {"k": 1},
        {"k": 5},
        {"k": 3, "alpha": 0.3},
        {"k": 4, "alpha": 0},
        {"alpha": 1},
    ],
    "AP_IA": [{}, {"k": 4}],
    "ERR_IA": [
        {"k": 5},
        {"k": 1},
        {"k": 30, "alpha": 0.3},
        {"k": 4, "alpha": 0},
        {"k": 4, "alpha": 1},
    ],
    "nERR_IA": [{"k": 5}, {"alpha": 0.3}],
    "nNRBP": [{}, {"k": 3}, {"alpha": 0.2, "beta": 0.9}],
    "NRBP": [{}, {"k": 3}, {"alpha": 0.2, "beta": 0.9}, {"alpha": 1}, {"alpha": 0, "beta": 1}],
    "P_IA": [{"k": 1}, {"k": 5}, {"k": 30}],
    "StRecall": [{}, {"k": 1}, {"k": 5}],
}
POLICIES = {
    "defaults": {},
    "doc_asc": {"ties": "doc_asc"},
    "drop": {"unjudged": "drop"},
    "depth": {"depth": 3},
    "level": {"rel": 2},
}


def write_metric(name: str, options: dict[str, Any]) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in options.items() if key != "k")
    return name + (f"({inside})" if inside else "") + (f"@{options['k']}" if "k" in options else "")


def test_every_metric_has_a_reference():
    there = {file.display_name for file in group_by_section()["subtopics"]}
    assert there == {*METRICS}, "METRICS of subtopics.py"
    assert there == {*VARIANTS}, "VARIANTS of test_subtopics.py"


@pytest.mark.parametrize("policy", select_few(POLICIES, 1))
def test_metrics_are_those_of_their_formulas(policy):
    data = draw_collection(3)
    variants = [(name, options) for name, listed in VARIANTS.items() for options in listed]
    table = sqlrank.evaluate(
        [write_metric(*variant) for variant in variants],
        **data.tables,
        per_query=True,
        if_undefined="null",
        **POLICIES[policy],
    )
    assert table["query_id"].to_pylist() == sorted(data.qrels)
    undefined = 0
    for row in table.to_pylist():
        answer = make_answer(
            data.run.get(row["query_id"], {}), data.qrels[row["query_id"]], **POLICIES[policy]
        )
        undefined += not answer.judged
        for (name, options), column in zip(variants, table.column_names[1:], strict=True):
            expected = (
                pytest.approx(METRICS[name](answer, **options), rel=1e-12, abs=1e-12)
                if answer.judged
                else None
            )
            assert row[column] == expected, (column, row["query_id"], answer)
    assert 0 < undefined < len(data.qrels)


def test_small_tables_by_hand():
    """Of q1, b (price) is second of a (price), b, c and d (delivery); f (price, returns) is not
    retrieved: three subtopics.
    """
    path = "examples/data/small"
    metrics = ["StRecall@3", "StRecall", "P_IA@4", "AP_IA", "ERR_IA@2", "NRBP"]
    first, second = sqlrank.evaluate(
        metrics, run=f"{path}/run.csv", qrels=f"{path}/subtopics.csv", per_query=True
    ).to_pylist()
    # The order is a, c, b, d: c is before b by its id.
    assert first == pytest.approx(
        {
            "query_id": "q1",
            "StRecall@3": 1 / 3,
            "StRecall": 2 / 3,
            "P_IA@4": 3 / 4 / 3,
            "AP_IA": ((1 + 2 / 3) / 3 + 1 / 4) / 3,
            "ERR_IA@2": 1 / (3 * (1 + 0.5 / 2)),
            "NRBP": (1 - 0.25) / 3 * (1 + 0.5 * 0.5**2 + 0.5**3),
        }
    )
    assert (second["StRecall@3"], second["P_IA@4"], second["ERR_IA@2"]) == (
        1,
        1 / 4,
        pytest.approx(0.5 / 1.25),
    )
