"""Filters and stored results: their meaning on DuckDB and in every dialect, and errors."""

import re
from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.rendering.dialects import DIALECTS, get_dialect
from sqlrank.rendering.renderer import to_sql
from tests.interface.command_line import app
from tests.lanes import select_few


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Two days of lists and of clicks; the second day has duplicates and a NaN."""
    with duckdb.connect() as database:
        database.execute('CREATE TABLE run ("Day" INT, query_id TEXT, doc_id TEXT, score DOUBLE)')
        database.execute(
            "INSERT INTO run VALUES (1, 'q', 'a', 2), (1, 'q', 'b', 1), (2, 'q', 'a', 'nan'), (2,"
            " 'q', 'a', 1)"
        )
        database.execute(
            "CREATE TABLE qrels AS SELECT * FROM (VALUES (1, 'q', 'b', 1), (2, 'q', 'a', 1), (2,"
            " 'r', 'a', 1)) AS t(day, query_id, doc_id, relevance)"
        )
        database.execute(
            "CREATE TABLE clicks AS SELECT i // 8 AS day, i % 3 AS shop, i % 2 AS label, i / 16 AS"
            " score FROM range(16) AS t(i)"
        )
        database.execute(
            "CREATE TABLE lists AS SELECT r.*, relevance AS label FROM run AS r LEFT JOIN qrels AS"
            " j USING (query_id, doc_id) WHERE r.day = 1"
        )
        yield database


def count_rows(
    connection: duckdb.DuckDBPyConnection, where: str, **sources: str
) -> dict[str, object]:
    sources = sources or {"run": "run", "qrels": "qrels"}
    result = sqlrank.evaluate(
        ["RR", "num_q", "num_ret"], connection=connection, where=where, **sources
    )
    return result.to_pylist()[0]


def test_a_filter_holds_for_the_checks_of_the_rows_too(connection):
    with pytest.raises(InputError, match="NaN"):
        count_rows(connection, "qrels.day = 1")
    assert count_rows(connection, "run.day = 1 AND qrels.day = 1") == {
        "RR": 0.5,
        "num_q": 1,
        "num_ret": 2,
    }


def test_conditions_are_of_one_input_each(connection):
    assert (
        count_rows(connection, "score > 0 AND NOT ISNAN(score) AND RUN.DAY = 1 AND relevance > 0")[
            "num_q"
        ]
        == 2
    )
    assert (
        count_rows(
            connection,
            "run.day = 1 AND (relevance = 1 OR qrels.day = 2) AND qrels.query_id IN ('q')",
        )["num_q"]
        == 1
    )
    assert count_rows(connection, "(run.day = 1 AND qrels.day = 1)")["num_q"] == 1


@pytest.mark.slow
def test_predictions_that_are_run_and_judgments_are_filtered_as_both(connection):
    assert count_rows(connection, "day = 1 AND predictions.doc_id = 'b'", predictions="lists") == {
        "RR": 1.0,
        "num_q": 1,
        "num_ret": 1,
    }


def test_predictions(connection):
    options = {"predictions": "clicks", "connection": connection, "by": "shop"}
    filtered = sqlrank.evaluate(["AUC", "Brier"], where="day = 1 AND NOT shop = 2", **options)
    chosen = connection.sql("SELECT * FROM clicks WHERE day = 1 AND shop <> 2")
    assert filtered.equals(sqlrank.evaluate(["AUC", "Brier"], **{**options, "predictions": chosen}))
    text = sqlrank.sql(["AUC", "Brier"], where="DAY = 1 AND NOT shop = 2", **options)
    assert [tuple(row.values()) for row in filtered.to_pylist()] == connection.execute(
        text
    ).fetchall()


def test_the_command_line_and_files(files):
    sources = ["--run", str(files / "run.trec"), "--qrels", str(files / "qrels.parquet")]
    result = CliRunner().invoke(
        app,
        [
            "evaluate",
            "RR",
            "num_ret",
            *sources,
            "--where",
            "run.query_id = 'q1' AND relevance = 1",
            "--format",
            "csv",
        ],
    )
    assert (result.exit_code, result.stdout) == (0, "RR,num_ret\n0.5,2.0\n")
    text = CliRunner().invoke(app, ["sql", "RR", *sources, "--where", "relevance = 1"]).stdout
    assert duckdb.execute(text).fetchall() == [(0.5,)]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            "day = 1",
            (
                "run and qrels have a column 'day'. Say which is meant, or both: run.day ... AND"
                " qrels.day ..."
            ),
        ),
        (
            "run.day = qrels.day",
            "compares columns of qrels and run. A condition is on the rows of one input",
        ),
        ("run.day = 1 OR relevance = 1", "compares columns of qrels and run"),
        ("1 = 1", "names no column"),
        ("topics.day = 1", "'topics.day' is of no input. Qualify it by one of: run, qrels"),
        ("run.dya = 1", "run has no column 'dya'. Did you mean 'Day'?"),
        ("country = 'de'", "the input has no column 'country'"),
        ("run.day = $day", "$day has no value. Write the value itself"),
        ("run.day = ?", "? has no value"),
    ],
)
def test_conditions_that_fit_no_input_are_refused(connection, where, message):
    with pytest.raises(InputError) as error:
        count_rows(connection, where)
    assert message in str(error.value)
    assert str(error.value).startswith("where: ")


@pytest.mark.parametrize(
    "where",
    [
        "label = 1; DROP TABLE clicks", "label = 1) UNION SELECT (1",
        "label = 1 UNION ALL SELECT 1", "label IN (SELECT 1)", "EXISTS (FROM clicks)",
        "(SELECT MAX(label) FROM clicks) = label", "SELECT 1", "DROP TABLE clicks",
        "SUM(label) = 1", "ROW_NUMBER() OVER () = 1", "label = 1 AS x", "*", "label =", "",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_not_one_condition_is_refused(connection, where, dialect):
    with pytest.raises(InputError, match="is not one condition over columns in the SQL of"):
        sqlrank.sql(
            "Brier",
            predictions="clicks",
            where=where,
            dialect=dialect,
            connection=connection if dialect == "duckdb" else None,
        )


def test_a_comment_in_a_condition_is_not_kept():
    """Only the command in the header repeats it, which is the call as it was made."""

    def without_command(where):
        text = sqlrank.sql("Brier", predictions="clicks", where=where)
        return [line for line in text.splitlines() if not line.startswith("-- made by: ")]

    for where in (
        *("day = 1 -- */ x", "day = 1 /* x */", "/* x */ day = 1", "-- x\nday = 1"),
        *("day = 1;", "day = 1 /* x */; -- x"),
    ):
        assert without_command(where) == without_command("day = 1")


def test_a_column_of_dates_is_no_condition(connection):
    connection.execute(
        "CREATE TABLE dated AS SELECT DATE '2026-01-01' AS day, 1 AS label, 0.5 AS score"
    )
    with pytest.raises(
        InputError,
        match=(
            r"^where: column 'day' is DATE, which is not a boolean. Compare it, such as day ="
            r" '2026-01-01'$"
        ),
    ):
        sqlrank.evaluate("AUC", predictions="dated", where="day", connection=connection)


@pytest.mark.parametrize(
    "where", ["day", "NOT day", "label = 1 AND (day)", "label = 1 OR NOT (day)"]
)
def test_a_column_of_text_is_no_condition(connection, where):
    connection.execute(
        "CREATE OR REPLACE TABLE texts AS SELECT '2026-01-01' AS day, 1 AS label, 0.5 AS score, [1]"
        " AS items, {'a': 1} AS parts"
    )
    message = (
        "where: column 'day' is VARCHAR, which is not a boolean. Compare it, such as day = 'a'"
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        sqlrank.evaluate("AUC", predictions="texts", where=where, connection=connection)
    for name, kind in {"items": "INTEGER[]", "parts": "STRUCT"}.items():
        with pytest.raises(
            InputError,
            match=(
                f"^where: column '{name}' is {re.escape(kind)}, which is not a boolean. Compare it,"
                f" such as {name} IS NOT NULL$"
            ),
        ):
            sqlrank.evaluate("AUC", predictions="texts", where=name, connection=connection)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("where", "number"),
    [
        ("day > 5", "5"),
        ("label = 1 AND -1.5 <= (day)", "-1.5"),
        ("day BETWEEN 1 AND 2", "1"),
        ("NOT day < label", "label"),
        ("1 = 0 OR day >= 5", "5"),
    ],
)
def test_text_is_not_ordered_with_numbers(connection, where, number):
    connection.execute(
        "CREATE OR REPLACE TABLE texts AS SELECT i::VARCHAR AS day, 1 AS label, 0.5 AS score FROM"
        " range(20) AS t(i)"
    )
    message = (
        f"where: column 'day' is VARCHAR, and {number} is a number. Compare texts, such as day >"
        f" 'a', or numbers, such as CAST(day AS DOUBLE) > {number}"
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        sqlrank.evaluate("Positives", predictions="texts", where=where, connection=connection)
    rows = {
        "CAST(day AS DOUBLE) > 5": 14,
        "day > '5'": 4,
        "day = 5": 1,
    }  # equality reads the text as a number, as DuckDB does
    for condition, expected in rows.items():
        result = sqlrank.evaluate(
            "Positives", predictions="texts", where=condition, connection=connection
        )
        assert result.to_pylist() == [{"Positives": expected}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "score > 'a'"}, "where: score > 'a' cannot be evaluated: 'a' is no DOUBLE"),
        (
            {"where": "label = 1 AND score IN ('a', 'b')"},
            "where: label = 1 AND score IN ('a', 'b') cannot be evaluated: 'a' is no DOUBLE",
        ),
        (
            {"where": "score || 'x' = 1.5"},
            "where: score || 'x' = 1.5 cannot be evaluated: Could not convert string \"0.25x\" to ",
        ),
        (
            {"where": "SUBSTR(score, 1) = '0'"},
            "where: SUBSTR(score, 1) = '0' cannot be evaluated: No function matches the given ",
        ),
        (
            {"by": "g=label + 'a'"},
            "predictions (ROWS): g is \"label + 'a'\", which cannot be evaluated: 'a' is no INT",
        ),
        (
            {"columns": {"score": "score + 'a'"}},
            "predictions (ROWS): score is \"score + 'a'\", which cannot be evaluated: 'a' is no DOUB",
        ),
    ],
)
def test_an_expression_that_fails_is_named(connection, options, message, tmp_path):
    rows = "SELECT i % 2 AS label, CAST(0.25 AS DOUBLE) AS score FROM range(4) AS t(i)"
    connection.execute(f"CREATE OR REPLACE TABLE scored AS {rows}")
    for source in ("scored", str(tmp_path / "scored.csv"), str(tmp_path / "scored.parquet")):
        if source != "scored":
            connection.execute(f"COPY scored TO '{source}'")
        with pytest.raises(InputError) as raised:
            sqlrank.evaluate("Brier", predictions=source, connection=connection, **options)
        assert str(raised.value).startswith(message.replace("ROWS", source))


def test_without_looking_columns_are_named_with_their_input():
    text = sqlrank.sql(
        "RR",
        run="p.d.r",
        qrels="q",
        where="run.day = @run_date AND qrels.x LIKE 'a%'",
        dialect="bigquery",
    )
    sources = [
        select
        for select in sqlglot.parse_one(text, read="bigquery").find_all(exp.Select)
        if isinstance(select.args["from_"].this, exp.Table)
        and select.args["from_"].this.name in {"r", "q"}
    ]
    conditions = {
        select.args["from_"].this.name: select.args["where"].this.sql("bigquery")
        for select in sources
    }
    assert len(sources) == 2, "each input is read in one place"
    assert conditions == {"r": "`day` = @run_date", "q": "`x` LIKE 'a%'"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("place", "kind"), [("create_table", "TABLE"), ("create_view", "VIEW")])
def test_tables_and_views(dialect, place, kind):
    writer = DIALECTS[dialect].sqlglot_name
    name = (
        "b.c" if dialect == "tsql" else "a.b.c"
    )  # its views are in the database where the statement runs
    text = sqlrank.sql(
        ["Brier", "AUC"],
        predictions="a.b.clicks",
        by=["shop", "score_bucket"],
        dialect=dialect,
        **{place: name},
    )
    tree = sqlglot.parse_one(text, read=writer)
    if (dialect, kind) == ("tsql", "TABLE"):
        assert tree.find(exp.Into).this.sql(writer) == name  # type: ignore[union-attr]
        return
    assert isinstance(tree, exp.Create)
    assert (tree.kind, tree.this.sql(writer)) == (kind, name)
    replaces = (
        DIALECTS[dialect].supports_create_or_replace_table
        if kind == "TABLE"
        else DIALECTS[dialect].supports_create_or_replace_view
    )
    assert bool(tree.args["replace"]) == replaces
    assert tree.expression.args.get("order") is None
    assert "ORDER BY\n  " not in text.rpartition("\n)\n")[2]


@pytest.mark.one_in(15)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_rows_are_inserted_by_the_names_of_columns(dialect):
    writer = DIALECTS[dialect].sqlglot_name
    text = sqlrank.sql(
        ["nDCG@10", "P(rel=2)@5"],
        run="r",
        qrels="q",
        by=["rank", "queries.country"],
        queries="t",
        dialect=dialect,
        insert="c",
    )
    tree = sqlglot.parse_one(text, read=writer)
    fold = DIALECTS[dialect].fold_identifier
    assert isinstance(tree, exp.Insert)
    assert [column.name for column in tree.this.expressions] == [
        fold("rank"),
        fold("country"),
        "ndcg_at_10",
        "p_rel_2_at_5",
    ]
    assert [column.quoted for column in tree.this.expressions] == [True, True, False, False]
    assert tree.expression.args.get("order") is None


def test_stored_results_on_duckdb(connection):
    options = {"predictions": "clicks", "connection": connection, "by": "shop", "where": "day = 0"}
    expected = sqlrank.evaluate(["AUC", "Brier"], **options).to_pylist()
    connection.execute(sqlrank.sql(["AUC", "Brier"], create_table="stored", **options))
    connection.execute(sqlrank.sql(["AUC", "Brier"], create_table="stored", **options))
    connection.execute(sqlrank.sql(["AUC", "Brier"], create_view='"a ""view"""', **options))
    connection.execute(sqlrank.sql(["Brier", "AUC"], insert="stored", **options))
    rows = [tuple(row.values()) for row in expected]
    assert connection.execute("FROM stored ORDER BY shop").fetchall() == sorted(rows + rows)
    assert connection.execute('FROM "a ""view""" ORDER BY shop').fetchall() == rows


