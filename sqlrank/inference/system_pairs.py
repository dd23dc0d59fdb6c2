"""List the pairs of systems to compare: the baseline with every other, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, short_repr, suggest_choice

if TYPE_CHECKING:
    from collections.abc import Sequence


def list_pairs(systems: Sequence[str], baseline: Any) -> list[tuple[str, str]]:
    """Return the pairs to compare: the baseline with every other system, or all pairs.

    >>> list_pairs(["a", "b", "c"], None), list_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('b', 'a'), ('b', 'c')])
    """
    if len(systems) < 2:  # noqa: PLR2004  a comparison is of two
        available = f"there is only {systems[0]!r}" if systems else "there is none"
        raise MetricError(
            f"two systems are needed to compare, and {available}. Name their column with system=,"
            " or give a run of each, run={'old': ..., 'new': ...}, or scores of both,"
            " columns={'score': ['old', 'new']}"
        )
    if baseline is None:
        return [
            (first, second)
            for index, first in enumerate(systems)
            for second in systems[index + 1 :]
        ]
    if baseline not in systems:
        raise MetricError(
            suggest_choice(f"no system is called {short_repr(baseline)}", baseline, systems)
        )
    return [(baseline, system) for system in systems if system != baseline]
