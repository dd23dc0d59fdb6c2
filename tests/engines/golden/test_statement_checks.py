"""Checks of printed statements find each fault in the smallest statement that has it, and none in
statements without faults.
"""

import pytest

from tests.engines.golden.header import find_header_faults
from tests.engines.golden.reading import find_faults
from tests.engines.golden.style import find_style_faults

PAIR = "WITH x AS (SELECT a, b FROM t)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{PAIR} SELECT a FROM x", "CTE x: nobody reads its column b"),
        (f"{PAIR} SELECT x.a FROM x JOIN u ON u.b = x.a", "CTE x: nobody reads its column b"),
        (
            "SELECT a FROM (SELECT a, b AS c FROM t) AS s",
            "subquery s in the outermost SELECT: nobody reads its column c",
        ),
        (
            "WITH x AS (SELECT a FROM (SELECT a, b FROM t) AS s) SELECT a FROM x",
            "subquery s in CTE x: nobody reads its column b",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT a, b FROM t) AS s",
            "subquery s in the outermost SELECT: nobody reads its column a",
        ),
        (
            "CREATE TABLE n AS WITH x AS (SELECT a, b FROM t) SELECT a FROM x",
            "CTE x: nobody reads its column b",
        ),
        (
            "INSERT INTO n (a) WITH x AS (SELECT a, b FROM t) SELECT a FROM x",
            "CTE x: nobody reads its column b",
        ),
        (
            "WITH x AS (SELECT a, b FROM t UNION ALL SELECT c, d FROM u) SELECT a FROM x",
            "CTE x: nobody reads its column b",
        ),
        (
            "WITH x (a, b) AS (SELECT c, d FROM t) SELECT a FROM x",
            "CTE x: nobody reads its column b",
        ),
        (
            (
                "WITH x AS (SELECT * FROM (SELECT a, b FROM t) AS s WHERE RANDOM() >= 0) SELECT a"
                " FROM x"
            ),
            "CTE x: nobody reads its column b",
        ),
        (f"{PAIR} SELECT * EXCLUDE (b) FROM x", "CTE x: nobody reads its column b"),
    ],
)
def test_a_column_that_nobody_reads(text, sentence):
    assert sentence in find_faults(text, "duckdb")


@pytest.mark.parametrize(
    "rest",
    [
        "SELECT a, b FROM x", "SELECT * FROM x", "SELECT y.* FROM x AS y",
        "SELECT a FROM x WHERE b > 0", "SELECT a FROM x ORDER BY b",
        "SELECT a FROM x GROUP BY a HAVING MAX(b) > 0", "SELECT SUM(a) FROM x GROUP BY b",
        "SELECT a FROM x QUALIFY ROW_NUMBER() OVER (ORDER BY b) = 1",
        "SELECT SUM(a) OVER w FROM x WINDOW w AS (PARTITION BY b)",
        "SELECT x.a FROM x JOIN u ON u.b = x.b", "SELECT x.a FROM x JOIN u USING (b)",
        "SELECT u.a FROM u WHERE EXISTS (SELECT 1 FROM x WHERE x.a = u.a AND b > 0)",
        "SELECT (SELECT MAX(u.a) FROM u WHERE u.b = x.b) AS m, x.a FROM x",
        "SELECT a FROM x UNION ALL SELECT b FROM x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM x) AS s",
        "SELECT COUNT(*) FROM (SELECT a, b FROM x UNION SELECT a, 0 FROM u) AS s",
        "SELECT y.a, s.c FROM x AS y CROSS JOIN LATERAL (SELECT y.b + 1 AS c) AS s",
    ],
)  # fmt: skip
def test_columns_that_are_read(rest):
    assert find_faults(f"{PAIR} {rest}", "duckdb") == []


def test_rows_that_are_counted_keep_one_column():
    assert find_faults("SELECT COUNT(*) AS n FROM (SELECT a FROM t) AS s", "duckdb") == []


