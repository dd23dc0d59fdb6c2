"""Explain failures to read text files: find the malformed line of TREC or Vowpal Wabbit files, and turn DuckDB's CSV errors into advice."""

from __future__ import annotations

import io
import itertools
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.duckdb_session import describe_columns, explain_duckdb_error
from sqlrank.engines.file_formats import open_text
from sqlrank.errors import quote_excerpt
from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


TREC_FIELDS = {"run": "query Q0 document rank score tag", "qrels": "query iteration document relevance"}
"""Fields of a line, by file format."""

TREC_FORMATS = {"run": "run", "qrels": "qrels", "baseline": "run"}
"""File format, by role."""

TEXT_FORMATS = {**{role: f"trec_{name}" for role, name in TREC_FORMATS.items()}, "predictions": "vw_predictions"}
"""File of ``sql/inputs`` that reads text without a names suffix, by role."""

_COMMENT = re.compile(r"\s*#(\s|\S*\s*$)", re.ASCII)
_SCORE = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def malformed_trec_line(role: str, files: Iterable[Path]) -> str | None:
    """Describe the first malformed line of TREC files, or of predictions of Vowpal Wabbit.

    Returns None if there is none, or if the files cannot be read at all.
    """
    if role == "predictions":
        return _malformed_prediction(files)
    role = TREC_FORMATS[role]
    for path in files:
        with suppress(OSError, pa.ArrowException):
            for number, line in _read_lines(path):
                fields = re.split(r"[ \t]+", line)
                if _is_valid_line(role, fields):
                    continue
                is_rank_problem = len(fields) == len(TREC_FIELDS[role].split())
                fault = f"rank {quote_excerpt(fields[3])}" if is_rank_problem else f"{len(fields)} field{'s' * (len(fields) > 1)}"
                return f"{path}, line {number} has {fault}: {quote_excerpt(line)}. {_suggest_fields(role, fields)}"
    return None


def _malformed_prediction(files: Iterable[Path]) -> str | None:
    """Describe the first line that is not a score, or a score and a tag."""
    for path in files:
        with suppress(OSError, pa.ArrowException):
            for number, line in _read_lines(path, skips_comments=False):
                fields = re.split(r"[ \t]+", line)
                if len(fields) > 2 or not _SCORE.fullmatch(fields[0]):  # noqa: PLR2004
                    return (
                        f"{path}, line {number} is {quote_excerpt(line)}. A line of predictions of Vowpal Wabbit is a score and, perhaps, "
                        "a tag. Name a file of another format by its suffix, such as .csv or .parquet"
                    )
    return None


def _is_valid_line(role: str, fields: list[str]) -> bool:
    """Return True if the fields form a valid line, as parsed by ``sql/inputs``."""
    expected = len(TREC_FIELDS[role].split())
    if role != "run":
        return len(fields) == expected
    has_rank = len(fields) >= expected and _NUMBER.fullmatch(fields[3]) is not None
    return has_rank and (len(fields) == expected or _NUMBER.fullmatch(fields[5]) is None)


def _suggest_fields(role: str, fields: list[str]) -> str:
    other_role = next(name for name in TREC_FIELDS if name != role)
    if len(fields) == len(TREC_FIELDS[other_role].split()):
        return f"That is a line of {_with_article(other_role)}, not of {_with_article(role)}. Give the file with {other_role}="
    names = TREC_FIELDS[role].split()
    return f"A line of {_with_article(role)} has {len(names)} fields with blanks or tabs between them: {', '.join(names)}"


def _with_article(role: str) -> str:
    return "a run" if role == "run" else role


