"""Notes that count what a metric treats in its own way, and whose advice gives the other number."""

import random
import re
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.interface.advice import find_options, read_notes
from tests.interface.command_line import invoke_command
from tests.tables import read_columns

CURVES = ("PR", "ROC", "Threshold", "Gain", "Lift")


def _make_scores(size: int) -> dict[str, list[Any]]:
    draw = random.Random(1)  # noqa: S311  no secret
    scores = [draw.random() for _ in range(size)]
    return {
        "label": [int(draw.random() < score) for score in scores],
        "score": scores,
        "day": [row % 2 for row in range(size)],
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("curve", CURVES)
def test_points_of_a_curve_that_are_left_out_are_counted(curve):
    """The rows and those left out are the different scores, also where a result has more than a
    thousand rows.
    """
    predictions = _make_scores(5000)
    for options in ({}, {"by": "day"}, {"points": 3000}):
        result = sqlrank.evaluate(curve, predictions=predictions, **options)
        (note,) = read_notes(result)
        left_out = re.findall(r"([\d,]+) of (?:5,000 points|2,500)", note)
        left_out *= 2 if "each day: " in note else 1
        assert len(left_out) == (2 if "by" in options else 1), note
        num_points = sum(
            point > 0 for point in result["point"].to_pylist()
        )  # some begin at the origin, which is no score
        counts = [int(count.replace(",", "")) for count in left_out]
        assert sum(counts) + num_points == 5000, (options, note)
        assert "points of the curve are left out" in note
        assert "Give points=0 for all" in note
    everything = sqlrank.evaluate(curve, predictions=predictions, points=0)
    assert (max(everything["point"].to_pylist()), read_notes(everything)) == (5000, [])
    assert read_notes(sqlrank.evaluate(curve, predictions=_make_scores(100))) == []


def test_a_file_of_points_has_the_note(tmp_path):
    lines = [
        "label,score",
        *(
            f"{label},{score}"
            for label, score in zip(*[*_make_scores(3000).values()][:2], strict=True)
        ),
    ]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    done = invoke_command(f"evaluate ROC --predictions {tmp_path}/p.csv -o {tmp_path}/roc.csv")
    assert "of 3,000 points of the curve are left out" in done.stderr
    assert "Give --policy points=0 for all" in done.stderr
    done = invoke_command(
        f"evaluate ROC --predictions {tmp_path}/p.csv -o {tmp_path}/all.csv --policy points=0"
    )
    assert "note" not in done.stderr
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 1 + 3000 + 1


def test_labels_of_0_by_which_errors_are_divided():
    """By hand: without them the errors are 1 of 5 and 2 of 10."""
    predictions = read_columns(y="0 0 5 10", p="10 20 6 12", shop="a b b b")
    columns = {"label": "y", "score": "p"}
    for metrics in ("MAPE", ["MAE", "MAPE"]):
        (note,) = read_notes(sqlrank.evaluate(metrics, predictions=predictions, columns=columns))
        assert (
            note
            == "2 of 4 labels are 0, and an error is divided by eps in their place. Leave them out"
            " with where='y <> 0'"
        )
    followed = sqlrank.evaluate("MAPE", predictions=predictions, columns=columns, where="y <> 0")
    assert (followed["MAPE"][0].as_py(), read_notes(followed)) == (pytest.approx(0.2), [])
    assert read_notes(sqlrank.evaluate("MAE", predictions=predictions, columns=columns)) == []
    (note,) = read_notes(
        sqlrank.evaluate("MAPE", predictions=predictions, columns=columns, by="shop")
    )
    assert note.endswith("with where='y <> 0' (shop=a: 1 of 1, shop=b: 1 of 3)")


def test_options_in_notes_of_the_command_line(tmp_path):
    """The columns of groups are no options, whatever their names are."""
    (tmp_path / "p.csv").write_text("label,score,threads\n0,1,a\n1,2,a\n4,3,b\n")
    done = invoke_command(f"evaluate MAPE --predictions {tmp_path}/p.csv --by threads")
    assert "Leave them out with --where 'label <> 0' (threads=a: 1 of 2)" in done.stderr


TIED = read_columns(query_id="q1 q1 q1", doc_id="a b c", score="2.0 2.0 1.0", rank="1 2 3")
JUDGED = {"q1": {"a": 1}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", [{}, {"compat": "trec9"}, {"compat": "ranx"}, {"by": "system"}])
def test_ranks_that_differ_from_the_order_of_ties_are_named(options):
    """The document a is the first by its rank, and the second by its id."""
    run = {**TIED, "system": ["x"] * 3}
    result = sqlrank.evaluate("RR", run=run, qrels=JUDGED, **options)
    is_by_id = options.get("compat") != "ranx"
    assert result["RR"][0].as_py() == (0.5 if is_by_id else 1.0)
    expected = (
        "equal scores are ordered by doc_id, greatest first, against run.rank in 1 of 1 lists. Give"
        " ties='row_order' to order them by rank"
    )
    assert read_notes(result) == ([expected] if is_by_id else [])
    followed = sqlrank.evaluate("RR", run=run, qrels=JUDGED, ties="row_order", **options)
    assert (followed["RR"][0].as_py(), read_notes(followed)) == (1.0, [])
    for ranks, ties in (([2, 1, 3], {}), ([1, 2, 3], {"ties": "doc_desc"})):
        assert (
            read_notes(
                sqlrank.evaluate(
                    "RR", run={**run, "rank": ranks}, qrels=JUDGED, **{**options, **ties}
                )
            )
            == []
        )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("compat", ["trec9", "trec10", "ir_measures", None, "torchmetrics"])
def test_grades_that_a_tool_truncates_are_counted(compat):
    """Of 1.5 and 0.9 trec_eval reads 1 and 0: what it finds is what the mapping of the note
    gives.
    """
    run, qrels = {"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 1.5, "b": 0.9, "c": 1}}
    notes = read_notes(sqlrank.evaluate("nDCG", run=run, qrels=qrels, compat=compat))
    if compat in {None, "torchmetrics"}:
        assert notes == []
        return
    (note,) = notes
    assert note.startswith("2 of 3 grades are no integers. trec_eval truncates them")
    followed = sqlrank.evaluate("nDCG", run=run, qrels=qrels, compat=compat, **find_options(note))
    whole = sqlrank.evaluate("nDCG", run=run, qrels={"q": {"a": 1, "b": 0, "c": 1}}, compat=compat)
    assert (followed.to_pylist(), read_notes(followed)) == (whole.to_pylist(), [])


def test_grades_below_rel_are_named():
    arguments = {"run": {"q": {"a": 1.0, "b": 2.0}}, "qrels": {"q": {"a": 0.9, "b": 0.3}}}
    _, note = read_notes(sqlrank.evaluate(["AP", "nDCG"], **arguments))
    assert (
        note
        == "the greatest grade is 0.9, and relevant is one from 1 on (rel). Give rel=0.9 or less"
    )
    assert sqlrank.evaluate("AP", **arguments, rel=0.9)["AP"][0].as_py() == 0.5
    for metric, options in (("AP", {"rel": 0.9}), ("AP(rel=0.3)", {}), ("nDCG", {})):
        assert read_notes(sqlrank.evaluate(metric, **arguments, **options)) == []


def test_queries_of_a_run_without_judgments_are_counted():
    """Where the run decides on the queries, they count, so that nothing is left out."""
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    result = sqlrank.evaluate("RR", run=run, qrels=JUDGED)
    assert (result.to_pylist(), read_notes(result)) == (
        [{"RR": 1.0}],
        ["2 of 3 queries of the run have no judgments, and are left out"],
    )
    systems = sqlrank.evaluate("RR", run={"all": run, "one": {"q1": {"a": 1.0}}}, qrels=JUDGED)
    assert read_notes(systems) == [
        "some queries of the run have no judgments, and are left out (system=all: 2 of 3)"
    ]
    assert read_notes(sqlrank.evaluate("RR", run={"q1": {"a": 1.0}}, qrels=JUDGED)) == []
    assert not any(
        "left out" in note
        for note in read_notes(sqlrank.evaluate("RR", run=run, qrels=JUDGED, queries="retrieved"))
    )


@pytest.mark.slow
def test_stale_gold_is_named():
    """Of 12 relevant documents 7 are gone: the run finds 4 of the others, and one that is relevant
    is retrieved for another query.
    """
    qrels = {
        f"q{number}": {f"old{number}" if number < 7 else f"d{number}": 1, "x": 0}
        for number in range(12)
    }
    run = {
        query: {
            "x": 3.0,
            "y": 2.0,
            **({document: 1.0} if document in {"d7", "d8", "d9", "d10"} else {}),
        }
        for query, (document, _) in qrels.items()
    }
    run["q0"]["d11"] = 1.0
    advice = (
        "If ids changed after judging, give those of the corpus as items, and ask for GoldInCorpus"
    )
    in_no_list = f"7 of 12 relevant documents are in no list of any query. {advice}"
    assert read_notes(sqlrank.evaluate("RR", run=run, qrels=qrels)) == [in_no_list]
    corpus = pa.table({"doc_id": ["x", "y", *(f"d{number}" for number in range(7, 12))]})
    not_there = (
        "7 of 12 relevant documents are not in the catalog, so that no list can find them. See"
        " GoldInCorpus"
    )
    assert read_notes(sqlrank.evaluate("RR", run=run, qrels=qrels, inputs={"items": corpus})) == [
        not_there
    ]
    whole = pa.table(
        {"doc_id": [*corpus["doc_id"].to_pylist(), *(f"old{number}" for number in range(7))]}
    )
    assert read_notes(sqlrank.evaluate("RR", run=run, qrels=qrels, inputs={"items": whole})) == []
    found = {
        query: {**docs, **({"old0": 0.5, "old1": 0.4} if query == "q9" else {})}
        for query, docs in run.items()
    }
    assert read_notes(sqlrank.evaluate("RR", run=found, qrels=qrels)) == []  # 5 of 12
    few = {query: qrels[query] for query in [*qrels][:9]}
    assert not any(
        "in no list" in note for note in read_notes(sqlrank.evaluate("RR", run=run, qrels=few))
    )
    (row,) = sqlrank.gate(
        "RR", run={"old": run, "new": run}, qrels=qrels, baseline="old"
    ).to_pylist()
    assert in_no_list in row["reason"]
    stored = sqlrank.evaluate("RR", run=run, qrels=qrels, per_query=True)
    (row,) = sqlrank.gate("RR", run=run, qrels=qrels, baseline=stored).to_pylist()
    assert row["reason"].endswith(f"candidate and baseline: {in_no_list}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([[1, 1, 1], [0, 0], [5]], "in 2 of 2 lists"),
        ([[1, 1, 1], [0, 0], [2, 1]], "in 2 of 3 lists"),
        ([[1, 1, 1], [2, 1]], ""),
        ([[3], [5]], ""),
        ([[1, 1]] * 300 + [[2, 1]] * 400, ""),  # equal among the first ones only
    ],
)
def test_lists_of_one_score_are_counted(scores, text):
    run = {
        str(query): {f"d{rank}": score for rank, score in enumerate(values, 1)}
        for query, values in enumerate(scores)
    }
    qrels = {query: {"d1": 1} for query in run}
    result = sqlrank.evaluate("nDCG@1", run=run, qrels=qrels)
    notes = read_notes(result)
    assert [text in note for note in notes] == ([True] if text else [])
    advised = [find_options(note) for note in notes]
    assert advised == ([{"ties": "expected"}] if text else [])
    for options in advised:
        expected = sqlrank.evaluate("nDCG@1", run=run, qrels=qrels, **options)
        mean = sum(1 / values.count(max(values)) for values in scores) / len(scores)
        assert expected["nDCG@1"].to_pylist() == [pytest.approx(mean)]
        assert read_notes(expected) == []


UNLABELLED = read_columns(
    query_id="1 1 2 2",
    doc_id="a b c d",
    score="3.0 2.0 1.0 0.0",
    other="0.0 1.0 2.0 3.0",
    label="1 NULL NULL NULL",
)
ONE_RUN = {query: {"a": 2.0, "b": 1.0} for query in ("q0", "q1")}
ONE_QRELS = {query: {"a": 1} for query in ("q0", "q1")}
CHOICE = {"query_id": ["q0", "q1", "other"]}


@pytest.mark.parametrize("options", [{}, {"per_query": True}, {"confidence": 0.9}, {"by": "g"}])
def test_queries_without_judgments_of_predictions_and_choices(options):
    rows = {**UNLABELLED, "g": ["x"] * 4}
    result = sqlrank.evaluate("nDCG@3", predictions=rows, **options)
    note = "1 of 2 queries of the run have no judgments, and are left out"
    assert note in read_notes(result)
    labelled = {**rows, "label": [1, 0, 0, 1]}
    assert not read_notes(sqlrank.evaluate("nDCG@3", predictions=labelled))
    choice = {**CHOICE, "g": ["x"] * 3} if "by" in options else CHOICE
    result = sqlrank.evaluate("RR", run=ONE_RUN, qrels=ONE_QRELS, queries=choice, **options)
    note = "1 of 3 queries of the table of queries have no judgments, and are left out"
    assert note in read_notes(result)


def test_queries_without_judgments_in_comparisons():
    scores = {"score": ["score", "other"]}
    compared = sqlrank.compare("RR", predictions=UNLABELLED, columns=scores)
    assert "1 of 2 queries of the run have no judgments, and are left out" in read_notes(compared)
    compared = sqlrank.compare(
        "RR", run={"a": ONE_RUN, "b": ONE_RUN}, qrels=ONE_QRELS, queries=CHOICE
    )
    assert any("1 of 3 queries of the table of queries" in note for note in read_notes(compared))
