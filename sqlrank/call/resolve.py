"""Resolve requests: find the SQL files and settings of metrics, the group-by columns, and the
required sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlrank.call.interval_options import (
    BOOTSTRAP,
    DEFAULT_QUERY_REPLICATES,
    DEFAULT_ROW_REPLICATES,
    INTERVAL_STEP_COLUMNS,
    RESAMPLING_COLUMNS,
    IntervalOptions,
    check_confidence_level,
    check_replicates,
    describe_query_units,
)
from sqlrank.call.request import Request, label_groups, parse_group_by, split_group_expressions
from sqlrank.call.sources import SourceGroup, find_systems, with_previous_runs
from sqlrank.errors import (
    InputError,
    MetricError,
    join_words,
    suggest_choice,
)
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import freeze_value, to_sql_name
from sqlrank.registry.metric_resolver import RequestedDifferences, split_differences
from sqlrank.registry.resolved_metric import (
    CUTOFF_COLUMN,
    ResolvedMetric,
    find_input_role,
    is_bounded_0_1,
    with_plain_names,
)
from sqlrank.registry.roles import SYSTEM_COLUMN, UNIT_COLUMN, ColumnSpec, Role
from sqlrank.registry.settings_checks import (
    QUERIES_POLICY_KEYWORD,
    describe_argument,
    describe_missing_input,
    rename_queries_policy,
)
from sqlrank.result_columns import (
    DIFFERENCE_STEP_COLUMNS,
    SLICE_COLUMN,
    check_group_names,
    difference_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.registry.registry import Registry


RANKING_ROLES = ("run", "qrels")
"""Roles that ranking metrics read; other inputs may replace them."""

ROW_FILTER_POLICIES = ("nulls", "duplicates")
"""Policies that filter rows."""

SHARED_POLICIES = ("queries", "score_type", "id_type", *ROW_FILTER_POLICIES)
"""Policies shared by all metrics of a request.

