"""Results printed by the command: rows, order, digits and formats."""

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.output.display import format_system_table
from sqlrank.output.result_formats import Format, TableStyle, format_result
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_info import better_direction
from sqlrank.result_columns import POWER_SCHEMA
from tests.interface.command_line import ROOT, run_command, run_refused_command
from tests.tables import build_table

CALL = ["evaluate", "RR", "P@1", "num_ret", "--run", "run.parquet", "--qrels", "qrels.parquet"]


@pytest.fixture(autouse=True)
def _here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)


def print_rows(*arguments: str) -> list[str]:
    return run_command(*CALL, "--format", "csv", *arguments).splitlines()[1:]


@pytest.mark.slow
def test_the_total_below_the_queries():
    assert print_rows("--per-query", "--with-total") == [
        "q1,0.5,0.0,2.0",
        "q2,1.0,1.0,1.0",
        "all,0.75,0.5,3.0",
    ]
    assert run_command(*CALL, "--per-query", "--with-total").splitlines()[-1].split() == [
        "all",
        "0.7500",
        "0.5000",
        "3",
    ]
    assert "--with-total is for --per-query" in run_refused_command(*CALL, "--with-total")
    for name in ("run", "qrels"):
        table = pq.read_table(f"{name}.parquet")
        numbers = pa.array([int(text.as_py()[1:]) for text in table["query_id"]])
        pq.write_table(
            table.set_column(0, "query_id", numbers).append_column("s", [["x"] * table.num_rows]),
            f"{name}.parquet",
        )
    assert print_rows("--per-query", "--with-total", "--by", "s") == [
        "x,1,0.5,0.0,2.0",
        "x,2,1.0,1.0,1.0",
        "x,all,0.75,0.5,3.0",
    ]
    swept = run_command(
        "evaluate", "P@1..2", *CALL[4:], "--per-query", "--with-total", "--format", "csv"
    ).splitlines()
    assert swept == [
        "query_id,k,P@1..2", "1,1,0.0", "1,2,0.5", "2,1,1.0", "2,2,0.5", "all,1,0.5",
        "all,2,0.5",
    ]  # fmt: skip


@pytest.mark.slow
def test_rows_in_order_and_the_first_of_them():
    queries = ["q1,0.5,0.0,2.0", "q2,1.0,1.0,1.0"]
    assert (
        print_rows("--per-query", "--sort", "RR")
        == print_rows("--per-query", "--sort", "mrr")
        == queries[::-1]
    ), "best first"
    assert (
        print_rows("--per-query", "--sort=-RR")
        == print_rows("--per-query", "--sort", "-RR")
        == queries
    )
    assert (
        print_rows("--per-query", "--sort", "query_id")
        == print_rows("--per-query", "--sort", "num_ret")
        == queries
    )
    assert print_rows("--per-query", "--sort=-query_id") == queries[::-1]
    assert print_rows("--per-query", "--top", "9" * 20) == print_rows("--per-query")
    assert print_rows("--per-query", "--sort", "RR", "--top", "1", "--with-total") == [
        queries[1],
        "all,0.75,0.5,3.0",
    ]
    message = run_refused_command(*CALL, "--per-query", "--sort", "nope")
    assert (
        "--sort: the result has no column 'nope' There are: query_id, RR, P@1, num_ret"
        in message.replace(".", "")
    )
    pq.write_table(build_table(m="a b b", label="1 1 0", score="0.2 0.9 0.5"), "p.parquet")
    undefined = ["evaluate", "AUC", "--predictions", "p.parquet", "--by", "m", "--format", "csv"]
    for order in ("AUC", "-AUC"):
        assert run_command(*undefined, "--sort", order).splitlines()[1:] == ["b,1.0", "a,"], (
            "NULL is last"
        )


def test_errors_are_sorted_smallest_first():
    pq.write_table(build_table(m="a b c", label="1.0 1.0 1.0", score="0.2 0.9 0.5"), "p.parquet")
    call = [
        "evaluate", "MAE", "--predictions", "p.parquet", "--by", "m", "--format", "csv",
        "--sort",
    ]  # fmt: skip
    assert [line[0] for line in run_command(*call, "MAE").splitlines()[1:]] == ["b", "c", "a"]
    assert [line[0] for line in run_command(*call, "-MAE").splitlines()[1:]] == ["a", "c", "b"]


def test_which_values_are_better():
    known = {
        name: better_direction(name, load_registry())
        for name in sorted(load_registry().metric_names)
    }
    assert set(known.values()) == {"higher", "lower", "neither"}
    for name in ("nDCG", "AP", "AUC", "R2", "BrierSkill", "NormalizedLogLoss", "KendallTau"):
        assert known[name] == "higher"
    for name in (
        "LogLoss",
        "Brier",
        "ECE",
        "RMSE",
        "NormalizedEntropy",
        "FPR",
        "pApSurrogate",
        "Unj",
    ):
        assert known[name] == "lower"
    for name in (
        "num_q",
        "num_unjudged",
        "Positives",
        "CalibrationRatio",
        "Bias",
        "BaseRate",
        "ThresholdUsed",
        "ROC",
    ):
        assert known[name] == "neither"


