"""The golden vectors of METRICS 5.4: each against the printed number and, where the tool is
installed, the tool itself.
"""

from collections.abc import Mapping, Sequence

import ir_measures
import lightgbm
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import pytrec_eval
from catboost.utils import eval_metric
from rectools import Columns
from rectools.metrics import MAP, NDCG
from sklearn.metrics import ndcg_score

import sqlrank
from tests.tables import build_table

PRINTED = 5.1e-6
"""Five decimals are printed."""

QRELS_A = {
    "q1": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 1},
    "q2": {"x": 0, "y": 0},
    "q3": {"m": 1, "n": 2},
}
RUN_A = {"q1": {"u": 5.0, "a": 4.0, "b": 3.0, "c": 2.0}, "q2": {"x": 2.0, "z": 1.0}}


def make_rows(column: str, nested: Mapping[str, Mapping[str, float]]) -> pa.Table:
    found = [(query, doc, value) for query, docs in nested.items() for doc, value in docs.items()]
    queries, docs, values = zip(*found, strict=True)
    return pa.table({"query_id": queries, "doc_id": docs, column: values})


def make_list(scores: Sequence[float], labels: Sequence[float]) -> pa.Table:
    """Return one list of predictions, ranked as its rows stand."""
    count = range(len(scores))
    return pa.table(
        {
            "query_id": [1] * len(scores),
            "doc_id": list(count),
            "score": scores,
            "rank": list(range(1, len(scores) + 1)),
            "label": labels,
        }
    )


def evaluate_one(metric: str, **options: object) -> float:
    return sqlrank.evaluate(metric, **options).column(0)[0].as_py()


TREC = {
    "map": 0.25,
    "ndcg": 0.44746,
    "P_5": 0.4,
    "recall_5": 0.5,
    "recip_rank": 0.5,
    "bpref": 0.25,
    "infAP": 0.25,
    "Rprec": 0.5,
    "11pt_avg": 0.27273,
    "binG": 0.28273,
    "G": 0.27581,
    "Rndcg": 0.2972,
    "ndcg_rel": 0.44663,
}


def test_toy_a_of_trec_eval():
    """q1 as printed, q2 all 0, q3 left out."""
    sources = {
        "run": make_rows("score", RUN_A),
        "qrels": make_rows("relevance", QRELS_A),
        "compat": "trec9",
    }
    got = (
        sqlrank.evaluate(list(TREC), per_query=True, **sources)
        .rename_columns(["query_id", *TREC])
        .to_pylist()
    )
    live = pytrec_eval.RelevanceEvaluator(QRELS_A, set(TREC)).evaluate(RUN_A)
    values = {row.pop("query_id"): row for row in got}
    assert sorted(values) == ["q1", "q2"]
    assert values["q1"] == pytest.approx(TREC, abs=PRINTED)
    assert values["q2"] == dict.fromkeys(TREC, 0)
    assert all(values[query] == pytest.approx(row, abs=1e-9) for query, row in live.items())


IR_MEASURES = {
    "AP": (0.08333, None),
    "nDCG@5": (0.14915, None),
    "Judged@5": (0.41667, {"q1": 0.75, "q2": 0.5, "q3": 0.0}),
}


@pytest.mark.parametrize(
    ("measure", "printed", "each"), [(name, *values) for name, values in IR_MEASURES.items()]
)
def test_toy_a_of_ir_measures(measure, printed, each):
    sources = {
        "run": make_rows("score", RUN_A),
        "qrels": make_rows("relevance", QRELS_A),
        "compat": "ir_measures",
    }
    parsed = ir_measures.parse_measure(measure)
    live = ir_measures.calc_aggregate([parsed], QRELS_A, RUN_A)[parsed]
    assert evaluate_one(measure, **sources) == pytest.approx(printed, abs=PRINTED)
    assert evaluate_one(measure, **sources) == pytest.approx(live, abs=1e-9)
    if each is not None:
        got = sqlrank.evaluate(measure, per_query=True, **sources).to_pylist()
        assert {row["query_id"]: row[measure] for row in got} == pytest.approx(each, abs=1e-12)


