"""The agreement of judges against NumPy, published examples and finite differences, in comparisons,
and errors of rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError
from tests.numbers.references import agreement_reference as reference

LEVELS = ("nominal", "ordinal", "interval")
ALPHAS = {level: f"KrippendorffAlpha(level_of_measurement={level})" for level in LEVELS}
METRICS = [*ALPHAS.values(), "FleissKappa"]


def make_table(ratings: Sequence[Sequence[Any]], **others: Any) -> pa.Table:
    """Make a table of the ratings of each judge, a list of an item each; None if it is missing."""
    items, judges = len(ratings[0]), len(ratings)
    columns = {"item_id": [*range(items)] * judges, "judge_id": np.repeat(np.arange(judges), items)}
    return pa.table(
        {**columns, "rating": [rating for of_judge in ratings for rating in of_judge], **others}
    )


def count_ratings(ratings: Sequence[Sequence[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of ratings, and the count of each value for each item."""
    values = sorted({rating for of_judge in ratings for rating in of_judge if rating is not None})
    counts = [
        [sum(of_judge[item] == value for of_judge in ratings) for value in values]
        for item in range(len(ratings[0]))
    ]
    return np.array(values), np.array(counts).reshape(len(ratings[0]), len(values))


def draw_ratings(seed: int) -> list[list[int | None]]:
    """Draw ratings of judges that err, in uneven steps, many of them missing."""
    rng = np.random.default_rng(seed)
    judges, items, scale = [(2, 3, 2), (3, 25, 5), (5, 40, 4), (2, 12, 9), (4, 1, 3), (6, 30, 2)][
        seed % 6
    ]
    truth = rng.integers(0, scale, items)
    ratings = (
        np.where(rng.random((judges, items)) < 0.6, truth, rng.integers(0, scale, (judges, items)))
        ** 2
        * 3
        - 4
    )
    missing = rng.random((judges, items)) < 0.3
    return [
        [None if gone else int(rating) for rating, gone in zip(*rows, strict=True)]
        for rows in zip(ratings, missing, strict=True)
    ]


def evaluate_reference(
    ratings: Sequence[Sequence[Any]], weights: np.ndarray | None = None
) -> dict[str, float | None]:
    values, counts = count_ratings(ratings)
    alphas = {
        name: reference.krippendorff_alpha(values, counts, level, weights)
        for level, name in ALPHAS.items()
    }
    return {**alphas, "FleissKappa": reference.fleiss_kappa(counts, weights)}


def test_numbers_are_those_of_numpy():
    drawn = {seed: draw_ratings(seed) for seed in range(24)}
    table = pa.concat_tables(
        [
            make_table(ratings).append_column(
                "seed", pa.array([seed] * len(ratings) * len(ratings[0]))
            )
            for seed, ratings in drawn.items()
        ]
    )
    defined = 0
    for row in sqlrank.evaluate(METRICS, inputs={"ratings": table}, by="seed").to_pylist():
        expected = evaluate_reference(drawn[row.pop("seed")])
        assert row == pytest.approx(expected, abs=1e-12)
        defined += row["FleissKappa"] is not None
    assert defined > 15


def test_published_examples():
    """Krippendorff 2011 (four observers, twelve units, missing ratings); Fleiss' kappa of ten
    subjects and fourteen raters.
    """
    rows = [
        "123321412...",
        "12332241 2 5 .3".replace(" ", ""),
        ".33323422 51.".replace(" ", ""),
        "12332441 2 51.".replace(" ", ""),
    ]
    found = sqlrank.evaluate(
        METRICS,
        inputs={
            "ratings": make_table([[None if c == "." else int(c) for c in row] for row in rows])
        },
    ).to_pylist()[0]
    assert [round(found[name], 3) for name in ALPHAS.values()] == [0.743, 0.815, 0.849]

    counts = [
        "0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1", "7 7 0 0 0",
        "3 2 6 3 0", "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7",
    ]  # fmt: skip
    of_items = [
        [f"c{place}" for place, count in enumerate(item.split()) for _ in range(int(count))]
        for item in counts
    ]
    found = sqlrank.evaluate(
        "FleissKappa", inputs={"ratings": make_table([*zip(*of_items, strict=True)])}
    ).to_pylist()[0]
    assert round(found["FleissKappa"], 3) == 0.210


