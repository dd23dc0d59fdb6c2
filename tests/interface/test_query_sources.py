"""A query is a source: of every role, in Python, on the command line and in statements of all
dialects.
"""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlrank
from sqlrank import InputError
from sqlrank.call.sources import QuerySource, is_query_text
from sqlrank.engines.query_sources import parse_query
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.renderer import to_sql
from tests.interface.calls import assert_refused
from tests.interface.command_line import invoke_command, run_command
from tests.interface.command_line import run_refused_command as command_refused
from tests.interface.connections import ONE_QRELS, ONE_RUN
from tests.interface.test_reports import Page
from tests.tables import build_table

RUN = (
    "SELECT 'q' || (i // 4) AS query_id, 'd' || i AS doc_id, i * 7 % 5 AS score, 's' || i % 2 AS"
    " system FROM range(20) AS t(i)"
)
QRELS = (
    "SELECT 'q' || (i // 4) AS query_id, 'd' || i AS doc_id, i % 3 AS relevance FROM range(20) AS"
    " t(i)"
)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"CREATE TABLE run AS {RUN}")
        connection.execute(f"CREATE TABLE qrels AS {QRELS}")
        yield connection


def evaluate_sources(con: Any, run: Any = "run", qrels: Any = "qrels", **call: Any) -> pa.Table:
    return sqlrank.evaluate(
        ["nDCG@3", "AP", "num_ret"], run=run, qrels=qrels, connection=con, **call
    )


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM run",
        "select*from run",
        "FROM run",
        "from\n\trun ;\n -- the end",
        "((SELECT * FROM run))",
        "( -- all\n FROM run /* of it */ )",
        "-- all\n/* of it */ SELECT query_id, doc_id, score FROM run WHERE NOT score IS NULL",
        "WITH run_query AS (SELECT * FROM run), qrels AS (FROM run_query) SELECT * FROM qrels",
        "WITH RECURSIVE run AS (SELECT * FROM main.run) SELECT * FROM run ORDER BY random()",
        "(SELECT * FROM run WHERE score > 1) UNION ALL (SELECT * FROM run WHERE score <= 1)",
        (
            "SELECT query_id, doc_id, CAST(score AS DOUBLE) AS score FROM run WHERE doc_id <>"
            " 'SELECT; DROP TABLE run; -- '"
        ),
        'SELECT query_id, doc_id, 0.5 * score AS score, 1 / 3 AS "odd; ""name""" FROM run',
    ],
)
def test_a_query_gives_what_its_rows_give(con, text):
    expected = [pytest.approx(row) for row in evaluate_sources(con).to_pylist()]
    for source in (text, sqlrank.query(text)):
        result = evaluate_sources(con, run=source)
        assert result.to_pylist() == expected
        statement = result.schema.metadata[b"sqlrank.sql"].decode()
        assert con.sql(statement).fetchall()[0][:3] == pytest.approx(
            tuple(result.to_pylist()[0].values())
        )
        assert (
            sqlglot.parse_one(statement, read="duckdb")
            .find(sqlglot.exp.CTE)
            .alias.startswith("run_query")
        )
    assert con.sql("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []


@pytest.mark.slow
def test_names_of_tables_and_files_are_no_queries(con, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con.execute("CREATE TABLE selected AS FROM run")
    con.execute('CREATE TABLE "from" AS FROM run')
    con.execute("COPY run TO 'select x.parquet'")
    for name in ("selected", "from", "select x.parquet"):
        assert not is_query_text(name)
        assert evaluate_sources(con, run=name).to_pylist() == [
            pytest.approx(row) for row in evaluate_sources(con).to_pylist()
        ]


def test_rows_of_a_query_are_computed_once():
    """Random rows are the same for the checks, for each step, and for both uses of a query."""
    runs = dict.fromkeys(("a", "b"), f"SELECT query_id, doc_id, random() AS score FROM ({RUN})")
    result = sqlrank.evaluate(["AP", "num_ret"], run=runs, qrels=QRELS, by="system")
    first, second = result["AP"].to_pylist()
    assert first == pytest.approx(second, rel=1e-12)  # DuckDB adds up rows in any order
    assert result["num_ret"].to_pylist() == [20, 20]
    labels = "SELECT CAST(random() < 0.5 AS INT) AS label, random() AS score FROM range(1000)"
    counts = sqlrank.evaluate(
        ["Positives", "Negatives", "AUC", "LogLoss"], predictions=labels
    ).to_pylist()[0]
    assert counts["Positives"] + counts["Negatives"] == 1000


@pytest.mark.slow
def test_a_choice_of_rows_is_read_in_place(con):
    counts = []
    for text in ("SELECT * FROM run WHERE score > 1", "SELECT * FROM run WHERE abs(score) > 1"):
        before = con.sql("SELECT count(*) FROM duckdb_tables()").fetchall()
        statement = (
            evaluate_sources(con, run=text, by="system").schema.metadata[b"sqlrank.sql"].decode()
        )
        counts.append(statement.count("run_rows AS NOT MATERIALIZED"))
        assert con.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == before
    assert counts == [1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT 1; SELECT 2",
            "run: a query is one SELECT, and this text holds 2 statements. Give one of them",
        ),
        (
            "WITH a AS (DELETE FROM run RETURNING *) SELECT * FROM a",
            "run: the query holds DELETE, and a source is only read",
        ),
        (
            "WITH a AS (SELECT 1) INSERT INTO run SELECT * FROM a",
            "run: a query is one SELECT, not INSERT",
        ),
        ("SELECT * INTO other FROM run", "run: the query holds INTO, and a source is only read"),
        ("SELECT * FROM run FOR UPDATE", "run: the query holds LOCK, and a source is only read"),
        (
            "SELECT FROM WHERE",
            (
                "run: the query cannot be read as SQL of duckdb near line 1, column 17. Make a view"
                " of it"
            ),
        ),
        (
            "SELECT 1) AS x; DROP TABLE run; SELECT (1",
            "run: the query cannot be read as SQL of duckdb near line 1, column 9",
        ),
        (
            "SELECT 'a",
            "run: the query cannot be read as SQL of duckdb. Make a view of it, and name that",
        ),
        ("WITH a AS (SELECT 1) PIVOT a ON x", "run: a query is one SELECT, not PIVOT"),
        (
            "SELECT * FROM nowhere",
            "Catalog Error: Table with name nowhere does not exist! The database has: qrels, run",
        ),
        (
            "SELECT query_id, doc_id, CAST(doc_id AS INT) AS score FROM run",
            "run: the query failed: Conversion Error: Could not convert",
        ),
        ("SELECT query_id, doc_id FROM run", "run (a query): no column 'score'"),
        ("SELECT * FROM run WHERE error('stop')", "run: the query failed: "),
    ],
)
def test_what_is_not_one_select_or_fails_is_refused_by_role(con, text, message):
    assert_refused(message, run=text, qrels="qrels", connection=con)
    assert con.sql("SELECT count(*) FROM run").fetchall() == [(20,)]


