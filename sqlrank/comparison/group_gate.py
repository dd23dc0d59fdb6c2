"""Test differences between groups: compare the interval of each metric's difference or ratio over
the groups with a tolerance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.arrow_arrays import to_array
from sqlrank.call.resolve import resolve_request
from sqlrank.errors import MetricError
from sqlrank.inference.tolerance import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    Tolerance,
    Verdict,
    build_verdict_metadata,
    parse_tolerances,
)
from sqlrank.result_columns import CI_HIGH, CI_LOW, GROUP_COUNTS, RATIO_LIMITS
from sqlrank.run.execution import run_resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call.request import Request
    from sqlrank.engines.open_database import ExecutionOptions

    Limits = tuple[float, float] | None
    """Limits of a difference or of a relative difference, None without an interval."""


def gate_differences(
    call: Request, tolerance: Any, confidence: float, options: ExecutionOptions
) -> pa.Table:
    """Return the differences between groups with a verdict each.

    Args:
        call: the call for the differences, without a confidence level.
        tolerance: the greatest tolerated difference, or as a share by how much the least value may
            be below the greatest, also by metric.
        confidence: confidence level of intervals.
        options: connection, limits and checks.

    Raises:
        MetricError: An argument that is not possible, or a metric without a tolerance above 0.
    """
    call = replace(call, confidence=confidence, requested_names=True)
    request = resolve_request(call)
    rows_by_name = request.differences
    canonical = {
        components[0]: name for name, components in rows_by_name.items() if len(components) == 1
    }
    tolerances = parse_tolerances(tolerance, list(rows_by_name), canonical)
    if missing := [
        name for name in rows_by_name if tolerances.get(name, Tolerance(0.0)).value == 0
    ]:
        raise MetricError(
            f"{missing[0]}: give a tolerance above 0, the greatest difference between groups such"
            " as 0.1, or '20%' for a ratio of at least 0.8"
        )
    result = run_resolved(request, options)
    rows = result.to_pylist()
    limits = [_read_limits(row, tolerances[row["metric"]]) for row in rows]
    num_tests = max(1, sum(each is not None for each in limits))
    corrected = limits
    if num_tests > 1 and any(
        _is_beyond(row, each, tolerances) for row, each in zip(rows, limits, strict=True)
    ):
        wider_request = resolve_request(replace(call, confidence=1 - (1 - confidence) / num_tests))
        wider = run_resolved(wider_request, options).to_pylist()
        corrected = [_read_limits(row, tolerances[row["metric"]]) for row in wider]
    verdicts = [
        _decide_verdict(row, tolerances[row["metric"]], usual, wide, num_tests)
        for row, usual, wide in zip(rows, limits, corrected, strict=True)
    ]
    return _build_verdict_table(
        result, [str(tolerances[row["metric"]]) for row in rows], verdicts, confidence
    )


def _read_limits(row: Mapping[str, Any], tolerance: Tolerance) -> Limits:
    """Return the limits of the difference, or of the share by which the least value is below the
    greatest.
    """
    low, high = (row[name] for name in (RATIO_LIMITS if tolerance.is_share else (CI_LOW, CI_HIGH)))
    if low is None or high is None:
        return None
    return (1 - high, 1 - low) if tolerance.is_share else (low, high)


def _is_beyond(row: Mapping[str, Any], limits: Limits, tolerances: Mapping[str, Tolerance]) -> bool:
    return limits is not None and limits[0] > tolerances[row["metric"]].value


def _decide_verdict(
    row: Mapping[str, Any], tolerance: Tolerance, limits: Limits, corrected: Limits, num_tests: int
) -> Verdict:
    """Return the verdict on a difference: it fails if a corrected interval lies above the
    tolerance, and passes if the usual one lies below.
    """
    num_groups, num_undefined = (row[name] or 0 for name in GROUP_COUNTS)
    what = "ratio" if tolerance.is_share else "difference"
    if corrected is not None and corrected[0] > tolerance.value:
        return Verdict(FAIL, f"the {what} is beyond the tolerance")
    if num_undefined:
        return Verdict(
            INCONCLUSIVE, f"undefined for {num_undefined} of {num_groups + num_undefined} groups"
        )
    if num_groups < 2:  # noqa: PLR2004  a difference is between two
        return Verdict(INCONCLUSIVE, "fewer than two groups")
    if limits is None:
        return Verdict(INCONCLUSIVE, f"the {what} has no interval")
    if limits[1] <= tolerance.value:
        return Verdict(PASS, f"the {what} is within the tolerance")
    tests = (
        f"the interval that allows for {num_tests} rows"
        if limits[0] > tolerance.value
        else "the interval"
    )
    return Verdict(INCONCLUSIVE, f"{tests} extends beyond the tolerance")


def _build_verdict_table(
    result: pa.Table, tolerances: Sequence[str], verdicts: Sequence[Verdict], confidence: float
) -> pa.Table:
    """Return differences with their tolerances, verdicts and reasons."""
    columns = {
        "tolerance": tolerances,
        "verdict": [verdict.verdict for verdict in verdicts],
        "reason": [verdict.reason for verdict in verdicts],
    }
    for name, texts in columns.items():
        result = result.append_column(name, to_array(texts, pa.string()))
    return result.replace_schema_metadata(build_verdict_metadata(verdicts, confidence))
