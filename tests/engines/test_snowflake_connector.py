"""Evaluation over snowflake-connector-python on fakesnow: calls and the case of names, not
Snowflake's arithmetic.

fakesnow is DuckDB behind Snowflake's connector, so equal numbers prove nothing of Snowflake; it has
an environment of its own.
"""

import json
import subprocess
from typing import Any

import duckdb
import pytest

import sqlrank
from tests.environments import make_environment

REQUIREMENTS = ["fakesnow==0.12.1", "snowflake-connector-python<5", "numpy"]
SETUP = [
    (
        "CREATE TABLE shop.eval.clicks AS SELECT seq % 3 AS Campaign, seq % 5 % 2 AS label, seq * 7"
        " % 11 / 11 AS score FROM (SELECT ROW_NUMBER() OVER (ORDER BY 1) AS seq FROM"
        " TABLE(GENERATOR(ROWCOUNT => 60)))"
    ),
    (
        "CREATE TABLE shop.eval.runs AS SELECT Campaign AS \"odd Name\", 'q' || label AS query_id,"
        " score * 1000 AS doc_id, MAX(score) AS score FROM shop.eval.clicks GROUP BY 1, 2, 3"
    ),
    (
        "CREATE TABLE shop.eval.truth AS SELECT DISTINCT query_id, doc_id, 1 AS relevance FROM"
        " shop.eval.runs WHERE score < 0.5"
    ),
]
PROGRAM = """
import json, sys
import fakesnow, snowflake.connector
with fakesnow.patch():
    with snowflake.connector.connect(database="shop", schema="eval") as connection, connection.cursor() as cursor:
        answers = []
        for statement in json.load(sys.stdin):
            cursor.execute(statement)
            answers.append({"columns": [column.name for column in cursor.description], "rows": cursor.fetchall()})
print(json.dumps(answers, default=float))
"""


@pytest.mark.slow
def test_fakesnow_proves_the_wiring_through_the_connector_not_what_snowflake_computes(
    pytestconfig, tmp_path
):
    rankings = {"run": "shop.eval.runs", "qrels": "shop.eval.truth", "by": '"odd Name"'}
    clicks = {"predictions": "shop.eval.clicks", "by": "campaign", "where": "campaign < 2"}
    queries = [
        sqlrank.sql(["nDCG@10", "RR"], dialect="snowflake", **rankings),
        sqlrank.sql(
            ["Brier", "Positives"], dialect="snowflake", plan={"score_order": "window"}, **clicks
        ),
        sqlrank.sql(
            ["Brier", "Positives"], dialect="snowflake", create_table="shop.eval.daily", **clicks
        ),
        sqlrank.sql(
            ["Brier", "Positives"], dialect="snowflake", insert="shop.eval.daily", **clicks
        ),
        sqlrank.sql(
            ["Brier", "Positives"], dialect="snowflake", create_view="shop.eval.latest", **clicks
        ),
        "SELECT * FROM shop.eval.daily ORDER BY campaign",
        "SELECT * FROM shop.eval.latest ORDER BY campaign",
        *(f"SELECT * FROM shop.eval.{name}" for name in ("clicks", "runs", "truth")),
    ]
    programs = make_environment(pytestconfig, "fakesnow", REQUIREMENTS)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [str(programs / "python"), str(program)],
        input=json.dumps(SETUP + queries),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)[len(SETUP) :]
    assert answers[0]["columns"] == ["odd Name", "NDCG_AT_10", "RR"]
    for answer in (answers[1], answers[5], answers[6]):
        assert answer["columns"] == ["CAMPAIGN", "BRIER", "POSITIVES"]
    with duckdb.connect() as connection:
        for name, answer in zip(("clicks", "runs", "truth"), answers[7:], strict=True):
            marks = ", ".join("?" * len(answer["columns"]))
            connection.execute(
                f"CREATE TABLE {name}"
                f" ({', '.join(f'{chr(34)}{column}{chr(34)} {read_type(answer, i)}' for i, column in enumerate(answer['columns']))})"
            )
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", answer["rows"])
        expected = [
            sqlrank.evaluate(
                ["nDCG@10", "RR"], connection=connection, run="runs", qrels="truth", by="odd Name"
            ),
            sqlrank.evaluate(
                ["Brier", "Positives"],
                connection=connection,
                predictions="clicks",
                by="campaign",
                where="campaign < 2",
            ),
        ]
    metrics, rows = ([[*row.values()] for row in result.to_pylist()] for result in expected)
    for got, wanted in (
        (answers[0], metrics),
        (answers[1], rows),
        (answers[6], rows),
        (answers[5], [row for row in rows for _ in range(2)]),
    ):
        assert got["rows"] == [pytest.approx(row, rel=1e-9) for row in wanted]
        assert len(wanted) > 1


def read_type(answer: dict[str, Any], position: int) -> str:
    """Return the type of a column that came back as JSON."""
    return "TEXT" if isinstance(answer["rows"][0][position], str) else "DOUBLE"
