"""From the inputs and what was asked for to the statement: which column is which, and what the rows are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank import checks, consistency
from sqlrank.compose import Source
from sqlrank.dialects import dialect_of
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.inputs import COLUMNS, MEASURES
from sqlrank.keys import named
from sqlrank.names import column_named, internal_names, table_named
from sqlrank.request import Labelled
from sqlrank.statement import Plan, build

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from sqlrank.inputs import Inputs
    from sqlrank.request import Request
    from sqlrank.statement import Statement


def map_columns(inputs: Inputs, request: Request, columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Map the columns of every input; return those that the metrics need of each."""
    found = inputs.found
    _refuse_lists(columns)
    unknown = [name for name in columns if name not in {*(c for cs in COLUMNS.values() for c in cs), "label", *request.by}]
    if unknown:
        raise InputError(
            f"columns maps {unknown[0]!r}, which no input has{suggestion(unknown[0], ['query_id', 'doc_id', 'score', 'rank', 'relevance', 'weight', 'label'])}"
        )
    inputs.internal = internal = internal_names(request.by, request.inner_names)
    for item in found.values():
        item.map(columns, request.by, internal)
    absent = [theirs for theirs in columns.values() if not any(item.column(theirs) for item in found.values())]
    if absent:
        there = sorted({column for item in found.values() for column in item.types})
        raise InputError(f"columns maps to {absent[0]!r}, which no input has{suggestion(absent[0], there)} There are: {', '.join(there)}")
    attributes = _attributes(inputs, request, internal)
    for role in ("run", "qrels"):
        found[role].by = [name for name in found[role].by if name not in attributes]
    _align(inputs)
    orders: tuple[str, ...] = ("rank",) if request.uses("ties", "rank") else ("score",)
    if any(item.settings.get("ties") != "rank" for item in request.asked) and orders == ("rank",):
        orders = ("rank", "score")
    needed: dict[str, tuple[str, ...]] = {"run": (*checks.COMMON, *orders), "qrels": (*checks.COMMON, "relevance")}
    if "queries" in found:
        needed["queries"] = ("query_id", "weight") if "weight" in found["queries"].names else ("query_id",)
    checks.check_columns(found, needed)
    return needed


def _align(inputs: Inputs) -> None:
    """Read a UUID as text where another input has it as text."""
    for key in (*checks.COMMON, *inputs.internal.values()):
        kinds = {role: item.type_of(key) for role, item in inputs.found.items()}
        if "VARCHAR" in kinds.values():
            for role in (role for role, kind in kinds.items() if kind == "UUID"):
                inputs.found[role].as_text.add(key)


def _attributes(inputs: Inputs, request: Request, internal: Mapping[str, str]) -> list[str]:
    """Return the ``by`` columns that only the queries table has; raise for those that no input has."""
    problems, attributes = [], []
    run = inputs.found["run"]
    for name in request.by:
        holders = {role for role, item in inputs.found.items() if internal[name] in item.by}
        if "run" in holders:
            continue
        if "queries" in holders:
            attributes.append(internal[name])
        elif (found := run.column(name)) and found == run.names.get(MEASURES["run"]):
            problems.append(_is_the_score(name))
        elif "qrels" in holders or inputs.found["qrels"].column(name):
            problems.append(f"by: {name!r} is in qrels only; a column to group by is one of the run or of the queries table")
        else:
            there = [column for item in inputs.found.values() for column in item.types]
            problems.append(f"by: no input has a column {name!r}{suggestion(name, there)} The run has: {', '.join(run.types)}")
    if problems:
        raise InputError("\n".join(problems))
    return attributes


def _is_the_score(name: str) -> str:
    return f"by cannot name {name!r}, which is the score of the run; rename the column"


