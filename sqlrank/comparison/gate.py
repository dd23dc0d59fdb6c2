"""Test that a candidate is non-inferior, or that groups differ within a tolerance (public ``gate``
and ``assert_not_worse``), and find what got worse most.
"""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.arrow_arrays import to_array
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.interval_options import SEQUENTIAL, check_confidence_level
from sqlrank.call.request import ColumnNames, Request
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import find_systems
from sqlrank.comparison.comparison_plan import ComparisonPlan
from sqlrank.comparison.paired_differences import (
    MAX_CELLS_PER_GROUPING,
    check_fully_paired,
    evaluate_systems,
    find_unit_column,
    share_sources,
    with_unit_tables,
)
from sqlrank.comparison.paired_tests import (
    check_interval,
    find_few_units,
    open_sequence,
    with_t_interval,
)
from sqlrank.comparison.stored_values import (
    BASELINE_SYSTEM,
    CANDIDATE_SYSTEM,
    read_baseline,
    stack_with_baseline,
)
from sqlrank.comparison.system_comparison import (
    MAX_UNPAIRED_SHARE,
    GatedDifference,
    check_direction,
    contrast_row,
    contrast_table,
    count_tests,
    find_small_samples,
    find_unpaired,
    group_schema,
    group_values,
)
from sqlrank.engines.file_sources import is_unambiguous_file
from sqlrank.engines.open_database import ExecutionOptions
from sqlrank.errors import InputError, MetricError, SqlrankError, join_words, suggest_choice
from sqlrank.inference import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    Tolerance,
    Verdict,
    adjusted_confidence,
    build_verdict_metadata,
    describe_overlap,
    judge_limits,
    parse_tolerances,
)
from sqlrank.inputs.column_binding import bind_inputs
from sqlrank.inputs.cross_input_checks import find_similar_ids
from sqlrank.inputs.filters import filter_inputs
from sqlrank.output.ci_reports import is_all_skipped, markdown_summary
from sqlrank.output.display import DEFAULT_DIGITS
from sqlrank.registry.query_templates import load_select
from sqlrank.result_columns import (
    CI_HIGH,
    CI_LOW,
    GATE_SCHEMA,
    GROUP_COUNTS,
    RATIO_LIMITS,
    REGRESSIONS_KEY,
)
from sqlrank.result_metadata import (
    MEASURES_KEY,
    UNIT_KEY,
    LeftOut,
    canonical_names,
    group_texts,
    left_out_metadata,
    metrics_metadata,
    read_left_out,
    rename_metric_rows,
)
from sqlrank.run.execution import run_resolved
from sqlrank.sql_ast import bind_placeholders, find_nodes, quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from sqlrank.comparison.paired_differences import DifferenceSummary, PairedUnits, UnitTables
    from sqlrank.comparison.paired_tests import ConfidenceSequence
    from sqlrank.engines.database import Database
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import DialectName, Policies
    from sqlrank.registry.metric import Metric
    from sqlrank.result_columns import ResultRow

    Limits = tuple[float, float] | None
    """Limits of a difference or of a relative difference, None without an interval."""


MAX_REGRESSIONS = 10
"""Groups of a metric that are listed; ``comparison/regressions.sql`` lists as many units."""


