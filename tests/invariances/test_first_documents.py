"""Metrics from truncated lists equal those from full lists, and long lists are truncated."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import InputError
from sqlrank.inputs import row_checks
from sqlrank.planner import rank_method
from tests.invariances.rankings import assert_equal, collection
from tests.lanes import every, few
from tests.references.random_collections import Traits, random_collection
from tests.references.recommendations import OF_GROUPS, OF_LISTS, world

FIRST = [
    *(
        "nDCG@3",
        "nDCG(gain=exp2)@2",
        "DCG@3",
        "MDCG@3",
        "CG@3",
        "AP@3",
        "AP(denominator=min_rk)@2",
        "AR@3",
        "P@3",
        "P(rel=2)@2",
        "R@1",
        "F@3",
    ),
    *("RR@3", "Success@2", "ERR@3", "PFound@3", "RBP@3", "RHR@3", "num_tied@3", "num_tied@1", "num_shown@2", "num_q", "num_rel"),
    *("num_no_rel", "num_dropped", "num_duplicates"),
]
"""Metrics of the first three documents at most, and what does not depend on documents retrieved."""

CUT = [
    "AP",
    "nDCG",
    "bpref",
    "Judged@5",
    "Unj@2",
    "num_ret",
    "num_rel_ret",
    "num_unjudged",
    "Rprec",
    "11pt",
    "SetF",
    "RBPresid",
    "G",
    "utility",
]
"""Metrics of all documents, which are as many as ``depth`` says."""


def both(metrics: list[str], call: dict[str, Any], **options: Any) -> tuple[dict[str, list[Any]], ...]:
    """Evaluate on one thread, which adds up in one order, with all documents and with the first alone."""
    plan = options.pop("plan", {})
    return tuple(
        sqlrank.evaluate(metrics, **call, threads=1, plan={**plan, "rank_method": way}, **options).to_pydict() for way in ("sort", "top_k")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    every(
        3,
        [
            *(
                {},
                {"ties": "doc_asc"},
                {"depth": 2},
                {"queries": "retrieved"},
                {"queries": "judged_and_retrieved"},
                {"plan": {"list_key": "input"}},
            ),
            *({"if_undefined": "skip"}, {"score_type": "float32"}, {"nulls": "drop"}, {"duplicates": "max"}, {"check": "off"}),
        ],
    ),
    ids=str,
)
def test_the_first_documents_are_enough(options: dict[str, Any]) -> None:
    tables = collection().tables
    metrics = [metric for metric in FIRST if not (metric.startswith("num_tied") and "depth" in options and len(options) == 1)]
    assert_equal(*reversed(both(metrics, tables, per_query=True, **options)))


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["doc_desc", "doc_asc"])
@pytest.mark.parametrize("depth", few([4, 1, 30], 1))
def test_the_first_documents_are_enough_where_no_others_are_to_be_read(ties: str, depth: int) -> None:
    assert_equal(*reversed(both(CUT, collection().tables, per_query=True, depth=depth, ties=ties)))


@pytest.mark.slow
def test_each_of_a_range_of_cut_offs() -> None:
    assert_equal(*reversed(both(["nDCG@1..5", "P@1..5", "num_tied@1..5"], collection().tables, per_query=True)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(5), 1))
def test_several_systems_with_weights_of_queries_and_groupings(seed: int) -> None:
    drawn = random_collection(seed, 40, Traits(judged=(0.2, 0.6)))
    ids = sorted(set(drawn.run["query_id"].to_pylist()))
    queries = pa.table({"query_id": ids, "weight": [1.0 + i % 3 for i in range(len(ids))], "kind": [i % 2 for i in range(len(ids))]})
    call: dict[str, Any] = {"run": drawn.run, "qrels": drawn.qrels.drop_columns("collection"), "queries": queries, "aggregate": "wmean"}
    metrics = ["nDCG@3", "AP@2", "P@3", "RR@3"]
    for by in (["collection"], [["collection"], ["queries.kind"], []]):
        found = both(metrics, call, by=by)
        assert found[0] == found[1]
    one, other = (drawn.run.filter(pc.equal(drawn.run["collection"], value)) for value in drawn.run["collection"].unique()[:2])
    several = {"run": {"one": one.drop_columns("collection"), "other": other.drop_columns("collection")}, "qrels": call["qrels"]}
    found = both(metrics, several)
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("per_query", [False, True])
def test_metrics_beyond_accuracy(per_query: bool) -> None:
    data = world(11)
    names = ["UserCoverage", *(f"{name}@4" for name in [*OF_GROUPS, *OF_LISTS] if name != "UserCoverage")]
    metrics = [*names, "num_shown@2", "Lost@3", *(f"IntraListDiversity(distance={name})@3" for name in ("cosine", "category"))]
    call = {"run": data.run, "qrels": data.qrels, "inputs": data.inputs}
    found = both(metrics, call, queries="retrieved", per_query=per_query)
    assert found[0].keys() == found[1].keys()
    for name, values in found[0].items():
        assert found[1][name] == (values if values and isinstance(values[0], str) else pytest.approx(values, abs=1e-12)), name


ROW = st.tuples(
    st.integers(0, 3),
    st.integers(0, 7),
    st.sampled_from([None, 0.0, -0.0, 1.0, 1.0 + 2**-52, float("inf"), float("-inf"), 5e-324]),
    st.sampled_from([None, -1, 0, 1, 2]),
)
ANY = settings(
    max_examples=40, deadline=None, derandomize=True, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@ANY
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    k=st.integers(1, 9),
    options=st.sampled_from([{"check": "off"}, {"nulls": "drop", "duplicates": "max"}, {"check": "off", "depth": 3}]),
    ties=st.sampled_from(["doc_desc", "doc_asc"]),
)
def test_any_scores(rows: list[tuple[Any, ...]], k: int, options: dict[str, Any], ties: str) -> None:
    """Scores tied at the cut, lists shorter than it, and documents without a score, which stand last."""
    if "duplicates" not in options:
        rows = list({row[:2]: row for row in rows}.values())
    query, doc, score, grade = (list(column) for column in zip(*rows, strict=True))
    run = pa.table({"query_id": query, "doc_id": doc, "score": pa.array(score, pa.float64())})
    qrels = pa.table({"query_id": query, "doc_id": doc, "relevance": pa.array(grade, pa.int64())})
    if "nulls" not in options:
        qrels = qrels.filter(pc.is_valid(qrels["relevance"]))
    metrics = [f"{name}@{k}" for name in ("nDCG", "AP", "P", "RR", "ERR", "num_shown")]
    try:
        found = both(metrics[:-1], {"run": run, "qrels": qrels}, per_query=True, ties=ties, **options)
        shown = both(metrics[-1:], {"run": run, "qrels": qrels}, ties=ties, **options)
    except InputError:  # no row is left, or none of both
        return
    assert found[0] == found[1]
    assert shown[0] == shown[1]


def run_of(queries: int, length: int) -> pa.Table:
    rows = range(queries * length)
    return pa.table(
        {"query_id": [i // length for i in rows], "doc_id": [i % length for i in rows], "score": [i * 7919 % 101 for i in rows]}
    )


def qrels_of(queries: int, judged: int) -> pa.Table:
    rows = range(queries * judged)
    return pa.table({"query_id": [i // judged for i in rows], "doc_id": [i % judged for i in rows], "relevance": [1 for _ in rows]})


def plan_of(metrics: list[str], **call: Any) -> str:
    text = sqlrank.evaluate(metrics, **call).schema.metadata[b"sqlrank.sql"].decode()
    found = text.splitlines()[1].partition("rank_method=")[2].partition(",")[0]
    assert ("relations/retrieved_documents/top_k_candidates.sql" in text) == (found == "top_k")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metrics", "options", "expected"),
    every(
        2,
        [
            (["nDCG@10", "P@5"], {}, "top_k"),
            (["nDCG@10", "P@5"], {"check": "off"}, "top_k"),
            (["nDCG@10", "P@26"], {}, "sort"),  # a quarter of the lists is 25
            (["nDCG@10", "P@1..25"], {}, "top_k"),
            (["nDCG@10", "AP"], {}, "sort"),
            (["nDCG@10", "AP"], {"depth": 20}, "top_k"),
            (["nDCG@10", "num_ret"], {}, "sort"),
            (["nDCG@10"], {"ties": "worst"}, "sort"),
            (["nDCG@10", "nDCG(ties=doc_asc)@10"], {}, "top_k"),
            (["nDCG@10"], {"unjudged": "drop"}, "sort"),
            (["nDCG@10"], {"duplicates": "max"}, "sort"),
            (["nDCG@10"], {"plan": {"rank_method": "sort"}}, "sort"),
            (["nDCG@90"], {"plan": {"rank_method": "top_k"}}, "top_k"),
            (["nDCG@10"], {"by": "part"}, "sort"),
            (["nDCG@10"], {"where": "run.query_id < 9"}, "sort"),  # few rows
        ],
        rows=True,
    ),
)
def test_it_is_chosen_where_lists_are_long(metrics: list[str], options: dict[str, Any], expected: str) -> None:
    run, qrels = run_of(60, 100), qrels_of(60, 8)
    if "by" in options:  # lists of 4
        run = run.append_column("part", pa.array([i % 25 for i in range(len(run))]))
    if any(".." in metric for metric in metrics):
        metrics = metrics[1:]
    call: dict[str, Any] = {"run": run, "qrels": qrels, **options}
    assert plan_of(metrics, **call) == expected
    found = sqlrank.evaluate(metrics, **call).to_pydict()
    other = sqlrank.evaluate(metrics, **{**call, "plan": {"rank_method": "sort"}}).to_pydict()
    assert all(values == pytest.approx(other[name], rel=1e-12) for name, values in found.items())


@pytest.mark.slow
def test_scores_that_memory_does_not_hold_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 lists with 10 scores each and what else they take, for each of 2 threads, are 40,320 bytes."""
    for share, expected in ((10**9 / 48_000, "top_k"), (10**9 / 32_000, "sort")):
        monkeypatch.setattr(rank_method, "MEMORY_SHARE", share)
        monkeypatch.setattr(rank_method, "_parse_duckdb_size", lambda size: 1e9 if size.endswith(" MiB") else 0)
        assert plan_of(["nDCG@10"], run=run_of(60, 100), qrels=qrels_of(60, 8), memory_limit="1GB", threads=2) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [("512 bytes", 512), ("1.5 KiB", 1536), ("2.0 MiB", 2 * 2**20), ("18.8 GiB", 18.8 * 2**30), ("1.8 TiB", 1.8 * 2**40)],
)
def test_sizes_as_duckdb_writes_them(size: str, expected: float) -> None:
    assert rank_method._parse_duckdb_size(size) == expected  # noqa: SLF001


@pytest.mark.slow
def test_a_document_that_stands_twice_is_found_where_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the run is not searched itself: a row below the first documents changes nothing, and is not seen."""
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 10)
    run, qrels = run_of(10, 100), qrels_of(10, 100)
    assert plan_of(["P@3"], run=run, qrels=qrels) == "top_k"
    best = max(range(100), key=run["score"].to_pylist().__getitem__)
    first, last = (pa.concat_tables([run, pa.table({"query_id": [0], "doc_id": [best], "score": [score]})]) for score in (101, -1))
    for table, check in ((first, "auto"), (first, "full"), (last, "full")):
        with pytest.raises(InputError, match=r"\(query_id, doc_id\) occurs more than once"):
            sqlrank.evaluate("P@3", run=table, qrels=qrels, check=check)
    result = sqlrank.evaluate("nDCG@3", run=last, qrels=qrels)
    assert result.to_pydict() == sqlrank.evaluate("nDCG@3", run=run, qrels=qrels).to_pydict()
    what = b"rows of documents of positive relevance that can be among the first 3"
    assert result.schema.metadata[b"sqlrank.duplicates_searched"] == what
