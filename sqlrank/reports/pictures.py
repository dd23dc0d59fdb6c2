"""Charts in a page: SVG as sqlrank.chart draws it, whose ids are of its own place and whose colours the page may change."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import sqlrank
from sqlrank.charts.files import svg
from sqlrank.errors import InputError, MetricError
from sqlrank.reports.parts import Picture, seen, shortened, statement

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 60
"""How many characters of a name are drawn."""

OURS = ("metric", "test", "correction", "slice")
"""Columns whose texts are sqlrank's own, by which charts look up what is known of a metric."""

BASELINE = b"sqlrank.baseline"
"""What the result of a report says is the baseline, which is grey."""

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
    """Return a result whose names fit beside an axis; different ones stay different, and one is the same in all columns."""
    kinds = {pa.string(), pa.large_string()}
    columns = {field.name: result[field.name].to_pylist() for field in result.schema if field.type in kinds and field.name not in OURS}
    names = _short([text for texts in columns.values() for text in dict.fromkeys(texts) if text is not None])
    for name, texts in columns.items():
        field = result.schema.field(name)
        short: Any = pa.array([None if text is None else names[text] for text in texts], field.type)
        result = result.set_column(result.schema.get_field_index(name), field, short)
    metadata = dict(result.schema.metadata or {})
    if (baseline := metadata.get(BASELINE)) is not None:
        metadata[BASELINE] = names.get(baseline.decode(), baseline.decode()).encode()
    return result.replace_schema_metadata(metadata)


def _short(texts: list[str]) -> dict[str, str]:
    """Return what stands for each text: its first characters, and a number where these are those of another.

    >>> _short(["a", "b" * 61, "b" * 62])["b" * 62][-7:]
    '... (2)'
    """
    found: dict[str, str] = {}
    taken = {text for text in texts if len(text) <= LONGEST and seen(text) == text}
    times: Counter[str] = Counter()
    for text in dict.fromkeys(texts):
        first = seen(text) if len(seen(text)) <= LONGEST else f"{seen(text)[:LONGEST]}..."
        short = first
        while short in taken and text != short:
            times[first] += 1
            short = f"{first} ({times[first] + 1})"
        taken.add(short)
        found[text] = short
    return found
