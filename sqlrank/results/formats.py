"""Write results: as a table for people, or as what other programs read."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError
from sqlrank.library.listing import better, is_count
from sqlrank.results import excel
from sqlrank.results.arrange import ALL
from sqlrank.results.latex import bold, escaped, latex
from sqlrank.results.targets import check_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.library.library import Library
    from sqlrank.results.dbt import DbtModel

WIDE = 4
"""Columns up to which a result of one row is written as a row."""


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    parquet = "parquet"
    xlsx = "xlsx"


ENDINGS = {
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
"""What a file's ending says of how to write it."""

FOR_PEOPLE = (Format.table, Format.markdown, Format.latex)
"""Formats in which numbers are rounded; the others keep every digit."""


DIGITS = 4
"""Decimals that evaluation tools print."""


@dataclass(frozen=True)
class Looks:
    """How a result is shown to people: decimals, which columns are counts, and which of higher and lower is better in which.

    One that is not ``is_upright`` is laid on its side where it is a single long row.
    """

    digits: int = DIGITS
    counts: frozenset[str] = frozenset()
    better: Mapping[str, str] = field(default_factory=dict)
    has_total: bool = False
    is_upright: bool = False

    @classmethod
    def of(cls, columns: Sequence[str], library: Library, digits: int | None = None, has_total: bool = False) -> Looks:
        """Return how columns of a result look that have the names of metrics."""
        counts = frozenset(name for name in columns if is_count(name, library))
        return cls(DIGITS if digits is None else digits, counts, {name: better(name, library) for name in columns}, has_total)


def form_of(given: Format | None, output: Path | None, digits: int | None = None) -> Format:
    """Return how to write a result: as asked for, or as the ending of its file says; raise ``SqlrankError`` for one that says nothing."""
    form = given or (Format.table if output is None else ENDINGS.get(output.suffix.lower()))
    if form is None:
        raise SqlrankError(f"-o {output}: its ending does not say how to write it; use one of {', '.join(ENDINGS)}, or give --format")
    if form is Format.xlsx:
        excel.check_installed()
    if digits is not None and form not in FOR_PEOPLE:
        raise SqlrankError(f"--digits is for {', '.join(FOR_PEOPLE)}; {form} keeps every digit")
    return form


def write(result: pa.Table, form: Format, output: Path | None, looks: Looks | None = None) -> None:
    """Write a result to a file, or else to standard output."""
    if form in {Format.parquet, Format.xlsx} and output is None and sys.stdout.isatty():
        raise SqlrankError(f"{'Parquet' if form is Format.parquet else form} is not for a terminal; name a file with -o")
    if form is Format.parquet:
        import pyarrow as pa  # noqa: PLC0415  a third of a second that most calls have paid already, and help has not
        import pyarrow.parquet as pq  # noqa: PLC0415

        pq.write_table(result, output if output is not None else pa.PythonFile(sys.stdout.buffer, mode="w"))
        return
    if form is Format.xlsx:
        data = excel.as_excel(result, (looks or Looks()).counts)
        sys.stdout.buffer.write(data) if output is None else output.write_bytes(data)
        return
    text = text_of(result, form, looks or Looks())
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        output.write_text(text, "utf-8")


def a_row_per_metric(result: pa.Table) -> pa.Table:
    """Return a result with intervals for people: a row per metric with its value, the limits of its interval, and its units.

    Shape: for each row of the result one per metric; the columns that tell rows apart, then ``metric`` (string), ``value``, of a state
    ``least`` and ``greatest``, ``low``, ``high`` (float64) and ``units`` (int64), and what stands behind the metrics.
    """
    metrics = [name for name in result.column_names if f"{name}.low" in result.column_names]
    bounds = [limit for limit in ("least", "greatest") if any(f"{name}.{limit}" in result.column_names for name in metrics)]
    shown = (*bounds, "low", "high", "units")
    first = result.column_names.index(metrics[0])
    keys = result.column_names[:first]
    limits = {f"{name}.{limit}" for name in metrics for limit in (*shown, "se")}
    others = [name for name in result.column_names[first:] if name not in {*metrics, *limits}]
    rows = [
        {key: row[key] for key in keys}
        | {"metric": name, "value": row[name]}
        | {limit: row.get(f"{name}.{limit}") for limit in shown}
        | {other: row[other] for other in others}
        for row in result.to_pylist()
        for name in metrics
    ]
    return type(result).from_pylist(rows)


