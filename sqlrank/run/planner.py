"""Validate and choose the plan of a statement (``score_order``, ``rank_method``) from the engine
and statistics of the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.request import parse_memory_size
from sqlrank.errors import MetricError, check_choice, join_words
from sqlrank.inputs.row_checks import select_over_input
from sqlrank.registry.metric import ParameterValue, SymbolicNumber
from sqlrank.registry.resolved_metric import find_engines
from sqlrank.registry.sql_file import NO_CUTOFF
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import count_rows, quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.inputs.bound_input import BoundInput, BoundInputs
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


MIN_ROWS_TO_OPTIMIZE = 20_000
"""Number of rows, of a run or of predictions in memory, below which choosing a strategy costs more
than sorting: a question to the database takes 2 ms.
"""

SAMPLE_ROWS = 100_000
"""Number of sampled rows from which the share of distinct scores is estimated."""


def sample_distinct_counts(bound_input: BoundInput, group: Sequence[str]) -> tuple[int, int, int]:
    """Count the rows, distinct scores of groups and groups among the first ``SAMPLE_ROWS`` rows of
    an input.
    """
    rows, scores, groups = _select_scores(bound_input, group)
    counts = [exp.Count(this=exp.Distinct(expressions=[column])) for column in (scores, *groups)]
    ((total, distinct, *num_groups),) = bound_input.database.query_rows(
        exp.select(count_rows(), *counts).from_(rows.limit(SAMPLE_ROWS).subquery("sampled_rows"))
    )
    return total, distinct, *(num_groups or [1])


def estimate_distinct_share(bound_input: BoundInput, group: Sequence[str]) -> float:
    """Estimate the share of distinct scores of groups in an input, from hashes of all its rows."""
    rows, scores, _ = _select_scores(bound_input, group)
    ((distinct, total),) = bound_input.database.query_rows(
        exp.select(exp.ApproxDistinct(this=scores), count_rows()).from_(rows.subquery("all_rows"))
    )
    return float(distinct / total)


def _select_scores(
    bound_input: BoundInput, group: Sequence[str]
) -> tuple[exp.Select, exp.Expr, list[exp.Expr]]:
    """Return the query of scores and groups, and its expressions of a score of a group, and of a
    group if there are several.
    """
    keys, score = [quoted_column(name) for name in group], exp.column("score")
    rows = bound_input.select_columns(
        ("score", *(name for name in group if name not in bound_input.group_names))
    )
    # DuckDB 2.0 crashes on DISTINCT rows that hold fixed-size arrays, so nested values are compared
    # as text.
    compared = [
        exp.cast(column, "TEXT") if "[" in bound_input.column_type(name) else column
        for name, column in zip(group, keys, strict=True)
    ]
    query = exp.select(score, *keys).from_(rows.subquery("all_rows"))
    if not keys:
        return query, score.copy(), []
    return query, exp.func("ROW", score.copy(), *compared), [exp.func("ROW", *compared)]


MAX_DISTINCT_SHARE_TO_GROUP = 0.15
"""Largest share of distinct scores at which they are grouped, not sorted."""

MAX_DISTINCT_SHARE_TO_GROUP_FOR_INFLUENCE = 0.9
"""Like ``MAX_DISTINCT_SHARE_TO_GROUP``, for requests with the influence of rows, or a bootstrap.

Each row joins the influence of its threshold. Where every distinct score is a threshold, no window
has to find that of a row. A bootstrap does not need that window for each of its replicates either.
"""

MAX_SAMPLED_SHARE_TO_ESTIMATE = 0.95
"""Largest share of distinct scores in a sample at which that of all rows is estimated.

Of 200,000 different scores of two million rows, a sample has 79 % distinct ones, and all rows 10 %.
"""

MIN_DISTINCT_SHARE_TO_SORT_AS_INTEGERS = 0.999
"""Smallest share of distinct sampled scores at which ``integer_sort`` is chosen.