def test_a_table_of_a_query_needs_a_connection():
    refusal = (
        "Table with name run does not exist! Give connection= to the database of the table, or read"
        " files, as in FROM 'run.parquet'"
    )
    assert_refused(refusal, run="SELECT * FROM run", qrels=QRELS)


@pytest.mark.slow
def test_other_forms_of_queries_are_recognized(con, tmp_path):
    for text in ("VALUES (1, 2, 3)", "TABLE run", "DELETE FROM run"):
        assert_refused(
            "A query as a source begins with SELECT, WITH or FROM",
            run=text,
            qrels="qrels",
            connection=con,
        )
    path = tmp_path / "run.sql"
    path.write_text("-- all\nSELECT * FROM run\n", "utf-8")
    assert_refused(
        f"The query in a file is sqlrank.query(Path('{path}'))",
        run=f"@{path}",
        qrels="qrels",
        connection=con,
    )
    assert_refused(
        "is a file of SQL. For the rows of its query, give sqlrank.query(Path(...))",
        run=path,
        qrels="qrels",
        connection=con,
    )
    for query in (sqlrank.query(path), sqlrank.query(str(path))):
        assert sqlrank.evaluate("num_ret", run=query, qrels="qrels", connection=con)[
            "num_ret"
        ].to_pylist() == [20]
    assert_refused(
        "An address is no source. In Python, name its tables, and give an open connection",
        run="spark://host/run",
        qrels="qrels",
        connection=con,
    )
    assert_refused(
        "Read a text of JSON with json.loads",
        run='[{"query_id": "q1"}]',
        qrels="qrels",
        connection=con,
    )


