"""The example of a rollup: its output and charts, and a dbt model with the same sums."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest
import yaml

import sqlrank
from tests.environments import make_environment
from tests.interface.command_line import invoke_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "rollup"
METRICS = ["AUC", "LogLoss", "CalibrationRatio"]
ARGUMENTS = [
    "rollup",
    *METRICS,
    "--predictions",
    "ads.impressions",
    "--column",
    "label=click",
    "--by",
    "day",
    "--by",
    "campaign",
]


def store_impressions(path: Path) -> None:
    """Store the impressions in a DuckDB file."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(
            f"CREATE TABLE impressions AS {(EXAMPLE / 'impressions.sql').read_text('utf-8')}"
        )


@pytest.mark.slow
def test_it_watches_four_weeks(tmp_path, monkeypatch, capsys):
    """The values of the last seven days are those of the impressions, with the bounds around them,
    and campaign b raises the alarm.
    """
    monkeypatch.setattr("sys.argv", ["watch.py", "--chart", str(tmp_path / "auc.svg")])
    runpy.run_path(str(EXAMPLE / "watch.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert (tmp_path / "auc.svg").read_text("utf-8").startswith("<!-- sqlrank")
    assert [line.split("  ")[-1] for line in lines if "of 7 days" in line] == [
        *["7 of 7 days"] * 2,
        *["6 of 7 days"] * 2,
        *["7 of 7 days"] * 5,
    ]
    store_impressions(tmp_path / "ads.duckdb")
    where = "day BETWEEN DATE '2026-03-08' AND DATE '2026-03-14'"
    table = sqlrank.evaluate(
        "AUC",
        predictions="impressions",
        columns={"label": "click"},
        where=where,
        connection=str(tmp_path / "ads.duckdb"),
    )
    (last,) = (line for line in lines[10:] if line.startswith("2026-03-14"))
    least, greatest = (float(word.strip("()")) for word in last.split()[3:6:2])
    assert least <= table["AUC"][0].as_py() <= greatest
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    assert "".join(f"    {line}\n" for line in lines[-5:]) in readme


def test_the_model_is_what_the_command_writes(tmp_path):
    result = invoke_command(
        *ARGUMENTS, "--begin", "2026-03-01", "--dbt", tmp_path / "daily_rollup.sql"
    )
    assert (result.exit_code, result.stdout) == (0, "")
    for name in ("daily_rollup.sql", "daily_rollup.yml"):
        assert (tmp_path / name).read_text("utf-8") == (
            EXAMPLE / "dbt" / "models" / name
        ).read_text("utf-8")


@pytest.mark.slow
def test_dbt_builds_days_and_makes_them_anew(tmp_path, pytestconfig):
    """The tenth has half of its clicks at first and the twelfth is not there; their batches are run
    again when both have come right.
    """
    programs = make_environment(
        pytestconfig, "dbt", ["dbt-core>=1.10,<1.12", "dbt-duckdb>=1.10,<1.12"]
    )
    project = tmp_path / "dbt"
    shutil.copytree(EXAMPLE / "dbt", project)
    path = project / "ads.duckdb"
    store_impressions(path)

    def build(command, first, end):
        asked = [
            command, "--event-time-start", first, "--event-time-end", end, "--no-use-colors",
        ]  # fmt: skip
        done = subprocess.run(
            [str(programs / "dbt"), *asked, "--profiles-dir", "."],
            check=False,
            capture_output=True,
            text=True,
            cwd=project,
        )
        assert done.returncode == 0, done.stdout
        assert "deprecat" not in done.stdout.lower()
        return done.stdout

    with duckdb.connect(str(path)) as duck:
        duck.execute(
            "CREATE TABLE later AS FROM impressions WHERE day IN (DATE '2026-03-10', DATE"
            " '2026-03-12')"
        )
        duck.execute("DELETE FROM impressions WHERE day = DATE '2026-03-12'")
        duck.execute("UPDATE impressions SET click = late_click WHERE day = DATE '2026-03-10'")
    build("build", "2026-03-09", "2026-03-15")
    (before,) = sqlrank.evaluate(METRICS, rollup="daily_rollup", connection=str(path)).to_pylist()
    assert (before["num_days"], before["num_rows"]) == (5, 5 * 1200)
    with duckdb.connect(str(path)) as duck:
        duck.execute("DELETE FROM impressions WHERE day = DATE '2026-03-10'")
        duck.execute("INSERT INTO impressions FROM later")
    build("build", "2026-03-10", "2026-03-13")
    (after,) = sqlrank.evaluate(METRICS, rollup="daily_rollup", connection=str(path)).to_pylist()
    where = "day BETWEEN DATE '2026-03-09' AND DATE '2026-03-14'"
    given = {
        "predictions": "impressions",
        "columns": {"label": "click"},
        "where": where,
        "connection": str(path),
    }
    (direct,) = sqlrank.evaluate(METRICS, **given).to_pylist()
    assert (after["num_days"], after["num_rows"]) == (6, 6 * 1200)
    assert [after[name] for name in METRICS[1:]] == pytest.approx(
        [direct[name] for name in METRICS[1:]], abs=1e-12
    )
    assert after["AUC.bound_low"] <= direct["AUC"] <= after["AUC.bound_high"]
    with duckdb.connect(str(path), read_only=True) as duck:
        kept = duck.execute("SELECT COUNT(*) FROM daily_rollup").fetchone()
    made = sqlrank.rollup(METRICS, by=["day", "campaign"], **given)
    assert kept == (made.num_rows,)


# The model


@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        ("bigquery", "partition_by={'field': 'day', 'data_type': 'date', 'granularity': 'day'}"),
        ("snowflake", "event_time='DAY'"),
        ("databricks", "partition_by=['day']"),
    ],
)
def test_settings_of_adapters(dialect, told):
    given = {
        "predictions": "clicks",
        "by": ["day", "campaign"],
        "begin": "2026-01-01",
        "lookback": 7,
    }
    model = sqlrank.rollup_model("AUC", "ads", dialect=dialect, **given)
    first = model.sql.splitlines()[0]
    assert first.startswith(
        "{{ config(materialized='incremental', incremental_strategy='microbatch', event_time="
    )
    assert f"{told}" in first
    assert "lookback=7" in first
    assert "FROM {{ ref('clicks') }}" in model.sql
    keys = [
        column["name"]
        for column in model.schema["models"][0]["columns"]
        if column.get("data_tests")
    ]
    assert [key.lower() for key in keys] == ["day", "campaign", "bin"]


