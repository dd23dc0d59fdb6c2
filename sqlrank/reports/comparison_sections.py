"""Build the report sections of system comparisons, over all rows and within groups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.charts.comparison_labels import CORRECTION_LABELS, DIFFERS_LABEL, TEST_LABELS
from sqlrank.errors import InputError
from sqlrank.output.display_columns import group_column_names, select_display_columns
from sqlrank.reports.blocks import Section, build_figure, result_block, truncate_text
from sqlrank.reports.group_section import MAX_GROUPS_DRAWN
from sqlrank.reports.verdict_sentences import label_rows
from sqlrank.result_columns import REPORT_DISPLAY, SLICE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.reports.report_request import ReportRequest


def build_comparison_section(request: ReportRequest, metrics: list[Any], reasons: list[str]) -> tuple[Section, pa.Table | None]:
    """Return the section of compared systems, and the comparison table.

    ``metrics`` are those that can be compared, ``reasons`` why others cannot.
    """
    title = "Systems compared"
    if not metrics:
        return Section("comparison", title, (), reasons), None
    try:
        comparisons = request.compare(metrics, request.baseline, **_build_options(request))
    except InputError as error:
        return Section("comparison", title, (), [*reasons, f"Systems are not compared: {error}"]), None
    blocks = [
        build_figure(lambda: comparisons, "comparison-chart", "Differences with their intervals", "forest"),
        result_block(_for_people(comparisons, request), "comparison-table", "Differences", request.max_rows, is_folded=True),
    ]
    return Section("comparison", title, blocks, [_describe_method(comparisons), *reasons]), comparisons


def comparison_by_group(request: ReportRequest, metrics: list[Any]) -> tuple[Section, pa.Table | None]:
    """Return the section of comparisons within each grouping, and their table.

    One call computes all, so that p-values are corrected for all groups of all groupings.
    """
    ident, title = "comparison-groups", "Systems compared within groups"
    try:
        comparisons = request.compare(metrics, request.baseline, groups=request.groups, **_build_options(request))
    except InputError as error:
        return Section(ident, title, (), [f"Systems are not compared within groups: {error}"]), None
    blocks: list[Any] = []
    for index, group in enumerate(request.groups):
        group_rows = _worst_first(_filter_group(comparisons, group), request)
        group_names = ", ".join(map(truncate_text, group))
        heading = f"Differences by {group_names}, where the baseline is better first"
        blocks.append(result_block(_for_people(group_rows, request), f"comparison-group-{index}", heading, request.max_rows))
        first_metric_rows = group_rows.filter(pc.equal(group_rows["metric"], str(metrics[0])))
        drawn, num_omitted = _first_groups(first_metric_rows)
        more = f" ({num_omitted:,} more groups are not drawn)" if num_omitted else ""
        chart_title = f"Differences of {metrics[0]} by {group_names}{more}"
        blocks.append(build_figure(partial(drawn.slice, 0), f"comparison-group-{index}-chart", chart_title, "forest"))
    return Section(ident, title, blocks, [_describe_method(comparisons)]), comparisons


def _first_groups(comparisons: pa.Table) -> tuple[pa.Table, int]:
    """Return all rows of the first groups, about ``MAX_GROUPS_DRAWN`` rows, and the number of groups left out."""
    names = group_column_names(comparisons)
    keys = [tuple(row[name] for name in names) for row in comparisons.select(names).to_pylist()]
    rank_by_group = {key: rank for rank, key in enumerate(dict.fromkeys(keys))}
    max_groups = max(1, MAX_GROUPS_DRAWN * len(rank_by_group) // max(1, len(keys)))
    is_drawn = pa.array([rank_by_group[key] < max_groups for key in keys], pa.bool_())
    return comparisons.filter(is_drawn), max(0, len(rank_by_group) - max_groups)


def _build_options(request: ReportRequest) -> dict[str, Any]:
    return {} if request.is_ranking else {"unit": request.unit}


def _for_people(comparisons: pa.Table, request: ReportRequest) -> pa.Table:
    """Return the columns to show: without empty ones, and with significant differences of metrics without direction."""
    labels = zip(comparisons["winner"].to_pylist(), label_rows(comparisons, request), strict=True)
    winners = [label if label == DIFFERS_LABEL else winner for winner, label in labels]
    comparisons = comparisons.set_column(comparisons.column_names.index("winner"), "winner", pa.array(winners, pa.string()))
    return select_display_columns(
        comparisons, [name for name in REPORT_DISPLAY if comparisons[name].null_count < comparisons.num_rows or name == "winner"]
    )


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

    def build_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        decided = {row["baseline"]: 0, None: 1}.get(row["winner"], 2)
        sign = -1 if request.find_direction(row["metric"]) == "lower" else 1
        return decided, order.index(row["metric"]), row["difference"] is None, sign * (row["difference"] or 0)

    keys = [build_key(row) for row in comparisons.to_pylist()]
    return comparisons.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__), pa.int64()))


def _describe_method(comparisons: pa.Table) -> str:
    tested = comparisons.num_rows - comparisons["p_value"].null_count
    test, correction, confidence = (
        comparisons.schema.metadata[f"sqlrank.{name}".encode()].decode() for name in ("test", "correction", "confidence")
    )
    return (
        f"A difference is the system's value minus the baseline's, and ci_low and ci_high are the limits of its {100 * float(confidence):g}% confidence interval by "
        f"Student's t. P-values by {TEST_LABELS[test]} are corrected by {CORRECTION_LABELS[correction]} for all {tested:,} comparisons here that have one, and intervals with them. "
        f"A winner has a p_adjusted below {1 - float(confidence):.3g} and an interval without 0."
    )
