"""Random test collections: judgments, a run and query weights, drawn from a seed, in the forms that
other tools take.

A collection holds many small *groups*, each drawn with traits of its own: how many queries and
documents, which grades, how scores tie, how much is judged or answered. So one call evaluates what
hundreds of small collections would.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Values = dict[str, dict[str, float]]
"""Query -> document (or metric) -> number."""

SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "distinct": lambda rng, n: rng.permutation(n) / 8 - 1,
    "continuous": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(0, 4, n) / 4,
    "same": lambda _, n: np.full(n, 0.5),
    "nearly": lambda rng, n: 1 + rng.integers(0, 3, n) * 1e-9 + rng.integers(0, 2, n) * 1e-3,
}
"""Distributions of the scores of a list; ``nearly``: different doubles that are equal in single
precision.
"""


@dataclass(frozen=True)
class Traits:
    """Possible traits of a collection's groups; each group draws its own from these."""

    queries: tuple[int, int] = (1, 9)
    docs: tuple[int, int] = (1, 24)
    grades: Sequence[Sequence[int]] = (
        (0, 1),
        (0, 1, 2, 3),
        (0, 0, 0, 1),
        (0, 0, 1, 4),
        (0,),
        (1, 2),
    )
    scores: Sequence[str] = tuple(SCORES)
    judged: Sequence[float] = (0.2, 0.6, 1.0)
    retrieved: Sequence[float] = (0.2, 0.7, 1.0)
    unanswered: float = 0.1
    unjudged: float = 0.1


@dataclass(frozen=True)
class Collection:
    """Rows of a run (group, query, document, score, rank), of judgments, and a weight for each
    query.
    """

    run_rows: Sequence[tuple[str, str, str, float, int]]
    qrel_rows: Sequence[tuple[str, str, str, int]]
    weights: Mapping[str, float]

    @property
    def run(self) -> pa.Table:
        return _make_table(("collection", "query_id", "doc_id", "score", "rank"), self.run_rows)

    @property
    def qrels(self) -> pa.Table:
        return _make_table(("collection", "query_id", "doc_id", "relevance"), self.qrel_rows)

    @property
    def queries(self) -> pa.Table:
        return _make_table(("query_id", "weight"), self.weights.items())

    @property
    def predictions(self) -> pa.Table:
        """Run and judgments in one table; every retrieved document must have a judgment."""
        labels = {(query, doc): grade for _, query, doc, grade in self.qrel_rows}
        rows = [(*row, labels[row[1], row[2]]) for row in self.run_rows]
        return _make_table(("collection", "query_id", "doc_id", "score", "rank", "label"), rows)

    @property
    def run_dict(self) -> Values:
        return nest_rows((query, doc, score) for _, query, doc, score, _ in self.run_rows)

    @property
    def qrels_dict(self) -> dict[str, dict[str, int]]:
        return nest_rows((query, doc, grade) for _, query, doc, grade in self.qrel_rows)  # type: ignore[return-value]

    @property
    def groups_by_query(self) -> dict[str, str]:
        """The group of each query."""
        return {row[1]: row[0] for rows in (self.run_rows, self.qrel_rows) for row in rows}

    def lists(self) -> dict[str, list[tuple[float, int]]]:
        """Score and label of each document, per query in the order of the rows; for lists that are
        judged in full.
        """
        found: dict[str, list[tuple[float, int]]] = defaultdict(list)
        labels = self.qrels_dict
        for _, query, doc, score, _ in self.run_rows:
            found[query].append((score, labels[query][doc]))
        return found

    def numbered_by_row(self) -> Collection:
        """Give the rows of each list their numbers as ranks, by which tools that sort scores stably
        order equal ones.
        """
        counts: dict[str, int] = defaultdict(int)
        numbered = []
        for row in self.run_rows:
            counts[row[1]] += 1
            numbered.append((*row[:4], counts[row[1]]))
        return replace(self, run_rows=numbered)

    def answerable(self) -> Collection:
        """Leave the queries without relevant documents out."""
        kept = {query for _, query, _, grade in self.qrel_rows if grade > 0}
        return Collection(
            [row for row in self.run_rows if row[1] in kept],
            [row for row in self.qrel_rows if row[1] in kept],
            {query: weight for query, weight in self.weights.items() if query in kept},
        )


