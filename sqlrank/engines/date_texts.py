"""Refuse dates of CSV files whose day and month cannot be told apart, and suggest the queries that read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.engines.number_texts import read_column_by_query
from sqlrank.errors import InputError, join_words, quote_excerpt, to_sentence
from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import call_function, is_not_null, quoted_column, sql_literal

if TYPE_CHECKING:
    import duckdb

_NO_YEAR_FIRST = re.compile(r"\s*\d{1,2}\D")
_TEXT = re.compile(r"\s*(\d+)(\D)(\d+)(\D)(\d+)(?:([ T]+)\d+:\d+(:\d+)?(\.\d+)?)?\s*")


def check_dates(connection: duckdb.DuckDBPyConnection, role: str, texts: exp.Query, reader: exp.Expr, types: dict[str, str]) -> None:
    """Check that each column of dates has one reading.

    DuckDB chooses a format that fits all rows. Where no day is above 12, two do, and it would depend on a row added later which one is taken.

    Args:
        connection: The connection to read with.
        role: The role, for messages.
        texts: A query for the columns as they are written.
        reader: The item of FROM that reads the files.
        types: The types of the columns of dates.

    Raises:
        InputError: Day and month of a column can be exchanged in all rows.
    """
    for name, column_type in types.items():
        column = quoted_column(name)
        column_texts = exp.select(exp.alias_(column, "value")).from_(texts.subquery("rows")).where(is_not_null(column.copy()))
        # One value tells most formats, such as that with the year first, without a second reading of the files.
        first = fetch_tuples(connection, column_texts.limit(1).sql("duckdb"))
        if not first or not _NO_YEAR_FIRST.match(first[0][0]):
            continue
        query = load_select("inputs", "ambiguous_dates.sql").copy().from_(column_texts.subquery("texts"))
        ((value,),) = fetch_tuples(connection, query.sql("duckdb"))
        if value is not None:
            raise InputError(
                f"{role}: {name} has dates such as {quote_excerpt(value)}, and no row tells the day from the month. "
                f"{suggest_formats(reader, name, column_type, value)}"
            )


def suggest_formats(reader: exp.Expr, name: str, column_type: str, value: str) -> str:
    """Return the advice to read a column of dates by a query, with the formats that a value in it has."""
    match = _TEXT.fullmatch(value)
    if match is None:
        return "Correct it, or write the year first"
    numbers, (first, second), year, blank, seconds, fraction = (match[1], match[3]), (match[2], match[4]), *match.groups()[4:]
    time = f"{blank}%H:%M{':%S' if seconds else ''}{'.%f' if fraction else ''}" if blank else ""
    year_format = "%Y" if len(year) > len("26") else "%y"
    queries = {}
    for words, month, days in (("month", numbers[0], f"%m{first}%d"), ("day", numbers[1], f"%d{first}%m")):
        if int(month) <= 12:  # noqa: PLR2004  months of a year
            arguments = [quoted_column(name), sql_literal(f"{days}{second}{year_format}{time}")]
            parsed = exp.cast(call_function("STRPTIME", *arguments), column_type, dialect="duckdb")
            queries[words] = read_column_by_query(reader, name, parsed)
    return to_sentence(
        join_words([f"if the {words} comes first, give the query {query}" for words, query in queries.items()]) or "correct it"
    )
