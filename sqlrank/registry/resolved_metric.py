"""Record a resolved metric: file, settings, measured column, bounds of its values, fingerprint, and
its dependencies: the settings, roles, relations and files that it reads.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.errors import MetricError, join_words
from sqlrank.registry.metric import (
    COLUMN_PARAMETER,
    QUERY_CUTOFF,
    Metric,
    ParameterValue,
    is_respelled,
    to_sql_name,
)
from sqlrank.rendering.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile


@dataclass
class Dependencies:
    """Transitive dependencies of a file: settings, roles, relations and files."""

    settings: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    files: dict[SqlFile, None] = field(default_factory=dict)

    def __or__(self, other: Dependencies) -> Dependencies:
        """Return these dependencies with those of another file."""
        return Dependencies(
            self.settings | other.settings,
            self.roles | other.roles,
            self.relations | other.relations,
            self.files | other.files,
        )

    @property
    def reads_documents(self) -> bool:
        """True if a file reads more of the run or the judgments than their queries."""
        return any(
            {"run", "qrels"} & find_references(file).tables
            and file.path.parent.name != "evaluated_queries"
            for file in self.files
        )

    def list_annotations(self, name: str) -> list[str]:
        """Return the values of an annotation, such as ``Validate``, in all files."""
        return [file.annotations[name] for file in self.files if name in file.annotations]


def find_dependencies(
    library: Registry, file: SqlFile, settings: Mapping[str, Any], *slots: str
) -> Dependencies:
    """Find the dependencies of a file, and of further slots, under these settings.

    They are found once, and shared by callers.
    """
    return _find_dependencies(library, file, frozenset(settings.items()), slots)


@lru_cache(maxsize=4096)
def _find_dependencies(
    library: Registry, file: SqlFile, settings: frozenset[tuple[str, Any]], slots: tuple[str, ...]
) -> Dependencies:
    dependencies, by_name = Dependencies(), dict(settings)
    _visit_file(library, library.validate_file(file), by_name, dependencies)
    for slot in slots:
        _visit_slot(library, slot, by_name, dependencies)
    return dependencies


def find_engines(files: Iterable[SqlFile]) -> list[str]:
    """Return the engines that have all relations among these files, which declare some; empty if
    none declares any.

    >>> from sqlrank.registry.loader import load_registry
    >>> library = load_registry()
    >>> [
    ...     find_engines(find_dependencies(library, library.metrics[name], {}).files)
    ...     for name in ("alpha_ndcg", "ndcg")
    ... ]
    [['duckdb'], []]
    """
    declared = [file.engines for file in files if file.kind == "relations" and file.engines]
    return (
        [engine for engine in declared[0] if all(engine in engines for engines in declared)]
        if declared
        else []
    )


@lru_cache(maxsize=4096)
def find_input_role(library: Registry, file: SqlFile) -> str:
    """Return the input role that a metric evaluates.

    It follows dependencies, through the first variant of each relation, to the first role. Roles of
    ranked lists count as ``run``, companion roles as their main role.
    """
    unvisited, visited = [file], set()
    while unvisited:
        for name in sorted(find_references(library.validate_file(unvisited.pop())).tables):
            if name in library.roles:
                return (
                    "run"
                    if library.roles[name].list_relation
                    else library.roles[name].main_role or name
                )
            if name not in visited:
                visited.add(name)
                unvisited.append(library.relation_files(name)[0])
    return "run"


@dataclass(frozen=True)
class References:
    """Names of the parameters, functions, tables and columns in a file."""

    params: frozenset[str]
    calls: frozenset[str]
    tables: frozenset[str]
    columns: frozenset[str]


@cache
def find_references(file: SqlFile) -> References:
    """Return the names in a file, which is searched once."""
    from sqlglot import exp  # help does not need it

    from sqlrank.sql_ast import find_nodes

    kinds = (exp.Placeholder, exp.Anonymous, exp.Table, exp.Column)
    nodes = find_nodes(file.tree, *kinds)
    params, calls, tables, columns = (
        frozenset([node.name for node in nodes if isinstance(node, kind)]) for kind in kinds
    )
    return References(params, frozenset(map(str.lower, calls)), tables, columns)


def _visit_file(
    library: Registry, file: SqlFile, settings: Mapping[str, Any], dependencies: Dependencies
) -> None:
    if file in dependencies.files:
        return
    dependencies.files[file] = None
    references = find_references(file)
    dependencies.settings |= references.params
    for slot in sorted(
        references.calls & library.functions.keys()
    ):  # others are functions of an engine
        _visit_slot(library, slot, settings, dependencies)
    for name in sorted(references.tables):
        if name in library.roles:
            dependencies.roles.add(name)
            dependencies.settings |= {"nulls", *library.selectors.get(name, ())}
            continue
        read = library.find_relation(name, settings)
        dependencies.relations |= {name, read.name}
        dependencies.settings |= {
            *library.selectors.get(name, ()),
            *library.selectors.get(read.name, ()),
        }
        _visit_file(library, read, settings, dependencies)


def _visit_slot(
    library: Registry, slot: str, settings: Mapping[str, Any], dependencies: Dependencies
) -> None:
    dependencies.settings |= library.selectors.get(slot, {}).keys() or {slot}
    chosen = library.choose_function(slot, settings)
    if not isinstance(chosen, tuple):  # a map of grades, which has no file
        _visit_file(library, library.find_function(slot, str(chosen)), settings, dependencies)


MEASURED_ROLES = ("answers", "predictions", "queries")
"""Roles whose columns can be measured."""

MEASURES_PLAN = "list_measures"
"""The plan that says of which input a metric of lists measures a column."""

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")
_COLUMN = re.compile(r'(?:(?P<role>\w+)\.)?(?P<name>"(?:[^"]|"")+"|\w+)')


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """A column that a metric measures.

    Attributes:
        role: Role of the input.
        column: Column of the table.
        name: Name in the statement, which is a plain identifier.
        is_flag: Only 0 and 1, or true and false, are valid values.
        counts_missing: The metric counts rows without a value.
    """

    role: str
    column: str
    name: str
    is_flag: bool = False
    counts_missing: bool = False


def find_measured_column(
    metric: Metric, file: SqlFile, input_roles: Collection[str], library: Registry
) -> MeasuredColumn | None:
    """Find the column that a metric measures and the input that it is of, None for metrics that
    measure none.

    Raises:
        MetricError: No column is named, or the inputs do not say whose it is.
    """
    if not file.measures_column:
        return None
    text = str(dict(metric.params).get(COLUMN_PARAMETER, ""))
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise MetricError(
            f"{file.display_name} needs a column. Write {file.display_name}(latency_ms)"
        )
    column = (
        match["name"][1:-1].replace('""', '"') if match["name"].startswith('"') else match["name"]
    )
    available_roles = [role for role in MEASURED_ROLES if role in input_roles]
    if match["role"] is not None and match["role"] not in available_roles:
        options = (
            ", ".join(f"{role}.{match['name']}" for role in available_roles)
            or "the name of queries, predictions or answers, and give that input"
        )
        raise MetricError(
            f"{metric}: there is no input {match['role']} to measure. Write {options}"
        )
    if match["role"] is None and len(available_roles) != 1:
        choices = join_words(
            (f"{file.display_name}({role}.{match['name']})" for role in available_roles), "or"
        )
        needed = (
            f"{column!r} may be of {join_words(available_roles, 'or')}. Write {choices}"
            if available_roles
            else "give queries=, predictions= or inputs={'answers': ...}, which has the column"
        )
        raise MetricError(f"{metric}: {needed}")
    return MeasuredColumn(
        match["role"] or available_roles[0],
        column,
        _internal_name(column, library),
        file.measures_flag,
        file.is_always_defined,
    )


def named_roles(metrics: Iterable[Metric]) -> set[str] | None:
    """Return the inputs that metrics name before their columns, as in ``Mean(queries.cost)``; None
    if no metric measures a column.
    """
    texts = [
        str(dict(metric.params)[COLUMN_PARAMETER])
        for metric in metrics
        if COLUMN_PARAMETER in dict(metric.params)
    ]
    matches = [match for text in texts if (match := _COLUMN.fullmatch(text)) is not None]
    return {match["role"] for match in matches if match["role"] is not None} if texts else None


def with_free_name(
    measured: MeasuredColumn, others: Iterable[MeasuredColumn | None]
) -> MeasuredColumn:
    """Return the column under a name in the statement that no other column of its input has."""
    taken = {
        other.name
        for other in others
        if other is not None and other.role == measured.role and other.column != measured.column
    }
    while measured.name in taken:
        measured = replace(measured, name=f"{measured.name}_")
    return measured


def _internal_name(column: str, library: Registry) -> str:
    """Return the name of a measured column in the statement: its own, unless that means something
    else there or is hard to quote.
    """
    taken = {
        *library.relation_columns,
        *(name for role in library.roles.values() for name in role.columns),
    }
    if (
        _PLAIN_NAME.fullmatch(column)
        and column not in taken
        and column.upper() not in _list_keywords()
    ):
        return column
    return f"{to_sql_name(column)}_value"


@cache
def _list_keywords() -> frozenset[str]:
    """Return the words that a dialect reserves."""
    return frozenset(
        word.upper() for dialect in DIALECTS.values() for word in dialect.list_reserved_words()
    )


LABEL_RANGES = "label_ranges"
"""Relation with a row per query that says if all its labels are equal: metrics that compare
predictions within queries leave it out.
"""

CUTOFF_COLUMN = "k"
"""Name of the column that holds a row's cut-off.

