"""Read CSV and JSON files with declared types, and explain failures to read text files by their
malformed line.
"""

from __future__ import annotations

import glob
import itertools
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.duckdb_session import describe_columns, explain_duckdb_error, fetch_tuples
from sqlrank.engines.file_formats import has_only_numbers, mentions_booleans, open_text
from sqlrank.engines.file_sources import list_paths
from sqlrank.engines.source_tables import list_files_read, read_folder_keys
from sqlrank.engines.text_advice import (
    LINE_BLANKS,
    NUMERAL_TEXT,
    check_dates,
    open_lines,
    ragged_line_problem,
    read_lines,
    suggest_formats,
    suggest_query,
)
from sqlrank.errors import InputError, quote_excerpt
from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import (
    DOUBLE,
    bind_placeholders,
    call_function,
    is_exact_integer,
    is_not_null,
    is_null,
    quoted_column,
    sql_literal,
    take_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.source_tables import DeclaredColumns

TEXT_ROWS = "text_rows"
"""Alias of the subquery that reads such a file."""


def shorten_text_readers(query: exp.Query) -> exp.Query:
    """Return a query that reads only the needed fields of text files, without the checks of lines,
    which these files have passed.
    """
    shortened = query.copy()
    for rows in [
        subquery for subquery in shortened.find_all(exp.Subquery) if subquery.alias == TEXT_ROWS
    ]:
        outer, reader = rows.parent_select, rows.find(exp.ReadCSV)
        if outer is None or reader is None:
            continue
        inner = {id(column) for column in rows.find_all(exp.Column)}
        needed = {column.name for column in outer.find_all(exp.Column) if id(column) not in inner}
        fields = [
            _without_check(field)
            for field in rows.this.selects
            if outer.is_star or field.alias in needed
        ]
        lines = bind_placeholders(load_select("inputs/readers", "text_lines.sql"), path=reader.this)
        rows.set(
            "this",
            exp.select(*fields, copy=False).from_(
                exp.Subquery(this=lines, alias=exp.TableAlias(this=exp.to_identifier("lines")))
            ),
        )
    return shortened


def _without_check(field: exp.Expr) -> exp.Expr:
    """Return a field of a line without the branch that raises an error for other lines."""
    value = field.this
    is_checked = isinstance(value, exp.Case) and value.args.get("default") is not None
    return value.args["ifs"][0].args["true"].as_(field.alias) if is_checked else field


DELIMITERS = (",", ";", "\t", "|")


def explain_read_error(error: duckdb.Error) -> str:
    """Return the first line of an error with advice, if there is any."""
    if match := _MISMATCH.search(str(error)):
        names = _quote_names(re.findall(r'Column with name: "(.*)" is missing', match[3]))
        return (
            f"{match[2]} has no column {names}, which {match[1]} has. Give the columns the same"
            " names, in the same case, in each file"
        )
    return explain_duckdb_error(error)


_DELIMITER = re.compile(r"[,;\t|]")
_QUOTED = re.compile(r'"[^"]*"')
_NUM_SNIFFED_LINES = 2_200
"""Lines in which DuckDB looks for comments, and for the line that the table begins with, and some
more.
"""
_MAX_SNIFFED_CHARACTERS, _HEAD_CHARACTERS = 8_000_000, 1 << 15
_CHUNK_BYTES = 1 << 22


def find_csv_options(
    role: str, connection: duckdb.DuckDBPyConnection, files: Sequence[Path]
) -> list[exp.Expr]:
    """Return the options of READ_CSV without which DuckDB would take rows for comments, or quotes
    for a part of the text: those that a file has after its first rows only; or the columns of a
    file for those at the same places of the first.

    Raises:
        InputError: A file is empty, or DuckDB would leave out rows before one with more fields.
    """
    options: dict[str, exp.Expr] = {}
    headers = set()
    for path in files:
        if not path.stat().st_size:
            raise InputError(
                f"{role}: {quote_excerpt(str(path), is_name=True)} is empty, and has not even a"
                " header. Leave it out, or check what should have written it"
            )
        with suppress(OSError, pa.ArrowException):
            lines = _sniffed_lines(path)
            first = next(iter(lines.values()), "")
            if not any(NUMERAL_TEXT.fullmatch(field.strip()) for field in _DELIMITER.split(first)):
                headers.add(first)
            rows, comments = _count_delimiters(lines.values())
            if len({*rows, *comments}) > 1:
                _check_skipped_lines(role, connection, path, lines)
            if comments and rows and rows[0] > 0 and rows[0] in comments:
                options["comment"] = sql_literal("")
            if '"' not in "".join(lines.values()) and _has_quote(path):
                options["quote"] = sql_literal('"')
    if len(headers) > 1:
        options["union_by_name"] = exp.true()
    return [exp.var(name).eq(value) for name, value in options.items()]


def _sniffed_lines(path: Path) -> dict[int, str]:
    """Return the lines of a file from which DuckDB infers its form, by their numbers; of a file
    with comments, all of its comments.
    """
    head: list[str] = []
    num_characters = 0
    with open_lines(path) as text:
        while (
            len(head) <= _NUM_SNIFFED_LINES
            and num_characters <= _MAX_SNIFFED_CHARACTERS
            and (some := text.readlines(_HEAD_CHARACTERS))
        ):
            head += some
            num_characters += sum(map(len, some))
        lines = {
            number: content
            for number, line in enumerate(head, start=1)
            if (content := line.strip(LINE_BLANKS))
        }
        if _find_comments(lines.values()):
            rest = enumerate((line.strip(LINE_BLANKS) for line in text), start=len(head) + 1)
            lines |= {number: line for number, line in rest if line.startswith("#")}
    return lines


def _find_comments(lines: Collection[str]) -> list[str]:
    """Return the lines that begin as comments; most files have no such character anywhere."""
    return [line for line in lines if line.startswith("#")] if "#" in "".join(lines) else []


def _count_delimiters(lines: Collection[str]) -> tuple[list[int], list[int]]:
    """Count the delimiter of the first row in each row, and in each line that is like a comment."""
    has_quotes = '"' in "".join(lines)
    fields = [_QUOTED.sub("", line) for line in lines] if has_quotes else [*lines]
    comments = _find_comments(fields)
    rows = [line for line in fields if not line.startswith("#")] if comments else fields
    delimiter = max(DELIMITERS, key=rows[0].count) if rows else DELIMITERS[0]
    return [line.count(delimiter) for line in rows], [line.count(delimiter) for line in comments]


def _has_quote(path: Path) -> bool:
    with open_text(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            if b'"' in chunk:
                return True
    return False


def _check_skipped_lines(
    role: str, connection: duckdb.DuckDBPyConnection, path: Path, lines: Mapping[int, str]
) -> None:
    """Raise ``InputError`` if DuckDB leaves out the first lines of a file as a title, and they are
    rows: they have fields, of which one is a number, or as many as another line of them.
    """
    query = bind_placeholders(
        load_select("inputs/readers", "csv_skipped_lines.sql"), path=glob.escape(str(path))
    )
    try:
        ((num_skipped,),) = fetch_tuples(connection, query.sql("duckdb"))
    except duckdb.Error:  # which reading the file reports
        return
    skipped = [
        line for number, line in lines.items() if number <= num_skipped and not line.startswith("#")
    ]
    rows = [fields for line in skipped if len(fields := _DELIMITER.split(line)) > 1]
    has_number = any(NUMERAL_TEXT.fullmatch(field.strip()) for fields in rows for field in fields)
    if has_number or len({len(fields) for fields in rows}) < len(rows):
        number, line = next((item for item in lines.items() if item[0] > num_skipped), (0, ""))
        reader = f"READ_CSV({sql_literal(str(path)).sql('duckdb')}, skip = {num_skipped})"
        raise InputError(
            f"{role}: {path}, line {number} has other fields than the lines before:"
            f" {quote_excerpt(line)}. Give all rows the same fields, and each table a file of its"
            f" own. If the table begins there, give the query SELECT * FROM {reader}"
        )


def undetected_delimiter_problem(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    columns: Mapping[str, str] | None = None,
) -> str | None:
    """Diagnose a CSV whose delimiter DuckDB could not detect.

    DuckDB then returns one column named like the complete header, or fails without ``columns``. The
    problem names the first line with another number of fields.
    """
    header = (
        ""
        if columns is not None or not files
        else next(read_lines(files[0], skips_comments=False), (0, ""))[1]
    )
    name = next(iter(columns), "") if columns is not None else header
    delimiter = max(DELIMITERS, key=name.count)
    if (columns is not None and len(columns) != 1) or delimiter not in name:
        return None
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"field_{index}"), expression=sql_literal("VARCHAR"))
        for index in range(name.count(delimiter) + 1)
    ]
    for path in files:
        placeholders = {
            "path": str(path),
            "delimiter": delimiter,
            "columns": exp.Struct(expressions=fields),
        }
        try:
            connection.execute(
                bind_placeholders(
                    load_select("inputs/readers", "csv_rows.sql"), **placeholders
                ).sql("duckdb")
            )
        except duckdb.Error as error:
            if problem := ragged_line_problem(error):
                return problem
    return None


