"""An explained metric value and its text: the value with its formula and numbers, the ranked list
or rows that add up to it, and the steps of the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.errors import escape_controls
from sqlrank.output.display import wrap_text
from sqlrank.output.result_formats import Format, TableStyle, format_result
from sqlrank.rendering.optimizer.constants import fold_constants
from sqlrank.sql_ast import MAX_EXACT, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIGNIFICANT_DIGITS = 6
TERM_COLUMN = "term"
"""The column with a row's contribution to the first aggregate of the metric."""

RANKED_RELATION = "ranked_documents"
"""The relation with the rank of each document."""

JUDGMENT_RELATION = "judged_documents"
"""The relation with the relevance and rank of each judged document."""

NAME_COLUMNS = ("query_id", "doc_id", "relevance", "score", "threshold")
"""Columns by which readers recognize a row."""

SOURCE_TITLE = "rows that the numbers come from"

AGGREGATE_WORDS: dict[type[exp.Expr], str] = {
    exp.Sum: "sum of",
    exp.Max: "maximum of",
    exp.Min: "minimum of",
    exp.Avg: "mean of",
}
"""Aggregates in words."""

MAX_SHORT_DECIMALS = 3
"""Number of decimals from which numbers are rounded."""

MAX_TERM_CHARS = 60
"""Length of a term from which the formula of the metric says it better."""

ZERO = exp.Literal.number(0)

LONG_INTEGER = re.compile(r"(?<![\w.])\d{5,}")
"""An integer that is easier to read with separators."""

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

    def to_text(self, width: int | None = None, null: str = "NULL") -> str:
        """Return the rows as text, for a terminal of ``width`` columns if given; ``null`` is the
        text of NULL.
        """
        text = format_result(
            _with_short_columns(self.rows),
            Format.table,
            TableStyle(SIGNIFICANT_DIGITS, null=null),
            width,
        ).rstrip()
        num_omitted = self.num_rows - self.rows.num_rows
        title = ": ".join(filter(None, [self.name, self.title]))
        return "\n".join([*(wrap_text(title, width) if width else [title]), text]) + (
            f"\n... and {num_omitted:,} more rows" if num_omitted else ""
        )


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explained metric value, for one query or over all rows.

    ``steps`` are the CTEs in order of computation. ``expression`` is the SQL of the metric.
    ``sums`` has the value of each aggregate in it, None if there are no rows. ``worked`` is the
    expression with these values substituted, without conditions that they decide. ``numbers`` says
    of each value in it what it is, and ``formula`` has the lines of the metric's file. ``sql`` is
    the statement. ``losses`` are the score ranges that cost the metric most, None for metrics
    without direction or scores. ``source`` is the name of the step whose rows the metric
    aggregates, and ``terms`` are those that add to its sums, a table per order of rows.
    ``undefined`` says where the metric is NULL.
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
    terms: tuple[Step, ...] = ()
    numbers: tuple[str, ...] = ()
    formula: tuple[str, ...] = ()
    undefined: str = ""

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None, steps: bool = False) -> str:
        """Return the explanation as text, for a terminal of ``width`` columns if given.

        The value comes first, with the formula and the numbers in it, then the score ranges that
        cost most, the ranked list, and the rows that add up to the numbers, or else all that the
        metric aggregates. With ``steps``, all steps of the statement follow.
        """
        ranked, terms = _merge_ranked_list(self.steps, self.terms)
        rows = self._find_rows() if not self.terms and self.sums else None
        is_computed = self.sums and self.value is not None
        formula = self.formula or (() if is_computed else (f"{self.metric} = {self.expression}",))
        lines = [self._format_answer(), *formula, *self.numbers]
        if width is not None:
            lines = ["\n    ".join(wrap_text(line, width - 6)) for line in lines]
        return "\n\n".join(
            [
                "\n  ".join(lines),
                *(
                    step.to_text(width, "")
                    for step in (self.losses, ranked, *terms, rows)
                    if step is not None
                ),
                *(step.to_text(width) for step in self.steps if steps),
            ]
        )

    def _format_answer(self) -> str:
        """Return the value in a sentence, with the numbers that it is computed from."""
        query_suffix = "" if self.query is None else f" of query {escape_controls(str(self.query))}"
        if self.value is None:
            reason = f" ({self.undefined})" if self.undefined else ""
            return f"{self.metric}{query_suffix} is NULL, which is undefined{reason}"
        value = format_significant(self.value)
        worked = group_digits(self.worked)
        is_computed = self.sums and worked != value
        return f"{self.metric}{query_suffix} is {value}" + (f" = {worked}" if is_computed else "")

    def _find_rows(self) -> Step | None:
        """Return the rows that the metric aggregates, with the columns that it reads and those that
        name and order rows.
        """
        source = next((step for step in self.steps if step.name == self.source), None)
        if source is None:
            return None
        read = {*re.findall(r"\w+", self.expression), *NAME_COLUMNS, *ORDER_COLUMNS, TERM_COLUMN}
        names = [name for name in source.rows.column_names if name in read]
        rows = source.rows.select(names) if names else source.rows
        return replace(source, title=SOURCE_TITLE, rows=rows)

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


