"""Folders that DuckDB spills to, each of a process: removed when they are done with, or by a later process if theirs was killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

_NAME = re.compile(r"sqlrank_(?P<process>\d+)_(?P<machine>\d+)_\w+")


def spill_folder() -> str:
    """Make a folder for this process, and remove those of processes that are no more."""
    _sweep(tempfile.gettempdir(), os.getpid())
    return tempfile.mkdtemp(prefix=f"sqlrank_{os.getpid()}_{machine()}_")


def machine() -> int:
    """Return what tells the numbers of processes here from those of a container that may have the same folder."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


@cache
def _sweep(folder: str, process: int) -> None:  # noqa: ARG001  once a process
    for path in Path(folder).glob("sqlrank_*"):
        match = _NAME.fullmatch(path.name)
        if match and int(match["machine"]) == machine() and _is_mine(path) and not _lives(int(match["process"])):
            shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # gone in the meantime, or a system without users
        return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
