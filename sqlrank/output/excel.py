"""Write results as Excel workbooks of one sheet, whose bytes are reproducible."""

from __future__ import annotations

import datetime as dt
import io
import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError, quote_excerpt

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

MAX_SHEET_ROWS = 1_048_576
"""Maximum number of rows of a sheet, including the header."""

MAX_SHEET_COLUMNS = 16_384

MAX_CELL_CHARS = 32_767

MAX_SHEET_INTEGER = 10**15
"""Integers from this size on are written as text: Excel keeps only 15 digits, which would corrupt ids."""

_CREATED = dt.datetime(1980, 1, 1)  # noqa: DTZ001  as the parts of the file, so that the time of writing does not change its bytes

_NUMBER_FORMATS = {dt.datetime: "yyyy-mm-dd hh:mm:ss", dt.date: "yyyy-mm-dd", dt.time: "hh:mm:ss", int: "0"}


def check_installed() -> None:
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
