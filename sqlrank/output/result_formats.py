"""Write results in a format: text, Markdown, LaTeX, CSV, JSON, Parquet or Excel."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import sys
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError, quote_excerpt
from sqlrank.output.display import (
    DEFAULT_DIGITS,
    GREEN,
    MAX_ROW_RECORDS,
    RED,
    TOTAL_QUERY,
    YELLOW,
    Format,
    TextColumn,
    format_bold,
    format_latex,
    format_markdown,
    format_value,
    is_count_column,
    lay_out,
    supports_color,
    table_width,
    terminal_width,
    wrap_text,
)
from sqlrank.output.output_file import FileKind, OutputFile, write_parquet
from sqlrank.registry.metric_info import better_direction, is_count_metric
from sqlrank.result_metadata import read_canonical_names, read_result_metadata

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.registry.registry import Registry


MAX_SHEET_ROWS = 1_048_576
"""Maximum number of rows of a sheet, including the header."""

MAX_SHEET_COLUMNS = 16_384

MAX_CELL_CHARS = 32_767

MAX_SHEET_INTEGER = 10**15
"""Integers from this size on are written as text: Excel keeps only 15 digits, which would corrupt ids."""

_CREATED = dt.datetime(1980, 1, 1)  # noqa: DTZ001  as the parts of the file, so that the time of writing does not change its bytes

_NUMBER_FORMATS = {dt.datetime: "yyyy-mm-dd hh:mm:ss", dt.date: "yyyy-mm-dd", dt.time: "hh:mm:ss", int: "0"}


def check_excel_installed() -> None:
    """Raise ``SqlrankError`` if XlsxWriter is not installed."""
    if find_spec("xlsxwriter") is None:
        raise SqlrankError("an .xlsx file needs XlsxWriter. Run pip install xlsxwriter, or name a .csv file, which Excel opens, too")


def as_excel(result: pa.Table, counts: Collection[str] = (), kind: str = "") -> bytes:
    """Return a workbook with one sheet: column names, then rows; NULL is an empty cell.

    Numbers are written as doubles; ``counts`` are formatted without decimals. Days and times are dates, except with a time zone or before
    1900, which Excel does not support. Raises ``SqlrankError`` for data that does not fit into a sheet.
    """
    import xlsxwriter  # noqa: PLC0415  an optional dependency

    if result.num_rows >= MAX_SHEET_ROWS or result.num_columns > MAX_SHEET_COLUMNS:
        raise SqlrankError(
            f"a sheet holds {MAX_SHEET_ROWS - 1:,} rows and {MAX_SHEET_COLUMNS:,} columns, and the result has {result.num_rows:,} and "
            f"{result.num_columns:,}. Name a .csv or .parquet file"
        )
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        book.set_properties({"comments": f"sqlrank {__version__}{f' {kind}' if kind else ''}", "created": _CREATED})
        sheet = book.add_worksheet("result")
        formats = {value_type: book.add_format({"num_format": form}) for value_type, form in _NUMBER_FORMATS.items()}
        bold = book.add_format({"bold": True})
        for column, name in enumerate(result.column_names):
            sheet.write_string(0, column, name, bold)
            for row, value in enumerate(result[name].to_pylist(), start=1):
                _write_cell(
                    sheet, row, column, int(value) if name in counts and isinstance(value, float) and value.is_integer() else value, formats
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
                f"a cell holds {MAX_CELL_CHARS:,} characters, and {quote_excerpt(text)} is longer. Name a .csv or .parquet file"
            )
        sheet.write_string(row, column, text)


def _fits_sheet(value: dt.date | dt.time) -> bool:
    """Return True if Excel can represent a day or time.

    It must have no time zone, and not be before 1900.
    """
    return getattr(value, "tzinfo", None) is None and getattr(value, "year", 1900) >= 1900  # noqa: PLR2004  its first


NO_BREAK = "\N{NO-BREAK SPACE}"
"""Joins a name to the beginning of its value while notes are wrapped."""

MAX_ROW_COLUMNS = 4
"""Maximum number of columns of a one-row result that is not transposed."""

ALWAYS_DISPLAYED = ("name", "metric", "verdict", "winner")
"""Columns that a terminal shows even if all rows have one value."""

VERDICT_COLORS = {"pass": GREEN, "fail": RED, "inconclusive": YELLOW}


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

HUMAN_FORMATS = (Format.table, Format.markdown, Format.latex)
"""Formats that round numbers; the others keep all digits."""


@dataclass(frozen=True)
class TableStyle:
    """The style of a table.

    Attributes:
        digits: number of decimals.
        counts: columns of counts, which have no decimals.
        better: the better direction of each metric.
        has_total: True if the last rows are totals of the query ``all``.
        num_hidden: number of columns of the result that the table leaves out.
        fractions: columns of a metric with fractions, whose integers have decimals, too.
        is_signed: True if positive differences have a plus.
    """

    digits: int = DEFAULT_DIGITS
    counts: frozenset[str] = frozenset()
    better: Mapping[str, str] = field(default_factory=dict)
    has_total: bool = False
    num_hidden: int = 0
    fractions: frozenset[str] = frozenset()
    is_signed: bool = False

    @classmethod
    def for_result(cls, result: pa.Table, library: Registry, digits: int | None = None, has_total: bool = False) -> TableStyle:
        """Return the style of a result, whose columns have the names of metrics."""
        canonical = read_canonical_names(result.schema.metadata)
        metrics = {name: canonical.get(name, name) for name in result.column_names}
        counts = frozenset(name for name, metric in metrics.items() if is_count_metric(metric, library))
        better = {name: better_direction(metric, library) for name, metric in metrics.items()}
        return cls(DEFAULT_DIGITS if digits is None else digits, counts, better, has_total)


def resolve_format(format_option: Format | None, output: Path | None, digits: int | None = None) -> Format:
    """Return the output format, from the option or the file suffix.

    Raises ``SqlrankError`` for an unknown suffix.
    """
    form = format_option or (Format.table if output is None else FORMATS_BY_SUFFIX.get(output.suffix.lower()))
    if form is None:
        raise SqlrankError(
            f"-o {output}: its ending does not say how to write it. Use one of {', '.join(FORMATS_BY_SUFFIX)}, or give --format"
        )
    if form is Format.xlsx:
        check_excel_installed()
    if digits is not None and form not in HUMAN_FORMATS:
        raise SqlrankError(f"--digits is for {', '.join(HUMAN_FORMATS)}. {form} keeps every digit")
    return form


def write_result(result: pa.Table, form: Format, kind: FileKind, output: OutputFile | None, style: TableStyle | None = None) -> None:
    """Write a result to a file, or else to standard output."""
    if form in {Format.parquet, Format.xlsx} and output is None and sys.stdout.isatty():
        raise SqlrankError(f"{'Parquet' if form is Format.parquet else form} is not for a terminal. Name a file with -o")
    if form is Format.parquet:
        if output is None:
            write_parquet(result, sys.stdout.buffer, kind)
        else:
            output.write(lambda file: write_parquet(result, file, kind))
        return
    if form is Format.xlsx:
        data = as_excel(result, (style or TableStyle()).counts, kind)
        sys.stdout.buffer.write(data) if output is None else output.write(data)
        return
    text = format_result(result, form, style or TableStyle(), terminal_width() if output is None and form is Format.table else None)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        output.write(text)


def format_result(result: pa.Table, form: Format, style: TableStyle, width: int | None = None) -> str:
    """Return a result as text; a table for people is laid out for a terminal of ``width`` columns, if given."""
    rows = result.to_pylist()
    if form is Format.json:
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    if form is Format.jsonl:
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    if form is Format.csv:
        lines = _Lines()
        csv.writer(lines).writerows([result.column_names, *(["" if value is None else value for value in row.values()] for row in rows)])
        return "".join(lines)
    return _lay_out_result(result, rows, form, style, width)


class _Lines(list[str]):
    r"""Lines of CSV.

    The writer quotes characters of its line terminator, so that it quotes a lone ``\r`` only if it writes ``\r\n``.
    """

    def write(self, line: str) -> None:
        """Append a row, terminated by a line feed alone."""
        self.append(f"{line.removesuffix(chr(13) + chr(10))}\n")


def _lay_out_result(result: pa.Table, rows: list[dict[str, Any]], form: Format, style: TableStyle, width: int | None) -> str:
    """Format a table for people: numbers rounded and right-aligned, a row of many metrics alone transposed."""
    style = replace(style, counts=style.counts | {name for name in result.column_names if _is_integer_column([row[name] for row in rows])})
    style = replace(style, fractions=_fraction_columns(result, rows))
    counted = {name for name in result.column_names if _is_number(result.schema.field(name).type) and is_count_column(name)}
    numbers = {name for name in result.column_names if _is_number(result.schema.field(name).type)}
    cells = [[_format_cell(name, value, form, style, name in style.counts | counted) for name, value in row.items()] for row in rows]
    if form is Format.latex:
        _embolden_best(result, cells, style)
    columns = [
        TextColumn(format_value(name, form), [line[index] for line in cells], name in numbers, _choose_colors(name, rows))
        for index, name in enumerate(result.column_names)
    ]
    notes: list[str] = []
    if len(rows) == 1 and len(columns) > MAX_ROW_COLUMNS and _has_only_metrics(result):
        names = [column.name for column in columns]
        columns = [TextColumn("metric", names), TextColumn("value", cells[0], is_number=True)]
    elif width is not None:
        columns, notes = _without_constants(columns, result, style.num_hidden, width)
    if form is not Format.table:
        alignments = ["right" if column.is_number else "left" for column in columns]
        lines = [list(line) for line in zip(*(column.cells for column in columns), strict=True)]
        return (format_latex if form is Format.latex else format_markdown)([column.name for column in columns], alignments, lines)
    text = lay_out(columns, width, color=width is not None and supports_color())
    return text + "".join(f"{line}\n" for note in notes for line in ("", *wrap_text(note, width or 0))).replace(NO_BREAK, " ")


def _format_cell(name: str, value: Any, form: Format, style: TableStyle, is_count: bool) -> str:
    """Format a value of a column for people."""
    is_fraction = name in style.fractions
    return format_value(value, form, style.digits, name=name, is_count=is_count, is_fraction=is_fraction, is_signed=style.is_signed)


def _is_number(arrow_type: pa.DataType) -> bool:
    import pyarrow.types as pt  # noqa: PLC0415  help does not need it

    return bool(pt.is_floating(arrow_type) or pt.is_integer(arrow_type) or pt.is_decimal(arrow_type))


def _has_only_metrics(result: pa.Table) -> bool:
    """Return True if every column of a result is a metric."""
    metadata = read_result_metadata(result.schema.metadata)
    return metadata is not None and all(name in metadata.measures for name in result.column_names)


def _choose_colors(name: str, rows: list[dict[str, Any]]) -> dict[int, str]:
    """Return the colors of verdicts and winners by row: green for a pass or the candidate, red for a failure or the baseline."""
    if name == "verdict":
        return {index: VERDICT_COLORS[row[name]] for index, row in enumerate(rows) if row[name] in VERDICT_COLORS}
    if name != "winner":
        return {}
    baselines = [{row.get("baseline"), row.get("control")} for row in rows]
    return {index: RED if row[name] in baselines[index] else GREEN for index, row in enumerate(rows) if row[name] is not None}


def _without_constants(columns: list[TextColumn], result: pa.Table, num_hidden: int, width: int) -> tuple[list[TextColumn], list[str]]:
    """Return the columns that differ between rows or that were requested, and a sentence on the others."""
    metadata = read_result_metadata(result.schema.metadata)
    displayed = {*ALWAYS_DISPLAYED, *(() if metadata is None else metadata.measures)}
    constant = [
        column
        for name, column in zip(result.column_names, columns, strict=True)
        if name not in displayed and len(column.cells) > 1 and len(set(column.cells)) == 1
    ]
    constant = constant if len(constant) < len(columns) else []
    shared = _shared_by_verdicts([column for column in columns if column not in constant], result, width)
    empty = [column.name for column in constant if column.cells[0] in {"", format_value(None, Format.table)}]
    equal = [f"{column.name}{NO_BREAK}={NO_BREAK}{column.cells[0]}" for column in constant if column.name not in empty]
    notes = [f"In every row: {', '.join(equal)}"] if equal else []
    notes += shared.values()
    notes += [f"Empty: {', '.join(empty)}"] if empty else []
    notes += [f"{num_hidden} more column{'s' * (num_hidden > 1)} with --format csv"] if num_hidden else []
    hidden = {*(column.name for column in constant), *shared}
    return [column for column in columns if column.name not in hidden], [". ".join(notes)] if notes else []


def _shared_by_verdicts(columns: list[TextColumn], result: pa.Table, width: int) -> dict[str, str]:
    """Return a sentence on a tolerance that all verdicts share, and on reasons that follow from them, for a table that is too wide.

    Without sentences in cells, many rows are shown as a table in parts.
    """
    names = {column.name for column in columns}
    if table_width(columns) <= width or "verdict" not in result.column_names:
        return {}
    verdicts = result["verdict"].to_pylist()
    sentences: dict[str, str] = {}
    for name in [name for name in ("tolerance", "reason") if name in names]:
        pairs = sorted({(str(verdict), str(value)) for verdict, value in zip(verdicts, result[name].to_pylist(), strict=True) if verdict})
        values = {value for _, value in pairs}
        if name == "tolerance" and len(values) == 1:
            sentences[name] = f"In every row with a verdict: tolerance{NO_BREAK}={NO_BREAK}{values.pop()}"
        elif name == "reason" and len(pairs) == len({verdict for verdict, _ in pairs}) and result.num_rows > MAX_ROW_RECORDS:
            sentences[name] = ". ".join(f"Reason of each {verdict}: {value}" for verdict, value in pairs)
    return sentences


def _is_integer_column(values: Sequence[Any]) -> bool:
    """Return True if all values of a column are integral and some exceed 1.

    A 1 among them is then formatted as an integer, too.
    """
    non_null = [value for value in values if value is not None]
    return all(isinstance(value, float) and value.is_integer() for value in non_null) and any(abs(value) > 1 for value in non_null)


def _fraction_columns(result: pa.Table, rows: list[dict[str, Any]]) -> frozenset[str]:
    """Return the columns of one quantity in which some values are fractions: of a metric, or of data that are no metrics."""
    metadata = read_result_metadata(result.schema.metadata)
    measures = result.column_names if metadata is None and "metric" not in result.column_names else getattr(metadata, "measures", ())
    names = [name for name in result.column_names if name in measures]
    return frozenset(name for name in names if any(isinstance(row[name], float) and row[name] % 1 > 0 for row in rows))


def _embolden_best(result: pa.Table, cells: list[list[str]], style: TableStyle) -> None:
    """Set the best values of each column in bold, if there are several rows."""
    rows = [row for row in result.to_pylist() if not (style.has_total and row.get("query_id") == TOTAL_QUERY)]
    for column, name in enumerate(result.column_names):
        values = [row[name] for row in rows if isinstance(row[name], float)]
        if len(values) > 1 and (select_best := {"higher": max, "lower": min}.get(style.better.get(name, ""))):
            best = _format_cell(name, select_best(values), Format.latex, style, name in style.counts)
            for line in cells[: len(rows)]:
                line[column] = format_bold(line[column]) if line[column] == best else line[column]