def find_regressions(
    units: PairedUnits, comparison: ComparisonPlan, summaries: Sequence[DifferenceSummary]
) -> dict[str, str]:
    """Return the metadata with the units and groups of each metric that got worse, those that lost
    most first, empty without any.

    A row has ``metric``, ``kind`` (``queries`` or ``groups``), ``name``, ``baseline``,
    ``candidate`` and ``difference``.
    """
    rows: list[dict[str, Any]] = []
    for index, (measure, metric) in enumerate(zip(units.measures, comparison.metrics, strict=True)):
        sign = {"higher": 1, "lower": -1}.get(measure.direction, 0)
        query = bind_placeholders(
            load_select("analyses/comparison", "regressions.sql"),
            metric=index,
            sign=sign,
            cells=MAX_CELLS_PER_GROUPING,
        )
        regressions = (
            [] if measure.uses_influence else [("queries", *row) for row in units.fetch_rows(query)]
        )
        groups = [
            summary
            for summary in summaries
            if summary.metric == index and units.cells[summary.cell]
        ]
        worse = [
            summary
            for summary in groups
            if summary.difference is not None and sign * summary.difference < 0
        ]
        for summary in sorted(worse, key=lambda summary: sign * (summary.difference or 0))[
            :MAX_REGRESSIONS
        ]:
            label = ", ".join(
                f"{name}={value}" for name, value in units.cells[summary.cell].items()
            )
            regressions.append(("groups", label, summary.value_baseline, summary.value))
        name = (*metric.column_names, str(metric.metric))[0]
        rows += [
            {
                "metric": name,
                "kind": kind,
                "name": unit,
                "baseline": first,
                "candidate": second,
                "difference": second - first,
            }
            for kind, unit, first, second in regressions
        ]
    return {REGRESSIONS_KEY: json.dumps(rows)} if rows else {}


def add_documents(
    result: pa.Table, comparison: ComparisonPlan, options: ExecutionOptions, systems: Sequence[str]
) -> pa.Table:
    """Return a gate whose regressed queries have the ids of the first documents of both systems,
    for runs with scores that DuckDB reads.
    """
    metadata = dict(result.schema.metadata or {})
    rows: list[dict[str, Any]] = json.loads(metadata.get(REGRESSIONS_KEY.encode(), b"[]"))
    queries = {row["name"] for row in rows if row["kind"] == "queries"}
    if not queries or "run" not in comparison.call.sources:
        return result

    def read_documents(database: Database) -> list[tuple[str, str, str]]:
        inputs = filter_inputs(bind_inputs(resolve_request(comparison.call_by(())), database))
        run = inputs.by_role["run"]
        if "score" not in run.columns:
            return []
        run = run.with_filter(
            exp.cast(run.raw_expression("query_id"), "TEXT").isin(*sorted(queries))
        )
        keys = [quoted_column(name) for name in run.group_names]
        query = load_select("analyses/comparison", "first_documents.sql")
        ranked = query.args["from_"].this.this
        ranked.args["from_"].set(
            "this", run.select_columns(("query_id", "doc_id", "score")).subquery("run")
        )
        for window in find_nodes(ranked, exp.Window):
            window.set("partition_by", [*keys, *window.args["partition_by"]])
        ranked.select(*keys, copy=False)
        return database.query_rows(query.select(*keys))

    documents: dict[tuple[str, str], list[str]] = {}
    with suppress(SqlrankError):  # a summary is no reason to fail
        for query_id, doc_id, *system in options.run(read_documents):
            documents.setdefault((query_id, str(system[0]) if system else systems[-1]), []).append(
                doc_id
            )
    for row in rows if documents else ():
        if row["kind"] == "queries":
            row["documents"] = [documents.get((row["name"], system), []) for system in systems]
    metadata[REGRESSIONS_KEY.encode()] = json.dumps(rows).encode()
    return result.replace_schema_metadata(metadata)


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


def _read_limits(row: ResultRow, tolerance: Tolerance) -> Limits:
    """Return the limits of the difference, or of the share by which the least value is below the
    greatest.
    """
    low, high = (row[name] for name in (RATIO_LIMITS if tolerance.is_share else (CI_LOW, CI_HIGH)))
    if low is None or high is None:
        return None
    return (1 - high, 1 - low) if tolerance.is_share else (low, high)


def _is_beyond(row: ResultRow, limits: Limits, tolerances: Mapping[str, Tolerance]) -> bool:
    return limits is not None and limits[0] > tolerances[row["metric"]].value


