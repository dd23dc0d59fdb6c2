"""Draw metrics (dots with intervals, lines over cut-offs or days, heat maps) and confusion
matrices.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.result_view import (
    Dimension,
    ResultView,
    assign_channels,
    text_labels,
    vega_timestamp,
)
from sqlrank.errors import to_plural
from sqlrank.output.display import group_items
from sqlrank.result_columns import BOUND_HIGH, BOUND_LOW, CI_HIGH, CI_LOW, N_BUCKETS, N_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType


MAX_DAY_TICKS = 6
"""Approximate number of labels on a date axis."""

MAX_CUTOFF_TICKS = 10
"""Maximum number of cut-offs that are all labeled on their axis."""

ROW_PIXELS = 24
"""Height of a row, in pixels."""

CELL_PIXELS, MIN_CELL_PIXELS, MAX_WIDE_CELLS = 60, 30, 4
"""Widths of a cell of a heat map, and the number of the larger ones that fit a phone."""

PLACE_PIXELS = 14
"""Height of the place of a system in the row of a group, in pixels."""

PADDING = 0.08
"""Part of the width of the data that an axis adds on each side."""

_CUTOFF_RANGE = re.compile(r"@\d+\.\.\d+")

DARK_SHARE = 0.68
"""Relative position in the value range above which heat map labels are white."""

HAS_VALUE = "isValid(datum.y)"
HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"


def draw_dots(view: ResultView) -> ChartType:
    """Draw a dot for each row and metric, with its interval; facets go down before across. Of a few
    systems in groups, each group is a row with a dot per system.
    """
    dimensions, keys = view.assign_dimensions(channels=("colour", "row", "column"))
    if len(dimensions) > 1 and theme.have_own_colors(dimensions[0]):
        dimensions, keys = view.assign_dimensions(channels=("colour", "name", "row"))
    charts, notes = [], _list_captions(view, "Lines")
    for name in view.drawn_metrics:
        rows, titles = _list_values(view, keys, name)
        domain = zoomed_domain(
            [row.get(field) for row in rows for field in ("y", "low", "high")],
            view.find_range(name),
        )
        reference = view.find_reference(name)
        if reference is not None and domain[0] <= reference[0] <= domain[1]:
            notes.append(f"Dashed line of {name}: {reference[0]:g}, {reference[1]}.")
        layers = _dot_layers(
            dimensions,
            view.format_title(name),
            titles,
            domain,
            None if reference is None else reference[0],
        )
        charts.append(theme.layer_facets(layers, rows, dimensions))
    by = (
        f" by {theme.join_names([dimension.title for dimension in dimensions])}"
        if dimensions
        else ""
    )
    return theme.with_caption(
        theme.concatenate_charts(charts, 1),
        f"{theme.join_names(view.drawn_metrics)}{by}",
        notes,
    )


def zoomed_domain(
    values: Sequence[float | None], bounds: tuple[float, float] | None
) -> list[float]:
    """Return the ends of an axis around values, within the bounds of a metric.

    >>> zoomed_domain([0.6, 0.7, None], (0.0, 1.0)), zoomed_domain([0.95, 1.0], (0.0, 1.0))
    ([0.592, 0.708], [0.946, 1.0])
    """
    defined = [value for value in values if value is not None]
    low, high = min(defined, default=0.0), max(defined, default=1.0)
    margin = PADDING * (high - low) or PADDING * abs(high) or 1.0
    domain = [low - margin, high + margin]
    if bounds is not None:
        domain = [max(domain[0], min(bounds[0], low)), min(domain[1], max(bounds[1], high))]
    return [float(f"{end:.6g}") for end in domain]


def draw_cutoffs(view: ResultView) -> ChartType:
    """Draw metrics over a range of cut-offs, to the last that changes a value: of those beyond all
    lists, none does.
    """
    column = view.columns_of_kind("cutoff")[0]
    rows = group_items(view.rows, itemgetter(column))
    values = {cutoff: [row | {column: None} for row in rows[cutoff]] for cutoff in sorted(rows)}
    changing = [cutoff for cutoff in values if values[cutoff] != values.get(cutoff - 1)]
    drawn = [cutoff for cutoff in values if cutoff <= changing[-1]]
    notes = []
    if 1 < len(drawn) < len(values):
        view = replace(view, rows=[row for row in view.rows if row[column] <= drawn[-1]])
        notes = [f"Beyond {drawn[-1]}, no value changes."]
    else:
        drawn = list(values)
    is_labeled = len(drawn) <= MAX_CUTOFF_TICKS
    axis = alt.Axis(values=drawn, format="d") if is_labeled else alt.Axis(tickMinStep=1, format="d")
    positions = [row[column] for row in view.rows]
    return _draw_lines(view, positions, "cut-off k (rank)", axis, (), notes)


def draw_time_series(view: ResultView) -> ChartType:
    """Draw metrics over a date column."""
    day = str(view.date_column)
    moments = [vega_timestamp(row[day]) for row in view.rows]
    return _draw_lines(view, moments, *_build_time_axis(day, moments), (day,))


def _build_time_axis(day: str, moments: Sequence[str]) -> tuple[str, alt.Axis]:
    """Return the title of a time axis and the axis, with labels of days if all times are midnight;
    the title has the year that all days share.
    """
    if any(not text.endswith("T00:00:00") for text in moments):
        return day, alt.Axis(labelAngle=-40)
    days = [date.fromisoformat(text[:10]) for text in moments]
    first, last = min(days, default=date.min), max(days, default=date.min)
    step = max(1, round((last - first).days / MAX_DAY_TICKS))
    # Ticks at every so many days of a month would stand close together at its end.
    ticks = [first + timedelta(place) for place in range(0, (last - first).days + 1, step)]
    values = [alt.DateTime(year=tick.year, month=tick.month, date=tick.day) for tick in ticks]
    if first.year != last.year:
        return day, alt.Axis(format="%Y-%m-%d", labelAngle=-40, values=values)
    return f"{day} ({first.year})", alt.Axis(format="%-d %b", values=values)


def draw_heatmap(view: ResultView) -> ChartType:
    """Draw a metric by two columns, the first across; further columns become facets."""
    dimensions, keys = view.assign_dimensions(channels=("across", "down", "column", "row"))
    charts, units = [], set()
    for name in view.drawn_metrics:
        rows, titles = _list_values(view, keys, name)
        count = next((field for field in titles if titles[field] in {"n", N_UNITS}), None)
        if count is not None and any(row[count] is None for row in rows):
            count = None
        if count is not None:
            units |= {"row" if titles[count] == "n" else view.unit}
        layers = layer_cells(
            dimensions,
            view.format_title(name),
            titles,
            theme.constant_domain(row["y"] for row in rows),
            count=count,
        )
        charts.append(theme.layer_facets(layers, add_text_colors(rows), dimensions))
    across, down = (dimension.title for dimension in dimensions[:2])
    title = f"{theme.join_names(view.drawn_metrics)} by {across} and {down}"
    return theme.with_caption(
        theme.concatenate_charts(charts).resolve_scale(color="independent"),
        title,
        [f"n: the number of {to_plural(unit)}." for unit in units],
    )


def _list_values(
    view: ResultView, keys: Sequence[Mapping[str, str]], name: str
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a metric by row with interval or bounds and counts, and the field titles."""
    fields = band_fields(view, name)
    rows = []
    counts: dict[str, str] = {}
    for key, row in zip(keys, view.rows, strict=True):
        count_values, counts = theme.count_fields(view.list_counts(row))
        limits = {field: row[f"{name}.{end}"] for field, end in fields.items()}
        rows.append({**key, "y": row[name], **limits, **count_values})
    return rows, {"y": name} | fields | counts


