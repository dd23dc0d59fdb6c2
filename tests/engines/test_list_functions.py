"""Functions of lists have the numbers of DuckDB on every engine for which they are written."""

import re
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import SqlrankError
from sqlrank.routines import FUNCTION_DIALECTS
from sqlrank.routines.function_statements import Routine
from tests.engines.engines import ClickHouse, Engine, PostgreSQL, Spark, ZetaSQL
from tests.engines.running import parametrize_engines, run_engine

LISTS = pa.list_(pa.string())
ROWS = [
    (1, ["d3", "d1", "d2"], ["d1", "d2"]),
    (2, ["d9", "d9", "d8", "d7"], ["d7", "d8", "d8", "d6"]),
    (3, ["d5"], ["d4"]),
    (4, [], ["d4"]),
    (5, ["it's", '"d"', "a,b", "[d]"], ['"d"', "a,b"]),
    (6, ["d1", "d2"], []),
]
TABLE = pa.table(
    {
        "query_id": [row[0] for row in ROWS],
        "retrieved": pa.array([row[1] for row in ROWS], LISTS),
        "relevant": pa.array([row[2] for row in ROWS], LISTS),
    }
)
CUTOFFS = (1, 3, 10)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"answers": TABLE}) as engine:
        yield engine


def write_query(function: Routine, dialect: str, k: int | str) -> str:
    """Return the values of a function by query; where no function can be made, of its
    expression.
    """
    name = function.signature.partition("(")[0]
    if dialect != "bigquery":
        return f"SELECT query_id, {name}(retrieved, relevant, {k}) FROM answers ORDER BY query_id"
    match = re.search(r" AS \((.*)\) OPTIONS \(", function.create[0], re.DOTALL)
    assert match is not None
    return (
        f"SELECT query_id, {match[1]} FROM (SELECT query_id, retrieved, relevant, {k} AS k FROM"
        " answers) ORDER BY query_id"
    )


@pytest.mark.parametrize(
    "engine", parametrize_engines([PostgreSQL, ClickHouse, ZetaSQL, Spark]), indirect=True
)
def test_numbers_are_those_of_duckdb(engine):
    dialect = engine.dialects[0]
    script, own = sqlrank.functions(dialect=dialect), sqlrank.functions()
    own_functions = [function for function in own.functions if function.facts.kind == "list"]
    functions = [function for function in script.functions if function.facts.kind == "list"]
    assert [function.facts.name for function in functions] == [
        function.facts.name for function in own_functions
    ]
    with duckdb.connect() as connection:
        connection.execute(own.sql)
        connection.register("answers", TABLE)
        if dialect != "bigquery":  # the reference implementation keeps no functions
            schema = [] if dialect == "clickhouse" else ["CREATE SCHEMA IF NOT EXISTS sqlrank"]
            for statement in [
                *schema,
                *(statement for function in functions for statement in function.create),
            ]:
                engine.execute(statement)
        for function, own_function in zip(functions, own_functions, strict=True):
            for k in CUTOFFS:
                expected = connection.execute(write_query(own_function, "duckdb", k)).fetchall()
                found = engine.rows(write_query(function, dialect, k))
                assert [row[0] for row in found] == [row[0] for row in expected]
                assert [row[1] for row in found] == pytest.approx(
                    [row[1] for row in expected], rel=1e-9, abs=1e-12
                ), function.facts.name
            for k in ("0", "-3", "NULL", *(["2.5"] if dialect == "spark" else [])):
                with pytest.raises(
                    Exception,
                    match=rf"k is {k}(\.0)?\. It must be an integer from 1 to 2147483647",
                ):
                    engine.rows(write_query(function, dialect, k))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dialect", FUNCTION_DIALECTS[1:])
def test_other_databases_have_functions_of_the_metrics_that_are_named(dialect):
    script = sqlrank.functions(["RR", "LogLoss"], dialect=dialect)
    aggregates = ["aggregate"] if dialect in {"bigquery", "clickhouse"} else []
    assert [function.facts.kind for function in script.functions] == ["table", "table", *aggregates]
    checked = (
        "checks: FALSE to accept wrong rows."
        if dialect in {"postgres", "snowflake"}
        else "Wrong rows raise an error."
    )
    assert checked in script.functions[0].facts.comment
    unchecked = sqlrank.functions("RR", dialect=dialect, check="off")
    assert "Wrong rows are not looked for." in unchecked.functions[0].facts.comment
    assert unchecked.sql.splitlines()[1] == "-- settings: check=off"
    with pytest.raises(
        SqlrankError,
        match=(
            r"ROC has rows of its own, whose types no function declares. Print a statement: sqlrank"
            r" sql ROC"
        ),
    ):
        sqlrank.functions("ROC", dialect=dialect)
    with pytest.raises(
        SqlrankError,
        match=f"the functions are for {dialect}, and no script for it is run on a DuckDB file",
    ):
        script.run("metrics.duckdb")
