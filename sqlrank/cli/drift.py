"""The command ``sqlrank drift``."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
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
from sqlrank.cli.verdict import Ending, Inconclusive, Junit, Summary
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import DIGITS, Looks, form_of, write
from sqlrank.results.targets import check_target
from sqlrank.results.verdicts import DRIFTED, SURELY_DRIFTED


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
    inconclusive: Inconclusive = None,
    summary_file: Summary = None,
    junit_file: Junit = None,
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
        ending = Ending("drift", inconclusive, summary_file, junit_file)
        if not at_most and (inconclusive or summary_file or junit_file):
            raise SqlrankError("--inconclusive, --summary and --junit are for verdicts, which need --at-most")
        for path in (output, summary_file, junit_file):
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
    if at_most:
        ending.tell(result, DRIFTED if confidence is None else SURELY_DRIFTED, form, output, decimals)
