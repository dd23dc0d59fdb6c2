"""Run a session on a DuckDB connection, whose tables, files, queries, relations and streams become
typed FROM items.
"""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlrank.arrow_arrays import to_array
from sqlrank.call.sources import (
    READER_FUNCTIONS,
    QuerySource,
    Stream,
    data_suffix,
    source_kind,
)
from sqlrank.cancellation import make_fork_safe_lock
from sqlrank.engines import source_tables, text_advice
from sqlrank.engines.arrow_tables import list_ordered_categories, replace_unreadable, to_arrow_table
from sqlrank.engines.database import Database
from sqlrank.engines.duckdb_session import (
    describe_columns,
    fetch_tuples,
    fetch_with_perfect_hash,
    parse_once,
    prefer_builtins,
    put_back_search_path,
    translate_duckdb_errors,
)
from sqlrank.engines.file_formats import (
    ARROW_READER,
    PARQUET_READER,
    FileFormat,
    check_compressed,
    check_lake_tables,
    find_format,
)
from sqlrank.engines.file_sources import (
    describe_folder,
    expand_globs,
    explain_extension,
    explain_path_notation,
    explain_unreadable_path,
    list_neighbors,
    list_paths,
    required_extension,
)
from sqlrank.engines.query_sources import parse_query, split_table_name
from sqlrank.engines.source_tables import (
    ALL_COLUMNS,
    ColumnProblem,
    DeclaredColumns,
    SourceTable,
    reads_text,
    union_tables,
)
from sqlrank.engines.text_advice import ragged_line_problem
from sqlrank.engines.text_tables import (
    TEXT_ROWS,
    declare_types,
    explain_read_error,
    find_csv_options,
    missing_columns_problem,
    settle_types,
    undetected_delimiter_problem,
)
from sqlrank.errors import InputError, did_you_mean, enumerate_names, join_sentences, quote_excerpt
from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import bind_placeholders, query_text, sql_literal, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlrank.errors import ExecutionError


_BINARY, _LIST, _SET, _STRUCT = 8, 9, 10, 12
_FIXED_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of booleans, which are in the header of their field, of a byte and of a double, by the
number of the type.
"""


def group_parquet_files(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path]
) -> list[list[str]]:
    """Return Parquet files in groups of the same names and types of columns, by their footers."""
    by_schema: dict[bytes, list[str]] = {}
    for file in map(str, files):
        footer = _read_footer(file)
        schema = next((schema for schema in by_schema if footer.startswith(schema)), None)
        by_schema.setdefault(
            footer[: _find_schema_end(footer)] if schema is None else schema, []
        ).append(file)
    members = {names[0]: names for names in by_schema.values()}
    if len(members) == 1:
        return list(members.values())
    # Files of several writers may have the same columns in other bytes.
    rows: list[tuple[list[str]]] = fetch_tuples(
        connection,
        load_select("inputs/readers", "parquet_files.sql").sql("duckdb"),
        {"path": list(members)},
    )
    return [sorted(name for first in group for name in members[first]) for (group,) in rows]


def _read_footer(file: str) -> bytes:
    """Return the metadata of a Parquet file, empty for a file that is damaged or encrypted."""
    with open(file, "rb") as stream:  # noqa: PTH123  one of thousands
        stream.seek(-8, os.SEEK_END)
        length, magic = int.from_bytes(stream.read(4), "little"), stream.read(4)
        if magic != b"PAR1" or length > stream.tell() - 8:
            return b""
        stream.seek(-8 - length, os.SEEK_END)
        return stream.read(length)


def _find_schema_end(footer: bytes) -> int:
    """Return the position after the schema, the second field of the metadata in Thrift's compact
    protocol; 0 if there is none.
    """
    try:
        _, position = _read_varint(footer, 1)  # the version, after the header of its field
        return _skip_value(footer, position + 1, _LIST)
    except (IndexError, RecursionError):
        return 0


def _skip_value(data: bytes, position: int, kind: int) -> int:
    """Return the position after a value of Thrift's compact protocol."""
    if kind in _FIXED_SIZES:
        return position + _FIXED_SIZES[kind]
    if kind in {_LIST, _SET}:
        size, element, position = data[position] >> 4, data[position] & 15, position + 1
        if size == 15:  # noqa: PLR2004  the size follows
            size, position = _read_varint(data, position)
        for _ in range(size):
            position = _skip_value(data, position, element)
        return position
    if kind == _STRUCT:
        while header := data[position]:
            position += 1
            if header < 16:  # noqa: PLR2004  the number of the field follows
                _, position = _read_varint(data, position)
            position = _skip_value(data, position, header & 15)
        return position + 1
    value, position = _read_varint(data, position)
    return position + (value if kind == _BINARY else 0)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return an integer of variable length, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:  # noqa: PLR2004  the last one
            return value, position


