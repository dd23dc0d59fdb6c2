"""Limits of a call: allowed resources, timeouts, and cleanup."""

import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import ExecutionError, MetricError
from sqlrank.call.request import ResourceLimits
from sqlrank.cancellation import make_fork_safe_lock, run_in_time, set_deadline
from sqlrank.engines import duckdb_session as sessions
from sqlrank.engines.duckdb_session import duckdb_session
from tests.tables import build_table

PREDICTIONS = build_table(label="0 1 1", score="0.1 0.7 0.4")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            "ROC(points=1000000000)",
            "points is 1000000000. It must be an integer from 0 to 10000000",
        ),
        ("Calibration(bins=10000000)", "bins is 10000000. It must be an integer from 1 to 100000"),
        ("ECE(bins=10000000)", "bins is 10000000. It must be an integer from 1 to 100000"),
        (f"11pt(points={[0.5] * 2000})", "points has 2000 numbers. It may have at most 1000"),
        (
            [f"P@{k}" for k in range(1, 10_001)],
            (
                "10000 metrics are too many for a call. A statement has at most 1000, so ask for"
                " them in several calls"
            ),
        ),
        (["P@1..600", "R@1..600"], "have 1200 cut-offs. Ranges have at most 1000 together"),
        (
            "P@1..100000",
            (
                "P@1..100000 and its like have 100000 cut-offs. Ranges have at most 1000 together,"
                " so ask in parts"
            ),
        ),
    ],
)
def test_absurd_requests_are_refused_at_once(metric, message):
    started = time.monotonic()
    with pytest.raises(MetricError) as caught:
        sqlrank.evaluate(metric, predictions=PREDICTIONS)
    assert message in str(caught.value)
    assert time.monotonic() - started < 5


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 0.3, 1])
def test_a_timeout_holds_while_a_statement_is_composed_and_planned(seconds, run, qrels):
    """Within a second on an idle machine; DuckDB parses in one piece that stops all threads, which
    takes longer beside other work.
    """
    metrics = [f"nDCG@{k}" for k in range(1, 1001)]
    connection = duckdb.connect()
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=f"^cancelled after {seconds:g} seconds"):
        sqlrank.evaluate(metrics, run=run, qrels=qrels, connection=connection, timeout=seconds)
    assert time.monotonic() - started < seconds + 3


def test_a_timeout_holds_while_a_sweep_is_computed():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r AS SELECT i // 1000 AS query_id, i AS doc_id, i AS score, 1 AS relevance"
        " FROM range(400000) AS t(i)"
    )
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"^cancelled after 0\.4 seconds"):
        sqlrank.evaluate(
            "nDCG@1..1000", run="r", qrels="r", connection=connection, check="off", timeout=0.4
        )
    assert time.monotonic() - started < 1.4


@pytest.mark.slow
def test_work_that_heeds_no_interrupt_is_left_alone(run, qrels):
    connection = duckdb.connect()
    connection.create_function(
        "slow", lambda value: (time.sleep(0.9), value)[1], ["DOUBLE"], "DOUBLE"
    )
    connection.register("given", run)
    connection.execute("CREATE VIEW r AS SELECT query_id, doc_id, slow(score) AS score FROM given")
    started = time.monotonic()
    with pytest.raises(
        ExecutionError,
        match=r"^cancelled after 0\.3 seconds. Give a longer timeout, or fewer rows$",
    ):
        sqlrank.evaluate("RR", run="r", qrels=qrels, connection=connection, timeout=0.3)
    assert time.monotonic() - started < 1.3


