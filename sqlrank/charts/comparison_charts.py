"""Draw comparisons: forest plots, and sorted per-query differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.comparison_labels import (
    BASELINE_BETTER,
    CORRECTION_LABELS,
    DIFFERS_LABEL,
    NOT_SIGNIFICANT,
    SYSTEM_BETTER,
    TEST_LABELS,
    label_comparison,
)
from sqlrank.charts.result_view import assign_channels, text_labels
from sqlrank.result_columns import COMPARISON_SCHEMA, REPORT_DISPLAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.result_view import Dimension, ResultView

ROW_PIXELS = 26
MAX_QUERIES_DRAWN = 1000
"""Maximum number of queries drawn per pair; more would be narrower than a pixel."""

WIN, TIE, LOSS = "wins", "ties", "losses"

_TOOLTIP_TITLES = {name: name for name in REPORT_DISPLAY if COMPARISON_SCHEMA[name] != "string"}
"""Numbers of a comparison in tooltips, with their titles."""


def forest(view: ResultView) -> ChartType:
    """Draw a forest plot per metric: each difference with its interval, and a line at zero."""
    charts = []
    for metric, metric_rows in _by_metric(view).items():
        group_labels = _compared(view, metric_rows)
        baselines = dict.fromkeys(row["baseline"] for row in metric_rows)
        names = [row["system"] if len(baselines) == 1 else f"{row['system']} - {row['baseline']}" for row in metric_rows]
        dimensions, keys = assign_channels([("system", names), *group_labels], ("name", "row"), len(metric_rows))
        verdicts = [_verdict(row, view) for row in metric_rows]
        tooltip_values = [
            {field: row[field] for field in _TOOLTIP_TITLES} | {"verdict": verdict}
            for row, verdict in zip(metric_rows, verdicts, strict=True)
        ]
        rows = [key | row for key, row in zip(keys, tooltip_values, strict=True)]
        axis_title = f"difference of {view.title(metric, of_difference=True)}" + (
            f" from {next(iter(baselines))}" if len(baselines) == 1 else ""
        )
        charts.append(
            theme.facets(alt.layer(*_forest(dimensions, axis_title, DIFFERS_LABEL in verdicts), data=theme.inline_data(rows)), dimensions)
        )
    notes = [f"Points: differences of means.{_describe_tests(view)}", "Grey: no difference from the baseline."]
    if any(row["difference"] is None for row in view.rows):
        notes.append("A row without a point: the metric is undefined for one of both systems, or for both.")
    return theme.with_caption(theme.concat(charts or [_nothing()], 1), notes)


def differences(view: ResultView) -> ChartType:
    """Draw sorted per-query differences, the largest loss first, per metric and pair."""
    charts, notes = [], []
    for metric, rows in _by_metric(view).items():
        rows_by_pair: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        group_labels = _compared(view, rows)
        for index, row in enumerate(rows):
            key = (row["system"], row["baseline"], *(f"{title}={labels[index]}" for title, labels in group_labels))
            rows_by_pair.setdefault(key, []).append(row)
        for (system, baseline, *group_values), pair_rows in rows_by_pair.items():
            chart, note = _queries(view, metric, pair_rows, ", ".join([f"{system} minus {baseline}", *group_values]))
            charts.append(chart)
            notes += [note] if note else []
    return theme.with_caption(theme.concat(charts or [_nothing()], titled=True), list(dict.fromkeys(notes)))


def _describe_tests(view: ResultView) -> str:
    """Return sentences on intervals and tests, empty for a comparison of rollups without them."""
    if "confidence" not in view.texts:
        return ""
    test, correction, confidence = (view.texts.get(name, "?") for name in ("test", "correction", "confidence"))
    by = CORRECTION_LABELS.get(correction, correction)
    return f" Lines: confidence intervals at level {confidence}, corrected by {by}. Test: {TEST_LABELS.get(test, test)}."


def _by_metric(view: ResultView) -> dict[str, list[dict[str, Any]]]:
    rows_by_metric: dict[str, list[dict[str, Any]]] = {}
    for row in view.rows:
        rows_by_metric.setdefault(row["metric"], []).append(row)
    return rows_by_metric


def _compared(view: ResultView, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return the group labels of some rows, with their titles."""
    metric_view = type(view)(view.result_metadata, [dict(row) for row in rows], view.texts)
    dimensions, keys = metric_view.dimensions(channels=[f"slice_{index}" for index in range(len(view.result_metadata.columns))])
    return [(dimension.title, [key[dimension.field] for key in keys]) for dimension in dimensions]


