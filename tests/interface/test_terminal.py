"""Output of commands in a terminal: the width of tables, records in narrow ones, colors, and
omitted columns.
"""

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import tokenize

import sqlrank
from sqlrank.cli.commands import EXITS, PARAMETERS_WIDTH, wrap_file
from sqlrank.cli.console import echo_message
from sqlrank.output.display import TextColumn, lay_out
from sqlrank.output.result_formats import Format, TableStyle, format_result
from sqlrank.registry.loader import load_registry
from tests.interface.command_line import (
    CODES,
    ROOT,
    TREC,
    load_command,
    print_in_terminal,
    run_command,
    run_in,
)
from tests.lanes import select_few
from tests.tables import build_table, read_columns

WIDTHS = (60, 80, 100, 140)
SMALL = ROOT / "examples" / "data" / "small"
IMPRESSIONS = ROOT / "examples" / "data" / "open_bandit" / "impressions.parquet"

RANKING = ["--run", TREC / "results.test", "--qrels", TREC / "qrels.rel_level"]
SYSTEMS = [
    "--run",
    f"full={TREC / 'results.test'}",
    "--run",
    f"trunc={TREC / 'results.trunc'}",
    *RANKING[2:],
]
SCORES = [
    "--predictions", IMPRESSIONS, "--column", "label=click", "--column", "score=score_logistic",
    "--column", "score=score_boosting",
]  # fmt: skip
ONE_SCORE = SCORES[:6]
CALLS = {
    "evaluate": ["evaluate", "nDCG@10", "AP", "RR", "P@5", "num_rel", *RANKING],
    "evaluate wide": [
        "evaluate",
        "nDCG@10",
        "AP",
        "RR",
        "P@5",
        "R@1000",
        "Rprec",
        "bpref",
        "num_rel",
        "Success@10",
        *SYSTEMS,
        "--per-query",
    ],
    "evaluate one interval": ["evaluate", "nDCG@10", "--confidence", "0.95", *RANKING],
    "evaluate intervals": [
        "evaluate",
        "AUC",
        "LogLoss",
        "CalibrationRatio",
        "Positives",
        "--confidence",
        "0.95",
        *SCORES,
    ],
    "evaluate curve": ["evaluate", "ROC(points=10)", *SCORES],
    "compare": ["compare", "AUC", "LogLoss", "CalibrationRatio", *SCORES],
    "compare queries": ["compare", "nDCG@10", "AP", *SYSTEMS, "--per-query"],
    "gate": ["gate", "nDCG@10", "AP", "--min-units", "2", *SYSTEMS],
    "experiment": [
        "experiment",
        "Mean(click)",
        "--data",
        IMPRESSIONS,
        "--variant",
        "policy",
        "--unit",
        "impression_id",
        "--control",
        "random",
    ],
    "rollup": ["rollup", "AUC", "LogLoss", "--n-bins", "4", *ONE_SCORE],
    "power": ["power", "--sd", "0.12", "--num-units", "50"],
    "drift": [
        "drift",
        "AUC",
        "--rollup",
        "ROLLUP",
        "--reference",
        "campaign = 'men'",
        "--current",
        "campaign = 'women'",
    ],
    "split": ["split", SMALL / "numbers.csv", "--key", "query_id", "--salt", "a", "--folds", "3"],
    "learn": [
        "learn",
        SMALL / "numbers.csv",
        "-k",
        "1",
        "--max-iter",
        "2",
        "--column",
        "label=CAST(label > 2 AS INT)",
        "--column",
        "features=score",
    ],
    "explain": ["explain", "nDCG@3", "--query", "301", "--max-rows", "3", *RANKING],
    "metrics": ["metrics", "sliding window"],
}
STATEMENTS = read_columns(sql="sql nDCG@10 AP --run r --qrels q", functions="functions nDCG@k")
FILES = {"chart": ["chart", "ROC", *ONE_SCORE], "report": ["report", "P@5", *RANKING]}
"""Commands that write a file and say where."""


@pytest.fixture(scope="module")
def rollup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rollup") / "rollup.parquet"
    run_command("rollup", "AUC", *ONE_SCORE, "--by", "campaign", "--n-bins", "64", "-o", path)
    return path


@cache
def print_in_pipe(name: str, rollup: Path) -> str:
    return run_in(io.StringIO(), list_arguments(name, rollup), io.StringIO())