def test_variables_of_python_are_no_tables():
    table = build_table(query_id="1", doc_id="1", score="1.0")
    with closing(duckdb.connect()) as con:
        for connection in (None, con):
            assert_refused(
                "Table with name table does not exist!",
                run='SELECT * FROM "table"',
                qrels=QRELS,
                connection=connection,
            )
        assert con.sql("SELECT current_setting('python_enable_replacements')").fetchall() == [
            (True,)
        ]
    assert table.num_rows == 1


@pytest.mark.slow
def test_every_role_takes_a_query(con):
    clicks = (
        "SELECT i % 3 = 0 AS label, i * 13 % 29 / 32 AS score, 'u' || i AS user_id, 'v' || i % 2 AS"
        " variant FROM range(300) AS t(i)"
    )
    con.execute(f"CREATE TABLE clicks AS {clicks}")
    queries = (
        "SELECT query_id, min(doc_id) AS doc_id FROM qrels WHERE query_id <> 'q1' GROUP BY ALL"
    )
    assert evaluate_sources(con, queries=queries)["num_ret"].to_pylist() == [16]
    history = {"history": "SELECT query_id, doc_id FROM qrels"}
    assert sqlrank.evaluate(
        "MeanPopularity@2", run="run", inputs=history, connection=con
    ).to_pylist() == [{"MeanPopularity@2": 1.0}]
    for function, options in [
        (sqlrank.split, {"key": "user_id", "salt": "x", "folds": 2}),
        (sqlrank.experiment, {"metrics": "Mean(score)", "unit": "user_id", "control": "v0"}),
        (sqlrank.rollup, {"metrics": ["AUC"]}),
    ]:
        argument = {"split": "source", "experiment": "data"}.get(function.__name__, "predictions")
        results = [
            function(**options, connection=con, **{argument: source}).to_pylist()
            for source in ("clicks", f"{clicks} OFFSET 0")
        ]
        assert sorted(results[0], key=str) == [
            pytest.approx(row) for row in sorted(results[1], key=str)
        ]
    con.register("rollup", sqlrank.rollup("AUC", predictions=clicks))
    expected = sqlrank.evaluate("AUC", predictions="clicks", connection=con).to_pylist()[0]["AUC"]
    result = sqlrank.evaluate("AUC", rollup="SELECT * FROM rollup", connection=con).to_pylist()[0]
    assert result["AUC.bound_low"] <= expected <= result["AUC.bound_high"]


@pytest.mark.slow
def test_statements_of_all_dialects_begin_with_the_query():
    for dialect in DIALECTS:
        run = (
            "SELECT query_id, doc_id, 1 / rank AS score, 'a\n  b' AS note -- as it is\n    FROM"
            " run.logs\n    WHERE rank < 0.5"
        )
        statement = sqlrank.sql(
            "P@5", run=run, qrels="SELECT * FROM run_query JOIN run", dialect=dialect
        )
        names = [
            cte.alias
            for cte in sqlglot.parse_one(statement, read=DIALECTS[dialect].sqlglot_name).find_all(
                sqlglot.exp.CTE
            )
        ]
        assert len(names) == len(set(names))
        assert {"qrels_query", "run_query_2"} <= {*names}
        assert "run_query" not in names
        assert "run" not in names
        text = (
            "SELECT query_id, doc_id, 1 / rank AS score, 'a\n  b' AS note -- as it is\n  FROM"
            " run.logs\n  WHERE rank < 0.5"
        )
        assert f"  -- the query given as run\n  {text}\n)" in statement


