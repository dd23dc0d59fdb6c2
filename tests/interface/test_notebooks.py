"""Calls in a Jupyter kernel that has no widgets: the first example of every page runs, and an
invalid call is one message.
"""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import InputError
from sqlrank.output.display import PROSE_CHARS
from sqlrank.output.notebook import register_formatters
from sqlrank.output.result_formats import FIRST_ROWS, MAX_DISPLAYED_ROWS, format_first_rows_html
from tests.environments import make_environment
from tests.interface.browser import open_page, start_browser
from tests.tables import build_table, read_columns

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ["nbclient", "ipykernel", "duckdb>=2.0", "sqlglot>=30.30,<31", "pyarrow", "typer", "rich", "pandas>=2.2,<3", "altair>=6.1,<7",
                "vl-convert-python>=1.9", "jinja2", "pyyaml"]  # fmt: skip
OTHER_TOOLS = {"docs/compat.md", "docs/ir-measures.md", "docs/mlflow.md"}
"""Pages whose first example imports another tool."""
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUNNER = """
import json, sys
import nbclient, nbformat
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in json.load(open(sys.argv[1]))])
nbclient.NotebookClient(notebook, timeout=600, allow_errors=True, kernel_name="python3").execute()
print(json.dumps([cell.outputs for cell in notebook.cells]))
"""
WITHOUT_WIDGETS = "import importlib.util\nassert importlib.util.find_spec('ipywidgets') is None"
INVALID = "sqlrank.evaluate('AUC', predictions={'label': [1, 0]})"


RANKED = (
    "run={'q1': {'a': 2.0, 'b': 1.0}, 'q2': {'a': 1.0, 'b': 2.0}}, qrels={'q1': {'a': 1}, 'q2':"
    " {'a': 1}}"
)
SHOWN = {
    "import pyarrow as pa\npa.table({'x': [1]})": ("pyarrow.Table\nx: int64\n----\nx: [[1]]", None),
    f"sqlrank.evaluate(['RR', 'AP'], {RANKED})": (
        "    RR      AP\n0.7500  0.7500",
        ["RR", "AP", "0.7500", "0.7500"],
    ),
    f"[sqlrank.evaluate('RR', {RANKED})]": ("[    RR\n 0.7500]", None),
    f"sqlrank.show(sqlrank.evaluate('RR', {RANKED}))": ("    RR\n0.7500\n", None),
    "sqlrank.compare('RR', run={'old': {'q1': {'a': 2.0, 'b': 3.0}}, '<b>': {'q1': {'a': 2.0, 'b': 1.0}}}, qrels={'q1': {'a': 1}})": (
        (
            "metric     old     <b>  difference  winner\nRR      0.5000  1.0000     +0.5000 "
            " none\nRR: no interval: fewer than two queries.\n1 query."
        ),
        [
            "metric", "old", "&lt;b&gt;", "difference", "winner", "RR", "0.5000", "1.0000",
            "+0.5000", "none",
        ],
    ),
    f"sqlrank.evaluate('RR', {RANKED}).to_pandas()": ("     RR\n0  0.75", ["", "RR", "0", "0.75"]),
}  # fmt: skip
"""Cells with the text and the HTML cells that a notebook shows: results of sqlrank as tables,
others as always.
"""


