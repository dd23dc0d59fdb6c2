"""What metrics are called elsewhere, as ``sql/names.toml`` and the compatibility modes say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlrank.errors import MetricError
from sqlrank.library.folder import read_toml
from sqlrank.library.metric import read

if TYPE_CHECKING:
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Metric


def ours(metric: Metric, library: Library) -> Metric:
    """Return a metric under our name; raise ``MetricError`` for a name that means different things, or one of a tool's."""
    own = library.metrics.get(metric.name.lower())
    has_cutoff = metric.cutoff is not None
    is_own = own is not None or metric.name.lower() in library.curves or f"{metric.name.lower()}@k" in library.metrics
    if is_own and not (has_cutoff and own is not None and own.at is None and f"{own.name}@k" not in library.metrics):
        return metric
    plain = _plain(metric.name)
    for key in [f"{plain}@"] * has_cutoff + [plain] * (not is_own):
        if choices := library.known.get("several", {}).get(key):
            raise MetricError(f"{metric.name} means different things in different tools; say which: {choices}")
        if name := library.known.get("same", {}).get(key):
            found = read(name)
            params = tuple(sorted((dict(found.params) | dict(metric.params)).items()))
            return replace(found, params=params, cutoff=metric.cutoff)
    if not is_own and (same := next((name for name in library.names if _plain(name) == plain), None)):
        return replace(metric, name=same)
    if not is_own and (mode := _mode_of(metric.name, library)):
        raise MetricError(f"unknown metric {metric.name!r}; {mode} calls one so: compat={mode!r} (--compat {mode})")
    return metric


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def called(name: str, library: Library) -> list[str]:
    """Return what else a metric of ours is called."""
    return [key.rstrip("@") for key, same in library.known.get("same", {}).items() if read(same).name == name]


def _mode_of(name: str, library: Library) -> str | None:
    """Return the first compatibility mode that has a name, or a pattern for it such as ``ndcg_cut_*``."""
    stem = f"{name.rpartition('_')[0]}_*"
    for mode, path in sorted(library.compat_files.items()):
        names = read_toml(path).get("names", {})
        if name in names or stem in names:
            return mode
    return None
