"""Define the command ``sqlrank split``, which splits rows into parts or experiment arms, or prints the statement that does."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import list_sources, output_file, parse_shares_option, parse_source
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import resolve_format, write_result
from sqlrank.rendering import DIALECT_NAMES


def split(
    source: Annotated[
        str,
        typer.Argument(
            help="The rows to split: a table, a Parquet or CSV file, a pattern, a folder, a query, or @file.sql.",
            parser=parse_source,
            metavar="SOURCE",
        ),
    ],
    key: Annotated[str | None, typer.Option(help="The column to split by, such as user_id: all of its rows are in one part.")] = None,
    salt: Annotated[str | None, typer.Option(help="Purpose of the split. The same salt and key give the same part everywhere.")] = None,
    share: Annotated[list[str] | None, typer.Option(help="A part and its share, train=0.8. Repeat for the others.")] = None,
    folds: Annotated[int | None, typer.Option(help="Number of equal parts, numbered from 0.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exact shares of the distinct keys. Parts change when rows are added.")] = False,
    stratum: Annotated[str | None, typer.Option(help="The column within which shares are exact.")] = None,
    time: Annotated[str | None, typer.Option(help="The time column.")] = None,
    time_bound: Annotated[list[str] | None, typer.Option(help="A time at which a part ends and the next begins. Repeat for more.")] = None,
    expanding: Annotated[bool, typer.Option("--expanding", help="A fold per time bound: train before it, test up to the next.")] = False,
    leave_last: Annotated[int | None, typer.Option(help="Number of last rows per key that are test.")] = None,
    item: Annotated[str | None, typer.Option(help="The item column, which breaks ties of equal time.")] = None,
    user: Annotated[str | None, typer.Option(help="The user column, for --cold-start and --seen-pairs. Default: --key.")] = None,
    cold_start: Annotated[
        str, typer.Option(help="Test rows of users or items without train rows: keep, drop_users, drop_items or drop.")
    ] = "keep",
    seen_pairs: Annotated[str, typer.Option(help="Test rows whose user and item are a pair in train: keep or drop.")] = "keep",
    column: Annotated[str | None, typer.Option(help="The name of the new column.")] = None,
    db: opt.DatabaseFile = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the statement instead.")] = False,
    dialect: Annotated[
        str, typer.Option(help=f"Dialect of --sql: {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))
    ] = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="With --sql: create this table of the rows.")] = None,
    create_view: Annotated[str | None, typer.Option(help="With --sql: create this view of the rows.")] = None,
    format: opt.FormatOption = None,  # noqa: A002  the option's public name
    output: opt.Output = None,
    force: opt.Force = False,
) -> None:
    """Split rows into train and test, folds or experiment arms, deterministically on every engine."""
    with exit_on_error():
        options: dict[str, Any] = {
            "key": key,
            "salt": salt,
            "shares": parse_shares_option("--share", share),
            "folds": folds,
            "exact": exact,
            "stratum": stratum,
            "time": time,
            "time_bounds": time_bound,
            "expanding": expanding,
            "leave_last": leave_last,
            "item": item,
            "user": user,
            "cold_start": cold_start,
            "seen_pairs": seen_pairs,
            "column": column,
            "connection": db,
        }
        if sql:
            typer.echo(sqlrank.split_sql(source, **options, dialect=dialect, create_table=create_table, create_view=create_view) + ";")
            return
        if dialect != "duckdb" or create_table or create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = resolve_format(format, output)
        file = output_file(output, FileKind.SPLIT, force, list_sources(source, db))
        write_result(sqlrank.split(source, **options), form, FileKind.SPLIT, file)
