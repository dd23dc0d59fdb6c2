"""Sources that belong to a database, ibis expressions and Spark DataFrames, are evaluated there: no
row of them is moved.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb
import narwhals
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.engines.duckdb_database import DuckDBDatabase
from tests.engines.engines import PostgreSQL, Spark
from tests.interface.calls import assert_refused

RUN = "SELECT 'q' || (i / 4) AS query_id, 'd' || i AS doc_id, i * 7 % 5 AS score FROM numbers"
QRELS = "SELECT 'q' || (i / 4) AS query_id, 'd' || i AS doc_id, i % 3 AS relevance FROM numbers"
NUM_ROWS = 400
METRICS = ["nDCG@3", "AP", "num_ret"]


def create_tables(execute: Any) -> None:
    execute("CREATE TABLE numbers (i INTEGER)")
    execute(f"INSERT INTO numbers VALUES {', '.join(f'({i})' for i in range(NUM_ROWS))}")
    for name, query in (("run", RUN), ("qrels", QRELS)):
        execute(f"CREATE TABLE {name} AS {query}")


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    with closing(duckdb.connect()) as con:
        create_tables(lambda text: con.execute(text.replace("i / 4", "i // 4")))
        return [
            pytest.approx(row)
            for row in sqlrank.evaluate(
                METRICS, run="run", qrels="qrels", connection=con
            ).to_pylist()
        ]


def make_expressions(backend: Any) -> dict[str, Any]:
    """Return a filtered and a computed expression, which have all rows."""
    run, qrels = backend.table("run"), backend.table("qrels")
    return {"run": run.filter(run.score >= 0).mutate(score=run.score * 2), "qrels": qrels}


class Rows:
    """Counts the rows that a driver gives to Python."""

    def __init__(self) -> None:
        self.count = 0

    def factory(self, _: Any, row: Any) -> Any:
        self.count += 1
        return tuple(row)


@pytest.mark.slow
def test_ibis_on_sqlite_moves_no_rows(expected):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    backend = ibis.sqlite.connect(":memory:")
    create_tables(backend.con.execute)
    rows = Rows()
    sources = make_expressions(backend)
    backend.con.row_factory = rows.factory
    for connection in ({}, {"connection": backend}, {"connection": backend.con}):
        result = sqlrank.evaluate(METRICS, **sources, **connection)
        assert result.to_pylist() == expected
    assert 0 < rows.count < NUM_ROWS / 4
    assert sqlrank.sql("AP", **sources).startswith(
        "-- sqlrank 0.1.0 for SQLite: AP, one row\n-- reads: SELECT "
    )
    assert (
        sqlrank.evaluate(METRICS, run="run", qrels="qrels", connection=backend).to_pylist()
        == expected
    )
    systems = sqlrank.evaluate(
        METRICS, run={"a": sources["run"], "b": sources["run"]}, qrels=sources["qrels"], by="system"
    )
    assert systems.select(METRICS).to_pylist() == expected * 2
    assert_refused(
        "qrels: a dict is not on sqlite, and nothing is uploaded",
        run=sources["run"],
        qrels={"q1": {"d1": 1}},
    )
    with closing(sqlite3.connect(":memory:")) as other:
        assert_refused(
            "run: this ibis expression is on another connection", **sources, connection=other
        )
    assert_refused(
        "run: this ibis expression has no query: ",
        run=ibis.table({"query_id": "string"}, name="x"),
        qrels=sources["qrels"],
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # ibis calls it
def test_ibis_on_duckdb_moves_no_rows(expected, monkeypatch):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    backend = ibis.duckdb.connect()
    create_tables(lambda text: backend.con.execute(text.replace("i / 4", "i // 4")))
    qrels = backend.table("qrels").to_pyarrow()
    registered = []
    # That it is not called is what is tested
    register = DuckDBDatabase._register_table  # noqa: SLF001
    monkeypatch.setattr(
        DuckDBDatabase,
        "_register_table",
        lambda self, role, table: (registered.append(role), register(self, role, table))[1],
    )
    sources = make_expressions(backend)
    assert sqlrank.evaluate(METRICS, **sources).to_pylist() == expected
    assert registered == []
    assert sqlrank.evaluate(METRICS, run=sources["run"], qrels=qrels).to_pylist() == expected
    assert (
        sqlrank.evaluate(
            METRICS, run=ibis.memtable(sources["run"].to_pyarrow()), qrels=qrels
        ).to_pylist()
        == expected
    )
    assert registered == ["qrels", "run", "qrels"]


@pytest.mark.slow
def test_ibis_on_polars_is_read_here(expected):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    with closing(duckdb.connect()) as con:
        create_tables(lambda text: con.execute(text.replace("i / 4", "i // 4")))
        backend = ibis.polars.connect({name: con.table(name).pl() for name in ("run", "qrels")})
        assert sqlrank.evaluate(METRICS, **make_expressions(backend)).to_pylist() == expected
        assert (
            sqlrank.evaluate(
                METRICS, run=backend.table("run"), qrels="qrels", connection=con
            ).to_pylist()
            == expected
        )
    assert_refused(
        "the ibis backend polars has no connection that takes SQL. Give its tables as sources",
        run="run",
        connection=backend,
    )


def test_an_error_of_a_driver_names_the_input(monkeypatch):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    backend = ibis.sqlite.connect(":memory:")
    create_tables(backend.con.execute)

    def fail(_):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(ibis, "to_sql", fail)
    assert_refused(
        "run: this ibis expression has no query: database is locked", **make_expressions(backend)
    )


@pytest.mark.slow
def test_ibis_on_postgresql_moves_no_rows(expected):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is of the extra engines")
    with closing(PostgreSQL()) as server:
        create_tables(server.connection.execute)
        backend = ibis.connect(server.uri)
        try:
            sources = make_expressions(backend)
            rows = Rows()
            backend.con.row_factory = lambda cursor: lambda row: rows.factory(cursor, row)
            assert sqlrank.evaluate(METRICS, **sources).to_pylist() == expected
            assert 0 < rows.count < NUM_ROWS / 4
        finally:
            backend.disconnect()


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with closing(Spark()) as engine:
        yield engine.connection


@pytest.mark.slow
def test_spark_frames_move_no_rows(spark, expected, monkeypatch):
    spark.range(NUM_ROWS).withColumnRenamed("id", "i").createOrReplaceTempView("numbers")
    frames = {
        name: spark.sql(text.replace("i / 4", "i div 4"))
        for name, text in (("run", RUN), ("qrels", QRELS))
    }
    moved = []
    to_arrow = type(frames["run"]).toArrow

    def counting(frame):
        table = to_arrow(frame)
        moved.append(table.num_rows)
        return table

    monkeypatch.setattr(type(frames["run"]), "toArrow", counting)
    views = spark.sql("SHOW VIEWS").collect()
    for connection in ({}, {"connection": spark}):
        assert sqlrank.evaluate(METRICS, **frames, **connection).to_pylist() == expected
    assert (
        sqlrank.evaluate(
            METRICS, run=narwhals.from_native(frames["run"]), qrels=frames["qrels"]
        ).to_pylist()
        == expected
    )
    assert 0 < sum(moved) < NUM_ROWS
    assert spark.sql("SHOW VIEWS").collect() == views


@pytest.mark.slow
def test_spark_frames_have_no_name_of_their_own(spark):
    """The name of a temporary view is another one in each call."""
    frame = spark.createDataFrame(
        [("q1", "a", 0.5)], "query_id string, doc_id string, score double"
    )
    qrels = frame.withColumnRenamed("score", "relevance")
    assert_refused(
        "run: a Spark DataFrame of several has no name. Give run={'name': table, 'other': other_table}",
        run=[frame, frame],
        qrels=qrels,
    )
    assert_refused("run (Spark DataFrame): no column 'score'", run=frame.drop("score"), qrels=qrels)
    with pytest.raises(
        InputError,
        match=(
            r"run: a Spark DataFrame has no name .* such as frame.createOrReplaceTempView\('run'\),"
            r" and give its name"
        ),
    ):
        sqlrank.sql("RR", run=frame, qrels=qrels)
    assert_refused("run: RDD has no columns. Give toDF() of it", run=frame.rdd, qrels=qrels)
    assert_refused(
        "run: cannot read a Row. Make a dict of each row with asDict(), or give",
        run=frame.collect(),
        qrels={"q1": {"a": 1}},
    )


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pyspark.pandas.utils.PandasAPIOnSparkAdviceWarning"
)
def test_pandas_frames_of_spark_are_evaluated_there(spark):
    frame = spark.createDataFrame(
        [("q1", "a", 1.0)], "query_id string, doc_id string, score double"
    )
    run, qrels = frame.pandas_api(), frame.withColumnRenamed("score", "relevance")
    assert sqlrank.evaluate("RR", run=run, qrels=qrels).to_pylist() == [{"RR": 1.0}]
    assert sqlrank.evaluate("RR", run=run.set_index("query_id"), qrels=qrels).to_pylist() == [
        {"RR": 1.0}
    ]


def test_lazy_frames_of_narwhals(expected):
    with closing(duckdb.connect()) as con:
        create_tables(lambda text: con.execute(text.replace("i / 4", "i // 4")))
        run = narwhals.from_native(con.table("run"))
        assert (
            sqlrank.evaluate(METRICS, run=run, qrels="qrels", connection=con).to_pylist()
            == expected
        )
        frame = narwhals.from_native(con.table("run").pl(lazy=True))
        assert (
            sqlrank.evaluate(METRICS, run=frame, qrels=con.table("qrels")).to_pylist() == expected
        )


def test_backends_are_recognized_without_an_import():
    class Table:
        __module__ = "ibis.expr.types.relations"

    with pytest.raises(InputError, match="run: cannot read"):
        sqlrank.evaluate(METRICS, run=Table(), qrels={"q": {"d": 1}})
