"""Load compatibility modes, the settings that reproduce another tool's numbers, and expand that tool's metric names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import ContractError, MetricError, short_repr, suggest_choice
from sqlrank.registry.settings_checks import unknown_policies
from sqlrank.registry.sql_folder import read_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.registry import Registry


def load_compat_mode(compat: str | None, library: Registry) -> dict[str, Any]:
    """Load a compatibility mode.

    Raises:
        MetricError: The mode does not exist, or names an unknown section or policy.
        ContractError: The settings of a metric are not a table.
    """
    if compat is None:
        return {}
    if compat not in library.compat_files:
        modes = library.compat_files
        raise MetricError(suggest_choice(f"unknown compat {compat!r}", compat, sorted(modes)))
    path = library.compat_files[compat]
    compat_mode = read_tables(path)
    metric_settings = list(compat_mode.get("metrics", {}).values())
    if invalid := next((settings for settings in metric_settings if not isinstance(settings, dict)), None):
        raise ContractError(f"{path}:1: {short_repr(invalid)} is not a table of settings of a metric. Write a table, such as [metrics.AP]")
    problems = [
        f"unknown section {name!r}. Choose from: defaults, metrics, names" for name in compat_mode.keys() - {"defaults", "metrics", "names"}
    ]
    problems += unknown_policies(
        dict.fromkeys(name for settings in [compat_mode.get("defaults", {}), *metric_settings] for name in settings), library
    )
    if problems:
        raise MetricError(*(f"{path}: {problem}" for problem in problems))
    return compat_mode


def expand_compat_alias(text: str, compat_mode: Mapping[str, Any], library: Registry) -> str:
    """Expand a tool's own metric name, such as ``ndcg_cut_10`` to nDCG@10 under trec10."""
    names: Mapping[str, str] = compat_mode.get("names", {})
    name, at, cutoff = text.partition("@")
    if name in names:
        return f"{names[name]}{at}{cutoff}"
    stem, _, suffix = text.rpartition("_")
    if f"{stem}_*" in names and text.lower() not in library.metrics:
        return names[f"{stem}_*"].replace("*", suffix)
    return text
