"""Bind the user's ``columns`` mapping, several scores, and the columns of ``by`` among the
inputs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.intervals.analytic_intervals import INTERVAL_SUFFIXES
from sqlrank.compiler.layout import GroupColumn
from sqlrank.compiler.row_keys import SCORE_NAME, SLICE_NUMBER
from sqlrank.engines.file_sources import list_paths, names_files
from sqlrank.engines.query_sources import split_table_name
from sqlrank.errors import (
    InputError,
    did_you_mean,
    enumerate_names,
    join_sentences,
    quote_excerpt,
    suggest_choice,
)
from sqlrank.inputs.missing_columns import describe_nested_rows
from sqlrank.inputs.user_sql import DisallowedSqlError, parse_expression, read_fields
from sqlrank.registry.metric import to_sql_name
from sqlrank.registry.roles import INPUTS_BY_KEYWORD, SYSTEM_COLUMN, UNIT_COLUMN
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.engines.source_tables import SourceTable
    from sqlrank.inputs.bound_input import BoundInput, BoundInputs


_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SUBQUERY = re.compile(r"\(\s*SELECT\s", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"(^|\s)(AND|OR|NOT|IN|IS|LIKE|BETWEEN|CASE|WHEN|THEN|ELSE)$|^CASE\s+WHEN\s|[\w)'\"]"
    r" ?[-+*/<>=|]$",
    re.IGNORECASE,
)
"""Pattern of a text with an operator at its end, which lacks an operand, or of a CASE that does not
end.
"""


def split_score_columns(
    columns: Mapping[str, Any], has_predictions: bool
) -> tuple[list[str], dict[str, str]]:
    """Split the mapping into several score columns, if there are any, and the other columns."""
    columns = {
        name.removeprefix("predictions."): column_name for name, column_name in columns.items()
    }
    score = columns.get("score")
    if isinstance(score, (list, tuple)) and has_predictions:
        if len(set(score)) < len(score) or not score:
            raise InputError(f"columns maps score to {score!r}. Name each score column once")
        columns = {name: column_name for name, column_name in columns.items() if name != "score"}
    else:
        score = []
    return list(score), dict(columns)


def check_measured_scores(request: ResolvedRequest, scores: Sequence[str]) -> None:
    """Check that no metric measures one of several scores by its name, which it would read for each
    of them.
    """
    if not scores:
        return
    for metric in request.metrics:
        measured = metric.measured_column
        if measured and measured.role == "predictions" and measured.column in {"score", *scores}:
            raise InputError(
                f"{metric.metric} reads the column {measured.column} under each of the scores"
                f" {enumerate_names(scores)}, so that its values are equal. Give evaluate a metric"
                " for each column, without several scores in columns="
            )


def check_mapping_names(request: ResolvedRequest, mapping: Mapping[str, str]) -> None:
    """Check that every mapped name is that of an input, and has one column."""
    for name, column_name in mapping.items():
        if not isinstance(column_name, str):
            raise InputError(
                f"columns maps {name} to {column_name!r}. A ranking has one {name}, and only"
                " metrics of predictions take several scores"
            )
    roles = {role: request.roles[role] for role in request.sources}
    canonical_names = [column for role in roles.values() for column in role.columns]
    if request.is_ranking:
        canonical_names = [
            "query_id",
            "doc_id",
            "score",
            "rank",
            "relevance",
            "weight",
            "label",
            *canonical_names,
        ]
    holder = f"{request.base_role} do not have" if request.base_role is not None else "no input has"
    for name in mapping:
        role, _, column = name.partition(".")
        role_columns = [*roles[role].columns, *request.group_by] if role in roles and column else []
        if role_columns and column not in role_columns:
            raise InputError(
                join_sentences(
                    f"columns maps {name!r}, which {role} does not have",
                    did_you_mean(column, role_columns),
                )
            )
        if not role_columns and name not in {*canonical_names, *request.group_by}:
            other_roles = {
                column: name
                for name, role in reversed(request.roles.items())
                if name not in roles
                for column in role.columns
            }
            raise InputError(
                join_sentences(
                    f"columns maps {name!r}, which {holder}",
                    _mapping_advice(name, mapping[name], canonical_names, other_roles),
                )
            )


def _mapping_advice(
    name: str, column_name: str, canonical_names: Sequence[str], other_roles: Mapping[str, str]
) -> str:
    """Return the next step for an unknown name: both sides exchanged, the input that has it, a
    close name, or all of them.
    """
    if column_name in canonical_names:
        return f"The name to map comes first: columns={{{column_name!r}: {name!r}}}"
    if (role := other_roles.get(name)) is not None and role not in INPUTS_BY_KEYWORD:
        return f"It is a column of the input {role}. Give that as inputs={{{role!r}: ...}}"
    names = list(dict.fromkeys(canonical_names))
    return did_you_mean(name, names) or f"Names to map are: {enumerate_names(names)}"


def role_mapping(role: str, mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping of one input: entries such as ``run.query_id`` override unqualified
    ones.
    """
    role_entries = {
        name.removeprefix(f"{role}."): column_name
        for name, column_name in mapping.items()
        if name.startswith(f"{role}.")
    }
    return {**mapping, **role_entries}


