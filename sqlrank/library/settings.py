"""What holds for one metric: its own parameters over the call's policies over the compatibility mode over the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.deadline import check_time
from sqlrank.errors import MetricError, shown
from sqlrank.library.asked import OWN_CUTOFFS, Asked
from sqlrank.library.compat import alias, bundle_of
from sqlrank.library.file import ALL
from sqlrank.library.known import ours
from sqlrank.library.metric import OWN, Metric, each_cutoff, freeze, read
from sqlrank.library.orders import in_order, orders_of_predictions
from sqlrank.library.refusals import (
    OF_LISTS,
    check_policies,
    check_ties,
    check_unused,
    check_values,
    unknown_policies,
    unread_policies,
    wrong_policies,
)
from sqlrank.library.uses import home, uses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value

MOST = 1000
"""Metrics of one call, which engines take minutes to plan more of, and cut-offs of its ranges, each of which is a row for every group."""


def parse(text: str, library: Library) -> Metric:
    """Read a metric and look up its name, ours or one by which it is known; the result carries the canonical name."""
    metric = ours(read(text), library)
    file = library.asked(metric)
    return Metric(file.display_name, metric.params, metric.cutoff)


def ask(
    metrics: Iterable[str | Metric] | str | Metric,
    library: Library,
    compat: str | None,
    policies: Mapping[str, Any],
    given: Collection[str],
) -> list[Asked]:
    """Return what was asked for; every metric or policy that does not exist is named in one error.

    ``given`` are the roles of the inputs, which defaults depend on.
    """
    listed = _listed(metrics)
    bundle = bundle_of(compat, library)
    said = {name: freeze(value, name) for name, value in policies.items() if value is not None}
    problems = [*unknown_policies(said, library), *wrong_policies(said, library)]
    wanted: dict[str, tuple[Metric, str]] = {}
    for item in listed:
        check_time()
        try:
            for text in each_cutoff(str(item) if isinstance(item, (str, Metric)) else shown(item)):
                metric = parse(alias(text, bundle, library), library)
                wanted[str(metric)] = (metric, home(library, library.asked(metric)))
        except MetricError as error:
            problems.append(str(error))
    has_rankings = any(role == "run" for _, role in wanted.values())
    implied = _implied(given, library)
    found: dict[str, Asked] = {}
    for name, (metric, role) in wanted.items():
        check_time()
        try:
            heeded = _heeded(said, role, has_rankings)
            found[name] = _ask(metric, role, library, bundle, {**implied, **heeded} if role == "run" else heeded)
        except MetricError as error:
            problems.append(str(error))
    if len(found) > 1:
        problems += [f"{name} has rows of its own; ask for it alone" for name, item in found.items() if item.file.kind == "curves"]
    if not problems:
        problems += unread_policies(said, found.values(), library)
    if problems:
        raise MetricError("\n".join(dict.fromkeys(problems)))
    _refuse_many(found.values())
    return [in_order(item, library) for item in found.values()]


def _listed(metrics: Any) -> list[Any]:
    """Return the metrics one by one; raise ``MetricError`` for what is no metric and no list of them, or too long a one."""
    if not isinstance(metrics, (str, Metric, list, tuple, set, frozenset, dict)) and not hasattr(metrics, "__iter__"):
        raise MetricError(f"metrics={shown(metrics)} is not possible: give a metric such as 'nDCG@10', or a list of them")
    listed = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if len(listed) > MOST:
        raise MetricError(f"{len(listed)} metrics are asked for; a statement has at most {MOST}, so ask for them in several calls")
    if not listed:
        raise MetricError("no metric was asked for; name at least one, such as nDCG@10")
    return listed


def _implied(given: Collection[str], library: Library) -> dict[str, Value]:
    """Return the policies whose default needs an input that is not given, each with its first value that needs none but those."""
    found: dict[str, Value] = {}
    for policy, said in library.policies.items():
        usual, *others = said["values"].items()
        possible = [value for value, files in others if files.get("needs", "run") in {*given, "run"}]
        if usual[1].get("needs", "run") not in {*given, "run"} and possible:
            found[policy] = possible[0]
    return found


def _heeded(policies: Mapping[str, Value], role: str, has_rankings: bool) -> Mapping[str, Value]:
    """Return the policies that bear on a metric of a role: how tied documents are ordered is for rankings, if there are any."""
    ties = policies.get("ties", "row_order")
    return {name: value for name, value in policies.items() if name != "ties" or role == "run" or not has_rankings or ties == "row_order"}


def _ask(metric: Metric, role: str, library: Library, bundle: Mapping[str, Any], policies: Mapping[str, Value]) -> Asked:
    file = library.checked(library.asked(metric))
    is_ranking, orders = role == "run", orders_of_predictions(library)
    settings: dict[str, Value] = {name: value.default for name, value in file.choices.items()}
    settings |= {name: param.default for name, param in file.params.items() if param.default is not None}
    if is_ranking:
        settings |= bundle.get("defaults", {})
    own = bundle.get("metrics", {})
    of_metric = own.get(file.display_name, {}) | (own.get(f"{file.display_name}@", {}) if metric.cutoff is not None else {})
    settings |= {name: freeze(value) for name, value in of_metric.items()}
    settings |= {**policies, **dict(metric.params)}
    for name in library.own_choices - file.choices.keys() - dict(metric.params).keys():
        settings.pop(name, None)
    if file.kind == "curves" or is_ranking:
        settings.pop("level", None)
    settings |= _cutoff(metric, file, settings)
    if metric.cutoff == OWN and (not is_ranking or file.grain != "list" or (file.at and file.at.type) != "integer"):
        raise MetricError(
            f"{metric}: the cut-off of each query is for metrics of rankings at k that have a value per query, such as nDCG@{OWN}"
        )
    if not is_ranking and settings.get("ties", orders[0]) not in orders:
        others = " or ".join([", ".join(map(repr, orders[:-1])), repr(orders[-1])])
        raise MetricError(f"ties={settings['ties']!r} orders documents; {file.display_name} takes ties as they are, or give ties={others}")
    check_values(metric, file, settings)
    check_policies(settings, library)
    found = uses(library, file, settings, *OF_LISTS)
    if metric.cutoff == OWN:
        found.add(uses(library, library.relation(OWN_CUTOFFS, settings), settings))
    asked = Asked(metric, file, settings, found, role)
    check_unused(asked, library)
    if is_ranking:
        check_ties(asked, library)
    return asked


def _refuse_many(asked: Iterable[Asked]) -> None:
    """Refuse ranges with more cut-offs than a statement has metrics."""
    ranges = {str(item.metric): item.metric.cutoff for item in asked if isinstance(item.metric.cutoff, tuple)}
    columns = sum(last - first + 1 for first, last in ranges.values())
    if columns > MOST:
        raise MetricError(
            f"{next(iter(ranges))} and its like have {columns} cut-offs; ranges have at most {MOST} together, so ask in parts"
        )


def _cutoff(metric: Metric, file: SqlFile, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the parameter that is written after ``@``; raise ``MetricError`` for one that is missing, or too many."""
    at = file.at
    if metric.cutoff is None:
        if at is not None and at.name not in settings:
            example = "0.1" if at.type == "number" else "10"
            raise MetricError(f"{file.display_name} needs a cut-off: {at.about} Write {file.display_name}@{example}")
        return {}
    if at is None:
        raise MetricError(f"{file.display_name} takes no cut-off; write {metric @ None!s}")  # type: ignore[operator]
    if at.name in dict(metric.params):
        raise MetricError(f"{metric} gives {at.name} twice, in parentheses and after @")
    return {at.name: ALL if isinstance(metric.cutoff, str) else metric.cutoff[1] if isinstance(metric.cutoff, tuple) else metric.cutoff}
