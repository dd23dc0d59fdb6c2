"""Where the data are: tables, files, relations and Arrow streams, resolved to FROM items with the columns they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlrank.compose import Source
from sqlrank.engine import rows
from sqlrank.errors import InputError, suggestion
from sqlrank.keys import named
from sqlrank.library import read_select
from sqlrank.names import READERS, is_file, parts_of, reader
from sqlrank.request import Labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

COLUMNS = {
    "run": ("query_id", "doc_id", "score", "rank"),
    "qrels": ("query_id", "doc_id", "relevance"),
    "queries": ("query_id", "weight"),
    "predictions": ("label", "score", "weight", "query_id", "doc_id", "rank"),
    "training": ("label", "query_id", "features", "row_id", "feature", "value"),
}
"""The columns of each input under their canonical names."""

MEASURES = {"run": "score", "qrels": "relevance"}
"""The column of an input that says something of a document, and so never what it is grouped by."""


@dataclass
class Input:
    """One input: the item that stands in FROM, its columns with their types, and what they are called here.

    ``names`` maps a canonical or ``by`` name to the column of the source; ``where`` keeps only some rows; ``origin`` is the
    item as the caller could write it, where that differs; ``computed`` are expressions that stand for columns, ``as_text`` the
    columns that are read as texts.
    """

    role: str
    shown: str
    node: exp.Expr
    types: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)
    by: list[str] = field(default_factory=list)
    where: exp.Expr | None = None
    is_labelled: bool = False
    computed: dict[str, exp.Expr] = field(default_factory=dict)
    is_empty: bool = False
    as_text: set[str] = field(default_factory=set)
    origin: exp.Expr | None = None

    def map(self, columns: Mapping[str, str], by: Iterable[str], internal: Mapping[str, str]) -> None:
        """Find the canonical and ``by`` columns among those of the source."""
        wanted = COLUMNS[self.role]
        for canonical in wanted:
            for candidate in (columns.get(canonical), canonical):
                if candidate is not None and (found := self.column(candidate)):
                    self.names.setdefault(canonical, found)
        label = columns.get("label") or columns.get("relevance") or "label"
        if self.is_labelled and (found := self.column(label) or self.names.get("relevance")):
            self.names["relevance"] = found
            self.keep(exp.Not(this=exp.Is(this=named(found), expression=exp.Null())))
        for name in by:
            found = self.column(columns.get(name, name))
            if found and found != self.names.get(MEASURES.get(self.role, "")):
                self.names[internal[name]] = found
                self.by.append(internal[name])

    def keep(self, condition: exp.Expr) -> None:
        """Read only the rows that fulfil a condition, too."""
        self.where = condition if self.where is None else exp.and_(self.where, condition)

    def column(self, name: str) -> str | None:
        """Return the column of this name, exactly or but for case."""
        if name in self.types:
            return name
        return next((column for column in self.types if column.lower() == name.lower()), None)

    def type_of(self, canonical: str) -> str:
        """Return the DuckDB type that a canonical column is read in, or an empty string if it is not there."""
        if canonical in self.as_text:
            return "VARCHAR"
        return self.types.get(self.names.get(canonical, ""), "")

    def missing(self, needed: Iterable[str]) -> list[str]:
        """Return a problem for each needed column that is not there."""
        problems = []
        for canonical in needed:
            if canonical not in self.names:
                hint = suggestion(canonical, self.types)
                there = ", ".join(self.types)
                problems.append(
                    f"{self.role} ({self.shown}): no column {canonical!r}{hint} "
                    f"Say which it is with columns={{{canonical!r}: ...}} (--column {canonical}=...); there are: {there}"
                )
        return problems

    def select(self, needed: Iterable[str], float32: bool = False, shown: bool = False) -> exp.Select:
        """Return a SELECT of the needed columns under their canonical names; an optional one that is missing is NULL.

        ``shown`` gives the query for the caller's eyes, which does not name what is registered for this call only.
        """
        items = [exp.alias_(self._value(name, float32), exp.to_identifier(name, quoted=name in self.by)) for name in [*self.by, *needed]]
        query = exp.select(*items).from_((self.origin if shown and self.origin is not None else self.node).copy())
        return query.where(self.where.copy()) if self.where is not None else query

    def source(self, needed: Iterable[str], float32: bool = False) -> Source:
        """Return this input as the statement reads it."""
        return Source(self.select(needed, float32).subquery(), self.by)

    def _value(self, name: str, float32: bool) -> exp.Expr:
        if name not in self.names:
            return exp.cast(exp.Literal.number(1) if name == "weight" else exp.Null(), "DOUBLE")
        theirs = self.names[name]
        column = self.computed[theirs].copy() if theirs in self.computed else named(theirs)
        if self.type_of(name) == "BOOLEAN":
            return exp.cast(column, "INT")
        if name in self.as_text or self.type_of(name).startswith("ENUM"):
            return exp.cast(column, "VARCHAR")
        if self.type_of(name).startswith("DECIMAL"):
            return exp.cast(column, "DOUBLE")
        return _single(column) if float32 and name == "score" else column


class Inputs:
    """The inputs of one call on one connection; what it registers there is removed on ``close``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.found: dict[str, Input] = {}
        self.internal: dict[str, str] = {}
        self._views: list[str] = []
        self._tables: list[str] = []

    def add(self, role: str, source: Any) -> None:
        """Resolve a source: a table or view name, a file, a relation, or anything with the Arrow stream protocol."""
        if isinstance(source, Labelled):
            self.add(role, source.source)
            self.found[role].is_labelled = True
            return
        if isinstance(source, (str, Path)):
            node, shown = self._named(role, source)
        elif isinstance(source, duckdb.DuckDBPyRelation):
            node, shown = self._relation(source), "DuckDB relation"
        elif hasattr(source, "__arrow_c_stream__"):
            node, shown = self._register(pa.table(source)), type(source).__name__
        else:
            lazily = "collect it into a table first, or " if hasattr(source, "collect") else ""
            raise InputError(
                f"{role}: cannot read a {type(source).__name__}; {lazily}give a table name, a file, a DuckDB relation, "
                "or a table that speaks the Arrow stream protocol (pyarrow, Polars, pandas 2.2 or later)"
            )
        item = Input(role, shown, node, self._types(role, shown, node))
        if isinstance(node, exp.Table) and node.name in self._views:
            item.origin = exp.to_table(role)
        self.found[role] = item

    def materialize(self, role: str) -> None:
        """Read a text input once into a temporary table, since a statement reads it several times."""
        item = self.found[role]
        name = f"sqlrank_{role}_{uuid4().hex[:8]}"
        try:
            made = rows(self.connection, f"CREATE TEMP TABLE {name} AS {exp.select('*').from_(item.node.copy()).sql('duckdb')}")
        except (duckdb.InvalidInputException, duckdb.IOException, duckdb.ConversionException) as error:
            raise InputError(f"{role}: cannot read {item.shown}: {str(error).splitlines()[0]}") from None
        self._tables.append(name)
        item.is_empty = made == [(0,)]
        item.origin, item.node = item.node, exp.to_table(name)

    def close(self) -> None:
        """Remove what was registered."""
        for name in self._views:
            self.connection.unregister(name)
        for name in self._tables:
            self.connection.execute(f"DROP TABLE IF EXISTS {name}")
        self._views, self._tables = [], []

    def _named(self, role: str, source: str | Path) -> tuple[exp.Expr, str]:
        text = str(source)
        if isinstance(source, str) and (table := self._table(text)):
            return table, text
        if is_file(text):
            return _file(role, text), text
        tables = [name for *_, name in self._tables_there() if name not in {*self._views, *self._tables}]
        hint = suggestion(text, tables)
        there = f" The database has: {', '.join(sorted(tables))}" if tables else ""
        raise InputError(f"{role}: there is no table and no file named {text!r}{hint}{there}")

    def _table(self, text: str) -> exp.Table | None:
        there = self._tables_there()
        near = self._search_path()
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
        """Return (database, schema, name) of every table and view, those in reach of a bare name first."""
        there = rows(
            self.connection,
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal",
        )
        near = self._search_path()
        return sorted(there, key=lambda row: ((row[0], row[1]) not in near, row))

    def _register(self, table: pa.Table) -> exp.Table:
        name = f"sqlrank_arrow_{uuid4().hex[:8]}"
        self.connection.register(name, table)
        self._views.append(name)
        return exp.to_table(name)

    def _relation(self, relation: duckdb.DuckDBPyRelation) -> exp.Expr:
        """Return a relation of this connection as a subquery, so that it is not read into memory; else its rows."""
        mark = uuid4().hex
        self.connection.execute(f"SET VARIABLE sqlrank_mark = '{mark}'")
        try:
            is_here = _value_there(relation) == mark
        finally:
            self.connection.execute("RESET VARIABLE sqlrank_mark")
        if not is_here:
            return self._register(relation.to_arrow_table())
        try:
            node = exp.Subquery(
                this=sqlglot.parse_one(relation.sql_query(), read="duckdb"), alias=exp.TableAlias(this=exp.to_identifier("relation"))
            )
            rows(self.connection, f"DESCRIBE {exp.select('*').from_(node.copy()).sql('duckdb')}")
        except (duckdb.Error, sqlglot.ParseError):
            return self._register(relation.to_arrow_table())
        return node

    def _types(self, role: str, shown: str, node: exp.Expr) -> dict[str, str]:
        query = exp.select("*").from_(node.copy()).sql("duckdb")
        try:
            described = rows(self.connection, f"DESCRIBE {query}")
        except duckdb.Error as error:
            raise InputError(f"{role}: cannot read {shown}: {str(error).splitlines()[0]}") from None
        return {row[0]: row[1] for row in described}


def _single(score: exp.Expr) -> exp.Expr:
    """Return a score in single precision, where what is too large is infinite."""
    limits = [exp.cast(exp.Literal.string(text), "FLOAT") for text in ("inf", "-inf")]
    positive = exp.GT(this=score.copy(), expression=exp.Literal.number(0))
    beyond = exp.Case(ifs=[exp.If(this=positive, true=limits[0])], default=limits[1])
    return exp.func("COALESCE", exp.TryCast(this=score, to=exp.DataType.build("FLOAT")), beyond)


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
    """Return the FROM item that reads a file: by its ending, or as TREC text if it has no ending that is known."""
    if read := reader(text):
        return exp.Table(this=exp.func(read, exp.Literal.string(text), dialect="duckdb"))
    if role not in {"run", "qrels"}:
        raise InputError(f"{role}: {text!r} has no ending that says what it holds; use one of {', '.join(READERS)}")
    tree = exp.replace_placeholders(read_select("inputs", f"trec_{role}.sql"), path=text)
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("trec")))


def is_text(item: Input) -> bool:
    """Whether an input is text that is read and split anew at each look: TREC and CSV files."""
    return item.node.find(exp.ReadCSV) is not None
