"""Name the columns of a rollup, and decompose metrics into mergeable aggregates and formulas or tie
bounds.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.aggregation_ctes import aggregate_expression
from sqlrank.compiler.intervals.influence_functions import expand_averages
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.select_builders import bind_parameters, cast_double
from sqlrank.compiler.statement import CompiledStatement
from sqlrank.errors import MetricError
from sqlrank.registry.metric import COLUMN_PARAMETER, ParameterValue
from sqlrank.registry.query_templates import share_select
from sqlrank.registry.resolved_metric import (
    MeasuredColumn,
    ResolvedMetric,
    effective_setting,
    omit_later_defaults,
)
from sqlrank.registry.settings_checks import TieBound, accepted_settings, read_tie_bounds
from sqlrank.registry.sql_file import NO_CUTOFF
from sqlrank.result_columns import NUM_ROWS
from sqlrank.sql_ast import count_rows, find_nodes, replace_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlrank.registry.registry import Registry


MERGE_FUNCTIONS: Mapping[type[exp.Expr], type[exp.AggFunc]] = {
    exp.Sum: exp.Sum,
    exp.Count: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}
"""The function that merges partial values of each kind of aggregate."""

BIN_MERGE_FUNCTIONS: Mapping[str, type[exp.AggFunc]] = {
    "positives": exp.Sum,
    "negatives": exp.Sum,
    "score_min": exp.Min,
    "score_max": exp.Max,
}
"""The function that merges each column of a bin."""

AGGREGATE_NAME = re.compile(r"(sum|count|min|max)_(\w+_)?[0-9a-f]{8}")
"""Pattern of an aggregate's column name: its words and eight hexadecimal digits of a hash."""

HASH_SUFFIX = re.compile(r"_[0-9a-f]{8}$")
"""The digits at the end of the name of a value per query, which an aggregate of it has of its
own.
"""

NAMED_FUNCTIONS: Mapping[type[exp.Expr], str] = {
    exp.Abs: "abs",
    exp.Exp: "exp",
    exp.Ln: "ln",
    exp.Pow: "pow",
    exp.Sqrt: "sqrt",
}
"""The functions that column names of aggregates contain."""

MAX_AGGREGATE_NAME_CHARS = 52
"""Maximum characters of the words in a column name; PostgreSQL cuts names at 63."""


def merge_function(name: str) -> type[exp.AggFunc] | None:
    """Return the function that merges a column of this name; None if not an aggregate.

    >>> merge_function("count_12345678") is exp.Sum, merge_function(
    ...     "max_score_12345678"
    ... ) is exp.Max, merge_function("day")
    (True, True, None)
    """
    match = AGGREGATE_NAME.fullmatch(name.lower())
    return None if match is None else {"min": exp.Min, "max": exp.Max}.get(match[1], exp.Sum)


def aggregate_column_name(aggregate: exp.Expr, subject: str | None = None) -> str:
    """Return the column name of an aggregate: its function, its subject or the names in it, and
    eight digits of its hash.

    Tables are read by these names, so that the hash is long enough for other aggregates not to have
    it.

    >>> weight, error = exp.column("weight"), exp.paren(exp.column("score") - exp.column("label"))
    >>> aggregate_column_name(exp.Sum(this=weight * error * error)), aggregate_column_name(
    ...     exp.Sum(this=weight * error), "log_likelihood"
    ... )
    ('sum_weight_score_label_squared_02e9adca', 'sum_log_likelihood_c891cc99')
    """
    words = dict.fromkeys(_iterate_words(aggregate.this)) if subject is None else [subject]
    stem = (
        re.sub(r"[^a-z0-9]+", "_", "_".join([aggregate.key, *words]).lower())
        .strip("_")[:MAX_AGGREGATE_NAME_CHARS]
        .strip("_")
    )
    return f"{stem}_{hashlib.sha256(aggregate.sql('duckdb').encode()).hexdigest()[:8]}"


