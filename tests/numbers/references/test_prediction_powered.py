"""Means of labels with a judge against the formulas of ppi_py in NumPy, a number of ppi_py,
simulated truth, and undefined cases.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few

Array = np.ndarray[Any, np.dtype[Any]]
BOTH = ["PPIMean", "PPIProportion"]


def estimate_mean(label: Array, score: Array) -> tuple[float, float]:
    """Return the mean and its standard error as ``ppi_py.ppi_mean_pointestimate`` and
    ``ppi_mean_ci``; labels are NaN where missing.
    """
    labelled = ~np.isnan(label)
    labels, scores, others = label[labelled], score[labelled], score[~labelled]
    if not len(others):
        return float(labels.mean()), float(labels.std() / np.sqrt(len(labels)))
    variance = score.var(ddof=1)
    covariance = ((labels - labels.mean()) * (scores - scores.mean())).mean()
    weight = (
        float(np.clip(covariance / ((1 + len(labels) / len(others)) * variance), 0, 1))
        if variance
        else 0.0
    )
    mean = (labels - weight * scores).mean() + weight * others.mean()
    squares = (weight * others).var() / len(others) + (labels - weight * scores).var() / len(labels)
    return float(mean), float(np.sqrt(squares))


def draw_items(seed: int) -> tuple[Array, Array]:
    """Draw labels of 0 and 1 or of any number, some missing, and scores of a judge that may be
    useless, perfect, reversed or constant.
    """
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([40, 100, 300]))
    label = (rng.random(rows) < 0.4).astype(float) if seed % 2 else rng.lognormal(size=rows)
    score = [
        label, -label, label + rng.normal(size=rows), rng.normal(size=rows), np.full(rows, 0.5),
        label / 3,
    ][seed % 6]  # fmt: skip
    missing = rng.permutation(rows) >= rng.integers(20, rows + 1)
    return np.where(missing, np.nan, label), score


def make_table(label: Array, score: Array, **others: Any) -> pa.Table:
    return pa.table({"label": pa.array(label, from_pandas=True), "score": score, **others})


def test_numbers_are_those_of_numpy():
    drawn = {seed: draw_items(seed) for seed in range(36)}
    table = pa.concat_tables(
        [make_table(*items, seed=[seed] * len(items[0])) for seed, items in drawn.items()]
    )
    for row in sqlrank.evaluate(
        "PPIMean", inputs={"judged": table}, by="seed", confidence=0.95
    ).to_pylist():
        mean, error = estimate_mean(*drawn[row["seed"]])
        rows = len(drawn[row["seed"]][0])
        assert row["PPIMean"] == pytest.approx(mean, abs=1e-12)
        assert row["PPIMean.se"] == pytest.approx(error * np.sqrt(rows / (rows - 1)), rel=1e-9)


def test_the_number_of_ppi_py():
    """A call of ppi_py 0.2.3 gave 0.34401719 for these items."""
    rng = np.random.default_rng(0)
    right = rng.random(200) < 0.4
    score = np.clip(0.6 * right + 0.4 * rng.random(200), 0, 1)
    label = np.where(rng.random(200) < 0.3, right.astype(float), np.nan)
    assert sqlrank.evaluate("PPIMean", inputs={"judged": make_table(label, score)})[0][
        0
    ].as_py() == pytest.approx(0.34401719, abs=1e-8)


def test_cases_by_hand():
    """A perfect judge of 20 of 40 items has covariance 1/4 and variance 10/39, and counts 1/4 / 2 /
    (10/39) = 39/80.
    """
    label, score = np.array([0, 1] * 10 + [np.nan] * 20), np.array([0.0, 1] * 10 + [0, 1] * 10)
    found = sqlrank.evaluate(BOTH, inputs={"judged": make_table(label, score)}).to_pylist()
    assert found == [dict.fromkeys(BOTH, pytest.approx(0.5))]
    score[20:] = 1
    variance = (10 * 0.75**2 + 30 * 0.25**2) / 39
    expected = 0.5 + 1 / 4 / 2 / variance * (1 - 0.5)
    (found,) = sqlrank.evaluate(BOTH, inputs={"judged": make_table(label, score)}).to_pylist()
    assert found == dict.fromkeys(BOTH, pytest.approx(expected))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("labels", select_few([20, 50, 200], 1))
@pytest.mark.parametrize("noise", [0.0, 0.5, 20.0], ids=["perfect", "fair", "useless"])
def test_intervals_contain_the_truth(labels, noise):
    """Half of the items of 1,000 samples are right; the interval of a perfect judge is that of all
    its scores.
    """
    rng = np.random.default_rng(labels)
    right = (rng.random((1000, 400)) < 0.5).astype(float)
    label = np.where(np.arange(400) < labels, right, np.nan)
    table = make_table(
        label.ravel(),
        (right + noise * rng.normal(size=right.shape)).ravel(),
        sample=np.repeat(np.arange(1000), 400),
    )
    found = sqlrank.evaluate(BOTH, inputs={"judged": table}, by="sample", confidence=0.95)
    widths = {}
    for metric in BOTH:
        low, high = (
            np.array(found[f"{metric}.{limit}"].to_pylist(), float)
            for limit in ("ci_low", "ci_high")
        )
        assert 0.905 <= np.mean((low <= 0.5) & (high >= 0.5)) <= 0.99, metric
        widths[metric] = np.mean(high - low)
    alone = 2 * 1.96 * 0.5 / np.sqrt(labels)
    assert widths["PPIMean"] < (1.15 * alone if noise else 0.65 * alone + 0.05)


def test_few_or_equal_labels():
    score = np.arange(60.0)
    for labelled, there in ((19, False), (20, True)):
        label = np.where(np.arange(60) < labelled, np.arange(60) % 2, np.nan)
        (found,) = sqlrank.evaluate(
            BOTH, inputs={"judged": make_table(label, score)}, confidence=0.95
        ).to_pylist()
        assert [
            found[name] is not None for name in (*BOTH, "PPIMean.ci_low", "PPIProportion.ci_low")
        ] == [there] * 4
    equal = np.where(np.arange(60) < 30, 1.0, np.nan)
    (found,) = sqlrank.evaluate(
        BOTH, inputs={"judged": make_table(equal, score)}, confidence=0.95
    ).to_pylist()
    assert [found[name] for name in BOTH] == [1, None]
    assert {found[f"{name}.{limit}"] for name in BOTH for limit in ("ci_low", "ci_high", "se")} == {
        None
    }


def test_a_proportion_out_of_its_range_is_null():
    label = np.array([0.0] * 19 + [1] + [np.nan] * 80)
    score = np.concatenate([np.linspace(3, 4, 19), [4.5], np.full(80, 2.5)])
    (found,) = sqlrank.evaluate(BOTH, inputs={"judged": make_table(label, score)}).to_pylist()
    assert found["PPIMean"] == pytest.approx(estimate_mean(label, score)[0])
    assert found["PPIMean"] < 0
    assert found["PPIProportion"] is None


def test_systems_are_compared_by_items():
    rng = np.random.default_rng(2)
    first = (rng.random(300) < 0.5).astype(float)
    second = np.where(rng.random(300) < 0.3, 1, first)
    tables = [
        make_table(
            np.where(np.arange(300) < 100, right, np.nan),
            right * 0.8,
            system=[name] * 300,
            item=np.arange(300),
        )
        for name, right in (("old", first), ("new", second))
    ]
    (found,) = sqlrank.compare(
        "PPIProportion", inputs={"judged": pa.concat_tables(tables)}, baseline="old", unit="item"
    ).to_pylist()
    assert (found["n_units"], found["p_value"] < 0.001) == (300, True)
