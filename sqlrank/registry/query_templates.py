"""Load the SELECTs of SQL files with their comments, and the row checks of ``checks/<role>.sql``."""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from sqlrank.errors import ContractError
from sqlrank.registry.row_comments import describe_rows
from sqlrank.registry.sql_folder import sql_root, strip_header_comment


class RowCheck:
    """A row check: a column of ``checks/<role>.sql`` that counts invalid rows.

    Its comment is the meaning of a violation.

    ``-- binary labels: label is neither 0 nor 1`` only applies to metrics that require binary labels.
    """

    def __init__(self, column: Any) -> None:
        self.column = column
        self.name: str = column.alias
        full_comment = " ".join(comment.strip() for comment in column.comments or ())
        requirement, colon, meaning = full_comment.partition(": ")
        self.requirement, self.meaning = (requirement, meaning) if colon else ("", full_comment)


def read_row_checks(path: Path) -> list[RowCheck]:
    """Read the row checks of a file."""
    return [RowCheck(column) for column in load_select(path).selects if column.comments]


def modified_ns(path: Path) -> int:
    """Return the modification time of a file in nanoseconds, which invalidates cached parses."""
    return path.stat().st_mtime_ns


def load_select(*path: str | Path) -> exp.Select:
    """Read the SELECT of a file, given by path or parts of it."""
    file = path[0] if isinstance(path[0], Path) else sql_root().joinpath(*path)
    return _read_select(file, modified_ns(file)).copy()


def file_comment(*path: str) -> str:
    """Return the comment of a file's step in statements: the first sentence, and the path in brackets."""
    return describe_rows(file_rows(*path), "/".join(path))


@cache
def file_rows(*path: str) -> str:
    """Return the first sentence of a file's comment, which defines its rows."""
    lines = sql_root().joinpath(*path).read_text("utf-8").splitlines()
    comment = " ".join(line.removeprefix("--").strip() for line in takewhile(lambda line: line.startswith("--"), lines))
    return re.split(r"(?<=[.]) ", comment.partition(": ")[2], maxsplit=1)[0]


@cache
def _read_select(path: Path, edit: int) -> exp.Select:  # noqa: ARG001  edit is part of the cache key
    tree = sqlglot.parse_one(strip_header_comment(path.read_text("utf-8")), read="duckdb")
    if not isinstance(tree, exp.Select):
        raise ContractError(f"{'/'.join(path.parts[-2:])}:1: one SELECT is expected")
    tree.comments = None
    for node in tree.walk():
        node._meta = None  # noqa: SLF001  source positions; copying them, even if empty, doubles the cost
    return tree
