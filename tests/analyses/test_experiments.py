"""Experiments: the golden numbers (tea-tasting, gbstats), SciPy's, and those of formulas written in
NumPy.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from sqlrank.inference import t_two_sided_tail
from tests.analyses.experiments import (
    UNITS,
    count_freedom,
    draw_experiment,
    estimate_cuped_effect,
    linearize_ratio,
    run_welch_test,
)
from tests.lanes import select_few
from tests.tables import build_table

METRICS = {"mean": "Mean(spend)", "cuped": "Mean(spend)", "ratio": "Ratio(clicks, views)"}


def run_experiment(
    metrics: Any = "Mean(spend)", data: pa.Table = UNITS, **options: Any
) -> list[dict[str, Any]]:
    return sqlrank.experiment(
        metrics, data=data, **({"control": "A", "correction": "none"} | options)
    ).to_pylist()


def assert_near(row: dict[str, Any], expected: dict[str, Any], rel: float = 1e-9) -> None:
    assert {name: row[name] for name in expected} == {
        name: pytest.approx(value, rel=rel, abs=1e-9) if isinstance(value, float) else value
        for name, value in expected.items()
    }


def test_golden_effects():
    """Of tea-tasting 1.14.0."""
    rows = {
        (row["metric"], row["variant"]): row
        for row in run_experiment(METRICS, covariates={"cuped": "pre"})
    }
    names = (
        "value_control", "value", "difference", "relative_difference", "ci_low", "ci_high",
        "p_value", "relative_ci_low", "relative_ci_high",
    )  # fmt: skip
    expected = {
        "mean": (
            2.985, 4.371428571, 1.386428571, 0.464465183, -1.050008855, 3.822865997,
            0.234089336, -0.208786532, 1.710593739,
        ),
        "cuped": (
            3.111179046, 4.191172792, 1.079993747, 0.347133267, 0.376322328, 1.783665165,
            0.006330737, 0.123466887, 0.615328463,
        ),
        # Intervals of ratios have fewer degrees of freedom here.
        "ratio": (0.384615385, 0.392857143, 0.008241758, 0.021428571),
    }  # fmt: skip
    for metric, values in expected.items():
        assert_near(rows[metric, "B"], dict(zip(names, values, strict=False)), rel=3e-9)
    assert rows["mean", "B"]["df"] == pytest.approx(10.174051570, abs=1e-9)
    assert (rows["mean", "B"]["n_units_control"], rows["mean", "B"]["n_units"]) == (10, 7)
    assert [rows[metric, "B"]["winner"] for metric in METRICS] == [None, "B", None]


def test_golden_intervals_of_other_kinds():
    """Of gbstats 0.8.0."""
    assert_near(
        run_experiment(interval="sequential")[0],
        {"ci_low": -15.201248678, "ci_high": 17.974105821, "mde": None},
    )
    assert_near(
        run_experiment(lift_scale="linear")[0],
        {"relative_ci_low": -0.466385336, "relative_ci_high": 1.395315702},
    )


def test_golden_sample_ratios():
    equal, shared = (
        run_experiment()[-1],
        run_experiment(expected_shares={"A": 0.5, "B": 0.25, "C": 0.25})[-1],
    )
    assert_near(
        equal,
        {
            "metric": "sample_ratio",
            "n_units": 24,
            "statistic": 0.75,
            "df": 2.0,
            "p_value": 0.687289279,
        },
    )
    assert_near(shared, {"statistic": 0.666666667, "p_value": 0.716531311})


@pytest.mark.parametrize("arms", select_few(range(2, 9), 1))
def test_sample_ratios_are_those_of_scipy(arms):
    counts = [3 + 2 * arm + arm % 3 for arm in range(arms)]
    variants = [name for name, count in zip("ABCDEFGH", counts, strict=False) for _ in range(count)]
    table = pa.table(
        {
            "unit_id": range(len(variants)),
            "variant": variants,
            "x": [i % 5 for i in range(len(variants))],
        }
    )
    test = stats.chisquare(counts)
    assert_near(
        run_experiment("Mean(x)", table)[-1],
        {"statistic": float(test.statistic), "df": arms - 1.0, "p_value": float(test.pvalue)},
    )


def test_a_share_without_units_counts():
    table = UNITS.filter(pa.compute.not_equal(UNITS["variant"], "C"))
    test = stats.chisquare([10, 7, 0], np.array([0.5, 0.4, 0.1]) * 17)
    assert_near(
        run_experiment(data=table, expected_shares={"A": 0.5, "B": 0.4, "C": 0.1})[-1],
        {"statistic": float(test.statistic), "p_value": float(test.pvalue)},
    )


@pytest.mark.parametrize("seed", select_few(range(5), 1))
def test_means_and_ratios_are_those_of_scipy(seed):
    table = draw_experiment(seed, arms=3)
    rows = {
        (row["metric"], row["variant"]): row
        for row in run_experiment(["Mean(clicks)", "Ratio(clicks, views)"], table)
    }
    for variant in ("B", "C"):
        arms = [table.filter(pa.compute.equal(table["variant"], name)) for name in (variant, "A")]
        clicks, views = (
            [arm[name].to_numpy().astype(float) for arm in arms] for name in ("clicks", "views")
        )
        assert_near(rows["Mean(clicks)", variant], run_welch_test(*clicks))
        assert_near(
            rows["Ratio(clicks, views)", variant],
            run_welch_test(
                *map(linearize_ratio, clicks, views), freedom=tuple(map(count_freedom, views))
            ),
        )


@pytest.mark.parametrize("seed", select_few(range(5), 1))
def test_covariates_of_ratios(seed):
    """A ratio with the ratio before, and with a mean before."""
    table = draw_experiment(seed, arms=3).append_column("one", pa.array([1] * 60))
    for before, parts in (
        ("Ratio(clicks_before, views_before)", ("clicks_before", "views_before")),
        ("clicks_before", ("clicks_before", "one")),
    ):
        rows = run_experiment({"ctr": "Ratio(clicks, views)"}, table, covariates={"ctr": before})
        for row in rows[:-1]:
            assert_near(
                row, estimate_cuped_effect(table, row["variant"], "A", ("clicks", "views", *parts))
            )


def test_two_units_in_an_arm():
    """Few degrees of freedom, of which there may be less than two."""
    table = build_table(unit_id=range(5), variant="A A B B B", x="1.0 9.0 4.0 4.1 4.3")
    row = run_experiment("Mean(x)", table)[0]
    assert_near(row, run_welch_test(np.array([4.0, 4.1, 4.3]), np.array([1.0, 9.0])))
    assert 1 < row["df"] < 1.01


@pytest.mark.parametrize("freedom", [9_999.0, 10_001.0, 2_453_975.5, 1e8])
def test_tails_of_many_degrees_of_freedom(freedom):
    for value in (0.0, 0.1, 0.688, 2.0, 10.0, 30.0):
        assert t_two_sided_tail(value, freedom) == pytest.approx(
            2 * stats.t.sf(value, freedom), rel=2e-11
        )


CONVERSIONS = range(20)
"""Conversions among 100 units of an arm; 66 of 1,900 convert in the other."""


def run_conversions(counts: Any) -> list[dict[str, Any]]:
    """Return the effect for each number of conversions, a metric of its own."""
    columns = {
        f"c{count}": [1] * count + [0] * (100 - count) + [1] * 66 + [0] * 1834 for count in counts
    }
    data = pa.table(
        {"variant": ["B"] * 100 + ["A"] * 1900, "unit_id": list(range(2000)), **columns}
    )
    metrics = [f"Mean(c{count})" for count in counts]
    return run_experiment(metrics, data, expected_shares={"A": 0.95, "B": 0.05})[: len(metrics)]


def test_few_conversions_of_a_small_arm():
    """Of 3.5 expected conversions, one alone had a variance so small that nearly 9 % of equal arms
    had a winner.
    """
    rows = run_conversions(CONVERSIONS)
    share = [float(stats.binom.pmf(count, 100, 66 / 1900)) for count in CONVERSIONS]
    assert sum(part for row, part in zip(rows, share, strict=True) if row["winner"]) <= 0.01
    assert rows[0]["p_value"] is None
    # One converts where 3.35 would by the share of both arms: 0.9 of the gap is added to its
    # squares.
    pooled = 100 * 67 / 2000 * (1 - 67 / 2000)
    squares = 0.99 + 0.9 * (pooled - 0.99)
    control = 1900 * 66 / 1900 * (1 - 66 / 1900)
    assert rows[1]["se"] == pytest.approx((squares / 99 / 100 + control / 1899 / 1900) ** 0.5)
    for count in (6, 10, 19):
        expected = stats.ttest_ind(
            [1] * count + [0] * (100 - count), [1] * 66 + [0] * 1834, equal_var=False
        )
        assert rows[count]["p_value"] == pytest.approx(expected.pvalue, rel=1e-9), count


@pytest.mark.slow
def test_rows_of_a_unit_are_added_up():
    """A unit of several rows is one, however its rows are ordered."""
    halves = UNITS.set_column(5, "spend", pa.compute.divide(UNITS["spend"], 2.0)).set_column(
        4, "pre", pa.compute.divide(UNITS["pre"], 2.0)
    )
    doubled = pa.concat_tables([halves, halves.slice(7), halves.slice(0, 7)])
    for one, other in zip(
        run_experiment(covariates="pre"),
        run_experiment(data=doubled, covariates="pre"),
        strict=True,
    ):
        assert_near(other, one)


@pytest.mark.slow
def test_corrections_widen_intervals():
    """Holm's p of six comparisons; an interval leaves 0 out where the corrected p is below 0.05."""
    plain, holm = (
        run_experiment(METRICS, covariates={"cuped": "pre"}),
        run_experiment(METRICS, covariates={"cuped": "pre"}, correction="holm"),
    )
    p = sorted(row["p_value"] for row in plain[:-1])
    assert min(row["p_adjusted"] for row in holm[:-1]) == pytest.approx(6 * p[0])
    for row, alone in zip(holm[:-1], plain[:-1], strict=True):
        assert row["ci_level"] == pytest.approx(1 - 0.05 / 6)
        assert row["ci_high"] - row["ci_low"] > alone["ci_high"] - alone["ci_low"]
        assert (row["ci_low"] > 0 or row["ci_high"] < 0) <= (row["p_adjusted"] < 0.05)
    assert run_experiment(METRICS, covariates={"cuped": "pre"}, correction="bh")[0][
        "ci_level"
    ] == pytest.approx(1 - 0.05 / 6)


