"""The fuzzer finds nothing in a few collections, and describes differences."""

import pytest

from tests.fuzz.__main__ import KINDS
from tests.fuzz.comparing import find_differences
from tests.fuzz.rankings import evaluate_query


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_nothing_differs(kind, seed):
    assert list(KINDS[kind](seed, 20)) == []


def test_differences_are_printed():
    got = {"a": {"x": 1.0, "y": None, "z": 1e90}, "b": {}}
    expected = {"a": {"x": 1.0 + 1e-9, "y": 0.5, "z": 1e90}, "c": {}}
    assert sorted(find_differences(got, expected, 1e-12)) == [
        "'b' is in ours alone",
        "'c' is in theirs alone",
        "x of 'a': ours 1.0, theirs 1.000000001",
        "y of 'a': ours None, theirs 0.5",
    ]
    assert list(find_differences(got, {"a": {"x": float("nan")}, "b": {}}, 1e-12)) == [
        "x of 'a': ours 1.0, theirs nan"
    ]


def test_a_query_by_hand():
    """Relevant at the ranks 1 and 4 of 4, and one not retrieved: b stands above a, whose score is
    the same.
    """
    found = evaluate_query(
        {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.25}, {"b": 2, "d": 1, "e": 1, "a": -1}
    )
    assert found["AP"] == (1 + 2 / 4) / 3
    assert (found["RR"], found["P@3"], found["R@3"], found["CG@10"], found["Rprec"]) == (
        1.0, 1 / 3, 1 / 3, 3.0, 1 / 3,
    )  # fmt: skip
