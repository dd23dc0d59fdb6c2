"""Metrics end exactly at the ends of their ranges: perfect orders give the end, and nothing passes
it, with and without weights.
"""

import random
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_file import SqlFile
from website.examples import format_metric, list_roles

WEIGHTS = (0.1, 0.2, 0.3, 0.7, 1.1)
SIZES = [
    (positives, negatives)
    for positives in (1, 2, 3, 5, 9, 13, 49, 100)
    for negatives in (1, 2, 4, 11, 97)
]
EXACT = [
    "AUC", "Gini", "APS", "PRAUC", "pAUC@0.5", "PartialAUC@3", "pAp@3", "WRanking", "KS",
    "BalancedAccuracy",
]  # fmt: skip
"""Metrics that perfect orders with scores beyond the threshold bring to 1."""


def choose_score(order: str, is_positive: bool, row: int) -> float:
    high, low = 0.6 + row % 7 / 20, 0.1 + row % 5 / 20
    if order == "equal":
        return 0.3
    return high if is_positive == (order == "perfect") else low


def make_predictions(orders: tuple[str, ...] = ("perfect", "worst", "equal", "random")) -> pa.Table:
    generator = random.Random(5)  # noqa: S311  no secrets
    rows = []
    for order in orders:
        for kind in ("weighted", "unweighted"):
            for positives, negatives in SIZES:
                for row in range(positives + negatives):
                    is_positive = row < positives
                    score = (
                        generator.random()
                        if order == "random"
                        else choose_score(order, is_positive, row)
                    )
                    weight = generator.choice(WEIGHTS) if kind == "weighted" else 1.0
                    rows.append(
                        (order, kind, f"{positives} {negatives}", int(is_positive), score, weight)
                    )
    return pa.table(
        {
            name: [row[i] for row in rows]
            for i, name in enumerate(("order", "kind", "size", "label", "score", "weight"))
        }
    )


def evaluate(metrics: list[str], predictions: pa.Table) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        metrics, predictions=predictions, by=["order", "kind", "size"]
    ).to_pylist()


def test_a_perfect_order_is_exactly_1_and_the_reverse_exactly_0():
    rows = evaluate(EXACT, make_predictions(("perfect", "worst")))
    assert len(rows) == 4 * len(SIZES)
    perfect = [row for row in rows if row["order"] == "perfect"]
    exact_under_weights = {"AUC", "Gini", "APS", "PartialAUC@3", "pAp@3", "WRanking"}
    for metric in EXACT:
        values = {
            row[metric]
            for row in perfect
            if metric in exact_under_weights or row["kind"] == "unweighted"
        }
        assert values == {1.0}, metric
    worst = [row for row in rows if row["order"] == "worst"]
    assert {(row["AUC"], row["Gini"]) for row in worst} == {(0.0, -1.0)}


def test_tie_bounds_of_a_rollup_end_at_1():
    rollup = sqlrank.rollup("AUC", predictions=make_predictions(("perfect",)), by=["kind", "size"])
    rows = sqlrank.evaluate("AUC", rollup=rollup, by=["kind", "size"]).to_pylist()
    assert {
        (row["AUC"], row["AUC.bound_low"], row["AUC.bound_high"])
        for row in rows
        if row["kind"] == "unweighted"
    } == {(1.0, 1.0, 1.0)}
    assert all(row["AUC.bound_high"] <= 1 for row in rows)


@pytest.mark.slow
def test_no_metric_passes_the_ends_of_its_range():
    predictions = make_predictions()
    metrics = []
    for file in load_registry().metrics.values():
        if list_roles(file) == ["predictions"] and file.bounds is not None:
            try:
                evaluate([format_metric(file)], predictions.slice(0, 40))
            except SqlrankError:
                continue
            metrics.append((format_metric(file), file.bounds))
    rows = evaluate([metric for metric, _ in metrics], predictions)
    passed = {
        (metric, row["kind"])
        for metric, declared in metrics
        for row in rows
        if row[metric] is not None and not declared.low <= row[metric] <= declared.high
    }
    assert not passed
    assert len(metrics) > 40