def _iterate_words(node: exp.Expr) -> Iterator[str]:
    """Yield the names of the columns and functions in an operand; a factor that is multiplied by
    itself is squared.
    """
    if isinstance(node, exp.Mul):
        for factor, factors in groupby(node.flatten()):
            yield from _iterate_words(factor)
            if len(list(factors)) > 1:
                yield "squared"
        return
    if isinstance(node, exp.Column):
        yield HASH_SUFFIX.sub("", node.name)
    elif type(node) in NAMED_FUNCTIONS:
        yield NAMED_FUNCTIONS[type(node)]
    for child in node.iter_expressions():
        yield from _iterate_words(child)


DEFINITION_COLUMN = "definition_hash"
"""The column with the definition hash; only rows with equal hashes may be merged."""

BIN_COLUMN = "bin"
"""The column with the number or score of a bin."""

BIN_COLUMNS = (BIN_COLUMN, "positives", "negatives", "score_min", "score_max")
"""The columns of a rollup with score bins."""

BATCH_COLUMN = "batch"
"""The column with the name of a row's batch, if batches are named."""

DAY_COLUMN = "day"
"""The column of days."""


def select_row_keys(names: Iterable[str]) -> list[str]:
    """Return the key columns of a rollup, other than the bin."""
    non_key_columns = {*BIN_COLUMNS, NUM_ROWS, DEFINITION_COLUMN, BATCH_COLUMN}
    return [
        name
        for name in names
        if name.lower() not in non_key_columns and merge_function(name) is None
    ]


def merge_class(name: str) -> type[exp.AggFunc] | None:
    """Return the function that merges a column, or None for a key column."""
    merge_functions: dict[str, type[exp.AggFunc]] = {
        NUM_ROWS: exp.Sum,
        DEFINITION_COLUMN: exp.Min,
        **BIN_MERGE_FUNCTIONS,
    }
    return merge_functions.get(name.lower()) or merge_function(name)


def describe_group(keys: Iterable[str], values: Iterable[Any]) -> str:
    """Format the keys of a group for a message; ``values`` begin with those of the keys."""
    return (
        ", ".join(f"{key} = {value}" for key, value in zip(keys, values, strict=False))
        or "all rows"
    )


def split_aggregates(
    value: exp.Expr, slots: Mapping[str, str] | None = None, measured: MeasuredColumn | None = None
) -> tuple[dict[str, exp.Expr], exp.Expr] | None:
    """Return the aggregates of an expression by column name, and the formula that merges them.

    ``slots`` are the function slots that name columns, by the text of their aggregate; ``measured``
    is the column that the metric measures. Returns None if an aggregate cannot be merged.
    """
    holder = exp.Paren(this=expand_averages(value))
    aggregates: dict[str, exp.Expr] = {}
    for node in list(holder.find_all(exp.AggFunc)):
        merge = MERGE_FUNCTIONS.get(type(node))
        if (
            merge is None
            or node.find_ancestor(exp.AggFunc) is not None
            or isinstance(node.this, exp.Distinct)
        ):
            return None
        name = aggregate_column_name(
            _with_source_column(node, measured), (slots or {}).get(node.sql("duckdb"))
        )
        aggregates[name] = node.copy()
        node.replace(merge(this=exp.column(name)))
    return aggregates, holder.this


def _with_source_column(aggregate: exp.Expr, measured: MeasuredColumn | None) -> exp.Expr:
    """Return an aggregate over a measured column by its name in the table: its name in the
    statement depends on which other metrics are requested.
    """
    if measured is None:
        return aggregate
    source = exp.column(exp.to_identifier(measured.column, quoted=measured.column != measured.name))
    return replace_columns(aggregate, {measured.name: source}.get)


def _aggregate_slots(metric: ResolvedMetric, library: Registry) -> dict[str, str]:
    """Return the function slot in each aggregate of a metric that has one, by the aggregate's text
    with the function inlined.
    """
    slots: dict[str, str] = {}
    for aggregate in exp.Paren(
        this=expand_averages(metric.file.tree.selects[-1].unalias())
    ).find_all(exp.AggFunc):
        call = aggregate.find(exp.Anonymous)
        if call is not None:
            inlined = bind_parameters(library, aggregate, metric.settings, metric.file.params)
            slots[inlined.sql("duckdb")] = str(call.name)
    return slots


