"""Parse names of tables and columns, such as ``eval.runs`` or ``"my schema"."my table"``, and fold them to the engine's case."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.file_sources import names_files, reader_function
from sqlrank.errors import InputError, quote_excerpt
from sqlrank.rendering.dialects import get_dialect
from sqlrank.request import source_kind

_PART = r'[\w$-]+|"(?:[^"]|"")+"|`(?:[^`]|``)+`'
_BARE = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


QUOTES = ('"', "`")
"""First characters of quoted identifiers."""


def split_table_name(text: str) -> list[str] | None:
    """Split a table name into unquoted parts, None if it is not one.

    >>> split_table_name('"my schema".runs')
    ['my schema', 'runs']
    """
    if not _NAME.fullmatch(text):
        return None
    return [part if part[0] not in '"`' else part[1:-1].replace(part[0] * 2, part[0]) for part in re.findall(_PART, text)]


def split_path(text: str) -> list[list[str]]:
    """Split a search path into names, and each into its parts.

    >>> split_path('eval,"my ""db".main')
    [['eval'], ['my "db', 'main']]
    """
    return [split_table_name(match[0]) or [] for match in _NAME.finditer(text)]


def fold_column_name(text: str, dialect: str) -> str:
    """Return the column of a text: bare names folded to the engine's case, others unchanged.

    >>> fold_column_name("campaign", "snowflake"), fold_column_name('"campaign"', "snowflake"), fold_column_name("my column", "snowflake")
    ('CAMPAIGN', 'campaign', 'my column')
    """
    if _BARE.fullmatch(text):
        return get_dialect(dialect).fold_identifier(text)
    identifiers = split_table_name(text)
    return identifiers[0] if identifiers is not None and len(identifiers) == 1 else text


def require_table_name(role: str, source: Any, dialect: str) -> exp.Table:
    """Parse the name of a table that cannot be inspected.

    An unquoted name with the suffix of a data file is treated as a missing file.

    Raises:
        InputError: The source is not the name of a table.
    """
    if isinstance(source, exp.Table):
        return source.copy()
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: give the name of a table or a file, not a {source_kind(source)}")
    text = str(source)
    if split_table_name(text) is None:
        if names_files(text):
            raise InputError(
                f"{role}: {text!r} is a file, which only a statement for DuckDB reads. Make a table of it on {dialect}, and name that"
            )
        readable = f"nor a file that a statement for {dialect} can read here"
        raise InputError(
            f"{role}: {quote_excerpt(text, is_name=True)} is not the name of a table, {readable}. Put odd parts of a name in quotes"
        )
    table = parse_table_name(role, text, dialect)
    if reader_function(text):
        in_quotes = table.sql(get_dialect(dialect).sqlglot_name, identify=True)
        problem = f"{text!r} is a file, which only a statement for DuckDB reads" if names_files(text) else f"there is no file {text!r}"
        raise InputError(f"{role}: {problem}. If a table is meant, write {in_quotes}")
    return table


def parse_table_name(role: str, text: str, dialect: str) -> exp.Table:
    """Parse a table name such as ``project.dataset.table``, with SQL keywords quoted."""
    identifiers = split_table_name(text)
    if identifiers is None:
        raise InputError(f"{role}: {quote_excerpt(text, is_name=True)} is not the name of a table. Put odd parts of a name in quotes")
    writer = Dialect.get_or_raise(get_dialect(dialect).sqlglot_name)
    try:
        table = exp.to_table(text, dialect=writer)
    except SqlglotError:
        table = exp.Table()
    if ".".join(part.name for part in table.parts) != ".".join(identifiers):
        raise InputError(f"{role}: {text!r} has not the quotes of {dialect}")
    words = {word for keyword in writer.tokenizer_class.KEYWORDS for word in keyword.upper().split()}
    for part in table.find_all(exp.Identifier):
        if not part.quoted and part.name.upper() in words:
            part.replace(exp.to_identifier(fold_column_name(part.name, dialect), quoted=True))
    return table


def quote_columns(tree: exp.Expr, dialect: str) -> None:
    """Quote the columns of an expression in place, each folded to the engine's case."""
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.quoted:
            identifier.set("this", fold_column_name(identifier.name, dialect))
            identifier.set("quoted", True)  # noqa: FBT003  sqlglot's argument
