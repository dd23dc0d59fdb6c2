"""Define the command ``sqlrank sql``, which prints the statement that computes or stores metrics, or writes it as a dbt model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import (
    list_sources,
    output_file,
    parse_columns,
    parse_groupings,
    parse_inputs,
    parse_pairs,
    parse_policies,
    parse_runs,
)
from sqlrank.errors import SqlrankError
from sqlrank.output.dbt_files import write_dbt_model
from sqlrank.output.output_file import FileKind


def sql(
    metrics: opt.Metrics,
    dialect: opt.DialectName = "duckdb",
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    rollup: opt.Rollup = None,
    db: opt.DatabaseFile = None,
    by: opt.By = None,
    across: opt.Across = None,
    where: opt.Where = None,
    per_query: opt.PerQuery = False,
    confidence: opt.Confidence = None,
    interval: opt.Interval = "auto",
    unit: opt.Unit = None,
    replicates: opt.Replicates = None,
    seed: opt.Seed = None,
    column: opt.ColumnMapping = None,
    compat: opt.Compat = None,
    names: opt.Names = "requested",
    policy: opt.Policy = None,
    plan: opt.Plan = None,
    input: opt.Inputs = None,  # noqa: A002  the option's public name
    sql_dir: opt.SqlDir = None,
    create_table: Annotated[str | None, typer.Option(help="Create this table of the result, such as project.dataset.metrics.")] = None,
    create_view: Annotated[str | None, typer.Option(help="Create this view of the result.")] = None,
    insert: Annotated[str | None, typer.Option(help="Add the rows of the result to this table.")] = None,
    overwrite_by: opt.OverwriteBy = None,
    dbt: opt.DbtModelName = None,
    materialized: Annotated[str | None, typer.Option(help="dbt materialization: table, view or incremental.")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Print the checks of the input rows instead, which count rows per rule.")] = False,
    output: opt.Output = None,
    force: opt.Force = False,
) -> None:
    """Print the statement that computes metrics, or stores them."""
    with exit_on_error():
        intervals = {"confidence": confidence, "interval": interval, "unit": unit, "replicates": replicates, "seed": seed}
        options: dict[str, Any] = {
            "dialect": dialect,
            "run": parse_runs(run),
            "qrels": qrels,
            "predictions": predictions,
            "queries": queries,
            "columns": parse_columns(column),
            "by": parse_groupings(by),
            "across": across or (),
            "where": where,
            "per_query": per_query,
            **intervals,
            "compat": compat,
            "sql_dir": sql_dir,
            "plan": parse_pairs("--plan", plan),
            "inputs": parse_inputs(input),
            **parse_policies(policy, sql_dir),
        }
        stored: dict[str, Any] = {
            "connection": db, "rollup": rollup, "create_table": create_table, "create_view": create_view, "insert": insert
        }  # fmt: skip
        if dbt is None:
            if materialized is not None:
                raise SqlrankError("--materialized is for --dbt")
            if force and output is None:
                raise SqlrankError("--force is for --dbt and -o, which write files. Leave it out, or name one")
            file = output_file(output, FileKind.STATEMENT, force, list_sources(sql_dir=sql_dir))
            call = {**options, **stored, "names": names, "overwrite_by": overwrite_by, "audit": audit}
            text = sqlrank.sql(metrics, **call) + ";"
            typer.echo(text) if file is None else file.write(f"{text}\n")
            return
        stored |= {"output": output, "audit": audit or None}
        clash = [f"--{name.replace('_', '-').replace('connection', 'db')}" for name, value in stored.items() if value is not None]
        if clash:
            raise SqlrankError(f"{clash[0]} is not for --dbt, which writes a model over models and sources")
        for path in write_dbt_model(
            dbt, metrics, force, list_sources(sql_dir=sql_dir), materialized=materialized or "table", overwrite_by=overwrite_by, **options
        ):
            typer.echo(f"wrote {path}", err=True)
