"""Contrast two sides of rollups by group: metrics of both sides, their differences with guaranteed bounds, and jackknife errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlrank.inference.significance import t_test
from sqlrank.inference.standard_errors import clear_rounding_noise
from sqlrank.result_columns import BOUND_HIGH, BOUND_LOW, NUM_DAYS, NUM_ROWS, side_columns
from sqlrank.rollups.evaluate_rollup import metric_table
from sqlrank.rollups.jackknife import (
    StandardErrors,
    jackknife_standard_errors,
    leave_one_out_differences,
    leave_one_out_values,
    metrics_with_interval,
)
from sqlrank.rollups.rank_metrics import ROLLUP_GROUP_ID, group_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.request import Request
    from sqlrank.rollups.decomposition import RollupMetrics
    from sqlrank.rollups.merge import MergeQuery
    from sqlrank.rollups.scratch_session import ScratchSession


class SideResult(NamedTuple):
    """One side of a contrast: its metrics by group, its bins, and its leave-one-bucket-out metrics.

    Bins and leave-one-bucket-out metrics are None if they are not needed.
    """

    metrics: pa.Table
    bins: pa.Table | None
    leave_one_out: pa.Table | None


class Difference(NamedTuple):
    """A metric of both sides, the difference with its certain bounds, and its jackknife error; None is undefined."""

    reference: float | None
    current: float | None
    difference: float | None
    bound_low: float | None
    bound_high: float | None
    se: float | None = None
    n_buckets: int | None = None

    @property
    def df(self) -> int:
        """The degrees of freedom of Student's t."""
        return (self.n_buckets or 0) - 1

    @property
    def standard_error(self) -> float | None:
        """The standard error, 0 if the buckets differ by no more than rounding; None without one."""
        return None if self.se is None or self.difference is None else clear_rounding_noise(self.se, self._max_magnitude)

    def t_test(self) -> tuple[float | None, float | None]:
        """Return Student's t and the two-sided p-value of no difference."""
        if self.standard_error is None or self.difference is None:
            return None, None
        is_zero = clear_rounding_noise(abs(self.difference), self._max_magnitude) == 0
        return t_test(0.0 if is_zero else self.difference, self.standard_error, self.df)

    @property
    def _max_magnitude(self) -> float:
        return max(abs(self.reference or 0.0), abs(self.current or 0.0))


class GroupContrast(NamedTuple):
    """A group: its number, its key columns, the rows of both sides, the difference of each metric, and the columns of counts."""

    group_number: int
    group: dict[str, Any]
    reference: Mapping[str, Any]
    current: Mapping[str, Any]
    differences: dict[str, Difference]
    counts: Sequence[str]

    def row_counts(self, left: str, right: str = "") -> dict[str, int | None]:
        """Return the numbers of days and rows of both sides, None for a side without the group."""
        return {
            column: side.get(name)
            for name in self.counts
            for column, side in zip(side_columns(name, left, right), (self.reference, self.current), strict=True)
        }


