"""The time zone of the machine decides no number: sessions opened here are in UTC, and a definition
holds any other zone.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import sqlrank
from tests.interface.command_line import invoke_command

ROWS = """
    SELECT * FROM (VALUES (1, 0.9, TIMESTAMPTZ '2026-01-04 23:30:00+00'), (0, 0.2, TIMESTAMPTZ '2026-01-05 05:30:00+00'),
    (1, 0.4, TIMESTAMPTZ '2026-01-05 23:30:00+00')) AS clicks (label, score, seen)
"""
PROGRAM = """
import json, sys, sqlrank
clicks = sys.argv[1]
week = "week=CAST(DATE_TRUNC('week', seen) AS DATE)"
results = [
    sqlrank.evaluate("Positives", predictions=clicks, by=week),
    sqlrank.evaluate("Positives", predictions=clicks, where="seen >= '2026-01-05'"),
    sqlrank.evaluate("Positives", predictions=clicks, where="CAST('2026-01-05 00:00' AS TIMESTAMPTZ) <= seen", memory_limit="1GB"),
    sqlrank.rollup("LogLoss", predictions=clicks, by="day=CAST(seen AS DATE)"),
    sqlrank.split(clicks, time="seen", time_bounds=["2026-01-05"]).select(["label", "split"]),
]
print(json.dumps([result.to_pylist() for result in results], default=str))
"""


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zones") / "clicks.parquet"
    duckdb.execute(f"COPY ({ROWS}) TO '{path}'")
    return path


@pytest.mark.slow
def test_times_of_any_precision_compare_and_depend_on_the_zone(clicks):
    """Frames of pandas have times in nanoseconds, and files in microseconds."""
    exact = parquet.read_table(clicks)
    frame = exact.set_column(2, "seen", exact["seen"].cast(pa.timestamp("ns", "UTC")))
    run, qrels = (
        table.rename_columns(["relevance", "score", "query_id"]).append_column(
            "doc_id", pa.array(["a", "b", "c"])
        )
        for table in (exact, frame)
    )
    for one, other in ((run, qrels), (qrels, run)):
        assert sqlrank.evaluate("num_rel_ret", run=one, qrels=other).to_pylist() == [
            {"num_rel_ret": 2.0}
        ]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        hashes = {
            sqlrank.rollup("LogLoss", predictions=seen, by="h=HOUR(seen)", connection=connection)[
                "definition_hash"
            ][0].as_py()
            for seen in (exact, frame)
        }
    assert len(hashes) == 1


@pytest.mark.slow
def test_every_time_zone_gives_the_same(clicks):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(clicks)],
            env=os.environ | {"TZ": zone},
            stdout=subprocess.PIPE,
            text=True,
        )
        for zone in ("UTC", "Europe/Berlin", "America/Los_Angeles")
    ]
    first, *others = (json.loads(process.communicate()[0]) for process in processes)
    assert others == [first, first]
    weeks, *counts, days, parts = first
    assert [(row["week"], row["Positives"]) for row in weeks] == [
        ("2025-12-29", 1.0),
        ("2026-01-05", 1.0),
    ]
    assert counts == [[{"Positives": 1.0}]] * 2
    assert [(row["day"], row["num_rows"]) for row in days] == [
        ("2026-01-04", 1.0),
        ("2026-01-05", 2.0),
    ]
    assert sorted((row["label"], row["split"]) for row in parts) == [
        (0, "test"),
        (1, "test"),
        (1, "train"),
    ]


def test_a_connection_keeps_its_zone_which_header_and_definition_hold(clicks):
    """Rows of another zone are of another definition only if they depend on it."""
    by_zone = {}
    for zone in ("UTC", "Europe/Berlin"):
        with duckdb.connect() as connection:
            connection.execute(f"SET TimeZone = '{zone}'")
            connection.execute(f"CREATE TABLE clicks AS {ROWS}")
            for by in ("day=CAST(seen AS DATE)", "g=label"):
                rows = sqlrank.rollup("LogLoss", predictions="clicks", by=by, connection=connection)
                by_zone.setdefault(by, []).append(rows["definition_hash"][0].as_py())
            text = sqlrank.sql(
                "Positives",
                predictions="clicks",
                by="day=CAST(seen AS DATE)",
                connection=connection,
            )
            assert f"-- settings: day=CAST(seen AS DATE), TimeZone={zone}\n" in text
            assert connection.execute("SELECT CURRENT_SETTING('TimeZone')").fetchall() == [(zone,)]
    assert len(set(by_zone["day=CAST(seen AS DATE)"])) == 2
    assert len(set(by_zone["g=label"])) == 1
    assert "TimeZone" not in sqlrank.sql("Positives", predictions=str(clicks), by="g=label")


@pytest.mark.slow
def test_the_header_of_every_statement_over_zoned_times_names_the_zone(clicks, tmp_path):
    path = str(tmp_path / "rollup.parquet")
    parquet.write_table(sqlrank.rollup("AUC", predictions=str(clicks), by="seen"), path)
    predictions = ("--predictions", str(clicks))
    for words, sources in {
        ("sql",): (predictions, ("--rollup", path)),
        ("rollup", "--sql"): (predictions,),
    }.items():
        for source in sources:
            for option in (("--where", "seen < '2026-01-05'"), ("--by", "seen")):
                result = invoke_command(*words, "AUC", *source, *option)
                assert "TimeZone=UTC" in result.stdout, (words, source, option)
            assert "TimeZone" not in invoke_command(*words, "AUC", *source).stdout
