"""Costly CTEs with several readers are computed once, on engines that would compute them for each
reader.
"""

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.engines import remote_database
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ClickHouse, Spark
from tests.engines.running import parametrize_engines, run_engine

ROWS = range(2000)
RUN = pa.table(
    {
        "query_id": [i // 20 for i in ROWS],
        "doc_id": [i % 20 for i in ROWS],
        "score": [i * 7919 % 101 / 7 for i in ROWS],
    }
)
QRELS = pa.table(
    {
        "query_id": [i // 20 for i in ROWS],
        "doc_id": [i % 20 for i in ROWS],
        "relevance": [i * 31 % 4 for i in ROWS],
    }
)
PREDICTIONS = pa.table(
    {"label": [i * 31 % 2 for i in ROWS], "score": [i * 7919 % 101 / 101 for i in ROWS]}
)
ONE, SEVERAL = ["AP", "P@5"], ["AP", "nDCG@5", "ERR@5", "bpref"]


@pytest.fixture(scope="module", params=parametrize_engines([ClickHouse, Spark]))
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    with run_engine(
        request.param, {"run": RUN, "qrels": QRELS, "predictions": PREDICTIONS}
    ) as engine:
        yield engine


def read_text(result: pa.Table) -> str:
    return result.schema.metadata[b"sqlrank.sql"].decode()


@pytest.mark.one_in(9)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_shared_steps_are_materialized_and_only_where_the_engine_needs_it(dialect):
    for metrics, times in ((ONE, 0), (SEVERAL, 1)):
        text = sqlrank.sql(metrics, dialect=dialect, run="run", qrels="qrels")
        assert text.count("RAND() >= 0") == (times if dialect in {"spark", "databricks"} else 0)
        assert "AS MATERIALIZED" not in text
        if "document_arrays" in text:  # judgments meet lists without a join to their own queries
            assert "JOIN evaluated_queries" not in text


def test_a_step_that_costs_more_to_store_is_computed_by_each_reader():
    statement = sqlrank.sql("AUC", predictions="clicks", plan={"score_order": "integer_sort"})
    assert statement.count("FROM prediction_cells\n") == 2
    assert "), prediction_cells AS NOT MATERIALIZED (\n" in statement


def test_it_is_computed_once(engine):
    """On Spark each file is read once for all metrics; on ClickHouse the step is a table for the
    time of the statement.
    """
    result = sqlrank.evaluate(SEVERAL, run="run", qrels="qrels", connection=engine.connection)
    assert result.to_pylist()[0] == pytest.approx(
        sqlrank.evaluate(SEVERAL, run=RUN, qrels=QRELS).to_pylist()[0], rel=1e-9
    )
    if isinstance(engine, ClickHouse):
        assert read_text(result).count("AS MATERIALIZED (") == 1
        assert read_text(result).endswith("enable_materialized_cte = 1")
        return
    assert len(list_operations("FileScan", "score", engine, result)) == 1
    assert (
        len(list_operations("ObjectHashAggregate", "functions=[collect_list", engine, result)) == 1
    )  # and puts each list in order once
    areas = sqlrank.evaluate(
        ["AUC", "PRAUC"], predictions="predictions", connection=engine.connection, check="off"
    )
    assert areas.to_pylist()[0] == pytest.approx(
        sqlrank.evaluate(["AUC", "PRAUC"], predictions=PREDICTIONS).to_pylist()[0], rel=1e-9
    )
    assert len(list_operations("FileScan", "label", engine, areas)) == 1


@pytest.mark.parametrize("by", [None, "system"])
def test_numbers_of_queries_that_are_judged_and_retrieved(engine, by):
    """Some lists have no judgments and some judgments no list; a system is NULL."""
    call = {
        "run": sqlrank.query(
            "SELECT *, NULLIF(query_id % 3, 0) AS system FROM run WHERE query_id > 4"
        ),
        "qrels": sqlrank.query("SELECT * FROM qrels WHERE query_id < 95"),
        "queries": "judged_and_retrieved",
        "by": by,
        "check": "off",
    }
    with duckdb.connect() as connection:
        for name, table in (("run", RUN), ("qrels", QRELS)):
            connection.from_arrow(table).create(name)
        expected = sqlrank.evaluate([*SEVERAL, "num_q"], **call, connection=connection).to_pylist()
    result = sqlrank.evaluate([*SEVERAL, "num_q"], **call, connection=engine.connection).to_pylist()
    assert sum(row["num_q"] for row in expected) == 90
    assert [list(row.values()) for row in sorted(result, key=repr)] == [
        pytest.approx(list(row.values()), rel=1e-9) for row in sorted(expected, key=repr)
    ]


def test_values_of_queries_are_computed_once_for_their_intervals(engine):
    result = sqlrank.evaluate(
        ONE, run="run", qrels="qrels", connection=engine.connection, confidence=0.95, check="off"
    )
    expected = sqlrank.evaluate(ONE, run=RUN, qrels=QRELS, confidence=0.95)
    assert result.to_pylist()[0] == pytest.approx(expected.to_pylist()[0], rel=1e-9)
    if isinstance(engine, ClickHouse):
        assert read_text(result).count("AS MATERIALIZED (") == 1
        return
    assert len(list_operations("FileScan", "score", engine, result)) == 1


def list_operations(step: str, detail: str, engine: Spark, result: pa.Table) -> list[str]:
    """Return the operations of a kind, such as scans of a column, in Spark's plan of a
    statement.
    """
    frame = engine.connection.sql(read_text(result))
    frame.collect()
    # No other way to the plan
    plan = frame._jdf.queryExecution().executedPlan().toString().partition("Initial Plan")[0]  # noqa: SLF001
    return [line for line in plan.splitlines() if step in line and detail in line]


def test_a_server_without_the_setting_materializes_nothing(engine, monkeypatch):
    monkeypatch.setattr(remote_database.RemoteDatabase, "can_materialize_ctes", False)
    text = read_text(
        sqlrank.evaluate(SEVERAL, run="run", qrels="qrels", connection=engine.connection)
    )
    assert "materialized" not in text.lower()
