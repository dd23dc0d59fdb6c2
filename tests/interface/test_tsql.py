"""Rules of Transact-SQL that statements for SQL Server and Fabric keep, which nothing executes
here.
"""

from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.errors import MetricError
from sqlrank.rendering.renderer import to_sql
from tests.engines.golden.test_all_metrics import FILES, print_statement

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
"""Nodes that have no value in Transact-SQL, which has no type of booleans."""

SEARCHES = (exp.Where, exp.Having, exp.Join, exp.And, exp.Or, exp.Not)
"""Places of conditions, beside those of CASE."""

WITHOUT_STATEMENT = {"alpha_nDCG", "nERR_IA", "nNRBP", "LeakedShare", "LeakedQueries"}


def find_breaches(text: str) -> Iterator[str]:
    """Yield a sentence for each part of a statement that SQL Server rejects, or computes
    otherwise.
    """
    tree = sqlglot.parse_one(text, read="tsql")
    for node in tree.find_all(*CONDITIONS):
        outer = node
        while isinstance(outer.parent, exp.Paren):
            outer = outer.parent
        if not isinstance(outer.parent, SEARCHES) and not (
            isinstance(outer.parent, exp.If) and outer.arg_key == "this"
        ):
            yield f"{node.sql('tsql')} is a condition in the place of a value"
    for total in tree.find_all(exp.Sum):
        if total.find(exp.Subquery):
            yield f"{total.sql('tsql')} has a query in an aggregate"
        case = total.this
        values = (
            [*(branch.args["true"] for branch in case.args["ifs"]), case.args.get("default")]
            if isinstance(case, exp.Case)
            else []
        )
        if values and all(value is None or value.is_int for value in values):
            yield f"{total.sql('tsql')} is a sum of 32 bits"
    for group in tree.find_all(exp.Group):
        yield from (
            f"GROUP BY {key.sql('tsql')} is a constant"
            for key in group.expressions
            if not key.find(exp.Column)
        )
    for order in tree.find_all(exp.Order):
        if isinstance(order.parent, exp.Select) and order.find_ancestor(exp.CTE, exp.Subquery):
            yield f"{order.sql('tsql')} is in a step"


@pytest.mark.one_in(12)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_statements_keep_the_rules(file):
    if file.display_name in WITHOUT_STATEMENT:
        with pytest.raises(
            MetricError,
            match=f"^{file.display_name}(@3)? is for DuckDB.*, not for SQL Server. Evaluate it there",
        ):
            print_statement(file, "tsql")
    else:
        assert [*find_breaches(print_statement(file, "tsql"))] == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COALESCE(a > b, 0) AS x FROM t",
        "SELECT SUM((SELECT 1)) AS x FROM t",
        "SELECT SUM(CASE WHEN a > b THEN 1 ELSE 0 END) AS x FROM t",
        "SELECT 1 AS x FROM t GROUP BY 1",
        "WITH a AS (SELECT x FROM t ORDER BY x) SELECT x FROM a",
    ],
)
def test_breaches_are_found(text):
    assert [*find_breaches(text)]


def test_integers_are_summed_in_64_bits():
    text = sqlrank.sql("AUC", predictions="p", by="user", dialect="tsql")
    assert "SUM(CAST(positive_ranks.positives AS BIGINT)) OVER" in text
    assert "COUNT_BIG(*)" in text
    assert "COUNT(*)" not in text


def test_reserved_words_are_in_brackets():
    text = sqlrank.sql(
        "AUC", predictions="plan.percent", by="user", columns={"label": "public"}, dialect="tsql"
    )
    assert "FROM [plan].[percent]" in text
    assert "CAST([public] AS FLOAT) AS label" in text


def test_functions_have_the_names_of_the_engine():
    text = sqlrank.sql(
        "LogLoss", predictions="p", unit="u", confidence=0.9, interval="bootstrap", dialect="tsql"
    )
    assert (
        "CONVERT(VARCHAR(32), HASHBYTES('MD5', '0:' + CAST(unit_id AS VARCHAR(8000))), 2)" in text
    )
    assert " LN(" not in text
    assert to_sql(exp.Literal.string("a\u202eb"), "tsql") == "('a' + NCHAR(8238) + 'b')"


def test_a_view_of_another_database_is_refused():
    assert "\nCREATE OR ALTER VIEW b.v AS\nWITH " in sqlrank.sql(
        "AUC", predictions="p", create_view="b.v", dialect="tsql"
    )
