"""Find the columns of ``by`` among the inputs, and assign them names for use inside the statement."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.layout import GroupColumn
from sqlrank.compiler.row_keys import SCORE_NAME
from sqlrank.engines.file_sources import list_paths
from sqlrank.engines.identifiers import QUOTES
from sqlrank.errors import InputError, did_you_mean, enumerate_names, join_sentences, quote_excerpt
from sqlrank.inputs.allowed_syntax import DisallowedSqlError
from sqlrank.inputs.user_sql import parse_expression
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.rendering.cte_rewrites import SLICE_NUMBER
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.engines.database import SourceTable
    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.resolve import ResolvedRequest


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
        names.setdefault(name, next(candidate for candidate in free if candidate not in names.values() and candidate not in by))
    return names


@dataclass(frozen=True)
class _ColumnMatch:
    """A ``by`` column: its inputs, its name, and True if inspection found it."""

    roles: list[str]
    column: str
    is_seen: bool


def find_group_columns(request: ResolvedRequest, inputs: Mapping[str, BoundInput], mapping: Mapping[str, str]) -> tuple[GroupColumn, ...]:
    """Find the ``by`` columns among the inputs, and name them in the statement.

    Raises:
        InputError: One message for each column that no input has, or that cannot be grouped by.
    """
    matches, problems = [], []
    for name in request.group_by:
        try:
            matches.append(_find_column(name, request, inputs, mapping))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError(*problems)
    labels = [name if _is_label(name, match, inputs) else match.column for name, match in zip(request.group_by, matches, strict=True)]
    reserved = [
        *request.reserved_names,
        *([SLICE_NUMBER] if request.grouping_sets else []),
        *([SCORE_NAME] if request.base_role or request.rankings_from_predictions else []),
    ]
    internal = assign_internal_names(list(dict.fromkeys(labels)), reserved)
    return tuple(
        GroupColumn(
            internal[label],
            label,
            name,
            {role: str(inputs[role].find_column(match.column)) if match.is_seen else match.column for role in match.roles},
        )
        for name, label, match in zip(request.group_by, labels, matches, strict=True)
    )


def describe_unseen_groups(columns: Iterable[GroupColumn], inputs: Mapping[str, BoundInput]) -> list[str]:
    """Return a sentence for each column that is looked for in the uninspected run alone: judgments may have it, too."""
    names = [
        column.requested_name
        for column in columns
        if "qrels" in inputs and list(column.columns) == ["run"] and column.requested_name not in {SYSTEM_COLUMN, f"run.{column.label}"}
    ]
    return [
        f"{name} is read from the run, and all judgments count in each {name}. If qrels has it, too, write qrels.{name}" for name in names
    ]


def _is_label(name: str, match: _ColumnMatch, inputs: Mapping[str, BoundInput]) -> bool:
    """Return True if a text of ``by`` is the name in the result, not the name of the column."""
    is_known = match.is_seen or any(match.column in inputs[role].expressions for role in match.roles)
    return is_known and not name.startswith(QUOTES)


def _find_column(name: str, request: ResolvedRequest, inputs: Mapping[str, BoundInput], mapping: Mapping[str, str]) -> _ColumnMatch:
    """Find a ``by`` column; a prefix may name its input: ``queries.country``."""
    role, dot, column_name = name.partition(".")
    has_prefix = bool(dot) and role in inputs and not any(name in (bound_input.table.column_types or ()) for bound_input in inputs.values())
    text = column_name if has_prefix else mapping.get(name, name)
    argument = "across" if name in request.across else "system" if name == request.original.system else "by"
    tables = [bound_input.table for bound_input in inputs.values() if bound_input.table.column_types]
    if name not in mapping and not any(table.find_column(text) for table in tables) and _is_expression(name, tables):
        advice = (
            f"Write {argument}={f'name={name}'!r}" if argument != "system" else f"Write columns={{'system': {name!r}}} and system='system'"
        )
        raise InputError(f"{argument}: {quote_excerpt(name)} is an expression without a name. {advice}, or quote the name of a column")
    if request.base_role is not None:
        return _find_in_base(
            name,
            text,
            argument,
            [inputs[role] for role in request.base_roles],
            request.rankings_from_predictions,
            role if has_prefix else "",
        )
    run_role = request.retrieval_role
    evaluated_roles = ["predictions", "run", "qrels"] if request.rankings_from_predictions else [run_role]
    if request.lists_from_queries:
        evaluated_roles = ["run", "queries"]
    searched_roles = [role] if has_prefix else evaluated_roles if inputs[run_role].table.column_types is None else list(inputs)
    searched_roles = [run_role, "qrels"] if searched_roles == ["qrels"] else searched_roles
    match = _find_in_rankings(name, text, argument, run_role, searched_roles, inputs)
    if run_role in match.roles and ("queries" in request.measured_columns or name == SYSTEM_COLUMN):
        return match
    return replace(match, roles=[role for role in match.roles if role != "queries" or run_role not in match.roles])


def _is_expression(text: str, tables: Sequence[SourceTable]) -> bool:
    """Return True for a call of a function, and for an expression that reads a column of one of the tables."""
    if _CALL.fullmatch(text) or not tables:
        return _CALL.fullmatch(text) is not None
    try:
        tree = parse_expression(text, tables[0].dialect)
    except DisallowedSqlError:
        raise
    except InputError:
        return False
    names = {part.name for column in find_nodes(tree, exp.Column) for part in (column.parts[:-1] if column is tree else column.parts)}
    return any(table.find_column(name) for table in tables for name in names)


_RUNS_ADVICE = (
    "For several systems give a run of each, run={'old': ..., 'new': ...}, or name their column with system=, in evaluate with by="
)
_SCORES_ADVICE = (
    "For several systems give scores of each, columns={'score': ['old', 'new']}, or name their column with system=, in evaluate with by="
)


def _find_in_base(
    name: str, text: str, argument: str, bases: Sequence[BoundInput], rankings_from_predictions: bool, prefix: str
) -> _ColumnMatch:
    """Find a column of the evaluated input.

    If the input is composed of several, the column is one of the first, and of others that have it.
    """
    first, *rest = bases
    column = first.find_column(text) if prefix in {"", first.role.name} else None
    if column is None:
        available = first.table.column_types or {}
        start, advice = ("", _SCORES_ADVICE) if name == SYSTEM_COLUMN else (f"{argument}: ", did_you_mean(name, available))
        raise InputError(
            join_sentences(
                f"{start}{first.role.name} have no column {quote_excerpt(name)}", advice, f"There are: {enumerate_names(available)}"
            )
        )
    holders = [bound_input.role.name for bound_input in rest if not prefix and bound_input.find_column(column) is not None]
    return _ColumnMatch(
        [first.role.name, *holders, *(("run", "qrels") if rankings_from_predictions else ())], column, first.table.column_types is not None
    )


def _find_in_rankings(
    name: str, text: str, argument: str, run_role: str, searched_roles: list[str], inputs: Mapping[str, BoundInput]
) -> _ColumnMatch:
    """Find a column of the run or of the input that it is assembled from, or else of the queries table."""
    run = inputs[run_role]
    holders = {}
    for role in searched_roles:
        column = inputs[role].find_column(text)
        if column is not None and column not in [inputs[role].columns.get(measure) for measure in inputs[role].role.measure_columns]:
            holders[role] = column
    is_inspected = run.table.column_types is not None
    if run_role in holders:
        return _ColumnMatch(list(holders), holders[run_role], is_inspected)
    if "queries" in holders:
        return _ColumnMatch(["queries"], holders["queries"], is_inspected)
    column = run.find_column(text)
    if column is not None and column == run.columns.get("score", run.find_column("score")):
        raise InputError(f"{argument} cannot name {column!r}, which is the score of the run. Rename the column")
    if "qrels" in inputs and inputs["qrels"].find_column(text) is not None:
        raise InputError(f"{argument}: {name!r} is in qrels only. A column to group by is one of the run or of the queries table")
    available = [column for bound_input in inputs.values() for column in bound_input.table.column_types or ()]
    start, advice = ("", _RUNS_ADVICE) if name == SYSTEM_COLUMN else (f"{argument}: ", did_you_mean(name, available))
    holder = "The run" if run_role == "run" else f"The input {run_role}"
    listing = f"{holder} has: {enumerate_names(run.table.column_types or ())}"
    systems = dict.fromkeys(member.constants[SYSTEM_COLUMN] for member in run.table.members if SYSTEM_COLUMN in member.constants)
    if argument == "system" and systems:
        advice, listing = f"Each run is a system: {enumerate_names(systems)}", "Leave system= out"
    if any(f"{name}=" in part for path in list_paths(run.table.label) for part in path.parts):
        advice = "Folders are columns of files that name theirs, such as Parquet and CSV. Make such files"
    raise InputError(join_sentences(f"{start}no input has a column {quote_excerpt(name)}", advice, listing))
