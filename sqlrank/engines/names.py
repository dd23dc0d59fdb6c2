"""Names: of tables as SQL writes them, such as ``eval.runs`` or ``"my schema"."my table"``, and of columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.files import is_file, reader
from sqlrank.engines.harmless import refuse_others
from sqlrank.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PART = r'[\w$-]+|"(?:[^"]|"")+"|`(?:[^`]|``)+`'
_BARE = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


def parts_of(text: str) -> list[str] | None:
    """Return the parts of a table's name without their quotes, or None if the text is not such a name.

    >>> parts_of('"my schema".runs')
    ['my schema', 'runs']
    """
    if not _NAME.fullmatch(text):
        return None
    return [part if part[0] not in '"`' else part[1:-1].replace(part[0] * 2, part[0]) for part in re.findall(_PART, text)]


def column_named(text: str, dialect: str) -> str:
    """Return the column that a text names: a bare name in the case that the engine gives it, any other as it stands.

    >>> column_named("campaign", "snowflake"), column_named('"campaign"', "snowflake"), column_named("my column", "snowflake")
    ('CAMPAIGN', 'campaign', 'my column')
    """
    if _BARE.fullmatch(text):
        return dialect_of(dialect).fold(text)
    parts = parts_of(text)
    return parts[0] if parts is not None and len(parts) == 1 else text


def table_named(role: str, source: Any, dialect: str) -> exp.Table:
    """Return a table that cannot be looked at; raise ``InputError`` for what is not the name of one.

    A name that ends as files do is taken for a file that is not there, unless it is quoted.
    """
    if isinstance(source, exp.Table):
        return source.copy()
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: give the name of a table or a file, not a {type(source).__name__}")
    text = str(source)
    if parts_of(text) is None:
        readable = f"nor a file that a statement for {dialect} can read here"
        raise InputError(f"{role}: {quoted(text, is_name=True)} is not the name of a table, {readable}; put odd parts of a name in quotes")
    table = table_of(role, text, dialect)
    if reader(text):
        in_quotes = table.sql(dialect_of(dialect).writer, identify=True)
        there = f"{text!r} is a file, which only a statement for DuckDB reads" if is_file(text) else f"there is no file {text!r}"
        raise InputError(f"{role}: {there}; if a table is meant, write {in_quotes}")
    return table


def table_of(role: str, text: str, dialect: str) -> exp.Table:
    """Return the table of a name as SQL writes it, such as ``project.dataset.table``; words that SQL knows get quotes."""
    parts = parts_of(text)
    if parts is None:
        raise InputError(f"{role}: {quoted(text, is_name=True)} is not the name of a table; put odd parts of a name in quotes")
    writer = Dialect.get_or_raise(dialect_of(dialect).writer)
    try:
        table = exp.to_table(text, dialect=writer)
    except sqlglot.ParseError:
        table = exp.Table()
    if ".".join(part.name for part in table.parts) != ".".join(parts):
        raise InputError(f"{role}: {text!r} has not the quotes of {dialect}")
    words = {word for keyword in writer.tokenizer_class.KEYWORDS for word in keyword.upper().split()}
    for part in table.find_all(exp.Identifier):
        if not part.quoted and part.name.upper() in words:
            part.replace(exp.to_identifier(column_named(part.name, dialect), quoted=True))
    return table


def expression(text: str, dialect: str = "duckdb") -> exp.Expr:
    """Return the expression over columns that a text is, such as ``1 / propensity``; its columns are in quotes.

    It is read in the SQL of the engine, on which it runs as it stands: ``DATE(ts)``.

    Raises:
        InputError: it is none, or more than an expression over the columns of one row.
    """
    try:
        trees: list[Any] = sqlglot.parse(text, read=dialect_of(dialect).writer)
    except SqlglotError:
        trees = []
    tree = trees[0] if len(trees) == 1 else None
    refused = (
        exp.Alias,
        exp.Query,
        exp.Window,
        exp.AggFunc,
        exp.Placeholder,
        exp.Parameter,
        exp.Star,
        exp.Struct,
        exp.Map,
        exp.VarMap,
        exp.ToMap,
    )
    if not isinstance(tree, (exp.Condition, exp.Paren)) or tree.find(*refused):
        raise InputError(f"{text!r} is neither a column nor an expression over columns, such as 1 / propensity")
    for call in tree.find_all(exp.Func):
        if not isinstance(call, exp.Connector):
            refuse_others(exp.Tuple(expressions=[call.copy()]), repr(text))
    for node in tree.walk():
        node.pop_comments()
    quote_columns(tree, dialect)
    return exp.paren(tree) if isinstance(tree, exp.Binary) else tree


def quote_columns(tree: exp.Expr, dialect: str) -> None:
    """Put the columns of an expression in quotes, in place, each in the case that the engine gives its name."""
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.quoted:
            identifier.set("this", column_named(identifier.name, dialect))
            identifier.set("quoted", True)  # noqa: FBT003  sqlglot's argument


def internal_names(by: Sequence[str], taken: Iterable[str]) -> dict[str, str]:
    """Return the name of each ``by`` column inside the statement: its own, unless a step has a column of that name."""
    reserved = {name.lower() for name in taken}
    names = {name: name for name in by if name.lower() not in reserved}
    for name in by:
        free = (f"by_{name}{'_' * number}" for number in range(len(by) + 1))
        names.setdefault(name, next(candidate for candidate in free if candidate not in names.values() and candidate not in by))
    return names
