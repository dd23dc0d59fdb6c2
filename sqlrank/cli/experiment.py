"""The command ``sqlrank experiment``."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli.console import problems, progress_bar
from sqlrank.cli.options import Database, Digits, Force, Memory, Output, Threads, Timeout, Written
from sqlrank.cli.split import shares
from sqlrank.engines import DIALECT_NAMES
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import DIGITS, FOR_PEOPLE, Looks, form_of, write
from sqlrank.results.targets import check_target
from sqlrank.results.verdicts import EXPERIMENTED, for_people

_NAMED = re.compile(r"([^=()]+)=(.*)", re.DOTALL)


def _choices(*names: str) -> Any:
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def experiment(
    metrics: Annotated[
        list[str], typer.Argument(help="What to compare: 'Mean(revenue)' 'Ratio(clicks, views)', or with names 'ctr=Ratio(...)'.")
    ],
    data: Annotated[str, typer.Option(help="A row per exposure, session or unit: a table, a Parquet or CSV file, a pattern or a folder.")],
    variant: Annotated[str, typer.Option(help="The column of variants.")] = "variant",
    unit: Annotated[str, typer.Option(help="The column of what was put into a variant, such as user_id.")] = "unit_id",
    control: Annotated[str | None, typer.Option(help="The variant that others are compared with; 'control' unless said.")] = None,
    covariate: Annotated[
        list[str] | None, typer.Option(help="What was known of units before (CUPED), as metric=column; the column alone for one metric.")
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(help="The share of units that a variant should have, A=0.5. Repeat for the others.")
    ] = None,
    lower: Annotated[list[str] | None, typer.Option(help="A metric of which lower values are better. Repeat for more.")] = None,
    where: Annotated[str | None, typer.Option(help="Read only the rows for which this is true: \"day = '2026-01-01'\".")] = None,
    confidence: Annotated[float, typer.Option(help="Of intervals, such as 0.95.")] = 0.95,
    correction: Annotated[
        str, typer.Option(help="For many comparisons: holm, bh or none.", autocompletion=_choices("holm", "bh", "none"))
    ] = "holm",
    interval: Annotated[
        str, typer.Option(help="fixed, for one look at the planned end, or always.", autocompletion=_choices("fixed", "always"))
    ] = "fixed",
    lift: Annotated[str, typer.Option(help="Intervals of lifts: log or linear.", autocompletion=_choices("log", "linear"))] = "log",
    crossed: Annotated[
        str, typer.Option(help="Units in several variants: error, or drop to leave them out.", autocompletion=_choices("error", "drop"))
    ] = "error",
    power: Annotated[float, typer.Option(help="The chance to find what is there.")] = 0.8,
    db: Database = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print a statement instead, which finds the same.")] = False,
    dialect: Annotated[
        str, typer.Option(help=f"Of that statement: {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))
    ] = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="Of that statement: make this table of the rows.")] = None,
    create_view: Annotated[str | None, typer.Option(help="Of that statement: make this view of the rows.")] = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    memory_limit: Memory = None,
    threads: Threads = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Say what each variant of an online experiment did, and how sure that is."""
    with problems():
        named = _metrics(metrics)
        options: dict[str, Any] = {
            "data": data,
            "variant": variant,
            "unit": unit,
            "control": control,
            "covariates": _covariates(covariate, list(named)),
            "shares": shares(share),
            "lower": lower or (),
            "where": where,
            "confidence": confidence,
            "correction": correction,
            "interval": interval,
            "lift": lift,
            "power": power,
            "connection": db,
        }
        if sql:
            typer.echo(sqlrank.experiment_sql(named, **options, dialect=dialect, create_table=create_table, create_view=create_view) + ";")
            return
        if dialect != "duckdb" or create_table or create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = form_of(format, output, digits)
        check_target(output, force, [data, db])
    with problems(), progress_bar("summing") as progress:
        result = sqlrank.experiment(
            named,
            **options,
            crossed=crossed,
            memory_limit=memory_limit,
            threads=threads,
            timeout=timeout,
            progress=progress,
        )
    is_for_people = form in FOR_PEOPLE
    with problems():
        shown = for_people(result.slice(0, result.num_rows - 1), EXPERIMENTED) if is_for_people else result
        write(shown, form, output, Looks(DIGITS if digits is None else digits, is_upright=True))
    if is_for_people:
        ratio = result.slice(result.num_rows - 1).to_pylist()[0]
        typer.echo(f"sample ratio: {ratio['units']:,} units, p {ratio['p']:.4f}", err=output is not None)
    for note in filter(None, result.schema.metadata[b"sqlrank.notes"].decode().splitlines()):
        typer.echo(f"note: {note}", err=True)


def _metrics(given: list[str]) -> dict[str, str]:
    """Read ``Mean(x)`` and ``name=Mean(x)``."""
    found: dict[str, str] = {}
    for item in given:
        match = _NAMED.fullmatch(item)
        name, text = match.groups() if match else (item, item)
        if name in found:
            raise SqlrankError(f"{item}: {name} is given twice")
        found[name] = text
    return found


def _covariates(given: list[str] | None, names: list[str]) -> dict[str, str]:
    """Read ``metric=column``, and a column alone for the one metric that there is."""
    found: dict[str, str] = {}
    for item in given or []:
        name = next((name for name in names if item.startswith(f"{name}=")), names[0] if len(names) == 1 else None)
        if name is None:
            raise SqlrankError(f"--covariate {item}: write --covariate metric=column; there are {', '.join(names)}")
        if name in found:
            raise SqlrankError(f"--covariate {item}: {name} is given twice")
        found[name] = item.removeprefix(f"{name}=")
    return found
