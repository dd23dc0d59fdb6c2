"""Explain a metric of one query, of each query, or of all rows: rows of each CTE, and its expression with aggregates substituted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.argument_checks import entry_point
from sqlrank.compiler.row_keys import LIST_ID, QUERY_ID
from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.open_database import run_on_database
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import InputError, MetricError
from sqlrank.execution import execute_resolved
from sqlrank.explanations.ablation import score_range_ablation
from sqlrank.explanations.explanation import SIGNIFICANT_DIGITS, Explanation, Step
from sqlrank.explanations.intermediate_steps import (
    aggregating_cte,
    find_ctes,
    has_columns,
    list_keys,
    lists_of_queries,
    metric_column,
    run_over_ctes,
    step_preview,
    step_previews,
)
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.prepare import prepare_statement
from sqlrank.request import Request, collect_sources, system_source
from sqlrank.resolve import resolve_request
from sqlrank.sql_ast import find_nodes, sql_literal

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
    (0.5, 'MAX(CASE WHEN NOT rank IS NULL THEN reciprocal_rank ELSE 0 END)')
    """
    call = Request(
        [metric],
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries, inputs=inputs),
        columns=columns,
        where=where,
        per_query=query is not None,
        only_queries=() if query is None else (query,),
        compat=compat,
        sql_dir=sql_dir,
        plan=plan,
        policies=policies,
    )
    resolved_dialect = infer_dialect(connection, dialect)
    request = resolve_request(call)
    if "run" in request.assembled_roles:  # rows that are sorted name the document at each rank, which lists do not
        request = replace(request, plan={"rank_method": "sort", **request.plan})
    _check_request(request, query)
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    return run_on_database(
        connection, resolved_dialect, limits, lambda database: _explain_on_database(request, database, check, max_rows, show_where)
    )


def _check_request(request: ResolvedRequest, query: Any) -> None:
    (resolved_metric,) = request.metrics
    if resolved_metric.file.kind == "curves" or isinstance(resolved_metric.metric.cutoff, tuple):
        raise MetricError(f"{resolved_metric.metric} has rows of its own. Explain a metric with one value")
    if query is None and resolved_metric.input_role == "run" and resolved_metric.file.grain == "list":
        raise MetricError(f"{resolved_metric.metric} is of queries. Name the one to explain with query=")
    if getattr(system_source(request.sources), "members_are_systems", False) or isinstance(
        (request.columns or {}).get("score"), (list, tuple)
    ):
        raise MetricError("several systems have values of their own. Give the one to explain")


def _explain_on_database(
    request: ResolvedRequest, database: Database, check: CheckMode, max_rows: int, show_where: str | None
) -> Explanation:
    condition = None if show_where is None else parse_condition(show_where, database.dialect, "show_where")
    if condition is not None and (parameter := condition.this.tree.find(exp.Placeholder, exp.Parameter)):
        raise InputError(f"show_where: {parameter.sql('duckdb')} has no value. Write the value itself")
    result = execute_resolved(request, database, check)
    name = str(request.metrics[0].metric)
    query = request.only_queries[0] if request.only_queries else None
    if result.num_rows != 1:
        raise InputError(_unknown_query(query))
    prepared = prepare_statement(request, database, keep_unused=True)
    statement_ctes = find_ctes(prepared)
    if condition is not None and not any(has_columns(condition, cte) for cte in statement_ctes):
        raise InputError(f"show_where: no step has all columns of {show_where}. Leave it out to see which columns steps have")
    steps = tuple(step_preview(prepared, cte, max_rows, condition) for cte in statement_ctes)
    if condition is not None and not any(
        step.num_rows for step, cte in zip(steps, statement_ctes, strict=True) if has_columns(condition, cte)
    ):
        raise InputError(f"show_where: no step has a row where {show_where}. Leave it out to see the values that rows have")
    expression, sums = _fetch_aggregates(prepared)
    value = result[name][0].as_py()
    explanation = _build_explanation(prepared, query, value, steps, expression, sums[None])
    return replace(explanation, losses=score_range_ablation(prepared, value, max_rows))


def explain_queries(
    request: ResolvedRequest, connection: Any, dialect: str, limits: ResourceLimits, max_rows: int
) -> dict[Any, Explanation | str]:
    """Explain a metric of ranked lists for the queries of a request, with one statement per CTE.

    Rows are not validated. ``max_rows`` is the maximum number of rows per CTE and query.

    Returns:
        The explanation of each query, or the message of why there is none.
    """
    return run_on_database(connection, dialect, limits, lambda database: _explained_queries(request, database, max_rows))


