"""Benchmark experiments with one and several metrics against a GROUP BY of units, and Polars with
SciPy.
"""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
from data import store_rows
from scipy import stats
from timing import parse_options, time_sides

import sqlrank

ROWS_OF_A_UNIT = 4


def make_visits(rows: int) -> str:
    """Return a Parquet file of sessions of users, each in one of two variants, in random order,
    from hashes.
    """
    user = f"hash(i, 1) % {rows // ROWS_OF_A_UNIT}"
    columns = (
        f"{user} AS user_id, CASE WHEN hash({user}, 2) % 2 = 0 THEN 'control' ELSE 'treatment'"
        " END AS variant"
    )
    values = (
        "1 + hash(i, 3) % 5 AS views, CAST(hash(i, 4) % 20 = 0 AS INTEGER) AS clicks, (hash(i,"
        " 5) % 1000) / 50 AS spend"
    )
    return store_rows(
        f"visits_{rows}",
        f"SELECT {columns}, {values}, (hash(i, 6) % 100) / 9 AS before FROM range({rows}) AS t(i)",
    )


def group_units(path: str) -> Any:
    """Return the number of units and their sums, by the statement that any analysis begins with."""
    units = (
        "SELECT user_id, MIN(variant) AS variant, SUM(clicks) AS clicks, SUM(views) AS views FROM"
        f" '{path}' GROUP BY user_id"
    )
    return duckdb.sql(
        f"SELECT variant, COUNT(*), SUM(clicks), SUM(views) FROM ({units}) GROUP BY variant"
    ).fetchall()


def estimate_effects(path: str, metrics: dict[str, str], **options: Any) -> list[dict[str, Any]]:
    """Return sqlrank's effects."""
    return sqlrank.experiment(metrics, data=path, unit="user_id", **options).to_pylist()


def polars_and_scipy(path: str) -> float:
    """Return Welch's p of the clicks of users."""
    units = (
        pl.scan_parquet(path)
        .group_by("user_id")
        .agg(pl.col("variant").first(), pl.col("clicks").sum())
        .collect()
    )
    arms = [
        units.filter(pl.col("variant") == name)["clicks"].to_numpy()
        for name in ("treatment", "control")
    ]
    return float(stats.ttest_ind(*arms, equal_var=False).pvalue)


def main() -> None:
    options = parse_options(__doc__, repeat=5, rows=10_000_000)
    path = make_visits(options.rows)
    several = {"clicks": "Mean(clicks)", "ctr": "Ratio(clicks, views)", "spend": "Mean(spend)"}
    clicks, *_ = estimate_effects(path, {"clicks": several["clicks"]})
    if abs(clicks["p_value"] - polars_and_scipy(path)) > 1e-9:
        raise SystemExit("sqlrank and SciPy do not agree")
    time_sides(
        f"{options.rows:,} rows of {options.rows // ROWS_OF_A_UNIT:,} units",
        {
            "GROUP BY of units": lambda: group_units(path),
            "sqlrank, Ratio(clicks, views)": lambda: estimate_effects(
                path, {"ctr": several["ctr"]}
            ),
            "sqlrank, three metrics, one with a covariate": lambda: estimate_effects(
                path, several, covariates={"spend": "before"}
            ),
            "Polars and SciPy, Mean(clicks)": lambda: polars_and_scipy(path),
        },
        options.repeat,
    )


if __name__ == "__main__":
    main()
