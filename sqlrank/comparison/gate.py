"""Test that a candidate is non-inferior, or that groups differ within a tolerance (public
``gate``), and check a stored baseline of query values.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import ColumnNames, Request
from sqlrank.call.sources import SourceGroup, system_source
from sqlrank.comparison.comparison_plan import ComparedMetric, ComparisonPlan
from sqlrank.comparison.comparison_table import (
    contrast_row,
    contrast_table,
    find_small_samples,
    group_schema,
    group_values,
)
from sqlrank.comparison.confidence_sequence import check_interval, find_few_units, open_sequence
from sqlrank.comparison.group_gate import gate_differences
from sqlrank.comparison.noninferiority import (
    MAX_UNPAIRED_SHARE,
    check_direction,
    count_tests,
    decide_verdict,
)
from sqlrank.comparison.paired_tests import with_t_interval
from sqlrank.comparison.regressions import add_documents, find_regressions
from sqlrank.comparison.unit_values import check_fully_paired, evaluate_systems, with_unit_tables
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.file_sources import is_unambiguous_file
from sqlrank.engines.open_database import ExecutionOptions
from sqlrank.errors import InputError, MetricError, join_words, suggest_choice
from sqlrank.inference.corrected_tests import adjusted_confidence
from sqlrank.inference.tolerance import Tolerance, Verdict, build_verdict_metadata, parse_tolerances
from sqlrank.interval_options import SEQUENTIAL, check_confidence_level
from sqlrank.result_columns import GATE_SCHEMA
from sqlrank.result_metadata import (
    MEASURES_KEY,
    LeftOut,
    canonical_names,
    group_texts,
    is_text,
    left_out_metadata,
    make_mapping_check,
    metrics_metadata,
    read_canonical_names,
    read_json,
    read_left_out,
    read_parquet,
    read_texts,
    rename_metric_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlrank.comparison.confidence_sequence import ConfidenceSequence
    from sqlrank.comparison.paired_differences import DifferenceSummary, PairedUnits
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.metric import Metric


BASELINE_SYSTEM, CANDIDATE_SYSTEM = "baseline", "candidate"
DEFINITIONS_KEY = "sqlrank.metrics"
_IS_DEFINITIONS = make_mapping_check(
    lambda value: (
        isinstance(value, dict)
        and make_mapping_check(is_text)(value.get("policies", {}))
        and is_text(value.get("definition", ""))
    )
)


def read_baseline(source: Any, what: str = "baseline") -> pa.Table:
    """Read a stored baseline, or ``what`` is stored as it; raise ``InputError`` for any other table
    or file.
    """
    if isinstance(source, pa.Table):
        table, name = source, f"the {what}"
    else:
        name = repr(str(source))
        if not Path(source).is_file():
            raise InputError(
                f"there is no {what} {name}. Store one: sqlrank evaluate ... --per-query -o"
                f" {Path(source).name}"
            )
        table = read_parquet(
            source, name, "Store a baseline: sqlrank evaluate ... --per-query -o baseline.parquet"
        )
    if len(set(table.column_names)) < table.num_columns:
        raise InputError(
            f"two columns of {name} have the same name: {', '.join(table.column_names)}"
        )
    if (
        DEFINITIONS_KEY.encode() not in (table.schema.metadata or {})
        or QUERY_ID not in table.column_names
    ):
        raise InputError(
            f"{name} has no per-query values. Store them: sqlrank evaluate ... --per-query -o"
            " baseline.parquet"
        )
    return _with_canonical_columns(table)


def read_definitions(
    metadata: Mapping[bytes, bytes] | None, label: str = "the baseline"
) -> Mapping[str, Any]:
    """Parse the definitions of the metrics of a stored result, by canonical name; raise
    ``InputError`` if damaged.
    """
    definitions: Mapping[str, Any] = read_json(metadata, DEFINITIONS_KEY, _IS_DEFINITIONS, label)
    return definitions


def _with_canonical_columns(table: pa.Table) -> pa.Table:
    """Rename the columns of metrics to their canonical names; a metric under two names keeps one
    column.
    """
    canonical = read_canonical_names(table.schema.metadata, "the baseline")
    columns: dict[str, str] = {}
    for name in table.column_names:
        columns.setdefault(canonical.get(name, name), name)
    return (
        table.select(list(columns.values()))
        .rename_columns(list(columns))
        .replace_schema_metadata(table.schema.metadata)
    )


def stack_with_baseline(
    candidate: pa.Table, stored: pa.Table, group: Sequence[str], measures: Sequence[ComparedMetric]
) -> pa.Table:
    """Stack the values of a candidate and a stored baseline as those of two systems.

    Raises ``InputError`` if their columns or definitions differ.
    """
    required_columns = [*group, QUERY_ID, *(measure.name for measure in measures)]
    if missing := [name for name in required_columns if name not in stored.column_names]:
        what = f"by={missing[0]!r}" if missing[0] in group else "these metrics"
        raise InputError(
            f"the baseline has no column {missing[0]!r}. There are:"
            f" {', '.join(stored.column_names)}. Store it again with {what}"
        )
    _check_definitions(candidate, stored, measures)
    candidate_columns = [
        *required_columns,
        *(["weight"] if "weight" in candidate.column_names else []),
    ]
    candidate_rows = candidate.select(candidate_columns).append_column(
        "system", pa.array([CANDIDATE_SYSTEM] * candidate.num_rows, pa.string())
    )
    baseline_rows = stored.select(required_columns)
    if "weight" in candidate_columns:
        baseline_rows = baseline_rows.append_column(
            "weight", pa.nulls(baseline_rows.num_rows, pa.float64())
        )
    baseline_rows = baseline_rows.append_column(
        "system", pa.array([BASELINE_SYSTEM] * baseline_rows.num_rows, pa.string())
    )
    try:
        stacked = pa.concat_tables(
            [
                baseline_rows.cast(candidate_rows.schema.remove_metadata()),
                candidate_rows.replace_schema_metadata(None),
            ]
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"the baseline's columns are of other types than the candidate's: {error}"
        ) from None
    for measure in measures:
        if pc.all(pc.is_finite(stacked[measure.name][: baseline_rows.num_rows])).as_py() is False:
            raise InputError(
                f"{measure.name}: the baseline is damaged: it has values that are NaN or infinite."
                " Store it again"
            )
    if (
        rows := baseline_rows.group_by([*group, QUERY_ID]).aggregate([]).num_rows
    ) < baseline_rows.num_rows:
        raise InputError(
            f"the baseline has {baseline_rows.num_rows:,} rows for {rows:,} queries. Store one"
            " system, grouped by the same columns"
        )
    return stacked.replace_schema_metadata(
        {MEASURES_KEY: read_texts(candidate.schema.metadata)[MEASURES_KEY]}
    )


def _check_definitions(
    candidate: pa.Table, stored: pa.Table, measures: Sequence[ComparedMetric]
) -> None:
    candidate_definitions, baseline_definitions = (
        read_definitions(table.schema.metadata) for table in (candidate, stored)
    )
    for measure in measures:
        candidate_definition, baseline_definition = (
            candidate_definitions[measure.name],
            baseline_definitions.get(measure.name, {}),
        )
        if candidate_definition["policies"] != baseline_definition.get("policies"):
            names = [
                name
                for name in {
                    **candidate_definition["policies"],
                    **baseline_definition.get("policies", {}),
                }
                if candidate_definition["policies"].get(name)
                != baseline_definition.get("policies", {}).get(name)
            ]
            raise InputError(
                f"{measure.name}: the baseline was stored with"
                f" {_format_policies(baseline_definition.get('policies', {}), names)}, and this is"
                f" evaluated with {_format_policies(candidate_definition['policies'], names)}. Use"
                " the same, or store it again"
            )
        if candidate_definition["definition"] != baseline_definition.get("definition"):
            versions = [
                read_texts(table.schema.metadata).get("sqlrank.version", "?")
                for table in (stored, candidate)
            ]
            raise InputError(
                f"{measure.name}: the definition of the baseline, by sqlrank {versions[0]}, is not"
                f" that of sqlrank {versions[1]} here. Store it again"
            )


def _format_policies(policies: dict[str, str], names: Sequence[str]) -> str:
    return ", ".join(
        f"{name}={policies[name]}" if name in policies else f"the default of {name}"
        for name in names
    )


def check_baseline_overlap(units: int, unpaired: int, comparison: ComparisonPlan) -> None:
    """Raise ``InputError`` if more than one in a hundred queries lack a counterpart."""
    if unpaired > MAX_UNPAIRED_SHARE * (units + unpaired):
        what = next(iter(comparison.call.sources))
        raise InputError(
            f"{unpaired:,} of {units + unpaired:,} queries have a value in the baseline or in the"
            f" candidate only. Give the same {what} and judgments, or store the baseline again"
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
    dialect: str | None = None,
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
    **policies: Any,
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

    >>> baseline = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    >>> candidate = {query: {"a": 1.0, "b": 2.0} for query in baseline}
    >>> result = gate(
    ...     "RR",
    ...     run={"baseline": baseline, "candidate": candidate},
    ...     qrels={query: {"a": 1} for query in baseline},
    ...     tolerance=0.1,
    ... )
    >>> result["verdict"].to_pylist(), result.schema.metadata[b"sqlrank.verdict"]
    (['fail'], b'fail')
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
    comparison = ComparisonPlan.from_call(call, None if is_stored else system, groupings)
    check_interval(interval, comparison)
    measures = comparison.measures
    tolerance_by_metric = parse_tolerances(
        tolerance, [measure.name for measure in measures], canonical_names(comparison.metrics)
    )
    tolerances = [tolerance_by_metric.get(measure.name, Tolerance(0.0)) for measure in measures]
    for measure in measures:
        check_direction(measure)
    if stored is not None and comparison.uses_influence:
        raise MetricError(
            f"{measures[0].name} has no per-query values to compare with a stored baseline. Give"
            " the scores of both in one table"
        )
    tables, system_tables = evaluate_systems(comparison, options, has_values=not is_stored)
    left_out = _collect_left_out(tables, stored, comparison)
    if stored is not None:
        tables = [
            (group, stack_with_baseline(table, stored, group, measures)) for group, table in tables
        ]
    stored_pair = (BASELINE_SYSTEM, CANDIDATE_SYSTEM) if is_stored else None

    def decide_verdicts(units: PairedUnits) -> pa.Table:
        pair = stored_pair or _resolve_pair(
            comparison.sort_systems(units.list_systems()), baseline, comparison.declared_order
        )
        summaries = units.summarize_differences([pair])
        check_fully_paired(summaries, comparison)
        if is_stored and summaries:
            check_baseline_overlap(
                max(summary.units for summary in summaries),
                max(summary.unpaired for summary in summaries if summary.cell == summaries[0].cell),
                comparison,
            )
        num_tests, sequence = (
            count_tests(summaries, min_units),
            open_sequence(units.database, interval, confidence, expected_units),
        )
        if sequence is not None:  # all at once, since each statement takes milliseconds
            levels = (confidence, adjusted_confidence(confidence, "holm", num_tests))
            sequence.critical_values(
                (level, summary.df) for summary in summaries for level in levels
            )
        verdicts = [
            decide_verdict(
                summary,
                units.measures[summary.metric],
                tolerances[summary.metric],
                confidence,
                num_tests,
                min_units,
                sequence,
            )
            for summary in summaries
        ]
        return _verdict_table(
            units,
            comparison,
            tables,
            pair,
            summaries,
            tolerances,
            verdicts,
            confidence,
            left_out,
            sequence,
        )

    result = with_unit_tables(tables, comparison, options.limits, decide_verdicts, system_tables)
    systems = (
        (result["baseline"][0].as_py(), result["system"][0].as_py()) if result.num_rows else ()
    )
    return rename_metric_rows(
        add_documents(result, comparison, options, systems), comparison.metrics
    )


def _collect_left_out(
    tables: Sequence[tuple[list[str], pa.Table]],
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
    run = system_source(sources)
    has_systems = isinstance(run, SourceGroup) and run.members_are_systems and len(run.members) > 1
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


def _verdict_table(
    units: PairedUnits,
    comparison: ComparisonPlan,
    tables: Sequence[tuple[list[str], pa.Table]],
    pair: tuple[str, str],
    summaries: Sequence[DifferenceSummary],
    tolerances: Sequence[Tolerance],
    verdicts: Sequence[Verdict],
    confidence: float,
    left_out: Sequence[LeftOut],
    sequence: ConfidenceSequence | None,
) -> pa.Table:
    rows = []
    for summary, verdict in zip(summaries, verdicts, strict=True):
        critical_value = sequence.critical_value(confidence, summary.df) if sequence else None
        row = contrast_row(
            with_t_interval(summary, confidence, critical_value),
            units.measures[summary.metric],
            pair,
        )
        verdict_columns = {
            "tolerance": str(tolerances[summary.metric]),
            "verdict": verdict.verdict,
            "reason": ". ".join(
                [
                    verdict.reason,
                    *_describe_left_out(
                        summary, units.cells[summary.cell], comparison, pair, left_out
                    ),
                ]
            ),
            "required_units": verdict.required_units,
        }
        rows.append(group_values(units.cells[summary.cell], comparison) | row | verdict_columns)
    table = contrast_table(rows, group_schema(comparison, tables), GATE_SCHEMA)
    notes = [*left_out, *find_small_samples(summaries, comparison)]
    metadata = build_verdict_metadata(verdicts, confidence)
    if sequence is not None:
        notes += find_few_units(SEQUENTIAL, summaries, comparison)
        metadata |= {"sqlrank.interval": SEQUENTIAL}
    metadata |= left_out_metadata(notes) | find_regressions(units, comparison, summaries)
    # Tables with a stored baseline have no metadata of metrics.
    measures = metrics_metadata({}, comparison.metrics, comparison.library).measures
    return table.replace_schema_metadata(metadata | {MEASURES_KEY: json.dumps(measures)})
