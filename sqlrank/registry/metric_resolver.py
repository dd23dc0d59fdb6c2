"""Resolve and validate the metrics of a request: names, compatibility modes, settings, and
differences between groups.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlrank.cancellation import check_deadline
from sqlrank.errors import ContractError, MetricError, join_words, short_repr, suggest_choice
from sqlrank.registry.metric import (
    COLUMN_PARAMETER,
    QUERY_CUTOFF,
    Metric,
    ParameterValue,
    expand_cutoff_list,
    freeze_value,
    normalize_name,
    parse_metric_text,
    to_sql_name,
)
from sqlrank.registry.metric_info import find_metric, find_siblings
from sqlrank.registry.resolved_metric import (
    MEASURES_PLAN,
    QUERY_CUTOFFS_RELATION,
    MeasuredColumn,
    ResolvedMetric,
    find_dependencies,
    find_input_role,
    find_measured_column,
    with_free_name,
)
from sqlrank.registry.settings_checks import (
    LIST_SLOTS,
    check_expected_ties,
    check_parameter_values,
    check_parameters_accepted,
    check_policy_values,
    check_rank_positions,
    describe_argument,
    find_accepted_policies,
    for_tie_order,
    invalid_policies,
    is_policy_defined,
    prediction_tie_orders,
    unknown_policies,
    unused_policies,
)
from sqlrank.registry.sql_file import NO_CUTOFF, SqlFile
from sqlrank.registry.sql_folder import read_tables

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry


MIN_TOOL_CHARACTERS = 4
"""Length from which a word may be the name of a tool."""


_MODE_SECTIONS = ("defaults", "metrics", "names", "notes")
"""Sections of a compatibility mode; notes are on what its tool reads in another way."""


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
        if reproducing := [
            mode
            for mode in modes
            if _has_tool_name(library.compat_files[mode].read_text("utf-8"), compat)
        ]:
            raise MetricError(
                f"{problem}. Its numbers are reproduced by {join_words(reproducing, 'or')}"
            )
        raise MetricError(suggest_choice(problem, compat, modes))
    path = library.compat_files[compat]
    compat_mode = read_tables(path)
    metric_settings = list(compat_mode.get("metrics", {}).values())
    if invalid := next(
        (settings for settings in metric_settings if not isinstance(settings, dict)), None
    ):
        raise ContractError(
            f"{path}:1: {short_repr(invalid)} is not a table of settings of a metric. Write a"
            " table, such as [metrics.AP]"
        )
    problems = [
        f"unknown section {name!r}. Choose from: {', '.join(_MODE_SECTIONS)}"
        for name in compat_mode.keys() - {*_MODE_SECTIONS}
    ]
    problems += unknown_policies(
        dict.fromkeys(
            name
            for settings in [compat_mode.get("defaults", {}), *metric_settings]
            for name in settings
        ),
        library,
    )
    if problems:
        raise MetricError(*(f"{path}: {problem}" for problem in problems))
    return compat_mode


def _has_tool_name(mode_text: str, tool: str) -> bool:
    """Return True if the first line of a mode names a tool, such as ``scikit-learn``, before its
    colon.

    >>> _has_tool_name(
    ...     "# trec_eval 9 and pytrec_eval: judged topics", "pytrec_eval"
    ... ), _has_tool_name("# XGBoost 3: as trec_eval", "trec_eval")
    (True, False)
    """
    tools = mode_text.partition("\n")[0].partition(":")[0]
    return (
        len(tool) >= MIN_TOOL_CHARACTERS
        and re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", tools, re.IGNORECASE) is not None
    )


def expand_compat_alias(text: str, compat_mode: Mapping[str, Any], library: Registry) -> str:
    """Expand a tool's own metric name, such as ``ndcg_cut_10`` to nDCG@10 under trec10.

    A name that ends in ``@`` is meant with a cut-off, as in ``sql/settings/names.toml``.
    """
    names: Mapping[str, str] = compat_mode.get("names", {})
    name, at, cutoff = text.partition("@")
    if canonical := names.get(f"{name}{at}") or names.get(name):
        return f"{canonical}{at}{cutoff}"
    stem, _, suffix = text.rpartition("_")
    if f"{stem}_*" in names and text.lower() not in library.metrics:
        return names[f"{stem}_*"].replace("*", suffix)
    return text


MAX_METRICS = 1000
"""Maximum number of metrics, and of cut-offs in ranges, per request.

