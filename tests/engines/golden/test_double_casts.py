"""Superfluous and required casts to double in each dialect; a whole statement without faults."""

import pytest

from tests.engines.golden.reading import find_faults

TYPES = {
    "bigquery": "FLOAT64",
    "clickhouse": "Float64",
    "postgres": "DOUBLE PRECISION",
    "redshift": "DOUBLE PRECISION",
    "sqlite": "REAL",
}
DIALECTS = (
    "duckdb", "bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino",
    "clickhouse", "sqlite",
)  # fmt: skip
DIVIDING = ("duckdb", "bigquery", "spark", "databricks", "clickhouse")
"""Dialects in which a division gives a double, whatever it divides."""

CTE = (
    "WITH x AS (SELECT {} AS d, CAST(b AS DOUBLE) AS e, COUNT(*) AS n, a FROM t GROUP BY b, a)"
    " SELECT {} AS c, d, e, n, a FROM x"
)


def is_needless(value: str, dialect: str, column: str = "0") -> bool:
    """Return True if a cast of a value to double is reported; d is a column of a CTE, e a double, n
    a count, a an input's.
    """
    text = CTE.format(column, f"CAST({value} AS DOUBLE)").replace(
        "DOUBLE", TYPES.get(dialect, "DOUBLE")
    )
    return any(
        text.startswith("the outermost SELECT, column c: CAST(")
        and "casts what is a double already" in text
        for text in find_faults(text, dialect)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "value",
    [
        *(
            "e", "-e", "e + 1", "1 - a * e", "a / e", "CAST(a AS DOUBLE)", "SUM(e)", "AVG(e)",
            "MIN(e)", "ABS(e)", "NULLIF(e, 0)",
        ),
        *(
            "LN(e)", "EXP(n)", "SQRT(e + a)", "LAG(e) OVER (ORDER BY n)",
            "SUM(e) OVER (PARTITION BY n)", "(SELECT MAX(e) FROM x)",
        ),
        *(
            "COALESCE(e, e + 1)",
            "CASE WHEN a > 0 THEN e END",
            "CASE WHEN a > 0 THEN e ELSE e / 2 END",
        ),
    ],
)  # fmt: skip
def test_a_double_is_not_cast(value, dialect):
    assert is_needless(value, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "value",
    [
        *(
            "a", "n", "1", "'0.5'", "NULL", "a + n", "SUM(n)", "COUNT(e)", "MAX(a)", "ABS(a)",
            "COALESCE(a, 0)", "e > 1",
        ),
        *(
            "ROW_NUMBER() OVER (ORDER BY e)",
            "RANK() OVER (ORDER BY e)",
            "CASE WHEN e > 0 THEN 1 ELSE 0 END",
            "CAST(e AS INT)",
        ),
    ],
)  # fmt: skip
def test_what_is_no_double_may_be_cast(value, dialect):
    assert not is_needless(value, dialect)


@pytest.mark.parametrize(
    ("value", "dialects"),
    [
        ("a / n", DIVIDING),
        ("0.5", ("bigquery", "clickhouse", "sqlite")),
        ("5e-1", ("bigquery", "clickhouse", "sqlite", "duckdb", "spark", "databricks", "trino")),
        ("COALESCE(e, 0)", tuple(dialect for dialect in DIALECTS if dialect != "sqlite")),
        (
            "FLOOR(e)",
            tuple(dialect for dialect in DIALECTS if dialect not in {"spark", "databricks"}),
        ),
        (
            "LN(a)",
            tuple(dialect for dialect in DIALECTS if dialect not in {"postgres", "redshift"}),
        ),
        ("AVG(a)", ("duckdb", "clickhouse", "sqlite")),
    ],
)
def test_dialects_differ(value, dialects):
    assert {dialect for dialect in DIALECTS if is_needless(value, dialect)} == set(dialects)


@pytest.mark.parametrize(
    "column",
    [
        "CAST(a AS DOUBLE)",
        "MAX(a + CAST(1 AS DOUBLE))",
        "(SELECT MAX(s.f) FROM (SELECT LN(CAST(g AS DOUBLE)) AS f FROM u) AS s)",
    ],
)
def test_a_column_of_a_cte_is_what_it_was_made_of(column):
    assert is_needless("d", "postgres", column)
    assert is_needless("SUM(d * a)", "postgres", column)
    assert not is_needless("SUM(n * a)", "postgres", column)


