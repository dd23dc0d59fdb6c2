"""Run the command ``sqlrank rollup``, which builds a rollup, inserts its rows, prints its
statement, or writes its dbt model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import echo_notes, exit_on_error
from sqlrank.cli.parsing import parse_group_columns
from sqlrank.errors import SqlrankError
from sqlrank.options import get_flag
from sqlrank.output.dbt_files import write_dbt_files
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall

NON_MODEL_ARGUMENTS = ("connection", "insert", "overwrite_by", "retract", "batch_where", "inputs")
"""Arguments that dbt models do not support."""


def rollup(call: CommandCall) -> None:
    """Build a rollup: partial aggregates per day and group, from which evaluate --rollup computes
    metrics of any days.
    """
    with exit_on_error():
        by = parse_group_columns(call.by)
        if call.sql:
            typer.echo(sqlrank.rollup_sql(**call.read_arguments("rollup_sql", by=by)) + ";")
            return
        if call.dbt is not None:
            _write_model(call, by)
            return
        if call.begin is not None:
            raise SqlrankError("--begin is for --dbt")
        if call.dialect != "duckdb" or call.create_table:
            raise SqlrankError(
                "--dialect and --create-table are for --sql (--dialect for --dbt, too)"
            )
        form = resolve_format(call.format, call.output, call.digits)
        file = call.output_file(FileKind.ROLLUP)
        result = sqlrank.rollup(**call.read_arguments(by=by))
        if call.insert is None or call.output is not None:
            write_result(result, form, FileKind.ROLLUP, file, TableStyle(call.digits))
        if call.insert is not None:
            typer.echo(
                f"inserted {result.num_rows:,} row{'s' * (result.num_rows != 1)} into"
                f" {call.insert}",
                err=True,
            )
        echo_notes(result)


def _write_model(call: CommandCall, by: list[str]) -> None:
    """Write a dbt model and its YAML file."""
    arguments = call.read_arguments("rollup_model", by=by)
    if clash := next((name for name in NON_MODEL_ARGUMENTS if call.values[name]), None):
        raise SqlrankError(
            f"{get_flag(clash)} is not for --dbt, which writes a model over models and sources"
        )
    if call.begin is None:
        raise SqlrankError("--dbt needs --begin, the first day, such as --begin 2026-01-01")
    sources = call.list_sources(names=())
    for file in write_dbt_files(
        call.dbt,
        FileKind.DBT_ROLLUP,
        call.force,
        sources,
        lambda name: sqlrank.rollup_model(name=name, **arguments),
    ):
        typer.echo(f"wrote {file}", err=True)
