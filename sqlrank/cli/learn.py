"""The command ``sqlrank learn``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.options import Force, Output, Timeout
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import Format, form_of, write
from sqlrank.results.targets import check_target


def learn(
    examples: Annotated[
        str, typer.Argument(help="Label, features and, if there are queries, query_id: a table, or a Parquet or CSV file.")
    ],
    k: Annotated[int, typer.Option("--top", "-k", help="How many negatives, and at most positives, are compared.")],
    kind: Annotated[str, typer.Option(help="avg, max, ts or ts_reference of pAp@k; pauc (SVM-pAUC), precision (SGD@k-avg).")] = "avg",
    margin: Annotated[float, typer.Option(help="How far above the negatives positives should stand.")] = 1.0,
    step: Annotated[float, typer.Option(help="Length of the first step.")] = 0.1,
    l2: Annotated[float, typer.Option(help="How much long weights cost.")] = 0.01,
    iterations: Annotated[int, typer.Option(help="How many steps.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Start from random weights instead of 0.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", help="Your name of a column, query_id=user_id; features=... once per column of features. Repeat for more."
        ),
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column that tells models apart. Repeat for more.")] = None,
    db: Annotated[Path | None, typer.Option("--db", help="A DuckDB file that holds the table; opened read-only.")] = None,
    sql: Annotated[str | None, typer.Option("--sql", help="Print the statement that scores this table, instead of the weights.")] = None,
    dialect: Annotated[str, typer.Option(help="Of that statement.")] = "duckdb",
    format: Annotated[Format | None, typer.Option(help="How to write the weights.")] = None,  # noqa: A002  the option's public name
    output: Output = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads DuckDB may use; with one the weights are the same to the last bit.")] = 1,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Train a linear scorer on pAp@k and print its weights, or the statement that scores with them."""
    with problems():
        form = form_of(format, output) if sql is None else None
        check_target(output, force, [examples, db])
    from sqlrank.learn import fit, scoring_sql  # noqa: PLC0415  engines take half a second that help does not need

    with problems(), progress_bar("learning") as progress:
        weights = fit(
            examples,
            k=k,
            kind=kind,
            margin=margin,
            step=step,
            l2=l2,
            iterations=iterations,
            seed=seed,
            columns=_columns(column),
            by=by or (),
            connection=db,
            threads=threads,
            timeout=timeout,
            progress=progress,
        )
    with problems():
        if form is not None:
            write(weights, form, output)
            return
        text = scoring_sql(weights, str(sql), dialect=dialect) + ";\n"
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, "utf-8")


def _columns(given: list[str] | None) -> dict[str, Any]:
    """Read names of columns; several of features are a column for each."""
    wide = [item.removeprefix("features=") for item in given or [] if item.startswith("features=")]
    others = pairs("--column", [item for item in given or [] if not item.startswith("features=")])
    if not all(wide):
        raise SqlrankError("--column features=: write --column features=name")
    return others | ({} if not wide else {"features": wide if len(wide) > 1 else wide[0]})
