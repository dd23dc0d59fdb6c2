"""Format the columns and comments of a SELECT as lines: short columns share lines, comments follow their column or precede it."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import escape_controls
from sqlrank.sql_ast import LeadingComment

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_WIDTH = 100
"""Line width in characters for text that can be wrapped."""

_SHORT_ITEM = 48
"""Longest computed column in characters that shares its line with others."""

_LINES_BEFORE_COMMENT = 4
"""Number of lines of the longest column whose comment is behind it and not above it."""


def fits_line(text: str, indent: int) -> bool:
    """Return True if all lines of a text fit behind an indentation."""
    return all(len(line) + indent <= LINE_WIDTH for line in text.split("\n"))


def list_column_comments(select: exp.Select) -> list[list[str]]:
    """Return the comments of columns; of a UNION, only the first SELECT has those of its file."""
    comments = [select_item.comments or select_item.unalias().comments or [] for select_item in select.expressions]
    is_first = not isinstance(select.parent, exp.SetOperation) or select.arg_key == "this"
    return comments if is_first else [[] for _ in comments]


def format_columns(select: exp.Select, texts: Sequence[str], comments: Sequence[Sequence[str]], indent: int) -> list[str]:
    """Return the columns of a SELECT as lines: a comment is behind its column if it fits there, else above it."""
    lines: list[str] = []
    last_kind = ""
    for position, select_item in enumerate(select.expressions):
        text = texts[position] + ("," if position + 1 < len(texts) else "")
        comment = _one_line(comments[position])
        kind = "" if comment else _find_item_kind(select, select_item, texts[position])
        is_behind = comment and select.args.get("from_") and not isinstance(comments[position][0], LeadingComment)
        if kind and kind == last_kind and fits_line(f"{lines[-1]} {text}", indent):
            lines[-1] += f" {text}"
        elif is_behind and text.count("\n") < _LINES_BEFORE_COMMENT and fits_line(f"{text}  -- {comment}", indent):
            lines.append(f"{text}  -- {comment}")
        else:
            lines += [*format_comment(comments[position], indent), text]
        last_kind = kind
    return lines


def _find_item_kind(select: exp.Select, item: exp.Expr, text: str) -> str:
    """Return the kind of items that share lines: ``plain`` or ``computed``, empty for an item with a line of its own.

    Columns and literals under their own names are plain; in the later SELECTs of a UNION, under any name and type. Short expressions of
    CTEs are computed.
    """
    is_later = isinstance(select.parent, exp.SetOperation) and select.arg_key == "expression"
    value = item.unalias() if is_later else item
    value = value.this if is_later and isinstance(value, exp.Cast) else value
    if isinstance(value, (exp.Column, exp.Literal, exp.Null)):
        return "plain"
    is_short = len(text) <= _SHORT_ITEM and "\n" not in text
    return "computed" if is_short and select.find_ancestor(exp.CTE) else ""


def _one_line(comments: Sequence[str]) -> str:
    """Return comments as one line: a line break in a name must not end the comment."""
    return escape_controls(" ".join(" ".join(comments).split()))


def format_comment(comments: Sequence[str] | None, indent: int) -> list[str]:
    """Return each comment as lines, wrapped."""
    width = LINE_WIDTH - indent - len("-- ")
    return [f"-- {line}" for comment in comments or () for line in wrap(_one_line([comment]), width, break_on_hyphens=False)]
