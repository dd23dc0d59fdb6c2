"""Build the report sections of single clusters and queries: the worst clusters with their records,
and queries that changed most.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.call.request import ResourceLimits, select_arguments, write_command
from sqlrank.engines.open_database import run_on_database
from sqlrank.errors import InputError, MetricError, count_things, join_words
from sqlrank.explanations.explain import run_over_ctes
from sqlrank.explanations.explanation import Explanation
from sqlrank.output.display import format_number, read_number
from sqlrank.reports.blocks import (
    Cell,
    RankedDocument,
    Section,
    SideBySide,
    TableBlock,
    VerdictList,
    VerdictSentence,
    build_figure,
    format_cell,
    read_statement,
    result_block,
    truncate_text,
)
from sqlrank.reports.verdict_sentences import MAX_PAIRS_NAMED, name_baseline
from sqlrank.run.prepare import prepare_statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.engines.database import Database
    from sqlrank.reports.report_request import ReportRequest
    from sqlrank.result_columns import ResultRow


MAX_WRONG_CLUSTERS = 500
"""Maximum number of wrongly predicted clusters per system that are read."""

MAX_RECORDS = 200
"""Maximum number of records shown of a cluster."""

RECORDS_METRIC, RECORDS_RELATION = "PairwiseF", "evaluated_records"
"""A metric of clusters, and the relation that its statement has of records with their clusters."""

NAMED_COUNTS = ("num_over_split", "num_true_clusters", "num_over_merged", "num_predicted_clusters")
"""Counts that the sentence on a system names."""

DEFAULT_CLUSTERS = 10
"""Number of wrongly predicted clusters that are shown before the reader asks for all."""


@dataclass(frozen=True)
class WrongCluster:
    """A true cluster that a system predicts wrongly: its name, number of records, and row of
    ``ClusterErrors`` by system.
    """

    name: Any
    records: float
    errors: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def wrong_links(self) -> float:
        """Return the largest number of missing and false links of a system."""
        return max(float(row["missing_links"] + row["false_links"]) for row in self.errors.values())


def cluster_verdicts(
    result: pa.Table, request: ReportRequest, warnings: Sequence[str]
) -> VerdictList:
    """Return the sentences on systems: metrics that are better than those of the first one, and
    numbers of wrong clusters.
    """
    rows = {_system_name(row, request): row for row in result.to_pylist()}
    (first, baseline), *others = rows.items()
    verdicts = [
        _compare_values(name, row, first, baseline, request)
        for name, row in others[:MAX_PAIRS_NAMED]
    ]
    if others:
        text = (
            "These differences are not tested, because records of one cluster are not independent."
        )
        verdicts.append(VerdictSentence("even", text, is_minor=True))
    verdicts.append(_count_wrong_clusters(request.evaluate(NAMED_COUNTS).to_pylist(), request))
    return VerdictList([*verdicts, *(VerdictSentence("warning", text) for text in warnings)])


def _count_wrong_clusters(rows: Sequence[ResultRow], request: ReportRequest) -> VerdictSentence:
    """Return the sentence on the numbers of wrong clusters of one system, or of all of several."""
    texts = []
    for row in rows[:MAX_PAIRS_NAMED]:
        split, true, merged, predicted = (f"{row[name]:,.0f}" for name in NAMED_COUNTS)
        name = _system_name(row, request)
        system = f" by {truncate_text(name)}" if name else ""
        texts.append((f"{split} of {true}{system}", f"{merged} of {predicted}{system}"))
    split, merged = (join_words(counts) for counts in zip(*texts, strict=True))
    text = (
        f"Split true clusters: {split}. Predicted clusters with records of several true ones:"
        f" {merged}."
    )
    is_right = not any(row["num_over_split"] or row["num_over_merged"] for row in rows)
    return VerdictSentence("pass" if is_right else "even", text, is_minor=len(rows) > 1)


def _system_name(row: ResultRow, request: ReportRequest) -> str:
    """Return the system of a row, an empty text without several."""
    return str(row.get(str(request.system), ""))


def _compare_values(
    name: str,
    row: ResultRow,
    first: str,
    baseline: Mapping[str, Any],
    request: ReportRequest,
) -> VerdictSentence:
    """Return the sentence on the values of a system and of the first one, without a test."""
    better: list[str] = []
    worse: list[str] = []
    for metric in request.names:
        direction = request.find_direction(metric)
        ours, theirs = (
            format_cell(metric, row[metric]).text,
            format_cell(metric, baseline[metric]).text,
        )
        if (
            ours != theirs
            and direction != "neither"
            and row[metric] is not None
            and baseline[metric] is not None
        ):
            is_better = (row[metric] > baseline[metric]) == (direction == "higher")
            (better if is_better else worse).append(metric)
    num_metrics = count_things(len(request.names), "metric")
    texts = [
        f"{truncate_text(name)} has {adjective} values than {truncate_text(first)} in"
        f" {len(metrics)} of {num_metrics}: {join_words(metrics)}."
        for adjective, metrics in (("better", better), ("worse", worse))
        if metrics
    ] or [f"{truncate_text(name)} and {truncate_text(first)} have equal values."]
    state = "mixed" if better and worse else "better" if better else "worse" if worse else "even"
    return VerdictSentence(state, " ".join(texts))


def cluster_section(request: ReportRequest) -> Section:
    """Return the section of the true clusters with the most wrong links, side by side for all
    systems, and of clusters by size.
    """
    errors = request.evaluate(f"ClusterErrors(k={MAX_WRONG_CLUSTERS})")
    clusters = _wrong_clusters(errors, request)
    systems = list(dict.fromkeys(name for cluster in clusters for name in cluster.errors)) or [""]
    ordered = sorted(
        systems,
        key=lambda name: (
            request.declared_order.index(name) if name in request.declared_order else len(systems)
        ),
    )
    blocks: list[Any] = [_errors_table(clusters, ordered, errors, request)]
    examples = [cluster for cluster in clusters if cluster.name is not None][
        : request.query_examples
    ]
    records = (
        {
            name: _read_records(request, name, [cluster.name for cluster in examples])
            for name in ordered
        }
        if examples
        else {}
    )
    blocks += [
        _records_table(cluster, f"cluster-{index + 1}", records)
        for index, cluster in enumerate(examples)
    ]
    sizes = request.evaluate("ClusterSizes")
    title = "Metrics by size of the true clusters"
    blocks.append(result_block(sizes, "cluster-sizes", title, request.max_rows, is_folded=True))
    return Section("clusters", "Worst clusters", blocks)


def _wrong_clusters(errors: pa.Table, request: ReportRequest) -> list[WrongCluster]:
    """Return the wrongly predicted clusters of all systems, those with the most wrong links
    first.
    """
    clusters: dict[Any, WrongCluster] = {}
    for row in errors.to_pylist():
        # Records without a true cluster may each be a cluster, without a name.
        key = row["true_cluster"] if row["true_cluster"] is not None else ("", len(clusters))
        cluster = clusters.setdefault(key, WrongCluster(row["true_cluster"], row["records"]))
        cluster.errors[_system_name(row, request)] = row
    return sorted(
        clusters.values(),
        key=lambda cluster: (-cluster.wrong_links, -cluster.records, str(cluster.name)),
    )


def _errors_table(
    clusters: Sequence[WrongCluster],
    systems: Sequence[str],
    errors: pa.Table,
    request: ReportRequest,
) -> TableBlock:
    """Return the wrongly predicted clusters with the errors of each system."""
    listed = Counter(_system_name(row, request) for row in errors.to_pylist())
    cells = []
    for index, cluster in enumerate(clusters):
        link = (
            f"#cluster-{index + 1}"
            if cluster.name is not None and index < request.query_examples
            else None
        )
        row = [
            replace(format_cell("true_cluster", cluster.name), link=link),
            format_cell("records", cluster.records, is_count=True),
        ]
        for system in systems:
            system_errors = cluster.errors.get(system)
            absent = Cell("✓" if listed[system] < MAX_WRONG_CLUSTERS else "–", shade="faint")
            row.append(absent if system_errors is None else Cell(_describe_errors(system_errors)))
        cells.append(row)
    titles = [truncate_text(system) if system else "errors" for system in systems]
    note = (
        "The clusters with the most wrong links of a system come first. A link is a pair of"
        " records: it is missing between the parts of a split cluster, and false to a record of"
        " another true cluster."
        if cells
        else "No true cluster is predicted wrongly."
    )
    title = "True clusters that are predicted wrongly"
    statement = read_statement(errors)
    return TableBlock(
        "clusters-table",
        title,
        ["true cluster", "records", *titles],
        cells,
        0,
        statement,
        note,
        max_rows=min(request.max_rows, DEFAULT_CLUSTERS),
    )


def _describe_errors(errors: ResultRow) -> str:
    """Return the errors of a system on a true cluster in words.

    >>> _describe_errors({"parts": 2, "missing_links": 1, "false_links": 4})
    'split in 2 (1 link missing), 4 false links'
    """
    parts, missing, false = (
        int(errors[name]) for name in ("parts", "missing_links", "false_links")
    )
    texts = [
        f"split in {parts:,} ({missing:,} link{'s' * (missing != 1)} missing)" if parts > 1 else "",
        f"{false:,} false link{'s' * (false != 1)}" if false else "",
    ]
    return ", ".join(filter(None, texts))


def _read_records(
    request: ReportRequest, system: str, clusters: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return the records of true clusters, and of other clusters that a system links to these."""
    resolved = request.resolve_for_system(RECORDS_METRIC, system)
    connection, limits = (
        request.common["connection"],
        select_arguments(ResourceLimits, request.common),
    )
    return run_on_database(
        connection,
        request.dialect,
        limits,
        lambda database: _fetch_records(resolved, database, clusters),
    )