It is used for a range of cut-offs, or one per query.
"""

CUTOFF_PLACEHOLDER = "each cutoff"
"""Placeholder for a cut-off that is read from a column.

It is bound to the cut-off parameter for a range (``@1..20``) or a cut-off per query, in place of a
literal.
"""

QUERY_CUTOFFS_RELATION = "query_cutoffs"
"""Name of the relation that holds the cut-off of each query."""


@dataclass(frozen=True)
class ResolvedMetric:
    """A requested metric with its file, effective settings and dependencies.

    Attributes:
        metric: The canonical metric.
        file: Its SQL file.
        settings: Effective values of parameters, policies and function slots.
        dependencies: Everything that the file reads under these settings.
        input_role: The input role that the metric evaluates, ``run`` for metrics of ranked lists.
        requested_names: The names under which it was requested, as they were written.
        column_names: The names of its columns in results: the requested ones, or plain identifiers.
        measured_column: The column that the metric measures, None for metrics that measure none.
        is_lower_better: The caller says that lower values of the measured column are better.
    """

    metric: Metric
    file: SqlFile
    settings: Mapping[str, ParameterValue]
    dependencies: Dependencies
    input_role: str
    requested_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    measured_column: MeasuredColumn | None = None
    is_lower_better: bool = False

    @property
    def has_classes(self) -> bool:
        """Return True if the metric is of predictions of labels that are positive or negative."""
        return self.input_role == "predictions" and "binary labels" in self.file.required_row_checks

    @property
    def sql_column(self) -> str:
        """The column of the metric in SQL, such as ``ndcg_at_10``."""
        return self.metric.sql_column(self.file.value_name)

    @property
    def required_row_checks(self) -> list[str]:
        """The checks of rows that its files require under its settings, such as ``binary
        labels``.
        """
        return list(
            dict.fromkeys(
                check
                for file in self.dependencies.files
                for check in file.find_row_checks(self.settings)
            )
        )

    @property
    def is_per_list(self) -> bool:
        """True if a metric of groups is computed for each list (``level=query``).

        False for files that declare ``level`` themselves.
        """
        is_of_lists = self.file.grain == "list" and self.input_role != "run"
        return is_of_lists or (
            self.settings.get("level") == "query" and "level" not in self.file.declared_settings
        )

    @property
    def compares_within_queries(self) -> bool:
        """True if a metric of groups compares predictions of a query only, and declares so: it
        leaves out queries in which nothing differs.
        """
        return self.settings.get("level") == "query" and "level" in self.file.declared_settings

    @property
    def mean_of_values(self) -> str:
        """The metric of predictions that is the mean of values of this one."""
        name = (self.column_names or (str(self.metric),))[0]
        return f"Mean({name})" if name.isidentifier() else f'Mean("{name}")'

    def with_plan(self, plans: Mapping[str, ParameterValue]) -> ResolvedMetric:
        """Return a copy with the chosen plans among the settings."""
        return replace(self, settings={**self.settings, **plans})

    @property
    def has_cutoff_range(self) -> bool:
        """True if it has a row for each of several cut-offs."""
        return isinstance(self.metric.cutoff, tuple)

    @property
    def has_several_rows(self) -> bool:
        """True if a group has more rows than one: those of a curve, or of a range of cut-offs."""
        return self.file.kind == "curves" or self.has_cutoff_range

    @property
    def has_query_cutoffs(self) -> bool:
        """True if each query has its own cut-off."""
        return self.metric.cutoff == QUERY_CUTOFF

    @property
    def at_each_cutoff(self) -> ResolvedMetric:
        """A copy whose cut-off is read from the cut-off column.

        The metric itself if its cut-off is a literal.
        """
        if not isinstance(self.metric.cutoff, (tuple, str)) or self.file.cutoff_parameter is None:
            return self
        return replace(
            self, settings={**self.settings, self.file.cutoff_parameter.name: CUTOFF_PLACEHOLDER}
        )


def with_plain_names(metrics: Iterable[ResolvedMetric]) -> list[ResolvedMetric]:
    """Replace the column names of metrics by unique identifiers, such as ``ndcg_at_10``, which
    other tools accept.
    """
    from sqlrank.sql_ast import unique_name  # help does not need sqlglot

    taken: set[str] = set()
    renamed = []
    for metric in metrics:
        names = []
        for name in metric.requested_names:
            names.append(
                unique_name(
                    metric.sql_column
                    if is_respelled(name, str(metric.metric))
                    else to_sql_name(name),
                    taken,
                )
            )
            taken.add(names[-1])
        renamed.append(replace(metric, column_names=tuple(names)))
    return renamed


NO_BOUNDS, MAP = "none", "map"
"""The annotation of functions without bounds, and the wildcard for maps of numbers."""

PROPORTION_BOUNDS, SIGNED_BOUNDS = (0.0, 1.0), (-1.0, 1.0)
"""Bounds of metrics with Wilson's interval: direct, or mapped from -1..1 to 0..1."""


