"""Find the canonical metric and file of a name, by synonyms in ``sql/settings/names.toml`` and
compatibility modes, and list the synonyms.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, quote_excerpt
from sqlrank.registry.metric import COLUMN_PARAMETER, Metric, normalize_name, parse_metric_text
from sqlrank.registry.resolved_metric import named_roles
from sqlrank.registry.sql_folder import read_toml

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile

MAX_RESPELLED_CHARACTERS = 1000
"""Longest text that is matched against the spellings of other tools."""

_SEPARATORS = re.compile(r"[\s,;|]+(?![^(\[{]*[)\]}])")
"""Pattern of separators between several metrics in one text, outside of brackets."""


def canonical_metric(metric: Metric, library: Registry) -> Metric:
    """Translate a metric's name to the canonical one, and a limit of a parameter,
    ``FBeta(beta=inf)``, to the metric that it is.

    Raises:
        MetricError: The name is ambiguous between tools, or belongs to a compatibility mode.
    """
    canonical = _with_canonical_name(metric, library)
    for name, value in canonical.params:
        if limit := library.synonyms["limits"].get(
            f"{normalize_name(canonical.name)}({name}={value})"
        ):
            return replace(
                canonical,
                name=limit,
                params=tuple(pair for pair in canonical.params if pair[0] != name),
            )
    return canonical


def find_siblings(metric: Metric, library: Registry, input_roles: Collection[str]) -> list[str]:
    """Return the metrics of the same meaning that read the inputs of a call, if the metric itself
    reads none of them.
    """
    groups = [names for names in library.synonyms["siblings"].values() if metric.name in names]
    if not groups or not input_roles or _has_input(library.file_for(metric), input_roles, library):
        return []
    return [
        name
        for name in groups[0]
        if _has_input(library.metrics[name.lower()], input_roles, library)
    ]


def find_row_metrics(metric: Metric, library: Registry) -> list[str]:
    """Return the metrics of rows of predictions that have the meaning of one of rankings."""
    from sqlrank.registry.dependencies import find_input_role  # as below

    groups = [
        names
        for names in library.synonyms["siblings"].values()
        if metric.name in names and metric.cutoff is None
    ]
    return [
        name
        for names in groups
        for name in names
        if find_input_role(library, library.metrics[name.lower()]) == "predictions"
    ]


def _has_input(file: SqlFile, input_roles: Collection[str], library: Registry) -> bool:
    """Return True if the input that a metric evaluates is among those given, itself or as what it
    is assembled from.
    """
    # Imports sqlglot, which help does not need
    from sqlrank.registry.dependencies import find_input_role

    role = find_input_role(library, file)
    return not {
        role,
        *library.roles[role].assembled_from,
        *(["predictions", "queries"] if role == "run" else []),
    }.isdisjoint(input_roles)


def _with_canonical_name(metric: Metric, library: Registry) -> Metric:
    metric_file = library.metrics.get(metric.name.lower())
    has_cutoff = metric.cutoff is not None or "k" in dict(metric.params)
    has_file = (
        metric_file is not None
        or metric.name.lower() in library.curves
        or f"{metric.name.lower()}@k" in library.metrics
    )
    if has_file and not (
        has_cutoff
        and metric_file is not None
        and metric_file.cutoff_parameter is None
        and f"{metric_file.name}@k" not in library.metrics
    ):
        return metric
    name_key = normalize_name(metric.name)
    for key in [f"{name_key}@"] * has_cutoff + [name_key] * (not has_file):
        if choices := library.synonyms["ambiguous"].get(key):
            raise MetricError(
                f"{metric.name} means different things in different tools. Say which: {choices}"
            )
        if name := library.synonyms["aliases"].get(key):
            canonical = parse_metric_text(name)
            params = tuple(sorted((dict(canonical.params) | dict(metric.params)).items()))
            return replace(canonical, params=params, cutoff=metric.cutoff)
    if not has_file and (
        canonical_name := next(
            (name for name in library.metric_names if normalize_name(name) == name_key), None
        )
    ):
        return replace(metric, name=canonical_name)
    if not has_file and (mode_match := _find_mode(metric.name, library)):
        mode, name = mode_match
        name = name if metric.cutoff is None else str(parse_metric_text(name) @ metric.cutoff)
        raise MetricError(
            f"unknown metric {metric.name!r}. {mode} calls {name} so: write {name}, or give"
            f" compat={mode!r}"
        )
    return metric


def list_aliases(name: str, library: Registry) -> list[str]:
    """Return the synonyms of a metric in other tools."""
    aliases = library.synonyms["aliases"].items()
    return [
        key.rstrip("@")
        for key, text in aliases
        if text.startswith(name) and parse_metric_text(text).name == name
    ]


def _find_mode(name: str, library: Registry) -> tuple[str, str] | None:
    """Find the first compatibility mode with a name or pattern (``ndcg_cut_*``), and the canonical
    name.
    """
    stem, _, suffix = name.rpartition("_")
    for mode, path in sorted(library.compat_files.items()):
        names = read_toml(path).get("names", {})
        if name in names or f"{stem}_*" in names:
            return mode, names[name] if name in names else names[f"{stem}_*"].replace("*", suffix)
    return None


def find_metric(text: str, library: Registry) -> tuple[Metric, SqlFile]:
    """Find the canonical metric and its file for a text.

    Raises:
        MetricError: The text is not a metric; the message suggests the canonical spelling of other
            tools' names.
    """
    try:
        metric = parse_metric_text(text)
    except MetricError as error:
        raise MetricError(_suggest_spelling(text, library) or str(error)) from None
    metric = canonical_metric(metric, library)
    try:
        file = library.file_for(metric, *(named_roles([metric]) or ()))
    except MetricError as error:
        raise MetricError(_suggest_spelling(text, library) or str(error)) from None
    if COLUMN_PARAMETER in dict(metric.params) and not file.measures_column:
        problem = (
            f"cannot read the parameters of {quote_excerpt(text)}. Each needs a name, as in (rel=2)"
        )
        raise MetricError(_suggest_spelling(text, library) or problem)
    return metric, file


def _suggest_spelling(text: Any, library: Registry) -> str | None:
    """Suggest the canonical spelling of other notations (``ndcgAt(10)``) or of several metrics."""
    if not isinstance(text, str) or len(text) > MAX_RESPELLED_CHARACTERS:
        return None
    for pattern, replacement in library.synonyms["spellings"].items():
        match = re.fullmatch(pattern, text.strip())
        if (
            match is not None
            and (name := _canonical_text(match.expand(replacement), library)) is not None
        ):
            return f"unknown metric {quote_excerpt(text)}. Write {name}"
    names = [_canonical_text(part, library) for part in _SEPARATORS.split(text.strip())]
    # A curve has rows of its own, and stands for its value among other metrics.
    metrics = [
        str(library.synonyms["curves"].get(normalize_name(name), name))
        for name in names
        if name is not None
    ]
    # A single metric is not a list
    if len(metrics) < len(names) or len(metrics) < 2:  # noqa: PLR2004
        return None
    import shlex  # its import takes a millisecond

    return (
        f"{quote_excerpt(text)} holds several metrics. Give a list of them, {metrics!r} (on the"
        f" command line {' '.join(map(shlex.quote, metrics))})"
    )


def _canonical_text(text: str, library: Registry) -> str | None:
    try:
        metric = canonical_metric(parse_metric_text(text), library)
        return str(replace(metric, name=library.file_for(metric).display_name))
    except MetricError:
        return None
