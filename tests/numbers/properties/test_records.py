"""Invariances of record cluster metrics: names, row order, sides, and input formats of both
clusterings.
"""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.examples.databases import get_database
from tests.numbers.examples.records import make_clustering

METRICS = ["AdjustedRand", "AdjustedMutualInformation", "BCubedPrecision(record_weight=cluster)", "ClosestF", "ClusterF", "MUCF", "num_over_merged",
           "num_over_split", "num_singletons", "num_unlabelled", "num_unplaced", "Purity", "SampledPairwiseF", "VMeasure"]  # fmt: skip
"""Of each relation one metric or more."""

MIRRORED = {
    **{
        f"{kind}Precision": f"{kind}Recall"
        for kind in ("Pairwise", "BCubed", "Cluster", "Closest", "MUC")
    },
    "Homogeneity": "Completeness",
    "Purity": "InversePurity",
    "num_splits": "num_merges",
    "num_over_merged": "num_over_split",
    "num_predicted_links": "num_true_links",
    "num_predicted_clusters": "num_true_clusters",
}
BOTH = ["AdjustedRand", "AdjustedMutualInformation", "BCubedF", "ClosestF", "ClusterF", "FowlkesMallows", "MergeDistance", "MUCF",
        "MutualInformation", "num_records", "num_shared_links", "PairwiseF", "Rand", "TalburtWang", "VariationOfInformation", "VMeasure"]  # fmt: skip
"""Metrics that are symmetric in both clusterings."""


@cache
def draw_records() -> pa.Table:
    """Three groups of clusters that were split, merged and mixed, with holes on either side."""
    rng = np.random.default_rng(11)
    n = 300
    true = rng.integers(0, 60, n)
    predicted = np.where(
        rng.random(n) < 0.2, rng.integers(0, 60, n), true // 2 * 2 + (rng.random(n) < 0.3)
    )
    holes = rng.random((2, n)) < 0.1
    columns = {name: [None if gone else int(c) for c, gone in zip(side, hole, strict=True)] for name, side, hole in (
        ("predicted_cluster", predicted, holes[0]), ("true_cluster", true, holes[1]))}  # fmt: skip
    return pa.table(
        {"record_id": range(n), "system": [("a", "b", "c")[i % 3] for i in range(n)], **columns}
    )


def evaluate(
    table: pa.Table, metrics: Any = tuple(METRICS), **options: Any
) -> list[dict[str, Any]]:
    options = {"by": "system", **options}
    return sqlrank.evaluate(
        list(metrics), inputs={"records": table}, connection=get_database(), **options
    ).to_pylist()


@cache
def compute_expected() -> list[dict[str, Any]]:
    return evaluate(draw_records())


