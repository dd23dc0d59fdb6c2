"""Format values for people, alike in terminals, Markdown, LaTeX, reports and CI: numbers, p-values, counts, NULL and texts."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlrank.errors import escape_controls
from sqlrank.output.latex import escape_latex
from sqlrank.output.markdown import escape_markdown
from sqlrank.result_columns import CONTRAST_COUNTS, P_VALUES, SIGNED_COLUMNS

DEFAULT_DIGITS = 4
"""Default number of decimals, as in evaluation tools."""

ROUNDING_ERROR = 1e-12
"""Magnitude below which a value is 0: computations round more."""

MIN_DECIMAL_NUMBER = 1e-6
"""Magnitude below which numbers have an exponent."""

_WORKFLOW_COMMAND = re.compile(r"^(\s*):(?=:)")
"""Start of a line that GitHub Actions would run as a command, such as ``::error::``."""


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


def format_value(
    value: Any, form: Format, digits: int = DEFAULT_DIGITS, *, name: str = "", is_count: bool = False, is_fraction: bool = False, is_signed: bool = False
) -> str:  # fmt: skip
    """Return a value of a column as text of a format, escaped."""
    if value is None:
        return "--" if form is Format.latex else "NULL"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = format_number(value, name, digits, is_count=is_count, is_fraction=is_fraction, is_signed=is_signed)
        return escape_latex(text) if form is Format.latex else text
    if form is Format.table:
        return _WORKFLOW_COMMAND.sub(r"\1\\x3a", escape_controls(str(value)))
    text = escape_controls(str(value), allowed="\n")
    return escape_latex(text) if form is Format.latex else escape_markdown(text)


def format_number(
    value: float, name: str = "", digits: int = DEFAULT_DIGITS, *, is_count: bool = False, is_fraction: bool = False, is_signed: bool = False
) -> str:  # fmt: skip
    """Return a number of a column as text: a p-value that rounds to 0 as a bound, another small number with two significant digits.

    Args:
        value: the number.
        name: its column.
        digits: number of decimals.
        is_count: True for a count, which has no decimals.
        is_fraction: True for an integer among fractions, which has their decimals.
        is_signed: True for a plus before a positive difference.

    >>> format_number(1e-9, "p_value"), format_number(0.25, "p_value"), format_number(3.97e-05), format_number(-1e-17)
    ('<0.0001', '0.2500', '0.00004', '0.0000')
    >>> format_number(12345.678), format_number(3.0), format_number(3.0, is_fraction=True), format_number(0.5, "difference", is_signed=True)
    ('12,345.6780', '3', '3.0000', '+0.5000')
    """
    least = 10**-digits
    if name in P_VALUES and value < least:
        return f"<{least:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}" if is_count or is_count_column(name) else str(value)
    if abs(value) < ROUNDING_ERROR:
        value = 0.0
    if value.is_integer() and not is_fraction and (is_count or abs(value) > 1):
        digits = 0
    elif 0 < abs(value) < least / 2:
        short = f"{value:.2g}"
        text = f"{Decimal(short):f}" if abs(value) >= MIN_DECIMAL_NUMBER else short
        return f"+{text}" if is_signed and name in SIGNED_COLUMNS and value > 0 else text
    return f"{value:{'+' if is_signed and name in SIGNED_COLUMNS and value > 0 else ''}z,.{digits}f}"


def is_count_column(name: str) -> bool:
    """Return True if integers of a column are counts, which are written with separators, and not identifiers."""
    return name in CONTRAST_COUNTS or name == "n" or name.startswith("num_") or name.endswith("_links")
