"""The cut-off at which recall bends most, by hand and by NumPy from the recall at each cut-off."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank


def make_lists(**wanted: str) -> dict[str, pa.Table]:
    """Return lists of the documents a to j, and their judgments."""
    rows = [(query, doc, -place) for query in wanted for place, doc in enumerate("abcdefghij")]
    judged = [(query, doc, 1) for query, docs in wanted.items() for doc in docs]
    return {
        "run": pa.table(
            dict(
                zip(
                    ["query_id", "doc_id", "score"], map(list, zip(*rows, strict=True)), strict=True
                )
            )
        ),
        "qrels": pa.table(
            dict(
                zip(
                    ["query_id", "doc_id", "relevance"],
                    map(list, zip(*judged, strict=True)),
                    strict=True,
                )
            )
        ),
    }


def evaluate_elbow(metric: str, given: dict[str, pa.Table], **options: Any) -> list[Any]:
    return list(sqlrank.evaluate(metric, **given, **options)[metric].to_pylist())


@pytest.mark.slow
def test_by_hand():
    """Recall 1/6, 7/12, 7/12, 7/12, 7/12, 3/4 goes 7/12 of the way; at 2 it has 5/7 of that, where
    a straight line has 1/5.
    """
    given = make_lists(p="abf", q="bz")
    assert evaluate_elbow("Elbow@6", given) == [2]
    assert evaluate_elbow("Elbow@6", given, per_query=True) == [2, 2]
    # To 10 the same curve goes on level.
    assert evaluate_elbow("Elbow@10", given) == [2]


def test_the_first_of_several():
    """At 2 and at 4 recall is as far above the line: 1/2 - 1/4, and 1 - 3/4."""
    assert evaluate_elbow("Elbow@5", make_lists(p="bd")) == [2]


@pytest.mark.parametrize(
    "wanted", ["j", "a", "abcde", "e"], ids=["not found", "level", "straight", "below"]
)
def test_nowhere(wanted):
    assert evaluate_elbow("Elbow@5", make_lists(p=wanted)) == [None]


def test_nothing_is_relevant():
    given = make_lists(p="b")
    given["qrels"] = given["qrels"].set_column(2, "relevance", pa.array([0]))
    assert evaluate_elbow("Elbow@5", given) == [None]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("k", [5, 30, 60])
def test_many_lists(k):
    draw = np.random.default_rng(k)
    rows = [(system, query, doc) for system in "xy" for query in range(40) for doc in range(50)]
    chance = np.array([0.5 / (1 + doc) + 0.02 for _, _, doc in rows]) * np.array(
        [1 if row[0] == "x" else 0.5 for row in rows]
    )
    score = np.argsort(np.argsort(draw.random(len(rows)) ** (1 / chance)))
    run = pa.table(
        {
            **dict(
                zip(
                    ["system", "query_id", "doc_id"],
                    map(list, zip(*rows, strict=True)),
                    strict=True,
                )
            ),
            "score": score,
        }
    )
    qrels = pa.table(
        {
            "query_id": [q for q in range(40) for _ in range(5)],
            "doc_id": [d for q in range(40) for d in range(q % 7, 35, 7)],
        }
    )
    given = {"run": run, "qrels": qrels.append_column("relevance", pa.array([1] * len(qrels)))}
    recall = sqlrank.evaluate(f"R@1..{k}", **given, by="system").to_pylist()
    expected = []
    for system in "xy":
        curve = np.array([row[f"R@1..{k}"] for row in recall if row["system"] == system])
        rise, way = (curve - curve[0]) / (curve[-1] - curve[0]), np.arange(k) / (k - 1)
        height = np.round(rise - way, 9)
        expected.append(int(np.argmax(height)) + 1)
        assert height.max() > 0
    assert evaluate_elbow(f"Elbow@{k}", given, by="system") == expected
