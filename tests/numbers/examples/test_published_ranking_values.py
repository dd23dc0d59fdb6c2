"""Published values of ranking metrics, and those of other tools on small lists."""

from math import log2

import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.examples.rankings import (
    FOUR_RELEVANT,
    evaluate_metric,
    evaluate_metrics,
    evaluate_queries,
    make_lists,
)
from tests.numbers.references.answers import Collection
from tests.tables import read_columns

FRAMEWORKS = make_lists({"q": [0, 5, 1, 4, 2]})


def test_ndcg_of_the_evaluation_frameworks():
    dcg = 5 / log2(3) + 1 / log2(4) + 4 / log2(5) + 2 / log2(6)
    ideal = 5 + 4 / log2(3) + 2 / log2(4) + 1 / log2(5)
    assert [dcg, ideal, dcg / ideal] == pytest.approx([6.15106, 8.95440, 0.68693], abs=5e-6)
    assert evaluate_metrics(["DCG", "nDCG"], FRAMEWORKS) == pytest.approx(
        [dcg, dcg / ideal], abs=1e-12
    )
    assert evaluate_metric("nDCG(gain=exp2)", FRAMEWORKS) == pytest.approx(0.6529, abs=5e-5)
    assert evaluate_metric("nDCG", FRAMEWORKS, compat="evalframeworks") == pytest.approx(
        0.68693, abs=5e-6
    )


def test_ndcg_of_three():
    assert evaluate_metric("nDCG", make_lists({"q": [1, 0, 1]})) == pytest.approx(0.91972, abs=5e-6)


def test_average_precision_of_the_survey_on_habr():
    three = make_lists(read_columns(last="0 0 1", first="1 0 0", all="1 1 1"))
    assert evaluate_queries("AP@3", three, compat="habr") == pytest.approx(
        {"last": 1 / 9, "first": 1 / 3, "all": 1}
    )
    assert evaluate_metric("AP@3", three, compat="habr") == pytest.approx((1 / 9 + 1 / 3 + 1) / 3)
    assert evaluate_queries("AP@3", three) == pytest.approx({"last": 1 / 3, "first": 1, "all": 1})
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert evaluate_queries("nDCG@3", three, compat="habr") == pytest.approx(
        {"last": 0.5 / ideal, "first": 1 / ideal, "all": 1}
    )


@pytest.mark.slow
def test_ndcg_of_jarvelin_and_kekalainen():
    """The gains of the example of their paper (2002), whose discounted sums it prints with one
    decimal.
    """
    paper = make_lists({"q": [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]})
    printed = [3, 5, 6.9, 6.9, 6.9, 7.3, 8.0, 8.7, 9.6, 9.6]
    found = [evaluate_metric(f"DCG(discount=jarvelin)@{k}", paper) for k in range(1, 11)]
    assert found == pytest.approx(printed, abs=0.051)
    assert evaluate_metric("DCG(discount={1: 1, 2: 1})", paper) == 5.0


@pytest.mark.slow
def test_lenskit():
    """Discounts are 1 / max(log2(rank), 1): 1, 1, 1 / log2(3), 1 / 2."""
    given = make_lists(
        read_columns(q="3 NULL 5 NULL", none="NULL", few="2"), {"q": [4], "unanswered": [1]}
    )
    third = 1 / log2(3)
    assert evaluate_queries("nDCG", given, compat="lenskit") == pytest.approx(
        {"q": (3 + 5 * third) / (5 + 4 + 3 * third), "few": 1, "unanswered": 0}
    )
    assert evaluate_queries("nDCG@2", given, compat="lenskit")["q"] == pytest.approx(3 / 9)
    assert evaluate_queries("nDCG(gain=binary)", given, compat="lenskit")["q"] == pytest.approx(
        (1 + third) / (2 + third)
    )
    assert evaluate_queries("nDCG(gain=binary)@2", given, compat="lenskit")["q"] == pytest.approx(
        1 / 2
    )
    assert evaluate_queries("DCG", given, compat="lenskit")["q"] == pytest.approx(3 + 5 * third)
    assert evaluate_queries("R@2", given, compat="lenskit")["q"] == 1 / 2
    assert evaluate_queries("R", given, compat="lenskit")["q"] == pytest.approx(2 / 3)
    assert evaluate_queries("P@10", given, compat="lenskit") == {
        "q": 1 / 2,
        "few": 1,
        "unanswered": 0,
    }
    assert evaluate_queries("RecipRank", given, compat="lenskit") == {
        "q": 1,
        "few": 1,
        "unanswered": 0,
    }
    assert evaluate_metric("nDCG@1", given, compat="lenskit") == pytest.approx((3 / 5 + 1 + 0) / 3)


