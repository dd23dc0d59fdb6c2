"""Run work on DuckDB in a thread that Ctrl-C, the timeout or an error of the progress callback cancels."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from sqlrank.deadline import seconds_left, timeout_error
from sqlrank.engines.worker_threads import Worker
from sqlrank.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb


T = TypeVar("T")

POLL_SECONDS = 0.02
INTERRUPT_GRACE_SECONDS = 0.5
"""Grace period in seconds after which work that ignores an interrupt is abandoned."""


class AbandonedWorkError(ExecutionError):
    """Error for work that is still running after its time-out."""


def run_cancellable(  # noqa: C901  one branch per way to end
    connection: duckdb.DuckDBPyConnection, work: Callable[[], T], progress: Callable[[float], None] | None
) -> T:
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
    done = threading.Event()
    context = copy_context()

    def run_work() -> None:
        try:
            outcome.append(context.run(work))
        except BaseException as error:  # noqa: BLE001  handed to the caller's thread below
            outcome.append(error)
        finally:
            done.set()

    Worker(run_work, connection).start()
    percentage = 0.0
    try:
        while not done.wait(POLL_SECONDS):
            remaining = seconds_left()
            if remaining < -INTERRUPT_GRACE_SECONDS:
                raise AbandonedWorkError(str(timeout_error()))  # noqa: TRY301  running work is not awaited
            if remaining <= 0:
                connection.interrupt()
            elif progress is not None:
                # Every query restarts at 0, but reported progress must not decrease.
                percentage = max(percentage, connection.query_progress())
                progress(percentage)
    except AbandonedWorkError:
        raise
    except BaseException:
        while not done.wait(POLL_SECONDS):
            connection.interrupt()
        raise
    (result,) = outcome
    if seconds_left() <= 0 and isinstance(result, Exception):
        raise timeout_error()
    if isinstance(result, BaseException):
        raise result
    return result