They select lists, and determine the types of scores and ids.
"""


@dataclass(frozen=True)
class ResolvedRequest:
    """A resolved request.

    Attributes:
        library: The registry of SQL files.
        metrics: The resolved metrics.
        grouping_sets: Grouping sets, None for a single grouping.
        group_by: Group-by columns.
        shared_policies: Policies shared by all metrics.
        sources: Sources by role.
        rankings_from_predictions: Run and judgments are derived from the predictions.
        base_role: Role whose groups are evaluated, None for metrics of rankings only.
        plan: The plans that the user chose.
        group_expressions: Expressions of computed group-by columns, by name.
        confidence: Interval options, None without intervals.
        needs_units: The column of resampling units is read even without intervals.
        columns: The user's column mapping.
        where: Filter condition.
        only_queries: The only queries to read, if there are any.
        per_query: One row per query.
        per_unit: Pseudo-values of units are the result.
        include_query_weights: Weights of queries are columns of the result.
        requested_names: Columns have the names under which metrics were requested, instead of the
            canonical ones.
        call: The request as the caller made it, which the header of the statement describes.
        rolled_up: The metrics of predictions that a rollup is of, whose sums are the result.
        across: The group-by columns whose groups are compared.
        differences: The metrics of each row of differences between groups, by its name.
        group_labels: The names of group-by columns in the result.
    """

    library: Registry
    metrics: list[ResolvedMetric]
    grouping_sets: list[list[str]] | None
    group_by: list[str]
    shared_policies: Mapping[str, Any]
    sources: Mapping[str, Any]
    rankings_from_predictions: bool
    base_role: str | None
    plan: Mapping[str, Any]
    group_expressions: Mapping[str, str]
    confidence: IntervalOptions | None = None
    needs_units: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    where: str | None = None
    only_queries: tuple[Any, ...] = ()
    per_query: bool = False
    per_unit: bool = False
    include_query_weights: bool = False
    requested_names: bool = False
    call: Request = field(default_factory=lambda: Request((), {}))
    rolled_up: tuple[ResolvedMetric, ...] = ()
    across: tuple[str, ...] = ()
    differences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group_labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_no_group_rows(self) -> bool:
        """True if rows of the result are not those of groups, but of queries, units or
        differences.
        """
        return self.per_query or self.per_unit or bool(self.across)

    @cached_property
    def is_ranking(self) -> bool:
        """True if any metric evaluates rankings."""
        return any(metric.input_role == "run" for metric in self.metrics)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The roles of inputs, with the measured columns of the user among their columns, and with
        numbers where a policy needs them.
        """
        roles = dict(self.library.roles)
        for metric in self.metrics:
            for name in self.library.number_columns(metric.dependencies.settings, metric.settings):
                role = roles[metric.input_role]
                roles[role.name] = replace(
                    role, columns={**role.columns, name: replace(role.columns[name], type="number")}
                )
        for column in (metric.measured_column for metric in self.rolled_up or self.metrics):
            if column is not None:
                role = roles[column.role]
                others = role.columns.get(
                    column.name, ColumnSpec(column.name, "any", column.column, is_measured=True)
                )
                spec = others.with_measure(
                    column.is_flag, column.counts_missing, drops_nulls=self.drops_nulls
                )
                roles[column.role] = replace(role, columns={**role.columns, column.name: spec})
        return roles

    @cached_property
    def lists_from_queries(self) -> bool:
        """True if the lists are those of the queries table, because no run is given."""
        return (
            self.is_ranking
            and not self.rankings_from_predictions
            and "run" not in {*self.sources, *self.assembled_roles}
        )

    @cached_property
    def measured_columns(self) -> dict[str, dict[str, str]]:
        """The measured columns by role: name in the statement to column of the table."""
        measured: dict[str, dict[str, str]] = {}
        for column in (metric.measured_column for metric in self.rolled_up or self.metrics):
            if column is not None:
                measured.setdefault(column.role, {})[column.name] = column.column
        return measured

    @cached_property
    def assembled_roles(self) -> dict[str, str]:
        """The roles whose rows are assembled from the lists of another input, with the role of
        that.
        """
        assembled = (
            {self.base_role: self.base_roles[0]}
            if self.base_role is not None and len(self.base_roles) == 1
            else {}
        )
        if self.is_ranking and not self.rankings_from_predictions:
            assembled |= {
                role: components[0]
                for role, components in self._read_rankings.items()
                if len(components) == 1
            }
        return {role: component for role, component in assembled.items() if component != role}

    @cached_property
    def joined_roles(self) -> dict[str, tuple[str, ...]]:
        """The roles of rankings whose rows are a join of other inputs, with the roles of these."""
        rankings = (
            self._read_rankings if self.is_ranking and not self.rankings_from_predictions else {}
        )
        return {role: components for role, components in rankings.items() if len(components) > 1}

    @cached_property
    def _read_rankings(self) -> dict[str, tuple[str, ...]]:
        """The roles of rankings that are read, with those of the inputs that they are made of."""
        read_roles = {
            "run",
            *(role for metric in self.metrics for role in metric.dependencies.roles),
        }
        return {
            role: component_roles(role, self.sources, self.library)
            for role in RANKING_ROLES
            if role in read_roles
        }

    @property
    def retrieval_role(self) -> str:
        """The role of the source of retrieved documents, of which the run may be assembled."""
        return self.assembled_roles.get("run", "run")

    @property
    def base_roles(self) -> tuple[str, ...]:
        """The role whose groups are evaluated, or its components; empty for metrics of rankings
        only.
        """
        return (
            ()
            if self.base_role is None
            else component_roles(self.base_role, self.sources, self.library)
        )

    @cached_property
    def column_mapping(self) -> Mapping[str, Any]:
        """The user's column mapping, with expressions of group-by columns and units."""
        unit = (
            {}
            if self.confidence is None or self.confidence.unit is None
            else {UNIT_COLUMN: self.confidence.unit}
        )
        measured = {
            name: text
            for names in self.measured_columns.values()
            for name, column in names.items()
            if isinstance(text := self.columns.get(column), str)
        }
        return {**self.columns, **measured, **self.group_expressions, **unit}

    @property
    def drops_nulls(self) -> bool:
        """True if rows with NULL values are dropped."""
        return self.any_metric_with("nulls", "drop")

    @property
    def deduplicates(self) -> bool:
        """True if duplicate documents are merged instead of reported."""
        return any(metric.settings.get("duplicates", "error") != "error" for metric in self.metrics)

    def merges_rows(self, role: str) -> bool:
        """Return True if a policy leaves one of several rows of an input with the same key."""
        return any(self.library.row_filter(role, metric.settings) for metric in self.metrics)

    @cached_property
    def left_out_counts(self) -> dict[str, tuple[str, list[ResolvedMetric]]]:
        """The counts of units that policies in force leave out or fill, each with its note and the
        metrics that it concerns.
        """
        entries: dict[str, tuple[str, list[ResolvedMetric]]] = {}
        for metric in self.metrics:
            for name, note in self.library.left_out_counts(
                metric.dependencies.settings, metric.settings
            ).items():
                if find_input_role(self.library, self.library.metrics[name]) == metric.input_role:
                    entries.setdefault(name, (note, []))[1].append(metric)
        return entries

    @property
    def required_row_checks(self) -> list[str]:
        """The row checks that metrics require, such as ``binary labels``."""
        return list(
            dict.fromkeys(check for metric in self.metrics for check in metric.required_row_checks)
        )

    @property
    def reserved_names(self) -> list[str]:
        """Column names that the statement uses internally."""
        role_columns = (column for role in self.roles.values() for column in role.columns)
        return [
            *self.library.relation_columns,
            *role_columns,
            *(metric.sql_column for metric in self.metrics),
            *(to_sql_name(name) for metric in self.metrics for name in metric.column_names),
            CUTOFF_COLUMN,
            *RESAMPLING_COLUMNS,
            *(() if self.confidence is None else INTERVAL_STEP_COLUMNS),
            *(DIFFERENCE_STEP_COLUMNS if self.across else ()),
        ]

    def any_metric_with(self, policy: str, value: str) -> bool:
        """Return True if a policy has this value for any of the metrics."""
        return any(metric.settings.get(policy) == value for metric in self.metrics)


