"""Define the command ``sqlrank explain``, which prints a metric value with the rows of its intermediate CTEs."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import call_arguments
from sqlrank.output.display import terminal_width


def explain(
    metric: Annotated[str, typer.Argument(help="The metric, such as nDCG@10.", autocompletion=opt.metric_names)],
    query: Annotated[str | None, typer.Option(help="The query whose value is explained.")] = None,
    run: Annotated[str | None, typer.Option(help="The run: a TREC or Parquet file, CSV, or a table.")] = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    db: opt.DatabaseFile = None,
    where: opt.Where = None,
    show_where: Annotated[str | None, typer.Option(help="Condition on the rows shown: \"true_cluster = 'Ann'\".")] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum rows shown per step.")] = 20,
    column: opt.ColumnMapping = None,
    compat: opt.Compat = None,
    policy: opt.Policy = None,
    plan: opt.Plan = None,
    input: opt.Inputs = None,  # noqa: A002  the option's public name
    sql_dir: opt.SqlDir = None,
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
) -> None:
    """Explain a metric value: rows of each intermediate CTE, and its expression with aggregates substituted."""
    with exit_on_error():
        arguments = call_arguments(
            metric=metric, query=query, run=None if run is None else [run], qrels=qrels, predictions=predictions, queries=queries, db=db,
            where=where, show_where=show_where, max_rows=max_rows, column=column, compat=compat, policy=policy, plan=plan, input=input, sql_dir=sql_dir,
            check=check, memory_limit=memory_limit, threads=threads, temp_directory=temp_directory, timeout=timeout,
        )  # fmt: skip
        typer.echo(sqlrank.explain(**arguments).to_text(terminal_width()))
