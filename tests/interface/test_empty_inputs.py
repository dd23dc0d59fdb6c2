"""Evaluations without rows raise an error, for predictions and rankings, with empty tables and with
``where``.
"""

import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

DATA = build_table(query_id="1 1", doc_id="1 2", label="1 0", score="0.9 0.2", day="1 1")
CALLS = [
    {},
    {"by": "day"},
    {"by": [["day"], []]},
    {"per_query": True},
    {"level": "query"},
    {"plan": {"score_order": "buckets"}},
    {"columns": {"score": ["score", "day"]}},
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("options", CALLS, ids=str)
def test_predictions_without_rows(options):
    assert sqlrank.evaluate("AUC", predictions=DATA, **options).num_rows > 0
    with pytest.raises(sqlrank.InputError, match=r"^predictions \(Table\) has no rows$"):
        sqlrank.evaluate("AUC", predictions=DATA.slice(0, 0), **options)
    with pytest.raises(
        sqlrank.InputError,
        match=r"^predictions \(Table\) has no rows where \"day\" = 2\. Values of day are 1$",
    ):
        sqlrank.evaluate("AUC", predictions=DATA, where="day = 2", **options)


@pytest.mark.parametrize(
    "metric",
    ["LogLoss", "RMSE", "KendallTau", "num_predictions", "ROC", "Calibration", "pApGradient(k=1)"],
)
def test_every_metric_with_and_without_rows(metric):
    assert sqlrank.evaluate(metric, predictions=DATA, columns={"score": "score"}).num_rows > 0
    with pytest.raises(sqlrank.InputError, match="has no rows"):
        sqlrank.evaluate(metric, predictions=DATA.slice(0, 0))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("metric", ["AUC", "LogLoss", "pAp@3"])
@pytest.mark.parametrize("by", [(), "day"])
def test_rollups_without_rows(metric, by):
    with pytest.raises(sqlrank.InputError, match=r"has no rows where \"score\" > 3"):
        sqlrank.rollup(metric, predictions=DATA, by=by, where="score > 3")
    with pytest.raises(sqlrank.InputError, match=r"^predictions \(Table\) has no rows$"):
        sqlrank.rollup(metric, predictions=DATA.slice(0, 0), by=by)


@pytest.mark.parametrize("arrow_type", [pa.null(), pa.float64(), pa.string(), pa.bool_()], ids=str)
@pytest.mark.parametrize("role", ["run", "qrels"])
def test_columns_without_values_are_of_no_type(role, arrow_type):
    """A frame of empty lists has types that say nothing."""
    tables = {
        "run": build_table(query_id="q", doc_id="a", score="1.0"),
        "qrels": build_table(query_id="q", doc_id="a", relevance="1"),
    }
    empty = {name: pa.array([], arrow_type) for name in tables[role].column_names}
    with pytest.raises(sqlrank.InputError, match=rf"^{role} \(Table\) has no rows$"):
        sqlrank.evaluate("AP", **{**tables, role: pa.table(empty)})


def test_in_another_database():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE clicks (label INTEGER, score REAL)")
        with pytest.raises(sqlrank.InputError, match=r"^predictions \(clicks\) has no rows$"):
            sqlrank.evaluate("AUC", predictions="clicks", connection=connection)


def test_nothing_is_looked_for_without_checks():
    assert sqlrank.evaluate("AUC", predictions=DATA.slice(0, 0), check="off").to_pylist() == [
        {"AUC": None}
    ]
