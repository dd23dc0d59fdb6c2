"""Forms of data in projects, from Python and the command line: each gives the numbers of plain
tables, or an error with advice.
"""

import ast
import json
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError
from tests.interface.command_line import run_command
from tests.tables import build_table

QUESTIONS = [
    {"query_id": "q1", "retrieved": ["d3", "d1"], "relevant": ["d1", "d2"]},
    {"query_id": "q2", "retrieved": ["d8"], "relevant": ["d8"]},
    {"query_id": "q3", "retrieved": ["d5"], "relevant": []},
    {"query_id": "q4", "retrieved": [], "relevant": ["d4"]},
]
"""Four questions, one without relevant documents and one without an answer."""

LISTS = {"RR": 0.375, "R@2": 0.375, "num_q": 4.0, "num_no_rel": 1.0, "num_unanswered": 1.0}
RUN = [
    (row["query_id"], doc, float(-rank))
    for row in QUESTIONS
    for rank, doc in enumerate(row["retrieved"], 1)
]
QRELS = [(row["query_id"], doc, 1) for row in QUESTIONS for doc in row["relevant"]]
LABELS, SCORES = [1, 0, 1, 0], [0.75, 0.5, 0.25, 0.125]
AUC = {"AUC": 0.75}


def make_run() -> pa.Table:
    return pa.table(
        dict(zip(("query_id", "doc_id", "score"), map(list, zip(*RUN, strict=True)), strict=True))
    )


def make_qrels() -> pa.Table:
    return pa.table(
        dict(
            zip(
                ("query_id", "doc_id", "relevance"),
                map(list, zip(*QRELS, strict=True)),
                strict=True,
            )
        )
    )


RANKINGS = {"RR": 0.5, "num_ret": 3.0}
"""Of the three questions that have relevant documents, one of which has no answer."""


@pytest.mark.parametrize(
    "predictions",
    [
        {"label": LABELS, "score": SCORES},
        {"label": np.array(LABELS), "score": np.array(SCORES)},
        [{"label": label, "score": score} for label, score in zip(LABELS, SCORES, strict=True)],
        np.array(list(zip(LABELS, SCORES, strict=True)), dtype=[("label", "i8"), ("score", "f8")]),
    ],
    ids=["dict of columns", "dict of arrays", "list of dicts", "records of NumPy"],
)
def test_data_of_python(predictions):
    assert sqlrank.evaluate("AUC", predictions=predictions).to_pylist() == [AUC]


@pytest.mark.parametrize(
    "run",
    [{row["query_id"]: row["retrieved"] for row in QUESTIONS}, QUESTIONS],
    ids=["lists by query", "rows"],
)
def test_lists_of_documents(run):
    relevant = {row["query_id"]: row["relevant"] for row in QUESTIONS if row["relevant"]}
    sources = {"inputs": {"answers": run}} if run is QUESTIONS else {"run": run, "qrels": relevant}
    (row,) = sqlrank.evaluate(["RR", "R@2"], **sources, topics="judged").to_pylist()
    assert row == {"RR": 0.5, "R@2": 0.5}


@pytest.mark.parametrize(
    "docs",
    [
        ["https://example.org/a?b=1", "https://example.org/c"],
        ["https://example.org/a.csv", "https://example.org/c.json"],
        ["docs/a.txt", "src/b.py"],
        ["a.run", "b.run"],
    ],
)
def test_ids_that_look_like_files(docs):
    """Keys that judgments have are queries, and addresses of pages are documents."""
    for qrels in ({"q1": docs[1:]}, {"q1": {docs[1]: 1}}):
        result = sqlrank.evaluate("RR", run={"q1": docs}, qrels=qrels)
        assert result["RR"].to_pylist() == [0.5]
    qrels_table = build_table(query_id="q1", doc_id=docs[1:], relevance="1")
    if docs[1].endswith("/c"):
        assert sqlrank.evaluate("RR", run={"q1": docs}, qrels=qrels_table)["RR"][0].as_py() == 0.5
        return
    with pytest.raises(
        InputError, match="If 'q1' is a query, and no system, give a list"
    ) as caught:
        sqlrank.evaluate("RR", run={"q1": docs}, qrels=qrels_table)
    scores = ast.literal_eval(str(caught.value).rpartition("look like files: ")[2])
    scores["q1"][docs[1]] = 0.5
    assert sqlrank.evaluate("RR", run=scores, qrels=qrels_table)["RR"].to_pylist() == [0.5]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet"])
def test_a_row_per_question(suffix, tmp_path):
    """Every question counts: the one without relevant documents is said by num_no_rel, that without
    an answer is 0.
    """
    file = tmp_path / f"eval.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(QUESTIONS), file)
    else:
        lines = [json.dumps(row) for row in QUESTIONS]
        file.write_text("\n".join(lines) if suffix == "jsonl" else f"[{', '.join(lines)}]", "utf-8")
    assert sqlrank.evaluate(list(LISTS), inputs={"answers": file}).to_pylist() == [LISTS]
    words = ["evaluate", *LISTS, "--input", f"answers={file}", "--format", "json"]
    assert json.loads(run_command(*words)) == [LISTS]


