"""Filter inputs by the conditions of ``where``, each on the input whose columns it names, and by
ids of queries; explain comparisons and casts that an engine could not compute.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.query_sources import quote_columns
from sqlrank.engines.text_advice import ColumnAdvice
from sqlrank.errors import (
    ExecutionError,
    InputError,
    did_you_mean,
    enumerate_names,
    join_sentences,
    join_words,
    quote_excerpt,
)
from sqlrank.inputs.assembled_inputs import reassemble_inputs
from sqlrank.inputs.bound_input import BoundInput, BoundInputs
from sqlrank.inputs.row_checks import NUMERIC_TYPES
from sqlrank.inputs.user_sql import read_fields, split_conjuncts
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlrank.engines.source_tables import SourceTable
    from sqlrank.inputs.bound_input import BoundInput, BoundInputs
    from sqlrank.sql_ast import ExpressionText


_TEMPORAL = ("DATE", "TIME")
_TEXT = ("VARCHAR", "ENUM")
_NO_CONDITION = (*_TEMPORAL, *_TEXT, "BLOB", "UUID", "STRUCT", "MAP", "INTERVAL")
"""Types of columns, in DuckDB's names, that are no conditions; lists end in brackets."""


def filter_inputs(inputs: BoundInputs) -> BoundInputs:
    """Return the inputs of a request with the filters that it asks for.

    Raises:
        InputError: The input of a condition is ambiguous, or does not have its columns.
    """
    request = inputs.request
    derived = {
        *request.assembled_roles,
        *request.joined_roles,
        *(["run"] if request.lists_from_queries else []),
    }
    source_inputs = {
        role: bound_input for role, bound_input in inputs.by_role.items() if role not in derived
    }
    filtered = apply_filter(
        inputs.condition, source_inputs, request.rankings_from_predictions, inputs.database.dialect
    )
    if request.lists_from_queries:
        filtered["run"] = replace(inputs.by_role["run"], where=filtered["queries"].where)
    if request.only_queries:
        filtered |= apply_query_filter(
            request.only_queries,
            {
                role: bound_input
                for role, bound_input in filtered.items()
                if role not in inputs.roles_read_across_lists
            },
        )
    return reassemble_inputs(inputs.with_inputs(filtered))


def apply_filter(
    condition: exp.Expr | None,
    inputs: Mapping[str, BoundInput],
    rankings_from_predictions: bool,
    dialect: str,
) -> dict[str, BoundInput]:
    """Return the inputs with a filter.

    Each of the conditions joined by AND applies to one input. A prefix names the input of a column
    (``run.day``); otherwise only one input may have it. ``rankings_from_predictions``: run and
    judgments are derived from predictions.

    Raises:
        InputError: The input of a condition is ambiguous, or does not have its columns.
    """
    if condition is None:
        return dict(inputs)
    filtered_roles = (
        {"predictions": ["predictions", "run", "qrels"]} if rankings_from_predictions else {}
    )
    filtered_roles |= {
        role: [role]
        for role in inputs
        if not rankings_from_predictions or role not in {"run", "qrels", "predictions"}
    }
    named_inputs = {role: inputs[filtered[0]] for role, filtered in filtered_roles.items()}
    can_inspect = all(
        bound_input.table.column_types is not None for bound_input in named_inputs.values()
    )
    if can_inspect and (parameter := condition.this.tree.find(exp.Placeholder, exp.Parameter)):
        raise InputError(f"where: {parameter.sql('duckdb')} has no value. Write the value itself")
    conjuncts_by_role: dict[str, list[exp.Expr]] = {}
    for conjunct in split_conjuncts(condition, dialect):
        text: ExpressionText = conjunct.this
        named_roles = {
            _find_role(column, parsed, named_inputs)
            for column, parsed in zip(conjunct.expressions, text.columns, strict=True)
        }
        if len(named_roles) != 1:
            problem = (
                f"compares columns of {join_words(sorted(named_roles))}"
                if named_roles
                else "names no column"
            )
            raise InputError(
                f"where: {text.source} {problem}. A condition is on the rows of one input"
            )
        named_role = named_roles.pop()
        _check_column_types(text.tree, named_inputs[named_role].table)
        quote_columns(conjunct, dialect)
        for role in filtered_roles[named_role]:
            conjuncts_by_role.setdefault(role, []).append(conjunct.copy())
    filters = {
        role: exp.and_(*conjuncts, copy=False) for role, conjuncts in conjuncts_by_role.items()
    }
    return {
        **inputs,
        **{role: inputs[role].with_filter(condition) for role, condition in filters.items()},
    }


