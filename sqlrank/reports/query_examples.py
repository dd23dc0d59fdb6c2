"""Build the report section of queries that lost and gained most: chart, tables, and both ranked lists with explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from sqlrank.call_descriptions import write_command
from sqlrank.errors import InputError, MetricError
from sqlrank.explanations.explanation import Explanation
from sqlrank.output.display_values import format_number
from sqlrank.reports.blocks import (
    Cell,
    RankedDocument,
    Section,
    SideBySide,
    TableBlock,
    build_figure,
    format_cell,
    read_statement,
    truncate_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sqlrank.reports.report_request import ReportRequest

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
        return Section("queries", title, (), ["Queries are compared where several systems rank documents."])
    metric = next(metric for metric in request.metrics if str(metric) in comparisons["metric"].to_pylist())
    lower_is_better = request.find_direction(str(metric)) == "lower"
    baseline, system = _find_pair(comparisons, str(metric), lower_is_better)
    differences = request.compare([metric], baseline, per_query=True)
    differences = differences.filter(pc.equal(differences["system"], system))
    sign = -1 if lower_is_better else 1
    size = min(request.max_rows, DEFAULT_DOCUMENTS)
    # Rows are sorted by difference, the greatest loss first; only both ends are read.
    extremes = {
        "lost": differences.slice(0, size).to_pylist(),
        "gained": differences.slice(max(0, differences.num_rows - size)).to_pylist()[::-1],
    }
    rows_by_change = {
        "lost": [row for row in extremes["lost"] if row["difference"] * sign < 0],
        "gained": [row for row in extremes["gained"] if row["difference"] * sign > 0],
    }
    text = (
        f"{metric} of {truncate_text(system)}, the best other system by it, minus that of the baseline, {truncate_text(baseline)}, query by query. "
        f"In lists side by side, the last column is the document's rank in the other list, or – if it is not among the first there."
    )
    blocks: list[Any] = [build_figure(lambda: differences, "queries-chart", "Differences of queries, in order", "differences")]
    blocks += [
        _build_table(request, rows, f"queries-{change}", f"Queries that {change} most", differences, metric, (baseline, system))
        for change, rows in rows_by_change.items()
    ]
    examples = {
        f"{change}-{index + 1}": row for change, rows in rows_by_change.items() for index, row in enumerate(rows[: request.query_examples])
    }
    depth = min(metric.cutoff, MAX_DOCUMENTS) if isinstance(metric.cutoff, int) else DEFAULT_DOCUMENTS
    lists = [_explained_lists(request, metric, name, [row["query_id"] for row in examples.values()], depth) for name in (baseline, system)]
    blocks += [
        _side_by_side(request, metric, row, ident, (baseline, system), [by_query[row["query_id"]] for by_query in lists])
        for ident, row in examples.items()
    ]
    return Section("queries", title, blocks, [text])


def _find_pair(comparisons: pa.Table, metric: str, lower_is_better: bool) -> tuple[str, str]:
    """Return the baseline of the first comparison, and the best system compared with it."""
    rows = [row for row in comparisons.to_pylist() if row["metric"] == metric]
    baseline_rows = [row for row in rows if row["baseline"] == rows[0]["baseline"]]
    best = max(baseline_rows, key=lambda row: (row["difference"] is not None, (row["difference"] or 0) * (-1 if lower_is_better else 1)))
    return best["baseline"], best["system"]


def _build_table(
    request: ReportRequest, rows: list[dict[str, Any]], ident: str, title: str, differences: pa.Table, metric: Any, pair: tuple[str, str]
) -> TableBlock:
    """Return queries with their values, the command that explains each, and links to lists shown."""
    change = ident.rpartition("-")[2]
    cells = []
    for index, row in enumerate(rows):
        link = f"#{change}-{index + 1}" if index < request.query_examples else None
        command = explain_command(request, metric, pair[1], row["query_id"])
        numbers = [format_cell(name, row[name]) for name in ("value_baseline", "value", "difference")]
        cells.append([Cell(truncate_text(row["query_id"]), _to_number(row["query_id"]), command, link), *numbers])
    names = ["query", f"{truncate_text(pair[0])} (baseline)", truncate_text(pair[1]), "difference"]
    num_queries = (
        pc.sum(
            pc.greater(differences["difference"], 0) if rows and rows[0]["difference"] > 0 else pc.less(differences["difference"], 0)
        ).as_py()
        or 0
    )
    note = "" if rows else "There is no such query."
    return TableBlock(ident, title, names, cells, num_queries - len(rows) if rows else 0, read_statement(differences), note)


def _to_number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def explain_command(request: ReportRequest, metric: Any, system: str, query: Any) -> str:
    """Return the command that explains a query's value, or a Python call for unnamed sources."""
    sources, common = request.arguments_for_system(system)
    options = {name: common[name] for name in ("inputs", "where", "compat", "sql_dir", "columns")}
    command = write_command(
        ["explain", str(metric)],
        {"query": str(query), **sources, **options, "policies": request.policies, "connection": common["connection"]},
    )
    if command is not None:
        return command
    arguments = [repr(str(metric)), f"query={query!r}", *(f"{role}=..." for role in {**sources, **(common["inputs"] or {})})]
    arguments += [f"{name}={common[name]!r}" for name in ("columns", "where") if common[name]]
    return f"sqlrank.explain({', '.join(arguments)})"


