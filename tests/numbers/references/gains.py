"""Ranking metrics by the gain of documents, and user models of stops and continuations, in plain
Python, from the formulas.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.numbers.references.answers import Answer, Options, count_relevant, has_judgment, ratio


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
    if isinstance(o.discount, tuple):
        return float(dict(o.discount).get(rank, 0))
    return {
        "log2": 1 / math.log2(rank + 1),
        "jarvelin": 1.0 if rank < 2 else 1 / math.log2(rank),
        "ln": 1 / math.log(rank + 1),
        "inverse": 1 / rank,
        "none": 1.0,
        "zipf": rank**-o.exponent,
        "geometric": o.persistence ** (rank - 1),
    }[o.discount]


def sum_discounted(gains: Sequence[float], o: Options) -> float:
    return math.fsum(value * discount(rank, o) for rank, value in enumerate(gains[: o.k], start=1))


def list_gains(answer: Answer, o: Options, default: str = "linear") -> list[float]:
    return [gain(grade, o, default) for grade in answer.ranking]


def has_gain(answer: Answer, o: Options, default: str = "linear") -> bool:
    return any(gain(grade, o, default) > 0 for grade in answer.judged)


def list_ideal_gains(answer: Answer, o: Options) -> list[float]:
    """Return the gains of the ideal list, without documents of negative gain."""
    if o.ideal == "binary_k":
        return [gain(1, o)] * o.k
    candidates = (
        [grade for grade in answer.ranking if grade is not None]
        if o.ideal == "retrieved"
        else answer.judged
    )
    best = sorted((value for grade in candidates if (value := gain(grade, o)) > 0), reverse=True)
    return best[: len(answer.ranking)] if o.ideal == "judged_truncated" else best


def cumulative_gain(answer: Answer, o: Options) -> float | None:
    return sum(list_gains(answer, o)[: o.k]) if has_gain(answer, o) else None


def discounted_gain(answer: Answer, o: Options) -> float | None:
    return sum_discounted(list_gains(answer, o), o) if has_gain(answer, o) else None


def normalized_gain(answer: Answer, o: Options) -> float | None:
    if not has_gain(answer, o) or (
        o.ideal == "retrieved" and not any(value > 0 for value in list_gains(answer, o))
    ):
        return None
    return ratio(
        sum_discounted(list_gains(answer, o), o), sum_discounted(list_ideal_gains(answer, o), o)
    )


def mean_gain(answer: Answer, o: Options) -> float | None:
    if not has_gain(answer, o):
        return None
    return (
        math.fsum(sum_discounted(list_gains(answer, o), replace(o, k=k)) for k in range(1, o.k + 1))
        / o.k
    )


def ndcg_at(gains: Sequence[float], ideal: Sequence[float], k: int, o: Options) -> float:
    at = replace(o, k=k)
    return sum_discounted(gains, at) / sum_discounted(ideal, at)


def normalized_gain_at_hits(answer: Answer, o: Options) -> float | None:
    """Return the mean of nDCG@rank over documents of positive gain.

    A document that was not retrieved counts the nDCG at the end of both lists.
    """
    gains, ideal = list_gains(answer, o), list_ideal_gains(answer, o)
    if not ideal:
        return None
    ends = max(len(gains), len(ideal))
    ranks = [rank for rank, value in enumerate(gains, start=1) if value > 0]
    ranks += [ends] * (len(ideal) - len(ranks))
    return math.fsum(ndcg_at(gains, ideal, rank, o) for rank in ranks) / len(ideal)


def normalized_gain_at_levels(answer: Answer, o: Options) -> float | None:
    """Return the mean of nDCG@k over the k at which the ideal gain falls.

    The end of a list that is longer than the last k counts as well. As trec_eval's, it is not
    defined either where no document reaches the relevance level.
    """
    gains, ideal = list_gains(answer, o), list_ideal_gains(answer, o)
    if not ideal or not count_relevant(answer, o):
        return None
    points = list(
        itertools.accumulate(count for _, count in sorted(Counter(ideal).items(), reverse=True))
    )
    if len(gains) > len(ideal) + 1:
        points.append(len(gains))
    return math.fsum(ndcg_at(gains, ideal, k, o) for k in points) / len(points)


def g_measure(answer: Answer, o: Options) -> float | None:
    """Each gain over log2 of 2 and the ideal cost (at least 1 a rank) less the gain so far."""
    gains, ideal = list_gains(answer, o), list_ideal_gains(answer, o)
    if not ideal:
        return None
    total = cost = so_far = 0.0
    for value, best in itertools.zip_longest(gains, ideal[: len(gains)], fillvalue=0.0):
        cost += max(best, 1.0)
        so_far += value
        if value:
            total += value / math.log2(2 + cost - so_far)
    return total / sum(ideal)


def stop(grade: float | None, o: Options) -> float:
    if grade is None or grade <= 0:
        return 0.0
    if o.stop_probability == "identity":
        return grade
    if o.stop_probability == "yandex":
        return {0: 0.0, 1: 0.07, 2: 0.14, 3: 0.41}.get(int(grade), 0.61)
    return (2.0**grade - 1) / 2.0**o.max_grade


def cascade(answer: Answer, o: Options, stay: float, worth: Callable[[int], float]) -> float | None:
    """Walk down the list until the reader has stopped."""
    if not any(grade > 0 for grade in answer.judged):
        return None
    total, reach = 0.0, 1.0
    for rank, grade in enumerate(answer.ranking[: o.k], start=1):
        total += reach * stop(grade, o) * worth(rank)
        reach *= (1 - stop(grade, o)) * stay
    return total


def expected_reciprocal_rank(answer: Answer, o: Options) -> float | None:
    return cascade(answer, o, 1.0, lambda rank: 1 / rank)


def p_found(answer: Answer, o: Options) -> float | None:
    return cascade(answer, o, 1 - o.p_break, lambda _: 1.0)


def rank_biased_precision(answer: Answer, o: Options) -> float | None:
    if not has_gain(answer, o, "binary"):
        return None
    scale = max(answer.judged) if o.gain_scale == "top_grade" else 1
    gains = list_gains(answer, o, "binary")[: o.k]
    return (1 - o.p) * sum(value / scale * o.p**i for i, value in enumerate(gains))


def rank_biased_residual(answer: Answer, o: Options) -> float | None:
    """Return the gain of RBP if unjudged ranks and those after the list were relevant."""
    if not answer.ranking:
        return None
    unknown = [i for i, grade in enumerate(answer.ranking) if not has_judgment(grade, o)]
    return (1 - o.p) * sum(o.p**i for i in unknown) + o.p ** len(answer.ranking) if unknown else 0.0
