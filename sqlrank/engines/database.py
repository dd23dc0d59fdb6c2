"""Define the abstract database session, one that knows only names, the columns that a call
declares, and shadowed functions.
"""

from __future__ import annotations

import glob
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlrank.call.sources import JSON_READER, QuerySource, wrap_source
from sqlrank.cancellation import check_deadline
from sqlrank.engines.driver_adapters import check_times, normalize_result
from sqlrank.engines.duckdb_session import restore_setting, set_setting
from sqlrank.engines.query_sources import (
    QUOTES,
    fold_column_name,
    parse_query,
    refuse_random_numbers,
    require_table_name,
    split_path,
)
from sqlrank.errors import ExecutionError, InputError
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import to_sql
from sqlrank.sql_ast import sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import duckdb
    import pyarrow as pa

    from sqlrank.registry.registry import ColumnSpec


_NAME = re.compile(r'\w+|"[^"]*"|`[^`]*`')


@dataclass(frozen=True)
class DeclaredColumns:
    """The columns that a call reads of a source.

    Attributes:
        kinds: The kinds of columns by their names in lower case.
        texts: Expressions, conditions and names that may name further columns.
        reads_all: All columns are read.
    """

    kinds: Mapping[str, str]
    texts: tuple[str, ...] = ()
    reads_all: bool = False

    @classmethod
    def declare_columns(
        cls,
        columns: Mapping[str, ColumnSpec],
        mapping: Mapping[str, Any] | None = None,
        texts: Iterable[str | None] = (),
    ) -> DeclaredColumns:
        """Return the columns of a role, under their own names and under those that a mapping gives
        them.

        Its expressions may name further columns, as ``texts`` may, and what it maps to names that
        the role does not have.
        """
        kinds: dict[str, str] = {}
        expressions = [text for text in texts if text]
        for name, mapped in (mapping or {}).items():
            names = [mapped] if isinstance(mapped, str) else list(mapped)
            column = columns.get(name)
            expressions += [text for text in names if column is None or not _NAME.fullmatch(text)]
            if column is not None:
                kind = (
                    "number"
                    if column.is_number or not isinstance(mapped, str)
                    else _find_kind(column)
                )
                kinds |= {text.strip('"`').lower(): kind for text in names}
        for name, column in columns.items():
            kinds = (
                dict.fromkeys(filter(None, (name.lower(), column.fallback)), _find_kind(column))
                | kinds
            )
        return cls(
            kinds,
            tuple(text.lower() for text in expressions),
            any("*" in text for text in expressions),
        )

    def declare_texts(self, names: Iterable[str]) -> DeclaredColumns:
        """Return the same, with columns that are read as ids are: as they are written, unless all
        are whole numbers.
        """
        return replace(self, kinds={**self.kinds, **{name.lower(): "key" for name in names}})

    def find_kind(self, name: str) -> str | None:
        """Return the kind of a column, ``any`` if further texts name it, and None if nothing reads
        it.
        """
        kind = self.kinds.get(name.lower())
        if kind in {"key", "list"}:
            return kind
        is_named = self.reads_all or any(
            re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text) for text in self.texts
        )
        return "any" if is_named else kind


def _find_kind(column: ColumnSpec) -> str:
    """Return the kind of a column: key, number, list (of ids), numbers (a list of these) or any."""
    return "numbers" if column.id_list else "number" if column.is_number else column.type


ALL_COLUMNS = DeclaredColumns({}, reads_all=True)
"""All columns, with the types of all rows."""


BUILTIN_SCHEMA = "system.main"
"""Schema of DuckDB's built-in functions."""


class NameResolution(NamedTuple):
    """Name resolution of a DuckDB connection during a call.

    Attributes:
        default_schema: Database and schema of unqualified table names.
        search_path: Setting to restore, None if it was not changed.
        shadowed: User-defined functions that shadow built-in ones, with their full names.
    """

    default_schema: tuple[str, str]
    search_path: str | None
    shadowed: Mapping[str, str]