RUN_ROLE = "run"
"""The input role of ranking metrics."""

RANKING_ROLLUP_ROLES = (RUN_ROLE, "qrels", "queries")
"""The inputs of a rollup of rankings; defaults of policies and the input of measured columns depend
on them.
"""

ROW_POLICIES = ("queries", "score_type", "id_type", "nulls", "duplicates")
"""Policies that select rows. They are fixed when the rollup is built and cannot be passed when it
is evaluated.
"""

AggregatesAndFormula = tuple[dict[str, exp.Expr], exp.Expr]
"""Aggregates by column name, and the formula over them."""


def aggregates_and_formula(
    metric: ResolvedMetric, library: Registry, *, weighted: bool
) -> AggregatesAndFormula:
    """Return the aggregates of a ranking metric's per-query values, and the formula over them.

    Raises:
        MetricError: a metric without per-query values, or an aggregate function that cannot be
            merged.
    """
    name = str(metric.metric)
    if metric.file.grain != "list":
        raise MetricError(
            f"{name} is computed over all lists together, not from a value of each: no sums of days"
            " give it. Evaluate it from the run"
        )
    if metric.has_cutoff_range:
        raise MetricError(
            f"{name} has a row for each cut-off. Name those that the rollup is to have, such as"
            f" {metric.file.display_name}@[5,10]"
        )
    value = exp.column(per_query_column(metric, library))
    is_weighted = weighted or metric.settings.get("aggregate") == "wmean"
    decomposition = split_aggregates(
        aggregate_expression(library, metric, value, "list", weighted=is_weighted)
    )
    if decomposition is None or any(
        column.name == value.name for column in decomposition[1].find_all(exp.Column)
    ):
        raise MetricError(
            f"{name}: aggregate={metric.settings.get('aggregate')} over all lists does not follow"
            " from that of each day. mean, wmean, gmean, sum, min and max do. Store the value of"
            " each query instead: evaluate it with per_query=True"
        )
    return decomposition


def stored_aggregates(
    metric: ResolvedMetric, library: Registry, *, weighted: bool
) -> dict[str, exp.Expr]:
    """Return all aggregates stored for a metric: those of its formula, the moments, minimum and
    maximum.

    Weighted queries add the weighted moments, which include the sum of the weights.
    """
    value = exp.column(per_query_column(metric, library))
    statistics: list[exp.Expr] = [
        *_build_moments(value).values(),
        exp.Min(this=value),
        exp.Max(this=value),
    ]
    statistics += _build_moments(value, weighted=True).values() if weighted else []
    aggregates = {aggregate_column_name(aggregate): aggregate for aggregate in statistics}
    for is_weighted in (False, *([True] if weighted else [])):
        plain = replace(
            metric,
            settings={
                name: value for name, value in metric.settings.items() if name != "aggregate"
            },
        )
        aggregates |= aggregates_and_formula(plain, library, weighted=is_weighted)[0]
    return aggregates | aggregates_and_formula(metric, library, weighted=weighted)[0]


def mean_moments(
    metric: ResolvedMetric, library: Registry, *, weighted: bool
) -> dict[str, AggregatesAndFormula]:
    """Return the moments (count, sum, sum of squares) of a mean metric.

    Returns an empty dict if it is not a mean or has no interval.
    """
    aggregate_function = metric.settings.get("aggregate", "wmean" if weighted else "mean")
    if aggregate_function not in {"mean", "wmean"} or metric.file.interval.no_interval:
        return {}
    moments = _build_moments(
        exp.column(per_query_column(metric, library)), weighted=aggregate_function == "wmean"
    )
    return {
        name: (
            {aggregate_column_name(aggregate): aggregate},
            exp.Sum(this=exp.column(aggregate_column_name(aggregate))),
        )
        for name, aggregate in moments.items()
    }


def _build_moments(value: exp.Column, *, weighted: bool = False) -> dict[str, exp.Expr]:
    """Return the aggregates from which the variance of per-query values follows, by name."""
    file = "weighted_query_moments.sql" if weighted else "query_moments.sql"
    return {
        column.alias: replace_columns(column.this, {"value": value}.get)
        for column in share_select("analyses/rollups", file).selects[1:]
    }


