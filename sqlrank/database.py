"""What statements are run on: a dialect, and how a text in it becomes rows, wherever the data are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.render import write

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from sqlglot import exp


@dataclass(frozen=True)
class Database:
    """A database that a call works on.

    ``table`` returns the result of a text as an Arrow table, ``fetch`` as tuples, and ``types`` the columns of a query with
    their types under DuckDB's names, an empty one for a type that cannot be told. ``keeps`` says that it can be made to compute
    a step once for all that read it.
    """

    dialect: str
    table: Callable[[str], pa.Table]
    fetch: Callable[[str], list[tuple[Any, ...]]]
    types: Callable[[exp.Query], dict[str, str]]
    keeps: bool = False

    def text(self, query: exp.Query) -> str:
        """Return a small query as text."""
        return write(query, self.dialect)

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return all rows of a small query."""
        return self.fetch(self.text(query))