It has to sort tied scores a second time.
"""

MAX_GROUPS_TO_SORT_AS_INTEGERS = 5_000
"""Largest number of groups, in the first ``SAMPLE_ROWS`` rows, at which scores are sorted as
integers.

Every row looks up the number of its group.
"""

MIN_WEIGHT, MAX_TOTAL_WEIGHT = 1e-10, 1e13
"""Smallest positive weight, and largest sum of weights, that ``integer_sort`` represents exactly.

It adds weights up as integer multiples of 2^-80.
"""

MAX_ROWS_PER_WORKER = 50_000_000
"""Rows of one group that a single worker of a distributed engine can sort."""


def choose_score_order(
    request: ResolvedRequest, inputs: BoundInputs, requested: str, weighted: bool
) -> str:
    """Choose the value of ``score_order``: the requested one, or the best for engine and data.

    ``window`` sorts the predictions of each group once, ``rank`` does so where all weigh 1,
    ``integer_sort`` sorts integers made of group, score and label, ``distinct`` groups equal scores
    before it sorts them, and ``buckets`` sorts each of many ranges of scores on its own.

    Raises:
        MetricError: The requested order does not support the intervals, units or weights of the
            request.
    """
    database = inputs.database
    _check_score_order(request, inputs, requested, weighted)
    reads_influence = inputs.has_units and any(
        metric.file.interval.influence for metric in request.metrics
    )
    sort_plan = "window" if weighted or reads_influence else "rank"
    if requested != "auto":
        return sort_plan if requested == "window" else requested
    if get_dialect(database.dialect).is_distributed:
        # equal scores are aggregated before a group moves to its worker, except where intervals
        # make several rows of each score
        in_groups = "distinct" if request.confidence is None else "window"
        chosen = in_groups if _has_small_groups(request, inputs) else "buckets"
        return sort_plan if chosen == "window" else chosen
    resamples = request.confidence is not None and request.confidence.resamples_rows
    if (
        not database.can_inspect
        or inputs.base is None
        or (_is_small(inputs.base) and not resamples)
    ):
        return sort_plan
    supports_integers = request.library.is_plan_supported(
        "score_order", "integer_sort", database.dialect
    )
    keys = _list_group_columns(request, inputs) if supports_integers else []
    total, distinct, groups = sample_distinct_counts(inputs.base, keys)
    most_distinct = (
        MAX_DISTINCT_SHARE_TO_GROUP_FOR_INFLUENCE
        if reads_influence or resamples
        else MAX_DISTINCT_SHARE_TO_GROUP
    )
    may_repeat = total == SAMPLE_ROWS and distinct < MAX_SAMPLED_SHARE_TO_ESTIMATE * total
    if distinct < most_distinct * total or (
        supports_integers
        and may_repeat
        and estimate_distinct_share(inputs.base, keys) < most_distinct
    ):
        return "distinct"
    is_untied = (
        supports_integers
        and total == SAMPLE_ROWS
        and distinct >= MIN_DISTINCT_SHARE_TO_SORT_AS_INTEGERS * total
        and groups <= MAX_GROUPS_TO_SORT_AS_INTEGERS
    )
    allows_integers = not weighted or request.confidence is None
    if not is_untied or not allows_integers or reads_influence:
        return sort_plan
    return "integer_sort" if not weighted or _has_exact_weights(inputs) else sort_plan


def _check_score_order(
    request: ResolvedRequest, inputs: BoundInputs, requested: str, weighted: bool
) -> None:
    """Check that a requested order of scores is for weights and intervals of a request."""
    allows_integer_sort = not weighted or request.confidence is None
    if weighted and (
        requested == "rank" or (requested == "integer_sort" and not allows_integer_sort)
    ):
        restriction = " where there are intervals" * (requested == "integer_sort")
        raise MetricError(
            f"score_order={requested!r} is for predictions that all weigh 1{restriction}. Choose"
            " window, buckets or distinct"
        )
    if (
        requested == "integer_sort"
        and weighted
        and inputs.database.can_inspect
        and _has_exact_weights(inputs) is False
    ):
        requirement = (
            f"weights of 0, or of {MIN_WEIGHT:g} and more, and {MAX_TOTAL_WEIGHT:g} in all"
        )
        raise MetricError(
            f"score_order='integer_sort' is for {requirement}. Choose window or distinct, or divide"
            " the weights by a number"
        )


def _is_small(bound_input: BoundInput) -> bool:
    return (
        bound_input.table.num_rows is not None and bound_input.table.num_rows < MIN_ROWS_TO_OPTIMIZE
    )


def _has_exact_weights(inputs: BoundInputs) -> bool | None:
    """Return True if ``integer_sort`` represents the weights exactly, None if one is NULL or
    negative, or none is positive.
    """
    if inputs.base is None:
        return None
    weight, is_positive = exp.column("weight"), exp.column("weight") > 0
    has_no_nulls = exp.EQ(this=count_rows(), expression=exp.Count(this=weight.copy()))
    smallest_positive = exp.Min(this=exp.Case().when(is_positive, weight.copy()))
    statistics = exp.select(
        has_no_nulls,
        exp.Min(this=weight.copy()),
        smallest_positive,
        exp.Sum(this=exp.cast(weight.copy(), "double")),
    )
    ((is_complete, lowest, least_above, total),) = inputs.database.query_rows(
        select_over_input(statistics, inputs.base, ("weight",))
    )
    if not is_complete or lowest is None or lowest < 0 or least_above is None:
        return None
    return bool(least_above >= MIN_WEIGHT and total <= MAX_TOTAL_WEIGHT)


def _has_small_groups(request: ResolvedRequest, inputs: BoundInputs) -> bool:
    """Return True if the request has groups and one worker can sort each of them.

    Databases that cannot be inspected are assumed to have small groups.
    """
    is_partitioned = bool(inputs.group_names) and all(request.grouping_sets or [inputs.group_names])
    if not is_partitioned or not inputs.database.can_inspect or inputs.base is None:
        return is_partitioned
    by = [quoted_column(name) for name in inputs.base.group_names]
    sizes = select_over_input(
        exp.select(count_rows().as_("size")).group_by(*by), inputs.base, ("label",)
    )
    ((most,),) = inputs.database.query_rows(exp.select("MAX(size)").from_(sizes.subquery("sizes")))
    return bool((most or 0) <= MAX_ROWS_PER_WORKER)


def _list_group_columns(request: ResolvedRequest, inputs: BoundInputs) -> list[str]:
    """Return the prediction columns that identify a group."""
    needed = inputs.needed_columns.get(request.base_role or "", ())
    return [
        *(inputs.base.group_names if inputs.base is not None else ()),
        *(["query_id"] if "query_id" in needed else []),
    ]


MAX_MEAN_JUDGMENTS_TO_COUNT = 3
"""Largest mean number of judged documents per query for counting ranks.

