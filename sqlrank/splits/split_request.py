"""Record the arguments of a split that define its parts, as the caller passed them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class SplitRequest:
    """Hold the arguments of :func:`sqlrank.split` and :func:`sqlrank.split_sql` that define the parts."""

    key: str | None
    salt: str | None
    shares: Mapping[str, float] | None
    folds: int | None
    exact: bool
    stratum: str | None
    time: str | None
    time_bounds: Any
    expanding: bool
    leave_last: int | None
    item: str | None
    user: str | None
    cold_start: str
    seen_pairs: str
    column: str | None
