"""Log results to MLflow: numbers as metrics, rows as a table, and the statement that computed
them.
"""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlrank.errors import InputError, MetricError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import to_sql_name
from sqlrank.registry.metric_info import find_metric
from sqlrank.result_columns import CI_HIGH, CI_LOW, SLICE_COLUMN
from sqlrank.result_metadata import (
    ResultMetadata,
    read_canonical_names,
    read_result_metadata,
    read_texts,
)
from sqlrank.sql_ast import unique_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa


MAX_METRICS_PER_REQUEST = 1000
"""Maximum number of metrics that MLflow takes at once."""

QUERY_COLUMN = "query_id"
"""Column of differences by query, which are too many to be metrics."""

_LOGGED_QUANTITIES = ("value", "difference", CI_LOW, CI_HIGH)
"""Columns of contrasts that are logged as metrics."""


def log(result: pa.Table, *, folder: str = "sqlrank") -> None:
    """Log a result to the active run of MLflow, or to a new one.

    MLflow refuses ``@`` and parentheses in names, so that metrics have plain ones: ``ndcg_at_10``,
    ``ndcg_at_10.ci_low``. Groups come before them, ``country.de/ndcg_at_10``, as do systems in
    comparisons and gates, ``baseline.old/system.new/ndcg_at_10.difference``. Undefined values are
    left out. A range of cut-offs is one metric with the cut-off as its step. Rows of queries and
    curves are in the table alone.

    Args:
        result: a result of :func:`sqlrank.evaluate`, :func:`sqlrank.compare`, :func:`sqlrank.gate`
            or of rollups and experiments.
        folder: folder of the artifacts: ``result.json`` (the rows, a table of MLflow),
            ``statement.sql``, and ``metrics.json``, the canonical metrics of all names.

    Raises:
        InputError: the table is no result of sqlrank.
        ModuleNotFoundError: MLflow is not installed.
    """
    import mlflow  # an optional dependency, whose import takes seconds

    texts = read_texts(result.schema.metadata)
    metadata = read_result_metadata(result.schema.metadata)
    metrics = metadata if metadata is not None and metadata.result in {"metrics", "curve"} else None
    if "sqlrank.version" not in texts or (
        metrics is None and not {"metric", "difference"} <= set(result.column_names)
    ):
        raise InputError(
            "this table is no result of sqlrank. Give one as evaluate, compare or gate returned it"
        )
    canonical: dict[str, str] = {}
    values_by_step: dict[int | None, dict[str, float]] = {}
    numbers = (
        _contrast_numbers(result, canonical)
        if metrics is None
        else _metric_numbers(result, metrics, canonical)
    )
    for name, value, step in numbers:
        if value is not None and math.isfinite(value):
            values_by_step.setdefault(step, {})[name] = float(value)
    for step, values in values_by_step.items():
        for start in range(0, len(values), MAX_METRICS_PER_REQUEST):
            mlflow.log_metrics(
                dict(islice(values.items(), start, start + MAX_METRICS_PER_REQUEST)), step=step
            )
    mlflow.log_table(
        {name: list(map(_json_value, column)) for name, column in result.to_pydict().items()},
        f"{folder}/result.json",
    )
    mlflow.log_dict(canonical, f"{folder}/metrics.json")
    if (statement := texts.get("sqlrank.sql")) is not None:
        mlflow.log_text(statement, f"{folder}/statement.sql")
    mlflow.set_tags(
        {name: texts[name] for name in ("sqlrank.version", "sqlrank.verdict") if name in texts}
    )


def _metric_numbers(
    result: pa.Table, metadata: ResultMetadata, canonical: dict[str, str]
) -> Iterator[tuple[str, float | None, int | None]]:
    """Yield name, value and step of each number in columns of metrics; ``canonical`` receives the
    metrics.
    """
    kinds = {} if metadata.result == "curve" else metadata.columns
    plain = _plain_names(
        [name for name, kind in kinds.items() if kind == "metric"], result, canonical
    )
    if "query" in kinds.values():
        return
    keys = [name for name, kind in kinds.items() if kind == "by"]
    step_column = next((name for name, kind in kinds.items() if kind == "cutoff"), None)
    for folder, row in _with_folders(result, keys):
        for column, value in row.items():
            metric, dot, quantity = (column, "", "") if column in plain else column.rpartition(".")
            if metric in plain:
                yield (
                    f"{folder}{plain[metric]}{dot}{quantity}",
                    value,
                    None if step_column is None else row[step_column],
                )


def _contrast_numbers(
    result: pa.Table, canonical: dict[str, str]
) -> Iterator[tuple[str, float | None, int | None]]:
    """Yield name, value and step of each number in rows of contrasts; ``canonical`` receives the
    metrics.
    """
    plain = _plain_names(result["metric"].unique().to_pylist(), result, canonical)
    first_value = next(
        position for position, name in enumerate(result.column_names) if name.startswith("value")
    )
    keys = [
        name for name in result.column_names[:first_value] if name not in {"metric", SLICE_COLUMN}
    ]
    quantities = (
        []
        if QUERY_COLUMN in keys
        else [name for name in _LOGGED_QUANTITIES if name in result.column_names]
    )
    for folder, row in _with_folders(result, keys):
        for quantity in quantities:
            yield f"{folder}{plain[row['metric']]}.{quantity}", row[quantity], None


def _with_folders(result: pa.Table, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row after the folder of its group, such as ``country.de/``, which no other group
    has.
    """
    folders: dict[tuple[Any, ...], str] = {}
    taken: set[str] = set()
    for row in result.to_pylist():
        grouping = row[SLICE_COLUMN].split(", ") if SLICE_COLUMN in row else keys
        values = {key: row[key] for key in keys if row[key] is not None or key in grouping}
        group = tuple(values.items())
        if group not in folders:
            folders[group] = unique_name(
                "/".join(
                    re.sub(r"[^\w. -]", "_", f"{key}.{value}") for key, value in values.items()
                ),
                taken,
            )
            taken.add(folders[group])
        yield f"{folders[group]}/" if group else "", row


def _plain_names(
    names: Iterable[str], result: pa.Table, canonical: dict[str, str]
) -> dict[str, str]:
    """Return the plain name of each metric; ``canonical`` receives the metric of each."""
    metrics = read_canonical_names(result.schema.metadata)
    plain: dict[str, str] = {}
    for name in names:
        plain[name] = unique_name(
            to_sql_name(name) if name in metrics else _sql_column(name), set(plain.values())
        )
        canonical[plain[name]] = metrics.get(name, name)
    return plain


def _sql_column(name: str) -> str:
    """Return the column of a metric in SQL, also of one that only a folder of the caller has."""
    try:
        metric, file = find_metric(name, load_registry())
    except MetricError:
        return to_sql_name(name)
    return metric.sql_column(file.value_name)


def _json_value(value: Any) -> Any:
    """Return a value that JSON has, others as text."""
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
