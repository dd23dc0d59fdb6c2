"""Ranks by counts and by arrays equal sorted ranks; counts are the plan only where few documents
are judged.
"""

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.inputs import row_checks
from sqlrank.run import planner
from tests.lanes import select_few
from tests.numbers.properties.rankings import (
    METRICS,
    assert_equal,
    evaluate_columns,
    get_collection,
    make_qrels,
    make_run,
)
from tests.numbers.references.random_collections import Traits, draw_random_collection
from tests.tables import build_table

COUNTABLE = [metric for metric in METRICS if "ties=" not in metric]


@pytest.mark.slow
@pytest.mark.parametrize("ranking", ["count", "array"])
@pytest.mark.parametrize(
    "options",
    select_few(
        [
            {},
            {"depth": 2},
            {"queries": "retrieved"},
            {"queries": "judged_and_retrieved"},
            {"plan": {"list_key": "input"}},
        ],
        1,
    ),
)
def test_ranks_are_those_of_sorted_lists(options, ranking):
    tables = get_collection().tables
    found = [
        evaluate_columns(
            tables,
            COUNTABLE,
            **{**options, "plan": {**options.get("plan", {}), "rank_method": way}},
        )
        for way in ("sort", ranking)
    ]
    assert_equal(found[1], found[0])


@pytest.mark.slow
@pytest.mark.parametrize("ranking", ["count", "array"])
@pytest.mark.parametrize("seed", select_few(range(5), 1))
def test_ranks_of_several_systems(seed, ranking):
    drawn = draw_random_collection(seed, 40, Traits(judged=(0.05, 0.2)))
    call = {"run": drawn.run, "qrels": drawn.qrels.drop_columns("collection"), "by": ["collection"]}
    metrics = ["nDCG", "AP", "RR@3", "bpref", "Judged@5", "AP(depth=3)", "num_ret", "num_rel_ret"]
    found = {
        way: sqlrank.evaluate(metrics, **call, plan={"rank_method": way}).to_pydict()
        for way in ("sort", ranking)
    }
    names = [name for name in found["sort"] if name != "collection"]
    assert found[ranking]["collection"] == found["sort"]["collection"]
    for name in names:
        assert found[ranking][name] == pytest.approx(found["sort"][name], rel=1e-12, abs=1e-15)


@pytest.fixture(autouse=True)
def choose_plans_of_small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MIN_ROWS_TO_OPTIMIZE", 0)


def test_a_small_run_is_sorted_without_a_question(monkeypatch):
    monkeypatch.setattr(planner, "MIN_ROWS_TO_OPTIMIZE", 5_001)
    result = sqlrank.evaluate("AP", run=make_run(50, 100), qrels=make_qrels(50, 1))
    assert b"by_count.sql" not in result.schema.metadata[b"sqlrank.sql"]


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize("check", select_few(["auto", "off"], 1))
@pytest.mark.parametrize(
    ("length", "judged", "options", "counts"),
    [
        (100, 1, {}, True),
        (100, 3, {}, True),
        (100, 3, {"ties": "error", "check": "off"}, True),
        (100, 3, {"ties": "doc_asc"}, False),
        (100, 3, {"unjudged": "drop"}, False),
        (100, 3, {"plan": {"rank_method": "sort"}}, False),
        (100, 4, {}, False),
        (10, 2, {}, False),
        (10, 2, {"plan": {"rank_method": "count"}}, True),
    ],
)
def test_few_judged_documents_of_long_lists_are_counted(length, judged, options, counts, check):
    call = {"run": make_run(50, length), "qrels": make_qrels(50, judged), "check": check, **options}
    result = sqlrank.evaluate(["AP", "nDCG@10"], **call)
    assert (b"judged_documents/by_count.sql" in result.schema.metadata[b"sqlrank.sql"]) == counts
    (row,) = result.to_pylist()
    (other,) = sqlrank.evaluate(
        ["AP", "nDCG@10"], **{**call, "plan": {"rank_method": "sort"}}
    ).to_pylist()
    assert row == pytest.approx(other, rel=1e-12)


