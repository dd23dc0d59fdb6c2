"""Functions of a database check the tables that are passed to them, unless they are installed
without checks.
"""

import duckdb
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.routines.function_script import input_functions
from tests.interface.command_line import app
from tests.numbers.examples.test_functions import assert_equal
from tests.tables import read_columns


def test_functions_are_installed_without_checks():
    result = CliRunner().invoke(app, "functions Brier --check off")
    assert (result.exit_code, result.stdout) == (0, sqlrank.functions("Brier", check="off").sql)
    with duckdb.connect() as connection:
        connection.execute(result.stdout)
        connection.execute("CREATE TABLE wrong AS SELECT 2 AS label, 0.5 AS score")
        assert connection.execute("SELECT brier FROM sqlrank.brier(wrong)").fetchall() == [(2.25,)]
        connection.execute(sqlrank.functions("Brier").sql)
        with pytest.raises(
            duckdb.InvalidInputException, match="predictions: label is neither 0 nor 1"
        ):
            connection.execute("FROM sqlrank.brier(wrong)")


@pytest.mark.parametrize(("dialect", "checks"), [("postgres", "$2"), ("snowflake", ":checks")])
def test_a_parameter_of_functions_turns_checks_off(dialect, checks):
    script = sqlrank.functions("AUC", dialect=dialect).sql
    assert f"_predictions_source\n    WHERE {checks}\n" in script


@pytest.mark.slow
def test_functions_of_answers_check_the_table_that_is_passed():
    """And not the run and judgments that they make of its lists."""
    with duckdb.connect() as connection:
        connection.execute(input_functions().sql)
        connection.execute(
            "CREATE TABLE answers AS SELECT 1 AS query_id, ['a', 'b'] AS retrieved, ['b'] AS"
            " relevant"
        )
        expected = sqlrank.evaluate(
            ["RR", "R@1"], inputs={"answers": connection.table("answers").to_arrow_table()}
        )
        found = connection.execute(
            "SELECT rr, r_at_k FROM sqlrank.answers(answers, k := 1)"
        ).fetchall()
        assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])
        connection.execute("INSERT INTO answers FROM answers")
        with pytest.raises(
            duckdb.InvalidInputException,
            match=r"answers: query_id is listed more than once\. .*\(keys: 1\)",
        ):
            connection.execute("FROM sqlrank.answers_by_query(answers)")


def test_a_column_that_is_missing_is_named():
    with duckdb.connect() as connection:
        connection.execute(sqlrank.functions(["Brier", "nDCG"]).sql)
        connection.execute("CREATE TABLE clicks AS SELECT 1 AS clicked, 0.5 AS score")
        with pytest.raises(
            duckdb.BinderException, match='"predictions" does not have a column named "label"'
        ):
            connection.execute("FROM sqlrank.brier(clicks)")
        with pytest.raises(
            duckdb.BinderException, match='"qrels" does not have a column named "relevance"'
        ):
            connection.execute(
                "WITH ranked AS (SELECT 1 AS query_id, 2 AS doc_id, 0.5 AS score) FROM"
                " sqlrank.ndcg(ranked, ranked, by := query_id)"
            )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "column", ["sqlrank_group", "group_key", "by", "checks", "select", "predictions", "problem"]
)
def test_any_column_can_be_the_group(column):
    """Also beside columns that are called as those of functions, as in a table that one of them
    filled.
    """
    with duckdb.connect() as connection:
        connection.execute(sqlrank.functions("Brier").sql)
        others = ", ".join(
            f'0 AS "{name}"'
            for name in ("sqlrank_group", "group_key", "is_valid")
            if name != column
        )
        connection.execute(
            f'CREATE TABLE rated AS SELECT {others}, i AS "{column}", i AS label, 0.5 AS score FROM'
            " range(2) AS t(i)"
        )
        found = connection.execute(
            f'SELECT group_key FROM sqlrank.brier(rated, by := "{column}") ORDER BY ALL'
        ).fetchall()
        assert found == [(0,), (1,)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("(1, 0.2), (1, NULL)", "predictions: score is NULL"),
        ("(NULL, 0.2)", "predictions: label is NULL"),
        ("(2, 0.2)", "predictions: label is neither 0 nor 1"),
        ("(0, 'nan'::DOUBLE)", "predictions: score is NaN"),
        ("(0, 1.5)", "predictions: score is not a probability"),
    ],
)
def test_aggregates_refuse_wrong_rows(rows, message):
    query = f"SELECT sqlrank.log_loss(label, score) FROM (VALUES {rows}) AS t(label, score)"
    with duckdb.connect() as connection:
        connection.execute(sqlrank.functions("LogLoss").sql)
        with pytest.raises(duckdb.InvalidInputException, match=message):
            connection.execute(query)
        connection.execute(sqlrank.functions("LogLoss", check="off").sql)
        connection.execute(query)


def test_aggregates_count_no_rows_that_a_policy_drops():
    rows = read_columns(label="1 1 0 NULL", score="0.2 0.5 NULL 0.9")
    metrics = ["LogLoss", "Brier", "QuantileCoverage"]
    expected = sqlrank.evaluate(metrics, predictions=rows, nulls="drop").to_pylist()[0]
    with duckdb.connect() as connection:
        connection.execute(sqlrank.functions(metrics, nulls="drop").sql)
        found = connection.execute(
            "SELECT sqlrank.log_loss(label, score), sqlrank.brier(label, score),"
            " sqlrank.quantile_coverage(label, score) FROM (VALUES (1, 0.2), (1, 0.5), (0, NULL),"
            " (NULL, 0.9)) AS t(label, score)"
        ).fetchall()
    assert_equal(found, [tuple(expected.values())])


def test_aggregates_divide_numbers_of_any_type_as_doubles():
    with duckdb.connect() as connection:
        connection.execute(sqlrank.functions("PoissonDeviance").sql)
        double, single, boolean = connection.execute(
            "SELECT sqlrank.poisson_deviance(1, 0.9::FLOAT::DOUBLE),"
            " sqlrank.poisson_deviance(1, 0.9::FLOAT),"
            " sqlrank.poisson_deviance(TRUE, 0.9::FLOAT)"
        ).fetchall()[0]
    assert double == single == boolean
