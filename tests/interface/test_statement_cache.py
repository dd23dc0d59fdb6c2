"""Cached results of a call are reused for equal calls only."""

import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.call.request import Request
from sqlrank.call.resolve import resolve_request
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.run.prepare import prepare_statement
from tests.tables import build_table

ORDERS = build_table(order_id="1 1 2", item="a b a", price="2.0 3.0 5.0", pieces="1 2 1")
RUN = build_table(query_id="1 1 2", doc_id="a b a", score="0.5 0.5 0.9")
QRELS = build_table(query_id="1 2", doc_id="b c", relevance="1 1")
AREAS = {
    1.0: build_table(label="1 0 1 0", score="0.9 0.1 0.8 0.2"),
    0.25: build_table(label="1 0 1 0", score="0.1 0.9 0.8 0.2"),
}
"""Predictions of one shape, by their AUC."""

FORKED = """
import os
import sqlrank
def evaluate(*score):
    return sqlrank.evaluate("AUC", predictions={"label": [1, 0], "score": score})["AUC"].to_pylist()
assert evaluate(0.9, 0.1) == [1.0]
child = os.fork()
if not child:
    os._exit(0 if evaluate(0.1, 0.9) == [0.0] else 1)
assert os.waitpid(child, 0)[1] == 0
assert evaluate(0.9, 0.1) == [1.0]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(Path(__file__).parent / "orders", tmp_path / "orders")
    return tmp_path / "orders"


def evaluate_revenue(folder: Path | str, orders: pa.Table = ORDERS) -> Any:
    return sqlrank.evaluate("Revenue", inputs={"orders": orders}, sql_dir=folder)[
        "Revenue"
    ].to_pylist()


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_metrics_of_other_settings_are_resolved_apart():
    def write(metrics, **options):
        return sqlrank.sql(metrics, run="run", qrels="qrels", **options)

    texts = [write(["AP", "P(rel=1)@5"], rel=value) for value in (1, 1.5, 2)]
    texts += [
        write(["AP", "P@5"], queries="queries"),
        write(["AP", "P@5"], compat="trec9"),
        write(["P@5", "AP"]),
    ]
    assert len({*texts}) == len(texts)
    with pytest.raises(sqlrank.MetricError, match="rel is '2'"):
        write(["AP", "P(rel=1)@5"], rel="2")


def test_a_check_that_was_changed_is_read_anew(folder):
    assert evaluate_revenue(folder) == [13.0]
    change(folder / "checks" / "orders.sql", "WHEN pieces < 0 THEN 1 ELSE 0 END) AS negative_pieces -- pieces are negative",
           "WHEN pieces < 2 THEN 1 ELSE 0 END) AS few_pieces -- pieces are below two")  # fmt: skip
    with pytest.raises(InputError, match="2 rows: pieces are below two"):
        evaluate_revenue(folder)
    change(folder / "checks" / "orders.sql", "pieces < 2", "pieces < 0")
    assert evaluate_revenue(folder) == [13.0]


def test_a_metric_and_a_role_that_were_changed_are_read_anew(folder):
    assert evaluate_revenue(folder) == [13.0]
    change(folder / "metrics" / "orders" / "revenue.sql", "SUM(", "2 * SUM(")
    assert evaluate_revenue(folder) == [26.0]
    change(folder / "roles.toml", 'unique = ["order_id", "item"]', 'unique = ["order_id"]')
    with pytest.raises(InputError, match=r"\(order_id\) occurs more than once"):
        evaluate_revenue(folder)


def test_a_folder_is_named_from_where_one_is(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert evaluate_revenue("orders") == [13.0]
    with pytest.raises(InputError, match="1 row: pieces are negative"):
        evaluate_revenue("orders", ORDERS.set_column(3, "pieces", pa.array([-1, 2, 1])))


@pytest.mark.slow
def test_calls_that_differ_in_one_thing_are_distinguished():
    def evaluate_metric(metric="RR", **options):
        return sqlrank.evaluate(metric, **{"run": RUN, "qrels": QRELS, **options}).to_pylist()

    for _ in range(2):
        assert evaluate_metric() == [{"RR": 0.5}]
        assert evaluate_metric(ties="doc_asc") == [{"RR": 0.25}]
        assert evaluate_metric(per_query=True) == [
            {"query_id": 1, "RR": 1.0},
            {"query_id": 2, "RR": 0.0},
        ]
        assert evaluate_metric(where="run.query_id = 1 AND qrels.query_id = 1") == [{"RR": 1.0}]
        assert evaluate_metric("RR@1") == [{"RR@1": 0.5}]
        assert evaluate_metric("RR(ties=doc_asc)@1") == [{"RR(ties=doc_asc)@1": 0.0}]


def test_what_can_be_nan_follows_from_the_types_of_this_call():
    whole = RUN.set_column(2, "score", pa.array([2, 2, 3]))
    assert sqlrank.evaluate("RR", run=whole, qrels=QRELS)["RR"].to_pylist() == [0.5]
    with pytest.raises(InputError, match="1 row: score is NaN"):
        sqlrank.evaluate(
            "RR", run=RUN.set_column(2, "score", pa.array([0.5, float("nan"), 0.9])), qrels=QRELS
        )


def test_what_a_call_names_on_a_connection_is_its_own(monkeypatch):
    """One after another they have the same names, so that their statements are the same; one within
    another has not.
    """
    connection = duckdb.connect()
    there = []
    find = DuckDBDatabase.resolve

    def seen(self, role, source):
        table = find(self, role, source)
        there.append(table.from_item.name)
        return table

    monkeypatch.setattr(DuckDBDatabase, "resolve", seen)
    for _ in range(2):
        assert sqlrank.evaluate("RR", run=RUN, qrels=QRELS, connection=connection).to_pylist() == [
            {"RR": 0.5}
        ]
    assert len(there) == 4
    assert there[:2] == there[2:]
    with closing(DuckDBDatabase(connection)) as outer:
        outer.resolve("run", RUN.slice(2))
        assert sqlrank.evaluate("RR", run=RUN, qrels=QRELS, connection=connection).to_pylist() == [
            {"RR": 0.5}
        ]
        assert there[4] not in there[5:]
    outer.close()
    assert connection.execute(
        "SELECT COUNT(*) FROM duckdb_views() WHERE NOT internal"
    ).fetchall() == [(0,)]


def test_columns_of_other_types_are_other_statements():
    """A query that sums integers is divided with a cast on PostgreSQL; trees alone do not tell what
    their columns are.
    """
    found = []
    for kind in ("DOUBLE", "INTEGER", "DOUBLE"):
        connection = duckdb.connect()
        connection.execute("CREATE TABLE r (query_id INT, doc_id INT, score DOUBLE)")
        connection.execute(f"CREATE TABLE q (query_id INT, doc_id INT, relevance {kind})")
        with closing(DuckDBDatabase(connection)) as database:
            call = Request("CG", {"run": "r", "qrels": "q"})
            found.append(prepare_statement(resolve_request(call), database).statement)
    assert found[0] is found[2]
    assert found[0] is not found[1]


def test_the_same_tables_in_two_databases():
    """Of one the numbers are whole, of the other not, and one is asked in the SQL of another
    engine.
    """
    for kind, values in (("INTEGER", (1, 2)), ("REAL", (0.5, 1.5)), ("INTEGER", (1, 2))):
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE TABLE p (label {kind}, score {kind})")
        connection.executemany("INSERT INTO p VALUES (?, ?)", [(1, values[0]), (1, values[1])])
        expected = ((1 - values[0]) ** 2 + (1 - values[1]) ** 2) / 2
        assert sqlrank.evaluate("MSE", predictions="p", connection=connection)[
            "MSE"
        ].to_pylist() == [expected]
        assert (
            sqlrank.sql("MSE", predictions="p")
            == sqlrank.sql("MSE", predictions="p", dialect="duckdb")
            != sqlrank.sql("MSE", predictions="p", dialect="snowflake")
        )


def evaluate_area(predictions: Any, **options: Any) -> list[float]:
    return sqlrank.evaluate("AUC", predictions=predictions, **options)["AUC"].to_pylist()


def test_other_rows_of_one_shape_have_answers_of_their_own(tmp_path):
    """In memory, in a file that looks unchanged, and in a table that is replaced and dropped."""
    file, connection = tmp_path / "predictions.parquet", duckdb.connect()
    for area, table in [*AREAS.items()] * 2:
        pq.write_table(table, file)
        os.utime(file, (0, 0))
        connection.register("given", table)
        connection.execute("CREATE OR REPLACE TABLE predictions AS FROM given")
        assert evaluate_area(table) == [area]
        assert evaluate_area(file) == [area]
        assert evaluate_area("predictions", connection=connection) == [area]
    connection.execute("DROP TABLE predictions")
    with pytest.raises(InputError, match="there is no table and no file named 'predictions'"):
        evaluate_area("predictions", connection=connection)


@pytest.mark.slow
def test_threads_and_forked_processes_have_answers_of_their_own():
    areas = [*AREAS] * 100
    with ThreadPoolExecutor(100) as pool:
        assert [*pool.map(lambda area: evaluate_area(AREAS[area]), areas)] == [
            [area] for area in areas
        ]
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)
