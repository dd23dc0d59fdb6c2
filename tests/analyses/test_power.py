"""Differences that a set of queries can detect, from stored values: numbers of compare, SciPy and
statsmodels, by hand and by simulation.
"""

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import sqlrank
from tests.interface.command_line import run_command
from tests.tables import read_columns

QRELS = {f"q{place}": {"a": 1} for place in range(40)}


STATSMODELS_EFFECTS = {
    10: 0.9960019107624178,
    20: 0.6604416544380312,
    50: 0.4041829997377859,
    200: 0.19906465946973934,
}
STATSMODELS_UNITS = {0.1: 786.808940181792, 0.2: 198.150820955562, 0.5: 33.36713118431779}


def make_run(seed: int, last: int = 40) -> dict[str, list[str]]:
    """Return lists in which the relevant document is at any of eight places, for the first
    queries.
    """
    rng = np.random.default_rng(seed)
    return {
        query: [*(f"d{place}" for place in range(rank)), "a"]
        for query, rank in zip([*QRELS][:last], rng.integers(0, 8, 40), strict=False)
    }


def store(*seeds: int, metrics: Any = ("RR", "nDCG@5"), **options: Any) -> pa.Table:
    run = {f"s{seed}": make_run(seed) for seed in seeds} if len(seeds) > 1 else make_run(*seeds)
    return sqlrank.evaluate(
        list(metrics),
        run=run,
        qrels=QRELS,
        per_query=True,
        **({"by": "system"} if len(seeds) > 1 else {}),
        **options,
    )


def find_effect(units: int, alpha: float, power: float) -> float:
    """Return the effect that a two-sided t-test detects with a power, by bisection of the
    noncentral t distribution of SciPy.
    """
    limit = stats.t.ppf(1 - alpha / 2, units - 1)
    low, high = 0.0, 20.0
    for _ in range(60):
        effect = (low + high) / 2
        reached = stats.nct.sf(limit, units - 1, effect * math.sqrt(units)) + stats.nct.cdf(
            -limit, units - 1, effect * math.sqrt(units)
        )
        low, high = (effect, high) if reached < power else (low, effect)
    return low


def test_two_systems_have_the_numbers_of_compare():
    stored = store(1, 2)
    planned = sqlrank.power(stored, target_effect="5%").to_pylist()
    run = {name: make_run(seed) for name, seed in (("s1", 1), ("s2", 2))}
    compared = sqlrank.compare(
        ["RR", "nDCG@5"], run=run, qrels=QRELS, target_effect="5%"
    ).to_pylist()
    for plan, row in zip(planned, compared, strict=True):
        assert plan["sd"] == pytest.approx(row["se"] * math.sqrt(40))
        same = (
            "metric", "baseline", "system", "n_units", "required_units", "value_baseline",
            "value", "ci_level", "mde",
        )  # fmt: skip
        assert [plan[name] for name in same] == [
            pytest.approx(row[name]) if isinstance(row[name], float) else row[name] for name in same
        ]


def test_the_numbers_of_statsmodels():
    """TTestPower().solve_power of statsmodels 0.14 gave these effects of so many queries, and these
    numbers for an effect.
    """
    for units, effect in STATSMODELS_EFFECTS.items():
        (row,) = sqlrank.power(sd=1.0, num_units=units).to_pylist()
        assert row["mde"] == pytest.approx(effect, rel=0.005)
    for effect, units in STATSMODELS_UNITS.items():
        (row,) = sqlrank.power(sd=1.0, target_effect=effect).to_pylist()
        assert row["required_units"] == math.ceil(units)


@pytest.mark.parametrize(("confidence", "power"), [(0.95, 0.8), (0.99, 0.9), (0.9, 0.6)])
def test_the_effect_of_the_noncentral_t_distribution(confidence, power):
    for units in (10, 30, 300):
        (row,) = sqlrank.power(
            sd=0.2, num_units=units, confidence=confidence, power=power
        ).to_pylist()
        assert row["mde"] == pytest.approx(
            0.2 * find_effect(units, 1 - confidence, power), rel=0.001 + 0.3 / units
        )


def test_the_difference_is_detected_in_four_of_five_samples():
    (row,) = sqlrank.power(sd=0.3, num_units=30).to_pylist()
    drawn = np.random.default_rng(3).normal(row["mde"], 0.3, (4000, 30))
    assert np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05) == pytest.approx(
        0.8, abs=0.02
    )


