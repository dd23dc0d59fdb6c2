"""Explain a metric of one query, of each query, or of all rows: rows of each CTE, its expression
with numbers, and ranges of scores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import Request
from sqlrank.call.resolve import ResolvedRequest, resolve_request
from sqlrank.call.sources import find_systems
from sqlrank.compiler.row_keys import LIST_ID, QUERY_ID
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.engines.open_database import ExecutionOptions, run_on_database
from sqlrank.errors import InputError, MetricError
from sqlrank.explanations.explanation import (
    NAME_COLUMNS,
    ORDER_COLUMNS,
    RANKED_RELATION,
    TERM_COLUMN,
    ZERO,
    Explanation,
    Step,
    format_significant,
    split_term,
    substitute_aggregates,
    title_terms,
    word_aggregate,
)
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.metric_info import better_direction
from sqlrank.run.execution import execute_resolved
from sqlrank.run.prepare import PreparedStatement, prepare_statement
from sqlrank.sql_ast import call_function, count_rows, find_nodes, first_select, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from sqlrank.call.request import ResourceLimits
    from sqlrank.engines.database import Database
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import DialectName, Policies
    from sqlrank.registry.metric import Metric


MAX_TABULATED_TERMS = 2
"""Maximum number of sums of a metric whose rows are shown."""

FORMULA_INDENT = "    "
"""Indentation of formulas in the comment of a metric's file."""

NUM_ALL_ROWS = "num_all_rows"
"""The temporary column with the number of rows of a CTE."""

KEY, POSITION = "key_of_step", "position_of_row"
"""The temporary columns with the key of a row, and its position among the rows of the key."""


def find_ctes(prepared: PreparedStatement) -> list[exp.CTE]:
    """Return the CTEs of a statement in order."""
    return list(prepared.statement.tree.args["with_"].expressions)


def run_over_ctes(prepared: PreparedStatement, query: exp.Select, last: str) -> Any:
    """Return the rows of a query over the CTEs up to and including ``last``."""
    statement_ctes = find_ctes(prepared)
    last_index = next(index for index, cte in enumerate(statement_ctes) if cte.alias == last)
    query.set(
        "with_", exp.With(expressions=[cte.copy() for cte in statement_ctes[: last_index + 1]])
    )
    prepared_query = replace(
        prepared, statement=CompiledStatement(query, [], prepared.statement.header)
    )
    return prepared.inputs.database.fetch_arrow(prepared_query.rendered.executable)


def step_preview(
    prepared: PreparedStatement,
    cte: exp.CTE,
    max_rows: int,
    condition: exp.Expr | None,
    terms: Mapping[str, exp.Expr] | None = None,
) -> Step:
    """Return a CTE with its first rows, filtered by ``condition`` if it has the columns; with
    terms by column name, the rows that add to their sums.
    """
    query, order = _preview_query(prepared, cte, terms)
    title = " ".join(first_select(cte.this).comments or [])
    if condition is not None and has_columns(condition, cte):
        query = query.where(condition)
        title += f" (those where {condition.this.source})"
    query = (
        query.select(exp.Window(this=count_rows()).as_(NUM_ALL_ROWS))
        .order_by(*order)
        .limit(max_rows)
    )
    return _build_step(prepared, cte, title, run_over_ctes(prepared, query, cte.alias))


