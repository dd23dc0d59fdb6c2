"""Define the commands ``sqlrank compare``, which compares systems, and ``sqlrank gate``, which tests a candidate, with an exit status."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import echo_notes, exit_on_error, progress_bar
from sqlrank.cli.parsing import call_arguments, list_sources, output_file, parse_groupings, parse_pairs, parse_tolerance_options
from sqlrank.cli.verdict_output import Junit, Summary, TreatInconclusiveAs, VerdictOutput
from sqlrank.output.display import (
    DEFAULT_DIGITS,
    Format,
    comparison_display_columns,
    format_system_table,
    gate_display_columns,
    select_display_columns,
    terminal_width,
)
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, resolve_format, write_result

System = Annotated[str, typer.Option(help="The column that identifies systems. Several --run are systems of their own.")]
By = Annotated[list[str] | None, typer.Option(help="Column to group by. Write a,b for both and 'total' for all rows. Repeat for more.")]
Level = Annotated[float, typer.Option("--confidence", help="Confidence level of intervals, such as 0.95.")]


def compare(
    metrics: opt.Metrics,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    rollup: Annotated[
        list[str] | None,
        typer.Option(help="A rollup of a system, instead of rows: name=rollup. Repeat for each system."),
    ] = None,
    db: opt.DatabaseFile = None,
    system: System = "system",
    by: By = None,
    unit: opt.Unit = None,
    baseline: Annotated[str | None, typer.Option(help="The system to compare with. Default: all pairs.")] = None,
    lower_is_better: opt.LowerIsBetter = None,
    test: Annotated[str, typer.Option(help="t, wilcoxon, sign or randomization.")] = "t",
    correction: Annotated[str, typer.Option(help="Correction for multiple comparisons: holm, bh, max_t or none.")] = "holm",
    confidence: Level = 0.95,
    target_effect: Annotated[
        str | None, typer.Option(help="Effect size to detect, 0.01 or 1% of the baseline: required_units queries detect it.")
    ] = None,
    power: Annotated[float, typer.Option(help="Statistical power behind mde and required_units.")] = 0.8,
    replicates: Annotated[int | None, typer.Option(help="Number of random sign draws, for randomization and max_t. Default: 9999.")] = None,
    seed: opt.Seed = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="The differences of queries, the greatest loss first.")] = False,
    where: opt.Where = None,
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
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Compare systems: paired differences with confidence intervals and tests."""
    with exit_on_error():
        form = resolve_format(format, output, digits)
        rollups = parse_pairs("--rollup", rollup)
        sources = list_sources(qrels, predictions, queries, db, baseline, *rollups.values(), run=run, input=input, sql_dir=sql_dir)
        file = output_file(output, FileKind.COMPARISON, force, sources)
    with exit_on_error(), progress_bar("comparing") as progress:
        arguments = call_arguments(
            metrics=metrics, run=run, qrels=qrels, predictions=predictions, queries=queries, db=db, system=system, unit=unit, baseline=baseline, test=test,
            correction=correction, confidence=confidence, target_effect=target_effect, power=power, replicates=replicates, seed=seed, per_query=per_query,
            lower_is_better=lower_is_better or (), where=where, column=column, compat=compat, names=names, policy=policy, plan=plan, input=input, sql_dir=sql_dir, check=check, memory_limit=memory_limit,
            threads=threads, timeout=timeout,
        )  # fmt: skip
        result = sqlrank.compare(**arguments, rollups=rollups or None, by=parse_groupings(by), progress=progress)
    with exit_on_error():
        # A correction widens intervals beyond the level that was asked for, which a reader of a gate's intervals would miss.
        is_corrected = any(level is not None and level > confidence for level in result["ci_level"].to_pylist()) if not per_query else False
        shows_level = is_corrected and form is Format.table and file is None and terminal_width() is not None
        displayed_columns = comparison_display_columns(result, has_target_effect=target_effect is not None, shows_level=shows_level)
        displayed = select_display_columns(result, displayed_columns) if form in HUMAN_FORMATS and not per_query else result
        style = TableStyle(DEFAULT_DIGITS if digits is None else digits, num_hidden=result.num_columns - displayed.num_columns)
        systems = format_system_table(result, style.digits) if form is Format.latex and not per_query else None
        if systems is None:
            write_result(displayed, form, FileKind.COMPARISON, file, style)
        else:
            typer.echo(systems, nl=False) if file is None else file.write(systems)
    echo_notes(result)
    if not per_query and "unpaired" in result.column_names:
        unpaired, paired = max(zip(result["unpaired"].to_pylist(), result["n_units"].to_pylist(), strict=True), default=(0, 0))
        if unpaired:
            note = f"{unpaired:,} of {unpaired + paired:,} units have a value for one of two systems only. Comparisons leave them out"
            typer.echo(f"note: {note}", err=True)


