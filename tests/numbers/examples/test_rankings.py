"""Metrics of rankings worked by hand, on lists short enough to check with a pencil."""

from functools import cache
from math import fsum, log, log2

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
from tests.tables import build_table, read_columns

WORKED = [
    ("AP@5", (1 / 2 + 2 / 4 + 3 / 5) / 4),
    ("AP(denominator=min_rk)@5", 0.4),
    ("AP(denominator=k)@5", 0.32),
    ("AP(denominator=retrieved)@5", 0.32),
    ("AP(denominator=hits)@5", 1.6 / 3),
    ("AP(precision_at=all_ranks)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 4),
    ("AP(denominator=k, precision_at=all_ranks)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 5),
    ("AP(precision_at=all_ranks)@7", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5 + 3 / 6 + 3 / 7) / 4),
    ("AP(denominator=hits, precision_at=all_ranks)@5", (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 3),
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
    ("RHR(normalization=ideal)@4", (1 / 2 + 1 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4)),
    ("Rprec", 2 / 4),
    ("Rprec(multiple=0.5)", 1 / 2),
    ("Rprec(multiple=2)", 3 / 8),
    ("Success@1", 0),
    ("Success@2", 1),
    ("FullRecall", 0),
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
    (
        "utility(rel_ret=2, nonrel_ret=-1, rel_missed=-5, nonrel_missed=0.5, collection=100)",
        2 * 3 - 3 - 5 + 0.5 * 93,
    ),
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
def evaluate_worked_example() -> dict[str, float]:
    metrics = [metric for metric, _ in WORKED]
    return dict(zip(metrics, evaluate_metrics(metrics, FOUR_RELEVANT), strict=True))


@pytest.mark.parametrize(("metric", "expected"), WORKED)
def test_four_relevant_documents_one_of_them_missed(metric, expected):
    assert evaluate_worked_example()[metric] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("denominator", "expected"),
    [("k", 2 / 5), ("retrieved", 2 / 3), ("min_rk", 2 / 3), ("relevant", 2 / 3), ("hits", 1)],
)
def test_precision_denominators(denominator, expected):
    three = make_lists({"q": [1, 0, 1]}, {"q": [1]})
    assert evaluate_metric(f"P(denominator={denominator})@5", three) == pytest.approx(expected)


def test_cutoff_beyond_the_list():
    three = make_lists({"q": [1, 0, 1]})
    metrics = ["P@10", "R@10", "AP@10", "nDCG@10", "RR@10", "Judged@10", "Unj@10", "F@10", "MDCG@4"]
    dcg = [1, 1, 1.5, 1.5]
    expected = [
        0.2, 1, (1 + 2 / 3) / 2, 1.5 / (1 + 1 / log2(3)), 1, 1, 0, 2 * 2 / (2 + 10),
        sum(dcg) / 4,
    ]  # fmt: skip
    assert evaluate_metrics(metrics, three) == pytest.approx(expected)


@pytest.mark.parametrize(("grade", "expected"), [(1, 1.0), (0, 0.0)])
def test_one_document(grade, expected):
    metrics = [
        "P@1", "R@1", "AP", "nDCG", "RR", "Rprec", "bpref", "infAP", "11pt", "G", "binG",
        "nDCGrel", "Rndcg", "SetF", "RHR", "Success",
    ]  # fmt: skip
    assert evaluate_metrics(metrics, make_lists({"q": [grade]})) == pytest.approx(
        [expected] * len(metrics)
    )


EVERY = [
    "AP", "nDCG", "P@5", "R", "RR", "ERR", "PFound", "RBP", "bpref", "infAP", "G", "binG",
    "Rndcg", "nDCGrel", "SetP", "SetF", "SetAP", "11pt",
]  # fmt: skip


@pytest.mark.slow
def test_nothing_retrieved_counts_0():
    other = make_lists({"answered": [1]}, {"unanswered": [1, 0]})
    assert evaluate_metrics(EVERY, other) == pytest.approx(
        [0.5, 0.5, 0.1, 0.5, 0.5, 1 / 32, 1 / 32, 0.1] + [0.5] * 10
    )
    row = sqlrank.evaluate(EVERY, **other, per_query=True).to_pylist()[1]
    assert row == {"query_id": "unanswered"} | dict.fromkeys(EVERY, 0.0)


@pytest.mark.slow
def test_not_answered_is_not_undefined():
    other = make_lists({"answered": [1]}, {"unanswered": [1, 0]})
    metrics = [
        *EVERY,
        "nDCG(ideal=judged_truncated)",
        "SetRelP",
        "SetF(beta=0)",
        "P(denominator=hits)@5",
        "AP(denominator=hits)",
    ]
    row = sqlrank.evaluate(metrics, **other, per_query=True, if_undefined="skip").to_pylist()[1]
    assert row == {"query_id": "unanswered"} | dict.fromkeys(metrics, 0.0)


@pytest.mark.parametrize(
    "metric",
    [
        "nDCG(ideal=judged_truncated)",
        "P(denominator=hits)@5",
        "AP(denominator=hits)",
        "AP(denominator=hits)@5",
    ],
)
def test_a_list_without_hits_is_not_undefined(metric):
    assert (
        evaluate_metric(metric, make_lists({"q": [0, None]}, {"q": [1]}), if_undefined="one") == 0.0
    )


@pytest.mark.slow
def test_nothing_relevant():
    none = make_lists({"q": [0, None, 0]})
    for policy, expected in {"zero": 0.0, "one": 1.0, "skip": None, "null": None}.items():
        assert evaluate_metrics(EVERY, none, if_undefined=policy) == [expected] * len(EVERY)


@pytest.mark.parametrize(
    "metric",
    [
        "RBP", "RBP(rel=2)", "DCG(gain=binary)", "CG(gain=threshold)", "MDCG(gain=binary)@3",
        "P@3", "nDCG(gain=binary)",
    ],
)  # fmt: skip
def test_nothing_of_the_relevance_level_is_nothing_relevant(metric):
    assert evaluate_metric(metric, make_lists({"q": [1, 0]}), rel=2, if_undefined="skip") is None


TIED = {
    "run": build_table(query_id="q q q q", doc_id="a b c d", score="0.5 0.5 0.5 0.5"),
    "qrels": build_table(query_id="q q", doc_id="b d", relevance="2 1"),
}


@pytest.mark.parametrize(
    ("ties", "ranks"),
    [
        ("doc_desc", {2: 3, 1: 1}),
        ("doc_asc", {2: 2, 1: 4}),
        ("worst", {2: 4, 1: 3}),
        ("best", {2: 1, 1: 2}),
    ],
)
def test_all_tied(ties, ranks):
    first, second = sorted(ranks.values())
    dcg = sum(grade / log2(rank + 1) for grade, rank in ranks.items())
    expected = [
        1 / first,
        (1 / first + 2 / second) / 2,
        dcg,
        dcg / (2 + 1 / log2(3)),
        sum(rank <= 2 for rank in ranks.values()) / 2,
    ]
    assert evaluate_metrics(["RR", "AP", "DCG", "nDCG", "P@2"], TIED, ties=ties) == pytest.approx(
        expected
    )


def test_all_tied_in_expectation():
    discounts = [1, 1 / log2(3), 1 / 2, 1 / log2(5)]
    dcg = (2 + 1) / 4 * sum(discounts)
    metrics = [
        "P@2", "P@4", "R@1", "DCG", "nDCG", "nDCG@1", "CG@2", "RHR@2",
        "RHR(normalization=ideal)@2",
    ]  # fmt: skip
    expected = [0.5, 0.5, 0.25, dcg, dcg / (2 + 1 / log2(3)), 0.75 / 2, 1.5, (1 + 1 / 2) / 2, 0.5]
    assert evaluate_metrics(metrics, TIED, ties="expected") == pytest.approx(expected)


def test_first_hit_of_all_tied_in_expectation():
    """Two of four: the first is at rank 1 in 3 of 6 orders, at 2 in 2, at 3 in 1."""
    metrics = ["RR", "RR@1", "RR@2", "Success@1", "Success@2", "Success@3", "RR(rel=2)"]
    expected = [
        1 / 2 + 1 / 6 + 1 / 18,
        1 / 2,
        1 / 2 + 1 / 6,
        1 / 2,
        5 / 6,
        1,
        (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4,
    ]
    assert evaluate_metrics(metrics, TIED, ties="expected") == pytest.approx(expected)
    assert evaluate_metric("Success@3", TIED, ties="expected") == 1
    assert evaluate_metric("Success@2", TIED, ties="expected", depth=1) == pytest.approx(1 / 2)


@pytest.mark.parametrize("size", [20, 100_000])
def test_first_hit_of_large_tie_groups(size):
    """One of n at a uniform rank: H(n) / n."""
    tied = {
        "run": pa.table({"query_id": ["q"] * size, "doc_id": range(size), "score": [0.5] * size}),
        "qrels": build_table(query_id="q", doc_id="3", relevance="1"),
    }
    expected = [fsum(1 / rank for rank in range(1, size + 1)) / size, 10 / size, 1]
    got = evaluate_metrics(["RR", "Success@10", f"Success@{size}"], tied, ties="expected")
    assert got == pytest.approx(expected, rel=1e-11)
    assert max(got) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rel", "expected"),
    [(1, [3 / 4, 1, 1]), (2, [2 / 4, 1, 1 / 2]), (3, [1 / 4, 1, 1 / 3]), (4, [0, 0, 0])],
)
def test_relevance_level(rel, expected):
    graded = make_lists({"q": [1, 2, 3, 0]})
    assert evaluate_metrics(
        [f"P(rel={rel})@4", f"R(rel={rel})", f"RR(rel={rel})"], graded
    ) == pytest.approx(expected)
    assert evaluate_metrics(["P@4", "R", "RR"], graded, rel=rel) == pytest.approx(expected)
    assert evaluate_metrics(["nDCG", "RR"], graded, rel=rel)[0] == evaluate_metric("nDCG", graded)


def test_relevance_level_0_counts_all_that_was_judged():
    graded = make_lists({"q": [None, 0, 2]})
    assert evaluate_metrics(
        ["P@3", "R", "RR", "num_rel", "SetP", "Success@1"], graded, rel=0
    ) == pytest.approx([2 / 3, 1, 1 / 2, 2, 2 / 3, 0])


PROBABILITIES = make_lists({"q": [0.4, 0.1, 0, 0.4]})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(stop_probability=identity)", 0.4 + 0.6 * 0.1 / 2 + 0.6 * 0.9 * 0.4 / 4),
        ("ERR(stop_probability=identity)", 0.4840),
        ("PFound(stop_probability=identity)", 0.4 + 0.51 * 0.1 + 0.331627 * 0.4),
        ("PFound(stop_probability=identity)@2", 0.451),
        ("PFound(p_break=0, stop_probability=identity)", 1 - 0.6 * 0.9 * 0.6),
        ("PFound(p_break=1, stop_probability=identity)", 0.4),
    ],
)
def test_cascade_of_probabilities(metric, expected):
    assert evaluate_metric(metric, PROBABILITIES) == pytest.approx(expected, abs=5e-7)


