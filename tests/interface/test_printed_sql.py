"""Printed SQL gives the numbers of ``evaluate``, wherever its tables are."""

import time
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.command_line import TREC, run_command, run_refused_command
from tests.lanes import select_few

METRICS = [
    "nDCG@10", "AP", "RR", "bpref", "ERR", "RBP", "P@5", "num_q", "num_ret", "infAP", "11pt",
    "num_unjudged", "SetF",
]  # fmt: skip


def assert_same_rows(
    statement: str,
    metrics: Sequence[str],
    connection: duckdb.DuckDBPyConnection | None = None,
    **options: Any,
) -> None:
    """Assert that a statement run on a plain connection gives the rows of evaluate."""
    expected = sqlrank.evaluate(metrics, connection=connection, **options)
    got = (connection or duckdb.connect()).execute(statement).fetchall()
    assert len(got) == expected.num_rows > 0
    keys = sum(not pa.types.is_floating(column.type) for column in expected.columns)
    for row, wanted in zip(got, expected.to_pylist(), strict=True):
        values = list(wanted.values())
        assert list(row[:keys]) == values[:keys]
        assert list(row[keys:]) == pytest.approx(values[keys:], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["trec", "parquet", "csv"])
@pytest.mark.parametrize("per_query", select_few([False, True], 1))
def test_the_sql_of_files(ending, per_query, files):
    paths = {"run": str(files / f"run.{ending}"), "qrels": str(files / f"qrels.{ending}")}
    options = ["--per-query"] if per_query else []
    assert_same_rows(
        run_command("sql", *METRICS, "--run", paths["run"], "--qrels", paths["qrels"], *options),
        METRICS,
        **paths,
        per_query=per_query,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    select_few(
        [{}, {"compat": "trec9"}, {"ties": "doc_asc", "depth": 100}, {"unjudged": "drop"}], 1
    ),
)
def test_the_sql_of_a_trec_collection(options):
    paths = {"run": str(TREC / "results.test"), "qrels": str(TREC / "qrels.test")}
    assert_same_rows(sqlrank.sql(METRICS, **paths, **options), METRICS, **paths, **options)


def test_the_sql_stays_on_one_line_per_comment(files):
    """A name in a comment cannot end it."""
    table = pq.read_table(files / "run.parquet").append_column(
        "x*/ SELECT 1; --\n", [["x", "x", "y"]]
    )
    pq.write_table(table, files / "run.parquet")
    call = {
        "run": str(files / "run.parquet"),
        "qrels": str(files / "qrels.parquet"),
        "by": "x*/ SELECT 1; --\n",
    }
    assert_same_rows(sqlrank.sql(["RR"], **call), ["RR"], **call)


def test_names_of_tables_end_no_comment(run, qrels):
    connection = duckdb.connect()
    connection.register("given_run", run)
    connection.register("given_qrels", qrels)
    connection.execute(
        'CREATE TABLE "r\n-- */ SELECT 1;" AS FROM given_run; CREATE TABLE q AS FROM given_qrels'
    )
    call = {"run": '"r\n-- */ SELECT 1;"', "qrels": "q"}
    text = sqlrank.sql(["RR"], connection=connection, **call)
    assert_same_rows(text, ["RR"], connection, **call)
    assert "-- One row per query and retrieved document. (r -- */ SELECT 1;)\n" in text


@pytest.fixture
def tables(run: pa.Table, qrels: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register(
        "arrow_run",
        run.append_column("system", [["x", "x", "y"]]).append_column("a b", [["1", "2", "1"]]),
    )
    connection.register("arrow_qrels", qrels)
    connection.execute(
        "CREATE TABLE runs AS SELECT *, ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY doc_id)"
        " AS rank FROM arrow_run"
    )
    connection.execute("CREATE TABLE judgements AS FROM arrow_qrels")
    connection.execute(
        "CREATE TABLE lists AS FROM arrow_run; CREATE SCHEMA s; CREATE TABLE s.ranked AS FROM"
        " arrow_qrels"
    )
    connection.execute(
        "CREATE TABLE topics AS SELECT DISTINCT query_id, 1.5 AS weight, query_id || 'x' AS country"
        " FROM arrow_run"
    )
    connection.execute(
        "CREATE TABLE p AS SELECT r.query_id, r.doc_id, r.score, q.relevance AS label FROM"
        " arrow_run r LEFT JOIN arrow_qrels q USING (query_id, doc_id)"
    )
    connection.unregister("arrow_run")
    connection.unregister("arrow_qrels")
    return connection


TABLES = {"run": "runs", "qrels": "judgements"}


@pytest.mark.one_in(15)
@pytest.mark.parametrize(
    "looked_up", select_few([True, False], 1), ids=["connection", "names only"]
)
@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (METRICS, TABLES),
        (METRICS, {"run": "lists", "qrels": "s.ranked"}),
        (METRICS, TABLES | {"by": "system", "per_query": True}),
        (["RR"], TABLES | {"by": [["system"], ["a b"], []]}),
        (["P@1..3"], TABLES | {"by": "system"}),
        (
            ["RR", "RR(aggregate=quantile, q=0.25)", "RR(aggregate=gmean)"],
            TABLES | {"by": ["system", "a b"]},
        ),
        (["RR"], TABLES | {"ties": "rank"}),
        (["nDCG", "P@1"], TABLES | {"ties": "expected", "score_type": "float32"}),
        (["RR"], TABLES | {"columns": {"query_id": "doc_id", "doc_id": "query_id"}}),
        (["RR", "num_q"], TABLES | {"queries": "topics", "columns": {"weight": "weight"}}),
        (["RR", "num_unjudged"], {"predictions": "p"}),
        (["RR", "num_unjudged"], {"predictions": "p", "columns": {"label": "label"}}),
        (["RR"], {"predictions": "p", "columns": {"relevance": "label"}}),
    ],
)
def test_the_sql_of_tables(metrics, options, looked_up, tables):
    statement = sqlrank.sql(metrics, **options, connection=tables if looked_up else None)
    assert_same_rows(statement, metrics, connection=tables, **options)


