"""Validate policies and parameters before data are read, and read the bounds over orders of tied
scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlrank.errors import (
    MetricError,
    check_choice,
    did_you_mean,
    enumerate_names,
    join_sentences,
    join_words,
    to_sentence,
)
from sqlrank.registry.metric import Metric, ParameterValue, normalize_name, parse_metric_text
from sqlrank.registry.resolved_metric import (
    ResolvedMetric,
    find_dependencies,
    find_input_role,
    find_references,
)
from sqlrank.registry.roles import INPUTS_BY_KEYWORD
from sqlrank.registry.sql_file import NO_CUTOFF, Parameter, SqlFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlrank.registry.registry import Registry


LIST_SLOTS = ("aggregate", "if_undefined")
"""Slots applied after a metric's file.

They are the aggregate over lists, and the value of undefined lists.
"""

CALL_POLICIES = ("queries", "nulls", "duplicates")
"""Policies that apply to the whole request, not to one metric."""

INTERNAL_PARAMETERS = ("k", "column", "first_cutoff", "last_cutoff", "num_replicates", "top_k")
"""Parameters that are written after ``@``, such as ``P@10`` and ``P@1..20``, or first, as in
``Mean(x)``, or follow from other arguments.
"""

GROUP_MEANS = ("level", "average")
"""Policies by which callers of other tools ask for a mean of groups."""

MAX_LIST_LENGTH = 1000
"""Maximum length of a list parameter; every number is written into the statement."""

QUERIES_POLICY_KEYWORD = "topics"
"""Keyword of the policy ``queries`` in Python, where ``queries=`` is a table."""


@lru_cache(maxsize=8)
def policy_names(library: Registry) -> frozenset[str]:
    """Return the names of all policies, including the parameters of metrics."""
    return frozenset(
        {
            *library.policies,
            *library.functions.keys() - library.plans.keys() - library.formulas,
            *_list_parameters(library),
        }
        - {*INTERNAL_PARAMETERS}
    )


def unknown_keywords(names: Iterable[str], library: Registry) -> list[str]:
    """Return the names that are no policies."""
    return [
        name
        for name in names
        if name != QUERIES_POLICY_KEYWORD and name not in policy_names(library)
    ]


def rename_queries_policy(policies: Mapping[str, Any], library: Registry) -> dict[str, Any]:
    """Return policies with ``queries`` in place of its keyword; raise ``MetricError``, which names
    the keyword, for an unknown value.
    """
    renamed = dict(policies)
    if (value := renamed.pop(QUERIES_POLICY_KEYWORD, None)) is not None:
        check_choice(QUERIES_POLICY_KEYWORD, value, library.allowed_values("queries"))
        renamed["queries"] = value
    return renamed


def describe_argument(role: str, table: str = "...") -> str:
    """Return the argument that passes a table in a role.

    >>> describe_argument("predictions"), describe_argument("classified", "'c.csv'")
    ('predictions=...', "inputs={'classified': 'c.csv'}")
    """
    return f"{role}={table}" if role in INPUTS_BY_KEYWORD else f"inputs={{{role!r}: {table}}}"


def describe_missing_input(reader: ResolvedMetric, role: str) -> str:
    """Return a message on an input that a metric needs; ``queries="given"`` names the policy, and
    not its table.
    """
    argument = describe_argument(role)
    is_policy = role == "queries" and reader.settings.get("queries") == "given"
    advice = (
        f", a table of them, and the policy as {QUERIES_POLICY_KEYWORD}='given'"
        if is_policy
        else ""
    )
    return f"{reader.metric} needs {role}. Give {argument}{advice}"


def unknown_policies(policies: Iterable[str], library: Registry) -> list[str]:
    """Return one problem for each policy that does not exist."""
    return [
        join_sentences(
            f"unknown policy {name!r}",
            library.misplaced_name_hint(name) or did_you_mean(name, policy_names(library)),
            f"Choose from: {', '.join(sorted(policy_names(library)))}",
        )
        for name in policies
        if name not in policy_names(library)
    ]


def invalid_policies(policies: Mapping[str, ParameterValue], library: Registry) -> list[str]:
    """Return one problem for each policy value that is unknown or out of range.

    Unused policies are checked as well.
    """
    problems = []
    params = _list_parameters(library) if policies else {}
    for name, value in policies.items():
        try:
            check_policy_values({name: value}, library)
            if name in library.functions and not isinstance(value, tuple):
                library.find_function(name, str(value))
            if name in params and not any(_is_in(param, value) for param in params[name]):
                check_parameter_value(name, params[name][0], value)
        except MetricError as error:
            problems.append(str(error))
    return problems


def _describe_group_means(metric: ResolvedMetric) -> str:
    """Return a sentence on the mean of the values of groups, such as tasks, of a metric that is a
    mean of queries already.
    """
    return (
        f"{metric.metric} is a mean of queries. For that of groups such as tasks evaluate it by"
        f" them, and give the result as predictions to {metric.mean_of_values}"
    )


def unused_policies(
    policies: Mapping[str, ParameterValue], metrics: Collection[ResolvedMetric], library: Registry
) -> list[str]:
    """Return one problem for each unused policy.

    A policy that must apply to every metric is a problem for each metric that does not read it.
    """
    accepted = {str(metric.metric): accepted_settings(metric, library) for metric in metrics}
    read_settings = set().union(*accepted.values())
    rankings = [metric for metric in metrics if metric.input_role == "run"]
    labels = {
        "queries": f"the policy queries, also called {QUERIES_POLICY_KEYWORD}"
    }  # the caller may have written either name
    problems = []
    for name in [name for name in policies if name not in read_settings]:
        is_mean = rankings and name in GROUP_MEANS
        advice = _describe_group_means(rankings[0]) if is_mean else _metrics_reading(name, library)
        problems.append(f"no metric of this call reads {labels.get(name, name)}. {advice}")
    for name in read_settings.intersection(policies):
        if _must_every_metric_read(name, policies[name], library):
            non_readers = [metric for metric, names in accepted.items() if name not in names]
            problems += [
                f"{metric} does not read {name}. Ask for it in a call without"
                f" {name}={policies[name]!r}"
                for metric in non_readers[:1]
            ]
    return problems


def find_accepted_policies(
    policies: Mapping[str, ParameterValue], metrics: Iterable[ResolvedMetric], library: Registry
) -> set[str]:
    """Return the policies that are not unused: some metric reads them, and each metric those that
    must apply to every one.
    """
    accepted = [accepted_settings(metric, library) for metric in metrics]
    return {
        name
        for name, value in policies.items()
        if (all if _must_every_metric_read(name, value, library) else any)(
            name in names for names in accepted
        )
    }


def _must_every_metric_read(policy: str, value: ParameterValue, library: Registry) -> bool:
    """Return True for a policy that must apply to every metric of a request, unless it has its
    default.
    """
    return (
        bool(library.policies.get(policy, {}).get("every_metric"))
        and value != library.allowed_values(policy)[0]
    )


def is_policy_defined(
    name: str, value: ParameterValue, metric: ResolvedMetric, library: Registry
) -> bool:
    """Return True if a valid value of a policy is defined for a metric, or does not reach it."""
    if name in dict(metric.metric.params):
        return True
    if name == "ties" and value == "expected":
        return _is_linear_in_documents(
            metric.dependencies.files, metric.file, metric.settings, library
        )
    return all(
        _is_in(file.params[name], value)
        for file in metric.dependencies.files
        if name in file.params
    )


@lru_cache(maxsize=256)
def _metrics_reading(name: str, library: Registry) -> str:
    """Describe the metrics that read a policy, or the settings under which it is read."""
    readers = [
        file.display_name for file in library.metric_files if name in list_settings(file, library)
    ]
    if not readers:
        functions = [
            (slot, value, file)
            for slot, values in library.functions.items()
            for value, file in values.items()
        ]
        variants = [
            (policy, value, library.relations[relation, variant])
            for policy, entry in library.policies.items()
            for value, choice in entry["values"].items()
            for relation, variant in choice.get("files", {}).items()
            if (relation, variant) in library.relations
        ]
        holders = [
            f"{policy}={value}"
            for policy, value, file in [*functions, *variants]
            if f"${name}" in file.text or f"{name}(" in file.text
        ]
        return f"It is read under {join_words(dict.fromkeys(holders))}"
    return f"It is read by: {enumerate_names(dict.fromkeys(readers))}"


@lru_cache(maxsize=8)
def _list_parameters(library: Registry) -> dict[str, list[Parameter]]:
    """Return all parameters by name, with the declaration of every file."""
    functions = (file for slot in library.functions.values() for file in slot.values())
    params: dict[str, list[Parameter]] = {}
    for file in [
        *library.metrics.values(),
        *library.curves.values(),
        *library.relations.values(),
        *functions,
    ]:
        for name, param in file.params.items():
            params.setdefault(name, []).append(param)
    return params


def _is_in(param: Parameter, value: ParameterValue) -> bool:
    elements = value if isinstance(value, tuple) and param.type == "numbers" else (value,)
    return all(
        isinstance(element, (int, float)) and _is_in_range(param, element) for element in elements
    )


def check_parameter_values(resolved: ResolvedMetric, library: Registry) -> None:
    """Check that the parameters of a metric are in range."""
    metric, file = resolved.metric, resolved.file
    for name, value in resolved.settings.items():
        if param := file.params.get(name):
            try:
                check_parameter_value(f"{metric}: {name}", param, value)
            except MetricError as error:
                hint = f"{file.display_name.lower()}@"
                if param is not file.cutoff_parameter or hint not in library.synonyms["hints"]:
                    raise
                advice = library.synonyms["hints"][hint].replace("@k", f"@{metric.cutoff}")
                raise MetricError(f"{error}. {to_sentence(advice)}") from None


def check_policy_values(settings: Mapping[str, ParameterValue], library: Registry) -> None:
    """Check that the values of policies exist."""
    for policy in library.policies:
        if policy in settings:
            check_choice(policy, settings[policy], library.allowed_values(policy))


def accepted_settings(metric: ResolvedMetric, library: Registry) -> set[str]:
    """Return the names of the settings that a metric reads."""
    names = (
        metric.dependencies.settings
        | metric.file.params.keys()
        | metric.file.declared_settings.keys()
    )
    names -= {"level", *library.metric_policies} - metric.file.declared_settings.keys()
    names -= library.plans.keys()
    if metric.input_role == "run":
        names |= {"score_type", "id_type"}
    else:
        names -= set() if metric.is_per_list else {"aggregate"}
        names |= (
            {"level"}
            if metric.file.kind == "metrics" and library.roles[metric.input_role].query_column
            else set()
        )
    return names


def list_settings(file: SqlFile, library: Registry) -> set[str]:
    """Return the names of the settings that a metric reads by default, and callers may choose."""
    settings = {choice.name: choice.default for choice in file.declared_settings.values()}
    dependencies = find_dependencies(library, library.validate_file(file), settings, *LIST_SLOTS)
    role = find_input_role(library, file)
    metric = ResolvedMetric(Metric(file.display_name), file, settings, dependencies, role)
    return accepted_settings(metric, library) - library.formulas


def check_parameters_accepted(metric: ResolvedMetric, library: Registry) -> None:
    """Check that a metric reads its parameters, and that values are in range."""
    accepted = accepted_settings(metric, library) - library.formulas
    for file in metric.dependencies.files:
        for param in file.params.values():
            _check_read(param, metric.settings)
    _check_policies_with_parameters(metric, library)
    cutoff_name = metric.file.cutoff_parameter.name if metric.file.cutoff_parameter else None
    for name, _ in metric.metric.params:
        if name not in accepted:
            names = sorted(accepted - {cutoff_name, *CALL_POLICIES})
            hint = (
                ""
                if name in library.policies or name in library.functions
                else library.misplaced_name_hint(name)
            )
            hint = hint or _advise_on_column(metric, name, library) or did_you_mean(name, names)
            raise MetricError(
                join_sentences(
                    f"{metric.file.display_name} has no parameter {name!r}",
                    hint,
                    f"It takes: {', '.join(names)}",
                )
            )


def _advise_on_column(metric: ResolvedMetric, name: str, library: Registry) -> str:
    """Return the advice to give as a column what a metric was given as a parameter, empty if it
    reads no such column.
    """
    columns = [
        column
        for column in library.roles[metric.input_role].columns
        if normalize_name(name) in library.column_names(column)
        if any(column in find_references(file).columns for file in metric.dependencies.files)
    ]
    if not columns:
        return ""
    params = tuple(pair for pair in metric.metric.params if pair[0] != name)
    value = str(dict(metric.metric.params)[name])
    return (
        f"Write {replace(metric.metric, params=params)} with columns={{{columns[0]!r}: {value!r}}},"
        " a number for all rows, or map a column to it"
    )


def check_rank_positions(metric: ResolvedMetric) -> None:
    """Check that nothing else decides on positions where ``ranks=given`` does."""
    settings = metric.settings
    if settings.get("ranks") != "given" or "ranks" not in metric.dependencies.settings:
        return
    if settings["ties"] != "rank":
        raise MetricError(
            f"ranks='given' reads the rank column, and ties={settings['ties']!r} does not. Leave"
            " ties out"
        )
    if settings.get("unjudged", "nonrelevant") != "nonrelevant":
        raise MetricError(
            "unjudged='drop' moves documents up, and ranks='given' leaves them where they are."
            " Choose one of them"
        )
    if "baseline" in metric.dependencies.roles:
        raise MetricError(
            f"{metric.metric} compares whole lists, without gaps, so ranks='given' is not for it."
            " Leave ranks out"
        )


def _check_policies_with_parameters(metric: ResolvedMetric, library: Registry) -> None:
    """Check for values of policies that a parameter allows under some values of other policies
    only.
    """
    settings = metric.settings
    for policy in library.policies.keys() & metric.dependencies.settings:
        rules = library.policies[policy]["values"].get(settings.get(policy), {}).get("with", {})
        for name, rule in rules.items():
            is_allowed = all(
                settings.get(other, allowed[0]) in allowed
                for other, allowed in rule.items()
                if other in library.policies
            )
            if settings.get(name, NO_CUTOFF) != NO_CUTOFF and not is_allowed:
                raise MetricError(f"{name}={settings[name]!r}: {rule['otherwise']}")


def _check_read(param: Parameter, settings: Mapping[str, ParameterValue]) -> None:
    value = settings.get(param.name, param.default)
    if value is None:
        raise MetricError(
            f"no value for {param.name}: {param.about} Give one, as in nDCG({param.name}=...)"
        )
    if value == NO_CUTOFF and param.high < NO_CUTOFF:
        raise MetricError(
            f"a cut-off from 1 to {param.high:g} is needed here. Write it after @, as in nDCG@10"
        )
    check_parameter_value(param.name, param, value)


def check_parameter_value(location: str, param: Parameter, value: ParameterValue) -> None:
    """Check that a value has the type and range of its parameter."""
    if param.is_column:
        return
    elements = value if isinstance(value, tuple) and param.type == "numbers" else (value,)
    if len(elements) > MAX_LIST_LENGTH:
        raise MetricError(
            f"{location} has {len(elements)} numbers. It may have at most {MAX_LIST_LENGTH}"
        )
    for element in elements:
        if not isinstance(element, (int, float)) or not _is_in_range(param, element):
            # Messages omit the upper limit ALL, except for values that exceed it.
            limit = (
                f" to {NO_CUTOFF}"
                if isinstance(element, (int, float)) and element > param.high == NO_CUTOFF
                else ""
            )
            raise MetricError(f"{location} is {element!r}. It must be {param.range_text}{limit}")


def _is_in_range(param: Parameter, number: float) -> bool:
    is_integral = param.type != "integer" or float(number).is_integer()
    is_above_low = number > param.low if param.excludes_low else number >= param.low
    return is_integral and is_above_low and number <= param.high


def check_expected_ties(metric: ResolvedMetric, library: Registry) -> None:
    """Check that a metric with expected ties is a sum over documents."""
    if metric.settings.get("ties") != "expected" or _is_linear_in_documents(
        metric.dependencies.files, metric.file, metric.settings, library
    ):
        return
    linear = []
    for file in library.metrics.values():
        if find_input_role(library, file) == "run":
            settings = {
                **{choice.name: choice.default for choice in file.declared_settings.values()},
                "ties": "expected",
            }
            if _is_linear_in_documents(
                find_dependencies(library, file, settings).files, file, settings, library
            ):
                linear.append(file.display_name)
    raise MetricError(
        f"ties='expected' is not defined for {metric.metric}, which is not a sum over documents. It"
        f" is for: {', '.join(sorted(linear))}. Choose another value of ties, such as doc_desc"
    )


def _is_linear_in_documents(
    files: Iterable[SqlFile],
    file: SqlFile,
    settings: Mapping[str, ParameterValue],
    library: Registry,
) -> bool:
    """Return True if the metric is linear in the documents.

    Its expectation over tie orders then equals its value with each document weighted by its
    probability.
    """
    if any(dependency.tie_expectation == "none" for dependency in files):
        return False
    relation = library.find_relation(file.source_relation, settings)
    return "linear" in {file.tie_expectation, relation.tie_expectation} or not any(
        dependency.tie_expectation == "spread" for dependency in files
    )


TIE_BOUNDS = "Tie bounds"
"""Annotation of tie bounds, from the minimum to the maximum.

