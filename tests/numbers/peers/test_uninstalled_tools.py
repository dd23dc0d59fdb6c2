"""Modes of tools that are not installed, on lists small enough to work by hand from the tools'
definitions.

A list is the labels of the documents retrieved, in their order (None: not judged), and those of the
judged documents that were missed. Each expected value is written as the tool's formula has it.
"""

from collections.abc import Sequence
from math import log, log2

import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

HITS = [0, 1, 0, 1, 1, 0]
"""With one relevant document missed, R = 4; the precisions at the hits are 1/2, 2/4 and 3/5."""
MISSED = [1]
HIT_PRECISIONS = 1 / 2 + 2 / 4 + 3 / 5


def evaluate_metric(
    compat: str,
    metric: str,
    labels: Sequence[float | None],
    missed: Sequence[float] = (),
    scores: Sequence[float] | None = None,
) -> float | None:
    """Evaluate one metric on one list."""
    (found,) = evaluate(compat, [metric], [(labels, missed)], scores)
    return found[metric]


def evaluate(
    compat: str,
    metrics: Sequence[str],
    lists: Sequence[tuple[Sequence[float | None], Sequence[float]]],
    scores: Sequence[float] | None = None,
) -> list[dict[str, float | None]]:
    """Evaluate metrics on lists; documents are d00, d01, ... in the order of a list, with falling
    scores unless they are given.
    """
    run, qrels = [], []
    for query, (labels, missed) in enumerate(lists):
        run += [
            (query, f"d{place:02}", float(-place if scores is None else scores[place]), place + 1)
            for place in range(len(labels))
        ]
        qrels += [
            (query, f"d{place:02}", float(label))
            for place, label in enumerate([*labels, *missed])
            if label is not None
        ]
    sources = {
        "run": make_table(("query_id", "doc_id", "score", "rank"), run),
        "qrels": make_table(("query_id", "doc_id", "relevance"), qrels),
    }
    found = sqlrank.evaluate(metrics, compat=compat, per_query=True, **sources)
    return found.drop_columns(["query_id"]).rename_columns(list(metrics)).to_pylist()


def make_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def check(
    compat: str, cases: Sequence[tuple[str, Sequence[float | None], Sequence[float], float]]
) -> None:
    """Compare all cases, (metric, labels, missed, expected), in one call, and name those that are
    wrong.
    """
    metrics = list(dict.fromkeys(metric for metric, *_ in cases))
    keys = list(dict.fromkeys((tuple(labels), tuple(missed)) for _, labels, missed, _ in cases))
    found = dict(zip(keys, evaluate(compat, metrics, keys), strict=True))
    wrong = []
    for metric, labels, missed, expected in cases:
        got = found[tuple(labels), tuple(missed)][metric]
        if got != approximate(expected):
            wrong.append((metric, labels, missed, "sqlrank", got, compat, expected))
    assert not wrong


def approximate(number: float) -> object:
    return pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize("compat", ["mllib", "recommenders"])
def test_mllib_and_recommenders(compat):
    """MAP over R, MAP@k over min(R, k); binary gain and natural logarithms."""
    cases = [
        ("P@5", 3 / 5),
        ("P@10", 3 / 10),
        ("R@3", 1 / 4),
        ("R@10", 3 / 4),
        ("AP", HIT_PRECISIONS / 4),
        ("AP@2", (1 / 2) / 2),
        ("AP@5", HIT_PRECISIONS / 4),
        ("AP@3", (1 / 2) / 3),
        ("nDCG@3", (1 / log(3)) / (1 / log(2) + 1 / log(3) + 1 / log(4))),
        (
            "nDCG@10",
            (1 / log(3) + 1 / log(5) + 1 / log(6))
            / (1 / log(2) + 1 / log(3) + 1 / log(4) + 1 / log(5)),
        ),
        ("DCG@3", 1 / log(3)),
    ]
    check(compat, [(metric, HITS, MISSED, expected) for metric, expected in cases])


