"""Notes on what policies leave out of a result, or fill: with counts, by group, in results,
comparisons, gates, reports and on the command line.
"""

import ast
import json
import re
from contextlib import closing
from typing import Any

import chdb.dbapi
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.errors import InputError
from sqlrank.output.ci_reports import format_junit
from sqlrank.registry.loader import load_registry
from sqlrank.result_metadata import read_left_out
from sqlrank.run import execution
from tests.interface.advice import read_notes
from tests.interface.command_line import app
from tests.tables import build_table, read_columns

QUERIES = [f"q{number}" for number in range(6)]
QRELS = {query: {"a": 1, "b": 0} for query in QUERIES}
RUN = {query: {"a": 2.0, "b": 1.0} for query in QUERIES}
HALF = {query: RUN[query] for query in QUERIES[:3]}


def make_records(**missing: list[int]) -> dict[str, pa.Table]:
    columns = {
        name: [None if row in missing.get(name, []) else row // 2 for row in range(6)]
        for name in ("predicted_cluster", "true_cluster")
    }
    return {"records": pa.table({"record_id": range(6), **columns})}


def make_predictions(labels: list[int | None]) -> pa.Table:
    size = len(labels)
    return pa.table(
        {
            "query_id": [row // 2 for row in range(size)],
            "label": labels,
            "score": [row / 10 for row in range(size)],
        }
    )


RANKED_ROWS = read_columns(query_id="q0 q0 q0 q0", doc_id="a b a c", score="3.0 2.0 1.0 NULL")
ROWS_LEFT_OUT = "rows of run and judgments without a score or grade, which are left out: 1"
ESTIMATES = (
    "Metrics such as SampledPairwisePrecision estimate for all records from a sample of true"
    " clusters"
)

NO_LIST = "have no results, and count as empty lists"
CLICKS = build_table(query_id="q0 q1", doc_id="a b", rank="1 1", clicked="1 0")
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "queries=judged": (
        "RR",
        {"run": HALF, "qrels": QRELS},
        ["3 of 6 judged queries have no results, and count as empty lists"],
    ),
    "queries=judged_and_retrieved": (
        "RR",
        {"run": HALF, "qrels": QRELS},
        ["3 of 6 judged queries have no results, and are left out"],
    ),
    "queries=given": (
        "RR",
        {
            "inputs": {
                "answers": build_table(
                    query_id="1 2", retrieved=[["a"], []], relevant=[["a"], ["b"]]
                )
            }
        },
        ["1 of 2 queries have no results, and count as empty lists"],
    ),
    "unjudged=drop": (
        "RR",
        {"run": {"q0": ["a", "b", "c", "d"]}, "qrels": QRELS, "where": "qrels.query_id = 'q0'"},
        ["2 of 4 retrieved documents have no judgment, and are removed"],
    ),
    "queries=clicked": (
        "ClickRank",
        {"run": {"q0": ["a"]}, "inputs": {"clicks": CLICKS}},
        ["1 of 2 queries that were shown " + NO_LIST],
    ),
    "missing_prediction=singleton": (
        "BCubedF",
        {"inputs": make_records(predicted_cluster=[0, 2, 4])},
        ["3 of 6 records have no predicted cluster, and count as clusters of their own"],
    ),
    "missing_prediction=drop": (
        "BCubedF",
        {"inputs": make_records(predicted_cluster=[0, 2, 4])},
        ["3 of 6 records have no predicted cluster, and are left out"],
    ),
    "missing_truth=drop of another table": (
        "PairwisePrecision",
        {
            "inputs": {
                "predicted_clusters": build_table(record_id=range(6), cluster_id="0 0 1 1 2 2"),
                "true_clusters": build_table(record_id="0 1 2", cluster_id="0 0 1"),
            }
        },
        [f"3 of 6 records have no true cluster, and are left out. {ESTIMATES}"],
    ),
    "missing_truth=drop": (
        "PairwisePrecision",
        {"inputs": make_records(true_cluster=[0, 1, 5])},
        [f"3 of 6 records have no true cluster, and are left out. {ESTIMATES}"],
    ),
    "missing_truth=singleton": (
        "PairwisePrecision",
        {"inputs": make_records(true_cluster=[0, 1, 5])},
        ["3 of 6 records have no true cluster, and count as clusters of their own"],
    ),
    "duplicates=max": (
        "RR",
        {
            "run": {name: values[:3] for name, values in RANKED_ROWS.items()},
            "qrels": {"q0": {"a": 1}},
        },
        ["rows that repeat a document of their query, which are merged: 1"],
    ),
    "nulls=drop": (
        "RR",
        {
            "run": {name: values[2:] for name, values in RANKED_ROWS.items()},
            "qrels": {"q0": {"a": 1}},
        },
        [ROWS_LEFT_OUT],
    ),
    "nulls=drop of predictions": (
        "LogLoss",
        {"predictions": make_predictions([0, 1, None, 1])},
        ["predictions without a label, score or weight, which are left out: 1"],
    ),
    **{
        f"if_undefined={policy}": (
            "RR",
            {"run": RUN, "qrels": {**QRELS, "q0": {"b": 0}, "q1": {"b": 0}, "q2": {"b": 0}}},
            [f"3 of 6 queries {what} RR (undefined: a query without relevant documents)"],
        )
        for policy, what in {
            "zero": "count as 0 in",
            "one": "count as 1 in",
            "half": "count as 0.5 in",
            "skip": "are left out of",
        }.items()
    },
}


def evaluate_case(case: str) -> pa.Table:
    metric, sources, _ = CASES[case]
    policy, _, value = case.partition(" ")[0].partition("=")
    return sqlrank.evaluate(
        metric,
        **sources,
        **({"topics": value} if policy == "queries" and "inputs" in sources else {policy: value}),
    )


@pytest.mark.parametrize("case", CASES)
def test_a_policy_says_how_many_units_it_leaves_out(case):
    result, notes = evaluate_case(case), CASES[case][2]
    assert read_notes(result) == notes
    assert sum(entry.count for entry in read_left_out(result.schema.metadata)) in {1, 2, 3}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", CASES)
def test_counts_are_columns_of_the_statement(case, monkeypatch):
    """Queries that the policy leaves out are no lists of the statement, and have one of their
    own.
    """
    requests, execute = [], execution.execute_resolved

    def record(*arguments: Any, **options: Any) -> pa.Table:
        requests.append(arguments)
        return execute(*arguments, **options)

    monkeypatch.setattr(execution, "execute_resolved", record)
    evaluate_case(case)
    assert len(requests) == 1 + (case == "queries=judged_and_retrieved")


def test_every_policy_that_leaves_units_out_is_tried():
    library = load_registry()
    declared = {
        f"{name}={value}"
        for name, policy in library.policies.items()
        for value, entry in policy["values"].items()
        if "counts" in entry
    }
    filled = {
        f"if_undefined={value}" for value in library.functions["if_undefined"] if value != "null"
    }
    assert declared | filled == {case.partition(" ")[0] for case in CASES}


@pytest.mark.parametrize(
    "call",
    [
        {"metrics": ["nDCG@10", "RR", "P@5"], "run": RUN, "qrels": QRELS},
        {"metrics": "RR", "run": RUN, "qrels": QRELS, "queries": "judged_and_retrieved"},
        {
            "metrics": ["RR", "AP"],
            "run": {"one": RUN, "two": RUN},
            "qrels": QRELS,
            "per_query": True,
        },
        {"metrics": ["PairwiseF", "BCubedF"], "inputs": make_records()},
        {"metrics": ["AUC", "LogLoss"], "predictions": make_predictions([0, 1, 1, 0])},
        {"metrics": "AUC", "predictions": make_predictions([0, 1, 1, 0]), "level": "query"},
        {"metrics": "LogLoss", "predictions": make_predictions([0, 1, 1, 0]), "nulls": "drop"},
    ],
)
def test_complete_data_have_no_notes(call):
    assert read_notes(sqlrank.evaluate(**call)) == []


def test_groups_have_counts_of_their_own():
    days = ["mon", "mon", "tue", "tue"]
    run = build_table(query_id="a b c", doc_id="x x x", score="1.0 1.0 1.0", day=days[:3])
    qrels = pa.table(
        {"query_id": list("abcd"), "doc_id": ["x"] * 4, "relevance": [1] * 4, "day": days}
    )
    result = sqlrank.evaluate("RR", run=run, qrels=qrels, by="day")
    assert read_notes(result) == [
        "some judged queries have no results, and count as empty lists (day=tue: 1 of 2)"
    ]
    both = sqlrank.evaluate("RR", run=run, qrels=qrels, by=[[], ["day"]])
    assert read_notes(both) == read_notes(result)
    single = sqlrank.evaluate(["AUC"], predictions=make_predictions([0, 1, 1, 1]), level="query")
    assert read_notes(single) == [
        "1 of 2 queries are left out of AUC (undefined: predictions of one class only)"
    ]


def test_a_result_without_hits_is_0():
    result = sqlrank.evaluate(
        "RR", run={"q": ["a"], "r": ["b"]}, qrels={"q": {"b": 1}, "r": {"a": 1}}
    )
    assert result.to_pylist() == [{"RR": 0.0}]
    assert read_notes(result) == ["2 of 2 queries found none of their relevant documents"]


# Ids of a run and of judgments, of what they differ, and the form that is suggested: the weakest
# one, which keeps case where most differ otherwise.
ID_FORMS = {
    "blanks": (["X ", "y"], ["X", "y"], "surrounding blanks only in 1 and 1 values, such as 'X' and 'X '", "TRIM(doc_id)"),
    "case": (["Star Wars", "y"], ["star wars", "y"], "case only in 1 and 1 values, such as 'star wars' and 'Star Wars'", "LOWER(doc_id)"),
    "blanks beside another id": ([" c", " Ab"], ["c", "aB"], "surrounding blanks only in 1 and 1 values, such as 'c' and ' c'", "TRIM(doc_id)"),
    "case beside a blank": (
        ["A", "B", "C", "d "], ["a", "b", "c", "d"], "case or surrounding blanks only in 4 and 4 values, such as 'a' and 'A'", "LOWER(TRIM(doc_id))",
    ),
    "blanks and case": (["X "], ["x"], "case or surrounding blanks only in 1 and 1 values, such as 'x' and 'X '", "LOWER(TRIM(doc_id))"),
    "blanks and zeros": (
        [" 1", "02"], ["1", "2"], "blanks, leading zeros or a final .0 only in 2 and 2 values, such as '1' and ' 1'",
        "LTRIM(TRIM(CASE WHEN doc_id LIKE '%.0' THEN SUBSTRING(doc_id, 1, LENGTH(doc_id) - 2) ELSE doc_id END), '0')",
    ),
    "accents": (
        ["e\N{COMBINING ACUTE ACCENT}", "y"], ["\N{LATIN SMALL LETTER E WITH ACUTE}", "y"],
        "Unicode normalization (NFC or NFD) only in 1 and 1 values, such as '\N{LATIN SMALL LETTER E WITH ACUTE}' and 'e\N{COMBINING ACUTE ACCENT}'",
        "NFC_NORMALIZE(doc_id)",
    ),
    "accents and case": (
        ["E\N{COMBINING ACUTE ACCENT}"], ["\N{LATIN SMALL LETTER E WITH ACUTE}"],
        "case, blanks, leading zeros, a final .0 or Unicode normalization only in 1 and 1 values, such as '\N{LATIN SMALL LETTER E WITH ACUTE}' and 'E\N{COMBINING ACUTE ACCENT}'",
        "LTRIM(LOWER(TRIM(NFC_NORMALIZE(CASE WHEN doc_id LIKE '%.0' THEN SUBSTRING(doc_id, 1, LENGTH(doc_id) - 2) ELSE doc_id END))), '0')",
    ),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ID_FORMS)
def test_ids_that_differ_in_form_are_named(name):
    docs, judged, text, form = ID_FORMS[name]
    inputs = {
        "run": {"q": docs, "p": ["other"]},
        "qrels": {"q": dict.fromkeys(judged, 1), "p": {"other": 1}},
    }
    mapping = f"Map both to one form, such as columns={{'doc_id': {form!r}}}"
    assert (
        read_notes(sqlrank.evaluate("RR", **inputs))[-1]
        == f"qrels.doc_id and run.doc_id differ in {text}. {mapping}"
    )
    columns = {"doc_id": form}
    for _ in range(2):  # the case that the first step keeps is the second
        result = sqlrank.evaluate("R@10", **inputs, columns=columns)
        for note in read_notes(result):
            columns = ast.literal_eval(note.partition("columns=")[2])
    assert (result.to_pylist(), read_notes(result)) == ([{"R@10": 1.0}], [])


@pytest.mark.slow
def test_forms_of_ids_are_written_for_each_engine():
    composed, decomposed = (
        "caf\N{LATIN SMALL LETTER E WITH ACUTE}",
        "cafe\N{COMBINING ACUTE ACCENT}",
    )
    rows = {"run": f"'q', '{composed}', 1", "qrels": f"'q', '{decomposed}', 1"}
    with closing(chdb.dbapi.connect()) as connection:
        sources = {
            role: (
                f"SELECT * FROM VALUES('query_id String, doc_id String, {number} Float64', ({values}),"
                " ('p', 'x', 1))"
            )
            for (role, values), number in zip(rows.items(), ("score", "relevance"), strict=True)
        }
        (note,) = read_notes(sqlrank.evaluate("RR", **sources, connection=connection))
        columns = ast.literal_eval(note.partition("columns=")[2])
        assert columns == {"doc_id": "normalizeUTF8NFC(doc_id)"}
        result = sqlrank.evaluate("RR", **sources, connection=connection, columns=columns)
    assert (result.to_pylist(), read_notes(result)) == ([{"RR": 1.0}], [])


def test_queries_that_differ_in_form_are_named():
    notes = read_notes(
        sqlrank.evaluate(
            "RR",
            run={"Star Wars": ["x"], "alien": ["y"]},
            qrels={"star wars": {"x": 1}, "alien": {"y": 1}},
        )
    )
    text = "differ in case only in 1 and 1 values, such as 'star wars' and 'Star Wars'"
    mapped = "Map both to one form, such as columns={'query_id': 'LOWER(query_id)'}"
    unjudged = "1 of 2 queries of the run have no judgments, and are left out"
    assert notes[1:] == [f"qrels.query_id and run.query_id {text}. {mapped}", unjudged]


@pytest.mark.parametrize(
    ("queries", "form"),
    [
        (None, "dicts"),
        ("retrieved", "lists"),
        *(
            pytest.param(queries, form, marks=pytest.mark.slow)
            for queries in (None, "judged", "judged_and_retrieved", "strict", "retrieved")
            for form in ("dicts", "lists")
            if (queries, form) not in {(None, "dicts"), ("retrieved", "lists")}
        ),
    ],
)
def test_queries_without_documents_are_counted(queries, form):
    qrels = {"q1": {"a": 1}, "q2": {}, "q3": {"a": 1}, "q4": {}}
    run = {"q1": {"a": 1.0}, "q3": {}}
    if form == "lists":
        qrels, run = (
            {query: list(docs) for query, docs in source.items()} for source in (qrels, run)
        )
    policy = {} if queries is None else {"queries": queries}
    judged = (
        "2 of 4 queries of qrels have no documents, and are left out: 'q2' and 'q4'. Give each a"
        " document of relevance 0 to count it"
    )
    if queries == "retrieved":
        assert read_notes(sqlrank.evaluate("RR", run=run, qrels=qrels, **policy)) == [
            "1 of 2 queries of run have no documents, and are left out: 'q3'"
        ]
        return
    result = sqlrank.evaluate("RR", run={"q1": run["q1"], "q3": run["q1"]}, qrels=qrels, **policy)
    assert (result.to_pylist(), read_notes(result)) == ([{"RR": 1.0}], [judged])
    if queries != "strict":
        filled = {
            query: docs or ({"z": 0} if form == "dicts" else []) for query, docs in qrels.items()
        }
        notes = read_notes(sqlrank.evaluate("RR", run=run, qrels=filled, **policy))
        assert any("judged queries have no results" in note for note in notes)
        assert (judged in notes) == (form == "lists")


@pytest.mark.slow
def test_queries_without_documents_are_noted_in_comparisons_and_in_files(tmp_path):
    run, qrels = (
        {f"q{number}": {"a": 1.0} for number in range(4)},
        {**{f"q{number}": {"a": 1} for number in range(3)}, "q3": {}},
    )
    assert (
        "1 of 4 queries of qrels have no documents"
        in read_notes(sqlrank.compare("RR", run={"old": run, "new": run}, qrels=qrels))[0]
    )
    assert (
        "1 of 4 queries of run have no documents"
        in read_notes(sqlrank.evaluate("AggregateDiversity@2", run={**run, "q3": {}}))[0]
    )
    for name, end in {
        "qrels": "Give each a document of relevance 0 to count it",
        "run": "such as 'q3'",
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({**run, "q3": {}}))
        with pytest.raises(InputError) as refused:
            sqlrank.evaluate(
                "RR", **{"run": run, "qrels": qrels, name: str(tmp_path / f"{name}.json")}
            )
        assert "It leaves out 1 without documents, such as 'q3'" in str(refused.value)
        assert str(refused.value).endswith(end)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (["007", "b"], ["7", "b"], "leading zeros only in 1 and 1 values, such as '7' and '007'"),
        (["7.0", "b"], ["7", "b"], "a final .0 only in 1 and 1 values, such as '7' and '7.0'"),
        (
            ["D1", "D2", "007", "b"],
            ["d1", "d2", "7", "b"],
            "case, blanks, leading zeros or a final .0 only in 3 and 3 values",
        ),
        (["7.01", "b"], ["7.1", "b"], ""),
    ],
)
def test_ids_in_other_forms_are_named(run, qrels, words):
    notes = read_notes(sqlrank.evaluate("RR", run={"q": run}, qrels={"q": qrels}))
    assert [words in note for note in notes] == ([True] if words else [])


