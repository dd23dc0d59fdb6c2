"""Evaluations without rows raise an error, for predictions and rankings, with empty tables and with
``where``.
"""

import sqlite3
from contextlib import closing

import pandas as pd
import polars as pl
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


def test_in_another_database():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE clicks (label INTEGER, score REAL)")
        with pytest.raises(sqlrank.InputError, match=r"^predictions \(clicks\) has no rows$"):
            sqlrank.evaluate("AUC", predictions="clicks", connection=connection)


def test_nothing_is_looked_for_without_checks():
    assert sqlrank.evaluate("AUC", predictions=DATA.slice(0, 0), check="off").to_pylist() == [
        {"AUC": None}
    ]


@pytest.mark.parametrize(
    "empty",
    [pd.DataFrame(), pd.DataFrame(index=[1, 2]), pa.table({}), pl.DataFrame(), [{}]],
    ids=str,
)
def test_tables_without_columns(empty):
    for source in (empty, [DATA, empty]):
        with pytest.raises(sqlrank.InputError, match=r"^predictions \(\w+\) has no rows$"):
            sqlrank.evaluate("AUC", predictions=source)