def _check_column_types(conjunct: exp.Expr, table: SourceTable) -> None:
    """Check that no column of another type is used as a boolean, and that no text is ordered with a
    number.

    Engines give unclear errors for both.
    """
    for column in conjunct.find_all(exp.Column):
        operand: exp.Expr = column
        while isinstance(operand.parent, exp.Paren):
            operand = operand.parent
        name, duckdb_type = table.find_column(column.name) or column.name, _find_type(column, table)
        is_condition = operand is conjunct or isinstance(operand.parent, (exp.Not, exp.Connector))
        if is_condition and (duckdb_type.startswith(_NO_CONDITION) or duckdb_type.endswith("]")):
            value = "'2026-01-01'" if duckdb_type.startswith(_TEMPORAL) else "'a'"
            example = (
                f"{name} = {value}"
                if duckdb_type.startswith((*_TEMPORAL, *_TEXT))
                else f"{name} IS NOT NULL"
            )
            raise InputError(
                f"where: column {quote_excerpt(name)} is {duckdb_type.partition('(')[0]}, which is"
                f" not a boolean. Compare it, such as {example}"
            )
    for comparison in conjunct.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between):
        operands = [node.unnest() for node in comparison.iter_expressions()]
        texts = [
            node
            for node in operands
            if isinstance(node, exp.Column) and _find_type(node, table).startswith("VARCHAR")
        ]
        number = next(
            (
                node
                for node in operands
                if node.is_number or _find_type(node, table).startswith(NUMERIC_TYPES)
            ),
            None,
        )
        if texts and number is not None:
            name, other = (
                texts[0].name,
                number.name if isinstance(number, exp.Column) else number.sql("duckdb"),
            )
            raise InputError(
                f"where: column {quote_excerpt(name)} is VARCHAR, and {other} is a number. Compare"
                f" texts, such as {name} > 'a', or numbers, such as CAST({name} AS DOUBLE) >"
                f" {other}"
            )


def _find_type(node: exp.Expr, table: SourceTable) -> str:
    """Return the type of a column, empty if it is not known, and for other nodes."""
    return (
        table.types.get(str(table.find_column(node.name)), "")
        if isinstance(node, exp.Column)
        else ""
    )


def apply_query_filter(
    queries: Sequence[Any], inputs: Mapping[str, BoundInput]
) -> dict[str, BoundInput]:
    """Return the inputs restricted to some queries, whose ids are compared as text."""
    filtered = dict(inputs)
    ids = [*map(str, queries)]
    for role, bound_input in inputs.items():
        name = bound_input.role.query_column or QUERY_ID
        if name in bound_input.columns:
            id_expression = (
                bound_input.raw_expression(name)
                if bound_input.column_type(name) == "VARCHAR"
                else exp.cast(bound_input.raw_expression(name), "TEXT")
            )
            filtered[role] = bound_input.with_filter(
                id_expression.eq(ids[0]) if len(ids) == 1 else id_expression.isin(*ids)
            )
    return filtered


def _quote_value(column: exp.Column, dialect: str) -> str:
    """Return the advice to write a name that is no column as a text, with its condition."""
    condition = column.root().transform(
        lambda node: sql_literal(column.name) if node == column else node
    )
    text = condition.sql(get_dialect(dialect).sqlglot)
    return f"A text is written in single quotes, as in {text}"


