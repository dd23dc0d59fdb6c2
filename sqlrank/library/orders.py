"""What stands for a metric of predictions under an order of equal scores, where the order of rows of one class matters to it, too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlrank.errors import MetricError
from sqlrank.library.metric import read
from sqlrank.library.refusals import OF_LISTS
from sqlrank.library.uses import uses

if TYPE_CHECKING:
    from sqlrank.library.asked import Asked
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library

FACT = "Orders"
"""``-- Orders: worst of PRAUC(interpolation=davis_goadrich) to best``: what no order of equal scores goes below, to what none goes above."""

TIED = "tied"
"""The order of a bound that is the value itself, ties being what they are."""


@dataclass(frozen=True)
class Bound:
    """A value of ties under which a metric is as low, or as high, as can be, and the metric that it is then, if not itself."""

    order: str
    metric: str | None = None


def bounds_of(file: SqlFile) -> tuple[tuple[Bound, ...], tuple[Bound, ...]] | None:
    """Return the orders of which the least is the least value of a metric, and those for the greatest; None if its file names none."""
    least, _, greatest = file.facts.get(FACT, "").partition(" to ")
    return (_bounds(least), _bounds(greatest)) if greatest else None


def _bounds(said: str) -> tuple[Bound, ...]:
    parts = (part.partition(" of ") for part in said.split(" or "))
    return tuple(Bound(order, metric or None) for order, _, metric in parts)


def orders_of_predictions(library: Library) -> list[str]:
    """Return the values of ties that order predictions: those that say which thresholds there are."""
    return [value for value, files in library.policies["ties"]["values"].items() if "thresholds" in files]


def in_order(asked: Asked, library: Library) -> Asked:
    """Return a metric as the one that its file names for its order of equal scores, under the same name; any other as it is."""
    bounds = [bound for side in bounds_of(asked.file) or () for bound in side]
    named = next((bound.metric for bound in bounds if bound.order == asked.settings.get("ties")), None)
    if asked.home == "run" or named is None:
        return asked
    other = read(named)
    file = library.checked(library.asked(other))
    defaults = {name: choice.default for name, choice in file.choices.items()}
    settings = {**defaults, **asked.settings, **dict(other.params)}
    return replace(asked, file=file, settings=settings, uses=uses(library, file, settings, *OF_LISTS))


def wrong_orders(file: SqlFile, library: Library) -> str:
    """Say what is wrong with what a file says of orders, if anything is."""
    orders = [*orders_of_predictions(library), TIED]
    bounds = bounds_of(file)
    if bounds is None or not {bound.order for side in bounds for bound in side} <= set(orders):
        return f"{FACT} names orders from the least to the greatest, as in 'worst to best of PRAUC'; orders are: {', '.join(orders)}"
    try:
        for bound in (bound for side in bounds for bound in side if bound.metric is not None):
            library.asked(read(str(bound.metric)))
    except MetricError as error:
        return str(error)
    return ""
