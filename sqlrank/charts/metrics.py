"""Charts of metrics: bars with intervals, over cut-offs, over days, and heat maps."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import looks
from sqlrank.charts.given import moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.given import Dimension, Given

DAYS = 10
"""About how many days an axis names."""

FEW = 10
"""How many cut-offs are all written on their axis, which names what is between them otherwise."""

ROW = 24
"""Pixels of a bar with its margin."""

DARK = 0.68
"""From where on the way from the least to the greatest value white stands out better than black on the blues of a heat map."""

IS_THERE = "isValid(datum.y)"
HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"


def bars(given: Given) -> ChartType:
    """Return a bar for each row and metric, with its interval; bars are wide and flat, so that facets go down first."""
    dimensions, keys = given.dimensions(places=("colour", "row", "column"))
    charts = []
    for name in given.measures:
        rows, titles = _values(given, keys, name)
        charts.append(looks.facets(alt.layer(*_barred(dimensions, given.title(name), titles), data=looks.data(rows)), dimensions))
    return looks.finished(looks.concatenated(charts), _notes(given, "Lines"))


def cutoffs(given: Given) -> ChartType:
    """Return metrics over a range of cut-offs."""
    column = given.named("cutoff")[0]
    places = [row[column] for row in given.rows]
    few = sorted(set(places)) if len(set(places)) <= FEW else []
    return _over(given, places, "cut-off (rank)", alt.Axis(values=few, format="d") if few else alt.Axis(tickMinStep=1, format="d"), ())


def line(given: Given) -> ChartType:
    """Return metrics over a column of dates."""
    day = str(given.days)
    moments = [moment(row[day]) for row in given.rows]
    return _over(given, moments, day, _ticks(moments), (day,))


def _ticks(moments: Sequence[str]) -> alt.Axis:
    """Return an axis of time: of days alone, if there is nothing finer."""
    if any(not text.endswith("T00:00:00") for text in moments):
        return alt.Axis(labelAngle=-40)
    days = [date.fromisoformat(text[:10]).toordinal() for text in moments]
    step = max(1, round((max(days, default=0) - min(days, default=0)) / DAYS))
    return alt.Axis(format="%Y-%m-%d", labelAngle=-40, tickCount=alt.TimeIntervalStep(interval="day", step=step))


def heatmap(given: Given) -> ChartType:
    """Return a metric by two columns, the first across; further columns are facets."""
    dimensions, keys = given.dimensions(places=("across", "down", "column", "row"))
    charts = []
    for name in given.measures:
        rows, titles = _values(given, keys, name)
        squares = _squares(dimensions, given.title(name), titles, looks.room(row["y"] for row in rows))
        charts.append(looks.facets(alt.layer(*squares, data=looks.data(_inked(rows))), dimensions))
    return looks.finished(looks.concatenated(charts).resolve_scale(color="independent"), _notes(given, ""))


def _values(given: Given, keys: Sequence[Mapping[str, str]], name: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a metric's value by row with its interval, or its bounds, and its counts, and the titles of these fields."""
    fields = ends_of(given, name)
    rows = []
    counts: dict[str, str] = {}
    for key, row in zip(keys, given.rows, strict=True):
        found, counts = looks.counts(given.counts(row))
        limits = {field: row[f"{name}.{end}"] for field, end in fields.items()}
        rows.append({**key, "y": row[name], **limits, **found})
    named = {field: {"low": "from", "high": "to", "units": "n"}[field] for field in fields}
    return rows, {"y": name} | named | counts


def ends_of(given: Given, name: str) -> dict[str, str]:
    """Return the fields of what is between the ends of a metric, and the ends of its columns' names: of its interval, or of its bounds."""
    if f"{name}.low" in given.told.columns:
        return {"low": "low", "high": "high", "units": "units"}
    return {"low": "least", "high": "greatest"} if f"{name}.least" in given.told.columns else {}


def _notes(given: Given, marks: str) -> list[str]:
    """Return what is said of intervals or bounds, if there are any, and of how many days each point is."""
    rolling = given.said.get("rolling")
    days = [f"Each point: {f'the {rolling} days up to it' if rolling != '1' else 'one day'}."] if rolling and marks == "Bands" else []
    if marks and given.named("low"):
        return [f"{marks}: intervals that hold the truth with probability {given.said.get('confidence', '?')}.", *days]
    if marks and given.named("least"):
        return [f"{marks}: what is certain, whatever the order of rows within bins of the score.", *days]
    return days


