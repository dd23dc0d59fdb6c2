"""Metrics of clusters of records, by hand."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from tests.numbers.examples.records import (
    BLOCKS,
    PREDICTED,
    TRUE,
    evaluate_records,
    make_pairs,
    make_records,
)
from website.sections import find_section

GOLDEN = {
    "PairwisePrecision": 4 / 11,
    "PairwiseRecall": 4 / 9,
    "PairwiseF": 0.4,
    "Rand": 0.846153846,
    "PairwiseSpecificity": 0.898550725,
    "AdjustedRand": 0.312775330,
    "AdjustedMutualInformation": 0.429197261,
    "FowlkesMallows": 0.402015126,
    "BCubedPrecision": 0.666666667,
    "BCubedPrecision(record_weight=cluster)": 0.759259259,
    "BCubedPrecision(record_weight=true_cluster)": 0.642857143,
    "BCubedRecall": 0.769230769,
    "BCubedRecall(record_weight=cluster)": 0.857142857,
    "BCubedRecall(record_weight=true_cluster)": 0.857142857,
    "ClusterPrecision": 1 / 6,
    "ClusterRecall": 1 / 7,
    "ClosestPrecision": 0.611111111,
    "ClosestRecall": 0.571428571,
    "Homogeneity": 0.743301463,
    "Completeness": 0.808617500,
    "MutualInformation": 1.351681195,
    "VariationOfInformation": 0.786716052,
    "Purity": 0.692307692,
    "InversePurity": 0.769230769,
    "MUCPrecision": 0.571428571,
    "MUCRecall": 0.666666667,
    "TalburtWang": 0.720082300,
    "MatchingRate": 0.846153846,
    "ReductionRatio": 1 - 11 / 78,
    "MergeDistance": 5,
    "num_splits": 3,
    "num_merges": 2,
    "num_over_merged": 3,
    "num_over_split": 2,
    "num_predicted_links": 11,
    "num_true_links": 9,
    "num_shared_links": 4,
    "num_records": 13,
    "num_predicted_clusters": 6,
    "num_true_clusters": 7,
    "num_singletons": 2,
    "num_unplaced": 0,
    "num_unlabelled": 0,
}
"""Of the clusterings in records.py: scikit-learn 1.9.1, er-evaluation 2.3.0, and sets in Python."""

OWN = [
    file.display_name
    for file in load_registry().metrics.values()
    if find_section(file) == "clusters"
]
NEED_LINKS = {
    "PairwisePrecision", "PairwiseRecall", "PairwiseF", "FowlkesMallows", "MUCPrecision",
    "MUCRecall", "MUCF",
}  # fmt: skip
DISTANCES = ("VariationOfInformation", "MergeDistance")


@pytest.mark.slow
def test_numbers_of_other_tools():
    found = sqlrank.evaluate(list(GOLDEN), inputs={"records": make_records()}).to_pylist()[0]
    assert found == pytest.approx(GOLDEN, abs=1e-9)


def test_the_harmonic_means():
    """Of BCubedF and ClosestF the numbers above, put together by hand."""
    found = sqlrank.evaluate(
        ["BCubedF", "ClosestF", "ClusterF", "MUCF", "VMeasure"], inputs={"records": make_records()}
    ).to_pylist()[0]
    pairs = [("BCubedPrecision", "BCubedRecall"), ("ClosestPrecision", "ClosestRecall"), ("ClusterPrecision", "ClusterRecall"),
             ("MUCPrecision", "MUCRecall"), ("Homogeneity", "Completeness")]  # fmt: skip
    means = [
        2 * GOLDEN[one] * GOLDEN[other] / (GOLDEN[one] + GOLDEN[other]) for one, other in pairs
    ]
    assert list(found.values()) == pytest.approx(means, abs=1e-8)


@pytest.mark.parametrize(
    ("missing_prediction", "expected"),
    [
        ("drop", [0.5, 0.444444444, 0.818181818, 0.727272727, 0.374209861]),
        ("singleton", [0.5, 0.444444444, 0.846153846, 0.769230769, 0.406091371]),
    ],
)
def test_records_that_were_left_out(missing_prediction, expected):
    predicted = [
        cluster if place not in {9, 12} else "-" for place, cluster in enumerate(PREDICTED)
    ]
    metrics = [
        "PairwisePrecision", "PairwiseRecall", "BCubedPrecision", "BCubedRecall",
        "AdjustedRand", "num_unplaced",
    ]  # fmt: skip
    found = sqlrank.evaluate(
        metrics, inputs={"records": make_records(predicted)}, missing_prediction=missing_prediction
    ).to_pylist()[0]
    assert list(found.values()) == pytest.approx([*expected, 2], abs=1e-9)


def test_records_without_a_true_cluster():
    """Of a and b the first is known; c is two records that the system put with it."""
    table = make_records("aabb-", "xx-y-")
    metrics = [
        "PairwisePrecision", "num_records", "num_predicted_links", "num_unplaced",
        "num_unlabelled",
    ]  # fmt: skip
    found = {
        missing_truth: tuple(
            sqlrank.evaluate(metrics, inputs={"records": table}, missing_truth=missing_truth)
            .to_pylist()[0]
            .values()
        )
        for missing_truth in ("drop", "singleton")
    }
    assert found == {"drop": (1.0, 3, 1, 1, 2), "singleton": (0.5, 5, 2, 1, 2)}


def test_clusters_without_a_name_are_not_one_cluster():
    """Ids are never taken for names of clusters, nor names of one side for those of the other."""
    table = make_records([None, None, 1, 2], [7, 7, 8, 8], ids=[1, 2, 3, 4])
    found = sqlrank.evaluate(
        ["num_predicted_clusters", "num_predicted_links", "num_shared_links"],
        inputs={"records": table},
    ).to_pylist()[0]
    assert list(found.values()) == [4, 0, 0]
    assert evaluate_records("PairwiseF", "ab", "ba") is None
    assert evaluate_records("ClusterRecall", "ab", "ba") == 1.0


@pytest.mark.parametrize(
    ("clusters", "undefined"),
    [
        ("aabb", set()),
        ("aaaa", {"PairwiseSpecificity"}),
        ("abcd", NEED_LINKS),
        ("a", {"PairwiseSpecificity", "Rand", *NEED_LINKS}),
    ],
)
def test_what_is_predicted_exactly(clusters, undefined):
    others = {"MatchingRate", "ReductionRatio", "MutualInformation"}
    metrics = [
        name for name in OWN if not name.startswith(("num_", "Sampled")) and name not in others
    ]
    (found,) = sqlrank.evaluate(
        metrics, inputs={"records": make_records(clusters, clusters)}
    ).to_pylist()
    assert found == {
        name: None if name in undefined else 0.0 if name in DISTANCES else 1.0 for name in metrics
    }


@pytest.mark.slow
def test_one_cluster_against_singletons():
    """No predicted pair is a link; B-cubed recall is still 1."""
    zero = (
        "PairwisePrecision", "Rand", "PairwiseSpecificity", "AdjustedRand", "ClusterF",
        "Homogeneity", "VMeasure", "MUCPrecision", "MutualInformation",
    )  # fmt: skip
    assert {metric: evaluate_records(metric, "aaaa", "abcd") for metric in zero} == dict.fromkeys(
        zero, 0.0
    )
    assert evaluate_records("PairwiseRecall", "aaaa", "abcd") is None
    assert evaluate_records("FowlkesMallows", "aaaa", "abcd") is None
    assert (
        evaluate_records("BCubedPrecision", "aaaa", "abcd"),
        evaluate_records("BCubedRecall", "aaaa", "abcd"),
    ) == (0.25, 1.0)
    assert (
        evaluate_records("Completeness", "aaaa", "abcd"),
        evaluate_records("Purity", "aaaa", "abcd"),
        evaluate_records("InversePurity", "aaaa", "abcd"),
    ) == (1.0, 0.25, 1.0)
    assert evaluate_records("VariationOfInformation", "aaaa", "abcd") == pytest.approx(
        math.log(4), abs=1e-15
    )
    assert evaluate_records("ClosestF", "aaaa", "abcd") == 0.25
    assert evaluate_records("TalburtWang", "aaaa", "abcd") == 0.5
    assert evaluate_records("MergeDistance", "aaaa", "abcd") == 3


def test_beta():
    """Precision 1/3, recall 1."""
    assert evaluate_records("PairwiseF", "aaa", "aab") == pytest.approx(0.5)
    assert evaluate_records("PairwiseF(beta=2)", "aaa", "aab") == pytest.approx(
        5 * (1 / 3) / (4 / 3 + 1)
    )
    h, c = (
        evaluate_records("Homogeneity", "aab", "abb") or 0.0,
        evaluate_records("Completeness", "aab", "abb") or 0.0,
    )
    assert evaluate_records("VMeasure(beta=3)", "aab", "abb") == pytest.approx(
        4 * h * c / (3 * h + c)
    )


def test_groups_and_slices():
    """A group all of whose records are left out has its counts, and is not defined otherwise."""
    table = make_records("aabbc-", "xxxyz-", shop=["u", "u", "u", "u", None, "v"])
    metrics = ["PairwisePrecision", "num_records", "num_unlabelled"]
    total = {
        "shop": None,
        "slice": "all",
        "PairwisePrecision": 0.5,
        "num_records": 5,
        "num_unlabelled": 1,
    }
    shops = [
        {"shop": None, "PairwisePrecision": None, "num_records": 1, "num_unlabelled": 0},
        {"shop": "u", "PairwisePrecision": 0.5, "num_records": 4, "num_unlabelled": 0},
        {"shop": "v", "PairwisePrecision": None, "num_records": 0, "num_unlabelled": 1},
    ]
    assert sqlrank.evaluate(metrics, inputs={"records": table}, by="shop").to_pylist() == shops
    found = sqlrank.evaluate(metrics, inputs={"records": table}, by=[["shop"], []]).to_pylist()
    assert found == [total, *({"slice": "shop", **row} for row in shops)]


def test_columns_and_rows_are_chosen():
    table = make_records("aab", "xxy", day=[1, 1, 2]).rename_columns(
        {"predicted_cluster": "entity", "true_cluster": "person", "record_id": "id"}
    )
    options = {
        "columns": {"predicted_cluster": "entity", "true_cluster": "person", "record_id": "id"},
        "inputs": {"records": table},
    }
    assert sqlrank.evaluate("num_records", **options).to_pylist() == [{"num_records": 3}]
    assert sqlrank.evaluate("num_records", where="day = 1", **options).to_pylist() == [
        {"num_records": 2}
    ]


def test_a_large_cluster_overflows_nothing():
    """70,000 records in one cluster have 2,449,965,000 links, more than 32 bits hold."""
    n = 70_000
    table = pa.table(
        {
            "record_id": range(n),
            "predicted_cluster": [1] * n,
            "true_cluster": [i // 2 for i in range(n)],
        }
    )
    found = sqlrank.evaluate(
        ["num_predicted_links", "PairwisePrecision", "Rand"], inputs={"records": table}
    ).to_pylist()[0]
    assert found["num_predicted_links"] == n * (n - 1) / 2
    assert found["PairwisePrecision"] == found["Rand"] == pytest.approx(1 / (n - 1))


def test_large_clusters_share_most_of_their_records_by_chance():
    """Of two clusters of more than half of the records at least a + b - n are shared; scikit-learn
    1.9.1.
    """
    predicted, true = [i % 10 == 0 for i in range(200)], [i % 7 == 0 for i in range(200)]
    assert evaluate_records("AdjustedMutualInformation", predicted, true) == pytest.approx(
        -0.007423879087220171, abs=1e-12
    )


def test_information_at_random_is_not_a_sum_of_too_many_terms():
    """A cluster of each size up to 700 on either side: the sum of min(a, b) over all pairs of
    sizes.
    """
    clusters = np.repeat(np.arange(1, 701), np.arange(1, 701))
    table = pa.table(
        {
            "record_id": np.arange(len(clusters)),
            "predicted_cluster": clusters,
            "true_cluster": clusters[::-1],
        }
    )
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AdjustedMutualInformation", inputs={"records": table})
    told = (
        "114,578,450 terms: more than 100,000,000 are not summed. Ask for AdjustedRand or VMeasure"
    )
    assert str(caught.value) == f"AdjustedMutualInformation: {told}"


# Blocking


METRICS_OF_BLOCKING = ["PairsCompleteness", "PairsQuality", "PairsReduction", "num_candidate_pairs"]


def evaluate_blocking(table: pa.Table, pairs: list[str], **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        METRICS_OF_BLOCKING,
        inputs={"records": table, "candidate_pairs": make_pairs(pairs)},
        **options,
    ).to_pylist()


def test_blocking():
    """Of eleven pairs one stands twice, the other way round; no predicted clusters are needed."""
    (found,) = evaluate_blocking(make_records().drop_columns("predicted_cluster"), BLOCKS)
    assert list(found.values()) == pytest.approx([0.666666667, 0.6, 0.871794872, 10], abs=1e-9)


def test_blocks_that_do_not_overlap_are_predicted_clusters():
    pairs = [f"{i}-{j}" for i in range(13) for j in range(i) if PREDICTED[i] == PREDICTED[j]]
    (found,) = evaluate_blocking(make_records(), pairs)
    same = sqlrank.evaluate(
        ["PairwiseRecall", "PairwisePrecision", "ReductionRatio", "num_predicted_links"],
        inputs={"records": make_records()},
    )
    assert list(found.values()) == pytest.approx(list(same.to_pylist()[0].values()))


def test_pairs_count_in_the_group_of_both_records():
    """Records 0 to 5 are one group; 2-6 and 0-12 lead out of it."""
    half = [*[0] * 6, *[1] * 7]
    found = evaluate_blocking(make_records(half=half), BLOCKS, by="half")
    assert [row["num_candidate_pairs"] for row in found] == [4, 4]
    assert [row["PairsQuality"] for row in found] == [1.0, 0.5]
    assert found[0]["PairsCompleteness"] == 4 / 7
    assert (
        evaluate_blocking(make_records("a", "x"), ["0-1"], check="off")[0]["PairsQuality"] is None
    )


def test_linking_two_tables():
    """Of a, b of one table and c, d of the other, a c and b d are links; the pair a b is no
    candidate, being of one table.
    """
    table = make_records("0000", "xyxy", source=["one", "one", "two", "two"])
    assert list(evaluate_blocking(table, ["0-2", "0-1", "3-0"], link_type="link")[0].values()) == [
        0.5,
        0.5,
        0.5,
        2,
    ]
    assert list(evaluate_blocking(table, ["0-2", "0-1", "3-0"])[0].values()) == [
        0.5,
        pytest.approx(1 / 3),
        0.5,
        3,
    ]


# Rows of clusters


def test_the_clusters_that_were_predicted_wrongly():
    found = sqlrank.evaluate("ClusterErrors", inputs={"records": make_records()})
    assert found.schema.field("true_cluster").type == pa.string()
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (1, "2", 4, 2, 4, 4),
        (2, "1", 2, 1, 0, 4),
        (3, "4", 2, 2, 1, 1),
        (4, "6", 2, 1, 0, 2),
        (5, "7", 1, 1, 0, 2),
        (6, "5", 1, 1, 0, 1),
    ]
    assert found.column_names == [
        "point", "true_cluster", "records", "parts", "missing_links", "false_links",
    ]  # fmt: skip
    worst = sqlrank.evaluate("ClusterErrors@1", inputs={"records": make_records()})
    assert worst.to_pylist() == found.slice(0, 1).to_pylist()


def test_no_errors_are_no_rows():
    assert (
        sqlrank.evaluate("ClusterErrors", inputs={"records": make_records("aab", "xxy")}).num_rows
        == 0
    )


def test_clusters_by_size():
    """Sizes 1 (clusters 3, 5 and 7), 2 (1, 4 and 6), and 4."""
    rows = [
        tuple(row.values())
        for row in sqlrank.evaluate("ClusterSizes", inputs={"records": make_records()}).to_pylist()
    ]
    assert [row[:5] for row in rows] == [(1, 1, 1, 3, 3), (2, 2, 2, 3, 6), (3, 4, 4, 1, 4)]
    assert rows[0][5:] == pytest.approx((0.0, None, (1 + 1 / 2 + 1 / 3) / 3, 1.0, 1 / 3))
    assert rows[1][5:] == pytest.approx((2 / 5.5, 2 / 3, (1 + 1.5 + 4 / 3) / 6, 5 / 6, 0.0))
    assert rows[2][5:] == pytest.approx((2 / 4, 2 / 6, 3 / 4, 1 / 2, 0.0))


def test_sizes_are_cut_at_powers_of_two():
    true = [size for size in range(1, 18) for _ in range(size)]
    found = sqlrank.evaluate(
        "ClusterSizes", inputs={"records": make_records(true, true)}
    ).to_pylist()
    assert [(row["smallest"], row["largest"], row["clusters"]) for row in found] == [
        (1, 1, 1), (2, 2, 1), (3, 4, 2), (5, 8, 4), (9, 16, 8), (17, 17, 1),
    ]  # fmt: skip


# Estimates


SAMPLE = [cluster if cluster in "246" else "-" for cluster in TRUE]


@pytest.mark.parametrize(
    ("metric", "expected", "error"),
    [
        ("SampledPairwisePrecision", 0.484751934, 0.054231665),
        ("SampledPairwisePrecision(ratio_estimate=ratio)", 0.461538462, 0.054231665),
        ("SampledPairwiseRecall", 0.345703125, 0.117966163),
        ("SampledPairwiseF", 0.413547091, 0.083607115),
        ("SampledClusterRecall", 0.0, 0.0),
        ("SampledPairwisePrecision(cluster_weight=inverse_size)", 0.469135802, 0.074074074),
        ("SampledPairwiseRecall(cluster_weight=inverse_size)", 0.376, 0.183303028),
        ("SampledBCubedPrecision(cluster_weight=inverse_size)", 0.722222222, 0.027777778),
    ],
)
def test_estimates_from_three_clusters(metric, expected, error):
    """Those of er-evaluation 2.3.0, with the same standard errors: that of the ratio, with and
    without correction of its bias.
    """
    (found,) = sqlrank.evaluate(
        metric, inputs={"records": make_records(true=SAMPLE)}, confidence=0.95
    ).to_pylist()
    assert (found[metric], found[f"{metric}.se"], found[f"{metric}.n_units"]) == pytest.approx(
        (expected, error, 3), abs=1e-9
    )


def test_an_estimate_counts_links_to_records_without_a_true_cluster():
    """One true cluster of two records is known; one of them is linked to a record of which nothing
    is known.
    """
    assert evaluate_records("SampledPairwisePrecision(ratio_estimate=ratio)", "aaab", "xx-y") == 0.5
    assert evaluate_records("PairwisePrecision", "aaab", "xx-y") == 1.0


def test_one_cluster_says_nothing_of_bias():
    assert evaluate_records("SampledPairwiseRecall", "aab", "xx-") is None
    assert evaluate_records("SampledPairwiseRecall(ratio_estimate=ratio)", "aab", "xx-") == 1.0


@pytest.mark.parametrize("weight", ["record", "cluster", "true_cluster"])
def test_bcubed_f_is_the_harmonic_mean_under_every_weight(weight):
    records = {
        "record_id": range(9),
        "predicted_cluster": list("aaabbbccd"),
        "true_cluster": list("xxyyyyzzz"),
    }
    metrics = ["BCubedPrecision", "BCubedRecall", "BCubedF"]
    (row,) = sqlrank.evaluate(
        metrics, inputs={"records": pa.table(records)}, record_weight=weight
    ).to_pylist()
    precision, recall, f = row.values()
    assert f == pytest.approx(2 * precision * recall / (precision + recall))
    assert sqlrank.evaluate(
        "BCubedF", inputs={"records": pa.table(records)}, record_weight=weight
    ).to_pylist() == [{"BCubedF": pytest.approx(f)}]