def run_cells(cells: list[str], config: pytest.Config, folder: Path) -> list[list[dict[str, Any]]]:
    """Return the outputs of each cell in a kernel without widgets."""
    (folder / "cells.json").write_text(json.dumps(cells))
    programs = make_environment(config, "notebooks", REQUIREMENTS)
    variables = {"PYTHONPATH": str(ROOT), "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder)}
    command = [str(programs / "python"), "-c", RUNNER, str(folder / "cells.json")]
    done = subprocess.run(
        command, env=variables, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def first_cells(page: str) -> list[str]:
    """Return the first example of a page as cells: its statements, or its script."""
    block = next(iter(BLOCK.findall(page)), "")
    return [example.source for example in doctest.DocTestParser().get_examples(block)] or [block]


def test_an_error_is_shown_without_the_frames_of_the_package():
    error = InputError("predictions has no column score", "There are: label")
    assert error._render_traceback_() == [
        "InputError: predictions has no column score\nThere are: label"
    ]


def test_a_statement_is_shown_line_by_line_and_a_gate_below_its_verdict(capsys):
    statement = sqlrank.sql("AUC", predictions="p")
    lines = []
    statement._repr_pretty_(SimpleNamespace(text=lines.append), _=False)
    assert lines == [str(statement)]
    assert statement._repr_html_().count("\n") == statement.count("\n")
    runs = {"old": {"q1": {"a": 2.0}}, "new": {"q1": {"a": 1.0}}}
    gate = sqlrank.gate("RR", run=runs, qrels={"q1": {"a": 1}}, baseline="old")
    sqlrank.show(gate)
    assert capsys.readouterr().out.startswith("verdict: inconclusive\nmetric")
    assert format_first_rows_html(gate).startswith("<p><b>verdict: inconclusive</b></p>\n<table>")


@pytest.mark.slow
def test_the_first_example_of_every_page_runs_without_widgets(pytestconfig, tmp_path):
    pages = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    }
    examples = [
        (name, cell)
        for name, page in pages.items()
        if name not in OTHER_TOOLS and BLOCK.search(page)
        for cell in first_cells(page)
    ]
    assert len({name for name, _ in examples}) >= 20
    cells = run_cells(
        [WITHOUT_WIDGETS, *(cell for _, cell in examples), INVALID], pytestconfig, tmp_path
    )
    widgets, *outputs, invalid = [
        [output for output in found if output["output_type"] == "error"] for found in cells
    ]
    assert widgets == []
    failures = [
        (name, cell, errors[0]["evalue"])
        for (name, cell), errors in zip(examples, outputs, strict=True)
        if errors
    ]
    assert failures == []
    ((message,),) = [error["traceback"] for error in invalid]
    assert message.startswith("InputError: ")
    assert len(message.splitlines()) <= 3


@pytest.mark.slow
def test_results_are_tables_in_a_notebook_and_other_tables_as_always(pytestconfig, tmp_path):
    first, *cells = run_cells(["import sqlrank", *SHOWN], pytestconfig, tmp_path)
    assert first == []
    for (source, (text, html)), outputs in zip(SHOWN.items(), cells, strict=True):
        shown = outputs[-1]
        data = shown.get("data", {})
        assert shown.get("text", data.get("text/plain")) == text, source
        page = data.get("text/html")
        assert (None if page is None else re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", page)) == html, (
            source
        )


@pytest.mark.slow
def test_ipython_is_not_imported():
    script = (
        "import sys, sqlrank; sqlrank.evaluate; print(any(name.partition('.')[0] == 'IPython' for"
        " name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


class Formatter:
    """A formatter of IPython: functions by the names of types."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], Any] = {}

    def for_type_by_name(self, module: str, name: str, function: Any = None) -> Any:
        earlier = self.functions.get((module, name))
        if function is not None:
            self.functions[module, name] = function
        return earlier


def test_formatters_of_others_show_tables_that_are_no_results():
    formatters = {kind: Formatter() for kind in ("text/plain", "text/html")}
    formatters["text/plain"].for_type_by_name(
        "pyarrow.lib", "Table", lambda _, printer, __: printer.text("theirs")
    )
    formatters["text/html"].for_type_by_name("pyarrow.lib", "Table", lambda _: "<i>theirs</i>")
    register_formatters(SimpleNamespace(display_formatter=SimpleNamespace(formatters=formatters)))
    print_text, format_page = (
        formatter.functions["pyarrow.lib", "Table"] for formatter in formatters.values()
    )
    texts = []
    cycle = False
    for table in (
        build_table(x="1"),
        build_table(x="1").replace_schema_metadata({"sqlrank.version": "1"}),
    ):
        print_text(
            table, SimpleNamespace(text=texts.append, break_=lambda: texts.append("\n")), cycle
        )
    assert texts == ["theirs", "x", "\n", "1"]
    assert format_page(build_table(x="1")) == "<i>theirs</i>"
    many = pa.table({"x": list(range(250))}).replace_schema_metadata({"sqlrank.version": "1"})
    assert format_page(many.slice(0, MAX_DISPLAYED_ROWS)).count("<td") == MAX_DISPLAYED_ROWS
    assert format_page(many).count("<td") == FIRST_ROWS
    assert format_page(many).endswith("<p>... and 230 more rows</p>")
    listed = format_page(sqlrank.metrics("recall"))
    assert ">Recall<" in listed
    # With all six columns, those of prose are a word wide.
    assert ">relation<" not in listed


@pytest.mark.slow
def test_no_interval_number_or_day_breaks_in_a_narrow_cell_and_sentences_do(tmp_path):
    rows = read_columns(
        day="2026-01-01 2026-01-01 2026-01-02 2026-01-02", label="0 1 0 1", score="0.1 0.2 0.4 0.3"
    )
    scored = sqlrank.evaluate(["AUC", "LogLoss"], predictions=rows, by="day", confidence=0.95)
    runs = {"old": {"q1": {"a": 2.0}, "q2": {"a": 1}}, "new": {"q1": {"b": 1.0}, "q2": {"a": 1.0}}}
    gate = sqlrank.gate("RR", run=runs, qrels={"q1": {"a": 1}, "q2": {"a": 1}}, baseline="old")
    tables = map(format_first_rows_html, [scored, gate, sqlrank.metrics("recall")])
    (tmp_path / "page.html").write_text("".join(f"<div>{table}</div>" for table in tables), "utf-8")
    with start_browser(tmp_path) as browser:
        page = open_page(browser, tmp_path / "page.html", 200)
        heights = page.execute_script(
            "return [...document.querySelectorAll('td')].map(cell => {"
            " const text = document.createRange(); text.selectNodeContents(cell);"
            " return [cell.textContent, text.getClientRects().length]})"
        )
    broken = [text for text, lines in heights if lines > 1]
    assert len([text for text, _ in heights if " to " in text and "0." in text]) == 2
    assert broken == [text for text in broken if len(text) > PROSE_CHARS]
    assert broken


def test_the_prompt_shows_results_as_tables_and_other_values_as_always():
    lines = (
        "import sys, pyarrow as pa\nsys.ps1 = ''\nimport sqlrank",
        "sqlrank.evaluate('RR', run={'q': {'a': 1.0}}, qrels={'q': {'a': 1}})",
        "_.num_rows, type(_).__name__",
        "pa.table({'x': [1]}).num_rows",
        "'text'",
    )
    script = "\n".join(
        ["from code import InteractiveInterpreter", "prompt = InteractiveInterpreter()"]
        + [f"prompt.runsource({text!r}, symbol='exec')" for text in lines[0].splitlines()]
        + [f"prompt.runsource({text!r})" for text in lines[1:]]
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "    RR\n1.0000\n(1, 'Table')\n1\n'text'\n"


@pytest.mark.parametrize("columns", ["60", "96"])
def test_show_prints_what_a_terminal_of_this_width_prints(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "dumb")
    runs = {
        "old": {f"q{number}": {"a": 2.0, "b": 1.0 + number} for number in range(9)},
        "new": {f"q{number}": {"a": 3.0, "b": 2.5} for number in range(9)},
    }
    qrels = {f"q{number}": {"a": 1} for number in range(9)}
    sqlrank.show(sqlrank.compare(["RR", "AP"], run=runs, qrels=qrels))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= int(columns)
    assert ("winner\n" in shown) is (columns == "96")
    assert shown.splitlines()[-1].endswith("intervals at 97.5%.")
    sqlrank.show(sqlrank.metrics(), max_rows=3)
    assert capsys.readouterr().out.splitlines()[-1].startswith("... and ")
