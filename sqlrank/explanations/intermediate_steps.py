"""Query the CTEs of a statement: preview first rows, find the column that identifies lists in each, and the CTE of the metric."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.compiler.row_keys import LIST_ID, QUERY_ID
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.explanations.explanation import Step
from sqlrank.sql_ast import find_nodes, first_select, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.prepare import PreparedStatement

NUM_ALL_ROWS = "num_all_rows"
"""The temporary column with the number of rows of a CTE."""

KEY, POSITION = "key_of_step", "position_of_row"
"""The temporary columns with the key of a row, and its position among the rows of the key."""

TERM_COLUMN = "term"
"""The column with a row's contribution to the first aggregate of the metric."""

RANKED_RELATION = "ranked_documents"
"""The relation with the rank of each document."""

ORDER_COLUMNS = (
    "rank",
    "ideal_rank",
    "baseline_rank",
    "class_rank",
    "ascending_rank",
    "popularity_rank",
    "elbow_rank",
    "input_rank",
    "bin",
)
"""Columns that sort the rows of a CTE; the first one that exists is used."""


def find_ctes(prepared: PreparedStatement) -> list[exp.CTE]:
    """Return the CTEs of a statement in order."""
    return list(prepared.statement.tree.args["with_"].expressions)


def run_over_ctes(prepared: PreparedStatement, query: exp.Select, last: str) -> Any:
    """Return the rows of a query over the CTEs up to and including ``last``."""
    statement_ctes = find_ctes(prepared)
    last_index = next(index for index, cte in enumerate(statement_ctes) if cte.alias == last)
    query.set("with_", exp.With(expressions=[cte.copy() for cte in statement_ctes[: last_index + 1]]))
    prepared_query = replace(prepared, statement=CompiledStatement(query, [], prepared.statement.header))
    return prepared.inputs.database.fetch_arrow(prepared_query.render().executable)


def step_preview(prepared: PreparedStatement, cte: exp.CTE, max_rows: int, condition: exp.Expr | None) -> Step:
    """Return a CTE with its first rows, filtered by ``condition`` if it has the columns."""
    query, order = _preview_query(prepared, cte)
    title = " ".join(first_select(cte.this).comments or [])
    if condition is not None and has_columns(condition, cte):
        query = query.where(condition.copy())
        title += f" (those where {condition.this.source})"
    query = query.select(exp.alias_(exp.Window(this=exp.Count(this=exp.Star())), NUM_ALL_ROWS)).order_by(*order).limit(max_rows)
    return _build_step(prepared, cte, title, run_over_ctes(prepared, query, cte.alias))


def step_previews(prepared: PreparedStatement, cte: exp.CTE, max_rows: int, key: str | None) -> dict[Any, Step]:
    """Return a CTE with its first rows for each value of a key column.

    The step of None is that of a key without rows, or of all rows if there is no key. Queries are keys as text.
    """
    if key is None:
        return {None: step_preview(prepared, cte, max_rows, None)}
    query, order = _preview_query(prepared, cte)
    partition = [exp.column(key, table=cte.alias)]
    position = exp.Window(this=exp.RowNumber(), partition_by=partition, order=exp.Order(expressions=order))
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=partition)
    query = query.select(exp.alias_(partition[0], KEY), exp.alias_(count, NUM_ALL_ROWS), exp.alias_(position, POSITION))
    selected = [exp.column(exp.to_identifier(name, quoted=name != name.lower())) for name in query.named_selects]
    first_rows = (
        exp.select(*selected).from_(query.subquery("positions")).where(exp.LTE(this=exp.column(POSITION), expression=sql_literal(max_rows)))
    )
    rows = run_over_ctes(prepared, first_rows.order_by(KEY, POSITION), cte.alias)
    positions: dict[Any, list[int]] = {None: []}
    for index, value in enumerate(rows[KEY].to_pylist()):
        positions.setdefault(str(value) if key == QUERY_ID else value, []).append(index)
    title = " ".join(first_select(cte.this).comments or [])
    rows = rows.drop_columns([KEY, POSITION])
    return {value: _build_step(prepared, cte, title, rows.take(pa.array(indices, pa.int64()))) for value, indices in positions.items()}


def _build_step(prepared: PreparedStatement, cte: exp.CTE, title: str, rows: pa.Table) -> Step:
    """Return a CTE with some of its rows, which have the number of all in a column."""
    num_rows = int(rows[NUM_ALL_ROWS][0].as_py()) if rows.num_rows else 0
    return Step(cte.alias, title, rows.drop_columns([NUM_ALL_ROWS]), num_rows, prepared.statement.grains.get(cte.alias, ""))


def _preview_query(prepared: PreparedStatement, cte: exp.CTE) -> tuple[exp.Select, list[exp.Ordered]]:
    """Return the query of a CTE's rows, with documents and terms, and its sort keys."""
    names = [name for name in cte.this.named_selects if name != LIST_ID] or list(cte.this.named_selects)
    columns = [exp.column(exp.to_identifier(name, quoted=name != name.lower()), table=cte.alias) for name in names]
    query = exp.select(*columns).from_(cte.alias)
    if "rank" in names and "doc_id" not in names and _has_ranks(prepared):
        query = _with_documents(query, cte)
    term = _find_first_term(prepared, cte.alias) if TERM_COLUMN not in names else None
    query = query.select(exp.alias_(term.copy(), TERM_COLUMN)) if term is not None else query
    return query, [*_query_first_keys(prepared, names), *_sort_keys(prepared, cte.alias, term, names, columns)]