def step_previews(
    prepared: PreparedStatement,
    cte: exp.CTE,
    max_rows: int,
    key: str | None,
    terms: Mapping[str, exp.Expr] | None = None,
) -> dict[Any, Step]:
    """Return a CTE with its first rows for each value of a key column; with terms by column name,
    those that add to their sums.

    The step of None is that of a key without rows, or of all rows if there is no key. Queries are
    keys as text.
    """
    if key is None:
        return {None: step_preview(prepared, cte, max_rows, None, terms)}
    query, order = _preview_query(prepared, cte, terms)
    partition = [exp.column(key, table=cte.alias)]
    position = exp.Window(
        this=exp.RowNumber(), partition_by=partition, order=exp.Order(expressions=order)
    )
    count = exp.Window(this=count_rows(), partition_by=partition)
    query = query.select(
        partition[0].as_(KEY),
        count.as_(NUM_ALL_ROWS),
        position.as_(POSITION),
    )
    selected = [
        exp.column(exp.to_identifier(name, quoted=name != name.lower()))
        for name in query.named_selects
    ]
    first_rows = (
        exp.select(*selected)
        .from_(query.subquery("positions"))
        .where(exp.column(POSITION) <= max_rows)
    )
    rows = run_over_ctes(prepared, first_rows.order_by(KEY, POSITION), cte.alias)
    positions: dict[Any, list[int]] = {None: []}
    for index, value in enumerate(rows[KEY].to_pylist()):
        positions.setdefault(str(value) if key == QUERY_ID else value, []).append(index)
    title = " ".join(first_select(cte.this).comments or [])
    rows = rows.drop_columns([KEY, POSITION])
    return {
        value: _build_step(prepared, cte, title, rows.take(pa.array(indices, pa.int64())))
        for value, indices in positions.items()
    }


def _build_step(prepared: PreparedStatement, cte: exp.CTE, title: str, rows: pa.Table) -> Step:
    """Return a CTE with some of its rows, which have the number of all in a column."""
    num_rows = int(rows[NUM_ALL_ROWS][0].as_py()) if rows.num_rows else 0
    return Step(
        cte.alias,
        title,
        rows.drop_columns([NUM_ALL_ROWS]),
        num_rows,
        prepared.statement.grains.get(cte.alias, ""),
    )


def _preview_query(
    prepared: PreparedStatement, cte: exp.CTE, terms: Mapping[str, exp.Expr] | None
) -> tuple[exp.Select, list[exp.Ordered]]:
    """Return the query of a CTE's rows, with documents and terms, and its sort keys; that of terms
    has the columns that they read and those that name rows.
    """
    names = [name for name in cte.this.named_selects if name != LIST_ID] or list(
        cte.this.named_selects
    )
    has_documents = "rank" in names and "doc_id" not in names and _has_ranks(prepared)
    added = dict(terms or {})
    if terms is not None:
        read = {*NAME_COLUMNS, *(name for term in terms.values() for name in _columns_read(term))}
        names = [name for name in names if name in read]
    elif TERM_COLUMN not in names and (term := _find_first_term(prepared, cte.alias)) is not None:
        added = {TERM_COLUMN: term}
    columns = [
        exp.column(exp.to_identifier(name, quoted=name != name.lower()), table=cte.alias)
        for name in names
    ]
    # A column alone adds up to its sum only where the condition of the sum holds.
    others = [column for name, column in zip(names, columns, strict=True) if name not in added]
    query = exp.select(*others).from_(cte.alias)
    if terms:
        query = query.where(
            exp.or_(*(exp.NEQ(this=term, expression=ZERO) for term in added.values()))
        )
    if has_documents:
        query = _with_documents(query, cte)
    query = query.select(*(term.as_(name) for name, term in added.items()))
    first_term = next(iter(added.values()), None)
    return query, [
        *_query_first_keys(prepared, names),
        *_sort_keys(prepared, cte.alias, first_term, names, columns),
    ]


def _columns_read(term: exp.Expr) -> list[str]:
    return [column.name for column in find_nodes(term, exp.Column)]


def list_keys(prepared: PreparedStatement) -> dict[str, str | None] | None:
    """Return the column of each CTE that distinguishes lists: ``list_id`` or ``query_id``, None for
    rows that depend on no input.

    Returns None if lists cannot be distinguished in a CTE, or a metric reads other lists.
    """
    keys: dict[str, str | None] = {}
    constant: set[str] = set()
    for cte in find_ctes(prepared):
        names = cte.this.named_selects
        keys[cte.alias] = next((key for key in (LIST_ID, QUERY_ID) if key in names), None)
        if {table.name for table in find_nodes(cte.this, exp.Table)} <= constant:
            constant.add(cte.alias)
        elif keys[cte.alias] is None:
            return None
    aggregating = aggregating_cte(prepared)
    has_list = aggregating is None or LIST_ID in aggregating.this.named_selects
    is_mapped = any({LIST_ID, QUERY_ID} <= {*cte.this.named_selects} for cte in find_ctes(prepared))
    return keys if has_list and is_mapped and not prepared.inputs.roles_read_across_lists else None


