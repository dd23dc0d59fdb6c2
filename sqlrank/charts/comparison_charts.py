"""Draw comparisons and effects of experiments: forest plots, and sorted per-query differences."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.metric_charts import ROW_PIXELS, zoomed_axis, zoomed_domain
from sqlrank.charts.result_view import Dimension, ResultView, assign_channels, text_labels
from sqlrank.inference import Tolerance
from sqlrank.output.contrast_tables import (
    BASELINE_BETTER,
    CORRECTION_NAMES,
    DIFFERS_LABEL,
    NOT_SIGNIFICANT,
    SYSTEM_BETTER,
    TEST_NAMES,
    VARIANT_LABELS,
    format_span,
    have_lifts,
    label_comparison,
)
from sqlrank.output.display import ROUNDING_ERROR, group_items
from sqlrank.result_columns import (
    BOUND_HIGH,
    BOUND_LOW,
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    LIFT_LIMITS,
    PSI,
    WINS,
)
from sqlrank.result_metadata import EXPERIMENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.result_columns import ResultRow


VERDICT_MARKS = {
    SYSTEM_BETTER: ("#1A7F37", "triangle-up", "\u25b2"),
    BASELINE_BETTER: ("#B3123E", "triangle-down", "\u25bc"),
    NOT_SIGNIFICANT: (theme.INK, "circle", "\u25cf"),
    DIFFERS_LABEL: ("#6639BA", "diamond", "\u25c6"),
}
"""Color, shape and sign of each verdict; no system has these colors. The caption explains them: a
legend would be wider than plots of a phone.
"""

NO_TOLERANCE = "without tolerance"

DRIFT_MARKS = {
    "fail": ("#B3123E", "triangle-up", "\u25b2"),
    "inconclusive": ("#9A6700", "square", "\u25a0"),
    "skipped": (theme.GREY, "triangle-down", "\u25bc"),
    "pass": ("#1A7F37", "circle", "\u25cf"),
    NO_TOLERANCE: (theme.INK, "circle", "\u25cf"),
}
"""Color, shape and sign of each verdict on drift."""

_DRIFT_COLUMNS = (
    "value_reference",
    "value_current",
    "difference",
    BOUND_LOW,
    BOUND_HIGH,
    CI_LOW,
    CI_HIGH,
    "num_rows_reference",
    "num_rows_current",
)
"""Numbers of drift in tooltips."""

EFFECTS = {
    "difference": ("differences of means", "Differences", "from"),
    "lift": ("lifts of means", "Lifts", "over"),
}
"""Words of captions and titles for what a forest plot shows."""

MAX_QUERIES_DRAWN = 1000
"""Maximum number of queries drawn per pair; more would be narrower than a pixel."""

WIN, TIE, LOSS = "wins", "ties", "losses"

_TOOLTIP_COLUMNS = (
    "value_baseline",
    "value",
    "difference",
    "ci_low",
    "ci_high",
    "p_adjusted",
    "n_units",
    *WINS,
)
"""Numbers of a comparison in tooltips."""


def draw_forest(view: ResultView) -> ChartType:
    """Draw a forest plot per metric: each difference with its interval, and a line at zero."""
    view = _as_comparison(view)
    is_experiment = view.result_metadata.result == EXPERIMENT
    effect = view.texts.get("effect", "difference")
    labels = {_label_verdict(row, view) for row in view.rows} | {
        SYSTEM_BETTER,
        BASELINE_BETTER,
        NOT_SIGNIFICANT,
    }
    titles = {
        label: VARIANT_LABELS.get(label, label) if is_experiment else label
        for label in VERDICT_MARKS
        if label in labels
    }
    rows_by_metric = group_items(view.rows, itemgetter("metric"))
    forests = [
        _draw_metric_forest(view, metric, rows, titles) for metric, rows in rows_by_metric.items()
    ]
    notes = [
        (
            f"Points: {EFFECTS[effect][0]}.{_describe_tests(view)} A line that reaches the dashed"
            " 0 is not significant."
        ),
        f"{', '.join(f'{VERDICT_MARKS[label][2]} {title}' for label, title in titles.items())}.",
    ]
    if any(is_cut for _, is_cut in forests):
        notes.append("Arrows: the interval goes on beyond the axis.")
    notes += view.texts.get("notes", "").splitlines() if is_experiment else []
    if any(row["difference"] is None for row in view.rows):
        notes.append(
            "A row without a point: the metric is undefined for one of both systems, or for both."
        )
    metrics = theme.join_names(list(rows_by_metric))
    baselines = dict.fromkeys(row["baseline"] for row in view.rows)
    _, noun, preposition = EFFECTS[effect]
    compared_with = f" {preposition} {next(iter(baselines))}" if len(baselines) == 1 else ""
    title = f"{noun} of {metrics}{compared_with}"
    if effect == "difference" and (pair := _find_pair(view.rows)) is not None:
        title = f"{metrics} of {pair[0]} minus {pair[1]}"
    charts = [chart for chart, _ in forests] or [_empty_layer()]
    return theme.with_caption(theme.concatenate_charts(charts, 1), title, notes)


def _draw_metric_forest(
    view: ResultView,
    metric: str,
    metric_rows: Sequence[dict[str, Any]],
    titles: Mapping[str, str],
) -> tuple[Any, bool]:
    """Draw the forest plot of a metric; return also True if an interval goes on beyond the axis.

    ``titles`` are the titles of verdicts. Rows are systems, or groups with a facet per system.
    """
    is_experiment = view.result_metadata.result == EXPERIMENT
    baselines = dict.fromkeys(row["baseline"] for row in metric_rows)
    names = [
        row["system"] if len(baselines) == 1 else f"{row['system']} - {row['baseline']}"
        for row in metric_rows
    ]
    groups = _group_labels(view, metric_rows)
    systems = [("variant" if is_experiment else "system", names)]
    systems = [] if groups and _find_pair(metric_rows) else systems
    dimensions, keys = assign_channels(
        [*groups[:1], *systems, *groups[1:]], ("name", "row"), len(metric_rows)
    )
    rows = [
        key
        | {field: _clear_rounding_error(row.get(field)) for field in _TOOLTIP_COLUMNS}
        | {"verdict": titles[_label_verdict(row, view)]}
        for key, row in zip(keys, metric_rows, strict=True)
    ]
    low, high = zoomed_domain(
        [0.0, *(row[field] for row in rows for field in ("difference", "ci_low", "ci_high"))], None
    )
    effect = view.texts.get("effect", "difference")
    bounds = view.find_range(metric)
    if effect == "difference" and bounds is not None:  # of the metric, so that of a difference
        span = bounds[1] - bounds[0]
        low, high = max(low, -span), min(high, span)
    is_cut = any(
        row["ci_low"] is not None and (row["ci_low"] < low or row["ci_high"] > high) for row in rows
    )
    layers = _layer_forest(
        dimensions,
        effect,
        view.format_title(metric, is_difference=True),
        [low, high],
        {title: VERDICT_MARKS[label] for label, title in titles.items()},
    )
    return theme.layer_facets(layers, rows, dimensions), is_cut


def _find_pair(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the system and the baseline of all rows, None if there are several."""
    pairs = list({(row["system"], row["baseline"]) for row in rows})
    return pairs[0] if len(pairs) == 1 else None


