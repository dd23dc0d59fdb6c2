"""Inputs of the tests of ir_measures, RecTools and splink with the values that these expect, and
sqlrank in the place of the tool.

Values are facts of these repositories. No test installs the tools:

- ir_measures: terrierteam/ir_measures, ``test/test_pytrec_eval.py`` at 16347d24, ``test_judged.py``
  at 1a5da473, ``test_gdeval.py`` at 527da5dd; ``test_ranx.py``, ``test_cwl_eval.py`` with
  ``cwl.run`` and ``cwl.qrels``, ``test_pyndeval.py`` and ``test_accuracy.py`` at dc04a88f
- RecTools: MobileTeleSystems/RecTools, ``tests/metrics/test_ranking.py`` and
  ``test_classification.py`` at 073cc96a, ``test_novelty.py`` and ``test_serendipity.py`` at
  9885a104, ``test_popularity.py`` at 256a3f91, ``test_auc.py``, ``test_diversity.py`` and
  ``test_dq.py`` at 41a5a639
- splink: moj-analytical-services/splink, ``tests/test_accuracy.py`` at 041fe95a

Not taken: lists in which ranks repeat, and AP of interactions that are listed twice (above 1 in
RecTools), which sqlrank rejects.
"""

import math
from itertools import combinations, product
from typing import Any

import pytest

import sqlrank
from tests.tables import read_columns

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

POOLED_RUN = {**TREC_RUN, "1": {"D1": 0.8, "D0": 0.7, "D3": 0.3, "D2": 0.4}}
POOLED_QRELS = {"0": {"D0": -1, "D1": 1, "D3": 2, "D4": 1}, "1": {"D0": 1, "D3": 0, "D4": -1}}
CWL_RUN = {
    query: {f"D{rank}": -float(rank) for rank in range(1, 11)} for query in ("T1", "T2", "T3")
}
CWL_QRELS = {
    "T1": {"D1": 1, "D2": 0, "D3": 1, "D4": 1, "D7": 1, "D8": 0, "D9": 1, "D10": 0},
    "T2": {"D1": 1, "D2": 1, "D5": 1, "D6": 0, "D7": 1, "D8": 1, "D9": 1, "D10": 0},
    "T3": {"D4": 0, "D5": 0, "D6": 1, "D7": 1, "D8": 1, "D9": 0, "D10": 1},
}

