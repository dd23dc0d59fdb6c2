"""Make the Altair chart of a result (the public function ``chart``), and export charts as SVG, PNG,
PDF, HTML or Vega-Lite JSON files without a network, and as SVG panels for reports.

Pages contain their scripts and need no network.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.call.argument_checks import check_arguments, entry_point
from sqlrank.errors import InputError, SqlrankError
from sqlrank.output.output_file import FileKind, OutputFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

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
            has them; ``forest`` (comparisons with intervals); ``drift`` (changes between two
            periods); ``differences`` (sorted per-query differences). By default the first kind that
            fits.
        title: the heading of the chart; by default what it is of, such as ``AUC and LogLoss by
            campaign``.

    Returns:
        An ``altair.Chart``, or a layered, faceted or concatenated one; it contains its data.

    Raises:
        InputError: not a table of sqlrank, or one without its metadata; more values than a chart
            can distinguish.
        MetricError: a kind that does not exist or does not fit.
        SqlrankError: Altair is not installed.

    >>> import pyarrow as pa, sqlrank
    >>> clicks = pa.table({"label": [0, 1, 0, 1], "score": [0.1, 0.4, 0.5, 0.8]})
    >>> chart = sqlrank.chart(sqlrank.evaluate("ROC", predictions=clicks))
    >>> chart.to_dict()["layer"][1]["encoding"]["x"]["title"]
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


CREATOR = f"sqlrank {__version__}"
MIN_SCALED_PIXELS = 80
"""Smallest size of plots that panels reduce."""

PANEL_PROPERTIES = {"$schema", "usermeta", "description", "data", "config"}
"""Properties of a specification that each of its panels has."""

PANEL_PADDING = {"left": 5, "top": 5, "right": 9, "bottom": 5}
"""Pixels around panels: the last label of an axis is wider in a browser than Vega estimates."""

MAX_TITLE_CHARS = 100
"""Maximum number of characters of a page's title."""

PNG_SCALE = 2
"""Pixels of a PNG per chart pixel."""

_PNG_HEAD = 33
"""Bytes of a PNG's signature and header chunk."""

_UNDRAWN = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\u2028\\u2029\\ud800-\\udfff\\ufffe\\uffff]"
)
"""Characters that XML does not allow, for which vl-convert aborts the process, and line separators,
which it refuses.
"""

_ID = re.compile(r'((?: id="|url\(#)(?:clip|gradient_))(\d+)')

PAGE = """<!DOCTYPE html>
<!-- {signed} -->
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title></head>
<body>
<div id="chart"></div>
<h1 style="position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)">{title}</h1>
<script type="module">
{bundle}
vegaEmbed("#chart", {spec}, {{"renderer": "svg", "actions": {{"export": true, "source": false, "compiled": false, "editor": false}}}});
</script>
</body>
</html>
"""  # noqa: E501


def check_suffix(file: OutputFile) -> None:
    """Raise ``SqlrankError`` for an unknown file suffix or a missing renderer."""
    if file.path.suffix.lower() not in WRITERS_BY_SUFFIX:
        raise SqlrankError(
            f"{file.label}: its ending does not say how to draw it. Use one of"
            f" {', '.join(WRITERS_BY_SUFFIX)}"
        )
    require_modules("altair", *(() if file.path.suffix.lower() == ".json" else ("vl_convert",)))


def save_chart(chart: Any, path: str | Path, *, force: bool = False) -> None:
    """Save a chart in the format of the file suffix: ``.svg``, ``.png``, ``.pdf``, ``.html`` or
    ``.json``.

    The same chart gives the same bytes, except for PDF, some parts of which vl-convert orders
    randomly.

    Raises:
        SqlrankError: unknown suffix, an existing file that is not a chart of sqlrank's (without
            ``force``), or vl-convert is not installed.
    """
    check_arguments({"path": path}, ["path"])
    file = OutputFile(Path(path), FileKind.CHART, "path", force)
    check_suffix(file)
    file.write(chart_bytes(chart, file.path))


def chart_bytes(chart: Any, path: Path) -> bytes:
    """Return the content of a chart file in the format of its suffix."""
    return WRITERS_BY_SUFFIX[path.suffix.lower()](chart.to_dict())


def svg_panels(chart: Any) -> tuple[list[str], list[str]]:
    """Return the concatenated parts of a chart as SVG that fit a phone, and the notes under its
    title, to embed into a page.

    Points of lines remain, though transparent, since their descriptions are tooltips. Raises
    ``SqlrankError`` without vl-convert.
    """
    require_modules("vl_convert")
    from sqlrank.charts.theme import PANEL_SCALE  # imports Altair, an optional dependency

    spec = chart.to_dict(validate=False)  # of sqlrank, and tests validate each kind
    title = spec.pop("title", {})
    # Altair hoists the data that all parts have in common, also of a single part.
    shared = {name: part for name, part in spec.items() if name in PANEL_PROPERTIES}
    shared["padding"] = PANEL_PADDING
    datasets = spec.pop("datasets", {})
    panels = []
    legends: set[str] = set()
    for part in spec.get("concat", [spec]):
        panel = {**_drop_legends(_narrow_plots(part, PANEL_SCALE), legends), **shared}
        legends |= set(_list_legends(panel))
        text = json.dumps(panel)
        read = {name: rows for name, rows in datasets.items() if name in text}
        panels.append(_render_picture({**panel, "datasets": read}, has_hidden_points=True))
    return panels, list(title.get("subtitle", []))


