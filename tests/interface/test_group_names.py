"""Columns of groups that have the name of another column of the result, in every function with
results by group.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

import sqlrank
from sqlrank.errors import MetricError
from sqlrank.result_columns import COMPARISON_SCHEMA, DRIFT_SCHEMA, GATE_SCHEMA
from tests.lanes import select_few

CURVES = ("ROC", "PR", "Threshold", "Calibration", "Gain", "Lift")


@cache
def draw_predictions(name: str) -> pa.Table:
    generator = np.random.default_rng(0)
    return pa.table({
        "label": [0, 1] * 40,
        "score": generator.random(80),
        "day": [1] * 40 + [2] * 40,
        name: ["u", "v", "v", "u"] * 20,
    })  # fmt: skip


def refuse(call: Callable[..., Any], name: str, *arguments: Any, **options: Any) -> str:
    """Return the message of a call by a column, in quotes and without them."""
    messages = set()
    for by in (name, f'"{name}"'):
        with pytest.raises(MetricError) as refused:
            call(*arguments, by=by, **options)
        messages.add(str(refused.value))
    (message,) = messages
    assert message.startswith(f"by cannot name {name!r}, which is a column of")
    return message


def evaluate_renamed(metric: str, message: str, **options: Any) -> pa.Table:
    """Return the result by the other name that a message suggests."""
    advised = re.findall(r"such as by='(.+)'$", message)[0]
    return sqlrank.evaluate(metric, by=advised, **options)


@pytest.mark.parametrize("curve", select_few(CURVES, ("ROC",)))
def test_columns_of_curves(curve):
    result = sqlrank.evaluate(curve, predictions=draw_predictions("group"))
    names = {*result.column_names} - {"label", "score", "weight"}
    assert names
    for name in sorted(names):
        table = draw_predictions(name)
        message = refuse(sqlrank.evaluate, name, curve, predictions=table)
        result = evaluate_renamed(curve, message, predictions=table)
        assert {*result["own"].to_pylist()} == {"u", "v"}
        assert len({*result.column_names}) == result.num_columns


@pytest.mark.parametrize("name", ["AUC", "AUC.se", "AUC.ci_low"])
def test_columns_of_intervals(name):
    table = draw_predictions(name)
    message = refuse(sqlrank.evaluate, name, "AUC", predictions=table, confidence=0.9)
    result = evaluate_renamed("AUC", message, predictions=table, confidence=0.9)
    assert result["own"].to_pylist() == ["u", "v"]


@pytest.mark.parametrize(
    "name", select_few(sorted({*COMPARISON_SCHEMA} - {"system"}), ("n_units",))
)
def test_columns_of_comparisons(name):
    predictions = {system: draw_predictions(name) for system in ("A", "B")}
    refuse(sqlrank.compare, name, "LogLoss", predictions=predictions)


@pytest.mark.parametrize(
    "name", select_few(sorted({*GATE_SCHEMA, "slice"} - {"system"}), ("reason",))
)
def test_columns_of_gates(name):
    predictions = {system: draw_predictions(name) for system in ("A", "B")}
    refuse(sqlrank.gate, name, "LogLoss", predictions=predictions, tolerance=0.1)


@pytest.mark.parametrize("name", select_few(sorted(DRIFT_SCHEMA), ("verdict",)))
def test_columns_of_drift(name):
    rollup = pa.table({"day": [1], name: ["u"]})
    days = {"reference": "day = 1", "current": "day = 2"}
    message = refuse(sqlrank.drift, name, "LogLoss", rollup=rollup, **days)
    assert message.endswith("Rename the column")


def test_aliases_of_intervals_in_printed_statements() -> None:
    """A group that has the alias of a limit gets another, so that no two columns have one."""
    for dialect in ("duckdb", "snowflake", "bigquery"):
        text = sqlrank.sql("AUC", predictions="p", confidence=0.9, dialect=dialect)
        aliases = sqlglot.parse_one(text, dialect=dialect).named_selects
        assert len(aliases) == 5
        for name in aliases:
            text = sqlrank.sql(
                "AUC", predictions="p", confidence=0.9, dialect=dialect, by=f"{name}=country"
            )
            named = [*map(str.lower, sqlglot.parse_one(text, dialect=dialect).named_selects)]
            assert sorted(named) == sorted({f"by_{name}", *aliases}), name


@pytest.mark.slow
@pytest.mark.parametrize("by", ['"my segment"', "`my segment`"])
def test_quoted_names_lose_their_quotes(by: str) -> None:
    table = draw_predictions("my segment")
    table = table.append_column("other", table["score"])
    systems: dict[str, Any] = {"predictions": table, "columns": {"score": ["score", "other"]}}
    rollup = sqlrank.rollup("LogLoss", predictions=table, by=["day", by])
    days = {"reference": "day = 1", "current": "day = 2"}
    results = [
        sqlrank.evaluate("LogLoss", predictions=table, by=by),
        sqlrank.evaluate("ROC", predictions=table, by=by),
        sqlrank.compare("LogLoss", by=by, **systems),
        sqlrank.compare("LogLoss", by=[[], [by]], **systems),
        sqlrank.gate("LogLoss", tolerance=0.1, by=by, **systems),
        rollup,
        sqlrank.evaluate("LogLoss", rollup=rollup, by=by),
        sqlrank.compare("LogLoss", rollups={"A": rollup, "B": rollup}, confidence=None, by=by),
        sqlrank.drift("LogLoss", rollup=rollup, by=by, **days),
    ]
    for result in results:
        assert {"u", "v"} <= {*result["my segment"].to_pylist()}
    page = sqlrank.report("LogLoss", by=by, rollup=rollup).html
    assert "my segment" in page.partition("<table")[2]


@pytest.mark.parametrize("name", ["bin", "positives", "definition_hash"])
def test_columns_of_rollups(name):
    refuse(sqlrank.rollup, name, "AUC", predictions=draw_predictions(name))
