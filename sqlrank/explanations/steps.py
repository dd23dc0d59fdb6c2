"""The rows of the steps of a statement: those that matter first, and how many there are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.explanations.explanation import Step
from sqlrank.library.nodes import nodes
from sqlrank.statement.keys import LIST, QUERY
from sqlrank.statement.statement import Statement, first_select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.prepare import Prepared

ALL = "num_all_rows"
"""The column that says how many rows a step has, while it is shown."""

TERM = "term"
"""The column that says what a row of the step that a metric reads adds to its first sum."""

RANKED = "ranked"
"""The relation that says which document has which rank."""

ASCENDING = ("rank", "position", "ideal_rank", "place", "given_rank", "bin")
"""Columns by which the rows of a step are in order, the first that it has."""


def steps_of(prepared: Prepared) -> list[exp.CTE]:
    """Return the steps of a statement in order."""
    return list(prepared.statement.tree.args["with_"].expressions)


def rows_of(prepared: Prepared, query: exp.Select, last: str) -> Any:
    """Return the rows of a query over the steps of a statement up to the ``last``."""
    found = steps_of(prepared)
    place = next(number for number, step in enumerate(found) if step.alias == last)
    query.set("with_", exp.With(expressions=[step.copy() for step in found[: place + 1]]))
    asked = replace(prepared, statement=Statement(query, [], prepared.statement.stamp))
    return prepared.columns.database.table(asked.text(is_run=True))


def shown_step(prepared: Prepared, step: exp.CTE, shown: int, condition: exp.Expr | None) -> Step:
    """Return a step with its first rows: of those that fulfil a condition, where the step has the columns of that."""
    names = [name for name in step.this.named_selects if name != LIST] or list(step.this.named_selects)
    columns = [exp.column(exp.to_identifier(name, quoted=name != name.lower()), table=step.alias) for name in names]
    query = exp.select(*columns).from_(step.alias)
    if "rank" in names and "doc_id" not in names and _has_ranks(prepared):
        query = _with_documents(query, step.alias)
    term = _term(prepared, step.alias) if TERM not in names else None
    query = query.select(exp.alias_(term.copy(), TERM)) if term is not None else query
    query = query.select(exp.alias_(exp.Window(this=exp.Count(this=exp.Star())), ALL))
    title = " ".join(" ".join(first_select(step.this).comments or []).split())
    if condition is not None and fits(condition, step):
        query = query.where(condition.copy())
        title += f" (those where {condition.sql('duckdb')})"
    query = query.order_by(*_first(prepared, names), *_order(prepared, step.alias, term, names, columns))
    rows = rows_of(prepared, query.limit(shown), step.alias)
    return Step(step.alias, title, rows.drop_columns([ALL]), int(rows[ALL][0].as_py()) if rows.num_rows else 0)


def fits(condition: exp.Expr, step: exp.CTE) -> bool:
    """Whether a step has all columns of a condition."""
    return {column.name for column in condition.find_all(exp.Column)} <= set(step.this.named_selects)


def _first(prepared: Prepared, names: Sequence[str]) -> list[exp.Ordered]:
    """Return the order by which rows of the query come before those of others, which are read where a metric is across lists."""
    query = prepared.question.call.query
    if query is None or QUERY not in names or not prepared.columns.across_lists:
        return []
    is_it = exp.EQ(this=exp.cast(exp.column(QUERY), "TEXT"), expression=exp.Literal.string(str(query)))
    return [exp.Ordered(this=exp.Case().when(is_it, "0").else_("1"))]


def _order(prepared: Prepared, step: str, term: exp.Expr | None, names: Sequence[str], columns: Sequence[exp.Column]) -> list[exp.Ordered]:
    """Return the order of the rows of a step.

    By its place if it has one; of an input by what they add to the metric; else by the greatest threshold, score or term. Then by all
    columns, so that the same rows are always shown.
    """
    first = next((name for name in ASCENDING if name in names), None)
    greatest = [name for name in ("threshold", "score") if name in names]
    named: dict[str, exp.Expr] = dict(zip(names, columns, strict=True))
    order = [named[name].copy() for name in ([first] if first else []) + list(names)]
    heads: list[exp.Expr] = []
    if first is None:
        heads = [named[name].copy() for name in greatest[:1]]
        if term is not None and (not heads or step in _inputs(prepared)):
            heads = [exp.Abs(this=term.copy())]
    falling = [exp.Ordered(this=head, desc=True, nulls_first=False) for head in heads]
    return falling + [exp.Ordered(this=node, desc=False, nulls_first=False) for node in dict.fromkeys(order) if node not in heads]


def _inputs(prepared: Prepared) -> set[str]:
    """Return the steps that are inputs as they were given."""
    return {step.alias for step in steps_of(prepared) if step.alias in prepared.question.library.roles}


def _term(prepared: Prepared, step: str) -> exp.Expr | None:
    """Return what a row of a step adds to the first sum of the metric, if it is this step that the metric reads."""
    reader = reading(prepared)
    source = None if reader is None else reader.this.args["from_"].this
    if reader is None or source != exp.to_table(step) or reader.this.args.get("joins"):
        return None
    sums = [node for node in nodes(metric_in(prepared, reader), exp.Sum) if node.find_ancestor(exp.AggFunc) is None]
    if not sums or isinstance(sums[0].this, exp.Column):
        return None
    term: exp.Expr = sums[0].this.copy()
    for column in nodes(term, exp.Column):
        column.set("table", exp.to_identifier(step))
    return term


def reading(prepared: Prepared) -> exp.CTE | None:
    """Return the step that aggregates the rows of another into the metric: the last, where values of queries are aggregated again."""
    for step in reversed(steps_of(prepared)):
        if isinstance(step.this, exp.Select):
            found = metric_in(prepared, step)
            if found is not None and found.find(exp.AggFunc) is not None:
                return step
    return None


def metric_in(prepared: Prepared, step: exp.CTE) -> Any:
    """Return the column of a step that is the metric, None if it has none."""
    alias = next(output.alias for output in prepared.statement.outputs if output.kind == "metric")
    return next((item for item in step.this.selects if item.alias == alias), None)


def _has_ranks(prepared: Prepared) -> bool:
    steps = {step.alias: step.this.named_selects for step in steps_of(prepared)}
    return {"doc_id", "rank"} <= set(steps.get(RANKED, ()))


def _with_documents(query: exp.Select, step: str) -> exp.Select:
    """Name the document of each rank that one document has, in steps that have ranks only."""
    one = exp.select("rank", exp.alias_(exp.Min(this=exp.column("doc_id")), "doc_id")).from_(RANKED).group_by("rank").having("COUNT(*) = 1")
    query.expressions.insert(0, exp.column("doc_id", table="named"))
    on = exp.EQ(this=exp.column("rank", table=step), expression=exp.column("rank", table="named"))
    return query.join(one.subquery("named"), on=on, join_type="left")