def prefer_builtins(connection: duckdb.DuckDBPyConnection) -> NameResolution:
    """Put the schema of built-in functions first in the search path of a connection.

    Inside a transaction the path is unchanged, because an error would prevent its restoration.
    Shadowing functions are queried instead, which takes about 40 ms.
    """
    query = (
        "SELECT CURRENT_DATABASE(), CURRENT_SCHEMA(), CURRENT_SETTING('search_path'),"
        " TXID_CURRENT()"
    )
    database, schema, path, transaction = connection.execute(query).fetchall()[0]
    if connection.execute("SELECT TXID_CURRENT()").fetchall()[0][0] == transaction:
        functions = connection.execute(
            load_select("inputs", "shadowing_functions_duckdb.sql").sql("duckdb")
        ).fetchall()
        builtin = {name.lower() for name, *_, is_builtin in functions if is_builtin}
        user = {
            name.lower(): ".".join([*path, name])
            for name, *path, is_builtin in functions
            if not is_builtin
        }
        return NameResolution(
            (database, schema), None, {name: user[name] for name in user.keys() & builtin}
        )
    # A schema without database refers to the first database of the path, which changes.
    names = [[database, *name_parts][-2:] for name_parts in split_path(path)] or [
        [database, schema]
    ]
    tables = [
        ".".join(exp.to_identifier(part, quoted=True).sql("duckdb") for part in name_parts)
        for name_parts in names
    ]
    set_setting(connection, "search_path", ",".join([BUILTIN_SCHEMA, *tables]))
    return NameResolution((database, schema), path, {})


def put_back_search_path(connection: duckdb.DuckDBPyConnection, resolution: NameResolution) -> None:
    """Restore the search path of a connection."""
    if resolution.search_path is not None:
        restore_setting(connection, "search_path", resolution.search_path)


def find_shadowed(dialect: str, fetch: Callable[[str], list[tuple[str, ...]]]) -> dict[str, str]:
    """Find functions that shadow built-in ones: full names by name in lower case."""
    file = get_dialect(dialect).shadowing_query
    return (
        {}
        if file is None
        else {name.lower(): full_name for name, full_name in fetch(_shadowing_query(dialect, file))}
    )


@lru_cache
def _shadowing_query(dialect: str, file: str) -> str:
    return load_select("inputs", file).sql(get_dialect(dialect).sqlglot_name)


def refuse_shadowed(text: str, dialect: str, shadowed: Mapping[str, str]) -> None:
    """Raise ``InputError`` if a statement calls a shadowed function."""
    tokens = get_dialect(dialect).sqlglot.tokenize(text)
    for token, following in pairwise(tokens):
        name = token.text.lower()
        if following.token_type == TokenType.L_PAREN and name in shadowed:
            raise InputError(
                f"this statement calls {token.text.upper()}, and {shadowed[name]} of this database"
                " would be called instead of the engine's. Drop or rename it, or use a connection"
                " that does not see it"
            )


@dataclass(frozen=True)
class ColumnProblem:
    """The reason that a column cannot be read, and True if it can be as a key, whose values are
    then compared as texts.
    """

    text: str
    allows_keys: bool = False


def reads_text(node: exp.Expr) -> bool:
    """Return True if an item of FROM is TREC, CSV or JSON text, parsed at each scan."""
    return node.find(exp.ReadCSV) is not None or any(
        call.name.upper() == JSON_READER for call in node.find_all(exp.Anonymous)
    )


