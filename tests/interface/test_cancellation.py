"""Limits, time-outs, progress and interruption; nothing is left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import ExecutionError, InputError, SqlrankError
from sqlrank.cancellation import Worker, run_cancellable, set_deadline
from sqlrank.engines.duckdb_database import NameSuffix

ROOT = Path(__file__).parents[2]
BIG = ["nDCG", "AP"]


def create_big_views(connection: duckdb.DuckDBPyConnection, rows: int) -> dict[str, Any]:
    """Make views that hold no data, but take long to evaluate; every list has 1,000 documents, two
    of them judged.
    """
    connection.execute(
        "CREATE VIEW r AS SELECT i // 1000 AS query_id, i * 7919 % 1000 AS doc_id, hash(i) / 1e18"
        f" AS score FROM range({rows}) t(i);CREATE VIEW q AS SELECT i // 2 AS query_id, i % 2 AS"
        f" doc_id, 1 AS relevance FROM range({rows // 500}) t(i)"
    )
    return {"run": "r", "qrels": "q", "connection": connection}


@pytest.fixture
def spill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("check", ["auto", "full", "off"])
def test_a_timeout_cancels_quickly_whatever_is_being_done(check):
    connection = duckdb.connect()
    call = create_big_views(connection, 10_000_000)
    started = time.monotonic()
    with pytest.raises(
        ExecutionError, match=r"cancelled after 0\.2 seconds. Give a longer timeout, or fewer rows"
    ):
        sqlrank.evaluate(BIG, **call, check=check, timeout=0.2)
    assert time.monotonic() - started < 1.5
    assert connection.execute("SELECT 42").fetchall() == [(42,)], "the connection can be used again"


def test_a_timeout_that_is_not_reached(run, qrels):
    assert sqlrank.evaluate("RR", run=run, qrels=qrels, timeout=60).to_pylist() == [{"RR": 0.75}]


@pytest.mark.slow
@pytest.mark.parametrize("check", ["auto", "off"])
def test_out_of_memory(check, tmp_path):
    connection = duckdb.connect()
    call = create_big_views(connection, 3_000_000)
    connection.execute(
        f"SET temp_directory = '{tmp_path / 'spill'}'; SET max_temp_directory_size = '1MB'"
    )
    with pytest.raises(ExecutionError, match=r"out of memory: .*. Give more with memory_limit"):
        sqlrank.evaluate(
            BIG, **call, plan={"rank_method": "sort"}, memory_limit="20MB", threads=1, check=check
        )
    assert connection.execute("SELECT 42").fetchall() == [(42,)]


@pytest.mark.slow
def test_a_folder_to_spill_to_on_a_callers_connection(tmp_path):
    """DuckDB does not switch back from a folder that it has used; the result counts more."""
    connection = duckdb.connect()
    connection.execute(f"SET temp_directory = '{tmp_path / 'before'}'")
    options = {"memory_limit": "60MB", "temp_directory": tmp_path / "spill", "check": "off"}
    assert sqlrank.evaluate(
        "num_q", **create_big_views(connection, 3_000_000), **options
    ).to_pylist() == [{"num_q": 3000.0}]
    assert (
        sqlrank.evaluate("AP", run="r", qrels="q", connection=connection, **options).num_rows == 1
    )


@pytest.mark.slow
def test_what_does_not_fit_into_memory_is_spilled(spill, tmp_path):
    path = tmp_path / "big.duckdb"
    with duckdb.connect(str(path)) as connection:
        call = create_big_views(connection, 1_000_000)
        expected = sqlrank.evaluate(BIG, **call, check="off").to_pylist()[0]
    got = sqlrank.evaluate(
        BIG, run="r", qrels="q", connection=path, memory_limit="60MB", threads=2, check="off"
    ).to_pylist()[0]
    assert got == pytest.approx(expected, rel=1e-12)
    assert list(spill.iterdir()) == []


@pytest.mark.parametrize("fails", [False, True])
def test_the_folder_to_spill_to_is_removed(fails, spill, run, qrels):
    seen = []
    try:
        sqlrank.evaluate(
            "RR",
            run=run.drop_columns("score") if fails else run,
            qrels=qrels,
            progress=lambda _: seen.extend(path.name for path in spill.iterdir()),
        )
    except InputError:
        assert fails
    assert list(spill.iterdir()) == []


def test_a_folder_of_the_callers_is_preserved(tmp_path, spill, run, qrels):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    sqlrank.evaluate("RR", run=run, qrels=qrels, temp_directory=tmp_path / "mine")
    assert (tmp_path / "mine" / "file").read_text() == "x"
    assert list(spill.iterdir()) == []


@pytest.mark.slow
def test_progress_is_reported_and_rises():
    told = []
    sqlrank.evaluate(
        BIG,
        **create_big_views(duckdb.connect(), 4_000_000),
        check="off",
        progress=told.append,
        threads=1,
    )
    assert told
    assert told == sorted(told)
    assert 0 < max(told) <= 100


def test_progress_that_fails_stops_the_work(spill):
    connection = duckdb.connect()

    def fail(_):
        raise RuntimeError("no more")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="no more"):
        sqlrank.evaluate(BIG, **create_big_views(connection, 8_000_000), check="off", progress=fail)
    assert time.monotonic() - started < 1.5
    assert connection.execute("SELECT 42").fetchall() == [(42,)]
    assert list(spill.iterdir()) == []


EVALUATE = [sys.executable, "-m", "sqlrank", "evaluate", *BIG, "--run", "r", "--qrels", "q", "--db"]
SCRIPT = (
    "import sys, sqlrank; sqlrank.evaluate(['nDCG', 'AP'], run='r', qrels='q',"
    " connection=sys.argv[1], check=sys.argv[3])"
)


def _reset_signals() -> None:
    """Let a child process take signals as in a terminal, also where the tests run under nohup,
    whose children ignore SIGHUP.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "check", "number"),
    [
        (EVALUATE, "off", signal.SIGINT),
        pytest.param(EVALUATE, "full", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(EVALUATE, "off", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(EVALUATE, "off", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param([sys.executable, "-c", SCRIPT], "off", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param([sys.executable, "-c", SCRIPT], "auto", signal.SIGINT, marks=pytest.mark.slow),
    ],
    ids=[
        "command line", "command line, checking", "terminated", "hung up", "Python",
        "Python, checking",
    ],
)  # fmt: skip
def test_an_interrupt_ends_it_and_leaves_nothing_behind(command, check, number, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    with duckdb.connect(str(tmp_path / "big.duckdb")) as connection:
        create_big_views(connection, 100_000_000)
    process = subprocess.Popen(
        [*command, str(tmp_path / "big.duckdb"), "--check", check],
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_reset_signals,  # noqa: PLW1509  one thread at this point
    )
    try:
        deadline = time.monotonic() + 20
        while not list(folder.glob("sqlrank_*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(folder.glob("sqlrank_*"))
        time.sleep(0.6)
        assert process.poll() is None, process.communicate()
        process.send_signal(number)
        started = time.monotonic()
        out, err = process.communicate(timeout=4)
        assert time.monotonic() - started < 2
    finally:
        process.kill()
        process.wait()
    assert out == b""
    assert list(folder.iterdir()) == []
    if number is not signal.SIGINT:
        assert (process.returncode, err) == (128 + number, b"")
    elif command is EVALUATE:
        assert (process.returncode, err) == (130, b"sqlrank: interrupted\n")
    else:
        assert err.rstrip().endswith(b"KeyboardInterrupt")


@pytest.mark.slow
def test_an_interrupt_leaves_the_callers_connection_as_it_was():
    """As in a notebook: the interrupt is raised, and the connection goes on."""
    script = """
import os, signal, threading, duckdb, sqlrank
connection = duckdb.connect()
connection.execute("CREATE VIEW r AS SELECT i // 1000 AS query_id, i % 1000 AS doc_id, hash(i) AS score FROM range(100000000) t(i)")
connection.execute("CREATE VIEW q AS SELECT i AS query_id, 1 AS doc_id, 1 AS relevance FROM range(100000) t(i)")
before = connection.execute("SELECT current_setting('threads')").fetchall()
threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    sqlrank.evaluate(['nDCG', 'AP'], run='r', qrels='q', connection=connection, check='off', threads=1)
except KeyboardInterrupt:
    print(connection.execute("SELECT current_setting('threads')").fetchall() == before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"True\n", b"")


@pytest.mark.slow
def test_a_thread_runs_the_work_of_calls_in_turn_until_one_is_abandoned():
    connection, is_over = duckdb.connect(), threading.Event()

    def work_in_thread(work=threading.get_ident):
        return int(run_cancellable(connection, work, None))

    first = work_in_thread()
    assert work_in_thread() == first != threading.get_ident()

    def call_within():
        assert work_in_thread() != threading.get_ident()
        return threading.get_ident()

    assert work_in_thread(call_within) in {first, work_in_thread()}
    with set_deadline(0.1), pytest.raises(ExecutionError, match=r"cancelled after 0\.1 seconds"):
        work_in_thread(lambda: is_over.wait() and threading.get_ident())
    abandoned = {
        thread.ident
        for thread in threading.enumerate()
        if isinstance(thread, Worker) and not thread.done.is_set()
    }
    assert abandoned
    assert work_in_thread() not in abandoned
    is_over.set()
    ended = time.monotonic() + 5
    while abandoned & {thread.ident for thread in threading.enumerate()}:
        assert time.monotonic() < ended, "the thread of abandoned work waits for more"
        time.sleep(0.01)


def test_a_forked_process_has_workers_of_its_own():
    sqlrank.evaluate("P@1", run={"q": {"d": 1.0}}, qrels={"q": {"d": 1}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads in the parent
        child = os.fork()
    if not child:
        try:
            is_run = run_cancellable(duckdb.connect(), lambda: True, None)
        finally:
            os._exit(0 if is_run else 1)
    ended = time.monotonic() + 20
    while not (status := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > ended:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert status[1] == 0


@pytest.mark.slow
def test_calls_in_threads_of_their_own(run, qrels):
    from concurrent.futures import ThreadPoolExecutor

    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.execute("CREATE TABLE runs AS FROM arrow_run")
    with ThreadPoolExecutor(4) as pool:
        alone = pool.map(
            lambda _: sqlrank.evaluate("RR", run=run, qrels=qrels).to_pylist(), range(8)
        )
        assert list(alone) == [[{"RR": 0.75}]] * 8
        shared = pool.map(
            lambda _: sqlrank.evaluate(
                "RR", run="runs", qrels=qrels, connection=connection.cursor()
            ).to_pylist(),
            range(8),
        )
        assert list(shared) == [[{"RR": 0.75}]] * 8


def test_the_statement_that_was_run_is_in_the_metadata(run, qrels):
    metadata = sqlrank.evaluate("RR", run=run, qrels=qrels).schema.metadata
    assert b"WITH" in metadata[b"sqlrank.sql"]
    assert metadata[b"sqlrank.version"] == sqlrank.__version__.encode()


def test_an_error_says_that_it_has_ended_the_transaction_of_the_caller():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE clicks AS SELECT 1 AS label, 0.5 AS score, 'x' AS campaign"
        )
        connection.execute("SET enable_progress_bar = false")  # notebooks turn it on
        connection.begin()
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate(
                "AUC", predictions="clicks", connection=connection, by="g=CAST(campaign AS INT)"
            )
        first, note = str(caught.value).splitlines()
        assert (
            first == "predictions (clicks): g is 'CAST(campaign AS INT)', and 'x' is no INT32."
            " TRY_CAST(campaign AS INT) reads NULL in its place"
        )
        assert note == (
            "DuckDB has ended the open transaction of your connection by this error: call"
            " rollback(). What was not committed is lost."
            # a call switches off that names are looked up among Python's variables
            " Set python_enable_replacements again then."
        )
        assert isinstance(caught.value.__cause__, ExecutionError)
        connection.rollback()
        connection.begin()
        with pytest.raises(
            InputError,
            match=r"^by: predictions have no column 'nothing'\. There are: label, score, campaign$",
        ):
            sqlrank.evaluate("AUC", predictions="clicks", connection=connection, by="nothing")
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
        with pytest.raises(InputError, match=r"reads NULL in its place$"):
            sqlrank.evaluate(
                "AUC",
                predictions="clicks",
                connection=connection.cursor(),
                by="g=CAST(campaign AS INT)",
            )


def _next_suffix() -> str:
    suffix = NameSuffix()
    text = str(suffix)
    suffix.release()
    return text


@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", ["arrow", "dict", "pandas", "csv"])
def test_an_error_in_a_transaction_is_not_hidden_by_the_clean_up(source, tmp_path):
    clicks = {"label": [1, 0], "score": [0.5, 0.4], "campaign": ["x", "1"]}
    path = tmp_path / "clicks.csv"
    path.write_text("label,score,campaign\n1,0.5,x\n0,0.4,1\n")
    sources = {
        "arrow": pa.table(clicks),
        "dict": clicks,
        "pandas": pa.table(clicks).to_pandas(),
        "csv": path,
    }
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        suffix = _next_suffix()
        for _ in range(2):
            connection.begin()
            with pytest.raises(SqlrankError, match="'x' is no INT32") as caught:
                sqlrank.evaluate(
                    "AUC",
                    predictions=sources[source],
                    connection=connection,
                    by="g=CAST(campaign AS INT)",
                )
            assert "call rollback()" in str(caught.value)
            connection.rollback()
            left = (
                "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL SELECT"
                " table_name FROM duckdb_tables()"
            )
            assert connection.execute(left).fetchall() == []
        assert _next_suffix() == suffix
        assert sqlrank.evaluate(
            "AUC", predictions=sources[source], connection=connection
        ).to_pylist() == [{"AUC": 1.0}]


def test_a_connection_works_after_an_error():
    """Repeated, since an error once left a result unfetched, which is in the way of the next call
    alone.
    """
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE clicks AS SELECT 1 AS label, 0.5 AS score")
        for _ in range(2):
            with pytest.raises(sqlrank.InputError, match="columns maps to 'missing'"):
                sqlrank.evaluate(
                    "AUC", predictions="clicks", columns={"score": "missing"}, connection=connection
                )
        assert connection.sql("SELECT 1").fetchall() == [(1,)]


def test_a_connection_with_rows_that_are_not_fetched_yet():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE clicks AS SELECT i % 2 AS label, i AS score FROM range(9) AS t(i)"
        )
        connection.execute("FROM clicks").fetchone()
        message = (
            r"unfinished result.*. Fetch all its rows \(fetchall\), or give"
            r" connection=con\.cursor\(\), which does not see temporary tables$"
        )
        with pytest.raises(InputError, match=message):
            sqlrank.evaluate("AUC", predictions="clicks", connection=connection)
        assert (
            sqlrank.evaluate("AUC", predictions="clicks", connection=connection.cursor()).num_rows
            == 1
        )