def test_equal_queries_are_one_step():
    statement = sqlrank.sql("RR", run="SELECT * FROM labels", qrels="SELECT * FROM labels")
    assert statement.partition("\nWITH ")[2].count("SELECT * FROM labels") == 1
    labels = (
        "SELECT query_id, doc_id, random() AS score, 1 AS relevance FROM (SELECT i AS query_id, i"
        " AS doc_id FROM range(9) AS t(i))"
    )
    result = sqlrank.evaluate(
        ["RR", "num_ret"], run=labels, qrels=labels, columns={"qrels.relevance": "score"}, rel=0.5
    )
    assert result["num_ret"].to_pylist() == [9]
    assert (
        "made by: sqlrank sql RR --run 'SELECT * FROM labels' --qrels 'SELECT * FROM labels'"
        in statement
    )


def test_a_result_does_not_replace_a_table_of_the_query():
    for name in ("logs", "shop.logs", "SHOP.Logs"):
        with pytest.raises(InputError, match=r"^create_table: .* is an input"):
            sqlrank.sql(
                "AUC", predictions="SELECT * FROM shop.logs", create_table=name, dialect="bigquery"
            )
    assert "CREATE OR REPLACE TABLE" in sqlrank.sql(
        "AUC", predictions="SELECT * FROM shop.logs", create_table="x.logs", dialect="bigquery"
    )


def test_a_query_over_files_is_looked_at(tmp_path, con):
    con.execute(f"COPY run TO '{tmp_path}/run.parquet'")
    con.execute(f"COPY qrels TO '{tmp_path}/qrels.csv'")
    run, qrels = f"FROM '{tmp_path}/run.parquet'", f"SELECT * FROM read_csv('{tmp_path}/qrels.csv')"
    with pytest.raises(InputError, match=r"^run \(a query\): no column 'score'"):
        sqlrank.sql("AP", run=run.replace("FROM", "SELECT query_id, doc_id FROM"), qrels=qrels)
    assert 'SELECT "query_id" AS query_id' in sqlrank.sql("AP", run=run, qrels=qrels)
    assert evaluate_sources(None, run, qrels).to_pylist() == [
        pytest.approx(row) for row in evaluate_sources(con).to_pylist()
    ]
    message = command_refused(
        "evaluate", "AP", "--run", run, "--qrels", qrels, "-o", tmp_path / "run.parquet"
    )
    assert "run.parquet" in message


@pytest.mark.slow
def test_the_command_line_takes_queries_and_files_of_them(tmp_path, con):
    file = tmp_path / "qrels.sql"
    file.write_text(f"-- judged = shown\n{QRELS};\n")
    expected = evaluate_sources(con).to_pylist()[0]
    words = [
        "evaluate", "nDCG@3", "AP", "num_ret", "--run", RUN, "--qrels", f"@{file}", "--format",
        "json",
    ]  # fmt: skip
    result = run_command(*words)
    assert all(f"{value:.6}"[:6] in result for value in expected.values())
    assert "two" in run_command(
        "evaluate",
        "num_ret",
        "--run",
        f"one=SELECT * EXCLUDE (system) FROM ({RUN})",
        "--run",
        f"two={RUN.replace('system', 'part')} WHERE i = 1",
        "--qrels",
        QRELS,
        "--by",
        "system",
    )
    assert (
        "no-file.sql: the file of the query cannot be read: No such file"
        in invoke_command("evaluate AP --qrels @no-file.sql").stderr
    )
    assert "no-file.sql: the file of the query cannot be read: No such file" in command_refused(
        "evaluate", "AP", "--run", "@no-file.sql"
    )


