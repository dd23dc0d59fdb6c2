"""Measures of two lists in plain Python, from the papers: overlap depth by depth, and pairs of
documents.
"""

import math
from collections.abc import Callable, Sequence

Documents = list[str]


def count_shared(first: Sequence[str], second: Sequence[str], depth: int) -> int:
    return len({*first[:depth]} & {*second[:depth]})


def overlap(first: Documents, second: Documents, k: int) -> float:
    return count_shared(first, second, k) / k


def churn(first: Documents, second: Documents, k: int | None = None) -> float:
    return sum(doc not in second[:k] for doc in first[:k]) / len(first[:k])


def extrapolated_rbo(first: Documents, second: Documents, k: int = 1000, p: float = 0.9) -> float:
    """Equation 32 of Webber et al.: s and l are the lengths of the shorter and the longer list."""
    short, long = sorted((first[:k], second[:k]), key=len)
    s, end = len(short), len(long)
    shared = {depth: count_shared(short, long, depth) for depth in range(1, end + 1)}
    total = math.fsum(shared[d] / d * p**d for d in shared)
    total += math.fsum(shared[s] * (d - s) / (s * d) * p**d for d in range(s + 1, end + 1))
    return (1 - p) / p * total + ((shared[end] - shared[s]) / end + shared[s] / s) * p**end


def least_rbo(first: Documents, second: Documents, k: int = 1000, p: float = 0.9) -> float:
    """Equation 11: the overlap at the end stays, and agreement falls."""
    end = max(len(first[:k]), len(second[:k]))
    shared = [count_shared(first[:k], second[:k], depth) for depth in range(1, end + 1)]
    total = math.fsum(
        (count - shared[-1]) * p**depth / depth for depth, count in enumerate(shared, start=1)
    )
    return (1 - p) / p * (total - shared[-1] * math.log(1 - p))


def tau_ap(first: Documents, second: Documents, k: int | None = None) -> float | None:
    shared = [doc for doc in first[:k] if doc in second[:k]]
    if len(shared) < 2:
        return None
    place = second.index
    shares = [
        sum(place(above) < place(doc) for above in shared[:position]) / position
        for position, doc in enumerate(shared)
        if position
    ]
    return 2 * sum(shares) / len(shares) - 1


METRICS: dict[str, Callable[..., float | None]] = {
    "Churn": churn,
    "Overlap": overlap,
    "RBO": extrapolated_rbo,
    "RBOmin": least_rbo,
    "TauAP": tau_ap,
}