def missing_columns_problem(
    connection: duckdb.DuckDBPyConnection, files: Iterable[Path], is_read: Callable[[str], bool]
) -> str | None:
    """Describe the first CSV file that lacks a column which is read, and which others have, or
    whose fields are separated by blanks; files of one first line have one header.
    """
    headers = {
        next(read_lines(path, skips_comments=False), (0, ""))[1]: path
        for path in reversed(list(files))
    }
    for header, path in headers.items():
        if " " in header.strip() and not _DELIMITER.search(header) and not is_read(header):
            reader = f"READ_CSV({sql_literal(str(path)).sql('duckdb')}, delim = ' ')"
            return (
                f"the first line of {path} is one field, {quote_excerpt(header)}. If blanks"
                f" separate the fields, give the query SELECT * FROM {reader}"
            )
    columns = (
        {path: _describe_csv(connection, path) for path in reversed([*headers.values()])}
        if len(headers) > 1
        else {}
    )
    holders = {
        name.lower(): (name, path)
        for path in reversed(columns)
        for name in columns[path]
        if is_read(name)
    }
    for holder, path in itertools.product(columns, columns):
        names = {name.lower() for name in columns[path]}
        if lacking := [
            name
            for name in columns[holder]
            if holders.get(name.lower()) == (name, holder) and name.lower() not in names
        ]:
            return (
                f"{path} has no column {_quote_names(lacking)}, which {holder} has. It has"
                f" {_quote_names(columns[path])}. Give the columns the same names, with a header in"
                " each file, or give files of one kind only"
            )
    return None


