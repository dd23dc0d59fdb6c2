"""List the reasons why metrics of a result are NULL, 0 or without interval: undefined for the data, too few units, equal units, no judgment above 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.result_columns import CI_LOW, N_BUCKETS, N_UNITS, SE
from sqlrank.result_metadata import EXPERIMENT, NO_RELEVANT_KEY, read_result_metadata

if TYPE_CHECKING:
    import pyarrow as pa

MIN_UNITS = 2
"""Smallest number of units for which a standard error is defined."""

_NEVER = "never"


def null_reasons(result: pa.Table) -> list[str]:
    """Return one line for each reason why metrics or intervals of a result are NULL, or why all gains are 0.

    >>> import pyarrow as pa, sqlrank
    >>> null_reasons(sqlrank.evaluate("AUC", predictions=pa.table({"label": [1], "score": [0.5]})))
    ['AUC is NULL (undefined: predictions of one class only)']
    """
    result_metadata = read_result_metadata(result.schema.metadata)
    names_by_reason: dict[tuple[str, int, str], list[str]] = {}
    for name, measure in result_metadata.measures.items() if result_metadata is not None and result_metadata.result != EXPERIMENT else ():
        undefined = result[name].null_count if name in result.column_names else 0
        if undefined:
            declared = measure.get("undefined", _NEVER)
            reason = "too large, or not a number" if declared == _NEVER else f"undefined: {declared}"
            names_by_reason.setdefault(("NULL", undefined, reason), []).append(name)
        if f"{name}.{CI_LOW}" in result.column_names and result[f"{name}.{CI_LOW}"].null_count > undefined:
            rows = _rows_without_interval(result, name)
            reason = measure.get("no_interval") or _interval_reason(rows)
            names_by_reason.setdefault(("without an interval", len(rows), reason), []).append(name)
    # Metrics that are undefined without relevant documents say so themselves.
    has_zeros = NO_RELEVANT_KEY.encode() in (result.schema.metadata or {}) and not any(what == "NULL" for what, *_ in names_by_reason)
    zeros = ["no judgment is above 0, so that no document is relevant. Check the column that is read as relevance"] if has_zeros else []
    return zeros + [_format_sentence(names, what, rows, result.num_rows, reason) for (what, rows, reason), names in names_by_reason.items()]


def _rows_without_interval(result: pa.Table, name: str) -> list[dict[str, float | None]]:
    count_column = next(suffix for suffix in (N_UNITS, N_BUCKETS) if f"{name}.{suffix}" in result.column_names)
    columns = {field: result[f"{name}.{column}"].to_pylist() for field, column in (("low", CI_LOW), ("se", SE), ("units", count_column))}
    columns["value"] = result[name].to_pylist()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["low"] is None and row["value"] is not None]


def _interval_reason(rows: list[dict[str, float | None]]) -> str:
    if all(row["units"] is not None and row["units"] < MIN_UNITS for row in rows):
        return f"fewer than {MIN_UNITS} units"
    if all(row["se"] == 0 for row in rows):
        return "units that are all equal"
    if all(row["se"] is None and row["units"] is None for row in rows):
        return "no standard error. interval='bootstrap' with unit= gives an interval"
    return "no standard error" if all(row["se"] is None for row in rows) else "no variance, or too few units"


def _format_sentence(names: list[str], what: str, rows: int, num_rows: int, reason: str) -> str:
    where = f" in {rows:,} of {num_rows:,} rows" if num_rows > 1 else ""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {what}{where} ({reason})"