def test_cascade_of_the_survey_on_habr():
    assert evaluate_metrics(["ERR", "PFound"], PROBABILITIES, compat="habr") == pytest.approx(
        [0.4840, 0.583651], abs=5e-7
    )


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(max_grade=3)", 7 / 8 + (1 / 8) * (3 / 8) / 2 + (1 / 8) * (5 / 8) * (1 / 8) / 4),
        ("ERR(max_grade=3)", 0.90088),
        ("ERR", 0.49738),
        ("ERR(max_grade=4)@1", 7 / 16),
        (
            "PFound(stop_probability=yandex)",
            0.41 + 0.85 * 0.59 * 0.14 + 0.85**3 * 0.59 * 0.86 * 0.07,
        ),
    ],
)
def test_cascade_of_grades(metric, expected):
    assert evaluate_metric(metric, make_lists({"q": [3, 2, 0, 1]})) == pytest.approx(
        expected, abs=5e-6
    )


def test_cascade_of_binary_relevance():
    binary = make_lists({"q": [0, 1, 1]})
    assert (
        evaluate_metric("ERR(stop_probability=identity)", binary)
        == evaluate_metric("RR", binary)
        == 0.5
    )
    assert evaluate_metric("ERR(max_grade=1)", binary) == pytest.approx(0.5 / 2 + 0.5 * 0.5 / 3)


