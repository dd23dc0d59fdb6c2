"""RecTools: the ranks are those of the input, and items of interactions are relevant."""

from functools import cache

import pandas as pd
import pytest
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

import sqlrank
from tests.numbers.references.random_collections import (
    Collection,
    Traits,
    assert_same,
    draw_random_collection,
    nest_by_query,
    nest_rows,
)

pytestmark = pytest.mark.slow

CUTOFFS = (1, 2, 3, 5, 10, 30)
METRICS = {
    "AP": MAP,
    "AP(denominator=k)": lambda k: MAP(k=k, divide_by_k=True),
    "nDCG": NDCG,
    "nDCG(ideal=judged)": lambda k: NDCG(k=k, divide_by_achievable=True),
    "RR": MRR,
    "P": Precision,
    "P(denominator=min_rk)": lambda k: Precision(k=k, r_precision=True),
    "R": Recall,
    "Success": HitRate,
    "F": F1Beta,
    "F(beta=2)": lambda k: F1Beta(k=k, beta=2),
}


@cache
def draw_collection(seed: int) -> Collection:
    """Draw recommendations whose ranks have nothing to do with their scores."""
    return draw_random_collection(seed, 60, Traits(grades=((1,),)))


def make_frames(data: Collection) -> tuple[pd.DataFrame, pd.DataFrame]:
    reco = pd.DataFrame(
        [(query, doc, rank) for _, query, doc, _, rank in data.run_rows],
        columns=[Columns.User, Columns.Item, Columns.Rank],
    )
    interactions = pd.DataFrame(
        [(query, doc) for _, query, doc, _ in data.qrel_rows], columns=[Columns.User, Columns.Item]
    )
    return reco, interactions


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [601, 602])
def test_each_user(name, seed):
    data = draw_collection(seed)
    reco, interactions = make_frames(data)
    peers = {f"{name}@{k}": METRICS[name](k=k) for k in CUTOFFS}
    values = {metric: peer.calc_per_user(reco, interactions) for metric, peer in peers.items()}
    expected = nest_rows(
        (user, metric, float(value))
        for metric, column in values.items()
        for user, value in column.items()
    )
    got = sqlrank.evaluate(
        list(peers), run=data.run, qrels=data.qrels, compat="rectools", per_query=True
    )
    assert_same(nest_by_query(got), expected)


def test_means():
    data = draw_collection(603)
    reco, interactions = make_frames(data)
    expected = {
        f"{name}@{k}": float(metric(k=k).calc(reco, interactions))
        for name, metric in METRICS.items()
        for k in CUTOFFS
    }
    got = sqlrank.evaluate(
        list(expected), run=data.run, qrels=data.qrels, compat="rectools"
    ).to_pylist()[0]
    assert_same({"all": got}, {"all": expected})
