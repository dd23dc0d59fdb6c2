"""Which of many alike tests are in every run, and which only where the slow ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


def few(values: Iterable[Any], quick: int | Container[Any]) -> list[Any]:
    """Return values as parameters, of which all are slow but these, or but the first so many."""
    return [
        pytest.param(value, marks=() if (place < quick if isinstance(quick, int) else value in quick) else pytest.mark.slow)
        for place, value in enumerate(values)
    ]


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """Return values as parameters, of which all are slow but one in so many."""
    return [pytest.param(value, marks=pytest.mark.slow if place % step else ()) for place, value in enumerate(values)]
