"""Invalid calls raise errors before a source is opened: a stream can be read once."""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from tests.tables import build_table

RUN = build_table(query_id="a a b", doc_id="x y x", score="1.0 2.0 3.0", system="s s t")
QRELS = build_table(query_id="a b", doc_id="x x", relevance="1 1")
PREDICTIONS = build_table(label="0.0 1.0", score="0.1 0.2", day="1 2", user="a b", arm="c t")


class CountingStream:
    """A table with the Arrow stream protocol that counts how often it is opened."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.times_opened = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.times_opened += 1
        return self.table.__arrow_c_stream__(requested_schema)


RANKINGS = {"run": RUN, "qrels": QRELS}
CALLS = {
    "evaluate": (sqlrank.evaluate, RANKINGS, {"metrics": "nDCG"}),
    "evaluate predictions": (sqlrank.evaluate, {"predictions": PREDICTIONS}, {"metrics": "AUC"}),
    "evaluate rollup": (sqlrank.evaluate, {"rollup": PREDICTIONS}, {"metrics": "AUC"}),
    "compare": (sqlrank.compare, RANKINGS, {"metrics": "nDCG", "system": "system"}),
    "gate": (sqlrank.gate, RANKINGS, {"metrics": "nDCG", "system": "system", "baseline": "s"}),
    "explain": (sqlrank.explain, RANKINGS, {"metric": "nDCG", "query": "a"}),
    "report": (sqlrank.report, RANKINGS, {"metrics": ["nDCG"], "system": "system"}),
    "rollup": (sqlrank.rollup, {"predictions": PREDICTIONS}, {"metrics": "AUC", "by": "day"}),
    "experiment": (
        sqlrank.experiment,
        {"data": PREDICTIONS},
        {"metrics": "Mean(score)", "unit": "user", "variant": "arm", "control": "c"},
    ),
    "split": (sqlrank.split, {"source": PREDICTIONS}, {"key": "user", "salt": "a", "folds": 2}),
}
RANKING_CALLS = ("evaluate", "compare", "gate", "explain", "report")
GROUPED_CALLS = ("evaluate", "evaluate predictions", "compare", "gate", "report")
PREDICTION_CALLS = ("evaluate predictions", "rollup")
METRIC_CALLS = tuple(name for name in CALLS if name not in {"explain", "split"})
REFUSED = {
    "unknown metric": ({"metrics": "nDGC"}, METRIC_CALLS),
    "unknown plan": ({"plan": {"rank_methodd": "sort"}}, (*RANKING_CALLS, "evaluate predictions")),
    "unknown plan value": ({"plan": {"rank_method": "sorted"}}, RANKING_CALLS),
    "unknown policy": ({"tiess": "error"}, (*RANKING_CALLS, *PREDICTION_CALLS)),
    "unknown policy value": ({"ties": "sorted"}, RANKING_CALLS),
    "repeated group": ({"by": ["day", "day"]}, (*GROUPED_CALLS, "rollup")),
    "reserved group": ({"by": "query_id"}, GROUPED_CALLS),
    "confidence": ({"confidence": 2}, (*GROUPED_CALLS, "experiment")),
    "interval": (
        {"confidence": 0.9, "interval": "z"},
        ("evaluate", "evaluate predictions", "compare", "experiment"),
    ),
    "condition": ({"where": "day ="}, tuple(name for name in CALLS if name != "split")),
    "mapped name": ({"columns": {"labell": "x"}}, (*RANKING_CALLS, *PREDICTION_CALLS)),
    "memory": ({"memory_limit": "much"}, ("evaluate", "compare", "rollup", "experiment", "split")),
    "check mode": ({"check": "some"}, ("evaluate", "compare", "rollup")),
}


@pytest.mark.parametrize(
    ("function", "problem"),
    [(name, problem) for problem, (_, names) in REFUSED.items() for name in names],
)
def test_no_source_is_opened_before_a_call_is_refused(function, problem):
    call, tables, arguments = CALLS[function]
    streams = {name: CountingStream(table) for name, table in tables.items()}
    with pytest.raises(SqlrankError):
        call(**streams, **{**arguments, **REFUSED[problem][0]})
    assert [stream.times_opened for stream in streams.values()] == [0] * len(streams)


@pytest.mark.parametrize("function", ["evaluate", "evaluate predictions", "rollup", "split"])
def test_a_source_is_opened_once(function):
    call, tables, arguments = CALLS[function]
    streams = {name: CountingStream(table) for name, table in tables.items()}
    call(**streams, **arguments)
    assert [stream.times_opened for stream in streams.values()] == [1] * len(streams)
