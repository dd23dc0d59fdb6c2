"""The surrogates of pAp@k and their sub-gradients: values, inequalities, slopes and convexity."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlrank
from tests.lanes import select_few
from tests.numbers.references import surrogates_reference as reference
from tests.numbers.references.surrogates_reference import COMPARED, CONVEX, KINDS

Lists = list[tuple[np.ndarray, np.ndarray]]
"""Label and score of each query."""

CUTOFFS = (1, 2, 3, 5, 50)
PUBLISHED = [(np.array([1.0, 1, 0, 0]), np.array([2, -2, -1.5, -1.5]))]
"""A counterexample to the published hierarchy of surrogates, ramp <= avg and risk <= avg."""


def draw_lists(number: int, seed: int, scores: str) -> Lists:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        n = int(rng.integers(1, 14))
        score = rng.integers(-5, 6, n) / 2 if scores == "tied" else rng.normal(0, 1.5, n)
        found.append((rng.integers(0, 2, n).astype(float), score))
    return found


def make_table(lists: Lists) -> pa.Table:
    sizes = [len(label) for label, _ in lists]
    rows = pa.table(
        {
            "query_id": np.repeat(np.arange(len(lists)), sizes),
            "doc_id": np.concatenate([np.arange(size) for size in sizes]),
            "label": np.concatenate([label for label, _ in lists]),
            "score": np.concatenate([score for _, score in lists]),
        }
    )
    return rows.take(np.random.default_rng(0).permutation(rows.num_rows))


def evaluate_values(lists: Lists, k: int, margin: float = 1) -> dict[str, list[float | None]]:
    """Return the value of each kind for each query."""
    metrics = {
        kind: str(sqlrank.parse(f"pApSurrogate(surrogate={kind}, margin={margin})@{k}"))
        for kind in KINDS
    }
    rows = sqlrank.evaluate(list(metrics.values()), predictions=make_table(lists), per_query=True)
    return {kind: rows[metric].to_pylist() for kind, metric in metrics.items()}


def evaluate_gradients(lists: Lists, kind: str, k: int) -> list[np.ndarray]:
    """Return the sub-gradient of each query, in the order of its rows; NaN where it is not
    defined.
    """
    rows = sqlrank.evaluate(
        f"pApGradient(surrogate={kind})@{k}", predictions=make_table(lists), per_query=True
    ).to_pylist()
    found = [np.full(len(label), np.nan) for label, _ in lists]
    for row in rows:
        if row["gradient"] is not None:
            found[row["query_id"]][row["doc_id"]] = row["gradient"]
    return found


def evaluate_value(kind: str, label: np.ndarray, score: np.ndarray, k: int) -> float:
    found = reference.surrogate(kind, score[label == 1], score[label == 0], k)
    assert found is not None
    return found


def select_both_classes(lists: Lists) -> Lists:
    return [(label, score) for label, score in lists if len(set(label)) > 1]


@pytest.mark.parametrize("margin", select_few([0.25, 1], 1))
@pytest.mark.parametrize("scores", select_few(["tied", "any"], 1))
@pytest.mark.parametrize("k", select_few(CUTOFFS, (3,)))
def test_values_are_those_of_the_reference(k, scores, margin):
    lists = draw_lists(120, 1, scores)
    for kind, got in evaluate_values(lists, k, margin).items():
        expected = [
            reference.surrogate(kind, score[label == 1], score[label == 0], k, margin)
            for label, score in lists
        ]
        assert got == pytest.approx(expected, abs=1e-12), kind


@pytest.mark.slow
def test_closed_forms_are_what_the_definitions_say():
    """The structural ones are maxima over orders, of which the reference knows the greatest; small
    lists can try them all.
    """
    for label, score in select_both_classes(draw_lists(150, 2, "any")):
        positives, negatives = score[label == 1][:4], score[label == 0][:4]
        for k in (1, 2, 3):
            closed = reference.surrogate("ts", positives, negatives, k)
            assert closed == pytest.approx(reference.try_all_orders(positives, negatives, k))
            if k <= len(negatives):
                closed = reference.surrogate("precision", positives, negatives, k)
                assert closed == pytest.approx(reference.try_all_tops(positives, negatives, k))
                if k <= len(positives):
                    assert reference.surrogate(
                        "precision_reference", positives, negatives, k
                    ) == pytest.approx(closed)


def test_the_counter_example():
    (label, score) = PUBLISHED[0]
    got = {kind: found[0] for kind, found in evaluate_values(PUBLISHED, 2).items()}
    assert got == pytest.approx(
        {
            "ramp": 0.75,
            "avg": 0,
            "max": 0.75,
            "ts": 0.75,
            "ts_reference": 0.75,
            "pauc": 0.75,
            "precision": 0.75,
            "precision_reference": 0.75,
        }
    )
    assert reference.risk(score[label == 1], score[label == 0], 2) == 0.5


SCORES = st.lists(st.integers(-12, 12).map(lambda number: number / 4), min_size=1, max_size=7).map(
    np.array
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=12), st.integers(1, 8))
def test_what_is_never_less(pairs, k):
    lists = [(np.repeat([1.0, 0.0], [len(p), len(n)]), np.concatenate([p, n])) for p, n in pairs]
    found = evaluate_values(lists, k)
    for number, (positives, negatives) in enumerate(pairs):
        got = {kind: numbers[number] for kind, numbers in found.items()}
        risk = reference.risk(positives, negatives, k)
        assert risk <= got["ramp"] + COMPARED
        assert got["ramp"] <= got["max"] + COMPARED
        assert risk <= got["ts"] + COMPARED
        assert got["ts"] <= got["ts_reference"] + COMPARED
        assert got["avg"] <= got["max"] + COMPARED


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", select_few(CUTOFFS, (3,)))
def test_gradients_are_the_slopes(kind, k):
    """Random scores stand at no kink, where the difference quotient is the derivative."""
    lists = draw_lists(60, 3, "any")
    step = 1e-6
    for (label, score), got in zip(lists, evaluate_gradients(lists, kind, k), strict=True):
        if len(set(label)) == 1:
            assert np.isnan(got).all()
            continue
        units = step * np.eye(len(score))
        slopes = [
            (
                evaluate_value(kind, label, score + unit, k)
                - evaluate_value(kind, label, score - unit, k)
            )
            / (2 * step)
            for unit in units
        ]
        assert got == pytest.approx(np.array(slopes), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", select_few(CONVEX, 2))
def test_gradients_are_sub_gradients(kind):
    """Also where scores are tied, at every kink: f(there) >= f(here) + gradient * (there -
    here).
    """
    rng = np.random.default_rng(4)
    lists = select_both_classes(draw_lists(80, 4, "tied"))
    for k in (1, 2, 4):
        for (label, score), gradient in zip(lists, evaluate_gradients(lists, kind, k), strict=True):
            here = evaluate_value(kind, label, score, k)
            for spread in (0.1, 1, 4):
                there = score + rng.choice([-0.5, 0, 0.5], len(score)) * spread
                assert (
                    evaluate_value(kind, label, there, k)
                    >= here + gradient @ (there - score) - COMPARED
                )


@cache
def draw_midpoints() -> tuple[Lists, Lists, Lists]:
    rng = np.random.default_rng(5)
    left = select_both_classes(draw_lists(600, 5, "any"))
    right = [(label, rng.normal(0, 1.5, len(label))) for label, _ in left]
    return (
        left,
        right,
        [
            (label, (score + other) / 2)
            for (label, score), (_, other) in zip(left, right, strict=True)
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("k", select_few([1, 2, 4], 1))
def test_convexity(k):
    """The value half-way is at most the mean of the values: always for the convex ones, not always
    for the others.
    """
    left, right, middle = (evaluate_values(lists, k) for lists in draw_midpoints())
    excess = {
        kind: np.array(middle[kind]) - (np.array(left[kind]) + np.array(right[kind])) / 2
        for kind in KINDS
    }
    assert all(excess[kind].max() <= COMPARED for kind in CONVEX)
    assert excess["ramp"].max() > 0.01


@pytest.mark.slow
def test_the_form_of_the_code_is_not_convex():
    """A positive that enters the top takes its margin with it, while ts lets each negative
    choose.
    """
    label = np.array([1.0, 1, 0])
    left, right = np.array([-1.0, 0, -1]), np.array([1.0, 0, 0])
    found = evaluate_values([(label, left), (label, right), (label, (left + right) / 2)], 1)
    assert found["ts_reference"] == [0, 0, 0.5]
    assert found["ts"] == [0, 0, 0]


@pytest.mark.slow
def test_the_form_of_precision_in_the_code_moves_with_all_scores():
    """For more than n+ negatives in the top k, (0.5 + 1) + (0 + 1) - 0.5 = 2 over k = 2, and 1 more
    if 2 is added to all scores.
    """
    label, score = np.array([1.0, 0, 0]), np.array([0.5, 0.5, 0])
    found = evaluate_values([(label, score), (label, score + 2)], 2)
    assert found["precision_reference"] == [1, 2]
    assert found["precision"] == [0.75, 0.75]
    assert [
        list(row) for row in evaluate_gradients([(label, score)], "precision_reference", 2)
    ] == [[-0.5, 0.5, 0.5]]


@pytest.mark.slow
def test_rows_of_the_gradient():
    got = sqlrank.evaluate(
        "pApGradient(surrogate=max)@1", predictions=make_table(PUBLISHED), per_query=True
    )
    assert got.column_names == ["query_id", "point", "doc_id", "label", "score", "gradient"]
    assert got.drop_columns(["query_id"]).to_pylist() == [
        {"point": 1, "doc_id": 0, "label": 1, "score": 2, "gradient": 0},
        {"point": 2, "doc_id": 2, "label": 0, "score": -1.5, "gradient": 0.5},
        {"point": 3, "doc_id": 3, "label": 0, "score": -1.5, "gradient": 0.5},
        {"point": 4, "doc_id": 1, "label": 1, "score": -2, "gradient": -1},
    ]


@pytest.mark.slow
def test_mean_over_queries_and_pooled():
    lists = draw_lists(40, 6, "any")
    metric, pooled = "pApSurrogate(level=query)@3", "pApSurrogate@3"
    got = sqlrank.evaluate([metric, pooled], predictions=make_table(lists)).to_pylist()[0]
    each = [found for found in evaluate_values(lists, 3)["avg"] if found is not None]
    label, score = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    assert got[metric] == pytest.approx(np.mean(each))
    assert got[pooled] == pytest.approx(evaluate_value("avg", label, score, 3))


@pytest.mark.slow
def test_few_negatives():
    label, score = np.array([1.0, 0, 0]), np.array([0.0, 0.5, -0.5])
    for policy, expected in {"truncate": 2.0 / 2, "pad": 2.0 / 4, "skip": None}.items():
        rows = make_table([(label, score)])
        (got,) = (
            sqlrank.evaluate(
                f"pApSurrogate(surrogate=max, few_negatives={policy})@4", predictions=rows
            )
            .to_pylist()[0]
            .values()
        )
        assert got == expected
        found = sqlrank.evaluate(
            f"pApGradient(surrogate=max, few_negatives={policy})@4", predictions=rows
        )["gradient"].to_pylist()
        assert found == (
            [None] * 3 if expected is None else [expected / 2, -expected, expected / 2]
        )
