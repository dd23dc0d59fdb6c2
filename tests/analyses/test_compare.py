"""Comparisons: golden numbers of other tools, values by hand, and invariances."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.inference import (
    HypothesisFamily,
    Tolerance,
    adjust_p_values,
    minimum_detectable_effect,
    required_units,
)
from tests.tables import build_table

A = [0.50, 0.25, 1.0, 0.33, 0.00, 0.75, 0.20, 0.50, 0.10, 0.60, 0.40, 0.90]
B = [0.75, 0.25, 1.0, 0.50, 0.25, 0.80, 0.10, 0.75, 0.20, 0.65, 0.55, 0.85]
C = [0.40, 0.30, 1.0, 0.33, 0.10, 0.70, 0.25, 0.55, 0.10, 0.70, 0.45, 0.80]
SHARE = """-- Portion: mean of the scores, which are shares.
-- Range: 0 to 1.
-- Undefined: no predictions.
SELECT group_id, SUM(weight * score) / NULLIF(SUM(weight), 0) AS portion FROM predictions GROUP BY group_id
"""


@pytest.fixture
def shares(tmp_path: Path) -> Path:
    """Return a user's folder with a metric whose values are the given scores."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "portion.sql").write_text(SHARE)
    return tmp_path


def score(**systems: list[float | None]) -> pa.Table:
    rows = [
        (name, f"q{i}", value)
        for name, values in systems.items()
        for i, value in enumerate(values, start=1)
        if value is not None
    ]
    names, ids, scores = zip(*rows, strict=True)
    return pa.table(
        {
            "system": names,
            "query_id": ids,
            "score": [float(value) for value in scores],
            "label": [0.0] * len(rows),
        }
    )


def compare(folder: Path, table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.compare(
        "Portion", predictions=table, sql_dir=folder, level="query", **options
    ).to_pylist()


# By hand, and the numbers of other tools


def test_student(shares):
    """Compare with scipy's paired t-test."""
    (row,) = compare(shares, score(a=A, b=B))
    assert (row["metric"], row["baseline"], row["system"], row["n_units"], row["unpaired"]) == (
        "Portion", "a", "b", 12, 0,
    )  # fmt: skip
    assert (row["wins"], row["ties"], row["losses"], row["ci_level"], row["winner"]) == (
        8, 2, 2, 0.95, "b",
    )  # fmt: skip
    found = [
        row[name]
        for name in ("difference", "se", "statistic", "p_value", "ci_low", "ci_high", "cohens_d")
    ]
    expected = [
        0.0933333333, 0.0350180329, 2.6652934410, 0.0219779663, 0.0162591626, 0.1704075040,
        0.7694039428,
    ]  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-10)
    assert row["relative_difference"] == pytest.approx(row["difference"] / row["value_baseline"])
    assert row["mde"] == pytest.approx(
        minimum_detectable_effect(row["se"] * math.sqrt(12), 12, 0.95, 0.8)
    )
    assert row["required_units"] is None


@pytest.mark.parametrize(
    ("test", "statistic", "p"),
    [
        ("wilcoxon", 2.1531384666, 0.0313077979),
        ("sign", 8, 0.109375),
        ("randomization", 0.0933333333, 0.033203125),
    ],
)
def test_other_tests(test, statistic, p, shares):
    (row,) = compare(shares, score(a=A, b=B), test=test)
    assert (row["statistic"], row["p_value"]) == pytest.approx((statistic, p), abs=1e-10)
    assert row["test"] == test


def test_the_greatest_t(shares):
    """One draw of signs for all comparisons: p-values and intervals that agree."""
    rows = compare(shares, score(a=A, b=B, c=C), baseline="a", correction="max_t")
    assert [(row["baseline"], row["system"]) for row in rows] == [("a", "b"), ("a", "c")]
    assert [row["p_adjusted"] for row in rows] == pytest.approx([0.0549, 0.8547], abs=1e-12)
    assert rows[1]["statistic"] == pytest.approx(0.63828474, abs=1e-8)
    assert [(row["ci_high"] - row["difference"]) / row["se"] for row in rows] == pytest.approx(
        [2.6652934] * 2, abs=1e-7
    )
    assert [row["winner"] for row in rows] == [None, None]


