"""Frequent scores have bins of their own in a rollup, which narrows bounds, and never excludes the
true value.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.registry.sql_folder import sql_root
from tests.interface.command_line import run_command
from tests.tables import build_table

BOOSTING = {
    "predictions": str(
        sql_root().parent / "examples" / "data" / "open_bandit" / "impressions.parquet"
    ),
    "columns": {"label": "click", "score": "score_boosting"},
}
ORDERS = ["AUC", "APS", "KS", "Gain@0.2", "pAUC@0.3", "PRAUC"]


def test_common_scores_by_hand():
    """Of the weight of 8, 0.5 has 5, 0.25 two and 0.75 one; scores of no weight are never
    common.
    """
    table = build_table(
        score="0.25 0.5 0.5 0.75 0.9", label="0 1 0 1 1", weight="2.0 2.0 3.0 1.0 0.0"
    )
    given = {"predictions": table, "columns": {"weight": "weight"}}
    assert sqlrank.evaluate("CommonScores(min_share=0.2)", **given).to_pylist() == [
        {"point": 1, "score": 0.5, "weight": 5.0, "portion": 0.625},
        {"point": 2, "score": 0.25, "weight": 2.0, "portion": 0.25},
    ]
    assert sqlrank.evaluate("CommonScores(min_share=0.125)", **given)["score"].to_pylist() == [
        0.5,
        0.25,
    ]
    assert sqlrank.evaluate("CommonScores", **given)["score"].to_pylist() == [0.75, 0.5, 0.25]
    assert sqlrank.evaluate("CommonScores(min_share=1)", **given).num_rows == 0


def test_common_scores_are_those_of_numpy():
    found = sqlrank.evaluate("CommonScores", **BOOSTING)
    scores, counts = np.unique(
        pq.read_table(BOOSTING["predictions"])["score_boosting"].to_numpy(), return_counts=True
    )
    common = counts > 100
    assert found["score"].to_pylist() == scores[common][::-1].tolist()
    assert found["weight"].to_pylist() == counts[common][::-1].tolist()


def test_a_step_of_the_grid_is_cut_at_its_atoms():
    """One step holds all of these scores: below the first of them, it, between both, the second,
    and above it.
    """
    scores = [0.5, 0.5001, 0.5002, 0.5003, 0.5004, 0.5001]
    made = sqlrank.rollup(
        "AUC",
        predictions=pa.table({"score": scores, "label": [0, 1] * 3}),
        exact_scores=[0.5003, 0.5001],
        n_bins=16,
    )
    rows = made.sort_by("bin").select(["bin", "num_rows", "score_min", "score_max"]).to_pylist()
    assert [(row["bin"] - 15, row["num_rows"]) for row in rows] == [
        (0, 1),
        (1 / 1024, 2),
        (2 / 1024, 1),
        (3 / 1024, 1),
        (4 / 1024, 1),
    ]
    assert [row["score_min"] for row in rows] == sorted(set(scores))


@pytest.mark.slow
def test_what_is_certain_is_narrower():
    """ROLLUP: of the scores of boosting, of which many rows share 46, AUC is certain to 0.024 by
    the grid alone.
    """
    exact_scores = sqlrank.evaluate("CommonScores", **BOOSTING)["score"].to_pylist()
    assert len(exact_scores) == 46
    truth = sqlrank.evaluate(ORDERS, **BOOSTING).to_pylist()[0]
    widths = []
    for given in ((), exact_scores):
        found = sqlrank.evaluate(
            ORDERS, rollup=sqlrank.rollup(ORDERS, by="campaign", exact_scores=given, **BOOSTING)
        ).to_pylist()[0]
        for metric in ORDERS:
            assert (
                found[f"{metric}.bound_low"] - 1e-12
                <= truth[metric]
                <= found[f"{metric}.bound_high"] + 1e-12
            )
        widths.append(found["AUC.bound_high"] - found["AUC.bound_low"])
    assert widths == pytest.approx([0.0471, 0.0039], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_truth_is_never_beyond(seed):
    draw = np.random.default_rng(seed)
    scores = draw.choice(np.round(draw.random(9) * 2 - 1, 3), 40)
    table = pa.table(
        {"score": scores, "label": draw.integers(0, 2, 40), "weight": draw.integers(0, 5, 40) / 2}
    )
    given = {"predictions": table, "columns": {"weight": "weight"}}
    exact_scores = np.unique(scores)[::2].tolist()
    truth = sqlrank.evaluate(ORDERS, **given).to_pylist()[0]
    found = sqlrank.evaluate(
        ORDERS, rollup=sqlrank.rollup(ORDERS, exact_scores=exact_scores, n_bins=1, **given)
    ).to_pylist()[0]
    for metric in ORDERS:
        assert (
            found[f"{metric}.bound_low"] - 1e-12
            <= truth[metric]
            <= found[f"{metric}.bound_high"] + 1e-12
        )
    each = sqlrank.rollup(ORDERS, exact_scores=np.unique(scores).tolist(), n_bins=1, **given)
    exact = sqlrank.evaluate(ORDERS, rollup=each).to_pylist()[0]
    assert [exact[metric] for metric in ORDERS] == pytest.approx(
        [truth[metric] for metric in ORDERS], rel=1e-12
    )


def test_atoms_are_part_of_the_definition():
    table = build_table(score="0.5 0.25", label="0 1")
    made = [
        sqlrank.rollup("AUC", predictions=table, exact_scores=exact_scores)["definition_hash"][
            0
        ].as_py()
        for exact_scores in ((), [0.5], [0.5, 0.5], 0.5, [0.25])
    ]
    assert len(set(made)) == 3
    assert made[1] == made[2] == made[3]
    text = run_command(
        "rollup AUC --predictions clicks --exact-score 0.5 --sql --dialect snowflake"
    )
    assert made[1] in text
    assert "WHEN score = 0.5" in text
