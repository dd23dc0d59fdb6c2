"""Style and compose charts: inline data, colors, facets, tooltips, axis domains, concatenation and
captions.
"""

from __future__ import annotations

import json
import re
from itertools import product
from math import ceil, floor, log10, prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt
from altair.utils.schemapi import debug_mode

from sqlrank._version import __version__
from sqlrank.errors import InputError, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.result_view import Dimension

FONT_PIXELS = 11
"""Size of the smallest text of a chart, in pixels."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Color-blind safe colors (Okabe & Ito 2008), without the yellow that is unreadable on white."""

GREY = "#8C8C8C"
INK = "#333333"
REFERENCE: dict[str, Any] = {"color": GREY, "strokeDash": [4, 4], "strokeWidth": 1}
"""Style of reference lines."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""Dash patterns that distinguish lines of equal color, if there are more lines than colors."""

SIDE_PIXELS, FACET_SIDE_PIXELS = 320, 200
"""Side length in pixels, of a single chart and of a facet."""

PANEL_SCALE = 0.6
"""Factor of the size of plots in panels of a page."""

LABEL_CHAR_PIXELS = 6.5
"""Width of a digit in the labels of an axis, in pixels."""

FEWEST_TICKS = 3
"""Ticks of an axis around 0 whose steps are longer than its parts: 0 and both ends."""

MAX_TICK_POWER = 6
"""Power of 10 of steps between ticks beyond which labels have exponents."""

MAX_CHARTS = 100
"""Maximum number of concatenated charts or facets."""

MAX_ROWS = 50_000
"""Maximum number of points of a chart; 10,000 take about a second."""

MAX_NAMES = 3
"""Maximum number of metrics that a title names."""

CAPTION_LINE_CHARS = 68
"""Maximum characters per caption line, so that it is hardly wider than a plot."""

ROW_NAME_CHARS = 24
"""Maximum characters of a name beside its row in one line."""

MAX_ROW_NAME_CHARS = 144
"""Maximum characters of a name beside its row in several lines: two names of systems."""

PANEL_TITLE_CHARS = 42
"""Maximum characters of a line above a plot, which fits a phone."""

AXIS_TITLE_CHARS = 46
"""Maximum characters of an axis title in one line."""

LEGEND_LINE_CHARS = 36
"""Maximum characters of the names in one line of a legend; those of more have a line each."""

LEGEND: dict[str, Any] = {
    "orient": "top",
    "symbolDirection": "vertical",
    "gradientDirection": "horizontal",
    "labelLimit": 300,
}
"""Style of legends, above the plot, since phones are narrow."""


class SharedData(alt.InlineData):
    """Rows of a chart, which its copies share: Altair copies a chart with all of its rows when it
    layers, facets or configures it.
    """

    def __deepcopy__(self, memo: Any) -> SharedData:
        return self