def test_equal_lists_overlap_by_exactly_1():
    """Also lists of which one goes on, and long ones; small persistences keep their digits."""
    lists = {"equal": (3000, 3000), "longer": (5, 3), "shorter": (3, 5)}
    rows = [
        [
            (name, f"d{rank}", -float(rank))
            for name, ends in lists.items()
            for rank in range(ends[side])
        ]
        for side in (0, 1)
    ]
    run, baseline = (
        pa.table(
            {
                name: [row[i] for row in side]
                for i, name in enumerate(("query_id", "doc_id", "score"))
            }
        )
        for side in rows
    )
    metrics = ["RBO(p=0.9, k=3000)", "RBO(p=0.9999, k=3000)", "RBO(p=1e-9)"]
    for row in sqlrank.evaluate(
        [*metrics, "RBOmin(p=1e-9)"], run=run, inputs={"baseline": baseline}, per_query=True
    ).to_pylist():
        assert [row[metric] for metric in metrics] == [1.0] * 3
        assert row["RBOmin(p=1e-9)"] == pytest.approx(
            1 - 1e-9 ** (3000 if row["query_id"] == "equal" else 3), abs=4e-16
        )


# Every metric with bounds, over random small inputs

ROWS = 12
GROUPS = 25
SCALES = {"ones": 0.0, "eighths": 0.125, "lognormal": None, "tiny": 1e-80, "huge": 1e80}
"""Unit of the random weights of a kind; those of ``lognormal`` have none, and of ``ones`` there are
no others.
"""


def draw_weight(generator: random.Random, kind: str) -> float:
    if kind == "ones":
        return 1.0
    unit = SCALES[kind]
    return (
        generator.lognormvariate(0, 2) if unit is None else unit * generator.choice((1, 2, 3, 5, 7))
    )


def draw_inputs(kind: str, *, is_perfect: bool) -> dict[str, pa.Table]:
    """Return tables of all inputs with small groups and many ties, in perfect order or of perfect
    matches if so wanted.
    """
    generator = random.Random(len(kind) + 10 * is_perfect)  # noqa: S311  no secrets
    rows = {
        role: []
        for role in (
            "run", "baseline", "qrels", "queries", "predictions", "classified", "class_labels",
            "records",
        )
    }  # fmt: skip
    for group in range(GROUPS):
        size = generator.randint(2, ROWS)
        grades = [generator.choice((0, 0, 1, 2)) for _ in range(size)]
        grades[0] = max(grades[0], 1)
        rows["queries"].append({"query_id": group, "weight": draw_weight(generator, kind)})
        for place, grade in enumerate(sorted(grades, reverse=True)):
            score = -float(place) if is_perfect else generator.choice((0.1, 0.25, 0.5, 0.7))
            document = {"query_id": group, "doc_id": place}
            rows["run"].append({**document, "score": score})
            rows["baseline"].append(
                {**document, "score": score if is_perfect else generator.random()}
            )
            rows["qrels"].append({**document, "relevance": grade, "subtopic": place % 3})
        for place in range(size):
            weight = {"group": group, "weight": draw_weight(generator, kind)}
            label, true_class, cluster = (
                generator.randint(0, 1),
                generator.choice("abc"),
                generator.randint(0, 3),
            )
            label = place % 2 if place < 2 else label
            score = (
                generator.uniform(0.5 * label + 0.1, 0.5 * label + 0.4)
                if is_perfect
                else generator.choice((0.1, 0.3, 0.5, 0.9))
            )
            others = {
                "query_id": f"{group} {place // 4}",
                "doc_id": place,
                "quantile_level": 0.5,
                "interval_low": 0.2,
                "interval_high": 0.7,
                "seasonal_error": 0.5,
            }
            rows["predictions"].append({**weight, **others, "label": label, "score": score})
            predicted = true_class if is_perfect else generator.choice("abc")
            rows["classified"].append({**weight, "label": true_class, "predicted": predicted})
            for class_id in "xyz":
                member = generator.randint(0, 1)
                labels = {
                    "prediction_id": f"{group} {place}",
                    "class_id": class_id,
                    "label": member,
                }
                rows["class_labels"].append(
                    {
                        **weight,
                        **labels,
                        "predicted": member if is_perfect else generator.randint(0, 1),
                    }
                )
            predicted_cluster = cluster if is_perfect else generator.randint(0, 3)
            record = {
                "group": group,
                "record_id": place,
                "predicted_cluster": predicted_cluster,
                "true_cluster": cluster,
                "name": cluster,
            }
            rows["records"].append(record)
    weights = {row["prediction_id"]: row["weight"] for row in rows["class_labels"]}
    for row in rows["class_labels"]:
        row["weight"] = weights[row["prediction_id"]]
    return {role: pa.Table.from_pylist(found) for role, found in rows.items()}