def resolve_request(request: Request) -> ResolvedRequest:
    """Resolve a request before any source is opened.

    Raises:
        MetricError: A metric, policy, plan or option does not exist or is not valid.
        InputError: A required input is missing, or an input is unknown.
    """
    library = registry_for(request.sql_dir)
    sources_by_role, policies = _split_queries(request, library)
    plan = {
        name: freeze_value(value, f"plan {name}") if name in library.plans else ""
        for name, value in (request.plan or {}).items()
        if value is not None
    }
    requested, metrics = _resolve_metrics(
        request, library, policies, _available_roles(sources_by_role, library)
    )
    groupings, expressions, across = _parse_groupings(request, metrics)
    base_role = _find_base_role(request, metrics, library)
    # Sources decide on a further column of groupings, that of systems.
    sources, rankings_from_predictions = _resolve_sources(
        sources_by_role, metrics, base_role, library, request.columns or {}
    )
    if find_systems(sources):
        _check_systems(sources_by_role, metrics, base_role, library, groupings)
        groupings = _add_system_column(groupings)
    columns = list(dict.fromkeys(column for group in groupings for column in group))
    sets = groupings if len(groupings) > 1 else None
    labels = _name_groups(request, columns, metrics, base_role is not None, bool(sets), across)
    if sets and request.per_query and any(metric.input_role == "run" for metric in metrics):
        raise MetricError(
            "per_query gives a row per query, of which there are no groupings. Give by one list,"
            f" by={columns}"
        )
    confidence = _parse_interval_options(request, metrics)
    return ResolvedRequest(
        library,
        metrics,
        sets,
        columns,
        _share_policies(metrics),
        sources,
        rankings_from_predictions,
        base_role,
        plan,
        expressions,
        confidence,
        columns=request.columns or {},
        where=request.where,
        only_queries=request.only_queries,
        per_query=request.per_query,
        per_unit=request.per_unit,
        include_query_weights=request.include_query_weights,
        requested_names=request.requested_names,
        call=request,
        across=across,
        group_labels=labels,
        differences=(
            requested.by_row(metrics, request.requested_names, request.names == "plain")
            if across
            else {}
        ),
    )


