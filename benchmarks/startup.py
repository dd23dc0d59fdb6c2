"""Measure startup: help, the text of a metric, a first small evaluation, and the next one in the same process."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

DATA = Path(__file__).parents[1] / "examples" / "data" / "trec_eval"
FILES = ["--run", str(DATA / "results.test"), "--qrels", str(DATA / "qrels.rel_level")]
COMMANDS: dict[str, tuple[list[str], float]] = {
    "sqlrank --help": (["--help"], 0.35),
    "sqlrank metrics RR": (["metrics", "RR"], 0.35),
    "sqlrank evaluate, three queries": (["evaluate", "nDCG@10", "AP", "RR", *FILES], 0.8),
}
"""Commands, and the seconds on a processor that they are meant to take at most."""

COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a command: modules are compiled once, as an installer does, and not at each start."""

NEXT = 0.06
"""Seconds on a processor for a call that is made again."""

REPEATED = """
import time, pyarrow as pa, sqlrank
run = pa.table({"query_id": [1, 1, 2, 2, 3], "doc_id": ["a", "b", "a", "b", "c"], "score": [0.9, 0.5, 0.4, 0.6, 0.1]})
qrels = pa.table({"query_id": [1, 2, 3], "doc_id": ["b", "a", "c"], "relevance": [1, 2, 1]})
for _ in range(4):
    begun = time.process_time()
    sqlrank.evaluate(["nDCG@10", "AP", "RR"], run=run, qrels=qrels)
print(time.process_time() - begun)
"""


def command(arguments: list[str]) -> tuple[float, float]:
    """Return the seconds on a processor and on the clock that a command takes."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "sqlrank", *arguments], check=True, stdout=subprocess.DEVNULL, env=COMPILED)  # noqa: S603  our own
    elapsed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def again() -> tuple[float, float]:
    """Return the seconds on a processor of a call that was made before in the same process."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", REPEATED], check=True, capture_output=True, text=True)  # noqa: S603  our own
    return float(done.stdout), time.perf_counter() - begun


def main() -> None:
    """Print the table of medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    table = Table("", "s on a processor", "s elapsed", "at most", title=f"start-up, median of {repeat}")
    for name, (arguments, most) in COMMANDS.items():
        runs = [command(arguments) for _ in range(repeat + 1)][1:]
        table.add_row(name, *(f"{statistics.median(side):.2f}" for side in zip(*runs, strict=True)), f"{most:.2f}")
    runs = [again() for _ in range(repeat)]
    table.add_row("the same call again, in one process", f"{statistics.median(run[0] for run in runs):.3f}", "", f"{NEXT:.3f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
