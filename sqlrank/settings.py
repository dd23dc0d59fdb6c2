"""What holds for one metric: its own parameters over the call's policies over the compatibility mode over the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, suggestion
from sqlrank.library import Library, read_toml
from sqlrank.metric import Metric, Value, freeze, read
from sqlrank.sqlfile import ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.sqlfile import Param, SqlFile

SCORE_TYPES = ("float64", "float32")

COUNTABLE = {"ties": ("doc_desc", "error"), "unjudged": ("nonrelevant",)}
"""Policies under which ranks can be counted: a document's is the number of those retrieved that are not below it."""


@dataclass(frozen=True)
class Asked:
    """A metric that was asked for, its file, and every setting that bears on it."""

    metric: Metric
    file: SqlFile
    settings: Mapping[str, Value]

    @property
    def cutoffs(self) -> list[Asked]:
        """Return one metric per cut-off: itself, or each step of a sweep."""
        if not isinstance(self.metric.cutoff, tuple) or self.file.at is None:
            return [self]
        first, last = self.metric.cutoff
        at = self.file.at.name
        return [Asked(self.metric @ k, self.file, {**self.settings, at: k}) for k in range(first, last + 1)]


def parse(text: str, library: Library) -> Metric:
    """Read a metric and look up its name; the result carries the canonical name."""
    metric = read(text)
    file = library.asked(metric)
    return Metric(file.display_name, metric.params, metric.cutoff)


def ask(metrics: Iterable[str | Metric] | str | Metric, library: Library, compat: str | None, policies: Mapping[str, Any]) -> list[Asked]:
    """Return what was asked for; every metric or policy that does not exist is named in one error."""
    if not isinstance(metrics, (str, Metric, list, tuple, set, frozenset, dict)) and not hasattr(metrics, "__iter__"):
        raise MetricError(f"metrics={metrics!r} is not possible: give a metric such as 'nDCG@10', or a list of them")
    listed = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not listed:
        raise MetricError("no metric was asked for; name at least one, such as nDCG@10")
    bundle = _bundle(compat, library)
    given = {name: freeze(value, name) for name, value in policies.items() if value is not None}
    problems = [*_unknown_policies(given, library)]
    found: dict[str, Asked] = {}
    for item in listed:
        try:
            metric = parse(_alias(str(item), bundle, library), library)
            asked = _ask(metric, library, bundle, given)
            found[str(metric)] = asked
        except MetricError as error:
            problems.append(str(error))
    if len(found) > 1:
        problems += [f"{name} has rows of its own; ask for it alone" for name, item in found.items() if item.file.kind == "curves"]
    if problems:
        raise MetricError("\n".join(dict.fromkeys(problems)))
    return list(found.values())


def _ask(metric: Metric, library: Library, bundle: Mapping[str, Any], policies: Mapping[str, Value]) -> Asked:
    file = library.asked(metric)
    settings: dict[str, Value] = {name: value.default for name, value in file.choices.items()}
    settings |= {name: param.default for name, param in file.params.items() if param.default is not None}
    if "predictions" not in library.inputs(file):
        settings |= bundle.get("defaults", {})
    own = bundle.get("metrics", {})
    of_metric = own.get(file.display_name, {}) | (own.get(f"{file.display_name}@", {}) if metric.cutoff is not None else {})
    settings |= {name: freeze(value) for name, value in of_metric.items()}
    settings |= {**policies, **dict(metric.params)}
    for name in library.own_choices - file.choices.keys() - dict(metric.params).keys():
        settings.pop(name, None)
    if file.kind == "curves" or "predictions" not in library.inputs(file):
        settings.pop("level", None)
    at = file.at
    if metric.cutoff is not None:
        if at is None:
            raise MetricError(f"{file.display_name} takes no cut-off; write {metric @ None!s}")  # type: ignore[operator]
        if at.name in dict(metric.params):
            raise MetricError(f"{metric} gives {at.name} twice, in parentheses and after @")
        settings[at.name] = metric.cutoff if not isinstance(metric.cutoff, tuple) else metric.cutoff[1]
    elif at is not None and at.name not in settings:
        example = "0.1" if at.type == "number" else "10"
        raise MetricError(f"{file.display_name} needs a cut-off: {at.about} Write {file.display_name}@{example}")
    if "predictions" in library.inputs(file) and settings.get("ties", "row_order") != "row_order":
        raise MetricError(
            f"ties={settings['ties']!r} orders documents; for {file.display_name} a tie counts tie_credit, or give ties='row_order'"
        )
    _check_settings(metric, file, settings, library)
    return Asked(metric, file, settings)


