"""Count the units that a statement leaves out or fills by its policies, for the notes of its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import RANKING_ROLES, ResolvedRequest
from sqlrank.call.sources import leaf_sources
from sqlrank.compiler.aggregation_ctes import undefined_key
from sqlrank.errors import join_words, list_examples
from sqlrank.inputs.bound_input import column_text
from sqlrank.inputs.class_names import describe_letter_order
from sqlrank.inputs.column_mapping import role_mapping
from sqlrank.inputs.cross_input_checks import (
    MAX_ROWS_COMPARED,
    count_stale_gold,
    count_unmatched_ids,
    describe_classes,
    describe_own_forms,
    describe_similar_ids,
    list_similar_ids,
)
from sqlrank.inputs.missing_columns import (
    describe_equal_scores,
    describe_score_order,
    describe_tied_ranks,
)
from sqlrank.inputs.row_checks import (
    FULL_DUPLICATE_SEARCH_ROWS,
    ValidationReport,
    select_over_input,
    short_value,
)
from sqlrank.registry.metric_resolver import (
    load_compat_mode,
)
from sqlrank.registry.query_templates import RowCheck, load_select
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, find_references
from sqlrank.result_columns import CI_LOW, N_UNITS
from sqlrank.result_metadata import LeftOut, group_texts
from sqlrank.run.left_out_columns import (
    AUDIT_ALL_ROWS,
    AUDIT_ANSWERED,
    AUDIT_HIT_LISTS,
    AUDIT_LISTS,
    TOTALS,
    UNANSWERED,
    UNITS,
    count_request,
    find_measures,
    find_noted_metrics,
    list_small_samples,
    load_notes,
    load_sample_size,
)
from sqlrank.sql_ast import count_rows, quoted_column, sql_literal

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.compiler.statement import CompiledStatement
    from sqlrank.inputs.bound_input import BoundInputs
    from sqlrank.registry.metric_info import SmallSample
    from sqlrank.registry.resolved_metric import ResolvedMetric


MIN_STALE_GOLD = 10
"""Relevant documents from which on a note says that most of them are in no list: of fewer, chance
may decide.
"""

GOLD_IN_NO_CATALOG = (
    "relevant documents are not in the catalog, so that no list can find them. See GoldInCorpus"
)
GOLD_IN_NO_LIST = (
    "relevant documents are in no list of any query. If ids changed after judging, give those of"
    " the corpus as items, and ask for GoldInCorpus"
)
"""Notes on relevant documents that may be gone."""

NO_RESULTS = "have no results"
"""Words of the policies on queries without documents."""

WEIGHT = "weight"
"""Column by which rows count, in all inputs that have one."""

MAX_EXPONENT = 600
"""Grade that ``gain=exp2`` takes greater ones for, in ``sql/functions/options/gain/exp2.sql``."""

RATINGS = 4, 10
"""Greatest grades that ratings from 1 on have. Those of graded judgments are less."""

MAX_ROWS_LISTED = 1_000
"""Rows of a result from which counts are summed by Arrow."""

MAX_ROWS_SAMPLED = 20_000
"""First rows whose classes are compared where no statement counts classes."""

ZERO_DIVISIONS = {"zero": "counts as 0", "one": "counts as 1", "skip": "is left out"}
"""Treatment of a ratio of 0 / 0 of a class, by policy."""

FILLED_VALUES = {"zero": "0", "half": "0.5", "one": "1"}
"""Values that fill undefined ones, by policy."""

RowCounts = list[tuple["dict[str, str | None]", int, int]]
"""Number of units left out, and of all, for each group."""


@dataclass(frozen=True)
class _AuditedResult:
    """A result with audit columns, its inputs, and the outcome of the row checks of rankings."""

    inputs: BoundInputs
    table: pa.Table
    keys: Sequence[str]
    report: ValidationReport | None

    @property
    def request(self) -> ResolvedRequest:
        """The request."""
        return self.inputs.request

    @property
    def ranking_metrics(self) -> tuple[str, ...]:
        """The metrics of rankings, which notes on run and judgments concern."""
        return tuple(
            str(metric.metric) for metric in self.request.metrics if metric.input_role == "run"
        )

    def count_groups(self, name: str, total: str | None) -> RowCounts:
        """Return the sums of an audit column, and of that of all units, by group."""
        return _sum_by_group(self.table, self.keys, name, total, self.request.per_query)

    def count_all(self, name: str, total: str | None = None) -> tuple[int, int]:
        """Return the sums of all rows."""
        ((_, count, num_all),) = _sum_by_group(self.table, [], name, total, per_query=True)
        return count, num_all


def find_left_out(
    inputs: BoundInputs,
    statement: CompiledStatement,
    result: pa.Table,
    evaluate: Callable[[ResolvedRequest], pa.Table],
    report: ValidationReport | None,
) -> list[LeftOut]:
    """Return the units that policies left out of a result, or filled.

    Args:
        inputs: The inputs.
        statement: The statement.
        result: Its result with audit columns.
        evaluate: Returns the result of a request for counts that no audit column has, where these
            raise suspicion.
        report: Outcome of the row checks of rankings.
    """
    keys = [output.name for output in statement.outputs if output.kind in {"by", "slice"}]
    audited = _AuditedResult(inputs, result, keys, report)
    list_counts = _count_lists(audited)
    has_relevant = report is None or report.top_grade is None or bool(report.positive)
    counted = [
        *_find_undefined(audited, statement),
        *_find_counted(audited, evaluate),
        *_find_missing_measures(audited, evaluate),
        *_find_noted(audited),
    ]
    metrics = tuple(str(metric.metric) for metric in inputs.request.metrics)
    class_notes = [
        *_find_class_notes(audited),
        *(LeftOut(note, metrics) for note in list_similar_ids(inputs)),
    ]
    # Where nothing is relevant, a result says so once.
    entries = [
        entry for entry in counted if entry.count and (has_relevant or entry.count < entry.total)
    ]
    entries += [
        *_find_order_notes(audited, list_counts),
        *_find_grade_notes(audited),
        *_find_empty_queries(audited),
        *_find_uncovered_spans(audited),
    ]
    missing_hits = (
        [*_find_missing_hits(audited, report, entries, list_counts)]
        if report is not None and has_relevant
        else []
    )
    if list_counts and not any("in no judgment" in entry.note for entry in missing_hits):
        missing_hits += _find_unjudged_queries(audited, list_counts)
    entries += _find_unjudged_choice(audited)
    return [
        *entries,
        *class_notes,
        *missing_hits,
        *describe_weights(inputs),
        *_find_ignored_weights(inputs),
        *_find_small_samples(audited),
    ]


def _find_undefined(audited: _AuditedResult, statement: CompiledStatement) -> Iterator[LeftOut]:
    """Yield the lists for which metrics are undefined, those of equal counts in one note."""
    request = audited.request
    undefined: dict[str, tuple[list[ResolvedMetric], list[str], RowCounts]] = {}
    for name, metric in statement.undefined.items():
        groups = audited.count_groups(name, f"audit_{name.split('_')[2]}")
        if fill := _describe_fill(metric, request):
            metrics, reasons, _ = undefined.setdefault(f"{fill} {groups}", ([], [], groups))
            metrics += [
                other for other in request.metrics if undefined_key(other) == undefined_key(metric)
            ]
            # a user's file may not say when it is
            reasons += filter(None, [metric.file.annotations.get("Undefined")])
    for fill, (metrics, reasons, groups) in undefined.items():
        names = _column_names(metrics)
        undefined_if = f" (undefined: {'; '.join(dict.fromkeys(reasons))})" if reasons else ""
        note = f"queries {fill.partition(' [')[0]} {', '.join(names)}{undefined_if}"
        yield _summarize_counts(note, names, groups)


def _find_counted(
    audited: _AuditedResult, evaluate: Callable[[ResolvedRequest], pa.Table]
) -> Iterator[LeftOut]:
    """Yield the counts of audit columns, or else of a request for them."""
    columns = audited.table.column_names
    for name, (note, metrics) in audited.request.left_out_counts.items():
        names, total = _column_names(metrics), TOTALS.get(name)
        if f"audit_{name}" in columns:
            totals = (f"audit_{total}", AUDIT_ALL_ROWS) if total else ()
            total = next((column for column in totals if column in columns), None)
            yield _summarize_counts(note, names, audited.count_groups(f"audit_{name}", total))
        elif name == UNANSWERED and AUDIT_ANSWERED in columns:
            groups = audited.count_groups(AUDIT_ANSWERED, AUDIT_LISTS)
            unanswered = [(group, lists - answered, lists) for group, answered, lists in groups]
            yield _summarize_counts(note, names, unanswered)
        elif (name != UNANSWERED or _may_be_unanswered(audited)) and (
            counts := count_request(audited.inputs, name)
        ) is not None:
            counted = evaluate(counts)
            keys = [key for key in counted.column_names if key not in {name, total}]
            yield _summarize_counts(
                note, names, _sum_by_group(counted, keys, name, total, per_query=False)
            )


def _find_missing_measures(
    audited: _AuditedResult, evaluate: Callable[[ResolvedRequest], pa.Table]
) -> Iterator[LeftOut]:
    """Yield the rows without a value of a column that metrics of all rows measure."""
    for count, metrics in find_measures(audited.request).items():
        names = _column_names(metrics)
        if (request := count_request(audited.inputs, count, "num_predictions")) is not None:
            counted = evaluate(request)
            *keys, name, total = counted.column_names
            groups = _sum_by_group(counted, keys, name, total, per_query=False)
            yield _summarize_counts(f"rows are left out of {join_words(names)}", names, groups)


def describe_weights(inputs: BoundInputs) -> list[LeftOut]:
    """Return a note for each input whose rows count by a column of weights that the caller has not
    named.
    """
    request = inputs.request
    weighted = {
        role: bound_input.columns[WEIGHT]
        for role, bound_input in inputs.by_role.items()
        if WEIGHT in bound_input.columns
        and WEIGHT in inputs.needed_columns.get(role, ())
        and WEIGHT not in role_mapping(role, request.column_mapping)
        and not bound_input.assembled_from
    }
    notes = []
    for role, column in weighted.items():
        evaluated = {
            role,
            *(name for name, component in request.assembled_roles.items() if component == role),
        }
        names = [
            metric
            for metric in request.metrics
            if metric.input_role in evaluated and _reads_weight(metric)
        ]
        names += [
            metric for metric in request.metrics if role == "queries" and metric.input_role == "run"
        ]
        name = WEIGHT if len(weighted) == 1 else f"{role}.{WEIGHT}"
        note = (
            f"rows of {role} count by the column {column}. Give columns={{{name!r}: '1'}} to count"
            " all the same"
        )
        notes += [LeftOut(note, tuple(_column_names(names)))] if names else []
    return notes


def _find_ignored_weights(inputs: BoundInputs) -> Iterator[LeftOut]:
    """Yield a note on metrics without weights, such as medians, of rows that have them in this
    call; counts that describe the data have none.
    """
    for role in [role for role in inputs.by_role if role not in {*RANKING_ROLES, "queries"}]:
        column = inputs.by_role[role].columns.get(WEIGHT, "1")
        metrics = [metric for metric in inputs.request.metrics if metric.input_role == role]
        ignoring = [metric for metric in metrics if not _reads_weight(metric)]
        is_named = WEIGHT in role_mapping(role, inputs.request.column_mapping)
        measures = [
            metric
            for metric in ignoring
            if "describes" not in metric.file.annotations.get("Interval", "")
        ]
        if column != "1" and measures and (is_named or len(ignoring) < len(metrics)):
            names = _column_names(measures)
            note = f"rows of {role} count the same in {join_words(names)}, whatever their {column}"
            yield LeftOut(note, tuple(names))


def _reads_weight(metric: ResolvedMetric) -> bool:
    """Return True if a metric, or a relation that it reads, reads a weight."""
    files = (metric.file, *metric.dependencies.files)
    return any(WEIGHT in find_references(file).columns for file in files)


def _find_order_notes(
    audited: _AuditedResult, list_counts: Sequence[Sequence[Any]] | None
) -> Iterator[LeftOut]:
    """Yield a note on scores and ranks of a run that contradict each other, unless the caller says
    how ties are ordered.
    """
    request, run = audited.request, audited.inputs.by_role.get("run")
    if run is None or "score" not in audited.inputs.needed_columns.get("run", ()):
        return
    note = describe_score_order(run)
    default = request.library.allowed_values("ties")[0]
    ties = {
        str(metric.settings.get("ties", default))
        for metric in request.metrics
        if metric.input_role == "run" and "ties" not in dict(metric.metric.params)
    }
    is_chosen = "ties" in request.call.policies or len(ties) != 1
    if not note and not is_chosen and ties <= {"doc_desc", "doc_asc"}:
        score_type = str(request.shared_policies.get("score_type", "given"))
        order = next(iter(ties))
        equal, several = (
            sum(int(row[column] or 0) for row in list_counts or ()) for column in (-4, -3)
        )
        note = describe_tied_ranks(run, order, score_type) or describe_equal_scores(
            run, order, (equal, several) if list_counts else None
        )
    if note:
        yield LeftOut(note, audited.ranking_metrics)


def _find_small_samples(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield notes on intervals of samples that are too small, of the smallest sample of a metric
    and group; none for very many groups.
    """
    inputs, result = audited.inputs, audited.table
    if result.num_rows > MAX_ROWS_SAMPLED:
        return
    pairs = [*list_small_samples(inputs)]
    counts: dict[SmallSample, dict[str, set[int]]] = {}
    for metric in inputs.request.metrics:
        samples = [sample for other, sample in pairs if other is metric]
        for name in _column_names([metric]) if samples else ():
            columns_by_sample = {
                sample: (f"{name}.{N_UNITS}",)
                if sample.size == UNITS
                else load_sample_size(inputs, sample).named_selects[1:]
                for sample in samples
            }
            columns = {name, f"{name}.{CI_LOW}"}.union(*columns_by_sample.values())
            selected = result.select([*columns & {*result.column_names}])
            for index, row in enumerate(selected.to_pylist()):
                too_small = (
                    sample
                    for sample, sizes in columns_by_sample.items()
                    if sample.has_size([row.get(size) for size in sizes], row[name])
                )
                if row[f"{name}.{CI_LOW}"] is not None and (sample := next(too_small, None)):
                    counts.setdefault(sample, {}).setdefault(name, set()).add(index)
    for sample, groups_by_name in counts.items():
        names = tuple(groups_by_name)
        num_groups = len(set().union(*groups_by_name.values()))
        share = f" ({num_groups:,} of {result.num_rows:,} groups)" if result.num_rows != 1 else ""
        yield LeftOut(f"{sample.describe(names)}{share}", names)


