"""The command ``sqlrank state``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.cli.console import pairs, problems
from sqlrank.cli.given import columns, policies, runs
from sqlrank.cli.options import (
    Check,
    ColumnOf,
    Database,
    Dialect,
    Digits,
    Force,
    Inputs,
    Memory,
    Metrics,
    Output,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Run,
    SqlDir,
    TempDirectory,
    Threads,
    Timeout,
    Where,
    Written,
)  # fmt: skip
from sqlrank.errors import SqlrankError
from sqlrank.library.shelf import library_of
from sqlrank.results.formats import Looks, form_of, write, write_model
from sqlrank.results.targets import check_target

NOT_OF_MODELS = ("connection", "insert", "replace", "negative", "only", "inputs")
"""Arguments that a dbt model does not have."""


def state(
    metrics: Metrics,
    predictions: Predictions = None,
    run: Run = None,
    qrels: Qrels = None,
    queries: Queries = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    by: Annotated[
        list[str] | None, typer.Option(help="A column that rows can be chosen and rolled up by later, such as day. Repeat for more.")
    ] = None,
    bins: Annotated[str, typer.Option(help="grid, or score: each score by itself, which is exact, for few of them.")] = "grid",
    fineness: Annotated[int, typer.Option(help="Steps of the grid between 0 and 1.")] = 1024,
    atom: Annotated[
        list[float] | None, typer.Option(help="A score with a bin of its own, such as those of the curve CommonScores. Repeat for more.")
    ] = None,
    fold: Annotated[
        str | None,
        typer.Option(help="What was drawn on its own, a column such as user_id, of rankings query_id: its folds give evaluate intervals."),
    ] = None,
    folds: Annotated[int | None, typer.Option(help="How many folds of it there are, 32 unless said.")] = None,
    where: Where = None,
    db: Database = None,
    column: ColumnOf = None,
    policy: Policy = None,
    sql_dir: SqlDir = None,
    insert: Annotated[str | None, typer.Option(help="Add the rows to this table of --db, made if it is not there.")] = None,
    replace: Annotated[
        str | None, typer.Option(help="A column of --by, such as day: rows of --insert for its values are replaced.")
    ] = None,
    batch: Annotated[str | None, typer.Option(help="A name for these rows; --insert refuses one that the table has already.")] = None,
    negative: Annotated[
        bool, typer.Option("--negative", help="With --batch: rows that are taken back, as sums and counts below zero.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="With --batch: a condition on its rows that is no part of the definition.")] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the statement instead, to be run in a warehouse.")] = False,
    dialect: Dialect = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="Of that statement: make this table of the rows.")] = None,
    dbt: Annotated[
        Path | None,
        typer.Option(help="Write a dbt model instead, which builds each day as a batch, such as models/state.sql, and its .yml."),
    ] = None,
    begin: Annotated[str | None, typer.Option(help="With --dbt: the first day, such as 2026-01-01.")] = None,
    lookback: Annotated[int, typer.Option(help="With --dbt: how many days before the last are made anew by each run.")] = 3,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Make sums per day and slice, of bins of the score or of lists, from which evaluate --state has metrics of any days."""
    with problems():
        options: dict[str, Any] = {
            "predictions": predictions,
            "run": runs(run),
            "qrels": qrels,
            "queries": queries,
            "inputs": pairs("--input", input),
            "by": by or (),
            "bins": bins,
            "fineness": fineness,
            "atoms": atom or (),
            "fold": fold,
            "folds": folds,
            "connection": db,
            "columns": columns(column),
            "where": where,
            "insert": insert,
            "replace": replace,
            "batch": batch,
            "negative": negative,
            "only": only,
            "sql_dir": sql_dir,
            **policies(policy),
        }
        if sql:
            typer.echo(sqlrank.state_sql(metrics, **options, dialect=dialect, create_table=create_table) + ";")
            return
        if dbt is not None:
            _write_model(dbt, metrics, options, force, dialect=dialect, begin=begin, lookback=lookback)
            return
        if begin is not None:
            raise SqlrankError("--begin is for --dbt")
        if dialect != "duckdb" or create_table:
            raise SqlrankError("--dialect and --create-table are for --sql (--dialect for --dbt, too)")
        form = form_of(format, output, digits)
        check_target(output, force, [*leaves(options["run"]), predictions, qrels, queries, db, *options["inputs"].values()])
        limits = {"memory_limit": memory_limit, "threads": threads, "temp_directory": temp_directory, "timeout": timeout}
        result = sqlrank.state(metrics, **options, check=check, **limits)  # type: ignore[arg-type]
        if insert is None or output is not None:
            write(result, form, output, Looks.of(result.column_names, library_of(sql_dir), digits))
        if insert is not None:
            typer.echo(f"{result.num_rows:,} rows in {insert}", err=True)


def _write_model(path: Path, metrics: Any, options: dict[str, Any], is_forced: bool, **asked: Any) -> None:
    """Write a dbt model and the YAML file beside it."""
    clash = [f"--{name.replace('connection', 'db')}" for name in NOT_OF_MODELS if options[name]]
    if clash:
        raise SqlrankError(f"{clash[0]} is not for --dbt, which writes a model over models and sources")
    if asked["begin"] is None:
        raise SqlrankError("--dbt needs --begin, the first day, such as --begin 2026-01-01")
    given = {name: value for name, value in options.items() if name not in NOT_OF_MODELS}
    for file in write_model(path, lambda name: sqlrank.state_model(metrics, name, **given, **asked), is_forced):
        typer.echo(f"wrote {file}", err=True)
