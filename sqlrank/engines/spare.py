"""A database in memory that is kept for calls without one of their own: to open one takes longer than a small evaluation."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.spill import spill_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


CLOSED: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""How every database that is opened here is set up: it fetches no extensions, and so reaches nothing but files."""


class _Spare:
    """One database a process, with a folder to spill to that is removed when the process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._databases: dict[int, duckdb.DuckDBPyConnection] = {}

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of its own to the database, which nobody else sees the tables of."""
        with self._lock:
            # A process that was forked has none of the threads of the one that it is a copy of, whose database it can neither use nor close.
            process = os.getpid()
            if process not in self._databases:
                folder = spill_folder()
                self._databases[process] = duckdb.connect(config={**CLOSED, "temp_directory": folder, "preserve_insertion_order": False})
                self._databases[process].execute("SET enable_progress_bar = false")
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
            return self._databases[process].cursor()


_SPARE = _Spare()


@contextmanager
def spare_connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the database that is kept; what is made on it goes with it."""
    connection = _SPARE.connect()
    try:
        yield connection
    finally:
        connection.close()
