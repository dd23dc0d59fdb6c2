"""What the points of a curve miss, as the files of ``sql/relations/pieces`` say it."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlrank.charts.given import Given

FEWEST = 10
"""The fewest points that a curve is cut into, if fewer are asked for."""

AREA = ("ROC", "Gain")
"""Curves of which straight lines are drawn, and an area read."""


def bound(given: Given) -> str:
    """Return how many points a curve has at most, and what is missed between them."""
    settings = {} if given.told.curve is None else given.told.curve["settings"]
    if (asked := int(settings["points"])) == 0:
        return "Every distinct score is a point: nothing is left out."
    points = max(asked, FEWEST)
    if settings["spacing"] == "logarithmic":
        missed = f"between two of them precision changes by a factor of at most {_factor(given, points)}"
    elif given.curve in AREA:
        missed = f"straight lines between them miss at most 1/{points - 2:,} of the area"
    else:
        missed = f"between two of them the true and the false positive rate change by at most 4/{points - 2:,} together"
    return f"At most {points + 1:,} points per curve; {missed}."


def _factor(given: Given, points: int) -> str:
    """Return by what precision changes within a piece: with n, all weight over that of the first positives, as PR itself shows it."""
    power = 4 / (points - 4)
    if given.curve != "PR":
        return f"n^({power:.2g}), n being all weight over that of the first positives"
    curves: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    by = [*given.named("by"), *given.named("slice")]
    for row in given.rows:
        if row["recall"] and row["precision"]:
            curves.setdefault(tuple(str(row[name]) for name in by), []).append((row["recall"], row["precision"]))
    # The first positives are the least recall above 0, and at the last point precision is the share of all positives.
    found = [1 / (min(pairs)[0] * max(pairs, key=lambda pair: (pair[0], -pair[1]))[1]) for pairs in curves.values()]
    return f"{ceil(max(found, default=1.0) ** power * 1e4) / 1e4:g}"
