"""Compare systems by their rollups: paired jackknife tests of the differences, corrected for multiple comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.open_database import run_on_database
from sqlrank.errors import InputError, MetricError, short_repr, suggest_choice
from sqlrank.inference.corrected_tests import CORRECTIONS, HypothesisFamily, adjust_p_values, choose_winner, reconcile_interval
from sqlrank.inference.significance import minimum_detectable_effect
from sqlrank.inference.standard_errors import t_interval
from sqlrank.inference.system_pairs import list_pairs
from sqlrank.inference.tolerance import relative_difference
from sqlrank.inputs.source_union import resolve_source
from sqlrank.registry.metric_info import metric_direction
from sqlrank.resolve import parse_group_by
from sqlrank.result_columns import (
    ALL_ROWS_LABEL,
    BOUND_HIGH,
    BOUND_LOW,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    NUM_DAYS,
    P_VALUE,
    ROLLUP_COMPARISON_SCHEMA,
    SE,
    SLICE_COLUMN,
    side_columns,
)
from sqlrank.result_metadata import ResultMetadata, metrics_metadata, rename_metric_rows
from sqlrank.rollups.contrasts import ContrastPlan, Difference
from sqlrank.rollups.evaluate_rollup import resolve_rollup_call
from sqlrank.rollups.merge import MergeQuery
from sqlrank.rollups.rollup_table import RollupTable
from sqlrank.rollups.scratch_session import ScratchSession, open_scratch_session

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlrank.engines.database import Database
    from sqlrank.engines.resource_limits import ResourceLimits
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.request import Request
    from sqlrank.rollups.decomposition import RollupMetrics

MIN_SYSTEMS = 2
"""Minimum number of rollups to compare."""

MIN_BUCKETS = 2
"""Minimum number of buckets for a test."""


@dataclass(frozen=True)
class RollupComparisonRequest:
    """A comparison of rollups as requested.

    ``rollups`` are the sources by system, ``baseline`` is None for all pairs. The confidence level is that of ``call``, None for guaranteed
    bounds alone.
    """

    call: Request
    rollups: Mapping[str, Any]
    baseline: str | None
    correction: str
    power: float

    def __post_init__(self) -> None:
        """Raise ``MetricError`` for fewer than two named rollups, or an unknown correction."""
        is_named = isinstance(self.rollups, Mapping) and all(isinstance(name, str) and name for name in self.rollups)
        if not is_named or len(self.rollups) < MIN_SYSTEMS:
            raise MetricError("rollups= has two systems or more by their names: rollups={'old': ..., 'new': ...}")
        corrections = [name for name in CORRECTIONS if name != "max_t"]
        if self.correction not in corrections:
            raise MetricError(
                suggest_choice(
                    f"correction={short_repr(self.correction)} is not possible with rollups, which have no rows",
                    self.correction,
                    corrections,
                )
            )


class _Contrast(NamedTuple):
    """A row of the result before it is tested: group, metric, systems, difference, and numbers of rows."""

    group: Mapping[str, Any]
    metric: ResolvedMetric
    pair: tuple[str, str]
    difference: Difference
    counts: Mapping[str, int | None]


def compare_rolled_up(
    request: RollupComparisonRequest,
    connection: Any,
    dialect: str | None,
    limits: ResourceLimits,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Return a row per group, metric and pair of systems.

    Raises:
        MetricError: a metric that cannot be computed from a rollup, or fewer than two rollups.
        InputError: a rollup without the columns of a metric or without buckets, or rollups with different buckets.
    """
    groupings = parse_group_by(request.call.by)
    columns = list(dict.fromkeys(column for group in groupings for column in group))
    call = replace(request.call, by=())
    resolve_rollup_call(call)
    pairs = list_pairs(list(request.rollups), request.baseline)

    def compare_systems(database: Database) -> pa.Table:
        tables = {name: RollupTable(resolve_source(database, "rollup", source)) for name, source in request.rollups.items()}
        library, resolved_metrics, rollup_metrics, _ = resolve_rollup_call(call, next(iter(tables.values())))
        plans = [ContrastPlan(request.call, rollup_metrics, resolved_metrics, group) for group in groupings]
        sides = _read_rollups(request, rollup_metrics, columns, tables, database)
        with open_scratch_session(database, limits) as scratch:
            rows, fields = _contrast_systems(plans, sides, pairs, database, scratch)
        day_columns, counts = side_columns(NUM_DAYS, "baseline"), {name for row in rows for name in row.counts}
        schema = pa.schema(
            [
                *fields.values(),
                *([pa.field(SLICE_COLUMN, pa.string())] if len(plans) > 1 else []),
                *((name, data_type) for name, data_type in ROLLUP_COMPARISON_SCHEMA.items() if name not in day_columns or name in counts),
            ]
        )
        result = pa.Table.from_pylist(_test_contrasts(rows, request, plans[0], library), schema)
        return rename_metric_rows(
            result.replace_schema_metadata(_build_metadata(result, request, resolved_metrics, library)), resolved_metrics
        )

    return run_on_database(connection, infer_dialect(connection, dialect), limits, compare_systems, progress)


