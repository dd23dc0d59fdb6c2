"""Run the command ``sqlrank split``, which splits rows into parts or experiment arms, or prints the
statement that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def split(call: CommandCall) -> None:
    """Split rows into train and test, folds or experiment arms, deterministically on every
    engine.
    """
    with exit_on_error():
        if call.sql:
            typer.echo(sqlrank.split_sql(**call.read_arguments("split_sql")) + ";")
            return
        if call.dialect != "duckdb" or call.create_table or call.create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = resolve_format(call.format, call.output)
        file = call.output_file(FileKind.SPLIT)
        write_result(sqlrank.split(**call.read_arguments()), form, FileKind.SPLIT, file)
