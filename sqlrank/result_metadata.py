"""Write and read the metadata of a result's schema, also of stored results, which may be damaged:
kind of result, properties of columns and metrics, requested metric names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlrank.errors import InputError, join_words
from sqlrank.registry.metric_info import metric_direction
from sqlrank.registry.resolved_metric import ResolvedMetric, describe_bounds, effective_settings
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    NOTES_KEY,
    SE,
    SLICE_COLUMN,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.registry.registry import Registry


def read_parquet(path: str | Path, label: str, advice: str) -> pa.Table:
    """Read a Parquet file.

    Raises:
        InputError: The file cannot be read; the message begins with ``label``.
    """
    import pyarrow as pa  # help does not need it
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        # Arrow's messages about other formats mention magic bytes or the footer; damage inside a
        # Parquet file raises other OSErrors.
        is_other = any(
            text in str(error) for text in ("magic bytes", "file footer", "file size is 0 bytes")
        )
        reason = (
            "no Parquet file"
            if is_other
            else f"not readable: {(str(error).splitlines() or [''])[0]}"
        )
        raise InputError(f"{label} is {reason}. {advice}") from None


def read_json(
    metadata: Mapping[bytes, bytes] | None, key: str, fits: Callable[[Any], bool], label: str
) -> Any:
    """Parse the JSON of a metadata key.

    Raises:
        InputError: The key is missing, or its value does not pass ``fits``.
    """
    try:
        value = json.loads((metadata or {})[key.encode()])
    except (KeyError, ValueError, RecursionError):
        value = None
    if value is None or not fits(value):
        raise InputError(
            f"{label} has damaged metadata ({key}). Give a result as sqlrank returned or stored it"
        )
    return value


def read_texts(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Return the sqlrank entries of schema metadata as text by key."""
    return {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (metadata or {}).items()
        if key.startswith(b"sqlrank.")
    }


def name_unit(column: str) -> str:
    """Return the word for a unit by the name of its column, ``unit`` if that is no word.

    >>> [name_unit(column) for column in (ROW_UNIT, "user_id", "ad_group", "a || b", "address")]
    ['row', 'user', 'ad group', 'unit', 'unit']
    """
    if column == ROW_UNIT:
        return "row"
    name = column.removesuffix("_id")
    is_word = re.fullmatch("[a-z]+(_[a-z]+)*", name) and not re.search("(s|x|z|ch|sh|id)$", name)
    return name.replace("_", " ") if is_word else "unit"


def read_unit(metadata: Mapping[bytes, bytes] | None) -> str:
    """Return the word for a unit of a result."""
    return name_unit(read_texts(metadata).get(UNIT_KEY, UNIT_COLUMN))


