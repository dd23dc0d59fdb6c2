"""Every version reads the rollups, baselines and results of earlier ones, with the same numbers."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from tests.stored.writing import BASELINE_METRICS, FOLDER, RANKINGS, evaluate_call

VERSIONS = sorted(path for path in FOLDER.iterdir() if (path / "results.json").is_file())
CALLS = [
    (folder, call)
    for folder in VERSIONS
    for call in json.loads((folder / "results.json").read_text("utf-8"))
]
QUICK = {"Bias", "ROC", "ClippedShare"}
"""First metrics of the calls that are not slow."""


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


def open_tables(folder: Path, tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to a copy of the stored tables."""
    return duckdb.connect(shutil.copy(folder / "tables.duckdb", tmp_path))


@pytest.fixture
def tables(folder: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables(folder, tmp_path) as connection:
        yield connection


def assert_same_numbers(table: pa.Table, stored: dict[str, list[Any]]) -> None:
    assert table.column_names == list(stored)
    for name, values in table.to_pydict().items():
        if pa.types.is_floating(table.schema.field(name).type):
            assert values == pytest.approx(stored[name], rel=1e-9, abs=1e-12), name
        else:
            assert values == stored[name], name


@pytest.mark.parametrize(
    ("folder", "call"),
    [
        pytest.param(
            path,
            call,
            marks=() if call["metrics"][0] in QUICK else pytest.mark.slow,
            id=f"{path.name}-{call['metrics'][0]}",
        )
        for path, call in CALLS
    ],
)
def test_numbers_are_those_of_earlier_versions(folder, call, tmp_path):
    """If a number has to change, raise the ``-- Revision:`` of its metric, so that stored baselines
    are rejected, and say so in CHANGELOG.md.
    """
    with open_tables(folder, tmp_path) as connection:
        assert_same_numbers(evaluate_call(call, connection), call["columns"])


def test_every_metric_has_a_stored_number(folder):
    library = load_registry()
    stored = {
        library.file_for(sqlrank.parse(metric))
        for path, call in CALLS
        if path == folder
        for metric in call["metrics"]
    }
    assert len(stored) > 200


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("rollup.parquet", marks=pytest.mark.slow),
        "table stored_rollup",
        "ranking_rollup.parquet",
    ],
)
def test_rollups_are_read(folder, tables, source):
    name = "ranking_rollup" if source.startswith("ranking") else "rollup"
    stored = json.loads((folder / "rollups.json").read_text("utf-8"))[name]
    is_table = source.startswith("table ")
    rollup = source.removeprefix("table ") if is_table else pq.read_table(folder / source)
    options = {"by": "system"} if name == "ranking_rollup" else {"by": "shop"}
    result = sqlrank.evaluate(
        stored["metrics"],
        rollup=rollup,
        confidence=0.9,
        **options,
        **({"connection": tables} if is_table else {}),
    )
    assert_same_numbers(result, stored["columns"])


@pytest.mark.slow
def test_rollups_take_more_days(folder, tables):
    stored = json.loads((folder / "rollups.json").read_text("utf-8"))["rollup"]
    later = "SELECT * REPLACE (day + 10 AS day) FROM days"
    options = {
        "by": ["day", "shop"],
        "unit": "query_id",
        "n_buckets": 8,
        "n_bins": 32,
        "columns": {"weight": "weight"},
    }
    sqlrank.rollup(
        stored["metrics"], predictions=later, connection=tables, insert="stored_rollup", **options
    )
    twice = sqlrank.evaluate(
        stored["metrics"], rollup="stored_rollup", connection=tables, by="shop"
    )
    assert twice["num_days"].to_pylist() == [2 * days for days in stored["columns"]["num_days"]]
    assert twice["AUC"].to_pylist() == pytest.approx(stored["columns"]["AUC"])


def test_baselines_gate(folder, tables):
    result = sqlrank.gate(
        BASELINE_METRICS,
        connection=tables,
        baseline=folder / "baseline.parquet",
        min_units=2,
        **RANKINGS,
    )
    assert result["verdict"].to_pylist() == ["pass"] * len(BASELINE_METRICS)
    assert result["difference"].to_pylist() == [0.0] * len(BASELINE_METRICS)


@pytest.mark.slow
def test_comparisons_are_drawn(folder):
    pytest.importorskip("altair", reason="draws charts")
    assert "AUC" in json.dumps(
        sqlrank.chart(pq.read_table(folder / "comparison.parquet")).to_dict()
    )


def test_definitions_of_users_are_their_sql(tmp_path):
    metric = tmp_path / "metrics" / "share.sql"
    metric.parent.mkdir()
    text = (
        "-- FirstRank: rank of a document.\n{comment}-- Direction: lower\n-- Undefined: a query"
        " without relevant documents.\n-- Source: here.\nSELECT\n  list_id,\n  {value} AS"
        " first_rank\nFROM relevant_documents\nGROUP BY list_id\n"
    )
    run = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    call = {"run": run, "qrels": {query: {"b": 1} for query in run}, "sql_dir": tmp_path}
    metric.write_text(text.format(value="MIN(rank)", comment=""))
    baseline = sqlrank.evaluate("FirstRank", per_query=True, **call)
    metric.write_text(text.format(value="MIN( rank)", comment="-- A comment.\n"))
    assert sqlrank.gate("FirstRank", baseline=baseline, **call)["verdict"].to_pylist() == ["pass"]
    metric.write_text(text.format(value="MAX(rank)", comment=""))
    with pytest.raises(
        InputError,
        match=r"^FirstRank: the definition of the baseline, by sqlrank .*, is not that of sqlrank",
    ):
        sqlrank.gate("FirstRank", baseline=baseline, **call)


def test_definitions_name_what_callers_choose():
    """A formula that moves to a file of its own changes no number, and no baseline."""
    rows = {"label": [0, 1], "score": [0.1, 0.2], "query_id": [1, 1]}
    found = sqlrank.evaluate("AUC", predictions=rows, level="query", per_query=True)
    (definition,) = json.loads(found.schema.metadata[b"sqlrank.metrics"]).values()
    assert "tie_credit" in definition["policies"]
    assert not load_registry().formulas & definition["policies"].keys()
