"""Define the command ``sqlrank experiment``, which estimates effects of an online experiment, or prints the statement that does."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import echo_notes, exit_on_error, progress_bar
from sqlrank.cli.parsing import list_sources, output_file, parse_shares_option
from sqlrank.errors import SqlrankError
from sqlrank.output.display import DEFAULT_DIGITS, format_number, select_display_columns
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, resolve_format, write_result
from sqlrank.rendering import DIALECT_NAMES
from sqlrank.result_columns import EXPERIMENT_DISPLAY

_NAMED_COLUMN = re.compile(r"\s*\w+\s*=[^=]")
_NAMED = re.compile(r"([^=()]+)=(.*)", re.DOTALL)


def _complete_choices(*names: str) -> Any:
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def experiment(
    metrics: Annotated[list[str], typer.Argument(help="Metrics: 'Mean(revenue)' 'Ratio(clicks, views)', or with names 'ctr=Ratio(...)'.")],
    data: Annotated[
        str,
        opt.source_option(
            "A row per exposure, session or unit: a table, a Parquet or CSV file, a pattern, a folder, a query, or @file.sql."
        ),
    ],
    variant: Annotated[str, typer.Option(help="The variant column.")] = "variant",
    unit: Annotated[str, typer.Option(help="The randomization unit column, such as user_id.")] = "unit_id",
    control: Annotated[str | None, typer.Option(help="The variant to compare others with. Default: 'control'.")] = None,
    covariate: Annotated[
        list[str] | None, typer.Option(help="Pre-experiment covariate (CUPED), as metric=column. For one metric, the column alone.")
    ] = None,
    expected_share: Annotated[
        list[str] | None, typer.Option(help="Expected share of units of a variant, A=0.5. Repeat for the others.")
    ] = None,
    lower_is_better: Annotated[list[str] | None, typer.Option(help="A metric of which lower values are better. Repeat for more.")] = None,
    where: Annotated[str | None, typer.Option(help="SQL condition on the rows to read: \"day = '2026-01-01'\".")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of intervals, such as 0.95.")] = 0.95,
    correction: Annotated[
        str,
        typer.Option(help="Correction for multiple comparisons: holm, bh or none.", autocompletion=_complete_choices("holm", "bh", "none")),
    ] = "holm",
    interval: Annotated[
        str,
        typer.Option(
            help="Interval method: fixed (one look, at the planned end) or sequential (every look).",
            autocompletion=_complete_choices("fixed", "sequential"),
        ),
    ] = "fixed",
    lift_scale: Annotated[
        str, typer.Option(help="Scale of lift intervals: log or linear.", autocompletion=_complete_choices("log", "linear"))
    ] = "log",
    multi_variant_units: Annotated[
        str,
        typer.Option(
            help="Units in several variants: error, or drop to leave them out.", autocompletion=_complete_choices("error", "drop")
        ),
    ] = "error",
    power: Annotated[float, typer.Option(help="Statistical power behind the minimum detectable effect.")] = 0.8,
    db: opt.DatabaseFile = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print a SQL statement with the same results instead.")] = False,
    dialect: Annotated[
        str, typer.Option(help=f"Dialect of --sql: {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))
    ] = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="With --sql: create this table of the rows.")] = None,
    create_view: Annotated[str | None, typer.Option(help="With --sql: create this view of the rows.")] = None,
    format: opt.FormatOption = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    digits: opt.Digits = None,
    memory_limit: opt.MemoryLimit = None,
    threads: opt.Threads = None,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Estimate effects of an online experiment's variants, with confidence intervals and tests."""
    with exit_on_error():
        metric_texts = _parse_metrics(metrics)
        options: dict[str, Any] = {
            "data": data,
            "variant": variant,
            "unit": unit,
            "control": control,
            "covariates": _parse_covariates(covariate, list(metric_texts)),
            "expected_shares": parse_shares_option("--expected-share", expected_share),
            "lower_is_better": lower_is_better or (),
            "where": where,
            "confidence": confidence,
            "correction": correction,
            "interval": interval,
            "lift_scale": lift_scale,
            "power": power,
            "connection": db,
        }
        if sql:
            typer.echo(
                sqlrank.experiment_sql(metric_texts, **options, dialect=dialect, create_table=create_table, create_view=create_view) + ";"
            )
            return
        if dialect != "duckdb" or create_table or create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = resolve_format(format, output, digits)
        file = output_file(output, FileKind.EXPERIMENT, force, list_sources(data, db))
    with exit_on_error(), progress_bar("summing") as progress:
        result = sqlrank.experiment(
            metric_texts,
            **options,
            multi_variant_units=multi_variant_units,
            memory_limit=memory_limit,
            threads=threads,
            timeout=timeout,
            progress=progress,
        )
    is_for_people = form in HUMAN_FORMATS
    with exit_on_error():
        displayed = select_display_columns(result.slice(0, result.num_rows - 1), EXPERIMENT_DISPLAY) if is_for_people else result
        style = TableStyle(DEFAULT_DIGITS if digits is None else digits, num_hidden=result.num_columns - displayed.num_columns)
        write_result(displayed, form, FileKind.EXPERIMENT, file, style)
    if is_for_people:
        *effects, ratio = result.to_pylist()
        level = max(row["ci_level"] or 0.0 for row in effects)
        if level > confidence:
            text = f"intervals: {100 * level:.6g}% each, for {100 * confidence:g}% of all {len(effects)} together"
            typer.echo(f"{text} (--correction none for single ones)", err=output is not None)
        typer.echo(f"sample ratio: {ratio['n_units']:,} units, p {format_number(ratio['p_value'], 'p_value')}", err=output is not None)
    echo_notes(result)


def _parse_metrics(arguments: list[str]) -> dict[str, str]:
    """Parse ``Mean(x)`` and ``name=Mean(x)``."""
    metric_texts: dict[str, str] = {}
    for argument in arguments:
        match = _NAMED.fullmatch(argument)
        name, text = match.groups() if match else (argument, argument)
        if name in metric_texts:
            raise SqlrankError(f"{argument}: {name} is given twice")
        metric_texts[name] = text
    return metric_texts


def _parse_covariates(texts: list[str] | None, names: list[str]) -> dict[str, str]:
    """Parse ``metric=column``, or a bare column if there is only one metric."""
    columns_by_metric: dict[str, str] = {}
    for text in texts or []:
        name = next((name for name in names if text.startswith(f"{name}=")), names[0] if len(names) == 1 else None)
        # Without this, revenue=revenue_before under a misspelt name is a comparison, whose truth would be the covariate.
        if name is None or (_NAMED_COLUMN.match(text) and not text.startswith(f"{name}=")):
            alone = ", or the column alone" if len(names) == 1 else ""
            raise SqlrankError(f"--covariate {text}: write --covariate METRIC=COLUMN{alone}. The metrics are called: {', '.join(names)}")
        if name in columns_by_metric:
            raise SqlrankError(f"--covariate {text}: {name} is given twice")
        columns_by_metric[name] = text.removeprefix(f"{name}=")
    return columns_by_metric
