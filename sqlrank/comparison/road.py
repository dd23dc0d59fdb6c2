"""The road from what is asked to values of units in a database of their own: the same for comparisons and gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.comparison.units import Units
from sqlrank.engines.duckdb import Limits, session, supervise
from sqlrank.errors import InputError
from sqlrank.evaluation import BY_ROWS, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from sqlrank.comparison.asked import Asking
    from sqlrank.comparison.units import Compared
    from sqlrank.inputs.checks import Check

Found = TypeVar("Found")


@dataclass(frozen=True)
class Place:
    """Where a call is evaluated, under which limits, and who is told of its progress."""

    connection: Any
    dialect: str | None
    limits: Limits
    check: Check
    progress: Callable[[float], None] | None = None


def values(asking: Asking, place: Place) -> list[tuple[list[str], pa.Table]]:
    """Return the values of units where the data are: for each grouping a table with a row per cell, system and unit."""
    found = []
    calls = list(asking.calls())
    for number, (group, call) in enumerate(calls):
        told = place.progress and _part(place.progress, number, len(calls))
        found.append((group, answer(call, place.connection, place.dialect, place.limits, place.check, told)))
    return found


def _part(progress: Callable[[float], None], number: int, count: int) -> Callable[[float], None]:
    """Return what tells of a part of the work as a share of all of it."""
    return lambda percentage: progress((100 * number + percentage) / count)


def over_units(tables: Sequence[tuple[list[str], pa.Table]], asking: Asking, limits: Limits, work: Callable[[Units], Found]) -> Found:
    """Return what ``work`` makes of values of units, in a database of their own under the limits of the call."""
    by_rows = (tables[0][1].schema.metadata or {}).get(b"sqlrank.unit") == BY_ROWS.encode()
    with session(None, limits) as duck:
        return supervise(duck, lambda: work(Units(duck, tables, asking, by_rows)), None)


def check_paired(compared: Sequence[Compared], asking: Asking) -> None:
    """Refuse metrics of all rows where these are not the same units for both systems."""
    worst = max(compared, key=lambda item: item.unpaired, default=None)
    if asking.is_moved and worst is not None and worst.unpaired:
        raise InputError(
            f"{worst.unpaired:,} of {worst.units + worst.unpaired:,} units have rows of one of two systems only, and metrics of predictions are "
            "compared over the same rows; leave the others out with where="
        )