def band_fields(view: ResultView, name: str) -> dict[str, str]:
    """Return the fields of a metric's interval or bounds, by the suffix of their columns."""
    columns = view.result_metadata.columns
    if f"{name}.{CI_LOW}" in columns:
        count = N_UNITS if f"{name}.{N_UNITS}" in columns else N_BUCKETS
        return {"low": CI_LOW, "high": CI_HIGH, count: count}
    return {"low": BOUND_LOW, "high": BOUND_HIGH} if f"{name}.{BOUND_LOW}" in columns else {}


def _list_captions(view: ResultView, marks: str) -> list[str]:
    """Return captions on intervals or bounds, and on the days of rolling windows."""
    window_days = view.texts.get("window_days")
    days = (
        [f"Each point: {f'the {window_days} days up to it' if window_days != '1' else 'one day'}."]
        if window_days and marks == "Bands"
        else []
    )
    if marks and view.columns_of_kind(CI_LOW):
        return [
            f"{marks}: {view.confidence}% confidence intervals.",
            *days,
        ]
    if marks and view.columns_of_kind(BOUND_LOW):
        return [f"{marks}: bounds over all orders of rows within score bins.", *days]
    return days


def zoomed_axis(field: str, title: str, domain: Sequence[float], form: str = "") -> alt.X:
    """Return the horizontal axis of a field with these ends, moved outward to ticks."""
    scale = alt.Scale(domain=list(domain), nice=5)
    options: dict[str, Any] = {"tickCount": 5, "format": form or alt.Undefined}
    if domain[0] < 0 < domain[1]:
        ticks, tick_form = theme.choose_ticks(domain, is_percentage="%" in form)
        scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False)
        options = {"tickCount": len(ticks), "values": ticks, "format": tick_form}
    # The first and last label end where the axis does: beyond it they would be cut.
    axis = alt.Axis(labelFlush=True, **options)
    return alt.X(f"{field}:Q", title=theme.break_title(title), scale=scale, axis=axis)