@dataclass(frozen=True)
class SourceTable:
    """A resolved source.

    Attributes:
        label: Label in messages.
        from_item: Item of the FROM clause.
        column_types: Columns with their types, None if they cannot be inspected.
        dialect: SQL dialect.
        display_item: FROM item in the user's notation, if it differs from ``from_item``.
        is_empty: The source is known to have no rows.
        has_row_count: COUNT(*) is answered from metadata (tables, Parquet), without a scan.
        num_rows: Number of rows of a table in memory, None for others.
        has_collations: Text is not compared byte by byte unless the statement demands it.
        members: Members of a union of tables.
        constants: Values of columns that the member of a union does not have.
        casts: Types that columns of the member of a union are cast to.
        problems: Columns that are refused where they are read.
        columns: Column names by their lower-case form.
    """

    label: str
    from_item: exp.Expr
    column_types: Mapping[str, str] | None
    dialect: str = "duckdb"
    display_item: exp.Expr | None = None
    is_empty: bool = False
    has_row_count: bool = True
    num_rows: int | None = None
    has_collations: bool = False
    members: tuple[SourceTable, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, ColumnProblem] = field(default_factory=dict)
    columns: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Index the columns by lower-case name."""
        object.__setattr__(
            self,
            "columns",
            {name.lower(): name for name in reversed(list(self.types))},
        )

    @property
    def types(self) -> Mapping[str, str]:
        """Its columns with their types, empty if they cannot be inspected."""
        return self.column_types or {}

    def find_column(self, name: str) -> str | None:
        """Return the column of a name, matched exactly or without case.

        Without inspection, the name is folded like an unquoted identifier of the engine.
        """
        if self.column_types is None:
            return fold_column_name(name, self.dialect)
        if name in self.column_types:
            return name
        unquoted = fold_column_name(name, self.dialect) if name[:1] in QUOTES else name
        return unquoted if unquoted in self.column_types else self.columns.get(unquoted.lower())

    def from_clause(
        self, read: Iterable[exp.Identifier] | None = None, for_display: bool = False
    ) -> exp.Expr:
        """Return the FROM item; for a union of tables, a subquery with the columns ``read``, by
        default those that can be read.

        ``for_display`` selects the user's notation.

        Raises:
            InputError: A column of these has a problem.
        """
        if read is None:
            read = [
                exp.to_identifier(name, quoted=True)
                for name in self.types
                if name not in self.problems
            ]
        read = list(read)
        self.require_readable(identifier.name for identifier in read)
        if not self.members:
            return (self.display_from_item if for_display else self.from_item).copy()
        return union_all(
            member.select_columns(read, for_display) for member in self.members
        ).subquery("parts", copy=False)

    @property
    def is_text(self) -> bool:
        """True for rows of text files, whose types are those of their values."""
        return reads_text(self.display_from_item)

    @property
    def has_several_files(self) -> bool:
        """True for a reader of several files, or of a pattern."""
        reader = self.from_item.this if isinstance(self.from_item, exp.Table) else None
        paths = [*reader.find_all(exp.Literal)] if isinstance(reader, exp.Func) else []
        return len(paths) > 1 or any(glob.has_magic(path.name) for path in paths)

    def with_texts(self, names: Collection[str]) -> SourceTable:
        """Return a union with columns of its members that are texts, whatever some of them are."""
        if not names:
            return self
        types = {
            name: "VARCHAR" if name in names else column_type
            for name, column_type in self.types.items()
        }
        members = tuple(
            replace(member, casts={**member.casts, **dict.fromkeys(names, "VARCHAR")})
            for member in self.members
        )
        problems = {name: problem for name, problem in self.problems.items() if name not in names}
        table = replace(self, members=members, column_types=types, problems=problems)
        return replace(table, from_item=table.from_clause())

    def with_all_columns(self) -> SourceTable:
        """Return the source with every column, of which those of integers and texts are texts.

        Raises:
            InputError: A column has no common type, or some members lack it.
        """
        self.require_readable(
            name for name, problem in self.problems.items() if not problem.allows_keys
        )
        table = replace(self, problems={})
        return replace(table, from_item=table.from_clause()) if self.problems else table

    def require_readable(self, names: Iterable[str]) -> None:
        """Raise ``InputError`` for the first of these columns that has a problem."""
        for name in names:
            if (problem := self.problems.get(name)) is not None:
                raise InputError(problem.text)

    def select_columns(self, read: Iterable[exp.Identifier], for_display: bool) -> exp.Select:
        """Return a SELECT of columns under the names ``read``, and of the constants."""
        query = exp.select().from_(self.from_clause(for_display=for_display))
        constants = {
            fold_column_name(name, self.dialect) if self.column_types is None else name: value
            for name, value in self.constants.items()
        }
        for identifier in read:
            column_name = (
                identifier.copy()
                if self.column_types is None
                else exp.Identifier(this=self.find_column(identifier.name), quoted=True)
            )
            if identifier.name not in constants:
                target = self.casts.get(identifier.name)
                expression: exp.Expr = (
                    exp.column(column_name)
                    if target is None
                    else exp.cast(exp.column(column_name), target, dialect="duckdb")
                )
                is_same = target is None and column_name.name == identifier.name
                query.select(
                    expression if is_same else exp.alias_(expression, identifier.copy()), copy=False
                )
        for name, value in constants.items():
            query.select(
                exp.alias_(sql_literal(value), exp.to_identifier(name, quoted=True)), copy=False
            )
        return query if query.selects else query.select("1 AS one")

    @property
    def display_from_item(self) -> exp.Expr:
        """The FROM item in the user's notation."""
        return self.from_item if self.display_item is None else self.display_item


