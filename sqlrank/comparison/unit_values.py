"""Evaluate metrics per unit and per system, load the unit values into a scratch DuckDB, and check
that units are paired.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from sqlglot import exp

from sqlrank.arrow_arrays import to_array
from sqlrank.call.resolve import resolve_request
from sqlrank.cancellation import run_cancellable
from sqlrank.comparison.paired_differences import FLIP, DifferenceSummary, PairedUnits
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.open_database import share_queries
from sqlrank.errors import InputError, SqlrankError
from sqlrank.inputs.column_binding import bind_inputs
from sqlrank.result_metadata import left_out_metadata, read_left_out, read_texts
from sqlrank.run.execution import (
    ROW_UNIT,
    ZERO_WEIGHTS_KEY,
    execute_request,
    execute_resolved,
    run_resolved,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import duckdb

    from sqlrank.call.request import ResourceLimits
    from sqlrank.comparison.comparison_plan import ComparisonPlan
    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import ExecutionOptions
    from sqlrank.inputs.bound_input import BoundInputs

WorkResult = TypeVar("WorkResult")

UnitTables = list[tuple[list[str], pa.Table]]
"""A table for each grouping."""


def evaluate_systems(
    comparison: ComparisonPlan, options: ExecutionOptions, *, has_values: bool = True
) -> tuple[UnitTables, UnitTables]:
    """Evaluate unit values, and with ``has_values`` the metrics of systems beside them; queries
    that are sources run once for all.
    """
    sources = comparison.call.sources
    with share_queries(sources, options.connection, options.dialect, options.limits) as (
        shared,
        connection,
    ):
        comparison, options = (
            replace(comparison, call=replace(comparison.call, sources=shared)),
            replace(options, connection=connection),
        )
        tables = evaluate_unit_values(comparison, options)
        return tables, system_values(comparison, options, tables) if has_values else []


def evaluate_unit_values(comparison: ComparisonPlan, options: ExecutionOptions) -> UnitTables:
    """Evaluate unit values where the data are: per grouping a table by cell, system and unit."""
    if (shared := _evaluate_shared_values(comparison, options)) is not None:
        return _select_groupings(shared, comparison, options.limits)
    tables = []
    # All are resolved before the first reads a source.
    resolved_requests = [
        (group, resolve_request(call)) for group, call in comparison.calls_by_grouping()
    ]
    for index, (group, resolved_request) in enumerate(resolved_requests):
        progress = options.progress and _scale_progress(
            options.progress, index, len(resolved_requests)
        )
        tables.append((group, run_resolved(resolved_request, replace(options, progress=progress))))
    return tables


def _evaluate_shared_values(
    comparison: ComparisonPlan, options: ExecutionOptions
) -> pa.Table | None:
    """Evaluate the values of queries once for all groupings, None if they may depend on the
    grouping.
    """
    if (
        len(comparison.groupings) == 1
        or comparison.uses_influence
        or "queries" not in comparison.call.sources
    ):
        return None
    resolved_request = resolve_request(comparison.call_by(comparison.group_names))

    def evaluate_once(database: Database) -> pa.Table | None:
        inputs = None
        with suppress(SqlrankError):  # the evaluation by grouping raises the same, in its order
            inputs = bind_inputs(resolved_request, database)
        if inputs is None or not _is_independent_of_grouping(inputs, comparison):
            return None
        return execute_resolved(resolved_request, database, options.check, inputs=inputs)

    return options.run(evaluate_once)


def _is_independent_of_grouping(inputs: BoundInputs, comparison: ComparisonPlan) -> bool:
    """Return True if all group columns are of the queries table, and no metric reads other lists of
    a group.

    Columns of the run split its lists.
    """
    attributes = {group.label for group in inputs.group_columns if group.is_query_attribute}
    return (
        not comparison.group_expressions
        and attributes >= set(comparison.group_names)
        and not inputs.roles_read_across_lists
    )


def _select_groupings(
    table: pa.Table, comparison: ComparisonPlan, limits: ResourceLimits
) -> list[tuple[list[str], pa.Table]]:
    """Select the columns of each grouping, with rows in the order of an evaluation by it.

    Sums of floating-point numbers depend on the order of rows.
    """
    group_names = comparison.group_names
    row_keys = table.column_names[: table.column_names.index(QUERY_ID)]
    left_out = read_left_out(table.schema.metadata)

    def select_tables(duck: duckdb.DuckDBPyConnection) -> list[tuple[list[str], pa.Table]]:
        selected = []
        for group in comparison.groupings:
            names = [*(name for name in row_keys if name not in group_names), *group, QUERY_ID]
            keys = {f"key_{index}": table[name] for index, name in enumerate(names)}
            duck.register(
                "row_keys",
                pa.table({**keys, "position": to_array(range(table.num_rows), pa.int64())}),
            )
            order = [exp.Ordered(this=exp.column(key), nulls_first=True) for key in keys]
            positions = duck.sql(
                exp.select("position").from_("row_keys").order_by(*order).sql("duckdb")
            ).to_arrow_table()["position"]
            columns = [
                *names,
                *(name for name in table.column_names if name not in {*row_keys, QUERY_ID}),
            ]
            part = table.select(columns).take(positions)
            metadata = read_texts(table.schema.metadata) | left_out_metadata(
                [entry.merge_groups(names) for entry in left_out]
            )
            selected.append((group, part.replace_schema_metadata(metadata)))
        return selected

    with duckdb_session(None, limits) as duck:
        return run_cancellable(duck, lambda: select_tables(duck), None)


def system_values(
    comparison: ComparisonPlan,
    options: ExecutionOptions,
    tables: Sequence[tuple[list[str], pa.Table]],
) -> list[tuple[list[str], pa.Table]]:
    """Return metrics by system and cell, for comparisons without unit values.

    They separate undefined metrics from metrics that have a value and no interval, and have a row
    also for groups without units, whose weights are all 0. Nothing is evaluated if all units of all
    groups have values.
    """
    names = {measure.name for measure in comparison.measures if measure.no_interval is not None}
    if not names and not (
        comparison.uses_influence
        and any(_lacks_values(group, table, comparison) for group, table in tables)
    ):
        return []
    options = replace(options, progress=None)
    return [(group, execute_request(call, options)) for group, call in comparison.value_calls()]


def _lacks_values(group: Sequence[str], table: pa.Table, comparison: ComparisonPlan) -> bool:
    """Return True if a unit value is NULL, or a group may be missing: rows of weight 0 are no
    units.
    """
    if table.num_rows == 0 or (
        group and ZERO_WEIGHTS_KEY.encode() in (table.schema.metadata or {})
    ):
        return True
    keys = {*comparison.group_names, comparison.system_column, comparison.unit}
    return any(
        column.null_count
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in keys and not name.endswith(FLIP)
    )


def _scale_progress(
    progress: Callable[[float], None], index: int, count: int
) -> Callable[[float], None]:
    """Return a progress callback for one of several equal parts of the work."""
    return lambda percentage: progress((100 * index + percentage) / count)


def with_unit_tables(
    tables: Sequence[tuple[list[str], pa.Table]],
    comparison: ComparisonPlan,
    limits: ResourceLimits,
    work: Callable[[PairedUnits], WorkResult],
    values_of_systems: Sequence[tuple[list[str], pa.Table]] = (),
) -> WorkResult:
    """Load unit values into a scratch DuckDB under the call's limits, and run ``work``.

    Returns the result of ``work``.
    """
    by_rows = (tables[0][1].schema.metadata or {}).get(b"sqlrank.unit") == ROW_UNIT.encode()
    with duckdb_session(None, limits) as duck:
        return run_cancellable(
            duck,
            lambda: work(PairedUnits(duck, tables, comparison, by_rows, values_of_systems)),
            None,
        )


def check_fully_paired(compared: Sequence[DifferenceSummary], comparison: ComparisonPlan) -> None:
    """Raise ``InputError`` if pooled metrics of two systems are over different units.

    A metric that is undefined for a system has no units, and one without an interval has values
    alone.
    """
    worst = max(
        (
            summary
            for summary in compared
            if (summary.baseline_units and summary.system_units)
            or (summary.value_baseline is not None and summary.value is not None)
        ),
        key=lambda summary: summary.unpaired,
        default=None,
    )
    if comparison.uses_influence and worst is not None and worst.unpaired:
        units = worst.units + worst.unpaired if worst.units else worst.cell_units
        raise InputError(
            f"{worst.unpaired:,} of {units:,} units have rows of one of two systems only, and"
            " metrics of predictions are compared over the same rows. Leave the others out with"
            " where="
        )