def test_ids_of_other_types_are_mapped_one_by_one():
    run = build_table(query_id="1 1", docno=["007", "100"], score="2.0 1.0")
    qrels = build_table(query_id="1 1", doc_id="7 100", relevance="1 1")
    (note,) = read_notes(
        sqlrank.evaluate("R@10", run=run, qrels=qrels, columns={"run.doc_id": "docno"})
    )
    mapping = {
        "qrels.doc_id": "LTRIM(CAST(doc_id AS TEXT), '0')",
        "run.doc_id": "LTRIM(docno, '0')",
    }
    assert note.endswith(f"Map both to one form, such as columns={mapping!r}")


@pytest.mark.parametrize(
    "name",
    [
        "distance",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("_distance", "dist", "cosine_distance", "L2", "Hamming")
        ),
    ],
)
def test_distances_are_no_scores(name):
    columns = {"query_id": ["q", "q"], "doc_id": ["a", "b"], name: [0.1, 0.9]}
    text = f"columns={{'score': '-{name}'}}"
    with pytest.raises(InputError, match=re.escape(text)):
        sqlrank.evaluate("RR", run=columns, qrels={"q": {"a": 1}})
    (note,) = read_notes(
        sqlrank.evaluate("RR", run=columns, qrels={"q": {"a": 1}}, columns={"score": name})
    )
    assert (
        note
        == f"run.score is the column {name!r}, of which the greatest is the first. If the least"
        f" distance is best, give {text}"
    )
    result = sqlrank.evaluate(
        "RR", run=columns, qrels={"q": {"a": 1}}, columns={"score": f"-{name}"}
    )
    assert (result.to_pylist(), read_notes(result)) == ([{"RR": 1.0}], [])
    scored = sqlrank.evaluate("RR", run={**columns, "score": [0.9, 0.1]}, qrels={"q": {"a": 1}})
    assert (scored.to_pylist(), read_notes(scored)) == ([{"RR": 1.0}], [])


