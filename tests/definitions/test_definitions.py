"""Examples worked by hand: each metric on lists short enough to check with a pencil, and numbers printed elsewhere."""

from __future__ import annotations

from functools import cache
from math import log, log2
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.references.reference import Collection

Grades = list[float | None]


def ranked(lists: dict[str, Grades], missed: dict[str, Grades] | None = None) -> dict[str, pa.Table]:
    """Return a run and judgments in which list by list the documents have these grades (None: not judged), in this order.

    Documents are named so that those of later ranks have smaller ids; ``missed`` are judged, but not retrieved.
    """
    run, qrels = [], []
    for query, grades in lists.items():
        for rank, grade in enumerate(grades, start=1):
            doc = f"{query}-{1000 - rank}"
            run.append({"query_id": query, "doc_id": doc, "score": 1 / rank, "rank": rank})
            if grade is not None:
                qrels.append({"query_id": query, "doc_id": doc, "relevance": float(grade)})
    for query, grades in (missed or {}).items():
        qrels += [{"query_id": query, "doc_id": f"{query}-missed{i}", "relevance": float(grade)} for i, grade in enumerate(grades)]
    types = {"query_id": pa.string(), "doc_id": pa.string()}
    return {
        "run": pa.Table.from_pylist(run, pa.schema(types | {"score": pa.float64(), "rank": pa.int64()})),
        "qrels": pa.Table.from_pylist(qrels, pa.schema(types | {"relevance": pa.float64()})),
    }


def value(metric: str, sources: dict[str, Any], **policies: Any) -> float | None:
    """Return the aggregate of one metric."""
    return sqlrank.evaluate(metric, **sources, **policies).column(0)[0].as_py()


def values(metrics: list[str], sources: dict[str, Any], **policies: Any) -> list[float | None]:
    """Return the aggregates of metrics."""
    (row,) = sqlrank.evaluate(metrics, **sources, **policies).to_pylist()
    return list(row.values())


def per_query(metric: str, sources: dict[str, Any], **policies: Any) -> dict[str, float | None]:
    result = sqlrank.evaluate(metric, **sources, per_query=True, **policies)
    return dict(zip(result["query_id"].to_pylist(), result.column(1).to_pylist(), strict=True))


FOUR_RELEVANT = ranked({"q": [0, 1, 0, 1, 1, 0]}, {"q": [1]})
WORKED = [
    ("AP@5", (1 / 2 + 2 / 4 + 3 / 5) / 4),
    ("AP(denominator=min_rk)@5", 0.4),
    ("AP(denominator=k)@5", 0.32),
    ("AP(denominator=retrieved)@5", 0.32),
    ("AP(denominator=hits)@5", 1.6 / 3),
    ("AP(form=all_positions)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 4),
    ("AP(denominator=k, form=all_positions)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 5),
    ("AP(form=all_positions)@7", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5 + 3 / 6 + 3 / 7) / 4),
    ("AP(denominator=hits, form=all_positions)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 3),
    ("AP@2", (1 / 2) / 4),
    ("AP", 0.4),
    ("AR@5", (0 + 1 + 1 + 2 + 3) / 4 / 5),
    ("AR(denominator=relevant)@5", (0 + 1 + 1 + 2 + 3) / 4 / 4),
    ("R@5", 3 / 4),
    ("R(denominator=min_rk)@2", 1 / 2),
    ("R", 3 / 4),
    ("P@5", 3 / 5),
    ("F@5", 2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4)),
    ("F(beta=2)@5", 5 * (3 / 5) * (3 / 4) / (4 * (3 / 5) + 3 / 4)),
    ("RR", 1 / 2),
    ("RR@1", 0),
    ("RHR@4", 1 / 2 + 1 / 4),
    ("RHR(share=ideal)@4", (1 / 2 + 1 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4)),
    ("Rprec", 2 / 4),
    ("Rprec(multiple=0.5)", 1 / 2),
    ("Rprec(multiple=2)", 3 / 8),
    ("Success@1", 0),
    ("Success@2", 1),
    ("IPrec@0.25", 3 / 5),
    ("IPrec@0", 3 / 5),
    ("IPrec@1", 0),
    ("11pt(points=[0.25, 0.5, 1])", (3 / 5 + 3 / 5 + 0) / 3),
    ("binG", (1 / log2(3) + 1 / log2(4) + 1 / log2(4)) / 4),
    ("bpref", ((1 - 1 / 3) + (1 - 2 / 3) + (1 - 2 / 3)) / 4),
    ("SetP", 3 / 6),
    ("SetR", 3 / 4),
    ("SetF", 2 * 3 / (4 + 6)),
    ("SetAP", 3 / 6 * 3 / 4),
    ("SetRelP", 3 / 4),
    ("utility", 3 - 3),
    ("utility(rel_ret=2, nonrel_ret=-1, rel_missed=-5, nonrel_missed=0.5, collection=100)", 2 * 3 - 3 - 5 + 0.5 * 93),
    ("RBP@5", 0.2 * (0.8 + 0.8**3 + 0.8**4)),
    ("RBP(p=0.5)", 0.5 * (0.5 + 0.5**3 + 0.5**4)),
    ("DCG(gain=binary)@4", 1 / log2(3) + 1 / log2(5)),
    ("DCG(discount=ln)@2", 1 / log(3)),
    ("DCG(discount=inverse)@4", 1 / 2 + 1 / 4),
    ("DCG(discount=zipf, exponent=2)@4", 1 / 4 + 1 / 16),
    ("DCG(discount=geometric, persistence=0.5)@4", 1 / 2 + 1 / 8),
    ("MDCG@3", (0 + 1 / log2(3) + 1 / log2(3)) / 3),
    ("CG@4", 2),
]


@cache
def worked() -> dict[str, float]:
    metrics = [metric for metric, _ in WORKED]
    return dict(zip(metrics, values(metrics, FOUR_RELEVANT), strict=True))


@pytest.mark.parametrize(("metric", "expected"), WORKED)
def test_four_relevant_documents_one_of_them_missed(metric: str, expected: float) -> None:
    assert worked()[metric] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("denominator", "expected"), [("k", 2 / 5), ("retrieved", 2 / 3), ("min_rk", 2 / 3), ("relevant", 2 / 3), ("hits", 1)]
)
def test_precision_denominators(denominator: str, expected: float) -> None:
    three = ranked({"q": [1, 0, 1]}, {"q": [1]})
    assert value(f"P(denominator={denominator})@5", three) == pytest.approx(expected)


