"""The command ``sqlrank report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.given import asked, groupings, runs
from sqlrank.cli.options import (
    By,
    Check,
    ColumnOf,
    Compat,
    Database,
    Force,
    Inputs,
    Memory,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Run,
    SqlDir,
    TempDirectory,
    Threads,
    Timeout,
    Unit,
    Where,
    metric_names,
)  # fmt: skip
from sqlrank.errors import SqlrankError
from sqlrank.reports.page import check_page, need

Reported = Annotated[
    list[str] | None,
    typer.Argument(help="What to compute, such as nDCG@10 AP; unless said, five common ones.", autocompletion=metric_names),
]


def report(
    metrics: Reported = None,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    db: Database = None,
    by: By = None,
    system: Annotated[str | None, typer.Option(help="The column that tells systems apart, where they are in one table.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The system to compare with; without one, all pairs.")] = None,
    where: Where = None,
    confidence: Annotated[float, typer.Option(help="Of intervals, such as 0.95.")] = 0.95,
    unit: Unit = None,
    title: Annotated[str, typer.Option(help="The heading of the page.")] = "sqlrank report",
    when: Annotated[str | None, typer.Option(help="What the page says of when it was made; now unless given.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows of a table that are shown at most.")] = 50,
    examples: Annotated[int, typer.Option(min=0, help="Of how many queries at each end both lists are shown.")] = 3,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The page: a file that ends in .html.")] = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Write one page to hand over: metrics, systems compared, curves, slices, queries, and an account of the data."""
    given = dict(locals())
    with problems():
        if output is None:
            raise SqlrankError("name the file to write with -o, such as -o report.html")
        need()
        check_page(output, force, [*leaves(runs(run)), qrels, predictions, queries, db, *pairs("--input", input).values()])
    with problems(), progress_bar("reporting") as progress:
        found = sqlrank.report(**{**asked(given, "by"), "metrics": metrics or None}, by=groupings(by), progress=progress)
    with problems():
        found.save(output, force=force)
        typer.echo(f"wrote {output}", err=True)
