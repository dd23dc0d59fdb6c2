"""Errors of gates that are looked at after each ten queries until they decide, with intervals for
one look and for every look.

A candidate is worse by just the tolerance, so that each pass and each fail is an error, of which
2.5 % may happen to either side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

import sqlrank
from benchmarks.timing import parse_options
from sqlrank.comparison.comparison_plan import ComparedMetric
from sqlrank.comparison.paired_differences import DifferenceSummary
from sqlrank.comparison.paired_tests import ConfidenceSequence
from sqlrank.comparison.system_comparison import GatedDifference
from sqlrank.inference import FAIL, PASS, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

Generator = np.random.Generator
FIRST_LOOK, STEP, LEVEL, TOLERANCE = 20, 10, 0.95, 0.05
METRIC = ComparedMetric("metric", "higher", is_proportion=True)


def read_differences() -> np.ndarray:
    """Return the differences in nDCG@10 of the 60 questions in ``examples/data/rag``, less their
    mean.
    """
    answers = {name: f"examples/data/rag/{name}.jsonl" for name in ("baseline", "candidate")}
    columns = {"retrieved": "retrieved_ids", "relevant": "gold_ids"}
    rows = sqlrank.compare("nDCG@10", inputs={"answers": answers}, columns=columns, per_query=True)
    differences = rows["difference"].to_numpy()
    return np.asarray(differences - differences.mean())


def draw_sparse(rng: Generator, shape: tuple[int, int], share: float, gain: float) -> np.ndarray:
    """Return losses of 1 by a share of queries, and small gains of the others."""
    return np.where(rng.random(shape) < share, -1.0, gain) + share - (1 - share) * gain


DESIGNS: dict[str, Callable[[Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(0, 0.3, shape),
    "nDCG@10 of examples/data/rag, drawn again": lambda rng, shape: rng.choice(
        read_differences(), shape
    ),
    "two of five queries change": lambda rng, shape: (
        (rng.random(shape) < 0.4) * (rng.beta(0.5, 0.5, shape) - rng.beta(0.5, 0.5, shape))
    ),
    "one of ten changes, by 1": lambda rng, shape: rng.choice(
        [-1.0, 0.0, 1.0], shape, p=[0.05, 0.9, 0.05]
    ),
    "exponential": lambda rng, shape: 0.3 * (rng.exponential(1, shape) - 1),
    "lognormal": lambda rng, shape: 0.3 * (np.exp(rng.normal(0, 1, shape)) - np.exp(0.5)),
    "one of twenty loses 1, others gain": lambda rng, shape: draw_sparse(rng, shape, 0.05, 0.02),
}
"""Differences with a mean of 0 by their shape."""


def summarize_look(
    units: int, total: float, squares: float, losses: float, above: int, below: int
) -> DifferenceSummary:
    """Return the summary that a gate decides on at a look, by the sums of differences, of their
    squares and of decreases, and the number by sign.
    """
    mean = total / units
    se = max(0.0, (squares - units * mean * mean) / (units - 1) / units) ** 0.5
    numbers = {
        "value_baseline": 0.5,
        "value": 0.5 + mean,
        "difference": mean,
        "decrease": losses / units,
        "scale": 1.0,
        "se": se if se > 1e-9 else 0.0,
    }
    counts = {
        "units": units,
        "n_positive": above,
        "n_zero": units - above - below,
        "n_negative": below,
    }
    return DifferenceSummary(0, 0, 0, df=units - 1, **numbers, **counts)


def gate_repeatedly(differences: np.ndarray, sequence: ConfidenceSequence | None) -> str | None:
    """Return the first verdict that decides, None if none does."""
    sizes = np.arange(FIRST_LOOK, len(differences) + 1, STEP)
    sums = [
        np.cumsum(values)[sizes - 1].tolist()
        for values in (
            differences,
            differences**2,
            np.maximum(-differences, 0),
            differences > 0,
            differences < 0,
        )
    ]
    for look in zip(sizes.tolist(), *sums, strict=True):
        gated = GatedDifference(
            summarize_look(*look), METRIC, Tolerance(TOLERANCE), LEVEL, 1, FIRST_LOOK, sequence
        )
        if (verdict := gated.decide_verdict().verdict) in {PASS, FAIL}:
            return verdict
    return None


def main() -> None:
    options = parse_options(
        __doc__,
        samples=400,
        queries=1000,
        expected=[200, 1000, 5000],
        repeat=(1, "seed of the samples"),
    )
    database = duckdb.connect()
    sequences = {
        "one look": None,
        **{
            f"expected {number:,}": ConfidenceSequence(database, LEVEL, number)
            for number in options.expected
        },
    }
    table = Table(
        "differences of queries",
        *(f"{name}: passed, failed" for name in sequences),
        title="sqlrank gate, errors in percent",
    )
    for name, draw in DESIGNS.items():
        samples = (
            draw(np.random.default_rng(options.repeat), (options.samples, options.queries))
            - TOLERANCE
        )
        cells = []
        for sequence in sequences.values():
            verdicts = [gate_repeatedly(sample, sequence) for sample in samples]
            cells.append(
                ", ".join(
                    f"{100 * verdicts.count(verdict) / options.samples:.1f}"
                    for verdict in (PASS, FAIL)
                )
            )
        table.add_row(name, *cells)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