# Run, judgments, and metrics with their values of the queries in the order of the judgments, which
# ir_measures rounds to four digits in part. Its beta of SetF is the square of ours.
IR_MEASURES = [
    (TREC_RUN, TREC_QRELS, {
        "num_ret": (5, 4), "num_rel_ret": (3, 1), "num_rel_ret(rel=2)": (1, 1), "num_rel_ret(rel=3)": (0, 0), "num_q": (1, 1),
        "Judged@1000": (1, 0.25), "Judged@10": (1, 0.25), "Judged@3": (1, 1 / 3), "Judged@1": (1, 0),
        "nDCG(gain=exp2)@20": (0.6201, 0.35099), "nDCG(gain=exp2)@2": (0.17377, 0.38685),
        "ERR@20": (0.10175, 0.09375), "ERR@2": (0.03125, 0.09375),
    }),
    (TREC_RUN, {**TREC_QRELS, "1": OTHER_QRELS["1"]}, {"num_rel": (3, 2)}),
    (OTHER_RUN, OTHER_QRELS, {
        "Success@2": (1, 0), "Success(rel=2)@2": (1, 0), "Success(rel=3)@2": (0, 0),
        "SetP": (0.6, 0.25), "SetP(rel=2)": (0.4, 0.25), "SetP(rel=3)": (0, 0), "SetR": (1, 0.5), "SetR(rel=2)": (1, 1), "SetR(rel=3)": (0, 0),
    }),
    (OTHER_RUN, IPREC_QRELS, {
        "IPrec@0.25": (1, 0.25), "IPrec@0.5": (1, 0.25), "IPrec@0.75": (1, 0),
        **{f"IPrec(rel=2)@{recall}": (2 / 3, 0.25) for recall in (0.1, 0.25, 0.5, 0.75)},
    }),
    (OTHER_RUN, SAMPLED_QRELS, {
        "AP": (0.8333, 0.125), "infAP": (0.8333, 0.1875), "AP(rel=2)": (0.33333, 0.25), "infAP(rel=2)": (0.33333, 0.375),
        "nDCG": (0.76018, 0.32739), "nDCG@3": (0.76018, 0),
    }),
    (OTHER_RUN, OTHER_QRELS, {
        "SetRelP": (1, 0.5), "SetRelP(rel=2)": (1, 1), "SetAP": (0.6, 0.125), "SetAP(rel=2)": (0.4, 0.25), "SetAP(rel=3)": (0, 0),
        "SetF": (0.75, 0.33333), f"SetF(beta={0.5**0.5!r})": (0.6923, 0.3), f"SetF(beta={2**0.5!r})": (0.81818, 0.375), "SetF(rel=3)": (0, 0),
    }),
    (POOLED_RUN, POOLED_QRELS, {
        "P@4": (0.5, 0.25), "P(unjudged=drop)@4": (0.75, 0.25),
    }),
    ({"0": TREC_RUN["0"]}, {"0": TREC_QRELS["0"]}, {metric: (value,) for metric, value in {
        "P@5": 0.6, "P(rel=2)@5": 0.2, "R@5": 1, "R@2": 1 / 3, "R(rel=2)@2": 0, "RR": 0.5, "RR(rel=2)": 1 / 3, "RR@2": 0.5, "RR(rel=2)@2": 0,
        "AP": 0.63889, "AP(rel=2)": 1 / 3, "AP@2": 1 / 6, "AP(rel=2)@2": 0, "Success@10": 1, "Success(rel=2)@2": 0,
        "nDCG": 0.65846, "nDCG@2": 0.23981, "Rprec": 2 / 3, "Rprec(rel=2)": 0,
    }.items()}),
    (CWL_RUN, CWL_QRELS, {
        "AP": (0.7087, 0.7438, 0.3068), "RR": (1, 1, 0.1667), "RBP(p=0.9)": (0.3501, 0.3996, 0.1988),
        "P@1": (1, 1, 0), "P@5": (0.6, 0.6, 0), "P@10": (0.5, 0.6, 0.4), "P@20": (0.25, 0.3, 0.2),
    }),
]  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("run", "qrels", "values"), IR_MEASURES)
def test_values_of_ir_measures(run, qrels, values):
    """The aggregate is the mean, or the sum of counts."""
    call = {"run": run, "qrels": qrels, "compat": "ir_measures"}
    rows = {
        row["query_id"]: row
        for row in sqlrank.evaluate([*values], **call, per_query=True).to_pylist()
    }
    for metric, expected in values.items():
        found = [rows[query][metric] for query in qrels]
        assert found == pytest.approx([*expected], abs=6e-5), metric
    (total,) = sqlrank.evaluate([*values], **call).to_pylist()
    assert total == pytest.approx(
        {
            metric: sum(of_queries) / (1 if metric.startswith("num_") else len(of_queries))
            for metric, of_queries in values.items()
        },
        abs=6e-5,
    )


def test_intent_aware_values_of_ir_measures():
    qrels = read_columns(
        query_id=["0"] * 6 + ["1"] * 3,
        subtopic="0 0 0 1 1 0 0 0 1",
        doc_id="D0 D1 D2 D2 D3 D4 D0 D3 D5",
        relevance="0 1 1 1 2 0 1 2 2",
    )
    rows = sqlrank.evaluate("ERR_IA@20", run=TREC_RUN, qrels=qrels, per_query=True).to_pylist()
    assert {row["query_id"]: row["ERR_IA@20"] for row in rows} == pytest.approx(
        {"0": 0.4659, "1": 0.1803}, abs=6e-5
    )


@pytest.mark.parametrize(("rel", "values"), [(1, (2 / 3, 0.5, 1)), (2, (2 / 3, 0.75))])
def test_accuracy_of_ir_measures(rel, values):
    """It is the share of pairs of a relevant document and another one in the right order."""
    lists = {"0": [0, 2, 0, 0], "1": [0, 2, 0, 1, 0], "2": [1, 0]}
    rows = [
        {"query_id": query, "label": int(grade >= rel), "score": -rank}
        for query, grades in lists.items()
        for rank, grade in enumerate(grades)
    ]
    table = sqlrank.evaluate("PairAccuracy", predictions=rows, per_query=True)
    assert table["PairAccuracy"].drop_null().to_pylist() == pytest.approx([*values])


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

