"""Render a tree or a statement as SQL text for a dialect, under its header comment, for the user
and for execution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import UnsupportedError, exp

from sqlrank._version import __version__
from sqlrank.errors import MetricError, escape_controls, join_words
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import format_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class StatementHeader:
    """The header comment of a statement, of which the lines that apply are written.

    Attributes:
        title: Its contents, such as ``nDCG, AP``.
        row: What a row of the result is, such as ``one row per system``.
        reads: Its inputs, such as ``eval.run (run)``.
        settings: The settings that decide its numbers and are not the defaults, such as
            ``ties=rank``.
        time_zone: The time zone by which it reads times, empty if it reads none that depend on it,
            or the zone is not known.
        plan: Its plan, with the alternatives.
        notes: Further lines.
        command: The command that prints it, None if there is none.
    """

    title: str
    row: str = ""
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    time_zone: str = ""
    plan: str = ""
    notes: tuple[str, ...] = ()
    command: str | None = None

    def keep_entries(self, is_kept: Callable[[str], bool]) -> StatementHeader:
        """Return the header without inputs, settings and a command that a condition excludes."""
        reads, settings = (tuple(filter(is_kept, texts)) for texts in (self.reads, self.settings))
        return replace(
            self,
            reads=reads,
            settings=settings,
            command=self.command if is_kept(self.command or "") else None,
        )

    def format_comments(self, dialect: str) -> str:
        """Return the header as comment lines."""
        lines = {
            f"sqlrank {__version__} for {get_dialect(dialect).label}": ", ".join(
                filter(None, (self.title, self.row))
            ),
            "reads": ", ".join(self.reads),
            "settings": ", ".join(
                [*self.settings, *([f"TimeZone={self.time_zone}"] if self.time_zone else [])]
            ),
            "plan": self.plan,
        }
        texts = [f"{name}: {text}" for name, text in lines.items() if text]
        texts += [*self.notes, *([] if self.command is None else [f"made by: {self.command}"])]
        return "".join(f"-- {escape_controls(' '.join(line.splitlines()))}\n" for line in texts)


def row_phrase(keys: list[str]) -> str:
    """Return the words for a row of a result.

    >>> row_phrase([]), row_phrase(["campaign", "day"])
    ('one row', 'one row per campaign and day')
    """
    return f"one row per {join_words(keys)}" if keys else "one row"


@dataclass(frozen=True)
class RenderedStatement:
    """The text of a statement.

    Attributes:
        text: The statement in the user's notation.
        executable: The statement over temporary tables.
    """

    text: str
    executable: str


def render_statement(
    tree: exp.Expr, header: StatementHeader, dialect: str = "duckdb", can_materialize: bool = False
) -> str:
    """Render a statement as text under its header comment.

    ``can_materialize``: the engine can materialize CTEs.

    Raises:
        MetricError: The dialect does not support a construct; the message names metrics, construct
            and dialect.
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

    Each pair of ``tables`` is a FROM item in the user's notation, and the temporary table that is
    read instead.
    """
    display, executable = _render_tree(
        tree, dialect, header.title, pretty=True, can_materialize=can_materialize, tables=tables
    )
    comment = header.format_comments(dialect)
    return RenderedStatement(comment + display, comment + executable)


def to_sql(
    tree: exp.Expr,
    dialect: str,
    statement_title: str = "this",
    pretty: bool = False,
    can_materialize: bool = False,
) -> str:
    """Render a tree as text.

    Raises:
        MetricError: The dialect does not support a construct; ``statement_title`` names its
            statement.
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
        return format_tree(rewritten, dialect, pretty, tables)
    except UnsupportedError as error:
        raise MetricError(f"{statement_title} cannot be written for {dialect}: {error}") from None
