"""Time sqlrank against ir_measures and MLflow's retrieval metrics, which take data frames;
README.md describes the measurements.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from data import make_dataset
from peers import FIVE
from timing import (
    CORES,
    Sides,
    Target,
    Values,
    divide_medians,
    parse_options,
    print_introduction,
    print_targets,
    time_sides,
)

import sqlrank

if TYPE_CHECKING:
    from argparse import Namespace

PRECISION, RECALL = "P@10", "R@100"


def with_sqlrank(
    metrics: list[str], run: pd.DataFrame, qrels: pd.DataFrame, threads: int
) -> Values:
    """Return the means over the judged queries."""
    (row,) = sqlrank.evaluate(metrics, run=run, qrels=qrels, threads=threads).to_pylist()
    return {name: row[name] for name in metrics}


def with_ir_measures(run: pd.DataFrame, qrels: pd.DataFrame) -> Values:
    """Return the same five means, from the providers that ir_measures takes by itself."""
    import ir_measures  # noqa: PLC0415

    measures = dict(zip(FIVE, map(ir_measures.parse_measure, FIVE), strict=True))
    values = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    return {name: values[measure] for name, measure in measures.items()}


def with_mlflow(lists: pd.DataFrame) -> Values:
    """Return precision and recall of MLflow, from lists in memory: their construction from rows is
    not timed.
    """
    from mlflow.metrics import precision_at_k, recall_at_k  # noqa: PLC0415

    values = {}
    for name, metric in {PRECISION: precision_at_k(10), RECALL: recall_at_k(100)}.items():
        scores = metric.eval_fn(lists["retrieved"], lists["relevant"]).scores
        values[name] = sum(scores) / len(scores)
    return values


def read_frames(rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a run and its judgments of queries that were answered and judged, with text ids."""
    data = make_dataset(rows, "str", "clustered")
    run, qrels = (
        pd.read_parquet(files.removesuffix("/*.parquet")) for files in (data.run, data.qrels)
    )
    both = set(run["query_id"]) & set(qrels.loc[qrels["relevance"] > 0, "query_id"])
    return run[run["query_id"].isin(both)], qrels[qrels["query_id"].isin(both)]


def list_ir_measures_sides(options: Namespace) -> tuple[str, Sides]:
    """Return five metrics of the same data frames."""
    run, qrels = read_frames(options.rows)
    return f"five metrics, {len(run):,} rows of data frames, text ids", {
        "sqlrank": partial(with_sqlrank, FIVE, run, qrels, options.threads),
        "ir_measures": partial(with_ir_measures, run, qrels),
    }


def list_mlflow_sides(options: Namespace) -> tuple[str, Sides]:
    """Return precision and recall of lists."""
    run, qrels = read_frames(options.rows)
    ordered = run.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
    lists = pd.DataFrame(
        {
            "retrieved": ordered.groupby("query_id")["doc_id"].agg(list),
            "relevant": qrels[qrels["relevance"] > 0].groupby("query_id")["doc_id"].agg(list),
        }
    ).reset_index()
    ours: Any = partial(
        sqlrank.evaluate, [PRECISION, RECALL], inputs={"answers": lists}, threads=options.threads
    )
    return f"{PRECISION} and {RECALL}, {len(lists):,} lists of data frames, text ids", {
        "sqlrank": lambda: dict(ours().to_pylist()[0]),
        "MLflow": partial(with_mlflow, lists),
    }


SECTIONS = {"ir_measures": list_ir_measures_sides, "mlflow": list_mlflow_sides}


def time_section(name: str, options: Namespace) -> Target:
    title, sides = SECTIONS[name](options)
    timings = time_sides(title, sides, options.repeat)
    _, theirs = sides
    return Target(f"{theirs} over sqlrank", divide_medians(timings, theirs, "sqlrank"), at_least=1)


def main() -> None:
    options = parse_options(
        __doc__,
        SECTIONS,
        ["ir_measures"],  # mlflow needs an environment of its own
        rows=(200_000, "rows of the run"),
        threads=(CORES, "threads of sqlrank"),
    )
    print_introduction(options.threads, ("duckdb", "pandas", *options.only))
    print_targets(time_section(name, options) for name in options.only)


if __name__ == "__main__":
    main()