# Inputs, and metrics with their values of users.
RECTOOLS = {
    "MAP": {
        "AP@1": [0, 0, 1 / 6, 1, 1 / 3, 0, 0, 0],
        "AP@3": [0, 1 / 3, 1 / 6 * (1 + 2 / 3), 1, 1, 0, 1 / 2, 0],
        "AP(denominator=k)@1": [0, 0, 1, 1, 1, 0, 0, 0],
        "AP(denominator=k)@3": [0, 1 / 9, 1 / 3 * (1 + 2 / 3), 1 / 3, 1, 0, 1 / 6, 0],
    },
    "NDCG": {
        "nDCG@1": [0, 0, 1, 1, 0],
        "nDCG@3": [0, 0, 1, 1 / IDEAL, 0.5 / IDEAL],
        "RR@1": [0, 0, 1, 1, 0],
        "RR@3": [0, 0, 1, 1, 1 / 3],
    },
    "classification": {
        "P@2": [0.5, 0.5, 0, 0],
        "P(denominator=min_rk)@2": [0.5, 1, 0, 0],
        "R@2": [1 / 3, 1, 0, 0],
        f"F(beta={2**0.5!r})@2": [0.375, 0.75, 0, 0],
        "Success@2": [1, 1, 0, 0],
    },
}
USERS = {"MAP": range(1, 9), "NDCG": range(1, 6), "classification": (1, 3, 4, 5)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("inputs", RECTOOLS)
def test_values_of_rectools(inputs):
    reco, interactions = RANKED[inputs]
    values = RECTOOLS[inputs]
    options = {"run": reco, "qrels": interactions, "compat": "rectools"}
    rows = {
        row["query_id"]: row
        for row in sqlrank.evaluate([*values], **options, per_query=True).to_pylist()
    }
    assert {*rows} == {*USERS[inputs]}
    for metric, expected in values.items():
        assert [rows[user][metric] for user in USERS[inputs]] == pytest.approx(expected), metric
    assert sqlrank.evaluate([*values], **options).to_pylist() == [
        pytest.approx({metric: sum(each) / len(each) for metric, each in values.items()})
    ]


RANKED["AUC"] = (
    rank_rows([1, 2, 3, 3, 3, 4, 5, 5, 5, 5], [1, 2, 1, 2, 3, 1, 1, 2, 3, 5], [9, 1, 1, 2, 3, 1, 3, 7, 9, 1]),
    make_interactions(*zip([1, 2, 3, 3, 3, 4, 5, 5, 5, 5], [1, 1, 1, 2, 3, 1, 1, 2, 3, 4], strict=True)),
)  # fmt: skip
LATE = ([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3], [1, 2, 3, 4, 5, 6])
RANKED["sufficient"] = (
    rank_rows(*LATE), make_interactions((1, 1), (1, 2), (2, 1), (2, 2), (2, 3)),
)  # fmt: skip
RANKED["insufficient"] = (
    rank_rows(*LATE), make_interactions((1, 1), (1, 2), (1, 10), (2, 1), (2, 2), (2, 3)),
)  # fmt: skip
RANKED["short"] = (
    rank_rows([1, 2, 2, 2], [1, 1, 2, 3], [1, 4, 5, 6]), RANKED["insufficient"][1],
)  # fmt: skip
AREAS = [
    ("AUC", "PartialAUC@1", {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}),
    ("AUC", "PartialAUC@3", {1: 0, 2: 0, 3: 1, 4: 1, 5: 1 / 12}),
    ("AUC", "pAp@1", {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}),
    ("AUC", "pAp@3", {1: 0, 2: 0, 3: 1, 4: 1, 5: 1 / 9}),
    *(
        ("sufficient", f"{name}@{k}", {1: 1, 2: 0})
        for name in ("PartialAUC", "pAp")
        for k in (1, 3)
    ),
    ("insufficient", "PartialAUC@1", {1: 2 / 3, 2: 0}),
    ("short", "pAp@2", {1: 1 / 2, 2: 0}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("inputs", "metric", "values"), AREAS)
def test_values_of_partial_areas_of_rectools(inputs, metric, values):
    """Ranks that no row has, and those after a list, are of items without an interaction; items
    that are not recommended come after them.
    """
    reco, interactions = RANKED[inputs]
    liked = {*zip(interactions["query_id"], interactions["doc_id"], strict=True)}
    items = {
        (user, rank): item
        for user, item, rank in zip(reco["query_id"], reco["doc_id"], reco["rank"], strict=True)
    }
    listed = {(user, item) for (user, _), item in items.items()}
    rows = [
        {"query_id": user, "label": int((user, items.get((user, rank))) in liked), "score": -rank}
        for user in values
        for rank in range(1, 13)
    ] + [{"query_id": user, "label": 1, "score": -20} for user, _ in sorted(liked - listed)]
    found = sqlrank.evaluate(metric, predictions=rows, per_query=True).to_pylist()
    assert {row["query_id"]: row[metric] for row in found} == pytest.approx(values)
    (mean,) = sqlrank.evaluate(metric, predictions=rows, level="query").to_pylist()
    assert mean[metric] == pytest.approx(sum(values.values()) / len(values))


@pytest.mark.parametrize(("k", "value"), [(1, 0), (2, 1), (3, 4 / 3)])
def test_diversity_of_rectools(k, value):
    """Of the list u1: a list of one item has 0 there."""
    inputs = {"features": read_columns(doc_id="i2 i3 i3", category="feature_2 feature_1 feature_2")}
    run = {"u1": ["i1", "i2", "i3"], "u3": ["i1"]}
    rows = sqlrank.evaluate(
        f"IntraListDiversity@{k}", run=run, inputs=inputs, per_query=True, if_undefined="zero"
    ).to_pylist()
    assert [row[f"IntraListDiversity@{k}"] for row in rows] == pytest.approx([value, 0])


def test_covered_users_of_rectools():
    reco = read_columns(query_id="1 1 2 2 2 3 3 3 3 3", doc_id="1 2 1 1 3 1 2 2 1 5")
    history = {
        key: [*values, *new]
        for (key, values), new in zip(reco.items(), ([10, 11], [5, 5]), strict=True)
    }
    run = {**reco, "rank": [1, 2, 1, 2, 3, 1, 2, 3, 4, 5]}
    (found,) = sqlrank.evaluate(
        "UserCoverage", run=run, inputs={"history": history}, duplicates="max"
    ).to_pylist()
    assert found == {"UserCoverage": 0.6}


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
BEYOND = [
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("metric", "reco", "history", "values"), BEYOND)
def test_values_of_rectools_beyond_accuracy(metric, reco, history, values):
    users, items = zip(*history, strict=True)
    options = {
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
def test_values_of_serendipity_of_rectools(k, values):
    reco = make_reco(
        ("u1", "i1", 1), ("u1", "i2", 2), ("u2", "i2", 1), ("u2", "i3", 2), ("u3", "i3", 1), ("u4", "i2", 1), ("u4", "i3", 2),
    )  # fmt: skip
    inputs = {
        "history": read_columns(query_id="u1 u1 u2 u2 u3", doc_id="i1 i2 i1 i2 i1"),
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
def test_counts_of_splink(link_type, threshold, counts):
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


def test_errors_of_splink():
    """Of the pairs of five records one is a wrong match, and two are missed."""
    records = [("robin", 1), ("robin", 1), ("john", 1), ("david", 2), ("david", 3)]
    rows = [
        {"label": int(first[1] == second[1]), "score": float(first[0] == second[0])}
        for first, second in combinations(records, 2)
    ]
    (found,) = sqlrank.evaluate([*COUNTS], predictions=rows).to_pylist()
    assert found == {"TP": 1, "FP": 1, "TN": 6, "FN": 2}
    clusters = {
        "record_id": [*range(5)],
        "predicted_cluster": [name for name, _ in records],
        "true_cluster": [group for _, group in records],
    }
    (pairs,) = sqlrank.evaluate(
        ["PairwisePrecision", "PairwiseRecall"], inputs={"records": clusters}
    ).to_pylist()
    assert pairs == pytest.approx({"PairwisePrecision": 1 / 2, "PairwiseRecall": 1 / 3})


def test_rates_of_splink_at_a_clerical_threshold():
    """A weight of 0.4 is a match at 0.4, and a clerical score of 0.45 is none at 0.5: two of three
    are false.
    """
    rows = read_columns(weight="0.0 0.4 1.0", clerical="0.1 0.45 0.01")
    columns = {
        "score": "weight",
        "label": "CASE WHEN clerical >= 0.5 THEN 1 ELSE 0 END",
        "weight": "1",
    }
    (found,) = sqlrank.evaluate(
        ["FPR", "Precision"], predictions=rows, columns=columns, threshold=0.4
    ).to_pylist()
    assert found == {"FPR": pytest.approx(2 / 3), "Precision": 0.0}