def draw_drift(view: ResultView) -> ChartType:
    """Draw the changes of each metric between two periods: a row per group with its interval or
    bounds, on the band of its tolerance.
    """
    has_verdicts = any(row.get("tolerance") is not None for row in view.rows)
    limits = (CI_LOW, CI_HIGH) if CI_LOW in view.result_metadata.columns else BOUNDS
    rows_by_metric = group_items(view.rows, itemgetter("metric"))
    charts = [_draw_metric_drift(view, rows, limits) for rows in rows_by_metric.values()]
    intervals = f"{view.confidence}% confidence intervals" if limits[0] == CI_LOW else "bounds"
    notes = [f"Points: current value minus that of the reference. Lines: {intervals}."]
    if has_verdicts:
        verdicts = {row["verdict"] for row in view.rows}
        signs = ", ".join(
            f"{sign} {verdict}"
            for verdict, (_, _, sign) in DRIFT_MARKS.items()
            if verdict in verdicts
        )
        notes += ["Grey bands: tolerated changes.", f"{signs}."]
    if any(row["difference"] is None for row in view.rows):
        notes.append("A row without a point: a period has no value.")
    title = f"Changes of {theme.join_names(list(rows_by_metric))}"
    return theme.with_caption(theme.concatenate_charts(charts or [_empty_layer()], 1), title, notes)


