"""Gates where few units are worse: the share of them by Wilson's interval, and the samples that pass
at a loss of just the tolerance by the binomial distribution.
"""

from __future__ import annotations

from math import comb
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.comparison.comparison_plan import ComparedMetric
from sqlrank.comparison.paired_differences import DifferenceSummary
from sqlrank.comparison.system_comparison import GatedDifference
from sqlrank.inference import Tolerance


def gate_values(
    candidate: list[float], lower_is_better: list[str], tolerance: float
) -> dict[str, Any]:
    """Gate a column of queries of which the baseline has 0.5 in each."""
    table = pa.table(
        {
            "query_id": [*range(len(candidate))] * 2,
            "system": ["candidate"] * len(candidate) + ["baseline"] * len(candidate),
            "points": [*candidate, *([0.5] * len(candidate))],
        }
    )
    (row,) = sqlrank.gate(
        "Mean(points)",
        predictions=table,
        level="query",
        baseline="baseline",
        lower_is_better=lower_is_better,
        tolerance=tolerance,
    ).to_pylist()
    return row


@pytest.mark.parametrize(("lower_is_better", "sign"), [([], -1), (["points"], 1)])
@pytest.mark.parametrize(
    ("others", "tolerance", "expected"),
    [
        # Wilson (1927): 1 of 64 is at most 8.329 % of all. That loses 0.5: 0.0416; Student's t
        # allows 0.0234.
        (0.0, 0.041, "inconclusive"),
        (0.0, 0.042, "pass"),
        # The others gain 0.004 each: 0.0416 - 63 / 64 * 0.004 = 0.0377
        (0.004, 0.0375, "inconclusive"),
        (0.004, 0.038, "pass"),
    ],
)
def test_few_that_lose_all_may_be_as_many_as_their_share_allows(
    lower_is_better, sign, others, tolerance, expected
):
    candidate = [0.5 + sign * 0.5] + [0.5 - sign * others] * 63
    row = gate_values(candidate, lower_is_better, tolerance)
    assert row["verdict"] == expected
    # The same share, 1 of 64, is at most 8.2 %, or 8.2875 %, of 66, or 65.
    needed = (65 if others else 66) if expected == "inconclusive" else None
    assert row["required_units"] == needed
    if not others and expected == "inconclusive":
        assert row["reason"].endswith(
            "but 1 of 64 queries are worse, and with 8.3% of all the loss is 0.042"
        )


@pytest.mark.parametrize(
    ("units", "tolerance", "limit"), [(64, 0.05, 0.04), (200, 0.05, 0.04), (320, 0.01, 0.041)]
)
def test_a_loss_of_the_tolerance_that_few_bear_passes_in_few_samples(units, tolerance, limit):
    measure = ComparedMetric("RR", "higher", is_proportion=True)

    def passes(losses: int) -> bool:
        mean = -losses / units
        se = ((-mean) * (1 + mean) / (units - 1)) ** 0.5
        signs = {"n_positive": 0, "n_zero": units - losses, "n_negative": losses}
        summary = DifferenceSummary(
            *(0, 0, 0),
            units=units,
            difference=mean,
            decrease=-mean,
            se=se,
            df=units - 1,
            **{"value_baseline": 0.5, "scale": 1.0, "n_changed": losses, **signs},
        )
        gated = GatedDifference(summary, measure, Tolerance(tolerance), 0.95, 1, 20)
        return gated.decide_verdict().verdict == "pass"

    # The binomial probabilities of the numbers of losses that pass
    probability = sum(
        comb(units, losses) * tolerance**losses * (1 - tolerance) ** (units - losses)
        for losses in range(units // 4)
        if passes(losses)
    )
    assert 0 < probability <= limit
