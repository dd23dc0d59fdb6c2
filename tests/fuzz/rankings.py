"""Random rankings: beside pytrec_eval measure by measure, and beside sums of fractions where grades
are extreme.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

import sqlrank
from tests.fuzz.comparing import find_differences
from tests.numbers.peers.test_pytrec_eval import (
    COUNTS,
    MEASURES,
    aggregate_values,
    evaluate_with_pytrec_eval,
    evaluate_with_sqlrank,
)
from tests.numbers.references.random_collections import (
    Collection,
    Traits,
    Values,
    draw_random_collection,
    nest_by_query,
)

HOSTILE = (
    "{}", "d{}", "é{}", "'{}'", '"{}', "{}; DROP TABLE run", "NULL", "\\{}", "%{}%", "{}\u00a0",
    "\U0001f600{}", " {} ", "{{{{ {} }}}}", "--{}",
)  # fmt: skip
"""Forms of names: with quotes, escapes, spaces, fragments of SQL, and characters of more than two
bytes.
"""

EVERY = [measure for family in MEASURES.values() for measure in family]

POLICIES: tuple[tuple[dict[str, object], dict[str, object]], ...] = (
    ({}, {}),
    ({"rel": 2}, {"relevance_level": 2}),
    ({"rel": 3, "plan": {"list_key": "input"}}, {"relevance_level": 3}),
    ({"unjudged": "drop"}, {"judged_docs_only_flag": True}),
    ({"plan": {"list_key": "input"}}, {}),
    ({"plan": {"rank_method": "count"}}, {}),
    ({"threads": 1}, {}),
    ({"nulls": "drop"}, {}),
)
"""Policies and plans of ours, and the same for pytrec_eval."""

EXTREME = ((-(2**53), -1, 0, 1, 2**53), (0, 1), (-1, 0, 0, 2), (0, 10**15, 3), (0, 0, 0, 0, 1))
CUTOFFS = (1, 3, 10)


def make_names_hostile(data: Collection, seed: int) -> Collection:
    """Return a collection with other names, which are as different as the old ones are."""
    rng = np.random.default_rng(seed)
    names: dict[str, str] = {}
    taken: set[str] = set()

    def renamed(name: str) -> str:
        while name not in names:
            found = HOSTILE[rng.integers(len(HOSTILE))].format(
                name if rng.random() < 0.5 else f"{name}{rng.integers(100)}"
            )
            if found not in taken:
                taken.add(found)
                names[name] = found
        return names[name]

    return replace(
        data,
        run_rows=[(row[0], renamed(row[1]), renamed(row[2]), *row[3:]) for row in data.run_rows],
        qrel_rows=[(row[0], renamed(row[1]), renamed(row[2]), row[3]) for row in data.qrel_rows],
    )


def add_nulls(data: Collection, seed: int) -> Collection:
    """Add rows without a score or a grade, which ``nulls="drop"`` leaves out: of documents that are
    nowhere else.
    """
    rng = np.random.default_rng(seed)
    queries = sorted(
        {(row[0], row[1]) for row in data.run_rows} & {(row[0], row[1]) for row in data.qrel_rows}
    )
    chosen = [queries[place] for place in rng.integers(len(queries), size=len(queries) // 2)]
    extra = dict.fromkeys(
        (group, query, f"no score {place}") for place, (group, query) in enumerate(chosen)
    )
    return replace(
        data,
        run_rows=[*data.run_rows, *((*row, None, 1) for row in extra)],  # type: ignore[misc]
        qrel_rows=[
            *data.qrel_rows,
            *((group, query, f"no grade {doc}", None) for group, query, doc in extra),
        ],  # type: ignore[misc]
    )


def compare_with_pytrec_eval(seed: int, count: int) -> Iterator[str]:
    """Yield the differences in a batch of collections, per query and in the aggregate."""
    policies, options = POLICIES[seed % len(POLICIES)]
    data = make_names_hostile(
        draw_random_collection(
            seed, count, Traits(grades=(*Traits.grades, (0, 0, 5, 60), (1,), (0, 3)))
        ),
        seed,
    )
    measures = [
        measure
        for measure in EVERY
        if not ("rel" in policies and (measure == "utility" or measure in COUNTS))
    ]
    measures = [
        measure for measure in measures if not ("unjudged" in policies and measure in COUNTS)
    ]
    read = add_nulls(data, seed) if "nulls" in policies else data
    each, summary = evaluate_with_sqlrank(read, measures, **policies)
    expected = evaluate_with_pytrec_eval(data, measures, **options)
    yield from find_differences(each, expected, 1e-9)
    yield from find_differences(summary, aggregate_values(expected, data.groups_by_query), 1e-9)


def compare_with_fractions(seed: int, count: int) -> Iterator[str]:
    """Yield the differences from sums of fractions in a batch of collections with grades and scores
    of any size.
    """
    data = make_names_hostile(draw_random_collection(seed, count, Traits(grades=EXTREME)), seed)
    scale = (1.0, 1e-300, 1e300, -1e-5)[seed % 4]
    run = data.run.set_column(3, "score", pa.array(np.asarray(data.run["score"]) * scale))
    measures = [
        "AP",
        "RR",
        "Rprec",
        "num_rel_ret",
        *(f"{name}@{k}" for name in ("P", "R", "Success", "CG") for k in CUTOFFS),
    ]
    found = sqlrank.evaluate(
        measures, run=run, qrels=data.qrels, by="collection", per_query=True, score_type="float64"
    )
    scored: dict[str, dict[str, float]] = defaultdict(dict)
    for query, doc, score in zip(
        *(run[name].to_pylist() for name in ("query_id", "doc_id", "score")), strict=True
    ):
        scored[query][doc] = score
    expected: Values = {
        query: evaluate_query(scored.get(query, {}), grades)
        for query, grades in data.qrels_dict.items()
    }
    yield from find_differences(nest_by_query(found), expected, 1e-12)


def evaluate_query(scores: dict[str, float], grades: dict[str, int]) -> dict[str, float]:
    """Return the metrics of one query, exact until they are made doubles; nothing relevant counts
    0.
    """
    ranking = sorted(scores, key=lambda doc: (scores[doc], doc.encode()), reverse=True)
    relevant = {doc for doc, grade in grades.items() if grade >= 1}
    hits = [rank for rank, doc in enumerate(ranking, start=1) if doc in relevant]
    over: Callable[[Fraction | int, int], Fraction] = lambda value, size: (  # noqa: E731
        Fraction(value) / size if size else Fraction(0)
    )
    exact = {
        "AP": over(
            sum((Fraction(place, rank) for place, rank in enumerate(hits, start=1)), Fraction(0)),
            len(relevant),
        ),
        "RR": Fraction(1, hits[0]) if hits else Fraction(0),
        "Rprec": over(sum(rank <= len(relevant) for rank in hits), len(relevant)),
        "num_rel_ret": Fraction(len(hits)),
    }
    for k in CUTOFFS:
        within = sum(rank <= k for rank in hits)
        exact[f"P@{k}"] = Fraction(within, k)
        exact[f"R@{k}"] = over(within, len(relevant))
        exact[f"Success@{k}"] = Fraction(within > 0)
        # A query without a gain has no CG, which counts 0.
        exact[f"CG@{k}"] = Fraction(sum(max(grades.get(doc, 0), 0) for doc in ranking[:k]))
    return {name: float(value) for name, value in exact.items()}
