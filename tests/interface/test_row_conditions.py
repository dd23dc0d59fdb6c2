"""The condition for valid rows, which statements count, equals the single rules of rows."""

import re
from itertools import product

import duckdb
import pytest
from sqlglot import exp, parse_one

from sqlrank.inputs.row_rules import row_rules, valid_row_condition
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import read_row_checks
from sqlrank.registry.sql_folder import sql_root

NUMBERS = [
    "NULL", "'nan'", "'-nan'", "'inf'", "'-inf'", "-1e95", "-1", "-0.0", "0", "1e-95", "0.5",
    "1", "1 + 1e-15", "2", "1e95",
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("role", "columns"),
    [
        ("predictions", ("label", "score")),
        ("predictions", ("score", "weight")),
        ("logs", ("propensity", "target")),
        ("interleaved", ("clicks",)),
    ],
)
def test_what_is_counted_is_what_breaks_a_rule(role, columns):
    path = sql_root() / "inputs" / "checks" / f"{role}.sql"
    requirements = [rule.requirement for rule in read_row_checks(path) if rule.requirement]
    rows = ", ".join(
        f"({', '.join(f'CAST({one} AS DOUBLE)' for one in row)})"
        for row in product(NUMBERS, repeat=len(columns))
    )
    for required in ([], *([text] for text in requirements), requirements):
        conditions = list(
            row_rules(load_registry().roles[role], path, columns, required).conditions.values()
        )
        condition = valid_row_condition(conditions)
        assert condition is not None
        broken = f"CASE WHEN {exp.or_(*conditions).sql('duckdb')} THEN 1 ELSE 0 END"
        is_sound = f"CASE WHEN {condition.sql('duckdb')} THEN 0 ELSE 1 END"
        query = (
            f"SELECT SUM({broken}), COUNT(*) FILTER (WHERE {broken} <> {is_sound}) FROM (VALUES"
            f" {rows}) AS t({', '.join(columns)})"
        )
        ((wrong, differ),) = duckdb.execute(query).fetchall()
        assert (wrong > 0, differ) == (True, 0), condition.sql()


def test_a_list_implies_a_finite_number_and_a_range_one_that_may_be_nan():
    path = sql_root() / "inputs" / "checks" / "predictions.sql"
    conditions = row_rules(
        load_registry().roles["predictions"],
        path,
        ("label", "score"),
        ("binary labels", "probabilities"),
    ).conditions
    condition = valid_row_condition(list(conditions.values()))
    assert condition is not None
    assert (
        condition.sql("duckdb") == "NOT ISNAN(score) AND label IN (0, 1) AND score BETWEEN 0 AND 1"
    )


@pytest.mark.parametrize(
    "conditions",
    [
        ["cluster < 0"],
        ["cluster IS NULL", "cluster < other"],
        ["cluster IS NULL", "NULLIF(cluster, 0) < 0"],
        [],
    ],
)
def test_rows_of_which_a_rule_may_say_nothing_are_left_to_the_rules(conditions):
    """``NOT`` does not make sound what is neither broken nor not."""
    assert (
        valid_row_condition([parse_one(condition, read="duckdb") for condition in conditions])
        is None
    )


@pytest.mark.parametrize("role", sorted(load_registry().checks.keys() & load_registry().roles))
def test_rules_count_rows_in_one_of_two_forms(role):
    """Functions and examples of wrong rows take the condition out of the count."""
    for rule in read_row_checks(load_registry().checks[role]):
        text = re.sub(r" /\*.*?\*/", "", rule.column.unalias().sql("duckdb"))
        assert re.fullmatch(
            r"SUM\(CASE WHEN .+ THEN 1 ELSE 0 END\)|COUNT\(\*\) - COUNT\(\w+\)", text
        ), text
