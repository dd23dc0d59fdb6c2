"""Write results in a format: text, Markdown, LaTeX, CSV, JSON, Parquet or Excel, and print one in
Python as the command line does: the public function show.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import sys
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from html import escape as escape_html
from importlib.util import find_spec
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.errors import (
    InputError,
    SqlrankError,
    count_things,
    escape_controls,
    quote_excerpt,
    to_plural,
)
from sqlrank.output.contrast_tables import COUNTED, NO_WINNER, DisplayTable, read_contrasts
from sqlrank.output.display import (
    DEFAULT_DIGITS,
    NO_BREAK,
    TOTAL_QUERY,
    Markup,
    TextColumn,
    escape_text,
    format_bold,
    format_latex,
    format_markdown,
    format_system_table,
    format_value,
    lay_out,
    read_number,
    supports_color,
    terminal_width,
    text_width,
    to_long_format,
    wrap_text,
)
from sqlrank.output.output_file import FileKind, OutputFile, write_parquet
from sqlrank.registry.metric_info import METRIC_INFO_COLUMNS
from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    NOTES_KEY,
    Kind,
    column_kind,
)
from sqlrank.result_metadata import (
    CONFIDENCE_KEY,
    POWER_KEY,
    read_measures,
    read_result_metadata,
    read_texts,
    read_unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa


MAX_SHEET_ROWS = 1_048_576
"""Maximum number of rows of a sheet, including the header."""

MAX_SHEET_COLUMNS = 16_384

MAX_CELL_CHARS = 32_767

MAX_SHEET_INTEGER = 10**15
"""Integers from this size on are written as text: Excel keeps only 15 digits, which would corrupt
ids.
"""

# As the parts of the file, so that the time of writing does not change its bytes
_CREATED = dt.datetime(1980, 1, 1)  # noqa: DTZ001

_NUMBER_FORMATS = {
    dt.datetime: "yyyy-mm-dd hh:mm:ss",
    dt.date: "yyyy-mm-dd",
    dt.time: "hh:mm:ss",
    int: "0",
}


def check_excel_installed() -> None:
    """Raise ``SqlrankError`` if XlsxWriter is not installed."""
    if find_spec("xlsxwriter") is None:
        raise SqlrankError(
            "an .xlsx file needs XlsxWriter. Run pip install xlsxwriter, or name a .csv file, which"
            " Excel opens, too"
        )


def as_excel(result: pa.Table, kind: str = "") -> bytes:
    """Return a workbook with one sheet: column names, then rows; NULL is an empty cell.

    Numbers are written as doubles; counts are formatted without decimals. Days and times are dates,
    except with a time zone or before 1900, which Excel does not support. Raises ``SqlrankError``
    for data that does not fit into a sheet.
    """
    import xlsxwriter  # an optional dependency

    counts = [name for name, kind in read_kinds(result).items() if kind is Kind.COUNT]
    if result.num_rows >= MAX_SHEET_ROWS or result.num_columns > MAX_SHEET_COLUMNS:
        raise SqlrankError(
            f"a sheet holds {MAX_SHEET_ROWS - 1:,} rows and {MAX_SHEET_COLUMNS:,} columns, and the"
            f" result has {result.num_rows:,} and {result.num_columns:,}. Name a .csv or .parquet"
            " file"
        )
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        book.set_properties(
            {"comments": f"sqlrank {__version__}{f' {kind}' if kind else ''}", "created": _CREATED}
        )
        sheet = book.add_worksheet("result")
        formats = {
            value_type: book.add_format({"num_format": form})
            for value_type, form in _NUMBER_FORMATS.items()
        }
        bold = book.add_format({"bold": True})
        for column, name in enumerate(result.column_names):
            sheet.write_string(0, column, name, bold)
            for row, value in enumerate(result[name].to_pylist(), start=1):
                _write_cell(
                    sheet,
                    row,
                    column,
                    (
                        int(value)
                        if name in counts and isinstance(value, float) and value.is_integer()
                        else value
                    ),
                    formats,
                )
        sheet.freeze_panes(1, 0)
        sheet.autofit()
    return buffer.getvalue()


def _write_cell(sheet: Any, row: int, column: int, value: Any, formats: dict[type, Any]) -> None:
    """Write a cell by the type of its value: a text ``=1`` stays text."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int) and abs(value) < MAX_SHEET_INTEGER:
        sheet.write_number(row, column, value, formats[int])
    elif isinstance(value, float) and math.isfinite(value):
        sheet.write_number(row, column, value)
    elif type(value) in formats and not isinstance(value, int) and _fits_sheet(value):
        sheet.write_datetime(row, column, value, formats[type(value)])
    else:
        text = str(value)
        if len(text.encode("utf-16-le")) // 2 > MAX_CELL_CHARS:
            raise SqlrankError(
                f"a cell holds {MAX_CELL_CHARS:,} characters, and {quote_excerpt(text)} is longer."
                " Name a .csv or .parquet file"
            )
        sheet.write_string(row, column, text)


