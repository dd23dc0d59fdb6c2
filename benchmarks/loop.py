"""Measure small calls that are repeated, as in tuning and per epoch: beside the bare statement,
scikit-learn, torchmetrics, pytrec_eval and ranx, of which those run that are installed.
"""

from __future__ import annotations

import statistics
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
from timing import (
    Sides,
    Target,
    Values,
    check_agreement,
    console,
    parse_options,
    print_introduction,
    print_targets,
    print_timings,
    run_in_turn,
)

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from timing import Timing

CALLS = 20
"""Calls of a run, whose time is divided by them: one takes as long as the clock of a processor can
tell apart.
"""

LISTS, LENGTH, JUDGED = 50, 100, 10

BARE, ARROW, DICTS = "the bare statement", "sqlrank", "sqlrank, of dicts"

TOLERANCES = {"pytrec_eval": 1e-6, "ranx": 1e-6, "torchmetrics": 1e-5}
"""Differences from the others: these tools compute with 32 bits or order ties in their own way."""

MODULES = {"scikit-learn": "sklearn"}
"""Modules of tools that have other names."""


def repeat_call(call: Callable[[], Values]) -> Callable[[], Values]:
    """Return a function that calls another several times."""

    def call_repeatedly() -> Values:
        return [call() for _ in range(CALLS)][-1]

    return call_repeatedly


def evaluate(metrics: list[str], **arguments: Any) -> Values:
    return name_values(sqlrank.evaluate(metrics, **arguments).to_pylist())


def name_values(rows: list[dict[str, Any]]) -> Values:
    """Return the values of all rows, of groups with their numbers."""
    return {
        f"{name}{index or ''}": value
        for index, row in enumerate(rows)
        for name, value in row.items()
        if name != "group"
    }


def run_bare(connection: duckdb.DuckDBPyConnection, text: str, names: list[str]) -> Values:
    """Run the printed statement, without checks, notes or an Arrow table."""
    rows = connection.execute(text).fetchall()
    return name_values([dict(zip(names, row, strict=True)) for row in rows])


def make_sides(
    metrics: list[str], tables: dict[str, pa.Table], others: Sides, **options: Any
) -> Sides:
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, table)
    named = {name: name for name in tables}
    text = sqlrank.sql(metrics, connection=connection, **named, **options)
    names = sqlrank.evaluate(metrics, **tables, **options).column_names
    sides: Sides = {
        BARE: lambda: run_bare(connection, text, names),
        ARROW: lambda: evaluate(metrics, **tables, **options),
    }
    return {
        name: repeat_call(side)
        for name, side in {**sides, **others}.items()
        if name in {BARE, ARROW, DICTS} or find_spec(MODULES.get(name, name))
    }


def run_sklearn(label: np.ndarray, score: np.ndarray) -> Values:
    from sklearn.metrics import log_loss, roc_auc_score  # noqa: PLC0415

    return {"AUC": float(roc_auc_score(label, score)), "LogLoss": float(log_loss(label, score))}


def run_torchmetrics(label: np.ndarray, score: np.ndarray) -> Values:
    import torch  # noqa: PLC0415
    from torchmetrics.functional.classification import binary_auroc  # noqa: PLC0415

    target, prediction = torch.from_numpy(label), torch.from_numpy(score)
    loss = torch.nn.functional.binary_cross_entropy(prediction, target.double())
    return {"AUC": float(binary_auroc(prediction, target)), "LogLoss": float(loss)}


def run_pytrec_eval(run: dict[str, Any], qrels: dict[str, Any]) -> Values:
    import pytrec_eval  # noqa: PLC0415

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map"})
    results = evaluator.evaluate(run).values()
    return {
        name: statistics.fmean(row[key] for row in results)
        for name, key in (("nDCG@10", "ndcg_cut_10"), ("AP", "map"))
    }


def run_ranx(run: dict[str, Any], qrels: dict[str, Any]) -> Values:
    import ranx  # noqa: PLC0415

    names = {"nDCG@10": "ndcg@10", "AP": "map"}
    values = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), [*names.values()])
    return {name: float(values[key]) for name, key in names.items()}


def time_predictions(rows: int, repeat: int, groups: int = 1) -> dict[str, Timing]:
    generator = np.random.default_rng(7)
    label, score = generator.integers(0, 2, rows), generator.random(rows)
    table = pa.table({"label": label, "score": score, "group": np.arange(rows) % groups})
    metrics, tables = ["AUC", "LogLoss"], {"predictions": table}
    if groups > 1:
        return run_in_turn(make_sides(metrics, tables, {}, by="group"), repeat)
    others = {
        "scikit-learn": lambda: run_sklearn(label, score),
        "torchmetrics": lambda: run_torchmetrics(label, score),
    }
    return run_in_turn(make_sides(metrics, tables, others), repeat)


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
        columns = map(list, zip(*rows, strict=True))
        tables[role] = pa.table(dict(zip(("query_id", "doc_id", column), columns, strict=True)))
    metrics = ["nDCG@10", "AP"]
    others = {
        DICTS: lambda: evaluate(metrics, run=run, qrels=qrels),
        "pytrec_eval": lambda: run_pytrec_eval(run, qrels),
        "ranx": lambda: run_ranx(run, qrels),
    }
    return run_in_turn(make_sides(metrics, tables, others), repeat)


def list_targets(title: str, milliseconds: Mapping[str, float]) -> Iterator[Target]:
    """Yield the parts of the time of a call that it should stay within."""
    bare, ours = milliseconds[BARE], milliseconds[ARROW]
    yield Target(
        f"{title}: sqlrank to 1.5 of the bare statement and 2 ms", ours / (1.5 * bare + 2), 1
    )
    if DICTS in milliseconds:
        dicts = milliseconds[DICTS]
        yield Target(f"{title}: dicts to Arrow tables and 4 ms", dicts / (ours + 4), 1)


def measure_sizes(repeat: int) -> Iterator[Target]:
    """Print a table per size, and yield the targets of processor time."""
    sizes: dict[str, Callable[[], dict[str, Timing]]] = {
        "100 predictions": lambda: time_predictions(100, repeat),
        "10,000 predictions": lambda: time_predictions(10_000, repeat),
        "1,000 predictions in five groups": lambda: time_predictions(1_000, repeat, groups=5),
        "50 lists of 100": lambda: time_lists(repeat),
    }
    for title, time_size in sizes.items():
        timings = time_size()
        check_agreement(TOLERANCES, timings)
        milliseconds = {
            name: statistics.median(timing.processor) / CALLS * 1000
            for name, timing in timings.items()
        }
        notes = {
            name: f"{each:.1f} ms, {each / milliseconds[BARE]:.2f}"
            for name, each in milliseconds.items()
        }
        heading = "processor: a call, ratio"
        print_timings(f"{title}, {CALLS} calls", timings, BARE, notes, heading)
        yield from list_targets(title, milliseconds)


def main() -> None:
    """Print the tables and targets."""
    repeat = parse_options(__doc__, repeat=5).repeat
    tools = ("scikit-learn", "torchmetrics", "pytrec_eval", "ranx")
    missing = [name for name in tools if not find_spec(MODULES.get(name, name))]
    threads = duckdb.connect().execute("SELECT CURRENT_SETTING('threads')").fetchall()[0][0]
    print_introduction(threads, ("duckdb",))
    console.print(f"not installed: {', '.join(missing) or 'none'}")
    print_targets(measure_sizes(repeat))


if __name__ == "__main__":
    main()