def _describe_csv(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    table = exp.Table(this=exp.func("READ_CSV", sql_literal(str(path)), dialect="duckdb"))
    return list(describe_columns(connection, exp.select("*").from_(table).sql("duckdb")))


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(quote_excerpt(name, is_name=True) for name in names)


_MISMATCH = re.compile(
    r'Main file schema: (.*)\nCurrent file: (.*)\n((?:Column with name: ".*" is missing\n)+)'
)
"""Error for CSV files of which one lacks columns of the first."""

NULL = '"NULL"'
_NUMBERS = ("BIGINT", "DOUBLE", "UBIGINT", "HUGEINT", "UHUGEINT", "JSON", "VARCHAR", NULL)
"""Types of a sample for columns that may be numbers."""

_NO_INTEGER = "no integer as a program writes it: "
_NO_INTEGER_ERROR = re.compile(f"{_NO_INTEGER}(.*)")
_FURTHER = "a value of a column that no row of the sample has: "
_FURTHER_ERROR = re.compile(f"{_FURTHER}(.*)")
_ODD_CELL = re.compile(
    r"CSV Error on Line: (?P<line>\d+)\n.*?Error when converting column \"(?P<name>.*?)\"\. Could"
    r" not convert string \"(?P<value>.*?)\" to '"
    r".*?\n  file = (?P<file>.*?)\n",
    re.DOTALL,
)
_ODD_MEMBER = re.compile(
    r'JSON transform error in file "(?P<file>.*?)", in (?P<place>.*?): Failed to cast'
)
_NO_JSON_NUMBER = sql_literal(r"^\s*(\+|-?0\d)|_|\s$")
"""Pattern of texts that a cast reads as numbers, and READ_JSON does not."""
_NOUNS = {"DOUBLE": "a number", "BOOLEAN": "true or false", "DATE": "a date"}
_JSON_SUFFIXES = {".json", ".jsonl", ".ndjson"}
"""Suffixes of files that are not compressed, so that reading them again takes little time."""
_ALL_FILES = {
    "READ_CSV": {"sample_size": -1, "files_to_sniff": -1},
    "READ_JSON": {"sample_size": -1, "maximum_sample_files": 1_000_000},
}
"""Options with which the types are those of all rows of all files."""


@dataclass(frozen=True)
class TextReader:
    """A reader of CSV or JSON files.

    Attributes:
        item: The item of FROM that reads the files with the types that a sample suggests.
        sampled: Types by column that a sample suggests.
        types: Declared types of the columns that are read.
        integers: Columns that are whole numbers, unless a value is found that is written otherwise.
        unsure: Columns that a sample does not have, or that are texts in it, and that may be
            numbers all the same.
        samples_all: The formats of dates are those of all rows.
    """

    item: exp.Expr
    sampled: Mapping[str, str]
    types: Mapping[str, str]
    integers: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    samples_all: bool = False

    def from_item(self, as_text: bool = False) -> exp.Expr:
        """Return the item of FROM; ``as_text`` reads columns of whole numbers as they are
        written.
        """
        is_json = _is_json(self.item)
        types = {
            name: _text_type(column_type) if as_text and name in self.integers else column_type
            for name, column_type in self.types.items()
        }
        # A reader of CSV declares the columns that are names of folders by another option.
        folder_keys = [] if is_json else read_folder_keys(_find_first_path(self.item), types)
        folder_columns = {
            field.this.name for option in folder_keys for field in option.find_all(exp.PropertyEQ)
        }
        declared = {
            name: column_type
            for name, column_type in types.items()
            if is_json or (column_type != "VARCHAR" and name not in folder_columns)
        }
        fields = [
            exp.PropertyEQ(
                this=sql_literal(name), expression=sql_literal(column_type.replace(NULL, "JSON"))
            )
            for name, column_type in declared.items()
        ]
        options: dict[str, exp.Expr] = {} if is_json else {"all_varchar": exp.true()}
        options |= (
            {"columns" if is_json else "types": exp.Struct(expressions=fields)} if fields else {}
        )
        options |= {"sample_size": exp.Literal.number(-1)} if self.samples_all else {}
        options |= {option.this.name: option.expression for option in folder_keys}
        return _with_options(self.item, options)

    def select_numbers(self, names: Collection[str]) -> exp.Select:
        """Return a query for columns, in which whole numbers are read as doubles, with an error for
        a double that may be another number than what is written.
        """
        types = {**self.types, **dict.fromkeys(self.integers, "DOUBLE")}
        values = [
            _integer_or_error(
                name,
                is_exact_integer(quoted_column(name)),
                exp.cast(quoted_column(name), "BIGINT", dialect="duckdb"),
            )
            if name in self.integers
            else quoted_column(name)
            for name in names
        ]
        return exp.select(*values).from_(replace(self, types=types).from_item())

    def select_texts(self, names: Collection[str]) -> exp.Select:
        """Return a query for columns, in which values of columns of whole numbers that are no such
        numbers are errors.
        """
        values = [
            self._read_integer(name) if name in self.integers else quoted_column(name)
            for name in names
        ]
        return exp.select(*values).from_(self.from_item(as_text=True))

    def _read_integer(self, name: str) -> exp.Expr:
        """Return a column of texts as whole numbers, with an error for a text that a program writes
        no whole number as.

        Where JSON has numbers with a point, all that are equal to a whole number are that number.
        """
        text, column_type = quoted_column(name), self.types[name]
        number = exp.TryCast(this=text, to=exp.DataType.build(column_type, dialect="duckdb"))
        double = exp.DataType.build(column_type.replace("BIGINT", "DOUBLE"), dialect="duckdb")
        is_double = self.sampled.get(name, "").startswith("DOUBLE")
        formatted = exp.TryCast(this=text.copy(), to=double) if is_double else text.copy()
        repeated = exp.cast(
            number.copy(), double if is_double else _text_type(column_type), dialect="duckdb"
        )
        return _integer_or_error(name, repeated.eq(formatted), number)


def _integer_or_error(name: str, is_integer: exp.Expr, integer: exp.Expr) -> exp.Expr:
    """Return a column as a whole number, with an error that has its name for a value that is
    none.
    """
    error = call_function("ERROR", sql_literal(f"{_NO_INTEGER}{name}"))
    branches = [
        exp.If(this=is_integer, true=integer),
        exp.If(this=is_not_null(quoted_column(name)), true=error),
    ]
    return exp.Case(ifs=branches).as_(name, quoted=True)


def declare_types(
    connection: duckdb.DuckDBPyConnection,
    item: exp.Expr,
    sampled: Mapping[str, str],
    columns: DeclaredColumns,
) -> TextReader:
    """Return the reader of text files with the types that the columns of a call have."""
    is_json = _is_json(item)
    kinds = {name: kind for name in sampled if (kind := columns.find_kind(name)) is not None}
    full_types = sampled
    if any(kind not in {"key", "number", "text"} for kind in kinds.values()) or (
        is_json and columns.texts
    ):
        options = {
            name: exp.Literal.number(value)
            for name, value in _ALL_FILES[_reader_name(item)].items()
        }
        full_types = describe_columns(
            connection, exp.select("*").from_(_with_options(item, options)).sql("duckdb")
        )
        kinds = {name: kind for name in full_types if (kind := columns.find_kind(name)) is not None}
    if not kinds:
        return TextReader(item, sampled, {})
    scalars = {
        name: "VARCHAR"
        for name in kinds
        if is_json
        and columns.find_kind(name) == "any"
        and (
            (full_types[name] == "JSON" and not _is_nested(connection, item, name))
            or (
                full_types[name] == "DOUBLE"
                and name.lower() in columns.texts
                and _has_long_integers(connection, item, name)
            )
        )
    }
    full_types = {**full_types, **scalars}
    missing = {
        name
        for name in columns.kinds
        if is_json and name not in {column.lower() for column in full_types}
    }
    types = {name: _declared_type(kind, full_types[name], is_json) for name, kind in kinds.items()}
    types |= {
        name: "DOUBLE" if columns.kinds[name] == "number" else "VARCHAR"
        for name in missing
        if columns.kinds[name] in {"key", "number", "text"}
    }
    keys = {name for name, kind in kinds.items() if kind in {"key", "list"} or columns.reads_all}
    integers = {name for name in keys if types[name] in {"BIGINT", "BIGINT[]"}}
    unsure = {
        name
        for name, kind in kinds.items()
        if kind == "number" and full_types[name] == "VARCHAR" and types[name] == "DOUBLE"
    }
    samples_all = not is_json and any(types[name].startswith(("DATE", "TIME")) for name in kinds)
    return TextReader(
        item,
        {**sampled, **full_types},
        types,
        frozenset(integers),
        frozenset({*unsure, *(missing & types.keys())}),
        samples_all,
    )


def _is_nested(connection: duckdb.DuckDBPyConnection, item: exp.Expr, name: str) -> bool:
    """Return True if a column of JSON has a list or an object, and not only numbers and texts."""
    kind = call_function("JSON_TYPE", quoted_column(name))
    return _has_rows(connection, item, {name: "JSON"}, kind.isin("ARRAY", "OBJECT"))


def _has_long_integers(connection: duckdb.DuckDBPyConnection, item: exp.Expr, name: str) -> bool:
    """Return True if a column of JSON has integers that doubles may not tell apart."""
    pattern = sql_literal(r"-?\d{16,}")
    is_long = call_function("REGEXP_FULL_MATCH", quoted_column(name), pattern)
    return _has_rows(connection, item, {name: "VARCHAR"}, is_long)


def _has_rows(
    connection: duckdb.DuckDBPyConnection,
    item: exp.Expr,
    types: Mapping[str, str],
    condition: exp.Expr,
) -> bool:
    query = TextReader(item, {}, types).select_texts(types).where(condition).limit(1)
    return bool(fetch_tuples(connection, query.sql("duckdb")))


def settle_types(
    connection: duckdb.DuckDBPyConnection, role: str, reader: TextReader, table: str | None
) -> TextReader:
    """Return a reader whose declared types hold for every row, and create a table of its rows if
    one is named.

    Raises:
        InputError: A value is no number, or is true or false, where others of its column are
            numbers.
        duckdb.Error: The files cannot be read.
    """
    dates = {
        name: column_type
        for name, column_type in reader.types.items()
        if column_type.startswith(("DATE", "TIMESTAMP"))
    }
    if dates and not _is_json(reader.item):
        text_reader = replace(reader, types=dict.fromkeys(dates, "VARCHAR"), integers=frozenset())
        check_dates(connection, role, text_reader.select_texts(dates), reader.item, dates)
    missing = reader.unsure - reader.sampled.keys()
    if table is not None and _load_numbers(connection, reader, missing, table):
        return _without_columns(reader, missing)
    while True:
        missing = reader.unsure - reader.sampled.keys()
        try:
            absent = (
                _load_rows(connection, reader, missing, table, reader.select_texts)
                if table is not None
                else _find_absent(connection, reader, missing)
            )
            if (
                _is_json(reader.item)
                and (table is None or _has_bits(connection, reader, absent, table))
                and mentions_booleans(list_files_read(reader.item))
            ):
                _reject_booleans(connection, role, reader)
            return _restore_booleans(_without_columns(reader, absent))
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            if (match := _NO_INTEGER_ERROR.search(str(error))) is not None:
                name = match[1]
                reader = replace(
                    reader,
                    types={**reader.types, name: _text_type(reader.types[name])},
                    integers=reader.integers - {name},
                )
                continue
            if (match := _FURTHER_ERROR.search(str(error))) is not None:
                sampled = {**reader.sampled, match[1]: reader.types[match[1]]}
                reader = replace(reader, sampled=sampled)
                continue
            place, name, value = _find_odd_value(connection, reader, str(error))
            if name is None:
                raise
            if name not in reader.unsure:
                is_date = name in dates and not _is_json(reader.item)
                advice = (
                    suggest_formats(reader.item, name, dates[name], value)
                    if is_date
                    else suggest_query(reader.item, name, value)
                )
                problem = (
                    f"{name} is {quote_excerpt(value)}, which is not"
                    f" {_NOUNS.get(reader.types[name], reader.types[name])}"
                )
                raise InputError(f"{role}: {place}: {problem}. {advice}") from None
            reader = replace(
                reader, types={**reader.types, name: "VARCHAR"}, unsure=reader.unsure - {name}
            )


def _without_columns(reader: TextReader, names: Collection[str]) -> TextReader:
    types = {name: text for name, text in reader.types.items() if name not in names}
    return replace(reader, types=types)


def _restore_booleans(reader: TextReader) -> TextReader:
    """Return a reader of JSON files whose columns of booleans, read as numbers to find any among
    them, are booleans again, which do not go together with the numbers of other sources.
    """
    types = {
        name: "BOOLEAN"
        if _is_json(reader.item)
        and (column_type, reader.sampled.get(name)) == ("DOUBLE", "BOOLEAN")
        else column_type
        for name, column_type in reader.types.items()
    }
    return replace(reader, types=types)


def _load_numbers(
    connection: duckdb.DuckDBPyConnection, reader: TextReader, missing: Collection[str], table: str
) -> bool:
    """Create a table of the rows of JSON files that have nothing but numbers; return False for
    others.

    Their texts are not needed to tell ids apart, such as 7 and "007".
    """
    files = list_files_read(reader.item)
    if not (
        _is_json(reader.item)
        and {reader.types[name] for name in reader.integers} == {"BIGINT"}
        and set(reader.sampled.values()) <= {"BIGINT", "DOUBLE"}
        and all(name.isidentifier() for name in reader.sampled)
        and all(path.suffix in _JSON_SUFFIXES for path in files)
        and not read_folder_keys(_find_first_path(reader.item), reader.sampled)
    ):
        return False
    try:
        _load_rows(connection, reader, missing, table, reader.select_numbers)
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        return False
    names = describe_columns(connection, f"FROM {table}")
    counts = _count_values(connection, exp.select("*").from_(table), names)
    unread = reader.sampled.keys() - counts.keys()
    return has_only_numbers(files, sum(counts.values()), unread)


def _load_rows(
    connection: duckdb.DuckDBPyConnection,
    reader: TextReader,
    missing: Collection[str],
    table: str,
    select: Callable[[Collection[str]], exp.Select],
) -> Collection[str]:
    """Create a table of the rows without columns that a sample does not have, and return these.

    A value of one is an error: where they have none, they would be an eighth of the table.
    """
    query = select([name for name in reader.types if name not in missing])
    for name in sorted(missing):
        error = call_function("ERROR", sql_literal(f"{_FURTHER}{name}"))
        has_value = exp.If(this=is_not_null(quoted_column(name)), true=error)
        query = query.where(exp.Case(ifs=[has_value], default=exp.true()))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query.sql('duckdb')}")
    return missing