def inline_data(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Return rows as inline data of a chart; raise ``InputError`` above ``MAX_ROWS``."""
    values = list(rows)
    if len(values) > MAX_ROWS:
        raise InputError(
            f"{len(values):,} points are too many for a chart, which has at most {MAX_ROWS:,}. Give"
            " fewer of each curve, as in ROC(points=1000), or keep fewer rows, such as by where="
        )
    # Skip Altair's schema validation, which takes a millisecond per row.
    with debug_mode(False):  # noqa: FBT003  Altair's flag
        return SharedData(values=values)


def find_row_title(title: str) -> str | None:
    """Return the title of an axis with a row per name, None for names of systems, which need none.

    >>> find_row_title("campaign"), find_row_title("system")
    ('campaign', None)
    """
    return None if title in {"system", "score", "variant"} else title


def have_own_colors(dimension: Dimension) -> bool:
    """Return True for systems, unless there are more than colors."""
    return find_row_title(dimension.title) is None and len(dimension.labels) <= len(PALETTE)


def break_name(name: str, max_chars: int) -> list[str]:
    """Return the lines of a name, which ends a line between its words, and cuts only long ones.

    >>> break_name("reranker_distilled_2026_week_41", 20), break_name("abcdefgh", 5)
    (['reranker_distilled_', '2026_week_41'], ['abcdef', 'gh'])
    """
    lines = [""]
    longest = max_chars * 5 // 4
    word_with_end = rf"[^\s_]{{0,{longest}}}?(?:[\s_]+|-(?=[A-Za-z]))|[^\s_]{{1,{longest}}}"
    for word in re.findall(word_with_end, name):
        if len(f"{lines[-1]}{word}".strip()) > max_chars:
            lines.append("")
        lines[-1] += word
    return [line.strip() for line in lines if line.strip()] or [name]


def _break_names(dimension: Dimension) -> dict[str, list[str]]:
    """Return the lines of each name that does not fit into one."""
    lines = {
        label: break_name(label, ROW_NAME_CHARS)
        for label in dimension.labels
        if ROW_NAME_CHARS < len(label) <= MAX_ROW_NAME_CHARS
    }
    return {label: texts for label, texts in lines.items() if len(texts) > 1}


def row_step(dimension: Dimension, least: int) -> alt.Step:
    """Return the height of rows, in which their names fit."""
    num_lines = max(map(len, _break_names(dimension).values()), default=1)
    return alt.Step(max(least, num_lines * (FONT_PIXELS + 2) + 4))


def encode_rows(dimension: Dimension) -> alt.Y:
    """Return the encoding of rows with a name each: their title stands above the names, since few
    rows are lower than it is wide, and a long name has several lines, since phones are narrow.
    """
    lines = _break_names(dimension)
    looked_up = f"{json.dumps(lines)}[datum.label]"
    raised = {"expr": f"-{FONT_PIXELS / 2} * (length({looked_up} || [0]) - 1)"}
    broken: dict[str, Any] = (
        {"labelExpr": f"{looked_up} || datum.label", "labelOffset": raised} if lines else {}
    )
    axis = alt.Axis(titleAngle=0, titleAlign="right", titleX=-5, titleY=-7, **broken)
    title = find_row_title(dimension.title)
    return alt.Y(f"{dimension.field}:N", sort=list(dimension.labels), title=title, axis=axis)


def break_title(title: str) -> str | list[str]:
    """Return the title of an axis, a long one with its unit and direction in a second line.

    >>> break_title("difference of NormalizedEntropy (lower is better)")
    ['difference of NormalizedEntropy', '(lower is better)']
    """
    name, opening, notes = title.partition(" (")
    return [name, f"({notes}"] if opening and len(title) > AXIS_TITLE_CHARS else title


def title_panel(name: str, counts: str = "") -> alt.Title:
    """Return the title of one of several plots, in several lines if it is long."""
    title = f"{name}: {counts}" if counts else name
    is_short = len(title) <= PANEL_TITLE_CHARS
    lines = [title] if is_short else [*break_name(name, PANEL_TITLE_CHARS), counts]
    return alt.Title([*filter(None, lines)], anchor="start", fontSize=FONT_PIXELS + 1)


def choose_colors(labels: Sequence[str], baseline: str) -> list[str]:
    """Return a color for each label, grey for the baseline; colors repeat after seven.

    Colors follow the order of names, so that a system has one color in every chart, whatever the
    order of its rows.

    >>> choose_colors(["b", "bm25", "a"], "bm25")
    ['#D55E00', '#8C8C8C', '#0072B2']
    """
    other_labels = sorted(label for label in labels if label != baseline)
    return [
        GREY if label == baseline else PALETTE[other_labels.index(label) % len(PALETTE)]
        for label in labels
    ]


def fixed_color(color: str) -> alt.ColorValue:
    """Return the encoding of a color that no data decide; Altair takes milliseconds to find the
    class of ``alt.value``.
    """
    return alt.ColorValue(color)


def encode_position(place: float | str) -> alt.XValue:
    """Return the encoding of a horizontal position that no data decide, in pixels or as
    ``width``.
    """
    return alt.XValue(place)  # type: ignore[no-untyped-call]


def color_encoding(
    dimensions: Sequence[Dimension], *, is_line: bool = False, is_named: bool = True
) -> dict[str, Any]:
    """Return the color encoding of the first dimension, with dashes for lines once colors repeat.

    Without a legend (``is_named=False``), labels are also identified by position; they share one
    color if they are groups, or too many.
    """
    dimension = next((dimension for dimension in dimensions if dimension.field == "colour"), None)
    if dimension is None:
        return {"color": fixed_color(PALETTE[0])}
    labels = list(dimension.labels)
    if not is_named and not have_own_colors(dimension):
        return {"color": fixed_color(PALETTE[0])}
    stroke: dict[str, Any] = (
        {"symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 250} if is_line else {}
    )
    texts = json.dumps(dict(dimension.texts))
    if dimension.texts:
        stroke |= {"labelExpr": f"{texts}[datum.label] || datum.label"}
    if dimension.texts or sum(map(len, labels)) > LEGEND_LINE_CHARS:
        stroke |= {"columns": 1}
    legend = (
        alt.Legend(title=dimension.title, symbolLimit=0, symbolOpacity=1, **stroke)
        if is_named
        else None
    )
    encoding: dict[str, Any] = {
        "color": alt.Color(
            "colour:N",
            scale=alt.Scale(domain=labels, range=choose_colors(labels, dimension.baseline)),
            legend=legend,
        )
    }
    if is_line and len(labels) > len(PALETTE):
        rank_by_label = {label: rank for rank, label in enumerate(sorted(labels))}
        dashes = [DASHES[rank_by_label[label] // len(PALETTE) % len(DASHES)] for label in labels]
        encoding["strokeDash"] = alt.StrokeDash(
            "colour:N", scale=alt.Scale(domain=labels, range=dashes), legend=legend
        )
    return encoding


def check_charts(count: int) -> None:
    """Raise ``InputError`` for too many concatenated charts."""
    if count > MAX_CHARTS:
        raise InputError(
            f"these are {count:,} charts side by side, and at most {MAX_CHARTS} are drawn. Keep"
            " fewer rows, such as by where="
        )


def layer_facets(
    layers: Sequence[Any], rows: Iterable[Mapping[str, Any]], dimensions: Sequence[Dimension]
) -> Any:
    """Layer charts of rows, and facet them by the dimensions of columns and rows."""
    facets = {dimension.field: dimension for dimension in dimensions}
    channels: dict[str, Any] = {}
    if (dimension := facets.get("column")) is not None:
        channels["column"] = alt.Column(
            "column:N",
            title=dimension.title,
            sort=list(dimension.labels),
            header=alt.Header(labelLimit=300),
        )
    if (dimension := facets.get("row")) is not None:  # named above, since phones are narrow
        # Below the labels of columns, Vega would write the title over the first label.
        named: dict[str, Any] = {
            "title": dimension.title,
            "titleOrient": "top",
            "titleAnchor": "start",
        }
        if "column" in channels:
            name = json.dumps(f"{dimension.title}: ")
            named = {"title": None, "labelExpr": f"{name} + (datum.label)"}
        elif lines := {
            label: break_name(label, PANEL_TITLE_CHARS)
            for label in dimension.labels
            if len(label) > PANEL_TITLE_CHARS
        }:
            named["labelExpr"] = f"{json.dumps(lines)}[datum.label] || (datum.label)"
        header = alt.Header(labelLimit=300, labelOrient="top", labelAnchor="start", **named)
        channels["row"] = alt.Row("row:N", sort=list(dimension.labels), header=header)
    check_charts(prod(len(facets[field].labels) for field in channels))
    chart = alt.layer(*layers, data=inline_data(rows))
    return chart.facet(**channels) if channels else chart


def side_length(dimensions: Sequence[Dimension]) -> int:
    """Return the side length of a chart, smaller if it has facets."""
    return (
        FACET_SIDE_PIXELS
        if any(dimension.field in {"column", "row"} for dimension in dimensions)
        else SIDE_PIXELS
    )


def build_tooltips(
    dimensions: Sequence[Dimension], titles_by_field: Mapping[str, str]
) -> list[alt.Tooltip]:
    """Build the tooltip: dimensions first, then numeric fields with their titles.

    A field name may carry its own Vega-Lite type suffix.
    """
    fields = {f"{dimension.field}:N": dimension.title for dimension in dimensions} | {
        field if ":" in field else f"{field}:Q": titles_by_field[field] for field in titles_by_field
    }
    # Titles become keys; Vega reads these two as a heading and as an image URL, which it would
    # fetch.
    taken = {"title", "image"}
    entries = []
    for field, title in fields.items():
        unique = title
        while unique in taken:
            unique += " "
        taken.add(unique)
        entries.append(
            alt.Tooltip(field, title=unique, format=".5~g")
            if field.endswith(":Q")
            else alt.Tooltip(field, title=unique)
        )
    return entries


def constant_domain(values: Iterable[float | None]) -> dict[str, Any]:
    """Return an explicit axis domain if all values are equal.

    Vega would otherwise round the tick labels. Returns an empty dict for different values.

    >>> constant_domain([0.5, None, 0.5]), constant_domain([0.0]), constant_domain([1.0, 2.0])
    ({'domain': [0.45, 0.55]}, {'domain': [0.0, 1.0]}, {})
    """
    distinct_values = {value for value in values if value is not None}
    if len(distinct_values) != 1:
        return {}
    (constant,) = distinct_values
    return {
        "domain": (
            [constant - abs(constant) / 10, constant + abs(constant) / 10]
            if constant
            else [0.0, 1.0]
        )
    }


def choose_ticks(
    domain: Sequence[float], *, is_percentage: bool = False
) -> tuple[list[float], str]:
    """Return ticks from below to above both ends of an axis around 0, which is one of them, and the
    format of their labels, which all fit: of labels that do not, Vega writes each second one,
    whether or not 0 is among these.

    >>> choose_ticks([-0.1, 0.47]), choose_ticks([-0.002, 0.001], is_percentage=True)
    (([-0.2, 0.0, 0.2, 0.4, 0.6], ',.1f'), ([-0.002, -0.001, 0.0, 0.001], '+,.1%'))
    """
    power = floor(log10(domain[1] - domain[0]))
    steps = product((power - 1, power, power + 1), (1, 2, 5))
    candidates = [_place_ticks(domain, *step, is_percentage=is_percentage) for step in steps]
    # The first label starts at the end of the axis, others have their middle at the tick.
    return next(
        (ticks, form)
        for ticks, form, label_chars in candidates
        if len(ticks) <= FEWEST_TICKS
        or (len(ticks) - 1) * (1.5 * label_chars * LABEL_CHAR_PIXELS + 4)
        <= SIDE_PIXELS * PANEL_SCALE
    )


def _place_ticks(
    domain: Sequence[float], power: int, digit: int, *, is_percentage: bool
) -> tuple[list[float], str, int]:
    """Return ticks at multiples of ``digit`` times a power of 10, the format of their labels, and
    the characters of the longest one.
    """
    step = float(f"{digit}e{power}")
    # An end that is a tick but for rounding is one.
    numbers = range(floor(domain[0] / step + 1e-9), ceil(domain[1] / step - 1e-9) + 1)
    ticks = [float(f"{number * step:.12g}") for number in numbers]
    decimals = max(0, -power - 2 * is_percentage)
    form = f"+,.{decimals}%" if is_percentage else f",.{decimals}f"
    label_chars = max(len(format(tick, form)) for tick in ticks)
    return ticks, form if abs(power) <= MAX_TICK_POWER else "~g", label_chars


def count_fields(counts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return counts under internal field names, and the titles of these fields."""
    return {f"count_{index}": value for index, value in enumerate(counts.values())}, {
        f"count_{index}": title for index, title in enumerate(counts)
    }


def concatenate_charts(charts: Sequence[Any], columns: int = 2, *, titled: bool = False) -> Any:
    """Concatenate charts; a single chart without a title is returned unchanged."""
    check_charts(len(charts))
    return charts[0] if len(charts) == 1 and not titled else alt.concat(*charts, columns=columns)


def with_caption(
    chart: Any, title: str, notes: Sequence[str], description: str | None = None
) -> ChartType:
    """Add the title, the notes on how to read the chart below it, its description for screen
    readers, the axis configuration and the mark of sqlrank.
    """
    lines = [""]
    for note in notes:
        if len(f"{lines[-1]} {note}") <= CAPTION_LINE_CHARS:
            lines[-1] = f"{lines[-1]} {note}".strip()
        else:
            lines += wrap(note, CAPTION_LINE_CHARS)
    heading: Any = alt.Title(
        title,
        subtitle=list(filter(None, lines)),
        anchor="start",
        fontSize=14,
        subtitleFontSize=FONT_PIXELS,
        subtitleColor="#555555",
        offset=12,
    )
    sizes: dict[str, Any] = {"labelFontSize": FONT_PIXELS, "titleFontSize": FONT_PIXELS}
    # Each of Altair's methods configure_... would copy the chart.
    done = chart.copy(deep=False)
    done.usermeta, done.title = {"sqlrank": __version__}, heading
    if description is not None:
        done.description = description
    done.config = alt.Config(
        # Vega limits the distance of titles to 200 pixels by default, where long labels would
        # overlap them.
        axis=alt.AxisConfig(
            labelLimit=300,
            labelSeparation=4,
            labelFlush=False,
            titleLimit=600,
            maxExtent=400,
            **sizes,
        ),
        legend=alt.LegendConfig(**sizes, **LEGEND),
        header=alt.HeaderConfig(**sizes),
        view=alt.ViewConfig(strokeOpacity=0),
    )
    return done  # type: ignore[no-any-return]


def join_names(names: Sequence[str]) -> str:
    """Return names in words, at most ``MAX_NAMES`` of them.

    >>> join_names(["AUC", "Brier", "KS", "LogLoss", "AP"])
    'AUC, Brier, KS and 2 more'
    """
    first_names = [
        *names[:MAX_NAMES],
        *([f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []),
    ]
    return join_words(first_names)
