"""The whole statement: the steps, the rows that are asked for, and what each column of the result is."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.asked import CUTOFF, OWN_CUTOFFS
from sqlrank.library.nodes import BIGINT
from sqlrank.statement.bootstrap import Drawing
from sqlrank.statement.keys import GROUP, QUERY, SCORED_BY, UNIT, key, same
from sqlrank.statement.prune import drop_empty, prune
from sqlrank.statement.relations import Relations
from sqlrank.statement.rows import SLICED_BY, double, finite, of_score, slice_name
from sqlrank.statement.spread import LIMITS
from sqlrank.statement.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.confidence import Confidence
    from sqlrank.library.library import Library
    from sqlrank.statement.relations import Source
    from sqlrank.statement.rows import Shape

POINT, FOLD = WHOLE = ("point", "fold")
"""Columns of a curve that are whole numbers, and tell its rows apart."""

WIDTH = 100
"""Characters of a line, if what stands in it can be broken."""


@dataclass(frozen=True)
class Output:
    """A column of the result: its name in the statement and for the caller, and what it is.

    ``kind`` is ``by``, ``slice``, ``query``, ``unit``, ``cutoff``, ``point``, ``value`` or ``id`` (of a curve), ``metric``, ``audit``, or a limit of an interval.
    """

    alias: str
    name: str
    kind: str
    metric: Asked | None = None
    quoted: bool = False


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement, what its columns are, in order, and the lines of comment that it starts with."""

    tree: Any
    outputs: list[Output]
    stamp: str


@dataclass(frozen=True)
class Rows:
    """What the rows of the result are.

    ``names`` are those of the caller for the columns of ``shape.by``; ``base`` is the role whose groups are shown where that is not
    the lists of a run, ``list_column`` what tells lists apart there; ``weighted`` says that queries have weights, ``with_weights`` that
    these are shown beside their values. ``is_whole`` keeps in every step what nobody reads.
    """

    shape: Shape
    names: list[str]
    per_query: bool = False
    weighted: bool = False
    with_weights: bool = False
    base: str | None = None
    list_column: str = QUERY
    confidence: Confidence | None = None
    is_whole: bool = False


def build(
    asked: Sequence[Asked], library: Library, sources: Mapping[str, Source], rows: Rows, stamp: str, audits: Mapping[str, exp.Select]
) -> Statement:
    """Compose the metrics into one statement; ``audits`` are columns for the checks of the input, by role, which come last."""
    relations = Relations(library, sources, rows.shape)
    if sweep := _sweep(asked):
        relations.sweep(*sweep)
    if own := next((item for item in asked if item.has_own_cutoffs), None):
        relations.own_cutoffs = relations.read(OWN_CUTOFFS, own.settings)
    if rows.confidence is not None and rows.confidence.is_drawn:
        relations.drawn = Drawing(relations, rows.confidence, rows.base).drawn
    stages = Stages(relations, rows.per_query, rows.weighted, rows.list_column, rows.confidence)
    if asked[0].file.kind == "curves":
        return _curve(stages, asked[0], rows, stamp, audits)
    columns = {str(item.metric): stages.add(item.swept) for item in asked}
    scans = {stages.audit(tree, asked[0].settings, role): tree.named_selects[1:] for role, tree in audits.items()}
    body = stages.rows(rows.base, scans)
    keys = _keys(rows)
    weights = [Output("weight", "weight", "weight")] if rows.with_weights and rows.weighted and rows.base is None else []
    if weights:
        body.select(exp.alias_(double(exp.column("weight")), "weight"), copy=False)
    audited = [Output(name, name, "audit") for names in scans.values() for name in names]
    metrics = [Output(column.alias, name, "metric", column.asked) for name, column in columns.items()]
    if scores := _scores(stages):
        keys = [item for item in keys if item.alias not in {SCORED_BY, UNIT}]
        sides = list(enumerate(scores, start=1))
        metrics = [
            Output(column.side(number), of_score(name, score), "metric", column.asked)
            for name, column in columns.items()
            for number, score in sides
        ]
    if rows.confidence is not None and not rows.confidence.per_unit:
        metrics = [output for metric in metrics for output in [metric, *_limits(metric)]]
    keys += [Output(CUTOFF, CUTOFF, "cutoff")] if sweep else []
    return _statement(body, relations, stages, [*keys, *metrics, *audited, *weights], stamp, rows.is_whole)


def _scores(stages: Stages) -> tuple[str, ...]:
    """Return what the scores of rows are called whose values stand side by side, if such are asked for."""
    spread = stages.spread
    return () if spread is None or not spread.confidence.per_unit else spread.scores


