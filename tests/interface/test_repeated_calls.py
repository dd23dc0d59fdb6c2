"""Questions to the database and Python calls of a repeated call over small tables, counted, so that
no timing has to show them.
"""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.engines import duckdb_database, duckdb_session
from tests.calls import CallCounts, count_calls, evaluate_dicts

PREDICTIONS = pa.table({"label": [1, 0, 1, 0] * 25, "score": [index / 100 for index in range(100)]})
GROUPED = PREDICTIONS.append_column("group", pa.array(["a", "b"] * 50))
PAIRS = [(f"q{index // 20}", f"d{index % 20}") for index in range(1000)]
RUN = pa.table(
    {
        "query_id": [query for query, _ in PAIRS],
        "doc_id": [doc for _, doc in PAIRS],
        "score": [float(i) for i in range(1000)],
    }
)
SYSTEMS = pa.concat_tables([RUN.append_column("system", pa.array([name] * 1000)) for name in "ab"])
QRELS = (
    RUN.select(["query_id", "doc_id"])
    .append_column("relevance", pa.array([1] * 1000))
    .slice(0, 1000)
)
PARTLY_RETRIEVED = QRELS.set_column(
    1, "doc_id", pa.array([f"d{index % 30}" for index in range(1000)])
)
DICTS = {
    role: {f"q{q}": {f"d{d}": d + 1 for d in range(20)} for q in range(50)}
    for role in ("run", "qrels")
}

CALLS = {
    "predictions": (["AUC", "LogLoss"], {"predictions": PREDICTIONS}, 1),
    "groups": ("AUC", {"predictions": GROUPED, "by": "group"}, 1),
    "rankings": (["nDCG@10", "AP"], {"run": RUN, "qrels": QRELS}, 2),
    "dicts": (["nDCG@10", "AP"], DICTS, 2),
    "systems": ("nDCG@10", {"run": SYSTEMS, "qrels": QRELS, "by": "system"}, 2),
    "unjudged queries": (["nDCG@10"], {"run": RUN, "qrels": QRELS.slice(100)}, 3),
    "unanswered queries": (["nDCG@10"], {"run": RUN.slice(100), "qrels": QRELS}, 3),
    "little recall": (["nDCG@10"], {"run": RUN, "qrels": PARTLY_RETRIEVED}, 3),
}
"""Metrics, sources, and the statements that run: the counts of both inputs, and the values; where
their numbers leave it open, also the queries without judgments, or the ids of another form.
"""


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    texts = []

    def record(run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda connection, text, *values: (
            texts.append(text) or run(connection, text, *values)
        )

    # Those of other tests would fill it in the middle of one, and it is emptied when it is full.
    monkeypatch.setattr(duckdb_session, "_PARSED", {})
    monkeypatch.setattr(duckdb_database, "fetch_tuples", record(duckdb_database.fetch_tuples))
    monkeypatch.setattr(
        duckdb_database, "describe_columns", record(duckdb_database.describe_columns)
    )
    return texts


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CALLS)
def test_statements_of_a_repeated_call(name, statements):
    metrics, sources, most = CALLS[name]
    sqlrank.evaluate(metrics, **sources)
    parsed = {*map(id, statements)}
    count = len(statements)
    sqlrank.evaluate(metrics, **sources)
    repeated = statements[count:]
    assert 0 < len(repeated) <= most
    assert {*map(id, repeated)} <= parsed
    assert {*map(type, repeated)} == {duckdb.Statement}


def test_a_repeated_call_enters_few_functions():
    evaluate_dicts()
    evaluate_dicts()
    counts, most = count_calls(evaluate_dicts), CallCounts(49, 375, 950)
    assert all(most / 2 < count <= most for count, most in zip(counts, most, strict=True)), counts


def test_a_first_call_enters_few_functions():
    command = [sys.executable, "-m", "tests.calls"]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    counts = [int(line.split(": ")[1].split(" of ")[0].replace(",", "")) for line in lines[:3]]
    most = CallCounts(81, 830, 10_100)
    assert all(most / 2 < count <= most for count, most in zip(counts, most, strict=True)), lines


def _make_dicts(size: int) -> dict[str, Any]:
    return {role: {"q": {f"d{d}": d for d in range(size)}} for role in ("run", "qrels")}


def _make_columns(size: int) -> dict[str, Any]:
    labels, scores = [row % 2 for row in range(size)], [row / size for row in range(size)]
    return {"predictions": {"label": labels, "score": scores}}


SIZED_CALLS = {
    "dicts": ("nDCG@10", _make_dicts),
    "lists": ("AUC", _make_columns),
    "Arrow predictions": (
        "AUC",
        lambda size: {"predictions": pa.table(_make_columns(size)["predictions"])},
    ),
    "Arrow rankings": (
        "nDCG@10",
        lambda size: {"run": RUN.slice(0, size), "qrels": QRELS.slice(0, size)},
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SIZED_CALLS)
def test_calls_do_not_grow_with_the_rows_of_a_source(name):
    metric, make_sources = SIZED_CALLS[name]
    counts = []
    for size in (20, 400):
        evaluate = partial(sqlrank.evaluate, metric, **make_sources(size))
        evaluate()
        counts.append(count_calls(evaluate).calls)
    assert 100 < counts[1] <= counts[0] + 20