def _explained_queries(request: ResolvedRequest, database: Database, max_rows: int) -> dict[Any, Explanation | str]:
    result = execute_resolved(request, database, "off")
    prepared = prepare_statement(request, database, "off", keep_unused=True)
    keys = list_keys(prepared)
    if keys is None:
        return {query: _explained_or_refused(replace(request, only_queries=(query,)), database, max_rows) for query in request.only_queries}
    values = dict(zip(map(str, result[QUERY_ID].to_pylist()), result[str(request.metrics[0].metric)].to_pylist(), strict=True))
    lists = lists_of_queries(prepared)
    statement_ctes = find_ctes(prepared)
    previews = [step_previews(prepared, cte, max_rows, keys[cte.alias]) for cte in statement_ctes]
    expression, sums = _fetch_aggregates(prepared, LIST_ID)
    explanations: dict[Any, Explanation | str] = {}
    for query in request.only_queries:
        key_values = {LIST_ID: lists.get(str(query)), QUERY_ID: str(query), None: None}
        steps = tuple(
            steps_by_key.get(key_values[keys[cte.alias]], steps_by_key[None])
            for cte, steps_by_key in zip(statement_ctes, previews, strict=True)
        )
        explanations[query] = (
            _build_explanation(prepared, query, values[str(query)], steps, expression, sums.get(key_values[LIST_ID], sums[None]))
            if str(query) in values
            else _unknown_query(query)
        )
    return explanations


def _explained_or_refused(request: ResolvedRequest, database: Database, max_rows: int) -> Explanation | str:
    try:
        return _explain_on_database(request, database, "off", max_rows, None)
    except (InputError, MetricError) as error:  # such as a query for which the system retrieved nothing
        return str(error)


def _unknown_query(query: Any) -> str:
    return f"no query is called {query!r}. per_query=True lists those that are evaluated"


def _build_explanation(
    prepared: PreparedStatement,
    query: Any,
    value: float | None,
    steps: tuple[Step, ...],
    expression: exp.Expr,
    sums: Mapping[exp.Expr, float | None],
) -> Explanation:
    totals = {node.sql("duckdb"): total for node, total in sums.items()}
    worked = _substitute_aggregates(expression, sums).sql("duckdb")
    metric = str(prepared.request.metrics[0].metric)
    return Explanation(metric, query, value, steps, expression.sql("duckdb"), totals, worked, prepared.render().text)


def _fetch_aggregates(prepared: PreparedStatement, key: str | None = None) -> tuple[exp.Expr, dict[Any, dict[exp.Expr, float | None]]]:
    """Return the metric's expression, and the value of each aggregate in it, by the values of a key column if one is named.

    The values of None are those of a key without rows, or of all rows.
    """
    cte = aggregating_cte(prepared)
    if cte is None:
        return exp.column(next(output.alias for output in prepared.statement.outputs if output.kind == "metric")), {None: {}}
    metric_expression = metric_column(prepared, cte)
    totals = list(
        dict.fromkeys(node.copy() for node in find_nodes(metric_expression, exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None)
    )
    query = cte.this.copy()
    key_columns = [] if key is None else [item for item in query.selects if item.alias_or_name == key]
    query.set("expressions", [*key_columns, *(exp.alias_(total, f"total_{index}") for index, total in enumerate(totals))])
    query.comments = None
    # A query without retrieved documents may have no row here.
    sums: dict[Any, dict[exp.Expr, float | None]] = {None: dict.fromkeys(totals)}
    for row in run_over_ctes(prepared, query, cte.alias).to_pylist():
        sums[row.get(key)] = {total: row[f"total_{index}"] for index, total in enumerate(totals)}
    return metric_expression.unalias().copy(), sums


def _substitute_aggregates(expression: exp.Expr, sums: Mapping[exp.Expr, float | None]) -> exp.Expr:
    """Return an expression with its aggregates replaced by their values."""

    def put_value(node: exp.Expr) -> exp.Expr:
        return (exp.Null() if sums[node] is None else sql_literal(float(f"{sums[node]:.{SIGNIFICANT_DIGITS}g}"))) if node in sums else node

    return expression.transform(put_value)