def write_dbt_model(path: Path, metrics: Any, is_forced: bool = False, **options: Any) -> list[Path]:
    """Write a dbt model of metrics and the YAML file beside it; return their paths."""
    from sqlrank.results.dbt import dbt_model  # noqa: PLC0415  engines are not needed for help

    return write_model(path, lambda name: dbt_model(metrics, name, **options), is_forced)


def write_model(path: Path, make: Callable[[str], DbtModel], is_forced: bool = False) -> list[Path]:
    """Write a dbt model and the YAML file beside it, which is made for the name of its file; return their paths."""
    try:
        import yaml  # noqa: PLC0415  an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML; install sqlrank[dbt]") from None
    if path.suffix != ".sql":
        raise SqlrankError(f"--dbt {path}: name the file of the model, such as models/daily_metrics.sql")
    model = make(path.stem)
    schema = path.with_suffix(".yml")
    for file in (path, schema):
        check_target(file, is_forced)
    path.write_text(model.sql, "utf-8")
    schema.write_text(
        f"# sqlrank {__version__}: beside {path.name}\n" + yaml.safe_dump(model.schema, sort_keys=False, allow_unicode=True, width=120),
        "utf-8",
    )
    return [path, schema]


def text_of(result: pa.Table, form: Format, looks: Looks) -> str:
    """Return a result as text."""
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
    return _table(result, rows, form, looks)


def _table(result: pa.Table, rows: list[dict[str, Any]], form: Format, looks: Looks) -> str:
    """Write a table for people: numbers rounded; a wide table of one row on its side."""
    import pyarrow as pa  # noqa: PLC0415  see write
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    looks = replace(looks, counts=looks.counts | {name for name in result.column_names if _is_whole([row[name] for row in rows])})
    numeric = {name: pa.types.is_floating(result.schema.field(name).type) for name in result.column_names}
    cells = [[cell(value, form, looks.digits, name in looks.counts) for name, value in row.items()] for row in rows]
    if form is Format.latex:
        _embolden(result, cells, looks)
    header, aligned = result.column_names, ["right" if numeric[name] else "left" for name in result.column_names]
    if len(rows) == 1 and len(header) > WIDE and not looks.is_upright:
        cells = [[name, cell] for name, cell in zip(header, cells[0], strict=True)]
        header, aligned = ["metric", "value"], ["left", "right"]
    if form is Format.latex:
        return latex([cell(name, form) for name in header], aligned, cells)
    if form is Format.markdown:
        lines = [[cell(name, form) for name in header], ["---:" if side == "right" else ":---" for side in aligned], *cells]
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


def _is_whole(values: Sequence[Any]) -> bool:
    """Whether all values of a column are whole numbers and some are above 1, so that a 1 among them is written like the others."""
    seen = [value for value in values if value is not None]
    return all(isinstance(value, float) and value.is_integer() for value in seen) and any(abs(value) > 1 for value in seen)


def _embolden(result: pa.Table, cells: list[list[str]], looks: Looks) -> None:
    """Set the best value of each column in bold, all that read the same, where there are several rows to choose from."""
    rows = [row for row in result.to_pylist() if not (looks.has_total and row.get("query_id") == ALL)]
    for column, name in enumerate(result.column_names):
        values = [row[name] for row in rows if isinstance(row[name], float)]
        if len(values) > 1 and (which := {"higher": max, "lower": min}.get(looks.better.get(name, ""))):
            best = cell(which(values), Format.latex, looks.digits, name in looks.counts)
            for line in cells[: len(rows)]:
                line[column] = bold(line[column]) if line[column] == best else line[column]


def cell(value: Any, form: Format, digits: int = DIGITS, is_count: bool = False) -> str:
    """Return a value as people are shown it."""
    if value is None:
        return "--" if form is Format.latex else "NULL"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and (is_count or abs(value) > 1) else f"{value:.{digits}f}"
    text = str(value)
    if form is Format.latex:
        return escaped(text)
    return "<br>".join(text.replace("|", "\\|").splitlines()) if form is Format.markdown else text