def _find_role(column: exp.Column, parsed: exp.Column, inputs: Mapping[str, BoundInput]) -> str:
    """Return the role of the input that has a column, and write the column's name as that input
    does, in place.

    ``parsed`` is the column in the condition as it was parsed.
    """
    first, *rest = column.parts
    role = first.name.lower() if rest and first.name.lower() in inputs else ""
    first, *fields = rest if role else column.parts
    possible_inputs = {role: inputs[role]} if role else dict(inputs)
    readings = (
        read_fields(exp.column(first.copy()), fields, bound_input.table)
        for bound_input in possible_inputs.values()
    )
    value = next((reading for reading in readings if reading is not None), None)
    if value is None:
        raise InputError(
            f"where: {column.sql()!r} is of no input. Qualify it by one of: {', '.join(inputs)}"
        )
    column.replace(value)
    name, column = first.name, next(value.find_all(exp.Column))
    if any(bound_input.table.column_types is None for bound_input in possible_inputs.values()):
        if len(possible_inputs) > 1:
            raise InputError(
                f"where: of which input is {name!r}? Write"
                f" {join_words((f'{role}.{name}' for role in inputs), 'or')}"
            )
        return next(iter(possible_inputs))
    columns_by_role = {
        role: column_name
        for role, bound_input in possible_inputs.items()
        if (column_name := bound_input.table.find_column(name)) is not None
    }
    if len(columns_by_role) > 1:
        example = " AND ".join(f"{role}.{name} ..." for role in columns_by_role)
        raise InputError(
            f"where: {join_words(columns_by_role)} have a column {name!r}. Say which is meant, or"
            f" both: {example}"
        )
    if not columns_by_role:
        available = [
            column_name
            for bound_input in possible_inputs.values()
            for column_name in bound_input.table.types
        ]
        is_value = (
            not role and isinstance(parsed.parent, exp.Predicate) and parsed.arg_key != "this"
        )
        tables = [bound_input.table for bound_input in possible_inputs.values()]
        advice = (
            next(filter(None, (table.explain_folders(name) for table in tables)), "")
            or did_you_mean(name, available)
            or (_quote_value(parsed, tables[0].dialect) if is_value else "")
        )
        raise InputError(
            join_sentences(
                f"where: {role or 'the input'} has no column {name!r}",
                advice,
                f"There are: {enumerate_names(dict.fromkeys(available))}",
            )
        )
    ((role, column_name),) = columns_by_role.items()
    column.set("this", exp.to_identifier(column_name, quoted=True))
    return role


_NO_DATE = re.compile(r"Unimplemented type for cast \((\w+) -> ((?:DATE|TIME)\w*)")
_NO_TEXT = re.compile(
    r"Cannot (?:compare|mix) values of type .*?\b(DATE|TIME[A-Z ]*?)(?= and|,| in | -)"
)
_NO_NUMBER = re.compile(r"Could not convert string '(.*?)' to '?(\w+)", re.DOTALL)
_FAILED_CASTS = (
    _NO_NUMBER,
    re.compile(r"Type \w+ with value (.*?) can't be cast .*?destination type (\w+)", re.DOTALL),
    re.compile(r"Could not cast value (.*?) to (\w+)", re.DOTALL),
    re.compile(r"Casting value \"(.*?)\" to type (\w+)", re.DOTALL),
    re.compile(r"invalid (?=(?:date|timestamp) field format: \"(.*?)\")(\w+)", re.DOTALL),
    re.compile(r"\b(?=\w+ field value out of range: \"(.*?)\")(\w+)", re.DOTALL),
)
"""Messages of DuckDB on a value that is none of a type: the value, and the type."""

_NO_VALUE = re.compile(r"(?:Binder|Conversion|Invalid Input|Out of Range) Error: (.*)", re.DOTALL)
"""Messages of DuckDB on an expression that has no value, or none for some rows."""


def _describe_failed_cast(error: ExecutionError) -> str:
    """Return the value that an engine could not convert, with the type, empty for other errors."""
    matches = (pattern.search(str(error)) for pattern in _FAILED_CASTS)
    match = next(filter(None, matches), None)
    return "" if match is None else f"{quote_excerpt(match[1])} is no {match[2].upper()}"


