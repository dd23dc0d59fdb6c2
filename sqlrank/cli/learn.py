"""Define the command ``sqlrank learn``, which trains a linear scorer or merges several, and prints weights or the statement that scores rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error, print_warnings, progress_bar
from sqlrank.cli.parsing import list_sources, output_file, parse_group_columns, parse_pairs, parse_source
from sqlrank.errors import SqlrankError
from sqlrank.output.display import Format
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import resolve_format, write_result
from sqlrank.rendering import normalize_dialect


def learn(
    examples: Annotated[
        str,
        typer.Argument(
            help="Label, features and, if there are queries, query_id: a table, a Parquet or CSV file, a query, or @file.sql.",
            parser=parse_source,
            metavar="EXAMPLES",
        ),
    ],
    k: Annotated[
        int | None,
        typer.Option("-k", help="Number of negatives, and maximum number of positives, that are compared. Not for logistic."),
    ] = None,
    surrogate: Annotated[
        str,
        typer.Option(
            help="Loss: avg, max, ts or ts_reference of pAp@k, pauc (SVM-pAUC), precision (SGD@k-avg) or precision_reference, or logistic."
        ),
    ] = "avg",
    margin: Annotated[float, typer.Option(help="Required distance of positive scores above negative ones.")] = 1.0,
    learning_rate: Annotated[float, typer.Option(help="Learning rate of the first step.")] = 0.1,
    l2: Annotated[float, typer.Option(help="Weight of the L2 penalty.")] = 0.01,
    max_iter: Annotated[int, typer.Option(help="Number of gradient steps.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Seed of random initial weights. Without it, they start at 0.")] = None,
    start: Annotated[
        str | None, opt.source_option("Initial weights, instead of zeros: a file that this command wrote, a table, or a query.")
    ] = None,
    merge: Annotated[
        str | None,
        opt.source_option(
            "Weights of several models, as of --by: merge them into one by their pAp@k on these examples (greedy-pAp@k), instead of training."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="Map a column, query_id=user_id, and features=... once per column of features. Repeat for more."),
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column that identifies a model. Write a,b for both, or repeat.")] = None,
    db: Annotated[str | None, typer.Option("--db", help="A DuckDB file with the table, opened read-only.")] = None,
    score_table: Annotated[str | None, typer.Option(help="Print the statement that scores this table, instead of the weights.")] = None,
    dialect: Annotated[str, typer.Option(help="Dialect of that statement.")] = "duckdb",
    format: Annotated[Format | None, typer.Option(metavar="FORMAT", help=f"Output format of the weights: {opt.FORMAT_NAMES}.")] = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads DuckDB may use. With one, the weights are the same to the last bit.")] = 1,
    timeout: opt.Timeout = None,
    force: opt.Force = False,
) -> None:
    """Train a linear scorer on pAp@k or by logistic regression, and print its weights or a statement that scores rows."""
    with exit_on_error():
        form = resolve_format(format, output) if score_table is None else None
        file = output_file(output, FileKind.STATEMENT if form is None else FileKind.WEIGHTS, force, list_sources(examples, db))
    from sqlrank.learn import fit, merge_weights, scoring_sql  # noqa: PLC0415  engines take half a second that help does not need

    with exit_on_error(), print_warnings(), progress_bar("learning") as progress:
        common: dict[str, Any] = {"k": k, "columns": _parse_columns(column), "connection": db, "threads": threads, "timeout": timeout}
        if merge is not None:
            weights = merge_weights(merge, examples, **common)
        else:
            weights = fit(
                examples,
                surrogate=surrogate,
                margin=margin,
                learning_rate=learning_rate,
                l2=l2,
                max_iter=max_iter,
                seed=seed,
                start=start,
                by=parse_group_columns(by),
                progress=progress,
                **common,
            )
    with exit_on_error():
        if form is not None:
            write_result(weights, form, FileKind.WEIGHTS, file)
            return
        text = scoring_sql(weights, str(score_table), dialect=normalize_dialect(dialect)) + ";\n"
        if file is None:
            typer.echo(text, nl=False)
        else:
            file.write(text)


def _parse_columns(mappings: list[str] | None) -> dict[str, Any]:
    """Parse column mappings; several features are one column each."""
    feature_columns = [mapping.removeprefix("features=") for mapping in mappings or [] if mapping.startswith("features=")]
    rest = parse_pairs("--column", [mapping for mapping in mappings or [] if not mapping.startswith("features=")])
    if not all(feature_columns):
        raise SqlrankError("--column features=: write --column features=name")
    return rest | ({} if not feature_columns else {"features": feature_columns if len(feature_columns) > 1 else feature_columns[0]})
