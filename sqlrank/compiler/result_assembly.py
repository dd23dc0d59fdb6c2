"""Join the CTEs of all grains into the ordered result rows: keys, metrics, interval limits and
audit columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.metric_values import fill_undefined_group
from sqlrank.compiler.row_keys import key_column
from sqlrank.compiler.select_builders import (
    cast_double,
    cross_join_cutoffs,
    join_on_key,
    order_rows,
    slice_label,
)
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN
from sqlrank.result_columns import SLICE_COLUMN
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.intervals.analytic_intervals import AnalyticIntervals
    from sqlrank.compiler.layout import KeyedCte, MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes


@dataclass(frozen=True)
class ResultAssembly:
    """The parts of the final join.

    Attributes:
        relations: The CTEs of the statement.
        columns: The metrics.
        row_keys: Columns that identify result rows.
        spread: The interval CTEs, None without intervals.
        steps: The CTEs of values per list and per query, by grain.
    """

    relations: RelationCtes
    columns: Sequence[MetricColumn]
    row_keys: Sequence[str]
    spread: AnalyticIntervals | None
    steps: Mapping[str, str]


def assemble_result(
    assembly: ResultAssembly, ctes: Sequence[KeyedCte], audits: Mapping[KeyedCte, Sequence[str]]
) -> exp.Select:
    """Join the metrics of all CTEs into ordered rows, with the cut-offs of a range."""
    base_cte, shape, ctes_by_unit = ctes[0], assembly.relations.shape, assembly.steps
    range_cutoffs = assembly.relations.cutoffs
    cutoffs = None if base_cte.keys.has_cutoff and assembly.row_keys else range_cutoffs
    cutoff_column = (
        None if range_cutoffs is None else exp.column(CUTOFF_COLUMN, table=cutoffs or base_cte.step)
    )
    keys: list[exp.Expr] = [key_column(name, base_cte.step) for name in assembly.row_keys]
    columns, order = list(keys), list(keys)
    if shape.grouping_sets is not None:
        index = len(shape.group_names)
        columns.insert(index, slice_label(shape, base_cte.step))
        order.insert(index, exp.column(SLICE_COLUMN))
    columns += [] if cutoff_column is None else [cutoff_column]
    for column in assembly.columns:
        value_cte = ctes_by_unit.get(column.grain, column.cte)
        value = (
            exp.column(column.alias, table=value_cte)
            if assembly.spread is None
            else assembly.spread.select_value(column, value_cte)
        )
        columns.append(
            exp.alias_(
                cast_double(
                    fill_undefined_group(assembly.relations, column)
                    if column.grain == "group"
                    else value
                ),
                column.alias,
            )
        )
        columns += [] if assembly.spread is None else assembly.spread.select_limits(column)
    for audit_cte, names in audits.items():
        audit_columns = [
            exp.column(name, table=ctes_by_unit.get(audit_cte.grain, audit_cte.step))
            for name in names
        ]
        columns += (
            audit_columns
            if cutoff_column is None
            else [
                assembly.relations.only_at_first_cutoff(cutoff_column, column)
                for column in audit_columns
            ]
        )
    if cutoffs is not None and not assembly.row_keys:
        query, rest = exp.select(*columns).from_(cutoffs), ctes
    else:
        query, rest = (
            cross_join_cutoffs(exp.select(*columns).from_(base_cte.step), cutoffs),
            ctes[1:],
        )
    tables_read = {
        column.table for select_item in columns for column in find_nodes(select_item, exp.Column)
    }
    for cte in (cte for cte in rest if cte.step in tables_read):
        query = join_on_key(query, base_cte.step, cte, cutoffs)
    query = order_rows(query, order)
    return query if cutoff_column is None else query.order_by(cutoff_column.copy())
