"""Values of policies and plans by hand, on a list or two each."""

import math
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table, read_columns

TIED = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}}
"""In the order of most tools a c b d, since c is the greater id of the tie."""


def rank_lists(run: Any, relevant: dict[str, str], **options: Any) -> float:
    """Return the mean reciprocal rank, of one relevant document per query."""
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in relevant.items()}
    (row,) = sqlrank.evaluate("RR", run=run, qrels=qrels, **options).to_pylist()
    return row["RR"]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("doc_desc", 1 / 2),
        ("doc_asc", 1 / 3),
        ("worst", 1 / 3),
        ("best", 1 / 2),
        ("expected", (1 / 2 + 1 / 3) / 2),
    ],
)
def test_orders_of_a_tie_of_two(ties, expected):
    assert rank_lists(TIED, {"q": "c"}, ties=ties) == pytest.approx(expected)


def test_a_relevant_document_that_is_missing_is_no_undefined_rank():
    """Its grade is the lowest that counts, and the mean is over both queries."""
    run = {"missed": {"a": 1.0}, "hit": {"z": 1.0}}
    assert (
        rank_lists(run, {"missed": "z", "hit": "z"}, ties="expected", if_undefined="skip") == 1 / 2
    )


@pytest.mark.parametrize(("k", "expected"), [(1, 0), (2, 2), (3, 0)])
def test_documents_of_a_tie_at_the_cut_are_counted(k, expected):
    """The second and third document are tied, and two are below them."""
    run = {"q": {**TIED["q"], "e": 0.5}}
    (row,) = sqlrank.evaluate(f"num_tied@{k}", run=run, qrels={"q": {"a": 1}}).to_pylist()
    assert list(row.values()) == [expected]


@pytest.mark.parametrize(
    ("ties", "score", "expected"),
    [
        ("rank", [1.0, 2.0, 3.0], 1 / 3),  # scores are not read
        ("row_order", [3.0, 2.0, 2.0], 1 / 2),  # of the tie the row of rank 2 comes first
        ("row_order", [1.0, 2.0, 2.0], 1 / 1),
        ("error", [3.0, 2.5, 2.0], 1 / 2),
    ],
)
def test_orders_by_ranks(ties, score, expected):
    """Documents x, y and z have the ranks 1, 2 and 3."""
    rows = {"query_id": ["q"] * 3, "doc_id": ["x", "y", "z"], "score": score, "rank": [1, 2, 3]}
    run, relevant = (pa.table(rows), "z" if ties == "rank" else "y")
    assert rank_lists(run, {"q": relevant}, ties=ties) == pytest.approx(expected)


@pytest.mark.parametrize(("ranks", "positions"), [("given", [2, 5]), ("consecutive", [1, 2])])
def test_positions_of_a_log(ranks, positions):
    run = build_table(query_id="q q", doc_id="x y", rank=positions)
    found = rank_lists(run, {"q": "y"}, ties="rank", ranks=ranks)
    assert found == pytest.approx(1 / positions[1])


@pytest.mark.parametrize(("unjudged", "expected"), [("nonrelevant", 1 / 4), ("drop", 1 / 2)])
def test_unjudged_documents(unjudged, expected):
    """Of a, c, b and d, c and d are judged, and d is relevant."""
    (row,) = sqlrank.evaluate(
        "RR", run=TIED, qrels={"q": {"c": 0, "d": 1}}, unjudged=unjudged
    ).to_pylist()
    assert row["RR"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ("judged", (1 / 2 + 1 + 0) / 3),
        ("judged_and_retrieved", (1 / 2 + 1) / 2),
        ("retrieved", (1 / 2 + 1 + 0 + 0) / 4),
        ("given", (1 / 2 + 0) / 2),
    ],
)
def test_queries_that_count(queries, expected):
    """Two queries are judged and answered, one is judged only, two are answered only; the table of
    ``given`` has one of the first and one of the last.
    """
    run = {**TIED, "one": {"x": 1.0}, "own": {"x": 1.0}, "other": {"x": 1.0}}
    relevant = {"q": "c", "one": "x", "unanswered": "x"}
    options = {"queries": queries}
    if queries == "given":
        options = {"queries": build_table(query_id="q own"), "topics": "given"}
    found = rank_lists(run, relevant, **options)
    assert found == pytest.approx(expected)