def _decide_verdict(
    row: ResultRow, tolerance: Tolerance, limits: Limits, corrected: Limits, num_tests: int
) -> Verdict:
    """Return the verdict on a difference: it fails if a corrected interval lies above the
    tolerance, and passes if the usual one lies below.
    """
    num_groups, num_undefined = (row[name] or 0 for name in GROUP_COUNTS)
    what = "ratio" if tolerance.is_share else "difference"
    verdict = limits and judge_limits(limits, tolerance.value, corrected)
    if verdict == FAIL:
        return Verdict(FAIL, f"the {what} is beyond the tolerance")
    if num_undefined:
        return Verdict(
            INCONCLUSIVE, f"undefined for {num_undefined} of {num_groups + num_undefined} groups"
        )
    if num_groups < 2:  # noqa: PLR2004  a difference is between two
        return Verdict(INCONCLUSIVE, "fewer than two groups")
    if limits is None:
        return Verdict(INCONCLUSIVE, f"the {what} has no interval")
    if verdict == PASS:
        return Verdict(PASS, f"the {what} is within the tolerance")
    return Verdict(INCONCLUSIVE, describe_overlap(limits, tolerance.value, num_tests))


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


def check_baseline_overlap(
    units: PairedUnits, summaries: Sequence[DifferenceSummary], comparison: ComparisonPlan
) -> None:
    """Raise ``InputError`` if more than one in a hundred queries lack a counterpart."""
    num_units = max(summary.units for summary in summaries)
    unpaired = max(summary.unpaired for summary in summaries if summary.cell == summaries[0].cell)
    if unpaired <= MAX_UNPAIRED_SHARE * (num_units + unpaired):
        return
    baseline_ids, candidate_ids = (
        exp.select(exp.cast(exp.column("unit"), "TEXT").as_("value"))
        .distinct()
        .from_("unit_values")
        .where(exp.column("system").eq(sql_literal(system)))
        for system in (BASELINE_SYSTEM, CANDIDATE_SYSTEM)
    )
    similar = find_similar_ids(
        units.fetch_rows, "duckdb", baseline_ids, candidate_ids, keeps_case=True
    )
    what = next(iter(comparison.call.sources))
    problem, step = (
        ("", f"Give the same {what} and judgments")
        if similar is None
        else (f". The ids {similar[1]}", "Give them as the baseline has them")
    )
    raise InputError(
        f"{unpaired:,} of {num_units + unpaired:,} queries have a value in the baseline or in the"
        f" candidate only{problem}. {step}, or store the baseline again"
    )


PARQUET_SUFFIX = ".parquet"


