"""Choose the method that ranks judged documents (the plan ``rank_method``), from the depth that metrics read and table statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.resource_limits import parse_memory_size
from sqlrank.inputs.row_checks import select_over_input
from sqlrank.registry.metric import SymbolicNumber
from sqlrank.registry.sql_file import NO_CUTOFF
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.resolve import ResolvedRequest

MAX_MEAN_JUDGMENTS_TO_COUNT = 3
"""Largest mean number of judged documents per query for counting ranks.

Up to it, counting beats sorting at any list length.
"""

MAX_JUDGMENTS_TO_COUNT = 10
"""Largest number of judged documents of any query at which ``count`` is chosen.

Up to this number, counting is not much slower than sorting even if those queries have the longest lists.
"""

MIN_RUN_TO_JUDGMENTS_RATIO = 8
"""Smallest ratio of run rows to judgments for which the judgments of each query are counted, to choose ``count`` or ``sort``."""

MIN_LIST_LENGTH_RATIO = 4
"""Ratio of list length to the largest cut-off from which ``top_k`` is chosen.

Truncated lists are faster from a ratio of two.
"""

MAX_MEAN_JUDGMENTS_TO_LOOK_UP = 50
"""Largest mean number of judged documents per list for looking each of them up in the list.

Above it, comparing each with the documents of its list takes longer than sorting these.
"""

MIN_ROWS_TO_OPTIMIZE = 1_000
"""Number of run rows below which choosing a strategy costs more than sorting."""

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

    It follows from the cut-off, and from the lines ``-- Depth:`` of the files. A file of the user without that line may read any document.

    Returns:
        0 if the metric reads no ranked documents, and None if it depends on whole lists, or on a cut-off that stays a parameter.
    """
    dependencies = metric.dependencies
    settings: Mapping[str, Any] = metric.settings
    if TRUNCATED_RELATION not in dependencies.relations:
        return 0
    if not all(file.depth for file in library.user_files.intersection(dependencies.files)):
        return None
    limit = settings.get("depth", NO_CUTOFF) if "depth" in dependencies.settings else NO_CUTOFF
    cutoff = int(metric.file.depth) if metric.file.depth.isdecimal() else settings.get("k", NO_CUTOFF)
    depth = limit if any(file.depth == "all" for file in dependencies.files) else min(cutoff, limit)
    return int(depth) if depth <= MAX_REQUIRED_DEPTH and not isinstance(depth, SymbolicNumber) else None


def ranking_metrics(request: ResolvedRequest) -> list[ResolvedMetric]:
    """Return the metrics that evaluate ranked lists."""
    return [metric for metric in request.metrics if metric.input_role == "run"]


def max_depth(request: ResolvedRequest) -> int | None:
    """Return the number of top documents of each list that all ranking metrics read.

    Returns None if there are no ranking metrics or one of them reads whole lists.
    """
    depths = [required_depth(request.library, metric) for metric in ranking_metrics(request)]
    return None if not depths or None in depths else max(depth for depth in depths if depth is not None)


def choose_rank_method(request: ResolvedRequest, inputs: BoundInputs, row_counts: Mapping[str, int] | None) -> str:
    """Choose the ranking method: ``array`` on Spark, on DuckDB ``list_position`` for lists, else the best for the table statistics.

    Inputs of DuckDB whose row count is not known from metadata are sorted.
    """
    database, by_role = inputs.database, inputs.by_role
    dialect = get_dialect(database.dialect)
    if dialect.recomputes_ctes and is_rank_method_allowed(request, "array"):
        return "array"
    if is_rank_method_allowed(request, "list_position") and _can_look_up(request, inputs, row_counts):
        return "list_position"
    # Some ranking metrics read no judgments, and every one reads a run.
    has_row_counts = "run" in by_role and all(by_role[role].table.has_row_count for role in ("run", "qrels") if role in by_role)
    if not dialect.plans_by_statistics or not database.can_inspect or not ranking_metrics(request) or not has_row_counts:
        return "sort"
    possible = [value for value in ("top_k", "count") if is_rank_method_allowed(request, value)]
    if not possible:
        return "sort"
    rows = row_counts or _count_rows(inputs, by_role.keys() & {"run", "qrels"})
    if "top_k" in possible and _has_long_lists(request, inputs, rows["run"]):
        return "top_k"
    return "count" if "count" in possible and "qrels" in by_role and _has_few_judgments(inputs, rows) else "sort"


