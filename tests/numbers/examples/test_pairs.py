"""Metrics of pairs worked by hand, published numbers, undefined values, and errors by their
message.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.examples.databases import get_database
from tests.numbers.examples.predictions import rank_labels
from tests.tables import build_table, read_columns

TAUS = ["KendallTau", *(f"KendallTau(tau={name})" for name in ("a", "c", "gamma"))]
OTHERS = [
    "SomersD", "SomersD(untied_in=score)", "SpearmanRho", "SpearmanRho(rho_formula=d2)",
    "FCP(level=group)", "PairAccuracy(level=group)",
]  # fmt: skip


def evaluate_values(
    metrics: str | list[str], label: Sequence[Any], score: Sequence[Any], **arguments: Any
) -> list[Any]:
    extra = arguments.pop("extra", {})
    data = pa.table({"label": label, "score": score, **extra})
    (row,) = sqlrank.evaluate(
        metrics, predictions=data, connection=get_database(), **arguments
    ).to_pylist()
    return list(row.values())


def test_four_predictions_with_two_ties():
    """Of six pairs three are in the same order, one is not, one is tied by label and one by
    score.
    """
    metrics = [
        *TAUS,
        *OTHERS,
        "FCP(level=group, tie_rule=ignore)",
        "FCP(level=group, tie_rule=discordant)",
    ]
    got = evaluate_values(metrics, [1, 3, 2, 2], [1, 2, 2, 3])
    # Ranks 1, 2.5, 2.5, 4 and 1, 4, 2.5, 2.5: squared differences 0, 2.25, 0, 2.25.
    ranks = [2.25 / 4.5, 1 - 6 * 4.5 / (4 * 15)]
    expected = [
        2 / 5,
        2 / 6,
        2 * 2 / (16 * 2 / 3),
        2 / 4,
        2 / 5,
        2 / 5,
        *ranks,
        3.5 / 5,
        3 / 5,
        3 / 4,
        3 / 5,
    ]
    assert got == pytest.approx(expected, abs=1e-15)


def test_somers_d_of_labels_explains_scores():
    """All three pairs with different labels, of which one is tied by score; two with different
    scores.
    """
    assert evaluate_values(
        ["SomersD", "SomersD(untied_in=score)", "KendallTau"], [0, 1, 2], [5, 5, 7]
    ) == pytest.approx([2 / 3, 1, 2 / sqrt(6)])


def test_the_same_order_and_the_opposite():
    metrics = [*TAUS, *OTHERS]
    assert evaluate_values(metrics, [1, 2, 5, 9], [-1, 0, 3, 4]) == [1] * len(metrics)
    assert evaluate_values(metrics, [1, 2, 5, 9], [4, 3, 0, -1]) == pytest.approx([-1] * 8 + [0, 0])


def test_one_group_is_counted_like_one_of_several():
    """Bits count the pairs of a single group of any size; small groups of several are joined with
    themselves.
    """
    label, score, weight = [1, 3, 2, 2, 5, 1], [1, 2, 2, 3, 1, 1], [1, 0.5, 2, 0, 3, 1]
    metrics = [*TAUS, *OTHERS]
    arguments = {"plan": {"pair_counting": "bits"}, "columns": {"weight": "weight"}}
    counted = evaluate_values(metrics, label, score, extra={"weight": weight}, **arguments)
    joined = evaluate_values(
        metrics, label, score, extra={"weight": weight, "g": [7] * 6}, by="g", **arguments
    )
    assert counted == pytest.approx(joined[1:], abs=1e-15)
    assert None not in counted


def test_weights_of_pairs_are_products():
    """Weights 1, 2, 3: the pairs weigh 2 (same order), 3 (opposite) and 6 (opposite)."""
    weight = {"weight": [1.0, 2.0, 3.0]}
    assert evaluate_values(
        "KendallTau(tau=a)", [2, 3, 1], [1, 2, 3], extra=weight
    ) == pytest.approx([(2 - 3 - 6) / 11])
    assert evaluate_values(
        ["KendallTau", "SpearmanRho"], [2, 3, 1], [1, 2, 3], extra={"weight": [0.0, 2.0, 3.0]}
    ) == [-1, -1]


@pytest.mark.parametrize("repeat", [1, 40])
def test_light_pairs_with_a_heavy_prediction(repeat):
    """One pair is tied by score, one by label, and the light pair is in opposite order: nothing is
    in the same order.
    """
    label, score = [0, 0, 1] * repeat, [0.1, 0.2, 0.1] * repeat
    got = evaluate_values(
        ["KendallTau(tau=gamma)", "FCP(level=group, tie_rule=ignore)"],
        label,
        score,
        extra={"weight": [1e9, 1.5, 0.7] * repeat},
    )
    assert got == [-1, 0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("label", "score", "defined"),
    [
        ([], [], set()),
        ([1], [0.5], set()),
        ([1, 1, 1], [0.1, 0.2, 0.3], {"KendallTau(tau=a)", "SomersD(untied_in=score)"}),
        (
            [1, 2, 3],
            [0.5, 0.5, 0.5],
            {"KendallTau(tau=a)", "SomersD", "FCP(level=group)", "PairAccuracy(level=group)"},
        ),
        ([1, 1], [0.5, 0.5], {"KendallTau(tau=a)"}),
    ],
    ids=["no rows", "one row", "one label", "one score", "one of each"],
)
def test_undefined(label, score, defined):
    metrics = [*TAUS, *OTHERS]
    table = pa.table({"label": pa.array(label, pa.int64()), "score": pa.array(score, pa.float64())})
    for repeat in (1, 40):
        many = pa.concat_tables([table] * repeat)
        (row,) = sqlrank.evaluate(
            metrics, predictions=many, check="auto" if label else "off"
        ).to_pylist()
        there = {name for name, value in row.items() if value is not None}
        assert there == (defined if repeat == 1 or label != [1] else {"KendallTau(tau=a)"})
        assert all(
            value == (0.5 if name == "FCP(level=group)" else 0)
            for name, value in row.items()
            if value is not None
        )


def test_no_weight_is_no_prediction():
    got = evaluate_values([*TAUS, *OTHERS], [1, 2, 3], [3, 1, 2], extra={"weight": [0.0, 0.0, 1.0]})
    assert got == [None] * len(got)


USERS = read_columns(query_id="a a a b b c c d", label="1 2 3 1 2 5 4 1", score="1 2 2 2 1 1 1 9")
"""Users with 2 concordant pairs and a tie, 1 discordant pair, 1 tie, and no pair."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", (2.5 + 0 + 0.5) / 5),
        ("tie_rule=discordant", 2 / 5),
        ("tie_rule=ignore", 2 / 3),
        ("pooling=queries", (2.5 / 3 + 0 + 0.5) / 3),
        ("pooling=queries, tie_rule=discordant", (2 / 3 + 0 + 0) / 3),
        ("pooling=queries, tie_rule=ignore", (1 + 0) / 2),
        # Surprise: one user has concordant pairs, 2; three have discordant ones, 1 each.
        ("pooling=surprise, tie_rule=discordant", 2 / (2 + 1)),
    ],
)
def test_fcp_of_users(options, expected):
    (row,) = sqlrank.evaluate(
        f"FCP({options})" if options else "FCP", predictions=pa.table(USERS)
    ).to_pylist()
    assert list(row.values()) == pytest.approx([expected], abs=1e-15)


