"""Searches in sqlglot trees, texts of users' queries, markers of nodes; data types, quoted columns, NULL tests, literals, UNION ALL."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sqlglot import exp

from sqlrank.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlglot.expressions import Expr

    Node = TypeVar("Node", bound=Expr)

DOUBLE = exp.DataType.Type.DOUBLE
BIGINT = exp.DataType.Type.BIGINT
INT = exp.DataType.Type.INT

NEVER_NULL = "never_null"
"""Key of the metadata of equalities of columns that are never NULL."""


class LeadingComment(str):
    """A comment that is written above its column, never behind it."""

    __slots__ = ()


class QueryText(str):
    """The text of a query of the user, which is written as it is: no pass rewrites it, and no dialect translates it.

    Attributes:
        tables: The parts of the names of the tables that it reads, in lower case.
        layout: The text with a NUL behind each line break that may be followed by an indentation.
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


def source_names(tree: exp.Expr) -> set[str]:
    """Return the names and aliases of the CTEs and tables of a tree."""
    return {name for node in find_nodes(tree, exp.CTE, exp.Table) for name in (node.name, node.alias)}


def find_nodes(tree: exp.Expr, *node_types: type[Node]) -> list[Node]:
    """Return the nodes of some types in breadth-first order.

    It takes a sixth of the time of ``tree.find_all``: names and literals, which are half of the nodes, are passed over unless they are
    asked for. Callers may modify the nodes that they get without affecting the others.
    """
    skipped, leaf = _skipped_types(node_types)
    nodes: list[Any] = [tree]
    append = nodes.append
    for node in nodes:
        if type(node) is leaf:
            continue
        for value in node.args.values():
            kind = type(value)
            if kind in skipped:
                continue
            if kind is list:
                for child in value:
                    if type(child) not in skipped and isinstance(child, exp.Expr):
                        append(child)
            elif isinstance(value, exp.Expr):
                append(value)
    return [node for node in nodes if isinstance(node, node_types)]


@cache
def _skipped_types(node_types: tuple[type[exp.Expr], ...]) -> tuple[frozenset[type], type[exp.Expr] | None]:
    """Return types of values that a search for nodes does not visit, and the type of the nodes in which it does not search."""
    leaves = {leaf for leaf in (exp.Identifier, exp.Literal, exp.Boolean, exp.Null) if not issubclass(leaf, node_types)}
    has_leaf_columns = not any(issubclass(part, node_types) for part in (exp.Identifier, exp.Star))
    return frozenset({*leaves, str, bool, type(None)}), exp.Column if has_leaf_columns else None


def first_select(query: exp.Query) -> exp.Query:
    """Return the first SELECT of a query, to which its comment is attached."""
    while isinstance(query, exp.Union):
        query = query.left
    return query


def quoted_column(name: str, table: str | None = None) -> exp.Column:
    """Return a quoted column, whose name may contain any characters."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def is_null(value: Expr) -> exp.Is:
    """Return the condition that a value is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: Expr) -> exp.Not:
    """Return the condition that a value is not NULL."""
    return exp.Not(this=is_null(value))


def sql_literal(value: str | float | tuple[Any, ...] | None) -> exp.Expr:
    """Convert a value to a SQL literal, integers without a decimal point."""
    if isinstance(value, str):
        return exp.Literal.string(value)
    if value is None or isinstance(value, tuple):
        raise MetricError(f"a list of values is not possible here: {value!r}")
    number = int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
    literal = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def double_literal(number: float) -> exp.Cast:
    """Return a number as a SQL double."""
    return exp.cast(sql_literal(number), DOUBLE)


def union_all(branches: Iterable[exp.Select]) -> exp.Query:
    """Combine SELECTs by UNION ALL."""
    first, *others = branches
    union: exp.Query = first
    for branch in others:
        union = exp.union(union, branch, distinct=False, copy=False)
    return union