def per_query_column(metric: ResolvedMetric, library: Registry) -> str:
    """Return the column name of a metric's per-query value: its column in SQL and eight digits of a
    hash.

    The hash covers the expression, the cut-off and all settings except row policies and the
    aggregate function.
    """
    explicit_params = dict(metric.metric.params)
    aggregate_settings = {
        "aggregate",
        *(name for file in library.functions["aggregate"].values() for name in file.params),
    }
    read = {
        name
        for name in accepted_settings(metric, library) - aggregate_settings
        if name not in ROW_POLICIES
        and (name in explicit_params or not _default_depends_on_inputs(name, library))
    }
    facts = {
        "metric": metric.file.display_name,
        "cutoff": str(metric.metric.cutoff),
        "value": metric.file.tree.sql("duckdb"),
        "settings": omit_later_defaults(
            {name: _find_setting(name, metric, library) for name in sorted(read)}, library
        ),
    }
    digits = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:8]
    return f"{replace(metric.metric, params=()).sql_column(metric.file.value_name)}_{digits}"


def refuse_row_policies(
    policies: Mapping[str, Any], metrics: Iterable[ResolvedMetric], library: Registry
) -> None:
    """Raise ``MetricError`` for row policies, which are fixed when a rollup of rankings is
    built.
    """
    name = next(
        (
            name
            for name in policies
            if name in ROW_POLICIES
            or (name in library.policies and _default_depends_on_inputs(name, library))
        ),
        None,
    )
    ranking = next((metric for metric in metrics if metric.input_role == RUN_ROLE), None)
    if name is not None and ranking is not None:
        raise MetricError(
            f"{name} says which rows there are, as the rollup of {ranking.metric} was made. Make"
            f" one with {name}, and leave it out here"
        )


def row_definition(resolved_metrics: Iterable[ResolvedMetric], library: Registry) -> dict[str, Any]:
    """Return the definition of the rows of a rollup of rankings: its aggregates and its row
    policies.
    """
    metrics = list(resolved_metrics)
    names = [
        *ROW_POLICIES,
        *(
            name
            for name in library.policies
            if _default_depends_on_inputs(name, library) and name not in ROW_POLICIES
        ),
    ]
    defaults = {name: library.allowed_values(name)[0] for name in names}
    row_policies = {
        name: next(
            (metric.settings[name] for metric in metrics if name in metric.settings), defaults[name]
        )
        for name in names
    }
    return {
        "aggregates": sorted(
            {
                name
                for metric in metrics
                for name in stored_aggregates(metric, library, weighted=False)
            }
        ),
        "lists": omit_later_defaults(row_policies, library),
    }


def find_list_query(statement: CompiledStatement) -> Any:
    """Return the CTE that has one row per list with the values of the metrics."""
    tree: Any = statement.tree
    (lists,) = (cte.this for cte in tree.ctes if cte.alias == tree.args["from_"].this.name)
    return lists


def aggregate_per_query_values(
    statement: CompiledStatement,
    resolved_metrics: Iterable[ResolvedMetric],
    library: Registry,
) -> CompiledStatement:
    """Replace the metrics of a statement by aggregates of per-query values, after the number of
    lists.
    """
    tree: Any = statement.tree.copy()
    weighted = "weight" in find_list_query(statement).named_selects
    keys: list[Any] = []
    audits: list[Any] = []
    aggregates: dict[str, exp.Expr] = {NUM_ROWS: count_rows()}
    metrics = {str(metric.metric): metric for metric in resolved_metrics}
    for select_item, output in zip(tree.selects, statement.outputs, strict=True):
        if output.kind != "metric":
            (audits if output.kind == "audit" else keys).append((select_item, output))
            continue
        metric = metrics[output.name]
        value = {per_query_column(metric, library): exp.column(output.alias)}
        for column, aggregate in stored_aggregates(metric, library, weighted=weighted).items():
            aggregates.setdefault(column, replace_columns(aggregate, value.get))
    columns = [
        (cast_double(aggregate).as_(name), OutputColumn(name, name, "value"))
        for name, aggregate in aggregates.items()
    ]
    select_items = [*keys, *columns, *audits]
    tree.set("expressions", [select_item for select_item, _ in select_items])
    return CompiledStatement(tree, [output for _, output in select_items], statement.header)


