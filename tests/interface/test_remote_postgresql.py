"""PostgreSQL over a connection: its transactions, errors, types and collations."""

import math
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import ExecutionError, InputError
from tests.engines.engines import PostgreSQL
from tests.interface.connections import ONE_QRELS, ONE_RUN, evaluate_small

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with closing(PostgreSQL()) as started:
        started.connection.execute(f"CREATE TABLE run AS {ONE_RUN}")
        started.connection.execute(f"CREATE TABLE qrels AS {ONE_QRELS}")
        yield started


def test_a_call_logs_no_error_on_the_server(server):
    import psycopg

    with server.log.open() as log, psycopg.connect(server.uri, autocommit=True) as connection:
        log.seek(0, 2)
        evaluate_small(connection)
        connection.execute("BEGIN")
        evaluate_small(connection)
        with pytest.raises(InputError, match="nowhere"):
            sqlrank.evaluate("RR", run="nowhere", qrels="qrels", connection=connection)
        evaluate_small(connection)  # the transaction is usable, since it has a savepoint
        connection.execute("COMMIT")
        errors = [line.partition("ERROR:  ")[2] for line in log if "ERROR: " in line]
    assert len(errors) > 0
    assert {error.partition(" at ")[0] for error in errors} == {'relation "nowhere" does not exist'}


def test_a_failure_leaves_the_transaction_as_it_was(server):
    import psycopg

    with psycopg.connect(server.uri) as connection:
        connection.execute(f"CREATE TABLE mine AS {ONE_RUN}")
        with pytest.raises(
            InputError, match=r'^qrels: cannot read nowhere: relation "nowhere" does not exist$'
        ):
            evaluate_small(connection, run="mine", qrels="nowhere")
        assert evaluate_small(connection, run="mine").to_pylist() == [{"AP": 1.0}]
        connection.rollback()
        with pytest.raises(InputError, match="cannot read mine"):
            evaluate_small(connection, run="mine")


def test_an_error_of_the_engine_is_wrapped(server):
    server.connection.execute("SET statement_timeout = '1ms'")
    try:
        with pytest.raises(
            (ExecutionError, InputError),
            match="postgres: canceling statement due to statement timeout",
        ):
            evaluate_small(server.connection)
    finally:
        server.connection.execute("RESET statement_timeout")


def test_types_of_postgresql(server):
    """Booleans count as 0 and 1, numerics are doubles though they can be NaN, UUIDs are texts where
    a text stands beside.
    """
    server.connection.execute(
        "CREATE TABLE clicks AS SELECT i % 3 = 0 AS label, (i / 10.0)::NUMERIC(9, 2) AS score,"
        " i::SMALLINT AS weight, DATE '2026-01-01' + i % 2 AS day, gen_random_uuid() AS id FROM"
        " generate_series(1, 9) AS t(i)"
    )
    result = sqlrank.evaluate(
        ["AUC", "Positives"],
        predictions="clicks",
        connection=server.connection,
        by="day",
        columns={"weight": "weight"},
    )
    assert result.schema.types == [pa.date32(), pa.float64(), pa.float64()]
    assert result["Positives"].to_pylist() == [6.0, 12.0]
    assert (
        sqlrank.evaluate(
            "AUC", predictions="clicks", connection=server.connection, by="id"
        ).num_rows
        == 9
    )
    server.connection.execute("CREATE TABLE unsound AS SELECT 1 AS label, 'NaN'::NUMERIC AS score")
    with pytest.raises(InputError, match=r"predictions \(unsound\): 1 row: score is NaN"):
        sqlrank.evaluate("AUC", predictions="unsound", connection=server.connection)
    with pytest.raises(InputError, match=r"predictions \(clicks\): score is DATE, not a number"):
        sqlrank.evaluate(
            "AUC", predictions="clicks", connection=server.connection, columns={"score": "day"}
        )
    server.connection.execute(
        "CREATE TABLE uuids AS SELECT gen_random_uuid() AS query_id, 'd' AS doc_id, 0.5 AS score"
    )
    server.connection.execute(
        "CREATE TABLE judged AS SELECT query_id::TEXT AS query_id, doc_id, 1 AS relevance FROM"
        " uuids"
    )
    assert evaluate_small(server.connection, run="uuids", qrels="judged").to_pylist() == [
        {"AP": 1.0}
    ]


def test_texts_are_ordered_byte_by_byte_on_postgresql(server):
    """The server of the tests has no collation but C, under which all agree; that the statement
    asks for it is what can be seen.
    """
    server.connection.execute(
        "CREATE TABLE tied AS SELECT 1 AS query_id, doc_id, 0.5 AS score FROM (VALUES ('a'), ('B'))"
        " AS t(doc_id)"
    )
    server.connection.execute(
        "CREATE TABLE first AS SELECT 1 AS query_id, 'a' AS doc_id, 1 AS relevance"
    )
    result = sqlrank.evaluate("RR", run="tied", qrels="first", connection=server.connection)
    assert result.to_pylist() == [{"RR": 1.0}]
    assert b'"doc_id" COLLATE "C" AS doc_id' in result.schema.metadata[b"sqlrank.sql"]