def test_corrections(shares):
    table = score(a=A, b=B, c=C)
    plain = [row["p_value"] for row in compare(shares, table, correction="none")]
    unadjusted = [row["p_adjusted"] for row in compare(shares, table, correction="none")]
    assert unadjusted == pytest.approx(plain, rel=1e-12)  # threads add up in varying order
    for correction, method in (("holm", None), ("bh", "bh")):
        rows = compare(shares, table, correction=correction)
        expected = (
            adjust_p_values(plain, "holm")
            if method is None
            else stats.false_discovery_control(plain, method=method)
        )
        assert [row["p_adjusted"] for row in rows] == pytest.approx(list(expected), abs=1e-12)
        assert {row["ci_level"] for row in rows} == {1 - 0.05 / 3}
        for row in rows:
            assert row["ci_low"] <= 0 <= row["ci_high"] or row["p_adjusted"] < 0.05
    assert adjust_p_values([0.01, None, 0.04], "holm") == [0.02, None, 0.04]


@pytest.mark.parametrize(("p", "is_significant"), [(0.25, False), (0.2499, True), (None, False)])
def test_a_p_value_of_alpha_rejects_nothing(p, is_significant):
    assert HypothesisFamily(0.75, "none", 1).is_significant(p) is is_significant


def test_the_level_of_an_interval_is_where_its_own_test_decides():
    """Holm's third of five: at p = 0.01 its corrected p is 0.03, and so at 0.05 / 3 it is 0.05."""
    family = HypothesisFamily(0.95, "holm", 5)
    assert family.level_for(0.012, 0.036) == pytest.approx(1 - 0.05 / 3)
    assert family.level_for(0.001, 0.005) == family.level_for(0.02, 0.06) == pytest.approx(0.99)


@pytest.mark.parametrize("p", [[0.01, 0.04, 0.041], [0.5, 0.03, 0.02, 0.9, 0.021], [0.04, 0.04]])
def test_adjusted_p_values_are_those_of_scipy_and_of_holm(p):
    """A later p-value may have the smaller quotient, which all before it share."""
    assert adjust_p_values(p, "bh") == pytest.approx(list(stats.false_discovery_control(p)))
    steps = np.maximum.accumulate([(len(p) - i) * each for i, each in enumerate(sorted(p))])
    expected = [min(1, steps[sorted(p).index(each)]) for each in p]
    assert adjust_p_values(p, "holm") == pytest.approx(expected) or len({*p}) < len(p)


def test_a_share_of_a_negative_baseline_is_a_margin():
    assert Tolerance.parse("10%").compute_margin(-0.5) == pytest.approx(0.05)


def test_power():
    """Of statsmodels TTestPower; its least effect is by the noncentral t, and 0.0001 away."""
    assert minimum_detectable_effect(1, 200, 0.95, 0.8) == pytest.approx(0.199078, abs=1e-6)
    assert [required_units(1, effect, 0.95, 0.8) for effect in (0.05, 0.1, 0.2, 0.5, 1)] == [
        3142, 787, 199, 34, 10,
    ]  # fmt: skip


def test_an_effect(shares):
    (row,) = compare(shares, score(a=A, b=B), target_effect=0.05)
    deviation = row["se"] * math.sqrt(12)
    assert row["required_units"] == required_units(deviation, 0.05, 0.95, 0.8)
    (share,) = compare(shares, score(a=A, b=B), target_effect="10%")
    assert share["required_units"] == required_units(
        deviation, 0.1 * row["value_baseline"], 0.95, 0.8
    )


