"""Assemble the command line, and import only the module of the command that runs.

Importing all of them takes longer than a small evaluation.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from sqlrank._version import __version__
from sqlrank.cli.console import CommandGroup, UniqueOptionCommand

COMMANDS = {
    "evaluate": "evaluate", "sql": "sql", "metrics": "metrics", "compare": "compare", "gate": "compare", "experiment": "experiment",
    "chart": "chart", "explain": "explain", "report": "report", "split": "split", "rollup": "rollup", "drift": "drift", "learn": "learn",
    "functions": "functions",
}  # fmt: skip
"""The module of each command, in the order of the help."""


def command_line(command_name: str = "") -> typer.Typer:
    """Return the command line with one command, or with all for help and completion."""
    app = typer.Typer(
        name="sqlrank",
        help="Metrics for rankings, recommenders and click models, computed in SQL where the data is.",
        cls=CommandGroup,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # formatting help with rich takes a fifth of a second
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": sys.maxsize},  # as wide as the terminal
    )
    for name in [command_name] if command_name in COMMANDS else COMMANDS:
        app.command(cls=UniqueOptionCommand)(getattr(import_module(f"sqlrank.cli.{COMMANDS[name]}"), name))
    app.callback(invoke_without_command=True)(_print_version)
    return app


def _print_version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"sqlrank {__version__}")
        raise typer.Exit