def test_toy_a_judged_only():
    sources = {
        "run": make_rows("score", RUN_A),
        "qrels": make_rows("relevance", QRELS_A),
        "compat": "ir_measures",
        "unjudged": "drop",
    }
    got = {
        row["query_id"]: row["nDCG@5"]
        for row in sqlrank.evaluate("nDCG@5", per_query=True, **sources).to_pylist()
    }
    measure = ir_measures.parse_measure("nDCG(judged_only=True)@5")
    live = {item.query_id: item.value for item in ir_measures.iter_calc([measure], QRELS_A, RUN_A)}
    assert got["q1"] == pytest.approx(0.67404, abs=PRINTED)
    assert got == pytest.approx(live, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "printed"),
    [("AP@2", 0.125), ("nDCG(gain=exp2)@5", 0.49343), ("F@5", 0.44444), ("RBP(p=0.8)", 0.5824)],
)
def test_toy_a_of_ranx(metric, printed):
    """Of q1 alone: ranx wants the same queries in run and qrels. test_ranx.py asks ranx itself."""
    run = make_rows("score", {"q1": RUN_A["q1"]}).append_column("rank", pa.array([1, 2, 3, 4]))
    assert evaluate_one(
        metric, run=run, qrels=make_rows("relevance", {"q1": QRELS_A["q1"]}), compat="ranx"
    ) == pytest.approx(printed, abs=PRINTED)


CATBOOST = {
    "PFound": ("PFound", 0.85),
    "ERR": ("ERR", 0.5),
    "RR": ("MRR", 0.5),
    "nDCG": ("NDCG", 0.65092),
    "nDCG@2": ("NDCG:top=2", 0.38685),
    "nDCG(discount=inverse)": ("NDCG:denominator=Position", 0.5),
    "AP": ("MAP", 0.5),
    "AP@2": ("MAP:top=2", 0.25),
    "P@2": ("PrecisionAt:top=2", 0.5),
}


def test_toy_b_of_catboost():
    labels, scores = [0, 1, 0, 1], [3.0, 3.0, 2.0, 1.0]
    (got,) = sqlrank.evaluate(
        list(CATBOOST), predictions=make_list(scores, labels), compat="catboost"
    ).to_pylist()
    assert got == pytest.approx(
        {metric: printed for metric, (_, printed) in CATBOOST.items()}, abs=PRINTED
    )
    live = {
        metric: eval_metric(labels, scores, name, group_id=[1] * 4)[0]
        for metric, (name, _) in CATBOOST.items()
    }
    assert got == pytest.approx(live, abs=1e-6)


GRADED_C, BINARY_C = [0, 3, 0, 1, 2, 1], [0, 1, 0, 1, 1, 1]
SCORES_C = [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]


def evaluate_with_lightgbm(
    labels: Sequence[int], metric: str, k: int, gains: Sequence[float]
) -> float:
    data = lightgbm.Dataset(
        np.zeros((6, 1)), label=labels, init_score=SCORES_C, group=[6], params={"verbose": -1}
    )
    params = {
        "objective": "none",
        "metric": metric,
        "eval_at": [k],
        "label_gain": list(gains),
        "verbose": -1,
    }
    return lightgbm.Booster(params, data).eval_train()[0][2]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("compat", ["lightgbm", "xgboost"])
def test_toy_c_of_gradient_boosting(compat):
    """test_xgboost.py asks XGBoost itself, which may not be installed."""
    graded = {"nDCG@4": 0.4934292, "nDCG(gain=linear)@4": 0.4474626, "nDCG@2": 0.4966393}
    binary = {"AP@2": 0.25, "AP@4": 0.25, "AP": 0.56667}
    exp2, linear = [2**grade - 1 for grade in range(4)], range(4)
    live_graded = {
        "nDCG@4": evaluate_with_lightgbm(GRADED_C, "ndcg", 4, exp2),
        "nDCG(gain=linear)@4": evaluate_with_lightgbm(GRADED_C, "ndcg", 4, linear),
        "nDCG@2": evaluate_with_lightgbm(GRADED_C, "ndcg", 2, exp2),
    }
    live_binary = {
        f"AP{at}": evaluate_with_lightgbm(BINARY_C, "map", k, exp2)
        for at, k in (("@2", 2), ("@4", 4), ("", 6))
    }
    for labels, printed, live in ((GRADED_C, graded, live_graded), (BINARY_C, binary, live_binary)):
        (got,) = sqlrank.evaluate(
            list(printed), predictions=make_list(SCORES_C, labels), compat=compat
        ).to_pylist()
        assert got == pytest.approx(printed, abs=PRINTED)
        assert got == pytest.approx(live, abs=1e-6)