def _make_lists(*scores: list[float]) -> dict[str, list[Any]]:
    rows = [
        (query, f"d{rank}", score, rank)
        for query, values in enumerate(scores)
        for rank, score in enumerate(values, 1)
    ]
    return dict(
        zip(
            ("query_id", "doc_id", "score", "rank"), map(list, zip(*rows, strict=True)), strict=True
        )
    )


def test_scores_that_are_ranks_by_name_are_named():
    lists = _make_lists([1, 2])
    run = {name: lists[name] for name in ("query_id", "doc_id")} | {"Position": lists["score"]}
    notes = read_notes(
        sqlrank.evaluate("RR", run=run, qrels={0: {"d1": 1}}, columns={"score": "Position"})
    )
    (note,) = notes
    assert note == (
        "run.score is the column 'Position', of which the greatest is the first. If it is a rank,"
        " give columns={'rank': 'Position'} and ties='rank' in its place"
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([[0.12, 0.45, 0.8]], "1 of 1 lists"),
        ([[1, 2, 3], [7, 8], [5, 5]], "2 of 2 lists"),  # of equal scores none rises
        ([[3, 2, 1], [1, 2]], ""),
        (
            [[2, 1], [90, 80, 70, 60, 50]],
            "",
        ),  # longer lists with greater scores: these fall in each list
        ([[float("-inf"), 2, 3]], ""),
    ],
)
def test_scores_that_rise_with_ranks_are_named(scores, text):
    qrels = {
        "query_id": [*range(len(scores))],
        "doc_id": ["d1"] * len(scores),
        "relevance": [1] * len(scores),
    }
    notes = read_notes(sqlrank.evaluate("RR", run=_make_lists(*scores), qrels=qrels))
    choices = (
        "Give ties='rank' to order documents by rank, or columns={'score': '-score'} if the least"
        " score is best"
    )
    assert notes == (
        [f"run.score rises with run.rank in {text}, and the greatest score is the first. {choices}"]
        if text
        else []
    )
    assert (
        read_notes(sqlrank.evaluate("RR", run=_make_lists(*scores), qrels=qrels, ties="rank")) == []
    )


