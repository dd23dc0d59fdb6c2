"""Define the command ``sqlrank evaluate``, which evaluates metrics of rows or of a rollup, and prints or writes them."""

from __future__ import annotations

from functools import partial

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import echo_notes, exit_on_error, progress_bar
from sqlrank.cli.option_messages import as_option_message
from sqlrank.cli.parsing import call_arguments, list_sources, output_file, parse_groupings
from sqlrank.errors import SqlrankError
from sqlrank.output.display import append_total as totalled
from sqlrank.output.display import display_differences, null_reasons, sort_and_limit, to_long_format
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, resolve_format, write_result
from sqlrank.registry.loader import registry_for


def evaluate(
    metrics: opt.Metrics,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    rollup: opt.Rollup = None,
    window_days: opt.WindowDays = None,
    window_ends: opt.WindowEnd = None,
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
    format: opt.FormatOption = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    digits: opt.Digits = None,
    sort: opt.Sort = None,
    top: opt.Top = None,
    with_total: opt.WithTotal = False,
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Evaluate metrics and print them."""
    with exit_on_error():
        form = resolve_format(format, output, digits)
        sources = list_sources(qrels, predictions, queries, rollup, db, run=run, input=input, sql_dir=sql_dir)
        file = output_file(output, FileKind.METRICS, force, sources)
    with exit_on_error(), progress_bar("evaluating") as progress:
        if with_total and not per_query:
            raise SqlrankError("--with-total is for --per-query")
        arguments = call_arguments(
            metrics=metrics, run=run, qrels=qrels, predictions=predictions, queries=queries, rollup=rollup, window_days=window_days, window_ends=window_ends, db=db,
            where=where, confidence=confidence, interval=interval, unit=unit, replicates=replicates, seed=seed, column=column, compat=compat, names=names,
            policy=policy, plan=plan, input=input, sql_dir=sql_dir, check=check, memory_limit=memory_limit, threads=threads,
            temp_directory=temp_directory, timeout=timeout,
        )  # fmt: skip
        evaluated = partial(sqlrank.evaluate, **arguments, by=parse_groupings(by), across=across or (), progress=progress)
        result = evaluated(per_query=per_query)
        library = registry_for(sql_dir)
        displayed = sort_and_limit(result, library, sort, top)
        displayed = display_differences(displayed) if across and form in HUMAN_FORMATS else displayed
        displayed = totalled(displayed, evaluated(per_query=False)) if with_total else displayed
        displayed = to_long_format(displayed) if confidence is not None and not across and form in HUMAN_FORMATS else displayed
    with exit_on_error():
        write_result(
            displayed,
            form,
            FileKind.METRICS,
            file,
            TableStyle.for_result(displayed, library, digits, with_total),
        )
    echo_notes(result)
    for reason in null_reasons(result):
        typer.echo(f"note: {as_option_message(reason)}", err=True)
    searched = result.schema.metadata.get(b"sqlrank.duplicates_searched", b"none").decode()
    if searched not in {"all rows", "none"}:
        typer.echo(f"note: searched for duplicates among {searched} only. --check full searches all", err=True)
