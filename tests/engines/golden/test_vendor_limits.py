"""Limits of vendors on statements, with the page that each is from: nothing here executes on their
services.
"""

import re

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.renderer import rewrite_for_dialect
from tests.engines.golden.test_all_metrics import CASES, print_statement
from tests.engines.scenarios import scenarios

MB = 1024 * 1024
MAX_BYTES = {
    "bigquery": (
        1024 * 1000,
        "Quotas and limits, Query jobs: 'maximum standard SQL query length is 1024.00K characters'",
    ),
    "snowflake": (MB, "Limits on Query Text Size"),
    "redshift": (16 * MB, "Amazon Redshift SQL"),
    "tsql": (
        65_536 * 4096,
        "Maximum capacity specifications for SQL Server: batch size, at the default packet size",
    ),
}
"""Largest statements in bytes, with the vendor's page."""

MAX_NAMES = {
    "redshift": (127, "Names and identifiers"),
    "mysql": (64, "Identifier Length Limits, of columns, as which aliases count in CREATE VIEW"),
    "databricks": (255, "Names: object names of Unity Catalog"),
    "postgres": (63, "Identifiers and Key Words: NAMEDATALEN, beyond which names are cut"),
}
"""Longest names in characters, with the vendor's page."""

MAX_CASES = 10
"""Levels of CASE in one another that SQL Server takes, by the page of its error 125,
MSSQLSERVER_125.
"""

MAX_TABLES = 61
"""Tables that MySQL takes in one join, by its page "Limits on Joins"."""

UNSUPPORTED = (exp.Collate, exp.Array, exp.Bracket, exp.Values, exp.GenerateSeries, exp.NullSafeEQ)
"""Parts of PostgreSQL's SQL that Redshift lacks, by its page "Unsupported PostgreSQL features"."""

SUMMED = (exp.Sum, exp.Count, exp.Min, exp.Max)

FUSED = (
    "default", "systems", "predictions shop, score_order=window", "regression",
    "classified with intervals", "records of groups",
)  # fmt: skip
"""Scenarios with all metrics of an input in one statement."""


def print_fused(dialect: str) -> list[str]:
    return [scenario.text(dialect) for scenario in scenarios() if scenario.name in FUSED]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", MAX_BYTES)
def test_statements_of_all_metrics_are_a_tenth_of_what_vendors_allow(dialect):
    most, _ = MAX_BYTES[dialect]
    assert 20_000 < max(len(text.encode()) for text in print_fused(dialect)) < most / 10


@pytest.mark.slow
@pytest.mark.parametrize("dialect", MAX_NAMES)
def test_names_are_as_short_as_vendors_demand(dialect):
    most, _ = MAX_NAMES[dialect]
    trees = [
        sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
        for text in print_fused(dialect)
    ]
    names = {name.name for tree in trees for name in tree.find_all(exp.Identifier)}
    assert len(names) > 100
    assert max(map(len, names)) <= most


@pytest.mark.slow
def test_cases_are_in_few_others_on_sql_server():
    for text in print_fused("tsql"):
        for case in sqlglot.parse_one(text, read="tsql").find_all(exp.Case):
            depth, outer = 1, case.find_ancestor(exp.Case, exp.Select)
            while isinstance(outer, exp.Case):
                depth, outer = depth + 1, outer.find_ancestor(exp.Case, exp.Select)
            assert depth <= MAX_CASES


@pytest.mark.slow
def test_joins_have_few_tables_on_mysql():
    for text in print_fused("mysql"):
        for select in sqlglot.parse_one(text, read="mysql").find_all(exp.Select):
            assert len(select.args.get("joins") or []) < MAX_TABLES


@pytest.mark.slow
def test_statements_have_what_redshift_has():
    """By the page "SUM window function", an aggregate over a sorted window needs a frame, which has
    the keyword ROWS.
    """
    files = [file for file, dialect in CASES if dialect == "redshift"]
    assert len(files) > 250
    for file in files:
        tree = sqlglot.parse_one(print_statement(file, "redshift"), read="redshift")
        assert [node.sql() for node in tree.find_all(*UNSUPPORTED)] == [], file.name
        assert find_windows_without_frame(tree) == [], file.name


def find_windows_without_frame(tree: exp.Expr) -> list[str]:
    sums = [window for window in tree.find_all(exp.Window) if isinstance(window.this, SUMMED)]
    frames = [(window, window.args.get("spec")) for window in sums if window.args.get("order")]
    return [window.sql() for window, spec in frames if spec is None or spec.args["kind"] != "ROWS"]


@pytest.mark.parametrize(("dialect", "count"), [("postgres", 1), ("redshift", 0)])
def test_ties_are_counted_by_their_ranks_on_redshift(dialect, count):
    text = sqlrank.sql("num_tied@3", run="r", qrels="q", dialect=dialect)
    assert len(find_windows_without_frame(sqlglot.parse_one(text, read=dialect))) == count


@pytest.mark.parametrize("dialect", ["redshift", "spark"])
def test_columns_of_a_moved_row_keep_their_names(dialect):
    """Both tables have a column of this name, so the step has one of another name."""
    text = (
        "SELECT b.y AS other, a.y, SUM(a.z) OVER (ORDER BY CAST(a.s AS DOUBLE)) AS n"
        " FROM a JOIN b ON a.i = b.i"
    )
    tree = rewrite_for_dialect(sqlglot.parse_one(text), dialect)
    assert "y_2" in tree.sql()
    assert tree.named_selects == ["other", "y", "n"]


def test_ranks_count_what_a_sorted_window_does():
    """Rows up to a row and its equals, beside all columns of a table."""
    call = {"key": "who", "time": "at", "leave_last": 2}
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i, i % 3 AS who, i // 2 % 5 AS at"
            " FROM RANGE(40) AS t (i)"
        )
        rows = []
        for dialect in ("duckdb", "redshift"):
            text = sqlrank.split_sql("visits", **call, dialect=dialect)
            assert ("RANK()" in text) is (dialect == "redshift")
            runnable = sqlglot.transpile(text, read=dialect, write="duckdb")[0]
            rows.append(connection.execute(f"FROM ({runnable}) ORDER BY i").fetchall())
    assert rows[0] == rows[1]
    assert {row[-1] for row in rows[0]} == {"train", "test"}


def test_texts_have_a_length_on_sql_server():
    """By the page "char and varchar (Transact-SQL)", a cast without a length leaves 30
    characters.
    """
    as_texts = sqlrank.sql("RR", run="r", qrels="q", id_type="text", dialect="tsql")
    drawn = {"confidence": 0.95, "interval": "bootstrap", "unit": "user_id", "replicates": 99}
    text = as_texts + sqlrank.sql("AUC", predictions="p", dialect="tsql", **drawn)
    text = re.sub(r"\n-- +", " ", text)  # the header wraps
    assert text.count("AS NVARCHAR(4000))") == 3  # one in the header
    assert text.count("VARCHAR") == text.count("VARCHAR(") == 5
