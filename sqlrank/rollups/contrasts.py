"""Contrast two sides of rollups by group: drift of rows against a reference, and systems against a
baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import Request, name_groups, parse_group_by
from sqlrank.comparison.comparison_plan import ComparedMetric
from sqlrank.comparison.paired_differences import DifferenceSummary
from sqlrank.comparison.paired_tests import (
    TestOptions,
    TestResult,
    mean_t_test,
    run_tests,
    standard_error,
    with_t_interval,
)
from sqlrank.comparison.system_comparison import contrast_row, test_columns
from sqlrank.engines.database import resolve_source
from sqlrank.engines.open_database import ExecutionOptions
from sqlrank.errors import InputError, MetricError
from sqlrank.inference import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    SKIPPED,
    Tolerance,
    Verdict,
    clear_rounding_noise,
    describe_undefined,
    judge_limits,
    list_pairs,
    overall_verdict,
    parse_tolerances,
)
from sqlrank.options import load_options
from sqlrank.registry.metric_info import metric_direction
from sqlrank.registry.query_templates import load_select
from sqlrank.result_columns import (
    BOUND_HIGH,
    BOUND_LOW,
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    DRIFT_SCHEMA,
    N_BUCKETS,
    NUM_DAYS,
    NUM_ROWS,
    P_VALUE,
    PSI,
    ROLLUP_COMPARISON_SCHEMA,
    SE,
    SLICE_COLUMN,
    check_group_names,
    side_columns,
    slice_columns,
    slice_value,
)
from sqlrank.result_metadata import (
    ResultMetadata,
    canonical_names,
    metrics_metadata,
    rename_metric_rows,
)
from sqlrank.rollups.evaluate_rollup import metric_table, resolve_rollup_call
from sqlrank.rollups.jackknife import (
    ROLLUP_GROUP_ID,
    ScratchSession,
    StandardErrors,
    group_ids,
    jackknife_standard_errors,
    leave_one_out_differences,
    leave_one_out_values,
    metrics_with_interval,
    open_scratch_session,
)
from sqlrank.rollups.merge import MergeQuery
from sqlrank.rollups.rollup_table import RollupTable

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from sqlglot import exp

    from sqlrank.engines.database import Database
    from sqlrank.option_types import DialectName, Policies
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.result_columns import ResultRow
    from sqlrank.rollups.decomposition import RollupMetrics


class SideResult(NamedTuple):
    """One side of a contrast: its metrics by group, its bins, and its leave-one-bucket-out metrics.

    Bins and leave-one-bucket-out metrics are None if they are not needed.
    """

    metrics: pa.Table
    bins: pa.Table | None
    leave_one_out: pa.Table | None


class Difference(NamedTuple):
    """A metric of both sides, the difference with its certain bounds, and its jackknife error; None
    is undefined.
    """

    reference: float | None
    current: float | None
    difference: float | None
    bound_low: float | None
    bound_high: float | None
    se: float | None = None
    n_buckets: int | None = None

    @property
    def summary(self) -> DifferenceSummary:
        """The difference as one of units, which are buckets; it is a change unless it is only
        rounding.
        """
        scale = max(abs(self.reference or 0.0), abs(self.current or 0.0))
        n_buckets = self.n_buckets or 0
        return DifferenceSummary(
            *(0, 0, 0),
            units=n_buckets,
            value_baseline=self.reference,
            value=self.current,
            difference=self.difference,
            scale=scale,
            se=self.se,
            df=n_buckets - 1,
            n_positive=int(clear_rounding_noise(abs(self.difference or 0.0), scale) > 0),
        )


class GroupContrast(NamedTuple):
    """A group: its number, its key columns, the rows of both sides, the difference of each metric,
    and the columns of counts.
    """

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
            for column, side in zip(
                side_columns(name, left, right), (self.reference, self.current), strict=True
            )
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

    def evaluate_side(
        self, merge_query: MergeQuery, scratch: ScratchSession, with_bins: bool = True
    ) -> SideResult:
        """Evaluate one side from its rows."""
        metrics = metric_table(self.metrics, merge_query, self.call, scratch)
        leave_one_out = None
        if self.call.confidence is not None and self.interval_metrics.metrics:
            leave_one_out = leave_one_out_values(
                self.interval_metrics,
                merge_query,
                metrics.select(list(self.by)),
                self.call,
                scratch,
            )
        return SideResult(
            metrics,
            merge_query.merged_bins if with_bins and merge_query.table.has_bins else None,
            leave_one_out,
        )

    def find_groups(self, *sides: SideResult) -> pa.Table:
        """Return the key columns of the groups of all sides, those of the first side first."""
        names = list(self.by)
        keys = sides[0].metrics.select(names)
        for side in sides[1:] if names else ():
            side_keys = side.metrics.select(names)
            new = pa.array(
                [
                    row
                    for row, match in enumerate(group_ids(keys, side_keys).to_pylist())
                    if match is None
                ],
                pa.int64(),
            )
            keys = pa.concat_tables([keys, side_keys.take(new).cast(keys.schema)])
        return keys

    def iterate_contrasts(
        self, groups: pa.Table, reference: SideResult, current: SideResult, scratch: ScratchSession
    ) -> Iterator[GroupContrast]:
        """Yield each group with the differences of its metrics."""
        group_numbers_by_side = [
            group_ids(groups, side.metrics.select(list(self.by))) for side in (reference, current)
        ]
        reference_rows, current_rows = (
            dict(zip(group_numbers.to_pylist(), side.metrics.to_pylist(), strict=True))
            for group_numbers, side in zip(group_numbers_by_side, (reference, current), strict=True)
        )
        differences = {
            group_number: {
                metric.name: _subtract_values(
                    metric.name,
                    reference_rows.get(group_number, {}),
                    current_rows.get(group_number, {}),
                )
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
            differences[group_number][name] = differences[group_number][name]._replace(
                se=se, n_buckets=n_buckets
            )
        counts = [
            name
            for name in (NUM_DAYS, NUM_ROWS)
            if name in {*reference.metrics.column_names, *current.metrics.column_names}
        ]
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
        """Return the number of buckets and the standard error of each difference, by group and
        metric.
        """
        if reference is None or current is None:
            return {}
        full_values = {
            (group_number, metric_number): group_differences[metric.name][:2]
            for group_number, group_differences in differences.items()
            for metric_number, metric in enumerate(self.interval_metrics.metrics)
        }
        return jackknife_standard_errors(
            leave_one_out_differences(reference, current, full_values, scratch), scratch
        )


def _subtract_values(
    name: str, reference: Mapping[str, Any], current: Mapping[str, Any]
) -> Difference:
    """Return both values of a metric, their difference and its bounds."""

    def subtract_columns(current_column: str, reference_column: str) -> float | None:
        current_value, reference_value = (
            current.get(current_column, current.get(name)),
            reference.get(reference_column, reference.get(name)),
        )
        return (
            None
            if current_value is None or reference_value is None
            else current_value - reference_value
        )

    bound_columns = (f"{name}.{BOUND_LOW}", f"{name}.{BOUND_HIGH}")
    return Difference(
        reference.get(name),
        current.get(name),
        subtract_columns(name, name),
        subtract_columns(*bound_columns),
        subtract_columns(*bound_columns[::-1]),
    )


def _align_groups(leave_one_out: pa.Table, group_numbers: pa.Array) -> pa.Table:
    """Renumber the groups of one side's leave-one-bucket-out values to the common group
    numbering.
    """
    return leave_one_out.set_column(
        0,
        ROLLUP_GROUP_ID,
        group_numbers.take(leave_one_out[ROLLUP_GROUP_ID].combine_chunks()),
    )


VERDICT_ORDER = (FAIL, INCONCLUSIVE, SKIPPED, PASS, None)
"""Verdicts, the worst first."""


@dataclass(frozen=True)
class DriftTolerances:
    """Drift tolerances by metric; those in ``by_interval`` are judged by their confidence intervals
    instead of their bounds.
    """

    by_metric: Mapping[str, Tolerance]
    by_interval: frozenset[str] = frozenset()

    def decide_row(self, row: ResultRow) -> dict[str, str | None]:
        """Return tolerance, verdict and reason of a row, None for a metric without a tolerance."""
        tolerance = self.by_metric.get(row["metric"])
        if tolerance is None:
            return {"tolerance": None, "verdict": None, "reason": None}
        verdict = _decide_verdict(row, tolerance, self.by_interval)
        return {"tolerance": str(tolerance), "verdict": verdict.verdict, "reason": verdict.reason}


def order_by_verdict(
    rows: Sequence[dict[str, Any]], tolerances: DriftTolerances | None
) -> list[dict[str, Any]]:
    """Return rows with verdicts, the worst first: by verdict, then by relative drift."""
    judged_rows = [row if tolerances is None else row | tolerances.decide_row(row) for row in rows]

    def sort_key(row: ResultRow) -> tuple[int, float]:
        tolerance = None if tolerances is None else tolerances.by_metric.get(row["metric"])
        width = (
            abs(row["value_reference"] or 1.0)
            if tolerance is None
            else tolerance.compute_margin(row["value_reference"])
        )
        change = abs(row["difference"]) if row["difference"] is not None else -1.0
        relative = change / width if width else math.copysign(math.inf if change else 0.0, change)
        return VERDICT_ORDER.index(row.get("verdict")), -relative

    return sorted(judged_rows, key=sort_key)


def _decide_verdict(row: ResultRow, tolerance: Tolerance, by_interval: frozenset[str]) -> Verdict:
    """Return the verdict of a row: pass or fail if both limits agree, otherwise inconclusive."""
    for side, days in (("reference", "the reference"), ("current", "the days that are compared")):
        if row[f"{NUM_ROWS}_{side}"] is None:
            return Verdict(SKIPPED, f"no rows in {days}")
    values = {
        "the reference": row["value_reference"],
        "the days that are compared": row["value_current"],
    }
    if (undefined := describe_undefined(values)) is not None:
        return Verdict(INCONCLUSIVE, undefined)
    uses_interval = row["metric"] in by_interval
    width, (low, high) = (
        tolerance.compute_margin(row["value_reference"]),
        (row[name] for name in ((CI_LOW, CI_HIGH) if uses_interval else BOUNDS)),
    )
    if low is None:
        return Verdict(INCONCLUSIVE, "too few buckets, or no variance among them")
    verdict = judge_limits((max(low, -high), max(abs(low), abs(high))), width)
    reasons = {
        PASS: "within the tolerance",
        FAIL: "moved by more than the tolerance",
        INCONCLUSIVE: f"the {'interval extends' if uses_interval else 'bounds extend'} beyond the"
        " tolerance",
    }
    return Verdict(verdict, reasons[verdict])


@entry_point
def drift(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    rollup: Any,
    reference: str,
    current: str | None = None,
    by: str | Sequence[str] = (),
    tolerance: float | str | Mapping[str, float | str] | None = None,
    confidence: float | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Unpack[Policies],
) -> pa.Table:
    """Compare metrics of some days of a rollup with a reference; detect drift of scores.

    Args:
        metrics: as for :func:`sqlrank.evaluate` with ``rollup=``.
        rollup: the sums that :func:`sqlrank.rollup` made.
        reference: a condition in SQL that selects the reference rows, such as ``"day <
            '2026-03-01'"``.
        current: a condition that selects the rows to compare, such as ``"day >= '2026-03-01'"``;
            all rows by default.
        by: key columns of the rollup to group by.
        tolerance: maximum change of a metric, up or down, for a verdict on each row: ``0.01``,
            ``"2%"`` of the reference's value, or by name, ``{"AUC": 0.01, "PSI": 0.2}``. ``"*"``
            means all other metrics. PSI needs a tolerance under its own name.
        confidence: confidence level, such as 0.95: adds intervals of the differences to a rollup
            with buckets, and bases verdicts on them.
        connection: where the rollup is.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that apply to all metrics.

    Returns:
        A row per group and metric. The columns of ``by`` come first, then ``metric`` (string),
        ``value_reference``, ``value_current``, ``difference``, and its guaranteed bounds
        ``bound_low`` and ``bound_high`` (float64). ``confidence`` adds the interval limits
        ``ci_low`` and ``ci_high``, the standard error ``se``, the number of buckets ``n_buckets``
        (int64) and the p-value ``p_value``. ``tolerance`` adds ``tolerance``, ``verdict`` and
        ``reason`` (string). ``num_days_reference`` and ``num_days_current`` exist if there is a
        column ``day``; ``num_rows_reference`` and ``num_rows_current`` are int64. ``PSI`` is the
        population stability index over deciles of the reference's scores, if the rollup has bins.
        Rows are sorted by verdict: fail, inconclusive, skipped, pass; then by drift relative to the
        tolerance, or to the reference's value without one. The schema's metadata has the overall
        verdict, ``sqlrank.verdict``.

    Raises:
        MetricError: a metric that cannot be computed from a rollup, or an invalid tolerance.
        InputError: a rollup without the columns of a metric, or rows that cannot be merged.

    >>> import pyarrow as pa, sqlrank
    >>> clicks = pa.table(
    ...     {"day": [1, 1, 2, 2], "label": [1, 0, 1, 0], "score": [0.75, 0.25, 0.25, 0.75]}
    ... )
    >>> rollup = sqlrank.rollup("AUC", predictions=clicks, by="day")
    >>> result = sqlrank.drift(
    ...     "AUC", rollup=rollup, reference="day = 1", current="day = 2", tolerance={"AUC": 0.1}
    ... )
    >>> sqlrank.show(result)
    verdict: fail
    metric  reference  current  difference  verdict
    AUC        1.0000   0.0000     -1.0000  fail
    PSI        0.0000   0.0000      0.0000
    Absolute tolerance 0.1.
    """
    arguments = locals()
    call = Request.from_arguments(arguments)
    _, resolved_metrics, rollup_metrics, by = resolve_rollup_call(call)
    names = name_groups(by)
    check_group_names(names, DRIFT_SCHEMA, can_rename=False)
    options = ExecutionOptions.from_arguments(arguments)
    plan = ContrastPlan(call, rollup_metrics, resolved_metrics, names)
    interval_metrics = (
        [metric.name for metric in plan.interval_metrics.metrics] if confidence is not None else []
    )
    tolerances = (
        None
        if tolerance is None
        else DriftTolerances(
            parse_tolerances(
                tolerance,
                [*(metric.name for metric in rollup_metrics.metrics), PSI],
                canonical_names(resolved_metrics),
                without_default=[PSI],
            ),
            frozenset(interval_metrics),
        )
    )

    def detect_drift(database: Database) -> pa.Table:
        rollup_table = RollupTable(resolve_source(database, "rollup", rollup))
        _, resolved_metrics, rollup_metrics, _ = resolve_rollup_call(call, rollup_table)
        plan = ContrastPlan(call, rollup_metrics, resolved_metrics, names)
        rollup_table.check_metrics(rollup_metrics, names)
        if confidence is not None:
            rollup_table.check_buckets(names)
        conditions = [(reference, "reference"), (current, "current")]
        rows = [
            rollup_table.select_rows(database, rollup_metrics, text, argument, reads_bins=True)
            for text, argument in conditions
        ]
        if current is not None:
            rollup_table.select_rows(
                database, rollup_metrics, f"({reference}) OR ({current})", "current"
            )
        with open_scratch_session(database, options.limits) as scratch:
            reference_side, current_side = (
                plan.evaluate_side(MergeQuery(database, rollup_table, side_rows, names), scratch)
                for side_rows in rows
            )
            return _result_rows(plan, reference_side, current_side, tolerances, scratch)

    return rename_metric_rows(options.run(detect_drift), resolved_metrics)


def _result_rows(
    plan: ContrastPlan,
    reference: SideResult,
    current: SideResult,
    tolerances: DriftTolerances | None,
    scratch: ScratchSession,
) -> pa.Table:
    """Return the rows of all groups, the worst first."""
    groups = plan.find_groups(current, reference)
    psi = _compute_psi(groups, reference.bins, current.bins, scratch)
    confidence = plan.call.confidence
    rows = []
    for contrast in plan.iterate_contrasts(groups, reference, current, scratch):
        counts = contrast.row_counts("reference", "current")
        differences: dict[str, Difference] = contrast.differences
        if psi is not None:
            group_psi = psi.get(contrast.group_number)
            differences[PSI] = Difference(
                None if group_psi is None else 0.0, group_psi, group_psi, group_psi, group_psi
            )
        rows += [
            contrast.group | {"metric": name} | _value_columns(difference, confidence) | counts
            for name, difference in differences.items()
        ]
    verdicts = order_by_verdict(rows, tolerances)
    columns = {name: data_type for name, data_type in DRIFT_SCHEMA.items() if name in verdicts[0]}
    metadata = {"sqlrank.version": __version__}
    if tolerances is not None:
        metadata["sqlrank.verdict"] = overall_verdict(
            row["verdict"] for row in verdicts if row["verdict"] is not None
        )
    if confidence is not None:
        metadata["sqlrank.confidence"] = f"{confidence:g}"
    return pa.Table.from_pylist(
        verdicts, pa.schema([*groups.schema, *columns.items()])
    ).replace_schema_metadata(metadata)


def _value_columns(difference: Difference, confidence: float | None) -> dict[str, Any]:
    """Return the value columns of a difference, with interval and test if there is a confidence
    level.
    """
    columns = (*side_columns("value", "reference", "current"), "difference", *BOUNDS)
    values: dict[str, Any] = dict(zip(columns, difference[: len(columns)], strict=True))
    if confidence is None:
        return values
    result = with_t_interval(difference.summary, float(confidence))
    return values | {
        CI_LOW: result.low,
        CI_HIGH: result.high,
        SE: difference.se,
        N_BUCKETS: difference.n_buckets,
        P_VALUE: None if result.low is None else mean_t_test(result.summary)[1],
    }


def _compute_psi(
    groups: pa.Table,
    reference_bins: pa.Table | None,
    current_bins: pa.Table | None,
    scratch: ScratchSession,
) -> dict[int, float | None] | None:
    """Return the population stability index of each group, None without bins."""
    if reference_bins is None or current_bins is None:
        return None
    numbered_bins = {
        name: (
            bins.select(range(groups.num_columns, bins.num_columns)).append_column(
                ROLLUP_GROUP_ID, group_ids(groups, bins)
            )
        )
        for name, bins in (("reference_bins", reference_bins), ("current_bins", current_bins))
    }
    rows = scratch.run_query(
        load_select("analyses/rollups", "population_stability_index.sql"), **numbered_bins
    )
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))


MIN_SYSTEMS = 2
"""Minimum number of rollups to compare."""

MIN_BUCKETS = 2
"""Minimum number of buckets for a test."""


class _Contrast(NamedTuple):
    """A row of the result before it is tested: group, metric, systems, difference, and numbers of
    rows.
    """

    group: Mapping[str, Any]
    metric: ResolvedMetric
    pair: tuple[str, str]
    difference: Difference
    counts: Mapping[str, int | None]


def _check_arguments(rollups: Any, correction: str) -> None:
    is_named = isinstance(rollups, Mapping) and all(
        isinstance(name, str) and name for name in rollups
    )
    if not is_named or len(rollups) < MIN_SYSTEMS:
        raise MetricError(
            "rollups= has two systems or more by their names: rollups={'old': ..., 'new': ...}"
        )
    if correction == "max_t":
        others = [name for name in load_options()["correction"].choices if name != correction]
        raise MetricError(
            "correction='max_t' is not possible with rollups, which have no rows. Choose from:"
            f" {', '.join(others)}"
        )


def compare_rolled_up(
    call: Request,
    rollups: Mapping[str, Any],
    baseline: str | None,
    correction: str,
    power: float,
    options: ExecutionOptions,
) -> pa.Table:
    """Return a row per group, metric and pair of systems.

    ``rollups`` are the sources by system, ``baseline`` is None for all pairs. Without a confidence
    level of the call there are guaranteed bounds alone.

    Raises:
        MetricError: a metric that cannot be computed from a rollup, fewer than two named rollups,
            or an unknown correction.
        InputError: a rollup without the columns of a metric or without buckets, or rollups with
            different buckets.
    """
    _check_arguments(rollups, correction)
    groupings = [name_groups(group) for group in parse_group_by(call.by)]
    columns = list(dict.fromkeys(column for group in groupings for column in group))
    check_group_names(
        columns, {*ROLLUP_COMPARISON_SCHEMA, *slice_columns(groupings)}, can_rename=False
    )
    ungrouped_call = replace(call, by=())
    resolve_rollup_call(ungrouped_call)
    tests = (
        None
        if call.confidence is None
        else TestOptions("t", correction, float(call.confidence), None, power)
    )
    pairs = list_pairs(list(rollups), baseline)

    def compare_systems(database: Database) -> pa.Table:
        tables = {
            name: RollupTable(resolve_source(database, "rollup", source))
            for name, source in rollups.items()
        }
        library, resolved_metrics, rollup_metrics, _ = resolve_rollup_call(
            ungrouped_call, next(iter(tables.values()))
        )
        plans = [ContrastPlan(call, rollup_metrics, resolved_metrics, group) for group in groupings]
        sides = _read_rollups(call, rollup_metrics, columns, tables, database)
        with open_scratch_session(database, options.limits) as scratch:
            rows, fields = _contrast_systems(plans, sides, pairs, database, scratch)
        day_columns, counts = (
            side_columns(NUM_DAYS, "baseline"),
            {name for row in rows for name in row.counts},
        )
        schema = pa.schema(
            [
                *fields.values(),
                *(pa.field(name, pa.string()) for name in slice_columns(plans)),
                *(
                    (name, data_type)
                    for name, data_type in ROLLUP_COMPARISON_SCHEMA.items()
                    if name not in day_columns or name in counts
                ),
            ]
        )
        result = pa.Table.from_pylist(_contrast_rows(rows, tests, plans[0]), schema)
        metadata = _build_metadata(result, tests, resolved_metrics, library)
        return rename_metric_rows(result.replace_schema_metadata(metadata), resolved_metrics)

    return options.run(compare_systems)


def _read_rollups(
    call: Request,
    metrics: RollupMetrics,
    columns: Sequence[str],
    rollup_tables: Mapping[str, RollupTable],
    database: Database,
) -> dict[str, tuple[RollupTable, exp.Subquery]]:
    """Return the checked tables of rollups with their rows, by system."""
    where, has_interval = call.where, call.confidence is not None
    tables, fingerprints = {}, {}
    for name, table in rollup_tables.items():
        table.check_metrics(metrics, columns)
        if has_interval:
            table.check_buckets(columns)
        tables[name] = table, table.select_rows(database, metrics, where)
        fingerprints[name] = table.bucket_fingerprint(database, where)
    if has_interval:
        _check_same_buckets(fingerprints)
    return tables


def _contrast_systems(
    plans: Sequence[ContrastPlan],
    tables: Mapping[str, tuple[RollupTable, exp.Subquery]],
    pairs: Sequence[tuple[str, str]],
    database: Database,
    scratch: ScratchSession,
) -> tuple[list[_Contrast], dict[str, pa.Field]]:
    """Return the rows of all groupings, by group, metric and pair, and the group columns."""
    rows: list[_Contrast] = []
    fields: dict[str, pa.Field] = {}
    for plan in plans:
        systems = {
            name: plan.evaluate_side(
                MergeQuery(database, table, table_rows, plan.by), scratch, with_bins=False
            )
            for name, (table, table_rows) in tables.items()
        }
        groups = plan.find_groups(*systems.values())
        fields |= {field.name: field for field in groups.schema}
        contrasts = [
            plan.iterate_contrasts(groups, systems[baseline], systems[system], scratch)
            for baseline, system in pairs
        ]
        rows += [
            _Contrast(
                {**contrast.group, **slice_value(plan.by, plans)},
                metric,
                pair,
                contrast.differences[str(metric.metric)],
                contrast.row_counts("baseline"),
            )
            for group_contrasts in zip(*contrasts, strict=True)
            for metric in plan.resolved_metrics
            for pair, contrast in zip(pairs, group_contrasts, strict=True)
        ]
    return rows, fields


def _check_same_buckets(fingerprints: Mapping[str, str]) -> None:
    """Raise ``InputError`` for rollups with different buckets, whose units cannot be left out
    together.
    """
    (first_name, first_fingerprint), *rest = fingerprints.items()
    for name, fingerprint in rest:
        if fingerprint != first_fingerprint:
            raise InputError(
                f"rollup: the buckets of {first_name} and {name} differ"
                f" ({first_fingerprint or 'none'}, {fingerprint or 'none'}): they are of other"
                " units or another number of buckets. Make both with the same unit= and"
                " n_buckets=, or give confidence=None for bounds alone"
            )


def _contrast_rows(
    rows: Sequence[_Contrast], tests: TestOptions | None, plan: ContrastPlan
) -> list[dict[str, Any]]:
    """Return the result rows: differences with their tests, which are corrected for all of them."""
    summaries = [row.difference.summary for row in rows]
    results = (
        [TestResult(summary, 0.0) for summary in summaries]
        if tests is None
        else run_tests(summaries, tests)
    )
    interval_metrics = {metric.name for metric in plan.interval_metrics.metrics}
    contrast_rows = []
    for row, result in zip(rows, results, strict=True):
        name, direction = str(row.metric.metric), metric_direction(row.metric)
        measure = ComparedMetric(name, direction, is_proportion=False, uses_influence=True)
        columns = contrast_row(result, measure, row.pair)
        if tests is not None:
            columns |= test_columns(result, measure, row.pair, tests)
        columns |= {
            **dict.fromkeys(("n_units", "unpaired")),  # which rollups do not have
            BOUND_LOW: row.difference.bound_low,
            BOUND_HIGH: row.difference.bound_high,
            N_BUCKETS: row.difference.n_buckets,
            "reason": _missing_reason(row, name in interval_metrics, tests is not None),
        }
        contrast_rows.append({**row.group, **columns, **row.counts})
    return contrast_rows


def _missing_reason(row: _Contrast, is_supported: bool, is_tested: bool) -> str | None:
    """Return the reason why a difference is undefined or has no interval, None if it has one."""
    difference = row.difference
    values = {"the baseline": difference.reference, "the system": difference.current}
    if (undefined := describe_undefined(values)) is not None:
        return undefined
    if not is_tested:
        return "no interval: confidence=None"
    if not is_supported:
        reason = (
            row.metric.file.interval.no_interval
            or f"aggregate={row.metric.settings.get('aggregate')}"
        )
        return f"no interval: {reason.rstrip('.')}"
    if (difference.n_buckets or 0) < MIN_BUCKETS:
        return "no interval: fewer than two buckets"
    if difference.se is None:
        return "no interval: undefined without one of the buckets"
    if standard_error(difference.summary):
        return None
    return (
        "no interval: the same change in every bucket"
        if difference.difference
        else "equal in every bucket"
    )


def _build_metadata(
    result: pa.Table,
    tests: TestOptions | None,
    metrics: Sequence[ResolvedMetric],
    library: Registry,
) -> dict[str, str]:
    labels = result.column_names[: result.column_names.index("metric")]
    kinds = {
        name: "by" if name in labels and name != SLICE_COLUMN else name
        for name in result.column_names
    }
    metadata = {"sqlrank.version": __version__}
    if tests is not None:
        metadata |= {
            "sqlrank.test": tests.test,
            "sqlrank.correction": tests.correction,
            "sqlrank.confidence": f"{tests.confidence:g}",
        }
    measures = metrics_metadata({}, metrics, library).measures
    return metadata | ResultMetadata("comparison", kinds, measures).to_schema_metadata()