@pytest.mark.slow
def test_notes_of_the_command_line_have_its_options(tmp_path):
    (tmp_path / "run.csv").write_text("query_id,doc_id,distance\nq,D1,0.1\nq,b,0.2\n")
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\nq,d1,1\nq,b,1\n")
    words = [
        "evaluate", "RR", "--run", str(tmp_path / "run.csv"), "--qrels",
        str(tmp_path / "qrels.csv"), "--column", "score=distance",
    ]  # fmt: skip
    notes = CliRunner().invoke(app, words).stderr
    assert "give --column score=-distance\n" in notes
    assert "such as --column doc_id='LOWER(doc_id)'\n" in notes


def test_items_beyond_the_catalog_are_counted():
    inputs = {"items": build_table(doc_id="a b c d")}
    result = sqlrank.evaluate(
        "CatalogCoverage@2", run={"u": ["a", "x"], "v": ["b", "y"]}, inputs=inputs
    )
    assert (result.to_pylist(), read_notes(result)) == (
        [{"CatalogCoverage@2": 0.5}],
        ["2 of 4 recommended items are not in the catalog, and are left out"],
    )
    assert (
        read_notes(sqlrank.evaluate("CatalogCoverage@2", run={"u": ["a", "b"]}, inputs=inputs))
        == []
    )