def explain_failed_cast(inputs: BoundInputs, error: ExecutionError) -> None:
    """Raise ``InputError`` if an engine could not convert a text, with the condition or the mapping
    that compares or casts it.
    """
    if (match := _NO_DATE.search(str(error))) is not None:
        raise InputError(
            f"a number ({match[1]}) is cast to {match[2]}, and none is a time. Seconds since 1970"
            f" are TO_TIMESTAMP(column), as in CAST(TO_TIMESTAMP(column) AS {match[2]}), and"
            " milliseconds EPOCH_MS(column)"
        ) from error
    if inputs.condition is not None and (match := _NO_TEXT.search(str(error))) is not None:
        dialect = get_dialect(inputs.database.dialect).sqlglot
        text = _cast_texts(inputs, inputs.condition.this.tree, match[1]).sql(dialect)
        raise InputError(
            f"where: texts are compared with a {match[1]}. Cast them, where={text!r}"
        ) from error
    match = _NO_NUMBER.search(str(error))
    problem = _describe_failed_cast(error)
    if inputs.condition is not None and match is not None:
        # The text is one of a column, or else of the condition.
        text = _compare_texts(inputs, inputs.condition, match[1]) or _compare_texts(
            inputs, inputs.condition, None
        )
        if text:
            raise InputError(
                f"where: {problem}, and is compared with a number. Compare texts, where={text!r}"
            ) from error
    explain_failed_mapping(inputs.by_role.values(), error)
    if problem and inputs.condition is not None and inputs.condition.this.tree.find(exp.Cast):
        tree = inputs.condition.this.tree
        lenient = _cast_leniently(tree)
        if lenient == tree:  # the engine casts the column to the type of a constant
            lenient = _cast_leniently(_cast_texts(inputs, tree, problem.rpartition(" ")[2]))
        text = lenient.sql(get_dialect(inputs.database.dialect).sqlglot)
        raise InputError(f"where: {problem}. Leave its rows out with where={text!r}") from error
    if (match := _NO_VALUE.search(str(error))) is not None:
        _name_failed_expression(inputs, problem or match[1], error)


def _name_failed_expression(inputs: BoundInputs, problem: str, error: ExecutionError) -> None:
    """Raise ``InputError`` with the condition or mapping that fails alone, too, if one does."""
    for bound_input in () if inputs.database.has_unread_streams else inputs.by_role.values():
        expressions = [
            (f"{bound_input.label}: {name} is {column!r}, which", value)
            for name, column in bound_input.columns.items()
            if (value := bound_input.expressions.get(column)) is not None
        ]
        if bound_input.where is not None and inputs.condition is not None:
            source = inputs.condition.this.source
            expressions.append((f"where: {source}", bound_input.where))
        for label, value in expressions:
            try:
                bound_input.database.query_rows(
                    bound_input.select_unfiltered(exp.Count(this=value.copy()))
                )
            except ExecutionError:
                is_date = problem.endswith((" is no DATE", " is no TIMESTAMP"))
                advice = ". Write the year first, as in '2026-03-01'" if is_date else ""
                raise InputError(f"{label} cannot be evaluated: {problem}{advice}") from error


def explain_failed_mapping(
    bound_inputs: Iterable[BoundInput],
    error: ExecutionError,
    find_advice: Callable[[str], ColumnAdvice] | None = None,
) -> None:
    """Raise ``InputError`` if an engine could not convert a text, with the expression of a column
    that casts it.

    ``find_advice`` returns what to write for the column of a canonical name, by default a mapping.
    """
    problem = _describe_failed_cast(error)
    for bound_input in bound_inputs if problem else ():
        dialect = bound_input.dialect.sqlglot_name
        for name, column in bound_input.columns.items():
            tree = (
                None
                if column not in bound_input.expressions
                else exp.maybe_parse(column, dialect=dialect)
            )
            if tree is not None and any(type(node) is exp.Cast for node in tree.walk()):
                advice = _read_leniently(bound_input, name, tree, find_advice)
                fault = (
                    f"{name} is {quote_excerpt(column)}, and {problem}"
                    if find_advice is None
                    else f"{problem}, to which {quote_excerpt(column)} casts"
                )
                raise InputError(f"{bound_input.label}: {fault}. {advice}") from error


