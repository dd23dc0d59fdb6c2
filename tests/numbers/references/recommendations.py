"""Metrics beyond accuracy in NumPy, from their formulas over all pairs and items, and random data
sets for them.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Lists = dict[str, list[str]]


@dataclass
class World:
    """Lists in order, histories, providers and features of items, baseline lists, and relevant
    items.
    """

    lists: Lists
    history: Lists
    items: dict[str, str]
    features: dict[str, dict[str, float]]
    baseline: Lists
    relevant: Lists = field(default_factory=dict)

    def top_k(self, k: int) -> Lists:
        return {user: docs[:k] for user, docs in self.lists.items() if docs}

    @property
    def run(self) -> pa.Table:
        return make_run(self.lists)

    @property
    def qrels(self) -> pa.Table:
        table = make_pairs(self.relevant, "query_id", "doc_id")
        return table.append_column("relevance", pa.array([1] * len(table), pa.int64()))

    @property
    def inputs(self) -> dict[str, pa.Table]:
        rows = [
            (doc, category, value)
            for doc, values in self.features.items()
            for category, value in values.items()
        ]
        return {
            "history": make_pairs(self.history, "query_id", "doc_id"),
            "items": pa.table({"doc_id": list(self.items), "provider": list(self.items.values())}),
            "features": pa.table(
                dict(
                    zip(
                        ["doc_id", "category", "value"],
                        map(list, zip(*rows, strict=True)),
                        strict=True,
                    )
                )
            ),
            "baseline": make_run(self.baseline),
        }


def make_pairs(lists: Lists, key: str, value: str) -> pa.Table:
    rows = [(name, item) for name, held in lists.items() for item in held]
    return pa.table(
        {
            key: pa.array([row[0] for row in rows], pa.string()),
            value: pa.array([row[1] for row in rows], pa.string()),
        }
    )


def make_run(lists: Lists) -> pa.Table:
    scores = [-float(place) for docs in lists.values() for place, _ in enumerate(docs)]
    return make_pairs(lists, "query_id", "doc_id").append_column(
        "score", pa.array(scores, pa.float64())
    )


def draw_world(seed: int, users: int = 30, docs: int = 25) -> World:
    """Draw lists of any length, users without a history or a list, items without features,
    documents that are not in the catalog.
    """
    rng = random.Random(seed)  # noqa: S311
    names = [f"d{i}" for i in range(docs)]

    def draw(of: Iterable[str], longest: int, share: float) -> Lists:
        return {
            user: rng.sample(names, rng.randint(1, longest)) for user in of if rng.random() < share
        }

    everybody = [f"u{i}" for i in range(users)]
    lists = draw(everybody, 9, 0.8)
    features = {
        doc: {
            category: rng.choice([1.0, 1.0, 0.5, -2.0])
            for category in rng.sample(["p", "q", "r", "s"], rng.randint(1, 3))
        }
        for doc in names
        if rng.random() < 0.85
    }
    items = {doc: rng.choice(["X", "Y", "Z"]) for doc in names if rng.random() < 0.9}
    return World(
        lists, draw(everybody, 7, 0.7), items, features, draw(everybody, 9, 0.7),
        draw(everybody, 5, 0.9),
    )  # fmt: skip


def count_showings(world: World, k: int) -> Counter[str]:
    return Counter(doc for docs in world.top_k(k).values() for doc in docs)


def catalog_coverage(world: World, k: int) -> float:
    return len(count_showings(world, k).keys() & world.items.keys()) / len(world.items)


def user_coverage(world: World, _k: int) -> float:
    return len(world.top_k(1).keys() & world.history.keys()) / len(world.history)


def exposure_gini(world: World, k: int) -> float:
    counts = np.array(sorted(count_showings(world, k)[doc] for doc in world.items), float)
    return float(np.abs(counts[:, None] - counts).sum() / (2 * len(counts) * counts.sum()))


def exposure_entropy(world: World, k: int, base: float = math.e) -> float:
    shares = np.array(list(count_showings(world, k).values()), float)
    shares /= shares.sum()
    return float(-(shares * np.log(shares)).sum() / math.log(base))


def cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    sizes = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / sizes if sizes else 0.0


def personalization(world: World, k: int) -> float | None:
    docs = sorted({doc for held in world.lists.values() for doc in held})
    vectors = [np.array([doc in held for doc in docs], float) for held in world.top_k(k).values()]
    found = [1 - cosine(one, other) for one, other in itertools.combinations(vectors, 2)]
    return float(np.mean(found)) if found else None


def count_users(world: World) -> Counter[str]:
    return Counter(doc for held in world.history.values() for doc in held)


def popularity_lift(world: World, k: int) -> float:
    users = count_users(world)
    both = world.top_k(k).keys() & world.history.keys()
    of_lists = np.mean([np.mean([users[doc] for doc in world.top_k(k)[user]]) for user in both])
    return float(
        of_lists / np.mean([np.mean([users[doc] for doc in world.history[user]]) for user in both])
        - 1
    )


def exposure_of_providers(world: World, k: int) -> dict[str, tuple[float, float]]:
    """Return the shares of each provider in exposure and catalog."""
    worth: Counter[str] = Counter()
    for docs in world.top_k(k).values():
        for rank, doc in enumerate(docs, start=1):
            worth[world.items.get(doc, "")] += 1 / math.log2(rank + 1)  # type: ignore[assignment]
    owned = Counter(world.items.values())
    total = sum(worth[name] for name in owned)
    return {name: (worth[name] / total, owned[name] / len(world.items)) for name in owned}


def exposure_disparity(world: World, k: int) -> float:
    found = [exposure / share for exposure, share in exposure_of_providers(world, k).values()]
    return min(found) / max(found)


def mean_popularity(world: World, _user: str, docs: list[str]) -> float:
    return float(np.mean([count_users(world)[doc] for doc in docs]))


def self_information(world: World, _user: str, docs: list[str]) -> float:
    return float(
        np.mean([-math.log2(max(count_users(world)[doc], 1) / len(world.history)) for doc in docs])
    )


def unseen(world: World, user: str, docs: list[str]) -> float:
    return float(np.mean([doc not in world.history.get(user, ()) for doc in docs]))


def hamming(one: dict[str, float], other: dict[str, float]) -> float:
    return len(one.keys() ^ other.keys())


def angular(one: dict[str, float], other: dict[str, float]) -> float:
    names = sorted(one.keys() | other.keys())
    return 1 - cosine(
        np.array([one.get(name, 0) for name in names]),
        np.array([other.get(name, 0) for name in names]),
    )


def differing(one: dict[str, float], other: dict[str, float]) -> float:
    drawn = itertools.product(one, other)
    return 1 - sum(left == right for left, right in drawn) / max(1, len(one) * len(other))


def diversity(world: World, _user: str, docs: list[str], distance: str = "hamming") -> float | None:
    apart = {"hamming": hamming, "cosine": angular, "category": differing}[distance]
    found = [
        apart(world.features.get(one, {}), world.features.get(other, {}))
        for one, other in itertools.combinations(docs, 2)
    ]
    return float(np.mean(found)) if found else None


def share_categories(world: World, docs: Iterable[str]) -> dict[str, float]:
    """Return the share of each category in what documents are; one of several categories has a part
    of each.
    """
    parts: dict[str, float] = {}
    for doc in docs:
        for category in world.features.get(doc, ()):
            parts[category] = parts.get(category, 0) + 1 / len(world.features[doc])
    return {category: part / sum(parts.values()) for category, part in parts.items()}


def category_entropy(world: World, _user: str, docs: list[str]) -> float | None:
    shares = share_categories(world, docs).values()
    return -sum(share * math.log(share) for share in shares) if shares else None


def miscalibration(world: World, user: str, docs: list[str], alpha: float = 0.01) -> float | None:
    held, served = (
        share_categories(world, world.history.get(user, ())),
        share_categories(world, docs),
    )
    if not held or not served:
        return None
    return sum(
        p * math.log(p / ((1 - alpha) * served.get(category, 0) + alpha * p))
        for category, p in held.items()
    )


def unexpectedness(world: World, user: str, docs: list[str], k: int) -> float:
    return 1 - len({*docs} & {*world.baseline.get(user, [])[:k]}) / k


def serendipity(world: World, user: str, docs: list[str]) -> float:
    users = count_users(world)
    steps = sorted(set(users.values()), reverse=True)
    n = len(world.items)
    gains = []
    for rank, doc in enumerate(docs, start=1):
        expected = (n + 1 - (1 + steps.index(users[doc]))) / n if users[doc] else 0
        gains.append(max((n + 1 - rank) / n - expected, 0) * (doc in world.relevant.get(user, ())))
    return float(np.mean(gains))


def gold_in_corpus(world: World, user: str, _docs: list[str]) -> float | None:
    relevant = {*world.relevant.get(user, ())}
    return len(relevant & world.items.keys()) / len(relevant) if relevant else None


GROUP_METRICS: dict[str, Callable[..., float | None]] = {
    "CatalogCoverage": catalog_coverage,
    "UserCoverage": user_coverage,
    "ExposureGini": exposure_gini,
    "ExposureEntropy": exposure_entropy,
    "Personalization": personalization,
    "PopularityLift": popularity_lift,
    "ExposureDisparity": exposure_disparity,
    "num_unlisted": lambda world, k: float(
        len(count_showings(world, k).keys() - world.items.keys())
    ),
}
LIST_METRICS: dict[str, Callable[..., Any]] = {
    "MeanPopularity": mean_popularity,
    "SelfInformation": self_information,
    "Unseen": unseen,
    "IntraListDiversity": diversity,
    "CategoryEntropy": category_entropy,
    "Miscalibration": miscalibration,
    "Serendipity": serendipity,
    "Unexpectedness": unexpectedness,
    "GoldInCorpus": gold_in_corpus,
    "num_stale_gold": lambda world, user, _docs: float(
        len({*world.relevant.get(user, ())} - world.items.keys())
    ),
}
WITHOUT_CUTOFF = {"UserCoverage", "GoldInCorpus", "num_stale_gold"}
SUMMED = {"num_stale_gold"}
"""Metrics that take no cut-off, and those of lists that are added up."""


def write_cutoff(name: str, k: int) -> str:
    return "" if name in WITHOUT_CUTOFF else f"@{k}"