@pytest.mark.slow
def test_comparisons_and_gates_say_what_is_left_out(tmp_path):
    queries = [f"q{number}" for number in range(30)]
    run, qrels = {query: {"a": 1.0} for query in queries}, {query: {"a": 1} for query in queries}
    half = {query: run[query] for query in queries[:15]}
    note = "15 of 30 judged queries have no results, and count as empty lists"
    compared = sqlrank.compare("RR", run={"old": run, "new": half}, qrels=qrels)
    assert read_notes(compared) == [
        "some judged queries have no results, and count as empty lists (system=new: 15 of 30)"
    ]
    decided = sqlrank.gate("RR", run={"old": run, "new": half}, qrels=qrels, tolerance=0.1)
    assert decided["reason"].to_pylist() == [f"worse by more than the tolerance. new: {note}"]
    stored = sqlrank.evaluate("RR", run=half, qrels=qrels, per_query=True)
    passed = sqlrank.gate("RR", run=run, qrels=qrels, baseline=stored, tolerance=0.1)
    assert passed["reason"].to_pylist() == [
        (
            "not worse by more than the tolerance. No query is worse, so at most 9.5% of all are."
            f" baseline: {note}"
        )
    ]
    written = f"some {note.partition(' of 30 ')[2]} (system=baseline: 15 of 30)"
    assert f"<system-out>{written}</system-out>" in format_junit(passed)
    for name, table in {"run": half, "qrels": qrels}.items():
        value = "score" if name == "run" else "relevance"
        rows = [{"query_id": query, "doc_id": "a", value: 1} for query in table]
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    done = CliRunner().invoke(
        app, f"evaluate RR --run {tmp_path}/run.parquet --qrels {tmp_path}/qrels.parquet"
    )
    assert done.stderr == f"note: {note}\n"


