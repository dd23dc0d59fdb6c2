"""Compare systems by unit: rows of paired differences with confidence intervals, tests and
metadata, the rows of gates, and whether a candidate is non-inferior by a tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.arrow_arrays import table_from_rows
from sqlrank.comparison.comparison_plan import ComparisonPlan
from sqlrank.comparison.paired_differences import (
    check_fully_paired,
    evaluate_systems,
    find_unit_column,
    share_sources,
    with_unit_tables,
)
from sqlrank.comparison.paired_tests import (
    TestOptions,
    check_interval,
    describe_few_changes,
    find_few_units,
    run_tests,
    standard_error,
)
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.errors import InputError, MetricError, count_things, to_plural
from sqlrank.inference import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    SKIPPED,
    Tolerance,
    Verdict,
    adjusted_confidence,
    choose_winner,
    describe_overlap,
    describe_undefined,
    greatest_unseen_share,
    judge_limits,
    list_pairs,
    relative_difference,
    required_units_for_half_width,
    required_units_for_share,
    required_units_to_show,
    t_critical_value,
    wilson_interval,
)
from sqlrank.registry.metric_info import load_small_samples
from sqlrank.result_columns import (
    COMPARISON_SCHEMA,
    SYSTEM_LABELS,
    contrast_schema,
    slice_columns,
    slice_value,
)
from sqlrank.result_metadata import (
    UNIT_KEY,
    LeftOut,
    comparison_metadata,
    left_out_metadata,
    read_left_out,
    rename_metric_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call.request import Request
    from sqlrank.comparison.comparison_plan import ComparedMetric
    from sqlrank.comparison.paired_differences import DifferenceSummary, PairedUnits, UnitTables
    from sqlrank.comparison.paired_tests import ConfidenceSequence, TestResult
    from sqlrank.engines.open_database import ExecutionOptions


def group_schema(comparison: ComparisonPlan, tables: UnitTables) -> list[pa.Field]:
    """Return the schema fields of group columns, with ``slice`` if there are several groupings."""
    fields = {
        name: pa.field(name, table.schema.field(name).type)
        for group, table in tables
        for name in group
    }
    return [
        *fields.values(),
        *(pa.field(name, pa.string()) for name in slice_columns(comparison.groupings)),
    ]


def group_values(cell: Mapping[str, Any], comparison: ComparisonPlan) -> dict[str, Any]:
    """Return the group columns of a cell."""
    names = dict.fromkeys(name for group in comparison.groupings for name in group)
    return {name: cell.get(name) for name in names} | slice_value(cell, comparison.groupings)


def undefined_reason(
    summary: DifferenceSummary,
    measure: ComparedMetric,
    names: tuple[str, str] = ("baseline", "system"),
) -> str | None:
    """Return the reason why no units of both systems can be compared, None if some can.

    ``names`` are the names of both systems in the message.
    """
    if measure.no_interval is not None:
        return f"no interval: {measure.no_interval}"
    if summary.units:
        return None
    baseline, system = (f"the {name}" for name in names)
    values = {
        baseline: summary.baseline_units or summary.value_baseline,
        system: summary.system_units or summary.value,
    }
    return describe_undefined(values) or (
        "no interval" if measure.uses_influence else "no query has a value in both"
    )


def _missing_interval(result: TestResult, measure: ComparedMetric) -> str | None:
    """Return the reason why a comparison has no interval, None if it has one."""
    if (reason := undefined_reason(result.summary, measure)) is not None or result.low is not None:
        return reason
    if result.se is None:
        return f"no interval: fewer than two {to_plural(measure.unit)}"
    if result.summary.n_positive or result.summary.n_negative:
        return f"no interval: the same change in every {measure.unit}"
    bound = (
        ": with 95% confidence at most"
        f" {100 * greatest_unseen_share(result.summary.units, 0.95):.2g}% of all such"
        f" {to_plural(measure.unit)} differ"
    )
    return f"equal in every {measure.unit}" + ("" if measure.uses_influence else bound)


def find_small_samples(
    summaries: Sequence[DifferenceSummary], comparison: ComparisonPlan
) -> list[LeftOut]:
    """Return notes on tests of differences of metrics over all rows that are of too few units."""
    if comparison.call.unit is None or not comparison.uses_influence:
        return []
    names = [metric.file.display_name for metric in comparison.metrics]
    notes = []
    for row in load_small_samples("comparisons"):
        small = {
            summary.metric
            for summary in summaries
            if summary.se is not None and row.has_size([summary.units])
        }
        metrics = tuple(
            comparison.measures[index].name
            for index in sorted(small)
            if names[index] in row.metrics
        )
        notes += [LeftOut(row.describe(metrics), metrics)] if metrics else []
    return notes


def find_unpaired(
    summaries: Sequence[DifferenceSummary], measures: Sequence[ComparedMetric]
) -> list[LeftOut]:
    """Return a note on the units that have a value for one system of a pair, if there are any."""
    lone = [summary for summary in summaries if summary.unpaired]
    if not lone:
        return []
    most = max(lone, key=lambda summary: (summary.unpaired, summary.units))
    indices = sorted({summary.metric for summary in lone})
    metrics = tuple(measures[index].name for index in indices)
    all_units = count_things(most.unpaired + most.units, measures[most.metric].unit)
    note = (
        f"{most.unpaired:,} of {all_units} have a value for one of two systems only. Comparisons"
        " leave them out"
    )
    return [LeftOut(note, metrics)]


def contrast_row(
    result: TestResult, measure: ComparedMetric, pair: tuple[str, str]
) -> dict[str, Any]:
    """Return the columns shared by comparisons and gates, without the group."""
    summary = result.summary
    above, below = (
        (summary.n_negative, summary.n_positive)
        if measure.direction == "lower"
        else (summary.n_positive, summary.n_negative)
    )
    return {
        "metric": measure.name,
        "baseline": pair[0],
        "system": pair[1],
        "value_baseline": summary.value_baseline,
        "value": summary.value,
        "difference": summary.difference,
        "ci_low": result.low,
        "ci_high": result.high,
        "relative_difference": relative_difference(summary.difference, summary.value_baseline),
        "se": result.se,
        "n_units": summary.units,
        "unpaired": summary.unpaired,
        "wins": None if measure.uses_influence else above,
        "ties": None if measure.uses_influence else summary.n_zero,
        "losses": None if measure.uses_influence else below,
    }


def test_columns(
    result: TestResult, measure: ComparedMetric, pair: tuple[str, str], tests: TestOptions
) -> dict[str, Any]:
    """Return the columns of a test."""
    return {
        "ci_level": result.level,
        "cohens_d": None if measure.uses_influence else result.effect_size,
        "statistic": result.statistic,
        "p_value": result.p,
        "p_adjusted": result.p_adjusted,
        "winner": choose_winner(
            pair, result.summary.difference, measure.direction, result.is_decided
        ),
        "mde": result.detectable,
        "required_units": result.needed,
        "test": tests.name,
        "correction": tests.correction,
        "reason": (
            _missing_interval(result, measure)
            or describe_few_changes(result.summary, result.level, measure.unit)
        ),
    }


def contrast_table(
    rows: list[dict[str, Any]], group_fields: Sequence[pa.Field], columns: Mapping[str, Any]
) -> pa.Table:
    """Return rows as a table with group columns and ``columns``, which have Arrow types.

    Raises:
        InputError: Arrow does not make a group column of its values, such as those of a union.
    """
    try:
        return table_from_rows(rows, pa.schema([*group_fields, *columns.items()]))
    except pa.ArrowException:
        groups = ", ".join(f"{field.name} ({field.type})" for field in group_fields)
        raise InputError(
            f"by: {groups} has values that are no groups of a comparison. Group by a text of them,"
            " such as CAST(x AS VARCHAR)"
        ) from None


def comparison_table(
    results: Sequence[TestResult],
    units: PairedUnits,
    comparison: ComparisonPlan,
    pairs: Sequence[tuple[str, str]],
    tests: TestOptions,
) -> pa.Table:
    """Return a row per group, metric and pair."""
    rows = []
    for result in results:
        measure, pair = units.measures[result.summary.metric], pairs[result.summary.pair]
        rows.append(
            group_values(units.cells[result.summary.cell], comparison)
            | contrast_row(result, measure, pair)
            | test_columns(result, measure, pair, tests)
        )
    return contrast_table(rows, group_schema(comparison, units.tables), COMPARISON_SCHEMA)


def unit_difference_table(
    units: PairedUnits,
    comparison: ComparisonPlan,
    pairs: Sequence[tuple[str, str]],
) -> pa.Table:
    """Return the paired differences: a row per group, metric, pair and unit, largest loss first."""
    columns = [
        exp.column(name)
        for name in ("cell", "metric", "pair", "unit", "baseline_value", "system_value")
    ]
    query = exp.select(
        *columns,
        exp.alias_(exp.column("system_value") - exp.column("baseline_value"), "difference"),
    )
    loss = exp.Case(
        ifs=[
            exp.If(
                this=exp.column("metric").eq(index),
                true=exp.Neg(this=exp.column("difference")),
            )
            for index, measure in enumerate(units.measures)
            if measure.direction == "lower"
        ],
        default=exp.column("difference"),
    )
    order: Any = loss if loss.args["ifs"] else exp.column("difference")
    table = units.fetch_arrow(
        query.from_("unit_differences").order_by("cell", "metric", "pair", order, "unit")
    )
    rows = [
        group_values(units.cells[row["cell"]], comparison)
        | {
            "metric": units.measures[row["metric"]].name,
            "baseline": pairs[row["pair"]][0],
            "system": pairs[row["pair"]][1],
            QUERY_ID: row["unit"],
            "value_baseline": row["baseline_value"],
            "value": row["system_value"],
            "difference": row["difference"],
        }
        for row in table.to_pylist()
    ]
    schema = {**dict.fromkeys(SYSTEM_LABELS, "string"), QUERY_ID: table.schema.field("unit").type}
    schema |= contrast_schema("baseline", labels=(), quantities=("value", "difference"))
    return contrast_table(rows, group_schema(comparison, units.tables), schema)


def _check_influence(comparison: ComparisonPlan, tests: TestOptions, per_query: bool) -> None:
    """Raise ``MetricError`` for metrics over all rows, which have t-tests alone and no values of
    queries.
    """
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
    comparison = ComparisonPlan.from_call(call, system, by, COMPARISON_SCHEMA)
    _check_influence(comparison, tests, per_query)
    check_interval(tests.interval, comparison)
    with share_sources(comparison, options) as (shared, open_options):
        tables, values_of_systems = evaluate_systems(shared, open_options, has_values=not per_query)
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
        check_fully_paired(summaries, units.measures)
        small_samples[:] = [
            *find_small_samples(summaries, comparison),
            *find_few_units(tests.interval, summaries, comparison),
            *([] if per_query else find_unpaired(summaries, units.measures)),
        ]
        if per_query:
            return unit_difference_table(units, comparison, pairs)
        return comparison_table(run_tests(summaries, tests, units), units, comparison, pairs, tests)

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
        UNIT_KEY: find_unit_column(tables, comparison),
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


GATE_SYSTEMS = ("baseline", "candidate")
"""Names of the two systems of a gate in reasons."""

MIN_INTERVAL_UNITS = 2
"""Minimum number of units for an interval."""

MAX_UNPAIRED_SHARE = 0.01
"""Maximum share of units that only one of baseline and candidate may have, for a pass or a stored
baseline.
"""

MIN_CLASS_ROWS = 10
"""Number of positives and of negatives below which a reason names it."""

MAX_MISSED = 0.04
"""Share of samples that show no loss though the tolerance is lost above which a pass names it."""

MIN_DECISIVE_UNITS = 20
"""Minimum number of units to decide if all have the same nonzero difference; under a sequence it is
that of expected units.
"""


def check_direction(measure: ComparedMetric) -> None:
    """Raise ``MetricError`` for a metric without a better direction."""
    if measure.direction == "neither":
        raise MetricError(
            f"{measure.name} is neither better higher nor lower, so that no gate can be put to it."
            " Compare it instead"
        )


@dataclass(frozen=True)
class GatedDifference:
    """The difference of a candidate from its baseline, with the tolerance and settings of a gate.

    Attributes:
        summary: The paired differences.
        measure: The metric.
        tolerance: The greatest loss to pass; a relative one is taken of the baseline's measured
            value, as if that were exact.
        level: The confidence level.
        num_tests: The number of rows that can fail.
        min_units: The number of units below which nothing is decided.
        sequence: The confidence sequence of intervals that are valid at every look.
    """

    summary: DifferenceSummary
    measure: ComparedMetric
    tolerance: Tolerance
    level: float
    num_tests: int
    min_units: int
    sequence: ConfidenceSequence | None = None

    def decide_verdict(self) -> Verdict:
        """Return the verdict on the candidate, which fails if it is worse than the baseline by more
        than the tolerance.

        It fails if an interval corrected for ``num_tests`` rows lies below minus the tolerance, so
        that few fail by chance. It passes if the interval at ``level`` lies above minus the
        tolerance. A candidate without values for some units is not compared on them, so it neither
        passes nor is skipped if they are many.
        """
        verdict, unpaired = self._decide_on_pairs(), self.summary.unpaired
        all_units = self.summary.units + unpaired
        # Few units are skipped only if both sides have few, not if one lost them.
        if (
            verdict.verdict in (PASS, SKIPPED)
            and all_units >= self._min_required_units
            and unpaired > MAX_UNPAIRED_SHARE * all_units
        ):
            return Verdict(
                INCONCLUSIVE,
                f"{unpaired:,} of {self._count_units(all_units)} have a value for one system only",
            )
        return verdict

    @property
    def _min_required_units(self) -> int:
        return max(MIN_INTERVAL_UNITS, self.min_units)

    def _count_units(self, number: int) -> str:
        return count_things(number, self.measure.unit)

    def _count_few(self, number: int) -> str:
        return f"{self._count_units(number)}, fewer than {self._min_required_units}"

    @property
    def _margin(self) -> float:
        """The tolerance as a loss."""
        return self.tolerance.compute_margin(self.summary.value_baseline)

    @property
    def _unseen_loss(self) -> float:
        """The loss by rows of a class, or by sets of classes where few change, that may change
        though none of the sample does; 0 where the standard error accounts for them.
        """
        return self._kind_loss * greatest_unseen_share(self.summary.units, (1 + self.level) / 2)

    @property
    def _kind_loss(self) -> float:
        """The loss if all units were of a kind that the sample may not show."""
        if self.measure.averages_sets and describe_few_changes(self.summary, self.level):
            return 1.0  # the dearest set loses all that it is worth
        return (self.summary.row_effect or 0.0) * self.summary.units

    @property
    def _worse_units(self) -> int:
        summary = self.summary
        worse = summary.n_positive if self.measure.direction == "lower" else summary.n_negative
        return worse or 0

    @property
    def _greatest_worse_share(self) -> float:
        units = self.summary.units
        return wilson_interval(self._worse_share, units, self.level)[1]

    @property
    def _worse_share(self) -> float:
        return self._worse_units / self.summary.units

    @property
    def _loss_of_worse(self) -> float:
        """The loss of the units that are worse, as a mean over all units."""
        loss = self.summary.decrease or 0.0
        if self.measure.direction == "lower":
            loss += self.summary.difference or 0.0  # the mean increase
        return loss

    def _find_possible_loss(self, gain: float) -> float:
        """Return the loss if as many units are worse as Wilson's interval allows, and lose as those
        seen do, where the gain of all is this; 0 without such units, or for a metric of all rows.

        Student's t takes the deviation from the sample. If few units lose all that they have, it is
        too small: 16 % of samples of 64 units would pass a loss of a tolerance of 0.05, and 4 % do.
        """
        if not self._worse_units or self.measure.uses_influence:
            return 0.0
        return self._loss_of_worse * (self._greatest_worse_share / self._worse_share - 1) - gain

    def _decide_on_pairs(self) -> Verdict:
        """Return the verdict on the units that have a value for both systems."""
        summary, sequence = self.summary, self.sequence
        if (reason := undefined_reason(summary, self.measure, GATE_SYSTEMS)) is not None:
            if summary.cell_units < self._min_required_units:
                return Verdict(SKIPPED, f"{reason}, in {self._count_few(summary.cell_units)}")
            return Verdict(INCONCLUSIVE, reason)
        if summary.units < self._min_required_units:
            return Verdict(SKIPPED, self._count_few(summary.units))
        se = standard_error(summary)
        if not summary.n_positive and not summary.n_negative and not se:
            return self._decide_without_change()
        if se is None or summary.difference is None:
            return Verdict(INCONCLUSIVE, "no interval")
        min_units = sequence.expected_units if sequence else MIN_DECISIVE_UNITS
        if se == 0 and summary.units < min_units:
            all_units = self._count_units(summary.units)
            return Verdict(INCONCLUSIVE, f"the same change in all of {all_units}", min_units)
        return self._judge_interval(summary.difference, se)

    def _decide_without_change(self) -> Verdict:
        """Return the verdict if no unit changes: a pass, but under a sequence only from the
        expected units on, since first looks miss rare losses.
        """
        summary, sequence = self.summary, self.sequence
        size = summary.class_size
        class_share = (
            ""
            if size is None
            else f", {_greatest_share(size, self.level)} of those of the smaller class"
        )
        reason = (
            f"no change in {self._count_units(summary.units)}: at most"
            f" {_greatest_share(summary.units, self.level)} of {to_plural(self.measure.unit)}"
            f" change{class_share}"
        )
        if sequence is not None and summary.units < sequence.expected_units:
            return Verdict(INCONCLUSIVE, reason, sequence.expected_units)
        if self._unseen_loss > self._margin:
            return self._wait_for_kinds(reason, 0.0)
        return Verdict(PASS, reason + self._describe_missed_loss(0))

    def _judge_interval(self, difference: float, se: float) -> Verdict:
        summary, level, margin = self.summary, self.level, self._margin
        critical_value = self.sequence.critical_value if self.sequence else t_critical_value
        find_units = (
            self.sequence.required_units if self.sequence else required_units_for_half_width
        )
        gain = -difference if self.measure.direction == "lower" else difference
        corrected_level = adjusted_confidence(level, "holm", self.num_tests)
        # The direction of a caller's column is an option, so that a reader sees if it is missing.
        direction = (
            f", where {self.measure.direction} is better" if self.measure.has_own_column else ""
        )
        reach, wide_reach = (
            se * critical_value(each, summary.df) for each in (level, corrected_level)
        )
        losses, wide_losses = ((-gain - each, each - gain) for each in (reach, wide_reach))
        verdict = judge_limits(losses, margin, wide_losses)
        if verdict == FAIL:
            basis = self._describe_basis(corrected_level)
            return Verdict(FAIL, f"worse by more than the tolerance{direction}{basis}")
        if verdict == PASS and self._unseen_loss - gain > margin:
            return self._wait_for_kinds(f"the interval is within the tolerance{direction}", gain)
        if verdict == PASS and (loss := self._find_possible_loss(gain)) > margin:
            worse = (
                f", but {self._worse_units:,} of {self._count_units(summary.units)} are worse, and"
                f" with {100 * self._greatest_worse_share:.2g}% of all the loss is {loss:.2g}"
            )
            reason = f"the interval is within the tolerance{direction}{worse}"
            share = self._worse_share * (1 + (margin + gain) / self._loss_of_worse)
            return self._wait_for_units(
                reason, required_units_for_share(self._worse_share, share, level)
            )
        if verdict == PASS:
            hidden = self._describe_unseen_losses(gain) + self._describe_basis(level)
            return Verdict(PASS, f"not worse by more than the tolerance{direction}{hidden}")
        # With more units of the same mean and deviation, a gain on this side of the tolerance
        # passes, and one beyond it fails.
        distance, deviation = gain + margin, se * math.sqrt(summary.units)
        needed = find_units(deviation, abs(distance), level if distance > 0 else corrected_level)
        return self._wait_for_units(
            f"{describe_overlap(losses, margin, self.num_tests)}{direction}", needed
        )

    def _wait_for_units(self, reason: str, needed: int | None) -> Verdict:
        """Return an inconclusive verdict with the number of units that would decide it."""
        units = None if needed is None else max(needed, self.summary.units + 1)
        return Verdict(INCONCLUSIVE, reason, units)

    def _wait_for_kinds(self, reason: str, gain: float) -> Verdict:
        """Return an inconclusive verdict on changes that the sample may not show, which more units
        of the same kinds would.
        """
        share = (self._margin + gain) / self._kind_loss
        needed = required_units_to_show(share, (1 + self.level) / 2)
        return self._wait_for_units(f"{reason}{self._describe_unseen_rows()}", needed)

    def _describe_unseen_rows(self) -> str:
        """Return the loss by rows of a class, or by sets of classes, that the sample may not
        show.
        """
        summary = self.summary
        unseen = (
            f"{summary.n_changed} of {self._count_units(summary.units)} change, and others that the"
            " sample misses may"
            if self.measure.averages_sets
            else "changes in so few rows of a class that a sample may miss them"
        )
        return f", but {unseen} cost up to {self._unseen_loss:.2g}"

    def _describe_missed_loss(self, gain: float) -> str:
        """Return the share of samples with this gain that show no loss though a loss of the
        tolerance is hidden, all that few units have; empty if they are few, or units no shares.
        """
        if not (self.measure.is_proportion and self._margin) or self.measure.uses_influence:
            return ""
        missed = max(0.0, 1 - self._margin - gain) ** self.summary.units
        if missed <= MAX_MISSED:
            return ""
        share = f"{100 * missed:.2g}% of such samples miss"
        return f". A loss of the tolerance may be in {to_plural(self.measure.unit)} that {share}"

    def _describe_unseen_losses(self, gain: float) -> str:
        """Return the share of units that may lose though none that was seen does, empty if one
        does, or if each moves the metric, as each row does a ratio.
        """
        summary = self.summary
        if self._worse_units or (self.measure.uses_influence and not summary.n_zero):
            return ""
        share = _greatest_share(summary.units, self.level)
        missed = self._describe_missed_loss(gain)
        return f". No {self.measure.unit} is worse, so at most {share} of all are{missed}"

    def _describe_basis(self, level: float) -> str:
        """Return the few changes, or rows of a class, that a verdict rests on, empty if they are
        enough.
        """
        size = self.summary.class_size
        few = describe_few_changes(self.summary, level, self.measure.unit)
        small_class = (
            ""
            if size is None or size >= MIN_CLASS_ROWS
            else f", by {size:.3g} rows of the smaller class"
        )
        return small_class + (f". {few}" if few else "")


def _greatest_share(units: float, level: float) -> str:
    """Return the share of a kind of which so many units have none with the probability 1 -
    ``level``, in percent.

    >>> _greatest_share(20, 0.95)
    '14%'
    """
    return f"{100 * greatest_unseen_share(units, level):.2g}%"


def count_tests(compared: Sequence[DifferenceSummary], min_units: int) -> int:
    """Return the number of rows that can fail: those with an interval and enough units.

    It is at least 1.
    """
    return max(
        1,
        sum(
            summary.units >= max(MIN_INTERVAL_UNITS, min_units)
            and standard_error(summary) is not None
            for summary in compared
        ),
    )