def test_mllib_on_three_users():
    """Rankings of ten documents, of which 1-5 are relevant, then 1-3; and a user of whom nothing is
    known to be relevant.
    """
    cases = [
        ("AP", ((1 + 2 / 3 + 3 / 6 + 4 / 9 + 5 / 10) / 5 + (1 / 2 + 2 / 5 + 3 / 7) / 3 + 0) / 3),
        ("AP@1", (1 + 0 + 0) / 3),
        ("AP@2", (1 / 2 + (1 / 2) / 2 + 0) / 3),
        ("AP@3", ((1 + 2 / 3) / 3 + (1 / 2) / 3 + 0) / 3),
        ("P@1", 1 / 3),
        ("P@4", (2 / 4 + 1 / 4 + 0) / 3),
        ("P@15", (5 / 15 + 3 / 15 + 0) / 3),
        ("R@5", (2 / 5 + 2 / 3 + 0) / 3),
        (
            "nDCG@3",
            (
                (1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2)
                + (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2)
                + 0
            )
            / 3,
        ),
    ]
    lists = {
        "a": ([1, 6, 2, 7, 8, 3, 9, 10, 4, 5], 5),
        "b": ([4, 1, 5, 6, 2, 7, 3, 8, 9, 10], 3),
        "c": ([1, 2, 3, 4, 5], 0),
    }
    run = make_table(
        ("query_id", "doc_id", "rank"),
        [
            (user, doc, rank)
            for user, (docs, _) in lists.items()
            for rank, doc in enumerate(docs, 1)
        ],
    )
    judged = [
        (user, doc, int(doc <= relevant))
        for user, (docs, relevant) in lists.items()
        for doc in docs
    ]
    metrics = [metric for metric, _ in cases]
    found = sqlrank.evaluate(
        metrics,
        run=run,
        qrels=make_table(("query_id", "doc_id", "relevance"), judged),
        compat="mllib",
    ).to_pylist()
    assert found == [pytest.approx(dict(cases), abs=1e-12)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("compat", ["mllib", "recommenders", "replay"])
def test_gain_is_binary(compat):
    """Of relevant documents with any grade: 3 at rank 2, 5 missed."""
    assert evaluate_metric(compat, "nDCG@2", [0, 3], [5]) == approximate(
        (1 / log2(3)) / (1 + 1 / log2(3))
    )


def test_replay():
    """Items d00, d01, d02 with equal ratings, so d02 is first; d01 is relevant, and so is one that
    was missed.
    """
    cases = [
        ("AP@1", 0),
        ("AP@2", (1 / 2) / 2),
        ("AP@3", (1 / 2) / 2),
        ("nDCG@3", (1 / log2(3)) / (1 + 1 / log2(3))),
        ("RR@3", 1 / 2),
        ("RR@1", 0),
        ("P@2", 1 / 2),
        ("P@5", 1 / 5),
        ("R@2", 1 / 2),
        ("Success@1", 0),
        ("Success@2", 1),
    ]
    (found,) = evaluate(
        "replay", [metric for metric, _ in cases], [([0, 1, 0], [1])], scores=[1, 1, 1]
    )
    assert found == pytest.approx(dict(cases), abs=1e-12)


@pytest.mark.slow
def test_replay_averages_over_the_users_of_the_truth():
    run = build_table(query_id="a x", doc_id="1 1", score="1.0 1.0")
    qrels = build_table(query_id="a b", doc_id="1 1", relevance="1 1")
    assert sqlrank.evaluate(["AP@3", "P@1"], run=run, qrels=qrels, compat="replay").to_pylist() == [
        {"AP@3": 0.5, "P@1": 0.5}
    ]


def test_torchmetrics():
    """Average precision over the hits in the first k (pyg issue 9989: 1, not 1/2); all judged
    documents are scored.
    """
    cases = [
        ("AP@5", HITS, HIT_PRECISIONS / 3),
        ("AP", HITS, HIT_PRECISIONS / 3),
        ("AP@1", [1, 0, 1], 1),
        ("AP@2", [0, 0, 1], 0),
        ("P@5", HITS, 3 / 5),
        ("P@10", HITS, 3 / 10),
        ("R@3", HITS, 1 / 3),
        ("RR", HITS, 1 / 2),
        ("Success@1", HITS, 0),
        ("Rprec", HITS, 1 / 3),
        ("nDCG", [0, 5, 1], (5 / log2(3) + 1 / 2) / (5 + 1 / log2(3))),
        ("nDCG@1", [1, 5, 0], 1 / 5),
        ("nDCG@2", [0, 0, 5], 0),
        ("nDCG@2", [0, 0, 0], 0),
    ]
    check("torchmetrics", [(metric, labels, (), expected) for metric, labels, expected in cases])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("nDCG", (3 / 2 * (1 + 1 / log2(3)) + 1 / 2) / (3 + 1 / log2(3))),
        ("nDCG@1", (3 / 2) / 3),
        ("P@1", 0),
    ],
)
def test_torchmetrics_ties(metric, expected):
    """Grades 3 and 0 are tied: each rank gets half of 3; for other metrics the order is arbitrary,
    here d01 is first.
    """
    assert evaluate_metric("torchmetrics", metric, [3, 0, 1], scores=[2, 2, 1]) == approximate(
        expected
    )


