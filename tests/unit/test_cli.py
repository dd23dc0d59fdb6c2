"""The command line: formats, exit codes, what goes to which stream; and the SQL it prints, which gives the same numbers."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.cli import app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer.testing import Result

ROOT = Path(__file__).parents[2]
TREC = ROOT / "examples" / "data" / "trec_eval"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def printed(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def refused(*arguments: object) -> str:
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.exception
    assert "Traceback" not in result.stderr
    return result.stderr


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in which ``sqlrank`` is this package's."""
    python = f"PYTHONPATH='{ROOT}' '{sys.executable}' -m sqlrank"
    return subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command.replace('sqlrank', python, 1)}"],
        capture_output=True,
        check=False,
        timeout=30,
        env=os.environ | environment,
    )


@pytest.fixture
def sources(files: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(files)
    return ["--run", "run.parquet", "--qrels", "qrels.parquet"]


# Formats


def test_a_table(sources: list[str]) -> None:
    assert printed("evaluate", "RR", "P@1", *sources) == "    RR     P@1\n0.7500  0.5000\n"
    assert printed("evaluate", "RR", *sources, "--per-query") == "query_id      RR\nq1        0.5000\nq2        1.0000\n"


def test_markdown(sources: list[str]) -> None:
    assert printed("evaluate", "RR", *sources, "--per-query", "--format", "markdown").splitlines() == [
        "| query_id | RR |",
        "| :--- | ---: |",
        "| q1 | 0.5000 |",
        "| q2 | 1.0000 |",
    ]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("to_file", [False, True])
def test_formats_for_machines_keep_every_digit(form: str, to_file: bool, tmp_path: Path) -> None:
    metrics = ["nDCG", "AP", "ERR", "num_ret"]
    expected = sqlrank.evaluate(metrics, run=TREC / "results.test", qrels=TREC / "qrels.test", per_query=True, threads=1).to_pylist()
    arguments = [
        "evaluate",
        *metrics,
        "--run",
        TREC / "results.test",
        "--qrels",
        TREC / "qrels.test",
        "--per-query",
        "--threads",
        1,
        "--format",
        form,
    ]
    if to_file:
        assert printed(*arguments, "-o", tmp_path / "out") == ""
        data = (tmp_path / "out").read_bytes()
    else:
        result = call(*arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        data = result.stdout_bytes
    if form == "parquet":
        got = pq.read_table(io.BytesIO(data)).to_pylist()
    elif form == "csv":
        got = [
            {name: cell if name == "query_id" else float(cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(data.decode()))
        ]
    else:
        got = json.loads(data) if form == "json" else [json.loads(line) for line in data.splitlines()]
    assert got == expected


def test_undefined_values(sources: list[str]) -> None:
    arguments = ["evaluate", "bpref", "RR", *sources, "--policy", "no_relevant=null", "--column", "relevance=zero"]
    pq.write_table(pq.read_table("qrels.parquet").append_column("zero", [[0, 0]]), "qrels.parquet")
    assert json.loads(printed(*arguments, "--format", "json")) == [{"bpref": None, "RR": None}]
    assert printed(*arguments, "--format", "csv") == "bpref,RR\n,\n"
    assert printed(*arguments).splitlines()[1].split() == ["NULL", "NULL"]
    assert call(*arguments, "--format", "parquet").exit_code == 0


def test_odd_ids_in_every_format(sources: list[str]) -> None:
    odd = ['a|b,"c"\n[red]', "ü日本"]
    for name in ("run", "qrels"):
        table = pq.read_table(f"{name}.parquet")
        ids = pa.array([odd[int(item.as_py() == "q2")] for item in table["query_id"]])
        pq.write_table(table.set_column(0, "query_id", ids), f"{name}.parquet")
    arguments = ["evaluate", "RR", *sources, "--per-query", "--format"]
    assert [row["query_id"] for row in json.loads(printed(*arguments, "json"))] == odd
    assert [json.loads(line)["query_id"] for line in printed(*arguments, "jsonl").splitlines()] == odd
    assert [row["query_id"] for row in csv.DictReader(io.StringIO(printed(*arguments, "csv"), newline=""))] == odd
    assert "[red]" in printed(*arguments, "table")
    assert all(line.count("|") - line.count("\\|") == 3 for line in printed(*arguments, "markdown").splitlines())


def test_ids_that_json_does_not_know(sources: list[str]) -> None:
    duckdb.sql("COPY (SELECT DATE '2024-01-01' AS query_id, 'a' AS doc_id, 1 AS score, 1 AS relevance) TO 'dates.parquet'")
    (row,) = json.loads(printed("evaluate", "RR", "--run", "dates.parquet", "--qrels", "dates.parquet", "--per-query", "--format", "json"))
    assert row == {"query_id": "2024-01-01", "RR": 1.0}
    assert sources


def test_output_files(sources: list[str], tmp_path: Path) -> None:
    assert "No such file" in refused("evaluate", "RR", *sources, "-o", tmp_path / "no" / "out.csv")
    assert "No such file" in refused("evaluate", "RR", *sources, "--format", "parquet", "-o", tmp_path / "no" / "out.parquet")
    result = call("evaluate", "RR", *sources, "-o", tmp_path / "out.parquet")
    assert result.exit_code == 2 or pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"RR": 0.75}], "the ending says Parquet"


# What is wrong goes to standard error, with status 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["RRR"], "sqlrank: unknown metric 'RRR'; did you mean 'RR'?"),
        (["RR", "--run", "nope.parquet"], "run: there is no table and no file named 'nope.parquet'"),
        (["RR", "--db", "nope.duckdb"], "there is no DuckDB file 'nope.duckdb'; check the path"),
        (["RR", "--db", "run.trec"], "cannot open 'run.trec' as a DuckDB file"),
        (["RR", "--policy", "ties=expected"], "ties='expected' is not defined for RR"),
        (["RR", "--policy", "ties"], "write --policy name=value"),
        (["RR", "--policy", "ties="], "write --policy name=value"),
        (["RR", "--policy", "tie=rank"], "unknown policy 'tie'; did you mean 'ties'?"),
        (["RR", "--policy", "ties=rank;x"], "--policy"),
        (["RR", "--policy", "depth=1)"], "--policy"),
        (["RR", "--policy", "depth=0"], "depth is 0; it must be an integer from 1"),
        (["RR", "--policy", "depth=1", "--policy", "depth=2"], "depth"),
        (["RR", "--policy", "per_query=1"], "unknown policy 'per_query'"),
        (["RR", "--policy", "connection=x"], "unknown policy 'connection'"),
        (["RR", "--policy", "timeout=1"], "unknown policy 'timeout'"),
        (["RR", "--column", "score"], "write --column name=value"),
        (["RR", "--column", "skore=x"], "columns maps 'skore'"),
        (["RR", "--column", "score=nope"], "'nope'"),
        (["RR", "--column", "score=score", "--column", "score=doc_id"], "score"),
        (["RR", "--by", "system"], "by: no input has a column 'system'"),
        (["RR", "--check", "bogus"], "auto"),
        (["RR", "--compat", "trec"], "unknown compat 'trec'; did you mean"),
        (["RR", "--format", "xml"], "'xml' is not one of"),
        (["RR", "--threads", "0"], "--threads"),
        (["RR", "--timeout", "0"], "--timeout"),
        (["RR", "--memory-limit", "lots"], "memory_limit='lots' is not possible"),
        (["RR", "--sql-dir", "nope"], "the SQL folder 'nope' is not there"),
        (["RR", "--predictions", "run.parquet"], "give either predictions"),
        (["RR", "--nope"], "No such option"),
        ([], "Missing argument"),
    ],
)
def test_wrong_calls(arguments: Sequence[str], message: str, sources: list[str]) -> None:
    given = [] if "--run" in arguments else sources[:2]
    assert message in " ".join(refused("evaluate", *arguments, *given, *sources[2:]).split())