def is_bounded_0_1(metric: ResolvedMetric) -> bool:
    """Return True if a metric is always between 0 and 1."""
    return value_bounds(metric) == PROPORTION_BOUNDS


def is_bounded_minus1_1(metric: ResolvedMetric) -> bool:
    """Return True if a metric is always between -1 and 1."""
    return value_bounds(metric) == SIGNED_BOUNDS


def value_bounds(metric: ResolvedMetric) -> tuple[float, float] | None:
    """Return the bounds of a metric's values, None if its files declare none.

    A file names the settings under which values may exceed the bounds: ``-- Range: 0 to 1, but not
    under precision_at=all_ranks.`` A function may lift the bounds of every metric that uses it:
    ``-- Range: none.``
    """
    declared = metric.file.bounds
    if declared is None or declared.is_unbounded:
        return None
    if any(file.annotations.get("Range") == NO_BOUNDS for file in metric.dependencies.files) or any(
        _has_setting(metric, name, value) for name, value in declared.exceptions
    ):
        return None
    if metric.settings.get("aggregate") == "sum":
        return (0.0, math.inf) if declared.low >= 0 else None
    return declared.low, declared.high


def limit_bounds(metric: ResolvedMetric) -> tuple[float, float] | None:
    """Return the bounds of a metric's estimand, to which interval limits are clipped.

    These are the bounds of its values, or those that its file says only estimates may exceed: ``--
    Range: 0 to 1, but not estimates under ratio_estimate=corrected.``
    """
    declared = metric.file.bounds
    return value_bounds(metric) or (
        (declared.low, declared.high)
        if declared is not None and declared.holds_for_estimand
        else None
    )


