"""``ties=best`` and ``ties=worst`` of predictions equal the extremes over all orders of equal
scores, by enumeration.
"""

from collections.abc import Iterator
from itertools import combinations, product
from math import log

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.lanes import select_few
from tests.numbers.examples.predictions import WEIGHTED, evaluate_predictions
from tests.numbers.references import predictions_reference as reference
from tests.numbers.references.predictions import Predictions
from tests.tables import build_table

# Weights of positives and negatives at three scores, the highest first, and the least and the
# greatest value of any order.
THREE = ((2, 1), (1, 3), (1, 6))
WORKED = [
    ("AUC", 0.6, 0.875),
    ("AUC(tie_credit=0)", 0.6, 0.875),
    ("Gini", 0.2, 0.75),
    ("LiftQuality", 0.2, 0.75),
    ("APS", 0.3859263176, 0.8125),
    ("KS", 0.4, 0.65),
    ("PRAUC(interpolation=davis_goadrich)", 0.3859263176, 0.7945480893),
    ("PRAUC", 0.3264652015, 0.7945480893),
    ("PRAUC(interpolation=from_one)", 0.3264652015, 0.7945480893),
    ("FBeta(threshold_from=best)", 0.5714285714, 0.75),
    ("Gain@0.2", 0.45, 0.5),
    ("Lift@0.2", 2.25, 2.5),
    ("pAUC(area_scaling=raw)@0.4", 0.15, 0.275),
    ("PartialAUC@4", 0.375, 0.6875),
]
TIGHT = [
    "AUC", "Gini", "LiftQuality", "Gain@0.3", "Lift@0.6", "pAUC(area_scaling=raw)@0.4",
    "pAUC@0.7", "PRAUC(interpolation=davis_goadrich)", "FBeta(threshold_from=best)",
    "YoudenJ(threshold_from=best, criterion=youden)",
]  # fmt: skip
"""Metrics of which both orders are the least and the greatest value of all orders."""

OTHERS = ["APS", "PRAUC", "PRAUC(interpolation=from_one)", "KS"]


def place_at_scores(
    bins: tuple[tuple[float, float], ...],
) -> tuple[list[int], list[float], list[float]]:
    """Return labels, scores and weights of positives and negatives at falling scores."""
    label = [1, 0] * len(bins)
    score = [(len(bins) - place) / 10 for place in range(len(bins)) for _ in range(2)]
    return label, score, [float(weight) for pair in bins for weight in pair]


@pytest.mark.parametrize("strategy", select_few(WEIGHTED, 1))
@pytest.mark.parametrize(("ties", "place"), [("worst", 1), ("best", 2)])
def test_three_scores(ties, place, strategy):
    got = evaluate_predictions(
        [row[0] for row in WORKED],
        *place_at_scores(THREE),
        ties=ties,
        plan={"score_order": strategy},
    )
    assert got == pytest.approx([row[place] for row in WORKED], abs=1e-10)


def test_the_floor_of_aps_by_hand():
    """Positives of weight p below T others and D negatives: p - D ln((T + p + D) / (T + D)), as if
    there were many light ones.
    """
    floor = (2 - log(3) + 1 - 4 * log(7 / 6) + 1 - 10 * log(14 / 13)) / 4
    assert evaluate_predictions("APS(ties=worst)", *place_at_scores(THREE)) == pytest.approx(
        [floor], abs=1e-14
    )


def test_rows_of_weight_1_stay_above_the_floor():
    """Row by row, negatives first, precisions are 1/2, 2/3, 3/7 and 4/14; with ten times the rows
    they are ten times as near.
    """
    above = []
    for copies in (1, 10, 100):
        label, score = [], []
        for place, (positives, negatives) in enumerate(THREE):
            label += [0] * negatives * copies + [1] * positives * copies
            score += [-float(place)] * (positives + negatives) * copies
        (floor,) = evaluate_predictions("APS(ties=worst)", label, score)
        (one_by_one,) = evaluate_predictions(
            "APS", label, score, extra={"rank": list(range(len(label)))}, ties="row_order"
        )
        assert floor == pytest.approx(0.3859263176214096, abs=1e-12)
        above.append(one_by_one - floor)
    assert above[0] == pytest.approx((1 / 2 + 2 / 3 + 3 / 7 + 4 / 14) / 4 - floor, abs=1e-12)
    assert above[1] / above[2] == pytest.approx(10, rel=0.02)
    assert above[2] > 0


