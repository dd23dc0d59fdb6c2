"""The page of a report: its template filled, kept and shown."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.charts.chart import need as need_charts
from sqlrank.errors import SqlrankError
from sqlrank.results.targets import check_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jinja2 import Template

    from sqlrank.reports.parts import Section

HERE = Path(__file__).parent
ENDINGS = (".html", ".htm")


@dataclass(frozen=True, repr=False)
class Report:
    """A report as one page of HTML, which holds all that it shows."""

    title: str
    html: str

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page to a file that ends in ``.html``, and return its path.

        Raises:
            SqlrankError: another ending, or a file that sqlrank did not write, unless with ``force``.
        """
        target = Path(path)
        check_page(target, force)
        target.write_text(self.html, "utf-8")
        return target

    def __repr__(self) -> str:
        return f"<sqlrank report {self.title!r}, {len(self.html.encode()):,} bytes of HTML; save(path) writes it>"

    def _repr_html_(self) -> str:
        """Return a frame that holds the page, whose style does not reach what is around it, and whose script nothing outside."""
        allowed = 'sandbox="allow-scripts allow-downloads" allow="clipboard-write"'
        style = "width:100%;height:80vh;border:1px solid #8888"
        return f'<iframe title="{escape(self.title)}" {allowed} style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def check_page(path: Path, force: bool, sources: Iterable[Any] = ()) -> None:
    """Raise ``SqlrankError`` for a file that no report is written to: of another ending, an input, or not of sqlrank's making."""
    if path.suffix.lower() not in ENDINGS:
        raise SqlrankError(f"-o {path}: a report is a page of HTML; name a file that ends in .html")
    check_target(path, force, sources)


def need() -> None:
    """Raise ``SqlrankError`` if what reports need is not installed."""
    try:
        need_charts("altair", "vl_convert", "jinja2")
    except SqlrankError as error:
        raise SqlrankError(str(error).replace("charts need", "a report needs").replace("sqlrank[charts]", "sqlrank[report]")) from None


def page(title: str, told: Sequence[tuple[str, str]], sections: Sequence[Section]) -> Report:
    """Return the page of sections; ``told`` is what was asked, in words."""
    from markupsafe import Markup  # noqa: PLC0415  of jinja2, an optional dependency

    script = (HERE / "report.js").read_text("utf-8")
    # Only this script runs, whatever else got into the page, and nothing is fetched.
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = _template().render(
        title=title,
        told=told,
        sections=sections,
        version=__version__,
        script=Markup(script),  # noqa: S704  our own file
        style=Markup((HERE / "report.css").read_text("utf-8")),  # noqa: S704  our own file
        allowed=allowed,
    )
    return Report(title, html)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  an optional dependency
    from markupsafe import Markup  # noqa: PLC0415

    found = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # SVG is written by Vega, which escapes the texts in it.
    found.filters["drawn"] = Markup
    return found.get_template("report.html.j2")
