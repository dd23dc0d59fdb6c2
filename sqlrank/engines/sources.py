"""Where the data are for DuckDB: tables, files, relations and Arrow streams, resolved to FROM items with the columns they have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import sqlglot
from sqlglot import exp

from sqlrank.engines import trec
from sqlrank.engines.database import Database, Table
from sqlrank.engines.dense import dense
from sqlrank.engines.duckdb import describe, rows
from sqlrank.engines.files import READERS, ending, extension_of, is_file, paths, patterns, reader
from sqlrank.engines.marks import Mark
from sqlrank.engines.memory import in_memory
from sqlrank.engines.names import parts_of
from sqlrank.engines.unread import of_one_column, uneven, unlike, why
from sqlrank.errors import InputError, quoted, suggestion
from sqlrank.library.selects import read_select

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa


class Catalog:
    """The sources of one call on a DuckDB connection; what it registers there is removed on ``close``.

    ``keeps_text`` says that text is read once into a temporary table, ``is_own`` that nobody else uses the connection.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, keeps_text: bool = True, is_own: bool = False) -> None:
        self.connection = connection
        self.keeps_text = keeps_text
        self._is_own = is_own
        self._mark = None if is_own else Mark()
        self._end = str(self._mark or "")
        self._views: list[str] = []
        self._tables: list[str] = []

    def find(self, role: str, source: Any) -> Table:
        """Resolve a source: a table or view name, a file, a relation, or anything with the Arrow stream protocol."""
        if isinstance(source, (str, Path)):
            node, shown = self._named(role, source)
        elif isinstance(source, duckdb.DuckDBPyRelation):
            node, shown = self._relation(role, source), "DuckDB relation"
        else:
            node, shown = self._register(role, in_memory(role, source)), type(source).__name__
        is_registered = isinstance(node, exp.Table) and node.name in self._views
        origin = exp.to_table(node.name.replace(f"sqlrank_arrow_{role}{self._end}", role)) if is_registered else None
        return Table(
            shown,
            node,
            self._types(role, shown, node),
            origin=origin,
            is_counted=not isinstance(node, exp.Subquery) and node.find(exp.ReadCSV) is None,
        )

    def read(self, role: str, source: Any) -> Table:
        """Resolve a source; text is read once into a temporary table, since a statement reads it several times."""
        item = self.find(role, source)
        if not _is_text(item):
            return item
        files = paths(source) if isinstance(source, (str, Path)) else []
        if problem := of_one_column(self.connection, files, item.types or {}):
            raise InputError(f"{role}: {problem}")
        if not self.keeps_text:
            return item
        name = self._free(f"sqlrank_{role}{self._end}")
        try:
            made = rows(self.connection, f"CREATE TEMP TABLE {name} AS {exp.select('*').from_(item.node.copy()).sql('duckdb')}")
        except (duckdb.InvalidInputException, duckdb.IOException, duckdb.ConversionException) as error:
            problem = (uneven(error) or unlike(self.connection, error)) if not files or reader(source) else trec.problem(role, files)
            raise InputError(f"{role}: {problem}" if problem else f"{role}: cannot read {item.shown}: {why(error)}") from None
        self._tables.append(name)
        return replace(item, origin=item.node, node=exp.to_table(name), is_empty=made == [(0,)])

    def close(self) -> None:
        """Remove what was registered."""
        for name in self._views:
            self.connection.unregister(name)
        for name in self._tables:
            self.connection.execute(f"DROP TABLE IF EXISTS {name}")
        self._views, self._tables = [], []
        if self._mark is not None:
            self._mark.release()

    def _free(self, name: str) -> str:
        """Return a name that nothing else of this call has."""
        made = len([there for there in (*self._views, *self._tables) if there.startswith(name)])
        return f"{name}_{made + 1}" if made else name

    def _named(self, role: str, source: str | Path) -> tuple[exp.Expr, str]:
        text = str(source)
        if isinstance(source, str) and (table := self._table(text)):
            return table, text
        if problem := _unreadable(text):
            raise InputError(f"{role}: {text!r} {problem}")
        if needed := extension_of(text):
            raise InputError(
                f"{role}: {text!r} needs the extension {needed} of DuckDB, and sqlrank loads none; load it on a connection of your own "
                f"(INSTALL {needed}; LOAD {needed}), make a view or a relation there, and give that with connection="
            )
        if is_file(text):
            return _file(role, text), text
        tables = [name for *_, name in self._tables_there() if name not in {*self._views, *self._tables}]
        hint = suggestion(text, tables)
        there = f" The database has: {', '.join(sorted(tables))}" if tables else ""
        raise InputError(f"{role}: there is no table and no file named {quoted(text, is_name=True)}{hint}{there}")

    def _table(self, text: str) -> exp.Table | None:
        there = self._tables_there()
        near = self._search_path() if there else set()
        spelled = parts_of(text) if '"' in text else None
        for matches in (str.__eq__, _same_but_for_case):
            for database, schema, name in there:
                if _is_called((name,), text, spelled, matches) and (database, schema) in near:
                    return _quoted(name)
                full = ((schema, name), (database, name), (database, schema, name))
                if any(_is_called(parts, text, spelled, matches) for parts in full):
                    return _quoted(name, schema, database)
            far = [(name, schema, database) for database, schema, name in there if _is_called((name,), text, spelled, matches)]
            if len(far) > 1:
                raise InputError(
                    f"several tables are named {text!r}: {', '.join('.'.join(reversed(parts)) for parts in far)}; write one in full"
                )
            if far:
                return _quoted(*far[0])
        return None

    def _search_path(self) -> set[tuple[str, str]]:
        return {rows(self.connection, "SELECT current_database(), current_schema()")[0], ("temp", "main")}

    def _tables_there(self) -> list[tuple[str, str, str]]:
        """Return (database, schema, name) of every table and view, those in reach of a bare name first; nobody made any that is ours."""
        if self._is_own:
            return []
        there = rows(
            self.connection,
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal",
        )
        near = self._search_path()
        return sorted(there, key=lambda row: ((row[0], row[1]) not in near, row))

    def _register(self, role: str, table: pa.Table) -> exp.Table:
        name = self._free(f"sqlrank_arrow_{role}{self._end}")
        self.connection.register(name, table)
        self._views.append(name)
        return exp.table_(name)

    def _relation(self, role: str, relation: duckdb.DuckDBPyRelation) -> exp.Expr:
        """Return a relation of this connection as a subquery, so that it is not read into memory; else its rows."""
        mark = uuid4().hex
        self.connection.execute(f"SET VARIABLE sqlrank_mark = '{mark}'")
        try:
            is_here = _value_there(relation) == mark
        finally:
            self.connection.execute("RESET VARIABLE sqlrank_mark")
        if not is_here:
            return self._register(role, relation.to_arrow_table())
        try:
            node = exp.Subquery(
                this=sqlglot.parse_one(relation.sql_query(), read="duckdb"), alias=exp.TableAlias(this=exp.to_identifier("relation"))
            )
            describe(self.connection, exp.select("*").from_(node.copy()).sql("duckdb"))
        except (duckdb.Error, sqlglot.ParseError):
            return self._register(role, relation.to_arrow_table())
        return node

    def _types(self, role: str, shown: str, node: exp.Expr) -> dict[str, str]:
        try:
            return describe(self.connection, exp.select("*").from_(node.copy()).sql("duckdb"))
        except duckdb.Error as error:
            raise InputError(f"{role}: cannot read {shown}: {why(error)}") from None


