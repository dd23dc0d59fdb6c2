"""Evaluate systems by unit and compare them: paired differences of metrics with confidence
intervals, tests and metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.comparison.comparison_plan import ComparisonPlan
from sqlrank.comparison.comparison_table import (
    comparison_table,
    find_small_samples,
    unit_difference_table,
)
from sqlrank.comparison.confidence_sequence import check_interval, find_few_units
from sqlrank.comparison.paired_tests import TestOptions, run_tests
from sqlrank.comparison.unit_values import check_fully_paired, evaluate_systems, with_unit_tables
from sqlrank.errors import MetricError
from sqlrank.inference.system_pairs import list_pairs
from sqlrank.result_metadata import (
    LeftOut,
    comparison_metadata,
    left_out_metadata,
    read_left_out,
    rename_metric_rows,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.call.request import Request
    from sqlrank.comparison.paired_differences import PairedUnits
    from sqlrank.engines.open_database import ExecutionOptions


def compare_systems(
    call: Request,
    tests: TestOptions,
    options: ExecutionOptions,
    *,
    system: str,
    by: Any,
    baseline: str | None,
    per_query: bool,
) -> pa.Table:
    """Return a row per group, metric and pair of systems, or their paired differences with
    ``per_query``.
    """
    comparison = ComparisonPlan.from_call(call, system, by)
    if comparison.uses_influence and (
        per_query or tests.test != "t" or tests.correction == "max_t"
    ):
        what = (
            "has no values of queries to show. Leave out per_query"
            if per_query
            else "is compared by test='t', and not under max_t"
        )
        raise MetricError(
            f"{comparison.measures[0].name} {what}, unless level='query' asks for values of queries"
        )
    check_interval(tests.interval, comparison)
    tables, values_of_systems = evaluate_systems(comparison, options, has_values=not per_query)
    if (tests.test != "t" or tests.correction == "max_t") and any(
        "weight" in table.column_names for _, table in tables
    ):
        raise MetricError(
            "queries have weights, which only t-tests use, and not under max_t. Choose test='t', or"
            " leave the weights out"
        )

    small_samples: list[LeftOut] = []

    def compare_units(units: PairedUnits) -> pa.Table:
        pairs = list_pairs(comparison.sort_systems(units.list_systems()), baseline)
        summaries = units.summarize_differences(pairs)
        check_fully_paired(summaries, comparison)
        small_samples[:] = [
            *find_small_samples(summaries, comparison),
            *find_few_units(tests.interval, summaries, comparison),
        ]
        if per_query:
            return unit_difference_table(units, comparison, pairs, tables)
        return comparison_table(
            run_tests(units, summaries, tests), units, comparison, pairs, tables, tests
        )

    result = with_unit_tables(tables, comparison, options.limits, compare_units, values_of_systems)
    settings = {
        "test": tests.name,
        "interval": tests.interval,
        "correction": tests.correction,
        "confidence": f"{tests.confidence:g}",
        "seed": str(tests.seed or 0),
        "replicates": str(tests.num_replicates),
    }
    metadata = {
        "sqlrank.version": __version__,
        **{f"sqlrank.{name}": value for name, value in settings.items()},
    }
    schema_metadata = tables[0][1].schema.metadata
    within = [name for group in comparison.groupings for name in group]
    metadata |= comparison_metadata(
        "differences" if per_query else "comparison", result.schema, within, schema_metadata
    ).to_schema_metadata()
    metadata |= left_out_metadata([*read_left_out(schema_metadata), *small_samples])
    result = result.replace_schema_metadata(
        metadata | {"sqlrank.sql": schema_metadata[b"sqlrank.sql"].decode()}
    )
    return rename_metric_rows(result, comparison.metrics)
