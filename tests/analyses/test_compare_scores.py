"""Comparisons of scores of the same rows: golden numbers, DeLong's test by its formula, and linear
metrics by paired tests of rows.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from typer.testing import CliRunner

import sqlrank
from tests.interface.command_line import app

LABEL = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
A = [0.9, 0.8, 0.4, 0.6, 0.7, 0.4, 0.3, 0.2, 0.1, 0.35]
B = [0.8, 0.9, 0.6, 0.3, 0.5, 0.5, 0.2, 0.1, 0.4, 0.3]
WEIGHT = [1, 2, 1, 0.5, 1, 3, 1, 1, 2, 1]
USER = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
BOTH = {"score": ["a", "b"]}


def make_predictions(**more: Any) -> pa.Table:
    return pa.table({"label": LABEL, "a": A, "b": B, **more})


def compare(metrics: Any, predictions: pa.Table, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.compare(
        metrics, predictions=predictions, columns=BOTH, **{"correction": "none", **options}
    ).to_pylist()


def compute_df(influence: np.ndarray) -> float:
    """Return the degrees of freedom of a sum of influence: 1 / (c - 2 / n), in 3..n - 1, with the
    share c of its fourth powers.
    """
    units, concentration = len(influence), float(np.sum(influence**4) / np.sum(influence**2) ** 2)
    excess = concentration - 2 / units
    return units - 1 if units <= 4 or excess * (units - 1) <= 1 else max(3, 1 / excess)


def place(label: np.ndarray, score: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return an area, and the shares of pairs that each positive and each negative wins or loses to
    the right one.
    """
    wins = np.sign(score[label == 1][:, None] - score[label == 0][None, :]) / 2 + 0.5
    return float(wins.mean()), wins.mean(axis=1), wins.mean(axis=0)


def compute_delong(
    label: np.ndarray, one: np.ndarray, two: np.ndarray
) -> tuple[float, float, float]:
    """Return the difference of two areas, its standard error and degrees of freedom, pair by pair
    as the paper has it.
    """
    (area, up, down), (other, their_up, their_down) = (place(label, score) for score in (one, two))
    moved = [after - before for before, after in ((up, their_up), (down, their_down))]
    influence = np.concatenate(
        [(values - values.mean()) / np.sqrt(len(values) * (len(values) - 1)) for values in moved]
    )
    return other - area, float(np.sqrt(np.sum(influence**2))), compute_df(influence)


def raise_variance(area: float, variance: float, positives: int, negatives: int) -> float:
    """Return the variance of an area, raised by what one pair more adds to that of Hanley and
    McNeil.
    """

    def expect_variance(share: float) -> float:
        chance, other = (
            (share, 1 - share)
            if (positives - negatives) * (share - 0.5) <= 0
            else (1 - share, share)
        )
        terms = (positives - 1) * chance / (1 + chance) + (negatives - 1) * other / (1 + other)
        return share * (1 - share) * (1 + terms) / (positives * negatives)

    size = min(positives, negatives)
    shrunk = expect_variance((area * size + 0.5) / (size + 1))
    return variance + max(0.0, shrunk - max(variance, expect_variance(area)))


def draw_scores(
    seed: int, n: int = 400, digits: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.3).astype(int)
    one, two = (
        np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.15), 0.01, 0.99), digits) for _ in range(2)
    )
    return label, one, two


def test_golden_numbers():
    """Areas of MLstatkit for rows that weigh 1; by units from the formula of clustered areas
    (Obuchowski 1997).
    """
    (row,) = compare("AUC", make_predictions())
    assert (row["baseline"], row["system"], row["n_units"], row["unpaired"]) == ("a", "b", 10, 0)
    assert row["value_baseline"] == pytest.approx(0.8958333333, abs=1e-10)
    assert row["value"] == pytest.approx(0.8541666667, abs=1e-10)
    difference, se, df = compute_delong(*map(np.array, (LABEL, A, B)))
    assert (difference, se) == pytest.approx(
        (-0.0416666667, 0.1547847968), abs=1e-10
    )  # those of MLstatkit
    assert row["difference"] == pytest.approx(difference, abs=1e-10)
    placed = [place(np.array(LABEL), np.array(score)) for score in (A, B)]
    variances = [
        float(np.var(up, ddof=1) / len(up) + np.var(down, ddof=1) / len(down))
        for _, up, down in placed
    ]
    raised = [
        raise_variance(area, variance, 4, 6)
        for (area, *_), variance in zip(placed, variances, strict=True)
    ]
    correlation = (sum(variances) - se**2) / 2 / np.sqrt(np.prod(variances))
    assert row["se"] == pytest.approx(
        np.sqrt(sum(raised) - 2 * correlation * np.sqrt(np.prod(raised))), rel=1e-9
    )
    assert row["se"] > se
    assert row["p_value"] == pytest.approx(
        2 * stats.t.sf(abs(difference) / row["se"], df), rel=1e-9
    )
    assert row["ci_high"] - row["difference"] == pytest.approx(
        stats.t.ppf(0.975, df) * row["se"], rel=1e-9
    )
    assert [row[name] for name in ("wins", "ties", "losses", "cohens_d", "winner")] == [None] * 5
    (weighted,) = compare("AUC", make_predictions(weight=WEIGHT))
    assert weighted["se"] > 0.1131943549  # without what few positives do not show
    (clustered,) = compare("AUC", make_predictions(weight=WEIGHT, user=USER), unit="user")
    assert clustered["n_units"] == 5
    assert clustered["difference"] == pytest.approx(-0.0061728395, abs=1e-10)
    assert clustered["se"] > 0.0449755729


