"""Load compatibility modes, the settings that reproduce another tool's numbers, and expand that tool's metric names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlrank.errors import ContractError, MetricError, join_words, short_repr, suggest_choice
from sqlrank.registry.settings_checks import unknown_policies
from sqlrank.registry.sql_folder import read_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.registry import Registry


MIN_TOOL_CHARACTERS = 4
"""Length from which a word may be the name of a tool."""


def load_compat_mode(compat: str | None, library: Registry) -> dict[str, Any]:
    """Load a compatibility mode.

    Raises:
        MetricError: The mode does not exist, or names an unknown section or policy.
        ContractError: The settings of a metric are not a table.
    """
    if compat is None:
        return {}
    if compat not in library.compat_files:
        problem, modes = f"unknown compat {compat!r}", sorted(library.compat_files)
        if reproducing := [mode for mode in modes if _has_tool_name(library.compat_files[mode].read_text("utf-8"), compat)]:
            raise MetricError(f"{problem}. Its numbers are reproduced by {join_words(reproducing, 'or')}")
        raise MetricError(suggest_choice(problem, compat, modes))
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


def _has_tool_name(mode_text: str, tool: str) -> bool:
    """Return True if the first line of a mode names a tool, such as ``scikit-learn``, before its colon.

    >>> _has_tool_name("# trec_eval 9 and pytrec_eval: judged topics", "pytrec_eval"), _has_tool_name("# XGBoost 3: as trec_eval", "trec_eval")
    (True, False)
    """
    tools = mode_text.partition("\n")[0].partition(":")[0]
    return len(tool) >= MIN_TOOL_CHARACTERS and re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", tools, re.IGNORECASE) is not None


def expand_compat_alias(text: str, compat_mode: Mapping[str, Any], library: Registry) -> str:
    """Expand a tool's own metric name, such as ``ndcg_cut_10`` to nDCG@10 under trec10.

    A name that ends in ``@`` is meant with a cut-off, as in ``sql/names.toml``.
    """
    names: Mapping[str, str] = compat_mode.get("names", {})
    name, at, cutoff = text.partition("@")
    if canonical := names.get(f"{name}{at}") or names.get(name):
        return f"{canonical}{at}{cutoff}"
    stem, _, suffix = text.rpartition("_")
    if f"{stem}_*" in names and text.lower() not in library.metrics:
        return names[f"{stem}_*"].replace("*", suffix)
    return text
