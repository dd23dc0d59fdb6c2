"""What explains a number: the rows of every step that a metric reads, and its expression with its sums put in."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import pyarrow as pa

from sqlrank.results.formats import Format, Looks, text_of

DIGITS = 6
MOST = 2**53
"""Up to where a double holds every whole number."""


@dataclass(frozen=True)
class Step:
    """A step of a statement: its name, the first sentence of its file, its first rows, and how many rows it has."""

    name: str
    title: str
    rows: pa.Table
    num_rows: int

    def __str__(self) -> str:
        shown = text_of(_with_whole_numbers(self.rows), Format.table, Looks(DIGITS)).rstrip()
        left = self.num_rows - self.rows.num_rows
        return f"{self.name}: {self.title}\n{shown}" + (f"\n... and {left:,} more rows" if left else "")


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a metric is what it is, for one query or over all rows.

    ``steps`` are in the order in which they are computed. ``expression`` is that of the metric in SQL, ``sums`` has the value of each
    sum in it (None where the metric has none of its own), and ``worked`` is the expression with these put in. ``sql`` is the statement
    that the steps are of. ``losses`` are the thresholds around which the most is lost, None where nothing says what is better or where
    there are no scores.
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
        of = "" if self.query is None else f" of query {self.query}"
        value = "NULL, which is undefined" if self.value is None else f"{self.value:.{DIGITS}g}"
        lost = [] if self.losses is None else [str(self.losses)]
        lines = [*map(str, self.steps), *lost, f"{self.metric} = {self.expression}"]
        lines += ["    where\n" + "\n".join(f"    {name} = {_number(found)}" for name, found in self.sums.items())] if self.sums else []
        lines += [f"    = {self.worked}"] if self.sums else []
        return "\n\n".join([*lines, f"{self.metric}{of} is {value}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _with_whole_numbers(rows: pa.Table) -> pa.Table:
    """Return rows in which a column of whole numbers is one of integers, so that none is written with decimals."""
    for place, field in enumerate(rows.schema):
        values = [value for value in rows.column(place).to_pylist() if value is not None] if pa.types.is_floating(field.type) else []
        if values and all(value.is_integer() and abs(value) < MOST for value in values):
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.int64()))
    return rows


def _number(value: float | None) -> str:
    return "NULL" if value is None else f"{value:.{DIGITS}g}"