def _draw_metric_drift(
    view: ResultView, metric_rows: Sequence[ResultRow], limits: tuple[str, str]
) -> Any:
    """Draw the changes of a metric in all groups."""
    metric = metric_rows[0]["metric"]
    groups = _group_labels(view, metric_rows) or [("group", ["all rows"] * len(metric_rows))]
    dimensions, keys = assign_channels(groups, ("name", "row"), len(metric_rows))
    rows = []
    for key, row in zip(keys, metric_rows, strict=True):
        tolerance = row.get("tolerance")
        margin = (
            None
            if tolerance is None
            else Tolerance.parse(tolerance).compute_margin(row["value_reference"])
        )
        low = None if margin is None else 0.0 if metric == PSI else -margin
        values = {field: _clear_rounding_error(row.get(field)) for field in _DRIFT_COLUMNS}
        span = dict(zip(("low", "high"), (values[name] for name in limits), strict=True))
        state = row.get("verdict") or NO_TOLERANCE
        rows.append(key | values | span | {"verdict": state, "from": low, "to": margin})
    domain = zoomed_domain(
        [
            0.0,
            *(row[field] for row in rows for field in ("difference", "low", "high", "from", "to")),
        ],
        None,
    )
    return theme.layer_facets(
        _layer_drift(dimensions, f"change of {metric}", domain), rows, dimensions
    )


def _layer_drift(
    dimensions: Sequence[Dimension], title: str, domain: Sequence[float]
) -> list[alt.Chart]:
    """Return layers of tolerated bands, a line at 0, intervals or bounds, and points."""
    color, shape = _encode_verdicts(DRIFT_MARKS)
    titles = {name: name for name in _DRIFT_COLUMNS} | {"verdict:N": "verdict"}
    rows = alt.Chart(
        width=theme.SIDE_PIXELS, height=theme.row_step(dimensions[0], ROW_PIXELS)
    ).encode(y=theme.encode_rows(dimensions[0]), tooltip=theme.build_tooltips(dimensions, titles))
    zero = alt.Chart(theme.inline_data([{"zero": 0}])).mark_rule(**theme.REFERENCE)
    return [
        rows.mark_bar(color=theme.GREY, opacity=0.25, height=ROW_PIXELS - 4)
        .encode(x=zoomed_axis("from", title, domain), x2=alt.X2("to:Q"))
        .transform_filter("isValid(datum.to)"),
        zero.encode(x=alt.X("zero:Q")),
        rows.mark_rule(strokeWidth=2)
        .encode(x=zoomed_axis("low", title, domain), x2=alt.X2("high:Q"), color=color)
        .transform_filter("isValid(datum.low) && isValid(datum.high)"),
        rows.mark_point(filled=True, size=80, opacity=1)
        .encode(x=zoomed_axis("difference", title, domain), color=color, shape=shape)
        .transform_filter("isValid(datum.difference)"),
    ]


def draw_differences(view: ResultView) -> ChartType:
    """Draw sorted per-query differences, the largest loss first, per metric and pair."""
    charts, notes = [], []
    rows_by_metric = group_items(view.rows, itemgetter("metric"))
    for metric, rows in rows_by_metric.items():
        group_labels = _group_labels(view, rows)
        titles = [
            ", ".join(
                [
                    f"{row['system']} minus {row['baseline']}",
                    *(f"{title}={labels[index]}" for title, labels in group_labels),
                ]
            )
            for index, row in enumerate(rows)
        ]
        pairs = group_items(zip(titles, rows, strict=True), itemgetter(0))
        for title, titled_rows in pairs.items():
            pair_rows = [row for _, row in titled_rows]
            chart, note = _draw_query_differences(view, metric, pair_rows, title)
            charts.append(chart)
            notes += [note] if note else []
    title = f"Differences of queries in {theme.join_names(list(rows_by_metric))}"
    notes = ["Bars: a query each, in the order of its difference.", *dict.fromkeys(notes)]
    return theme.with_caption(
        theme.concatenate_charts(charts or [_empty_layer()], titled=True), title, notes
    )


