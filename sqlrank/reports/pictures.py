"""Charts in a page: SVG as sqlrank.chart draws it, whose ids are of its own place and whose colours the page may change."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import sqlrank
from sqlrank.charts.files import svg
from sqlrank.errors import InputError, MetricError
from sqlrank.reports.parts import Picture, shortened, statement

if TYPE_CHECKING:
    from collections.abc import Callable

_ID = re.compile(r'( id="|="url\(#)((?:clip|gradient_)\d+)')


def picture(result: Callable[[], Any], ident: str, title: str, kind: str | None = None) -> Picture:
    """Return the chart of a result, or why it has none: what cannot be evaluated or drawn does not keep the rest from being shown."""
    try:
        found = result()
        drawn = svg(sqlrank.chart(found, kind))
    except (InputError, MetricError) as error:
        return Picture(ident, title, "", str(error))
    # Within a page ids are told apart by the picture; readers of screens hear its title, and the numbers are in tables.
    # On a narrow page a picture is scrolled before it is too small to be read.
    wide = re.search(r'width="(\d+)"', drawn)
    least = f"min-width:min(26rem,{wide[1]}px)" if wide else ""
    said = f'<svg role="img" aria-label="{escape(shortened(title))}" style="{least}" '
    own = _ID.sub(rf"\g<1>{ident}-\g<2>", drawn)
    return Picture(ident, title, own.replace("<svg ", said, 1), "", statement(found))
