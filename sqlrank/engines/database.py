"""What a call works on: a database with a dialect, which finds sources, answers queries, or can only be named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlrank.engines.names import column_named
from sqlrank.engines.render import write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from sqlglot import exp


@dataclass(frozen=True)
class Table:
    """A source that was found: the item that stands in FROM, and its columns with their types, None if it cannot be looked at.

    ``shown`` is what messages call it, ``origin`` the item as the caller could write it, where that differs. ``is_text`` says that
    it was read from text, ``is_counted`` that the number of its rows stands somewhere, ``has_collations`` that texts are not ordered
    byte by byte unless asked to be.
    """

    shown: str
    node: exp.Expr
    types: Mapping[str, str] | None
    dialect: str = "duckdb"
    origin: exp.Expr | None = None
    is_empty: bool = False
    is_counted: bool = True
    has_collations: bool = False
    columns: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Look columns up without regard to case."""
        object.__setattr__(self, "columns", {name.lower(): name for name in reversed(list(self.types or ()))})

    def column(self, name: str) -> str | None:
        """Return the column of this name, exactly or but for case; one that cannot be looked up as the engine reads it."""
        if self.types is None:
            return column_named(name, self.dialect)
        return name if name in self.types else self.columns.get(name.lower())

    @property
    def written(self) -> exp.Expr:
        """The item as the caller could write it."""
        return self.node if self.origin is None else self.origin


@dataclass(frozen=True)
class Database:
    """A database that a call works on.

    ``find`` resolves a source that is given for a role. ``table`` returns the result of a text as an Arrow table, ``fetch`` as
    tuples, and ``types`` the columns of a query with their types under DuckDB's names, an empty one for a type that cannot be
    told. ``keeps`` says that it can be made to compute a step once for all that read it, ``looks`` that it answers at all.
    """

    dialect: str
    find: Callable[[str, Any], Table]
    table: Callable[[str], pa.Table]
    fetch: Callable[[str], list[tuple[Any, ...]]]
    types: Callable[[exp.Query], dict[str, str]]
    keeps: bool = False
    looks: bool = True

    def text(self, query: exp.Expr) -> str:
        """Return a small query, or a condition, as text."""
        return write(query, self.dialect)

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return all rows of a small query."""
        return self.fetch(self.text(query))
