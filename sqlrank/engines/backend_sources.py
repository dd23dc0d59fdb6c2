"""Replace ibis, narwhals and Spark tables among the arguments of a call by queries or temporary
views, and find their connection.

They are recognized by the package of their class; none is imported here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from typing import Any
from uuid import uuid4

from sqlrank.errors import InputError, first_line
from sqlrank.request import QuerySource, SourceGroup, TemporaryView

BACKEND_PACKAGES = ("ibis", "narwhals", "pyspark")
"""Packages whose tables may belong to a database."""


MAX_SOURCE_MEMBERS = 1000
"""Number of members from which a list or dict is data, and no collection of sources."""


@contextmanager
def connect_sources(
    arguments: Mapping[str, Any], source_arguments: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments of a call with queries and temporary views for the sources that belong to
    a database, and its connection.

    Args:
        arguments: Arguments by name.
        source_arguments: Names of arguments that are sources.

    Raises:
        InputError: Sources belong to several databases, or to another one than that of
            ``connection``.
    """
    sources = {
        name: value
        for name, value in arguments.items()
        if name in source_arguments and _holds_table(name, value)
    }
    if not sources and not _is_of_backend(arguments.get("connection")):
        yield arguments
        return
    views = _Views(_native_connection(arguments.get("connection")))
    try:
        replaced = {name: views.replace(name, value) for name, value in sources.items()}
        yield {**arguments, **replaced, "connection": views.connection}
    finally:
        views.close()


def _list_members(value: Any) -> Iterable[Any]:
    """Return the members of a list or dict of sources."""
    if isinstance(value, SourceGroup):
        return [member for _, member in value.members]
    if not isinstance(value, (list, tuple, Mapping)) or len(value) > MAX_SOURCE_MEMBERS:
        return ()
    return value.values() if isinstance(value, Mapping) else value


def _holds_table(name: str, value: Any) -> bool:
    """Return True if an argument is a table of a database, or a collection of some; ``inputs`` may
    have one for each role.
    """
    if name == "inputs":
        return any(_holds_table("", member) for member in _list_members(value))
    return any(map(_is_of_backend, [value, *_list_members(value)]))


class _Views:
    """Queries and temporary views that replace sources, and the connection that they are on."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._names: list[str] = []

    def replace(self, name: str, value: Any) -> Any:
        """Return an argument with its sources replaced, also in lists and dicts of them."""
        if isinstance(value, SourceGroup):
            return SourceGroup(
                tuple((label, self.replace(name, member)) for label, member in value.members),
                value.members_are_systems,
            )
        if not _holds_table(name, value):
            return value
        if isinstance(value, Mapping):
            return {
                key: self.replace(key if name == "inputs" else name, member)
                for key, member in value.items()
            }
        if isinstance(value, (list, tuple)):
            return type(value)(self.replace(name, member) for member in value)
        package = _find_package(value)
        if package == "narwhals" and hasattr(value, "to_native"):
            return self.replace(name, value.to_native())
        if package == "ibis" and hasattr(value, "get_backend"):
            return self._ibis_query(name, value)
        if package == "pyspark" and hasattr(value, "createOrReplaceTempView"):
            return self._spark_view(name, value)
        if package == "pyspark" and hasattr(value, "to_spark"):  # a frame of pyspark.pandas
            index_names = [index_name for index_name in value.index.names if index_name is not None]
            return self._spark_view(name, value.to_spark(index_col=index_names or None))
        if package == "pyspark" and hasattr(value, "toDF"):
            raise InputError(
                f"{name}: {type(value).__name__} has no columns. Give toDF() of it, with their"
                " names"
            )
        return value

    def close(self) -> None:
        """Drop the temporary views."""
        for name in self._names:
            with suppress(
                Exception
            ):  # the session may have ended, and the error that ended it must not be hidden
                self.connection.catalog.dropTempView(name)

    def _ibis_query(self, role: str, table: Any) -> Any:
        """Return an ibis expression as a query; one over data in memory, which the backend of
        Polars holds, stays an Arrow stream.
        """
        ibis = import_module("ibis")  # its user has imported it
        if table.op().find(import_module("ibis.expr.operations").InMemoryTable):
            return table
        try:
            backend = table.get_backend()
            if backend.name == "polars":
                return table
            text = str(ibis.to_sql(table))
        except Exception as error:  # a backend asks its database, whose driver may raise anything
            raise InputError(
                f"{role}: this ibis expression has no query: {first_line(error)}"
            ) from error
        self._require_same_connection(role, "ibis expression", _native_connection(backend))
        return QuerySource(text)

    def _spark_view(self, role: str, frame: Any) -> TemporaryView:
        """Return the name of a temporary view of a Spark DataFrame."""
        self._require_same_connection(role, "Spark DataFrame", frame.sparkSession)
        self._names.append(f"sqlrank_{role}_{uuid4().hex[:8]}")
        frame.createOrReplaceTempView(self._names[-1])
        return TemporaryView(self._names[-1], "Spark DataFrame")

    def _require_same_connection(self, role: str, kind: str, connection: Any) -> None:
        if self.connection is not None and self.connection is not connection:
            raise InputError(
                f"{role}: this {kind} is on another connection than the other sources or"
                " connection=, and nothing is moved between databases. Give sources of one, or"
                " bring its rows here (to_pyarrow() of ibis, toArrow() of Spark)"
            )
        self.connection = connection


def _native_connection(connection: Any) -> Any:
    """Return the connection of an ibis backend; others unchanged."""
    if not type(connection).__module__.startswith("ibis.backends"):
        return connection
    native = getattr(connection, "con", None) or getattr(connection, "_session", None)
    if native is None and hasattr(connection, "client"):
        return _bigquery_connection(connection.client)
    if native is None:
        raise InputError(
            f"connection: the ibis backend {connection.name} has no connection that takes SQL. Give"
            " its tables as sources, without connection="
        )
    return native


@lru_cache(maxsize=4)
def _bigquery_connection(client: Any) -> Any:
    """Return the connection of a client of BigQuery, the same for all sources of a client."""
    return import_module("google.cloud.bigquery.dbapi").connect(client)


def _find_package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is_of_backend(value: Any) -> bool:
    return _find_package(value) in BACKEND_PACKAGES
