"""Charts as files: pictures, pages that need no network, and specifications; each says that sqlrank wrote it."""

from __future__ import annotations

import json
import re
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.charts.chart import need
from sqlrank.errors import SqlrankError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIGNED = f"sqlrank {__version__}"
DENSITY = 2
"""Pixels of a PNG for one of the chart's own."""

_PNG_HEAD = 33
"""Bytes of a PNG's signature and first chunk, which come before anything else."""

_UNDRAWN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
"""Characters that XML has no place for: vl-convert ends the process for one."""

_ID = re.compile(r'((?: id="|url\(#)(?:clip|gradient_))(\d+)')

PAGE = """<!DOCTYPE html>
<!-- {signed} -->
<html lang="en">
<head><meta charset="utf-8"><title>sqlrank</title></head>
<body>
<div id="chart"></div>
<script type="module">
{bundle}
vegaEmbed("#chart", {spec}, {{"renderer": "svg", "actions": {{"export": true, "source": false, "compiled": false, "editor": false}}}});
</script>
</body>
</html>
"""


def check_ending(path: Path) -> None:
    """Raise ``SqlrankError`` for a file whose ending does not say how to draw, or where what draws it is not installed."""
    if path.suffix.lower() not in ENDINGS:
        raise SqlrankError(f"-o {path}: its ending does not say how to draw it; use one of {', '.join(ENDINGS)}")
    need("altair", *(() if path.suffix.lower() == ".json" else ("vl_convert",)))


def write(chart: Any, path: Path) -> None:
    """Write a chart as the ending of a file says: ``.svg``, ``.png``, ``.pdf``, ``.html`` or ``.json``.

    The same chart gives the same bytes, but for PDF, of which vl-convert orders some parts by chance.

    Raises:
        SqlrankError: another ending, or vl-convert is not installed.
    """
    check_ending(path)
    path.write_bytes(ENDINGS[path.suffix.lower()](chart.to_dict()))


def svg(chart: Any) -> str:
    """Return a chart as a picture to be put into a page, without the mark of a file; raise ``SqlrankError`` without vl-convert."""
    need("vl_convert")
    return _picture(chart.to_dict())


def get_ready(path: Path) -> None:
    """Start what draws a file of this ending, which takes a second that other work may fill; drawing finds it started."""
    import sqlrank.charts.kinds  # noqa: F401, PLC0415  Altair, see need

    if path.suffix.lower() == ".html":
        _bundle()
    elif path.suffix.lower() != ".json":
        _svg({"mark": "point", "data": {"values": []}})


def _still(spec: Any) -> Any:
    """Return a specification without what only a pointer finds: the unseen points of lines."""
    if isinstance(spec, list):
        return [_still(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    # Data hold no marks, and are most of it.
    return {
        name: value if name == "datasets" else _still(value)
        for name, value in spec.items()
        if not (name == "point" and value == "transparent" and spec.get("type") == "line")
    }


def _drawable(spec: Any) -> Any:
    """Return a specification whose texts can be drawn: what cannot be is the character that stands for others."""
    if isinstance(spec, str):
        return _UNDRAWN.sub("\ufffd", spec)
    if isinstance(spec, list):
        return [_drawable(item) for item in spec]
    return {_drawable(name): _drawable(item) for name, item in spec.items()} if isinstance(spec, dict) else spec


@cache
def _bundle() -> str:
    """Return the scripts that draw a chart in a page."""
    import vl_convert  # noqa: PLC0415  see need

    found: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return found


def _version() -> str:
    """Return the version of Vega-Lite that Altair writes, as vl-convert names it."""
    import altair as alt  # noqa: PLC0415  see need

    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _picture(spec: dict[str, Any]) -> str:
    """Return an SVG whose ids are numbered from 0: Vega goes on counting from one chart to the next."""
    import vl_convert  # noqa: PLC0415  see need

    drawn: str = vl_convert.vegalite_to_svg(_drawable(_still(spec)), vl_version=_version())
    numbers: dict[str, int] = {}
    return _ID.sub(lambda found: f"{found[1]}{numbers.setdefault(found[2], len(numbers))}", drawn)


def _svg(spec: dict[str, Any]) -> bytes:
    return f"<!-- {SIGNED} -->\n{_picture(spec)}".encode()


def _png(spec: dict[str, Any]) -> bytes:
    import vl_convert  # noqa: PLC0415  see need

    found: bytes = vl_convert.svg_to_png(_picture(spec), scale=DENSITY)
    chunk = b"tEXtSoftware\0" + SIGNED.encode()
    said = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return found[:_PNG_HEAD] + said + found[_PNG_HEAD:]


def _pdf(spec: dict[str, Any]) -> bytes:
    import vl_convert  # noqa: PLC0415  see need

    found: bytes = vl_convert.svg_to_pdf(_picture(spec))
    return found + f"\n% {SIGNED}\n".encode()


def _html(spec: dict[str, Any]) -> bytes:
    """Return a page with all that draws the chart; what a caller's values hold cannot end the script that they stand in."""
    return PAGE.format(signed=SIGNED, bundle=_bundle(), spec=_text(spec).replace("<", "\\u003c")).encode()


def _json(spec: dict[str, Any]) -> bytes:
    return f"{_text(spec)}\n".encode()


def _text(spec: dict[str, Any]) -> str:
    """Return a specification as text that begins with who wrote it."""
    return json.dumps({"usermeta": spec["usermeta"], **spec}, ensure_ascii=False)


ENDINGS: dict[str, Callable[[dict[str, Any]], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf, ".html": _html, ".json": _json}
"""What makes the file, by its ending."""
