"""Metrics of predictions: which column is which, how a global order is computed, and what the rows are checked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank import checks
from sqlrank.compose import Source
from sqlrank.engine import rows
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.inputs import COLUMNS, internal_names
from sqlrank.keys import named
from sqlrank.library import read_select
from sqlrank.statement import Plan, Statement, build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.inputs import Inputs
    from sqlrank.request import Request

BUCKETED = ("bigquery", "snowflake", "spark", "databricks", "trino")
"""Dialects in which a window over all rows is the work of one machine."""

PROBED = 100_000
DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""

SLICE = "slice"
_REQUIRED = {
    "binary labels": "nonbinary_label",
    "labels from 0": "negative_label",
    "probabilities": "improbable_score",
    "positive scores": "nonpositive_score",
    "finite scores": "infinite_score",
}


def needed_columns(request: Request, per_query: bool, is_weighted: bool) -> tuple[str, ...]:
    """Return the columns of predictions that the metrics read."""
    needed = ["label", "score"]
    if is_weighted:
        needed.append("weight")
    if per_query or request.uses("level", "query"):
        needed.append("query_id")
    if request.uses("ties", "row_order"):
        needed.append("rank")
    return tuple(needed)


def map_predictions(inputs: Inputs, request: Request, columns: Mapping[str, str], per_query: bool) -> tuple[str, ...]:
    """Map the columns of the predictions; return those that the metrics need."""
    item = inputs.found["predictions"]
    unknown = [name for name in columns if name not in {*COLUMNS["predictions"], *request.by}]
    if unknown:
        raise InputError(f"columns maps {unknown[0]!r}, which predictions do not have{suggestion(unknown[0], COLUMNS['predictions'])}")
    taken = [*request.library.inner_columns, *(asked.metric.slug for asked in request.asked), "weight", "k", SLICE]
    inputs.internal = internal_names(request.by, taken)
    item.map(columns, request.by, inputs.internal)
    problems = [
        f"by: predictions have no column {name!r}{suggestion(name, item.types)} There are: {', '.join(item.types)}"
        for name in request.by
        if inputs.internal[name] not in item.by
    ]
    if problems:
        raise InputError("\n".join(problems))
    needed = needed_columns(request, per_query, "weight" in item.names)
    checks.check_columns(inputs.found, {"predictions": needed})
    return needed


def over_predictions(
    request: Request, inputs: Inputs, needed: tuple[str, ...], per_query: bool, is_audited: bool = False
) -> tuple[Statement, str]:
    """Return the statement over predictions whose columns are known, and the strategy that was chosen."""
    item = inputs.found["predictions"]
    strategy = _strategy(request, "weight" in needed, "duckdb", lambda: _has_few_scores(inputs))
    audit = _audit(request, needed) if is_audited else None
    by = [inputs.internal[name] for name in request.by]
    sets = None if request.sets is None else [[inputs.internal[name] for name in group] for group in request.sets]
    return _build(request, item.select(_read(needed)), by, sets, needed, per_query, strategy, audit), strategy


def predictions_by_name(request: Request, table: Any, columns: Mapping[str, str], per_query: bool, dialect: str) -> tuple[Statement, str]:
    """Return the statement over a table that cannot be looked at; it has weights if ``columns`` say which."""
    needed = needed_columns(request, per_query, "weight" in columns)
    strategy = _strategy(request, "weight" in needed, dialect, lambda: False)
    items: list[exp.Expr] = [named(name) for name in request.by]
    for name in _read(needed):
        if name == "weight" and name not in needed:
            items.append(exp.alias_(exp.cast(exp.Literal.number(1), "DOUBLE"), name))
        else:
            items.append(exp.alias_(named(columns[name]), name) if name in columns else exp.column(name))
    query = exp.select(*items).from_(exp.to_table(str(table), dialect=dialect if dialect != "datafusion" else "postgres"))
    return _build(request, query, list(request.by), request.sets, needed, per_query, strategy, None), strategy


def check_predictions(inputs: Inputs, request: Request, needed: tuple[str, ...]) -> None:
    """Raise ``InputError`` with every problem in the rows."""
    item = inputs.found["predictions"]
    checks.check_predictions(inputs.connection, item, needed, _requirements(request))


def _read(needed: Sequence[str]) -> list[str]:
    return [*needed] if "weight" in needed else [*needed, "weight"]


def _requirements(request: Request) -> list[str]:
    return list(dict.fromkeys(_REQUIRED[text] for asked in request.asked for text in asked.file.requires))


def _build(
    request: Request,
    query: exp.Select,
    by: list[str],
    sets: list[list[str]] | None,
    needed: Sequence[str],
    per_query: bool,
    strategy: str,
    audit: exp.Select | None,
) -> Statement:
    asked = [replace(item, settings={**item.settings, "strategy": strategy}) for item in request.asked]
    shown = [*by, "query_id"] if per_query else by
    keys = shown
    if sets is not None:
        query = _slices(query, by, sets)
        keys = [*shown, SLICE]
    sources = {"predictions": Source(query.subquery(), keys)}
    if "query_id" in needed:
        sources["predictions of queries"] = Source(query.subquery(), keys if per_query else [*keys, "query_id"])
    plan = Plan(shown, None, [], False, False, request.settings, hidden=[SLICE] if sets is not None else [])
    statement = build(asked, request.library, sources, plan, audit)
    names = [*request.by, *(["query_id"] if per_query else []), *statement.names[len(shown) :]]
    return Statement(statement.tree, f"{statement.stamp}\n  strategy: {strategy}", names)


def _slices(query: exp.Select, by: Sequence[str], sets: Sequence[Sequence[str]]) -> exp.Select:
    """Repeat the rows once per grouping; a column that a grouping sums over is NULL there."""
    parts: list[exp.Query] = []
    for number, group in enumerate(sets):
        part = query.copy()
        for position, column in enumerate(part.selects):
            if column.alias_or_name in by and column.alias_or_name not in group:
                null = exp.alias_(exp.Null(), column.alias_or_name, quoted=True)
                part.expressions[position] = null
        parts.append(part.select(exp.alias_(exp.Literal.number(number), SLICE)))
    union = parts[0]
    for part in parts[1:]:
        union = exp.union(union, part, distinct=False)
    names = [named(column.alias_or_name) if column.alias_or_name in by else exp.column(column.alias_or_name) for column in parts[0].selects]
    return exp.select(*names).from_(union.subquery("slices"))


def _strategy(request: Request, is_weighted: bool, dialect: str, has_few_scores: Any) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    strategies = {str(asked.settings.get("strategy", "auto")) for asked in request.asked}
    if len(strategies) > 1:
        raise MetricError("strategy holds for a whole call; give it as a policy, not to single metrics")
    chosen = strategies.pop()
    if chosen == "ranked" and is_weighted:
        raise MetricError("strategy='ranked' is for predictions that all weigh 1; choose window, bucketed or grouped")
    if chosen == "auto":
        chosen = "bucketed" if dialect in BUCKETED else "grouped" if has_few_scores() else "window"
    return "ranked" if chosen == "window" and not is_weighted else chosen


def _has_few_scores(inputs: Inputs) -> bool:
    item = inputs.found["predictions"]
    probed = item.select(["score"]).limit(PROBED).subquery("probed")
    count = exp.select(exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))).from_(probed)
    total, distinct = rows(inputs.connection, count.sql("duckdb"))[0]
    return bool(distinct < DISTINCT_SHARE * total)


def _audit(request: Request, needed: tuple[str, ...]) -> exp.Select:
    """Return one column that counts the rows that break any rule."""
    rules = {column.alias: column.this for column in read_select("checks", "sound.sql").selects}
    is_sound = exp.and_(*(rules[name] for name in [*needed, *_requirements(request)]))
    broken = exp.Case(ifs=[exp.If(this=is_sound, true=exp.Literal.number(0))], default=exp.Literal.number(1))
    return exp.select("list_id", exp.alias_(exp.Sum(this=broken), "audit_broken")).from_("predictions")
