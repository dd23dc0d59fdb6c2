"""Parse the arguments of a report, choose default metrics, and make its calls with progress:
evaluate, compare and explain.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

import sqlrank
from sqlrank.call.interval_options import check_confidence_level
from sqlrank.call.request import (
    Request,
    ResourceLimits,
    label_groupings,
    label_groups,
    parse_group_by,
    select_arguments,
)
from sqlrank.call.resolve import (
    ResolvedRequest,
    find_read_policies,
    resolve_request,
)
from sqlrank.call.sources import RUN_ROLES, SourceGroup, collect_sources, map_sources, wrap_source
from sqlrank.cancellation import check_deadline, seconds_left
from sqlrank.comparison.comparison_plan import SCORE_COLUMN, ComparisonPlan, check_system_column
from sqlrank.engines.database import resolve_source
from sqlrank.engines.open_database import run_on_database, share_queries
from sqlrank.engines.remote_database import infer_dialect
from sqlrank.errors import InputError, MetricError
from sqlrank.explanations.explain import explain_queries
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.metric import Metric, parse_metric_text
from sqlrank.registry.metric_info import better_direction, find_metric
from sqlrank.registry.metric_resolver import parse_canonical
from sqlrank.registry.roles import INPUTS_BY_KEYWORD, SYSTEM_COLUMN
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import format_tree
from sqlrank.result_columns import COMPARISON_SCHEMA
from sqlrank.sql_ast import quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlrank.explanations.explanation import Explanation
    from sqlrank.registry.registry import Registry


DEFAULT_RANKING_METRICS = ("nDCG@10", "MAP", "MRR", "Precision@10", "Recall@100")
DEFAULT_PREDICTION_METRICS = ("AUC", "LogLoss", "Brier", "NormalizedEntropy", "CalibrationRatio")
"""Default metrics of predictions; ``DEFAULT_RANKING_METRICS`` are those of rankings."""

DEFAULT_METRICS_BY_ROLE = {
    "classified": ("MulticlassAccuracy", "MulticlassBalancedAccuracy", "MacroF1", "CohenKappa"),
    **dict.fromkeys(
        ("records", "predicted_clusters"),
        ("PairwisePrecision", "PairwiseRecall", "PairwiseF", "BCubedF", "ClusterF"),
    ),
}
"""Default metrics of predicted classes and of clusters of records by role."""

REPORTED_ROLES = ("predictions", "classified", "records")
"""Roles besides rankings whose metrics a report shows."""


COMMON_ARGUMENTS = (
    *("connection", "dialect", "columns", "where", "compat", "check", "sql_dir", "plan"),
    *("memory_limit", "threads", "temp_directory", "timeout"),
)
"""Arguments of all calls of a report."""


@dataclass(frozen=True)
class ReportRequest:
    """A parsed report request: metrics, sources by role, arguments of all calls, and limits of the
    page.

    ``runs`` are the runs by system name, if there are several, and ``run_role`` is their role.
    ``system`` is the system column, None for one system. ``groups`` are the columns of each
    grouping, and ``group_texts`` what ``by`` says of each. ``role`` is that of the evaluated
    rows, None for rankings. ``lower_metrics`` are those of which the caller says that lower values
    are better. ``common`` and ``policies`` are arguments of all calls.
    """

    metrics: list[Metric]
    library: Registry
    sources: Mapping[str, Any]
    runs: Mapping[str, Any]
    system: str | None
    groups: list[list[str]]
    group_texts: Mapping[str, str]
    common: Mapping[str, Any]
    policies: Mapping[str, Any]
    confidence: float
    interval: str
    expected_units: int | None
    unit: str | None
    baseline: str | None
    lower_metrics: frozenset[str]
    is_ranking: bool
    role: str | None
    max_rows: int
    query_examples: int
    run_role: str = "run"
    tell: Callable[[], None] = field(default=lambda: None)

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> ReportRequest:
        """Parse the arguments of a report; raise ``MetricError`` or ``InputError`` for invalid
        ones.
        """
        metrics, policies = arguments["metrics"], arguments["policies"]
        main_sources, inputs = (
            {role: arguments[role] for role in INPUTS_BY_KEYWORD},
            arguments["inputs"],
        )
        collect_sources(**main_sources, inputs=inputs)
        sources = {
            role: map_sources(source, wrap_source)
            for role, source in (main_sources | (inputs or {})).items()
            if source is not None
        }
        common = {name: arguments[name] for name in COMMON_ARGUMENTS}
        if metrics is None:
            metrics = _choose_metrics(sources.keys())
        check_confidence_level(arguments["confidence"])
        requested_groups = [group for group in parse_group_by(arguments["by"]) if group]
        groups, _, texts = label_groupings(requested_groups, sources, COMPARISON_SCHEMA)
        call = _build_call(metrics, sources, common, policies)
        resolved_request = resolve_request(
            replace(call, lower_is_better=arguments["lower_is_better"])
        )
        for group in requested_groups:
            resolve_request(replace(call, by=group))
        _check_metrics(resolved_request)
        run_role, runs = _find_runs(sources, common)
        system, names = arguments["system"], list(runs) or _list_scores(sources, common)
        if names:
            check_system_column(system, "run" if runs else "score", names)
            system = system or (SYSTEM_COLUMN if runs else SCORE_COLUMN)
        return select_arguments(
            cls,
            arguments,
            metrics=_requested_metrics(resolved_request),
            library=resolved_request.library,
            sources={**sources, **({run_role: runs} if runs else {})},
            runs=runs,
            run_role=run_role,
            system=system,
            groups=groups,
            group_texts=texts,
            common=common,
            lower_metrics=frozenset(
                name
                for metric in resolved_request.metrics
                if metric.is_lower_better
                for name in (str(metric.metric), *metric.requested_names)
            ),
            is_ranking=resolved_request.is_ranking,
            role=resolved_request.base_role,
        )

    @contextmanager
    def sharing_queries(self) -> Iterator[ReportRequest]:
        """Yield a copy whose queries have run, each once for all calls of the report."""
        common = self.common
        limits = select_arguments(ResourceLimits, common)
        with share_queries(self.sources, common["connection"], common["dialect"], limits) as (
            shared,
            connection,
        ):
            yield replace(
                self,
                sources=shared,
                runs=shared[self.run_role] if self.runs else {},
                common={**common, "connection": connection},
            )

    @property
    def dialect(self) -> str:
        """Return the SQL dialect of the data."""
        return infer_dialect(self.common["connection"], self.common["dialect"])

    @property
    def system_columns(self) -> list[str]:
        """Return the system column, if results do not add it by themselves."""
        return (
            [] if self.system is None or self.runs or self.system == SCORE_COLUMN else [self.system]
        )

    @property
    def names(self) -> list[str]:
        """Return the metrics as text, under the requested names."""
        return [str(metric) for metric in self.metrics]

    @property
    def cutoffs(self) -> dict[Metric, int]:
        """Return the metrics that have a cut-off, with their cut-offs."""
        return {
            metric: int(metric.cutoff)
            for metric in self.metrics
            if isinstance(metric.cutoff, (int, float))
        }

    @property
    def declared_order(self) -> list[str]:
        """Return the names of the systems in the caller's order, the baseline first."""
        scores = (self.common["columns"] or {}).get(SCORE_COLUMN)
        names = list(self.runs) or (list(scores) if self.system == SCORE_COLUMN and scores else [])
        return list(dict.fromkeys([*([] if self.baseline is None else [self.baseline]), *names]))

    def with_better_against_worse(self, overall: pa.Table) -> ReportRequest:
        """Return a copy whose baseline is the worse of two systems, by the first metric with a
        direction, if the caller gave them no order: letters would put it where they fall.

        ``overall`` has the metrics by system.
        """
        names = [] if self.system is None else overall[self.system].to_pylist()
        is_pair = len(names) == 2 and all(isinstance(name, str) for name in names)  # noqa: PLR2004
        if self.declared_order or not is_pair:
            return self
        for name in self.names:
            values = overall[name].to_pylist()
            direction = self.find_direction(name)
            if direction != "neither" and None not in values and values[0] != values[1]:
                worse = (max if direction == "lower" else min)(values)
                return replace(self, baseline=names[values.index(worse)])
        return self

    def evaluate(self, metrics: Any, by: Any = (), **options: Any) -> pa.Table:
        """Evaluate metrics by system, in the caller's order of systems, and by further columns."""
        columns = [*self.system_columns, *(self.group_texts[name] for name in by)]
        try:
            result = sqlrank.evaluate(
                metrics, by=columns, **self._build_common_arguments(metrics), **options
            )
        except InputError as error:
            # The caller named this column with system=, which evaluate reads from by=.
            by_system = re.compile(
                rf"^by: (?=.*no (?:input has a )?column {re.escape(repr(self.system))})"
            )
            raise InputError(
                *(by_system.sub("system: ", line) for line in str(error).split("\n"))
            ) from None
        if nested := next(
            (field for field in result.schema if pa.types.is_nested(field.type)), None
        ):
            raise InputError(
                f"by: {nested.name} is {nested.type}, and a report shows groups as single values."
                f" Group by a text of it: by='{nested.name}_text=CAST({nested.name} AS VARCHAR)'"
            )
        names = {  # of columns that clash with those of other groupings, or identify systems
            label_groups([text], self.sources)[text]: name
            for name, text in zip([*self.system_columns, *by], columns, strict=True)
            if name not in result.column_names
        }
        if names:
            metadata = result.schema.metadata
            labels = [names.get(label, label) for label in result.column_names]
            result = result.rename_columns(labels).replace_schema_metadata(metadata)
        return self.sort_systems(result) if self.system in result.column_names else result

    def sort_systems(self, result: pa.Table) -> pa.Table:
        """Return the rows by system in the caller's order, the baseline first."""
        result = self._with_baseline(result)
        order_by_system = {name: index for index, name in enumerate(self.declared_order)}
        row_order = [
            order_by_system.get(str(name), len(order_by_system))
            for name in result[self.system].to_pylist()
        ]
        return result.take(sorted(range(len(row_order)), key=row_order.__getitem__))

    def _with_baseline(self, result: pa.Table) -> pa.Table:
        """Name in the metadata, for charts, the column of systems, and the baseline, which is grey:
        of two systems, it is the first.
        """
        pair = self.declared_order if len(self.declared_order) == 2 else [None]  # noqa: PLR2004
        baseline = self.baseline or pair[0]
        named = {b"sqlrank.system": str(self.system).encode()}
        named |= {} if baseline is None else {b"sqlrank.baseline": baseline.encode()}
        return result.replace_schema_metadata({**result.schema.metadata, **named})

    def with_intervals(self, by: Any = ()) -> pa.Table:
        """Evaluate the metrics with confidence intervals, without them if none has any."""
        if not self.has_intervals:
            return self.evaluate(self.metrics, by)
        return self.evaluate(self.metrics, by, confidence=self.confidence, unit=self.unit)

    @property
    def has_intervals(self) -> bool:
        """Return True if any metric has confidence intervals."""
        return any(
            not find_metric(name, self.library)[1].interval.no_interval for name in self.names
        )

    def compare(
        self,
        metrics: Any,
        baseline: str | None,
        groups: Sequence[Sequence[str]] = (),
        **options: Any,
    ) -> pa.Table:
        """Compare the systems, within each of ``groups`` if there are any."""
        by = [[self.group_texts[name] for name in group] for group in groups]
        lower = sorted(self.lower_metrics.intersection(map(str, metrics)))
        options = {
            "system": self.system,
            "baseline": baseline,
            "confidence": self.confidence,
            "interval": self.interval,
            "expected_units": self.expected_units,
            "lower_is_better": lower,
            "by": by,
            **options,
        }
        return sqlrank.compare(metrics, **self._build_common_arguments(metrics), **options)

    def find_direction(self, metric: str) -> str:
        """Return the better direction of a metric: ``higher``, ``lower`` or ``neither``."""
        return "lower" if metric in self.lower_metrics else better_direction(metric, self.library)

    def split_comparable(self) -> tuple[list[Metric], list[str]]:
        """Return the metrics that one call can compare, and the reasons for all others."""
        fitting: dict[bool, list[Metric]] = {}
        reasons = []
        for metric in self.metrics:
            try:
                call = _build_call(
                    [metric], self.sources, self.common, self.policies_read_by([metric])
                )
                fitting.setdefault(
                    ComparisonPlan.from_call(call, self.system, (), ()).uses_influence, []
                ).append(metric)
            except MetricError as error:
                reasons.append(str(error))
        first_group, *rest = fitting.values() or [[]]
        reasons += [
            f"{metric} is compared by other units than {first_group[0]}. Make a separate report"
            " of it."
            for group in rest
            for metric in group
        ]
        return first_group, reasons

    def explain(
        self, metric: Any, system: str, queries: Sequence[Any], rows: int
    ) -> dict[Any, Explanation | str]:
        """Explain a metric for queries of one of several systems; a text is why there is no
        explanation.
        """
        sources, common = self.arguments_for_system(system)
        arguments = self._build_common_arguments([metric])
        # Rows were validated before. Sorting whole lists includes all judged documents.
        call = _build_call(
            [metric],
            sources,
            {**common, "plan": {**(common["plan"] or {}), "rank_method": "sort"}},
            self.policies_read_by([metric]),
        )
        request = resolve_request(replace(call, per_query=True, only_queries=tuple(queries)))
        return explain_queries(
            request,
            common["connection"],
            self.dialect,
            select_arguments(ResourceLimits, arguments),
            rows,
        )

    def resolve_for_system(self, metric: Any, system: str) -> ResolvedRequest:
        """Resolve the request of a metric of one system."""
        self.tell()
        sources, common = self.arguments_for_system(system)
        return resolve_request(
            _build_call([metric], sources, common, self.policies_read_by([metric]))
        )

    def arguments_for_system(self, system: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the sources and common arguments of one system.

        A system is a run, a score, or the rows with its name in the system column.
        """
        sources, common = dict(self.sources), dict(self.common)
        if self.runs:
            sources[self.run_role] = self.runs[system]
        elif self.system == SCORE_COLUMN:
            common["columns"] = {**(common["columns"] or {}), SCORE_COLUMN: system}
        elif self.system is not None:
            common["where"] = self._build_condition(self.system, system)
            # An explanation does not read the system column.
            common["columns"] = {
                name: column_name
                for name, column_name in (common["columns"] or {}).items()
                if name != self.system
            }
        return sources, common

    def command_arguments(self, system: str, policies: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a command over one system."""
        sources, common = self.arguments_for_system(system)
        return {
            **_pass_sources(sources),
            **{name: common[name] for name in ("where", "compat", "sql_dir", "columns")},
            "policies": policies,
            "connection": common["connection"],
        }

    def _build_condition(self, column: str, system: str) -> str:
        """Return the SQL condition for a system's rows, combined with that of the report."""
        role, dot, name = column.partition(".")
        if not dot or role not in self.sources:
            roles = [
                role for role in (*RUN_ROLES, *DEFAULT_METRICS_BY_ROLE) if role in self.sources
            ]
            role, name = next(iter(roles), "predictions"), column
        system_column = quoted_column(str((self.common["columns"] or {}).get(name, name)), role)
        is_system = exp.EQ(this=exp.cast(system_column, "TEXT"), expression=sql_literal(system))
        return self.write_condition(self.common["where"], is_system)

    def write_condition(self, where: str | None, *conditions: exp.Expr) -> str:
        """Return conditions as SQL, after that of a call."""
        sqlglot_dialect = get_dialect(self.dialect).sqlglot_name
        first = [] if where is None else [parse_condition(where, sqlglot_dialect)]
        return format_tree(exp.and_(*first, *conditions), sqlglot_dialect, pretty=False)[0]

    def policies_read_by(self, metrics: Any) -> dict[str, Any]:
        """Return the policies used by these metrics.

        ``evaluate`` rejects unused ones, and a section may evaluate fewer metrics than the report.
        """
        return find_read_policies(_build_call(metrics, self.sources, self.common, self.policies))

    def _build_common_arguments(self, metrics: Any) -> dict[str, Any]:
        """Return the arguments of all calls, with the metrics' policies and the remaining
        timeout.
        """
        self.tell()
        check_deadline()
        return {
            **_pass_sources(self.sources),
            **self.common,
            **self.policies_read_by(metrics),
            "timeout": None if self.common["timeout"] is None else seconds_left(),
        }

    def with_progress(self, progress: Callable[[float], None] | None, calls: int) -> ReportRequest:
        """Return a copy that reports progress as a share of about ``calls`` calls."""
        if progress is None:
            return self
        done = iter(range(10**9))
        return replace(self, tell=lambda: progress(min(99.0, 100 * next(done) / calls)))


def _pass_sources(sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return sources by role as arguments: those of further roles as ``inputs``."""
    inputs = {role: source for role, source in sources.items() if role not in INPUTS_BY_KEYWORD}
    return {role: source for role, source in sources.items() if role not in inputs} | {
        "inputs": inputs or None
    }


def _choose_metrics(roles: Collection[str]) -> Sequence[str]:
    """Return the default metrics of inputs."""
    for role, metrics in DEFAULT_METRICS_BY_ROLE.items():
        if role in roles:
            return metrics
    return (
        DEFAULT_PREDICTION_METRICS if set(roles).isdisjoint(RUN_ROLES) else DEFAULT_RANKING_METRICS
    )


def _check_metrics(resolved_request: ResolvedRequest) -> None:
    """Raise ``MetricError`` for metrics that a report does not show."""
    for resolved_metric in resolved_request.metrics:
        if resolved_metric.file.kind == "curves" or isinstance(
            resolved_metric.metric.cutoff, tuple
        ):
            raise MetricError(
                f"{resolved_metric.metric} has rows of its own, and a report draws its own"
                " curves. Name metrics with one value"
            )
    if not resolved_request.is_ranking and resolved_request.base_role not in REPORTED_ROLES:
        raise MetricError(
            "a report is of rankings, predictions, classes or clusters, and"
            f" {resolved_request.metrics[0].metric} is of {resolved_request.base_role}"
        )
    if resolved_request.is_ranking and resolved_request.base_role is not None:
        raise MetricError(
            "metrics of rankings and of predictions are reports of their own. Name metrics of"
            " one kind"
        )


def _requested_metrics(resolved_request: ResolvedRequest) -> list[Metric]:
    """Return the metrics under their requested names, or the canonical one if a name is that of a
    compatibility mode alone.
    """
    requested: dict[Metric, None] = {}
    for metric in resolved_request.metrics:
        for name in metric.requested_names:
            try:
                is_known = parse_canonical(name, resolved_request.library) == metric.metric
            except MetricError:
                is_known = False
            requested[parse_metric_text(name) if is_known else metric.metric] = None
    return list(requested)


def _build_call(
    metrics: Any, sources: Mapping[str, Any], common: Mapping[str, Any], policies: Mapping[str, Any]
) -> Request:
    """Return the call for metrics over the sources of a report."""
    arguments = {**common, **_pass_sources(sources)}
    return Request.from_arguments(arguments, metrics=metrics, policies=policies)


def _find_runs(sources: Mapping[str, Any], common: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the role of runs, and these by their system names, none of a single one."""
    role = next((role for role in RUN_ROLES if role in sources), "run")
    run = SourceGroup.wrap(role, sources.get(role))
    has_runs = isinstance(run, SourceGroup) and run.members_are_systems and len(run.members) > 1
    return role, _list_runs(role, run, common) if has_runs else {}


def _list_scores(sources: Mapping[str, Any], common: Mapping[str, Any]) -> list[str]:
    """Return the columns of several scores of predictions, none of a single one."""
    scores = (common["columns"] or {}).get(SCORE_COLUMN)
    if not isinstance(scores, (list, tuple)) or "predictions" not in sources:
        return []
    return list(scores) if len(scores) > 1 else []


def _list_runs(role: str, run: SourceGroup, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs by their system names; raise ``InputError`` for duplicate names."""
    names = [name for name, _ in run.members]
    if None in names:
        dialect = infer_dialect(common["connection"], common["dialect"])
        table = run_on_database(
            common["connection"],
            dialect,
            ResourceLimits(),
            lambda database: resolve_source(database, role, run),
        )
        names = list(
            dict.fromkeys(member.constants[SYSTEM_COLUMN] for member in table.members or (table,))
        )
    if len(set(names)) < len(run.members):
        raise InputError(f"two runs are called {names[0]!r}. Give each a name of its own")
    return {
        str(name): map_sources(source, wrap_source)
        for name, (_, source) in zip(names, run.members, strict=True)
    }
