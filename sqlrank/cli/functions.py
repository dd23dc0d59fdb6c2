"""Define the command ``sqlrank functions``, which prints a script of metrics as functions of a database, or installs them in DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import list_sources, output_file, parse_policies
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.routines import DEFAULT_SCHEMA, FUNCTION_DIALECTS


def functions(
    metrics: Annotated[
        list[str] | None,
        typer.Argument(
            help="Metrics, such as nDCG or 'P(rel=2)@k'. Default: all, and functions of inputs and lists.",
            autocompletion=opt.metric_names,
        ),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help=f"One of {', '.join(FUNCTION_DIALECTS)}.", autocompletion=lambda: list(FUNCTION_DIALECTS))
    ] = "duckdb",
    schema: Annotated[
        str | None, typer.Option(help="The schema of the functions. Default: sqlrank, or main in a file sqlrank.duckdb.")
    ] = None,
    compat: opt.Compat = None,
    policy: opt.Policy = None,
    sql_dir: opt.SqlDir = None,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Read a column weight of predictions, and a further table queries with weights of queries.")
    ] = False,
    check: opt.Check = "auto",
    drop: Annotated[bool, typer.Option("--drop", help="Drop the functions instead.")] = False,
    db: Annotated[Path | None, typer.Option(help="Run the script on this DuckDB file, which is made if it does not exist.")] = None,
    dbt: Annotated[Path | None, typer.Option(help="Write a dbt package into this folder: macros for several adapters, and tests.")] = None,
    output: opt.Output = None,
    force: opt.Force = False,
) -> None:
    """Print the script that installs metrics as functions of a database."""
    with exit_on_error():
        if dbt is not None:
            if unused_options := [
                name
                for name, value in {
                    "--schema": schema,
                    "--drop": drop,
                    "--db": db,
                    "-o": output,
                    "--weighted": weighted,
                    "--check off": check == "off",
                }.items()
                if value
            ]:
                raise SqlrankError(f"{unused_options[0]} is not for --dbt, which writes a package")
            if dialect != "duckdb":
                raise SqlrankError("--dialect is not for --dbt, which writes macros for all adapters")
            from sqlrank.routines.dbt_package import write_dbt_package  # noqa: PLC0415  engines are not needed for help

            files = write_dbt_package(dbt, force, metrics, compat=compat, sql_dir=sql_dir, **parse_policies(policy, sql_dir))
            typer.echo(f"wrote {len(files)} files of a dbt package in {dbt}", err=True)
            return
        file = output_file(output, FileKind.FUNCTIONS, force, list_sources(sql_dir=sql_dir))
        default_schema = "main" if db is not None and db.stem == DEFAULT_SCHEMA else DEFAULT_SCHEMA
        script = sqlrank.functions(
            metrics or None,
            dialect=dialect,
            schema=schema or default_schema,
            compat=compat,
            sql_dir=sql_dir,
            weighted=weighted,
            check=check,  # type: ignore[arg-type]
            **parse_policies(policy, sql_dir),
        )
        if db is not None:
            script.run(db, drop=drop, force=force)
            count = len(script.functions)
            typer.echo(f"{'dropped' if drop else 'installed'} {count} function{'s' * (count != 1)} in {db}", err=True)
        if file is not None:
            file.write(script.drop_sql if drop else script.sql)
        elif db is None:
            typer.echo(script.drop_sql if drop else script.sql, nl=False)
