"""Run the command ``sqlrank functions``, which prints a script of metrics as functions of a
database, or installs them in DuckDB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import parse_policies
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.routines import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def functions(call: CommandCall) -> None:
    """Print the script that installs metrics as functions of a database."""
    with exit_on_error():
        if call.dbt is not None:
            _write_dbt_package(call)
            return
        file = call.output_file(FileKind.FUNCTIONS, names=())
        db, drop = call.connection, call.drop
        default_schema = "main" if db is not None and db.stem == DEFAULT_SCHEMA else DEFAULT_SCHEMA
        script = sqlrank.functions(**call.read_arguments(schema=call.schema or default_schema))
        if db is not None:
            script.run(db, drop=drop, force=call.force)
            count = len(script.functions)
            typer.echo(
                f"{'dropped' if drop else 'installed'} {count} function{'s' * (count != 1)} in"
                f" {db}",
                err=True,
            )
        if file is not None:
            file.write(script.drop_sql if drop else script.sql)
        elif db is None:
            typer.echo(script.drop_sql if drop else script.sql, nl=False)


def _write_dbt_package(call: CommandCall) -> None:
    unused = {
        "--schema": call.schema,
        "--drop": call.drop,
        "--db": call.connection,
        "-o": call.output,
        "--weighted": call.weighted,
        "--check off": call.check == "off",
    }
    if flag := next((flag for flag, value in unused.items() if value), None):
        raise SqlrankError(f"{flag} is not for --dbt, which writes a package")
    if call.dialect != "duckdb":
        raise SqlrankError("--dialect is not for --dbt, which writes macros for all adapters")
    from sqlrank.routines.dbt_package import write_dbt_package  # engines are not needed for help

    policies = parse_policies(call.policies, call.sql_dir)
    files = write_dbt_package(
        call.dbt, call.force, call.metrics, compat=call.compat, sql_dir=call.sql_dir, **policies
    )
    typer.echo(f"wrote {len(files)} files of a dbt package in {call.dbt}", err=True)
