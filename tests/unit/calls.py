"""Tables written row by row, and calls with them that give a value or are refused."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError

INF, NAN = math.inf, math.nan


def run_of(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(("query_id", "doc_id", "score"))})


def qrels_of(*rows: tuple[Any, ...]) -> pa.Table:
    return run_of(*rows).rename_columns(["query_id", "doc_id", "relevance"])


def weights_of(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({"query_id": [row[0] for row in rows], "weight": [row[1] for row in rows]})


def value(metric: str, run: pa.Table, qrels: pa.Table, **options: Any) -> Any:
    return sqlrank.evaluate(metric, run=run, qrels=qrels, **options)[str(sqlrank.parse(metric))][0].as_py()


def refused(*parts: str, metrics: str | list[str] = "RR", **call: Any) -> str:
    """Assert that a call is refused with an InputError that says all parts; return the message."""
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(metrics, **call)
    for part in parts:
        assert part in str(caught.value)
    return str(caught.value)


GOOD_RUN = run_of(("q", "a", 2.0), ("q", "b", 1.0))
GOOD_QRELS = qrels_of(("q", "a", 1), ("q", "b", 0))
