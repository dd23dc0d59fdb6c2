"""The queries that gained and lost most between two systems, and the first documents of both lists side by side."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from sqlrank.errors import InputError, MetricError
from sqlrank.library.listing import better
from sqlrank.reports.parts import Beside, Cell, Document, Section, Table, shortened, shown, statement
from sqlrank.reports.pictures import picture

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.explanations.explanation import Explanation
    from sqlrank.reports.asked import Asked

FIRST, MOST = 10, 20
"""How many documents of a list are shown, where the metric has no cut-off, and at most."""

LONGEST = 20_000
"""How many characters of an explanation are shown."""

SHADES = 3
"""Into how many shades positive grades are put."""


def queries(asked: Asked, compared: pa.Table | None) -> Section:
    """Return what queries gain and lose from the baseline to the best other system, by the first metric that is compared."""
    title = "Queries that gained and lost most"
    if compared is None or not asked.is_ranking:
        return Section("queries", title, (), ["Queries are compared where several systems rank documents."])
    metric = next(item for item in asked.metrics if str(item) in compared["metric"].to_pylist())
    lower = better(str(metric), asked.library) == "lower"
    baseline, system = _pair(compared, str(metric), lower)
    differences = asked.compare([metric], baseline, per_query=True)
    differences = differences.filter(pc.equal(differences["system"], system))
    sign = -1 if lower else 1
    size = min(asked.rows, FIRST)
    # In order of the differences, the greatest loss first: a few of each end are looked at.
    ends = {
        "lost": differences.slice(0, size).to_pylist(),
        "gained": differences.slice(max(0, differences.num_rows - size)).to_pylist()[::-1],
    }
    named = {
        "lost": [row for row in ends["lost"] if row["difference"] * sign < 0],
        "gained": [row for row in ends["gained"] if row["difference"] * sign > 0],
    }
    text = (
        f"{metric} of {shortened(system)}, the best other system by it, less that of the baseline, {shortened(baseline)}, query by query. "
        f"Where both lists are shown, the last column is a document's rank in the other one, – where it is not among the first there."
    )
    blocks: list[Any] = [picture(lambda: differences, "queries-chart", "Differences of queries, in order", "differences")]
    blocks += [
        _table(asked, rows, f"queries-{kind}", f"Queries that {kind} most", differences, metric, (baseline, system))
        for kind, rows in named.items()
    ]
    for kind, rows in named.items():
        blocks += [
            _beside(asked, metric, row, f"{kind}-{place + 1}", (baseline, system)) for place, row in enumerate(rows[: asked.examples])
        ]
    return Section("queries", title, blocks, [text])


def _pair(compared: pa.Table, metric: str, lower: bool) -> tuple[str, str]:
    """Return the baseline, which is that of the first comparison, and the best of the systems that are compared with it."""
    rows = [row for row in compared.to_pylist() if row["metric"] == metric]
    others = [row for row in rows if row["baseline"] == rows[0]["baseline"]]
    best = max(others, key=lambda row: (row["difference"] is not None, (row["difference"] or 0) * (-1 if lower else 1)))
    return best["baseline"], best["system"]


def _table(asked: Asked, rows: list[dict[str, Any]], ident: str, title: str, of: pa.Table, metric: Any, pair: tuple[str, str]) -> Table:
    """Return queries with their values, each with the command that explains it, and a link to its lists if they are shown."""
    kind = ident.rpartition("-")[2]
    cells = []
    for place, row in enumerate(rows):
        link = f"#{kind}-{place + 1}" if place < asked.examples else None
        command = explaining(asked, metric, pair[1], row["query_id"])
        numbers = [shown(name, row[name]) for name in ("value_baseline", "value", "difference")]
        cells.append([Cell(shortened(row["query_id"]), _number(row["query_id"]), command, link), *numbers])
    names = ["query", f"{shortened(pair[0])} (baseline)", shortened(pair[1]), "difference"]
    left = pc.sum(pc.greater(of["difference"], 0) if rows and rows[0]["difference"] > 0 else pc.less(of["difference"], 0)).as_py() or 0
    note = "" if rows else "There is no such query."
    return Table(ident, title, names, cells, left - len(rows) if rows else 0, statement(of), note)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def explaining(asked: Asked, metric: Any, system: str, query: Any) -> str:
    """Return the command that explains a query's value, or the call where sources have no names."""
    sources, common = asked.of_system(system)
    if all(isinstance(source, (str, Path)) for source in sources.values()):
        words = [word for role, source in sources.items() for word in (f"--{role}", str(source))]
        words += [
            word for name in ("where", "compat", "sql_dir") if common[name] for word in (f"--{name.replace('_', '-')}", str(common[name]))
        ]
        words += [word for name, theirs in (common["columns"] or {}).items() for word in ("--column", f"{name}={theirs}")]
        words += [word for name, value in asked.policies.items() for word in ("-p", f"{name}={value}")]
        db = [] if common["connection"] is None else ["--db", str(common["connection"])]
        return shlex.join(["sqlrank", "explain", str(metric), "--query", str(query), *words, *db])
    given = [repr(str(metric)), f"query={query!r}", *(f"{role}=..." for role in sources)]
    given += [f"{name}={common[name]!r}" for name in ("columns", "where") if common[name]]
    return f"sqlrank.explain({', '.join(given)})"


