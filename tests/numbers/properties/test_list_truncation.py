"""Metrics from truncated lists equal those from full lists, and long lists are truncated."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.call.request import parse_memory_size
from sqlrank.inputs import row_checks
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric_resolver import resolve_metrics
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.sql_file import SqlFile
from sqlrank.run import planner
from sqlrank.run.planner import required_depth
from tests.lanes import select_few
from tests.numbers.properties.rankings import (
    assert_equal,
    draw_collection,
    get_collection,
    make_qrels,
    make_run,
)
from tests.numbers.references.random_collections import Traits, draw_random_collection
from tests.numbers.references.recommendations import draw_world
from tests.tables import build_table

LIBRARY = registry_for(None)
VALID_WITH = LIBRARY.plans["rank_method"]["values"]["top_k"]["valid_with"]
ROLES = {"run", "qrels", "history", "items", "features", "baseline", "clicks", "queries"}
CUTOFFS = (1, 3)
PARTS = 16
"""Number of tests among which all policies are divided: together they take ten minutes."""


@pytest.fixture(autouse=True)
def choose_plans_of_small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MIN_ROWS_TO_OPTIMIZE", 1000)


def list_ranking_files() -> list[SqlFile]:
    """Return the metrics and curves of rankings, but for those of texts of queries, which read no
    list.
    """
    files = [
        file
        for file in [*LIBRARY.metrics.values(), *LIBRARY.curves.values()]
        if find_input_role(LIBRARY, file) == "run"
    ]
    return [file for file in files if not file.display_name.startswith("Leaked")]


def list_variants(file: SqlFile) -> list[str]:
    """Return a metric at some cut-offs, or as it is."""
    cutoff = file.cutoff_parameter
    values = () if cutoff is None else CUTOFFS if cutoff.name == "k" else (0.5,)
    return (
        [f"{file.display_name}@{max(value, int(cutoff.low))}" for value in values]
        if cutoff
        else [file.display_name]
    )


def iterate_policies() -> Iterator[dict[str, Any]]:
    """Yield each value of each policy and function slot under which lists may be truncated; none
    has demands on the data.
    """
    yield {}
    choices = {name: policy["values"] for name, policy in LIBRARY.policies.items()}
    choices |= {
        name: files for name, files in LIBRARY.functions.items() if name not in LIBRARY.formulas
    }
    for name, values in choices.items():
        yield from (
            {name: value}
            for value in values
            if value in VALID_WITH.get(name, values)
            and value not in {"error", "strict", "wmean", "identity"}
            and name != "ranks"
        )
    yield from ({"rel": 2}, {"gain": {1: 3, 2: 1}}, {"discount": {1: 1, 2: -1}})


def group_metrics_by_depth(policies: dict[str, Any]) -> dict[tuple[int | None, str], list[str]]:
    """Return the metrics that read all of the policies, by the documents per list that they need
    and the kind of their files.
    """
    metrics = {}
    for file in list_ranking_files():
        for text in list_variants(file):
            try:
                (metric,) = resolve_metrics([text], LIBRARY, None, policies, ROLES)
            except MetricError:
                continue
            metrics.setdefault((required_depth(LIBRARY, metric), file.kind), []).append(text)
    return metrics


@cache
def make_tables() -> dict[str, Any]:
    """Return lists with ties, judgments of some of their documents, and histories of the same
    documents.
    """
    data = draw_collection(7, 30).tables
    renamed = {
        role: table.set_column(0, "query_id", pc.replace_substring(table["query_id"], "q", "u"))
        for role, table in data.items()
    }
    subtopics = pa.array([f"s{row % 3}" for row in range(renamed["qrels"].num_rows)])
    shown = {name: renamed["qrels"][name] for name in ("query_id", "doc_id")}
    clicks = pa.table(
        {
            **shown,
            "rank": [row % 5 + 1 for row in range(len(subtopics))],
            "clicked": [row % 2 for row in range(len(subtopics))],
            "propensity": [1 / (row % 5 + 1) for row in range(len(subtopics))],
        }
    )
    qrels = renamed["qrels"].append_column("subtopic", subtopics)
    return {**renamed, "qrels": qrels, "inputs": {**draw_world(11).inputs, "clicks": clicks}}


def evaluate_both(
    metrics: list[str], call: dict[str, Any], **options: Any
) -> tuple[dict[str, list[Any]], ...]:
    """Evaluate on one thread, which adds up in one order, with all documents and with the first
    alone.
    """
    plan = options.pop("plan", {})
    if options.get("queries") == "given":
        listed = pa.table(
            {"query_id": [*call["qrels"]["query_id"].unique().to_pylist(), "unanswered"]}
        )
        options = {**options, "queries": listed, "topics": options["queries"]}
    return tuple(
        sqlrank.evaluate(
            metrics, **call, threads=1, plan={**plan, "rank_method": way}, **options
        ).to_pydict()
        for way in ("sort", "top_k")
    )


def assert_truncation_changes_nothing(policies: dict[str, Any]) -> int:
    """Evaluate all metrics that may be truncated under some policies, those of one depth together;
    return their number.
    """
    groups = {
        key: metrics
        for key, metrics in group_metrics_by_depth(policies).items()
        if key[0] is not None
    }
    for (_, kind), metrics in groups.items():
        values = (
            [evaluate_both([metric], make_tables(), **policies) for metric in metrics]
            if kind == "curves"
            else []
        )
        if kind == "metrics":
            values = [
                evaluate_both(metrics, make_tables(), per_query=per_query, **policies)
                for per_query in (True, False)
            ]
        for full, truncated in values:
            assert_equal(truncated, full)
    return sum(map(len, groups.values()))


@pytest.mark.slow
@pytest.mark.parametrize("depth", select_few([None, 4], {4}))
def test_truncated_lists_give_the_values_of_full_lists(depth):
    """All ranking metrics, at the depth that follows from their files."""
    assert assert_truncation_changes_nothing({} if depth is None else {"depth": depth}) > 60


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("depth", [None, 4])
def test_truncated_lists_give_the_values_of_full_lists_under_every_policy(depth, part):
    limit = {} if depth is None else {"depth": depth}
    policies = [*iterate_policies()][part::PARTS]
    assert sum(assert_truncation_changes_nothing({**chosen, **limit}) for chosen in policies) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policies", "num_ranked"),
    [
        ({}, 1),
        ({"ideal": "retrieved"}, 3),
        ({"ideal": "judged_truncated", "discount": {1: 1, 2: -1}, "gain": "binary"}, 3),
    ],
    ids=str,
)
def test_metrics_of_whole_lists_differ_on_truncated_lists(policies, num_ranked, monkeypatch):
    """So no file declares that it reads more than it does: metrics would have other values if lists
    were truncated.
    """
    whole = [
        name
        for name in group_metrics_by_depth(policies)[None, "metrics"]
        if not name.endswith("@1")
    ]
    monkeypatch.setattr(planner, "required_depth", lambda *_: num_ranked)
    full, truncated = evaluate_both(
        whole, make_tables(), per_query=True, if_undefined="null", **policies
    )
    assert whole
    assert all(
        values != truncated[name]
        for name, values in full.items()
        if name != "query_id" and {*values} != {None}
    )


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        *(
            {"ties": "doc_asc"},
            {"depth": 2},
            {"plan": {"list_key": "input"}},
            {"score_type": "float32"},
            {"check": "off"},
        ),
        *(
            {"nulls": "drop", "duplicates": "max"},
            {"queries": "judged_and_retrieved", "if_undefined": "skip"},
        ),
    ],
    ids=str,
)
def test_truncated_lists_with_options_of_the_call(options):
    metrics = [
        "nDCG@3", "AP(denominator=min_rk)@2", "ERR@3", "RBP@3", "num_shown@2", "num_rel",
        "Judged@3",
    ]  # fmt: skip
    assert_equal(
        *reversed(evaluate_both(metrics, get_collection().tables, per_query=True, **options))
    )


@pytest.mark.slow
def test_each_of_a_range_of_cut_offs():
    assert_equal(
        *reversed(
            evaluate_both(
                ["nDCG@1..5", "P@1..5", "num_tied@1..5"], get_collection().tables, per_query=True
            )
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", select_few(range(5), 1))
def test_several_systems_with_weights_of_queries_and_groupings(seed):
    drawn = draw_random_collection(seed, 40, Traits(judged=(0.2, 0.6)))
    ids = sorted(set(drawn.run["query_id"].to_pylist()))
    queries = pa.table(
        {
            "query_id": ids,
            "weight": [1.0 + i % 3 for i in range(len(ids))],
            "kind": [i % 2 for i in range(len(ids))],
        }
    )
    call = {
        "run": drawn.run,
        "qrels": drawn.qrels.drop_columns("collection"),
        "queries": queries,
        "aggregate": "wmean",
    }
    metrics = ["nDCG@3", "AP@2", "P@3", "RR@3"]
    for by in (["collection"], [["collection"], ["queries.kind"], []]):
        found = evaluate_both(metrics, call, by=by)
        assert found[0] == found[1]
    one, other = (
        drawn.run.filter(pc.equal(drawn.run["collection"], value))
        for value in drawn.run["collection"].unique()[:2]
    )
    several = {
        "run": {"one": one.drop_columns("collection"), "other": other.drop_columns("collection")},
        "qrels": call["qrels"],
    }
    found = evaluate_both(metrics, several)
    assert found[0] == found[1]


ROW = st.tuples(
    st.integers(0, 3),
    st.integers(0, 7),
    st.sampled_from([None, 0.0, -0.0, 1.0, 1.0 + 2**-52, float("inf"), float("-inf"), 5e-324]),
    st.sampled_from([None, -1, 0, 1, 2]),
)
ANY = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@ANY
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    k=st.integers(1, 9),
    options=st.sampled_from(
        [{"check": "off"}, {"nulls": "drop", "duplicates": "max"}, {"check": "off", "depth": 3}]
    ),
    ties=st.sampled_from(["doc_desc", "doc_asc"]),
)
def test_any_scores(rows, k, options, ties):
    """Scores tied at the cut, lists shorter than it, and documents without a score, which stand
    last.
    """
    if "duplicates" not in options:
        rows = list({row[:2]: row for row in rows}.values())
    query, doc, score, grade = (list(column) for column in zip(*rows, strict=True))
    run = pa.table({"query_id": query, "doc_id": doc, "score": pa.array(score, pa.float64())})
    qrels = pa.table({"query_id": query, "doc_id": doc, "relevance": pa.array(grade, pa.int64())})
    if "nulls" not in options:
        qrels = qrels.filter(pc.is_valid(qrels["relevance"]))
    metrics = [f"{name}@{k}" for name in ("nDCG", "AP", "P", "RR", "ERR", "num_shown")]
    try:
        found = evaluate_both(
            metrics[:-1], {"run": run, "qrels": qrels}, per_query=True, ties=ties, **options
        )
        shown = evaluate_both(metrics[-1:], {"run": run, "qrels": qrels}, ties=ties, **options)
    except InputError:  # no row is left, or none of both
        return
    assert found[0] == found[1]
    assert shown[0] == shown[1]


def find_plan(metrics: list[str], **call: Any) -> str:
    text = sqlrank.evaluate(metrics, **call).schema.metadata[b"sqlrank.sql"].decode()
    (plan,) = (line for line in text.splitlines() if line.startswith("-- plan: "))
    found = plan.partition("rank_method=")[2].replace(";", ",").partition(",")[0]
    assert ("(top_k_scores.sql)" in text) == (found == "top_k")
    return found


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metrics", "options", "expected"),
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
)
def test_it_is_chosen_where_lists_are_long(metrics, options, expected):
    run, qrels = make_run(60, 100), make_qrels(60, 8)
    if "by" in options:  # lists of 4
        run = run.append_column("part", pa.array([i % 25 for i in range(len(run))]))
    if any(".." in metric for metric in metrics):
        metrics = metrics[1:]
    call = {"run": run, "qrels": qrels, **options}
    assert find_plan(metrics, **call) == expected
    found = sqlrank.evaluate(metrics, **call).to_pydict()
    other = sqlrank.evaluate(metrics, **{**call, "plan": {"rank_method": "sort"}}).to_pydict()
    assert all(values == pytest.approx(other[name], rel=1e-12) for name, values in found.items())


@pytest.mark.slow
def test_scores_that_memory_does_not_hold_are_sorted(monkeypatch):
    """60 lists with 10 scores each and their overhead, for each of 2 threads, are 40,320 bytes."""
    for divisor, expected in ((10**9 / 48_000, "top_k"), (10**9 / 32_000, "sort")):
        monkeypatch.setattr(planner, "MEMORY_DIVISOR", divisor)
        monkeypatch.setattr(
            planner, "parse_memory_size", lambda size: 1e9 if size.endswith(" MiB") else 0
        )
        assert (
            find_plan(
                ["nDCG@10"],
                run=make_run(60, 100),
                qrels=make_qrels(60, 8),
                memory_limit="1GB",
                threads=2,
            )
            == expected
        )


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("512 bytes", 512),
        ("1.5 KiB", 1536),
        ("2.0 MiB", 2 * 2**20),
        ("18.8 GiB", 18.8 * 2**30),
        ("1.8 TiB", 1.8 * 2**40),
    ],
)
def test_sizes_as_duckdb_writes_them(size, expected):
    assert parse_memory_size(size) == expected


@pytest.mark.slow
def test_a_document_that_is_duplicated_is_found_where_it_counts(monkeypatch):
    """Beyond the limit the run is not searched itself: a row below the first documents changes
    nothing, and is not seen.
    """
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 10)
    run, qrels = make_run(10, 100), make_qrels(10, 100)
    assert find_plan(["P@3"], run=run, qrels=qrels) == "top_k"
    best = max(range(100), key=run["score"].to_pylist().__getitem__)
    first, last = (
        pa.concat_tables([run, build_table(query_id="0", doc_id=[best], score=[score])])
        for score in (101, -1)
    )
    for table, check in ((first, "auto"), (first, "full"), (last, "full")):
        with pytest.raises(InputError, match=r"\(query_id, doc_id\) occurs more than once"):
            sqlrank.evaluate("P@3", run=table, qrels=qrels, check=check)
    result = sqlrank.evaluate("nDCG@3", run=last, qrels=qrels)
    assert result.to_pydict() == sqlrank.evaluate("nDCG@3", run=run, qrels=qrels).to_pydict()
    what = b"rows of documents of positive relevance that can be among the first 3"
    assert result.schema.metadata[b"sqlrank.duplicates_searched"] == what