Engines take minutes to plan more metrics; each cut-off is one row per group.
"""


def parse_canonical(text: str, library: Registry) -> Metric:
    """Parse a metric and replace its name or synonym by the canonical name."""
    metric, file = find_metric(text, library)
    return Metric(file.display_name, metric.params, metric.cutoff)


def resolve_metrics(
    metrics: Iterable[str | Metric] | str | Metric,
    library: Registry,
    compat: str | None,
    policies: Mapping[str, Any],
    input_roles: Collection[str],
    has_inputs: bool = True,
) -> list[ResolvedMetric]:
    """Resolve the metrics of a request; one error lists every unknown metric and policy.

    ``input_roles`` are the roles of the inputs, on which defaults depend. Without ``has_inputs``
    they are only tried, and a metric of others is no mistake.
    """
    metric_list, roles = as_metric_list(metrics), tuple(input_roles)
    frozen_policies = _freeze_policies(policies)
    # Its text tells 1 from True and 1.0, which are equal.
    key = (repr((metric_list, compat, frozen_policies, roles, has_inputs)), library)
    return [
        *_resolve_once(
            _Resolution(key, (metric_list, library, compat, frozen_policies, roles, has_inputs))
        )
    ]


@dataclass(frozen=True)
class _Resolution:
    """The arguments of a resolution, with the key by which it is found again."""

    key: tuple[str, Registry]
    arguments: tuple[Any, ...] = field(compare=False)


@lru_cache(maxsize=64)
def _resolve_once(resolution: _Resolution) -> tuple[ResolvedMetric, ...]:
    """Return the metrics of a resolution, which calls in a loop repeat."""
    metric_list, library, compat, frozen_policies, input_roles, has_inputs = resolution.arguments
    compat_mode = _load_mode(compat, library, input_roles)
    requested, problems = _parse_metrics(metric_list, compat_mode, library, input_roles, has_inputs)
    problems = [*invalid_policies(frozen_policies, library), *problems]
    resolved_metrics: dict[str, ResolvedMetric] = {}
    policies_by_metric = _policies_by_metric(requested, library, frozen_policies, input_roles)
    for name, entry in requested.items():
        check_deadline()
        try:
            resolved = _resolve_metric(entry, library, compat_mode, policies_by_metric[name])
            _check_settings(resolved, library)
            resolved_metrics[name] = resolved
        except MetricError as error:
            problems.append(str(error))
    if len(resolved_metrics) > 1:
        problems += [
            f"{name} has rows of its own. Ask for it alone{_single_value_advice(resolved, library)}"
            for name, resolved in resolved_metrics.items()
            if resolved.file.kind == "curves"
        ]
    if not problems:
        problems += unused_policies(frozen_policies, resolved_metrics.values(), library)
    if problems:
        raise MetricError(*dict.fromkeys(problems))
    # Each cut-off is computed as a metric of its own is.
    counts = {
        str(metric.metric): metric.metric.cutoff[1] - metric.metric.cutoff[0] + 1
        for metric in resolved_metrics.values()
        if isinstance(metric.metric.cutoff, tuple)
    }
    count = sum(counts.values())
    if count > MAX_METRICS:
        raise MetricError(
            f"{next(iter(counts))} and its like have {count} cut-offs. Ranges have at most"
            f" {MAX_METRICS} together, so ask in parts"
        )
    return tuple(
        replace(for_tie_order(resolved, library), requested_names=texts, column_names=texts)
        for name, resolved in resolved_metrics.items()
        for texts in (tuple(requested[name].texts.values()),)
    )


def _single_value_advice(resolved: ResolvedMetric, library: Registry) -> str:
    """Return the metric with one value that a curve stands beside, such as ``AUC`` for ``ROC``, as
    the end of a message.
    """
    metric = library.synonyms["curves"].get(normalize_name(resolved.metric.name))
    return "" if metric is None else f", or give {metric} for one value"


def find_effective_policies(
    metrics: Iterable[str | Metric] | str | Metric,
    library: Registry,
    compat: str | None,
    policies: Mapping[str, Any],
    input_roles: Collection[str],
) -> set[str]:
    """Find the policies that some of the metrics read and that are defined for all of them.

    Args:
        metrics: The metrics, as for :func:`resolve_metrics`.
        library: The registry.
        compat: The compatibility mode.
        policies: Policies with valid values.
        input_roles: Roles of the inputs.
    """
    compat_mode = _load_mode(compat, library, input_roles)
    requested, problems = _parse_metrics(as_metric_list(metrics), compat_mode, library, input_roles)
    if problems:
        raise MetricError(*dict.fromkeys(problems))
    remaining = _freeze_policies(policies)
    while True:
        policies_by_metric = _policies_by_metric(requested, library, remaining, input_roles)
        resolved_metrics = [
            _resolve_metric(entry, library, compat_mode, policies_by_metric[name])
            for name, entry in requested.items()
        ]
        accepted = find_accepted_policies(remaining, resolved_metrics, library)
        effective = {
            name: value
            for name, value in remaining.items()
            if name in accepted
            and all(is_policy_defined(name, value, metric, library) for metric in resolved_metrics)
        }
        if effective == remaining:
            return set(effective)
        remaining = effective  # of these, some may be read under values of others only


@dataclass
class _RequestedMetric:
    """A requested metric: its canonical form, its file and input role, the column that it measures,
    and the texts that requested it.
    """

    metric: Metric
    file: SqlFile
    role: str
    column: MeasuredColumn | None
    texts: dict[str, str] = field(default_factory=dict)


def _parse_metrics(
    entries: Iterable[Any],
    compat_mode: Mapping[str, Any],
    library: Registry,
    input_roles: Collection[str],
    has_inputs: bool = True,
) -> tuple[dict[str, _RequestedMetric], list[str]]:
    """Return the requested metrics by canonical name, and a problem for each entry that is none."""
    requested: dict[str, _RequestedMetric] = {}
    problems = []
    for entry in entries:
        check_deadline()
        try:
            for text in expand_cutoff_list(
                str(entry) if isinstance(entry, (str, Metric)) else short_repr(entry)
            ):
                expanded = expand_compat_alias(text, compat_mode, library)
                metric = parse_canonical(expanded, library)
                metric = (
                    _with_input_of_call(
                        metric, library, compat_mode, input_roles, may_replace=expanded != text
                    )
                    if has_inputs
                    else metric
                )
                column = find_measured_column(
                    metric, library.file_for(metric), input_roles, library
                )
                column = column and with_free_name(
                    column, [entry.column for entry in requested.values()]
                )
                file = library.file_for(metric, "" if column is None else column.role)
                new = _RequestedMetric(metric, file, find_input_role(library, file), column)
                requested.setdefault(str(metric), new).texts.setdefault(
                    normalize_name(text), " ".join(text.split())
                )
        except MetricError as error:
            problems.append(str(error))
    return requested, problems


def _with_input_of_call(
    metric: Metric,
    library: Registry,
    compat_mode: Mapping[str, Any],
    input_roles: Collection[str],
    may_replace: bool,
) -> Metric:
    """Return the metric, or in its place one of the same meaning that reads the inputs given, where
    a tool's name is of both.

    Raises:
        MetricError: Another metric of the same meaning is to be asked for by its name.
    """
    others = [replace(metric, name=name) for name in find_siblings(metric, library, input_roles)]
    siblings = [other for other in others if _takes_settings(other, library, compat_mode)]
    if not siblings:
        return metric  # whoever needs its input says how to give it
    if may_replace:
        return siblings[0]
    role = find_input_role(library, library.file_for(metric))
    components = library.roles[role].assembled_from
    instead = f", or {join_words(components)} in its place" if components else ""
    advice = f"Ask for {join_words(map(str, siblings), 'or')}"
    raise MetricError(
        f"{metric.name} reads {role}, which is not given. {advice}, or give"
        f" {describe_argument(role)}{instead}"
    )


def _takes_settings(metric: Metric, library: Registry, compat_mode: Mapping[str, Any]) -> bool:
    """Return True if a metric has the parameters that it is written with, in these ranges."""
    try:
        file = library.file_for(metric)
        requested = _RequestedMetric(metric, file, find_input_role(library, file), None)
        _check_settings(_resolve_metric(requested, library, compat_mode, {}), library)
    except MetricError:
        return False
    return True


def _check_settings(resolved: ResolvedMetric, library: Registry) -> None:
    """Check that a metric has the parameters that it is written with, and that their values are in
    range and fit together.
    """
    check_parameter_values(resolved, library)
    check_parameters_accepted(resolved, library)
    check_expected_ties(resolved, library)
    check_rank_positions(resolved)


def _load_mode(
    compat: str | None, library: Registry, input_roles: Collection[str]
) -> dict[str, Any]:
    """Return a compatibility mode, with the defaults that follow from the inputs among its own."""
    mode = load_compat_mode(compat, library)
    return {
        **mode,
        "defaults": {**_defaults_with_inputs(input_roles, library), **mode.get("defaults", {})},
    }


def _freeze_policies(policies: Mapping[str, Any]) -> dict[str, ParameterValue]:
    return {
        name: freeze_value(value, name) for name, value in policies.items() if value is not None
    }


def _policies_by_metric(
    requested: Mapping[str, _RequestedMetric],
    library: Registry,
    policies: Mapping[str, ParameterValue],
    input_roles: Collection[str],
) -> dict[str, dict[str, ParameterValue]]:
    """Return the policies for each metric: those for its role, and the defaults that missing inputs
    imply.
    """
    has_rankings = any(entry.role == "run" for entry in requested.values())
    implied = _defaults_without_inputs(input_roles, library)
    return {
        name: {
            **(implied if entry.role == "run" else {}),
            **_policies_for_role(policies, entry.role, has_rankings),
        }
        for name, entry in requested.items()
    }


def mark_lower_better(
    metrics: Sequence[ResolvedMetric], names: str | Sequence[str]
) -> list[ResolvedMetric]:
    """Mark the metrics of which lower values are better; a column marks all metrics that measure
    it.

    Raises:
        MetricError: A name is of no metric of the call that measures a column.
    """
    if not isinstance(names, (str, list, tuple, set, frozenset)) or not all(
        isinstance(name, str) for name in names
    ):
        raise MetricError(
            f"lower_is_better={short_repr(names)} is not possible: name metrics such as"
            " 'Mean(latency_ms)', in a list"
        )
    lower = {names} if isinstance(names, str) else set(names)
    if not lower:
        return [*metrics]
    measured = [metric for metric in metrics if metric.measured_column is not None]
    metric_names = {
        name: str(metric.metric)
        for metric in measured
        if metric.measured_column is not None
        for name in (str(metric.metric), metric.measured_column.column, *metric.requested_names)
    }
    for name in sorted(lower - metric_names.keys()):
        there = (
            f"There are: {', '.join(map(str, dict.fromkeys(metric_names.values())))}"
            if metric_names
            else "There is none"
        )
        raise MetricError(
            f"lower_is_better names {name!r}, which is no metric of a column in this call. {there}"
        )
    return [
        (
            replace(
                metric,
                is_lower_better=not lower.isdisjoint(
                    {str(metric.metric), metric.measured_column.column, *metric.requested_names}
                ),
            )
            if metric.measured_column is not None
            else metric
        )
        for metric in metrics
    ]


def as_metric_list(metrics: Any) -> list[Any]:
    """Return the requested metrics as a list.

    Raises:
        MetricError: The argument is neither a metric nor a list of them, or too long.
    """
    if not isinstance(metrics, (str, Metric, list, tuple, set, frozenset, dict)) and not hasattr(
        metrics, "__iter__"
    ):
        raise MetricError(
            f"metrics={short_repr(metrics)} is not possible: give a metric such as 'nDCG@10', or a"
            " list of them"
        )
    metric_list = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if len(metric_list) > MAX_METRICS:
        raise MetricError(
            f"{len(metric_list)} metrics are too many for a call. A statement has at most"
            f" {MAX_METRICS}, so ask for them in several calls"
        )
    if not metric_list:
        raise MetricError("no metric is given. Name at least one, such as nDCG@10")
    return metric_list


def _defaults_without_inputs(
    input_roles: Collection[str], library: Registry
) -> dict[str, ParameterValue]:
    """Return replacements for defaults of policies and plans that need missing inputs: the first
    value that needs none.
    """
    available = {*input_roles, "run"}
    defaults: dict[str, ParameterValue] = {}
    for policy, entry in (library.policies | library.plans).items():
        values = entry["values"]
        if next(iter(values.values())).get("requires_input", "run") in available:
            continue
        possible = [
            value for value in values if values[value].get("requires_input", "run") in available
        ]
        if possible:
            defaults[policy] = possible[0]
    return defaults


def _defaults_with_inputs(
    input_roles: Collection[str], library: Registry
) -> dict[str, ParameterValue]:
    """Return the defaults of policies that differ from the usual ones with these inputs; of several
    values the first.
    """
    return {
        policy: value
        for policy, choice in library.policies.items()
        for value, entry in reversed(choice["values"].items())
        if entry.get("default_with") in input_roles
    }


def _policies_for_role(
    policies: Mapping[str, ParameterValue], role: str, has_rankings: bool
) -> Mapping[str, ParameterValue]:
    """Return the policies that affect metrics of a role.

    If any metric reads ranked lists, orders of tied documents affect those metrics only.
    """
    ties = policies.get("ties", "row_order")
    return {
        name: value
        for name, value in policies.items()
        if name != "ties" or role == "run" or not has_rankings or ties == "row_order"
    }


def _resolve_metric(
    requested: _RequestedMetric,
    library: Registry,
    compat_mode: Mapping[str, Any],
    policies: Mapping[str, ParameterValue],
) -> ResolvedMetric:
    metric, file, column = requested.metric, library.validate_file(requested.file), requested.column
    is_ranking, orders = requested.role == "run", prediction_tie_orders(library)
    settings: dict[str, ParameterValue] = {
        name: value.default for name, value in file.declared_settings.items()
    }
    settings |= {
        name: param.default for name, param in file.params.items() if param.default is not None
    }
    if is_ranking:
        settings |= compat_mode.get("defaults", {})
    settings_by_metric = compat_mode.get("metrics", {})
    metric_settings = settings_by_metric.get(file.display_name, {}) | (
        settings_by_metric.get(f"{file.display_name}@", {}) if metric.cutoff is not None else {}
    )
    settings |= {name: freeze_value(value) for name, value in metric_settings.items()}
    settings |= {**policies, **dict(metric.params)}
    settings |= (
        {} if column is None else {COLUMN_PARAMETER: column.name, MEASURES_PLAN: column.role}
    )
    for name in (
        library.metric_policies - file.declared_settings.keys() - dict(metric.params).keys()
    ):
        settings.pop(name, None)
    if file.kind == "curves" or is_ranking:
        settings.pop("level", None)
    settings |= _bind_cutoff(metric, file, settings)
    if metric.cutoff == QUERY_CUTOFF and (
        not is_ranking
        or file.grain != "list"
        or (param := file.cutoff_parameter) is None
        or param.type != "integer"
        or param.high < NO_CUTOFF
    ):
        raise MetricError(
            f"{metric}: the cut-off of each query is for metrics of rankings at k that have a value"
            f" per query, such as nDCG@{QUERY_CUTOFF}"
        )
    check_policy_values(settings, library)
    if is_ranking and settings.get("ranks") == "given":
        settings = {"ties": "rank", **settings}
    if not is_ranking and settings.get("ties", orders[0]) not in orders:
        allowed = join_words((f"ties={order!r}" for order in orders), "or")
        raise MetricError(
            f"ties={settings['ties']!r} orders documents. {file.display_name} takes ties as they"
            f" are, or give {allowed}"
        )
    dependencies = find_dependencies(library, file, settings, *LIST_SLOTS)
    if metric.cutoff == QUERY_CUTOFF:
        dependencies |= find_dependencies(
            library, library.find_relation(QUERY_CUTOFFS_RELATION, settings), settings
        )
    return ResolvedMetric(
        metric, file, settings, dependencies, requested.role, measured_column=column
    )


def _bind_cutoff(
    metric: Metric, file: SqlFile, settings: Mapping[str, ParameterValue]
) -> dict[str, ParameterValue]:
    """Return the parameter that is written after ``@``.

    Raises:
        MetricError: The cut-off is missing, not supported, or given twice.
    """
    param = file.cutoff_parameter
    if metric.cutoff is None:
        if param is not None and param.name not in settings:
            example = "0.1" if param.type == "number" else "10"
            about = param.about.removeprefix("cut-off, ")
            raise MetricError(
                f"{file.display_name} needs a cut-off: {about} Write {file.display_name}@{example}"
            )
        return {}
    if param is None:
        raise MetricError(f"{file.display_name} takes no cut-off. Write {metric @ None!s}")  # type: ignore[operator]
    if param.name in dict(metric.params):
        raise MetricError(f"{metric} gives {param.name} twice, in parentheses and after @")
    return {
        param.name: (
            NO_CUTOFF
            if isinstance(metric.cutoff, str)
            else metric.cutoff[1]
            if isinstance(metric.cutoff, tuple)
            else metric.cutoff
        )
    }


@dataclass(frozen=True)
class RequestedDifferences:
    """The requested metrics of differences between groups.

    Attributes:
        metrics: The metrics to compute: those that were requested, and those of named differences.
        components: The canonical metrics of each named difference, by its name.
        component_metrics: The canonical metrics that were requested by the name of a difference
            only.
    """

    metrics: Any
    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    component_metrics: frozenset[str] = frozenset()

    def by_row(
        self, metrics: Sequence[ResolvedMetric], requested_names: bool, plain_names: bool
    ) -> dict[str, tuple[str, ...]]:
        """Return the canonical metrics of each row of differences, by its name."""
        rows: dict[str, tuple[str, ...]] = {}
        for metric in metrics:
            if (name := str(metric.metric)) not in self.component_metrics:
                rows |= dict.fromkeys(metric.column_names if requested_names else (name,), (name,))
        return rows | {
            to_sql_name(name) if plain_names else name: names
            for name, names in self.components.items()
        }


def split_differences(metrics: Any, library: Registry, *, is_across: bool) -> RequestedDifferences:
    """Replace names of differences, such as ``EqualizedOdds(threshold=0.7)``, by the metrics that
    they are of.

    Raises:
        MetricError: A difference is requested, but no column whose groups are compared.
    """
    if isinstance(metrics, Mapping):
        return RequestedDifferences(metrics)
    entries = as_metric_list(metrics)
    if all(
        (metric := _parse_metric(entry)) is not None and metric.name.lower() in library.metrics
        for entry in entries
    ):
        return RequestedDifferences(entries)  # without reading names.toml
    named = library.synonyms.get("differences", {})
    components: dict[str, tuple[Metric, ...]] = {}
    plain_entries = []
    for entry in entries:
        metric = _parse_metric(entry)
        if metric is None or normalize_name(metric.name) not in named:
            plain_entries.append(entry)
            continue
        if not is_across:
            raise MetricError(
                f"{metric.name} is a difference between groups. Name the column of the groups in"
                " evaluate or gate, such as across='country'"
            )
        components[str(entry)] = tuple(
            Metric(name, metric.params) for name in named[normalize_name(metric.name)]
        )
    if not components:
        return RequestedDifferences(entries)
    canonical = {
        name: tuple(str(parse_canonical(str(component), library)) for component in group)
        for name, group in components.items()
    }
    requested = {name for entry in plain_entries if (name := _canonical_name(entry, library))}
    return RequestedDifferences(
        [*plain_entries, *(component for group in components.values() for component in group)],
        canonical,
        frozenset(name for group in canonical.values() for name in group) - requested,
    )


def _canonical_name(entry: Any, library: Registry) -> str:
    """Return the canonical metric of an entry, "" if it is not a single metric."""
    try:
        return str(parse_canonical(str(entry), library))
    except MetricError:
        return ""


def _parse_metric(entry: Any) -> Metric | None:
    """Return a metric as it was requested, None if it is not a single metric."""
    if isinstance(entry, Metric):
        return entry
    try:
        return parse_metric_text(entry) if isinstance(entry, str) else None
    except MetricError:
        return None