def _find_absent(
    connection: duckdb.DuckDBPyConnection, reader: TextReader, missing: Collection[str]
) -> Collection[str]:
    """Read the columns whose types are not certain, and return those that have no value."""
    names = [*reader.integers, *sorted(reader.unsure)]
    counts = _count_values(connection, reader.select_texts(names), names)
    return {name for name in missing if not counts[name]}


def _find_odd_value(
    connection: duckdb.DuckDBPyConnection, reader: TextReader, error: str
) -> tuple[str, str | None, str]:
    """Return the place, the column and the text of a value that has not the declared type; the
    column is None for other errors.
    """
    if (cell := _ODD_CELL.search(error)) is not None:
        return (
            f"{cell['file']}, line {cell['line']}",
            cell["name"].replace('""', '"'),
            cell["value"],
        )
    if (member := _ODD_MEMBER.search(error)) is not None:
        for name in (name for name, column_type in reader.types.items() if column_type == "DOUBLE"):
            text = replace(reader, types={name: "VARCHAR"}, integers=frozenset()).select_texts(
                [name]
            )
            number = exp.TryCast(this=quoted_column(name), to=exp.DataType.build(DOUBLE))
            is_odd = exp.or_(
                exp.and_(is_not_null(quoted_column(name)), is_null(number)),
                call_function("REGEXP_MATCHES", quoted_column(name), _NO_JSON_NUMBER.copy()),
            )
            for (value,) in fetch_tuples(connection, take_first(text.where(is_odd)).sql("duckdb")):
                return f"{member['file']}, {member['place']}", name, value
    return "", None, ""


