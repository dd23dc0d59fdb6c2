"""Build the report of a rollup: verdicts on drift, metrics by group, metrics over days with bands,
and missing days.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from sqlglot import exp

import sqlrank
from sqlrank.call.interval_options import check_confidence_level
from sqlrank.call.request import name_groups, parse_group_by, select_arguments
from sqlrank.errors import InputError, MetricError, count_things
from sqlrank.inference import FAIL, INCONCLUSIVE, PASS
from sqlrank.reports.blocks import (
    MAX_TABLE_ROWS,
    Figure,
    Section,
    TableBlock,
    VerdictList,
    VerdictSentence,
    build_figure,
    format_cell,
    read_groups,
    read_statement,
    result_block,
    select_first_groups,
    truncate_text,
)
from sqlrank.reports.sections import build_interval_cell
from sqlrank.result_columns import BOUNDS, CI_LOW
from sqlrank.result_metadata import read_result_metadata
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

DAY = "day"
DEFAULT_WINDOW_DAYS = 7
"""Number of last days that are compared with those before, if the caller names neither reference
nor window.
"""

MAX_CHANGES_DRAWN = 24
"""Maximum number of changes in the chart of drift."""

MAX_LINES_DRAWN = 8
"""Maximum number of groups whose lines are drawn; more have no colors of their own."""

MAX_CHANGES_NAMED = 5
"""Maximum number of changes that a sentence names."""

VERDICT_STATES = {FAIL: "worse", INCONCLUSIVE: "inconclusive", PASS: "pass"}
"""State of a sentence by the verdict of its rows."""

VERDICT_TEXTS = {
    FAIL: "moved by more than the tolerance",
    INCONCLUSIVE: "may have moved by more than the tolerance",
}


@dataclass(frozen=True)
class RollupReportRequest:
    """A request for the report of a rollup. ``common`` are arguments of all calls, among them the
    rollup, and ``policies`` are those of metrics.
    """

    metrics: Sequence[Any]
    common: Mapping[str, Any]
    policies: Mapping[str, Any]
    by: Sequence[str]
    where: str | None
    window_days: int | None
    reference: str | None
    current: str | None
    tolerance: Any
    confidence: float
    max_rows: int

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> RollupReportRequest:
        """Parse the arguments of a report of a rollup; raise ``MetricError`` or ``InputError`` for
        invalid ones.
        """
        metrics = arguments["metrics"]
        if metrics is None:
            raise MetricError("name the metrics of a rollup, such as AUC")
        check_confidence_level(arguments["confidence"])
        groups = [name_groups(group) for group in parse_group_by(arguments["by"])]
        if len(groups) > 1:
            raise MetricError("a report of a rollup has one grouping: name its columns in one list")
        if arguments["current"] is not None and arguments["reference"] is None:
            raise MetricError("current= is compared with the rows of reference=: give both")
        names = (
            "rollup",
            "connection",
            "dialect",
            "sql_dir",
            "memory_limit",
            "threads",
            "temp_directory",
            "timeout",
        )
        return select_arguments(
            cls,
            arguments,
            metrics=[metrics] if isinstance(metrics, str) else list(metrics),
            common={name: arguments[name] for name in names},
            by=[name for name in (groups[0] if groups else []) if name != DAY],
        )

    @property
    def names(self) -> list[str]:
        """Return the metrics as text, under the requested names."""
        return [str(metric) for metric in self.metrics]

    def evaluate(self, by: Sequence[str], **options: Any) -> tuple[pa.Table, str]:
        """Evaluate the metrics by some columns, with intervals where the rollup has them, else with
        the reason as text.
        """
        return self._with_intervals(
            lambda **interval: sqlrank.evaluate(
                self.metrics,
                by=by,
                where=self.where,
                **self.common,
                **self.policies,
                **options,
                **interval,
            )
        )

    def detect_drift(self, reference: str, current: str | None) -> tuple[pa.Table, str]:
        """Compare the days of two conditions."""
        if self.where is not None:
            reference, current = (
                f"({condition}) AND ({self.where})" for condition in (reference, current or "TRUE")
            )
        options: dict[str, Any] = {
            **self.common,
            **self.policies,
            "by": self.by,
            "tolerance": self.tolerance,
        }
        return self._with_intervals(
            lambda **interval: sqlrank.drift(
                self.metrics, reference=reference, current=current, **options, **interval
            )
        )

    def _with_intervals(self, call: Callable[..., pa.Table]) -> tuple[pa.Table, str]:
        try:
            return call(confidence=self.confidence), ""
        except (InputError, MetricError) as error:  # such as a rollup without buckets
            return call(), str(error)


def rollup_sections(request: RollupReportRequest) -> tuple[list[Section], str, str]:
    """Return the sections of the page, the rows and days of the rollup in words, and the reason why
    there are no intervals, empty if there are.

    Raises ``MetricError`` or ``InputError`` for metrics that the rollup does not have.
    """
    overall, reason = request.evaluate(request.by)
    over_days, days, missing = _days_section(request)
    drifted, moved = _drift_section(request, days)
    verdicts = VerdictList([*_list_verdicts(moved, request), *missing])
    blocks = [
        verdicts,
        _build_summary_table(overall, request),
        build_figure(
            _first_groups(overall, moved, request)[0],
            "summary-chart",
            "Metrics of all days, with their intervals or bounds",
            "dots",
        ),
    ]
    num_rows = pc.sum(overall["num_rows"]).as_py() or 0
    size = count_things(num_rows, "row") + (f" from {days[0]} to {days[-1]}" if days else "")
    return [Section("summary", "Summary", blocks), over_days, drifted], size, reason


def _build_summary_table(overall: pa.Table, request: RollupReportRequest) -> TableBlock:
    """Return the metrics of all days by group, each with its interval or its bounds."""
    columns = read_result_metadata(overall.schema.metadata).columns  # type: ignore[union-attr]
    names = [name for name, kind in columns.items() if kind == "metric"]
    counts = ["num_days", "num_rows"]
    if any(kind == CI_LOW for kind in columns.values()):
        note = f"In parentheses: the {100 * request.confidence:g}% confidence interval."
    else:
        note = "In parentheses: bounds over all orders of rows within score bins."
        note *= any(kind in BOUNDS for kind in columns.values())
        note += " The rollup has no buckets for confidence intervals."
    rows = overall.slice(0, MAX_TABLE_ROWS).to_pylist()
    return TableBlock(
        "summary-table",
        "Metrics of all days",
        list(map(truncate_text, [*request.by, *names, *counts])),
        [
            [
                *(format_cell(name, row[name]) for name in request.by),
                *(build_interval_cell(row, name) for name in names),
                *(format_cell(name, row[name]) for name in counts),
            ]
            for row in rows
        ],
        overall.num_rows - len(rows),
        read_statement(overall),
        note.strip(),
        max_rows=request.max_rows,
    )


def _days_section(request: RollupReportRequest) -> tuple[Section, list[Any], list[VerdictSentence]]:
    """Return the section of metrics over days, the days of the rollup in order, and warnings on
    days without rows.
    """
    window = request.window_days
    title = f"Metrics over windows of {window} days" if window else "Metrics over days"
    options: dict[str, Any] = {} if window is None else {"window_days": window}
    by = [*([] if window else [DAY]), *request.by]
    try:
        result, _ = request.evaluate(by, **options)
    except (InputError, MetricError) as error:
        return Section("days", title, (), [f"Metrics over days are not shown: {error}"]), [], []
    days = sorted(set(result[DAY].to_pylist()) - {None})
    drawn, num_omitted = _first_groups(result, None, request)
    more = f" ({num_omitted:,} more groups are not drawn)" if num_omitted else ""
    blocks = [
        build_figure(drawn, "days-chart", f"{title}{more}", "line"),
        result_block(
            result,
            "days-table",
            title.replace("Metrics", "Values"),
            request.max_rows,
            is_folded=True,
        ),
    ]
    return Section("days", title, blocks), days, _missing_days(days)


def _missing_days(days: Sequence[Any]) -> list[VerdictSentence]:
    """Return a warning on days without rows between the first and the last, if days are dates or
    integers.
    """
    if len(days) < 2 or not hasattr(days[0], "__sub__"):  # noqa: PLR2004  one day has none between
        return []
    span = days[-1] - days[0]
    num_missing = getattr(span, "days", span) + 1 - len(days)
    if num_missing <= 0:
        return []
    plural = "day has" if num_missing == 1 else "days have"
    return [
        VerdictSentence(
            "warning", f"{num_missing:,} {plural} no rows between {days[0]} and {days[-1]}."
        )
    ]


def _first_groups(
    result: pa.Table, moved: pa.Table | None, request: RollupReportRequest
) -> tuple[pa.Table, int]:
    """Return the rows of the groups to draw, and the number of groups left out: those that moved
    most come first, then the largest.
    """
    sizes: Counter[tuple[Any, ...]] = Counter()
    for key, size in zip(
        read_groups(result, request.by), result["num_rows"].to_pylist(), strict=True
    ):
        sizes[key] += size
    by_drift = [] if moved is None else read_groups(moved, request.by)
    order = [*by_drift, *(key for key, _ in sizes.most_common())]
    return select_first_groups(result, request.by, MAX_LINES_DRAWN, order)


def _drift_section(
    request: RollupReportRequest, days: Sequence[Any]
) -> tuple[Section, pa.Table | None]:
    """Return the section of drift between two periods, and its rows."""
    title = "Drift"
    reference, current = request.reference, request.current
    if reference is None:
        window = request.window_days or DEFAULT_WINDOW_DAYS
        if len(days) <= window:
            text = (
                f"Drift needs more than {window} days, or a reference: name one with reference= or"
                " --reference."
            )
            return Section("drift", title, (), [text]), None
        reference, current = _split_days(days[-window])
    try:
        result, _ = request.detect_drift(reference, current)
    except (InputError, MetricError) as error:
        if request.reference is not None or request.tolerance is not None:
            raise
        return Section("drift", title, (), [f"Drift is not shown: {error}"]), None
    text = (
        f"Reference: {truncate_text(reference)}. Current:"
        f" {'all rows' if current is None else truncate_text(current)}. The difference is the"
        " current value minus that of the reference. PSI is the population stability index of the"
        " scores."
    )
    order = "the worst first" if "verdict" in result.column_names else "the largest first"
    return (
        Section(
            "drift",
            title,
            [
                result_block(result, "drift-table", f"Changes, {order}", request.max_rows),
                _draw_drift(result),
            ],
            [text],
        ),
        result,
    )


def _draw_drift(result: pa.Table) -> Figure:
    """Return the figure of the first rows of drift."""
    first = "" if result.num_rows <= MAX_CHANGES_DRAWN else f", the first {MAX_CHANGES_DRAWN}"
    tolerated = " and tolerances" if "tolerance" in result.column_names else ""
    return build_figure(
        result.slice(0, MAX_CHANGES_DRAWN), "drift-chart", f"Changes{tolerated}{first}", "drift"
    )


def _split_days(first: Any) -> tuple[str, str]:
    """Return the conditions of the days before a day, and of the days from it.

    >>> _split_days("2026-03-22")
    ("day < '2026-03-22'", "day >= '2026-03-22'")
    """
    literal = exp.Literal.number(first) if isinstance(first, int) else sql_literal(str(first))
    return (
        exp.LT(this=exp.column(DAY), expression=literal).sql(),
        exp.GTE(this=exp.column(DAY), expression=literal).sql(),
    )


def _list_verdicts(moved: pa.Table | None, request: RollupReportRequest) -> list[VerdictSentence]:
    """Return the sentences on drift: by verdict, if there are tolerances, and otherwise on the
    largest change.
    """
    if moved is None or not moved.num_rows:
        return [
            VerdictSentence("even", "No change is judged, because two periods are not compared.")
        ]
    rows = moved.to_pylist()
    if "verdict" not in moved.column_names:
        changes = [row for row in rows if row["difference"] is not None]
        note = VerdictSentence("even", "Without a tolerance, no change is judged.", is_minor=True)
        return (
            [
                VerdictSentence("even", f"Largest change: {_format_change(changes[0], request)}."),
                note,
            ]
            if changes
            else []
        )
    sentences = []
    num_judged = sum(row["verdict"] is not None for row in rows)
    for verdict, text in VERDICT_TEXTS.items():
        matching_rows = [row for row in rows if row["verdict"] == verdict]
        if matching_rows:
            named = ", ".join(
                _format_change(row, request) for row in matching_rows[:MAX_CHANGES_NAMED]
            )
            more = (
                f", and {len(matching_rows) - MAX_CHANGES_NAMED:,} more"
                if len(matching_rows) > MAX_CHANGES_NAMED
                else ""
            )
            sentences.append(
                VerdictSentence(
                    VERDICT_STATES[verdict],
                    f"{len(matching_rows):,} of {num_judged:,} values {text}: {named}{more}.",
                )
            )
    num_passed = pc.sum(pc.equal(moved["verdict"], PASS)).as_py() or 0
    if num_passed:
        sentences.append(
            VerdictSentence(
                VERDICT_STATES[PASS],
                f"{num_passed:,} of {num_judged:,} values are within the tolerance.",
                bool(sentences),
            )
        )
    return sentences


def _format_change(row: Mapping[str, Any], request: RollupReportRequest) -> str:
    """Return the text of a row of drift."""
    group = ", ".join(f"{truncate_text(name)}={truncate_text(row[name])}" for name in request.by)
    before, after, difference = (
        format_cell(name, row[name]).text
        for name in ("value_reference", "value_current", "difference")
    )
    values = "" if row["value_reference"] is None else f" from {before} to {after}"
    return f"{row['metric']}{f' of {group}' if group else ''}{values} ({difference})"