def _fetch_records(
    resolved: ResolvedRequest, database: Database, clusters: Sequence[Any]
) -> list[dict[str, Any]]:
    prepared = prepare_statement(resolved, database, "off", keep_unused=True)
    columns = [exp.column(name) for name in ("record_id", "predicted_cluster", "true_cluster")]
    is_in_cluster = exp.cast(exp.column("true_cluster"), "TEXT").isin(*map(str, clusters))
    predicted_clusters = (
        exp.select("predicted_cluster").from_(RECORDS_RELATION).where(is_in_cluster)
    )
    is_linked = exp.In(this=exp.column("predicted_cluster"), query=predicted_clusters.subquery())
    query = (
        exp.select(*columns).from_(RECORDS_RELATION).where(exp.or_(is_in_cluster.copy(), is_linked))
    )
    query = query.order_by("true_cluster", "predicted_cluster", "record_id").limit(
        MAX_RECORDS * len(clusters)
    )
    rows: list[dict[str, Any]] = run_over_ctes(prepared, query, RECORDS_RELATION).to_pylist()
    return rows


def _records_table(
    cluster: WrongCluster, ident: str, records: Mapping[str, list[dict[str, Any]]]
) -> TableBlock:
    """Return the records of a true cluster and those wrongly linked to it, with the predicted
    clusters of all systems side by side.
    """
    rows: dict[Any, list[Cell]] = {}
    for position, system_records in enumerate(records.values()):
        own, others = (
            [row for row in system_records if _belongs_to(row, cluster) == is_own]
            for is_own in (True, False)
        )
        cluster_sizes = Counter(row["predicted_cluster"] for row in own)
        largest = (
            min(cluster_sizes, key=lambda part: (part is None, -cluster_sizes[part], str(part)))
            if cluster_sizes
            else None
        )
        linked = [
            row
            for row in others
            if row["predicted_cluster"] is not None and row["predicted_cluster"] in cluster_sizes
        ]
        for row in [*own, *linked]:
            cells = rows.setdefault(
                row["record_id"],
                [
                    _text_cell(row["record_id"]),
                    _text_cell(row["true_cluster"]),
                    *([Cell("apart", shade="faint")] * len(records)),
                ],
            )
            cells[2 + position] = _predicted_cell(
                row["predicted_cluster"], largest, is_own=_belongs_to(row, cluster)
            )
    own_name = truncate_text(cluster.name)
    sorted_records = sorted(
        rows.values(),
        key=lambda cells: (
            cells[1].text != own_name,
            cells[1].text,
            sum("worse" in cell.shade for cell in cells),
        ),
    )
    titles = [
        f"predicted by {truncate_text(system)}" if system else "predicted cluster"
        for system in records
    ]
    note = (
        "Its own records come first, then those that are wrongly linked to it. A record is split"
        " off if it is not with most of the others. Apart are records that a system does not link"
        " to them."
    )
    title = f"Records of the true cluster {truncate_text(cluster.name)}"
    left_out = max(0, len(sorted_records) - MAX_RECORDS)
    return TableBlock(
        ident,
        title,
        ["record", "true cluster", *titles],
        sorted_records[:MAX_RECORDS],
        left_out,
        note=note,
    )