Up to it, counting beats sorting at any list length.
"""

MAX_JUDGMENTS_TO_COUNT = 10
"""Largest number of judged documents of any query at which ``count`` is chosen.

Up to this number, counting is not much slower than sorting even if those queries have the longest
lists.
"""

MIN_RUN_TO_JUDGMENTS_RATIO = 8
"""Smallest ratio of run rows to judgments for which the judgments of each query are counted, to
choose ``count`` or ``sort``.
"""

MIN_LIST_LENGTH_RATIO = 4
"""Ratio of list length to the largest cut-off from which ``top_k`` is chosen.

Truncated lists are faster from a ratio of two.
"""

MAX_MEAN_JUDGMENTS_TO_LOOK_UP = 50
"""Largest mean number of judged documents per list for looking each of them up in the list.

Above it, comparing each with the documents of its list takes longer than sorting these.
"""

STATE_BYTES = 256
"""Memory overhead in bytes of a list while its greatest scores are found."""

MEMORY_DIVISOR = 4
"""Divisor of the memory limit, whose quotient is available for the greatest scores of lists.

These cannot spill to disk.
"""

TRUNCATED_RELATION = "retrieved_documents"
"""Relation that the plan ``rank_method=top_k`` truncates to the top k documents of each list."""

MAX_REQUIRED_DEPTH = 100_000
"""Largest number of documents per list to which lists are truncated."""


def required_depth(library: Registry, metric: ResolvedMetric) -> int | None:
    """Return the number of top documents per list that determine a metric.

    It follows from the cut-off, and from the lines ``-- Depth:`` of the files. A file of the user
    without that line may read any document.

    Returns:
        0 if the metric reads no ranked documents, and None if it depends on whole lists, or on a
        cut-off that stays a parameter.
    """
    dependencies = metric.dependencies
    settings: Mapping[str, Any] = metric.settings
    if TRUNCATED_RELATION not in dependencies.relations:
        return 0
    if not all(file.depth for file in library.user_files.intersection(dependencies.files)):
        return None
    limit = settings.get("depth", NO_CUTOFF) if "depth" in dependencies.settings else NO_CUTOFF
    cutoff = (
        int(metric.file.depth) if metric.file.depth.isdecimal() else settings.get("k", NO_CUTOFF)
    )
    depth = limit if any(file.depth == "all" for file in dependencies.files) else min(cutoff, limit)
    return (
        int(depth)
        if depth <= MAX_REQUIRED_DEPTH and not isinstance(depth, SymbolicNumber)
        else None
    )


def ranking_metrics(request: ResolvedRequest) -> list[ResolvedMetric]:
    """Return the metrics that evaluate ranked lists."""
    return [metric for metric in request.metrics if metric.input_role == "run"]


def max_depth(request: ResolvedRequest) -> int | None:
    """Return the number of top documents of each list that all ranking metrics read.

    Returns None if there are no ranking metrics or one of them reads whole lists.
    """
    depths = [required_depth(request.library, metric) for metric in ranking_metrics(request)]
    return (
        None
        if not depths or None in depths
        else max(depth for depth in depths if depth is not None)
    )


def choose_rank_method(
    request: ResolvedRequest, inputs: BoundInputs, row_counts: Mapping[str, int] | None
) -> str:
    """Choose the ranking method: ``array`` on Spark, on DuckDB ``list_position`` for lists, else
    the best for the table statistics.

    Inputs of DuckDB whose row count is not known from metadata are sorted.
    """
    database, by_role = inputs.database, inputs.by_role
    dialect = get_dialect(database.dialect)
    if dialect.recomputes_ctes and is_rank_method_allowed(request, "array"):
        return "array"
    if is_rank_method_allowed(request, "list_position") and _can_look_up(
        request, inputs, row_counts
    ):
        return "list_position"
    # Some ranking metrics read no judgments, and every one reads a run.
    has_row_counts = "run" in by_role and all(
        by_role[role].table.has_row_count for role in ("run", "qrels") if role in by_role
    )
    if (
        not dialect.plans_by_statistics
        or not database.can_inspect
        or not ranking_metrics(request)
        or not has_row_counts
    ):
        return "sort"
    possible = [value for value in ("top_k", "count") if is_rank_method_allowed(request, value)]
    if not possible:
        return "sort"
    rows = row_counts or _count_rows(inputs, by_role.keys() & {"run", "qrels"})
    if rows["run"] < MIN_ROWS_TO_OPTIMIZE:
        return "sort"
    if "top_k" in possible and _has_long_lists(request, inputs, rows["run"]):
        return "top_k"
    return (
        "count"
        if "count" in possible and "qrels" in by_role and _has_few_judgments(inputs, rows)
        else "sort"
    )


def _can_look_up(
    request: ResolvedRequest, inputs: BoundInputs, row_counts: Mapping[str, int] | None
) -> bool:
    """Return True if the run is made of lists of ids as they are read, and few documents of a list
    are judged.
    """
    library, database, by_role = request.library, inputs.database, inputs.by_role
    role = request.retrieval_role
    if role != library.plans["rank_method"]["values"]["list_position"][
        "requires_input"
    ] or not library.is_plan_supported("rank_method", "list_position", database.dialect):
        return False
    if not isinstance(by_role["run"].typed_expression("doc_id"), exp.Column):
        return False
    if "qrels" not in by_role or not database.can_inspect:
        return True
    rows = row_counts or _count_rows(inputs, ("qrels", role))
    return rows["qrels"] <= MAX_MEAN_JUDGMENTS_TO_LOOK_UP * rows[role]


def _count_rows(inputs: BoundInputs, roles: Iterable[str]) -> dict[str, int]:
    count = exp.select(count_rows())
    queries = {
        role: select_over_input(count.copy(), inputs.by_role[role], ("query_id",)) for role in roles
    }
    return {role: inputs.database.query_rows(query)[0][0] for role, query in queries.items()}


def is_rank_method_allowed(request: ResolvedRequest, value: str) -> bool:
    """Return True if a ranking method is valid under the policies of all ranking metrics."""
    valid_with = request.library.plans["rank_method"]["values"][value]["valid_with"]
    return all(
        metric.settings.get(policy, values[0]) in values
        for metric in ranking_metrics(request)
        for policy, values in valid_with.items()
    )


def _has_long_lists(request: ResolvedRequest, inputs: BoundInputs, rows: int) -> bool:
    """Return True if lists exceed the cut-offs and memory holds the top scores.

    Lists have to be several times as long as the largest cut-off. Runs that are deduplicated first
    are excluded, because that step reads them once.
    """
    if (
        request.deduplicates
        or not (depth := max_depth(request))
        or rows < MIN_LIST_LENGTH_RATIO * depth
    ):
        return False
    num_lists, memory, threads = _list_statistics(inputs)
    return (
        MIN_LIST_LENGTH_RATIO * depth * num_lists <= rows
        and MEMORY_DIVISOR * num_lists * threads * (8 * depth + STATE_BYTES)
        <= (parse_memory_size(memory) or 0)
    )


def _list_statistics(inputs: BoundInputs) -> tuple[int, str, int]:
    """Return the approximate number of lists, and the database's memory and thread limits."""
    run = inputs.by_role["run"]
    keys = [*(quoted_column(name) for name in run.group_names), exp.column("query_id")]
    lists = exp.ApproxDistinct(this=exp.func("ROW", *keys))
    limits = (
        exp.func("CURRENT_SETTING", sql_literal(name)) for name in ("memory_limit", "threads")
    )
    ((num_lists, memory, threads),) = inputs.database.query_rows(
        select_over_input(exp.select(lists, *limits), run, ("query_id",))
    )
    return num_lists, memory, threads


