"""Describe columns that inputs lack: which columns of the tables may be meant, and the mapping to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import enumerate_names, find_misspelling, join_sentences
from sqlrank.inputs.nested_rows import NESTED_TYPES, describe_nested_rows, has_no_rows
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import normalize_name
from sqlrank.rendering.dialects import get_dialect

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.registry.roles import ColumnSpec


def describe_missing_columns(inputs: Mapping[str, BoundInput], needed: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Describe the needed columns that inputs lack, in one message for each input that lacks any, by role."""
    if _are_exchanged(inputs, needed):
        run, qrels = inputs["run"].label, inputs["qrels"].label
        return {"run": f"{run} has the column relevance and no score, and {qrels} the column score and no relevance. Exchange the two"}
    suggested = {
        role: _suggest_columns(
            inputs[role], names, [inputs[other] for other, others in needed.items() if other != role and {*names} & {*others}]
        )
        for role, names in needed.items()
    }
    shares_table = {"run", "qrels"} <= suggested.keys() and inputs["run"].table is inputs["qrels"].table
    if shares_table and (shared := suggested["run"] | suggested["qrels"]):
        # The caller gave predictions, of which rankings and judgments are made.
        return {"run": _describe_input(inputs["run"], shared, (), f"predictions ({inputs['run'].table.label})")}
    messages = {
        role: f"{inputs[role].label}: no rows are at the top of the file. {advice}"
        for role in needed
        if not suggested[role] and inputs[role].column_type(needed[role][0]).startswith(NESTED_TYPES)
        if (advice := describe_nested_rows(inputs[role]))
    }
    for role, columns in suggested.items():
        others = [other for other_role, other in suggested.items() if other_role != role]
        # One unqualified name would map both inputs to the same column.
        qualified = {name for name, column in columns.items() if any(name in other and other[name] != column for other in others)}
        if columns:
            messages[role] = _describe_input(inputs[role], columns, qualified)
    return messages


def _are_exchanged(inputs: Mapping[str, BoundInput], needed: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the run has what the judgments lack, and the other way round."""
    measures = {"run": ("score", "relevance"), "qrels": ("relevance", "score")}
    return all(
        role in needed
        and own in needed[role]
        and own not in inputs[role].columns
        and inputs[role].table.column_types is not None
        and inputs[role].table.find_column(other) is not None
        for role, (own, other) in measures.items()
    )


def _suggest_columns(bound_input: BoundInput, needed: Sequence[str], related: Sequence[BoundInput]) -> dict[str, str | None]:
    """Return the needed columns that an input lacks, each with the column of its table that may be meant, None if there is none.

    Inputs that are ``related`` are joined by columns that often have the same names.
    """
    missing = [name for name in needed if name not in bound_input.columns]
    if not missing:
        return {}
    other_names, types = load_registry().synonyms["columns"], bound_input.table.column_types or {}
    tables = [other.table for other in related if other.table is not bound_input.table]
    suggested: dict[str, str | None] = {}
    for name in missing:
        column, names = bound_input.role.columns.get(name), other_names.get(name, [])
        rest = {normalize_name(other): other for other in types if other not in {*suggested.values(), *bound_input.columns.values()}}
        matches = [rest[other] for other in map(normalize_name, names if name in names else [name, *names]) if other in rest]
        # The first name that is of the type, of a text and a list the list, and that the other tables have, too.
        fits = {other: column is None or _may_hold(column, types[other]) for other in matches}
        matches.sort(key=lambda other: (not fits[other], not all(table.find_column(other) for table in tables if table.column_types)))
        if name == "score" and bound_input.role.list_relation is not None and not matches:
            matches = [other for other in rest.values() if is_distance(other)]
        suggested[name] = matches[0] if matches else find_misspelling(name, rest.values())
    return suggested


def is_distance(column: str) -> bool:
    """Return True if a column is named as a distance, of which the least is best."""
    name = normalize_name(column)
    return name.endswith(("distance", "dist")) or name in load_registry().synonyms["columns"]["distance"]


def describe_distance(run: BoundInput) -> str:
    """Return a note on scores that are a column of distances, of which the least is best, empty for other scores."""
    column = run.columns.get("score", "")
    if column not in (run.table.column_types or ()) or not is_distance(column):
        return ""
    return (
        f"run.score is the column {column!r}, of which the greatest is the first. If the least distance is best, give "
        f"columns={{'score': {negate_column(column, run.table.dialect)!r}}}"
    )


def negate_column(column: str, dialect: str) -> str:
    """Return the expression that makes scores of a column of distances."""
    return exp.Neg(this=exp.column(exp.to_identifier(column))).sql(get_dialect(dialect).sqlglot_name)


def _may_hold(column: ColumnSpec, duckdb_type: str) -> bool:
    """Return True if values of a type may be those of a column: lists in a list, numbers in a number, single values in a key."""
    is_nested = duckdb_type.endswith("]") or duckdb_type.startswith(NESTED_TYPES)
    return is_nested == (column.type == "list") and not (column.is_number and duckdb_type == "VARCHAR")


def _describe_input(bound_input: BoundInput, columns: Mapping[str, str | None], qualified: Collection[str], label: str = "") -> str:
    available = list(bound_input.table.column_types or ())
    is_single = len(columns) == 1
    is_of_systems = bool(bound_input.table.members) and {"query_id", "doc_id"} <= columns.keys()
    problem = f"{label or bound_input.label}: no column{'' if is_single else 's'} {', '.join(map(repr, columns))}"
    if has_no_rows(bound_input):
        return f"{label or bound_input.label} has no rows"
    if nested_rows := describe_nested_rows(bound_input):
        return join_sentences(problem, nested_rows)
    meant = ", ".join(repr(column) for column in columns.values() if column)
    distances = {name for name, column in columns.items() if name == "score" and column and is_distance(column)}
    values = {
        name: negate_column(column, bound_input.table.dialect) if column and name in distances else column
        for name, column in columns.items()
    }
    mapping = ", ".join(
        f"{(f'{bound_input.role.name}.{name}' if name in qualified else name)!r}: {repr(value) if value else '...'}"
        for name, value in values.items()
    )
    return join_sentences(
        problem,
        "Names of several runs are systems. If yours are queries, give inputs={'answers': ...} with a row for each"
        if is_of_systems
        else "",
        f"Did you mean {meant}?" if meant else "",
        f"Say which {'it is' if is_single else 'they are'} with columns={{{mapping}}}{_suggest_values(columns, available)}",
        "The least distance is best, and the greatest score is" if distances else "",
        f"There are: {enumerate_names(available)}",
    )


def _suggest_values(columns: Collection[str], available: Collection[str]) -> str:
    """Return the values in place of missing columns: ranks for scores, and a constant where every judged document is relevant."""
    if "score" in columns and "rank" in {name.lower() for name in available}:
        return ", or use the column rank with ties='rank'"
    return ", or columns={'relevance': '1'} if every row is a relevant document" if "relevance" in columns else ""