def _find_class_notes(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield notes on classes that are not both predicted and observed, and on texts of ordered
    classes.

    Raises:
        InputError: No label is one of the classes that have scores.
    """
    base, metrics = audited.inputs.base, audited.request.metrics
    if base is None:
        return
    one_sided = [
        name
        for name in ("audit_unpredicted_classes", "audit_unobserved_classes")
        if name in audited.table.column_names
    ]
    is_one_sided = any(audited.count_all(name)[0] for name in one_sided)
    texts = {"classified": ("label", "predicted"), "ratings": ("rating",)}.get(base.role.name)
    note = (
        describe_classes(base, None if one_sided else MAX_ROWS_SAMPLED)
        if is_one_sided or not one_sided
        else ""
    )
    if not note and texts and not base.assembled_from:
        note = describe_own_forms([(base, name) for name in texts], MAX_ROWS_SAMPLED)
    if note:
        yield LeftOut(note, tuple(str(metric.metric) for metric in metrics))
    ordered = tuple(str(metric.metric) for metric in metrics if _reads_order(metric))
    if ordered and texts and (note := describe_letter_order(base, texts)):
        yield LeftOut(note, ordered)


def _reads_order(metric: ResolvedMetric) -> bool:
    """Return True if a metric reads the order of classes or ratings."""
    settings = metric.settings
    is_pairwise = (
        "class_pairs" in metric.dependencies.relations and settings.get("disagreement") != "nominal"
    )
    return is_pairwise or settings.get("level_of_measurement") == "ordinal"


def _find_grade_notes(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield notes on grades that the tool of the mode reads in another way, and on grades of which
    none is relevant.
    """
    inputs, request, report = audited.inputs, audited.request, audited.report
    qrels = inputs.by_role.get("qrels")
    if report is None or qrels is None or "relevance" not in inputs.needed_columns.get("qrels", ()):
        return
    if report.top_grade is not None and report.positive:
        unmet = {
            str(metric.metric): least
            for metric in request.metrics
            if (least := _find_least_grade(metric)) > report.top_grade
        }
        values = join_words([f"{least:g}" for least in sorted({*unmet.values()})], "or")
        advice = (
            f"the greatest grade is {report.top_grade:g}, and relevant is one from {values} on"
            f" (rel). Give rel={report.top_grade:g} or less"
        )
        yield from [LeftOut(advice, tuple(unmet))] if unmet else []
        capped = tuple(
            str(metric.metric)
            for metric in request.metrics
            if metric.settings.get("gain") == "exp2" and report.top_grade > MAX_EXPONENT
        )
        if capped:
            yield LeftOut(
                f"grades above {MAX_EXPONENT} have the same gain=exp2, and the greatest is"
                f" {report.top_grade:g}. Give gain=linear for counts",
                capped,
            )
        least, greatest = RATINGS
        are_ratings = (
            report.positive == report.rows.get("qrels") and least <= report.top_grade <= greatest
        )
        binary = tuple(
            str(metric.metric)
            for metric in request.metrics
            if are_ratings
            and 0 < _find_least_grade(metric) <= 1
            and "rel" not in {*request.call.policies, *dict(metric.metric.params)}
        )
        if binary:
            yield LeftOut(
                f"all judged documents have grades from 1 to {report.top_grade:g}, and are relevant"
                f" in {join_words(binary)}. If these are ratings, give the least that is relevant,"
                " such as rel=4",
                binary,
            )
    notes = load_compat_mode(request.call.compat, request.library).get("notes", {})
    if not notes or not qrels.column_type("relevance").startswith(("DOUBLE", "FLOAT", "DECIMAL")):
        return
    query = load_select("inputs/advice", "grade_notes.sql")
    query.set("from_", None)
    query = query.from_(qrels.select_columns(("relevance",)).subquery("qrels"))
    total, *counts = inputs.database.query_rows(query)[0]
    floor = f"FLOOR({column_text(qrels, 'relevance')})"
    mapping = f"columns={ {'relevance': floor}!r}"
    for name, count in zip(query.named_selects[1:], counts, strict=True):
        if count and name in notes:
            note = notes[name].format(mapping=mapping)
            yield LeftOut(note, audited.ranking_metrics, int(count), int(total))


def _count_lists(audited: _AuditedResult) -> list[tuple[Any, ...]] | None:
    """Return the groups of a run with the counts of its lists of equal scores and of its queries
    without judgments or clicks, which the policy on queries leaves out; None if it leaves out none,
    and for a large run.
    """
    request, by_role = audited.request, audited.inputs.by_role
    role, report = _find_query_role(request), audited.report
    is_table = not (request.assembled_roles or request.lists_from_queries)
    if report is None or not {"run", role} <= by_role.keys() or not is_table:
        return None
    if report.rows.get("run", 0) > FULL_DUPLICATE_SEARCH_ROWS:
        return None
    # Of predictions, those without a label are the documents without a judgment.
    from_predictions = request.rankings_from_predictions
    if from_predictions and report.rows.get("qrels") == report.rows.get("run"):
        return None
    names, columns = by_role["run"].group_names, {*audited.table.column_names}
    is_counted_once = not from_predictions and (
        {*audited.inputs.group_names} <= {*names}
        and request.grouping_sets is None
        and not request.across
        and CUTOFF_COLUMN not in columns
    )
    if report.lists and is_counted_once and AUDIT_ANSWERED in columns:
        *counts, num_queries = report.lists
        answered = audited.count_groups(AUDIT_ANSWERED, None)
        # Lists of judged queries are all that the run has.
        if sum(num_answered for _, num_answered, _ in answered) == num_queries:
            return [(*names, *counts, 0, num_queries)]
    with_scores = "score" in audited.inputs.needed_columns.get("run", ())
    return count_unmatched_ids(
        {"run": by_role["run"], "qrels": by_role[role]}, "query_id", with_scores=with_scores
    )


def _find_query_role(request: ResolvedRequest) -> str:
    """Return the role whose queries are evaluated, empty if the policy on queries names none."""
    policy = str(request.shared_policies.get("queries", "judged"))
    return str(request.library.policies["queries"]["values"][policy].get("requires_input", ""))


def _find_unjudged_queries(
    audited: _AuditedResult, list_counts: Sequence[Sequence[Any]]
) -> Iterator[LeftOut]:
    """Yield the queries of a run without judgments or clicks."""
    is_judged = _find_query_role(audited.request) == "qrels"
    problem = "have no judgments" if is_judged else "were never shown"
    names = audited.inputs.by_role["run"].group_names
    rows = [(*row[: len(names)], *row[-2:]) for row in list_counts]
    unjudged = _summarize_groups(
        f"queries of the run {problem}, and are left out",
        audited.ranking_metrics,
        sorted(_read_groups(names, rows), key=str),
    )
    if unjudged.count:
        yield unjudged


def _find_unjudged_choice(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield the queries of the table of queries without judgments."""
    role, by_role = _find_query_role(audited.request), audited.inputs.by_role
    if role != "qrels" or not {"queries", role} <= by_role.keys() or not audited.ranking_metrics:
        return
    rows = count_unmatched_ids({"run": by_role["queries"], "qrels": by_role[role]}, "query_id")
    unjudged = _summarize_groups(
        "queries of the table of queries have no judgments, and are left out",
        audited.ranking_metrics,
        sorted(_read_groups(by_role["queries"].group_names, rows), key=str),
    )
    if unjudged.count:
        yield unjudged


def _find_uncovered_spans(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield the spans of evidence that no chunk overlaps, for each group of the chunks."""
    inputs = audited.inputs
    if "qrels" not in inputs.request.joined_roles:
        return
    qrels, query = inputs.by_role["qrels"], load_select("inputs/advice", "uncovered_spans.sql")
    keys = [quoted_column(name) for name in qrels.group_names]
    counts = select_over_input(
        query.select(*keys).group_by(*keys), qrels, ("query_id", "doc_id", "subtopic")
    )
    labels = [column.label for column in inputs.group_columns if column.name in qrels.group_names]
    rows = [(*group, count, total) for count, total, *group in inputs.database.query_rows(counts)]
    uncovered = _summarize_groups(
        "spans of evidence are in no chunk, and count as documents that no list finds",
        audited.ranking_metrics,
        _read_groups(labels, rows),
    )
    if uncovered.count:
        yield uncovered


def _find_least_grade(metric: ResolvedMetric) -> float:
    """Return the least grade that is relevant for a metric, 0 for metrics of grades."""
    params = [file.params["rel"] for file in metric.dependencies.files if "rel" in file.params]
    value = metric.settings.get("rel", params[0].default) if params else 0
    return float(value) if isinstance(value, int | float) else 0.0


def _find_empty_queries(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield the queries without documents of the dicts that say which queries are evaluated: rows
    cannot hold them.
    """
    request = audited.request
    policy = request.shared_policies.get("queries", "judged")
    role = "run" if policy == "retrieved" else "qrels"
    dicts = [
        source
        for source in leaf_sources(request.sources.get(role))
        if isinstance(source, Mapping) and policy != "given"
    ]
    empty = [query for source in dicts for query, docs in source.items() if not len(docs)]
    if empty:
        advice = ". Give each a document of relevance 0 to count it" if role == "qrels" else ""
        note = (
            f"queries of {role} have no documents, and are left out:"
            f" {list_examples(list(map(short_value, empty)))}{advice}"
        )
        yield LeftOut(note, audited.ranking_metrics, len(empty), sum(map(len, dicts)))


def _find_noted(audited: _AuditedResult) -> Iterator[LeftOut]:
    """Yield the counts of the audit columns of ``sql/inputs/notes/`` over the relations that are
    read.
    """
    base = audited.inputs.base
    condition = (
        repr(f"{column_text(base, 'label')} <> 0")
        if base is not None and "label" in base.columns
        else ""
    )
    for relation, query in load_notes(audited.request).items():
        _, total, *checks = map(RowCheck, query.selects)
        for check in checks if total.name in audited.table.column_names else ():
            metrics = find_noted_metrics(check, relation, audited.request)
            fill = ZERO_DIVISIONS[str(metrics[0].settings.get("zero_division", "zero"))]
            names = _column_names(metrics)
            yield _summarize_counts(
                check.meaning.format(fill=fill, condition=condition, metrics=join_words(names)),
                names,
                audited.count_groups(check.name, total.name),
            )


def _find_missing_hits(
    audited: _AuditedResult,
    report: ValidationReport,
    entries: Sequence[LeftOut],
    list_counts: Sequence[Sequence[Any]] | None,
) -> Iterator[LeftOut]:
    """Yield notes on a result without a relevant document, and on ids that differ in their form
    only, which those of queries cannot where the judgments have all of the run.
    """
    if AUDIT_HIT_LISTS not in audited.table.column_names:
        return
    names, by_role = audited.ranking_metrics, audited.inputs.by_role
    hits, lists = audited.count_all(AUDIT_HIT_LISTS, AUDIT_LISTS)
    retrieved, judged = audited.count_all("audit_retrieved", "audit_docs")
    if lists and not hits:
        yield LeftOut("queries found none of their relevant documents", names, lists, lists)
    unanswered = [entry for entry in entries if NO_RESULTS in entry.note]
    if unanswered:
        yield from _find_divided_queries(audited, unanswered)
    yield from _find_unmatched_systems(
        audited,
        are_unanswered=any(
            count == total for entry in unanswered for _, count, total in entry.groups
        ),
    )
    num_rows = report.rows.get("run", 0)
    if 2 * retrieved < judged and num_rows <= FULL_DUPLICATE_SEARCH_ROWS:
        yield from _find_stale_gold(audited, num_rows)
    has_few_rows = retrieved < judged and num_rows <= MAX_ROWS_COMPARED
    are_judged = list_counts is not None and not any(row[-2] for row in list_counts)
    compared = {
        "query_id": bool(unanswered)
        and not (are_judged and _find_query_role(audited.request) == "qrels"),
        "doc_id": not hits or has_few_rows,
    }
    for key in (key for key, is_compared in compared.items() if is_compared):
        if note := describe_similar_ids([(by_role[role], key) for role in ("qrels", "run")]):
            yield LeftOut(note, names)


def _find_divided_queries(
    audited: _AuditedResult, unanswered: Sequence[LeftOut]
) -> Iterator[LeftOut]:
    """Yield a note for each grouping of the run that divides its queries, if a query of one group
    counts as an empty list in the others.
    """
    run = audited.inputs.by_role["run"]
    groups = [
        group for entry in unanswered if "empty lists" in entry.note for group in entry.groups
    ]
    for column in audited.inputs.group_columns if groups else ():
        others = [name for name in run.group_names if name != column.name]
        spare: dict[str, int] = {}
        for group, count, total in groups:
            rest = str({name: value for name, value in group.items() if name != column.label})
            spare[rest] = spare.get(rest, total) - (total - count)
        # Fewer queries than lists: some are in several groups.
        if (
            min(spare.values()) < 0
            or len(spare) == len(groups)
            or column.name not in run.group_names
        ):
            continue
        values = exp.Count(this=exp.Distinct(expressions=[quoted_column(column.name)]))
        divided = (
            exp.select("query_id")
            .group_by("query_id", *map(quoted_column, others))
            .having(exp.GT(this=values, expression=sql_literal(1)))
        )
        queries = select_over_input(divided, run, ("query_id",)).subquery("divided")
        divided_queries = exp.select(count_rows()).from_(queries)
        if not audited.inputs.database.query_rows(divided_queries)[0][0]:
            yield LeftOut(
                f"each query has results in one {column.label} only, and counts as an empty list"
                " in the others. Give queries='judged_and_retrieved' to leave these lists out",
                audited.ranking_metrics,
                divided_by=column.label,
            )


def _find_stale_gold(audited: _AuditedResult, num_rows: int) -> Iterator[LeftOut]:
    """Yield a note if most relevant documents, also of a query on average, are not in the catalog,
    or without one in no list with rows for all.
    """
    catalog = audited.inputs.by_role.get("items")
    role, note = (
        ("run", GOLD_IN_NO_LIST)
        if catalog is None or "doc_id" not in catalog.columns
        else ("items", GOLD_IN_NO_CATALOG)
    )
    stale, relevant, mean_share = count_stale_gold(audited.inputs.by_role, role)
    if (
        2 * stale > relevant >= MIN_STALE_GOLD
        and 2 * mean_share > 1
        and (role == "items" or num_rows >= relevant)
    ):
        yield LeftOut(note, audited.ranking_metrics, stale, relevant)


def _find_unmatched_systems(audited: _AuditedResult, *, are_unanswered: bool) -> Iterator[LeftOut]:
    """Yield notes on systems of which no query or no document is judged, where those of others are.

    Ids are compared where a system has no hit, or is unanswered: it has no list for any judged
    query.
    """
    inputs, names = audited.inputs, audited.ranking_metrics
    run, qrels = inputs.by_role.get("run"), inputs.by_role.get("qrels")
    labels = [column.label for column in inputs.group_columns]
    if run is None or qrels is None or not labels or inputs.request.grouping_sets is not None:
        return
    if not {*inputs.group_names} <= {*run.group_names} - {*qrels.group_names} or not {*labels} <= {
        *audited.table.column_names
    }:
        return
    hits = [
        count
        for _, count, _ in replace(audited, keys=labels).count_groups(AUDIT_HIT_LISTS, AUDIT_LISTS)
    ]
    if not any(hits) or (all(hits) and not are_unanswered):
        return
    for key, noun in (("query_id", "queries"), ("doc_id", "documents")):
        counts = count_unmatched_ids({"run": run, "qrels": qrels}, key)
        unmatched = [group for *group, missing, total in counts if missing == total]
        if not unmatched or len(unmatched) == len(counts):
            continue
        positions = [run.group_names.index(name) for name in inputs.group_names]
        rows = [
            (*(row[position] for position in positions), *row[-2:])
            for row in sorted(counts, key=str)
        ]
        note = f"{noun} in the run are in no judgment, all of some systems"
        yield _summarize_groups(note, names, _read_groups(labels, rows))
        if similar := describe_similar_ids([(qrels, key), (run, key)], groups=unmatched):
            yield LeftOut(similar, names)


def _read_groups(labels: Sequence[str], rows: Iterable[Sequence[Any]]) -> RowCounts:
    """Return groups with their numbers, of rows that have the values of a group before these."""
    return [
        (dict(zip(labels, map(str, group), strict=True)), int(count), int(total))
        for *group, count, total in rows
    ]


def _describe_fill(metric: ResolvedMetric, request: ResolvedRequest) -> str:
    """Return the treatment of lists for which a metric is undefined, empty if a result shows it."""
    policy = str(
        metric.settings.get("if_undefined", "zero" if metric.input_role == "run" else "skip")
    )
    if policy == "null" or (policy == "skip" and request.per_query):
        return ""
    return f"count as {FILLED_VALUES[policy]} in" if policy in FILLED_VALUES else "are left out of"


def _column_names(metrics: Sequence[ResolvedMetric]) -> list[str]:
    return [name for metric in metrics for name in metric.column_names or (str(metric.metric),)]


def _may_be_unanswered(audited: _AuditedResult) -> bool:
    """Return True if lists may have no documents: some have no relevant one, if any have, or more
    queries are judged than evaluated.
    """
    inputs, policy = audited.inputs, audited.request.shared_policies.get("queries")
    if AUDIT_HIT_LISTS not in audited.table.column_names:
        return policy == "clicked"
    hits, lists = audited.count_all(AUDIT_HIT_LISTS, AUDIT_LISTS)
    if policy != "judged_and_retrieved":
        return hits < lists
    queries = exp.select(exp.Count(this=exp.Distinct(expressions=[exp.column("query_id")])))
    judged = inputs.by_role["qrels"].select_columns(("query_id",)).subquery("qrels")
    return bool(
        inputs.database.query_rows(queries.from_(judged))[0][0] > lists or inputs.group_names
    )


def _sum_by_group(
    result: pa.Table, keys: Sequence[str], name: str, total: str | None, per_query: bool
) -> RowCounts:
    """Return the sums of a count and of a total for each group; without ``per_query``, rows of a
    group repeat its counts.
    """
    counted = [name, *([total] if total is not None and total in result.column_names else [])]
    if result.num_rows > MAX_ROWS_LISTED:
        import pyarrow.compute as pc  # its import takes longer than a small evaluation

        totals = {
            column: (pc.sum if per_query else pc.max)(result[column]).as_py() for column in counted
        }
        if not keys:
            return [({}, int(totals[name] or 0), int(totals.get(total or "") or 0))]
        if not totals[name]:
            return []
        sums_of_groups = result.group_by(list(keys)).aggregate(
            [(column, "sum" if per_query else "max") for column in counted]
        )
        result = sums_of_groups.select(
            [*keys, *sums_of_groups.column_names[-len(counted) :]]
        ).rename_columns([*keys, *counted])
    counts, num_all = (
        [int(count or 0) for count in result[column].to_pylist()]
        if column in result.column_names
        else [0] * result.num_rows
        for column in (name, total or "")
    )
    combine: Callable[[Iterable[int]], int] = sum if per_query else max
    if not keys:
        return [({}, combine([0, *counts]), combine([0, *num_all]))]
    sums: dict[tuple[str | None, ...], tuple[int, int]] = {}
    for row, *pair in zip(result.select(keys).to_pylist(), counts, num_all, strict=True):
        group = tuple(group_texts(row, keys))
        first, second = sums.get(group, (0, 0))
        sums[group] = combine((first, pair[0])), combine((second, pair[1]))
    return [
        (dict(zip(keys, group, strict=True)), count, total_count)
        for group, (count, total_count) in sums.items()
    ]


def _summarize_counts(note: str, names: Sequence[str], groups: RowCounts) -> LeftOut:
    """Return the units that are left out of all groups together, and of each; those of several
    groupings are the same units.
    """
    first_slice = [entry for entry in groups if entry[0].get("slice") == groups[0][0].get("slice")]
    return replace(
        _summarize_groups(note, names, first_slice),
        groups=tuple(groups) if len(groups) > 1 else (),
    )


def _summarize_groups(note: str, names: Sequence[str], groups: RowCounts) -> LeftOut:
    """Return the units of all groups together, and of each."""
    count, total = sum(entry[1] for entry in groups), sum(entry[2] for entry in groups)
    return LeftOut(note, tuple(names), count, total, tuple(groups) if len(groups) > 1 else ())