@entry_point
def gate(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    unit: str | None = None,
    baseline: Any = None,
    tolerance: float | str | Mapping[str, float | str] = 0.0,
    min_units: int = 20,
    lower_is_better: str | Sequence[str] = (),
    confidence: float = 0.95,
    interval: str = "fixed",
    expected_units: int | None = None,
    where: str | None = None,
    compat: str | None = None,
    names: ColumnNames = "requested",
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[Policies],
) -> pa.Table:
    """Test for each metric and group that a candidate is non-inferior to the baseline, or that
    groups differ by no more than a tolerance.

    A metric fails if the interval of the paired difference lies below minus the tolerance, at a
    level corrected for the number of rows. It passes if the interval at ``confidence`` lies above
    minus the tolerance. Otherwise it is inconclusive, also if it is undefined or has no interval.

    Args:
        metrics: metrics to test: ranking metrics, metrics of predictions under ``level="query"``,
            or metrics over all rows, such as AUC.
        run: two systems, ``{"baseline": ..., "candidate": ...}`` or a table with a column
            ``system``; with a stored baseline the candidate alone.
        qrels: judgments.
        predictions: predictions with two scores (``columns={"score": ["old", "new"]}``), of which
            the first is the baseline.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        system: the column that identifies the two systems.
        by: columns to group by, tested in addition to all rows; a list of lists gives the exact
            groupings.
        across: columns whose groups are compared with each other, instead of systems:
            ``across="country"``. The tolerance is the greatest difference of a metric between two
            groups, or as a share, ``"20%"``, how far the least value may be below the greatest.
        unit: as for :func:`sqlrank.compare`.
        baseline: name of the baseline system. By default it is the first system in the caller's
            order, otherwise ``"baseline"``. A Parquet file or a table of :func:`sqlrank.evaluate`
            with ``per_query=True`` is a stored baseline.
        tolerance: margin by which a metric may be worse: 0.01, or ``"2%"`` of the baseline's
            measured value, which is treated as a constant. By metric: ``{"AP": "2%", "*": 0.01}``.
        min_units: minimum number of queries; groups with fewer are skipped.
        lower_is_better: metrics of columns of your own, or the columns, of which lower values are
            better: ``"latency_ms"``.
        confidence: two-sided confidence level of intervals; each side errs half as often.
        interval: as for :func:`sqlrank.compare`; under ``"sequential"`` no change passes from
            ``expected_units`` on.
        expected_units: as for :func:`sqlrank.compare`.
        where: a SQL condition on the rows to read.
        compat: as for :func:`sqlrank.evaluate`.
        names: as for :func:`sqlrank.compare`.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        progress: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        A row per group and metric, in the order of groups and of metrics. It has the columns of
        :func:`sqlrank.compare` up to ``losses`` without ``ci_level``; ``ci_low`` and ``ci_high``
        are at ``confidence``. Then come ``tolerance`` (string), ``verdict`` (``pass``, ``fail``,
        ``inconclusive`` or ``skipped``), ``reason`` and ``required_units``. The latter is the
        number of queries at which the same difference and deviation would be decided (int64), null
        if no number would do. The schema's metadata has the overall verdict, ``sqlrank.verdict``,
        and as JSON the queries and groups that lost most, ``sqlrank.regressions``. The verdict is
        ``fail`` if any row fails, else ``inconclusive`` if any row is or none was decided, else
        ``pass``. With ``across``, the rows are those of :func:`sqlrank.evaluate` with the columns
        ``tolerance``, ``verdict`` and ``reason``.

    Raises:
        MetricError: an invalid metric, system or tolerance.
        InputError: data that cannot be evaluated, or a stored baseline of other definitions,
            policies or queries.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import sqlrank
    >>> baseline = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    >>> candidate = {query: {"a": 1.0, "b": 2.0} for query in baseline}
    >>> result = sqlrank.gate(
    ...     "MRR",
    ...     run={"baseline": baseline, "candidate": candidate},
    ...     qrels={query: {"a": 1} for query in baseline},
    ...     tolerance=0.1,
    ... )
    >>> sqlrank.show(result)
    verdict: fail
    metric  baseline  candidate  difference  verdict
    MRR       1.0000     0.5000     -0.5000  fail
    MRR: worse by more than the tolerance.
    30 queries, absolute tolerance 0.1.
    >>> result.schema.metadata[b"sqlrank.verdict"]
    b'fail'
    """
    arguments = locals()
    check_confidence_level(confidence)
    call = Request.from_arguments(
        arguments, leave_out=("system", "by", "across", "confidence", "interval")
    )
    options = ExecutionOptions.from_arguments(arguments)
    if across:
        call = replace(call, by=by, across=across)
        return gate_differences(call, tolerance, confidence, options)
    is_stored = _is_stored_baseline(baseline, call.sources)
    stored = read_baseline(baseline) if is_stored else None
    groupings = (
        [[], [by]]
        if isinstance(by, str)
        else [[], list(by)]
        if by and isinstance(by[0], str)
        else by
    )
    comparison = ComparisonPlan.from_call(
        call, None if is_stored else system, groupings, GATE_SCHEMA
    )
    check_interval(interval, comparison)
    tolerances = _read_tolerances(tolerance, comparison)
    if stored is not None and comparison.uses_influence:
        raise MetricError(
            f"{comparison.measures[0].name} has no per-query values to compare with a stored"
            " baseline. Give"
            " the scores of both in one table"
        )
    with share_sources(comparison, options) as (shared, open_options):
        tables, system_tables = evaluate_systems(shared, open_options, has_values=not is_stored)
        left_out = _collect_left_out(tables, stored, comparison)
        if stored is not None:
            tables = [
                (group, stack_with_baseline(table, stored, group, comparison.measures))
                for group, table in tables
            ]
        paired_gate = PairedGate(
            comparison,
            tolerances,
            None if is_stored else baseline,
            is_stored,
            confidence,
            interval,
            expected_units,
            min_units,
            left_out,
        )
        result = with_unit_tables(
            tables, comparison, options.limits, paired_gate.decide_verdicts, system_tables
        )
        if connection is None and result.num_rows:
            systems = (result["baseline"][0].as_py(), result["system"][0].as_py())
            result = add_documents(result, shared, open_options, systems)
    return rename_metric_rows(result, comparison.metrics)


