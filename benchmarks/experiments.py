"""Benchmark experiments with one and several metrics against a GROUP BY of units, and Polars with
SciPy.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from comparison import time_in_turn
from rich.console import Console
from rich.table import Table
from scipy import stats

import sqlrank

ROWS_OF_A_UNIT = 4
FOLDER = Path(__file__).parent / "data"


def make_visits(rows: int) -> Path:
    """Return a Parquet file of sessions of users, each in one of two variants, in random order,
    from hashes.
    """
    path = FOLDER / f"visits_{rows}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        user = f"hash(i, 1) % {rows // ROWS_OF_A_UNIT}"
        columns = (
            f"{user} AS user_id, CASE WHEN hash({user}, 2) % 2 = 0 THEN 'control' ELSE 'treatment'"
            " END AS variant"
        )
        values = (
            "1 + hash(i, 3) % 5 AS views, CAST(hash(i, 4) % 20 = 0 AS INTEGER) AS clicks, (hash(i,"
            " 5) % 1000) / 50 AS spend"
        )
        duckdb.sql(
            f"COPY (SELECT {columns}, {values}, (hash(i, 6) % 100) / 9 AS before FROM range({rows})"
            f" AS t(i)) TO '{path}'"
        )
    return path


def group_units(path: Path) -> Any:
    """Return the number of units and their sums, by the statement that any analysis begins with."""
    units = (
        "SELECT user_id, MIN(variant) AS variant, SUM(clicks) AS clicks, SUM(views) AS views FROM"
        f" '{path}' GROUP BY user_id"
    )
    return duckdb.sql(
        f"SELECT variant, COUNT(*), SUM(clicks), SUM(views) FROM ({units}) GROUP BY variant"
    ).fetchall()


def estimate_effects(path: Path, metrics: dict[str, str], **options: Any) -> list[dict[str, Any]]:
    """Return sqlrank's effects."""
    return sqlrank.experiment(metrics, data=path, unit="user_id", **options).to_pylist()


def polars_and_scipy(path: Path) -> float:
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    path = make_visits(options.rows)
    several = {"clicks": "Mean(clicks)", "ctr": "Ratio(clicks, views)", "spend": "Mean(spend)"}
    if (
        abs(
            estimate_effects(path, {"clicks": "Mean(clicks)"})[0]["p_value"]
            - polars_and_scipy(path)
        )
        > 1e-9
    ):
        raise SystemExit("sqlrank and SciPy do not agree")
    medians = time_in_turn(
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
    title = (
        f"{options.rows:,} rows of {options.rows // ROWS_OF_A_UNIT:,} units, median of"
        f" {options.repeat} in turn"
    )
    output = Table("", "seconds", "ratio to GROUP BY", title=title)
    for name, seconds in medians.items():
        output.add_row(name, f"{seconds:.2f}", f"{seconds / medians['GROUP BY of units']:.2f}")
    Console(width=110).print(output)


if __name__ == "__main__":
    main()
