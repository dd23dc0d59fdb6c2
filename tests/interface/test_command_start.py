"""Modules that the command imports at start, and its cleanup and errors at exit."""

import os
import subprocess
import sys

import pytest
from typer.main import get_command

from sqlrank.cli.app import command_line
from sqlrank.options import load_commands
from tests.interface.command_line import ROOT, TREC
from tests.lanes import select_few

COMMANDS = load_commands()
CALL = [
    "evaluate", "RR", "--run", str(TREC / "results.test"), "--qrels",
    str(TREC / "qrels.rel_level"),
]  # fmt: skip
FULL = (
    "standard output cannot be written: No space left on device. Free space, or write to a file"
    " elsewhere"
)
LEFT = (
    "-c",
    (
        "import sys, atexit, sqlrank.__main__ as m; atexit.register(lambda: print(*sys.modules,"
        " sep='\\n')); m.main()"
    ),
)


def _run_python(*arguments: str, **variables: str) -> str:
    environment = os.environ | variables
    return subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    ).stdout


@pytest.mark.slow
def test_a_command_reads_no_other():
    modules = set(_run_python(*LEFT, *CALL).split())
    assert {"sqlrank.api.evaluate", "duckdb"} <= modules
    assert not {"pyarrow.compute", "sqlrank.comparison", "sqlrank.reports"} & modules


@pytest.mark.one_in(2)
@pytest.mark.parametrize("word", ["evaluate", "report"])
def test_help_of_a_command_imports_no_engine(word):
    modules = set(_run_python(*LEFT, word, "--help").split())
    assert not {"sqlglot", "pyarrow", "numpy", "duckdb"} & modules


@pytest.mark.parametrize("word", ["", "--help", "nope"])
def test_all_commands_where_none_is_named(word):
    assert list(get_command(command_line(word)).commands) == list(COMMANDS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("word", COMMANDS)
def test_a_command_alone_is_what_it_is_among_all(word):
    assert list(get_command(command_line(word)).commands) == [word]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_nothing_is_left_behind_at_the_end(tmp_path):
    assert "RR" in _run_python("-m", "sqlrank", *CALL, TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to write to")  # noqa: PTH110
@pytest.mark.parametrize("buffered", select_few(["", "1"], 1))
@pytest.mark.parametrize(
    "arguments",
    select_few([CALL, ["--version"], ["--help"], ["metrics", "AUC"]], 1),
    ids=lambda words: words[0],
)
def test_a_full_disk_is_reported_once(arguments, buffered):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        variables = os.environ | {"PYTHONUNBUFFERED": buffered}
        words = [sys.executable, "-m", "sqlrank", *arguments]
        done = subprocess.run(
            words,
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=variables,
        )
    assert (done.returncode, done.stderr) == (2, f"sqlrank: {FULL}\n")