def statement_over(
    request: Request, inputs: Inputs, needed: Mapping[str, tuple[str, ...]], per_query: bool, audited: bool = False
) -> Statement:
    """Return the statement over inputs whose columns are known."""
    float32, dialect = request.settings.get("score_type") == "float32", inputs.database.dialect
    if float32 and not dialect_of(dialect).has_float32:
        raise MetricError(f"score_type='float32' is not possible on {dialect}, which has doubles only; give score_type='float64'")
    sources = {role: inputs.found[role].source(COLUMNS[role] if role == "run" else columns, float32) for role, columns in needed.items()}
    internal = inputs.internal
    by = [internal[name] for name in request.by]
    attributes = [name for name in by if name not in inputs.found["run"].by]
    sets = None if request.sets is None else [[internal[name] for name in group] for group in request.sets]
    plan = Plan(by, sets, attributes, per_query, "weight" in needed.get("queries", ()), request.settings)
    statement = build(request.asked, request.library, sources, plan, consistency.audit() if audited else None)
    return replace(statement, names=[*request.by, *statement.names[len(by) :]])


def statement_by_name(
    request: Request,
    given: Mapping[str, Any],
    columns: Mapping[str, str],
    per_query: bool,
    dialect: str,
    conditions: Mapping[str, exp.Expr],
) -> Statement:
    """Build a statement over the rows of tables that fulfil the conditions; the tables cannot be looked at."""
    _refuse_lists(columns)
    holders: dict[str, dict[str, str]] = {role: {} for role in given}
    columns = {name: column_named(theirs, dialect) for name, theirs in columns.items()}
    owners = {name: _owner(name, given, dialect) for name in request.by}
    inner = internal_names(list(dict.fromkeys(column for _, column in owners.values())), request.inner_names)
    for role, column in owners.values():
        if role == "run" and column == columns.get("score", "score"):
            raise InputError(_is_the_score(column))
        for holder in ("run", "qrels") if role == "qrels" else (role,):
            holders[holder][inner[column]] = column
    internal = {name: inner[column] for name, (_, column) in owners.items()}
    sources = {}
    for role, name in given.items():
        is_labelled = isinstance(name, Labelled)
        table = table_named(role, name.source if is_labelled else name, dialect)
        items: list[exp.Expr | None] = [
            exp.alias_(named(column), name, quoted=True) if name != column else named(column) for name, column in holders[role].items()
        ]
        renamed = {**columns, "relevance": columns.get("label") or columns.get("relevance") or "label"} if is_labelled else columns
        items += [_mapped(column, renamed, request) for column in COLUMNS[role]]
        query = exp.select(*(item for item in items if item is not None)).from_(table)
        if role in conditions:
            query = query.where(conditions[role])
        if is_labelled:
            label = named(renamed["relevance"])
            query = query.where(exp.Not(this=exp.Is(this=label, expression=exp.Null())))
        sources[role] = Source(query.subquery(), [*holders[role]])
    sets = None if request.sets is None else [[internal[name] for name in group] for group in request.sets]
    plan = Plan(
        [*internal.values()], sets, [*holders.get("queries", ())], per_query, "queries" in given and "weight" in columns, request.settings
    )
    statement = build(request.asked, request.library, sources, plan)
    return replace(statement, names=[*(column for _, column in owners.values()), *statement.names[len(owners) :]])


def _refuse_lists(columns: Mapping[str, Any]) -> None:
    for name, theirs in columns.items():
        if not isinstance(theirs, str):
            raise InputError(
                f"columns maps {name} to {theirs!r}; a ranking has one {name}, and only metrics of predictions take several scores"
            )


def _owner(name: str, roles: Container[str], dialect: str) -> tuple[str, str]:
    """Return the input that a ``by`` column is of, and its name there: ``queries.country`` is of the queries."""
    role, dot, column = name.partition(".")
    role, column = (role, column) if dot and role in roles else ("run", name)
    return role, column_named(column, dialect)


def _mapped(column: str, columns: Mapping[str, str], request: Request) -> exp.Expr | None:
    unread = {"rank": not request.uses("ties", "rank"), "weight": "weight" not in columns}.get(column, False)
    if unread:
        return None if column == "weight" else exp.alias_(exp.cast(exp.Null(), "DOUBLE"), column)
    theirs = columns.get(column)
    if theirs is None:
        return exp.column(column)
    return exp.alias_(named(theirs), column)