def _list_legends(spec: Any) -> Iterator[str]:
    """Yield the encodings of colors and dashes with a legend, as text."""
    parts = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    for part in parts:
        if isinstance(part, dict) and part.get("legend") and "scale" in part:
            yield json.dumps(part)
        yield from _list_legends(part)


def _drop_legends(spec: Any, legends: Collection[str]) -> Any:
    """Return a specification without the legends that an earlier panel has."""
    if isinstance(spec, list):
        return [_drop_legends(part, legends) for part in spec]
    if not isinstance(spec, dict):
        return spec
    is_known = bool(spec.get("legend")) and json.dumps(spec) in legends
    return {name: _drop_legends(part, legends) for name, part in spec.items()} | (
        {"legend": None} if is_known else {}
    )


def _narrow_plots(spec: Any, scale: float) -> Any:
    """Return a specification with plots whose size is multiplied by ``scale``."""
    if isinstance(spec, list):
        return [_narrow_plots(part, scale) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        name: round(part * scale)
        if name in {"width", "height"}
        and isinstance(part, (int, float))
        and part >= MIN_SCALED_PIXELS
        else _narrow_plots(part, scale)
        for name, part in spec.items()
    }


def warm_up_renderer(path: Path) -> None:
    """Start the renderer of a file suffix; it takes a second, in parallel to other work."""
    # Imports Altair, an optional dependency
    import sqlrank.charts.chart_kinds  # noqa: F401

    if path.suffix.lower() == ".html":
        _load_javascript()
    elif path.suffix.lower() != ".json":
        _encode_svg({"mark": "point", "data": {"values": []}})


def _drop_hover_points(spec: Any) -> Any:
    """Remove parts of a specification that only a pointer reveals: transparent points of lines."""
    if isinstance(spec, list):
        return [_drop_hover_points(element) for element in spec]
    if not isinstance(spec, dict):
        return spec
    # Datasets contain no marks, and are the largest part.
    return {
        name: value if name == "datasets" else _drop_hover_points(value)
        for name, value in spec.items()
        if not (name == "point" and value == "transparent" and spec.get("type") == "line")
    }


def _replace_unrenderable(spec: Any) -> Any:
    """Replace characters that cannot be rendered by the replacement character, U+FFFD."""
    if isinstance(spec, str):
        return _UNDRAWN.sub("\ufffd", spec)
    if isinstance(spec, list):
        return [_replace_unrenderable(element) for element in spec]
    return (
        {_replace_unrenderable(name): _replace_unrenderable(value) for name, value in spec.items()}
        if isinstance(spec, dict)
        else spec
    )


@cache
def _load_javascript() -> str:
    """Return the JavaScript that renders a chart in a page."""
    import vl_convert  # an optional dependency

    bundle: str = vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=_find_vega_version()
    )
    return bundle


def _find_vega_version() -> str:
    """Return the Vega-Lite version of Altair, as vl-convert names it."""
    import altair as alt  # an optional dependency

    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _render_picture(spec: dict[str, Any], *, has_hidden_points: bool = False) -> str:
    """Return an SVG with its description, which vl-convert leaves out, and with ids numbered from
    0: Vega's own counter continues over charts.
    """
    import vl_convert  # an optional dependency

    svg_text: str = vl_convert.vegalite_to_svg(
        _replace_unrenderable(spec if has_hidden_points else _drop_hover_points(spec)),
        vl_version=_find_vega_version(),
    )
    if "description" in spec:
        svg_text = svg_text.replace(">", f"><desc>{escape(spec['description'])}</desc>", 1)
    numbers: dict[str, int] = {}
    return _ID.sub(
        lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers))}", svg_text
    )


def _encode_svg(spec: dict[str, Any]) -> bytes:
    return f"<!-- {CREATOR} -->\n{_render_picture(spec)}".encode()


def _encode_png(spec: dict[str, Any]) -> bytes:
    import vl_convert  # an optional dependency

    image: bytes = vl_convert.svg_to_png(_render_picture(spec), scale=PNG_SCALE)
    chunk = b"tEXtSoftware\0" + CREATOR.encode()
    text_chunk = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return image[:_PNG_HEAD] + text_chunk + image[_PNG_HEAD:]


def _encode_pdf(spec: dict[str, Any]) -> bytes:
    import vl_convert  # an optional dependency

    document: bytes = vl_convert.svg_to_pdf(_render_picture(spec))
    return document + f"\n% {CREATOR}\n".encode()


def _encode_html(spec: dict[str, Any]) -> bytes:
    """Return a self-contained page; ``<`` is escaped so that data cannot end the script."""
    title = escape(
        _replace_unrenderable(spec.get("title", {}).get("text", "sqlrank"))[:MAX_TITLE_CHARS]
    )
    return PAGE.format(
        signed=CREATOR,
        title=title,
        bundle=_load_javascript(),
        spec=_format_spec(spec).replace("<", "\\u003c"),
    ).encode()


def _encode_json(spec: dict[str, Any]) -> bytes:
    return f"{_format_spec(spec)}\n".encode()


def _format_spec(spec: dict[str, Any]) -> str:
    """Return a specification as JSON text that begins with the mark of sqlrank."""
    return json.dumps({"usermeta": spec["usermeta"], **spec}, ensure_ascii=False)


WRITERS_BY_SUFFIX: dict[str, Callable[[dict[str, Any]], bytes]] = {
    ".svg": _encode_svg,
    ".png": _encode_png,
    ".pdf": _encode_pdf,
    ".html": _encode_html,
    ".json": _encode_json,
}
"""The function that renders each file suffix."""