def test_no_sources_are_named_as_options() -> None:
    message = refused("evaluate", "RR")
    assert "--run" in message
    assert "--qrels" in message


def test_wrong_data(sources: list[str]) -> None:
    table = pq.read_table("run.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), "run.parquet")
    assert "run (run.parquet): (query_id, doc_id) stands more than once" in refused("evaluate", "RR", *sources)
    assert printed("evaluate", "RR", *sources, "--check", "off")


def test_what_the_search_for_duplicates_left_out_is_noted(sources: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlrank.checks.FULL_UP_TO", 1)
    result = call("evaluate", "RR", *sources, "--format", "csv")
    assert (result.exit_code, result.stdout) == (0, "RR\n0.75\n")
    assert "--check full searches all" in result.stderr
    assert call("evaluate", "RR", *sources, "--check", "full").stderr == ""


# Options


@pytest.mark.parametrize("form", [["-p", "queries=intersect"], ["--policy", "queries='intersect'"]])
def test_the_policy_queries(form: list[str], sources: list[str]) -> None:
    pq.write_table(pa.table({"query_id": ["q1", "q9"], "doc_id": ["b", "b"], "relevance": [1, 1]}), "qrels.parquet")
    assert printed("evaluate", "RR", *sources, "--format", "csv") == "RR\n0.25\n"
    assert printed("evaluate", "RR", *sources, *form, "--format", "csv") == "RR\n0.5\n"
    assert "JOIN" in printed("sql", "RR", *sources, *form)


def test_policies(sources: list[str]) -> None:
    assert printed("evaluate", "RR", *sources, "-p", "depth=1", "--policy", "rel=2", "--format", "csv") == "RR\n0.5\n"
    gains = printed("evaluate", "CG", *sources, "-p", "gain={1: 3, 2: 9.5}", "--format", "csv")
    assert gains == "CG\n6.25\n"
    assert printed("evaluate", "RR", *sources, "-p", "ties=doc_asc", "--compat", "trec10", "--format", "csv") == "RR\n0.75\n"


def test_groupings(sources: list[str]) -> None:
    table = pq.read_table("run.parquet").append_column("a", [["x", "x", "y"]]).append_column("b", [["1", "2", "1"]])
    pq.write_table(table, "run.parquet")

    def rows(*by: str) -> list[str]:
        return printed("evaluate", "num_ret", *sources, "--format", "csv", *(item for name in by for item in ("--by", name))).splitlines()

    assert rows("a") == ["a,num_ret", "x,2.0", "y,1.0"]
    assert rows("a", "b") == rows("a,b") == rows("a, b") == ["a,b,num_ret", "x,1,1.0", "x,2,1.0", "y,1,1.0"]
    assert rows("a,b", "total") == ["a,b,num_ret", ",,3.0", "x,1,1.0", "x,2,1.0", "y,1,1.0"]
    assert rows("total") == ["num_ret", "3.0"]
    assert "twice" in refused("evaluate", "RR", *sources, "--by", "a", "--by", "a")
    for nothing in ("", "a,", ","):
        assert "--by" in refused("evaluate", "RR", *sources, "--by", nothing)


def test_columns_and_database(sources: list[str]) -> None:
    with duckdb.connect("my.duckdb") as connection:
        connection.execute("CREATE TABLE r AS SELECT query_id AS user_id, doc_id AS item, score AS \"it's a score\" FROM 'run.parquet'")
        connection.execute("CREATE TABLE q AS SELECT query_id AS user_id, doc_id AS item, relevance AS stars FROM 'qrels.parquet'")
    columns = ["query_id=user_id", "doc_id=item", "score=it's a score", "relevance=stars"]
    options = [item for column in columns for item in ("--column", column)]
    arguments = ["RR", "--db", "my.duckdb", "--run", "r", "--qrels", "q", *options]
    assert printed("evaluate", *arguments, "--format", "csv") == "RR\n0.75\n"
    with duckdb.connect("my.duckdb", read_only=True) as connection:
        assert connection.execute(printed("sql", *arguments)).fetchall() == [(0.75,)]
    assert sources


def test_metrics() -> None:
    lines = printed("metrics").splitlines()
    assert lines[0].split() == ["name", "family", "parameters", "description"]
    assert any(line.startswith("nDCG ") for line in lines)
    assert len(json.loads(printed("metrics", "--format", "json"))) == len(lines) - 1
    assert "2147483647" not in "\n".join(lines), "the default of a cut-off is all"
    for name in ("nDCG", "ndcg", "nDCG@10"):
        text = printed("metrics", name)
        assert text.startswith("-- nDCG: ")
        assert "GROUP BY list_id" in text
    assert "unknown metric 'foo'" in refused("metrics", "foo")
    assert "cannot read the metric" in refused("metrics", "@@")


def test_help_and_version() -> None:
    assert printed("--version") == f"sqlrank {sqlrank.__version__}\n"
    for arguments in (["-h"], ["--help"], ["evaluate", "-h"], ["sql", "-h"], ["metrics", "-h"]):
        assert "Usage: sqlrank" in " ".join(printed(*arguments).split())


# Real processes


def test_python_m_sqlrank(sources: list[str]) -> None:
    done = shell(f"sqlrank evaluate RR {' '.join(sources)} --format csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"RR\n0.75\n", b"")
    done = shell(f"sqlrank evaluate RRR {' '.join(sources)}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"sqlrank: unknown metric 'RRR'")


@pytest.mark.parametrize(
    "command",
    [
        "metrics --format json | head -1",
        "sql nDCG --run r --qrels q | head -1",
        "evaluate RR {} --format csv | true",
        "evaluate RR {} --format parquet | head -c 4",
    ],
)
def test_a_reader_that_goes_away(command: str, sources: list[str]) -> None:
    done = shell(f"sqlrank {command.format(' '.join(sources))}")
    assert done.stderr == b""


def test_a_long_result_piped_to_head(sources: list[str]) -> None:
    duckdb.sql("COPY (SELECT i AS query_id, 1 AS doc_id, 1 AS score, 1 AS relevance FROM range(100000) t(i)) TO 'long.parquet'")
    done = shell("sqlrank evaluate RR --run long.parquet --qrels long.parquet --per-query --format csv | head -2")
    assert (done.stdout, done.stderr) == (b"query_id,RR\n0,1.0\n", b"")
    assert sources


def test_text_is_utf8_whatever_the_locale(sources: list[str]) -> None:
    for name in ("run", "qrels"):
        table = pq.read_table(f"{name}.parquet")
        pq.write_table(table.set_column(0, "query_id", pa.array(["ü日本"] * table.num_rows)), f"{name}.parquet")
    pq.write_table(pq.read_table("run.parquet").slice(0, 2), "run.parquet")
    pq.write_table(pq.read_table("qrels.parquet").slice(0, 1), "qrels.parquet")
    for form in ("table", "json"):
        done = shell(f"sqlrank evaluate RR {' '.join(sources)} --per-query --format {form}", LC_ALL="C", PYTHONIOENCODING="")
        assert done.returncode == 0, done.stderr
        assert "ü日本".encode() in done.stdout


# The SQL that is printed


METRICS = ["nDCG@10", "AP", "RR", "bpref", "ERR", "RBP", "P@5", "num_q", "num_ret", "infAP", "11pt", "num_unjudged", "SetF"]


def same(statement: str, metrics: Sequence[str], connection: duckdb.DuckDBPyConnection | None = None, **options: Any) -> None:
    """Assert that a statement run on a plain connection gives the rows of evaluate."""
    expected = sqlrank.evaluate(metrics, connection=connection, **options)
    got = (connection or duckdb.connect()).execute(statement).fetchall()
    assert len(got) == expected.num_rows > 0
    keys = sum(not pa.types.is_floating(column.type) for column in expected.columns)
    for row, wanted in zip(got, expected.to_pylist(), strict=True):
        values = list(wanted.values())
        assert list(row[:keys]) == values[:keys]
        assert list(row[keys:]) == pytest.approx(values[keys:], rel=1e-12)


@pytest.mark.parametrize("ending", ["trec", "parquet", "csv"])
@pytest.mark.parametrize("per_query", [False, True])
def test_the_sql_of_files(ending: str, per_query: bool, files: Path) -> None:
    paths = {"run": str(files / f"run.{ending}"), "qrels": str(files / f"qrels.{ending}")}
    options = ["--per-query"] if per_query else []
    same(printed("sql", *METRICS, "--run", paths["run"], "--qrels", paths["qrels"], *options), METRICS, **paths, per_query=per_query)


@pytest.mark.parametrize("options", [{}, {"compat": "trec9"}, {"ties": "doc_asc", "depth": 100}, {"unjudged": "drop"}])
def test_the_sql_of_a_trec_collection(options: dict[str, Any]) -> None:
    paths = {"run": str(TREC / "results.test"), "qrels": str(TREC / "qrels.test")}
    same(sqlrank.sql(METRICS, **paths, **options), METRICS, **paths, **options)


def test_the_sql_stays_on_one_line_per_comment(files: Path) -> None:
    """A name in a comment cannot end it."""
    table = pq.read_table(files / "run.parquet").append_column("x*/ SELECT 1; --\n", [["x", "x", "y"]])
    pq.write_table(table, files / "run.parquet")
    call = {"run": str(files / "run.parquet"), "qrels": str(files / "qrels.parquet"), "by": "x*/ SELECT 1; --\n"}
    same(sqlrank.sql(["RR"], **call), ["RR"], **call)


@pytest.fixture
def tables(run: pa.Table, qrels: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("arrow_run", run.append_column("system", [["x", "x", "y"]]).append_column("a b", [["1", "2", "1"]]))
    connection.register("arrow_qrels", qrels)
    connection.execute("CREATE TABLE runs AS SELECT *, 1 AS rank FROM arrow_run; CREATE TABLE judgements AS FROM arrow_qrels")
    connection.execute("CREATE TABLE lists AS FROM arrow_run; CREATE SCHEMA s; CREATE TABLE s.ranked AS FROM arrow_qrels")
    connection.execute("CREATE TABLE topics AS SELECT DISTINCT query_id, 1.5 AS weight, query_id || 'x' AS country FROM arrow_run")
    connection.execute(
        "CREATE TABLE p AS SELECT r.query_id, r.doc_id, r.score, q.relevance AS label FROM arrow_run r LEFT JOIN arrow_qrels q USING (query_id, doc_id)"
    )
    connection.unregister("arrow_run")
    connection.unregister("arrow_qrels")
    return connection


TABLES = {"run": "runs", "qrels": "judgements"}


@pytest.mark.parametrize("looked_up", [True, False], ids=["connection", "names only"])
@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (METRICS, TABLES),
        (METRICS, {"run": "lists", "qrels": "s.ranked"}),
        (METRICS, TABLES | {"by": "system", "per_query": True}),
        (["RR"], TABLES | {"by": [["system"], ["a b"], []]}),
        (["P@1..3"], TABLES | {"by": "system"}),
        (["RR", "RR(aggregate=quantile, q=0.25)", "RR(aggregate=gmean)"], TABLES | {"by": ["system", "a b"]}),
        (["RR"], TABLES | {"ties": "rank"}),
        (["nDCG", "P@1"], TABLES | {"ties": "expected", "score_type": "float32"}),
        (["RR"], TABLES | {"columns": {"query_id": "doc_id", "doc_id": "query_id"}}),
        (["RR", "num_q"], TABLES | {"queries": "topics", "columns": {"weight": "weight"}}),
        (["RR", "num_unjudged"], {"predictions": "p"}),
        (["RR", "num_unjudged"], {"predictions": "p", "columns": {"label": "label"}}),
        (["RR"], {"predictions": "p", "columns": {"relevance": "label"}}),
    ],
)
def test_the_sql_of_tables(metrics: list[str], options: dict[str, Any], looked_up: bool, tables: duckdb.DuckDBPyConnection) -> None:
    statement = sqlrank.sql(metrics, **options, connection=tables if looked_up else None)
    same(statement, metrics, connection=tables, **options)


def test_the_sql_with_attributes(tables: duckdb.DuckDBPyConnection) -> None:
    options = TABLES | {"queries": "topics"}
    same(sqlrank.sql(["RR"], **options, by="country", connection=tables), ["RR"], connection=tables, **options, by="country")
    same(sqlrank.sql(["RR"], **options, by="queries.country"), ["RR"], connection=tables, **options, by="country")


def test_the_sql_of_what_is_not_a_name(run: pa.Table, qrels: pa.Table) -> None:
    for sources in (
        {"run": run, "qrels": qrels},
        {"run": "", "qrels": "q"},
        {"run": "a; DROP TABLE b", "qrels": "q"},
        {"run": 'a"b', "qrels": "q"},
    ):
        with pytest.raises(sqlrank.InputError, match="run"):
            sqlrank.sql("RR", **sources)


def test_the_sql_of_a_file_that_is_not_there() -> None:
    """Either a message, or a statement that reads the file once it is there; not the table parquet of the schema nope."""
    try:
        text = sqlrank.sql("RR", run="nope.parquet", qrels="nope.csv")
    except sqlrank.InputError as error:
        assert "nope.parquet" in str(error)  # noqa: PT017
    else:
        assert "'nope.parquet'" in text


@pytest.mark.parametrize(
    "dialect", ["bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino", "clickhouse", "datafusion", "sqlite"]
)
def test_every_dialect_writes_every_metric(dialect: str) -> None:
    names = (
        [row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] == "ranking"]
        if dialect in {"bigquery", "sqlite"}
        else ["nDCG", "ERR", "bpref", "G", "AP", "num_rel", "Judged"]
    )
    cut = {"AR", "F", "Judged", "MDCG", "P", "Unj", "num_tied"}
    metrics = [f"{name}@5" if name in cut else f"{name}@0.5" if name == "IPrec" else name for name in names]
    text = printed(
        "sql", *metrics, "--dialect", dialect, "--run", "s.run", "--qrels", "s.qrels", "--by", "system", "--column", "query_id=user id"
    )
    assert text.endswith(";\n")
    assert "$" not in text
    assert "unknown dialect 'oracle'. Choose from: duckdb" in refused("sql", "RR", "--run", "r", "--qrels", "q", "--dialect", "oracle")
