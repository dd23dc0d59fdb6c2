"""Draw curves as lines, rates over thresholds, and calibration curves with Wilson intervals of
their bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.result_view import AREA_METRICS, Dimension, ResultView
from sqlrank.inference import wilson_interval
from sqlrank.output.display import group_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.result_columns import ResultRow


MIN_CURVE_POINTS = 10
"""Minimum number of points of a reduced curve."""

MIN_AREA_POINTS = 100
"""Minimum number of points of a curve whose area is AUC to two digits; of ten times as many it is
to three.
"""

AREA_CURVES = ("ROC", "Gain")
"""Curves drawn with straight lines whose area is meaningful."""


def describe_resolution(view: ResultView) -> str:
    """Return a sentence with the maximum number of points and the resolution between them."""
    settings = {} if view.result_metadata.curve is None else view.result_metadata.curve["settings"]
    if (requested_points := int(settings["points"])) == 0:
        return "Every distinct score is a point: nothing is left out."
    points = max(requested_points, MIN_CURVE_POINTS)
    if "curve_spacing" not in settings:
        resolution = f"at most 1/{requested_points:,} of the weight apart, or neighbouring scores"
    elif settings["curve_spacing"] == "logarithmic":
        resolution = f"precision within a factor of {_format_resolution_factor(view, points)}"
    elif view.curve in AREA_CURVES:
        resolution = f"the area within 1/{points - 2:,}"
    else:
        resolution = f"the true and the false positive rate within 4/{points - 2:,} together"
    return f"At most {points + 1:,} points per curve, {resolution}."


def _format_resolution_factor(view: ResultView, points: int) -> str:
    """Return the factor by which precision changes at most between points.

    For PR it is computed from the curve; otherwise n is total weight over the weight of the first
    positives.
    """
    power = 4 / (points - 4)
    if view.curve != "PR":
        return f"n^({power:.2g}), n being all weight over that of the first positives"
    by = [*view.columns_of_kind("by"), *view.columns_of_kind("slice")]
    rows = [row for row in view.rows if row["recall"] and row["precision"]]
    curves = group_items(rows, lambda row: tuple(str(row[name]) for name in by))
    # The first positives have the least recall above 0; precision at the last point is the
    # prevalence.
    ratios = []
    for points_of_curve in curves.values():
        last = max(points_of_curve, key=lambda row: (row["recall"], -row["precision"]))
        ratios.append(1 / (min(row["recall"] for row in points_of_curve) * last["precision"]))
    return f"{ceil(max(ratios, default=1.0) ** power * 1e4) / 1e4:g}"


UNIT_DOMAIN = [0, 1]


@dataclass(frozen=True)
class Curve:
    """The style of a curve: columns and titles of its axes, title, a sentence on how to read it,
    domain, interpolation, and the chance level.

    ``chance`` is a line of two points. If ``is_fitted``, the y domain ends at the maximum value
    where values are small. If ``is_difference``, x has no limits, and a line marks 0.
    """

    x: tuple[str, str]
    y: tuple[str, str]
    title: str
    reading: str
    is_share: bool = True
    is_fitted: bool = False
    is_difference: bool = False
    line: str = "linear"
    chance: tuple[tuple[float, float], ...] = ()


DIAGONAL = ((0.0, 0.0), (1.0, 1.0))

CURVES = {
    "ROC": Curve(
        ("fpr", "false positive rate (share of negatives)"),
        ("tpr", "true positive rate (share of positives)"),
        "ROC curve",
        "The nearer to the upper left corner, the better.",
        chance=DIAGONAL,
    ),
    "PR": Curve(
        ("recall", "recall (share of positives)"),
        ("precision", "precision (share of predicted positives)"),
        "Precision-recall curve",
        "The higher, the better: of the predictions above a threshold, more are positive.",
        is_fitted=True,
        line="step-before",
    ),
    "Gain": Curve(
        ("fraction", "highest scores (share of the weight)"),
        ("gain", "gain (share of positives)"),
        "Gain curve",
        "The earlier the rise, the more positives have high scores.",
        chance=DIAGONAL,
    ),
    "Lift": Curve(
        ("fraction", "highest scores (share of the weight)"),
        ("lift", "lift (times as many positives as at random)"),
        "Lift curve",
        "The higher at the left, the more positives have the highest scores.",
        is_share=False,
        chance=((0.0, 1.0), (1.0, 1.0)),
    ),
    "Uplift": Curve(
        ("fraction", "highest scores (share of the weight)"),
        ("gain", "gain (outcome per unit of all)"),
        "Uplift curve",
        "The farther above a straight line to its end, the more is gained by treating the highest"
        " scores first.",
        is_share=False,
    ),
    "EtaSweep": Curve(
        ("eta", "eta (0: all users see every rank, 1: 1 / r of them see rank r)"),
        ("dcg_difference", "difference of ClickDCG from the baseline"),
        "Difference by eta",
        "Above 0 the run is better. If the line crosses 0, the winner depends on eta.",
        is_share=False,
        is_difference=True,
    ),
}
"""Curves drawn as a single line."""

RATE_TITLES = {
    "precision": "precision (share of predicted positives)",
    "recall": "recall (share of positives)",
    "specificity": "specificity (share of negatives)",
    "f1": "F1 (0 to 1)",
    "accuracy": "accuracy (share of all)",
}
"""Columns of a threshold table that are drawn, with their axis titles."""


def draw_curve(view: ResultView) -> ChartType:
    """Draw a curve as a line; the description of the chart has its resolution."""
    shape = CURVES[str(view.curve)]
    dimensions, keys = view.assign_dimensions()
    rows = [
        {
            **key,
            "x": row[shape.x[0]],
            "y": row[shape.y[0]],
            **{name: row[name] for name in ("threshold", "point") if name in row},
            **view.list_counts(row),
        }
        for key, row in zip(keys, view.rows, strict=True)
    ]
    titles = {"x": shape.x[0], "y": shape.y[0]}
    titles |= {} if shape.is_difference else {"threshold": "threshold"}
    titles |= row_count_title(rows)
    named = _with_areas(view, rows, dimensions)
    line = draw_line(
        rows,
        named,
        (shape.x[1], shape.y[1]),
        titles,
        shape.line,
        theme.side_length(dimensions),
        is_share=shape.is_share,
        is_score=shape.is_difference,
    )
    if (
        shape.is_fitted
        and (top := max((row["y"] for row in rows if row["y"] is not None), default=1.0)) < 1 / 2
    ):
        line = line.encode(y=line.encoding.y.scale(alt.Scale(domain=[0, top * 1.05])))
    points = [(row["x"], 0.0) for row in rows] if shape.is_difference else shape.chance
    reference = [reference_line(points)] if points else []
    notes = [shape.reading]
    if not shape.is_difference:
        notes += ["Dashed: random scores."] if reference else []
    if view.curve == "PR" and any(dimension.texts for dimension in named):
        notes.append("APS: average precision.")
    return theme.with_caption(
        theme.layer_facets([*reference, line], rows, dimensions),
        shape.title,
        notes,
        None if shape.is_difference else describe_resolution(view),
    )


def _with_areas(
    view: ResultView, rows: Sequence[ResultRow], dimensions: list[Dimension]
) -> list[Dimension]:
    """Return the dimensions of ROC and PR curves with the AUC or APS of each label: that of the
    metadata, else the area below its line. Where points may be left out it is near, and not
    written if these are few: steps between 100 points lie up to a twentieth below APS.
    """
    settings = {} if view.result_metadata.curve is None else view.result_metadata.curve["settings"]
    num_points = int(settings.get("points", 0))
    is_single = [dimension.field for dimension in dimensions] == ["colour"]
    if view.curve not in AREA_METRICS or not is_single:
        return dimensions
    name = AREA_METRICS[view.curve]
    if view.areas:
        texts = tuple((label, f"{label}, {name} {area:.4f}") for label, area in view.areas)
        return [replace(dimensions[0], texts=texts)]
    is_stepwise = view.curve == "PR"
    if 0 < num_points < MIN_AREA_POINTS * (10 if is_stepwise else 1):
        return dimensions
    about = f"{name} ≈" if num_points else name
    form = ".2g" if num_points and is_stepwise else ".3f"
    form = ".2f" if 0 < num_points < 10 * MIN_AREA_POINTS else form
    points = group_items(rows, lambda row: str(row["colour"]))
    areas = []
    for label, line in points.items():
        curve_points = sorted(line, key=lambda row: int(row["point"]))
        if all(row["x"] is not None and row["y"] is not None for row in curve_points):
            area = _measure_area(curve_points, is_stepwise=is_stepwise)
            areas.append((label, f"{label}, {about} {area:{form}}"))
    return [replace(dimensions[0], texts=tuple(areas))]


def _measure_area(points: Sequence[ResultRow], *, is_stepwise: bool) -> float:
    """Return the area below a line, or below steps of the height of their right end."""
    if is_stepwise:
        first = points[0]
        return float(
            first["x"] * first["y"] + sum((b["x"] - a["x"]) * b["y"] for a, b in pairwise(points))
        )
    return float(sum((b["x"] - a["x"]) * (a["y"] + b["y"]) / 2 for a, b in pairwise(points)))


def draw_threshold_rates(view: ResultView) -> ChartType:
    """Draw rates over thresholds: one color per rate, or one chart per rate if groups have
    colors.
    """
    dimensions, keys = view.assign_dimensions()
    charts = []
    if not dimensions:
        rate_dimensions = [Dimension("colour", "rate", tuple(RATE_TITLES))]
        rows = [
            row
            for name in RATE_TITLES
            for row in _list_rates(view, [{"colour": name}] * len(view.rows), name)
        ]
        charts = [_draw_rate(rows, rate_dimensions, "rate (0 to 1)", "rate")]
    else:
        charts = [
            _draw_rate(_list_rates(view, keys, name), dimensions, title, name)
            for name, title in RATE_TITLES.items()
        ]
    return theme.with_caption(
        theme.concatenate_charts(charts, 3),
        "Rates over thresholds",
        ["Predictions at or above a threshold are positive."],
        describe_resolution(view),
    )


def row_count_title(rows: Sequence[ResultRow]) -> dict[str, str]:
    """Return the tooltip title of the number of rows, if rows have it."""
    return {"n": "n"} if rows and "n" in rows[0] else {}


def _list_rates(
    view: ResultView, keys: Sequence[Mapping[str, str]], name: str
) -> list[dict[str, Any]]:
    """Return one row per threshold with a rate and the weight of predicted positives."""
    return [
        {
            **key,
            "x": row["threshold"],
            "y": row[name],
            "point": row["point"],
            "above": row["tp"] + row["fp"],
            **view.list_counts(row),
        }
        for key, row in zip(keys, view.rows, strict=True)
    ]


def _draw_rate(
    rows: Sequence[ResultRow], dimensions: Sequence[Dimension], title: str, name: str
) -> Any:
    titles = {"x": "threshold", "y": name, "above": "predicted positive"} | row_count_title(rows)
    size = theme.side_length(dimensions) if name == "rate" else theme.FACET_SIDE_PIXELS
    # Predictions at or above a threshold are positive, so a rate is constant down to the next
    # threshold.
    line = draw_line(
        rows, dimensions, ("threshold (score)", title), titles, "step-after", size, is_score=True
    )
    return theme.layer_facets([line], rows, dimensions)


def draw_line(
    rows: Sequence[ResultRow],
    dimensions: Sequence[Dimension],
    titles: tuple[str, str],
    tooltip_titles: Mapping[str, str],
    interpolate: Any,
    size: int,
    *,
    is_share: bool = True,
    is_score: bool = False,
    points: bool = False,
) -> Any:
    """Return a line chart in the order of points; points are drawn if lines have only one."""
    has_points = points or len(rows) <= len(
        {tuple(row.get(dimension.field) for dimension in dimensions) for row in rows}
    )
    share = alt.Scale(domain=UNIT_DOMAIN)
    x_scale = (
        alt.Scale(zero=False, **theme.constant_domain(row["x"] for row in rows))
        if is_score
        else share
    )
    return (
        alt.Chart(width=size, height=size)
        .mark_line(
            interpolate=interpolate, point=True if has_points else "transparent", strokeWidth=1.5
        )
        .encode(
            x=alt.X("x:Q", title=titles[0], scale=x_scale),
            y=alt.Y("y:Q", title=titles[1], scale=share if is_share else alt.Scale(zero=True)),
            order=alt.Order("point:Q"),
            tooltip=theme.build_tooltips(dimensions, tooltip_titles),
            **theme.color_encoding(dimensions, is_line=True),
        )
    )


def reference_line(points: Sequence[tuple[float, float]]) -> Any:
    """Return a grey reference line, equal in all facets."""
    rows = [{"x": x, "y": y} for x, y in points]
    return (
        alt.Chart(theme.inline_data(rows))
        .mark_line(**theme.REFERENCE)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    )


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
    curves = _group_by(rows, dimensions).values()
    for curve_rows in curves:
        _add_intervals(curve_rows)
    steps = [step for curve_rows in curves for step in _density_steps(curve_rows)]
    has_intervals = any(row.get("low") is not None for row in rows)
    drawn = [
        value
        for row in rows
        for value in (row["x"], row["y"], row.get("high"))
        if value is not None
    ]
    # Predictions of click models are far below 1, so that a domain of 0 to 1 would show nothing.
    axis_maximum = 1.0 if not drawn or max(drawn) > 1 / 2 else max(drawn) * 1.05
    facets = [dimension for dimension in dimensions if dimension.field != "colour"]
    rows_by_facet = _group_by(rows, facets) or {(): []}
    steps_by_facet = _group_by(steps, facets)
    charts = []
    for values, facet_rows in rows_by_facet.items():
        title = ", ".join(
            f"{dimension.title}={value}" for dimension, value in zip(facets, values, strict=True)
        )
        charts.append(
            _draw_calibration(
                facet_rows, steps_by_facet.get(values, []), dimensions, axis_maximum, title
            )
        )
    settings = {} if view.result_metadata.curve is None else view.result_metadata.curve["settings"]
    width = "equal width" if settings.get("binning") == "equal_width" else "equal weight"
    notes = [
        "Above the dashed line: more positives than predicted. Below: fewer.",
        f"{settings.get('bins')} bins of {width}. Bins without predictions have no point.",
        *(["Vertical lines: 95% confidence intervals (Wilson)."] if has_intervals else []),
        "Area: density of the scores.",
    ]
    return theme.with_caption(
        theme.concatenate_charts(charts, 3, titled=bool(facets)), "Calibration curve", notes
    )


def _group_by(
    rows: Sequence[dict[str, Any]], dimensions: Sequence[Dimension]
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Group rows by dimensions: Vega-Lite cannot facet a concatenated chart."""
    return group_items(rows, lambda row: tuple(row[dimension.field] for dimension in dimensions))


