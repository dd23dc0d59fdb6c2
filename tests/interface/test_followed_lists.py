"""Advice on lists in texts, rankings without ids, ratings and measured columns leads to the right
number.
"""

import math

import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.result_metadata import read_left_out
from tests.interface.advice import follow, follow_all, read_notes
from tests.interface.test_followed_advice import CASES
from tests.tables import read_columns


def test_measured_columns_that_are_missing():
    rows = {"score2": [1, 2], "n": [3, 4]}
    for name in ("score", "latency"):
        with pytest.raises(sqlrank.InputError, match=f"columns={{'{name}': ...}}"):
            sqlrank.evaluate(f"Mean({name})", predictions=rows)
        result = sqlrank.evaluate(f"Mean({name})", predictions=rows, columns={name: "score2"})
        assert result[0].to_pylist() == [1.5]


def test_rankings_without_ids(tmp_path):
    (tmp_path / "rows.csv").write_text("query_id,score,relevance\nq1,3,0\nq1,2,1\n")
    assert follow("RR", predictions=str(tmp_path / "rows.csv"))[0] == 0.5
    rows = read_columns(query_id="q1 q1", score="3 2", relevance="0 1")
    assert follow("RR", predictions={**rows, "doc_id": range(2)})[0] == 0.5


def test_counts_as_grades():
    run, metric = {"q1": ["a", "b"]}, "nDCG(gain=exp2)"
    message = "grades above 600 have the same gain=exp2, and the greatest is 900. Give gain=linear"
    for greatest, notes in ((900, [f"{message} for counts"]), (600, [])):
        qrels = {"q1": {"a": 590, "b": greatest}}
        result = sqlrank.evaluate(metric, run=run, qrels=qrels)
        assert read_notes(result) == notes
        assert result[0][0].as_py() == pytest.approx(1 / math.log2(3), abs=1e-3)
    flat = sqlrank.evaluate(metric, run=run, qrels={"q1": {"a": 601, "b": 900}})
    assert flat[0].to_pylist() == [1.0]


def test_grades_that_are_ratings():
    """A rating of 1 is relevant unless you say which is the least, so that any order is perfect."""
    run = {"q1": ["a", "b", "c"]}
    ratings = {"q1": {"a": 1, "b": 5, "c": 2}}
    assert follow_all("RR", run=run, qrels=ratings) == [0.5]
    assert not read_notes(sqlrank.evaluate("RR", run=run, qrels=ratings, rel=1))
    graded = {"q1": {"a": 1, "b": 3, "c": 2}}
    assert not read_notes(sqlrank.evaluate("RR", run=run, qrels=graded))


@pytest.mark.parametrize("form", CASES["answers"])
def test_texts_of_lists_that_a_cast_reads_otherwise(form, tmp_path):
    """A cast makes one id of ['x' 'y'], as NumPy prints it."""
    path = tmp_path / "answers.csv"
    path.write_text(f"query_id,retrieved,relevant\n{CASES['answers'][form]}")
    casts = {name: f"TRY_CAST({name} AS VARCHAR[])" for name in ("retrieved", "relevant")}
    call = {"inputs": {"answers": str(path)}, "columns": casts}
    if form in {"lists of Python", "JSON"}:
        assert sqlrank.evaluate("RR", **call)[0].to_pylist() == [0.75]
        return
    with pytest.raises(sqlrank.InputError, match=r"of which a cast makes other lists|is NULL"):
        sqlrank.evaluate("RR", **call)
    assert follow("RR", inputs=call["inputs"])[0] == 0.75


def test_a_name_of_two_words_between_brackets(tmp_path):
    (tmp_path / "answers.csv").write_text("query_id,retrieved,relevant\nq,[New York],[New York]\n")
    casts = {name: f"CAST({name} AS VARCHAR[])" for name in ("retrieved", "relevant")}
    inputs = {"answers": str(tmp_path / "answers.csv")}
    assert sqlrank.evaluate("num_ret", inputs=inputs, columns=casts)[0].to_pylist() == [1]


def test_rollups_repeat_what_was_left_out(tmp_path):
    ranked = {"run": {"a": ["x"]}, "qrels": {"a": {"x": 1}, "b": {"x": 1}, "c": {}}}
    metrics, path = ["RR", "num_unanswered"], tmp_path / "ranked.parquet"
    for options in ({}, {"queries": "judged_and_retrieved"}):
        rows = sqlrank.rollup(metrics, **ranked, **options)
        counted = [entry for entry in read_left_out(rows.schema.metadata) if entry.count]
        pq.write_table(rows, path)
        for source in (rows, path, [rows, rows.slice(0, 0)], str(tmp_path / "ran*.parquet")):
            stored = sqlrank.evaluate(metrics, rollup=source)
            scale = 2 if isinstance(source, list) else 1
            assert [
                (entry.note, entry.count, entry.total)
                for entry in read_left_out(stored.schema.metadata)
            ] == [(entry.note, scale * entry.count, scale * entry.total) for entry in counted]
        chosen = sqlrank.evaluate("num_unanswered", rollup=rows, where="1 = 1")
        assert all("in all rows of the rollup" in note for note in read_notes(chosen))