def test_the_schema_is_yaml():
    (model,) = yaml.safe_load((EXAMPLE / "dbt" / "models" / "daily_rollup.yml").read_text("utf-8"))[
        "models"
    ]
    assert model["data_tests"] == [
        {
            "unique": {
                "column_name": (
                    "REPLACE(CAST(\"day\" AS TEXT), '|', '|0') || '|1' ||"
                    " REPLACE(CAST(\"campaign\" AS TEXT), '|', '|0') || '|1' ||"
                    " REPLACE(CAST(bin AS TEXT), '|', '|0')"
                )
            }
        }
    ]


def test_options_of_the_command_go_together(tmp_path):
    model = ["--dbt", tmp_path / "daily_rollup.sql"]
    assert (
        invoke_command(*ARGUMENTS, *model).stderr
        == "sqlrank: --dbt needs --begin, the first day, such as --begin 2026-01-01\n"
    )
    assert (
        invoke_command(*ARGUMENTS, "--begin", "2026-01-01").stderr
        == "sqlrank: --begin is for --dbt\n"
    )
    found = invoke_command(*ARGUMENTS, *model, "--begin", "2026-01-01", "--insert", "t").stderr
    assert (
        found
        == "sqlrank: --insert is not for --dbt, which writes a model over models and sources\n"
    )
    assert not list(tmp_path.iterdir())
