"""Signals at random times: a command ends at once with the conventional status, and leaves complete
files or none.
"""

import os
import random
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from tests.interface.command_line import ROOT
from tests.interface.outputs import make_data

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
DATA = "../../data"
GATE = [
    "gate", "Brier", "--predictions", f"{DATA}/predictions.parquet", "--column", "score=score",
    "--column", "score=other",
]  # fmt: skip
# Of one thread where files hold sums: two may differ in the last digit.
COMMANDS = [
    [
        "evaluate", "AUC", "LogLoss", "--predictions", f"{DATA}/predictions.parquet", "-o",
        "metrics.parquet", "--confidence", "0.95",
    ],
    [
        *GATE,
        "--threads",
        "1",
        "--policy",
        "level=query",
        "--summary",
        "summary.md",
        "--junit",
        "gate.xml",
        "-o",
        "gate.csv",
    ],
    ["sql", "AUC", "--predictions", "clicks", "--dbt", "model.sql"],
    [
        "rollup", "LogLoss", "--predictions", f"{DATA}/predictions.parquet", "--by", "day",
        "-o", "rollup.parquet",
    ],
]  # fmt: skip
STATUS = {"gate": 3}
"""Exit status of commands that report a verdict, here an inconclusive one."""
WARM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # so that a child does not end as Python does, with threads of its parent that it lacks
import duckdb, pyarrow.parquet, sqlrank.__main__, sqlrank.cli.app, sqlrank.api.evaluate, sqlrank.run.execution
for name in ("evaluate", "gate", "sql", "rollup"):
    sqlrank.cli.app.command_line(name)
for line in sys.stdin:
    folder, number, seconds, *words = line.split()
    process = os.fork()
    if not process:
        os.chdir(folder)
        os.environ["TMPDIR"] = "temporary"
        os.dup2(os.open("printed", os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(os.open("errors", os.O_WRONLY | os.O_CREAT), 2)
        sys.argv = ["sqlrank", *words]
        sqlrank.__main__.main()
    time.sleep(float(seconds))
    os.kill(process, int(number))
    end = time.monotonic() + 120
    while not (found := os.waitpid(process, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.005)
    if not found[0]:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    print(os.waitstatus_to_exitcode(found[1]) if found[0] else "hangs", flush=True)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of data, and of the folders that commands write to."""
    folder = tmp_path_factory.mktemp("signals")
    make_data(folder / "data")
    return folder


@cache
def run_complete(data: Path, place: int) -> tuple[Path, float]:
    """Return the folder that a command wrote to without a signal, and the seconds that it took."""
    folder, start = make_folder(data / "complete" / str(place)), time.monotonic()
    words = [sys.executable, "-m", "sqlrank", *COMMANDS[place]]
    done = subprocess.run(words, check=False, cwd=folder, env=variables(), capture_output=True)
    assert done.returncode == STATUS.get(COMMANDS[place][0], 0), done.stderr
    return folder, time.monotonic() - start


def variables() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": "temporary"}


def make_folder(folder: Path) -> Path:
    (folder / "temporary").mkdir(parents=True)
    return folder


def _reset_signals() -> None:
    """Let a child process take signals as in a terminal, also where the tests run under nohup."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def check_folder(folder: Path, complete: Path, number: int, status: str, errors: str) -> None:
    """Check the status, what is printed to standard error, and the files of a command that got a
    signal.
    """
    # Until the first line of the program, a signal ends it as it ends any process.
    assert status in {*map(str, {0, *STATUS.values()}), str(128 + number), str(-number)}, errors
    printed = [line for line in errors.splitlines() if not line.startswith(("wrote ", "verdict: "))]
    # Until the first line of the program, Python shows where an interrupt was.
    assert printed in ([], ["sqlrank: interrupted"]) or printed[-1] == "KeyboardInterrupt"
    assert list((folder / "temporary").iterdir()) == []
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for name in files.keys() - {"printed", "errors"}:
        assert files[name] == (complete / name).read_bytes(), name


def send_signals(count: int, data: Path, seed: int, commands: int = len(COMMANDS)) -> None:
    """Start commands and send a signal to each within the time that it takes."""
    draw = random.Random(seed)  # noqa: S311  a reproducible draw
    for turn in range(count):
        place, number = turn % commands, draw.choice(SIGNALS)
        folder = make_folder(data / "killed" / f"{seed} {turn}")
        complete, seconds = run_complete(data, place)
        process = subprocess.Popen(
            [sys.executable, "-m", "sqlrank", *COMMANDS[place]], cwd=folder, env=variables(), stdout=subprocess.DEVNULL,
            # One thread at this point
            stderr=subprocess.PIPE, text=True, preexec_fn=_reset_signals,  # noqa: PLW1509
        )  # fmt: skip
        time.sleep(draw.uniform(0.05, seconds))
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        check_folder(folder, complete, number, str(process.returncode), errors)


@pytest.mark.slow
def test_a_few_signals_at_random_times(data):
    send_signals(2, data, 1, commands=1)


@pytest.mark.slow
def test_signals_at_random_times(data):
    send_signals(100, data, 2)


@pytest.mark.slow
def test_signals_at_random_times_after_the_imports(data):
    draw = random.Random(3)  # noqa: S311  a reproducible draw
    turns = [
        (turn % len(COMMANDS), draw.choice(SIGNALS), make_folder(data / "killed" / f"warm_{turn}"))
        for turn in range(300)
    ]
    lines = [
        f"{folder} {number:d} {draw.uniform(0, 0.3):f} {' '.join(COMMANDS[place])}\n"
        for place, number, folder in turns
    ]
    words = [sys.executable, "-c", WARM]
    done = subprocess.run(
        words,
        check=True,
        input="".join(lines),
        capture_output=True,
        text=True,
        env=variables(),
        preexec_fn=_reset_signals,
    )
    for (place, number, folder), status in zip(turns, done.stdout.splitlines(), strict=True):
        errors = folder / "errors"  # is missing where the signal was first
        check_folder(
            folder,
            run_complete(data, place)[0],
            number,
            status,
            errors.read_text() if errors.exists() else "",
        )


STARTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import sqlrank.__main__
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlrank.cancellation":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["sqlrank", "metrics"]
sqlrank.__main__.main()
"""


def test_an_interrupt_of_imports_prints_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", STARTING], check=False, capture_output=True, env=variables()
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