def test_digits():
    assert run_command(*CALL, "--digits", "2").splitlines()[1].split() == ["0.75", "0.50", "3"]
    assert run_command(*CALL, "--digits", "0").splitlines()[1].split() == ["1", "0", "3"]
    assert (
        run_command(*CALL, "--digits", "1", "--format", "markdown").splitlines()[2]
        == "| 0.8 | 0.5 | 3 |"
    )
    assert "--digits is for table, markdown, latex. csv keeps every digit" in run_refused_command(
        *CALL, "--digits", "2", "--format", "csv"
    )


def test_counts_are_integers():
    shown = run_command(
        "evaluate",
        "num_q",
        "num_ret",
        "num_unanswered",
        "num_rel_ret",
        "RR",
        *CALL[4:],
        "--per-query",
    ).splitlines()
    assert [line.split() for line in shown[1:]] == [
        ["q1", "1", "2", "0", "1", "0.5000"],
        ["q2", "1", "1", "0", "1", "1.0000"],
    ]
    pq.write_table(build_table(label="1 0", score="0.9 0.1", weight="0.5 1.0"), "p.parquet")
    shown = run_command("evaluate Positives Negatives num_predictions --predictions p.parquet")
    assert shown.splitlines()[1].split() == ["0.5000", "1", "2"]