def assert_same(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    assert len(found) == len(wanted) > 0
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("side", select_few(["predicted_cluster", "true_cluster", "record_id"], 1))
def test_names_do_not_matter(side):
    """The names of one side are turned into texts, in another order."""
    renamed = pa.array(
        [
            None if name is None else f"x{(name * 7919 + 13) % 100_003}"
            for name in draw_records()[side].to_pylist()
        ]
    )
    assert_same(
        evaluate(draw_records().set_column(draw_records().column_names.index(side), side, renamed)),
        compute_expected(),
    )


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter():
    shuffled = draw_records().take(np.random.default_rng(5).permutation(len(draw_records())))
    assert_same(evaluate(shuffled), compute_expected())


@pytest.mark.slow
def test_groups_are_evaluated_each_by_itself():
    for row in compute_expected():
        (alone,) = evaluate(
            draw_records().filter(pc.equal(draw_records()["system"], row["system"])), by=()
        )
        assert {"system": row["system"], **alone} == pytest.approx(row, abs=1e-12)
        (kept,) = evaluate(draw_records(), by=(), where=f"system = '{row['system']}'")
        assert kept == pytest.approx(alone, abs=1e-12)


@pytest.mark.slow
def test_predicted_and_true_clusters_may_be_swapped():
    swapped = {
        "columns": {"predicted_cluster": "true_cluster", "true_cluster": "predicted_cluster"}
    }
    policies = {"missing_prediction": "drop"}
    here = evaluate(draw_records(), [*MIRRORED, *MIRRORED.values(), *BOTH], **policies)
    there = evaluate(draw_records(), [*MIRRORED, *MIRRORED.values(), *BOTH], **policies, **swapped)
    for one, other in zip(here, there, strict=True):
        for left, right in [*MIRRORED.items(), *((name, name) for name in BOTH)]:
            assert one[left] == pytest.approx(other[right], abs=1e-12), left
            assert one[right] == pytest.approx(other[left], abs=1e-12), left


@pytest.mark.slow
def test_two_tables_are_one():
    sides = {}
    for role, side in (
        ("predicted_clusters", "predicted_cluster"),
        ("true_clusters", "true_cluster"),
    ):
        there = draw_records().filter(pc.is_valid(draw_records()[side]))
        sides[role] = make_clustering(
            there[side].to_pylist(), ids=there["record_id"].to_pylist(), system=there["system"]
        )
    # A record that neither side has a cluster for is in neither table.
    known = draw_records().filter(
        pc.or_(
            pc.is_valid(draw_records()["predicted_cluster"]),
            pc.is_valid(draw_records()["true_cluster"]),
        )
    )
    assert_same(
        sqlrank.evaluate(METRICS, inputs=sides, by="system", connection=get_database()).to_pylist(),
        evaluate(known),
    )


@pytest.mark.slow
def test_policies_are_what_can_be_done_to_the_table():
    """A record without a cluster is one that has a cluster of its own, or one that is not there."""
    named = pa.array(
        [
            f"alone {i}" if name is None else str(name)
            for i, name in enumerate(draw_records()["predicted_cluster"].to_pylist())
        ]
    )
    others = [name for name in METRICS if name not in {"num_unplaced", "num_unlabelled"}]
    assert_same(
        evaluate(draw_records().set_column(2, "predicted_cluster", named), others),
        evaluate(draw_records(), others),
    )
    dropped = draw_records().filter(pc.is_valid(draw_records()["predicted_cluster"]))
    assert_same(
        evaluate(dropped, others), evaluate(draw_records(), others, missing_prediction="drop")
    )


def test_a_sample_of_everything_is_no_estimate():
    """With every true cluster in the sample, its ratios are those of all records."""
    known = draw_records().filter(pc.is_valid(draw_records()["true_cluster"]))
    names = [
        "PairwisePrecision", "PairwiseRecall", "PairwiseF", "BCubedPrecision", "BCubedRecall",
        "ClusterPrecision", "ClusterRecall",
    ]  # fmt: skip
    wanted = evaluate(known, names)
    found = evaluate(known, [f"Sampled{name}(ratio_estimate=ratio)" for name in names])
    for one, other in zip(found, wanted, strict=True):
        assert list(one.values())[1:] == pytest.approx(list(other.values())[1:], abs=1e-12)


def test_errors_and_sizes_add_up():
    counts = evaluate(
        draw_records(),
        [
            "num_true_links", "num_shared_links", "num_predicted_links", "num_true_clusters",
            "num_records",
        ],
    )  # fmt: skip
    errors, sizes = (
        evaluate(draw_records(), (curve,)) for curve in ("ClusterErrors", "ClusterSizes")
    )
    for row in counts:
        own = [error for error in errors if error["system"] == row["system"]]
        assert (
            sum(error["missing_links"] for error in own)
            == row["num_true_links"] - row["num_shared_links"]
        )
        assert (
            sum(error["false_links"] for error in own) / 2
            == row["num_predicted_links"] - row["num_shared_links"]
        )
        told = [size for size in sizes if size["system"] == row["system"]]
        assert sum(size["clusters"] for size in told) == row["num_true_clusters"]
        assert sum(size["all_records"] for size in told) == row["num_records"]
