"""Aggregates of ranking metrics by hand: evaluated queries, weights, cut-off ranges, groups, and
errors.
"""

from math import log2

import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.examples.rankings import (
    FOUR_RELEVANT,
    evaluate_metric,
    evaluate_metrics,
    evaluate_queries,
    make_lists,
)
from tests.numbers.references.answers import Collection
from tests.tables import build_table, read_columns

TWO = make_lists(read_columns(half="0 1", none="0 0", whole="1 0", third="0 0 1"))
WEIGHTS = build_table(
    query_id="half none whole third", weight="2.0 5.0 1.0 0.0", country="de fr de fr"
)


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ({}, (1 / 2 + 0 + 1 + 1 / 3) / 4),
        ({"aggregate": "mean"}, (1 / 2 + 0 + 1 + 1 / 3) / 4),
        ({"aggregate": "sum"}, 1 / 2 + 1 + 1 / 3),
        ({"aggregate": "min"}, 0),
        ({"aggregate": "max"}, 1),
        ({"aggregate": "gmean"}, (1e-5 / 2 / 3) ** 0.25),
        ({"aggregate": "gmean", "floor": 0.1}, (0.1 / 2 / 3) ** 0.25),
        ({"aggregate": "quantile"}, (1 / 3 + 1 / 2) / 2),
        ({"aggregate": "quantile", "q": 0.75}, 1 / 2 + 0.25 * (1 - 1 / 2)),
        ({"aggregate": "quantile", "q": 1}, 1),
    ],
)
def test_aggregates(aggregate, expected):
    assert evaluate_metric("RR", TWO, **aggregate) == pytest.approx(expected)


@pytest.mark.slow
def test_weighted_mean():
    assert evaluate_metric("RR", TWO, queries=WEIGHTS) == pytest.approx((2 / 2 + 1) / 8)
    assert evaluate_metric("RR", TWO, queries=WEIGHTS, if_undefined="skip") == pytest.approx(
        (2 / 2 + 1) / 3
    )
    assert evaluate_metric("RR(aggregate=mean)", TWO, queries=WEIGHTS) == pytest.approx(
        (1 / 2 + 1 + 1 / 3) / 4
    )
    assert evaluate_metric("num_rel", TWO, queries=WEIGHTS) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("if_undefined", "expected"),
    [
        ("zero", (1 / 2 + 1 + 1 / 3) / 4),
        ("one", (1 / 2 + 1 + 1 + 1 / 3) / 4),
        ("skip", (1 / 2 + 1 + 1 / 3) / 3),
        ("null", None),
    ],
)
def test_no_relevant(if_undefined, expected):
    assert evaluate_metric("RR", TWO, if_undefined=if_undefined) == (
        None if expected is None else pytest.approx(expected)
    )
    assert evaluate_metric(f"RR(if_undefined={if_undefined})", TWO) == (
        None if expected is None else pytest.approx(expected)
    )
    filled = {"zero": 0.0, "one": 1.0}.get(if_undefined)
    assert evaluate_queries("RR", TWO, if_undefined=if_undefined)["none"] == filled
    assert evaluate_metric("num_q", TWO, if_undefined=if_undefined) == 4


@pytest.mark.parametrize(
    ("queries", "expected"), [("judged", 3), ("judged_and_retrieved", 2), ("retrieved", 3)]
)
def test_which_queries_count(queries, expected):
    sources = make_lists({"both": [1], "also": [0], "unjudged": [None]}, {"unanswered": [1]})
    assert evaluate_metrics(["num_q", "RR"], sources, queries=queries) == pytest.approx(
        [expected, 1 / expected]
    )


