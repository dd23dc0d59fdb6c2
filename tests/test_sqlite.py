"""Every metric on SQLite, which is strict where DuckDB is not (integer division, no booleans), with DuckDB's numbers."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import duckdb
import pytest

import sqlrank
from sqlrank.dialects import DIALECTS
from sqlrank.library import library

EXAMPLE = {"integer": "5", "number": "0.3"}
POLICIES = [
    {},
    {"ties": "doc_asc"},
    {"ties": "rank"},
    {"ties": "best"},
    {"ties": "worst"},
    {"queries": "intersect"},
    {"queries": "run"},
    {"unjudged": "drop"},
    {"no_relevant": "one"},
    {"no_relevant": "skip"},
    {"depth": 3},
    {"rel": 2},
    {"aggregate": "gmean"},
    {"aggregate": "max"},
]
VARIANTS = [
    *(
        f"nDCG(gain={gain}, discount={discount})@3"
        for gain in ("exp2", "binary", "threshold")
        for discount in ("ln", "inverse", "zipf", "geometric", "none")
    ),
    *(f"nDCG(ideal={ideal})@3" for ideal in ("retrieved", "judged_nret", "all_ones")),
    *(f"AP(denominator={denominator})@3" for denominator in ("k", "min_rk", "hits", "retrieved")),
    "AP(form=all_positions)@3",
    "ERR(stop=yandex)@3",
    "PFound(stop=yandex, p_break=1)",
    "RBP(gain=linear, scale=top_grade)",
    "RHR(share=ideal)@3",
    "nDCG(gain={1: 3, 2: 1.5})@3",
    "nDCG(ties=expected)@3",
    "P(ties=expected)@3",
    "P(denominator=retrieved)@4",
]


def every_metric() -> list[str]:
    names = []
    for file in library().metrics.values():
        if file.path.parent.name != "ranking":
            continue
        needs = file.at is not None and file.at.default is None
        names.append(f"{file.display_name}@{EXAMPLE[file.at.type]}" if needs else file.display_name)
    return names


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    """Lists with ties, unjudged, unretrieved and unanswered documents, and a query without relevant ones."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE run AS SELECT 'q' || (i // 8) AS query_id, 'd' || (i * 7 % 11) AS doc_id, "
        "CAST((i * 13 % 5) AS DOUBLE) / 2 AS score, i % 8 + 1 AS rank, 's' || (i // 40) AS system FROM range(80) AS t(i)"
    )
    connection.execute(
        "CREATE TABLE qrels AS SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id, "
        "CASE WHEN i // 6 = 3 THEN 0 ELSE i * 3 % 4 - CASE WHEN i % 7 = 0 THEN 1 ELSE 0 END END AS relevance FROM range(66) AS t(i)"
    )
    return connection


def lite_copy(duck: duckdb.DuckDBPyConnection) -> sqlite3.Connection:
    lite = sqlite3.connect(":memory:")
    for name, function in (
        ("ln", lambda x: math.log(x) if x is not None else None),
        ("exp", lambda x: math.exp(x) if x is not None else None),
    ):
        lite.create_function(name, 1, function, deterministic=True)
    lite.create_function("floor", 1, lambda x: None if x is None else math.floor(x), deterministic=True)
    for table in ("run", "qrels"):
        rows = duck.execute(f"SELECT * FROM {table}").fetchall()
        columns = [row[0] for row in duck.execute(f"DESCRIBE {table}").fetchall()]
        lite.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        lite.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return lite


def assert_same(duck: duckdb.DuckDBPyConnection, metrics: list[str], **options: object) -> None:
    expected = sqlrank.evaluate(metrics, run="run", qrels="qrels", connection=duck, **options)
    with closing(lite_copy(duck)) as lite:
        rows = lite.execute(sqlrank.sql(metrics, dialect="sqlite", run="run", qrels="qrels", **options)).fetchall()
    assert len(rows) == expected.num_rows > 0
    for row, values in zip(rows, expected.to_pylist(), strict=True):
        for got, (name, value) in zip(row, values.items(), strict=True):
            assert got == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), name


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_every_metric_gives_the_numbers_of_duckdb(duck: duckdb.DuckDBPyConnection, policies: dict[str, object], per_query: bool) -> None:
    metrics = [name for name in every_metric() if not (name == "num_tied@5" and policies.get("ties") == "rank")]
    assert_same(duck, metrics, per_query=per_query, **policies)


@pytest.mark.parametrize("metric", VARIANTS)
def test_every_option_gives_the_numbers_of_duckdb(duck: duckdb.DuckDBPyConnection, metric: str) -> None:
    assert_same(duck, [metric], per_query=True)


def test_several_systems_give_the_numbers_of_duckdb(duck: duckdb.DuckDBPyConnection) -> None:
    assert_same(duck, ["nDCG@3", "AP", "num_ret"], by="system")
    assert_same(duck, ["nDCG@3", "AP", "num_ret"], by="system", per_query=True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_metric_can_be_written_for_every_dialect(dialect: str) -> None:
    text = sqlrank.sql(every_metric(), dialect=dialect, run="p.d.run", qrels="p.d.qrels", by="system")
    assert text.startswith("-- sqlrank")
    assert len(text) < 200_000