def test_pairs_are_made_within_a_user():
    metrics = ["PairAccuracy", "PairAccuracy(level=group)", "KendallTau(level=query)"]
    got = evaluate_values(metrics, [1, 2, 1, 2], [1, 2, 4, 3], extra={"query_id": [1, 1, 2, 2]})
    assert got == pytest.approx([1 / 2, 2 / 4, 0])


SLIDES = [("+--++++----", 22, 2, 2), ("+-+++-----+", 21, 5, 3), ("++------+++", 12, 4, 4)]


@pytest.mark.parametrize(("order", "pairs", "partial", "top"), SLIDES)
def test_the_table_of_the_slides_for_2(order, pairs, partial, top):
    """Five positives and six negatives: all pairs, those with the two highest negatives, those of
    the two highest of each.
    """
    metrics = ["AUC(tie_credit=0)", "PartialAUC(tie_credit=0)@2", "pAp(tie_credit=0)@2"]
    assert evaluate_values(metrics, *rank_labels(order)) == pytest.approx(
        [pairs / 30, partial / 10, top / 4], abs=1e-15
    )
    assert evaluate_values(["AUC", "PartialAUC@2", "pAp@2"], *rank_labels(order)) == pytest.approx(
        [pairs / 30, partial / 10, top / 4], abs=1e-15
    )