def test_counts():
    sources = make_lists(read_columns(a="1 NULL 0", b="0 NULL", c="NULL"), {"a": [2, 1], "d": [1]})
    expected = {
        "num_q": 3,
        "num_ret": 5,
        "num_rel": 4,
        "num_rel_ret": 1,
        "num_unjudged": 2,
        "num_nonrel_judged_ret": 2,
    }
    expected |= {
        "num_no_rel": 1,
        "num_unanswered": 1,
        "num_rel(rel=2)": 1,
        "num_no_rel(rel=2)": 2,
        "num_rel(aggregate=mean)": 4 / 3,
    }
    assert evaluate_metrics(list(expected), sources) == pytest.approx(list(expected.values()))
    assert evaluate_metrics(
        ["num_q", "num_ret", "num_unjudged", "num_no_rel"], sources, queries="retrieved"
    ) == [3, 6, 3, 2]


def test_documents_tied_at_the_cutoff():
    run = {
        "q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0, "e": 1.0, "f": 1.0},
        "p": {"a": 1.0, "b": 1.0},
    }
    sources = Collection(run, {"q": {"a": 1}, "p": {"a": 1}}).tables
    assert evaluate_metrics([f"num_tied@{k}" for k in range(1, 8)], sources) == [
        0 + 2, 3 + 0, 3, 0, 2, 0, 0,
    ]  # fmt: skip


def test_a_given_rank_leaves_no_ties():
    sources = make_lists({"q": [1, 0, 1]})
    sources["run"] = sources["run"].drop_columns("score")
    assert evaluate_metric("num_tied@2", sources, ties="rank") == 0


def test_sweep():
    result = sqlrank.evaluate(["P@1..5", "R@1..5"], **FOUR_RELEVANT)
    assert result.column_names == ["k", "P@1..5", "R@1..5"]
    assert result["k"].to_pylist() == [1, 2, 3, 4, 5]
    assert result["P@1..5"].to_pylist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4, 3 / 5])
    assert result["R@1..5"].to_pylist() == pytest.approx([0, 1 / 4, 1 / 4, 2 / 4, 3 / 4])


def test_sweep_per_query():
    result = sqlrank.evaluate("nDCG@1..3", **TWO, per_query=True)
    assert result.column_names == ["query_id", "k", "nDCG@1..3"]
    by_query = {(row["query_id"], row["k"]): row["nDCG@1..3"] for row in result.to_pylist()}
    assert list(by_query) == sorted(by_query)
    assert [by_query["half", k] for k in (1, 2, 3)] == pytest.approx([0, 1 / log2(3), 1 / log2(3)])
    assert [by_query["third", k] for k in (1, 2, 3)] == pytest.approx([0, 0, 1 / 2])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("metric", ["P@5", "RR", "R@5", "F@5", "Rprec", "IPrec@0.5", "Success@5"])
def test_the_form_of_average_precision_is_none_of_the_others(metric):
    assert evaluate_metrics(["AP@5", metric], FOUR_RELEVANT, precision_at="all_ranks")[
        1
    ] == evaluate_metric(metric, FOUR_RELEVANT)


def name_system(
    name: str, sources: dict[str, pa.Table], *, judged: bool = False
) -> dict[str, pa.Table]:
    return {
        role: table.append_column("system", pa.array([name] * table.num_rows))
        if role == "run" or judged
        else table
        for role, table in sources.items()
    }


def join_systems(
    first: dict[str, pa.Table], second: dict[str, pa.Table], *, judged: bool = False
) -> dict[str, pa.Table]:
    joined = {role: pa.concat_tables([first[role], second[role]]) for role in first}
    return joined if judged else joined | {"qrels": first["qrels"]}


