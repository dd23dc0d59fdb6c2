"""Evaluate per-unit values and load them into a scratch DuckDB; shared by compare and gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.comparison.paired_differences import PairedUnits
from sqlrank.engines.cancellation import run_cancellable
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.errors import InputError
from sqlrank.execution import ROW_UNIT, execute_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from sqlrank.comparison.comparison_request import ComparisonRequest
    from sqlrank.comparison.paired_differences import DifferenceSummary
    from sqlrank.engines.resource_limits import ResourceLimits
    from sqlrank.inputs.row_checks import CheckMode

WorkResult = TypeVar("WorkResult")


@dataclass(frozen=True)
class ExecutionOptions:
    """Execution options of a call: connection, dialect, limits, checks and progress callback."""

    connection: Any
    dialect: str | None
    limits: ResourceLimits
    check: CheckMode
    progress: Callable[[float], None] | None = None


def evaluate_unit_values(request: ComparisonRequest, options: ExecutionOptions) -> list[tuple[list[str], pa.Table]]:
    """Evaluate unit values where the data are: per grouping a table by cell, system and unit."""
    tables = []
    calls = list(request.calls_by_grouping())
    for index, (group, call) in enumerate(calls):
        progress = options.progress and _scale_progress(options.progress, index, len(calls))
        tables.append((group, execute_request(call, options.connection, options.dialect, options.limits, options.check, progress)))
    return tables


def system_values(
    request: ComparisonRequest, options: ExecutionOptions, tables: Sequence[tuple[list[str], pa.Table]]
) -> list[tuple[list[str], pa.Table]]:
    """Return metrics by system and cell, for comparisons without unit values.

    They separate undefined metrics from metrics that have a value and no interval. Nothing is evaluated if all units have values.
    """
    names = {measure.name for measure in request.measures if measure.no_interval is not None}
    if not names and not (request.uses_influence and any(_has_nulls(table, request) for _, table in tables)):
        return []
    return [
        (group, execute_request(call, options.connection, options.dialect, options.limits, options.check))
        for group, call in request.value_calls()
    ]


def _has_nulls(table: pa.Table, request: ComparisonRequest) -> bool:
    """Return True if a column of values has a NULL."""
    keys = {*request.call.by, request.system_column, request.unit}
    return any(column.null_count for name, column in zip(table.column_names, table.columns, strict=True) if name not in keys)


def _scale_progress(progress: Callable[[float], None], index: int, count: int) -> Callable[[float], None]:
    """Return a progress callback for one of several equal parts of the work."""
    return lambda percentage: progress((100 * index + percentage) / count)


def with_unit_tables(
    tables: Sequence[tuple[list[str], pa.Table]],
    request: ComparisonRequest,
    limits: ResourceLimits,
    work: Callable[[PairedUnits], WorkResult],
    values_of_systems: Sequence[tuple[list[str], pa.Table]] = (),
) -> WorkResult:
    """Load unit values into a scratch DuckDB under the call's limits, and run ``work``.

    Returns the result of ``work``.
    """
    by_rows = (tables[0][1].schema.metadata or {}).get(b"sqlrank.unit") == ROW_UNIT.encode()
    with duckdb_session(None, limits) as duck:
        return run_cancellable(duck, lambda: work(PairedUnits(duck, tables, request, by_rows, values_of_systems)), None)


def check_fully_paired(compared: Sequence[DifferenceSummary], request: ComparisonRequest) -> None:
    """Raise ``InputError`` if pooled metrics of two systems are over different units.

    A metric that is undefined for a system has no units.
    """
    worst = max(
        (summary for summary in compared if summary.baseline_units and summary.system_units),
        key=lambda summary: summary.unpaired,
        default=None,
    )
    if request.uses_influence and worst is not None and worst.unpaired:
        raise InputError(
            f"{worst.unpaired:,} of {worst.units + worst.unpaired:,} units have rows of one of two systems only, and metrics of predictions are "
            "compared over the same rows; leave the others out with where="
        )