def test_cutoff_beyond_the_list() -> None:
    three = ranked({"q": [1, 0, 1]})
    metrics = ["P@10", "R@10", "AP@10", "nDCG@10", "RR@10", "Judged@10", "Unj@10", "F@10", "MDCG@4"]
    dcg = [1, 1, 1.5, 1.5]
    expected = [0.2, 1, (1 + 2 / 3) / 2, 1.5 / (1 + 1 / log2(3)), 1, 1, 0, 2 * 2 / (2 + 10), sum(dcg) / 4]
    assert values(metrics, three) == pytest.approx(expected)


@pytest.mark.parametrize(("grade", "expected"), [(1, 1.0), (0, 0.0)])
def test_one_document(grade: int, expected: float) -> None:
    metrics = [
        "P@1",
        "R@1",
        "AP",
        "nDCG",
        "RR",
        "Rprec",
        "bpref",
        "infAP",
        "11pt",
        "G",
        "binG",
        "nDCGrel",
        "Rndcg",
        "SetF",
        "RHR",
        "Success",
    ]
    assert values(metrics, ranked({"q": [grade]})) == pytest.approx([expected] * len(metrics))


EVERY = [
    "AP",
    "nDCG",
    "P@5",
    "R",
    "RR",
    "ERR",
    "PFound",
    "RBP",
    "bpref",
    "infAP",
    "G",
    "binG",
    "Rndcg",
    "nDCGrel",
    "SetP",
    "SetF",
    "SetAP",
    "11pt",
]


def test_nothing_retrieved_counts_0() -> None:
    other = ranked({"answered": [1]}, {"unanswered": [1, 0]})
    assert values(EVERY, other) == pytest.approx(
        [0.5, 0.5, 0.1, 0.5, 0.5, 1 / 32, 1 / 32, 0.1] + [0.5] * 10,
    )
    row = sqlrank.evaluate(EVERY, **other, per_query=True).to_pylist()[1]
    assert row == {"query_id": "unanswered"} | dict.fromkeys(EVERY, 0.0)


def test_not_answered_is_not_undefined() -> None:
    other = ranked({"answered": [1]}, {"unanswered": [1, 0]})
    metrics = [*EVERY, "nDCG(ideal=judged_nret)", "SetRelP", "SetF(beta=0)", "P(denominator=hits)@5", "AP(denominator=hits)"]
    row = sqlrank.evaluate(metrics, **other, per_query=True, no_relevant="skip").to_pylist()[1]
    assert row == {"query_id": "unanswered"} | dict.fromkeys(metrics, 0.0)


@pytest.mark.parametrize("metric", ["nDCG(ideal=judged_nret)", "P(denominator=hits)@5", "AP(denominator=hits)", "AP(denominator=hits)@5"])
def test_a_list_without_hits_is_not_undefined(metric: str) -> None:
    assert value(metric, ranked({"q": [0, None]}, {"q": [1]}), no_relevant="one") == 0.0


def test_nothing_relevant() -> None:
    none = ranked({"q": [0, None, 0]})
    for policy, expected in {"zero": 0.0, "one": 1.0, "skip": None, "null": None}.items():
        assert values(EVERY, none, no_relevant=policy) == [expected] * len(EVERY)


@pytest.mark.parametrize(
    "metric", ["RBP", "RBP(rel=2)", "DCG(gain=binary)", "CG(gain=threshold)", "MDCG(gain=binary)@3", "P@3", "nDCG(gain=binary)"]
)
def test_nothing_of_the_relevance_level_is_nothing_relevant(metric: str) -> None:
    assert value(metric, ranked({"q": [1, 0]}), rel=2, no_relevant="skip") is None


