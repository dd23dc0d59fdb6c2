"""The kinds of charts: which results each is of, and what draws it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlrank.charts import comparisons, curves, metrics
from sqlrank.errors import MetricError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from altair.typing import ChartType

    from sqlrank.charts.given import Given


@dataclass(frozen=True)
class Kind:
    """A kind of chart: what draws it, and what its results lack if they are not of the kind, None if nothing."""

    lacks: Callable[[Given], str | None]
    draw: Callable[[Given], ChartType]
    is_chosen: Callable[[Given], bool] = lambda _: True


def _is_curve(name: str, given: Given) -> str | None:
    return None if given.curve == name else f"it is of the curve {name}"


def _is(result: str, what: str, given: Given) -> str | None:
    return None if given.told.result == result else f"it is of {what}"


def _has_values(given: Given) -> str | None:
    if given.told.result != "metrics":
        return "it is of metrics"
    if given.named("query"):
        return "it is of metrics of all queries; leave out per_query"
    return None if given.named("metric") else "it is of metrics"


def _has_cutoffs(given: Given) -> str | None:
    return _has_values(given) or (None if given.named("cutoff") else "it needs a range of cut-offs, such as nDCG@1..20")


def _is_of_rows(given: Given) -> str | None:
    return _has_values(given) or ("it has no place for a range of cut-offs" if given.named("cutoff") else None)


def _has_days(given: Given) -> str | None:
    return _is_of_rows(given) or (None if given.days and not given.is_sliced else "it needs a column of dates in by, in one grouping")


def _has_two_columns(given: Given) -> str | None:
    enough = len(given.named("by")) > 1 and not given.is_sliced
    return _is_of_rows(given) or (None if enough else "it needs two columns in by, in one grouping")


def _is_one_metric_by_two(given: Given) -> bool:
    return len(given.named("by")) == 2 and len(given.measures) == 1 and not given.named("low")  # noqa: PLR2004  what a heat map shows


KINDS = {
    **{name.lower(): Kind(partial(_is_curve, name), curves.curve) for name in curves.CURVES},
    "threshold": Kind(partial(_is_curve, "Threshold"), curves.threshold),
    "calibration": Kind(partial(_is_curve, "Calibration"), curves.calibration),
    "forest": Kind(partial(_is, "comparison", "comparisons, which sqlrank.compare returns"), comparisons.forest),
    "differences": Kind(
        partial(_is, "differences", "differences of queries, which sqlrank.compare returns with per_query=True"), comparisons.differences
    ),
    "cutoffs": Kind(_has_cutoffs, metrics.cutoffs),
    "line": Kind(_has_days, metrics.line),
    "heatmap": Kind(_has_two_columns, metrics.heatmap, _is_one_metric_by_two),
    "bars": Kind(_is_of_rows, metrics.bars),
}
"""The kinds of charts, of which the first that a result is of is drawn unless another is asked for."""


def draw(given: Given, kind: str | None) -> ChartType:
    """Return the chart of a result; raise ``MetricError`` for a kind that does not exist or does not fit."""
    fitting = [name for name, each in KINDS.items() if each.lacks(given) is None]
    if kind is not None:
        check_kind(kind)
        if (reason := KINDS[kind.lower()].lacks(given)) is not None:
            instead = f"this result can be drawn as: {', '.join(fitting)}" if fitting else "this result has no chart"
            raise MetricError(f"kind={kind!r} does not fit: {reason}; {instead}")
        return KINDS[kind.lower()].draw(given)
    if not fitting:
        raise MetricError(_no_chart(given))
    return next(KINDS[name] for name in fitting if KINDS[name].is_chosen(given)).draw(given)


def check_kind(kind: str | None) -> None:
    """Raise ``MetricError`` for a kind that does not exist."""
    if kind is not None and kind.lower() not in KINDS:
        raise MetricError(f"there is no kind of chart {shown(kind)}{suggestion(kind, KINDS)} Choose from: {', '.join(KINDS)}")


def _no_chart(given: Given) -> str:
    if given.curve is not None:
        return f"{given.curve} has no chart; these curves have one: {', '.join([*curves.CURVES, 'Threshold', 'Calibration'])}"
    return "values of single queries have no chart: leave out per_query, or compare systems with sqlrank.compare(..., per_query=True)"
