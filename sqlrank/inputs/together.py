"""Do the inputs belong together? What only shows when run, judgments and queries are put side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs.checks import COMMON, EXAMPLES, Report, describe, over, problem, refuse, short
from sqlrank.library.selects import read_select, rules_of
from sqlrank.statement.bind import apply, bind
from sqlrank.statement.expand import Known, expand
from sqlrank.statement.keys import SLICE, key, named
from sqlrank.statement.relations import Relations, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.columns import Columns
    from sqlrank.inputs.input import Input
    from sqlrank.inputs.steps import Steps
    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library


def check_result(
    database: Database, inputs: Mapping[str, Input], report: Report, audited: tuple[float, float], expected: float | None
) -> None:
    """Raise ``InputError`` for what only the join of run and judgments shows.

    ``audited`` are the judged documents of positive relevance after the join and those of them that were retrieved;
    ``expected`` is what the first must be without duplicates, None if that is not known.
    """
    docs, retrieved = audited
    if not report.all_rows and docs != expected:
        refuse(_judged_duplicates(database, inputs["run"], inputs["qrels"]))
    if not retrieved:
        check_coverage(database, inputs)


def _judged_duplicates(database: Database, run: Input, qrels: Input) -> list[str]:
    """Find documents of positive relevance that stand twice in a list: a join with the judgments is much smaller than the run."""
    columns = [*(named(name, "run") for name in run.by), *(exp.column(name, table="run") for name in COMMON)]
    same = _same(COMMON)
    times = exp.alias_(exp.Count(this=exp.Star()), "times")
    queries = []
    for shown in (False, True):
        judged = exp.select(*COMMON).from_(qrels.select((*COMMON, "relevance"), shown=shown).subquery("judged"))
        judged = judged.where("relevance > 0").group_by(*COMMON)
        query = exp.select(*columns, times).from_(run.select(COMMON, shown=shown).subquery("run"))
        queries.append(query.join(judged.subquery("qrels"), on=same).group_by(*columns).having("COUNT(*) > 1"))
    examples = queries[0].limit(EXAMPLES)
    if not database.rows(examples):
        return []
    what = f"({', '.join(c.name for c in columns)}) stands more than once; keep one row of each"
    return [describe(database, run, what, examples, queries[1])]


def _same(keys: tuple[str, ...]) -> exp.Condition:
    return exp.and_(*(exp.EQ(this=exp.column(key, table="run"), expression=exp.column(key, table="qrels")) for key in keys))


def audit() -> exp.Select:
    """Return the columns that :func:`check_result` reads, as a metric file."""
    return read_select("checks", "audit.sql")


def check_coverage(database: Database, inputs: Mapping[str, Input]) -> None:
    """Raise ``InputError`` if run and qrels have no query in common, or no document of a query."""
    run = inputs["run"].select(COMMON).subquery("run")
    qrels = inputs["qrels"].select(COMMON).subquery("qrels")
    for keys, what in ((("query_id",), "query_id"), (("query_id", "doc_id"), "(query_id, doc_id)")):
        if not database.rows(exp.select("1").from_(run.copy()).join(qrels.copy(), on=_same(keys)).limit(1)):
            left = database.rows(exp.select(*keys).from_(run.copy()).limit(1))
            right = database.rows(exp.select(*keys).from_(qrels.copy()).limit(1))
            raise InputError(
                f"run and qrels have no {what} in common; run has such as {left[0]}, qrels such as {right[0]}: are they of the same collection?"
                f"{_read_as_text(inputs, keys)}"
            )


def _read_as_text(inputs: Mapping[str, Input], keys: Sequence[str]) -> str:
    """Name the keys whose type differs between run and qrels, which were compared as texts."""
    held = [(role, item, key) for role, item in inputs.items() for key in keys if key in item.as_text]
    kinds = [f"{role}.{key} is {(item.table.types or {})[item.names[key]]}" for role, item, key in held]
    return f" ({', '.join(kinds)}, and was read as text)" if kinds else ""


def check_ties(database: Database, item: Input) -> None:
    """Raise ``InputError`` if two documents of a list have the same score."""
    keys = [*map(named, item.by), exp.column("query_id"), exp.column("score")]
    tied = exp.select(*keys, exp.alias_(exp.Count(this=exp.Star()), "docs")).group_by(*keys).having("COUNT(*) > 1")
    if database.rows(over(tied.limit(1), item, ("query_id", "score"))):
        raise InputError(problem(database, item, "equal scores in a list, and ties='error'", tied, ("query_id", "score")))


def check_chosen(database: Database, inputs: Mapping[str, Input], roles: Sequence[str]) -> None:
    """Raise ``InputError`` if there is a queries table, but none of its queries is in one of these inputs."""
    for role in roles if "queries" in inputs else ():
        sides = [inputs[name].select(COMMON[:1]).subquery("run" if name == role else "qrels") for name in ("queries", role)]
        if not database.rows(exp.select("1").from_(sides[0]).join(sides[1], on=_same(COMMON[:1])).limit(1)):
            known, there = (database.rows(exp.select("query_id").from_(side.copy()).order_by("query_id").limit(1))[0][0] for side in sides)
            both = f"{inputs['queries'].shown} and {inputs[role].shown}"
            refuse([f"{both} have no query_id in common; queries has such as {short(known)}, {role} such as {short(there)}"])


def check_strict(database: Database, inputs: Mapping[str, Input]) -> None:
    """Raise ``InputError`` unless run and qrels hold the same queries."""
    problems = list(_unmatched(database, inputs, ("qrels", "run"), "judged, but not answered, and queries='strict'"))
    problems += _unmatched(database, inputs, ("run", "qrels"), "answered, but not judged, and queries='strict'")
    refuse(problems)


def _unmatched(database: Database, inputs: Mapping[str, Input], roles: tuple[str, str], what: str) -> Iterator[str]:
    """Say which queries to evaluate are in the first of two inputs only."""
    these, other = (inputs[role].select(COMMON[:1]).subquery(name) for role, name in zip(roles, ("these", "other"), strict=True))
    query = exp.select("query_id").distinct().from_(these).where(exp.Not(this=_among(other)))
    if "queries" in inputs:
        query = query.where(_among(inputs["queries"].select(COMMON[:1]).subquery("chosen")))
    if found := database.rows(query.limit(EXAMPLES)):
        yield f"queries {what}: {', '.join(short(row[0]) for row in found)}; see more: {database.text(query)}"


def _among(source: exp.Subquery) -> exp.In:
    return exp.In(this=exp.column("query_id"), query=exp.select("query_id").from_(source).subquery())


def check_probabilities(database: Database, library: Library, asked: Sequence[Asked], top_grade: float | None) -> None:
    """Raise ``InputError`` if a function that gives a probability is above 1 at the greatest relevance."""
    for item in asked:
        for slot in item.uses.facts("Probability") if top_grade is not None else ():
            grade = exp.Literal.number(repr(float(top_grade or 0)))
            probability = apply(library, slot, [grade], item.settings)
            if database.rows(exp.select(probability))[0][0] > 1:
                raise InputError(
                    f"{item.metric}: a relevance of {top_grade:g} gives a {slot} probability above 1; "
                    f"give the highest grade of the scale with max_grade, or another function with {slot}"
                )


def check_settings(columns: Columns, asked: Sequence[Asked], steps: Steps, shown: Mapping[str, str]) -> None:
    """Raise ``InputError`` for rows that a file finds which the settings of a metric name with ``-- Check:``.

    ``shown`` are the caller's names of the columns that tell groups apart.
    """
    question = columns.question
    library = question.library
    problems = []
    looked: set[tuple[exp.Expr, bool]] = set()
    for item in asked:
        for name in item.uses.facts("Check"):
            file = library.checks[name]
            tree: Any = bind(library, read_select(file), item.settings, item.file.params)
            per_list = question.call.per_query or item.settings.get("level") == "query"
            if (tree, per_list) in looked:
                continue
            looked.add((tree.copy(), per_list))
            relations = Relations(library, steps.sources, steps.shape)
            for table in list(tree.find_all(exp.Table)):
                table.replace(renamed(relations.read(table.name, item.settings), table.alias_or_name))
            expand(tree, Known(partial(relations.keys, per_list=per_list)))
            keys = [column.name for column in tree.selects[:-1]]
            tree = tree.order_by(*map(key, keys)) if keys else tree
            for known, query in relations.ctes.items():
                tree = tree.with_(known, as_=query)
            advice = rules_of(file)[0].meaning
            for row in columns.database.rows(columns.executable(tree.limit(EXAMPLES))):
                pairs = zip(keys, row, strict=False)
                where = ", ".join(f"{shown.get(column, column)}={short(value)}" for column, value in pairs if column != SLICE)
                problems.append(f"{item.metric}: {row[-1]:,.10g} {tree.selects[-1].alias}{where and ' where '}{where}; {advice}")
    refuse(problems)
