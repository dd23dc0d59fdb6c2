"""Outputs of commands on pages of metrics: run by several processes, and cached between builds
while nothing changes.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import StringIO
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.registry.sql_file import SqlFile

ROOT = Path(__file__).parents[1]
OUTPUT_FOLDER = ROOT / ".cache" / "printed"
SOURCES = ("sqlrank/**/*.py", "sql/**/*.toml", "sql/**/*.sql", "examples/data/small/*.csv")
WIDTH = 96
"""Columns of the terminal that pages show."""
ENGINES = ("duckdb", "sqlglot", "pyarrow")


def cache_outputs(commands: Iterable[tuple[SqlFile, list[str]]]) -> None:
    """Run the commands of metrics whose output is not cached, and drop outputs without a
    command.
    """
    commands_by_path = {_locate_output(file, arguments): arguments for file, arguments in commands}
    OUTPUT_FOLDER.mkdir(parents=True, exist_ok=True)
    for place in set(OUTPUT_FOLDER.iterdir()) - commands_by_path.keys():
        place.unlink()
    missing = [place for place in commands_by_path if not place.exists()]
    if missing:
        with ProcessPoolExecutor(cpu_count(), get_context("spawn")) as pool:
            printed = pool.map(
                run_command, [commands_by_path[place] for place in missing], chunksize=4
            )
            for place, text in zip(missing, printed, strict=True):
                place.write_text(text, "utf-8")


def read_output(file: SqlFile, arguments: list[str]) -> str:
    """Return the output of a command on a metric."""
    place = _locate_output(file, arguments)
    return place.read_text("utf-8") if place.exists() else run_command(arguments)


def run_command(arguments: list[str], *, is_silent: bool = True) -> str:
    """Run a command as in a terminal; an error of it is an error of the page, and so is what a
    silent one says beside its output, but the notes of ``evaluate``.
    """
    stdout, stderr = StringIO(), StringIO()
    stdout.isatty = stderr.isatty = lambda: True  # type: ignore[method-assign]
    os.environ |= {"COLUMNS": str(WIDTH), "TERM": "dumb"}
    with redirect_stdout(stdout), redirect_stderr(stderr):
        status = _load_command().main(arguments, prog_name="sqlrank", standalone_mode=False)
    notes = stderr.getvalue() if arguments[0] == "evaluate" else ""  # why a value is NULL
    if status or (is_silent and stderr.getvalue() != notes):
        raise RuntimeError(f"sqlrank {' '.join(arguments)}: {stderr.getvalue() or status}")
    return (stdout.getvalue() + (notes if is_silent else "")).rstrip()


@cache
def _load_command() -> Any:
    """Return the command, whose options take longer to be read off its functions than a statement
    to be written.
    """
    from typer.main import get_command  # noqa: PLC0415  not needed where all outputs are cached

    from sqlrank.cli.app import command_line  # noqa: PLC0415

    return get_command(command_line())


def _locate_output(file: SqlFile, arguments: list[str]) -> Path:
    return (
        OUTPUT_FOLDER
        / sha256("\0".join([source_digest(), file.text, *arguments]).encode()).hexdigest()
    )


@cache
def source_digest() -> str:
    """Return a hash of the sources of all outputs, without the file of the metric."""
    digest = sha256(" ".join(version(name) for name in ENGINES).encode())
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        if path.relative_to(ROOT).parts[:2] != ("sql", "metrics"):
            digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
