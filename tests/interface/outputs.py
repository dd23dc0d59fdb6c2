"""Every command and option that writes a file, called on small data."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sqlrank.output.output_file import FileKind

PREDICTIONS = ("--predictions", "{source}")
TWO_SCORES = ("--column", "score=score", "--column", "score=other", "--policy", "level=query")
FEATURES = ("--column", "features=score", "--column", "features=other")
DRIFT = (
    "drift", "LogLoss", "--rollup", "{source}", "--reference", "day < DATE '2026-03-03'",
    "--tolerance", "9",
)  # fmt: skip


@dataclass(frozen=True)
class Output:
    """An option that names a file: the call without it, the suffix, and the kind of content.

    ``reads`` is the name of the file of ``data`` that stands for ``{source}``, empty for calls that
    read none.
    """

    call: tuple[str, ...]
    option: str
    ending: str
    kind: FileKind
    reads: str = "predictions"

    def arguments(self, source: object, target: object) -> list[str]:
        return [word.replace("{source}", str(source)) for word in self.call] + [
            self.option,
            str(target),
        ]


OUTPUTS = {
    "evaluate": Output(("evaluate", "AUC", *PREDICTIONS), "-o", ".parquet", FileKind.METRICS),
    "evaluate a sheet": Output(("evaluate", "AUC", *PREDICTIONS), "-o", ".xlsx", FileKind.METRICS),
    "compare": Output(
        ("compare", "Brier", *PREDICTIONS, *TWO_SCORES), "-o", ".parquet", FileKind.COMPARISON
    ),
    "gate": Output(
        ("gate", "Brier", *PREDICTIONS, *TWO_SCORES), "-o", ".parquet", FileKind.VERDICTS
    ),
    "gate --junit": Output(
        ("gate", "Brier", *PREDICTIONS, *TWO_SCORES), "--junit", ".xml", FileKind.JUNIT
    ),
    "gate --summary": Output(
        ("gate", "Brier", *PREDICTIONS, *TWO_SCORES), "--summary", ".md", FileKind.SUMMARY
    ),
    "drift": Output(DRIFT, "-o", ".parquet", FileKind.DRIFT, "rollup"),
    "drift --junit": Output(DRIFT, "--junit", ".xml", FileKind.JUNIT, "rollup"),
    "drift --summary": Output(DRIFT, "--summary", ".md", FileKind.SUMMARY, "rollup"),
    "experiment": Output(
        ("experiment", "Mean(score)", "--data", "{source}", "--unit", "row", "--control", "a"),
        "-o",
        ".parquet",
        FileKind.EXPERIMENT,
    ),
    "split": Output(
        ("split", "{source}", "--key", "query_id", "--salt", "s", "--folds", "2"),
        "-o",
        ".parquet",
        FileKind.SPLIT,
    ),
    "rollup": Output(
        ("rollup", "LogLoss", *PREDICTIONS, "--by", "day"), "-o", ".parquet", FileKind.ROLLUP
    ),
    "learn": Output(
        ("learn", "{source}", "-k", "2", "--max-iter", "1", *FEATURES),
        "-o",
        ".parquet",
        FileKind.WEIGHTS,
    ),
    "learn --score-table": Output(
        ("learn", "{source}", "-k", "2", "--max-iter", "1", *FEATURES, "--score-table", "clicks"),
        "-o",
        ".sql",
        FileKind.STATEMENT,
    ),
    "functions": Output(("functions", "RR"), "-o", ".sql", FileKind.FUNCTIONS, ""),
    "chart": Output(("chart", "ROC", *PREDICTIONS), "-o", ".json", FileKind.CHART),
    "report": Output(("report", "Brier", *PREDICTIONS), "-o", ".html", FileKind.REPORT),
    "sql --dbt": Output(
        ("sql", "AUC", "--predictions", "clicks"), "--dbt", ".sql", FileKind.DBT_METRICS, ""
    ),
    "rollup --dbt": Output(
        ("rollup", "AUC", "--predictions", "clicks", "--by", "day", "--begin", "2026-01-01"),
        "--dbt",
        ".sql",
        FileKind.DBT_ROLLUP,
        "",
    ),
}

HEAVY = {"report", "experiment", "learn", "compare"}
"""Those that take the longest."""

READING = {name: output for name, output in OUTPUTS.items() if output.reads}

CONTENTS = {
    FileKind.CHART: (
        '{"usermeta": {"sqlrank": 1}}',
        '<!DOCTYPE html>\n<!-- sqlrank 1.0 -->\n<html><div id="chart"></div>',
    ),
    FileKind.REPORT: ("<!DOCTYPE html>\n<!-- sqlrank 1.0 -->\n<html></html>",),
    FileKind.JUNIT: ('<?xml version="1.0"?>\n<testsuite name="sqlrank gate"/>',),
    FileKind.SUMMARY: ("## sqlrank gate: pass\n",),
    FileKind.STATEMENT: ("-- sqlrank 1.0: scores of a linear model\nSELECT 1",),
    FileKind.FUNCTIONS: ("-- sqlrank 1.0: functions for duckdb, in the schema sqlrank\nSELECT 1",),
    FileKind.DBT_METRICS: ("{{ config(materialized='table') }}\n-- sqlrank 1.0: AUC\nSELECT 1",),
    FileKind.DBT_ROLLUP: (
        (
            "{{ config(materialized='incremental') }}\n-- sqlrank 1.0: rollup"
            " 0123456789abcdef\nSELECT 1"
        ),
    ),
    FileKind.DBT_PROPERTIES: ("# sqlrank 1.0: properties of daily.sql\nversion: 2\n",),
}
"""Beginnings of text files, by their kind."""


def make_data(folder: Path) -> Path:
    """Make a folder with predictions of four days, and a rollup of them."""
    rng = np.random.default_rng(1)
    rows = 80
    table = {
        "row": np.arange(rows),
        "query_id": np.arange(rows) // 8,
        "label": np.arange(rows) % 2,
        "score": rng.random(rows),
        "other": rng.random(rows),
        "variant": np.where(np.arange(rows) % 3, "a", "b"),
        "day": np.array(["2026-03-01"], "datetime64[D]") + np.arange(rows) % 4,
    }
    folder.mkdir()
    pq.write_table(pa.table(table), folder / "predictions.parquet")
    import sqlrank

    rollup = sqlrank.rollup("LogLoss", predictions=str(folder / "predictions.parquet"), by="day")
    pq.write_table(rollup, folder / "rollup.parquet")
    return folder