def test_corrected_p_values_are_those_of_scipy_and_of_holm():
    """Of six tests whose p-values are in no order of their rows."""
    options = {"covariates": {"cuped": "pre"}}
    plain, holm, bh = (
        [
            row["p_adjusted"]
            for row in run_experiment(METRICS, correction=correction, **options)[:-1]
        ]
        for correction in ("none", "holm", "bh")
    )
    assert plain not in (sorted(plain), sorted(plain, reverse=True))
    assert bh == pytest.approx(list(stats.false_discovery_control(plain, method="bh")), rel=1e-9)
    steps = np.maximum.accumulate([(6 - rank) * p for rank, p in enumerate(sorted(plain))])
    expected = dict(zip(sorted(plain), np.minimum(steps, 1), strict=True))
    assert holm == pytest.approx([expected[p] for p in plain], rel=1e-9)


def test_relative_intervals_of_arms_of_unequal_spread():
    """By SciPy's quantile at Welch's degrees of freedom: on the linear scale those of the
    difference, on the logarithmic one those of the logarithms.
    """
    x, y = np.array([2.0, 5, 4, 9, 3]), np.array([6.0, 6.5, 7, 8, 6, 7.5, 7, 6.2, 8.1])
    table = pa.table(
        {"unit_id": range(14), "variant": ["A"] * 5 + ["B"] * 9, "x": np.concatenate([x, y])}
    )
    (linear, _), (log, _) = (
        run_experiment("Mean(x)", table, lift_scale=scale) for scale in ("linear", "log")
    )
    ratio, squares = y.mean() / x.mean(), [x.var(ddof=1) / 5, y.var(ddof=1) / 9]
    df = sum(squares) ** 2 / (squares[0] ** 2 / 4 + squares[1] ** 2 / 8)
    reach = stats.t.ppf(0.975, df) * np.sqrt(squares[1] + ratio**2 * squares[0]) / x.mean()
    assert (linear["relative_ci_low"], linear["relative_ci_high"]) == pytest.approx(
        (ratio - 1 - reach, ratio - 1 + reach), rel=1e-9
    )
    shares = [squares[0] / x.mean() ** 2, squares[1] / y.mean() ** 2]
    df = sum(shares) ** 2 / (shares[0] ** 2 / 4 + shares[1] ** 2 / 8)
    reach = stats.t.ppf(0.975, df) * np.sqrt(sum(shares))
    assert (log["relative_ci_low"], log["relative_ci_high"]) == pytest.approx(
        (ratio * np.exp(-reach) - 1, ratio * np.exp(reach) - 1), rel=1e-9
    )


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_lifts_of_ratios_of_unequal_denominators(scale):
    """Each arm has the variance that the jackknife would find at the mean leverage of its units."""
    table = draw_experiment(3, 24)
    row, _ = run_experiment("Ratio(clicks, views)", table, control="A", lift_scale=scale)
    ratios, plain, leveraged, freedom = (np.zeros(2) for _ in range(4))
    for side, arm in enumerate("AB"):
        is_arm = np.array(table["variant"].to_pylist()) == arm
        x, y = (np.array(table[name])[is_arm].astype(float) for name in ("clicks", "views"))
        ratios[side], freedom[side] = x.mean() / y.mean(), count_freedom(y)
        units, influence = len(x), linearize_ratio(x, y) / len(x)
        plain[side] = influence.var(ddof=1) * units
        left_out = (influence - influence.mean()) / (1 - 1 / (freedom[side] + 1))
        leveraged[side] = (units - 1) / units * (left_out**2).sum()
    lift, shares = ratios[1] / ratios[0], leveraged / ratios**2
    parts = plain if scale == "linear" else shares
    df = parts.sum() ** 2 / (parts**2 / freedom).sum()
    reach = stats.t.ppf(0.975, df) * shares.sum() ** 0.5 * np.array([-1, 1])
    expected = lift * (1 + reach if scale == "linear" else np.exp(reach)) - 1
    assert [row["relative_ci_low"], row["relative_ci_high"]] == pytest.approx(expected, rel=1e-9)