def describe_bounds(metric: ResolvedMetric) -> str:
    """Return the bounds of a metric's values as ``0 to 1`` or ``0 to inf``, empty without
    bounds.
    """
    bounds = value_bounds(metric)
    return "" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"


def _has_setting(metric: ResolvedMetric, name: str, value: str) -> bool:
    """Return True if a setting has a value; ``map`` matches any map of numbers."""
    chosen = metric.settings.get(
        name,
        metric.file.declared_settings[name].default
        if name in metric.file.declared_settings
        else None,
    )
    return isinstance(chosen, tuple) if value == MAP else chosen == value


Setting = TypeVar("Setting")

LATER_POLICIES = ("id_type", "ranks")
"""Policies added after results were first stored, which have their defaults in results that do not
name them.
"""


def metric_fingerprints(
    metrics: Sequence[ResolvedMetric], library: Registry
) -> dict[str, dict[str, str | dict[str, str]]]:
    """Return a hash of each metric's definition, and its policies.

    A metric of the package is defined by its name and revision, since its SQL may change without
    its numbers. Files of users have no revisions: their SQL counts, without comments and layout.
    """
    return {
        str(metric.metric): {
            "definition": _hash_definition(
                metric.file,
                tuple(file for file in metric.dependencies.files if file in library.user_files),
            ),
            "policies": omit_later_defaults(effective_settings(metric, library), library),
        }
        for metric in metrics
    }


