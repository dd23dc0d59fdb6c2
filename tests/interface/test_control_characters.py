"""No control or bidirectional character stands in a statement: values are written by their numbers,
names and expressions are refused.
"""

import json
import sqlite3

import duckdb
import pytest
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.renderer import to_sql
from tests.interface.test_hostile_text import STEERING, has_controls

HOSTILE = "".join(STEERING.values())
PLACES = {
    "by": {"by": f'"{HOSTILE}"'},
    "group": {"by": f"g='{HOSTILE}'"},
    "group name": {"by": f"{HOSTILE}=day"},
    "where": {"where": f"day = '{HOSTILE}'"},
    "where name": {"where": f'"{HOSTILE}" = 1'},
    "between": {"where": "day /* \x1b[31m */ =\x0c\t\r\n1 -- \u202e"},
    "column": {"columns": {"score": HOSTILE}},
    "expression": {"columns": {"score": f"LENGTH('{HOSTILE}')"}},
    "unit": {"unit": f'"{HOSTILE}"', "confidence": 0.9},
    "table": {"predictions": f'"{HOSTILE}"'},
    "destination": {"create_table": f'"{HOSTILE}"'},
    "system": {"metrics": "RR", "predictions": None, "run": {HOSTILE: "a", "b": "b"}, "qrels": "j"},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "clickhouse"])
@pytest.mark.parametrize("place", PLACES)
def test_no_statement_holds_control_characters(place, dialect):
    arguments = {"metrics": "AUC", "predictions": "clicks", "dialect": dialect, **PLACES[place]}
    try:
        text = sqlrank.sql(**arguments)
    except sqlrank.SqlrankError as error:
        text = str(error)
        assert place not in {"between", "system"}, text
    assert not has_controls(text.replace("\n", ""))


@pytest.mark.parametrize("text", [*STEERING.values(), HOSTILE, "\x1b"])
def test_values_with_control_characters_stay_the_same(text):
    statement = exp.select(exp.Literal.string(text))
    for dialect in DIALECTS:
        assert not has_controls(to_sql(statement, dialect))
    assert duckdb.execute(to_sql(statement, "duckdb")).fetchall() == [(text,)]
    assert sqlite3.connect(":memory:").execute(to_sql(statement, "sqlite")).fetchall() == [(text,)]


@pytest.mark.slow
def test_rows_systems_and_files_may_hold_control_characters(tmp_path):
    path = tmp_path / "a\n\u202eb.json"
    path.write_text(
        json.dumps([{"label": 1, "score": 0.5, "g": HOSTILE}, {"label": 0, "score": 0.5, "g": "a"}])
    )
    assert sqlrank.evaluate("Positives", predictions=str(path), by="g").to_pylist()[1]["g"] == "a"
    assert not has_controls(
        sqlrank.sql("Positives", predictions=str(path), by="g").replace("\n", "")
    )
    runs = {HOSTILE: {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}}
    systems = {
        row["system"] for row in sqlrank.evaluate("RR", run=runs, qrels={"q": {"d": 1}}).to_pylist()
    }
    assert systems == {HOSTILE, "b"}
    assert (
        sqlrank.explain(
            "RR", query="q\x1b", run={"q\x1b": {"d": 1.0}}, qrels={"q\x1b": {"d": 1}}
        ).value
        == 1
    )


def test_a_column_that_is_not_read_may_have_any_name():
    rows = {"label": [1, 0], "score": [0.5, 0.1], HOSTILE: [1, 2]}
    assert sqlrank.evaluate("AUC", predictions=rows).to_pylist() == [{"AUC": 1.0}]
