"""A statement has the rows that it had before the passes, also with NULLs, no rows, subqueries and
large numbers.
"""

from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlrank.rendering.optimizer.optimizer import optimize_statement
from sqlrank.sql_ast import NEVER_NULL

Rows = list[tuple[object, ...]]

INPUTS = "WITH a AS (SELECT x, y, z, 1 AS one FROM t), b AS (SELECT x, w, 1 AS two FROM u)"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES (1, 10, 2.5), (1, 20, NULL), (2, NULL, 0.5),"
            " (NULL, 30, 1.5), (NULL, NULL, NULL), (3, 10, 2.5)) AS rows(x, y, z)"
        )
        connection.execute(
            "CREATE TABLE u AS SELECT * FROM (VALUES (1, 100), (1, 200), (2, 300), (NULL, 400)) AS"
            " rows(x, w)"
        )
        yield connection


def sorted_rows(connection: duckdb.DuckDBPyConnection, text: str) -> Rows:
    return sorted(connection.execute(text).fetchall(), key=repr)


def optimize_text(text: str) -> str:
    tree = sqlglot.parse_one(text, read="duckdb")
    optimize_statement(tree)
    return tree.sql("duckdb")


@pytest.mark.parametrize(
    "rest",
    [
        (  # pairs of the rows of a key
            "c AS (SELECT x, y FROM a WHERE y > 1), d AS (SELECT x, y FROM a WHERE y > 1) SELECT b.w,"
            " c.y, d.y AS other FROM b JOIN c ON c.x = b.x JOIN d ON d.x = b.x"
        ),
        (  # joined by another column than that of the groups
            "c AS (SELECT x, COUNT(*) AS n FROM a GROUP BY x), d AS (SELECT x, SUM(y) AS n2 FROM a"
            " GROUP BY x) SELECT b.x, c.n, d.n2 FROM b JOIN c ON c.x > b.x JOIN d ON d.x > b.x"
        ),
        (  # a filter leaves out rows that another aggregation counts
            "c AS (SELECT x, y, z FROM a WHERE y > 1), d AS (SELECT x, SUM(z) AS s FROM c GROUP BY x),"
            " e AS (SELECT x, COUNT(y) AS n FROM a GROUP BY x) SELECT d.s, e.n FROM e LEFT JOIN d"
            " ON d.x = e.x"
        ),
        (  # several rows for each that another aggregation counts
            "c AS (SELECT x, y, UNNEST([1, 2]) AS k FROM a), d AS (SELECT x, SUM(k) AS s FROM c"
            " GROUP BY x), e AS (SELECT x, COUNT(y) AS n FROM a GROUP BY x) SELECT d.s, e.n FROM e"
            " LEFT JOIN d ON d.x = e.x"
        ),
        (
            "c AS (SELECT x, y, GENERATE_SUBSCRIPTS([5, 6], 1) AS k FROM a), d AS (SELECT x, SUM(k)"
            " AS s FROM c GROUP BY x), e AS (SELECT x, COUNT(y) AS n FROM a GROUP BY x) SELECT d.s,"
            " e.n FROM e LEFT JOIN d ON d.x = e.x"
        ),
        "c AS (SELECT x FROM a GROUP BY x) SELECT c.x, a.y FROM a JOIN c ON c.x = a.x",
        (
            "c AS (SELECT x FROM a GROUP BY x) SELECT c.x, a.y FROM a JOIN c ON c.x IS NOT DISTINCT"
            " FROM a.x"
        ),
        "c AS (SELECT 1 AS name, COUNT(*) AS n FROM a) SELECT name FROM c",
        "c AS (SELECT 's' AS name, COUNT(*) AS n FROM a) SELECT c.name, b.w FROM c CROSS JOIN b",
        (
            "c AS (SELECT 's' AS name, COUNT(*) AS n FROM a UNION ALL SELECT 't' AS name, 5 AS n)"
            " SELECT name FROM c"
        ),
        (
            "c AS (SELECT x, (SELECT MAX(b.w) FROM b) AS m FROM a WHERE x > 100) SELECT a.x, c.m"
            " FROM a LEFT JOIN c ON TRUE"
        ),
        "c AS (SELECT MAX(x) AS m FROM a WHERE x > 100) SELECT a.x, c.m FROM a LEFT JOIN c ON TRUE",
        (
            "c AS (SELECT SUM(x) OVER () AS m FROM a WHERE x > 100) SELECT a.x, c.m FROM a LEFT"
            " JOIN c ON TRUE"
        ),
        "c AS (SELECT (SELECT MAX(x) FROM b) AS m, y FROM a) SELECT m, y FROM c",
        (
            "c AS (SELECT x, y + 1 AS y, z FROM a) SELECT c.x, (SELECT COUNT(*) FROM b WHERE b.x ="
            " c.x) AS n FROM c"
        ),
        (
            "c AS (SELECT outer_rows.x, (SELECT COUNT(*) FROM a WHERE a.x > outer_rows.x) AS n FROM"
            " a AS outer_rows) SELECT x, n FROM c"
        ),
        (
            "c AS (SELECT r.x FROM a AS r WHERE r.x IN (SELECT r.x FROM b AS r WHERE r.w > 100))"
            " SELECT x FROM c"
        ),
        (
            "c AS (SELECT r.x FROM a AS r WHERE r.x IN (SELECT a.y / 10 FROM a WHERE a.x < r.x))"
            " SELECT x FROM c"
        ),
        "c AS (SELECT MAX(y) AS m FROM a GROUP BY one + 1) SELECT m FROM c",
        "c AS (SELECT x, MAX(y) AS m FROM a GROUP BY x, one + 1) SELECT m FROM c",
        "c AS (SELECT x, SUM(one) FILTER (WHERE y > 10) AS n FROM a GROUP BY x) SELECT x, n FROM c",
        "c AS (SELECT x, SUM(one) AS n FROM a GROUP BY x) SELECT x, n FROM c",
        "c AS (SELECT SUM(one) AS n FROM a WHERE x > 100) SELECT n FROM c",
        (
            "c AS (SELECT a.x, b.two, COALESCE(b.two, 0) AS n FROM a LEFT JOIN b ON b.x = a.x)"
            " SELECT x, two, n FROM c"
        ),
        "c AS (SELECT a.one, b.two FROM a FULL JOIN b ON b.x = a.x) SELECT one, two FROM c",
        "c AS (SELECT a.x FROM a LEFT JOIN b ON b.x = a.x WHERE b.two IS NULL) SELECT x FROM c",
        (
            "c AS (SELECT 9007199254740993 AS n FROM a) SELECT n - 9007199254740992 AS d, n >"
            " 9007199254740992 AS e FROM c"
        ),
        "c AS (SELECT x, y + 1 AS n FROM a ORDER BY n) SELECT x FROM c",
        (
            "c AS (SELECT x - (y - one) AS p, x / (y * one) AS q, -(x - one) AS r, NOT (x = one) AS"
            " s FROM a) SELECT p, q, r, s FROM c"
        ),
        "c AS (SELECT x, y FROM a WHERE x > 1 OR y > 10) SELECT x FROM c WHERE y > 10 OR x = 2",
        (
            "c AS (SELECT x, y FROM a WHERE y >= 10) SELECT x, SUM(CASE WHEN y > 9 THEN y ELSE 0"
            " END) / NULLIF(COUNT(*), 0) AS n FROM c GROUP BY x"
        ),
        (
            "c AS (SELECT x, w FROM b WHERE w > 100) SELECT a.x, CASE WHEN c.w > 0 THEN 1 ELSE 0"
            " END AS n, COALESCE(c.w, 0) AS v, c.w IS NULL AS m FROM a LEFT JOIN c ON c.x = a.x"
        ),
        (
            "c AS (SELECT x, y FROM a) SELECT CASE WHEN y > 15 THEN SUM(CASE WHEN y > 15 THEN y"
            " ELSE 1 END) OVER () END AS n FROM c"
        ),
        (
            "c AS (SELECT x, y FROM a) SELECT CASE WHEN y > 15 THEN ROW_NUMBER() OVER (ORDER BY"
            " COALESCE(y, 0), x) END AS n FROM c"
        ),
        (
            "c AS (SELECT x, y FROM a) SELECT x, CASE WHEN x > 1 THEN SUM(CASE WHEN y > 15 THEN y"
            " END) END AS n FROM c GROUP BY x"
        ),
        (
            "c AS (SELECT x FROM a WHERE x > 100) SELECT COALESCE(SUM(x), 0) AS n, NULLIF(COUNT(*),"
            " 0) AS m FROM c"
        ),
        (
            "c AS (SELECT y FROM a WHERE y > 0) SELECT COALESCE(SUM(y) OVER (ORDER BY y ROWS"
            " BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0) AS n, COALESCE(SUM(y) OVER (ORDER BY"
            " y ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS m FROM c"
        ),
        "c AS (SELECT x, y FROM a WHERE y > 0 OR x = 1) SELECT COALESCE(y, 0) AS n FROM c",
        (
            "c AS (SELECT x, y FROM a WHERE NOT y IS NULL UNION ALL SELECT x, w FROM b) SELECT"
            " COALESCE(y, 0) AS n FROM c WHERE y IS NOT NULL"
        ),
        (
            "c AS (SELECT x, CASE WHEN y IS NULL THEN z END AS k FROM a WHERE NOT y IS NULL) SELECT"
            " x, k, COUNT(*) AS n FROM c GROUP BY x, k"
        ),
        "c AS (SELECT x, NULL AS k FROM a WHERE x > 100) SELECT k, COUNT(*) AS n FROM c GROUP BY k",
        (
            "c AS (SELECT x, NULL AS k FROM a), d AS (SELECT x, NULL AS k, w FROM b) SELECT c.x,"
            " d.w FROM c LEFT JOIN d ON c.x IS NOT DISTINCT FROM d.x AND c.k IS NOT DISTINCT"
            " FROM d.k"
        ),
        (
            "c AS (SELECT x, NULL AS k FROM a), d AS (SELECT x, NULL AS k, w FROM b) SELECT c.x,"
            " d.w FROM c JOIN d ON c.x = d.x AND c.k = d.k"
        ),
        (
            "c AS (SELECT x, y, NULL AS k FROM a) SELECT x, ROW_NUMBER() OVER (PARTITION BY k, x"
            " ORDER BY k, y) AS n FROM c"
        ),
        (
            "c AS (SELECT x, y FROM a WHERE y > 10), d AS (SELECT x, y FROM a WHERE y > 10) SELECT"
            " c.x, d.y FROM c CROSS JOIN d"
        ),
        (  # a sum of two numbers from -1 is -2
            "c AS (SELECT one, y - 11 AS d FROM a), e AS (SELECT one, d FROM c WHERE d >= -1 AND d"
            " < 0) SELECT one, CASE WHEN SUM(d) >= -1 THEN 1 ELSE 0 END AS n FROM e GROUP BY one"
        ),
    ],
)
def test_rows_stay(rest, connection):
    text = f"{INPUTS}, {rest}"
    assert sorted_rows(connection, optimize_text(text)) == sorted_rows(connection, text)