@pytest.mark.slow
def test_rollups_say_what_is_left_out(tmp_path):
    predictions = build_table(day="a a b b b", label="1 0 1 0 1", score="0.9 0.1 0.8 NULL 0.2")
    call = {"predictions": predictions, "by": "day", "nulls": "drop"}
    for metrics in (["AUC", "LogLoss"], ["LogLoss"]):
        rows = sqlrank.rollup(metrics, **call)
        assert read_notes(rows) == read_notes(sqlrank.evaluate(metrics, **call)) != []
        assert [entry.metrics for entry in read_left_out(rows.schema.metadata)] == [tuple(metrics)]
        assert read_notes(sqlrank.evaluate(metrics, rollup=rows, by="day")) == read_notes(rows)
    ranked = {"run": {"a": ["x"]}, "qrels": {"a": {"x": 1}, "b": {"x": 1}, "c": {}}}
    for options in ({}, {"queries": "judged_and_retrieved"}):
        rows = sqlrank.rollup(["RR", "num_unanswered"], **ranked, **options)
        assert read_notes(rows) == read_notes(
            sqlrank.evaluate(["RR", "num_unanswered"], **ranked, **options)
        )
        assert len(read_notes(rows)) == 2
    pyarrow.parquet.write_table(predictions, tmp_path / "predictions.parquet")
    words = [
        "rollup",
        "AUC",
        "--predictions",
        str(tmp_path / "predictions.parquet"),
        "--by",
        "day",
        "--policy",
        "nulls=drop",
    ]
    done = CliRunner().invoke(app, words)
    assert (
        done.stderr
        == "note: predictions without a label, score or weight, which are left out: 1 (day=b: 1)\n"
    )
    assert (
        CliRunner()
        .invoke(app, [*words, "-o", str(tmp_path / "rollup.parquet")])
        .stderr.startswith("note: ")
    )


