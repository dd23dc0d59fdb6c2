"""Metrics of predictions do not depend on the types of labels and scores, and compare a threshold
in the type of the scores.
"""

from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from tests.tables import build_table
from website.examples import format_metric, list_roles

SCORES = {
    "tiny": "1e-6",
    "equal": "0.25",
    "tenths": "(i * 7 % 11) / 10.0",
    "spread": "(i * 37 % 101) / 101.0",
    "whole": "i * 7 % 2",
}
LABEL_TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DECIMAL(4, 1)", "FLOAT", "DOUBLE",
)  # fmt: skip
SCORE_TYPES = ("FLOAT", "DOUBLE", "DECIMAL(18, 8)", "HUGEINT", "TINYINT")
CASES = [
    (scores, score_type)
    for scores in SCORES
    for score_type in SCORE_TYPES
    if scores == "whole" or score_type in {"FLOAT", "DOUBLE", "DECIMAL(18, 8)"}
]


BINNED = ("ECE", "MCE", "BrierReliability", "BrierResolution")
"""Metrics that compare scores with the limits of bins."""


def create(connection: duckdb.DuckDBPyConnection, label: str, score: str) -> None:
    connection.execute(
        f"CREATE OR REPLACE TABLE p AS SELECT {label} AS label, {score} AS score FROM RANGE(60)"
        " t(i)"
    )


def evaluate(connection: duckdb.DuckDBPyConnection, metrics: list[str]) -> dict[str, Any]:
    return sqlrank.evaluate(metrics, predictions="p", connection=connection).to_pylist()[0]


@cache
def list_metrics(scores: str) -> list[str]:
    """Return the metrics that evaluate labels and these scores."""
    connection = duckdb.connect()
    create(connection, "CAST(i % 2 AS DOUBLE)", f"CAST({SCORES[scores]} AS DOUBLE)")
    metrics = [
        format_metric(file)
        for file in load_registry().metrics.values()
        if list_roles(file) == ["predictions"]
    ]
    found = []
    for metric in metrics:
        try:
            sqlrank.evaluate(metric, predictions="p", connection=connection)
        except SqlrankError:
            continue
        found.append(metric)
    return found


def _approximate(expected: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (
            pytest.approx(value, rel=1e-12, abs=1e-300)
            if value is None or isinstance(value, float)
            else value
        )
        for name, value in expected.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("scores", "score_type"), CASES)
def test_every_metric_is_that_of_doubles(scores, score_type):
    connection = duckdb.connect()
    score = f"CAST({SCORES[scores]} AS {score_type})"
    create(connection, "CAST(i % 2 AS DOUBLE)", f"CAST({score} AS DOUBLE)")
    metrics = list_metrics(scores)
    expected = evaluate(connection, metrics)
    assert len(expected) > 60
    if score_type == "FLOAT":  # whose bins are those of the scores as they are written
        create(connection, "CAST(i % 2 AS DOUBLE)", f"CAST({SCORES[scores]} AS DOUBLE)")
        binned = evaluate(connection, [*BINNED])
        expected |= {name: pytest.approx(value, abs=1e-7) for name, value in binned.items()}
    for label_type in LABEL_TYPES if scores == "tenths" else ("BOOLEAN", "DOUBLE"):
        create(connection, f"CAST(i % 2 AS {label_type})", score)
        assert evaluate(connection, metrics) == _approximate(expected), label_type
        printed = sqlrank.sql(metrics, predictions="p", connection=connection)
        values = dict(zip(expected, connection.execute(printed).fetchone() or (), strict=True))
        assert values == _approximate(expected)


@pytest.mark.parametrize(
    "label", select_few(["false", "CAST(0 AS TINYINT)", "CAST(0 AS FLOAT)"], 1)
)
def test_arithmetic_of_32_bits_rounds_nothing(label):
    connection = duckdb.connect()
    create(connection, label, "CAST(1e-6 AS FLOAT)")
    row = evaluate(connection, ["LogLoss", "MSLE"])
    assert row["LogLoss"] == pytest.approx(1.0000004974755698e-06, rel=1e-12)
    assert row["MSLE"] == pytest.approx(9.999989249e-13, rel=1e-8)


