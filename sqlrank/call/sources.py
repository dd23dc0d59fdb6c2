"""Record requests as callers pass them, not validated, and recognize their sources: tables,
queries, streams, groups of systems.

Nothing is validated here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from sqlrank.errors import InputError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


_QUERY_START = re.compile(
    r"""(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|\()*(?:SELECT|WITH|FROM)(?=\s+\S|[(*'"`]|--|/\*)""",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of a query, after comments and parentheses."""


JSON_READER = "READ_JSON"
"""Reader function of JSON and JSON Lines."""

READER_FUNCTIONS = {
    ".parquet": "READ_PARQUET",
    ".csv": "READ_CSV",
    ".tsv": "READ_CSV",
    ".json": JSON_READER,
    ".jsonl": JSON_READER,
    ".ndjson": JSON_READER,
}
"""Reader functions by file suffix."""

TREC_SUFFIXES = (".run", ".txt", ".trec", ".qrels")
"""Usual suffixes of TREC text, which is read whatever its suffix is."""

COMPRESSION_SUFFIXES = (".gz", ".zst")
"""Suffixes of compressed text, behind those of its format."""

_SUFFIXES, _COMPRESSIONS = (
    "|".join(map(re.escape, suffixes))
    for suffixes in ((*READER_FUNCTIONS, *TREC_SUFFIXES), COMPRESSION_SUFFIXES)
)
_FILE_NAME = re.compile(rf"[*?]|/|({_SUFFIXES})({_COMPRESSIONS})?$", re.IGNORECASE)
"""A text that names files, also those that do not exist."""

_WEB_PAGE = re.compile(r"https?://", re.IGNORECASE)
"""The beginning of an address, which without the suffix of a table is the id of a page."""


class TemporaryView(str):
    """The name of a temporary view of this call, through which a source without a name is read,
    such as a Spark DataFrame.

    Attributes:
        kind: What the source is.
    """

    __slots__ = ("kind",)

    kind: str

    def __new__(cls, name: str, kind: str) -> Self:
        """Return the name of a view."""
        view = super().__new__(cls, name)
        view.kind = kind
        return view


@dataclass(frozen=True)
class QuerySource:
    """A SELECT whose rows are a source.

    Attributes:
        text: The query, in the SQL of the engine.
        option: Its form on the command line if that is not the text, such as ``@run.sql``.
        table: Temporary table that has its rows already, None if they are computed for the call.
    """

    text: str
    option: str | None = None
    table: str | None = None

    @classmethod
    def from_file(cls, file: str | Path) -> QuerySource:
        """Return the query in a file; raise ``OSError`` or ``UnicodeDecodeError`` if it cannot be
        read.
        """
        return cls(Path(file).read_text("utf-8"), f"@{file}")


def is_query_text(text: str) -> bool:
    """Return True if a text is a query, not the name of a table or an existing file.

    >>> is_query_text("(select * from t)"), is_query_text(
    ...     "-- new" + chr(10) + "FROM t"
    ... ), is_query_text("selected"), is_query_text("from.csv")
    (True, True, False, False)
    """
    # Returns False for texts that are no path
    return _QUERY_START.match(text) is not None and not os.path.exists(text)  # noqa: PTH110


RUN_ROLES = ("run", "answers")
"""Roles with retrieved documents. A list of their sources is one of systems, and of other roles one
of parts of a table.
"""


class DocumentLists(dict[Any, Any]):
    """Lists of documents by query, also of ids that look like files."""

    kind = "dict"


class Stream:
    """A source whose rows can be read once, such as a ``RecordBatchReader``.

    They are cached when first read.

    Attributes:
        kind: Class name of the source.
        schema: Columns with types if they are known before rows are read, else None.
    """

    def __init__(self, source: Any) -> None:
        import pyarrow as pa  # help does not need it, and Arrow sources have imported it

        self.kind = type(source).__name__
        self.schema = source.schema if isinstance(source, pa.RecordBatchReader) else None
        self._source = source

    @cached_property
    def table(self) -> pa.Table:
        """The rows, read on first access."""
        import pyarrow as pa

        return pa.table(self._source)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def wrap_source(source: Any) -> Any:
    """Wrap the text of a query, and a source with the Arrow stream protocol but without length;
    return others unchanged.
    """
    if isinstance(source, str):
        return QuerySource(source) if is_query_text(source) else source
    is_stream = hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__len__")
    return Stream(source) if is_stream and not isinstance(source, Stream) else source


def source_kind(source: Any) -> str:
    """Return the class name of a source."""
    if isinstance(source, QuerySource):
        return "query"
    return (
        source.kind
        if isinstance(source, (Stream, TemporaryView, DocumentLists))
        else type(source).__name__
    )


@dataclass(frozen=True)
class SourceGroup:
    """Several sources of one role, each with an optional name.

    They are parts of a table, or the runs of several systems.
    """

    members: tuple[tuple[str | None, Any], ...]
    members_are_systems: bool = False

    @classmethod
    def wrap(cls, role: str, source: Any) -> Any:
        """Wrap a list of sources, or a dict of those of systems; return others unchanged."""
        is_ranking = role in RUN_ROLES
        if is_row_list(source) or is_dict_of_values(source) or is_list_of_documents(source):
            return source
        if isinstance(source, list) or (isinstance(source, tuple) and is_ranking):
            return (
                cls(tuple((None, cls._wrap_member(member)) for member in source), is_ranking)
                if source
                else source
            )
        if (
            isinstance(source, Mapping)
            and source
            and not is_nested_run_dict(source)
            and not any(isinstance(member, int | float | None) for member in source.values())
        ):
            return cls(
                tuple((str(name), cls._wrap_member(member)) for name, member in source.items()),
                members_are_systems=True,
            )
        return wrap_source(source)

    @property
    def previous_runs(self) -> SourceGroup | None:
        """Each run but the last, under the name of its successor.

        None unless there are several runs, all with names.
        """
        names = [name for name, _ in self.members]
        if not self.members_are_systems or len(names) == 1 or None in names:
            return None
        return SourceGroup(
            tuple(
                (next_name, member)
                for next_name, (_, member) in zip(names[1:], self.members, strict=False)
            ),
            members_are_systems=True,
        )

    @classmethod
    def _wrap_member(cls, source: Any) -> Any:
        """Wrap one of several sources, which may be a list of files."""
        is_list = isinstance(source, list) and source and not is_row_list(source)
        return (
            cls(tuple((None, wrap_source(member)) for member in source))
            if is_list
            else wrap_source(source)
        )


def is_nested_run_dict(source: Mapping[Any, Any]) -> bool:
    """Return True if a dict is a ranking: queries to documents to numbers."""
    return all(
        isinstance(docs, Mapping)
        and (are_numbers(docs.values()) or not any(map(_is_documents, docs.values())))
        for docs in source.values()
    )


def are_numbers(values: Iterable[Any]) -> bool:
    """Return True if all values are floats or integers of Python, found without a call for each."""
    return {*map(type, values)} <= {float, int}


def _is_documents(value: Any) -> bool:
    """Return True for the documents of a query: with numbers, or texts in order."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], str)
    )


def is_row_list(source: Any) -> bool:
    """Return True if a source is a list or tuple of dicts with a value for each column.

    >>> is_row_list([{"query_id": "q1", "label": 1}]), is_row_list(
    ...     [{"q1": {"d1": 1}}]
    ... ), is_row_list(["a.csv"])
    (True, False, False)
    """
    is_list = (
        isinstance(source, (list, tuple))
        and bool(source)
        and all(isinstance(row, Mapping) for row in source)
    )
    return is_list and not any(row and is_nested_run_dict(row) for row in source)


def is_dict_of_values(source: Any) -> bool:
    """Return True if a source is a dict of columns, or of lists of documents, to values: not of
    systems to their sources.

    >>> is_dict_of_values({"label": [1, 0]}), is_dict_of_values(
    ...     {"q1": ["d3", "d1"]}
    ... ), is_dict_of_values({"bm25": ["a.run", "b.run"]})
    (True, True, False)
    """
    if not isinstance(source, Mapping) or not source or not all(map(_is_values, source.values())):
        return False
    if isinstance(source, DocumentLists):
        return True
    first_values = [next(iter(values)) for values in source.values() if len(values)]
    is_value = [
        not (
            isinstance(value, (Mapping, Path))
            or hasattr(value, "__arrow_c_stream__")
            or (isinstance(value, str) and _names_source(value))
        )
        for value in first_values
    ]
    return any(is_value) or not first_values


def is_list_of_documents(source: Any) -> bool:
    """Return True if a source is a list with a list of documents for each query, not one of files
    for each system.

    >>> is_list_of_documents([["d3", "d1"], ["d9"]]), is_list_of_documents(
    ...     [["a.run", "b.run"], ["c.run"]]
    ... ), is_list_of_documents(["a.csv"])
    (True, False, False)
    """
    is_nested = (
        isinstance(source, list) and bool(source) and all(isinstance(docs, list) for docs in source)
    )
    first_docs = [docs[0] for docs in source if docs] if is_nested else []
    return is_nested and all(
        isinstance(doc, int) or (isinstance(doc, str) and not _names_source(doc))
        for doc in first_docs
    )


def _is_values(value: Any) -> bool:
    """Return True for the values of one column: a list, or an array or series of numbers or
    texts.
    """
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return True
    is_array = (
        hasattr(value, "__len__")
        and hasattr(value, "dtype")
        and getattr(value.dtype, "names", None) is None
    )
    return is_array or (
        type(value).__module__.partition(".")[0] == "pyarrow" and not hasattr(value, "schema")
    )


def _names_source(text: str) -> bool:
    if _WEB_PAGE.match(text) and not data_suffix(text.partition("?")[0]):
        return False
    # As above
    return is_query_text(text) or os.path.exists(text) or _FILE_NAME.search(text) is not None  # noqa: PTH110


def with_previous_runs(sources: Mapping[str, Any], metrics: Iterable[Any]) -> Mapping[str, Any]:
    """Add each named run's predecessor as an input.

    This requires that all metrics that read the role declare it.
    """
    previous_runs = getattr(sources.get("run"), "previous_runs", None)
    resolved_metrics = list(metrics)
    for role in {metric.file.previous_run_role for metric in resolved_metrics} - {None, *sources}:
        if previous_runs is not None and all(
            metric.file.previous_run_role == role
            for metric in resolved_metrics
            if role in metric.dependencies.roles
        ):
            sources = {**sources, str(role): previous_runs}
    return sources


def find_systems(sources: Mapping[str, Any]) -> SourceGroup | None:
    """Return the first source that is of several systems, None without one."""
    return next(
        (
            source
            for source in sources.values()
            if isinstance(source, SourceGroup) and source.members_are_systems
        ),
        None,
    )


def leaf_sources(source: Any) -> list[Any]:
    """Return the single sources that a source consists of."""
    return (
        [leaf for _, member in source.members for leaf in leaf_sources(member)]
        if isinstance(source, SourceGroup)
        else [source]
    )


def count_rows_in_memory(source: Any) -> int | None:
    """Return the rows of a data frame, or the values of dicts and lists, without a look at each;
    None for other sources.

    >>> count_rows_in_memory({"q1": {"d1": 3, "d2": 1}, "q2": {"d1": 2}})
    3
    """
    if isinstance(source, SourceGroup):
        counts = [count_rows_in_memory(member) for member in leaf_sources(source)]
        return None if None in counts else sum(filter(None, counts))
    if isinstance(source, (Mapping, list, tuple)):
        members = source.values() if isinstance(source, Mapping) else source
        return sum([len(member) if isinstance(member, Sized) else 1 for member in members])
    is_frame = _find_package(source) in {"pyarrow", "pandas", "polars"}
    return len(source) if is_frame and isinstance(source, Sized) else None


def collect_sources(
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the given sources by role, including the further roles of ``inputs``; raise
    ``InputError`` for one that is given twice.
    """
    sources = {"run": run, "qrels": qrels, "predictions": predictions, "queries": queries}
    for role in inputs or {}:
        if sources.get(role) is not None:
            policy = (
                f", and the policy as topics={queries!r}"
                if role == "queries" and isinstance(queries, str)
                else ""
            )
            raise InputError(
                f"{role}= and inputs={{{role!r}: ...}} are both given. Give the table once{policy}"
            )
    # Lists under the same keys on both sides are those of queries: no system is called as a query
    run, qrels = sources["run"], sources["qrels"]
    if isinstance(run, dict) and isinstance(qrels, dict) and not run.keys().isdisjoint(qrels):
        for role in ("run", "qrels"):
            if {*map(type, sources[role].values())} == {list}:
                sources[role] = DocumentLists(sources[role])
    role_sources = [*sources.items(), *(inputs or {}).items()]
    return {
        role: SourceGroup.wrap(role, source) for role, source in role_sources if source is not None
    }


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
        if name == "inputs" and isinstance(value, Mapping):
            return {role: self.replace(role, member) for role, member in value.items()}
        if not _holds_table(name, value):
            return value
        return map_sources(value, lambda member: self._replace_table(name, member))

    def _replace_table(self, name: str, value: Any) -> Any:
        """Return the query or view in the place of a table of a database; others as they are."""
        package = _find_package(value)
        if package == "narwhals" and hasattr(value, "to_native"):
            return self._replace_table(name, value.to_native())
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


def data_suffix(text: str | Path) -> str:
    """Return the data suffix of a file, without a compression suffix; empty if unknown."""
    path = Path(text)
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSION_SUFFIXES else path.suffix
    return suffix.lower() if suffix.lower() in READER_FUNCTIONS else ""


def reader_function(text: str | Path) -> str | None:
    """Return the reader function of a file name, None if its suffix is unknown."""
    return READER_FUNCTIONS.get(data_suffix(text))


def map_sources(source: Any, change: Callable[[Any], Any]) -> Any:
    """Return a source, or a collection of some, with each replaced; a dict in a dict is a
    ranking.
    """
    if isinstance(source, SourceGroup):
        members = tuple((name, map_sources(member, change)) for name, member in source.members)
        return SourceGroup(members, source.members_are_systems)
    if isinstance(source, (list, tuple)):
        return type(source)(map_sources(member, change) for member in source)
    if isinstance(source, dict):
        return {
            name: member if isinstance(member, dict) else map_sources(member, change)
            for name, member in source.items()
        }
    return change(source)
