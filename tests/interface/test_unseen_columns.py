"""Assumptions of printed statements on tables that cannot be looked at, in lines of their headers,
and the advice there: it gives the numbers of ``evaluate``, which reads these columns itself.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from tests.named_sources import name_sources, write_metric

TABLES = """
    CREATE TABLE run AS FROM (VALUES
        ('q', 'a', 3.0, 1), ('q', 'b', 2.0, 1), ('q', 'c', 1.0, 1), ('r', 'a', 1.0, 2)
    ) AS t(query_id, doc_id, score, day);
    CREATE TABLE subtopics AS FROM (VALUES
        ('q', 'a', 1, 's'), ('q', 'a', 1, 't'), ('q', 'b', 1, 's'), ('q', 'c', 2, 's')
    ) AS t(query_id, doc_id, relevance, subtopic);
    CREATE TABLE grades AS
    SELECT query_id, doc_id, CAST(score * 0.3 AS FLOAT) AS relevance FROM run;
    CREATE TABLE topics AS FROM (VALUES ('q', 2.0), ('r', 1.0)) AS t(query_id, weight);
    CREATE TABLE answers AS
    SELECT
        'q' AS query_id, ['a', 'b', 'c'] AS retrieved, [1.0, 2.0, 3.0] AS scores,
        ['a', 'c'] AS relevant, [1.0, 3.0] AS grades;
    CREATE TABLE classes AS
    SELECT i AS prediction_id, CAST(i > 3 AS INT) AS label, [1, 0] AS classes, [i / 8, 1 - i / 8] AS scores
    FROM range(1, 6) AS t(i);
    CREATE TABLE predictions AS
    SELECT
        i % 3 = 0 AS label, CAST(i % 10 / 10 AS FLOAT) AS score, i % 3 + 1.0 AS weight,
        i // 6 AS unit_id
    FROM range(60) AS t(i);
    CREATE TABLE ratings AS
    SELECT i // 3 AS item_id, i % 3 AS judge_id, 1 + i * i // 3 % 4 AS rating, i // 6 AS unit_id
    FROM range(24) AS t(i);
"""
RANKINGS = {"run": "run", "qrels": "subtopics"}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a row for each subtopic": ("nDCG", RANKINGS, {"qrels.subtopic": "subtopic"}),
    "scores and grades in lists": (
        "nDCG",
        {"inputs": {"answers": "answers"}},
        {"answers.scores": "scores", "answers.grades": "grades"},
    ),
    "classes in another order": (
        "TopKAccuracy@1",
        {"inputs": {"multiclass_predictions": "classes"}},
        {"multiclass_predictions.classes": "classes"},
    ),
    "weights of rows": ("Brier", {"predictions": "predictions"}, {"predictions.weight": "weight"}),
    "weights of queries": (
        "DCG",
        {"run": "run", "qrels": "grades", "queries": "topics"},
        {"queries.weight": "weight"},
    ),
    "units": (
        "Brier",
        {"predictions": "predictions", "confidence": 0.9, "columns": {"weight": "1"}},
        {"predictions.unit_id": "unit_id"},
    ),
    "units of several items": (
        "KrippendorffAlpha",
        {"inputs": {"ratings": "ratings"}, "confidence": 0.9},
        {"ratings.unit_id": "unit_id"},
    ),
    "scores of 32 bits": (
        "Recall(threshold=0.7)",
        {"predictions": "predictions", "columns": {"weight": "1"}},
        {"threshold": "0.699999988079071"},
    ),
    "grades of 32 bits": (
        "RR(rel=0.9)",
        {"run": "run", "qrels": "grades"},
        {"rel": "0.8999999761581421"},
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", CASES)
def test_advice_of_the_header_gives_the_numbers_of_evaluate(case):
    metric, call, advised = CASES[case]
    with duckdb.connect() as connection:
        connection.execute(TABLES)
        expected = sqlrank.evaluate(metric, connection=connection, check="off", **call)
        text = sqlrank.sql(metric, **call)
        header = read_header(text)
        assert all(
            f"Map {name} to" in header or f"give {name}={value}\n" in header
            for name, value in advised.items()
        )
        values = [tuple(row.values()) for row in expected.to_pylist()]
        assert connection.sql(text).fetchall() != values
        columns = {name: value for name, value in advised.items() if "." in name}
        for name, value in advised.items() - columns.items():
            metric = f"{metric.partition('(')[0]}({name}={value})"
        followed = sqlrank.sql(
            metric, **{**call, "columns": {**call.get("columns", {}), **columns}}
        )
        assert connection.sql(followed).fetchall() == [pytest.approx(row) for row in values]
        assert not any(f"Map {name} to" in followed for name in advised)


def read_header(text: str) -> str:
    """Return the header of a statement, wrapped lines as one."""
    return text.partition("WITH ")[0].replace("\n--   ", " ")


@cache
def print_headers() -> str:
    """Return the headers of statements of all metrics."""
    files = [file for file in load_registry().metrics.values() if not file.measures_column]
    headers = "".join(
        read_header(sqlrank.sql(write_metric(file), **name_sources(file))) for file in files
    )
    headers += "".join(
        read_header(sqlrank.sql(metric, inputs={role: "t"}))
        for metric, role in (("nDCG", "answers"), ("MulticlassLogLoss", "multiclass_predictions"))
    )
    evidence = {"evidence": "e", "chunks": "c"}
    return headers + read_header(sqlrank.sql("nDCG", run="r", inputs=evidence))


@pytest.mark.slow
def test_every_column_that_is_read_where_it_is_seen_is_named():
    registry, headers = load_registry(), print_headers()
    unnamed = {
        f"{role.name}.{column.name}"
        for role in registry.roles.values()
        for column in role.columns.values()
        if column.default is not None
        or (column.optional and (column.name in role.unique or column.type == "list"))
        if f"Map {role.name}.{column.name} to" not in headers
    }
    assert unnamed == {"training.weight"}  # no statement over it is printed


@pytest.mark.slow
def test_the_page_on_warehouses_lists_every_assumption():
    headers = print_headers()
    for metric, call in (
        *((metric, call) for metric, call, _ in CASES.values()),
        ("RR", {**RANKINGS, "by": "day"}),
        ("RR", {**RANKINGS, "dialect": "postgres"}),
        ("RR", {"rollup": "daily"}),
    ):
        headers += read_header(sqlrank.sql(metric, **call))
    page = (Path(__file__).parents[2] / "docs" / "warehouse.md").read_text("utf-8")
    section = page.partition("## Assumptions of printed statements")[2].partition("\n## ")[0]
    listed = re.findall(r"\| `([^`]+)`[^|]* \|$", section, re.MULTILINE)
    assumed = [
        line
        for line in headers.splitlines()
        if re.search("cannot be looked at|taken to|count in each", line)
    ]
    assert [line for line in assumed if not any(words in line for words in listed)] == []
    assert [words for words in listed if words not in headers] == []


def test_texts_that_order_ties_on_postgresql_have_the_collation_that_is_mapped():
    call: dict[str, Any] = {**RANKINGS, "dialect": "postgres"}
    assert "taken to have the collation C" in sqlrank.sql("RR", **call)
    followed = sqlrank.sql("RR", columns={"doc_id": 'doc_id COLLATE "C"'}, **call)
    assert "collation" not in followed
    assert followed.count('"doc_id" COLLATE "C" AS doc_id') == 2
    assert "collation" not in sqlrank.sql("RR", **{**call, "dialect": "redshift"})