@pytest.mark.slow
def test_reports_begin_with_what_is_left_out_and_say_it_once():
    queries = pa.table({"query_id": [*QRELS], "kind": ["a", "b"] * (len(QRELS) // 2)})
    html = sqlrank.report(
        "RR", run={"old": RUN, "new": HALF}, qrels=QRELS, queries=queries, by="kind"
    ).html
    assert "new: 3 of 6 judged queries have no results, and count as empty lists." in html
    assert html.count("judged queries have no results") == 1


def make_scores(labels: list[str], scores: list[list[float]]) -> dict[str, pa.Table]:
    return {
        "multiclass_predictions": pa.table(
            {"label": labels, "classes": [["a", "b"]] * len(labels), "scores": scores}
        )
    }


@pytest.mark.parametrize(
    ("labels", "scores", "notes"),
    [
        (["a", "b"], [[0.9, 0.1], [0.2, 0.8]], []),
        (
            ["a", "b"],
            [[0.9, 0.9], [0.2, 0.8]],
            ["1 of 2 predictions have class probabilities that do not add up to 1"],
        ),
        (
            ["c", "b"],
            [[0.9, 0.1], [0.2, 0.8]],
            [
                (
                    "1 of 2 predictions have a label that none of their classes is, which counts as a"
                    " score of 0"
                )
            ],
        ),
    ],
)
def test_scores_of_classes_belong_to_labels_and_add_up_to_1(labels, scores, notes):
    assert (
        read_notes(
            sqlrank.evaluate(
                ["MulticlassLogLoss", "TopKAccuracy@1"], inputs=make_scores(labels, scores)
            )
        )
        == notes
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("metric", ["MulticlassAccuracy", "MulticlassFBeta", "CohenKappa"])
def test_classes_that_differ_in_case_or_blanks_are_named(metric):
    classified = {"label": ["cat", "dog", "cat", "cow"], "predicted": ["cat ", "Dog", "cow", "cow"]}
    (note,) = read_notes(sqlrank.evaluate(metric, inputs={"classified": pa.table(classified)}))
    assert note.startswith(
        "classified.predicted and classified.label differ in case or surrounding blanks only in 2"
        " and 2 values, such as 'Dog' and 'dog'. Map both"
    )
    mapped = {name: f"LOWER(TRIM({name}))" for name in classified}
    result = sqlrank.evaluate(
        "MulticlassAccuracy", inputs={"classified": pa.table(classified)}, columns=mapped
    )
    assert (result.to_pylist(), read_notes(result)) == ([{"MulticlassAccuracy": 0.75}], [])


@pytest.mark.parametrize(
    ("zero_division", "fill"),
    [("zero", "counts as 0"), ("one", "counts as 1"), ("skip", "is left out")],
)
def test_classes_without_a_ratio_are_counted(zero_division, fill):
    classified = {"classified": build_table(label="a b b", predicted="a a c")}
    result = sqlrank.evaluate(
        ["MulticlassPrecision", "MulticlassRecall"], inputs=classified, zero_division=zero_division
    )
    assert read_notes(result) == [
        f"1 of 3 classes are never predicted, and their precision, 0 / 0, {fill}",
        f"1 of 3 classes are never observed, and their recall, 0 / 0, {fill}",
    ]
    assert (
        read_notes(sqlrank.evaluate("MulticlassPrecision", inputs=classified, average="micro"))
        == []
    )


def test_series_of_other_indexes_are_refused():
    labels, scores = (
        pd.Series([1, 0, 1], index=[0, 1, 2]),
        pd.Series([0.3, 0.2, 0.1], index=[2, 1, 0]),
    )
    aligned = sqlrank.evaluate("AUC", predictions=pd.DataFrame({"label": labels, "score": scores}))
    assert aligned.to_pylist() == [{"AUC": 0.5}]
    assert sqlrank.evaluate(
        "AUC", predictions={"label": labels, "score": list(scores)}
    ).to_pylist() == [{"AUC": 0.5}]


def test_an_experiment_says_why_a_value_is_undefined():
    visits = build_table(
        unit_id=range(6), variant="a a a b b b", clicks="1 0 1 0 1 1", views="0 0 0 2 1 3"
    )
    result = sqlrank.experiment(["Ratio(clicks, views)", "Mean(clicks)"], data=visits, control="a")
    assert read_notes(result) == [
        "Ratio(clicks, views) is NULL for a (undefined: denominators that add up to 0)"
    ]


def test_a_result_without_rows_says_why():
    run = build_table(query_id="a", doc_id="x", score="1.0", day="mon")
    qrels = build_table(query_id="a", doc_id="x", relevance="1", day="tue")
    for options in ({"by": "day"}, {"by": "day", "per_query": True}):
        result = sqlrank.evaluate(
            "RR", run=run, qrels=qrels, queries="judged_and_retrieved", **options
        )
        assert (result.num_rows, read_notes(result)) == (
            0,
            [
                "1 of 1 judged queries have no results, and are left out",
                "1 of 1 queries of the run have no judgments, and are left out",
            ],
        )


@pytest.mark.parametrize("name", ["x", "score", "own value", "group"])
def test_rows_without_a_measured_value_are_counted(name):
    rows = build_table(**{name: "1.0 NULL 0.0 NULL"}, label="0 1 0 1", day="a a a b")
    metric = f'Mean("{name}")'
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(metric, predictions=rows)
    ((missing),) = re.findall(r"or evaluate (.*) too", str(caught.value))
    assert sqlrank.evaluate([metric, missing], predictions=rows)[missing].to_pylist() == [2.0]
    result = sqlrank.evaluate(metric, predictions=rows, by="day", nulls="drop")
    assert result[metric].to_pylist() == [0.5, None]
    assert read_notes(result) == [
        f"some rows are left out of {metric} (day=b: 1 of 1, day=a: 1 of 3)"
    ]
    assert not read_notes(sqlrank.evaluate("Mean(label)", predictions=rows, nulls="drop"))