def test_one_system_stands_for_one_to_come():
    """Two independent values differ by a deviation of sqrt(2) times theirs, and values of
    correlation 0.5 by once theirs.
    """
    stored = store(1, metrics=["RR"])
    values = stored["RR"].to_numpy()
    for correlation, factor in ((0.0, math.sqrt(2)), (0.5, 1.0), (0.875, 0.5)):
        (row,) = sqlrank.power(stored, correlation=correlation).to_pylist()
        assert row["sd"] == pytest.approx(factor * values.std(ddof=1))
        assert (row["baseline"], row["system"], row["n_units"]) == (None, None, 40)
        assert row["value_baseline"] == pytest.approx(values.mean())


def test_rows_share_the_level_of_a_family():
    rows = sqlrank.power(store(1, 2, 3)).to_pylist()
    assert [(row["metric"], row["baseline"], row["system"]) for row in rows] == [
        (metric, *pair)
        for metric in ("RR", "nDCG@5")
        for pair in (("s1", "s2"), ("s1", "s3"), ("s2", "s3"))
    ]
    assert [row["ci_level"] for row in rows] == pytest.approx([1 - 0.05 / 6] * 6)
    alone = sqlrank.power(store(1, 2, 3), correction="none").to_pylist()
    assert all(row["mde"] > other["mde"] for row, other in zip(rows, alone, strict=True))


def test_requested_names_and_groups():
    attributes = pa.table({"query_id": [*QRELS], "country": ["de", "fr"] * 20})
    (row,) = sqlrank.power(store(1, 2, metrics=["MRR"])).to_pylist()
    run = {"s1": make_run(1), "s2": make_run(2)}
    grouped = sqlrank.evaluate(
        "MRR",
        run=run,
        qrels=QRELS,
        queries=attributes,
        by=["system", "queries.country"],
        per_query=True,
    )
    assert row["metric"] == "MRR"
    (of_groups,) = sqlrank.power(grouped).to_pylist()
    assert of_groups == {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in row.items()
    }


def test_queries_without_a_value_of_both_do_not_count():
    run = {"s1": make_run(1), "s2": make_run(2, 30)}
    stored = sqlrank.evaluate(
        "RR", run=run, qrels=QRELS, by="system", per_query=True, queries="judged_and_retrieved"
    )
    (row,) = sqlrank.power(stored).to_pylist()
    assert row["n_units"] == 30
    (none,) = sqlrank.power(stored.slice(0, 41)).to_pylist()
    assert (none["n_units"], none["mde"], none["reason"]) == (1, None, "fewer than two queries")


def test_values_without_a_difference():
    stored = sqlrank.evaluate(
        "RR", run={"s1": make_run(1), "s2": make_run(1)}, qrels=QRELS, by="system", per_query=True
    )
    (row,) = sqlrank.power(stored, target_effect=0.1).to_pylist()
    assert (row["sd"], row["mde"], row["required_units"], row["reason"]) == (
        0,
        None,
        None,
        "equal in every query",
    )


def test_the_command_reads_a_file(tmp_path):
    pq.write_table(store(1, 2), tmp_path / "values.parquet")
    shown = run_command(f"power {tmp_path}/values.parquet --target-effect 0.05 --format json")
    assert (
        json.loads(shown)
        == sqlrank.power(str(tmp_path / "values.parquet"), target_effect=0.05).to_pylist()
    )
    assert run_command("power --sd 0.12 --num-units 50 --format json").count("0.0485") == 1


def test_an_effect_that_no_number_of_queries_detects():
    row = sqlrank.power(sd=1e10, num_units=100, target_effect=1e-9).to_pylist()[0]
    assert row["required_units"] is None
    assert row["mde"] == pytest.approx(2829483983.54)


def test_a_share_of_a_baseline_of_0_is_no_effect():
    rows = read_columns(label="0.0 1.0 1.0", score="1.0 0.0 1.0", query_id="1 2 3")
    values = sqlrank.evaluate("Bias", predictions=pa.table(rows), per_query=True, level="query")
    (row,) = sqlrank.power(values, target_effect="5%").to_pylist()
    assert (row["value_baseline"], row["required_units"]) == (0.0, None)
    assert row["reason"] == "a share of a baseline of 0"
    (row,) = sqlrank.power(values, target_effect=0.5).to_pylist()
    assert row["required_units"] > 3
    assert row["reason"] is None
