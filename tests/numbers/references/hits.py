"""Metrics of rankings in which a document is relevant or not, in plain Python, from the
formulas.
"""

import math
from dataclasses import replace

from tests.numbers.references.answers import (
    Answer,
    Options,
    count_hits,
    count_relevant,
    has_judgment,
    is_nonrelevant,
    is_relevant,
    list_hit_ranks,
    ratio,
)


def choose_denominator(answer: Answer, o: Options, default: str) -> float:
    retrieved, relevant = len(answer.ranking), count_relevant(answer, o)
    k = math.inf if o.k is None else o.k
    capped = {
        "k": k,
        "relevant": relevant,
        "retrieved": min(k, retrieved),
        "min_rk": min(relevant, k),
        "hits": len(list_hit_ranks(answer, o)),
    }
    return capped[o.denominator or default]


def precision(answer: Answer, o: Options) -> float | None:
    if not count_relevant(answer, o):
        return None
    return ratio(count_hits(answer, o, o.k), choose_denominator(answer, o, "k"))


def recall(answer: Answer, o: Options) -> float | None:
    if not count_relevant(answer, o):
        return None
    return ratio(count_hits(answer, o, o.k), choose_denominator(answer, o, "relevant"))


def f_measure(answer: Answer, o: Options) -> float | None:
    """From precision and recall, by the definition of van Rijsbergen."""
    if not count_relevant(answer, o):
        return None
    p, r = count_hits(answer, o, o.k) / o.k, count_hits(answer, o, o.k) / count_relevant(answer, o)
    return ratio((1 + o.beta**2) * p * r, o.beta**2 * p + r)


def success(answer: Answer, o: Options) -> float | None:
    return float(count_hits(answer, o, o.k) > 0) if count_relevant(answer, o) else None


def full_recall(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    return float(count_hits(answer, o, o.k) == relevant) if relevant else None


def average_precision(answer: Answer, o: Options) -> float | None:
    if not count_relevant(answer, o):
        return None
    cutoff = len(answer.ranking) if o.k is None else o.k
    ranks = list_hit_ranks(answer, o) if o.precision_at == "hits" else range(1, cutoff + 1)
    return ratio(
        math.fsum(count_hits(answer, o, rank) / rank for rank in ranks),
        choose_denominator(answer, o, "relevant"),
    )


def average_recall(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    return ratio(
        sum(count_hits(answer, o, i) / relevant for i in range(1, o.k + 1)),
        choose_denominator(answer, o, "k"),
    )


def reciprocal_rank(answer: Answer, o: Options) -> float | None:
    if not count_relevant(answer, o):
        return None
    return max((1 / rank for rank in list_hit_ranks(answer, o)), default=0.0)


def reciprocal_hit_rank(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    value = sum(1 / rank for rank in list_hit_ranks(answer, o))
    best = sum(1 / i for i in range(1, (relevant if o.k is None else min(relevant, o.k)) + 1))
    return value / best if o.normalization == "ideal" else value


def r_precision(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    cutoff = int(o.multiple * relevant + 0.9)
    return ratio(count_hits(answer, o, cutoff), cutoff)


def interpolated_precision(answer: Answer, o: Options) -> float | None:
    """Return the best precision at the ranks that reach a recall, rounded to documents."""
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    needed = int(o.recall * relevant + o.rounding)
    at_ranks = [(count_hits(answer, o, rank), rank) for rank in range(1, len(answer.ranking) + 1)]
    return max((hits / rank for hits, rank in at_ranks if hits >= needed), default=0.0)


def eleven_points(answer: Answer, o: Options) -> float | None:
    values = [interpolated_precision(answer, replace(o, recall=point)) for point in o.points]
    return None if None in values else sum(values) / len(values)


def binary_g(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    return (
        sum(
            1 / math.log2(2 + rank - count_hits(answer, o, rank))
            for rank in list_hit_ranks(answer, o)
        )
        / relevant
    )


def judged_share(answer: Answer, o: Options) -> float | None:
    if not answer.ranking:
        return None
    judged = sum(has_judgment(grade, o) for grade in answer.ranking[: o.k])
    return judged / (o.k if o.denominator == "k" else min(o.k, len(answer.ranking)))


def unjudged_share(answer: Answer, o: Options) -> float | None:
    if not answer.ranking:
        return None
    return sum(not has_judgment(grade, o) for grade in answer.ranking[: o.k]) / o.k


def binary_preference(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    bound = min(relevant, sum(is_nonrelevant(grade, o) for grade in answer.judged))
    total, above = 0.0, 0
    for grade in answer.ranking:
        above += is_nonrelevant(grade, o)
        if is_relevant(grade, o):
            total += 1 - min(above, relevant) / bound if above else 1.0
    return total / relevant


def inferred_ap(answer: Answer, o: Options) -> float | None:
    relevant = count_relevant(answer, o)
    if not relevant:
        return None
    total, rel, nonrel, pooled = 0.0, 0, 0, 0
    for j, grade in enumerate(answer.ranking):
        if is_relevant(grade, o):
            share = (rel + o.smoothing) / (rel + nonrel + 2 * o.smoothing)
            total += (
                1.0 if j == 0 else 1 / (j + 1) + j / (j + 1) * (rel + nonrel + pooled) / j * share
            )
            rel += 1
        elif grade is not None:
            nonrel += grade >= 0
            pooled += grade < 0
    return total / relevant


def set_precision(answer: Answer, o: Options) -> float | None:
    return ratio(count_hits(answer, o), len(answer.ranking)) if count_relevant(answer, o) else None


def set_recall(answer: Answer, o: Options) -> float | None:
    return count_hits(answer, o) / count_relevant(answer, o) if count_relevant(answer, o) else None


def set_relative_precision(answer: Answer, o: Options) -> float | None:
    return (
        ratio(count_hits(answer, o), min(len(answer.ranking), count_relevant(answer, o)))
        if count_relevant(answer, o)
        else None
    )


def set_ap(answer: Answer, o: Options) -> float | None:
    p, r = set_precision(answer, o), set_recall(answer, o)
    return None if p is None or r is None else p * r


def set_f(answer: Answer, o: Options) -> float | None:
    p, r = set_precision(answer, o), set_recall(answer, o)
    return None if p is None or r is None else ratio((1 + o.beta**2) * p * r, o.beta**2 * p + r)


def utility(answer: Answer, o: Options) -> float:
    hits, retrieved, relevant = (
        count_hits(answer, o),
        len(answer.ranking),
        count_relevant(answer, o),
    )
    rest = o.collection - retrieved - relevant + hits
    return (
        o.rel_ret * hits
        + o.nonrel_ret * (retrieved - hits)
        + o.rel_missed * (relevant - hits)
        + o.nonrel_missed * rest
    )


def tied_at(answer: Answer, o: Options) -> float:
    return float(sum(last - first + 1 for first, last in answer.groups if first <= o.k < last))
