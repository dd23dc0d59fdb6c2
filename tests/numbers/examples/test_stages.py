"""Losses of a stage relative to the stage before it, worked by hand."""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.references.recommendations import draw_world, make_pairs
from tests.tables import read_columns

SEARCH, RANKED, STAGES = ({"p": "abcdefgh", "q": "abcd"}, {"p": "hbcg", "q": "dc"}, {"p": "gh"})
QRELS = make_pairs(read_columns(p="b d g z", q="a c"), "query_id", "doc_id").append_column(
    "relevance", pa.array([1, 1, 2, 1, 1, 1])
)


def make_lists(**stages: dict[str, str]) -> pa.Table:
    """Return lists of one-letter documents in order, by stage and query."""
    rows = [
        (stage, query, doc, -place)
        for stage, lists in stages.items()
        for query, docs in lists.items()
        for place, doc in enumerate(docs)
    ]
    return pa.table(
        dict(
            zip(
                ["stage", "query_id", "doc_id", "score"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )


RUN = make_lists(search=SEARCH, ranked=RANKED, shown=STAGES)
BEFORE = make_lists(ranked=SEARCH, shown=RANKED)


def evaluate(metrics: Any, **options: Any) -> list[list[Any]]:
    found = sqlrank.evaluate(
        metrics, run=RUN, qrels=QRELS, inputs={"baseline": BEFORE}, by="stage", **options
    )
    return [list(row.values()) for row in found.to_pylist()]


def test_three_stages():
    metrics = ["num_rel_ret", "Lost", "Lost@2", "Lost(rel=2)@2", "SearchReduction", "SetR"]
    assert evaluate(metrics) == [
        # d of p and a of q are lost; b, the second, stays the second, and a of q was the first.
        ["ranked", 3, 2, 1, 0, (1 / 2 + 1 / 2) / 2, (2 / 4 + 1 / 2) / 2],
        # Nothing comes before the search.
        ["search", 5, 0, 0, 0, None, (3 / 4 + 1) / 2],
        # b of p is lost, and c of q, which has no list any more.
        ["shown", 1, 2, 2, 0, (1 / 2 + 1) / 2, (1 / 4 + 0) / 2],
    ]


def test_each_query():
    rows = evaluate(["Lost", "SearchReduction"], per_query=True)
    assert [row for row in rows if row[0] != "search"] == [
        ["ranked", "p", 1, 0.5],
        ["ranked", "q", 1, 0.5],
        ["shown", "p", 1, 0.5],
        ["shown", "q", 1, 1.0],
    ]


def test_a_query_that_has_no_baseline_loses_nothing():
    found = sqlrank.evaluate(
        ["Lost", "SearchReduction"],
        run=RUN,
        qrels=QRELS,
        inputs={"baseline": make_lists(x={"r": "ab"})},
        by="stage",
    )
    assert found["Lost"].to_pylist() == [0, 0, 0]
    assert found["SearchReduction"].to_pylist() == [None, None, None]


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 50])
def test_a_random_world(k):
    data = draw_world(21)
    (found,) = sqlrank.evaluate(
        [f"Lost@{k}", "SearchReduction"],
        run=data.run,
        qrels=data.qrels,
        inputs={"baseline": data.inputs["baseline"]},
    ).to_pylist()
    lost, shorter = 0, []
    for user, wanted in data.relevant.items():
        before, after = data.baseline.get(user, []), data.lists.get(user, [])
        lost += len({*before[:k]} & {*wanted} - {*after[:k]})
        shorter += [1 - len(after) / len(before)] if before else []
    assert found == pytest.approx(
        {f"Lost@{k}": lost, "SearchReduction": sum(shorter) / len(shorter)}
    )
