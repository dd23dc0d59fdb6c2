"""The pages of website/templates, which are Markdown."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _load_templates() -> Environment:
    # Here, since a release writes the public interface where no tools for pages are installed
    from jinja2 import (  # noqa: PLC0415
        Environment,
        FileSystemLoader,
        StrictUndefined,
        select_autoescape,
    )

    return Environment(
        autoescape=select_autoescape(["svg.j2"]),
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
    )


def render_template(template: str, /, **values: Any) -> str:
    """Return the text of a template with values."""
    return _load_templates().get_template(f"{template}.j2").render(values)
