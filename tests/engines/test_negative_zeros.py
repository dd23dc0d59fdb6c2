"""Scores, grades, labels and weights of -0.0 count as 0.0, on every engine and in every plan."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, ClickHouse, DataFusion, SQLite
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import Scenario, _is_planned, _list_metrics, _list_section
from tests.engines.test_engines import compare_rows
from tests.tables import build_table

RUN = build_table(query_id="q q q q", doc_id="a b c d", score="0.0 -0.0 0.0 -0.0")
"""Four tied documents, of which the last id is first; were -0.0 less, it would be third."""

QRELS = build_table(query_id="q q q q", doc_id="a b c d", relevance="-0.0 0.0 -0.0 1.0")
PREDICTIONS = build_table(
    query_id=["u"] * 6,
    doc_id="a b c d e f",
    rank="1 2 3 4 5 6",
    label="1.0 1.0 1.0 0.0 -0.0 0.0",
    score="1.0 -0.0 -0.0 0.0 0.0 -1.0",
    weight=[1.0] * 6,
    probability="1.0 -0.0 -0.0 0.0 0.0 0.0",
    light="1.0 -0.0 1.0 0.0 1.0 1.0",
)
"""Of nine pairs four are in order and six tied, of the latter two by -0.0 and 0.0 alone."""

TABLES = {"run": RUN, "qrels": QRELS, "predictions": PREDICTIONS}
BY_HAND = {"AUC": 7 / 9, "APS": 1 / 3 + 2 / 3 * 3 / 5, "LiftQuality": 5 / 9, "Gain@0.5": 2 / 3}


def drop_zero_signs(table: pa.Table) -> pa.Table:
    """Return a table with 0.0 for -0.0."""
    return pa.table(
        {
            name: [x + 0 if isinstance(x, float) else x for x in table[name].to_pylist()]
            for name in table.column_names
        }
    )


def choose_scenarios(step: int) -> list[Scenario]:
    """Return one in so many metrics of rankings, predictions and pairs, under all plans, and the
    curves of predictions.
    """
    rankings, predictions = {"run": "run", "qrels": "qrels"}, {"predictions": "predictions"}
    probabilities = {**predictions, "columns": {"score": "probability", "weight": "light"}}
    of_rankings, of_predictions = (
        _list_metrics(_list_section("ranking"))[::step],
        _list_metrics(_list_section("classification"))[::step],
    )
    return [
        *(
            Scenario(plan, of_rankings, {**rankings, "plan": {"rank_method": plan}})
            for plan in ("sort", "count", "array")
        ),
        *(
            Scenario(kind, of_rankings[:12], {**rankings, "score_type": kind})
            for kind in ("float32", "float64")
        ),
        *(
            Scenario(plan, of_predictions, {**probabilities, "plan": {"score_order": plan}})
            for plan in ("window", "distinct", "buckets")
        ),
        Scenario("labels", ["AUC", "RR", "nDCG"], predictions),
        Scenario("pairs", _list_metrics(_list_section("pairs"))[::step], predictions),
        *(Scenario(curve, [curve], predictions) for curve in ("ROC", "PR", "Threshold", "Gain")),
    ]


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    with run_engine(request.param, TABLES) as engine:
        yield engine


@pytest.mark.slow
@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
def test_metrics_take_them_for_one(engine):
    """All metrics where scores are normalized; one in eight on engines that do not distinguish
    zeros, of which some take a second a metric.
    """
    with duckdb.connect() as duck:
        for name, table in TABLES.items():
            duck.from_arrow(drop_zero_signs(table)).create(name)
        for dialect in engine.dialects:
            for call in choose_scenarios(1 if DIALECTS[dialect].distinguishes_zeros else 8):
                if _is_planned(call, dialect) and (
                    call.name != "float32" or DIALECTS[dialect].supports_float32
                ):
                    compare_rows(engine.rows(call.text(dialect)), call.expected(duck))


@pytest.mark.parametrize(
    "engine", parametrize_engines([SQLite, ClickHouse, DataFusion]), indirect=True
)
def test_numbers_by_hand_over_a_connection(engine):
    names, values = zip(*BY_HAND.items(), strict=True)
    result = sqlrank.evaluate(names, predictions="predictions", connection=engine.connection)
    assert list(result.to_pylist()[0].values()) == pytest.approx(values, abs=1e-12)
    both = sqlrank.evaluate(
        ["AUC", "APS"],
        predictions="predictions",
        columns={"score": ["score", "probability"]},
        connection=engine.connection,
    )
    assert both.to_pylist()[1] == pytest.approx(
        {"score": "score", "AUC": BY_HAND["AUC"], "APS": BY_HAND["APS"]}, abs=1e-12
    )
    assert sqlrank.evaluate(
        "RR", run="run", qrels="qrels", connection=engine.connection
    ).to_pylist() == [{"RR": 1.0}]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("order", load_registry().plans["score_order"]["values"])
def test_plans_of_duckdb_take_them_for_one(order):
    metrics = _list_metrics(_list_section("classification"))
    table = PREDICTIONS.drop_columns(["light", "weight", "score"]).rename_columns(
        {"probability": "score"}
    )
    signed, plain = (
        sqlrank.evaluate(
            metrics, predictions=rows, plan={"score_order": order}, threads=1
        ).to_pylist()
        for rows in (table, drop_zero_signs(table))
    )
    assert signed == plain


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_negative_zeros_are_handled_only_on_engines_that_distinguish_them(dialect):
    text = sqlrank.sql("AUC", predictions="predictions", dialect=dialect)
    assert (" + 0 AS score" in text) == (dialect in {"clickhouse", "datafusion", "snowflake"})
