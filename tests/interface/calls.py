"""Tables written row by row, and calls with them that give a value or are refused."""

import json
import math
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError

INF, NAN = math.inf, math.nan


def make_run(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table(
        {name: [row[i] for row in rows] for i, name in enumerate(("query_id", "doc_id", "score"))}
    )


def make_qrels(*rows: tuple[Any, ...]) -> pa.Table:
    return make_run(*rows).rename_columns(["query_id", "doc_id", "relevance"])


def make_weights(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({"query_id": [row[0] for row in rows], "weight": [row[1] for row in rows]})


def evaluate_value(metric: str, run: pa.Table, qrels: pa.Table, **options: Any) -> Any:
    return sqlrank.evaluate(metric, run=run, qrels=qrels, **options)[metric][0].as_py()


def assert_refused(*parts: str, metrics: str | list[str] = "RR", **call: Any) -> str:
    """Assert that a call is refused with an InputError that says all parts; return the message."""
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(metrics, **call)
    for part in parts:
        assert part in str(caught.value)
    return str(caught.value)


GOOD_RUN = make_run(("q", "a", 2.0), ("q", "b", 1.0))
GOOD_QRELS = make_qrels(("q", "a", 1), ("q", "b", 0))


def read_canonical(result: pa.Table) -> dict[str, str]:
    names: dict[str, str] = json.loads(result.schema.metadata[b"sqlrank.canonical"])
    return names