def _belongs_to(row: ResultRow, cluster: WrongCluster) -> bool:
    """Return True if a record belongs to a true cluster."""
    return str(row["true_cluster"]) == str(cluster.name)


def _text_cell(value: Any) -> Cell:
    return Cell(
        "NULL" if value is None else truncate_text(value),
        float(value) if isinstance(value, int) else None,
    )


def _predicted_cell(predicted: Any, largest: Any, *, is_own: bool) -> Cell:
    """Return the cell of a predicted cluster: shaded, and with a word where it is wrong."""
    name = "no cluster" if predicted is None else truncate_text(predicted)
    if not is_own:
        return Cell(f"{name} (wrongly linked)", shade="heat worse2")
    is_split = predicted is None or predicted != largest
    return Cell(
        f"{name} (split off)" if is_split else name,
        shade="heat worse1" if is_split else "heat better1",
    )


DEFAULT_DOCUMENTS, MAX_DOCUMENTS = 10, 20
"""Default and maximum number of documents shown per list."""

MAX_EXPLANATION_CHARS = 20_000
"""Maximum number of characters shown of an explanation."""

NUM_GRADE_SHADES = 3
"""Number of shades of positive grades."""


def query_section(request: ReportRequest, comparisons: pa.Table | None) -> Section:
    """Return the section of queries with the largest differences between two systems.

    These are the baseline and the best other system by the first metric that is compared.
    """
    title = "Queries that gained and lost most"
    if comparisons is None or not request.is_ranking:
        return Section(
            "queries", title, (), ["Queries are compared where several systems rank documents."]
        )
    metric = next(
        metric for metric in request.metrics if str(metric) in comparisons["metric"].to_pylist()
    )
    lower_is_better = request.find_direction(str(metric)) == "lower"
    baseline, system = _find_pair(comparisons, str(metric), lower_is_better)
    differences = request.compare([metric], baseline, per_query=True)
    differences = differences.filter(pc.equal(differences["system"], system))
    sign = -1 if lower_is_better else 1
    size = min(request.max_rows, DEFAULT_DOCUMENTS)
    # Rows are sorted by difference, the greatest loss first; only both ends are read.
    first = differences.slice(0, size).to_pylist()
    last = differences.slice(max(0, differences.num_rows - size)).to_pylist()[::-1]
    rows_by_change = {
        "lost": [row for row in first if row["difference"] * sign < 0],
        "gained": [row for row in last if row["difference"] * sign > 0],
    }
    text = (
        f"{metric} of {truncate_text(system)}, the best other system by it, minus that of"
        f" {name_baseline(baseline)}, query by query. In lists side by side, the last column is the"
        " document's rank in the other list, or – if it is not among the first there."
    )
    blocks: list[Any] = [
        build_figure(
            differences, "queries-chart", "Differences of queries, in order", "differences"
        )
    ]
    blocks += [
        _build_table(request, rows, change, differences, metric, (baseline, system))
        for change, rows in rows_by_change.items()
    ]
    examples = {
        f"{change}-{index + 1}": row
        for change, rows in rows_by_change.items()
        for index, row in enumerate(rows[: request.query_examples])
    }
    blocks += _compare_lists(request, metric, examples, (baseline, system))
    return Section("queries", title, blocks, [text])


