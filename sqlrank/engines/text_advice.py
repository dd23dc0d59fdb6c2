"""Advise on texts in the place of numbers, lists and dates, and on malformed lines of TREC files:
show them with their line, and suggest what reads them.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.engines.file_formats import open_text
from sqlrank.errors import InputError, join_words, list_examples, quote_excerpt, to_sentence
from sqlrank.registry.query_templates import RowCheck, load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import (
    call_function,
    find_nodes,
    is_not_null,
    quoted_column,
    replace_columns,
    sql_literal,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


MAX_WORDS = 6
"""Number of different texts up to which a message writes a number for each."""

_MISSING = {"", "nan", "null", "n/a"}
"""Texts in the place of missing values, in lower case, beside words."""

NUMERAL = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
"""Pattern of a number as a text."""

NUMERAL_TEXT = re.compile(rf"\s*{NUMERAL}\s*", re.IGNORECASE | re.ASCII)
_WITH_UNIT = re.compile(rf"{NUMERAL}\s*([a-zµ]+)", re.IGNORECASE)
_ODD_CELL = re.compile(
    r'CSV Error on Line: (\d+)\n.*?Could not convert string "(.*?)" to ', re.DOTALL
)

_UNEVEN = re.compile(
    r"CSV Error on Line: (\d+)\nOriginal Line: ?(.*?)\n(?:Expected Number of Columns: (\d+) Found:"
    r" (\d+)|Value with unterminated quote)",
    re.DOTALL,
)
_CUT = re.compile(r"\s*\[.*[\s,]\.\.\.[\s,].*\]\s*", re.DOTALL)
_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)


class ColumnAdvice:
    """Arguments that read a column by an expression: the mapping of its canonical name, or in calls
    that map no columns what their subclass returns.
    """

    def __init__(self, name: str, dialect: str) -> None:
        self.name, self.dialect = name, dialect

    def read_as(self, value: exp.Expr) -> str:
        """Return the argument that puts an expression in the place of the column."""
        return write_mapping({self.name: value}, self.dialect)

    def leave_out_null(self, _value: exp.Expr) -> str:
        """Return the argument that leaves out rows in which the expression is NULL, empty if they
        need not be left out.
        """
        return "nulls='drop'"

    def drop_null(self, value: exp.Expr, count: int) -> str:
        """Return that argument with the number of rows, as the end of a sentence."""
        argument = self.leave_out_null(value) if count else ""
        return f" and {argument}, which drops {count:,} row{'s' * (count > 1)}" if argument else ""


def suggest_number(
    advice: ColumnAdvice, column: exp.Expr, texts: Mapping[str, int], place: str
) -> str:
    """Return a sentence that shows the texts of a column that are no numbers, and says how to read
    it.

    Args:
        advice: The arguments to write in the call.
        column: The column, or the expression in its place.
        texts: Its texts with the numbers of their rows; those that are numbers are not quoted.
        place: The place of the first text that is no number, such as ``in line 7``.
    """
    odd = {text: count for text, count in texts.items() if not NUMERAL_TEXT.fullmatch(text)}
    best = _find_readings("text_numbers.sql", odd)
    # A comma before three digits may stand for either.
    best = best[: 2 if best and best[0].name == "thousands" else 1]
    missing = [text for text in odd if not any(reading.is_match(text) for reading in best)]
    if not best and len(odd) == len(texts) > 0:
        return _suggest_words(advice, column, odd)
    if not missing and (not best or best[0].name == "infinite"):
        return (
            f"If its texts are numbers{', such as inf,' if odd else ','} give"
            f" {advice.read_as(exp.cast(column.copy(), 'DOUBLE'))}"
        )
    quoted = list_examples(
        [
            *map(quote_excerpt, missing),
            *(quote_excerpt(text) for text in odd if text not in missing),
        ]
    )
    problem = (
        f"{quoted}{place and f' {place}'} is none"
        if len(odd) == 1
        else f"{quoted} are none{place and f', first {place}'}"
    )
    if missing[:1] and missing[0].lower() == advice.name:
        problem += ", but the header again"
    if not best:
        lenient = exp.TryCast(this=_without_nan(column, missing), to=exp.DataType.build("DOUBLE"))
        values: list[exp.Expr] = [lenient]
        steps = [
            f"leave {'it' if len(missing) == 1 else 'them'} out with {advice.read_as(lenient)}"
        ]
    else:
        numbers = [float(text) for text in texts if text not in odd]
        values = [
            _keep_numbers(column, reading, numbers, is_lenient=bool(missing)) for reading in best
        ]
        steps = [
            f"{reading.words} {advice.read_as(value)}"
            for reading, value in zip(best, values, strict=True)
        ]
    dropped = advice.drop_null(values[0], sum(odd[text] for text in missing))
    return f"{problem}. {', or '.join([to_sentence(steps[0]), *steps[1:]])}{dropped}"


def _keep_numbers(
    column: exp.Expr, reading: _Reading, numbers: Sequence[float], *, is_lenient: bool
) -> exp.Expr:
    """Return the expression of a reading over a column, in which numbers between its texts stay
    what they are if it would change them.
    """
    value = reading.read(column, is_lenient)
    changes_numbers = {
        "fractions": bool(numbers),
        # Points are not between thousands where a number is below 1.
        "points": any(0 < abs(number) < 1 for number in numbers),
    }.get(
        reading.name,
        "percentages" in reading.name and all(abs(number) <= 1 for number in numbers),
    )
    if not numbers or not (changes_numbers or reading.is_of_words):
        return value
    return exp.Coalesce(
        this=exp.TryCast(this=column.copy(), to=exp.DataType.build("DOUBLE")), expressions=[value]
    )


def _without_nan(column: exp.Expr, texts: Sequence[str]) -> exp.Expr:
    """Return a column with NULL for the text nan, which is a number to engines, if it is among
    these texts.
    """
    is_nan = any(text.strip().lower() == "nan" for text in texts)
    return (
        exp.Nullif(this=exp.Lower(this=column.copy()), expression=sql_literal("nan"))
        if is_nan
        else column.copy()
    )


class _Reading:
    """A way to read texts as numbers: the pattern of these texts, the words before the suggestion,
    and the expression.
    """

    def __init__(self, column: exp.Expr) -> None:
        check = RowCheck(column)
        self.name, self.words, self._pattern, self._value = (
            check.name,
            check.meaning,
            re.compile(check.requirement, re.ASCII | re.DOTALL),
            column.this,
        )

    @property
    def is_of_words(self) -> bool:
        """True if texts are words that stand for numbers."""
        return isinstance(self._value, exp.Case)

    def is_match(self, text: str) -> bool:
        """Return True if a text can be read so."""
        return self._pattern.fullmatch(text.strip().lower()) is not None

    def read(self, column: exp.Expr, is_lenient: bool) -> exp.Expr:
        """Return the expression over a column; a lenient one is NULL for other texts."""
        tree = self._value.copy()
        for cast in tree.find_all(exp.Cast) if is_lenient else ():
            cast.replace(exp.TryCast(this=cast.this, to=cast.to)) if cast is not tree else None
        tree = (
            exp.TryCast(this=tree.this, to=tree.to)
            if is_lenient and type(tree) is exp.Cast
            else tree
        )
        return replace_columns(tree, lambda _: column)


@cache
def _list_readings(file: str) -> list[_Reading]:
    return [_Reading(column) for column in load_select("inputs/advice", file).selects]


def _find_readings(file: str, texts: Collection[str]) -> list[_Reading]:
    """Return the readings that most of some texts match, none if none matches any."""
    counts = [sum(map(reading.is_match, texts)) for reading in _list_readings(file)]
    return [
        reading
        for reading, count in zip(_list_readings(file), counts, strict=True)
        if 0 < count == max(counts)
    ]


def read_truths(column: exp.Expr, texts: Collection[str]) -> exp.Expr | None:
    """Return the number, 1 or 0, for a column of words that say yes and no, None if any text is
    another.
    """
    readings = [
        reading
        for reading in _find_readings("text_numbers.sql", texts)
        if all(map(reading.is_match, texts))
    ]
    return next(
        (
            tree
            for reading in readings
            if isinstance(tree := reading.read(column, is_lenient=False), exp.Case)
        ),
        None,
    )


def suggest_list(name: str, column: exp.Expr, dialect: str, texts: Collection[str]) -> str:
    """Return the end of a sentence that says how texts in the place of lists are read."""
    if any(map(is_cut_list, texts)):
        return (
            "give whole lists, such as those of a Parquet or JSON file: NumPy leaves out the middle"
        )
    *_, unread, single = _list_readings("text_lists.sql")
    reading = next(iter(_find_readings("text_lists.sql", texts)), single if texts else unread)
    return (
        f"{reading.words} {write_mapping({name: reading.read(column, is_lenient=False)}, dialect)}"
    )


def find_list_reading(column: exp.Expr, texts: Collection[str]) -> exp.Expr | None:
    """Return the expression that reads texts as lists by their form, NULL for other texts; None for
    texts of no form, or of words between brackets, which may be one name.
    """
    reading = next(iter(_find_readings("text_lists.sql", texts)), None)
    is_certain = reading is not None and reading.name != "words"
    return reading.read(column, is_lenient=True) if reading is not None and is_certain else None


def is_cut_list(text: str) -> bool:
    """Return True if a text is a list that NumPy wrote without its middle."""
    return _CUT.fullmatch(text) is not None


def _suggest_words(advice: ColumnAdvice, column: exp.Expr, texts: Mapping[str, int]) -> str:
    """Return the advice for texts of which none is a number: a number for each, in an order that
    the caller knows.
    """
    missing = [text for text in texts if text.strip().lower() in _MISSING]
    missing = missing if len(missing) + 1 < len(texts) else []
    words = sorted(text for text in texts if text not in missing)
    problem = (
        f"{list_examples(list(map(quote_excerpt, sorted(texts))))} are none. Say what each"
        " stands for"
    )
    if len(folded := sorted({word.strip().lower() for word in words})) < len(words):
        column, words = exp.Lower(this=exp.Trim(this=column)), folded
    problem_alone = problem.removesuffix(". Say what each stands for")
    if unit := _find_unit(words):
        trimmed = exp.Trim(this=column, expression=sql_literal(f"{unit} "), position="TRAILING")
        reading = advice.read_as(exp.cast(trimmed, "DOUBLE"))
        return f"{problem_alone}. Leave the unit out with {reading}"
    num_missing = sum(texts[text] for text in missing)
    if len(texts) == 1:
        number = exp.Case(
            this=column, ifs=[exp.If(this=sql_literal(words[0]), true=exp.Literal.number(1))]
        )
        return (
            f"{quote_excerpt(words[0])} is none, and no row has another value. Say what it stands"
            f" for, as {advice.read_as(number)} does"
        )

    def write_numbers(words: Sequence[str]) -> str:
        numbers = number_words(column.copy(), words)
        return f"{advice.read_as(numbers)}{advice.drop_null(numbers, num_missing)}"

    # Numbers, which letters would not order
    if all(map(_WITH_UNIT.fullmatch, words)) or (
        len(words) > 2 and all(any(map(str.isdigit, word)) for word in words)  # noqa: PLR2004
    ):
        return f"{problem_alone}. Give an expression that reads them as numbers"
    if len(words) == 2:  # noqa: PLR2004  either may be the positive one
        choices = [
            f"{write_numbers(order)}{',' * bool(num_missing)} if {quote_excerpt(order[1])} is 1"
            for order in (words, words[::-1])
        ]
        return f"{problem}: {', or '.join(choices)}"
    return f"{problem}, as {write_numbers(words[:MAX_WORDS])} does in the order of letters"


def _find_unit(words: Sequence[str]) -> str:
    """Return the unit that follows the number in every text, empty if there is none, or several."""
    matches = [_WITH_UNIT.fullmatch(word) for word in words]
    units = {match[1] if match else "" for match in matches}
    return units.pop() if len(units) == 1 else ""


def number_words(column: exp.Expr, words: Sequence[str]) -> exp.Case:
    """Return the expression that reads words as numbers from 0."""
    branches = [
        exp.If(this=sql_literal(word), true=exp.Literal.number(number))
        for number, word in enumerate(words)
    ]
    return exp.Case(this=column, ifs=branches)


def write_mapping(values: Mapping[str, exp.Expr], dialect: str) -> str:
    """Return the argument that maps canonical columns to expressions, in a dialect of sqlrank."""
    writer = get_dialect(dialect).sqlglot
    texts = {
        name: value.sql(writer).replace(" AS TEXT[]", " AS VARCHAR[]")
        for name, value in values.items()
    }
    return f"columns={texts!r}"


def suggest_query(reader: exp.Expr, name: str, value: str) -> str:
    """Return the advice for a text far down a column of numbers, whose name may be mapped: a query
    of its file that reads the column.
    """
    column: exp.Expr = exp.column(exp.to_identifier(name))
    if not isinstance(reader.this, exp.ReadCSV):
        column = exp.JSONExtractScalar(this=column, expression=sql_literal("$"))
    readings = _find_readings("text_numbers.sql", [value])
    # DuckDB's reader of CSV would take over a cast of the column itself, and fail.
    number: exp.Expr = exp.TryCast(
        this=exp.Trim(this=column.copy()), to=exp.DataType.build("DOUBLE")
    )
    if readings:
        number = _keep_numbers(
            column, readings[0], [_find_greatest(reader, name, column)], is_lenient=True
        )
    query = read_column_by_query(reader, name, number)
    return (
        f"Correct it, or give the query {query}"
        if readings
        else f"Correct it, or leave its row out with nulls='drop' and the query {query}"
    )


def _find_greatest(reader: exp.Expr, name: str, column: exp.Expr) -> float:
    """Return the greatest size of the numbers in a column of texts."""
    number = exp.TryCast(this=column.copy(), to=exp.DataType.build("DOUBLE"))
    query = exp.select(exp.Max(this=exp.Abs(this=number))).from_(
        _with_type(reader, name, "VARCHAR")
    )
    with duckdb.connect() as connection:
        ((greatest,),) = fetch_tuples(connection, query.sql("duckdb"))
    return float(greatest or 0)


def read_column_by_query(reader: exp.Expr, name: str, value: exp.Expr) -> str:
    """Return a query of CSV files that reads a column as text, or of JSON as JSON, and puts an
    expression of it in its place.
    """
    column = exp.to_identifier(name).sql("duckdb")
    return (
        f"SELECT * REPLACE ({value.sql('duckdb')} AS {column}) FROM"
        f" {_with_type(reader, name, 'VARCHAR').sql('duckdb')}"
    )


def _with_type(reader: exp.Expr, column: str, column_type: str) -> exp.Expr:
    """Return a reader of CSV files that reads a column as a type, or one of JSON that looks at all
    rows.
    """
    item = reader.copy()
    for json_call in item.find_all(exp.Anonymous):
        json_call.append("expressions", exp.var("sample_size").eq(exp.Literal.number(-1)))
    types = exp.Struct(
        expressions=[exp.PropertyEQ(this=sql_literal(column), expression=sql_literal(column_type))]
    )
    for call in find_nodes(item, exp.ReadCSV):
        call.set("expressions", [exp.var("types").eq(types)])
    return item


def find_odd_cell(reader: exp.Expr, column: str) -> str:
    """Return the place of the first text of a column of CSV files that is no number, such as ``in
    line 7``; empty without one.
    """
    query = exp.select(exp.Count(this=exp.column(column, quoted=True))).from_(
        _with_type(reader, column, "DOUBLE")
    )
    with duckdb.connect() as connection:
        try:
            connection.execute(query.sql("duckdb"))
        except duckdb.Error as error:
            cell = _ODD_CELL.search(str(error))
            return "" if cell is None else f"in line {cell[1]}"
    return ""


_NO_YEAR_FIRST = re.compile(r"\s*\d{1,2}\D")
_TEXT = re.compile(r"\s*(\d+)(\D)(\d+)(\D)(\d+)(?:([ T]+)\d+:\d+(:\d+)?(\.\d+)?)?\s*")


def check_dates(
    connection: duckdb.DuckDBPyConnection,
    role: str,
    texts: exp.Query,
    reader: exp.Expr,
    types: dict[str, str],
) -> None:
    """Check that each column of dates has one reading.

    DuckDB chooses a format that fits all rows. Where no day is above 12, two do, and it would
    depend on a row added later which one is taken.

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
        column_texts = (
            exp.select(column.as_("value"))
            .from_(texts.subquery("rows"))
            .where(is_not_null(column.copy()))
        )
        # One value tells most formats, such as that with the year first, without a second reading
        # of the files.
        first = fetch_tuples(connection, column_texts.limit(1).sql("duckdb"))
        if not first or not _NO_YEAR_FIRST.match(first[0][0]):
            continue
        query = (
            load_select("inputs/advice", "ambiguous_dates.sql")
            .copy()
            .from_(column_texts.subquery("texts"))
        )
        ((value,),) = fetch_tuples(connection, query.sql("duckdb"))
        if value is not None:
            raise InputError(
                f"{role}: {name} has dates such as {quote_excerpt(value)}, and no row tells the day"
                f" from the month. {suggest_formats(reader, name, column_type, value)}"
            )


