"""Measure table macros beside the statements that sqlrank prints for the same metrics, in processor time of one thread."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb
from timing import Sides, Target, Values, check_agreement, print_introduction, print_targets, print_timings, run_in_turn

import sqlrank

MOST = 1.1
"""The most that a macro that is installed without checks should take, as a multiple of the printed statement."""

LONGEST_ATTACHMENT = 0.1
"""Most seconds of a processor in which a file with all functions should be attached."""

FUNCTIONS = {"AUC": "auc", "LogLoss": "log_loss", "Brier": "brier"}


def execute_query(connection: duckdb.DuckDBPyConnection, query: str) -> Values:
    """Return the values of a query by the text of their group, with the seconds on a processor, of which ``os.times`` knows hundredths."""
    begun = time.process_time()
    rows = connection.execute(query).fetchall()
    return {"processor": time.process_time() - begun, **{str(row[0]): row[-1] for row in rows}}


def measure_attachment(repeat: int) -> float:
    """Return the median processor time of attaching a file with all functions."""
    script = sqlrank.functions()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "functions.duckdb"
        script.run(file)
        seconds = []
        for _ in range(repeat):
            with duckdb.connect() as connection:
                begun = time.process_time()
                connection.execute(f"ATTACH '{file}' AS metrics (READ_ONLY)")
                seconds.append(time.process_time() - begun)
    median = statistics.median(seconds)
    print(f"attached {len(script.functions)} functions, {len(script.sql):,} characters, in {1000 * median:.0f} ms of a processor")
    return median


def main() -> None:
    """Print a table per metric, with and without a group, and whether the targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print_introduction(1, ["duckdb"])
    attachment = measure_attachment(arguments.repeat)
    targets = [Target("all functions: processor time of attaching them, of a tenth of a second", attachment / LONGEST_ATTACHMENT, 1)]
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute(
            "CREATE TABLE predictions AS SELECT CAST(HASH(i) % 10 AS INTEGER) AS campaign, HASH(i * 7) % 1000003 / 1000003.0 AS score, "
            "CAST(HASH(i * 13) % 5 = 0 AS INTEGER) AS label FROM range(?) AS numbers(i)",
            [arguments.rows],
        )
        connection.execute(sqlrank.functions(list(FUNCTIONS)).sql)
        connection.execute(sqlrank.functions(list(FUNCTIONS), schema="unchecked", check="off").sql)
        for metric, name in FUNCTIONS.items():
            for by in ("", "campaign"):
                printed = sqlrank.sql(metric, predictions="predictions", by=by or (), connection=connection)
                group = f", by := {by}" if by else ""
                queries = {
                    "printed": printed if by else f"SELECT NULL, * FROM ({printed})",
                    "macro": f"FROM unchecked.{name}(predictions{group})",
                    "macro with checks := FALSE": f"FROM sqlrank.{name}(predictions{group}, checks := FALSE)",
                    "macro with checks": f"FROM sqlrank.{name}(predictions{group})",
                }
                sides: Sides = {side: partial(execute_query, connection, query) for side, query in queries.items()}
                timings = run_in_turn(sides, arguments.repeat)
                check_agreement({}, timings)
                title = f"{metric}{' by ' + by if by else ''}, {arguments.rows:,} rows"
                print_timings(title, timings, "printed")
                processor = {side: statistics.median(timing.processor) for side, timing in timings.items()}
                targets.append(
                    Target(f"{title}: processor time of a macro installed without checks", processor["macro"] / processor["printed"], MOST)
                )
    print_targets(targets)


if __name__ == "__main__":
    main()
