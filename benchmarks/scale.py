"""Measure time and memory by number of rows: each call in its own process under one memory limit,
drawn as a chart.

A million rows, then ten times as many, until ``--rows``. A billion of all calls needs about 60 GB
of disk at once; in parts, with ``--only``, the data of each deleted after it, half of that:
``--beside`` draws what several runs found in one picture.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
from data import FOLDER, make_dataset, make_predictions
from rich.table import Table
from timing import console, print_introduction, print_values

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from data import Order

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "scale.svg"
PANEL = {"width": 320, "height": 260}


def first_documents(rows: int, order: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics of the first documents of each list, of integers in Parquet."""
    data = make_dataset(rows, "int", order)
    return sqlrank.evaluate(["nDCG@10", "P@10"], run=data.run, qrels=data.qrels, **limits)


def full_ranks(rows: int, order: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics of the whole order of each list."""
    data = make_dataset(rows, "int", order)
    return sqlrank.evaluate(
        ["nDCG@10", "AP", "RR", "P@10", "R@100"], run=data.run, qrels=data.qrels, **limits
    )


def evaluate_orders(rows: int, _: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics of the order of all predictions, of a table in a DuckDB file."""
    return sqlrank.evaluate(
        ["AUC", "APS", "LogLoss"],
        connection=make_predictions(rows),
        predictions="unweighted",
        **limits,
    )


def evaluate_sums(rows: int, _: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics that are sums over rows."""
    return sqlrank.evaluate(
        ["LogLoss", "Brier", "CalibrationRatio"],
        connection=make_predictions(rows),
        predictions="unweighted",
        **limits,
    )


RANKINGS: dict[str, Callable[..., pa.Table]] = {
    "nDCG@10, P@10": first_documents,
    "nDCG@10, AP, RR, P@10, R@100": full_ranks,
}
CALLS: dict[str, Callable[..., pa.Table]] = {
    **RANKINGS,
    "AUC, APS, LogLoss": evaluate_orders,
    "LogLoss, Brier, CalibrationRatio": evaluate_sums,
}


def run_child(name: str, rows: int, order: Order, limit: str, check: str) -> None:
    """Make one call, and print its values with the seconds and the peak memory in bytes; the data
    are made before.
    """
    start = time.perf_counter()
    result = CALLS[name](
        rows, order, memory_limit=limit, check=check, temp_directory=FOLDER / "spill"
    )
    print_values(result.to_pylist()[0], start)


def measure_call(name: str, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    command = [
        sys.executable,
        __file__,
        "--child",
        name,
        str(rows),
        options.order,
        options.memory_limit,
        options.check,
    ]
    outputs = [
        # Our own script
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)  # noqa: S603
        for _ in range(options.repeat if rows <= options.most_repeated else 1)
    ]
    outputs.sort(key=lambda values: values["seconds"])
    middle = outputs[len(outputs) // 2]
    return {
        "call": name,
        "rows": rows,
        "seconds": middle["seconds"],
        "gigabytes": max(values["peak"] for values in outputs) / 1e9,
    }


def draw_scale(results: list[dict[str, Any]], limit: str) -> None:
    """Write the picture: seconds and memory over rows, both axes logarithmic for time, so that a
    straight line grows with the rows.
    """
    points = alt.Chart(alt.Data(values=results))
    rows = alt.X("rows:Q", title="rows").scale(type="log").axis(format="~s")
    call = (
        alt.Color("call:N", title=None, sort=list(CALLS))
        .scale(scheme="tableau10")
        .legend(orient="bottom", columns=1, labelLimit=400)
    )
    seconds = points.mark_line(point=True).encode(
        rows, alt.Y("seconds:Q", title="seconds").scale(type="log"), call
    )
    memory = points.mark_line(point=True).encode(
        rows, alt.Y("gigabytes:Q", title=f"peak memory of the process, GB; limit {limit}"), call
    )
    PICTURE.parent.mkdir(exist_ok=True)
    alt.hconcat(seconds.properties(**PANEL), memory.properties(**PANEL)).save(PICTURE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1_000_000, help="fewest rows")
    parser.add_argument("--rows", type=int, default=100_000_000, help="most rows")
    parser.add_argument(
        "--order",
        default="shuffled",
        choices=("shuffled", "clustered"),
        help="of the rows of runs: by chance, or by query",
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--most-repeated", type=int, default=10_000_000, help="rows up to which a call is repeated"
    )
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument(
        "--check",
        default="auto",
        choices=("auto", "full", "off"),
        help="what is checked of the rows",
    )
    parser.add_argument("--only", nargs="+", choices=CALLS, default=list(CALLS), metavar="CALL")
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="JSON of earlier runs, which are drawn as well; this one is added to it",
    )
    parser.add_argument("--no-picture", action="store_true")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, rows, order, limit, check = options.child
        run_child(name, int(rows), order, limit, check)
        return
    print_introduction(os.cpu_count() or 1, ("duckdb", "pyarrow"))
    results, rows = [], options.first
    while rows <= options.rows:
        # Made here, so that a process that is measured makes none.
        if {*options.only} & {*RANKINGS}:
            make_dataset(rows, "int", options.order)
        if {*options.only} - {*RANKINGS}:
            make_predictions(rows)
        for name in options.only:
            results.append(measure_call(name, rows, options))
            console.print(
                f"{rows:>13,}  {results[-1]['seconds']:8.2f} s  {results[-1]['gigabytes']:5.2f} GB "
                f" {name}",
                highlight=False,
            )
        rows *= 10
    table = Table(
        "",
        *(f"{rows:,}" for rows in sorted({item["rows"] for item in results})),
        title=f"seconds / GB, limit {options.memory_limit}",
    )
    for name in options.only:
        table.add_row(
            name,
            *(
                f"{item['seconds']:.2f} / {item['gigabytes']:.1f}"
                for item in results
                if item["call"] == name
            ),
        )
    console.print(table)
    if options.beside:
        results = [
            *(json.loads(options.beside.read_text()) if options.beside.exists() else []),
            *results,
        ]
        options.beside.write_text(json.dumps(results))
    if not options.no_picture:
        draw_scale(results, options.memory_limit)


if __name__ == "__main__":
    main()