def test_small_integers_do_not_overflow():
    connection = duckdb.connect()
    create(connection, "CAST(127 AS TINYINT)", "CAST(127 AS TINYINT)")
    assert evaluate(connection, ["MSLE", "MSE"]) == {"MSLE": 0.0, "MSE": 0.0}


@pytest.mark.parametrize("score_type", ["FLOAT", "DOUBLE", "DECIMAL(3, 1)"])
def test_a_threshold_is_compared_in_the_type_of_the_scores(score_type):
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE p AS SELECT label, CAST(score AS {score_type}) AS score FROM (VALUES (1,"
        " 0.7), (0, 0.1)) t(label, score)"
    )
    row = sqlrank.evaluate(
        ["Recall", "SelectionRate"], predictions="p", connection=connection, threshold=0.7
    ).to_pylist()[0]
    assert row == {"Recall": 1.0, "SelectionRate": 0.5}
    assert (
        "rounded to 32 bits"
        in sqlrank.sql("Recall", predictions="p", connection=connection, threshold=0.7)
    ) == (score_type == "FLOAT")


@pytest.mark.parametrize("limit", [0.7, 0.1, 0.5])
def test_scores_of_32_bits_reach_a_threshold(limit, tmp_path):
    parts = {
        name: build_table(label="1", score=pa.array([limit], score_type))
        for name, score_type in (("a", pa.float32()), ("b", pa.float64()), ("c", pa.float32()))
    }
    for name, part in parts.items():
        pq.write_table(part, tmp_path / f"{name}.parquet")
    columns = pa.table({name: part["score"] for name, part in parts.items()})
    calls = [
        {"predictions": parts},
        {"predictions": tmp_path},
        {
            "predictions": columns.append_column("label", pa.array([1])),
            "columns": {"score": [*parts]},
        },
    ]
    for call in calls:
        values = sqlrank.evaluate("Recall", threshold=limit, **call)["Recall"]
        assert {*values.to_pylist()} == {1.0}
    judged = [
        build_table(query_id=[name], doc_id="x", relevance=part["score"])
        for name, part in parts.items()
    ]
    run = {name: ["x"] for name in parts}
    assert sqlrank.evaluate("P@1", run=run, qrels=judged, rel=limit).to_pylist() == [{"P@1": 1.0}]


@pytest.mark.parametrize("grade_type", ["FLOAT", "DOUBLE", "DECIMAL(3, 1)"])
def test_the_lowest_relevant_grade_is_compared_in_the_type_of_the_grades(grade_type):
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE q AS SELECT 'q' AS query_id, doc_id, CAST(grade AS {grade_type}) AS"
        " relevance FROM (VALUES ('a', 0.7), ('b', 0.1), ('c', 0.8)) t(doc_id, grade)"
    )
    sources = {"run": {"q": ["a", "b", "c"]}, "qrels": "q", "connection": connection}
    row = sqlrank.evaluate(["P@3", "RR", "num_rel"], rel=0.7, **sources).to_pylist()[0]
    assert row == {"P@3": pytest.approx(2 / 3), "RR": 1.0, "num_rel": 2.0}


@pytest.mark.parametrize("score_type", ["FLOAT", "DOUBLE", "DECIMAL(8, 7)"])
def test_a_score_is_compared_with_the_limits_of_bins_in_its_type(score_type):
    """Scores of one decimal lie on the limits, and each but the lowest is in the bin below."""
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE p AS SELECT i % 2 AS label, CAST(i / 10 AS {score_type}) AS score FROM"
        f" range(11) AS t(i) UNION ALL SELECT 1, CAST(1e-7 AS {score_type})"
    )
    sources = {"predictions": "p", "connection": connection}
    bins = sqlrank.evaluate("Calibration", **sources).to_pylist()
    assert [row["weight"] for row in bins] == [3.0] + [1.0] * 9
    # by hand: |score - label| of each bin, of which the lowest has 0, 0.1 and 1e-7
    expected = (abs(0.1 - 2) + sum(abs(i / 10 - i % 2) for i in range(2, 11))) / 12
    assert sqlrank.evaluate("ECE", **sources)["ECE"][0].as_py() == pytest.approx(expected, abs=1e-7)