def gate(
    metrics: opt.Metrics,
    run: opt.Run = None,
    qrels: opt.Qrels = None,
    predictions: opt.Predictions = None,
    queries: opt.Queries = None,
    db: opt.DatabaseFile = None,
    system: System = "system",
    by: By = None,
    across: opt.Across = None,
    unit: opt.Unit = None,
    baseline: Annotated[
        str | None, typer.Option(help="The system that is the baseline (the first given), or a Parquet file of evaluate --per-query.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(help="Tolerated loss of a metric, or difference of groups: 0.01, 2%, or of one metric AP=2%. Repeat for more."),
    ] = None,
    min_units: Annotated[int, typer.Option(help="Queries below which a group is skipped.")] = 20,
    lower_is_better: opt.LowerIsBetter = None,
    confidence: Level = 0.95,
    treat_inconclusive_as: TreatInconclusiveAs = None,
    summary_file: Summary = None,
    junit_file: Junit = None,
    where: opt.Where = None,
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
    check: opt.Check = "auto",
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Test that a candidate is not worse than a baseline, or with --across that groups don't differ. Exit status: 0 pass, 1 fail, 3 inconclusive, 2 error."""
    with exit_on_error():
        form = resolve_format(format, output, digits)
        verdict_output = VerdictOutput.from_options(
            "gate",
            FileKind.VERDICTS,
            treat_inconclusive_as=treat_inconclusive_as,
            output=output,
            summary=summary_file,
            junit=junit_file,
            force=force,
            sources=list_sources(qrels, predictions, queries, db, baseline, run=run, input=input, sql_dir=sql_dir),
        )
    with exit_on_error(), verdict_output.report_error(), progress_bar("gating") as progress:
        arguments = call_arguments(
            metrics=metrics, run=run, qrels=qrels, predictions=predictions, queries=queries, db=db, system=system, unit=unit, baseline=baseline,
            min_units=min_units, lower_is_better=lower_is_better or (), confidence=confidence, where=where, column=column, compat=compat, names=names, policy=policy, plan=plan, input=input,
            sql_dir=sql_dir, check=check, memory_limit=memory_limit, threads=threads, timeout=timeout,
        )  # fmt: skip
        result = sqlrank.gate(
            **arguments,
            by=parse_groupings(by) if across else _gate_groupings(by),
            across=across or (),
            tolerance=parse_tolerance_options("--tolerance", tolerance) or {"*": "0"},
            progress=progress,
        )
    decimals = DEFAULT_DIGITS if digits is None else digits
    displayed = gate_display_columns(result)
    verdict_output.write_and_exit(
        result, displayed, form, decimals, select_display_columns(result, displayed) if form in HUMAN_FORMATS else result
    )


def _gate_groupings(by: list[str] | None) -> Any:
    """Return the groupings of a gate: all rows, and each named column or grouping."""
    groupings = parse_groupings(by)
    return (
        [[], *([grouping] for grouping in groupings)]
        if groupings and isinstance(groupings[0], str)
        else groupings and [[], *(grouping for grouping in groupings if grouping)]
    )