def substitute_aggregates(
    expression: exp.Expr, sums: Mapping[exp.Expr, float | None]
) -> tuple[exp.Expr, list[exp.Expr]]:
    """Return an expression with its aggregates replaced by their values, and without what these
    decide: conditions, and defaults. Also return the aggregates that are left.
    """
    root = exp.Paren(this=expression.copy())
    used: list[tuple[exp.Expr, exp.Expr]] = []
    for node in find_nodes(root, *{type(node) for node in sums}):
        if node in sums and (total := sums[node]) is not None:
            value = sql_literal(float(f"{total:.{SIGNIFICANT_DIGITS}g}"))
            is_part = total < 0 and node.parent is not root
            used.append((node.replace(exp.Paren(this=value) if is_part else value), node))
        elif node in sums:
            node.replace(exp.Null())
    for node in reversed(find_nodes(root, exp.Case, exp.Cast, exp.Nullif, exp.Coalesce)):
        shorter = _shorten_node(node)
        is_operand = isinstance(shorter, exp.Binary) and isinstance(node.parent, exp.Binary)
        if shorter is not node:
            node.replace(exp.Paren(this=shorter) if is_operand else shorter)
    left = {id(node) for node in root.walk()}
    return root.unnest(), list(dict.fromkeys(node for value, node in used if id(value) in left))


def _shorten_node(node: Any) -> Any:
    """Return an expression whose conditions, types or defaults do not change its value."""
    if isinstance(node, exp.Cast):
        return node.this
    if isinstance(node, exp.Coalesce):
        return node if node.this.find(exp.Null, exp.Column) else node.this
    if isinstance(node, exp.Nullif):
        return exp.Null() if _fold_expression(node.this) == node.expression else node.this
    for branch in node.args["ifs"] if node.this is None else ():
        test = _fold_expression(branch.this)
        if not isinstance(test, exp.Boolean):
            break
        if test.this:
            return branch.args["true"]
    else:
        return node.args.get("default") or exp.Null()
    return node


def _fold_expression(expression: exp.Expr) -> exp.Expr:
    """Return an expression whose constants are computed."""
    select = exp.select(expression.copy())
    fold_constants(select)
    folded: exp.Expr = select.selects[0]
    return folded.unnest()