@pytest.mark.parametrize(
    ("column", "retrieved", "relevant"),
    [
        ("retrieved", '["d1", {"id": "d2", "score": 0.5}]', '["d2"]'),
        ("relevant", '["d1"]', '{"d1": 2}'),
    ],
)
def test_objects_in_texts_of_sqlite_are_refused(column, retrieved, relevant):
    """The members of an object would be read as ids."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE evals (query_id TEXT, retrieved TEXT, relevant TEXT, type TEXT)"
        )
        connection.execute(
            "INSERT INTO evals VALUES ('q1', '[\"d1\", \"{object}\"]', '[\"d1\"]', 'object'),"
            " ('q2', NULL, '[]', NULL)"
        )
        call = {"inputs": {"answers": "evals"}, "connection": connection}
        assert sqlrank.evaluate("RR", **call).to_pylist() == [{"RR": 0.5}]
        connection.execute("INSERT INTO evals VALUES ('q3', ?, ?, 'array')", (retrieved, relevant))
        with pytest.raises(
            InputError,
            match=(
                rf"^answers \(evals\): {column} holds JSON objects, and lists on SQLite are arrays"
            ),
        ):
            sqlrank.evaluate("RR", **call)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("begin", ["SELECT * FROM {}", "(SELECT * FROM {})", "FROM {}"])
def test_queries(begin, tmp_path):
    pq.write_table(make_run(), tmp_path / "run.parquet")
    pq.write_table(make_qrels(), tmp_path / "qrels.parquet")
    files = {role: begin.format(f"'{tmp_path}/{role}.parquet'") for role in ("run", "qrels")}
    assert sqlrank.evaluate(list(RANKINGS), **files).to_pylist() == [RANKINGS]
    words = [word for role, text in files.items() for word in (f"--{role}", text)]
    assert json.loads(run_command("evaluate", *RANKINGS, *words, "--format", "json")) == [RANKINGS]
    with closing(duckdb.connect()) as connection:
        for name, table in (("run", make_run()), ("qrels", make_qrels())):
            connection.register(name, table)
        sources = {role: begin.format(role) for role in ("run", "qrels")}
        assert sqlrank.evaluate(list(RANKINGS), **sources, connection=connection).to_pylist() == [
            RANKINGS
        ]
        assert connection.sql(sqlrank.sql(list(RANKINGS), **sources)).fetchall() == [
            tuple(RANKINGS.values())
        ]


def test_relations_that_are_unnested_by_hand():
    with closing(duckdb.connect()) as connection:
        connection.register("questions", pa.Table.from_pylist(QUESTIONS))
        places = "unnest(retrieved) AS doc_id, generate_subscripts(retrieved, 1) AS rank"
        run = connection.sql(f"SELECT query_id, {places}, -rank AS score FROM questions")
        qrels = connection.sql(
            "SELECT query_id, unnest(relevant) AS doc_id, 1 AS relevance FROM questions"
        )
        (row,) = sqlrank.evaluate(
            list(RANKINGS), run=run, qrels=qrels, connection=connection, ties="rank"
        ).to_pylist()
        assert row == RANKINGS


@pytest.mark.one_in(2)
@pytest.mark.parametrize("topics", ["judged", "retrieved", "given", "judged_and_retrieved"])
def test_which_questions_count(topics):
    """None of them evaluated all four questions before ``given`` did."""
    queries = pa.table({"query_id": [row["query_id"] for row in QUESTIONS]})
    options = {"queries": queries, "topics": topics}
    (row,) = sqlrank.evaluate(
        ["RR", "num_q", "num_no_rel"], run=make_run(), qrels=make_qrels(), **options
    ).to_pylist()
    expected = {
        "judged": (0.5, 3, 0),
        "retrieved": (0.5, 3, 1),
        "given": (0.375, 4, 1),
        "judged_and_retrieved": (0.75, 2, 0),
    }[topics]
    assert tuple(row.values()) == expected


@pytest.mark.slow
def test_tables_of_ibis_where_they_are():
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    backend = ibis.sqlite.connect(":memory:")
    for name, rows, number in (("run", RUN, "score"), ("qrels", QRELS, "relevance")):
        backend.con.execute(f"CREATE TABLE {name} (query_id TEXT, doc_id TEXT, {number} REAL)")
        backend.con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    sources = {"run": backend.table("run"), "qrels": backend.table("qrels")}
    for connection in (None, backend, backend.con):
        assert sqlrank.evaluate(list(RANKINGS), **sources, connection=connection).to_pylist() == [
            RANKINGS
        ]
    assert isinstance(backend.con, sqlite3.Connection)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["i2", "i4", "i8", "u4", "f4", "f8"])
def test_arrays_in_each_byte_order(order, kind):
    label = np.array([1, 0, 1, 0], f"{order}{kind}")
    score = np.array([9, 1, 4, 5], f"{order}{kind}")
    records = np.rec.fromarrays([label, score], names=["label", "score"])
    for source in ({"label": label, "score": score}, records):
        assert sqlrank.evaluate("AUC", predictions=source).to_pylist() == [{"AUC": 0.75}]


def test_masked_values_are_missing():
    label = np.ma.array([1, 0, 1, 0], mask=[0, 0, 0, 1])
    for source in (
        {"label": label, "score": [0.9, 0.1, 0.4, 0.5]},
        {"label": [1, 0, 1, 0], "score": np.ma.array([0.9, 0.1, 0.4, 0.5], mask=[0, 0, 0, 1])},
    ):
        with pytest.raises(sqlrank.InputError, match=r"1 row: (label|score) is NULL"):
            sqlrank.evaluate("AUC", predictions=source)
        result = sqlrank.evaluate("AUC", predictions=source, nulls="drop")
        assert result.to_pylist() == [{"AUC": 1.0}]
