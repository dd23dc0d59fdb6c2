"""Check the user's ``columns`` mapping, split several scores off, and bind its columns or expressions to all inputs or one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.file_sources import names_files
from sqlrank.engines.identifiers import split_table_name
from sqlrank.errors import InputError, did_you_mean, enumerate_names, join_sentences, quote_excerpt, suggest_choice
from sqlrank.inputs.allowed_syntax import DisallowedSqlError
from sqlrank.inputs.nested_rows import describe_nested_rows
from sqlrank.inputs.user_sql import parse_expression, read_fields
from sqlrank.registry.registry import INPUTS_BY_KEYWORD
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.resolve import ResolvedRequest


_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SUBQUERY = re.compile(r"\(\s*SELECT\s", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"(^|\s)(AND|OR|NOT|IN|IS|LIKE|BETWEEN|CASE|WHEN|THEN|ELSE)$|^CASE\s+WHEN\s|[\w)'\"] ?[-+*/<>=|]$",
    re.IGNORECASE,
)
"""Pattern of a text with an operator at its end, which lacks an operand, or of a CASE that does not end."""


def split_score_columns(columns: Mapping[str, Any], has_predictions: bool) -> tuple[list[str], dict[str, str]]:
    """Split the mapping into several score columns, if there are any, and the other columns."""
    columns = {name.removeprefix("predictions."): column_name for name, column_name in columns.items()}
    score = columns.get("score")
    if isinstance(score, (list, tuple)) and has_predictions:
        if len(set(score)) < len(score) or not score:
            raise InputError(f"columns maps score to {score!r}. Name each score column once")
        columns = {name: column_name for name, column_name in columns.items() if name != "score"}
    else:
        score = []
    for name, column_name in columns.items():
        if not isinstance(column_name, str):
            raise InputError(
                f"columns maps {name} to {column_name!r}. A ranking has one {name}, and only metrics of predictions take several scores"
            )
    return list(score), dict(columns)


def check_mapping_names(request: ResolvedRequest, mapping: Mapping[str, str]) -> None:
    """Check that every mapped name is a column of an input."""
    roles = {role: request.roles[role] for role in request.sources}
    canonical_names = [column for role in roles.values() for column in role.columns]
    if request.is_ranking:
        canonical_names = ["query_id", "doc_id", "score", "rank", "relevance", "weight", "label", *canonical_names]
    holder = f"{request.base_role} do not have" if request.base_role is not None else "no input has"
    for name in mapping:
        role, _, column = name.partition(".")
        role_columns = [*roles[role].columns, *request.group_by] if role in roles and column else []
        if role_columns and column not in role_columns:
            raise InputError(join_sentences(f"columns maps {name!r}, which {role} does not have", did_you_mean(column, role_columns)))
        if not role_columns and name not in {*canonical_names, *request.group_by}:
            other_roles = {column: name for name, role in reversed(request.roles.items()) if name not in roles for column in role.columns}
            raise InputError(
                join_sentences(f"columns maps {name!r}, which {holder}", _mapping_advice(name, mapping[name], canonical_names, other_roles))
            )


def _mapping_advice(name: str, column_name: str, canonical_names: Sequence[str], other_roles: Mapping[str, str]) -> str:
    """Return the next step for an unknown name: both sides exchanged, the input that has it, a close name, or all of them."""
    if column_name in canonical_names:
        return f"The name to map comes first: columns={{{column_name!r}: {name!r}}}"
    if (role := other_roles.get(name)) is not None and role not in INPUTS_BY_KEYWORD:
        return f"It is a column of the input {role}. Give that as inputs={{{role!r}: ...}}"
    names = list(dict.fromkeys(canonical_names))
    return did_you_mean(name, names) or f"Names to map are: {enumerate_names(names)}"


def role_mapping(role: str, mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping of one input: entries such as ``run.query_id`` override unqualified ones."""
    role_entries = {name.removeprefix(f"{role}."): column_name for name, column_name in mapping.items() if name.startswith(f"{role}.")}
    return {**mapping, **role_entries}