def omit_later_defaults(settings: Mapping[str, Setting], library: Registry) -> dict[str, Setting]:
    """Return the settings without policies of ``LATER_POLICIES`` that have their defaults, as
    earlier versions stored them.
    """
    return {
        name: value
        for name, value in settings.items()
        if name not in LATER_POLICIES or value != library.allowed_values(name)[0]
    }


def effective_settings(metric: ResolvedMetric, library: Registry) -> dict[str, str]:
    """Return the parameters and policies that the values of a metric depend on, with their
    defaults, as texts.

    Left out are plans, which change no value, formulas, which are no choice, and ``aggregate``:
    fingerprints are stored with values per query, not yet aggregated.
    """
    left_out = library.plans.keys() | library.formulas | {"aggregate"}
    names = sorted(metric.dependencies.settings - left_out)
    values = {name: effective_setting(metric, name, library) for name in names}
    return {
        name: str(int(value) if isinstance(value, float) and value.is_integer() else value)
        for name, value in values.items()
    }


def effective_setting(
    metric: ResolvedMetric, name: str, library: Registry
) -> ParameterValue | None:
    """Return the value of a setting, or else its default, None without either."""
    if metric.settings.get(name) is not None:
        return metric.settings[name]
    if name in library.policies:
        return library.allowed_values(name)[0]
    if name in library.functions:
        return library.default_function(name)
    files = (metric.file, *metric.dependencies.files)
    return next((file.params[name].default for file in files if name in file.params), None)


@lru_cache(maxsize=1024)
def _hash_definition(metric_file: SqlFile, user_files: tuple[SqlFile, ...]) -> str:
    texts = [
        f"{metric_file.kind}/{metric_file.full_name} {metric_file.revision}",
        *sorted(map(_format_file, user_files)),
    ]
    return sha256("\n".join(texts).encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def _format_file(file: SqlFile) -> str:
    return f"{file.kind}/{file.path.stem} {file.statement.sql('duckdb')}"
