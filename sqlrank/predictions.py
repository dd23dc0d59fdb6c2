"""Metrics of predictions: which column is which, how a global order is computed, and what the rows are checked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank import checks
from sqlrank.compose import Source
from sqlrank.contract import REQUIREMENTS
from sqlrank.dialects import dialect_of
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.inputs import COLUMNS
from sqlrank.keys import SCORED_BY, SLICE, key, named
from sqlrank.names import column_named, expression, internal_names, parts_of, table_named
from sqlrank.statement import Plan, build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.database import Database
    from sqlrank.inputs import Input, Inputs
    from sqlrank.request import Request
    from sqlrank.settings import Asked
    from sqlrank.statement import Statement

PROBED = 100_000
DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""


@dataclass(frozen=True)
class Predictions:
    """The predictions as a statement reads them.

    ``query`` selects ``needed``, ``weight`` and the columns ``by`` that tell groups apart, which the caller knows under the
    names ``shown``; ``sets`` are groupings of them.
    """

    query: exp.Select
    needed: tuple[str, ...]
    by: list[str]
    shown: list[str]
    sets: list[list[str]] | None


def read_predictions(inputs: Inputs, request: Request, columns: Mapping[str, Any], per_query: bool) -> Predictions:
    """Map the columns of the predictions and see that they are there and of the right types."""
    item = inputs.found["predictions"]
    scores, columns = _split_scores(columns)
    unknown = [name for name in columns if name not in {*COLUMNS["predictions"], *request.by}]
    if unknown:
        raise InputError(f"columns maps {unknown[0]!r}, which predictions do not have{suggestion(unknown[0], COLUMNS['predictions'])}")
    inputs.internal = internal_names(request.by, [*request.inner_names, SLICE, SCORED_BY])
    for theirs in [*columns.values(), *scores]:
        if item.column(theirs) is None:
            _compute(inputs, item, theirs)
    item.map({**columns, "score": scores[-1]} if scores else columns, request.by, inputs.internal)
    problems = [
        f"by: predictions have no column {name!r}{suggestion(name, item.types)} There are: {', '.join(item.types)}"
        for name in request.by
        if inputs.internal[name] not in item.by
    ]
    if problems:
        raise InputError("\n".join(problems))
    needed = _needed(request, per_query, "weight" in item.names)
    selects = {}
    for theirs in scores or [item.names.get("score", "score")]:
        item.names |= {"score": item.column(theirs) or theirs} if scores else {}
        checks.check_columns(inputs.found, {"predictions": needed})
        selects[theirs] = _with_doubles(item.select(_read(needed)))
    return _per_score(selects, needed, request, inputs.internal)


def name_predictions(
    request: Request, table: Any, columns: Mapping[str, Any], per_query: bool, dialect: str, condition: exp.Expr | None
) -> Predictions:
    """Take the columns of a table that cannot be looked at as they are named; it has weights if ``columns`` say which."""
    scores, columns = _split_scores(columns)
    needed = _needed(request, per_query, "weight" in columns)
    source = table_named("predictions", table, dialect)
    by = {name: column_named(name, dialect) for name in request.by}
    inner = internal_names([*by.values()], [*request.inner_names, SLICE, SCORED_BY])
    selects = {}
    for theirs in scores or [columns.get("score", "score")]:
        items: list[exp.Expr] = [
            named(name) if inner[name] == name else exp.alias_(named(name), inner[name], quoted=True) for name in by.values()
        ]
        for name in _read(needed):
            written = theirs if name == "score" else columns.get(name, name)
            if name == "weight" and name not in needed:
                items.append(exp.alias_(exp.cast(exp.Literal.number(1), "DOUBLE"), name))
            else:
                items.append(exp.column(name) if written == name else exp.alias_(_written(written, dialect), name))
        selects[theirs] = exp.select(*items).from_(source.copy()).where(condition)
    found = _per_score(selects, needed, request, {name: inner[column] for name, column in by.items()})
    return replace(found, shown=[*found.shown[: len(found.shown) - len(by)], *by.values()])


def _written(text: str, dialect: str) -> exp.Expr:
    """Return the column that a text names, or else the expression over columns that it is."""
    parts = parts_of(text)
    try:
        return named(column_named(text, dialect)) if parts is not None and len(parts) == 1 else expression(text, dialect)
    except InputError:
        return named(text)


def over_predictions(
    request: Request,
    predictions: Predictions,
    per_query: bool,
    dialect: str = "duckdb",
    database: Database | None = None,
    is_audited: bool = False,
) -> tuple[Statement, str]:
    """Return the statement over predictions and the strategy that was chosen; ``database`` is where they can be probed."""
    is_weighted = "weight" in predictions.needed
    is_ordered = any(request.library.reads(asked.file) & {"thresholds", "scores"} for asked in request.asked)
    can_probe = database if is_ordered else None
    strategy = _strategy(request, is_weighted, dialect, lambda: can_probe is not None and _has_few_scores(can_probe, predictions.query))
    merging = {"merging": "early" if dialect_of(dialect).repeats else "late"}
    plans = {"strategy": strategy, "rest": "added" if is_weighted else "subtracted"}
    asked = [replace(item, settings={**merging, **item.settings, **plans, "counting": _counting(item, dialect)}) for item in request.asked]
    by = [*predictions.by, "query_id"] if per_query else predictions.by
    query, keys = _grouped(predictions, by)
    sources = {"predictions": Source(query.subquery(), keys)}
    if "query_id" in predictions.needed:
        sources["predictions of queries"] = Source(query.subquery(), keys if per_query else [*keys, "query_id"])
    hidden = [SLICE] if predictions.sets is not None else []
    plan = Plan(by, sets=None, attributes=[], per_query=False, weighted=False, settings=request.settings, hidden=hidden)
    audit = _audit(request, predictions.needed) if is_audited else None
    statement = build(asked, request.library, sources, plan, audit)
    names = [*predictions.shown, *(["query_id"] if per_query else []), *statement.names[len(by) :]]
    return replace(statement, stamp=f"{statement.stamp}\n  strategy: {strategy}", names=names), strategy


def check_predictions(inputs: Inputs, request: Request, predictions: Predictions, columns: Mapping[str, Any]) -> None:
    """Raise ``InputError`` with every problem in the rows."""
    item = inputs.found["predictions"]
    for theirs in _split_scores(columns)[0] or [item.names["score"]]:
        item.names["score"] = item.column(theirs) or theirs
        checks.check_predictions(inputs.database, item, predictions.needed, _requirements(request))


def check_negatives(database: Database, request: Request, predictions: Predictions, per_query: bool) -> None:
    """Raise ``InputError`` if there are fewer negatives than a metric compares positives with under few_negatives=error."""
    query, keys = _grouped(predictions, predictions.by)
    shown = dict(zip(predictions.by, predictions.shown, strict=True))
    problems = []
    for asked in request.asked:
        if "few_negatives" not in asked.file.choices or asked.settings["few_negatives"] != "error":
            continue
        columns = [key(name) for name in [*keys, *(["query_id"] if per_query or asked.settings.get("level") == "query" else [])]]
        short = exp.select(*columns, "SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives").from_(query.subquery("predictions"))
        short = short.having("SUM(label) > 0").having(exp.column("negatives") < exp.convert(asked.settings["k"]))
        short = short.group_by(*columns).order_by(*columns) if columns else short
        for row in database.rows(short.limit(checks.EXAMPLES)):
            found = zip((column.name for column in columns), row, strict=False)
            where = ", ".join(f"{shown.get(name, name)}={checks.short(value)}" for name, value in found if name != SLICE)
            problems.append(
                f"{asked.metric}: {row[-1]:g} negatives{where and ' where '}{where}; choose few_negatives=truncate, pad or skip"
            )
    checks.refuse(problems)


def _grouped(predictions: Predictions, by: list[str]) -> tuple[exp.Select, list[str]]:
    """Return the rows, once per grouping, and the columns that tell their groups apart."""
    if predictions.sets is None:
        return predictions.query, by
    return _slices(predictions.query, predictions.by, predictions.sets), [*by, SLICE]


def _split_scores(columns: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the score columns, if several are to be evaluated, and the other columns."""
    score = columns.get("score")
    if not isinstance(score, (list, tuple)):
        return [], dict(columns)
    if len(set(score)) < len(score) or not score:
        raise InputError(f"columns maps score to {score!r}; name each score column once")
    return list(score), {name: theirs for name, theirs in columns.items() if name != "score"}


