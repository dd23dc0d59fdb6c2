"""Benchmark differences between groups against fairlearn's MetricFrame: values alone, and with
intervals beside its bootstrap.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.metrics import accuracy_score, recall_score
from timing import check_agreement, parse_options, print_timings, run_in_turn

import sqlrank

METRICS = {"Accuracy": accuracy_score, "Recall": recall_score, "SelectionRate": selection_rate}


def make_rows(rows: int, groups: int) -> dict[str, np.ndarray]:
    """Make predictions of groups that differ."""
    draw = np.random.default_rng(0)
    group = draw.integers(0, groups, rows)
    score = np.round(draw.random(rows), 4)
    label = (draw.random(rows) < 0.2 + 0.5 * score + 0.2 * group / groups).astype(np.int64)
    return {
        "label": label,
        "score": score,
        "country": np.array([f"c{number}" for number in range(groups)])[group],
    }


def evaluate_fairlearn(
    columns: dict[str, np.ndarray], bootstraps: int | None = None
) -> dict[str, float]:
    """Return the difference of each metric; with bootstraps, compute its intervals too."""
    intervals = (
        {"n_boot": bootstraps, "ci_quantiles": [0.025, 0.975], "random_state": 0}
        if bootstraps
        else {}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = MetricFrame(
            metrics=METRICS,
            y_true=columns["label"],
            y_pred=(columns["score"] >= 0.5).astype(np.int64),
            sensitive_features=columns["country"],
            **intervals,
        )
        if bootstraps:
            frame.difference_ci()
        return {name: float(value) for name, value in frame.difference().items()}


def evaluate_sqlrank(table: pa.Table, confidence: float | None = None) -> dict[str, float]:
    """Return the difference of each metric; with a confidence level, compute its intervals too."""
    rows = sqlrank.evaluate(
        list(METRICS), predictions=table, across="country", confidence=confidence
    ).to_pylist()
    return {row["metric"]: row["difference"] for row in rows}


def main() -> None:
    """Run both comparisons and print them."""
    options = parse_options(__doc__, rows=1_000_000, groups=20, bootstraps=20)
    columns = make_rows(options.rows, options.groups)
    table = pa.table(columns)
    plain = {
        "sqlrank": lambda: evaluate_sqlrank(table),
        "fairlearn": lambda: evaluate_fairlearn(columns),
    }
    bootstrap = f"fairlearn, {options.bootstraps} bootstraps"
    with_intervals = {
        "sqlrank, 95 % intervals": lambda: evaluate_sqlrank(table, 0.95),
        bootstrap: lambda: evaluate_fairlearn(columns, options.bootstraps),
    }
    values = run_in_turn(plain, options.repeat)
    intervals = run_in_turn(with_intervals, options.repeat, once=(bootstrap,))
    check_agreement({}, values, intervals)
    rows = f"three metrics of {options.rows:,} rows in {options.groups} groups"
    print_timings(rows, values, next(iter(plain)))
    print_timings(f"{rows}, with intervals", intervals, next(iter(with_intervals)))


if __name__ == "__main__":
    main()