def _read_lines(path: Path, skips_comments: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines of a file, with their numbers; those of comments only on demand."""
    with io.TextIOWrapper(open_text(path), encoding="utf-8-sig", errors="replace", newline="\n") as text:
        for number, line in enumerate(text, start=1):
            content = line.strip(" \t\r\n")
            if content and not (skips_comments and _COMMENT.match(line)):
                yield number, content


_ADVICE = {
    "not utf-8": "it is not UTF-8 text. Convert it, such as with iconv -f LATIN1 -t UTF-8 (or -f UTF-16)",
    "maximum line size of": "a line of it is longer than the 2 MB that DuckDB reads at once. Make a Parquet file of it, without that column",
    "parsing dialect": "end all lines the same way (dos2unix does), separate fields by one delimiter, and close every quote, or make a Parquet file of it",
    "has duplicate key": "give one value to each key, or rename one of the two",
    "parquet file": "write it again if it is damaged",
}

_UNEVEN = re.compile(r"CSV Error on Line: (\d+)\nOriginal Line: ?(.*?)\nExpected Number of Columns: (\d+) Found: (\d+)", re.DOTALL)
_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)

DELIMITERS = (",", ";", "\t", "|")


def explain_read_error(error: duckdb.Error) -> str:
    """Return the first line of an error with advice, if there is any."""
    advice = next((advice for words, advice in _ADVICE.items() if words in str(error).lower()), None)
    text = explain_duckdb_error(error)
    return f"{text.removesuffix('.')}: {advice}" if advice else text


def ragged_line_problem(error: duckdb.Error) -> str | None:
    """Describe the line with a deviating number of fields, if that is the error."""
    text = str(error)
    match, file = _UNEVEN.search(text), _FILE.search(text)
    if match is None or file is None:
        return None
    number, line, expected, actual = match.groups()
    fields = f"{actual} field{'s' * (actual != '1')}"
    return (
        f"{file[1]}, line {number} has {fields}: {quote_excerpt(line)}. {expected} are expected, as in the lines before. "
        "Fix the line: put what holds a delimiter in quotes, and leave no field out"
    )


def undetected_delimiter_problem(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], columns: Mapping[str, str] | None = None
) -> str | None:
    """Diagnose a CSV whose delimiter DuckDB could not detect.

    DuckDB then returns one column named like the complete header, or fails without ``columns``. The problem names the first line with
    another number of fields.
    """
    header = "" if columns is not None or not files else next(_read_lines(files[0], skips_comments=False), (0, ""))[1]
    name = next(iter(columns), "") if columns is not None else header
    delimiter = max(DELIMITERS, key=name.count)
    if (columns is not None and len(columns) != 1) or delimiter not in name:
        return None
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"field_{index}"), expression=exp.Literal.string("VARCHAR"))
        for index in range(name.count(delimiter) + 1)
    ]
    for path in files:
        placeholders = {"path": str(path), "delimiter": delimiter, "columns": exp.Struct(expressions=fields)}
        try:
            connection.execute(exp.replace_placeholders(load_select("inputs", "csv_rows.sql"), **placeholders).sql("duckdb"))
        except duckdb.Error as error:
            if problem := ragged_line_problem(error):
                return problem
    return None


def missing_columns_problem(connection: duckdb.DuckDBPyConnection, files: Iterable[Path], is_read: Callable[[str], bool]) -> str | None:
    """Describe the first CSV file that lacks a column which is read, and which others have; files of one first line have one header."""
    headers = {next(_read_lines(path, skips_comments=False), None): path for path in reversed(list(files))}
    columns = {path: _describe_csv(connection, path) for path in reversed([*headers.values()])} if len(headers) > 1 else {}
    holders = {name.lower(): (name, path) for path in reversed(columns) for name in columns[path] if is_read(name)}
    for holder, path in itertools.product(columns, columns):
        names = {name.lower() for name in columns[path]}
        if lacking := [name for name in columns[holder] if holders.get(name.lower()) == (name, holder) and name.lower() not in names]:
            return (
                f"{path} has no column {_quote_names(lacking)}, which {holder} has. It has {_quote_names(columns[path])}. "
                "Give the columns the same names, with a header in each file, or give files of one kind only"
            )
    return None


def _describe_csv(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    table = exp.Table(this=exp.func("READ_CSV", exp.Literal.string(str(path)), dialect="duckdb"))
    return list(describe_columns(connection, exp.select("*").from_(table).sql("duckdb")))


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(quote_excerpt(name, is_name=True) for name in names)
