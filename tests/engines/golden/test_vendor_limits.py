"""Limits of vendors on statements, with the page that each is from: nothing here executes on their
services.
"""

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
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
}
"""Longest names in characters, with the vendor's page."""

MAX_CASES = 10
"""Levels of CASE in one another that SQL Server takes, by the page of its error 125,
MSSQLSERVER_125.
"""

FUSED = (
    "default", "systems", "predictions shop, score_order=window", "regression",
    "classified with intervals", "records of groups",
)  # fmt: skip
"""Scenarios with all metrics of an input in one statement."""


def print_fused(dialect: str) -> list[str]:
    return [scenario.text(dialect) for scenario in scenarios() if scenario.name in FUSED]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", MAX_BYTES)
def test_statements_of_all_metrics_are_a_tenth_of_what_vendors_allow(dialect: str) -> None:
    most, _ = MAX_BYTES[dialect]
    assert 20_000 < max(len(text.encode()) for text in print_fused(dialect)) < most / 10


@pytest.mark.slow
@pytest.mark.parametrize("dialect", MAX_NAMES)
def test_names_are_as_short_as_vendors_demand(dialect: str) -> None:
    most, _ = MAX_NAMES[dialect]
    trees = [
        sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
        for text in print_fused(dialect)
    ]
    names = {name.name for tree in trees for name in tree.find_all(exp.Identifier)}
    assert len(names) > 100
    assert max(map(len, names)) <= most


@pytest.mark.slow
def test_cases_are_in_few_others_on_sql_server() -> None:
    for text in print_fused("tsql"):
        for case in sqlglot.parse_one(text, read="tsql").find_all(exp.Case):
            depth, outer = 1, case.find_ancestor(exp.Case, exp.Select)
            while isinstance(outer, exp.Case):
                depth, outer = depth + 1, outer.find_ancestor(exp.Case, exp.Select)
            assert depth <= MAX_CASES


def test_texts_have_a_length_on_sql_server() -> None:
    """By the page "char and varchar (Transact-SQL)", a cast without a length leaves 30
    characters.
    """
    as_texts = sqlrank.sql("RR", run="r", qrels="q", id_type="text", dialect="tsql")
    drawn = {"confidence": 0.95, "interval": "bootstrap", "unit": "user_id", "replicates": 99}
    text = as_texts + sqlrank.sql("AUC", predictions="p", dialect="tsql", **drawn)
    assert text.count("AS NVARCHAR(4000))") == 3  # one in the header
    assert text.count("VARCHAR") == text.count("VARCHAR(") == 5
