"""Differences between groups: extremes, difference and ratio of any metric, their intervals, named
differences, and errors.
"""

import itertools
import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank
from tests.tables import read_columns

METRICS = ["SelectionRate", "AUC", "LogLoss", "Recall", "Bias"]
WORKED = read_columns(
    label="1 0 1 0 1 0 1 1", score="0.9 0.2 0.4 0.6 0.7 0.1 0.8 0.3", sex="f f f f m m m m"
)
"""Selection rates 1/2 of f and of m 1/2; recall 1/2 and 2/3; false positive rates 1/2 and 0."""


def make_predictions(
    seed: int, rows: int, groups: tuple[Any, ...] = ("a", "b", "c", None), users: int = 40
) -> pa.Table:
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, rows)
    label = (rng.random(rows) < 0.2 + 0.5 * (user % 7) / 7).astype(int)
    score = np.clip(rng.normal(0.4 + 0.2 * label + 0.03 * (user % 5), 0.2), 0, 1)
    columns = {
        "label": label,
        "score": score,
        "weight": rng.integers(1, 5, rows) / 2,
        "user": user,
        "day": rng.integers(0, 2, rows),
    }
    country = [groups[place] for place in rng.integers(0, len(groups), rows)]
    return pa.table({**columns, "country": country, "select": rng.integers(0, 2, rows)})


def compare_extremes(values: list[tuple[Any, float | None]]) -> dict[str, Any]:
    """Return the expected row of differences, from the value of each group."""
    known = [(value, group is not None, group) for group, value in values if value is not None]
    low, high = min(known), min((-value, known_group, group) for value, known_group, group in known)
    least, greatest = low[0], -high[0]
    return {
        "num_groups": len(known),
        "num_undefined": len(values) - len(known),
        "country_min": low[2],
        "value_min": least,
        "country_max": high[2],
        "value_max": greatest,
        "difference": greatest - least,
        "ratio": None if greatest == 0 else least / greatest,
    }


@pytest.mark.parametrize("by", [[], ["day"]])
def test_extremes_are_those_of_the_groups(by):
    table = make_predictions(1, 400)
    lonely = pa.table(
        {
            name: [value]
            for name, value in zip(
                table.column_names, (1, 0.5, 1.0, 1, 0, "only positives", 0), strict=True
            )
        }
    )
    table = pa.concat_tables([table, lonely.cast(table.schema)])
    rows = sqlrank.evaluate(METRICS, predictions=table, by=by, across="country").to_pylist()
    groups = sqlrank.evaluate(METRICS, predictions=table, by=[*by, "country"]).to_pylist()
    keys = sorted({tuple(row[name] for name in by) for row in groups})
    assert [(tuple(row[name] for name in by), row["metric"]) for row in rows] == [
        (key, metric) for key in keys for metric in METRICS
    ]
    for row in rows:
        values = [
            (group["country"], group[row["metric"]])
            for group in groups
            if all(group[name] == row[name] for name in by)
        ]
        expected = compare_extremes(values)
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-12), row[
            "metric"
        ]
    assert {row["num_undefined"] for row in rows if row["metric"] == "AUC"} == (
        {0, 1} if by else {1}
    )


def test_named_differences_are_the_greatest_of_their_metrics():
    names = [
        "EqualizedOdds",
        "demographic_parity_difference",
        "EqualOpportunity(threshold=0.35)",
        "Recall",
    ]
    rows = {
        row["metric"]: row
        for row in sqlrank.evaluate(names, predictions=WORKED, across="sex").to_pylist()
    }
    assert list(rows) == [
        "Recall",
        "EqualizedOdds",
        "demographic_parity_difference",
        "EqualOpportunity(threshold=0.35)",
    ]
    odds = {
        name: rows["EqualizedOdds"][name]
        for name in ("component", "sex_min", "sex_max", "difference", "ratio")
    }
    assert odds == {
        "component": "FPR",
        "sex_min": "m",
        "sex_max": "f",
        "difference": 0.5,
        "ratio": 0.0,
    }
    parity = rows["demographic_parity_difference"]
    assert (parity["component"], parity["difference"], parity["ratio"]) == ("SelectionRate", 0, 1)
    assert rows["Recall"]["difference"] == pytest.approx(2 / 3 - 1 / 2)
    assert rows["EqualOpportunity(threshold=0.35)"]["difference"] == pytest.approx(1 - 2 / 3)