def _read_tolerances(tolerance: Any, comparison: ComparisonPlan) -> list[Tolerance]:
    """Return the tolerance of each metric; raise ``MetricError`` for an invalid one, or a metric
    without a better direction.
    """
    measures = comparison.measures
    by_metric = parse_tolerances(
        tolerance, [measure.name for measure in measures], canonical_names(comparison.metrics)
    )
    for measure in measures:
        check_direction(measure)
    return [by_metric.get(measure.name, Tolerance(0.0)) for measure in measures]


def _collect_left_out(
    tables: UnitTables,
    stored: pa.Table | None,
    comparison: ComparisonPlan,
) -> list[LeftOut]:
    """Return the units that policies left out of the values of systems, or filled, those of the
    first grouping first.
    """
    candidate_entries = [
        entry for _, table in tables for entry in read_left_out(table.schema.metadata)
    ]
    if stored is None:
        return candidate_entries
    sides = {
        CANDIDATE_SYSTEM: candidate_entries,
        BASELINE_SYSTEM: read_left_out(stored.schema.metadata, "the baseline"),
    }
    return [
        entry.with_column(comparison.system_column, system)
        for system, entries in sides.items()
        for entry in entries
    ]


def _describe_left_out(
    summary: DifferenceSummary,
    cell: Mapping[str, Any],
    comparison: ComparisonPlan,
    pair: tuple[str, str],
    left_out: Sequence[LeftOut],
) -> list[str]:
    """Return a sentence for each system and policy that left out units of a metric and group, or
    filled them, and for notes on all systems.
    """
    metric = comparison.metrics[summary.metric]
    names, group = (
        {str(metric.metric), *metric.column_names},
        dict(zip(cell, group_texts(cell, list(cell)), strict=True)),
    )
    systems_by_note: dict[str, dict[str, None]] = {}
    for entry in left_out:
        if entry.count and not entry.groups and not names.isdisjoint(entry.metrics):
            systems_by_note[str(entry)] = {}
        for system in pair if not names.isdisjoint(entry.metrics) else ():
            if note := entry.in_group({**group, comparison.system_column: system}):
                systems_by_note.setdefault(note, {})[system] = (
                    None  # several groupings may say the same
                )
    # Queries without relevant documents are the same for both.
    return [
        f"{' and '.join(systems)}: {note}" if systems else note
        for note, systems in systems_by_note.items()
        if not ([*systems] == [*pair] and "(undefined: " in note)
    ]


def _is_stored_baseline(baseline: Any, sources: Mapping[str, Any]) -> bool:
    """Return True for a table or a file, False for the name of a system, which may be that of the
    file of one of several runs.
    """
    if baseline is None or not isinstance(baseline, str):
        return baseline is not None
    systems = find_systems(sources)
    has_systems = systems is not None and len(systems.members) > 1
    return not has_systems and (is_unambiguous_file(baseline) or baseline.endswith(PARQUET_SUFFIX))


def _resolve_pair(
    systems: Sequence[str], baseline: str | None, declared_order: Sequence[str]
) -> tuple[str, str]:
    """Return the baseline and the candidate; raise ``MetricError`` unless there are exactly two
    systems.
    """
    if len(systems) != 2:  # noqa: PLR2004  a gate is between two
        advice = (
            ". Give a run of each, run={'old': ..., 'new': ...}, or a stored baseline="
            if len(systems) < 2  # noqa: PLR2004
            else ""
        )
        raise MetricError(
            f"a gate is between two systems, and there are {len(systems)}:"
            f" {', '.join(systems)}{advice}"
        )
    first = (
        baseline
        if baseline is not None
        else next((name for name in (*declared_order, BASELINE_SYSTEM) if name in systems), None)
    )
    if first is None:
        raise MetricError(f"which of {join_words(systems)} is the baseline? Name it with baseline=")
    if first not in systems:
        raise MetricError(suggest_choice(f"no system is called {first!r}", first, systems))
    return first, next(name for name in systems if name != first)