@pytest.mark.parametrize("unit", [None, pytest.param("unit_id", marks=pytest.mark.slow)])
def test_standard_errors_are_those_of_finite_differences(unit):
    """The unit is the item, or what is given; the ranks of ordinal ratings move with the weight of
    an item.
    """
    ratings = draw_ratings(2)
    items = len(ratings[0])
    _, counts = count_ratings(ratings)
    units = np.arange(items) % 11 if unit else np.arange(items)
    others = {"unit_id": np.tile(units, len(ratings))} if unit else {}
    (found,) = sqlrank.evaluate(
        METRICS, inputs={"ratings": make_table(ratings, **others)}, confidence=0.95
    ).to_pylist()
    for metric in METRICS:
        influence = []
        for one in sorted(set(units[counts.sum(axis=1) > 1])):
            low, high = (
                evaluate_reference(ratings, np.where(units == one, 1 + step, 1.0))[metric]
                for step in (-1e-5, 1e-5)
            )
            assert low is not None
            assert high is not None
            influence.append((high - low) / 2e-5)
        n = len(influence)
        assert found[f"{metric}.n_units"] == n
        assert found[f"{metric}.se"] == pytest.approx(
            np.sqrt(n / (n - 1) * np.square(influence).sum()), rel=1e-6
        ), metric
        assert found[f"{metric}.ci_low"] < found[metric] < found[f"{metric}.ci_high"]


@pytest.mark.slow
def test_pools_of_judges_are_compared_by_items():
    first = [[0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 0, 1, 1, 0, 2]]
    table = pa.concat_tables(
        [
            make_table(first, system=["crowd"] * 16),
            make_table([first[0]] * 2, system=["model"] * 16),
        ]
    )
    for row in sqlrank.compare(
        METRICS, inputs={"ratings": table}, baseline="crowd", unit="item_id"
    ).to_pylist():
        assert row["value_baseline"] == pytest.approx(evaluate_reference(first)[row["metric"]])
        assert (row["value"], row["n_units"]) == (1, 8)


@pytest.mark.slow
def test_shifted_ratings_and_equal_ratings():
    """Interval alpha does not change if ratings are shifted; without disagreement by chance there
    is no value.
    """
    ratings = draw_ratings(1)
    shifted = [
        [None if rating is None else rating + 10**12 for rating in of_judge] for of_judge in ratings
    ]
    (found,) = sqlrank.evaluate(METRICS, inputs={"ratings": make_table(shifted)}).to_pylist()
    assert found == pytest.approx(evaluate_reference(ratings), abs=1e-9)
    equal = [[[5, 5], [5, 5]], [[1, None], [None, 2]], [[1, 2]], [[None, None], [None, 3]]]
    table = pa.concat_tables(
        [make_table(ratings, case=[case] * 2 * len(ratings)) for case, ratings in enumerate(equal)]
    )
    rows = sqlrank.evaluate(
        METRICS, inputs={"ratings": table}, by="case", confidence=0.95
    ).to_pylist()
    assert [[row.get(metric) for metric in METRICS] for row in rows] == [[None] * 4] * 4, rows


def test_ratings_that_are_refused():
    table = make_table([[1, 2], [1, 1]])
    for value, problem in (
        (float("inf"), "rating is infinite, at no distance"),
        (float("nan"), "rating is NaN"),
    ):
        with pytest.raises(InputError, match=f"1 row: {problem}"):
            sqlrank.evaluate(
                "FleissKappa", inputs={"ratings": make_table([[0.5, value], [0.5, 0.25]])}
            )
    words = table.set_column(2, "rating", pa.array(["a", "b", "a", "a"]))
    assert sqlrank.evaluate(ALPHAS["ordinal"], inputs={"ratings": words})[0][0].as_py() is not None


def test_ratings_that_are_doubles_partition_nothing_on_bigquery():
    """BigQuery groups and sorts by doubles, and refuses partitions by them."""
    for metric in METRICS:
        assert "PARTITION BY rating" not in sqlrank.sql(
            metric, inputs={"ratings": "ratings"}, dialect="bigquery", confidence=0.95
        )