def _has_few_judgments(inputs: BoundInputs, rows: Mapping[str, int]) -> bool:
    """Return True if the run is long and each query has few judgments."""
    if not 0 < MIN_RUN_TO_JUDGMENTS_RATIO * rows["qrels"] <= rows["run"]:
        return False
    judgment_counts = select_over_input(
        exp.select("COUNT(*) AS judged").group_by("query_id"),
        inputs.by_role["qrels"],
        ("query_id",),
    )
    ((mean, most),) = inputs.database.query_rows(
        exp.select("AVG(judged)", "MAX(judged)").from_(judgment_counts.subquery("counted"))
    )
    return bool(mean <= MAX_MEAN_JUDGMENTS_TO_COUNT and most <= MAX_JUDGMENTS_TO_COUNT)


INTERNAL_PLANS = (
    "small_groups", "weight_below", "exact_weight", "bin_score", "selected_queries",
    "listed_queries", "list_groups", "list_measures", "sampled_by", "class_aggregation",
)  # fmt: skip
"""Names of the plans that follow from the input and cannot be chosen by users."""


def validate_plan(request: ResolvedRequest, dialect: str) -> None:
    """Validate the plans that the user chose, and that the engine has all metrics.

    Raises:
        MetricError: A metric is for other engines. A plan or value is unknown, unsupported by the
            engine, or not valid under the policies of a metric.
    """
    library = request.library
    _check_engines(request, dialect)
    for name, value in request.plan.items():
        check_choice("plan", name, [plan for plan in library.plans if plan not in INTERNAL_PLANS])
        values = library.plans[name]["values"]
        check_choice(name, value, values)
        if not library.is_plan_supported(name, value, dialect):
            supported = [
                candidate
                for candidate in values
                if library.is_plan_supported(name, candidate, dialect)
            ]
            alternatives = [
                candidate for candidate in supported if candidate not in {"auto", "rank"}
            ]
            engines = _list_labels(values[value]["engines"])
            raise MetricError(
                f"{name}={value!r} is for {engines}. Choose {join_words(alternatives, 'or')} for"
                f" {dialect}"
            )
        if (
            role := values[value].get("requires_input", request.retrieval_role)
        ) != request.retrieval_role:
            raise MetricError(
                f"{name}={value!r} is for {role}, and {request.retrieval_role} is given. Leave"
                " it out"
            )
        for metric in ranking_metrics(request):
            for policy, allowed in values[value].get("valid_with", {}).items():
                if metric.settings.get(policy, allowed[0]) not in allowed:
                    requirement = f"{policy}={allowed[0]!r}, not {metric.settings[policy]!r}"
                    raise MetricError(
                        f"{name}={value!r} is for {requirement}. Give"
                        f" {name}={next(iter(values))!r}, or leave it out"
                    )
            if value == "top_k" and required_depth(library, metric) is None:
                requirement = f"metrics of the first documents alone, not {metric.metric}"
                raise MetricError(
                    f"rank_method='top_k' is for {requirement}. Give rank_method='sort', or leave"
                    " it out"
                )