def _needed(request: Request, per_query: bool, is_weighted: bool) -> tuple[str, ...]:
    """Return the columns of predictions that the metrics read."""
    needed = ["label", "score"]
    if is_weighted:
        needed.append("weight")
    if per_query or request.uses("level", "query"):
        needed.append("query_id")
    if request.uses("ties", "row_order"):
        needed.append("rank")
    if any("doc_id" in asked.file.tree.named_selects for asked in request.asked):
        needed.append("doc_id")
    return tuple(needed)


def _read(needed: Sequence[str]) -> list[str]:
    return [*needed] if "weight" in needed else [*needed, "weight"]


def _requirements(request: Request) -> list[str]:
    return list(dict.fromkeys(REQUIREMENTS[text] for asked in request.asked for text in asked.file.requires))


def _with_doubles(query: exp.Select) -> exp.Select:
    """Make doubles of label and weight: sums and squares of small or unsigned integers would overflow."""
    for column in query.selects:
        if column.alias in {"label", "weight"} and not isinstance(column.this, exp.Cast):
            column.set("this", exp.cast(column.this.copy(), "DOUBLE"))
    return query


def _per_score(selects: Mapping[str, exp.Select], needed: tuple[str, ...], request: Request, internal: Mapping[str, str]) -> Predictions:
    """Put the rows of several score columns below one another, told apart by the name of the column."""
    shown, by = list(request.by), [internal[name] for name in request.by]
    sets = None if request.sets is None else [[internal[name] for name in group] for group in request.sets]
    if len(selects) == 1:
        return Predictions(next(iter(selects.values())), needed, by, shown, sets)
    parts = [select.select(exp.alias_(exp.Literal.string(theirs), SCORED_BY)) for theirs, select in selects.items()]
    sets = None if sets is None else [[SCORED_BY, *group] for group in sets]
    return Predictions(_stack(parts, by), needed, [SCORED_BY, *by], ["score", *shown], sets)


