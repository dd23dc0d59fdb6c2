"""Every metric of predictions against a second implementation (predictions_reference.py), on random
groups, by every strategy.
"""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import registry_for
from tests.lanes import select_few
from tests.numbers.references import predictions_reference as reference
from tests.numbers.references.predictions import Predictions
from tests.tables import read_columns
from website.sections import group_by_section

pytestmark = pytest.mark.xdist_group(
    "references of predictions"
)  # one worker makes what all of them are compared with
CUTS = [
    "", "threshold_from=best", "threshold_from=best, criterion=youden",
    "threshold_from=best, criterion=accuracy", "threshold_from=best, criterion=mcc",
    "threshold=0.25",
]  # fmt: skip
BINS = [
    "", "bins=1", "bins=4", "bins=97", "binning=equal_mass", "binning=equal_mass, bins=3",
    "binning=equal_mass, bins=97",
]  # fmt: skip


def list_confusion_variants(name: str) -> list[str]:
    return [
        f"{name}({options})" if options else name
        for options in [*CUTS, "threshold=0", "threshold=2", "beta=2, threshold_from=best"]
    ]


CLASSIFICATION = {
    "APS": ["APS"],
    "AUC": ["AUC", "AUC(tie_credit=0)", "AUC(tie_credit=1)", "AUC(tie_credit=0.3)"],
    "BaseRate": ["BaseRate"],
    "Brier": ["Brier"],
    "BrierSkill": ["BrierSkill"],
    "BrierUncertainty": ["BrierUncertainty"],
    "CalibrationIntercept": ["CalibrationIntercept", "CalibrationIntercept(eps=0.01)"],
    "CalibrationRatio": ["CalibrationRatio"],
    "CalibrationSlope": ["CalibrationSlope", "CalibrationSlope(eps=0.01)"],
    **{
        name: [f"{name}({options})" if options else name for options in BINS]
        for name in ("ECE", "MCE", "BrierReliability", "BrierResolution")
    },
    "Gain": ["Gain@0.1", "Gain@0.25", "Gain@0.5", "Gain@1", "Gain@0.001"],
    "GAUC": [
        "GAUC",
        *(f"GAUC(query_weight={name})" for name in ("equal", "weight", "positives")),
        "GAUC(tie_credit=0)",
    ],
    "Gini": ["Gini", "Gini(tie_credit=0)", "Gini(tie_credit=1)"],
    "KS": ["KS"],
    "Lift": ["Lift@0.1", "Lift@0.25", "Lift@0.5", "Lift@1"],
    "LiftQuality": [
        "LiftQuality",
        "LiftQuality(tie_credit=0)",
        "LiftQuality(lift_variant=magnetic_spark)",
    ],
    "LogLikelihood": ["LogLikelihood", "LogLikelihood(eps=1e-7)"],
    "LogLoss": ["LogLoss", "LogLoss(eps=1e-15)", "LogLoss(eps=0.1)"],
    "Negatives": ["Negatives"],
    "NormalizedEntropy": ["NormalizedEntropy", "NormalizedEntropy(eps=0.01)"],
    "NormalizedLogLoss": ["NormalizedLogLoss", "NormalizedLogLoss(eps=0.01)"],
    "num_predictions": ["num_predictions"],
    "num_predictions_dropped": ["num_predictions_dropped"],
    "Observations": ["Observations"],
    "pAUC": [
        *("pAUC@0.1", "pAUC@0.5", "pAUC@1", "pAUC@0.001"),
        *(f"pAUC(area_scaling={name})@{most}" for name in ("ratio", "raw") for most in (0.2, 0.5)),
    ],
    "PnDCG": ["PnDCG", "PnDCG@0.5", "PnDCG@1", "PnDCG@3", "PnDCG@1000"],
    "Positives": ["Positives"],
    "PrecisionAtRecall": [f"PrecisionAtRecall@{least}" for least in (0.001, 0.3, 0.9, 1)],
    "RecallAtPrecision": [f"RecallAtPrecision@{least}" for least in (0.001, 0.3, 0.9, 1)],
    "SelectionRate": [
        "SelectionRate",
        *(f"SelectionRate(threshold={threshold})" for threshold in (0, 0.25, 2)),
    ],
    "PRAUC": ["PRAUC", "PRAUC(interpolation=from_one)", "PRAUC(interpolation=davis_goadrich)"],
    **{name: list_confusion_variants(name) for name in reference.CONFUSION},
}
REGRESSION = read_columns(
    Bias="Bias",
    ExplainedVariance="ExplainedVariance",
    MAE="MAE",
    MAPE="MAPE(eps=0.5) MAPE(eps=1e-9)",
    MaxError="MaxError",
    MedianAbsoluteError="MedianAbsoluteError",
    MSE="MSE",
    R2="R2",
    RMSE="RMSE",
    sMAPE="sMAPE",
    WAPE="WAPE",
)
POSITIVE = read_columns(
    MAPE="MAPE",
    MSLE="MSLE",
    RMSLE="RMSLE",
    PoissonDeviance="PoissonDeviance",
    TweedieDeviance="TweedieDeviance TweedieDeviance(power=1.1) TweedieDeviance(power=1.9)",
)
GLOBAL = (
    "APS", "AUC", "Gain", "GAUC", "Gini", "KS", "Lift", "LiftQuality", "pAUC", "PRAUC",
    "PrecisionAtRecall", "RecallAtPrecision",
)  # fmt: skip
"""Metrics that read an order of all predictions, which the strategies compute in different ways."""