@pytest.mark.slow
def test_latex():
    call = ["evaluate", "RR", "P@1"]
    text = run_command(
        *call,
        "num_ret",
        "--run",
        "a_1=run.parquet",
        "--run",
        "b=run.trec",
        *CALL[6:],
        "--format",
        "latex",
    )
    assert text.splitlines() == [
        r"\begin{tabular}{lrrr}", r"\toprule", r"system & RR & P@1 & num\_ret \\", r"\midrule",
        r"a\_1 & \textbf{0.7500} & \textbf{0.5000} & 3 \\",
        r"b & \textbf{0.7500} & \textbf{0.5000} & 3 \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
    lines = run_command(
        *CALL, "--per-query", "--with-total", "--digits", "2", "--format", "latex"
    ).splitlines()
    assert lines[4:7] == [
        r"q1 & 0.50 & 0.00 & 2 \\",
        r"q2 & \textbf{1.00} & \textbf{1.00} & 1 \\",
        r"all & 0.75 & 0.50 & 3 \\",
    ]
    pq.write_table(build_table(m="a&b c", label="1 1", score="0.2 0.9"), "p.parquet")
    lines = run_command(
        "evaluate MAE Bias AUC --predictions p.parquet --by m --format latex"
    ).splitlines()
    assert lines[4:6] == [
        r"a\&b & 0.8000 & -0.8000 & -- \\",
        r"c & \textbf{0.1000} & -0.1000 & -- \\",
    ]
    assert r"\textbf" not in run_command(*CALL, "--format", "latex"), (
        "one row is not the best of any"
    )


@pytest.mark.parametrize(
    ("ending", "start"),
    [("txt", "    RR"), ("md", "| RR"), ("tex", r"\begin"), ("csv", "RR,"), ("JSON", "[")],
)
def test_the_ending_says_how_to_write(ending, start, tmp_path):
    path = tmp_path / f"out.{ending}"
    assert run_command(*CALL, "-o", str(path)) == ""
    assert path.read_text().startswith(start)


@pytest.mark.parametrize("name", ["out.xls", "out", "out.html"])
def test_an_unknown_ending_is_refused_before_anything_is_read(name):
    message = run_refused_command("evaluate", "RR", "--run", "none", "--qrels", "none", "-o", name)
    assert f"-o {name}: its ending does not say how to write it" in message
    assert (
        "Use one of .txt, .md, .markdown, .tex, .csv, .json, .jsonl, .parquet, .xlsx, or give"
        " --format" in message
    )
    assert run_command(*CALL, "-o", name, "--format", "csv") == ""
    assert "its ending does not say" in run_refused_command("learn", "none", "-k", "1", "-o", name)


def test_the_version_is_printed_without_importing_anything():
    at_end = "atexit.register(lambda: print(*sorted(sys.modules), sep=','))"
    script = (
        f"import atexit, sys, sqlrank.__main__ as m; {at_end}; sys.argv = ['sqlrank', '--version'];"
        " m.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    said, modules = done.stdout.splitlines()
    assert said == f"sqlrank {sqlrank.__version__}"
    assert not {"duckdb", "sqlglot", "pyarrow", "typer", "rich"} & set(modules.split(","))


def test_a_column_of_integers_is_written_like_one():
    table = build_table(parts="2.0 1.0 NULL", share="1.0 0.0 NULL", mean="2.0 1.0 0.5")
    shown = format_result(table, Format.markdown, TableStyle()).splitlines()[2:]
    # Ones and zeros alone may be shares; a 1 beside a 2 and no fraction is no share.
    assert shown == [
        "| 2 | 1.0000 | 2.0000 |",
        "| 1 | 0.0000 | 1.0000 |",
        "| NULL | NULL | 0.5000 |",
    ]


def test_latex_of_a_comparison_marks_significant_differences():
    columns = {
        "metric": "string",
        "baseline": "string",
        "system": "string",
        "value_baseline": "double",
        "value": "double",
    }
    others = {"winner": "string", "test": "string", "correction": "string"}
    schema = pa.schema([(name, kind) for name, kind in {**columns, **others}.items()])
    rows = [
        ("AP", "old", "new", 0.25, 0.5, "new", "t", "holm"),
        ("AP", "old", "b_1", 0.25, 0.125, "old", "t", "holm"),
        ("RR", "old", "new", 0.75, None, None, None, None),
        ("RR", "old", "b_1", 0.75, 0.8, None, "t", "holm"),
    ]
    result = pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema
    )
    text = format_system_table(result, 2)
    assert text is not None
    assert text.splitlines()[2:7] == [
        r"system & AP & RR \\", r"\midrule", r"old & 0.25 & 0.75 \\",
        r"new & 0.50$^{\dagger}$ & -- \\", r"b\_1 & 0.12$^{\ddagger}$ & 0.80 \\",
    ]  # fmt: skip
    assert (
        text.splitlines()[-1]
        == "% dagger: significantly better than old, ddagger: worse (t test, correction holm)"
    )
    pairs = pa.Table.from_pylist(
        [{**row, "baseline": name} for row, name in zip(result.to_pylist(), "abab", strict=True)],
        schema,
    )
    assert format_system_table(pairs, 2) is None


CLICKS = {"label": [0, 1, 1, 0, 1, 0], "score": [0.2, 0.7, 0.4, 0.5, 0.9, 0.1], "shop": [*"aaabbb"]}


@pytest.mark.parametrize(
    ("metrics", "options", "heading", "line"),
    [
        (["Brier"], {}, ["metric", "value", "interval"], "6 rows, intervals at 95%."),
        (["Brier", "MAE"], {"by": "shop"}, ["shop", "metric", "value", "interval"], "3 rows, intervals at 95%."),
        (["MAE", "Positives"], {"confidence": 0.8}, ["metric", "value", "interval"], "6 rows, intervals at 80%."),
        (["MAE"], {"unit": "shop"}, ["metric", "value", "interval"], "2 shops, intervals at 95%."),
        (["MAE"], {"by": "shop", "where": "score > 0.1"}, ["shop", "metric", "value", "interval", "rows"], "Intervals at 95%."),
        (["KS"], {}, ["metric", "value", "interval"], ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", [None, 80])
def test_an_interval_is_a_column_and_a_line_has_its_level_and_units(
    metrics, options, heading, line, width
):
    result = sqlrank.evaluate(metrics, predictions=CLICKS, **{"confidence": 0.95, **options})
    lines = format_result(result, Format.table, TableStyle(), width).splitlines()
    assert lines[0].split() == heading
    rows = lines[1 : len(lines) - bool(line)]
    low, high = (result[f"{metrics[0]}.{name}"][0].as_py() for name in ("ci_low", "ci_high"))
    shown = "none" if low is None else f"{low:.4f} to {high:.4f}"
    assert rows[0].endswith(f"  {shown}{'     3' * (heading[-1] == 'rows')}")
    assert len(rows) == result.num_rows * len(metrics)
    assert not line or lines[-1] == line
    if "Positives" in metrics:
        assert rows[-1].split() == ["Positives", "3", "none"]


def test_a_plan_is_shown_in_words_and_without_columns_that_it_lacks():
    run = {query: {"a": 2.0, "b": 1.0} for query in "123"}
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    stored = sqlrank.evaluate("RR", run=run, qrels=qrels, per_query=True)
    text = format_result(sqlrank.power(stored, target_effect=0.5), Format.table, TableStyle(), 80)
    heading, _, line = text.splitlines()
    assert re.split("  +", heading.strip()) == [
        "metric", "value", "sd", "detectable difference", "required queries",
    ]  # fmt: skip
    assert line == "3 queries, test at 95%, power 80%."
    pair = sqlrank.evaluate("RR", run={"old": run, "new": run | {"1": {"b": 1.0}}}, qrels=qrels, per_query=True)  # fmt: skip
    planned = sqlrank.power(pair, num_units=40, power=0.9)
    table = format_result(planned, Format.markdown, TableStyle())
    assert table.splitlines()[0] == (
        "| metric | baseline | system | value_baseline | value | sd | detectable difference |"
    )
    assert table.endswith("\n\n40 queries, test at 95%, power 90%.\n")
    assert planned.column_names == [*POWER_SCHEMA]
