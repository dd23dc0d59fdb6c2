"""Define the command ``sqlrank rollup``, which builds a rollup, inserts its rows, prints its statement, or writes its dbt model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import echo_notes, exit_on_error
from sqlrank.cli.parsing import list_sources, output_file, parse_columns, parse_group_columns, parse_inputs, parse_policies, parse_runs
from sqlrank.errors import SqlrankError
from sqlrank.output.dbt_files import write_dbt_files
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result
from sqlrank.registry.loader import registry_for

NON_MODEL_ARGUMENTS = ("connection", "insert", "overwrite_by", "retract", "batch_where", "inputs")
"""Arguments that dbt models do not support."""


def rollup(
    metrics: opt.Metrics,
    predictions: opt.Predictions = None,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    queries: opt.Queries = None,
    input: opt.Inputs = None,  # noqa: A002  the option's public name
    by: Annotated[
        list[str] | None,
        typer.Option(help="A column that rows can be chosen and rolled up by later, such as day. Write a,b for both, or repeat."),
    ] = None,
    binning: Annotated[str, typer.Option(help="grid, or exact: a bin for each distinct score, for few of them.")] = "grid",
    n_bins: Annotated[int, typer.Option(help="Bins of the grid between 0 and 1.")] = 1024,
    exact_score: Annotated[
        list[float] | None, typer.Option(help="A score with a bin of its own, such as those of the curve CommonScores. Repeat for more.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="The column whose values are sampled independently, such as user_id, for rankings query_id: for intervals."),
    ] = None,
    n_buckets: Annotated[int | None, typer.Option(help="Number of buckets of these units, 32 by default.")] = None,
    where: opt.Where = None,
    db: opt.DatabaseFile = None,
    column: opt.ColumnMapping = None,
    policy: opt.Policy = None,
    sql_dir: opt.SqlDir = None,
    insert: Annotated[str | None, typer.Option(help="Add the rows to this table of --db, created if missing.")] = None,
    overwrite_by: Annotated[
        str | None, typer.Option(help="A column of --by, such as day: rows of --insert for its values are replaced.")
    ] = None,
    batch: Annotated[str | None, typer.Option(help="A name for these rows. --insert rejects a name that the table already has.")] = None,
    retract: Annotated[bool, typer.Option("--retract", help="With --batch: rows to retract, as sums and counts below zero.")] = False,
    batch_where: Annotated[
        str | None, typer.Option(help="With --batch: a condition on its rows that is no part of the definition.")
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the statement instead, to be run in a warehouse.")] = False,
    dialect: opt.DialectName = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="With --sql: create this table of the rows.")] = None,
    dbt: Annotated[
        Path | None,
        typer.Option(help="Write a dbt model instead, which builds each day as a batch, such as models/daily_rollup.sql, and its .yml."),
    ] = None,
    begin: Annotated[str | None, typer.Option(help="With --dbt: the first day, such as 2026-01-01.")] = None,
    lookback: Annotated[int, typer.Option(help="With --dbt: number of days before the last that each run rebuilds.")] = 3,
    format: opt.FormatOption = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    digits: opt.Digits = None,
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Build a rollup: partial aggregates per day and group, from which evaluate --rollup computes metrics of any days."""
    with exit_on_error():
        options: dict[str, Any] = {
            "predictions": predictions,
            "run": parse_runs(run),
            "qrels": qrels,
            "queries": queries,
            "inputs": parse_inputs(input),
            "by": parse_group_columns(by),
            "binning": binning,
            "n_bins": n_bins,
            "exact_scores": exact_score or (),
            "unit": unit,
            "n_buckets": n_buckets,
            "connection": db,
            "columns": parse_columns(column),
            "where": where,
            "insert": insert,
            "overwrite_by": overwrite_by,
            "batch": batch,
            "retract": retract,
            "batch_where": batch_where,
            "sql_dir": sql_dir,
            **parse_policies(policy, sql_dir),
        }
        if sql:
            typer.echo(sqlrank.rollup_sql(metrics, **options, dialect=dialect, create_table=create_table) + ";")
            return
        if dbt is not None:
            _write_model(dbt, metrics, options, force, list_sources(sql_dir=sql_dir), dialect=dialect, begin=begin, lookback=lookback)
            return
        if begin is not None:
            raise SqlrankError("--begin is for --dbt")
        if dialect != "duckdb" or create_table:
            raise SqlrankError("--dialect and --create-table are for --sql (--dialect for --dbt, too)")
        form = resolve_format(format, output, digits)
        sources = list_sources(predictions, qrels, queries, db, run=run, input=input, sql_dir=sql_dir)
        file = output_file(output, FileKind.ROLLUP, force, sources)
        limits = {"memory_limit": memory_limit, "threads": threads, "temp_directory": temp_directory, "timeout": timeout}
        result = sqlrank.rollup(metrics, **options, check=check, **limits)  # type: ignore[arg-type]
        if insert is None or output is not None:
            write_result(result, form, FileKind.ROLLUP, file, TableStyle.for_result(result, registry_for(sql_dir), digits))
        if insert is not None:
            typer.echo(f"inserted {result.num_rows:,} row{'s' * (result.num_rows != 1)} into {insert}", err=True)
        echo_notes(result)


def _write_model(path: Path, metrics: Any, options: dict[str, Any], force: bool, sources: tuple[Any, ...], **model_options: Any) -> None:
    """Write a dbt model and its YAML file."""
    clash = [f"--{name.replace('connection', 'db')}" for name in NON_MODEL_ARGUMENTS if options[name]]
    if clash:
        raise SqlrankError(f"{clash[0]} is not for --dbt, which writes a model over models and sources")
    if model_options["begin"] is None:
        raise SqlrankError("--dbt needs --begin, the first day, such as --begin 2026-01-01")
    model_arguments = {name: value for name, value in options.items() if name not in NON_MODEL_ARGUMENTS}
    for file in write_dbt_files(
        path, FileKind.DBT_ROLLUP, force, sources, lambda name: sqlrank.rollup_model(metrics, name, **model_arguments, **model_options)
    ):
        typer.echo(f"wrote {file}", err=True)
