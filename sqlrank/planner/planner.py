"""Validate and choose the plan of a statement, and describe it in the comment above the statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, join_words, suggest_choice
from sqlrank.planner.rank_method import choose_rank_method, max_depth, ranking_metrics, required_depth
from sqlrank.planner.score_order import choose_score_order
from sqlrank.registry.dependencies import find_engines
from sqlrank.registry.sql_file import NO_CUTOFF
from sqlrank.rendering.dialects import get_dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.resolve import ResolvedRequest


INTERNAL_PLANS = (
    "small_groups", "weight_below", "exact_weight", "selected_queries", "listed_queries", "list_groups", "list_measures", "sampled_by",
)  # fmt: skip
"""Names of the plans that follow from the input and cannot be chosen by users."""


def validate_plan(request: ResolvedRequest, dialect: str) -> None:
    """Validate the plans that the user chose, and that the engine has all metrics.

    Raises:
        MetricError: A metric is for other engines. A plan or value is unknown, unsupported by the engine, or not valid under the policies of a metric.
    """
    library = request.library
    _check_engines(request, dialect)
    for name, value in request.plan.items():
        if name not in library.plans or name in INTERNAL_PLANS:
            plan_names = [plan for plan in library.plans if plan not in INTERNAL_PLANS]
            raise MetricError(suggest_choice(f"unknown plan {name!r}", name, plan_names))
        values = library.plans[name]["values"]
        if value not in values:
            raise MetricError(suggest_choice(f"unknown {name} {value!r}", value, values))
        if not library.is_plan_supported(name, value, dialect):
            supported = [candidate for candidate in values if library.is_plan_supported(name, candidate, dialect)]
            alternatives = [candidate for candidate in supported if candidate not in {"auto", "rank"}]
            engines = join_words(values[value]["engines"], "or").replace("duckdb", "DuckDB")
            raise MetricError(f"{name}={value!r} is for {engines}. Choose {join_words(alternatives, 'or')} for {dialect}")
        if (role := values[value].get("requires_input", request.retrieval_role)) != request.retrieval_role:
            raise MetricError(f"{name}={value!r} is for {role}, and {request.retrieval_role} is given. Leave it out")
        for metric in ranking_metrics(request):
            for policy, allowed in values[value].get("valid_with", {}).items():
                if metric.settings.get(policy, allowed[0]) not in allowed:
                    requirement = f"{policy}={allowed[0]!r}, not {metric.settings[policy]!r}"
                    raise MetricError(f"{name}={value!r} is for {requirement}. Give {name}={next(iter(values))!r}, or leave it out")
            if value == "top_k" and required_depth(library, metric) is None:
                requirement = f"metrics of the first documents alone, not {metric.metric}"
                raise MetricError(f"rank_method='top_k' is for {requirement}. Give rank_method='sort', or leave it out")


def _check_engines(request: ResolvedRequest, dialect: str) -> None:
    """Check that the engine has the relations of every metric."""
    for metric in request.metrics:
        if (engines := find_engines(metric.dependencies.files)) and dialect not in engines:
            names = join_words(engines, "or").replace("duckdb", "DuckDB")
            raise MetricError(f"{metric.metric} is for {names}, not for {dialect}. Evaluate it there, or choose another metric")


def choose_plan(request: ResolvedRequest, inputs: BoundInputs, rows: Mapping[str, int] | None = None) -> dict[str, ParameterValue]:
    """Choose the value of every plan of a request.

    Args:
        request: The resolved request, with the plans that the user chose.
        inputs: The bound inputs.
        rows: Row counts by role, where they are known already.
    """
    database = inputs.database
    dialect, library = get_dialect(database.dialect), request.library
    requested = {str(name): str(value) for name, value in request.plan.items()}
    weighted = request.base_role is not None and "weight" in inputs.needed_columns.get(request.base_role, ())
    weighted |= request.confidence is not None and request.confidence.resamples_rows
    plans: dict[str, ParameterValue] = {
        "list_key": "integer" if dialect.prefers_integer_keys else "input",
        "pair_counting": "window_ranks" if library.is_plan_supported("pair_counting", "window_ranks", database.dialect) else "bits",
        "bucket_aggregation": "before_bucketing" if dialect.recomputes_ctes else "after_bucketing",
        "weight_below": "by_sum" if weighted else "by_difference",
        "exact_weight": "weights" if weighted else "rows",
        "selected_queries": "in_queries_table" if "queries" in inputs.by_role and not request.lists_from_queries else "all",
        "list_groups": "from_queries_table" if any(column.is_query_attribute for column in inputs.group_columns) else "from_lists",
        "sampled_by": "unit" if inputs.has_units else "prediction",
        **{name: value for name, value in requested.items() if name != "score_order"},
    }
    if "rank_method" not in plans:
        plans["rank_method"] = choose_rank_method(request, inputs, rows)
    if plans["rank_method"] in {"top_k", "list_position"}:
        depth = max_depth(request)
        plans["num_ranked"] = NO_CUTOFF if depth is None else max(depth, 1)
    # Ranks within window frames count the pairs of large groups only.
    is_one_group = not (
        inputs.group_columns or request.per_query or any(metric.settings.get("level") == "query" for metric in request.metrics)
    )
    plans["small_groups"] = "counted" if is_one_group and plans["pair_counting"] == "bits" else "self_join"
    if any("score_order" in metric.dependencies.settings for metric in request.metrics):
        plans["score_order"] = choose_score_order(request, inputs, requested.get("score_order", "auto"), weighted)
    # The influence of a prediction is joined by its score, or by the threshold that a sort assigns to it.
    if inputs.rows_are_units and "score_order" in plans and inputs.base is not None and not inputs.base.not_null:
        plans["sampled_by"] = "score" if plans["score_order"] in {"distinct", "buckets"} else "threshold"
    return plans


def plan_summary(request: ResolvedRequest, plans: Mapping[str, Any]) -> str:
    """Return the plans in use that have an alternative or were requested, and the alternatives; empty if there are none."""
    library = request.library
    read_settings = set().union(*(metric.dependencies.settings for metric in request.metrics))
    read_settings -= {"bucket_aggregation", "weight_below"} if plans.get("score_order") != "buckets" else set()
    relations = set().union(*(metric.dependencies.relations for metric in request.metrics))
    used = {
        name: plans[name]
        for name in library.plans
        if name in read_settings
        and name in plans
        and name not in INTERNAL_PLANS
        and _affects_files(library, name, str(plans[name]), relations)
    }
    hints = [hint for name, value in used.items() if (hint := _alternative_hint(library, name, str(value)))]
    chosen = ", ".join(
        f"{name}={value}" for name, value in used.items() if name in request.plan or _alternative_hint(library, name, str(value))
    )
    return f"{chosen}; alternative: {'; '.join(hints)}" if hints else chosen


def _affects_files(library: Registry, name: str, value: str, relations: set[str]) -> bool:
    """Return True if another value of a plan would read other files of these relations.

    Values for other engines than the chosen one are ignored.
    """
    values = library.plans[name]["values"]
    entries = [entry.get("files", {}) for candidate, entry in values.items() if "engines" not in entry or candidate == value]
    return len(entries) < 2 or any(len({entry.get(relation) for entry in entries}) > 1 for relation in relations)  # noqa: PLR2004


def _alternative_hint(library: Registry, name: str, value: str) -> str:
    """Return the hint about the alternative to a plan's value, if any."""
    hint = str({**library.plans[name], **library.plans[name]["values"].get(value, {})}.get("alternative", ""))
    return "" if hint.startswith(f"{name}={value}") else hint