def test_combinations_of_several_columns_are_groups():
    table = make_predictions(3, 300)
    (row,) = sqlrank.evaluate(
        "SelectionRate", predictions=table, across=["country", "select"]
    ).to_pylist()
    groups = sqlrank.evaluate(
        "SelectionRate", predictions=table, by=["country", "select"]
    ).to_pylist()
    low = min(groups, key=lambda group: group["SelectionRate"])
    assert (row["num_groups"], row["country_min"], row["select_min"]) == (
        8,
        low["country"],
        low["select"],
    )
    (computed,) = sqlrank.evaluate(
        "SelectionRate", predictions=table, across="parity=user % 2"
    ).to_pylist()
    assert {computed["parity_min"], computed["parity_max"]} == {0, 1}


def newcombe(
    successes: tuple[int, int], trials: tuple[int, int], level: float
) -> tuple[float, float]:
    """Return Newcombe's interval of the second share less the first, method 10 of his paper of
    1998.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    limits = []
    for hits, count in zip(successes, trials, strict=True):
        share = hits / count
        center, spread = (
            share + z * z / (2 * count),
            z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)),
        )
        limits.append(
            ((center - spread) / (1 + z * z / count), (center + spread) / (1 + z * z / count))
        )
    first, second = (hits / count for hits, count in zip(successes, trials, strict=True))
    (low_1, high_1), (low_2, high_2) = limits
    below, above = (
        math.hypot(second - low_2, high_1 - first),
        math.hypot(high_2 - second, first - low_1),
    )
    return second - first - below, second - first + above


def test_two_groups_of_a_share_have_newcombes_interval():
    """Newcombe 1998, table II (a): 56 of 70 and 48 of 80, 0.0524 to 0.3339 by method 10."""
    assert newcombe((48, 56), (80, 70), 0.95) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # Enough rows that Student's quantile is the normal one, and the limits those of the formula.
    counts = ((48_000, 80_000), (56_000, 70_000))
    score = [1.0 if row < hits else 0.0 for hits, rows in counts for row in range(rows)]
    table = {"score": score, "label": [1] * len(score), "sex": ["m"] * 80_000 + ["f"] * 70_000}
    (row,) = sqlrank.evaluate(
        "SelectionRate", predictions=table, across="sex", confidence=0.95, interval="wilson"
    ).to_pylist()
    expected = newcombe((48_000, 56_000), (80_000, 70_000), 0.95)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=1e-6)
    assert row["ratio_ci_low"] < row["ratio"] < row["ratio_ci_high"] < 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("metric", ["SelectionRate", "MSE", "AUC"])
def test_difference_and_ratio_are_significant_together(metric):
    """8 of 40 and 20 of 50 were a difference from 0.0, and a ratio up to 0.998."""
    rng, decisions = np.random.default_rng(11), []
    counts = [
        (8, 40, 20, 50),
        *((int(rng.integers(1, 20)), 40, int(rng.integers(10, 35)), 50) for _ in range(10)),
    ]
    for first, num_first, second, num_second in counts:
        hits = [row < first for row in range(num_first)] + [
            row < second for row in range(num_second)
        ]
        label = (rng.random(num_first + num_second) < 0.5).astype(int)
        score = (
            np.where(hits, 0.9, 0.1)
            if metric == "SelectionRate"
            else np.abs(label - 0.4 * np.array(hits) - rng.random(len(hits)) / 2)
        )
        table = {
            "score": [*map(float, score)],
            "label": label.tolist(),
            "sex": ["m"] * num_first + ["f"] * num_second,
        }
        (row,) = sqlrank.evaluate(
            metric, predictions=table, across="sex", confidence=0.95
        ).to_pylist()
        assert row["ratio_ci_low"] <= row["ratio"] <= row["ratio_ci_high"]
        assert (row["ci_low"] > 0) == (row["ratio_ci_high"] < 1)
        decisions.append(row["ci_low"] > 0)
    assert metric != "SelectionRate" or (decisions[0] is False and any(decisions))


def influence_of_units(table: pa.Table, metric: str, group: Any) -> np.ndarray:
    columns = {
        name: np.array(table[name].to_pylist(), dtype=object if name == "country" else float)
        for name in table.column_names
    }
    rows = np.array([value == group for value in columns["country"]])
    label, score, weight = (columns[name][rows] for name in ("label", "score", "weight"))
    values = {"SelectionRate": (score >= 0.5) * 1.0, "Bias": score - label}[metric]
    influence = np.zeros(40)
    np.add.at(
        influence,
        columns["user"][rows].astype(int),
        weight * (values - np.average(values, weights=weight)) / weight.sum(),
    )
    return influence


@pytest.mark.one_in(2)
@pytest.mark.parametrize("unit", ["user", None])
def test_intervals_hold_for_all_pairs_and_heed_shared_units(unit):
    table, level = make_predictions(4, 900), 0.9
    call = {"predictions": table, "confidence": level, "unit": unit}
    metrics = ["SelectionRate", "Bias"]
    rows = sqlrank.evaluate(metrics, across="country", **call).to_pylist()
    groups = sqlrank.evaluate(metrics, by="country", **call).to_pylist()
    quantile = NormalDist().inv_cdf(1 - (1 - level) / 2 / math.comb(4, 2))
    for row in rows:
        metric, lows, highs = row["metric"], [], []
        for pair in itertools.combinations(groups, 2):
            low, high = sorted(pair, key=lambda group: group[metric])
            margins = []
            for group in (low, high):
                inverse = (
                    (8 * group[f"{metric}.n_units"] - 5) / (8 * group[f"{metric}.n_units"] - 7)
                ) ** 2 / (group[f"{metric}.n_units"] - 1)
                usual = NormalDist().inv_cdf((1 + level) / 2)
                factor = math.sqrt(
                    math.expm1(quantile**2 * inverse) / math.expm1(usual**2 * inverse)
                )
                margins.append(
                    [
                        factor * abs(group[metric] - group[f"{metric}.{limit}"])
                        for limit in ("ci_low", "ci_high")
                    ]
                )
            first, second = (
                influence_of_units(table, metric, group["country"]) for group in (low, high)
            )
            correlation = (
                0.0
                if unit is None
                else first @ second / math.sqrt((first @ first) * (second @ second))
            )
            (low_below, low_above), (high_below, high_above) = margins
            difference = high[metric] - low[metric]
            lows.append(
                difference
                - math.sqrt(high_below**2 + low_above**2 - 2 * correlation * high_below * low_above)
            )
            highs.append(
                difference
                + math.sqrt(high_above**2 + low_below**2 - 2 * correlation * high_above * low_below)
            )
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            (max(0, *lows), max(highs)), abs=1e-4
        ), metric
        assert (
            row["value_min_ci_low"]
            < row["value_min"]
            < row["value_min_ci_high"]
            <= row["value_max_ci_high"]
        )


def measure_errors(users: int, *levels: float) -> pa.Table:
    """Return predictions of label 0, whose scores are their errors: a row per user and group, where
    a user's errors are high or low in all groups.
    """
    rng = np.random.default_rng(8)
    own = rng.uniform(0, 0.2, users)
    rows = [
        ("abc"[group], user, level + own[user] + rng.uniform(0, 0.1))
        for group, level in enumerate(levels)
        for user in range(users)
    ]
    country, user, score = zip(*rows, strict=True)
    return pa.table({"country": country, "user": user, "score": score, "label": [0.0] * len(rows)})


@pytest.mark.parametrize("unit", [None, "user"])
@pytest.mark.parametrize("levels", [(0.3, 0.9), (0.3, 0.6, 1.2)])
def test_limits_of_means_by_the_formula_of_zou_and_donner(levels, unit):
    """From SciPy's intervals of the means: those of the pair of the least and the greatest, which
    no other pair reaches. Users that are in all groups narrow it (Zou 2007).
    """
    table, level = measure_errors(8, *levels), 0.9
    (row,) = sqlrank.evaluate(
        "MAE", predictions=table, across="country", confidence=level, unit=unit, interval="t"
    ).to_pylist()
    errors = table["score"].to_numpy().reshape(len(levels), 8)
    pairs = math.comb(len(levels), 2)
    quantile = stats.t.ppf(1 - (1 - level) / 2 / pairs, 7)
    (low, below), (high, above) = (
        (values.mean(), quantile * values.std(ddof=1) / 8**0.5) for values in errors[[0, -1]]
    )
    correlation = 0.0 if unit is None else np.corrcoef(errors[0], errors[-1])[0, 1]
    margin = math.sqrt(below**2 + above**2 - 2 * correlation * below * above)
    margins = (high - low - row["ci_low"], row["ci_high"] - (high - low))
    assert margins == pytest.approx((margin, margin), rel=2e-3 if pairs > 1 else 1e-9)
    log_low = (math.log(low / (low - below)), math.log((low + below) / low))
    log_high = (math.log(high / (high - above)), math.log((high + above) / high))
    reach = [
        math.sqrt(
            log_low[i] ** 2 + log_high[1 - i] ** 2 - 2 * correlation * log_low[i] * log_high[1 - i]
        )
        for i in (0, 1)
    ]
    assert (row["ratio_ci_low"], row["ratio_ci_high"]) == pytest.approx(
        (low / high * math.exp(-reach[0]), low / high * math.exp(reach[1])),
        rel=2e-3 if pairs > 1 else 1e-9,
    )


def test_the_first_of_equal_groups_is_named():
    (row,) = sqlrank.evaluate("SelectionRate", predictions=WORKED, across="sex").to_pylist()
    assert (row["value_min"], row["sex_min"], row["value_max"], row["sex_max"]) == (
        *(0.5, "f", 0.5, "f"),
    )


@pytest.mark.slow
def test_systems_that_share_queries_have_narrower_intervals_than_apart():
    rng = np.random.default_rng(5)
    noise = rng.random((30, 10))
    docs = [(f"q{query}", f"d{doc}", noise[query, doc]) for query in range(30) for doc in range(10)]
    runs = {name: {} for name in ("alike", "other")}
    for query, doc, value in docs:
        runs["alike"].setdefault(query, {})[doc] = value
        runs["other"].setdefault(query, {})[doc] = value + 0.02 * rng.random()
    qrels = {
        query: {doc: int(doc in {"d1", "d4"}) for doc in run}
        for query, run in runs["alike"].items()
    }
    call = {"run": runs, "qrels": qrels, "confidence": 0.95}
    (row,) = sqlrank.evaluate("nDCG", across="system", **call).to_pylist()
    (pair,) = sqlrank.compare("nDCG", run=runs, qrels=qrels).to_pylist()
    assert row["difference"] == pytest.approx(abs(pair["difference"]), abs=1e-12)
    widths = sqlrank.evaluate("nDCG", **call).to_pylist()
    apart = math.hypot(*(row["nDCG.ci_high"] - row["nDCG"] for row in widths))
    assert row["ci_high"] - row["difference"] < 0.3 * apart


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"predictions": {"label": [1], "score": [0.7], "country": ["a"]}}, [(1, 0, 0.0, 1.0, None, None)]),
        ({"predictions": read_columns(label="1 0", score="0.1 0.2", country="a b")}, [(2, 0, 0.0, None, None, None)]),
        ({"predictions": read_columns(label="1 1 1 1", score="0.9 0.9 0.9 0.9", country="a a b b")}, [(2, 0, 0.0, 1.0, 0.0, 1.0)]),
    ],
)  # fmt: skip
def test_few_rows_and_equal_values(options, expected):
    columns = {
        name: pa.array(values, pa.string() if name == "country" else pa.float64())
        for name, values in options["predictions"].items()
    }
    found = sqlrank.evaluate(
        "SelectionRate", predictions=pa.table(columns), across="country", confidence=0.95
    ).to_pylist()
    names = ("num_groups", "num_undefined", "difference", "ratio", "ci_low", "ratio_ci_high")
    assert [tuple(row[name] for name in names) for row in found] == expected


def test_types_and_names_of_columns():
    result = sqlrank.evaluate(
        "hr",
        run={"q": {"d": 1.0}},
        qrels={"q": {"d": 1}},
        across="day=1",
        by="kind='x'",
        names="plain",
    )
    assert [(field.name, str(field.type)) for field in result.schema] == [
        *(
            ("kind", "string"),
            ("metric", "string"),
            ("num_groups", "int64"),
            ("num_undefined", "int64"),
        ),
        *(
            ("day_min", "int32"),
            ("value_min", "double"),
            ("day_max", "int32"),
            ("value_max", "double"),
        ),
        *(("difference", "double"), ("ratio", "double")),
    ]
    assert result["metric"].to_pylist() == ["hr"]
    assert result.schema.metadata[b"sqlrank.result"] == b"group_differences"
