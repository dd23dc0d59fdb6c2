"""Lists written as the grades of their documents, and the values of metrics on them."""

from typing import Any

import pyarrow as pa

import sqlrank
from tests.numbers.examples.databases import get_database

Grades = list[float | None]


def make_lists(
    lists: dict[str, Grades], missed: dict[str, Grades] | None = None
) -> dict[str, pa.Table]:
    """Return a run and judgments in which list by list the documents have these grades (None: not
    judged), in this order.

    Documents are named so that those of later ranks have smaller ids; ``missed`` are judged, but
    not retrieved.
    """
    run, qrels = [], []
    for query, grades in lists.items():
        for rank, grade in enumerate(grades, start=1):
            doc = f"{query}-{1000 - rank}"
            run.append({"query_id": query, "doc_id": doc, "score": 1 / rank, "rank": rank})
            if grade is not None:
                qrels.append({"query_id": query, "doc_id": doc, "relevance": float(grade)})
    for query, grades in (missed or {}).items():
        qrels += [
            {"query_id": query, "doc_id": f"{query}-missed{i}", "relevance": float(grade)}
            for i, grade in enumerate(grades)
        ]
    types = {"query_id": pa.string(), "doc_id": pa.string()}
    return {
        "run": pa.Table.from_pylist(
            run, pa.schema(types | {"score": pa.float64(), "rank": pa.int64()})
        ),
        "qrels": pa.Table.from_pylist(qrels, pa.schema(types | {"relevance": pa.float64()})),
    }


def evaluate_metric(metric: str, sources: dict[str, Any], **policies: Any) -> float | None:
    """Return the aggregate of one metric."""
    return (
        sqlrank.evaluate(metric, **sources, connection=get_database(), **policies)
        .column(0)[0]
        .as_py()
    )


def evaluate_metrics(
    metrics: list[str], sources: dict[str, Any], **policies: Any
) -> list[float | None]:
    """Return the aggregates of metrics."""
    (row,) = sqlrank.evaluate(metrics, **sources, connection=get_database(), **policies).to_pylist()
    return list(row.values())


def evaluate_queries(
    metric: str, sources: dict[str, Any], **policies: Any
) -> dict[str, float | None]:
    result = sqlrank.evaluate(
        metric, **sources, connection=get_database(), per_query=True, **policies
    )
    return dict(zip(result["query_id"].to_pylist(), result.column(1).to_pylist(), strict=True))


FOUR_RELEVANT = make_lists({"q": [0, 1, 0, 1, 1, 0]}, {"q": [1]})
