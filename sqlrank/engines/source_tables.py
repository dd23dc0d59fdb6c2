"""Describe sources as tables of a statement: the columns that a call declares, their types and
problems, unions of tables, Arrow files, and names that a source has twice.
"""

from __future__ import annotations

import glob
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlrank.call.sources import (
    JSON_READER,
)
from sqlrank.engines.duckdb_session import (
    describe_columns,
    fetch_tuples,
)
from sqlrank.engines.file_sources import (
    list_paths,
)
from sqlrank.engines.query_sources import (
    QUOTES,
    fold_column_name,
)
from sqlrank.errors import (
    InputError,
    quote_excerpt,
)
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import bind_placeholders, find_nodes, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from sqlrank.registry.roles import ColumnSpec


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
        mapping: Mapping[str, Any] | None,
        texts: Iterable[str | None],
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
            # A quote within quotes is written twice.
            tuple(text.lower().replace('""', '"') for text in expressions),
            any("*" in text for text in expressions),
        )

    def declare_texts(self, names: Iterable[str]) -> DeclaredColumns:
        """Return the same, with columns that are read as they are written."""
        return replace(self, kinds={**self.kinds, **{name.lower(): "text" for name in names}})

    def find_kind(self, name: str) -> str | None:
        """Return the kind of a column, ``any`` if further texts name it, and None if nothing reads
        it.
        """
        kind = self.kinds.get(name.lower())
        if kind in {"key", "list", "text"}:
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


@dataclass(frozen=True)
class ColumnProblem:
    """The reason that a column cannot be read, and True if it can be as a key, whose values are
    then compared as texts.
    """

    text: str
    allows_keys: bool = False


def reads_text(node: exp.Expr) -> bool:
    """Return True if an item of FROM is TREC, CSV or JSON text, parsed at each scan."""
    return any(
        isinstance(call, exp.ReadCSV) or call.name.upper() == JSON_READER
        for call in find_nodes(node, exp.ReadCSV, exp.Anonymous)
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
        declared_orders: Texts of columns of ordered categories, in order.
        types: Its columns with their types, empty if they cannot be inspected.
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
    declared_orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    types: Mapping[str, str] = field(init=False)
    columns: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Index the columns by lower-case name."""
        types = self.column_types or {}
        object.__setattr__(self, "types", types)
        object.__setattr__(self, "columns", {name.lower(): name for name in reversed([*types])})

    def find_order(self, name: str) -> Sequence[str]:
        """Return the texts of a column in the order that its type declares, or that of a member of
        the union; empty if none does.
        """
        if self.types.get(name, "").startswith("ENUM("):
            return [
                value.name for value in exp.DataType.build(self.types[name], "duckdb").expressions
            ]
        orders = [member.find_order(name) for member in self.members]
        if self.from_item.find(exp.ReadParquet) and not isinstance(self.from_item, exp.Subquery):
            orders.append(_read_parquet_order(_first_file(self.from_item), name))
        return self.declared_orders.get(name, ()) or max(orders, key=len, default=())

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

    def with_all_columns(self) -> SourceTable:
        """Return the source with every column, of which those of integers and texts are texts.

        Raises:
            InputError: A column has no common type or no name, or some members lack it.
        """
        if "" in self.types:
            raise InputError(
                f"{self.label} has a column whose name is empty. Rename it, or leave it out"
            )
        self.require_readable(
            name for name, problem in self.problems.items() if not problem.allows_keys
        )
        table = replace(self, problems={})
        return replace(table, from_item=table.from_clause()) if self.problems else table

    def require_readable(self, names: Iterable[str]) -> None:
        """Raise ``InputError`` for the first of these columns that has a problem."""
        for name in names if self.problems else ():
            if (problem := self.problems.get(name)) is not None:
                raise InputError(problem.text)

    def explain_folders(self, name: str) -> str:
        """Return the reason that a name of folders, such as ``day=1``, is no column, and a next
        step; an empty text for other names.
        """
        files = list_files_read(self.display_from_item)
        folders = [
            [part.lower().split("=") for part in file.parent.parts if "=" in part] for file in files
        ]
        keys = [[key for key, *_ in parts] for parts in folders]
        named = next((names for names in keys if name.lower() in names), None)
        odd = next(
            (
                file
                for file, names, parts in zip(files, keys, folders, strict=True)
                if names != named or any(len(part) > len(("key", "value")) for part in parts)
            ),
            None,
        )
        if named is None or odd is None:
            return ""
        return (
            f"Folders {name}=... are a column if those of all files have the same names, and one"
            f" '=' each, unlike {odd}. Rename them, or give a query"
        )

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
                    expression if is_same else expression.as_(identifier.copy()), copy=False
                )
        for name, value in constants.items():
            query.select(sql_literal(value).as_(exp.to_identifier(name, quoted=True)), copy=False)
        return query if query.selects else query.select("1 AS one")

    @property
    def display_from_item(self) -> exp.Expr:
        """The FROM item in the user's notation."""
        return self.from_item if self.display_item is None else self.display_item


_NUMBERED = re.compile(r"_\d+$")
_FOLDER_KEY = re.compile(r"(?:^|/)([^/=]+)=[^/]*(?=/)")
"""Pattern of a folder whose name is a column with its value, such as ``day=2026-07-01``."""


def read_folder_keys(file: str, types: Mapping[str, str]) -> list[exp.Expr]:
    """Return the argument of a reader with the types of columns that are names of folders, which it
    would guess from some of the files.
    """
    keys = [key for key in _FOLDER_KEY.findall(file) if key in types]
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(key), expression=exp.Var(this=types[key]))
        for key in keys
    ]
    return [exp.column("hive_types").eq(exp.Struct(expressions=fields))] if fields else []


