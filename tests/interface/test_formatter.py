"""The layout of statements: short lists on one line, comments behind columns or above them, and
nothing behind a comment.
"""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.optimizer.optimizer import prune_query
from sqlrank.rendering.renderer import to_sql
from sqlrank.sql_ast import LeadingComment

FILE = "SELECT a, -- the first\nb + 1 AS next, -- base 0\nc -- the last\nFROM t"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_comments_are_behind_their_columns(dialect):
    text = to_sql(sqlglot.parse_one(FILE, read="duckdb"), dialect, pretty=True)
    assert text.startswith(
        "SELECT\n  a,  -- the first\n  b + 1 AS next,  -- base 0\n  c  -- the last\nFROM t"
    )
    parsed = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
    assert parsed.sql(comments=False).startswith("SELECT a, b + 1 AS next, c FROM t")


def test_comments_are_pruned_with_their_columns():
    tree = sqlglot.parse_one(f"WITH x AS ({FILE}) SELECT a, c FROM x", read="duckdb")
    prune_query(tree)  # type: ignore[arg-type]
    assert (
        to_sql(tree, "duckdb", pretty=True)
        == "WITH x AS (\n  SELECT\n    a,  -- the first\n    c  -- the last\n  FROM t\n)\nSELECT a,"
        " c\nFROM x"
    )


@pytest.mark.parametrize(
    "comment", ["x\n; SELECT 1", "x\r\n*/ SELECT 1 /*", "-- x\u2028y\x85z", "x" * 300 + " y" * 200]
)
def test_a_comment_ends_with_its_line(comment):
    tree = exp.select(
        exp.alias_(exp.Literal.number(1), "a"), exp.alias_(exp.Literal.number(2), "b")
    ).from_("t")
    tree.comments = [comment]
    tree.selects[0].comments = [comment]
    tree.selects[1].comments = [LeadingComment(comment)]
    for query in (
        tree,
        exp.union(tree, tree),
        exp.Create(this=exp.to_table("u"), kind="TABLE", expression=tree),
    ):
        text = to_sql(query, "duckdb", pretty=True)
        assert len(duckdb.extract_statements(text)) == 1
        lines = [line.partition("-- ")[0].strip() for line in text.splitlines()]
        assert "".join(filter(None, lines)).endswith("FROM t")
        (parsed,) = sqlglot.parse(text, read="duckdb")
        assert parsed is not None
        assert parsed.sql(comments=False) == query.sql(comments=False)


def test_only_the_first_select_of_a_union_has_comments():
    tree = sqlglot.parse_one(FILE, read="duckdb")
    assert to_sql(exp.union(tree, tree), "duckdb", pretty=True).count("-- the first") == 1


def test_short_lists_are_on_one_line():
    text = to_sql(
        sqlglot.parse_one(
            "INSERT INTO t (a, b) SELECT a, SUM(b) AS b FROM x GROUP BY a", read="duckdb"
        ),
        "duckdb",
        pretty=True,
    )
    assert text == "INSERT INTO t (a, b)\nSELECT a, SUM(b) AS b\nFROM x\nGROUP BY a"
