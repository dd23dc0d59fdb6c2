"""Tables, views and relations of DuckDB, by name, in files and over connections, which stay
unchanged.
"""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError, SqlrankError
from tests.interface.inputs import EXPECTED, evaluate, refused
from tests.lanes import select_few
from tests.tables import build_table


@pytest.fixture
def database(run: pa.Table, qrels: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.register("arrow_qrels", qrels)
    connection.execute(
        "CREATE TABLE runs AS FROM arrow_run; CREATE TABLE judgements AS FROM arrow_qrels; CREATE"
        " VIEW v AS FROM runs"
    )
    connection.unregister("arrow_run")
    connection.unregister("arrow_qrels")
    return connection


@pytest.fixture
def database_file(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> Path:
    path = tmp_path / "my data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow_run", run)
        connection.register("arrow_qrels", qrels)
        connection.execute(
            "CREATE TABLE runs AS FROM arrow_run; CREATE TABLE judgements AS FROM arrow_qrels;"
            " CREATE VIEW v AS FROM runs"
        )
    return path


# Tables of a database


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    "name",
    ["runs", "RUNS", "v", "main.runs", "memory.main.runs", "memory.runs", '"runs"', "main.v"],
)
def test_names_of_tables(name, database):
    assert evaluate(name, "judgements", connection=database) == EXPECTED


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["v", "runs"])
def test_a_database_file_is_opened_read_only(name, database_file):
    before = database_file.read_bytes()
    database_file.chmod(0o444)
    for path in (database_file, str(database_file)):
        assert evaluate(name, "judgements", connection=path) == EXPECTED
    assert database_file.read_bytes() == before
    assert [item.name for item in database_file.parent.iterdir()] == [database_file.name]


def test_a_database_file_and_arrow_data(database_file, run):
    assert evaluate(run, "judgements", connection=database_file) == EXPECTED


def test_database_files_that_are_not(tmp_path):
    text = tmp_path / "text.duckdb"
    text.write_text("no database\n" * 1000)
    refused("cannot open", "text.duckdb", "as a DuckDB file", run="r", qrels="q", connection=text)
    of_sqlite = tmp_path / "shop.db"
    with closing(sqlite3.connect(of_sqlite)) as connection:
        connection.execute("CREATE TABLE run (query_id TEXT)")
    refused(
        "shop.db' is a SQLite file, not one of DuckDB. In Python give sqlite3.connect(",
        run="r",
        qrels="q",
        connection=of_sqlite,
    )
    missing = tmp_path / "missing.duckdb"
    refused("there is no DuckDB file", "missing.duckdb", run="r", qrels="q", connection=missing)
    assert not missing.exists()
    refused("cannot connect to a int", run="r", qrels="q", connection=5)


def test_a_file_that_another_process_has_open(database_file):
    script = (
        "import duckdb, sys; connection = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(database_file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pattern = (
            rf"another process \(\S+, PID {process.pid}\) has {re.escape(repr(str(database_file)))}"
            r" open. Close it there, open it there read-only"
        )
        for arguments in (
            {"connection": database_file, "run": "runs"},
            {"run": f"SELECT * FROM '{database_file}'"},
        ):
            with pytest.raises(InputError, match=pattern):
                sqlrank.evaluate("RR", **({"qrels": {"q": {"a": 1}}} | arguments))
        with pytest.raises(SqlrankError, match=pattern):
            sqlrank.rollup(
                "AUC",
                predictions={"label": [1, 0], "score": [0.5, 0.25]},
                connection=database_file,
                insert="daily",
            )
        process.communicate(b"\n")


def test_a_closed_connection_is_reported_as_closed(database):
    database.close()
    refused("closed", run="runs", qrels="judgements", connection=database)


@pytest.mark.parametrize(
    "source",
    [
        "rnus", "", "runs; DROP TABLE runs", "nope.parquet", Path("nope.parquet"),
        "zzz*.parquet", "main.nope",
    ],
)  # fmt: skip
def test_sources_that_are_not_there(source, database):
    is_pattern = source == "zzz*.parquet"
    message = refused(
        f"run: {'no file matches' if is_pattern else 'there is no table and no file named'}",
        run=source,
        qrels="judgements",
        connection=database,
    )
    assert "The database has: judgements, runs, v" in message
    if source == "rnus":
        assert "Did you mean 'runs'?" in message


def test_the_message_names_no_table_of_sqlrank_itself(run):
    assert "sqlrank_arrow" not in refused(
        "no table and no file named 'nope'", run=run, qrels="nope"
    )


@pytest.mark.slow
def test_a_table_in_a_schema_out_of_reach_is_not_guessed(run, qrels):
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.execute(
        "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.r AS FROM arrow_run; CREATE TABLE b.r AS"
        " FROM arrow_run LIMIT 1"
    )
    message = refused("'r'", run="r", qrels=qrels, connection=connection)
    assert "a.r" in message
    assert "b.r" in message
    assert evaluate("a.r", qrels, connection=connection) == EXPECTED
    connection.execute("USE a")
    assert evaluate("r", qrels, connection=connection) == EXPECTED