@pytest.mark.parametrize(("order", "pairs"), [("++-+++-----", 27), ("+++-++-----", 28)])
def test_the_table_of_the_slides_for_6(order, pairs):
    """Precision at 6 is 5/6 for both; pAp tells them apart."""
    label, score = rank_labels(order)
    assert evaluate_values(["AUC", "pAp@6", "PartialAUC@6"], label, score) == pytest.approx(
        [pairs / 30] * 3, abs=1e-15
    )
    documents = pa.table(
        {"query_id": [1] * 11, "doc_id": list(range(11)), "label": label, "score": score}
    )
    assert sqlrank.evaluate("P@6", predictions=documents).to_pylist() == [{"P@6": 5 / 6}]


def test_precision_of_the_first_two_in_the_slides():
    for (order, *_), precision in zip(SLIDES, (1 / 2, 1 / 2, 1), strict=True):
        label, score = rank_labels(order)
        documents = pa.table(
            {"query_id": [1] * 11, "doc_id": list(range(11)), "label": label, "score": score}
        )
        assert sqlrank.evaluate("P@2", predictions=documents).to_pylist() == [{"P@2": precision}]


@pytest.mark.parametrize("credit", [0, 0.5, 1])
def test_credit_of_ties(credit):
    """Scores 0.9 +, 0.5 ++--, 0.4 +-, 0.1 --: rivals are the two negatives at 0.5; only the first
    positive is above them.
    """
    label, score = [1, 1, 1, 0, 0, 1, 0, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.5, 0.4, 0.4, 0.1, 0.1]
    metrics = [f"PartialAUC(tie_credit={credit})@2", f"pAp(tie_credit={credit})@2"]
    assert evaluate_values(metrics, label, score) == pytest.approx(
        [(2 + 4 * credit) / 8, (2 + 2 * credit) / 4]
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("truncate", [3 / 4, 3 / 4]),
        ("pad", [(3 + 2 * 1) / 6, (3 + 2 * 1) / 6]),
        ("skip", [None, None]),
    ],
)
def test_fewer_negatives_than_k(rule, expected):
    """+-+-: with k = 3 one negative is missing, which counts as beaten by both positives."""
    got = evaluate_values(
        [f"PartialAUC(few_negatives={rule})@3", f"pAp(few_negatives={rule})@3"],
        *rank_labels("+-+-"),
    )
    assert got == pytest.approx(expected)
    assert evaluate_values(f"pAp(few_negatives={rule})@2", *rank_labels("+-+-")) == pytest.approx(
        [3 / 4]
    )


def test_one_class():
    metrics = [
        "PartialAUC@2", "pAp@2", "AUC@2", "pAp(few_negatives=pad)@2",
        "PartialAUC(few_negatives=skip)@1",
    ]  # fmt: skip
    assert evaluate_values(metrics, *rank_labels("---")) == [None] * 5
    assert evaluate_values(metrics, *rank_labels("+++")) == [None, None, None, 1, None]


def test_auc_of_the_first():
    """++--++: the first three have one negative, below both positives; of a tie across the third
    all three count 1/3.
    """
    assert evaluate_values(
        ["AUC@1", "AUC@2", "AUC@3", "AUC@5", "AUC@6"], *rank_labels("++--++")
    ) == pytest.approx([None, None, 1, 4 / 6, 4 / 8])
    label, score = [1, 0, 1, 0, 0], [0.9, 0.8, 0.5, 0.5, 0.5]
    # In the first three: 1 above; 1/3 of a positive below the negative at 0.8 and tied with 2/3 of
    # negatives.
    right, pairs = 1 * (1 + 2 / 3) + 1 / 3 * (2 / 3 / 2), (1 + 1 / 3) * (1 + 2 / 3)
    assert evaluate_values("AUC@3", label, score) == pytest.approx([right / pairs])
    assert str(sqlrank.parse("auc@3")) == "AUC@3"