def _list_labels(engines: Iterable[str]) -> str:
    return join_words([get_dialect(engine).label for engine in engines], "or")


def _check_engines(request: ResolvedRequest, dialect: str) -> None:
    """Check that the engine has the relations of every metric."""
    for metric in request.metrics:
        if (engines := find_engines(metric.dependencies.files)) and dialect not in engines:
            raise MetricError(
                f"{metric.metric} is for {_list_labels(engines)}, not for"
                f" {get_dialect(dialect).label}. Evaluate it there, or choose another metric"
            )


def choose_plan(
    request: ResolvedRequest, inputs: BoundInputs, rows: Mapping[str, int] | None = None
) -> dict[str, ParameterValue]:
    """Choose the value of every plan of a request.

    Args:
        request: The resolved request, with the plans that the user chose.
        inputs: The bound inputs.
        rows: Row counts by role, where they are known already.
    """
    requested = {str(name): str(value) for name, value in request.plan.items()}
    weighted = request.base_role is not None and "weight" in inputs.needed_columns.get(
        request.base_role, ()
    )
    weighted |= request.confidence is not None and request.confidence.resamples_rows
    plans = _list_implied_plans(request, inputs, weighted) | {
        name: value for name, value in requested.items() if name != "score_order"
    }
    if "rank_method" not in plans:
        plans["rank_method"] = choose_rank_method(request, inputs, rows)
    if plans["rank_method"] in {"top_k", "list_position"}:
        depth = max_depth(request)
        plans["num_ranked"] = NO_CUTOFF if depth is None else max(depth, 1)
    is_one_group = not (
        inputs.group_columns
        or request.per_query
        or any(metric.settings.get("level") == "query" for metric in request.metrics)
    )
    plans["small_groups"] = "counted" if is_one_group else "self_join"
    if any("score_order" in metric.dependencies.settings for metric in request.metrics):
        plans["score_order"] = choose_score_order(
            request, inputs, requested.get("score_order", "auto"), weighted
        )
    # The influence of a prediction is joined by its score, or by the threshold that a sort assigns
    # to it.
    if (
        inputs.rows_are_units
        and "score_order" in plans
        and inputs.base is not None
        and not inputs.base.not_null
    ):
        plans["sampled_by"] = (
            "score" if plans["score_order"] in {"distinct", "buckets"} else "threshold"
        )
    elif plans["sampled_by"] == "prediction" and weighted and _adjusts_intervals(request):
        plans["sampled_by"] = "class" if plans["score_order"] == "distinct" else "unit"
    return plans


