"""Which columns tell groups apart: those of what is evaluated, or what is known of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlrank.engines.names import internal_names
from sqlrank.errors import InputError, suggestion
from sqlrank.statement.keys import SCORED_BY, SLICE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.inputs.input import Input
    from sqlrank.question import Question


@dataclass(frozen=True)
class _Found:
    """A ``by`` column: the inputs that have it, its name there, and whether that could be looked up."""

    roles: list[str]
    column: str
    is_seen: bool


def group(question: Question, inputs: Mapping[str, Input], given: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Let inputs know their ``by`` columns; return what these are called in the result and in the statement, and those of queries alone.

    Raises:
        InputError: columns that no input has, or that cannot be grouped by, all of them.
    """
    found, problems = [], []
    for name in question.by:
        try:
            found.append(_find(name, question, inputs, given))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\n".join(problems))
    is_named = [item.is_seen or any(item.column in inputs[role].computed for role in item.roles) for item in found]
    shown = [name if is_so else item.column for name, item, is_so in zip(question.by, found, is_named, strict=True)]
    reserved = [*question.inner_names, *([SLICE] if question.sets else []), *([SCORED_BY] if question.base or question.labelled else [])]
    internal = internal_names(list(dict.fromkeys(shown)), reserved)
    by = [internal[name] for name in shown]
    for item, name in zip(found, by, strict=True):
        for role in item.roles:
            inputs[role].names[name] = str(inputs[role].column(item.column)) if item.is_seen else item.column
            inputs[role].by.append(name)
    return shown, by, [name for item, name in zip(found, by, strict=True) if item.roles == ["queries"]]


def _find(name: str, question: Question, inputs: Mapping[str, Input], given: Mapping[str, str]) -> _Found:
    """Return a ``by`` column; an input may be named before a dot: ``queries.country``."""
    role, dot, rest = name.partition(".")
    is_told = bool(dot) and role in inputs and not any(name in (item.table.types or ()) for item in inputs.values())
    text = rest if is_told else given.get(name, name)
    if question.base is not None:
        return _of_base(name, text, [inputs[role] for role in question.bases], question.labelled, role if is_told else "")
    blind = ["predictions", "run", "qrels"] if question.labelled else ["run"]
    told = [role] if is_told else blind if inputs["run"].table.types is None else list(inputs)
    return _of_rankings(name, text, ["run", "qrels"] if told == ["qrels"] else told, inputs)


def _of_base(name: str, text: str, bases: Sequence[Input], labelled: bool, told: str) -> _Found:
    """Find a column of what is evaluated; where that is joined of several, it is one of the first, and of others that have it."""
    first, *others = bases
    column = first.column(text) if told in {"", first.role.name} else None
    if column is None:
        there = first.table.types or {}
        raise InputError(f"by: {first.role.name} have no column {name!r}{suggestion(name, there)} There are: {', '.join(there)}")
    holders = [item.role.name for item in others if not told and item.column(column) is not None]
    return _Found([first.role.name, *holders, *(("run", "qrels") if labelled else ())], column, first.table.types is not None)


def _of_rankings(name: str, text: str, told: list[str], inputs: Mapping[str, Input]) -> _Found:
    run = inputs["run"]
    holders = {}
    for role in told:
        column = inputs[role].column(text)
        if column is not None and column not in [inputs[role].names.get(measure) for measure in inputs[role].role.measures]:
            holders[role] = column
    is_seen = run.table.types is not None
    if "run" in holders:
        return _Found([role for role in holders if role != "queries"], holders["run"], is_seen)
    if "queries" in holders:
        return _Found(["queries"], holders["queries"], is_seen)
    column = run.column(text)
    if column is not None and column == run.names.get("score", run.column("score")):
        raise InputError(f"by cannot name {column!r}, which is the score of the run; rename the column")
    if "qrels" in inputs and inputs["qrels"].column(text) is not None:
        raise InputError(f"by: {name!r} is in qrels only; a column to group by is one of the run or of the queries table")
    there = [column for item in inputs.values() for column in item.table.types or ()]
    raise InputError(f"by: no input has a column {name!r}{suggestion(name, there)} The run has: {', '.join(run.table.types or ())}")
