"""Compare metrics of two sets of rollup rows, reference and current, per group, with PSI of scores, tolerances and verdicts: public function ``drift``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.open_database import run_on_database
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.inference.standard_errors import t_interval
from sqlrank.inference.tolerance import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    SKIPPED,
    Tolerance,
    Verdict,
    overall_verdict,
    parse_tolerances,
)
from sqlrank.inputs.source_union import resolve_source
from sqlrank.registry.query_templates import load_select
from sqlrank.request import Request
from sqlrank.result_columns import BOUNDS, CI_HIGH, CI_LOW, DRIFT_SCHEMA, N_BUCKETS, NUM_ROWS, P_VALUE, SE, side_columns
from sqlrank.result_metadata import canonical_names, rename_metric_rows
from sqlrank.rollups.contrasts import ContrastPlan, Difference, SideResult
from sqlrank.rollups.evaluate_rollup import resolve_rollup_call
from sqlrank.rollups.merge import MergeQuery
from sqlrank.rollups.rank_metrics import ROLLUP_GROUP_ID, group_ids
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.rollups.scratch_session import ScratchSession, open_scratch_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.registry.metric import Metric


PSI = "PSI"
"""Name of the population stability index."""

VERDICT_ORDER = (FAIL, INCONCLUSIVE, SKIPPED, PASS, None)
"""Verdicts, the worst first."""


@dataclass(frozen=True)
class DriftTolerances:
    """Drift tolerances by metric."""

    by_metric: Mapping[str, Tolerance]
    by_interval: frozenset[str] = frozenset()

    @classmethod
    def from_argument(
        cls, tolerances: Any, names: Sequence[str], by_interval: Sequence[str], canonical: Mapping[str, str]
    ) -> DriftTolerances:
        """Parse tolerances; raise ``MetricError`` for an invalid one, or one of an unknown metric.

        Metrics in ``by_interval`` are judged by their confidence intervals instead of their bounds. ``canonical`` has the
        canonical metrics of other requested names.
        """
        return cls(parse_tolerances(tolerances, [*names, PSI], canonical, without_default=[PSI]), frozenset(by_interval))

    def decide_row(self, row: Mapping[str, Any]) -> dict[str, str | None]:
        """Return tolerance, verdict and reason of a row, None for a metric without a tolerance."""
        tolerance = self.by_metric.get(row["metric"])
        if tolerance is None:
            return {"tolerance": None, "verdict": None, "reason": None}
        verdict = _decide_verdict(row, tolerance, self.by_interval)
        return {"tolerance": str(tolerance), "verdict": verdict.verdict, "reason": verdict.reason}


def order_by_verdict(rows: Sequence[dict[str, Any]], tolerances: DriftTolerances | None) -> list[dict[str, Any]]:
    """Return rows with verdicts, the worst first: by verdict, then by relative drift."""
    judged_rows = [row if tolerances is None else row | tolerances.decide_row(row) for row in rows]

    def sort_key(row: Mapping[str, Any]) -> tuple[int, float]:
        tolerance = None if tolerances is None else tolerances.by_metric.get(row["metric"])
        width = abs(row["value_reference"] or 1.0) if tolerance is None else tolerance.compute_margin(row["value_reference"])
        change = abs(row["difference"]) if row["difference"] is not None else -1.0
        relative = change / width if width else math.copysign(math.inf if change else 0.0, change)
        return VERDICT_ORDER.index(row.get("verdict")), -relative

    return sorted(judged_rows, key=sort_key)


def overall_drift_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the overall verdict of the rows that have one."""
    return overall_verdict(row["verdict"] for row in rows if row["verdict"] is not None)


