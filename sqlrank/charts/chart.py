"""Make the Altair chart of a result (the public function ``chart``), and check that optional
dependencies are installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlrank.call.argument_checks import entry_point
from sqlrank.errors import InputError, SqlrankError

if TYPE_CHECKING:
    from altair.typing import ChartType


@entry_point
def chart(result: Any, kind: str | None = None, *, title: str | None = None) -> ChartType:
    """Return the Altair chart of a result; :func:`sqlrank.charts.export.save_chart` saves it.

    Columns of ``by`` become colors, further ones facets; the system called ``baseline`` is grey.
    Count metrics, such as ``num_q``, appear in tooltips, and are drawn only if there is no other
    metric.

    Args:
        result: an Arrow table as :func:`sqlrank.evaluate` or :func:`sqlrank.compare` returned it,
            with its metadata.
        kind: ``roc``, ``pr``, ``gain``, ``lift``, ``threshold``, ``calibration`` and ``confusion``,
            each for its curve; ``cutoffs`` (metrics over a range such as ``nDCG@1..20``); ``line``
            (over a date column); ``heatmap`` (two columns); ``dots``, with intervals if the result
            has them; ``forest`` (comparisons with intervals); ``differences`` (sorted per-query
            differences). By default the first kind that fits.
        title: the heading of the chart; by default what it is of, such as ``AUC and LogLoss by
            campaign``.

    Returns:
        An ``altair.Chart``, or a layered, faceted or concatenated one; it contains its data.

    Raises:
        InputError: not a table of sqlrank, or one without its metadata; more values than a chart
            can distinguish.
        MetricError: a kind that does not exist or does not fit.
        SqlrankError: Altair is not installed.

    >>> import pyarrow as pa
    >>> import sqlrank
    >>> clicks = pa.table({"label": [0, 1, 0, 1], "score": [0.1, 0.4, 0.5, 0.8]})
    >>> chart(sqlrank.evaluate("ROC", predictions=clicks)).to_dict()["layer"][1]["encoding"]["x"][
    ...     "title"
    ... ]
    'false positive rate (share of negatives)'
    """
    require_modules("altair")
    # Altair is an optional dependency, and takes half a second
    from sqlrank.charts.chart_kinds import draw_chart
    from sqlrank.charts.result_view import ResultView

    view = ResultView.from_result(result)
    try:
        drawn = draw_chart(view, kind)
    except SqlrankError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        # Charts trust the metadata, which another program may have written into a file.
        raise InputError(
            "this result cannot be drawn: its columns are not those of its metadata. Give it as"
            " sqlrank returned it"
        ) from error
    if title is not None:
        drawn.title.text = title
    return drawn


def require_modules(*modules: str) -> None:
    """Raise ``SqlrankError`` if an optional dependency of charts is not installed."""
    for name in modules:
        try:
            import_module(name)
        except ImportError:
            raise SqlrankError(
                f"charts need {name}. Run pip install 'altair<7' vl-convert-python"
            ) from None