def _fits_sheet(value: dt.date | dt.time) -> bool:
    """Return True if Excel can represent a day or time.

    It must have no time zone, and not be before 1900.
    """
    # Its first
    return getattr(value, "tzinfo", None) is None and getattr(value, "year", 1900) >= 1900  # noqa: PLR2004


MAX_ROW_COLUMNS = 4
"""Maximum number of columns of a one-row result that is not transposed."""

ALWAYS_DISPLAYED = ("name", "metric", "value", "interval")
"""Columns that a terminal shows even if all rows have one value."""


class Format(StrEnum):
    """An output format of results."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    parquet = "parquet"
    xlsx = "xlsx"


FORMATS_BY_SUFFIX = {
    ".txt": Format.table,
    ".md": Format.markdown,
    ".markdown": Format.markdown,
    ".tex": Format.latex,
    ".csv": Format.csv,
    ".json": Format.json,
    ".jsonl": Format.jsonl,
    ".parquet": Format.parquet,
    ".xlsx": Format.xlsx,
}
"""Output formats by file suffix."""

HUMAN_FORMATS: dict[Format, Markup] = {
    Format.table: "table",
    Format.markdown: "markdown",
    Format.latex: "latex",
}
"""Formats that round numbers; the others keep all digits."""


@dataclass(frozen=True)
class TableStyle:
    """The style of a table.

    Attributes:
        digits: number of decimals, None for the default.
        has_total: True if the last rows are totals of the query ``all``.
        num_hidden: number of columns of the result that the table leaves out.
        is_command: True if a command prints the table, of which a format has more columns.
        verdicts: texts of the verdicts in a summary, which has few columns; empty for others.
        null: the text of NULL in a terminal.
    """

    digits: int | None = None
    has_total: bool = False
    num_hidden: int = 0
    is_command: bool = False
    verdicts: Mapping[str, str] = field(default_factory=dict)
    null: str = "NULL"

    @property
    def decimals(self) -> int:
        """Return the number of decimals."""
        return DEFAULT_DIGITS if self.digits is None else self.digits


def resolve_format(format_option: Format | None, output: Path | None, digits: int | None) -> Format:
    """Return the output format, from the option or the file suffix.

    Raises ``SqlrankError`` for an unknown suffix.
    """
    form = format_option or (
        Format.table if output is None else FORMATS_BY_SUFFIX.get(output.suffix.lower())
    )
    if form is None:
        raise SqlrankError(
            f"-o {output}: its ending does not say how to write it. Use one of"
            f" {', '.join(FORMATS_BY_SUFFIX)}, or give --format"
        )
    if form is Format.xlsx:
        check_excel_installed()
    if digits is not None and form not in HUMAN_FORMATS:
        raise SqlrankError(f"--digits is for {', '.join(HUMAN_FORMATS)}. {form} keeps every digit")
    return form


def write_result(
    result: pa.Table,
    form: Format,
    kind: FileKind,
    output: OutputFile | None,
    style: TableStyle | None,
) -> None:
    """Write a result to a file, or else to standard output."""
    if form in {Format.parquet, Format.xlsx} and output is None and sys.stdout.isatty():
        raise SqlrankError(
            f"{'Parquet' if form is Format.parquet else form} is not for a terminal. Name a file"
            " with -o"
        )
    if form is Format.parquet:
        if output is None:
            write_parquet(result, sys.stdout.buffer, kind)
        else:
            output.write(lambda file: write_parquet(result, file, kind))
        return
    if form is Format.xlsx:
        data = as_excel(result, kind)
        sys.stdout.buffer.write(data) if output is None else output.write(data)
        return
    text = format_result(
        result,
        form,
        style or TableStyle(),
        terminal_width() if output is None and form is Format.table else None,
    )
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        output.write(text)


def format_result(
    result: pa.Table, form: Format, style: TableStyle, width: int | None = None
) -> str:
    """Return a result as text; a table for people is laid out for a terminal of ``width`` columns,
    if given.
    """
    if markup := HUMAN_FORMATS.get(form):
        return _format_for_people(result, markup, style, width)
    rows = result.to_pylist()
    if form is Format.json:
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    if form is Format.jsonl:
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    lines = _Lines()
    csv.writer(lines).writerows(
        [
            result.column_names,
            *(["" if value is None else value for value in row.values()] for row in rows),
        ]
    )
    return "".join(lines)


class _Lines(list[str]):
    r"""Lines of CSV.

    The writer quotes characters of its line terminator, so that it quotes a lone ``\r`` only if it
    writes ``\r\n``.
    """

    def write(self, line: str) -> None:
        """Append a row, terminated by a line feed alone."""
        self.append(f"{line.removesuffix(chr(13) + chr(10))}\n")


def _format_for_people(result: pa.Table, form: Markup, style: TableStyle, width: int | None) -> str:
    """Format a result for people: contrasts in their compact form, others with a column per
    column.
    """
    if form == "latex" and (systems := format_system_table(result, style.decimals)) is not None:
        return systems
    color = width is not None and supports_color()
    if form == "table" and (contrasts := read_contrasts(result, style.decimals)) is not None:
        return contrasts.lay_out(
            width,
            [f"All{NO_BREAK}columns:{NO_BREAK}--format{NO_BREAK}csv"] if style.is_command else [],
            color=color,
        )
    tables, method = build_display_tables(result, form, style)
    if form != "table":
        texts = [
            format_notes([title] if title else [], form).lstrip("\n")
            + "\n" * bool(title and form == "markdown")
            + _format_markup(columns, form)
            for title, columns in tables
        ]
        return "\n".join(texts) + format_notes(method, form)
    ((_, columns),), notes = tables, list[str]()
    if width is not None:
        differing, equal = drop_constants(
            columns, {*ALWAYS_DISPLAYED, *read_measures(result.schema.metadata)}
        )
        # Points of a curve whose values are all equal keep them: they are its subject.
        values = _list_curve_values(result)
        if not values or values & {column.name for column in differing}:
            columns, notes = differing, equal
    notes += (
        [f"{style.num_hidden} more column{'s' * (style.num_hidden > 1)} with --format csv"]
        if style.num_hidden
        else []
    )
    text = lay_out(columns, width, color=color) + "".join(
        f"{line}\n" for note in method for line in wrap_text(note, width or text_width(note))
    )
    return text + "".join(
        f"{line}\n" for line in ("", *wrap_text(". ".join(notes), width or 0)) if notes
    ).replace(NO_BREAK, " ")


def _list_curve_values(result: pa.Table) -> set[str]:
    """Return the columns of the values of a curve, none of another result."""
    metadata = read_result_metadata(result.schema.metadata)
    if metadata is None or not metadata.curve:
        return set()
    return {name for name, kind in metadata.columns.items() if kind == "value"}


def _format_markup(columns: Sequence[TextColumn], form: Markup) -> str:
    alignments = ["right" if column.is_number else "left" for column in columns]
    lines = [list(line) for line in zip(*(column.cells for column in columns), strict=True)]
    return (format_latex if form == "latex" else format_markdown)(
        [column.name for column in columns], alignments, lines
    )


def format_html(result: pa.Table) -> str:
    """Return a result as HTML tables with notes, for notebooks."""
    tables, notes = build_display_tables(result, "table", escape=escape_controls)
    html = []
    for title, columns in tables:
        sides = ["right" if column.is_number else "left" for column in columns]
        # Narrow cells would break intervals, days, and numbers at a minus. Sentences may break.
        wrapping = ["" if column.is_prose else ";white-space: nowrap" for column in columns]
        names = [column.name for column in columns]
        lines = [
            ("th", [""] * len(columns), names),
            *(
                ("td", wrapping, line)
                for line in zip(*(column.cells for column in columns), strict=True)
            ),
        ]
        rows = [
            "".join(
                f'<{tag} style="text-align: {side}{space}">{escape_html(text)}</{tag}>'
                for side, space, text in zip(sides, spaces, line, strict=True)
            )
            for tag, spaces, line in lines
        ]
        html += [f"<p>{escape_html(title)}</p>"] if title else []
        html.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")
    return "\n".join([*html, *(f"<p>{escape_html(note)}</p>" for note in notes)])


def build_display_tables(
    result: pa.Table,
    form: Markup,
    style: TableStyle | None = None,
    escape: Callable[[str], str] | None = None,
) -> tuple[list[DisplayTable], list[str]]:
    """Return a result as tables of texts, and the notes below them; a row of many metrics alone is
    transposed.

    Args:
        result: the result.
        form: the format, whose markup texts are escaped for.
        style: the style of the table.
        escape: escapes texts instead of the format.
    """
    style = style or TableStyle()
    if (
        contrasts := read_contrasts(
            result, style.decimals, form, escape=escape, verdicts=style.verdicts
        )
    ) is not None:
        tables = (contrasts.join_columns() if style.verdicts else contrasts).build_tables()
        return tables, contrasts.notes
    columns, method = read_display_columns(result, form, style, escape)
    if result.num_rows == 1 and len(columns) > MAX_ROW_COLUMNS and _has_only_metrics(result):
        columns = [
            TextColumn("metric", [column.name for column in columns]),
            TextColumn("value", [column.cells[0] for column in columns], is_number=True),
        ]
    return [DisplayTable("", columns)], [method] if method else []


def format_notes(notes: Sequence[str], form: Markup) -> str:
    """Return the lines below a table: comments in LaTeX, and a paragraph in Markdown."""
    if form == "latex":
        return "".join(f"% {note}\n" for note in notes)
    return "".join(f"\n{note}\n" for note in notes)


def read_columns(
    result: pa.Table,
    form: Markup,
    style: TableStyle | None = None,
    escape: Callable[[str], str] | None = None,
) -> list[TextColumn]:
    """Return a result as columns of text, numbers rounded; ``escape`` escapes texts instead of the
    format.
    """
    style = style or TableStyle()
    rows = result.to_pylist()
    fractions = _fraction_columns(result, rows)
    kinds = read_kinds(result)
    escape = escape or (lambda text: escape_text(text, form))
    columns = []
    for column in result.schema:
        values = [row[column.name] for row in rows]
        format_cell = partial(
            format_value,
            form=form,
            digits=style.decimals,
            kind=Kind.COUNT if _is_integer_column(values) else kinds[column.name],
            is_fraction=column.name in fractions,
            escape=escape,
        )
        cells = [
            style.null if value is None and form == "table" else format_cell(value)
            for value in values
        ]
        if form == "latex":
            _embolden_best(column.name, cells, rows, style, result)
        numbers = list(map(read_number, values))
        columns.append(
            TextColumn(escape(column.name), cells, _is_number(column.type), numbers=numbers)
        )
    return columns


def read_display_columns(
    result: pa.Table,
    form: Markup,
    style: TableStyle | None = None,
    escape: Callable[[str], str] | None = None,
) -> tuple[list[TextColumn], str]:
    """Return a result as columns of text for people, two limits as an interval, and the line below
    on units and the level, which is empty for results without them.
    """
    table = rows_for_people(result)
    columns = dict(zip(table.column_names, read_columns(table, form, style, escape), strict=True))
    texts = read_texts(result.schema.metadata)
    is_plan = POWER_KEY in texts
    if not is_plan and not {"metric", "value", CI_LOW} <= columns.keys():
        return list(columns.values()), ""
    for first, second, heading in ((CI_LOW, CI_HIGH, "interval"), (*BOUNDS, "bounds")):
        if {first, second} <= columns.keys():
            limits = columns[first], columns.pop(second)
            pairs = zip(table[first].to_pylist(), *(limit.cells for limit in limits), strict=True)
            missing = "--" if form == "latex" else NO_WINNER
            cells = [missing if value is None else f"{low} to {high}" for value, low, high in pairs]
            columns[first] = replace(limits[0], name=heading, cells=cells, is_number=True)
    unit = read_unit(result.schema.metadata)
    facts = _take_counts(columns, {N_UNITS: unit, N_BUCKETS: COUNTED[N_BUCKETS]})
    if is_plan:
        facts += [
            *_name_plan(columns, to_plural(unit)),
            f"power {100 * float(texts[POWER_KEY]):.4g}%",
        ]
    elif CONFIDENCE_KEY in texts and any(value is not None for value in columns[CI_LOW].numbers):
        facts.append(f"intervals at {100 * float(texts[CONFIDENCE_KEY]):.4g}%")
    line = ", ".join(facts)
    line = f"{line[:1].upper()}{line[1:]}." if line else ""
    return list(columns.values()), escape(line) if escape else escape_text(line, form)


def _take_counts(columns: dict[str, TextColumn], words: Mapping[str, str]) -> list[str]:
    """Take the columns of numbers that are the same wherever there is one, and return them with the
    words for what they count; name other columns by that word.
    """
    facts = []
    for name, word in words.items():
        if (counts := columns.get(name)) is None:
            continue
        numbers = {number for number in counts.numbers if number is not None}
        if len(numbers) > 1:
            columns[name] = replace(counts, name=to_plural(word))
            continue
        del columns[name]
        facts += [count_things(number, word) for number in numbers]
    return facts


def _name_plan(columns: dict[str, TextColumn], units: str) -> list[str]:
    """Name the columns of a plan in words, and take its level, which all rows have."""
    headings = {"mde": "detectable difference", "required_units": f"required {units}"}
    headings |= {} if "value" in columns else {"value_baseline": "value"}
    level = columns.pop("ci_level", None)
    for name in headings.keys() & columns.keys():
        columns[name] = replace(columns[name], name=headings[name])
    return [] if level is None else [f"test at {100 * (level.numbers[0] or 0):.4g}%"]


def read_kinds(result: pa.Table) -> dict[str, Kind]:
    """Return the kind of each column, by its metric or else by its name."""
    measures = read_measures(result.schema.metadata)
    return {
        name: Kind.COUNT if measures.get(name, {}).get("unit") == "count" else column_kind(name)
        for name in result.column_names
    }


def rows_for_people(result: pa.Table) -> pa.Table:
    """Return a row per metric of a result with intervals, the columns of a plan that have a value,
    the names and descriptions of a list of metrics, and other results as they are.
    """
    if result.column_names == [*METRIC_INFO_COLUMNS]:
        return result.select(["name", "family", "description"])
    if POWER_KEY in read_texts(result.schema.metadata):
        empty = [name for name in result.column_names if result[name].null_count == result.num_rows]
        return result.drop_columns(empty)
    return (
        to_long_format(result)
        if any(name.endswith(f".{CI_LOW}") for name in result.column_names)
        else result
    )


def _is_number(arrow_type: pa.DataType) -> bool:
    import pyarrow.types as pt  # help does not need it

    return bool(
        pt.is_floating(arrow_type) or pt.is_integer(arrow_type) or pt.is_decimal(arrow_type)
    )


def _has_only_metrics(result: pa.Table) -> bool:
    """Return True if every column of a result is a metric."""
    metadata = read_result_metadata(result.schema.metadata)
    return metadata is not None and all(name in metadata.measures for name in result.column_names)


def drop_constants(
    columns: Sequence[TextColumn], displayed: Collection[str]
) -> tuple[list[TextColumn], list[str]]:
    """Return the columns that differ between several rows or that are always displayed, and
    sentences on the others.
    """
    empty_texts = {"", format_value(None, "table")}
    constant = [
        column
        for column in columns
        if column.name not in displayed and len(set(column.cells)) == 1 < len(column.cells)
    ]
    constant = constant if len(constant) < len(columns) else []
    empty = [column.name for column in constant if set(column.cells) <= empty_texts]
    equal = [
        f"{column.name}{NO_BREAK}={NO_BREAK}{column.cells[0]}"
        for column in constant
        if column.name not in empty
    ]
    notes = [f"In every row: {', '.join(equal)}"] if equal else []
    notes += [f"Empty: {', '.join(empty)}"] if empty else []
    return [column for column in columns if column not in constant], notes


def _is_integer_column(values: Sequence[Any]) -> bool:
    """Return True if all values of a column are integral and some exceed 1.

    A 1 among them is then formatted as an integer, too.
    """
    non_null = [value for value in values if value is not None]
    return all(isinstance(value, float) and value.is_integer() for value in non_null) and any(
        abs(value) > 1 for value in non_null
    )


def _fraction_columns(result: pa.Table, rows: list[dict[str, Any]]) -> frozenset[str]:
    """Return the columns of one quantity in which some values are fractions: of a metric, or of
    data that are no metrics.
    """
    metadata = read_result_metadata(result.schema.metadata)
    measures = (
        result.column_names
        if metadata is None and "metric" not in result.column_names
        else getattr(metadata, "measures", ())
    )
    names = [name for name in result.column_names if name in measures]
    return frozenset(
        name
        for name in names
        if any(isinstance(row[name], float) and row[name] % 1 > 0 for row in rows)
    )


def _embolden_best(
    name: str, cells: list[str], rows: Sequence[dict[str, Any]], style: TableStyle, result: pa.Table
) -> None:
    """Set the best values of a metric in bold, if there are several rows."""
    select_best: Any = {"higher": max, "lower": min}.get(
        read_measures(result.schema.metadata).get(name, {}).get("better", "")
    )
    compared = [
        row
        for row, values in enumerate(rows)
        if not (style.has_total and values.get("query_id") == TOTAL_QUERY)
    ]
    values = {row: rows[row][name] for row in compared if isinstance(rows[row][name], float)}
    if select_best is not None and len(values) > 1:
        best = cells[select_best(values, key=values.__getitem__)]
        cells[: len(compared)] = [
            format_bold(cell) if cell == best else cell for cell in cells[: len(compared)]
        ]


MAX_DISPLAYED_ROWS = 100
"""Number of rows that ``show`` prints of a longer result."""
FIRST_ROWS = 20
"""Number of rows that a notebook and Python's prompt show of a result that ``show`` would cut."""


