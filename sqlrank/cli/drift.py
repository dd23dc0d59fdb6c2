"""The command ``sqlrank drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sqlrank
from sqlrank.cli.compare import EXITS
from sqlrank.cli.console import problems
from sqlrank.cli.given import policies, tolerances
from sqlrank.cli.options import (
    Confidence,
    Database,
    Digits,
    Force,
    Memory,
    Metrics,
    Output,
    Policy,
    SqlDir,
    TempDirectory,
    Threads,
    Timeout,
    Where,
    Written,
)  # fmt: skip
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import DIGITS, FOR_PEOPLE, Looks, form_of, write
from sqlrank.results.targets import check_target
from sqlrank.results.verdicts import DRIFTED, SURELY_DRIFTED, append, summary


def drift(
    metrics: Metrics,
    state: Annotated[str, typer.Option(help="Sums that 'sqlrank state' made: a table, a Parquet or CSV file, a pattern or a folder.")],
    reference: Annotated[str, typer.Option(help="A condition on what is compared with, such as \"day < '2026-03-01'\".")],
    where: Where = None,
    by: Annotated[list[str] | None, typer.Option(help="A column within which is compared, such as campaign. Repeat for more.")] = None,
    at_most: Annotated[
        list[str] | None, typer.Option(help="By how much a metric may have moved: 0.01, 2%, or of one metric PSI=0.2. Repeat for more.")
    ] = None,
    confidence: Confidence = None,
    inconclusive: Annotated[
        str | None, typer.Option(help="Count what is inconclusive as pass or as fail, instead of exit status 3.")
    ] = None,
    summary_file: Annotated[Path | None, typer.Option("--summary", help="Add a summary in Markdown to this file.")] = None,
    db: Database = None,
    policy: Policy = None,
    sql_dir: SqlDir = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Say how metrics and scores of a state moved; with --at-most exit status 0 for pass, 1 for fail, 3 for inconclusive, 2 for a wrong call."""
    with problems():
        form = form_of(format, output, digits)
        if inconclusive not in {None, "pass", "fail"}:
            raise SqlrankError(f"--inconclusive {inconclusive}: give pass or fail")
        if not at_most and (inconclusive or summary_file):
            raise SqlrankError("--inconclusive and --summary are for verdicts, which need --at-most")
        for path in (output, summary_file):
            check_target(path, force or path is not output, [state, db])
        result = sqlrank.drift(
            metrics,
            state=state,
            reference=reference,
            where=where,
            by=by or (),
            at_most=tolerances("--at-most", at_most) or None,
            confidence=confidence,
            connection=db,
            sql_dir=sql_dir,
            memory_limit=memory_limit,
            threads=threads,
            temp_directory=temp_directory,
            timeout=timeout,
            **policies(policy),
        )
        decimals = DIGITS if digits is None else digits
        write(result, form, output, Looks(decimals, is_upright=True))
        if not at_most:
            return
        if summary_file is not None:
            append(summary_file, summary(result, decimals, "drift", DRIFTED if confidence is None else SURELY_DRIFTED))
    verdict = result.schema.metadata[b"sqlrank.verdict"].decode()
    typer.echo(f"verdict: {verdict}", err=form not in FOR_PEOPLE or output is not None)
    raise typer.Exit(EXITS[inconclusive if verdict == "inconclusive" and inconclusive else verdict])
