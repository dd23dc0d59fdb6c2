"""Benchmark comparisons of per-query values by t, Wilcoxon and sign-flip tests against NumPy and
SciPy.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
from scipy import stats
from timing import parse_options, time_sides

from sqlrank.call.request import Request
from sqlrank.comparison.comparison_plan import ComparedMetric, ComparisonPlan
from sqlrank.comparison.paired_differences import PairedUnits
from sqlrank.comparison.paired_tests import TestOptions, run_tests
from sqlrank.registry.loader import load_registry

METRICS = 12


def draw_values(queries: int) -> tuple[pa.Table, dict[str, np.ndarray]]:
    """Return values of two systems for every query, as a table and as arrays."""
    draw = np.random.default_rng(0)
    columns = {
        f"m{number}": np.round(draw.beta(0.6, 1.2, 2 * queries), 4) for number in range(METRICS)
    }
    ids = [f"q{number}" for number in range(queries)]
    return pa.table(
        {"system": ["a"] * queries + ["b"] * queries, "query_id": ids * 2, **columns}
    ), columns


def compute_p_values(
    table: pa.Table, test: str, correction: str, replicates: int | None = None
) -> list[float | None]:
    """Return the p-values of all metrics."""
    measures = [
        ComparedMetric(name, "higher", is_proportion=True) for name in table.column_names[2:]
    ]
    asking = ComparisonPlan(
        Request(table.column_names[2:], {}), "system", [[]], measures, [], load_registry()
    )
    with duckdb.connect() as database:
        units = PairedUnits(database, [([], table)], asking, by_rows=False)
        compared = units.summarize_differences([("a", "b")])
        return [
            item.p
            for item in run_tests(
                compared, TestOptions(test, correction, 0.95, None, 0.8, replicates), units
            )
        ]


def scipy_t_and_wilcoxon(columns: dict[str, np.ndarray], queries: int) -> list[float]:
    """Return the p-values of both tests by SciPy."""
    p_values = []
    for column in columns.values():
        one, two = column[:queries], column[queries:]
        p_values += [
            stats.ttest_rel(two, one).pvalue,
            stats.wilcoxon(two - one, method="asymptotic", correction=False).pvalue,
        ]
    return p_values


def numpy_signs(columns: dict[str, np.ndarray], queries: int, replicates: int) -> np.ndarray:
    """Return the greatest mean difference of every replicate, the signs of queries drawn by
    NumPy.
    """
    differences = np.stack([column[queries:] - column[:queries] for column in columns.values()])
    draw = np.random.default_rng(0)
    greatest = np.empty(replicates)
    for replicate in range(replicates):
        signs = draw.integers(0, 2, queries) * 2.0 - 1
        greatest[replicate] = np.abs(differences @ signs).max()
    return greatest


def main() -> None:
    options = parse_options(__doc__, queries=50_000)
    table, columns = draw_values(options.queries)
    few, few_columns = draw_values(1000)
    for title, sides in {
        f"t and Wilcoxon, {METRICS} metrics, {options.queries:,} queries": {
            "sqlrank": lambda: (
                compute_p_values(table, "t", "holm"),
                compute_p_values(table, "wilcoxon", "holm"),
            ),
            "scipy": lambda: scipy_t_and_wilcoxon(columns, options.queries),
        },
        f"max-T, {METRICS} metrics, 999 draws, {options.queries:,} queries": {
            "sqlrank": lambda: compute_p_values(table, "t", "max_t", 999),
            "NumPy, one draw at a time": lambda: numpy_signs(columns, options.queries, 999),
        },
        f"max-T, {METRICS} metrics, 9,999 draws, 1,000 queries": {
            "sqlrank": lambda: compute_p_values(few, "t", "max_t", 9999),
            "NumPy, one draw at a time": lambda: numpy_signs(few_columns, 1000, 9999),
        },
    }.items():
        time_sides(title, sides, options.repeat)


if __name__ == "__main__":
    main()
