"""Functions of a database that are installed with weights: their numbers are those of
``evaluate``.
"""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.examples.test_functions import TABLES, assert_equal


@pytest.mark.slow
def test_functions_read_weights_of_rows_and_queries():
    predictions = TABLES["predictions"].append_column("weight", pa.array(np.arange(400) % 5 + 0.5))
    queries = pa.table({"query_id": np.arange(12), "weight": np.arange(12) + 0.25})
    script = sqlrank.functions(["nDCG", "AUC", "LogLoss"], weighted=True)
    assert (
        script.functions[0].signature
        == "sqlrank.ndcg(run, qrels, queries, k := 2147483647, by := NULL, checks := TRUE)"
    )
    assert "queries: query_id, weight." in script.functions[0].facts.comment
    assert script.sql.splitlines()[1] == "-- settings: weighted"
    rankings = {"run": TABLES["run"], "qrels": TABLES["qrels"], "inputs": {"queries": queries}}
    with duckdb.connect() as connection:
        connection.execute(script.sql)
        for name, table in {**TABLES, "predictions": predictions, "queries": queries}.items():
            connection.register(name, table)
        for call, expected in (
            (
                "ndcg(run, qrels, queries, by := system)",
                sqlrank.evaluate("nDCG", **rankings, by="system"),
            ),
            (
                "auc(predictions, by := campaign)",
                sqlrank.evaluate("AUC", predictions=predictions, by="campaign"),
            ),
            (
                "log_loss(predictions, by := campaign)",
                sqlrank.evaluate("LogLoss", predictions=predictions, by="campaign"),
            ),
        ):
            found = connection.execute(f"FROM sqlrank.{call}").fetchall()
            assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])
