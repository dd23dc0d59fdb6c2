"""Build the report sections of metrics by system, of groups, curves and comparisons."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import TokenType, exp, tokenize

from sqlrank.call.request import write_command
from sqlrank.charts.result_view import AREA_METRICS
from sqlrank.errors import InputError, count_things
from sqlrank.output.contrast_tables import (
    BASELINE_BETTER,
    DIFFERS_LABEL,
    NOT_SIGNIFICANT,
    STATES,
    SYSTEM_BETTER,
)
from sqlrank.output.display import group_column_names, sort_and_limit, to_long_format
from sqlrank.registry.metric_info import find_metric, is_count_metric, list_metrics
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.reports.blocks import (
    MAX_TABLE_ROWS,
    Cell,
    Section,
    TableBlock,
    ThresholdExplorer,
    VerdictList,
    build_figure,
    count_fitting_groups,
    format_cell,
    read_groups,
    read_statement,
    result_block,
    select_first_groups,
    truncate_text,
)
from sqlrank.reports.verdict_sentences import data_warnings, label_rows
from sqlrank.result_columns import BOUNDS, CI_HIGH, CI_LOW, SLICE_COLUMN
from sqlrank.result_metadata import COLUMNS_KEY, read_left_out, read_result_metadata, read_unit
from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.reports.report_request import ReportRequest
    from sqlrank.result_columns import ResultRow


NUM_SHADES = 3
"""Number of shades of differences."""


def group_section(overall: pa.Table, request: ReportRequest) -> Section:
    """Return the section of metrics by group, a table per grouping, worst group first.

    ``overall`` are the metrics of all rows, from which shades are differences.
    """
    blocks: list[Any] = []
    sentences: list[str] = []
    # The summary has the same rows, without their groups.
    in_summary = [replace(entry, groups=()) for entry in read_left_out(overall.schema.metadata)]
    values_by_system = {row.get(str(request.system)): row for row in overall.to_pylist()}
    for index, group in enumerate(request.groups):
        result = request.with_intervals(group)
        name = request.names[0]
        worst = sort_and_limit(result, request.library, f"-{name}", None)
        grouping = f"{', '.join(truncate_text(column) for column in group)}, the worst {name} first"
        sentences += [
            f"{str(entry)[0].upper()}{str(entry)[1:]}."
            for entry in read_left_out(result.schema.metadata)
            if replace(entry, groups=()) not in in_summary
        ]
        table = _build_group_table(
            worst, values_by_system, request, f"group-{index}", f"By {grouping}"
        )
        blocks.append(_with_commands(table, worst, group, request) if request.is_ranking else table)
        keys = [
            name
            for name in result.column_names[: result.column_names.index(name)]
            if name != request.system
        ]
        # Within a group, systems keep the caller's order, which determines their colors.
        first_groups, num_omitted = select_first_groups(
            result,
            keys,
            count_fitting_groups(result, keys),
            read_groups(worst, keys),
            is_sorted=True,
        )
        chart_title = f"Metrics by {grouping}" + (
            f" ({num_omitted:,} more are not drawn)" if num_omitted else ""
        )
        blocks.append(build_figure(first_groups, f"group-{index}-chart", chart_title))
    return Section("groups", "Groups", blocks, sentences)


def _build_group_table(
    result: pa.Table,
    values_by_system: Mapping[Any, Mapping[str, Any]],
    request: ReportRequest,
    ident: str,
    title: str,
) -> TableBlock:
    """Return a table with a column per metric, whose cells hold value and interval, shaded by the
    difference from all rows.
    """
    limits = {
        f"{name}.{end}" for name in request.names for end in ("ci_low", "ci_high", "se", "n_units")
    }
    keys = [name for name in result.column_names if name not in {*request.names, *limits}]
    rows = result.slice(0, MAX_TABLE_ROWS).to_pylist()
    shades = {name: _choose_shades(rows, values_by_system, name, request) for name in request.names}
    cells = [
        [
            *(format_cell(key, row[key]) for key in keys),
            *(
                replace(build_interval_cell(row, name), shade=shades[name][index])
                for name in request.names
            ),
        ]
        for index, row in enumerate(rows)
    ]
    num_omitted = max(0, result.num_rows - MAX_TABLE_ROWS)
    names = [truncate_text(name) for name in [*keys, *request.names]]
    note = (
        ""
        if not request.has_intervals
        else (
            "Shaded: the interval excludes the value of all rows, which is better (green) or worse"
            " (red) in the group. Grey: it does not."
        )
    )
    return TableBlock(
        ident,
        title,
        names,
        cells,
        num_omitted,
        read_statement(result),
        note,
        max_rows=request.max_rows,
    )


def _with_commands(
    table: TableBlock, result: pa.Table, group: Sequence[str], request: ReportRequest
) -> TableBlock:
    """Return the table with a command in each row shown first that evaluates the queries of the
    group, if it has one.
    """
    rows = result.slice(0, request.max_rows).to_pylist()
    commands = [_query_command(row, group, request) for row in rows]
    cells = [
        [replace(first, copied=command), *rest]
        for (first, *rest), command in zip(table.rows, commands, strict=False)
    ]
    return replace(table, rows=[*cells, *table.rows[len(cells) :]])


def _query_command(row: ResultRow, group: Sequence[str], request: ReportRequest) -> str | None:
    """Return the command that evaluates each query of a group; None for groups by other texts and
    for sources without names.
    """
    if any(request.group_texts[name] != name for name in group) or not all(
        name in row and isinstance(row[name], (str, int)) for name in group
    ):
        return None
    options = request.command_arguments(
        str(row.get(str(request.system))), request.policies_read_by([request.metrics[0]])
    )
    conditions = [
        exp.EQ(this=_quote_column(name), expression=exp.convert(row[name])) for name in group
    ]
    where = request.write_condition(options["where"], *conditions)
    return write_command(["evaluate", request.names[0], "--per-query"], {**options, "where": where})


def _quote_column(name: str) -> exp.Column:
    """Return a column, quoted unless its name is a plain word, since shells quote quotes at
    length.
    """
    is_word = [token.token_type for token in tokenize(name)] == [TokenType.VAR]
    return exp.column(exp.to_identifier(name)) if is_word else quoted_column(name)


def _significant_difference(row: ResultRow, overall_value: float | None, name: str) -> float | None:
    """Return the difference of a group's value from that of all rows, None if the interval includes
    the latter.
    """
    low, high = row.get(f"{name}.ci_low"), row.get(f"{name}.ci_high")
    if (
        row[name] is None
        or overall_value is None
        or low is None
        or high is None
        or low <= overall_value <= high
    ):
        return None
    return float(row[name] - overall_value)


def _choose_shades(
    rows: Sequence[ResultRow],
    values_by_system: Mapping[Any, Mapping[str, Any]],
    name: str,
    request: ReportRequest,
) -> list[str]:
    """Return the class of the style sheet of each row's cell: its verdict and one of ``NUM_SHADES``
    strengths, or ``faint``.
    """
    if not request.has_intervals:
        return [""] * len(rows)
    differences = [
        _significant_difference(
            row, values_by_system.get(row.get(str(request.system)), {}).get(name), name
        )
        for row in rows
    ]
    largest = max(
        (abs(difference) for difference in differences if difference is not None), default=0.0
    )
    direction = request.find_direction(name)
    shades = []
    for difference in differences:
        if difference is None:
            shades.append("faint")
            continue
        is_better = (difference > 0) == (direction == "higher")
        state = "differs" if direction == "neither" else "better" if is_better else "worse"
        shades.append(f"heat {state}{max(1, round(NUM_SHADES * abs(difference) / largest))}")
    return shades


def build_interval_cell(row: ResultRow, name: str) -> Cell:
    """Return a cell of a value with its interval, or else its bounds, sorted by the value."""
    value, *limits = (
        format_cell(name, row.get(column))
        for column in (name, *(f"{name}.{end}" for end in (CI_LOW, CI_HIGH, *BOUNDS)))
    )
    for low, high in (limits[:2], limits[2:]):
        if low.number is not None and high.number is not None and low.number != high.number:
            return replace(value, interval=f"({low.text} to {high.text})")
    return value


def pivot_table(
    result: pa.Table, request: ReportRequest, comparisons: pa.Table | None
) -> TableBlock:
    """Return the metrics of a result by system.

    ``comparisons`` give the verdicts on systems compared with the first baseline.
    """
    rows = result.to_pylist()
    column = request.system or SYSTEM_COLUMN
    systems = [str(row[column]) for row in rows] if column in result.column_names else ["value"]
    baseline, labels = None, {}
    if comparisons is not None and comparisons.num_rows:
        baseline = comparisons["baseline"][0].as_py()
        pairs = zip(comparisons.to_pylist(), label_rows(comparisons, request), strict=True)
        labels = {
            (row["metric"], row["system"]): label
            for row, label in pairs
            if row["baseline"] == baseline
        }
    cells = []
    for name in request.names:
        best = _find_best(name, rows, request.find_direction(name))
        values = [
            replace(
                build_interval_cell(row, name),
                is_best=best is not None and format_cell(name, row[name]).text == best,
                verdict=STATES.get(labels.get((name, system), ""), ""),
            )
            for system, row in zip(systems, rows, strict=True)
        ]
        cells.append(
            [
                Cell(truncate_text(name), link="#meanings-table"),
                *values,
                Cell(request.find_direction(name)),
            ]
        )
    note = _format_note(request, baseline, len(systems))
    columns = ["metric", *map(truncate_text, systems), "better"]
    return TableBlock(
        "pivot",
        "Metrics by system" if len(systems) > 1 else "Metrics",
        columns,
        cells,
        0,
        read_statement(result),
        note,
    )


def _find_best(name: str, rows: Sequence[ResultRow], direction: str) -> str | None:
    """Return the best value of a metric as it is shown, None if no direction is better or all are
    shown equal.
    """
    values = [row[name] for row in rows if row[name] is not None]
    # One value is not the best of any
    if direction == "neither" or len({format_cell(name, value).text for value in values}) < 2:  # noqa: PLR2004
        return None
    return format_cell(name, min(values) if direction == "lower" else max(values)).text


def _format_note(request: ReportRequest, baseline: str | None, num_systems: int) -> str:
    note = (
        f"In parentheses: the {100 * request.confidence:g}% confidence interval."
        if request.has_intervals
        else ""
    )
    note += " The best value is bold." if num_systems > 1 else ""
    if baseline is None:
        return note.strip()
    return (
        f"{note} ▲ is significantly better and ▼ significantly worse than"
        f" {truncate_text(baseline)}, ◆ differs significantly without being better. Intervals of"
        " two systems that overlap do not contradict that, since comparisons are paired."
    )


REPORT_CURVES = {
    "ROC": "true over false positives",
    "PR": "precision over recall",
    "Calibration": "observed over predicted probability",
    "Gain": "positives found among the highest scores",
}
"""Curves of predictions, with their captions."""

MAX_CURVE_POINTS = 100
"""Maximum number of points per curve, each with its tooltip."""

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
CLUSTER_COUNTS = (
    "num_records",
    "num_true_clusters",
    "num_predicted_clusters",
    "num_singletons",
    "num_over_split",
    "num_over_merged",
    "num_unplaced",
    "num_unlabelled",
)
CLASS_ROLE, CLUSTER_ROLE = "classified", "records"
"""Roles of predicted classes, and of records in clusters."""

PREDICTION_COUNTS = (
    "num_predictions",
    "num_predictions_dropped",
    "Observations",
    "Positives",
    "Negatives",
)
"""Count metrics that describe the data of a report."""

MIN_LAST_CUTOFF, MAX_LAST_CUTOFF = 20, 100
"""Minimum and maximum cut-off up to which metrics are drawn."""


def summary_section(
    result: pa.Table, request: ReportRequest, verdicts: VerdictList, comparisons: pa.Table | None
) -> Section:
    """Return the section of the verdicts, and every metric of every system with its interval, which
    ``result`` has.
    """
    blocks = [
        *([verdicts] if verdicts.verdicts else []),
        pivot_table(result, request, comparisons),
        build_figure(
            result,
            "summary-chart",
            f"Metrics of each system{', with their intervals' * request.has_intervals}",
            "dots",
        ),
        *([_build_rows(result, request)] if request.has_intervals else []),
        _build_meanings(request),
    ]
    return Section("summary", "Summary", blocks)


def _build_meanings(request: ReportRequest) -> TableBlock:
    """Return a table that explains the metrics."""
    files = [find_metric(name, request.library)[1] for name in request.names]
    rows = [
        [name, file.description, file.annotations.get("Range", ""), request.find_direction(name)]
        for name, file in zip(request.names, files, strict=True)
    ]
    cells = [[Cell(truncate_text(re.sub(r"[`*]", "", text))) for text in row] for row in rows]
    return TableBlock(
        "meanings-table",
        "Metric definitions",
        ["metric", "description", "range", "better"],
        cells,
        is_folded=True,
    )


def _build_rows(result: pa.Table, request: ReportRequest) -> TableBlock:
    """Return a result with intervals as one row per metric."""
    rows = to_long_format(result)
    order = sorted(
        range(rows.num_rows), key=lambda row: request.names.index(rows["metric"][row].as_py())
    )
    rows = rows.take(order).replace_schema_metadata(result.schema.metadata)
    return result_block(
        rows, "summary-table", "Confidence intervals", request.max_rows, is_folded=True
    )


def _evaluate_curve(request: ReportRequest, text: str, overall: pa.Table) -> pa.Table:
    """Evaluate a curve; metadata of ROC and PR have the AUC and APS by system, which the legend
    shows: those of ``overall`` if it has them.
    """
    result = request.evaluate(text)
    system = request.system or SYSTEM_COLUMN
    metric = AREA_METRICS.get(text.partition("(")[0])
    if metric is None or system not in overall.column_names:
        return result
    table = overall if metric in overall.column_names else request.evaluate([metric])
    areas = [(row[system], row[metric]) for row in table.to_pylist() if row[metric] is not None]
    metadata = {**(result.schema.metadata or {}), b"sqlrank.areas": json.dumps(areas).encode()}
    return result.replace_schema_metadata(metadata)


def curve_section(request: ReportRequest, overall: pa.Table) -> Section:
    """Return the section of curves of predictions, of the confusion matrix of classes, or of
    ranking metrics over cut-offs. ``overall`` has the metrics of all rows.
    """
    if request.role == CLASS_ROLE:
        return _confusion_section(request)
    if not request.is_ranking:
        names = {name: f"{name}(points={MAX_CURVE_POINTS})" for name in REPORT_CURVES} | {
            "Calibration": "Calibration(binning=equal_mass)"
        }
        figures = [
            build_figure(
                partial(_evaluate_curve, request, text, overall),
                f"curve-{name.lower()}",
                f"{name}: {REPORT_CURVES[name]}",
            )
            for name, text in names.items()
        ]
        return Section("curves", "Curves", [*_threshold_explorer(request), *figures])
    if not request.cutoffs:
        return Section(
            "curves",
            "Over cut-offs",
            (),
            ["No metric has a cut-off, such as nDCG@10, over which it could be drawn."],
        )
    last = min(MAX_LAST_CUTOFF, max(MIN_LAST_CUTOFF, *request.cutoffs.values()))
    swept = list(dict.fromkeys(replace(metric, cutoff=(1, last)) for metric in request.cutoffs))
    return Section(
        "curves",
        "Over cut-offs",
        [
            build_figure(
                partial(request.evaluate, swept),
                "curve-cutoffs",
                "Metrics over cut-offs",
                "cutoffs",
            )
        ],
    )


def _confusion_section(request: ReportRequest) -> Section:
    """Return the section of the confusion matrix, and of the metrics of each class."""
    title = "Metrics by class"
    blocks = [
        build_figure(
            partial(request.evaluate, "MulticlassConfusionMatrix"),
            "curve-confusion",
            "Confusion matrix",
            "confusion",
        ),
        result_block(
            request.evaluate("MulticlassReport").drop_columns(["point"]),
            "classes-table",
            title,
            request.max_rows,
        ),
    ]
    return Section("classes", "Classes", blocks)


def _threshold_explorer(request: ReportRequest) -> list[ThresholdExplorer]:
    """Return the block in which a slider moves the threshold, none without predictions."""
    result = request.evaluate(f"Threshold(points={MAX_CURVE_POINTS})")
    rows_by_system: dict[str, list[list[float]]] = {}
    for row in result.to_pylist():
        numbers = [float(f"{row[name]:.10g}") for name in ("threshold", "tp", "fp", "tn", "fn")]
        rows_by_system.setdefault(
            truncate_text(row.get(str(request.system), "all predictions")), []
        ).append(numbers)
    systems = [(name, json.dumps(sorted(rows))) for name, rows in rows_by_system.items() if rows]
    return (
        [
            ThresholdExplorer(
                "thresholds", "Confusion matrix at a threshold", systems, read_statement(result)
            )
        ]
        if systems
        else []
    )


def data_account(request: ReportRequest, comparisons: pa.Table | None) -> tuple[Section, list[str]]:
    """Return the section of data counts (evaluated rows, missing values and rows left out), and
    warnings from them.
    """
    k = next(iter(request.cutoffs.values()), 10)
    has_judgments = bool({"qrels", "predictions"} & set(request.sources))
    role_counts = CLUSTER_COUNTS if request.role == CLUSTER_ROLE else PREDICTION_COUNTS
    counts = (
        role_counts if not request.is_ranking else RANKING_COUNTS if has_judgments else LIST_COUNTS
    )
    names = [name.format(k) for name in counts]
    judged = [f"Judged@{k}"] if request.is_ranking and has_judgments else []
    result = request.evaluate([*names, *judged])
    descriptions = {row["name"]: row["description"] for row in list_metrics(request.library, None)}
    systems = [column for column in result.column_names if column not in {*names, *judged}]
    rows = result.to_pylist()
    first_rows = rows[: request.max_rows]
    values = [", ".join(truncate_text(row[key]) for key in systems) for row in first_rows]
    titles = ["count", *(values if systems else ["value"]), "what it counts"]
    cells = [
        [
            Cell(name),
            *(
                format_cell(name, row[name], is_count_metric(name, request.library))
                for row in first_rows
            ),
            Cell(descriptions[name.partition("@")[0]]),
        ]
        for name in names
    ]
    blocks: list[Any] = [
        TableBlock("account-table", "Counts", titles, cells, 0, read_statement(result))
    ]
    texts = []
    if comparisons is not None and (
        unpaired := max(comparisons["unpaired"].to_pylist(), default=0)
    ):
        units = count_things(unpaired, read_unit(comparisons.schema.metadata))
        texts.append(
            f"Up to {units} have a value for only one of two systems. Comparisons leave them out."
        )
    warnings = [*data_warnings(rows, systems, k), *texts]
    if request.role == "predictions":
        for index, group in enumerate(request.groups):
            block, more_warnings = _one_class(request, group, index)
            blocks.append(block)
            warnings += more_warnings
    return Section("account", "Data quality", blocks, texts), warnings


def _one_class(
    request: ReportRequest, group: list[str], index: int
) -> tuple[TableBlock, list[str]]:
    """Return the groups without positives or without negatives, and a warning on their number.

    Metrics of both classes are undefined for them.
    """
    result = request.evaluate(["Positives", "Negatives"], group)
    lacks_class = pa.array(
        [not (row["Positives"] and row["Negatives"]) for row in result.to_pylist()], pa.bool_()
    )
    columns = ", ".join(map(truncate_text, group))
    one_class_groups = result.filter(lacks_class)
    num_groups = len(set(read_groups(one_class_groups, group)))
    note = (
        "Metrics of both classes, such as AUC, are undefined (NULL) there."
        if num_groups
        else "Every group has both classes."
    )
    verb = "has" if num_groups == 1 else "have"
    warning = f"{count_things(num_groups, 'group')} by {columns} {verb} one class only."
    block = result_block(
        one_class_groups,
        f"account-group-{index}",
        f"Groups by {columns} with one class",
        request.max_rows,
        note=note,
    )
    return block, [warning] if num_groups else []


def build_comparison_section(
    request: ReportRequest, metrics: list[Any], reasons: list[str]
) -> tuple[Section, pa.Table | None]:
    """Return the section of compared systems, and the comparison table.

    ``metrics`` are those that can be compared, ``reasons`` why others cannot.
    """
    title = "Systems compared"
    if not metrics:
        return Section("comparison", title, (), reasons), None
    try:
        comparisons = request.compare(metrics, request.baseline, **_build_options(request))
    except InputError as error:
        return (
            Section("comparison", title, (), [*reasons, f"Systems are not compared: {error}"]),
            None,
        )
    blocks = [
        result_block(comparisons, "comparison-table", "Differences", request.max_rows),
        build_figure(comparisons, "comparison-chart", "Differences with their intervals", "forest"),
    ]
    return Section("comparison", title, blocks, reasons), comparisons


def comparison_by_group(
    request: ReportRequest, metrics: list[Any]
) -> tuple[Section, pa.Table | None]:
    """Return the section of comparisons within each grouping, and their table.

    One call computes all, so that p-values are corrected for all groups of all groupings.
    """
    ident, title = "comparison-groups", "Systems compared within groups"
    try:
        comparisons = request.compare(
            metrics, request.baseline, groups=request.groups, **_build_options(request)
        )
    except InputError as error:
        return Section(ident, title, (), [f"Systems are not compared within groups: {error}"]), None
    blocks: list[Any] = []
    for index, group in enumerate(request.groups):
        group_rows = _worst_first(_filter_group(comparisons, group), request)
        group_names = ", ".join(map(truncate_text, group))
        heading = f"Differences by {group_names}, regressions and other significant ones first"
        blocks.append(
            result_block(group_rows, f"comparison-group-{index}", heading, request.max_rows)
        )
        first_metric_rows = group_rows.filter(pc.equal(group_rows["metric"], str(metrics[0])))
        keys = group_column_names(first_metric_rows)
        max_groups = count_fitting_groups(first_metric_rows, keys)
        drawn, num_omitted = select_first_groups(first_metric_rows, keys, max_groups)
        more = f" ({num_omitted:,} more groups are not drawn)" if num_omitted else ""
        chart_title = f"Differences of {metrics[0]} by {group_names}{more}"
        blocks.append(build_figure(drawn, f"comparison-group-{index}-chart", chart_title, "forest"))
    return Section(ident, title, blocks), comparisons


def _build_options(request: ReportRequest) -> dict[str, Any]:
    return {} if request.is_ranking else {"unit": request.unit}


def _filter_group(comparisons: pa.Table, group: list[str]) -> pa.Table:
    """Return the rows of one grouping, with its columns alone."""
    keys = group_column_names(comparisons)
    if SLICE_COLUMN not in keys:
        return comparisons
    group_rows = comparisons.filter(pc.equal(comparisons[SLICE_COLUMN], ", ".join(group)))
    dropped = {SLICE_COLUMN, *keys} - {*group}
    metadata = comparisons.schema.metadata or {}
    columns = {
        name: kind
        for name, kind in read_result_metadata(metadata).columns.items()  # type: ignore[union-attr]
        if name not in dropped
    }
    return group_rows.drop_columns(sorted(dropped)).replace_schema_metadata(
        {**metadata, COLUMNS_KEY.encode(): json.dumps(columns).encode()}
    )


def _worst_first(comparisons: pa.Table, request: ReportRequest) -> pa.Table:
    """Sort rows: better baselines first, then differences without a better direction, better
    systems and undecided rows; within these by metric, the worst first.
    """
    verdicts = (BASELINE_BETTER, DIFFERS_LABEL, SYSTEM_BETTER, NOT_SIGNIFICANT)
    order = request.names

    def build_key(row: ResultRow, label: str) -> tuple[Any, ...]:
        sign = -1 if request.find_direction(row["metric"]) == "lower" else 1
        return (
            verdicts.index(label),
            order.index(row["metric"]),
            row["difference"] is None,
            sign * (row["difference"] or 0),
        )

    pairs = zip(comparisons.to_pylist(), label_rows(comparisons, request), strict=True)
    keys = [build_key(*pair) for pair in pairs]
    return comparisons.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__), pa.int64()))