@pytest.mark.parametrize(("seed", "digits"), [(0, 2), (1, 2), (2, 2), (3, 12)])
def test_areas_by_the_formula(seed, digits):
    """Of scores that repeat, which are counted first, and of those that do not, which are
    sorted.
    """
    label, one, two = draw_scores(seed, digits=digits)
    (row,) = compare("AUC", pa.table({"label": label, "a": one, "b": two}))
    difference, se, df = compute_delong(label, one, two)
    assert row["difference"] == pytest.approx(difference, abs=1e-12)
    assert row["se"] == pytest.approx(se, rel=1e-9)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(difference) / se, df), rel=1e-8)


def test_means_of_rows_are_paired_tests():
    """Of a mean over rows the values of units are those of the rows, whatever else is asked;
    degrees of freedom follow from their kurtosis.
    """
    label, one, two = draw_scores(7)
    rows = compare(["Brier", "AUC", "LogLoss"], pa.table({"label": label, "a": one, "b": two}))
    squares = [(score - label) ** 2 for score in (one, two)]
    losses = [-np.log(np.where(label == 1, score, 1 - score)) for score in (one, two)]
    for metric, (before, after) in (("Brier", squares), ("LogLoss", losses)):
        row = next(row for row in rows if row["metric"] == metric)
        statistic, moved = stats.ttest_rel(after, before).statistic, after - before
        df = compute_df(moved - moved.mean())
        assert 20 < df < 399
        expected = [
            statistic,
            2 * stats.t.sf(abs(statistic), df),
            *stats.t.interval(0.95, df, moved.mean(), row["se"]),
        ]
        assert [
            row[name] for name in ("statistic", "p_value", "ci_low", "ci_high")
        ] == pytest.approx(expected, rel=1e-8)


def test_rows_that_are_equal_are_units_of_their_own():
    """A row that stands twice is two units, in whatever order they come."""
    label, one, two = (np.tile(values, 2) for values in draw_scores(4))
    twice = pa.table({"label": label, "a": one, "b": two})
    (row,) = compare("AUC", twice)
    assert row["n_units"] == 800
    assert row["se"] == pytest.approx(compute_delong(label, one, two)[1], rel=1e-9)
    (shuffled,) = compare("AUC", twice.take(pa.array(np.random.default_rng(1).permutation(800))))
    assert shuffled["se"] == pytest.approx(row["se"], rel=1e-12)


def test_a_score_against_itself():
    (row,) = sqlrank.compare(
        "AUC", predictions=make_predictions(c=A), columns={"score": ["a", "c"]}
    ).to_pylist()
    assert (row["difference"], row["p_value"], row["winner"]) == (0, 1, None)


@pytest.mark.slow
def test_groups_and_three_scores():
    label, one, two = draw_scores(3)
    day = np.arange(400) % 2
    data = pa.table({"label": label, "a": one, "b": two, "c": one[::-1].copy(), "day": day})
    found = sqlrank.compare(
        "AUC", predictions=data, columns={"score": ["a", "b", "c"]}, by=[[], ["day"]], baseline="a"
    ).to_pylist()
    assert [(row["slice"], row["day"], row["system"]) for row in found] == [
        ("all", None, "b"), ("all", None, "c"), ("day", 0, "b"), ("day", 0, "c"), ("day", 1, "b"), ("day", 1, "c"),
    ]  # fmt: skip
    part = next(row for row in found if (row["day"], row["system"]) == (1, "b"))
    assert part["se"] == pytest.approx(
        compute_delong(*(values[day == 1] for values in (label, one, two)))[1], rel=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"nulls": "drop"}], ids=["all rows", "some left out"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["rows", "weighted"])