def bind_expressions(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput], mapping: Mapping[str, str], scores: Sequence[str], database: Database
) -> dict[str, BoundInput]:
    """Return the inputs with mapped texts that are not column names bound as expressions."""
    bound_inputs = dict(inputs)
    for name, text in [*mapping.items(), *(("score", text) for text in scores)]:
        targets = _find_mapped_inputs(name, request, bound_inputs)
        if any(target.table.column_types is not None and target.table.find_column(text) for target in targets):
            continue
        _refuse_subquery(name, text, targets[0])
        trees = [_parse_mapped_text(text, target) for target in targets]
        if all(isinstance(tree, str) for tree in trees):
            raise InputError(_unknown_column_message(request, name, text, [str(tree) for tree in trees], targets))
        for target, tree in zip(targets, trees, strict=True):
            if isinstance(tree, exp.Expr) and text not in bound_inputs[target.role.name].expressions:
                duckdb_type = _expression_type(tree, target, database)
                # Run, judgments and predictions may share one table.
                bound_inputs |= {
                    role: bound_input.with_expression(text, tree, duckdb_type)
                    for role, bound_input in bound_inputs.items()
                    if bound_input.table is target.table
                }
    return bound_inputs


def _find_mapped_inputs(name: str, request: ResolvedRequest, inputs: Mapping[str, BoundInput]) -> list[BoundInput]:
    """Return the inputs of a mapped column; for group-by columns without inspection, the evaluated ones."""
    role, _, column = name.partition(".")
    if role in inputs and column:
        return [inputs[role]]
    targets = [bound_input for bound_input in inputs.values() if name in bound_input.role.columns]
    if name in request.group_by:
        evaluated_inputs = [
            bound_input
            for role, bound_input in inputs.items()
            if role in {request.retrieval_role, *request.base_roles} or request.rankings_from_predictions
        ]
        targets = (
            evaluated_inputs if any(bound_input.table.column_types is None for bound_input in inputs.values()) else list(inputs.values())
        )
    return targets or list(inputs.values())


def bind_column_or_expression(bound_input: BoundInput, canonical: str, text: str, database: Database) -> BoundInput:
    """Return an input with a column bound to a table column or an expression.

    Raises:
        InputError: The table has no such column, or the text is not an expression.
    """
    column_name = bound_input.table.find_column(text) if bound_input.table.column_types is not None else None
    if column_name is None:
        _refuse_subquery(canonical, text, bound_input)
        tree = _parse_mapped_text(text, bound_input)
        if isinstance(tree, str):
            available = bound_input.table.column_types or {}
            raise InputError(suggest_choice(f"{bound_input.label} has no column {quote_excerpt(tree)}", tree, available, "There are"))
        if tree is not None:
            bound_input = bound_input.with_expression(text, tree, _expression_type(tree, bound_input, database))
        column_name = text if tree is not None else bound_input.table.find_column(text)
    return bound_input.with_columns({canonical: column_name or text})


def _refuse_subquery(name: str, text: str, bound_input: BoundInput) -> None:
    """Raise ``InputError`` for an expression with a subquery, with the query that may have it."""
    if _SUBQUERY.search(text):
        table = bound_input.table
        is_named = table.display_item is None or table.display_item.name != bound_input.role.name  # as rows of Python are in messages
        source = sql_literal(table.label).sql("duckdb") if names_files(table.label) else table.label if is_named else "..."
        raise InputError(
            f"{name}: an expression has no subquery, which a query as the source may have: give {bound_input.role.name}= the query "
            f"SELECT *, {text} AS {name.rpartition('.')[2]} FROM {source}"
        )


def _expression_type(tree: exp.Expr, bound_input: BoundInput, database: Database) -> str:
    """Return the DuckDB type of an expression over the columns of an input, empty if unknown."""
    if not database.can_inspect:
        return ""
    read_columns = [column.this for column in find_nodes(tree, exp.Column)]
    type_query = exp.select(exp.alias_(tree.copy(), "computed")).from_(bound_input.table.from_clause(read_columns, for_display=False))
    return next(iter(database.describe(type_query).values()), "")