def _lay_out_rows(dimensions: Sequence[Dimension]) -> alt.Chart:
    """Return a chart with a row per label, or per group with a place for each system."""
    if not dimensions:
        chart = alt.Chart(width=theme.SIDE_PIXELS, height=ROW_PIXELS)
        return chart.encode(y=alt.Y(value=ROW_PIXELS / 2), **theme.color_encoding(dimensions))
    is_grouped = any(dimension.field == "name" for dimension in dimensions)
    named = dimensions[is_grouped]
    labels = list(dimensions[0].labels)
    offset: dict[str, Any] = {"yOffset": alt.YOffset("colour:N", sort=labels)} if is_grouped else {}
    step = (
        alt.Step(PLACE_PIXELS, **{"for": "offset"})
        if is_grouped
        else theme.row_step(named, ROW_PIXELS)
    )
    return alt.Chart(width=theme.SIDE_PIXELS, height=step).encode(
        y=theme.encode_rows(named),
        **offset,
        **theme.color_encoding(dimensions, is_named=is_grouped),
    )


def _dot_layers(
    dimensions: Sequence[Dimension],
    title: str,
    titles: Mapping[str, str],
    domain: Sequence[float],
    reference: float | None,
) -> list[alt.Chart]:
    """Return layers of a reference line, intervals, dots, and NULL labels for undefined metrics."""
    base_chart = _lay_out_rows(dimensions).encode(tooltip=theme.build_tooltips(dimensions, titles))
    line = (
        alt.Chart(theme.inline_data([{"reference": reference}]))
        .mark_rule(**theme.REFERENCE)
        .encode(x=zoomed_axis("reference", title, domain))
    )
    limits = (
        base_chart.mark_rule(strokeWidth=2)
        .encode(x=zoomed_axis("low", title, domain), x2=alt.X2("high:Q"))
        .transform_filter(HAS_INTERVAL)
    )
    dot = (
        base_chart.mark_point(filled=True, size=70, opacity=1)
        .encode(x=zoomed_axis("y", title, domain))
        .transform_filter(HAS_VALUE)
    )
    undefined = base_chart.mark_text(text="NULL", align="left", dx=4).encode(
        x=theme.encode_position(0), color=theme.fixed_color(theme.GREY)
    )
    is_drawn = reference is not None and domain[0] <= reference <= domain[1]
    layers = [*([line] if is_drawn else []), *([limits] if "low" in titles else []), dot]
    return [*layers, undefined.transform_filter(f"!({HAS_VALUE})")]