def _is_called(parts: Sequence[str], text: str, spelled: Sequence[str] | None, matches: Callable[[str, str], bool]) -> bool:
    """Whether a text names a table of these parts: as it stands, or part by part if it is quoted."""
    if matches(".".join(parts), text):
        return True
    return spelled is not None and len(parts) == len(spelled) and all(map(matches, parts, spelled))


def _same_but_for_case(left: str, right: str) -> bool:
    return left.lower() == right.lower()


def _quoted(name: str, schema: str | None = None, database: str | None = None) -> exp.Table:
    return exp.table_(name, schema, database, quoted=True)


def _value_there(relation: duckdb.DuckDBPyRelation) -> str | None:
    """Return the value of the mark on the connection of a relation."""
    result = relation.query("relation", "SELECT GETVARIABLE('sqlrank_mark')")
    return None if result is None else result.fetchall()[0][0]


def _file(role: str, text: str) -> exp.Expr:
    """Return the FROM item that reads files: by their ending, or as TREC text if they have no ending that is known."""
    found = patterns(text)
    endings = sorted({ending(each) for each in found})
    if len({reader(each) for each in found}) > 1:
        raise InputError(
            f"{role}: {text} holds files of several kinds ({', '.join(each or 'no ending' for each in endings)}); give a pattern of one"
        )
    literals = [exp.Literal.string(each) for each in found]
    path = literals[0] if len(found) == 1 else exp.Array(expressions=literals)
    if read := reader(found[0]):
        return exp.Table(this=exp.func(read, path, dialect="duckdb"))
    if role not in trec.KINDS:
        raise InputError(f"{role}: {quoted(text, is_name=True)} has no ending that says what it holds; use one of {', '.join(READERS)}")
    tree = exp.replace_placeholders(read_select("inputs", f"trec_{trec.KINDS[role]}.sql"), path=path)
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("trec")))


def _unreadable(text: str) -> str | None:
    """Say why what is at a path is no file to read, None if it is one, or not there."""
    path = Path(text)
    try:
        if text and path.is_dir() and not is_file(text):
            return f"is a folder without files; give a file, or a glob such as '{text}/*.parquet'"
        if text and path.exists() and not path.is_file() and not path.is_dir():
            return "is a pipe or a device, which can be read only once; write it to a file first"
        return "is empty; check what should have written it" if path.is_file() and path.stat().st_size == 0 else None
    except (OSError, ValueError):
        return None


def _is_text(item: Table) -> bool:
    """Whether an input is text that is read and split anew at each look: TREC and CSV files."""
    return item.node.find(exp.ReadCSV) is not None


def database_on(catalog: Catalog) -> Database:
    """Return the connection of a catalog as what a call works on."""
    return Database(
        "duckdb",
        find=catalog.read,
        table=lambda text: catalog.connection.sql(text).to_arrow_table(),
        fetch=lambda text: rows(catalog.connection, text),
        types=lambda query: describe(catalog.connection, query.sql("duckdb")),
        dense=lambda text: dense(catalog.connection, text),
    )
