"""Compatibility modes: the settings under which a tool's numbers come out, and the tool's own names of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, suggestion
from sqlrank.library.folder import read_toml
from sqlrank.library.refusals import unknown_policies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.library import Library


def bundle_of(compat: str | None, library: Library) -> dict[str, Any]:
    """Return what a mode says; raise ``MetricError`` for one that does not exist, or says what does not."""
    if compat is None:
        return {}
    if compat not in library.compat_files:
        known = library.compat_files
        raise MetricError(f"unknown compat {compat!r}{suggestion(compat, known)} Choose from: {', '.join(sorted(known))}")
    path = library.compat_files[compat]
    bundle = read_toml(path)
    own = [settings for settings in bundle.get("metrics", {}).values() if isinstance(settings, dict)]
    problems = [
        f"unknown section {name!r}; choose from: defaults, metrics, names" for name in bundle.keys() - {"defaults", "metrics", "names"}
    ]
    problems += unknown_policies({name: 0 for settings in [bundle.get("defaults", {}), *own] for name in settings}, library)
    if problems:
        raise MetricError("\n".join(f"{path}: {problem}" for problem in problems))
    return bundle


def alias(text: str, bundle: Mapping[str, Any], library: Library) -> str:
    """Return the metric that a tool's own name stands for: ``ndcg_cut_10`` is nDCG@10 under trec10."""
    names: Mapping[str, str] = bundle.get("names", {})
    if text in names:
        return names[text]
    stem, _, number = text.rpartition("_")
    if f"{stem}_*" in names and text.lower() not in library.metrics:
        return names[f"{stem}_*"].replace("*", number)
    return text