def lists_of_queries(prepared: PreparedStatement) -> dict[str, Any]:
    """Return the list of each query, whose id is text."""
    cte = next(
        cte for cte in find_ctes(prepared) if {LIST_ID, QUERY_ID} <= {*cte.this.named_selects}
    )
    rows = run_over_ctes(prepared, exp.select(QUERY_ID, LIST_ID).from_(cte.alias), cte.alias)
    return dict(zip(map(str, rows[QUERY_ID].to_pylist()), rows[LIST_ID].to_pylist(), strict=True))


def has_columns(condition: exp.Expr, cte: exp.CTE) -> bool:
    """Return True if a CTE has all columns of a condition."""
    return {column.name for column in condition.find_all(exp.Column)} <= set(cte.this.named_selects)


def _query_first_keys(prepared: PreparedStatement, names: Sequence[str]) -> list[exp.Ordered]:
    """Return the sort key that puts rows of the query first.

    Only metrics across lists read rows of other queries.
    """
    if (
        not prepared.request.only_queries
        or QUERY_ID not in names
        or not prepared.inputs.roles_read_across_lists
    ):
        return []
    (query,) = prepared.request.only_queries
    is_query = exp.cast(exp.column(QUERY_ID), "TEXT").eq(str(query))
    return [exp.Ordered(this=exp.Case().when(is_query, "0").else_("1"))]


def _sort_keys(
    prepared: PreparedStatement,
    cte_name: str,
    term: exp.Expr | None,
    names: Sequence[str],
    columns: Sequence[exp.Column],
) -> list[exp.Ordered]:
    """Return the sort keys of a CTE's rows.

    The first key is a position column if one exists. Inputs are sorted by contribution to the
    metric, other CTEs by descending threshold, score or contribution. All columns follow, so that
    the order is deterministic.
    """
    position_column = next((name for name in ORDER_COLUMNS if name in names), None)
    descending_columns = [name for name in ("threshold", "score") if name in names]
    columns_by_name: dict[str, exp.Expr] = dict(zip(names, columns, strict=True))
    order = [
        columns_by_name[name]
        for name in ([position_column] if position_column else []) + list(names)
    ]
    leading_keys: list[exp.Expr] = []
    if position_column is None:
        leading_keys = [columns_by_name[name] for name in descending_columns[:1]]
        if term is not None and (not leading_keys or cte_name in prepared.request.library.roles):
            leading_keys = [exp.Abs(this=term)]
    descending_keys = [
        exp.Ordered(this=head, desc=True, nulls_first=False) for head in leading_keys
    ]
    return descending_keys + [
        exp.Ordered(this=node, desc=False, nulls_first=False)
        for node in dict.fromkeys(order)
        if node not in leading_keys
    ]


def _find_first_term(prepared: PreparedStatement, cte_name: str) -> exp.Expr | None:
    """Return a row's contribution to the metric's first aggregate, or None.

    None if the metric reads another CTE than ``cte_name``, or sums a column.
    """
    terms = _find_terms(prepared) if _find_source(prepared) == cte_name else {}
    term = next(iter(terms.values()), None)
    return None if term is None or isinstance(split_term(term)[0], exp.Column) else term


