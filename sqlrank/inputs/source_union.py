"""Resolve a source, or several of one input as a union, in which each run has the name of its system in a column."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.declared_columns import ALL_COLUMNS, DeclaredColumns
from sqlrank.engines.file_sources import names_files, reader_function
from sqlrank.engines.identifiers import split_table_name
from sqlrank.engines.table_union import union_tables
from sqlrank.errors import InputError
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.request import COMPRESSION_SUFFIXES, SourceGroup, TemporaryView, source_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import Database, SourceTable


def resolve_source(database: Database, role: str, source: Any, columns: DeclaredColumns = ALL_COLUMNS) -> SourceTable:
    """Resolve a source, of which these columns are read, or several as a union with a ``system`` column for runs.

    Raises:
        InputError: A source does not exist, has no rows or no name, or types do not match.
    """
    source = SourceGroup.wrap(role, source) if isinstance(source, list) else source
    if not isinstance(source, SourceGroup):
        return database.resolve_source(role, source, columns)
    union = _unite_members(database, role, source, columns)
    mixed = _find_mixed_columns(union, columns)
    if further := [name for name in mixed if columns.find_kind(name) == "any"]:
        union = _unite_members(database, role, source, columns.declare_texts(further))  # as one reader of all files reads them
    return union.with_texts(mixed)


def _unite_members(database: Database, role: str, source: SourceGroup, columns: DeclaredColumns) -> SourceTable:
    """Return the union of several sources, of which these columns are read."""
    tables = [_resolve_member(database, role, name, member, columns) for name, member in source.members]
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
    """Return the ids, and the columns that no role declares, whose types differ among text files."""
    if not all(member.is_text for table in union.members for member in table.members or (table,)):
        return []
    named = [name for name in union.problems if columns.find_kind(name) in {"any", "key"}]
    return [name for name in named if all(table.find_column(name) is not None for table in union.members)]


def _resolve_member(database: Database, role: str, name: str | None, member: Any, columns: DeclaredColumns) -> SourceTable:
    """Resolve one of several sources; a list that names no sources may be one of documents."""
    try:
        return resolve_source(database, role, member, columns)
    except InputError as error:
        if name is None or not isinstance(member, SourceGroup):
            raise
        raise InputError(f"{error}. If {name!r} is a query, and no system, give a list of documents for every query") from None


def _system_names(database: Database, role: str, source: SourceGroup, tables: Sequence[SourceTable]) -> list[str]:
    """Return system names: as given, or tag, stem or name of the file.

    The first of these that is unique is used.
    """
    candidates = [
        [name] if name else [tag for tag in (_read_tag(database, member, table),) if tag] + _list_stems(role, member)
        for (name, member), table in zip(source.members, tables, strict=True)
    ]
    while True:
        counts = Counter(names[0] for names in candidates)
        clashing = [names for names in candidates if counts[names[0]] > 1]
        if not clashing:
            return [names[0] for names in candidates]
        if all(len(names) == 1 for names in clashing):
            raise InputError(f"{role}: two systems are called {clashing[0][0]!r}. Give each a name: run={{'name': source}}")
        for names in clashing:
            del names[: len(names) > 1]


def _read_tag(database: Database, source: Any, table: SourceTable) -> str | None:
    """Return the tag of a TREC file, if all lines have the same."""
    if not database.can_inspect or "tag" not in (table.column_types or {}) or not names_files(source) or reader_function(source):
        return None
    tag = exp.column("tag")
    ((least, most),) = database.query_rows(exp.select(exp.Min(this=tag), exp.Max(this=tag.copy())).from_(table.from_clause()))
    return str(least) if least == most and least is not None else None


def _list_stems(role: str, source: Any) -> list[str]:
    """Return a file's stem and name, or the last part of a table's name."""
    if not isinstance(source, (str, Path)) or isinstance(source, TemporaryView):
        raise InputError(f"{role}: a {source_kind(source)} of several has no name. Give run={{'name': table}}")
    path = Path(source)
    if names_files(source):
        return [Path(path.stem).stem if path.suffix in COMPRESSION_SUFFIXES else path.stem, path.name]
    return [(split_table_name(str(source)) or [str(source)])[-1]]


def _check_system(database: Database, role: str, name: str, table: SourceTable) -> None:
    """Check that a system has rows and no ``system`` column of its own.

    A system without rows would be missing from the result without notice.
    """
    if table.find_column(SYSTEM_COLUMN) is not None and table.column_types is not None:
        raise InputError(
            f"{role}: {table.label} has a column {SYSTEM_COLUMN!r} of its own. Give it alone with by={SYSTEM_COLUMN!r}, or rename the column"
        )
    if table.is_empty or (database.can_inspect and not database.query_rows(exp.select("1 AS one").from_(table.from_clause([])).limit(1))):
        raise InputError(f"{role}: {table.label} has no rows, and {name!r} would be missing from the result")
