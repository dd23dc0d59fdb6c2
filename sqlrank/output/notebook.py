"""Register IPython formatters and the display hook of Python's prompt: an Arrow table with
metadata of sqlrank is shown as the terminal does, others as always.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

_TABLE = ("pyarrow.lib", "Table")


def register_formatters(shell: Any) -> None:
    """Register the formatters of text and HTML; those that another library registered show its
    tables as before.
    """
    formatters = shell.display_formatter.formatters
    earlier = {
        kind: formatters[kind].for_type_by_name(*_TABLE) for kind in ("text/plain", "text/html")
    }

    def print_text(table: Any, printer: Any, cycle: bool) -> None:
        if is_result(table):
            from sqlrank.output.result_formats import (
                format_first_rows,  # imported when there is a result
            )

            _print_lines(format_first_rows(table), printer)
        elif earlier["text/plain"] is not None:
            earlier["text/plain"](table, printer, cycle)
        else:
            _print_lines(repr(table), printer)

    def format_page(table: Any) -> str | None:
        if is_result(table):
            # Imported when there is a result
            from sqlrank.output.result_formats import format_first_rows_html

            return format_first_rows_html(table)
        format_earlier = earlier["text/html"] or getattr(type(table), "_repr_html_", None)
        return None if format_earlier is None else str(format_earlier(table))

    formatters["text/plain"].for_type_by_name(*_TABLE, print_text)
    formatters["text/html"].for_type_by_name(*_TABLE, format_page)


def register_display_hook() -> None:
    """Let Python's prompt show results as the terminal does."""
    earlier = sys.displayhook

    def print_value(value: object) -> None:
        if type(value).__name__ != _TABLE[1] or not is_result(value):
            earlier(value)
            return
        from sqlrank.output.result_formats import (
            format_first_rows,  # imported when there is a result
        )

        vars(builtins)["_"] = value
        sys.stdout.write(format_first_rows(value))

    sys.displayhook = print_value


def _print_lines(text: str, printer: Any) -> None:
    """Print lines, indented where a table is part of a list."""
    for number, line in enumerate(text.splitlines()):
        if number:
            printer.break_()
        printer.text(line)


def is_result(table: Any) -> bool:
    """Return True for a table with metadata of sqlrank."""
    schema = getattr(table, "schema", None)
    return any(key.startswith(b"sqlrank.") for key in getattr(schema, "metadata", None) or {})