def _list_implied_plans(
    request: ResolvedRequest, inputs: BoundInputs, weighted: bool
) -> dict[str, ParameterValue]:
    """Return the plans that follow from the engine, the inputs and the weights alone."""
    database, library = inputs.database, request.library
    dialect = get_dialect(database.dialect)
    return {
        "list_key": "integer" if dialect.prefers_integer_keys else "input",
        "pair_counting": (
            "window_ranks"
            if library.is_plan_supported("pair_counting", "window_ranks", database.dialect)
            else "bits"
        ),
        "bucket_aggregation": "before_bucketing" if dialect.recomputes_ctes else "after_bucketing",
        "class_aggregation": (
            "by_class"
            if library.is_plan_supported("class_aggregation", "by_class", database.dialect)
            else "by_score"
        ),
        "weight_below": "by_sum" if weighted else "by_difference",
        "exact_weight": "weights" if weighted else "rows",
        "bin_score": "rounded" if inputs.score_types == {"FLOAT"} else "given",
        "selected_queries": (
            "in_queries_table"
            if "queries" in inputs.by_role and not request.lists_from_queries
            else "all"
        ),
        "list_groups": (
            "from_queries_table"
            if any(column.is_query_attribute for column in inputs.group_columns)
            else "from_lists"
        ),
        "sampled_by": "unit" if inputs.has_units else "prediction",
    }