def _reject_booleans(connection: duckdb.DuckDBPyConnection, role: str, reader: TextReader) -> None:
    """Raise an error for a column of numbers of which some are true or false, which READ_JSON takes
    for 1 and 0.
    """
    numbers = [name for name, column_type in reader.types.items() if column_type == "DOUBLE"]
    texts = replace(reader, types=dict.fromkeys(numbers, "VARCHAR"), integers=frozenset())
    booleans = [quoted_column(name).isin("true", "false") for name in numbers]
    query = exp.select(
        *(exp.CountIf(this=is_boolean) for is_boolean in booleans),
        *(exp.CountIf(this=exp.not_(is_boolean)) for is_boolean in booleans),
    ).from_(texts.from_item())
    counts = fetch_tuples(connection, query.sql("duckdb"))[0] if numbers else ()
    for name, num_booleans, num_others in zip(
        numbers, counts[: len(numbers)], counts[len(numbers) :], strict=True
    ):
        if num_booleans and num_others:
            raise InputError(
                f"{role}: {name} is true or false in {num_booleans:,} of"
                f" {num_booleans + num_others:,} rows, and a number in the others."
                f" {suggest_query(reader.item, name, 'true')}"
            )


def _has_bits(
    connection: duckdb.DuckDBPyConnection, reader: TextReader, absent: Collection[str], table: str
) -> bool:
    """Return True if a number in a table is 0 or 1, as a boolean is read."""
    bits = [
        quoted_column(name).isin(0, 1)
        for name, column_type in reader.types.items()
        if column_type == "DOUBLE" and name not in absent
    ]
    if not bits:
        return False
    query = exp.select("1").from_(table).where(exp.or_(*bits)).limit(1)
    return bool(fetch_tuples(connection, query.sql("duckdb")))


