"""Set the deadline of a call, check it at every stage of compilation, and return the seconds left
or the error of a call beyond it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from sqlrank.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Iterator


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
