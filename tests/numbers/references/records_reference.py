"""The reference of every metric of clusters of records, over sets and pairs of records.

Written from the definitions, not from the SQL: every pair of records is looked at. A metric that is
not defined is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Pair = frozenset[Any]
Cluster = frozenset[Any]


def rate_names(rows: Iterable[tuple[Any, Any]]) -> tuple[float | None, float | None]:
    """Return the shares of clusters that share a name with another one, and that hold several, of
    rows (cluster, name).
    """
    names: dict[Any, set[Any]] = {}
    for cluster, name in rows:
        if cluster is not None and name is not None:
            names.setdefault(cluster, set()).add(name)
    shared = sum(
        any(own & other for cluster, other in names.items() if cluster != here)
        for here, own in names.items()
    )
    return ratio(shared, len(names)), ratio(sum(len(own) > 1 for own in names.values()), len(names))


def list_links(clusters: Iterable[Cluster]) -> set[Pair]:
    """Return the pairs of records in one cluster."""
    return {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}


def ratio(above: float, below: float) -> float | None:
    return above / below if below else None


def entropy(parts: Iterable[int], total: int) -> float:
    return -math.fsum(part / total * math.log(part / total) for part in parts)


@dataclass(frozen=True)
class Clusterings:
    """Two clusterings of the same records after policies, each a list of sets, and the settings of
    a metric.
    """

    predicted: list[Cluster]
    true: list[Cluster]
    num_unplaced: int = 0
    num_unlabelled: int = 0
    candidates: frozenset[Pair] = frozenset()
    sources: tuple[tuple[Any, Any], ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[Any, Any, Any]],
        missing_prediction: str = "singleton",
        missing_truth: str = "drop",
        candidates: Iterable[Any] = (),
    ) -> Clusterings:
        """Make clusterings of rows (record, predicted cluster, true cluster)."""
        rows = list(rows)
        labelled = [row for row in rows if missing_truth != "drop" or row[2] is not None]
        kept = [row for row in labelled if missing_prediction != "drop" or row[1] is not None]
        there = {row[0] for row in kept}
        pairs = frozenset(frozenset(pair) for pair in candidates)
        none = [sum(row[place] is None for row in rows) for place in (1, 2)]
        return cls(
            _group_records(kept, 1),
            _group_records(kept, 2),
            *none,
            frozenset(pair for pair in pairs if pair <= there),
        )

    def across(self, pairs: Iterable[Pair]) -> set[Pair]:
        """Return the pairs of records of different sources, or all if there are none."""
        of = dict(self.sources)
        return {pair for pair in pairs if not of or len({of[record] for record in pair}) > 1}

    @cached_property
    def records(self) -> int:
        return sum(map(len, self.true))

    @cached_property
    def pairs(self) -> int:
        return math.comb(self.records, 2)

    @cached_property
    def claimed(self) -> set[Pair]:
        return list_links(self.predicted)

    @cached_property
    def true_links(self) -> set[Pair]:
        return list_links(self.true)

    @cached_property
    def num_found(self) -> int:
        return len(self.claimed & self.true_links)

    @cached_property
    def cells(self) -> list[tuple[Cluster, Cluster]]:
        return [(one, other) for one in self.predicted for other in self.true if one & other]

    @cached_property
    def exact(self) -> int:
        return len(set(self.predicted) & set(self.true))


def _group_records(rows: list[tuple[Any, Any, Any]], place: int) -> list[Cluster]:
    found: dict[Any, set[Any]] = {}
    for row in rows:
        found.setdefault(
            ("alone", row[0]) if row[place] is None else ("named", row[place]), set()
        ).add(row[0])
    return [frozenset(records) for records in found.values()]


def f(precision: float | None, recall: float | None, beta: float = 1) -> float | None:
    if precision is None or recall is None:
        return None
    return (
        (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        if precision + recall
        else 0.0
    )


def adjusted_rand(c: Clusterings, _: Any) -> float | None:
    if not c.records:
        return None
    if c.num_found == len(c.claimed) == len(c.true_links):
        return 1.0
    expected = len(c.claimed) * len(c.true_links) / c.pairs
    return (c.num_found - expected) / ((len(c.claimed) + len(c.true_links)) / 2 - expected)


def bcubed(
    one: list[Cluster], other: list[Cluster], true: list[Cluster], weighting: str
) -> float | None:
    own, theirs, truth = (
        {record: cluster for cluster in side for record in cluster} for side in (one, other, true)
    )
    weight = {
        "record": lambda _: 1.0,
        "cluster": lambda record: 1 / len(own[record]),
        "true_cluster": lambda record: 1 / len(truth[record]),
    }
    weights = {record: weight[weighting](record) for record in own}
    return ratio(
        math.fsum(weights[r] * len(own[r] & theirs[r]) / len(own[r]) for r in own),
        math.fsum(weights.values()),
    )


def closest(one: list[Cluster], other: list[Cluster]) -> float | None:
    return ratio(math.fsum(max(len(a & b) / len(a | b) for b in other) for a in one), len(one))


def mutual(c: Clusterings) -> float:
    n = c.records
    return math.fsum(
        len(a & b) / n * math.log(n * len(a & b) / (len(a) * len(b))) for a, b in c.cells
    )


def share_information(c: Clusterings, side: list[Cluster]) -> float | None:
    """Return the mutual information as a share of the entropy of a clustering."""
    if not c.records:
        return None
    whole = entropy(map(len, side), c.records)
    return 1.0 if len(side) == 1 else mutual(c) / whole


def v_measure(c: Clusterings, o: Mapping[str, Any]) -> float | None:
    h, k, beta = share_information(c, c.true), share_information(c, c.predicted), o.get("beta", 1)
    if h is None or k is None:
        return None
    return (1 + beta) * h * k / (beta * h + k) if h + k > 1e-15 else 0.0


def adjusted_mutual(c: Clusterings, _: Any) -> float | None:
    """With the chance of each overlap of each two clusters as a fraction of integers."""
    if not c.records or set(c.predicted) == set(c.true):
        return 1.0 if c.records else None
    n = c.records
    expected = math.fsum(
        k
        / n
        * math.log(n * k / (a * b))
        * (math.comb(a, k) * math.comb(n - a, b - k) / math.comb(n, b))
        for a in map(len, c.predicted)
        for b in map(len, c.true)
        for k in range(max(1, a + b - n), min(a, b) + 1)
    )
    most = (entropy(map(len, c.predicted), n) + entropy(map(len, c.true), n)) / 2
    return (mutual(c) - expected) / (most - expected)


def purity(one: list[Cluster], other: list[Cluster], n: int) -> float | None:
    return ratio(sum(max(len(a & b) for b in other) for a in one), n)


METRICS: dict[str, Callable[[Clusterings, Mapping[str, Any]], float | None]] = {
    "AdjustedMutualInformation": adjusted_mutual,
    "AdjustedRand": adjusted_rand,
    "BCubedF": lambda c, _: f(
        bcubed(c.predicted, c.true, c.true, "record"), bcubed(c.true, c.predicted, c.true, "record")
    ),
    "BCubedPrecision": lambda c, o: bcubed(
        c.predicted, c.true, c.true, o.get("record_weight", "record")
    ),
    "BCubedRecall": lambda c, o: bcubed(
        c.true, c.predicted, c.true, o.get("record_weight", "record")
    ),
    "ClosestF": lambda c, _: f(closest(c.predicted, c.true), closest(c.true, c.predicted)),
    "ClosestPrecision": lambda c, _: closest(c.predicted, c.true),
    "ClosestRecall": lambda c, _: closest(c.true, c.predicted),
    "ClusterF": lambda c, _: f(ratio(c.exact, len(c.predicted)), ratio(c.exact, len(c.true))),
    "ClusterPrecision": lambda c, _: ratio(c.exact, len(c.predicted)),
    "ClusterRecall": lambda c, _: ratio(c.exact, len(c.true)),
    "Completeness": lambda c, _: share_information(c, c.predicted),
    "FowlkesMallows": lambda c, _: ratio(
        c.num_found, math.sqrt(len(c.claimed) * len(c.true_links))
    ),
    "Homogeneity": lambda c, _: share_information(c, c.true),
    "InversePurity": lambda c, _: purity(c.true, c.predicted, c.records),
    "MatchingRate": lambda c, _: ratio(sum(len(a) for a in c.predicted if len(a) > 1), c.records),
    "MergeDistance": lambda c, _: 2 * len(c.cells) - len(c.predicted) - len(c.true),
    "MUCF": lambda c, _: ratio(
        2 * (c.records - len(c.cells)), 2 * c.records - len(c.predicted) - len(c.true)
    ),
    "MUCPrecision": lambda c, _: ratio(c.records - len(c.cells), c.records - len(c.predicted)),
    "MUCRecall": lambda c, _: ratio(c.records - len(c.cells), c.records - len(c.true)),
    "MutualInformation": lambda c, _: mutual(c) if c.records else None,
    "num_candidate_pairs": lambda c, _: len(c.across(c.candidates)),
    "num_merges": lambda c, _: len(c.cells) - len(c.true),
    "num_over_merged": lambda c, _: sum(sum(bool(a & b) for b in c.true) > 1 for a in c.predicted),
    "num_over_split": lambda c, _: sum(sum(bool(a & b) for b in c.predicted) > 1 for a in c.true),
    "num_predicted_clusters": lambda c, _: len(c.predicted),
    "num_predicted_links": lambda c, _: len(c.claimed),
    "num_records": lambda c, _: c.records,
    "num_shared_links": lambda c, _: c.num_found,
    "num_singletons": lambda c, _: sum(len(a) == 1 for a in c.predicted),
    "num_splits": lambda c, _: len(c.cells) - len(c.predicted),
    "num_true_clusters": lambda c, _: len(c.true),
    "num_true_links": lambda c, _: len(c.true_links),
    "num_unlabelled": lambda c, _: c.num_unlabelled,
    "num_unplaced": lambda c, _: c.num_unplaced,
    "PairsCompleteness": lambda c, _: ratio(
        len(c.across(c.candidates & c.true_links)), len(c.across(c.true_links))
    ),
    "PairsQuality": lambda c, _: ratio(
        len(c.across(c.candidates & c.true_links)), len(c.across(c.candidates))
    ),
    "PairsReduction": lambda c, _: ratio(
        len(c.across(list_links([frozenset().union(*c.true)])) - c.candidates),
        len(c.across(list_links([frozenset().union(*c.true)]))),
    ),
    "PairwiseF": lambda c, o: ratio(
        (1 + o.get("beta", 1) ** 2) * c.num_found,
        o.get("beta", 1) ** 2 * len(c.true_links) + len(c.claimed),
    ),
    "PairwisePrecision": lambda c, _: ratio(c.num_found, len(c.claimed)),
    "PairwiseRecall": lambda c, _: ratio(c.num_found, len(c.true_links)),
    "PairwiseSpecificity": lambda c, _: ratio(
        c.pairs - len(c.claimed | c.true_links), c.pairs - len(c.true_links)
    ),
    "Purity": lambda c, _: purity(c.predicted, c.true, c.records),
    "Rand": lambda c, _: ratio(c.pairs - len(c.claimed ^ c.true_links), c.pairs),
    "ReductionRatio": lambda c, _: ratio(c.pairs - len(c.claimed), c.pairs),
    "TalburtWang": lambda c, _: ratio(math.sqrt(len(c.predicted) * len(c.true)), len(c.cells)),
    "VariationOfInformation": lambda c, _: (
        entropy(map(len, c.predicted), c.records)
        + entropy(map(len, c.true), c.records)
        - 2 * mutual(c)
        if c.records
        else None
    ),
    "VMeasure": v_measure,
}


def evaluate(metric: str, clusterings: Clusterings) -> float | None:
    """Return the value of a metric."""
    parsed = sqlrank.parse(metric)
    return METRICS[parsed.name](clusterings, dict(parsed.params))


def estimate(
    name: str,
    rows: Iterable[tuple[Any, Any, Any]],
    cluster_weight: str = "equal",
    corrected: bool = True,
) -> tuple[float | None, float | None]:
    """Return the estimate for all true clusters from a sample of them, and its standard error."""
    everywhere = _group_records(list(rows), 1)
    known = _group_records([row for row in rows if row[2] is not None], 2)
    of = {record: cluster for cluster in everywhere for record in cluster}
    parts = [
        _split_contributions(
            name, cluster, of, 1 / len(cluster) if cluster_weight == "inverse_size" else 1.0
        )
        for cluster in known
    ]
    k, g = len(parts), sum(part[1] for part in parts) / len(parts)
    if not g:
        return None, None
    r = sum(part[0] for part in parts) / k / g
    if k == 1:
        return (None if corrected else r), None
    bias = sum((r * b - a) * (b - g) for a, b in parts) / ((k - 1) * k * g**2) if corrected else 0.0
    return r - bias, math.sqrt(sum((a - r * b) ** 2 for a, b in parts) / (k * (k - 1))) / g


def _split_contributions(
    name: str, cluster: Cluster, of: Mapping[Any, Cluster], weight: float
) -> tuple[float, float]:
    """Return the contributions of a true cluster to numerator and denominator."""
    found = len([1 for one, two in combinations(cluster, 2) if of[one] == of[two]])
    claimed = sum(len(of[record]) - 1 for record in cluster) / 2
    size, is_exact = len(cluster), float(of[next(iter(cluster))] == cluster)
    above, below = {
        "SampledPairwisePrecision": (found, claimed),
        "SampledPairwiseRecall": (found, math.comb(size, 2)),
        "SampledPairwiseF": (2 * found, claimed + math.comb(size, 2)),
        "SampledBCubedPrecision": (
            sum(len(cluster & of[record]) / len(of[record]) for record in cluster),
            size,
        ),
        "SampledBCubedRecall": (sum(len(cluster & of[record]) / size for record in cluster), size),
        "SampledClusterPrecision": (is_exact, sum(1 / len(of[record]) for record in cluster)),
        "SampledClusterRecall": (is_exact, 1),
    }[name]
    return weight * above, weight * below


ESTIMATES = [
    *(
        "SampledPairwisePrecision", "SampledPairwiseRecall", "SampledPairwiseF",
        "SampledBCubedPrecision", "SampledBCubedRecall",
    ),
    *("SampledClusterPrecision", "SampledClusterRecall"),
]  # fmt: skip
NAMES = {*METRICS, *ESTIMATES}