def _draw_lines(
    view: ResultView,
    positions: Sequence[Any],
    title: str,
    axis: alt.Axis,
    leave_out: Sequence[str],
    notes: Sequence[str] = (),
) -> ChartType:
    """Draw metrics as lines over axis positions, with bands of their intervals."""
    dimensions, keys = view.assign_dimensions(leave_out)
    size = theme.side_length(dimensions)
    type_suffix = ":T" if leave_out else ":Q"
    charts = []
    for name in view.drawn_metrics:
        values, titles = _list_values(view, keys, name)
        rows = [row | {"x": position} for row, position in zip(values, positions, strict=True)]
        domain = theme.constant_domain(
            row[field] for row in rows for field in ("y", "low", "high") if field in row
        )
        y_title = _name_range(view.format_title(name))
        base_chart = alt.Chart(width=size, height=size * 2 // 3 if leave_out else size).encode(
            x=alt.X(f"x{type_suffix}", title=title, axis=axis)
        )
        tooltip = theme.build_tooltips(dimensions, {f"x{type_suffix}": title, **titles})
        line = base_chart.mark_line(
            point=alt.OverlayMarkDef(size=20), strokeWidth=1.5, invalid="break-paths-show-domains"
        ).encode(
            y=alt.Y("y:Q", title=y_title, scale=alt.Scale(zero=False, **domain)),
            tooltip=tooltip,
            **theme.color_encoding(dimensions, is_line=True),
        )
        band = base_chart.mark_area(opacity=0.15).encode(
            y=alt.Y("low:Q", title=y_title),
            y2=alt.Y2("high:Q"),
            **theme.color_encoding(dimensions),
        )
        layers = [band.transform_filter(HAS_INTERVAL), line] if "low" in titles else [line]
        charts.append(theme.layer_facets(layers, rows, dimensions))
    names = theme.join_names(list(map(_name_range, view.drawn_metrics)))
    return theme.with_caption(
        theme.concatenate_charts(charts),
        f"{names} over {title.partition(' (')[0]}",
        [*_list_captions(view, "Bands"), *notes],
    )


def _name_range(name: str) -> str:
    """Return the name of a metric with ``k`` for the range of its cut-offs.

    >>> _name_range("nDCG@1..20 (0 to 1)"), _name_range("AUC")
    ('nDCG@k (0 to 1)', 'AUC')
    """
    return _CUTOFF_RANGE.sub("@k", name)