def test_names_are_compared_without_case():
    assert find_faults('WITH x AS (SELECT "A", b FROM t) SELECT a, B FROM X', "snowflake") == []


def test_a_recursive_cte_reads_itself():
    text = (
        "WITH RECURSIVE x AS (SELECT 1 AS n, 0 AS m UNION ALL SELECT n + 1, m + 2 FROM x WHERE n <"
        " 9) SELECT {} FROM x"
    )
    assert find_faults(text.format("m"), "duckdb") == []
    assert find_faults(text.format("1").replace("m + 2", "2"), "duckdb") == [
        "CTE x: nobody reads its column m"
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{PAIR} SELECT 1 AS one", "CTE x: nobody reads it"),
        (
            f"{PAIR} SELECT u.c FROM u LEFT JOIN x ON x.a = u.a AND x.b = 1",
            "the outermost SELECT: nobody reads what LEFT JOIN x adds",
        ),
        (
            "WITH x AS (SELECT u.c FROM u LEFT JOIN v ON v.a = u.a) SELECT c FROM x",
            "CTE x: nobody reads what LEFT JOIN v adds",
        ),
        (
            f"{PAIR} SELECT c FROM u LEFT JOIN x AS y ON y.a = u.a AND y.b = 1",
            "the outermost SELECT: nobody reads what LEFT JOIN y adds",
        ),
    ],
)
def test_a_cte_or_a_join_that_nobody_reads(text, sentence):
    assert find_faults(text, "duckdb") == [sentence]


@pytest.mark.parametrize(
    "rest",
    [
        "SELECT x.b FROM u LEFT JOIN x ON x.a = u.a",
        "SELECT b FROM u LEFT JOIN x ON x.a = u.a",
        "SELECT u.c FROM u LEFT JOIN x ON x.a = u.a WHERE x.b IS NULL",
        "SELECT v.c FROM u LEFT JOIN x ON x.a = u.a LEFT JOIN v ON v.b = x.b",
        "SELECT u.c FROM u JOIN x ON x.a = u.a AND x.b = 1",
        "SELECT COUNT(v.*) FROM x LEFT JOIN v ON v.a = x.a AND v.b = x.b",
    ],
)
def test_joins_that_are_read(rest):
    assert find_faults(f"{PAIR} {rest}", "duckdb") == []


def test_an_input_is_written_once():
    twice = (
        "WITH x AS (SELECT a FROM s.t), y AS (SELECT b FROM s.t WHERE b > 0) SELECT x.a, y.b FROM x"
        " CROSS JOIN y"
    )
    assert find_faults(twice, "duckdb") == ["input s.t: written 2 times"]
    assert find_faults("SELECT a FROM 't.csv' UNION ALL SELECT b FROM 't.csv'", "duckdb") == [
        'input "t.csv": written 2 times'
    ]
    assert find_faults(f"{PAIR} SELECT y.a, z.b FROM x AS y CROSS JOIN x AS z", "duckdb") == []
    assert find_faults("WITH t AS (SELECT a FROM t) SELECT a FROM t", "duckdb") == []
    assert find_faults("CREATE TABLE t AS SELECT a FROM t", "duckdb") == []


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        (
            "CASE WHEN a > 2147483647 THEN 0 ELSE a END",
            "the bound a > 2147483647 leaves nothing out",
        ),
        (
            "CASE WHEN 9223372036854775807 >= a THEN 0 ELSE a END",
            "the bound 9223372036854775807 >= a leaves nothing out",
        ),
        (
            "CASE WHEN a <= 1.7976931348623157e308 THEN 0 END",
            "the bound a <= 1.7976931348623157e308 leaves nothing out",
        ),
        ("CASE WHEN a < CAST('1.7976931348623157e+308' AS DOUBLE) THEN 0 END", "the bound"),
        ("a BETWEEN 0 AND 2147483647", "the bound a BETWEEN 0 AND 2147483647 leaves nothing out"),
        ("CASE WHEN TRUE THEN a END", "the condition TRUE is a literal"),
        ("CASE WHEN FALSE THEN 0 ELSE a END", "the condition FALSE is a literal"),
        ("IF(TRUE, a, 0)", "the condition TRUE is a literal"),
        ("a = 1 AND TRUE", "the condition TRUE is a literal"),
        ("CASE WHEN 1 = 1 THEN a END", "1 = 1 compares literals"),
        (
            "CASE WHEN CAST(0.85 AS DOUBLE) >= 1 THEN a END",
            "CAST(0.85 AS DOUBLE) >= 1 compares literals",
        ),
    ],
)
def test_a_bound_that_always_holds(expression, sentence):
    found = find_faults(f"WITH x AS (SELECT {expression} AS c FROM t) SELECT c FROM x", "duckdb")
    assert [text.startswith(f"CTE x, column c: {sentence}") for text in found] == [True]


