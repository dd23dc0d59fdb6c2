"""The randomization test over all signs of few changes, and the share of units that may change
where none does.
"""

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank


def compare(before: list[float], after: list[float], **options: Any) -> dict[str, Any]:
    """Compare two systems by a column of the queries."""
    names = [f"q{place}" for place in range(len(before))]
    queries = pa.table(
        {
            "query_id": names * 2,
            "system": ["a"] * len(names) + ["b"] * len(names),
            "value": [*before, *after],
        }
    )
    (row,) = sqlrank.compare("Mean(value)", queries=queries, **options).to_pylist()
    return dict(row)


@pytest.mark.parametrize("changed", [2, 3, 8, 15, pytest.param(20, marks=pytest.mark.slow)])
def test_randomization_over_all_signs(changed):
    """Equal to SciPy's exact test, however few replicates are asked for; units without a difference
    change nothing.
    """
    rng = np.random.default_rng(changed)
    after = [*(0.5 + rng.choice([-0.3, -0.1, 0.1, 0.2, 0.4], changed)), *[0.5] * 7]
    row = compare([0.5] * (changed + 7), after, test="randomization", replicates=99)
    differences = np.round(np.array(after[:changed]) - 0.5, 9)
    exact = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=2**20, vectorized=True
    )
    assert row["p_value"] == pytest.approx(exact.pvalue, abs=1e-12)
    assert row["p_value"] >= 2.0 ** (1 - changed)


def test_randomization_of_one_change_or_none():
    for after, p in (([0.5, 0.9], 1.0), ([0.5, 0.5], 1.0)):
        assert compare([0.5, 0.5], after, test="randomization")["p_value"] == p


@pytest.mark.parametrize("units", [5, 59, 12_000])
def test_equal_units_say_how_many_may_differ(units):
    """The limit of Clopper and Pearson for none of so many, as SciPy has it."""
    row = compare([0.5] * units, [0.5] * units)
    limit = 100 * stats.binomtest(0, units, alternative="less").proportion_ci(0.95).high
    assert (
        row["reason"]
        == f"equal in every query: with 95% confidence at most {limit:.2g}% of all such queries"
        " differ"
    )


def test_randomization_by_drawn_signs_is_near_the_exact_test():
    """From 21 changes on signs are drawn: sums of the first ten differences under all signs, and of
    the others, give all.
    """
    differences = [place % 7 - 1.5 for place in range(21)]
    row = compare([0.0] * 21, differences, test="randomization", replicates=99_999)
    sums = [
        np.array([sum(signed) for signed in product(*((d, -d) for d in half))])
        for half in (differences[:10], differences[10:])
    ]
    exact = float(np.mean(np.abs(np.add.outer(*sums)) >= abs(sum(differences)) - 1e-9))
    assert row["p_value"] == pytest.approx(exact, abs=0.005)


def test_signs_of_the_sample_count_among_those_that_are_drawn():
    """No other signs of thirty gains have so great a sum, in all likelihood: one of 100 has."""
    gains = [1 + place / 100 for place in range(30)]
    row = compare([0.0] * 30, gains, test="randomization", replicates=99)
    assert row["p_value"] == 1 / 100
