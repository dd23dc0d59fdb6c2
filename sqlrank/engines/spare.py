"""A database in memory that is kept for calls without one of their own: to open one takes longer than a small evaluation."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.settings import put
from sqlrank.engines.spill import spill_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


CLOSED: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""How every database that is opened here is set up: it fetches no extensions, and so reaches nothing but files."""


class _Spare:
    """A database a process, with a folder to spill to that is removed when the process ends; another one for the threads last asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._databases: dict[tuple[int, int | None], duckdb.DuckDBPyConnection] = {}

    def connect(self, threads: int | None) -> duckdb.DuckDBPyConnection:
        """Return a connection of its own to the database of so many threads, which nobody else sees the tables of."""
        with self._lock:
            # A process that was forked has none of the threads of the one that it is a copy of, whose database it can neither use nor close.
            process = os.getpid()
            wanted = process, threads
            if wanted not in self._databases:
                made = _open(threads)
                # One that is let go is not closed: it ends with the last call that works on it.
                for other in [one for one in self._databases if one[0] == process and None not in (one[1], threads)]:
                    del self._databases[other]
                self._databases[wanted] = made
            return self._databases[wanted].cursor()


def _open(threads: int | None) -> duckdb.DuckDBPyConnection:
    folder = spill_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = duckdb.connect(config={**CLOSED, "temp_directory": folder, "preserve_insertion_order": False})
    put(database, "enable_progress_bar", "false")
    if threads is not None:
        put(database, "threads", threads)
    return database


_SPARE = _Spare()


@contextmanager
def spare_connection(threads: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the database that is kept; what is made on it goes with it. Raises ``InputError`` for no possible number."""
    connection = _SPARE.connect(threads)
    try:
        yield connection
    finally:
        connection.close()