def read_arrow_files(role: str, files: Sequence[Path]) -> list[tuple[Path, pa.Table]]:
    """Return the tables of Arrow and Feather files, one for each schema, with the first file of it.

    Raises:
        InputError: A file is damaged.
    """
    from pyarrow import feather, ipc  # few calls read such files

    groups: list[tuple[Path, list[pa.Table]]] = []
    for file in files:
        try:
            with pa.memory_map(str(file)) as source:
                is_stream = source.read(4) == b"\xff\xff\xff\xff"
                source.seek(0)
                table = (
                    ipc.open_stream(source).read_all() if is_stream else feather.read_table(source)
                )
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{role}: cannot read {str(file)!r}: {error}. Write it again if it is damaged"
            ) from None
        table = table.replace_schema_metadata(None)
        tables = next(
            (tables for _, tables in groups if tables[0].schema.equals(table.schema)), None
        )
        if tables is None:
            groups.append((file, [table]))
        else:
            tables.append(table)
    return [(first, pa.concat_tables(tables)) for first, tables in groups]


def find_problems(
    connection: duckdb.DuckDBPyConnection,
    role: str,
    label: str,
    node: exp.Expr,
    types: Mapping[str, str],
    own_names: Iterable[str] | None,
) -> dict[str, ColumnProblem]:
    """Return the columns of a source whose names it has twice, compared without case as engines do;
    DuckDB numbers those of one name.

    Args:
        connection: The connection.
        role: The role, for messages.
        label: Label of the source in messages.
        node: The item of FROM that reads it.
        types: Its columns, under the names that DuckDB gives them.
        own_names: The names that the source has, None to look for them.
    """
    path = "" if isinstance(node, exp.Subquery) else _first_file(node)
    problems = {}
    lowered = {name.lower(): name for name in types}
    if any((base := _NUMBERED.sub("", name)) != name and base in lowered for name in lowered):
        counts = Counter(
            name.lower()
            for name in (_own_names(connection, node, path) if own_names is None else own_names)
        )
        for name in types:
            if any(
                counts[candidate] > 1
                for candidate in (name.lower(), _NUMBERED.sub("", name.lower()))
            ):
                base = name if counts[name.lower()] > 1 else _NUMBERED.sub("", name)
                problems[name] = ColumnProblem(
                    f"{role}: {label} has two columns that are named"
                    f" {quote_excerpt(base, is_name=True)}, in any case. Rename one of them, or"
                    " leave it out"
                )
    if keys := {key.lower() for key in _FOLDER_KEY.findall(path)} & lowered.keys():
        in_files = _ignore_folders(node)
        names = describe_columns(connection, exp.select("*").from_(in_files).sql("duckdb"))
        if Path(label).is_dir():
            pattern = sql_literal(f"{glob.escape(label)}/**/*{Path(path).suffix}")
            next(in_files.find_all(exp.Array, exp.Literal)).replace(pattern)
        for key in keys & {name.lower() for name in names}:
            problems[lowered[key]] = ColumnProblem(
                f"{role}: {lowered[key]} is a column of the files and of their folders ({key}=...)."
                " Rename one of them. For that of the files give the query SELECT * FROM"
                f" {in_files.sql('duckdb')}"
            )
    return problems