def _can_look_up(request: ResolvedRequest, inputs: BoundInputs, row_counts: Mapping[str, int] | None) -> bool:
    """Return True if the run is made of lists of ids as they are read, and few documents of a list are judged."""
    library, database, by_role = request.library, inputs.database, inputs.by_role
    role = request.retrieval_role
    if role != library.plans["rank_method"]["values"]["list_position"]["requires_input"] or not library.is_plan_supported(
        "rank_method", "list_position", database.dialect
    ):
        return False
    if not isinstance(by_role["run"].typed_expression("doc_id"), exp.Column):
        return False
    if "qrels" not in by_role or not database.can_inspect:
        return True
    rows = row_counts or _count_rows(inputs, ("qrels", role))
    return rows["qrels"] <= MAX_MEAN_JUDGMENTS_TO_LOOK_UP * rows[role]


def _count_rows(inputs: BoundInputs, roles: Iterable[str]) -> dict[str, int]:
    """Count the rows of inputs."""
    count = exp.select(exp.Count(this=exp.Star()))
    queries = {role: select_over_input(count.copy(), inputs.by_role[role], ("query_id",)) for role in roles}
    return {role: inputs.database.query_rows(query)[0][0] for role, query in queries.items()}


def is_rank_method_allowed(request: ResolvedRequest, value: str) -> bool:
    """Return True if a ranking method is valid under the policies of all ranking metrics."""
    valid_with = request.library.plans["rank_method"]["values"][value]["valid_with"]
    return all(
        metric.settings.get(policy, values[0]) in values for metric in ranking_metrics(request) for policy, values in valid_with.items()
    )


def _has_long_lists(request: ResolvedRequest, inputs: BoundInputs, rows: int) -> bool:
    """Return True if lists exceed the cut-offs and memory holds the top scores.

    Lists have to be several times as long as the largest cut-off. Runs that are deduplicated first are excluded, because that step reads
    them once.
    """
    if request.deduplicates or rows < MIN_ROWS_TO_OPTIMIZE or not (depth := max_depth(request)) or rows < MIN_LIST_LENGTH_RATIO * depth:
        return False
    num_lists, memory, threads = _list_statistics(inputs)
    return MIN_LIST_LENGTH_RATIO * depth * num_lists <= rows and MEMORY_DIVISOR * num_lists * threads * (8 * depth + STATE_BYTES) <= (
        parse_memory_size(memory) or 0
    )


def _list_statistics(inputs: BoundInputs) -> tuple[int, str, int]:
    """Return the approximate number of lists, and the database's memory and thread limits."""
    run = inputs.by_role["run"]
    keys = [*(quoted_column(name) for name in run.group_names), exp.column("query_id")]
    lists = exp.ApproxDistinct(this=exp.func("ROW", *keys))
    limits = (exp.func("CURRENT_SETTING", exp.Literal.string(name)) for name in ("memory_limit", "threads"))
    ((num_lists, memory, threads),) = inputs.database.query_rows(select_over_input(exp.select(lists, *limits), run, ("query_id",)))
    return num_lists, memory, threads


def _has_few_judgments(inputs: BoundInputs, rows: Mapping[str, int]) -> bool:
    """Return True if the run is long and each query has few judgments."""
    if not 0 < MIN_RUN_TO_JUDGMENTS_RATIO * rows["qrels"] <= rows["run"]:
        return False
    judgment_counts = select_over_input(exp.select("COUNT(*) AS judged").group_by("query_id"), inputs.by_role["qrels"], ("query_id",))
    ((mean, most),) = inputs.database.query_rows(exp.select("AVG(judged)", "MAX(judged)").from_(judgment_counts.subquery("counted")))
    return bool(mean <= MAX_MEAN_JUDGMENTS_TO_COUNT and most <= MAX_JUDGMENTS_TO_COUNT)
