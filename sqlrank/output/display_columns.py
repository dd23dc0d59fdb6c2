"""Select the columns of comparisons, gates, drift and group differences to show to people, without those that say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    COMPARISON_DISPLAY,
    DRIFT_DISPLAY,
    EXTREME_VALUES,
    GATE_DISPLAY,
    GROUP_COUNTS,
    N_BUCKETS,
    ROLLUP_DISPLAY,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


def comparison_display_columns(result: pa.Table, has_target_effect: bool, shows_level: bool = False) -> tuple[str, ...]:
    """Return the columns of a comparison shown to people; reasons only if there are any, and if asked for the level of intervals."""
    reasons = ("reason",) if "reason" in result.column_names and result["reason"].null_count < result.num_rows else ()
    columns = ROLLUP_DISPLAY if N_BUCKETS in result.column_names else COMPARISON_DISPLAY
    if shows_level:
        columns = tuple(name for column in columns for name in ((column, "ci_level") if column == CI_HIGH else (column,)))
    return (*columns, *(("required_units",) if has_target_effect else ()), *reasons)


def select_display_columns(result: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the columns of a comparison or gate for people: group columns, then ``names``."""
    return result.select([*group_column_names(result), *names])


def group_column_names(result: pa.Table) -> list[str]:
    """Return the group columns: those before ``metric``."""
    return list(result.column_names[: result.column_names.index("metric")])


def difference_display_columns(result: pa.Table) -> list[str]:
    """Return the columns of differences between groups for people, from the metric on, without limits of extremes, and counts of zeros."""
    hidden = {f"{side}_{limit}" for side in EXTREME_VALUES for limit in (CI_LOW, CI_HIGH)}
    hidden |= {GROUP_COUNTS[1]} if not any(result[GROUP_COUNTS[1]].to_pylist()) else set()
    return [name for name in result.column_names[result.column_names.index("metric") :] if name not in hidden]


def drift_display_columns(result: pa.Table) -> list[str]:
    """Return the columns of drift shown to people, without bounds that decide nothing.

    Verdicts follow from the interval, if there is one. Bounds of exact values are the difference.
    """
    names = [name for name in DRIFT_DISPLAY if name in result.column_names]
    differences = result["difference"].to_pylist()
    is_exact = all(result[name].to_pylist() == differences for name in BOUNDS)
    return [name for name in names if name not in BOUNDS or not (is_exact or CI_LOW in names)]


def gate_display_columns(result: pa.Table) -> Sequence[str]:
    """Return the columns of a gate shown to people, of two systems or of differences between groups."""
    if GROUP_COUNTS[0] in result.column_names:
        return difference_display_columns(result)
    return [name for name in GATE_DISPLAY if name in result.column_names]


def display_differences(result: pa.Table) -> pa.Table:
    """Return differences between groups for people: without the limits of extreme values, and without counts that say nothing."""
    return select_display_columns(result, difference_display_columns(result))
