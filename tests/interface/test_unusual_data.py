"""Unusual but valid data give the right numbers."""

import math
from decimal import Decimal

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import SqlrankError
from tests.interface.calls import (
    GOOD_QRELS,
    GOOD_RUN,
    INF,
    assert_refused,
    evaluate_value,
    make_qrels,
    make_run,
    make_weights,
)
from tests.tables import build_table
from website.sections import group_by_section


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "scores",
    [
        (1.0, 1.0, 1.0),
        (0.0, -0.0, 0.0),
        (INF, INF, INF),
        (-INF, -INF, -INF),
        (5e-324, 5e-324, 5e-324),
    ],
    ids=str,
)
def test_all_tied(scores):
    run = make_run(*(("q", doc, score) for doc, score in zip("abc", scores, strict=True)))
    qrels = make_qrels(("q", "a", 1))
    by_policy = {
        f"P(ties={ties})@1": expected
        for ties, expected in (
            ("doc_desc", 0),
            ("doc_asc", 1),
            ("best", 1),
            ("worst", 0),
            ("expected", 1 / 3),
        )
    }
    assert sqlrank.evaluate(by_policy, run=run, qrels=qrels).to_pylist()[0] == pytest.approx(
        by_policy, rel=1e-15
    )
    assert_refused(
        "equal scores in a list, and ties='error'", "docs=3", run=run, qrels=qrels, ties="error"
    )


def test_infinite_scores_are_ranked():
    run = make_run(("q", "a", -INF), ("q", "b", INF), ("q", "c", 1e308), ("q", "d", -1e308))
    for place, doc in enumerate("bcda", start=1):
        assert evaluate_value("RR", run, make_qrels(("q", doc, 1))) == 1 / place


@pytest.mark.slow
def test_one_row():
    metrics = [
        name
        for name in (file.display_name for file in group_by_section()["ranking"])
        if name != "IPrec"
    ]
    cut = [
        f"{name}@1" if name in {"AR", "F", "Judged", "MDCG", "P", "Unj", "num_tied"} else name
        for name in metrics
    ]
    result = sqlrank.evaluate(
        [*cut, "IPrec@0.5"], run=make_run(("q", "a", 1)), qrels=make_qrels(("q", "a", 1))
    )
    for name, column in zip(result.column_names, result.columns, strict=True):
        assert column.type == pa.float64(), name
        assert column[0].as_py() is not None, name
        assert math.isfinite(column[0].as_py()), name


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "kind",
    [
            pa.decimal128(10, 3), pa.float32(), pa.float64(), pa.int8(), pa.uint64(),
            pa.decimal128(38, 0),
        ],
    ids=str,
)  # fmt: skip
def test_columns_of_many_types(kind):
    run = GOOD_RUN.set_column(2, "score", pa.array([Decimal(1), Decimal(2)]).cast(kind))
    qrels = GOOD_QRELS.set_column(2, "relevance", pa.array([Decimal(1), Decimal(0)]).cast(kind))
    queries = build_table(query_id="q", weight=pa.array([Decimal(1)]).cast(kind))
    got = sqlrank.evaluate(
        ["RR", "nDCG@1", "CG", "ERR"], run=run, qrels=qrels, queries=queries
    ).to_pylist()[0]
    assert got == pytest.approx({"RR": 0.5, "nDCG@1": 0.0, "CG": 1.0, "ERR": 0.03125}, rel=1e-14)


def test_booleans():
    run = GOOD_RUN.set_column(2, "score", [[False, True]])
    qrels = GOOD_QRELS.set_column(2, "relevance", [[True, False]])
    assert evaluate_value("RR", run, qrels) == 0.5
    assert evaluate_value("RR", run, qrels, queries=make_weights(("q", True))) == 0.5


def test_large_integers_keep_their_order():
    run = make_run(("q", "a", 2**62), ("q", "b", 2**62 + 1))
    assert evaluate_value("RR", run, make_qrels(("q", "a", 1))) == 0.5
    ids = make_run((2**62, 2**62, 1), (2**62 + 1, 2**62 + 1, 1))
    assert (
        evaluate_value("num_q", ids, make_qrels((2**62, 2**62, 1), (2**62 + 1, 2**62 + 1, 1))) == 2
    )


def test_negative_relevance_is_not_relevant():
    qrels = make_qrels(("q", "a", -1), ("q", "b", 1))
    got = sqlrank.evaluate(
        ["RR", "nDCG@2", "num_rel", "CG", "Judged@2"], run=GOOD_RUN, qrels=qrels
    ).to_pylist()[0]
    assert got == pytest.approx(
        {"RR": 0.5, "nDCG@2": math.log(2) / math.log(3), "num_rel": 1.0, "CG": 1.0, "Judged@2": 0.5}
    )