def iterate_orders(rows: list[int]) -> Iterator[list[list[int]]]:
    """Yield every order of rows, those in which some are tied included, as the sets that come one
    after another.
    """
    if not rows:
        yield []
    for size in range(1, len(rows) + 1):
        for first in combinations(rows, size):
            rest = [row for row in rows if row not in first]
            yield from ([list(first), *others] for others in iterate_orders(rest))


def draw_rows(seed: int) -> Predictions:
    """Draw three rows at one score, three at another and one or two alone, of both classes."""
    rng = np.random.default_rng(seed)
    score = np.array([3.0, 3, 3, 1, 1, 1, *rng.permutation([0.0, 2, 4])[: rng.integers(1, 3)]])
    label = rng.integers(0, 2, len(score)).astype(float)
    label[[0, 3]], label[[1, 4]] = 1, 0
    return Predictions(
        label,
        score,
        rng.integers(1, 9, len(score)) / 4,
        np.zeros(len(score)),
        np.arange(len(score)),
    )


def evaluate_all_orders(data: Predictions, metrics: list[str]) -> dict[str, list[float]]:
    """Return the values of metrics in every order of equal scores, all of them tied included."""
    levels = [
        [int(row) for row in np.flatnonzero(data.score == score)]
        for score in np.unique(data.score)[::-1]
    ]
    found = {metric: [] for metric in metrics}
    for chosen in product(*(list(iterate_orders(level)) for level in levels)):
        score = np.empty(len(data))
        for place, rows in enumerate(rows for level in chosen for rows in level):
            score[rows] = -place
        ordered = Predictions(data.label, score, data.weight, data.query_id, data.rank)
        for metric in metrics:
            value = reference.evaluate(metric, ordered)
            assert value is not None
            found[metric].append(value)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", select_few(range(12), 1))
def test_no_order_is_beyond_both(seed):
    data = draw_rows(seed)
    metrics = [str(sqlrank.parse(metric)) for metric in [*TIGHT, *OTHERS]]
    found = evaluate_all_orders(data, metrics)
    tied, least, greatest = (
        dict(
            zip(
                metrics,
                evaluate_predictions(metrics, data.label, data.score, data.weight, **options),
                strict=True,
            )
        )
        for options in ({}, {"ties": "worst"}, {"ties": "best"})
    )
    for metric in metrics[: len(TIGHT)]:
        assert (min(found[metric]), max(found[metric])) == pytest.approx(
            (least[metric], greatest[metric]), abs=1e-12
        ), metric
    aps, *areas, ks = metrics[len(TIGHT) :]
    assert max(found[aps]) == pytest.approx(greatest[aps], abs=1e-12)
    assert min(found[aps]) >= least[aps] - 1e-12
    for area in areas:
        assert min(found[area]) == pytest.approx(least[area], abs=1e-12)
        assert max(found[area]) <= greatest[area] + 1e-12
    assert max(found[ks]) == pytest.approx(max(least[ks], greatest[ks]), abs=1e-12)
    assert min(found[ks]) == pytest.approx(tied[ks], abs=1e-12)


def test_scores_without_ties_have_one_order():
    label, score, weight = [1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.3, 0.2], [1.0, 2, 0.5, 1, 3]
    metrics = [
        "AUC", "KS", "Gain@0.5", "pAUC@0.3", "FBeta(threshold_from=best)",
        "PRAUC(interpolation=davis_goadrich)",
    ]  # fmt: skip
    usual = evaluate_predictions(metrics, label, score, weight)
    for ties in ("best", "worst"):
        assert evaluate_predictions(metrics, label, score, weight, ties=ties) == pytest.approx(
            usual, abs=1e-14
        )