def test_columns_keep_their_kinds_through_unions_and_subqueries():
    union = (
        "WITH x AS (SELECT {} AS a FROM t UNION ALL SELECT 0 FROM u) SELECT CAST(a AS DOUBLE) AS c"
        " FROM (SELECT * FROM x) AS s"
    )
    found = "the outermost SELECT, column c: CAST(a AS DOUBLE) casts what is a double already"
    assert find_faults(union.format("CAST(b AS DOUBLE)"), "trino") == [found]
    assert find_faults(union.format("b"), "trino") == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_operands_of_divisions(dialect):
    text = (
        "SELECT CAST(a AS {0}) / b AS c, CAST(COUNT(*) AS {0}) / SUM(b) AS d, CAST('0.5' AS {0}) /"
        " a AS e, 1 / CAST(a AS INT) AS f FROM t"
    )
    found = [
        text.partition(": ")[0]
        for text in find_faults(text.format(TYPES.get(dialect, "DOUBLE")), dialect)
    ]
    assert found == (
        ["the outermost SELECT, column c", "the outermost SELECT, column d"]
        if dialect in DIVIDING
        else []
    )


def test_a_decimal_operand_of_a_division_may_be_cast():
    assert (
        find_faults(
            "SELECT CAST(0.5 AS DOUBLE) / a AS c, CAST(CAST(a AS DECIMAL(9, 2)) + 1 AS DOUBLE) / a"
            " AS d FROM t",
            "spark",
        )
        == []
    )


STATEMENT = """-- sqlrank 0.1.0: AUC, LogLoss
CREATE TABLE daily_metrics AS
WITH predictions AS (
  -- One row per prediction.
  SELECT
    campaign,
    click AS label,
    p_click AS score,
    {weight} AS weight
  FROM impressions
  WHERE
    day = '2026-01-01'
), amounts AS (
  SELECT
    campaign,
    score,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives
  FROM predictions
  GROUP BY
    campaign,
    score
), below AS (
  SELECT
    campaign,
    positives,
    negatives,
    COALESCE(SUM(negatives) OVER (PARTITION BY campaign ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS negatives_below
  FROM amounts
), by_below AS (
  SELECT
    campaign,
    SUM(positives * (negatives_below + {half} * negatives)) / NULLIF(SUM(positives) * SUM(negatives), 0) AS auc
  FROM below
  GROUP BY
    campaign
), by_predictions AS (
  SELECT
    campaign,
    -SUM(weight * LN({probability})) / NULLIF(SUM(weight), 0) AS logloss,
    COUNT(*) AS predictions
  FROM predictions
  GROUP BY
    campaign
)
SELECT
  p.campaign,
  b.auc,
  p.logloss,
  {share} / SUM(p.predictions) OVER () AS share_of_predictions
FROM by_predictions AS p
LEFT JOIN by_below AS b
  ON b.campaign = p.campaign;
"""
_SHORT = {
    "weight": "1 / propensity",
    "half": "0.5",
    "probability": "score + label - 1",
    "share": "p.predictions",
}
_CAST = {
    "weight": "1 / CAST(propensity AS {})",
    "half": "CAST(0.5 AS {})",
    "probability": "CAST(score + label - 1 AS {})",
    "share": "CAST(p.predictions AS {})",
}


def find_statement_faults(dialect: str, parts: dict[str, str]) -> list[str]:
    return find_faults(
        STATEMENT.format(
            **{name: part.format(TYPES.get(dialect, "DOUBLE")) for name, part in parts.items()}
        ),
        dialect,
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_whole_statement(dialect):
    """A half that is multiplied by a double needs no cast in any dialect."""
    assert (
        find_statement_faults(dialect, _SHORT if dialect in DIVIDING else _CAST | {"half": "0.5"})
        == []
    )


@pytest.mark.parametrize("dialect", DIVIDING)
def test_a_whole_statement_with_casts_that_a_dialect_does_not_need(dialect):
    assert {text.partition(": ")[0] for text in find_statement_faults(dialect, _CAST)} == {
        "CTE predictions, column weight",
        "CTE by_below, column auc",
        "the outermost SELECT, column share_of_predictions",
    }