def _verdict(row: Mapping[str, Any], view: ResultView) -> str:
    return label_comparison(row, view.result_metadata.measures[row["metric"]]["better"], float(view.texts.get("confidence", "nan")))


def _nothing() -> Any:
    return alt.layer(alt.Chart(theme.inline_data([])).mark_point().encode(x="x:Q"))


def _forest(dimensions: Sequence[Dimension], title: str, some_differ: bool) -> list[Any]:
    names = dimensions[0]
    verdict_colors = {SYSTEM_BETTER: theme.PALETTE[0], BASELINE_BETTER: theme.PALETTE[1], NOT_SIGNIFICANT: theme.INK} | (
        {DIFFERS_LABEL: theme.PALETTE[3]} if some_differ else {}
    )
    color_scale = alt.Scale(domain=list(verdict_colors), range=list(verdict_colors.values()))
    base_chart = alt.Chart(width=theme.SIDE_PIXELS, height=alt.Step(ROW_PIXELS)).encode(
        y=alt.Y("name:N", sort=list(names.labels), title=names.title),
        color=alt.Color("verdict:N", title=None, scale=color_scale, legend=alt.Legend(orient="top", symbolType="circle")),
        tooltip=theme.tooltips([*dimensions], {**_TOOLTIP_TITLES, "verdict:N": "verdict"}),
    )
    zero = alt.Chart(theme.inline_data([{"zero": 0}])).mark_rule(color=theme.GREY, strokeWidth=1.5).encode(x="zero:Q")
    limits = base_chart.mark_rule(strokeWidth=1.5).encode(x=alt.X("ci_low:Q", title=title), x2="ci_high:Q")
    point = base_chart.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("difference:Q", title=title))
    return [zero, limits.transform_filter("isValid(datum.ci_low) && isValid(datum.ci_high)"), point]


def _queries(view: ResultView, metric: str, pair_rows: Sequence[Mapping[str, Any]], title: str) -> tuple[alt.Chart, str]:
    """Draw the sorted differences of one pair; return also a note if queries were sampled."""
    sign = -1 if view.result_metadata.measures[metric]["better"] == "lower" else 1
    outcomes = [WIN if row["difference"] * sign > 0 else LOSS if row["difference"] else TIE for row in pair_rows]
    title += f": wins {outcomes.count(WIN):,}, ties {outcomes.count(TIE):,}, losses {outcomes.count(LOSS):,}"
    ids = text_labels([row["query_id"] for row in pair_rows])
    rows = [
        {"x": index + 1, "query": ids[index], "kind": outcomes[index]}
        | {field: row[field] for field in ("value_baseline", "value", "difference")}
        for index, row in enumerate(pair_rows)
    ]
    note = ""
    if len(rows) > MAX_QUERIES_DRAWN:
        last = len(rows) - 1
        rows = [rows[round(index * last / (MAX_QUERIES_DRAWN - 1))] for index in range(MAX_QUERIES_DRAWN)]
        note = f"{MAX_QUERIES_DRAWN:,} queries are drawn, evenly spaced in their order. Wins, ties and losses count all queries."
    color_scale = alt.Scale(domain=[WIN, TIE, LOSS], range=[theme.PALETTE[0], theme.GREY, theme.PALETTE[1]])
    values = {name: _TOOLTIP_TITLES[name] for name in ("value_baseline", "value", "difference")}
    tooltip_titles = {**values, "x": "place", "query:N": "query"}
    chart = (
        alt.Chart(theme.inline_data(rows), width=theme.SIDE_PIXELS, height=theme.FACET_SIDE_PIXELS, title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "x:Q",
                title="queries, in order of their difference",
                axis=alt.Axis(tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0, len(pair_rows) + 1], nice=False),
            ),
            y=alt.Y("difference:Q", title=f"difference of {view.title(metric, of_difference=True)}"),
            color=alt.Color("kind:N", title=None, scale=color_scale, legend=alt.Legend(orient="top")),
            tooltip=theme.tooltips([], tooltip_titles),
        )
    )
    return chart, note