@pytest.mark.slow
def test_the_sql_with_attributes(tables):
    options = TABLES | {"queries": "topics"}
    assert_same_rows(
        sqlrank.sql(["RR"], **options, by="country", connection=tables),
        ["RR"],
        connection=tables,
        **options,
        by="country",
    )
    assert_same_rows(
        sqlrank.sql(["RR"], **options, by="queries.country"),
        ["RR"],
        connection=tables,
        **options,
        by="country",
    )
    call = {**options, "by": "queries.country"}
    for text in (sqlrank.sql("RR", **call), sqlrank.sql("RR", connection=tables, **call)):
        assert tables.sql(text).columns == ["country", "rr"]
    assert sqlrank.evaluate("RR", connection=tables, **call).column_names == ["country", "RR"]


def test_the_sql_of_what_is_not_a_name(run, qrels):
    for sources in (
        {"run": run, "qrels": qrels},
        {"run": "", "qrels": "q"},
        {"run": "a; DROP TABLE b", "qrels": "q"},
        {"run": 'a"b', "qrels": "q"},
    ):
        with pytest.raises(sqlrank.InputError, match="run"):
            sqlrank.sql("RR", **sources)


def test_the_sql_of_a_file_that_is_not_there():
    """Either a message, or a statement that reads the file once it is there; not the table parquet
    of the schema nope.
    """
    try:
        text = sqlrank.sql("RR", run="nope.parquet", qrels="nope.csv")
    except sqlrank.InputError as error:
        assert "nope.parquet" in str(error)  # noqa: PT017
    else:
        assert "'nope.parquet'" in text


def test_nested_arithmetic_is_written_once():
    """Twenty levels, each of which would double the work if it were written again when it is too
    long for a line.
    """
    nested = "weight"
    for _ in range(20):
        nested = f"(1 + {nested} * 1.0000000001)"
    begun = time.process_time()
    text = sqlrank.sql("Brier", predictions="p", columns={"weight": nested})
    assert text.partition("\nWITH ")[2].count("1.0000000001") == 20
    assert time.process_time() - begun < 5


def test_the_checks_of_rows_are_a_statement_of_their_own(tmp_path):
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE clicks AS SELECT * FROM (VALUES (1, 0.5), (2, 0.7), (NULL, 1.5)) AS t(label,"
        " score)"
    )
    connection.execute(
        "CREATE TABLE run AS SELECT * FROM (VALUES ('a', 'x', 1.0), ('a', 'x', 2.0), ('b', NULL,"
        " 1.0)) AS t(query_id, doc_id, score)"
    )
    connection.execute(
        "CREATE TABLE qrels AS SELECT 'a' AS query_id, 'x' AS doc_id, 1 AS relevance"
    )
    rows = connection.execute(
        sqlrank.sql("LogLoss", predictions="clicks", connection=connection, audit=True)
    ).fetchall()
    broken = {problem: count for role, problem, count in rows if count and role == "predictions"}
    assert broken == {
        "label is NULL. Leave the row out, or give nulls='drop'": 1,
        "label is neither 0 nor 1. Map a condition to it, such as rating >= 4": 1,
        next(
            problem for _, problem, _ in rows if problem.startswith("score is not a probability")
        ): 1,
    }
    for duplicates, expected in (("error", {"doc_id", "(query_id,"}), ("max", {"doc_id"})):
        text = sqlrank.sql(
            "nDCG@5",
            run="run",
            qrels="qrels",
            connection=connection,
            audit=True,
            duplicates=duplicates,
        )
        assert {
            problem.split()[0] for _, problem, count in connection.execute(text).fetchall() if count
        } == expected
    file = tmp_path / "audit.sql"
    run_command(
        "sql", "AUC", "--audit", "--predictions", "clicks", "--dialect", "bigquery", "-o", str(file)
    )
    text = file.read_text("utf-8")
    assert text.startswith(f"-- sqlrank {sqlrank.__version__} for BigQuery: AUC, one row per input")
    assert "\n-- predictions: weight is taken to be 1" in text
    assert "\n-- made by: sqlrank sql AUC --predictions clicks --audit --dialect" in text
    assert "IS_NAN(score)" in text
    assert "insert is not for it" in run_refused_command(
        "sql AUC --audit --predictions clicks --insert t"
    )
    view = ("--dbt", str(tmp_path / "m.sql"), "--materialized", "view")
    assert "materialized is not for it" in run_refused_command(
        "sql", "AUC", "--audit", "--predictions", "p", *view
    )


@pytest.mark.parametrize(
    ("by", "is_said"), [("day", True), ("run.day", False), ("qrels.day", False), ("system", False)]
)
def test_a_group_of_uninspected_rankings_says_what_judgments_count(by, is_said):
    """Judgments may have the column, too, which evaluate sees and a printed statement cannot."""
    header = sqlrank.sql("nDCG@10", run="runs", qrels="qrels", by=by, dialect="bigquery").partition(
        "WITH"
    )[0]
    assert (
        "-- day is read from the run, and all judgments count in each day. If qrels has it, too,"
        " write qrels.day\n" in header.replace("\n--  ", "")
    ) == is_said