def test_by_a_column_of_the_run():
    """The worse system leaves query q2 unanswered, which counts 0 for it alone."""
    qrels = Collection({}, {"q1": {"a": 1}, "q2": {"b": 1}}).tables["qrels"]
    rows = [
        ("good", "q1", "a", 2.0),
        ("good", "q2", "c", 2.0),
        ("good", "q2", "b", 1.0),
        ("bad", "q1", "c", 2.0),
        ("bad", "q1", "a", 1.0),
    ]
    run = pa.Table.from_pylist(
        [dict(zip(("system", "query_id", "doc_id", "score"), row, strict=True)) for row in rows]
    )
    metrics = ["RR", "num_q", "num_unanswered"]
    result = sqlrank.evaluate(metrics, run=run, qrels=qrels, by="system")
    assert result.column_names == ["system", *metrics]
    assert [list(row.values()) for row in result.to_pylist()] == [
        ["bad", 0.25, 2, 1],
        ["good", 0.75, 2, 0],
    ]
    each = sqlrank.evaluate("RR", run=run, qrels=qrels, by="system", per_query=True)
    assert [tuple(row.values()) for row in each.to_pylist()] == [
        ("bad", "q1", 0.5),
        ("bad", "q2", 0.0),
        ("good", "q1", 1.0),
        ("good", "q2", 0.5),
    ]
    grouped = sqlrank.evaluate(metrics, run=run, qrels=qrels, by=[["system"], []])
    assert [list(row.values()) for row in grouped.to_pylist()] == [
        [None, "all", 0.5, 4, 1],
        ["bad", "system", 0.25, 2, 1],
        ["good", "system", 0.75, 2, 0],
    ]


def test_by_a_column_of_run_and_judgments():
    """The same query and document ids on two days are different queries and documents."""
    monday, tuesday = make_lists({"q": [1, 0]}), make_lists({"q": [0, 1], "r": [1]}, {"r": [1]})
    sources = join_systems(
        name_system("monday", monday, judged=True),
        name_system("tuesday", tuesday, judged=True),
        judged=True,
    )
    result = sqlrank.evaluate(["RR", "R", "num_q", "num_rel"], **sources, by=["system"])
    assert [list(row.values()) for row in result.to_pylist()] == [
        ["monday", 1, 1, 1, 1],
        ["tuesday", 0.75, 0.75, 2, 3],
    ]


def test_by_an_attribute_of_the_queries():
    result = sqlrank.evaluate(
        ["RR", "RR(aggregate=mean)", "num_q"], **TWO, queries=WEIGHTS, by="country"
    )
    assert [list(row.values()) for row in result.to_pylist()] == [
        ["de", pytest.approx((2 / 2 + 1) / 3), 0.75, 2],
        ["fr", 0.0, pytest.approx(1 / 6), 2],
    ]
    total = sqlrank.evaluate("num_q", **TWO, queries=WEIGHTS, by=[["country"], []])
    assert [list(row.values()) for row in total.to_pylist()] == [
        [None, "all", 4],
        ["de", "country", 2],
        ["fr", "country", 2],
    ]


def test_by_system_and_attribute():
    sources = join_systems(name_system("a", TWO), name_system("b", TWO))
    result = sqlrank.evaluate(
        "num_q", **sources, queries=WEIGHTS, by=[["system", "country"], ["system"], []]
    )
    rows = [tuple(row.values()) for row in result.to_pylist()]
    each = {(system, country, "system,country", 2) for system in "ab" for country in ("de", "fr")}
    assert set(rows) == each | {
        ("a", None, "system", 4),
        ("b", None, "system", 4),
        (None, None, "all", 8),
    }
    assert len(rows) == 7


def test_policies_of_single_metrics():
    sources = Collection({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}).tables
    metrics = [
        "RR", "RR(ties=doc_asc)", "RR(ties=best)", "RR(ties=worst)", "P@1",
        "P(ties=expected)@1",
    ]  # fmt: skip
    assert evaluate_metrics(metrics, sources) == [0.5, 1, 1, 0.5, 0, 0.5]


def test_integer_ids_are_ordered_as_numbers():
    run = build_table(query_id="1 1", doc_id="9 10", score="0.5 0.5")
    qrels = build_table(query_id="1", doc_id="10", relevance="1")
    assert evaluate_metrics(["RR", "RR(ties=doc_asc)"], {"run": run, "qrels": qrels}) == [1.0, 0.5]
