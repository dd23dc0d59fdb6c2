"""Explain a number: the steps of the statement that computed it, for one query or over all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.engines import remote
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.looking import done_on
from sqlrank.errors import InputError, MetricError
from sqlrank.evaluation import evaluated
from sqlrank.explanations.explanation import DIGITS, Explanation, Step
from sqlrank.library.nodes import nodes
from sqlrank.plans import check_plan
from sqlrank.prepare import prepare
from sqlrank.question import look_up
from sqlrank.statement.bind import literal
from sqlrank.statement.keys import LIST
from sqlrank.statement.statement import Statement, first_select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric
    from sqlrank.prepare import Prepared
    from sqlrank.question import Question

ALL = "num_all_rows"
"""The column that says how many rows a step has, while it is shown."""

RANKED = "ranked"
"""The relation that says which document has which rank."""

ASCENDING = ("rank", "position", "ideal_rank", "place", "given_rank")
"""Columns by which the rows of a step are in order, the first that it has; else by the greatest ``threshold`` or ``score``."""


@public
def explain(
    metric: str | Metric,
    *,
    query: Any = None,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    rows: int = 20,
    compat: str | None = None,
    check: Check = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> Explanation:
    """Say why a metric is what it is: the rows of every step that it reads, and its expression with its sums put in.

    Args:
        metric: one metric with a value of its own; a user's like any other.
        query: the query whose value is explained; metrics of predictions have one over all rows without it.
        run: as for :func:`sqlrank.evaluate`, but of one system.
        qrels: judgments.
        predictions: predictions.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours.
        where: a condition in SQL on the rows that are read, such as one group: ``"campaign = 'men'"``.
        rows: how many rows of a step are shown, the first by rank, threshold or score.
        compat: as for :func:`sqlrank.evaluate`.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        An :class:`sqlrank.explanations.explanation.Explanation`, which prints legibly; its ``value`` is that of :func:`sqlrank.evaluate`.

    Raises:
        MetricError: a metric that is a curve or has several values, or a query where there are none.
        InputError: data that cannot be evaluated, or no such query.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> found = explain("RR", query="q1", run={"q1": {"a": 2.0, "b": 1.0}}, qrels={"q1": {"b": 1}})
    >>> found.value, found.expression
    (0.5, 'MAX(CASE WHEN NOT rank IS NULL THEN 1 / rank ELSE 0 END)')
    """
    given = Call.of([metric], locals(), policies)
    spoken = remote.spoken_by(connection, dialect)
    question = look_up(replace(given, per_query=query is not None, query=query))
    check_plan(question, spoken)
    _check(question, query)
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    return done_on(connection, spoken, limits, lambda database: _explained(question, database, check, rows))


def _check(question: Question, query: Any) -> None:
    (item,) = question.asked
    if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
        raise MetricError(f"{item.metric} has rows of its own; explain a metric with one value")
    if query is None and item.home == "run" and item.file.grain == "list":
        raise MetricError(f"{item.metric} is of queries; name the one to explain with query= (--query)")
    if getattr(question.sources.get("run"), "are_systems", False) or isinstance((question.call.columns or {}).get("score"), (list, tuple)):
        raise MetricError("several systems have values of their own; give the one to explain")


def _explained(question: Question, database: Database, check: Check, shown: int) -> Explanation:
    result = evaluated(question, database, check)
    name = str(question.asked[0].metric)
    query = question.call.query
    if result.num_rows != 1:
        raise InputError(f"no query is called {query!r}; per_query=True (--per-query) lists those that are evaluated")
    prepared = prepare(question, database, is_whole=True)
    tree = prepared.statement.tree
    steps = tuple(_step(prepared, step, shown) for step in tree.args["with_"].expressions)
    expression, sums = _sums(prepared)
    worked = _put_in(expression, sums)
    values = {node.sql("duckdb"): value for node, value in sums.items()}
    return Explanation(name, query, result[name][0].as_py(), steps, expression.sql("duckdb"), values, worked.sql("duckdb"), prepared.text())


def _run(prepared: Prepared, query: exp.Select, last: str) -> Any:
    """Return the rows of a query over the steps of a statement up to the ``last``."""
    found = prepared.statement.tree.args["with_"].expressions
    place = next(number for number, step in enumerate(found) if step.alias == last)
    query.set("with_", exp.With(expressions=[step.copy() for step in found[: place + 1]]))
    asked = replace(prepared, statement=Statement(query, [], prepared.statement.stamp))
    return prepared.columns.database.table(asked.text(is_run=True))


def _step(prepared: Prepared, step: exp.CTE, shown: int) -> Step:
    names = [name for name in step.this.named_selects if name != LIST] or list(step.this.named_selects)
    columns = [exp.column(exp.to_identifier(name, quoted=name != name.lower()), table=step.alias) for name in names]
    query = exp.select(*columns).from_(step.alias)
    if "rank" in names and "doc_id" not in names and _has_ranks(prepared):
        query = _with_documents(query, step.alias)
    query = query.select(exp.alias_(exp.Window(this=exp.Count(this=exp.Star())), ALL))
    query = query.order_by(*_order(names, columns))
    rows = _run(prepared, query.limit(shown), step.alias)
    title = " ".join(" ".join(first_select(step.this).comments or []).split())
    return Step(step.alias, title, rows.drop_columns([ALL]), int(rows[ALL][0].as_py()) if rows.num_rows else 0)


def _order(names: Sequence[str], columns: Sequence[exp.Column]) -> list[exp.Ordered]:
    """Return the order of the rows of a step: by its place if it has one, then by all columns, so that the same rows are always shown."""
    first = next((name for name in ASCENDING if name in names), None)
    greatest = None if first else next((name for name in ("threshold", "score") if name in names), None)
    named = dict(zip(names, columns, strict=True))
    order = [name for name in (first or greatest, *names) if name]
    return [exp.Ordered(this=named[name].copy(), desc=name == greatest, nulls_first=False) for name in dict.fromkeys(order)]


def _has_ranks(prepared: Prepared) -> bool:
    steps = {step.alias: step.this.named_selects for step in prepared.statement.tree.args["with_"].expressions}
    return {"doc_id", "rank"} <= set(steps.get(RANKED, ()))


def _with_documents(query: exp.Select, step: str) -> exp.Select:
    """Name the document of each rank that one document has, in steps that have ranks only."""
    one = exp.select("rank", exp.alias_(exp.Min(this=exp.column("doc_id")), "doc_id")).from_(RANKED).group_by("rank").having("COUNT(*) = 1")
    query.expressions.insert(0, exp.column("doc_id", table="named"))
    on = exp.EQ(this=exp.column("rank", table=step), expression=exp.column("rank", table="named"))
    return query.join(one.subquery("named"), on=on, join_type="left")


def _sums(prepared: Prepared) -> tuple[exp.Expr, dict[exp.Expr, float | None]]:
    """Return the expression of the metric where it is computed, and the value of each sum in it."""
    alias = next(output.alias for output in prepared.statement.outputs if output.kind == "metric")
    steps = prepared.statement.tree.args["with_"].expressions
    for step in steps:
        if not isinstance(step.this, exp.Select):
            continue
        found = next((item for item in step.this.selects if item.alias == alias), None)
        totals = [] if found is None else [node for node in nodes(found, exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None]
        if found is None or not totals:
            continue
        totals = list(dict.fromkeys(node.copy() for node in totals))
        query = step.this.copy()
        query.set("expressions", [exp.alias_(total, f"total_{number}") for number, total in enumerate(totals)])
        query.comments = None
        # A query for which nothing was retrieved may have no row here.
        row: dict[str, Any] = next(iter(_run(prepared, query, step.alias).to_pylist()), {})
        return found.unalias().copy(), {total: row.get(f"total_{number}") for number, total in enumerate(totals)}
    return exp.column(alias), {}


def _put_in(expression: exp.Expr, sums: Mapping[exp.Expr, float | None]) -> exp.Expr:
    """Return an expression with values in place of sums."""

    def put(node: exp.Expr) -> exp.Expr:
        return (exp.Null() if sums[node] is None else literal(float(f"{sums[node]:.{DIGITS}g}"))) if node in sums else node

    return expression.transform(put)