TIED = {
    "run": pa.table({"query_id": ["q"] * 4, "doc_id": ["a", "b", "c", "d"], "score": [0.5] * 4}),
    "qrels": pa.table({"query_id": ["q"] * 2, "doc_id": ["b", "d"], "relevance": [2, 1]}),
}


@pytest.mark.parametrize(
    ("ties", "ranks"),
    [("doc_desc", {2: 3, 1: 1}), ("doc_asc", {2: 2, 1: 4}), ("worst", {2: 4, 1: 3}), ("best", {2: 1, 1: 2})],
)
def test_all_tied(ties: str, ranks: dict[int, int]) -> None:
    first, second = sorted(ranks.values())
    dcg = sum(grade / log2(rank + 1) for grade, rank in ranks.items())
    expected = [1 / first, (1 / first + 2 / second) / 2, dcg, dcg / (2 + 1 / log2(3)), sum(rank <= 2 for rank in ranks.values()) / 2]
    assert values(["RR", "AP", "DCG", "nDCG", "P@2"], TIED, ties=ties) == pytest.approx(expected)


def test_all_tied_in_expectation() -> None:
    discounts = [1, 1 / log2(3), 1 / 2, 1 / log2(5)]
    dcg = (2 + 1) / 4 * sum(discounts)
    metrics = ["P@2", "P@4", "R@1", "DCG", "nDCG", "nDCG@1", "CG@2", "RHR@2", "RHR(share=ideal)@2"]
    expected = [0.5, 0.5, 0.25, dcg, dcg / (2 + 1 / log2(3)), 0.75 / 2, 1.5, (1 + 1 / 2) / 2, 0.5]
    assert values(metrics, TIED, ties="expected") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "ties", "reason"),
    [
        ("RR", "expected", "ties='expected' is not defined for RR"),
        ("P@1", "error", "equal scores in a list"),
        ("P@1", "oldest", "unknown ties 'oldest'"),
    ],
)
def test_ties_that_are_refused(metric: str, ties: str, reason: str) -> None:
    with pytest.raises(sqlrank.SqlrankError, match=reason):
        value(metric, TIED, ties=ties)


@pytest.mark.parametrize(("rel", "expected"), [(1, [3 / 4, 1, 1]), (2, [2 / 4, 1, 1 / 2]), (3, [1 / 4, 1, 1 / 3]), (4, [0, 0, 0])])
def test_relevance_level(rel: int, expected: list[float]) -> None:
    graded = ranked({"q": [1, 2, 3, 0]})
    assert values([f"P(rel={rel})@4", f"R(rel={rel})", f"RR(rel={rel})"], graded) == pytest.approx(expected)
    assert values(["P@4", "R", "RR"], graded, rel=rel) == pytest.approx(expected)
    assert value("nDCG", graded, rel=rel) == value("nDCG", graded)


def test_relevance_level_0_counts_all_that_was_judged() -> None:
    graded = ranked({"q": [None, 0, 2]})
    assert values(["P@3", "R", "RR", "num_rel", "SetP", "Success@1"], graded, rel=0) == pytest.approx([2 / 3, 1, 1 / 2, 2, 2 / 3, 0])


FRAMEWORKS = ranked({"q": [0, 5, 1, 4, 2]})


def test_ndcg_of_the_evaluation_frameworks() -> None:
    dcg = 5 / log2(3) + 1 / log2(4) + 4 / log2(5) + 2 / log2(6)
    ideal = 5 + 4 / log2(3) + 2 / log2(4) + 1 / log2(5)
    assert [dcg, ideal, dcg / ideal] == pytest.approx([6.15106, 8.95440, 0.68693], abs=5e-6)
    assert values(["DCG", "nDCG"], FRAMEWORKS) == pytest.approx([dcg, dcg / ideal], abs=1e-12)
    assert value("nDCG(gain=exp2)", FRAMEWORKS) == pytest.approx(0.6529, abs=5e-5)
    assert value("nDCG", FRAMEWORKS, compat="evalframeworks") == pytest.approx(0.68693, abs=5e-6)


def test_ndcg_of_three() -> None:
    assert value("nDCG", ranked({"q": [1, 0, 1]})) == pytest.approx(0.91972, abs=5e-6)


def test_average_precision_of_the_survey_on_habr() -> None:
    three = ranked({"last": [0, 0, 1], "first": [1, 0, 0], "all": [1, 1, 1]})
    assert per_query("AP@3", three, compat="habr") == pytest.approx({"last": 1 / 9, "first": 1 / 3, "all": 1})
    assert value("AP@3", three, compat="habr") == pytest.approx((1 / 9 + 1 / 3 + 1) / 3)
    assert per_query("AP@3", three) == pytest.approx({"last": 1 / 3, "first": 1, "all": 1})
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert per_query("nDCG@3", three, compat="habr") == pytest.approx({"last": 0.5 / ideal, "first": 1 / ideal, "all": 1})