def test_scipy():
    """Random rankings against paired tests of scipy over the values of queries."""
    draw = np.random.default_rng(5)
    run = {
        name: {
            f"q{q}": {f"d{d}": float(draw.integers(10)) / 4 for d in range(8)} for q in range(25)
        }
        for name in ("x", "y")
    }
    qrels = {f"q{q}": {f"d{d}": int(draw.integers(3)) for d in range(8)} for q in range(25)}
    metrics = ["nDCG@5", "AP", "P@3"]
    values = {
        name: sqlrank.evaluate(metrics, run=run[name], qrels=qrels, per_query=True) for name in run
    }
    for test in ("t", "wilcoxon"):
        for row in sqlrank.compare(metrics, run=run, qrels=qrels, test=test).to_pylist():
            one, two = (values[name][row["metric"]].to_numpy() for name in ("x", "y"))
            if test == "t":
                expected = stats.ttest_rel(two, one)
                interval = expected.confidence_interval(row["ci_level"])
                assert (row["ci_low"], row["ci_high"]) == pytest.approx(
                    (interval.low, interval.high), abs=1e-9
                )
            else:
                rounded = np.round(two - one, 9)
                expected = stats.wilcoxon(
                    rounded, zero_method="wilcox", correction=False, method="asymptotic"
                )
            assert row["p_value"] == pytest.approx(expected.pvalue, abs=1e-9)
            assert row["wins"] + row["ties"] + row["losses"] == row["n_units"] == 25


def draw_systems(seed: int) -> pa.Table:
    """Return ten systems, whose differences from the first have p-values on both sides of every
    limit of a correction.
    """
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 0.05, (10, 30))
    noise[1:] -= noise[1:].mean(axis=1, keepdims=True)
    aims = [0.0, *np.linspace(1.9, 3.1, 9)]
    values = [
        0.5 + row + aim * row.std(ddof=1) / math.sqrt(30)
        for row, aim in zip(noise, aims, strict=True)
    ]
    values[0] = np.full(30, 0.5)
    return score(
        **{f"s{place}": [float(value) for value in row] for place, row in enumerate(values)}
    )


TESTS_AND_CORRECTIONS = [
    *(
        (test, correction)
        for test in ("t", "wilcoxon", "sign", "randomization")
        for correction in ("holm", "bh", "none")
    ),
    ("t", "max_t"),
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("test", "correction"), TESTS_AND_CORRECTIONS)
def test_winners_and_intervals_agree(test, correction, seed, shares):
    """No interval of a winner holds 0, every other does, and no winner has a corrected p above the
    limit.
    """
    rows = compare(shares, draw_systems(seed), baseline="s0", test=test, correction=correction)
    for row in rows:
        assert (row["winner"] is not None) == (row["ci_low"] > 0 or row["ci_high"] < 0), row
        assert row["winner"] is None or row["p_adjusted"] < 0.05
        assert row["ci_level"] >= 0.95
    if test == "t":
        assert [row["winner"] is not None for row in rows] == [
            row["p_adjusted"] < 0.05 for row in rows
        ]
        assert len({row["winner"] is None for row in rows}) == 2


def test_a_winner_by_a_step_of_holm_has_an_interval_without_0(shares):
    """The second of three is found at 0.05 / 2, at which level its interval stands; Bonferroni's
    would hold 0.
    """
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.1, (3, 20))
    noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, ddof=1, keepdims=True)
    aims = stats.t.isf(np.array([0.001, 0.02, 0.2]) / 2, 19)
    values = {
        f"s{i}": [float(v) for v in 0.5 + 0.01 * (row + aim / math.sqrt(20))]
        for i, (row, aim) in enumerate(zip(noise, aims, strict=True))
    }
    rows = compare(shares, score(a=[0.5] * 20, **values), baseline="a")
    assert [row["p_value"] for row in rows] == pytest.approx([0.001, 0.02, 0.2], rel=1e-6)
    assert [row["p_adjusted"] for row in rows] == pytest.approx([0.003, 0.04, 0.2], rel=1e-6)
    assert [row["ci_level"] for row in rows] == pytest.approx(
        [1 - 0.05 / 3, 1 - 0.05 / 2, 1 - 0.05 / 3]
    )
    assert [row["winner"] for row in rows] == ["s0", "s1", None]
    assert rows[1]["ci_low"] > 0 > rows[2]["ci_low"]
    deviation = rows[1]["se"] * math.sqrt(20)
    assert rows[1]["mde"] == pytest.approx(
        minimum_detectable_effect(deviation, 20, 1 - 0.05 / 3, 0.8)
    )


