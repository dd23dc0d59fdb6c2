"""Columns are mapped for every input or for one, to names or to expressions in the SQL of the
engine, as are those of ``by``.
"""

import ast
import re
import sqlite3
from contextlib import closing
from datetime import datetime
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError
from tests.interface.command_line import app
from tests.tables import build_table, read_columns

RUN = build_table(
    term="A A B",
    doc="1 2 1",
    points="1.0 2.0 3.0",
    ts=["2026-01-01 10:00", "2026-01-01 11:00", "2026-01-02 09:00"],
)
QRELS = build_table(search="a b", doc="1 1", grade="1 2")
SEPARATE = {
    "run.query_id": "LOWER(term)",
    "qrels.query_id": "search",
    "doc_id": "doc",
    "score": "points / 2",
    "relevance": "grade - 0",
}
CLICKS = build_table(
    label="1 0 1 0",
    score="0.9 0.2 0.3 0.4",
    ts=["2026-01-01 10:00", "2026-01-01 11:00", "2026-01-02 01:00", "2026-01-02 02:00"],
)


def evaluate_rows(metrics: Any, **options: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in sqlrank.evaluate(metrics, **options).to_pylist()]


def make_database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, table in {"run": RUN, "qrels": QRELS, "clicks": CLICKS}.items():
        connection.from_arrow(table).create(name)
    return connection


def test_columns_of_one_input_and_expressions_of_rankings():
    assert evaluate_rows(["RR", "num_q"], run=RUN, qrels=QRELS, columns=SEPARATE) == [(0.75, 2)]
    with make_database() as connection:
        printed = sqlrank.sql(["RR", "num_q"], run="run", qrels="qrels", columns=SEPARATE)
        assert connection.execute(printed).fetchall() == [(0.75, 2)]
        looked = sqlrank.sql(
            ["RR", "num_q"], run="run", qrels="qrels", columns=SEPARATE, connection=connection
        )
        assert connection.execute(looked).fetchall() == [(0.75, 2)]


def test_a_mapping_of_one_input_overrides_that_of_all():
    columns = {
        "query_id": "search",
        "run.query_id": "LOWER(term)",
        "doc_id": "doc",
        "score": "points",
        "relevance": "grade",
    }
    assert evaluate_rows("RR", run=RUN, qrels=QRELS, columns=columns) == [(0.75,)]


@pytest.mark.slow
def test_groups_by_an_expression():
    columns = {**SEPARATE, "score": "points", "relevance": "grade"}
    # On each day both queries are asked, and one is answered.
    expected = [("2026-01-01", 0.25), ("2026-01-02", 0.5)]
    assert (
        evaluate_rows("RR", run=RUN, qrels=QRELS, columns=columns, by="day=SUBSTR(ts, 1, 10)")
        == expected
    )
    found = sqlrank.evaluate("AUC", predictions=CLICKS, by=[["day=SUBSTR(ts, 1, 10)"], []])
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (None, "all", 0.75),
        ("2026-01-01", "day", 1.0),
        ("2026-01-02", "day", 0.0),
    ]
    assert found.column_names == ["day", "slice", "AUC"]
    with make_database() as connection:
        for options in ({}, {"connection": connection}):
            text = sqlrank.sql("AUC", predictions="clicks", by="day=SUBSTR(ts, 1, 10)", **options)
            assert connection.execute(text).fetchall() == [("2026-01-01", 1.0), ("2026-01-02", 0.0)]
            assert [column[0] for column in connection.description] == ["day", "auc"]
            text = sqlrank.sql(
                "RR",
                run="run",
                qrels="qrels",
                columns=columns,
                by=["day=SUBSTR(ts, 1, 10)"],
                **options,
            )
            assert connection.execute(text).fetchall() == expected


GROUPED = build_table(label="1 0 0 1", score="0.9 0.2 0.4 0.3", n="1 2 1 3", code="a b a NULL", lst=[[1], [2], [1], [3]], day=[datetime.fromisoformat(f"2026-01-0{number}T12:00") for number in (1, 2, 1, 3)], st=[{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 1}])  # fmt: skip

EXPRESSIONS = [
    "n % 3", "n > 1", "n = 1", "n == 1", "n <> 1", "n >= 2", "-n", "NOT n > 1", "(n)", "n = ANY([1, 4])", "n IN (1, 4)", "n BETWEEN 1 AND 1", "n IS NULL OR n = 1",
    "CASE WHEN n > 1 THEN 1 END", "COALESCE(code, 'it''s')", "code || 'x'", "code LIKE 'a%'", "code = 'a'", "day::DATE", "day AT TIME ZONE 'Asia/Tokyo'",
    "day AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'", "EXTRACT(day FROM day)", "st.a", "lst[1]", "lst[1:1]",
]  # fmt: skip


def _mark_slow_but_few(texts: list[str]) -> list[Any]:
    quick = {
        "n % 3", "n = 1", "n = ANY([1, 4])", "COALESCE(code, 'it''s')", "day AT TIME ZONE 'Asia/Tokyo'",
        "st.a",
    }  # fmt: skip
    return [pytest.param(text, marks=() if text in quick else pytest.mark.slow) for text in texts]


@pytest.mark.parametrize("text", _mark_slow_but_few(EXPRESSIONS))
def test_groups_by_an_expression_without_a_name_lead_to_one_with_a_name(text):
    named = f"name={text}"
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=GROUPED, by=text)
    advice = re.search(
        r"is (?:an expression without a name|one group of all rows, named as a column)\. Write"
        r" by=(.*), or (?:quote the name of a column|where=.*)$",
        str(caught.value),
    )
    assert advice is not None
    assert ast.literal_eval(advice[1]) == named
    with duckdb.connect() as connection:
        connection.register("grouped", GROUPED)
        counts = connection.execute(
            f"SELECT COUNT(*) FROM grouped GROUP BY ({text}) ORDER BY 1"
        ).fetchall()
    totals = sqlrank.evaluate("Sum(one)", predictions=GROUPED, columns={"one": "1"}, by=named)[
        "Sum(one)"
    ].to_pylist()
    assert sorted(totals) == [count for (count,) in counts]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["run.n % 2", "run.st.a", "n % 2", "st.a"])
