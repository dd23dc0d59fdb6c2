"""Ranking metrics, random collections, and comparison of values, for tests of invariances."""

import math
import random
from functools import cache
from typing import Any

import pyarrow as pa

import sqlrank
from tests.numbers.references.answers import Collection

METRICS = [
    *(
        "11pt", "AP", "AP@3", "AR@3", "binG", "bpref", "CG@3", "DCG@3", "ERR", "F@3", "G",
        "infAP", "IPrec@0.5", "Judged@3", "MDCG@3",
    ),
    *(
        "nDCG", "nDCG(gain=exp2)@3", "nDCG(ideal=judged_truncated)", "nDCG(ideal=retrieved)",
        "nDCGrel", "num_no_rel", "num_nonrel_judged_ret",
    ),
    *(
        "num_dropped", "num_duplicates", "num_q", "num_rel", "num_rel_ret", "num_ret",
        "num_tied@3", "num_unanswered", "num_unjudged", "P@3", "PFound", "R@3", "RBP",
    ),
    *(
        "RBPresid", "RHR@3", "Rndcg", "Rprec", "RR", "SetAP", "SetF", "SetP", "SetR", "SetRelP",
        "Success@3", "FullRecall@3", "Unj@3", "utility",
    ),
    *(
        "P(rel=2)@2", "AP(denominator=k, precision_at=all_ranks)@4", "nDCG(ideal=binary_k)@4",
        "RR(ties=worst)", "nDCG(ties=expected)@2",
    ),
]  # fmt: skip


def draw_collection(
    seed: int, queries: int = 60, grades: tuple[int, ...] = (-1, 0, 0, 1, 2, 3)
) -> Collection:
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{i}" for i in range(18)]
    run = {
        f"q{i}": {doc: float(rng.randint(0, 5)) for doc in rng.sample(docs, rng.randint(1, 12))}
        for i in range(queries)
        if i % 9
    }
    qrels = {
        f"q{i}": {doc: float(rng.choice(grades)) for doc in rng.sample(docs, rng.randint(1, 10))}
        for i in range(queries)
        if i % 7
    }
    return Collection(run, qrels)


@cache
def get_collection() -> Collection:
    return draw_collection(7)


@cache
def evaluate_alone() -> dict[str, list[Any]]:
    """Evaluate the untouched collection once, on one thread."""
    return evaluate_columns(get_collection().tables, threads=1)


def evaluate_columns(
    tables: dict[str, pa.Table], metrics: list[str] = METRICS, **policies: Any
) -> dict[str, list[Any]]:
    result = sqlrank.evaluate(metrics, **tables, per_query=True, **policies)
    return result.to_pydict()


def assert_equal(got: dict[str, list[Any]], expected: dict[str, list[Any]]) -> None:
    assert got.keys() == expected.keys()
    for name, values in expected.items():
        if any(isinstance(value, str) for value in values):
            assert got[name] == values
            continue
        assert [value is None for value in got[name]] == [value is None for value in values], name
        pairs = [
            (one, other) for one, other in zip(got[name], values, strict=True) if other is not None
        ]
        assert all(
            math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15) for one, other in pairs
        ), name


def make_run(queries: int, length: int) -> pa.Table:
    rows = range(queries * length)
    return pa.table(
        {
            "query_id": [i // length for i in rows],
            "doc_id": [i % length for i in rows],
            "score": [i * 7919 % 101 for i in rows],
        }
    )


def make_qrels(queries: int, judged: int) -> pa.Table:
    rows = range(queries * judged)
    return pa.table(
        {
            "query_id": [i // judged for i in rows],
            "doc_id": [i % judged for i in rows],
            "relevance": [1 for _ in rows],
        }
    )