def _describe_tests(view: ResultView) -> str:
    """Return sentences on intervals and tests, empty for a comparison of rollups without them."""
    if "confidence" not in view.texts:
        return ""
    test, correction = (view.texts.get(name, "?") for name in ("test", "correction"))
    levels = [
        row["ci_level"]
        for row in view.rows
        if row.get("ci_level") is not None and row["ci_low"] is not None
    ]
    level = format_span(levels, "{:.4g}", 100) if levels else view.confidence
    by = f", corrected by {CORRECTION_NAMES[correction]}" if correction in CORRECTION_NAMES else ""
    return f" Lines: {level}% confidence intervals{by}. Test: {TEST_NAMES.get(test, test)}."


def _as_comparison(view: ResultView) -> ResultView:
    """Return the view of an experiment with the columns of a comparison, of lifts if it has them,
    and without the sample ratio, others unchanged.
    """
    if view.result_metadata.result != EXPERIMENT:
        return view
    rows = [
        {
            **row,
            "system": row["variant"],
            "baseline": row["control"],
            "value_baseline": row["value_control"],
        }
        for row in view.rows
        if row["variant"] is not None
    ]
    texts = {**view.texts, "test": view.texts.get("interval", "?")}
    if have_lifts(rows):  # as in tables
        texts["effect"] = "lift"
        lifts = ("relative_difference", *LIFT_LIMITS)
        effects = ("difference", CI_LOW, CI_HIGH)
        rows = [row | dict(zip(effects, map(row.get, lifts), strict=True)) for row in rows]
    return replace(view, rows=rows, texts=texts)


def _group_labels(view: ResultView, rows: Sequence[ResultRow]) -> list[tuple[str, list[str]]]:
    """Return the group labels of some rows, with their titles."""
    metric_view = type(view)(view.result_metadata, [dict(row) for row in rows], view.texts)
    dimensions, keys = metric_view.assign_dimensions(
        channels=[f"slice_{index}" for index in range(len(view.result_metadata.columns))]
    )
    return [(dimension.title, [key[dimension.field] for key in keys]) for dimension in dimensions]


def _label_verdict(row: ResultRow, view: ResultView) -> str:
    return label_comparison(
        row,
        view.result_metadata.measures[row["metric"]]["better"],
        float(view.texts.get("confidence", "nan")),
    )


def _empty_layer() -> Any:
    return alt.layer(alt.Chart(theme.inline_data([])).mark_point().encode(x=alt.X("x:Q")))


def _clear_rounding_error(value: Any) -> Any:
    """Return a number without errors of rounding."""
    return 0.0 if isinstance(value, float) and abs(value) < ROUNDING_ERROR else value


def _encode_verdicts(marks: Mapping[str, tuple[str, str, str]]) -> tuple[alt.Color, alt.Shape]:
    """Return the encodings of verdicts by color and shape, which captions explain."""
    colors, shapes, _ = zip(*marks.values(), strict=True)
    names = list(marks)
    return (
        alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=names, range=list(colors)),
            legend=None,
        ),
        alt.Shape(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=names, range=list(shapes)),
            legend=None,
        ),
    )


