"""Pool in-memory DuckDB databases, because opening one costs more than a small evaluation."""

from __future__ import annotations

import atexit
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.duckdb_settings import set_setting
from sqlrank.engines.spill_directory import make_spill_directory
from sqlrank.engines.worker_threads import make_fork_safe_lock

if TYPE_CHECKING:
    from collections.abc import Iterator


NO_EXTENSION_CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
"""Configuration of databases opened here: no extensions are loaded, so only local files are accessible, and no variables of Python."""


TIME_ZONE = "UTC"
"""Time zone of databases opened here, in which a time with a zone has its day, whatever that of the machine is."""


class _DatabasePool:
    """Databases of this process, with a spill directory that is removed at exit.

    There is one for the default number of threads and one for the number last requested.
    """

    def __init__(self) -> None:
        self._lock = make_fork_safe_lock()
        self._databases: dict[tuple[int, int | None], duckdb.DuckDBPyConnection] = {}

    def connect(self, threads: int | None) -> duckdb.DuckDBPyConnection:
        """Return a separate connection to the database with this thread count.

        No other caller sees its temporary tables.
        """
        with self._lock:
            # A forked process has none of its parent's threads, so it can neither use nor close the parent's database.
            process = os.getpid()
            pool_key = process, threads
            if pool_key not in self._databases:
                database = _open_database(threads)
                # A dropped database is not closed explicitly: it ends with its last connection.
                for replaced_key in [key for key in self._databases if key[0] == process and None not in (key[1], threads)]:
                    del self._databases[replaced_key]
                self._databases[pool_key] = database
            return self._databases[pool_key].cursor()


def _open_database(threads: int | None) -> duckdb.DuckDBPyConnection:
    folder = make_spill_directory()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = duckdb.connect(config={**NO_EXTENSION_CONFIG, "temp_directory": folder, "preserve_insertion_order": False})
    set_setting(database, "enable_progress_bar", "false")
    database.execute("SET GLOBAL TimeZone = ?", [TIME_ZONE])
    if threads is not None:
        set_setting(database, "threads", threads)
    return database


_SPARE = _DatabasePool()


@contextmanager
def pooled_connection(threads: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to a pooled database, on which nothing persists.

    Raises:
        InputError: The number of threads is invalid.
    """
    connection = _SPARE.connect(threads)
    try:
        yield connection
    finally:
        connection.close()
