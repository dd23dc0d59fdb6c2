"""What the commands share: how problems are said, the progress bar, and options of the form name=value."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from sqlrank.errors import SqlrankError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def problems() -> Iterator[None]:
    """Say on standard error what is wrong, and exit with status 2."""
    try:
        yield
    except BrokenPipeError:
        # The reader went away, as head does: nobody is left to tell. Without this, Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except (SqlrankError, duckdb.Error, OSError) as error:
        typer.echo(f"sqlrank: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("sqlrank: interrupted", err=True)
        raise typer.Exit(130) from None


@contextmanager
def progress_bar(doing: str) -> Iterator[Any]:
    """Yield a function that shows the percentage done, or None if standard error is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Progress(TextColumn(doing), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), console=console, transient=True)
    with bar:
        task = bar.add_task(doing, total=100)
        yield lambda percentage: bar.update(task, completed=percentage)


def pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """Return what an option says by ``name=value``; raise ``SqlrankError`` for what does not, and for a name given twice."""
    pairs = {}
    for item in given or []:
        name, equals, value = item.partition("=")
        if not equals or not name or not value:
            raise SqlrankError(f"{option} {item}: write {option} name=value")
        if name in pairs:
            raise SqlrankError(f"{option} {item}: {name} is given twice")
        pairs[name] = value
    return pairs