MAX_ROWS_OF_TUPLES = 10_000
"""Rows of each table up to which results are fetched as tuples: 5,000 of these take as long as to
bind a statement once more.
"""

_PROCESS_TAG = uuid4().hex[:8]

_lock = make_fork_safe_lock()
_taken: set[int] = set()


class NameSuffix:
    """A suffix of temporary names, unique among concurrent calls.

    Released suffixes are reused, so that cached SQL text of earlier calls stays valid.
    """

    def __init__(self) -> None:
        with _lock:
            self._number = next(number for number in count(1) if number not in _taken)
            _taken.add(self._number)

    def __str__(self) -> str:
        return f"_{_PROCESS_TAG}_{self._number}"

    def release(self) -> None:
        """Release the suffix for other calls, at most once.

        Another call may have acquired it since.
        """
        with _lock:
            _taken.discard(self._number)
            self._number = 0


class DuckDBDatabase(Database):
    """A session on a DuckDB connection; ``close`` removes what it registers.

    ``keeps_text`` loads text once into a temporary table; ``is_own`` marks a connection that is not
    shared. Such a one is the ``private_connection``.
    """

    supports_dense_groups = True

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, keeps_text: bool = True, is_own: bool = False
    ) -> None:
        super().__init__("duckdb")
        self.connection = connection
        self.private_connection = connection if is_own else None
        self.keeps_text = keeps_text
        self._is_own = is_own
        self._mark = None if is_own else NameSuffix()
        self._end = str(self._mark or "")
        self._names = None if is_own else prefer_builtins(connection)
        self._views: list[str] = []
        self._tables: list[str] = []
        self.unread_streams: dict[str, tuple[str, Stream]] = {}
        self._queries: dict[exp.Expr, SourceTable] = {}
        self._read: list[tuple[str, DeclaredColumns | None, Any, SourceTable]] = []
        self._registered: dict[str, tuple[pa.Table, dict[str, ColumnProblem]]] = {}

    def is_data_error(self, error: ExecutionError) -> bool:
        """Return True if values in the tables may have caused an error."""
        return isinstance(
            error.__cause__,
            (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException),
        )

    def fetch_result(self, text: str, types: Mapping[str, pa.DataType | None]) -> pa.Table:
        """Run a statement, and return its columns with these names.

        A relation is bound twice, which takes longer than a statement over few rows runs.
        """
        if self._has_few_rows():
            rows = self.fetch_rows(text)
            returned = [
                _ARROW_TYPES.get(str(column[1]), arrow_type)
                for column, arrow_type in zip(
                    self.connection.description or (), types.values(), strict=True
                )
            ]
            if None not in returned:
                return _build_table(rows, dict(zip(types, returned, strict=True)))
        return self.fetch_arrow(text).rename_columns(list(types))

    def _has_few_rows(self) -> bool:
        """Return True if all that is read are tables of few rows in memory, whose columns have the
        types that are most frequent.
        """
        return all(
            table.num_rows is not None
            and table.num_rows <= MAX_ROWS_OF_TUPLES
            and {*table.types.values()} <= {*_ARROW_TYPES}
            for *_, table in self._read
        )

    def fetch_row(self, text: str, types: Mapping[str, pa.DataType | None]) -> pa.Table:
        """Run a statement of one row."""
        return _build_table(self.fetch_rows(text), types)

    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:
        is_path = isinstance(source, (str, Path))
        for read_role, read_columns, read_source, table in self._read:
            is_same = read_source is source or (
                is_path and isinstance(read_source, (str, Path)) and read_source == source
            )
            if is_same and read_role == role and (read_columns is None or read_columns == columns):
                return table
        with translate_duckdb_errors():
            table = self._resolve_and_load(role, source, columns)
        is_declared = bool(table.members) or (
            table.is_text and isinstance(table.display_from_item, exp.Table)
        )
        self._read.append((role, columns if is_declared else None, source, table))
        return table

    def _fetch_arrow(self, text: str) -> pa.Table:
        with translate_duckdb_errors():
            return self.register_streams().sql(text).to_arrow_table()

    def _fetch_groups(self, text: str) -> pa.Table:
        with translate_duckdb_errors():
            return fetch_with_perfect_hash(self.register_streams(), text)

    def _fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        with translate_duckdb_errors():
            connection = self.register_streams()
            return fetch_tuples(connection, parse_once(connection, text) if self._is_own else text)

    @property
    def has_unread_streams(self) -> bool:
        """True while rows of a stream have not been read."""
        return bool(self.unread_streams)

    @property
    def time_zone(self) -> str:
        """The time zone of the session."""
        ((name,),) = self._fetch_rows("SELECT CURRENT_SETTING('TimeZone')")
        return str(name)

    def _describe_query(self, query: exp.Query) -> dict[str, str]:
        with translate_duckdb_errors():
            return describe_columns(self.connection, write_tree(query))

    def resolve(self, role: str, source: Any) -> SourceTable:
        """Resolve a source: table or view name, file, relation, or Arrow stream."""
        node: exp.Expr
        own_names: Iterable[str] | None = None
        if isinstance(source, QuerySource):
            node, label = parse_query(role, source, "duckdb"), "a query"
        elif isinstance(source, (str, Path)):
            items = self._resolve_named(role, source)
            tables = [self._describe_source(role, label, node) for node, label in items]
            return tables[0] if len(tables) == 1 else union_tables(role, tables, str(source))
        elif isinstance(source, duckdb.DuckDBPyRelation):
            try:
                node, label, own_names = (
                    self._read_relation(role, source),
                    "DuckDB relation",
                    source.columns,
                )
            except (duckdb.OutOfMemoryException, duckdb.InterruptException):
                raise
            except duckdb.Error as error:
                raise InputError(
                    f"{role}: cannot read the DuckDB relation: {explain_read_error(error)}"
                ) from None
        else:
            is_stream = isinstance(source, Stream) and source.schema is not None
            table = to_arrow_table(role, source.schema.empty_table() if is_stream else source)
            node, label = self._register_table(role, table), source_kind(source)
            if is_stream:
                self.unread_streams[node.name] = (role, source)
        return self._describe_source(role, label, node, own_names)

    def _describe_source(
        self, role: str, label: str, node: exp.Expr, own_names: Iterable[str] | None = None
    ) -> SourceTable:
        """Return an item of FROM with its columns, and the problems of those that cannot be
        read.
        """
        is_registered = isinstance(node, exp.Table) and node.name in self._views
        types, num_rows, orders = None, None, {}
        unreadable: dict[str, ColumnProblem] = {}
        if is_registered:
            table, unreadable = self._registered[node.name]
            types, own_names = _list_duckdb_types(table.schema), table.column_names
            num_rows = None if node.name in self.unread_streams else table.num_rows
            orders = list_ordered_categories(table)
        types = types or self._read_column_types(role, label, node)
        problems = source_tables.find_problems(self.connection, role, label, node, types, own_names)
        return SourceTable(
            label,
            node,
            types,
            display_item=(
                exp.table_(node.name.replace(f"sqlrank_arrow_{role}{self._end}", role))
                if is_registered
                else None
            ),
            has_row_count=not isinstance(node, exp.Subquery) and not reads_text(node),
            num_rows=num_rows,
            is_empty=num_rows == 0,
            problems=problems | unreadable,
            declared_orders=orders,
        )

    def _resolve_and_load(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:
        """Resolve a source, and load text and the rows of a query into a temporary table.

        Statements read their inputs several times. Of text, only ``columns`` are read, with the
        types that these declare.
        """
        table = self.resolve(role, source)
        if (query := query_text(table.from_item)) is not None:
            if source.table is not None:
                return replace(
                    table, display_item=table.from_item, from_item=exp.to_table(source.table)
                )
            return (
                table
                if query.is_selection or not self.keeps_text
                else self._load_query(role, table)
            )
        if not reads_text(table.from_item):
            return table
        files = list_paths(source) if isinstance(source, (str, Path)) else []
        is_csv = isinstance(table.from_item.this, exp.ReadCSV)
        if problem := undetected_delimiter_problem(self.connection, files, table.types) or (
            missing_columns_problem(
                self.connection, files, lambda name: columns.find_kind(name) is not None
            )
            if is_csv
            else None
        ):
            raise InputError(f"{role}: {problem}")
        if self.keeps_text:
            check_compressed(role, files)
        is_headless = (
            isinstance(table.from_item, exp.Subquery) and table.from_item.alias == TEXT_ROWS
        )
        try:
            if isinstance(table.from_item, exp.Table):
                return self._load_declared(role, table, columns)
            return self._load_table(role, table) if self.keeps_text else table
        except (
            duckdb.InvalidInputException,
            duckdb.IOException,
            duckdb.ConversionException,
        ) as error:
            problem = (
                text_advice.malformed_trec_line(role, files)
                if is_headless and files
                else ragged_line_problem(error)
            )
            raise InputError(
                f"{role}: {problem}"
                if problem
                else f"{role}: cannot read {table.label}: {explain_read_error(error)}"
            ) from None

    def _load_declared(
        self, role: str, table: SourceTable, columns: DeclaredColumns
    ) -> SourceTable:
        """Return a source of CSV or JSON files whose columns have the declared types, from a
        temporary table of those that are read.
        """
        reader = declare_types(self.connection, table.from_item, table.types, columns)
        if not reader.types:
            return self._load_table(role, table) if self.keeps_text else table
        name = self._unique_name(f"sqlrank_{role}{self._end}") if self.keeps_text else None
        reader = settle_types(self.connection, role, reader, name)
        types = {
            column: reader.types.get(column, sampled)
            for column, sampled in {**reader.sampled, **reader.types}.items()
        }
        table = replace(table, from_item=reader.from_item(), column_types=types)
        if name is None:
            return table
        self._tables.append(name)
        is_empty = not fetch_tuples(self.connection, f"SELECT 1 FROM {name} LIMIT 1")
        return replace(
            table, display_item=table.from_item, from_item=exp.to_table(name), is_empty=is_empty
        )

    def _load_query(self, role: str, table: SourceTable) -> SourceTable:
        """Run a query once, and keep its rows; it may be costly, or give other rows each time."""
        first = self._queries.get(table.from_item.this)
        if first is not None:
            return first
        try:
            return self._queries.setdefault(table.from_item.this, self._load_table(role, table))
        except (duckdb.OutOfMemoryException, duckdb.InterruptException):
            raise
        except duckdb.Error as error:
            raise InputError(f"{role}: the query failed: {explain_read_error(error)}") from None

    def keep_query(self, role: str, query: QuerySource) -> QuerySource:
        """Run a query once, and return it with the temporary table of its rows, which is not
        removed at the end.
        """
        with translate_duckdb_errors():
            loaded = self._resolve_and_load(role, query, ALL_COLUMNS).from_item
            if query_text(loaded) is not None:
                return query
            name = f"sqlrank_query_{uuid4().hex[:8]}"
            self.connection.execute(f"ALTER TABLE {loaded.name} RENAME TO {name}")
        self._tables.remove(loaded.name)
        return replace(query, table=name)

    def _load_table(self, role: str, table: SourceTable) -> SourceTable:
        """Return a source that is read from a temporary table."""
        name = self._unique_name(f"sqlrank_{role}{self._end}")
        created = fetch_tuples(
            self.connection,
            f"CREATE TEMP TABLE {name} AS"
            f" {exp.select('*').from_(table.from_item.copy()).sql('duckdb')}",
        )
        self._tables.append(name)
        return replace(
            table,
            display_item=table.from_item,
            from_item=exp.to_table(name),
            is_empty=created == [(0,)],
        )

    def close(self) -> None:
        """Remove registered views and temporary tables."""
        # In an aborted transaction nothing can be removed: its rollback does that, and the error
        # that aborted it must not be hidden.
        for name in self._views:
            with suppress(duckdb.Error):
                self.connection.unregister(name)
        for name in self._tables:
            with suppress(duckdb.Error):
                self.connection.execute(f"DROP TABLE IF EXISTS {name}")
        self._views, self._tables = [], []
        if self._names is not None:
            put_back_search_path(self.connection, self._names)
        if self._mark is not None:
            self._mark.release()

    def register_streams(self) -> duckdb.DuckDBPyConnection:
        """Return the connection with the rows of streams registered.

        Streams are only consumed when a statement needs their rows.
        """
        for name, (role, stream) in self.unread_streams.items():
            self.connection.register(
                name, replace_unreadable(role, to_arrow_table(role, stream))[0]
            )
        self.unread_streams.clear()
        return self.connection

    def _unique_name(self, name: str) -> str:
        """Return a name that is unique within this call."""
        num_taken = len(
            [existing for existing in (*self._views, *self._tables) if existing.startswith(name)]
        )
        return f"{name}_{num_taken + 1}" if num_taken else name

    def _resolve_named(self, role: str, source: str | Path) -> list[tuple[exp.Expr, str]]:
        """Return the items of FROM that a name stands for, several for files of different columns,
        with their labels.
        """
        text = str(source)
        if isinstance(source, str) and (table := self._find_table(text)):
            return [(table, text)]
        files = list_paths(text)
        check_lake_tables(role, {file.parent: None for file in files} or [Path(text)])
        if problem := explain_unreadable_path(text):
            raise InputError(f"{role}: {text!r} {problem}")
        if extension := required_extension(text):
            is_loaded = fetch_tuples(
                self.connection,
                "SELECT 1 FROM duckdb_extensions() WHERE loaded AND extension_name = ?",
                [extension],
            )
            raise InputError(
                f"{role}: {text!r} {explain_extension(text, extension, bool(is_loaded))}"
            )
        if files:
            return self._find_file_items(role, text, files)
        tables = self._user_tables()
        hint = (
            explain_path_notation(text)
            or describe_folder(text)
            or did_you_mean(text, [*tables, *list_neighbors(text)])
        )
        if not hint and self._is_own:
            hint = (
                "Check the path. A table is read with connection=, and sqlrank.sql (sqlrank sql)"
                " prints a statement for a warehouse"
            )
            hint += (
                ". A list of queries is a column, {'query_id': [...]}" if role == "queries" else ""
            )
        what = "no file matches" if glob.has_magic(text) else "there is no table and no file named"
        problem = f"{role}: {what} {quote_excerpt(text, is_name=True)}"
        raise InputError(join_sentences(problem, hint, self._list_tables()))

    def _find_file_items(
        self, role: str, text: str, files: Sequence[Path]
    ) -> list[tuple[exp.Expr, str]]:
        """Return the items of FROM that read files, each with a label: one for files of the same
        columns.
        """
        formats = {find_format(role, file): data_suffix(file) or file.suffix for file in files}
        readers = {file_format.reader for file_format in formats}
        if len(readers) > 1 or len({file_format.compression for file_format in formats}) > 1:
            endings = ", ".join(sorted(suffix or "no ending" for suffix in formats.values()))
            raise InputError(
                f"{role}: {text} holds files of several kinds ({endings}). Give a pattern of one"
            )
        paths, file_format = expand_globs(text), next(iter(formats))
        if file_format.reader == ARROW_READER:
            tables = source_tables.read_arrow_files(role, files)
            return [
                (self._register_table(role, table), str(first) if len(tables) > 1 else text)
                for first, table in tables
            ]
        if file_format.reader == PARQUET_READER and len(files) > 1:
            groups = group_parquet_files(self.connection, files)
            if len(groups) > 1:
                all_files = _build_file_item(role, text, paths, file_format)
                keys = source_tables.read_folder_keys(
                    str(files[0]), self._read_column_types(role, text, all_files)
                )
                return [
                    (_build_file_item(role, text, group, file_format, keys), group[0])
                    for group in groups
                ]
        is_csv = file_format.reader == "READ_CSV"
        options = find_csv_options(role, self.connection, files) if is_csv else []
        return [(_build_file_item(role, text, paths, file_format, options), text)]

    def _user_tables(self) -> list[str]:
        """Return the names of the user's tables and views."""
        return [
            name for *_, name in self._tables_there() if name not in {*self._views, *self._tables}
        ]

    def _list_tables(self) -> str:
        """Return a sentence on the tables that there are, empty without any."""
        tables = self._user_tables()
        return f"The database has: {enumerate_names(sorted(tables))}" if tables else ""

    def _find_table(self, text: str) -> exp.Table | None:
        tables = self._tables_there()
        near_schemas = self._list_search_path()
        identifier_parts = split_table_name(text) if '"' in text else None
        for matches in (str.__eq__, _equals_ignoring_case):
            for database, schema, name in tables:
                if (
                    _is_called((name,), text, identifier_parts, matches)
                    and (database, schema) in near_schemas
                ):
                    return _quoted_table(name)
                full_names = ((schema, name), (database, name), (database, schema, name))
                if any(
                    _is_called(name_parts, text, identifier_parts, matches)
                    for name_parts in full_names
                ):
                    return _quoted_table(name, schema, database)
            candidates = [
                (name, schema, database)
                for database, schema, name in tables
                if _is_called((name,), text, identifier_parts, matches)
            ]
            if len(candidates) > 1:
                raise InputError(
                    f"several tables are named {text!r}:"
                    f" {', '.join('.'.join(reversed(candidate)) for candidate in candidates)}."
                    " Write one in full"
                )
            if candidates:
                return _quoted_table(*candidates[0])
        return None

    def _list_search_path(self) -> set[tuple[str, str]]:
        """Return the (database, schema) pairs that unqualified table names resolve to."""
        return set() if self._names is None else {self._names.default_schema, ("temp", "main")}

    @property
    def shadowed(self) -> Mapping[str, str]:
        """User-defined functions that shadow built-in ones."""
        return {} if self._names is None else self._names.shadowed

    def _tables_there(self) -> list[tuple[str, str, str]]:
        """Return (database, schema, name) of every table and view, unqualified ones first.

        The list is empty on connections of sqlrank itself.
        """
        if self._is_own:
            return []
        tables = fetch_tuples(
            self.connection,
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal",
        )
        near_schemas = self._list_search_path()
        return sorted(tables, key=lambda row: ((row[0], row[1]) not in near_schemas, row))

    def _register_table(self, role: str, table: pa.Table) -> exp.Table:
        name = self._unique_name(f"sqlrank_arrow_{role}{self._end}")
        table, problems = replace_unreadable(role, table)
        try:
            self.connection.register(name, table)
        except duckdb.Error:
            unread = [
                field.name
                for field in table.schema
                if not self._is_read(table.select([field.name]))
            ]
            table, problems_of_types = replace_unreadable(role, table, unread)
            problems |= problems_of_types
            self.connection.register(name, table)
        self._registered[name] = table, problems
        self._views.append(name)
        return exp.table_(name)

    def _is_read(self, column: pa.Table) -> bool:
        """Return True if DuckDB reads the type of a column."""
        try:
            self.connection.from_arrow(column)
        except duckdb.Error:
            return False
        return True

    def _read_relation(self, role: str, relation: duckdb.DuckDBPyRelation) -> exp.Expr:
        """Return a relation of this connection as a subquery, which avoids a copy; load others."""
        marker = uuid4().hex
        self.connection.execute(f"SET VARIABLE sqlrank_mark = '{marker}'")
        try:
            is_here = _connection_marker(relation) == marker
        finally:
            self.connection.execute("RESET VARIABLE sqlrank_mark")
        if not is_here:
            return self._register_table(role, relation.to_arrow_table())
        try:
            tree = sqlglot.parse_one(relation.sql_query(), read="duckdb")
            node = exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("relation")))
            describe_columns(self.connection, exp.select("*").from_(node.copy()).sql("duckdb"))
        except (duckdb.Error, sqlglot.ParseError):
            return self._register_table(role, relation.to_arrow_table())
        # A single row without FROM is data.
        return (
            node if tree.find(exp.From) else self._register_table(role, relation.to_arrow_table())
        )

    def _read_column_types(self, role: str, label: str, node: exp.Expr) -> dict[str, str]:
        try:
            return describe_columns(
                self.connection, exp.select("*").from_(node.copy()).sql("duckdb")
            )
        except duckdb.Error as error:
            if node.find(exp.ReadCSV) is not None and (
                uneven := undetected_delimiter_problem(self.connection, list_paths(label))
            ):
                raise InputError(f"{role}: {uneven}") from None
            problem = "the query failed" if query_text(node) is not None else f"cannot read {label}"
            advice = ""
            if isinstance(error, duckdb.CatalogException) and "Table with name" in str(error):
                advice = (
                    " Give connection= to the database of the table, or read files, as in FROM"
                    " 'run.parquet'"
                )
                advice = advice if self._is_own else f" {self._list_tables()}"
            raise InputError(f"{role}: {problem}: {explain_read_error(error)}{advice}") from None