def list_arguments(name: str, rollup: Path) -> list[str]:
    return [str(rollup if word == "ROLLUP" else word) for word in CALLS[name]]


@pytest.fixture(params=select_few(WIDTHS, [80]))
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return int(request.param)


@pytest.mark.parametrize("name", select_few(CALLS, ["evaluate intervals", "gate"]))
def test_numbers_and_names_are_never_broken(name, width, rollup):
    piped = print_in_pipe(name, rollup)
    shown = CODES.sub("", print_in_terminal(list_arguments(name, rollup)))
    assert "\x1b" not in piped
    words = {
        *piped.split(),
        *[
            "In", "every", "row:", "=", "Empty:", "more", "column", "columns", "with",
            "--format", "csv", "<0.0001", "A", "B", "A:", "B:",
        ],
    }  # fmt: skip
    words |= {f"{word}{mark}" for word in piped.split() for mark in ",."}
    unknown = [word for word in shown.split() if word not in words and word.strip("0123456789")]
    assert unknown == [], "a part of a number or a name"
    too_long = [
        line for line in shown.splitlines() if len(line) > width and not line.startswith("    ")
    ]
    assert not [line for line in too_long if len(line.split()) > 2 and not is_prose_of_steps(line)]
    if name != "metrics":  # of which more columns are piped than shown
        # A metric that is a title has no heading, and a column of NULL alone is left out.
        assert set(piped.split()) <= {word.rstrip(",.") for word in shown.split()} | set(
            shown.split()
        ) | {"metric", "NULL"}


def test_tasks_and_metrics_are_never_broken(width, monkeypatch):
    shown = CODES.sub("", print_in_terminal(["metrics"]))
    monkeypatch.setenv("COLUMNS", "400")
    titles = {"name", "family", "parameters", "description"}
    wide = CODES.sub("", print_in_terminal(["metrics"]))
    if width >= PARAMETERS_WIDTH:
        assert {*shown.split()} - titles == {*wide.split()} - titles
    else:
        assert shown.endswith("1 more column with --format csv\n")
        assert {*sqlrank.metrics()["name"].to_pylist()} <= {*shown.split()}
    assert [
        line for line in shown.splitlines() if len(line) > width and len(line.split()) > 2
    ] == []


def test_every_command_is_tried_in_a_terminal():
    tried = {str(call[0]) for call in CALLS.values()} | STATEMENTS.keys() | FILES.keys()
    assert tried == load_command().commands.keys()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_are_the_same_in_a_terminal_as_in_a_pipe(name, width):
    arguments = [str(word) for word in STATEMENTS[name]]
    assert print_in_terminal(arguments) == run_in(io.StringIO(), arguments, io.StringIO()) != ""
    assert width


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_written_paths_are_never_broken(name, width, tmp_path):
    path = tmp_path / f"a_name_that_is_longer_than_the_terminal_{'_' * 100}.html"
    shown = print_in_terminal([*map(str, FILES[name]), "-o", str(path)], is_error_shown=True)
    assert CODES.sub("", shown).splitlines()[-1].endswith(f"wrote {path}")
    assert path.stat().st_size > width


def is_prose_of_steps(line: str) -> bool:
    """Return True for lines of an explanation that are not in its tables: titles of steps and
    expressions.
    """
    return ": One row per " in line or " = " in line


