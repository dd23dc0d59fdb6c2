"""The reference of the metrics of pairs, in NumPy, from the definitions, pair by pair."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

import sqlrank
from tests.numbers.references.predictions import Predictions


@dataclass(frozen=True)
class Options:
    """Every parameter of a metric, with its default."""

    at: int | None = None
    tie_credit: float = 0.5
    few_negatives: str = "truncate"
    tau: str = "b"
    untied_in: str = "label"
    rho_formula: str = "pearson"
    tie_rule: str = "half"
    pooling: str = "pairs"
    level: str = "query"
    phi: str = "mww"
    u0: float = 0.5
    p: float = 3
    scale: str = "best"


@dataclass(frozen=True)
class Pairs:
    """Sums of the weights of pairs, exactly."""

    concordant: Fraction
    discordant: Fraction
    label_ties: Fraction
    score_ties: Fraction
    both_ties: Fraction


def evaluate(metric: str, data: Predictions) -> float | None:
    """Return the value of a metric, such as ``pAp@3``; predictions of weight 0 do not count."""
    parsed = sqlrank.parse(metric)
    options = Options(**{**dict(parsed.params), "at": parsed.cutoff})  # type: ignore[arg-type]
    name = "AUC@k" if parsed.name == "AUC" else parsed.name
    value = METRICS[name](drop_weightless(data), options)
    return None if value is None else float(value)


@cache
def drop_weightless(data: Predictions) -> Predictions:
    return data.take(data.weight > 0)


@cache
def split_queries(data: Predictions) -> list[Predictions]:
    return list(data.queries())


def to_fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


@cache
def count_pairs(data: Predictions) -> Pairs:
    sums = dict.fromkeys(
        ("concordant", "discordant", "label_ties", "score_ties", "both_ties"), Fraction(0)
    )
    weight, label, score = to_fractions(data.weight), data.label.tolist(), data.score.tolist()
    for i in range(len(data)):
        for j in range(i):
            by_label = (label[i] > label[j]) - (label[i] < label[j])
            by_score = (score[i] > score[j]) - (score[i] < score[j])
            if by_label == 0 or by_score == 0:
                kind = (
                    "both_ties"
                    if by_label == by_score
                    else "label_ties"
                    if by_label == 0
                    else "score_ties"
                )
            else:
                kind = "concordant" if by_label == by_score else "discordant"
            sums[kind] += weight[i] * weight[j]
    return Pairs(**sums)


def ratio(above: Fraction, below: Fraction) -> Fraction | None:
    return None if below == 0 else above / below


def kendall_tau(data: Predictions, options: Options) -> float | None:
    p = count_pairs(data)
    untied = p.concordant + p.discordant
    difference = p.concordant - p.discordant
    if options.tau == "b":
        square = (untied + p.label_ties) * (untied + p.score_ties)
        return None if square == 0 else float(difference) / float(square) ** 0.5
    if options.tau == "c":
        levels = min(len(np.unique(data.label)), len(np.unique(data.score)))
        return (
            None
            if levels < 2
            else float(
                2
                * difference
                / (sum(to_fractions(data.weight)) ** 2 * Fraction(levels - 1, levels))
            )
        )
    scale = untied if options.tau == "gamma" else untied + p.label_ties + p.score_ties + p.both_ties
    return ratio(difference, scale)


def somers_d(data: Predictions, options: Options) -> Fraction | None:
    p = count_pairs(data)
    kept = p.score_ties if options.untied_in == "label" else p.label_ties
    return ratio(p.concordant - p.discordant, p.concordant + p.discordant + kept)


def ranks(values: np.ndarray, weight: list[Fraction]) -> list[Fraction]:
    """Return the mean rank of each value, counted in weight from 0."""
    held: dict[float, Fraction] = {}
    for value, w in zip(values.tolist(), weight, strict=True):
        held[value] = held.get(value, Fraction(0)) + w
    below, found = Fraction(0), {}
    for value in sorted(held):
        found[value] = below + held[value] / 2
        below += held[value]
    return [found[value] for value in values.tolist()]


def spearman_rho(data: Predictions, options: Options) -> float | None:
    if len(np.unique(data.label)) < 2 or len(np.unique(data.score)) < 2:
        return None
    weight = to_fractions(data.weight)
    total = sum(weight)
    x, y = ranks(data.score, weight), ranks(data.label, weight)
    if options.rho_formula == "d2":
        distance = sum(w * (a - b) ** 2 for w, a, b in zip(weight, x, y, strict=True))
        return float(1 - 6 * distance / (total**3 - sum(w**3 for w in weight)))
    mean = total / 2
    covariance = sum(w * (a - mean) * (b - mean) for w, a, b in zip(weight, x, y, strict=True))
    variances = [
        float(sum(w * (a - mean) ** 2 for w, a in zip(weight, values, strict=True)))
        for values in (x, y)
    ]
    return float(covariance) / (variances[0] * variances[1]) ** 0.5


def count_pairs_per_query(data: Predictions, options: Options) -> list[Pairs]:
    return (
        [count_pairs(part) for part in split_queries(data)]
        if options.level == "query"
        else [count_pairs(data)]
    )


def pair_accuracy(data: Predictions, options: Options) -> Fraction | None:
    found = count_pairs_per_query(data, options)
    right = sum((p.concordant for p in found), Fraction(0))
    return ratio(
        right, sum((p.concordant + p.discordant + p.score_ties for p in found), Fraction(0))
    )


def fcp(data: Predictions, options: Options) -> Fraction | None:
    right, wrong = {
        "half": (Fraction(1, 2), Fraction(1, 2)),
        "discordant": (0, 1),
        "ignore": (0, 0),
    }[options.tie_rule]
    counts = [
        (p.concordant + right * p.score_ties, p.discordant + wrong * p.score_ties)
        for p in count_pairs_per_query(data, options)
    ]
    if options.pooling == "pairs":
        return ratio(
            sum((c for c, _ in counts), Fraction(0)), sum((c + d for c, d in counts), Fraction(0))
        )
    if options.pooling == "queries":
        shares = [c / (c + d) for c, d in counts if c + d > 0]
        return ratio(sum(shares, Fraction(0)), Fraction(len(shares)))
    of_either = [c for c, _ in counts if c > 0], [d for _, d in counts if d > 0]
    concordant, discordant = (
        sum(kind, Fraction(0)) / len(kind) if kind else Fraction(0) for kind in of_either
    )
    return ratio(concordant, concordant + discordant)


def take_highest(
    data: Predictions, label: int, most: Fraction | None
) -> list[tuple[float, Fraction]]:
    """Return scores, the highest first, of a class with their weights, up to so much weight."""
    chosen = data.take(data.label == label)
    found = []
    left = sum(to_fractions(chosen.weight), Fraction(0)) if most is None else most
    for i in np.argsort(-chosen.score, kind="stable"):
        taken = min(left, Fraction(float(chosen.weight[i])))
        found.append((float(chosen.score[i]), taken))
        left -= taken
    return found


def count_won(
    positives: list[tuple[float, Fraction]],
    negatives: list[tuple[float, Fraction]],
    missing: Fraction,
    options: Options,
) -> Fraction:
    """Return the weight of the pairs in which the positive is above, or tied times tie_credit, or
    its rival is missing.
    """
    credit = Fraction(options.tie_credit)
    against = [
        w * v * (1 if s > t else credit if s == t else 0)
        for s, w in positives
        for t, v in negatives
    ]
    return sum(against, Fraction(0)) + missing * sum((w for _, w in positives), Fraction(0))


def compare_with_highest(
    data: Predictions, options: Options, positives: list[tuple[float, Fraction]]
) -> Fraction | None:
    k = Fraction(options.at or 0)
    negatives = take_highest(data, 0, k)
    there = sum((w for _, w in negatives), Fraction(0))
    if options.few_negatives in {"skip", "error"} and there < k:
        return None
    rivals = k if options.few_negatives == "pad" else there
    return ratio(
        count_won(positives, negatives, rivals - there, options),
        sum((w for _, w in positives), Fraction(0)) * rivals,
    )


def partial_auc(data: Predictions, options: Options) -> Fraction | None:
    return compare_with_highest(data, options, take_highest(data, 1, None))


def pap(data: Predictions, options: Options) -> Fraction | None:
    return compare_with_highest(data, options, take_highest(data, 1, Fraction(options.at or 0)))


def auc_at_k(data: Predictions, options: Options) -> Fraction | None:
    """Take of each score the share of its weight that is among the first k."""
    left = Fraction(options.at or 0)
    found: dict[int, list[tuple[float, Fraction]]] = {0: [], 1: []}
    for score in np.unique(data.score)[::-1]:
        weights = [
            sum(
                to_fractions(data.weight[(data.score == score) & (data.label == label)]),
                Fraction(0),
            )
            for label in (0, 1)
        ]
        share = min(Fraction(1), left / sum(weights))
        left -= share * sum(weights)
        for label in (0, 1):
            found[label].append((float(score), share * weights[label]))
    total = sum((w for _, w in found[1]), Fraction(0)) * sum((w for _, w in found[0]), Fraction(0))
    return ratio(count_won(found[1], found[0], Fraction(0), options), total)


def w_ranking(data: Predictions, options: Options) -> float | None:
    """Count ranks weight by weight: below, half of the tied ones, and half a place."""
    phi: Callable[[float], float] = {
        "mww": lambda u: u,
        "rtb": lambda u: u if u >= options.u0 else 0,
        "power": lambda u: u**options.p,
        "top": lambda u: float(u >= options.u0),
    }[options.phi]
    weights = to_fractions(data.weight)
    rows = list(zip(data.score.tolist(), data.label.tolist(), weights, strict=True))
    positives = [(score, weight) for score, label, weight in rows if label == 1]
    if not positives:
        return None

    def add_up(others: list[tuple[float, Fraction]], below: Fraction) -> float:
        sums = []
        for score, weight in positives:
            rank = (
                below
                + sum((w for s, w in others if s < score), Fraction(0))
                + (sum(w for s, w in others if s == score) + 1) / 2
            )
            sums.append(float(weight) * phi(float(rank / (sum(weights) + 1))))
        return sum(sums)

    total = add_up([(score, weight) for score, _, weight in rows], Fraction(0))
    best = add_up(positives, sum((weight for _, label, weight in rows if label == 0), Fraction(0)))
    scale = {"sum": 1.0, "mean": float(sum(weight for _, weight in positives)), "best": best}[
        options.scale
    ]
    return total / scale if scale else None


METRICS: dict[str, Callable[[Predictions, Options], float | Fraction | None]] = {
    "AUC@k": auc_at_k,
    "FCP": fcp,
    "KendallTau": kendall_tau,
    "PairAccuracy": pair_accuracy,
    "pAp": pap,
    "PartialAUC": partial_auc,
    "SomersD": somers_d,
    "SpearmanRho": spearman_rho,
    "WRanking": w_ranking,
}