def test_sequential_limits_of_both_differences():
    """So many standard errors as theorem 2.2 of Waudby-Smith et al. 2021 says, of both."""
    row = run_experiment(interval="sequential", expected_units=20, lift_scale="linear")[0]
    scale = 17 * (-2 * np.log(0.05) + np.log(1 - 2 * np.log(0.05))) / 20
    reach = np.sqrt(2 * (scale + 1) / scale * np.log(np.sqrt(scale + 1) / 0.05))
    assert row["ci_high"] - row["difference"] == pytest.approx(reach * row["se"], rel=1e-9)
    fixed = run_experiment(lift_scale="linear")[0]
    quantile = stats.t.ppf(0.975, fixed["df"])
    assert row["relative_ci_high"] - row["relative_difference"] == pytest.approx(
        reach / quantile * (fixed["relative_ci_high"] - fixed["relative_difference"]), rel=1e-9
    )


def test_always_valid_p_agrees_with_its_interval():
    """The interval at a level of 1 - p, tuned as that of the call, just reaches 0."""
    row = run_experiment(interval="sequential")[0]
    units, z = 17, row["statistic"]
    rho = (-2 * np.log(0.05) + np.log(1 - 2 * np.log(0.05))) / 5000
    reach = np.sqrt(
        2 * (units * rho + 1) / (units * rho) * np.log(np.sqrt(units * rho + 1) / row["p_value"])
    )
    assert reach == pytest.approx(abs(z))
    same = UNITS.set_column(
        UNITS.column_names.index("spend"), "spend", pa.array([float(i // 3 % 2) for i in range(24)])
    )
    assert [
        row["p_value"] for row in run_experiment(data=same.slice(0, 18), interval="sequential")[:-1]
    ] == [1.0, 1.0]


@pytest.mark.slow
def test_lower_is_better():
    """Of a large effect the variant that is better is the other one."""
    table = build_table(unit_id=range(8), variant="A A A A B B B B", x="1.0 2 1 2 11 12 11 12")
    assert run_experiment("Mean(x)", table)[0]["winner"] == "B"
    assert run_experiment("Mean(x)", table, lower_is_better="Mean(x)")[0]["winner"] == "A"


def test_what_is_detectable():
    """As compare says it: quantiles of t for level and power, times the standard error."""
    row = run_experiment()[0]
    df = row["df"]
    assert row["mde"] == pytest.approx((stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * row["se"])