def _ignore_folders(node: exp.Expr) -> exp.Expr:
    """Return a reader of files that takes no names of folders for columns."""
    plain = node.copy()
    # without the types of folders
    options = [option for option in plain.this.expressions if option.find(exp.Struct) is None]
    ignored = exp.column("hive_partitioning").eq(exp.false())
    plain.this.set("expressions", [*options, ignored])
    return plain


def list_files_read(item: exp.Expr) -> list[Path]:
    """Return every file that the texts of an item of FROM name."""
    texts = (literal.name for literal in item.find_all(exp.Literal) if literal.is_string)
    return [file for text in texts for file in list_paths(text)]


def _first_file(node: exp.Expr) -> str:
    """Return the first file that an item of FROM reads, empty if it reads none."""
    paths = [literal.name for literal in node.find_all(exp.Literal)][:1]
    return next((str(file) for name in paths for file in list_paths(name)), "")


def _read_parquet_order(path: str, name: str) -> list[str]:
    """Return the texts of a column of ordered categories in the order of its dictionary in a
    Parquet file, empty for other columns; DuckDB reads them as texts.
    """
    from pyarrow import parquet  # few notes need it

    with suppress(OSError, pa.ArrowException), parquet.ParquetFile(path) as file:
        if name not in file.schema_arrow.names or not file.num_row_groups:
            return []
        index = file.schema_arrow.get_field_index(name)
        column_type = file.schema_arrow.field(index).type
        if pa.types.is_dictionary(column_type) and column_type.ordered:
            group = file.metadata.row_group(0)
            paths = [group.column(place).path_in_schema for place in range(group.num_columns)]
            if group.column(paths.index(name)).has_dictionary_page:  # else of first occurrence
                column = file.read_row_group(0, columns=[name]).column(0)
                return [*map(str, column.chunk(0).dictionary.to_pylist())]
    return []


def _own_names(connection: duckdb.DuckDBPyConnection, node: exp.Expr, path: str) -> list[str]:
    """Return the names of columns as a source has them, before DuckDB numbers those of one name."""
    if isinstance(node, exp.Subquery):
        return list(describe_columns(connection, node.this.sql("duckdb")))
    if node.find(exp.ReadParquet):
        from pyarrow import parquet  # few files need it

        return list(parquet.read_schema(path).names)
    is_json = any(call.name.upper() == JSON_READER for call in node.find_all(exp.Anonymous))
    if not is_json and not node.find(exp.ReadCSV):
        return []
    query = load_select("inputs/readers", "json_keys.sql" if is_json else "csv_header.sql")
    # Objects of every file have names of their own, and CSV files have them in one header.
    read = next(node.find_all(exp.Array, exp.Literal)) if is_json else path
    rows = fetch_tuples(connection, bind_placeholders(query, path=read).sql("duckdb"))
    return [str(name) for row in rows for name in row]


MAX_LABELS = 3
"""Maximum number of sources that a label lists."""


_INTEGERS = {
    "TINYINT": (1, 3),
    "SMALLINT": (2, 5),
    "INTEGER": (4, 10),
    "BIGINT": (8, 19),
    "HUGEINT": (16, 38),
    "UTINYINT": (1.5, 3),
    "USMALLINT": (2.5, 5),
    "UINTEGER": (4.5, 10),
    "UBIGINT": (8.5, 20),
    "UHUGEINT": (16.5, 39),
}
"""Integer types: a signed one holds the values of all smaller sizes, as an unsigned one does of
unsigned ones; and their digits.
"""


