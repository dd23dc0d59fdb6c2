"""The cut-off within which a share of the queries have a relevant document, by hand, by NumPy, and
the guarantee of its upper limit.
"""

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

BOTH = ["RankQuantile", "RankQuantileBound"]


def make_lists(hits: Any, depth: int = 20) -> dict[str, Any]:
    """Return a list for each rank of a first hit, whose documents are their ranks; deeper ranks are
    not retrieved.
    """
    queries, ranks = (
        np.repeat(np.arange(len(hits)), depth),
        np.tile(np.arange(depth) + 1, len(hits)),
    )
    run = {"query_id": queries, "doc_id": ranks, "score": -ranks.astype(float)}
    return {
        "run": pa.table(run),
        "qrels": pa.table(
            {"query_id": np.arange(len(hits)), "doc_id": hits, "relevance": [1] * len(hits)}
        ),
    }


def test_by_hand():
    """Nine of ten queries have a hit at rank 7 or above, and none of the tenth is retrieved."""
    given = make_lists([1, 1, 1, 2, 2, 3, 3, 5, 7, 99])
    metrics = [
        "RankQuantile", "RankQuantile(q=0.91)", "RankQuantile(q=0.5)", "RankQuantile(q=0.51)",
        "RankQuantile(q=0.1)",
    ]  # fmt: skip
    (found,) = sqlrank.evaluate(metrics, **given).to_pylist()
    assert [*found.values()] == [7, None, 2, 3, 1]
    several = pa.concat_tables(
        [given["qrels"], build_table(query_id="8 8", doc_id="4 6", relevance="1 0")]
    )
    assert sqlrank.evaluate("RankQuantile", run=given["run"], qrels=several).to_pylist() == [
        {"RankQuantile": 5}
    ]


def test_queries_without_relevant_documents_do_not_count():
    given = make_lists([1, 2, 3])
    judged = pa.concat_tables(
        [given["qrels"].slice(0, 2), build_table(query_id="2", doc_id="3", relevance="0")]
    )
    assert sqlrank.evaluate(["RankQuantile"], run=given["run"], qrels=judged).to_pylist() == [
        {"RankQuantile": 2}
    ]
    none = given["qrels"].set_column(2, "relevance", pa.array([0] * 3))
    assert sqlrank.evaluate(BOTH, run=given["run"], qrels=none).to_pylist() == [dict.fromkeys(BOTH)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("queries", "q", "bound"),
    [(29, 0.9, 0.95), (40, 0.5, 0.95), (100, 0.9, 0.99), (700, 0.9, 0.95)],
)
def test_numbers_are_those_of_numpy(queries, q, bound):
    hits = np.random.default_rng(queries).geometric(0.4, queries)
    place, mass = 0, 0.0
    while mass < bound:
        mass += float(
            comb(queries, place) * Fraction(q) ** place * (1 - Fraction(q)) ** (queries - place)
        )
        place += 1
    (found,) = sqlrank.evaluate(
        [f"RankQuantile(q={q})", f"RankQuantileBound(q={q}, bound={bound})"],
        **make_lists(hits, depth=int(hits.max())),
    ).to_pylist()
    assert [*found.values()] == [
        np.quantile(hits, q, method="inverted_cdf"),
        np.sort(hits)[place - 1],
    ]


def test_few_queries_have_no_limit():
    """The greatest of n ranks is not below the quantile with probability 1 - 0.9^n."""
    for queries, there in ((28, False), (29, True)):
        found = sqlrank.evaluate(
            "RankQuantileBound", **make_lists([*range(1, queries + 1)], depth=30)
        ).to_pylist()
        assert (found[0]["RankQuantileBound"] is not None) is there
    assert sqlrank.evaluate("RankQuantileBound(q=1)", **make_lists([1] * 30)).to_pylist() == [
        {"RankQuantileBound(q=1)": None}
    ]


@pytest.mark.slow
def test_the_limit_holds_as_often_as_it_says():
    """The ranks of 1,000 samples of 50 queries are geometric. The limit, the 49th, is too low if 49
    of 50 are below the quantile, 7.
    """
    rng = np.random.default_rng(3)
    hits = rng.geometric(0.3, 50_000)
    queries = pa.table({"query_id": np.arange(50_000), "sample": np.arange(50_000) // 50})
    found = sqlrank.evaluate(
        BOTH, **make_lists(hits, depth=15), queries=queries, by="queries.sample"
    ).to_pydict()
    truth, below = 7, 1 - 0.7**6
    assert 1 - 0.7**7 > 0.9 > below
    limits = np.array([15 if limit is None else limit for limit in found["RankQuantileBound"]])
    chance = 1 - 50 * below**49 * (1 - below) - below**50
    assert chance > 0.95
    assert np.mean(limits >= truth) == pytest.approx(chance, abs=0.008)
    assert all(
        value is None or value <= limit
        for value, limit in zip(found["RankQuantile"], limits, strict=True)
    )
