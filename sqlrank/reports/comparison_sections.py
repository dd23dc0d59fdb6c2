"""Report sections of system comparisons, over all rows and within groups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.charts.comparison_labels import CORRECTION_LABELS, DIFFERS_LABEL, TEST_LABELS, differs_without_direction
from sqlrank.errors import InputError
from sqlrank.output.display_columns import group_column_names, select_display_columns
from sqlrank.reports.blocks import Section, figure, result_block, truncate
from sqlrank.reports.sections import MAX_GROUPS_DRAWN
from sqlrank.result_columns import CONTRAST_TITLES, REPORT_DISPLAY, SLICE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.reports.report_request import ReportRequest

MIN_UNITS_WITHOUT_NOTE = 25
"""Number of units below which a caveat is added."""

MAX_PAIRS_NAMED = 10
"""Maximum number of system pairs listed in a sentence."""


def comparison(request: ReportRequest, metrics: list[Any], reasons: list[str]) -> tuple[Section, pa.Table | None]:
    """Return the section of compared systems, and the comparison table.

    ``metrics`` are those that can be compared, ``reasons`` why others cannot.
    """
    title = "Systems compared"
    if not metrics:
        return Section("comparison", title, (), reasons), None
    try:
        comparisons = request.compare(metrics, request.baseline, **_options(request))
    except InputError as error:
        return Section("comparison", title, (), [*reasons, f"Systems are not compared: {error}"]), None
    blocks = [
        result_block(_for_people(comparisons, request), "comparison-table", "Differences", request.max_rows, titles=CONTRAST_TITLES),
        figure(lambda: comparisons, "comparison-chart", "Differences with their intervals", "forest"),
    ]
    return Section(
        "comparison", title, blocks, [*_verdicts(comparisons, request), _method(comparisons), *_fewness(comparisons, request), *reasons]
    ), comparisons


def comparison_by_group(request: ReportRequest, metrics: list[Any]) -> Section:
    """Return the section of comparisons within each grouping.

    One call computes all, so that p-values are corrected for all groups of all groupings.
    """
    ident, title = "comparison-groups", "Systems compared within groups"
    try:
        comparisons = request.compare(metrics, request.baseline, by=request.groups, **_options(request))
    except InputError as error:
        return Section(ident, title, (), [f"Systems are not compared within groups: {error}"])
    blocks: list[Any] = []
    for index, group in enumerate(request.groups):
        group_rows = _worst_first(_filter_group(comparisons, group), request)
        group_names = ", ".join(map(truncate, group))
        heading = f"Differences by {group_names}, where the baseline is better first"
        blocks.append(
            result_block(_for_people(group_rows, request), f"comparison-group-{index}", heading, request.max_rows, titles=CONTRAST_TITLES)
        )
        first_metric_rows = group_rows.filter(pc.equal(group_rows["metric"], str(metrics[0])))
        chart_title = f"Differences of {metrics[0]} by {group_names}" + (
            f": the first {MAX_GROUPS_DRAWN} rows" if first_metric_rows.num_rows > MAX_GROUPS_DRAWN else ""
        )
        blocks.append(
            figure(partial(first_metric_rows.slice, 0, MAX_GROUPS_DRAWN), f"comparison-group-{index}-chart", chart_title, "forest")
        )
    return Section(ident, title, blocks, [_method(comparisons), _count_losses(comparisons)])


def _options(request: ReportRequest) -> dict[str, Any]:
    return {} if request.is_ranking else {"unit": request.unit}


def _for_people(comparisons: pa.Table, request: ReportRequest) -> pa.Table:
    """Return the columns to show: without empty ones, and with significant differences of metrics without direction."""
    winners = [
        DIFFERS_LABEL if differing else row["winner"]
        for row, differing in zip(comparisons.to_pylist(), _differing(comparisons, request), strict=True)
    ]
    comparisons = comparisons.set_column(comparisons.column_names.index("winner"), "winner", pa.array(winners, pa.string()))
    return select_display_columns(
        comparisons, [name for name in REPORT_DISPLAY if comparisons[name].null_count < comparisons.num_rows or name == "winner"]
    )


def _differing(comparisons: pa.Table, request: ReportRequest) -> list[bool]:
    """Return per row True if the difference is significant and the metric has no direction."""
    confidence = float(comparisons.schema.metadata[b"sqlrank.confidence"])
    return [differs_without_direction(row, request.direction(row["metric"]), confidence) for row in comparisons.to_pylist()]


def _filter_group(comparisons: pa.Table, group: list[str]) -> pa.Table:
    """Return the rows of one grouping, with its columns alone."""
    keys = group_column_names(comparisons)
    if SLICE_COLUMN not in keys:
        return comparisons
    group_rows = comparisons.filter(pc.equal(comparisons[SLICE_COLUMN], ", ".join(group)))
    return group_rows.drop_columns([name for name in keys if name != SLICE_COLUMN and name not in group])


def _worst_first(comparisons: pa.Table, request: ReportRequest) -> pa.Table:
    """Sort rows: better baselines first, then undecided ones; within these by metric, the worst first."""
    order = request.names

    def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        decided = {row["baseline"]: 0, None: 1}.get(row["winner"], 2)
        sign = -1 if request.direction(row["metric"]) == "lower" else 1
        return decided, order.index(row["metric"]), row["difference"] is None, sign * (row["difference"] or 0)

    keys = [key(row) for row in comparisons.to_pylist()]
    return comparisons.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__), pa.int64()))


def _verdicts(comparisons: pa.Table, request: ReportRequest) -> list[str]:
    """Summarize in sentences which systems are better, and by which metrics."""
    decided: dict[tuple[str, str], list[str]] = {}
    rows = comparisons.to_pylist()
    for row in rows:
        if row["winner"] is not None:
            loser = row["baseline"] if row["winner"] == row["system"] else row["system"]
            decided.setdefault((row["winner"], loser), []).append(row["metric"])
    sentences = [
        f"{truncate(winner)} is better than {truncate(loser)} by {', '.join(by)}."
        for (winner, loser), by in list(decided.items())[:MAX_PAIRS_NAMED]
    ]
    sentences += (
        [f"In {len(decided) - MAX_PAIRS_NAMED:,} more pairs, one system is better. The table names them."]
        if len(decided) > MAX_PAIRS_NAMED
        else []
    )
    differing = [row for row, is_differing in zip(rows, _differing(comparisons, request), strict=True) if is_differing]
    if differing:
        by = ", ".join(dict.fromkeys(row["metric"] for row in differing))
        sentences.append(
            f"{len(differing):,} of {len(rows):,} comparisons {'differs' if len(differing) == 1 else 'differ'} significantly in {by}, for which neither higher nor lower is better."
        )
    missing = [row for row in rows if row["n_units"] == 0]
    undecided = sum(row["winner"] is None for row in rows) - len(differing) - len(missing)
    if undecided:
        undecided_text = (
            "No difference is statistically significant."
            if undecided == len(rows)
            else f"{undecided:,} of {len(rows):,} differences are not statistically significant."
        )
        sentences.append(undecided_text)
    if missing:
        reasons = list(dict.fromkeys(f"{row['metric']} ({row['reason']})" for row in missing))
        more = f", and {len(reasons) - MAX_PAIRS_NAMED:,} more" if len(reasons) > MAX_PAIRS_NAMED else ""
        sentences.append(f"{len(missing):,} of {len(rows):,} cannot be compared: {', '.join(reasons[:MAX_PAIRS_NAMED])}{more}.")
    return [" ".join(sentences)]


def _method(comparisons: pa.Table) -> str:
    tested = comparisons.num_rows - comparisons["p_value"].null_count
    test, correction, confidence = (
        comparisons.schema.metadata[f"sqlrank.{name}".encode()].decode() for name in ("test", "correction", "confidence")
    )
    return (
        f"A difference is the system's value minus the baseline's. From and to are the limits of its {100 * float(confidence):g}% confidence interval by "
        f"{TEST_LABELS[test]}. Intervals and p-values are corrected by {CORRECTION_LABELS[correction]} for all {tested:,} comparisons here that have a p-value. A system is better if its corrected p is "
        f"below {1 - float(confidence):.3g}."
    )


def _fewness(comparisons: pa.Table, request: ReportRequest) -> list[str]:
    min_units = min((units for units in comparisons["n_units"].to_pylist() if units), default=MIN_UNITS_WITHOUT_NOTE)
    if min_units >= MIN_UNITS_WITHOUT_NOTE:
        return []
    what = "queries" if request.is_ranking else "units"
    return [
        f"Only {min_units:,} {what} are compared: intervals may exceed the range of the metric, and only large differences are significant."
    ]


def _count_losses(comparisons: pa.Table) -> str:
    num_losses = sum(row["winner"] == row["baseline"] for row in comparisons.to_pylist())
    return (
        f"In {num_losses:,} of {comparisons.num_rows:,} comparisons the baseline is better."
        if num_losses
        else "In no group is the baseline significantly better."
    )
