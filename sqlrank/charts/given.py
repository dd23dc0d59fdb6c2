"""A result as charts read it: what it says of itself, its rows, and what tells them apart."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.errors import InputError
from sqlrank.library.told import ROWS, Told, read_told, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 200
"""How many values of a column a chart tells apart."""

PLACES = ("colour", "column", "row")
"""What the columns that tell rows apart become, in order; further ones share the last. Data have fields of these names, since
Vega would read the names of a caller's columns as paths."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Dimension:
    """What tells rows apart: the field of it, its title, its labels in the order of the rows, and which of them is the baseline."""

    field: str
    title: str
    labels: tuple[str, ...]
    baseline: str = "baseline"


@dataclass(frozen=True)
class Given:
    """A result with its rows; ``said`` is the rest of its metadata, such as ``confidence``, ``dates`` are columns of that type."""

    told: Told
    rows: list[dict[str, Any]]
    said: Mapping[str, str]
    dates: frozenset[str] = frozenset()

    @classmethod
    def of(cls, result: Any) -> Given:
        """Read a result; raise ``InputError`` for what is none, or has lost its metadata, or the columns that they tell of."""
        if not isinstance(result, pa.Table):
            raise InputError(
                f"a chart is of an Arrow table that sqlrank returned, and a {type(result).__name__} is none; give the result as it came"
            )
        metadata = result.schema.metadata or {}
        said = read_told(metadata)
        if said is None and b"sqlrank.version" in metadata:
            raise InputError("this result has no chart: give one of sqlrank.evaluate or sqlrank.compare, of this version or a later one")
        if said is None:
            raise InputError(
                "this table has no metadata of sqlrank, which say what its columns are; give the result as sqlrank returned it: "
                "pandas, Polars, and CSV and JSON files do not keep them, Parquet files do"
            )
        if missing := [name for name in said.columns if name not in result.column_names]:
            raise InputError(f"the result has no column {missing[0]!r} any more, of which its metadata tell; give it as it was returned")
        if (names := result.column_names) and len(set(names)) < len(names):
            raise InputError(f"two columns of the result have the same name: {', '.join(names)}")
        own = {name[8:].decode(): value.decode() for name, value in metadata.items() if name.startswith(b"sqlrank.")}
        dates = frozenset(field.name for field in result.schema if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type))
        return cls(said, result.to_pylist(), own, dates)

    def named(self, kind: str) -> list[str]:
        """Return the columns of a kind."""
        return [name for name, found in self.told.columns.items() if found == kind]

    @property
    def curve(self) -> str | None:
        """The name of the curve, if it is one."""
        return None if self.told.curve is None else str(self.told.curve["name"])

    @property
    def is_sliced(self) -> bool:
        """Whether there are several groupings."""
        return bool(self.named("slice"))

    @property
    def measures(self) -> list[str]:
        """The metrics that are drawn: all but counts, unless there is nothing else."""
        metrics = self.named("metric")
        return [name for name in metrics if self.told.measures[name]["unit"] != "count"] or metrics

    @property
    def days(self) -> str | None:
        """The first column of ``by`` that holds dates or times and no NULL, also as text; None if there is none."""
        for name in self.named("by"):
            values = [row[name] for row in self.rows]
            if (name in self.dates and None not in values) or (values and all(_is_day(value) for value in values)):
                return name
        return None

    def counts(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return what says how many there are behind a row: metrics that count, and the rows of its group if units are not told."""
        drawn = self.measures
        found = {name: row[name] for name in (*self.named("metric"), *self.named("days"), *self.named("rows")) if name not in drawn}
        if self.rows_of and not self.named("units"):
            keys = [name for name, kind in self.told.columns.items() if kind in {"by", "slice"}]
            found["n"] = self.rows_of.get(tuple(texts_of(row, keys)))
        return found

    @cached_property
    def rows_of(self) -> dict[tuple[str | None, ...], int]:
        """How many rows of the input each group has, where the result says so."""
        return {tuple(item[:-1]): item[-1] for item in json.loads(self.said.get(ROWS.removeprefix("sqlrank."), "[]"))}

    def title(self, measure: str, of_difference: bool = False) -> str:
        """Return the name of a metric with its unit, for an axis; a range is not that of its differences."""
        said = self.told.measures.get(measure, {"unit": "", "better": "neither"})
        notes = [said["unit"]] if said["unit"] and not (of_difference and " to " in said["unit"]) else []
        notes += [f"{said['better']} is better"] if said["better"] != "neither" else []
        return f"{measure} ({', '.join(notes)})" if notes else measure

    def dimensions(self, leave_out: Sequence[str] = (), places: Sequence[str] = PLACES) -> tuple[list[Dimension], list[dict[str, str]]]:
        """Return what tells rows apart, and the labels of each row by field; raise ``InputError`` for more than can be shown."""
        columns = [name for name in self.named("by") if name not in leave_out]
        grouped = self._grouped(columns)
        found = [(name, labels_of([row[name] for row in self.rows])) for name in columns if name not in grouped]
        if self.is_sliced:
            found.append((", ".join(grouped) or "slice", self._slices(grouped)))
        dimensions, keys = placed(found, places, len(self.rows))
        return [replace(item, baseline=self.said.get("baseline", item.baseline)) for item in dimensions], keys

    def _held(self, name: str, row: Mapping[str, Any]) -> bool:
        """Whether the grouping of a row has a column."""
        return f",{name}," in f",{row[self.named('slice')[0]].replace(', ', ',')},"

    def _grouped(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that only some of several groupings have: one that none names is the column of scores, which all have."""
        if not self.is_sliced:
            return []
        return [name for name in columns if len({self._held(name, row) for row in self.rows}) > 1]

    def _slices(self, columns: Sequence[str]) -> list[str]:
        """Return by row what its grouping is of: ``country=FR``, or ``all``."""
        texts = {name: labels_of([row[name] for row in self.rows]) for name in columns}
        held = [[name for name in columns if self._held(name, row)] for row in self.rows]
        return [", ".join(f"{name}={texts[name][place]}" for name in names) or "all" for place, names in enumerate(held)]


def placed(found: Sequence[tuple[str, list[str]]], places: Sequence[str], count: int) -> tuple[list[Dimension], list[dict[str, str]]]:
    """Return titled labels of rows as dimensions, one a place, of which the last takes all that are left."""
    kept = list(found[: len(places)])
    if len(found) > len(places):
        rest = found[len(places) - 1 :]
        kept[-1] = (", ".join(title for title, _ in rest), [", ".join(labels) for labels in zip(*(each for _, each in rest), strict=True)])
    dimensions = [Dimension(place, title, tuple(dict.fromkeys(labels))) for place, (title, labels) in zip(places, kept, strict=False)]
    for item in dimensions:
        if len(item.labels) > MOST:
            raise InputError(
                f"{item.title} has {len(item.labels):,} values, and a chart shows at most {MOST}; keep fewer rows, by where or --top"
            )
    keys = [{item.field: labels[place] for item, (_, labels) in zip(dimensions, kept, strict=True)} for place in range(count)]
    return dimensions, keys


def labels_of(values: Sequence[Any]) -> list[str]:
    """Return values as texts, NULL as one that no other value has."""
    texts = [None if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    null = "NULL"
    while null in texts:
        null += " (none)"
    return [null if text is None else text for text in texts]


def moment(value: Any) -> str:
    """Return a date or time as Vega reads it in the reader's own time zone, which is that in which it is shown."""
    text = value.replace(tzinfo=None).isoformat() if hasattr(value, "hour") else str(value)
    return text if len(text) > len("2026-01-01") else f"{text}T00:00:00"


def _is_day(value: Any) -> bool:
    """Whether a text is a date."""
    try:
        return isinstance(value, str) and _DAY.fullmatch(value) is not None and date.fromisoformat(value) is not None
    except ValueError:
        return False
