"""The library that a call works with: opened once, and anew when a file of the user's changes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.library.folder import files_in, sql_root
from sqlrank.library.library import Library

if TYPE_CHECKING:
    from sqlrank.library.file import SqlFile


def library(*extra: str) -> Library:
    """Return the library of the package and of extra folders; the latter are read anew when a file in them changes."""
    edits = tuple((str(path), path.stat().st_mtime_ns) for folder in extra for path in files_in(Path(folder)))
    return _library(extra, edits)


def library_of(sql_dir: str | Path | None) -> Library:
    """Return the library, with the files of a folder of the user's if there is one."""
    return library(*([] if sql_dir is None else [str(sql_dir)]))


@cache
def _library(extra: tuple[str, ...], edits: tuple[tuple[str, int], ...]) -> Library:  # noqa: ARG001  edits are part of the key
    return Library((sql_root(), *(Path(folder) for folder in extra)), _check)


def _check(file: SqlFile, library: Library) -> None:
    """Check a file of the user's; those of the package were checked before it was built, and take half of a first call to check."""
    from sqlrank.library.references import keeps_contract  # noqa: PLC0415  sqlglot is a quarter of a second, for documentation as well

    if not file.path.is_relative_to(sql_root()):
        keeps_contract(file, library)
    for node in file.statement.walk():
        node.comments = None
        node._meta = None  # noqa: SLF001  where nodes stand in their file; copying that, even if empty, costs as much as all else
