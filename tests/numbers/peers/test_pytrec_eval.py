"""pytrec_eval, which is trec_eval 9: all of its measures that sqlrank has, on random
collections.
"""

from collections import defaultdict
from functools import cache
from math import isnan

import pyarrow as pa
import pytest
import pytrec_eval
from pytrec_eval import compute_aggregated_measure

import sqlrank
from tests.lanes import select_few
from tests.numbers.references.random_collections import (
    Collection,
    Values,
    assert_same,
    draw_random_collection,
    nest_by_group,
    nest_by_query,
)
from tests.tables import build_table

CUTOFFS = (1, 2, 3, 5, 10, 20)
COUNTS = ["num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"]
MEASURES = {
    "order": ["map", "recip_rank", "Rprec", "ndcg", "bpref", "infAP"],
    "experimental": ["11pt_avg", "G", "binG", "Rndcg", "ndcg_rel"],
    "sets": ["set_P", "set_relative_P", "set_recall", "set_map", "set_F", "utility", *COUNTS],
    "cut": [
        f"{name}_{k}"
        for name in ("P", "recall", "map_cut", "ndcg_cut", "relative_P", "success")
        for k in CUTOFFS
    ],
    "points": [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
    + [f"Rprec_mult_{fifth / 5:.2f}" for fifth in range(1, 11)],
}


@cache
def draw_collection(seed: int) -> Collection:
    return draw_random_collection(seed)


def evaluate_with_pytrec_eval(data: Collection, measures: list[str], **options: object) -> Values:
    """Return query -> measure -> value as pytrec_eval has it, but for the 0 / 0 of interpolated
    precision in an empty list.
    """
    evaluator = pytrec_eval.RelevanceEvaluator(data.qrels_dict, [*measures, "num_ret"], **options)
    found = {}
    for query, row in evaluator.evaluate(data.run_dict).items():
        found[query] = {measure: row[measure] for measure in measures}
        if row["num_ret"] == 0:
            found[query] |= {
                measure: 0.0
                for measure in measures
                if measure.startswith(("iprec", "11pt")) and isnan(row[measure])
            }
    return found


def evaluate_with_sqlrank(
    data: Collection, measures: list[str], **policies: object
) -> tuple[Values, Values]:
    """Return the values per query and the aggregates per group under pytrec_eval's names."""
    sources = {
        "run": data.run,
        "qrels": data.qrels,
        "compat": "trec9",
        "by": "collection",
        **policies,
    }
    each = sqlrank.evaluate(measures, per_query=True, **sources)
    summary = sqlrank.evaluate(measures, **sources)
    return (
        nest_by_query(each.rename_columns(["collection", "query_id", *measures])),
        nest_by_group(summary.rename_columns(["collection", *measures])),
    )


def aggregate_values(values: Values, groups_by_query: dict[str, str]) -> Values:
    """Aggregate per group as pytrec_eval does: sums of counts, means of the others."""
    columns = defaultdict(lambda: defaultdict(list))
    for query, row in values.items():
        for measure, value in row.items():
            columns[groups_by_query[query]][measure].append(value)
    return {
        group: {
            measure: compute_aggregated_measure(measure, column) for measure, column in row.items()
        }
        for group, row in columns.items()
    }


def check(
    data: Collection, measures: list[str], policies: dict[str, object], **options: object
) -> None:
    each, summary = evaluate_with_sqlrank(data, measures, **policies)
    expected = evaluate_with_pytrec_eval(data, measures, **options)
    assert_same(each, expected)
    assert_same(summary, aggregate_values(expected, data.groups_by_query))


@pytest.mark.slow
@pytest.mark.parametrize("family", select_few(MEASURES, 2))
@pytest.mark.parametrize("seed", select_few(range(3), 1))
def test_every_measure(family, seed):
    check(draw_collection(seed), MEASURES[family], {})


@pytest.mark.slow
@pytest.mark.parametrize("family", MEASURES)
@pytest.mark.parametrize("level", [2, 3])
def test_relevance_level(family, level):
    measures = [
        measure for measure in MEASURES[family] if measure != "utility" and measure not in COUNTS
    ]
    check(draw_collection(10 + level), measures, {"rel": level}, relevance_level=level)


@pytest.mark.slow
@pytest.mark.parametrize("family", MEASURES)
def test_judged_documents_only(family):
    """Counts of documents are taken before the others are dropped."""
    measures = [measure for measure in MEASURES[family] if measure not in COUNTS]
    check(draw_collection(20), measures, {"unjudged": "drop"}, judged_docs_only_flag=True)


def test_negative_relevance_is_pooled_but_not_judged():
    """Worked by hand, for pytrec_eval does not take negative grades: u (-1) and w (not in the pool)
    stand above b.

    infAP: a at rank 2 below u, of the pool: 1/2 + 1/2 * (1/1) * (e / 2e) = 3/4; b at rank 5 below
    u, a, n of the pool: 1/5 + 4/5 * 3/4 * (1 + e) / (2 + 2e) = 1/2. Both divided by R = 2. bpref: n
    is the one nonrelevant document above b.
    """
    run = build_table(query_id=["q"] * 5, doc_id="u a n w b", score="5 4 3 2 1")
    qrels = build_table(query_id="q q q q", doc_id="u a n b", relevance="-1 1 0 1")
    measures = ["infAP", "bpref", "map", "num_nonrel_judged_ret"]
    got = sqlrank.evaluate(measures, run=run, qrels=qrels, compat="trec9").to_pylist()
    assert got == [
        pytest.approx(
            {
                "infAP": (3 / 4 + 1 / 2) / 2,
                "bpref": (1 + 0) / 2,
                "map": (1 / 2 + 2 / 5) / 2,
                "num_nonrel_judged_ret": 1,
            }
        )
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", select_few([40, 41], 1))
def test_geometric_means(seed):
    """pytrec_eval gives logarithms per query, so only the aggregates are compared."""
    data = draw_collection(seed)
    measures = ["gm_map", "gm_bpref"]
    _, summary = evaluate_with_sqlrank(data, measures)
    assert_same(
        summary, aggregate_values(evaluate_with_pytrec_eval(data, measures), data.groups_by_query)
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("squared_beta", [0.25, 2.0, 4.0])
def test_set_f_takes_the_square_of_beta(squared_beta):
    data = draw_collection(1)
    evaluator = pytrec_eval.RelevanceEvaluator(data.qrels_dict, [f"set_F_{squared_beta}"])
    expected = {
        query: {"F": row["set_F"]} for query, row in evaluator.evaluate(data.run_dict).items()
    }
    each = sqlrank.evaluate(
        f"SetF(beta={squared_beta**0.5!r})",
        run=data.run,
        qrels=data.qrels,
        compat="trec9",
        per_query=True,
    )
    assert_same(nest_by_query(each.rename_columns(["query_id", "F"])), expected)


@pytest.mark.slow
def test_recall_points_round_as_in_binary():
    """int(recall * R + 0.9) in double precision, for every R to 60: 0.7 * 3 + 0.9 is below 3."""
    run, qrels = [], []
    for relevant in range(1, 61):
        query = f"q{relevant:02}"
        run += [
            ("c", query, f"d{place:03}", float(-place), place) for place in range(1, 3 * relevant)
        ]
        qrels += [("c", query, f"d{place:03}", 1) for place in range(1, 3 * relevant + 1, 3)]
    check(Collection(run, qrels, {}), [*MEASURES["points"], "11pt_avg"], {})


def test_all_judged_topics_are_averaged_with_queries_truth():
    """``trec_eval -c``: queries that pytrec_eval leaves out count 0."""
    data = draw_collection(2)
    measures = ["map", "ndcg", "P_5"]
    got = nest_by_query(
        sqlrank.evaluate(
            measures,
            run=data.run,
            qrels=data.qrels,
            compat="trec9",
            queries="judged",
            per_query=True,
        ).rename_columns(["query_id", *measures])
    )
    expected = evaluate_with_pytrec_eval(data, measures)
    missing = set(data.qrels_dict) - set(expected)
    assert missing
    assert_same(got, expected | {query: dict.fromkeys(measures, 0.0) for query in missing})


def test_scores_that_tie_in_single_precision():
    """Document a is ahead by less than a float can hold, so b, the greater id, goes first."""
    run = build_table(query_id="q q", doc_id="a b", score="1.000000001 1.0")
    qrels = build_table(query_id="q", doc_id="a", relevance="1")
    assert pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate(
        {"q": {"a": 1.000000001, "b": 1.0}}
    )["q"] == {"recip_rank": 0.5}
    assert sqlrank.evaluate("recip_rank", run=run, qrels=qrels, compat="trec9").to_pylist() == [
        {"recip_rank": 0.5}
    ]
    assert sqlrank.evaluate("recip_rank", run=run, qrels=qrels, compat="trec10").to_pylist() == [
        {"recip_rank": 1.0}
    ]


def test_scores_too_large_for_single_precision_tie():
    """Both are infinite as floats, so b goes first."""
    scores = {"a": 1e300, "b": 1e39, "c": 1.0}
    run = pa.table({"query_id": ["q"] * 3, "doc_id": list(scores), "score": list(scores.values())})
    qrels = build_table(query_id="q", doc_id="a", relevance="1")
    assert pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate({"q": scores})[
        "q"
    ] == {"recip_rank": 0.5}
    assert sqlrank.evaluate("recip_rank", run=run, qrels=qrels, compat="trec9").to_pylist() == [
        {"recip_rank": 0.5}
    ]


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint16(), pa.string()], ids=str)
def test_ties_of_documents_that_are_numbers(kind):
    """Twenty topics of forty documents with three distinct scores; pytrec_eval takes ids as texts,
    of which 9 is greater than 10.
    """
    rows = [
        (str(query), str(doc), (query * 31 + doc * 17) % 3, (query * 7 + doc * doc) % 5 == 0)
        for query in range(20)
        for doc in range(1, 41)
    ]
    run = defaultdict(dict)
    qrels = defaultdict(dict)
    for query, doc, score, is_relevant in rows:
        run[query][doc] = float(score)
        qrels[query][doc] = int(is_relevant)
    queries, docs, scores, grades = zip(*rows, strict=True)
    table = pa.table(
        {
            "query_id": queries,
            "doc_id": pa.array(map(int, docs)).cast(kind),
            "score": scores,
            "relevance": map(int, grades),
        }
    )
    names = ["map", "recip_rank", "ndcg_cut_10", "P_5", "bpref"]
    found = sqlrank.evaluate(
        names, run=table, qrels=table, compat="trec9", per_query=True
    ).to_pylist()
    expected = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "recip_rank", "ndcg_cut.10", "P.5", "bpref"}
    ).evaluate(run)
    assert len(found) == len(expected)
    for query, *values in (row.values() for row in found):
        assert values == pytest.approx([expected[query][name] for name in names], abs=1e-12)
