"""SELECTs that are not metrics, relations or functions: checks of the input, the steps of learning, how TREC text is read."""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from sqlrank.errors import ContractError
from sqlrank.library.folder import code_of, sql_root


class Rule:
    """What can be wrong with a row: a column of ``checks/<role>.sql`` that counts such rows, under a comment that says what it means.

    ``-- binary labels: label is neither 0 nor 1`` is a rule that only metrics which require binary labels need.
    """

    def __init__(self, column: Any) -> None:
        self.column = column
        self.name: str = column.alias
        said = " ".join(comment.strip() for comment in column.comments or ())
        requirement, colon, meaning = said.partition(": ")
        self.requirement, self.meaning = (requirement, meaning) if colon else ("", said)


def rules_of(path: Path) -> list[Rule]:
    """Return the rules of a file of checks."""
    return [Rule(column) for column in read_select(path).selects if column.comments]


def edited(path: Path) -> int:
    """Return when a file was last written, in nanoseconds, so that what was read of it before is told from what it says now."""
    return path.stat().st_mtime_ns


def read_select(*path: str | Path) -> exp.Select:
    """Return the SELECT of a file that is not a metric, relation or function: one of ours by its parts, such as ``checks``, ``run.sql``."""
    file = path[0] if isinstance(path[0], Path) else sql_root().joinpath(*path)
    return _read_select(file, edited(file)).copy()


@cache
def title_of(*path: str) -> str:
    """Return the place of a file, and the first sentence of its comment, without the name that this begins with."""
    lines = sql_root().joinpath(*path).read_text("utf-8").splitlines()
    said = " ".join(line.removeprefix("--").strip() for line in takewhile(lambda line: line.startswith("--"), lines))
    return f"{'/'.join(path)}: {re.split(r'(?<=[.]) ', said.partition(': ')[2], maxsplit=1)[0]}"


@cache
def _read_select(path: Path, edit: int) -> exp.Select:  # noqa: ARG001  the edit is part of the key
    tree = sqlglot.parse_one(code_of(path.read_text("utf-8")), read="duckdb")
    if not isinstance(tree, exp.Select):
        raise ContractError(f"{'/'.join(path.parts[-2:])}:1: one SELECT is expected")
    tree.comments = None
    for node in tree.walk():
        node._meta = None  # noqa: SLF001  where nodes stand in their file; copying that, even if empty, costs as much as all else
    return tree