def _layer_forest(
    dimensions: Sequence[Dimension],
    effect: str,
    measure: str,
    domain: Sequence[float],
    marks: Mapping[str, tuple[str, str, str]],
) -> list[Any]:
    """Return layers of a line at 0, intervals, arrows where these exceed the axis, and points;
    ``marks`` are colors, shapes and signs of verdicts.
    """
    names = dimensions[0]
    title, form = f"{effect} of {measure}", "+.0%" if effect == "lift" else ""
    color, shape = _encode_verdicts(marks)
    base_chart = alt.Chart(
        width=theme.SIDE_PIXELS, height=theme.row_step(names, ROW_PIXELS)
    ).encode(
        y=theme.encode_rows(names),
        color=color,
        tooltip=theme.build_tooltips(
            [*dimensions],
            {
                **{name: name for name in _TOOLTIP_COLUMNS},
                "difference": effect,
                "verdict:N": "verdict",
            },
        ),
    )
    zero = (
        alt.Chart(theme.inline_data([{"zero": 0}]))
        .mark_rule(**theme.REFERENCE)
        .encode(x=alt.X("zero:Q"))
    )
    limits = base_chart.mark_rule(strokeWidth=2, clip=True).encode(
        x=zoomed_axis("ci_low", title, domain, form), x2=alt.X2("ci_high:Q")
    )
    point = base_chart.mark_point(filled=True, size=80, opacity=1).encode(
        x=zoomed_axis("difference", title, domain, form), shape=shape
    )
    arrows = [
        base_chart.mark_text(text=text, fontSize=theme.FONT_PIXELS, fontWeight="bold")
        .encode(x=theme.encode_position(place))
        .transform_filter(condition)
        for text, place, condition in (
            ("\u25c2", 0, f"isValid(datum.ci_low) && datum.ci_low < {domain[0]}"),
            ("\u25b8", "width", f"isValid(datum.ci_high) && datum.ci_high > {domain[1]}"),
        )
    ]
    return [
        zero,
        limits.transform_filter("isValid(datum.ci_low) && isValid(datum.ci_high)"),
        *arrows,
        point,
    ]


def _draw_query_differences(
    view: ResultView, metric: str, pair_rows: Sequence[ResultRow], title: str
) -> tuple[alt.Chart, str]:
    """Draw the sorted differences of one pair; return also a note if queries were sampled."""
    sign = -1 if view.result_metadata.measures[metric]["better"] == "lower" else 1
    outcomes = [
        WIN if row["difference"] * sign > 0 else LOSS if row["difference"] else TIE
        for row in pair_rows
    ]
    counts = ", ".join(f"{kind} {outcomes.count(kind):,}" for kind in (WIN, TIE, LOSS))
    ids = text_labels([row["query_id"] for row in pair_rows])
    rows = [
        {"x": index + 1, "query": ids[index], "kind": outcomes[index]}
        | {field: row[field] for field in ("value_baseline", "value", "difference")}
        for index, row in enumerate(pair_rows)
    ]
    note = ""
    if len(rows) > MAX_QUERIES_DRAWN:
        last = len(rows) - 1
        rows = [
            rows[round(index * last / (MAX_QUERIES_DRAWN - 1))]
            for index in range(MAX_QUERIES_DRAWN)
        ]
        note = (
            f"{MAX_QUERIES_DRAWN:,} queries are drawn, evenly spaced in their order. Wins, ties and"
            " losses count all queries."
        )
    color_scale = alt.Scale(
        domain=[WIN, TIE, LOSS],
        range=[VERDICT_MARKS[SYSTEM_BETTER][0], theme.GREY, VERDICT_MARKS[BASELINE_BETTER][0]],
    )
    values = {name: name for name in ("value_baseline", "value", "difference")}
    tooltip_titles = {**values, "x": "place", "query:N": "query"}
    chart = (
        alt.Chart(
            theme.inline_data(rows),
            width=theme.SIDE_PIXELS,
            height=theme.FACET_SIDE_PIXELS,
            title=theme.title_panel(title, counts),
        )
        .mark_bar()
        .encode(
            x=alt.X(
                "x:Q",
                title="queries, in order of their difference",
                axis=alt.Axis(tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0, len(pair_rows) + 1], nice=False),
            ),
            y=alt.Y(
                "difference:Q",
                title=f"difference of {metric}",
            ),
            color=alt.Color(
                "kind:N", title=None, scale=color_scale, legend=alt.Legend(orient="top")
            ),
            tooltip=theme.build_tooltips([], tooltip_titles),
        )
    )
    return chart, note