def test_functions_in_the_place_of_those_of_postgresql(server):
    import psycopg

    with psycopg.connect(server.uri) as connection:
        connection.execute("CREATE TEMP TABLE scored AS SELECT 1 AS label, 0.5::FLOAT8 AS score")
        function = "(FLOAT8) RETURNS FLOAT8 LANGUAGE SQL AS 'SELECT 1000::FLOAT8'"
        connection.execute(
            f"CREATE SCHEMA evil; CREATE FUNCTION evil.ln{function}; CREATE DOMAIN evil.grade AS"
            " INTEGER"
        )
        connection.execute(
            "CREATE FUNCTION public.abs(evil.grade) RETURNS INTEGER LANGUAGE SQL AS 'SELECT 1'"
        )

        def loss():
            return sqlrank.evaluate("LogLoss", predictions="scored", connection=connection)[
                "LogLoss"
            ][0].as_py()

        for path in ("public", "evil, public"):
            connection.execute(f"SET search_path = {path}")
            assert loss() == pytest.approx(math.log(2))
        connection.execute("SET search_path = evil, pg_catalog")
        message = (
            r"^this statement calls LN, and evil\.ln of this database would be called instead of"
            r" the engine's. Drop or rename it"
        )
        with pytest.raises(InputError, match=message):
            loss()
        connection.execute("SET search_path = public")
        connection.execute(
            f"CREATE FUNCTION public.sum{function.replace('FLOAT8)', 'DOUBLE PRECISION, INTEGER)')}"
        )
        with pytest.raises(InputError, match=r"calls SUM, and public\.sum"):
            loss()
        connection.rollback()


def test_lists_may_be_json(server):
    """Arrays of ids, objects of ids and grades, arrays of objects, NULL and the null of JSON, as
    jsonb and as json.
    """
    rows = [
        ("q1", '["d3", "d1"]', '["d1", "d2"]', "[0.5, 0.25]"),
        (
            "q2",
            '[{"doc_id": "d8", "score": 2.5}, {"doc_id": "d7", "score": 3}]',
            '{"d8": 2, "d9": "1"}',
            None,
        ),
        ("q3", '["d5"]', "null", "[1]"),
        ("q4", None, '[{"doc_id": "d4", "relevance": 3}]', "null"),
        ("q5", "[]", "[5]", None),
        (
            "q6",
            '[{"id": "d6", "score": 4, "meta": {}}, {"id": "d2", "score": 1}]',
            '[{"id": "d2"}]',
            None,
        ),
    ]
    lists = [
        (["d3", "d1"], [0.5, 0.25], ["d1", "d2"], None),
        (["d8", "d7"], [2.5, 3.0], ["d8", "d9"], [2.0, 1.0]),
        (["d5"], [1.0], None, None),
        (None, None, ["d4"], [3.0]),
        ([], None, ["5"], None),
        (["d6", "d2"], [4.0, 1.0], ["d2"], None),
    ]
    metrics = ["nDCG@3", "RR", "R@2", "num_ret", "num_rel", "num_no_rel"]
    columns = {
        name: [row[place] for row in lists]
        for place, name in enumerate(("retrieved", "scores", "relevant", "grades"))
    }
    table = pa.table({"query_id": [row[0] for row in rows], **columns})
    for json_type in ("JSONB", "JSON"):
        name = f"evals_{json_type.lower()}"
        server.connection.execute(
            f"CREATE TABLE {name} (query_id TEXT, retrieved {json_type}, relevant {json_type},"
            f" scores {json_type})"
        )
        with server.connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s, %s, %s)", rows)
        for options in ({}, {"per_query": True}):
            result = sqlrank.evaluate(
                metrics, inputs={"answers": name}, connection=server.connection, **options
            )
            expected = sqlrank.evaluate(metrics, inputs={"answers": table}, **options)
            assert result.to_pylist() == [pytest.approx(row) for row in expected.to_pylist()]
        plain = {"where": "query_id IN ('q1', 'q3')", "ties": "doc_desc"}
        result = sqlrank.evaluate(
            metrics, inputs={"answers": name}, connection=server.connection, **plain
        )
        assert result.to_pylist() == [
            pytest.approx(row)
            for row in sqlrank.evaluate(metrics, inputs={"answers": table}, **plain).to_pylist()
        ]
        server.connection.execute(
            f'UPDATE {name} SET retrieved = \'[{{"id": "d6"}}, {{"name": "d2"}}]\' WHERE query_id ='
            " 'q6'"
        )
        with pytest.raises(
            InputError, match=rf"^answers\.retrieved \({name}\): 1 row: doc_id is NULL"
        ):
            sqlrank.evaluate(metrics, inputs={"answers": name}, connection=server.connection)