def evaluate_all(tables: dict[str, pa.Table]) -> list[tuple[SqlFile, list[float]]]:
    """Return the values of the metrics with bounds that the tables are enough for: of groups, of
    queries, and their weighted means.
    """
    files = {}
    for file in load_registry().metrics.values():
        if (
            file.bounds is not None
            and not file.measures_column
            and {*list_roles(file)} <= tables.keys()
        ):
            files.setdefault(tuple(list_roles(file)), []).append(file)
    found = []
    for roles, read in files.items():
        options = {role: tables[role] for role in roles if role in {"run", "qrels", "predictions"}}
        options["inputs"] = {role: tables[role] for role in roles if role not in options}
        calls = [{"by": "group"}]
        if "run" in roles:
            options["inputs"]["queries"] = tables["queries"]
            calls = [{"per_query": True}, {"columns": {"queries.weight": "weight"}}]
        metrics = {
            format_metric(file): file for file in read if file.grain == "list" or "run" not in roles
        }
        results = (
            [sqlrank.evaluate(list(metrics), **options, **call) for call in calls]
            if metrics
            else []
        )
        found += [
            (file, [v for result in results for v in result[name].drop_null().to_pylist()])
            for name, file in metrics.items()
        ]
    return found


PERFECT = """
    11pt APS AUC Accuracy AdjustedMutualInformation AdjustedRand BCubedF BCubedPrecision BCubedRecall BalancedAccuracy ClosestF ClosestPrecision
    ClosestRecall ClusterF ClusterPrecision ClusterRecall CohenKappa Completeness FBeta FCP FowlkesMallows GAUC Gini Homogeneity InversePurity IPrec
    Jaccard Judged KS LiftQuality MCC MUCF MUCPrecision MUCRecall MulticlassAccuracy MulticlassBalancedAccuracy MulticlassFBeta MulticlassMCC
    MulticlassPrecision MulticlassRecall NPV PairAccuracy PairwiseF PairwisePrecision PairwiseRecall PairwiseSpecificity PartialAUC PnDCG PRAUC
    Precision Purity RBO RR Rand Recall Rndcg Rprec SampledPairwiseF SetR SomersD Specificity StRecall SubsetAccuracy Success TalburtWang TauAP
    VMeasure WRanking WeightedKappa YoudenJ bpref nDCG pAUC pAp
"""
"""Metrics that perfect orders and matches bring to exactly 1, under any weights."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCALES)
def test_no_value_of_small_inputs_passes_the_ends_of_its_range(kind):
    for is_perfect in (False, True):
        found = evaluate_all(draw_inputs(kind, is_perfect=is_perfect))
        passed = [
            (file.full_name, value)
            for file, values in found
            for value in values
            if file.bounds is not None and not file.bounds.low <= value <= file.bounds.high
        ]
        assert not passed
        assert len(found) > 200
    assert {
        name: values
        for file, values in found
        if (name := file.full_name) in PERFECT.split() and {*values} != {1.0}
    } == {}