def test_where_true():
    assert find_faults("SELECT a FROM t WHERE TRUE", "duckdb") == [
        "the outermost SELECT: the condition TRUE is a literal"
    ]


@pytest.mark.parametrize(
    "expression",
    [
        "a <= 10", "CASE WHEN a THEN TRUE ELSE FALSE END", "COALESCE(a, 2147483647)",
        "a = TRUE", "CASE a WHEN TRUE THEN 1 END", "a <= -2e0",
    ],
)  # fmt: skip
def test_conditions_that_tell_rows_apart(expression):
    assert find_faults(f"SELECT {expression} AS c FROM t", "duckdb") == []


def test_a_cte_that_is_only_a_projection():
    copy = PAIR + ", y AS (SELECT {} FROM x{}) SELECT a, b FROM y"
    assert find_faults(copy.format("a, b", ""), "duckdb") == ["CTE y: only a projection of x"]
    assert find_faults(copy.format("x.b, x.a AS a", ""), "duckdb") == [
        "CTE y: only a projection of x"
    ]
    assert find_faults(copy.format("*", ""), "duckdb") == ["CTE y: only a projection of x"]
    assert find_faults(copy.format("a AS b, b AS a", ""), "duckdb") == []
    assert (
        find_faults(
            "WITH x AS (SELECT a, b FROM t), y AS (SELECT a, b FROM s.x) SELECT x.a, x.b, y.a, y.b"
            " FROM x CROSS JOIN y",
            "duckdb",
        )
        == []
    )
    assert find_faults(copy.format("a, b", " WHERE a > 0"), "duckdb") == []
    assert find_faults(copy.format("DISTINCT a, b", ""), "duckdb") == []
    assert find_faults(copy.format("a, b", " GROUP BY a, b"), "duckdb") == []
    assert find_faults(copy.format("x.a, x.b", " JOIN u ON u.a = x.a"), "duckdb") == []


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("(a + 1)", "parentheses round a whole column, (a + 1)"),
        ("1 + (a)", "parentheses round a name or a literal, (a)"),
        ("a * (2)", "parentheses round a name or a literal, (2)"),
        ("2 * ((a + 1))", "parentheses within others, (a + 1)"),
        ("ABS((a + 1))", "parentheses within others, (a + 1)"),
        ("a IN ((SELECT b FROM u))", "parentheses within others, ((SELECT b FROM u))"),
    ],
)
def test_parentheses_that_are_not_needed(expression, sentence):
    assert find_faults(
        f"WITH x AS (SELECT {expression} AS c FROM t) SELECT c FROM x", "duckdb"
    ) == [f"CTE x, column c: {sentence}"]


@pytest.mark.parametrize(
    "expression",
    [
        "2 * (a + 1)", "(SELECT MAX(b) FROM u)", "NOT (a = 1 OR a = 2)", "a - (-1)",
        "COALESCE((a + 1) * 2, 0)", "(a).b",
    ],
)  # fmt: skip
def test_parentheses_that_are_needed(expression):
    assert find_faults(f"SELECT {expression} AS c FROM t", "duckdb") == []


