"""Register IPython formatters of results: a notebook shows an Arrow table with sqlrank's metadata
as the terminal does, others as always.
"""

from __future__ import annotations

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
            from sqlrank.output.show import format_first_rows  # imported when there is a result

            _print_lines(format_first_rows(table), printer)
        elif earlier["text/plain"] is not None:
            earlier["text/plain"](table, printer, cycle)
        else:
            _print_lines(repr(table), printer)

    def format_page(table: Any) -> str | None:
        if is_result(table):
            # Imported when there is a result
            from sqlrank.output.show import format_first_rows_html

            return format_first_rows_html(table)
        format_earlier = earlier["text/html"] or getattr(type(table), "_repr_html_", None)
        return None if format_earlier is None else str(format_earlier(table))

    formatters["text/plain"].for_type_by_name(*_TABLE, print_text)
    formatters["text/html"].for_type_by_name(*_TABLE, format_page)


def _print_lines(text: str, printer: Any) -> None:
    """Print lines, indented where a table is part of a list."""
    for number, line in enumerate(text.splitlines()):
        if number:
            printer.break_()
        printer.text(line)


def is_result(table: Any) -> bool:
    """Return True for a table with metadata of sqlrank."""
    return any(key.startswith(b"sqlrank.") for key in table.schema.metadata or {})
