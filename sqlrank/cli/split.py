"""The command ``sqlrank split``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.cli.console import pairs, problems
from sqlrank.cli.options import Database, Force, Output, Written
from sqlrank.engines import DIALECT_NAMES
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import form_of, write
from sqlrank.results.targets import check_target


def split(
    source: Annotated[str, typer.Argument(help="The rows to split: a table, a Parquet or CSV file, a pattern or a folder.")],
    key: Annotated[str | None, typer.Option(help="The column to split by, such as user_id: all of its rows are in one part.")] = None,
    salt: Annotated[str | None, typer.Option(help="What the split is for; the same salt and key give the same part everywhere.")] = None,
    share: Annotated[list[str] | None, typer.Option(help="A part and its share, train=0.8. Repeat for the others.")] = None,
    folds: Annotated[int | None, typer.Option(help="So many equal parts instead, numbered from 0.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Parts of exactly these shares, which change as rows come.")] = False,
    stratum: Annotated[str | None, typer.Option(help="The column within which shares are exact.")] = None,
    time: Annotated[str | None, typer.Option(help="The column of the time of a row.")] = None,
    bound: Annotated[list[str] | None, typer.Option(help="A time at which a part ends and the next begins. Repeat for more.")] = None,
    rolling: Annotated[bool, typer.Option("--rolling", help="Each bound begins a fold: train before it, test up to the next.")] = False,
    last: Annotated[int | None, typer.Option(help="So many last rows of each key are test.")] = None,
    item: Annotated[str | None, typer.Option(help="The column of items, by which rows of one time are ordered.")] = None,
    user: Annotated[str | None, typer.Option(help="The column of users, for --cold and --seen; the key unless said.")] = None,
    cold: Annotated[
        str, typer.Option(help="Test rows of users or items without train rows: keep, drop_users, drop_items or drop.")
    ] = "keep",
    seen: Annotated[str, typer.Option(help="Test rows of a user and an item that are in train together: keep or drop.")] = "keep",
    into: Annotated[str | None, typer.Option(help="The name of the new column.")] = None,
    db: Database = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the statement instead.")] = False,
    dialect: Annotated[
        str, typer.Option(help=f"Of that statement: {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))
    ] = "duckdb",
    create_table: Annotated[str | None, typer.Option(help="Of that statement: make this table of the rows.")] = None,
    create_view: Annotated[str | None, typer.Option(help="Of that statement: make this view of the rows.")] = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    force: Force = False,
) -> None:
    """Put rows into train and test, folds or arms of an experiment, the same on every engine."""
    with problems():
        given: dict[str, Any] = {
            "key": key,
            "salt": salt,
            "shares": shares(share),
            "folds": folds,
            "exact": exact,
            "stratum": stratum,
            "time": time,
            "bounds": bound,
            "rolling": rolling,
            "last": last,
            "item": item,
            "user": user,
            "cold": cold,
            "seen": seen,
            "into": into,
            "connection": db,
        }
        if sql:
            typer.echo(sqlrank.split_sql(source, **given, dialect=dialect, create_table=create_table, create_view=create_view) + ";")
            return
        if dialect != "duckdb" or create_table or create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = form_of(format, output)
        check_target(output, force, [source, db])
        write(sqlrank.split(source, **given), form, output)


def shares(given: list[str] | None) -> dict[str, float] | None:
    """Read parts with their shares; raise ``SqlrankError`` for what is no number."""
    try:
        return {name: float(value) for name, value in pairs("--share", given).items()} or None
    except ValueError:
        raise SqlrankError("--share: give a part and its share, such as --share train=0.8 --share test=0.2") from None