LONG = {
    "integers": f"day IN ({', '.join(map(str, range(5_000)))})",
    "negative numbers": f"NOT day IN ({', '.join(map(str, range(-2_000, 0)))})",
    "decimals": f"score IN ({', '.join(f'{number}.5' for number in range(2_000))}) OR score > 0.2",
    "texts": (
        "CAST(shop AS TEXT) IN (" + ", ".join(f"'{number}'" for number in range(1, 2_000)) + ")"
    ),
    "alternatives": " OR ".join(
        ["shop = 7", "NOT label = 0", *(f"day = {number}" for number in range(1, 1_000))]
    ),
}


@pytest.mark.parametrize("form", select_few(LONG, 1))
def test_long_conditions(connection, form):
    result = sqlrank.evaluate(
        ["Positives", "Negatives"], predictions="clicks", connection=connection, where=LONG[form]
    )
    expected = connection.execute(
        f"SELECT SUM(label), SUM(1 - label) FROM clicks WHERE {LONG[form]}"
    ).fetchall()
    assert [tuple(row.values()) for row in result.to_pylist()] == expected


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_conditions_are_written_as_they_are(dialect):
    quoted = exp.Literal.string("it's").sql(get_dialect(dialect).sqlglot_name)
    values = [quoted, "'a  b'", *range(200), *(f"-{number}" for number in range(5)), "1.5", "2e-3"]
    where = f"x in ({', '.join(map(str, values))}) and  Y/2 <> CAST('1' as int)"
    tree = exp.select("1").where(parse_condition(where, dialect), exp.column("z").eq(1))
    assert to_sql(tree, dialect).startswith(f"SELECT 1 WHERE ({where}) AND z = 1")


@pytest.mark.slow
def test_conditions_of_many_parts(connection):
    many = " AND ".join(f"shop <> {number}" for number in range(3, 1_000))
    assert sqlrank.evaluate(
        "Positives", predictions="clicks", connection=connection, where=many
    ).to_pylist() == [{"Positives": 8}]
    mixed = " OR ".join(f"(shop = {number} AND day = 1)" for number in range(2_000))
    message = (
        r"^where: a condition of 2\d,\d{3} terms takes too long. At most 10,000 are possible, where"
        r" a list x IN \(1, 2, \.\.\.\) is one\. Put the"
    )
    with pytest.raises(InputError, match=message):
        sqlrank.evaluate("Positives", predictions="clicks", connection=connection, where=mixed)