PROBABILITIES = ranked({"q": [0.4, 0.1, 0, 0.4]})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(stop=identity)", 0.4 + 0.6 * 0.1 / 2 + 0.6 * 0.9 * 0.4 / 4),
        ("ERR(stop=identity)", 0.4840),
        ("PFound(stop=identity)", 0.4 + 0.51 * 0.1 + 0.331627 * 0.4),
        ("PFound(stop=identity)@2", 0.451),
        ("PFound(p_break=0, stop=identity)", 1 - 0.6 * 0.9 * 0.6),
        ("PFound(p_break=1, stop=identity)", 0.4),
    ],
)
def test_cascade_of_probabilities(metric: str, expected: float) -> None:
    assert value(metric, PROBABILITIES) == pytest.approx(expected, abs=5e-7)


def test_cascade_of_the_survey_on_habr() -> None:
    assert values(["ERR", "PFound"], PROBABILITIES, compat="habr") == pytest.approx([0.4840, 0.583651], abs=5e-7)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(max_grade=3)", 7 / 8 + (1 / 8) * (3 / 8) / 2 + (1 / 8) * (5 / 8) * (1 / 8) / 4),
        ("ERR(max_grade=3)", 0.90088),
        ("ERR", 0.49738),
        ("ERR(max_grade=4)@1", 7 / 16),
        ("PFound(stop=yandex)", 0.41 + 0.85 * 0.59 * 0.14 + 0.85**3 * 0.59 * 0.86 * 0.07),
    ],
)
def test_cascade_of_grades(metric: str, expected: float) -> None:
    assert value(metric, ranked({"q": [3, 2, 0, 1]})) == pytest.approx(expected, abs=5e-6)


def test_cascade_of_binary_relevance() -> None:
    binary = ranked({"q": [0, 1, 1]})
    assert value("ERR(stop=identity)", binary) == value("RR", binary) == 0.5
    assert value("ERR(max_grade=1)", binary) == pytest.approx(0.5 / 2 + 0.5 * 0.5 / 3)


def test_a_stop_probability_above_1_is_refused() -> None:
    with pytest.raises(sqlrank.InputError, match="a relevance of 3 gives a stop probability above 1"):
        value("ERR(stop=identity)", ranked({"q": [3, 0]}))
    with pytest.raises(sqlrank.InputError, match="a relevance of 5 gives a stop probability above 1"):
        value("PFound", ranked({"q": [5, 0]}))


TOY_A = Collection(
    {"q1": {"u": 5, "a": 4, "b": 3, "c": 2}, "q2": {"x": 2, "z": 1}},
    {"q1": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 1}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1, "n": 2}},
).tables
TOY_A_BY_TREC = {"map": 0.25, "ndcg": 0.44746, "P_5": 0.4, "recall_5": 0.5, "recip_rank": 0.5, "bpref": 0.25, "infAP": 0.25, "Rprec": 0.5}
TOY_A_BY_TREC |= {"11pt_avg": 0.27273, "binG": 0.28273, "G": 0.27581, "Rndcg": 0.2972, "ndcg_rel": 0.44663}


def test_toy_a_of_trec_eval() -> None:
    first, second = sqlrank.evaluate(list(TOY_A_BY_TREC), **TOY_A, compat="trec9", per_query=True).to_pylist()
    assert [first.pop("query_id"), second.pop("query_id")] == ["q1", "q2"]
    assert list(first.values()) == pytest.approx(list(TOY_A_BY_TREC.values()), abs=5e-5)
    assert set(second.values()) == {0.0}


def test_toy_a_of_ranx() -> None:
    given = {"run": TOY_A["run"].append_column("rank", pa.array([1, 2, 3, 4, 1, 2])), "qrels": TOY_A["qrels"]}
    assert per_query("AP@2", given, compat="ranx", queries="truth")["q1"] == pytest.approx(0.125)
    metrics = ["nDCG(gain=exp2)@5", "F@5", "RBP(p=0.8)"]
    (row, *_) = sqlrank.evaluate(metrics, **given, compat="ranx", queries="truth", per_query=True).to_pylist()
    assert list(row.values())[1:] == pytest.approx([0.49343, 0.44444, 0.5824], abs=5e-6)
    with pytest.raises(sqlrank.InputError, match="queries judged, but not answered, and queries='strict': 'q3'"):
        value("AP@2", given, compat="ranx")


def test_toy_a_of_ir_measures() -> None:
    assert values(["AP", "nDCG@5", "Judged@5"], TOY_A, compat="ir_measures") == pytest.approx([0.08333, 0.14915, 0.41667], abs=5e-6)
    assert per_query("Judged@5", TOY_A, compat="ir_measures") == pytest.approx({"q1": 0.75, "q2": 0.5, "q3": 0})
    assert per_query("nDCG@5", TOY_A, compat="ir_measures", unjudged="drop")["q1"] == pytest.approx(0.67404, abs=5e-6)


def predictions(labels: list[float], scores: list[float] | None = None) -> dict[str, pa.Table]:
    size = len(labels)
    columns = {"query_id": ["q"] * size, "doc_id": [f"d{i}" for i in range(size)], "score": scores or [1 / (i + 1) for i in range(size)]}
    return {"predictions": pa.table(columns | {"rank": list(range(1, size + 1)), "label": labels})}