def _check_settings(metric: Metric, file: SqlFile, settings: Mapping[str, Value], library: Library) -> None:
    for name, value in settings.items():
        if param := file.params.get(name):
            check_value(f"{metric}: {name}", param, value)
    for policy, values in COUNTABLE.items():
        if settings.get("ranking") == "counted" and settings.get(policy, values[0]) not in values:
            raise MetricError(
                f"ranking='counted' is for {policy}={values[0]!r}, not {settings[policy]!r}; give ranking='sorted', or leave it out"
            )
    for policy in library.policies:
        if policy in settings and settings[policy] not in library.policy_values(policy):
            known = library.policy_values(policy)
            raise MetricError(
                f"unknown {policy} {settings[policy]!r}{suggestion(str(settings[policy]), known)} Choose from: {', '.join(known)}"
            )


def check_value(place: str, param: Param, value: Value) -> None:
    """Raise ``MetricError`` if a value is not of the type and range that its parameter declares."""
    items = value if isinstance(value, tuple) and param.type == "numbers" else (value,)
    for item in items:
        if not isinstance(item, (int, float)) or not _fits(param, item):
            # The largest number there is goes without saying, except to those who exceed it.
            limit = f" to {ALL}" if isinstance(item, (int, float)) and item > param.high == ALL else ""
            raise MetricError(
                f"{place} is {item!r}; it must be {'an' if param.type[0] == 'i' else 'a'} {str(param).replace('numbers', 'number')}{limit}"
            )


def _fits(param: Param, number: float) -> bool:
    whole = param.type != "integer" or float(number).is_integer()
    above = number > param.low if param.excludes_low else number >= param.low
    return whole and above and number <= param.high


def _unknown_policies(policies: Mapping[str, Value], library: Library) -> list[str]:
    params = {name for file in [*library.relations.values(), *library.metrics.values()] for name in file.params} - {"k"}
    known = {*library.policies, *library.functions, *params, "score_type"}
    for slot in library.functions.values():
        known |= {name for file in slot.values() for name in file.params}
    problems = [
        f"unknown policy {name!r}{suggestion(name, known)} Choose from: {', '.join(sorted(known))}"
        for name in policies
        if name not in known
    ]
    if policies.get("score_type", SCORE_TYPES[0]) not in SCORE_TYPES:
        problems.append(f"unknown score_type {policies['score_type']!r}; choose from: {', '.join(SCORE_TYPES)}")
    return problems


def _bundle(compat: str | None, library: Library) -> dict[str, Any]:
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
    problems += _unknown_policies(
        {name: 0 for settings in [bundle.get("defaults", {}), *own] for name in settings if name != "score_type"}, library
    )
    if problems:
        raise MetricError("\n".join(f"{path}: {problem}" for problem in problems))
    return bundle


def _alias(text: str, bundle: Mapping[str, Any], library: Library) -> str:
    """Return the metric that a tool's own name stands for: ``ndcg_cut_10`` is nDCG@10 under trec10."""
    names: Mapping[str, str] = bundle.get("names", {})
    if text in names:
        return names[text]
    stem, _, number = text.rpartition("_")
    if f"{stem}_*" in names and text.lower() not in library.metrics:
        return names[f"{stem}_*"].replace("*", number)
    return text
