"""Random collections beside other tools, and random values for all arguments: ``python -m
tests.fuzz --collections 10000 --seed 1``.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import predictions, rankings
from tests.interface.test_argument_values import try_any_value

KINDS: dict[str, Callable[[int, int], Iterator[str]]] = {
    "rankings beside pytrec_eval": rankings.compare_with_pytrec_eval,
    "rankings beside fractions": rankings.compare_with_fractions,
    "predictions beside fractions": predictions.compare_with_fractions,
    "predictions beside scikit-learn": predictions.compare_with_sklearn,
}
MAX_PRINTED = 5
"""Differences of a batch that are shown."""


def main(
    collections: Annotated[int, typer.Option(min=1, help="How many collections to draw.")] = 10_000,
    seed: Annotated[
        int,
        typer.Option(min=0, help="What they are drawn from; the same seed draws the same ones."),
    ] = 1,
    batch: Annotated[
        int, typer.Option(min=1, help="How many collections are groups of one call.")
    ] = 1000,
    arguments: Annotated[
        int, typer.Option(min=0, help="How many calls to make with random values for an argument.")
    ] = 500,
) -> None:
    """Compare sqlrank with other tools on random collections; end with 1 if anything differs."""
    started, done, wrong = time.monotonic(), 0, Counter[str]()
    number = 0
    while done < collections:
        kind = list(KINDS)[number % len(KINDS)]
        drawn_from = seed * 1_000_000 + number // len(KINDS)
        size = min(batch, collections - done)
        found = _find_differences(kind, drawn_from, size)
        wrong[kind] += len(found)
        done += size
        number += 1
        rate = done / (time.monotonic() - started)
        typer.echo(
            f"{done:,} of {collections:,} collections, {sum(wrong.values())} differences,"
            f" {rate:.0f} a second: {kind} ({drawn_from})"
        )
        for line in found[:MAX_PRINTED]:
            typer.echo(f"  {line}", err=True)
    if arguments:
        _try_any_arguments(arguments, seed)
        typer.echo(f"{arguments:,} random arguments raised nothing but errors of sqlrank")
    raise typer.Exit(int(sum(wrong.values()) > 0))


def _find_differences(kind: str, drawn_from: int, size: int) -> list[str]:
    """Return the differences in a batch; an error is a difference, too."""
    try:
        return list(KINDS[kind](drawn_from, size))
    # Whatever it is, the other batches are worth their time
    except Exception as error:  # noqa: BLE001
        return [f"{type(error).__name__}: {error}"]


def _try_any_arguments(count: int, drawn_from: int) -> None:
    checked = settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    seed(drawn_from)(checked(given(st.data())(try_any_value)))()


if __name__ == "__main__":
    typer.run(main)