@entry_point
def show(result: Any, *, max_rows: int = MAX_DISPLAYED_ROWS) -> None:
    """Print a result as the command line does: rounded, aligned, and as wide as the terminal.

    A comparison, gate, drift or experiment has a column per system, and ``none`` where no system
    wins. The table itself keeps all columns and digits. A notebook and the Python prompt show
    results so without this function.

    Args:
        result: an Arrow table, such as a result of :func:`sqlrank.evaluate`,
            :func:`sqlrank.compare` or :func:`sqlrank.metrics`.
        max_rows: the number of rows to print of a longer one.

    Raises:
        InputError: not an Arrow table.
        MetricError: an invalid number of rows.

    >>> import sqlrank
    >>> run, qrels = {"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"b": 1}}
    >>> sqlrank.show(sqlrank.evaluate(["nDCG@2", "MAP"], run=run, qrels=qrels))
    nDCG@2     MAP
    0.6309  0.5000
    """
    import pyarrow as pa  # help does not need it

    if not isinstance(result, pa.Table):
        raise InputError(
            f"show prints an Arrow table, and not one of type {type(result).__name__}. Give the"
            " result as sqlrank returned it"
        )
    print(format_first_rows(result, max_rows), end="")  # noqa: T201  its purpose


def format_first_rows(result: pa.Table, max_rows: int | None = None) -> str:
    """Return the first rows of a result as text for the terminal."""
    num_rows = _count_rows(result) if max_rows is None else max_rows
    text = format_result(
        result.slice(0, num_rows), Format.table, TableStyle(), get_terminal_size().columns
    )
    notes = [f"{note}\n" for note in _describe_omitted(result, num_rows)]
    return "".join([*(f"verdict: {verdict}\n" for verdict in _list_verdict(result)), text, *notes])


