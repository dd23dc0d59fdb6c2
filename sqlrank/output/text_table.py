"""Lay out tables as text, in a narrow terminal in several parts or one record per row, and detect its width and colors."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GAP = "  "
MIN_PROSE_WIDTH = 24
"""Smallest width of a column of sentences beside others; below, rows are shown as records."""

PROSE_CHARS = 30
"""Length from which a text with blanks is wrapped at them. Shorter texts are names."""

MAX_ROW_RECORDS = 5
"""Maximum number of rows that are shown as records. Of more, the columns are shown in parts, one below the other."""

BOLD, GREEN, RED, YELLOW = "\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[33m"
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as text.

    Attributes:
        name: its header.
        cells: the texts of its rows.
        is_number: True if cells are right-aligned.
        colors: ANSI codes of cells, by row.
    """

    name: str
    cells: Sequence[str]
    is_number: bool = False
    colors: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def width(self) -> int:
        """Return the number of terminal cells that the column takes without wrapping."""
        return max(map(text_width, [self.name, *self.cells]))

    @cached_property
    def is_prose(self) -> bool:
        """Return True if a cell is a sentence, which may be wrapped between words."""
        return not self.is_number and any(" " in cell and len(cell) > PROSE_CHARS for cell in self.cells)


def terminal_width() -> int | None:
    """Return the width of the terminal that standard output is, None if it is a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def supports_color() -> bool:
    """Return True if standard output is a terminal with colors, and the user did not switch them off with NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def text_width(text: str) -> int:
    """Return the number of terminal cells of a text, in which a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  a table of characters that few texts need

    return cell_len(text)


def lay_out(columns: Sequence[TextColumn], width: int | None = None, *, color: bool = False) -> str:
    """Return a table as text: columns side by side if they fit into the width, else a record per row, or of many rows the columns in parts.

    Names and numbers are never broken. Sentences are wrapped between words.
    """
    if width is None or (widths := _fit_widths(columns, width)) is None:
        if width is not None:
            if parts := _split_columns(columns, width):
                return "\n".join(lay_out(part, width, color=color) for part in parts)
            return _format_records(columns, width, color)
        widths = [column.width for column in columns]
    lines = [
        [_align_text(column.name, size, column.is_number, BOLD if color else "") for column, size in zip(columns, widths, strict=True)]
    ]
    for row in range(len(columns[0].cells) if columns else 0):
        wrapped = [wrap_text(column.cells[row], size) for column, size in zip(columns, widths, strict=True)]
        for line in range(max(map(len, wrapped))):
            cell_lines = [texts[line] if line < len(texts) else "" for texts in wrapped]
            lines.append(
                [
                    _align_text(text, size, column.is_number, column.colors.get(row, "") if color else "")
                    for text, size, column in zip(cell_lines, widths, columns, strict=True)
                ]
            )
    return "".join(f"{GAP.join(line).rstrip()}\n" for line in lines)


def wrap_text(text: str, width: int) -> list[str]:
    """Wrap a text between words; a longer word has a line of its own.

    >>> wrap_text("a gain of documents", 10)
    ['a gain of', 'documents']
    """
    if text_width(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        if line and text_width(f"{line} {word}") > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _fit_widths(columns: Sequence[TextColumn], width: int) -> list[int] | None:
    """Return the widths of columns side by side, None if they do not fit."""
    widths = [column.width for column in columns]
    excess = table_width(columns) - width
    # The widest sentences give way first.
    for index in sorted((index for index, column in enumerate(columns) if column.is_prose), key=lambda index: -widths[index]):
        longest_word = max((text_width(word) for cell in columns[index].cells for word in cell.split(" ")), default=0)
        smallest = max(MIN_PROSE_WIDTH, longest_word, text_width(columns[index].name))
        taken = max(0, min(excess, widths[index] - smallest))
        widths[index] -= taken
        excess -= taken
    return widths if excess <= 0 else None


def _split_columns(columns: Sequence[TextColumn], width: int) -> list[list[TextColumn]]:
    """Return the columns of many rows in parts that fit, each with the columns of names; no parts if rows are few, or a column is too wide."""
    num_names = next((index for index, column in enumerate(columns) if column.is_number), len(columns)) or 1
    names, others = list(columns[:num_names]), columns[num_names:]
    if len(columns[0].cells) <= MAX_ROW_RECORDS or any(column.is_prose for column in columns):
        return []
    parts = [names]
    for column in others:
        if table_width([*names, column]) > width:
            return []
        if table_width([*parts[-1], column]) <= width:
            parts[-1] = [*parts[-1], column]
        else:
            parts.append([*names, column])
    return parts


def table_width(columns: Sequence[TextColumn]) -> int:
    """Return the width of columns side by side."""
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _format_records(columns: Sequence[TextColumn], width: int, color: bool) -> str:
    """Return a line per row and column that has a value, with an empty line between rows."""
    label = max(text_width(column.name) for column in columns)
    number_width = max((text_width(cell) for column in columns if column.is_number for cell in column.cells), default=0)
    records = []
    for row in range(len(columns[0].cells)):
        lines = []
        for column in (column for column in columns if column.cells[row]):
            code = column.colors.get(row, "") if color else ""
            cell = column.cells[row]
            texts = (
                [_align_text(cell, number_width, is_number=True, code=code)]
                if column.is_number
                else wrap_text(cell, width - label - len(GAP))
            )
            name = _align_text(column.name, label, is_number=False, code=BOLD if color else "")
            for index, text in enumerate(texts):
                value = text if column.is_number else _align_text(text, 0, is_number=False, code=code)
                lines.append(f"{name if index == 0 else ' ' * label}{GAP}{value}".rstrip() + "\n")
        records.append("".join(lines))
    return "\n".join(records)


def _align_text(text: str, width: int, is_number: bool, code: str = "") -> str:
    padding = " " * max(0, width - text_width(text))
    styled = f"{code}{text}{_RESET}" if code and text else text
    return padding + styled if is_number else styled + padding