def suggest_formats(reader: exp.Expr, name: str, column_type: str, value: str) -> str:
    """Return the advice to read a column of dates by a query, with the formats that a value in it
    has.
    """
    match = _TEXT.fullmatch(value)
    if match is None:
        return "Correct it, or write the year first"
    numbers, (first, second), year, blank, seconds, fraction = (
        (match[1], match[3]),
        (match[2], match[4]),
        *match.groups()[4:],
    )
    time = f"{blank}%H:%M{':%S' if seconds else ''}{'.%f' if fraction else ''}" if blank else ""
    year_format = "%Y" if len(year) > len("26") else "%y"
    queries = {}
    for words, month, days in (
        ("month", numbers[0], f"%m{first}%d"),
        ("day", numbers[1], f"%d{first}%m"),
    ):
        if int(month) <= 12:  # noqa: PLR2004  months of a year
            arguments = [quoted_column(name), sql_literal(f"{days}{second}{year_format}{time}")]
            parsed = exp.cast(call_function("STRPTIME", *arguments), column_type, dialect="duckdb")
            queries[words] = read_column_by_query(reader, name, parsed)
    return to_sentence(
        join_words(
            [
                f"if the {words} comes first, give the query {query}"
                for words, query in queries.items()
            ]
        )
        or "correct it"
    )


