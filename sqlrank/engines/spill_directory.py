"""Make the directory into which DuckDB spills data, one per process, and remove those of processes that ended."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from sqlrank.process_exit import clean_up_at_signal, hold_exit

MAX_REMOVALS = 100
"""Maximum number of attempts to remove a directory into which threads still write."""

_NAME = re.compile(r"sqlrank_(?P<process>\d+)_(?P<machine>\d+)_\w+")


def make_spill_directory() -> str:
    """Make a spill directory for this process and remove those of ended processes."""
    _remove_stale(tempfile.gettempdir(), os.getpid())
    clean_up_at_signal("spill directories", _remove_own)
    with hold_exit():
        return tempfile.mkdtemp(prefix=f"sqlrank_{os.getpid()}_{pid_namespace()}_")


def _remove_own() -> None:
    """Remove all spill directories of this process."""
    for _ in range(MAX_REMOVALS):
        own = [*Path(tempfile.gettempdir()).glob(f"sqlrank_{os.getpid()}_{pid_namespace()}_*")]
        for path in own:
            shutil.rmtree(path, ignore_errors=True)
        if not own:
            return


def pid_namespace() -> int:
    """Return the PID namespace, which distinguishes process ids of containers that share a directory."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


@cache
def _remove_stale(folder: str, process: int) -> None:  # noqa: ARG001  cached once per process
    for path in Path(folder).glob("sqlrank_*"):
        match = _NAME.fullmatch(path.name)
        if match and int(match["machine"]) == pid_namespace() and _is_mine(path) and not _process_exists(int(match["process"])):
            shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # removed in the meantime, or a system without users
        return False


def _process_exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