def _find_terms(prepared: PreparedStatement) -> dict[exp.Expr, exp.Expr]:
    """Return a row's contribution to each sum of the metric, by the sum, or to each maximum if
    there is none; empty if it reads several tables.
    """
    reader = aggregating_cte(prepared)
    if reader is None or reader.this.args.get("joins"):
        return {}
    source = reader.this.args["from_"].this
    terms: dict[exp.Expr, exp.Expr] = {}
    column = metric_column(prepared, reader)
    sums: list[exp.AggFunc] = [*find_nodes(column, exp.Sum)]
    for node in sums or find_nodes(column, exp.Max):
        if isinstance(source, exp.Table) and node.find_ancestor(exp.AggFunc) is None:
            term = terms.setdefault(node.copy(), node.this.copy())
            for column in find_nodes(term, exp.Column):
                column.set("table", exp.to_identifier(source.name))
    return terms


def _find_tabulated_terms(prepared: PreparedStatement) -> dict[str, dict[str, exp.Expr]]:
    """Return the terms whose rows are shown, by the column that orders them, empty if none does,
    and their names: of one or two sums over all rows of the lists that are explained.

    A sum over a list in any order has no table.
    """
    reader = aggregating_cte(prepared)
    terms = _find_terms(prepared)
    is_filtered = reader is not None and (
        reader.this.args.get("where") is not None or reader.this.find(exp.Filter) is not None
    )
    if len(terms) > MAX_TABULATED_TERMS or is_filtered or prepared.inputs.roles_read_across_lists:
        return {}
    tables: dict[str, dict[str, exp.Expr]] = {}
    for node, name in _name_terms(terms).items():
        read = _columns_read(terms[node])
        order = next((column for column in ORDER_COLUMNS if column in read), "")
        if order or not _has_ranks(prepared):
            tables.setdefault(order, {})[name] = terms[node]
    return tables


def _name_terms(terms: Mapping[exp.Expr, exp.Expr]) -> dict[exp.Expr, str]:
    """Return the names of terms as columns, by their sums: of a column alone its own."""
    names: dict[exp.Expr, str] = {}
    values = {node: split_term(term)[0] for node, term in terms.items()}
    others = [node for node, value in values.items() if not isinstance(value, exp.Column)]
    for node, value in values.items():
        name = (
            f"{TERM_COLUMN}_{others.index(node) + 1}"
            if len(others) > 1 and node in others
            else TERM_COLUMN
        )
        is_own = isinstance(value, exp.Column) and value.name not in names.values()
        names[node] = value.name if is_own else name
    return names


def aggregating_cte(prepared: PreparedStatement) -> exp.CTE | None:
    """Return the CTE that aggregates the rows of another into the metric.

    It is the last one, where per-query values are aggregated again.
    """
    for cte in reversed(find_ctes(prepared)):
        if isinstance(cte.this, exp.Select):
            column = metric_column(prepared, cte)
            if column is not None and column.find(exp.AggFunc) is not None:
                return cte
    return None


def metric_column(prepared: PreparedStatement, cte: exp.CTE) -> Any:
    """Return the column of a CTE that holds the metric, or None."""
    alias = _metric_alias(prepared)
    return next(
        (select_item for select_item in cte.this.selects if select_item.alias == alias), None
    )


def _metric_alias(prepared: PreparedStatement) -> str:
    return next(output.alias for output in prepared.statement.outputs if output.kind == "metric")


def _has_ranks(prepared: PreparedStatement) -> bool:
    columns_by_cte = {cte.alias: cte.this.named_selects for cte in find_ctes(prepared)}
    return {"doc_id", "rank"} <= set(columns_by_cte.get(RANKED_RELATION, ()))


def _with_documents(query: exp.Select, cte: exp.CTE) -> exp.Select:
    """Add the document of each rank without ties to a CTE that has only ranks."""
    keys = [name for name in (LIST_ID, "rank") if name in cte.this.named_selects]
    untied_documents = (
        exp.select(*keys, exp.Min(this=exp.column("doc_id")).as_("doc_id"))
        .from_(RANKED_RELATION)
        .group_by(*keys)
        .having("COUNT(*) = 1")
    )
    query.expressions.insert(0, exp.column("doc_id", table="named"))
    on = exp.and_(
        *(exp.column(name, table=cte.alias).eq(exp.column(name, table="named")) for name in keys)
    )
    return query.join(untied_documents.subquery("named"), on=on, join_type="left")


