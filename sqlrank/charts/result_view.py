"""Read a result for charts: rows, metadata, labels and times as text, and group columns assigned to
channels such as color.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.errors import InputError
from sqlrank.output.contrast_tables import PERIODS
from sqlrank.result_columns import BOUNDS, DRIFT_SCHEMA
from sqlrank.result_metadata import (
    ROW_COUNTS_KEY,
    UNIT_KEY,
    ResultMetadata,
    find_range,
    group_texts,
    read_json,
    read_result_metadata,
    read_texts,
    read_unit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.result_columns import ResultRow

MAX_DIMENSION_LABELS = 200
"""Maximum number of distinct values of a column in a chart."""

AREA_METRICS = {"ROC": "AUC", "PR": "APS"}
"""Metrics that are the area of a curve, which its legend shows."""

BASELINE = "baseline"
"""Name of the baseline where the metadata of a result name none."""

DRIFT = "drift"
"""Kind of result with the differences between two periods."""

CHANNELS = ("colour", "column", "row")
"""Channels of the group columns, in order; further columns share the last.

Data fields have these names, since Vega would parse the names of a caller's columns as paths.
"""

_REFERENCE = re.compile(r"(-?[\d.]+) \((.+)\)\.?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Dimension:
    """A group column in a chart: field, title, labels in the order of the rows, the baseline's
    label, and the texts of labels in a legend.
    """

    field: str
    title: str
    labels: tuple[str, ...]
    baseline: str = BASELINE
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ResultView:
    """A result with its rows.

    ``texts`` is the remaining metadata, such as ``confidence``; ``dates`` are the date columns.
    ``input_rows_by_group`` is the number of input rows by group, if the result has it.
    """

    result_metadata: ResultMetadata
    rows: list[dict[str, Any]]
    texts: Mapping[str, str]
    dates: frozenset[str] = frozenset()
    input_rows_by_group: Mapping[tuple[str | None, ...], int] = field(default_factory=dict)

    @classmethod
    def from_result(cls, result: Any) -> ResultView:
        """Read a result.

        Raises ``InputError`` for other objects, missing metadata, or missing columns.
        """
        if not isinstance(result, pa.Table):
            raise InputError(
                f"a chart is of an Arrow table that sqlrank returned, and a {type(result).__name__}"
                " is none. Give the result as it came"
            )
        metadata = result.schema.metadata or {}
        result_metadata = read_result_metadata(metadata) or _describe_drift(result)
        if result_metadata is None and b"sqlrank.version" in metadata:
            raise InputError(
                "this result has no chart: give one of sqlrank.evaluate or sqlrank.compare, of this"
                " version or a later one"
            )
        if result_metadata is None:
            raise InputError(
                "this table has no metadata of sqlrank, which describe its columns. Give the result"
                " as sqlrank returned it: pandas, Polars, and CSV and JSON files do not keep them,"
                " Parquet files do"
            )
        if missing := [name for name in result_metadata.columns if name not in result.column_names]:
            raise InputError(
                f"the result has no column {missing[0]!r} of its metadata. Give it as it was"
                " returned"
            )
        if (names := result.column_names) and len(set(names)) < len(names):
            raise InputError(f"two columns of the result have the same name: {', '.join(names)}")
        texts = {
            name.removeprefix("sqlrank."): value for name, value in read_texts(metadata).items()
        }
        row_counts = (
            read_json(metadata, ROW_COUNTS_KEY, _is_row_counts, "this result")
            if ROW_COUNTS_KEY.encode() in metadata
            else []
        )
        dates = frozenset(
            field.name
            for field in result.schema
            if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type)
        )
        return cls(
            result_metadata,
            result.to_pylist(),
            texts,
            dates,
            {tuple(entry[:-1]): entry[-1] for entry in row_counts},
        )

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the columns of a kind."""
        return [
            name
            for name, column_kind in self.result_metadata.columns.items()
            if column_kind == kind
        ]

    @property
    def confidence(self) -> str:
        """Return the confidence level in percent, a question mark if the metadata lack it."""
        level = self.texts.get("confidence")
        return "?" if level is None else f"{100 * float(level):g}"

    @property
    def unit(self) -> str:
        """Return the word for a unit of the result."""
        unit = self.texts.get("unit")
        return read_unit(None if unit is None else {UNIT_KEY.encode(): unit.encode()})

    @property
    def curve(self) -> str | None:
        """Return the name of the curve, or None."""
        return (
            None if self.result_metadata.curve is None else str(self.result_metadata.curve["name"])
        )

    @property
    def areas(self) -> list[tuple[str, float]]:
        """Return the AUC or APS of each label of a curve, if a report computed it."""
        entries = json.loads(self.texts.get("areas", "[]"))
        return [(str(label), float(area)) for label, area in entries]

    @property
    def is_sliced(self) -> bool:
        """Return True if there are several groupings."""
        return bool(self.columns_of_kind("slice"))

    @property
    def drawn_metrics(self) -> list[str]:
        """Return the metrics to draw: all except counts, or counts if there are no others."""
        metrics = self.columns_of_kind("metric")
        return [
            name for name in metrics if self.result_metadata.measures[name]["unit"] != "count"
        ] or metrics

    @property
    def date_column(self) -> str | None:
        """Return the first column of ``by`` with dates or times and without NULL, or None.

        Texts of ISO dates count as dates.
        """
        for name in self.columns_of_kind("by"):
            values = [row[name] for row in self.rows]
            if (name in self.dates and None not in values) or (
                values and all(_is_day(value) for value in values)
            ):
                return name
        return None

    def list_counts(self, row: ResultRow) -> dict[str, Any]:
        """Return the counts behind a row for its tooltip: count metrics, and input rows if units
        are absent.
        """
        drawn_metrics = self.drawn_metrics
        counts = {
            name: row[name]
            for name in (
                *self.columns_of_kind("metric"),
                *self.columns_of_kind("num_days"),
                *self.columns_of_kind("num_rows"),
            )
            if name not in drawn_metrics
        }
        if self.input_rows_by_group and not self.columns_of_kind("n_units"):
            keys = [
                name
                for name, column_kind in self.result_metadata.columns.items()
                if column_kind in {"by", "slice"}
            ]
            counts["n"] = self.input_rows_by_group.get(tuple(group_texts(row, keys)))
        return counts

    def find_range(self, measure: str) -> tuple[float, float] | None:
        """Return the least and the greatest value of a metric, or None without bounds."""
        return find_range(self.result_metadata.measures.get(measure, {}))

    def find_reference(self, measure: str) -> tuple[float, str] | None:
        """Return the value that a metric declares to be compared with, and its meaning."""
        match = _REFERENCE.fullmatch(
            self.result_metadata.measures.get(measure, {}).get("reference", "")
        )
        return (float(match[1]), match[2]) if match else None

    def format_title(self, measure: str, is_difference: bool = False) -> str:
        """Return the axis title of a metric with its unit and direction.

        For a difference, a unit that is a range is left out.
        """
        measure_metadata = self.result_metadata.measures.get(
            measure, {"unit": "", "better": "neither"}
        )
        notes = (
            [measure_metadata["unit"]]
            if measure_metadata["unit"]
            and not (is_difference and " to " in measure_metadata["unit"])
            else []
        )
        notes += (
            [f"{measure_metadata['better']} is better"]
            if measure_metadata["better"] != "neither"
            else []
        )
        return f"{measure} ({', '.join(notes)})" if notes else measure

    def assign_dimensions(
        self, leave_out: Sequence[str] = (), channels: Sequence[str] = CHANNELS
    ) -> tuple[list[Dimension], list[dict[str, str]]]:
        """Return the dimensions of the groups, and the labels of each row by field.

        Raises ``InputError`` for more labels than a chart can show.
        """
        columns = [name for name in self.columns_of_kind("by") if name not in leave_out]
        grouped = self._partial_group_columns(columns)
        titled_labels = [
            (
                "system" if name == self.texts.get("system") else name,
                text_labels([row[name] for row in self.rows]),
            )
            for name in columns
            if name not in grouped
        ]
        if self.is_sliced:
            titled_labels.append((", ".join(grouped) or "slice", self._slice_labels(grouped)))
        dimensions, keys = assign_channels(titled_labels, channels, len(self.rows))
        baseline = self.texts.get("baseline", BASELINE)
        return [replace(dimension, baseline=baseline) for dimension in dimensions], keys

    def _is_grouped_by(self, name: str, row: ResultRow) -> bool:
        """Return True if the grouping of a row has a column."""
        return f",{name}," in f",{row[self.columns_of_kind('slice')[0]].replace(', ', ',')},"

    def _partial_group_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that only some of several groupings have.

        A column that no grouping names is the score column, which all have.
        """
        if not self.is_sliced:
            return []
        return [
            name
            for name in columns
            if len({self._is_grouped_by(name, row) for row in self.rows}) > 1
        ]

    def _slice_labels(self, columns: Sequence[str]) -> list[str]:
        """Return the slice label of each row: ``country=FR``, or ``all``."""
        texts = {name: text_labels([row[name] for row in self.rows]) for name in columns}
        columns_by_row = [
            [name for name in columns if self._is_grouped_by(name, row)] for row in self.rows
        ]
        return [
            ", ".join(f"{name}={texts[name][index]}" for name in names) or "all"
            for index, names in enumerate(columns_by_row)
        ]


def _describe_drift(result: pa.Table) -> ResultMetadata | None:
    """Return the metadata of drift, which its columns are; None for other tables."""
    needed = {"metric", *PERIODS.values, "difference", *BOUNDS}
    has_version = b"sqlrank.version" in (result.schema.metadata or {})
    if not has_version or not needed <= {*result.column_names}:
        return None
    columns = {name: name if name in DRIFT_SCHEMA else "by" for name in result.column_names}
    return ResultMetadata(DRIFT, columns, {})


def _is_row_counts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, list)
        and entry
        and isinstance(entry[-1], int)
        and all(text is None or isinstance(text, str) for text in entry[:-1])
        for entry in value
    )


def assign_channels(
    titled_labels: Sequence[tuple[str, list[str]]], channels: Sequence[str], count: int
) -> tuple[list[Dimension], list[dict[str, str]]]:
    """Assign labels to channels, one dimension each; the last channel takes all remaining ones."""
    assigned = list(titled_labels[: len(channels)])
    if len(titled_labels) > len(channels):
        rest = titled_labels[len(channels) - 1 :]
        assigned[-1] = (
            ", ".join(title for title, _ in rest),
            [
                ", ".join(labels)
                for labels in zip(*(column_labels for _, column_labels in rest), strict=True)
            ],
        )
    dimensions = [
        Dimension(channel, title, tuple(dict.fromkeys(labels)))
        for channel, (title, labels) in zip(channels, assigned, strict=False)
    ]
    for dimension in dimensions:
        if len(dimension.labels) > MAX_DIMENSION_LABELS:
            raise InputError(
                f"{dimension.title} has {len(dimension.labels):,} values, and a chart shows at most"
                f" {MAX_DIMENSION_LABELS}. Keep fewer rows, such as by where="
            )
    keys = [
        {
            dimension.field: labels[index]
            for dimension, (_, labels) in zip(dimensions, assigned, strict=True)
        }
        for index in range(count)
    ]
    return dimensions, keys


def text_labels(values: Sequence[Any]) -> list[str]:
    """Return values as texts; NULL gets a text that no other value has."""
    texts = [
        None if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values
    ]
    null = "NULL"
    while null in texts:
        null += " (none)"
    return [null if text is None else text for text in texts]


def vega_timestamp(value: Any) -> str:
    """Return a date or time as local time, which Vega shows without shifting it."""
    text = value.replace(tzinfo=None).isoformat() if hasattr(value, "hour") else str(value)
    return text if len(text) > len("2026-01-01") else f"{text}T00:00:00"


def _is_day(value: Any) -> bool:
    """Return True if a text is an ISO date."""
    try:
        return (
            isinstance(value, str)
            and _DAY.fullmatch(value) is not None
            and date.fromisoformat(value) is not None
        )
    except ValueError:
        return False
