"""Make names of columns, CTEs and files unique: append a number to a name that is taken."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken in any case.

    >>> unique_name("run", {"qrels"}), unique_name("run", {"RUN", "run_2"})
    ('run', 'run_3')
    """
    lowered = {other.lower() for other in taken}
    candidates = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(candidate for candidate in candidates if candidate.lower() not in lowered)
