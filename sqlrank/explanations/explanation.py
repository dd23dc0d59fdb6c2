"""An explained metric value and its text: the value with its numbers, the ranked list or rows that
it is computed from, its expression, and the steps of the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.errors import escape_controls
from sqlrank.output.display import wrap_text
from sqlrank.output.result_formats import Format, TableStyle, format_result
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNIFICANT_DIGITS = 6
MAX_EXACT_INTEGER_DOUBLE = 2**53
"""Largest value up to which a double represents every integer."""

TERM_COLUMN = "term"
"""The column with a row's contribution to the first aggregate of the metric."""

RANKED_RELATION = "ranked_documents"
"""The relation with the rank of each document."""

JUDGMENT_RELATION = "judged_documents"
"""The relation with the relevance and rank of each judged document."""

NAME_COLUMNS = ("query_id", "doc_id", "score", "threshold")
"""Columns by which readers recognize a row."""

DIVISOR = re.compile(r"NULLIF\(([^()]+), 0\)")
"""A divisor that is not 0 where the metric has a value."""

DEFAULTED = re.compile(r"^COALESCE\(([^(),]+), 0\)$")
"""An expression with numbers, whose default is not needed."""

ORDER_COLUMNS = (
    "rank",
    "ideal_rank",
    "baseline_rank",
    "class_rank",
    "ascending_rank",
    "popularity_rank",
    "elbow_rank",
    "input_rank",
    "bin",
)
"""Columns that sort the rows of a CTE; the first one that exists is used."""


@dataclass(frozen=True)
class Step:
    """A CTE of a statement: name, first sentence of its file, first rows, number of rows, and the
    grain that its file declares.
    """

    name: str
    title: str
    rows: pa.Table
    num_rows: int
    grain: str = ""

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """Return the rows as text, for a terminal of ``width`` columns if given."""
        text = format_result(
            _with_integer_columns(self.rows), Format.table, TableStyle(SIGNIFICANT_DIGITS), width
        ).rstrip()
        num_omitted = self.num_rows - self.rows.num_rows
        title = f"{self.name}: {self.title}"
        return "\n".join([*(wrap_text(title, width) if width else [title]), text]) + (
            f"\n... and {num_omitted:,} more rows" if num_omitted else ""
        )


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explained metric value, for one query or over all rows.

    ``steps`` are the CTEs in order of computation. ``expression`` is the SQL of the metric.
    ``sums`` has the value of each aggregate in it, None if there are no rows. ``worked`` is the
    expression with these values substituted. ``sql`` is the statement. ``losses`` are the score
    ranges that cost the metric most, None for metrics without direction or scores. ``source`` is
    the name of the step whose rows the metric aggregates.
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
    source: str | None = None

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None, steps: bool = False) -> str:
        """Return the explanation as text, for a terminal of ``width`` columns if given.

        The value comes first, then the ranked list, the rows that the metric aggregates, and the
        aggregates whose values the first line has; that of NULL is followed by the whole
        expression. With ``steps``, all steps of the statement follow.
        """
        evidence = (_ranked_list(self.steps), self._find_terms(), self.losses)
        answer = self._format_answer()
        formula = [f"{_format_number(total)} = {name}" for name, total in self.sums.items()]
        if self.value is None or not formula:
            formula.insert(0, f"{self.metric} = {self.expression}")
        if width is not None:
            answer, *formula = (
                "\n    ".join(wrap_text(line, width - 4)) for line in (answer, *formula)
            )
        return "\n\n".join(
            [
                answer,
                *(step.to_text(width) for step in evidence if step is not None),
                "\n".join(formula),
                *(step.to_text(width) for step in self.steps if steps),
            ]
        )

    def _format_answer(self) -> str:
        """Return the value in a sentence, with the numbers that it is computed from."""
        query_suffix = "" if self.query is None else f" of query {escape_controls(str(self.query))}"
        if self.value is None:
            return f"{self.metric}{query_suffix} is NULL, which is undefined"
        value = _format_number(self.value)
        worked = DIVISOR.sub(lambda match: _write_divisor(match[1]), self.worked)
        worked = DEFAULTED.sub(r"\1", worked)
        is_computed = self.sums and worked != value
        return f"{self.metric}{query_suffix} is {value}" + (f" = {worked}" if is_computed else "")

    def _find_terms(self) -> Step | None:
        """Return the rows that the metric aggregates, with the columns that it reads and those that
        name and order rows.
        """
        source = next((step for step in self.steps if step.name == self.source), None)
        if source is None:
            return None
        read = {*re.findall(r"\w+", self.expression), *NAME_COLUMNS, *ORDER_COLUMNS, TERM_COLUMN}
        names = [name for name in source.rows.column_names if name in read]
        rows = source.rows.select(names) if names else source.rows
        return replace(source, title=f"rows that {self.metric} is computed from.", rows=rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        steps = "\n\n".join(map(str, self.steps))
        # Columns are aligned by blanks, and not every theme of notebooks has a fixed width here.
        lines = '<pre style="font-family: monospace">'
        return (
            f"{lines}{escape(str(self))}</pre><details><summary>{len(self.steps)} steps of the"
            f" statement</summary>{lines}{escape(steps)}</pre></details>"
        )


def _write_divisor(divisor: str) -> str:
    return f"({divisor})" if " " in divisor else divisor


def _ranked_list(steps: Sequence[Step]) -> Step | None:
    """Return the documents by rank with their relevance, None if the statement ranks none.

    Judged documents are sorted by rank, so that the first rows of both hold the same ranks.
    """
    rows_by_name = {step.name: step.rows.to_pylist() for step in steps}
    ranked = next((step for step in steps if step.name == RANKED_RELATION), None)
    if ranked is None or not {"doc_id", "rank"} <= {*ranked.rows.column_names}:
        return None
    if JUDGMENT_RELATION not in rows_by_name:
        return None
    grades = {row["doc_id"]: row["relevance"] for row in rows_by_name[JUDGMENT_RELATION]}
    rows = ranked.rows.select(["rank", "doc_id"])
    labels = [
        "unjudged" if grades.get(doc_id) is None else f"{grades[doc_id]:g}"
        for doc_id in rows["doc_id"].to_pylist()
    ]
    return Step(
        "ranked list",
        "documents by rank, with their relevance.",
        rows.append_column("relevance", pa.array(labels, pa.string())),
        ranked.num_rows,
    )


def _with_integer_columns(rows: pa.Table) -> pa.Table:
    """Cast columns of integral doubles to integers, so that they print without decimals."""
    for index, field in enumerate(rows.schema):
        values = (
            [value for value in rows.column(index).to_pylist() if value is not None]
            if pa.types.is_floating(field.type)
            else []
        )
        if values and all(
            value.is_integer() and abs(value) < MAX_EXACT_INTEGER_DOUBLE for value in values
        ):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.int64()))
    return rows


def _format_number(value: float | None) -> str:
    if value is None:
        return "NULL"
    # As in the expression with numbers: 4741200, and not 4.7412e+06.
    return sql_literal(float(f"{value:z.{SIGNIFICANT_DIGITS}g}")).sql("duckdb")