NUM_SCORE_RANGES = 10
"""Number of score ranges, with about equal numbers of predictions."""

SCORE_FIELD = "score"


def score_range_ablation(
    prepared: PreparedStatement, value: float | None, max_rows: int
) -> Step | None:
    """Return the metric without the predictions of each score range, and the difference that makes:
    the range that costs most first.

    The statement runs over the remaining predictions for each range, so that it works for every
    metric. Returns None for an undefined value, a metric without direction, or equal scores.
    """
    name = str(prepared.request.metrics[0].metric)
    direction = better_direction(name, prepared.request.library)
    predictions_cte = _find_predictions(prepared)
    if value is None or direction == "neither" or predictions_cte is None:
        return None
    bounds = _fetch_range_bounds(prepared, predictions_cte)
    if len(bounds) < 2:  # noqa: PLR2004  one part is all that there is
        return None
    score_ranges = list(zip([None, *bounds], [*bounds[:-1], None], strict=False))
    rows = []
    for (above, up_to), count in zip(
        score_ranges, _count_predictions(prepared, predictions_cte, score_ranges), strict=True
    ):
        value_without = _evaluate_without(prepared, predictions_cte, _range_condition(above, up_to))
        rows.append(
            {
                "above": above,
                "up_to": up_to,
                "predictions": count,
                "without": value_without,
                "difference": None if value_without is None else value_without - value,
            }
        )
    rows.sort(
        key=lambda row: (
            row["difference"] is None,
            (row["difference"] or 0.0) * (-1 if direction == "higher" else 1),
            row["above"] is not None,
            row["above"] or 0.0,
        )
    )
    column_types = {
        "above": pa.float64(),
        "up_to": pa.float64(),
        "predictions": pa.int64(),
        "without": pa.float64(),
        "difference": pa.float64(),
    }
    return Step(
        "score ranges",
        f"{name} without the predictions of each, those that cost most first",
        pa.Table.from_pylist(rows[:max_rows], schema=pa.schema(list(column_types.items()))),
        len(rows),
    )


def _find_predictions(prepared: PreparedStatement) -> exp.CTE | None:
    """Return the CTE of predictions, or None if the metric does not read their scores."""
    if prepared.request.base_role != "predictions" or prepared.request.is_ranking:
        return None
    return next(
        (
            cte
            for cte in find_ctes(prepared)
            if cte.alias.startswith("predictions") and SCORE_FIELD in cte.this.named_selects
        ),
        None,
    )


