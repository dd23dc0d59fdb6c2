"""What stands for a metric of predictions under an order of equal scores, where the order of rows of one class matters to it, too."""

from __future__ import annotations

from dataclasses import replace
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
"""``-- Orders: worst of PRAUC(interpolation=davis_goadrich)``: under this value of ties the metric is that one."""


def orders_of_predictions(library: Library) -> list[str]:
    """Return the values of ties that order predictions: those that say which thresholds there are."""
    return [value for value, files in library.policies["ties"]["values"].items() if "thresholds" in files]


def in_order(asked: Asked, library: Library) -> Asked:
    """Return a metric as the one that its file names for its order of equal scores, under the same name; any other as it is."""
    order, _, named = asked.file.facts.get(FACT, "").partition(" of ")
    if asked.home == "run" or not named or asked.settings.get("ties") != order:
        return asked
    other = read(named)
    file = library.checked(library.asked(other))
    defaults = {name: choice.default for name, choice in file.choices.items()}
    settings = {**defaults, **asked.settings, **dict(other.params)}
    return replace(asked, file=file, settings=settings, uses=uses(library, file, settings, *OF_LISTS))


def wrong_orders(file: SqlFile, library: Library) -> str:
    """Say what is wrong with what a file says of orders, if anything is."""
    order, _, named = file.facts[FACT].partition(" of ")
    orders = orders_of_predictions(library)
    if order not in orders or not named:
        return f"{FACT} names an order and a metric, as in '{orders[0]} of PRAUC'; orders are: {', '.join(orders)}"
    try:
        library.asked(read(named))
    except MetricError as error:
        return str(error)
    return ""