def _compare_lists(
    request: ReportRequest,
    metric: Any,
    examples: Mapping[str, dict[str, Any]],
    pair: tuple[str, str],
) -> list[SideBySide]:
    """Return the lists of both systems for the queries of some rows by ident."""
    depth = (
        min(metric.cutoff, MAX_DOCUMENTS) if isinstance(metric.cutoff, int) else DEFAULT_DOCUMENTS
    )
    queries = [row["query_id"] for row in examples.values()]
    lists = [_explained_lists(request, metric, system, queries, depth) for system in pair]
    return [
        _side_by_side(
            request, metric, row, ident, pair, [by_query[row["query_id"]] for by_query in lists]
        )
        for ident, row in examples.items()
    ]


def _find_pair(comparisons: pa.Table, metric: str, lower_is_better: bool) -> tuple[str, str]:
    """Return the baseline of the first comparison, and the best system compared with it."""
    rows = [row for row in comparisons.to_pylist() if row["metric"] == metric]
    baseline_rows = [row for row in rows if row["baseline"] == rows[0]["baseline"]]
    best = max(
        baseline_rows,
        key=lambda row: (
            row["difference"] is not None,
            (row["difference"] or 0) * (-1 if lower_is_better else 1),
        ),
    )
    return best["baseline"], best["system"]


