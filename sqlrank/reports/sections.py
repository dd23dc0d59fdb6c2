"""Build the report sections of metrics with verdicts, of curves with a threshold slider, and of data counts with warnings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.output.reshape import to_long_format
from sqlrank.registry.aliases import find_metric
from sqlrank.registry.metric_info import is_count_metric, list_metrics
from sqlrank.reports.blocks import (
    Cell,
    Section,
    TableBlock,
    ThresholdExplorer,
    VerdictList,
    build_figure,
    format_cell,
    read_statement,
    result_block,
    truncate_text,
)
from sqlrank.reports.pivot import pivot_table
from sqlrank.reports.verdict_sentences import count_things, data_warnings

if TYPE_CHECKING:
    from sqlrank.reports.report_request import ReportRequest

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

PREDICTION_COUNTS = ("num_predictions", "num_predictions_dropped", "Observations", "Positives", "Negatives")
"""Count metrics that describe the data of a report."""

MIN_LAST_CUTOFF, MAX_LAST_CUTOFF = 20, 100
"""Minimum and maximum cut-off up to which metrics are drawn."""


def summary_section(result: pa.Table, request: ReportRequest, verdicts: VerdictList, comparisons: pa.Table | None) -> Section:
    """Return the section of the verdicts, and every metric of every system with its interval, which ``result`` has."""
    blocks = [
        *([verdicts] if verdicts.verdicts else []),
        pivot_table(result, request, comparisons),
        build_figure(lambda: result, "summary-chart", f"Metrics of each system{', with their intervals' * request.has_intervals}", "dots"),
        *([_build_rows(result, request, "summary-table", "Confidence intervals")] if request.has_intervals else []),
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
    return TableBlock("meanings-table", "Metric definitions", ["metric", "description", "range", "better"], cells, is_folded=True)


def _build_rows(result: pa.Table, request: ReportRequest, ident: str, title: str) -> TableBlock:
    """Return a result with intervals as one row per metric."""
    rows = to_long_format(result)
    order = sorted(range(rows.num_rows), key=lambda row: request.names.index(rows["metric"][row].as_py()))
    note = f"ci_low and ci_high are the limits of the {100 * request.confidence:g}% confidence interval of a value, n_units is the number of independent units."
    rows = rows.take(order).replace_schema_metadata(result.schema.metadata)
    return result_block(rows, ident, title, request.max_rows, note=note, is_folded=True)


def curve_section(request: ReportRequest) -> Section:
    """Return the section of curves of predictions, of the confusion matrix of classes, or of ranking metrics over cut-offs."""
    if request.role == CLASS_ROLE:
        return _confusion_section(request)
    if not request.is_ranking:
        names = {name: f"{name}(points={MAX_CURVE_POINTS})" for name in REPORT_CURVES} | {"Calibration": "Calibration(binning=equal_mass)"}
        figures = [
            build_figure(partial(request.evaluate, text), f"curve-{name.lower()}", f"{name}: {REPORT_CURVES[name]}")
            for name, text in names.items()
        ]
        return Section("curves", "Curves", [*_threshold_explorer(request), *figures])
    if not request.cutoffs:
        return Section("curves", "Over cut-offs", (), ["No metric has a cut-off, such as nDCG@10, over which it could be drawn."])
    last = min(MAX_LAST_CUTOFF, max(MIN_LAST_CUTOFF, *request.cutoffs.values()))
    swept = list(dict.fromkeys(replace(metric, cutoff=(1, last)) for metric in request.cutoffs))
    return Section(
        "curves", "Over cut-offs", [build_figure(partial(request.evaluate, swept), "curve-cutoffs", "Metrics over cut-offs", "cutoffs")]
    )


def _confusion_section(request: ReportRequest) -> Section:
    """Return the section of the confusion matrix, and of the metrics of each class."""
    title = "Metrics by class"
    blocks = [
        build_figure(partial(request.evaluate, "MulticlassConfusionMatrix"), "curve-confusion", "Confusion matrix", "confusion"),
        result_block(
            request.evaluate("MulticlassReport").drop_columns(["point"]),
            "classes-table",
            title,
            request.max_rows,
            counts=frozenset({"label_weight", "predicted_weight"}),
        ),
    ]
    return Section("classes", "Classes", blocks)


def _threshold_explorer(request: ReportRequest) -> list[ThresholdExplorer]:
    """Return the block in which a slider moves the threshold, none without predictions."""
    result = request.evaluate(f"Threshold(points={MAX_CURVE_POINTS})")
    rows_by_system: dict[str, list[list[float]]] = {}
    for row in result.to_pylist():
        numbers = [float(f"{row[name]:.10g}") for name in ("threshold", "tp", "fp", "tn", "fn")]
        rows_by_system.setdefault(truncate_text(row.get(str(request.system), "all predictions")), []).append(numbers)
    systems = [(name, json.dumps(sorted(rows))) for name, rows in rows_by_system.items() if rows]
    return [ThresholdExplorer("thresholds", "Confusion matrix at a threshold", systems, read_statement(result))] if systems else []


def data_account(request: ReportRequest, comparisons: pa.Table | None) -> tuple[Section, list[str]]:
    """Return the section of data counts (evaluated rows, missing values and rows left out), and warnings from them."""
    k = next(iter(request.cutoffs.values()), 10)
    has_judgments = bool({"qrels", "predictions"} & set(request.sources))
    role_counts = CLUSTER_COUNTS if request.role == CLUSTER_ROLE else PREDICTION_COUNTS
    counts = role_counts if not request.is_ranking else RANKING_COUNTS if has_judgments else LIST_COUNTS
    names = [name.format(k) for name in counts]
    judged = [f"Judged@{k}"] if request.is_ranking and has_judgments else []
    result = request.evaluate([*names, *judged])
    descriptions = {row["name"]: row["description"] for row in list_metrics(request.library, None)}
    systems = [column for column in result.column_names if column not in {*names, *judged}]
    rows = result.to_pylist()
    titles = [
        "count",
        *([", ".join(truncate_text(row[key]) for key in systems) for row in rows[: request.max_rows]] if systems else ["value"]),
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
    warnings = [*data_warnings(rows, systems, k), *texts]
    if request.role == "predictions":
        for index, group in enumerate(request.groups):
            block, num_groups = _one_class(request, group, index)
            blocks.append(block)
            columns, verb = ", ".join(map(truncate_text, group)), "has" if num_groups == 1 else "have"
            warnings += [f"{count_things(num_groups, 'group')} by {columns} {verb} one class only."] if num_groups else []
    return Section("account", "Data quality", blocks, texts), warnings


def _one_class(request: ReportRequest, group: list[str], index: int) -> tuple[TableBlock, int]:
    """Return the groups without positives or without negatives, and their number.

    Metrics of both classes are undefined for them.
    """
    result = request.evaluate(["Positives", "Negatives"], group)
    lacks_class = pa.array([not (row["Positives"] and row["Negatives"]) for row in result.to_pylist()], pa.bool_())
    title = f"Groups by {', '.join(map(truncate_text, group))} with one class"
    one_class_groups = result.filter(lacks_class)
    num_groups = len({tuple(row[name] for name in group) for row in one_class_groups.to_pylist()})
    note = "Metrics of both classes, such as AUC, are undefined (NULL) there." if num_groups else "Every group has both classes."
    counts = frozenset({"Positives", "Negatives"})
    return result_block(one_class_groups, f"account-group-{index}", title, request.max_rows, counts=counts, note=note), num_groups