def _count_values(
    connection: duckdb.DuckDBPyConnection, query: exp.Select, names: Collection[str]
) -> dict[str, int]:
    """Return the number of values of columns that are not NULL."""
    if not names:
        return {}
    counts = [exp.Count(this=quoted_column(name)) for name in names]
    return dict(
        zip(
            names,
            fetch_tuples(
                connection, exp.select(*counts).from_(query.subquery("rows")).sql("duckdb")
            )[0],
            strict=True,
        )
    )


def _declared_type(kind: str, column_type: str, is_json: bool) -> str:
    """Return the type of a column of a kind, whose values suggest another."""
    element = column_type.removesuffix("[]")
    if (
        kind == "any"
        or "(" in column_type
        or (kind in {"list", "numbers"}) != column_type.endswith("[]")
    ):
        return column_type
    if kind == "number":
        return (
            "DOUBLE"
            if column_type in _NUMBERS or (is_json and column_type == "BOOLEAN")
            else column_type
        )
    if kind == "numbers":
        return "DOUBLE[]" if element in _NUMBERS[:5] else column_type
    if kind == "list" and element in {"JSON", NULL}:
        return column_type
    if kind == "text":
        return "VARCHAR"
    is_whole = element == "BIGINT" or (is_json and element in {"DOUBLE", "JSON"})
    return f"BIGINT{column_type.removeprefix(element)}" if is_whole else _text_type(column_type)


def _text_type(column_type: str) -> str:
    return "VARCHAR[]" if column_type.endswith("[]") else "VARCHAR"


def _reader_name(item: exp.Expr) -> str:
    return "READ_CSV" if isinstance(item.this, exp.ReadCSV) else item.this.name.upper()


def _is_json(item: exp.Expr) -> bool:
    return not isinstance(item.this, exp.ReadCSV)


def _find_first_path(item: exp.Expr) -> str:
    """Return the path of the first file that an item of FROM reads."""
    path = next(iter(item.find_all(exp.Literal)))
    return str(next(iter(list_paths(path.name)), path.name))


def _with_options(item: exp.Expr, options: Mapping[str, exp.Expr]) -> exp.Expr:
    item = item.copy()
    for name, value in options.items():
        item.this.append("expressions", exp.var(name).eq(value))
    return item
