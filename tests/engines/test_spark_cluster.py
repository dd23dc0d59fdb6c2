"""Spark as it is used: one master and two workers, each a process, reading Parquet."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("Spark cluster")]  # one cluster answers all

ONE_WORKER = ("No Partition Defined for Window operation", "single partition")
"""Messages that Spark logs when one worker is given all rows."""

PREDICTIONS = """
    SELECT
        i % 3 AS shop, i % 2 AS treatment,
        CAST(hash(i) % 100 < 5 + i % 20 AS BIGINT) AS label,
        CASE WHEN i % 5 < 2 THEN 0.25 ELSE (hash(i, 1) >> 12)::DOUBLE / 4503599627370496 END AS score,
        (1 + hash(i, 2) % 8) / 2.0::DOUBLE AS cost
    FROM range(60000) AS t(i)
"""
RUN = (
    "SELECT 'q' || i // 50 AS query_id, 'd' || i * 7 % 53 AS doc_id, (hash(i) % 20)::DOUBLE AS"
    " score, 's' || i % 2 AS system FROM range(20000) AS t(i)"
)
QRELS = (
    "SELECT 'q' || i // 20 AS query_id, 'd' || i * 3 % 53 AS doc_id, CAST(hash(i, 3) % 4 AS BIGINT)"
    " AS relevance FROM range(9000) AS t(i)"
)
BASELINE = f"SELECT query_id, doc_id, -score AS score FROM ({RUN}) WHERE system = 's0'"
RATINGS = (
    "SELECT 'i' || i // 5 AS item_id, 'j' || i % 5 AS judge_id, 1 + (i // 25 + hash(i) % 2) % 4 AS"
    " rating FROM range(9000) AS t(i)"
)
TABLES = {
    "predictions": PREDICTIONS,
    "run": RUN,
    "qrels": QRELS,
    "baseline": BASELINE,
    "ratings": RATINGS,
}
AT_ONCE = "SELECT score, ROW_NUMBER() OVER (ORDER BY score) AS number FROM predictions"
"""A statement of which Spark has to warn."""

CLASSIFIERS = [
    "AUC",
    "PRAUC",
    "APS",
    "KS",
    "LiftQuality",
    "PnDCG",
    "LogLoss",
    "Brier",
    "FBeta(threshold_from=best)",
    "Gain@0.1",
    "ECE(binning=equal_mass)",
]
WEIGHTED = {"predictions": "predictions", "columns": {"weight": "cost"}}
UPLIFT = {"inputs": {"uplift": "predictions"}, "columns": {"weight": "cost"}}
CLASSES = {"inputs": {"classified": "predictions"}, "columns": {"predicted": "shop"}}
JUDGED = {"inputs": {"ratings": "ratings"}}
RANKINGS = {"run": "run", "qrels": "qrels"}
CALLS = [
    ("predictions", CLASSIFIERS, {"predictions": "predictions"}),
    ("weighted predictions", CLASSIFIERS, WEIGHTED),
    ("predictions by shop", CLASSIFIERS, WEIGHTED | {"by": "shop"}),
    ("pairs", ["KendallTau", "SomersD", "SpearmanRho"], WEIGHTED),
    ("uplift", ["Qini", "AUUC", "Uplift(share=0.3)"], UPLIFT),
    ("surrogate", ["pApSurrogate@50"], {"predictions": "predictions"}),
    ("curve", ["PR"], WEIGHTED),
    ("classes", ["WeightedKappa"], CLASSES),
    ("curve of classes", ["MulticlassReport"], CLASSES),
    ("ratings", ["FleissKappa", "KrippendorffAlpha"], JUDGED),
    ("ordinal ratings", ["KrippendorffAlpha(level_of_measurement=ordinal)"], JUDGED),
    ("overlap", ["RBO", "RBOmin"], RANKINGS | {"inputs": {"baseline": "baseline"}}),
    ("rankings", ["nDCG@10", "AP", "RR", "P@10", "R@100", "bpref"], RANKINGS),
    ("rankings by system", ["nDCG@10", "AP", "ERR@10", "RBP"], RANKINGS | {"by": "system"}),
]
SHARES = {"shares": {"train": 0.8, "test": 0.2}}
BY_TIME = {"time": "item_id", "user": "judge_id", "cold_start": "drop_users"}
SPLITS = [
    ("split by time", "qrels", SHARES | {"time": "relevance"}),
    ("split without cold starts", "ratings", SHARES | BY_TIME),
    (
        "expanding split",
        "qrels",
        {"time": "relevance", "time_bounds": [1, 2], "expanding": True},
    ),
    ("exact split", "ratings", SHARES | {"key": "item_id", "salt": "ab", "exact": True}),
]
COMPARED = [("evaluate", *call) for call in CALLS] + [("split", *call) for call in SPLITS]
RANDOM = ("split", "drawn", SHARES | {"time": "at"})
RANDOM_VIEW = "CREATE TEMPORARY VIEW drawn AS SELECT *, RAND() AS at FROM ratings"


@dataclass(frozen=True)
class Answer:
    """The output of a driver: rows of each call, number of executors, and log."""

    rows: list[list[dict[str, Any]]]
    executors: int
    log: str


def find_spark_home() -> Path:
    return Path(pytest.importorskip("pyspark", reason="needs pyspark").__file__).parent


@contextmanager
def run_process(arguments: list[str], log: Path, environment: dict[str, str]) -> Iterator[None]:
    """Run a process and all that it starts, which end with the block."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            arguments,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        yield
    finally:
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(started.pid, how)
                started.wait(timeout=20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def wait_for(log: Path, text: str, times: int = 1) -> None:
    deadline = time.monotonic() + 120
    while log.read_text("utf-8", errors="replace").count(text) < times:
        if time.monotonic() > deadline:
            pytest.fail(
                f"{text!r} was not logged {times} times within two"
                f" minutes:\n{log.read_text('utf-8', errors='replace')[-2000:]}"
            )
        time.sleep(0.2)


def find_free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextmanager
def start_cluster(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a master and two workers on this machine; yield the address of the master and the
    environment to use.
    """
    home = find_spark_home()
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_LOCAL_DIRS": str(folder / "spill"),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(sqlrank.__file__).parents[1]),
    }
    port = find_free_port()
    daemon = [str(home / "bin" / "spark-class")]
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        log = folder / "master.log"
        arguments = [
            *daemon,
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            "0",
        ]
        running.enter_context(run_process(arguments, log, environment))
        wait_for(log, "New state: ALIVE")
        for number in (1, 2):
            arguments = [
                *daemon,
                "org.apache.spark.deploy.worker.Worker",
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
                "--cores",
                "1",
            ]
            arguments += ["--memory", "768m", "--work-dir", str(folder / f"worker{number}"), master]
            running.enter_context(
                run_process(arguments, folder / f"worker{number}.log", environment)
            )
        wait_for(log, "Registering worker", times=2)
        yield master, environment


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, query in TABLES.items():
            connection.execute(f"CREATE TABLE {name} AS {query}")
        yield connection


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory, duck: duckdb.DuckDBPyConnection
) -> list[Answer]:
    """Make all calls on a cluster that is stopped afterwards, and, in a driver of its own, one
    beside a window over all rows.
    """
    folder = tmp_path_factory.mktemp("spark")
    paths = {name: str(folder / name) for name in TABLES}
    for name, path in paths.items():
        duck.execute(f"COPY {name} TO '{path}' (FORMAT parquet, PER_THREAD_OUTPUT true)")
    calls = [*((function, *call) for function, _, *call in COMPARED), RANDOM]
    with start_cluster(folder) as (master, environment):
        given = {"master": master, "tables": paths}
        compared = {"calls": calls, "statement": RANDOM_VIEW}
        at_once = {"calls": calls[:1], "statement": AT_ONCE}
        return [drive(given | asked, environment) for asked in (compared, at_once)]


def drive(given: dict[str, Any], environment: dict[str, str]) -> Answer:
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("spark_driver.py"))]
    done = subprocess.run(
        command,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return Answer(found["rows"], found["executors"], done.stderr)


def find_single_worker_lines(answer: Answer) -> list[str]:
    return [line for line in answer.log.splitlines() if any(text in line for text in ONE_WORKER)]


def test_both_workers_took_part(answers):
    assert answers[0].executors == 2


@pytest.mark.parametrize("number", range(len(COMPARED)), ids=[call[1] for call in COMPARED])
def test_numbers_are_those_of_duckdb(number, answers, duck):
    function, _, metrics, options = COMPARED[number]
    expected = getattr(sqlrank, function)(metrics, connection=duck, **options)
    got = answers[0].rows[number]
    assert len(got) == expected.num_rows > 0
    for row, other in zip(got, expected.to_pylist(), strict=True):
        assert row == {
            name: pytest.approx(value, rel=1e-9, abs=1e-9) for name, value in other.items()
        }


def test_a_random_source_is_read_once(answers):
    """A second reader would find other times, which no row of the first has."""
    parts = [row["split"] for row in answers[0].rows[-1]]
    assert (len(parts), parts.count("train")) == (9000, 7200)


def test_no_worker_is_given_all_rows(answers):
    """The driver warns of a window without partitions when it plans one."""
    partitioned, at_once = answers
    assert find_single_worker_lines(at_once)
    assert find_single_worker_lines(partitioned) == []