def test_what_cannot_be_read_is_refused():
    with pytest.raises(NotImplementedError, match="a statement that is a Delete"):
        find_faults("DELETE FROM t WHERE a IN (SELECT a FROM u)", "duckdb")


STEP = "-- sqlrank 0.1.0: RR\nWITH x AS (\n  {}\n  SELECT a, b FROM t\n)\nSELECT a, b FROM x"


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        ("/* One row per query. */", "a block comment"),
        ("-- one row per query", "CTE x: no sentence says what its rows are: one row per query"),
        (
            "-- One row per group. (x.sql)",
            "CTE x: the comment names no columns of this statement: One row per group. (x.sql)",
        ),
        (
            "-- One row per query, with doc_id.",
            "CTE x: the comment names doc_id, which the step does not have",
        ),
        (f"-- {'A row. ' * 14}", "a comment is longer than 100 characters"),
    ],
)
def test_untrue_comments(comment, fault):
    assert any(found.startswith(fault) for found in find_faults(STEP.format(comment), "duckdb"))
    assert find_faults(STEP.format("-- One row per query. (eval.run)"), "duckdb") == []


FRAME = "(ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "SELECT CASE WHEN a > 0 THEN 1 END AS b FROM t WHERE a >= 1",
            "the outermost SELECT, column b: a > 0 is true of each row",
        ),
        (
            "WITH x AS (SELECT a AS c FROM t WHERE a > 0) SELECT c FROM x WHERE c > 0",
            "the outermost SELECT: c > 0 is true of each row",
        ),
        (
            "SELECT a, 1 / NULLIF(COUNT(*), 0) AS b FROM t GROUP BY a",
            "the outermost SELECT, column b: NULLIF(COUNT(*), 0): a group has rows",
        ),
        (
            "WITH x AS (SELECT a, NULL AS b FROM t) SELECT a, b FROM x",
            "CTE x, column b: always NULL",
        ),
        (
            f"SELECT SUM(a) OVER {FRAME} AS b, SUM(c) OVER {FRAME} AS d FROM t",
            f"the outermost SELECT: OVER {FRAME} is written 2 times",
        ),
        (
            "SELECT CASE WHEN a IS NULL THEN 2147483647 ELSE a END AS b FROM t",
            "THEN 2147483647: a number that stands for NULL",
        ),
        (
            "SELECT SUBSTRING(SUBSTRING(a, 1, 8), 1, 1) AS b FROM t",
            "SUBSTRING(SUBSTRING(: a part of a part of a text",
        ),
        (
            "WITH digits AS (SELECT 0 AS d UNION ALL SELECT 1) SELECT d FROM digits",
            "CTE digits: the dialect has series of numbers",
        ),
        (
            (
                "WITH x AS (SELECT CAST(a AS DOUBLE) AS a FROM t) SELECT a * 5e-1 AS b, a * 0.5e0"
                " AS c FROM x"
            ),
            "column c: 0.5e0 is beside a double",
        ),
        (
            (
                "WITH x AS (SELECT COALESCE(SUM(LN(a)), CAST(0 AS DOUBLE)) AS b FROM t) SELECT b"
                " FROM x"
            ),
            "CAST(0 AS DOUBLE) is beside a double",
        ),
        (
            (
                "WITH x AS (SELECT LN(a) AS b, c FROM t UNION ALL SELECT CAST(0 AS DOUBLE) AS b, c"
                " FROM t) SELECT b, c FROM x"
            ),
            "CTE x, column b: CAST(0 AS DOUBLE) is beside a double",
        ),
        (
            "WITH x AS (SELECT a + 1 AS b, a + 1 AS c FROM t) SELECT b * c AS d FROM x",
            "CTE x, column c: a + 1 is b, too",
        ),
        (
            f"WITH x AS (SELECT a FROM t) SELECT a{' - a' * 50} AS a_ci_low FROM x",
            "column a_ci_low: is computed in the last SELECT",
        ),
    ],
)
def test_what_a_condition_or_an_idiom_makes_superfluous(text, fault):
    assert any(
        fault in found
        for found in [*find_style_faults(text, "duckdb"), *find_faults(text, "duckdb")]
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CASE WHEN a > 1 THEN 1 END AS b FROM t WHERE a >= 1",
        "SELECT CASE WHEN a > 0 THEN 1 END AS b FROM t WHERE a > 0 OR c",
        (
            "WITH x AS (SELECT a FROM t WHERE a > 0), y AS (SELECT a FROM t) SELECT y.a FROM"
            " y\nLEFT JOIN x ON x.a = y.a WHERE x.a > 0"
        ),
        "SELECT 1 / NULLIF(COUNT(*), 0) AS b FROM t",
        "WITH x AS (SELECT a, NULL AS b FROM t UNION ALL SELECT a, c FROM t) SELECT a, b FROM x",
        f"SELECT SUM(a) OVER w AS b, SUM(c) OVER w AS d FROM t\nWINDOW w AS {FRAME}",
        "WITH x AS (SELECT RANDOM() AS a, RANDOM() AS b FROM t) SELECT a - b AS c FROM x",
    ],
)
def test_what_is_needed_is_none_of_it(text):
    assert find_style_faults(text, "duckdb") == []