class Database(ABC):
    """A database session.

    Every query checks the deadline of the call, and is refused if it calls a user's function in
    place of a built-in one. Errors of drivers are raised as ``ExecutionError``, with the original
    as the cause.

    Attributes:
        dialect: SQL dialect.
    """

    can_inspect: ClassVar[bool] = True
    """The tables can be inspected; False if only names are known."""

    supports_dense_groups: ClassVar[bool] = False
    """``fetch_groups`` groups by integer keys of a small range without hashing them."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    @property
    def time_zone(self) -> str:
        """The time zone of the session, in which times with a zone have their days, empty if it is
        not known.
        """
        return ""

    @property
    def can_materialize_ctes(self) -> bool:
        """True if a setting makes the server compute shared CTEs once."""
        return False

    @property
    def has_unread_streams(self) -> bool:
        """True while rows that can be read once have not been read; a call that is refused leaves
        them to the next.
        """
        return False

    @property
    def shadowed(self) -> Mapping[str, str]:
        """User-defined functions, by name, that would be called instead of built-in ones."""
        return {}

    @abstractmethod
    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:
        """Resolve the source of a role."""

    @abstractmethod
    def _fetch_arrow(self, text: str) -> pa.Table:
        """Run a query and return an Arrow table."""

    @abstractmethod
    def _fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        """Run a query and return tuples."""

    @abstractmethod
    def _describe_query(self, query: exp.Query) -> dict[str, str]:
        """Return the columns of a query with DuckDB's type names, empty for unknown types."""

    def _fetch_groups(self, text: str) -> pa.Table:
        """Run a query with dense integer group keys."""
        return self._fetch_arrow(text)

    def is_data_error(self, error: ExecutionError) -> bool:
        """Return True if values in the tables may have caused an error."""
        return error.__cause__ is not None

    def resolve_source(
        self, role: str, source: Any, columns: DeclaredColumns = ALL_COLUMNS
    ) -> SourceTable:
        """Resolve the source of a role, of which ``columns`` are read: those of text files have the
        types that these declare.
        """
        check_deadline()
        return self._resolve_source(role, wrap_source(source), columns)

    # The role is for messages of DuckDB
    def keep_query(self, role: str, query: QuerySource) -> QuerySource:  # noqa: ARG002
        """Return a query with the table of its rows, which is not removed with the session; as it
        is where it is not run once.
        """
        return query

    def fetch_arrow(self, text: str) -> pa.Table:
        """Run a query and return an Arrow table; refuse days and times that Python does not hold,
        which every reader of it would meet.
        """
        self._check_query(text)
        return check_times(self._fetch_arrow(text))

    def fetch_result(self, text: str, types: Mapping[str, pa.DataType | None]) -> pa.Table:
        """Run a statement, and return its columns with the names and types that DuckDB returns.

        ``types`` are the types by column name, None for columns of the inputs.
        """
        return normalize_result(self.fetch_arrow(text), types)

    def fetch_row(self, text: str, types: Mapping[str, pa.DataType | None]) -> pa.Table:
        """Run a statement of one row without columns of the inputs, and return what
        ``fetch_result`` does.
        """
        return self.fetch_result(text, types)

    def fetch_groups(self, text: str) -> pa.Table:
        """Run a query with dense integer group keys, and return an Arrow table."""
        self._check_query(text)
        return check_times(self._fetch_groups(text))

    def fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        """Run a query and return tuples."""
        self._check_query(text)
        return self._fetch_rows(text)

    def describe(self, query: exp.Query) -> dict[str, str]:
        """Return the columns of a query with DuckDB's type names, empty for unknown types."""
        check_deadline()
        return self._describe_query(query)

    def render(self, query: exp.Expr) -> str:
        """Render a small query or condition as SQL text."""
        return to_sql(query, self.dialect)

    def query_rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Run a small query and return all rows."""
        return self.fetch_rows(self.render(query))

    def _check_query(self, text: str) -> None:
        check_deadline()
        if self.shadowed:
            refuse_shadowed(text, self.dialect, self.shadowed)


class NamesOnlyDatabase(Database):
    """A database of which only the names of tables are known.

    ``locate`` returns the FROM item of a source that is not the name of a table; ``allows_jinja``
    in queries.
    """

    can_inspect = False

    def __init__(
        self,
        dialect: str,
        locate: Callable[[str, Any], exp.Expr] | None = None,
        allows_jinja: bool = False,
    ) -> None:
        super().__init__(dialect)
        self._locate = locate
        self._allows_jinja = allows_jinja

    # Of text files alone
    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:  # noqa: ARG002
        if isinstance(source, QuerySource):
            query = parse_query(role, source, self.dialect, self._allows_jinja)
            refuse_random_numbers(role, query, self.dialect)
            return SourceTable("a query", query, None, self.dialect, has_row_count=False)
        node = require_table_name(
            role, source if self._locate is None else self._locate(role, source), self.dialect
        )
        return SourceTable(str(source), node, None, self.dialect)

    def _fetch_arrow(self, text: str) -> NoReturn:  # noqa: ARG002  nothing is run
        raise InputError(_NOT_INSPECTED)

    def _fetch_rows(self, text: str) -> NoReturn:  # noqa: ARG002  nothing is run
        raise InputError(_NOT_INSPECTED)

    def _describe_query(self, query: exp.Query) -> NoReturn:  # noqa: ARG002  nothing is run
        raise InputError(_NOT_INSPECTED)


_NOT_INSPECTED = "these tables are names only. Give connection= to read them"