@pytest.mark.xfail(
    raises=AssertionError,
    strict=True,
    reason="for TorchMetrics a document with a score up to 0 is not retrieved. Leave such rows out",
)
def test_torchmetrics_takes_scores_up_to_0_for_not_retrieved():
    assert evaluate_metric("torchmetrics", "P@2", [0, 1], scores=[1, -1]) == approximate(0)


@pytest.mark.slow
def test_elasticsearch():
    """A document without a rating keeps its place; the ideal list is as long as the hits
    returned.
    """
    cases = [
        ("P@10", [1, None, 1], [1], 2 / 3),
        ("P@2", [1, None, 1], [1], 1 / 2),
        ("R@10", [1, None, 1], [1], 2 / 3),
        ("RR@10", [None, 0, 1], [], 1 / 3),
        ("DCG@10", [3, None, 2], [], 7 + 3 / 2),
        ("nDCG@10", [3, None, 2], [1, 2], (7 + 3 / 2) / (7 + 3 / log2(3) + 3 / 2)),
        (
            "nDCG@6",
            [3, 2, 3, 0, 1, 2],
            [],
            (7 + 3 / log2(3) + 7 / 2 + 1 / log2(6) + 3 / log2(7))
            / (7 + 7 / log2(3) + 3 / 2 + 3 / log2(5) + 1 / log2(6)),
        ),
        (
            "nDCG@6",
            [3, 2, 3, None, 1, None],
            [],
            (7 + 3 / log2(3) + 7 / 2 + 1 / log2(6)) / (7 + 7 / log2(3) + 3 / 2 + 1 / log2(5)),
        ),
        (
            "nDCG@6",
            [3, 2, 3, None],
            [1],
            (7 + 3 / log2(3) + 7 / 2) / (7 + 7 / log2(3) + 3 / 2 + 1 / log2(5)),
        ),
        ("nDCG@2", [None, 0], [3], 0),
        ("ERR(max_grade=3)@10", [3, None, 2], [], 7 / 8 + (1 / 3) * (1 / 8) * (3 / 8)),
        ("ERR(max_grade=3)@2", [3, None, 2], [], 7 / 8),
        (
            "ERR(max_grade=3)@10",
            [3, 2, 0, 1],
            [],
            7 / 8 + (1 / 2) * (1 / 8) * (3 / 8) + (1 / 4) * (1 / 8) * (5 / 8) * (1 / 8),
        ),
    ]
    check("elastic", cases)


