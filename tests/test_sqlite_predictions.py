"""Every metric and curve of predictions on SQLite, by every strategy, with DuckDB's numbers."""

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
STRATEGIES = ("window", "grouped", "bucketed")
VARIANTS = [
    "AUC(tie_credit=0)",
    "GAUC(importance=equal)",
    "GAUC(importance=weight)",
    "GAUC(importance=positives)",
    "pAUC(scaling=ratio)@0.2",
    "pAUC(scaling=raw)@0.2",
    "PRAUC(interpolation=from_one)",
    "PRAUC(interpolation=davis_goadrich)",
    "LiftQuality(lift_variant=magnetic_spark)",
    "ECE(binning=equal_mass, bins=4)",
    "MCC(cut=best, criterion=youden)",
    "MCC(cut=best, criterion=mcc)",
    "Accuracy(cut=best, criterion=accuracy)",
    "ThresholdUsed(cut=best, criterion=f, beta=2)",
    "PnDCG@7",
]
CURVES = ["ROC", "ROC(points=10)", "PR", "PR(points=10)", "Gain", "Lift", "Threshold", "Calibration", "Calibration(binning=equal_mass)"]
TABLE = """
    SELECT i % 4 AS shop, i % 7 AS query_id, i AS rank, i * 7 % 3 // 2 AS label, (1 + i * 11 % 17) / 20.0::DOUBLE AS score,
        (i % 5) / 2.0::DOUBLE AS weight
    FROM range(140) AS t(i)
    UNION ALL SELECT 9, 1, 1, 0, 0.25, 1
    UNION ALL SELECT NULL, 1, 1, 1, 0.25, 1
"""


def every_metric() -> list[str]:
    names = []
    for file in library().metrics.values():
        if "predictions" in library().inputs(file):
            needs = file.at is not None and file.at.default is None
            names.append(f"{file.display_name}@{EXAMPLE[file.at.type]}" if needs else file.display_name)
    return names


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    """Shops with ties, weights of 0, one class, and none named."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE predictions AS {TABLE}")
    return connection


@pytest.fixture
def lite(duck: duckdb.DuckDBPyConnection) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for name in ("log", "exp", "sqrt"):
        function = getattr(math, name)
        connection.create_function(
            {"log": "ln"}.get(name, name), 1, lambda x, function=function: None if x is None else function(x), deterministic=True
        )
    connection.create_function("floor", 1, lambda x: None if x is None else math.floor(x), deterministic=True)
    columns = ["shop", "query_id", "rank", "label", "score", "weight"]
    connection.execute(f"CREATE TABLE predictions ({', '.join(columns)})")
    rows = duck.execute("SELECT * FROM predictions").fetchall()
    connection.executemany("INSERT INTO predictions VALUES (?, ?, ?, ?, ?, ?)", rows)
    with closing(connection):
        yield connection


def assert_same(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection, metrics: list[str] | str, **options: object) -> None:
    columns = {"weight": "weight"} if options.pop("weighted", True) else {"weight": "rank * 0 + 1"}
    expected = sqlrank.evaluate(metrics, predictions="predictions", connection=duck, columns=columns, **options)
    rows = lite.execute(sqlrank.sql(metrics, dialect="sqlite", predictions="predictions", columns=columns, **options)).fetchall()
    assert len(rows) == expected.num_rows > 0
    for row, values in zip(rows, expected.to_pylist(), strict=True):
        for got, (name, value) in zip(row, values.items(), strict=True):
            assert got == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), name


@pytest.mark.parametrize("by", [(), "shop", [["shop"], []]], ids=str)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_metric(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection, strategy: str, by: object) -> None:
    assert_same(duck, lite, [*every_metric(), *VARIANTS], strategy=strategy, by=by)


def test_every_metric_per_query_and_in_row_order(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection) -> None:
    assert_same(duck, lite, every_metric(), per_query=True)
    assert_same(duck, lite, ["AUC", "LiftQuality", "APS", "KS"], ties="row_order", by="shop")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("curve", CURVES)
def test_curves(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection, curve: str, strategy: str) -> None:
    assert_same(duck, lite, curve, strategy=strategy, by="shop")


def test_without_weights(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection) -> None:
    unweighted = duck.sql("SELECT shop, label, score FROM predictions")
    expected = sqlrank.evaluate(["AUC", "APS", "KS", "Brier"], predictions=unweighted, connection=duck, by="shop")
    assert expected.schema.metadata[b"sqlrank.strategy"] == b"ranked"
    rows = lite.execute(sqlrank.sql(["AUC", "APS", "KS", "Brier"], dialect="sqlite", predictions="predictions", by="shop")).fetchall()
    assert len(rows) == 6
    for row, values in zip(rows, expected.to_pylist(), strict=True):
        assert row == tuple(pytest.approx(value, rel=1e-12) if isinstance(value, float) else value for value in values.values())


def test_groups_named_like_columns_of_the_statement(duck: duckdb.DuckDBPyConnection, lite: sqlite3.Connection) -> None:
    duck.execute("CREATE OR REPLACE TABLE clash AS SELECT shop AS positives, rank % 2 AS slice, label, score FROM predictions")
    expected = sqlrank.evaluate(["AUC", "ECE"], predictions="clash", connection=duck, by=["positives", "slice"])
    lite.execute("CREATE TABLE clash AS SELECT shop AS positives, rank % 2 AS slice, label, score FROM predictions")
    rows = lite.execute(sqlrank.sql(["AUC", "ECE"], dialect="sqlite", predictions="clash", by=["positives", "slice"])).fetchall()
    assert len(rows) == expected.num_rows > 5
    for row, values in zip(rows, expected.to_pylist(), strict=True):
        assert row == tuple(pytest.approx(value, rel=1e-12) if isinstance(value, float) else value for value in values.values())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_metric_can_be_written_for_every_dialect(dialect: str) -> None:
    for strategy in ("auto", *STRATEGIES):
        text = sqlrank.sql([*every_metric(), *VARIANTS], dialect=dialect, predictions="predictions", by="shop", strategy=strategy)
        assert len(text) < 200_000
        assert text.startswith("-- sqlrank")
    for curve in CURVES:
        assert "FROM" in sqlrank.sql(curve, dialect=dialect, predictions="predictions", by="shop")
