"""Records with their clusters, for tests: by hand, or as the clusters of a few letters."""

from typing import Any

import pyarrow as pa

import sqlrank
from tests.numbers.examples.databases import get_database

PREDICTED = ["1", "1", "1", "1", "2", "2", "3", "4", "5", "5", "6", "6", "6"]
TRUE = ["1", "1", "2", "2", "2", "2", "3", "4", "4", "5", "6", "6", "7"]
BLOCKS = ["0-1", "1-0", "2-3", "2-4", "2-6", "4-5", "7-8", "8-9", "10-11", "10-12", "0-12"]


def make_records(
    predicted: Any = tuple(PREDICTED), true: Any = tuple(TRUE), ids: Any = None, **others: Any
) -> pa.Table:
    """Return records 0, 1, ... with their clusters; ``-`` is no cluster."""
    columns = {"record_id": list(range(len(predicted))) if ids is None else list(ids)}
    for name, clusters in (("predicted_cluster", predicted), ("true_cluster", true)):
        columns[name] = pa.array([None if cluster == "-" else cluster for cluster in clusters])
    return pa.table({**columns, **others})


def make_clustering(clusters: Any, ids: Any = None, **others: Any) -> pa.Table:
    """Return the clusters of records 0, 1, ... on one side."""
    return pa.table(
        {
            "record_id": list(range(len(clusters))) if ids is None else list(ids),
            "cluster_id": list(clusters),
            **others,
        }
    )


def make_pairs(pairs: list[str]) -> pa.Table:
    """Return pairs of records, each written as ``0-1``."""
    sides = [[int(side) for side in pair.split("-")] for pair in pairs]
    return pa.table(
        {"left_id": [one for one, _ in sides], "right_id": [other for _, other in sides]}
    )


def evaluate_records(metric: str, predicted: Any, true: Any, **options: Any) -> float | None:
    """Return a metric of records with these clusters."""
    (found,) = sqlrank.evaluate(
        metric,
        inputs={"records": make_records(predicted, true)},
        connection=get_database(),
        **options,
    ).to_pylist()
    (number,) = found.values()
    assert number is None or isinstance(number, float)
    return number
