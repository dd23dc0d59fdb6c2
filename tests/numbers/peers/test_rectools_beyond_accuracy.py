"""RecTools: coverage, popularity, novelty, serendipity, diversity within lists and overlap between
lists, user by user.
"""

import math
from functools import cache
from typing import Any

import pandas as pd
import pytest
from rectools import Columns
from rectools.metrics import (
    MAP,
    MRR,
    AvgRecPopularity,
    CatalogCoverage,
    CoveredUsers,
    IntraListDiversity,
    MeanInvUserFreq,
    PairwiseHammingDistanceCalculator,
    Recall,
    Serendipity,
    calc_metrics,
)

import sqlrank
from tests.numbers.references.recommendations import Lists, World, draw_world

pytestmark = pytest.mark.slow

CUTOFFS = (1, 3, 10)
NAMES = {
    "MeanPopularity": AvgRecPopularity,
    "SelfInformation": MeanInvUserFreq,
    "Serendipity": Serendipity,
}


@cache
def draw_rectools_world(seed: int) -> World:
    return draw_world(seed, users=60, docs=40)


def make_frame(lists: Lists, *, ranked: bool = False) -> pd.DataFrame:
    rows = [
        (user, doc, rank) for user, docs in lists.items() for rank, doc in enumerate(docs, start=1)
    ]
    return pd.DataFrame(rows, columns=[Columns.User, Columns.Item, Columns.Rank]).drop(
        columns=[] if ranked else [Columns.Rank]
    )


def evaluate(metrics: list[str], data: World, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        metrics, run=data.run, qrels=data.qrels, inputs=data.inputs, queries="retrieved", **options
    ).to_pylist()


@pytest.mark.parametrize("seed", [701, 702])
def test_each_user(seed):
    data = draw_rectools_world(seed)
    reco, before = make_frame(data.lists, ranked=True), make_frame(data.history)
    given = {
        "Serendipity": {"interactions": make_frame(data.relevant), "catalog": list(data.items)}
    }
    peers = {
        f"{name}@{k}": metric(k=k).calc_per_user(
            reco, prev_interactions=before, **given.get(name, {})
        )
        for name, metric in NAMES.items()
        for k in CUTOFFS
    }
    columns = sorted({category for values in data.features.values() for category in values})
    flags = [
        [category in data.features.get(doc, ()) for category in columns]
        for doc in sorted({*reco[Columns.Item]})
    ]
    apart = PairwiseHammingDistanceCalculator(
        pd.DataFrame(flags, index=sorted({*reco[Columns.Item]})).astype(int)
    )
    peers |= {
        f"IntraListDiversity@{k}": IntraListDiversity(k=k, distance_calculator=apart).calc_per_user(
            reco
        )
        for k in CUTOFFS
    }
    rows = evaluate(list(peers), data, per_query=True, if_undefined="zero")
    assert [row["query_id"] for row in rows] == sorted(data.lists)
    for metric, values in peers.items():
        assert {row["query_id"]: row[metric] for row in rows} == pytest.approx(
            values.to_dict(), abs=1e-12
        ), metric


@pytest.mark.parametrize("seed", [703, 704])
def test_all_lists(seed):
    data = draw_rectools_world(seed)
    listed = {user: [doc for doc in docs if doc in data.items] for user, docs in data.lists.items()}
    data = World(listed, data.history, data.items, data.features, data.baseline, data.relevant)
    reco, before = make_frame(data.lists, ranked=True), make_frame(data.history)
    expected = {
        f"CatalogCoverage@{k}": CatalogCoverage(k=k, normalize=True).calc(reco, list(data.items))
        for k in CUTOFFS
    }
    expected["UserCoverage"] = CoveredUsers(k=1).calc(reco, before)
    (found,) = evaluate(list(expected), data)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", [705, 706])
def test_unequal_sets_of_users(seed):
    data = draw_rectools_world(seed)
    users = sorted(data.relevant)
    listed = {
        user: [doc for doc in docs if doc in data.items]
        for user, docs in data.lists.items()
        if user not in users[::3]
    }
    judged = {user: docs for user, docs in data.relevant.items() if user not in users[1::3]}
    reco = make_frame(listed, ranked=True)
    reco[Columns.Rank] = 2 * reco[Columns.Rank] - 1  # positions with gaps
    metrics = {f"{name}@{k}": metric(k=k) for name, metric in NAMES.items() for k in CUTOFFS}
    metrics |= {f"CatalogCoverage@{k}": CatalogCoverage(k=k, normalize=True) for k in CUTOFFS}
    accuracies = {
        f"{name}@{k}": metric(k=k)
        for name, metric in {"AP": MAP, "R": Recall, "RR": MRR}.items()
        for k in CUTOFFS
    }
    truth, before = make_frame(judged).assign(**{Columns.Datetime: 0}), make_frame(data.history)
    expected = calc_metrics(
        {**metrics, **accuracies},
        reco,
        interactions=truth,
        prev_interactions=before,
        catalog=list(data.items),
    )
    run = reco.rename(columns={Columns.User: "query_id", Columns.Item: "doc_id"})
    qrels = {user: dict.fromkeys(docs, 1) for user, docs in judged.items()}
    found = {}
    for names, inputs in ((metrics, data.inputs), (accuracies, None)):
        (row,) = sqlrank.evaluate(
            list(names), run=run, qrels=qrels, inputs=inputs, compat="rectools"
        ).to_pylist()
        found |= row
    # RecTools has NaN without documents among the first k, and NULL is None.
    assert found == pytest.approx(
        {name: None if math.isnan(value) else value for name, value in expected.items()}, abs=1e-12
    )
