"""End work before it is done: by the deadline of a call, by Ctrl-C in a thread of its own, and by a
signal to the process of the command line, which removes temporary files first.
"""

from __future__ import annotations

import atexit
import math
import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlrank.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb

    Result = TypeVar("Result")


class _Deadline(NamedTuple):
    at: float
    seconds: float


_MAX_SECONDS = 1e9

_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def set_deadline(seconds: float | None) -> Iterator[None]:
    """Set the deadline of a call in seconds from now; None for no deadline."""
    token = _deadline.set(
        None
        if seconds is None
        else _Deadline(time.monotonic() + min(seconds, _MAX_SECONDS), seconds)
    )
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Return the remaining seconds, infinity without a deadline."""
    current = _deadline.get()
    return float("inf") if current is None else current.at - time.monotonic()


def timeout_error() -> ExecutionError:
    """Return the error of a call that exceeded its deadline."""
    current = _deadline.get()
    return ExecutionError(
        f"cancelled after {current.seconds if current else 0:g} seconds. Give a longer timeout, or"
        " fewer rows"
    )


def check_deadline() -> None:
    """Raise ``ExecutionError`` if the deadline has passed."""
    if seconds_left() <= 0:
        raise timeout_error()


INTERRUPTED = b"sqlrank: interrupted\n"

_cleanups: dict[str, Callable[[], object]] = {}
_holds: list[None] = []
_pending: list[int] = []


def exit_at_signals() -> None:
    """End the process at these signals, unless its parent has it ignore them."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal_number = getattr(signal, name, None)
        if signal_number is not None and signal.getsignal(signal_number) in {
            signal.SIG_DFL,
            signal.default_int_handler,
        }:
            signal.signal(signal_number, _exit_at_signal)


# Signature of a signal handler
def _exit_at_signal(signal_number: int, frame: object) -> None:  # noqa: ARG001
    """Clean up and exit with the conventional status.

    An exception would be raised anywhere: callbacks swallow it, and the lock of an import under way
    would never be released.
    """
    if _holds:
        _pending.append(signal_number)
        return
    for cleanup in list(_cleanups.values()):
        with suppress(Exception):
            cleanup()
    if signal_number == signal.SIGINT:
        with suppress(OSError):
            os.write(2, INTERRUPTED)
    os._exit(128 + signal_number)


@contextmanager
def hold_exit() -> Iterator[None]:
    """Complete a block before the process ends at a signal."""
    _holds.append(None)
    try:
        yield
    finally:
        _holds.pop()
        if _pending and not _holds:
            _exit_at_signal(_pending[0], None)


def clean_up_at_signal(name: str, cleanup: Callable[[], object]) -> None:
    """Call a function if the process ends at a signal before its name is forgotten."""
    _cleanups[name] = cleanup


def forget_cleanup(name: str) -> None:
    """Call a function no more, since what it would remove is gone."""
    _cleanups.pop(name, None)


MAX_EXIT_SECONDS = 10.0
"""Maximum seconds to wait at exit for work that ignores interrupts.

An example is a Polars query.
"""
WORKER_POLL_SECONDS = 0.05
WORKER_THREAD_NAME = "sqlrank work"


class Worker(threading.Thread):
    """Run work in a daemon thread that can be interrupted.

    Attributes:
        connection: The DuckDB connection that the work runs statements on, None for work that must
            not be interrupted.
        done: Event that is set at the end of the work.
    """

    def __init__(
        self, work: Callable[[], Any], connection: duckdb.DuckDBPyConnection | None = None
    ) -> None:
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
        import duckdb  # already imported by the creator of the connection

        if self.connection is not None:
            with suppress(duckdb.Error):  # the connection may be closed already
                self.connection.interrupt()

    def interrupt(self) -> None:
        """Cancel the running DuckDB statement, and raise ``SystemExit`` at the next Python
        instruction.
        """
        if self.connection is None or self.ident is None:
            return
        import ctypes  # only needed for abandoned work

        self.interrupt_statement()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self.ident), ctypes.py_object(SystemExit)
        )


MAX_IDLE_WORKERS = 4
_idle: list[_ReusableWorker] = []
"""Workers that wait for work. A forked process has none of them."""


