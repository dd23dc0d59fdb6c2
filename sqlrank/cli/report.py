"""Define the command ``sqlrank report``, which writes results of several calls as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error, progress_bar
from sqlrank.cli.parsing import call_arguments, list_sources, parse_groupings, parse_tolerance_options
from sqlrank.errors import SqlrankError
from sqlrank.reports.html_page import page_file, require_report_modules

Reported = Annotated[
    list[str] | None,
    typer.Argument(help="Metrics, such as nDCG@10 AP. Default: five common ones.", autocompletion=opt.metric_names),
]


def report(
    metrics: Reported = None,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    rollup: opt.Rollup = None,
    experiment: Annotated[
        Path | None, typer.Option(help="Report this result of 'sqlrank experiment', a Parquet file that it wrote with -o.")
    ] = None,
    db: opt.DatabaseFile = None,
    by: opt.By = None,
    system: Annotated[str | None, typer.Option(help="The column that identifies systems, if they are in one table.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The system to compare with. Default: all pairs.")] = None,
    lower_is_better: opt.LowerIsBetter = None,
    where: opt.Where = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of intervals, such as 0.95.")] = 0.95,
    unit: opt.Unit = None,
    window_days: opt.WindowDays = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Of a rollup: a condition on the rows compared with. Default: the days before the last window, or 7 days."),
    ] = None,
    current: Annotated[str | None, typer.Option(help="Of a rollup: a condition on the rows to compare. Default: all rows.")] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(help="Of a rollup or experiment: a tolerated change, 0.01, 2%, or of one metric AUC=0.01. Repeat for more."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the page. Default: what is compared.")] = None,
    created_at: Annotated[str | None, typer.Option(help="Creation time shown on the page. Default: now.")] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum number of rows shown per table.")] = 50,
    query_examples: Annotated[
        int, typer.Option(min=0, help="Number of queries with the largest losses, and with the largest gains, whose lists are shown.")
    ] = 3,
    column: opt.ColumnMapping = None,
    compat: opt.Compat = None,
    policy: opt.Policy = None,
    plan: opt.Plan = None,
    input: opt.Inputs = None,  # noqa: A002  the option's public name
    sql_dir: opt.SqlDir = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The page: a file that ends in .html.")] = None,
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Write an HTML report: metrics, comparisons, curves, groups, queries and data counts, a rollup over days, or an experiment."""
    with exit_on_error():
        if output is None:
            raise SqlrankError("name the file to write with -o, such as -o report.html")
        require_report_modules()
        sources = list_sources(qrels, predictions, queries, rollup, experiment, db, baseline, run=run, input=input, sql_dir=sql_dir)
        file = page_file(output, "-o", force, sources)
    with exit_on_error(), progress_bar("reporting") as progress:
        arguments = call_arguments(
            metrics=metrics or None, run=run, qrels=qrels, predictions=predictions, queries=queries, db=db, system=system,
            baseline=baseline, lower_is_better=lower_is_better or (), where=where, confidence=confidence, unit=unit, rollup=rollup, experiment=experiment, window_days=window_days, reference=reference,
            current=current, tolerance=parse_tolerance_options("--tolerance", tolerance) or None, title=title, created_at=created_at, max_rows=max_rows,
            query_examples=query_examples, column=column, compat=compat, policy=policy, plan=plan, input=input, sql_dir=sql_dir, check=check,
            memory_limit=memory_limit, threads=threads, temp_directory=temp_directory, timeout=timeout,
        )  # fmt: skip
        page = sqlrank.report(**arguments, by=parse_groupings(by), progress=progress)
    with exit_on_error():
        file.write(page.html)
