"""Every kind of source, every odd name: the same data give the same numbers, or a message that says what is wrong."""

from __future__ import annotations

import datetime as dt
import gzip
import uuid
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError, SqlrankError

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["RR", "P@1", "num_ret"]
EXPECTED = [{"RR": 0.75, "P@1": 0.5, "num_ret": 3.0}]
TREC_RUN = "q1 Q0 a 1 0.9 tag\nq1 Q0 b 2 0.5 tag\nq2 Q0 a 1 1.0 tag\n"


def evaluate(run: Any, qrels: Any, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(METRICS, run=run, qrels=qrels, **options).to_pylist()


def refused(*parts: str, **call: Any) -> str:
    """Assert that a call is refused with an InputError that says all parts; return the message."""
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(call.pop("metrics", METRICS), **call)
    for part in parts:
        assert part in str(caught.value)
    return str(caught.value)


@pytest.fixture
def database(run: pa.Table, qrels: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.register("arrow_qrels", qrels)
    connection.execute("CREATE TABLE runs AS FROM arrow_run; CREATE TABLE judgements AS FROM arrow_qrels; CREATE VIEW v AS FROM runs")
    connection.unregister("arrow_run")
    connection.unregister("arrow_qrels")
    return connection


@pytest.fixture
def database_file(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> Path:
    path = tmp_path / "my data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow_run", run)
        connection.register("arrow_qrels", qrels)
        connection.execute("CREATE TABLE runs AS FROM arrow_run; CREATE TABLE judgements AS FROM arrow_qrels; CREATE VIEW v AS FROM runs")
    return path


# Tables in memory


def polars_frame(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def pandas_frame(table: pa.Table) -> Any:
    return table.to_pandas().iloc[::-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table,
        lambda table: table.to_batches()[0],
        lambda table: table.to_reader(),
        polars_frame,
        pandas_frame,
        lambda table: pandas_frame(table).astype({"query_id": "category", "doc_id": "category"}),
        lambda table: polars_frame(table).cast({"doc_id": pytest.importorskip("polars").Categorical}),
    ],
    ids=["Table", "RecordBatch", "RecordBatchReader", "Polars", "pandas", "pandas category", "Polars Categorical"],
)
def test_arrow_sources(make: Callable[[pa.Table], Any], run: pa.Table, qrels: pa.Table) -> None:
    assert evaluate(make(run), make(qrels)) == EXPECTED


@pytest.mark.parametrize("source", [{"q1": {"a": 1.0}}, [("q1", "a", 1.0)], 5, object()], ids=["dict", "list", "int", "object"])
def test_what_is_not_a_table_is_refused(source: Any, qrels: pa.Table) -> None:
    refused("run: cannot read a ", "give a table name, a file, a DuckDB relation", run=source, qrels=qrels)


def test_a_lazy_frame_is_told_to_be_collected(run: pa.Table, qrels: pa.Table) -> None:
    refused("LazyFrame", "collect", run=polars_frame(run).lazy(), qrels=qrels)


def test_predictions() -> None:
    table = pa.table({"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [0.9, 0.5, 1.0], "label": [0, 1, 2]})
    assert evaluate(None, None, predictions=table) == EXPECTED
    assert evaluate(None, None, predictions=table.to_reader()) == EXPECTED, "a stream can be read once only, but plays both roles"
    clicks = table.rename_columns(["query_id", "doc_id", "score", "click"])
    assert evaluate(None, None, predictions=clicks, columns={"label": "click"}) == EXPECTED
    assert evaluate(None, None, predictions=clicks, columns={"relevance": "click"}) == EXPECTED


@pytest.mark.parametrize("column", ["label", "relevance"])
def test_a_null_label_of_predictions_is_no_judgment(column: str) -> None:
    table = pa.table({"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "score": [3, 2, 1], column: [None, 1, 0]})
    assert sqlrank.evaluate(["num_unjudged", "RR"], predictions=table).to_pylist() == [{"num_unjudged": 1.0, "RR": 0.5}]


def test_a_null_label_of_qrels_is_not_dropped_silently(run: pa.Table) -> None:
    labels = pa.table({"query_id": ["q1", "q2"], "doc_id": ["b", "a"], "label": [1, None]})
    refused("relevance", run=run, qrels=labels)


def test_predictions_without_any_label() -> None:
    table = pa.table({"query_id": ["q"], "doc_id": ["a"], "score": [1.0], "label": pa.nulls(1, pa.int64())})
    refused("label", predictions=table)


def test_roles_that_are_missing_or_too_many(run: pa.Table, qrels: pa.Table) -> None:
    refused("no run; ranking metrics need run= and qrels=, or predictions=", qrels=qrels)
    refused("no run and no qrels")
    refused("either predictions", predictions=run, run=run)


# Tables of a database


@pytest.mark.parametrize("name", ["runs", "RUNS", "v", "main.runs", "memory.main.runs", "memory.runs", '"runs"', "main.v"])
def test_names_of_tables(name: str, database: duckdb.DuckDBPyConnection) -> None:
    assert evaluate(name, "judgements", connection=database) == EXPECTED


@pytest.mark.parametrize("name", ["v", "runs"])
def test_a_database_file_is_opened_read_only(name: str, database_file: Path) -> None:
    before = database_file.read_bytes()
    database_file.chmod(0o444)
    for path in (database_file, str(database_file)):
        assert evaluate(name, "judgements", connection=path) == EXPECTED
    assert database_file.read_bytes() == before
    assert [item.name for item in database_file.parent.iterdir()] == [database_file.name]


def test_a_database_file_with_arrow_data_beside_it(database_file: Path, run: pa.Table) -> None:
    assert evaluate(run, "judgements", connection=database_file) == EXPECTED


def test_database_files_that_are_not(tmp_path: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_text("no database\n" * 1000)
    refused("cannot open", "text.duckdb", "as a DuckDB file", run="r", qrels="q", connection=text)
    missing = tmp_path / "missing.duckdb"
    refused("there is no DuckDB file", "missing.duckdb", run="r", qrels="q", connection=missing)
    assert not missing.exists()
    refused("cannot connect to a int", run="r", qrels="q", connection=5)


def test_a_closed_connection_is_said_to_be_closed(database: duckdb.DuckDBPyConnection) -> None:
    database.close()
    refused("closed", run="runs", qrels="judgements", connection=database)


@pytest.mark.parametrize("source", ["rnus", "", "runs; DROP TABLE runs", "nope.parquet", Path("nope.parquet"), "zzz*.parquet", "main.nope"])
def test_sources_that_are_not_there(source: Any, database: duckdb.DuckDBPyConnection) -> None:
    message = refused("run: there is no table and no file named", run=source, qrels="judgements", connection=database)
    assert "The database has: judgements, runs, v" in message
    if source == "rnus":
        assert "did you mean 'runs'?" in message


def test_the_message_names_no_table_of_sqlrank_itself(run: pa.Table) -> None:
    assert "sqlrank_arrow" not in refused("no table and no file named 'nope'", run=run, qrels="nope")


def test_a_table_in_a_schema_out_of_reach_is_not_guessed(run: pa.Table, qrels: pa.Table) -> None:
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.execute("CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.r AS FROM arrow_run; CREATE TABLE b.r AS FROM arrow_run LIMIT 1")
    message = refused("'r'", run="r", qrels=qrels, connection=connection)
    assert "a.r" in message
    assert "b.r" in message
    assert evaluate("a.r", qrels, connection=connection) == EXPECTED
    connection.execute("USE a")
    assert evaluate("r", qrels, connection=connection) == EXPECTED


def settings_of(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())


def catalog_of(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(
        "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
    ).fetchall()


@pytest.mark.parametrize("fails", [False, True])
def test_a_callers_connection_is_left_as_it_was(fails: bool, database: duckdb.DuckDBPyConnection, files: Path, tmp_path: Path) -> None:
    before = settings_of(database), catalog_of(database)
    for _ in range(3):
        try:
            sqlrank.evaluate(
                ["RR(ties=rank)" if fails else "RR"],
                run="runs" if fails else str(files / "run.trec"),
                qrels=str(files / "qrels.csv"),
                connection=database,
                memory_limit="300MB",
                threads=1,
                temp_directory=tmp_path / "spill",
            )
        except InputError:
            assert fails
    assert (settings_of(database), catalog_of(database)) == before


def test_a_refused_setting_leaves_the_others_as_they_were(database: duckdb.DuckDBPyConnection) -> None:
    before = settings_of(database)
    refused("threads=-1 is not possible", run="runs", qrels="judgements", connection=database, memory_limit="300MB", threads=-1)
    assert settings_of(database) == before


def test_a_pending_result_of_the_caller_survives(database: duckdb.DuckDBPyConnection) -> None:
    pending = database.execute("SELECT * FROM range(5)")
    try:
        assert evaluate("runs", "judgements", connection=database) == EXPECTED
    except SqlrankError as error:  # DuckDB itself refuses other work while a result is pending
        assert "unfinished result" in str(error)  # noqa: PT017  either is fine, but not to drop the rows
    assert [row[0] for row in pending.fetchall()] == [0, 1, 2, 3, 4]


def test_an_open_transaction_is_seen_and_can_be_rolled_back(database: duckdb.DuckDBPyConnection, run: pa.Table) -> None:
    database.execute("BEGIN; DELETE FROM runs WHERE doc_id = 'b'")
    assert sqlrank.evaluate("num_ret", run="runs", qrels="judgements", connection=database).to_pylist() == [{"num_ret": 2.0}]
    refused("no column 'query_id'", run=pa.table({"x": [1]}), qrels="judgements", connection=database)
    assert evaluate(run, "judgements", connection=database) == EXPECTED
    database.execute("ROLLBACK")
    assert evaluate("runs", "judgements", connection=database) == EXPECTED


def test_a_connection_with_a_locked_configuration(run: pa.Table, qrels: pa.Table) -> None:
    connection = duckdb.connect()
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    assert evaluate(run, qrels, connection=connection) == EXPECTED


@pytest.mark.parametrize(
    "setting",
    [
        "default_order = 'DESC'",
        "default_null_order = 'NULLS_FIRST'",
        "integer_division = true",
        "threads = 1",
        "preserve_insertion_order = false",
    ],
)
@pytest.mark.parametrize("ties", ["doc_asc", "doc_desc", "rank"])
def test_settings_of_the_caller_do_not_change_the_numbers(setting: str, ties: str) -> None:
    run = pa.table({"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 1.0, 1.0], "rank": [1, 2, 1]})
    qrels = pa.table({"query_id": ["q", "r"], "doc_id": ["b", "c"], "relevance": [1, 1]})
    call = {"metrics": ["RR", "P@2", "AP"], "run": run, "qrels": qrels, "ties": ties, "per_query": True}
    connection = duckdb.connect()
    connection.execute(f"SET {setting}")
    assert sqlrank.evaluate(**call, connection=connection).to_pylist() == sqlrank.evaluate(**call).to_pylist()


# DuckDB relations


def test_relations(database: duckdb.DuckDBPyConnection) -> None:
    run = database.table("runs").filter("score > 0").project("query_id, doc_id, score")
    qrels = database.sql("FROM judgements WHERE relevance // 1 > 0")
    assert evaluate(run, qrels, connection=database) == EXPECTED
    assert evaluate(run, qrels) == EXPECTED, "without its connection"
    best = database.sql("SELECT * FROM runs QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY score DESC NULLS LAST) = 1")
    assert sqlrank.evaluate("num_ret", run=best, qrels=qrels, connection=database).to_pylist() == [{"num_ret": 2.0}]


def test_a_relation_with_names_of_steps(database: duckdb.DuckDBPyConnection) -> None:
    run = database.sql("WITH lists AS (FROM runs) SELECT * FROM lists")
    qrels = database.sql("WITH judged AS (FROM judgements) SELECT * FROM judged")
    assert evaluate(run, qrels, connection=database) == EXPECTED


def test_a_relation_of_another_connection_keeps_its_own_rows(database: duckdb.DuckDBPyConnection, run: pa.Table, qrels: pa.Table) -> None:
    other = duckdb.connect()
    other.register("one_row", run.slice(0, 1))
    other.execute("CREATE TABLE runs AS FROM one_row")
    assert evaluate(database.table("runs"), qrels, connection=other) == EXPECTED


# Files


def test_a_path_of_each_kind(files: Path) -> None:
    for ending in ("parquet", "csv", "trec"):
        for make in (str, Path):
            assert evaluate(make(files / f"run.{ending}"), make(files / f"qrels.{ending}")) == EXPECTED


def test_a_json_file(tmp_path: Path, qrels: pa.Table) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        "".join(
            f'{{"query_id": "{q}", "doc_id": "{d}", "score": {s}}}\n' for q, d, s in [("q1", "a", 0.9), ("q1", "b", 0.5), ("q2", "a", 1)]
        )
    )
    assert evaluate(path, qrels) == EXPECTED


def test_globs(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> None:
    pq.write_table(run.slice(0, 1), tmp_path / "1.parquet")
    pq.write_table(run.slice(1), tmp_path / "2.parquet")
    (tmp_path / "a.run").write_text(TREC_RUN[:18])
    (tmp_path / "b.run").write_text(TREC_RUN[18:])
    assert evaluate(tmp_path / "*.parquet", qrels) == EXPECTED
    assert evaluate(str(tmp_path / "?.run"), qrels) == EXPECTED


@pytest.mark.parametrize("name", ["a b.trec", "it's.trec", "ü.trec", "we[1]rd.trec", 'say "hi".trec', "no_ending", "x;y.trec"])
def test_names_of_files(name: str, tmp_path: Path, qrels: pa.Table) -> None:
    path = tmp_path / name
    path.write_text(TREC_RUN)
    assert evaluate(path, qrels) == EXPECTED
    assert evaluate(str(path), qrels) == EXPECTED


@pytest.mark.parametrize("name", ["run.gz", "run.trec.gz", "run.txt.gz"])
def test_compressed_files(name: str, tmp_path: Path, qrels: pa.Table) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TREC_RUN.encode()))
    assert evaluate(path, qrels) == EXPECTED


def test_a_folder_is_not_read_as_a_file(tmp_path: Path, qrels: pa.Table) -> None:
    (tmp_path / "a.trec").write_text(TREC_RUN)
    message = refused(str(tmp_path), run=tmp_path, qrels=qrels)
    assert "doc_id is NULL" not in message
    assert "folder" in message or "directory" in message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.parquet", b"hello"),
        ("bad.gz", TREC_RUN.encode()),
        ("latin1.trec", "q1 Q0 é 1 0.9 tag\n".encode("latin-1")),
        ("long.trec", b"q1 Q0 a 1 0.9 " + b"t" * 3_000_000),
        ("empty.csv", b""),
        ("empty.trec", b""),
        ("comments.trec", b"# nothing\n# here\n"),
        ("header.csv", b"query_id,doc_id,score\n"),
    ],
)
def test_files_that_cannot_be_evaluated(name: str, content: bytes, tmp_path: Path, qrels: pa.Table) -> None:
    (tmp_path / name).write_bytes(content)
    message = refused(name, run=tmp_path / name, qrels=qrels)
    assert len(message) < 2000
    if name.startswith(("empty.t", "comments", "header")):
        assert "no rows" in message or "empty" in message


@pytest.mark.parametrize(
    "text",
    [
        TREC_RUN[:-1],
        TREC_RUN.replace("\n", "\r\n"),
        TREC_RUN.replace("\n", "\r\n", 1),
        "# comment\n" + TREC_RUN + "#another\n",
        "\n" + TREC_RUN.replace("\n", "\n\n"),
        "   \n" + TREC_RUN + " \t \n",
        "  " + TREC_RUN,
        TREC_RUN.replace(" ", "\t"),
        TREC_RUN.replace(" ", "  \t "),
        TREC_RUN.replace("tag", "tag more \"junk' 1 2 3"),
        TREC_RUN.replace(" tag", ""),
        TREC_RUN.replace("tag", '"tag'),
        TREC_RUN.replace("a 1", "a x"),
        "\ufeff" + TREC_RUN,
        TREC_RUN.replace("0.9", "9E-1").replace("0.5", "+.5"),
        TREC_RUN.replace("1.0", "inf").replace("0.5", "-inf"),
    ],
    ids=[
        "no last newline", "crlf", "mixed newlines", "comments", "empty lines", "blank lines", "indented", "tabs", "many blanks",
        "junk after the tag", "no tag", "quote in the tag", "rank not a number", "byte order mark", "exponents", "infinities",
    ],
)  # fmt: skip
def test_trec_files(text: str, tmp_path: Path, qrels: pa.Table) -> None:
    (tmp_path / "run").write_bytes(text.encode())
    assert evaluate(tmp_path / "run", qrels) == EXPECTED


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("q2 Q0 b 1 hello tag", ["1 row", "score", "query_id='q2', doc_id='b'"]),
        ("q2 Q0 b 1 0x10 tag", ["1 row", "score", "query_id='q2', doc_id='b'"]),
        ("q2 Q0 b 1 nan tag", ["1 row", "score is NaN", "query_id='q2', doc_id='b'"]),
        ("q2 Q0 b", ["1 row", "score", "query_id='q2', doc_id='b'"]),
        ("q2", ["1 row", "doc_id", "query_id='q2'"]),
    ],
)
def test_malformed_lines_of_a_run_are_shown(line: str, parts: list[str], tmp_path: Path, qrels: pa.Table) -> None:
    (tmp_path / "run").write_text(TREC_RUN + line + "\n")
    refused("run (", *parts, run=tmp_path / "run", qrels=qrels)


@pytest.mark.parametrize("line", ["q1 0 a yes", "q1 a 1", "q1", "q1 0 a"])
def test_malformed_lines_of_qrels_are_shown(line: str, tmp_path: Path, run: pa.Table) -> None:
    (tmp_path / "qrels").write_text("q1 0 b 1\nq2 0 a 2\n" + line + "\n")
    refused("qrels (", "1 row", "query_id='q1'", run=run, qrels=tmp_path / "qrels")


def test_fractional_relevance_in_trec_qrels_is_not_rounded(tmp_path: Path, run: pa.Table) -> None:
    (tmp_path / "qrels").write_text("q1 0 b 0.5\nq2 0 a 1.0\n")
    try:
        got = sqlrank.evaluate(["RR", "CG"], run=run, qrels=tmp_path / "qrels").to_pylist()
    except InputError as error:
        assert "relevance" in str(error)  # noqa: PT017  either is fine: refused, or read as it stands
    else:
        assert got == [{"RR": 0.5, "CG": 0.75}]


def test_a_trec_query_id_may_begin_with_a_hash_sign(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#1 Q0 a 1 0.9 tag\n# a comment\n")
    (tmp_path / "qrels").write_text("#1 0 a 1\n")
    assert sqlrank.evaluate("num_q", run=tmp_path / "run", qrels=tmp_path / "qrels").to_pylist() == [{"num_q": 1.0}]


def test_other_roles_are_not_trec_files(files: Path, run: pa.Table, qrels: pa.Table) -> None:
    refused("queries:", "has no ending that says what it holds", run=run, qrels=qrels, queries=files / "run.trec")


def test_ids_of_csv_files_keep_their_zeros(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\n001,1,0.5\n01,1,0.5\n")
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n001,1,1\n")
    got = sqlrank.evaluate("RR", run=tmp_path / "run.csv", qrels=tmp_path / "qrels.csv", per_query=True).to_pylist()
    assert got == [{"query_id": "001", "RR": 1.0}]


def test_one_table_in_several_roles(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("CREATE TABLE everything AS SELECT *, 1 AS relevance FROM runs WHERE doc_id = 'a'")
    call = {"metrics": ["RR"], "run": "everything", "qrels": "everything", "queries": "everything", "connection": database}
    assert sqlrank.evaluate(**call).to_pylist() == [{"RR": 1.0}]


# Names


ODD_NAMES = [
    "select",
    "rank",
    "list_id",
    "a b",
    "a.b",
    "ü",
    "a;b",
    'a"b',
    "a'b",
    "group",
    "docs",
    "k",
    "per_query",
    "rr",
    "weight",
    "hit",
    "times",
    "1st",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_columns_with_odd_names(name: str, run: pa.Table, qrels: pa.Table) -> None:
    columns = {"query_id": name, "doc_id": f"{name} 2", "score": f"{name} 3"}
    renamed = run.rename_columns([columns.get(column, column) for column in run.column_names])
    judged = qrels.rename_columns([columns.get(column, column) for column in qrels.column_names])
    assert evaluate(renamed, judged, columns=columns) == EXPECTED


@pytest.mark.parametrize("name", [*ODD_NAMES, "relevance", "number", "wide", "key_hash", "all_rows", "a", "l", "by_rank", "given_rank"])
def test_by_columns_with_odd_names(name: str, run: pa.Table, qrels: pa.Table) -> None:
    systems = run.append_column(name, [["x", "x", "y"]])
    got = sqlrank.evaluate(METRICS, run=systems, qrels=qrels, by=name).to_pylist()
    assert got == [{name: "x", "RR": 0.25, "P@1": 0.0, "num_ret": 2.0}, {name: "y", "RR": 0.5, "P@1": 0.5, "num_ret": 1.0}]


@pytest.mark.parametrize("names", [("rank", "by_rank"), ("by_system", "system"), ("system", "by_system"), ("relevance", "by_relevance")])
def test_by_columns_whose_names_are_alike(names: tuple[str, str], run: pa.Table, qrels: pa.Table) -> None:
    systems = run.append_column(names[0], [["x", "x", "y"]]).append_column(names[1], [["1", "1", "2"]])
    got = sqlrank.evaluate("num_ret", run=systems, qrels=qrels, by=list(names)).to_pylist()
    assert got == [{names[0]: "x", names[1]: "1", "num_ret": 2.0}, {names[0]: "y", names[1]: "2", "num_ret": 1.0}]


@pytest.mark.parametrize(
    ("by", "options"),
    [("RR", {}), ("query_id", {"per_query": True}), ("k", {"metrics": ["P@1..2"]}), ("doc_id", {}), ("score", {})],
)
def test_by_columns_that_the_result_has_already_are_refused(by: str, options: dict[str, Any], run: pa.Table, qrels: pa.Table) -> None:
    table = run if by in run.column_names else run.append_column(by, [["x", "x", "y"]])
    with pytest.raises(SqlrankError, match=f"'{by}'"):
        sqlrank.evaluate(**{"metrics": METRICS, "run": table, "qrels": qrels, "by": by, **options})


@pytest.mark.parametrize("by", [None, 5, [1], "", [""]])
def test_by_of_a_wrong_kind(by: Any, run: pa.Table, qrels: pa.Table) -> None:
    if by is None:
        assert sqlrank.evaluate(METRICS, run=run, qrels=qrels, by=by).to_pylist() == EXPECTED
    else:
        with pytest.raises(SqlrankError, match="by"):
            sqlrank.evaluate(METRICS, run=run, qrels=qrels, by=by)


def test_by_columns_that_are_not_there_are_all_named(run: pa.Table, qrels: pa.Table) -> None:
    systems = run.append_column("system", [["x", "x", "y"]])
    refused(
        "'sytem'; did you mean 'system'?",
        "'nope'",
        "The run has: query_id, doc_id, score, system",
        run=systems,
        qrels=qrels,
        by=["sytem", "nope"],
    )
    refused("'day' is in qrels only", run=run, qrels=qrels.append_column("day", [[1, 1]]), by="day")


def test_by_column_of_other_types_in_run_and_qrels(run: pa.Table, qrels: pa.Table) -> None:
    systems = run.append_column("day", [["x", "x", "y"]])
    refused("day", run=systems, qrels=qrels.append_column("day", [[1, 2]]), by="day")


def test_by_an_attribute_of_the_queries(run: pa.Table, qrels: pa.Table) -> None:
    queries = pa.table({"query_id": ["q1", "q2"], "country": ["de", "fr"], "Land": ["DE", "FR"]})
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by="country").to_pylist()
    assert got == [{"country": "de", "RR": 0.5}, {"country": "fr", "RR": 1.0}]
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by=[["country"], []]).to_pylist()
    assert got == [{"country": None, "RR": 0.75}, {"country": "de", "RR": 0.5}, {"country": "fr", "RR": 1.0}]
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by="nation", columns={"nation": "Land"}).to_pylist()
    assert got == [{"nation": "DE", "RR": 0.5}, {"nation": "FR", "RR": 1.0}]
    systems = run.append_column("system", [["x", "x", "y"]])
    got = sqlrank.evaluate("num_ret", run=systems, qrels=qrels, queries=queries, by=["system", "country"]).to_pylist()
    assert {tuple(row.values()) for row in got} == {("x", "de", 2.0), ("x", "fr", 0.0), ("y", "de", 0.0), ("y", "fr", 1.0)}


@pytest.mark.parametrize("name", ["rank", "weight_class", "relevance", "score", "select", "list_id", "l"])
def test_attributes_with_odd_names(name: str, run: pa.Table, qrels: pa.Table) -> None:
    queries = pa.table({"query_id": ["q1", "q2"], name: ["de", "fr"]})
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by=name)
    assert got.to_pylist() == [{name: "de", "RR": 0.5}, {name: "fr", "RR": 1.0}]


TABLE_NAMES = [
    "lists",
    "ranked",
    "run",
    "qrels",
    "judged",
    "per_query",
    "by_relevant",
    "Lists",
    "r",
    "l",
    "a",
    'a"b',
    "a;b",
    "x.y",
    "select",
    "ü",
]


@pytest.mark.parametrize("name", TABLE_NAMES)
def test_tables_with_names_of_steps(name: str, run: pa.Table, qrels: pa.Table) -> None:
    queries = pa.table({"query_id": ["q1", "q2"], "country": ["de", "de"]})
    quoted = '"' + name.replace('"', '""') + '"'
    for role, table in (("run", run), ("queries", queries)) if name != "qrels" else (("qrels", qrels),):
        connection = duckdb.connect()
        connection.register("arrow_table", table)
        connection.execute(f"CREATE TABLE {quoted} AS FROM arrow_table")
        sources = {"run": run, "qrels": qrels, "queries": queries} | {role: name}
        assert sqlrank.evaluate(METRICS, **sources, connection=connection).to_pylist() == EXPECTED, role


def test_schemas_with_odd_names(run: pa.Table, qrels: pa.Table) -> None:
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.execute('CREATE SCHEMA "S 2"; CREATE TABLE "S 2"."a""b" AS FROM arrow_run')
    for name in ('S 2.a"b', 's 2.A"B', '"S 2"."a""b"', 'memory.S 2.a"b'):
        assert evaluate(name, qrels, connection=connection) == EXPECTED


def test_columns_are_found_in_any_case(run: pa.Table, qrels: pa.Table) -> None:
    assert evaluate(run.rename_columns(["QUERY_ID", "Doc_Id", "Score"]), qrels) == EXPECTED
    assert evaluate(run.append_column("SCORE", [[0.0, 1.0, 0.0]]), qrels) == EXPECTED, "the exact name wins"


@pytest.mark.parametrize("columns", [{"score": "nope"}, {"query_id": "user_id"}, {"relevance": "stars"}])
def test_a_mapping_to_a_column_that_no_input_has(columns: dict[str, str], run: pa.Table, qrels: pa.Table) -> None:
    refused(repr(next(iter(columns.values()))), run=run, qrels=qrels, columns=columns)


def test_a_mapping_of_a_name_that_is_not_one(run: pa.Table, qrels: pa.Table) -> None:
    refused("'qury_id'", "did you mean 'query_id'", run=run, qrels=qrels, columns={"qury_id": "user_id"})


def test_a_mapping_wins_over_a_column_of_the_canonical_name(run: pa.Table, qrels: pa.Table) -> None:
    worse = run.append_column("other", [[0.1, 0.5, 1.0]])
    assert sqlrank.evaluate("RR", run=worse, qrels=qrels, columns={"score": "other"}).to_pylist() == [{"RR": 1.0}]


# Ids


@pytest.mark.parametrize(
    "ids",
    [
        ["qü日本", "q🙂"],
        ["", " "],
        ["a'b", 'a"b'],
        [1, 2],
        [-(2**62), 2**62],
        [1.5, 2.5],
        [True, False],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
        [dt.datetime(2024, 1, 1, 2), dt.datetime(2024, 1, 1, 3)],  # noqa: DTZ001  DuckDB's TIMESTAMP has no zone
        [b"x", b"y"],
    ],
    ids=str,
)
def test_ids_of_many_types(ids: list[Any], run: pa.Table, qrels: pa.Table) -> None:
    first, second = ids
    answered = run.set_column(0, "query_id", [[first, first, second]])
    judged = qrels.set_column(0, "query_id", [[first, second]])
    got = sqlrank.evaluate("RR", run=answered, qrels=judged, per_query=True).to_pylist()
    assert {row["query_id"]: row["RR"] for row in got} == {first: 0.5, second: 1.0}
    docs = pa.array([first, second])
    run_of_docs = pa.table({"query_id": ["q", "q"], "doc_id": docs, "score": [2, 1]})
    qrels_of_docs = pa.table({"query_id": ["q"], "doc_id": docs.slice(1, 1), "relevance": [1]})
    assert sqlrank.evaluate("RR", run=run_of_docs, qrels=qrels_of_docs).to_pylist() == [{"RR": 0.5}]


def test_uuids() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r AS SELECT uuid() AS query_id, uuid() AS doc_id, 1 AS score FROM range(2)")
    connection.execute("CREATE TABLE q AS SELECT query_id, doc_id, 1 AS relevance FROM r")
    got = sqlrank.evaluate("RR", run="r", qrels="q", connection=connection, per_query=True)
    assert got["RR"].to_pylist() == [1.0, 1.0]
    assert all(uuid.UUID(str(item)) for item in got["query_id"].to_pylist())
    connection.execute("CREATE TABLE t AS SELECT query_id::VARCHAR AS query_id, doc_id, 1 AS relevance FROM r")
    assert sqlrank.evaluate("RR", run="r", qrels="t", connection=connection).to_pylist() == [{"RR": 1.0}]


@pytest.mark.parametrize("kind", ["UUID", "DATE", "TIMESTAMP"])
def test_ids_of_types_that_do_not_fit_are_refused(kind: str) -> None:
    value = {"UUID": "uuid()", "DATE": "DATE '2024-01-01'", "TIMESTAMP": "TIMESTAMP '2024-01-01 00:00:00'"}[kind]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE r AS SELECT {value} AS query_id, 'a' AS doc_id, 1 AS score")
    connection.execute("CREATE TABLE q AS SELECT 'hello' AS query_id, 'a' AS doc_id, 1 AS relevance")
    refused("query_id", kind, run="r", qrels="q", connection=connection)


def test_ids_of_different_integer_types(run: pa.Table, qrels: pa.Table) -> None:
    answered = run.set_column(0, "query_id", pa.array([1, 1, 2], pa.int8()))
    judged = qrels.set_column(0, "query_id", pa.array([1, 2], pa.uint64()))
    assert evaluate(answered, judged) == EXPECTED


def test_ties_of_categorical_ids_are_broken_by_their_text(qrels: pa.Table) -> None:
    docs = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"]))
    tied = pa.table({"query_id": ["q1", "q1"], "doc_id": docs, "score": [1.0, 1.0]})
    plain = tied.set_column(1, "doc_id", docs.cast(pa.string()))
    for ties in ("doc_desc", "doc_asc"):
        same = [sqlrank.evaluate("RR", run=table, qrels=qrels.slice(0, 1), ties=ties).to_pylist() for table in (tied, plain)]
        assert same[0] == same[1]


def test_ties_of_enum_ids_are_broken_by_their_text() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r AS SELECT 'q' AS query_id, unnest(['a', 'b'])::ENUM ('b', 'a') AS doc_id, 1 AS score")
    connection.execute("CREATE TABLE q AS SELECT 'q' AS query_id, 'b' AS doc_id, 1 AS relevance")
    for ties, expected in (("doc_desc", 1.0), ("doc_asc", 0.5)):
        assert sqlrank.evaluate("RR", run="r", qrels="q", connection=connection, ties=ties).to_pylist() == [{"RR": expected}]


def test_a_collation_of_the_database_does_not_merge_ids() -> None:
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'nocase'")
    run = pa.table({"query_id": ["Q", "q", "q"], "doc_id": ["a", "B", "c"], "score": [1, 2, 1]})
    qrels = pa.table({"query_id": ["q", "Q"], "doc_id": ["c", "a"], "relevance": [1, 1]})
    got = sqlrank.evaluate(["RR", "num_ret"], run=run, qrels=qrels, connection=connection, per_query=True).to_pylist()
    assert got == [{"query_id": "Q", "RR": 1.0, "num_ret": 1.0}, {"query_id": "q", "RR": 0.5, "num_ret": 2.0}]


def test_nothing_warns(files: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(files / "run.trec", files / "qrels.csv") == EXPECTED