def test_questions_of_answers_all_count():
    """One finds its document second, one finds nothing."""
    answers = build_table(query_id="q none", retrieved=[["a", "b"], []], relevant=[["b"], ["x"]])
    (row,) = sqlrank.evaluate("RR", inputs={"answers": answers}).to_pylist()
    assert row["RR"] == (1 / 2 + 0) / 2


def test_answers_without_grades_have_grade_1():
    answers = build_table(query_id="q", retrieved=[["a", "b"]], relevant=[["a", "b"]])
    (row,) = sqlrank.evaluate(["CG@1", "CG@2"], inputs={"answers": answers}).to_pylist()
    assert list(row.values()) == [1, 2]


def test_strict_queries_that_all_are_judged_and_answered():
    run = {**TIED, "one": {"x": 1.0}}
    assert rank_lists(run, {"q": "c", "one": "x"}, queries="strict") == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("score_type", "dtype", "scores", "expected"),
    [
        ("given", pa.int64(), [2**53 + 1, 2**53], 1),
        ("float64", pa.int64(), [2**53 + 1, 2**53], 1 / 2),  # a tie, of which z comes first
        ("float64", pa.float64(), [1 + 1e-9, 1], 1),
        ("float32", pa.float64(), [1 + 1e-9, 1], 1 / 2),
    ],
)
def test_precision_of_scores(score_type, dtype, scores, expected):
    rows = {"query_id": ["q", "q"], "doc_id": ["a", "z"], "score": pa.array(scores, dtype)}
    found = rank_lists(pa.table(rows), {"q": "a"}, score_type=score_type)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("id_type", "expected"), [("given", 1), ("text", 1 / 2)])
def test_order_of_ids(id_type, expected):
    """Of 9 and 10, 10 is the greater number, and 9 the greater text."""
    run = build_table(query_id="q q", doc_id="9 10", score="1.0 1.0")
    qrels = build_table(query_id="q", doc_id="10", relevance="1")
    (row,) = sqlrank.evaluate("RR", run=run, qrels=qrels, id_type=id_type).to_pylist()
    assert row["RR"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("repeat", "options", "expected"),
    [
        ([], {"duplicates": "error", "nulls": "error"}, 1 / 2),
        ([("c", 4.0)], {"duplicates": "max"}, 1),  # the greatest score of c is above that of a
        ([("e", None)], {"nulls": "drop"}, 1 / 2),
    ],
)
def test_repeated_and_incomplete_rows(repeat, options, expected):
    docs, scores = zip(*[*TIED["q"].items(), *repeat], strict=True)
    run = pa.table({"query_id": ["q"] * len(docs), "doc_id": docs, "score": scores})
    assert rank_lists(run, {"q": "c"}, **options) == pytest.approx(expected)


@pytest.mark.parametrize(
    "plan",
    [
        {"list_key": "integer"},
        {"list_key": "input"},
        {"rank_method": "sort"},
        {"rank_method": "count"},
        {"rank_method": "top_k"},
        {"rank_method": "array"},
    ],
    ids=str,
)
def test_plans_of_rankings(plan):
    """DCG@2 of a list whose second and third documents have the grades 3 and 1."""
    (row,) = sqlrank.evaluate(
        ["DCG@2", "RR@2"], run=TIED, qrels={"q": {"c": 3, "b": 1}}, plan=plan
    ).to_pylist()
    assert list(row.values()) == pytest.approx([3 / 1.584962500721156, 1 / 2])


LABELS, SCORES = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.8, 0.4, 0.3, 0.1]


def evaluate_predictions(metrics: Any, **options: Any) -> list[float]:
    columns = {"label": LABELS, "score": SCORES, **options.pop("columns", {})}
    (row,) = sqlrank.evaluate(metrics, predictions=pa.table(columns), **options).to_pylist()
    return list(row.values())


