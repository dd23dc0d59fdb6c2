"""The command ``sqlrank explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sqlrank
from sqlrank.cli.console import pairs, problems
from sqlrank.cli.given import columns, policies
from sqlrank.cli.options import (
    ColumnOf,
    Compat,
    Database,
    Inputs,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    SqlDir,
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
    rows: Annotated[int, typer.Option(min=1, help="Rows of a step that are shown.")] = 20,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    check: Annotated[str, typer.Option(help="auto, full (search all rows for duplicates) or off.")] = "auto",
    memory_limit: Annotated[str | None, typer.Option(help="Memory DuckDB may use, such as 2GB; the rest is spilled.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads DuckDB may use.")] = None,
    temp_directory: Annotated[Path | None, typer.Option(help="Where to spill.")] = None,
    timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds after which to give up.")] = None,
) -> None:
    """Show why a metric is what it is: the rows of every step, and its expression with its sums put in."""
    with problems():
        found = sqlrank.explain(
            metric,
            query=query,
            run=run,
            qrels=qrels,
            predictions=predictions,
            queries=queries,
            inputs=pairs("--input", input),
            connection=db,
            columns=columns(column),
            where=where,
            rows=rows,
            compat=compat,
            check=check,  # type: ignore[arg-type]
            sql_dir=sql_dir,
            plan=pairs("--plan", plan),
            memory_limit=memory_limit,
            threads=threads,
            temp_directory=temp_directory,
            timeout=timeout,
            **policies(policy),
        )
        typer.echo(str(found))
