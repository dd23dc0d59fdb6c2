"""Rank correlations of scipy, PAP and PartialAUC of RecTools, the fraction of concordant pairs of
Surprise.
"""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from rectools import Columns
from rectools.metrics import PAP, PartialAUC
from scipy import stats

import sqlrank

pytestmark = pytest.mark.slow

SCIPY = {
    "KendallTau": lambda label, score: stats.kendalltau(score, label).statistic,
    "KendallTau(tau=c)": lambda label, score: stats.kendalltau(score, label, variant="c").statistic,
    "SpearmanRho": lambda label, score: stats.spearmanr(score, label).statistic,
    "SomersD": lambda label, score: stats.somersd(label, score).statistic,
    "SomersD(untied_in=score)": lambda label, score: stats.somersd(score, label).statistic,
}
CUTOFFS = (1, 2, 5, 8, 20)


@cache
def draw_lists() -> pa.Table:
    """Return lists of all sizes, from many ties to none."""
    rng = np.random.default_rng(41)
    parts = []
    for number in range(60):
        n, levels = (
            int(rng.choice([2, 5, 20, 31, 33, 64, 100, 300])),
            int(rng.choice([2, 3, 10, 1000000])),
        )
        label = rng.integers(0, int(rng.choice([2, 5, 1000000])), n)
        score = rng.integers(0, levels, n) - rng.integers(0, 2) * (label % levels)
        parts.append(pa.table({"list": [number] * n, "label": label, "score": score}))
    return pa.concat_tables(parts)


def test_scipy():
    got = sqlrank.evaluate(list(SCIPY), predictions=draw_lists(), by="list").to_pylist()
    frame = draw_lists().to_pandas()
    compared = 0
    for row in got:
        part = frame[frame["list"] == row["list"]]
        for metric, peer in SCIPY.items():
            if len(set(part["label"])) > 1 and len(set(part["score"])) > 1:
                assert row[metric] == pytest.approx(
                    peer(part["label"], part["score"]), abs=1e-12
                ), (metric, row["list"])
                compared += 1
            elif metric.startswith(("Kendall", "Spearman")):
                assert row[metric] is None
    assert compared > 200


@pytest.mark.parametrize("levels", [5, 10**9])
@pytest.mark.parametrize("counting", ["window_ranks", "bits"])
def test_scipy_of_a_long_list(levels, counting):
    rng = np.random.default_rng(levels)
    label = rng.integers(0, levels, 20_000)
    score = label + rng.normal(size=len(label)) * levels // 3
    metrics = ["KendallTau", "KendallTau(tau=c)", "SpearmanRho"]
    (got,) = sqlrank.evaluate(
        metrics,
        predictions=pa.table({"label": label, "score": score}),
        plan={"pair_counting": counting},
    ).to_pylist()
    assert got == pytest.approx(
        {metric: SCIPY[metric](label, score) for metric in metrics}, abs=1e-10
    )


@cache
def draw_users() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Recommendations of 30 items to each user, and the items they interacted with; all of these
    were recommended.
    """
    rng = np.random.default_rng(43)
    reco = pd.DataFrame(
        [
            (user, item, rank + 1)
            for user in range(40)
            for rank, item in enumerate(rng.permutation(30))
        ]
    )
    reco.columns = [Columns.User, Columns.Item, Columns.Rank]
    liked = reco[rng.random(len(reco)) < reco[Columns.User] / 45 + 0.01]
    return reco, liked[[Columns.User, Columns.Item]].groupby(Columns.User).head(28)


@pytest.mark.filterwarnings(
    "ignore:Downcasting object dtype arrays:FutureWarning"
)  # RecTools fills gaps so
def test_rectools():
    """RecTools knows ranks only, and takes negatives that are missing for beaten by every positive
    that was recommended.
    """
    reco, interactions = draw_users()
    label = reco.merge(interactions.assign(label=1), how="left")["label"].fillna(0)
    predictions = pa.table(
        {"query_id": reco[Columns.User], "score": -reco[Columns.Rank], "label": label}
    )
    peers = {f"pAp@{k}": PAP(k=k) for k in CUTOFFS} | {
        f"PartialAUC@{k}": PartialAUC(k=k) for k in CUTOFFS
    }
    got = (
        sqlrank.evaluate(list(peers), predictions=predictions, per_query=True, few_negatives="pad")
        .to_pandas()
        .set_index("query_id")
    )
    means = sqlrank.evaluate(
        list(peers), predictions=predictions, level="query", few_negatives="pad"
    ).to_pylist()[0]
    for metric, peer in peers.items():
        expected = peer.calc_per_user(reco, interactions)
        assert got[metric].dropna().to_dict() == pytest.approx(expected.to_dict(), abs=1e-12), (
            metric
        )
        assert means[metric] == pytest.approx(peer.calc(reco, interactions), abs=1e-12)


def run_surprise(rows: list[tuple[int, float, float]]) -> float:
    surprise = pytest.importorskip(
        "surprise", reason="scikit-surprise has no wheel and is not among the dependencies"
    )
    return surprise.accuracy.fcp(
        [(user, None, label, score, {}) for user, label, score in rows], verbose=False
    )


def compute_published_fcp(rows: list[tuple[int, float, float]]) -> float:
    """Surprise's rule, written from its documentation: both means are over the users that have such
    pairs.
    """
    found = {"concordant": {}, "discordant": {}}
    for user, label, score in rows:
        for other, other_label, other_score in rows:
            if user == other and label > other_label:
                kind = "concordant" if score > other_score else "discordant"
                found[kind][user] = found[kind].get(user, 0) + 1
    concordant, discordant = (float(np.mean(list(counts.values()))) for counts in found.values())
    return concordant / (concordant + discordant)


@pytest.mark.parametrize("peer", [compute_published_fcp, run_surprise])
def test_surprise(peer):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        user, label = rng.integers(0, 25, 150), rng.integers(1, 6, 150)
        score = np.clip(np.round(label + rng.normal(size=150) * 1.5), 1, 5)
        predictions = pa.table({"query_id": user, "label": label, "score": score})
        (row,) = sqlrank.evaluate(
            "FCP(tie_rule=discordant, pooling=surprise)", predictions=predictions
        ).to_pylist()
        rows = [(int(u), float(r), float(s)) for u, r, s in zip(user, label, score, strict=True)]
        assert list(row.values()) == pytest.approx([peer(rows)], abs=1e-12)
