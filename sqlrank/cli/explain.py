"""Run the command ``sqlrank explain``, which prints a metric value with the rows of its
intermediate CTEs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.output.display import terminal_width

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def explain(call: CommandCall) -> None:
    """Explain a metric value: rows of each intermediate CTE, and its expression with aggregates
    substituted.
    """
    with exit_on_error():
        typer.echo(sqlrank.explain(**call.read_arguments()).to_text(terminal_width()))
