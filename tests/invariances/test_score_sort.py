"""Ranks found by scores alone are those of lists that are sorted, and are taken for long lists of texts with few ties, and only there."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.planner import rank_method
from tests.invariances.rankings import METRICS, assert_equal, collection, columns
from tests.references.random_collections import Traits, random_collection

SORTABLE = [metric for metric in METRICS if "ties=" not in metric]
SCORED = b"-- plan: rank_method=score_sort"


@pytest.mark.parametrize("options", [{}, {"depth": 2}, {"queries": "retrieved"}, {"plan": {"list_key": "input"}}])
def test_scored_ranks_are_sorted_ones(options: dict[str, Any]) -> None:
    tables = collection().tables
    found = [
        columns(tables, SORTABLE, **{**options, "plan": {**options.get("plan", {}), "rank_method": ranking}})
        for ranking in ("sort", "score_sort")
    ]
    assert_equal(found[1], found[0])


def test_scored_ranks_of_several_systems() -> None:
    drawn = random_collection(3, 40, Traits(judged=(0.05, 0.2)))
    call: dict[str, Any] = {"run": drawn.run, "qrels": drawn.qrels.drop_columns("collection"), "by": ["collection"]}
    metrics = ["nDCG", "AP", "RR@3", "bpref", "Judged@5", "AP(depth=3)", "num_ret", "num_rel_ret"]
    found = {ranking: sqlrank.evaluate(metrics, **call, plan={"rank_method": ranking}).to_pydict() for ranking in ("sort", "score_sort")}
    assert found["score_sort"].pop("collection") == found["sort"].pop("collection")
    for name, values in found["sort"].items():
        assert found["score_sort"][name] == pytest.approx(values, rel=1e-12, abs=1e-15)


def test_documents_without_a_score_are_last_in_the_order_of_their_ids() -> None:
    run = pa.table({"query_id": ["q"] * 4, "doc_id": ["a", "b", "c", "d"], "score": [None, 0.5, None, float("nan")]})
    qrels = pa.table({"query_id": ["q"] * 4, "doc_id": ["a", "b", "c", "e"], "relevance": [1, 1, 1, 1]})
    call: dict[str, Any] = {"run": run, "qrels": qrels, "check": "off"}
    found = [sqlrank.evaluate(["AP", "P@3", "num_rel_ret"], **call, plan={"rank_method": ranking}) for ranking in ("sort", "score_sort")]
    assert found[0].equals(found[1])


def run_of(length: int, doc_id: str = "'d' || i", score: str = "i / 7") -> pa.Table:
    rows = f"SELECT 'q' || i // {length} AS query_id, {doc_id} AS doc_id, {score} AS score FROM range(6000) AS numbers (i)"
    return duckdb.sql(rows).to_arrow_table()


@pytest.mark.parametrize(
    ("run", "metrics", "options", "is_scored"),
    [
        (run_of(500), ["AP", "nDCG@10"], {}, True),
        (run_of(500), ["AP"], {"ties": "error"}, True),
        (run_of(100), ["AP"], {}, False),
        (run_of(500, doc_id="i"), ["AP"], {}, False),
        (run_of(500, score="i % 1000"), ["AP"], {}, False),
        (run_of(500), ["AP", "AP(ties=doc_asc)"], {}, False),
        (run_of(500), ["AP"], {"unjudged": "drop"}, False),
        (run_of(500), ["AP"], {"duplicates": "max"}, False),
        (run_of(500), ["AP"], {"plan": {"rank_method": "sort"}}, False),
    ],
)
def test_they_are_taken_for_long_lists_of_texts(
    run: pa.Table, metrics: list[str], options: dict[str, Any], is_scored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank_method, "SAMPLE_ROWS", 5000)
    judged = run.slice(0, 1000).select(["query_id", "doc_id"])
    qrels = judged.append_column("relevance", pa.array([i % 2 for i in range(1000)]))
    result = sqlrank.evaluate(metrics, run=run, qrels=qrels, **options)
    assert (SCORED in result.schema.metadata[b"sqlrank.sql"]) == is_scored
    by_sort = sqlrank.evaluate(metrics, run=run, qrels=qrels, **{**options, "plan": {"rank_method": "sort"}})
    # Numbers are added up in another order of rows.
    assert result.to_pylist() == [pytest.approx(row, rel=1e-14) for row in by_sort.to_pylist()]