def test_ideal_lists():
    sources = make_lists({"q": [1, 0]}, {"q": [3, 2, 1]})
    expected = {
        "judged": 1 / (3 + 2 / log2(3) + 1 / 2),
        "retrieved": 1,
        "judged_truncated": 1 / (3 + 2 / log2(3)),
        "binary_k": 1 / (1 + 1 / log2(3) + 0.5),
    }
    for ideal, ndcg in expected.items():
        assert evaluate_metric(f"nDCG(ideal={ideal})@3", sources) == pytest.approx(ndcg)


@pytest.mark.slow
def test_ideal_of_the_retrieved_is_within_the_depth():
    sources = make_lists({"q": [1, 0, 3]})
    for ties in ("doc_desc", "worst", "best", "expected"):
        assert evaluate_metric(
            "nDCG(ideal=retrieved)", sources, depth=2, ties=ties
        ) == pytest.approx(1.0)


def test_gains_that_are_given():
    graded = make_lists({"q": [1, 3, 2, 4]})
    assert evaluate_metric("DCG(gain={1: 3.5, 2: 9, 4: 7})", graded) == pytest.approx(
        3.5 + 3 / log2(3) + 9 / 2 + 7 / log2(5)
    )
    assert evaluate_metric("CG(gain={1: 0})", graded) == 9


