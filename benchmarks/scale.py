"""Measure time and memory by number of rows: each call in its own process under one memory limit,
drawn as a chart.

A million rows, then ten times as many, until ``--rows``. A billion of all calls needs about 60 GB
of disk at once; in parts, with ``--only``, the data of each deleted after it, half of that:
``--beside`` draws what several runs found in one picture.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
from data import FOLDER, make_dataset, make_predictions
from rich.table import Table
from timing import CORES, Values, console, parse_options, print_introduction, run_child, run_in_turn

import sqlrank

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    import pyarrow as pa
    from data import Order

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "scale.svg"
PANEL = {"width": 320, "height": 200}


def evaluate_lists(metrics: list[str], rows: int, order: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics of lists of integers in Parquet."""
    data = make_dataset(rows, "int", order)
    return sqlrank.evaluate(metrics, run=data.run, qrels=data.qrels, **limits)


def evaluate_predictions(metrics: list[str], rows: int, _: Order, **limits: Any) -> pa.Table:
    """Evaluate metrics of a table in a DuckDB file."""
    path = make_predictions(rows)
    return sqlrank.evaluate(metrics, connection=path, predictions="unweighted", **limits)


RANKINGS = ("nDCG@10, P@10", "nDCG@10, AP, RR, P@10, R@100")
"""Metrics of the first documents of each list, and of its whole order."""

CALLS: dict[str, Callable[..., pa.Table]] = {
    **dict.fromkeys(RANKINGS, evaluate_lists),
    **dict.fromkeys(
        ("AUC, APS, LogLoss", "LogLoss, Brier, CalibrationRatio"), evaluate_predictions
    ),
}
"""Functions by their metrics; of predictions those of their order, and those that are sums."""


def evaluate_call(name: str, rows: int, order: Order, **limits: Any) -> dict[str, Any]:
    """Return the values of one call."""
    return dict(CALLS[name](name.split(", "), rows, order, **limits).to_pylist()[0])


def measure_call(name: str, rows: int, options: Namespace) -> dict[str, Any]:
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

    def run_process() -> Values:
        # Our own script
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
        return dict(json.loads(done.stdout))

    repeat = options.repeat if rows <= options.most_repeated else 1
    timing = run_in_turn({name: run_process}, repeat)[name]
    return {
        "call": name,
        "rows": rows,
        "seconds": timing.median,
        "gigabytes": max(timing.peaks) / 1e9,
        "other_load": max(timing.other_loads),
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
    alt.vconcat(seconds.properties(**PANEL), memory.properties(**PANEL)).save(PICTURE)


def main() -> None:
    options = parse_options(
        __doc__,
        CALLS,
        first=(1_000_000, "fewest rows"),
        rows=(100_000_000, "most rows"),
        order=(("shuffled", "clustered"), "of the rows of runs: by chance, or by query"),
        most_repeated=(10_000_000, "rows up to which a call is repeated"),
        memory_limit="4GB",
        check=(("auto", "full", "off"), "what is checked of the rows"),
        beside=("", "JSON of earlier runs, which are drawn as well; this one is added to it"),
        no_picture=False,
        child=([], "a call, its rows and options, of a process that is measured"),
    )
    if options.child:
        name, rows, order, limit, check = options.child
        evaluate = partial(evaluate_call, name, int(rows), order, check=check)
        run_child(evaluate, limit, FOLDER / "spill")
        return
    print_introduction(CORES, ("duckdb", "pyarrow"))
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
                f" load of others {results[-1]['other_load']:.1f}  {name}",
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
        file = Path(options.beside)
        results = [*(json.loads(file.read_text()) if file.exists() else []), *results]
        file.write_text(json.dumps(results))
    if not options.no_picture:
        draw_scale(results, options.memory_limit)


if __name__ == "__main__":
    main()
