"""The end of a program: with its own status and nothing on standard error, whatever was under
way.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import duckdb
import pytest

from sqlrank.cancellation import Worker, stop_workers
from tests.interface.command_line import ROOT, TREC
from tests.lanes import select_few

CALL = [
    "evaluate", "RR", "--run", str(TREC / "results.test"), "--qrels",
    str(TREC / "qrels.rel_level"),
]  # fmt: skip

LEFT_ALONE = """
import sys, sqlrank
class Endless:
    def __arrow_c_stream__(self, requested_schema=None):
        while True:
            sum(range(1000))
try:
    sqlrank.evaluate("AUC", predictions=Endless(), timeout=0.1)
except sqlrank.ExecutionError as error:
    print(error)
sys.exit(3)
"""

LONG_CONDITION = """
import pyarrow as pa, sys, sqlrank
rows = pa.table({"label": [0, 1], "score": [0.1, 0.2], "x": [1, 2]})
try:
    sqlrank.evaluate("AUC", predictions=rows, where=f"x IN ({','.join(map(str, range(20000)))})", timeout=1)
except sqlrank.ExecutionError:
    pass
sys.exit(3)
"""

INTERRUPTED_AT_IMPORT = """
import os, signal, sys
import sqlrank.__main__ as command
module, number = sys.argv.pop(1), int(sys.argv.pop(1))
class Interrupt:
    def __del__(self):  # exceptions in which are swallowed
        signal.raise_signal(number)
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
sys.meta_path.insert(0, Interrupt())
command.main()
"""


def run_script(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [LEFT_ALONE, pytest.param(LONG_CONDITION, marks=pytest.mark.slow)],
    ids=["endless", "condition"],
)
def test_a_program_ends_with_its_own_status_after_a_timeout(script):
    done = run_script(script)
    assert (done.returncode, done.stderr) == (3, "")


def test_work_under_way_is_interrupted_in_python_and_in_duckdb():
    connection = duckdb.connect()

    def compute():
        while True:
            sum(range(1000))

    def query():
        connection.execute(
            "SELECT SUM(a.i * b.i) FROM range(1000000) AS a(i), range(1000000) AS b(i)"
        ).fetchall()

    workers = [Worker(compute, duckdb.connect()), Worker(query, connection)]
    raised = []
    hook, threading.excepthook = threading.excepthook, lambda error: raised.append(error.exc_type)
    try:
        for worker in workers:
            worker.start()
        started = time.monotonic()
        stop_workers(seconds=5)
    finally:
        threading.excepthook = hook
    assert time.monotonic() - started < 4
    assert not any(worker.is_alive() for worker in workers)
    assert set(raised) <= {SystemExit, duckdb.InterruptException}


def test_work_that_heeds_no_interrupt_is_waited_for_in_bounds():
    is_over = threading.Event()
    worker = Worker(is_over.wait)
    worker.start()
    started = time.monotonic()
    stop_workers(seconds=0.1)
    assert time.monotonic() - started < 1
    assert worker.is_alive()
    is_over.set()
    stop_workers(seconds=5)
    assert not worker.is_alive()


@pytest.mark.parametrize(
    "module",
    [
        "sqlrank.cli.app",
        pytest.param("typer", marks=pytest.mark.slow),
        pytest.param("duckdb", marks=pytest.mark.slow),
        pytest.param("pyarrow", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_imports_ends_the_process(module, number):
    done = run_script(INTERRUPTED_AT_IMPORT, module, str(int(number)), *CALL)
    errors = "sqlrank: interrupted\n" if number is signal.SIGINT else ""
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    select_few([CALL, ["--help"], ["evaluate", "--help"], ["--version"]], 1),
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "sqlrank", *arguments]
    done = subprocess.run(
        words, check=False, stdout=writing, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_gate_keeps_its_status_and_files_where_its_reader_goes_away(tmp_path):
    (tmp_path / "good").write_text(
        "".join(f"q{q} Q0 a 1 9 x\nq{q} Q0 b 2 1 x\n" for q in range(20))
    )
    (tmp_path / "bad").write_text(
        "".join(f"q{q} Q0 b 1 9 x\nq{q} Q0 {'a' if q % 4 else 'c'} 2 1 x\n" for q in range(20))
    )
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 a 1\n" for q in range(20)))
    reading, writing = os.pipe()
    os.close(reading)
    words = [
        "gate", "RR", "--run", f"baseline={tmp_path}/good", "--run",
        f"candidate={tmp_path}/bad", "--qrels", tmp_path / "qrels",
    ]  # fmt: skip
    words += ["--junit", tmp_path / "gate.xml", "--summary", tmp_path / "gate.md"]
    done = subprocess.run(
        [sys.executable, "-m", "sqlrank", *map(str, words)],
        check=False,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (
        1,
        f"wrote {tmp_path / 'gate.md'}\nwrote {tmp_path / 'gate.xml'}\n",
    )
    assert 'failures="1"' in (tmp_path / "gate.xml").read_text()
    assert "fail" in (tmp_path / "gate.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("form", ["table", "csv"])
def test_output_that_the_encoding_lacks_has_a_next_step(encoding, form):
    query = "SELECT 1 AS label, 0.5 AS score, '\U0001f4a5' AS g"
    words = ["evaluate", "Brier", "--predictions", query, "--by", "g", "--format", form]
    command = [sys.executable, "-m", "sqlrank", *words]
    result = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding}
    )
    advice = re.search(rb"^sqlrank: .* has no '.U0001f4a5'. Set (\w+)=([\w-]+),", result.stderr)
    assert (result.returncode, result.stdout) == (2, b"")
    assert advice is not None, result.stderr
    name, value = advice[1].decode(), advice[2].decode()
    followed = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, name: value}
    )
    assert "\U0001f4a5" in followed.stdout.decode()