_INSTANTS = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
"""Days and times without a time zone, from coarse to fine."""


_ZONED_INSTANTS = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
ZONED_TYPES = (*_ZONED_INSTANTS, "TIME WITH TIME ZONE")
"""Types of times with a zone, whose day and hour the session decides; a frame of pandas has
nanoseconds.
"""


_KEYS = ("VARCHAR", "UUID", *_INTEGERS)


_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")


_MAX_DIGITS = 38


NULL_TYPE = '"NULL"'
"""Type of a column without values, which goes together with all others."""


def union_tables(role: str, tables: Sequence[SourceTable], label: str = "") -> SourceTable:
    """Return the union of tables, with casts to common types; a column that has none, or is missing
    in a table, is a problem if it is read.
    """
    first = tables[0]
    label = label or ", ".join(table.label for table in tables[:MAX_LABELS]) + (
        f" and {len(tables) - MAX_LABELS} more" if len(tables) > MAX_LABELS else ""
    )
    table = replace(
        first,
        label=label,
        column_types=None,
        display_item=None,
        is_empty=all(member.is_empty for member in tables),
        has_row_count=all(member.has_row_count for member in tables),
        members=tuple(tables),
        constants={},
        casts={},
    )
    if first.column_types is None:
        return replace(table, from_item=table.from_clause())
    names = {
        name.lower(): name for member in reversed(tables) for name in reversed(list(member.types))
    }
    ordered = dict.fromkeys(names[name.lower()] for member in tables for name in member.types)
    types, problems = {}, {}
    for name in ordered:
        holders_of_name = [
            (member, column_name)
            for member in tables
            if (column_name := member.find_column(name)) is not None
        ]
        members = [(member, member.types[column_name]) for member, column_name in holders_of_name]
        own = next(
            (
                problem
                for member, column_name in holders_of_name
                if (problem := member.problems.get(column_name))
            ),
            None,
        )
        types[name], problem = _unify_column(role, name, members, tables)
        if problem := own or problem:
            problems[name] = problem
    casts = {
        name: column_type
        for name, column_type in types.items()
        if name not in problems or problems[name].allows_keys
    }
    table = replace(
        table,
        members=tuple(replace(member, casts=_needed_casts(member, casts)) for member in tables),
        column_types=types,
        problems=problems,
    )
    return replace(
        table,
        from_item=table.from_clause(),
        column_types=types | dict.fromkeys(first.constants, "VARCHAR"),
    )


def _needed_casts(member: SourceTable, types: dict[str, str]) -> dict[str, str]:
    """Return the types that differ from those of a member; decimals of other engines keep theirs,
    of which only DuckDB tells the digits.
    """
    own = {name: member.types.get(member.find_column(name) or "") for name in types}
    is_kept = member.dialect != "duckdb"
    return {
        name: target
        for name, target in types.items()
        if own[name] not in {target, None} and not (is_kept and "DECIMAL" in target)
    }


def _unify_column(
    role: str, name: str, members: Sequence[tuple[SourceTable, str]], tables: Sequence[SourceTable]
) -> tuple[str, ColumnProblem | None]:
    """Return the common type of a column, and the problem if there is none or some tables lack the
    column.
    """
    labels = {id(table): label for table, label in zip(tables, _label_tables(tables), strict=True)}
    holders = {duckdb_type: labels[id(member)] for member, duckdb_type in reversed(members)}
    missing = [
        labels[id(table)] for table in tables if not any(table is member for member, _ in members)
    ]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        text = (
            f"{role}: {missing[0]}{more} has no column {name!r}, which {labels[id(members[0][0])]}"
            " has. Add it, or give queries in which it is NULL or left out"
        )
        return members[0][1], ColumnProblem(text)
    if (common := common_type(holders)) is not None:
        return common, None
    is_key = all(duckdb_type.removesuffix("[]") in (*_KEYS, NULL_TYPE) for duckdb_type in holders)
    *others, last = (f"{duckdb_type} in {label}" for duckdb_type, label in holders.items())
    suffixes = {duckdb_type.endswith("[]") for duckdb_type in holders}
    # Ids with a point are whole numbers that a frame with missing values made doubles: as texts
    # they would match no others.
    kinds = {duckdb_type.removesuffix("[]") for duckdb_type in holders}
    role_columns = load_registry().roles[role].columns if role in load_registry().roles else {}
    column = role_columns.get(name)
    are_floats = (
        column is not None
        and column.type in {"key", "list"}
        and {"VARCHAR"} < kinds <= {*_KEYS, "FLOAT", "DOUBLE"}
    )
    target = "BIGINT" if are_floats and not is_key else "VARCHAR" if is_key else "..."
    target += "[]" if suffixes == {True} and target != "..." else ""
    if column is not None and column.is_number:
        target = "DOUBLE"
    elif holders.keys() <= {"BOOLEAN", *_INTEGERS}:
        target = "INTEGER"
    text = (
        f"{role}: {name} is {', '.join(others)} and {last}. Give it one type, such as by a query"
        f" with CAST({name} AS {target})"
    )
    key_type = "VARCHAR[]" if suffixes == {True} else "VARCHAR"
    return (key_type if is_key and len(suffixes) == 1 else next(iter(holders))), ColumnProblem(
        text, is_key and len(suffixes) == 1
    )


