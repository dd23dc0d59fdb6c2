"""Print a result in Python as the command line prints it (the public function ``show``)."""

from __future__ import annotations

from html import escape
from shutil import get_terminal_size
from typing import Any

import pyarrow as pa

from sqlrank.call.argument_checks import entry_point
from sqlrank.errors import InputError
from sqlrank.output.result_formats import Format, TableStyle, format_html, format_result
from sqlrank.result_columns import NOTES_KEY

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
    notes = [f"<p>{escape(text)}</p>" for text in [*_describe_omitted(result, num_rows), *remarks]]
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
