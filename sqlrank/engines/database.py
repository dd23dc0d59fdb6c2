"""What a call works on: a database with a dialect, which finds sources, answers queries, or can only be named."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.deadline import check_time
from sqlrank.engines.names import column_named
from sqlrank.engines.render import write
from sqlrank.library.roles import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa


@dataclass(frozen=True)
class Table:
    """A source that was found: the item that stands in FROM, and its columns with their types, None if it cannot be looked at.

    ``shown`` is what messages call it, ``origin`` the item as the caller could write it, where that differs. ``is_text`` says that
    it was read from text, ``is_counted`` that the number of its rows stands somewhere, ``has_collations`` that texts are not ordered
    byte by byte unless asked to be. ``parts`` are the tables that are read below one another, if it is made of several, each with the
    name of its ``system`` if they are runs of several.
    """

    shown: str
    node: exp.Expr
    types: Mapping[str, str] | None
    dialect: str = "duckdb"
    origin: exp.Expr | None = None
    is_empty: bool = False
    is_counted: bool = True
    has_collations: bool = False
    parts: tuple[Table, ...] = ()
    system: str | None = None
    columns: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Look columns up without regard to case."""
        object.__setattr__(self, "columns", {name.lower(): name for name in reversed(list(self.types or ()))})

    def column(self, name: str) -> str | None:
        """Return the column of this name, exactly or but for case; one that cannot be looked up as the engine reads it."""
        if self.types is None:
            return column_named(name, self.dialect)
        return name if name in self.types else self.columns.get(name.lower())

    def item(self, read: Iterable[exp.Identifier] = (), shown: bool = False) -> exp.Expr:
        """Return what stands in FROM, as the caller could write it if ``shown``; of several parts the columns that are ``read``."""
        if not self.parts:
            return (self.written if shown else self.node).copy()
        return stacked([part.reading(read, shown) for part in self.parts])

    def reading(self, read: Iterable[exp.Identifier], shown: bool) -> exp.Select:
        """Return a SELECT of columns under the names by which they are ``read``, and of the name of the system."""
        query = exp.select().from_(self.item(shown=shown))
        named = exp.to_identifier(column_named(SYSTEM, self.dialect) if self.types is None else SYSTEM, quoted=True)
        for identifier in read:
            theirs = identifier.copy() if self.types is None else exp.Identifier(this=self.column(identifier.name), quoted=True)
            if self.system is None or identifier.name != named.name:
                same = theirs.name == identifier.name
                query.select(exp.column(theirs) if same else exp.alias_(exp.column(theirs), identifier.copy()), copy=False)
        if self.system is not None:
            query.select(exp.alias_(exp.Literal.string(self.system), named), copy=False)
        return query if query.selects else query.select("1 AS one")

    @property
    def written(self) -> exp.Expr:
        """The item as the caller could write it."""
        return self.node if self.origin is None else self.origin


def _in_time(ask: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(ask)
    def asked(*arguments: Any) -> Any:
        check_time()
        return ask(*arguments)

    return asked


@dataclass(frozen=True)
class Database:
    """A database that a call works on.

    ``find`` resolves a source that is given for a role. ``table`` returns the result of a text as an Arrow table, ``fetch`` as
    tuples, and ``types`` the columns of a query with their types under DuckDB's names, an empty one for a type that cannot be
    told. ``keeps`` says that it can be made to compute a step once for all that read it, ``looks`` that it answers at all. ``dense`` does
    what ``table`` does, for groups by whole numbers near each other, if it can be told to look these up by their place.
    """

    dialect: str
    find: Callable[[str, Any], Table]
    table: Callable[[str], pa.Table]
    fetch: Callable[[str], list[tuple[Any, ...]]]
    types: Callable[[exp.Query], dict[str, str]]
    keeps: bool = False
    looks: bool = True
    dense: Callable[[str], pa.Table] | None = None

    def __post_init__(self) -> None:
        """Ask before each statement whether there is time for it."""
        for name in ("find", "table", "fetch", "types", *(["dense"] if self.dense is not None else [])):
            object.__setattr__(self, name, _in_time(getattr(self, name)))

    def groups(self, text: str) -> pa.Table:
        """Return the result of a text that is grouped by few whole numbers, if it can be."""
        return self.table(text) if self.dense is None else self.dense(text)

    def text(self, query: exp.Expr) -> str:
        """Return a small query, or a condition, as text."""
        return write(query, self.dialect)

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return all rows of a small query."""
        return self.fetch(self.text(query))


def stacked(queries: Iterable[exp.Select]) -> exp.Subquery:
    """Return the rows of queries below one another, as an item of FROM."""
    first, *others = queries
    tree: exp.Query = first
    for query in others:
        tree = exp.union(tree, query, distinct=False, copy=False)
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("parts")))