def _sweep(asked: Sequence[Asked]) -> tuple[int, int] | None:
    """Return the range of cut-offs that is asked for, if one is; raise ``MetricError`` if it is not one for all metrics."""
    ranges = {item.metric.cutoff for item in asked if isinstance(item.metric.cutoff, tuple)}
    if len(ranges) > 1 or (ranges and any(not isinstance(item.metric.cutoff, tuple) for item in asked)):
        raise MetricError("a range of cut-offs gives a row per cut-off: ask for metrics of one range in a call of their own")
    return ranges.pop() if ranges else None


def _limits(metric: Output) -> list[Output]:
    return [Output(f"{metric.alias}_{name}", f"{metric.name}.{name}", name) for name in LIMITS]


def _keys(rows: Rows) -> list[Output]:
    by = zip(rows.shape.by, rows.names, strict=True)
    outputs = [Output(alias, name, "by", quoted=key(alias).this.quoted) for alias, name in by]
    outputs += [Output(SLICED_BY, SLICED_BY, "slice")] if rows.shape.sets is not None else []
    of_units = rows.confidence is not None and rows.confidence.per_unit
    outputs += [Output(UNIT, UNIT, "unit")] if of_units else []
    return [*outputs, *([Output(rows.list_column, rows.list_column, "query")] if rows.per_query else [])]


def _statement(
    body: exp.Select, relations: Relations, stages: Stages, outputs: list[Output], stamp: str, is_whole: bool = False
) -> Statement:
    """Put the steps before the rows, each under the first sentence of its file, and leave out what nobody reads."""
    tree = body
    titles = relations.titles | stages.titles
    over = [name for name, source in relations.sources.items() if source.query is not None and source.over is None]
    inputs = {relations.inputs[name] for name in over if name in relations.inputs}
    for name, step in [*relations.ctes.items(), *stages.scans.items()]:
        first_select(step).comments = [fill(titles[name], WIDTH, subsequent_indent="   ")]
        tree = tree.with_(name, as_=step, materialized=name in relations.costly or (None if name not in inputs else False), copy=False)
    if is_whole:
        drop_empty(tree)
    else:
        prune(tree, keep=inputs)
    return Statement(tree, outputs, stamp)


def first_select(query: exp.Query) -> exp.Query:
    """Return the SELECT that a step begins with, which has its comment."""
    while isinstance(query, exp.Union):
        query = query.left
    return query


def _curve(stages: Stages, asked: Asked, rows: Rows, stamp: str, audits: Mapping[str, exp.Select]) -> Statement:
    """The rows of a curve, in the order of its points."""
    relations = stages.relations
    step = relations.build(asked.file, asked.settings, per_list=rows.per_query)
    keys = relations.keys(step)[GROUP]
    shown = [name for name in asked.file.tree.named_selects if name != GROUP]
    outputs = _keys(rows)
    # Under an alias, since engines differ in what a bare name in ORDER BY is where a join has two columns of it.
    columns = [
        slice_name(rows.shape, step) if item.kind == "slice" else exp.alias_(key(item.alias, step), key(item.alias).this.copy())
        for item in outputs
    ]
    order = [*map(_output, outputs), *(exp.column(name) for name in shown[: 1 + (shown[0] == FOLD)])]
    guarded = relations.library.can_overflow(asked.file, asked.uses.files)
    keys_of = {name for role in relations.library.roles.values() for name, column in role.columns.items() if column.type == "key"}
    tree = exp.select(*columns, *(exp.alias_(_shown(name, step, guarded, name in keys_of), name) for name in shown)).from_(step)
    tree = tree.order_by(*(exp.Ordered(this=item.copy(), nulls_first=True) for item in order))
    outputs += [Output(name, name, "point" if name in WHOLE else "id" if name in keys_of else "value", asked) for name in shown]
    for role, audit in audits.items():
        scan = stages.audit(audit, asked.settings, role)
        on = same(keys.columns, scan, step, keys.nullable)
        tree = tree.join(scan, on=exp.and_(*on, wrap=False), join_type="left") if on else tree.join(scan, join_type="cross")
        tree.select(*(exp.column(name, table=scan) for name in audit.named_selects[1:]), copy=False)
        outputs += [Output(name, name, "audit") for name in audit.named_selects[1:]]
    return _statement(tree, relations, stages, outputs, stamp)


def _output(item: Output) -> exp.Column:
    return exp.column(item.alias) if item.kind == "slice" else key(item.alias)


def _shown(name: str, step: str, guarded: bool, is_key: bool) -> exp.Expr:
    column = exp.column(name, table=step)
    if is_key:
        return column
    if name in WHOLE:
        return exp.cast(column, BIGINT)
    return double(finite(column) if guarded and name != "score" else column)