def test_a_sign_test_on_the_other_side_of_the_mean_names_no_winner(shares):
    """27 small gains and 3 great losses: more queries gain, and the mean falls."""
    gains = [0.51] * 27 + [0.1] * 3
    (row,) = compare(shares, score(a=[0.5] * 30, b=gains), test="sign")
    assert row["p_adjusted"] < 0.001
    assert row["difference"] < 0
    assert (row["wins"], row["losses"], row["winner"]) == (27, 3, None)
    assert row["ci_low"] < 0 <= row["ci_high"]


def test_power_heeds_the_correction(shares):
    """A difference is found by its corrected p: detectable and needed are those of the intervals,
    under max_t by the drawn limit.
    """
    table = draw_systems(1)
    plain = compare(shares, table, baseline="s0", correction="none", target_effect=0.02)
    for correction in ("holm", "bh", "max_t"):
        for row, alone in zip(
            compare(shares, table, baseline="s0", correction=correction, target_effect=0.02),
            plain,
            strict=True,
        ):
            deviation = row["se"] * math.sqrt(30)
            reach = (
                None if correction != "max_t" else (row["ci_high"] - row["difference"]) / row["se"]
            )
            if correction == "max_t" and row["ci_high"] == 0:
                continue
            assert row["mde"] == pytest.approx(
                minimum_detectable_effect(deviation, 30, 1 - 0.05 / 9, 0.8, reach), rel=1e-9
            )
            assert row["required_units"] == required_units(
                deviation, 0.02, 1 - 0.05 / 9, 0.8, reach
            )
            assert row["mde"] > alone["mde"]
            assert row["required_units"] > alone["required_units"]


# Groups, weights and what is missing


def test_units_that_only_one_has(shares):
    table = score(a=[*A, 0.3, None], b=[*B, None, 0.9])
    (row,) = compare(shares, table)
    assert (row["n_units"], row["unpaired"], row["difference"]) == (
        12,
        2,
        pytest.approx(0.0933333333, abs=1e-10),
    )


@pytest.mark.slow
def test_groups():
    run = {
        name: {f"q{q}": {"a": 1.0, "b": float(q % good)} for q in range(6)}
        for name, good in (("x", 2), ("y", 3))
    }
    qrels = {f"q{q}": {"b": 1} for q in range(6)}
    queries = build_table(query_id=[f"q{q}" for q in range(6)], country="de de de fr fr NULL")
    rows = sqlrank.compare("RR", run=run, qrels=qrels, queries=queries, by=[[], ["country"]])
    assert rows.column_names[:5] == ["country", "slice", "metric", "baseline", "system"]
    assert [(row["country"], row["slice"], row["n_units"]) for row in rows.to_pylist()] == [
        (None, "all", 6),
        (None, "country", 1),
        ("de", "country", 3),
        ("fr", "country", 2),
    ]
    alone = sqlrank.compare("RR", run=run, qrels=qrels, queries=queries, by="country")
    assert alone.column_names[:2] == ["country", "metric"]
    assert alone.num_rows == 3


def test_weights_of_queries():
    """A query of weight 2 moves the mean twice as far; one of weight 0 is none; scaling all changes
    nothing.
    """
    run = {
        "x": {f"q{q}": {"a": 1.0, "b": 0.5} for q in range(4)},
        "y": {f"q{q}": {"a": 1.0, "b": 2.0 * (q % 2)} for q in range(4)},
    }
    qrels = {f"q{q}": {"b": 1} for q in range(4)}
    weights = [1.0, 2.0, 4.0, 0.0]
    found = []
    for scale in (1.0, 1e-6):
        queries = pa.table(
            {"query_id": [f"q{q}" for q in range(4)], "weight": [scale * w for w in weights]}
        )
        (row,) = sqlrank.compare("RR", run=run, qrels=qrels, queries=queries).to_pylist()
        found.append(row)
    assert found[0]["difference"] == pytest.approx(2 / 7 * 0.5)
    differences, mean = [0.0, 0.5, 0.0], 2 / 7 * 0.5
    moves = [w / 7 * (d - mean) for w, d in zip(weights, differences, strict=False)]
    assert found[0]["se"] == pytest.approx(math.sqrt(3 / 2 * sum(move * move for move in moves)))
    assert found[0]["n_units"] == 3
    assert {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in found[0].items()
    } == found[1]