def _parse_groupings(
    request: Request, metrics: Sequence[ResolvedMetric]
) -> tuple[list[list[str]], dict[str, str], tuple[str, ...]]:
    """Return the columns of each grouping with their expressions, and those whose groups are
    compared.
    """
    compared = _parse_across(request, metrics)
    groupings, expressions = split_group_expressions(
        [[*group, *compared] for group in parse_group_by(request.by)]
    )
    return groupings, expressions, tuple(groupings[0][len(groupings[0]) - len(compared) :])


def _find_base_role(
    request: Request, metrics: Sequence[ResolvedMetric], library: Registry
) -> str | None:
    """Return the role whose groups are evaluated, None for metrics of rankings only."""
    roles = [
        role for role in dict.fromkeys(metric.input_role for metric in metrics) if role != "run"
    ]
    if len(roles) > 1:
        raise MetricError(
            f"{metrics[0].metric} is of {roles[0]} and others are of {roles[1]}. Evaluate"
            " them in two calls"
        )
    if request.per_query and (
        role := next((role for role in roles if not library.roles[role].query_column), None)
    ):
        raise MetricError(f"per_query gives a row per list, which {role} do not have. Leave it out")
    return roles[0] if roles else None


def _parse_interval_options(
    request: Request, metrics: Sequence[ResolvedMetric]
) -> IntervalOptions | None:
    """Return the interval options of a request, None without intervals.

    Raises:
        MetricError: A metric has no such interval, or the options contradict each other.
    """
    level, interval, unit = request.confidence, request.interval, request.unit
    for name, value in (("replicates", request.replicates), ("seed", request.seed)):
        if value is not None and (level is None or interval != BOOTSTRAP):
            raise MetricError(f"{name}={value} is for confidence= with interval='bootstrap'")
    if level is None:
        if interval != "auto":
            raise MetricError(f"interval={interval!r} needs confidence=, such as 0.95")
        if unit is not None:
            raise MetricError(
                f"unit={unit!r} is for intervals, and needs confidence=, such as 0.95"
            )
        return None
    check_confidence_level(level)
    if request.per_query:
        raise MetricError("a query has no interval of its own. Leave out per_query, or confidence")
    for metric in metrics:
        _check_metric_has_interval(metric, interval, unit)
    options = IntervalOptions(float(level), interval, unit, request.per_unit)
    if interval != BOOTSTRAP:
        return options
    resamples_rows = _resamples_rows(metrics)
    default = DEFAULT_ROW_REPLICATES if resamples_rows else DEFAULT_QUERY_REPLICATES
    count = default if request.replicates is None else request.replicates
    check_replicates(count, options.level)
    lacks_intervals = all(
        metric.file.interval.no_interval and not metric.is_per_list for metric in metrics
    )
    return replace(
        options,
        replicates=0 if lacks_intervals else count,
        seed=request.seed or 0,
        resamples_rows=resamples_rows,
    )


