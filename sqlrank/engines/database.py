"""Define the database of a call, which resolves sources and runs queries, and the tables that sources resolve to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import exp

from sqlrank.deadline import check_deadline
from sqlrank.engines.identifiers import QUOTES, fold_column_name, require_table_name
from sqlrank.engines.shadowed_functions import refuse_shadowed
from sqlrank.errors import InputError
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.rendering.renderer import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa


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
        has_collations: Text is not compared byte by byte unless the statement demands it.
        members: Members of a union of tables.
        system: Name of the system of a run that is such a member.
        columns: Column names by their lower-case form.
    """

    label: str
    from_item: exp.Expr
    column_types: Mapping[str, str] | None
    dialect: str = "duckdb"
    display_item: exp.Expr | None = None
    is_empty: bool = False
    has_row_count: bool = True
    has_collations: bool = False
    members: tuple[SourceTable, ...] = ()
    system: str | None = None
    columns: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Index the columns by lower-case name."""
        object.__setattr__(self, "columns", {name.lower(): name for name in reversed(list(self.column_types or ()))})

    def column(self, name: str) -> str | None:
        """Return the column of a name, matched exactly or without case.

        Without inspection, the name is folded like an unquoted identifier of the engine.
        """
        if self.column_types is None:
            return fold_column_name(name, self.dialect)
        if name in self.column_types:
            return name
        unquoted = fold_column_name(name, self.dialect) if name[:1] in QUOTES else name
        return unquoted if unquoted in self.column_types else self.columns.get(unquoted.lower())

    def from_clause(self, read: Iterable[exp.Identifier] = (), for_display: bool = False) -> exp.Expr:
        """Return the FROM item; for a union of tables, a subquery with the columns ``read``.

        ``for_display`` selects the user's notation.
        """
        if not self.members:
            return (self.display_from_item if for_display else self.from_item).copy()
        return union_sources([member.select_columns(read, for_display) for member in self.members])

    def select_columns(self, read: Iterable[exp.Identifier], for_display: bool) -> exp.Select:
        """Return a SELECT of columns under the names ``read``, and of the system name."""
        query = exp.select().from_(self.from_clause(for_display=for_display))
        system_name = exp.to_identifier(
            fold_column_name(SYSTEM_COLUMN, self.dialect) if self.column_types is None else SYSTEM_COLUMN, quoted=True
        )
        for identifier in read:
            column_name = identifier.copy() if self.column_types is None else exp.Identifier(this=self.column(identifier.name), quoted=True)
            if self.system is None or identifier.name != system_name.name:
                is_same_name = column_name.name == identifier.name
                query.select(
                    exp.column(column_name) if is_same_name else exp.alias_(exp.column(column_name), identifier.copy()), copy=False
                )
        if self.system is not None:
            query.select(exp.alias_(exp.Literal.string(self.system), system_name), copy=False)
        return query if query.selects else query.select("1 AS one")

    @property
    def display_from_item(self) -> exp.Expr:
        """The FROM item in the user's notation."""
        return self.from_item if self.display_item is None else self.display_item


def _guard(query_method: Callable[..., Any], dialect: str, shadowed: Mapping[str, str]) -> Callable[..., Any]:
    """Wrap a query method with checks of the deadline and of shadowed functions."""

    @wraps(query_method)
    def guarded(*arguments: Any) -> Any:
        check_deadline()
        if shadowed and isinstance(arguments[0], str) and len(arguments) == 1:
            refuse_shadowed(arguments[0], dialect, shadowed)
        return query_method(*arguments)

    return guarded


@dataclass(frozen=True)
class Database:
    """A database session.

    Attributes:
        dialect: SQL dialect.
        resolve_source: Resolves the source of a role.
        fetch_arrow: Runs a query and returns an Arrow table.
        fetch_rows: Runs a query and returns tuples.
        describe: Returns the columns of a query with DuckDB's type names, empty for unknown types.
        can_materialize_ctes: A shared CTE can be forced to be computed once.
        can_inspect: The database can be inspected; False if only names are known.
        fetch_dense_groups: Like ``fetch_arrow``, with DuckDB's perfect hash table for dense integer group keys.
        shadowed: User-defined functions, by name, that would be called instead of built-in ones.
    """

    dialect: str
    resolve_source: Callable[[str, Any], SourceTable]
    fetch_arrow: Callable[[str], pa.Table]
    fetch_rows: Callable[[str], list[tuple[Any, ...]]]
    describe: Callable[[exp.Query], dict[str, str]]
    can_materialize_ctes: bool = False
    can_inspect: bool = True
    fetch_dense_groups: Callable[[str], pa.Table] | None = None
    shadowed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Wrap all query methods with checks of the deadline and of shadowed functions."""
        for name in (
            "resolve_source",
            "fetch_arrow",
            "fetch_rows",
            "describe",
            *(["fetch_dense_groups"] if self.fetch_dense_groups is not None else []),
        ):
            object.__setattr__(self, name, _guard(getattr(self, name), self.dialect, self.shadowed))

    def fetch_groups(self, text: str) -> pa.Table:
        """Run a query with dense integer group keys, with the perfect hash table if supported."""
        return self.fetch_arrow(text) if self.fetch_dense_groups is None else self.fetch_dense_groups(text)

    def render(self, query: exp.Expr) -> str:
        """Render a small query or condition as SQL text."""
        return to_sql(query, self.dialect)

    def query_rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Run a small query and return all rows."""
        return self.fetch_rows(self.render(query))


def union_sources(queries: Iterable[exp.Select]) -> exp.Subquery:
    """Combine queries by UNION ALL as an item of FROM."""
    first, *rest = queries
    tree: exp.Query = first
    for query in rest:
        tree = exp.union(tree, query, distinct=False, copy=False)
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("parts")))


def names_only_database(dialect: str, locate: Callable[[str, Any], exp.Expr] | None = None) -> Database:
    """Return a database that knows names only.

    ``locate`` returns the FROM item of a source that is not the name of a table.
    """

    def find(role: str, source: Any) -> SourceTable:
        node = require_table_name(role, source if locate is None else locate(role, source), dialect)
        return SourceTable(str(source), node, None, dialect)

    return Database(dialect, find, _cannot_inspect, _cannot_inspect, _cannot_inspect, can_inspect=False)


def _cannot_inspect(*_: Any) -> NoReturn:
    raise InputError("these tables are names only; give connection= to read them")
