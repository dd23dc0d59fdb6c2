"""Attach comments to columns, and drop those that repeat one of an earlier query, or of an earlier
column of the same query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def drop_comments_repeated_across_queries(queries: Iterable[Any]) -> None:
    """Drop the comments of columns that an earlier query has under the same name.

    >>> import sqlglot
    >>> texts = [
    ...     "SELECT a + 1 AS rank /* from 1 */ FROM t",
    ...     "SELECT rank /* from 1 */, b /* from 1 */ FROM u",
    ... ]
    >>> queries = [sqlglot.parse_one(text) for text in texts]
    >>> drop_comments_repeated_across_queries(queries)
    >>> print(queries[1].sql())
    SELECT rank, b /* from 1 */ FROM u
    """
    seen = set()
    for query in queries:
        for select in find_nodes(query, exp.Select):
            for column in select.expressions:
                if column.comments:
                    comment = (column.alias_or_name, *column.comments)
                    if comment in seen:
                        column.comments = None
                    seen.add(comment)


def comment_column(value: exp.Expr, name: str, comment: str) -> exp.Expr:
    """Return a column with a comment."""
    column: exp.Expr = exp.alias_(value, name)
    column.comments = [comment]
    return column


def drop_comments_repeated_in_query(select_items: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    """Drop the comments of columns that an earlier column of the same query has."""
    seen: set[str] = set()
    for item in select_items:
        if item.comments:
            item.comments = [comment for comment in item.comments if comment not in seen]
            seen |= set(item.comments)
    return select_items