def make_mapping_check(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a predicate for maps from text to values that pass ``fits``."""
    return lambda value: (
        isinstance(value, Mapping)
        and all(isinstance(key, str) and fits(entry) for key, entry in value.items())
    )


def is_text(value: Any) -> bool:
    """Return True if a value is a string."""
    return isinstance(value, str)


RESULT_KEY, COLUMNS_KEY, MEASURES_KEY, CURVE_KEY = (
    "sqlrank.result",
    "sqlrank.columns",
    "sqlrank.measures",
    "sqlrank.curve",
)
"""Metadata keys: kind of result, kinds of columns, metric properties, curve."""


CONFIDENCE_KEY, POWER_KEY = "sqlrank.confidence", "sqlrank.power"
UNIT_KEY, ROW_UNIT = "sqlrank.unit", ""
"""Metadata key of the column of units, and its value if each row of an input is a unit."""

EXPERIMENT = "experiment"
"""Kind of result with the effects of an experiment."""

CANONICAL_KEY = "sqlrank.canonical"
"""Metadata key of the canonical metrics of columns, or rows, with other names: JSON by name."""

ROW_COUNTS_KEY = "sqlrank.rows"
"""Metadata key of row counts per group: JSON rows of values and count."""


NO_RELEVANT_KEY = "sqlrank.no_relevant"
"""Metadata key of results whose judgments are all 0 or less, so that no document is relevant."""

LEFT_OUT_KEY = "sqlrank.left_out"
"""Metadata key of the units that policies left out or filled, which the notes describe: JSON."""

_RANGE = re.compile(r"(-?[\d.]+|-inf) to (-?[\d.]+|inf)")

_OPTIONAL = {"divided_by"}
"""Fields that are stored only if they have a value."""

MAX_GROUPS_LISTED, MAX_GROUPS_NAMED = 1000, 3
"""Maximum number of groups with counts in the metadata, and in a note."""


@dataclass(frozen=True)
class LeftOut:
    """Units that a policy left out or filled.

    Attributes:
        note: The units and what became of them, such as ``judged queries have no results, and count
            as empty lists``.
        metrics: The metrics that it concerns, as columns are named.
        count: Number of these units, 0 if the note has it.
        total: Number of all units, 0 if unknown.
        groups: The same numbers by group, empty for a single one.
        divided_by: The column whose groups divide the queries of a run, if the note is on that.
    """

    note: str
    metrics: tuple[str, ...]
    count: int = 0
    total: int = 0
    groups: tuple[tuple[Mapping[str, str | None], int, int], ...] = ()
    divided_by: str = ""

    def __str__(self) -> str:
        """Return the note with the counts, or those of the groups with the greatest shares."""
        # Columns of several groupings have no value in most groups.
        named_groups = [
            ({name: value for name, value in group.items() if value is not None}, count, total)
            for group, count, total in (
                ({**group, SLICE_COLUMN: None}, count, total) for group, count, total in self.groups
            )
        ]
        affected = sorted(
            (entry for entry in named_groups if entry[0] and entry[1]),
            key=lambda entry: -entry[1] / max(1, entry[2]),
        )
        if common := _name_common_group(affected, [group for group, *_ in named_groups]):
            affected, named = affected[:1], [common]
        else:
            named = [_name_group(group) for group, *_ in affected[:MAX_GROUPS_NAMED]]
        named = [
            f"{label}: {_format_share(count, total)}"
            for label, (_, count, total) in zip(named, affected, strict=False)
        ]
        more = (
            [f"and {len(affected) - MAX_GROUPS_NAMED:,} more groups"]
            if len(affected) > MAX_GROUPS_NAMED
            else []
        )
        # Groups of several columns have commas of their own.
        separator = "; " if any(", " in name for name in named) else ", "
        # Groups may be systems, with the same queries: their sum is none of queries.
        head = (
            f"some {self.note}"
            if named and not more and self.total
            else self._describe_share(self.count, self.total)
        )
        return head + (f" ({separator.join([*named, *more])})" if named else "")

    def with_column(self, column: str, value: str) -> LeftOut:
        """Return the same of groups that have a further column."""
        groups = self.groups or (({}, self.count, self.total),)
        return replace(
            self,
            groups=tuple(
                ({**group, column: value}, count, total) for group, count, total in groups
            ),
        )

    def merge_groups(self, names: Collection[str]) -> LeftOut:
        """Return the same of the groups that these columns make, of which every group is a part."""
        sums: dict[tuple[tuple[str, str | None], ...], list[int]] = {}
        for group, count, total in self.groups if len(self.groups) < MAX_GROUPS_LISTED else ():
            counts = sums.setdefault(
                tuple((name, value) for name, value in group.items() if name in names), [0, 0]
            )
            counts[:] = [counts[0] + count, counts[1] + total]
        merged = tuple((dict(group), count, total) for group, (count, total) in sums.items())
        return replace(self, groups=merged if len(merged) > 1 else ())

    def in_group(self, values: Mapping[str, str | None]) -> str:
        """Return the note on one group, empty if nothing of it is left out."""
        groups = self.groups or (({}, self.count, self.total),)
        matches = [
            self._describe_share(count, total)
            for group, count, total in groups
            if count
            and {name: value for name, value in group.items() if name != SLICE_COLUMN} == values
        ]
        return matches[0] if matches else ""

    def _describe_share(self, count: int, total: int) -> str:
        if not count:
            return self.note
        return (
            f"{_format_share(count, total)} {self.note}"
            if self.total
            else f"{self.note}: {count:,}"
        )


def _name_group(group: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}={value}" for name, value in group.items())


def _name_common_group(
    affected: Sequence[tuple[Mapping[str, str | None], int, int]],
    groups: Sequence[Mapping[str, str | None]],
) -> str:
    """Return one name for several groups of equal counts that are all with some values, empty for
    others.

    >>> groups = [{"system": s, "day": d} for s in ("old", "new") for d in ("mon", "tue")]
    >>> _name_common_group([(group, 1, 2) for group in groups], groups)
    'each system and day'
    >>> _name_common_group([(group, 1, 2) for group in groups[::2]], groups)
    'each system, day=mon'
    >>> _name_common_group([(group, 1, 2) for group in groups[:3]], groups)
    ''
    """
    if len({(*group, count, total) for group, count, total in affected}) != 1 or len(affected) == 1:
        return ""
    first = affected[0][0]
    shared = {
        name: value
        for name, value in first.items()
        if all(group[name] == value for group, *_ in affected)
    }
    matching = [group for group in groups if shared.items() <= group.items()]
    if len(matching) != len(affected) or any(group.keys() != first.keys() for group in matching):
        return ""
    varied = join_words([name for name in first if name not in shared])
    return ", ".join(filter(None, [f"each {varied}", _name_group(shared)]))


def _format_share(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" if total else f"{count:,}"


def left_out_metadata(entries: Sequence[LeftOut]) -> dict[str, str]:
    """Return the metadata of units that policies left out or filled, empty if there are none."""
    rows = []
    for entry in entries:
        groups = (
            entry.groups
            if len(entry.groups) < MAX_GROUPS_LISTED
            else [group for group in entry.groups if group[1]]
        )
        row = {**vars(entry), "groups": groups[:MAX_GROUPS_LISTED]}
        rows.append({name: value for name, value in row.items() if name not in _OPTIONAL or value})
    return (
        {NOTES_KEY: "\n".join(map(str, entries)), LEFT_OUT_KEY: json.dumps(rows)} if entries else {}
    )


def read_left_out(
    metadata: Mapping[bytes, bytes] | None, label: str = "this result"
) -> list[LeftOut]:
    """Parse the units that policies left out or filled; raise ``InputError`` if damaged."""
    if LEFT_OUT_KEY not in read_texts(metadata):
        return []
    rows = read_json(metadata, LEFT_OUT_KEY, _is_left_out, label)
    return [
        LeftOut(
            row["note"],
            tuple(row["metrics"]),
            row["count"],
            row["total"],
            tuple((dict(group), count, total) for group, count, total in row["groups"]),
            row.get("divided_by", ""),
        )
        for row in rows
    ]


def _is_left_out(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict) and row.keys() | _OPTIONAL == LeftOut.__dataclass_fields__.keys()
        for row in value
    )


@dataclass(frozen=True)
class ResultMetadata:
    """The metadata of a result.

    Attributes:
        result: ``metrics``, ``curve``, ``comparison``, ``differences``, ``group_differences`` or
            ``experiment``.
        columns: Kind of each column in order: ``by``, ``slice``, ``query``, ``cutoff``, ``point``,
            ``value`` or ``id`` (of a curve), ``metric``, ``ci_low``, ``ci_high``, ``bound_low``,
            ``bound_high``, ``se``, ``n_units``, ``n_buckets``, ``num_days``, ``num_rows``,
            ``weight``; of differences between groups ``name``, ``label``, ``count`` and ``value``;
            in comparisons the column's own name.
        measures: For each metric its ``unit`` and ``better``, and if declared, where it is
            ``undefined``, why it has ``no_interval`` and the ``reference`` value to compare with,
            as in ``0.5 (random scores)``.
        curve: The ``name`` and ``settings`` of a curve.
        canonical: The canonical metric of each column, or row, that has another name.
    """

    result: str
    columns: Mapping[str, str]
    measures: Mapping[str, Mapping[str, str]]
    curve: Mapping[str, Any] | None = None
    canonical: Mapping[str, str] = field(default_factory=dict)

    def to_schema_metadata(self) -> dict[str, str]:
        """Return the metadata as written into a schema."""
        metadata = {
            RESULT_KEY: self.result,
            COLUMNS_KEY: json.dumps(self.columns),
            MEASURES_KEY: json.dumps(self.measures),
        }
        metadata |= {} if self.curve is None else {CURVE_KEY: json.dumps(self.curve)}
        return metadata | ({CANONICAL_KEY: json.dumps(self.canonical)} if self.canonical else {})


def metrics_metadata(
    columns: Mapping[str, str],
    metrics: Sequence[ResolvedMetric],
    library: Registry,
    *,
    requested_names: bool = False,
) -> ResultMetadata:
    """Build the metadata of a result with these columns, which have canonical or requested
    names.
    """
    if metrics[0].file.kind == "curves":
        curve = {
            "name": metrics[0].file.display_name,
            "settings": effective_settings(metrics[0], library),
        }
        return ResultMetadata("curve", columns, {}, curve)
    if not requested_names:
        return ResultMetadata(
            "metrics",
            columns,
            {str(metric.metric): _describe_measure(metric) for metric in metrics},
        )
    measures = {
        name: _describe_measure(metric) for metric in metrics for name in metric.column_names
    }
    return ResultMetadata("metrics", columns, measures, canonical=canonical_names(metrics))


def canonical_names(metrics: Sequence[ResolvedMetric]) -> dict[str, str]:
    """Return the canonical metric of each column name that is another."""
    return {
        name: str(metric.metric)
        for metric in metrics
        for name in metric.column_names
        if name != str(metric.metric)
    }


def rename_metric_rows(rows: pa.Table, metrics: Sequence[ResolvedMetric]) -> pa.Table:
    """Give rows the requested name of their ``metric``; several names repeat the rows."""
    canonical = canonical_names(metrics)
    if not canonical:
        return rows
    import pyarrow as pa  # help does not need it

    from sqlrank.arrow_arrays import to_array  # help does not need it

    names_by_metric = {str(metric.metric): metric.column_names for metric in metrics}
    repeated = [
        (row, name)
        for row, metric in enumerate(rows["metric"].to_pylist())
        for name in names_by_metric.get(metric, (metric,))
    ]
    names = to_array([name for _, name in repeated], pa.string())
    renamed = rows.take(to_array([row for row, _ in repeated], pa.int64())).set_column(
        rows.column_names.index("metric"), "metric", names
    )
    metadata = {
        **(rows.schema.metadata or {}),
        CANONICAL_KEY.encode(): json.dumps(canonical).encode(),
    }
    if (measures := metadata.get(MEASURES_KEY.encode())) is not None:
        by_metric = json.loads(measures)
        requested = {
            name: by_metric[metric] for metric, names in names_by_metric.items() for name in names
        }
        metadata[MEASURES_KEY.encode()] = json.dumps(requested).encode()
    return renamed.replace_schema_metadata(metadata)


def requested_columns(
    columns: Sequence[str], metrics: Sequence[ResolvedMetric]
) -> list[tuple[str, str]]:
    """Return each column of a result with its requested name; several names repeat a metric's
    columns.
    """
    suffixes = ("", *(f".{name}" for name in (*BOUNDS, CI_LOW, CI_HIGH, SE, N_UNITS, N_BUCKETS)))
    columns_by_metric = {
        str(metric.metric): [f"{metric.metric}{suffix}" for suffix in suffixes]
        for metric in metrics
    }
    metric_by_column = {
        column: metric for metric, names in columns_by_metric.items() for column in names
    }
    names_by_metric = {str(metric.metric): metric.column_names for metric in metrics}
    pairs: list[tuple[str, str]] = []
    for metric, group in groupby(columns, key=metric_by_column.get):
        metric_columns = list(group)
        names = ("",) if metric is None else names_by_metric[metric]
        pairs += [
            (column, name + column[len(metric or "") :])
            for name in names
            for column in metric_columns
        ]
    return pairs


def read_canonical_names(
    metadata: Mapping[bytes, bytes] | None, label: str = "this result"
) -> Mapping[str, str]:
    """Parse the canonical metrics of the names in a result; raise ``InputError`` if damaged."""
    return (
        read_json(metadata, CANONICAL_KEY, make_mapping_check(is_text), label)
        if CANONICAL_KEY in read_texts(metadata)
        else {}
    )


def comparison_metadata(
    result: str, schema: Any, by: Sequence[str], measures: Mapping[bytes, bytes]
) -> ResultMetadata:
    """Build the metadata of a comparison or its differences.

    Args:
        result: Kind of result.
        schema: Schema of the result.
        by: The group-by columns.
        measures: Schema metadata of the compared values.
    """
    columns = {name: "by" if name in by else name for name in schema.names}
    return ResultMetadata(result, columns, json.loads(measures[MEASURES_KEY.encode()]))


def group_texts(row: Mapping[str, Any], names: Sequence[str]) -> list[str | None]:
    """Return some values of a row as text, which identifies its group."""
    return [None if row[name] is None else str(row[name]) for name in names]


def read_result_metadata(
    metadata: Mapping[bytes, bytes] | None, label: str = "this result"
) -> ResultMetadata | None:
    """Parse the metadata of a result, None if it has none.

    Raises:
        InputError: The metadata are damaged.
    """
    entries = read_texts(metadata)
    if RESULT_KEY not in entries:
        return None
    columns = read_json(metadata, COLUMNS_KEY, make_mapping_check(is_text), label)
    measures = read_json(metadata, MEASURES_KEY, make_mapping_check(_is_measure), label)
    if (
        entries[RESULT_KEY] == "metrics"
        and not {name for name, kind in columns.items() if kind == "metric"} <= measures.keys()
    ):
        raise InputError(
            f"{label} has damaged metadata ({MEASURES_KEY}). Give a result as sqlrank returned or"
            " stored it"
        )
    curve = read_json(metadata, CURVE_KEY, _is_curve, label) if CURVE_KEY in entries else None
    return ResultMetadata(
        entries[RESULT_KEY], columns, measures, curve, read_canonical_names(metadata, label)
    )


def read_measures(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Mapping[str, str]]:
    """Parse the properties of the metrics of a result, empty if it has none; raise ``InputError``
    if damaged.
    """
    return (
        read_json(metadata, MEASURES_KEY, make_mapping_check(_is_measure), "this result")
        if MEASURES_KEY in read_texts(metadata)
        else {}
    )


def find_range(measure: Mapping[str, str]) -> tuple[float, float] | None:
    """Return the least and the greatest value of a metric with these properties, or None without
    bounds.
    """
    match = _RANGE.fullmatch(measure.get("range", measure.get("unit", "")))
    return (float(match[1]), float(match[2])) if match else None


def _is_measure(value: Any) -> bool:
    return make_mapping_check(is_text)(value) and {"unit", "better"} <= value.keys()


def _is_curve(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("settings"), dict)
    )


def _describe_measure(metric: ResolvedMetric) -> dict[str, str]:
    file = metric.file
    bounds = describe_bounds(metric)
    unit = (
        "count"
        if file.kind == "metrics" and file.is_always_defined
        else file.annotations.get("Unit", "" if "inf" in bounds else bounds)
    )
    declared = {
        "range": bounds if bounds != unit else None,
        "undefined": file.annotations.get("Undefined"),
        "no_interval": file.interval.no_interval,
        "reference": file.annotations.get("Reference value"),
    }
    return {
        "unit": unit,
        "better": metric_direction(metric),
        **{name: annotation for name, annotation in declared.items() if annotation},
    }
