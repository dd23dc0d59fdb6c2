"""Every argument counts: in every mode of a function, a value that is not the default is refused or
changes the call.
"""

import inspect
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import SqlrankError
from sqlrank.call import request
from sqlrank.options import load_options
from tests.tables import build_table

ROWS = build_table(query_id="a a b b", doc_id="x y x y", score="0.1 0.7 0.4 0.2", old="0.3 0.2 0.9 0.5", label="0 1 1 0", weight="1 2 3 4", day="2026-01-01 2026-01-01 2026-01-02 2026-01-02")  # fmt: skip
RUN = ROWS.select(["query_id", "doc_id", "score"])
QRELS = build_table(query_id="a b", doc_id="x y", relevance="1 2")
OTHER_RUN = RUN.set_column(2, "score", pa.array([0.9, 0.7, 0.4, 0.6]))
VISITS = pa.table(
    {"unit_id": range(40), "variant": ["control", "b"] * 20, "x": [n % 7 for n in range(40)]}
)
ROLLUP = sqlrank.rollup(["AUC", "LogLoss"], predictions=ROWS, by="day", unit="doc_id", n_buckets=2)
EXPERIMENT = sqlrank.experiment("Mean(x)", data=VISITS)

MODES = {
    "evaluate rankings": (
        sqlrank.evaluate,
        {"metrics": ["RR", "nDCG@2"], "run": RUN, "qrels": QRELS},
    ),
    "evaluate predictions": (
        sqlrank.evaluate,
        {"metrics": ["AUC", "LogLoss"], "predictions": ROWS},
    ),
    "evaluate a rollup": (sqlrank.evaluate, {"metrics": ["AUC", "LogLoss"], "rollup": ROLLUP}),
    "compare runs": (
        sqlrank.compare,
        {"metrics": ["RR", "nDCG@2"], "run": {"old": RUN, "new": OTHER_RUN}, "qrels": QRELS},
    ),
    "compare rollups": (
        sqlrank.compare,
        {"metrics": ["AUC"], "rollups": {"old": ROLLUP, "new": ROLLUP}},
    ),
    "power": (
        sqlrank.power,
        {
            "values": sqlrank.evaluate(
                "RR", run=RUN, qrels={"a": {"x": 1}, "b": {"x": 1}}, per_query=True
            ),
            "target_effect": 0.1,
        },
    ),
    "print a statement": (sqlrank.sql, {"metrics": ["AUC", "LogLoss"], "predictions": "clicks"}),
    "print a statement of a rollup": (
        sqlrank.sql,
        {"metrics": ["AUC", "LogLoss"], "rollup": "rolled"},
    ),
    "drift": (
        sqlrank.drift,
        {"metrics": ["LogLoss"], "rollup": ROLLUP, "reference": "day < '2026-01-02'"},
    ),
    "experiment": (sqlrank.experiment, {"metrics": ["Mean(x)"], "data": VISITS}),
    "report rankings": (
        sqlrank.report,
        {
            "metrics": ["RR"],
            "run": {"old": RUN, "new": OTHER_RUN},
            "qrels": QRELS,
            "created_at": "now",
        },
    ),
    "report a rollup": (
        sqlrank.report,
        {"metrics": ["LogLoss"], "rollup": ROLLUP, "created_at": "now"},
    ),
    "report an experiment": (sqlrank.report, {"experiment": EXPERIMENT, "created_at": "now"}),
    "gate runs": (
        sqlrank.gate,
        {
            "metrics": ["RR", "nDCG@2"],
            "run": {"old": RUN, "new": OTHER_RUN},
            "qrels": QRELS,
            "min_units": 2,
        },
    ),
    "gate groups": (
        sqlrank.gate,
        {"metrics": ["LogLoss"], "predictions": ROWS, "across": "day", "tolerance": 0.5},
    ),
    "print an experiment": (sqlrank.experiment_sql, {"metrics": ["Mean(x)"], "data": "visits"}),
    "rollup": (sqlrank.rollup, {"metrics": ["AUC"], "predictions": ROWS}),
    "print a rollup": (
        sqlrank.rollup_sql,
        {"metrics": ["AUC"], "predictions": "clicks", "by": "day"},
    ),
    "model of metrics": (
        sqlrank.dbt_model,
        {"metrics": ["AUC"], "name": "m", "predictions": "clicks"},
    ),
    "model of a rollup": (
        sqlrank.rollup_model,
        {
            "metrics": ["AUC"],
            "name": "m",
            "predictions": "clicks",
            "by": "day",
            "begin": "2026-01-01",
        },
    ),
    "explain": (sqlrank.explain, {"metric": "RR", "run": RUN, "qrels": QRELS, "query": "a"}),
    "split by key": (sqlrank.split, {"source": ROWS, "key": "doc_id", "salt": "s", "folds": 2}),
    "split by time": (
        sqlrank.split,
        {
            "source": ROWS,
            "time": "day",
            "time_bounds": ["2026-01-02"],
            "shares": {"a": 0.5, "b": 0.5},
        },
    ),
    "print a split": (
        sqlrank.split_sql,
        {"source": "clicks", "key": "doc_id", "time": "day", "leave_last": 1},
    ),
    "functions": (sqlrank.functions, {"metrics": ["AUC"]}),
}
QUICK = ("power", "evaluate a rollup", "report an experiment", "split by key", "model of a rollup")
"""Modes that are swept in each run of the tests."""
KIND_VALUES = {
    **dict.fromkeys(("source", "runs", "rollups", "any", "stored"), build_table(nothing="1")),
    **dict.fromkeys(("text", "texts", "date"), "x"),
    **dict.fromkeys(("column", "columns", "grouping", "table", "baseline"), "day"),
    **dict.fromkeys(("level", "number"), 0.9), **dict.fromkeys(("amount", "tolerances"), 0.1), **dict.fromkeys(("integer", "threads"), 2),
    "flag": True, "path": "nothing", "condition": "day = '2026-01-01'", "shares": {"a": 0.9, "b": 0.1}, "numbers": [0.25],
    "inputs": {"nothing": ROWS}, "column_map": {"score": "weight"}, "pairs": {"score_order": "sort"}, "connection": "nothing.duckdb",
    "memory": "123MB", "metrics": "Brier",
}  # fmt: skip
"""A value that is not the default of an option of each kind."""