def _build_table(
    request: ReportRequest,
    rows: list[dict[str, Any]],
    change: str,
    differences: pa.Table,
    metric: Any,
    pair: tuple[str, str],
) -> TableBlock:
    """Return queries with their values, the command that explains each, and links to lists
    shown.
    """
    cells = []
    for index, row in enumerate(rows):
        link = f"#{change}-{index + 1}" if index < request.query_examples else None
        command = explain_command(request, metric, pair[1], row["query_id"])
        numbers = [
            format_cell(name, row[name]) for name in ("value_baseline", "value", "difference")
        ]
        cells.append(
            [
                Cell(truncate_text(row["query_id"]), read_number(row["query_id"]), command, link),
                *numbers,
            ]
        )
    names = ["query", name_baseline(pair[0]), truncate_text(pair[1]), "difference"]
    is_positive = bool(rows) and rows[0]["difference"] > 0
    has_change = (pc.greater if is_positive else pc.less)(differences["difference"], 0)
    num_queries = pc.sum(has_change).as_py() or 0
    return TableBlock(
        f"queries-{change}",
        f"Queries that {change} most",
        names,
        cells,
        num_queries - len(rows) if rows else 0,
        read_statement(differences),
        "" if rows else f"No query {change}.",
    )


def explain_command(request: ReportRequest, metric: Any, system: str, query: Any) -> str:
    """Return the command that explains a query's value, or a Python call for unnamed sources."""
    options = request.command_arguments(system, request.policies)
    command = write_command(["explain", str(metric)], {"query": str(query), **options})
    if command is not None:
        return command
    arguments = [
        repr(str(metric)),
        f"query={query!r}",
        *(f"{role}=..." for role in request.sources),
    ]
    arguments += [f"{name}={options[name]!r}" for name in ("columns", "where") if options[name]]
    return f"sqlrank.explain({', '.join(arguments)})"


