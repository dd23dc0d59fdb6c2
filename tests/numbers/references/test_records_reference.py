"""Every metric of clusters of records against a second implementation (records_reference.py), and
against scikit-learn.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as sklearn

import sqlrank
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from tests.numbers.references import records_reference as reference
from tests.numbers.references.records_reference import Clusterings
from website.sections import find_section

SECTIONS = ("clusters", "blocking")
METRICS = [
    *(name for name in reference.METRICS if name not in {"num_unplaced", "num_unlabelled"}),
    *("PairwiseF(beta=0.5)", "VMeasure(beta=3)"),
    *(
        f"BCubed{side}(record_weight={weighting})"
        for side in ("Precision", "Recall")
        for weighting in ("cluster", "true_cluster")
    ),
]
SKLEARN_METRICS = {
    "AdjustedRand": sklearn.adjusted_rand_score,
    "Rand": sklearn.rand_score,
    "FowlkesMallows": sklearn.fowlkes_mallows_score,
    "Homogeneity": sklearn.homogeneity_score,
    "Completeness": sklearn.completeness_score,
    "VMeasure": sklearn.v_measure_score,
    "MutualInformation": sklearn.mutual_info_score,
    "AdjustedMutualInformation": sklearn.adjusted_mutual_info_score,
}


def draw_rows(seed: int) -> list[tuple[Any, Any, Any]]:
    """Draw two clusterings, some records without a cluster on either side."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 5, 12, 30]))
    predicted, true = (rng.integers(0, int(rng.choice([1, 2, 4, n])), n) for _ in range(2))
    if rng.random() < 0.3:
        predicted = true.copy()
    rows = [(i, f"p{p}", int(t)) for i, (p, t) in enumerate(zip(predicted, true, strict=True))]
    if rng.random() < 0.7:
        holes = rng.random((n, 2))
        rows = [
            (i, None if one < 0.1 else p, None if two < 0.1 else t)
            for (i, p, t), (one, two) in zip(rows, holes, strict=True)
        ]
    return rows


GROUPS = {seed: draw_rows(seed) for seed in range(60)}
CANDIDATES = {
    seed: [
        (int(a), int(b))
        for a, b in np.random.default_rng(seed).integers(0, len(rows), (len(rows), 2))
        if a != b
    ]
    for seed, rows in GROUPS.items()
}


def make_table(groups: dict[int, list[tuple[Any, Any, Any]]] = GROUPS) -> pa.Table:
    rows = [(seed, seed * 1000 + i, p, t) for seed, group in groups.items() for i, p, t in group]
    names = ["seed", "record_id", "predicted_cluster", "true_cluster"]
    types = [pa.int64(), pa.int64(), pa.string(), pa.int64()]
    return pa.table(
        {
            name: pa.array(values, kind)
            for name, kind, values in zip(names, types, zip(*rows, strict=True), strict=True)
        }
    )


def make_pairs() -> pa.Table:
    both = [
        (seed * 1000 + a, seed * 1000 + b) for seed, found in CANDIDATES.items() for a, b in found
    ]
    return pa.table(
        {
            name: list(values)
            for name, values in zip(("left_id", "right_id"), zip(*both, strict=True), strict=True)
        }
    )


@pytest.mark.parametrize("missing_prediction", select_few(["singleton", "drop"], 1))
@pytest.mark.parametrize("missing_truth", ["drop", "singleton"])
def test_numbers_are_those_of_the_formulas(missing_prediction, missing_truth):
    policies = {"missing_prediction": missing_prediction, "missing_truth": missing_truth}
    found = sqlrank.evaluate(
        METRICS,
        inputs={"records": make_table(), "candidate_pairs": make_pairs()},
        by="seed",
        **policies,
    )
    assert found["seed"].to_pylist() == sorted(GROUPS)
    for row in found.to_pylist():
        seed = row.pop("seed")
        both = Clusterings.from_rows(GROUPS[seed], candidates=CANDIDATES[seed], **policies)
        # Blocking is of the records that are labelled, whether they are placed or not.
        blocked = Clusterings.from_rows(
            GROUPS[seed], missing_truth=missing_truth, candidates=CANDIDATES[seed]
        )
        for metric, value in row.items():
            of_pairs = metric.startswith(("Pairs", "num_candidate"))
            wanted = reference.evaluate(metric, blocked if of_pairs else both)
            assert value == (None if wanted is None else pytest.approx(wanted, abs=1e-12)), (
                seed,
                metric,
            )


