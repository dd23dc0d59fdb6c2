"""Suggest an expression to read in the place of a column whose values break a rule, from all its values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.file_sources import names_files
from sqlrank.engines.number_texts import write_mapping
from sqlrank.errors import ExecutionError, InputError, quote_excerpt
from sqlrank.inputs.user_sql import split_conjuncts
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput

_NO_NUMBER = re.compile(r"Could not convert string '(.*?)' to '?(\w+)", re.DOTALL)


def column_text(bound_input: BoundInput, name: str) -> str:
    """Return the column or the expression that is bound to a name as SQL."""
    column = bound_input.columns[name]
    dialect = get_dialect(bound_input.table.dialect).sqlglot_name
    return exp.to_identifier(column).sql(dialect) if column in (bound_input.table.column_types or ()) else column


def bound_expression(bound_input: BoundInput, name: str) -> exp.Expr:
    """Return the column or the expression that is bound to a name, as an operand of another expression."""
    parsed: exp.Expr = exp.maybe_parse(column_text(bound_input, name), dialect=get_dialect(bound_input.table.dialect).sqlglot_name)
    is_operand = isinstance(parsed, (exp.Column, exp.Func)) and not isinstance(parsed, exp.Binary)
    return parsed if is_operand else exp.paren(parsed)


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
    column = bound_expression(bound_input, name)
    choices = []
    for entry, is_true in zip(entries, holds, strict=True):
        value = entry.this.args["ifs"][0].args["true"].transform(lambda node: column.copy() if isinstance(node, exp.Column) else node)
        choices += (
            [f"{write_mapping({name: value}, bound_input.table.dialect)} {' '.join(entry.comments or ()).strip()}"] if is_true else []
        )
    if not choices:
        return meaning
    first = advice.partition(", ")[0] or "Map one to it"
    step = f"{problem}. {first}, such as" if first.startswith("Map") else f"{meaning} with"
    return f"{step} {', or '.join(choices)}"


def explain_failed_cast(
    database: Database, inputs: Mapping[str, BoundInput], condition: exp.Expression | None, error: ExecutionError
) -> None:
    """Raise ``InputError`` if an engine could not convert a text, with the condition or the mapping that compares or casts it.

    ``condition`` is that of ``where``.
    """
    match = _NO_NUMBER.search(str(error))
    if match is None:
        return
    problem = f"{quote_excerpt(match[1])} is no {match[2]}"
    if condition is not None:
        # The text is one of a column, or else of the condition.
        text = _compare_texts(database, inputs, condition, match[1]) or _compare_texts(database, inputs, condition, None)
        if text:
            raise InputError(f"where: {problem}, and is compared with a number. Compare texts, where={text!r}") from error
    for bound_input in inputs.values():
        dialect = get_dialect(bound_input.table.dialect).sqlglot_name
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


def _compare_texts(database: Database, inputs: Mapping[str, BoundInput], condition: exp.Expression, value: str | None) -> str:
    """Return the caller's condition with texts where a column of texts, with a value if one is given, is compared with numbers, empty if none is."""
    dialect = get_dialect(database.dialect).sqlglot_name
    texts, is_mixed = [], False
    for conjunct in split_conjuncts(condition, database.dialect):
        tree = conjunct.this.tree.copy()
        comparisons = [[*node.iter_expressions()] for node in tree.find_all(exp.Predicate)]
        mixed = [operands for operands in comparisons if any(_has_text(database, inputs, operand, value) for operand in operands)]
        numbers = [
            operand for operands in mixed for operand in operands if not operand.is_string and not _has_text(database, inputs, operand)
        ]
        for operand in numbers:
            operand.replace(exp.Literal.string(operand.sql(dialect)) if operand.is_number else exp.cast(operand.copy(), "TEXT"))
        texts.append(tree.sql(dialect) if numbers else conjunct.this.source)
        texts[-1] = f"({texts[-1]})" if isinstance(tree, exp.Or) and conjunct is not condition else texts[-1]
        is_mixed |= bool(numbers)
    return " AND ".join(texts) if is_mixed else ""


def _has_text(database: Database, inputs: Mapping[str, BoundInput], operand: exp.Expr, value: str | None = None) -> bool:
    """Return True if an operand is a column of texts, or a function of one, of which one is a value if one is given."""
    if isinstance(operand, exp.Func) and not isinstance(operand, exp.Binary) and operand.find(exp.Cast) is None:
        return any(_has_text(database, inputs, column, value) for column in operand.find_all(exp.Column))
    if not isinstance(operand, exp.Column):
        return False
    named = [bound_input for role, bound_input in inputs.items() if role == operand.table] or [*inputs.values()]
    holders = [(bound_input, column) for bound_input in named if (column := bound_input.table.find_column(operand.name)) is not None]
    bound_input, column = next(iter(holders), (None, ""))
    if bound_input is None or not (bound_input.table.column_types or {}).get(column, "").startswith("VARCHAR"):
        return False
    if value is None or database.has_unread_streams:
        return True
    rows = exp.select("1").from_(bound_input.table.from_clause([exp.to_identifier(column, quoted=True)]))
    return bool(database.query_rows(rows.where(exp.EQ(this=quoted_column(column), expression=sql_literal(value))).limit(1)))


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
