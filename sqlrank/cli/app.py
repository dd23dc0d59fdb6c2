"""Assemble the command line from options.toml. What commands do is imported when one runs, since
that takes longer than a small evaluation.
"""

from __future__ import annotations

import sys
from inspect import Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlrank._version import __version__
from sqlrank.cli.console import CommandGroup, UniqueOptionCommand, exit_on_error
from sqlrank.cli.options import CommandCall, make_parameter
from sqlrank.options import load_commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlrank.options import Command


def command_line(command_name: str = "") -> typer.Typer:
    """Return the command line with one command, or with all for help and completion."""
    app = typer.Typer(
        name="sqlrank",
        help=(
            "Metrics for rankings, recommenders and click models, computed in SQL where the"
            " data is."
        ),
        cls=CommandGroup,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # formatting help with rich takes a fifth of a second
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": sys.maxsize,
        },  # as wide as the terminal
    )
    commands = load_commands()
    for command in [commands[command_name]] if command_name in commands else commands.values():
        app.command(command.name, cls=UniqueOptionCommand, help=command.about)(
            _make_function(command)
        )
    app.callback(invoke_without_command=True)(_print_version)
    return app


def _make_function(command: Command) -> Callable[..., None]:
    """Return the function from whose parameters typer makes the options of a command, and which
    runs it.
    """

    def run_command(**values: Any) -> None:
        from sqlrank.cli import commands  # help does not need them

        with exit_on_error():
            getattr(commands, command.name)(CommandCall(command, values))

    run_command.__signature__ = Signature([*map(make_parameter, command.options)])  # type: ignore[attr-defined]
    return run_command


def _print_version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"sqlrank {__version__}")
        raise typer.Exit
