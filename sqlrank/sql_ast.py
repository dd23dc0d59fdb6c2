"""Fast search for nodes in sqlglot trees, and constants of common data types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

if TYPE_CHECKING:
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


def find_nodes(tree: exp.Expr, *node_types: type[Node]) -> list[Node]:
    """Return the nodes of some types in breadth-first order.

    It takes a third of the time of ``tree.find_all``. Callers may modify the nodes that they get without affecting the others.
    """
    nodes: list[Any] = [tree]
    for node in nodes:
        for value in node.args.values():
            if type(value) is list:
                nodes += [child for child in value if isinstance(child, exp.Expr)]
            elif isinstance(value, exp.Expr):
                nodes.append(value)
    return [node for node in nodes if isinstance(node, node_types)]


def first_select(query: exp.Query) -> exp.Query:
    """Return the first SELECT of a query, to which its comment is attached."""
    while isinstance(query, exp.Union):
        query = query.left
    return query