def _stack(parts: Sequence[exp.Select], by: Sequence[str]) -> exp.Select:
    """Return the rows of all parts."""
    names = [column.alias_or_name for column in parts[0].selects]
    union: exp.Query = parts[0]
    for part in parts[1:]:
        union = exp.union(union, part, distinct=False)
    columns = [key(name) if name in by else exp.column(name) for name in names]
    return exp.select(*columns).from_(union.subquery("stacked"))


def _slices(query: exp.Select, by: Sequence[str], sets: Sequence[Sequence[str]]) -> exp.Select:
    """Repeat the rows once per grouping; a column that a grouping sums over is NULL there."""
    parts = []
    for number, group in enumerate(sets):
        part = query.copy()
        for position, column in enumerate(part.selects):
            if column.alias_or_name in by and column.alias_or_name not in group:
                part.expressions[position] = exp.alias_(exp.Null(), column.alias_or_name, quoted=True)
        parts.append(part.select(exp.alias_(exp.Literal.number(number), SLICE)))
    return _stack(parts, by)


def _strategy(request: Request, is_weighted: bool, dialect: str, has_few_scores: Any) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    strategies = {str(asked.settings.get("strategy", "auto")) for asked in request.asked}
    if len(strategies) > 1:
        raise MetricError("strategy holds for a whole call; give it as a policy, not to single metrics")
    chosen = strategies.pop()
    if chosen == "ranked" and is_weighted:
        raise MetricError("strategy='ranked' is for predictions that all weigh 1; choose window, bucketed or grouped")
    if chosen == "auto":
        chosen = "bucketed" if dialect_of(dialect).is_distributed else "grouped" if has_few_scores() else "window"
    if chosen == "carried" and dialect != "duckdb":
        raise MetricError(f"strategy='carried' is for DuckDB; choose window, bucketed or grouped for {dialect}")
    if chosen != "window":
        return chosen
    return "ranked" if not is_weighted else "carried" if dialect == "duckdb" else "window"


def _counting(asked: Asked, dialect: str) -> str:
    """Return how pairs in opposite order are counted: what was asked for, or what the engine is best at."""
    chosen = str(asked.settings.get("counting", "framed" if dialect == "duckdb" else "bits"))
    if chosen == "framed" and dialect != "duckdb":
        raise MetricError(f"counting='framed' is for DuckDB; choose bits for {dialect}")
    return chosen


def _compute(inputs: Inputs, item: Input, text: str) -> None:
    """Let an expression stand for a column."""
    try:
        tree = expression(text, inputs.database.dialect)
        unknown = [column.name for column in tree.find_all(exp.Column) if item.column(column.name) is None]
        for column in () if unknown else tree.find_all(exp.Column):
            column.set("this", exp.to_identifier(item.column(column.name), quoted=True))
    except InputError:
        unknown = [text]
    if unknown:
        there = ", ".join(item.types)
        raise InputError(
            f"columns maps to {unknown[0]!r}, which predictions do not have{suggestion(unknown[0], item.types)} There are: {there}"
        )
    query = exp.select(exp.alias_(tree, "computed")).from_(item.node.copy())
    item.types[text] = next(iter(inputs.database.types(query).values()))
    item.computed[text] = tree


def _has_few_scores(database: Database, query: exp.Select) -> bool:
    probed = exp.select("score").from_(query.subquery("predictions")).limit(PROBED).subquery("probed")
    count = exp.select(exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))).from_(probed)
    total, distinct = database.rows(count)[0]
    return bool(distinct < DISTINCT_SHARE * total)


def _audit(request: Request, needed: tuple[str, ...]) -> exp.Select:
    """Return one column that counts the rows that break any rule."""
    _, conditions = checks.rules("predictions", needed, _requirements(request))
    broken = exp.Case(ifs=[exp.If(this=exp.or_(*conditions.values()), true=exp.Literal.number(1))], default=exp.Literal.number(0))
    return exp.select("list_id", exp.alias_(exp.Sum(this=broken), "audit_broken")).from_("predictions")
