"""Write the stored results of this version; ``python -m tests.stored`` does so in a folder named
after the version.

The folder of a released version is never written again: tests read it with every later version.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import sqlrank
from sqlrank.registry.loader import load_registry
from tests.engines.scenarios import Scenario, make_tables, scenarios
from website.sections import find_section

FOLDER = Path(__file__).parent
RANKINGS = {"run": "run", "qrels": "qrels"}
BASELINE_METRICS = ["nDCG@10", "AP", "RR", "P@5", "bpref"]
DAYS = (
    "CREATE TABLE days AS SELECT DATE '2026-03-01' + CAST(rank % 3 AS INTEGER) AS day, shop, label,"
    " score, weight, query_id FROM predictions WHERE shop IS NOT NULL"
)
"""Predictions of three days."""

TWO_SCORES = (
    "CREATE TABLE two_scores AS SELECT label, score, (1 + score * score) / 2 AS other FROM"
    " predictions"
)


def find_rollup_metrics(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the metrics of classification that can be rolled up."""
    files = [
        file for file in load_registry().metrics.values() if find_section(file) == "classification"
    ]
    names = [
        file.display_name
        for file in files
        if file.cutoff_parameter is None or file.cutoff_parameter.default is not None
    ]
    return [name for name in names if _can_be_rolled_up(name, connection)]


def _can_be_rolled_up(metric: str, connection: duckdb.DuckDBPyConnection) -> bool:
    with suppress(sqlrank.SqlrankError):
        return bool(sqlrank.rollup_sql(metric, predictions="days", by="day", connection=connection))
    return False


def select_calls() -> Iterator[tuple[Scenario, list[str]]]:
    """Yield scenarios that compute every metric and curve, each with the metrics that no earlier
    one computes.
    """
    library, found = load_registry(), set()
    for scenario in scenarios():
        if (
            scenario.for_some
            or scenario.options.get("plan", {}).get("score_order", "window") != "window"
        ):
            continue
        files = {metric: library.file_for(sqlrank.parse(metric)) for metric in scenario.candidates}
        fresh = {metric: file for metric, file in files.items() if file not in found}
        found |= {*fresh.values()}
        if fresh:
            yield scenario, list(fresh)


def evaluate_call(call: dict[str, Any], connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return the result of a stored call."""
    return sqlrank.evaluate(call["metrics"], connection=connection, **call["options"])


def write_version(folder: Path) -> None:
    """Write the tables, results, baseline and rollups of this version."""
    folder.mkdir(exist_ok=True)
    database = folder / "tables.duckdb"
    database.unlink(missing_ok=True)
    with duckdb.connect() as memory:
        memory.execute(
            f"ATTACH '{database}' AS stored (BLOCK_SIZE 16384, STORAGE_VERSION 'v1.2.0')"
        )
        memory.execute("USE stored")
        for name, table in make_tables().items():
            memory.register("arrow_rows", table)
            memory.execute(f'CREATE TABLE "{name}" AS FROM arrow_rows')
            memory.unregister("arrow_rows")
        memory.execute(DAYS)
        memory.execute(TWO_SCORES)
        _write_results(folder, memory)
        _write_rollups(folder, memory)
        memory.execute("USE memory")
        memory.execute("DETACH stored")


def _write_results(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    calls = []
    for scenario, metrics in select_calls():
        call = {
            "metrics": metrics,
            "options": {name: value for name, value in scenario.options.items() if name != "plan"},
        }
        calls.append({**call, "columns": evaluate_call(call, connection).to_pydict()})
    text = ",\n".join(json.dumps(call, separators=(",", ":")) for call in calls)
    (folder / "results.json").write_text(f"[\n{text}\n]\n", "utf-8")
    pq.write_table(
        sqlrank.evaluate(BASELINE_METRICS, connection=connection, per_query=True, **RANKINGS),
        folder / "baseline.parquet",
    )
    compared = sqlrank.compare(
        ["AUC", "LogLoss"],
        connection=connection,
        predictions="two_scores",
        columns={"score": ["score", "other"]},
    )
    pq.write_table(compared, folder / "comparison.parquet")


def _write_rollups(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    metrics = find_rollup_metrics(connection)
    options: dict[str, Any] = {
        "predictions": "days",
        "by": ["day", "shop"],
        "connection": connection,
        "n_bins": 32,
        "columns": {"weight": "weight"},
    }
    rollup = sqlrank.rollup(metrics, unit="query_id", n_buckets=8, **options)
    pq.write_table(rollup, folder / "rollup.parquet")
    connection.register("arrow_rows", rollup)
    connection.execute("CREATE TABLE stored_rollup AS FROM arrow_rows")
    connection.unregister("arrow_rows")
    evaluated = sqlrank.evaluate(metrics, rollup=rollup, by="shop", confidence=0.9)
    rankings = sqlrank.rollup(BASELINE_METRICS, connection=connection, by="system", **RANKINGS)
    pq.write_table(rankings, folder / "ranking_rollup.parquet")
    of_rankings = sqlrank.evaluate(BASELINE_METRICS, rollup=rankings, by="system", confidence=0.9)
    stored = {"rollup": evaluated, "ranking_rollup": of_rankings}
    texts = {
        name: {
            "metrics": list(metrics if name == "rollup" else BASELINE_METRICS),
            "columns": table.to_pydict(),
        }
        for name, table in stored.items()
    }
    (folder / "rollups.json").write_text(json.dumps(texts, separators=(",", ":")) + "\n", "utf-8")