RECOMMENDERS = {"P@3": 0.33333, "R@3": 0.38889, "AP": 0.21296, "AP@3": 0.21296}
TRUTH_D = {"u1": {"a": 1, "b": 1, "c": 1}, "u2": {"a": 1, "b": 1}, "u3": {"a": 1}, "u4": {"a": 1}}
LISTS_D = {
    "u1": {"x": 1, "a": 2, "b": 3},
    "u2": {"x": 1, "a": 2, "y": 3},
    "u3": {"x": 1, "y": 2, "z": 3},
}


def test_toy_d_of_recommenders():
    """The data are not printed: hits at ranks 2, 3 of R=3, at 2 of R=2 and at none, and a user
    without a list, give every number.
    """
    run, qrels = make_rows("rank", LISTS_D), make_rows("relevance", TRUTH_D)
    (got,) = sqlrank.evaluate(
        list(RECOMMENDERS), run=run, qrels=qrels, compat="recommenders"
    ).to_pylist()
    assert got == pytest.approx(RECOMMENDERS, abs=PRINTED)


def test_toy_d_averages_ndcg_over_all_users_of_the_truth():
    run, qrels = make_rows("rank", LISTS_D), make_rows("relevance", TRUTH_D)
    assert evaluate_one(
        "nDCG@3", run=run, qrels=qrels, compat="recommenders", queries="judged"
    ) == pytest.approx(0.22939, abs=PRINTED)


def test_toy_d_is_correct_in_r_precision():
    """Recommenders has .58333, since it skips the user without a hit; .38889 is right, and the
    number of this mode.
    """
    run, qrels = make_rows("rank", LISTS_D), make_rows("relevance", TRUTH_D)
    assert evaluate_one("Rprec", run=run, qrels=qrels, compat="recommenders") == pytest.approx(
        0.38889, abs=PRINTED
    )


RECTOOLS = {
    "AP@3": (MAP(k=3), 0.5),
    "AP(denominator=k)@3": (MAP(k=3, divide_by_k=True), 0.16667),
    "nDCG@3": (NDCG(k=3), 0.29608),
    "nDCG(ideal=judged)@3": (NDCG(k=3, divide_by_achievable=True), 0.63093),
}


@pytest.mark.parametrize("metric", RECTOOLS)
def test_toy_e_of_rectools(metric):
    peer, printed = RECTOOLS[metric]
    reco = pd.DataFrame({Columns.User: [1] * 3, Columns.Item: [1, 2, 3], Columns.Rank: [1, 2, 3]})
    interactions = pd.DataFrame({Columns.User: [1], Columns.Item: [2]})
    run = build_table(query_id="1 1 1", doc_id="1 2 3", rank="1 2 3")
    qrels = build_table(query_id="1", doc_id="2", relevance="1")
    got = evaluate_one(metric, run=run, qrels=qrels, compat="rectools")
    assert got == pytest.approx(printed, abs=PRINTED)
    assert got == pytest.approx(peer.calc(reco, interactions), abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "k", "printed"), [("nDCG", None, 0.7103), ("nDCG@1", 1, 0.3333)]
)
def test_toy_f_of_ties(metric, k, printed):
    """METRICS 2.0: [1, 0, 0], all tied."""
    got = evaluate_one(metric, predictions=make_list([1.0] * 3, [1, 0, 0]), compat="sklearn")
    assert got == pytest.approx(printed, abs=5.1e-5)
    assert got == pytest.approx(ndcg_score([[1, 0, 0]], [[1.0] * 3], k=k), abs=1e-9)