def bind_expressions(inputs: BoundInputs, mapping: Mapping[str, str]) -> BoundInputs:
    """Return the inputs with mapped texts that are not column names bound as expressions."""
    for name, text in [*mapping.items(), *(("score", text) for text in inputs.scores)]:
        targets = _find_mapped_inputs(name, inputs)
        if any(
            target.table.column_types is not None and target.table.find_column(text)
            for target in targets
        ):
            continue
        _refuse_subquery(name, text, targets[0])
        trees = [_parse_mapped_text(text, target) for target in targets]
        if all(isinstance(tree, str) for tree in trees):
            raise InputError(
                _unknown_column_message(
                    inputs.request, name, text, [str(tree) for tree in trees], targets
                )
            )
        for target, tree in zip(targets, trees, strict=True):
            if (
                isinstance(tree, exp.Expr)
                and text not in inputs.by_role[target.role.name].expressions
            ):
                duckdb_type = _expression_type(tree, target)
                # Run, judgments and predictions may share one table.
                inputs = inputs.with_inputs(
                    {
                        role: bound_input.with_expression(text, tree, duckdb_type)
                        for role, bound_input in inputs.by_role.items()
                        if bound_input.table is target.table
                    }
                )
    return inputs


def _find_mapped_inputs(name: str, inputs: BoundInputs) -> list[BoundInput]:
    """Return the inputs of a mapped column; for group-by columns without inspection, the evaluated
    ones.
    """
    request, by_role = inputs.request, inputs.by_role
    role, _, column = name.partition(".")
    if role in by_role and column:
        return [by_role[role]]
    targets = [bound_input for bound_input in by_role.values() if name in bound_input.role.columns]
    if name in request.group_by:
        evaluated_inputs = [
            bound_input
            for role, bound_input in by_role.items()
            if role in {request.retrieval_role, *request.base_roles}
            or request.rankings_from_predictions
        ]
        targets = (
            evaluated_inputs
            if any(bound_input.table.column_types is None for bound_input in by_role.values())
            else list(by_role.values())
        )
    return targets or list(by_role.values())


def bind_column_or_expression(bound_input: BoundInput, canonical: str, text: str) -> BoundInput:
    """Return an input with a column bound to a table column or an expression.

    Raises:
        InputError: The table has no such column, or the text is not an expression.
    """
    column_name = (
        bound_input.table.find_column(text) if bound_input.table.column_types is not None else None
    )
    if column_name is None:
        _refuse_subquery(canonical, text, bound_input)
        tree = _parse_mapped_text(text, bound_input)
        if isinstance(tree, str):
            available = bound_input.table.types
            raise InputError(
                suggest_choice(
                    f"{bound_input.label} has no column {quote_excerpt(tree)}",
                    tree,
                    available,
                    "There are",
                )
            )
        if tree is not None:
            bound_input = bound_input.with_expression(
                text, tree, _expression_type(tree, bound_input)
            )
        column_name = text if tree is not None else bound_input.table.find_column(text)
    return bound_input.with_columns({canonical: column_name or text})