def draw_random_collection(
    seed: int, groups: int = 100, traits: Traits | None = None
) -> Collection:
    """Draw a collection of so many groups; the same seed gives the same one."""
    traits = traits or Traits()
    rng = np.random.default_rng(seed)
    run, qrels, weights = [], [], {}
    for group in range(groups):
        name = f"c{group:03}"
        grades = traits.grades[rng.integers(len(traits.grades))]
        draw = SCORES[traits.scores[rng.integers(len(traits.scores))]]
        judged, retrieved = rng.choice(traits.judged), rng.choice(traits.retrieved)
        most = rng.integers(traits.docs[0], traits.docs[1] + 1)
        for number in range(rng.integers(traits.queries[0], traits.queries[1] + 1)):
            query = f"{name}q{number}"
            weights[query] = float(rng.integers(1, 9)) / 4
            docs = _draw_names(rng, int(rng.integers(traits.docs[0], most + 1)))
            answered, known = rng.random() >= traits.unanswered, rng.random() >= traits.unjudged
            taken = [doc for doc in docs if rng.random() < retrieved] or docs[:1]
            ranks = rng.permutation(len(taken)) + 1
            if answered:
                scores = draw(rng, len(taken))
                run += [
                    (name, query, doc, float(score), int(rank))
                    for doc, score, rank in zip(taken, scores, ranks, strict=True)
                ]
            if known:
                chosen = [doc for doc in docs if rng.random() < judged] or docs[-1:]
                qrels += [(name, query, doc, int(rng.choice(grades))) for doc in chosen]
    return Collection(run, qrels, weights)


def draw_judged_collection(seed: int, groups: int = 100, **traits: object) -> Collection:
    """Draw a collection in which each list is judged in full and nothing else is, as for libraries
    that take arrays.
    """
    given = {"judged": (1.0,), "retrieved": (1.0,), "unanswered": 0.0, "unjudged": 0.0, **traits}
    return draw_random_collection(seed, groups, Traits(**given))  # type: ignore[arg-type]


def nest_rows(rows: Iterable[tuple[str, str, float]]) -> Values:
    """Return query -> key -> value."""
    found: Values = defaultdict(dict)
    for query, key, value in rows:
        found[query][key] = value
    return dict(found)


def nest_by_query(result: pa.Table) -> Values:
    """Return query -> metric -> value of a result with one row per query."""
    keys = {"query_id", "collection"}
    return {
        row["query_id"]: {name: value for name, value in row.items() if name not in keys}
        for row in result.to_pylist()
    }


def nest_by_group(result: pa.Table) -> Values:
    """Return group -> metric -> value of a result with one row per group."""
    return {row.pop("collection"): row for row in result.to_pylist()}


def average_by_group(
    values: Values, groups_by_query: Mapping[str, str], weights: Mapping[str, float] | None = None
) -> Values:
    """Average per-query values over the queries of each group."""
    parts: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for query, row in values.items():
        for metric, value in row.items():
            parts[groups_by_query[query]][metric].append(
                (value, 1.0 if weights is None else weights[query])
            )
    return {
        group: {
            metric: sum(v * w for v, w in pairs) / sum(w for _, w in pairs)
            for metric, pairs in row.items()
        }
        for group, row in parts.items()
    }


def assert_same(got: Values, expected: Values, tolerance: float = 1e-9) -> None:
    """Compare two sets of values key by key and show the first differences; the keys must be the
    same.
    """
    assert sorted(got) == sorted(expected)
    wrong = []
    for key, row in expected.items():
        assert sorted(got[key]) == sorted(row)
        for metric, value in row.items():
            have = got[key][metric]
            if have is None or not abs(have - value) <= tolerance:
                wrong.append((metric, key, "sqlrank", have, "peer", value))
    metrics = sorted({item[0] for item in wrong})
    assert not wrong, f"{len(wrong)} values of {', '.join(metrics)} differ, such as {wrong[:3]}"


def _draw_names(rng: np.random.Generator, count: int) -> list[str]:
    """Draw document ids whose order as text is not that of their numbers, in any order."""
    forms = ("d{}", "D{}", "doc-{:03}", "é{}", "{}")
    names = [forms[rng.integers(len(forms))].format(number) for number in range(count)]
    return [names[place] for place in rng.permutation(count)]


def _make_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})