def test_weights_are_for_t_alone():
    queries = build_table(query_id="q", weight="2.0")
    runs, qrels = {"x": {"q": {"a": 1.0}}, "y": {"q": {"a": 1.0}}}, {"q": {"a": 1}}
    for options in ({"test": "sign"}, {"correction": "max_t"}):
        with pytest.raises(MetricError, match=r"^queries have weights, which only t-tests use"):
            sqlrank.compare("RR", run=runs, qrels=qrels, queries=queries, **options)


def test_differences_of_queries(shares):
    """Sort differences by the largest loss of the second system."""
    result = sqlrank.compare(
        "Portion",
        predictions=score(a=A[:3], b=[0.6, 0.25, 0.2]),
        sql_dir=shares,
        level="query",
        per_query=True,
    )
    assert result.column_names == [
        "metric", "baseline", "system", "query_id", "value_baseline", "value", "difference",
    ]  # fmt: skip
    assert [(row["query_id"], round(row["difference"], 9)) for row in result.to_pylist()] == [
        ("q3", -0.8),
        ("q2", 0.0),
        ("q1", 0.1),
    ]
    worse = sqlrank.compare(
        "MAE", predictions=score(a=A[:3], b=[0.6, 0.25, 0.2]), level="query", per_query=True
    )
    assert [row["query_id"] for row in worse.to_pylist()] == ["q1", "q2", "q3"]


@pytest.mark.slow
def test_lower_is_better(shares):
    """Wins are of the better system, whichever way a metric goes."""
    (row,) = sqlrank.compare("MAE", predictions=score(a=A, b=B), level="query").to_pylist()
    assert (row["wins"], row["ties"], row["losses"], row["winner"]) == (2, 2, 8, "a")
    (bias,) = sqlrank.compare("Bias", predictions=score(a=A, b=B), level="query").to_pylist()
    assert bias["p_value"] == pytest.approx(row["p_value"])
    assert bias["winner"] is None
    assert compare(shares, score(a=A, b=B))[0]["p_value"] == pytest.approx(row["p_value"])


def test_several_scores():
    predictions = build_table(
        query_id="a a b b", label="1 0 0 1", old="0.9 0.1 0.2 0.8", new="0.1 0.9 0.3 0.4"
    )
    (row,) = sqlrank.compare(
        "AUC",
        predictions=predictions,
        columns={"score": ["old", "new"]},
        level="query",
        baseline="old",
    ).to_pylist()
    assert (row["baseline"], row["system"], row["value_baseline"], row["value"]) == (
        "old",
        "new",
        1.0,
        0.5,
    )


# What never changes


def test_a_system_against_itself(shares):
    (row,) = compare(shares, score(a=A, b=A))
    assert (row["difference"], row["p_value"], row["p_adjusted"], row["ties"], row["winner"]) == (
        0, 1, 1, 12, None,
    )  # fmt: skip
    assert (row["ci_low"], row["ci_high"], row["statistic"], row["cohens_d"]) == (
        None,
        None,
        None,
        None,
    )


def test_the_same_change_everywhere_is_no_certainty(shares):
    (row,) = compare(shares, score(a=[0.1, 0.2, 0.7], b=[0.2, 0.3, 0.8]))
    assert row["difference"] == pytest.approx(0.1)
    assert (row["wins"], row["se"], row["p_value"], row["ci_low"], row["winner"]) == (
        3, 0, None, None, None,
    )  # fmt: skip


