"""The parts that rows are put into, and where one ends and the next begins."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

TICKETS = 2**32
"""How many tickets there are: eight hexadecimal digits."""

TRAIN_AND_TEST = ("train", "test")
MOST_PARTS = 10_000


def shares_of(given: Any) -> dict[str, Fraction]:
    """Return the share of each part, exactly as it is written; raise ``MetricError`` unless they are above 0 and add up to 1.

    >>> shares_of({"train": 0.8, "test": 0.2})["test"]
    Fraction(1, 5)
    """
    expected = "give parts with their shares, which add up to 1, such as {'train': 0.8, 'test': 0.2}"
    if not isinstance(given, Mapping) or not 1 < len(given) <= MOST_PARTS or not all(isinstance(name, str) and name for name in given):
        raise MetricError(f"shares={shown(given)} is not possible: {expected}")
    try:
        found = {name: Fraction(str(share)) for name, share in given.items()}
    except ValueError:
        raise MetricError(f"shares={shown(given)} is not possible: {expected}") from None
    total = sum(found.values(), Fraction(0))
    if min(found.values()) <= 0 or abs(total - 1) > Fraction(1, 10**9):
        raise MetricError(f"shares={shown(given)} is not possible: they are to be above 0, and add up to {float(total):g}; {expected}")
    return found


def folds_of(given: Any) -> dict[int, Fraction]:
    """Return folds of equal shares, numbered from 0."""
    if isinstance(given, bool) or not isinstance(given, int) or not 1 < given <= MOST_PARTS:
        raise MetricError(f"folds={shown(given)} is not possible: give a whole number from 2 to {MOST_PARTS}")
    return {number: Fraction(1, given) for number in range(given)}


def ends(shares: Sequence[Fraction]) -> list[Fraction]:
    """Return where each part but the last ends, as a share of all."""
    return [sum(shares[: place + 1], Fraction(0)) for place in range(len(shares) - 1)]


def ticket(end: Fraction) -> str:
    """Return the first ticket that is not below a share of them.

    >>> ticket(Fraction(1, 2)), ticket(Fraction(4, 5)), ticket(Fraction(9, 10))
    ('80000000', 'cccccccd', 'e6666667')
    """
    return f"{min(math.ceil(end * TICKETS), TICKETS - 1):08x}"


def bounds_of(given: Any) -> list[exp.Expr]:
    """Return bounds of time as literals: texts, numbers, dates or times, in ascending order."""
    values = given if isinstance(given, (list, tuple)) else [given]
    kinds = {type(value) for value in values}
    is_possible = len(kinds) == 1 and not kinds & {bool} and all(isinstance(value, (str, int, float, dt.date)) for value in values)
    if not is_possible or any(one >= two for one, two in pairwise(values)):
        raise MetricError(f"bounds={shown(given)} is not possible: give times in ascending order, such as ['2026-03-01']")
    return [_literal(value) for value in values]


def _literal(value: Any) -> exp.Expr:
    if isinstance(value, dt.datetime):
        return exp.cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ")
    if isinstance(value, dt.date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    literal: exp.Expr = exp.convert(value)
    return literal


def chosen(value: exp.Expr, limits: Sequence[exp.Expr], names: Sequence[str | int]) -> exp.Case:
    """Return the name of the first part whose limit a value is below, else the last."""
    ifs = [
        exp.If(this=exp.LT(this=value.copy(), expression=limit), true=exp.convert(name)) for limit, name in zip(limits, names, strict=False)
    ]
    return exp.Case(ifs=ifs, default=exp.convert(names[-1]))
