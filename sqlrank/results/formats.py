"""Write results: as a table for people, or as what other programs read."""

from __future__ import annotations

import csv
import io
import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlrank.errors import SqlrankError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

WIDE = 4
"""Columns up to which a result of one row is written as a row."""


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    parquet = "parquet"


ENDINGS = {f".{form}": form for form in Format} | {".md": Format.markdown}
"""What a file's ending says of how to write it."""


def write(result: pa.Table, form: Format, output: Path | None) -> None:
    """Write a result to a file, or else to standard output."""
    if form is Format.parquet:
        if output is None and sys.stdout.isatty():
            raise SqlrankError("Parquet is not for a terminal; name a file with -o")
        import pyarrow as pa  # noqa: PLC0415  a third of a second that most calls have paid already, and help has not
        import pyarrow.parquet as pq  # noqa: PLC0415

        pq.write_table(result, output if output is not None else pa.PythonFile(sys.stdout.buffer, mode="w"))
        return
    text = _text(result, form)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        output.write_text(text, "utf-8")


def a_row_per_metric(result: pa.Table) -> pa.Table:
    """Return a result with intervals for people: a row per metric with its value, the limits of its interval, and its units.

    Shape: for each row of the result one per metric; the columns that tell rows apart, then ``metric`` (string), ``value``, ``low``,
    ``high`` (float64) and ``units`` (int64).
    """
    metrics = [name for name in result.column_names if f"{name}.low" in result.column_names]
    limits = {f"{name}.{limit}" for name in metrics for limit in ("low", "high", "se", "units")}
    keys = [name for name in result.column_names if name not in {*metrics, *limits}]
    rows = [
        {key: row[key] for key in keys}
        | {"metric": name, "value": row[name], "low": row[f"{name}.low"], "high": row[f"{name}.high"], "units": row[f"{name}.units"]}
        for row in result.to_pylist()
        for name in metrics
    ]
    return type(result).from_pylist(rows)


def write_dbt_model(path: Path, metrics: Any, **options: Any) -> list[Path]:
    """Write a dbt model and the YAML file beside it; return their paths."""
    try:
        import yaml  # noqa: PLC0415  an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML; install sqlrank[dbt]") from None
    from sqlrank.results.dbt import dbt_model  # noqa: PLC0415  engines are not needed for help

    if path.suffix != ".sql":
        raise SqlrankError(f"--dbt {path}: name the file of the model, such as models/daily_metrics.sql")
    model = dbt_model(metrics, path.stem, **options)
    schema = path.with_suffix(".yml")
    path.write_text(model.sql, "utf-8")
    schema.write_text(yaml.safe_dump(model.schema, sort_keys=False, allow_unicode=True, width=120), "utf-8")
    return [path, schema]


def _text(result: pa.Table, form: Format) -> str:
    rows = result.to_pylist()
    if form is Format.json:
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    if form is Format.jsonl:
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    if form is Format.csv:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(result.column_names)
        writer.writerows([["" if value is None else value for value in row.values()] for row in rows])
        return buffer.getvalue()
    return _table(result, rows, form)


def _table(result: pa.Table, rows: list[dict[str, Any]], form: Format) -> str:
    """Write a table for people: four decimals, as evaluation tools print; a wide table of one row on its side."""
    import pyarrow as pa  # noqa: PLC0415  see write
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    numeric = {name: pa.types.is_floating(result.schema.field(name).type) for name in result.column_names}
    cells = [[_cell(value, form) for value in row.values()] for row in rows]
    header, aligned = result.column_names, ["right" if numeric[name] else "left" for name in result.column_names]
    if len(rows) == 1 and len(header) > WIDE:
        cells = [[name, cell] for name, cell in zip(header, cells[0], strict=True)]
        header, aligned = ["metric", "value"], ["left", "right"]
    if form is Format.markdown:
        lines = [[_cell(name, form) for name in header], ["---:" if side == "right" else ":---" for side in aligned], *cells]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in zip(header, aligned, strict=True):
        table.add_column(name, justify=side, overflow="fold")  # type: ignore[arg-type]
    for line in cells:
        table.add_row(*line)
    buffer = io.StringIO()
    width = None if sys.stdout.isatty() else 240
    Console(file=buffer, width=width, force_terminal=sys.stdout.isatty()).print(table, markup=False)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def _cell(value: Any, form: Format) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) > 1 else f"{value:.4f}"
    text = str(value)
    return "<br>".join(text.replace("|", "\\|").splitlines()) if form is Format.markdown else text
