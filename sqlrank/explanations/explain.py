"""Explain a metric value by the rows of a statement's CTEs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.argument_checks import entry_point
from sqlrank.compiler.parameter_binding import sql_literal
from sqlrank.engines import remote_database
from sqlrank.engines.open_database import run_on_database
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import InputError, MetricError
from sqlrank.execution import execute_resolved
from sqlrank.explanations.ablation import score_range_ablation
from sqlrank.explanations.explanation import SIGNIFICANT_DIGITS, Explanation
from sqlrank.explanations.intermediate_steps import aggregating_cte, ctes, has_columns, metric_column, run_over_ctes, step_preview
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.prepare import prepare
from sqlrank.request import Request, collect_sources
from sqlrank.resolve import resolve_request
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.prepare import PreparedStatement
    from sqlrank.registry.metric import Metric
    from sqlrank.resolve import ResolvedRequest


@entry_point
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
    show_where: str | None = None,
    max_rows: int = 20,
    compat: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> Explanation:
    """Explain a metric value: rows of each CTE, and its expression with aggregates substituted.

    Args:
        metric: one metric with a single value, built-in or your own.
        query: the query whose value is explained; metrics of predictions have a value over all rows without it.
        run: as for :func:`sqlrank.evaluate`, but of one system.
        qrels: judgments.
        predictions: predictions.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read, such as one group: ``"campaign = 'men'"``.
        show_where: a SQL condition on the rows to show, such as one cluster: ``"true_cluster = 'Ann'"``. It filters the CTEs that have its
            columns, and does not change the value.
        max_rows: maximum number of rows shown per CTE: the first by rank, threshold or score, or those that contribute most to the metric.
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
        An :class:`sqlrank.explanations.explanation.Explanation`, which prints as text; its ``value`` is that of :func:`sqlrank.evaluate`.

    Raises:
        MetricError: a curve or a metric with several values, or a query for a metric without queries.
        InputError: data that cannot be evaluated, or an unknown query.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> explanation = explain("RR", query="q1", run={"q1": {"a": 2.0, "b": 1.0}}, qrels={"q1": {"b": 1}})
    >>> explanation.value, explanation.expression
    (0.5, 'MAX(CASE WHEN NOT rank IS NULL THEN 1 / rank ELSE 0 END)')
    """
    call = Request(
        [metric],
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries, inputs=inputs),
        columns=columns,
        where=where,
        per_query=query is not None,
        only_query=query,
        compat=compat,
        sql_dir=sql_dir,
        plan=plan,
        policies=policies,
    )
    resolved_dialect = remote_database.infer_dialect(connection, dialect)
    request = resolve_request(call)
    _check(request, query)
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    return run_on_database(
        connection, resolved_dialect, limits, lambda database: _explained(request, database, check, max_rows, show_where)
    )


def _check(request: ResolvedRequest, query: Any) -> None:
    (resolved_metric,) = request.metrics
    if resolved_metric.file.kind == "curves" or isinstance(resolved_metric.metric.cutoff, tuple):
        raise MetricError(f"{resolved_metric.metric} has rows of its own; explain a metric with one value")
    if query is None and resolved_metric.input_role == "run" and resolved_metric.file.grain == "list":
        raise MetricError(f"{resolved_metric.metric} is of queries; name the one to explain with query= (--query)")
    if getattr(request.sources.get("run"), "members_are_systems", False) or isinstance((request.columns or {}).get("score"), (list, tuple)):
        raise MetricError("several systems have values of their own; give the one to explain")


def _explained(request: ResolvedRequest, database: Database, check: CheckMode, max_rows: int, show_where: str | None) -> Explanation:
    condition = None if show_where is None else parse_condition(show_where, database.dialect, "show_where")
    if condition is not None and (parameter := condition.find(exp.Placeholder, exp.Parameter)):
        raise InputError(f"show_where: {parameter.sql('duckdb')} has no value; write the value itself")
    result = execute_resolved(request, database, check)
    name = str(request.metrics[0].metric)
    query = request.only_query
    if result.num_rows != 1:
        raise InputError(f"no query is called {query!r}; per_query=True (--per-query) lists those that are evaluated")
    prepared = prepare(request, database, keep_unused=True)
    statement_ctes = ctes(prepared)
    if condition is not None and not any(has_columns(condition, cte) for cte in statement_ctes):
        raise InputError(f"show_where: no step has all columns of {show_where}; leave it out to see which columns steps have")
    steps = tuple(step_preview(prepared, cte, max_rows, condition) for cte in statement_ctes)
    expression, sums = _sums(prepared)
    worked = _put_in(expression, sums)
    values = {node.sql("duckdb"): value for node, value in sums.items()}
    value = result[name][0].as_py()
    losses = score_range_ablation(prepared, value, max_rows)
    return Explanation(name, query, value, steps, expression.sql("duckdb"), values, worked.sql("duckdb"), prepared.render().text, losses)


def _sums(prepared: PreparedStatement) -> tuple[exp.Expr, dict[exp.Expr, float | None]]:
    """Return the metric's expression, and the value of each aggregate in it."""
    cte = aggregating_cte(prepared)
    if cte is None:
        return exp.column(next(output.alias for output in prepared.statement.outputs if output.kind == "metric")), {}
    metric_expression = metric_column(prepared, cte)
    totals = list(
        dict.fromkeys(node.copy() for node in find_nodes(metric_expression, exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None)
    )
    query = cte.this.copy()
    query.set("expressions", [exp.alias_(total, f"total_{index}") for index, total in enumerate(totals)])
    query.comments = None
    # A query without retrieved documents may have no row here.
    row: dict[str, Any] = next(iter(run_over_ctes(prepared, query, cte.alias).to_pylist()), {})
    return metric_expression.unalias().copy(), {total: row.get(f"total_{index}") for index, total in enumerate(totals)}


def _put_in(expression: exp.Expr, sums: Mapping[exp.Expr, float | None]) -> exp.Expr:
    """Return an expression with its aggregates replaced by their values."""

    def put(node: exp.Expr) -> exp.Expr:
        return (exp.Null() if sums[node] is None else sql_literal(float(f"{sums[node]:.{SIGNIFICANT_DIGITS}g}"))) if node in sums else node

    return expression.transform(put)
