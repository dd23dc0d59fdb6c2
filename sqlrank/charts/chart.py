"""Draw a result."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlrank.arguments import public
from sqlrank.errors import SqlrankError

if TYPE_CHECKING:
    from altair.typing import ChartType


@public
def chart(result: Any, kind: str | None = None) -> ChartType:
    """Return the chart of a result, as Altair draws it in a notebook; :func:`sqlrank.charts.files.write` makes files of it.

    Columns of ``by`` become colours, further ones facets; the system called ``baseline`` is grey. Metrics that count, such as
    ``num_q``, are shown with the others when pointed at, and drawn where there is nothing else.

    Args:
        result: an Arrow table as :func:`sqlrank.evaluate` or :func:`sqlrank.compare` returned it, whose metadata say what its columns are.
        kind: ``roc``, ``pr``, ``gain``, ``lift``, ``threshold`` and ``calibration``, each of its curve; ``cutoffs`` (metrics over a range such as
            ``nDCG@1..20``); ``line`` (over a column of dates); ``heatmap`` (by two columns); ``bars``, with intervals if the result has
            them; ``forest`` (comparisons with their intervals); ``differences`` (of queries in order). By itself the first that fits.

    Returns:
        An ``altair.Chart``, or one of several, layered, in facets or side by side; it holds its data.

    Raises:
        InputError: no table of sqlrank, or one that has lost its metadata; more values than a chart can tell apart.
        MetricError: a kind that does not exist or does not fit.
        SqlrankError: Altair is not installed.

    >>> import pyarrow as pa
    >>> import sqlrank
    >>> clicks = pa.table({"label": [0, 1, 0, 1], "score": [0.1, 0.4, 0.5, 0.8]})
    >>> chart(sqlrank.evaluate("ROC", predictions=clicks)).to_dict()["layer"][1]["encoding"]["x"]["title"]
    'false positive rate (share of negatives)'
    """
    need("altair")
    from sqlrank.charts.given import Given  # noqa: PLC0415
    from sqlrank.charts.kinds import draw  # noqa: PLC0415  Altair is an optional dependency, and takes half a second

    return draw(Given.of(result), kind)


def need(*modules: str) -> None:
    """Raise ``SqlrankError`` if what charts need is not installed."""
    for name in modules:
        try:
            import_module(name)
        except ImportError:
            raise SqlrankError(f"charts need {name}; install sqlrank[charts]") from None