def list_keys(prepared: PreparedStatement) -> dict[str, str | None] | None:
    """Return the column of each CTE that distinguishes lists: ``list_id`` or ``query_id``, None for rows that depend on no input.

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
    cte = next(cte for cte in find_ctes(prepared) if {LIST_ID, QUERY_ID} <= {*cte.this.named_selects})
    rows = run_over_ctes(prepared, exp.select(QUERY_ID, LIST_ID).from_(cte.alias), cte.alias)
    return dict(zip(map(str, rows[QUERY_ID].to_pylist()), rows[LIST_ID].to_pylist(), strict=True))


def has_columns(condition: exp.Expr, cte: exp.CTE) -> bool:
    """Return True if a CTE has all columns of a condition."""
    return {column.name for column in condition.find_all(exp.Column)} <= set(cte.this.named_selects)


def _query_first_keys(prepared: PreparedStatement, names: Sequence[str]) -> list[exp.Ordered]:
    """Return the sort key that puts rows of the query first.

    Only metrics across lists read rows of other queries.
    """
    if not prepared.request.only_queries or QUERY_ID not in names or not prepared.inputs.roles_read_across_lists:
        return []
    (query,) = prepared.request.only_queries
    is_query = exp.EQ(this=exp.cast(exp.column(QUERY_ID), "TEXT"), expression=exp.Literal.string(str(query)))
    return [exp.Ordered(this=exp.Case().when(is_query, "0").else_("1"))]


def _sort_keys(
    prepared: PreparedStatement, cte_name: str, term: exp.Expr | None, names: Sequence[str], columns: Sequence[exp.Column]
) -> list[exp.Ordered]:
    """Return the sort keys of a CTE's rows.

    The first key is a position column if one exists. Inputs are sorted by contribution to the metric, other CTEs by descending threshold,
    score or contribution. All columns follow, so that the order is deterministic.
    """
    position_column = next((name for name in ORDER_COLUMNS if name in names), None)
    descending_columns = [name for name in ("threshold", "score") if name in names]
    columns_by_name: dict[str, exp.Expr] = dict(zip(names, columns, strict=True))
    order = [columns_by_name[name].copy() for name in ([position_column] if position_column else []) + list(names)]
    leading_keys: list[exp.Expr] = []
    if position_column is None:
        leading_keys = [columns_by_name[name].copy() for name in descending_columns[:1]]
        if term is not None and (not leading_keys or cte_name in _find_inputs(prepared)):
            leading_keys = [exp.Abs(this=term.copy())]
    descending_keys = [exp.Ordered(this=head, desc=True, nulls_first=False) for head in leading_keys]
    return descending_keys + [
        exp.Ordered(this=node, desc=False, nulls_first=False) for node in dict.fromkeys(order) if node not in leading_keys
    ]


def _find_inputs(prepared: PreparedStatement) -> set[str]:
    """Return the names of the CTEs that are inputs of the call."""
    return {cte.alias for cte in find_ctes(prepared) if cte.alias in prepared.request.library.roles}


def _find_first_term(prepared: PreparedStatement, cte_name: str) -> exp.Expr | None:
    """Return a row's contribution to the metric's first aggregate, or None.

    None if the metric reads another CTE than ``cte_name``.
    """
    reader = aggregating_cte(prepared)
    source = None if reader is None else reader.this.args["from_"].this
    if reader is None or source != exp.to_table(cte_name) or reader.this.args.get("joins"):
        return None
    sums = [node for node in find_nodes(metric_column(prepared, reader), exp.Sum) if node.find_ancestor(exp.AggFunc) is None]
    if not sums or isinstance(sums[0].this, exp.Column):
        return None
    term: exp.Expr = sums[0].this.copy()
    for column in find_nodes(term, exp.Column):
        column.set("table", exp.to_identifier(cte_name))
    return term


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
    alias = next(output.alias for output in prepared.statement.outputs if output.kind == "metric")
    return next((select_item for select_item in cte.this.selects if select_item.alias == alias), None)


def _has_ranks(prepared: PreparedStatement) -> bool:
    columns_by_cte = {cte.alias: cte.this.named_selects for cte in find_ctes(prepared)}
    return {"doc_id", "rank"} <= set(columns_by_cte.get(RANKED_RELATION, ()))


def _with_documents(query: exp.Select, cte: exp.CTE) -> exp.Select:
    """Add the document of each rank without ties to a CTE that has only ranks."""
    keys = [name for name in (LIST_ID, "rank") if name in cte.this.named_selects]
    untied_documents = (
        exp.select(*keys, exp.alias_(exp.Min(this=exp.column("doc_id")), "doc_id"))
        .from_(RANKED_RELATION)
        .group_by(*keys)
        .having("COUNT(*) = 1")
    )
    query.expressions.insert(0, exp.column("doc_id", table="named"))
    on = exp.and_(*(exp.EQ(this=exp.column(name, table=cte.alias), expression=exp.column(name, table="named")) for name in keys))
    return query.join(untied_documents.subquery("named"), on=on, join_type="left")
