"""Charts in a page: SVG as sqlrank.chart draws it, whose ids are of its own place and whose colours the page may change."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import sqlrank
from sqlrank.charts.files import svg
from sqlrank.errors import InputError, MetricError
from sqlrank.reports.parts import Picture, shortened, statement

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 60
"""How many characters of a name are drawn."""

_ID = re.compile(r'( id="|="url\(#)((?:clip|gradient_)\d+)')


def picture(result: Callable[[], Any], ident: str, title: str, kind: str | None = None) -> Picture:
    """Return the chart of a result, or why it has none: what cannot be evaluated or drawn does not keep the rest from being shown."""
    try:
        found = result()
        drawn = svg(sqlrank.chart(_with_short_names(found), kind))
    except (InputError, MetricError) as error:
        return Picture(ident, title, "", str(error))
    # Within a page ids are told apart by the picture; readers of screens hear its title, and the numbers are in tables.
    # On a narrow page a picture is scrolled before it is too small to be read.
    wide = re.search(r'width="(\d+)"', drawn)
    least = f"min-width:min(26rem,{wide[1]}px)" if wide else ""
    said = f'<svg role="img" aria-label="{escape(shortened(title))}" style="{least}" '
    own = _ID.sub(rf"\g<1>{ident}-\g<2>", drawn)
    return Picture(ident, title, own.replace("<svg ", said, 1), "", statement(found))


def _with_short_names(result: pa.Table) -> pa.Table:
    """Return a result whose texts fit beside an axis; different ones stay different."""
    for place, field in enumerate(result.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = result[field.name].to_pylist()
            if any(text is not None and len(text) > LONGEST for text in texts):
                names = _short([text for text in dict.fromkeys(texts) if text is not None])
                short: Any = pa.array([None if text is None else names[text] for text in texts], field.type)
                result = result.set_column(place, field, short)
    return result


def _short(texts: list[str]) -> dict[str, str]:
    """Return what stands for each text: its first characters, and a number where these are those of another."""
    found: dict[str, str] = {}
    taken = {text for text in texts if len(text) <= LONGEST}
    for text in texts:
        short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        number = 2
        while short in taken and text not in taken:
            short, number = f"{text[:LONGEST]}... ({number})", number + 1
        taken.add(short)
        found[text] = short
    return found
