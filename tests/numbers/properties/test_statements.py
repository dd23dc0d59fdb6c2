"""Printed statements of predictions: forbidden constructs, and equal numbers for every strategy."""

import sqlite3
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from tests.lanes import select_few
from tests.numbers.properties.predictions import (
    DEVIANCES,
    METRICS,
    STRATEGIES,
    assert_equal,
    compute_expected,
    get_predictions,
)

pytestmark = pytest.mark.slow

ROW_LIKE = ("score", "threshold")
"""Columns of which there may be as many different values as rows, so that grouping by them makes
few rows of many only by luck.
"""


def is_of_rows(query: exp.Expr, ctes: dict[str, exp.Expr]) -> bool:
    """Return True if a query may return as many rows as there are predictions."""
    if isinstance(query, exp.Union):
        return is_of_rows(query.left, ctes) or is_of_rows(query.right, ctes)
    group = query.args.get("group")
    if group is not None and not any(column.name in ROW_LIKE for column in group.expressions):
        return False
    if (
        group is None
        and query.selects
        and all(
            column.find(exp.AggFunc) and not column.find(exp.Window) for column in query.selects
        )
    ):
        return False
    return reads_rows(query, ctes)


def reads_rows(query: exp.Expr, ctes: dict[str, exp.Expr]) -> bool:
    clauses = [query.args.get("from_"), *(query.args.get("joins") or [])]
    for clause in clauses:
        source = clause.this if clause is not None else None
        if isinstance(source, exp.Subquery) and is_of_rows(source.this, ctes):
            return True
        if isinstance(source, exp.Table) and (
            source.name == "p" or (source.name in ctes and is_of_rows(ctes[source.name], ctes))
        ):
            return True
    return False


def _is_named_and_parted(window: exp.Window) -> bool:
    """Return True if a window is that of the WINDOW clause of its SELECT, which has partitions."""
    definitions = (
        window.parent_select.args.get("windows") or [] if window.parent_select is not None else []
    )
    return any(
        named.name == window.alias and named.args.get("partition_by") for named in definitions
    )


def find_global_windows(metric: str, dialect: str = "bigquery", **arguments: Any) -> list[str]:
    """Return the windows over rows of the predictions that are the work of one machine."""
    text = sqlrank.sql(
        metric, dialect=dialect, predictions="p", **{"plan": {"list_key": "integer"}, **arguments}
    )
    tree = sqlglot.parse_one(text, read=dialect)
    ctes = {cte.alias: cte.this for cte in tree.ctes}
    windows = [
        window
        for window in tree.find_all(exp.Window)
        if not window.args.get("partition_by") and not _is_named_and_parted(window)
    ]
    return [window.sql(dialect) for window in windows if reads_rows(window.parent_select, ctes)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("metric", [*METRICS, *DEVIANCES])
def test_no_window_over_rows_is_global(metric):
    for weighted in ({}, {"columns": {"weight": "w"}}):
        assert not find_global_windows(metric, **weighted)


WAREHOUSES = (
    "bigquery", "snowflake", "spark", "databricks", "trino", "clickhouse", "postgres",
    "redshift", "datafusion", "sqlite",
)  # fmt: skip


@pytest.mark.parametrize("dialect", select_few(WAREHOUSES, 3))
def test_a_printed_statement_reads_no_column_that_was_not_named(dialect):
    text = sqlrank.sql(["AUC", "ECE", "PnDCG", "R2"], dialect=dialect, predictions="p", by="day")
    tree = sqlglot.parse_one(text, read=dialect if dialect != "datafusion" else "postgres")
    assert "query_id" not in {column.name for column in tree.find_all(exp.Column)}


def run_on_sqlite(metrics: list[str], **arguments: Any) -> list[dict[str, Any]]:
    """Run the statement for SQLite there."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE p (label, score, weight, query_id, kind)")
        connection.executemany(
            "INSERT INTO p VALUES (?, ?, ?, ?, ?)",
            [tuple(row.values()) for row in get_predictions().to_pylist()],
        )
        text = sqlrank.sql(
            metrics,
            dialect="sqlite",
            predictions="p",
            columns={"weight": "weight"},
            by=[["kind"], []],
            **arguments,
        )
        rows = connection.execute(text).fetchall()
    return [dict(zip(["group", *metrics], [row[0], *row[2:]], strict=True)) for row in rows]


@pytest.mark.parametrize("numbering", select_few(["integer", "input"], 1))
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, ("buckets",)))
def test_sqlite(strategy, numbering):
    assert_equal(
        run_on_sqlite(METRICS, plan={"score_order": strategy, "list_key": numbering}),
        compute_expected(strategy),
        tolerance=1e-11,
    )


def test_gauc_of_groups_on_sqlite():
    """Here the column is there, so that nothing says that the groups are taken for one another."""
    got = run_on_sqlite(["GAUC", "num_predictions"])
    assert_equal(got, [{name: row[name] for name in got[0]} for row in compute_expected("window")])


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "databricks", "trino"])
def test_no_warehouse_is_given_a_window_over_all_rows(dialect):
    metric = "AUC"
    assert not find_global_windows(metric, dialect)
    assert find_global_windows(metric, dialect, plan={"score_order": "window"})
    of_values = find_global_windows(metric, dialect, plan={"score_order": "distinct"})
    assert bool(of_values) is (dialect not in ("spark", "databricks"))  # there, of buckets


def test_the_statement_says_which_strategy_was_taken():
    assert "plan: score_order=buckets" in sqlrank.sql("AUC", dialect="bigquery", predictions="p")
    # Fewer than 20,000 rows are sorted without a look at their scores.
    few = pa.table({"label": [0, 1] * 10_000, "score": [0.1, 0.9] * 10_000})
    many = pa.table({"label": [0, 1] * 10_000, "score": np.arange(20_000) / 20_000})
    taken = {}
    for name, table in (
        ("few", few),
        ("many", many),
        ("weighted", many.append_column("weight", pa.array([2.0] * 20_000))),
    ):
        taken[name] = (
            sqlrank.evaluate("AUC", predictions=table)
            .schema.metadata[b"sqlrank.score_order"]
            .decode()
        )
    assert taken == {"few": "distinct", "many": "rank", "weighted": "window"}


@pytest.mark.slow
def test_the_printed_statement_runs():
    with duckdb.connect() as connection:
        connection.register("p", get_predictions())
        for strategy in STRATEGIES:
            text = sqlrank.sql(
                METRICS,
                predictions="p",
                columns={"weight": "weight"},
                by=[["group"], []],
                plan={"score_order": strategy},
            )
            rows = connection.sql(text).fetchall()
            names = list(compute_expected(strategy)[0])
            names.insert(1, "slice")
            printed = [dict(zip(names, row, strict=True)) for row in rows]
            assert [row.pop("slice") for row in printed] == ["all"] + ["group"] * (len(rows) - 1)
            assert_equal(printed, compute_expected(strategy))