Example: ``-- Tie bounds: worst of PRAUC(interpolation=davis_goadrich) to best``.
"""

AS_TIED = "tied"
"""The tie order of a bound that equals the value with ties kept."""


@dataclass(frozen=True)
class TieBound:
    """A tie order that attains a bound, and the metric to compute under it."""

    order: str
    metric: str | None = None


def read_tie_bounds(file: SqlFile) -> tuple[tuple[TieBound, ...], tuple[TieBound, ...]] | None:
    """Return the tie orders of a metric's bounds, None if its file declares none."""
    least, _, greatest = file.annotations.get(TIE_BOUNDS, "").partition(" to ")
    return (_parse_bounds(least), _parse_bounds(greatest)) if greatest else None


def _parse_bounds(annotation: str) -> tuple[TieBound, ...]:
    alternatives = (part.partition(" of ") for part in annotation.split(" or "))
    return tuple(TieBound(order, metric or None) for order, _, metric in alternatives)


def prediction_tie_orders(library: Registry) -> list[str]:
    """Return the values of ``ties`` that apply to predictions.

    They select a variant of ``positive_thresholds``.
    """
    return [
        value
        for value, choice in library.policies["ties"]["values"].items()
        if "positive_thresholds" in choice.get("files", ())
    ]


def for_tie_order(metric: ResolvedMetric, library: Registry) -> ResolvedMetric:
    """Substitute the metric that computes this one under the requested tie order, keeping its name.

    Metrics whose file declares none are returned unchanged.
    """
    bounds = [bound for tie_bounds in read_tie_bounds(metric.file) or () for bound in tie_bounds]
    substitute_name = next(
        (bound.metric for bound in bounds if bound.order == metric.settings.get("ties")), None
    )
    if metric.input_role == "run" or substitute_name is None:
        return metric
    substitute = parse_metric_text(substitute_name)
    file = library.validate_file(library.file_for(substitute))
    defaults = {name: choice.default for name, choice in file.declared_settings.items()}
    settings = {**defaults, **metric.settings, **dict(substitute.params)}
    return replace(
        metric,
        file=file,
        settings=settings,
        dependencies=find_dependencies(library, file, settings, *LIST_SLOTS),
    )


def tie_bounds_problem(file: SqlFile, library: Registry) -> str:
    """Return the error in a file's annotation of tie bounds, empty if there is none."""
    orders = [*prediction_tie_orders(library), AS_TIED]
    bounds = read_tie_bounds(file)
    if bounds is None or not {bound.order for tie_bounds in bounds for bound in tie_bounds} <= set(
        orders
    ):
        return (
            f"{TIE_BOUNDS} names orders from the least to the greatest, as in 'worst to best of"
            f" PRAUC'. Orders are: {', '.join(orders)}"
        )
    try:
        for bound in (
            bound for tie_bounds in bounds for bound in tie_bounds if bound.metric is not None
        ):
            library.file_for(parse_metric_text(str(bound.metric)))
    except MetricError as error:
        return str(error)
    return ""