def _beside(asked: Asked, metric: Any, row: dict[str, Any], ident: str, pair: tuple[str, str]) -> Beside:
    """Return the first documents of both systems for a query."""
    query = row["query_id"]
    most = min(metric.cutoff, MOST) if isinstance(metric.cutoff, int) else FIRST
    found = [_looked_at(asked, metric, system, query, most) for system in pair]
    ranks = [{item["doc_id"]: item["rank"] for item in ranked} for ranked, _, _ in found]
    top = max((grade for _, grades, _ in found for grade in grades.values()), default=0)
    lists = [[_document(item, grades, top, ranks[1 - side]) for item in ranked] for side, (ranked, grades, _) in enumerate(found)]
    return Beside(
        ident,
        f"Query {shortened(query)}, which {ident.partition('-')[0]} {abs(row['difference']):.4f} of {metric}",
        shortened(query),
        [f"{shortened(pair[0])} (baseline)", shortened(pair[1])],
        [f"{metric} {shown('value', row[name]).text}" for name in ("value_baseline", "value")],
        lists,
        [text for _, _, text in found],
        [explaining(asked, metric, system, query) for system in pair],
    )


def _looked_at(asked: Asked, metric: Any, system: str, query: Any, most: int) -> tuple[list[dict[str, Any]], dict[Any, float], str]:
    """Return the first documents of a system's list, the grades of those that are judged, and why the metric is what it is."""
    try:
        found = judged = asked.explain(metric, system, query, most)
        if not {"ranked", "judged"} <= {step.name for step in found.steps}:
            judged = asked.explain(f"Judged@{most}", system, query, most)
    except (InputError, MetricError) as error:  # such as a query for which the system retrieved nothing
        return [], {}, str(error)
    grades = {item["doc_id"]: item["relevance"] for item in _step(judged, "judged") if item["relevance"] is not None}
    return [item for item in _step(judged, "ranked") if item["rank"] <= most], grades, _bounded(str(found))


def _bounded(text: str) -> str:
    """Return an explanation, or as much of it as is read: names of any length may stand in each of its rows."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n... and {len(text) - LONGEST:,} more characters, which the command prints"


def _step(found: Explanation, name: str) -> list[dict[str, Any]]:
    """Return the rows of a step, none if the statement has no such step."""
    return next((step.rows.to_pylist() for step in found.steps if step.name == name), [])


def _document(item: dict[str, Any], grades: dict[Any, float], top: float, others: dict[Any, int]) -> Document:
    """Return a document with its grade, and how that is shaded: from the least positive to the greatest grade of the query."""
    grade = grades.get(item["doc_id"])
    shade = 0 if grade is None or grade <= 0 else max(1, round(SHADES * grade / top))
    text = None if grade is None else f"{grade:g}"
    return Document(int(item["rank"]), shortened(item["doc_id"]), text, shade, others.get(item["doc_id"]))
