"""Results as a sheet of Excel, of the same bytes for the same rows."""

from __future__ import annotations

import datetime as dt
import io
import math
import zipfile
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError, quoted

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import pyarrow as pa

MOST_ROWS = 1_048_576
"""Rows of a sheet, of which the header is one."""

MOST_COLUMNS = 16_384

LONGEST_TEXT = 32_767

MOST_DIGITS = 10**15
"""Whole numbers from here on are written as texts: Excel would change their last digits, and so what they identify."""

_MADE = dt.datetime(1980, 1, 1)  # noqa: DTZ001  as the parts of the file, so that the time of writing does not change its bytes

_AS_WRITTEN = {dt.datetime: "yyyy-mm-dd hh:mm:ss", dt.date: "yyyy-mm-dd", dt.time: "hh:mm:ss", int: "0"}


def check_installed() -> None:
    """Raise ``SqlrankError`` if what writes the sheet is not there."""
    if find_spec("xlsxwriter") is None:
        raise SqlrankError("an .xlsx file needs XlsxWriter; install sqlrank[xlsx], or name a .csv file, which Excel opens, too")


def is_ours(path: Path) -> bool:
    """Whether a file says that it was written here."""
    try:
        with zipfile.ZipFile(path) as file:
            return b"sqlrank " in file.read("docProps/core.xml")
    except (zipfile.BadZipFile, KeyError):
        return False


def as_excel(result: pa.Table, counts: Collection[str] = ()) -> bytes:
    """Return a file with one sheet: the names of the columns, and below them the rows, of NULL an empty cell.

    Numbers are numbers, of 16 digits, ``counts`` among them shown without decimals; days and times are dates unless they have a time zone
    or are before 1900, which Excel does not know. Raises ``SqlrankError`` for what no sheet holds.
    """
    import xlsxwriter  # noqa: PLC0415  an optional dependency

    if result.num_rows >= MOST_ROWS or result.num_columns > MOST_COLUMNS:
        raise SqlrankError(
            f"a sheet holds {MOST_ROWS - 1:,} rows and {MOST_COLUMNS:,} columns, and the result has {result.num_rows:,} and "
            f"{result.num_columns:,}; name a .csv or .parquet file"
        )
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        book.set_properties({"comments": f"sqlrank {__version__}", "created": _MADE})
        sheet = book.add_worksheet("result")
        formats = {kind: book.add_format({"num_format": form}) for kind, form in _AS_WRITTEN.items()}
        bold = book.add_format({"bold": True})
        for column, name in enumerate(result.column_names):
            sheet.write_string(0, column, name, bold)
            for row, value in enumerate(result[name].to_pylist(), start=1):
                _write(
                    sheet, row, column, int(value) if name in counts and isinstance(value, float) and value.is_integer() else value, formats
                )
        sheet.freeze_panes(1, 0)
        sheet.autofit()
    return buffer.getvalue()


def _write(sheet: Any, row: int, column: int, value: Any, formats: dict[type, Any]) -> None:
    """Write a cell by its type, since what a text looks like, such as ``=1``, does not say what it is."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int) and abs(value) < MOST_DIGITS:
        sheet.write_number(row, column, value, formats[int])
    elif isinstance(value, float) and math.isfinite(value):
        sheet.write_number(row, column, value)
    elif type(value) in formats and not isinstance(value, int) and _has_place(value):
        sheet.write_datetime(row, column, value, formats[type(value)])
    else:
        text = str(value)
        if len(text.encode("utf-16-le")) // 2 > LONGEST_TEXT:
            raise SqlrankError(f"a cell holds {LONGEST_TEXT:,} characters, and {quoted(text)} is longer; name a .csv or .parquet file")
        sheet.write_string(row, column, text)


def _has_place(value: dt.date | dt.time) -> bool:
    """Whether a day or time is one that Excel has: without a time zone, and not before 1900."""
    return getattr(value, "tzinfo", None) is None and getattr(value, "year", 1900) >= 1900  # noqa: PLR2004  its first