def _default_depends_on_inputs(policy: str, library: Registry) -> bool:
    """Return True if the default of a policy depends on which inputs are given."""
    return any(
        "requires_input" in value
        for value in library.policies.get(policy, {"values": {}})["values"].values()
    )


def _find_setting(name: str, metric: ResolvedMetric, library: Registry) -> ParameterValue | None:
    """Return the effective value of a metric's setting, its default if it is not set; a measured
    column by its name in the table.
    """
    if name == COLUMN_PARAMETER and metric.measured_column is not None:
        return metric.measured_column.column
    value = effective_setting(metric, name, library)
    return NO_CUTOFF if value is None else value


PREDICTIONS_ROLE = "predictions"
"""The input role of a rollup of predictions."""


@dataclass(frozen=True)
class AdditiveMetric:
    """An additive metric: its aggregates by column name, and a formula over them."""

    name: str
    aggregates: Mapping[str, exp.Expr]
    formula: exp.Expr


@dataclass(frozen=True)
class PerQueryMetric(AdditiveMetric):
    """A ranking metric as a formula over aggregated per-query values.

    ``moments`` are count, sum and sum of squares of a mean, for its standard error; empty if it has
    no interval. ``weighted`` is the same metric for weighted queries.
    """

    moments: tuple[AdditiveMetric, ...]
    weighted: PerQueryMetric | None = None


@dataclass(frozen=True)
class RankMetric:
    """A rank metric, its settings, and the tie orders whose minimum and maximum bound it."""

    name: str
    metric: Any
    policies_read: frozenset[str]
    lower_bounds: tuple[TieBound, ...]
    upper_bounds: tuple[TieBound, ...]


@dataclass(frozen=True)
class RollupMetrics:
    """The metrics of a rollup, in the order of the request."""

    metrics: tuple[AdditiveMetric | RankMetric, ...]

    @property
    def additive(self) -> list[AdditiveMetric]:
        """Return the additive metrics."""
        return [metric for metric in self.metrics if isinstance(metric, AdditiveMetric)]

    @property
    def is_per_query(self) -> bool:
        """Return True if the metrics are ranking metrics."""
        return any(isinstance(metric, PerQueryMetric) for metric in self.metrics)

    def resolve_weights(self, has_column: Callable[[str], bool]) -> RollupMetrics:
        """Return the weighted variant of each ranking metric whose columns the table has."""

        def resolve_variant(metric: AdditiveMetric | RankMetric) -> AdditiveMetric | RankMetric:
            weighted = metric.weighted if isinstance(metric, PerQueryMetric) else None
            return (
                metric
                if weighted is None or not all(map(has_column, weighted.aggregates))
                else weighted
            )

        return RollupMetrics(tuple(map(resolve_variant, self.metrics)))

    def list_averaged_metrics(self, has_column: Callable[[str], bool]) -> list[PerQueryMetric]:
        """Return the metrics that are means over queries, resolved for the columns of the table."""
        return [
            metric
            for metric in self.resolve_weights(has_column).metrics
            if isinstance(metric, PerQueryMetric) and metric.moments
        ]

    def list_read_aggregates(self, has_column: Callable[[str], bool]) -> dict[str, exp.Expr]:
        """Return the aggregates to read by column name, including the moments of means."""
        resolved = self.resolve_weights(has_column)
        moments = {
            name: tree
            for metric in resolved.list_averaged_metrics(has_column)
            for moment in metric.moments
            for name, tree in moment.aggregates.items()
            if has_column(name)
        }
        return resolved.aggregates | moments

    @property
    def rank_based(self) -> list[RankMetric]:
        """Return the rank metrics, which need score bins."""
        return [metric for metric in self.metrics if isinstance(metric, RankMetric)]

    @property
    def aggregates(self) -> dict[str, exp.Expr]:
        """Return the aggregates of all additive metrics by column name."""
        return {name: tree for metric in self.additive for name, tree in metric.aggregates.items()}

    @property
    def merge_functions(self) -> dict[str, type[exp.AggFunc]]:
        """Return the functions that merge these aggregates, by column name."""
        return {name: MERGE_FUNCTIONS[type(tree)] for name, tree in self.aggregates.items()}