def _end_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("process", "machine", "is_kept"),
    [
        (_end_process, sessions.pid_namespace, False),
        (os.getpid, sessions.pid_namespace, True),
        (_end_process, lambda: 1, True),
    ],
    ids=["dead", "alive", "of another container"],
)
def test_what_a_killed_process_left_is_swept(process, machine, is_kept, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f"sqlrank_{process()}_{machine()}_abc"
    others = [tmp_path / "sqlrank_notes", tmp_path / "other_1_1_x"]
    for folder in (left, *others):
        folder.mkdir()
        (folder / "file").write_text("x")
    made = Path(sessions.make_spill_directory())
    assert made.parent == tmp_path
    assert left.exists() == is_kept
    assert all((folder / "file").exists() for folder in others)


def test_a_database_is_pooled_for_the_threads_last_requested(monkeypatch):
    opened = []
    # None is kept yet
    monkeypatch.setattr(sessions, "_SPARE", sessions._DatabasePool())  # noqa: SLF001
    real = sessions._open_database  # noqa: SLF001  what is counted
    monkeypatch.setattr(
        sessions, "_open_database", lambda threads: opened.append(threads) or real(threads)
    )
    for threads in (1, None, 1, 2, None, 2, 1, 3, 1, 2):
        with duckdb_session(None, ResourceLimits(threads=threads)) as database:
            told = database.sql("SELECT CURRENT_SETTING('threads')").fetchall()[0][0]
            assert threads in {None, told}
    assert opened == [1, None, 2, 3, 2]


@pytest.mark.slow
def test_few_rows_in_memory_are_evaluated_by_one_thread(monkeypatch, tmp_path):
    requested = []
    real = sessions.pooled_connection
    monkeypatch.setattr(
        sessions, "pooled_connection", lambda threads: requested.append(threads) or real(threads)
    )
    docs = {f"d{doc}": doc for doc in range(2_501)}
    qrels = {"q1": {"d1": 1}}
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score\nq1,d1,1\n")
    few, many = ({f"q{query}": docs for query in range(size)} for size in (10, 20))
    for run, options in (
        (few, {}),
        (build_table(query_id="q1", doc_id="d1", score="1.0"), {}),
        ({"a": qrels, "b": few}, {}),
        (many, {}),
        (path, {}),
        (few, {"threads": 2}),
        (few, {"confidence": 0.9, "interval": "bootstrap"}),
    ):
        sqlrank.evaluate("P@1", run=run, qrels=qrels, **options)
    assert requested == [1, 1, 1, None, None, 2, None]


def test_what_is_under_way_outlives_the_database_that_is_let_go():
    with duckdb_session(None, ResourceLimits(threads=1)) as first:
        first.execute("CREATE TEMP TABLE t AS SELECT 7 AS x")
        with (
            duckdb_session(None, ResourceLimits(threads=2)) as second,
            pytest.raises(duckdb.CatalogException),
        ):
            second.sql("FROM t")
        assert first.sql("FROM t").fetchall() == [(7,)]


def test_imports_keep_the_time_of_a_call():
    started = time.monotonic()
    with (
        set_deadline(0.2),
        pytest.raises(
            ExecutionError, match=r"^cancelled after 0\.2 seconds. Give a longer timeout"
        ),
    ):
        run_in_time(lambda: time.sleep(1.5))
    assert time.monotonic() - started < 1.2
    with set_deadline(60):
        assert run_in_time(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            run_in_time(lambda: 1 / 0)


@pytest.mark.slow
def test_a_report_keeps_its_time_while_its_libraries_are_imported():
    call = "sqlrank.report('RR', run={'q': {'d': 1.0}}, qrels={'q': {'d': 1}}, timeout=0.3)"
    code = (
        f"import time, sqlrank, sqlrank.reports.report\nt = time.monotonic()\ntry: {call}\nexcept"
        " sqlrank.ExecutionError: print(time.monotonic() - t)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) < 1.3


def test_locks_are_free_in_a_process_forked_while_a_thread_had_them():
    lock, held = make_fork_safe_lock(), threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(0.3)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with warnings.catch_warnings(
        action="ignore", category=DeprecationWarning
    ):  # of Python 3.12, where there are threads
        child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(timeout=5) else 1)
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert lock.acquire(timeout=5)
    lock.release()


@pytest.mark.slow
def test_a_connection_that_threads_share_is_refused_by_our_errors():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE p AS SELECT i % 2 AS label, i * 1.0 AS score FROM range(20000) AS t(i)"
    )
    expected = sqlrank.evaluate("AUC", predictions="p", connection=connection).to_pylist()

    def call(_):
        try:
            assert (
                sqlrank.evaluate("AUC", predictions="p", connection=connection).to_pylist()
                == expected
            )
        except ExecutionError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(16) as pool:
        messages = list(pool.map(call, range(64)))
    assert "" in messages
    assert {message.partition(",")[0] for message in messages if message} == {
        "connection: another call is using this DuckDB connection"
    }
    assert sqlrank.evaluate("AUC", predictions="p", connection=connection).to_pylist() == expected


def test_a_connection_serves_one_call_at_a_time():
    connection = duckdb.connect()
    with (
        duckdb_session(connection, ResourceLimits()),
        pytest.raises(
            ExecutionError,
            match=r"Give each thread a connection of its own, connection=con\.cursor\(\)",
        ),
    ):
        sqlrank.evaluate("AUC", predictions=PREDICTIONS, connection=connection)
    assert sqlrank.evaluate("AUC", predictions=PREDICTIONS, connection=connection).num_rows == 1


def test_the_first_statement_on_a_connection_raises_our_error(monkeypatch):
    def fail(*_):
        raise duckdb.InvalidInputException(
            "Resource In Use Error: connection is busy with another call"
        )

    monkeypatch.setattr("sqlrank.engines.duckdb_session.fetch_tuples", fail)
    with pytest.raises(
        ExecutionError,
        match=r"^the statement failed in DuckDB: Resource In Use Error: connection is busy",
    ):
        sqlrank.evaluate("AUC", predictions=PREDICTIONS, connection=duckdb.connect())


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        lambda rollup, **options: sqlrank.evaluate(
            ["AUC", "LogLoss"], rollup=rollup, confidence=0.9, **options
        ),
        lambda rollup, **options: sqlrank.compare(
            ["AUC", "LogLoss"], rollups={"a": rollup, "b": rollup}, by=[[], ["day"]], **options
        ),
        lambda rollup, **options: sqlrank.drift(
            ["AUC", "LogLoss"], rollup=rollup, reference="day = 1", confidence=0.9, **options
        ),
    ],
)
def test_calls_on_rollups_open_one_session(call, monkeypatch):
    """Under a limit, each session is a database of its own; a user's connection has one beside it
    for intermediate tables.
    """
    days = {
        "day": [1, 2] * 8,
        "user": [1, 2, 3, 4] * 4,
        "label": [0, 1, 1, 0, 1, 0, 0, 1] * 2,
        "score": [i / 16 for i in range(16)],
    }
    rollup = sqlrank.rollup(
        ["AUC", "LogLoss"], predictions=pa.table(days), by="day", unit="user", n_buckets=4
    )
    opened = []
    connect = duckdb.connect
    monkeypatch.setattr(
        duckdb,
        "connect",
        lambda *arguments, **options: opened.append(1) or connect(*arguments, **options),
    )
    expected = [pytest.approx(row, abs=1e-12) for row in call(rollup).to_pylist()]
    opened.clear()
    assert call(rollup, memory_limit="1GB").to_pylist() == expected
    assert len(opened) == 1
    connection = connect()
    connection.register("sums", rollup)
    connection.execute("CREATE TABLE bins AS SELECT 1 AS mine")
    opened.clear()
    assert call("sums", connection=connection, memory_limit="1GB").to_pylist() == expected
    assert len(opened) == 1
    assert connection.execute("SELECT * FROM bins").fetchall() == [(1,)]
