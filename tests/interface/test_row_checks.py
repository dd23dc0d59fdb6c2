"""Invalid rows raise one error with all problems."""

import re

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import SqlrankError
from sqlrank.inputs import row_checks
from tests.interface.calls import (
    GOOD_QRELS,
    GOOD_RUN,
    NAN,
    assert_refused,
    evaluate_value,
    make_qrels,
    make_run,
    make_weights,
)
from tests.tables import build_table


def test_all_problems_of_all_inputs_in_one_report():
    message = assert_refused(
        run=make_run(
            (None, "a", 1.0),
            ("q", None, 1.0),
            ("q", "a", None),
            ("q", "b", NAN),
            ("q", "c", 1.0),
            ("q", "c", 1.0),
        ),
        qrels=make_qrels(
            (None, "a", 1), ("q", None, 1), ("q", "a", None), ("r", "d", 1), ("r", "d", 1)
        ),
        queries=make_weights((None, 1.0), ("q", -1.0), ("r", None)),
    )
    for role, problem in [
        ("run", "query_id is NULL"), ("run", "doc_id is NULL"), ("run", "score is NULL"), ("run", "score is NaN"), ("run", "more than once"),
        ("qrels", "query_id is NULL"), ("qrels", "doc_id is NULL"), ("qrels", "relevance is NULL"), ("qrels", "more than once"),
        ("queries", "query_id is NULL"), ("queries", "weight is negative"), ("queries", "weight is NULL"),
    ]:  # fmt: skip
        assert re.search(rf"^{role} \(.*{problem}", message, re.MULTILINE), (role, problem)


def test_all_missing_columns_of_all_inputs_in_one_report():
    message = assert_refused(run=build_table(x="1"), qrels=build_table(y="a"))
    assert message.splitlines() == [
        (
            "run (Table): no columns 'query_id', 'doc_id', 'score'. Say which they are with"
            " columns={'query_id': ..., 'doc_id': ..., 'score': ...}. There are: x"
        ),
        (
            "qrels (Table): no columns 'query_id', 'doc_id', 'relevance'. Say which they are with"
            " columns={'query_id': ..., 'doc_id': ..., 'relevance': ...}, or columns={'relevance':"
            " '1'} if every row is a relevant document. There are: y"
        ),
    ]


def find_offered_queries(message: str) -> list[str]:
    """Return the queries that a report offers, without their limit if any."""
    return [
        line.partition("see more: ")[2] for line in message.splitlines() if "see more: " in line
    ]


