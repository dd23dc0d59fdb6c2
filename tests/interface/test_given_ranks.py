"""Ranks of a run are data: whole, distinct and from 1, or positions as they stand under
``ranks=given``.
"""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import InputError
from tests.tables import build_table, read_columns

QRELS = {"q": {"y": 1, "z": 1}}


def make_run(ranks: list[Any], query: str = "q") -> pa.Table:
    return pa.table(
        {"query_id": [query] * len(ranks), "doc_id": list("xyzw")[: len(ranks)], "rank": ranks}
    )


CLICK_LOG = build_table(query_id="a b c", doc_id="x y z", rank="1 7 10")
CLICKED = {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1}}


def test_advice_for_ranks_from_0_gives_the_right_number():
    result = sqlrank.evaluate(
        "RR", run=make_run([0, 1, 2]), qrels=QRELS, ties="rank", columns={"rank": "rank + 1"}
    )
    assert result.to_pylist() == [{"RR": 0.5}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "step", "given_step"),
    [
        (
            [0, 1, 2],
            "Ranks begin at 0, so give columns={'rank': 'rank + 1'}",
            "Ranks begin at 0, so give columns={'rank': 'rank + 1'}",
        ),
        (
            [0, 4, 9],
            *[
                (
                    "Ranks begin at 0 and have gaps, so give columns={'rank': 'rank + 1'} and"
                    " ranks='given'"
                )
            ]
            * 2,
        ),
        ([2, 3, 9], "Ranks have gaps, so give ranks='given' to read them as positions", ""),
        ([0, 0, 1], "Number the documents of each list from 1", "Keep one document at each rank"),
        ([0.5, 1, 2], "Number the documents of each list from 1", "Keep one document at each rank"),
        ([-1, 0, 1], "Number the documents of each list from 1", "Keep one document at each rank"),
    ],
)
def test_advice_follows_from_all_ranks(ranks, step, given_step):
    for options, expected in {"ties": step, "ranks": given_step}.items():
        call = {
            "run": make_run(ranks),
            "qrels": QRELS,
            **({"ties": "rank"} if options == "ties" else {"ranks": "given"}),
        }
        if not expected:
            assert sqlrank.evaluate("RR", **call).to_pylist() == [{"RR": 1 / 3}]
            continue
        with pytest.raises(InputError) as refused:
            sqlrank.evaluate("RR", **call)
        assert str(refused.value).split("\n")[0].partition(". ")[2] == expected


def test_positions_are_read_as_they_stand():
    metrics = ["RR", "Success@5"]
    (row,) = sqlrank.evaluate(metrics, run=CLICK_LOG, qrels=CLICKED, ranks="given").to_pylist()
    assert row == pytest.approx({"RR": (1 + 1 / 7 + 1 / 10) / 3, "Success@5": 1 / 3})
    # Relevant documents are at 5 and 4, of which AP@3 sees none.
    assert sqlrank.evaluate(
        "map@3", run=make_run([1, 5, 4]), qrels=QRELS, compat="rectools"
    ).to_pylist() == [{"map@3": 0.0}]
    (row,) = sqlrank.evaluate(
        ["AP", "P@5", "RBP"], run=make_run([1, 5, 4]), qrels=QRELS, ranks="given"
    ).to_pylist()
    assert row == pytest.approx(
        {"AP": (1 / 4 + 2 / 5) / 2, "P@5": 2 / 5, "RBP": 0.2 * (0.8**3 + 0.8**4)}
    )


def test_positions_without_gaps_are_ranks():
    metrics = ["AP", "RR", "nDCG@2", "P@2", "ERR", "RBP", "bpref", "Rprec"]
    run = pa.concat_tables([make_run([3, 1, 2], "q"), make_run([1, 2, 3], "r")])
    qrels = {**QRELS, "r": {"x": 2, "z": 1}}
    ranked = sqlrank.evaluate(metrics, run=run, qrels=qrels, ties="rank")
    assert (
        sqlrank.evaluate(metrics, run=run, qrels=qrels, ranks="given").to_pylist()
        == ranked.to_pylist()
    )


@pytest.mark.slow
def test_positions_are_whole_distinct_and_from_1():
    for ranks in ([1, 1, 2, 2], [0, 4, 9], [1, 2.5, 4]):
        with pytest.raises(InputError, match="rank has to be integers from 1, each once in a list"):
            sqlrank.evaluate("RR", run=make_run(ranks), qrels=QRELS, ranks="given")


def test_a_merged_document_keeps_its_smallest_rank():
    run = build_table(query_id="q q q", doc_id="x x y", rank="1 2 3")
    assert sqlrank.evaluate(
        "RR", run=run, qrels=QRELS, ties="rank", duplicates="max"
    ).to_pylist() == [{"RR": 0.5}]
    assert sqlrank.evaluate(
        "RR", run=run, qrels=QRELS, ranks="given", duplicates="max"
    ).to_pylist() == [{"RR": 1 / 3}]


@pytest.mark.slow
def test_comparisons_explanations_and_rollups_read_positions():
    systems = {"log": CLICK_LOG, "best": CLICK_LOG.set_column(2, "rank", pa.array([1, 1, 1]))}
    compared = sqlrank.compare("RR", run=systems, qrels=CLICKED, ranks="given")
    assert compared["value_baseline"].to_pylist() == pytest.approx([(1 + 1 / 7 + 1 / 10) / 3])
    explained = sqlrank.explain("RR", run=CLICK_LOG, qrels=CLICKED, ranks="given", query="b")
    assert "7" in str(explained)
    kept = sqlrank.rollup("RR", run=CLICK_LOG, qrels=CLICKED, ranks="given")
    assert sqlrank.evaluate("RR", rollup=kept, ranks="given").to_pylist()[0]["RR"] == pytest.approx(
        (1 + 1 / 7 + 1 / 10) / 3
    )
    assert "ranks=given" in sqlrank.sql("RR", run="run", qrels="qrels", ranks="given")


def test_scores_are_needed_only_where_a_metric_reads_an_order():
    run = read_columns(query_id="a a b", doc_id="x y x", rank="1 2 1")
    qrels = {"a": {"y": 1}, "b": {"x": 1}}
    assert sqlrank.evaluate("num_q", run=run, qrels=qrels).to_pylist() == [{"num_q": 2.0}]
    assert sqlrank.evaluate(["RR", "num_q"], run=run, qrels=qrels, ties="rank").to_pylist() == [
        {"RR": 0.75, "num_q": 2.0}
    ]
    with pytest.raises(InputError, match="no column 'score'"):
        sqlrank.evaluate(["RR", "num_q"], run=run, qrels=qrels)
