"""Sessions of the three kinds of databases: errors of drivers, inspection, and inputs that are
bound to their tables.
"""

import sqlite3
from contextlib import closing
from dataclasses import FrozenInstanceError

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlrank.call.request import Request
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import collect_sources
from sqlrank.cancellation import set_deadline
from sqlrank.engines.database import Database, NamesOnlyDatabase
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.remote_database import RemoteDatabase
from sqlrank.errors import ExecutionError, InputError
from sqlrank.inputs.column_binding import bind_inputs
from tests.tables import build_table

PREDICTIONS = build_table(label="0.0 1.0", old="0.1 0.2", new="0.3 0.1")


def find_failure(database: Database, query: str) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        database.fetch_rows(query)
    return caught.value


def test_errors_of_duckdb_are_execution_errors_with_their_cause():
    with closing(DuckDBDatabase(duckdb.connect())) as database:
        conversion = find_failure(database, "SELECT CAST('a' AS INT)")
        assert str(conversion).startswith("the statement failed in DuckDB: Conversion Error")
        assert isinstance(conversion.__cause__, duckdb.ConversionException)
        assert database.is_data_error(conversion)
        unknown_column = find_failure(database, "SELECT a")
        assert isinstance(unknown_column.__cause__, duckdb.BinderException)
        assert not database.is_data_error(unknown_column)
        with pytest.raises(ExecutionError, match=r"^the statement failed in DuckDB: Catalog Error"):
            database.describe(exp.select("*").from_("missing"))


def test_errors_of_other_drivers_are_execution_errors_with_their_cause():
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        closing(RemoteDatabase(connection, "sqlite")) as database,
    ):
        error = find_failure(database, "SELECT a")
        assert str(error) == "the statement failed in sqlite: no such column: a"
        assert isinstance(error.__cause__, sqlite3.OperationalError)
        assert database.is_data_error(error)
        assert database.fetch_rows("SELECT 1") == [(1,)]
        with set_deadline(1e-9):
            late = find_failure(database, "SELECT 1")
        assert str(late).startswith("cancelled after")
        assert not database.is_data_error(late)


def test_results_have_the_names_and_types_of_duckdb():
    types = {"day": None, "AUC": pa.float64()}
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        closing(RemoteDatabase(connection, "sqlite")) as remote,
    ):
        found = remote.fetch_result("SELECT 1 AS a, 2 AS b", types)
    with closing(DuckDBDatabase(duckdb.connect())) as local:
        expected = local.fetch_result(
            "SELECT CAST(1 AS BIGINT) AS a, CAST(2 AS DOUBLE) AS b", types
        )
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist() == [{"day": 1, "AUC": 2.0}]


def test_nothing_is_read_from_a_database_of_names():
    database = NamesOnlyDatabase("bigquery")
    assert not database.can_inspect
    assert database.resolve_source("run", "shop.run").column_types is None
    for method, query in (
        ("fetch_rows", "SELECT 1"),
        ("fetch_arrow", "SELECT 1"),
        ("fetch_groups", "SELECT 1"),
        ("describe", exp.select("1")),
    ):
        with pytest.raises(
            InputError, match=r"^these tables are names only. Give connection= to read them$"
        ):
            getattr(database, method)(query)


def test_each_score_has_a_view_of_the_inputs():
    request = resolve_request(
        Request("AUC", collect_sources(predictions=PREDICTIONS), columns={"score": ["old", "new"]})
    )
    with closing(DuckDBDatabase(duckdb.connect())) as database:
        inputs = bind_inputs(request, database)
    views = [view.by_role["predictions"].columns["score"] for view in inputs.per_score()]
    assert views == ["old", "new"]
    assert inputs.by_role["predictions"].columns["score"] == "new"
    with pytest.raises(FrozenInstanceError):
        inputs.by_role["predictions"].where = exp.true()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        inputs.scores = ()  # type: ignore[misc]