def test_per_query_and_with_rankings():
    """In one call with metrics of rankings the policy orders documents; a metric says its own."""
    table = build_table(
        query_id="1 1 2 2", doc_id="1 2 3 4", label="1 0 0 1", score="0.5 0.5 0.2 0.3"
    )
    asked = ["AUC(level=query, ties=worst)", "GAUC(ties=best)", "AUC(ties=best)"]
    (row,) = sqlrank.evaluate(asked, predictions=table).to_pylist()
    assert list(row.values()) == [0.5, 1, 0.75]
    (both,) = sqlrank.evaluate(
        ["P@1", "AUC", "AUC(ties=worst)"], predictions=table, ties="worst"
    ).to_pylist()
    assert list(both.values()) == [0.5, 0.625, 0.5]


def test_one_order_has_no_interval():
    label, score, weight = place_at_scores(THREE)
    table = pa.table({"label": label, "score": score, "weight": weight})
    for metric in ("AUC", "APS", "Gini"):
        (row,) = sqlrank.evaluate(
            metric, predictions=table, ties="best", confidence=0.95
        ).to_pylist()
        assert [row[f"{metric}.{name}"] for name in ("ci_low", "ci_high", "se")] == [None] * 3


def test_the_command_takes_an_order(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("label,score\n1,0.5\n0,0.5\n0,0.1")
    shown = run_command(f"evaluate 'AUC(ties=worst)' AUC 'AUC(ties=best)' --predictions {path}")
    assert [float(value) for value in shown.splitlines()[1].split()] == [0.5, 0.75, 1]
    assert "negatives_above + negatives AS" in run_command(
        "sql KS --predictions p --policy ties=worst"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "worst",
            (
                "Tie bounds names orders from the least to the greatest, as in 'worst to best of"
                " PRAUC'. Orders are: worst, best, row_order, tied"
            ),
        ),
        (
            "doc_desc to best of PRAUC",
            (
                "Tie bounds names orders from the least to the greatest, as in 'worst to best of"
                " PRAUC'. Orders are: worst, best, row_order, tied"
            ),
        ),
        ("worst of PRUAC to best", "unknown metric 'PRUAC'. Did you mean 'PRAUC'?"),
    ],
)
def test_a_file_that_names_no_order(line, message, tmp_path):
    own = tmp_path / "metrics" / "own.sql"
    own.parent.mkdir()
    own.write_text(
        f"-- Own: share.\n-- Tie bounds: {line}.\nSELECT\n  group_id,\n  SUM(positives) AS"
        " own\nFROM positive_thresholds\nGROUP BY group_id\n"
    )
    with pytest.raises(sqlrank.ContractError) as caught:
        evaluate_predictions("Own", *place_at_scores(THREE), sql_dir=tmp_path)
    assert str(caught.value).startswith(f"{own}:2: {message}")


def test_a_file_of_ones_own_names_what_it_is_under_an_order(tmp_path):
    own = tmp_path / "metrics" / "own.sql"
    own.parent.mkdir()
    lines = [
        "-- Own: AUC, but the greatest of KS.", "-- Tie bounds: worst to best of KS.",
        "-- Requires: binary labels.", "SELECT", "  group_id,",
    ]  # fmt: skip
    own.write_text(
        "\n".join(
            [*lines, "  SUM(positives) AS own", "FROM positive_thresholds", "GROUP BY group_id", ""]
        )
    )
    got = evaluate_predictions(
        ["Own", "Own(ties=worst)", "Own(ties=best)"], *place_at_scores(THREE), sql_dir=tmp_path
    )
    assert got == pytest.approx([4, 4, 0.65], abs=1e-12)
