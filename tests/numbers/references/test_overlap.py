"""Metrics of two lists against their formulas on random lists, values of the package rbo 0.1.3, and
runs by name.
"""

import random
from typing import Any

import pytest

import sqlrank
from tests.numbers.references.overlap import METRICS
from tests.numbers.references.recommendations import Lists, make_run
from website.sections import group_by_section

VARIANTS = {
    "Churn": [{}, {"k": 1}, {"k": 5}],
    "Overlap": [{"k": 1}, {"k": 5}, {"k": 30}],
    "RBO": [{}, {"k": 3}, {"p": 0.5}, {"p": 0.99}],
    "RBOmin": [{}, {"k": 3}, {"p": 0.5}],
    "TauAP": [{}, {"k": 4}],
}

PUBLISHED = [
    ("abcde", "bacxd", 0.9, 0.7505550000000001),
    ("abcde", "bacxd", 0.5, 0.47187500000000004),
    ("abcdefgh", "cbaf", 0.9, 0.7499706267857142),
    ("abcdefgh", "cbaf", 0.5, 0.3484468005952381),
    ("ab", "xy", 0.9, 0.0),
    ("ab", "xy", 0.5, 0.0),
    ("abc", "abc", 0.9, 1.0),
    ("abc", "abc", 0.5, 1.0),
    ("abcdefghij", "jihgfedcba", 0.9, 0.5116075656428573),
    ("abcdefghij", "jihgfedcba", 0.5, 0.01629154265873016),
    ("a", "bca", 0.9, 0.27),
    ("a", "bca", 0.5, 0.08333333333333333),
]
"""Two lists, p, and rbo_ext of the package rbo."""


def draw_lists(seed: int) -> tuple[Lists, Lists]:
    """Draw lists of all lengths, disjoint and equal ones, and queries that one of both does not
    answer.
    """
    rng = random.Random(seed)  # noqa: S311
    first, second = Lists(), Lists()
    for number in range(60):
        docs = [f"d{i:02}" for i in range(rng.choice([3, 8, 30]))]
        first[f"q{number:02}"] = rng.sample(docs, rng.randint(0, min(12, len(docs))))
        second[f"q{number:02}"] = rng.sample(docs, rng.randint(0, min(12, len(docs))))
    second["q00"] = first["q00"] = ["d1", "d2"]
    return first, second


def write_metric(name: str, options: dict[str, Any]) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in options.items() if key != "k")
    return name + (f"({inside})" if inside else "") + (f"@{options['k']}" if "k" in options else "")


def test_every_metric_has_a_reference():
    there = {file.display_name for file in group_by_section()["overlap"]}
    assert there == {*METRICS}, "METRICS of overlap.py"
    assert there == {*VARIANTS}, "VARIANTS of test_overlap.py"


def test_metrics_are_those_of_their_formulas():
    first, second = draw_lists(5)
    variants = [(name, options) for name, listed in VARIANTS.items() for options in listed]
    table = sqlrank.evaluate(
        [write_metric(*variant) for variant in variants],
        run=make_run(first),
        inputs={"baseline": make_run(second)},
        per_query=True,
    )
    assert table["query_id"].to_pylist() == sorted(query for query, docs in first.items() if docs)
    undefined = 0
    for row in table.to_pylist():
        lists = first[row["query_id"]], second[row["query_id"]]
        undefined += not lists[1]
        for (name, options), column in zip(variants, table.column_names[1:], strict=True):
            value = METRICS[name](*lists, **options) if lists[1] else None
            assert row[column] == (
                None if value is None else pytest.approx(value, rel=1e-11, abs=1e-11)
            ), (column, lists)
    assert undefined > 1


@pytest.mark.parametrize("p", [0.9, 0.5])
def test_overlap_is_that_of_the_package_rbo(p):
    cases = [case for case in PUBLISHED if case[2] == p]
    first, second = ({f"q{i}": list(case[side]) for i, case in enumerate(cases)} for side in (0, 1))
    for run, baseline in ((first, second), (second, first)):
        rows = sqlrank.evaluate(
            f"RBO(p={p})", run=run, inputs={"baseline": baseline}, per_query=True
        ).to_pylist()
        assert [row[f"RBO(p={p})"] for row in rows] == pytest.approx(
            [case[3] for case in cases], abs=1e-12
        )


def test_runs_by_name_are_compared_with_the_one_before():
    runs = {
        "monday": {"q": ["a", "b", "c"]},
        "tuesday": {"q": ["b", "a", "d"]},
        "wednesday": {"q": ["b", "a", "d"]},
    }
    rows = sqlrank.evaluate(["Overlap@3", "Churn@3", "TauAP", "RBO"], run=runs).to_pylist()
    assert [row["system"] for row in rows] == ["monday", "tuesday", "wednesday"]
    assert list(rows[0].values())[1:] == [None] * 4
    assert [rows[1][name] for name in ("Overlap@3", "Churn@3", "TauAP")] == pytest.approx(
        [2 / 3, 1 / 3, -1]
    )
    assert list(rows[2].values())[1:] == pytest.approx([1, 0, 1, 1])
    (row,) = sqlrank.compare(
        "Overlap@3",
        run={"a": {"q": ["x", "b"]}, "b": {"q": ["a", "b"]}},
        inputs={"baseline": {"q": ["a", "b", "c"]}},
    ).to_pylist()
    assert (row["value_baseline"], row["value"]) == pytest.approx((1 / 3, 2 / 3))
