"""Groups with a NULL key, and several groupings, whose name is in a column."""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.tables import build_table, read_columns

# System x finds the relevant document of query 1 at rank 2, the one without a name that of query 2
# at rank 1.
ROWS = [
    ("x", 1, "a", 0.4, 1),
    ("x", 1, "b", 0.6, 0),
    (None, 2, "a", 0.9, 1),
    (None, 2, "b", 0.3, 0),
]
TABLE = pa.table(
    dict(
        zip(
            ["system", "query_id", "doc_id", "score", "label"],
            map(list, zip(*ROWS, strict=True)),
            strict=True,
        )
    )
)
RUN = TABLE.drop_columns(["label"])
QRELS = TABLE.select(["query_id", "doc_id", "label"]).rename_columns(
    ["query_id", "doc_id", "relevance"]
)
QUERIES = build_table(query_id="1 2", country="NULL de")
SLICED = [["system"], []]
LISTS = select_few(["integer", "input"], 1)


def evaluate_rows(metrics: Any, **options: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in sqlrank.evaluate(metrics, **options).to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize("lists", LISTS)
def test_null_is_a_group_of_rankings(lists):
    options = {"run": RUN, "plan": {"list_key": lists}}
    # Each system is asked both queries, and answers one.
    assert evaluate_rows(["RR", "num_ret"], qrels=QRELS, by="system", **options) == [
        (None, 0.5, 2),
        ("x", 0.25, 2),
    ]
    per_query = evaluate_rows("RR", qrels=QRELS, by="system", per_query=True, **options)
    assert per_query == [(None, 1, 0), (None, 2, 1), ("x", 1, 0.5), ("x", 2, 0)]
    theirs = QRELS.append_column("system", TABLE["system"])
    assert evaluate_rows("RR", qrels=theirs, by="system", **options) == [(None, 1.0), ("x", 0.5)]
    assert evaluate_rows("RR", qrels=QRELS, queries=QUERIES, by="country", **options) == [
        (None, 0.5),
        ("de", 1.0),
    ]


@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("topics", ["judged", "judged_and_retrieved", "retrieved"])
def test_null_is_a_group_whichever_queries_count(topics, lists):
    theirs = QRELS.append_column("system", TABLE["system"])
    got = evaluate_rows(
        ["RR", "num_lists", "num_shown@1"],
        run=RUN,
        qrels=theirs,
        by="system",
        topics=topics,
        plan={"list_key": lists},
    )
    assert got == [(None, 1.0, 1, 1), ("x", 0.5, 1, 1)]


@pytest.mark.parametrize("ties", ["worst", "best", "expected", "doc_asc"])
def test_null_is_a_group_however_ties_are_broken(ties):
    assert evaluate_rows("P@1", run=RUN, qrels=QRELS, by="system", ties=ties) == [
        (None, 0.5),
        ("x", 0.0),
    ]


@pytest.mark.parametrize("lists", LISTS)
def test_the_total_is_distinguished_from_the_null_group(lists):
    expected = [(None, "all", 0.75), (None, "system", 1.0), ("x", "system", 0.5)]
    theirs = QRELS.append_column("system", TABLE["system"])
    options = {"by": SLICED, "plan": {"list_key": lists}}
    assert evaluate_rows("RR", run=RUN, qrels=theirs, **options) == expected
    assert evaluate_rows("RR", predictions=TABLE, **options) == expected
    assert sqlrank.evaluate("RR", run=RUN, qrels=theirs, **options).column_names == [
        "system",
        "slice",
        "RR",
    ]


def test_slices_of_predictions_and_of_both():
    # Of four pairs over both, .4 is above .3 alone and .9 above both.
    assert evaluate_rows("AUC", predictions=TABLE, by=SLICED) == [
        (None, "all", 0.75),
        (None, "system", 1.0),
        ("x", "system", 0.0),
    ]
    both = [
        (None, "all", 0.75, 0.75, 2),
        (None, "system", 1.0, 1.0, 1),
        ("x", "system", 0.5, 0.0, 1),
    ]
    assert evaluate_rows(["RR", "AUC", "num_lists"], predictions=TABLE, by=SLICED) == both
    assert evaluate_rows("AUC(level=query)", predictions=TABLE, by=SLICED) == [
        (None, "all", 0.5),
        (None, "system", 1.0),
        ("x", "system", 0.0),
    ]


def test_a_grouping_is_called_as_its_columns():
    data = TABLE.append_column("day", pa.array([1, 1, 2, 2]))
    got = evaluate_rows("num_predictions", predictions=data, by=[["system", "day"], ["day"], []])
    named = [
        (None, 1, "day", 2.0),
        (None, 2, "day", 2.0),
        (None, 2, "system,day", 2.0),
        (None, None, "all", 4.0),
        ("x", 1, "system,day", 2.0),
    ]
    assert sorted(got, key=str) == sorted(named, key=str)


def test_slices_by_attributes_of_queries():
    options = {
        "run": RUN.drop_columns(["system"]),
        "qrels": QRELS,
        "queries": QUERIES,
        "by": [["country"], []],
    }
    expected = [(None, "all", 0.75, 2), (None, "country", 0.5, 1), ("de", "country", 1.0, 1)]
    assert evaluate_rows(["RR", "num_lists"], **options) == expected
    assert evaluate_rows("RR", **options) == [row[:3] for row in expected]


def test_cut_offs_curves_and_several_scores_in_slices():
    theirs = QRELS.append_column("system", TABLE["system"])
    swept = sqlrank.evaluate("P@1..2", run=RUN, qrels=theirs, by=SLICED)
    assert swept.column_names == ["system", "slice", "k", "P@1..2"]
    assert [tuple(row.values()) for row in swept.to_pylist()][:4] == [
        (None, "all", 1, 0.5), (None, "all", 2, 0.5), (None, "system", 1, 1.0), (None, "system", 2, 0.5),
    ]  # fmt: skip
    curve = sqlrank.evaluate("ROC", predictions=TABLE, by=SLICED)
    assert curve.column_names[:3] == ["system", "slice", "point"]
    assert [(row["system"], row["slice"]) for row in curve.to_pylist() if row["point"] == 0] == [
        (None, "all"),
        (None, "system"),
        ("x", "system"),
    ]
    data = TABLE.append_column("other", pa.array([0.6, 0.4, 0.9, 0.3]))
    scored = evaluate_rows(
        "AUC", predictions=data, columns={"score": ["score", "other"]}, by=SLICED
    )
    assert [row[:3] for row in scored][:3] == [
        ("other", None, "all"),
        ("other", None, "system"),
        ("other", "x", "system"),
    ]


def test_a_row_per_query_of_predictions_in_slices():
    got = evaluate_rows("AUC", predictions=TABLE, by=SLICED, per_query=True)
    named = [
        (None, "all", 1, 0.0),
        (None, "all", 2, 1.0),
        (None, "system", 2, 1.0),
        ("x", "system", 1, 0.0),
    ]
    assert got == named


def test_the_total_of_lists_that_are_spread_over_groups_is_a_mean_of_their_parts():
    """Together b is second of p and both of q are first: AP is (1/2 + 1) / 2. Of the parts p has 0
    and 1, q two halves.
    """
    run = build_table(
        query_id="p p p q q", doc_id="a b c d e", score="5.0 4.0 3.0 2.0 1.0", shard="x y x x y"
    )
    qrels = build_table(query_id="p q q", doc_id="b d e", relevance="1 1 1")
    assert evaluate_rows(["AP", "num_q"], run=run, qrels=qrels) == [(0.75, 2)]
    parts = {(None, "all", 0.5, 4), ("x", "shard", 0.25, 2), ("y", "shard", 0.75, 2)}
    assert set(evaluate_rows(["AP", "num_q"], run=run, qrels=qrels, by=[["shard"], []])) == parts


@pytest.mark.parametrize(
    ("metric", "role", "columns"),
    [
        (
            "MulticlassAUC",
            "class_scores",
            read_columns(prediction_id="1 1", class_id="a b", label="a a", score="0.9 0.1"),
        ),
        (
            "HammingLoss",
            "class_labels",
            read_columns(prediction_id="1 1", class_id="a b", label="1 0", predicted="1 1"),
        ),
        ("BCubedF1", "predicted_clusters", {"record_id": [1, 2], "cluster_id": [1, 1]}),
    ],
)
def test_rows_that_only_a_group_tells_apart_have_no_total(metric, role, columns):
    """Rows of two systems would be one prediction in the total, and its value that of neither."""
    table = pa.table(
        {name: values * 2 for name, values in columns.items()} | {"system": ["x", "x", "y", "y"]}
    )
    inputs = {role: table} | (
        {"true_clusters": pa.table(columns)} if role == "predicted_clusters" else {}
    )
    assert len(sqlrank.evaluate(metric, inputs=inputs, by="system")) == 2
    with pytest.raises(
        sqlrank.InputError,
        match=r"several rows of one class. Name the column|record_id is listed more than once",
    ):
        sqlrank.evaluate(metric, inputs=inputs, by=SLICED)