def _barred(dimensions: Sequence[Dimension], title: str, titles: Mapping[str, str]) -> list[alt.Chart]:
    """Return bars from 0, their intervals, and NULL where a metric is undefined."""
    y = alt.Y("colour:N", sort=list(dimensions[0].labels), title=dimensions[0].title) if dimensions else alt.Y(value=ROW / 2)
    base = alt.Chart(width=looks.SIZE, height=alt.Step(ROW) if dimensions else ROW).encode(y=y, tooltip=looks.tooltips(dimensions, titles))
    bar = base.mark_bar(height={"band": 0.7} if dimensions else ROW * 0.7).encode(
        x=alt.X("y:Q", title=title, stack=None), **looks.coloured(dimensions, is_named=False)
    )
    undefined = base.mark_text(text="NULL", align="left", dx=4, color=looks.GREY).encode(x=alt.datum(0)).transform_filter(f"!({IS_THERE})")
    if "low" not in titles:
        return [bar, undefined]
    limits = (
        base.mark_rule(color=looks.INK, strokeWidth=1.5).encode(x=alt.X("low:Q", title=title), x2="high:Q").transform_filter(HAS_INTERVAL)
    )
    return [bar, limits, undefined]


def _over(given: Given, places: Sequence[Any], title: str, axis: alt.Axis, leave_out: Sequence[str]) -> ChartType:
    """Return metrics as lines over places on an axis, with bands of their intervals."""
    dimensions, keys = given.dimensions(leave_out)
    size = looks.side(dimensions)
    kind = ":T" if leave_out else ":Q"
    charts = []
    for name in given.measures:
        values, titles = _values(given, keys, name)
        rows = [row | {"x": place} for row, place in zip(values, places, strict=True)]
        room = looks.room(row[field] for row in rows for field in ("y", "low", "high") if field in row)
        base = alt.Chart(width=size if not leave_out else size * 3 // 2, height=size).encode(x=alt.X(f"x{kind}", title=title, axis=axis))
        shown = looks.tooltips(dimensions, {f"x{kind}": title, **titles})
        line = base.mark_line(point=alt.OverlayMarkDef(size=20), strokeWidth=1.5, invalid="break-paths-show-domains").encode(
            y=alt.Y("y:Q", title=given.title(name), scale=alt.Scale(zero=False, **room)),
            tooltip=shown,
            **looks.coloured(dimensions, is_line=True),
        )
        band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=given.title(name)), y2="high:Q", **looks.coloured(dimensions))
        parts = [band.transform_filter(HAS_INTERVAL), line] if "low" in titles else [line]
        charts.append(looks.facets(alt.layer(*parts, data=looks.data(rows)), dimensions))
    return looks.finished(looks.concatenated(charts), _notes(given, "Bands"))


def _inked(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the colour of the text that can be read on theirs, which goes from light to dark."""
    seen = [row["y"] for row in rows if row["y"] is not None]
    dark = min(seen) + (max(seen) - min(seen)) * DARK if seen else 0
    return [row | {"ink": "white" if row["y"] is not None and row["y"] > dark else "black"} for row in rows]


def _squares(dimensions: Sequence[Dimension], title: str, titles: Mapping[str, str], room: Mapping[str, Any]) -> list[alt.Chart]:
    """Return the squares of a heat map, light for low values and dark for high, with their numbers, and NULL where undefined."""
    across, down = dimensions[:2]
    base = alt.Chart(width=alt.Step(56), height=alt.Step(ROW + 4)).encode(
        x=alt.X("across:N", title=across.title, sort=list(across.labels), axis=alt.Axis(labelAngle=-40 if _is_wide(across) else 0)),
        y=alt.Y("down:N", title=down.title, sort=list(down.labels)),
        tooltip=looks.tooltips(dimensions, titles),
    )
    colour = alt.Color(
        "y:Q", title=title, scale=alt.Scale(scheme="blues", zero=False, nice=False, **room), legend=alt.Legend(titleLimit=300)
    )
    square = base.mark_rect().encode(color=colour).transform_filter(IS_THERE)
    # Two layers, since Vega-Lite cannot draw a colour without a scale in a facet.
    numbers = [
        base.mark_text(fontSize=10, color=ink)
        .encode(text=alt.Text("y:Q", format=".3~g"))
        .transform_filter(f"{IS_THERE} && datum.ink === '{ink}'")
        for ink in ("black", "white")
    ]
    undefined = base.mark_text(fontSize=10, text="NULL", color=looks.GREY).transform_filter(f"!({IS_THERE})")
    return [square, *numbers, undefined]


def _is_wide(item: Dimension) -> bool:
    return max(map(len, item.labels), default=0) > 8  # noqa: PLR2004  what fits above a square
