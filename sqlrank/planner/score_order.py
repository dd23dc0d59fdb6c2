"""Choose the method that orders predictions by score (the plan ``score_order``), from weights, groups and a sample of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.inputs.row_checks import select_over_input
from sqlrank.planner.score_sample import SAMPLE_ROWS, sample_distinct_counts
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.resolve import ResolvedRequest

MAX_DISTINCT_SHARE_TO_GROUP = 0.02
"""Largest share of distinct sampled scores at which they are grouped, not sorted."""

MAX_DISTINCT_SHARE_TO_GROUP_FOR_INFLUENCE = 0.9
"""Like ``MAX_DISTINCT_SHARE_TO_GROUP``, for requests with the influence of rows.

Each row joins the influence of its threshold. Where every distinct score is a threshold, no window has to find that of a row.
"""

MIN_DISTINCT_SHARE_TO_SORT_AS_INTEGERS = 0.999
"""Smallest share of distinct sampled scores at which ``integer_sort`` is chosen.

It has to sort tied scores a second time.
"""

MAX_GROUPS_TO_SORT_AS_INTEGERS = 5_000
"""Largest number of groups, in the first ``SAMPLE_ROWS`` rows, at which scores are sorted as integers.

Every row looks up the number of its group.
"""

MIN_WEIGHT, MAX_TOTAL_WEIGHT = 1e-10, 1e13
"""Smallest positive weight, and largest sum of weights, that ``integer_sort`` represents exactly.

It adds weights up as integer multiples of 2^-80.
"""

MAX_ROWS_PER_WORKER = 50_000_000
"""Rows of one group that a single worker of a distributed engine can sort."""


def choose_score_order(request: ResolvedRequest, inputs: BoundInputs, requested: str, weighted: bool) -> str:
    """Choose the value of ``score_order``: the requested one, or the best for engine and data.

    ``window`` sorts the predictions of each group once, ``rank`` does so where all weigh 1, ``integer_sort`` sorts integers made of group,
    score and label, ``distinct`` groups equal scores before it sorts them, and ``buckets`` sorts each of many ranges of scores on its own.

    Raises:
        MetricError: The requested order does not support the intervals, units or weights of the request.
    """
    database = inputs.database
    allows_integer_sort = not weighted or request.confidence is None
    if weighted and (requested == "rank" or (requested == "integer_sort" and not allows_integer_sort)):
        restriction = " where there are intervals" * (requested == "integer_sort")
        raise MetricError(f"score_order={requested!r} is for predictions that all weigh 1{restriction}. Choose window, buckets or distinct")
    if requested == "integer_sort" and weighted and database.can_inspect and _has_exact_weights(inputs) is False:
        requirement = f"weights of 0, or of {MIN_WEIGHT:g} and more, and {MAX_TOTAL_WEIGHT:g} in all"
        raise MetricError(f"score_order='integer_sort' is for {requirement}. Choose window or distinct, or divide the weights by a number")
    reads_influence = inputs.has_units and any(metric.file.interval.influence for metric in request.metrics)
    sort_plan = "window" if weighted or reads_influence else "rank"
    if requested == "auto" and get_dialect(database.dialect).is_distributed:
        # equal scores are aggregated before a group moves to its worker, except where intervals make several rows of each score
        in_groups = "distinct" if request.confidence is None else "window"
        requested = in_groups if _has_small_groups(request, inputs) else "buckets"
    elif requested == "auto" and database.can_inspect and inputs.base is not None:
        supports_integers = request.library.is_plan_supported("score_order", "integer_sort", database.dialect)
        total, distinct, groups = sample_distinct_counts(
            database, inputs.base, _list_group_columns(request, inputs) if supports_integers else []
        )
        if distinct < (MAX_DISTINCT_SHARE_TO_GROUP_FOR_INFLUENCE if reads_influence else MAX_DISTINCT_SHARE_TO_GROUP) * total:
            return "distinct"
        is_untied = (
            supports_integers
            and total == SAMPLE_ROWS
            and distinct >= MIN_DISTINCT_SHARE_TO_SORT_AS_INTEGERS * total
            and groups <= MAX_GROUPS_TO_SORT_AS_INTEGERS
        )
        if not is_untied or not allows_integer_sort or reads_influence:
            return sort_plan
        return "integer_sort" if not weighted or _has_exact_weights(inputs) else sort_plan
    return sort_plan if requested in {"auto", "window"} else requested


def _has_exact_weights(inputs: BoundInputs) -> bool | None:
    """Return True if ``integer_sort`` represents the weights exactly, None if one is NULL or negative, or none is positive."""
    if inputs.base is None:
        return None
    weight, is_positive = exp.column("weight"), exp.column("weight") > 0
    has_no_nulls = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Count(this=weight.copy()))
    smallest_positive = exp.Min(this=exp.Case().when(is_positive, weight.copy()))
    statistics = exp.select(has_no_nulls, exp.Min(this=weight.copy()), smallest_positive, exp.Sum(this=exp.cast(weight.copy(), "double")))
    ((is_complete, lowest, least_above, total),) = inputs.database.query_rows(select_over_input(statistics, inputs.base, ("weight",)))
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
    sizes = select_over_input(exp.select(exp.alias_(exp.Count(this=exp.Star()), "size")).group_by(*by), inputs.base, ("label",))
    ((most,),) = inputs.database.query_rows(exp.select("MAX(size)").from_(sizes.subquery("sizes")))
    return bool((most or 0) <= MAX_ROWS_PER_WORKER)


def _list_group_columns(request: ResolvedRequest, inputs: BoundInputs) -> list[str]:
    """Return the prediction columns that identify a group."""
    needed = inputs.needed_columns.get(request.base_role or "", ())
    return [*(inputs.base.group_names if inputs.base is not None else ()), *(["query_id"] if "query_id" in needed else [])]