@pytest.mark.slow
def test_one_query_and_none(shares):
    (row,) = compare(shares, score(a=[0.1], b=[0.5]))
    assert (row["n_units"], row["difference"], row["se"], row["p_value"], row["winner"]) == (
        1, 0.4, None, None, None,
    )  # fmt: skip
    (none,) = compare(shares, score(a=[0.1, None], b=[None, 0.5]))
    assert (
        none["n_units"], none["unpaired"], none["difference"], none["wins"], none["p_value"],
    ) == (0, 2, None, None, None)  # fmt: skip
    assert (
        compare(shares, score(a=[0.1, None], b=[None, 0.5]), test="randomization")[0]["p_value"]
        is None
    )


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization"])
def test_the_order_of_rows_and_systems(test, shares):
    table = score(a=A, b=B)
    (row,) = compare(shares, table, test=test)
    (shuffled,) = compare(shares, table.take(np.random.default_rng(3).permutation(24)), test=test)
    assert shuffled["p_value"] == pytest.approx(row["p_value"], rel=1e-12)
    (turned,) = compare(shares, table, test=test, baseline="b")
    assert turned["difference"] == pytest.approx(-row["difference"])
    assert (turned["ci_low"], turned["ci_high"]) == pytest.approx((-row["ci_high"], -row["ci_low"]))
    assert (turned["wins"], turned["losses"], turned["winner"]) == (
        row["losses"],
        row["wins"],
        row["winner"],
    )
    assert turned["p_value"] == pytest.approx(row["p_value"])


@pytest.mark.slow
def test_seeds(shares):
    table = score(a=A * 3, b=C * 3)
    found = {
        seed: compare(shares, table, test="randomization", replicates=999, seed=seed)[0]["p_value"]
        for seed in (0, 0, 1, 2)
    }
    assert found[0] == compare(shares, table, test="randomization", replicates=999)[0]["p_value"]
    assert len(set(found.values())) > 1


def test_names_that_are_odd(shares):
    """Systems and groups of any name, also those of columns that are made here."""
    table = (
        score(**{"a\"'; --": A, "select": B})
        .append_column("cell", pa.array(["x", "y"] * 12))
        .append_column("va lue", pa.array(["u"] * 24))
    )
    rows = compare(shares, table, by=["cell", "va lue"])
    assert [
        (row["cell"], row["va lue"], row["baseline"], row["system"], row["n_units"]) for row in rows
    ] == [("x", "u", "a\"'; --", "select", 6), ("y", "u", "a\"'; --", "select", 6)]


# What is refused


@pytest.mark.slow
def test_systems_that_cannot_be_compared(shares):
    with pytest.raises(
        MetricError,
        match=(
            r"^two systems are needed to compare, and there is only 'a'. Name their column with"
            r" system="
        ),
    ):
        compare(shares, score(a=A))
    nameless = score(a=A, b=B).set_column(0, "system", pa.array(["a"] * 12 + [None] * 12))
    with pytest.raises(
        InputError, match=r"^a system is NULL. Give every system a name to compare it"
    ):
        compare(shares, nameless)
    doubles = score(a=A * 3, b=B * 3).set_column(
        1, "query_id", pa.array([i / 2 for i in range(36)] * 2)
    )
    with pytest.raises(
        InputError, match=r"^query_id: signs are drawn by ids, which are text or integers"
    ):
        compare(shares, doubles, test="randomization")
    with pytest.raises(
        MetricError, match=r"signs would have to be drawn. Ask for fewer replicates="
    ):
        sqlrank.compare(
            "Portion",
            predictions=pa.table(
                {
                    "system": [s for s in "ab" for _ in range(30_000)],
                    "query_id": [*range(30_000)] * 2,
                    "score": [0.5] * 30_000 + [0.6] * 30_000,
                    "label": [0.0] * 60_000,
                }
            ),
            sql_dir=shares,
            level="query",
            test="randomization",
            replicates=1_000_000,
        )