def decompose_metrics(
    resolved_metrics: Iterable[ResolvedMetric], library: Registry
) -> RollupMetrics:
    """Return the aggregates that the metrics need.

    Raises ``MetricError`` for a metric that cannot be computed from aggregates.
    """
    metrics = list(resolved_metrics)
    if (
        len(metric_by_is_ranking := {metric.input_role == RUN_ROLE: metric for metric in metrics})
        > 1
    ):
        raise MetricError(
            f"{metric_by_is_ranking[True].metric} is of rankings and"
            f" {metric_by_is_ranking[False].metric} of predictions. Each wants a rollup of its own"
        )
    return RollupMetrics(
        tuple(
            (
                _decompose_ranking_metric(metric, library)
                if metric.input_role == RUN_ROLE
                else _decompose_prediction_metric(metric, library)
            )
            for metric in metrics
        )
    )


def _decompose_ranking_metric(metric: ResolvedMetric, library: Registry) -> PerQueryMetric:
    name = str(metric.metric)
    plain, weighted = (
        PerQueryMetric(
            name,
            *aggregates_and_formula(metric, library, weighted=is_weighted),
            tuple(
                AdditiveMetric(f"{name}.{moment}", *decomposition)
                for moment, decomposition in mean_moments(
                    metric, library, weighted=is_weighted
                ).items()
            ),
        )
        for is_weighted in (False, True)
    )
    return replace(plain, weighted=weighted)


def _decompose_prediction_metric(
    metric: ResolvedMetric, library: Registry
) -> AdditiveMetric | RankMetric:
    name = str(metric.metric)
    if metric.is_per_list:
        raise MetricError(
            f"{name} has a value for each {library.roles[metric.input_role].query_column} of a"
            " group, which a rollup has of metrics of rankings alone. Evaluate it with"
            f" per_query=True and keep that table, or make a rollup of {metric.file.display_name}"
        )
    if (
        metric.input_role != PREDICTIONS_ROLE
        or metric.file.kind != "metrics"
        or metric.has_cutoff_range
    ):
        raise MetricError(
            f"{name} is no metric of all predictions with one value, and a rollup has no others."
            f" {_supported_metrics(library)}"
        )
    if "ties" in metric.settings:
        raise MetricError(f"{name}: a rollup has the value and both bounds at once. Leave ties out")
    value = bind_parameters(
        library, metric.file.tree.selects[-1].unalias(), metric.settings, metric.file.params
    )
    if metric.file.source_relation == PREDICTIONS_ROLE:
        decomposition = split_aggregates(
            value, _aggregate_slots(metric, library), metric.measured_column
        )
        if decomposition is not None:
            return AdditiveMetric(name, *decomposition)
    elif (bounds := read_tie_bounds(metric.file)) is not None and "positive_squares" not in {
        column.name for column in find_nodes(value, exp.Column)
    }:
        return RankMetric(
            name, metric.metric, frozenset(accepted_settings(metric, library)), *bounds
        )
    raise MetricError(
        f"{name} is neither a sum over predictions nor within bounds by their order, so that no"
        f" rollup has it. {_supported_metrics(library)}"
    )


def _supported_metrics(library: Registry) -> str:
    additive, rank_based = [], []
    for file in library.metrics.values():
        if read_tie_bounds(file) is not None:
            rank_based.append(file.display_name)
        elif (
            file.first_source == PREDICTIONS_ROLE
            and split_aggregates(file.tree.selects[-1].unalias()) is not None
        ):
            additive.append(file.display_name)
    return (
        f"It has {', '.join(sorted(rank_based))} within bounds, and exactly"
        f" {', '.join(sorted(additive))}"
    )
