"""Measure startup: help, the text of a metric, first small calls from files and from dicts, and the
same call again in one process.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table
from timing import console, parse_options

DATA = Path(__file__).parents[1] / "examples" / "data" / "trec_eval"
FILES = ["--run", str(DATA / "results.test"), "--qrels", str(DATA / "qrels.rel_level")]
COMMANDS: dict[str, tuple[list[str], float]] = {
    "sqlrank --help": (["--help"], 0.35),
    "sqlrank metrics RR": (["metrics", "RR"], 0.35),
    "sqlrank evaluate, three queries": (["evaluate", "nDCG@10", "AP", "RR", *FILES], 0.8),
}
"""Commands, and the seconds on a processor that they are meant to take at most."""

COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a command: modules are compiled once, as an installer does, and not at each
start.
"""

NEXT = 0.06
"""Seconds on a processor for a call that is made again."""

DICTS = """
import sqlrank
run = {f"q{query}": {f"d{doc}": float((query * 7 + doc * 13) % 101) for doc in range(20)} for query in range(50)}
qrels = {f"q{query}": {f"d{doc}": (query + doc) % 3 for doc in range(0, 20, 2)} for query in range(50)}
"""  # noqa: E501

FIRST_CALLS: dict[str, tuple[str, float]] = {
    "evaluate from Parquet, first call": (
        "sqlrank.evaluate(['nDCG@10', 'AP', 'RR'], run='run.parquet', qrels='qrels.parquet')",
        0.65,
    ),
    "evaluate from dicts, first call": (
        DICTS + "sqlrank.evaluate(['nDCG@10', 'AP', 'RR'], run=run, qrels=qrels)",
        0.75,
    ),
    "compare from dicts, first call": (
        DICTS + "sqlrank.compare(['nDCG@10', 'AP'], run={'a': run, 'b': run}, qrels=qrels)",
        0.9,
    ),
}
"""Programs that call a function for the first time, and the seconds on a processor that they are
meant to take at most.
"""

REPEATED = """
import time, pyarrow as pa, sqlrank
run = pa.table({"query_id": [1, 1, 2, 2, 3], "doc_id": ["a", "b", "a", "b", "c"], "score": [0.9, 0.5, 0.4, 0.6, 0.1]})
qrels = pa.table({"query_id": [1, 2, 3], "doc_id": ["b", "a", "c"], "relevance": [1, 2, 1]})
for _ in range(4):
    begun = time.process_time()
    sqlrank.evaluate(["nDCG@10", "AP", "RR"], run=run, qrels=qrels)
print(time.process_time() - begun)
"""  # noqa: E501


def new_process(arguments: list[str], folder: str) -> tuple[float, float]:
    """Return the seconds on a processor and on the clock that Python takes with these arguments."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Our own
    subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=COMPILED,
        cwd=folder,
    )
    elapsed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def time_second_call() -> tuple[float, float]:
    """Return the seconds on a processor of a call that was made before in the same process."""
    begun = time.perf_counter()
    # Our own
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", REPEATED], check=True, capture_output=True, text=True
    )
    return float(done.stdout), time.perf_counter() - begun


def main() -> None:
    """Print the table of medians."""
    repeat = parse_options(__doc__, repeat=5).repeat
    table = Table(
        "", "s on a processor", "s elapsed", "at most", title=f"start-up, median of {repeat}"
    )

    def add_processes(name: str, arguments: list[str], most: float) -> None:
        runs = [new_process(arguments, folder) for _ in range(repeat + 1)][1:]
        medians = (f"{statistics.median(side):.2f}" for side in zip(*runs, strict=True))
        table.add_row(name, *medians, f"{most:.2f}")

    with tempfile.TemporaryDirectory() as folder:
        namespace: dict[str, Any] = {}
        exec(DICTS, namespace)  # noqa: S102  our own
        for role, column in (("run", "score"), ("qrels", "relevance")):
            rows = [
                (query, doc, value)
                for query, docs in namespace[role].items()
                for doc, value in docs.items()
            ]
            columns = dict(
                zip(("query_id", "doc_id", column), map(list, zip(*rows, strict=True)), strict=True)
            )
            pq.write_table(pa.table(columns), Path(folder) / f"{role}.parquet")
        for name, (arguments, most) in COMMANDS.items():
            add_processes(name, ["-m", "sqlrank", *arguments], most)
        for name, (program, most) in FIRST_CALLS.items():
            add_processes(name, ["-c", f"import sqlrank\n{program}"], most)
    runs = [time_second_call() for _ in range(repeat)]
    table.add_row(
        "the same call again, in one process",
        f"{statistics.median(run[0] for run in runs):.3f}",
        "",
        f"{NEXT:.3f}",
    )
    console.print(table)


if __name__ == "__main__":
    main()
