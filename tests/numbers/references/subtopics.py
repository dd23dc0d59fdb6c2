"""Metrics of subtopics in plain Python, from the papers: each goes down one list, and counts the
documents of its subtopics.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

Judgments = dict[str, dict[str, float]]
"""Document to subtopic to grade."""


@dataclass(frozen=True)
class Collection:
    """Documents with their scores, and judgments, by query."""

    run: dict[str, dict[str, float]]
    qrels: dict[str, Judgments]

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The run and the judgments as tables."""
        run = [
            (query, doc, score) for query, docs in self.run.items() for doc, score in docs.items()
        ]
        judged = [
            (query, doc, subtopic, grade)
            for query, docs in self.qrels.items()
            for doc, grades in docs.items()
            for subtopic, grade in grades.items()
        ]
        return {
            "run": pa.table(
                dict(
                    zip(
                        ("query_id", "doc_id", "score"),
                        map(list, zip(*run, strict=True)),
                        strict=True,
                    )
                )
            ),
            "qrels": pa.table(
                dict(
                    zip(
                        ("query_id", "doc_id", "subtopic", "relevance"),
                        map(list, zip(*judged, strict=True)),
                        strict=True,
                    )
                )
            ),
        }


def draw_collection(seed: int, queries: int = 40) -> Collection:
    """Draw queries with ties, unjudged documents, subtopics without relevant documents, and queries
    without any or without results.
    """
    rng = random.Random(seed)  # noqa: S311
    collection = Collection({}, {})
    for number in range(queries):
        query, docs = f"q{number:02}", [f"d{i:02}" for i in rng.sample(range(40), 14)]
        subtopics, grades = (
            [f"s{i}" for i in range(rng.randint(1, 5))],
            rng.choice([(0, 1), (0, 0, 1, 2), (-1, 0, 1), (0,), (1,)]),
        )
        judged = {
            doc: {name: float(rng.choice(grades)) for name in subtopics if rng.random() < 0.8}
            for doc in docs[: rng.randint(1, 14)]
        }
        collection.qrels[query] = {doc: found for doc, found in judged.items() if found} or {
            docs[0]: {"s0": 1.0}
        }
        if retrieved := rng.sample(docs, rng.randint(0, 14)):
            collection.run[query] = {doc: float(rng.randint(0, 6)) for doc in retrieved}
    return collection


@dataclass(frozen=True)
class Answer:
    """The subtopics that each document of a list is relevant for, in order, and those of every
    relevant document.
    """

    ranking: list[frozenset[str]]
    judged: dict[str, frozenset[str]]

    @property
    def subtopics(self) -> frozenset[str]:
        """The subtopics that have a relevant document."""
        return frozenset().union(*self.judged.values())


def make_answer(
    scores: dict[str, float],
    judgments: Judgments,
    ties: str = "doc_desc",
    unjudged: str = "nonrelevant",
    depth: int | None = None,
    rel: float = 1,
) -> Answer:
    """Return a query's list under these policies."""
    docs = sorted(sorted(scores, reverse=ties == "doc_desc"), key=lambda doc: -scores[doc])[:depth]
    if unjudged == "drop":
        docs = [doc for doc in docs if max(judgments.get(doc, {"": -1.0}).values()) >= 0]
    relevant = {
        doc: frozenset(name for name, grade in grades.items() if grade >= rel)
        for doc, grades in judgments.items()
    }
    return Answer(
        [relevant.get(doc, frozenset()) for doc in docs],
        {doc: names for doc, names in relevant.items() if names},
    )


def list_gains(ranking: list[frozenset[str]], alpha: float) -> Iterator[float]:
    """Yield the gain of each document: 1 for each subtopic, times 1 - alpha for each document above
    that has it, too.
    """
    seen: Counter[str] = Counter()
    for names in ranking:
        yield math.fsum((1 - alpha) ** seen[name] for name in names)
        seen.update(names)


