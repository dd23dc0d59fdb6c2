"""Run the command ``sqlrank sql``, which prints the statement that computes or stores metrics, or
writes it as a dbt model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.errors import SqlrankError
from sqlrank.options import get_flag
from sqlrank.output.dbt_files import write_dbt_model
from sqlrank.output.output_file import FileKind

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall

NON_MODEL_ARGUMENTS = (
    "connection",
    "rollup",
    "create_table",
    "create_view",
    "insert",
    "output",
    "audit",
)
"""Arguments that dbt models do not support."""


def sql(call: CommandCall) -> None:
    """Print the statement that computes metrics, or stores them."""
    with exit_on_error():
        if call.dbt is not None:
            _write_model(call)
            return
        if call.materialized is not None:
            raise SqlrankError("--materialized is for --dbt")
        if call.force and call.output is None:
            raise SqlrankError(
                "--force is for --dbt and -o, which write files. Leave it out, or name one"
            )
        file = call.output_file(FileKind.STATEMENT, names=())
        text = sqlrank.sql(**call.read_arguments()) + ";"
        typer.echo(text) if file is None else file.write(f"{text}\n")


def _write_model(call: CommandCall) -> None:
    """Write a dbt model and its YAML file."""
    arguments = call.read_arguments("dbt_model")
    if clash := next(
        (name for name in NON_MODEL_ARGUMENTS if call.values[name] not in {None, False}), None
    ):
        raise SqlrankError(
            f"{get_flag(clash)} is not for --dbt, which writes a model over models and sources"
        )
    for path in write_dbt_model(
        call.dbt, force=call.force, sources=call.list_sources(names=()), **arguments
    ):
        typer.echo(f"wrote {path}", err=True)
