"""Why text cannot be read: what DuckDB says of it, with the place and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from sqlrank.engines.duckdb import describe
from sqlrank.errors import quoted
from sqlrank.library.selects import read_select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_ADVICE = {
    "not utf-8": "it is not UTF-8 text; convert it, such as with iconv -f LATIN1 -t UTF-8 (or -f UTF-16)",
    "maximum line size": "a line of it is longer than the 2 MB that DuckDB reads at once; make a Parquet file of it, without that column",
}

_UNEVEN = re.compile(r"CSV Error on Line: (\d+)\nOriginal Line: ?(.*?)\nExpected Number of Columns: (\d+) Found: (\d+)", re.DOTALL)
_UNLIKE = re.compile(r"^Main file schema: (.*)\nCurrent file: (.*)$", re.MULTILINE)
_MISSING = re.compile(r"^Column with name: \"(.*)\" is missing$", re.MULTILINE)
_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)

DELIMITERS = (",", ";", "\t", "|")


def why(error: duckdb.Error) -> str:
    """Return what an error says in one line, with what to do if that is known."""
    text = str(error).strip()
    advice = next((advice for words, advice in _ADVICE.items() if words in text.lower()), None)
    return text.splitlines()[0] + (f": {advice}" if advice else "")


def uneven(error: duckdb.Error) -> str | None:
    """Return which line of which file has more or fewer fields than the others, if that is what an error says."""
    text = str(error)
    match, file = _UNEVEN.search(text), _FILE.search(text)
    if match is None or file is None:
        return None
    number, line, expected, found = match.groups()
    fields = f"{found} field{'s' * (found != '1')}"
    return (
        f"{file[1]}, line {number} has {fields}: {quoted(line)}; {expected} are expected, as in the lines before. "
        "Mend the line: put what holds a delimiter in quotes, and leave no field out"
    )


def of_one_column(connection: duckdb.DuckDBPyConnection, files: Iterable[Path], columns: Mapping[str, str]) -> str | None:
    """Return which line has more or fewer fields than the first, where DuckDB took whole lines for fields since none can be split alike.

    ``columns`` are those that it found: a single one, whose name is the whole first line, speaks for that.
    """
    name = next(iter(columns), "")
    delimiter = max(DELIMITERS, key=name.count)
    if len(columns) != 1 or delimiter not in name:
        return None
    kinds = [
        exp.PropertyEQ(this=exp.to_identifier(f"field_{place}"), expression=exp.Literal.string("VARCHAR"))
        for place in range(name.count(delimiter) + 1)
    ]
    for path in files:
        given = {"path": str(path), "delimiter": delimiter, "columns": exp.Struct(expressions=kinds)}
        try:
            connection.execute(exp.replace_placeholders(read_select("inputs", "fields.sql"), **given).sql("duckdb"))
        except duckdb.Error as error:
            if problem := uneven(error):
                return problem
    return None


def unlike(connection: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str | None:
    """Return which of several CSV files has not the columns of the first, and which those are, if that is what an error says."""
    text = str(error)
    match, missing = _UNLIKE.search(text), _MISSING.findall(text)
    if match is None or not missing:
        return None
    first, file = match.groups()
    item = exp.Table(this=exp.func("READ_CSV", exp.Literal.string(file), dialect="duckdb"))
    there = describe(connection, exp.select("*").from_(item).sql("duckdb"))
    return (
        f"{file} has no column {_listed(missing)}, which {first} has; it has {_listed(there)}. "
        "Name the columns alike, with a header in each file, or give files of one kind only"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name, is_name=True) for name in names)
