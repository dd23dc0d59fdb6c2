"""Benchmark entity resolution, classes, metrics beyond accuracy, experiments and splits against
their unavoidable GROUP BY.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from experiments import group_units, make_visits
from sklearn import metrics
from timing import (
    Sides,
    Target,
    Timing,
    check_agreement,
    print_introduction,
    print_targets,
    print_timings,
    run_in_turn,
)

import sqlrank
from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent / "data"
SKLEARN_METRICS = ["AdjustedRand", "VMeasure", "FowlkesMallows"]
"""The metrics of clusters that are scikit-learn's, too, and asked for most."""


def cached_parquet(name: str, query: str) -> Path:
    """Return a Parquet file of the rows of a query, made once."""
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        duckdb.sql(f"COPY ({query}) TO '{path}'")
    return path


def list_record_sides(rows: int) -> Sides:
    """Metrics of clusters of records, of three records each, of which a tenth was put elsewhere,
    beside the count of each pair of clusters.
    """
    true = f"hash(i, 1) % {rows // 3}"
    predicted = f"CASE WHEN hash(i, 2) % 10 = 0 THEN hash(i, 3) % {rows // 3} ELSE {true} END"
    path = cached_parquet(
        f"records_{rows}",
        f"SELECT i AS record_id, {predicted} AS predicted_cluster, {true} AS true_cluster FROM"
        f" range({rows}) AS t(i)",
    )
    files = [
        file
        for file in load_registry().metrics.values()
        if file.path.parent.name == "clusters" and not file.name.startswith("sampled")
    ]
    names = [file.display_name for file in files if file.name != "adjustedmutualinformation"]

    def count_pairs() -> dict[str, float]:
        counted = (
            f"SELECT predicted_cluster, true_cluster, COUNT(*) AS n FROM '{path}' GROUP BY ALL"
        )
        duckdb.sql(f"SELECT COUNT(*), SUM(n) FROM ({counted})").fetchall()
        return {}

    def list_side(names: list[str]) -> Callable[[], dict[str, float]]:
        def evaluate_records() -> dict[str, float]:
            (row,) = sqlrank.evaluate(names, inputs={"records": path}).to_pylist()
            return {name: row[name] for name in SKLEARN_METRICS}

        return evaluate_records

    def evaluate_by_sklearn() -> dict[str, float]:
        table = duckdb.sql(f"SELECT true_cluster, predicted_cluster FROM '{path}'").fetchnumpy()
        pair = table["true_cluster"], table["predicted_cluster"]
        values = (
            metrics.adjusted_rand_score(*pair),
            metrics.v_measure_score(*pair),
            metrics.fowlkes_mallows_score(*pair),
        )
        return dict(zip(SKLEARN_METRICS, map(float, values), strict=True))

    sides = {
        "GROUP BY of both clusters": count_pairs,
        f"sqlrank, {len(names)} metrics": list_side(names),
    }
    return {
        **sides,
        "sqlrank, three metrics": list_side(SKLEARN_METRICS),
        "scikit-learn, the three": evaluate_by_sklearn,
    }


def list_class_sides(rows: int) -> Sides:
    """Benchmark five metrics of predictions of ten classes, of which 70 % are right, beside
    scikit-learn and the count of pairs of classes.
    """
    predicted = "CASE WHEN hash(i, 2) % 10 < 7 THEN hash(i, 1) % 10 ELSE hash(i, 3) % 10 END"
    path = cached_parquet(
        f"classified_{rows}",
        f"SELECT CAST(hash(i, 1) % 10 AS INTEGER) AS label, CAST({predicted} AS INTEGER) AS"
        f" predicted FROM range({rows}) AS t(i)",
    )
    functions = {
        "MulticlassAccuracy": metrics.accuracy_score,
        "MulticlassBalancedAccuracy": metrics.balanced_accuracy_score,
        "f1_macro": partial(metrics.f1_score, average="macro"),
        "CohenKappa": metrics.cohen_kappa_score,
        "MulticlassMCC": metrics.matthews_corrcoef,
    }

    def count_pairs() -> dict[str, float]:
        duckdb.sql(f"SELECT label, predicted, COUNT(*) FROM '{path}' GROUP BY ALL").fetchall()
        return {}

    def evaluate_classes() -> dict[str, float]:
        return dict(sqlrank.evaluate([*functions], inputs={"classified": path}).to_pylist()[0])

    def evaluate_by_sklearn() -> dict[str, float]:
        table = duckdb.sql(f"SELECT label, predicted FROM '{path}'").fetchnumpy()
        return {
            name: float(function(table["label"], table["predicted"]))
            for name, function in functions.items()
        }

    return {
        "GROUP BY of both classes": count_pairs,
        "sqlrank, five metrics of classes": evaluate_classes,
        "scikit-learn, the five": evaluate_by_sklearn,
    }


