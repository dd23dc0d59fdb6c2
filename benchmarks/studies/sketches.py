"""Compare the accuracy of a 30-day AUC from daily summaries: bins of a rollup against quantile
sketches of equal bytes.

A sketch is kept of each class and day, and those of all days are merged; of a rollup, the rows of
all days are added up.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import datasketches as sketches
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table

import sqlrank
from benchmarks.data import IMPRESSIONS
from benchmarks.timing import CORES, console, parse_options, print_introduction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DAYS = 30
POINTS = 20_000
"""Ranks at which the scores of positives are looked up, whose error is then far below that of any
sketch.
"""

ROW_BYTES = 24
"""A row of a rollup in a file: its bin, and the weights of positives and negatives."""

N_BINS = (512, 1024, 2048)
SKETCHES: dict[str, Callable[[], Any]] = {
    "KLL, k=200": lambda: sketches.kll_doubles_sketch(200),
    "KLL, k=800": lambda: sketches.kll_doubles_sketch(800),
    "classic quantiles, k=128": lambda: sketches.quantiles_doubles_sketch(128),
    "t-digest, k=100": lambda: sketches.tdigest_double(100),
    "t-digest, k=400": lambda: sketches.tdigest_double(400),
}


def draw_clicks(rows: int, seed: int) -> pa.Table:
    """Return calibrated click rates of thirty days, some 0.3 % on the average, and clicks."""
    drawn = np.random.default_rng(seed)
    score = 1 / (1 + np.exp(6.2 - drawn.normal(size=rows)))
    return pa.table(
        {
            "day": np.arange(rows) % DAYS,
            "score": score,
            "label": (drawn.random(rows) < score).astype(np.int64),
        }
    )


def open_bandit(score: str) -> pa.Table:
    """Return the 40,000 impressions of the Open Bandit data."""
    table = pq.read_table(IMPRESSIONS)
    return pa.table(
        {
            "day": table["timestamp"].cast(pa.date32()),
            "score": table[score].cast(pa.float64()),
            "label": table["click"],
        }
    )


def share_below(sketch: Any, points: np.ndarray) -> np.ndarray:
    """Return the share of a sketch's values below each point, and half of those at it where the
    sketch has them.
    """
    if isinstance(sketch, sketches.tdigest_double):
        return np.array([sketch.get_rank(point) for point in points])
    steps, positions = np.unique(points, return_inverse=True)
    without, within = (
        np.array(sketch.get_cdf(steps.tolist(), is_inclusive)[:-1])
        for is_inclusive in (False, True)
    )
    return ((without + within) / 2)[positions]


def merge_sketches(make: Callable[[], Any], parts: Iterable[np.ndarray]) -> tuple[Any, int]:
    """Return one sketch of all days, and the bytes of the sketches of each."""
    merged, size = make(), 0
    for part in parts:
        sketch = make()
        sketch.update(part)
        size += len(sketch.serialize())
        merged.merge(sketch)
    return merged, size


def sketch_auc(make: Callable[[], Any], table: pa.Table) -> tuple[float, float]:
    """Return the AUC of merged sketches, and their bytes a day."""
    day, score, label = (table[name].to_numpy() for name in ("day", "score", "label"))
    days = np.unique(day)
    positives, size = merge_sketches(make, (score[(day == one) & (label == 1)] for one in days))
    negatives, more = merge_sketches(make, (score[(day == one) & (label == 0)] for one in days))
    points = np.array([positives.get_quantile(rank) for rank in (np.arange(POINTS) + 0.5) / POINTS])
    return float(share_below(negatives, points).mean()), (size + more) / len(days)


def rollup_auc(n_bins: int, table: pa.Table) -> tuple[float, float, float]:
    """Return the AUC of a rollup, half of the distance between its bounds, and its bytes a day."""
    rollup = sqlrank.rollup("AUC", predictions=table, by="day", n_bins=n_bins)
    (row,) = sqlrank.evaluate("AUC", rollup=rollup).to_pylist()
    days = len(table["day"].unique())
    return (
        row["AUC"],
        (row["AUC.bound_high"] - row["AUC.bound_low"]) / 2,
        rollup.num_rows * ROW_BYTES / days,
    )


def compare_errors(title: str, tables: list[pa.Table]) -> Table:
    """Return a table of the errors of each side over some data: the root of the mean square."""
    truths = [sqlrank.evaluate("AUC", predictions=table)["AUC"][0].as_py() for table in tables]

    def format_errors(
        values: list[float], sizes: list[float], certain: str
    ) -> tuple[str, str, str]:
        square = fmean((value - truth) ** 2 for value, truth in zip(values, truths, strict=True))
        return f"{fmean(sizes) / 1000:.1f}", f"{square**0.5:.1e}", certain

    output = Table("", "kB a day", "error of AUC", "certain within", title=title)
    for n_bins in N_BINS:
        values, halves, sizes = zip(*(rollup_auc(n_bins, table) for table in tables), strict=True)
        if any(
            abs(value - truth) > 2 * half
            for value, truth, half in zip(values, truths, halves, strict=True)
        ):
            raise SystemExit(f"n_bins {n_bins}: the truth is not between the bounds")
        output.add_row(
            f"sqlrank.rollup, n_bins={n_bins}",
            *format_errors(list(values), list(sizes), f"± {max(halves):.4f}"),
        )
    for name, make in SKETCHES.items():
        values, sizes = zip(*(sketch_auc(make, table) for table in tables), strict=True)
        output.add_row(name, *format_errors(list(values), list(sizes), "-"))
    return output


def main() -> None:
    options = parse_options(
        __doc__,
        rows=(2_000_000, "of thirty days together"),
        repeat=(5, "how many months are drawn"),
    )
    print_introduction(CORES, ["duckdb", "datasketches"])
    console.print(
        compare_errors(
            f"{options.rows:,} simulated impressions of {DAYS} days, {options.repeat} times",
            [draw_clicks(options.rows, seed) for seed in range(options.repeat)],
        )
    )
    for score in ("score_logistic", "score_boosting"):
        console.print(
            compare_errors(f"Open Bandit, 40,000 impressions, {score}", [open_bandit(score)])
        )


if __name__ == "__main__":
    main()