def split_term(term: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """Return the value of a term, and the condition without which it is 0."""
    if (
        isinstance(term, exp.Case)
        and len(term.args["ifs"]) == 1
        and term.args.get("default") in (None, ZERO)
    ):
        return term.args["ifs"][0].args["true"], term.args["ifs"][0].this
    return term, None


def word_aggregate(node: exp.Expr, name: str, formula: Sequence[str]) -> str:
    """Return an aggregate in words; a long term that has a formula by the name of its column."""
    words = AGGREGATE_WORDS.get(type(node))
    if words is None:
        return str(node.sql("duckdb"))
    value, condition = split_term(node.this)
    term = str(value.sql("duckdb"))
    where = "" if condition is None else f" where {condition.sql('duckdb')}"
    if name.startswith(TERM_COLUMN):
        is_short = len(term + where) <= MAX_TERM_CHARS or not formula
        term = f"{name}: {term}" if is_short else name
        where = where if is_short else ""
    return re.sub(r"NOT (\w+) IS NULL", r"\1 IS NOT NULL", f"{words} {term}{where}")


def title_terms(step: Step, order: str) -> Step:
    """Return the rows that add to sums with a title, and the column that orders them first."""
    if not order:
        return replace(step, title=SOURCE_TITLE)
    names = [order, *(name for name in step.rows.column_names if name != order)]
    has_unnamed = "doc_id" in names and step.rows["doc_id"].null_count
    return replace(
        step,
        name=f"{order.removesuffix('_rank')} order",
        title="documents that are tied or were not retrieved have no name" if has_unnamed else "",
        rows=step.rows.select(names),
    )


def _merge_ranked_list(
    steps: Sequence[Step], terms: Sequence[Step]
) -> tuple[Step | None, list[Step]]:
    """Return the documents by rank with their relevance and terms, None if the statement
    ranks none, and the terms of other rows.

    Judged documents and terms are sorted by rank, so that the first rows of all hold the same
    ranks.
    """
    judged = next((step for step in steps if step.name == JUDGMENT_RELATION), None)
    ranked = next((step for step in steps if step.name == RANKED_RELATION), None)
    if ranked is None or judged is None or not {"doc_id", "rank"} <= {*ranked.rows.column_names}:
        return None, list(terms)
    grades = {row["doc_id"]: row["relevance"] for row in judged.rows.to_pylist()}
    rows = ranked.rows.select(["rank", "doc_id"])
    documents = rows["doc_id"].to_pylist()
    labels = [
        "unjudged" if grades.get(doc_id) is None else f"{grades[doc_id]:g}" for doc_id in documents
    ]
    rows = rows.append_column("relevance", pa.array(labels, pa.string()))
    others = []
    for step in terms:
        added = {row.get("doc_id"): row for row in step.rows.to_pylist()}
        is_mergeable = "rank" in step.rows.column_names and None not in added
        if not is_mergeable or len(added) < step.rows.num_rows:
            others.append(step)
            continue
        for name in step.rows.column_names:
            if name not in {*NAME_COLUMNS, *rows.column_names}:
                values = [added.get(doc_id, {}).get(name) for doc_id in documents]
                rows = rows.append_column(name, pa.array(values, step.rows.schema.field(name).type))
    return Step("ranked list", "", rows, ranked.num_rows), others


def _with_short_columns(rows: pa.Table) -> pa.Table:
    """Return rows whose columns of doubles are integers, or have the few decimals of all values."""
    for index, name in enumerate(rows.schema.names):
        values = (
            [value for value in rows.column(index).to_pylist() if value is not None]
            if pa.types.is_floating(rows.schema.types[index])
            else []
        )
        num_decimals = max((_count_decimals(value) for value in values), default=MAX_SHORT_DECIMALS)
        if num_decimals < MAX_SHORT_DECIMALS:
            kind = pa.int64() if num_decimals == 0 else pa.decimal128(38, num_decimals)
            rows = rows.set_column(index, name, rows.column(index).cast(kind))
    return rows


def _count_decimals(value: float) -> int:
    """Return the number of decimals of a number, of many or of a large number the maximum."""
    return next(
        (
            digits
            for digits in range(MAX_SHORT_DECIMALS)
            if abs(value) < MAX_EXACT and round(value, digits) == value
        ),
        MAX_SHORT_DECIMALS,
    )


def format_significant(value: float | None) -> str:
    """Return a number as it is in the expression with numbers: 4,741,200, and not 4.7412e+06."""
    if value is None:
        return "NULL"
    return group_digits(sql_literal(float(f"{value:z.{SIGNIFICANT_DIGITS}g}")).sql("duckdb"))


def group_digits(text: str) -> str:
    """Separate the digits of long integers of an expression.

    >>> group_digits("4741200 / (4741200 + 3495950) + 0.123456 * x12345")
    '4,741,200 / (4,741,200 + 3,495,950) + 0.123456 * x12345'
    """
    return LONG_INTEGER.sub(lambda match: f"{int(match[0]):,}", text)