@pytest.mark.slow
def test_one_metric_with_its_interval_is_a_row(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = CODES.sub(
        "", print_in_terminal([str(word) for word in CALLS["evaluate one interval"]])
    ).splitlines()
    assert [line.split() for line in lines] == [
        ["metric", "value", "interval"],
        ["nDCG@10", "0.2656", "0.0116", "to", "0.9180"],
        ["3", "queries,", "intervals", "at", "95%."],
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_color_says_who_wins_and_what_fails(variables, monkeypatch, rollup):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in ({"TERM": "xterm", "COLUMNS": "200"} | variables).items():
        monkeypatch.setenv(name, value)
    shown = print_in_terminal(list_arguments("compare", rollup))
    assert ("\x1b[32mscore_boosting\x1b[0m" in shown) is (not variables)
    assert bool(CODES.search(shown)) is (not variables)
    verdict = print_in_terminal(list_arguments("gate", rollup)).splitlines()[0]
    assert CODES.sub("", verdict) in {f"verdict: {word}" for word in EXITS}
    assert bool(CODES.search(verdict)) is (not variables)


def test_a_terminal_that_cannot_erase_has_no_progress_bar(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    shown = print_in_terminal(
        [str(word) for word in CALLS["evaluate one interval"]], is_error_shown=True
    )
    assert not CODES.search(shown)
    assert shown.splitlines()[0].split()[:2] == ["metric", "value"]


def test_layout_of_sentences_wide_characters_and_long_names():
    columns = [
        TextColumn("名前", ["検索", "b"]),
        TextColumn("n", ["1", "22"], is_number=True),
        TextColumn("reason", ["the interval extends beyond the tolerance", "x"]),
    ]
    assert lay_out(columns, 38).splitlines() == [
        "名前   n  reason",
        "検索   1  the interval extends beyond",
        "          the tolerance",
        "b     22  x",
    ]
    assert lay_out(columns, 30).splitlines() == [
        "名前    検索", "n        1", "reason  the interval extends",
        "        beyond the tolerance", "", "名前    b", "n       22", "reason  x",
    ]  # fmt: skip
    long_name = "a_name_that_is_longer_than_the_terminal"
    assert lay_out([TextColumn("name", [long_name])], 20) == f"name  {long_name}\n"
    assert lay_out([TextColumn("name", [])], 20) == "name\n"
    assert lay_out([TextColumn("name", [])], 2) == ""


def test_names_that_do_not_fit_become_letters_below_the_table():
    columns = [
        TextColumn("system", ["a_hybrid_retriever", "A", "bm25_with_expansion"]),
        TextColumn("metric", ["a_metric_of_long_name", "AP", "AP"]),
        TextColumn("value", ["0.5", "0.25", "1"], is_number=True),
    ]
    assert lay_out(columns, 40).splitlines() == [
        "system  metric                 value",
        "B       a_metric_of_long_name    0.5",
        "A       AP                      0.25",
        "C       AP                         1",
        "B: a_hybrid_retriever",
        "C: bm25_with_expansion",
    ]
    # Columns of names alone that do not fit are records.
    assert lay_out(columns[:2] * 2, 20).startswith("system  a_hybrid_retriever\n")
    # Names of rows may be as long as sentences.
    columns[0] = replace(columns[0], cells=["Automotive accessories and parts", "A", "A"])
    lines = lay_out(columns, 40).splitlines()
    assert (lines[1].split()[0], lines[-1]) == ("B", "B: Automotive accessories and parts")


def test_notes_keep_names_with_their_values_and_list_empty_texts():
    rows = {
        "name": ["a", "b"],
        "family": ["command"] * 2,
        "parameters": [""] * 2,
        "num_rows": [3] * 2,
    }
    assert format_result(pa.table(rows), Format.table, TableStyle(), 28).splitlines()[-4:] == [
        "In every row:",
        "family = command,",
        "num_rows = 3. Empty:",
        "parameters",
    ]
    columns = [TextColumn("name", ["a" * 9, "b"]), TextColumn("parameters", ["", "beta=1"])]
    assert lay_out(columns, 12).splitlines() == [
        "name        aaaaaaaaa",
        "",
        "name        b",
        "parameters  beta=1",
    ]


def test_columns_of_data_have_decimals_in_every_row_or_none():
    table = build_table(score="1.0 2.5 3.0", label="1.0 2.0 3.0")
    lines = format_result(table, Format.table, TableStyle()).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["1.0000", "1"],
        ["2.5000", "2"],
        ["3.0000", "3"],
    ]
    values = build_table(metric="num_rel AP", value="3.0 0.5")
    assert [
        line.split()[1]
        for line in format_result(values, Format.table, TableStyle()).splitlines()[1:]
    ] == ["3", "0.5000"]


def test_numbers_have_one_form():
    table = build_table(query_id="123456 2", n_units="40000 3", num_rel="1564.0 2.0", weight="1022.933 0.5", difference="-0.00001 -1e-300", p_value="1e-9 0.5")  # fmt: skip
    assert [
        line.split() for line in format_result(table, Format.table, TableStyle()).splitlines()[1:]
    ] == [
        ["123456", "40,000", "1,564", "1,022.9330", "-0.00001", "<0.0001"],
        ["2", "3", "2", "0.5000", "0.0000", "0.5000"],
    ]
    assert "| 40,000 |" in format_result(table.select(["n_units"]), Format.markdown, TableStyle())


def test_integers_among_fractions_of_a_metric_have_decimals():
    run = read_columns(q1="a b", q2="b c", q3="a b c")
    result = sqlrank.evaluate(
        ["DCG@3", "num_ret"],
        run=run,
        qrels={"q1": {"b": 4}, "q2": {"b": 3}, "q3": {"c": 1}},
        per_query=True,
    )
    lines = [
        line.split() for line in format_result(result, Format.table, TableStyle()).splitlines()[1:]
    ]
    assert lines == [["q1", "2.5237", "2"], ["q2", "3.0000", "2"], ["q3", "0.5000", "3"]]


def test_a_group_alone_is_a_row_and_metrics_alone_are_a_column():
    data = build_table(g="x x", label="1 0", score="0.9 0.1")
    metrics = ["AUC", "LogLoss", "Brier", "APS", "Positives"]
    grouped = format_result(
        sqlrank.evaluate(metrics, predictions=data, by="g"), Format.table, TableStyle()
    )
    assert grouped.splitlines()[0].split() == ["g", *metrics]
    alone = format_result(sqlrank.evaluate(metrics, predictions=data), Format.table, TableStyle())
    assert [line.split()[0] for line in alone.splitlines()] == ["metric", *metrics]


@pytest.mark.slow
def test_a_real_terminal_decides_the_width():
    for columns, first in (
        (60, ["AUC"]),
        (140, ["metric", "score_logistic", "score_boosting", "difference"]),
    ):
        header = CODES.sub("", _run_in_process(columns, CALLS["compare"])).splitlines()[0]
        assert header.split()[: len(first)] == first


def _run_in_process(columns: int, arguments: list[object]) -> str:
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in {"COLUMNS", "LINES", "NO_COLOR"}
    }
    words = [sys.executable, "-m", "sqlrank", *map(str, arguments)]
    process = subprocess.Popen(
        words, stdout=writer, stderr=subprocess.DEVNULL, cwd=ROOT, env=variables
    )
    os.close(writer)
    pieces = []
    with contextlib.suppress(OSError):
        while piece := os.read(reader, 65536):
            pieces.append(piece)
    os.close(reader)
    assert process.wait() == 0
    return b"".join(pieces).decode()


def test_many_rows_that_do_not_fit_are_shown_in_parts():
    """A record per row would take a screen for a few rows. Sentences are wrapped in records
    only.
    """
    rows = [str(number) for number in range(11)]
    columns = [
        TextColumn("point", rows, is_number=True),
        *(TextColumn(name * 10, ["0.1234"] * 11, is_number=True) for name in "abc"),
    ]
    first, second = lay_out(columns, 30).split("\n\n")
    assert [line.split() for line in first.splitlines()][:2] == [
        ["point", "a" * 10, "b" * 10],
        ["0", "0.1234", "0.1234"],
    ]
    assert [line.split() for line in second.splitlines()][-1] == ["10", "0.1234"]
    assert lay_out(columns, 16).startswith("point            0\n")
    alone = [TextColumn(column.name, column.cells[:1], is_number=True) for column in columns]
    sentences = TextColumn("reason", ["the interval extends beyond the tolerance"] * 11)
    assert lay_out(alone, 30).startswith("point            0\n")
    assert lay_out([*columns, sentences], 30).startswith("point            0\n")


def test_each_line_of_a_message_is_wrapped_by_itself(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    echo_message("sqlrank: 2 rows have no label at all\n    label=1.0, score=2.5\n    label=0")
    assert capsys.readouterr().err.splitlines() == [
        "sqlrank: 2 rows have no",
        "  label at all",
        "    label=1.0, score=2.5",
        "    label=0",
    ]


def test_points_of_a_curve_with_equal_values_keep_them():
    clusters = read_columns(
        record_id="1 2 3 4", predicted_cluster="1 1 2 2", true_cluster=[*"abab"]
    )
    errors = sqlrank.evaluate("ClusterErrors", inputs={"records": build_table(**clusters)})
    text = format_result(errors, Format.table, TableStyle(), 80)
    assert text.split("\n")[0].split() == [*errors.column_names]
    assert "In every row" not in text


@pytest.mark.parametrize("kind", ["metrics", "curves"])
def test_sql_of_a_narrow_terminal_is_that_of_the_file(kind):
    """A comment at the end of a line, wrapped to the next one, would be no comment there."""
    for file in getattr(load_registry(), kind).values():
        wrapped = "\n".join(wrap_file(file.text, 60))
        assert [token.text for token in tokenize(wrapped)] == [
            token.text for token in tokenize(file.text)
        ], file.name
