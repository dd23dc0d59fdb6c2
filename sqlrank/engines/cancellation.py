"""Run work on DuckDB in a thread that Ctrl-C, the timeout or an error of the progress callback cancels."""

from __future__ import annotations

import time
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from sqlrank.deadline import seconds_left, timeout_error
from sqlrank.engines.worker_threads import MAX_EXIT_SECONDS, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb


T = TypeVar("T")

POLL_SECONDS = 0.02
INTERRUPT_GRACE_SECONDS = 0.5
"""Grace period in seconds after which work that ignores an interrupt is abandoned."""


def run_cancellable(connection: duckdb.DuckDBPyConnection, work: Callable[[], T], progress: Callable[[float], None] | None) -> T:
    """Run ``work`` in a thread and return its result; Ctrl-C and the time-out cancel it.

    An error of ``progress`` cancels it as well. The thread lets this one wait for signals, and abandon work that ignores an interrupt. Such
    work ends at its next statement, and its resources are freed afterwards.

    Args:
        connection: The DuckDB connection to interrupt.
        work: The function to run.
        progress: Called with a percentage.

    Raises:
        ExecutionError: Time ran out.
    """
    outcome: list[T | BaseException] = []
    context = copy_context()

    def run_work() -> None:
        try:
            outcome.append(context.run(work))
        except BaseException as error:  # noqa: BLE001  handed to the caller's thread below
            outcome.append(error)

    worker = Worker(run_work, connection)
    worker.start()
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
        _interrupt_work(worker, min(MAX_EXIT_SECONDS, seconds_left() + INTERRUPT_GRACE_SECONDS))
        raise
    (result,) = outcome
    if seconds_left() <= 0 and isinstance(result, Exception):
        raise timeout_error()
    if isinstance(result, BaseException):
        raise result
    return result


def _interrupt_work(worker: Worker, seconds: float) -> None:
    """Interrupt the statements of work until it ends, or for so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not worker.done.wait(POLL_SECONDS):
        worker.interrupt_statement()