TOY_A = Collection(
    {"q1": {"u": 5, "a": 4, "b": 3, "c": 2}, "q2": {"x": 2, "z": 1}},
    {
        "q1": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 1},
        "q2": {"x": 0, "y": 0},
        "q3": {"m": 1, "n": 2},
    },
).tables
TOY_A_BY_TREC = {
    "map": 0.25,
    "ndcg": 0.44746,
    "P_5": 0.4,
    "recall_5": 0.5,
    "recip_rank": 0.5,
    "bpref": 0.25,
    "infAP": 0.25,
    "Rprec": 0.5,
}
TOY_A_BY_TREC |= {
    "11pt_avg": 0.27273,
    "binG": 0.28273,
    "G": 0.27581,
    "Rndcg": 0.2972,
    "ndcg_rel": 0.44663,
}


def test_toy_a_of_trec_eval():
    first, second = sqlrank.evaluate(
        list(TOY_A_BY_TREC), **TOY_A, compat="trec9", per_query=True
    ).to_pylist()
    assert [first.pop("query_id"), second.pop("query_id")] == ["q1", "q2"]
    assert list(first.values()) == pytest.approx(list(TOY_A_BY_TREC.values()), abs=5e-5)
    assert set(second.values()) == {0.0}


def test_toy_a_of_ranx():
    given = {
        "run": TOY_A["run"].append_column("rank", pa.array([1, 2, 3, 4, 1, 2])),
        "qrels": TOY_A["qrels"],
    }
    assert evaluate_queries("AP@2", given, compat="ranx", queries="judged")["q1"] == pytest.approx(
        0.125
    )
    metrics = ["nDCG(gain=exp2)@5", "F@5", "RBP(p=0.8)"]
    (row, *_) = sqlrank.evaluate(
        metrics, **given, compat="ranx", queries="judged", per_query=True
    ).to_pylist()
    assert list(row.values())[1:] == pytest.approx([0.49343, 0.44444, 0.5824], abs=5e-6)


@pytest.mark.slow
def test_toy_a_of_ir_measures():
    assert evaluate_metrics(
        ["AP", "nDCG@5", "Judged@5"], TOY_A, compat="ir_measures"
    ) == pytest.approx([0.08333, 0.14915, 0.41667], abs=5e-6)
    assert evaluate_queries("Judged@5", TOY_A, compat="ir_measures") == pytest.approx(
        {"q1": 0.75, "q2": 0.5, "q3": 0}
    )
    assert evaluate_queries("nDCG@5", TOY_A, compat="ir_measures", unjudged="drop")[
        "q1"
    ] == pytest.approx(0.67404, abs=5e-6)


def make_predictions(labels: list[float], scores: list[float] | None = None) -> dict[str, pa.Table]:
    size = len(labels)
    columns = {
        "query_id": ["q"] * size,
        "doc_id": [f"d{i}" for i in range(size)],
        "score": scores or [1 / (i + 1) for i in range(size)],
    }
    return {"predictions": pa.table(columns | {"rank": list(range(1, size + 1)), "label": labels})}


def test_toy_b_of_catboost():
    metrics = [
        "PFound", "ERR", "RR", "nDCG", "nDCG@2", "nDCG(discount=inverse)", "AP", "AP@2", "P@2",
    ]  # fmt: skip
    expected = [0.85, 0.5, 0.5, 0.65092, 0.38685, 0.5, 0.5, 0.25, 0.5]
    assert evaluate_metrics(
        metrics, make_predictions([0, 1, 0, 1], [3, 3, 2, 1]), compat="catboost"
    ) == pytest.approx(expected, abs=5e-6)


