"""The command line: formats, options, exit statuses, and output to each stream."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.command_line import (
    ROOT,
    TREC,
    invoke_command,
    run_command,
    run_refused_command,
)
from tests.lanes import select_few
from tests.tables import build_table


def run_shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
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


def test_a_table(sources):
    assert run_command("evaluate", "RR", "P@1", *sources) == "    RR     P@1\n0.7500  0.5000\n"
    assert (
        run_command("evaluate", "RR", *sources, "--per-query")
        == "query_id      RR\nq1        0.5000\nq2        1.0000\n"
    )


def test_markdown(sources):
    assert run_command(
        "evaluate", "RR", *sources, "--per-query", "--format", "markdown"
    ).splitlines() == ["| query_id | RR |", "| :--- | ---: |", "| q1 | 0.5000 |", "| q2 | 1.0000 |"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", select_few(["csv", "json", "jsonl", "parquet"], ("csv", "parquet"))
)
@pytest.mark.parametrize("to_file", select_few([False, True], 1))
def test_formats_for_machines_keep_every_digit(form, to_file, tmp_path):
    metrics = ["nDCG", "AP", "ERR", "num_ret"]
    expected = sqlrank.evaluate(
        metrics, run=TREC / "results.test", qrels=TREC / "qrels.test", per_query=True, threads=1
    ).to_pylist()
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
        assert run_command(*arguments, "-o", tmp_path / "out") == ""
        data = (tmp_path / "out").read_bytes()
    else:
        result = invoke_command(*arguments)
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
        got = (
            json.loads(data) if form == "json" else [json.loads(line) for line in data.splitlines()]
        )
    assert got == expected


def test_undefined_values(sources):
    arguments = [
        "evaluate",
        "bpref",
        "RR",
        *sources,
        "--policy",
        "if_undefined=null",
        "--column",
        "relevance=zero",
    ]
    pq.write_table(pq.read_table("qrels.parquet").append_column("zero", [[0, 0]]), "qrels.parquet")
    assert json.loads(run_command(*arguments, "--format", "json")) == [{"bpref": None, "RR": None}]
    assert run_command(*arguments, "--format", "csv") == "bpref,RR\n,\n"
    assert run_command(*arguments).splitlines()[1].split() == ["NULL", "NULL"]
    assert invoke_command(*arguments, "--format", "parquet").exit_code == 0
    assert (
        invoke_command(*arguments).stderr
        == "note: bpref, RR are NULL (undefined: a query without relevant documents)\n"
    )


def test_odd_ids_in_every_format(sources):
    odd = ['a|b,"c"\n[red]', "ü日本"]
    for name in ("run", "qrels"):
        table = pq.read_table(f"{name}.parquet")
        ids = pa.array([odd[int(item.as_py() == "q2")] for item in table["query_id"]])
        pq.write_table(table.set_column(0, "query_id", ids), f"{name}.parquet")
    arguments = ["evaluate", "RR", *sources, "--per-query", "--format"]
    assert [row["query_id"] for row in json.loads(run_command(*arguments, "json"))] == odd
    assert [
        json.loads(line)["query_id"] for line in run_command(*arguments, "jsonl").splitlines()
    ] == odd
    assert [
        row["query_id"]
        for row in csv.DictReader(io.StringIO(run_command(*arguments, "csv"), newline=""))
    ] == odd
    assert "[red]" in run_command(*arguments, "table")
    assert all(
        line.count("|") - line.count("\\|") == 3
        for line in run_command(*arguments, "markdown").splitlines()
    )


def test_ids_that_json_does_not_know(sources):
    duckdb.sql(
        "COPY (SELECT DATE '2024-01-01' AS query_id, 'a' AS doc_id, 1 AS score, 1 AS relevance) TO"
        " 'dates.parquet'"
    )
    (row,) = json.loads(
        run_command(
            "evaluate RR --run dates.parquet --qrels dates.parquet --per-query --format json"
        )
    )
    assert row == {"query_id": "2024-01-01", "RR": 1.0}
    assert sources


def test_output_files(sources, tmp_path):
    assert f"there is no folder {tmp_path}/no. Make it" in run_refused_command(
        "evaluate", "RR", *sources, "-o", tmp_path / "no" / "out.csv"
    )
    result = invoke_command("evaluate", "RR", *sources, "-o", tmp_path / "out.parquet")
    assert result.exit_code == 2 or pq.read_table(tmp_path / "out.parquet").to_pylist() == [
        {"RR": 0.75}
    ], "the ending says Parquet"


# What is wrong goes to standard error, with status 2


def test_an_option_without_a_value_is_no_unknown_one():
    assert "Option '--run' requires an argument." in run_refused_command("evaluate RR --run")


def test_no_sources_are_named_as_options():
    message = run_refused_command("evaluate", "RR")
    assert "--run" in message
    assert "--qrels" in message


def test_wrong_data(sources):
    table = pq.read_table("run.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), "run.parquet")
    assert "run (run.parquet): (query_id, doc_id) occurs more than once" in run_refused_command(
        "evaluate", "RR", *sources
    )
    assert run_command("evaluate", "RR", *sources, "--check", "off")


def test_columns_of_other_names_are_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql("COPY (SELECT 1 AS qid, 'a' AS docno, 0.5 AS sim, 'bm25' AS model) TO 'run.csv'")
    duckdb.sql("""COPY (SELECT 1 AS "query-id", 'a' AS "corpus-id", 2 AS score) TO 'qrels.csv'""")
    lines = run_refused_command("evaluate RR --run run.csv --qrels qrels.csv").splitlines()
    mappings = [re.findall(r"--column [\w.-]+=(?!1 )[\w-]+", line) for line in lines]
    assert mappings == [
        ["--column run.query_id=qid", "--column run.doc_id=docno", "--column score=sim"],
        [
            "--column qrels.query_id=query-id",
            "--column qrels.doc_id=corpus-id",
            "--column relevance=score",
        ],
    ]
    assert (
        "no columns 'query_id', 'doc_id', 'score'. Did you mean 'qid', 'docno', 'sim'? Say which"
        " they are with --column" in lines[0]
    )
    arguments = [word for mapping in mappings for option in mapping for word in option.split()]
    assert run_command(
        "evaluate", "RR", "--run", "run.csv", "--qrels", "qrels.csv", *arguments
    ).split() == ["RR", "1.0000"]
    twice = (
        "SELECT * FROM READ_CSV('run.csv') UNION ALL SELECT * REPLACE ('dense' AS model) FROM"
        " READ_CSV('run.csv')"
    )
    message = run_refused_command(
        "evaluate", "RR", "--run", twice, "--qrels", "qrels.csv", *arguments
    )
    assert (
        "Keep one row of each, name the column that tells systems apart in --by, or give --policy"
        " duplicates=max" in message
    )


def test_types_that_cannot_be_evaluated_are_cast(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql(
        "COPY (SELECT UNNEST(['1', '0']) AS clicked, UNNEST([0.5, 0.25]) AS score, 'x' AS campaign)"
        " TO 'clicks.parquet'"
    )
    arguments = ["evaluate", "AUC", "--predictions", "clicks.parquet"]
    message = run_refused_command(*arguments, "--column", "label=clicked")
    assert (
        "If its texts are numbers, give --column label='CAST(clicked AS DOUBLE)', or map another column to label"
        in message
    )
    arguments += ["--column", "label=CAST(clicked AS DOUBLE)"]
    assert run_command(*arguments).split() == ["AUC", "1.0000"]
    message = run_refused_command(*arguments, "--where", "campaign = x")
    assert (
        "--where: the input has no column 'x'. A text is written in single quotes, as in"
        " campaign = 'x'. There are: clicked, score, campaign" in message
    )
    assert run_command(*arguments, "--where", "campaign = 'x'").split()[0] == "AUC"


def test_printed_statements_refuse_broken_expressions_and_dates_without_quotes():
    call = ["sql", "AUC", "--dialect", "bigquery", "--predictions", "ads.clicks"]
    message = run_refused_command(*call, "--by", "day=DATE_TRUNC(ts, DAY")
    assert (
        "'DATE_TRUNC(ts, DAY' is no expression over columns in the SQL of bigquery. Check its"
        " brackets, or quote the name" in message
    )
    for text in ("clicked AND", "clicked >", "NOT clicked OR", "CASE WHEN clicked THEN 1"):
        message = run_refused_command(*call, "--column", f"label={text}")
        assert (
            f"'{text}' is no expression over columns in the SQL of bigquery. Finish it, or quote"
            " the name of a column" in message
        )
    assert "`in stock`" in run_command(*call, "--column", "label=in stock")
    assert "`clicked AND`" in run_command(*call, "--column", "label=`clicked AND`")
    message = run_refused_command(*call, "--by", "DATE(ts)")
    assert (
        "--by: 'DATE(ts)' is an expression without a name. Write --by 'name=DATE(ts)', or quote the"
        " name of a column" in message
    )
    message = run_refused_command(*call, "--where", "day > 2026-03-01")
    assert (
        "--where: 2026-03-01 is a difference of numbers. Write a date in single quotes,"
        " '2026-03-01'" in message
    )
    assert "`day` > '2026-03-01'" in run_command(*call, "--where", "day > '2026-03-01'")


def test_columns_of_one_grouping_have_one_option_or_several(tmp_path):
    duckdb.sql(
        "COPY (SELECT 1 AS label, 0.5 AS score, 'mon' AS day, 'x' AS campaign) TO"
        f" '{tmp_path / 'clicks.parquet'}'"
    )
    rollup = ["rollup", "Brier", "--predictions", tmp_path / "clicks.parquet", "--format", "csv"]
    assert run_command(*rollup, "--by", "day,campaign") == run_command(
        *rollup, "--by", "day", "--by", "campaign"
    )
    assert "--by 'day,': a column has no name. Write --by a or --by a,b" in run_refused_command(
        *rollup, "--by", "day,"
    )


def test_what_the_search_for_duplicates_left_out_is_noted(sources, monkeypatch):
    monkeypatch.setattr("sqlrank.inputs.row_checks.FULL_DUPLICATE_SEARCH_ROWS", 1)
    result = invoke_command("evaluate", "RR", *sources, "--format", "csv")
    assert (result.exit_code, result.stdout) == (0, "RR\n0.75\n")
    assert "--check full searches all" in result.stderr
    assert invoke_command("evaluate", "RR", *sources, "--check", "full").stderr == ""


# Options


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [["-p", "queries=judged_and_retrieved"], ["--policy", "queries='judged_and_retrieved'"]]
)
def test_the_policy_queries(form, sources):
    pq.write_table(build_table(query_id="q1 q9", doc_id="b b", relevance="1 1"), "qrels.parquet")
    assert run_command("evaluate", "RR", *sources, "--format", "csv") == "RR\n0.25\n"
    assert run_command("evaluate", "RR", *sources, *form, "--format", "csv") == "RR\n0.5\n"
    assert "JOIN" in run_command("sql", "RR", *sources, *form)


def test_policies(sources):
    assert (
        run_command(
            "evaluate", "RR", *sources, "-p", "depth=1", "--policy", "rel=2", "--format", "csv"
        )
        == "RR\n0.5\n"
    )
    gains = run_command("evaluate", "CG", *sources, "-p", "gain={1: 3, 2: 9.5}", "--format", "csv")
    assert gains == "CG\n6.25\n"
    assert (
        run_command(
            "evaluate",
            "RR",
            *sources,
            "-p",
            "ties=doc_asc",
            "--compat",
            "trec10",
            "--format",
            "csv",
        )
        == "RR\n0.75\n"
    )


@pytest.mark.slow
def test_groupings(sources):
    table = (
        pq.read_table("run.parquet")
        .append_column("a", [["x", "x", "y"]])
        .append_column("b", [["1", "2", "1"]])
    )
    pq.write_table(table, "run.parquet")

    def rows(*by):
        return run_command(
            "evaluate",
            "num_ret",
            *sources,
            "--format",
            "csv",
            *(item for name in by for item in ("--by", name)),
        ).splitlines()

    assert rows("a") == ["a,num_ret", "x,2.0", "y,1.0"]
    assert (
        rows("a", "b")
        == rows("a,b")
        == rows("a, b")
        == ["a,b,num_ret", "x,1,1.0", "x,2,1.0", "y,1,1.0"]
    )
    assert rows("a,b", "total") == [
        "a,b,slice,num_ret",
        ",,all,3.0",
        *(f'{row},"a,b",1.0' for row in ("x,1", "x,2", "y,1")),
    ]
    assert rows("total") == ["num_ret", "3.0"]
    assert "twice" in run_refused_command("evaluate", "RR", *sources, "--by", "a", "--by", "a")
    for nothing in ("", "a,", ","):
        assert "--by" in run_refused_command("evaluate", "RR", *sources, "--by", nothing)


def test_columns_and_database(sources):
    with duckdb.connect("my.duckdb") as connection:
        connection.execute(
            "CREATE TABLE r AS SELECT query_id AS user_id, doc_id AS item, score AS \"it's a"
            " score\" FROM 'run.parquet'"
        )
        connection.execute(
            "CREATE TABLE q AS SELECT query_id AS user_id, doc_id AS item, relevance AS stars FROM"
            " 'qrels.parquet'"
        )
    columns = ["query_id=user_id", "doc_id=item", "score=it's a score", "relevance=stars"]
    options = [item for column in columns for item in ("--column", column)]
    arguments = ["RR", "--db", "my.duckdb", "--run", "r", "--qrels", "q", *options]
    assert run_command("evaluate", *arguments, "--format", "csv") == "RR\n0.75\n"
    with duckdb.connect("my.duckdb", read_only=True) as connection:
        assert connection.execute(run_command("sql", *arguments)).fetchall() == [(0.75,)]
    assert sources


def test_metrics():
    lines = run_command("metrics").splitlines()
    assert lines[0].split() == ["name", "family", "parameters", "description"]
    assert any(line.startswith("nDCG ") for line in lines)
    assert len(json.loads(run_command("metrics --format json"))) == len(lines) - 1
    assert "2147483647" not in "\n".join(lines), "the default of a cut-off is all"
    for name in ("nDCG", "ndcg", "nDCG@10"):
        text = run_command("metrics", name)
        assert text.startswith("-- nDCG: ")
        assert "GROUP BY list_id" in text
    names = sqlrank.metrics()["name"].to_pylist()
    assert {"AUC@10", "Mean(column)", "Mean(predictions.column)"} <= {*names}
    assert [name for name in names if sqlrank.parse(name).name != re.split(r"[@(]", name)[0]] == []
    assert run_command("metrics", "Mean(predictions.column)").startswith("-- Mean of predictions: ")
    assert "unknown metric 'foo'" in run_refused_command("metrics", "foo")
    assert "cannot read the metric" in run_refused_command("metrics", "@@")


def test_numbers_of_what_a_command_has_written_are_words_of_a_sentence(tmp_path):
    (tmp_path / "p.csv").write_text("label,score\n1,0.5\n0,0.5\n")
    database = tmp_path / "my.duckdb"
    done = invoke_command("functions", "AUC", "--db", database)
    assert (done.exit_code, done.stderr) == (0, f"installed 1 function in {database}\n")
    done = invoke_command(
        "rollup", "AUC", "--predictions", tmp_path / "p.csv", "--db", database, "--insert", "daily"
    )
    assert (done.exit_code, done.stderr) == (0, "inserted 1 row into daily\n")


def test_help_and_version():
    assert run_command("--version") == f"sqlrank {sqlrank.__version__}\n"
    for arguments in (["-h"], ["--help"], ["evaluate", "-h"], ["sql", "-h"], ["metrics", "-h"]):
        assert "Usage: sqlrank" in " ".join(run_command(*arguments).split())


# Real processes


@pytest.mark.slow
def test_python_m_sqlrank(sources):
    done = run_shell(f"sqlrank evaluate RR {' '.join(sources)} --format csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"RR\n0.75\n", b"")
    done = run_shell(f"sqlrank evaluate RRR {' '.join(sources)}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"sqlrank: unknown metric 'RRR'")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "metrics --format json | head -1",
        "sql nDCG --run r --qrels q | head -1",
        "evaluate RR {} --format csv | true",
        "evaluate RR {} --format parquet | head -c 4",
    ],
)
def test_a_reader_that_goes_away(command, sources):
    done = run_shell(f"sqlrank {command.format(' '.join(sources))}")
    assert done.stderr == b""


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize(
    "command",
    [
        "evaluate RR {}", "evaluate RR {} --format parquet", "sql RR --run r --qrels q",
        "metrics", "--version",
    ],
)  # fmt: skip
def test_streams_that_are_closed(command, closed, sources):
    done = run_shell(f"sqlrank {command.format(' '.join(sources))} {closed}")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_a_long_result_piped_to_head(sources):
    duckdb.sql(
        "COPY (SELECT i AS query_id, 1 AS doc_id, 1 AS score, 1 AS relevance FROM range(100000)"
        " t(i)) TO 'long.parquet'"
    )
    done = run_shell(
        "sqlrank evaluate RR --run long.parquet --qrels long.parquet --per-query --format csv |"
        " head -2"
    )
    assert (done.stdout, done.stderr) == (b"query_id,RR\n0,1.0\n", b"")
    assert sources


@pytest.mark.slow
def test_text_is_utf8_whatever_the_locale(sources):
    for name in ("run", "qrels"):
        table = pq.read_table(f"{name}.parquet")
        pq.write_table(
            table.set_column(0, "query_id", pa.array(["ü日本"] * table.num_rows)), f"{name}.parquet"
        )
    pq.write_table(pq.read_table("run.parquet").slice(0, 2), "run.parquet")
    pq.write_table(pq.read_table("qrels.parquet").slice(0, 1), "qrels.parquet")
    for form in ("table", "json"):
        done = run_shell(
            f"sqlrank evaluate RR {' '.join(sources)} --per-query --format {form}",
            LC_ALL="C",
            PYTHONIOENCODING="",
        )
        assert done.returncode == 0, done.stderr
        assert "ü日本".encode() in done.stdout