def add_text_colors(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the text color that is readable on each row's cell."""
    values = [row["y"] for row in rows if row["y"] is not None]
    dark_threshold = min(values) + (max(values) - min(values)) * DARK_SHARE if values else 0
    return [
        row | {"ink": "white" if row["y"] is not None and row["y"] > dark_threshold else "black"}
        for row in rows
    ]


def layer_cells(
    dimensions: Sequence[Dimension],
    title: str,
    titles: Mapping[str, str],
    domain: Mapping[str, Any],
    number: alt.Text | None = None,
    count: str | None = None,
    cell_pixels: int = CELL_PIXELS,
) -> list[alt.Chart]:
    """Return layers of heat map cells with their numbers, by default the values, below them the
    counts of a field, and NULL labels for undefined ones.
    """
    across, down = dimensions[:2]
    height = ROW_PIXELS + (4 if count is None else 16)
    base_chart = alt.Chart(width=alt.Step(cell_pixels), height=alt.Step(height)).encode(
        x=alt.X(
            "across:N",
            title=across.title,
            sort=list(across.labels),
            scale=alt.Scale(domain=list(across.labels)),
            # A character takes 7 pixels
            axis=alt.Axis(
                labelAngle=-40 * any(7 * len(label) > cell_pixels for label in across.labels)
            ),
        ),
        y=alt.Y(
            "down:N",
            title=down.title,
            sort=list(down.labels),
            scale=alt.Scale(domain=list(down.labels)),
        ),
        tooltip=theme.build_tooltips(dimensions, titles),
    )
    color = alt.Color(
        "y:Q",
        title=title,
        scale=alt.Scale(scheme="blues", zero=False, nice=False, **domain),
        legend=alt.Legend(titleLimit=300),
    )
    square = base_chart.mark_rect().encode(color=color).transform_filter(HAS_VALUE)
    # Use two layers, because Vega-Lite cannot draw a color without a scale in a facet.
    lines = [(number or alt.Text("y:Q", format=".3~g"), 0 if count is None else -7)]
    if count is not None:
        form = f"'n ' + format(datum.{count}, datum.{count} < 1e6 ? ',' : '.3~s')"
        base_chart = base_chart.transform_calculate(size=form)
        lines.append((alt.Text("size:N"), 7))
    numbers = [
        base_chart.mark_text(fontSize=theme.FONT_PIXELS, color=ink, dy=dy)
        .encode(text=text)
        .transform_filter(f"{HAS_VALUE} && datum.ink === '{ink}'")
        for text, dy in lines
        for ink in ("black", "white")
    ]
    undefined = base_chart.mark_text(
        fontSize=theme.FONT_PIXELS, text="NULL", color=theme.GREY
    ).transform_filter(f"!({HAS_VALUE})")
    return [square, *numbers, undefined]


CONFUSION_CURVE = "MulticlassConfusionMatrix"


def draw_confusion(view: ResultView) -> ChartType:
    """Draw a square with its weight for each pair of classes, and color it by its share of the
    observed class. Each group has a plot of its own, which fits a phone; those of several columns
    become facets.
    """
    sides = {name: text_labels([row[name] for row in view.rows]) for name in ("predicted", "label")}
    groups = [
        (name, text_labels([row[name] for row in view.rows]))
        for name in [*view.columns_of_kind("by"), *view.columns_of_kind("slice")]
    ]
    titled_labels = [
        ("predicted class", sides["predicted"]),
        ("observed class", sides["label"]),
        *groups,
    ]
    dimensions, keys = assign_channels(
        titled_labels, ("across", "down", "column", "row"), len(view.rows)
    )
    classes = dimensions[
        1
    ].labels  # both axes have the order of the observed classes, also if the first group lacks some
    dimensions = [replace(dimensions[0], labels=classes), *dimensions[1:]]
    rows = [
        {**key, "y": row["portion"] or 0.0, "weight": row["weight"], "portion": row["portion"]}
        for key, row in zip(keys, view.rows, strict=True)
    ]
    longest = max((len(f"{row['weight']:,.6g}") for row in rows), default=1)
    layers = layer_cells(
        dimensions,
        "share of the observed class",
        {"weight": "weight", "portion": "share of the observed class"},
        {"domain": [0, 1]},
        alt.Text("weight:Q", format=",.6~r"),
        cell_pixels=CELL_PIXELS
        if len(classes) <= MAX_WIDE_CELLS
        else max(MIN_CELL_PIXELS, 7 * longest + 8),
    )
    by = f" by {theme.join_names([name for name, _ in groups])}" if groups else ""
    notes = [
        "Numbers: weight of the predictions, without weights their number. The diagonal is right."
    ]
    rows = add_text_colors(rows)
    if len(groups) != 1:
        return theme.with_caption(
            theme.layer_facets(layers, rows, dimensions), f"Confusion matrix{by}", notes
        )
    theme.check_charts(len(dimensions[2].labels))
    charts = [
        alt.layer(
            *layers,
            data=theme.inline_data(row for row in rows if row["column"] == label),
            title=theme.title_panel(label),
        )
        for label in dimensions[2].labels
    ]
    return theme.with_caption(
        theme.concatenate_charts(charts, titled=True), f"Confusion matrix{by}", notes
    )