@pytest.mark.slow
def test_nothing_relevant_anywhere():
    qrels = make_qrels(("q", "a", 0), ("q", "b", -2))
    metrics = ["RR", "nDCG", "AP", "ERR", "RBP", "R", "bpref", "P@1", "Rprec", "11pt", "G"]
    for policy, expected in (("zero", 0.0), ("one", 1.0), ("skip", None), ("null", None)):
        got = sqlrank.evaluate(metrics, run=GOOD_RUN, qrels=qrels, if_undefined=policy).to_pylist()[
            0
        ]
        assert got == dict.fromkeys(metrics, expected)


@pytest.mark.parametrize(
    "metric",
    [
        "nDCG(gain=exp2)", "ERR(max_grade=2000)", "DCG(gain=exp2)", "G(gain=exp2)", "nDCG",
        "PFound(max_grade=2000)",
    ],
)  # fmt: skip
def test_huge_relevance_never_gives_nan(metric):
    try:
        got = evaluate_value(metric, GOOD_RUN, make_qrels(("q", "a", 2000), ("q", "b", 1)))
    except SqlrankError as error:
        assert "2000" in str(error)  # noqa: PT017  refusing is fine too
    else:
        assert got is None or math.isfinite(got)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(stop_probability=identity)", 1.0),
        ("RBP", 1.0),
        ("RBP(p=0.99)", 1 - 0.99**3000),
        ("ERR(max_grade=1)", math.log(2)),
        ("PFound(max_grade=1, p_break=0)", 1.0),
        ("nDCG", 1.0),
        ("nDCG(discount=geometric)", 1.0),
        ("AP", 1.0),
        ("bpref", 1.0),
    ],
)
def test_a_list_of_3000_relevant_documents(metric, expected):
    run = make_run(*(("q", f"d{i:04}", float(-i)) for i in range(3000)))
    qrels = make_qrels(*(("q", f"d{i:04}", 1) for i in range(3000)))
    assert evaluate_value(metric, run, qrels) == pytest.approx(expected, rel=1e-9)


# Weights. RR is 1 for q1, 1/2 for q2, 0 for q3.

RUN3 = make_run(
    ("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "a", 2.0), ("q2", "b", 1.0), ("q3", "a", 1.0)
)
QRELS3 = make_qrels(("q1", "a", 1), ("q2", "b", 1), ("q3", "zz", 1))


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((1, 1, 1), 0.5),
        ((1, 2, 1), 0.5),
        ((0, 2, 0), 0.5),
        ((3.0, 0.0, 1.0), 0.75),
        ((Decimal("0.3"), Decimal("0.0"), Decimal("0.1")), 0.75),
        ((True, False, True), 0.5),
    ],
)
def test_weighted_means(weights, expected):
    queries = make_weights(*zip(("q1", "q2", "q3"), weights, strict=True))
    assert evaluate_value("RR", RUN3, QRELS3, queries=queries) == pytest.approx(expected, rel=1e-15)
    assert evaluate_value("RR(aggregate=mean)", RUN3, QRELS3, queries=queries) == 0.5
    extra = pa.concat_tables([queries, make_weights(("q4", weights[0]))])
    assert evaluate_value("RR", RUN3, QRELS3, queries=extra) == pytest.approx(
        expected, rel=1e-15
    ), "a query that is not evaluated has no weight"


def test_no_weight_at_all_is_undefined():
    assert (
        evaluate_value("RR", RUN3, QRELS3, queries=make_weights(("q1", 0), ("q2", 0), ("q3", 0)))
        is None
    )


def test_queries_without_a_weight_column_weigh_the_same():
    ids = ["q1", "q2", "q3"]
    assert (
        evaluate_value("RR", RUN3, QRELS3, queries=build_table(query_id=ids, country="de de fr"))
        == 0.5
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({}, 1.0),
        ({"compat": "trec10"}, 0.5),
        ({"compat": "trec9"}, 0.5),
        ({"score_type": "float64"}, 0.5),
    ],
)
def test_integers_that_are_one_double(options, place, labelled):
    """2^53 and 2^53 + 1 are one double, as trec_eval reads them, and then the greater id comes
    first.
    """
    scores = pa.array([2**53 + 1, 2**53], pa.int64())
    run = build_table(query_id="q q", doc_id="a b", score=scores)
    qrels = build_table(query_id="q q", doc_id="a b", relevance="1 0")
    sources = (
        {"predictions": run.append_column("label", qrels["relevance"])}
        if labelled
        else {"run": run, "qrels": qrels}
    )
    assert sqlrank.evaluate("RR", **sources, **options).to_pylist() == [{"RR": place}]


def test_groups_by_arrays_of_a_fixed_size():
    """DuckDB 2.0 crashes where it counts distinct rows that hold them."""
    groups = pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float64(), 2))
    table = build_table(label="1 0 1 0", score="0.9 0.4 0.3 0.1", g=groups)
    assert sqlrank.evaluate("AUC", predictions=table, by="g").to_pylist() == [
        {"g": [1.0, 2.0], "AUC": 0.75}
    ]
    result = sqlrank.evaluate(
        ["GAUC", "num_predictions"], predictions=table, columns={"query_id": "g"}
    )
    assert result.to_pylist() == [{"GAUC": 0.75, "num_predictions": 4}]