def _adjusts_intervals(request: ResolvedRequest) -> bool:
    """Return True if an interval depends on fourth powers of influence: of predictions of unequal
    weights, a set of equal score and label does not know them.
    """
    confidence = request.confidence
    return (
        confidence is not None
        and confidence.method == "auto"
        and any(
            metric.file.interval.influence.endswith(" FROM prediction_influence")
            and not confidence.needs_class_sizes(
                confidence.method_for(metric, is_group_metric=True)
            )
            for metric in request.metrics
        )
    )


def plan_summary(request: ResolvedRequest, plans: Mapping[str, Any]) -> str:
    """Return the plans in use that have an alternative or were requested, and the alternatives;
    empty if there are none.
    """
    library = request.library
    read_settings = set().union(*(metric.dependencies.settings for metric in request.metrics))
    read_settings -= (
        {"bucket_aggregation", "weight_below"} if plans.get("score_order") != "buckets" else set()
    )
    relations = set().union(*(metric.dependencies.relations for metric in request.metrics))
    used = {
        name: plans[name]
        for name in library.plans
        if name in read_settings
        and name in plans
        and name not in INTERNAL_PLANS
        and _affects_files(library, name, str(plans[name]), relations)
    }
    hints = [
        hint
        for name, value in used.items()
        if (hint := _alternative_hint(library, name, str(value)))
    ]
    chosen = ", ".join(
        f"{name}={value}"
        for name, value in used.items()
        if name in request.plan or _alternative_hint(library, name, str(value))
    )
    return f"{chosen}; alternative: {'; '.join(hints)}" if hints else chosen


def _affects_files(library: Registry, name: str, value: str, relations: set[str]) -> bool:
    """Return True if another value of a plan would read other files of these relations.

    Values for other engines than the chosen one are ignored.
    """
    values = library.plans[name]["values"]
    files = [
        {*entry.get("files", {}).items()}
        for candidate, entry in values.items()
        if "engines" not in entry or candidate == value
    ]
    if len(files) < 2:  # noqa: PLR2004
        return True
    return any(name in relations for name, _ in set.union(*files) - set.intersection(*files))


def _alternative_hint(library: Registry, name: str, value: str) -> str:
    """Return the hint about the alternative to a plan's value, if any."""
    hint = str(
        {**library.plans[name], **library.plans[name]["values"].get(value, {})}.get(
            "alternative", ""
        )
    )
    return "" if hint.startswith(f"{name}={value}") else hint