def test_no_relevant_documents_of_catboost():
    metrics = ["nDCG", "nDCG@2", "R@2", "PFound", "ERR", "RR", "AP", "P@2"]
    assert evaluate_metrics(metrics, make_predictions([0, 0, 0]), compat="catboost") == [
        1, 1, 1, 0, 0, 0, 0, 0,
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("compat", ["lightgbm", "xgboost"])
def test_toy_c_of_gradient_boosting(compat):
    graded, binary = make_predictions([0, 3, 0, 1, 2, 1]), make_predictions([0, 1, 0, 1, 1, 1])
    expected = [0.4934292, 0.4474626, 0.4966393]
    assert evaluate_metrics(
        ["nDCG@4", "nDCG(gain=linear)@4", "nDCG@2"], graded, compat=compat
    ) == pytest.approx(expected, abs=5e-8)
    assert evaluate_metrics(["AP@2", "AP@4", "AP"], binary, compat=compat) == pytest.approx(
        [0.25, 0.25, 0.56667], abs=5e-6
    )
    assert evaluate_metrics(["nDCG@2", "AP@2"], make_predictions([0, 0]), compat=compat) == [1, 1]
    assert evaluate_metric("nDCG@1", make_predictions([0, 1, 0], [1, 1, 1]), compat=compat) == 0
    assert evaluate_metric("nDCG@1", make_predictions([1, 0, 0], [1, 1, 1]), compat=compat) == 1


def test_precision_of_xgboost():
    assert evaluate_metric(
        "P@10", make_predictions([0, 1, 0, 1, 1, 1]), compat="xgboost"
    ) == pytest.approx(4 / 6)


def test_toy_e_of_rectools():
    hit = make_lists({"q": [0, 1, 0]})
    metrics = ["AP@3", "AP(denominator=k)@3", "nDCG@3", "nDCG(ideal=judged)@3"]
    assert evaluate_metrics(metrics, hit, compat="rectools") == pytest.approx(
        [0.5, 0.16667, 0.29608, 0.63093], abs=5e-6
    )


def test_toy_f_of_scikit_learn():
    tied = make_predictions([1, 0, 0], [0.5, 0.5, 0.5])
    assert evaluate_metrics(["nDCG", "nDCG@1"], tied, compat="sklearn") == pytest.approx(
        [(1 + 1 / log2(3) + 0.5) / 3, 1 / 3]
    )
    assert evaluate_metric("nDCG", tied, compat="sklearn") == pytest.approx(0.7103, abs=5e-5)
    assert evaluate_metric("nDCG", tied, compat="sklearn", ties="doc_desc") == pytest.approx(0.5)


def test_toy_f_of_single_precision():
    near = Collection({"q": {"a": 1.000000001, "b": 1.0}}, {"q": {"a": 1}}).tables
    assert evaluate_metric("recip_rank", near, compat="trec9") == 0.5
    assert evaluate_metric("recip_rank", near, compat="trec10") == 1.0


def test_toy_f_of_ir_measures():
    tied = Collection({"q": dict.fromkeys("abcd", 1.0)}, {"q": {"a": 1}}).tables
    assert evaluate_metrics(["RR", "RR@10"], tied, compat="ir_measures") == [0.25, 1.0]


@pytest.mark.slow
def test_average_precision_of_other_tools():
    assert evaluate_metric("AP@5", FOUR_RELEVANT, compat="torchmetrics") == pytest.approx(1.6 / 3)
    assert evaluate_metric("AP@5", FOUR_RELEVANT, compat="hivemall") == pytest.approx(1.6 / 3)
    for compat in ("mllib", "recommenders", "replay", "evalframeworks", "lightgbm"):
        assert evaluate_metric("AP@2", FOUR_RELEVANT, compat=compat) == pytest.approx(0.5 / 2)