@pytest.mark.parametrize(
    "plan",
    [
        {"score_order": "auto"},
        {"score_order": "window"},
        {"score_order": "rank"},
        {"score_order": "integer_sort"},
        {"score_order": "distinct"},
        {"score_order": "buckets"},
        {"score_order": "buckets", "bucket_aggregation": "after_bucketing"},
        {"score_order": "buckets", "bucket_aggregation": "before_bucketing"},
    ],
    ids=str,
)
def test_plans_of_predictions(plan):
    """Of nine pairs 3 + 2.5 + 1 are in order; precision is 1, 2/3 and 3/5 at recall 1/3, 2/3, 1."""
    found = evaluate_predictions(["AUC", "APS"], plan=plan)
    assert found == pytest.approx([6.5 / 9, (1 + 2 / 3 + 3 / 5) / 3])


@pytest.mark.parametrize(
    "plan", [{}, {"score_order": "integer_sort"}, {"score_order": "window"}], ids=str
)
@pytest.mark.parametrize(("weight", "expected"), [(1.0, 6.5 / 9), (2.0, 9.5 / 12)])
def test_areas_with_and_without_weights(weight, expected, plan):
    """The first positive, which is above all negatives, weighs as much as given, the others 1."""
    columns = {"weight": [weight, *[1.0] * 5]} if weight != 1 else {}
    assert evaluate_predictions("AUC", columns=columns, plan=plan) == [pytest.approx(expected)]


@pytest.mark.parametrize("by", [[], ["half"]], ids=str)
def test_pairs_of_one_group_and_of_small_ones(by):
    """One pair of three is in opposite order, in all as in each half, which are alike."""
    table = build_table(label=[1, 2, 3] * 2, score=[0.2, 0.1, 0.3] * 2, half="1 1 1 2 2 2")
    expected = [(2 - 1) / 3] * 2 if by else [(8 - 4) / 12]
    rows = sqlrank.evaluate("KendallTau", predictions=table, by=by).to_pylist()
    assert [row["KendallTau"] for row in rows] == pytest.approx(expected)


@pytest.mark.parametrize("place", ["queries", "answers"])
def test_columns_of_lists_are_measured(place):
    """The mean of 1 and 4, of two lists whose documents are no matter."""
    rows = {"query_id": ["q1", "q2"], "seconds": [1.0, 4.0]}
    lists = {"retrieved": [["a"], ["b"]], "relevant": [["a"], ["a"]]}
    inputs = {place: pa.table({**rows, **lists} if place == "answers" else rows)}
    (row,) = sqlrank.evaluate("Mean(seconds)", inputs=inputs).to_pylist()
    assert row["Mean(seconds)"] == 2.5


@pytest.mark.parametrize("place", ["run", "queries"])
def test_lists_are_grouped_by_a_column_of_themselves_or_of_queries(place):
    shops = {"query_id": ["q", "one"], "shop": ["x", "y"]}
    run = read_columns(query_id="q q one", doc_id="a c x", score="2.0 1.0 1.0")
    sources = {"run": pa.table(run)}
    if place == "queries":
        sources["queries"] = pa.table(shops)
    else:
        sources["run"] = sources["run"].append_column("shop", pa.array(["x", "x", "y"]))
    qrels = {"q": {"c": 1}, "one": {"x": 1}}
    if place == "run":
        qrels_rows = read_columns(query_id="q one", doc_id="c x", relevance="1 1")
        qrels = pa.table({**qrels_rows, "shop": ["x", "y"]})
    rows = sqlrank.evaluate("RR", qrels=qrels, by="shop", **sources).to_pylist()
    assert [(row["shop"], row["RR"]) for row in rows] == [("x", 1 / 2), ("y", 1)]


@pytest.mark.parametrize(
    "plan", [{"pair_counting": "bits"}, {"pair_counting": "window_ranks"}], ids=str
)
def test_plans_of_pairs(plan):
    """One pair of three is in opposite order."""
    table = build_table(label="1 2 3", score="0.2 0.1 0.3")
    (row,) = sqlrank.evaluate("KendallTau", predictions=table, plan=plan).to_pylist()
    assert row["KendallTau"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("level", "expected"), [("group", 6.5 / 9), ("query", (1.5 / 2 + 1 / 2) / 2)]
)
def test_levels(level, expected):
    """The first half has two pairs, one of them tied; of the second half one of two is in order."""
    queries = {"query_id": ["x", "x", "x", "y", "y", "y"]}
    assert evaluate_predictions("AUC", level=level, columns=queries) == [pytest.approx(expected)]