def _parse_mapped_text(text: str, holder: BoundInput) -> exp.Expr | str | None:
    """Parse a text as an expression, or return a missing column's name.

    Returns None for the name of a column that cannot be inspected.
    """
    if holder.table.column_types is None:
        tree = _parse_uninspected_text(text, holder.table.dialect)
        return tree and tree.transform(lambda node: _read_field(node, holder) if isinstance(node, exp.Column) else node)
    try:
        tree = parse_expression(text, holder.table.dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        return text
    tree = tree.transform(lambda node: _read_field(node, holder) if isinstance(node, exp.Column) else node)
    for column in find_nodes(tree, exp.Column):
        column_name = None if column.table else holder.table.find_column(column.name)
        if column_name is None:
            return ".".join(part.name for part in column.parts)
        column.set("this", exp.to_identifier(column_name, quoted=True))
    return tree


def _read_field(column: exp.Column, holder: BoundInput) -> exp.Expr:
    """Return ``result.ids`` as field ``ids`` of the column ``result``, where that is a struct, such as an object of JSON; others as given.

    The name of the input before the column is left out.
    """
    first, *fields = column.parts
    if (
        fields
        and first.name.lower() == holder.role.name
        and (holder.table.column_types is None or holder.table.find_column(first.name) is None)
    ):
        first, *fields = fields
        column = exp.column(first.copy())
    value = read_fields(exp.column(first), fields, holder.table) if fields else None
    return column if value is None else value


def _parse_uninspected_text(text: str, dialect: str) -> exp.Expr | None:
    """Parse a text as an expression over a table whose columns are not known, or return None for the name of a column."""
    name_parts = split_table_name(text)
    if (name_parts is not None and len(name_parts) == 1 and not _NUMBER.fullmatch(text)) or text != text.strip():
        return None
    try:
        tree = parse_expression(text, dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        # Such a text is more likely an expression that lacks a bracket or an operand than the name of a column.
        lacks_bracket = "(" in text or ")" in text
        if not lacks_bracket and not _UNFINISHED.search(text):
            return None
        advice = "Check its brackets" if lacks_bracket else "Finish it"
        raise InputError(
            f"{quote_excerpt(text)} is no expression over columns in the SQL of {dialect}. {advice}, or quote the name of a column"
        ) from None
    return None if isinstance(tree, exp.Column) else tree  # a name that contains a dot


def _unknown_column_message(request: ResolvedRequest, mapped: str, text: str, unknown: Sequence[str], targets: Sequence[BoundInput]) -> str:
    """Describe an invalid mapping under the argument that contains it: ``by``, ``unit`` or ``columns``."""
    if len(targets) == 1 or request.rankings_from_predictions or request.base_role is not None:
        name, available = unknown[-1], list(targets[-1].table.column_types or ())
    else:
        name, available = text, sorted({column for target in targets for column in target.table.column_types or ()})
    is_base = request.base_role is not None or (request.rankings_from_predictions and not request.is_ranking)
    holder = f"{request.base_role or 'predictions'} do not have" if is_base else "no input has"
    if mapped in request.group_expressions or mapped == UNIT_COLUMN:
        argument = f"by: {quote_excerpt(f'{mapped}={text}')}" if mapped in request.group_expressions else f"unit: {quote_excerpt(text)}"
        missing = next((candidate for candidate in unknown if candidate != text), None)
        if missing is None and split_table_name(text) is not None:
            problem = f"{argument} is a column that {holder}"
        elif missing is None:
            problem = f"{argument} is no expression over the columns of a row in the SQL of {targets[-1].table.dialect}"
        else:
            problem = f"{argument} reads {quote_excerpt(missing)}, which {holder}"
    else:
        problem = f"columns maps to {quote_excerpt(name)}, which {holder}"
        for target in targets:
            if advice := describe_nested_rows(target, name):
                return join_sentences(problem, advice)
    return suggest_choice(problem, name, available, "There are")