def test_hivemall():
    """Precision over min(k, n), average precision over the hits, the ideal list of min(R, n, k)
    documents.
    """
    cases = [
        ("P@5", [0, 1], [1, 1, 1], 1 / 2),
        ("P@1", [0, 1], [1, 1, 1], 0),
        ("R@5", [0, 1], [1, 1, 1], 1 / 4),
        ("AP@5", HITS, MISSED, HIT_PRECISIONS / 3),
        ("AP@2", HITS, MISSED, 1 / 2),
        ("AP@5", [0, 0], [1], 0),
        ("RR@5", HITS, MISSED, 1 / 2),
        ("Success@5", HITS, MISSED, 1),
        ("RHR@5", HITS, MISSED, 1 / 2 + 1 / 4 + 1 / 5),
        ("nDCG@5", [0, 1], [1, 1, 1], (1 / log2(3)) / (1 + 1 / log2(3))),
        ("nDCG@5", [0, 1, 0], [], 1 / log2(3)),
        ("nDCG(gain=exp2)@2", [1, 2, 0], [], (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
    ]
    check("hivemall", cases)


def test_habr():
    """AP over k; 2^r - 1 over k documents of relevance 1; the relevance is the probability of
    stopping.
    """
    cases = [
        ("AP@3", [0, 0, 1], 1 / 9),
        ("AP@3", [1, 0, 0], 1 / 3),
        ("AP@3", [1, 1, 1], 1),
        ("P@3", [1, 0, 1], 2 / 3),
        ("CG@3", [1, 0, 1], 2),
        ("DCG@3", [1, 0, 1], 1 + 1 / 2),
        ("DCG@3", [0.5, 1, 0], (2**0.5 - 1) + 1 / log2(3)),
        ("nDCG@3", [1, 0, 1], (1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2)),
        ("nDCG@3", [1, 0, 0], 1 / (1 + 1 / log2(3) + 1 / 2)),
        ("nDCG@2", [0, 0, 1], 0),
        ("RR", [0, 0, 1], 1 / 3),
        ("ERR", [0.4, 0.1, 0, 0.4], 0.4 + 0.6 * 0.1 / 2 + 0.6 * 0.9 * 0.4 / 4),
        ("PFound", [0.4, 0.1, 0, 0.4], 0.4 + 0.51 * 0.1 + 0.39015 * 0 + 0.3316275 * 0.4),
        ("PFound@2", [0.4, 0.1, 0, 0.4], 0.4 + 0.51 * 0.1),
        ("ERR", [0, 1, 1], 1 / 2),
        ("PFound", [0, 1, 1], 0.85),
    ]
    check("habr", [(metric, labels, (), expected) for metric, labels, expected in cases])


def test_evaluation_frameworks():
    """AP over min(R, k); AR over R; linear gain."""
    cases = [
        ("P@5", HITS, MISSED, 3 / 5),
        ("R@5", HITS, MISSED, 3 / 4),
        ("F@5", HITS, MISSED, 2 * 3 / (5 + 4)),
        ("AP@5", HITS, MISSED, HIT_PRECISIONS / 4),
        ("AP@3", HITS, MISSED, (1 / 2) / 3),
        ("AP(denominator=k)@5", HITS, MISSED, HIT_PRECISIONS / 5),
        ("AP(denominator=hits)@5", HITS, MISSED, HIT_PRECISIONS / 3),
        (
            "AP(precision_at=all_ranks, denominator=relevant)@5",
            HITS,
            MISSED,
            (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 4,
        ),
        (
            "AP(precision_at=all_ranks, denominator=k)@5",
            HITS,
            MISSED,
            (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5) / 5,
        ),
        ("AR@5", HITS, MISSED, (0 + 1 / 4 + 1 / 4 + 2 / 4 + 3 / 4) / 4),
        ("AR(denominator=k)@5", HITS, MISSED, (0 + 1 / 4 + 1 / 4 + 2 / 4 + 3 / 4) / 5),
        ("RHR@5", HITS, MISSED, 1 / 2 + 1 / 4 + 1 / 5),
        (
            "RHR(normalization=ideal)@5",
            HITS,
            MISSED,
            (1 / 2 + 1 / 4 + 1 / 5) / (1 + 1 / 2 + 1 / 3 + 1 / 4),
        ),
        ("RHR(normalization=ideal)@2", HITS, MISSED, (1 / 2) / (1 + 1 / 2)),
        ("RR", HITS, MISSED, 1 / 2),
        ("CG@4", [0, 5, 1, 4, 2], [], 0 + 5 + 1 + 4),
        ("DCG", [0, 5, 1, 4, 2], [], 5 / log2(3) + 1 / 2 + 4 / log2(5) + 2 / log2(6)),
        ("MDCG@2", [0, 5, 1], [], (0 + 5 / log2(3)) / 2),
        (
            "nDCG",
            [0, 5, 1, 4, 2],
            [],
            (5 / log2(3) + 1 / 2 + 4 / log2(5) + 2 / log2(6))
            / (5 + 4 / log2(3) + 2 / 2 + 1 / log2(5)),
        ),
    ]
    check("evalframeworks", cases)


def test_sentence_transformers():
    """InformationRetrievalEvaluator 6.2: AP over min(R, k), binary relevance, the smallest id first
    among equal scores.
    """
    cases = [
        ("accuracy@1", HITS, MISSED, 0),
        ("accuracy@3", HITS, MISSED, 1),
        ("precision@10", HITS, MISSED, 3 / 10),
        ("recall@4", HITS, MISSED, 2 / 4),
        ("mrr@10", HITS, MISSED, 1 / 2),
        ("map@3", HITS, MISSED, (1 / 2) / 3),
        ("map@10", HITS, MISSED, HIT_PRECISIONS / 4),
        ("ndcg@3", [0, 3, 0], [5], (1 / log2(3)) / (1 + 1 / log2(3))),
    ]
    check("sentence_transformers", cases)
    assert evaluate_metric("sentence_transformers", "mrr@2", [1, 0], scores=[1, 1]) == approximate(
        1
    )
    assert evaluate_metric("sentence_transformers", "mrr@2", [0, 0]) is None


@pytest.mark.parametrize(
    ("metric", "printed"), [("DCG", 6.15106), ("nDCG", 0.68693), ("nDCG(gain=exp2)", 0.6529)]
)
def test_evaluation_frameworks_as_printed(metric, printed):
    """METRICS 0.3 and 3.2."""
    assert evaluate_metric("evalframeworks", metric, [0, 5, 1, 4, 2]) == pytest.approx(
        printed, abs=5.1e-5
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "compat",
    [
        "mllib", "recommenders", "rectools", "replay", "torchmetrics", "elastic", "hivemall",
        "habr", "evalframeworks",
    ],
)  # fmt: skip
def test_no_relevant_document_is_0(compat):
    metrics = ["P@2", "R@2", "AP@2", "AP", "RR", "nDCG@2", "DCG@2", "Success@2"]
    found = evaluate(compat, metrics, [([0, None, 0], ()), ([1], ())])
    assert found[0] == dict.fromkeys(metrics, 0)
