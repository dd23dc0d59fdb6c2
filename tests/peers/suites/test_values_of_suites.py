"""Inputs of the tests of ir_measures, RecTools and splink with the values that these expect, and
sqlrank in the place of the tool.

Values are facts of these repositories. No test installs the tools:

- ir_measures: terrierteam/ir_measures, ``test/test_pytrec_eval.py`` at 16347d24, ``test_judged.py``
  at 1a5da473, ``test_gdeval.py`` at 527da5dd
- RecTools: MobileTeleSystems/RecTools, ``tests/metrics/test_ranking.py`` and
  ``test_classification.py`` at 073cc96a, ``test_novelty.py`` and ``test_serendipity.py`` at
  9885a104, ``test_popularity.py`` at 256a3f91
- splink: moj-analytical-services/splink, ``tests/test_accuracy.py`` at 041fe95a
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import pytest

import sqlrank

Values = dict[Any, float]

TREC_RUN = {
    "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
    "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
}
OTHER_RUN = {**TREC_RUN, "1": {"D1": 0.8, "D4": 0.7, "D3": 0.3, "D2": 0.4}}
TREC_QRELS = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}}
OTHER_QRELS = {"0": {"D0": 0, "D1": 1, "D2": 2, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 0}}
IPREC_QRELS = {**OTHER_QRELS, "0": {**OTHER_QRELS["0"], "D0": 1}}
SAMPLED_QRELS = {
    "0": {"D0": 1, "D1": -1, "D2": 0, "D3": 2, "D4": 0},
    "1": {"D0": 1, "D3": 2, "D4": -1, "D5": 0},
}

# Run, judgments, a metric, and its values of the queries 0 and 1, which ir_measures rounds to four
# digits in part.
IR_MEASURES: list[tuple[dict[str, Any], dict[str, Any], str, tuple[float, float]]] = [
    *((TREC_RUN, TREC_QRELS, metric, values) for metric, values in {
        "num_ret": (5, 4), "num_rel_ret": (3, 1), "num_rel_ret(rel=2)": (1, 1), "num_rel_ret(rel=3)": (0, 0), "num_q": (1, 1),
        "Judged@1000": (1, 0.25), "Judged@10": (1, 0.25), "Judged@3": (1, 1 / 3), "Judged@1": (1, 0),
        "nDCG(gain=exp2)@20": (0.6201, 0.35099), "nDCG(gain=exp2)@2": (0.17377, 0.38685),
        "ERR@20": (0.10175, 0.09375), "ERR@2": (0.03125, 0.09375),
    }.items()),
    (TREC_RUN, {**TREC_QRELS, "1": OTHER_QRELS["1"]}, "num_rel", (3, 2)),
    *((OTHER_RUN, OTHER_QRELS, metric, values) for metric, values in {
        "Success@2": (1, 0), "Success(rel=2)@2": (1, 0), "Success(rel=3)@2": (0, 0),
        "SetP": (0.6, 0.25), "SetP(rel=2)": (0.4, 0.25), "SetP(rel=3)": (0, 0), "SetR": (1, 0.5), "SetR(rel=2)": (1, 1), "SetR(rel=3)": (0, 0),
    }.items()),
    *((OTHER_RUN, IPREC_QRELS, metric, values) for metric, values in {
        "IPrec@0.25": (1, 0.25), "IPrec@0.5": (1, 0.25), "IPrec@0.75": (1, 0),
        **{f"IPrec(rel=2)@{recall}": (2 / 3, 0.25) for recall in (0.1, 0.25, 0.5, 0.75)},
    }.items()),
    *((OTHER_RUN, SAMPLED_QRELS, metric, values) for metric, values in {
        "AP": (0.8333, 0.125), "infAP": (0.8333, 0.1875), "AP(rel=2)": (0.33333, 0.25), "infAP(rel=2)": (0.33333, 0.375),
    }.items()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "qrels", "metric", "values"), IR_MEASURES, ids=[case[2] for case in IR_MEASURES]
)
def test_values_of_ir_measures(
    run: Any, qrels: Any, metric: str, values: tuple[float, float]
) -> None:
    """The aggregate is the mean, or the sum of counts."""
    rows = sqlrank.evaluate(
        metric, run=run, qrels=qrels, compat="ir_measures", per_query=True
    ).to_pylist()
    assert {row["query_id"]: row[metric] for row in rows} == pytest.approx(
        {"0": values[0], "1": values[1]}, abs=6e-5
    )
    (total,) = sqlrank.evaluate(metric, run=run, qrels=qrels, compat="ir_measures").to_pylist()
    assert total[metric] == pytest.approx(
        sum(values) / (1 if metric.startswith("num_") else 2), abs=6e-5
    )


def make_reco(*rows: tuple[Any, Any, int]) -> dict[str, list[Any]]:
    users, items, ranks = zip(*rows, strict=True)
    return {"query_id": [*users], "doc_id": [*items], "rank": [*ranks]}


def make_interactions(*rows: tuple[Any, Any]) -> dict[str, list[Any]]:
    users, items = zip(*rows, strict=True)
    return {"query_id": [*users], "doc_id": [*items], "relevance": [1] * len(users)}


def rank_rows(users: list[Any], items: list[Any], ranks: list[int]) -> dict[str, list[Any]]:
    return make_reco(*zip(users, items, ranks, strict=True))


IDEAL = 1 + 1 / math.log2(3) + 0.5
RANKED = {
    "MAP": (
        rank_rows([1, 1, 2, 3, 3, 3, 3, 3, 4, 5, 5, 5, 7, 8, 9], [1, 3, 1, 1, 2, 3, 4, 5, 1, 1, 2, 3, 1, 2, 1], [9, 1, 3, 1, 3, 5, 7, 9, 1, 1, 2, 3, 2, 1, 1]),
        make_interactions(*zip([1, 1, 2, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7, 8], [1, 2, 1, 1, 2, 3, 4, 5, 6, 1, 1, 2, 3, 1, 1, 1], strict=True)),
    ),
    "NDCG": (
        rank_rows([1, 2, 3, 3, 3, 4, 5, 5, 5, 5, 6], [1, 2, 1, 2, 3, 1, 1, 2, 3, 5, 1], [9, 1, 1, 2, 3, 1, 3, 7, 9, 1, 1]),
        make_interactions(*zip([1, 2, 3, 3, 3, 4, 5, 5, 5, 5], [1, 1, 1, 2, 3, 1, 1, 2, 3, 4], strict=True)),
    ),
    "classification": (
        rank_rows([1, 1, 1, 2, 2, 3, 4], [1, 2, 3, 1, 2, 1, 1], [1, 2, 3, 1, 2, 1, 1]),
        make_interactions((1, 4), (1, 2), (1, 3), (3, 1), (4, 2), (5, 2)),
    ),
}  # fmt: skip

# Inputs, a metric, and its values of users.
RECTOOLS: list[tuple[str, str, Values]] = [
    ("MAP", "AP@1", dict(zip(range(1, 9), [0, 0, 1 / 6, 1, 1 / 3, 0, 0, 0], strict=True))),
    (
        "MAP",
        "AP@3",
        dict(zip(range(1, 9), [0, 1 / 3, 1 / 6 * (1 + 2 / 3), 1, 1, 0, 1 / 2, 0], strict=True)),
    ),
    ("MAP", "AP(denominator=k)@1", dict(zip(range(1, 9), [0, 0, 1, 1, 1, 0, 0, 0], strict=True))),
    (
        "MAP",
        "AP(denominator=k)@3",
        dict(zip(range(1, 9), [0, 1 / 9, 1 / 3 * (1 + 2 / 3), 1 / 3, 1, 0, 1 / 6, 0], strict=True)),
    ),
    ("NDCG", "nDCG@1", {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}),
    ("NDCG", "nDCG@3", {1: 0, 2: 0, 3: 1, 4: 1 / IDEAL, 5: 0.5 / IDEAL}),
    ("NDCG", "RR@1", {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}),
    ("NDCG", "RR@3", {1: 0, 2: 0, 3: 1, 4: 1, 5: 1 / 3}),
    ("classification", "P@2", {1: 0.5, 3: 0.5, 4: 0, 5: 0}),
    ("classification", "P(denominator=min_rk)@2", {1: 0.5, 3: 1, 4: 0, 5: 0}),
    ("classification", "R@2", {1: 1 / 3, 3: 1, 4: 0, 5: 0}),
    ("classification", f"F(beta={2**0.5!r})@2", {1: 0.375, 3: 0.75, 4: 0, 5: 0}),
    ("classification", "Success@2", {1: 1, 3: 1, 4: 0, 5: 0}),
]


@pytest.mark.parametrize(
    ("inputs", "metric", "values"), RECTOOLS, ids=[case[1] for case in RECTOOLS]
)
def test_values_of_rectools(inputs: str, metric: str, values: Values) -> None:
    reco, interactions = RANKED[inputs]
    options: dict[str, Any] = {"run": reco, "qrels": interactions, "compat": "rectools"}
    rows = sqlrank.evaluate(metric, **options, per_query=True).to_pylist()
    assert {row["query_id"]: row[metric] for row in rows} == pytest.approx(values)
    assert sqlrank.evaluate(metric, **options)[metric][0].as_py() == pytest.approx(
        sum(values.values()) / len(values)
    )


NOVEL = make_reco(
    ("u1", "i3", 1), ("u2", "i2", 1), ("u2", "i3", 2), ("u3", "i1", 1), ("u3", "i2", 2)
)
POPULAR = make_reco(
    ("u1", "i1", 1), ("u1", "i2", 2), ("u2", "i3", 1), ("u2", "i1", 2), ("u2", "i2", 3), ("u3", "i3", 1), ("u3", "i2", 2),
)  # fmt: skip
WITH_NEW_ITEM = {
    **POPULAR,
    "doc_id": ["i4" if place == 4 else item for place, item in enumerate(POPULAR["doc_id"])],
}
BEYOND: list[tuple[str, dict[str, list[Any]], list[tuple[str, str]], Values]] = [
    *(
        (
            f"SelfInformation@{k}",
            NOVEL,
            [("u1", "i1"), ("u1", "i2"), ("u2", "i1"), ("u3", "i1")],
            values,
        )
        for k, values in (
            (1, {"u1": math.log2(3), "u2": math.log2(3), "u3": 0}),
            (2, {"u1": math.log2(3), "u2": math.log2(3), "u3": math.log2(3) / 2}),
        )
    ),
    *(
        (
            f"MeanPopularity@{k}",
            reco,
            [("u1", "i1"), ("u1", "i2"), ("u2", "i1"), ("u2", "i3"), ("u3", "i1"), ("u3", "i2")],
            values,
        )
        for k, reco, values in (
            (1, POPULAR, {"u1": 3, "u2": 1, "u3": 1}),
            (3, POPULAR, {"u1": 2.5, "u2": 2, "u3": 1.5}),
            (1, WITH_NEW_ITEM, {"u1": 3, "u2": 1, "u3": 1}),
            (3, WITH_NEW_ITEM, {"u1": 2.5, "u2": 4 / 3, "u3": 1.5}),
        )
    ),
]


@pytest.mark.parametrize(("metric", "reco", "history", "values"), BEYOND)
def test_values_of_rectools_beyond_accuracy(
    metric: str, reco: Any, history: list[tuple[str, str]], values: Values
) -> None:
    users, items = zip(*history, strict=True)
    options: dict[str, Any] = {
        "run": reco,
        "inputs": {"history": {"query_id": [*users], "doc_id": [*items]}},
        "compat": "rectools",
    }
    rows = sqlrank.evaluate(metric, **options, per_query=True).to_pylist()
    assert {row["query_id"]: row[metric] for row in rows} == pytest.approx(values)
    assert sqlrank.evaluate(metric, **options)[metric][0].as_py() == pytest.approx(
        sum(values.values()) / len(values)
    )


@pytest.mark.parametrize(
    ("k", "values"),
    [
        (1, {"u1": 0, "u2": 0.25, "u3": 0, "u4": 0.25}),
        (2, {"u1": 0, "u2": 0.5, "u3": 0, "u4": 0.125}),
    ],
)
def test_values_of_serendipity_of_rectools(k: int, values: Values) -> None:
    reco = make_reco(
        ("u1", "i1", 1), ("u1", "i2", 2), ("u2", "i2", 1), ("u2", "i3", 2), ("u3", "i3", 1), ("u4", "i2", 1), ("u4", "i3", 2),
    )  # fmt: skip
    inputs = {
        "history": {
            "query_id": ["u1", "u1", "u2", "u2", "u3"],
            "doc_id": ["i1", "i2", "i1", "i2", "i1"],
        },
        "items": {"doc_id": ["i1", "i2", "i3", "i4"]},
    }
    qrels = make_interactions(
        ("u1", "i1"), ("u1", "i2"), ("u2", "i2"), ("u2", "i3"), ("u3", "i2"), ("u4", "i2")
    )
    rows = sqlrank.evaluate(
        f"Serendipity@{k}", run=reco, qrels=qrels, inputs=inputs, compat="rectools", per_query=True
    ).to_pylist()
    assert {row["query_id"]: row[f"Serendipity@{k}"] for row in rows} == pytest.approx(values)


COUNTS = ("TP", "FP", "TN", "FN")
DEDUPED = [("john", 1), ("john", 1), ("john", 1), ("john", 2), ("edith", 3), ("mary", 3)]
LEFT, RIGHT = [("john", 1), ("mary", 2), ("edith", 3)], [("john", 1), ("john", 2), ("eve", 3)]
PAIRS = {"dedupe_only": [*combinations(DEDUPED, 2)], "link_only": [*product(LEFT, RIGHT)]}
EQUAL_NAMES, OTHER_NAMES = math.log2(9), -math.log2(9)
"""Weights of a match of probability 0.9 against 0.1, and the other way round."""


@pytest.mark.parametrize(
    ("link_type", "threshold", "counts"),
    [
        ("dedupe_only", OTHER_NAMES, (4, 11, 0, 0)),
        ("dedupe_only", EQUAL_NAMES, (3, 3, 8, 1)),
        ("link_only", OTHER_NAMES, (3, 6, 0, 0)),
        ("link_only", EQUAL_NAMES, (1, 1, 5, 2)),
    ],
)
def test_counts_of_splink(link_type: str, threshold: float, counts: tuple[int, ...]) -> None:
    """Pairs are predicted at weights from the threshold on."""
    rows = {
        "label": [int(first[1] == second[1]) for first, second in PAIRS[link_type]],
        "score": [
            EQUAL_NAMES if first[0] == second[0] else OTHER_NAMES
            for first, second in PAIRS[link_type]
        ],
    }
    (found,) = sqlrank.evaluate([*COUNTS], predictions=rows, threshold=threshold).to_pylist()
    assert tuple(found.values()) == counts
    if threshold == EQUAL_NAMES and link_type == "dedupe_only":
        clusters = {
            "record_id": [*range(6)],
            "predicted_cluster": [name for name, _ in DEDUPED],
            "true_cluster": [group for _, group in DEDUPED],
        }
        (pairs,) = sqlrank.evaluate(
            ["PairwisePrecision", "PairwiseRecall"], inputs={"records": clusters}
        ).to_pylist()
        assert pairs == pytest.approx({"PairwisePrecision": 3 / 6, "PairwiseRecall": 3 / 4})


def test_rates_of_splink_at_a_clerical_threshold() -> None:
    """A weight of 0.4 is a match at 0.4, and a clerical score of 0.45 is none at 0.5: two of three
    are false.
    """
    rows = {"weight": [0.0, 0.4, 1.0], "clerical": [0.1, 0.45, 0.01]}
    columns = {
        "score": "weight",
        "label": "CASE WHEN clerical >= 0.5 THEN 1 ELSE 0 END",
        "weight": "1",
    }
    (found,) = sqlrank.evaluate(
        ["FPR", "Precision"], predictions=rows, columns=columns, threshold=0.4
    ).to_pylist()
    assert found == {"FPR": pytest.approx(2 / 3), "Precision": 0.0}
