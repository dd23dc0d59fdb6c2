"""The command ``sqlrank explain``."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
from sqlrank.cli.console import problems
from sqlrank.cli.given import asked
from sqlrank.cli.options import (
    Check,
    ColumnOf,
    Compat,
    Database,
    Inputs,
    Memory,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    SqlDir,
    TempDirectory,
    Threads,
    Timeout,
    Where,
    metric_names,
)  # fmt: skip


def explain(
    metric: Annotated[str, typer.Argument(help="The metric, such as nDCG@10.", autocompletion=metric_names)],
    query: Annotated[str | None, typer.Option(help="The query whose value is explained.")] = None,
    run: Annotated[str | None, typer.Option(help="The run: a TREC or Parquet file, CSV, or a table.")] = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    db: Database = None,
    where: Where = None,
    show: Annotated[str | None, typer.Option(help="Show only the rows of steps for which this is true: \"true_cluster = 'Ann'\".")] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows of a step that are shown.")] = 20,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
) -> None:
    """Show why a metric is what it is: the rows of every step, and its expression with its sums put in."""
    given = dict(locals())
    with problems():
        found = sqlrank.explain(**asked({**given, "run": run and [run]}))
        typer.echo(str(found))
