"""Suggest an expression to read in the place of a column whose values break a rule, from all its values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.file_sources import names_files
from sqlrank.errors import InputError, quote_excerpt
from sqlrank.query_text import ExpressionText
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.engines.database import Database
    from sqlrank.errors import ExecutionError
    from sqlrank.inputs.bound_input import BoundInput

_NO_NUMBER = re.compile(r"Could not convert string '(.*?)' to '?(\w+)", re.DOTALL)


def column_text(bound_input: BoundInput, name: str) -> str:
    """Return the column or the expression that is bound to a name as SQL."""
    column = bound_input.columns[name]
    dialect = get_dialect(bound_input.table.dialect).sqlglot_name
    return exp.to_identifier(column).sql(dialect) if column in (bound_input.table.column_types or ()) else column


def advise_on_values(database: Database, bound_input: BoundInput, rule: str, meaning: str) -> str:
    """Return the meaning of a rule with the mapping that its invalid values suggest, if any do, in the place of its own advice."""
    name = rule.partition("_")[2]
    entries = [entry for entry in load_select("inputs", "row_advice.sql").selects if entry.alias.startswith(f"{rule}__")]
    if not entries or not database.can_inspect or name not in bound_input.columns:
        return meaning
    problem, _, advice = meaning.partition(". ")
    rows = bound_input.select_columns([name], keep_types=True).subquery("input")
    facts = [entry.this.args["ifs"][0].this for entry in entries]
    fraction = "SUM(CASE WHEN value BETWEEN 0 AND 1 THEN 0 ELSE 1 END) = 0"
    query = exp.select(*facts, fraction).from_(exp.select(exp.alias_(quoted_column(name), "value")).from_(rows).subquery("input"))
    *holds, are_fractions = database.query_rows(query)[0]
    if rule == "nonbinary_label" and are_fractions:
        return f"{problem}. {_suggest_two_rows(bound_input)}"
    dialect = get_dialect(bound_input.table.dialect).sqlglot_name
    parsed: exp.Expr = exp.maybe_parse(column_text(bound_input, name), dialect=dialect)
    column = parsed if isinstance(parsed, exp.Column) else exp.paren(parsed)
    choices = []
    for entry, is_true in zip(entries, holds, strict=True):
        value = entry.this.args["ifs"][0].args["true"].transform(lambda node: column.copy() if isinstance(node, exp.Column) else node)
        choices += [f"columns={{{name!r}: {value.sql(dialect)!r}}} {' '.join(entry.comments or ()).strip()}"] if is_true else []
    if not choices:
        return meaning
    first = advice.partition(", ")[0] or "Map one to it"
    step = f"{problem}. {first}, such as" if first.startswith("Map") else f"{meaning} with"
    return f"{step} {', or '.join(choices)}"


def explain_failed_cast(inputs: Iterable[BoundInput], error: ExecutionError) -> None:
    """Raise ``InputError`` if an engine could not convert a text, with the condition or the mapping that compares or casts it."""
    match = _NO_NUMBER.search(str(error))
    if match is None:
        return
    for bound_input in inputs:
        problem = f"{quote_excerpt(match[1])} is no {match[2]}"
        dialect = get_dialect(bound_input.table.dialect).sqlglot_name
        if (condition := _compare_texts(bound_input)) is not None:
            raise InputError(f"where: {problem}, and is compared with a number. Compare texts, where={condition.sql(dialect)!r}") from error
        for name, column in bound_input.columns.items():
            tree = None if column not in bound_input.expressions else exp.maybe_parse(column, dialect=dialect)
            if tree is not None and any(type(node) is exp.Cast for node in tree.walk()):
                lenient = tree.transform(lambda node: exp.TryCast(this=node.this, to=node.to) if type(node) is exp.Cast else node).sql(
                    dialect
                )
                advice = f"Leave its rows out with columns={{{name!r}: {lenient!r}}} and nulls='drop'"
                if name not in bound_input.role.columns:
                    advice = f"{lenient} reads NULL in its place"
                raise InputError(f"{bound_input.label}: {name} is {quote_excerpt(column)}, and {problem}. {advice}") from error


def _compare_texts(bound_input: BoundInput) -> exp.Expr | None:
    """Return the condition on an input with casts of columns that it compares with texts, None if it compares none."""
    if bound_input.where is None:
        return None
    conditions = [node.this.tree.copy() for node in bound_input.where.walk() if isinstance(node.this, ExpressionText)]
    if not conditions:
        return None
    condition, types = exp.and_(*conditions, copy=False), bound_input.table.column_types or {}
    is_mixed = False
    for comparison in list(condition.find_all(exp.Predicate)):
        operands = list(comparison.iter_expressions())
        is_text = [isinstance(operand, exp.Column) and types.get(operand.name) == "VARCHAR" for operand in operands]
        for operand in [operand for operand in operands if any(is_text) and not is_text[operands.index(operand)] and not operand.is_string]:
            operand.replace(exp.cast(operand.copy(), "TEXT"))
            is_mixed = True
    for column in condition.find_all(exp.Column):
        column.set("table", exp.to_identifier(bound_input.role.name))
    return condition if is_mixed else None


def _suggest_two_rows(bound_input: BoundInput) -> str:
    """Return the advice for rates as labels: a row with label 1 and one with label 0, whose weights are their shares."""
    label = column_text(bound_input, "label")
    weight = column_text(bound_input, "weight") if "weight" in bound_input.columns else ""
    types = bound_input.table.column_types or {}
    left_out = ", ".join(
        exp.to_identifier(name).sql("duckdb")
        for name in dict.fromkeys((bound_input.columns["label"], bound_input.columns.get("weight", "weight"), "label", "weight"))
        if name in types
    )
    source = bound_input.table.label
    if not get_dialect(bound_input.table.dialect).supports_file_readers or not names_files(source):
        return "Give a rate two rows: one with label 1 and the rate as weight, and one with label 0 and 1 - rate (docs/inputs.md, Rates as labels)"
    parts = [
        f"SELECT * EXCLUDE ({left_out}), {value} AS label, {f'{weight} * ' if weight else ''}{share} AS weight FROM {sql_literal(source).sql('duckdb')}"
        for value, share in ((1, label), (0, f"(1 - {label})"))
    ]
    return f"Of rates give two rows with weights, by the query {' UNION ALL '.join(parts)}"
