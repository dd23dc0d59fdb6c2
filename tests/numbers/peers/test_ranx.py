"""ranx, which compiles for a minute when it is first used."""

import pytest

import sqlrank
from tests.numbers.references.random_collections import (
    Traits,
    assert_same,
    draw_random_collection,
    nest_by_query,
    nest_rows,
)

ranx = pytest.importorskip("ranx")

CUTOFFS = (1, 3, 10)
METRICS = {
    "AP": "map",
    "AP(rel=2)": "map-l2",
    "RR": "mrr",
    "R": "recall",
    "Rprec": "r-precision",
    "nDCG": "ndcg",
    "nDCG(rel=2)": "ndcg-l2",
    "DCG": "dcg",
    "nDCG(gain=exp2)": "ndcg_burges",
    "DCG(gain=exp2)": "dcg_burges",
    "RBP": "rbp.80",
    "RBP(p=0.5, rel=2)": "rbp.5-l2",
    **{f"AP@{k}": f"map@{k}" for k in CUTOFFS},
    **{f"nDCG@{k}": f"ndcg@{k}" for k in CUTOFFS},
    **{f"nDCG(gain=exp2)@{k}": f"ndcg_burges@{k}" for k in CUTOFFS},
    **{f"DCG@{k}": f"dcg@{k}" for k in CUTOFFS},
    **{f"RR@{k}": f"mrr@{k}" for k in CUTOFFS},
    **{f"P@{k}": f"precision@{k}" for k in CUTOFFS},
    **{f"R@{k}": f"recall@{k}" for k in CUTOFFS},
    **{f"F@{k}": f"f1@{k}" for k in CUTOFFS},
    **{f"Success@{k}": f"hit_rate@{k}" for k in CUTOFFS},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64")
def test_each_query_and_means():
    """Without ties, of which ranx makes an unstable order."""
    traits = Traits(scores=("distinct", "continuous"), unanswered=0.0, unjudged=0.0)
    data = draw_random_collection(701, 60, traits).numbered_by_row()
    run, qrels = ranx.Run(data.run_dict), ranx.Qrels(data.qrels_dict)
    found = ranx.evaluate(qrels, run, list(METRICS.values()), return_mean=False)
    each = {name: zip(qrels.keys(), found[metric], strict=True) for name, metric in METRICS.items()}
    expected = nest_rows(
        (query, name, float(value)) for name, values in each.items() for query, value in values
    )
    means = {name: sum(row[name] for row in expected.values()) / len(expected) for name in METRICS}
    sources = {"run": data.run, "qrels": data.qrels, "compat": "ranx"}
    assert_same(nest_by_query(sqlrank.evaluate(list(METRICS), per_query=True, **sources)), expected)
    assert_same({"all": sqlrank.evaluate(list(METRICS), **sources).to_pylist()[0]}, {"all": means})
