"""Benchmark intervals: analytic ones, the bootstrap against SciPy, and two scores of the same rows
against MLstatkit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
from data import store_rows
from MLstatkit import Delong_test
from scipy import stats
from timing import Sides, parse_options, time_sides

import sqlrank

if TYPE_CHECKING:
    import pyarrow as pa

RANKINGS = [
    "nDCG@5",
    "nDCG@10",
    "AP",
    "AP@10",
    "RR",
    "P@5",
    "P@10",
    "R@10",
    "Rprec",
    "ERR@10",
    "RBP",
    "Success@10",
]
SUMS = [
    "LogLoss",
    "Brier",
    "MAE",
    "MSE",
    "RMSE",
    "Bias",
    "CalibrationRatio",
    "Precision",
    "Recall",
    "Accuracy",
    "MCC",
    "NormalizedEntropy",
]
REPLICATES = 999
UNTIED = 1_000_000_007
"""So many values that hardly any two scores are equal."""


def store_shuffled(name: str, query: str) -> str:
    """Return a Parquet file of the rows of a query, in random order."""
    return store_rows(name, f"SELECT * FROM ({query}) ORDER BY hash(i)")


def make_lists(queries: int) -> dict[str, str]:
    """Return a run of ten documents per query and their judgments."""
    rows = (
        "SELECT i, i // 10 AS query_id, i % 10 AS doc_id, (hash(i, 1) % 100000) / 100000 AS score"
        f" FROM range({10 * queries}) AS t(i)"
    )
    judged = (
        "SELECT i, i // 10 AS query_id, i % 10 AS doc_id, greatest(CAST(hash(i, 2) % 20 AS"
        f" INTEGER) - 16, 0) AS relevance FROM range({10 * queries}) AS t(i)"
    )
    return {
        "run": store_shuffled(f"run_{queries}", rows),
        "qrels": store_shuffled(f"qrels_{queries}", judged),
    }


def two_model_predictions(rows: int, values: int = 100_000) -> str:
    """Return predictions of two models, whose scores have so many ``values``, 5 % of them
    positives, of users with twenty rows.
    """
    label = "CAST(hash(i, 1) % 20 = 0 AS INTEGER)"
    scores = ", ".join(
        f"((hash(i, {number}) % {values}) / {values} * 0.8 + {label} * 0.1 + 0.05) AS {name}"
        for number, name in ((2, "a"), (3, "b"))
    )
    return store_shuffled(
        f"predictions_{rows}_{values}",
        f"SELECT i, hash(i, 4) % {rows // 20} AS user_id, {label} AS label, {scores} FROM"
        f" range({rows}) AS t(i)",
    )


def evaluate_interval(metrics: Any, **options: Any) -> pa.Table:
    """Return sqlrank's interval."""
    return sqlrank.evaluate(metrics, check="off", **options)


def scipy_bootstrap(columns: list[np.ndarray]) -> list[Any]:
    """Return the intervals of means by SciPy, which draws as many at a time as memory holds."""
    draw = np.random.default_rng(0)
    options: dict[str, Any] = {
        "n_resamples": REPLICATES,
        "method": "percentile",
        "batch": 20,
        "rng": draw,
    }
    return [
        stats.bootstrap((column,), np.mean, **options).confidence_interval for column in columns
    ]


def ours_of_two(path: str) -> pa.Table:
    """Return sqlrank's interval of the difference of two areas."""
    return sqlrank.compare("AUC", predictions=path, columns={"score": ["a", "b"]})


def compute_delong_z(path: str) -> Any:
    """Return the z of MLstatkit's test, its reading included."""
    table = duckdb.sql(f"SELECT label, a, b FROM '{path}'").fetchnumpy()
    return Delong_test(table["label"], table["a"], table["b"])


def list_tables(queries: int, rows: int) -> dict[str, Sides]:
    """Return the sides of each table by its title; ratios are to the first."""
    ranked, few, path, untied = (
        make_lists(queries),
        make_lists(queries // 4),
        two_model_predictions(rows),
        two_model_predictions(rows, UNTIED),
    )
    values = evaluate_interval(RANKINGS, per_query=True, **few)
    columns = [values[name].to_numpy() for name in RANKINGS]
    predictions: dict[str, Any] = {"predictions": path, "columns": {"score": "a"}}
    interval: dict[str, Any] = {"confidence": 0.95}
    drawn = {**interval, "interval": "bootstrap", "replicates": REPLICATES}
    return {
        f"{len(RANKINGS)} metrics of rankings, {queries:,} queries of ten": {
            "values": lambda: evaluate_interval(RANKINGS, **ranked),
            "with intervals": lambda: evaluate_interval(RANKINGS, **ranked, **interval),
        },
        f"bootstrap, {len(RANKINGS)} metrics, {REPLICATES} replicates, {queries // 4:,} queries (sqlrank: with the metrics)": {  # noqa: E501
            "sqlrank": lambda: evaluate_interval(RANKINGS, **few, **drawn),
            "scipy, of values": lambda: scipy_bootstrap(columns),
        },
        f"AUC, {rows:,} predictions": {
            "value": lambda: evaluate_interval("AUC", **predictions),
            "with its interval": lambda: evaluate_interval("AUC", **predictions, **interval),
            "by users": lambda: evaluate_interval("AUC", **predictions, **interval, unit="user_id"),
            "APS with its interval": lambda: evaluate_interval("APS", **predictions, **interval),
        },
        f"{len(SUMS)} metrics of sums, {rows:,} predictions": {
            "values": lambda: evaluate_interval(SUMS, **predictions),
            "intervals by rows": lambda: evaluate_interval(SUMS, **predictions, **interval),
            f"intervals by {rows // 20:,} users": lambda: evaluate_interval(
                SUMS, **predictions, **interval, unit="user_id"
            ),
        },
        f"AUC of two scores of the same {rows:,} rows": {
            "sqlrank": lambda: ours_of_two(path),
            "MLstatkit": lambda: compute_delong_z(path),
        },
        f"the same, hardly any of the {rows:,} rows being tied": {
            "sqlrank": lambda: ours_of_two(untied),
            "MLstatkit": lambda: compute_delong_z(untied),
        },
    }


def compare_tests(path: str) -> None:
    """Stop if the two tests of areas do not agree."""
    (row,) = ours_of_two(path).to_pylist()
    z = abs(float(compute_delong_z(path)[0]))
    if abs(abs(row["difference"]) / row["se"] - z) > 1e-6 * max(1.0, z):
        raise SystemExit(f"sqlrank and MLstatkit do not agree: {row}, {z}")


def main() -> None:
    options = parse_options(__doc__, queries=200_000, rows=2_000_000)
    for values in (100_000, UNTIED):
        compare_tests(two_model_predictions(min(options.rows, 100_000), values))
    for title, sides in list_tables(options.queries, options.rows).items():
        time_sides(title, sides, options.repeat)


if __name__ == "__main__":
    main()