VALUES = {
    "dialect": "sqlite", "compat": "trec10", "names": "plain", "temp_directory": "elsewhere", "day": "nothing", "check": "full", "timeout": 1e-9, "interval": "bootstrap", "replicates": 77, "seed": 5,
    "window_ends": "day = '2026-01-02'", "reference": "day < '2026-01-02'", "lower_is_better": "LogLoss", "max_rows": 1, "query_examples": 9, "num_units": 9,
    "baseline": "new", "covariates": {"Mean(x)": "unit_id"}, "expected_shares": {"control": 0.9, "b": 0.1}, "multi_variant_units": "drop",
    "control": "b", "metric": "AP", "unit": "doc_id", "query": "b", "show_where": "doc_id = 'x'", "stratum": "label", "column": "mine", "materialized": "view", "min_units": 1,
}  # fmt: skip
"""Values of single options, for which that of their kind is the default, or has no effect."""


def get_value(name: str) -> Any:
    return VALUES.get(name, KIND_VALUES.get(load_options()[name].kind))


LIMITS = {"memory_limit", "threads", "temp_directory"}
CONDITIONAL = {
    *((mode, "seed") for mode in ("evaluate rankings", "evaluate predictions", "evaluate a rollup", "print a statement")),
    ("report a rollup", "by"),  # the day, which it is of anyway
    ("report rankings", "query_examples"),  # of two queries
    ("compare runs", "target_effect"), ("compare runs", "power"),  # of two queries
    ("compare rollups", "power"),  # of equal rollups
    ("experiment", "multi_variant_units"),  # of units in one variant each
    ("gate runs", "compat"), ("gate groups", "compat"),  # of lists and metrics that tools agree on
    # columns are identifiers in any case
    ("print a statement", "names"), ("print a statement of a rollup", "names"),
}  # fmt: skip
"""Arguments that count beside another only, which the call lacks."""


def describe(result: Any) -> object:
    """Return all that a result says."""
    if isinstance(result, pa.Table):
        return result.to_pylist(), result.schema.names, result.schema.metadata
    texts = [getattr(result, name, None) for name in ("html", "to_text", "sql")]
    return [text() if callable(text) else text for text in texts if text is not None] or result


def has_effect(mode: str, name: str, base: object, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return True if a value of an argument is refused or changes the result, the limits of the
    engine, or what progress tells.
    """
    function, call = MODES[mode]
    if name == "progress":
        told = []
        function(**call, progress=told.append)
        return bool(told) and told[-1] == 100
    limits = []
    made = request.ResourceLimits.__init__

    def record(self: Any, *given: Any, **named: Any) -> None:
        made(self, *given, **named)
        limits.append(self)

    with monkeypatch.context() as patch:
        patch.setattr(request.ResourceLimits, "__init__", record)
        try:
            result = function(**{**call, name: get_value(name)})
        except SqlrankError:
            return True
    return describe(result) != base or (
        name in LIMITS
        and any(getattr(made_limits, name) == get_value(name) for made_limits in limits)
    )


def sweep(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, call = MODES[mode]
    base = describe(function(**call))
    names = [
        name
        for name in inspect.signature(function).parameters
        if name != "policies" and (mode, name) not in CONDITIONAL
    ]
    without = [
        name
        for name in names
        if name not in {"check"} | call.keys() - {"metrics"}
        and not has_effect(mode, name, base, monkeypatch)
    ]
    assert without == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mode", QUICK)
def test_every_argument_counts(mode, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    sweep(mode, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in QUICK])
def test_every_argument_counts_in_every_mode(mode, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    sweep(mode, monkeypatch)


def test_every_function_with_options_is_swept():
    functions = [getattr(sqlrank, name) for name in sqlrank.__all__]
    small = {
        "assert_not_worse",
        "chart",
        "metrics",
        "parse",
        "query",
        "show",
    }  # the first is gate, others have at most three parameters
    assert {
        function.__name__ for function in functions if inspect.isfunction(function)
    } - small == {function.__name__ for function, _ in MODES.values()}