_ARROW_TYPES = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "BOOLEAN": pa.bool_(),
}
"""The most frequent types of DuckDB with those of Arrow."""

_DUCKDB_TYPES = {arrow_type.id: name for name, arrow_type in _ARROW_TYPES.items()} | {
    pa.large_string().id: "VARCHAR"
}
"""Types of DuckDB by the ids of those of Arrow that are most frequent (extension types have no
hash): of others, and of names that differ in case, the database is asked.
"""


def _build_table(
    rows: Sequence[Sequence[Any]], types: Mapping[str, pa.DataType | None]
) -> pa.Table:
    """Return rows as a table of columns with these names and types."""
    columns = [*zip(*rows, strict=True)] or [()] * len(types)
    arrays = [
        to_array(
            [None if value is None else float(value) for value in values]
            if arrow_type == pa.float64()
            else values,
            arrow_type,
        )
        for values, arrow_type in zip(columns, types.values(), strict=True)
    ]
    return pa.table(arrays, names=list(types))


def _list_duckdb_types(schema: pa.Schema) -> dict[str, str] | None:
    """Return the types that DESCRIBE would, None if it has to be asked."""
    types = {field.name: _DUCKDB_TYPES.get(field.type.id) for field in schema}
    has_all = None not in types.values() and len({name.lower() for name in types}) == len(schema)
    return {name: str(duckdb_type) for name, duckdb_type in types.items()} if has_all else None