def test_one_query_with_many_judged_documents_is_not_compared_with_all_of_its_list():
    run = make_run(50, 100)
    for judged, counts in ((10, True), (11, False)):
        qrels = pa.concat_tables([make_qrels(50, 1), make_qrels(1, judged).slice(1)])
        assert (
            b"judged_documents/by_count.sql"
            in sqlrank.evaluate("AP", run=run, qrels=qrels).schema.metadata[b"sqlrank.sql"]
        ) == counts


@pytest.mark.parametrize(("ending", "counts"), [("parquet", True), ("csv", False)])
def test_a_printed_statement_counts_where_that_is_seen_at_a_glance(ending, counts, tmp_path):
    paths = {role: tmp_path / f"{role}.{ending}" for role in ("run", "qrels")}
    for role, table in (("run", make_run(50, 100)), ("qrels", make_qrels(50, 1))):
        duckdb.from_arrow(table).query("given", f"COPY given TO '{paths[role]}'")
    assert ("judged_documents/by_count.sql" in sqlrank.sql("AP", **paths)) == counts
    assert (
        b"judged_documents/by_count.sql"
        in sqlrank.evaluate("AP", **paths).schema.metadata[b"sqlrank.sql"]
    ) == counts


def test_a_document_that_is_duplicated_is_found_where_ranks_are_counted(monkeypatch):
    """Beyond the limit the run itself is not searched; its join with the judgments finds the
    rows.
    """
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 10)
    run, qrels = make_run(5, 100), make_qrels(5, 1)
    assert (
        b"by_count.sql"
        in sqlrank.evaluate("AP", run=run, qrels=qrels).schema.metadata[b"sqlrank.sql"]
    )
    for score in (run["score"][0].as_py(), -1):
        twice = pa.concat_tables([run, build_table(query_id="0", doc_id="0", score=[score])])
        with pytest.raises(InputError, match=r"\(query_id, doc_id\) occurs more than once"):
            sqlrank.evaluate("AP", run=twice, qrels=qrels)


def test_a_document_that_is_duplicated_is_found_where_ranks_are_looked_up(monkeypatch):
    """An array gives its first place alone, so that it is searched for."""
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 10)
    run, qrels = make_run(5, 4), make_qrels(5, 1)
    listed = {"qrels": qrels, "plan": {"rank_method": "array"}}
    assert sqlrank.evaluate("AP", run=run, **listed) == sqlrank.evaluate("AP", run=run, qrels=qrels)
    with pytest.raises(InputError, match=r"\(query_id, doc_id\) occurs more than once"):
        sqlrank.evaluate("AP", run=pa.concat_tables([run, run.slice(0, 1)]), **listed)


@pytest.mark.parametrize("ranking", ["count", "array"])
@pytest.mark.parametrize(
    ("policy", "usual", "value"),
    [("ties", "doc_desc", "doc_asc"), ("unjudged", "nonrelevant", "drop")],
)
def test_other_ranks_can_be_sorted_for_alone(policy, usual, value, ranking):
    with pytest.raises(
        MetricError,
        match=(
            f"rank_method='{ranking}' is for {policy}='{usual}', not '{value}'. Give"
            " rank_method='sort'"
        ),
    ):
        sqlrank.evaluate(
            f"AP({policy}={value})",
            run=make_run(1, 2),
            qrels=make_qrels(1, 1),
            plan={"rank_method": ranking},
        )
    assert "rank_method=sort" in sqlrank.sql(
        f"AP({policy}={value})", run="run", qrels="qrels", dialect="spark"
    )


def test_lists_are_put_into_arrays_where_it_is_faster():
    """On Spark, unless it is asked not to; BigQuery can, and others have no word for it."""
    call = {"run": "run", "qrels": "qrels"}
    for dialect, ranking in (
        ("spark", "array"),
        ("databricks", "array"),
        ("bigquery", "sort"),
        ("postgres", "sort"),
    ):
        assert f"-- plan: rank_method={ranking}; alternative: " in sqlrank.sql(
            "AP", **call, dialect=dialect
        )
    assert "alternative: rank_method=sort, if a list does not fit an array" in sqlrank.sql(
        "AP", **call, dialect="spark"
    )
    assert "array" not in sqlrank.sql("AP", **call, dialect="spark", plan={"rank_method": "sort"})
