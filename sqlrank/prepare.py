"""From a call to a statement: the only road, whether the statement is run, printed or made a model of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.engines.render import print_out, rewrite
from sqlrank.inputs import checks, together
from sqlrank.inputs.columns import Columns
from sqlrank.inputs.rules import rules, sound
from sqlrank.inputs.several import find
from sqlrank.inputs.steps import steps_of
from sqlrank.inputs.where import keep, keep_query
from sqlrank.plans.choice import choose
from sqlrank.plans.stamp import stamp
from sqlrank.statement.statement import Rows, Statement, build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.engines.database import Database
    from sqlrank.inputs.checks import Check, Report
    from sqlrank.inputs.input import Input
    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value
    from sqlrank.question import Question

AUDIT_BROKEN, AUDIT_ROWS = "audit_broken", "audit_rows"
"""The number of rows of what is evaluated that break a rule, and of all of them."""


@dataclass(frozen=True)
class Prepared:
    """A question with its statement, and what is still to be checked in the result.

    ``report`` says what of the rankings was checked before, None if nothing was.
    """

    question: Question
    columns: Columns
    statement: Statement
    plans: Mapping[str, Value]
    is_audited: bool
    report: Report | None

    def text(self, is_run: bool = False) -> str:
        """Return the statement as the caller could run it, or, to be run now, over what was made of the sources for this call."""
        database = self.columns.database
        made = tuple((table.written, table.node) for table in self.columns.made) if is_run else ()
        return _text(self.statement, made, database.dialect, database.keeps)


def prepare(question: Question, database: Database, check: Check = "off", is_whole: bool = False) -> Prepared:
    """Return the statement of a question over the sources that a database finds; ``check`` says what is checked of their rows.

    ``is_whole`` keeps in every step what nobody reads.

    Raises:
        MetricError: a plan that is not possible.
        InputError: sources or rows that cannot be evaluated, with all problems found.
    """
    tables = {role: find(database, role, source) for role, source in question.sources.items()}
    columns = Columns(question, tables, database)
    keep(question.call.where, columns.inputs, question.labelled, database.dialect)
    if question.call.query is not None:
        across = columns.across_lists
        keep_query(question.call.query, {role: item for role, item in columns.inputs.items() if role not in across})
    is_audited = check != "off" and database.looks
    report = _check_rankings(question, columns, check) if is_audited and question.is_ranking else None
    if is_audited:
        for item in columns.others:
            checks.check_values(database, item, columns.needed[item.role.name], requirements(question))
        for item in [*columns.others, *([columns.base] if columns.base is not None else [])]:
            _check_unique(columns, item)
    plans = choose(question, columns, None if report is None else report.rows)
    steps = steps_of(columns, plain=plans["lists"] == "plain")
    asked = [item.planned(plans) for item in question.asked]
    base = question.base
    if is_audited and base is not None:
        shown = dict(zip(steps.shape.by, steps.names, strict=True))
        together.check_settings(columns, asked, steps, shown)
    rows = Rows(
        steps.shape,
        steps.names,
        question.call.per_query,
        weighted="weight" in columns.needed.get("queries", ()),
        with_weights=question.call.with_weights,
        is_whole=is_whole,
        base=base,
        confidence=question.confidence,
        list_column=steps.sources[base].list_column if base is not None else "query_id",
    )
    metrics = ", ".join(str(item.metric) for item in question.asked)
    lines = [f"sqlrank {__version__}: {metrics}", *stamp(question, plans)]
    if not database.looks and "queries" in columns.needed and not rows.weighted:
        lines.append("queries: no weights are read of a table that cannot be looked at; columns={'weight': 'weight'} reads them")
    lines += _unread(columns) if not database.looks else []
    audits = _audits(question, columns) if is_audited else {}
    statement = _build(_Composed(question.library, tuple(asked), steps.sources, rows, "\n".join(lines), audits, _types(columns)))
    return Prepared(question, columns, statement, plans, is_audited, report)


def _unread(columns: Columns) -> list[str]:
    """Return a line for each column of a further input that is taken to be what it is by default, since it cannot be looked up."""
    others = (item for role, item in columns.inputs.items() if role in columns.needed and role not in {"predictions", "queries"})
    known = ((item, column) for item in others for column in item.role.columns.values() if column.default is not None)
    return [
        f"{item.role.name}: {column.name} is taken to be {column.default:g}; "
        f"columns={{'{item.role.name}.{column.name}': '{column.name}'}} reads it of a table that cannot be looked at"
        for item, column in known
        if column.name not in item.names
    ]


def _types(columns: Columns) -> tuple[str, ...]:
    """Return the types of all columns that are read."""
    return tuple(columns.inputs[role].type_of(name) for role, names in columns.needed.items() for name in names)


class _Composed:
    """What a statement is composed of; equal ones give equal statements, so that a call that is made again is not composed again."""

    def __init__(
        self, library: Library, asked: tuple[Asked, ...], sources: Any, rows: Rows, stamp: str, audits: Any, types: tuple[str, ...]
    ) -> None:
        self.parts = (asked, library, sources, rows, stamp, audits)
        said = tuple((item.metric, tuple(sorted(item.settings.items(), key=str))) for item in asked)
        # Trees are equal whatever the types of their columns are, on which it depends where a cast is written.
        self._key = (library, said, tuple(sources.items()), repr(rows), stamp, tuple(audits.items()), types)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Composed) and self._key == other._key


@lru_cache(maxsize=64)
def _build(composed: _Composed) -> Statement:
    return build(*composed.parts)


@lru_cache(maxsize=64)
def _text(statement: Statement, made: tuple[tuple[exp.Expr, exp.Expr], ...], dialect: str, keeps: bool) -> str:
    tree = _rewritten(statement, dialect, keeps)
    return print_out(tree, statement.stamp, dialect, made)


@lru_cache(maxsize=64)
def _rewritten(statement: Statement, dialect: str, keeps: bool) -> Any:
    return rewrite(statement.tree, dialect, statement.stamp.partition("\n")[0].partition(": ")[2], keeps)


def _audits(question: Question, columns: Columns) -> dict[str, exp.Select]:
    """Return the columns that checks read in the result, by role."""
    audits = {"run": together.audit()} if question.is_ranking and _is_joined(question, columns) else {}
    if columns.base is not None:
        audits[columns.base.role.name] = _audit(question, columns, columns.base)
    return audits


def _is_joined(question: Question, columns: Columns) -> bool:
    """Whether the statement joins run and judgments list by list, so that its result shows what is wrong with them."""
    return "qrels" in columns.inputs and question.asked[0].file.kind != "curves"


def _audit(question: Question, columns: Columns, base: Input) -> exp.Select:
    """Return a column that counts the rows that break any rule, and one that counts all."""
    keys = {name for name, column in base.role.columns.items() if column.type == "key"}
    # Only of keys: each of several scores is read in turn, and may be of another type.
    found = rules(
        base.checks, columns.needed[base.role.name], requirements(question), lambda name: base.type_of(name) if name in keys else ""
    )
    conditions = list(found.conditions.values())
    is_sound = sound(conditions)
    condition = is_sound if is_sound is not None else exp.or_(*conditions or [exp.false()])
    kept, rest = (exp.Literal.number(number) for number in ((0, 1) if is_sound is not None else (1, 0)))
    # A sum, since that of no rows is NULL.
    broken = exp.Sum(this=exp.Case(ifs=[exp.If(this=condition, true=kept)], default=rest))
    counts = exp.alias_(broken, AUDIT_BROKEN), exp.alias_(exp.Count(this=exp.Star()), AUDIT_ROWS)
    return exp.select("group_id", *counts).from_(base.role.name)


def requirements(question: Question) -> list[str]:
    """Return what metrics require of rows, such as ``binary labels``."""
    return list(dict.fromkeys(text for item in question.asked for text in item.file.requires))


def _check_unique(columns: Columns, item: Input) -> None:
    """Check of an input that is no ranking that rows are unique, where they have to be."""
    if item.role.unique:
        checks.check_unique(columns.database, item, item.role.unique)
    if "rank" in columns.needed[item.role.name]:
        checks.check_unique(columns.database, item, ("rank",))


def _check_rankings(question: Question, columns: Columns, check: Check) -> Report:
    """Check what can be checked of rankings before the statement runs."""
    database, inputs = columns.database, columns.inputs
    needed = {role: names for role, names in columns.needed.items() if inputs[role].role.lists is not None}
    kept = {role for role in needed if any(question.library.rows_of(role, item.settings) for item in question.asked)}
    report = checks.check_rows(database, inputs, needed, check if _is_joined(question, columns) else "full", kept)
    policy = question.settings.get("queries", "truth")
    together.check_chosen(database, inputs, {"run": ["run"], "intersect": ["run", "qrels"]}.get(str(policy), ["qrels"]))
    if policy == "strict":
        together.check_strict(database, inputs)
    if question.uses("ties", "error"):
        together.check_ties(database, inputs["run"])
    together.check_probabilities(database, question.library, question.asked, report.top_grade)
    return report
