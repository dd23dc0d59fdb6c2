"""Policies are validated if a metric reads them or not, and an unread one is an error."""

from typing import Any

import pytest

import sqlrank
from sqlrank.call.request import Request
from sqlrank.call.resolve import find_read_policies
from tests.tables import build_table

RUN = build_table(query_id="1 1", doc_id="a b", score="0.9 0.5")
QRELS = build_table(query_id="1", doc_id="b", relevance="1")
PREDICTIONS = build_table(label="0 1", score="0.2 0.7")


def evaluate(metrics: Any, **options: Any) -> list[dict[str, Any]]:
    source = (
        {"predictions": PREDICTIONS} if metrics in ("AUC", "ROC") else {"run": RUN, "qrels": QRELS}
    )
    return sqlrank.evaluate(metrics, **source, **options).to_pylist()


def test_what_some_metric_reads_is_given_to_those():
    assert evaluate(["num_q", "RR(aggregate=gmean)"], floor=0.1) == [
        {"num_q": 1.0, "RR(aggregate=gmean)": 0.5}
    ]
    assert evaluate(["num_q", "nDCG"], gain={1: 3}) == evaluate(["num_q", "nDCG"], gain="exp2")
    together = build_table(query_id="1 1", doc_id="1 2", label="0 1", score="0.2 0.7")
    assert sqlrank.evaluate(["RR", "AUC"], predictions=together, rel=1, tie_credit=1).num_rows == 1


def test_what_a_mode_sets_may_go_unread():
    for mode in ("trec10", "sklearn", "catboost"):
        assert evaluate("num_q", compat=mode) == [{"num_q": 1.0}]


@pytest.mark.parametrize(
    ("metrics", "policies", "read"),
    [
        (["AP"], {"gain": "exp2", "rel": 2}, {"rel": 2}),
        (["AP", "nDCG"], {"gain": "exp2", "rel": 2}, {"gain": "exp2", "rel": 2}),
        (
            ["nDCG"],
            {"ties": "expected", "topics": "retrieved"},
            {"ties": "expected", "topics": "retrieved"},
        ),
        # It is not defined for AP, which is no sum over documents, and is left out for both.
        (["nDCG", "AP"], {"ties": "expected", "rel": None}, {}),
        # A policy that is read under a value of another only.
        (["RR"], {"aggregate": "gmean", "floor": 0.1}, {"aggregate": "gmean", "floor": 0.1}),
        (["RR"], {"aggregate": "min", "floor": 0.1}, {"aggregate": "min"}),
        # The aggregate over queries is not read by a metric with a level of its own, and then
        # neither is its floor.
        (["GAUC"], {"level": "query", "aggregate": "gmean", "floor": 0.1}, {"level": "query"}),
        # A value that is in the range of one metric only.
        (["LogLoss"], {"eps": 0.9}, {}),
        (["MAPE"], {"eps": 0.9}, {"eps": 0.9}),
    ],
)
def test_policies_of_a_call_that_some_of_its_metrics_read(metrics, policies, read):
    sources = (
        {"predictions": "p"}
        if metrics[0] in {"GAUC", "LogLoss", "MAPE"}
        else {"run": "r", "qrels": "q"}
    )
    assert find_read_policies(Request(metrics, sources, policies=policies)) == read
