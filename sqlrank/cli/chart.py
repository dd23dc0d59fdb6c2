"""Define the command ``sqlrank chart``, which draws metrics, a curve or a stored result as an image or an HTML page."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.charts.export import chart_bytes, check_suffix, warm_up_renderer
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error, progress_bar
from sqlrank.cli.parsing import call_arguments, list_sources, parse_groupings
from sqlrank.engines.worker_threads import WORKER_THREAD_NAME
from sqlrank.errors import SqlrankError
from sqlrank.output.display import sort_and_limit
from sqlrank.output.output_file import FileKind, OutputFile
from sqlrank.registry.loader import registry_for
from sqlrank.stored_results import read_parquet

Drawn = Annotated[
    list[str] | None,
    typer.Argument(help="Curve or metrics to draw, such as ROC, nDCG@1..20, or nDCG@10 AP.", autocompletion=opt.metric_names),
]


def chart(
    metrics: Drawn = None,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    rollup: opt.Rollup = None,
    window_days: opt.WindowDays = None,
    window_ends: opt.WindowEnd = None,
    db: opt.DatabaseFile = None,
    result: Annotated[
        Path | None, typer.Option(help="Draw this result instead, a Parquet file that evaluate, compare or experiment wrote with -o.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of chart: roc, pr, gain, lift, threshold, calibration, confusion, cutoffs, line, heatmap, dots, forest or differences. Default: chosen from the result."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the chart. Default: its metrics.")] = None,
    by: opt.By = None,
    where: opt.Where = None,
    confidence: opt.Confidence = None,
    interval: opt.Interval = "auto",
    unit: opt.Unit = None,
    column: opt.ColumnMapping = None,
    compat: opt.Compat = None,
    policy: opt.Policy = None,
    plan: opt.Plan = None,
    input: opt.Inputs = None,  # noqa: A002  the option's public name
    sql_dir: opt.SqlDir = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file: .svg, .png, .pdf, .html or .json.")] = None,
    sort: opt.Sort = None,
    top: opt.Top = None,
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Draw metrics, a curve or a stored result as an image or an HTML page."""
    with exit_on_error():
        sources = list_sources(qrels, predictions, queries, rollup, db, result, run=run, input=input, sql_dir=sql_dir)
        file = _check_target(output, kind, force, sources)
        if (result is None) is (not metrics):
            raise SqlrankError("name what to draw, such as ROC, or a stored result with --result FILE: one of the two")
    # Process exit does not wait for threads of this name, which matters if an error leaves nothing to draw.
    warm_up = Thread(target=warm_up_renderer, args=(file.path,), name=WORKER_THREAD_NAME, daemon=True)
    warm_up.start()
    with exit_on_error(), progress_bar("evaluating") as progress:
        if result is not None:
            table = _read_stored_result(result)
        else:
            arguments = call_arguments(
                metrics=metrics, run=run, qrels=qrels, predictions=predictions, queries=queries, rollup=rollup, window_days=window_days, window_ends=window_ends,
                db=db, where=where, confidence=confidence, interval=interval, unit=unit, column=column, compat=compat, policy=policy,
                plan=plan, input=input, sql_dir=sql_dir, check=check, memory_limit=memory_limit, threads=threads,
                temp_directory=temp_directory, timeout=timeout,
            )  # fmt: skip
            table = sqlrank.evaluate(**arguments, by=parse_groupings(by), progress=progress)
    with exit_on_error():
        warm_up.join()
        file.write(chart_bytes(sqlrank.chart(sort_and_limit(table, registry_for(sql_dir), sort, top), kind, title=title), file.path))


def _check_target(output: Path | None, kind: str | None, force: bool, sources: tuple[Any, ...]) -> OutputFile:
    """Return the output file; raise ``SqlrankError`` for an invalid file or kind before any work."""
    if output is None:
        raise SqlrankError("name the file to draw with -o, such as -o roc.svg")
    file = OutputFile(output, FileKind.CHART, force=force, sources=sources)
    check_suffix(file)
    from sqlrank.charts.chart_kinds import check_kind  # noqa: PLC0415  half a second that help does not need

    check_kind(kind)
    return file


def _read_stored_result(path: Path) -> Any:
    """Return a result stored as Parquet."""
    if not path.is_file():
        raise SqlrankError(f"--result {path}: there is no such file. Store a result with -o {path.with_suffix('.parquet').name}")
    return read_parquet(
        path, f"--result {path}", "Other formats do not keep the metadata of columns. Write the result again with -o result.parquet"
    )
