"""What the commands share: how problems are said, the progress bar, and options of the form name=value."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from sqlrank.errors import SqlrankError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Once(TyperCommand):
    """A command that refuses an option given twice, of which the parser would take the last, unless it may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was given; raise a usage error for an option that is repeated and cannot be."""
        given = self.make_parser(ctx).parse_args(args=list(args))[2] if not ctx.resilient_parsing else []
        for option in dict.fromkeys(given):
            if given.count(option) > 1 and not (option.multiple or option.nargs < 0 or getattr(option, "is_flag", False)):
                ctx.fail(f"{option.opts[0]} is given twice; it takes one value")
        return super().parse_args(ctx, args)


@contextmanager
def problems() -> Iterator[None]:
    """Say on standard error what is wrong, and exit with status 2."""
    try:
        yield
    except BrokenPipeError:
        # The reader went away, as head does: nobody is left to tell. Without this, Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except KeyboardInterrupt:
        typer.echo("sqlrank: interrupted", err=True)
        raise typer.Exit(130) from None
    except Exception as error:
        # Errors of DuckDB are told by their module, since it is not imported for help.
        if not isinstance(error, (SqlrankError, OSError)) and not type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise
        typer.echo(f"sqlrank: {error}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def progress_bar(doing: str) -> Iterator[Any]:
    """Yield a function that shows the percentage done, or None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  a tenth of a second that is for people only
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True)
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
