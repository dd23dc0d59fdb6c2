"""Run work in daemon threads that callers may stop waiting for, stop them at exit, and make locks that are free after a fork."""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.deadline import seconds_left, timeout_error

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

    Result = TypeVar("Result")

MAX_EXIT_SECONDS = 10.0
"""Maximum seconds to wait at exit for work that ignores interrupts.

An example is a Polars query.
"""
WORKER_POLL_SECONDS = 0.05
WORKER_THREAD_NAME = "sqlrank work"


class Worker(threading.Thread):
    """Run work in a daemon thread that can be interrupted.

    Attributes:
        connection: The DuckDB connection that the work runs statements on, None for work that must not be interrupted.
        done: Event that is set at the end of the work.
    """

    def __init__(self, work: Callable[[], Any], connection: duckdb.DuckDBPyConnection | None = None) -> None:
        super().__init__(target=work, name=WORKER_THREAD_NAME, daemon=True)
        self.connection = connection
        self.done = threading.Event()

    def run(self) -> None:
        """Run the work."""
        try:
            super().run()
        finally:
            self.done.set()

    def interrupt_statement(self) -> None:
        """Cancel the running DuckDB statement."""
        import duckdb  # noqa: PLC0415  already imported by the creator of the connection

        if self.connection is not None:
            with suppress(duckdb.Error):  # the connection may be closed already
                self.connection.interrupt()

    def interrupt(self) -> None:
        """Cancel the running DuckDB statement, and raise ``SystemExit`` at the next Python instruction."""
        if self.connection is None or self.ident is None:
            return
        import ctypes  # noqa: PLC0415  only needed for abandoned work

        self.interrupt_statement()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(SystemExit))


def is_worked_on(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return True if abandoned work goes on on a connection."""
    workers = (thread for thread in threading.enumerate() if isinstance(thread, Worker))
    return any(worker.connection is connection and not worker.done.is_set() for worker in workers)


def make_fork_safe_lock() -> threading.Lock:
    """Return a lock that is free in a forked process.

    A lock held by another thread at the fork would never be released there.
    """
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def run_in_time(work: Callable[[], Result]) -> Result:
    """Run work that ignores interrupts, such as imports, and return its result.

    Raises:
        ExecutionError: The time of the call is over.
    """
    if math.isinf(seconds_left()):
        return work()
    outcome: list[Result | BaseException] = []

    def run_work() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001  raised again below
            outcome.append(error)

    worker = Worker(run_work)
    worker.start()
    worker.join(max(0.0, seconds_left()))
    if not outcome:
        raise timeout_error()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@atexit.register
def stop_workers(seconds: float = MAX_EXIT_SECONDS) -> None:
    """Interrupt all workers and wait for them, because running ones abort the process at shutdown."""
    end = time.monotonic() + seconds
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    while workers and time.monotonic() < end:
        for worker in workers:
            worker.interrupt()
            worker.join(WORKER_POLL_SECONDS)
        workers = [worker for worker in workers if worker.is_alive()]
