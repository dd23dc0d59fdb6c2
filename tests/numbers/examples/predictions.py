"""Predictions written as labels and scores, and the values of metrics on them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import sqlrank
from tests.numbers.examples.databases import get_database

INF = float("inf")
STRATEGIES = ("window", "rank", "integer_sort", "distinct", "buckets")
WEIGHTED = ("window", "integer_sort", "distinct", "buckets")
QUICK = ("window", "buckets")
"""The strategies that are asked in every run."""


def evaluate_predictions(
    metrics: str | list[str],
    label: Sequence[Any],
    score: Sequence[Any],
    weight: Sequence[Any] | None = None,
    **arguments: Any,
) -> list[Any]:
    """Return the metrics of these predictions, one of which may have further columns."""
    columns = {
        "label": label,
        "score": score,
        **({} if weight is None else {"weight": weight}),
        **arguments.pop("extra", {}),
    }
    (row,) = sqlrank.evaluate(
        metrics, predictions=pa.table(columns), connection=get_database(), **arguments
    ).to_pylist()
    return list(row.values())


def rank_labels(text: str) -> tuple[list[int], list[float]]:
    """Return labels and falling scores of an order such as ``+--+``."""
    return [int(sign == "+") for sign in text], [1 - place / 100 for place in range(len(text))]