def _refuse_subquery(name: str, text: str, bound_input: BoundInput) -> None:
    """Raise ``InputError`` for an expression with a subquery, with the query that may have it."""
    if _SUBQUERY.search(text):
        table = bound_input.table
        is_named = (
            table.display_item is None or table.display_item.name != bound_input.role.name
        )  # as rows of Python are in messages
        source = (
            sql_literal(table.label).sql("duckdb")
            if names_files(table.label)
            else table.label
            if is_named
            else "..."
        )
        raise InputError(
            f"{name}: an expression has no subquery, which a query as the source may have: give"
            f" {bound_input.role.name}= the query SELECT *, {text} AS {name.rpartition('.')[2]}"
            f" FROM {source}"
        )


def _expression_type(tree: exp.Expr, bound_input: BoundInput) -> str:
    """Return the DuckDB type of an expression over the columns of an input, empty if unknown."""
    if not bound_input.database.can_inspect:
        return ""
    type_query = bound_input.select_unfiltered(tree.as_("computed"))
    return next(iter(bound_input.database.describe(type_query).values()), "")


def _parse_mapped_text(text: str, holder: BoundInput) -> exp.Expr | str | None:
    """Parse a text as an expression, or return a missing column's name.

    Returns None for the name of a column that cannot be inspected.
    """
    if holder.table.column_types is None:
        tree = _parse_uninspected_text(text, holder.table.dialect)
        return tree and tree.transform(
            lambda node: _read_field(node, holder) if isinstance(node, exp.Column) else node
        )
    try:
        tree = parse_expression(text, holder.table.dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        return text
    tree = tree.transform(
        lambda node: _read_field(node, holder) if isinstance(node, exp.Column) else node
    )
    for column in find_nodes(tree, exp.Column):
        column_name = None if column.table else holder.table.find_column(column.name)
        if column_name is None:
            return ".".join(part.name for part in column.parts)
        column.set("this", exp.to_identifier(column_name, quoted=True))
    return tree


def _read_field(column: exp.Column, holder: BoundInput) -> exp.Expr:
    """Return ``result.ids`` as field ``ids`` of the column ``result``, where that is a struct, such
    as an object of JSON; others as given.

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
    """Parse a text as an expression over a table whose columns are not known, or return None for
    the name of a column.
    """
    name_parts = split_table_name(text)
    if (
        name_parts is not None and len(name_parts) == 1 and not _NUMBER.fullmatch(text)
    ) or text != text.strip():
        return None
    try:
        tree = parse_expression(text, dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        # Such a text is more likely an expression that lacks a bracket or an operand than the name
        # of a column.
        lacks_bracket = "(" in text or ")" in text
        if not lacks_bracket and not _UNFINISHED.search(text):
            return None
        advice = "Check its brackets" if lacks_bracket else "Finish it"
        raise InputError(
            f"{quote_excerpt(text)} is no expression over columns in the SQL of {dialect}."
            f" {advice}, or quote the name of a column"
        ) from None
    return None if isinstance(tree, exp.Column) else tree  # a name that contains a dot


def _unknown_column_message(
    request: ResolvedRequest,
    mapped: str,
    text: str,
    unknown: Sequence[str],
    targets: Sequence[BoundInput],
) -> str:
    """Describe an invalid mapping under the argument that contains it: ``by``, ``unit`` or
    ``columns``.
    """
    if len(targets) == 1 or request.rankings_from_predictions or request.base_role is not None:
        name, available = unknown[-1], list(targets[-1].table.types)
    else:
        name, available = (
            text,
            sorted({column for target in targets for column in target.table.types}),
        )
    is_base = request.base_role is not None or (
        request.rankings_from_predictions and not request.is_ranking
    )
    holder = f"{request.base_role or 'predictions'} do not have" if is_base else "no input has"
    if mapped in request.group_expressions or mapped == UNIT_COLUMN:
        argument = (
            f"by: {quote_excerpt(f'{mapped}={text}')}"
            if mapped in request.group_expressions
            else f"unit: {quote_excerpt(text)}"
        )
        missing = next((candidate for candidate in unknown if candidate != text), None)
        if missing is None and split_table_name(text) is not None:
            problem = f"{argument} is a column that {holder}"
        elif missing is None:
            problem = (
                f"{argument} is no expression over the columns of a row in the SQL of"
                f" {targets[-1].table.dialect}"
            )
        else:
            problem = f"{argument} reads {quote_excerpt(missing)}, which {holder}"
    else:
        problem = f"columns maps to {quote_excerpt(name)}, which {holder}"
        for target in targets:
            if advice := describe_nested_rows(target, name):
                return join_sentences(problem, advice)
    return suggest_choice(problem, name, available, "There are")


_CALL = re.compile(r"[A-Za-z_]\w*\(.*\)")
"""Pattern of a function call, such as ``DATE(ts)``."""


def assign_internal_names(by: Sequence[str], reserved_names: Iterable[str]) -> dict[str, str]:
    """Assign names in the statement to ``by`` columns.

    A column keeps its name unless a CTE has a column of that name.
    """
    reserved = {name.lower() for name in reserved_names}
    names = {name: name for name in by if name.lower() not in reserved}
    for name in by:
        free = (f"by_{name}{'_' * count}" for count in range(len(by) + 1))
        names.setdefault(
            name,
            next(
                candidate
                for candidate in free
                if candidate not in names.values() and candidate not in by
            ),
        )
    return names


@dataclass(frozen=True)
class _ColumnMatch:
    """A ``by`` column: its inputs, its name, and True if inspection found it."""

    roles: list[str]
    column: str
    is_seen: bool


def find_group_columns(inputs: BoundInputs, mapping: Mapping[str, str]) -> tuple[GroupColumn, ...]:
    """Find the ``by`` columns among the inputs, and name them in the statement.

    Raises:
        InputError: One message for each column that no input has, or that cannot be grouped by.
    """
    request, by_role = inputs.request, inputs.by_role
    if not request.group_by:  # names that are reserved take a reading of all relations
        return ()
    matches, problems = [], []
    for name in request.group_by:
        try:
            matches.append(_find_column(name, inputs, mapping))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError(*problems, *_explain_groupings(request.group_by, inputs))
    labels = [
        label
        if name in request.group_expressions or match.is_seen or label.lower() != column.lower()
        else column  # in the case that the engine gives it
        for name, match in zip(request.group_by, matches, strict=True)
        for label, column in [(request.group_labels[name], match.column)]
    ]
    reserved = [
        *request.reserved_names,
        *(
            f"{to_sql_name(name)}_{suffix}"
            for metric in (request.metrics if request.confidence is not None else ())
            for name in (metric.sql_column, *metric.column_names)
            for suffix in INTERVAL_SUFFIXES
        ),
        *([SLICE_NUMBER] if request.grouping_sets else []),
        *([SCORE_NAME] if request.base_role or request.rankings_from_predictions else []),
    ]
    internal = assign_internal_names(list(dict.fromkeys(labels)), reserved)
    return tuple(
        GroupColumn(
            internal[label],
            label,
            name,
            {
                role: str(by_role[role].find_column(match.column))
                if match.is_seen
                else match.column
                for role in match.roles
            },
        )
        for name, label, match in zip(request.group_by, labels, matches, strict=True)
    )


def _explain_groupings(names: Sequence[str], inputs: BoundInputs) -> list[str]:
    """Return advice on groupings that are written as the command line has them."""
    tables = [bound_input.table for bound_input in inputs.by_role.values()]
    groupings = [[] if name == "total" else name.split(",") for name in names]
    if max(map(len, groupings)) == 1 or not all(
        any(table.find_column(name) for table in tables) for part in groupings for name in part
    ):
        return []
    text = groupings[0] if len(groupings) == 1 else groupings
    return [f"In Python several columns are a list, and groupings a list of lists: by={text}"]


def describe_unseen_groups(inputs: BoundInputs) -> list[str]:
    """Return a sentence for each column that is looked for in the uninspected run alone: judgments
    may have it, too.
    """
    names = [
        column.requested_name
        for column in inputs.group_columns
        if "qrels" in inputs.by_role
        and list(column.columns) == ["run"]
        and column.requested_name not in {SYSTEM_COLUMN, f"run.{column.label}"}
    ]
    return [
        f"{name} is read from the run, and all judgments count in each {name}. If qrels has it,"
        f" too, write qrels.{name}"
        for name in names
    ]


def _split_role(name: str, inputs: Mapping[str, BoundInput]) -> tuple[str, str]:
    """Return the input that a ``by`` column names before itself, such as ``queries.country``, empty
    if none, and the column.
    """
    role, dot, column = name.partition(".")
    tables = [bound_input.table for bound_input in inputs.values()]
    if dot and role in inputs and not any(name in table.types for table in tables):
        return role, column
    return "", name


def _find_column(name: str, bound: BoundInputs, mapping: Mapping[str, str]) -> _ColumnMatch:
    """Find a ``by`` column; a prefix may name its input: ``queries.country``."""
    request, inputs = bound.request, bound.by_role
    role, text = _split_role(name, inputs)
    text = text if role else mapping.get(name, name)
    argument = (
        "across" if name in request.across else "system" if name == request.call.system else "by"
    )
    if name not in mapping:
        _refuse_unnamed_expression(name, text, argument, inputs)
    else:
        _refuse_comparison(name, text, argument, inputs)
    if request.base_role is not None:
        return _find_in_base(
            name,
            text,
            argument,
            [inputs[role] for role in request.base_roles],
            request.rankings_from_predictions,
            role,
        )
    run_role = request.retrieval_role
    evaluated_roles = (
        ["predictions", "run", "qrels"] if request.rankings_from_predictions else [run_role]
    )
    if request.lists_from_queries:
        evaluated_roles = ["run", "queries"]
    searched_roles = (
        [role]
        if role
        else evaluated_roles
        if inputs[run_role].table.column_types is None
        else list(inputs)
    )
    searched_roles = [run_role, "qrels"] if searched_roles == ["qrels"] else searched_roles
    match = _find_in_rankings(name, text, argument, run_role, searched_roles, inputs)
    if run_role in match.roles and (
        request.lists_from_queries or "queries" in request.measured_columns or name == SYSTEM_COLUMN
    ):
        return match
    return replace(
        match,
        roles=[role for role in match.roles if role != "queries" or run_role not in match.roles],
    )


def _refuse_unnamed_expression(
    name: str, text: str, argument: str, inputs: Mapping[str, BoundInput]
) -> None:
    """Raise ``InputError`` for an expression in the place of the name of a column."""
    tables = [
        bound_input.table for bound_input in inputs.values() if bound_input.table.column_types
    ]
    if any(table.find_column(text) for table in tables) or not _is_expression(name, tables):
        return
    advice = (
        f"Write {argument}={f'name={name}'!r}"
        if argument != "system"
        else f"Write columns={{'system': {name!r}}} and system='system'"
    )
    raise InputError(
        f"{argument}: {quote_excerpt(name)} is an expression without a name. {advice}, or quote"
        " the name of a column"
    )


def _refuse_comparison(
    name: str, text: str, argument: str, inputs: Mapping[str, BoundInput]
) -> None:
    """Raise ``InputError`` for a constant under the name of a column, as in ``x=1``: one group of
    all rows, where a comparison is meant.
    """
    tables = [bound_input.table for bound_input in inputs.values()]
    is_column = any(table.column_types and table.find_column(name) for table in tables)
    if is_column and not find_nodes(parse_expression(text, tables[0].dialect), exp.Column):
        comparison = f"{name} = {text}"
        raise InputError(
            f"{argument}: {quote_excerpt(f'{name}={text}')} is one group of all rows, named as a"
            f" column. Write {argument}={f'name={comparison}'!r}, or where={comparison!r}"
        )


def _is_expression(text: str, tables: Sequence[SourceTable]) -> bool:
    """Return True for a call of a function, and for an expression that reads a column of one of the
    tables.
    """
    if _CALL.fullmatch(text) or not tables:
        return _CALL.fullmatch(text) is not None
    try:
        tree = parse_expression(text, tables[0].dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        return False
    names = {
        part.name
        for column in find_nodes(tree, exp.Column)
        for part in (column.parts[:-1] if column is tree else column.parts)
    }
    return any(table.find_column(name) for table in tables for name in names)


_RUNS_ADVICE = (
    "For several systems give a run of each, run={'old': ..., 'new': ...}, or name their column"
    " with system=, in evaluate with by="
)
_SCORES_ADVICE = (
    "For several systems give scores of each, columns={'score': ['old', 'new']}, or name their"
    " column with system=, in evaluate with by="
)


def _find_in_base(
    name: str,
    text: str,
    argument: str,
    bases: Sequence[BoundInput],
    rankings_from_predictions: bool,
    prefix: str,
) -> _ColumnMatch:
    """Find a column of the evaluated input.

    If the input is composed of several, the column is one of the first, and of others that have it.
    """
    first, *rest = bases
    column = first.find_column(text) if prefix in {"", first.role.name} else None
    if column is None:
        available = first.table.types
        start, advice = (
            ("", _SCORES_ADVICE)
            if name == SYSTEM_COLUMN
            else (f"{argument}: ", did_you_mean(name, available))
        )
        raise InputError(
            join_sentences(
                f"{start}{first.role.name} have no column {quote_excerpt(name)}",
                first.table.explain_folders(name) or advice,
                f"There are: {enumerate_names(available)}",
            )
        )
    holders = [
        bound_input.role.name
        for bound_input in rest
        if not prefix and bound_input.find_column(column) is not None
    ]
    return _ColumnMatch(
        [first.role.name, *holders, *(("run", "qrels") if rankings_from_predictions else ())],
        column,
        first.table.column_types is not None,
    )


def _find_in_rankings(
    name: str,
    text: str,
    argument: str,
    run_role: str,
    searched_roles: list[str],
    inputs: Mapping[str, BoundInput],
) -> _ColumnMatch:
    """Find a column of the run or of the input that it is assembled from, or else of the queries
    table.
    """
    run = inputs[run_role]
    holders = {}
    for role in searched_roles:
        column = inputs[role].find_column(text)
        if column is not None and column not in [
            inputs[role].columns.get(measure) for measure in inputs[role].role.measure_columns
        ]:
            holders[role] = column
    is_inspected = run.table.column_types is not None
    if run_role in holders:
        return _ColumnMatch(list(holders), holders[run_role], is_inspected)
    if "queries" in holders:
        return _ColumnMatch(["queries"], holders["queries"], is_inspected)
    column = run.find_column(text)
    if column is not None and column == run.columns.get("score", run.find_column("score")):
        raise InputError(
            f"{argument} cannot name {column!r}, which is the score of the run. Rename the column"
        )
    if (
        only := next((role for role in inputs if inputs[role].find_column(text) is not None), None)
    ) is not None:
        advice = (
            _RUNS_ADVICE
            if name == SYSTEM_COLUMN
            else "A column to group by is one of the run or of the queries table"
        )
        raise InputError(f"{argument}: {name!r} is in {only} only. {advice}")
    available = [column for bound_input in inputs.values() for column in bound_input.table.types]
    start, advice = (
        ("", _RUNS_ADVICE)
        if name == SYSTEM_COLUMN
        else (f"{argument}: ", did_you_mean(name, available))
    )
    holder = "The run" if run_role == "run" else f"The input {run_role}"
    listing = f"{holder} has: {enumerate_names(run.table.types)}"
    systems = dict.fromkeys(
        member.constants[SYSTEM_COLUMN]
        for member in run.table.members
        if SYSTEM_COLUMN in member.constants
    )
    if argument == "system" and systems:
        advice, listing = f"Each run is a system: {enumerate_names(systems)}", "Leave system= out"
    if any(f"{name}=" in part for path in list_paths(run.table.label) for part in path.parts):
        advice = (
            "Folders are columns of files that name theirs, such as Parquet and CSV. Make such"
            " files"
        )
    raise InputError(
        join_sentences(f"{start}no input has a column {quote_excerpt(name)}", advice, listing)
    )
