"""Build the table of metrics by system: values with their intervals, the best in bold, and verdicts against the baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlrank.charts.comparison_labels import STATES
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.reports.blocks import Cell, TableBlock, format_cell, read_statement, truncate_text
from sqlrank.reports.group_section import build_interval_cell
from sqlrank.reports.verdict_sentences import label_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from sqlrank.reports.report_request import ReportRequest


def pivot_table(result: pa.Table, request: ReportRequest, comparisons: pa.Table | None) -> TableBlock:
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
        labels = {(row["metric"], row["system"]): label for row, label in pairs if row["baseline"] == baseline}
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
        cells.append([Cell(truncate_text(name), link="#meanings-table"), *values, Cell(request.find_direction(name))])
    note = _format_note(request, baseline, len(systems))
    columns = ["metric", *map(truncate_text, systems), "better"]
    return TableBlock("pivot", "Metrics by system" if len(systems) > 1 else "Metrics", columns, cells, 0, read_statement(result), note)


def _find_best(name: str, rows: Sequence[Mapping[str, Any]], direction: str) -> str | None:
    """Return the best value of a metric as it is shown, None if no direction is better or all are shown equal."""
    values = [row[name] for row in rows if row[name] is not None]
    if direction == "neither" or len({format_cell(name, value).text for value in values}) < 2:  # noqa: PLR2004  one value is not the best of any
        return None
    return format_cell(name, min(values) if direction == "lower" else max(values)).text


def _format_note(request: ReportRequest, baseline: str | None, num_systems: int) -> str:
    note = f"In parentheses: the {100 * request.confidence:g}% confidence interval." if request.has_intervals else ""
    note += " The best value is bold." if num_systems > 1 else ""
    if baseline is None:
        return note.strip()
    return f"{note} ▲ is significantly better and ▼ significantly worse than {truncate_text(baseline)}, ◆ differs significantly without being better. Intervals of two systems that overlap do not contradict that, since comparisons are paired."