def ragged_line_problem(error: duckdb.Error) -> str | None:
    """Describe the line with a deviating number of fields, or an open quote, if that is the
    error.
    """
    text = str(error)
    match, file = _UNEVEN.search(text), _FILE.search(text)
    if match is None or file is None:
        return None
    number, line, expected, actual = match.groups()
    if expected is None:
        return (
            f"{file[1]}, line {number} has a quote that nothing closes:"
            f" {quote_excerpt(line.partition(chr(10))[0])}. Close it, or write one in a text twice"
        )
    fields = f"{actual} field{'s' * (actual != '1')}"
    return (
        f"{file[1]}, line {number} has {fields}: {quote_excerpt(line)}. {expected} are expected, as"
        " in the lines before. Fix the line: put what holds a delimiter in quotes, and leave no"
        " field out"
    )


TREC_FIELDS = {
    "run": "query Q0 document rank score tag",
    "qrels": "query iteration document relevance",
}
"""Fields of a line, by file format."""

TREC_FORMATS = {"run": "run", "qrels": "qrels", "baseline": "run"}
"""File format, by role."""

TEXT_FORMATS = {
    **{role: f"trec_{name}" for role, name in TREC_FORMATS.items()},
    "predictions": "vw_predictions",
}
"""File of ``sql/inputs`` that reads text without a names suffix, by role."""