def test_an_ideal_list_leaves_out_what_costs():
    """The best list of trec_eval goes down to the last gain above 0."""
    costly = make_lists({"q": [1, 2]})
    assert evaluate_metric("nDCG(gain={1: -1})", costly) == pytest.approx((-1 + 2 / log2(3)) / 2)
    assert (
        evaluate_metric("nDCG(gain={1: -1})", make_lists({"q": [1]}), if_undefined="skip") is None
    )


def test_unjudged_documents():
    sources = make_lists({"q": [None, 1, -1, 0, 2]}, {"q": [-1]})
    metrics = [
        "num_ret", "num_unjudged", "num_nonrel_judged_ret", "num_rel", "num_rel_ret", "P@2",
        "Judged@2", "Unj@3", "Judged@5",
    ]  # fmt: skip
    assert evaluate_metrics(metrics, sources) == pytest.approx(
        [5, 2, 1, 2, 2, 0.5, 0.5, 2 / 3, 3 / 5]
    )
    assert evaluate_metrics(metrics, sources, unjudged="drop") == pytest.approx(
        [3, 0, 1, 2, 2, 0.5, 1, 0, 1]
    )


def test_inferred_average_precision():
    """At rank 5 stand 1 relevant, 1 other and 1 pooled document above; one is not in the pool."""
    sources = make_lists({"q": [None, 1, -1, 0, 2]})
    at_2 = 1 / 2
    at_5 = 1 / 5 + 4 / 5 * 3 / 4 * (1 + 1e-5) / (2 + 2e-5)
    assert evaluate_metric("infAP", sources) == pytest.approx((at_2 + at_5) / 2)


def test_preference_without_nonrelevant_documents():
    assert evaluate_metric("bpref", make_lists({"q": [None, 1]}, {"q": [1]})) == pytest.approx(0.5)


def test_residual():
    sources = make_lists(read_columns(some="1 NULL 0", none="1 0"))
    assert evaluate_queries("RBPresid", sources) == pytest.approx(
        {"some": 0.2 * 0.8 + 0.8**3, "none": 0}
    )


def test_depth():
    sources = make_lists({"q": [0, 1, 1, 1]})
    metrics = ["num_ret", "P@4", "AP", "R", "SetP", "Judged@4", "nDCG"]
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert evaluate_metrics(metrics, sources, depth=2) == pytest.approx(
        [2, 1 / 4, 1 / 2 / 3, 1 / 3, 1 / 2, 1, 1 / log2(3) / ideal]
    )


def test_depth_counts_documents_before_trec_eval_drops_the_unjudged():
    """``-M 2 -J``: form_res_rels.c cuts the list, then throws out what was not judged."""
    sources = make_lists({"q": [None, 0, 1]})
    assert evaluate_metrics(
        ["recip_rank", "num_rel_ret"], sources, compat="trec10", depth=2, unjudged="drop"
    ) == [0, 0]
    assert evaluate_metrics(
        ["recip_rank", "num_rel_ret"], sources, compat="trec10", depth=3, unjudged="drop"
    ) == [1 / 2, 1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("ties", "place"),
    [("doc_desc", 0), ("doc_asc", 1), ("rank", 0), ("row_order", 0), ("error", 0)],
)
def test_the_order_of_ties_says_which_documents_are_read_before_the_unjudged_are_dropped(
    ties, place
):
    """Of u2, u1 (unjudged) and a (relevant) two are read; only the order by the smallest id has a
    among them.
    """
    scores = [0.5, 0.5, 0.5] if ties != "error" else [0.3, 0.2, 0.1]
    run = build_table(query_id="q q q", doc_id="u2 u1 a", score=scores, rank="1 2 3")
    qrels = build_table(query_id="q", doc_id="a", relevance="1")
    result = sqlrank.evaluate(
        ["AP", "num_ret"], run=run, qrels=qrels, depth=2, unjudged="drop", ties=ties
    )
    assert result.to_pylist() == [{"AP": place, "num_ret": place}]


@pytest.mark.parametrize("ties", ["worst", "best", "expected"])
def test_depth_needs_an_order_of_ties_where_the_unjudged_are_dropped(ties):
    sources = make_lists({"q": [None, 0, 1]})
    message = (
        "^depth=2: which documents of equal scores are read would depend on what was judged, so"
        " unjudged='drop' needs another order of ties. "
        r"Give ties='doc_desc', 'doc_asc', 'rank' or 'row_order', or leave depth out$"
    )
    with pytest.raises(sqlrank.MetricError, match=message):
        evaluate_metric("P@1", sources, depth=2, unjudged="drop", ties=ties)
    assert evaluate_metric("P@1", sources, unjudged="drop", ties=ties) == 0
