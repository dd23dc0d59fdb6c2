"""Render a statement as SQL text for a dialect, under a comment with its title and plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import UnsupportedError, exp

from sqlrank.errors import MetricError
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import make_generator

if TYPE_CHECKING:
    from collections.abc import Iterable


def render_statement(tree: exp.Expr, header: str, dialect: str = "duckdb", can_materialize: bool = False) -> str:
    """Render a statement as text under its header comment.

    ``can_materialize``: the engine can materialize CTEs.

    Raises:
        MetricError: The dialect does not support a construct; the message names metrics, construct and dialect.
    """
    return format_statement(rewrite_for_dialect(tree, dialect, _title(header), can_materialize), header, dialect)


def format_statement(tree: exp.Expr, header: str, dialect: str, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> str:
    """Format a statement that :func:`rewrite` returned, under its header comment.

    In each pair of ``instead``, the second expression is written in place of the first.
    """
    comment = "".join(f"-- {line}\n" for line in header.splitlines())
    return comment + _text(tree, dialect, _title(header), pretty=True, instead=instead)


def _title(header: str) -> str:
    return header.partition("\n")[0].partition(": ")[2]


def to_sql(tree: exp.Expr, dialect: str, statement_title: str = "this", pretty: bool = False, can_materialize: bool = False) -> str:
    """Render a tree as text.

    Raises:
        MetricError: The dialect does not support a construct; ``statement_title`` names its statement.
    """
    return _text(rewrite_for_dialect(tree, dialect, statement_title, can_materialize), dialect, statement_title, pretty)


def _text(tree: exp.Expr, dialect: str, statement_title: str, pretty: bool, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> str:
    try:
        text: str = make_generator(get_dialect(dialect).sqlglot_name, pretty, instead).generate(tree, copy=False)
    except UnsupportedError as error:
        raise MetricError(f"{statement_title} cannot be written for {dialect}: {error}") from None
    return text