@dataclass(frozen=True)
class PairedGate:
    """A gate between two systems: the comparison, its tolerances by metric, the name of the
    baseline, and the notes of policies.

    With a stored baseline, the systems are ``BASELINE_SYSTEM`` and ``CANDIDATE_SYSTEM``.
    """

    comparison: ComparisonPlan
    tolerances: Sequence[Tolerance]
    baseline: str | None
    is_stored: bool
    confidence: float
    interval: str
    expected_units: int | None
    min_units: int
    left_out: Sequence[LeftOut]

    def decide_verdicts(self, units: PairedUnits) -> pa.Table:
        """Return a row per group and metric with its verdict."""
        comparison = self.comparison
        pair = (
            (BASELINE_SYSTEM, CANDIDATE_SYSTEM)
            if self.is_stored
            else _resolve_pair(
                comparison.sort_systems(units.list_systems()),
                self.baseline,
                comparison.declared_order,
            )
        )
        summaries = units.summarize_differences([pair])
        check_fully_paired(summaries, units.measures)
        if self.is_stored and summaries:
            check_baseline_overlap(units, summaries, comparison)
        num_tests = count_tests(summaries, self.min_units)
        sequence = open_sequence(
            units.database, self.interval, self.confidence, self.expected_units
        )
        if sequence is not None:  # all at once, since each statement takes milliseconds
            levels = (self.confidence, adjusted_confidence(self.confidence, "holm", num_tests))
            sequence.critical_values(
                (level, summary.df) for summary in summaries for level in levels
            )
        verdicts = [
            GatedDifference(
                summary,
                units.measures[summary.metric],
                self.tolerances[summary.metric],
                self.confidence,
                num_tests,
                self.min_units,
                sequence,
            ).decide_verdict()
            for summary in summaries
        ]
        return self._build_table(units, pair, summaries, verdicts, sequence)

    def _build_table(
        self,
        units: PairedUnits,
        pair: tuple[str, str],
        summaries: Sequence[DifferenceSummary],
        verdicts: Sequence[Verdict],
        sequence: ConfidenceSequence | None,
    ) -> pa.Table:
        comparison, confidence = self.comparison, self.confidence
        rows = []
        for summary, verdict in zip(summaries, verdicts, strict=True):
            critical_value = sequence.critical_value(confidence, summary.df) if sequence else None
            row = contrast_row(
                with_t_interval(summary, confidence, critical_value),
                units.measures[summary.metric],
                pair,
            )
            verdict_columns = {
                "tolerance": str(self.tolerances[summary.metric]),
                "verdict": verdict.verdict,
                "reason": ". ".join(
                    [
                        verdict.reason,
                        *_describe_left_out(
                            summary, units.cells[summary.cell], comparison, pair, self.left_out
                        ),
                    ]
                ),
                "required_units": verdict.required_units,
            }
            rows.append(group_values(units.cells[summary.cell], comparison) | row | verdict_columns)
        table = contrast_table(rows, group_schema(comparison, units.tables), GATE_SCHEMA)
        notes = [
            *self.left_out,
            *find_small_samples(summaries, comparison),
            *find_unpaired(summaries, units.measures),
        ]
        metadata = build_verdict_metadata(verdicts, confidence)
        metadata |= {UNIT_KEY: find_unit_column(units.tables, comparison)}
        if sequence is not None:
            notes += find_few_units(SEQUENTIAL, summaries, comparison)
            metadata |= {"sqlrank.interval": SEQUENTIAL}
        metadata |= left_out_metadata(notes) | find_regressions(units, comparison, summaries)
        # Tables with a stored baseline have no metadata of metrics.
        measures = metrics_metadata({}, comparison.metrics, comparison.library).measures
        return table.replace_schema_metadata(metadata | {MEASURES_KEY: json.dumps(measures)})