def _decide_verdict(row: Mapping[str, Any], tolerance: Tolerance, by_interval: frozenset[str]) -> Verdict:
    """Return the verdict of a row: pass or fail if both limits agree, otherwise inconclusive."""
    for side, days in (("reference", "the reference"), ("current", "the days that are compared")):
        if row[f"{NUM_ROWS}_{side}"] is None:
            return Verdict(SKIPPED, f"no rows in {days}")
    if row["difference"] is None:
        sides = (("value_reference", "the reference"), ("value_current", "the days that are compared"))
        undefined = [days for name, days in sides if row[name] is None]
        return Verdict(INCONCLUSIVE, f"undefined for {'both' if len(undefined) != 1 else undefined[0]}")
    uses_interval = row["metric"] in by_interval
    width, (low, high) = (
        tolerance.compute_margin(row["value_reference"]),
        (row[name] for name in ((CI_LOW, CI_HIGH) if uses_interval else BOUNDS)),
    )
    if low is None:
        return Verdict(INCONCLUSIVE, "too few buckets, or no variance among them")
    if max(abs(low), abs(high)) <= width:
        return Verdict(PASS, "within the tolerance")
    if low > width or high < -width:
        return Verdict(FAIL, "moved by more than the tolerance")
    return Verdict(INCONCLUSIVE, f"the {'interval extends' if uses_interval else 'bounds extend'} beyond the tolerance")


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
    dialect: str | None = None,
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Compare metrics of some days of a rollup with a reference; detect drift of scores.

    Args:
        metrics: as for :func:`sqlrank.evaluate` with ``rollup=``.
        rollup: the sums that :func:`sqlrank.rollup` made.
        reference: a condition in SQL that selects the reference rows, such as ``"day < '2026-03-01'"``.
        current: a condition that selects the rows to compare, such as ``"day >= '2026-03-01'"``; all rows by default.
        by: key columns of the rollup to group by.
        tolerance: maximum change of a metric, up or down, for a verdict on each row: ``0.01``, ``"2%"`` of the reference's value, or by name,
            ``{"AUC": 0.01, "PSI": 0.2}``. ``"*"`` means all other metrics. PSI needs a tolerance under its own name.
        confidence: confidence level, such as 0.95: adds intervals of the differences to a rollup with buckets, and bases verdicts on them.
        connection: where the rollup is.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that apply to all metrics.

    Returns:
        A row per group and metric. The columns of ``by`` come first, then ``metric`` (string), ``value_reference``, ``value_current``,
        ``difference``, and its guaranteed bounds ``bound_low`` and ``bound_high`` (float64). ``confidence`` adds the interval limits ``ci_low``
        and ``ci_high``, the standard error ``se``, the number of buckets ``n_buckets`` (int64) and the p-value ``p_value``. ``tolerance`` adds
        ``tolerance``, ``verdict`` and ``reason`` (string). ``num_days_reference`` and ``num_days_current`` exist if there is a column ``day``;
        ``num_rows_reference`` and ``num_rows_current`` are int64. ``PSI`` is the population stability index over deciles of the reference's
        scores, if the rollup has bins. Rows
        are sorted by verdict: fail, inconclusive, skipped, pass; then by drift relative to the tolerance, or to the reference's value
        without one. The schema's metadata has the overall verdict, ``sqlrank.verdict``.

    Raises:
        MetricError: a metric that cannot be computed from a rollup, or an invalid tolerance.
        InputError: a rollup without the columns of a metric, or rows that cannot be merged.

    >>> import sqlrank
    >>> clicks = pa.table({"day": [1, 1, 2, 2], "label": [1, 0, 1, 0], "score": [0.75, 0.25, 0.25, 0.75]})
    >>> rollup = sqlrank.rollup("AUC", predictions=clicks, by="day")
    >>> drift("AUC", rollup=rollup, reference="day = 1", current="day = 2", tolerance={"AUC": 0.1}).select(["metric", "difference", "verdict"]).to_pylist()
    [{'metric': 'AUC', 'difference': -1.0, 'verdict': 'fail'}, {'metric': 'PSI', 'difference': 0.0, 'verdict': None}]
    """
    call = Request(metrics, {}, by=by, confidence=confidence, sql_dir=sql_dir, policies=policies)
    _, resolved_metrics, rollup_metrics, names = resolve_rollup_call(call)
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    plan = ContrastPlan(call, rollup_metrics, resolved_metrics, names)
    interval_metrics = [metric.name for metric in plan.interval_metrics.metrics] if confidence is not None else []
    tolerances = (
        None
        if tolerance is None
        else DriftTolerances.from_argument(
            tolerance, [metric.name for metric in rollup_metrics.metrics], interval_metrics, canonical_names(resolved_metrics)
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
        rows = [rollup_table.select_rows(database, rollup_metrics, text, argument, reads_bins=True) for text, argument in conditions]
        if current is not None:
            rollup_table.select_rows(database, rollup_metrics, f"({reference}) OR ({current})", "current")
        with open_scratch_session(database, limits) as scratch:
            reference_side, current_side = (
                plan.evaluate_side(MergeQuery(database, rollup_table, side_rows, names), scratch) for side_rows in rows
            )
            return _result_rows(plan, reference_side, current_side, tolerances, scratch)

    result = run_on_database(connection, infer_dialect(connection, dialect), limits, detect_drift)
    return rename_metric_rows(result, resolved_metrics)


def _result_rows(
    plan: ContrastPlan, reference: SideResult, current: SideResult, tolerances: DriftTolerances | None, scratch: ScratchSession
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
            differences[PSI] = Difference(None if group_psi is None else 0.0, group_psi, group_psi, group_psi, group_psi)
        rows += [
            contrast.group | {"metric": name} | _value_columns(difference, confidence) | counts for name, difference in differences.items()
        ]
    verdicts = order_by_verdict(rows, tolerances)
    columns = {name: data_type for name, data_type in DRIFT_SCHEMA.items() if name in verdicts[0]}
    metadata = {"sqlrank.version": __version__} | ({} if tolerances is None else {"sqlrank.verdict": overall_drift_verdict(verdicts)})
    metadata |= {} if confidence is None else {"sqlrank.confidence": f"{confidence:g}"}
    return pa.Table.from_pylist(verdicts, pa.schema([*groups.schema, *columns.items()])).replace_schema_metadata(metadata)


def _value_columns(difference: Difference, confidence: float | None) -> dict[str, Any]:
    """Return the value columns of a difference, with interval and test if there is a confidence level."""
    columns = (*side_columns("value", "reference", "current"), "difference", *BOUNDS)
    values: dict[str, Any] = dict(zip(columns, difference[: len(columns)], strict=True))
    if confidence is None:
        return values
    low, high = t_interval(difference.difference, difference.standard_error, difference.df, float(confidence))
    p_value = None if low is None else difference.t_test()[1]
    return values | {CI_LOW: low, CI_HIGH: high, SE: difference.se, N_BUCKETS: difference.n_buckets, P_VALUE: p_value}


def _compute_psi(
    groups: pa.Table, reference_bins: pa.Table | None, current_bins: pa.Table | None, scratch: ScratchSession
) -> dict[int, float | None] | None:
    """Return the population stability index of each group, None without bins."""
    if reference_bins is None or current_bins is None:
        return None
    numbered_bins = {
        name: bins.select(range(groups.num_columns, bins.num_columns)).append_column(ROLLUP_GROUP_ID, group_ids(groups, bins))
        for name, bins in (("reference_bins", reference_bins), ("current_bins", current_bins))
    }
    rows = scratch.run_query(load_select("rollups", "population_stability_index.sql"), **numbered_bins)
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))
