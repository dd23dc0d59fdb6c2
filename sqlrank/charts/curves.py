"""Charts of curves: ROC, PR, Gain, Lift, Threshold and Calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import looks
from sqlrank.charts.bounds import bound
from sqlrank.charts.given import Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.given import Given

SHARE = [0, 1]
BAR = 4
"""Pixels of the bar of a bin."""


@dataclass(frozen=True)
class Curve:
    """How a curve is drawn: the columns and titles of its axes, the domain of y if it is fixed, its line, and what chance gives.

    ``chance`` is a line of two points, or a height; the domain of one that ``is_fitted`` ends at its values where these are small.
    """

    x: tuple[str, str]
    y: tuple[str, str]
    is_share: bool = True
    is_fitted: bool = False
    line: str = "linear"
    chance: tuple[tuple[float, float], ...] = ()


DIAGONAL = ((0.0, 0.0), (1.0, 1.0))

CURVES = {
    "ROC": Curve(("fpr", "false positive rate (share of negatives)"), ("tpr", "true positive rate (share of positives)"), chance=DIAGONAL),
    "PR": Curve(
        ("recall", "recall (share of positives)"),
        ("precision", "precision (share of predicted positives)"),
        is_fitted=True,
        line="step-before",
    ),
    "Gain": Curve(("fraction", "highest scores (share of the weight)"), ("gain", "gain (share of positives)"), chance=DIAGONAL),
    "Lift": Curve(
        ("fraction", "highest scores (share of the weight)"),
        ("lift", "lift (times as many positives as at random)"),
        is_share=False,
        chance=((0.0, 1.0), (1.0, 1.0)),
    ),
}
"""The curves of one line."""

RATES = {
    "precision": "precision (share of predicted positives)",
    "recall": "recall (share of positives)",
    "specificity": "specificity (share of negatives)",
    "f1": "F1 (0 to 1)",
    "accuracy": "accuracy (share of all)",
}
"""What a table of thresholds draws."""


def curve(given: Given) -> ChartType:
    """Return the chart of a curve of one line, with what its points miss written under it."""
    shape = CURVES[str(given.curve)]
    dimensions, keys = given.dimensions()
    rows = [
        {**key, "x": row[shape.x[0]], "y": row[shape.y[0]], "threshold": row["threshold"], "point": row["point"], **given.counts(row)}
        for key, row in zip(keys, given.rows, strict=True)
    ]
    titles = {"x": shape.x[0], "y": shape.y[0], "threshold": "threshold"} | _n(rows)
    line = _line(rows, dimensions, (shape.x[1], shape.y[1]), titles, shape.line, looks.side(dimensions), is_share=shape.is_share)
    if shape.is_fitted and (top := max((row["y"] for row in rows if row["y"] is not None), default=1.0)) < 1 / 2:
        line = line.encode(y=line.encoding.y.scale(alt.Scale(domain=[0, top * 1.05])))
    chance = [_reference(shape.chance)] if shape.chance else []
    notes = [bound(given), *(["Grey: what chance gives."] if chance else [])]
    return looks.finished(looks.facets(alt.layer(*chance, line, data=looks.data(rows)), dimensions), notes)


def threshold(given: Given) -> ChartType:
    """Return the chart of the rates over thresholds: in one colour each, or a chart each where colours tell groups apart."""
    dimensions, keys = given.dimensions()
    charts = []
    if not dimensions:
        told = [Dimension("colour", "rate", tuple(RATES))]
        rows = [row for name in RATES for row in _rates(given, [{"colour": name}] * len(given.rows), name)]
        charts = [_rate(rows, told, "rate (0 to 1)", "rate")]
    else:
        charts = [_rate(_rates(given, keys, name), dimensions, title, name) for name, title in RATES.items()]
    return looks.finished(looks.concatenated(charts, 3), [bound(given)])


def calibration(given: Given) -> ChartType:
    """Return the mean observed over the mean predicted probability of each bin, with the diagonal, and the weight of the bins below."""
    dimensions, keys = given.dimensions()
    rows: list[dict[str, Any]] = [
        {**key, "x": row["mean_predicted"], "y": row["mean_observed"], "weight": row["weight"], "point": row["point"], **given.counts(row)}
        for key, row in zip(keys, given.rows, strict=True)
    ]
    seen = [value for row in rows for value in (row["x"], row["y"]) if value is not None]
    # Click models predict far below 1, where a domain of all probabilities would show nothing.
    top = 1.0 if not seen or max(seen) > 1 / 2 else max(seen) * 1.05
    _set_apart(rows, dimensions, top)
    cells = _cells(rows, dimensions)
    charts = [_calibrated(cell, dimensions, top, title) for title, cell in cells.items()]
    titled = any(cells)
    settings = {} if given.told.curve is None else given.told.curve["settings"]
    width = "equal width" if settings.get("binning") == "equal_width" else "equal weight"
    note = f"{settings.get('bins')} bins of {width}; those without predictions have no point. Grey: predicted as observed."
    return looks.finished(looks.concatenated(charts, 3, titled=titled), [note])


def _n(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the title of how many rows there are, if that is known."""
    return {"n": "n"} if rows and "n" in rows[0] else {}


