"""Generated statements over generated rows, with NULLs, negative bounds and empty groups, have the
same rows before and after the passes of the optimizer.
"""

from random import Random

import duckdb
import pytest
import sqlglot

from sqlrank.rendering.optimizer.optimizer import optimize_statement
from tests.lanes import select_few

NUM_STATEMENTS = 25
"""Statements over each set of rows."""


def write_number(draw: Random) -> str:
    return draw.choice(["NULL", "-2", "-1", "-1", "0", "0", "1", "2", "3"])


def write_rows(draw: Random, size: int) -> str:
    """Return the rows of a table; one of NULLs alone is the first of few rows, or of none."""
    rows = [f"({', '.join(write_number(draw) for _ in range(3))})" for _ in range(size)]
    condition = "" if size else " WHERE FALSE"
    values = ", ".join(rows or ["(NULL, NULL, NULL)"])
    return f"SELECT CAST(k AS INTEGER) AS k, CAST(x AS INTEGER) AS x, CAST(y AS INTEGER) AS y FROM (VALUES {values}) AS rows(k, x, y){condition}"


def write_term(draw: Random, columns: list[str], depth: int = 2) -> str:
    if depth == 0 or draw.random() < 0.3:
        return draw.choice([*columns, *columns, write_number(draw)])
    one, other = (write_term(draw, columns, depth - 1) for _ in range(2))
    condition = write_condition(draw, columns, depth - 1)
    return draw.choice(
        [
            f"({one} + {other})", f"({one} - {other})", f"({one} * {other})",
            f"COALESCE({one}, {other})", f"NULLIF({one}, {other})",
            f"CASE WHEN {condition} THEN {one} ELSE {other} END",
            f"CASE WHEN {condition} THEN {one} END",
        ]
    )  # fmt: skip


def write_bound(draw: Random, term: str) -> str:
    return f"{term} {draw.choice(['<', '<=', '>', '>=', '>=', '=', '<>'])} {write_number(draw)}"


def write_condition(draw: Random, columns: list[str], depth: int = 1) -> str:
    term = draw.choice(columns)
    simple = draw.choice(
        [f"{term} IS NULL", f"{term} IS NOT NULL", *(write_bound(draw, term) for _ in range(2))]
    )
    if depth == 0:
        return simple
    other = write_condition(draw, columns, depth - 1)
    return draw.choice(
        [simple, f"NOT ({other})", f"({simple} AND {other})", f"({simple} OR {other})"]
    )


def write_aggregate(draw: Random, columns: list[str]) -> str:
    """Return an aggregate, or a test of one: bounds of a column say little of those of its sum."""
    name, column = draw.choice(["SUM", "SUM", "MIN", "MAX", "COUNT"]), draw.choice(columns)
    found = draw.choice(["COUNT(*)", f"{name}({column})", f"{name}({write_term(draw, columns)})"])
    return draw.choice([found, f"CASE WHEN {write_bound(draw, found)} THEN 1 ELSE 0 END"])


def write_statement(draw: Random) -> str:
    """Return a chain of steps that filter, compute, aggregate and join."""
    columns = ["k", "x", "y"]
    given = [
        f"{name} AS (SELECT k, x, y, {write_term(draw, columns)} AS {name}1, 1 AS one FROM {source}"
        f" WHERE {write_condition(draw, columns)})"
        for name, source in (("a", "t"), ("b", "u"))
    ]
    a, b = [*columns, "a1", "one"], [*columns, "b1", "one"]
    grouped = [
        f"{name} AS (SELECT k, {write_aggregate(draw, read)} AS {name}1, {write_aggregate(draw, read)} AS"
        f" {name}2 FROM {source} WHERE {write_condition(draw, read)} GROUP BY k)"
        for name, source, read in (("c", "a", a), ("d", draw.choice("ab"), [*columns, "one"]))
    ]
    total = (
        f"e AS (SELECT {write_aggregate(draw, b)} AS e1 FROM b WHERE {write_condition(draw, b)})"
    )
    equal = draw.choice(["=", "IS NOT DISTINCT FROM"])
    joins = [
        f"{draw.choice(['LEFT JOIN', 'JOIN'])} {name} ON {name}.k {equal} a.k" for name in "cd"
    ]
    read = ["a.k", "a.x", "a.a1", "a.one", "c.c1", "c.c2", "d.d1", "e.e1"]
    results = [f"{write_term(draw, read)} AS r{place}" for place in range(3)]
    window = f"SUM({write_term(draw, read)}) OVER (PARTITION BY a.k) AS r3"
    return (
        f"WITH {', '.join([*given, *grouped, total])} SELECT {', '.join([*results, window])} FROM a"
        f" {' '.join(joins)} CROSS JOIN e WHERE {write_condition(draw, read)}"
    )


@pytest.mark.parametrize("seed", select_few(range(24), 4))
def test_rows_stay(seed):
    draw = Random(seed)  # noqa: S311  the same statements each time
    with duckdb.connect() as connection:
        for name in "tu":
            connection.execute(
                f"CREATE TABLE {name} AS {write_rows(draw, draw.choice([0, 1, 4, 9]))}"
            )
        for _ in range(NUM_STATEMENTS):
            text = write_statement(draw)
            tree = sqlglot.parse_one(text, read="duckdb")
            optimize_statement(tree)
            expected, found = (
                sorted(connection.execute(each).fetchall(), key=repr)
                for each in (text, tree.sql("duckdb"))
            )
            assert found == expected, text