def test_toy_b_of_catboost() -> None:
    metrics = ["PFound", "ERR", "RR", "nDCG", "nDCG@2", "nDCG(discount=inverse)", "AP", "AP@2", "P@2"]
    expected = [0.85, 0.5, 0.5, 0.65092, 0.38685, 0.5, 0.5, 0.25, 0.5]
    assert values(metrics, predictions([0, 1, 0, 1], [3, 3, 2, 1]), compat="catboost") == pytest.approx(expected, abs=5e-6)


def test_no_relevant_documents_of_catboost() -> None:
    metrics = ["nDCG", "nDCG@2", "R@2", "PFound", "ERR", "RR", "AP", "P@2"]
    assert values(metrics, predictions([0, 0, 0]), compat="catboost") == [1, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("compat", ["lightgbm", "xgboost"])
def test_toy_c_of_gradient_boosting(compat: str) -> None:
    graded, binary = predictions([0, 3, 0, 1, 2, 1]), predictions([0, 1, 0, 1, 1, 1])
    expected = [0.4934292, 0.4474626, 0.4966393]
    assert values(["nDCG@4", "nDCG(gain=linear)@4", "nDCG@2"], graded, compat=compat) == pytest.approx(expected, abs=5e-8)
    assert values(["AP@2", "AP@4", "AP"], binary, compat=compat) == pytest.approx([0.25, 0.25, 0.56667], abs=5e-6)
    assert values(["nDCG@2", "AP@2"], predictions([0, 0]), compat=compat) == [1, 1]
    assert value("nDCG@1", predictions([0, 1, 0], [1, 1, 1]), compat=compat) == 0
    assert value("nDCG@1", predictions([1, 0, 0], [1, 1, 1]), compat=compat) == 1


def test_precision_of_xgboost() -> None:
    assert value("P@10", predictions([0, 1, 0, 1, 1, 1]), compat="xgboost") == pytest.approx(4 / 6)


def test_toy_e_of_rectools() -> None:
    hit = ranked({"q": [0, 1, 0]})
    metrics = ["AP@3", "AP(denominator=k)@3", "nDCG@3", "nDCG(ideal=judged)@3"]
    assert values(metrics, hit, compat="rectools") == pytest.approx([0.5, 0.16667, 0.29608, 0.63093], abs=5e-6)


def test_toy_f_of_scikit_learn() -> None:
    tied = predictions([1, 0, 0], [0.5, 0.5, 0.5])
    assert values(["nDCG", "nDCG@1"], tied, compat="sklearn") == pytest.approx([(1 + 1 / log2(3) + 0.5) / 3, 1 / 3])
    assert value("nDCG", tied, compat="sklearn") == pytest.approx(0.7103, abs=5e-5)
    assert value("nDCG", tied, compat="sklearn", ties="doc_desc") == pytest.approx(0.5)


def test_toy_f_of_single_precision() -> None:
    near = Collection({"q": {"a": 1.000000001, "b": 1.0}}, {"q": {"a": 1}}).tables
    assert value("recip_rank", near, compat="trec9") == 0.5
    assert value("recip_rank", near, compat="trec10") == 1.0


def test_toy_f_of_ir_measures() -> None:
    tied = Collection({"q": dict.fromkeys("abcd", 1.0)}, {"q": {"a": 1}}).tables
    assert values(["RR", "RR@10"], tied, compat="ir_measures") == [0.25, 1.0]


def test_average_precision_of_other_tools() -> None:
    assert value("AP@5", FOUR_RELEVANT, compat="torchmetrics") == pytest.approx(1.6 / 3)
    assert value("AP@5", FOUR_RELEVANT, compat="hivemall") == pytest.approx(1.6 / 3)
    for compat in ("mllib", "recommenders", "replay", "evalframeworks", "lightgbm"):
        assert value("AP@2", FOUR_RELEVANT, compat=compat) == pytest.approx(0.5 / 2)


def test_ideal_lists() -> None:
    sources = ranked({"q": [1, 0]}, {"q": [3, 2, 1]})
    expected = {
        "judged": 1 / (3 + 2 / log2(3) + 1 / 2),
        "retrieved": 1,
        "judged_nret": 1 / (3 + 2 / log2(3)),
        "all_ones": 1 / (1 + 1 / log2(3) + 0.5),
    }
    for ideal, ndcg in expected.items():
        assert value(f"nDCG(ideal={ideal})@3", sources) == pytest.approx(ndcg)


def test_ideal_of_the_retrieved_is_within_the_depth() -> None:
    sources = ranked({"q": [1, 0, 3]})
    for ties in ("doc_desc", "worst", "best", "expected"):
        assert value("nDCG(ideal=retrieved)", sources, depth=2, ties=ties) == pytest.approx(1.0)


def test_gains_that_are_given() -> None:
    graded = ranked({"q": [1, 3, 2, 4]})
    assert value("DCG(gain={1: 3.5, 2: 9, 4: 7})", graded) == pytest.approx(3.5 + 3 / log2(3) + 9 / 2 + 7 / log2(5))
    assert value("CG(gain={1: 0})", graded) == 9


def test_an_ideal_list_leaves_out_what_costs() -> None:
    """The best list of trec_eval goes down to the last gain above 0."""
    costly = ranked({"q": [1, 2]})
    assert value("nDCG(gain={1: -1})", costly) == pytest.approx((-1 + 2 / log2(3)) / 2)
    assert value("nDCG(gain={1: -1})", ranked({"q": [1]}), no_relevant="skip") is None


def test_unjudged_documents() -> None:
    sources = ranked({"q": [None, 1, -1, 0, 2]}, {"q": [-1]})
    metrics = ["num_ret", "num_unjudged", "num_nonrel_judged_ret", "num_rel", "num_rel_ret", "P@2", "Judged@2", "Unj@3", "Judged@5"]
    assert values(metrics, sources) == pytest.approx([5, 2, 1, 2, 2, 0.5, 0.5, 2 / 3, 3 / 5])
    assert values(metrics, sources, unjudged="drop") == pytest.approx([3, 0, 1, 2, 2, 0.5, 1, 0, 1])


def test_inferred_average_precision() -> None:
    """At rank 5 stand 1 relevant, 1 other and 1 pooled document above; one is not in the pool."""
    sources = ranked({"q": [None, 1, -1, 0, 2]})
    at_2 = 1 / 2
    at_5 = 1 / 5 + 4 / 5 * 3 / 4 * (1 + 1e-5) / (2 + 2e-5)
    assert value("infAP", sources) == pytest.approx((at_2 + at_5) / 2)


def test_preference_without_nonrelevant_documents() -> None:
    assert value("bpref", ranked({"q": [None, 1]}, {"q": [1]})) == pytest.approx(0.5)


def test_residual() -> None:
    sources = ranked({"some": [1, None, 0], "none": [1, 0]})
    assert per_query("RBPresid", sources) == pytest.approx({"some": 0.2 * 0.8 + 0.8**3, "none": 0})


def test_depth() -> None:
    sources = ranked({"q": [0, 1, 1, 1]})
    metrics = ["num_ret", "P@4", "AP", "R", "SetP", "Judged@4", "nDCG"]
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert values(metrics, sources, depth=2) == pytest.approx([2, 1 / 4, 1 / 2 / 3, 1 / 3, 1 / 2, 1, 1 / log2(3) / ideal])


@pytest.mark.xfail(reason="unjudged='drop' leaves documents out before depth counts them; trec_eval cuts the list first", strict=True)
def test_depth_counts_documents_before_trec_eval_drops_the_unjudged() -> None:
    """``-M 2 -J``: form_res_rels.c cuts the list, then throws out what was not judged."""
    sources = ranked({"q": [None, 0, 1]})
    assert values(["recip_rank", "num_rel_ret"], sources, compat="trec10", depth=2, unjudged="drop") == [0, 0]


TWO = ranked({"half": [0, 1], "none": [0, 0], "whole": [1, 0], "third": [0, 0, 1]})
WEIGHTS = pa.table({"query_id": ["half", "none", "whole", "third"], "weight": [2.0, 5.0, 1.0, 0.0], "country": ["de", "fr", "de", "fr"]})


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ({}, (1 / 2 + 0 + 1 + 1 / 3) / 4),
        ({"aggregate": "mean"}, (1 / 2 + 0 + 1 + 1 / 3) / 4),
        ({"aggregate": "sum"}, 1 / 2 + 1 + 1 / 3),
        ({"aggregate": "min"}, 0),
        ({"aggregate": "max"}, 1),
        ({"aggregate": "gmean"}, (1e-5 / 2 / 3) ** 0.25),
        ({"aggregate": "gmean", "floor": 0.1}, (0.1 / 2 / 3) ** 0.25),
        ({"aggregate": "quantile"}, (1 / 3 + 1 / 2) / 2),
        ({"aggregate": "quantile", "q": 0.75}, 1 / 2 + 0.25 * (1 - 1 / 2)),
        ({"aggregate": "quantile", "q": 1}, 1),
    ],
)
def test_aggregates(aggregate: dict[str, Any], expected: float) -> None:
    assert value("RR", TWO, **aggregate) == pytest.approx(expected)


