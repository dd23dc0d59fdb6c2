"""What a result says of itself, in the metadata of its schema: what it is, what its columns are, and what is known of its metrics."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.library.definitions import policies_of
from sqlrank.library.listing import better

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library

RESULT, COLUMNS, MEASURES, CURVE = "sqlrank.result", "sqlrank.columns", "sqlrank.measures", "sqlrank.curve"
"""The keys: a word; by column what it is; by metric its unit and which values are better; of a curve its name and settings."""


ROWS = "sqlrank.rows"
"""The key of how many rows of the input each group has: a list of lists, the texts of its columns and then the number."""


@dataclass(frozen=True)
class Told:
    """What a result says of itself.

    ``result`` is ``metrics``, ``curve``, ``comparison`` or ``differences``. ``columns`` says of each column what it is, in order: ``by``,
    ``slice``, ``query``, ``cutoff``, ``point``, ``value`` or ``id`` (of a curve), ``metric``, ``low``, ``high``, ``least``, ``greatest``,
    ``se``, ``units``, ``days``, ``rows``, ``weight``, or in comparisons its own name. ``measures`` has ``unit`` and ``better`` of each metric, ``curve`` the ``name`` and
    ``settings`` of a curve.
    """

    result: str
    columns: Mapping[str, str]
    measures: Mapping[str, Mapping[str, str]]
    curve: Mapping[str, Any] | None = None

    def metadata(self) -> dict[str, str]:
        """Return what is written into a schema."""
        found = {RESULT: self.result, COLUMNS: json.dumps(self.columns), MEASURES: json.dumps(self.measures)}
        return found | ({} if self.curve is None else {CURVE: json.dumps(self.curve)})


def told(columns: Mapping[str, str], asked: Sequence[Asked], library: Library) -> Told:
    """Return what is said of the result of a call with these columns."""
    if asked[0].file.kind == "curves":
        curve = {"name": asked[0].file.display_name, "settings": policies_of(asked[0], library)}
        return Told("curve", columns, {}, curve)
    return Told("metrics", columns, {str(item.metric): _measure(item, library) for item in asked})


def told_of_comparison(result: str, schema: Any, by: Sequence[str], measures: Mapping[bytes, bytes]) -> Told:
    """Return what is said of a comparison, or of its differences: ``by`` are its slices, ``measures`` the metadata of what was compared."""
    columns = {name: "by" if name in by else name for name in schema.names}
    return Told(result, columns, json.loads(measures[MEASURES.encode()]))


def texts_of(row: Mapping[str, Any], names: Sequence[str]) -> list[str | None]:
    """Return what some columns of a row hold as texts, by which its group is found again."""
    return [None if row[name] is None else str(row[name]) for name in names]


def read_told(metadata: Mapping[bytes, bytes] | None) -> Told | None:
    """Return what a result says of itself, None if it says nothing."""
    found = {name.decode(): value.decode() for name, value in (metadata or {}).items() if name.startswith(b"sqlrank.")}
    if RESULT not in found:
        return None
    curve = json.loads(found[CURVE]) if CURVE in found else None
    return Told(found[RESULT], json.loads(found[COLUMNS]), json.loads(found[MEASURES]), curve)


def _measure(item: Asked, library: Library) -> dict[str, str]:
    file = item.file
    unit = "count" if file.kind == "metrics" and file.is_total else file.facts.get("Unit", file.facts.get("Bounds", ""))
    return {"unit": unit, "better": better(str(item.metric), library)}
