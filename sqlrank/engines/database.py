"""Define the abstract database session, one that knows only names, the columns that a call
declares, and shadowed functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import pyarrow as pa
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlrank.call.sources import (
    COMPRESSION_SUFFIXES,
    QuerySource,
    SourceGroup,
    TemporaryView,
    leaf_sources,
    reader_function,
    source_kind,
    wrap_source,
)
from sqlrank.cancellation import check_deadline
from sqlrank.engines.file_sources import names_files
from sqlrank.engines.query_sources import (
    parse_query,
    refuse_random_numbers,
    require_table_name,
    split_table_name,
)
from sqlrank.engines.source_tables import ALL_COLUMNS, DeclaredColumns, SourceTable, union_tables
from sqlrank.errors import ExecutionError, InputError
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.registry.settings_checks import describe_argument
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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
    return load_select("inputs", file).sql(get_dialect(dialect).sqlglot)


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


def normalize_result(table: pa.Table, types: Mapping[str, pa.DataType | None]) -> pa.Table:
    """Normalize column names and types of a result to those that DuckDB returns.

    ``types`` are the types by column name, None for columns of the inputs.
    """
    columns = []
    for column, arrow_type in zip(table.columns, types.values(), strict=True):
        columns.append(normalize_column(column) if arrow_type is None else column.cast(arrow_type))
    return pa.table(columns, names=list(types))


def normalize_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Normalize a column: whole decimals to integers, dictionaries and string views to plain
    values.
    """
    arrow_type = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_decimal(arrow_type) and arrow_type.scale == 0:
        arrow_type = pa.int64()
    elif pa.types.is_string_view(arrow_type) or pa.types.is_large_string(arrow_type):
        arrow_type = pa.string()
    return column.cast(arrow_type)


class TimeRangeError(InputError):
    """A day or time that Python does not hold, such as infinity or the year 20000, in a column of a
    result.
    """

    def __init__(self, column: str, advice: str) -> None:
        super().__init__(
            f"column {column!r} has a day or time that Python does not hold, such as infinity or a"
            f" part of a microsecond. {advice}"
        )
        self.column = column


def check_times(table: pa.Table) -> pa.Table:
    """Return a table; raise ``TimeRangeError`` for a day or time that Python does not hold, which
    every reader of it would meet.
    """
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_temporal(field.type):
            try:
                column.to_pylist()
            except (ValueError, OverflowError):
                raise TimeRangeError(
                    field.name,
                    f"Read it as a text, CAST({exp.to_identifier(field.name).sql()} AS VARCHAR), in"
                    " a query",
                ) from None
    return table


def resolve_source(
    database: Database, role: str, source: Any, columns: DeclaredColumns = ALL_COLUMNS
) -> SourceTable:
    """Resolve a source, of which these columns are read, or several as a union with a ``system``
    column for runs.

    Raises:
        InputError: A source does not exist, has no rows or no name, or types do not match.
    """
    source = SourceGroup.wrap(role, source) if isinstance(source, list) else source
    if not isinstance(source, SourceGroup):
        return database.resolve_source(role, source, columns)
    try:
        union = _unite_members(database, role, source, columns)
    except InputError as error:
        _suggest_for_all_files(database, role, source, columns, str(error))
        raise
    if mixed := _find_mixed_columns(union, columns):  # as one reader of all files reads them
        union = _unite_members(database, role, source, columns.declare_texts(mixed))
    return union


def _suggest_for_all_files(
    database: Database, role: str, source: SourceGroup, columns: DeclaredColumns, problem: str
) -> None:
    """Raise ``InputError`` with the query of all files of a list in the place of a query of one,
    which would leave out the rows of the others.
    """
    paths = [str(member) for _, member in source.members]
    if "SELECT" not in problem or source.members_are_systems or not all(map(names_files, paths)):
        return
    try:
        database.resolve_source(role, f"{{{','.join(paths)}}}", columns)
    except InputError as error:
        if "SELECT" in str(error):
            raise