_COMMENT = re.compile(r"\s*#(\s|\S*\s*$)", re.ASCII)
_SCORE = re.compile(rf"{NUMERAL}|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE | re.ASCII)


def malformed_trec_line(role: str, files: Iterable[Path]) -> str | None:
    """Describe the first malformed line of TREC files, or of predictions of Vowpal Wabbit.

    Returns None if there is none, or if the files cannot be read at all.
    """
    if role == "predictions":
        return _malformed_prediction(files)
    role = TREC_FORMATS[role]
    for path in files:
        with suppress(OSError, pa.ArrowException):
            for number, line in read_lines(path):
                fields = re.split(r"[ \t]+", line)
                if _is_valid_line(role, fields):
                    continue
                is_rank_problem = len(fields) == len(TREC_FIELDS[role].split())
                fault = (
                    f"rank {quote_excerpt(fields[3])}"
                    if is_rank_problem
                    else f"{len(fields)} field{'s' * (len(fields) > 1)}"
                )
                return (
                    f"{path}, line {number} has {fault}: {quote_excerpt(line)}."
                    f" {_suggest_fields(role, fields)}"
                )
    return None


def _malformed_prediction(files: Iterable[Path]) -> str | None:
    """Describe the first line that is not a score, or a score and a tag."""
    for path in files:
        with suppress(OSError, pa.ArrowException):
            for number, line in read_lines(path, skips_comments=False):
                fields = re.split(r"[ \t]+", line)
                if len(fields) > 2 or not _SCORE.fullmatch(fields[0]):  # noqa: PLR2004
                    return (
                        f"{path}, line {number} is {quote_excerpt(line)}. A line of predictions of"
                        " Vowpal Wabbit is a score and, perhaps, a tag. Name a file of another"
                        " format by its suffix, such as .csv or .parquet"
                    )
    return None


def _is_valid_line(role: str, fields: list[str]) -> bool:
    """Return True if the fields form a valid line, as parsed by ``sql/inputs``."""
    expected = len(TREC_FIELDS[role].split())
    if role != "run":
        return len(fields) == expected
    has_rank = len(fields) >= expected and NUMERAL_TEXT.fullmatch(fields[3]) is not None
    return has_rank and (len(fields) == expected or NUMERAL_TEXT.fullmatch(fields[5]) is None)


def _suggest_fields(role: str, fields: list[str]) -> str:
    other_role = next(name for name in TREC_FIELDS if name != role)
    if len(fields) == len(TREC_FIELDS[other_role].split()):
        return (
            f"That is a line of {_with_article(other_role)}, not of {_with_article(role)}. Give the"
            f" file with {other_role}="
        )
    names = TREC_FIELDS[role].split()
    return (
        f"A line of {_with_article(role)} has {len(names)} fields with blanks or tabs between them:"
        f" {', '.join(names)}"
    )


def _with_article(role: str) -> str:
    return "a run" if role == "run" else role


def read_lines(path: Path, skips_comments: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines of a file, with their numbers; those of comments only on demand."""
    with open_lines(path) as text:
        for number, line in enumerate(text, start=1):
            content = line.strip(LINE_BLANKS)
            if content and not (skips_comments and _COMMENT.match(line)):
                yield number, content


LINE_BLANKS = " \t\r\n"


def open_lines(path: Path) -> io.TextIOWrapper:
    """Open a text file, uncompressed, whose characters need not be valid."""
    return io.TextIOWrapper(open_text(path), encoding="utf-8-sig", errors="replace", newline="\n")
