"""Report sections of metrics, curves, groups and data counts."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.output.reshape import sort_and_limit, to_long_format
from sqlrank.registry.aliases import find_metric
from sqlrank.registry.metric_info import is_count_metric, list_metrics
from sqlrank.reports.blocks import Cell, Section, TableBlock, figure, format_cell, read_statement, result_block, truncate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.reports.report_request import ReportRequest

REPORT_CURVES = {
    "ROC": "true over false positives",
    "PR": "precision over recall",
    "Calibration": "observed over predicted probability",
    "Gain": "positives found among the highest scores",
}
"""Curves of predictions, with their captions."""

MAX_CURVE_POINTS = 200
"""Maximum number of points per curve; more would be narrower than a pixel."""

MAX_GROUPS_DRAWN = 20
"""Approximate number of rows of groups drawn; each group has its own axes."""

RANKING_COUNTS = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_unjudged",
    "num_tied@{}",
    "num_unanswered",
    "num_no_rel",
    "num_dropped",
    "num_duplicates",
)
LIST_COUNTS = ("num_lists", "num_shown")
PREDICTION_COUNTS = ("num_predictions", "num_predictions_dropped", "Observations", "Positives", "Negatives")
"""Count metrics that describe the data of a report."""

MIN_LAST_CUTOFF, MAX_LAST_CUTOFF = 20, 100
"""Minimum and maximum cut-off up to which metrics are drawn."""

INTERVAL_TITLES = {"ci_low": "from", "ci_high": "to", "n_units": "n"}


def summary_section(request: ReportRequest) -> Section:
    """Return the section of every metric of every system with its interval."""
    result = request.with_intervals()
    chart_figure = figure(lambda: result, "summary-chart", "Metrics of each system, with their intervals", "bars")
    text = f"From and to are the limits of the {100 * request.confidence:g}% confidence interval of a value, n is the number of {_units(request)}."
    return Section("summary", "Summary", [_rows(result, request, "summary-table", "Metrics"), chart_figure, _meanings(request)], [text])


def _meanings(request: ReportRequest) -> TableBlock:
    """Return a table that explains the metrics."""
    files = [find_metric(name, request.library)[1] for name in request.names]
    rows = [
        [name, file.description, file.annotations.get("Range", ""), request.direction(name)]
        for name, file in zip(request.names, files, strict=True)
    ]
    cells = [[Cell(truncate(re.sub(r"[`*]", "", text))) for text in row] for row in rows]
    return TableBlock("meanings-table", "Metric definitions", ["metric", "description", "range", "better"], cells)


def _units(request: ReportRequest) -> str:
    return "queries" if request.is_ranking else "predictions or units"


def _rows(result: pa.Table, request: ReportRequest, ident: str, title: str) -> TableBlock:
    """Return a result with intervals as one row per metric."""
    rows = to_long_format(result)
    order = sorted(range(rows.num_rows), key=lambda row: request.names.index(rows["metric"][row].as_py()))
    return result_block(
        rows.take(order).replace_schema_metadata(result.schema.metadata), ident, title, request.max_rows, titles=INTERVAL_TITLES
    )


def curve_section(request: ReportRequest) -> Section:
    """Return the section of curves of predictions, or of ranking metrics over cut-offs."""
    if not request.is_ranking:
        names = {name: f"{name}(points={MAX_CURVE_POINTS})" for name in REPORT_CURVES} | {"Calibration": "Calibration(binning=equal_mass)"}
        figures = [
            figure(partial(request.evaluate, text), f"curve-{name.lower()}", f"{name}: {REPORT_CURVES[name]}")
            for name, text in names.items()
        ]
        return Section("curves", "Curves", figures)
    if not request.cutoffs:
        return Section("curves", "Over cut-offs", (), ["No metric has a cut-off, such as nDCG@10, over which it could be drawn."])
    last = min(MAX_LAST_CUTOFF, max(MIN_LAST_CUTOFF, *request.cutoffs.values()))
    swept = list(dict.fromkeys(replace(metric, cutoff=(1, last)) for metric in request.cutoffs))
    return Section(
        "curves", "Over cut-offs", [figure(partial(request.evaluate, swept), "curve-cutoffs", "Metrics over cut-offs", "cutoffs")]
    )


def group_section(request: ReportRequest) -> Section:
    """Return the section of metrics by group, a table per grouping, worst group first."""
    blocks: list[Any] = []
    for index, group in enumerate(request.groups):
        result = request.with_intervals(group)
        name = request.names[0]
        worst = sort_and_limit(result, request.library, f"-{name}", None)
        by = f"y {', '.join(truncate(column) for column in group)}, the worst {name} first"
        blocks.append(_with_intervals(worst, request, f"group-{index}", f"B{by}"))
        first_groups, num_omitted = _first_groups(result, worst, request)
        chart_title = f"Metrics b{by}" + (f" ({num_omitted:,} more are not drawn)" if num_omitted else "")
        blocks.append(figure(partial(first_groups.slice, 0), f"group-{index}-chart", chart_title))
    return Section("groups", "Groups", blocks)


def _first_groups(result: pa.Table, worst: pa.Table, request: ReportRequest) -> tuple[pa.Table, int]:
    """Return the rows of the first groups in ``worst``, and the number left out.

    Within a group, systems keep the caller's order, which determines their colors.
    """
    names = [name for name in result.column_names[: result.column_names.index(request.names[0])] if name != request.system]
    keys, order = (list(zip(*(rows[name].to_pylist() for name in names), strict=True)) for rows in (result, worst))
    group_ranks = {key: rank for rank, key in enumerate(dict.fromkeys(order))}
    max_groups = max(1, MAX_GROUPS_DRAWN * len(group_ranks) // max(1, len(keys)))
    row_indices = [row for row in sorted(range(len(keys)), key=lambda row: group_ranks[keys[row]]) if group_ranks[keys[row]] < max_groups]
    return result.take(pa.array(row_indices, pa.int64())), max(0, len(group_ranks) - max_groups)


def _with_intervals(result: pa.Table, request: ReportRequest, ident: str, title: str) -> TableBlock:
    """Return a table with a column per metric, whose cells hold value and interval."""
    limits = {f"{name}.{end}" for name in request.names for end in ("ci_low", "ci_high", "se", "n_units")}
    keys = [name for name in result.column_names if name not in {*request.names, *limits}]
    rows = [
        [*(format_cell(key, row[key]) for key in keys), *(_interval(row, name) for name in request.names)]
        for row in result.slice(0, request.max_rows).to_pylist()
    ]
    num_omitted = max(0, result.num_rows - request.max_rows)
    return TableBlock(ident, title, [truncate(name) for name in [*keys, *request.names]], rows, num_omitted, read_statement(result))


def _interval(row: Mapping[str, Any], name: str) -> Cell:
    """Return a cell of a value with its interval, sorted by the value."""
    value, low, high = (format_cell(name, row[column]) for column in (name, f"{name}.ci_low", f"{name}.ci_high"))
    return value if low.number is None or high.number is None else replace(value, text=f"{value.text} [{low.text}, {high.text}]")


def data_account(request: ReportRequest, comparisons: pa.Table | None) -> Section:
    """Return the section of data counts: evaluated rows, missing values and rows left out."""
    k = next(iter(request.cutoffs.values()), 10)
    counts = (
        PREDICTION_COUNTS if not request.is_ranking else RANKING_COUNTS if {"qrels", "predictions"} & set(request.sources) else LIST_COUNTS
    )
    names = [name.format(k) for name in counts]
    result = request.evaluate(names)
    descriptions = {row["name"]: row["description"] for row in list_metrics(request.library, None)}
    systems = [column for column in result.column_names if column not in names]
    rows = result.to_pylist()
    titles = [
        "count",
        *([", ".join(truncate(row[key]) for key in systems) for row in rows[: request.max_rows]] if systems else ["value"]),
        "what it counts",
    ]
    cells = [
        [
            Cell(name),
            *(format_cell(name, row[name], is_count_metric(name, request.library)) for row in rows[: request.max_rows]),
            Cell(descriptions[name.partition("@")[0]]),
        ]
        for name in names
    ]
    blocks: list[Any] = [TableBlock("account-table", "Counts", titles, cells, 0, read_statement(result))]
    texts = []
    if comparisons is not None and (unpaired := max(comparisons["unpaired"].to_pylist(), default=0)):
        texts.append(f"Up to {unpaired:,} units have a value for only one of two systems. Comparisons leave them out.")
    if not request.is_ranking:
        blocks += [_one_class(request, group, index) for index, group in enumerate(request.groups)]
    return Section("account", "Data quality", blocks, texts)


def _one_class(request: ReportRequest, group: list[str], index: int) -> TableBlock:
    """Return the groups without positives or without negatives.

    Metrics of both classes are undefined for them.
    """
    result = request.evaluate(["Positives", "Negatives"], group)
    lacks_class = pa.array([not (row["Positives"] and row["Negatives"]) for row in result.to_pylist()], pa.bool_())
    title = f"Groups by {', '.join(map(truncate, group))} with one class"
    one_class_groups = result.filter(lacks_class)
    note = (
        "Metrics of both classes, such as AUC, are undefined (NULL) there."
        if one_class_groups.num_rows
        else "Every group has both classes."
    )
    return result_block(
        one_class_groups, f"account-group-{index}", title, request.max_rows, counts=frozenset({"Positives", "Negatives"}), note=note
    )
