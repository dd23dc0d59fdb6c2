"""Functions of a database with the name of a built-in one change no number, and settings of users
are restored.
"""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import duckdb
import pytest

import sqlrank
from sqlrank import InputError
from tests.tables import build_table

CLICKS = build_table(label="0 1 1 0", score="0.1 0.9 0.4 0.5")
METRICS = ["LogLoss", "AUC", "ECE"]
EXPECTED = sqlrank.evaluate(METRICS, predictions=CLICKS).to_pylist()
MACROS = (
    "CREATE MACRO ln(x) AS 1000; CREATE MACRO sum(x) AS 42; CREATE MACRO nullif(x, y) AS 3; CREATE"
    " MACRO row_number() AS 3"
)


@pytest.fixture
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.register("clicks_in_memory", CLICKS)
        connection.execute(
            "CREATE TABLE clicks AS FROM clicks_in_memory; CREATE SCHEMA evil; CREATE MACRO"
            " evil.exp(x) AS 7; " + MACROS
        )
        yield connection


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", ["", "evil,main", "memory.evil,main", '"evil"'])
def test_macros_on_the_search_path_of_duckdb(duck, path):
    if path:
        duck.execute(f"SET search_path = '{path}'")
    before = duck.execute("SELECT CURRENT_SETTING('search_path'), CURRENT_SCHEMA()").fetchall()
    assert (
        sqlrank.evaluate(METRICS, predictions="main.clicks", connection=duck).to_pylist()
        == EXPECTED
    )
    assert (
        sqlrank.evaluate(
            METRICS, predictions=duck.table("memory.main.clicks"), connection=duck
        ).to_pylist()
        == EXPECTED
    )
    with pytest.raises(InputError, match=r"^columns maps to 'nothing'"):
        sqlrank.evaluate(
            METRICS, predictions="main.clicks", connection=duck, columns={"label": "nothing"}
        )
    assert (
        duck.execute("SELECT CURRENT_SETTING('search_path'), CURRENT_SCHEMA()").fetchall() == before
    )


def test_macros_of_a_duckdb_file(tmp_path):
    path = tmp_path / "odd name.with dots.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("clicks_in_memory", CLICKS)
        connection.execute("CREATE TABLE clicks AS FROM clicks_in_memory; " + MACROS)
    assert sqlrank.evaluate(METRICS, predictions="clicks", connection=path).to_pylist() == EXPECTED


def test_macros_within_a_transaction_of_duckdb_are_refused_by_name(duck):
    duck.begin()
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("LogLoss", predictions="clicks", connection=duck)
    assert str(caught.value).startswith(
        "this statement calls SUM, and memory.main.sum of this database would be called instead"
        " of the"
    )
    assert str(caught.value).endswith(
        ". Drop or rename it, or use a connection that does not see it"
    )
    duck.rollback()
    assert duck.execute("SELECT ln(1)").fetchall() == [(1000,)]
    with duckdb.connect() as other:
        other.execute("CREATE MACRO twice(x) AS 2 * x; CREATE MACRO date(x) AS 3")
        other.register("clicks", CLICKS)
        other.begin()
        assert (
            sqlrank.evaluate(METRICS, predictions="clicks", connection=other).to_pylist()
            == EXPECTED
        )


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        (
            "ln",
            lambda _: 1000,
            (
                r"^the function ln of this connection gives ln\(1e-300\) = 1000, not -690\.\d+."
                r" Drop or rename it"
            ),
        ),
        (
            "ln",
            lambda x: math.log(max(x, 1e-15)),
            (
                r"^the function ln of this connection gives ln\(1e-300\) = -34\.\d+, not -690\.\d+."
                r" Drop"
            ),
        ),
        (
            "floor",
            math.floor,
            (
                r"^the function floor of this connection gives floor\(-1\.5\) = -2, not -2\.0. Drop"
                r" or rename it"
            ),
        ),
        (
            "power",
            lambda x, y: x * y,
            (
                r"^the function power of this connection gives power\(3, 11\) = 33, not 177147\.0."
                r" Drop or rename it"
            ),
        ),
        (
            "abs",
            lambda _: 1,
            (
                "^this statement calls ABS, and the function abs of this database would be called"
                " instead of the engine's"
            ),
        ),
        ("Coalesce", lambda *_: 1, None),
        ("ln", math.log, None),
        ("nobody_calls", lambda _: 1, None),
    ],
)
def test_functions_of_an_sqlite_connection(name, function, message):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE clicks (label INTEGER, score REAL)")
        connection.executemany(
            "INSERT INTO clicks VALUES (?, ?)", [tuple(row.values()) for row in CLICKS.to_pylist()]
        )
        connection.create_function(name, 2 if name == "power" else 1, function)
        if message is None:
            assert sqlrank.evaluate("LogLoss", predictions="clicks", connection=connection)[
                "LogLoss"
            ][0].as_py() == pytest.approx(EXPECTED[0]["LogLoss"], rel=1e-12)
        else:
            with pytest.raises(InputError, match=message):
                sqlrank.evaluate(["LogLoss", "ECE"], predictions="clicks", connection=connection)
