"""Settings that are refused before any data is read: unknown, out of range, of no effect on a metric, or not defined for it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlrank.errors import MetricError, suggestion
from sqlrank.library.asked import Asked
from sqlrank.library.confidence import SLOTS
from sqlrank.library.file import ALL
from sqlrank.library.metric import Metric
from sqlrank.library.uses import home, uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.library.file import Param, SqlFile
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value


OF_LISTS = ("aggregate", "no_relevant")
"""Slots that are filled after the files of metrics: what becomes of the values of lists, and of those that are not defined."""

OF_CALLS = ("queries", "nulls", "duplicates")
"""Policies that hold for a whole call, and are not a parameter of one metric."""

OF_CUTOFFS = ("k", "first_cutoff", "all_cutoffs")
"""Parameters that are written after a metric: ``P@10``, ``P@1..20``."""

MOST_NUMBERS = 1000
"""Numbers that a parameter may have: each stands in the statement."""


def unknown_policies(policies: Mapping[str, Value], library: Library) -> list[str]:
    """Return a problem for each policy that does not exist."""
    if not policies:  # so that no file is read for what nobody said
        return []
    known = {*library.policies, *library.functions.keys() - library.plans.keys(), *_params(library)} - {*OF_CUTOFFS, *SLOTS}
    return [
        f"unknown policy {name!r}{library.elsewhere(name) or suggestion(name, known)} Choose from: {', '.join(sorted(known))}"
        for name in policies
        if name not in known
    ]


def wrong_policies(policies: Mapping[str, Value], library: Library) -> list[str]:
    """Return a problem for each policy that has no such value, or is out of range, whether a metric reads it or not."""
    problems = []
    params = _params(library) if policies else {}
    for name, value in policies.items():
        try:
            check_policies({name: value}, library)
            if name in library.functions and not isinstance(value, tuple):
                library.function(name, str(value))
            if name in params and not any(_is_in(param, value) for param in params[name]):
                check_value(name, params[name][0], value)
        except MetricError as error:
            problems.append(str(error))
    return problems


def unread_policies(policies: Mapping[str, Value], asked: Iterable[Asked], library: Library) -> list[str]:
    """Return a problem for each policy that no metric that is asked for reads."""
    read = set().union(*(takes(item, library) for item in asked))
    return [f"no metric that is asked for reads {name}; {_readers(name, library)}" for name in policies if name not in read]


@lru_cache(maxsize=256)
def _readers(name: str, library: Library) -> str:
    """Say which metrics read a policy, or under which values of others some do."""
    readers = []
    for file in [*library.metrics.values(), *library.curves.values()]:
        settings = {choice.name: choice.default for choice in file.choices.values()}
        found = uses(library, library.checked(file), settings, *OF_LISTS)
        if name in takes(Asked(Metric(file.display_name), file, settings, found, home(library, file)), library):
            readers.append(file.display_name)
    if not readers:
        functions = [(slot, value, file) for slot, values in library.functions.items() for value, file in values.items()]
        variants = [
            (policy, value, library.relations[relation, variant])
            for policy, said in library.policies.items()
            for value, files in said["values"].items()
            for relation, variant in files.items()
            if (relation, variant) in library.relations
        ]
        holders = [
            f"{policy}={value}" for policy, value, file in [*functions, *variants] if f"${name}" in file.text or f"{name}(" in file.text
        ]
        return f"it is read under {' and '.join(dict.fromkeys(holders))}"
    return f"it is read by: {', '.join(dict.fromkeys(readers))}"


@lru_cache(maxsize=8)
def _params(library: Library) -> dict[str, list[Param]]:
    """Return all parameters by name, each as every file that has it declares it."""
    functions = (file for slot in library.functions.values() for file in slot.values())
    params: dict[str, list[Param]] = {}
    for file in [*library.metrics.values(), *library.curves.values(), *library.relations.values(), *functions]:
        for name, param in file.params.items():
            params.setdefault(name, []).append(param)
    return params


def _is_in(param: Param, value: Value) -> bool:
    items = value if isinstance(value, tuple) and param.type == "numbers" else (value,)
    return all(isinstance(item, (int, float)) and _fits(param, item) for item in items)


def check_values(metric: Metric, file: SqlFile, settings: Mapping[str, Value]) -> None:
    """Raise ``MetricError`` for a parameter of the metric that is out of range."""
    for name, value in settings.items():
        if param := file.params.get(name):
            instead = file.facts.get("With k") if param is file.at else None
            check_value(f"{metric}: {name}", param, value, "" if instead is None else f"; did you mean '{instead}@{metric.cutoff}'?")


def check_policies(settings: Mapping[str, Value], library: Library) -> None:
    """Raise ``MetricError`` for a policy that has no such value."""
    for policy in library.policies:
        if policy in settings and settings[policy] not in library.values_of(policy):
            known = library.values_of(policy)
            raise MetricError(
                f"unknown {policy} {settings[policy]!r}{suggestion(str(settings[policy]), known)} Choose from: {', '.join(known)}"
            )


def takes(asked: Asked, library: Library) -> set[str]:
    """Return the settings that a metric reads."""
    found = asked.uses.settings | asked.file.params.keys() | asked.file.choices.keys()
    found -= {"level", *library.own_choices} - asked.file.choices.keys()
    found -= library.plans.keys()
    if asked.home == "run":
        found.add("score_type")
    else:
        found -= set() if asked.per_list else {"aggregate"}
        found |= {"level"} if asked.file.kind == "metrics" and library.roles[asked.home].list_column else set()
    return found


def check_unused(asked: Asked, library: Library) -> None:
    """Raise ``MetricError`` for a parameter that a metric does not read, and for a value of one it reads that is out of range."""
    taken = takes(asked, library)
    for file in asked.uses.files:
        for param in file.params.values():
            _check_read(param, asked.settings)
    at = asked.file.at.name if asked.file.at else None
    for name, _ in asked.metric.params:
        if name not in taken:
            known = ", ".join(sorted(other for other in taken if other not in {at, *OF_CALLS}))
            where = "" if name in library.policies or name in library.functions else library.elsewhere(name).rstrip(".")
            raise MetricError(f"{asked.file.display_name} has no parameter {name!r}{where}; it takes: {known}")


def _check_read(param: Param, settings: Mapping[str, Value]) -> None:
    value = settings.get(param.name, param.default)
    if value is None:
        raise MetricError(f"no value for {param.name}: {param.about} Give one, as in nDCG({param.name}=...)")
    if value == ALL and param.high < ALL:
        raise MetricError(f"a cut-off from 1 to {param.high:g} is needed here; write it after @, as in nDCG@10")
    check_value(param.name, param, value)


def check_value(place: str, param: Param, value: Value, hint: str = "") -> None:
    """Raise ``MetricError`` if a value is not of the type and range that its parameter declares."""
    items = value if isinstance(value, tuple) and param.type == "numbers" else (value,)
    if len(items) > MOST_NUMBERS:
        raise MetricError(f"{place} has {len(items)} numbers; it may have at most {MOST_NUMBERS}")
    for item in items:
        if not isinstance(item, (int, float)) or not _fits(param, item):
            # The largest number there is goes without saying, except to those who exceed it.
            limit = f" to {ALL}" if isinstance(item, (int, float)) and item > param.high == ALL else ""
            raise MetricError(
                f"{place} is {item!r}; it must be {'an' if param.type[0] == 'i' else 'a'} {str(param).replace('numbers', 'number')}{limit}{hint}"
            )


def _fits(param: Param, number: float) -> bool:
    whole = param.type != "integer" or float(number).is_integer()
    above = number > param.low if param.excludes_low else number >= param.low
    return whole and above and number <= param.high


def check_ties(asked: Asked, library: Library) -> None:
    """Refuse the expectation over ties for a metric that is not a sum over documents."""
    if asked.settings.get("ties") != "expected" or _is_linear(asked.uses.files, asked.file, asked.settings, library):
        return
    linear = []
    for file in library.metrics.values():
        if home(library, file) == "run":
            settings = {**{choice.name: choice.default for choice in file.choices.values()}, "ties": "expected"}
            if _is_linear(uses(library, file, settings).files, file, settings, library):
                linear.append(file.display_name)
    raise MetricError(
        f"ties='expected' is not defined for {asked.metric}, which is not a sum over documents; it is for: {', '.join(sorted(linear))}. "
        "Choose another value of ties, such as doc_desc"
    )


def _is_linear(files: Iterable[SqlFile], file: SqlFile, settings: Mapping[str, Value], library: Library) -> bool:
    """Whether a metric, or else the relation it reads, weighs documents by their chance, or reads none that is spread over ranks."""
    if any(read.facts.get("Linear") == "no" for read in files):
        return False
    relation = library.relation(file.reads, settings)
    return "Linear" in file.facts or "Linear" in relation.facts or not any("Spread" in read.facts for read in files)
