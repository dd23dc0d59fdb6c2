"""Uplift metrics against NumPy, cases by hand, finite differences and simulated truth, and rows
that are refused.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.references import uplift_reference as reference
from tests.tables import read_columns

Columns = dict[str, np.ndarray]
METRICS = {
    "Qini": reference.qini,
    "AUUC": reference.auuc,
    **{
        f"Uplift({'targeting=by_arm' if by_arm else ''})@{share}".replace("()", ""): (
            lambda *columns, share=share, by_arm=by_arm: reference.uplift_at(
                *columns, share, by_arm
            )
        )
        for share in (0.1, 0.3, 1)
        for by_arm in (False, True)
    },
}
HAND = read_columns(
    label="1 0 1 0 0 1 0 1", score="0.8 0.7 0.6 0.5 0.4 0.3 0.2 0.1", treatment="1 0 1 0 1 0 0 1"
)


def draw_units(seed: int, rows: int = 0) -> Columns:
    """Draw units of which the treatment helps those of high scores, with ties and weights of 0."""
    rng = np.random.default_rng(seed)
    rows = rows or int(rng.choice([1, 2, 5, 30, 80]))
    score = np.round(rng.normal(size=rows), int(rng.integers(0, 3)))
    treatment = (rng.random(rows) < rng.choice([0.2, 0.5, 0.8])).astype(float)
    label = (rng.random(rows) < 0.3 + 0.3 * treatment * (score > 0)).astype(float)
    weight = rng.choice([0, 0.5, 1, 2], rows) if seed % 2 else np.ones(rows)
    return {"label": label, "score": score, "treatment": treatment, "weight": weight}


def evaluate_uplift(metrics: Any, columns: Any, **options: Any) -> dict[str, Any]:
    return dict(
        sqlrank.evaluate(metrics, inputs={"uplift": pa.table(columns)}, **options).to_pylist()[0]
    )


def test_numbers_are_those_of_numpy():
    drawn = {seed: draw_units(seed) for seed in range(72)}
    table = pa.concat_tables(
        [
            pa.table({**columns, "seed": [seed] * len(columns["label"])})
            for seed, columns in drawn.items()
        ]
    )
    defined = 0
    for row in sqlrank.evaluate([*METRICS], inputs={"uplift": table}, by="seed").to_pylist():
        columns = drawn[row.pop("seed")]
        expected = {name: measure(*columns.values()) for name, measure in METRICS.items()}
        assert row == pytest.approx(expected, abs=1e-12)
        defined += row["Qini"] is not None
    assert defined > 40


def test_cases_by_hand():
    """The Qini curve is 1, 1, 2, 2, 2, 1, 1.25, 2, of area 11.25; a straight line has 8, and the
    best order 19.
    """
    found = evaluate_uplift(["Qini", "AUUC", "Uplift@0.5", "Uplift@1"], HAND)
    assert found["Qini"] == pytest.approx(3.25 / 11)
    gains = [0, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 12, 1 / 4, 35 / 96, 1 / 2]
    assert found["AUUC"] == pytest.approx((sum(gains) - 1 / 4) / 8)
    assert found["Uplift@0.5"] == 1
    assert found["Uplift@1"] == 0.5
    best = {
        **HAND,
        "score": [
            label * (2 * arm - 1)
            for label, arm in zip(HAND["label"], HAND["treatment"], strict=True)
        ],
    }
    assert evaluate_uplift("Qini", best)["Qini"] == pytest.approx(1)
    assert evaluate_uplift("Qini", {**HAND, "score": [0.5] * 8})["Qini"] == pytest.approx(0)
    revenue = {**HAND, "label": [20 * label for label in HAND["label"]]}
    assert evaluate_uplift(["AUUC", "Uplift@0.5"], revenue) == pytest.approx(
        {"AUUC": 20 * found["AUUC"], "Uplift@0.5": 20}
    )


@pytest.mark.slow
@pytest.mark.parametrize("has_weights", [False, True])
def test_qini_of_equal_scores_is_zero_within_its_limits(has_weights):
    rng = np.random.default_rng(5)
    for rows in range(60, 100):
        columns = {
            "label": rng.integers(0, 2, rows).astype(float),
            "treatment": (np.arange(rows) % 5 < 2).astype(int),
            "score": np.full(rows, 0.5),
            "weight": rng.random(rows) if has_weights else np.ones(rows),
        }
        result = evaluate_uplift("Qini", columns, confidence=0.95)
        assert result["Qini"] == 0
        assert result["Qini.ci_low"] is None or result["Qini.ci_low"] <= 0 <= result["Qini.ci_high"]


def test_the_curve_has_the_points_of_both_curves():
    rows = sqlrank.evaluate("Uplift", inputs={"uplift": pa.table(HAND)}).to_pylist()
    assert [row["qini"] for row in rows] == [0, 1, 1, 2, 2, 2, 1, 1.25, 2]
    assert [row["uplift"] for row in rows[:4]] == [None, None, 1, 1]
    columns = draw_units(3, rows=80)
    found = sqlrank.evaluate("Uplift(points=0)", inputs={"uplift": pa.table(columns)}).to_pydict()
    for name, value in (("qini", reference.qini_value), ("gain", reference.uplift_value)):
        weights, values = reference.trace_curve(
            *(columns[name][columns["weight"] > 0] for name in columns), value
        )
        assert found["fraction"] == pytest.approx(weights / weights[-1])
        assert found[name] == pytest.approx(
            values / (weights[-1] if name == "gain" else 1), abs=1e-12
        )
    untied = pa.table({**columns, "score": np.arange(80.0)})
    fractions = sqlrank.evaluate("Uplift(points=10)", inputs={"uplift": untied})[
        "fraction"
    ].to_pylist()
    assert len(fractions) <= 12
    assert max(np.diff(fractions)) < 0.1 + 3 / columns["weight"].sum()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("unit", [None, "unit_id"])
def test_standard_errors_are_those_of_finite_differences(unit):
    columns = draw_units(5, rows=200)
    units = np.arange(200) % 23 if unit else np.arange(200)
    units = units[columns["weight"] > 0]
    columns = {name: values[columns["weight"] > 0] for name, values in columns.items()}
    found = evaluate_uplift(
        ["Qini", "AUUC"], {**columns, **({"unit_id": units} if unit else {})}, confidence=0.95
    )
    for metric in ("Qini", "AUUC"):
        influence = []
        for one in sorted(set(units)):
            low, high = (
                METRICS[metric](
                    *(
                        {
                            **columns,
                            "weight": columns["weight"] * np.where(units == one, 1 + step, 1),
                        }.values()
                    )
                )
                for step in (-1e-6, 1e-6)
            )
            influence.append((high - low) / 2e-6)
        n = len(influence)
        assert found[f"{metric}.n_units"] == n
        assert found[f"{metric}.se"] == pytest.approx(
            np.sqrt(n / (n - 1) * np.square(influence).sum()), rel=1e-6
        )


def test_the_error_of_an_uplift_is_that_of_two_means():
    """Of all rows, the standard error is that of the difference of two means, but for n / (n -
    1).
    """
    columns = draw_units(4, rows=200)
    found = evaluate_uplift("Uplift@1", columns, confidence=0.95)
    variances = [
        columns["label"][columns["treatment"] == arm].var() / (columns["treatment"] == arm).sum()
        for arm in (0, 1)
    ]
    assert found["Uplift@1.se"] == pytest.approx(np.sqrt(sum(variances) * 200 / 199))


@pytest.mark.slow
@pytest.mark.parametrize("share_treated", [0.5, 0.1])
def test_intervals_contain_the_truth(share_treated):
    """The truth is the metric of a million units; 1,000 samples of 500."""
    rng = np.random.default_rng(1)

    def draw(rows):
        effect, treatment = rng.normal(size=rows), (rng.random(rows) < share_treated).astype(float)
        chance = np.clip(0.25 + treatment * (0.08 + 0.12 * effect), 0.01, 0.99)
        return {
            "label": (rng.random(rows) < chance).astype(float),
            "score": effect + 0.7 * rng.normal(size=rows),
            "treatment": treatment,
        }

    metrics = ["Qini", "AUUC", "Uplift@0.3", "Uplift(targeting=by_arm)@0.3"]
    truth = evaluate_uplift(metrics, draw(1_000_000))
    table = pa.table({**draw(500_000), "sample": np.repeat(np.arange(1000), 500)})
    found = sqlrank.evaluate(metrics, inputs={"uplift": table}, by="sample", confidence=0.95)
    for metric in metrics:
        low, high = (
            np.array(found[f"{metric}.{limit}"].to_pylist(), float)
            for limit in ("ci_low", "ci_high")
        )
        given = ~np.isnan(low)
        assert given.mean() > 0.9
        assert (
            0.93 <= np.mean((low <= truth[metric]) & (truth[metric] <= high), where=given) <= 0.975
        ), metric


def test_small_arms_have_no_interval():
    columns = draw_units(0, rows=400)
    for treated, there in ((19, False), (20, True)):
        columns["treatment"] = (np.arange(400) < treated).astype(float)
        found = evaluate_uplift(["Qini", "AUUC"], columns, confidence=0.95)
        assert [found[f"{name}.ci_low"] is not None for name in ("Qini", "AUUC")] == [there] * 2
        assert found["Qini"] is not None
    columns["score"] = -np.arange(400.0)
    for share, there in ((0.0225, False), (0.025, True)):
        columns["treatment"] = np.arange(400) % 2
        found = evaluate_uplift(f"Uplift(targeting=by_arm)@{2 * share}", columns, confidence=0.95)
        assert (found[f"Uplift(targeting=by_arm)@{2 * share}.se"] is not None) is there


def test_models_are_compared_on_the_same_units():
    columns = draw_units(2, rows=400)
    better = columns["score"] + 2 * columns["label"] * (2 * columns["treatment"] - 1)
    rows = {name: columns[name] for name in ("label", "treatment")} | {"unit_id": np.arange(400)}
    table = pa.concat_tables(
        [
            pa.table({**rows, "score": score, "system": [name] * 400})
            for name, score in (("old", columns["score"]), ("new", better))
        ]
    )
    (found,) = sqlrank.compare("Qini", inputs={"uplift": table}, baseline="old").to_pylist()
    assert found["value"] == pytest.approx(
        reference.qini(columns["label"], better, columns["treatment"], np.ones(400))
    )
    assert found["n_units"] == 400
    assert found["p_value"] < 0.01


def test_metrics_without_an_arm_are_null():
    for treatment in ([1.0] * 8, [0.0] * 8):
        found = evaluate_uplift(
            ["Qini", "AUUC", "Uplift@0.5"], {**HAND, "treatment": treatment}, confidence=0.95
        )
        assert {value for name, value in found.items() if not name.endswith("n_units")} == {None}
        rows = sqlrank.evaluate(
            "Uplift", inputs={"uplift": pa.table({**HAND, "treatment": treatment})}
        ).to_pylist()
        assert {row["qini"] for row in rows} == {row["gain"] for row in rows} == {None}
    no_outcome = evaluate_uplift(["Qini", "AUUC"], {**HAND, "label": [0.0] * 8})
    assert no_outcome == {"Qini": None, "AUUC": 0}
    assert evaluate_uplift("Uplift@0.125", HAND) == {"Uplift@0.125": None}