@entry_point
def assert_not_worse(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    names: ColumnNames = "requested",
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    unit: str | None = None,
    baseline: Any = None,
    tolerance: float | str | Mapping[str, float | str] = 0.0,
    treat_inconclusive_as: str | None = None,
    min_units: int = 20,
    lower_is_better: str | Sequence[str] = (),
    confidence: float = 0.95,
    interval: str = "fixed",
    expected_units: int | None = None,
    where: str | None = None,
    compat: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[Policies],
) -> pa.Table:
    """Assert that a candidate is non-inferior to the baseline, for tests.

    The arguments are those of :func:`sqlrank.gate`. An inconclusive gate is no pass: nothing says
    that the candidate is not worse.

    Args:
        metrics: as for :func:`sqlrank.gate`.
        run: as for :func:`sqlrank.gate`.
        qrels: as for :func:`sqlrank.gate`.
        predictions: as for :func:`sqlrank.gate`.
        queries: as for :func:`sqlrank.gate`.
        inputs: as for :func:`sqlrank.gate`.
        connection: as for :func:`sqlrank.gate`.
        dialect: as for :func:`sqlrank.gate`.
        columns: as for :func:`sqlrank.gate`.
        names: as for :func:`sqlrank.gate`.
        system: as for :func:`sqlrank.gate`.
        by: as for :func:`sqlrank.gate`.
        across: as for :func:`sqlrank.gate`.
        unit: as for :func:`sqlrank.gate`.
        baseline: as for :func:`sqlrank.gate`.
        tolerance: as for :func:`sqlrank.gate`.
        treat_inconclusive_as: ``"pass"`` warns of an inconclusive gate instead of raising, unless
            all rows are skipped; ``"fail"`` and None raise.
        min_units: as for :func:`sqlrank.gate`.
        lower_is_better: as for :func:`sqlrank.gate`.
        confidence: as for :func:`sqlrank.gate`.
        interval: as for :func:`sqlrank.gate`.
        expected_units: as for :func:`sqlrank.gate`.
        where: as for :func:`sqlrank.gate`.
        compat: as for :func:`sqlrank.gate`.
        check: as for :func:`sqlrank.gate`.
        sql_dir: as for :func:`sqlrank.gate`.
        plan: as for :func:`sqlrank.gate`.
        memory_limit: as for :func:`sqlrank.gate`.
        threads: as for :func:`sqlrank.gate`.
        temp_directory: as for :func:`sqlrank.gate`.
        timeout: as for :func:`sqlrank.gate`.
        progress: as for :func:`sqlrank.gate`.
        **policies: as for :func:`sqlrank.gate`.

    Returns:
        The table of :func:`sqlrank.gate`.

    Raises:
        AssertionError: the verdict is ``fail`` or ``inconclusive``; the message is the table in
            Markdown, the worst rows first.
        MetricError: an invalid metric, system or tolerance.
        InputError: data that cannot be evaluated, or a stored baseline of other definitions,
            policies or queries.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import sqlrank
    >>> run = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    >>> table = sqlrank.assert_not_worse(
    ...     "MRR", run={"baseline": run, "candidate": run}, qrels={query: {"a": 1} for query in run}
    ... )
    >>> sqlrank.show(table)
    verdict: pass
    metric  baseline  candidate  difference  verdict
    MRR       1.0000     1.0000      0.0000  pass
    MRR: no change in 30 queries: at most 9.5% of queries change.
    30 queries, tolerance 0.
    """
    arguments = locals()
    result = gate(
        **{
            name: value
            for name, value in arguments.items()
            if name not in {"treat_inconclusive_as", "policies"}
        },
        **policies,
    )
    verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
    summary = markdown_summary(result, DEFAULT_DIGITS)
    if verdict == INCONCLUSIVE and treat_inconclusive_as == PASS and not is_all_skipped(result):
        warnings.warn(summary, stacklevel=3)
    elif verdict != PASS:
        raise AssertionError(summary)
    return result