@pytest.mark.parametrize(
    ("tau", "expected"),
    [("a", 2 / 6), ("b", 2 / (5 * 5) ** 0.5), ("c", 2 * 2 / (16 * 2 / 3)), ("gamma", 2 / 4)],
)
def test_denominators_of_tau(tau, expected):
    """Of six pairs three are in order, one is not, one is tied by label and one by score."""
    table = build_table(label="1 2 2 3", score="0.2 0.1 0.3 0.3")
    (row,) = sqlrank.evaluate(f"KendallTau(tau={tau})", predictions=table).to_pylist()
    assert list(row.values()) == [pytest.approx(expected)]


def measure_length(tp: float, fp: float) -> float:
    """Return the length of an ROC curve so far: ten points have two segments per unit."""
    return 2 * (tp / 5 + fp / 11)


def measure_logarithm(tp: float, fp: float) -> float:
    """Return the logarithms of the weights above a point, as a share of three segments."""
    return 3 * (math.log(tp) + math.log(tp + fp)) / (2 * math.log(16)) if tp else -1


@pytest.mark.parametrize(
    ("spacing", "measure"), [("equal", measure_length), ("logarithmic", measure_logarithm)]
)
def test_points_are_the_first_and_last_of_their_segments(spacing, measure):
    labels = [1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    table = pa.table({"label": labels, "score": [1 - place / 16 for place in range(16)]})
    rows = sqlrank.evaluate(
        f"ROC(curve_spacing={spacing}, points=10)", predictions=table
    ).to_pylist()
    counts = [(sum(labels[:n]), n - sum(labels[:n])) for n in range(1, 17)]
    segments = [math.floor(measure(*count) + 1e-9) for count in counts]
    ends = [
        (fp / 11, tp / 5)
        for place, (tp, fp) in enumerate(counts)
        if segments[place] not in segments[:place] or segments[place] not in segments[place + 1 :]
    ]
    assert len(ends) < 10
    assert [(row["fpr"], row["tpr"]) for row in rows] == [pytest.approx(p) for p in [(0, 0), *ends]]


@pytest.mark.parametrize("option", ["missing_prediction", "missing_truth"])
def test_complete_clusters(option):
    """Where every record has both clusters, no value of the policy differs from its error: one of
    two predicted links is right, and one of two true ones is there.
    """
    columns = read_columns(record_id="1 2 3 4 5", predicted_cluster="a a b b c")
    records = pa.table({**columns, "true_cluster": list("xxyzz")})
    (row,) = sqlrank.evaluate(
        ["PairwisePrecision", "PairwiseRecall"], inputs={"records": records}, **{option: "error"}
    ).to_pylist()
    assert list(row.values()) == [1 / 2, 1 / 2]


def test_a_document_is_looked_up_in_the_list_of_an_answer():
    answers = build_table(query_id="q", retrieved=[["a", "b", "c"]], relevant=[["c"]])
    (row,) = sqlrank.evaluate(
        "RR", inputs={"answers": answers}, plan={"rank_method": "list_position"}
    ).to_pylist()
    assert row["RR"] == pytest.approx(1 / 3)


def test_clusters_of_one_and_of_several_true_ones():
    """The predicted clusters are 1 2, 3 4 and 5; the true ones are 1 2, 3, 4 5."""
    columns = read_columns(record_id="1 2 3 4 5", predicted_cluster="a a b b c")
    records = pa.table({**columns, "true_cluster": list("xxyzz")})
    metrics = ["num_over_merged", "num_over_split", "num_predicted_clusters", "num_true_clusters"]
    (row,) = sqlrank.evaluate(metrics, inputs={"records": records}).to_pylist()
    assert list(row.values()) == [1, 1, 3, 3]
