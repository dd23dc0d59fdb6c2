"""Fingerprint metrics: a hash of name and revision, or SQL for user files, and policies and parameters as plain text."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

Setting = TypeVar("Setting")

LATER_POLICIES = ("id_type", "ranks")
"""Policies added after results were first stored, which have their defaults in results that do not name them."""


def metric_fingerprints(metrics: Sequence[ResolvedMetric], library: Registry) -> dict[str, dict[str, str | dict[str, str]]]:
    """Return a hash of each metric's definition, and its policies.

    A metric of the package is defined by its name and revision, since its SQL may change without its numbers. Files of users have no
    revisions: their SQL counts, without comments and layout.
    """
    return {
        str(metric.metric): {
            "definition": _hash_definition(metric.file, tuple(file for file in metric.dependencies.files if file in library.user_files)),
            "policies": omit_later_defaults(effective_settings(metric, library), library),
        }
        for metric in metrics
    }


def omit_later_defaults(settings: Mapping[str, Setting], library: Registry) -> dict[str, Setting]:
    """Return the settings without policies of ``LATER_POLICIES`` that have their defaults, as earlier versions stored them."""
    return {name: value for name, value in settings.items() if name not in LATER_POLICIES or value != library.allowed_values(name)[0]}


def effective_settings(metric: ResolvedMetric, library: Registry) -> dict[str, str]:
    """Return the parameters and policies that the values of a metric depend on, with their defaults, as texts.

    Left out are plans, which change no value, and ``aggregate``: fingerprints are stored with values per query, not yet aggregated.
    """
    names = sorted(metric.dependencies.settings - library.plans.keys() - {"aggregate"})
    defaults = {name: param.default for file in metric.dependencies.files for name, param in file.params.items()}
    policies = {}
    for name in names:
        value = metric.settings.get(name, defaults.get(name))
        if value is None and name in library.policies:
            value = library.allowed_values(name)[0]
        if value is None and name in library.functions:
            value = library.default_function(name)
        policies[name] = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return policies


@lru_cache(maxsize=1024)
def _hash_definition(metric_file: SqlFile, user_files: tuple[SqlFile, ...]) -> str:
    texts = [f"{metric_file.kind}/{metric_file.full_name} {metric_file.revision}", *sorted(map(_format_file, user_files))]
    return sha256("\n".join(texts).encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def _format_file(file: SqlFile) -> str:
    return f"{file.kind}/{file.path.stem} {file.statement.sql('duckdb')}"
