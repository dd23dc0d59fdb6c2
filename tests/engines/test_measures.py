"""Columns that users name have the means, shares and sums of DuckDB on every engine."""

from collections.abc import Iterator

import pytest
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Engine
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.test_engines import measure_deviation
from tests.tables import build_table

METRICS = ["Mean(faithfulness)", "Share(passed)", "Sum(cost)", "Missing(faithfulness)"]
TABLE = build_table(
    query_id="q1 q2 q3 q1 q2 q3",
    system="a a a b b b",
    faithfulness="0.25 NULL 0.7 0.1 0.9 NULL",
    passed="1 0 1 1 1 1",
    cost="3 4 5 6 7 9",
    weight="1.0 2.5 0.0 1.0 3.0 0.5",
)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"evals": TABLE}) as engine:
        yield engine


@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
@pytest.mark.parametrize("role", ["queries", "predictions"])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_numbers_are_those_of_duckdb(engine, role, confidence):
    table = TABLE if role == "queries" else TABLE.drop_columns(["query_id"])
    expected = sqlrank.evaluate(METRICS, **{role: table}, by="system", confidence=confidence)
    names = [name for name in table.column_names if name != "system"]
    for dialect in engine.dialects:
        columns = {name: exp.to_identifier(name, quoted=True).sql("duckdb") for name in names}
        source = exp.to_identifier("evals", quoted=True).sql(DIALECTS[dialect].sqlglot_name)
        text = sqlrank.sql(
            METRICS,
            **{role: source},
            by='"system"',
            columns=columns,
            dialect=dialect,
            confidence=confidence,
        )
        assert measure_deviation(engine, text, expected) <= 1e-9


@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
@pytest.mark.parametrize("role", ["queries", "predictions"])
def test_quantiles_are_exact(engine, role, request):
    if type(engine).__name__ == "Databend":
        why = (
            "Databend, which stands in for Snowflake, does not parse PERCENTILE_CONT(q) WITHIN"
            " GROUP (ORDER BY ...), as Snowflake does"
        )
        request.applymarker(pytest.mark.xfail(strict=True, reason=why))
    table = TABLE if role == "queries" else TABLE.drop_columns(["query_id"])
    metrics = [
        "Quantile(cost, 0.95)", "Quantile(cost, 0)", "Quantile(cost, 1)",
        "Quantile(faithfulness)", "Missing(faithfulness)",
    ]  # fmt: skip
    expected = sqlrank.evaluate(metrics, **{role: table}, by="system")
    for dialect in engine.dialects:
        read = [name for name in ("query_id", "cost", "faithfulness") if name in table.column_names]
        columns = {name: exp.to_identifier(name, quoted=True).sql("duckdb") for name in read}
        options = {"by": '"system"', "columns": columns, "dialect": dialect}
        options[role] = exp.to_identifier("evals", quoted=True).sql(DIALECTS[dialect].sqlglot_name)
        assert measure_deviation(engine, sqlrank.sql(metrics, **options), expected) <= 1e-9
