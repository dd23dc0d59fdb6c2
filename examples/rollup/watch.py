"""Watch a model from sums of days: a day that comes late, one that is corrected, the AUC of the
last seven days, and an alert.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

import sqlrank
from sqlrank.charts.export import save_chart

HERE = Path(__file__).parent
METRICS = ["AUC", "LogLoss", "CalibrationRatio"]
LATE, CORRECTED = "2026-03-12", "2026-03-10"
TOLERANCES = {"AUC": 0.05, "PSI": 0.25}


def store_day(duck: duckdb.DuckDBPyConnection, day: str) -> None:
    """Write the sums of a day into the table ``daily_rollup``, in the place of those that it
    has.
    """
    sqlrank.rollup(
        METRICS,
        predictions="impressions",
        columns={"label": "known"},
        by=["day", "campaign"],
        where=f"day = DATE '{day}'",
        connection=duck,
        insert="daily_rollup",
        overwrite_by="day",
    )


def print_weeks(duck: duckdb.DuckDBPyConnection, title: str) -> None:
    """Print the AUC of the last seven days, at four of the days."""
    print(f"\n{title}")
    rows = sqlrank.evaluate(
        "AUC",
        rollup="daily_rollup",
        connection=duck,
        window_days=7,
        window_ends=f"day BETWEEN DATE '{CORRECTED}' AND DATE '2026-03-14'",
    )
    for row in rows.to_pylist():
        print(
            f"{row['day']}  AUC {row['AUC']:.4f} ({row['AUC.bound_low']:.4f} to"
            f" {row['AUC.bound_high']:.4f})  {row['num_days']} of 7 days"
        )


def main() -> None:
    """Keep four weeks, correct two days, draw the last seven days of each, and compare the last
    week with those before.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--chart",
        type=Path,
        default=Path("auc.svg"),
        help="where to draw the AUC of the last seven days",
    )
    options = parser.parse_args()
    duck = duckdb.connect()
    duck.execute(f"CREATE TABLE impressions AS {(HERE / 'impressions.sql').read_text('utf-8')}")
    # The labels of the corrected day are those of its evening, in a column of their own.
    duck.execute("ALTER TABLE impressions ADD COLUMN known INT")
    duck.execute(
        f"UPDATE impressions SET known = CASE WHEN day = DATE '{CORRECTED}' THEN late_click ELSE"
        " click END"
    )
    days = [
        str(day)
        for (day,) in duck.execute("SELECT DISTINCT day FROM impressions ORDER BY day").fetchall()
    ]
    for day in days:
        if day != LATE:
            store_day(duck, day)
    print_weeks(
        duck,
        f"Without {LATE}, which is late, and with the clicks of {CORRECTED} that were known in the"
        " evening:",
    )

    duck.execute("UPDATE impressions SET known = click")
    for day in (CORRECTED, LATE):
        store_day(duck, day)
    print_weeks(duck, "With both days as they are:")

    rolling = sqlrank.evaluate(
        "AUC", rollup="daily_rollup", connection=duck, window_days=7, by="campaign"
    )
    save_chart(sqlrank.chart(rolling), options.chart)
    print(f"\ndrawn: {options.chart.name}\n")

    moved = sqlrank.drift(
        METRICS,
        rollup="daily_rollup",
        connection=duck,
        by="campaign",
        reference="day < DATE '2026-03-22'",
        current="day >= DATE '2026-03-22'",
        tolerance=TOLERANCES,
    )
    for row in moved.to_pylist():
        if row["verdict"] is not None:
            print(
                f"{row['verdict']:12} campaign {row['campaign']}  {row['metric']} "
                f" {row['difference']:+.4f}"
            )
    print(f"verdict: {moved.schema.metadata[b'sqlrank.verdict'].decode()}")


if __name__ == "__main__":
    main()
