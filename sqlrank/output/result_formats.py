"""Output formats of results, the style of tables, and the writers of text tables, CSV, JSON, Parquet and Excel."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlrank.errors import SqlrankError, escape_controls
from sqlrank.output import excel
from sqlrank.output.latex import bold, escape_latex, latex
from sqlrank.output.markdown import escape_markdown, markdown
from sqlrank.output.output_file import OutputFile, write_parquet
from sqlrank.output.reshape import TOTAL_QUERY
from sqlrank.registry.metric_info import better_direction, is_count_metric
from sqlrank.result_metadata import read_canonical_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.output.file_kinds import FileKind
    from sqlrank.registry.registry import Registry


MAX_ROW_COLUMNS = 4
"""Maximum number of columns of a one-row result that is not transposed."""


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

HUMAN_FORMATS = (Format.table, Format.markdown, Format.latex)
"""Formats that round numbers; the others keep all digits."""


_WORKFLOW_COMMAND = re.compile(r"^(\s*):(?=:)")
"""Start of a line that GitHub Actions would run as a command, such as ``::error::``."""

DEFAULT_DIGITS = 4
"""Default number of decimals, as in evaluation tools."""


@dataclass(frozen=True)
class TableStyle:
    """The style of a table: decimals, count columns, and the better direction of each metric.

    A single wide row is transposed unless ``keep_orientation``.
    """

    digits: int = DEFAULT_DIGITS
    counts: frozenset[str] = frozenset()
    better: Mapping[str, str] = field(default_factory=dict)
    has_total: bool = False
    keep_orientation: bool = False

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
            f"-o {output}: its ending does not say how to write it; use one of {', '.join(FORMATS_BY_SUFFIX)}, or give --format"
        )
    if form is Format.xlsx:
        excel.check_installed()
    if digits is not None and form not in HUMAN_FORMATS:
        raise SqlrankError(f"--digits is for {', '.join(HUMAN_FORMATS)}; {form} keeps every digit")
    return form


def write_result(result: pa.Table, form: Format, kind: FileKind, output: OutputFile | None, style: TableStyle | None = None) -> None:
    """Write a result to a file, or else to standard output."""
    if form in {Format.parquet, Format.xlsx} and output is None and sys.stdout.isatty():
        raise SqlrankError(f"{'Parquet' if form is Format.parquet else form} is not for a terminal; name a file with -o")
    if form is Format.parquet:
        if output is None:
            write_parquet(result, sys.stdout.buffer, kind)
        else:
            output.write(lambda file: write_parquet(result, file, kind))
        return
    if form is Format.xlsx:
        data = excel.as_excel(result, (style or TableStyle()).counts, kind)
        sys.stdout.buffer.write(data) if output is None else output.write(data)
        return
    text = format_table(result, form, style or TableStyle())
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        output.write(text)


def format_table(result: pa.Table, form: Format, style: TableStyle) -> str:
    """Return a result as text."""
    rows = result.to_pylist()
    if form is Format.json:
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    if form is Format.jsonl:
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    if form is Format.csv:
        lines = _Lines()
        csv.writer(lines).writerows([result.column_names, *(["" if value is None else value for value in row.values()] for row in rows)])
        return "".join(lines)
    return _table(result, rows, form, style)


class _Lines(list[str]):
    r"""Lines of CSV.

    The writer quotes characters of its line terminator, so that it quotes a lone ``\r`` only if it writes ``\r\n``.
    """

    def write(self, line: str) -> None:
        """Append a row, terminated by a line feed alone."""
        self.append(f"{line.removesuffix(chr(13) + chr(10))}\n")


def _table(result: pa.Table, rows: list[dict[str, Any]], form: Format, style: TableStyle) -> str:
    """Format a table for people: numbers rounded, a single wide row transposed."""
    import pyarrow as pa  # noqa: PLC0415  see write
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    style = replace(style, counts=style.counts | {name for name in result.column_names if _is_integer_column([row[name] for row in rows])})
    numeric = {name: pa.types.is_floating(result.schema.field(name).type) for name in result.column_names}
    cells = [[format_value(value, form, style.digits, name in style.counts) for name, value in row.items()] for row in rows]
    if form is Format.latex:
        _embolden(result, cells, style)
    header, alignments = result.column_names, ["right" if numeric[name] else "left" for name in result.column_names]
    if len(rows) == 1 and len(header) > MAX_ROW_COLUMNS and not style.keep_orientation:
        cells = [[format_value(name, form), value] for name, value in zip(header, cells[0], strict=True)]
        header, alignments = ["metric", "value"], ["left", "right"]
    if form is not Format.table:
        return (latex if form is Format.latex else markdown)([format_value(name, form) for name in header], alignments, cells)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, alignment in zip(header, alignments, strict=True):
        table.add_column(format_value(name, form), justify=alignment, overflow="fold")  # type: ignore[arg-type]
    for line in cells:
        table.add_row(*line)
    buffer = io.StringIO()
    width = None if sys.stdout.isatty() else 240
    Console(file=buffer, width=width, force_terminal=sys.stdout.isatty(), emoji=False).print(table, markup=False)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def _is_integer_column(values: Sequence[Any]) -> bool:
    """Return True if all values of a column are integral and some exceed 1.

    A 1 among them is then formatted as an integer, too.
    """
    non_null = [value for value in values if value is not None]
    return all(isinstance(value, float) and value.is_integer() for value in non_null) and any(abs(value) > 1 for value in non_null)


def _embolden(result: pa.Table, cells: list[list[str]], style: TableStyle) -> None:
    """Set the best values of each column in bold, if there are several rows."""
    rows = [row for row in result.to_pylist() if not (style.has_total and row.get("query_id") == TOTAL_QUERY)]
    for column, name in enumerate(result.column_names):
        values = [row[name] for row in rows if isinstance(row[name], float)]
        if len(values) > 1 and (select_best := {"higher": max, "lower": min}.get(style.better.get(name, ""))):
            best = format_value(select_best(values), Format.latex, style.digits, name in style.counts)
            for line in cells[: len(rows)]:
                line[column] = bold(line[column]) if line[column] == best else line[column]


def format_value(value: Any, form: Format, digits: int = DEFAULT_DIGITS, is_count: bool = False) -> str:
    """Format a value for people."""
    if value is None:
        return "--" if form is Format.latex else "NULL"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and (is_count or abs(value) > 1) else f"{value:.{digits}f}"
    if form is Format.table:
        return _WORKFLOW_COMMAND.sub(r"\1\\x3a", escape_controls(str(value)))
    text = escape_controls(str(value), allowed="\n")
    return escape_latex(text) if form is Format.latex else escape_markdown(text)