def test_weighted_mean() -> None:
    assert value("RR", TWO, queries=WEIGHTS) == pytest.approx((2 / 2 + 1) / 8)
    assert value("RR", TWO, queries=WEIGHTS, no_relevant="skip") == pytest.approx((2 / 2 + 1) / 3)
    assert value("RR(aggregate=mean)", TWO, queries=WEIGHTS) == pytest.approx((1 / 2 + 1 + 1 / 3) / 4)
    assert value("num_rel", TWO, queries=WEIGHTS) == 3
    with pytest.raises(sqlrank.MetricError, match="aggregate='wmean' needs a queries table with a weight column"):
        value("RR", TWO, aggregate="wmean")


@pytest.mark.parametrize(
    ("no_relevant", "expected"),
    [("zero", (1 / 2 + 1 + 1 / 3) / 4), ("one", (1 / 2 + 1 + 1 + 1 / 3) / 4), ("skip", (1 / 2 + 1 + 1 / 3) / 3), ("null", None)],
)
def test_no_relevant(no_relevant: str, expected: float | None) -> None:
    assert value("RR", TWO, no_relevant=no_relevant) == (None if expected is None else pytest.approx(expected))
    assert value(f"RR(no_relevant={no_relevant})", TWO) == (None if expected is None else pytest.approx(expected))
    filled = {"zero": 0.0, "one": 1.0}.get(no_relevant)
    assert per_query("RR", TWO, no_relevant=no_relevant)["none"] == filled
    assert value("num_q", TWO, no_relevant=no_relevant) == 4


