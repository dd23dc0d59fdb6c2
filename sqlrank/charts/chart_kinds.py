"""List the kinds of charts with the results that each fits, and draw a result as the requested kind
or as its default.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlrank.charts import comparison_charts, curve_charts, metric_charts
from sqlrank.charts.result_view import DRIFT
from sqlrank.errors import MetricError, short_repr, suggest_choice
from sqlrank.result_metadata import EXPERIMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from altair.typing import ChartType

    from sqlrank.charts.result_view import ResultView


@dataclass(frozen=True)
class ChartKind:
    """A kind of chart: its drawing function, and a function that returns the reason why a result
    does not fit.

    ``unmet_requirement`` returns None if the result fits.
    """

    unmet_requirement: Callable[[ResultView], str | None]
    draw: Callable[[ResultView], ChartType]
    is_default: Callable[[ResultView], bool] = lambda _: True


def _is_curve(name: str, view: ResultView) -> str | None:
    return None if view.curve == name else f"it is of the curve {name}"


def _check_result_kind(result: str, what: str, view: ResultView) -> str | None:
    return None if view.result_metadata.result == result else f"it is of {what}"


def _has_effects(view: ResultView) -> str | None:
    if view.result_metadata.result == EXPERIMENT:
        return None
    return _check_result_kind(
        "comparison",
        "comparisons, which sqlrank.compare returns, or of effects of sqlrank.experiment",
        view,
    )


def _has_values(view: ResultView) -> str | None:
    if view.result_metadata.result != "metrics":
        return "it is of metrics"
    if view.columns_of_kind("query"):
        return "it is of metrics of all queries. Leave out per_query"
    return None if view.columns_of_kind("metric") else "it is of metrics"


def _has_cutoffs(view: ResultView) -> str | None:
    return _has_values(view) or (
        None
        if view.columns_of_kind("cutoff")
        else "it needs a range of cut-offs, such as nDCG@1..20"
    )


def _has_no_cutoffs(view: ResultView) -> str | None:
    return _has_values(view) or (
        "it does not show a range of cut-offs" if view.columns_of_kind("cutoff") else None
    )


def _has_days(view: ResultView) -> str | None:
    return _has_no_cutoffs(view) or (
        None
        if view.date_column and not view.is_sliced
        else "it needs a column of dates in by, in one grouping"
    )


def _has_two_columns(view: ResultView) -> str | None:
    has_columns = len(view.columns_of_kind("by")) > 1 and not view.is_sliced
    return _has_no_cutoffs(view) or (
        None if has_columns else "it needs two columns in by, in one grouping"
    )


def _is_one_metric_by_two(view: ResultView) -> bool:
    # What a heat map shows
    return (
        len(view.columns_of_kind("by")) == 2  # noqa: PLR2004
        and len(view.drawn_metrics) == 1
        and not view.columns_of_kind("ci_low")
    )


CHART_KINDS = {
    **{
        name.lower(): ChartKind(partial(_is_curve, name), curve_charts.draw_curve)
        for name in curve_charts.CURVES
    },
    "threshold": ChartKind(partial(_is_curve, "Threshold"), curve_charts.draw_threshold_rates),
    "calibration": ChartKind(partial(_is_curve, "Calibration"), curve_charts.draw_calibration),
    "confusion": ChartKind(
        partial(_is_curve, metric_charts.CONFUSION_CURVE), metric_charts.draw_confusion
    ),
    "forest": ChartKind(_has_effects, comparison_charts.draw_forest),
    "drift": ChartKind(
        partial(_check_result_kind, DRIFT, "drift, which sqlrank.drift returns"),
        comparison_charts.draw_drift,
    ),
    "differences": ChartKind(
        partial(
            _check_result_kind,
            "differences",
            "differences of queries, which sqlrank.compare returns with per_query=True",
        ),
        comparison_charts.draw_differences,
    ),
    "cutoffs": ChartKind(_has_cutoffs, metric_charts.draw_cutoffs),
    "line": ChartKind(_has_days, metric_charts.draw_time_series),
    "heatmap": ChartKind(_has_two_columns, metric_charts.draw_heatmap, _is_one_metric_by_two),
    "dots": ChartKind(_has_no_cutoffs, metric_charts.draw_dots),
}
"""Kinds of charts. The first that fits a result, and is a default for it, is drawn where none is
requested.
"""


def draw_chart(view: ResultView, kind: str | None) -> ChartType:
    """Draw the chart of a result; raise ``MetricError`` for an unknown or unsuitable kind."""
    fitting = [
        name
        for name, chart_kind in CHART_KINDS.items()
        if chart_kind.unmet_requirement(view) is None
    ]
    if kind is not None:
        check_kind(kind)
        if (reason := CHART_KINDS[kind.lower()].unmet_requirement(view)) is not None:
            advice = (
                f"This result can be drawn as: {', '.join(fitting)}"
                if fitting
                else "This result has no chart"
            )
            raise MetricError(f"kind={kind!r} does not fit: {reason}. {advice}")
        return CHART_KINDS[kind.lower()].draw(view)
    if not fitting:
        raise MetricError(_no_chart(view))
    return next(CHART_KINDS[name] for name in fitting if CHART_KINDS[name].is_default(view)).draw(
        view
    )


def check_kind(kind: str | None) -> None:
    """Raise ``MetricError`` for an unknown kind of chart."""
    if kind is not None and kind.lower() not in CHART_KINDS:
        raise MetricError(
            suggest_choice(f"there is no kind of chart {short_repr(kind)}", kind, CHART_KINDS)
        )


def _no_chart(view: ResultView) -> str:
    if view.curve is not None:
        return (
            f"{view.curve} has no chart. These curves have one:"
            f" {', '.join([*curve_charts.CURVES, 'Threshold', 'Calibration'])},"
            f" {metric_charts.CONFUSION_CURVE}"
        )
    return (
        "values of single queries have no chart: leave out per_query, or compare systems with"
        " sqlrank.compare(..., per_query=True)"
    )
