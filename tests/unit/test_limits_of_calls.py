"""What a call may ask for, how long it may take, and what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import ExecutionError, MetricError
from sqlrank.engines import spare, spill
from sqlrank.engines.duckdb import Limits, session

if TYPE_CHECKING:
    from collections.abc import Callable

PREDICTIONS = pa.table({"label": [0, 1, 1], "score": [0.1, 0.7, 0.4]})


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ROC(points=1000000000)", "points is 1000000000; it must be an integer from 0 to 10000000"),
        ("Calibration(bins=10000000)", "bins is 10000000; it must be an integer from 1 to 100000"),
        ("ECE(bins=10000000)", "bins is 10000000; it must be an integer from 1 to 100000"),
        (f"11pt(points={[0.5] * 2000})", "points has 2000 numbers; it may have at most 1000"),
        (
            [f"P@{k}" for k in range(1, 10_001)],
            "10000 metrics are asked for; a statement has at most 1000, so ask for them in several calls",
        ),
        (["P@1..600", "R@1..600"], "have 1200 cut-offs; ranges have at most 1000 together"),
        ("P@1..100000", "P@1..100000 and its like have 100000 cut-offs; ranges have at most 1000 together, so ask in parts"),
    ],
)
def test_absurd_requests_are_refused_at_once(metric: Any, message: str) -> None:
    started = time.monotonic()
    with pytest.raises(MetricError) as caught:
        sqlrank.evaluate(metric, predictions=PREDICTIONS)
    assert message in str(caught.value)
    assert time.monotonic() - started < 5


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 0.3, 1])
def test_a_timeout_holds_while_a_statement_is_composed_and_planned(seconds: float, run: pa.Table, qrels: pa.Table) -> None:
    """Within a second on an idle machine; DuckDB parses in one piece that stops all threads, which takes longer beside other work."""
    metrics = [f"nDCG@{k}" for k in range(1, 1001)]
    connection = duckdb.connect()
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=f"^cancelled after {seconds:g} seconds"):
        sqlrank.evaluate(metrics, run=run, qrels=qrels, connection=connection, timeout=seconds)
    assert time.monotonic() - started < seconds + 3


def test_a_timeout_holds_while_a_sweep_is_computed() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r AS SELECT i // 1000 AS query_id, i AS doc_id, i AS score, 1 AS relevance FROM range(400000) AS t(i)")
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"^cancelled after 0\.4 seconds"):
        sqlrank.evaluate("nDCG@1..1000", run="r", qrels="r", connection=connection, check="off", timeout=0.4)
    assert time.monotonic() - started < 1.4


@pytest.mark.slow
def test_work_that_heeds_no_interrupt_is_left_alone(run: pa.Table, qrels: pa.Table) -> None:
    connection = duckdb.connect()
    connection.create_function("slow", lambda value: (time.sleep(0.9), value)[1], ["DOUBLE"], "DOUBLE")
    connection.register("given", run)
    connection.execute("CREATE VIEW r AS SELECT query_id, doc_id, slow(score) AS score FROM given")
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"^cancelled after 0\.3 seconds; give a longer timeout, or fewer rows$"):
        sqlrank.evaluate("RR", run="r", qrels=qrels, connection=connection, timeout=0.3)
    assert time.monotonic() - started < 1.3


def _dead() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("process", "machine", "is_kept"),
    [(_dead, spill.machine, False), (os.getpid, spill.machine, True), (_dead, lambda: 1, True)],
    ids=["dead", "alive", "of another container"],
)
def test_what_a_killed_process_left_is_swept(
    process: Callable[[], int], machine: Callable[[], int], is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f"sqlrank_{process()}_{machine()}_abc"
    others = [tmp_path / "sqlrank_notes", tmp_path / "other_1_1_x"]
    for folder in (left, *others):
        folder.mkdir()
        (folder / "file").write_text("x")
    made = Path(spill.spill_folder())
    assert made.parent == tmp_path
    assert left.exists() == is_kept
    assert all((folder / "file").exists() for folder in others)


def test_a_database_is_kept_for_the_threads_last_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int | None] = []
    monkeypatch.setattr(spare, "_SPARE", spare._Spare())  # noqa: SLF001  none is kept yet
    real = spare._open  # noqa: SLF001  what is counted
    monkeypatch.setattr(spare, "_open", lambda threads: opened.append(threads) or real(threads))
    for threads in (1, None, 1, 2, None, 2, 1):
        with session(None, Limits(threads=threads)) as database:
            told = database.sql("SELECT CURRENT_SETTING('threads')").fetchall()[0][0]
            assert threads in {None, told}
    assert opened == [1, None, 2, 1]


def test_what_is_under_way_outlives_the_database_that_is_let_go() -> None:
    with session(None, Limits(threads=1)) as first:
        first.execute("CREATE TEMP TABLE t AS SELECT 7 AS x")
        with session(None, Limits(threads=2)) as second, pytest.raises(duckdb.CatalogException):
            second.sql("FROM t")
        assert first.sql("FROM t").fetchall() == [(7,)]