def _fetch_range_bounds(prepared: PreparedStatement, predictions_cte: exp.CTE) -> list[float]:
    """Return the maximum score of each range, in ascending order; equal scores share a range."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(SCORE_FIELD))])
    tile = exp.Window(
        this=call_function("NTILE", exp.Literal.number(NUM_SCORE_RANGES)), order=order
    )
    tiles = exp.select(SCORE_FIELD, tile.as_("part")).from_(predictions_cte.alias).subquery("parts")
    query = (
        exp.select(exp.Max(this=exp.column(SCORE_FIELD)).as_("bound")).from_(tiles).group_by("part")
    )
    return sorted(
        {
            float(bound)
            for bound in run_over_ctes(prepared, query, predictions_cte.alias)["bound"].to_pylist()
            if bound is not None
        }
    )


def _range_condition(above: float | None, up_to: float | None) -> exp.Expr:
    score = exp.column(SCORE_FIELD)
    lower_bounds = [score > sql_literal(above)] if above is not None else []
    return exp.and_(
        *lower_bounds,
        *([score <= sql_literal(up_to)] if up_to is not None else []),
    )


def _count_predictions(
    prepared: PreparedStatement,
    predictions_cte: exp.CTE,
    score_ranges: Sequence[tuple[float | None, float | None]],
) -> list[int]:
    """Return the number of predictions in each range."""
    cases = [
        exp.Count(this=exp.Case().when(_range_condition(*score_range), "1"))
        for score_range in score_ranges
    ]
    query = exp.select(*(case.as_(f"part_{index}") for index, case in enumerate(cases))).from_(
        predictions_cte.alias
    )
    (row,) = run_over_ctes(prepared, query, predictions_cte.alias).to_pylist()
    return [int(count) for count in row.values()]


def _evaluate_without(
    prepared: PreparedStatement, predictions_cte: exp.CTE, range_condition: exp.Expr
) -> float | None:
    """Return the metric over the predictions outside of a score range."""
    tree = prepared.statement.tree.copy()
    filtered_cte: Any = next(
        cte for cte in tree.args["with_"].expressions if cte.alias == predictions_cte.alias
    )
    names = [
        exp.to_identifier(name, quoted=name != name.lower())
        for name in filtered_cte.this.named_selects
    ]
    query = (
        exp.select(*map(exp.column, names))
        .from_(filtered_cte.this.subquery("all_rows"))
        .where(exp.not_(range_condition))
    )
    filtered_cte.set("this", query)
    filtered_statement = replace(prepared, statement=replace(prepared.statement, tree=tree))
    rows = prepared.inputs.database.fetch_arrow(filtered_statement.rendered.executable)
    metric_index = next(
        index for index, output in enumerate(prepared.statement.outputs) if output.kind == "metric"
    )
    value = rows.column(metric_index)[0].as_py() if rows.num_rows else None
    return None if value is None else float(value)


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
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    show_where: str | None = None,
    max_rows: int = 10,
    compat: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Unpack[Policies],
) -> Explanation:
    """Explain a metric value: the ranked list or rows that it is computed from, and its expression
    with numbers.

    Args:
        metric: one metric with a single value, built-in or your own.
        query: the query whose value is explained; metrics of predictions have a value over all rows
            without it.
        run: as for :func:`sqlrank.evaluate`, but of one system.
        qrels: judgments.
        predictions: predictions.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read, such as one group: ``"campaign = 'men'"``.
        show_where: a SQL condition on the rows to show, such as one cluster: ``"true_cluster =
            'Ann'"``. It filters the CTEs that have its columns, and does not change the value.
        max_rows: maximum number of rows shown per CTE: the first by rank, threshold or score, or
            those that contribute most to the metric.
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
        An :class:`sqlrank.explanations.explanation.Explanation`, which prints as text; its
        ``value`` is that of :func:`sqlrank.evaluate`.

    Raises:
        MetricError: a curve or a metric with several values, or a query for a metric without
            queries.
        InputError: data that cannot be evaluated, or an unknown query.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import sqlrank
    >>> explanation = sqlrank.explain(
    ...     "MRR", query="q1", run={"q1": {"a": 2.0, "b": 1.0}}, qrels={"q1": {"b": 1}}
    ... )
    >>> explanation.value, explanation.expression
    (0.5, 'MAX(CASE WHEN NOT rank IS NULL THEN reciprocal_rank ELSE 0 END)')
    """
    arguments = locals()
    only_queries = () if query is None else (query,)
    call = Request.from_arguments(
        arguments, metrics=[metric], per_query=query is not None, only_queries=only_queries
    )
    options = ExecutionOptions.from_arguments(arguments)
    request = resolve_request(call)
    if (
        "run" in request.assembled_roles
    ):  # rows that are sorted name the document at each rank, which lists do not
        request = replace(request, plan={"rank_method": "sort", **request.plan})
    _check_request(request, query)
    return options.run(
        lambda database: _explain_on_database(request, database, check, max_rows, show_where)
    )


def _check_request(request: ResolvedRequest, query: Any) -> None:
    (resolved_metric,) = request.metrics
    if resolved_metric.has_several_rows:
        raise MetricError(
            f"{resolved_metric.metric} has rows of its own. Explain a metric with one value"
        )
    if (
        query is None
        and resolved_metric.input_role == "run"
        and resolved_metric.file.grain == "list"
    ):
        raise MetricError(
            f"{resolved_metric.metric} is of queries. Name the one to explain with query="
        )
    if find_systems(request.sources) or isinstance(
        (request.columns or {}).get("score"), (list, tuple)
    ):
        raise MetricError(
            "several systems have values of their own. Explain one: leave out the sources or score"
            " columns of the others"
        )


def _explain_on_database(
    request: ResolvedRequest,
    database: Database,
    check: CheckMode,
    max_rows: int,
    show_where: str | None,
) -> Explanation:
    condition = (
        None if show_where is None else parse_condition(show_where, database.dialect, "show_where")
    )
    if condition is not None and (
        parameter := condition.this.tree.find(exp.Placeholder, exp.Parameter)
    ):
        raise InputError(
            f"show_where: {parameter.sql('duckdb')} has no value. Write the value itself"
        )
    result = execute_resolved(request, database, check)
    name = str(request.metrics[0].metric)
    query = request.only_queries[0] if request.only_queries else None
    if result.num_rows != 1:
        raise InputError(_unknown_query(query))
    prepared = prepare_statement(request, database, keep_unused=True)
    statement_ctes = find_ctes(prepared)
    if condition is not None and not any(has_columns(condition, cte) for cte in statement_ctes):
        raise InputError(
            f"show_where: no step has all columns of {show_where}. Leave it out to see which"
            " columns steps have"
        )
    steps = tuple(step_preview(prepared, cte, max_rows, condition) for cte in statement_ctes)
    if condition is not None and not any(
        step.num_rows
        for step, cte in zip(steps, statement_ctes, strict=True)
        if has_columns(condition, cte)
    ):
        raise InputError(
            f"show_where: no step has a row where {show_where}. Leave it out to see the values that"
            " rows have"
        )
    expression, sums = _fetch_aggregates(prepared)
    value = result[name][0].as_py()
    source = next((cte for cte in statement_ctes if cte.alias == _find_source(prepared)), None)
    tables = _find_tabulated_terms(prepared)
    terms = {
        order: step_preview(prepared, source, max_rows, condition, terms)
        for order, terms in tables.items()
        if source is not None
    }
    explanation = _build_explanation(prepared, query, value, steps, expression, sums[None], terms)
    return replace(explanation, losses=score_range_ablation(prepared, value, max_rows))


def explain_queries(
    request: ResolvedRequest, connection: Any, dialect: str, limits: ResourceLimits, max_rows: int
) -> dict[Any, Explanation | str]:
    """Explain a metric of ranked lists for the queries of a request, with one statement per CTE.

    Rows are not validated. ``max_rows`` is the maximum number of rows per CTE and query.

    Returns:
        The explanation of each query, or the message of why there is none.
    """
    return run_on_database(
        connection,
        dialect,
        limits,
        lambda database: _explained_queries(request, database, max_rows),
    )


def _explained_queries(
    request: ResolvedRequest, database: Database, max_rows: int
) -> dict[Any, Explanation | str]:
    result = execute_resolved(request, database, "off")
    prepared = prepare_statement(request, database, "off", keep_unused=True)
    keys = list_keys(prepared)
    if keys is None:
        return {
            query: _explained_or_refused(
                replace(request, only_queries=(query,)), database, max_rows
            )
            for query in request.only_queries
        }
    values = dict(
        zip(
            map(str, result[QUERY_ID].to_pylist()),
            result[str(request.metrics[0].metric)].to_pylist(),
            strict=True,
        )
    )
    lists = lists_of_queries(prepared)
    statement_ctes = find_ctes(prepared)
    previews = [step_previews(prepared, cte, max_rows, keys[cte.alias]) for cte in statement_ctes]
    term_previews = {
        order: (keys[cte.alias], step_previews(prepared, cte, max_rows, keys[cte.alias], terms))
        for order, terms in _find_tabulated_terms(prepared).items()
        for cte in statement_ctes
        if cte.alias == _find_source(prepared)
    }
    expression, sums = _fetch_aggregates(prepared, LIST_ID)
    explanations: dict[Any, Explanation | str] = {}
    for query in request.only_queries:
        key_values = {LIST_ID: lists.get(str(query)), QUERY_ID: str(query), None: None}
        steps = tuple(
            steps_by_key.get(key_values[keys[cte.alias]], steps_by_key[None])
            for cte, steps_by_key in zip(statement_ctes, previews, strict=True)
        )
        explanations[query] = (
            _build_explanation(
                prepared,
                query,
                values[str(query)],
                steps,
                expression,
                sums.get(key_values[LIST_ID], sums[None]),
                {
                    order: steps_by_key.get(key_values[key], steps_by_key[None])
                    for order, (key, steps_by_key) in term_previews.items()
                },
            )
            if str(query) in values
            else _unknown_query(query)
        )
    return explanations


def _find_source(prepared: PreparedStatement) -> str | None:
    """Return the name of the CTE whose rows are aggregated into the metric."""
    reader = aggregating_cte(prepared)
    return None if reader is None else str(reader.this.args["from_"].this.alias_or_name)


def _explained_or_refused(
    request: ResolvedRequest, database: Database, max_rows: int
) -> Explanation | str:
    try:
        return _explain_on_database(request, database, "off", max_rows, None)
    except (
        InputError,
        MetricError,
    ) as error:  # such as a query for which the system retrieved nothing
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
    terms: Mapping[str, Step],
) -> Explanation:
    (resolved,) = prepared.request.metrics
    lines = resolved.file.doc.splitlines()
    formula = tuple(line[4:] for line in lines if line.startswith(FORMULA_INDENT))
    worked, used = substitute_aggregates(expression, sums)
    described = used if value is not None else list(sums)
    names = _name_terms(_find_terms(prepared))
    return Explanation(
        str(resolved.metric),
        query,
        value,
        steps,
        expression.sql("duckdb"),
        {node.sql("duckdb"): total for node, total in sums.items()},
        worked.sql("duckdb"),
        prepared.rendered.text,
        source=_find_source(prepared),
        terms=tuple(title_terms(step, order) for order, step in terms.items() if step.num_rows),
        numbers=tuple(
            f"{format_significant(sums[node])} ="
            f" {word_aggregate(node, names.get(node, ''), formula)}"
            for node in described
        ),
        formula=formula,
        undefined=resolved.file.annotations.get("Undefined", ""),
    )


def _fetch_aggregates(
    prepared: PreparedStatement, key: str | None = None
) -> tuple[exp.Expr, dict[Any, dict[exp.Expr, float | None]]]:
    """Return the metric's expression, and the value of each aggregate in it, by the values of a key
    column if one is named.

    The values of None are those of a key without rows, or of all rows.
    """
    cte = aggregating_cte(prepared)
    if cte is None:
        return exp.column(_metric_alias(prepared)), {None: {}}
    metric_expression = metric_column(prepared, cte)
    totals = list(
        dict.fromkeys(
            node.copy()
            for node in find_nodes(metric_expression, exp.AggFunc)
            if node.find_ancestor(exp.AggFunc) is None
        )
    )
    query = cte.this.copy()
    key_columns = (
        [] if key is None else [item for item in query.selects if item.alias_or_name == key]
    )
    query.set(
        "expressions",
        [
            *key_columns,
            *(total.as_(f"total_{index}") for index, total in enumerate(totals)),
        ],
    )
    query.comments = None
    # A query without retrieved documents may have no row here.
    sums: dict[Any, dict[exp.Expr, float | None]] = {None: dict.fromkeys(totals)}
    for row in run_over_ctes(prepared, query, cte.alias).to_pylist():
        sums[row.get(key)] = {total: row[f"total_{index}"] for index, total in enumerate(totals)}
    return metric_expression.unalias().copy(), sums
