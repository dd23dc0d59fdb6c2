"""Parse the interval that a metric or function declares: ``-- Interval: influence auc_influence
FROM prediction_influence``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INTERVAL = "Interval"
"""Annotation of the intervals of a metric, where they do not follow from its expression."""

INFLUENCE_KEY = "Influence key"
"""Annotation of the condition under which a prediction has the influence of a row."""

_INTERVAL = re.compile(
    r"none \((?P<no_interval>.+)\)|bootstrap(?: from (?P<least_class_units>\d+) units of each"
    r" class)? \((?P<no_influence>.+)\)|of (?P<function>\w+)"
    r"|influence (?P<influence>.+? FROM \w+)(?:, error (?P<standard_error>\w+))?(?:, limits"
    r" (?P<limits>\w+))?(?:, cells (?P<cell_squares>\w+))?"
    r"|cells (?P<cells>\w+(?:, \w+)*)"
)


@dataclass(frozen=True, slots=True)
class DeclaredInterval:
    """The declarations of intervals in a file; every field is empty if it declares nothing.

    Attributes:
        no_interval: Why the metric has no interval.
        no_influence: Why the metric has no influence function, so that only the bootstrap and means
            over queries have intervals.
        least_class_units: Number of units with positives, and with negatives, below which the
            bootstrap has no limits.
        influence: Expression of a row's influence and the relation of the rows, as in
            ``auc_influence FROM prediction_influence``.
        standard_error: Function in ``standard_error/`` for rows that are units of equal weight.
        limits: Function in ``effective_trials/`` for the limits.
        cell_squares: Column of that relation that is added to the variance: ``cell_square()`` of
            the cells of all classes.
        cells: Sums of the metric to one of which each row adds, whose ``cell_square()`` are added
            to the variance.
        function: Function of the same slot whose interval is computed instead.

    >>> read_interval(
    ...     "influence 2 * auc_influence FROM prediction_influence, error delong"
    ... ).standard_error
    'delong'
    """

    no_interval: str = ""
    no_influence: str = ""
    least_class_units: str = ""
    influence: str = ""
    standard_error: str = ""
    limits: str = ""
    cell_squares: str = ""
    cells: str = ""
    function: str = ""


def read_interval(text: str) -> DeclaredInterval | None:
    """Parse the interval of a comment line, None if it has another form."""
    match = _INTERVAL.fullmatch(text)
    return (
        None
        if match is None
        else DeclaredInterval(**{name: value or "" for name, value in match.groupdict().items()})
    )