def read_settings(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())


def read_catalog(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(
        "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()"
        " WHERE NOT internal ORDER BY 1"
    ).fetchall()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("fails", [False, True])
def test_a_callers_connection_is_left_as_it_was(fails, database, files, tmp_path):
    before = read_settings(database), read_catalog(database)
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
    assert (read_settings(database), read_catalog(database)) == before


def test_a_refused_setting_leaves_the_others_as_they_were(database):
    before = read_settings(database)
    refused(
        "threads=-1 is not possible",
        run="runs",
        qrels="judgements",
        connection=database,
        memory_limit="300MB",
        threads=-1,
    )
    assert read_settings(database) == before


def test_a_pending_result_of_the_caller_survives(database):
    pending = database.execute("SELECT * FROM range(5)")
    try:
        assert evaluate("runs", "judgements", connection=database) == EXPECTED
    except SqlrankError as error:  # DuckDB itself refuses other work while a result is pending
        # Either is fine, but not to drop the rows
        assert "unfinished result" in str(error)  # noqa: PT017
    assert [row[0] for row in pending.fetchall()] == [0, 1, 2, 3, 4]


def test_an_open_transaction_is_seen_and_can_be_rolled_back(database, run):
    database.execute("BEGIN; DELETE FROM runs WHERE doc_id = 'b'")
    assert sqlrank.evaluate(
        "num_ret", run="runs", qrels="judgements", connection=database
    ).to_pylist() == [{"num_ret": 2.0}]
    refused(
        "no columns 'query_id', 'doc_id', 'score'",
        run=build_table(x="1"),
        qrels="judgements",
        connection=database,
    )
    assert evaluate(run, "judgements", connection=database) == EXPECTED
    database.execute("ROLLBACK")
    assert evaluate("runs", "judgements", connection=database) == EXPECTED


def test_a_connection_with_a_locked_configuration(run, qrels):
    connection = duckdb.connect()
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    assert evaluate(run, qrels, connection=connection) == EXPECTED


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "setting",
    [
        "default_order = 'DESC'", "default_null_order = 'NULLS_FIRST'",
        "integer_division = true", "threads = 1", "preserve_insertion_order = false",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ties", select_few(["doc_asc", "doc_desc", "rank"], ("doc_desc",)))
def test_settings_of_the_caller_do_not_change_the_numbers(setting, ties):
    run = build_table(query_id="q q r", doc_id="a b c", score="1.0 1.0 1.0", rank="1 2 1")
    qrels = build_table(query_id="q r", doc_id="b c", relevance="1 1")
    call = {
        "metrics": ["RR", "P@2", "AP"],
        "run": run,
        "qrels": qrels,
        "ties": ties,
        "per_query": True,
    }
    connection = duckdb.connect()
    connection.execute(f"SET {setting}")
    assert (
        sqlrank.evaluate(**call, connection=connection).to_pylist()
        == sqlrank.evaluate(**call).to_pylist()
    )


# DuckDB relations


@pytest.mark.slow
def test_relations(database):
    run = database.table("runs").filter("score > 0").project("query_id, doc_id, score")
    qrels = database.sql("FROM judgements WHERE relevance // 1 > 0")
    assert evaluate(run, qrels, connection=database) == EXPECTED
    assert evaluate(run, qrels) == EXPECTED, "without its connection"
    best = database.sql(
        "SELECT * FROM runs QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY score DESC"
        " NULLS LAST) = 1"
    )
    assert sqlrank.evaluate("num_ret", run=best, qrels=qrels, connection=database).to_pylist() == [
        {"num_ret": 2.0}
    ]


def test_a_relation_with_names_of_steps(database):
    run = database.sql("WITH lists AS (FROM runs) SELECT * FROM lists")
    qrels = database.sql("WITH judged AS (FROM judgements) SELECT * FROM judged")
    assert evaluate(run, qrels, connection=database) == EXPECTED


def test_a_relation_of_another_connection_keeps_its_own_rows(database, run, qrels):
    other = duckdb.connect()
    other.register("one_row", run.slice(0, 1))
    other.execute("CREATE TABLE runs AS FROM one_row")
    assert evaluate(database.table("runs"), qrels, connection=other) == EXPECTED


def test_one_table_in_several_roles(database):
    database.execute(
        "CREATE TABLE everything AS SELECT *, 1 AS relevance FROM runs WHERE doc_id = 'a'"
    )
    call = {
        "metrics": ["RR"],
        "run": "everything",
        "qrels": "everything",
        "queries": "everything",
        "connection": database,
    }
    assert sqlrank.evaluate(**call).to_pylist() == [{"RR": 1.0}]