def test_the_header_names_the_command_that_prints_the_statement(tmp_path):
    file = tmp_path / "run.sql"
    file.write_text("SELECT *\nFROM logs -- it's all\n")
    for run in (
        sqlrank.query(file),
        "SELECT *\nFROM logs -- it's\nWHERE day = 'x''y'",
        {"new": "FROM a", "old": sqlrank.query(file)},
    ):
        statement = sqlrank.sql(
            "RR", run=run, qrels="qrels", by="system" if isinstance(run, dict) else ()
        )
        (command,) = [
            line.removeprefix("-- made by: sqlrank ")
            for line in statement.splitlines()
            if line.startswith("-- made by: ")
        ]
        steps = run_command(*shlex.split(command)).partition("\nWITH ")[2]
        assert (
            steps.replace("-- it's", "").split()
            == f"{statement.partition(chr(10) + 'WITH ')[2]};".replace("-- it's", "").split()
        )


def test_other_engines_compute_the_query_where_it_is():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE run AS {ONE_RUN}")
        connection.execute(f"CREATE TABLE qrels AS {ONE_QRELS}")
        run, qrels = (
            "SELECT query_id, doc_id, score / 2 AS score FROM run",
            "WITH run AS (SELECT * FROM qrels) SELECT * FROM run",
        )
        assert evaluate_sources(connection, run, qrels).to_pylist() == [
            pytest.approx(row) for row in evaluate_sources(connection).to_pylist()
        ]
        assert_refused(
            "run: the query failed: no such column: missing",
            run="SELECT missing",
            qrels=qrels,
            connection=connection,
        )
        assert_refused(
            "run: a query for sqlite begins with SELECT",
            run="FROM run",
            qrels=qrels,
            connection=connection,
        )
        assert_refused(
            "run: the query calls random, which gives",
            run="SELECT *, random() FROM run",
            qrels=qrels,
            connection=connection,
        )
        assert_refused(
            "run: the query holds DELETE",
            run="WITH a AS (DELETE FROM run RETURNING *) SELECT 1",
            qrels=qrels,
            connection=connection,
        )


_names = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=9
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    _names,
    _names,
    st.sampled_from(["'", '"', "--", "/*", ";", ")", "\n", "$$", "{{ x }}", "@", "\\"]),
)
@example("run", "run_query", "'")
def test_hostile_names_and_texts_stay_as_they_are(table, column, mark):
    quoted = [
        f'"{name}"'
        for name in ((table + mark).replace('"', '""'), (column + mark).replace('"', '""'))
    ]
    literal = f"'{(mark + table).replace(chr(39), chr(39) * 2)}'"
    with closing(duckdb.connect()) as con:
        con.execute(f"CREATE TABLE {quoted[0]} AS SELECT *, {literal} AS {quoted[1]} FROM ({RUN})")
        con.execute(f"CREATE TABLE qrels AS {QRELS}")
        text = f"SELECT * FROM {quoted[0]}\nWHERE {quoted[1]} = {literal}"
        result = evaluate_sources(con, text)
        assert result["num_ret"].to_pylist() == [20]
        assert con.sql(result.schema.metadata[b"sqlrank.sql"].decode()).fetchall()[0][2] == 20


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_one_query_or_refused(text):
    for dialect in ("duckdb", "bigquery", "postgres", "clickhouse"):
        try:
            node = parse_query("run", QuerySource(f"SELECT {text}"), dialect)
        except InputError:
            continue
        written = node.sql(DIALECTS[dialect].sqlglot)
        trees = sqlglot.parse(f"SELECT * FROM {written}", read=dialect)
        assert len(trees) == 1
        assert not any(trees[0].find_all(sqlglot.exp.DML, sqlglot.exp.DDL, sqlglot.exp.Command))