def list_diversity_sides(rows: int) -> Sides:
    """Benchmark the diversity of lists of ten against the count of each document's lists."""
    path = cached_parquet(
        f"lists_{rows}",
        "SELECT i // 10 AS query_id, hash(i, 1) % 20000 AS doc_id, -(i % 10) AS score FROM"
        f" range({10 * rows}) AS t(i)",
    )
    path = cached_parquet(
        f"lists_distinct_{rows}",
        f"SELECT query_id, doc_id, MAX(score) AS score FROM '{path}' GROUP BY ALL",
    )

    def count_documents() -> dict[str, float]:
        duckdb.sql(
            f"SELECT SUM(n * n) FROM (SELECT doc_id, COUNT(*) AS n FROM '{path}' GROUP BY doc_id)"
        ).fetchall()
        return {}

    def evaluate_lists() -> dict[str, float]:
        sqlrank.evaluate("Personalization@10", run=path)
        return {}

    return {"GROUP BY of documents": count_documents, "sqlrank, Personalization@10": evaluate_lists}


def list_experiment_sides(rows: int) -> Sides:
    """Benchmark the experiment of a variant against the GROUP BY of units."""
    path = make_visits(rows)

    def count_units() -> dict[str, float]:
        group_units(path)
        return {}

    def estimate_effects() -> dict[str, float]:
        sqlrank.experiment({"ctr": "Ratio(clicks, views)"}, data=path, unit="user_id")
        return {}

    return {"GROUP BY of units": count_units, "sqlrank, Ratio(clicks, views)": estimate_effects}


def list_split_sides(rows: int) -> Sides:
    """Benchmark counts of ids per part of a split against a GROUP BY of ids and their plain
    count.
    """
    path = cached_parquet(f"ids_{rows}", f"SELECT i AS user_id FROM range({rows}) AS t(i)")
    statement = sqlrank.split_sql(
        str(path),
        key="user_id",
        salt="checkout",
        shares={"train": 0.8, "validation": 0.1, "test": 0.1},
    )

    def time_query(query: str) -> Callable[[], dict[str, float]]:
        def run_query() -> dict[str, float]:
            duckdb.sql(query).fetchall()
            return {}

        return run_query

    return {
        "GROUP BY of ids": time_query(
            f"SELECT COUNT(*) FROM (SELECT user_id, COUNT(*) FROM '{path}' GROUP BY user_id)"
        ),
        "sqlrank, 80/10/10": time_query(
            f"SELECT split, COUNT(*) FROM ({statement}) GROUP BY split"
        ),
    }


SECTIONS: dict[str, tuple[Callable[[int], Sides], int, str]] = {
    "records": (list_record_sides, 4_000_000, "records"),
    "classes": (list_class_sides, 5_000_000, "predictions of ten classes"),
    "lists": (list_diversity_sides, 50_000, "lists"),
    "experiments": (list_experiment_sides, 10_000_000, "rows of an experiment"),
    "splits": (list_split_sides, 100_000_000, "ids"),
}
"""The benchmarks, with the number and name of their rows."""


def list_targets(timings_by_section: dict[str, dict[str, Timing]]) -> list[Target]:
    """Return the targets for entity resolution and classes."""
    targets_of_sections = []
    if "records" in timings_by_section:
        bare, every, few, theirs = (
            timing.median for timing in timings_by_section["records"].values()
        )
        targets_of_sections += [
            Target("all metrics of clusters to the GROUP BY", every / bare, at_most=8),
            Target("three metrics of clusters to scikit-learn's", few / theirs, at_most=1),
        ]
    if "classes" in timings_by_section:
        _, ours, theirs = (timing.median for timing in timings_by_section["classes"].values())
        targets_of_sections.append(
            Target("five metrics of classes to scikit-learn's", ours / theirs, at_most=0.3)
        )
    return targets_of_sections


def main() -> None:
    """Measure the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=SECTIONS, action="append")
    parser.add_argument("--share", type=float, default=1.0, help="of the rows, for a quick look")
    parser.add_argument("--rows", type=int, help="of each section, instead")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    duckdb.sql(f"SET threads = {options.threads}")
    print_introduction(options.threads, ["duckdb", "scikit-learn"])
    timings_by_section = {}
    for name in options.only or SECTIONS:
        section, usual, what = SECTIONS[name]
        rows = options.rows or int(usual * options.share)
        sides = section(rows)
        timings_by_section[name] = run_in_turn(sides, options.repeat)
        check_agreement({"scikit-learn, the three": 1e-9}, timings_by_section[name])
        print_timings(
            f"{rows:,} {what}, median of {options.repeat} in turn",
            timings_by_section[name],
            next(iter(sides)),
        )
    print_targets(list_targets(timings_by_section))


if __name__ == "__main__":
    main()
