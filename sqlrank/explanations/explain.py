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
from sqlrank.explanations.explanation import DIGITS, Explanation
from sqlrank.explanations.losses import losses
from sqlrank.explanations.steps import fits, metric_in, reading, rows_of, shown_step, steps_of
from sqlrank.inputs.where import read_condition
from sqlrank.library.nodes import nodes
from sqlrank.plans.choice import check_plan
from sqlrank.prepare import prepare
from sqlrank.question import look_up
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric
    from sqlrank.prepare import Prepared
    from sqlrank.question import Question


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
    show: str | None = None,
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
        show: a condition in SQL on the rows that are shown, such as one cluster: ``"true_cluster = 'Ann'"``. It holds in the steps that
            have its columns, and changes no number.
        rows: how many rows of a step are shown: the first by rank, threshold or score, or those that add most to the metric.
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
    return done_on(connection, spoken, limits, lambda database: _explained(question, database, check, rows, show))


def _check(question: Question, query: Any) -> None:
    (item,) = question.asked
    if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
        raise MetricError(f"{item.metric} has rows of its own; explain a metric with one value")
    if query is None and item.home == "run" and item.file.grain == "list":
        raise MetricError(f"{item.metric} is of queries; name the one to explain with query= (--query)")
    if getattr(question.sources.get("run"), "are_systems", False) or isinstance((question.call.columns or {}).get("score"), (list, tuple)):
        raise MetricError("several systems have values of their own; give the one to explain")


def _explained(question: Question, database: Database, check: Check, shown: int, show: str | None) -> Explanation:
    condition = None if show is None else read_condition(show, database.dialect, "show")
    if condition is not None and (parameter := condition.find(exp.Placeholder, exp.Parameter)):
        raise InputError(f"show: {parameter.sql('duckdb')} has no value; write the value itself")
    result = evaluated(question, database, check)
    name = str(question.asked[0].metric)
    query = question.call.query
    if result.num_rows != 1:
        raise InputError(f"no query is called {query!r}; per_query=True (--per-query) lists those that are evaluated")
    prepared = prepare(question, database, is_whole=True)
    found = steps_of(prepared)
    if condition is not None and not any(fits(condition, step) for step in found):
        raise InputError(f"show: no step has all columns of {show}; leave it out to see which columns steps have")
    steps = tuple(shown_step(prepared, step, shown, condition) for step in found)
    expression, sums = _sums(prepared)
    worked = _put_in(expression, sums)
    values = {node.sql("duckdb"): value for node, value in sums.items()}
    value = result[name][0].as_py()
    lost = losses(prepared, value, shown)
    return Explanation(name, query, value, steps, expression.sql("duckdb"), values, worked.sql("duckdb"), prepared.text(), lost)


def _sums(prepared: Prepared) -> tuple[exp.Expr, dict[exp.Expr, float | None]]:
    """Return the expression of the metric where it is computed, and the value of each sum in it."""
    step = reading(prepared)
    if step is None:
        return exp.column(next(output.alias for output in prepared.statement.outputs if output.kind == "metric")), {}
    found = metric_in(prepared, step)
    totals = list(dict.fromkeys(node.copy() for node in nodes(found, exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None))
    query = step.this.copy()
    query.set("expressions", [exp.alias_(total, f"total_{number}") for number, total in enumerate(totals)])
    query.comments = None
    # A query for which nothing was retrieved may have no row here.
    row: dict[str, Any] = next(iter(rows_of(prepared, query, step.alias).to_pylist()), {})
    return found.unalias().copy(), {total: row.get(f"total_{number}") for number, total in enumerate(totals)}


def _put_in(expression: exp.Expr, sums: Mapping[exp.Expr, float | None]) -> exp.Expr:
    """Return an expression with values in place of sums."""

    def put(node: exp.Expr) -> exp.Expr:
        return (exp.Null() if sums[node] is None else literal(float(f"{sums[node]:.{DIGITS}g}"))) if node in sums else node

    return expression.transform(put)