SHARED_ROWS = """c AS (SELECT x, COUNT(y) AS n FROM a GROUP BY x), d AS (SELECT x, y, ROW_NUMBER()
OVER (PARTITION BY x ORDER BY y, z) AS place FROM a), e AS (SELECT x, y, place, place * 2 AS double FROM d),
f AS (SELECT x, SUM(double + y) AS s FROM e GROUP BY x), g AS (SELECT x FROM b GROUP BY x)
SELECT g.x, c.n, f.s FROM g LEFT JOIN f ON f.x IS NOT DISTINCT FROM g.x
LEFT JOIN c ON c.x IS NOT DISTINCT FROM g.x"""


def test_rows_are_grouped_once(connection):
    """``c`` reads ``e``, which has its rows and columns, and two joins are one."""
    before = f"{INPUTS}, {SHARED_ROWS}"
    after = optimize_text(before)
    assert (before.count("GROUP BY"), after.count("GROUP BY"), after.count("JOIN")) == (3, 2, 1)
    assert sorted_rows(connection, after) == sorted_rows(connection, before)


@pytest.mark.parametrize("is_marked", [False, True])
def test_joins_to_keys_that_are_never_null_go(is_marked):
    tree = sqlglot.parse_one(
        "WITH a AS (SELECT x, y FROM t), c AS (SELECT x FROM a GROUP BY x) SELECT a.y FROM a JOIN c"
        " ON c.x = a.x"
    )
    if is_marked:
        tree.find(exp.EQ).meta[NEVER_NULL] = True
    optimize_statement(tree)
    assert (tree.find(exp.Join) is None) is is_marked


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("SELECT COALESCE(x, 0) AS n FROM a WHERE x >= 1", "x AS n"),
        ("SELECT COALESCE(x, 0) AS n FROM a WHERE x <> 1", "x AS n"),
        ("SELECT COALESCE(x, 0) AS n FROM a", "COALESCE(x, 0) AS n"),
        ("SELECT COALESCE(x, 0.5) AS n FROM a WHERE x > 1", "CAST(x AS DOUBLE) AS n"),
        ("SELECT CASE WHEN x > 0 THEN y END AS n FROM a WHERE x >= 1", "y AS n"),
        (
            "SELECT CASE WHEN x > 1 THEN y END AS n FROM a WHERE x >= 1",
            "CASE WHEN x > 1 THEN y END AS n",
        ),
        ("SELECT CASE WHEN x = 0 THEN 1 ELSE y END AS n FROM a WHERE x > 0", "y AS n"),
        ("SELECT CASE WHEN x < 5 THEN y END AS n FROM a WHERE x <= 4", "y AS n"),
        ("SELECT CASE WHEN x = 1 THEN y END AS n FROM a WHERE x = 1", "y AS n"),
        ("SELECT y / NULLIF(x, 0) AS n FROM a WHERE x > 0", "y / x AS n"),
        (
            "SELECT CASE WHEN y > 0 THEN COALESCE(x / y, 0) END AS n FROM a WHERE x > 1",
            "CASE WHEN y > 0 THEN x / y END AS n",
        ),
        ("SELECT x, y / NULLIF(COUNT(*), 0) AS n FROM a GROUP BY x, y", "y / COUNT(*) AS n"),
        (
            "SELECT COUNT(*) / NULLIF(COUNT(*), 0) AS n FROM a",
            "COUNT(*) / NULLIF(COUNT(*), 0) AS n",
        ),
        (
            "SELECT COALESCE(ROW_NUMBER() OVER (ORDER BY x), 0) AS n FROM a",
            "ROW_NUMBER() OVER (ORDER BY x) AS n",
        ),
    ],
)
def test_what_holds_of_each_row_is_not_tested(rest, expected):
    assert expected in optimize_text(f"WITH a AS (SELECT x, y FROM t) {rest}")
