"""Measure the coverage and width of 95 % intervals with few effective units, with and without adjustment.

Each design is drawn many times and evaluated in one call; the truth is the metric of a sample of a million rows. What is printed are
the tables of docs/confidence.md: ``python benchmarks/interval_coverage.py --samples 1000``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

import sqlrank

SHARES = ["APS", "Precision", "Recall", "FBeta", "Brier", "BaseRate", "AUC"]
OTHERS = ["LogLoss", "NormalizedEntropy", "CalibrationRatio", "RMSE"]
METRICS = [*SHARES, "MCC", *OTHERS]
RANKINGS = ["AP", "RR", "nDCG@10", "P@10"]
TAILS = ["normal", "exponential"]
LARGE = 1_000_000
FEWEST_VALUES = 0.5
"""The share of samples in which a metric has to have an interval to be listed."""


@dataclass(frozen=True)
class Design:
    """The design of samples: a logistic model, optionally with ``units`` of a common effect, and lognormal weights."""

    name: str
    rows: int
    intercept: float = -0.5
    slope: float = 1.5
    threshold: float = 0.5
    sigma: float = 0.0
    units: int = 0
    is_uneven: bool = False

    def draw_samples(self, samples: int, rng: np.random.Generator, is_truth: bool = False) -> dict[str, np.ndarray]:
        """Return the columns of so many samples; of the truth, one of many rows."""
        size = self.rows if not self.units else 20
        count = max(1, LARGE // size) if is_truth and self.units else self.units
        if self.units:
            sizes = rng.geometric(1 / size, (samples, count)) if self.is_uneven else np.full((samples, count), size)
            sample = np.repeat(np.repeat(np.arange(samples), count), sizes.ravel())
            unit = np.repeat(np.tile(np.arange(count), samples), sizes.ravel())
            effect = np.repeat(rng.normal(0, 0.6, sizes.size), sizes.ravel())
            weight = np.repeat(np.exp(rng.normal(0, self.sigma, sizes.size)), sizes.ravel())
        else:
            rows = LARGE if is_truth else samples * size
            sample = np.zeros(rows, int) if is_truth else np.repeat(np.arange(samples), size)
            unit, effect = np.arange(rows), np.zeros(rows)
            weight = np.exp(rng.normal(0, self.sigma, rows))
        feature = self.slope * rng.normal(size=len(sample)) + effect
        label = (rng.random(len(sample)) < 1 / (1 + np.exp(-self.intercept - feature))).astype(int)
        score = 1 / (1 + np.exp(-self.intercept - 0.1 - 0.9 * feature - 0.5 * rng.normal(size=len(sample))))
        return {"sample": sample, "unit": unit, "label": label, "score": np.clip(score, 1e-9, 1 - 1e-9), "weight": weight}


DESIGNS = [
    Design("7 positives of 500 rows", 500, -5.2, threshold=0.05),
    Design("11 of 1,000", 1000, -5.55, threshold=0.05),
    Design("53 of 2,000", 2000, -4.6, threshold=0.05),
    Design("50 rows, lognormal weights", 50, sigma=1.0),
    Design("200 rows, lognormal weights", 200, sigma=1.0),
    Design("10 users of 20 rows", 0, -1.0, 1.2, units=10),
    Design("10 users, geometric sizes", 0, -1.0, 1.2, units=10, is_uneven=True),
    Design("20 users, geometric sizes", 0, -1.0, 1.2, units=20, is_uneven=True),
    Design("50 users, geometric sizes", 0, -1.0, 1.2, units=50, is_uneven=True),
    Design("10 users, lognormal weights", 0, -1.0, 1.2, sigma=0.8, units=10),
    Design("20 users, lognormal weights", 0, -1.0, 1.2, sigma=0.8, units=20),
    Design("2,000 rows", 2000),
]


def evaluate_limits(metrics: list[str], table: pa.Table, interval: str = "auto", **options: Any) -> dict[str, np.ndarray]:
    """Return the values and limits of metrics of all samples, of shape (3, samples)."""
    result = sqlrank.evaluate(metrics, predictions=table, by="sample", confidence=0.95, interval=interval, check="off", **options)
    names = {metric: next(name for name in result.column_names if name.partition("(")[0] == metric) for metric in metrics}
    return {
        metric: np.array([result[f"{name}{what}"].to_pylist() for what in ("", ".ci_low", ".ci_high")], dtype=float)
        for metric, name in names.items()
    }


def measure_coverage(design: Design, samples: int, metrics: list[str] | None = None) -> dict[str, tuple[float, float]]:
    """Return by metric in how many of 100 samples with an interval it holds the truth, and its mean width over the width without adjustment."""
    chosen = METRICS if metrics is None else metrics
    rng = np.random.default_rng([design.rows, design.units, int(10 * design.sigma), samples])
    options = {"threshold": design.threshold} if {"Precision", "Recall", "FBeta", "MCC"} & {*chosen} else {}
    truth = sqlrank.evaluate(chosen, predictions=pa.table(design.draw_samples(1, rng, is_truth=True)), check="off", **options).to_pylist()[
        0
    ]
    table = pa.table(design.draw_samples(samples, rng))
    table = table if design.sigma else table.drop_columns(["weight"])
    options |= {"unit": "unit"} if design.units else {}
    adjusted = evaluate_limits(chosen, table, **options)
    plain: dict[str, np.ndarray] = {}
    for interval, kinds in (("wilson", SHARES), ("t", ["MCC", *OTHERS])):
        if some := [metric for metric in chosen if metric in kinds]:
            used = {
                name: value for name, value in options.items() if name != "threshold" or {"Precision", "Recall", "FBeta", "MCC"} & {*some}
            }
            plain |= evaluate_limits(some, table, interval, **used)
    return {metric: _measure_coverage(adjusted[metric], plain[metric], truth[metric]) for metric in chosen}


def _measure_coverage(adjusted: np.ndarray, plain: np.ndarray, truth: float) -> tuple[float, float]:
    there = ~np.isnan(adjusted[1]) & ~np.isnan(plain[1])
    _, low, high = adjusted[:, there]
    if there.mean() < FEWEST_VALUES:
        return np.nan, np.nan
    return 100 * float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low) / np.mean(plain[2, there] - plain[1, there]))


def query_values(queries: int, samples: int, shift: float, seed: int = 13) -> dict[str, np.ndarray]:
    """Return the values of ranking metrics of queries of 40 documents, of shape (samples, queries)."""
    rng, documents = np.random.default_rng([seed, queries, int(10 * shift)]), 40
    relevant = rng.integers(1, 6, (samples * queries, 1))
    is_relevant = np.arange(documents) < relevant
    score = rng.normal(size=is_relevant.shape) + is_relevant * (shift + 0.7 * rng.normal(size=relevant.shape))
    hits = np.take_along_axis(is_relevant, np.argsort(-score, 1), 1)
    rank = np.arange(1, documents + 1)
    discount = 1 / np.log2(rank + 1)
    values = {
        "AP": (hits * np.cumsum(hits, 1) / rank).sum(1) / relevant[:, 0],
        "RR": np.where(hits.any(1), 1 / (1 + hits.argmax(1)), 0.0),
        "nDCG@10": (hits * discount)[:, :10].sum(1) / np.cumsum(discount)[np.minimum(relevant[:, 0], 10) - 1],
        "P@10": hits[:, :10].mean(1),
    }
    return {name: value.reshape(samples, queries) for name, value in values.items()}


def coverage_of_queries(queries: int, samples: int, shift: float) -> dict[str, tuple[float, float]]:
    """Return the same of means over queries: means of shares are the same for all ranking metrics, here the Brier score of as many rows."""
    truth = {name: values.mean() for name, values in query_values(1, 400_000, shift, seed=14).items()}
    coverage = {}
    for name, values in query_values(queries, samples, shift).items():
        # A row of label 0 and the root of a value as its score has that value as its squared error.
        sample = np.repeat(np.arange(samples), queries)
        table = pa.table({"sample": sample, "label": np.zeros(values.size), "score": np.sqrt(values.ravel())})
        coverage[name] = _measure_coverage(
            evaluate_limits(["Brier"], table)["Brier"], evaluate_limits(["Brier"], table, "wilson")["Brier"], truth[name]
        )
    return coverage


def coverage_of_areas(positives: int, negatives: int, area: float, samples: int, tail: str) -> float:
    """Return in how many of 100 samples the interval of AUC holds the true area of scores with a ``normal`` or an ``exponential`` tail."""
    rng = np.random.default_rng([positives, negatives, int(1000 * area), samples])
    shape = (samples, positives + negatives)
    is_positive = np.broadcast_to(np.arange(shape[1]) < positives, shape)
    if tail == "normal":
        score = rng.normal(size=shape) + is_positive * NormalDist().inv_cdf(area) * 2**0.5
    else:
        score = rng.exponential(size=shape) * np.where(is_positive, area / (1 - area), 1)
    table = pa.table({"sample": np.repeat(np.arange(samples), shape[1]), "label": is_positive.ravel().astype(int), "score": score.ravel()})
    _, low, high = evaluate_limits(["AUC"], table)["AUC"]
    return 100 * float(np.mean((low <= area) & (area <= high)))


def format_cells(coverage: dict[str, tuple[float, float]]) -> str:
    """Return a row of the table."""
    return " | ".join("" if np.isnan(share) else f"{share:.0f} ({width:.2f})" for share, width in coverage.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    options = parser.parse_args()
    print(f"| sample | {' | '.join(METRICS)} |\n|---|{'---:|' * len(METRICS)}")
    for design in DESIGNS:
        print(f"| {design.name} | {format_cells(measure_coverage(design, options.samples))} |", flush=True)
    print(f"\n| queries | {' | '.join(RANKINGS)} |\n|---|{'---:|' * len(RANKINGS)}")
    for queries in (10, 20, 50):
        for level, shift in (("easy", 4.0), ("fair", 2.0), ("hard", 0.8)):
            print(f"| {queries}, {level} | {format_cells(coverage_of_queries(queries, options.samples, shift))} |", flush=True)
    print(f"\n| positives, negatives, AUC | {' | '.join(TAILS)} |\n|---|---:|---:|")
    for positives, negatives in ((20, 1000), (100, 5000)):
        for area in (0.8, 0.95, 0.99):
            shares = (f"{coverage_of_areas(positives, negatives, area, options.samples, tail):.0f}" for tail in TAILS)
            print(f"| {positives}, {negatives}, {area} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