LABELS = {
    "both": (0, 1),
    "rare": (0, 0, 0, 0, 0, 1),
    "often": (0, 1, 1, 1, 1),
    "positives": (1,),
    "negatives": (0,),
}
SCORES = {
    "few": lambda rng, n: rng.integers(0, 5, n) / 4,
    "some": lambda rng, n: rng.integers(0, 33, n) / 32,
    "same": lambda _, n: np.full(n, 0.5),
    "edges": lambda rng, n: rng.choice(
        [0.0, 1.0, 5e-324, 1e-300, 1e-17, 0.5, np.nextafter(0.5, 1), np.nextafter(1, 0)], n
    ),
    "small": lambda rng, n: rng.beta(0.1, 20, n),
    "any": lambda rng, n: rng.random(n),
}
WEIGHTS = {
    "ones": lambda _, n: np.ones(n),
    "eighths": lambda rng, n: rng.integers(1, 40, n) / 8,
    "zeros": lambda rng, n: rng.integers(0, 3, n) / 2,
    "none": lambda _, n: np.zeros(n),
}
KINDS = [
    (labels, scores, weights)
    for labels in LABELS
    for scores in SCORES
    for weights in WEIGHTS
    if weights in {"ones", "eighths"} or (labels == "both" and scores != "edges")
]