def _resamples_rows(metrics: Sequence[ResolvedMetric]) -> bool:
    """Return True if rows of predictions are resampled instead of query values.

    Raises:
        MetricError: The metrics would need both.
    """
    metric_by_resampling: dict[bool, str] = {}
    for metric in metrics:
        if metric.file.interval.no_interval:
            continue
        has_values = metric.input_role == "run" or metric.is_per_list
        if not has_values and metric.settings.get("level") == "query":
            advice = (
                ", or choose level='group', whose rows it draws"
                if metric.file.interval.no_influence
                else ""
            )
            raise MetricError(
                f"{metric.metric} puts queries together itself, and bootstrap has no values of"
                f" these to draw. Leave out interval{advice}"
            )
        metric_by_resampling.setdefault(not has_values, str(metric.metric))
        if (aggregate := metric.settings.get("aggregate")) not in {None, "mean", "wmean"}:
            raise MetricError(
                f"interval='bootstrap' is for means, not for aggregate={aggregate!r}. Leave out one"
                " of them"
            )
    if len(metric_by_resampling) > 1:
        raise MetricError(
            f"{metric_by_resampling[False]} is resampled by queries and"
            f" {metric_by_resampling[True]} by rows. Evaluate them in two calls"
        )
    return metric_by_resampling.get(True) is not None


def _check_metric_has_interval(metric: ResolvedMetric, interval: str, unit: Any) -> None:
    """Check that a metric has intervals of a method and resampling unit."""
    if metric.has_several_rows:
        raise MetricError(
            f"{metric.metric} has no intervals. Ask for metrics with one cut-off each, or leave out"
            " confidence="
        )
    if unit is not None and (metric.input_role == "run" or metric.settings.get("level") == "query"):
        raise MetricError(describe_query_units(metric, unit))
    if interval == "wilson" and not is_bounded_0_1(metric):
        raise MetricError(
            f"Wilson's interval is for shares, and {metric.metric} is not always between 0 and 1."
            " Choose interval='t'"
        )


def _share_policies(metrics: Sequence[ResolvedMetric]) -> dict[str, Any]:
    """Return the policies that hold for a whole call; raise ``MetricError`` for two values of
    one.
    """
    first = metrics[0]
    for metric in metrics:
        is_same_kind = (metric.input_role == "run") == (first.input_role == "run")
        for name in SHARED_POLICIES:
            values = [each.settings.get(name) for each in (first, metric)]
            if values[0] != values[1] and (name == "nulls" or is_same_kind):
                raise MetricError(
                    f"{name} holds for a whole call, and is {values[0]!r} for {first.metric} and"
                    f" {values[1]!r} for {metric.metric}. Give one {name}=, or evaluate them in two"
                    " calls"
                )
    settings = next((metric.settings for metric in metrics if metric.input_role == "run"), {})
    return {name: settings[name] for name in SHARED_POLICIES if settings.get(name) is not None}


def _resolve_metrics(
    request: Request, library: Registry, policies: Mapping[str, Any], roles: set[str]
) -> tuple[RequestedDifferences, list[ResolvedMetric]]:
    """Return the metrics to compute, and those of differences between groups."""
    requested = split_differences(request.metrics, library, is_across=bool(request.across))
    metrics = metric_resolver.resolve_metrics(
        requested.metrics, library, request.compat, policies, roles
    )
    metrics = metric_resolver.mark_lower_better(metrics, request.lower_is_better)
    # Rows of a result are those of one range, or there is none.
    cutoffs = {metric.metric.cutoff if metric.has_cutoff_range else None for metric in metrics}
    if len(cutoffs) > 1:
        raise MetricError(
            "a range of cut-offs gives a row per cut-off: ask for metrics of one range in a call of"
            " their own"
        )
    return requested, with_plain_names(metrics) if request.names == "plain" else metrics


def find_read_policies(request: Request) -> dict[str, Any]:
    """Find the policies of a request that its metrics read and that are defined for them.

    Raises:
        MetricError: A metric does not exist.
    """
    library = registry_for(request.sql_dir)
    sources, policies = _split_queries(request, library)
    read = metric_resolver.find_effective_policies(
        request.metrics, library, request.compat, policies, _available_roles(sources, library)
    )
    return {
        name: value
        for name, value in request.policies.items()
        if ("queries" if name == QUERIES_POLICY_KEYWORD else name) in read
    }


