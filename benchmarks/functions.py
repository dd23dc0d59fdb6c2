"""Measure table macros, the statements that sqlrank prints for the same metrics, and evaluate, in
processor time of one thread.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb
from timing import (
    Sides,
    Target,
    Values,
    parse_options,
    print_introduction,
    print_targets,
    time_sides,
)

import sqlrank

MOST = 1.1
"""The most that a macro that is installed without checks should take, as a multiple of the printed
statement, and one with checks of evaluate.
"""

LONGEST_ATTACHMENT = 0.1
"""Most seconds of a processor in which a file with all functions should be attached."""

FUNCTIONS = {"AUC": "auc", "LogLoss": "log_loss", "Brier": "brier", "nDCG@10": "ndcg_at_10"}

GROUPS = {"predictions": "campaign", "run": "system"}
"""Column to group by, by the input that has it."""


def execute_query(connection: duckdb.DuckDBPyConnection, query: str) -> Values:
    """Return the values of a query by the text of their group, with the seconds on a processor, of
    which ``os.times`` knows hundredths.
    """
    begun = time.process_time()
    rows = connection.execute(query).fetchall()
    return {"processor": time.process_time() - begun, **{str(row[0]): row[-1] for row in rows}}


def evaluate_metric(
    connection: duckdb.DuckDBPyConnection, metric: str, inputs: dict[str, str], by: str
) -> Values:
    """Return the values of evaluate, which checks all rows as macros do, by the text of their
    group, with the seconds on a processor.
    """
    begun = time.process_time()
    rows = sqlrank.evaluate(
        metric, **inputs, by=by or (), plan=choose_plan(inputs), check="full", connection=connection
    ).to_pylist()
    return {
        "processor": time.process_time() - begun,
        **{str(row.get(by)): row[metric] for row in rows},
    }


def choose_plan(inputs: dict[str, str]) -> dict[str, str] | None:
    """Return the plan of a statement without statistics, which macros have."""
    return {"rank_method": "sort"} if "run" in inputs else None


def create_tables(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Create predictions of ten campaigns, and a run of two systems with lists of 100 documents and
    their judgments.
    """
    connection.execute(
        "CREATE TABLE predictions AS SELECT CAST(HASH(i) % 10 AS INTEGER) AS campaign, HASH(i * 7)"
        " % 1000003 / 1000003.0 AS score, CAST(HASH(i * 13) % 5 = 0 AS INTEGER) AS label FROM"
        " range(?) AS numbers(i)",
        [rows],
    )
    connection.execute(
        "CREATE TABLE run AS SELECT i % 2 AS system, 'q' || i // 200 AS query_id, 'd' || HASH(i //"
        " 2) AS doc_id, HASH(i * 7) % 1000003 / 1000003.0 AS score FROM range(?) AS numbers(i)",
        [rows],
    )
    connection.execute(
        "CREATE TABLE qrels AS SELECT DISTINCT query_id, doc_id, CAST(HASH(doc_id) % 3 AS INTEGER)"
        " AS relevance FROM run WHERE HASH(doc_id) % 10 = 0"
    )


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
    print(
        f"attached {len(script.functions)} functions, {len(script.sql):,} characters, in"
        f" {1000 * median:.0f} ms of a processor"
    )
    return median


def main() -> None:
    """Print a table per metric, with and without a group, and whether the targets were met."""
    arguments = parse_options(__doc__, repeat=5, rows=2_000_000)
    print_introduction(1, ["duckdb"])
    attachment = measure_attachment(arguments.repeat)
    targets = [
        Target(
            "all functions: processor time of attaching them, of a tenth of a second",
            attachment / LONGEST_ATTACHMENT,
            1,
        )
    ]
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        create_tables(connection, arguments.rows)
        connection.execute(sqlrank.functions(list(FUNCTIONS)).sql)
        connection.execute(sqlrank.functions(list(FUNCTIONS), schema="unchecked", check="off").sql)
        for metric, name in FUNCTIONS.items():
            inputs = (
                {"run": "run", "qrels": "qrels"}
                if metric == "nDCG@10"
                else {"predictions": "predictions"}
            )
            for by in ([] if "run" in inputs else [""]) + [
                GROUPS[next(iter(inputs))]
            ]:  # a run has two systems
                printed = sqlrank.sql(
                    metric, **inputs, by=by or (), plan=choose_plan(inputs), connection=connection
                )
                group = f", by := {by}" if by else ""
                queries = {
                    "printed": printed if by else f"SELECT NULL, * FROM ({printed})",
                    "macro": f"FROM unchecked.{name}({', '.join(inputs)}{group})",
                    "macro with checks := FALSE": (
                        f"FROM sqlrank.{name}({', '.join(inputs)}{group}, checks := FALSE)"
                    ),
                    "macro with checks": f"FROM sqlrank.{name}({', '.join(inputs)}{group})",
                }
                sides: Sides = {
                    side: partial(execute_query, connection, query)
                    for side, query in queries.items()
                }
                sides["evaluate"] = partial(evaluate_metric, connection, metric, inputs, by)
                title = f"{metric}{' by ' + by if by else ''}, {arguments.rows:,} rows"
                timings = time_sides(title, sides, arguments.repeat)
                processor = {
                    side: statistics.median(timing.processor) for side, timing in timings.items()
                }
                for side, base in (("macro", "printed"), ("macro with checks", "evaluate")):
                    targets.append(
                        Target(
                            f"{title}: processor time of {side}, of {base}",
                            processor[side] / processor[base],
                            MOST,
                        )
                    )
    print_targets(targets)


if __name__ == "__main__":
    main()
