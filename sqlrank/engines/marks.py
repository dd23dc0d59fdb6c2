"""What tells the names that a call makes on somebody's connection from all others there."""

from __future__ import annotations

import threading
from itertools import count
from uuid import uuid4

_OF_THIS_PROCESS = uuid4().hex[:8]

_lock = threading.Lock()
_taken: set[int] = set()


class Mark:
    """The end of the names of one call, which no other has that is under way.

    A call after another has the same, so that what was written for the former serves the latter.
    """

    def __init__(self) -> None:
        with _lock:
            self._number = next(number for number in count(1) if number not in _taken)
            _taken.add(self._number)

    def __str__(self) -> str:
        return f"_{_OF_THIS_PROCESS}_{self._number}"

    def release(self) -> None:
        """Let another call have it; once, since that one may have it by now."""
        with _lock:
            _taken.discard(self._number)
            self._number = 0
