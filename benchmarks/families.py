"""Benchmark entity resolution, classes, metrics beyond accuracy and splits against their
unavoidable GROUP BY.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb
from data import store_rows
from sklearn import metrics
from timing import (
    CORES,
    Sides,
    Target,
    Timing,
    divide_medians,
    parse_options,
    print_introduction,
    print_targets,
    time_sides,
)

import sqlrank
from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from collections.abc import Callable

SKLEARN_METRICS = ["AdjustedRand", "VMeasure", "FowlkesMallows"]
"""The metrics of clusters that are scikit-learn's, too, and asked for most."""

LEFT_OUT = (
    "adjusted_mutual_information",
    "homonymy_rate",
    "name_variation_rate",
    "num_candidate_pairs",
    "pairs_",
    "sampled_",
)
"""Metrics of records that read another input, and the one that README.md leaves out."""


def run_query(query: str) -> Any:
    """Return the rows of a query."""
    return duckdb.sql(query).fetchall()


def list_record_sides(rows: int) -> Sides:
    """Metrics of clusters of records, of three records each, of which a tenth was put elsewhere,
    beside the count of each pair of clusters.
    """
    true = f"hash(i, 1) % {rows // 3}"
    predicted = f"CASE WHEN hash(i, 2) % 10 = 0 THEN hash(i, 3) % {rows // 3} ELSE {true} END"
    path = store_rows(
        f"records_{rows}",
        f"SELECT i AS record_id, {predicted} AS predicted_cluster, {true} AS true_cluster FROM"
        f" range({rows}) AS t(i)",
    )
    names = [
        file.display_name
        for file in load_registry().metrics.values()
        if file.path.parent.name == "records" and not file.name.startswith(LEFT_OUT)
    ]
    counted = f"SELECT predicted_cluster, true_cluster, COUNT(*) AS n FROM '{path}' GROUP BY ALL"

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
        "GROUP BY of both clusters": partial(
            run_query, f"SELECT COUNT(*), SUM(n) FROM ({counted})"
        ),
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
    path = store_rows(
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

    def evaluate_classes() -> dict[str, float]:
        return dict(sqlrank.evaluate([*functions], inputs={"classified": path}).to_pylist()[0])

    def evaluate_by_sklearn() -> dict[str, float]:
        table = duckdb.sql(f"SELECT label, predicted FROM '{path}'").fetchnumpy()
        return {
            name: float(function(table["label"], table["predicted"]))
            for name, function in functions.items()
        }

    return {
        "GROUP BY of both classes": partial(
            run_query, f"SELECT label, predicted, COUNT(*) FROM '{path}' GROUP BY ALL"
        ),
        "sqlrank, five metrics of classes": evaluate_classes,
        "scikit-learn, the five": evaluate_by_sklearn,
    }


def list_diversity_sides(rows: int) -> Sides:
    """Benchmark the diversity of lists of ten against the count of each document's lists."""
    path = store_rows(
        f"lists_{rows}",
        "SELECT i // 10 AS query_id, hash(i, 1) % 20000 AS doc_id, -(i % 10) AS score FROM"
        f" range({10 * rows}) AS t(i)",
    )
    path = store_rows(
        f"lists_distinct_{rows}",
        f"SELECT query_id, doc_id, MAX(score) AS score FROM '{path}' GROUP BY ALL",
    )

    counted = f"SELECT doc_id, COUNT(*) AS n FROM '{path}' GROUP BY doc_id"
    return {
        "GROUP BY of documents": partial(run_query, f"SELECT SUM(n * n) FROM ({counted})"),
        "sqlrank, Personalization@10": partial(sqlrank.evaluate, "Personalization@10", run=path),
    }


def list_split_sides(rows: int) -> Sides:
    """Benchmark counts of ids per part of a split against a GROUP BY of ids and their plain
    count.
    """
    path = store_rows(f"ids_{rows}", f"SELECT i AS user_id FROM range({rows}) AS t(i)")
    statement = sqlrank.split_sql(
        path,
        key="user_id",
        salt="checkout",
        shares={"train": 0.8, "validation": 0.1, "test": 0.1},
    )

    counted = f"SELECT user_id, COUNT(*) FROM '{path}' GROUP BY user_id"
    return {
        "GROUP BY of ids": partial(run_query, f"SELECT COUNT(*) FROM ({counted})"),
        "sqlrank, 80/10/10": partial(
            run_query, f"SELECT split, COUNT(*) FROM ({statement}) GROUP BY split"
        ),
    }


SECTIONS: dict[str, tuple[Callable[[int], Sides], int, str]] = {
    "records": (list_record_sides, 4_000_000, "records"),
    "classes": (list_class_sides, 5_000_000, "predictions of ten classes"),
    "lists": (list_diversity_sides, 50_000, "lists"),
    "splits": (list_split_sides, 100_000_000, "ids"),
}
"""The benchmarks, with the number and name of their rows."""


def list_targets(name: str, timings: dict[str, Timing]) -> list[Target]:
    """Return the targets of a section, for entity resolution and classes."""
    bare, *sides = timings
    if name == "records":
        every, few, theirs = sides
        return [
            Target(
                "all metrics of clusters to the GROUP BY",
                divide_medians(timings, every, bare),
                at_most=8,
            ),
            Target(
                "three metrics of clusters to scikit-learn's",
                divide_medians(timings, few, theirs),
                at_most=1,
            ),
        ]
    if name == "classes":
        ratio = divide_medians(timings, *sides)
        return [Target("five metrics of classes to scikit-learn's", ratio, at_most=0.3)]
    return []


def main() -> None:
    """Measure the sections that are asked for."""
    options = parse_options(
        __doc__,
        SECTIONS,
        share=(1.0, "of the rows, for a quick look"),
        rows=(0, "of each section, instead"),
        threads=CORES,
    )
    duckdb.sql(f"SET threads = {options.threads}")
    print_introduction(options.threads, ["duckdb", "scikit-learn"])
    targets = []
    for name in options.only:
        section, usual, what = SECTIONS[name]
        rows = options.rows or int(usual * options.share)
        timings = time_sides(f"{rows:,} {what}", section(rows), options.repeat)
        targets += list_targets(name, timings)
    print_targets(targets)


if __name__ == "__main__":
    main()
