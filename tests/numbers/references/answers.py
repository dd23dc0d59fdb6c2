"""Inputs of ranking references: collections, queries in each order that ties allow, and
parameters.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Collection:
    """A run and judgments, as the reference and as sqlrank take them."""

    run: Scores
    qrels: Scores

    @property
    def tables(self) -> dict[str, pa.Table]:
        return {"run": make_table(self.run, "score"), "qrels": make_table(self.qrels, "relevance")}


def make_table(nested: Scores, value: str) -> pa.Table:
    """Return query -> document -> number as a table of three columns."""
    rows = [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]
    types = {"query_id": pa.string(), "doc_id": pa.string(), value: pa.float64()}
    return pa.Table.from_pylist(
        [dict(zip(types, row, strict=True)) for row in rows], schema=pa.schema(types)
    )


@dataclass(frozen=True)
class Answer:
    """One query: the relevance at each rank (None: no judgment), that of judged documents not
    retrieved, and the tie groups.
    """

    ranking: tuple[float | None, ...]
    missed: tuple[float, ...]
    groups: tuple[tuple[int, int], ...]

    @property
    def judged(self) -> list[float]:
        return [grade for grade in self.ranking if grade is not None] + list(self.missed)


@dataclass(frozen=True)
class Options:
    """Every parameter of a metric, with its default."""

    k: int | None = None
    rel: float = 1
    gain: Any = None
    discount: str | tuple[tuple[float, float], ...] = "log2"
    ideal: str = "judged"
    negative_grades: str = "unjudged"
    denominator: str | None = None
    precision_at: str = "hits"
    normalization: str = "none"
    gain_scale: str = "none"
    stop_probability: str = "exp2"
    max_grade: float = 4
    p_break: float = 0.15
    p: float = 0.8
    beta: float = 1
    multiple: float = 1
    points: tuple[float, ...] = tuple(tenth / 10 for tenth in range(11))
    rounding: float = 0.5
    recall: float = 0
    smoothing: float = 1e-5
    exponent: float = 1
    persistence: float = 0.8
    rel_ret: float = 1
    nonrel_ret: float = -1
    rel_missed: float = 0
    nonrel_missed: float = 0
    collection: float = 0


def find_queries(run: Scores, qrels: Scores, queries: str) -> set[str]:
    """Return the queries that are evaluated."""
    return {
        "judged": set(qrels),
        "strict": set(qrels),
        "retrieved": set(run),
        "judged_and_retrieved": set(run) & set(qrels),
    }[queries]


@cache
def list_orders(
    run: tuple[tuple[str, float], ...],
    qrels: tuple[tuple[str, float], ...],
    ties: str,
    unjudged: str,
    depth: int | None,
) -> tuple[Answer, ...]:
    """Return the query in each order that its ties leave open: one, or all with
    ``ties="expected"``.
    """
    scores, grades = dict(run), dict(qrels)
    better_first = (lambda doc: scores[doc]) if ties == "rank" else (lambda doc: -scores[doc])
    docs = sorted(sorted(scores, reverse=ties != "doc_asc"), key=better_first)
    if unjudged == "drop":  # what is read is cut first, as trec_eval -M does before -J
        docs = [doc for doc in docs[:depth] if grades.get(doc, -1) >= 0]
    groups = [
        list(group) for _, group in itertools.groupby(sorted(docs, key=better_first), better_first)
    ]
    ends = list(itertools.accumulate(map(len, groups)))
    spans = tuple((end - len(group) + 1, end) for group, end in zip(groups, ends, strict=True))
    answers = []
    for order in iterate_arrangements(groups, grades, ties):
        kept = order[:depth]
        missed = tuple(grade for doc, grade in grades.items() if doc not in kept)
        answers.append(Answer(tuple(grades.get(doc) for doc in kept), missed, spans))
    return tuple(answers)


def iterate_arrangements(
    groups: list[list[str]], grades: Mapping[str, float], ties: str
) -> Iterator[list[str]]:
    if ties == "expected":
        for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
            yield [doc for group in chosen for doc in group]
        return

    def worst(doc: str) -> tuple[int, float]:
        grade = grades.get(doc)
        return (1, 0.0) if grade is None else (2 if grade > 0 else 0, grade)

    for group in groups:
        group.sort(reverse=ties != "doc_asc")
        if ties in {"worst", "best"}:
            group.sort(key=worst, reverse=ties == "best")
    yield [doc for group in groups for doc in group]


def is_relevant(grade: float | None, o: Options) -> bool:
    return grade is not None and grade >= o.rel


def count_relevant(answer: Answer, o: Options) -> int:
    return sum(is_relevant(grade, o) for grade in answer.judged)


def count_hits(answer: Answer, o: Options, k: int | None = None) -> int:
    return sum(is_relevant(grade, o) for grade in answer.ranking[:k])


def list_hit_ranks(answer: Answer, o: Options) -> list[int]:
    return [
        rank for rank, grade in enumerate(answer.ranking[: o.k], start=1) if is_relevant(grade, o)
    ]


def ratio(part: float, whole: float) -> float:
    """Divide, taking nothing of nothing as 0."""
    return 0.0 if whole == 0 else part / whole


def has_judgment(grade: float | None, o: Options) -> bool:
    return grade is not None and (grade >= 0 or o.negative_grades == "judged")


def is_nonrelevant(grade: float | None, o: Options) -> bool:
    return has_judgment(grade, o) and not is_relevant(grade, o)