def _set_apart(rows: Sequence[dict[str, Any]], dimensions: Sequence[Dimension], top: float) -> None:
    """Give each row the place of its bar, beside those of other colours."""
    colours = next((item.labels for item in dimensions if item.field == "colour"), ("",))
    width = (BAR + 1) * top / looks.side(dimensions)
    for row in rows:
        beside = colours.index(row.get("colour", "")) - (len(colours) - 1) / 2
        row["bar"] = None if row["x"] is None else row["x"] + beside * width


def _cells(rows: Sequence[Mapping[str, Any]], dimensions: Sequence[Dimension]) -> dict[str, list[Mapping[str, Any]]]:
    """Return rows by what tells them apart but for colours: a chart of two parts cannot be a facet."""
    others = [item for item in dimensions if item.field != "colour"]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(", ".join(f"{item.title}={row[item.field]}" for item in others), []).append(row)
    return found or {"": []}


def _calibrated(rows: Sequence[Mapping[str, Any]], dimensions: Sequence[Dimension], top: float, title: str) -> Any:
    size = looks.side(dimensions)
    titles = {"point:N": "bin", "x": "mean predicted", "y": "mean observed", "weight": "weight"} | _n(rows)
    line = _line(rows, dimensions, ("mean predicted (probability)", "mean observed (probability)"), titles, "linear", size, points=True)
    domain = alt.Scale(domain=[0, top])
    line = line.encode(x=line.encoding.x.scale(domain), y=line.encoding.y.scale(domain))
    above = alt.layer(_reference(((0.0, 0.0), (top, top))), line)
    below = (
        alt.Chart(width=size, height=size // 4)
        .mark_bar(width=BAR)
        .encode(
            x=alt.X("bar:Q", scale=domain, axis=alt.Axis(title=None, labels=False)),
            y=alt.Y("weight:Q", stack=None, axis=alt.Axis(title="weight", tickCount=3, format="~s")),
            tooltip=looks.tooltips(dimensions, titles),
            **looks.coloured(dimensions),
        )
    )
    return alt.vconcat(above, below, data=looks.data(rows), spacing=4, **({"title": title} if title else {}))


def _rates(given: Given, keys: Sequence[Mapping[str, str]], name: str) -> list[dict[str, Any]]:
    """Return a rate by threshold, with the weight of what is predicted positive there."""
    return [
        {**key, "x": row["threshold"], "y": row[name], "point": row["point"], "above": row["tp"] + row["fp"], **given.counts(row)}
        for key, row in zip(keys, given.rows, strict=True)
    ]


def _rate(rows: Sequence[Mapping[str, Any]], dimensions: Sequence[Dimension], title: str, name: str) -> Any:
    titles = {"x": "threshold", "y": name, "above": "predicted positive"} | _n(rows)
    size = looks.side(dimensions) if name == "rate" else looks.SMALL
    # Predictions from a threshold up are positive, so that a rate holds down to the next one.
    line = _line(rows, dimensions, ("threshold (score)", title), titles, "step-after", size, is_score=True)
    return looks.facets(alt.layer(line, data=looks.data(rows)), dimensions)


def _line(
    rows: Sequence[Mapping[str, Any]],
    dimensions: Sequence[Dimension],
    titles: tuple[str, str],
    shown: Mapping[str, str],
    interpolate: Any,
    size: int,
    *,
    is_share: bool = True,
    is_score: bool = False,
    points: bool = False,
) -> Any:
    """Return lines through points in their order, which are seen if one stands alone."""
    is_seen = points or len(rows) <= len({tuple(row.get(item.field) for item in dimensions) for row in rows})
    share = alt.Scale(domain=SHARE)
    free = alt.Scale(zero=False, **looks.room(row["x"] for row in rows)) if is_score else share
    return (
        alt.Chart(width=size, height=size)
        .mark_line(interpolate=interpolate, point=True if is_seen else "transparent", strokeWidth=1.5)
        .encode(
            x=alt.X("x:Q", title=titles[0], scale=free),
            y=alt.Y("y:Q", title=titles[1], scale=share if is_share else alt.Scale(zero=True)),
            order=alt.Order("point:Q"),
            tooltip=looks.tooltips(dimensions, shown),
            **looks.coloured(dimensions, is_line=True),
        )
    )


def _reference(points: Sequence[tuple[float, float]]) -> Any:
    """Return a grey line through points, the same among all facets."""
    rows = [{"x": x, "y": y} for x, y in points]
    return alt.Chart(looks.data(rows)).mark_line(color=looks.GREY, strokeDash=[4, 4], strokeWidth=1).encode(x="x:Q", y="y:Q")