@dataclass(frozen=True)
class ContrastPlan:
    """Metrics and group columns that all sides of a contrast are evaluated by."""

    call: Request
    metrics: RollupMetrics
    resolved_metrics: Sequence[ResolvedMetric]
    by: Sequence[str]

    @property
    def interval_metrics(self) -> RollupMetrics:
        """Return the metrics that have an interval."""
        return metrics_with_interval(self.metrics, self.resolved_metrics)

    def evaluate_side(self, merge_query: MergeQuery, scratch: ScratchSession, with_bins: bool = True) -> SideResult:
        """Evaluate one side from its rows."""
        metrics = metric_table(self.metrics, merge_query, self.call, scratch)
        leave_one_out = None
        if self.call.confidence is not None and self.interval_metrics.metrics:
            leave_one_out = leave_one_out_values(self.interval_metrics, merge_query, metrics.select(list(self.by)), self.call, scratch)
        return SideResult(metrics, merge_query.merged_bins if with_bins and merge_query.table.has_bins else None, leave_one_out)

    def find_groups(self, *sides: SideResult) -> pa.Table:
        """Return the key columns of the groups of all sides, those of the first side first."""
        names = list(self.by)
        keys = sides[0].metrics.select(names)
        for side in sides[1:] if names else ():
            side_keys = side.metrics.select(names)
            new = pa.array([row for row, match in enumerate(group_ids(keys, side_keys).to_pylist()) if match is None], pa.int64())
            keys = pa.concat_tables([keys, side_keys.take(new).cast(keys.schema)])
        return keys

    def iterate_contrasts(
        self, groups: pa.Table, reference: SideResult, current: SideResult, scratch: ScratchSession
    ) -> Iterator[GroupContrast]:
        """Yield each group with the differences of its metrics."""
        group_numbers_by_side = [group_ids(groups, side.metrics.select(list(self.by))) for side in (reference, current)]
        reference_rows, current_rows = (
            dict(zip(group_numbers.to_pylist(), side.metrics.to_pylist(), strict=True))
            for group_numbers, side in zip(group_numbers_by_side, (reference, current), strict=True)
        )
        differences = {
            group_number: {
                metric.name: _subtract_values(metric.name, reference_rows.get(group_number, {}), current_rows.get(group_number, {}))
                for metric in self.metrics.metrics
            }
            for group_number in range(groups.num_rows)
        }
        reference_left_out, current_left_out = (
            None if side.leave_one_out is None else _align_groups(side.leave_one_out, group_numbers)
            for group_numbers, side in zip(group_numbers_by_side, (reference, current), strict=True)
        )
        errors = self._estimate_errors(differences, reference_left_out, current_left_out, scratch)
        for (group_number, metric), (n_buckets, se) in errors.items():
            name = self.interval_metrics.metrics[metric].name
            differences[group_number][name] = differences[group_number][name]._replace(se=se, n_buckets=n_buckets)
        counts = [name for name in (NUM_DAYS, NUM_ROWS) if name in {*reference.metrics.column_names, *current.metrics.column_names}]
        keys = groups.to_pylist() if self.by else [{}] * groups.num_rows
        for group_number, group in enumerate(keys):
            rows = (reference_rows.get(group_number, {}), current_rows.get(group_number, {}))
            yield GroupContrast(group_number, group, *rows, differences[group_number], counts)

    def _estimate_errors(
        self,
        differences: Mapping[int, Mapping[str, Difference]],
        reference: pa.Table | None,
        current: pa.Table | None,
        scratch: ScratchSession,
    ) -> StandardErrors:
        """Return the number of buckets and the standard error of each difference, by group and metric."""
        if reference is None or current is None:
            return {}
        full_values = {
            (group_number, metric_number): group_differences[metric.name][:2]
            for group_number, group_differences in differences.items()
            for metric_number, metric in enumerate(self.interval_metrics.metrics)
        }
        return jackknife_standard_errors(leave_one_out_differences(reference, current, full_values, scratch), scratch)


def _subtract_values(name: str, reference: Mapping[str, Any], current: Mapping[str, Any]) -> Difference:
    """Return both values of a metric, their difference and its bounds."""

    def subtract_columns(current_column: str, reference_column: str) -> float | None:
        current_value, reference_value = (
            current.get(current_column, current.get(name)),
            reference.get(reference_column, reference.get(name)),
        )
        return None if current_value is None or reference_value is None else current_value - reference_value

    bound_columns = (f"{name}.{BOUND_LOW}", f"{name}.{BOUND_HIGH}")
    return Difference(
        reference.get(name),
        current.get(name),
        subtract_columns(name, name),
        subtract_columns(*bound_columns),
        subtract_columns(*bound_columns[::-1]),
    )


def _align_groups(leave_one_out: pa.Table, group_numbers: pa.Array) -> pa.Table:
    """Renumber the groups of one side's leave-one-bucket-out values to the common group numbering."""
    return leave_one_out.set_column(
        leave_one_out.column_names.index(ROLLUP_GROUP_ID),
        ROLLUP_GROUP_ID,
        group_numbers.take(leave_one_out[ROLLUP_GROUP_ID].combine_chunks()),
    )