class _ReusableWorker(Worker):
    """A worker that waits for further work: a new thread takes a tenth of a call over few rows."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self._tasks: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()

    @classmethod
    def hand_over(
        cls, work: Callable[[], Any], connection: duckdb.DuckDBPyConnection
    ) -> _ReusableWorker:
        """Return an idle worker, or a new one, that runs the work."""
        try:
            worker = _idle.pop()
        except IndexError:
            worker = cls()
            worker.start()
        worker.connection, worker.done = connection, threading.Event()
        worker._tasks.put(work)
        return worker

    def run(self) -> None:
        """Run the work that is handed over, until there is none."""
        while (work := self._tasks.get()) is not None:
            try:
                work()
            finally:
                del work  # with what it holds of the caller
                self.done.set()

    def release(self) -> None:
        """Wait for further work if this one is done and few others wait, else end after it."""
        if self.done.is_set() and len(_idle) < MAX_IDLE_WORKERS:
            self.connection = None
            _idle.append(self)
        else:
            self._tasks.put(None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


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
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock


def run_in_time(work: Callable[[], Result]) -> Result:
    """Run work that ignores interrupts, such as imports, and return its result.

    Raises:
        ExecutionError: The time of the call is over.
    """
    if math.isinf(seconds_left()):
        return work()
    outcome: list[Result | BaseException] = []
    worker = Worker(partial(_record_outcome, work, outcome))
    worker.start()
    worker.join(max(0.0, seconds_left()))
    if not outcome:
        raise timeout_error()
    return _return_outcome(outcome[0])


def _record_outcome(work: Callable[[], Result], outcome: list[Result | BaseException]) -> None:
    """Run work, and hand its result or error to the thread that waits for it."""
    try:
        outcome.append(work())
    except BaseException as error:  # noqa: BLE001  raised again in that thread
        outcome.append(error)


def _return_outcome(outcome: Result | BaseException) -> Result:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


@atexit.register
def stop_workers(seconds: float = MAX_EXIT_SECONDS) -> None:
    """Interrupt all workers and wait for them, because running ones abort the process at
    shutdown.
    """
    end = time.monotonic() + seconds
    workers = [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, Worker) and not thread.done.is_set()
    ]
    while workers and time.monotonic() < end:
        for worker in workers:
            worker.interrupt()
            worker.join(WORKER_POLL_SECONDS)
        workers = [worker for worker in workers if worker.is_alive() and not worker.done.is_set()]


POLL_SECONDS = 0.02
INTERRUPT_GRACE_SECONDS = 0.5
"""Grace period in seconds after which work that ignores an interrupt is abandoned."""


def run_cancellable(
    connection: duckdb.DuckDBPyConnection,
    work: Callable[[], Result],
    progress: Callable[[float], None] | None,
) -> Result:
    """Run ``work`` in a thread and return its result; Ctrl-C and the time-out cancel it.

    An error of ``progress`` cancels it as well. The thread lets this one wait for signals, and
    abandon work that ignores an interrupt. Such work ends at its next statement, and its resources
    are freed afterwards.

    Args:
        connection: The DuckDB connection to interrupt.
        work: The function to run.
        progress: Called with a percentage.

    Raises:
        ExecutionError: Time ran out.
    """
    outcome: list[Result | BaseException] = []
    in_context = partial(copy_context().run, work)
    worker = _ReusableWorker.hand_over(partial(_record_outcome, in_context, outcome), connection)
    percentage = 0.0
    try:
        while not worker.done.wait(POLL_SECONDS):
            remaining = seconds_left()
            if remaining < -INTERRUPT_GRACE_SECONDS:
                raise timeout_error()  # noqa: TRY301  running work is not awaited
            if remaining <= 0:
                connection.interrupt()
            elif progress is not None:
                # Every query restarts at 0, but reported progress must not decrease.
                percentage = max(percentage, connection.query_progress())
                progress(percentage)
    except BaseException:
        # Interrupt the statements of work until it ends, or for so many seconds.
        end = time.monotonic() + min(MAX_EXIT_SECONDS, seconds_left() + INTERRUPT_GRACE_SECONDS)
        while time.monotonic() < end and not worker.done.wait(POLL_SECONDS):
            worker.interrupt_statement()
        raise
    finally:
        worker.release()
    (result,) = outcome
    if seconds_left() <= 0 and isinstance(result, Exception):
        raise timeout_error()
    return _return_outcome(result)
