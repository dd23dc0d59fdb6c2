"""How charts look: colours, facets, tooltips, and what is written under them."""

from __future__ import annotations

from math import prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank._version import __version__
from sqlrank.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.given import Dimension

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that readers who are colour-blind can tell apart: Okabe and Ito 2008, without the yellow that white swallows."""

GREY = "#8C8C8C"
INK = "#333333"
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""What tells lines apart that share a colour, where there are more of them than colours."""

SIZE, SMALL = 320, 200
"""Pixels of a side, of a chart alone and of one among facets."""

MOST_CHARTS = 100
"""How many charts stand side by side at most."""

LINE = 110
"""Characters of a line under a chart."""


def data(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Return rows as data of a chart, which holds them itself."""
    return alt.InlineData(values=list(rows))


def palette(labels: Sequence[str], baseline: str) -> list[str]:
    """Return a colour for each label, grey for the baseline; they come again after seven.

    >>> palette(["a", "baseline", "b"], "baseline")
    ['#0072B2', '#8C8C8C', '#D55E00']
    """
    others = [label for label in labels if label != baseline]
    return [GREY if label == baseline else PALETTE[others.index(label) % len(PALETTE)] for label in labels]


def coloured(dimensions: Sequence[Dimension], *, is_line: bool = False, is_named: bool = True) -> dict[str, Any]:
    """Return the encodings that tell the first dimension apart: its colour and, for lines, a dash once colours come again.

    What is told apart by its place, too, and so not ``is_named`` in a legend, has one colour where there are not enough of them.
    """
    item = next((item for item in dimensions if item.field == "colour"), None)
    if item is None:
        return {"color": alt.value(PALETTE[0])}
    labels = list(item.labels)
    if not is_named and len(labels) > len(PALETTE):
        return {"color": alt.value(PALETTE[0])}
    stroke: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 250} if is_line else {}
    legend = alt.Legend(title=item.title, labelLimit=300, symbolLimit=0, symbolOpacity=1, **stroke) if is_named else None
    found: dict[str, Any] = {
        "color": alt.Color("colour:N", scale=alt.Scale(domain=labels, range=palette(labels, item.baseline)), legend=legend)
    }
    if is_line and len(labels) > len(PALETTE):
        dashes = [DASHES[place // len(PALETTE) % len(DASHES)] for place in range(len(labels))]
        found["strokeDash"] = alt.StrokeDash("colour:N", scale=alt.Scale(domain=labels, range=dashes), legend=legend)
    return found


def check_charts(count: int) -> None:
    """Raise ``InputError`` for more charts side by side than anybody looks at."""
    if count > MOST_CHARTS:
        raise InputError(
            f"these are {count:,} charts side by side, and at most {MOST_CHARTS} are drawn; keep fewer rows, by where or --top"
        )


def facets(chart: Any, dimensions: Sequence[Dimension]) -> Any:
    """Return a chart once for each value of the dimensions that are columns and rows of charts."""
    headers = {"column": alt.Header(labelLimit=300), "row": alt.Header(labelLimit=300, labelAngle=0, labelAlign="left")}
    places = {"column": alt.Column, "row": alt.Row}
    found = {
        item.field: places[item.field](f"{item.field}:N", title=item.title, sort=list(item.labels), header=headers[item.field])
        for item in dimensions
        if item.field in places
    }
    check_charts(prod(len(item.labels) for item in dimensions if item.field in places))
    return chart.facet(**found) if found else chart


def side(dimensions: Sequence[Dimension]) -> int:
    """Return how long the sides of a chart with these facets are."""
    return SMALL if any(item.field in {"column", "row"} for item in dimensions) else SIZE


def tooltips(dimensions: Sequence[Dimension], named: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return what is shown of a mark: what it is of, then fields of numbers under their titles; one that ends in a type has that."""
    fields = {f"{item.field}:N": item.title for item in dimensions} | {
        field if ":" in field else f"{field}:Q": named[field] for field in named
    }
    # Titles are keys, of which Vega takes these two for a heading and for the address of a picture, which it would fetch.
    taken = {"title", "image"}
    found = []
    for field, title in fields.items():
        unique = title
        while unique in taken:
            unique += " "
        taken.add(unique)
        found.append(alt.Tooltip(field, title=unique, format=".5~g") if field.endswith(":Q") else alt.Tooltip(field, title=unique))
    return found


def room(values: Iterable[float | None]) -> dict[str, Any]:
    """Return a domain around values that are all the same, of which an axis would write a number rounded to a whole one; else nothing.

    >>> room([0.5, None, 0.5]), room([0.0]), room([1.0, 2.0])
    ({'domain': [0.45, 0.55]}, {'domain': [0.0, 1.0]}, {})
    """
    seen = {value for value in values if value is not None}
    if len(seen) != 1:
        return {}
    (only,) = seen
    return {"domain": [only - abs(only) / 10, only + abs(only) / 10] if only else [0.0, 1.0]}


def counts(found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what says how many there are under fields of our own, and the titles of these."""
    return {f"count_{place}": value for place, value in enumerate(found.values())}, {
        f"count_{place}": title for place, title in enumerate(found)
    }


def concatenated(charts: Sequence[Any], columns: int = 2, *, titled: bool = False) -> Any:
    """Return one chart as it is, unless it has a title of its own, and several side by side."""
    check_charts(len(charts))
    return charts[0] if len(charts) == 1 and not titled else alt.concat(*charts, columns=columns)


def finished(chart: Any, notes: Sequence[str]) -> ChartType:
    """Return a chart with what is written under it, and the mark by which sqlrank knows it again."""
    lines = [line for note in notes for line in wrap(note, LINE)]
    under: Any = alt.Title(lines, orient="bottom", anchor="start", fontSize=11, fontWeight="normal", color="#555555", offset=12)
    done = chart.properties(usermeta={"sqlrank": __version__}, **({"title": under} if lines else {}))
    # Titles stand beside the labels, however long these are: by itself a title is at most 200 pixels away.
    return done.configure_axis(labelLimit=300, titleLimit=600, maxExtent=400).configure_view(strokeOpacity=0)  # type: ignore[no-any-return]
