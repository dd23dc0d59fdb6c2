"""The documentation is true: its commands and examples are run, and its table of metrics is complete."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.cli import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONSOLE = re.findall(r"```console\n\$ (.+?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command[:60] for command, _ in CONSOLE])
def test_commands_of_the_readme_print_what_it_shows(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    if program == "python":
        assert subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout == shown
        return
    result = CliRunner().invoke(app, arguments)
    assert program == "sqlrank"
    assert result.stderr == ""
    assert result.stdout == shown


def test_examples_of_the_readme_run() -> None:
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted > 3
    assert results.failed == 0


def test_the_table_of_metrics_is_complete() -> None:
    listed = re.findall(r"^\| `([\w@]+)` \| (.+) \|$", README.partition("## Metrics")[2].partition("## Where")[0], re.MULTILINE)
    there = sqlrank.metrics().select(["name", "description"]).to_pylist()
    assert sorted(listed) == sorted((row["name"], row["description"]) for row in there)


def test_every_compatibility_mode_and_relation_is_documented() -> None:
    modes = [path.stem for path in (ROOT / "sql" / "compat").glob("*.toml")]
    assert len(modes) == 20
    assert all(mode in README for mode in modes)
    glossary = (ROOT / "sql" / "README.md").read_text("utf-8")
    for folder in (ROOT / "sql" / "relations").iterdir():
        if folder.stem not in {"digits", "numbers", "topics"}:
            assert f"| {folder.stem} |" in glossary
