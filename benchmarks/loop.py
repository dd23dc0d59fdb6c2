"""Measure small calls that are repeated, as in tuning and per epoch: beside the bare statement,
scikit-learn and pytrec_eval.
"""

from __future__ import annotations

import argparse
import statistics
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytrec_eval
from sklearn.metrics import log_loss, roc_auc_score
from timing import (
    Sides,
    Target,
    Values,
    check_agreement,
    print_introduction,
    print_targets,
    print_timings,
    run_in_turn,
)

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from timing import Timing

CALLS = 20
"""Calls of a run, whose time is divided by them: one takes as long as the clock of a processor can
tell apart.
"""

LISTS, LENGTH, JUDGED = 50, 100, 10


def repeat_call(call: Callable[[], Values]) -> Callable[[], Values]:
    """Return a function that calls another several times."""

    def call_repeatedly() -> Values:
        return [call() for _ in range(CALLS)][-1]

    return call_repeatedly


def evaluate(metrics: list[str], **sources: Any) -> Values:
    (row,) = sqlrank.evaluate(metrics, **sources).to_pylist()
    return dict(row)


def run_bare(connection: duckdb.DuckDBPyConnection, text: str, metrics: list[str]) -> Values:
    """Run the printed statement, without checks, notes or an Arrow table."""
    return dict(zip(metrics, connection.execute(text).fetchall()[0], strict=True))


def make_sides(metrics: list[str], tables: dict[str, pa.Table], others: Sides) -> Sides:
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, table)
    text = sqlrank.sql(metrics, connection=connection, **{name: name for name in tables})
    sides: Sides = {
        "the bare statement": lambda: run_bare(connection, text, metrics),
        "sqlrank": lambda: evaluate(metrics, **tables),
    }
    return {name: repeat_call(side) for name, side in {**sides, **others}.items()}


def time_predictions(rows: int, repeat: int) -> dict[str, Timing]:
    generator = np.random.default_rng(7)
    label, score = generator.integers(0, 2, rows), generator.random(rows)
    peer = {
        "scikit-learn": lambda: {
            "AUC": float(roc_auc_score(label, score)),
            "LogLoss": float(log_loss(label, score)),
        }
    }
    return run_in_turn(
        make_sides(
            ["AUC", "LogLoss"], {"predictions": pa.table({"label": label, "score": score})}, peer
        ),
        repeat,
    )


def time_lists(repeat: int) -> dict[str, Timing]:
    generator = np.random.default_rng(7)
    run = {
        f"q{query}": {f"d{doc}": float(score) for doc, score in enumerate(generator.random(LENGTH))}
        for query in range(LISTS)
    }
    qrels = {f"q{query}": {f"d{doc * 7}": 1 for doc in range(JUDGED)} for query in range(LISTS)}
    tables = {}
    for role, column, source in (("run", "score", run), ("qrels", "relevance", qrels)):
        rows = [
            (query, doc, value) for query, docs in source.items() for doc, value in docs.items()
        ]
        tables[role] = pa.table(
            dict(
                zip(("query_id", "doc_id", column), map(list, zip(*rows, strict=True)), strict=True)
            )
        )

    def run_peer() -> Values:
        results = (
            pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map"}).evaluate(run).values()
        )
        return {
            name: statistics.fmean(row[key] for row in results)
            for name, key in (("nDCG@10", "ndcg_cut_10"), ("AP", "map"))
        }

    metrics = ["nDCG@10", "AP"]
    others = {
        "sqlrank, of dicts": lambda: evaluate(metrics, run=run, qrels=qrels),
        "pytrec_eval": run_peer,
    }
    return run_in_turn(make_sides(metrics, tables, others), repeat)


def measure_sizes(repeat: int) -> Iterator[Target]:
    """Print a table per size, and yield the ratios of processor time to the bare statement."""
    sizes = {
        "100 predictions": lambda: time_predictions(100, repeat),
        "10,000 predictions": lambda: time_predictions(10_000, repeat),
    }
    for title, timings in (
        (name, time_size())
        for name, time_size in {**sizes, "50 lists of 100": lambda: time_lists(repeat)}.items()
    ):
        check_agreement({"pytrec_eval": 1e-6}, timings)
        processor = {name: statistics.median(timing.processor) for name, timing in timings.items()}
        notes = {
            name: (
                f"{seconds / CALLS * 1000:.1f} ms, {seconds / processor['the bare statement']:.2f}"
            )
            for name, seconds in processor.items()
        }
        print_timings(
            f"{title}, {CALLS} calls",
            timings,
            "the bare statement",
            notes,
            "processor: a call, ratio",
        )
        yield Target(
            f"{title}: sqlrank to the bare statement",
            processor["sqlrank"] / processor["the bare statement"],
            at_most=3,
            stretch=1.5,
        )


def main() -> None:
    """Print the tables and targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print_introduction(
        duckdb.connect().execute("SELECT CURRENT_SETTING('threads')").fetchall()[0][0],
        ("duckdb", "scikit-learn"),
    )
    print_targets(measure_sizes(repeat))


if __name__ == "__main__":
    main()
