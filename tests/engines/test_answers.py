"""Answers, one row per query with lists of documents, have the numbers of DuckDB on every engine
with lists.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

import sqlrank
from sqlrank import MetricError
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Databend, Engine, ZetaSQL
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.test_engines import measure_deviation

METRICS = [
    "nDCG@3", "AP", "RR", "R@2", "num_ret", "num_rel", "num_q", "num_no_rel", "num_duplicates",
]  # fmt: skip
SCHEMA = pa.schema(
    {
        "query_id": pa.string(),
        "retrieved": pa.list_(pa.string()),
        "scores": pa.list_(pa.float64()),
        "relevant": pa.list_(pa.string()),
        "grades": pa.list_(pa.int64()),
        "intent": pa.string(),
    }
)
ROWS = [
    ("q1", ["d3", "d1", "d2"], [3.0, 2.0, 1.0], ["d1", "d2"], [2, 1], "how"),
    ("q2", ["d9", "d9", "d8"], [3.0, 5.0, 6.0], ["d8", "d7"], [1, 3], "how"),
    ("q3", ["d5"], [1.0], [], [], "who"),
    ("q4", [], [], ["d4"], [1], "who"),
    ("q5", None, None, None, None, "who"),
    ("q6", ["it's", '"d"', "a,b", "[d]"], [1.0, 1.0, 2.0, 2.0], ['"d"', "a,b"], [0, 3], "Wo"),
]
TABLE = pa.Table.from_pylist(
    [dict(zip(SCHEMA.names, row, strict=True)) for row in ROWS], schema=SCHEMA
)
CALLS = {
    "all": {},
    "by": {"by": "intent"},
    "per query": {"per_query": True},
    "grades and scores": {"ties": "doc_desc", "columns": {"scores": "scores", "grades": "grades"}},
    "judged queries": {"topics": "judged", "columns": {"grades": "grades"}},
}

EXPORTS = {
    "ragas": ("user_input", "retrieved_context_ids", "reference_context_ids"),
    "LlamaIndex": ("query", "retrieved_ids", "expected_ids"),
    "MLflow": ("question", "outputs", "source"),
    "Haystack": ("query_id", "documents", "ground_truth"),
}
"""Columns of the question, the retrieved and the relevant ids in tables of each tool."""


def make_export(tool: str) -> pa.Table:
    return TABLE.select(["query_id", "retrieved", "relevant"]).rename_columns(list(EXPORTS[tool]))


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(
        request.param, {"answers": TABLE, **{tool: make_export(tool) for tool in EXPORTS}}
    ) as engine:
        yield engine


@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
@pytest.mark.parametrize("call", CALLS)
def test_numbers_are_those_of_duckdb(engine, call):
    options = CALLS[call]
    optional = [name for name in ("scores", "grades") if name not in options.get("columns", {})]
    expected = sqlrank.evaluate(
        METRICS, inputs={"answers": TABLE.drop_columns(optional)}, **options
    )
    for dialect in engine.dialects:
        if DIALECTS[dialect].write_list_elements is None:
            with pytest.raises(
                MetricError,
                match=(
                    f"cannot be written for {dialect}, which has no UNNEST of lists with positions"
                ),
            ):
                sqlrank.sql(METRICS, inputs={"answers": "answers"}, dialect=dialect, **options)
            continue
        quoted = {
            name: exp.to_identifier(name, quoted=True).sql("duckdb")
            for name in [*SCHEMA.names]
            if name not in optional
        }
        named = {**options, "columns": quoted} | ({"by": '"intent"'} if "by" in options else {})
        del named["columns"]["intent"]
        table = exp.to_identifier("answers", quoted=True).sql(DIALECTS[dialect].sqlglot_name)
        measure_deviation(
            engine,
            sqlrank.sql(METRICS, inputs={"answers": table}, dialect=dialect, **named),
            expected,
        )


@pytest.mark.slow
@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
def test_exports_of_tools_have_the_numbers_of_rows_unnested_by_hand(engine):
    metrics = ["nDCG@3", "AP", "R@2", "num_q", "num_no_rel"]
    run = {"query_id": [], "doc_id": [], "rank": [], "score": []}
    qrels = {"query_id": [], "doc_id": [], "relevance": []}
    for query, retrieved, _, relevant, *_ in ROWS:
        for rank, doc in enumerate(retrieved or [], 1):
            append_row(run, query, doc, rank, -rank)
        for doc in relevant or []:
            append_row(qrels, query, doc, 1)
    policies = {"ties": "rank", "duplicates": "max", "topics": "given"}
    queries = {"query_id": [row[0] for row in ROWS]}
    expected = sqlrank.evaluate(
        metrics, run=pa.table(run), qrels=pa.table(qrels), queries=pa.table(queries), **policies
    )
    assert expected["R@2"][0].as_py() == pytest.approx((1 / 2 + 1 / 2 + 0 + 0 + 0 + 1 / 2) / 6)
    for tool, names in EXPORTS.items():
        columns = dict(
            zip(("query_id", "retrieved", "relevant"), (f'"{name}"' for name in names), strict=True)
        )
        table = exp.to_identifier(tool, quoted=True).sql(DIALECTS[engine.dialects[0]].sqlglot_name)
        statement = sqlrank.sql(
            metrics, inputs={"answers": table}, dialect=engine.dialects[0], columns=columns
        )
        measure_deviation(engine, statement, expected)


def append_row(columns: dict[str, list[Any]], *values: Any) -> None:
    for column, value in zip(columns.values(), values, strict=True):
        column.append(value)


@pytest.mark.parametrize(
    "engine",
    parametrize_engines(engine for engine in ENGINES if engine not in {Databend, ZetaSQL}),
    indirect=True,
)
def test_connections_are_inspected(engine):
    for options in ({"by": "intent"}, {"ties": "doc_desc", "topics": "retrieved"}):
        expected = sqlrank.evaluate(METRICS, inputs={"answers": TABLE}, **options).to_pylist()
        found = sqlrank.evaluate(
            METRICS, inputs={"answers": "answers"}, connection=engine.connection, **options
        ).to_pylist()
        assert found == [pytest.approx(row) for row in expected]