def test_groups_of_rankings_by_an_expression_without_a_name(text):
    run = build_table(
        query_id="q1 q2", doc_id="d d", score="1.0 1.0", n="1 2", st=[{"a": 1}, {"a": 0}]
    )
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", run=run, qrels={"q1": {"d": 1}, "q2": {"e": 1}}, by=text)
    assert f"Write by='name={text}'" in str(caught.value)
    rows = sqlrank.evaluate(
        "num_ret", run=run, qrels={"q1": {"d": 1}, "q2": {"e": 1}}, by=f"name={text}"
    ).to_pylist()
    assert rows == [{"name": 0, "num_ret": 1.0}, {"name": 1, "num_ret": 1.0}]


def test_an_expression_is_in_the_sql_of_the_engine():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE clicks (label, score, ts)")
        connection.executemany(
            "INSERT INTO clicks VALUES (?, ?, ?)",
            [tuple(row.values()) for row in CLICKS.to_pylist()],
        )
        got = evaluate_rows(
            "AUC",
            predictions="clicks",
            by="hour=STRFTIME('%Y', ts)",
            columns={"score": "IIF(label = 1, 0.5, score)"},
            connection=connection,
        )
    assert got == [("2026", 1.0)]
    text = sqlrank.sql("AUC", predictions="shop.clicks", by="day=DATE(ts)", dialect="bigquery")
    assert "DATE(`ts`)" in text
    assert "AS `day`" in text


def test_expressions_of_labels_that_are_judgments():
    data = build_table(query_id="1 1", doc_id="1 2", points="1 2", stars="5 3")
    columns = {
        "score": "points * 1.5",
        "label": "CASE WHEN stars > 4 THEN 1 ELSE 0 END",
        "query_id": "query_id + 1",
    }
    assert evaluate_rows("RR", predictions=data, columns=columns) == [(0.5,)]
    assert evaluate_rows(["RR", "AUC"], predictions=data, columns=columns, per_query=True) == [
        (2, 0.5, 0.0)
    ]
    with duckdb.connect() as connection:
        connection.from_arrow(data).create("shown")
        text = sqlrank.sql(
            ["RR", "AUC"], predictions="shown", columns=columns, by="grade=points // 10"
        )
        assert connection.execute(text).fetchall() == [(0, 0.5, 0.0)]


def test_a_number_is_a_number_wherever_it_is_read():
    with make_database() as connection:
        for options in ({}, {"connection": connection}):
            text = sqlrank.sql("AUC", predictions="clicks", columns={"weight": "1"}, **options)
            assert '"1"' not in text
            assert connection.execute(text).fetchall() == [(0.75,)]
    assert evaluate_rows("AUC", predictions=CLICKS, columns={"weight": "1"}) == [(0.75,)]
    assert evaluate_rows("AUC", predictions=CLICKS, columns={"weight": "2.5"}) == [(0.75,)]


def test_the_command_line(tmp_path):
    path = str(tmp_path / "clicks.parquet")
    with make_database() as connection:
        connection.execute(f"COPY clicks TO '{path}'")
    called = CliRunner().invoke(
        app,
        (
            f"evaluate AUC --predictions {path} --by 'day=SUBSTR(ts, 1, 10),label' --by "
            "total --format csv"
        ),
    )
    assert called.exit_code == 2
    assert "by cannot name 'label'" in called.stderr
    called = CliRunner().invoke(
        app,
        (f"evaluate AUC --predictions {path} --by 'day=SUBSTR(ts, 1, 10)' --by total --format csv"),
    )
    assert called.stdout.splitlines() == [
        "day,slice,AUC",
        ",all,0.75",
        "2026-01-01,day,1.0",
        "2026-01-02,day,0.0",
    ]


@pytest.mark.parametrize("metric", ["Mean(score)", "Mean(predictions.other)"])
def test_one_of_several_scores_is_no_measured_column(metric):
    clicks = read_columns(label="1 0", score="0.9 0.1", other="0.4 0.8", cost="1 3")
    scores = {"score": ["score", "other"]}
    for call in (sqlrank.evaluate, sqlrank.compare):
        with pytest.raises(InputError, match="under each of the scores score, other, so that its"):
            call(metric, predictions=clicks, columns=scores)
    both = sqlrank.evaluate(["Mean(score)", "Mean(other)"], predictions=clicks).to_pylist()
    assert both == [{"Mean(score)": pytest.approx(0.5), "Mean(other)": pytest.approx(0.6)}]
    costs = sqlrank.evaluate("Mean(cost)", predictions=clicks, columns=scores)
    assert costs["Mean(cost)"].to_pylist() == [2, 2]


@pytest.mark.parametrize(
    ("by", "advised"),
    [
        ("country,device", "by=['country', 'device']"),
        (["country,device", "total"], "by=[['country', 'device'], []]"),
    ],
)
def test_groupings_as_the_command_line_has_them(by, advised):
    clicks = build_table(label="1 0", score="0.9 0.1", country="de de", device="a a")
    with pytest.raises(InputError) as error:
        sqlrank.evaluate("AUC", predictions=clicks, by=by)
    assert str(error.value).endswith(advised)
    groups = ast.literal_eval(advised.removeprefix("by="))
    assert "AUC" in sqlrank.evaluate("AUC", predictions=clicks, by=groups).column_names
