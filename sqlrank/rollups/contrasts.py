"""Compare two evaluated rollups: differences per group, their bounds and paired jackknife intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.engines import remote_database
from sqlrank.engines.open_database import run_on_database
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import InputError, MetricError, did_you_mean
from sqlrank.inputs.source_union import resolve_source
from sqlrank.request import Request
from sqlrank.result_columns import BOUND_HIGH, BOUND_LOW, CI_HIGH, CI_LOW, N_BUCKETS, P_VALUE, SE
from sqlrank.result_metadata import rename_metric_rows
from sqlrank.rollups import jackknife
from sqlrank.rollups.evaluate_rollup import metric_table, resolve_rollup_call
from sqlrank.rollups.jackknife import jackknife_standard_errors, leave_one_out_differences, leave_one_out_values
from sqlrank.rollups.merge import MergeQuery
from sqlrank.rollups.rank_metrics import ROLLUP_GROUP_ID, group_ids
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.rollups.schema import NUM_DAYS, NUM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.rollups.decomposition import RollupMetrics
    from sqlrank.rollups.jackknife import StandardErrors


CONTRAST_INTERVALS = (CI_LOW, CI_HIGH, SE, N_BUCKETS, P_VALUE)
"""Interval and test columns of a difference."""


class SideResult(NamedTuple):
    """One side of a contrast: its metrics by group, its bins, and its leave-one-bucket-out metrics.

    Bins and leave-one-bucket-out metrics are None if they are not needed.
    """

    metrics: pa.Table
    bins: pa.Table | None
    left: pa.Table | None


class GroupContrast(NamedTuple):
    """A group: its number, its key columns, the rows of both sides, and the columns of each metric's difference."""

    place: int
    group: dict[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    differences: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class ContrastRequest:
    """Parameters shared by both sides of a contrast."""

    call: Request
    metrics: RollupMetrics
    looked_up: Sequence[ResolvedMetric]
    by: Sequence[str]
    limits: ResourceLimits

    @property
    def metrics_with_interval(self) -> RollupMetrics:
        """Return the metrics that have an interval."""
        return jackknife.metrics_with_interval(self.metrics, self.looked_up)

    def evaluate_side(self, merge_query: MergeQuery, with_bins: bool = True) -> SideResult:
        """Evaluate one side from its rows."""
        metrics = metric_table(self.metrics, merge_query, self.call, self.limits)
        leave_one_out = None
        if self.call.confidence is not None and self.metrics_with_interval.metrics:
            leave_one_out = leave_one_out_values(
                self.metrics_with_interval, merge_query, metrics.select(list(self.by)), self.call, self.limits
            )
        return SideResult(metrics, merge_query.merged_bins if with_bins and merge_query.table.has_bins else None, leave_one_out)

    def groups(self, reference: SideResult, current: SideResult) -> pa.Table:
        """Return the key columns of both sides' groups, those of the second side first."""
        names = list(self.by)
        keys = current.metrics.select(names)
        if not names:
            return keys
        matches = group_ids(keys, reference.metrics.select(names))
        new = pa.array([row for row, match in enumerate(matches.to_pylist()) if match is None], pa.int64())
        return pa.concat_tables([keys, reference.metrics.select(names).take(new)])

    def contrasts(self, groups: pa.Table, reference: SideResult, current: SideResult) -> Iterator[GroupContrast]:
        """Yield each group with the differences of its metrics."""
        group_numbers_by_side = [group_ids(groups, side.metrics.select(list(self.by))) for side in (reference, current)]
        reference_rows, current_rows = (
            dict(zip(group_numbers.to_pylist(), side.metrics.to_pylist(), strict=True))
            for group_numbers, side in zip(group_numbers_by_side, (reference, current), strict=True)
        )
        count = groups.num_rows
        values_by_group = {
            group_number: {
                metric.name: _numbers(metric.name, reference_rows.get(group_number, {}), current_rows.get(group_number, {}))
                for metric in self.metrics.metrics
            }
            for group_number in range(count)
        }
        errors = self._errors(
            values_by_group,
            *(
                None if side.left is None else _align_groups(side.left, group_numbers)
                for group_numbers, side in zip(group_numbers_by_side, (reference, current), strict=True)
            ),
        )
        keys = groups.to_pylist() if self.by else [{}] * count
        for group_number in range(count):
            yield GroupContrast(
                group_number,
                keys[group_number],
                reference_rows.get(group_number, {}),
                current_rows.get(group_number, {}),
                self._describe_differences(group_number, values_by_group[group_number], errors),
            )

    def _errors(
        self, values_by_group: Mapping[int, Mapping[str, Any]], reference: pa.Table | None, current: pa.Table | None
    ) -> StandardErrors:
        if reference is None or current is None:
            return {}
        interval_metrics = self.metrics_with_interval.metrics
        full_values = {
            (group_number, metric_number): values[metric.name][:2]
            for group_number, values in values_by_group.items()
            for metric_number, metric in enumerate(interval_metrics)
        }
        return jackknife_standard_errors(leave_one_out_differences(reference, current, full_values, self.limits), self.limits)

    def _describe_differences(
        self, group_number: int, values_by_metric: Mapping[str, tuple[float | None, ...]], errors: StandardErrors
    ) -> dict[str, dict[str, Any]]:
        """Return the difference columns of a group's metrics, by metric."""
        metric_numbers = {metric.name: metric_number for metric_number, metric in enumerate(self.metrics_with_interval.metrics)}
        columns = {}
        for name, values in values_by_metric.items():
            columns[name] = dict(zip(CONTRAST_VALUES, values, strict=True))
            if self.call.confidence is not None:
                units, error = errors.get((group_number, metric_numbers[name]), (None, None)) if name in metric_numbers else (None, None)
                columns[name] |= jackknife.difference_inference(values, error, units, float(self.call.confidence))
        return columns


CONTRAST_VALUES = ("value_reference", "value_current", "difference", BOUND_LOW, BOUND_HIGH)
"""Value columns of a contrast: both values, their difference, and its bounds."""


def row_counts(contrast: GroupContrast, names: Sequence[str], suffixes: tuple[str, str]) -> dict[str, int | None]:
    """Return the numbers of days and rows of a group on both sides, with a suffix for each side."""
    rows_by_suffix = list(zip(suffixes, (contrast.before, contrast.after), strict=True))
    return {f"{column}{suffix}": row.get(column) for column in (NUM_DAYS, NUM_ROWS) if column in names for suffix, row in rows_by_suffix}


def _numbers(name: str, reference: Mapping[str, Any], current: Mapping[str, Any]) -> tuple[float | None, ...]:
    """Return both values of a metric, their difference and the bounds of the difference."""

    def minus(current_column: str, reference_column: str) -> float | None:
        current_value, reference_value = (
            current.get(current_column, current.get(name)),
            reference.get(reference_column, reference.get(name)),
        )
        return None if current_value is None or reference_value is None else current_value - reference_value

    bound_columns = (f"{name}.{BOUND_LOW}", f"{name}.{BOUND_HIGH}")
    return reference.get(name), current.get(name), minus(name, name), minus(*bound_columns), minus(*bound_columns[::-1])


def _align_groups(leave_one_out: pa.Table, group_numbers: pa.Array) -> pa.Table:
    """Renumber the groups of one side's leave-one-bucket-out values to the common group numbering."""
    return leave_one_out.set_column(
        leave_one_out.column_names.index(ROLLUP_GROUP_ID),
        ROLLUP_GROUP_ID,
        group_numbers.take(leave_one_out[ROLLUP_GROUP_ID].combine_chunks()),
    )


MIN_SYSTEMS = 2
"""Minimum number of rollups to compare."""

MODEL_VALUE_COLUMNS = {"value_reference": "value_baseline", "value_current": "value"}
"""Value columns of a contrast under the names that they have between models."""

SideByName = dict[str, "SideResult"]


@entry_point
def compare_rollups(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    rollups: Mapping[str, Any],
    baseline: str | None = None,
    where: str | None = None,
    by: str | Sequence[str] = (),
    confidence: float | None = 0.95,
    connection: Any = None,
    dialect: str | None = None,
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Compare models by rollups of their predictions, with intervals from buckets of the same units.

    Args:
        metrics: as for :func:`sqlrank.evaluate` with ``rollup=``.
        rollups: the rollup that :func:`sqlrank.rollup` made of each model, by name: ``{"old": "rollup_of_old", "new": "rollup_of_new"}``.
        baseline: the model that the others are compared with; the first by default.
        where: a condition that selects rows of all rollups, such as ``"day >= '2026-03-01'"``.
        by: key columns of the rollups to group by.
        confidence: confidence level of intervals, which need buckets; None for bounds alone.
        connection: where the rollups are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that apply to all metrics.

    Returns:
        A row per group, metric and model except the baseline. The columns of ``by`` come first, then ``metric``, ``baseline``, ``system``
        (string), ``value_baseline``, ``value``, ``difference``, and its guaranteed bounds ``bound_low`` and ``bound_high``
        (float64). ``confidence`` adds the interval limits ``ci_low`` and ``ci_high``, the standard error ``se``, the number of buckets
        ``n_buckets`` (int64) and ``p_value``, not corrected for multiple comparisons. ``num_days_baseline`` and ``num_days`` exist if there is
        a column ``day``; ``num_rows_baseline`` and ``num_rows`` are int64. Undefined values are NULL.

    Raises:
        MetricError: a metric that cannot be computed from a rollup, or fewer than two rollups.
        InputError: a rollup without the columns of a metric or without buckets, or rollups with different buckets.

    >>> import sqlrank
    >>> clicks = {"user_id": [1, 2, 3, 4], "label": [1, 0, 1, 0], "old": [0.5, 0.25, 0.25, 0.5], "new": [0.75, 0.25, 0.5, 0.5]}
    >>> arguments = {"predictions": pa.table(clicks), "unit": "user_id", "n_buckets": 4, "binning": "exact"}
    >>> rollups = {name: sqlrank.rollup("AUC", columns={"score": name}, **arguments) for name in ("old", "new")}
    >>> compare_rollups("AUC", rollups=rollups).select(["value_baseline", "value", "difference"]).to_pylist()
    [{'value_baseline': 0.5, 'value': 0.875, 'difference': 0.375}]
    """
    call = Request(metrics, {}, by=by, where=where, confidence=confidence, sql_dir=sql_dir, policies=policies)
    _, resolved_metrics, rollup_metrics, names = resolve_rollup_call(call)
    baseline_name = _first(rollups, baseline)
    request = ContrastRequest(call, rollup_metrics, resolved_metrics, names, ResourceLimits(memory_limit, threads, temp_directory, timeout))

    def work(database: Database) -> SideByName:
        tables, fingerprints = {}, {}
        for name, source in rollups.items():
            table = RollupTable(resolve_source(database, "rollup", source))
            table.check_metrics(rollup_metrics, names)
            if confidence is not None:
                table.check_buckets(names)
            rows = table.select_rows(database, rollup_metrics, where)
            tables[name], fingerprints[name] = (table, rows), table.bucket_fingerprint(database, where)
        if confidence is not None:
            _check_same_buckets(fingerprints)
        return {
            name: request.evaluate_side(MergeQuery(database, table, rows, names), with_bins=False) for name, (table, rows) in tables.items()
        }

    sides = run_on_database(connection, remote_database.infer_dialect(connection, dialect), request.limits, work)
    return rename_metric_rows(_result(request, sides, baseline_name), resolved_metrics)


def _first(rollups: Any, baseline: str | None) -> str:
    """Return the name of the baseline; raise ``MetricError`` for fewer than two rollups or an unknown baseline."""
    if not isinstance(rollups, Mapping) or len(rollups) < MIN_SYSTEMS or not all(isinstance(name, str) and name for name in rollups):
        raise MetricError(
            "rollups= has two models or more by their names: rollups={'old': ..., 'new': ...} (--rollup old=... --rollup new=...)"
        )
    if baseline is not None and baseline not in rollups:
        raise MetricError(
            f"baseline={baseline!r} is none of the rollups{did_you_mean(str(baseline), rollups)} There are: {', '.join(rollups)}"
        )
    return next(iter(rollups)) if baseline is None else baseline


def _check_same_buckets(fingerprints: Mapping[str, str]) -> None:
    """Raise ``InputError`` for rollups with different buckets, whose units cannot be left out together."""
    (first_name, first_fingerprint), *rest = fingerprints.items()
    for name, fingerprint in rest:
        if fingerprint != first_fingerprint:
            raise InputError(
                f"rollup: the buckets of {first_name} and {name} differ ({first_fingerprint or 'none'}, {fingerprint or 'none'}): they are of other units or another number of "
                "buckets; make both with the same unit= and n_buckets=, or give confidence=None for bounds alone"
            )


def _result(request: ContrastRequest, sides: SideByName, baseline: str) -> pa.Table:
    """Return the rows of all groups, metrics and models."""
    data_types: dict[str, pa.DataType] = dict.fromkeys(("metric", "baseline", "system"), pa.string())
    data_types |= {MODEL_VALUE_COLUMNS.get(name, name): pa.float64() for name in CONTRAST_VALUES}
    if request.call.confidence is not None:
        data_types |= {name: pa.int64() if name == N_BUCKETS else pa.float64() for name in CONTRAST_INTERVALS}
    tables = []
    for system, current in sides.items():
        if system == baseline:
            continue
        groups = request.groups(sides[baseline], current)
        rows = []
        for contrast in request.contrasts(groups, sides[baseline], current):
            counts = row_counts(contrast, current.metrics.column_names, ("_baseline", ""))
            for name, difference in contrast.differences.items():
                values = {MODEL_VALUE_COLUMNS.get(key, key): value for key, value in difference.items()}
                rows.append(contrast.group | {"metric": name, "baseline": baseline, "system": system} | values | counts)
        column_types = data_types | {name: pa.int64() for name in rows[0] if name not in {*request.by, *data_types}}
        tables.append(pa.Table.from_pylist(rows, pa.schema([*groups.schema, *column_types.items()])))
    metadata = {"sqlrank.version": __version__}
    metadata |= {} if request.call.confidence is None else {"sqlrank.confidence": f"{request.call.confidence:g}"}
    return pa.concat_tables(tables).replace_schema_metadata(metadata)