@pytest.mark.parametrize("kind", ["table", "parquet", "csv", "trec"])
def test_the_query_to_see_more_runs_and_shows_all(kind, tmp_path):
    path = tmp_path / f"run.{kind}"
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE runs AS SELECT 'q' || i % 2 AS query_id, 'd' || i // 2 AS doc_id, CASE WHEN i"
        " > 9 THEN 1.0 END AS score FROM range(20) t(i)"
    )
    connection.execute(
        "CREATE TABLE twice AS SELECT 'q' AS query_id, 'd' || i % 5 AS doc_id, 1.0 AS score FROM"
        " range(10) t(i)"
    )
    if kind == "trec":
        connection.execute(
            "COPY (SELECT concat_ws(' ', query_id, 'Q0', doc_id, 1, coalesce(score::VARCHAR, 'x'),"
            f" 'tag') FROM runs) TO '{path}' (HEADER false)"
        )
    elif kind != "table":
        connection.execute(f"COPY runs TO '{path}'")
    source = "runs" if kind == "table" else str(path)
    qrels = make_qrels(("q0", "d8", 1))
    message = assert_refused(
        "10 rows: score is NULL", run=source, qrels=qrels, connection=connection
    )
    (query,) = find_offered_queries(message)
    assert len(connection.execute(query).fetchall()) == 10
    assert len(query) < 650
    if kind == "table":
        (query,) = find_offered_queries(
            assert_refused(
                "more than once",
                run="twice",
                qrels=make_qrels(("q", "d1", 1)),
                connection=connection,
            )
        )
        assert len(connection.execute(query).fetchall()) == 5


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("role", "column", "metric"),
    [
        ("run", "score", "RR"),
        ("qrels", "relevance", "RR"),
        ("predictions", "label", "MSE"),
        ("predictions", "score", "AUC"),
        ("predictions", "score", "Brier"),  # of a score from 0 to 1
        ("predictions", "weight", "AUC"),
    ],
)
def test_nan_is_found_in_parquet_files_whose_statistics_leave_it_out(
    role, column, metric, tmp_path
):
    """Arrow gives the least and the greatest number of a column beside its NaN, from which DuckDB
    2.0 takes ISNAN to be false, and a range to hold.
    """
    rows = range(1000)
    sources = {
        "run": pa.table(
            {"query_id": [i // 10 for i in rows], "doc_id": rows, "score": [float(i) for i in rows]}
        ),
        "qrels": pa.table(
            {
                "query_id": [i // 10 for i in rows],
                "doc_id": rows,
                "relevance": [float(i % 3) for i in rows],
            }
        ),
        "predictions": pa.table(
            {
                "label": [i % 2 / 1 for i in rows],
                "score": [i / 1000 for i in rows],
                "weight": [1.0] * 1000,
            }
        ),
    }
    broken = sources[role].column(column).to_pylist()
    broken[500] = NAN
    sources[role] = sources[role].set_column(
        sources[role].column_names.index(column), column, pa.array(broken)
    )
    paths = {
        name: str(tmp_path / f"{name}.parquet")
        for name in ([role] if role == "predictions" else ["run", "qrels"])
    }
    for name, path in paths.items():
        pq.write_table(sources[name], path)
    (query,) = find_offered_queries(
        assert_refused(f"1 row: {column} is NaN", metrics=metric, **paths)
    )
    assert len(duckdb.sql(query).fetchall()) == 1


@pytest.mark.parametrize("statistics", [True, False])
def test_null_is_counted_in_parquet_files_with_statistics_and_without(statistics, tmp_path):
    rows = range(3000)
    run = {
        "query_id": [i // 10 for i in rows],
        "doc_id": [None if i % 1000 == 7 else i for i in rows],
        "score": [float(i) for i in rows],
    }
    pq.write_table(
        pa.table(run), tmp_path / "run.parquet", row_group_size=1000, write_statistics=statistics
    )
    qrels = make_qrels((1, 11, 1))
    assert_refused(
        "3 rows: doc_id is NULL",
        "query_id=0, doc_id=None, score=7.0",
        run=str(tmp_path / "run.parquet"),
        qrels=qrels,
    )


def test_the_query_to_see_more_of_an_arrow_table_names_it_by_its_role():
    (query,) = find_offered_queries(
        assert_refused(
            "more than once", run=make_run(("q", "a", 1.0), ("q", "a", 2.0)), qrels=GOOD_QRELS
        )
    )
    assert "sqlrank_arrow" not in query
    run = make_run(("q", "a", 1.0), ("q", "a", 2.0))
    assert run.num_rows == 2
    assert duckdb.sql(query).fetchall() == [("q", "a", 2)]


def test_at_most_three_example_rows():
    message = assert_refused(
        "100 rows: score is NaN",
        run=make_run(*(("q", f"d{i}", NAN) for i in range(100))),
        qrels=GOOD_QRELS,
    )
    assert message.count("query_id='q', doc_id=") == 3


def test_examples_of_long_ids_are_shortened():
    assert (
        len(
            assert_refused(
                "score is NaN", run=make_run(("q", "d" * 100_000, NAN)), qrels=GOOD_QRELS
            )
        )
        < 5000
    )


@pytest.mark.parametrize("empty", ["run", "qrels", "both"])
def test_no_rows(empty):
    run = GOOD_RUN.slice(0, 0) if empty in {"run", "both"} else GOOD_RUN
    qrels = GOOD_QRELS.slice(0, 0) if empty in {"qrels", "both"} else GOOD_QRELS
    message = assert_refused(run=run, qrels=qrels)
    assert "no rows" in message or "empty" in message
    for role in ("run", "qrels"):
        assert (role in message) or empty not in {role, "both"}


def test_no_rows_unchecked():
    nothing = sqlrank.evaluate(
        ["RR", "num_q"], run=GOOD_RUN.slice(0, 0), qrels=GOOD_QRELS, check="off"
    )
    assert nothing.to_pylist() == [{"RR": 0.0, "num_q": 1.0}]
    nothing = sqlrank.evaluate(
        ["RR", "num_q"], run=GOOD_RUN, qrels=GOOD_QRELS.slice(0, 0), check="off", per_query=True
    )
    assert nothing.to_pylist() == []


def test_nothing_in_common():
    assert_refused(
        "run and qrels have no query_id in common",
        "'q'",
        "'x'",
        run=GOOD_RUN,
        qrels=make_qrels(("x", "a", 1)),
    )
    assert_refused(
        "run and qrels have no doc_id in common",
        "'zz'",
        run=GOOD_RUN,
        qrels=make_qrels(("q", "zz", 1)),
    )
    assert evaluate_value("RR", GOOD_RUN, make_qrels(("x", "a", 1)), check="off") == 0.0


def test_a_number_and_a_text_that_never_match():
    message = assert_refused(
        "run.query_id is VARCHAR, qrels.query_id is BIGINT",
        run=make_run(("q", 1, 1.0)),
        qrels=make_qrels((1, "d", 1)),
    )
    assert "run.doc_id is BIGINT, qrels.doc_id is VARCHAR" in message


def test_duplicates_are_of_one_system():
    run = make_run(("q", "a", 1.0), ("q", "a", 2.0)).append_column("system", [["x", "y"]])
    assert sqlrank.evaluate("RR", run=run, qrels=GOOD_QRELS, by="system")["RR"].to_pylist() == [
        1.0,
        1.0,
    ]
    assert_refused("(query_id, doc_id)", "more than once", run=run, qrels=GOOD_QRELS)
    assert_refused(
        "(system, query_id, doc_id)",
        "more than once",
        run=pa.concat_tables([run, run.slice(0, 1)]),
        qrels=GOOD_QRELS,
        by="system",
    )


@pytest.mark.parametrize("judged", [1, 0.5])
def test_beyond_the_limit_duplicates_of_documents_of_positive_relevance_are_found(
    judged, monkeypatch
):
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 2)
    run = make_run(("q", "a", 3.0), ("q", "b", 2.0), ("q", "b", 1.0))
    assert_refused(
        "run",
        "more than once",
        "doc_id='b'",
        run=run,
        qrels=make_qrels(("q", "a", 1), ("q", "b", judged)),
    )


def test_beyond_the_limit_the_report_says_what_was_searched(monkeypatch):
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 2)
    unjudged_twice = make_run(("q", "a", 3.0), ("q", "z", 2.0), ("q", "z", 1.0))
    assert read_search_scope(unjudged_twice) == b"rows of documents of positive relevance"
    assert_refused(
        "more than once", "doc_id='z'", run=unjudged_twice, qrels=GOOD_QRELS, check="full"
    )
    assert read_search_scope(unjudged_twice.slice(0, 2), check="full") == b"all rows"
    assert read_search_scope(GOOD_RUN) == b"all rows"
    assert read_search_scope(GOOD_RUN, check="off") == b"none"


def read_search_scope(run: pa.Table, check: row_checks.CheckMode = "auto") -> bytes:
    metadata = sqlrank.evaluate("RR", run=run, qrels=GOOD_QRELS, check=check).schema.metadata
    return metadata[b"sqlrank.duplicates_searched"]


def test_a_stop_probability_above_one():
    qrels = make_qrels(("q", "a", 5))
    assert_refused(
        "ERR: a relevance of 5 gives a stop_probability above 1",
        "max_grade",
        metrics="ERR",
        run=GOOD_RUN,
        qrels=qrels,
    )
    assert_refused(
        "PFound",
        "stop_probability above 1",
        metrics="PFound(stop_probability=identity)",
        run=GOOD_RUN,
        qrels=qrels,
    )
    assert_refused(
        "stop_probability above 1", metrics="ERR", run=GOOD_RUN, qrels=make_qrels(("q", "a", 10**6))
    )
    assert evaluate_value("ERR(max_grade=5)", GOOD_RUN, qrels) == pytest.approx(31 / 32)


def test_strict_queries():
    run = make_run(("q", "a", 1.0), ("x", "a", 1.0))
    message = assert_refused(
        "judged, but not answered",
        "'r'",
        metrics="RR(queries=strict)",
        run=run,
        qrels=make_qrels(("q", "a", 1), ("r", "a", 1)),
    )
    assert "answered, but not judged" in message
    assert "'x'" in message


@pytest.mark.slow
def test_the_policy_queries_can_be_combined_with_a_queries_table():
    run = make_run(("q", "a", 1.0), ("x", "a", 1.0))
    qrels = make_qrels(("q", "a", 1), ("r", "a", 1))
    per_metric = {
        f"RR(queries={policy})": expected
        for policy, expected in (("judged", 0.5), ("judged_and_retrieved", 1.0), ("retrieved", 0.5))
    }
    for metric, expected in per_metric.items():
        assert evaluate_value(metric, run, qrels) == expected
        assert (
            evaluate_value(
                metric, run, qrels, queries=make_weights(("q", 1.0), ("r", 1.0), ("x", 1.0))
            )
            == expected
        )


def test_unchecked_data_are_taken_as_they_are():
    assert (
        evaluate_value("RR", make_run(("q", "a", 1.0), ("q", "a", 2.0)), GOOD_QRELS, check="off")
        == 1.0
    )
    assert_refused(
        "no column 'score'", run=GOOD_RUN.drop_columns("score"), qrels=GOOD_QRELS, check="off"
    )


def test_the_query_for_unmatched_queries_reads_the_files(tmp_path):
    (tmp_path / "run.trec").write_text(
        "# a comment of several words\nq1 Q0 a 1 0.5 tag\n\n  q3\tQ0 b 1 0.5 tag \r\n"
    )
    (tmp_path / "qrels.trec").write_text("q1 0 a 1\nq2 0 a 1\n")
    message = assert_refused(
        "judged, but not answered, and queries='strict': 'q2'",
        run=str(tmp_path / "run.trec"),
        qrels=str(tmp_path / "qrels.trec"),
        topics="strict",
    )
    judged, answered = find_offered_queries(message)
    assert duckdb.sql(judged).fetchall() == [("q2",)]
    assert duckdb.sql(answered).fetchall() == [("q3",)]


MANY = 150_000
RUN_ROWS = f"SELECT i % 5000 AS query_id, i AS doc_id, i AS score FROM RANGE({MANY}) AS r(i)"
QRELS_ROWS = f"SELECT i % 5000 AS query_id, i AS doc_id, 1 AS relevance FROM RANGE({MANY}) AS r(i)"
LABELS_ROWS = f"SELECT i % 2 AS label, i / {MANY} AS score FROM RANGE({MANY}) AS r(i)"


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("metric", "sources"),
    [
        ("RR", {"run": RUN_ROWS.replace("i AS score", "NULLIF(i % 3, 0) AS score"), "qrels": QRELS_ROWS}),
        ("RR", {"run": RUN_ROWS.replace("i AS doc_id", "i // 10000 AS doc_id"), "qrels": QRELS_ROWS}),
        ("RR", {"run": RUN_ROWS.replace("i AS doc_id", "'a' || i AS doc_id"), "qrels": QRELS_ROWS}),
        ("RR(ties=error)", {"run": RUN_ROWS.replace("i AS score", "1 AS score"), "qrels": QRELS_ROWS}),
        ("RR(queries=strict)", {"run": RUN_ROWS, "qrels": QRELS_ROWS.replace("i % 5000", "i % 5000 + 9000")}),
        ("Brier", {"predictions": LABELS_ROWS.replace("i / ", "2 + i / ")}),
        ("AUC", {"predictions": LABELS_ROWS.replace("i % 2", "i % 7")}),
    ],
)  # fmt: skip
def test_examples_do_not_follow_threads(metric, sources, tmp_path):
    files = {}
    for role, query in sources.items():
        files[role] = str(tmp_path / f"{role}.parquet")
        duckdb.sql(query).write_parquet(files[role], row_group_size=2_048)
    name, _, policy = metric.rstrip(")").partition("(")
    policies = dict([policy.split("=")]) if policy else {}
    messages = set()
    for threads in (1, 2, 4, 4, 4):
        with pytest.raises(SqlrankError) as caught:
            sqlrank.evaluate(name, **files, **policies, threads=threads)
        messages.add(str(caught.value))
    assert len(messages) == 1