def test_dbt_models_keep_references_in_queries():
    text = (
        "SELECT label, score, day\nFROM {{ ref('clicks') }} JOIN {{ source('shop', 'days') }} USING"
        " (day)\nWHERE note <> '{{ var(\"x\") }}'"
    )
    for options in ({}, {"materialized": "incremental", "overwrite_by": "day"}):
        model = sqlrank.dbt_model("AUC", "daily", predictions=text, by="day", **options).sql
        assert "\n  ".join(text.splitlines()) in model
        assert ("{% if is_incremental() %}" in model) == bool(options)
        assert model.count("{{ ref(") == 1
    for refused_text, message in [
        ("SELECT {# note #} 1 FROM x", r"but no blocks or comments$"),
        ("SELECT * FROM {{ ref('a') }}; DROP TABLE x", r"holds 2 statements"),
    ]:
        with pytest.raises(InputError, match=message):
            sqlrank.dbt_model("AUC", "daily", predictions=refused_text, by="day")


@pytest.mark.slow
def test_a_query_runs_once_for_a_report():
    """Rows that are drawn at random are the same in all sections."""
    labels = (
        "SELECT CAST(random() < 0.5 AS INT) AS label, random() AS score, i % 3 AS shop FROM"
        " range(900) AS t(i)"
    )
    tables = Page(
        sqlrank.report(
            ["Positives", "Brier"], predictions=labels, by="shop", created_at="today"
        ).html
    ).tables
    counted = next(row[1] for row in tables["account-table-rows"] if row[0] == "Positives")
    assert next(row[1] for row in tables["summary-table-rows"] if row[0] == "Positives") == counted


@pytest.mark.slow
def test_a_query_runs_once_for_all_parts_of_a_comparison_or_report(tmp_path):
    """A sequence counts how often the rows are computed."""
    table = (
        "SELECT i % 2 AS label, i % 7 / 8 AS old, i % 5 / 8 AS new, i % 3 AS shop FROM range(90) AS"
        " t(i)"
    )
    options = {"columns": {"score": ["old", "new"]}}
    with closing(duckdb.connect(str(tmp_path / "shop.db"))) as con:
        con.execute("CREATE SEQUENCE calls")
        con.execute(f"CREATE TABLE clicks AS {table}")
        query = "SELECT *, nextval('calls') AS call FROM clicks"
        for function in (sqlrank.report, sqlrank.compare, partial(sqlrank.gate, baseline="old")):
            (before,) = con.sql("SELECT nextval('calls')").fetchall()[0]
            function("Brier", predictions=query, by=[["shop"], []], connection=con, **options)
            assert con.sql("SELECT nextval('calls')").fetchall() == [(before + 91,)]
            assert con.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [
                (0,)
            ]
    for source in ("clicks", "SELECT *, abs(new) AS x FROM clicks"):
        rows = sqlrank.compare(
            "Brier",
            predictions=source,
            by=[["shop"], []],
            connection=tmp_path / "shop.db",
            **options,
        ).to_pylist()
        assert (
            rows
            == sqlrank.compare("Brier", predictions=table, by=[["shop"], []], **options).to_pylist()
        )


def test_small_queries_read_the_query_of_a_user_in_every_dialect():
    """Checks and searches of columns have it in FROM, twice or within a subquery."""
    for name, dialect in DIALECTS.items():
        item = parse_query("run", QuerySource("WITH a AS (SELECT 1 AS x) SELECT x FROM a"), name)
        described = exp.select("*").from_(item.copy()).subquery("described")
        tree = (
            exp.select("*")
            .from_(described)
            .where(exp.Exists(this=exp.select("1").from_(item.copy())))
        )
        written = sqlglot.parse_one(to_sql(tree, name), read=dialect.sqlglot_name)
        assert [
            table.name
            for table in written.find_all(exp.Table)
            if table.name not in {"a", "run_query"}
        ] == [], name
        assert written.named_selects == ["*"]
        assert len([cte for cte in written.find_all(exp.CTE) if cte.alias == "run_query"]) == (
            name in {"bigquery", "snowflake", "trino"}
        )
