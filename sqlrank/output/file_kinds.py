"""Detect the kind of content of a file that sqlrank wrote, by its signature or metadata."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class FileKind(StrEnum):
    """Kinds of content.

    A ``table`` was written by a version without kinds, or saved from Python by Arrow.
    """

    METRICS = "metrics"
    COMPARISON = "comparison"
    VERDICTS = "verdicts"
    DRIFT = "drift"
    EXPERIMENT = "experiment"
    SPLIT = "split"
    ROLLUP = "rollup"
    WEIGHTS = "weights"
    TABLE = "table"
    CHART = "chart"
    REPORT = "report"
    JUNIT = "JUnit report"
    SUMMARY = "summary"
    STATEMENT = "statement"
    FUNCTIONS = "functions"
    DBT_METRICS = "dbt model of metrics"
    DBT_ROLLUP = "dbt model of a rollup"
    DBT_PACKAGE = "dbt package"
    DBT_PROPERTIES = "properties of a dbt model"


KIND_KEY = "sqlrank.kind"
"""Metadata key of the kind in a Parquet file."""

READ_BYTES = 4096
"""Number of bytes read from each end of a file to find its signature."""

_WORKBOOK = re.compile(rb"sqlrank [\w.+-]+(?: ([\w ]+))?<")

_STARTS: tuple[tuple[re.Pattern[bytes], FileKind], ...] = (
    (re.compile(rb"\x89PNG.{1,64}tEXtSoftware\0sqlrank ", re.DOTALL), FileKind.CHART),
    (re.compile(rb'\{"usermeta": \{"sqlrank": '), FileKind.CHART),
    (re.compile(rb"<!-- sqlrank [^\n]*\n<svg "), FileKind.CHART),
    (re.compile(rb'<!DOCTYPE html>\n<!-- sqlrank .{1,1200}<div id="chart">', re.DOTALL), FileKind.CHART),
    (re.compile(rb"<!DOCTYPE html>\n<!-- sqlrank "), FileKind.REPORT),
    (re.compile(rb'(?:<\?xml[^\n]*\?>\n)?<testsuite name="sqlrank '), FileKind.JUNIT),
    (re.compile(rb"## sqlrank (?:gate|drift): "), FileKind.SUMMARY),
    (re.compile(rb"\{\{ config[^\n]*\n-- sqlrank [^\n]*?: rollup "), FileKind.DBT_ROLLUP),
    (re.compile(rb"\{\{ config[^\n]*\n-- sqlrank "), FileKind.DBT_METRICS),
    (re.compile(rb"(?:\{#|#) sqlrank [^\n]*: dbt package"), FileKind.DBT_PACKAGE),
    (re.compile(rb"# sqlrank [^\n]*: properties of "), FileKind.DBT_PROPERTIES),
    (re.compile(rb"-- sqlrank [^\n]*: functions for "), FileKind.FUNCTIONS),
    (re.compile(rb"-- sqlrank "), FileKind.STATEMENT),
)
"""File signatures with their kinds; the first match counts."""


def read_file_kind(path: Path) -> FileKind | None:
    """Return the kind of content of a file that sqlrank wrote, None for other files."""
    with path.open("rb") as file:
        start = file.read(READ_BYTES)
        file.seek(max(0, path.stat().st_size - READ_BYTES))
        end = file.read()
    if start.startswith(b"PAR1"):
        return _read_parquet_kind(path)
    if start.startswith(b"PK"):
        return _read_workbook_kind(path)
    if start.startswith(b"%PDF"):
        return FileKind.CHART if end.rpartition(b"\n% ")[2].startswith(b"sqlrank ") else None
    return next((kind for pattern, kind in _STARTS if pattern.match(start)), None)


def _read_parquet_kind(path: Path) -> FileKind | None:
    import pyarrow as pa  # noqa: PLC0415  help does not need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):  # damaged, so that its origin is unknown
        return None
    metadata = schema.metadata or {}
    if b"sqlrank.version" not in metadata:
        return None
    if (name := metadata.get(KIND_KEY.encode(), b"").decode("utf-8", "replace")) in set(FileKind):
        return FileKind(name)
    # Recognize rollups of versions without kinds by their column, since they may hold months of aggregates.
    return FileKind.ROLLUP if "definition_hash" in schema.names else FileKind.TABLE


def _read_workbook_kind(path: Path) -> FileKind | None:
    import struct  # noqa: PLC0415  help does not need it
    import zipfile  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    try:
        with zipfile.ZipFile(path) as file:
            match = _WORKBOOK.search(file.read("docProps/core.xml"))
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, KeyError, EOFError, OSError, ValueError):  # as above, or encrypted
        return None
    if match is None:
        return None
    name = (match[1] or b"").decode()
    return FileKind(name) if name in set(FileKind) else FileKind.TABLE