def test_every_plan_says_the_same(is_weighted, options):
    """Compare all plans: influence values joined by score or by row, for several kinds of metrics,
    weights and groups.
    """
    label, one, two = draw_scores(9)
    rng = np.random.default_rng(2)
    day = rng.choice(["x", "y", None], 400)
    weights = {"weight": rng.integers(0, 4, 400) / 2} if is_weighted else {}
    lost = (
        [None if row % 50 == 0 else value for row, value in enumerate(label)] if options else label
    )
    data = pa.table(
        {"label": lost, "a": one, "b": two, "c": two[::-1].copy(), "day": day, **weights}
    )
    metrics = ["AUC", "APS", "Gini", "LogLoss", "Brier", "Precision", "NormalizedEntropy"]

    def by(order):
        plan = {"score_order": order}
        found = sqlrank.compare(
            metrics,
            predictions=data,
            columns={"score": ["a", "b", "c"]},
            by=[["day"], []],
            plan=plan,
            **options,
        )
        return list(found.to_pylist())

    sorted_once = by("window")
    assert len(sorted_once) == 4 * 3 * len(metrics)
    for order in ("distinct", "buckets"):
        for row, expected in zip(by(order), sorted_once, strict=True):
            assert row == {
                name: (
                    pytest.approx(value, rel=1e-8, abs=1e-12) if isinstance(value, float) else value
                )
                for name, value in expected.items()
            }


@pytest.mark.slow
def test_systems_of_rows_of_their_own():
    """Systems told apart by a column are paired by the unit that is named."""
    stacked = pa.table(
        {
            "system": ["a"] * 10 + ["b"] * 10,
            "label": LABEL * 2,
            "score": A + B,
            "user": USER * 2,
            "weight": WEIGHT * 2,
        }
    )
    (row,) = sqlrank.compare("AUC", predictions=stacked, unit="user", correction="none").to_pylist()
    (beside,) = compare("AUC", make_predictions(weight=WEIGHT, user=USER), unit="user")
    assert row == {**beside, "difference": pytest.approx(beside["difference"]), "se": pytest.approx(beside["se"]), **{
        name: pytest.approx(beside[name]) for name in ("value", "value_baseline", "ci_low", "ci_high", "relative_difference", "statistic", "p_value", "p_adjusted", "mde")
    }}  # fmt: skip


@pytest.mark.slow
def test_gates():
    label, one, two = draw_scores(5, n=2000)
    worse = np.random.default_rng(0).random(2000)
    data = pa.table({"label": label, "old": one, "new": two, "noise": worse})

    def verdict(new, **options):
        found = sqlrank.gate("AUC", predictions=data, columns={"score": ["old", new]}, **options)
        return str(found["verdict"][0].as_py())

    assert verdict("noise", tolerance=0.01) == "fail"
    assert verdict("new", tolerance="10%") == "pass"
    assert verdict("new", tolerance=0.0001) == "inconclusive"


@pytest.mark.slow
def test_what_is_undefined():
    """Areas of one class, and of one positive, whose spread is not known."""
    (one_class,) = compare("AUC", make_predictions().slice(0, 3))
    assert (
        one_class["value"],
        one_class["difference"],
        one_class["p_value"],
        one_class["reason"],
    ) == (None, None, None, "undefined for both")
    (one_positive,) = compare("AUC", make_predictions().slice(3))
    assert (one_positive["value_baseline"], one_positive["value"]) == pytest.approx(
        (4 / 6, 4 / 6), abs=0.5
    )
    assert (one_positive["ci_low"], one_positive["p_value"], one_positive["reason"]) == (
        None,
        None,
        "no interval",
    )
    (row,) = compare("Brier", make_predictions().slice(0, 1))
    assert (row["n_units"], row["difference"], row["se"], row["p_value"]) == (
        1,
        pytest.approx(0.03),
        None,
        None,
    )


@pytest.mark.slow
def test_the_command(tmp_path):
    pq.write_table(make_predictions(user=USER), tmp_path / "p.parquet")
    options = [
        "AUC", "--predictions", str(tmp_path / "p.parquet"), "--column", "score=a", "--column",
        "score=b", "--unit", "user", "--format", "json",
    ]  # fmt: skip
    shown = CliRunner().invoke(app, ["compare", *options])
    assert shown.exit_code == 0, shown.output
    assert '"n_units": 5' in shown.stdout
    gated = CliRunner().invoke(app, ["gate", *options, "--tolerance", "0.01"])
    assert gated.exit_code == 3, gated.output
    assert "5 users, fewer than 20" in gated.stdout