def _read_leniently(
    bound_input: BoundInput,
    name: str,
    tree: exp.Expr,
    find_advice: Callable[[str], ColumnAdvice] | None,
) -> str:
    """Return the advice to read NULL where an expression casts a text that is no number."""
    lenient = _cast_leniently(tree)
    if name not in bound_input.role.columns:
        return f"{lenient.sql(bound_input.dialect.sqlglot)} reads NULL in its place"
    advice = (
        ColumnAdvice(name, bound_input.table.dialect) if find_advice is None else find_advice(name)
    )
    filtered = advice.leave_out_null(lenient)
    return f"Leave its rows out with {advice.read_as(lenient)}{filtered and f' and {filtered}'}"


def _cast_leniently(tree: exp.Expr) -> exp.Expr:
    """Return an expression whose casts give NULL for a value that is none of the type."""
    return tree.transform(
        lambda node: (
            exp.TryCast(this=node.this, to=node.to)
            if type(node) is exp.Cast and not isinstance(node.this, exp.Literal)
            else node
        )
    )


def _cast_texts(inputs: BoundInputs, condition: exp.Expr, data_type: str) -> exp.Expr:
    """Return the caller's condition with columns of texts cast to a type of times where they are
    compared with other than texts.
    """
    tree = condition.copy()
    for node in [*tree.find_all(exp.Predicate)]:
        operands = [*node.iter_expressions()]
        texts = [operand for operand in operands if _has_text(inputs, operand)]
        if not any(operand.is_string for operand in operands) and len(texts) < len(operands):
            for operand in texts:
                operand.replace(exp.cast(operand.copy(), data_type))
    return tree


def _compare_texts(inputs: BoundInputs, condition: exp.Expr, value: str | None) -> str:
    """Return the caller's condition with texts where a column of texts, with a value if one is
    given, is compared with numbers, empty if none is.
    """
    dialect = get_dialect(inputs.database.dialect).sqlglot
    texts, is_mixed = [], False
    for conjunct in split_conjuncts(condition, inputs.database.dialect):
        tree = conjunct.this.tree.copy()
        comparisons = [[*node.iter_expressions()] for node in tree.find_all(exp.Predicate)]
        mixed = [
            operands
            for operands in comparisons
            if any(_has_text(inputs, operand, value) for operand in operands)
        ]
        numbers = [
            operand
            for operands in mixed
            for operand in operands
            if not operand.is_string and not _has_text(inputs, operand)
        ]
        for operand in numbers:
            operand.replace(
                sql_literal(operand.sql(dialect))
                if operand.is_number
                else exp.cast(operand.copy(), "TEXT")
            )
        texts.append(tree.sql(dialect) if numbers else conjunct.this.source)
        texts[-1] = (
            f"({texts[-1]})"
            if isinstance(tree, exp.Or) and conjunct is not condition
            else texts[-1]
        )
        is_mixed |= bool(numbers)
    return " AND ".join(texts) if is_mixed else ""


def _has_text(inputs: BoundInputs, operand: exp.Expr, value: str | None = None) -> bool:
    """Return True if an operand is a column of texts, or a function of one, of which one is a value
    if one is given.
    """
    if (
        isinstance(operand, exp.Func)
        and not isinstance(operand, exp.Binary)
        and operand.find(exp.Cast) is None
    ):
        return any(_has_text(inputs, column, value) for column in operand.find_all(exp.Column))
    if not isinstance(operand, exp.Column):
        return False
    by_role = inputs.by_role
    named = [by_role[operand.table]] if operand.table in by_role else [*by_role.values()]
    holders = [
        (bound_input, column)
        for bound_input in named
        if (column := bound_input.table.find_column(operand.name)) is not None
    ]
    bound_input, column = next(iter(holders), (None, ""))
    if bound_input is None or not bound_input.table.types.get(column, "").startswith("VARCHAR"):
        return False
    if value is None or bound_input.database.has_unread_streams:
        return True
    rows = bound_input.select_unfiltered(quoted_column(column), "1")
    return bool(
        bound_input.database.query_rows(
            rows.where(quoted_column(column).eq(sql_literal(value))).limit(1)
        )
    )
