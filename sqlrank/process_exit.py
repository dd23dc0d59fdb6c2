"""End the process of the command line at a signal, at any time and without an exception, and remove
temporary files first.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTERRUPTED = b"sqlrank: interrupted\n"

_cleanups: dict[str, Callable[[], object]] = {}
_holds: list[None] = []
_pending: list[int] = []


def exit_at_signals(names: tuple[str, ...] = ("SIGINT", "SIGTERM", "SIGHUP")) -> None:
    """End the process at these signals, unless its parent has it ignore them."""
    for name in names:
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
