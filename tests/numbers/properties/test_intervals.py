"""Changes of the data that change no interval, or mirror it, for every metric with an interval on
the designs of its coverage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.studies.interval_coverage import evaluate_columns, list_metrics, split_sources
from benchmarks.studies.samples import DESIGNS, KINDS, Design
from sqlrank import evaluate as evaluate_metrics
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SAMPLES = 4
Sources = dict[str, pa.Table]


def evaluate(
    design: Design, sources: Sources, metrics: list[str] | None = None, **options: Any
) -> dict[str, np.ndarray]:
    """Return the values and limits of all samples, in the order of their numbers."""
    options = {"by": "sample", "confidence": 0.95, **design.options, **options}
    return evaluate_columns(
        list_metrics(design) if metrics is None else metrics, sources, **options
    )


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    at = table.column_names.index(name) if name in table.column_names else -1
    return (
        table.append_column(name, pa.array(values))
        if at < 0
        else table.set_column(at, name, pa.array(values))
    )


def scale_weights(factor: float) -> Callable[[Sources], Sources]:
    def scale(sources: Sources) -> Sources:
        return {
            name: with_column(table, "weight", table["weight"].to_numpy() * factor)
            if "weight" in table.column_names
            else table
            for name, table in sources.items()
        }

    return scale


def rename_groups(sources: Sources) -> Sources:
    """Write the numbers of samples as texts."""
    names = [f"it's {number}" for number in range(SAMPLES)]
    return {
        name: with_column(table, "sample", np.take(names, table["sample"].to_numpy()))
        if "sample" in table.column_names
        else table
        for name, table in sources.items()
    }


def reverse_rows(sources: Sources) -> Sources:
    return {name: table.take(np.arange(table.num_rows)[::-1]) for name, table in sources.items()}


def weight_queries(sources: Sources) -> Sources:
    """Give each query a weight."""
    given = sources["queries" if "queries" in sources else "run"]
    names = [name for name in given.column_names if name not in {"doc_id", "score", "other"}]
    queries = given.group_by(names).aggregate([]).sort_by("query_id")
    weights = np.exp(np.random.default_rng(6).normal(size=queries.num_rows))
    return {**sources, "queries": with_column(queries, "weight", weights)}


def rename_units(sources: Sources) -> Sources:
    """Give units texts as ids, in another order."""
    return {
        name: with_column(
            table, "unit", pc.binary_join_element_wise("u", pc.cast(table["unit"], pa.string()), "")
        )
        if "unit" in table.column_names
        else table
        for name, table in sources.items()
    }


LISTS = {design.kind: design for design in DESIGNS if "run" in KINDS[design.kind].roles}
WEIGHTED = [
    *(design for design in DESIGNS if design.sigma),
    *(
        replace(design, sigma=1.0)
        for design in DESIGNS
        if design.is_bootstrap or design.kind == "queries of predictions"
    ),
    *LISTS.values(),
]
"""Designs with weights, of rows or, one of each kind, of queries."""

ROWS = [
    design
    for design in DESIGNS
    if design.rows == 1
    and design.kind
    in {"binary", "numbers", "classified", "class_scores", "class_labels"}
    | {"ratings", "logs", "uplift", "judged"}
    and design.units < 1000
]
UNITS = [design for design in DESIGNS if design.options and not design.is_bootstrap]
"""Designs with units, but for those of the bootstrap, whose draws follow from a hash of their
ids.
"""

CHANGES: dict[str, tuple[list[Design], Callable[[Sources], Sources], dict[str, Any]]] = {
    "weights times 1e89": (WEIGHTED, scale_weights(1e89), {}),
    "weights times 1e-89": (WEIGHTED, scale_weights(1e-89), {}),
    "groups renamed": (DESIGNS, rename_groups, {}),
    "rows in reverse": (DESIGNS, reverse_rows, {}),
    "units renamed": (UNITS, rename_units, {}),
    "a unit for each row": (ROWS, dict, {"unit": "unit"}),
}
CASES = [
    (name, design)
    for name, (designs, _, _) in CHANGES.items()
    for design in designs
    if design.kind != "areas"
]


@pytest.mark.one_in(51)
@pytest.mark.slow
@pytest.mark.parametrize(
    "case", CASES, ids=[f"{name}: {design.kind}, {design.name}" for name, design in CASES]
)
def test_no_interval_changes(case):
    name, design = case
    _, change, options = CHANGES[name]
    sources = design.draw_samples(5, SAMPLES)
    if name.startswith("weights") and design.kind in LISTS:
        sources = weight_queries(sources)
    expected, changed = evaluate(design, sources), evaluate(design, change(sources), **options)
    assert expected.keys() == changed.keys()
    compared = [
        column
        for column in expected
        if not (name.startswith("weights") and column.startswith("WRanking"))  # has N + 1
    ]
    assert compared
    differing = [
        column
        for column in compared
        if not np.allclose(changed[column], expected[column], 1e-8, 1e-12, equal_nan=True)
    ]
    assert differing == []


def list_names(designs: Iterable[Design]) -> set[str]:
    return {
        metric.partition("(")[0].partition("@")[0]
        for design in designs
        for metric in list_metrics(design)
    }


def test_each_change_is_of_every_metric():
    """Weights are of rows or of queries. A row is a unit, but of quantiles, which are several rows,
    and of lists.
    """
    weighted = {name for name, role in load_registry().roles.items() if "weight" in role.columns}
    metrics = {
        kind: list_names(design for design in DESIGNS if design.kind == kind) for kind in KINDS
    }
    with_weights = {kind for kind in KINDS if {"run", *weighted} & {*KINDS[kind].roles}}
    several = {"forecasts", "records", "interleaved", "queries of predictions"}
    for name, kinds in (
        ("groups renamed", metrics),
        ("rows in reverse", metrics),
        ("weights times 1e89", with_weights),
        ("a unit for each row", metrics.keys() - LISTS.keys() - several),
    ):
        expected = set().union(*(metrics[kind] for kind in kinds))
        assert expected - list_names(CHANGES[name][0]) == set(), name


EXCHANGED = {"Recall": "Specificity", "FNR": "FPR", "Precision": "NPV"}
SYMMETRIC = [
    *(
        "AUC",
        "Gini",
        "LiftQuality",
        "Accuracy",
        "ZeroOneLoss",
        "BalancedAccuracy",
        "MCC",
        "YoudenJ",
        "LogOdds",
    ),
    *(
        "LogLoss",
        "NormalizedEntropy",
        "NormalizedLogLoss",
        "Brier",
        "BrierSkill",
        "BrierUncertainty",
        "CalibrationSlope",
    ),
]
COMPLEMENTS = ["BaseRate", "SelectionRate", "Share(label)"]
"""Metrics that are exchanged, the same, and the difference from 1, if labels and scores are
mirrored.
"""

OF_POSITIVES = {"APS", "CalibrationIntercept", "CalibrationRatio", "FBeta", "Jaccard"}
"""Metrics that mirrored labels and scores change to one that no metric has."""


def test_each_metric_of_two_classes_has_its_mirror():
    design = next(each for each in DESIGNS if each.kind == "binary")
    metrics = {metric.partition("(threshold")[0] for metric in list_metrics(design)}
    mirrored = {*EXCHANGED, *EXCHANGED.values(), *SYMMETRIC, *COMPLEMENTS}
    assert metrics - mirrored == OF_POSITIVES


@pytest.mark.slow
@pytest.mark.parametrize("sigma", select_few([0.0, 1.0], {1.0}))
def test_labels_and_scores_mirrored(sigma):
    design = replace(next(each for each in DESIGNS if each.kind == "binary"), sigma=sigma)
    (table,) = design.draw_samples(5, SAMPLES).values()
    mirrored = table
    for name in ("label", "score"):
        mirrored = with_column(mirrored, name, 1 - table[name].to_numpy())
    columns = {}
    for each, threshold in ((table, 0.05), (mirrored, 0.95)):
        metrics = [
            f"{name}(threshold={threshold})"
            for name in (*EXCHANGED, *EXCHANGED.values(), "SelectionRate", *SYMMETRIC[3:9])
        ]
        metrics += [*SYMMETRIC[:3], *SYMMETRIC[9:], "BaseRate", "Share(label)"]
        found = evaluate(design, {"predictions": each}, metrics)
        columns[threshold] = {
            name.replace(f"(threshold={threshold})", ""): values for name, values in found.items()
        }
    expected, changed = columns[0.05], columns[0.95]
    pairs = [
        *EXCHANGED.items(),
        *((other, name) for name, other in EXCHANGED.items()),
        *zip(SYMMETRIC, SYMMETRIC, strict=True),
    ]
    for name, other in pairs:
        for suffix in ("", ".se", ".ci_low", ".ci_high"):
            np.testing.assert_allclose(
                changed[f"{other}{suffix}"],
                expected[f"{name}{suffix}"],
                1e-6,
                1e-9,
                err_msg=f"{name}{suffix}",
            )
    for name in COMPLEMENTS:
        for suffix, other_suffix in (("", ""), (".ci_low", ".ci_high"), (".ci_high", ".ci_low")):
            np.testing.assert_allclose(
                1 - changed[f"{name}{suffix}"],
                expected[f"{name}{other_suffix}"],
                1e-9,
                err_msg=name,
            )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("kind", "column", "undefined"),
    [
        ("binary", "score", {"CalibrationSlope", "LogOdds", "MCC", "Precision"}),
        ("numbers", "score", set()),
        ("classified", "predicted", {"MulticlassMCC"}),
        ("forecasts", "score", set()),
        ("class_labels", "predicted", set()),
        ("uplift", "score", set()),
    ],
)
def test_constant_predictions_of_unequal_weights(kind, column, undefined):
    """Limits are on both sides of the value, or all are NULL together. The mean of equal scores has
    none, as one by Student's t.
    """
    design = next(each for each in WEIGHTED if each.kind == kind)
    ((role, table),) = design.draw_samples(5, SAMPLES).items()
    constant = 0.3 if column == "score" else 0
    columns = evaluate(
        design, {role: with_column(table, column, np.full(table.num_rows, constant))}
    )
    for metric in list_metrics(design):
        value, low, high = (columns[f"{metric}{suffix}"] for suffix in ("", ".ci_low", ".ci_high"))
        assert np.isnan(value).all() == (metric in undefined), metric
        is_undefined = np.full(SAMPLES, metric in undefined or metric == "Mean(score)")
        assert (np.isnan(low) == is_undefined).all(), metric
        assert (is_undefined | ((low <= value + 1e-12) & (value <= high + 1e-12))).all(), metric


ACROSS = {
    design.kind: design
    for design in reversed(DESIGNS)
    if not design.is_bootstrap and design.kind not in {"areas", "features", "interleaved"}
}
"""A design of each kind, but for features, whose samples are equal, and sessions, whose preference
has no ratio.
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", select_few(ACROSS, {"binary", "rankings"}))
def test_difference_and_ratio_of_one_interval(kind):
    """Of two groups, the interval of the difference excludes 0 where that of the ratio excludes
    1.
    """
    design = ACROSS[kind]
    decisions = []
    for seed in range(4):
        named, inputs = split_sources(design.draw_samples(seed, 2))
        rows = evaluate_metrics(
            list_metrics(design),
            **named,
            inputs=inputs,
            across="sample",
            confidence=0.5,
            check="off",
            **design.options,
        ).to_pylist()
        decisions += [
            (row["ci_low"] > 0, row["ratio_ci_high"] < 1, row["metric"])
            for row in rows
            if None not in (row["ci_low"], row["ratio_ci_high"])
        ]
    assert {differs for differs, *_ in decisions} == {True, False}
    assert [each for each in decisions if each[0] != each[1]] == []
