"""Evaluate over connections to other databases: the numbers, types, messages and metadata of DuckDB."""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank import ExecutionError, InputError, MetricError
from sqlrank.dialects import dialect_of
from sqlrank.remote import spoken_by
from tests.engines.engines import ClickHouse, DataFusion, PostgreSQL, Spark, SQLite
from tests.engines.running import each, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUN = pa.table(
    {
        "Query ID": [f"q{i // 6}" for i in range(48)],
        "doc_id": [f"d{i * 7 % 11}" for i in range(48)],
        "score": [(i * 13 % 5) / 2 for i in range(48)],
        "rank": [i % 6 + 1 for i in range(48)],
        "select": [f"s{i // 24}" for i in range(48)],
    }
)
QRELS = pa.table(
    {
        "Query ID": [f"q{i // 5}" for i in range(45)],
        "DOC_ID": [f"d{i * 5 % 11}" for i in range(45)],
        "relevance": [0 if i // 5 == 3 else i * 3 % 4 for i in range(45)],
    }
)
QUERIES = pa.table({"Query ID": [f"q{i}" for i in range(9)], "weight": [i / 4 for i in range(9)], "Größe": [i % 3 for i in range(9)]})
PREDICTIONS = pa.table(
    {
        "label": [i * 7 % 3 // 2 for i in range(90)],
        "score": [(1 + i * 11 % 17) / 20 for i in range(90)],
        "other": [(1 + i * 7 % 19) / 20 for i in range(90)],
        "weight": [(i % 5) / 2 for i in range(90)],
        "query_id": [i % 7 for i in range(90)],
        "group": [["a", "B", None][i % 3] for i in range(90)],
    }
)
TABLES = {'the "run"': RUN, "Qrels": QRELS, "queries": QUERIES, "predictions": PREDICTIONS}
RANKINGS = {"run": 'the "run"', "qrels": "Qrels", "columns": {"query_id": "Query ID"}}


class AdbcSQLite:
    """SQLite through ADBC."""

    dialects = ("sqlite",)

    def __init__(self) -> None:
        from adbc_driver_sqlite import dbapi

        self.connection = dbapi.connect()

    def load(self, name: str, table: pa.Table) -> None:
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")

    def close(self) -> None:
        self.connection.close()


class AdbcPostgreSQL(PostgreSQL):
    """PostgreSQL through ADBC, in a transaction."""

    def __init__(self) -> None:
        from adbc_driver_postgresql import dbapi

        super().__init__()
        self.psycopg, self.connection = self.connection, dbapi.connect(self.uri)

    def load(self, name: str, table: pa.Table) -> None:
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()
        self.connection = self.psycopg
        super().close()


ENGINES = (SQLite, AdbcSQLite, PostgreSQL, AdbcPostgreSQL, ClickHouse, DataFusion, Spark)


@pytest.fixture(scope="module", params=each(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    with running(request.param, TABLES) as engine:
        yield engine


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect()) as connection:
        for name, table in TABLES.items():
            connection.from_arrow(table).create(quoted(name, "duckdb"))
        yield connection


def quoted(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect_of(dialect).writer)


def evaluate(connection: Any, dialect: str, metrics: Any, **call: Any) -> pa.Table:
    """Evaluate with the names of tables in the quotes of a dialect."""
    names = {role: quoted(call[role], dialect) for role in ("run", "qrels", "queries", "predictions") if call.get(role) in TABLES}
    return sqlrank.evaluate(metrics, **(call | names), connection=connection)


def assert_same(engine: Any, duck: duckdb.DuckDBPyConnection, metrics: Any, **call: Any) -> None:
    expected, got = evaluate(duck, "duckdb", metrics, **call), evaluate(engine.connection, engine.dialects[0], metrics, **call)
    assert got.schema.remove_metadata() == expected.schema.remove_metadata()
    assert got.schema.metadata.keys() == expected.schema.metadata.keys()
    assert got.schema.metadata[b"sqlrank.sql"].startswith(b"-- sqlrank")
    assert got.num_rows == expected.num_rows > 0
    for row, values in zip(got.to_pylist(), expected.to_pylist(), strict=True):
        for name, value in values.items():
            assert row[name] == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), name


def of_rankings(metrics: Any, **call: Any) -> tuple[Any, dict[str, Any]]:
    return metrics, RANKINGS | call


@pytest.mark.parametrize(
    ("metrics", "call"),
    [
        of_rankings(["nDCG@3", "AP", "RR", "ERR", "RBP", "bpref", "num_unjudged", "num_q"], by="select"),
        of_rankings(["nDCG@3", "P@5"], per_query=True),
        of_rankings(["P@1..3", "nDCG@1..3"]),
        of_rankings(["AP", "R@3"], queries="queries", by="Größe"),
        of_rankings(["AP"], queries="intersect", ties="rank", check="full"),
        of_rankings(["AP"], check="off"),
        (["AUC", "LogLoss", "KS", "ECE", "PRAUC"], {"predictions": "predictions", "by": "group"}),
        (["AUC", "Accuracy"], {"predictions": "predictions", "columns": {"score": ["score", "other"], "weight": "1 / score"}}),
        (["GAUC", "PnDCG@7"], {"predictions": "predictions", "check": "off", "strategy": "window"}),
        (["APS"], {"predictions": "predictions", "by": ["group"], "per_query": True}),
        ("ROC", {"predictions": "predictions"}),
        ("Calibration", {"predictions": "predictions", "by": "group"}),
    ],
    ids=str,
)
def test_the_numbers_of_duckdb(engine: Any, duck: duckdb.DuckDBPyConnection, metrics: Any, call: dict[str, Any]) -> None:
    assert_same(engine, duck, metrics, **call)


def broken(table: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    """Return a table with another value in one place."""
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values, table.schema.field(name).type))


BROKEN = {
    "broken_null": broken(RUN, "Query ID", 3, None),
    "broken_nan": broken(RUN, "score", 3, math.nan),
    "broken_twice": pa.concat_tables([RUN, RUN.slice(0, 1)]),
    "broken_relevance": broken(
        broken(QRELS.cast(QRELS.schema.set(2, pa.field("relevance", pa.float64()))), "relevance", 3, math.inf), "relevance", 4, None
    ),
    "broken_weight": broken(QUERIES, "weight", 3, -1.0),
    "broken_label": broken(PREDICTIONS, "label", 3, 2),
    "broken_probability": broken(PREDICTIONS, "score", 3, 1.5),
    "broken_empty": RUN.slice(0, 0),
    "elsewhere": RUN.set_column(0, "Query ID", pa.array(["x"] * 48)),
    "texts": PREDICTIONS.set_column(0, "label", pa.array(["yes"] * 90)),
}
REFUSED = [
    of_rankings("AP", run="broken_null"),
    of_rankings("AP", run="broken_nan"),
    of_rankings("AP", run="broken_twice"),
    of_rankings("AP", run="broken_twice", by="select"),
    of_rankings("AP", qrels="broken_relevance"),
    of_rankings("AP", queries="broken_weight"),
    of_rankings("AP", run="broken_empty"),
    of_rankings("AP", run="elsewhere"),
    of_rankings("AP", ties="error"),
    of_rankings("AP", queries="strict"),
    of_rankings("AP", columns={"query_id": "Query ID", "score": "skore"}),
    of_rankings("AP", columns={}),
    of_rankings("AP", by=["selekt"]),
    of_rankings("AP", by=["relevance"]),
    of_rankings("ERR(max_grade=1)"),
    ("AUC", {"predictions": "broken_label"}),
    ("LogLoss", {"predictions": "broken_probability"}),
    ("AUC", {"predictions": "texts"}),
    ("AUC", {"predictions": "predictions", "columns": {"weight": "2 / propensity"}}),
    ("AUC", {"predictions": "predictions", "by": "label"}),
]


@pytest.fixture(scope="module")
def broken_engine(engine: Any, duck: duckdb.DuckDBPyConnection) -> Any:
    for name, table in BROKEN.items():
        engine.load(name, table)
        duck.from_arrow(table).create(name)
    yield engine
    for name in BROKEN:
        duck.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize(("metrics", "call"), REFUSED, ids=str)
def test_the_messages_of_duckdb(broken_engine: Any, duck: duckdb.DuckDBPyConnection, metrics: Any, call: dict[str, Any]) -> None:
    expected, got = (
        refusal(connection, dialect, metrics, **call)
        for connection, dialect in ((duck, "duckdb"), (broken_engine.connection, broken_engine.dialects[0]))
    )
    if isinstance(broken_engine, (SQLite, AdbcSQLite)) and call.get("run") == "broken_nan":
        expected = "run (broken_nan): 1 row: score is NULL; give it a value, or leave the row out"  # SQLite has no NaN
    assert got == expected


def refusal(connection: Any, dialect: str, metrics: Any, **call: Any) -> str:
    """Return an error's message without its examples, which may be any rows, and the text that shows more."""
    with pytest.raises(sqlrank.SqlrankError) as raised:
        evaluate(connection, dialect, metrics, **call)
    text = re.sub(r"(;|\n   ) see more: .*|: [^:]*(?=; see more)|\n {4}.*", "", str(raised.value))
    return (
        re.sub(r"such as \('.*?\)", "such as", text).replace(quoted('the "run"', dialect), "run").replace(quoted("Qrels", dialect), "Qrels")
    )


def lite(**tables: str) -> sqlite3.Connection:
    """Return a database of tables given as queries."""
    connection = sqlite3.connect(":memory:")
    for name, query in tables.items():
        connection.execute(f'CREATE TABLE "{name}" AS {query}')
    return connection


def small(connection: Any, **call: Any) -> pa.Table:
    return sqlrank.evaluate("AP", **({"run": "run", "qrels": "qrels", "connection": connection} | call))


ONE_RUN = "SELECT 'q' AS query_id, 'd' AS doc_id, 0.5 AS score"
ONE_QRELS = "SELECT 'q' AS query_id, 'd' AS doc_id, 1 AS relevance"


@pytest.fixture
def one() -> Iterator[sqlite3.Connection]:
    with closing(lite(run=ONE_RUN, qrels=ONE_QRELS)) as connection:
        yield connection


def test_sources_are_names_of_tables(one: sqlite3.Connection, tmp_path: Path) -> None:
    assert small(one).to_pylist() == [{"AP": 1.0}]
    with pytest.raises(InputError, match=r"^qrels: a Table is not on sqlite, and nothing is uploaded; give the name of a table there$"):
        small(one, qrels=QRELS)
    (tmp_path / "run.parquet").touch()
    with pytest.raises(InputError, match=r"run\.parquet'.* is not the name of a table"):
        small(one, run=tmp_path / "run.parquet")
    with pytest.raises(InputError, match=r"^run: cannot read runs: sqlite: no such table: runs$"):
        small(one, run="runs")


def test_a_name_is_tried_as_written_and_then_in_quotes(engine: Any) -> None:
    """But for ADBC on PostgreSQL, which takes nothing after a failure in a transaction."""
    call = {"columns": {"query_id": "Query ID"}, "connection": engine.connection}
    expected = sqlrank.evaluate("AP", run=quoted('the "run"', engine.dialects[0]), qrels=quoted("Qrels", engine.dialects[0]), **call)
    if isinstance(engine, AdbcPostgreSQL):
        with pytest.raises(InputError, match=r'^qrels: cannot read Qrels: postgres: .*relation "qrels" does not exist'):
            sqlrank.evaluate("AP", run=quoted('the "run"', "postgres"), qrels="Qrels", **call)
        engine.connection.rollback()
    else:
        assert sqlrank.evaluate("AP", run=quoted('the "run"', engine.dialects[0]), qrels="Qrels", **call) == expected


def test_limits_are_refused(one: sqlite3.Connection) -> None:
    for limit in ({"timeout": 5}, {"threads": 2}, {"memory_limit": "1GB"}):
        with pytest.raises(InputError, match=rf"^{next(iter(limit))}=.* is not possible on sqlite: the statement runs there; set a limit"):
            small(one, **limit)


def test_progress_is_told_the_beginning_and_the_end(one: sqlite3.Connection) -> None:
    told: list[float] = []
    small(one, progress=told.append)
    assert told == [0.0, 100.0]


def test_rows_may_come_in_any_form(one: sqlite3.Connection) -> None:
    one.row_factory = sqlite3.Row
    assert small(one, per_query=True).to_pylist() == [{"query_id": "q", "AP": 1.0}]
    one.row_factory = lambda cursor, row: {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
    assert small(one, per_query=True).to_pylist() == [{"query_id": "q", "AP": 1.0}]


def test_what_the_connection_speaks(one: sqlite3.Connection) -> None:
    with pytest.raises(InputError, match=r"^cannot connect to a int; give a DuckDB connection or the path of a DuckDB file, a PEP 249"):
        small(5)
    with pytest.raises(InputError, match=r"^dialect='postgres' is not what DuckDB speaks; give connection= to a database that does$"):
        sqlrank.evaluate("AP", run=RUN, qrels=QRELS, dialect="postgres")
    with pytest.raises(MetricError, match=r"^unknown dialect 'sqllite'; did you mean 'sqlite'\?"):
        small(one, dialect="sqllite")
    wrapped = SimpleNamespace(cursor=one.cursor)
    with pytest.raises(InputError, match=r"^cannot tell which SQL a types.SimpleNamespace speaks; name it with dialect=, one of: duckdb"):
        small(wrapped)
    one.create_function("floor", 1, math.floor)
    assert small(wrapped, dialect="sqlite").to_pylist() == [{"AP": 1.0}]


@pytest.mark.parametrize(
    ("module", "dialect"),
    [
        ("psycopg", "postgres"),
        ("psycopg2.extensions", "postgres"),
        ("redshift_connector.core", "redshift"),
        ("snowflake.connector.connection", "snowflake"),
        ("google.cloud.bigquery.dbapi.connection", "bigquery"),
        ("databricks.sql.client", "databricks"),
        ("trino.dbapi", "trino"),
        ("clickhouse_connect.dbapi.connection", "clickhouse"),
    ],
)
def test_a_driver_is_known_by_its_package(module: str, dialect: str) -> None:
    """Also where the caller's class is derived from the driver's."""
    driver = type("Connection", (), {"__module__": module, "cursor": None})
    assert spoken_by(type("Mine", (driver,), {})(), None) == dialect


def test_there_is_no_float32_everywhere(one: sqlite3.Connection) -> None:
    with pytest.raises(MetricError, match=r"^score_type='float32' is not possible on sqlite, which has doubles only; give score_type='flo"):
        small(one, score_type="float32")
    assert small(one, compat="trec9", score_type="float64").to_pylist() == [{"AP": 1.0}]


def test_scores_in_single_precision(engine: Any, duck: duckdb.DuckDBPyConnection) -> None:
    """Which ties 0.5 + 1e-9 with 0.5, and makes 1e40 infinite."""
    scores = pa.table({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [0.5 + 1e-9, 0.5, 1e40]})
    for name, table in {"close": scores, "truth": pa.table({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})}.items():
        engine.load(name, table)
        duck.from_arrow(table).create(name)
    for connection, has_float32 in ((duck, True), (engine.connection, dialect_of(engine.dialects[0]).has_float32)):
        for score_type, place in {"float64": 1 / 2, **({"float32": 1 / 3} if has_float32 else {})}.items():
            result = sqlrank.evaluate("RR", run="close", qrels="truth", connection=connection, score_type=score_type)
            assert result.to_pylist() == [{"RR": place}]
    duck.execute("DROP TABLE close; DROP TABLE truth")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with closing(PostgreSQL()) as started:
        started.connection.execute(f"CREATE TABLE run AS {ONE_RUN}")
        started.connection.execute(f"CREATE TABLE qrels AS {ONE_QRELS}")
        yield started


def test_a_failure_leaves_the_transaction_as_it_was(server: PostgreSQL) -> None:
    import psycopg

    with psycopg.connect(server.uri) as connection:
        connection.execute(f"CREATE TABLE mine AS {ONE_RUN}")
        with pytest.raises(InputError, match=r'^qrels: cannot read nowhere: postgres: relation "nowhere" does not exist$'):
            small(connection, run="mine", qrels="nowhere")
        assert small(connection, run="mine").to_pylist() == [{"AP": 1.0}]
        connection.rollback()
        with pytest.raises(InputError, match="cannot read mine"):
            small(connection, run="mine")


def test_an_error_of_the_engine_is_wrapped(server: PostgreSQL) -> None:
    server.connection.execute("SET statement_timeout = '1ms'")
    try:
        with pytest.raises((ExecutionError, InputError), match="postgres: canceling statement due to statement timeout"):
            small(server.connection)
    finally:
        server.connection.execute("RESET statement_timeout")


def test_types_of_postgresql(server: PostgreSQL) -> None:
    """Booleans count as 0 and 1, numerics are doubles though they can be NaN, UUIDs are texts where a text stands beside."""
    server.connection.execute(
        "CREATE TABLE clicks AS SELECT i % 3 = 0 AS label, (i / 10.0)::NUMERIC(9, 2) AS score, i::SMALLINT AS weight, "
        "DATE '2026-01-01' + i % 2 AS day, gen_random_uuid() AS id FROM generate_series(1, 9) AS t(i)"
    )
    result = sqlrank.evaluate(
        ["AUC", "Positives"], predictions="clicks", connection=server.connection, by="day", columns={"weight": "weight"}
    )
    assert result.schema.types == [pa.date32(), pa.float64(), pa.float64()]
    assert result["Positives"].to_pylist() == [6.0, 12.0]
    assert sqlrank.evaluate("AUC", predictions="clicks", connection=server.connection, by="id").num_rows == 9
    server.connection.execute("CREATE TABLE unsound AS SELECT 1 AS label, 'NaN'::NUMERIC AS score")
    with pytest.raises(InputError, match=r"predictions \(unsound\): 1 row: score is NaN"):
        sqlrank.evaluate("AUC", predictions="unsound", connection=server.connection)
    with pytest.raises(InputError, match=r"predictions \(clicks\): score is DATE, not a number"):
        sqlrank.evaluate("AUC", predictions="clicks", connection=server.connection, columns={"score": "day"})
    server.connection.execute("CREATE TABLE uuids AS SELECT gen_random_uuid() AS query_id, 'd' AS doc_id, 0.5 AS score")
    server.connection.execute("CREATE TABLE judged AS SELECT query_id::TEXT AS query_id, doc_id, 1 AS relevance FROM uuids")
    assert small(server.connection, run="uuids", qrels="judged").to_pylist() == [{"AP": 1.0}]


def test_texts_are_ordered_byte_by_byte_on_postgresql(server: PostgreSQL) -> None:
    """The server of the tests has no collation but C, under which all agree; that the statement asks for it is what can be seen."""
    server.connection.execute("CREATE TABLE tied AS SELECT 1 AS query_id, doc_id, 0.5 AS score FROM (VALUES ('a'), ('B')) AS t(doc_id)")
    server.connection.execute("CREATE TABLE first AS SELECT 1 AS query_id, 'a' AS doc_id, 1 AS relevance")
    result = sqlrank.evaluate("RR", run="tied", qrels="first", connection=server.connection)
    assert result.to_pylist() == [{"RR": 1.0}]
    assert b'"doc_id" COLLATE "C" AS doc_id' in result.schema.metadata[b"sqlrank.sql"]


@pytest.mark.parametrize(
    "call", [{"by": [["system"], []], "per_query": True}, {"columns": {"score": ["a", "b"]}, "by": [["system"], []]}], ids=str
)
@pytest.mark.parametrize("metric", ["AUC", "GAUC", "ROC"])
def test_snowflake_is_told_a_name_in_one_way(metric: str, call: dict[str, Any]) -> None:
    """With quotes or without, since these are two names there: "query_id" is not QUERY_ID."""
    if metric == "ROC" and "columns" not in call:
        call = {"by": call["by"]}
    text = sqlrank.sql(metric, dialect="snowflake", predictions="db.s.predictions", **call)
    identifiers = list(sqlglot.parse_one(text, read="snowflake").find_all(exp.Identifier))
    assert not {i.name.upper() for i in identifiers if not i.quoted} & {i.name.upper() for i in identifiers if i.quoted} - {"A", "B"}