def format_first_rows_html(result: pa.Table) -> str:
    """Return the first rows of a result as HTML, with the notes that a terminal prints below."""
    num_rows = _count_rows(result)
    lines = (result.schema.metadata or {}).get(NOTES_KEY.encode(), b"").decode().splitlines()
    # Reasons of verdicts have the notes of a gate.
    remarks = [] if "verdict" in result.column_names else [f"note: {line}" for line in lines]
    notes = [
        f"<p>{escape_html(text)}</p>" for text in [*_describe_omitted(result, num_rows), *remarks]
    ]
    head = [f"<p><b>verdict: {verdict}</b></p>" for verdict in _list_verdict(result)]
    return "\n".join([*head, format_html(result.slice(0, num_rows)), *notes])


def _list_verdict(result: pa.Table) -> list[str]:
    """Return the overall verdict of a gate, nothing for other results."""
    verdict = (result.schema.metadata or {}).get(b"sqlrank.verdict")
    return [verdict.decode()] if verdict and "verdict" in result.column_names else []


def _count_rows(result: pa.Table) -> int:
    return result.num_rows if result.num_rows <= MAX_DISPLAYED_ROWS else FIRST_ROWS


def _describe_omitted(result: pa.Table, num_rows: int) -> list[str]:
    num_omitted = result.num_rows - num_rows
    return [f"... and {num_omitted:,} more rows"] if num_omitted > 0 else []