@pytest.mark.parametrize(("queries", "expected"), [("truth", 3), ("intersect", 2), ("run", 3)])
def test_which_queries_count(queries: str, expected: int) -> None:
    sources = ranked({"both": [1], "also": [0], "unjudged": [None]}, {"unanswered": [1]})
    assert values(["num_q", "RR"], sources, queries=queries) == pytest.approx([expected, 1 / expected])


def test_strict_queries() -> None:
    with pytest.raises(sqlrank.InputError, match=r"judged, but not answered(.|\n)*answered, but not judged"):
        value("RR", ranked({"both": [1], "unjudged": [None]}, {"unanswered": [1]}), queries="strict")


def test_counts() -> None:
    sources = ranked({"a": [1, None, 0], "b": [0, None], "c": [None]}, {"a": [2, 1], "d": [1]})
    expected = {"num_q": 3, "num_ret": 5, "num_rel": 4, "num_rel_ret": 1, "num_unjudged": 2, "num_nonrel_judged_ret": 2}
    expected |= {"num_no_rel": 1, "num_unanswered": 1, "num_rel(rel=2)": 1, "num_no_rel(rel=2)": 2, "num_rel(aggregate=mean)": 4 / 3}
    assert values(list(expected), sources) == pytest.approx(list(expected.values()))
    assert values(["num_q", "num_ret", "num_unjudged", "num_no_rel"], sources, queries="run") == [3, 6, 3, 2]


def test_documents_tied_at_the_cutoff() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0, "e": 1.0, "f": 1.0}, "p": {"a": 1.0, "b": 1.0}}
    sources = Collection(run, {"q": {"a": 1}, "p": {"a": 1}}).tables
    assert values([f"num_tied@{k}" for k in range(1, 8)], sources) == [0 + 2, 3 + 0, 3, 0, 2, 0, 0]


def test_a_given_rank_leaves_no_ties() -> None:
    sources = ranked({"q": [1, 0, 1]})
    sources["run"] = sources["run"].drop_columns("score")
    assert value("num_tied@2", sources, ties="rank") == 0


def test_sweep() -> None:
    result = sqlrank.evaluate(["P@1..5", "R@1..5"], **FOUR_RELEVANT)
    assert result.column_names == ["k", "P@1..5", "R@1..5"]
    assert result["k"].to_pylist() == [1, 2, 3, 4, 5]
    assert result["P@1..5"].to_pylist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4, 3 / 5])
    assert result["R@1..5"].to_pylist() == pytest.approx([0, 1 / 4, 1 / 4, 2 / 4, 3 / 4])


def test_sweep_per_query() -> None:
    result = sqlrank.evaluate("nDCG@1..3", **TWO, per_query=True)
    assert result.column_names == ["query_id", "k", "nDCG@1..3"]
    by_query = {(row["query_id"], row["k"]): row["nDCG@1..3"] for row in result.to_pylist()}
    assert list(by_query) == sorted(by_query)
    assert [by_query["half", k] for k in (1, 2, 3)] == pytest.approx([0, 1 / log2(3), 1 / log2(3)])
    assert [by_query["third", k] for k in (1, 2, 3)] == pytest.approx([0, 0, 1 / 2])


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        (["P@1..3", "R@1..5"], "ask for metrics of one range in a call of their own"),
        (["P@1..3", "AP"], "ask for metrics of one range in a call of their own"),
        (["P"], "P needs a cut-off"),
        (["SetP@3"], "SetP takes no cut-off"),
        (["P@0"], "it must be an integer from 1"),
        (["IPrec@1.5"], "it must be a number from 0 to 1"),
        (["nDCGG@3"], "did you mean 'nDCG'"),
        (["P(depths=3)@3"], "P has no parameter 'depths'"),
        (["P(denominator=half)@3"], "half"),
        (["P(form=all_positions)@5"], "P has no parameter 'form'"),
        ([], "no metric was asked for"),
    ],
)
def test_metrics_that_are_refused(metrics: list[str], reason: str) -> None:
    with pytest.raises(sqlrank.MetricError, match=reason):
        sqlrank.evaluate(metrics, **FOUR_RELEVANT)


@pytest.mark.parametrize("metric", ["P@5", "RR", "R@5", "F@5", "Rprec", "IPrec@0.5", "Success@5"])
def test_the_form_of_average_precision_is_none_of_the_others(metric: str) -> None:
    assert values(["AP@5", metric], FOUR_RELEVANT, form="all_positions")[1] == value(metric, FOUR_RELEVANT)


