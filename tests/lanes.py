"""Select the tests of a large family that run always; the others run with the slow ones."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def mark_slow_cases(items: Iterable[pytest.Item]) -> None:
    """Mark as slow the cases of tests that have the mark ``one_in``, but for one in so many."""
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None and isinstance(item, pytest.Function):
            number = next(iter(item.callspec.indices.values()))  # of all combinations
            if number % mark.args[0]:
                item.add_marker("slow")


def select_few(values: Iterable[Any], quick: int | Container[Any]) -> list[Any]:
    """Return values of a parameter, of which all are slow but these, or but the first so many."""
    return [
        pytest.param(value, marks=() if is_quick else pytest.mark.slow)
        for place, value in enumerate(values)
        for is_quick in [place < quick if isinstance(quick, int) else value in quick]
    ]
