"""Draw calibration curves (reliability diagrams) with Wilson intervals of their bins, above the density of the scores."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.curve_charts import draw_line, reference_line, row_count_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.result_view import Dimension, ResultView

NORMAL_QUANTILE = 1.959963984540054
"""Quantile of the standard normal distribution for intervals at level 0.95."""


def draw_calibration(view: ResultView) -> ChartType:
    """Draw calibration curves with a diagonal, and the density of the scores below."""
    dimensions, keys = view.assign_dimensions()
    rows: list[dict[str, Any]] = [
        {
            **key,
            "x": row["mean_predicted"],
            "y": row["mean_observed"],
            "weight": row["weight"],
            "point": row["point"],
            **view.list_counts(row),
        }
        for key, row in zip(keys, view.rows, strict=True)
    ]
    curves = list(_group_by(rows, [dimension.field for dimension in dimensions]).values())
    for curve_rows in curves:
        _add_intervals(curve_rows)
    steps = [step for curve_rows in curves for step in _density_steps(curve_rows)]
    has_intervals = any(row.get("low") is not None for row in rows)
    drawn = [value for row in rows for value in (row["x"], row["y"], row.get("high")) if value is not None]
    # Predictions of click models are far below 1, so that a domain of 0 to 1 would show nothing.
    axis_maximum = 1.0 if not drawn or max(drawn) > 1 / 2 else max(drawn) * 1.05
    facets = [dimension for dimension in dimensions if dimension.field != "colour"]
    rows_by_facet = _group_by(rows, [dimension.field for dimension in facets]) or {(): []}
    steps_by_facet = _group_by(steps, [dimension.field for dimension in facets])
    charts = []
    for values, facet_rows in rows_by_facet.items():
        title = ", ".join(f"{dimension.title}={value}" for dimension, value in zip(facets, values, strict=True))
        charts.append(_draw_calibration(facet_rows, steps_by_facet.get(values, []), dimensions, axis_maximum, title))
    settings = {} if view.result_metadata.curve is None else view.result_metadata.curve["settings"]
    width = "equal width" if settings.get("binning") == "equal_width" else "equal weight"
    notes = [
        "Points above the dashed line: more positives than predicted. Below: fewer.",
        f"{settings.get('bins')} bins of {width}. Bins without predictions have no point.",
        *(["Vertical lines: 95% confidence intervals (Wilson)."] if has_intervals else []),
        "Area: density of the scores.",
    ]
    return theme.with_caption(theme.concatenate_charts(charts, 3, titled=bool(facets)), "Calibration curve", notes)


def _group_by(rows: Sequence[dict[str, Any]], fields: Sequence[str]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Group rows by some fields: Vega-Lite cannot facet a concatenated chart."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[field] for field in fields), []).append(row)
    return groups


def _add_intervals(rows: Sequence[dict[str, Any]]) -> None:
    """Add Wilson's interval to the bins of a curve, if their weights are numbers of predictions."""
    num_rows = rows[0].get("n")
    if num_rows is None or abs(sum(row["weight"] or 0 for row in rows) - num_rows) > 1e-9 * num_rows:
        return
    for row in rows:
        if row["y"] is not None and row["weight"]:
            row["low"], row["high"] = wilson_interval(row["y"], row["weight"])


def wilson_interval(share: float, trials: float) -> tuple[float, float]:
    """Return the interval of Wilson (1927) for a share, at level 0.95.

    >>> [round(limit, 4) for limit in wilson_interval(0.0, 10)], [round(limit, 4) for limit in wilson_interval(0.3, 20)]
    ([0.0, 0.2775], [0.1455, 0.519])
    """
    squared = NORMAL_QUANTILE**2 / trials
    center = (share + squared / 2) / (1 + squared)
    half_width = NORMAL_QUANTILE * sqrt(share * (1 - share) / trials + squared / (4 * trials)) / (1 + squared)
    return max(0.0, center - half_width), min(1.0, center + half_width)


def _density_steps(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the density of the scores of a curve as steps, which change between the means of neighboring bins."""
    bins = sorted((row for row in rows if row["x"] is not None and row["weight"]), key=lambda row: row["x"])
    total = sum(row["weight"] for row in bins)
    means = [row["x"] for row in bins]
    inner = [(left + right) / 2 for left, right in pairwise(means)]
    if not inner or means[0] == means[-1]:
        return []
    edges = [max(0.0, 2 * means[0] - inner[0]), *inner, min(1.0, 2 * means[-1] - inner[-1])]
    labels = {name: value for name, value in bins[0].items() if name in {"colour", "column", "row"}}
    widths = [right - left for left, right in pairwise(edges)]
    densities = [row["weight"] / total / width if width > 0 else 0.0 for row, width in zip(bins, widths, strict=True)]
    return [{**labels, "edge": edge, "density": density} for edge, density in zip(edges, [*densities, densities[-1]], strict=True)]


def _draw_calibration(
    rows: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]], dimensions: Sequence[Dimension], axis_maximum: float, title: str
) -> Any:
    """Return a calibration curve above the density of its scores."""
    size = theme.side_length(dimensions)
    has_intervals = any(row.get("low") is not None for row in rows)
    limits = {"low": "ci_low", "high": "ci_high"} if has_intervals else {}
    titles = {"point:N": "bin", "x": "mean predicted", "y": "mean observed", **limits, "weight": "weight"} | row_count_title(rows)
    domain = alt.Scale(domain=[0, axis_maximum], nice=False)
    line = draw_line(rows, dimensions, ("mean predicted (probability)", "mean observed (probability)"), titles, "linear", size, points=True)
    line = line.encode(x=line.encoding.x.scale(domain), y=line.encoding.y.scale(domain))
    intervals = (
        alt.Chart(width=size, height=size)
        .mark_rule(opacity=0.6)
        .encode(x=alt.X("x:Q", scale=domain), y=alt.Y("low:Q", scale=domain), y2=alt.Y2("high:Q"), **theme.color_encoding(dimensions))
        .transform_filter("isValid(datum.low)")
    )
    above = alt.layer(reference_line(((0.0, 0.0), (axis_maximum, axis_maximum))), *([intervals] if has_intervals else []), line)
    below = (
        alt.Chart(theme.inline_data(steps), width=size, height=size // 4)
        .mark_area(interpolate="step-after", opacity=0.3, line=True, clip=True)
        .encode(
            x=alt.X("edge:Q", scale=domain, axis=alt.Axis(title=None, labels=False)),
            y=alt.Y("density:Q", stack=None, axis=alt.Axis(title="density", tickCount=3, format="~s")),
            **theme.color_encoding(dimensions),
        )
    )
    joined = alt.vconcat(above, below, data=theme.inline_data(rows), spacing=4, **({"title": title} if title else {}))
    return joined.resolve_scale(x="shared", color="shared")
