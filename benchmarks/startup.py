"""Measure startup: help, the text of a metric, first small calls from files and from dicts, and the
same call again in one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from timing import (
    CORES,
    Sides,
    Values,
    parse_options,
    peak_bytes,
    print_introduction,
    print_timings,
    run_in_turn,
)

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

AGAIN, NEXT = "the same call again, in one process", 0.06
"""A call that is made again, and its most seconds on a processor."""

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


def new_process(arguments: list[str], folder: str) -> Values:
    """Return the peak memory of Python with these arguments, read from time to time, and the
    seconds on a processor if it prints some.
    """
    peak = 0
    # Our own
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=COMPILED, cwd=folder
    )
    while process.poll() is None:
        with suppress(OSError):  # it ends meanwhile
            peak = max(peak, peak_bytes(process.pid))
        time.sleep(0.005)
    output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{arguments} failed")
    return {"peak": peak, **({"processor": float(output)} if REPEATED in arguments else {})}


def store_inputs(folder: str) -> None:
    """Write the dicts as Parquet files."""
    namespace: dict[str, Any] = {}
    exec(DICTS, namespace)  # noqa: S102  our own
    for role, column in (("run", "score"), ("qrels", "relevance")):
        rows = [
            (query, doc, value)
            for query, docs in namespace[role].items()
            for doc, value in docs.items()
        ]
        columns = map(list, zip(*rows, strict=True))
        table = pa.table(dict(zip(("query_id", "doc_id", column), columns, strict=True)))
        pq.write_table(table, Path(folder) / f"{role}.parquet")


def main() -> None:
    """Print the table of medians."""
    repeat = parse_options(__doc__, repeat=5).repeat
    programs = {name: ["-m", "sqlrank", *arguments] for name, (arguments, _) in COMMANDS.items()}
    programs |= {
        name: ["-c", f"import sqlrank\n{program}"] for name, (program, _) in FIRST_CALLS.items()
    }
    limits = {name: most for name, (_, most) in {**COMMANDS, **FIRST_CALLS}.items()}
    print_introduction(CORES, ("duckdb", "pyarrow"))
    with tempfile.TemporaryDirectory() as folder:
        store_inputs(folder)
        sides: Sides = {
            name: partial(new_process, arguments, folder) for name, arguments in programs.items()
        }
        run_in_turn(sides, 1)  # modules are compiled
        sides[AGAIN] = partial(new_process, ["-c", REPEATED], folder)
        timings = run_in_turn(sides, repeat)
    notes = {name: f"{most:.2f}" for name, most in {**limits, AGAIN: NEXT}.items()}
    title = f"start-up, median of {repeat}"
    print_timings(title, timings, next(iter(sides)), notes, "at most, CPU")


if __name__ == "__main__":
    main()
