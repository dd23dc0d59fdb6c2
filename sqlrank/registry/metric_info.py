"""List metrics with family, parameters, source and description, and find the better direction of a result column, or if it has counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.errors import MetricError
from sqlrank.registry.aliases import find_metric, list_aliases

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

METRIC_INFO_COLUMNS = ("name", "family", "parameters", "relation", "source", "description")
"""Columns of the list of metrics."""


def list_metrics(library: Registry, search: str | None) -> list[dict[str, str]]:
    """List all metrics by family and name, or those that match a text or family."""
    files = [*library.metrics.values(), *library.curves.values()]
    rows = [_build_row(file) for file in files if search is None or _matches_search(search.lower(), file, library)]
    return sorted(rows, key=lambda row: (row["family"], row["name"].lower()))


def _matches_search(search: str, file: SqlFile, library: Registry) -> bool:
    texts = (file.full_name, file.description, *list_aliases(file.display_name, library))
    return search == _find_family(file) or any(search in text.lower() for text in texts)


def _find_family(file: SqlFile) -> str:
    return "curve" if file.kind == "curves" else file.path.parent.name


def _build_row(file: SqlFile) -> dict[str, str]:
    declared = [f"{param.name}={param.default_text}" if param.default is not None else param.name for param in file.params.values()]
    values = (
        format_example_name(file),
        _find_family(file),
        ", ".join([*declared, *(f"{choice.name}={choice.default}" for choice in file.declared_settings.values())]),
        file.first_source,
        file.source,
        file.description,
    )
    return dict(zip(METRIC_INFO_COLUMNS, values, strict=True))


def format_example_name(file: SqlFile) -> str:
    """Return a text that evaluates the metric: its name, with a column for a metric of columns, and with a cut-off where it takes the file.

    ``AUC@k`` is ``AUC@10``, and ``Mean of predictions`` is ``Mean(predictions.column)``.
    """
    role = file.full_name.partition(" of ")[2]
    return f"{file.display_name}({role}{'.' * bool(role)}column)" if file.measures_column else file.full_name.replace("@k", "@10")


def better_direction(column: str, library: Registry) -> str:
    """Return the better direction of a result column: ``higher``, ``lower`` or ``neither``."""
    file = _find_file(column, library)
    if file is None or file.kind != "metrics" or file.is_always_defined:
        return "neither"
    return file.annotations.get("Direction", "higher")


def metric_direction(metric: ResolvedMetric, library: Registry) -> str:
    """Return the better direction of a metric, which the caller may have given."""
    return "lower" if metric.is_lower_better else better_direction(str(metric.metric), library)


def is_count_metric(column: str, library: Registry) -> bool:
    """Return True if a result column holds counts, or sums of weights."""
    file = _find_file(column, library)
    return file is not None and file.kind == "metrics" and file.is_always_defined


def _find_file(column: str, library: Registry) -> SqlFile | None:
    try:
        return find_metric(column, library)[1]
    except MetricError:
        return None
