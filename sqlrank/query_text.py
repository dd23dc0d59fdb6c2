"""Hold queries of users as text inside sqlglot trees, which no pass and no dialect changes, and find the tables that a tree reads."""

from __future__ import annotations

from typing import Self

from sqlglot import exp

from sqlrank.sql_ast import find_nodes


class QueryText(str):
    """The text of a query of the user, which is written as it is: no pass rewrites it, and no dialect translates it.

    Attributes:
        tables: The parts of the names of the tables that it reads, in lower case.
        layout: The text with a NUL behind each line break that is not in a literal or a name. A statement replaces it by the indentation
            of the place where the query is written, which in a literal would change the value.
        comment: The comment above its step.
        is_selection: It is nothing but a choice of columns and rows of one table, which an engine reads as the table itself.
        has_arbitrary_rows: It takes some rows of several, of which no order says which, as by LIMIT without ORDER BY.
    """

    __slots__ = ("comment", "has_arbitrary_rows", "is_selection", "layout", "tables")

    tables: tuple[tuple[str, ...], ...]
    layout: str
    comment: str
    is_selection: bool
    has_arbitrary_rows: bool

    def __new__(
        cls,
        text: str,
        tables: tuple[tuple[str, ...], ...] = (),
        layout: str = "",
        comment: str = "",
        is_selection: bool = False,
        has_arbitrary_rows: bool = False,
    ) -> Self:
        """Return a text with the facts that statements use."""
        query = super().__new__(cls, text)
        query.tables, query.layout, query.comment = tables, layout or text, comment
        query.is_selection, query.has_arbitrary_rows = is_selection, has_arbitrary_rows
        return query


def query_text(node: exp.Expr | None) -> QueryText | None:
    """Return the text of a user's query in FROM, None for other nodes."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    return inner.this if isinstance(inner, exp.Var) and isinstance(inner.this, QueryText) else None


def unqualified_tables(tree: exp.Expr) -> set[str]:
    """Return the names of tables without a schema that a tree reads, in lower case, also in queries of the user."""
    nodes = find_nodes(tree, exp.Table, exp.Var)
    names = {node.name.lower() for node in nodes if isinstance(node, exp.Table) and not node.db}
    texts = [text for node in nodes if (text := query_text(node)) is not None]
    return names | {table[0] for text in texts for table in text.tables if len(table) == 1}
