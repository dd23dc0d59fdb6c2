"""The command line, called in this process: its output or its error, also on a pseudo-terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from typer.main import get_command
from typer.testing import CliRunner

from sqlrank.cli.app import command_line
from sqlrank.cli.commands import EXITS

if TYPE_CHECKING:
    from typer.testing import Result


app = command_line()
ROOT = Path(__file__).parents[2]
TREC = ROOT / "examples" / "data" / "trec_eval"
CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
"""Sequences that steer a terminal."""


def invoke_command(*arguments: object) -> Result:
    """Run a command, given as the line that a user types, or as words."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words[0] if len(words) == 1 else words)


def run_command(*arguments: object) -> str:
    result = invoke_command(*arguments)
    assert result.exit_code == 0, result.stderr
    notes = ("note: ", "    ", "wrote ")  # a note may have lines of values below it
    assert all(line.startswith(notes) for line in result.stderr.splitlines())
    return result.stdout


def run_refused_command(*arguments: object) -> str:
    result = invoke_command(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.exception
    assert "Traceback" not in result.stderr
    return result.stderr


VERDICTS = frozenset({None, *EXITS.values()})
"""Exit statuses of commands that did their work."""


def run_in(
    stream: io.TextIOBase,
    arguments: list[str],
    errors: io.TextIOBase,
    statuses: frozenset[int | None] = VERDICTS,
) -> str:
    """Run a command in this process with a stream as standard output and one for errors; return its
    text if it is in memory.
    """
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(errors):  # type: ignore[type-var]
        status = load_command().main(arguments, prog_name="sqlrank", standalone_mode=False)
        stream.flush()
    assert status in statuses
    return stream.getvalue() if isinstance(stream, io.StringIO) else ""


@cache
def load_command() -> Any:
    return get_command(app)


def print_in_terminal(
    arguments: list[str],
    *,
    is_error_shown: bool = False,
    statuses: frozenset[int | None] = VERDICTS,
) -> str:
    """Return the text that a command prints on a pseudo-terminal, with what it writes to standard
    error if that is to be shown.
    """
    reader, writer = pty.openpty()
    pieces: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the end of a pseudo-terminal is an error
            while piece := os.read(reader, 65536):
                pieces.append(piece)

    thread = Thread(target=read)
    thread.start()
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        run_in(stream, arguments, stream if is_error_shown else io.StringIO(), statuses)  # type: ignore[arg-type]
    thread.join()
    os.close(reader)
    return b"".join(pieces).decode().replace("\r\n", "\n")
