"""A second implementation of every ranking metric, in plain Python, from the formulas: what the SQL is compared with.

Written from the papers and from what trec_eval documents, not from the SQL: it walks down one list at a time.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Scores = dict[str, dict[str, float]]
LINEAR = ("AR", "CG", "DCG", "F", "MDCG", "P", "R", "RBP", "RHR", "nDCG")
"""Metrics that are sums over documents, which have an expectation over ties in closed form."""


@dataclass(frozen=True)
class Collection:
    """A run and judgments, as the reference and as sqlrank take them."""

    run: Scores
    qrels: Scores

    @property
    def tables(self) -> dict[str, pa.Table]:
        return {"run": table(self.run, "score"), "qrels": table(self.qrels, "relevance")}


def table(nested: Scores, value: str) -> pa.Table:
    """Return query -> document -> number as a table of three columns."""
    rows = [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]
    types = {"query_id": pa.string(), "doc_id": pa.string(), value: pa.float64()}
    return pa.Table.from_pylist([dict(zip(types, row, strict=True)) for row in rows], schema=pa.schema(types))


@dataclass(frozen=True)
class Answer:
    """One query: the relevance at each rank (None: no judgment), that of judged documents not retrieved, and the tie groups."""

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
    discount: str = "log2"
    ideal: str = "judged"
    denominator: str | None = None
    form: str = "hits_only"
    share: str = "none"
    scale: str = "none"
    stop: str = "exp2"
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


def evaluate(
    metric: str,
    run: Scores,
    qrels: Scores,
    *,
    ties: str = "doc_desc",
    queries: str = "truth",
    no_relevant: str = "zero",
    unjudged: str = "nonrelevant",
    depth: int | None = None,
    **options: Any,
) -> dict[str, float | None]:
    """Return the value of a metric for each query; with ``ties="rank"`` the numbers of the run are ranks."""
    asked = sqlrank.parse(metric)
    own = {**options, **dict(asked.params)}
    if asked.cutoff is not None:
        own["recall" if asked.name == "IPrec" else "k"] = asked.cutoff
    known = {field.name for field in fields(Options)}
    parameters = Options(**{name: value for name, value in own.items() if name in known})
    function = METRICS[asked.name]
    undefined = {"zero": 0.0, "one": 1.0, "skip": None, "null": None}[no_relevant]
    values = {}
    for query in sorted(topics(run, qrels, queries)):
        answers = orders(tuple(run.get(query, {}).items()), tuple(qrels.get(query, {}).items()), ties, unjudged, depth)
        found = [function(answer, parameters) for answer in answers]
        value = None if any(item is None for item in found) else math.fsum(found) / len(found)
        values[query] = undefined if value is None else value
    return values


def topics(run: Scores, qrels: Scores, queries: str) -> set[str]:
    """Return the queries that are evaluated."""
    return {"truth": set(qrels), "strict": set(qrels), "run": set(run), "intersect": set(run) & set(qrels)}[queries]


@cache
def orders(
    run: tuple[tuple[str, float], ...], qrels: tuple[tuple[str, float], ...], ties: str, unjudged: str, depth: int | None
) -> tuple[Answer, ...]:
    """Return the query in each order that its ties leave open: one, or all with ``ties="expected"``."""
    scores, grades = dict(run), dict(qrels)
    docs = [doc for doc in scores if unjudged == "nonrelevant" or grades.get(doc, -1) >= 0]
    better_first = (lambda doc: scores[doc]) if ties == "rank" else (lambda doc: -scores[doc])
    groups = [list(group) for _, group in itertools.groupby(sorted(docs, key=better_first), better_first)]
    ends = list(itertools.accumulate(map(len, groups)))
    spans = tuple((end - len(group) + 1, end) for group, end in zip(groups, ends, strict=True))
    answers = []
    for order in _arrangements(groups, grades, ties):
        kept = order[:depth]
        missed = tuple(grade for doc, grade in grades.items() if doc not in kept)
        answers.append(Answer(tuple(grades.get(doc) for doc in kept), missed, spans))
    return tuple(answers)


def _arrangements(groups: list[list[str]], grades: Mapping[str, float], ties: str) -> Iterator[list[str]]:
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


def _is_relevant(grade: float | None, o: Options) -> bool:
    return grade is not None and grade >= o.rel


def _relevant(answer: Answer, o: Options) -> int:
    return sum(_is_relevant(grade, o) for grade in answer.judged)


def _hits(answer: Answer, o: Options, k: int | None = None) -> int:
    return sum(_is_relevant(grade, o) for grade in answer.ranking[:k])


def _hit_ranks(answer: Answer, o: Options) -> list[int]:
    return [rank for rank, grade in enumerate(answer.ranking[: o.k], start=1) if _is_relevant(grade, o)]


def _share(part: float, whole: float) -> float:
    """Divide, taking nothing of nothing as 0."""
    return 0.0 if whole == 0 else part / whole


def _denominator(answer: Answer, o: Options, default: str) -> float:
    retrieved, relevant = len(answer.ranking), _relevant(answer, o)
    k = math.inf if o.k is None else o.k
    capped = {"k": k, "relevant": relevant, "retrieved": min(k, retrieved), "min_rk": min(relevant, k), "hits": len(_hit_ranks(answer, o))}
    return capped[o.denominator or default]


def precision(answer: Answer, o: Options) -> float | None:
    if not _relevant(answer, o):
        return None
    return _share(_hits(answer, o, o.k), _denominator(answer, o, "k"))


def recall(answer: Answer, o: Options) -> float | None:
    if not _relevant(answer, o):
        return None
    return _share(_hits(answer, o, o.k), _denominator(answer, o, "relevant"))


def f_measure(answer: Answer, o: Options) -> float | None:
    """From precision and recall, by the definition of van Rijsbergen."""
    if not _relevant(answer, o):
        return None
    p, r = _hits(answer, o, o.k) / o.k, _hits(answer, o, o.k) / _relevant(answer, o)
    return _share((1 + o.beta**2) * p * r, o.beta**2 * p + r)


def success(answer: Answer, o: Options) -> float | None:
    return float(_hits(answer, o, o.k) > 0) if _relevant(answer, o) else None


def average_precision(answer: Answer, o: Options) -> float | None:
    if not _relevant(answer, o):
        return None
    cutoff = len(answer.ranking) if o.k is None else o.k
    ranks = _hit_ranks(answer, o) if o.form == "hits_only" else range(1, cutoff + 1)
    return _share(math.fsum(_hits(answer, o, rank) / rank for rank in ranks), _denominator(answer, o, "relevant"))


def average_recall(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    return _share(sum(_hits(answer, o, i) / relevant for i in range(1, o.k + 1)), _denominator(answer, o, "k"))


def reciprocal_rank(answer: Answer, o: Options) -> float | None:
    if not _relevant(answer, o):
        return None
    return max((1 / rank for rank in _hit_ranks(answer, o)), default=0.0)


def reciprocal_hit_rank(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    value = sum(1 / rank for rank in _hit_ranks(answer, o))
    best = sum(1 / i for i in range(1, (relevant if o.k is None else min(relevant, o.k)) + 1))
    return value / best if o.share == "ideal" else value


def r_precision(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    cutoff = int(o.multiple * relevant + 0.9)
    return _share(_hits(answer, o, cutoff), cutoff)


def interpolated_precision(answer: Answer, o: Options) -> float | None:
    """The best precision at any rank by which that many relevant documents, rounded, have been found."""
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    needed = int(o.recall * relevant + o.rounding)
    at_ranks = [(_hits(answer, o, rank), rank) for rank in range(1, len(answer.ranking) + 1)]
    return max((hits / rank for hits, rank in at_ranks if hits >= needed), default=0.0)


def eleven_points(answer: Answer, o: Options) -> float | None:
    values = [interpolated_precision(answer, replace(o, recall=point)) for point in o.points]
    return None if None in values else sum(values) / len(values)


def gain(grade: float | None, o: Options, default: str = "linear") -> float:
    if grade is None or grade <= 0:
        return 0.0
    chosen = o.gain or default
    if isinstance(chosen, tuple):
        return dict(chosen).get(grade, grade)
    return {
        "linear": grade,
        "exp2": 2.0**grade - 1,
        "binary": float(grade >= o.rel),
        "threshold": grade if grade >= o.rel else 0.0,
    }[chosen]


def discount(rank: int, o: Options) -> float:
    return {
        "log2": 1 / math.log2(rank + 1),
        "ln": 1 / math.log(rank + 1),
        "inverse": 1 / rank,
        "none": 1.0,
        "zipf": rank**-o.exponent,
        "geometric": o.persistence ** (rank - 1),
    }[o.discount]


def _gained(gains: Sequence[float], o: Options) -> float:
    return math.fsum(value * discount(rank, o) for rank, value in enumerate(gains[: o.k], start=1))


def _gains(answer: Answer, o: Options, default: str = "linear") -> list[float]:
    return [gain(grade, o, default) for grade in answer.ranking]


def _has_gain(answer: Answer, o: Options, default: str = "linear") -> bool:
    return any(gain(grade, o, default) > 0 for grade in answer.judged)


def _ideal_gains(answer: Answer, o: Options) -> list[float]:
    """The gains of the best possible list; documents that would cost are left out of it."""
    if o.ideal == "all_ones":
        return [gain(1, o)] * o.k
    candidates = [grade for grade in answer.ranking if grade is not None] if o.ideal == "retrieved" else answer.judged
    best = sorted((value for grade in candidates if (value := gain(grade, o)) > 0), reverse=True)
    return best[: len(answer.ranking)] if o.ideal == "judged_nret" else best


def cumulative_gain(answer: Answer, o: Options) -> float | None:
    return sum(_gains(answer, o)[: o.k]) if _has_gain(answer, o) else None


def discounted_gain(answer: Answer, o: Options) -> float | None:
    return _gained(_gains(answer, o), o) if _has_gain(answer, o) else None


def normalized_gain(answer: Answer, o: Options) -> float | None:
    if not _has_gain(answer, o) or (o.ideal == "retrieved" and not any(value > 0 for value in _gains(answer, o))):
        return None
    return _share(_gained(_gains(answer, o), o), _gained(_ideal_gains(answer, o), o))


def mean_gain(answer: Answer, o: Options) -> float | None:
    if not _has_gain(answer, o):
        return None
    return math.fsum(_gained(_gains(answer, o), replace(o, k=k)) for k in range(1, o.k + 1)) / o.k


def _ndcg_at(gains: Sequence[float], ideal: Sequence[float], k: int, o: Options) -> float:
    at = replace(o, k=k)
    return _gained(gains, at) / _gained(ideal, at)


def normalized_gain_at_hits(answer: Answer, o: Options) -> float | None:
    """The mean of nDCG@rank over documents of positive gain; one not retrieved counts the nDCG at the end of both lists."""
    gains, ideal = _gains(answer, o), _ideal_gains(answer, o)
    if not ideal:
        return None
    ends = max(len(gains), len(ideal))
    ranks = [rank for rank, value in enumerate(gains, start=1) if value > 0]
    ranks += [ends] * (len(ideal) - len(ranks))
    return math.fsum(_ndcg_at(gains, ideal, rank, o) for rank in ranks) / len(ideal)


def normalized_gain_at_levels(answer: Answer, o: Options) -> float | None:
    """The mean of nDCG@k over the k at which the ideal gain falls, and the end of a list that goes on beyond the last one.

    As trec_eval's, it is not defined either where no document reaches the relevance level.
    """
    gains, ideal = _gains(answer, o), _ideal_gains(answer, o)
    if not ideal or not _relevant(answer, o):
        return None
    points = list(itertools.accumulate(count for _, count in sorted(Counter(ideal).items(), reverse=True)))
    if len(gains) > len(ideal) + 1:
        points.append(len(gains))
    return math.fsum(_ndcg_at(gains, ideal, k, o) for k in points) / len(points)


def g_measure(answer: Answer, o: Options) -> float | None:
    """Each gain over log2 of 2 and the ideal cost (at least 1 a rank) less the gain so far."""
    gains, ideal = _gains(answer, o), _ideal_gains(answer, o)
    if not ideal:
        return None
    total = cost = so_far = 0.0
    for value, best in itertools.zip_longest(gains, ideal[: len(gains)], fillvalue=0.0):
        cost += max(best, 1.0)
        so_far += value
        if value:
            total += value / math.log2(2 + cost - so_far)
    return total / sum(ideal)


def binary_g(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    return sum(1 / math.log2(2 + rank - _hits(answer, o, rank)) for rank in _hit_ranks(answer, o)) / relevant


def stop(grade: float | None, o: Options) -> float:
    if grade is None or grade <= 0:
        return 0.0
    if o.stop == "identity":
        return grade
    if o.stop == "yandex":
        return {0: 0.0, 1: 0.07, 2: 0.14, 3: 0.41}.get(int(grade), 0.61)
    return (2.0**grade - 1) / 2.0**o.max_grade


def _cascade(answer: Answer, o: Options, stay: float, worth: Callable[[int], float]) -> float | None:
    """Walk down the list until the reader has stopped."""
    if not any(grade > 0 for grade in answer.judged):
        return None
    total, reach = 0.0, 1.0
    for rank, grade in enumerate(answer.ranking[: o.k], start=1):
        total += reach * stop(grade, o) * worth(rank)
        reach *= (1 - stop(grade, o)) * stay
    return total


def expected_reciprocal_rank(answer: Answer, o: Options) -> float | None:
    return _cascade(answer, o, 1.0, lambda rank: 1 / rank)


def p_found(answer: Answer, o: Options) -> float | None:
    return _cascade(answer, o, 1 - o.p_break, lambda _: 1.0)


def rank_biased_precision(answer: Answer, o: Options) -> float | None:
    if not _has_gain(answer, o, "binary"):
        return None
    scale = max(answer.judged) if o.scale == "top_grade" else 1
    gains = _gains(answer, o, "binary")[: o.k]
    return (1 - o.p) * sum(value / scale * o.p**i for i, value in enumerate(gains))


def _has_judgment(grade: float | None) -> bool:
    return grade is not None and grade >= 0


def rank_biased_residual(answer: Answer, o: Options) -> float | None:
    """What RBP would gain if all that is not known were relevant: unjudged ranks, and those after the list."""
    if not answer.ranking:
        return None
    unknown = [i for i, grade in enumerate(answer.ranking) if not _has_judgment(grade)]
    return (1 - o.p) * sum(o.p**i for i in unknown) + o.p ** len(answer.ranking) if unknown else 0.0


def judged_share(answer: Answer, o: Options) -> float | None:
    if not answer.ranking:
        return None
    judged = sum(_has_judgment(grade) for grade in answer.ranking[: o.k])
    return judged / (o.k if o.denominator == "k" else min(o.k, len(answer.ranking)))


def unjudged_share(answer: Answer, o: Options) -> float | None:
    if not answer.ranking:
        return None
    return sum(not _has_judgment(grade) for grade in answer.ranking[: o.k]) / o.k


def _is_nonrelevant(grade: float | None, o: Options) -> bool:
    return _has_judgment(grade) and not _is_relevant(grade, o)


def binary_preference(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    bound = min(relevant, sum(_is_nonrelevant(grade, o) for grade in answer.judged))
    total, above = 0.0, 0
    for grade in answer.ranking:
        above += _is_nonrelevant(grade, o)
        if _is_relevant(grade, o):
            total += 1 - min(above, relevant) / bound if above else 1.0
    return total / relevant


def inferred_ap(answer: Answer, o: Options) -> float | None:
    relevant = _relevant(answer, o)
    if not relevant:
        return None
    total, rel, nonrel, pooled = 0.0, 0, 0, 0
    for j, grade in enumerate(answer.ranking):
        if _is_relevant(grade, o):
            share = (rel + o.smoothing) / (rel + nonrel + 2 * o.smoothing)
            total += 1.0 if j == 0 else 1 / (j + 1) + j / (j + 1) * (rel + nonrel + pooled) / j * share
            rel += 1
        elif grade is not None:
            nonrel += grade >= 0
            pooled += grade < 0
    return total / relevant


def set_precision(answer: Answer, o: Options) -> float | None:
    return _share(_hits(answer, o), len(answer.ranking)) if _relevant(answer, o) else None


def set_recall(answer: Answer, o: Options) -> float | None:
    return _hits(answer, o) / _relevant(answer, o) if _relevant(answer, o) else None


def set_relative_precision(answer: Answer, o: Options) -> float | None:
    return _share(_hits(answer, o), min(len(answer.ranking), _relevant(answer, o))) if _relevant(answer, o) else None


def set_ap(answer: Answer, o: Options) -> float | None:
    p, r = set_precision(answer, o), set_recall(answer, o)
    return None if p is None or r is None else p * r


def set_f(answer: Answer, o: Options) -> float | None:
    p, r = set_precision(answer, o), set_recall(answer, o)
    return None if p is None or r is None else _share((1 + o.beta**2) * p * r, o.beta**2 * p + r)


def utility(answer: Answer, o: Options) -> float:
    hits, retrieved, relevant = _hits(answer, o), len(answer.ranking), _relevant(answer, o)
    rest = o.collection - retrieved - relevant + hits
    return o.rel_ret * hits + o.nonrel_ret * (retrieved - hits) + o.rel_missed * (relevant - hits) + o.nonrel_missed * rest


def tied_at(answer: Answer, o: Options) -> float:
    return float(sum(last - first + 1 for first, last in answer.groups if first <= o.k < last))


METRICS: dict[str, Callable[[Answer, Options], float | None]] = {
    "11pt": eleven_points,
    "AP": average_precision,
    "AR": average_recall,
    "binG": binary_g,
    "bpref": binary_preference,
    "CG": cumulative_gain,
    "DCG": discounted_gain,
    "ERR": expected_reciprocal_rank,
    "F": f_measure,
    "G": g_measure,
    "infAP": inferred_ap,
    "IPrec": interpolated_precision,
    "Judged": judged_share,
    "MDCG": mean_gain,
    "nDCG": normalized_gain,
    "nDCGrel": normalized_gain_at_hits,
    "num_no_rel": lambda answer, o: float(not _relevant(answer, o)),
    "num_nonrel_judged_ret": lambda answer, o: float(sum(_is_nonrelevant(grade, o) for grade in answer.ranking)),
    "num_q": lambda _answer, _o: 1.0,
    "num_rel": lambda answer, o: float(_relevant(answer, o)),
    "num_rel_ret": lambda answer, o: float(_hits(answer, o)),
    "num_ret": lambda answer, _: float(len(answer.ranking)),
    "num_tied": tied_at,
    "num_unanswered": lambda answer, _: float(not answer.ranking),
    "num_unjudged": lambda answer, _: float(sum(not _has_judgment(grade) for grade in answer.ranking)),
    "P": precision,
    "PFound": p_found,
    "R": recall,
    "RBP": rank_biased_precision,
    "RBPresid": rank_biased_residual,
    "RHR": reciprocal_hit_rank,
    "Rndcg": normalized_gain_at_levels,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "SetAP": set_ap,
    "SetF": set_f,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetRelP": set_relative_precision,
    "Success": success,
    "Unj": unjudged_share,
    "utility": utility,
}
