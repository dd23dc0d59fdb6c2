"""Names: of tables as SQL writes them, such as ``eval.runs`` or ``"my schema"."my table"``, of files and of columns."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.contract import ALLOWED
from sqlrank.dialects import dialect_of
from sqlrank.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

READERS = {
    ".parquet": "READ_PARQUET",
    ".csv": "READ_CSV",
    ".tsv": "READ_CSV",
    ".json": "READ_JSON",
    ".jsonl": "READ_JSON",
    ".ndjson": "READ_JSON",
}
"""The function that reads a file, by its ending."""

_COMPRESSIONS = (".gz", ".zst")
_PART = r'[\w$-]+|"(?:[^"]|"")+"|`[^`]+`'
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


def is_file(source: Any) -> bool:
    """Whether a source is the path of a file, or a glob that matches one."""
    if not isinstance(source, (str, Path)):
        return False
    try:
        return Path(source).is_file() or bool(glob.glob(str(source), recursive=True))  # noqa: PTH207  a glob may be absolute
    except OSError:  # such as a text that is too long for a path
        return False


def reader(text: str) -> str | None:
    """Return the function that reads a file of this name, or None if it has no ending that is known."""
    path = Path(text)
    suffix = Path(path.stem).suffix if path.suffix in _COMPRESSIONS else path.suffix
    return READERS.get(suffix.lower())


def parts_of(text: str) -> list[str] | None:
    """Return the parts of a table's name without their quotes, or None if the text is not such a name.

    >>> parts_of('"my schema".runs')
    ['my schema', 'runs']
    """
    if not _NAME.fullmatch(text):
        return None
    return [part if part[0] not in '"`' else part[1:-1].replace('""', '"') for part in re.findall(_PART, text)]


def table_named(role: str, source: Any, dialect: str) -> exp.Table:
    """Return a table that cannot be looked at; raise ``InputError`` for what is not the name of one.

    A name that ends as files do is taken for a file that is not there, unless it is quoted.
    """
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: give the name of a table or a file, not a {type(source).__name__}")
    text = str(source)
    parts = parts_of(text)
    if parts is None:
        readable = f"nor a file that a statement for {dialect} can read here"
        raise InputError(f"{role}: {text!r} is not the name of a table, {readable}; put odd parts of a name in quotes")
    table = exp.to_table(text, dialect=dialect_of(dialect).writer)
    if ".".join(part.name for part in table.parts) != ".".join(parts):
        raise InputError(f"{role}: {text!r} has not the quotes of {dialect}")
    if reader(text):
        quoted = table.sql(dialect=dialect_of(dialect).writer, identify=True)
        there = f"{text!r} is a file, which only a statement for DuckDB reads" if is_file(text) else f"there is no file {text!r}"
        raise InputError(f"{role}: {there}; if a table is meant, write {quoted}")
    return table


def expression(text: str) -> exp.Expr:
    """Return the expression over columns that a text is, such as ``1 / propensity``.

    Raises:
        InputError: it is none, or it is one that does not mean the same on every engine.
    """
    try:
        tree: Any = sqlglot.parse_one(text, read="duckdb")
    except sqlglot.ParseError:
        tree = None
    refused = (exp.Query, exp.Window, exp.AggFunc, exp.Placeholder, exp.Star, exp.Alias)
    if tree is None or any(not isinstance(node, ALLOWED) or isinstance(node, refused) for node in tree.walk()):
        raise InputError(f"{text!r} is neither a column nor an expression over columns, such as 1 / propensity")
    return exp.paren(tree) if isinstance(tree, exp.Binary) else tree


def internal_names(by: Sequence[str], taken: Iterable[str]) -> dict[str, str]:
    """Return the name of each ``by`` column inside the statement: its own, unless a step has a column of that name."""
    reserved = {name.lower() for name in taken}
    names = {name: name for name in by if name.lower() not in reserved}
    for name in by:
        free = (f"by_{name}{'_' * number}" for number in range(len(by) + 1))
        names.setdefault(name, next(candidate for candidate in free if candidate not in names.values() and candidate not in by))
    return names