def _is_called(
    name_parts: Sequence[str],
    text: str,
    identifier_parts: Sequence[str] | None,
    matches: Callable[[str, str], bool],
) -> bool:
    """Return True if a text names a table of these parts.

    Names are compared complete, or part by part if quoted.
    """
    if matches(".".join(name_parts), text):
        return True
    return (
        identifier_parts is not None
        and len(name_parts) == len(identifier_parts)
        and all(map(matches, name_parts, identifier_parts))
    )


def _equals_ignoring_case(left: str, right: str) -> bool:
    return left.lower() == right.lower()


def _quoted_table(name: str, schema: str | None = None, database: str | None = None) -> exp.Table:
    return exp.table_(name, schema, database, quoted=True)


def _connection_marker(relation: duckdb.DuckDBPyRelation) -> str | None:
    """Return the value of the marker variable on the connection of a relation."""
    result = relation.query("relation", "SELECT GETVARIABLE('sqlrank_mark')")
    return None if result is None else result.fetchall()[0][0]


def _escape_path(path: str) -> str:
    return ("./" if path.startswith("~") else "") + glob.escape(path)


def _build_file_item(
    role: str,
    text: str,
    paths: Sequence[str],
    file_format: FileFormat,
    options: Sequence[exp.Expr] = (),
) -> exp.Expr:
    """Return the FROM item that reads files of one format; those without a header are TREC text, or
    predictions of Vowpal Wabbit.
    """
    # DuckDB takes each path for a pattern, also that of a file whose name has brackets, and a tilde
    # for the home folder.
    literals = [sql_literal(_escape_path(path) if Path(path).is_file() else path) for path in paths]
    path_literal = literals[0] if len(paths) == 1 else exp.Array(expressions=literals)
    if file_format.reader is not None:
        return exp.Table(
            this=exp.func(
                file_format.reader,
                path_literal,
                *file_format.read_option(),
                *options,
                dialect="duckdb",
            )
        )
    if role not in text_advice.TEXT_FORMATS:
        raise InputError(
            f"{role}: {quote_excerpt(text, is_name=True)} has no suffix of a known format. Use one"
            f" of {', '.join(READER_FUNCTIONS)}"
        )
    tree = bind_placeholders(
        load_select("inputs/readers", f"{text_advice.TEXT_FORMATS[role]}.sql"), path=path_literal
    )
    for reader in tree.find_all(exp.ReadCSV):
        reader.set("expressions", [*reader.expressions, *file_format.read_option()])
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier(TEXT_ROWS)))
