"""Render a tree or a statement as SQL text for a dialect, under its header comment, for the user and for execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import UnsupportedError, exp

from sqlrank.errors import MetricError
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import format_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.rendering.header import StatementHeader


@dataclass(frozen=True)
class RenderedStatement:
    """The text of a statement.

    Attributes:
        text: The statement in the user's notation.
        executable: The statement over temporary tables.
    """

    text: str
    executable: str


def render_statement(tree: exp.Expr, header: StatementHeader, dialect: str = "duckdb", can_materialize: bool = False) -> str:
    """Render a statement as text under its header comment.

    ``can_materialize``: the engine can materialize CTEs.

    Raises:
        MetricError: The dialect does not support a construct; the message names metrics, construct and dialect.
    """
    return render_over_tables(tree, header, dialect, can_materialize).text


def render_over_tables(
    tree: exp.Expr,
    header: StatementHeader,
    dialect: str = "duckdb",
    can_materialize: bool = False,
    tables: Iterable[tuple[exp.Expr, exp.Expr]] = (),
) -> RenderedStatement:
    """Render a statement once, for the user and for execution.

    Each pair of ``tables`` is a FROM item in the user's notation, and the temporary table that is read instead.
    """
    display, executable = _render_tree(tree, dialect, header.title, pretty=True, can_materialize=can_materialize, tables=tables)
    comment = header.format_comments(dialect)
    return RenderedStatement(comment + display, comment + executable)


def to_sql(tree: exp.Expr, dialect: str, statement_title: str = "this", pretty: bool = False, can_materialize: bool = False) -> str:
    """Render a tree as text.

    Raises:
        MetricError: The dialect does not support a construct; ``statement_title`` names its statement.
    """
    return _render_tree(tree, dialect, statement_title, pretty, can_materialize)[0]


def _render_tree(
    tree: exp.Expr,
    dialect: str,
    statement_title: str,
    pretty: bool,
    can_materialize: bool,
    tables: Iterable[tuple[exp.Expr, exp.Expr]] = (),
) -> tuple[str, str]:
    rewritten = rewrite_for_dialect(tree, dialect, statement_title, can_materialize)
    try:
        return format_tree(rewritten, get_dialect(dialect).sqlglot_name, pretty, tables)
    except UnsupportedError as error:
        raise MetricError(f"{statement_title} cannot be written for {dialect}: {error}") from None
