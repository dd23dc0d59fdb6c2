"""The time that a call may take, looked at on the way: what composes a statement asks at each stage whether any is left."""

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


WORK = "sqlrank work"
"""The name of threads that do what may take long."""

_LONGEST = 1e9

_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Let a call end so many seconds from now; None for no end."""
    token = _deadline.set(None if seconds is None else _Deadline(time.monotonic() + min(seconds, _LONGEST), seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def time_left() -> float:
    """Return the seconds that are left, infinitely many without an end."""
    found = _deadline.get()
    return float("inf") if found is None else found.at - time.monotonic()


def late() -> ExecutionError:
    """Return the error of a call whose time is over."""
    found = _deadline.get()
    return ExecutionError(f"cancelled after {found.seconds if found else 0:g} seconds; give a longer timeout, or fewer rows")


def check_time() -> None:
    """Raise ``ExecutionError`` if no time is left."""
    if time_left() <= 0:
        raise late()