def test_micro_average_of_users_and_pooled():
    """The second user has one negative only, and counts for the pooled value alone, where k is
    given for both together.
    """
    users = read_columns(
        query_id=["a"] * 4 + ["b"] * 2, label="1 0 1 0 0 1", score="0.9 0.8 0.7 0.6 0.95 0.5"
    )
    (row,) = sqlrank.evaluate(
        ["pAp(level=query, few_negatives=skip)@2", "pAp(level=query)@2", "pAp@4"],
        predictions=pa.table(users),
    ).to_pylist()
    assert list(row.values()) == pytest.approx([3 / 4, (3 / 4 + 0) / 2, (2 + 1) / 9])


@pytest.mark.parametrize(
    "arguments",
    [{}, {"by": "shop"}, {"by": [["shop"], []]}, {"level": "query"}, {"per_query": True}],
    ids=str,
)
def test_few_negatives_are_an_error(arguments):
    predictions = build_table(
        label="1 0 1 0 0", score="0.9 0.1 0.5 0.4 0.3", query_id="a a b b b", shop="1 1 2 2 2"
    )
    place = {
        "by": " where shop=1",
        "level": " where query_id='a'",
        "per_query": " where query_id='a'",
    }
    assert (
        sqlrank.evaluate(
            "pAp(few_negatives=error)@1", predictions=predictions, **arguments
        ).num_rows
        > 0
    )
    with pytest.raises(sqlrank.InputError) as caught:
        sqlrank.evaluate("pAp(few_negatives=error)@4", predictions=predictions, **arguments)
    number = 1 if arguments else 3
    said = (
        f"pAp(few_negatives=error)@4: {number}"
        f" negatives{place[next(iter(arguments))] if arguments else ''}: choose"
        " few_negatives=truncate, pad or skip"
    )
    assert said in str(caught.value).splitlines()


def test_counting_by_frames_is_for_duckdb():
    assert "RANK(" in sqlrank.sql("KendallTau", predictions="p")
    assert "ORDER BY" in sqlrank.sql("KendallTau", predictions="p", dialect="bigquery")


def test_w_ranking():
    """Positives at the ranks 6, 4 and 1 of 6: AUC 5/9, and (3 * 3 * 5/9 + 3 * 4 / 2) / 7 = 11/7."""
    label, score = [1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.5, 0.4, 0.3]
    metrics = [
        *(f"WRanking(scale={scale})" for scale in ("sum", "best", "mean")),
        *(f"WRanking(phi={phi}, scale=sum)" for phi in ("rtb", "top", "power")),
    ]
    expected = [11 / 7, 11 / 15, 11 / 21, 10 / 7, 2, (6**3 + 4**3 + 1) / 7**3]
    assert evaluate_values(metrics, label, score) == pytest.approx(expected)
    auc, total = evaluate_values(["AUC", "WRanking(scale=sum)"], label, score)
    assert total == pytest.approx((9 * auc + 6) / 7)
    doubled = evaluate_values(metrics, 2 * label, 2 * score)
    assert evaluate_values(metrics, label, score, extra={"weight": [2.0] * 6}) == pytest.approx(
        doubled
    )
    assert evaluate_values(metrics, [1, 1, 0], [1, 1, 1]) == pytest.approx(
        [1, 1 / 1.25, 0.5, 1, 2, 0.25]
    )
    assert evaluate_values(metrics, [0, 0], [1.0, 2.0]) == [None] * 6
    assert evaluate_values("WRanking(phi=top, u0=1)", label, score) == [None]


def test_names_of_averages():
    """The micro average of the authors is a mean over users with k negatives; c has one of two."""
    rows = [
        (*"a", 1, 0.9),
        (*"a", 1, 0.2),
        (*"a", 0, 0.8),
        (*"a", 0, 0.5),
        (*"a", 0, 0.1),
        (*"b", 1, 0.85),
        (*"b", 0, 0.7),
        (*"b", 0, 0.3),
    ]
    query_id, label, score = zip(*rows, (*"c", 1, 0.9), (*"c", 0, 0.1), strict=True)
    metrics = [
        "micro-pAp@2",
        "pAp(level=query, few_negatives=skip)@2",
        "pAp(level=query)@2",
        "pAp@2",
    ]
    extra = {"query_id": query_id}
    assert evaluate_values(metrics, label, score, extra=extra) == pytest.approx(
        [0.75, 0.75, 2.5 / 3, 1]
    )
    precisions = evaluate_values(
        ["prec@2", "P@2"], label, score, extra=extra | {"doc_id": range(10)}
    )
    assert precisions[0] == precisions[1] == pytest.approx(0.5)