def _available_roles(sources: Mapping[str, Any], library: Registry) -> set[str]:
    """Return the roles of sources, and those of rankings that are made of them."""
    derived = (
        role
        for role in RANKING_ROLES
        if "predictions" in sources or component_roles(role, sources, library) != (role,)
    )
    return {*sources, *derived}


def _split_queries(request: Request, library: Registry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate the policy ``queries="judged_and_retrieved"`` from a table of queries.

    With a table, the policy is passed as ``topics``.
    """
    policies, sources = rename_queries_policy(request.policies, library), dict(request.sources)
    name = sources.get("queries")
    if (
        QUERIES_POLICY_KEYWORD not in request.policies
        and isinstance(name, str)
        and name in library.allowed_values("queries")
    ):
        policies["queries"] = sources.pop("queries")
    return sources, policies


def _parse_across(request: Request, metrics: Sequence[ResolvedMetric]) -> list[str]:
    """Return the columns whose groups are compared, none unless the request is for differences
    between groups.

    Raises:
        MetricError: An option or a metric has no differences between groups.
    """
    if not request.across:
        return []
    columns = [request.across] if isinstance(request.across, str) else list(request.across)
    groupings = parse_group_by(request.by)
    if len(groupings) > 1:
        raise MetricError(
            "across compares the groups of one grouping. Give by a list of columns, and other"
            " groupings in calls of their own"
        )
    if both := set(columns) & set(groupings[0]):
        raise MetricError(
            f"across and by both name {', '.join(sorted(both))}. A column is one whose groups are"
            " compared, or one of by"
        )
    if request.per_query:
        raise MetricError(
            "across compares groups, and per_query gives a row per query. Leave out one of them"
        )
    if request.interval == BOOTSTRAP:
        raise MetricError(
            "interval='bootstrap' resamples each group separately, and is not for across. Leave out"
            " interval"
        )
    for metric in metrics:
        if metric.has_several_rows:
            raise MetricError(
                f"{metric.metric} has rows of its own, which across does not compare. Ask for"
                " metrics with one cut-off each"
            )
    check_group_names(columns, {"value"}, "across", can_rename=False)  # its least is value_min
    return columns


def _add_system_column(groupings: list[list[str]]) -> list[list[str]]:
    """Add the ``system`` column to every grouping, unless ``by`` contains it."""
    has_system = any(SYSTEM_COLUMN in group for group in groupings)
    return groupings if has_system else [[SYSTEM_COLUMN, *group] for group in groupings]


def _name_groups(
    request: Request,
    by: list[str],
    metrics: list[ResolvedMetric],
    has_base: bool,
    has_slices: bool,
    across: Sequence[str],
) -> dict[str, str]:
    """Return the names of group-by columns in the result; check that they do not identify documents
    or clash with others of its columns.
    """
    reserved = {
        "query_id",
        "doc_id",
        "label",
        *({"score"} if has_base else ()),
        *({SLICE_COLUMN} if has_slices else ()),
        *({CUTOFF_COLUMN} if any(metric.has_cutoff_range for metric in metrics) else ()),
        *difference_columns(across),
        *(name for metric in metrics for name in (str(metric.metric), *metric.column_names)),
    }
    for name in by:
        is_slice = name.lower() == SLICE_COLUMN and SLICE_COLUMN in reserved
        taken = {*reserved, name} if is_slice else reserved
        argument = "system" if name == request.system else "by"
        check_group_names([name], taken, argument, can_rename=name != request.system)
    return {
        **label_groups(by, request.sources, reserved, request.system),
        **request.group_labels,
    }


def _resolve_sources(
    sources: Mapping[str, Any],
    metrics: list[ResolvedMetric],
    base_role: str | None,
    library: Registry,
    columns: Mapping[str, Any],
) -> tuple[dict[str, Any], bool]:
    """Return the sources by role, and True if run and judgments are derived from predictions."""
    if unknown := [role for role in sources if role not in library.roles]:
        raise InputError(suggest_choice(f"unknown input {unknown[0]!r}", unknown[0], library.roles))
    sources = with_previous_runs(sources, metrics)
    side_roles = {role for metric in metrics for role in metric.dependencies.roles} - {
        *RANKING_ROLES,
        base_role,
    }
    if absent := [role for role in sorted(side_roles) if role not in sources]:
        reader = next(metric for metric in metrics if absent[0] in metric.dependencies.roles)
        raise InputError(describe_missing_input(reader, absent[0]))
    rankings = [metric for metric in metrics if metric.input_role == "run"]
    if base_role is not None:
        _check_base_inputs(
            sources,
            {*side_roles, *(["queries"] if rankings else [])},
            next(metric for metric in metrics if metric.input_role == base_role),
            library,
            columns,
        )
        if not rankings:
            return dict(sources), False
        if base_role != "predictions":
            raise MetricError(
                f"{rankings[0].metric} is a metric of rankings and others are of {base_role}."
                " Evaluate them in two calls"
            )
    if (
        not any(metric.dependencies.reads_documents for metric in rankings)
        and "queries" in sources
        and not {"run", "qrels", "predictions", "answers"} & sources.keys()
    ):
        return dict(sources), False
    return _ranking_sources(
        sources, {role for metric in rankings for role in metric.dependencies.roles}, library
    )


def _check_systems(
    sources: Mapping[str, Any],
    metrics: Sequence[ResolvedMetric],
    base_role: str | None,
    library: Registry,
    groupings: Sequence[Sequence[str]],
) -> None:
    """Refuse inputs by system if runs are not, unless these have a column of systems, or are of
    others: rows would match nothing. The first of several runs has no previous one.
    """
    previous_runs = {metric.file.previous_run_role for metric in metrics}
    members = {
        role: [name for name, _ in source.members]
        for role, source in sources.items()
        if isinstance(source, SourceGroup) and source.members_are_systems
    }
    first_role = base_role or "run"
    main_roles = {first_role, *library.roles[first_role].assembled_from}
    if "run" not in sources:
        main_roles.add("predictions")
    main = next((role for role in members if role in main_roles), None)
    if main is None:
        if any(SYSTEM_COLUMN in group for group in groupings):
            return
        role = next(iter(members))
        argument = describe_argument(first_role, "{'old': ..., 'new': ...}")
        lists = ", or {query: {document: relevance}}" if role == "qrels" else ""
        raise InputError(
            f"{role}: sources by name are those of systems, and there is one {first_role}. Give"
            f" one of each system, {argument}{lists}"
        )
    for role, names in members.items():
        differs = set(names) != set(members[main]) and None not in {*names, *members[main]}
        if differs and not (role in previous_runs and set(names) < set(members[main])):
            raise InputError(
                f"{role}: its systems are {', '.join(map(str, names))}, and those of {main} are"
                f" {', '.join(map(str, members[main]))}. Give both the same names"
            )


def component_roles(role: str, sources: Mapping[str, Any], library: Registry) -> tuple[str, ...]:
    """Return a role, or the component roles that are passed instead."""
    for components in (library.roles[role].assembled_from, library.roles[role].joined_from):
        if role not in sources and not sources.keys().isdisjoint(components):
            return components
    return (role,)


def _check_base_inputs(
    sources: Mapping[str, Any],
    side_roles: set[str],
    metric: ResolvedMetric,
    library: Registry,
    columns: Mapping[str, Any],
) -> None:
    """Check that the input of a metric is present, without superfluous ones; ``columns`` are those
    that the caller mapped.
    """
    needed = component_roles(metric.input_role, sources, library)
    if sources.keys() >= set(needed) and not sources.keys() - {*needed, *side_roles}:
        return
    others = [role for role in sources if role not in {*needed, *side_roles}]
    if len(others) == 1 and sources.keys().isdisjoint(needed):
        reads = (
            f"{metric.metric} reads {needed[0]}, {library.roles[needed[0]].description.rstrip('.')}"
        )
        if arguments := pass_as_other_role(
            sources[others[0]], library.roles[others[0]], library.roles[needed[0]], columns
        ):
            raise InputError(f"{reads}. Give the table as {arguments}")
        raise InputError(
            f"{reads}. Give {describe_argument(needed[0])} in the place of {others[0]}"
        )
    if metric.input_role == "predictions":
        raise InputError(
            f"{metric.metric} needs predictions=, a table with label and score, and nothing else,"
            " such as predictions='clicks.parquet'"
        )
    others_read = sorted({*metric.dependencies.roles} - {*needed, metric.input_role, "queries"})
    arguments = f"inputs={{{', '.join(f'{role!r}: ...' for role in (*needed, *others_read))}}}"
    components = library.roles[metric.input_role].assembled_from
    alternatives = components if needed == (metric.input_role,) else (metric.input_role,)
    instead = (
        f", or {join_words(alternatives)} in the place of {join_words(needed)}"
        if components
        else ""
    )
    raise InputError(
        f"{metric.metric} needs {arguments}{instead}, and no input that it does not read"
    )


def pass_as_other_role(source: Any, role: Role, other: Role, columns: Mapping[str, Any]) -> str:
    """Return the arguments that pass a table in another role, with its mapped columns under the
    names of that; empty if its rows are others.
    """
    required = {
        each.name: [name for name, column in each.columns.items() if column.is_required]
        for each in (role, other)
    }
    mapped = {name.removeprefix(f"{role.name}."): column for name, column in columns.items()}
    absent = [name for name in required[other.name] if name not in mapped]
    left = [
        column
        for name, column in mapped.items()
        if name in required[role.name] and name not in other.columns
    ]
    have_same_rows = (
        role.description.rstrip(".").partition(",")[0]
        == other.description.rstrip(".").partition(",")[0]
    )
    if (
        not have_same_rows
        or len(required[other.name]) != len(required[role.name])
        or (mapped and len(absent) > 1)
    ):
        return ""
    renamed = {name: column for name, column in mapped.items() if name in other.columns} | dict(
        zip(absent, left, strict=False)
    )
    renamed = {name: column for name, column in renamed.items() if name != column}
    table = repr(source) if isinstance(source, str) else "..."
    argument = describe_argument(other.name, table)
    return f"{argument} and columns={renamed!r}" if renamed else argument


def _ranking_sources(
    sources: Mapping[str, Any], read_roles: set[str], library: Registry
) -> tuple[dict[str, Any], bool]:
    """Return the sources of rankings: run and, if needed, qrels; or predictions or answers for
    both.
    """
    if "predictions" in sources:
        if "run" in sources or "qrels" in sources:
            raise InputError(
                "give either predictions, which are run and judgments in one table, or run and"
                " qrels"
            )
        return dict(sources), True
    if "answers" in sources and "run" in sources:
        raise InputError(
            "give either answers, which hold the retrieved documents of each query, or run"
        )
    joined = library.roles["qrels"].joined_from
    if not sources.keys().isdisjoint(joined) and (
        component_roles("qrels", sources, library) != joined or not sources.keys() >= {*joined}
    ):
        raise InputError(
            f"judgments are either qrels, or answers, or of {join_words(joined)}, which are joined."
            " Give all of one of these"
        )
    missing = [
        role
        for role in RANKING_ROLES
        if component_roles(role, sources, library) == (role,)
        and role not in sources
        and (role == "run" or role in read_roles)
    ]
    if missing:
        example = ", such as run='bm25.run', qrels='judged.qrels'" * (len(missing) > 1)
        raise InputError(
            f"no {' and no '.join(missing)}{example}. Ranking metrics need run= and qrels=, or"
            " predictions=, or inputs={'answers': ...} with a row per query"
        )
    return dict(sources), False