def draw_predictions(seed: int, labels: tuple[int, ...], scores: str, weights: str) -> Predictions:
    """Draw one group; weights are sums of eighths, so that sums of them are exact."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 7, 20, 40]))
    label = rng.choice(labels, n).astype(float)
    if scores == "any" and 1 in labels and 0 in labels:
        label[: min(n, 2)] = [0, 1][: min(n, 2)]
    return Predictions(
        label, SCORES[scores](rng, n), WEIGHTS[weights](rng, n), rng.integers(0, 4, n),
        rng.permutation(n),
    )  # fmt: skip


@cache
def draw_groups(kinds: tuple[str, ...] = tuple(WEIGHTS)) -> dict[str, Predictions]:
    found = {}
    for number, (labels, scores, weights) in enumerate(KINDS):
        if weights in kinds:
            found[f"{labels} {scores} {weights}"] = draw_predictions(
                number, LABELS[labels], scores, weights
            )
    return found


@cache
def draw_amounts(positive: bool) -> dict[str, Predictions]:
    """Draw groups of real labels; ``positive``: labels from 0 and scores above 0, for deviances."""
    found = {}
    for number in range(12):
        rng = np.random.default_rng(900 + number)
        n = int(rng.choice([1, 2, 5, 30]))
        label, score = rng.integers(-4, 9, n) / 2, rng.normal(size=n) * 3
        if positive:
            label, score = np.maximum(label, 0), np.exp(score)
        weights = list(WEIGHTS)[number % 4]
        found[f"g{number} {weights}"] = Predictions(
            label, score, WEIGHTS[weights](rng, n), np.zeros(n), np.arange(n)
        )
    return found


def make_table(found: dict[str, Predictions], weighted: bool = True) -> pa.Table:
    """Put the groups into one table, their rows in any order."""
    parts = [
        part.table.append_column("kind", pa.array([name] * len(part)))
        for name, part in found.items()
    ]
    rows = pa.concat_tables(parts)
    rows = rows.take(np.random.default_rng(1).permutation(rows.num_rows))
    return rows if weighted else rows.drop_columns(["weight"])


def join_groups(found: dict[str, Predictions]) -> Predictions:
    parts = list(found.values())
    return Predictions(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("label", "score", "weight", "query_id", "rank")
        )
    )


def list_metrics(metrics: dict[str, list[str]]) -> list[str]:
    return list(
        dict.fromkeys(
            str(sqlrank.parse(metric)) for variants in metrics.values() for metric in variants
        )
    )


ALL = list_metrics(CLASSIFICATION)
ORDER_METRICS = [
    metric for metric in ALL if sqlrank.parse(metric).name in GLOBAL or "best" in metric
]

Values = dict[str, dict[str, float | None]]


def evaluate_by_kind(metrics: list[str], source: pa.Table, **arguments: Any) -> Values:
    """Return group -> metric -> value."""
    rows = sqlrank.evaluate(metrics, predictions=source, by="kind", **arguments).to_pylist()
    return {row.pop("kind"): row for row in rows}


def is_near(got: float | None, expected: float | None, tolerance: float) -> bool:
    if got is None or expected is None:
        return got is expected
    return abs(got - expected) <= tolerance * max(1.0, abs(expected))


def assert_same(got: Values, expected: Values, tolerance: float) -> None:
    assert sorted(got) == sorted(expected)
    wrong = [
        (metric, kind, "got", got[kind][metric], "expected", value)
        for kind, row in expected.items()
        for metric, value in row.items()
        if not is_near(got[kind][metric], value, tolerance)
    ]
    assert not wrong, (
        f"{len(wrong)} values of {sorted({item[0] for item in wrong})} differ, such as {wrong[:4]}"
    )


def assert_reference(
    got: Values, found: dict[str, Predictions], metrics: list[str], **policies: Any
) -> None:
    """Compare with the reference; at thresholds that are equally good, any of them will do here."""
    assert sorted(got) == sorted(found)
    wrong = []
    for kind, data in found.items():
        for metric in metrics:
            expected = reference.list_candidates(metric, data, **policies)
            if not any(is_near(got[kind][metric], value, 1e-9) for value in expected):
                wrong.append((metric, kind, "got", got[kind][metric], "expected", expected))
    assert not wrong, (
        f"{len(wrong)} values of {sorted({item[0] for item in wrong})} differ, such as {wrong[:4]}"
    )


@cache
def evaluate_by_strategy(strategy: str, weighted: bool = True) -> Values:
    found = draw_groups() if weighted else draw_groups(("ones",))
    return evaluate_by_kind(
        ALL if strategy == "window" else ORDER_METRICS,
        make_table(found, weighted),
        plan={"score_order": strategy},
    )


def test_every_metric_has_a_reference():
    known = {
        file.display_name
        for name in ("classification", "regression")
        for file in group_by_section()[name]
    }
    assert known == reference.NAMES, "METRICS of predictions_reference.py"
    assert known == {*CLASSIFICATION, *REGRESSION, *POSITIVE}, (
        "CLASSIFICATION, REGRESSION or POSITIVE of test_predictions_reference.py"
    )
    assert known == {
        sqlrank.parse(metric).name
        for metric in [*ALL, *list_metrics(REGRESSION), *list_metrics(POSITIVE)]
    }


def test_every_file_of_a_choice_is_among_them():
    """A function or policy of these metrics that is added to the library without a variant here is
    missed by this test.
    """
    written = " ".join([*ALL, *list_metrics(REGRESSION), *list_metrics(POSITIVE)])
    chosen = {
        "query_weight": ("count", "equal", "positives", "weight"),
        "interpolation": ("davis_goadrich", "from_one", "trapezoid"),
        "lift_variant": ("exact", "magnetic_spark"),
        "area_scaling": ("mcclish", "ratio", "raw"),
        "criterion": ("accuracy", "f", "mcc", "youden"),
        "log_likelihood": ("clipped",),
        "binning": ("equal_mass", "equal_width"),
        "threshold_from": ("best", "given"),
    }
    library = registry_for(None)
    defaults = {"count", "trapezoid", "exact", "mcclish", "f", "clipped", "equal_width", "given"}
    for slot, names in chosen.items():
        there = (
            library.functions[slot] if slot in library.functions else library.allowed_values(slot)
        )
        assert sorted(there) == sorted(names)
        assert all(f"{slot}={name}" in written for name in names if name not in defaults)


@cache
def evaluate_values() -> Values:
    """Evaluate metrics that read no global order with those that do, each group by one strategy."""
    rest, ordered = evaluate_by_strategy("window"), evaluate_by_strategy("distinct")
    return {kind: row | ordered[kind] for kind, row in rest.items()}


@pytest.mark.parametrize("metric", ALL)
def test_metric_is_that_of_the_reference(metric):
    assert_reference(evaluate_values(), draw_groups(), [metric])


@pytest.mark.parametrize("strategy", select_few(["window", "buckets", "auto"], ("buckets",)))
def test_strategies_give_the_same(strategy):
    assert_same(
        drop_thresholds(evaluate_by_strategy(strategy), ORDER_METRICS),
        drop_thresholds(evaluate_values(), ORDER_METRICS),
        1e-12,
    )


def drop_thresholds(found: Values, metrics: list[str]) -> Values:
    """Leave the threshold of groups without any weight out; see the next test."""
    return {
        kind: {
            metric: row[metric]
            for metric in metrics
            if not (kind.endswith("none") and metric.startswith("ThresholdUsed"))
        }
        for kind, row in found.items()
    }


def test_no_weight_has_no_best_threshold_by_any_strategy():
    metrics = [metric for metric in ORDER_METRICS if metric.startswith("ThresholdUsed")]
    data = {kind: part for kind, part in draw_groups().items() if kind.endswith("none")}
    for strategy in ("distinct", "buckets", "window"):
        got = evaluate_by_strategy(strategy)
        assert_reference({kind: got[kind] for kind in data}, data, metrics)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy", select_few(["window", "rank", "distinct", "buckets", "auto"], ("rank",))
)
def test_strategies_give_the_same_without_weights(strategy):
    expected = {
        kind: {metric: row[metric] for metric in ORDER_METRICS}
        for kind, row in evaluate_values().items()
        if kind.endswith("ones")
    }
    got = evaluate_by_strategy(strategy, weighted=False)
    assert_same(
        {kind: {metric: row[metric] for metric in ORDER_METRICS} for kind, row in got.items()},
        expected,
        1e-12,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "AUC", "FBeta", "GAUC", "LiftQuality", "MCC", "PRAUC", "pAUC", "KS", "Gain", "APS",
        "Gini", "Lift",
    ],
)  # fmt: skip
def test_row_order(name):
    """Equal scores are told apart by the rank column, so that there are as many thresholds as
    positives.
    """
    metrics = [str(sqlrank.parse(metric)) for metric in CLASSIFICATION[name]]
    assert_reference(evaluate_row_order(), draw_groups(), metrics, ties="row_order")


@cache
def evaluate_row_order() -> Values:
    return evaluate_by_kind(ALL, make_table(draw_groups()), ties="row_order")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(["window", "distinct", "buckets"], ("window",)))
@pytest.mark.parametrize("ties", select_few(["best", "worst"], 1))
def test_orders_of_classes(ties, strategy):
    """One class comes first among equal scores; of thresholds, those of positives alone."""
    found = dict(list(draw_groups().items())[::2])
    got = evaluate_by_kind(
        ORDER_METRICS, make_table(found), ties=ties, plan={"score_order": strategy}
    )
    assert_reference(got, found, ORDER_METRICS, ties=ties)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(["window", "distinct", "buckets"], ("distinct",)))
def test_each_query(strategy):
    found = dict(list(draw_groups().items())[::3])
    metrics = [
        "AUC", "APS", "LogLoss", "PRAUC", "KS", "Gain@0.5", "GAUC",
        "FBeta(threshold_from=best)", "Recall", "ECE", "PnDCG", "num_predictions",
    ]  # fmt: skip
    rows = sqlrank.evaluate(
        metrics,
        predictions=make_table(found),
        by="kind",
        per_query=True,
        plan={"score_order": strategy},
    ).to_pylist()
    got = {f"{row.pop('kind')} {row.pop('query_id')}": row for row in rows}
    queries = {
        f"{kind} {part.query_id[0]}": part
        for kind, data in found.items()
        for part in data.queries()
    }
    canonical = {name: str(sqlrank.parse(name)) for name in metrics}
    assert_reference(got, queries, list(canonical.values()))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(["window", "distinct", "buckets"], ("buckets",)))
def test_slices(strategy):
    """Rows of a grouping that sums over a column have NULL in it; the groupings come as if each was
    asked for alone.
    """
    found = dict(list(draw_groups().items())[::4])
    metrics = [
        "AUC", "APS", "LogLoss", "KS", "Lift@0.25", "GAUC(query_weight=weight)",
        "MCC(threshold_from=best)", "ECE(binning=equal_mass)", "TP",
    ]  # fmt: skip
    rows = sqlrank.evaluate(
        metrics,
        predictions=make_table(found),
        by=[["kind", "query_id_"], ["kind"], []],
        plan={"score_order": strategy},
        columns={"query_id_": "query_id"},
    )
    expected = {"None None": join_groups(found)}
    for kind, data in found.items():
        expected[f"{kind} None"] = data
        expected |= {f"{kind} {part.query_id[0]}": part for part in data.queries()}
    got = {
        f"{row.pop('kind')} {row.pop('query_id_')}": row
        for row in rows.drop_columns(["slice"]).to_pylist()
    }
    assert_reference(got, expected, [str(sqlrank.parse(metric)) for metric in metrics])


@pytest.mark.parametrize(
    ("positive", "metrics"),
    [
        (False, list_metrics(REGRESSION)),
        (True, [*list_metrics(REGRESSION), *list_metrics(POSITIVE)]),
    ],
)
def test_regression(positive, metrics):
    found = draw_amounts(positive)
    got = evaluate_by_kind(metrics, make_table(found))
    for metric in metrics:
        assert_reference(got, found, [metric])


def test_regression_without_weights():
    found = {
        kind: data for kind, data in draw_amounts(positive=True).items() if kind.endswith("ones")
    }
    metrics = [*list_metrics(REGRESSION), *list_metrics(POSITIVE)]
    assert_reference(evaluate_by_kind(metrics, make_table(found, weighted=False)), found, metrics)


def test_regression_metrics_of_labels_0_and_1():
    """The families may stand in one call."""
    metrics = ["AUC", "LogLoss", "Brier", "MSE", "MAE", "R2", "MAPE", "sMAPE"]
    found = {kind: data for kind, data in draw_groups().items() if " some " in kind}
    assert_reference(evaluate_by_kind(metrics, make_table(found)), found, metrics)