def system(name: str, sources: dict[str, pa.Table], *, judged: bool = False) -> dict[str, pa.Table]:
    return {
        role: table.append_column("system", pa.array([name] * table.num_rows)) if role == "run" or judged else table
        for role, table in sources.items()
    }


def both(first: dict[str, pa.Table], second: dict[str, pa.Table], *, judged: bool = False) -> dict[str, pa.Table]:
    joined = {role: pa.concat_tables([first[role], second[role]]) for role in first}
    return joined if judged else joined | {"qrels": first["qrels"]}


def test_by_a_column_of_the_run() -> None:
    """The worse system leaves query q2 unanswered, which counts 0 for it alone."""
    qrels = Collection({}, {"q1": {"a": 1}, "q2": {"b": 1}}).tables["qrels"]
    rows = [("good", "q1", "a", 2.0), ("good", "q2", "c", 2.0), ("good", "q2", "b", 1.0), ("bad", "q1", "c", 2.0), ("bad", "q1", "a", 1.0)]
    run = pa.Table.from_pylist([dict(zip(("system", "query_id", "doc_id", "score"), row, strict=True)) for row in rows])
    metrics = ["RR", "num_q", "num_unanswered"]
    result = sqlrank.evaluate(metrics, run=run, qrels=qrels, by="system")
    assert result.column_names == ["system", *metrics]
    assert [list(row.values()) for row in result.to_pylist()] == [["bad", 0.25, 2, 1], ["good", 0.75, 2, 0]]
    each = sqlrank.evaluate("RR", run=run, qrels=qrels, by="system", per_query=True)
    assert [tuple(row.values()) for row in each.to_pylist()] == [
        ("bad", "q1", 0.5),
        ("bad", "q2", 0.0),
        ("good", "q1", 1.0),
        ("good", "q2", 0.5),
    ]
    grouped = sqlrank.evaluate(metrics, run=run, qrels=qrels, by=[["system"], []])
    assert [list(row.values()) for row in grouped.to_pylist()] == [[None, 0.5, 4, 1], ["bad", 0.25, 2, 1], ["good", 0.75, 2, 0]]


def test_by_a_column_of_run_and_judgments() -> None:
    """The same query and document ids on two days are different queries and documents."""
    monday, tuesday = ranked({"q": [1, 0]}), ranked({"q": [0, 1], "r": [1]}, {"r": [1]})
    sources = both(system("monday", monday, judged=True), system("tuesday", tuesday, judged=True), judged=True)
    result = sqlrank.evaluate(["RR", "R", "num_q", "num_rel"], **sources, by=["system"])
    assert [list(row.values()) for row in result.to_pylist()] == [["monday", 1, 1, 1, 1], ["tuesday", 0.75, 0.75, 2, 3]]


def test_by_an_attribute_of_the_queries() -> None:
    result = sqlrank.evaluate(["RR", "RR(aggregate=mean)", "num_q"], **TWO, queries=WEIGHTS, by="country")
    assert [list(row.values()) for row in result.to_pylist()] == [
        ["de", pytest.approx((2 / 2 + 1) / 3), 0.75, 2],
        ["fr", 0.0, pytest.approx(1 / 6), 2],
    ]
    total = sqlrank.evaluate("num_q", **TWO, queries=WEIGHTS, by=[["country"], []])
    assert [list(row.values()) for row in total.to_pylist()] == [[None, 4], ["de", 2], ["fr", 2]]


def test_by_system_and_attribute() -> None:
    sources = both(system("a", TWO), system("b", TWO))
    result = sqlrank.evaluate("num_q", **sources, queries=WEIGHTS, by=[["system", "country"], ["system"], []])
    rows = [tuple(row.values()) for row in result.to_pylist()]
    assert set(rows) == {("a", "de", 2), ("a", "fr", 2), ("b", "de", 2), ("b", "fr", 2), ("a", None, 4), ("b", None, 4), (None, None, 8)}
    assert len(rows) == 7


@pytest.mark.parametrize(("by", "reason"), [("sytem", "no input has a column 'sytem'"), ("relevance", "'relevance' is in qrels only")])
def test_columns_to_group_by_that_are_refused(by: str, reason: str) -> None:
    with pytest.raises(sqlrank.InputError, match=reason):
        sqlrank.evaluate("RR", **system("a", TWO), by=by)


def test_policies_of_single_metrics() -> None:
    sources = Collection({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}).tables
    metrics = ["RR", "RR(ties=doc_asc)", "RR(ties=best)", "RR(ties=worst)", "P@1", "P(ties=expected)@1"]
    assert values(metrics, sources) == [0.5, 1, 1, 0.5, 0, 0.5]


def test_integer_ids_are_ordered_as_numbers() -> None:
    run = pa.table({"query_id": [1, 1], "doc_id": [9, 10], "score": [0.5, 0.5]})
    qrels = pa.table({"query_id": [1], "doc_id": [10], "relevance": [1]})
    assert values(["RR", "RR(ties=doc_asc)"], {"run": run, "qrels": qrels}) == [1.0, 0.5]