def _unite_members(
    database: Database, role: str, source: SourceGroup, columns: DeclaredColumns
) -> SourceTable:
    """Return the union of several sources, of which these columns are read."""
    tables = [
        _resolve_member(database, role, name, member, columns) for name, member in source.members
    ]
    if source.members_are_systems:
        names = _system_names(database, role, source, tables)
        for name, table in zip(names, tables, strict=True):
            _check_system(database, role, name, table)
        tables = [
            replace(member, constants={SYSTEM_COLUMN: name})
            for name, table in zip(names, tables, strict=True)
            for member in table.members or (table,)
        ]
    return union_tables(role, tables)


def _find_mixed_columns(union: SourceTable, columns: DeclaredColumns) -> list[str]:
    """Return the columns that are read whose types differ among text files."""
    if not all(member.is_text for table in union.members for member in table.members or (table,)):
        return []
    return [
        name
        for name in union.problems
        if columns.find_kind(name) is not None
        and all(table.find_column(name) is not None for table in union.members)
    ]


def _resolve_member(
    database: Database, role: str, name: str | None, member: Any, columns: DeclaredColumns
) -> SourceTable:
    """Resolve one of several sources; a list that names no sources may be one of documents."""
    try:
        return resolve_source(database, role, member, columns)
    except InputError as error:
        doc = leaf_sources(member)[0] if isinstance(member, SourceGroup) else None
        if name is None or not isinstance(doc, str):
            raise
        raise InputError(
            f"{error}. If {name!r} is a query, and no system, give a list of documents for every"
            f" query, or scores of documents that look like files: {{{name!r}: {{{doc!r}: 1.0}}}}"
        ) from None


def _system_names(
    database: Database, role: str, source: SourceGroup, tables: Sequence[SourceTable]
) -> list[str]:
    """Return system names: as given, or tag, stem or name of the file.

    The first of these that is unique is used.
    """
    candidates = [
        (
            [name]
            if name
            else [tag for tag in (_read_tag(database, member, table),) if tag]
            + _list_stems(role, member)
        )
        for (name, member), table in zip(source.members, tables, strict=True)
    ]
    while True:
        counts = Counter(names[0] for names in candidates)
        clashing = [names for names in candidates if counts[names[0]] > 1]
        if not clashing:
            return [names[0] for names in candidates]
        if all(len(names) == 1 for names in clashing):
            runs = describe_argument(role, "{'name': source}")
            raise InputError(
                f"{role}: two systems are called {clashing[0][0]!r}. Give each a name: {runs}"
            )
        for names in clashing:
            del names[: len(names) > 1]


def _read_tag(database: Database, source: Any, table: SourceTable) -> str | None:
    """Return the tag of a TREC file, if all lines have the same."""
    if (
        not database.can_inspect
        or "tag" not in table.types
        or not names_files(source)
        or reader_function(source)
    ):
        return None
    tag = exp.column("tag")
    ((least, most),) = database.query_rows(
        exp.select(exp.Min(this=tag), exp.Max(this=tag.copy())).from_(table.from_clause())
    )
    return str(least) if least == most and least is not None else None


def _list_stems(role: str, source: Any) -> list[str]:
    """Return a file's stem and name, or the last part of a table's name."""
    if not isinstance(source, (str, Path)) or isinstance(source, TemporaryView):
        runs = describe_argument(role, "{'name': table, 'other': other_table}")
        raise InputError(f"{role}: a {source_kind(source)} of several has no name. Give {runs}")
    path = Path(source)
    if names_files(source):
        return [
            Path(path.stem).stem if path.suffix in COMPRESSION_SUFFIXES else path.stem,
            path.name,
        ]
    return [(split_table_name(str(source)) or [str(source)])[-1]]


def _check_system(database: Database, role: str, name: str, table: SourceTable) -> None:
    """Check that a system has rows and no ``system`` column of its own.

    A system without rows would be missing from the result without notice.
    """
    if table.find_column(SYSTEM_COLUMN) is not None and table.column_types is not None:
        raise InputError(
            f"{role}: {table.label} has a column {SYSTEM_COLUMN!r} of its own. Give it alone with"
            f" by={SYSTEM_COLUMN!r}, or rename the column"
        )
    if table.is_empty or (
        table.num_rows is None
        and database.can_inspect
        and not database.query_rows(exp.select("1 AS one").from_(table.from_clause([])).limit(1))
    ):
        raise InputError(
            f"{role}: {table.label} has no rows, and {name!r} would be missing from the result"
        )