def _add_intervals(rows: Sequence[dict[str, Any]]) -> None:
    """Add Wilson's interval to the bins of a curve, if their weights are numbers of predictions."""
    num_rows = rows[0].get("n")
    if (
        num_rows is None
        or abs(sum(row["weight"] or 0 for row in rows) - num_rows) > 1e-9 * num_rows
    ):
        return
    for row in rows:
        if row["y"] is not None and row["weight"]:
            row["low"], row["high"] = wilson_interval(row["y"], row["weight"])


def _density_steps(rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return the density of the scores of a curve as steps, which change between the means of
    neighboring bins.
    """
    bins = sorted(
        (row for row in rows if row["x"] is not None and row["weight"]), key=lambda row: row["x"]
    )
    total = sum(row["weight"] for row in bins)
    means = [row["x"] for row in bins]
    inner = [(left + right) / 2 for left, right in pairwise(means)]
    if not inner or means[0] == means[-1]:
        return []
    edges = [max(0.0, 2 * means[0] - inner[0]), *inner, min(1.0, 2 * means[-1] - inner[-1])]
    labels = {name: value for name, value in bins[0].items() if name in {"colour", "column", "row"}}
    widths = [right - left for left, right in pairwise(edges)]
    densities = [
        row["weight"] / total / width if width > 0 else 0.0
        for row, width in zip(bins, widths, strict=True)
    ]
    return [
        {**labels, "edge": edge, "density": density}
        for edge, density in zip(edges, [*densities, densities[-1]], strict=True)
    ]


def _draw_calibration(
    rows: Sequence[ResultRow],
    steps: Sequence[ResultRow],
    dimensions: Sequence[Dimension],
    axis_maximum: float,
    title: str,
) -> Any:
    """Return a calibration curve above the density of its scores."""
    size = theme.side_length(dimensions)
    has_intervals = any(row.get("low") is not None for row in rows)
    limits = {"low": "ci_low", "high": "ci_high"} if has_intervals else {}
    titles = {
        "point:N": "bin",
        "x": "mean predicted",
        "y": "mean observed",
        **limits,
        "weight": "weight",
    } | row_count_title(rows)
    domain = alt.Scale(domain=[0, axis_maximum], nice=False)
    line = draw_line(
        rows,
        dimensions,
        ("mean predicted (probability)", "mean observed (probability)"),
        titles,
        "linear",
        size,
        points=True,
    )
    line = line.encode(x=line.encoding.x.scale(domain), y=line.encoding.y.scale(domain))
    intervals = (
        alt.Chart(width=size, height=size)
        .mark_rule(opacity=0.6)
        .encode(
            x=alt.X("x:Q", scale=domain),
            y=alt.Y("low:Q", scale=domain),
            y2=alt.Y2("high:Q"),
            **theme.color_encoding(dimensions),
        )
        .transform_filter("isValid(datum.low)")
    )
    above = alt.layer(
        reference_line(((0.0, 0.0), (axis_maximum, axis_maximum))),
        *([intervals] if has_intervals else []),
        line,
    )
    below = (
        alt.Chart(theme.inline_data(steps), width=size, height=size // 4)
        .mark_area(interpolate="step-after", opacity=0.3, line=True, clip=True)
        .encode(
            x=alt.X("edge:Q", scale=domain, axis=alt.Axis(title=None, labels=False)),
            y=alt.Y(
                "density:Q", stack=None, axis=alt.Axis(title="density", tickCount=3, format="~s")
            ),
            **theme.color_encoding(dimensions),
        )
    )
    joined = alt.vconcat(
        above, below, data=theme.inline_data(rows), spacing=4, **({"title": title} if title else {})
    )
    return joined.resolve_scale(x="shared", color="shared")