def test_blocking_between_sources():
    """Records are of three sources in turn."""
    metrics = ["PairsCompleteness", "PairsQuality", "PairsReduction", "num_candidate_pairs"]
    sourced = make_table().append_column(
        "source", pa.array([number % 3 for number in make_table()["record_id"].to_pylist()])
    )
    inputs = {"records": sourced.drop_columns("predicted_cluster"), "candidate_pairs": make_pairs()}
    for row in sqlrank.evaluate(metrics, inputs=inputs, by="seed", link_type="link").to_pylist():
        seed = row.pop("seed")
        both = Clusterings.from_rows(GROUPS[seed], candidates=CANDIDATES[seed])
        both = replace(both, sources=tuple((i, (seed * 1000 + i) % 3) for i, _, _ in GROUPS[seed]))
        for metric, value in row.items():
            wanted = reference.evaluate(metric, both)
            assert value == (None if wanted is None else pytest.approx(wanted, abs=1e-12)), (
                seed,
                metric,
            )


def test_rates_of_names_are_those_of_sets():
    """The first clusters and names are the example of er-evaluation's documentation: both rates are
    0.5.
    """
    rows = {
        seed: [
            (p, None if number % 5 == 3 else f"n{number * seed % 7}")
            for number, (_, p, _) in enumerate(group)
        ]
        for seed, group in GROUPS.items()
    }
    rows[-1] = list(zip("11232444", ["n1", "n2", "n3", "n4", "n3", "n1", "n2", "n8"], strict=True))
    table = [
        (seed, number, *row, "t")
        for seed, group in rows.items()
        for number, row in enumerate(group)
    ]
    names = ("seed", "record_id", "predicted_cluster", "name", "true_cluster")
    records = pa.table(
        {name: list(values) for name, values in zip(names, zip(*table, strict=True), strict=True)}
    )
    records = records.set_column(1, "record_id", pa.array(range(records.num_rows)))
    for row in sqlrank.evaluate(
        ["HomonymyRate", "NameVariationRate"], inputs={"records": records}, by="seed"
    ).to_pylist():
        expected = (0.5, 0.5) if row["seed"] == -1 else reference.rate_names(rows[row["seed"]])
        assert (row["HomonymyRate"], row["NameVariationRate"]) == expected, row["seed"]


def test_what_has_no_cluster_is_counted():
    found = sqlrank.evaluate(
        ["num_unplaced", "num_unlabelled"], inputs={"records": make_table()}, by="seed"
    ).to_pylist()
    wanted = {seed: Clusterings.from_rows(rows) for seed, rows in GROUPS.items()}
    assert found == [
        {"seed": s, "num_unplaced": c.num_unplaced, "num_unlabelled": c.num_unlabelled}
        for s, c in wanted.items()
    ]


@pytest.mark.parametrize("cluster_weight", select_few(["equal", "inverse_size"], 1))
@pytest.mark.parametrize("ratio_estimate", ["corrected", "ratio"])
def test_estimates_are_those_of_the_formulas(cluster_weight, ratio_estimate):
    policies = {"cluster_weight": cluster_weight, "ratio_estimate": ratio_estimate}
    known = {seed: rows for seed, rows in GROUPS.items() if any(row[2] is not None for row in rows)}
    found = sqlrank.evaluate(
        reference.ESTIMATES,
        inputs={"records": make_table(known)},
        by="seed",
        confidence=0.95,
        **policies,
    )
    for row in found.to_pylist():
        for name in reference.ESTIMATES:
            value, error = reference.estimate(
                name, known[row["seed"]], cluster_weight, ratio_estimate == "corrected"
            )
            assert row[name] == (None if value is None else pytest.approx(value, abs=1e-12)), (
                row["seed"],
                name,
            )
            assert row[f"{name}.se"] == (
                None if error is None else pytest.approx(error, abs=1e-12)
            ), (row["seed"], name)


def test_every_metric_has_a_second_implementation():
    there = {
        file.display_name
        for file in load_registry().metrics.values()
        if find_section(file) in SECTIONS
    }
    assert there == reference.NAMES, "METRICS of records_reference.py"


@pytest.mark.slow
def test_numbers_are_those_of_sklearn():
    """Compare with scikit-learn, except where it returns 0 (Fowlkes-Mallows without links) or 1
    (Rand of one record): here undefined.
    """
    whole = {seed: rows for seed, rows in GROUPS.items() if all(None not in row for row in rows)}
    metrics = list(SKLEARN_METRICS)
    for row in sqlrank.evaluate(
        metrics, inputs={"records": make_table(whole)}, by="seed"
    ).to_pylist():
        _, predicted, true = zip(*whole[row["seed"]], strict=True)
        for name in metrics:
            wanted = SKLEARN_METRICS[name](true, predicted)
            assert (
                row[name] is None
                and (name, wanted) in {("FowlkesMallows", 0), ("FowlkesMallows", 1), ("Rand", 1)}
            ) or row[name] == pytest.approx(wanted, abs=1e-9), (row["seed"], name)