def _side_by_side(
    request: ReportRequest,
    metric: Any,
    row: dict[str, Any],
    ident: str,
    pair: tuple[str, str],
    explained_lists: Sequence[ExplainedList],
) -> SideBySide:
    """Return the top documents of both systems for a query."""
    query = row["query_id"]
    ranks = [
        {document["doc_id"]: document["rank"] for document in ranked.documents}
        for ranked in explained_lists
    ]
    max_grade = max(
        (grade for ranked in explained_lists for grade in ranked.grades.values()), default=0
    )
    lists = [
        [
            _build_document(document, ranked.grades, max_grade, ranks[1 - side])
            for document in ranked.documents
        ]
        for side, ranked in enumerate(explained_lists)
    ]
    return SideBySide(
        ident,
        f"Query {truncate_text(query)}, which {ident.partition('-')[0]}"
        f" {format_number(abs(row['difference']))} of {metric}",
        truncate_text(query),
        [name_baseline(pair[0]), truncate_text(pair[1])],
        [
            f"{metric} {format_cell('value', row[name]).text}"
            for name in ("value_baseline", "value")
        ],
        lists,
        [ranked.explanation for ranked in explained_lists],
        [explain_command(request, metric, system, query) for system in pair],
    )


@dataclass(frozen=True)
class ExplainedList:
    """The top documents of a list, the grades of its judged documents, and the explanation of its
    value as text.
    """

    documents: list[dict[str, Any]]
    grades: dict[Any, float]
    explanation: str


def _explained_lists(
    request: ReportRequest, metric: Any, system: str, queries: list[Any], depth: int
) -> dict[Any, ExplainedList]:
    """Return the lists of a system for some queries, with at most ``depth`` documents."""
    if not queries:
        return {}
    try:
        explanations = judged = request.explain(metric, system, queries, depth)
        explained = next(
            (item for item in explanations.values() if isinstance(item, Explanation)), None
        )
        if explained is not None and not {"ranked_documents", "judged_documents"} <= {
            step.name for step in explained.steps
        }:
            judged = request.explain(f"Judged@{depth}", system, queries, depth)
    except (
        InputError,
        MetricError,
    ) as error:  # such as queries for which the system retrieved nothing
        return {query: ExplainedList([], {}, str(error)) for query in queries}
    return {query: _explained_list(explanations[query], judged[query], depth) for query in queries}


def _explained_list(
    explanation: Explanation | str, judged: Explanation | str, depth: int
) -> ExplainedList:
    refusal = next((item for item in (explanation, judged) if isinstance(item, str)), None)
    if refusal is not None:
        return ExplainedList([], {}, refusal)
    grades = {
        document["doc_id"]: document["relevance"]
        for document in _find_step_rows(judged, "judged_documents")
        if document["relevance"] is not None
    }
    documents = [
        document
        for document in _find_step_rows(judged, "ranked_documents")
        if document["rank"] <= depth
    ]
    text = str(explanation)
    num_omitted = len(text) - MAX_EXPLANATION_CHARS
    if num_omitted > 0:  # rows may contain long names
        text = (
            f"{text[:MAX_EXPLANATION_CHARS]}\n... and {num_omitted:,} more characters, which the"
            " command prints"
        )
    return ExplainedList(documents, grades, text)


def _find_step_rows(explanation: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a CTE, an empty list if there is none."""
    return next((step.rows.to_pylist() for step in explanation.steps if step.name == name), [])


def _build_document(
    document: dict[str, Any],
    grades: dict[Any, float],
    max_grade: float,
    other_ranks: dict[Any, int],
) -> RankedDocument:
    """Return a document with its grade, shaded relative to the greatest grade of the query."""
    grade = grades.get(document["doc_id"])
    shade = (
        0 if grade is None or grade <= 0 else max(1, round(NUM_GRADE_SHADES * grade / max_grade))
    )
    text = None if grade is None else f"{grade:g}"
    return RankedDocument(
        int(document["rank"]),
        truncate_text(document["doc_id"]),
        text,
        shade,
        other_ranks.get(document["doc_id"]),
    )