HEADER = (
    "-- sqlrank 0.1.0 for DuckDB: RR, one row\n-- reads: t (run)\n-- plan: rank_method=sort\n--"
    " made by: sqlrank sql RR\nSELECT 1 AS a"
)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            " for DuckDB",
            "",
            "the header does not say dialect and rows: -- sqlrank 0.1.0: RR, one row",
        ),
        (
            ", one row",
            "",
            "the header does not say dialect and rows: -- sqlrank 0.1.0 for DuckDB: RR",
        ),
        ("-- reads: t (run)\n", "", "the header has no line 'reads'"),
        ("-- made by: sqlrank sql RR\n", "", "the header has no line 'made by'"),
        (
            "-- reads: t (run)\n-- plan: rank_method=sort",
            "-- plan: a\n-- reads: t",
            "the header has another order: sqlrank, plan, reads, made by",
        ),
        (
            "rank_method=sort",
            "score_order=buckets",
            "the header names no alternative: -- plan: score_order=buckets",
        ),
    ],
)
def test_headers(old, new, fault):
    assert list(find_header_faults(HEADER)) == []
    assert list(find_header_faults(HEADER.replace(old, new))) == [fault]


def test_a_join_with_the_keys_of_a_table_that_is_read():
    text = (
        "WITH q AS (SELECT k FROM t GROUP BY k), x AS (SELECT t.a FROM t\nINNER JOIN q ON q.k ="
        " t.k) SELECT a FROM x"
    )
    fault = "CTE x: INNER JOIN q has the keys of a table that is read"
    assert fault in find_style_faults(text, "duckdb")
    assert fault not in find_style_faults(
        text.replace("t.a FROM t", "u.a FROM u").replace("= t.k", "= u.k"), "duckdb"
    )


def test_comments_of_columns():
    text = STEP.format("-- One row per query.").replace(
        "a, b FROM t", "a,  -- position by {}\n    b FROM t"
    )
    assert find_faults(text.format("b"), "duckdb") == []
    assert find_faults(text.format("ideal_rank"), "duckdb") == [
        "CTE x: a comment of a column names ideal_rank, which the step does not have"
    ]
    series = STEP.format("-- One row per query.").replace(
        "a, b FROM t", "a, b / POWER(df, 11) AS b FROM t"
    )
    assert find_faults(series, "duckdb") == [
        "a polynomial in 1 / df: no comment says that it is the quantile of Student's t"
    ]
