"""Choose the audit columns of a statement that count the units which policies leave out or fill."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import RANKING_ROLES, ResolvedRequest
from sqlrank.compiler.row_keys import LIST_ID
from sqlrank.registry.metric import COLUMN_PARAMETER
from sqlrank.registry.metric_info import load_small_samples
from sqlrank.registry.metric_resolver import (
    find_effective_policies,
    resolve_metrics,
)
from sqlrank.registry.query_templates import RowCheck, share_select
from sqlrank.registry.resolved_metric import LABEL_RANGES
from sqlrank.registry.sql_folder import sql_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlrank.inputs.bound_input import BoundInputs
    from sqlrank.registry.metric_info import SmallSample
    from sqlrank.registry.resolved_metric import ResolvedMetric


AUDIT_ALL_ROWS, AUDIT_HIT_LISTS = "audit_rows", "audit_hit_lists"
"""Audit columns: numbers of all rows, and of lists with a document of positive relevance."""


UNITS = "units"
"""The size of samples that each interval has in its result."""

UNANSWERED, TOTALS = (
    "num_unanswered",
    {
        "num_unanswered": "num_q",
        "num_unjudged": "num_ret",
        "num_unplaced": "num_records",
        "num_unlabelled": "num_records",
    },
)
"""Count of the lists without documents, and for such counts those of all units."""


AUDIT_LISTS, AUDIT_ANSWERED = "audit_list", "audit_answered"
"""Audit columns with the number of lists, and of those with documents."""


def count_rows_left_out(request: ResolvedRequest) -> list[exp.Expr]:
    """Return audit columns that count the rows of the evaluated input that policies leave out or
    fill.
    """
    files = [
        request.library.validate_file(request.library.metrics[name])
        for name in request.left_out_counts
    ]
    return [
        file.tree.selects[-1].unalias().as_(f"audit_{file.display_name}")
        for file in files
        if file.source_relation == request.base_role
    ]


def load_answered_lists(request: ResolvedRequest, rank_method: str) -> dict[str, exp.Select]:
    """Return the audit column that counts lists with documents, if evaluated queries may have none.

    It reads the documents where the statement has them at hand: beside ranks that are sorted, it
    takes no more time or memory, and elsewhere that of a join with the run. A list of unjudged
    documents alone is no empty one: where these are removed, the metric counts.
    """
    is_complete = not request.any_metric_with("unjudged", "drop")
    if not is_complete or UNANSWERED not in request.left_out_counts or not _has_list_rows(request):
        return {}
    has_ranks = any(
        "ranked_documents" in metric.dependencies.relations for metric in request.metrics
    )
    relations = {"list_position": "list_lengths"}
    if has_ranks and not request.any_metric_with("ranks", "given"):  # which may begin after 1
        relations |= {"sort": "answered_lists", "top_k": "answered_lists"}
    name = relations.get(rank_method, "retrieved_documents")
    columns: Sequence[exp.Expr] = share_select("inputs/notes", "answered_lists.sql").selects
    if name == "answered_lists":  # which has a row per list, and the column
        columns = [*map(exp.column, (LIST_ID, AUDIT_ANSWERED))]
    return {name: exp.select(*columns, copy=False).from_(exp.table_(name), copy=False)}


def _has_list_rows(request: ResolvedRequest) -> bool:
    """Return True if a statement has a row for each list that a policy leaves out or fills.

    Curves have points instead, metrics over all lists alone groups, and the queries that
    ``judged_and_retrieved`` leaves out are no lists: a statement of their own counts them.
    """
    return (
        request.metrics[0].file.kind != "curves"
        and any(metric.file.grain == "list" for metric in request.metrics)
        and request.shared_policies.get("queries") != "judged_and_retrieved"
    )


def list_counts(inputs: BoundInputs, audits: Iterable[exp.Select]) -> list[ResolvedMetric]:
    """Return the metrics that count what policies leave out or fill, and those that count all, for
    audit columns beside those of trees.
    """
    request = inputs.request
    if request.metrics[0].file.kind == "curves":
        return []
    columns = {name for tree in audits for name in tree.named_selects}
    counts: dict[str, ResolvedMetric] = {}
    for name in request.left_out_counts:
        is_counted = f"audit_{name}" in columns or (
            name == UNANSWERED and (AUDIT_ANSWERED in columns or not _has_list_rows(request))
        )
        if not is_counted and (count := count_request(inputs, name)) is not None:
            counts |= {metric.file.display_name: metric for metric in count.metrics}
    return [*counts.values()]


def load_notes(request: ResolvedRequest) -> dict[str, exp.Select]:
    """Return the audit columns of ``sql/inputs/notes/`` over the relations that metrics read, by
    relation.
    """
    noted = {name for metric in request.metrics for name in _noted_relations(metric, request)}
    names = sorted(
        name for name in noted if not (name == "label_ranks" and "scored_labels" in noted)
    )
    notes = {}
    for name in names:
        query, checks = _read_notes(name)
        columns = [
            check.column
            for check in checks
            if not check.meaning or find_noted_metrics(check, name, request)
        ]
        if len(columns) > 2:  # noqa: PLR2004  a key, a total and counts
            notes[name] = query.select(*columns, append=False)
    return notes


@cache
def _read_notes(relation: str) -> tuple[exp.Select, list[RowCheck]]:
    """Return the query of a file of ``sql/inputs/notes/``, which is copied where it is changed, and
    its columns.
    """
    query = share_select("inputs/notes", f"{relation}.sql")
    return query, [*map(RowCheck, query.selects)]


def _noted_relations(metric: ResolvedMetric, request: ResolvedRequest) -> set[str]:
    """Return the relations whose rows ``sql/inputs/notes/`` counts for a metric: those that it
    reads, and that of queries in which nothing differs.
    """
    relations = {metric.input_role, *metric.dependencies.relations} & _list_noted_relations()
    return (
        relations | {LABEL_RANGES}
        if metric.compares_within_queries and not request.per_query
        else relations - {LABEL_RANGES}
    )


@cache
def _list_noted_relations() -> frozenset[str]:
    return frozenset(path.stem for path in (sql_root() / "inputs" / "notes").glob("*.sql"))


def load_sample_sizes(inputs: BoundInputs) -> dict[str, exp.Select]:
    """Return the audit columns with the sizes of samples other than units, by size, of which
    intervals of metrics may be too small.
    """
    return {
        f"size: {sample.size}": load_sample_size(inputs, sample)
        for _, sample in list_small_samples(inputs)
        if sample.size != UNITS
    }


def load_sample_size(inputs: BoundInputs, sample: SmallSample) -> exp.Select:
    """Return the audit columns with the size of a sample; sizes of predictions are those of any
    evaluated rows.
    """
    query = share_select("inputs/notes/sizes", f"{sample.size}.sql")
    table = query.args["from_"].this
    return query.from_(str(inputs.request.base_role)) if table.name == "predictions" else query


def list_small_samples(inputs: BoundInputs) -> Iterator[tuple[ResolvedMetric, SmallSample]]:
    """Yield the metrics of a request with the samples that are too small for their intervals."""
    request, options = inputs.request, inputs.request.confidence
    if options is None or options.per_unit or request.across:
        return
    has_unit = options.unit is not None and not inputs.rows_are_units
    is_weighted = inputs.base is not None and inputs.base.columns.get("weight", "1") != "1"
    for sample in load_small_samples("intervals"):
        for metric in request.metrics:
            is_method = sample.interval == ("bootstrap" if options.is_bootstrap else options.method)
            if (
                metric.file.display_name in sample.metrics
                and is_method
                and sample.with_unit in {None, has_unit}
                and sample.weighted in {None, is_weighted}
            ):
                yield metric, sample


def find_noted_metrics(
    check: RowCheck, relation: str, request: ResolvedRequest
) -> list[ResolvedMetric]:
    """Return the metrics that a count of ``sql/inputs/notes/`` concerns: they read the relation or
    input, and are the one that the count names, if any.
    """
    return [
        metric
        for metric in request.metrics
        if check.requirement in {"", metric.file.display_name}
        if relation in _noted_relations(metric, request)
        and metric.settings.get("average") != "micro"
    ]


def find_measures(request: ResolvedRequest) -> dict[str, list[ResolvedMetric]]:
    """Return the metrics of all rows that measure a column whose NULL is left out, by the metric
    that counts these.
    """
    measures: dict[str, list[ResolvedMetric]] = {}
    for metric in request.metrics if request.drops_nulls else ():
        measured = metric.measured_column
        if measured is not None and not measured.counts_missing and metric.input_role != "run":
            column = dict(metric.metric.params)[COLUMN_PARAMETER]
            measures.setdefault(f"Missing({column})", []).append(metric)
    return measures


def count_request(
    inputs: BoundInputs, name: str, total: str | None = None
) -> ResolvedRequest | None:
    """Return a request for the metric ``name``, and one that counts all, over the groups of another
    request; None if that has no input for it.
    """
    request = inputs.request
    names = [*filter(None, (name, total or TOTALS.get(name)))]
    roles = {
        *request.sources,
        *request.assembled_roles,
        *(RANKING_ROLES if request.rankings_from_predictions else ()),
    }
    policies: dict[str, Any] = dict(request.shared_policies)
    if name == UNANSWERED and policies.get("queries") == "judged_and_retrieved":
        policies["queries"] = "judged"
    policies |= {"nulls": "drop"} if request.drops_nulls else {}
    policies |= {"missing_truth": "singleton", "missing_prediction": "singleton"}  # of all records
    effective = find_effective_policies(names, request.library, None, policies, roles)
    metrics = resolve_metrics(
        names, request.library, None, {name: policies[name] for name in effective}, roles
    )
    if not {
        role for metric in metrics for role in metric.dependencies.roles
    } <= inputs.needed_columns.keys() | {request.base_role}:
        return None
    role = metrics[0].input_role
    # A count reads the column that the metrics rank by, so that it needs no other.
    order = next(
        (
            {"ties": metric.settings["ties"]}
            for metric in request.metrics
            if metric.settings.get("ties") == "rank"
        ),
        {},
    )
    metrics = [replace(metric, settings={**metric.settings, **order}) for metric in metrics]
    return replace(
        request,
        metrics=metrics,
        base_role=None if role == "run" else role,
        per_query=False,
        per_unit=False,
        confidence=None,
        needs_units=False,
        include_query_weights=False,
        requested_names=False,
        across=(),
        differences={},
        rolled_up=(),
        plan={},
    )
