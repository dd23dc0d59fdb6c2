"""The command line, called in this process: its output or its error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from sqlrank.cli.app import app

if TYPE_CHECKING:
    from typer.testing import Result


ROOT = Path(__file__).parents[2]
TREC = ROOT / "examples" / "data" / "trec_eval"


def invoke_command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run_command(*arguments: object) -> str:
    result = invoke_command(*arguments)
    assert result.exit_code == 0, result.stderr
    assert all(line.startswith(("note: ", "wrote ")) for line in result.stderr.splitlines())
    return result.stdout


def run_refused_command(*arguments: object) -> str:
    result = invoke_command(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.exception
    assert "Traceback" not in result.stderr
    return result.stderr
