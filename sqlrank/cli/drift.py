"""Define the command ``sqlrank drift``, which compares rows of a rollup with reference rows, and with a tolerance sets verdicts and exit status."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import list_sources, parse_group_columns, parse_policies, parse_tolerance_options
from sqlrank.cli.verdict_output import Junit, Summary, TreatInconclusiveAs, VerdictOutput
from sqlrank.errors import SqlrankError
from sqlrank.output.display import DEFAULT_DIGITS, Format, drift_display_columns, select_display_columns, terminal_width
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result
from sqlrank.result_columns import DRIFT_DISPLAY


def drift(
    metrics: opt.Metrics,
    rollup: Annotated[
        str, typer.Option(help="A rollup that 'sqlrank rollup' made: a table, a Parquet or CSV file, a pattern or a folder.")
    ],
    reference: Annotated[str, typer.Option(help="A condition on the rows compared with, such as \"day < '2026-03-01'\".")],
    current: Annotated[
        str | None, typer.Option(help="A condition on the rows to compare, such as \"day >= '2026-03-01'\". Default: all rows.")
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column to group by, such as campaign. Write a,b for both, or repeat.")] = None,
    tolerance: Annotated[
        list[str] | None, typer.Option(help="Tolerated change of a metric: 0.01, 2%, or of one metric PSI=0.2. Repeat for more.")
    ] = None,
    confidence: opt.Confidence = None,
    treat_inconclusive_as: TreatInconclusiveAs = None,
    summary_file: Summary = None,
    junit_file: Junit = None,
    db: opt.DatabaseFile = None,
    policy: opt.Policy = None,
    sql_dir: opt.SqlDir = None,
    format: opt.FormatOption = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    digits: opt.Digits = None,
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    temp_directory: opt.TempDirectory = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Detect drift of metrics and scores in a rollup. With --tolerance, exit status: 0 pass, 1 fail, 3 inconclusive, 2 error."""
    with exit_on_error():
        form = resolve_format(format, output, digits)
        if not tolerance and (treat_inconclusive_as or summary_file or junit_file):
            raise SqlrankError("--treat-inconclusive-as, --summary and --junit are for verdicts, which need --tolerance")
        verdict_output = VerdictOutput.from_options(
            "drift",
            FileKind.DRIFT,
            treat_inconclusive_as=treat_inconclusive_as,
            output=output,
            summary=summary_file,
            junit=junit_file,
            force=force,
            sources=list_sources(rollup, db, sql_dir=sql_dir),
        )
    with exit_on_error(), verdict_output.report_error():
        result = sqlrank.drift(
            metrics,
            rollup=rollup,
            reference=reference,
            current=current,
            by=parse_group_columns(by),
            tolerance=parse_tolerance_options("--tolerance", tolerance) or None,
            confidence=confidence,
            connection=db,
            sql_dir=sql_dir,
            memory_limit=memory_limit,
            threads=threads,
            temp_directory=temp_directory,
            timeout=timeout,
            **parse_policies(policy, sql_dir),
        )
        decimals = DEFAULT_DIGITS if digits is None else digits
        names = [name for name in DRIFT_DISPLAY if name in result.column_names]
        is_for_terminal = form is Format.table and output is None and terminal_width() is not None
        displayed = select_display_columns(result, drift_display_columns(result)) if is_for_terminal else result
        if not tolerance:
            style = TableStyle(decimals, num_hidden=result.num_columns - displayed.num_columns)
            write_result(displayed, form, FileKind.DRIFT, verdict_output.output, style)
    if tolerance:
        verdict_output.write_and_exit(result, names, form, decimals, displayed)