def order_greedily(judged: dict[str, frozenset[str]], alpha: float) -> list[frozenset[str]]:
    """Return the ideal list: at each rank the document of the greatest gain, the greatest id of
    those of equal gain.
    """
    left, ordered = dict(judged), list[frozenset[str]]()
    while left:
        best = max(
            left,
            key=lambda doc: (round(list(list_gains([*ordered, left[doc]], alpha))[-1], 9), doc),
        )
        ordered.append(left.pop(best))
    return ordered


def sum_discounted(
    ranking: list[frozenset[str]], alpha: float, discount: Callable[[int], float], k: int | None
) -> float:
    return math.fsum(
        gain * discount(rank)
        for rank, gain in enumerate(list(list_gains(ranking, alpha))[:k], start=1)
    )


def _divide_by_perfect(
    answer: Answer, alpha: float, discount: Callable[[int], float], k: int
) -> float:
    perfect = sum_discounted([answer.subtopics] * k, alpha, discount, k)
    return sum_discounted(answer.ranking, alpha, discount, k) / perfect


def intent_aware_err(answer: Answer, k: int, alpha: float = 0.5) -> float:
    return _divide_by_perfect(answer, alpha, lambda rank: 1 / rank, k)


def alpha_dcg(answer: Answer, k: int, alpha: float = 0.5) -> float:
    return _divide_by_perfect(answer, alpha, lambda rank: 1 / math.log2(rank + 1), k)


def _divide_by_ideal(
    answer: Answer, alpha: float, discount: Callable[[int], float], k: int | None
) -> float:
    ideal = sum_discounted(order_greedily(answer.judged, alpha), alpha, discount, k)
    return sum_discounted(answer.ranking, alpha, discount, k) / ideal


def normalized_intent_aware_err(answer: Answer, k: int | None = None, alpha: float = 0.5) -> float:
    return _divide_by_ideal(answer, alpha, lambda rank: 1 / rank, k)


def alpha_ndcg(answer: Answer, k: int | None = None, alpha: float = 0.5) -> float:
    return _divide_by_ideal(answer, alpha, lambda rank: 1 / math.log2(rank + 1), k)


def normalized_nrbp(
    answer: Answer, k: int | None = None, alpha: float = 0.5, beta: float = 0.5
) -> float:
    return _divide_by_ideal(answer, alpha, lambda rank: beta ** (rank - 1), k)


def nrbp(answer: Answer, k: int | None = None, alpha: float = 0.5, beta: float = 0.5) -> float:
    scale = (1 - (1 - alpha) * beta) / len(answer.subtopics)
    return scale * sum_discounted(answer.ranking, alpha, lambda rank: beta ** (rank - 1), k)


def subtopic_recall(answer: Answer, k: int | None = None) -> float:
    return len(frozenset().union(*answer.ranking[:k])) / len(answer.subtopics)


def intent_aware_precision(answer: Answer, k: int) -> float:
    return sum(map(len, answer.ranking[:k])) / k / len(answer.subtopics)


def intent_aware_ap(answer: Answer, k: int | None = None) -> float:
    total = 0.0
    for name in answer.subtopics:
        ranks = [rank for rank, names in enumerate(answer.ranking[:k], start=1) if name in names]
        relevant = sum(name in names for names in answer.judged.values())
        total += sum(hits / rank for hits, rank in enumerate(ranks, start=1)) / relevant
    return total / len(answer.subtopics)


METRICS: dict[str, Callable[..., float]] = {
    "alpha_DCG": alpha_dcg,
    "alpha_nDCG": alpha_ndcg,
    "AP_IA": intent_aware_ap,
    "ERR_IA": intent_aware_err,
    "nERR_IA": normalized_intent_aware_err,
    "nNRBP": normalized_nrbp,
    "NRBP": nrbp,
    "P_IA": intent_aware_precision,
    "StRecall": subtopic_recall,
}