def _read_rollups(
    request: RollupComparisonRequest,
    metrics: RollupMetrics,
    columns: Sequence[str],
    rollup_tables: Mapping[str, RollupTable],
    database: Database,
) -> dict[str, tuple[RollupTable, exp.Subquery]]:
    """Return the checked tables of rollups with their rows, by system."""
    where, has_interval = request.call.where, request.call.confidence is not None
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
            name: plan.evaluate_side(MergeQuery(database, table, table_rows, plan.by), scratch, with_bins=False)
            for name, (table, table_rows) in tables.items()
        }
        groups = plan.find_groups(*systems.values())
        fields |= {field.name: field for field in groups.schema}
        label = {SLICE_COLUMN: ", ".join(plan.by) or ALL_ROWS_LABEL} if len(plans) > 1 else {}
        contrasts = [plan.iterate_contrasts(groups, systems[baseline], systems[system], scratch) for baseline, system in pairs]
        rows += [
            _Contrast({**contrast.group, **label}, metric, pair, contrast.differences[str(metric.metric)], contrast.row_counts("baseline"))
            for group_contrasts in zip(*contrasts, strict=True)
            for metric in plan.resolved_metrics
            for pair, contrast in zip(pairs, group_contrasts, strict=True)
        ]
    return rows, fields


def _check_same_buckets(fingerprints: Mapping[str, str]) -> None:
    """Raise ``InputError`` for rollups with different buckets, whose units cannot be left out together."""
    (first_name, first_fingerprint), *rest = fingerprints.items()
    for name, fingerprint in rest:
        if fingerprint != first_fingerprint:
            raise InputError(
                f"rollup: the buckets of {first_name} and {name} differ ({first_fingerprint or 'none'}, {fingerprint or 'none'}): they are of other units or another number of "
                "buckets. Make both with the same unit= and n_buckets=, or give confidence=None for bounds alone"
            )


def _test_contrasts(
    rows: Sequence[_Contrast], request: RollupComparisonRequest, plan: ContrastPlan, library: Registry
) -> list[dict[str, Any]]:
    """Return the result rows: differences with their tests, which are corrected for all of them."""
    tests = [row.difference.t_test() for row in rows]
    p_values = [p for _, p in tests]
    p_adjusted = adjust_p_values(p_values, request.correction)
    confidence = request.call.confidence
    family = None
    if confidence is not None:
        family = HypothesisFamily(float(confidence), request.correction, sum(p is not None for p in p_values))
    interval_metrics = {metric.name for metric in plan.interval_metrics.metrics}
    results = []
    for row, (statistic, p), adjusted in zip(rows, tests, p_adjusted, strict=True):
        metric, difference = str(row.metric.metric), row.difference
        values = {
            "metric": metric,
            **dict(zip(("baseline", "system"), row.pair, strict=True)),
            **dict(zip(side_columns("value", "baseline"), difference[:2], strict=True)),
            "difference": difference.difference,
            "relative_difference": relative_difference(difference.difference, difference.reference),
            BOUND_LOW: difference.bound_low,
            BOUND_HIGH: difference.bound_high,
            N_BUCKETS: difference.n_buckets,
            "reason": _missing_reason(row, metric in interval_metrics, family is not None),
        }
        if family is not None:
            values |= {"ci_level": family.level, "test": "t", "correction": request.correction}
            if (se := difference.standard_error) is not None:
                df, level = difference.df, family.level_for(p, adjusted)
                is_decided, low, high = reconcile_interval(
                    family.is_significant(adjusted) and bool(difference.difference), *t_interval(difference.difference, se, df, level)
                )
                deviation = se * math.sqrt(df + 1)
                values |= {
                    CI_LOW: low, CI_HIGH: high, "ci_level": level, SE: se, "statistic": statistic, P_VALUE: p, "p_adjusted": adjusted,
                    "winner": choose_winner(row.pair, difference.difference, metric_direction(row.metric, library), is_decided),
                    "mde": minimum_detectable_effect(deviation, df + 1, family.level, request.power) if deviation else None,
                }  # fmt: skip
        results.append({**row.group, **values, **row.counts})
    return results


def _missing_reason(row: _Contrast, is_supported: bool, is_tested: bool) -> str | None:
    """Return the reason why a difference is undefined or has no interval, None if it has one."""
    difference = row.difference
    undefined = [
        name for name, value in zip(("baseline", "system"), (difference.reference, difference.current), strict=True) if value is None
    ]
    if undefined:
        return "undefined for both" if len(undefined) > 1 else f"undefined for the {undefined[0]}"
    if not is_tested:
        return "no interval: confidence=None"
    if not is_supported:
        reason = row.metric.file.interval.no_interval or f"aggregate={row.metric.settings.get('aggregate')}"
        return f"no interval: {reason.rstrip('.')}"
    if (difference.n_buckets or 0) < MIN_BUCKETS:
        return "no interval: fewer than two buckets"
    if difference.se is None:
        return "no interval: undefined without one of the buckets"
    if difference.standard_error:
        return None
    return "no interval: the same change in every bucket" if difference.difference else "equal in every bucket"


def _build_metadata(
    result: pa.Table, request: RollupComparisonRequest, metrics: Sequence[ResolvedMetric], library: Registry
) -> dict[str, str]:
    """Return the schema metadata of a result."""
    labels = result.column_names[: result.column_names.index("metric")]
    kinds = {name: "by" if name in labels and name != SLICE_COLUMN else name for name in result.column_names}
    metadata = {"sqlrank.version": __version__}
    if (confidence := request.call.confidence) is not None:
        metadata |= {"sqlrank.test": "t", "sqlrank.correction": request.correction, "sqlrank.confidence": f"{confidence:g}"}
    measures = metrics_metadata({}, metrics, library).measures
    return metadata | ResultMetadata("comparison", kinds, measures).to_schema_metadata()