def _side_by_side(
    request: ReportRequest, metric: Any, row: dict[str, Any], ident: str, pair: tuple[str, str], explained_lists: Sequence[ExplainedList]
) -> SideBySide:
    """Return the top documents of both systems for a query."""
    query = row["query_id"]
    ranks = [{document["doc_id"]: document["rank"] for document in ranked.documents} for ranked in explained_lists]
    max_grade = max((grade for ranked in explained_lists for grade in ranked.grades.values()), default=0)
    lists = [
        [_build_document(document, ranked.grades, max_grade, ranks[1 - side]) for document in ranked.documents]
        for side, ranked in enumerate(explained_lists)
    ]
    return SideBySide(
        ident,
        f"Query {truncate_text(query)}, which {ident.partition('-')[0]} {format_number(abs(row['difference']))} of {metric}",
        truncate_text(query),
        [f"{truncate_text(pair[0])} (baseline)", truncate_text(pair[1])],
        [f"{metric} {format_cell('value', row[name]).text}" for name in ("value_baseline", "value")],
        lists,
        [ranked.explanation for ranked in explained_lists],
        [explain_command(request, metric, system, query) for system in pair],
    )


@dataclass(frozen=True)
class ExplainedList:
    """The top documents of a list, the grades of its judged documents, and the explanation of its value as text."""

    documents: list[dict[str, Any]]
    grades: dict[Any, float]
    explanation: str


def _explained_lists(request: ReportRequest, metric: Any, system: str, queries: list[Any], depth: int) -> dict[Any, ExplainedList]:
    """Return the lists of a system for some queries, with at most ``depth`` documents."""
    if not queries:
        return {}
    try:
        explanations = judged = request.explain(metric, system, queries, depth)
        explained = next((item for item in explanations.values() if isinstance(item, Explanation)), None)
        if explained is not None and not {"ranked_documents", "judged_documents"} <= {step.name for step in explained.steps}:
            judged = request.explain(f"Judged@{depth}", system, queries, depth)
    except (InputError, MetricError) as error:  # such as queries for which the system retrieved nothing
        return {query: ExplainedList([], {}, str(error)) for query in queries}
    return {query: _explained_list(explanations[query], judged[query], depth) for query in queries}


def _explained_list(explanation: Explanation | str, judged: Explanation | str, depth: int) -> ExplainedList:
    refusal = next((item for item in (explanation, judged) if isinstance(item, str)), None)
    if refusal is not None:
        return ExplainedList([], {}, refusal)
    grades = {
        document["doc_id"]: document["relevance"]
        for document in _find_step_rows(judged, "judged_documents")
        if document["relevance"] is not None
    }
    documents = [document for document in _find_step_rows(judged, "ranked_documents") if document["rank"] <= depth]
    return ExplainedList(documents, grades, _truncate_explanation(str(explanation)))


def _truncate_explanation(text: str) -> str:
    """Truncate an explanation, whose rows may contain long names."""
    return (
        text
        if len(text) <= MAX_EXPLANATION_CHARS
        else f"{text[:MAX_EXPLANATION_CHARS]}\n... and {len(text) - MAX_EXPLANATION_CHARS:,} more characters, which the command prints"
    )


def _find_step_rows(explanation: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a CTE, an empty list if there is none."""
    return next((step.rows.to_pylist() for step in explanation.steps if step.name == name), [])


def _build_document(document: dict[str, Any], grades: dict[Any, float], max_grade: float, other_ranks: dict[Any, int]) -> RankedDocument:
    """Return a document with its grade, shaded relative to the greatest grade of the query."""
    grade = grades.get(document["doc_id"])
    shade = 0 if grade is None or grade <= 0 else max(1, round(NUM_GRADE_SHADES * grade / max_grade))
    text = None if grade is None else f"{grade:g}"
    return RankedDocument(int(document["rank"]), truncate_text(document["doc_id"]), text, shade, other_ranks.get(document["doc_id"]))