def common_type(duckdb_types: Iterable[str]) -> str | None:
    """Return the type that holds every value of these types as it is, None if there is none.

    >>> common_type(["BIGINT", "FLOAT"]), common_type(["DECIMAL(4,1)", "TINYINT"]), common_type(
    ...     ["INTEGER[]", "UINTEGER[]"]
    ... )
    ('DOUBLE', 'DECIMAL(4,1)', 'BIGINT[]')
    >>> common_type(["BIGINT", "VARCHAR"]), common_type(["BOOLEAN", "INTEGER"]), common_type(
    ...     ["DATE", "TIMESTAMP"]
    ... )
    (None, None, 'TIMESTAMP')
    """
    types = dict.fromkeys(
        duckdb_type for duckdb_type in duckdb_types if duckdb_type != NULL_TYPE
    ) or {NULL_TYPE: None}
    if len(types) == 1:
        return next(iter(types))
    if all(duckdb_type.endswith("[]") for duckdb_type in types):
        element = common_type([duckdb_type.removesuffix("[]") for duckdb_type in types])
        return None if element is None else f"{element}[]"
    for instants in (_INSTANTS, _ZONED_INSTANTS):
        if types.keys() <= set(instants):
            return max(types, key=instants.index)
    if all(duckdb_type == "VARCHAR" or duckdb_type.startswith("ENUM") for duckdb_type in types):
        return "VARCHAR"
    return _common_number(list(types))


def _common_number(types: Sequence[str]) -> str | None:
    """Return the common type of numbers: a whole number, a decimal or a double; None if one is no
    number.
    """
    decimals = [match for duckdb_type in types if (match := _DECIMAL.fullmatch(duckdb_type))]
    integers = [duckdb_type for duckdb_type in types if duckdb_type in _INTEGERS]
    floats = [duckdb_type for duckdb_type in types if duckdb_type in {"FLOAT", "DOUBLE"}]
    if len(decimals) + len(integers) + len(floats) < len(types):
        return None
    if not floats and not decimals:
        holds_all = (
            candidate
            for candidate, (size, _) in _INTEGERS.items()
            if all(
                other == candidate
                or (_INTEGERS[other][0] < size and (size % 1 == 0 or other[0] == "U"))
                for other in integers
            )
        )
        return next(holds_all, None)
    scale = max((int(match[2]) for match in decimals), default=0)
    digits = max(
        [int(match[1]) - int(match[2]) for match in decimals]
        + [_INTEGERS[duckdb_type][1] for duckdb_type in integers],
        default=0,
    )
    return (
        "DOUBLE" if floats or digits + scale > _MAX_DIGITS else f"DECIMAL({digits + scale},{scale})"
    )


def _label_tables(tables: Sequence[SourceTable]) -> list[str]:
    """Return the name of each table in messages, with its number where others have the same."""
    labels = [next(iter(table.constants.values()), table.label) for table in tables]
    counts = Counter(labels)
    return [
        f"{label} {number}" if counts[label] > 1 else label
        for number, label in enumerate(labels, start=1)
    ]
