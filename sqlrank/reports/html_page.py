"""Render the HTML page of a report from sections, save it to a checked file, and display it in
notebooks.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.call.argument_checks import check_arguments
from sqlrank.charts.chart import require_modules as need_charts
from sqlrank.errors import SqlrankError
from sqlrank.output.contrast_tables import DIFFERS_LABEL
from sqlrank.output.output_file import FileKind, OutputFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from sqlrank.reports.blocks import Section

TEMPLATE_FOLDER = Path(__file__).parent
PAGE_SUFFIXES = (".html", ".htm")

MARK_TITLES = {
    "better": "significantly better",
    "worse": "significantly worse",
    "differs": DIFFERS_LABEL,
}
"""Titles of the marks of cells by verdict."""


@dataclass(frozen=True, repr=False)
class Report:
    """A report as one self-contained HTML page."""

    title: str
    html: str

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Save the page to a file with suffix ``.html``, and return its path.

        Raises:
            SqlrankError: another suffix, a missing folder, or an existing file that is not a report
                of sqlrank's (without ``force``).
        """
        check_arguments({"path": path}, ["path"])
        page_file(Path(path), "path", force).write(self.html)
        return Path(path)

    def __repr__(self) -> str:
        return (
            f"<sqlrank report {self.title!r}, {len(self.html.encode()):,} bytes of HTML, for"
            " save(path)>"
        )

    def _repr_html_(self) -> str:
        """Return a sandboxed frame that isolates the page's style and script from the notebook."""
        allowed = 'sandbox="allow-scripts allow-downloads" allow="clipboard-write"'
        style = "width:100%;height:80vh;border:1px solid #8888"
        return (
            f'<iframe title="{escape(self.title)}" {allowed} style="{style}"'
            f' srcdoc="{escape(self.html)}"></iframe>'
        )


def page_file(path: Path, option: str, force: bool, sources: tuple[Any, ...] = ()) -> OutputFile:
    """Return the output file of a report, checked before any work.

    Raises ``SqlrankError`` for a file that must not be written.
    """
    file = OutputFile(path, FileKind.REPORT, option, force, sources=sources)
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise SqlrankError(
            f"{file.label}: a report is a page of HTML. Name a file that ends in .html"
        )
    return file


def require_report_modules() -> None:
    """Raise ``SqlrankError`` if an optional dependency of reports is not installed."""
    try:
        need_charts("altair", "vl_convert", "jinja2")
    except SqlrankError as error:
        raise SqlrankError(
            str(error)
            .replace("charts need", "a report needs")
            .replace("vl-convert-python", "vl-convert-python jinja2")
        ) from None


def render_page(
    title: str,
    arguments: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    subject: str = "",
    head: str = "",
) -> Report:
    """Render sections as a page; ``arguments`` lists the arguments of the report as text,
    ``subject`` stands in the title of the window, and ``head`` below the heading.
    """
    from markupsafe import Markup  # of jinja2, an optional dependency

    script = (TEMPLATE_FOLDER / "report.js").read_text("utf-8")
    # The content security policy allows only this script, and no requests.
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = _load_template().render(
        title=title,
        subject=subject,
        head=head,
        arguments=arguments,
        sections=sections,
        labels=MARK_TITLES,
        version=__version__,
        script=Markup(script),  # noqa: S704  our own file
        # Our own file
        style=Markup((TEMPLATE_FOLDER / "report.css").read_text("utf-8")),  # noqa: S704
        script_hash=script_hash,
    )
    return Report(title, html)


@cache
def _load_template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # an optional dependency
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Vega escapes the texts of its SVG.
    environment.filters["drawn"] = Markup
    return environment.get_template("report.html.j2")
