"""Intervals of metrics of a state, beside their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.errors import MetricError
from sqlrank.library.confidence import check_level, is_share, is_signed
from sqlrank.statement.distributions import t_quantile, t_tail
from sqlrank.states.asked import Wanted
from sqlrank.states.batches import NOTHING
from sqlrank.states.jackknife import errors_of, left_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call import Call
    from sqlrank.engines.duckdb import Limits
    from sqlrank.library.asked import Asked
    from sqlrank.states.adding import Adding
    from sqlrank.states.asked import Listed
    from sqlrank.states.jackknife import Errors

LOW, HIGH, SE, UNITS = LIMITS = ("low", "high", "se", "units")
"""What is shown of the interval of a metric: its limits, the standard error, and how many folds have rows."""

OF_WEIGHTS = {"weights": "count", "total": "total", "squared_weights": "count", "products": "total", "squares": "squares"}
"""The sums that the spread of a weighted mean is told by, each with the one that it is where all weigh 1."""

MEANS = (None, "mean", "wmean", "gmean")
"""How values of lists are put together of which it can be told how sure they are."""

FEWEST = 2
"""How many values a standard error needs."""

CLOSE = 1e-12
"""A standard error that is less of its value than this is rounding: folds do not differ, and say nothing of how sure the value is."""

Found = dict[str, dict[str, list[Any]]]
"""By metric the columns of its interval, with a value for each group."""


def check(call: Call) -> None:
    """Raise ``MetricError`` for intervals that a state does not have."""
    for name, default in (("interval", "auto"), ("replicates", None)):
        if getattr(call, name) != default:
            raise MetricError(f"{name}= is for rows; a state has intervals by its folds, of confidence= alone")
    if call.confidence is not None:
        check_level(call.confidence)


def with_interval(asked: Wanted, looked_up: Sequence[Asked]) -> Wanted:
    """Return those of the metrics that have an interval: not counts, nor what grows with the data, or is the least or the greatest of it."""
    pairs = zip(asked.metrics, looked_up, strict=True)
    return Wanted(
        tuple(item for item, given in pairs if "No interval" not in given.file.facts and given.settings.get("aggregate") in MEANS)
    )


def spread(asked: Wanted, adding: Adding, groups: pa.Table, call: Call, limits: Limits) -> dict[str, dict[str, pa.Array]]:
    """Return by metric its standard errors and numbers of folds, each with a value for each of the groups."""
    errors = errors_of(left_out(asked, adding, groups, call, limits), limits) if asked.metrics else {}
    return {item.name: _columns(errors, place, groups.num_rows) for place, item in enumerate(asked.metrics)}


def spread_of_lists(means: Sequence[Listed], table: pa.Table) -> dict[str, dict[str, pa.Array]]:
    """Return by metric the standard errors of means over lists, as if these were independent, and how many these are."""
    found = {}
    for item in means:
        moments = {each.name.removeprefix(f"{item.name}."): table[each.name].to_pylist() for each in item.moments}
        counts = moments["count"]
        of_values = [moments.get(name, moments[plain]) for name, plain in OF_WEIGHTS.items()]
        errors = [_error(*sums) for sums in zip(counts, *of_values, strict=True)]
        found[item.name] = {SE: pa.array(errors, pa.float64()), UNITS: pa.array(counts, pa.float64()).cast(pa.int64())}
    return found


def _error(count: float | None, *sums: float | None) -> float | None:
    """Return the standard error of a weighted mean from sums of the weights w of its values v, wv, w², w²v and w²v²."""
    known = [each for each in sums if each is not None]
    if count is None or len(known) < len(sums) or count < FEWEST or not known[0]:
        return None
    weight, total, weights, products, squares = known
    mean = total / weight
    spread = squares - 2 * mean * products + mean * mean * weights
    # Values that do not differ leave the last digits of what cancels.
    return math.sqrt(count / (count - 1) * spread) / weight if spread > NOTHING * squares else None


def limits_of(value: float | None, error: float | None, folds: int | None, level: float, size: float | None = None) -> list[float | None]:
    """Return the limits of the interval of a value by Student's t; none where folds do not differ, beside the ``size`` that rounding is of.

    >>> [round(limit, 12) for limit in limits_of(0.5, 0.1, 2, 0.5)]
    [0.4, 0.6]
    """
    if value is None or error is None or folds is None or not error > CLOSE * abs(value if size is None else size):
        return [None, None]
    reach = t_quantile(level, folds - 1) * error
    return [value - reach, value + reach]


def of_difference(values: Sequence[float | None], error: float | None, folds: int | None, level: float) -> dict[str, Any]:
    """Return what is said of how sure a difference is; ``values`` begin with those of both sides and their difference.

    ``p`` is the probability of a difference as great where there is none, by Student's t; NULL where folds do not differ.
    """
    size = max(abs(value or 0.0) for value in values[:2])
    low, high = limits_of(values[2], error, folds, level, size)
    is_known = low is not None and values[2] is not None and error is not None and folds is not None
    chance = t_tail(abs(values[2] / error), folds - 1) if is_known else None  # type: ignore[operator]
    return {LOW: low, HIGH: high, SE: error, UNITS: folds, "p": chance}


def ends_of(asked: Asked) -> tuple[float, float] | None:
    """Return between what a metric always is, if that is known."""
    return (0.0, 1.0) if is_share(asked) else (-1.0, 1.0) if is_signed(asked) else None


def shown(
    values: Mapping[str, Sequence[float | None]], found: Mapping[str, Mapping[str, Any]], looked_up: Sequence[Asked], level: float
) -> Found:
    """Return the columns of the intervals of all metrics, by their names in the result; NULL for a metric that has none."""
    columns: Found = {}
    for item in looked_up:
        name = str(item.metric)
        held = values[name]
        errors, folds = (found[name][each].to_pylist() if name in found else [None] * len(held) for each in (SE, UNITS))
        ends = ends_of(item)
        limits = [_within(limits_of(value, error, count, level), ends) for value, error, count in zip(held, errors, folds, strict=True)]
        sides = dict(zip(LIMITS, ([low for low, _ in limits], [high for _, high in limits], errors, folds), strict=True))
        columns[name] = {f"{name}.{each}": pa.array(side, pa.int64() if each == UNITS else pa.float64()) for each, side in sides.items()}
    return columns


def _within(limits: list[float | None], ends: tuple[float, float] | None) -> list[float | None]:
    return limits if ends is None else [None if limit is None else min(max(limit, ends[0]), ends[1]) for limit in limits]


def _columns(errors: Errors, place: int, count: int) -> dict[str, pa.Array]:
    pairs = [errors.get((group, place), (None, None)) for group in range(count)]
    return {SE: pa.array([error for _, error in pairs], pa.float64()), UNITS: pa.array([folds for folds, _ in pairs], pa.int64())}
