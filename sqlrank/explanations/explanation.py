"""Record an explained metric value, and show it as text or HTML: rows of each CTE, and the expression with aggregates substituted."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import pyarrow as pa

from sqlrank.errors import escape_controls
from sqlrank.output.display_values import Format
from sqlrank.output.result_formats import TableStyle, format_result
from sqlrank.output.text_table import wrap_text

SIGNIFICANT_DIGITS = 6
MAX_EXACT_INTEGER_DOUBLE = 2**53
"""Largest value up to which a double represents every integer."""


@dataclass(frozen=True)
class Step:
    """A CTE of a statement: name, first sentence of its file, first rows, number of rows, and the grain that its file declares."""

    name: str
    title: str
    rows: pa.Table
    num_rows: int
    grain: str = ""

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """Return the rows as text, for a terminal of ``width`` columns if given."""
        text = format_result(_with_integer_columns(self.rows), Format.table, TableStyle(SIGNIFICANT_DIGITS), width).rstrip()
        num_omitted = self.num_rows - self.rows.num_rows
        title = f"{self.name}: {self.title}"
        return "\n".join([*(wrap_text(title, width) if width else [title]), text]) + (
            f"\n... and {num_omitted:,} more rows" if num_omitted else ""
        )


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explained metric value, for one query or over all rows.

    ``steps`` are the CTEs in order of computation. ``expression`` is the SQL of the metric. ``sums`` has the value of each aggregate in it,
    None if there are no rows. ``worked`` is the expression with these values substituted. ``sql`` is the statement. ``losses`` are the
    score ranges that cost the metric most, None for metrics without direction or scores.
    """

    metric: str
    query: Any
    value: float | None
    steps: tuple[Step, ...]
    expression: str
    sums: dict[str, float | None]
    worked: str
    sql: str
    losses: Step | None = None

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """Return the explanation as text, for a terminal of ``width`` columns if given."""
        query_suffix = "" if self.query is None else f" of query {escape_controls(str(self.query))}"
        value = "NULL, which is undefined" if self.value is None else f"{self.value:z.{SIGNIFICANT_DIGITS}g}"
        losses = [] if self.losses is None else [self.losses]
        lines = [*(step.to_text(width) for step in (*self.steps, *losses)), f"{self.metric} = {self.expression}"]
        lines += (
            ["    where\n" + "\n".join(f"    {name} = {_format_number(aggregate_value)}" for name, aggregate_value in self.sums.items())]
            if self.sums
            else []
        )
        lines += [f"    = {self.worked}"] if self.sums else []
        return "\n\n".join([*lines, f"{self.metric}{query_suffix} is {value}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _with_integer_columns(rows: pa.Table) -> pa.Table:
    """Cast columns of integral doubles to integers, so that they print without decimals."""
    for index, field in enumerate(rows.schema):
        values = [value for value in rows.column(index).to_pylist() if value is not None] if pa.types.is_floating(field.type) else []
        if values and all(value.is_integer() and abs(value) < MAX_EXACT_INTEGER_DOUBLE for value in values):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.int64()))
    return rows


def _format_number(value: float | None) -> str:
    return "NULL" if value is None else f"{value:z.{SIGNIFICANT_DIGITS}g}"
